/* What Slurm prints of the nodes it has: scontrol and sinfo, as text and as JSON. */
#include "intake_slurm_reading.h"

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
        {"gpu:a100:1024", 1024, 0, 0, 0, "a100"},
        {"gpu:a100:1025", 0, 0, 0, 0, ""},
        {"gpu:a100:1000,gpu:a100:25", 1000, 0, 0, 0, "a100"},
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
        {SL_HOST_USABLE, "IDLE+CLOUD+POWER,ALLOCATED#+CLOUD"},
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

/* srun -l puts the number of a task before each line, pdsh and clush a host. */
static void
a_launcher_may_stand_before_each_line(void)
{
    expect_text("0: NodeName=g1 CPUTot=8\n0:    AvailableFeatures=x\n0:    Gres=gpu:h100:8\n"
                "0:    State=IDLE\n0: \n"
                " 1: NodeName=g2 CPUTot=8\n 1:    Gres=gpu:h100:8 State=DOWN\n 1:\n",
                "slurm_nodes_text", "g1 usable 8 h100 cpus 8\ng2 down 8 h100 cpus 8 (DOWN)\n");
    expect_text("login1: NodeName=g1 CPUTot=8 Gres=gpu:h100:8 State=IDLE\n"
                "login2: NodeName=g2 CPUTot=8 Gres=gpu:h100:8 State=IDLE\n",
                "slurm_nodes_text", "g1 usable 8 h100 cpus 8\ng2 usable 8 h100 cpus 8\n");
    expect_text("0: NodeName=g1 CPUTot=8\n1: NodeName=g2 CPUTot=8\n0:    Gres=gpu:h100:8\n", "none",
                "error hosts_take_turns\n");
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
    /* What is left of it when somebody filters the lines: never slurm.conf, which has no states. */
    expect_text("NodeName=n1 Arch=x86_64 CoresPerSocket=48\n   Gres=gpu:h100:8\n"
                "   State=IDLE+DRAIN ThreadsPerCore=2\n   Reason=fan\n",
                "slurm_nodes_text", "n1 drained 8 h100 (fan)\n");
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
json_rows_may_stand_alone(void)
{
    static const char row[] =
        "{\"node\":{\"state\":[\"IDLE\"]},\"nodes\":{\"nodes\":[\"%s\"],\"total\":1},"
        "\"memory\":{\"minimum\":5000},\"gres\":{\"total\":\"gpu:l40s:4(S:0-1)\"}}";
    char rows[2][256], text[600];

    for (size_t i = 0; i < 2; i++)
        (void)snprintf(rows[i], sizeof rows[i], row, i == 0 ? "a" : "b");
    (void)snprintf(text, sizeof text, "[%s,%s]", rows[0], rows[1]);
    expect_text(text, "slurm_sinfo_json", "a usable 4 l40s mem 5000\nb usable 4 l40s mem 5000\n");
    (void)snprintf(text, sizeof text, "%s\n%s\n", rows[0], rows[1]);
    expect_text(text, "slurm_sinfo_json", "a usable 4 l40s mem 5000\nb usable 4 l40s mem 5000\n");
}

static void
errors_of_an_answer_without_nodes_are_told(void)
{
    static const char answer[] =
        "{\"meta\":{\"plugin\":{\"data_parser\":\"data_parser/v0.0.40\"}},\"errors\":[{"
        "\"description\":\"slurm_load_node\",\"error\":\"Unable to contact slurm controller\"}],"
        "\"nodes\":[]}";

    read_text(answer, strlen(answer));
    expect("slurm_nodes_json", "error no_hosts\n", answer);
    sl_expect_text(now.err.list[0].message,
                   "the text names no node, and holds an error of Slurm: Unable to contact slurm "
                   "controller",
                   "message");
    end();
}

/* Lists that come with an answer tell whose it is, without a plugin. */
static void
an_answer_without_nodes_is_told_as_such(void)
{
    expect_text("{\"nodes\": [], \"errors\": [], \"warnings\": []}", "slurm_nodes_json",
                "error no_hosts\n");
    expect_text("{\"nodes\": [], \"errors\": []}", "none", "error unknown_format\n");
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
    expect_text("NODELIST|STATE|GRES\nn1|idle|gpu:a100:8\nn2|idle|\nn3|idle\n", "slurm_sinfo_text",
                "n1 usable 8 a100\nn2 usable\n! odd_row 1\n");
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

/* Where the resources have no type, as many sites leave them. */
static void
labels_may_name_a_part(void)
{
    static const char before[] = "NodeName=a CPUTot=8 AvailableFeatures=";
    static const struct {
        const char *features, *gres, *shown;
    } nodes[] = {
        {"gpu,h100,cluster-h100-9", "gpu:8", "8 ~h100 cpus 8\n"},
        {"a100,a100_40,NVLINK,amd_7742", "gpu:4", "4 ~a100_40 label 40 cpus 8\n"},
        {"GPU_SKU:A100_SXM4,GPU_MEM:80GB", "gpu:4",
         "4 ~A100_SXM4 label 80 cpus 8\n! memory_in_features 1\n"},
        {"v100-32g", "gpu:tesla:4", "4 ~v100-32g label 32 cpus 8\n"},
        {"gpu_mi300x", "gpu:8", "8 ~mi300x cpus 8\n"},
        {"h20-96", "gpu:8", "8 ~h20-96 label 96 cpus 8\n"},
        {"mi300a-128g,gpu", "gpu:4", "4 ~mi300a-128g label 128 cpus 8\n"},
        {"gh200-144g", "gpu:1", "1 ~gh200-144g label 144 cpus 8\n"},
        {"b200_180gb", "gpu:8", "8 ~b200_180gb label 180 cpus 8\n"},
        {"mi325x-256", "gpu:8", "8 ~mi325x-256 label 256 cpus 8\n"},
        {"mi355x-288gb", "gpu:8", "8 ~mi355x-288gb label 288 cpus 8\n"},
        {"rtx_a6000", "gpu:8", "8 ~rtx_a6000 cpus 8\n"},
        /* What the resources name counts, and the label's memory tells its variants apart. */
        {"gpu,a100,hbm80g", "gpu:a100:4", "4 a100 label 80 cpus 8\n! memory_in_features 1\n"},
        {"a100_80g", "gpu:a100:4", "4 a100 label 80 cpus 8\n"},
        {"h100", "gpu:l40s:4", "4 l40s cpus 8\n! label_contradicts 1\n"},
        {"amd,mi250x", "gpu:mi250:8", "8 mi250 cpus 8\n"}, /* both count halves of one module */
        {"v5e,v4,h100", "gpu:8", "8 ~h100 cpus 8\n"},      /* of a cloud, and of processors */
        {"h100,80gb,2048gb", "gpu:8", /* no part has as much: it is the node's */
         "8 ~h100 label 80 cpus 8\n! memory_in_features 1\n"},
        {"x1", "gpu:tesla:4", "4 tesla cpus 8\n! generic_type 1\n"},
        /* Two parts, a rack, a processor and a machine name none. */
        {"a100,h100", "gpu:4", "4 cpus 8\n! parts_in_features 1\n"},
        {"v100-16g,v100-32g", "gpu:4", "4 cpus 8\n! parts_in_features 1\n"},
        {"h100-3,r740,e5-2680,a100x", "gpu:4", "4 cpus 8\n"},
        {"a100aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
         "aaaaaa"
         "aaaaaaaaaaa",
         "gpu:4", "4 cpus 8\n"},
        {"a100-"
         "40aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
         "a"
         "aaaaaaaaaaa",
         "gpu:4", "4 cpus 8\n"},
        {"h100", "(null)", "cpus 8\n"},
    };

    for (size_t i = 0; i < sizeof nodes / sizeof nodes[0]; i++) {
        char text[256], shown[256];
        (void)sl_text_format(text, sizeof text, "%s%s Gres=%s State=IDLE\n", before,
                             nodes[i].features, nodes[i].gres);
        (void)sl_text_format(shown, sizeof shown, "a usable %s", nodes[i].shown);
        expect_text(text, "slurm_nodes_text", shown);
    }
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
                "n1 usable\nn2 usable 4 a100\n! columns_run_together 2\n! odd_row 1\n");
    /* A number that something follows is whole, and what begins behind it is the next column. */
    expect_text(
        "HOSTNAMES           GRES                GRES_USED           STATE               \n"
        "n1                  gpu:rtx_a6000:2(S:0)gpu:rtx_a6000:1(IDX:mixed               \n"
        "n2                  gpu:nvidia_a100_x:1 gpu:nvidia_a100_x:0(drained             \n"
        "n3                  gpu:nvidia_a100_xx:1gpu:nvidia_a100_xx:0idle                \n",
        "slurm_sinfo_text",
        "n1 usable 2 rtx_a6000\nn2 drained 1 nvidia_a100_x (drained)\nn3 usable\n"
        "! columns_run_together 3\n");
    /* What begins behind a parenthesis has lost its number; of n3 nothing is seen to. */
    expect_text("HOSTNAMES           GRES                STATE               \n"
                "n1                  gpu:t4:2(S:0),gpu:l4idle                \n"
                "n2                  gpu:t4:2(S:0),gpu:1:idle                \n"
                "n3                  gpu:rtx_a6000:2(S:0-idle                \n",
                "slurm_sinfo_text",
                "n1 usable\nn2 usable\nn3 usable 2 rtx_a6000\n! columns_run_together 3\n"
                "! gres_open 1\n");
    /* A format of fixed width cuts, and leaves a blank. */
    expect_text("NODELIST GRES STATE\nn1 gpu:tesla_v10 idle\n", "slurm_sinfo_text",
                "n1 usable\n! gres_cut 1\n");
    expect_text(
        "HOSTNAMES,CPUS,GRES,STATE\nn1,8,gpu:a100:4(S:0,1),nvme:1,idle\nn2,8+,gpu:t4:1,alloc\n",
        "slurm_sinfo_text", "n1 usable 4 a100 cpus 8\nn2 usable 1 t4\n");
    expect_text("NODELIST|GRES|MEMORY\nn[1-|gpu:1|5\nn2|gpu:1|5+\n", "slurm_sinfo_text",
                "n2 unknown 1\n! malformed_hosts 1\n");
    expect_text("NODELIST|GRES|MEMORY\nn[1-200000]|gpu:1|5\nn2|gpu:1|5+\n", "slurm_sinfo_text",
                "n2 unknown 1\n! too_many_hosts 1\n");
    expect_text("GRES NODES STATE\ngpu:a100:8 12 idle\ngpu:a100:8 1 down\n(null) 3 idle\n",
                "slurm_sinfo_text", "(12) usable 8 a100\n(1) down 8 a100 (down)\n(3) usable\n");
    expect_text("drng  |cs4 |5 ||\nalloc |cs2 |9 |gpu:a100:8|gpu:a100:3\n", "slurm_sinfo_text",
                "error malformed_sinfo\n");
}

/* A partition without nodes has neither names nor a state; nodes may have "n/a" elsewhere. */
static void
rows_of_empty_partitions_are_passed(void)
{
    expect_text("PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST\n"
                "empty        up   infinite      0    n/a \n"
                "gpu          up   infinite      2   idle n[1-2]\n",
                "slurm_sinfo_text", "n1 usable\nn2 usable\n");
    expect_text("DEFAULTTIME NODELIST GRES STATE\nn/a n1 gpu:h100:8 idle\n", "slurm_sinfo_text",
                "n1 usable 8 h100\n");
    expect_text("NODELIST GRES DEFAULTTIME STATE\nn1 gpu:h100:8 n/a idle\n", "slurm_sinfo_text",
                "n1 usable 8 h100\n");
}

static void
columns_without_a_header_are_told_by_their_cells(void)
{
    expect_text("n1|gpu:a100:8|idle\nn2|gpu:a100:8|drain\n", "slurm_sinfo_text",
                "n1 usable 8 a100\nn2 drained 8 a100 (drain)\n! no_header 1\n");
    expect_text("n1 gpu:a100:4\nn2 gpu:v100:2(S:0-1)\nc1 (null)\n", "slurm_sinfo_text",
                "n1 unknown 4 a100\nn2 unknown 2 v100\nc1 unknown\n! no_header 1\n");
    /* Partitions and counts are no hosts; a line of other cells is no row. */
    expect_text("Dear all,\ngpu* n[1-2] 2 gpu:8 512000 mix\nlong n3 1 gpu:8 512000 idle\n",
                "slurm_sinfo_text",
                "n1 usable 8\nn2 usable 8\nn3 usable 8\n! no_header 1\n! odd_row 1\n");
    /* A prompt is none. */
    expect_text("$ sinfo -h\ngpu* n[1-2] 2 gpu:8 512000 mix\nlong n3 1 gpu:8 512000 idle\n",
                "slurm_sinfo_text", "n1 usable 8\nn2 usable 8\nn3 usable 8\n! no_header 1\n");
    /* A header of other words is no host. */
    expect_text("NODEHOST GRES_X STATEC\nn1 gpu:a100:4 idle\nn2 gpu:a100:4 idle\n",
                "slurm_sinfo_text",
                "n1 usable 4 a100\nn2 usable 4 a100\n! no_header 1\n! odd_row 1\n");
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
            if (sl_slurm_formats.list[k]->recognise(sample) > 0)
                sl_fail_for(texts[i]);
        free(sample);
    }
}

static const sl_case cases[] = {
    SL_CASE(resources_are_read_by_their_grammar),
    SL_CASE(trackable_resources_count_each_device_once),
    SL_CASE(states_come_to_what_can_be_used),
    SL_CASE(scontrol_text_is_read),
    SL_CASE(a_launcher_may_stand_before_each_line),
    SL_CASE(values_know_their_line),
    SL_CASE(one_line_records_are_read),
    SL_CASE(json_of_every_version_is_read),
    SL_CASE(json_rows_may_stand_alone),
    SL_CASE(errors_of_an_answer_without_nodes_are_told),
    SL_CASE(an_answer_without_nodes_is_told_as_such),
    SL_CASE(json_rows_may_lack_members),
    SL_CASE(json_may_be_bare),
    SL_CASE(sinfo_tables_are_read),
    SL_CASE(labels_may_name_a_part),
    SL_CASE(columns_that_run_together_are_told),
    SL_CASE(rows_of_empty_partitions_are_passed),
    SL_CASE(columns_without_a_header_are_told_by_their_cells),
    SL_CASE(nodes_one_after_another_are_read),
    SL_CASE(real_nodes_say_what_they_say),
    SL_CASE(odd_nodes_are_warned_of),
    SL_CASE(texts_of_others_are_not_recognised),
};

int
main(int argc, char **argv)
{
    return sl_run_catalogued(argc, argv, "intake_slurm", cases, sizeof cases / sizeof cases[0],
                             &catalog);
}
