/** The one place that binds htm templates to Preact. */
import htm from "htm";
import { h } from "preact";

/**
 * What a template takes: anything, and handlers and writers whose arguments come from what is named beside them.
 * @typedef {string | number | boolean | object | null | undefined | ((...args: any[]) => unknown)} Value
 */

/** @type {(parts: TemplateStringsArray, ...values: Value[]) => any} */
export const html = htm.bind(h);
