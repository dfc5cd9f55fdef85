/**
 * The dashboard in Chromium, against a real server.
 *
 *     const browser = await launch();
 *     const tab = await openTab(browser, server, { path: '/', colorScheme: 'dark' });
 *     const { answer } = await answering(tab, () => tab.page.click('[data-example=llama-8b]'));
 *     tab.expectClean(); await tab.close();
 *
 * A tab writes down everything that went wrong in it (an error on the console, a request that
 * failed or was refused, a violation of the content security policy); expectClean() asserts that
 * this is exactly what the test names.
 */
import assert from 'node:assert/strict';
import { chromium } from 'playwright-core';

const EXECUTABLE = process.env.CHROMIUM ?? '/usr/bin/chromium-headless-shell';
const PATIENCE_MS = 30_000;
const ARGUMENTS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic',
    '--disable-dev-shm-usage', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync'];

export const launch = () => chromium.launch({ executablePath: EXECUTABLE, args: ARGUMENTS });

/** Questions beside the plan's own: the page says whose they are. */
export const isAside = (request) => request.postData()?.includes('"annotations":{"asked_by"') ?? false;

/** @param {import('playwright-core').Page} page @param {string} origin */
function watch(page, origin) {
    const faults = [];
    const short = (url) => url.replace(origin, '').split('?')[0];
    page.on('pageerror', (error) => faults.push(`exception: ${error.message}`));
    page.on('console', (message) => {
        // Chromium repeats each refused request here; the response below says more.
        const repeated = message.text().startsWith('Failed to load resource');
        if (['error', 'warning'].includes(message.type()) && !repeated)
            faults.push(`console: ${message.text()}`);
    });
    page.on('requestfailed', (request) => {
        // A request for a plan that has changed since is withdrawn on purpose.
        if (request.failure()?.errorText !== 'net::ERR_ABORTED')
            faults.push(`failed: ${request.method()} ${short(request.url())}`);
    });
    page.on('response', (response) => {
        if (response.status() >= 400)
            faults.push(`${response.status()} ${response.request().method()} ${short(response.url())}`);
    });
    page.on('request', (request) => {
        if (/^https?:/.test(request.url()) && !request.url().startsWith(origin))
            faults.push(`foreign: ${request.url()}`);
    });
    return faults;
}

/**
 * @param {import('playwright-core').Browser} browser
 * @param {{url: string}} server
 * @param {{path?: string, colorScheme?: 'light'|'dark', width?: number, height?: number,
 *          reducedMotion?: 'reduce'|'no-preference', acceptDownloads?: boolean, ownClock?: boolean}} [options]
 */
export async function openTab(browser, server, options = {}) {
    const { path = '/', colorScheme = 'light', width = 1400, height = 1000,
        reducedMotion = 'no-preference', acceptDownloads = false, ownClock = false } = options;
    const context = await browser.newContext({
        viewport: { width, height }, colorScheme, reducedMotion, acceptDownloads,
    });
    context.setDefaultTimeout(PATIENCE_MS);
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: server.url });
    await context.addInitScript(() => {
        globalThis.violations = [];
        document.addEventListener('securitypolicyviolation', (event) =>
            globalThis.violations.push(`${event.violatedDirective} ${event.blockedURI}`));
        globalThis.told = [];
        new MutationObserver(() => {
            const now = document.querySelector('.toast')?.firstChild?.textContent ?? '';
            if (now !== globalThis.told.at(-1))
                globalThis.told.push(now);
        }).observe(document, { subtree: true, childList: true, characterData: true });
    });
    const page = await context.newPage();
    if (ownClock) /* before any timer is set: those of the true clock cannot be stopped later */
        await page.clock.install();
    const faults = watch(page, server.url);
    const tab = {
        page,
        server,
        context,
        faults,
        /** Asserts that the page made no fault but these, each at least once: answers to what it asked beside may still come. */
        async expectClean(expected = []) {
            await becomes(() => expected.filter((fault) => !faults.includes(fault)), [], 'faults that are still to come');
            const violations = await page.evaluate(() => globalThis.violations);
            const seen = [...new Set([...faults, ...violations.map((text) => `policy: ${text}`)])];
            assert.deepEqual(seen.sort(), [...expected].sort());
        },
        close: () => context.close(),
    };
    await page.goto(server.url + path);
    return tab;
}

/** Opens a tab for the length of `use`, which must leave no fault but `expected`. */
export async function inTab(browser, server, options, use) {
    const tab = await openTab(browser, server, options);
    try {
        await use(tab);
        await tab.expectClean(options.faults ?? []);
    } finally {
        await tab.close();
    }
}

const isPost = (path) => (request) => request.method() === 'POST'
    && new URL(request.url()).pathname === path && !isAside(request);

/**
 * Does `act`, which changes the plan, and waits until the page shows what the service answered.
 *
 * @returns {Promise<{status: number, request: any, answer: any, choices: any}>}
 */
export async function answering(tab, act) {
    const { page } = tab;
    /* What was asked before may still be on its way. */
    const asked = new Set();
    const note = (request) => asked.add(request);
    page.on('request', note);
    /* What was withdrawn meanwhile may have begun to be answered: it never finishes. */
    const answerOf = async (path) => (await page.waitForEvent('requestfinished', (request) => asked.has(request) && isPost(path)(request))).response();
    const [response, legal] = await Promise.all([answerOf('/api/v1/estimates'), answerOf('/api/v1/estimates:choices'), act()])
        .finally(() => page.off('request', note));
    const status = response.status();
    const phase = status === 200 ? 'done' : 'problem';
    await page.waitForSelector(`[data-testid="verdict"][data-phase="${phase}"]`);
    return {
        status,
        request: response.request().postDataJSON(),
        answer: await response.json(),
        choices: legal.status() === 200 ? (await legal.json()).choices : null,
    };
}

/** Opens a tab at `path`, a plan, and waits for its answer. */
export async function openPlan(browser, server, path, options = {}) {
    const tab = await openTab(browser, server, { ...options, path: '/version' });
    const first = await answering(tab, () => tab.page.goto(server.url + path));
    return { tab, ...first };
}

/** Polls `read` in the page's own time until it gives `expected`. */
export async function becomes(read, expected, what) {
    const deadline = Date.now() + PATIENCE_MS;
    for (;;) {
        const value = await read();
        try {
            assert.deepEqual(value, expected, what);
            return;
        } catch (error) {
            if (Date.now() > deadline)
                throw error;
        }
        await new Promise((next) => setTimeout(next, 20));
    }
}

/** Waits until the page has told this in passing: it may be gone again by then. */
export const told = (page, words) => becomes(() => page.evaluate((text) => globalThis.told.includes(text), words), true, words);

/** Waits until nothing fades or slides any more: on its way a colour is neither the one nor the other. */
export const atRest = (page) => becomes(() => page.evaluate(() => document.getAnimations().length), 0, 'nothing moves');

/** Waits until the page needs no scrolling sideways: a frame or two after the window changed. */
export const fitsAcross = (page, what = 'no scrolling sideways') => becomes(() => page.evaluate(() =>
    document.documentElement.scrollWidth), page.viewportSize().width, what);

/** Clicks on one after the other before the page can draw a frame, as on a machine that is busy. */
export const clickAtOnce = (page, ...selectors) => page.evaluate(async (all) => {
    for (const selector of all) {
        const found = document.querySelector(selector);
        found.dispatchEvent(new PointerEvent('pointerdown', { bubbles: true }));
        found.click();
        await null; /* the page renders */
    }
}, selectors);

/** Opens a fold from the keyboard, which hits it wherever it stands, and waits for what it holds: that is made then. @param {import('playwright-core').Locator} fold */
export async function unfold(fold) {
    await fold.locator('summary').first().press('Enter');
    await fold.locator(':scope[open] > :nth-child(2)').waitFor({ state: 'attached' });
}

/** Text as a reader sees it: without what is for a screen reader only. */
export function seen(locator) {
    return locator.evaluate((element) => {
        const copy = element.cloneNode(true);
        copy.querySelectorAll('.visually-hidden, title').forEach((hidden) => hidden.remove());
        return copy.textContent.replace(/\s+/g, ' ').trim();
    });
}

/** The controls as the page offers them now: every value that can be chosen. */
export function offered(page, name) {
    return page.locator(`[data-field="${name}"]`).evaluate((row) => {
        const slider = row.querySelector('input[type=range]');
        if (slider)
            return slider.dataset.stops.split(' ');
        const inputs = [...row.querySelectorAll('input[type=radio]:not(:disabled)')];
        const options = [...row.querySelectorAll('option:not(:disabled)')];
        return inputs.length > 0 ? inputs.map((input) => input.value)
            : options.map((option) => option.textContent.trim());
    });
}

/** Sets a count as a person does: type, then leave the field. */
export async function type(page, name, text) {
    await page.fill(`#field-${name}`, text);
    await page.press(`#field-${name}`, 'Tab');
}

/** Chooses among the values that are offered, on a slider as a person's hand moves it. */
export async function choose(page, name, value) {
    const slider = page.locator(`[data-field="${name}"] input[type=range]`);
    const list = page.locator(`[data-field="${name}"] select`); /* of more values than fit beside each other */
    if (await list.count() > 0)
        return list.selectOption({ label: String(value) });
    if (await slider.count() === 0)
        return page.locator(`[data-field="${name}"] input[value="${value}"]`).check();
    await becomes(async () => (await offered(page, name)).includes(String(value)), true, `${name} ${value} is offered`);
    return slider.evaluate((input, stop) => {
        input.value = input.dataset.stops.split(' ').indexOf(stop);
        input.dispatchEvent(new Event('input', { bubbles: true }));
        input.dispatchEvent(new Event('change', { bubbles: true }));
    }, String(value));
}

/** What a setting of the form stands on. */
export const chosen = (page, name) => page.locator(`[data-field="${name}"]`).evaluate((row) => {
    const slider = row.querySelector('input[type=range]');
    return slider ? slider.dataset.stops.split(' ')[Number(slider.value)] : row.querySelector('input:checked').value;
});
