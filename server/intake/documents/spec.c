#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "intake/documents/formats.h"
#include "intake/host_lists.h"
#include "json/writer.h"

enum { ODD_SIZE = 192 };

/* Numbers of a node by the names that specs and findings have in common. */
static const sl_field numbers[] = {SL_FIELD_ACCELERATORS,      SL_FIELD_MEMORY_BYTES,
                                   SL_FIELD_RESERVED_BYTES,    SL_FIELD_POWER_LIMIT_W,
                                   SL_FIELD_HOST_MEMORY_BYTES, SL_FIELD_SCALE_UP_BYTES_PER_S,
                                   SL_FIELD_SCALE_UP_DOMAIN,   SL_FIELD_SCALE_UP_PAIR_BYTES_PER_S};

/* Of several groups of cards, the one that carries most. */
static void
read_nics(const sl_node *node, uint32_t line, sl_facts *facts)
{
    sl_node nics, group;
    double most = 0.0;

    if (!sl_document_array(node, "nics", &nics))
        return;
    for (size_t i = 0; sl_node_at(&nics, i, &group); i++) {
        double count = 0.0, rate = 0.0;
        if (sl_node_kind(&group) != SL_JSON_OBJECT ||
            !sl_document_number(&group, "count", &count) ||
            !sl_document_number(&group, "bytes_per_s", &rate) || count * rate <= most)
            continue;
        most = count * rate;
        sl_facts_number(facts, SL_FIELD_NIC_COUNT, count, line, "nics");
        sl_facts_number(facts, SL_FIELD_NIC_BYTES_PER_S, rate, line, "nics");
        facts->field[SL_FIELD_NIC_KIND].said = false;
        sl_facts_text(facts, SL_FIELD_NIC_KIND, sl_document_words(&group, "kind"), line, "nics");
    }
}

static void
read_node(const sl_node *node, uint32_t line, sl_facts *facts)
{
    sl_facts_text(facts, SL_FIELD_NODE_TYPE, sl_document_words(node, "node_type"), line,
                  "node_type");
    sl_facts_text(facts, SL_FIELD_ACCELERATOR, sl_document_words(node, "accelerator"), line,
                  "accelerator");
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        const char *const name = sl_field_name(numbers[i]);
        double number = 0.0;
        if (sl_document_number(node, name, &number))
            sl_facts_number(facts, numbers[i], number, line, name);
    }
    read_nics(node, line, facts);
}

/* The nodes of a pool: those that are named, and the rest. */
static sl_code
add_nodes(sl_findings *findings, const sl_node *pool, sl_found_host *host, const sl_facts *facts,
          sl_errors *err)
{
    double nodes = 0.0;
    uint64_t named = 0;
    char odd[ODD_SIZE];
    sl_node hosts, entry;

    if (!sl_document_number(pool, "nodes", &nodes) || !(nodes > 0 && nodes <= SL_HOSTS_MAX))
        nodes = 0.0;
    const bool has_hosts = sl_document_array(pool, "hosts", &hosts);
    for (size_t i = 0; has_hosts && sl_node_at(&hosts, i, &entry); i++) {
        sl_errors ignored;
        sl_errors_begin(&ignored, true);
        const char *list = NULL;
        uint64_t count = 0;
        if (sl_node_kind(&entry) != SL_JSON_TEXT ||
            sl_node_as_text(&entry, &list, &ignored) != SL_OK)
            list = NULL;
        (void)sl_text_format(odd, sizeof odd,
                             "pool %.60s: hosts %zu is no name and no list of names: passed over",
                             host->pool, i);
        if (!sl_host_list_read(findings, host->line, "hosts", list, odd, &count))
            continue;
        named += count;
        host->name = list;
        const sl_code code = sl_findings_add(findings, host, facts, err);
        if (code != SL_OK)
            return code;
    }
    host->name = NULL;
    host->count = nodes > (double)named ? (uint32_t)nodes - (uint32_t)named : 0;
    return sl_findings_add(findings, host, facts, err);
}

static sl_code
read_pool(sl_findings *findings, const sl_node *pool, uint32_t line, sl_errors *err)
{
    const char *const name = sl_document_words(pool, "name");
    sl_facts facts = {0};
    sl_node node, fabric;
    double number = 0.0;

    if (sl_document_object(pool, "node", &node))
        read_node(&node, line, &facts);
    if (sl_document_number(pool, "price_per_node_hour", &number))
        sl_facts_number(&facts, SL_FIELD_PRICE_PER_NODE_HOUR, number, line, "price_per_node_hour");
    if (sl_document_object(pool, "fabric", &fabric)) {
        sl_found_fabric found = {0};
        const char *const kind = sl_document_words(&fabric, "kind");
        if (kind != NULL)
            found.kind = (sl_fact){.said = true, .text = kind, .place = {line, "fabric/kind"}};
        if (sl_document_number(&fabric, "oversubscription", &number) && number >= 1)
            found.oversubscription = (sl_fact){
                .said = true, .number = number, .place = {line, "fabric/oversubscription"}};
        sl_findings_fabric(findings, &found);
    }
    sl_found_host host = {.count = 1, .pool = name != NULL ? name : "", .line = line};
    return add_nodes(findings, pool, &host, &facts, err);
}

/* The spec itself, for whoever stores it. One that is wrapped is written anew. */
static sl_code
keep_text(sl_findings *findings, const sl_node *spec, const sl_buffer *text, sl_errors *err)
{
    if (spec->parent == NULL) {
        sl_findings_spec(findings, text->data);
        return SL_OK;
    }
    sl_buffer canonical;
    sl_buffer_init(&canonical, SL_DOCUMENT_MAX_BYTES);
    sl_code code = sl_json_canonical(spec, &canonical);
    if (code == SL_OK)
        sl_findings_spec(findings, canonical.data);
    else
        code = sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory for the spec");
    sl_buffer_clear(&canonical);
    return code;
}

static sl_code
read_root(const sl_raw *raw, const sl_node *root, const sl_buffer *text, sl_findings *findings,
          sl_errors *err)
{
    sl_node wrapped, pools, pool;
    sl_finder finder = sl_finder_new(raw);

    /* What this service answers of an inventory holds the spec. */
    const sl_node *const spec = sl_document_object(root, "spec", &wrapped) ? &wrapped : root;
    if (!sl_document_array(spec, "pools", &pools) || sl_node_count(&pools) == 0) {
        (void)sl_fail(err, SL_E_UNSUPPORTED, "no_pools", "", "holds no list of pools");
        sl_hint(err, "{\"pools\": [{\"name\", \"nodes\", \"node\": {...}}]}");
        return SL_E_UNSUPPORTED;
    }
    const char *const name = sl_document_words(spec, "name");
    if (name != NULL)
        sl_findings_cluster_name(findings, name);
    sl_code code = keep_text(findings, spec, text, err);
    for (size_t i = 0; code == SL_OK && sl_node_at(&pools, i, &pool); i++) {
        const char *const pool_name = sl_document_words(&pool, "name");
        const uint32_t line = pool_name != NULL ? sl_finder_line(&finder, pool_name) : 0;
        if (sl_node_kind(&pool) == SL_JSON_OBJECT)
            code = read_pool(findings, &pool, line, err);
        else
            sl_findings_warn(findings, "odd_pool", 0, "pools", "pool %zu is no object", i);
    }
    return code;
}

static sl_code
read_spec(const sl_raw *raw, sl_findings *findings, sl_errors *err)
{
    assert(raw != NULL && findings != NULL && err != NULL);

    sl_json *json = NULL;
    sl_buffer text;
    sl_code code = sl_document_decode(raw, &json, &text, err);
    if (code == SL_OK) {
        const sl_node root = sl_json_root(json);
        code = read_root(raw, &root, &text, findings, err);
        sl_json_free(json);
    }
    sl_buffer_clear(&text);
    return code;
}

static uint32_t
recognise_spec(const sl_sample *sample)
{
    if (sample->shape == SL_SHAPE_JSON) {
        const bool pools =
            sl_sample_has_key(sample, "pools") ||
            (sl_sample_has_key(sample, "spec") && sl_sample_holds(sample, "\"pools\""));
        return pools && !sample->list ? 90 : 0;
    }
    return sample->shape == SL_SHAPE_TEXT && sl_sample_line_begins(sample, "pools:") &&
                   sl_sample_line_begins(sample, "node:")
               ? 90
               : 0;
}

const sl_format sl_spec_format = {"shardline_spec", "the spec of an inventory, JSON or YAML",
                                  recognise_spec, read_spec, 100};
