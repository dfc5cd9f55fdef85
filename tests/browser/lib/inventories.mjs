/** What tools print of clusters of our own making, and requests that store them: for tests of the page of inventories. */
import assert from 'node:assert/strict';
import { send } from '../../e2e/lib/http.mjs';
import { eventually } from '../../e2e/lib/processes.mjs';

const two = (number) => String(number).padStart(2, '0');

/** 24 hosts in three racks. */
export const hosts = [1, 2, 3].flatMap((rack) => Array.from({ length: 8 }, (_, at) => `r${rack}-gpu${two(at + 1)}`));

export const node = { accelerator: 'nvidia-h100-sxm5-80gb', accelerators: 8, memory_bytes: 85520809984 };
export const spec = { name: 'Prod EU', labels: { site: 'eu-1' }, pools: [
    { name: 'h100', nodes: 24, hosts: ['r[1-3]-gpu[01-08]'], node, fabric: { kind: 'fat_tree', oversubscription: 1 } }] };

/** `scontrol show node`. @param {string[]} names @param {Record<string, [string, string]>} [bad]  state and reason */
export const slurm = (names, bad = {}) => names.map((name) => {
    const [state, reason] = bad[name] ?? ['IDLE', ''];
    return `NodeName=${name} Arch=x86_64 CoresPerSocket=56\n   CPUAlloc=0 CPUTot=112 CPULoad=0.10\n   Gres=gpu:h100:8(S:0-1)\n`
        + `   NodeAddr=${name} NodeHostName=${name} Version=24.05.1\n   RealMemory=2063937 State=${state} ThreadsPerCore=1\n${
            reason === '' ? '' : `   Reason=${reason} [root@2026-11-20T08:00:00]\n`}`;
}).join('\n');

/** `ansible -m setup` with the local fact that nvidia-smi gives. @param {string[]} names @param {(name: string) => any} of  driver, rates, gpu */
export const ansible = (names, of) => names.map((name) => {
    const { driver = '550.90.07', rates = Array(8).fill(400000), gpu: part = 'NVIDIA H100 80GB HBM3' } = of(name);
    const ports = rates.map((speed, at) => [`ansible_ib${at}`,
        { active: true, device: `ib${at}`, type: 'infiniband', speed, pciid: `0000:${at}a:00.0` }]);
    const gpu = ['name, memory.total [MiB], memory.reserved [MiB], driver_version, mig.mode.current',
        ...Array(8).fill(`${part}, 81559 MiB, 480 MiB, ${driver}, Disabled`)];
    return `${name} | SUCCESS => ${JSON.stringify({ ansible_facts: { ansible_hostname: name, ansible_memtotal_mb: 2063930,
        ...Object.fromEntries(ports), ansible_local: { gpu } }, changed: false }, null, 4)}`;
}).join('\n');

/** A server seen through the requests that a provisioning tool would make. @param {{url: string}} server */
export function tools(server) {
    const put = async (path, body, type) => {
        /* A server that just began has not read the private hardware yet, and says so. */
        const answer = await eventually(async () => {
            const told = await send(server.url, 'PUT', `/api/v1/${path}`, { body, headers: { 'content-type': type } });
            return told.json?.errors?.[0]?.code === 'private_hardware_unread' ? null : told;
        }, 'private hardware is read');
        assert.ok([200, 201].includes(answer.status), `${path}: ${answer.text}`);
        return answer.json;
    };
    return {
        inventory: (slug, document) => put(`inventories/${slug}`, JSON.stringify(document), 'application/json'),
        observe: (slug, source, text, query = '') => put(`inventories/${slug}/observations/${source}${query}`, text, 'text/plain'),
        plan: (slug, document) => put(`plans/${slug}`, JSON.stringify(document), 'application/json'),
        remove: async (slug) => assert.equal((await send(server.url, 'DELETE', `/api/v1/inventories/${slug}`)).status, 200),
        get: async (path) => (await send(server.url, 'GET', `/api/v1/${path}`)).json,
    };
}
