#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "intake/documents/formats.h"

enum { NUMBER_SIZE = 24 };

typedef struct reading {
    sl_findings *findings;
    sl_finder finder;
    sl_node root;
} reading;

/* What a member says; NULL where it says that it does not apply. */
static const char *
words_of(const reading *r, const char *name)
{
    static const char *const nothing[] = {"N/A", "n/a", "NA", "None", "none", "-"};
    const char *const text = sl_document_words(&r->root, name);
    return text == NULL || sl_text_index(text, nothing, sizeof nothing / sizeof nothing[0]) >= 0
               ? NULL
               : text;
}

/* A text that somebody wrote by hand: what is taken from it is a hint. */
static const char *
free_text(reading *r, const char *name)
{
    const char *const text = words_of(r, name);
    if (text != NULL)
        sl_findings_warn(r->findings, "mlperf_free_text", sl_finder_line(&r->finder, name), name,
                         "%s is written by hand (\"%.80s\"): a hint, not a measurement", name,
                         text);
    return text;
}

/* A number that ends right before `unit`, blanks aside: "400" of "NDR 400Gb/s". */
static bool
number_before(const char *text, const char *unit, double *out)
{
    for (const char *at = text; *at != '\0'; at++) {
        char number[NUMBER_SIZE];
        if (!isdigit((unsigned char)*at) ||
            (at > text && (isalnum((unsigned char)at[-1]) || at[-1] == '.')))
            continue;
        const size_t digits = strspn(at, "0123456789.");
        const char *const behind = at + digits + strspn(at + digits, " ");
        if (digits >= sizeof number || strncmp(behind, unit, strlen(unit)) != 0)
            continue;
        memcpy(number, at, digits);
        number[digits] = '\0';
        if (sl_text_to_double(number, out))
            return true;
    }
    return false;
}

/* "4x ConnectX-7 IB NDR 400Gb/s". */
static void
read_networking(reading *r, sl_facts *facts)
{
    static const char path[] = "host_networking";
    static const char *const rates[] = {"Gb/s", "Gbps", "Gbit", "Gb ", "GbE", "G Ethernet"};
    double count = 0.0, gigabits = 0.0;
    bool rated = false;
    const char *const text = free_text(r, path);

    if (text == NULL)
        return;
    const uint32_t line = sl_finder_line(&r->finder, path);
    for (size_t i = 0; i < sizeof rates / sizeof rates[0] && !rated; i++)
        rated = number_before(text, rates[i], &gigabits);
    /* What machines are managed through is no network of accelerators. */
    if (!rated || gigabits <= 10.0)
        return;
    sl_facts_number(facts, SL_FIELD_NIC_BYTES_PER_S, gigabits * 1e9 / 8.0, line, path);
    if (number_before(text, "x ", &count) || number_before(text, "X ", &count))
        sl_facts_number(facts, SL_FIELD_NIC_COUNT, count, line, path);
    if (sl_text_holds_ignoring_case(text, "infiniband") || strstr(text, "IB ") != NULL ||
        strstr(text, "NDR") != NULL || strstr(text, "HDR") != NULL)
        sl_facts_text(facts, SL_FIELD_NIC_KIND, "infiniband", line, path);
    else if (sl_text_holds_ignoring_case(text, "ethernet") || strstr(text, "RoCE") != NULL ||
             strstr(text, "GbE") != NULL)
        sl_facts_text(facts, SL_FIELD_NIC_KIND, "ethernet", line, path);
}

static void
read_number(reading *r, const char *name, sl_field field, sl_facts *facts)
{
    double number = 0.0;
    if (sl_document_number(&r->root, name, &number))
        sl_facts_number(facts, field, number, sl_finder_line(&r->finder, name), name);
}

/* The first size in a text: "HBM3e 192 GB", "2TB (32x64GB)". */
static bool
find_bytes(const char *text, double *out)
{
    for (const char *at = text; *at != '\0'; at++)
        if (isdigit((unsigned char)*at) &&
            (at == text || (!isalnum((unsigned char)at[-1]) && at[-1] != '.' && at[-1] != ',')) &&
            sl_document_bytes(at, out))
            return true;
    return false;
}

static void
read_bytes(reading *r, const char *name, sl_field field, sl_facts *facts)
{
    const char *const text = free_text(r, name);
    double bytes = 0.0;
    if (text != NULL && find_bytes(text, &bytes))
        sl_facts_number(facts, field, bytes, sl_finder_line(&r->finder, name), name);
}

static void
read_links(reading *r, sl_facts *facts)
{
    static const char path[] = "accelerator_interconnect";
    const char *const text = sl_document_words(&r->root, path);

    if (text == NULL)
        return;
    const bool nvlink = sl_text_holds_ignoring_case(text, "nvlink");
    const bool xgmi = sl_text_holds_ignoring_case(text, "xgmi") ||
                      sl_text_holds_ignoring_case(text, "infinity fabric");
    sl_facts_text(facts, SL_FIELD_LINK_KIND,
                  nvlink ? "NVLink"
                  : xgmi ? "XGMI"
                         : NULL,
                  sl_finder_line(&r->finder, path), path);
}

static void
read_node(reading *r, sl_facts *facts)
{
    static const char name[] = "accelerator_model_name";

    sl_facts_text(facts, SL_FIELD_ACCELERATOR, words_of(r, name), sl_finder_line(&r->finder, name),
                  name);
    read_number(r, "accelerators_per_node", SL_FIELD_ACCELERATORS, facts);
    read_bytes(r, "accelerator_memory_capacity", SL_FIELD_NOMINAL_MEMORY_BYTES, facts);
    read_bytes(r, "host_memory_capacity", SL_FIELD_HOST_MEMORY_BYTES, facts);
    read_number(r, "host_processor_vcpu_count", SL_FIELD_CPUS, facts);
    read_networking(r, facts);
    read_links(r, facts);
}

static sl_code
read_mlperf(const sl_raw *raw, sl_findings *findings, sl_errors *err)
{
    assert(raw != NULL && findings != NULL && err != NULL);

    sl_json *json = NULL;
    sl_facts facts = {0};
    double nodes = 0.0;
    sl_code code = sl_document_decode(raw, &json, NULL, err);
    if (code != SL_OK)
        return code;
    reading r = {.findings = findings, .finder = sl_finder_new(raw), .root = sl_json_root(json)};
    if (!sl_document_number(&r.root, "number_of_nodes", &nodes) || nodes < 1 ||
        nodes > SL_HOSTS_MAX) {
        code = sl_fail(err, SL_E_UNSUPPORTED, "no_nodes", "",
                       "number_of_nodes does not say how many there are");
    } else {
        const char *const name = sl_document_words(&r.root, "system_name");
        const sl_found_host host = {.count = (uint32_t)nodes,
                                    .pool = name,
                                    .line = sl_finder_line(&r.finder, "number_of_nodes")};
        read_node(&r, &facts);
        if (name != NULL)
            sl_findings_cluster_name(findings, name);
        code = sl_findings_add(findings, &host, &facts, err);
    }
    sl_json_free(json);
    return code;
}

static uint32_t
recognise_mlperf(const sl_sample *sample)
{
    return sample->shape == SL_SHAPE_JSON && !sample->list &&
                   sl_sample_has_key(sample, "accelerators_per_node") &&
                   sl_sample_has_key(sample, "number_of_nodes")
               ? 95
               : 0;
}

const sl_format sl_mlperf_format = {"mlperf_system", "system description of MLPerf, JSON",
                                    recognise_mlperf, read_mlperf, 0};
