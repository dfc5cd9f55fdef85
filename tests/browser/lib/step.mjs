/** The second view of an answer: how a test opens it and where things stand on its drawings. */
import { layoutOf, xOf } from '../../../static/src/step/timeline/layout.js';
import { timelineOf } from '../../../static/src/step/timeline/rows.js';

/** Opens the second view of a tab that shows an answer. */
export async function openStep({ page }) {
    const timeline = page.waitForResponse('**/api/v1/timelines?*');
    const sharding = page.waitForResponse('**/api/v1/shardings?limit=1');
    await page.getByRole('tab', { name: 'Timeline and sharding' }).click();
    const [drawn, placed] = await Promise.all([timeline, sharding]);
    await stepReady(page);
    return { timeline: await drawn.json(), sharding: await placed.json(), request: drawn.request().postDataJSON() };
}

/** Waits until both drawings show what was answered last. */
export async function stepReady(page) {
    for (const id of ['timeline', 'sharding'])
        await page.waitForSelector(`[data-testid="${id}"][data-phase="done"]`);
    await page.waitForFunction(() => document.querySelector('[data-testid="map-cells"]').width > 300);
    await drawn(page);
}

/** Waits for the frame that shows what has been done so far, and the one after. */
export const drawn = (page) => page.evaluate(() => new Promise((done) => {
    requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done)));
}));

/** Stops the clock of a page that was opened with one of its own, its frames too. @returns {Promise<(ms: number) => Promise<void>>} lets so much time pass there */
export async function stopClock(page) {
    const SOON_MS = 1000;
    await page.clock.pauseAt(await page.evaluate(() => Date.now()) + SOON_MS);
    return (ms) => page.clock.runFor(ms);
}

/** Where each lane and moment is on the page, for the whole step. */
export async function placesOn(page, answer) {
    const plot = page.getByTestId('timeline-plot');
    await plot.scrollIntoViewIfNeeded();
    const width = await plot.evaluate((element) => element.clientWidth);
    const timeline = timelineOf(answer);
    const view = [0, timeline.end_s];
    const layout = layoutOf(timeline, width, true);
    const laneOf = ({ stage, stream, group }) => layout.lanes.find(({ row }) =>
        row.stage === stage && row.stream === stream && row.group === group);
    return {
        layout,
        end_s: timeline.end_s,
        /** The middle of a span, on the canvas. @param {number} at  number of the span in the answer */
        middle(at) {
            const lane = laneOf(answer.lanes[answer.spans.lane[at]]);
            const time_s = (answer.spans.start_s[at] + answer.spans.end_s[at]) / 2;
            return { x: xOf(layout, view, time_s), y: lane.top + lane.height / 2 };
        },
        /** A moment on the lane in which a stage computes. */
        point: (stage, time_s) => ({ x: xOf(layout, view, time_s), y: laneOf({ stage, stream: 'compute', group: null }).top + 4 }),
        length: (at) => ((answer.spans.end_s[at] - answer.spans.start_s[at]) / (view[1] - view[0])) * layout.plot,
    };
}

/** The colour of a canvas at a point, as [red, green, blue]; read from a copy, which leaves the canvas as it is. */
export const pixel = (page, id, { x, y }) => page.evaluate(([name, left, top]) => {
    const canvas = document.querySelector(`[data-testid="${name}"]`);
    const ratio = canvas.width / canvas.clientWidth;
    const copy = new OffscreenCanvas(1, 1).getContext('2d');
    copy.drawImage(canvas, -Math.round(left * ratio), -Math.round(top * ratio));
    return [...copy.getImageData(0, 0, 1, 1).data].slice(0, 3);
}, [id, x, y]);

/** A colour of the style sheet, as [red, green, blue]. */
export const tone = (page, name) => page.evaluate((property) => {
    const hex = getComputedStyle(document.documentElement).getPropertyValue(property).trim();
    return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}, `--${name}`);

/** The window and the cursor as the address says them, once it does: a while of the page, whose timers come in order. */
export async function lookOf(page) {
    await page.evaluate(() => new Promise((done) => { setTimeout(done, 400); }));
    const query = new URL(page.url()).searchParams;
    const number = (name) => (query.has(name) ? Number(query.get(name)) : null);
    return { view: query.get('view'), from: number('from'), to: number('to'), at: number('at'), stage: number('stage'),
        by: query.get('by'), rank: number('rank'), tensors: query.get('tensors') };
}
