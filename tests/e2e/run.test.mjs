/** server/run: what it says on a bare machine, and that it starts, stops and recovers whole. */
import assert from 'node:assert/strict';
import { chmod, cp, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { inventory } from './lib/fixtures.mjs';
import { send } from './lib/http.mjs';
import { Process, cleanEnvironment, eventually, run } from './lib/processes.mjs';
import { root } from './lib/server.mjs';

/** The script may have to compile first, when it is not called through tests/run. */
const BUILD_PATIENCE_MS = 300_000;
const script = join(root, 'server/run');
let folder;

before(async () => {
    // The unprivileged account of server/run must be able to pass.
    folder = await mkdtemp('/tmp/slrun-');
    await chmod(folder, 0o711);
});
after(() => rm(folder, { recursive: true, force: true }));

test('the shell reads every script without complaint', async () => {
    for (const path of ['server/run', 'tests/run', 'docker/steps.sh'])
        assert.deepEqual(await run('sh', ['-n', join(root, path)]),
            { code: 0, stdout: '', stderr: '' });
    assert.equal((await run('bash', ['-n', join(root, '.ci/run')])).code, 0);
});

test('help names every option and needs nothing', async () => {
    const { code, stdout } = await run(script, ['--help']);
    assert.equal(code, 0);
    for (const option of ['--build-only', '--no-database', '--port'])
        assert.match(stdout, new RegExp(option));
});

test('a wrong option or port is refused by name', async () => {
    for (const [args, said] of [
        [['--prot', '1'], /unknown option --prot/],
        [['--port'], /--port needs a number/],
        [['--port', 'http'], /from 0 to 65535, got 'http'/],
        [['--port', '65536'], /from 0 to 65535, got 65536/],
        [['--port', '-1'], /from 0 to 65535/],
    ]) {
        const { code, stdout, stderr } = await run(script, args);
        assert.deepEqual([code, stdout], [1, ''], args.join(' '));
        assert.match(stderr, said);
    }
});

/** A copy of the scripts that anyone can read, with programs of ours before the real ones. */
async function bareMachine(programs) {
    const home = await mkdtemp(join(folder, 'bare-'));
    await chmod(home, 0o755);
    await mkdir(join(home, 'bin'));
    await cp(script, join(home, 'server/run'));
    await cp(join(root, 'docker/steps.sh'), join(home, 'docker/steps.sh'));
    for (const [name, text] of Object.entries(programs)) {
        await writeFile(join(home, 'bin', name), `#!/bin/sh\n${text}\n`);
        await chmod(join(home, 'bin', name), 0o755);
    }
    return { home, env: cleanEnvironment({ PATH: `${join(home, 'bin')}:${process.env.PATH}` }) };
}

test('without root it prints the exact line, which creates no cluster, and exits 2', async () => {
    const { home, env } = await bareMachine({ 'dpkg-query': 'exit 1', sudo: 'exit 1' });
    const account = process.getuid() === 0 ? { uid: 65534, gid: 65534 } : {};
    const { code, stdout, stderr } = await run(join(home, 'server/run'), [],
        { env, cwd: home, ...account });
    assert.deepEqual([code, stdout], [2, '']);
    const line = stderr.split('\n')[1];
    assert.match(line, /apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y/);
    assert.match(line, / libmicrohttpd-dev .* postgresql-15/);
    assert.match(line, /create_main_cluster = false/);
    assert.equal((await run('sh', ['-n', '-c', line])).code, 0, 'the line is one a shell can run');
    assert.ok(!/ nodejs| npm/.test(line), 'a Node that is here already is kept');
});

test('a proxy that is installed for the tests is never started', async () => {
    const { home, env } = await bareMachine(
        { 'dpkg-query': 'exit 1', sudo: 'exit 1', id: 'echo 1' });
    const { code, stderr } = await run(join(home, 'docker/steps.sh'), ['install', 'deployment'],
        { env, cwd: home });
    assert.equal(code, 2);
    const line = stderr.split('\n')[1];
    const masked = line.indexOf('ln -s /dev/null /etc/systemd/system/caddy.service');
    assert.ok(masked >= 0 && masked < line.indexOf('apt-get install'), line);
    assert.equal((await run('sh', ['-n', '-c', line])).code, 0, 'the line is one a shell can run');
});

test('installed packages are left alone, and missing ones are installed once', async () => {
    const { home, env } = await bareMachine({
        id: 'echo 0',
        'dpkg-query': 'for p; do :; done\ngrep -qx "$p" "$HERE/installed" && echo installed',
        'apt-get': 'echo "$*" >>"$HERE/calls"\n[ "$1" = install ] || exit 0\n'
            + 'for w; do echo "$w" >>"$HERE/installed"; done',
    });
    await writeFile(join(home, 'installed'), 'libpq5\nlibcurl4\n');
    const options = { env: { ...env, HERE: home } };
    const steps = join(home, 'docker/steps.sh');
    assert.equal((await run(steps, ['install', 'run'], options)).code, 0);
    const calls = await readFile(join(home, 'calls'), 'utf8');
    assert.match(calls, /^update\ninstall -y .*libmicrohttpd12/);
    assert.ok(!calls.includes('libpq5'));
    assert.equal((await run(steps, ['install', 'run'], options)).code, 0);
    assert.equal(await readFile(join(home, 'calls'), 'utf8'), calls, 'nothing left to install');
});

function start(state, ...args) {
    return new Process(script, args, {
        cwd: root,
        env: cleanEnvironment({ SHARDLINE_STATE_DIR: state, HF_HUB_OFFLINE: '1' }),
    });
}

/** Processes whose command line names the state folder, which no other test's does. */
async function processesOf(state) {
    const found = [];
    for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
        const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
        if (line.includes(state))
            found.push(`${pid} ${line.replaceAll('\0', ' ')}`);
    }
    return found;
}

/** The process of the server, as the script remembers it. */
async function serverOf(state) {
    return (await readFile(join(state, 'server.pid'), 'utf8')).split(' ')[0];
}

/** What a failed test would leave running. */
async function endProcessesOf(state) {
    for (const line of await processesOf(state))
        process.kill(Number(line.split(' ')[0]), 'SIGKILL');
}

test('it starts everything, refuses to start twice, and stops everything', async (t) => {
    const state = join(folder, 'state');
    t.after(() => endProcessesOf(state));
    let first = start(state, '--port', '0');
    t.after(() => first.kill());
    let url = await first.firstLine(BUILD_PATIENCE_MS);
    assert.match(url, /^http:\/\/127\.0\.0\.1:\d+\/?$/);
    await eventually(async () => (await send(url, 'GET', '/readyz')).status === 200, 'ready');
    const put = await send(url, 'PUT', '/api/v1/inventories/kept', {
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(inventory()),
    });
    assert.equal(put.status, 201, put.text);

    await t.test('the server is not root and reads its own copy', async () => {
        const pid = await serverOf(state);
        const status = await readFile(`/proc/${pid}/status`, 'utf8');
        assert.notEqual(status.match(/^Uid:\s+(\d+)/m)[1], '0');
        assert.equal((await send(url, 'GET', '/')).status, 200);
    });
    await t.test('a second run on the same data says so', async () => {
        const { code, stderr } = await run(script, ['--port', '0'],
            { env: cleanEnvironment({ SHARDLINE_STATE_DIR: state }) });
        assert.equal(code, 1);
        assert.match(stderr, /already running/);
    });
    await t.test('a busy port is named before anything is started, with a way out', async () => {
        const other = join(folder, 'other');
        const { code, stderr } = await run(script, ['--port', new URL(url).port],
            { env: cleanEnvironment({ SHARDLINE_STATE_DIR: other }) });
        assert.equal(code, 1);
        assert.match(stderr, /in use.*--port/);
        assert.equal(existsSync(join(other, 'postgres')), false);
    });
    await t.test('SIGTERM stops all of it and exits 0', async () => {
        first.signal('SIGTERM');
        assert.equal(await first.ended(), 0, first.log());
        assert.deepEqual(await processesOf(state), []);
        assert.equal(existsSync(join(state, 'server.pid')), false);
        assert.equal(existsSync(join(state, 'postgres/postmaster.pid')), false);
    });
    await t.test('the next run cleans up after one that was killed, data kept', async () => {
        first = start(state, '--port', '0');
        await first.firstLine(BUILD_PATIENCE_MS);
        const pid = await serverOf(state);
        first.signal('SIGKILL');
        await eventually(() => first.exit !== null || first.child.signalCode !== null, 'killed');
        const second = start(state, '--port', '0');
        t.after(() => second.kill());
        url = await second.firstLine(BUILD_PATIENCE_MS);
        assert.notEqual(await serverOf(state), pid);
        assert.equal((await send(url, 'GET', '/api/v1/inventories/kept')).status, 200);
        second.signal('SIGINT');
        assert.equal(await second.ended(), 0, second.log());
        assert.deepEqual(await processesOf(state), []);
    });
    await t.test('a recycled process id in a pid file is not mistaken for ours', async () => {
        await writeFile(join(state, 'server.pid'), `${process.pid} 1\n`);
        const third = start(state, '--port', '0', '--no-database');
        t.after(() => third.kill());
        url = await third.firstLine(BUILD_PATIENCE_MS);
        assert.equal((await send(url, 'GET', '/api/v1/inventories')).status, 503);
        third.signal('SIGTERM');
        assert.equal(await third.ended(), 0, third.log());
    });
});
