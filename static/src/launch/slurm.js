/** A batch script of Slurm that starts torchrun on every node. Names: of sbatch, srun and torchrun as they are known, not read off a release. */

/** @param {import("./written.js").Resolved} resolved @returns {import("./written.js").Written} */
export function slurm({ cluster, workload }) {
    const { nodes, accelerators_per_node: each } = cluster;
    const lines = [
        "#!/bin/bash", "#SBATCH --job-name=train", `#SBATCH --nodes=${nodes}`, "#SBATCH --ntasks-per-node=1",
        `#SBATCH --gpus-per-node=${each}`, "#SBATCH --exclusive", "",
        "set -euo pipefail", 'head=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)', "",
        ...(workload.expandable_segments ? ["export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True", ""] : []),
        "srun torchrun \\", `  --nnodes=${nodes} \\`, `  --nproc-per-node=${each} \\`, '  --rdzv-id="$SLURM_JOB_ID" \\',
        "  --rdzv-backend=c10d \\", '  --rdzv-endpoint="$head:29500" \\', '  train.py "$@"',
    ];
    return { text: `${lines.join("\n")}\n`, notes: [
        "own_script",
        "own_site",
    ] };
}
