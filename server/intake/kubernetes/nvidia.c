#include "intake/kubernetes/nvidia.h"

#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "intake/vgpu.h"

/* No node holds more devices than WHOLE_MAX: what is offered more often is shared. */
enum { NAME_SIZE = SL_KUBERNETES_TEXT_SIZE, PER_NODE_MAX = 1 << 12, WHOLE_MAX = 16 };

static const double MIB = 1024.0 * 1024.0;

/* What the product's name tells beside the name. */
typedef struct product {
    char profile[NAME_SIZE]; /* "1g.5gb" where the node's devices are slices; "INVALID" */
    bool shared;
} product;

/* "A100-SXM4-40GB-MIG-1g.5gb-SHARED": name becomes the part's own. */
static product
take_product(char name[NAME_SIZE])
{
    static const char shared[] = "-SHARED", cut[] = "-MIG-";
    product p = {.shared = sl_text_ends_with(name, shared)};

    if (p.shared)
        name[strlen(name) - strlen(shared)] = '\0';
    char *const mig = strstr(name, cut);
    if (mig != NULL) {
        (void)sl_text_copy(p.profile, sizeof p.profile, mig + strlen(cut));
        *mig = '\0';
    }
    return p;
}

static double
label_number(const sl_kubernetes_node *node, const char *name)
{
    const char *const text = sl_kubernetes_label(node, name);
    double number = 0.0;
    return text != NULL && sl_text_to_double(text, &number) && number <= PER_NODE_MAX ? number
                                                                                      : 0.0;
}

/* Into node->slice "MIG 1g.5gb, MIG 2g.10gb" of the slices that are offered by their own names.
 * False: none. */
static bool
take_profiles(sl_kubernetes_node *node)
{
    static const char prefix[] = "nvidia.com/mig-", shared[] = ".shared";
    void *state = NULL;
    sl_node resource;

    node->slice[0] = '\0';
    while (node->has_capacity && sl_node_next(&node->capacity, &state, &resource)) {
        double count = 0.0;
        if (strncmp(resource.key, prefix, strlen(prefix)) != 0 ||
            !sl_kubernetes_quantity(&resource, &count) || count <= 0)
            continue;
        const size_t used = strlen(node->slice);
        char profile[NAME_SIZE];
        (void)sl_text_copy(profile, sizeof profile, resource.key + strlen(prefix));
        if (sl_text_ends_with(profile, shared))
            profile[strlen(profile) - strlen(shared)] = '\0';
        (void)sl_text_format(node->slice + used, sizeof node->slice - used, "%sMIG %s",
                             used > 0 ? ", " : "", profile);
    }
    return node->slice[0] != '\0';
}

/* All devices are cut alike, and what counts and offers them means their slices. */
static void
read_slices(sl_kubernetes_node *node, const product *p, const char *path, sl_facts *facts)
{
    const bool invalid = sl_text_equal(p->profile, "INVALID");

    (void)sl_text_format(node->slice, sizeof node->slice, "MIG%s%s", invalid ? "" : " ",
                         invalid ? "" : p->profile);
    sl_facts_text(facts, SL_FIELD_SLICE, node->slice, node->line, path);
    if (invalid)
        sl_findings_warn(node->findings, "mig_invalid", node->line, path,
                         "%.60s has devices with and without slices, or slices of several sizes, "
                         "which its MIG strategy cannot offer",
                         node->name);
    else
        sl_findings_warn(node->findings, "mig_slices", node->line, path,
                         "%.60s is offered as slices (%.60s): count and memory are theirs, those "
                         "of the devices are not printed",
                         node->accelerator, node->slice);
}

/* Several containers on one device. */
static void
read_shared(sl_kubernetes_node *node, double count, double replicas, sl_facts *facts)
{
    static const char path[] = "nvidia.com/gpu.replicas";
    const char *const strategy = sl_kubernetes_label(node, "nvidia.com/gpu.sharing-strategy");

    if (replicas > 1)
        (void)sl_text_format(node->slice, sizeof node->slice, "shared by %.0f%s", replicas,
                             strategy != NULL && sl_text_equal(strategy, "mps") ? " (MPS)" : "");
    else
        (void)sl_text_copy(node->slice, sizeof node->slice, "shared");
    sl_facts_text(facts, SL_FIELD_SLICE, node->slice, node->line, path);
    sl_facts_number(facts, SL_FIELD_SLICED_ACCELERATORS, count, node->line, path);
}

/* Whole devices: how many there are, of them cut or shared. The label counts devices, the capacity
 * what is offered of them. */
static void
read_whole(sl_kubernetes_node *node, bool shared, sl_facts *facts)
{
    static const char label[] = "nvidia.com/gpu.count", cut[] = "capacity nvidia.com/mig-*";
    const double clients = label_number(node, "cloud.google.com/gke-max-shared-clients-per-gpu");
    const double labelled_replicas = label_number(node, "nvidia.com/gpu.replicas");
    const double replicas = labelled_replicas > 1 ? labelled_replicas : clients;
    const double renamed = sl_kubernetes_capacity(node, "nvidia.com/gpu.shared");
    const double capacity = renamed > 0 ? renamed : sl_kubernetes_capacity(node, "nvidia.com/gpu");
    const double labelled = label_number(node, label);
    const double shares = replicas > 1                          ? replicas
                          : labelled > 0 && capacity > labelled ? capacity / labelled
                                                                : 1.0;
    const double offered = capacity / shares;
    const double count = labelled > 0 ? labelled : offered;

    if (labelled <= 0 && offered > WHOLE_MAX) {
        sl_facts_text(facts, SL_FIELD_SLICE, "shared", node->line, "capacity nvidia.com/gpu");
        sl_findings_warn(node->findings, "offered_often", node->line, "capacity nvidia.com/gpu",
                         "nodes offer nvidia.com/gpu %.0f times: devices are shared, and how many "
                         "there are is not printed",
                         capacity);
        return;
    }

    if (count != (double)(uint64_t)count) /* shared by a number that it does not say */
        return;
    sl_facts_number(facts, SL_FIELD_ACCELERATORS, count, node->line,
                    labelled > 0 ? label : "capacity nvidia.com/gpu");
    if (take_profiles(node)) {
        sl_facts_text(facts, SL_FIELD_SLICE, node->slice, node->line, cut);
        sl_facts_number(facts, SL_FIELD_SLICED_ACCELERATORS, count - offered, node->line, cut);
        return;
    }
    if (shared || shares > 1)
        read_shared(node, count, shares, facts);
    if (labelled > 0 && offered <= 0)
        sl_findings_warn(node->findings, "none_offered", node->line, "capacity nvidia.com/gpu",
                         "nodes have devices by their labels and offer none");
    else if (labelled > 0 && offered < labelled)
        sl_findings_warn(node->findings, "fewer_offered", node->line, "capacity nvidia.com/gpu",
                         "%.60s has %.0f devices and offers %.0f", node->name, labelled, offered);
}

/* "525.60.13", whole or in parts. */
static void
read_driver(sl_kubernetes_node *node, sl_facts *facts)
{
    static const char full[] = "nvidia.com/cuda.driver-version.full";
    const char *const major = sl_kubernetes_label(node, "nvidia.com/cuda.driver.major");
    const char *const minor = sl_kubernetes_label(node, "nvidia.com/cuda.driver.minor");
    const char *const revision = sl_kubernetes_label(node, "nvidia.com/cuda.driver.rev");

    sl_facts_text(facts, SL_FIELD_DRIVER, sl_kubernetes_label(node, full), node->line, full);
    if (facts->field[SL_FIELD_DRIVER].said || major == NULL || minor == NULL)
        return;
    (void)sl_text_format(node->driver, sizeof node->driver, "%s.%s%s%s", major, minor,
                         revision != NULL ? "." : "", revision != NULL ? revision : "");
    sl_facts_text(facts, SL_FIELD_DRIVER, node->driver, node->line, "nvidia.com/cuda.driver.*");
}

/* Who names the part, the surest first. */
static const char *
name_label(const sl_kubernetes_node *node)
{
    static const char *const labels[] = {"nvidia.com/gpu.product",
                                         "gpu.nvidia.com/model",
                                         "gpu.nvidia.com/class",
                                         "cloud.google.com/gke-accelerator",
                                         "karpenter.k8s.aws/instance-gpu-name",
                                         "eks.amazonaws.com/instance-gpu-name",
                                         "karpenter.azure.com/sku-gpu-name",
                                         "aliyun.accelerator/nvidia_name",
                                         "k8s.amazonaws.com/accelerator"};
    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++)
        if (sl_kubernetes_label(node, labels[i]) != NULL)
            return labels[i];
    return NULL;
}

/* What those say who state what a machine has, rather than look at it. */
static void
read_stated(const sl_kubernetes_node *node, sl_facts *facts)
{
    static const char *const counts[] = {
        "gpu.nvidia.com/count", "karpenter.k8s.aws/instance-gpu-count",
        "eks.amazonaws.com/instance-gpu-count", "karpenter.azure.com/sku-gpu-count"};
    static const char *const memories[] = {"karpenter.k8s.aws/instance-gpu-memory",
                                           "eks.amazonaws.com/instance-gpu-memory"};
    double mib = 0.0;

    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        if (!facts->field[SL_FIELD_ACCELERATORS].said)
            sl_facts_number(facts, SL_FIELD_ACCELERATORS, label_number(node, counts[i]), node->line,
                            counts[i]);
    for (size_t i = 0; i < sizeof memories / sizeof memories[0]; i++) {
        const char *const text = sl_kubernetes_label(node, memories[i]);
        if (text != NULL && sl_text_to_double(text, &mib))
            sl_facts_number(facts, SL_FIELD_NOMINAL_MEMORY_BYTES, mib * MIB, node->line,
                            memories[i]);
    }
}

/* Shares that machines on the node are given, offered by the names of their types:
 * "nvidia.com/NVIDIA_A10-12Q". */
static void
read_vgpus(sl_kubernetes_node *node, sl_facts *facts)
{
    static const char prefix[] = "nvidia.com/";
    void *state = NULL;
    sl_node resource;
    sl_vgpu vgpu;
    double count = 0.0;

    while (node->has_capacity && !facts->field[SL_FIELD_ACCELERATOR].said &&
           sl_node_next(&node->capacity, &state, &resource)) {
        if (strncmp(resource.key, prefix, strlen(prefix)) != 0 ||
            !sl_vgpu_read(resource.key + strlen(prefix), &vgpu) ||
            !sl_kubernetes_quantity(&resource, &count) || count <= 0)
            continue;
        (void)sl_text_copy(node->accelerator, sizeof node->accelerator,
                           resource.key + strlen(prefix));
        sl_facts_text(facts, SL_FIELD_ACCELERATOR, node->accelerator, node->line, "capacity");
        sl_facts_number(facts, SL_FIELD_ACCELERATORS, count, node->line, "capacity");
    }
}

void
sl_kubernetes_nvidia(sl_kubernetes_node *node, sl_facts *facts)
{
    assert(node != NULL && facts != NULL);

    static const char memory[] = "nvidia.com/gpu.memory";
    static const char partition[] = "cloud.google.com/gke-gpu-partition-size";
    const char *const named = name_label(node);
    const char *const gke = sl_kubernetes_label(node, partition);
    const char *const mib_text = sl_kubernetes_label(node, memory);
    product p = {.shared = false};
    double mib = 0.0;

    if (named != NULL) {
        (void)sl_text_copy(node->accelerator, sizeof node->accelerator,
                           sl_kubernetes_label(node, named));
        p = take_product(node->accelerator);
        sl_facts_text(facts, SL_FIELD_ACCELERATOR, node->accelerator, node->line, named);
    }
    const bool by_gke = p.profile[0] == '\0' && gke != NULL &&
                        sl_kubernetes_label(node, "nvidia.com/gpu.count") == NULL;
    if (by_gke)
        (void)sl_text_copy(p.profile, sizeof p.profile, gke);
    read_driver(node, facts);
    if (p.profile[0] != '\0') {
        read_slices(node, &p, by_gke ? partition : "nvidia.com/gpu.product", facts);
    } else {
        read_whole(node, p.shared, facts);
        if (mib_text != NULL && sl_text_to_double(mib_text, &mib))
            sl_facts_number(facts, SL_FIELD_MEMORY_BYTES, mib * MIB, node->line, memory);
    }
    read_stated(node, facts);
    read_vgpus(node, facts);
}
