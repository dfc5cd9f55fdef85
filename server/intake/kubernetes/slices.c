/* Dynamic resource allocation: a ResourceSlice lists devices of one driver on one node, each with
 * what the driver found, {"productName": {"string": "NVIDIA H100 80GB HBM3"}}. */
#include <string.h>

#include "base/text.h"
#include "intake/devices.h"
#include "intake/kubernetes/kubernetes.h"

typedef struct reading {
    sl_findings *findings;
    sl_devices *devices;
    uint32_t elements;
    uint32_t slices; /* of accelerators, of a node */
} reading;

/* A device while it is read. */
typedef struct device {
    const char *driver;
    sl_node attributes, capacity;
    bool has_attributes, has_capacity;
} device;

/* Drivers are called by what they drive: "gpu.nvidia.com", "gaudi.intel.com"; others hold networks,
 * processors, or the channels of a rack. */
static bool
drives_accelerators(const char *driver)
{
    static const char *const kinds[] = {"gpu.", "gaudi.", "tpu.", "neuron.", "npu."};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strncmp(driver, kinds[i], strlen(kinds[i])) == 0)
            return true;
    return false;
}

/* A member of that name, which may stand behind the driver's: "gpu.nvidia.com/memory". */
static bool
member(const device *d, const sl_node *object, const char *name, sl_node *out)
{
    char qualified[SL_KUBERNETES_TEXT_SIZE];

    return sl_node_member(object, name, out) ||
           (sl_text_format(qualified, sizeof qualified, "%s/%s", d->driver, name) &&
            sl_node_member(object, qualified, out));
}

/* An attribute that is a text, or NULL. */
static const char *
attribute(const device *d, const char *name)
{
    sl_node value;

    if (!d->has_attributes || !member(d, &d->attributes, name, &value) ||
        sl_node_kind(&value) != SL_JSON_OBJECT)
        return NULL;
    const char *const text = sl_document_words(&value, "string");
    return text != NULL ? text : sl_document_words(&value, "version");
}

/* {"value": "81559Mi"}, and in the first versions the quantity itself. */
static double
memory_bytes(const device *d)
{
    sl_node memory, value;
    double bytes = 0.0;

    if (!d->has_capacity || !member(d, &d->capacity, "memory", &memory))
        return 0.0;
    const bool wrapped =
        sl_node_kind(&memory) == SL_JSON_OBJECT && sl_node_member(&memory, "value", &value);
    return sl_kubernetes_quantity(wrapped ? &value : &memory, &bytes) ? bytes : 0.0;
}

/* Devices again under another driver, and parts that a device could be cut into while it is
 * whole. */
static bool
is_second_offer(const sl_node *element, const char *type)
{
    sl_node counters;
    const bool part = type != NULL && sl_text_equal(type, "mig");

    return (type != NULL && strstr(type, "vfio") != NULL) ||
           (part && sl_node_member(element, "consumesCounters", &counters));
}

/* What tells the device that a part is of from others; NULL of a whole one. */
static const char *
parent(const device *d, const char *type)
{
    static const char *const names[] = {"parentUUID", "parentDeviceID", "parentPciAddr"};
    const char *found = NULL;

    if (type == NULL || (!sl_text_equal(type, "mig") && strstr(type, "partition") == NULL))
        return NULL;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && found == NULL; i++)
        found = attribute(d, names[i]);
    return found != NULL ? found : "one that is not named";
}

static void
say_slice(const device *d, const char *type, uint32_t line, sl_facts *facts, char *words,
          size_t size)
{
    const bool mig = sl_text_equal(type, "mig");
    const char *const profile = attribute(d, mig ? "profile" : "partitionProfile");

    if (profile == NULL)
        (void)sl_text_copy(words, size, mig ? "MIG" : "partitioned");
    else
        (void)sl_text_format(words, size, "%s%s", mig ? "MIG " : "", profile);
    sl_facts_number(facts, SL_FIELD_SLICED_ACCELERATORS, 1, line, "type");
    sl_facts_text(facts, SL_FIELD_SLICE, words, line, "profile");
}

/* Taints of a device keep work from it, for a fault most often. */
static void
warn_of_taints(const reading *r, const sl_node *said, uint32_t line)
{
    sl_node taints, taint;

    if (!sl_document_array(said, "taints", &taints) || !sl_node_at(&taints, 0, &taint))
        return;
    const char *const key = sl_document_words(&taint, "key");
    sl_findings_warn(r->findings, "device_tainted", line, "taints",
                     "a device is kept from work by the taint %.80s: it is counted",
                     key != NULL ? key : "without a key");
}

/* The element of a device holds what is said of it, or in the first versions a member "basic"
 * does. */
static sl_code
take_device(reading *r, const sl_node *element, const char *driver, uint32_t node, uint32_t line,
            sl_errors *err)
{
    sl_node basic, said = *element;
    sl_facts facts = {0}, of_node = {0};
    char slice[SL_KUBERNETES_TEXT_SIZE];

    if (sl_document_object(element, "basic", &basic))
        said = basic;
    device d = {.driver = driver};
    d.has_attributes = sl_document_object(&said, "attributes", &d.attributes);
    d.has_capacity = sl_document_object(&said, "capacity", &d.capacity);
    const char *const type = attribute(&d, "type");
    if (is_second_offer(&said, type))
        return SL_OK;
    warn_of_taints(r, &said, line);
    const char *const whole = parent(&d, type), *const uuid = attribute(&d, "uuid");
    const char *part = attribute(&d, "productName");
    part = part != NULL ? part : attribute(&d, "model");
    sl_facts_text(&facts, SL_FIELD_ACCELERATOR, part, line, "productName");
    if (whole != NULL)
        say_slice(&d, type, line, &facts, slice, sizeof slice);
    else
        sl_facts_number(&facts, SL_FIELD_MEMORY_BYTES, memory_bytes(&d), line, "memory");
    sl_facts_text(&of_node, SL_FIELD_DRIVER, attribute(&d, "driverVersion"), line, "driverVersion");
    const char *const identity = whole != NULL  ? whole
                                 : uuid != NULL ? uuid
                                                : sl_document_words(element, "name");
    const sl_code code = sl_devices_add(r->devices, node, identity, 1, &facts, NULL, err);
    return code == SL_OK ? sl_devices_say(r->devices, node, &of_node, err) : code;
}

static sl_code
take_devices(reading *r, const sl_node *spec, const char *driver, const char *host, uint32_t line,
             sl_errors *err)
{
    sl_node devices, element;
    uint32_t node = 0;

    /* Slices of shared counters list none. */
    if (!sl_document_array(spec, "devices", &devices))
        return SL_OK;
    sl_code code = sl_devices_node(r->devices, host, line, &node, err);
    for (size_t i = 0; code == SL_OK && sl_node_at(&devices, i, &element); i++)
        if (sl_node_kind(&element) == SL_JSON_OBJECT)
            code = take_device(r, &element, driver, node, line, err);
    r->slices++;
    return code;
}

static sl_code
take_slice(void *context, const sl_node *element, uint32_t line, sl_errors *err)
{
    reading *const r = context;
    const char *const kind = sl_document_words(element, "kind");
    sl_node spec;
    const sl_code code = sl_document_count(&r->elements, err);
    if (code != SL_OK)
        return code;

    if ((kind != NULL && !sl_text_equal(kind, "ResourceSlice")) ||
        !sl_document_object(element, "spec", &spec)) {
        sl_findings_warn(r->findings, "not_a_slice", line, "kind",
                         "a %.60s is no ResourceSlice: passed over",
                         kind != NULL ? kind : "nameless object");
        return SL_OK;
    }
    const char *const driver = sl_document_words(&spec, "driver");
    const char *const host = sl_document_words(&spec, "nodeName");
    if (driver == NULL || !drives_accelerators(driver))
        sl_findings_warn(r->findings, "slice_passed", line, "driver",
                         "devices of %.60s are no accelerators: passed over",
                         driver != NULL ? driver : "no driver");
    else if (host == NULL || !sl_document_is_host(host))
        sl_findings_warn(r->findings, "slice_of_no_node", line, "nodeName",
                         "devices of %.60s are of no one node: they are not counted", driver);
    else
        return take_devices(r, &spec, driver, host, line, err);
    return SL_OK;
}

static sl_code
read_slices(const sl_raw *raw, sl_findings *findings, sl_errors *err)
{
    reading r = {.findings = findings};
    sl_code code = sl_devices_new(findings, &r.devices, err);

    if (code == SL_OK)
        code = sl_kubernetes_objects(raw, take_slice, &r, err);
    if (code == SL_OK && r.slices == 0) {
        (void)sl_fail(err, SL_E_UNSUPPORTED, "no_nodes", "",
                      "holds no slice of accelerators on a node");
        sl_hint(err, "kubectl get resourceslices -o json");
        return SL_E_UNSUPPORTED;
    }
    return code == SL_OK ? sl_devices_finish(r.devices, err) : code;
}

/* Nodes name their host in a label; slices do not, and each names the node that owns it. */
static uint32_t
recognise_slices(const sl_sample *sample)
{
    if (!sl_sample_holds(sample, "resource.k8s.io/") ||
        sl_sample_holds(sample, "kubernetes.io/hostname"))
        return 0;
    const bool json = sample->shape == SL_SHAPE_JSON &&
                      (sl_sample_has_key(sample, "kind") || sl_sample_has_key(sample, "items")) &&
                      (sl_sample_holds(sample, "\"ResourceSlice\"") ||
                       sl_sample_holds(sample, "\"ResourceSliceList\""));
    const bool yaml = sample->shape == SL_SHAPE_TEXT &&
                      (sl_sample_line_begins(sample, "apiVersion:") ||
                       sl_sample_line_begins(sample, "- apiVersion:")) &&
                      sl_sample_line_begins(sample, "kind: ResourceSlice");
    return json || yaml ? 97 : 0;
}

const sl_format sl_kubernetes_slices_format = {"kubernetes_slices",
                                               "kubectl get resourceslices -o json or yaml",
                                               recognise_slices, read_slices, 65};
