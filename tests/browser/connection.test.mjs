/** The page while the service is away, slow or busy: it says so, asks again, and loses nothing. */
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { pauseOf } from '../../static/src/state/connection.js';
import { ownPort } from '../e2e/lib/ports.mjs';
import { startServer } from '../e2e/lib/server.mjs';
import { expectAccessible } from './lib/axe.mjs';
import { answering, becomes, choose, inTab, isAside, seen, type } from './lib/browser.mjs';
import { browser, server } from './lib/here.mjs';

const banner = (page) => page.getByTestId('banner');
const kindOf = (page) => banner(page).getAttribute('data-kind');
const opacityOf = (page) => page.getByTestId('verdict').evaluate((verdict) => getComputedStyle(verdict).opacity);
const stepOf = (page) => seen(page.getByTestId('step').locator('dd').first());

describe('a service that goes away', () => {
    it('is asked again until it is back: the last answer stays and is marked, nothing typed is lost', async () => {
        const env = { SHARDLINE_LISTEN: `127.0.0.1:${await ownPort()}` };
        let now = await startServer({ env });
        const faults = ['failed: POST /api/v1/estimates', 'failed: POST /api/v1/estimates:choices'];
        try {
            await inTab(browser, now, { faults }, async (tab) => {
                const { page } = tab;
                await answering(tab, () => page.click('[data-example="llama-8b"]'));
                const step = await stepOf(page);
                await page.locator('label', { hasText: 'config.json' }).first().click();
                await page.fill('#field-config', '{ "hidden_size":');
                await page.locator('[data-testid="what-if"][data-ready="true"]').waitFor(); /* nothing is under way */
                now.signal('SIGKILL');
                await now.ended();
                await choose(page, 'recompute', 'full');
                await becomes(() => kindOf(page), 'fault');
                await page.getByTestId('stale').waitFor();
                assert.equal(await stepOf(page), step, 'the last answer stays');
                assert.match(await seen(banner(page)), /cannot be reached\..*Nothing you set is lost\./);
                await banner(page).getByText('Next try in').waitFor();
                await expectAccessible(page, 'the service is away');
                await now.stop();

                const back = answering(tab, async () => {
                    now = await startServer({ env });
                });
                const { request } = await back;
                assert.equal(request.workload.recompute, 'full');
                await becomes(() => kindOf(page), 'none');
                assert.equal(await page.getByTestId('stale').count(), 0);
                assert.notEqual(await stepOf(page), step);
                assert.equal(await page.inputValue('#field-config'), '{ "hidden_size":');
            });
        } finally {
            await now.stop();
        }
    });

    it('waits longer after each failure, never all pages at once, and as long as it was asked to', () => {
        for (const [failures, most_ms] of [[0, 500], [1, 1000], [4, 8000], [30, 15_000]]) {
            const pauses = Array.from({ length: 200 }, () => pauseOf(failures, null));
            assert.ok(pauses.every((pause) => pause >= most_ms / 2 && pause <= most_ms), `${failures} failures`);
            assert.ok(new Set(pauses).size > 100, 'they differ');
        }
        assert.ok(Array.from({ length: 200 }, () => pauseOf(0, 30)).every((pause) => pause >= 30_000 && pause <= 33_000));
        assert.ok(pauseOf(0, 1e9) <= 330_000, 'a wish without end is not believed');
    });
});

describe('a service that is slow', () => {
    it('is waited for, and the reader is told', async () => {
        await inTab(browser, server, {}, async (tab) => {
            const { page } = tab;
            await answering(tab, () => page.click('[data-example="llama-8b"]'));
            server.signal('SIGSTOP');
            try {
                const slow = answering(tab, async () => {
                    await choose(page, 'recompute', 'full');
                    /* Not by an animated opacity, for which the browser makes layers at every change. */
                    assert.deepEqual(await page.evaluate(() => [...new Set(document.getAnimations().map((change) => change.transitionProperty))]), ['--shown']);
                    await becomes(() => opacityOf(page), '0.62', 'what is out of date is pale');
                    await becomes(() => kindOf(page), 'slow');
                    assert.match(await seen(banner(page)), /takes long to answer\. Still waiting\./);
                    await page.getByTestId('stale').waitFor();
                    await becomes(() => opacityOf(page), '1', 'and is read while it is marked as such');
                    server.signal('SIGCONT');
                });
                assert.equal((await slow).request.workload.recompute, 'full');
            } finally {
                server.signal('SIGCONT');
            }
            await becomes(() => kindOf(page), 'none');
        });
    });
});

/** A refusal as the service writes it. */
const refusal = (code, after) => ({
    status: 503, contentType: 'application/problem+json', headers: after ? { 'retry-after': String(after) } : {},
    body: JSON.stringify({ type: '/problems/unavailable', title: 'A part of the service is missing', status: 503,
        detail: 'every worker is busy and the queue is full', instance: 'x', errors: [{ pointer: '', code, detail: 'busy' }] }),
});

describe('a service that errs', () => {
    it('is asked again when the reader says so, and nobody is sent to search for what only failed', async () => {
        await inTab(browser, server, { faults: ['500 POST /api/v1/estimates'] }, async (tab) => {
            const { page } = tab;
            await page.route('**/api/v1/estimates', (route) => route.fulfill({ status: 500, contentType: 'application/problem+json',
                body: JSON.stringify({ type: '/problems/internal', title: 'Internal error', status: 500, detail: 'it broke', errors: [] }) }));
            await page.click('[data-example="llama-8b"]');
            await page.waitForSelector('[data-testid="verdict"][data-phase="problem"]');
            assert.equal(await page.locator('.unanswered').count(), 0);
            await page.unroute('**/api/v1/estimates');
            const { status } = await answering(tab, () => page.getByRole('button', { name: 'Ask again' }).click());
            assert.equal(status, 200);
            assert.equal(await page.getByRole('button', { name: 'Ask again' }).count(), 0);
        });
    });
});

describe('a service that refuses with 503', () => {
    it('is asked again no sooner than it wishes, or at once when the reader says so', async () => {
        await inTab(browser, server, { faults: ['503 POST /api/v1/estimates'] }, async (tab) => {
            const { page } = tab;
            await answering(tab, () => page.click('[data-example="llama-8b"]'));
            const asked = [];
            let refuse = refusal('busy', 2);
            await page.route('**/api/v1/estimates', (route) => {
                if (isAside(route.request()))
                    return route.continue();
                asked.push(Date.now());
                return refuse ? route.fulfill(refuse) : route.continue();
            });
            await choose(page, 'recompute', 'full');
            await becomes(() => kindOf(page), 'fault');
            assert.match(await seen(banner(page)), /Every worker is busy and the queue is full\./);
            await becomes(async () => asked.length >= 2, true);
            assert.ok(asked[1] - asked[0] >= 2000, `after ${asked[1] - asked[0]} ms`);
            refuse = refusal('busy', 120);
            await becomes(async () => asked.length >= 3, true);
            await banner(page).getByText(/Next try in 1[23]\d s/).waitFor();
            refuse = null;
            await page.getByRole('button', { name: 'Try now' }).click();
            await page.waitForSelector('[data-testid="verdict"][data-phase="done"]');
            await becomes(() => kindOf(page), 'none');
        });
    });

    it('for a reason that stays is shown at once and not asked again', async () => {
        await inTab(browser, server, { faults: ['503 GET /api/v1/models/some/model', '503 POST /api/v1/estimates',
            '503 POST /api/v1/estimates:choices'] }, async (tab) => {
            const { page } = tab;
            const asked = [];
            page.on('request', (request) => asked.push(new URL(request.url()).pathname));
            await page.clock.install();
            await type(page, 'hub', 'some/model');
            await page.waitForSelector('[data-testid="verdict"][data-phase="problem"]');
            await page.locator('#error-hub').waitFor();
            await page.clock.runFor(60_000);
            assert.equal(asked.filter((path) => path === '/api/v1/models/some/model').length, 1);
            assert.equal(asked.filter((path) => path === '/api/v1/estimates').length, 1);
            assert.equal(await kindOf(page), 'none');
        });
    });
});
