/** The Docker files, read as an engine would: there is none on a developer's machine. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
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

test('every volume, network and file that a service names is there', () => {
    for (const [name, service] of Object.entries(compose.services)) {
        for (const volume of service.volumes) {
            const source = volume.split(':')[0];
            if (source.startsWith('.'))
                assert.ok(existsSync(join(root, 'docker', source)), `${name}: ${source}`);
            else
                assert.ok(source in compose.volumes, `${name}: ${source}`);
        }
        for (const network of service.networks)
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
    assert.ok(!proxy.networks.includes('storage'));
});

test('the proxy forwards to the service by name and is ready for TLS', () => {
    const caddy = read('docker/Caddyfile');
    assert.match(caddy, /^\{\$SHARDLINE_SITE:/m);
    assert.match(caddy, /name server\n\s*port 8080/);
    assert.equal((caddy.match(/\{/g) ?? []).length, (caddy.match(/\}/g) ?? []).length);
    assert.ok(compose.services.proxy.ports.some((port) => port.endsWith(':443')));
});

test('every setting given to the server is one it reads', () => {
    const settings = read('server/base/settings.h') + read('server/base/settings.c');
    const given = [...Object.keys(compose.services.server.environment),
        ...named('ENV').flatMap(({ words }) => words.map((word) => word.split('=')[0]))];
    for (const name of given.filter((text) => /^(SHARDLINE|HF)_/.test(text)))
        assert.match(settings, new RegExp(`\\b${name}\\b`), name);
});
