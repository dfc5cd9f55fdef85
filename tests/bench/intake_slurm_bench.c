/*
 * What reading 64 MiB of Slurm's outputs costs, each of the formats that grow that large.
 * Build the release preset and run build/release/tests/bench/intake_slurm_bench.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/buffer.h"
#include "intake/slurm/slurm.h"
#include "json/reader.h"

enum { TEXT_BYTES = 64 << 20, ARENA_BYTES = 512 << 20, ROUNDS = 3 };

/* Appends what a format prints of node `i`. */
typedef void (*printing)(sl_buffer *out, uint32_t i);

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
        "[\"sxm\", \"80gb\"], \"active_features\": [\"sxm\"], \"gpu_spec\": \"\", \"gres\": "
        "\"gpu:h100:8(S:0-1)\", \"gres_drained\": \"N/A\", \"gres_used\": \"gpu:h100:0(IDX:N/A)\", "
        "\"instance_type\": \"\", \"name\": \"gpu%06u\", \"hostname\": \"gpu%06u\", \"state\": "
        "[\"IDLE\"%s], \"operating_system\": \"Linux 6.12.43 #1 SMP PREEMPT_DYNAMIC\", "
        "\"partitions\": [\"normal\"], \"port\": 6818, \"real_memory\": 2097152, \"reason\": \"\", "
        "\"sockets\": 2, \"threads\": 1, \"tres\": \"cpu=32,mem=2T,billing=32,gres/gpu=8\"}",
        i > 0 ? "," : "{\"nodes\": [", i, i, i % 9 == 0 ? ", \"DRAIN\"" : "");
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

static void
measure(const char *name, const sl_buffer *text)
{
    for (uint32_t round = 0; round < ROUNDS; round++) {
        sl_errors err = {.count = 0};
        sl_arena *const arena = sl_arena_new(ARENA_BYTES);
        sl_findings *const findings = arena == NULL ? NULL : sl_findings_new(arena);
        const sl_raw raw = {.name = "", .text = text->data, .size = text->size};
        const sl_format *used = NULL;
        uint32_t confidence = 0;
        if (findings == NULL)
            exit(EXIT_FAILURE);
        const clock_t start = clock(); /* of this process: what else runs does not count */
        const sl_code code = sl_intake_read(&raw, NULL, findings, &used, &confidence, &err);
        const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
        if (code != SL_OK || used == NULL) {
            printf("%s: %s\n", name, err.list[0].message);
            exit(EXIT_FAILURE);
        }
        printf("%-16s %5.1f MiB  %6u hosts  %.3f s of CPU\n", used->name,
               (double)text->size / (1 << 20), sl_findings_count(findings), seconds);
        sl_arena_free(arena);
    }
}

static void
run(const char *name, printing print, uint32_t most, const char *end)
{
    sl_buffer text;
    sl_buffer_init(&text, TEXT_BYTES + 65536);
    for (uint32_t i = 0; i < most && text.size < TEXT_BYTES; i++)
        print(&text, i);
    sl_buffer_text(&text, end);
    if (text.failed)
        exit(EXIT_FAILURE);
    measure(name, &text);
    sl_buffer_clear(&text);
}

int
main(void)
{
    sl_json_start();
    run("nodes as JSON", print_json, SL_HOSTS_MAX, "]}");
    run("nodes as text", print_text, SL_HOSTS_MAX, "");
    run("rows", print_row, UINT32_MAX, "");
    run("devices", print_devices, 8 * SL_HOSTS_MAX, "");
    return 0;
}
