/**
 * From a change in the planner to its answer on the screen, by hand and never by the suite: npm ci in
 * tests/e2e, tests/browser and static, node static/build.mjs, build release, then
 *
 *     SHARDLINED=build/release/shardlined node tests/bench/planner_latency.mjs [rounds]
 *
 * Times are the page's own: from the event of a slider until the frame with the new verdict is drawn.
 */
import { choose, answering, launch, openTab } from '../browser/lib/browser.mjs';
import { changesToPaint } from '../browser/lib/latency.mjs';
import { startServer } from '../e2e/lib/server.mjs';

const rounds = Number(process.argv[2] ?? 100);

const [browser, server] = await Promise.all([launch(), startServer()]);
try {
    for (const [model, slider] of [['llama-8b', 'tensor'], ['llama-70b', 'virtualPipeline']]) {
        const tab = await openTab(browser, server);
        await answering(tab, () => tab.page.click(`[data-example="${model}"]`));
        await answering(tab, () => choose(tab.page, 'software', 'mbridge-26.04'));
        await changesToPaint(tab.page, slider, 5);
        const times = (await changesToPaint(tab.page, slider, rounds)).map(({ painted_ms }) => painted_ms).sort((a, b) => a - b);
        const at = (share) => times[Math.min(times.length - 1, Math.floor(share * times.length))].toFixed(0);
        console.log(`${model}, ${slider}: median ${at(0.5)} ms, p95 ${at(0.95)} ms, most ${times.at(-1).toFixed(0)} ms`);
        await tab.close();
    }
} finally {
    await browser.close();
    await server.stop();
}
