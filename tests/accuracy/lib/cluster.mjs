/** The row's machine: a part of the catalogue, and as many nodes as the devices fill. */
import { count, firstMatch, known } from './words.mjs';

const GIB_BYTES = 2 ** 30;

/** Words for a part, in order. Where one name sells two sizes, the row's memory tells. */
const parts = [
    [/GB300/i, 'nvidia-gb300'],
    [/GB200/i, 'nvidia-gb200'],
    [/GH200/i, 'nvidia-gh200-96gb'],
    [/B300/i, 'nvidia-b300-sxm'],
    [/B200/i, 'nvidia-b200-sxm-180gb'],
    [/H200/i, 'nvidia-h200-sxm-141gb'],
    [/H800/i, 'nvidia-h800-sxm5-80gb'],
    [/H100 (NVL|94GB)/i, 'nvidia-h100-nvl-94gb'],
    [/H100 PCIe/i, 'nvidia-h100-pcie-80gb'],
    [/^H100/i, 'nvidia-h100-sxm5-80gb'],
    [/A800/i, 'nvidia-a800-sxm4-80gb'],
    [/A100.*40 ?GB/i, 'nvidia-a100-sxm4-40gb'],
    [/^A100/i, (gib) => (gib > 0 && gib <= 40 ? 'nvidia-a100-sxm4-40gb' : 'nvidia-a100-sxm4-80gb')],
    [/V100/i, (gib) => (gib > 16 ? 'nvidia-v100-sxm2-32gb' : 'nvidia-v100-sxm2-16gb')],
    [/A6000/i, 'nvidia-rtx-a6000'],
    [/4090/i, 'nvidia-rtx-4090'],
    [/3090/i, 'nvidia-rtx-3090'],
    [/5090/i, 'nvidia-rtx-5090'],
    [/L40S/i, 'nvidia-l40s'],
    [/L40/i, 'nvidia-l40'],
    [/MI300X/i, 'amd-mi300x'],
    [/MI325X/i, 'amd-mi325x'],
    [/MI250X/i, 'amd-mi250x'],
    // A size alone: what a plan takes is the same on any part, and the row says what there is.
    [/^\d+ ?GB\+? GPU$/i, (gib) => (gib > 0 ? 'nvidia-a100-sxm4-80gb' : undefined)],
];

/** Devices of a node where the row does not say: eight, on the boards with two CPUs four. */
const fullNode = (gpu) => (/GB[23]00/i.test(gpu) ? 4 : 8);

/** The devices of the row, or those its degrees multiply out to. */
export function devicesOf(row) {
    const said = count(row.num_gpus, 1);
    const degrees = ['tp', 'pp', 'cp', 'dp'].map((name) => count(row[name], 1));
    if (said !== undefined || degrees.includes(undefined))
        return said;
    return degrees.reduce((product, degree) => product * degree, 1);
}

/**
 * Cards of a node and Gb/s of each. A total of the node is one card per device, and so is a link of
 * which only the rate is said.
 */
const nicWords = [
    [/^(\d+)x(\d+) ?Gb\/s/i, ([, cards, rate]) => [Number(cards), Number(rate)]],
    [/(\d+) ?Gb\/s .*per node/i, ([, rate], devices) => [devices, Number(rate) / devices]],
    [/(\d+) ?Gb\/s .*per GPU/i, ([, rate], devices) => [devices, Number(rate)]],
    [/\bNDR ?(\d+)/i, ([, rate], devices) => [devices, Number(rate)]],
];

const nicKinds = [[/\bIB\b/, 'infiniband'], [/RoCE/i, 'roce']];

const BITS_PER_BYTE = 8;

/** The cards as the row's link says; without a rate they stay those of the catalogue. */
function nicsOf(link, devicesPerNode) {
    const [pattern, read] = nicWords.find(([words]) => words.test(link)) ?? [];
    if (pattern === undefined)
        return undefined;
    const [cards, gigabits] = read(pattern.exec(link), devicesPerNode);
    return [known({ count: cards, bytes_per_s: gigabits * 1e9 / BITS_PER_BYTE,
        kind: firstMatch(nicKinds, link) })];
}

/** What makes the row's part another than the one of its name. */
function overridesOf(row, gib) {
    const [, terabytes] = row.gpu.match(/(\d+(?:\.\d+)?) ?TB\/s/i) ?? [];
    const [, watts] = row.gpu.match(/(\d+) ?W\b/) ?? [];
    return known({
        memory_bytes: gib === undefined ? undefined : Math.round(gib * GIB_BYTES),
        memory_bandwidth_bytes_per_s: terabytes === undefined ? undefined
            : Number(terabytes) * 1e12,
        power_limit_w: count(watts, 1),
    });
}

export function clusterOf(row) {
    const gib = Number(row.gpu_mem_gib) || undefined;
    const part = firstMatch(parts, row.gpu);
    const devices = devicesOf(row);
    let perNode = count(row.gpus_per_node, 1) ?? fullNode(row.gpu);
    perNode = Math.min(perNode, devices ?? perNode);
    while (devices !== undefined && devices % perNode !== 0)
        perNode--;
    return known({
        accelerator: typeof part === 'function' ? part(gib) : part,
        nodes: devices === undefined ? undefined : devices / perNode,
        accelerators_per_node: perNode,
        nics: nicsOf(row.inter_node_link, perNode),
        accelerator_overrides: overridesOf(row, gib),
    });
}
