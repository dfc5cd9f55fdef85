/*
 * What reading 64 MiB of Slurm's outputs costs, each of the formats that grow that large.
 * Build the release preset and run build/release/tests/bench/intake_slurm_bench.
 */
#include "intake_bench.h"

#include "codec/inventory/hosts.h"
#include "json/reader.h"

static void
print_json(sl_buffer *out, uint32_t i)
{
    sl_buffer_format(
        out,
        "%s\n{\"architecture\": \"x86_64\", \"boards\": 1, \"boot_time\": {\"set\": true, "
        "\"infinite\": false, \"number\": 1758266697}, \"cluster_name\": \"\", \"cores\": 16, "
        "\"cpu_load\": 111, \"free_mem\": {\"set\": true, \"infinite\": false, \"number\": 484}, "
        "\"cpus\": 32, \"effective_cpus\": 32, \"energy\": {\"average_watts\": 0, "
        "\"current_watts\": {\"set\": true, \"infinite\": false, \"number\": 0}}, \"features\": "
        "[\"sxm\", \"80gb\", \"r%03u\"], \"active_features\": [\"sxm\"], \"gpu_spec\": \"\", "
        "\"gres\": "
        "\"gpu:h100:8(S:0-1)\", \"gres_drained\": \"N/A\", \"gres_used\": \"gpu:h100:0(IDX:N/A)\", "
        "\"instance_type\": \"\", \"name\": \"gpu%06u\", \"hostname\": \"gpu%06u\", \"state\": "
        "[\"IDLE\"%s], \"operating_system\": \"Linux 6.12.43 #1 SMP PREEMPT_DYNAMIC\", "
        "\"partitions\": [\"normal\"], \"port\": 6818, \"real_memory\": 2097152, \"reason\": \"\", "
        "\"sockets\": 2, \"threads\": 1, \"tres\": \"cpu=32,mem=2T,billing=32,gres/gpu=8\"}",
        i > 0 ? "," : "{\"nodes\": [", i % 1000, i, i, i % 9 == 0 ? ", \"DRAIN\"" : "");
}

/* All that version 0.0.42 of the plugin says. */
static void
print_yaml(sl_buffer *out, uint32_t i)
{
    static const char *const times[] = {"boot_time", "last_busy", "reason_changed_at",
                                        "resume_after", "slurmd_start_time"};
    sl_buffer_format(out,
                     "%s- architecture: x86_64\n  burstbuffer_network_address: \"\"\n  boards: 1\n"
                     "  cluster_name: hall\n  cores: 56\n  specialized_cores: 0\n"
                     "  cpu_binding: 0\n  cpu_load: 111\n  cpus: 112\n  effective_cpus: 112\n"
                     "  specialized_cpus: \"\"\n",
                     i > 0 ? "" : "nodes:\n");
    for (size_t j = 0; j < sizeof times / sizeof times[0]; j++)
        sl_buffer_format(out, "  %s:\n    set: true\n    infinite: false\n    number: 1758266697\n",
                         times[j]);
    sl_buffer_format(
        out,
        "  free_mem:\n    set: true\n    infinite: false\n    number: 1938484\n"
        "  energy:\n    average_watts: 0\n    base_consumed_energy: 0\n    consumed_energy: 0\n"
        "    current_watts:\n      set: false\n      infinite: false\n      number: 0\n"
        "    previous_consumed_energy: 0\n    last_collected: 0\n  external_sensors: {}\n"
        "  extra: \"\"\n  power: {}\n  features:\n  - sxm\n  - 80gb\n  active_features:\n  - sxm\n"
        "  - 80gb\n  gpu_spec: \"\"\n  gres: gpu:h100:8(S:0-1)\n  gres_drained: N/A\n"
        "  gres_used: gpu:h100:0(IDX:N/A)\n  instance_id: \"\"\n  instance_type: \"\"\n"
        "  mcs_label: \"\"\n  specialized_memory: 0\n  name: gpu%06u\n"
        "  next_state_after_reboot:\n  - INVALID\n  address: gpu%06u\n  hostname: gpu%06u\n"
        "  state:\n  - IDLE\n%s  operating_system: \"Linux 6.12.43 #1 SMP PREEMPT_DYNAMIC\"\n"
        "  owner: \"\"\n  partitions:\n  - normal\n  port: 6818\n  real_memory: 2097152\n"
        "  res_cores_per_gpu: 0\n  comment: \"\"\n  reason: \"\"\n  reason_set_by_user: \"\"\n"
        "  reservation: \"\"\n  alloc_memory: 0\n  alloc_cpus: 0\n  alloc_idle_cpus: 112\n"
        "  tres_used: \"\"\n  tres_weighted: 0.0\n  sockets: 2\n  threads: 1\n"
        "  temporary_disk: 0\n  weight: 1\n  topology: topo-switch:leaf1\n"
        "  tres: cpu=112,mem=2T,billing=112,gres/gpu=8\n  version: 24.05.3\n",
        i, i, i, i % 9 == 0 ? "  - DRAIN\n" : "");
}

static void
print_text(sl_buffer *out, uint32_t i)
{
    sl_buffer_format(
        out,
        "NodeName=gpu%06u Arch=x86_64 CoresPerSocket=20\n   CPUAlloc=34 CPUTot=80 "
        "CPULoad=19.88\n   AvailableFeatures=x86_64,volta,32gb\n   Gres=gpu:v100:8\n   "
        "NodeAddr=gpu%06u NodeHostName=gpu%06u Version=20.11.8\n   OS=Linux 4.15.0 #100 "
        "SMP Wed Apr 22 UTC 2020\n   RealMemory=386619 AllocMem=0 FreeMem=313185 "
        "Sockets=2 Boards=1\n   State=MIXED ThreadsPerCore=2 TmpDisk=3600000 Weight=1\n "
        "  Partitions=main,long\n   CfgTRES=cpu=80,mem=386619M,gres/gpu=8\n\n",
        i, i, i);
}

static void
print_row(sl_buffer *out, uint32_t i)
{
    sl_buffer_format(out,
                     "%sgpu%06u|gpu:a100:8(S:0-1)|idle|none|partition%u|epyc,80gb,ib-leaf-17\n",
                     i == 0 ? "HOSTNAMES|GRES|STATE|REASON|PARTITION|AVAIL_FEATURES\n" : "",
                     i % 100000, i / 100000);
}

static void
print_devices(sl_buffer *out, uint32_t i)
{
    sl_buffer_format(out, "NodeName=gpu%06u Name=gpu Type=h100 File=/dev/nvidia%u Cores=0-31\n",
                     i / 8, i % 8);
}

int
main(void)
{
    sl_json_start();
    measure_printed("nodes as JSON", print_json, SL_HOSTS_MAX, "]}");
    measure_printed("nodes as YAML", print_yaml, SL_HOSTS_MAX, "warnings: []\n");
    measure_printed("nodes as text", print_text, SL_HOSTS_MAX, "");
    measure_printed("rows", print_row, UINT32_MAX, "");
    measure_printed("devices", print_devices, 8 * SL_HOSTS_MAX, "");
    return 0;
}
