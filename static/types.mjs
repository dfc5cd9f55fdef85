/**
 * Writes what the service answers and takes as TypeScript types, from its OpenAPI document: the one
 * description of both sides. Every file of the page may name them: Api.Estimate. Run before the compiler.
 */
import { readFile, writeFile } from "node:fs/promises";

const SOURCE = new URL("../server/api/openapi.json", import.meta.url);
const TARGET = new URL("api.d.ts", import.meta.url);

const PLAIN = { integer: "number", number: "number", string: "string", boolean: "boolean", null: "null", object: "Record<string, any>", array: "any[]" };

/** @param {any[]} list @param {string} between */
const joined = (list, between) => `(${[...new Set(list.map(typeOf))].join(between)})`;

/** @param {any} schema  an object with members or with a pattern of them */
function objectOf({ properties = {}, required = [], additionalProperties = true }) {
    const members = Object.entries(properties).map(([name, member]) =>
        `${JSON.stringify(name)}${required.includes(name) ? "" : "?"}: ${typeOf(member)}`);
    if (members.length > 0) return `{ ${members.join("; ")} }`;
    return typeof additionalProperties === "object" ? `Record<string, ${typeOf(additionalProperties)}>` : PLAIN.object;
}

/** A JSON Schema as a type; a bound or a pattern is none. @param {any} schema @returns {string} */
function typeOf(schema) {
    if (schema.$ref) return schema.$ref.slice(schema.$ref.lastIndexOf("/") + 1);
    if ("const" in schema) return JSON.stringify(schema.const);
    if (schema.enum) return `(${schema.enum.map((value) => JSON.stringify(value)).join(" | ")})`;
    const choice = schema.oneOf ?? schema.anyOf;
    if (choice && !schema.properties) return joined(choice, " | ");
    if (schema.allOf && !schema.properties) return joined(schema.allOf, " & ");
    if (Array.isArray(schema.type)) return joined(schema.type.map((type) => ({ ...schema, type })), " | ");
    if (schema.type === "object" || schema.properties) return objectOf(schema);
    if (schema.type === "array" && schema.items) return `${typeOf(schema.items)}[]`;
    return PLAIN[schema.type] ?? "any";
}

const { components } = JSON.parse(await readFile(SOURCE, "utf8"));
const types = Object.entries(components.schemas).map(([name, schema]) => `    type ${name} = ${typeOf(schema)};\n`);
await writeFile(TARGET, `declare namespace Api {\n${types.join("")}}\n`);
