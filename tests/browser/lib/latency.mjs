/** From a change of the plan to the question for its answer, and to the answer on the screen, measured inside the page. */

/**
 * @param {import('playwright-core').Page} page
 * @param {string} name  a setting with a slider
 * @param {number} rounds  moves between its first two stops
 * @returns {Promise<{asked_ms: number, painted_ms: number}[]>} of each
 */
export function changesToPaint(page, name, rounds) {
    return page.evaluate(async ({ id, rounds }) => {
        const verdict = document.querySelector('[data-testid="verdict"]');
        /* The frame after the change is drawn when the task after its callbacks runs. */
        const painted = () => new Promise((done) =>
            requestAnimationFrame(() => setTimeout(() => done(performance.now()))));
        const answered = () => new Promise((done) => {
            const observer = new MutationObserver(() => {
                if (verdict.dataset.phase !== 'done')
                    return;
                observer.disconnect();
                done();
            });
            observer.observe(verdict, { attributes: true, attributeFilter: ['data-phase'] });
        });
        const times = [];
        for (let round = 0; round < rounds; round += 1) {
            const input = document.getElementById(id);
            const done = answered();
            const start = performance.now();
            input.value = input.value === '0' ? '1' : '0';
            input.dispatchEvent(new Event('input', { bubbles: true }));
            input.dispatchEvent(new Event('change', { bubbles: true }));
            await done;
            const painted_ms = await painted() - start;
            const question = performance.getEntriesByType('resource').findLast(({ name, startTime }) =>
                name.endsWith('/api/v1/estimates') && startTime >= start);
            times.push({ asked_ms: question.startTime - start, painted_ms });
            performance.clearResourceTimings();
            await new Promise((next) => setTimeout(next, 30));
        }
        return times;
    }, { id: `field-${name}`, rounds });
}
