#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "intake/kubernetes/kubernetes.h"

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

enum { QUANTITY_SIZE = 40 };

const char *
sl_kubernetes_label(const sl_kubernetes_node *node, const char *name)
{
    return node->labelled ? sl_document_words(&node->labels, name) : NULL;
}

bool
sl_kubernetes_quantity(const sl_node *value, double *out)
{
    static const struct {
        const char *suffix;
        double scale;
    } units[] = {{"", 1.0},      {"m", 1e-3},    {"k", 1e3},     {"M", 1e6},
                 {"G", 1e9},     {"T", 1e12},    {"P", 1e15},    {"Ki", 1024.0},
                 {"Mi", 0x1p20}, {"Gi", 0x1p30}, {"Ti", 0x1p40}, {"Pi", 0x1p50}};
    sl_errors ignored;
    sl_errors_begin(&ignored, true);
    const char *text = NULL;
    char number[QUANTITY_SIZE];

    if (sl_document_as_number(value, out))
        return true;
    if (sl_node_kind(value) != SL_JSON_TEXT || sl_node_as_text(value, &text, &ignored) != SL_OK ||
        !sl_text_copy(number, sizeof number, text))
        return false;
    const size_t digits = strspn(number, "0123456789.");
    for (size_t i = 0; i < COUNT(units); i++) {
        if (!sl_text_equal(number + digits, units[i].suffix))
            continue;
        number[digits] = '\0';
        double amount = 0.0;
        if (!sl_text_to_double(number, &amount))
            return false;
        *out = amount * units[i].scale;
        return true;
    }
    return false;
}

double
sl_kubernetes_capacity(const sl_kubernetes_node *node, const char *resource)
{
    sl_node value;
    double amount = 0.0;
    const bool said = (node->has_capacity && sl_node_member(&node->capacity, resource, &value)) ||
                      (!node->has_capacity && node->has_allocatable &&
                       sl_node_member(&node->allocatable, resource, &value));
    return said && sl_kubernetes_quantity(&value, &amount) && amount > 0 ? amount : 0.0;
}

/* The first of these labels that the node has, or NULL. */
static const char *
first_label(const sl_kubernetes_node *node, const char *const *labels, size_t count,
            const char **path)
{
    for (size_t i = 0; i < count; i++) {
        const char *const value = sl_kubernetes_label(node, labels[i]);
        if (value != NULL) {
            if (path != NULL)
                *path = labels[i];
            return value;
        }
    }
    return NULL;
}

/* Distributions write their own name where clouds write the type of the machine. */
static bool
is_machine(const char *type)
{
    static const char *const none[] = {"k3s", "rke2", "k0s", "microk8s", "unknown"};
    return sl_text_index(type, none, COUNT(none)) < 0;
}

static void
read_machine(const sl_kubernetes_node *node, sl_facts *facts)
{
    static const char *const types[] = {"node.kubernetes.io/instance-type",
                                        "beta.kubernetes.io/instance-type",
                                        "nvidia.com/gpu.machine"};
    for (size_t i = 0; i < COUNT(types) && !facts->field[SL_FIELD_NODE_TYPE].said; i++) {
        const char *const type = sl_kubernetes_label(node, types[i]);
        if (type != NULL && is_machine(type))
            sl_facts_text(facts, SL_FIELD_NODE_TYPE, type, node->line, types[i]);
    }
    sl_facts_number(facts, SL_FIELD_HOST_MEMORY_BYTES, sl_kubernetes_capacity(node, "memory"),
                    node->line, "capacity memory");
    sl_facts_number(facts, SL_FIELD_CPUS, floor(sl_kubernetes_capacity(node, "cpu")), node->line,
                    "capacity cpu");
}

/* Where the node stands and whom it is one of. */
static void
read_place(const sl_kubernetes_node *node, sl_found_host *host)
{
    static const char *const domains[] = {"nvidia.com/gpu.clique",
                                          "network.topology.nvidia.com/accelerator"};
    static const char *const leaves[] = {"network.topology.nvidia.com/leaf",
                                         "network.topology.nvidia.com/block",
                                         "topology.k8s.aws/network-node-layer-3",
                                         "oci.oraclecloud.com/rdma.local_block_id",
                                         "oci.oraclecloud.com/host.rdma.local_block_id",
                                         "cloud.google.com/gce-topology-subblock",
                                         "ib.coreweave.cloud/leafgroup",
                                         "topology.kubernetes.io/rack"};
    static const char *const pools[] = {"cloud.google.com/gke-nodepool",
                                        "eks.amazonaws.com/nodegroup",
                                        "alpha.eksctl.io/nodegroup-name",
                                        "kubernetes.azure.com/agentpool",
                                        "karpenter.sh/nodepool",
                                        "karpenter.sh/provisioner-name",
                                        "compute.coreweave.com/node-pool",
                                        "nebius.com/node-group-id",
                                        "agentpool"};
    static const char *const clusters[] = {"alpha.eksctl.io/cluster-name",
                                           "kubernetes.azure.com/cluster"};
    host->domain = first_label(node, domains, COUNT(domains), NULL);
    host->leaf = first_label(node, leaves, COUNT(leaves), NULL);
    host->pool = first_label(node, pools, COUNT(pools), NULL);
    const char *const cluster = first_label(node, clusters, COUNT(clusters), NULL);
    if (cluster != NULL)
        sl_findings_cluster_name(node->findings, cluster);
}

/* "is not ready: KubeletNotReady, container runtime is down". */
static void
read_conditions(sl_kubernetes_node *node, const sl_node *status, sl_found_host *host)
{
    sl_node conditions, condition;

    if (!sl_document_array(status, "conditions", &conditions))
        return;
    for (size_t i = 0; sl_node_at(&conditions, i, &condition); i++) {
        const char *const type = sl_document_words(&condition, "type");
        const char *const value = sl_document_words(&condition, "status");
        if (type == NULL || value == NULL || !sl_text_equal(type, "Ready"))
            continue;
        host->state = sl_text_equal(value, "True") ? SL_HOST_USABLE : SL_HOST_DOWN;
        if (host->state == SL_HOST_USABLE)
            return;
        const char *const reason = sl_document_words(&condition, "reason");
        const char *const message = sl_document_words(&condition, "message");
        (void)sl_text_format(node->reason, sizeof node->reason, "not ready%s%s%s%s",
                             reason != NULL ? ": " : "", reason != NULL ? reason : "",
                             message != NULL ? ", " : "", message != NULL ? message : "");
        host->reason = node->reason;
        return;
    }
}

/* What watches over nodes says of them in conditions of its own, "XIDErrors" and the like: bad
 * where True, but those that end in Ready where False. They keep no work away. */
static void
warn_of_conditions(const sl_kubernetes_node *node, const sl_node *element)
{
    static const char ready[] = "Ready";
    sl_node status, conditions, condition;

    if (!sl_document_object(element, "status", &status) ||
        !sl_document_array(&status, "conditions", &conditions))
        return;
    for (size_t i = 0; sl_node_at(&conditions, i, &condition); i++) {
        const char *const type = sl_document_words(&condition, "type");
        const char *const value = sl_document_words(&condition, "status");
        if (type == NULL || value == NULL || sl_text_equal(type, ready) ||
            !sl_text_equal(value, sl_text_ends_with(type, ready) ? "False" : "True"))
            continue;
        const char *const reason = sl_document_words(&condition, "reason");
        sl_findings_warn(node->findings, "node_condition", node->line, "conditions",
                         "%.60s says %.60s is %s%s%.60s: it is counted all the same", node->name,
                         type, value, reason != NULL ? ", " : "", reason != NULL ? reason : "");
    }
}

/* Taints by which Kubernetes and what scales clusters keep work away; others choose who may
 * come. */
static void
read_taints(const sl_node *spec, sl_found_host *host)
{
    static const struct {
        const char *key;
        sl_host_state state;
        const char *reason;
    } known[] = {
        {"node.kubernetes.io/unschedulable", SL_HOST_DRAINED, "cordoned"},
        {"ToBeDeletedByClusterAutoscaler", SL_HOST_DRAINED, "to be deleted by the autoscaler"},
        {"karpenter.sh/disrupted", SL_HOST_DRAINED, "to be replaced by Karpenter"},
        {"karpenter.sh/disruption", SL_HOST_DRAINED, "to be replaced by Karpenter"},
        {"node.kubernetes.io/out-of-service", SL_HOST_DOWN, "out of service"},
        {"node.cloudprovider.kubernetes.io/shutdown", SL_HOST_DOWN, "shut down"},
        {"node.kubernetes.io/unreachable", SL_HOST_DOWN, "unreachable"},
        {"node.kubernetes.io/not-ready", SL_HOST_DOWN, "not ready"},
    };
    sl_node taints, taint;

    if (!sl_document_array(spec, "taints", &taints))
        return;
    for (size_t i = 0; sl_node_at(&taints, i, &taint); i++) {
        const char *const key = sl_document_words(&taint, "key");
        for (size_t j = 0; key != NULL && j < COUNT(known); j++) {
            if (sl_text_equal(key, known[j].key) && known[j].state > host->state) {
                host->state = known[j].state;
                host->reason = known[j].reason;
            }
        }
    }
}

/* Ready, and nothing that it offers is: no job of ours gets there. */
static void
read_offer(const sl_kubernetes_node *node, sl_found_host *host)
{
    if (node->offered <= 0 || node->usable > 0 || host->state >= SL_HOST_DRAINED)
        return;
    host->state = SL_HOST_DRAINED;
    host->reason = "nothing of what it offers is allocatable";
}

/* Behind the devices, whose health counts. */
static void
read_state(sl_kubernetes_node *node, const sl_node *element, const sl_node *metadata,
           sl_found_host *host)
{
    sl_node status, spec, deleted;
    sl_errors ignored;
    sl_errors_begin(&ignored, true);
    bool cordoned = false;

    if (sl_document_object(element, "status", &status))
        read_conditions(node, &status, host);
    if (sl_document_object(element, "spec", &spec)) {
        read_taints(&spec, host);
        if (sl_node_bool(&spec, "unschedulable", &cordoned, NULL, &ignored) != SL_OK)
            cordoned = false;
    }
    const bool leaving = sl_node_member(metadata, "deletionTimestamp", &deleted);
    if ((cordoned || leaving) && host->state < SL_HOST_DRAINED) {
        host->state = SL_HOST_DRAINED;
        host->reason = cordoned ? "cordoned" : "being deleted";
    }
    read_offer(node, host);
}

typedef struct reading {
    sl_findings *findings;
    uint32_t nodes;
    uint32_t others; /* objects of other kinds */
    uint32_t elements;
} reading;

static sl_code
take_node(void *context, const sl_node *element, uint32_t line, sl_errors *err)
{
    reading *const r = context;
    const char *const kind = sl_document_words(element, "kind");
    sl_node metadata, status;
    const sl_code code = sl_document_count(&r->elements, err);
    if (code != SL_OK)
        return code;

    const char *const name = sl_document_object(element, "metadata", &metadata)
                                 ? sl_document_words(&metadata, "name")
                                 : NULL;
    /* Elements of the API's own NodeList do not say what they are. */
    if (name == NULL || (kind != NULL && !sl_text_equal(kind, "Node"))) {
        r->others++;
        const bool nameless = name == NULL && (kind == NULL || sl_text_equal(kind, "Node"));
        sl_findings_warn(r->findings, "not_a_node", line, "kind",
                         "%s%.60s is no node of a cluster: passed over",
                         nameless ? "an object without a name" : "a ", nameless ? "" : kind);
        return SL_OK;
    }
    sl_kubernetes_node node = {.name = name, .line = line, .findings = r->findings};
    node.labelled = sl_document_object(&metadata, "labels", &node.labels);
    if (sl_document_object(element, "status", &status)) {
        node.has_capacity = sl_document_object(&status, "capacity", &node.capacity);
        node.has_allocatable = sl_document_object(&status, "allocatable", &node.allocatable);
    }
    sl_facts facts = {0};
    sl_found_host host = {.name = name, .count = 1, .line = line};
    read_machine(&node, &facts);
    sl_kubernetes_devices(&node, &facts);
    sl_kubernetes_nics(&node, &facts);
    read_place(&node, &host);
    read_state(&node, element, &metadata, &host);
    if (facts.field[SL_FIELD_ACCELERATORS].said)
        warn_of_conditions(&node, element);
    r->nodes++;
    return sl_document_add(r->findings, &host, &facts, err);
}

static sl_code
read_nodes(const sl_raw *raw, sl_findings *findings, sl_errors *err)
{
    reading r = {.findings = findings};
    const sl_code code = sl_kubernetes_objects(raw, take_node, &r, err);

    if (code != SL_OK || r.nodes > 0)
        return code;
    (void)sl_fail(err, SL_E_UNSUPPORTED, "no_nodes", "",
                  "holds no nodes, and %u objects of other kinds", r.others);
    sl_hint(err, "kubectl get nodes -o json");
    return SL_E_UNSUPPORTED;
}

static uint32_t
recognise(const sl_sample *sample)
{
    /* Slices name the node that owns each. */
    if (sl_kubernetes_slices_format.recognise(sample) > 0)
        return 0;
    /* What nodes use is told with their labels, and without what they have. */
    if (sl_sample_holds(sample, "\"NodeMetrics") ||
        sl_sample_line_begins(sample, "kind: NodeMetrics"))
        return 0;
    if (sample->shape == SL_SHAPE_JSON) {
        /* The items of the API's own list, alone, do not say what they are. */
        if (sl_sample_has_key(sample, "metadata") && sl_sample_has_key(sample, "status") &&
            sl_sample_holds(sample, "\"capacity\"") && !sl_sample_has_key(sample, "kind"))
            return 90;
        if (!sl_sample_has_key(sample, "kind") && !sl_sample_has_key(sample, "items"))
            return 0;
        const bool node = sl_sample_holds(sample, "\"Node\"") ||
                          sl_sample_holds(sample, "\"NodeList\"") ||
                          sl_sample_holds(sample, "kubernetes.io/hostname");
        const bool object = sl_sample_has_key(sample, "apiVersion");
        return node ? 95 : object && sl_sample_has_key(sample, "items") ? 60 : 0;
    }
    if (sample->shape != SL_SHAPE_TEXT || (!sl_sample_line_begins(sample, "apiVersion:") &&
                                           !sl_sample_line_begins(sample, "- apiVersion:")))
        return 0;
    return sl_sample_line_begins(sample, "kind: Node") ||
                   sl_sample_holds(sample, "kubernetes.io/hostname")
               ? 95
           : sl_sample_line_begins(sample, "items:") ? 60
                                                     : 0;
}

const sl_format sl_kubernetes_nodes_format = {
    "kubernetes_nodes", "kubectl get nodes -o json or yaml", recognise, read_nodes, 60};
static const sl_format *const formats[] = {
    &sl_kubernetes_nodes_format, &sl_kubernetes_slices_format, &sl_kubernetes_describe_format};

const sl_formats sl_kubernetes_formats = {formats, COUNT(formats)};
