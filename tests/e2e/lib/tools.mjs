/**
 * What the tools of a cluster print, for hosts of our own invention: as much of each format as
 * decides what an inventory says. The formats' own fixtures are in tests/fixtures/inventories.
 */

const numbered = (count, from = 1) => Array.from({ length: count },
    (_, i) => `gpu${String(from + i).padStart(3, '0')}`);

/** scontrol show nodes --json. `gpu` is a type as gres.conf has it; `drained` names hosts. */
export function scontrolNodes({ hosts = 4, gpu = 'nvidia_h100_80gb_hbm3', drained = [] } = {}) {
    const nodes = numbered(hosts).map((name) => ({
        name,
        hostname: name,
        state: drained.includes(name) ? ['IDLE', 'DRAIN'] : ['IDLE'],
        reason: drained.includes(name) ? 'ECC memory error' : '',
        gres: `gpu:${gpu}:8`,
        cpus: 192,
        real_memory: 2063937,
        features: [],
        partitions: ['train'],
        tres: 'cpu=192,mem=2063937M,gres/gpu=8',
    }));
    const meta = { plugin: { data_parser: 'data_parser/v0.0.41' },
        slurm: { version: { major: '24', minor: '05', micro: '1' }, release: '24.05.1' } };
    return JSON.stringify({ nodes, meta, errors: [], warnings: [] }, null, 1);
}

/** One node as `kubectl get nodes -o json` lists it, its devices discovered. */
export function kubectlNode(name, annotations = {}) {
    const resources = { cpu: '192', memory: '2113540396Ki', 'nvidia.com/gpu': '8' };
    return {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: {
            name,
            annotations,
            labels: {
                'kubernetes.io/hostname': name,
                'nvidia.com/gpu.product': 'NVIDIA-H100-80GB-HBM3',
                'nvidia.com/gpu.count': '8',
                'nvidia.com/gpu.memory': '81559',
            },
        },
        spec: {},
        status: {
            capacity: resources,
            allocatable: resources,
            conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady' }],
        },
    };
}

/** kubectl get nodes -o json. */
export function kubectlNodes({ hosts = 4 } = {}) {
    return JSON.stringify({ apiVersion: 'v1', kind: 'List',
        items: numbered(hosts).map((name) => kubectlNode(name)) }, null, 4);
}

/** nvidia-smi -q -x. */
export function nvidiaSmi({ devices = 8 } = {}) {
    const device = (i) => `	<gpu id="00000000:${(16 + i).toString(16).toUpperCase()}:00.0">
		<product_name>NVIDIA H100 80GB HBM3</product_name>
		<uuid>GPU-00000000-0000-0000-0000-00000000000${i}</uuid>
		<fb_memory_usage>
			<total>81559 MiB</total>
			<reserved>551 MiB</reserved>
			<used>1 MiB</used>
			<free>81007 MiB</free>
		</fb_memory_usage>
	</gpu>
`;
    return `<?xml version="1.0" ?>
<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">
<nvidia_smi_log>
	<timestamp>Mon Mar  2 09:00:00 2026</timestamp>
	<driver_version>550.90.07</driver_version>
	<attached_gpus>${devices}</attached_gpus>
${Array.from({ length: devices }, (_, i) => device(i)).join('')}</nvidia_smi_log>
`;
}
