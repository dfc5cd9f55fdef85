#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "harness.h"
#include "intake/document.h"
#include "intake_document_fixture.h"
#include "json/reader.h"

static const double MIB = 1024.0 * 1024.0, GIB = 1024.0 * 1024.0 * 1024.0;

static void
nodes_of_a_list_are_hosts_with_what_their_labels_say(void)
{
    sl_read_fixture("kubernetes_nodes.json", "kubernetes_nodes");
    CU_ASSERT_EQUAL(sl_findings_count(sl_read.findings), 25);
    sl_expect_words("h100-1", SL_FIELD_ACCELERATOR, "NVIDIA-H100-80GB-HBM3");
    sl_expect_number("h100-1", SL_FIELD_ACCELERATORS, 8);
    sl_expect_number("h100-1", SL_FIELD_MEMORY_BYTES, 81559 * MIB);
    sl_expect_words("h100-1", SL_FIELD_DRIVER, "550.90.07");
    sl_expect_words("h100-1", SL_FIELD_NODE_TYPE, "PowerEdge-XE9680");
    sl_expect_number("h100-1", SL_FIELD_HOST_MEMORY_BYTES, 2113540396.0 * 1024.0);
    sl_expect_number("h100-1", SL_FIELD_CPUS, 192);
    sl_expect_number("h100-1", SL_FIELD_NIC_COUNT, 8);
    sl_expect_unsaid("h100-1", SL_FIELD_SLICE);
    sl_expect_text(sl_read_host("h100-1")->leaf, "sw-7", "leaf");
    sl_expect_warned("not_a_node", 1);
    /* A control plane is a host without accelerators. */
    sl_expect_unsaid("cp-1", SL_FIELD_ACCELERATORS);
    sl_expect_number("cp-1", SL_FIELD_CPUS, 7);
    sl_expect_number("cp-1", SL_FIELD_HOST_MEMORY_BYTES, 16 * GIB);
    sl_expect_state("cp-1", SL_HOST_USABLE, NULL);
    sl_read_end();
}

static void
states_are_told_apart(void)
{
    sl_read_fixture("kubernetes_nodes.json", "kubernetes_nodes");
    sl_expect_state("h100-1", SL_HOST_USABLE, NULL);
    sl_expect_state("h100-2", SL_HOST_DRAINED, "cordoned");
    sl_expect_state("h100-3", SL_HOST_DOWN,
                    "not ready: NodeStatusUnknown, Kubelet stopped posting node status.");
    sl_expect_state("leaving", SL_HOST_DRAINED, "being deleted");
    sl_expect_state("karpenter-1", SL_HOST_UNSAID, NULL);
    sl_expect_warned("fewer_offered", 1);
    sl_expect_warned("shared_nics", 1);
    sl_expect_number("h100-4", SL_FIELD_ACCELERATORS, 8);
    sl_expect_unsaid("h100-2", SL_FIELD_NIC_COUNT);
    /* Some KiB of memory make no other kind. */
    CU_ASSERT_EQUAL(sl_read_host("h100-2")->kind, sl_read_host("h100-3")->kind);
    sl_read_end();
}

static void
slices_and_shares_are_not_devices(void)
{
    sl_read_fixture("kubernetes_nodes.json", "kubernetes_nodes");
    sl_expect_words("mig-single", SL_FIELD_ACCELERATOR, "NVIDIA-A100-SXM4-40GB");
    sl_expect_words("mig-single", SL_FIELD_SLICE, "MIG 1g.5gb");
    sl_expect_unsaid("mig-single", SL_FIELD_ACCELERATORS);
    sl_expect_unsaid("mig-single", SL_FIELD_MEMORY_BYTES);
    sl_expect_warned("mig_invalid", 1);
    sl_expect_unsaid("mig-invalid", SL_FIELD_ACCELERATORS);

    sl_expect_words("mig-mixed", SL_FIELD_SLICE, "MIG 1g.10gb, MIG 3g.40gb");
    sl_expect_number("mig-mixed", SL_FIELD_ACCELERATORS, 8);
    sl_expect_number("mig-mixed", SL_FIELD_SLICED_ACCELERATORS, 3);
    sl_expect_number("mig-mixed", SL_FIELD_MEMORY_BYTES, 81920 * MIB);

    sl_expect_words("sliced", SL_FIELD_ACCELERATOR, "Tesla-T4");
    sl_expect_number("sliced", SL_FIELD_ACCELERATORS, 2);
    sl_expect_number("sliced", SL_FIELD_SLICED_ACCELERATORS, 2);
    sl_expect_words("sliced", SL_FIELD_SLICE, "shared by 4");
    sl_expect_number("sliced", SL_FIELD_MEMORY_BYTES, 15360 * MIB);
    sl_expect_number("renamed", SL_FIELD_ACCELERATORS, 1);
    sl_expect_words("renamed", SL_FIELD_SLICE, "shared by 10 (MPS)");

    sl_expect_number("gke-l4", SL_FIELD_ACCELERATORS, 2);
    sl_expect_words("gke-l4", SL_FIELD_SLICE, "shared by 3");
    sl_expect_unsaid("gke-mig", SL_FIELD_ACCELERATORS);
    sl_expect_words("gke-mig", SL_FIELD_SLICE, "MIG 1g.5gb");
    sl_expect_warned("mig_slices", 2);
    sl_read_end();
}

static void
nodes_of_one_clique_are_one_domain(void)
{
    sl_read_fixture("kubernetes_nodes.json", "kubernetes_nodes");
    sl_expect_number("gb200-1", SL_FIELD_ACCELERATORS, 4);
    sl_expect_text(sl_read_host("gb200-1")->domain, "3f0b1c2d-0000-4a5b-8c9d-112233445566.32766",
                   "domain");
    sl_expect_text(sl_read_host("gb200-2")->domain, sl_read_host("gb200-1")->domain, "the same");
    CU_ASSERT_PTR_NULL(sl_read_host("h100-1")->domain);
    sl_read_end();
}

static void
clouds_say_types_and_cards(void)
{
    sl_read_fixture("kubernetes_nodes.json", "kubernetes_nodes");
    sl_expect_words("bare-p5", SL_FIELD_NODE_TYPE, "p5.48xlarge");
    sl_expect_number("bare-p5", SL_FIELD_ACCELERATORS, 8);
    sl_expect_unsaid("bare-p5", SL_FIELD_ACCELERATOR);
    sl_expect_number("bare-p5", SL_FIELD_NIC_COUNT, 32);
    sl_expect_words("bare-p5", SL_FIELD_NIC_KIND, "efa");
    sl_expect_text(sl_read_host("bare-p5")->pool, "train", "pool");
    sl_expect_text(sl_read_host("bare-p5")->leaf, "nn-c", "leaf");
    sl_expect_words("karpenter-1", SL_FIELD_ACCELERATOR, "a100");
    sl_expect_number("karpenter-1", SL_FIELD_ACCELERATORS, 8);
    sl_expect_unsaid("karpenter-1", SL_FIELD_MEMORY_BYTES);
    sl_expect_number("karpenter-1", SL_FIELD_NOMINAL_MEMORY_BYTES, 40960 * MIB);
    sl_expect_words("gke-a3", SL_FIELD_ACCELERATOR, "nvidia-h100-mega-80gb");
    sl_expect_number("gke-a3", SL_FIELD_NIC_COUNT, 8);
    sl_expect_text(sl_read_host("gke-a3")->leaf, "sb-1", "leaf");
    sl_read_end();
}

static void
other_vendors_are_read(void)
{
    sl_read_fixture("kubernetes_nodes.json", "kubernetes_nodes");
    sl_expect_words("mi300x-1", SL_FIELD_ACCELERATOR, "AMD_Instinct_MI300X_OAM");
    sl_expect_number("mi300x-1", SL_FIELD_ACCELERATORS, 8);
    sl_expect_number("mi300x-1", SL_FIELD_NOMINAL_MEMORY_BYTES, 192 * GIB);
    sl_expect_unsaid("mi300x-1", SL_FIELD_MEMORY_BYTES);
    sl_expect_number("mi250-old", SL_FIELD_NOMINAL_MEMORY_BYTES, 64 * GIB);
    sl_expect_unsaid("mi300x-cpx", SL_FIELD_ACCELERATORS);
    sl_expect_words("mi300x-cpx", SL_FIELD_SLICE, "cpx_nps4");
    sl_expect_words("tpu-1", SL_FIELD_ACCELERATOR, "tpu-v5p-slice");
    sl_expect_number("tpu-1", SL_FIELD_ACCELERATORS, 4);
    sl_expect_number("tpu-1", SL_FIELD_SCALE_UP_DOMAIN, 16);
    sl_expect_words("gaudi-1", SL_FIELD_ACCELERATOR, "habana.ai/gaudi");
    sl_expect_unsaid("gaudi-1", SL_FIELD_NODE_TYPE);
    sl_expect_number("trn-1", SL_FIELD_ACCELERATORS, 16);
    sl_expect_words("trn-1", SL_FIELD_NODE_TYPE, "trn1.32xlarge");
    sl_expect_words("max-1", SL_FIELD_ACCELERATOR, "Max_1550");
    sl_expect_number("max-1", SL_FIELD_ACCELERATORS, 8);
    sl_read_end();
}

/* The labeller's label of partitions has no "gpu" in it, and a plugin may offer them by their
 * names. */
static void
partitions_of_amd_are_not_devices(void)
{
    static const char *const nodes[] = {
        "apiVersion: v1\nkind: Node\nmetadata:\n  name: n1\n  labels:\n"
        "    amd.com/gpu.product-name: AMD_Instinct_MI300X_OAM\n"
        "    amd.com/gpu.vram: 192G\n"
        "    amd.com/compute-memory-partition: cpx_nps4\n"
        "status:\n  capacity:\n    amd.com/gpu: \"64\"\n",
        "apiVersion: v1\nkind: Node\nmetadata:\n  name: n1\n  labels:\n"
        "    amd.com/gpu.product-name: AMD_Instinct_MI300X_OAM\n"
        "status:\n  capacity:\n    amd.com/gpu: \"0\"\n    amd.com/cpx_nps4: \"64\"\n",
    };
    for (size_t i = 0; i < sizeof nodes / sizeof nodes[0]; i++) {
        CU_ASSERT_EQUAL(sl_read_text(nodes[i], NULL), SL_OK);
        sl_expect_words("n1", SL_FIELD_SLICE, "cpx_nps4");
        sl_expect_unsaid("n1", SL_FIELD_ACCELERATORS);
        sl_expect_unsaid("n1", SL_FIELD_NOMINAL_MEMORY_BYTES);
        sl_expect_warned("partitions", 1);
    }
    CU_ASSERT_EQUAL(sl_read_text("apiVersion: v1\nkind: Node\nmetadata:\n  name: n1\n  labels:\n"
                                 "    amd.com/compute-memory-partition: spx_nps1\n"
                                 "status:\n  capacity:\n    amd.com/spx_nps1: \"8\"\n",
                                 NULL),
                    SL_OK);
    sl_expect_number("n1", SL_FIELD_ACCELERATORS, 8);
    sl_expect_unsaid("n1", SL_FIELD_SLICE);
    sl_read_end();
}

/* Schedulers that share devices offer each many times over. */
static void
devices_that_are_offered_often_are_shared(void)
{
    CU_ASSERT_EQUAL(sl_read_text("apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n"
                                 "status:\n  capacity:\n    nvidia.com/gpu: \"80\"\n",
                                 NULL),
                    SL_OK);
    sl_expect_unsaid("n1", SL_FIELD_ACCELERATORS);
    sl_expect_words("n1", SL_FIELD_SLICE, "shared");
    sl_expect_warned("offered_often", 1);
    CU_ASSERT_EQUAL(sl_read_text("apiVersion: v1\nkind: Node\nmetadata:\n  name: n1\n  labels:\n"
                                 "    nvidia.com/gpu.count: \"8\"\n"
                                 "    nvidia.com/gpu.product: NVIDIA-A40\n"
                                 "status:\n  capacity:\n    nvidia.com/gpu: \"80\"\n",
                                 NULL),
                    SL_OK);
    sl_expect_number("n1", SL_FIELD_ACCELERATORS, 8);
    sl_expect_number("n1", SL_FIELD_SLICED_ACCELERATORS, 8);
    sl_expect_words("n1", SL_FIELD_SLICE, "shared by 10");
    CU_ASSERT_EQUAL(sl_read_text("apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n"
                                 "status:\n  capacity:\n    nvidia.com/gpu: \"16\"\n",
                                 NULL),
                    SL_OK);
    sl_expect_number("n1", SL_FIELD_ACCELERATORS, 16);
    sl_expect_unsaid("n1", SL_FIELD_SLICE);
    sl_read_end();
}

/* A resource that may be an accelerator and is none that is read is not passed in silence. */
static void
resources_that_are_not_read_are_told(void)
{
    static const struct {
        const char *resource;
        uint32_t told;
    } resources[] = {{"volcano.sh/vgpu-number", 1},  {"hygon.com/dcu", 1},
                     {"huawei.com/Ascend910B3", 1},  {"aliyun.com/gpu-mem", 1},
                     {"example.com/accelerator", 1}, {"aws.amazon.com/neuroncore", 1},
                     {"smarter-devices/input0", 0},  {"devices.kubevirt.io/kvm", 0},
                     {"rdma/hca_shared", 0}};
    for (size_t i = 0; i < sizeof resources / sizeof resources[0]; i++) {
        char text[256];
        (void)snprintf(text, sizeof text,
                       "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n"
                       "status:\n  capacity:\n    cpu: \"8\"\n    %s: \"8\"\n",
                       resources[i].resource);
        CU_ASSERT_EQUAL(sl_read_text(text, NULL), SL_OK);
        sl_expect_warned("resource_unread", resources[i].told);
    }
    /* Beside what is read it may be anything. */
    CU_ASSERT_EQUAL(sl_read_text("apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus:\n"
                                 "  capacity:\n    nvidia.com/gpu: \"8\"\n"
                                 "    gpu.intel.com/i915_monitoring: \"1\"\n",
                                 NULL),
                    SL_OK);
    sl_expect_warned("resource_unread", 0);
    sl_read_end();
}

/* One vendor's resources may stand for the same devices. */
static void
resources_of_one_vendor_are_no_several(void)
{
    CU_ASSERT_EQUAL(sl_read_text("apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n"
                                 "status:\n  capacity:\n    aws.amazon.com/neuron: \"16\"\n"
                                 "    aws.amazon.com/neurondevice: \"16\"\n",
                                 NULL),
                    SL_OK);
    sl_expect_number("n1", SL_FIELD_ACCELERATORS, 16);
    sl_expect_warned("several_vendors", 0);
    CU_ASSERT_EQUAL(sl_read_text("apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n"
                                 "status:\n  capacity:\n    nvidia.com/gpu: \"2\"\n"
                                 "    gpu.intel.com/i915: \"1\"\n",
                                 NULL),
                    SL_OK);
    sl_expect_number("n1", SL_FIELD_ACCELERATORS, 2);
    sl_expect_warned("several_vendors", 1);
    sl_read_end();
}

/* What is printed for people holds the same, each node on the line of its name. */
static void
descriptions_are_read_as_their_objects(void)
{
    sl_read_fixture("kubernetes_describe.txt", "kubernetes_describe");
    CU_ASSERT_EQUAL(sl_findings_count(sl_read.findings), 2);
    sl_expect_words("gke-h100-pool-1", SL_FIELD_ACCELERATOR, "NVIDIA-H100-80GB-HBM3");
    sl_expect_number("gke-h100-pool-1", SL_FIELD_ACCELERATORS, 8);
    sl_expect_number("gke-h100-pool-1", SL_FIELD_MEMORY_BYTES, 81559 * MIB);
    sl_expect_words("gke-h100-pool-1", SL_FIELD_NODE_TYPE, "a3-highgpu-8g");
    sl_expect_number("gke-h100-pool-1", SL_FIELD_CPUS, 208);
    sl_expect_state("gke-h100-pool-1", SL_HOST_USABLE, NULL);
    CU_ASSERT_EQUAL(sl_read_host("gke-h100-pool-1")->line, 1);
    sl_expect_number("old-2", SL_FIELD_ACCELERATORS, 8);
    sl_expect_unsaid("old-2", SL_FIELD_ACCELERATOR);
    sl_expect_state("old-2", SL_HOST_DOWN, "not ready: NodeStatusUnknown");
    CU_ASSERT_EQUAL(sl_read_host("old-2")->line, 36);
    sl_expect_refused("Capacity:\nAllocatable:\n", "kubernetes_describe", SL_E_SYNTAX,
                      "malformed_description", NULL);
    /* A name that is missing is that of no node. */
    CU_ASSERT_EQUAL(sl_read_text("Name:\nCapacity:\n  nvidia.com/gpu: 8\nAllocatable:\n", NULL),
                    SL_E_UNSUPPORTED);
    sl_read_end();
}

static void
several_documents_are_one_list(void)
{
    sl_read_fixture("kubernetes_nodes.yaml", "kubernetes_nodes");
    CU_ASSERT_EQUAL(sl_findings_count(sl_read.findings), 3);
    sl_expect_state("worker-a", SL_HOST_DRAINED, "cordoned");
    sl_expect_words("worker-a", SL_FIELD_DRIVER, "535.104");
    sl_expect_number("worker-a", SL_FIELD_ACCELERATORS, 4);
    sl_expect_number("worker-a", SL_FIELD_HOST_MEMORY_BYTES, 395 * GIB);
    sl_expect_state("worker-b", SL_HOST_UNSAID, NULL);
    sl_expect_state("worker-c", SL_HOST_DOWN, "not ready: KubeletNotReady, network is not ready");
    CU_ASSERT_EQUAL(sl_read_host("worker-c")->line, 32);
    sl_read_end();
}

static void
lists_come_in_several_shapes(void)
{
    static const char *const shapes[] = {
        "{\"kind\": \"Node\", \"apiVersion\": \"v1\", \"metadata\": {\"name\": \"n1\"}}",
        "{\"kind\": \"NodeList\", \"apiVersion\": \"v1\", \"items\": [{\"metadata\": {\"name\": "
        "\"n1\"}}]}",
        "[{\"kind\": \"Node\", \"apiVersion\": \"v1\", \"metadata\": {\"name\": \"n1\"}}]",
        "[{\"metadata\": {\"name\": \"n1\"}, \"status\": {\"capacity\": {\"cpu\": \"8\"}}}]",
        "\xEF\xBB\xBF{\"kind\": \"Node\", \"apiVersion\": \"v1\", \"metadata\": {\"name\": "
        "\"n1\"}}",
        "kind: Node\napiVersion: v1\nmetadata: {name: n1}\n",
    };
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        CU_ASSERT_EQUAL(sl_read_text(shapes[i], NULL), SL_OK);
        CU_ASSERT_EQUAL(sl_findings_count(sl_read.findings), 1);
        sl_expect_state("n1", SL_HOST_UNSAID, NULL);
    }
    sl_read_end();
}

static void
documents_one_after_another_are_read_as_one(void)
{
    CU_ASSERT_EQUAL(sl_read_text("{\"kind\": \"Node\", \"metadata\": {\"name\": \"a}\\\"1\"}}\n"
                                 "{\n\"kind\": \"Node\", \"metadata\": {\"name\": \"n2\"}}\n\n"
                                 "{\"items\": [\n{\"metadata\": {\"name\": \"n3\"}}]}\n",
                                 "kubernetes_nodes"),
                    SL_OK);
    CU_ASSERT_EQUAL(sl_findings_count(sl_read.findings), 3);
    CU_ASSERT_EQUAL(sl_read_host("n2")->line, 2);
    CU_ASSERT_EQUAL(sl_read_host("n3")->line, 6);
    sl_expect_refused("{\"kind\": \"Node\", \"metadata\": {\"name\": \"n1\"}} x",
                      "kubernetes_nodes", SL_E_SYNTAX, "malformed_json", NULL);
    sl_read_end();
}

static void
elements_are_no_more_than_hosts_can_be(void)
{
    sl_buffer text;
    sl_buffer_init(&text, (size_t)8 << 20);
    sl_buffer_text(&text, "[{}");
    for (uint32_t i = 0; i < SL_DOCUMENT_ELEMENTS_MAX; i++)
        sl_buffer_text(&text, ",{}");
    sl_buffer_text(&text, "]");
    sl_expect_refused(text.data, "kubernetes_nodes", SL_E_RANGE, "too_many", NULL);
    sl_read_end();
    sl_buffer_clear(&text);
}

static void
what_is_no_list_of_nodes_is_refused(void)
{
    sl_expect_refused("{\"kind\": \"List\", \"apiVersion\": \"v1\", \"items\": []}", NULL,
                      SL_E_UNSUPPORTED, "no_nodes", "holds no nodes, and 0 objects of other kinds");
    sl_expect_refused("{\"kind\": \"List\", \"apiVersion\": \"v1\", \"items\": [{]}", NULL,
                      SL_E_SYNTAX, "malformed_json", NULL);
    sl_expect_refused("apiVersion: v1\nkind: List\nitems:\n- kind: [\n", NULL, SL_E_SYNTAX,
                      "malformed_yaml", NULL);
    sl_expect_refused("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n", "kubernetes_nodes",
                      SL_E_UNSUPPORTED, "no_nodes", NULL);
    sl_expect_refused("", "kubernetes_nodes", SL_E_UNSUPPORTED, "no_nodes", NULL);
    /* A name that is a list of names stays one node. */
    CU_ASSERT_EQUAL(sl_read_text("apiVersion: v1\nkind: Node\nmetadata: {name: 'n[1-3]'}\n", NULL),
                    SL_OK);
    CU_ASSERT_EQUAL(sl_findings_count(sl_read.findings), 1);
    sl_expect_warned("odd_name", 1);
    sl_read_end();
}

static void
a_real_node_is_read(void)
{
    if (!sl_read_shared("k8s_node_t4_gfd.yaml", "kubernetes_nodes")) {
        sl_skip("no real files beside the checkout");
        return;
    }
    CU_ASSERT_EQUAL(sl_findings_count(sl_read.findings), 1);
    const sl_found_host *const host = sl_findings_host(sl_read.findings, 0);
    sl_expect_state(host->name, SL_HOST_USABLE, NULL);
    sl_expect_words(host->name, SL_FIELD_ACCELERATOR, "Tesla-T4");
    sl_expect_number(host->name, SL_FIELD_ACCELERATORS, 2);
    sl_expect_number(host->name, SL_FIELD_MEMORY_BYTES, 15360 * MIB);
    sl_expect_words(host->name, SL_FIELD_DRIVER, "525.60.13");
    sl_expect_words(host->name, SL_FIELD_NODE_TYPE, "Google-Compute-Engine");
    sl_expect_number(host->name, SL_FIELD_HOST_MEMORY_BYTES, 123662920.0 * 1024.0);
    sl_expect_number(host->name, SL_FIELD_CPUS, 32);
    sl_expect_unsaid(host->name, SL_FIELD_SLICE);
    sl_expect_warned("fewer_offered", 0);
    sl_read_end();
}

/* Nobody keeps work from such nodes, so that an operator has to be told. */
static void
what_ails_a_node_that_works_is_told(void)
{
    static const char nodes[] =
        "{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": ["
        "{\"kind\": \"Node\", \"metadata\": {\"name\": \"a\"}, \"status\": {"
        "\"capacity\": {\"nvidia.com/gpu\": \"8\", \"memory\": \"64Gi\"}, "
        "\"allocatable\": {\"nvidia.com/gpu\": \"7\", \"memory\": \"60Gi\"}, \"conditions\": ["
        "{\"type\": \"Ready\", \"status\": \"True\"}, "
        "{\"type\": \"AcceleratedHardwareReady\", \"status\": \"False\", "
        "\"reason\": \"NvidiaXID79Error\"}]}},"
        "{\"kind\": \"Node\", \"metadata\": {\"name\": \"b\"}, \"status\": {"
        "\"capacity\": {\"nvidia.com/gpu\": \"8\"}, \"allocatable\": {\"nvidia.com/gpu\": \"8\"}, "
        "\"conditions\": [{\"type\": \"Ready\", \"status\": \"True\"}, "
        "{\"type\": \"StorageReady\", \"status\": \"True\"}, "
        "{\"type\": \"XIDErrors\", \"status\": \"False\"}, "
        "{\"type\": \"DiskPressure\", \"status\": \"Unknown\"}]}},"
        "{\"kind\": \"Node\", \"metadata\": {\"name\": \"cp\"}, \"status\": {"
        "\"conditions\": [{\"type\": \"EtcdIsVoter\", \"status\": \"True\"}]}}]}";

    CU_ASSERT_EQUAL(sl_read_text(nodes, NULL), SL_OK);
    sl_expect_warned("unhealthy_devices", 1);
    sl_expect_warned("node_condition", 1);
    sl_expect_number("a", SL_FIELD_ACCELERATORS, 8);
    sl_expect_state("a", SL_HOST_USABLE, NULL);
    sl_read_end();
}

/* A cut device and its slices count together; what a node does not say is not held against it. */
static void
a_node_that_lets_no_device_be_used_is_drained(void)
{
    static const struct {
        const char *capacity, *allocatable, *reason;
    } nodes[] = {
        {"\"nvidia.com/gpu\": \"8\"", "\"nvidia.com/gpu\": \"0\"",
         "nothing of what it offers is allocatable"},
        {"\"amd.com/gpu\": 4", "\"amd.com/gpu\": 0", "nothing of what it offers is allocatable"},
        {"\"nvidia.com/gpu\": \"1\", \"nvidia.com/mig-1g.5gb\": \"7\"",
         "\"nvidia.com/gpu\": \"0\", \"nvidia.com/mig-1g.5gb\": \"7\"", NULL},
        {"\"nvidia.com/gpu\": \"8\"", "\"memory\": \"1Gi\"", NULL},
        {"\"nvidia.com/gpu\": \"0\"", "\"nvidia.com/gpu\": \"0\"", NULL},
        {"\"nvidia.com/gpu\": \"8\"", "\"nvidia.com/gpu\": \"1\"", NULL},
    };
    for (size_t i = 0; i < sizeof nodes / sizeof nodes[0]; i++) {
        char text[1024];
        CU_ASSERT(sl_text_format(
            text, sizeof text,
            "{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": [{\"kind\": \"Node\", "
            "\"metadata\": {\"name\": \"a\"}, \"status\": {\"capacity\": {%s}, "
            "\"allocatable\": {%s}, "
            "\"conditions\": [{\"type\": \"Ready\", \"status\": \"True\"}]}}]}",
            nodes[i].capacity, nodes[i].allocatable));
        CU_ASSERT_EQUAL(sl_read_text(text, NULL), SL_OK);
        sl_expect_state("a", nodes[i].reason != NULL ? SL_HOST_DRAINED : SL_HOST_USABLE,
                        nodes[i].reason);
        sl_read_end();
    }
}

static void
what_ails_a_described_node_is_told(void)
{
    static const char node[] =
        "Name:               n1\nConditions:\n"
        "  Type         Status  LastHeartbeatTime                 LastTransitionTime               "
        " "
        "Reason        Message\n"
        "  ----         ------  -----------------                 ------------------               "
        " "
        "------        -------\n"
        "  XidErrors    True    Mon, 01 Jan 2024 00:00:00 +0000   Mon, 01 Jan 2024 00:00:00 +0000  "
        " "
        "Xid79         gpu lost\n"
        "  DiskPressure False   Mon, 01 Jan 2024 00:00:00 +0000   Mon, 01 Jan 2024 00:00:00 +0000  "
        " "
        "Enough        has space\n"
        "  Ready        True    Mon, 01 Jan 2024 00:00:00 +0000   Mon, 01 Jan 2024 00:00:00 +0000  "
        " "
        "KubeletReady  is ready\n"
        "Capacity:\n  nvidia.com/gpu:     8\nAllocatable:\n  nvidia.com/gpu:     7\n";

    CU_ASSERT_EQUAL(sl_read_text(node, "kubernetes_describe"), SL_OK);
    sl_expect_state("n1", SL_HOST_USABLE, NULL);
    sl_expect_warned("node_condition", 1);
    sl_expect_warned("unhealthy_devices", 1);
    sl_read_end();
}

static const sl_case cases[] = {
    SL_CASE(nodes_of_a_list_are_hosts_with_what_their_labels_say),
    SL_CASE(states_are_told_apart),
    SL_CASE(slices_and_shares_are_not_devices),
    SL_CASE(nodes_of_one_clique_are_one_domain),
    SL_CASE(clouds_say_types_and_cards),
    SL_CASE(other_vendors_are_read),
    SL_CASE(partitions_of_amd_are_not_devices),
    SL_CASE(devices_that_are_offered_often_are_shared),
    SL_CASE(resources_that_are_not_read_are_told),
    SL_CASE(resources_of_one_vendor_are_no_several),
    SL_CASE(what_ails_a_node_that_works_is_told),
    SL_CASE(a_node_that_lets_no_device_be_used_is_drained),
    SL_CASE(what_ails_a_described_node_is_told),
    SL_CASE(descriptions_are_read_as_their_objects),
    SL_CASE(several_documents_are_one_list),
    SL_CASE(lists_come_in_several_shapes),
    SL_CASE(documents_one_after_another_are_read_as_one),
    SL_CASE(elements_are_no_more_than_hosts_can_be),
    SL_CASE(what_is_no_list_of_nodes_is_refused),
    SL_CASE(a_real_node_is_read),
};

int
main(int argc, char **argv)
{
    sl_json_start();
    return sl_run_cases(argc, argv, "intake_kubernetes", cases, sizeof cases / sizeof cases[0]);
}
