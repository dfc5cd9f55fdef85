/** The one place that binds htm templates to Preact. */
import htm from "htm";
import { h } from "preact";

export const html = htm.bind(h);
