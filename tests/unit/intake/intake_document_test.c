#include <string.h>

#include "harness.h"
#include "intake/document.h"
#include "intake_document_fixture.h"
#include "json/reader.h"

static const double MIB = 1024.0 * 1024.0, GIB = 1024.0 * 1024.0 * 1024.0;

/* Nodes of a pool that nobody named. */
static const sl_found_host *
unnamed(const char *pool)
{
    for (uint32_t i = 0; i < sl_findings_count(sl_read.findings); i++) {
        const sl_found_host *const host = sl_findings_host(sl_read.findings, i);
        if (host->name == NULL && host->pool != NULL && strcmp(host->pool, pool) == 0)
            return host;
    }
    sl_fail_for(pool);
    return NULL;
}

static void
expect_pool(const char *pool, uint32_t count, const char *node_type)
{
    const sl_found_host *const host = unnamed(pool);
    if (host == NULL)
        return;
    CU_ASSERT_EQUAL(host->count, count);
    const sl_fact *const type =
        &sl_findings_kind(sl_read.findings, host->kind)->field[SL_FIELD_NODE_TYPE];
    sl_expect_text(type->said ? type->text : "", node_type, pool);
}

static void
sizes_are_read_as_people_write_them(void)
{
    static const struct {
        const char *text;
        double bytes; /* 0: it is none */
    } rows[] = {{"192 GB", 192e9},
                {"189471 MiB", 189471.0 * 1048576.0},
                {"1.7 TB", 1.7e12},
                {"1.5TiB", 1.5 * 0x1p40},
                {"708GB", 708e9},
                {"141GB HBM3e", 141e9},
                {"16Gi", 16 * 0x1p30},
                {"1,024 GiB", 0x1p40},
                {"2TB (24x96)", 2e12},
                {"512 bytes", 512},
                {"1,5 TB", 0},
                {"GB", 0},
                {"", 0},
                {"80", 0},
                {"80 QB", 0},
                {"n/a", 0},
                {"1.2.3 GB", 0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double bytes = 0.0;
        CU_ASSERT_EQUAL(sl_document_bytes(rows[i].text, &bytes), rows[i].bytes > 0);
        sl_expect_near(bytes, rows[i].bytes, 1e-15, rows[i].text);
    }
}

static void
names_are_found_again_in_their_text(void)
{
    static const char text[] = "a: [n1, n10]\nn1:\n  db[01:03]: db\n";
    const sl_raw raw = {"", text, sizeof text - 1};
    sl_finder finder = sl_finder_new(&raw);
    CU_ASSERT_EQUAL(sl_finder_line(&finder, "n10"), 1);
    CU_ASSERT_EQUAL(sl_finder_line(&finder, "n1"), 2);
    CU_ASSERT_EQUAL(sl_finder_line(&finder, "db"), 3);
    CU_ASSERT_EQUAL(sl_finder_line(&finder, "a"), 1);
    CU_ASSERT_EQUAL(sl_finder_line(&finder, "none"), 0);
    CU_ASSERT_EQUAL(sl_finder_line(&finder, ""), 0);
}

static void
specs_keep_pools_and_their_own_text(void)
{
    sl_read_fixture("shardline_spec.yaml", "shardline_spec");
    sl_expect_text(sl_findings_cluster(sl_read.findings), "research", "cluster");
    sl_expect_text(sl_read_host("gpu017")->pool, "h100", "pool");
    CU_ASSERT_EQUAL(sl_read_host("gpu017")->line, 4);
    sl_expect_words("gpu017", SL_FIELD_ACCELERATOR, "NVIDIA H100 80GB HBM3");
    sl_expect_number("gpu017", SL_FIELD_ACCELERATORS, 8);
    sl_expect_number("gpu017", SL_FIELD_MEMORY_BYTES, 81559 * MIB);
    sl_expect_number("gpu017", SL_FIELD_SCALE_UP_DOMAIN, 8);
    sl_expect_number("gpu017", SL_FIELD_NIC_COUNT, 8);
    sl_expect_number("gpu017", SL_FIELD_NIC_BYTES_PER_S, 50e9);
    sl_expect_words("gpu017", SL_FIELD_NIC_KIND, "infiniband");
    sl_expect_number("gpu017", SL_FIELD_PRICE_PER_NODE_HOUR, 0);
    expect_pool("h100", 2, "");
    expect_pool("cloud", 4, "p5.48xlarge");
    const sl_found_fabric *const fabric = sl_findings_network(sl_read.findings);
    sl_expect_text(fabric->kind.text, "fat_tree", "fabric");
    sl_expect_near(fabric->oversubscription.number, 2, 0, "oversubscription");
    const char *const spec = sl_findings_document(sl_read.findings);
    CU_ASSERT_TRUE(spec != NULL && strstr(spec, "\"hosts\":[\"gpu[001-032]\"]") != NULL);

    /* As JSON it stays as it came; wrapped as this service answers, the spec is taken out. */
    static const char json[] =
        "{\"pools\": [{\"name\": \"a\", \"nodes\": 2, \"node\": {\"node_type\": \"x\"}}]}";
    CU_ASSERT_EQUAL(sl_read_text(json, NULL), SL_OK);
    sl_expect_text(sl_findings_document(sl_read.findings), json, "as it came");
    CU_ASSERT_EQUAL(sl_read_text("{\"slug\": \"s\", \"spec\": {\"pools\": [{\"name\": \"a\", "
                                 "\"nodes\": 2}]}, \"status\": {}}",
                                 NULL),
                    SL_OK);
    sl_expect_text(sl_findings_document(sl_read.findings),
                   "{\"pools\":[{\"name\":\"a\",\"nodes\":2}]}", "wrapped");
    CU_ASSERT_EQUAL(sl_read_text("pools: [{name: a, hosts: ['b a d', 7], nodes: 1}, 5]\nx: {\n"
                                 "node: 1}\n",
                                 "shardline_spec"),
                    SL_OK);
    sl_expect_warned("odd_name", 2);
    sl_expect_warned("odd_pool", 1);
    sl_expect_refused("{\"pools\": []}", NULL, SL_E_UNSUPPORTED, "no_pools", NULL);
    sl_expect_refused("{\"pools\": [}", NULL, SL_E_SYNTAX, "malformed_json", NULL);
    sl_expect_refused("pools: [\nnode: x\n", "shardline_spec", SL_E_SYNTAX, "malformed_yaml", NULL);
    sl_read_end();
}

static void
terraform_plans_are_machines_by_type(void)
{
    sl_read_fixture("terraform_plan.json", "terraform_json");
    sl_expect_words("trainer", SL_FIELD_NODE_TYPE, "p5.48xlarge");
    CU_ASSERT_EQUAL(sl_read_host("trainer")->line, 7);
    /* Another machine of the same name goes by its address. */
    sl_expect_words("aws_instance.gpu.1", SL_FIELD_NODE_TYPE, "p5.48xlarge");
    sl_expect_words("aws_instance.zone.east_1", SL_FIELD_NODE_TYPE, "g6.xlarge");
    expect_pool("big-nodes", 6, "p4d.24xlarge");
    /* A number per zone, in modules inside modules. */
    expect_pool("h100-pool", 4, "a3-highgpu-8g");
    sl_expect_words("vm-1", SL_FIELD_ACCELERATOR, "nvidia-tesla-t4");
    sl_expect_number("vm-1", SL_FIELD_ACCELERATORS, 2);
    sl_expect_words("nd-1", SL_FIELD_NODE_TYPE, "Standard_ND96isr_H100_v5");
    sl_expect_words("bm-1", SL_FIELD_NODE_TYPE, "BM.GPU.H100.8");
    expect_pool("ng", 3, "gpu-h200-sxm_8gpu-128vcpu-1600gb");
    sl_expect_warned("group_empty", 1);
    sl_expect_warned("type_unknown", 1);
    CU_ASSERT_EQUAL(sl_findings_find(sl_read.findings, "data.aws_instance.old"), SL_FOUND_NONE);
    sl_expect_state("nd-1", SL_HOST_UNSAID, NULL);

    sl_read_fixture("terraform_state.json", "terraform_json");
    CU_ASSERT_EQUAL(sl_findings_count(sl_read.findings), 3);
    sl_expect_state("t-0", SL_HOST_USABLE, NULL);
    sl_expect_state("aws_instance.gpu.1", SL_HOST_DOWN, "stopped");
    sl_expect_words("module.x.google_compute_instance.vm.a", SL_FIELD_NODE_TYPE, "a2-highgpu-8g");
    /* What may be nodes and is not read is told; what groups are made of is no group. */
    CU_ASSERT_EQUAL(
        sl_read_text(
            "{\"terraform_version\": \"1\", \"values\": {\"root_module\": {\"resources\": ["
            "{\"address\": \"a.b\", \"type\": \"oci_core_instance\", \"values\": {"
            "\"shape\": \"BM.GPU4.8\"}}, {\"address\": \"c.d\", \"type\": "
            "\"awscc_sagemaker_cluster\", \"values\": {\"instance_groups\": [{"
            "\"instance_type\": \"ml.p5.48xlarge\"}]}}, {\"address\": \"e.f\", \"type\": "
            "\"aws_launch_template\", \"values\": {\"instance_type\": \"p5.48xlarge\"}}, "
            "{\"address\": \"g.h\", \"type\": \"oci_core_instance_configuration\", \"values\": "
            "{\"instance_details\": [{\"launch_details\": [{\"shape\": \"BM.GPU4.8\"}]}]}}]}}}",
            NULL),
        SL_OK);
    CU_ASSERT_EQUAL(sl_findings_count(sl_read.findings), 1);
    sl_expect_warned("resource_unread", 2);
    sl_expect_refused("{\"terraform_version\": \"1\", \"values\": {\"root_module\": {}}}", NULL,
                      SL_E_UNSUPPORTED, "no_machines", NULL);
    sl_read_end();
}

static void
large_plans_are_read_by_their_values(void)
{
    sl_buffer text;
    sl_buffer_init(&text, (size_t)4 * SL_DOCUMENT_MAX_BYTES);
    sl_buffer_text(&text, "{\"format_version\":\"1.2{\",\"terraform_version\":\"1.9\",\"a\":[\"");
    for (size_t i = 0; i <= SL_DOCUMENT_MAX_BYTES / 8; i++)
        sl_buffer_text(&text, "12345678");
    sl_buffer_text(&text, "\"],\"planned_values\" : {\"root_module\":{\"resources\":[{\"address\":"
                          "\"oci_core_instance.a\",\"type\":\"oci_core_instance\",\"values\":{"
                          "\"shape\":\"BM.GPU4.8\"}}]}},\"values\":{}}");
    CU_ASSERT_FATAL(!text.failed);
    CU_ASSERT_EQUAL(sl_read_text(text.data, NULL), SL_OK);
    sl_expect_words("oci_core_instance.a", SL_FIELD_NODE_TYPE, "BM.GPU4.8");
    sl_read_end();
    sl_buffer_clear(&text);
}

static void
ansible_groups_hand_their_variables_down(void)
{
    sl_read_fixture("ansible_hosts.ini", "ansible_ini");
    CU_ASSERT_EQUAL(sl_findings_count(sl_read.findings), 14);
    sl_expect_words("login.example.org", SL_FIELD_NODE_TYPE, "bare");
    sl_expect_unsaid("login.example.org", SL_FIELD_ACCELERATORS);
    sl_expect_words("gpu002.example.org", SL_FIELD_ACCELERATOR, "H100 SXM");
    sl_expect_number("gpu002.example.org", SL_FIELD_ACCELERATORS, 8);
    CU_ASSERT_EQUAL(sl_read_host("gpu002.example.org")->line, 5);
    sl_expect_number("gpu-big", SL_FIELD_ACCELERATORS, 4);
    sl_expect_number("gpu-big", SL_FIELD_NOMINAL_MEMORY_BYTES, 96e9);
    sl_expect_number("rackb-n5", SL_FIELD_NOMINAL_MEMORY_BYTES, 80 * GIB);
    sl_expect_words("rackc-n1", SL_FIELD_ACCELERATOR, "A100");
    CU_ASSERT_EQUAL(sl_findings_find(sl_read.findings, "localhost"), SL_FOUND_NONE);

    sl_read_fixture("ansible_hosts.yaml", "ansible_yaml");
    CU_ASSERT_EQUAL(sl_findings_count(sl_read.findings), 5);
    sl_expect_words("gpu02", SL_FIELD_ACCELERATOR, "H200");
    sl_expect_number("gpu02", SL_FIELD_ACCELERATORS, 8);
    sl_expect_words("b01", SL_FIELD_ACCELERATOR, "B200");
    sl_expect_number("b01", SL_FIELD_ACCELERATORS, 4);
    sl_expect_words("login", SL_FIELD_NODE_TYPE, "dgx");
    sl_expect_unsaid("login", SL_FIELD_ACCELERATORS);
    sl_expect_words("secret-host", SL_FIELD_ACCELERATOR, "B200");

    sl_read_fixture("ansible_list.json", "ansible_list");
    CU_ASSERT_EQUAL(sl_findings_count(sl_read.findings), 4);
    sl_expect_words("n1", SL_FIELD_ACCELERATOR, "MI300X");
    sl_expect_number("n1", SL_FIELD_ACCELERATORS, 8);
    sl_expect_number("n2", SL_FIELD_ACCELERATORS, 4);
    sl_expect_unsaid("n3", SL_FIELD_ACCELERATORS);
    sl_expect_number("lone", SL_FIELD_ACCELERATORS, 2);
    sl_read_end();
}

static void
ansible_ranges_are_expanded_or_named_odd(void)
{
    static const struct {
        const char *text;
        uint32_t hosts, odd;
    } rows[] = {
        {"[g]\nn[01:03]\n", 3, 0},     {"[g]\nn[8:11]\n", 4, 0},
        {"[g]\nn[a:c]x[1:2]\n", 6, 0}, {"[g]\nn[1:10:3]\n", 4, 0},
        {"[g]\nn[3:1]\n", 0, 1},       {"[g]\nn[1]\n", 0, 1},
        {"[g]\nn[1:2\n", 0, 1},        {"[g]\nn[1:999999999]\n", 0, 1},
        {"[g]\nn[1:2:0]\n", 0, 1},     {"[g]\nn[a:3]\n", 0, 1},
        {"[g]\na,b\n", 0, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const sl_code code = sl_read_text(rows[i].text, "ansible_ini");
        CU_ASSERT_EQUAL(code, rows[i].hosts > 0 ? SL_OK : SL_E_UNSUPPORTED);
        if (sl_findings_count(sl_read.findings) != rows[i].hosts)
            sl_fail_for(rows[i].text);
        sl_expect_warned("odd_name", rows[i].odd);
    }
    CU_ASSERT_EQUAL(sl_read_text("[g]\nn[08:11]\nm[8:11]\n", "ansible_ini"), SL_OK);
    (void)sl_read_host("n08");
    (void)sl_read_host("n11");
    (void)sl_read_host("m8");
    sl_expect_refused("[g\nhost\n", "ansible_ini", SL_E_SYNTAX, "malformed_ini",
                      "line 1: a section does not end");
    /* Groups that are children of one another end. */
    CU_ASSERT_EQUAL(
        sl_read_text("[a:children]\nb\n[b:children]\na\n[a:vars]\ngpus=2\n[b]\nh\n", "ansible_ini"),
        SL_OK);
    sl_expect_number("h", SL_FIELD_ACCELERATORS, 2);
    sl_read_end();
}

static void
gathered_facts_have_memory_cards_and_a_local_fact(void)
{
    sl_read_fixture("ansible_facts.json", "ansible_facts");
    sl_expect_number("gpu07", SL_FIELD_HOST_MEMORY_BYTES, 2063930 * MIB);
    sl_expect_number("gpu07", SL_FIELD_CPUS, 224);
    sl_expect_words("gpu07", SL_FIELD_NODE_TYPE, "PowerEdge XE9680");
    sl_expect_number("gpu07", SL_FIELD_NIC_COUNT, 2);
    sl_expect_number("gpu07", SL_FIELD_NIC_BYTES_PER_S, 50e9);
    sl_expect_words("gpu07", SL_FIELD_NIC_KIND, "infiniband");
    sl_expect_words("gpu07", SL_FIELD_ACCELERATOR, "NVIDIA H100 80GB HBM3");
    sl_expect_number("gpu07", SL_FIELD_ACCELERATORS, 2);
    sl_expect_number("gpu07", SL_FIELD_MEMORY_BYTES, 81559 * MIB);
    sl_expect_number("gpu07", SL_FIELD_RESERVED_BYTES, 480 * MIB);
    sl_expect_words("gpu07", SL_FIELD_DRIVER, "550.90.07");
    sl_expect_number("gpu07", SL_FIELD_SLICED_ACCELERATORS, 1);

    sl_read_fixture("ansible_facts.txt", "ansible_facts");
    CU_ASSERT_EQUAL(sl_findings_count(sl_read.findings), 3);
    sl_expect_state("a01", SL_HOST_USABLE, NULL);
    sl_expect_words("a01", SL_FIELD_ACCELERATOR, "Tesla T4");
    sl_expect_number("a01", SL_FIELD_ACCELERATORS, 2);
    sl_expect_state("a02", SL_HOST_DOWN, "unreachable: Failed to connect to the host via ssh");
    CU_ASSERT_EQUAL(sl_read_host("a02")->line, 11);
    sl_expect_number("a03", SL_FIELD_HOST_MEMORY_BYTES, 2048 * MIB);
    sl_expect_words("a03", SL_FIELD_ACCELERATOR, "MI210");
    CU_ASSERT_EQUAL(sl_read_host("a03")->line, 16);
    sl_expect_refused("a | SUCCESS => {\"x\": \"\\\\\"", NULL, SL_E_SYNTAX, "malformed_json",
                      "line 1: the answer of a host does not end");
    sl_expect_refused("{\"ansible_facts\": {}}", NULL, SL_E_UNSUPPORTED, "no_hosts", NULL);
    sl_read_end();
}

static void
topologies_place_nodes_under_switches_and_in_domains(void)
{
    sl_read_fixture("topograph.yaml", "topograph_yaml");
    sl_expect_text(sl_read_host("n11")->domain, "nvl-7", "domain");
    sl_expect_text(sl_read_host("n11")->leaf, "s1", "leaf");
    CU_ASSERT_EQUAL(sl_read_host("n11")->line, 12);
    sl_expect_words("n11", SL_FIELD_ACCELERATOR, "GB200");
    sl_expect_text(sl_read_host("plain2")->leaf, "s2", "leaf");
    CU_ASSERT_EQUAL(sl_findings_network(sl_read.findings)->switches, 3);

    sl_read_fixture("netq.json", "netq_json");
    CU_ASSERT_EQUAL(sl_findings_count(sl_read.findings), 3);
    sl_expect_number("tray1", SL_FIELD_ACCELERATORS, 4);
    sl_expect_state("tray1", SL_HOST_USABLE, NULL);
    sl_expect_text(sl_read_host("tray2")->domain, "aaaa", "domain");
    sl_expect_state("tray2", SL_HOST_DOWN, "UNHEALTHY");
    sl_expect_state("tray3", SL_HOST_UNSAID, "NMX_COMPUTE_NODE_HEALTH_DEGRADED");
    sl_expect_warned("not_a_node", 1);
    sl_read_end();
}

static void
descriptions_by_hand_are_hints(void)
{
    sl_read_fixture("mlperf.json", "mlperf_system");
    const sl_found_host *const host = unnamed("example-32");
    if (host == NULL)
        return;
    CU_ASSERT_EQUAL(host->count, 4);
    CU_ASSERT_EQUAL(host->line, 3);
    const sl_facts *const facts = sl_findings_kind(sl_read.findings, host->kind);
    CU_ASSERT_FALSE(facts->field[SL_FIELD_MEMORY_BYTES].said);
    sl_expect_near(facts->field[SL_FIELD_NOMINAL_MEMORY_BYTES].number, 141e9, 0, "nominal");
    CU_ASSERT_EQUAL(facts->field[SL_FIELD_NOMINAL_MEMORY_BYTES].place.line, 6);
    sl_expect_near(facts->field[SL_FIELD_HOST_MEMORY_BYTES].number, 1024 * GIB, 0, "host");
    sl_expect_near(facts->field[SL_FIELD_NIC_COUNT].number, 8, 0, "cards");
    sl_expect_near(facts->field[SL_FIELD_NIC_BYTES_PER_S].number, 50e9, 0, "rate");
    sl_expect_warned("mlperf_free_text", 3);
    sl_expect_refused("{\"number_of_nodes\": \"\", \"accelerators_per_node\": \"8\"}", NULL,
                      SL_E_UNSUPPORTED, "no_nodes", NULL);
    sl_read_end();
}

static void
what_does_not_apply_to_a_system_is_not_said(void)
{
    CU_ASSERT_EQUAL(sl_read_text("{\"number_of_nodes\": 1, \"accelerators_per_node\": \"N/A\", "
                                 "\"accelerator_model_name\": \"N/A\", "
                                 "\"accelerator_memory_capacity\": \"N/A\"}",
                                 "mlperf_system"),
                    SL_OK);
    const sl_facts *facts = sl_findings_kind(sl_read.findings, 0);
    CU_ASSERT_FALSE(facts->field[SL_FIELD_ACCELERATOR].said);
    CU_ASSERT_FALSE(facts->field[SL_FIELD_ACCELERATORS].said);
    sl_expect_warned("mlperf_free_text", 0);
    /* A blank behind a number is a slip of the hand. */
    CU_ASSERT_EQUAL(sl_read_text("{\"number_of_nodes\": \"2 \", \"accelerators_per_node\": \"4 \", "
                                 "\"accelerator_model_name\": \"NVIDIA L40S\"}",
                                 "mlperf_system"),
                    SL_OK);
    facts = sl_findings_kind(sl_read.findings, 0);
    CU_ASSERT_EQUAL(sl_findings_host(sl_read.findings, 0)->count, 2);
    sl_expect_near(facts->field[SL_FIELD_ACCELERATORS].number, 4, 0, "accelerators");
    sl_read_end();
}

static void
types_that_a_cloud_names_by_their_address_are_bare(void)
{
    static const char state[] =
        "{\"format_version\": \"1.0\", \"terraform_version\": \"1.7.5\", \"values\": "
        "{\"root_module\": {\"resources\": ["
        "{\"address\": \"google_compute_instance.a\", \"mode\": \"managed\", "
        "\"type\": \"google_compute_instance\", \"name\": \"a\", \"values\": {\"name\": \"n1\", "
        "\"machine_type\": \"projects/p/zones/z/machineTypes/n1-standard-16\", "
        "\"guest_accelerator\": [{\"count\": 4, "
        "\"type\": \"projects/p/zones/z/acceleratorTypes/nvidia-tesla-v100\"}, {\"count\": 1, "
        "\"type\": \"nvidia-tesla-t4\"}]}}]}}}";

    CU_ASSERT_EQUAL(sl_read_text(state, NULL), SL_OK);
    sl_expect_words("n1", SL_FIELD_ACCELERATOR, "nvidia-tesla-v100");
    sl_expect_number("n1", SL_FIELD_ACCELERATORS, 4);
    sl_expect_words("n1", SL_FIELD_NODE_TYPE, "n1-standard-16");
    sl_expect_warned("mixed_devices", 1);
    sl_read_end();
}

static void
real_provisioning_files_are_read(void)
{
    if (!sl_read_shared("ansible_facts_bare_metal.json", "ansible_facts")) {
        sl_skip("no real files beside the checkout");
        return;
    }
    sl_expect_number("jib", SL_FIELD_HOST_MEMORY_BYTES, 15951 * MIB);
    sl_expect_number("jib", SL_FIELD_CPUS, 8);
    sl_expect_unsaid("jib", SL_FIELD_NIC_COUNT);
    sl_expect_unsaid("jib", SL_FIELD_ACCELERATORS);

    CU_ASSERT_TRUE(sl_read_shared("ansible_hosts.ini", "ansible_ini"));
    CU_ASSERT_EQUAL(sl_findings_count(sl_read.findings), 18);
    CU_ASSERT_EQUAL(sl_read_host("db02.prod.local")->line, 6);
    sl_expect_warned("odd_name", 0);
    sl_expect_warned("said_twice", 0);

    CU_ASSERT_TRUE(sl_read_shared("topograph_model_nvl72.yaml", "topograph_yaml"));
    CU_ASSERT_EQUAL(sl_findings_count(sl_read.findings), 72);
    sl_expect_text(sl_read_host("node2118")->domain, "nvl-2-1", "domain");
    sl_expect_text(sl_read_host("node2118")->leaf, "leaf-2-1", "leaf");

    CU_ASSERT_TRUE(sl_read_shared("netq_compute_nodes.json", "netq_json"));
    CU_ASSERT_EQUAL(sl_findings_count(sl_read.findings), 2);
    sl_expect_number("node2", SL_FIELD_ACCELERATORS, 4);
    sl_expect_text(sl_read_host("node1")->domain, sl_read_host("node2")->domain, "one domain");
    CU_ASSERT_EQUAL(sl_read_host("node2")->line, 24);
    sl_read_end();
}

/* What a description of MLPerf must yield. */
static void
expect_mlperf(const char *file, uint32_t nodes, const char *accelerator, double per_node,
              double nominal_bytes, double host_bytes)
{
    CU_ASSERT_TRUE_FATAL(sl_read_shared(file, "mlperf_system"));
    const sl_found_host *const host = sl_findings_host(sl_read.findings, 0);
    const sl_facts *const facts = sl_findings_kind(sl_read.findings, host->kind);
    CU_ASSERT_EQUAL(host->count, nodes);
    sl_expect_text(facts->field[SL_FIELD_ACCELERATOR].text, accelerator, file);
    sl_expect_near(facts->field[SL_FIELD_ACCELERATORS].number, per_node, 0, file);
    sl_expect_near(facts->field[SL_FIELD_NOMINAL_MEMORY_BYTES].number, nominal_bytes, 0, file);
    sl_expect_near(facts->field[SL_FIELD_HOST_MEMORY_BYTES].number, host_bytes, 0, file);
}

static void
real_descriptions_are_read(void)
{
    if (sl_shared_path("inventories/mlperf_system_mi300x.json") == NULL) {
        sl_skip("no real files beside the checkout");
        return;
    }
    expect_mlperf("mlperf_system_gb200_nvl72.json", 18, "NVIDIA Blackwell GPU (GB200)", 4,
                  189471 * MIB, 1.7e12);
    expect_mlperf("mlperf_system_mi300x.json", 1, "AMD Instinct MI300X 192GB HBM3", 8, 192e9,
                  1.5 * 0x1p40);
    expect_mlperf("mlperf_system_tpu_trillium.json", 64, "TPU-trillium", 4, 32e9, 708e9);
    sl_read_end();
}

static const sl_case cases[] = {
    SL_CASE(sizes_are_read_as_people_write_them),
    SL_CASE(names_are_found_again_in_their_text),
    SL_CASE(specs_keep_pools_and_their_own_text),
    SL_CASE(terraform_plans_are_machines_by_type),
    SL_CASE(large_plans_are_read_by_their_values),
    SL_CASE(ansible_groups_hand_their_variables_down),
    SL_CASE(ansible_ranges_are_expanded_or_named_odd),
    SL_CASE(gathered_facts_have_memory_cards_and_a_local_fact),
    SL_CASE(topologies_place_nodes_under_switches_and_in_domains),
    SL_CASE(descriptions_by_hand_are_hints),
    SL_CASE(what_does_not_apply_to_a_system_is_not_said),
    SL_CASE(types_that_a_cloud_names_by_their_address_are_bare),
    SL_CASE(real_provisioning_files_are_read),
    SL_CASE(real_descriptions_are_read),
};

int
main(int argc, char **argv)
{
    sl_json_start();
    return sl_run_cases(argc, argv, "intake_document", cases, sizeof cases / sizeof cases[0]);
}
