/** The one place that binds htm templates to Preact. A build compiles them, and leaves this out. */
import htm from "htm";
import { h } from "preact";

/**
 * What a template takes: anything, and handlers and writers whose arguments come from what is named beside them.
 * @typedef {string | number | boolean | object | null | undefined | ((...args: any[]) => unknown)} Value
 */

/** @type {(parts: TemplateStringsArray, ...values: Value[]) => any} */
export const html = /* @__PURE__ */ htm.bind(h);
