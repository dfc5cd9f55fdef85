#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "intake/kubernetes/kubernetes.h"
#include "intake/kubernetes/nvidia.h"

enum { NICS_MAX = 64 };

static const double GIB = 1024.0 * 1024.0 * 1024.0;

/* A device plugin that offers whole devices and says little else. */
typedef struct plain_device {
    const char *resource;
    const char *names[4]; /* labels that name the part, the surest first */
    const char *fallback; /* the part, where the resource itself says so much */
} plain_device;

static const plain_device plain_devices[] = {
    {"google.com/tpu", {"cloud.google.com/gke-tpu-accelerator", NULL}, NULL},
    {"aws.amazon.com/neuron", {"karpenter.k8s.aws/instance-accelerator-name", NULL}, NULL},
    {"aws.amazon.com/neurondevice", {"karpenter.k8s.aws/instance-accelerator-name", NULL}, NULL},
    {"habana.ai/gaudi", {"habana.ai/product", NULL}, "habana.ai/gaudi"},
    {"gpu.intel.com/i915", {"gpu.intel.com/product", "gpu.intel.com/family", NULL}, NULL},
    {"gpu.intel.com/xe", {"gpu.intel.com/product", "gpu.intel.com/family", NULL}, NULL},
    {"huawei.com/Ascend910", {"node.kubernetes.io/npu.chip.name", NULL}, "Ascend910"},
    {"huawei.com/Ascend310P", {"node.kubernetes.io/npu.chip.name", NULL}, "Ascend310P"},
};

static void
read_plain(const sl_kubernetes_node *node, const plain_device *device, sl_facts *facts)
{
    const double count = sl_kubernetes_capacity(node, device->resource);
    if (count <= 0)
        return;
    sl_facts_number(facts, SL_FIELD_ACCELERATORS, count, node->line, device->resource);
    for (size_t i = 0; device->names[i] != NULL && !facts->field[SL_FIELD_ACCELERATOR].said; i++)
        sl_facts_text(facts, SL_FIELD_ACCELERATOR, sl_kubernetes_label(node, device->names[i]),
                      node->line, device->names[i]);
    if (!facts->field[SL_FIELD_ACCELERATOR].said)
        sl_facts_text(facts, SL_FIELD_ACCELERATOR, device->fallback, node->line, device->resource);
}

/* "4x4x4" chips that reach one another; the topology is that of the slice, not of the node. */
static void
read_tpu_topology(const sl_kubernetes_node *node, sl_facts *facts)
{
    static const char label[] = "cloud.google.com/gke-tpu-topology";
    const char *at = sl_kubernetes_label(node, label);
    double chips = 1.0;

    if (at == NULL)
        return;
    for (;;) {
        char digits[8];
        double side = 0.0;
        const size_t length = strcspn(at, "x");
        if (length == 0 || length >= sizeof digits)
            return;
        memcpy(digits, at, length);
        digits[length] = '\0';
        if (!sl_text_to_double(digits, &side))
            return;
        chips *= side;
        if (at[length] == '\0')
            break;
        at += length + 1;
    }
    sl_facts_number(facts, SL_FIELD_SCALE_UP_DOMAIN, chips, node->line, label);
}

/* AMD's labeller prints a value as label, or as the end of one whose value is how many devices have
 * it: "amd.com/gpu.vram: 192G", "beta.amd.com/gpu.vram.192G: 8". NULL where it says neither, or
 * several. */
static const char *
amd_label(const sl_kubernetes_node *node, const char *property)
{
    static const char *const groups[] = {"amd.com/gpu.", "beta.amd.com/gpu."};
    const char *found = NULL;

    for (size_t i = 0; i < 2 && node->labelled && found == NULL; i++) {
        char label[SL_KUBERNETES_TEXT_SIZE];
        void *state = NULL;
        sl_node member;
        (void)sl_text_format(label, sizeof label, "%s%s", groups[i], property);
        const char *const value = sl_kubernetes_label(node, label);
        if (value != NULL)
            return value;
        (void)sl_text_format(label, sizeof label, "%s%s.", groups[i], property);
        while (sl_node_next(&node->labels, &state, &member)) {
            if (strncmp(member.key, label, strlen(label)) != 0)
                continue;
            if (found != NULL)
                return NULL;
            found = member.key + strlen(label);
        }
    }
    return found;
}

/* "cpx_nps4": how devices are cut, by the label of the labeller, old or new, or by the name under
 * which the plugin offers the parts. NULL: whole, or it is not said. */
static const char *
amd_partition(const sl_kubernetes_node *node)
{
    static const char prefix[] = "amd.com/", memory[] = "px_nps";
    const char *named = sl_kubernetes_label(node, "amd.com/compute-memory-partition");
    void *state = NULL;
    sl_node resource;
    double count = 0.0;

    named = named != NULL ? named : amd_label(node, "compute-partitioning");
    named = named != NULL ? named : amd_label(node, "compute-memory-partition");
    while (named == NULL && node->has_capacity && sl_node_next(&node->capacity, &state, &resource))
        if (strncmp(resource.key, prefix, strlen(prefix)) == 0 &&
            strstr(resource.key, memory) != NULL && sl_kubernetes_quantity(&resource, &count) &&
            count > 0)
            named = resource.key + strlen(prefix);
    return named == NULL || strncmp(named, "spx", 3) == 0 || strncmp(named, "SPX", 3) == 0 ? NULL
                                                                                           : named;
}

static void
read_amd(sl_kubernetes_node *node, sl_facts *facts)
{
    const double offered = sl_kubernetes_capacity(node, "amd.com/gpu");
    const double count = offered > 0 ? offered : sl_kubernetes_capacity(node, "amd.com/spx_nps1");
    const char *const product = amd_label(node, "product-name");
    const char *const memory = amd_label(node, "vram");
    const char *const partition = amd_partition(node);
    double gib = 0.0;

    if (count <= 0 && product == NULL && partition == NULL)
        return;
    sl_facts_text(facts, SL_FIELD_ACCELERATOR, product, node->line, "amd.com/gpu.product-name");
    sl_facts_text(facts, SL_FIELD_DRIVER, amd_label(node, "driver-version"), node->line,
                  "amd.com/gpu.driver-version");
    if (partition != NULL) {
        sl_facts_text(facts, SL_FIELD_SLICE, partition, node->line, "amd.com/gpu partition");
        sl_findings_warn(node->findings, "partitions", node->line, "amd.com/gpu",
                         "devices are offered in parts (%.60s): count and memory are theirs, "
                         "those of the devices are not printed",
                         partition);
        return;
    }
    sl_facts_number(facts, SL_FIELD_ACCELERATORS, count, node->line, "amd.com/gpu");
    /* Rounded to GiB by the labeller. */
    char digits[16];
    if (memory != NULL && sl_text_copy(digits, sizeof digits, memory) &&
        sl_text_ends_with(digits, "G")) {
        digits[strlen(digits) - 1] = '\0';
        if (sl_text_to_double(digits, &gib))
            sl_facts_number(facts, SL_FIELD_NOMINAL_MEMORY_BYTES, gib * GIB, node->line,
                            "amd.com/gpu.vram");
    }
}

/* Whether two resources are of one vendor: "aws.amazon.com/neuron" and ".../neurondevice". */
static bool
same_vendor(const char *a, const char *b)
{
    const size_t length = strcspn(a, "/");
    return strncmp(a, b, length) == 0 && b[length] == '/';
}

/* Whether the name of a resource has a word for accelerators at the beginning of one of its own,
 * "vgpu" among them. */
static bool
names_accelerators(const char *resource)
{
    static const char *const words[] = {"gpu",   "npu",    "dcu",         "mlu",   "xpu",
                                        "hpu",   "gcu",    "tpu",         "vcuda", "ascend",
                                        "gaudi", "neuron", "accelerator", "mig-"};

    for (const char *at = resource; *at != '\0'; at++) {
        const bool begins = at == resource || !isalpha((unsigned char)at[-1]) || at[-1] == 'v';
        for (size_t i = 0; i < sizeof words / sizeof words[0] && begins; i++) {
            size_t length = 0;
            while (words[i][length] != '\0' &&
                   tolower((unsigned char)at[length]) == words[i][length])
                length++;
            if (words[i][length] == '\0')
                return true;
        }
    }
    return false;
}

/* Of a node that offers no device that is read, what may be one: vendors and schedulers that share
 * devices have many names. */
static void
warn_of_unread(const sl_kubernetes_node *node, const sl_facts *facts)
{
    void *state = NULL;
    sl_node resource;
    double count = 0.0;

    if (facts->field[SL_FIELD_ACCELERATORS].said || facts->field[SL_FIELD_ACCELERATOR].said ||
        facts->field[SL_FIELD_SLICE].said)
        return;
    while (node->has_capacity && sl_node_next(&node->capacity, &state, &resource)) {
        if (strchr(resource.key, '/') == NULL || !names_accelerators(resource.key) ||
            !sl_kubernetes_quantity(&resource, &count) || count <= 0)
            continue;
        sl_findings_warn(node->findings, "resource_unread", node->line, "capacity",
                         "nodes offer %.80s, which is not read: name their accelerators in a spec",
                         resource.key);
        return;
    }
}

/* A node has what its plugin lists, and lets be used what of that is healthy. One that lets nothing
 * be used is out of work by that alone, which read_state says; of others only some devices are. */
static void
read_health(sl_kubernetes_node *node)
{
    void *state = NULL;
    sl_node resource, usable;
    double has = 0.0, lets = 0.0;

    while (node->has_capacity && node->has_allocatable &&
           sl_node_next(&node->capacity, &state, &resource)) {
        if (strchr(resource.key, '/') == NULL || !names_accelerators(resource.key) ||
            !sl_kubernetes_quantity(&resource, &has) || has <= 0)
            continue;
        if (!sl_node_member(&node->allocatable, resource.key, &usable) ||
            !sl_kubernetes_quantity(&usable, &lets))
            lets = has; /* it does not say */
        node->offered += has;
        node->usable += lets;
        if (lets < has)
            sl_findings_warn(node->findings, "unhealthy_devices", node->line, "allocatable",
                             "%.60s has %.0f of %.60s and lets %.0f be used: the others are not "
                             "healthy",
                             node->name, has, resource.key, lets);
    }
}

void
sl_kubernetes_devices(sl_kubernetes_node *node, sl_facts *facts)
{
    assert(node != NULL && facts != NULL);

    sl_facts other = {0};
    sl_kubernetes_nvidia(node, facts);
    read_amd(node, facts->field[SL_FIELD_ACCELERATORS].said ? &other : facts);
    for (size_t i = 0; i < sizeof plain_devices / sizeof plain_devices[0]; i++) {
        const sl_fact *const first = &facts->field[SL_FIELD_ACCELERATORS];
        if (!first->said)
            read_plain(node, &plain_devices[i], facts);
        else if (!same_vendor(first->place.path, plain_devices[i].resource))
            read_plain(node, &plain_devices[i], &other);
    }
    if (other.field[SL_FIELD_ACCELERATORS].said)
        sl_findings_warn(node->findings, "several_vendors", node->line,
                         other.field[SL_FIELD_ACCELERATORS].place.path,
                         "%.60s offers devices of several kinds: the first counts", node->name);
    warn_of_unread(node, facts);
    read_health(node);
    read_tpu_topology(node, facts);
}

/* A card that several containers share is offered many times over. */
static bool
is_shared_card(const char *resource, double count)
{
    return strstr(resource, "shared") != NULL || count > NICS_MAX;
}

void
sl_kubernetes_nics(const sl_kubernetes_node *node, sl_facts *facts)
{
    assert(node != NULL && facts != NULL);

    static const struct {
        const char *prefix;
        const char *kind; /* NULL: not said */
    } cards[] = {{"vpc.amazonaws.com/efa", "efa"},
                 {"rdma/", NULL},
                 {"networking.gke.io.networks/rdma-", NULL},
                 {"nvidia.com/hostdev", NULL}};
    double counts[sizeof cards / sizeof cards[0]] = {0};
    void *state = NULL;
    sl_node resource;

    while (node->has_capacity && sl_node_next(&node->capacity, &state, &resource)) {
        for (size_t i = 0; i < sizeof cards / sizeof cards[0]; i++) {
            double count = 0.0;
            if (strncmp(resource.key, cards[i].prefix, strlen(cards[i].prefix)) != 0 ||
                sl_text_ends_with(resource.key, ".IP") ||
                !sl_kubernetes_quantity(&resource, &count))
                continue;
            if (is_shared_card(resource.key, count))
                sl_findings_warn(node->findings, "shared_nics", node->line, resource.key,
                                 "%.60s is offered %.0f times: how many cards that is, it does "
                                 "not say",
                                 resource.key, count);
            else
                counts[i] += count;
        }
    }
    for (size_t i = 0; i < sizeof cards / sizeof cards[0]; i++) {
        if (counts[i] <= 0 || facts->field[SL_FIELD_NIC_COUNT].said)
            continue;
        sl_facts_number(facts, SL_FIELD_NIC_COUNT, counts[i], node->line, cards[i].prefix);
        sl_facts_text(facts, SL_FIELD_NIC_KIND, cards[i].kind, node->line, cards[i].prefix);
    }
}
