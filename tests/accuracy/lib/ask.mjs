/** Rows to a running server, and what came back. */
import { requestOf } from './request.mjs';
import { deniesRun } from './score.mjs';

/** As many requests at a time as a small machine has cores. */
const CONCURRENT = 2;

function reasonOf(status, problem) {
    const errors = (problem.errors ?? []).map(({ pointer, code, detail }) =>
        `${pointer || '/'} ${code}: ${detail}`);
    return errors.length > 0 ? errors.join('; ')
        : `${status} ${problem.title ?? ''} ${problem.detail ?? ''}`.trim();
}

/** Either { estimate } or { refusal }, the reasons that the server gives. */
export async function estimateOf(url, request) {
    const response = await fetch(new URL('/api/v1/estimates', url), {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(request),
    });
    const text = await response.text();
    const json = /json/.test(response.headers.get('content-type') ?? '') ? JSON.parse(text) : {};
    return response.ok ? { estimate: json } : { refusal: reasonOf(response.status, json) };
}

async function resultOf(url, section, row, change) {
    const unscorable = section.unscorable(row);
    if (unscorable !== undefined)
        return { row, refusal: unscorable };
    const { request, refusal } = requestOf(row);
    if (refusal !== undefined)
        return { row, refusal };
    const answer = await estimateOf(url, change(row, request));
    if (answer.refusal !== undefined)
        return { row, request, ...answer };
    return { row, request, ...answer, ...section.score(row, answer.estimate),
        denied: deniesRun(row, answer.estimate) };
}

/**
 * Results in the order of the rows, without those that a section does not ask. `change(row, request)` is
 * what is asked in place of the request.
 */
export async function askAll(url, section, table, change = (row, request) => request) {
    const rows = table.map(section.rowOf).filter(section.asks);
    const results = new Array(rows.length);
    let next = 0;
    const work = async () => {
        while (next < rows.length) {
            const mine = next++;
            results[mine] = await resultOf(url, section, rows[mine], change);
        }
    };
    await Promise.all(Array.from({ length: CONCURRENT }, work));
    return results;
}
