/** Results for people (a table, then what was refused) and for programs. */
import { ranOut } from './score.mjs';

const percent = (share) => (share === null ? '-' : `${(100 * share).toFixed(1)} %`);

const headings = ['source', 'rows', 'scored', 'answered', 'mean', 'median', 'P90', 'bias',
    'covered'];

function table(lines) {
    const widths = headings.map((_, i) => Math.max(...lines.map((line) => line[i].length)));
    return lines.map((line) => line.map((text, i) =>
        (i === 0 ? text.padEnd(widths[i]) : text.padStart(widths[i]))).join('  '));
}

function figures({ answered, mape, median, p90, bias, coverage90 }) {
    return [String(answered), ...[mape, median, p90, bias, coverage90].map(percent)];
}

/** Sources with complete rows: the headline. */
function headline(sources) {
    const lines = [headings];
    for (const [key, { n, scored, headline: score }] of sources) {
        if (scored > 0)
            lines.push([key, String(n), String(scored), ...figures(score)]);
    }
    return ['complete rows; a refused one counts as 100 %', ...table(lines)];
}

function partials(sources) {
    const lines = [headings];
    for (const [key, { n, partial }] of sources) {
        if (partial.n > 0)
            lines.push([key, String(n), '0', ...figures(partial)]);
    }
    return lines.length === 1 ? []
        : ['', 'partial and doubtful rows, outside the headline', ...table(lines)];
}

/** Rows of one reason stand together. */
function refusals(results) {
    const reasons = new Map();
    for (const { row, refusal } of results) {
        if (refusal !== undefined)
            reasons.set(refusal, [...reasons.get(refusal) ?? [], row.row_id || '?']);
    }
    return reasons.size === 0 ? []
        : ['', 'refused', ...Array.from(reasons, ([reason, ids]) => `${ids.join(' ')}: ${reason}`)];
}

/** What ran and is called too large, and by how much the device total is. */
function denials(results) {
    const denied = results.filter(({ denied }) => denied);
    const excess = ({ estimate: { memory } }) =>
        percent(memory.device_total_bytes / memory.usable_bytes - 1);
    return denied.length === 0 ? []
        : ['', `ran, and are called too large for their devices: ${denied.length}`,
            denied.map((result) => `${result.row.row_id || '?'} by ${excess(result)}`).join(', ')];
}

/** What ran out of memory, the answer to it, and its device total over what is usable. */
function failures(results) {
    const failed = results.filter(({ row, estimate }) => estimate && ranOut(row));
    const verdict = ({ fits, fits_certain: certain }) => (!fits ? 'does not fit' : certain ? 'fits' : 'fits, not surely');
    return failed.length === 0 ? []
        : ['', `ran out of memory: ${failed.length}`,
            failed.map(({ row, estimate }) => `${row.row_id || '?'} ${verdict(estimate)} (${
                percent(estimate.memory.device_total_bytes / estimate.memory.usable_bytes)})`).join(', ')];
}

export function textReport(results, sources) {
    return [...headline(sources), ...partials(sources), ...denials(results), ...failures(results),
        ...refusals(results)].join('\n');
}

/** One line a row, for whoever looks for what is wrong. */
export function rowReport(section, results) {
    return results.map((result) => {
        const { row, refusal, error } = result;
        const [what, measured, predicted] = section.print(row, result);
        return [
            (row.row_id || '?').padEnd(13),
            row.completeness.padEnd(13),
            what.padEnd(22),
            measured.padStart(12),
            ...(refusal !== undefined ? ['refused']
                : [predicted.padStart(12), percent(error).padStart(9)]),
            row.model,
        ].join('  ');
    }).join('\n');
}

/** A section of the document that tools outside read: exactly these members. */
export function jsonReport(sources) {
    const members = Array.from(sources, ([key, { n, scored, headline: score }]) => [key, {
        n, scored, answered: score.answered, mape: score.mape, median: score.median,
        p90: score.p90, bias: score.bias, coverage90: score.coverage90 }]);
    return Object.fromEntries(members);
}
