/**
 * What panning and zooming a large timeline costs in a real browser, by hand and never by the suite:
 * npm ci in tests/e2e and tests/browser, build the dashboard and the server, then
 *
 *     node tests/bench/timeline_frames.mjs [seconds] [micro-batches ...]
 *
 * A pipeline of 16 stages, five chunks each: about 320 spans for each micro-batch. Every frame has one
 * movement of the wheel, which goes through the listeners of the page. "own" is the time inside callbacks of
 * requestAnimationFrame and inside the listeners: what the page computes and what it tells the canvas.
 * "cpu" is the processor's time of all scripts in a frame, which a busy machine changes little.
 * "frame" is from one frame to the next and holds what the browser does with it: a machine without a
 * GPU composites on the same cores.
 */
import { launch, openPlan } from '../browser/lib/browser.mjs';
import { stepReady } from '../browser/lib/step.mjs';
import { startServer } from '../e2e/lib/server.mjs';

const FRAME_MS = 1000 / 60;
const MOST_SPANS = 1_000_000;
const [seconds = 4, ...asked] = process.argv.slice(2).map(Number);
const microbatches = asked.length > 0 ? asked : [320, 3200];

/** Counts what callbacks of the page take, from before its first script on. */
const countOwnTime = () => {
    globalThis.own_ms = 0;
    const ask = globalThis.requestAnimationFrame.bind(globalThis);
    globalThis.rawFrame = ask;
    globalThis.requestAnimationFrame = (use) => ask((now) => {
        const start = performance.now();
        use(now);
        globalThis.own_ms += performance.now() - start;
    });
};

/** One wheel event a frame for some time: closer, along, out again. */
const drive = ({ length_ms, zooms, pans }) => new Promise((done) => {
    const plot = document.querySelector('[data-testid="timeline-plot"]');
    const { left, top, width } = plot.getBoundingClientRect();
    const frames = [];
    const own = [];
    const start_ms = performance.now();
    let last_ms = null;
    const turn = (now_ms) => {
        if (last_ms !== null)
            frames.push(now_ms - last_ms);
        last_ms = now_ms;
        own.push(globalThis.own_ms);
        globalThis.own_ms = 0;
        const share = (performance.now() - start_ms) / length_ms;
        if (share >= 1) {
            done({ frames, own: own.slice(1) });
            return;
        }
        const before = performance.now();
        const way = Math.sin(6 * Math.PI * share);
        const wheel = (members) => plot.dispatchEvent(new WheelEvent('wheel', { bubbles: true, cancelable: true,
            clientX: left + width / 2, clientY: top + 60, ...members }));
        if (zooms)
            wheel({ ctrlKey: true, deltaY: -12 * way });
        if (pans)
            wheel({ shiftKey: true, deltaX: 24 * way });
        globalThis.own_ms += performance.now() - before;
        globalThis.rawFrame(turn);
    };
    globalThis.rawFrame(turn);
});

const quantiles = (times) => {
    const sorted = [...times].sort((a, b) => a - b);
    return [0.5, 0.95, 0.99, 1].map((share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]);
};
const show = (times) => quantiles(times).map((ms) => ms.toFixed(1).padStart(7)).join('');

const SCENES = [['zoom', { zooms: true, pans: false }, []], ['pan, 8 times closer', { zooms: false, pans: true }, Array(5).fill('w')],
    ['zoom and pan', { zooms: true, pans: true }, ['0']]];

/** Opens the view of a plan with its callbacks counted. */
async function open(browser, server, path) {
    const { tab, request } = await openPlan(browser, server, path);
    const { page, context } = tab;
    await context.addInitScript(countOwnTime);
    await page.route('**/api/v1/timelines?*', (route) =>
        route.continue({ url: route.request().url().replace(/limit=300000/, `limit=${MOST_SPANS}`) }));
    await page.goto(`${server.url}${path}&view=step`);
    await stepReady(page);
    return { tab, page, request };
}

const head = () => console.log(`  ${''.padEnd(22)}  frames/s   late  cpu ms   own ms: median    p95    p99   most`
    + '   frame ms: median    p95    p99   most');

async function scene(page, what, how) {
    const thread = await page.context().newCDPSession(page);
    await thread.send('Performance.enable', { timeDomain: 'threadTicks' });
    const spent_s = async () => {
        const { metrics } = await thread.send('Performance.getMetrics');
        return metrics.find(({ name }) => name === 'ScriptDuration').value;
    };
    const before_s = await spent_s();
    const { frames, own } = await page.evaluate(drive, { length_ms: seconds * 1000, ...how });
    const cpu_ms = 1000 * (await spent_s() - before_s) / frames.length;
    await thread.detach();
    const late = own.filter((ms) => ms > FRAME_MS).length / own.length;
    const total_ms = frames.reduce((sum, ms) => sum + ms, 0);
    console.log(`  ${what.padEnd(22)}${(1000 * frames.length / total_ms).toFixed(1).padStart(10)}`
        + `${(100 * late).toFixed(1).padStart(6)} %${cpu_ms.toFixed(1).padStart(8)}    ${show(own)}          ${show(frames)}`);
}

/** @param {number} count */
async function measureTimeline(browser, server, count) {
    const path = `/?example=llama-70b&nodes=16&seq=2048&gbs=${count}&attn=flash3&tp=8&sp=1&pp=16&vpp=5`;
    const { tab, page, request } = await open(browser, server, path);
    const whole = await fetch(`${server.url}/api/v1/timelines?limit=1`, { method: 'POST',
        headers: { 'content-type': 'application/json' }, body: JSON.stringify(request) });
    const { span_count: spans } = await whole.json();
    await page.getByTestId('timeline-plot').scrollIntoViewIfNeeded();
    console.log(`${count} micro-batches: ${Math.min(spans, MOST_SPANS)} slices on the page, of ${spans}`);
    head();
    for (const [what, how, keys] of SCENES) {
        await page.getByTestId('timeline-plot').focus();
        for (const key of keys)
            await page.keyboard.press(key);
        await scene(page, what, how);
    }
    await tab.close();
}

/** The step plays, and every cell of the map follows the cursor. */
async function measureMap(browser, server) {
    const { tab, page } = await open(browser, server, '/?example=llama-70b&nodes=2048&seq=8192&gbs=4096&attn=flash3&tp=8&sp=1&pp=4&vpp=2');
    console.log('16384 devices, 4096 samples: the step plays');
    head();
    for (const by of ['activity', 'fill']) {
        await page.locator(`input[name=map-axis][value=${by}]`).check();
        await page.getByTestId('timeline-plot').focus();
        await page.keyboard.press('Home');
        await page.keyboard.press(' ');
        await scene(page, `map by ${by}`, { zooms: false, pans: false });
    }
    await tab.close();
}

const [browser, server] = await Promise.all([launch(), startServer()]);
for (const count of microbatches)
    await measureTimeline(browser, server, count);
await measureMap(browser, server);
await browser.close();
await server.stop();
