/* What describes a cluster of Slurm before it runs: slurm.conf, gres.conf, topologies. */
#include "intake_slurm_reading.h"

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
    /* What else jobs share is no device, however it is counted. */
    expect_text("NodeName=c1 Name=gpu Count=2\nNodeName=c1 Name=bandwidth Type=lustre Count=4G\n",
                "slurm_gres_conf", "c1 unknown 2\n");
    expect_text("NodeName=c1 Name=gpu Count=some\n", "slurm_gres_conf",
                "c1 unknown\n! odd_gres 1\n");
    /* Files of both one after another: what names nodes is of more use. */
    expect_text("NodeName=d1 CPUs=8 Gres=gpu:h100:8\nAutoDetect=nvml\n", "slurm_conf",
                "d1 unknown 8 h100 cpus 8\n");
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

/* What is shown of one element. JSON is YAML: behind a comment it is read as such. */
static void
show_one(const char *list, const char *members, bool yaml, char shown[256])
{
    char text[512], format[32];
    CU_ASSERT_FATAL(sl_text_format(text, sizeof text,
                                   "%s{\"%s\": [{%s, \"gres\": %s, \"real_memory\": 9}]}",
                                   yaml ? "# sinfo: gres: real_memory:\n" : "", list, members,
                                   *list == 'n' ? "\"gpu:t4:2\"" : "{\"total\": \"gpu:t4:2\"}"));
    (void)sl_text_format(format, sizeof format, "slurm_%s_%s", list, yaml ? "yaml" : "json");
    const sl_raw raw = {.name = "", .text = text, .size = strlen(text)};
    now = (outcome){.arena = sl_arena_new(256 << 20)};
    CU_ASSERT_PTR_NOT_NULL_FATAL(now.arena);
    now.findings = sl_findings_new(now.arena, catalog);
    CU_ASSERT_PTR_NOT_NULL_FATAL(now.findings);
    CU_ASSERT_EQUAL(sl_intake_read(&raw, sl_format_find(format), now.findings, &now.format,
                                   &now.confidence, &now.err),
                    SL_OK);
    show();
    CU_ASSERT(sl_text_copy(shown, 256, now.shown));
    end();
}

/* Beside a bare node, each member says something, and the same in both. */
static void
every_member_is_read_of_yaml_too(void)
{
    static const struct {
        const char *list, *bare, *members;
    } rows[] = {
        {"nodes", "\"name\": \"a\"", "\"hostname\": \"b\""},
        {"nodes", "\"name\": \"a\"", "\"name\": \"a\", \"tres\": \"gres/gpu=4\""},
        {"nodes", "\"name\": \"a\"", "\"name\": \"a\", \"features\": [\"80gb\"]"},
        {"nodes", "\"name\": \"a\"", "\"name\": \"a\", \"active_features\": [\"80gb\"]"},
        {"nodes", "\"name\": \"a\"", "\"name\": \"a\", \"state\": [\"DOWN\"]"},
        {"nodes", "\"name\": \"a\"", "\"name\": \"a\", \"state_flags\": [\"DRAIN\"]"},
        {"nodes", "\"name\": \"a\", \"state\": \"DOWN\"",
         "\"name\": \"a\", \"state\": \"DOWN\", \"reason\": \"dust\""},
        {"nodes", "\"name\": \"a\"", "\"name\": \"a\", \"partitions\": [\"p\"]"},
        {"nodes", "\"name\": \"a\"", "\"name\": \"a\", \"cpus\": 4"},
        {"nodes", "\"name\": \"a\"", "\"name\": \"a\", \"instance_type\": \"p5\""},
        {"nodes", "\"name\": \"a\"", "\"name\": \"a\", \"gres_drained\": \"gpu:t4:1\""},
        {"nodes", "\"name\": \"a\"", "\"name\": \"a\", \"cluster_name\": \"c\""},
        {"sinfo", "\"nodes\": {\"nodes\": [\"a\"]}", "\"nodes\": {\"hostnames\": [\"b\"]}"},
        {"sinfo", "\"nodes\": {\"nodes\": [\"a\"]}",
         "\"nodes\": {\"nodes\": [\"a\"]}, \"node\": {\"state\": [\"DOWN\"]}"},
        {"sinfo", "\"nodes\": {\"nodes\": [\"a\"]}",
         "\"nodes\": {\"nodes\": [\"a\"]}, \"features\": {\"total\": \"80gb\"}"},
        {"sinfo", "\"nodes\": {\"nodes\": [\"a\"]}, \"node\": {\"state\": \"DOWN\"}",
         "\"nodes\": {\"nodes\": [\"a\"]}, \"node\": {\"state\": \"DOWN\"}, \"reason\": \"dust\""},
        {"sinfo", "\"nodes\": {\"nodes\": [\"a\"]}",
         "\"nodes\": {\"nodes\": [\"a\"]}, \"memory\": {\"minimum\": 7, \"maximum\": 7}"},
        {"sinfo", "\"nodes\": {\"nodes\": [\"a\"]}",
         "\"nodes\": {\"nodes\": [\"a\"]}, \"cpus\": {\"minimum\": 7, \"maximum\": 7}"},
        {"sinfo", "\"nodes\": {\"nodes\": [\"a\"]}",
         "\"nodes\": {\"nodes\": [\"a\"]}, \"cluster\": \"c\""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char bare[256], json[256], yaml[256];
        show_one(rows[i].list, rows[i].bare, false, bare);
        show_one(rows[i].list, rows[i].members, false, json);
        show_one(rows[i].list, rows[i].members, true, yaml);
        CU_ASSERT_FALSE(sl_text_equal(bare, json));
        sl_expect_text(yaml, json, rows[i].members);
    }
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

/* What each says is counted and stands where it stands, also where it is understood once. */
static void
nodes_like_the_last_one_say_as_much(void)
{
    expect_text("NODELIST GRES STATE REASON\na1 gpu:odd:8,shard:4 idle none\n"
                "a2 gpu:odd:8,shard:4 drained dust\na3 gpu:odd:4,shard:4 idle none\n"
                "a4 gpu:odd:8,shard:4 idle none\na1 gpu:odd:8,shard:4 drained dust\n"
                "a3 gpu:odd:8,shard:4 idle none\n",
                "slurm_sinfo_text",
                "a1 drained 8 odd (dust)\na2 drained 8 odd (dust)\na3 usable 4 odd\n"
                "a4 usable 8 odd\n! shared_gres 6\n! said_twice 1\n");
    read_text("NODELIST GRES\na1 gpu:odd:8\na2 gpu:odd:4\na3 gpu:odd:4\na1 gpu:odd:4\n", 66);
    CU_ASSERT_EQUAL(sl_findings_warning(now.findings, 0)->place.line, 5);
    end();
}

static void
lines_that_were_picked_from_nodes_are_of_them(void)
{
    const char *const picked =
        "NodeName=p1\n   Gres=gpu:h100:4(S:0-1)\n   State=IDLE\nNodeName=p2\n"
        "   Gres=gpu:h100:8\n   State=IDLE+DRAIN\n";
    expect_text(picked, "slurm_nodes_text", "p1 usable 4 h100\np2 drained 8 h100 (IDLE+DRAIN)\n");
    expect_text("NodeName=c1 CPUs=4 \\\n   Gres=gpu:h100:4 \\\n   State=UNKNOWN\n", "slurm_conf",
                "c1 unknown 4 h100 cpus 4\n");
}

static void
a_torus_has_nodes(void)
{
    expect_text("- topology: t\n  cluster_default: true\n  torus3d:\n    toruses:\n"
                "      - name: pod1\n        dims: {x: 2, y: 1, z: 1}\n        nodes: t[1-2]\n",
                "slurm_topology_yaml", "t1 unknown\nt2 unknown\n! torus_topology 1\n");
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
        now.findings = sl_findings_new(now.arena, catalog);
        now.code = sl_intake_read(&raw, NULL, now.findings, &now.format, &now.confidence, &now.err);
        CU_ASSERT_EQUAL(now.code, SL_E_RANGE);
        sl_expect_text(now.err.list[0].rule, "too_many", lines[i]);
        sl_buffer_clear(&text);
        end();
    }
}

static const sl_case cases[] = {
    SL_CASE(slurm_conf_is_read),
    SL_CASE(a_byte_order_mark_is_of_no_line),
    SL_CASE(gres_conf_is_read),
    SL_CASE(topology_conf_is_read),
    SL_CASE(every_member_is_read_of_yaml_too),
    SL_CASE(yaml_says_what_json_does),
    SL_CASE(nodes_like_the_last_one_say_as_much),
    SL_CASE(lines_that_were_picked_from_nodes_are_of_them),
    SL_CASE(a_torus_has_nodes),
    SL_CASE(real_configurations_say_what_they_say),
    SL_CASE(ranges_said_over_and_over_are_bounded),
};

int
main(int argc, char **argv)
{
    return sl_run_catalogued(argc, argv, "intake_slurm_conf", cases, sizeof cases / sizeof cases[0],
                             &catalog);
}
