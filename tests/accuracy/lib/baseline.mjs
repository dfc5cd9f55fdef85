/** How good each source was when the baseline was last written, and what got worse since. */

/** Half a percentage point of the mean error. */
export const TOLERANCE = 0.005;

/** Answers must not depend on digits that only a rebuild moves. */
const rounded = (share) => Number(share.toFixed(6));

/** Of the sources with complete rows. */
export function baselineOf(sources) {
    const scored = [...sources].filter(([, source]) => source.scored > 0);
    return Object.fromEntries(scored.map(([key, { headline }]) =>
        [key, { mape: rounded(headline.mape), answered: headline.answered,
            denied: headline.denied }]));
}

/** One sentence for each thing that is worse; none is a pass. */
export function regressions(baseline, sources) {
    const now = baselineOf(sources);
    const found = [];
    for (const [key, { mape, answered, denied }] of Object.entries(baseline)) {
        if (now[key] === undefined) {
            found.push(`${key}: no complete rows, the baseline has some`);
            continue;
        }
        if (now[key].mape > mape + TOLERANCE) {
            found.push(`${key}: mean error ${(100 * now[key].mape).toFixed(2)} %, `
                + `was ${(100 * mape).toFixed(2)} %`);
        }
        if (now[key].answered < answered)
            found.push(`${key}: ${now[key].answered} rows answered, were ${answered}`);
        if (now[key].denied > denied) {
            found.push(`${key}: ${now[key].denied} runs called too large for their devices, `
                + `were ${denied}`);
        }
    }
    for (const key of Object.keys(now).filter((name) => baseline[name] === undefined))
        found.push(`${key}: not in the baseline; --update adds it`);
    return found;
}

/** Sources that --update would hold to more than the baseline does. */
export function improvements(baseline, sources) {
    return Object.entries(baselineOf(sources))
        .filter(([key, { mape, answered, denied }]) => baseline[key] !== undefined
            && (mape < baseline[key].mape - TOLERANCE || answered > baseline[key].answered
                || denied < baseline[key].denied))
        .map(([key]) => key);
}
