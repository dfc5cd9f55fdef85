/**
 * The Docker files, read by the tools of their users and as an engine would: there is none on a
 * developer's machine. What they start runs as processes in topology.test.mjs.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { adaptCaddyfile } from './lib/caddy.mjs';
import { cleanEnvironment, run } from './lib/processes.mjs';
import { root } from './lib/server.mjs';

const read = (path) => readFileSync(join(root, path), 'utf8');
const compose = parse(read('docker/compose.yml'));
const instructions = parseDockerfile(read('docker/Dockerfile'));

/** [{ stage, name, words }], continuation lines joined, comments dropped. */
function parseDockerfile(text) {
    let stage = -1;
    return text.replace(/^#.*\n/gm, '').replace(/\\\n/g, ' ').split('\n')
        .filter((line) => line.trim() !== '')
        .map((line) => {
            const [name, ...words] = line.trim().split(/\s+/);
            stage += name === 'FROM' ? 1 : 0;
            return { stage, name, words };
        });
}

const named = (name) => instructions.filter((instruction) => instruction.name === name);

/** What of the checkout .dockerignore lets through: the last rule that fits decides. */
function sentToEngine(path) {
    const rules = read('.dockerignore').split('\n').filter((line) => line && line[0] !== '#');
    return rules.reduce((sent, rule) => {
        const pattern = rule.replace(/^!/, '');
        const fits = pattern === '*' || path === pattern || path.startsWith(`${pattern}/`);
        return fits ? rule.startsWith('!') : sent;
    }, true);
}

test('every source of a COPY exists and is sent to the engine', () => {
    const copies = named('COPY').filter(({ words }) => !words[0].startsWith('--from='));
    assert.ok(copies.length > 0);
    for (const { words } of copies) {
        for (const source of words.slice(0, -1)) {
            assert.ok(existsSync(join(root, source)), `${source} does not exist`);
            assert.ok(sentToEngine(source), `${source} is ignored by .dockerignore`);
        }
    }
});

test('what is built or installed on the host stays out of the image', () => {
    const local = ['build/release', 'static/dist', 'static/node_modules', '.shardline', '.git'];
    for (const path of local)
        assert.equal(sentToEngine(path), false, path);
});

test('a later stage copies only from an earlier one', () => {
    const stages = named('FROM').map(({ words }) => words[2]);
    for (const { words, stage } of named('COPY')) {
        const from = words[0].match(/^--from=(.+)$/)?.[1];
        if (from !== undefined)
            assert.ok(stages.indexOf(from) >= 0 && stages.indexOf(from) < stage, from);
    }
});

test('every step and group of packages that the image names exists in steps.sh', () => {
    const steps = read('docker/steps.sh');
    const used = named('RUN').map(({ words }) => words.join(' ').match(/steps\.sh ([a-z ]+)/)[1]);
    assert.deepEqual(used.map((text) => text.trim().split(' ')[0]),
        ['install', 'server', 'dashboard', 'install']);
    for (const text of used) {
        const [step, ...groups] = text.trim().split(' ');
        assert.match(steps, new RegExp(`^    ${step}\\) `, 'm'));
        for (const group of groups)
            assert.match(steps, new RegExp(`^    ${group}\\)`, 'm'));
    }
});

test('the image runs unprivileged, is probed, and is stopped by SIGTERM', () => {
    const last = instructions.filter(({ stage }) => stage === named('FROM').length - 1);
    const words = (name) => last.find((instruction) => instruction.name === name)?.words.join(' ');
    assert.equal(words('USER'), 'shardline');
    assert.match(words('HEALTHCHECK'), /\/healthz/);
    assert.equal(words('STOPSIGNAL'), 'SIGTERM');
    assert.equal(words('ENTRYPOINT'), '["shardlined"]');
    const order = last.map(({ name }) => name);
    assert.ok(order.indexOf('USER') > order.lastIndexOf('RUN'), 'nothing is installed after it');
});

test('the services are a database, two servers and a proxy, in that order of starting', () => {
    assert.deepEqual(Object.keys(compose.services), ['database', 'server', 'proxy']);
    const { database, server, proxy } = compose.services;
    assert.equal(database.image, 'postgres:15');
    assert.equal(server.deploy.replicas, 2);
    assert.deepEqual(server.depends_on, { database: { condition: 'service_healthy' } });
    assert.deepEqual(proxy.depends_on, { server: { condition: 'service_healthy' } });
});

test('compose knows every key that is used', () => {
    const known = new Set(['image', 'build', 'environment', 'volumes', 'networks', 'healthcheck',
        'restart', 'stop_grace_period', 'depends_on', 'deploy', 'read_only', 'cap_drop',
        'security_opt', 'ports']);
    for (const [name, service] of Object.entries(compose.services)) {
        for (const key of Object.keys(service))
            assert.ok(known.has(key), `${name}.${key}`);
        for (const check of [service.healthcheck].filter(Boolean)) {
            assert.equal(check.test[0], 'CMD', name);
            for (const time of [check.interval, check.timeout, check.start_period ?? '0s'])
                assert.match(time, /^\d+s$/, name);
        }
        for (const [key, value] of Object.entries(service.environment))
            assert.equal(typeof value, 'string', `${name}.environment.${key}`);
    }
});

/** Names, whether they stand in a list or have settings of their own. */
function networksOf({ networks }) {
    return Array.isArray(networks) ? networks : Object.keys(networks);
}

test('every volume, network and file that a service names is there', () => {
    for (const [name, service] of Object.entries(compose.services)) {
        for (const volume of service.volumes) {
            const source = volume.split(':')[0];
            if (source.startsWith('.'))
                assert.ok(existsSync(join(root, 'docker', source)), `${name}: ${source}`);
            else
                assert.ok(source in compose.volumes, `${name}: ${source}`);
        }
        for (const network of networksOf(service))
            assert.ok(network in compose.networks, `${name}: ${network}`);
    }
    const { context, dockerfile } = compose.services.server.build;
    assert.ok(existsSync(join(root, 'docker', context, dockerfile)));
});

test('only the proxy has ports, and the database cannot be reached from outside', () => {
    const { database, server, proxy } = compose.services;
    assert.equal(database.ports, undefined);
    assert.equal(server.ports, undefined);
    assert.equal(proxy.ports.length, 2);
    assert.deepEqual(database.networks, ['storage']);
    assert.equal(compose.networks.storage.internal, true);
    assert.deepEqual(networksOf(proxy), ['front']);
});

/** The value of `${NAME:-value}` where the shell and .env say nothing. */
const unset = (text) => text.replace(/\$\{\w+:-([^}]*)\}/g, '$1');

test('the servers believe the proxy, and the network gives its address to nobody else', () => {
    const { server, proxy } = compose.services;
    const address = proxy.networks.front.ipv4_address;
    assert.equal(server.environment.SHARDLINE_TRUSTED_PROXIES, address);
    const [{ subnet, ip_range: range }] = compose.networks.front.ipam.config;
    const number = (text) => unset(text).split('/')[0].split('.')
        .reduce((sum, part) => sum * 256 + Number(part), 0);
    const within = (block) => {
        const size = 2 ** (32 - Number(unset(block).split('/')[1]));
        return number(address) >= number(block) && number(address) < number(block) + size;
    };
    assert.ok(within(subnet) && !within(range), unset(address));
});

test('docker-compose takes the file, and .env gives the project its name', async () => {
    const env = cleanEnvironment();
    for (const name of Object.keys(env).filter((text) => text.startsWith('COMPOSE_')))
        delete env[name];
    const config = (...more) => run('docker-compose',
        ['-f', join(root, 'docker/compose.yml'), 'config', ...more], { cwd: '/', env });
    assert.deepEqual(await config('-q'), { code: 0, stdout: '', stderr: '' });
    const resolved = parse((await config()).stdout);
    assert.equal(resolved.services.server.deploy.replicas, 2);
    assert.equal(resolved.services.server.environment.SHARDLINE_TRUSTED_PROXIES,
        resolved.services.proxy.networks.front.ipv4_address);
    assert.match(read('docker/.env'), /^COMPOSE_PROJECT_NAME=shardline$/m);
    assert.equal(compose.name, undefined, 'version 1 refuses it');
});

test('.env offers every variable of the compose file, networks with what they are unset', () => {
    const offered = new Map([...read('docker/.env').matchAll(/^#([A-Z_]+)=(.*)$/gm)]
        .map(([, name, value]) => [name, value]));
    const used = [...read('docker/compose.yml').matchAll(/\$\{(\w+):-([^}]*)\}/g)];
    assert.deepEqual(new Set(used.map(([, name]) => name)), new Set(offered.keys()));
    for (const [, name, value] of used) {
        if (/^(SHARDLINE_(FRONT|PROXY)|HF)_/.test(name))
            assert.equal(offered.get(name), value, name);
    }
});

test('the proxy takes its file, laid out as its own formatter would', async () => {
    const path = join(root, 'docker/Caddyfile');
    for (const command of ['validate', 'fmt']) {
        const args = command === 'fmt' ? ['fmt', path]
            : ['validate', '--config', path, '--adapter', 'caddyfile'];
        const { code, stdout, stderr } = await run('caddy', args, { env: cleanEnvironment() });
        assert.equal(code, 0, stderr);
        if (command === 'fmt')
            assert.equal(stdout, read('docker/Caddyfile'));
    }
});

test('the proxy finds the service by name, or the servers that a variable lists', async () => {
    const { server } = compose.services;
    assert.ok(server !== undefined, 'the name that is looked up');
    const { proxy, addresses } = await adaptCaddyfile();
    assert.deepEqual([proxy.dynamic_upstreams.name, proxy.dynamic_upstreams.port],
        ['server', '8080']);
    assert.deepEqual(addresses, [':80']);
    const listed = await adaptCaddyfile({ SHARDLINE_UPSTREAMS: 'to one:8080 two:8080' });
    assert.deepEqual(listed.proxy.upstreams, [{ dial: 'one:8080' }, { dial: 'two:8080' }]);
    assert.equal(listed.proxy.dynamic_upstreams, undefined);
});

test('with a domain name it speaks TLS, on a port that is published', async () => {
    const { addresses, hosts } = await adaptCaddyfile({ SHARDLINE_SITE: 'planner.example.org' });
    assert.deepEqual([addresses, hosts], [[':443'], ['planner.example.org']]);
    assert.ok(compose.services.proxy.ports.some((port) => port.endsWith(':443')));
});

test('no limit of the proxy is below that of a route', async () => {
    const routes = read('server/api/routes.c');
    const limits = [...routes.matchAll(/_MAX_BYTES = (\d+) \* 1024 \* 1024/g)];
    assert.ok(limits.length > 0);
    const { bodyMaxBytes } = await adaptCaddyfile();
    for (const [text, mebibytes] of limits)
        assert.ok(bodyMaxBytes >= mebibytes * 2 ** 20, text);
});

test('every setting given to the server is one it reads', () => {
    const settings = read('server/base/settings.h') + read('server/base/settings.c');
    const given = [...Object.keys(compose.services.server.environment),
        ...named('ENV').flatMap(({ words }) => words.map((word) => word.split('=')[0]))];
    for (const name of given.filter((text) => /^(SHARDLINE|HF)_/.test(text)))
        assert.ok(new RegExp(`\\b${name}\\b`).test(settings), name);
});
