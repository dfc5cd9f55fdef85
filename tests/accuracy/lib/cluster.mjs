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
    [/H200.*NVL/i, 'nvidia-h200-nvl-141gb'],
    [/H200/i, 'nvidia-h200-sxm-141gb'],
    [/H800.*PCIe/i, 'nvidia-h800-pcie-80gb'],
    [/H800/i, 'nvidia-h800-sxm5-80gb'],
    [/H20\b/i, 'nvidia-h20-96gb'],
    [/H100.*NVL/i, 'nvidia-h100-nvl-94gb'],
    // Boards of pairs are one node; of several nodes it is the 96 GB part, by what CUDA shows.
    [/H100.*94 ?GB/i, (gib, match, nodes) => (nodes > 1 ? 'nvidia-h100-sxm5-80gb' : 'nvidia-h100-nvl-94gb')],
    [/H100.*PCIe/i, 'nvidia-h100-pcie-80gb'],
    [/H100/i, 'nvidia-h100-sxm5-80gb'],
    [/A800.*PCIe/i, 'nvidia-a800-pcie-80gb'],
    [/A800/i, 'nvidia-a800-sxm4-80gb'],
    [/A100.*PCIe.*40 ?G|A100.*40 ?G.*PCIe/i, 'nvidia-a100-pcie-40gb'],
    [/A100.*PCIe/i, 'nvidia-a100-pcie-80gb'],
    [/A100.*40 ?G/i, 'nvidia-a100-sxm4-40gb'],
    [/A100.*64 ?G/i, 'nvidia-a100-sxm4-64gb'],
    [/A100/i, (gib) => (gib > 0 && gib <= 40 ? 'nvidia-a100-sxm4-40gb' : 'nvidia-a100-sxm4-80gb')],
    [/V100.*PCIe.*32 ?G|V100.*32 ?G.*PCIe/i, 'nvidia-v100-pcie-32gb'],
    [/V100.*PCIe/i, 'nvidia-v100-pcie-16gb'],
    [/V100.*32 ?G/i, 'nvidia-v100-sxm2-32gb'],
    [/V100/i, (gib) => (gib > 16 ? 'nvidia-v100-sxm2-32gb' : 'nvidia-v100-sxm2-16gb')],
    [/\bT4\b/i, 'nvidia-t4'],
    [/A6000/i, 'nvidia-rtx-a6000'],
    [/RTX 6000 Ada/i, 'nvidia-rtx-6000-ada'],
    [/RTX PRO 6000.*Max-Q/i, 'nvidia-rtx-pro-6000-blackwell-maxq'],
    [/RTX PRO 6000/i, 'nvidia-rtx-pro-6000-blackwell-server'],
    [/4090/i, 'nvidia-rtx-4090'],
    [/3090/i, 'nvidia-rtx-3090'],
    [/5090/i, 'nvidia-rtx-5090'],
    [/\bA10G\b/i, 'nvidia-a10g'],
    [/\bA10\b/i, 'nvidia-a10'],
    [/\bA30\b/i, 'nvidia-a30'],
    [/\bA40\b/i, 'nvidia-a40'],
    [/\bL4\b/i, 'nvidia-l4'],
    [/\bL20\b/i, 'nvidia-l20'],
    [/L40S/i, 'nvidia-l40s'],
    [/L40/i, 'nvidia-l40'],
    [/MI250X?.*GCD/i, 'amd-mi250x-gcd'],
    [/MI(100|210|250X|250|300A|300X|325X|350X|355X)\b/i, (_, [, size]) => `amd-mi${size.toLowerCase()}`],
    [/Gaudi ?([23])/i, (_, [, number]) => `intel-gaudi${number}`],
    // A size alone: what a plan takes is the same on any part, and the row says what there is.
    [/^\d+ ?GB\+? GPU$/i, (gib) => (gib > 0 ? 'nvidia-a100-sxm4-80gb' : undefined)],
];

/** Devices of a node where the row does not say: eight, on the boards with two CPUs four. */
const fullNode = (gpu) => (/GB[23]00/i.test(gpu) ? 4 : 8);

/** Boards of four without a switch, where the source says so of its nodes: a job may have a part of one. */
const saysFour = /\b4 x [AH]\d00 nodes/i;
const boardsOfFour = {
    'nvidia-a100-sxm4-80gb': 'hgx-a100-4',
    'nvidia-a100-sxm4-64gb': 'leonardo-booster',
    'nvidia-a100-sxm4-40gb': 'juwels-booster',
    'nvidia-h100-sxm5-80gb': 'hgx-h100-4',
    'nvidia-h200-sxm-141gb': 'hgx-h200-4',
};

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
const gigabits = '(\\d+) ?G(?:b/s|bps|bit/s)?';
const technology = '(?:(?:HDR|NDR|EDR|XDR|IB|RoCE|EFA|OPA|Omni-?Path|Slingshot(?:[ -]?11)?|ConnectX-?\\d|CX-?\\d) ?-?)*';
const nicWords = [
    [new RegExp(`(\\d+) ?x ?${technology}(\\d{2,4})(?!\\d| ?T)`, 'i'), ([, cards, rate]) => [Number(cards), Number(rate)]],
    [/(\d+(?:\.\d+)?) ?Tb(?:\/s|ps|it\/s)/i, ([, rate], devices) => [devices, 1000 * Number(rate) / devices]],
    [new RegExp(`${gigabits}\\b.*per node`, 'i'), ([, rate], devices) => [devices, Number(rate) / devices]],
    [new RegExp(`${gigabits}\\b.*per GPU`, 'i'), ([, rate], devices) => [devices, Number(rate)]],
    [/\b[HN]DR ?(\d+)/i, ([, rate], devices) => [devices, Number(rate)]],
    // What a cloud says of an instance is all that it has, and a card of Ethernet is one of a node.
    [new RegExp(`\\bEFA ${gigabits}\\b(?!-)`, 'i'), ([, rate], devices) => [devices, Number(rate) / devices]],
    [/(\d+) ?(?:GbE|G(?:b\/s|bps)? ?Ethernet)\b/i, ([, rate]) => [1, Number(rate)]],
];

const nicKinds = [[/\bIB\b|InfiniBand|\b[HN]DR/i, 'infiniband'], [/RoCE/i, 'roce'], [/\bEFA\b/, 'efa'],
    [/Slingshot/i, 'slingshot'], [/Omni-?Path|\bOPA\b/i, 'omni_path'], [/Ethernet|GbE/i, 'ethernet']];

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
    const [first] = row.gpu.split('/'); // of several the one named first
    const [pattern, part] = parts.find(([words]) => words.test(first)) ?? [];
    const devices = devicesOf(row);
    let perNode = count(row.gpus_per_node, 1) ?? fullNode(row.gpu);
    perNode = Math.min(perNode, devices ?? perNode);
    while (devices !== undefined && devices % perNode !== 0)
        perNode--;
    const accelerator = typeof part === 'function' ? part(gib, pattern.exec(first), devices / perNode) : part;
    return known({
        accelerator,
        node_type: saysFour.test(`${row.source}, ${row.notes}`) ? boardsOfFour[accelerator] : undefined,
        nodes: devices === undefined ? undefined : devices / perNode,
        accelerators_per_node: perNode,
        scale_up_domain: /\bwithout NVLink\b/.test(row.notes) ? 1 : undefined,
        nics: nicsOf(row.inter_node_link, perNode),
        accelerator_overrides: overridesOf(row, gib),
    });
}
