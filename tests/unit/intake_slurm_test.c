#include "intake/slurm.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/text.h"
#include "harness.h"
#include "json/reader.h"

enum { SHOWN_MAX = 64 * 1024 };

/* A text as it was read. */
typedef struct outcome {
    sl_arena *arena;
    sl_findings *findings;
    const sl_format *format;
    uint32_t confidence;
    sl_code code;
    sl_errors err;
    char shown[SHOWN_MAX];
} outcome;

static outcome now;

static void
end(void)
{
    sl_arena_free(now.arena);
    now = (outcome){.code = SL_OK};
}

static void
show_text(sl_buffer *out, const sl_facts *facts, sl_field field, const char *label)
{
    if (facts->field[field].said)
        sl_buffer_format(out, " %s%s", label, facts->field[field].text);
}

static void
show_number(sl_buffer *out, const sl_facts *facts, sl_field field, const char *label, double unit)
{
    if (facts->field[field].said)
        sl_buffer_format(out, " %s%.0f", label, facts->field[field].number / unit);
}

static void
show_host(sl_buffer *out, const sl_found_host *host)
{
    const sl_facts *const facts = sl_findings_kind(now.findings, host->kind);
    const double mib = 1048576.0, gib = 1073741824.0;

    if (host->name != NULL)
        sl_buffer_text(out, host->name);
    else
        sl_buffer_format(out, "(%u)", host->count);
    sl_buffer_format(out, " %s", sl_host_state_names[host->state]);
    show_number(out, facts, SL_FIELD_ACCELERATORS, "", 1.0);
    show_text(out, facts, SL_FIELD_ACCELERATOR, "");
    show_number(out, facts, SL_FIELD_NOMINAL_MEMORY_BYTES, "label ", gib);
    show_number(out, facts, SL_FIELD_SLICED_ACCELERATORS, "sliced ", 1.0);
    show_text(out, facts, SL_FIELD_SLICE, "");
    show_text(out, facts, SL_FIELD_NODE_TYPE, "type ");
    show_number(out, facts, SL_FIELD_HOST_MEMORY_BYTES, "mem ", mib);
    show_number(out, facts, SL_FIELD_CPUS, "cpus ", 1.0);
    CU_ASSERT_FALSE(facts->field[SL_FIELD_MEMORY_BYTES].said);
    if (host->reason != NULL)
        sl_buffer_format(out, " (%s)", host->reason);
    if (host->pool != NULL)
        sl_buffer_format(out, " in %s", host->pool);
    if (host->domain != NULL)
        sl_buffer_format(out, " domain %s", host->domain);
    if (host->leaf != NULL)
        sl_buffer_format(out, " leaf %s", host->leaf);
    sl_buffer_text(out, "\n");
}

/* A line per host, then the cluster, the fabric, and the warnings with how often they came. */
static void
show(void)
{
    sl_buffer out;
    uint32_t dropped = 0;

    sl_buffer_init(&out, SHOWN_MAX - 1);
    if (now.code != SL_OK)
        sl_buffer_format(&out, "error %s\n", now.err.list[0].rule);
    for (uint32_t i = 0; i < sl_findings_count(now.findings); i++)
        show_host(&out, sl_findings_host(now.findings, i));
    if (sl_findings_cluster(now.findings) != NULL)
        sl_buffer_format(&out, "cluster %s\n", sl_findings_cluster(now.findings));
    const sl_found_fabric *const fabric = sl_findings_network(now.findings);
    if (fabric->kind.said)
        sl_buffer_format(&out, "fabric %s of %u\n", fabric->kind.text, fabric->switches);
    for (uint32_t i = 0; i < sl_findings_warning_count(now.findings, &dropped); i++) {
        const sl_found_warning *const w = sl_findings_warning(now.findings, i);
        sl_buffer_format(&out, "! %s %u\n", w->code, w->count);
    }
    (void)sl_text_copy(now.shown, sizeof now.shown, out.size > 0 ? out.data : "");
    sl_buffer_clear(&out);
}

static void
read_text(const char *text, size_t size)
{
    const sl_raw raw = {.name = "", .text = text, .size = size};

    now = (outcome){.arena = sl_arena_new(256 << 20)};
    CU_ASSERT_PTR_NOT_NULL_FATAL(now.arena);
    now.findings = sl_findings_new(now.arena);
    CU_ASSERT_PTR_NOT_NULL_FATAL(now.findings);
    now.code = sl_intake_read(&raw, NULL, now.findings, &now.format, &now.confidence, &now.err);
    CU_ASSERT_EQUAL(now.code == SL_OK, now.err.count == 0);
    show();
}

static void
expect(const char *format, const char *shown, const char *what)
{
    sl_expect_text(now.format == NULL ? "none" : now.format->name, format, what);
    sl_expect_text(now.shown, shown, what);
}

/* A text of ours is recognised as `format`, and says what is shown. */
static void
expect_text(const char *text, const char *format, const char *shown)
{
    read_text(text, strlen(text));
    expect(format, shown, text);
    end();
}

static void
expect_path(const char *path, const char *format, const char *shown)
{
    size_t size = 0;
    char *const text = sl_read_file(path, &size);

    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    read_text(text, size);
    expect(format, shown, path);
    CU_ASSERT_TRUE(now.confidence >= 85);
    end();
    free(text);
}

static void
expect_fixture(const char *name, const char *format, const char *shown)
{
    char relative[128];
    (void)sl_text_format(relative, sizeof relative, "fixtures/inventories/%s", name);
    expect_path(sl_tests_path(relative), format, shown);
}

static void
expect_shared(const char *name, const char *format, const char *shown)
{
    char relative[128];
    (void)sl_text_format(relative, sizeof relative, "inventories/%s", name);
    const char *const path = sl_shared_path(relative);
    if (path == NULL)
        sl_skip("the folder of real files is not here");
    else
        expect_path(path, format, shown);
}

static void
resources_are_read_by_their_grammar(void)
{
    static const struct {
        const char *text;
        uint32_t devices, slices, sliced, shares;
        const char *type;
    } rows[] = {
        {"", 0, 0, 0, 0, ""},
        {"gpu:8", 8, 0, 0, 0, ""},
        {"gpu", 1, 0, 0, 0, ""},
        {"gpu:a100", 1, 0, 0, 0, "a100"},
        {"gpu:rtx8000:8(S:0-1)", 8, 0, 0, 0, "rtx8000"},
        {"gpu:a100:4(S:0,2-3),nvme:1", 4, 0, 0, 0, "a100"},
        {"gpu:3090:4", 4, 0, 0, 0, "3090"},
        {"gpu:no_consume:a100:2", 2, 0, 0, 0, "a100"},
        {"gpu:a100:no_consume:2", 2, 0, 0, 0, "a100"},
        {"craynetwork:4,hbm:16G,tmpfs:no_consume:1T", 0, 0, 0, 0, ""},
        {"gpu:a100:4(S:0),gpu:a100:4(S:1)", 8, 0, 0, 0, "a100"},
        {"gpu:0", 0, 0, 0, 0, ""},
        {"hpu:gaudi2:8", 8, 0, 0, 0, "gaudi2"},
        {"gpu:mi250:8,shard:mi250:32", 8, 0, 0, 32, "mi250"},
        {"gpu:2,mps:200", 2, 0, 0, 200, ""},
        {"gpu:1g.10gb:7", 0, 7, 1, 0, ""},
        {"gpu:1g.10gb:8", 0, 8, 2, 0, ""},
        {"gpu:3g.20gb:2", 0, 2, 1, 0, ""},
        {"gpu:nvidia_a100_1g.5gb:14(S:0)", 0, 14, 2, 0, ""},
        {"gpu:a30-1g.6gb:4", 0, 4, 1, 0, ""},
        {"gpu:a100:6,gpu:1g.10gb:14", 6, 14, 2, 0, "a100"},
        {"gpu:b200", 1, 0, 0, 0, "b200"},
        {"gpu:24gb:2", 2, 0, 0, 0, "24gb"},
        {"gpu:4294967295", 0, 0, 0, 0, ""},
        {"gpu:2K", 0, 0, 0, 0, ""},
        {",,gpu::4,", 4, 0, 0, 0, ""},
        {"gpu:(S:0", 1, 0, 0, 0, ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        sl_slurm_gres gres;
        sl_slurm_gres_read(rows[i].text, &gres);
        if (gres.devices != rows[i].devices || gres.slices != rows[i].slices ||
            gres.sliced_devices != rows[i].sliced || gres.shares != rows[i].shares)
            sl_fail_for(rows[i].text);
        sl_expect_text(gres.type_count > 0 ? gres.types[0].name : "", rows[i].type, rows[i].text);
    }
    sl_slurm_gres gres;
    sl_slurm_gres_read("gpu:nvidia_a100_mig_1g.5gb:7", &gres);
    sl_expect_text(gres.sliced_type, "nvidia_a100", "the device of slices");
    sl_expect_text(gres.profile, "1g.5gb", "what it is cut into");
}

static void
trackable_resources_count_each_device_once(void)
{
    static const struct {
        const char *text;
        uint32_t devices, slices, types;
    } rows[] = {
        {"cpu=80,mem=386619M,billing=136", 0, 0, 0},
        {"cpu=80,gres/gpu=8", 8, 0, 1},
        {"gres/gpu=8,gres/gpu:h100=8", 8, 0, 1},
        {"gres/gpu:h100=8,gres/gpu=8", 8, 0, 1},
        {"gres/gpu=8,gres/gpu:h100=4", 8, 0, 2},
        {"gres/gpu=9,gres/gpu:1g.5gb=7,gres/gpu:a100=2", 2, 7, 1},
        {"gres/gpumem=80G,gres/gpuutil=100", 0, 0, 0},
        {"gres/gpu=", 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        sl_slurm_gres gres;
        sl_slurm_tres_read(rows[i].text, &gres);
        if (gres.devices != rows[i].devices || gres.slices != rows[i].slices ||
            gres.type_count != rows[i].types)
            sl_fail_for(rows[i].text);
    }
}

static void
states_come_to_what_can_be_used(void)
{
    static const struct {
        sl_host_state state;
        const char *words;
    } rows[] = {
        {SL_HOST_USABLE, "IDLE,idle,alloc,ALLOCATED,mix,MIXED,mix-,comp,COMPLETING,alloc+,plnd"},
        {SL_HOST_USABLE, "RESERVED,resv,IDLE+PLANNED,MIXED+CLOUD,idle~,idle#,idle%,idle!"},
        {SL_HOST_USABLE, "IDLE+CLOUD+POWERED_DOWN,IDLE+CLOUD+NOT_RESPONDING+POWERING_UP,pow_dn"},
        {SL_HOST_USABLE, "idle@,IDLE+REBOOT_REQUESTED,blocked,npc,IDLE+DYNAMIC_NORM"},
        {SL_HOST_DRAINED, "drain,DRAINED,drng,draining,IDLE+DRAIN,maint,MAINT,alloc$,inval"},
        {SL_HOST_DRAINED, "IDLE+INVALID_REG,failg,FAILING,boot,idle^,MIXED+DRAIN+CLOUD,drain~"},
        {SL_HOST_DOWN, "down,DOWN,down*,idle*,drain*,fail,FAIL,ERROR,DOWN+DRAIN,mix*,unk*"},
        {SL_HOST_DOWN, "IDLE+NOT_RESPONDING,DOWN+CLOUD+POWERED_DOWN,down~"},
        {SL_HOST_UNSAID, "unk,UNKNOWN,FUTURE,futr,CLOUD,n/a"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        sl_slurm_state read;
        char word[64];
        for (const char *at = rows[i].words; *at != '\0';) {
            const size_t length = strcspn(at, ",");
            memcpy(word, at, length);
            word[length] = '\0';
            sl_slurm_state_read(word, &read);
            if (read.state != rows[i].state || read.unknown[0] != '\0')
                sl_fail_for(word);
            at += length + (at[length] == ',');
        }
    }
    sl_slurm_state read;
    sl_slurm_state_read("IDLE+SLEEPY+RESERVED", &read);
    CU_ASSERT_EQUAL(read.state, SL_HOST_USABLE);
    CU_ASSERT_TRUE(read.reserved && !read.future);
    sl_expect_text(read.unknown, "SLEEPY", "a word of a later version");
}

static void
scontrol_text_is_read(void)
{
    expect_fixture("slurm_nodes.txt", "slurm_nodes_text",
                   "ai01 drained 4 a100 label 80 mem 515000 cpus 128 (GPU 2: Xid 79, Gres=lost) in "
                   "batch\n"
                   "ai02 usable 8 h100 cpus 128\n"
                   "ai03 usable 8 h100 sliced 2 MIG 1g.10gb mem 1000 cpus 64\n"
                   "! memory_in_features 1\n! gres_null 1\n! mig_slices 1\n");
}

static void
values_know_their_line(void)
{
    const char text[] =
        "junk\r\n\r\nNodeName=a CPUTot=8\r\n   Gres=gpu:t4:1\r\n   OS=x\r\n"
        "   State=IDLE\r\n\r\nNodeName=b\r\n  CPUTot=8\r\n  Gres=gpu:l4:1\r\n  State=DOWN\r\n";
    read_text(text, strlen(text));
    CU_ASSERT_EQUAL_FATAL(sl_findings_count(now.findings), 2);
    const sl_found_host *const a = sl_findings_host(now.findings, 0);
    const sl_found_host *const b = sl_findings_host(now.findings, 1);
    const sl_fact *const type =
        &sl_findings_kind(now.findings, a->kind)->field[SL_FIELD_ACCELERATOR];
    CU_ASSERT_EQUAL(a->line, 3);
    CU_ASSERT_EQUAL(b->line, 8);
    CU_ASSERT_EQUAL(type->place.line, 4);
    sl_expect_text(type->place.path, "Gres", "path");
    CU_ASSERT_EQUAL(sl_findings_kind(now.findings, b->kind)->field[SL_FIELD_ACCELERATOR].place.line,
                    10);
    end();
}

static void
one_line_records_are_read(void)
{
    expect_text(
        "NodeName=n1 Arch=x86_64 CoresPerSocket=16  CPUAlloc=0 CPUTot=64 CPULoad=0.1 "
        "AvailableFeatures=a,b ActiveFeatures=a,b Gres=gpu:h200:8 NodeAddr=n1 NodeHostName=n1 "
        "OS=Linux 5.15 #1 SMP RealMemory=2000000 AllocMem=0 Sockets=2 State=DOWN* "
        "ThreadsPerCore=2 Partitions=p  CfgTRES=cpu=64,gres/gpu=8 AllocTRES= "
        "Reason=no power, Sockets=bad [root@2025-01-01T00:00:00] Comment=x y State=IDLE\n"
        "NodeName=n2 CPUTot=64 Gres=gpu:h200:8 State=IDLE Partitions=p\n"
        "PartitionName=p State=UP Nodes=n[1-2]\n",
        "slurm_nodes_text",
        "n1 down 8 h200 mem 2000000 cpus 64 (no power, Sockets=bad) in p\n"
        "n2 usable 8 h200 cpus 64 in p\n");
}

static void
json_of_every_version_is_read(void)
{
    expect_fixture("slurm_nodes_v0.0.38.json", "slurm_nodes_json",
                   "old1.lab.example drained 8 v100 label 32 mem 380000 cpus 40 (fan) in gpu\n"
                   "old2.lab.example usable 2 mem 380000 cpus 40\n"
                   "! memory_in_features 1\n! gres_null 1\n");
    expect_fixture("slurm_nodes_v0.0.43.json", "slurm_nodes_json",
                   "new1 usable 8 nvidia_h100_80gb_hbm3 type p5.48xlarge mem 2000000 cpus 192\n"
                   "new2 down 8 h100 type Standard_ND96isr_H100_v5 cpus 96 (Not responding) in a\n"
                   "cluster north\n! gres_drained 1\n");
    expect_fixture("slurm_sinfo_v0.0.40.json", "slurm_sinfo_json",
                   "g1 usable 4 l40s label 48 mem 256000 cpus 64\n"
                   "g2 usable 4 l40s label 48 mem 256000 cpus 64\n"
                   "g3 drained 4 l40s cpus 64 (nvlink)\n"
                   "cluster south\n! memory_in_features 1\n");
}

static void
json_rows_may_lack_members(void)
{
    expect_text(
        "{\"sinfo\":[{\"node\":{\"state\":[\"IDLE\",\"DRAIN\"]},\"nodes\":{\"nodes\":[\"a\"],"
        "\"hostnames\":[]},\"memory\":{\"minimum\":5000},\"features\":{\"active\":\"x,80gb\"},"
        "\"gres\":{\"total\":\"tmpsize:7T,gpu:l40s:4(S:0-1)\"},\"reason\":\"dust\"},"
        "{\"nodes\":{\"nodes\":[\"b\",\"c\"]},\"memory\":{\"minimum\":5000}}]}",
        "slurm_sinfo_json",
        "a drained 4 l40s label 80 mem 5000 (dust)\nb unknown\nc unknown\n"
        "! memory_in_features 1\n");
}

static void
json_may_be_bare(void)
{
    const char list[] =
        "[{\"name\":\"a\",\"gres\":\"gpu:t4:1\",\"real_memory\":5000,\"state\":[\"IDLE\"]}]";
    const char one[] =
        "{\"hostname\":\"a\",\"gres\":\"gpu:t4:1\",\"real_memory\":5000,\"state\":\"idle\"}";
    expect_text(list, "slurm_nodes_json", "a usable 1 t4 mem 5000\n");
    expect_text(one, "slurm_nodes_json", "a usable 1 t4 mem 5000\n");
    expect_text("{\"nodes\":[],\"meta\":{\"plugin\":{\"data_parser\":\"data_parser/v0.0.41\"}}}",
                "slurm_nodes_json", "error no_hosts\n");
    expect_text("{\"nodes\":[{\"gres\":\"gpu:1\",\"real_memory\":1},7,null,{\"name\":[\"x\"],"
                "\"gres\":{}}]}",
                "slurm_nodes_json", "x unknown\n! no_name 3\n");
    expect_text("{\"nodes\":[{\"name\":\"a\",\"gres\":\"\",\"real_memory\":1}", "slurm_nodes_json",
                "error malformed_json\n");
}

static void
sinfo_tables_are_read(void)
{
    expect_fixture("slurm_sinfo_node_long.txt", "slurm_sinfo_text",
                   "n01 usable mem 256000 cpus 64\n"
                   "n02 down mem 256000 cpus 64 (Kill task failed)\n"
                   "n03 usable mem 256000 cpus 64\n");
    expect_fixture("slurm_sinfo_pipe.txt", "slurm_sinfo_text",
                   "m1 usable 8 gen\nm2 down 4 (bad | pipe)\nm3 down (Power)\n"
                   "! generic_type 2\n! type_per_index 1\n");
    expect_text("PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST\n"
                "debug*       up   infinite      2   idle node[1-2]\n"
                "gpu          up 1-00:00:00      1  drain node3\n"
                "big          up   infinite      1    mix node1\n"
                "none         up   infinite      0    n/a \n",
                "slurm_sinfo_text", "node1 usable\nnode2 usable\nnode3 drained (drain)\n");
    expect_text("REASON               USER      TIMESTAMP           NODELIST\n"
                "bad dimm in slot 4   root      2024-05-01T08:00:00 c[01-02]\n"
                "Not responding       slurm     2024-05-01T08:00:00 c03\n",
                "slurm_sinfo_text",
                "c01 drained (bad dimm in slot 4)\nc02 drained (bad dimm in slot 4)\n"
                "c03 drained (Not responding)\n");
    expect_text("CLUSTER: east\nPARTITION GRES STATE NODELIST\ngpu gpu:a40:4 idle e[1-2]\n",
                "slurm_sinfo_text", "e1 usable 4 a40\ne2 usable 4 a40\ncluster east\n");
    expect_text("CLUSTER: east\nSTATE NODELIST\nidle e1\n\nCLUSTER: west\nSTATE NODELIST\n"
                "idle w1\n",
                "slurm_sinfo_text", "e1 usable\nw1 usable\ncluster east\n! several_clusters 1\n");
    expect_text("user@login:~$ sinfo -N\nNODELIST   NODES PARTITION STATE\n"
                "pm-nod052      1 production* idle*\npm-nod146      1     python3 idle\n",
                "slurm_sinfo_text", "pm-nod052 down (idle*)\npm-nod146 usable\n");
    expect_text("HOSTNAMES           GRES                GRES_USED           CPUS(A/I/O/T)\n"
                "a3nodeset-0         gpu:8               gpu:2               52/156/0/208\n",
                "slurm_sinfo_text", "a3nodeset-0 unknown 8\n");
}

static void
columns_that_run_together_are_told(void)
{
    /* -O pads to 20 characters and cuts there. */
    expect_text("NODELIST            GRES                STATE               \n"
                "n1                  gpu:tesla_v100-sxm2-idle                \n"
                "n2                  gpu:a100:4(S:0-1)   idle                \n"
                "a-host-of-many-lettegpu:a100:4          idle                \n",
                "slurm_sinfo_text",
                "n1 unknown\nn2 usable 4 a100\n! columns_run_together 2\n! odd_row 1\n");
    /* A format of fixed width cuts, and leaves a blank. */
    expect_text("NODELIST GRES STATE\nn1 gpu:tesla_v10 idle\n", "slurm_sinfo_text",
                "n1 usable\n! gres_cut 1\n");
    expect_text(
        "HOSTNAMES,CPUS,GRES,STATE\nn1,8,gpu:a100:4(S:0,1),nvme:1,idle\nn2,8+,gpu:t4:1,alloc\n",
        "slurm_sinfo_text", "n1 usable 4 a100 cpus 8\nn2 usable 1 t4\n");
    expect_text("NODELIST|GRES|MEMORY\nn[1-|gpu:1|5\nn2|gpu:1|5+\n", "slurm_sinfo_text",
                "n2 unknown 1\n! malformed_hosts 1\n");
    expect_text("GRES NODES STATE\ngpu:a100:8 12 idle\ngpu:a100:8 1 down\n(null) 3 idle\n",
                "slurm_sinfo_text", "(12) usable 8 a100\n(1) down 8 a100 (down)\n(3) usable\n");
    expect_text("drng  |cs4 |5 ||\nalloc |cs2 |9 |gpu:a100:8|gpu:a100:3\n", "slurm_sinfo_text",
                "error malformed_sinfo\n");
}

static void
columns_without_a_header_are_told_by_their_cells(void)
{
    expect_text("n1|gpu:a100:8|idle\nn2|gpu:a100:8|drain\n", "slurm_sinfo_text",
                "n1 usable 8 a100\nn2 drained 8 a100 (drain)\n! no_header 1\n");
    expect_text("n1 gpu:a100:4\nn2 gpu:v100:2(S:0-1)\nc1 (null)\n", "slurm_sinfo_text",
                "n1 unknown 4 a100\nn2 unknown 2 v100\nc1 unknown\n! no_header 1\n");
    /* Partitions and counts are no hosts; a line of other cells is no row. */
    expect_text("$ sinfo -h\ngpu* n[1-2] 2 gpu:8 512000 mix\nlong n3 1 gpu:8 512000 idle\n",
                "slurm_sinfo_text",
                "n1 usable 8\nn2 usable 8\nn3 usable 8\n! no_header 1\n! odd_row 1\n");
    /* Features look like hosts, and repeat. */
    expect_text("n1 a100 gpu:4\nn2 a100 gpu:4\n", "slurm_sinfo_text",
                "n1 unknown 4\nn2 unknown 4\n! no_header 1\n");
    expect_text("n1 a100 gpu:4\n", "slurm_sinfo_text", "error malformed_sinfo\n");
    expect_text("n1|gpu:4|gpu:3(IDX:0-2)|mix\nn2|gpu:4|gpu:0(IDX:N/A)|idle\n", "slurm_sinfo_text",
                "n1 usable 4\nn2 usable 4\n! no_header 1\n");
    expect_text("n1\tgpu:4\tidle\nn2\tgpu:4\tdown\n", "slurm_sinfo_text",
                "n1 usable 4\nn2 down 4 (down)\n! no_header 1\n");
    expect_text("n[1,3],gpu:4,idle\nn2,gpu:4,idle\n", "slurm_sinfo_text",
                "n1 usable 4\nn3 usable 4\nn2 usable 4\n! no_header 1\n");
    expect_text("n1 (null)\nn2 (null)\n", "none", "error unknown_format\n");
}

static void
nodes_one_after_another_are_read(void)
{
    expect_text("{\"name\":\"a\",\"gres\":\"gpu:1\",\"real_memory\":9}\n"
                "{\"name\":\"b\",\"gres\":\"gpu:2\",\"real_memory\":9}\n",
                "slurm_nodes_json", "a unknown 1 mem 9\nb unknown 2 mem 9\n");
    expect_text("{\"nodes\":[{\"name\":\"a\",\"gres\":\"\",\"real_memory\":9}]}\n"
                "{\"nodes\":[{\"name\":\"b\",\"gres\":\"gpu:2\",\"real_memory\":9}]}",
                "slurm_nodes_json", "a unknown mem 9\nb unknown 2 mem 9\n");
    expect_text("{\"name\":\"a\",\"gres\":\"gpu:1\",\"real_memory\":9}\nrest", "slurm_nodes_json",
                "error malformed_json\n");
}

static void
slurm_conf_is_read(void)
{
    expect_fixture("slurm.conf", "slurm_conf",
                   "w01 unknown 8 h100 label 80 mem 1000000 cpus 128\n"
                   "w02 drained 8 h100 label 80 mem 1000000 cpus 128 (cable # 4)\n"
                   "w03 unknown 8 h100 label 80 mem 1000000 cpus 128\n"
                   "w04 unknown 8 h100 label 80 mem 1000000 cpus 128\n"
                   "w05 unknown 4 a100 type p4d.24xlarge mem 1000000 cpus 96\n"
                   "w06 unknown 4 a100 type p4d.24xlarge mem 1000000 cpus 96\n"
                   "x9 unknown 4 a100 type p4d.24xlarge mem 1000000 cpus 96\n"
                   "plain unknown mem 64000 cpus 16\n"
                   "later unknown 1 mem 1000000 cpus 128\n"
                   "cluster west\n"
                   "! include 1\n! shared_gres 1\n! memory_in_features 1\n! mixed_types 1\n"
                   "! future_nodes 1\n");
}

static void
a_byte_order_mark_is_of_no_line(void)
{
    expect_text("\xEF\xBB\xBFNodeName=a CPUs=4\r\n", "slurm_conf", "a unknown cpus 4\n");
    expect_text("\xEF\xBB\xBFNODELIST STATE\r\nb idle\r\n", "slurm_sinfo_text", "b usable\n");
    expect_text("\xEF\xBB\xBF{\"nodes\":[{\"name\":\"c\",\"gres\":\"gpu:1\",\"real_memory\":9,"
                "\"tres_weighted\":NaN}]}",
                "slurm_nodes_json", "c unknown 1 mem 9\n");
}

static void
gres_conf_is_read(void)
{
    expect_fixture("slurm_gres.conf", "slurm_gres_conf",
                   "c1 unknown 8 mi250\nd1 unknown\nv1 unknown 1 sliced 1 MIG 1g.5gb\n"
                   "w01 unknown 8 h100\nw02 unknown 8 h100\n"
                   "! autodetect 1\n! autodetect 1\n! mig_slices 1\n! shared_gres 2\n");
    expect_text("Name=gpu Type=l4 File=/dev/nvidia[0-1]\nName=gpu Type=l4 File=/dev/nvidia2\n",
                "slurm_gres_conf", "(1) unknown 3 l4\n! no_node_names 1\n");
    expect_text("NodeName=a-[7,9-10], AutoDetect=off Name=gpu Type=a100 File=/dev/nvidia[0-7]\n",
                "slurm_gres_conf", "a-7 unknown 8 a100\na-9 unknown 8 a100\na-10 unknown 8 a100\n");
    /* One device per line and nodes, however they are listed. */
    expect_text(
        "NodeName=b[1-2] Name=gpu File=/dev/nvidia0\nNodeName=b2 Name=gpu File=/dev/nvidia1\n"
        "NodeName=b10,b1 Name=shard Count=4\nNodeName=b[ Name=gpu\nInclude x.conf\n",
        "slurm_gres_conf",
        "b1 unknown 1\nb2 unknown 2\nb10 unknown\n! malformed_hosts 1\n! include 1\n! "
        "shared_gres 2\n");
    expect_text("AutoDetect=nvml\n", "slurm_gres_conf", "error no_hosts\n! autodetect 1\n");
}

static void
topology_conf_is_read(void)
{
    expect_fixture("slurm_topology_tree.conf", "slurm_topology_conf",
                   "t1 unknown leaf leaf1\nt2 unknown leaf leaf1\nt3 unknown leaf leaf2\n"
                   "t4 unknown leaf leaf2\nfabric fat_tree of 3\n");
    expect_text("SwitchName=s1 Level=0 LinkSpeed=1 Nodes=a1\n"
                "SwitchName=s3 Level=1 LinkSpeed=1 Nodes=a[1-2] Switches=s[1-2]\n"
                "SwitchName=s2 Level=0 LinkSpeed=1 Nodes=a2\n"
                "SwitchName=empty Level=0 LinkSpeed=1 Nodes=\n",
                "slurm_topology_conf",
                "a1 unknown leaf s1\na2 unknown leaf s2\nfabric fat_tree of 4\n");
    expect_text(
        "BlockName=b0 BlockIndex=0 Nodes=10.1.7.3,10.1.8.5 BlockSize=2\n"
        "AggregatedBlock=b[0-1] BlockIndex=2 Nodes=10.1.7.3,10.1.8.5,10.1.9.1 BlockSize=4\n",
        "slurm_topology_conf",
        "10.1.7.3 unknown domain b0\n10.1.8.5 unknown domain b0\nfabric block of 0\n");
    const char blocks[] =
        "BlockName=b1 Nodes=t[1-18]\nBlockName=b2 Nodes=t[19-36]\nBlockSizes=16\n";
    read_text(blocks, strlen(blocks));
    CU_ASSERT_EQUAL_FATAL(sl_findings_count(now.findings), 36);
    sl_expect_text(sl_findings_host(now.findings, 17)->domain, "b1", "block");
    sl_expect_text(sl_findings_host(now.findings, 18)->domain, "b2", "block");
    end();
}

static void
yaml_says_what_json_does(void)
{
    expect_text("nodes:\n- name: a\n  state: [IDLE, DRAIN]\n  gres: gpu:h100:8\n  cpus: 4\n"
                "  real_memory: {set: true, infinite: false, number: 9000}\n  reason: dust\n"
                "meta: {slurm: {release: 25.05.1, cluster: x}}\n",
                "slurm_nodes_yaml", "a drained 8 h100 mem 9000 cpus 4 (dust)\n");
    expect_text("sinfo:\n- node: {state: [MIXED]}\n  nodes: {total: 2, nodes: [a, b]}\n"
                "  gres: {total: 'gpu:l4:2(S:0)'}\n",
                "slurm_sinfo_yaml", "a usable 2 l4\nb usable 2 l4\n");
    expect_fixture("slurm_topology.yaml", "slurm_topology_yaml",
                   "y1 unknown domain rack1 leaf leaf1\ny2 unknown domain rack1 leaf leaf1\n"
                   "y3 unknown domain rack1 leaf leaf2\nfabric fat_tree of 3\n");
}

static void
real_nodes_say_what_they_say(void)
{
    expect_shared("slurm_scontrol_show_node.txt", "slurm_nodes_text",
                  "test-node-1 usable 8 label 48 mem 386619 cpus 80\n"
                  "test-node-2 usable 8 rtx8000 label 48 mem 386619 cpus 80\n"
                  "test-node-3 usable 8 v100 label 32 mem 386619 cpus 80\n"
                  "test-node-4 usable 8 not-an-existing-gpu label 32 mem 386619 cpus 80\n"
                  "test-node-5 usable 8 label 32 mem 386619 cpus 80\n"
                  "! gres_null 2\n! memory_in_features 2\n! memory_in_features 3\n");
    expect_shared("slurmrestd_v0.0.41_node_gpu.json", "slurm_nodes_json",
                  "gpu1 usable 4 h100 mem 524288 cpus 32 in normal\ncluster hpc\n");
    expect_shared("slurmrestd_v0.0.44_nodes.json", "slurm_nodes_json",
                  "cn1 drained mem 131072 cpus 64 (ECC memory error) in normal\n"
                  "cn2 down mem 131072 cpus 64 (CPU dead) in normal\n"
                  "cn3 usable mem 131072 cpus 64 in normal\n"
                  "cn4 usable mem 131072 cpus 64 in normal\n"
                  "gpu1 usable 4 h100 mem 524288 cpus 32 in gpu\n"
                  "gpu2 usable 4 h100 mem 524288 cpus 32 in gpu\n"
                  "gpu3 usable 4 mem 524288 cpus 32 in gpu\n"
                  "gpu4 usable 4 mem 524288 cpus 32 in gpu\ncluster hpc\n");
    /* No accelerators at all is no error here. */
    expect_shared("slurm_sinfo_v0.0.37.json", "slurm_nodes_json",
                  "cs2.example.company.com usable mem 500000 cpus 64 in hw\n"
                  "cs3.example.company.com usable mem 500000 cpus 64 in hw\n"
                  "cs4.example.company.com usable mem 500000 cpus 64 in hw\n"
                  "cs5.example.company.com down mem 500000 cpus 64 (down) in hw\n");
    expect_shared("slurm_sinfo_pipe.txt", "slurm_sinfo_text",
                  "node0201 down 8 gen mem 500000 cpus 80 (replace)\n"
                  "node1537 usable 8 gen mem 500000 cpus 80\n"
                  "node4180 usable 2 gen mem 500000 cpus 80\n! generic_type 4\n");
}

static void
expect_shared_hosts(const char *name, uint32_t hosts, const char *last)
{
    char relative[128];
    size_t size = 0;
    (void)sl_text_format(relative, sizeof relative, "inventories/%s", name);
    const char *const path = sl_shared_path(relative);
    char *const text = path == NULL ? NULL : sl_read_file(path, &size);
    if (text == NULL) {
        sl_skip("the folder of real files is not here");
        return;
    }
    read_text(text, size);
    CU_ASSERT_EQUAL(sl_findings_count(now.findings), hosts);
    const size_t shown = strlen(now.shown), wanted = strlen(last);
    sl_expect_text(shown > wanted ? now.shown + shown - wanted : now.shown, last, name);
    end();
    free(text);
}

static void
real_configurations_say_what_they_say(void)
{
    expect_shared_hosts("slurm_gres.conf", 15,
                        "gpu-dy-gpu-p3dn24xlarge-10 unknown 8 v100\n"
                        "gpu-st-gpu-g38xlarge-1 unknown 2 m60\n");
    expect_shared_hosts("slurm_partition_gpu.conf", 15,
                        "gpu-dy-gpu-p3dn24xlarge-10 unknown 8 v100 type p3dn.24xlarge mem 747110 "
                        "cpus 48\n");
    expect_shared_hosts("slurm_topology_tree.conf", 96,
                        "srv6208 unknown leaf switch.1.12\nfabric fat_tree of 19\n");
    expect_shared_hosts("slurm_topology_block.conf", 96,
                        "srv6208 unknown domain rack62\nfabric block of 0\n! block_sizes 1\n");
}

static void
odd_nodes_are_warned_of(void)
{
    expect_text(
        "NodeName=a CPUTot=4 State=IDLE Gres=gpu:a100:4 CfgTRES=cpu=4,gres/gpu=3\n"
        "NodeName=b[ CPUTot=4 State=IDLE\n"
        "NodeName=c CPUTot=4 State=IDLE+SLEEPY Gres=gpu:5000\n"
        "NodeName=d CPUTot=4 State=IDLE+RESERVED AvailableFeatures=p4d.24xlarge,p5.48xlarge\n"
        "NodeName=e CPUTot=4 State=IDLE Gres=gpu:2 AvailableFeatures=40gb,80gb,gpu_mem:9G\n",
        "slurm_nodes_text",
        "a usable 4 a100 cpus 4\nc usable cpus 4\nd usable cpus 4\ne usable 2 cpus 4\n"
        "! counts_differ 1\n! malformed_hosts 1\n! odd_gres 1\n! unknown_state 1\n"
        "! several_instance_types 1\n! reserved_nodes 1\n! memory_in_features 1\n! "
        "memory_in_features 1\n"
        "! memory_in_features 1\n");
}

/* A megabyte may name hosts hundreds of millions of times. */
static void
ranges_said_over_and_over_are_bounded(void)
{
    static const char *const lines[] = {"NodeName=n[1-131072] CPUs=4\n",
                                        "NodeName=n[1-131072] Name=gpu File=/dev/nvidia0\n"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        sl_buffer text;
        sl_buffer_init(&text, 1 << 20);
        for (uint32_t k = 0; k < 10000; k++)
            sl_buffer_text(&text, lines[i]);
        const sl_raw raw = {.name = "", .text = text.data, .size = text.size};
        now = (outcome){.arena = sl_arena_new(256 << 20)};
        now.findings = sl_findings_new(now.arena);
        now.code = sl_intake_read(&raw, NULL, now.findings, &now.format, &now.confidence, &now.err);
        CU_ASSERT_EQUAL(now.code, SL_E_RANGE);
        sl_expect_text(now.err.list[0].rule, "too_many", lines[i]);
        sl_buffer_clear(&text);
        end();
    }
}

static void
texts_of_others_are_not_recognised(void)
{
    static const char *const texts[] = {
        "",
        "hello world\n",
        "{\"kind\":\"NodeList\",\"items\":[]}",
        "[gpu]\nnode[01:03]\n",
        "name, memory.total [MiB]\nNVIDIA H200, 143771 MiB\n",
        "STATE OF THE ART\n",
        "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV18\t0-55\n",
        "[{\"name\":\"a\"}]",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        sl_sample *const sample = calloc(1, sizeof *sample);
        const sl_raw raw = {.name = "", .text = texts[i], .size = strlen(texts[i])};
        CU_ASSERT_PTR_NOT_NULL_FATAL(sample);
        sl_sample_take(&raw, sample);
        for (uint32_t k = 0; k < sl_slurm_formats.count; k++)
            if (sl_slurm_formats.list[k].recognise(sample) > 0)
                sl_fail_for(texts[i]);
        free(sample);
    }
}

static const sl_case cases[] = {
    SL_CASE(resources_are_read_by_their_grammar),
    SL_CASE(trackable_resources_count_each_device_once),
    SL_CASE(states_come_to_what_can_be_used),
    SL_CASE(scontrol_text_is_read),
    SL_CASE(values_know_their_line),
    SL_CASE(one_line_records_are_read),
    SL_CASE(json_of_every_version_is_read),
    SL_CASE(json_rows_may_lack_members),
    SL_CASE(json_may_be_bare),
    SL_CASE(ranges_said_over_and_over_are_bounded),
    SL_CASE(sinfo_tables_are_read),
    SL_CASE(columns_that_run_together_are_told),
    SL_CASE(columns_without_a_header_are_told_by_their_cells),
    SL_CASE(nodes_one_after_another_are_read),
    SL_CASE(slurm_conf_is_read),
    SL_CASE(a_byte_order_mark_is_of_no_line),
    SL_CASE(gres_conf_is_read),
    SL_CASE(topology_conf_is_read),
    SL_CASE(yaml_says_what_json_does),
    SL_CASE(real_nodes_say_what_they_say),
    SL_CASE(real_configurations_say_what_they_say),
    SL_CASE(odd_nodes_are_warned_of),
    SL_CASE(texts_of_others_are_not_recognised),
};

int
main(int argc, char **argv)
{
    sl_json_start();
    return sl_run_cases(argc, argv, "intake_slurm", cases, sizeof cases / sizeof cases[0]);
}
