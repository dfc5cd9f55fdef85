#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "intake/documents/formats.h"

typedef struct reading {
    sl_findings *findings;
    uint32_t nodes;
    uint32_t elements;
} reading;

/* Health as it is spelled, plain or "NMX_COMPUTE_NODE_HEALTH_HEALTHY". */
static void
read_health(const sl_node *element, sl_found_host *host)
{
    const char *const health = sl_document_words(element, "Health");
    if (health == NULL)
        return;
    if (sl_text_ends_with(health, "UNHEALTHY")) {
        host->state = SL_HOST_DOWN;
        host->reason = health;
    } else if (sl_text_ends_with(health, "HEALTHY")) {
        host->state = SL_HOST_USABLE;
    } else {
        host->reason = health; /* degraded, unknown: nobody says whether it takes work */
    }
}

static sl_code
take_node(void *context, const sl_node *element, uint32_t line, sl_errors *err)
{
    reading *const r = context;
    const char *const name = sl_document_words(element, "Name");
    sl_facts facts = {0};
    sl_node devices;
    const sl_code code = sl_document_count(&r->elements, err);

    if (code != SL_OK)
        return code;
    if (name == NULL) {
        sl_findings_warn(r->findings, "not_a_node", line, "Name",
                         "an object without a name: passed over");
        return SL_OK;
    }
    if (sl_document_array(element, "GpuIDList", &devices))
        sl_facts_number(&facts, SL_FIELD_ACCELERATORS, (double)sl_node_count(&devices), line,
                        "GpuIDList");
    sl_found_host host = {
        .name = name, .count = 1, .domain = sl_document_words(element, "DomainUUID"), .line = line};
    read_health(element, &host);
    r->nodes++;
    return sl_document_add(r->findings, &host, &facts, err);
}

static sl_code
read_netq(const sl_raw *raw, sl_findings *findings, sl_errors *err)
{
    assert(raw != NULL && findings != NULL && err != NULL);

    const sl_raw bare = sl_document_raw(raw);
    reading r = {.findings = findings};
    bool found = false;
    const sl_code code =
        sl_json_elements(bare.text, bare.size, NULL, NULL, take_node, &r, &found, NULL, err);
    if (code != SL_OK || r.nodes > 0)
        return code;
    return sl_fail(err, SL_E_UNSUPPORTED, "no_nodes", "", "holds no list of compute nodes");
}

static uint32_t
recognise_netq(const sl_sample *sample)
{
    return sample->shape == SL_SHAPE_JSON && sample->list &&
                   sl_sample_has_key(sample, "DomainUUID") && sl_sample_has_key(sample, "Name") &&
                   (sl_sample_has_key(sample, "GpuIDList") ||
                    sl_sample_has_key(sample, "LocationInfo"))
               ? 95
               : 0;
}

const sl_format sl_netq_format = {"netq_json", "compute nodes of NetQ or NMX, JSON", recognise_netq,
                                  read_netq, 25};
