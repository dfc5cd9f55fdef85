#include "codec/inventory/private_hardware.h"

#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "codec/question/cluster.h"
#include "codec/question/names.h"
#include "json/members.h"

enum {
    ALIASES_MAX = 16,
    ALIAS_MAX = 95,
    LIST_BYTES = ALIASES_MAX * (ALIAS_MAX + 1),
    NOTE_MAX = 500
};

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

static const double RATE_MAX = 1e15; /* of a link */
static const double FLOPS_MAX = 1e18;
static const uint64_t BYTES_MAX = 1ULL << 49;

const char *const sl_own_kinds[SL_OWN_KIND_COUNT] = {[SL_OWN_ACCELERATOR] = "accelerator",
                                                     [SL_OWN_NODE_TYPE] = "node_type",
                                                     [SL_OWN_PRICE] = "price"};

static const sl_json_limits spec_limits = {.max_bytes = SIZE_MAX, .max_depth = 32};

sl_code
sl_own_check_id(const char *id, sl_errors *err)
{
    assert(id != NULL && err != NULL);

    static const char inner[] = "abcdefghijklmnopqrstuvwxyz0123456789.-";
    const size_t length = strlen(id);
    const bool ends =
        length > 0 && strchr(".-", id[0]) == NULL && strchr(".-", id[length - 1]) == NULL;

    if (ends && length <= 63 && strspn(id, inner) == length)
        return SL_OK;
    return sl_fail(err, SL_E_RANGE, "invalid_id", "",
                   "the id must be 1 to 63 of a-z, 0-9 and inner dots and dashes, got %.80s", id);
}

/* A text of a row: bounded, and without what would end it in a list. */
static sl_code
read_text(const sl_node *object, const char *name, size_t most, const char **out, sl_errors *err)
{
    const char *text = NULL;
    const sl_code code = sl_node_text(object, name, &text, NULL, err);

    if (code != SL_OK || text == NULL)
        return code;
    if (strlen(text) > most)
        return sl_node_fail_at(object, name, err, SL_E_RANGE, "out_of_range",
                               "must have at most %zu bytes, got %zu", most, strlen(text));
    *out = text;
    return SL_OK;
}

static sl_code
read_count(const sl_node *object, const char *name, uint64_t least, uint64_t most, double *out,
           sl_errors *err)
{
    uint64_t value = 0;
    bool present = false;
    const sl_code code = sl_node_uint(object, name, least, most, &value, &present, err);

    if (code == SL_OK && present)
        *out = (double)value;
    return code;
}

/* The body may repeat the identity that the path gives it. */
static sl_code
read_id(const sl_node *spec, const char *id, sl_errors *err)
{
    const char *said = id;
    const sl_code code = sl_node_text(spec, "id", &said, NULL, err);

    if (code != SL_OK || sl_text_equal(said, id))
        return code;
    return sl_node_fail_at(spec, "id", err, SL_E_RANGE, "inconsistent",
                           "must be the id in the path, %s, got \"%.60s\"", id, said);
}

/* Into `list`, which `out` then points to, separated by |. */
static sl_code
read_aliases(const sl_node *spec, char list[LIST_BYTES], const char **out, sl_errors *err)
{
    sl_node aliases;
    sl_node item;
    sl_code first = SL_OK;
    size_t used = 0;

    list[0] = '\0';
    *out = list;
    if (!sl_node_member(spec, "aliases", &aliases))
        return SL_OK;
    if (sl_node_kind(&aliases) != SL_JSON_ARRAY)
        return sl_node_fail(&aliases, err, SL_E_RANGE, "wrong_type", "must be an array");
    if (sl_node_count(&aliases) > ALIASES_MAX)
        return sl_node_fail(&aliases, err, SL_E_RANGE, "out_of_range",
                            "must have at most %d entries, got %zu", ALIASES_MAX,
                            sl_node_count(&aliases));
    for (size_t i = 0; sl_node_at(&aliases, i, &item); i++) {
        const char *text = "";
        sl_code code = sl_node_as_text(&item, &text, err);
        if (code == SL_OK &&
            (*text == '\0' || strlen(text) > ALIAS_MAX || strchr(text, '|') != NULL))
            code = sl_node_fail(&item, err, SL_E_RANGE, "invalid_text",
                                "must be a name of 1 to %d bytes without \"|\"", ALIAS_MAX);
        sl_keep(&first, code);
        if (first != SL_OK)
            continue;
        (void)sl_text_format(list + used, LIST_BYTES - used, "%s%s", used > 0 ? "|" : "", text);
        used += strlen(list + used);
    }
    return first;
}

static sl_code
read_rates(const sl_node *spec, sl_own_part *out, sl_errors *warnings, sl_errors *err)
{
    sl_member members[SL_PRECISION_COUNT];
    sl_code first = SL_OK;
    sl_node rates;
    bool any = false;

    const sl_code code = sl_node_required(spec, "peak_flops_per_s", &rates, err);
    if (code != SL_OK || sl_node_object(&rates, err) != SL_OK)
        return SL_E_RANGE;
    for (uint32_t i = 0; i < SL_PRECISION_COUNT; i++) {
        members[i] = (sl_member){sl_name(&sl_precision_names, i), NULL};
        sl_keep(&first, sl_node_double(&rates, members[i].name, 0, FLOPS_MAX,
                                       &out->peak_flops_per_s[i], NULL, err));
        any = any || out->peak_flops_per_s[i] > 0;
    }
    sl_keep(&first, sl_members_check(&rates, members, SL_PRECISION_COUNT, warnings, err));
    if (first != SL_OK || any)
        return first;
    const sl_code missing =
        sl_node_fail(&rates, err, SL_E_RANGE, "required_field",
                     "must have at least one dense rate above 0, with fp32 accumulation");
    sl_hint(err, "bf16, fp16, tf32, fp32, fp8, mxfp8, nvfp4");
    return missing;
}

static sl_code
read_part_texts(const sl_node *spec, sl_own_part *out, sl_errors *err)
{
    sl_code first = SL_OK;

    sl_keep(&first, read_text(spec, "name", 95, &out->name, err));
    sl_keep(&first, read_text(spec, "vendor", 23, &out->vendor, err));
    sl_keep(&first, read_text(spec, "arch", 31, &out->arch, err));
    sl_keep(&first, read_text(spec, "status", 31, &out->status, err));
    sl_keep(&first, read_text(spec, "scale_up_link", 63, &out->scale_up_link, err));
    sl_keep(&first, read_text(spec, "source", 63, &out->source, err));
    sl_keep(&first, read_text(spec, "note", NOTE_MAX, &out->note, err));
    sl_keep(&first, read_text(spec, "like", 127, &out->like, err));
    return first;
}

/* all: below 0 where it is not known. */
static sl_code
read_pair(const sl_node *spec, double all_bytes_per_s, double *out, sl_errors *err)
{
    const sl_code code =
        sl_node_double(spec, "scale_up_pair_bytes_per_s", 0, RATE_MAX, out, NULL, err);

    if (code != SL_OK || all_bytes_per_s < 0 || *out <= all_bytes_per_s)
        return code;
    return sl_node_fail_at(spec, "scale_up_pair_bytes_per_s", err, SL_E_RANGE, "inconsistent",
                           "must be at most the %.3g bytes/s of all scale-up links, got %.3g",
                           all_bytes_per_s, *out);
}

static sl_code
read_part_figures(const sl_node *spec, sl_own_part *out, sl_errors *err)
{
    sl_code first = SL_OK;
    sl_node needed;

    sl_keep(&first, sl_node_required(spec, "memory_bytes", &needed, err));
    sl_keep(&first, sl_node_required(spec, "memory_bandwidth_bytes_per_s", &needed, err));
    sl_keep(&first, read_count(spec, "memory_bytes", 1 << 20, BYTES_MAX, &out->memory_bytes, err));
    sl_keep(&first, read_count(spec, "reserved_bytes", 0, BYTES_MAX, &out->reserved_bytes, err));
    sl_keep(&first, read_count(spec, "nominal_bytes", 1, BYTES_MAX, &out->nominal_bytes, err));
    sl_keep(&first, sl_node_double(spec, "memory_bandwidth_bytes_per_s", 1e6, RATE_MAX,
                                   &out->memory_bytes_per_s, NULL, err));
    sl_keep(&first, sl_node_double(spec, "scale_up_bytes_per_s", 0, RATE_MAX,
                                   &out->scale_up_bytes_per_s, NULL, err));
    sl_keep(&first,
            read_pair(spec, out->scale_up_bytes_per_s, &out->scale_up_pair_bytes_per_s, err));
    sl_keep(&first, read_count(spec, "scale_up_domain", 1, SL_CLUSTER_NODES_MAX,
                               &out->scale_up_domain, err));
    sl_keep(&first, sl_node_double(spec, "host_bytes_per_s", 0, RATE_MAX, &out->host_bytes_per_s,
                                   NULL, err));
    sl_keep(&first, sl_node_double(spec, "power_w", 0, 1e5, &out->power_w, NULL, err));
    sl_keep(&first, read_count(spec, "release_year", 1990, 2100, &out->release_year, err));
    if (first == SL_OK && out->reserved_bytes >= out->memory_bytes)
        first = sl_node_fail_at(spec, "reserved_bytes", err, SL_E_RANGE, "inconsistent",
                                "must be less than memory_bytes");
    return first;
}

static sl_code
read_part(const sl_node *spec, const char *id, char aliases[LIST_BYTES], sl_own_part *out,
          sl_errors *warnings, sl_errors *err)
{
    static const sl_member members[] = {
        {"id", NULL},
        {"name", NULL},
        {"vendor", NULL},
        {"arch", NULL},
        {"aliases", NULL},
        {"status", NULL},
        {"release_year", NULL},
        {"memory_bytes", NULL},
        {"reserved_bytes", NULL},
        {"nominal_bytes", NULL},
        {"memory_bandwidth_bytes_per_s", NULL},
        {"peak_flops_per_s", NULL},
        {"scale_up_link", NULL},
        {"scale_up_bytes_per_s", NULL},
        {"scale_up_pair_bytes_per_s", NULL},
        {"scale_up_domain", NULL},
        {"host_bytes_per_s", NULL},
        {"power_w", NULL},
        {"like", NULL},
        {"source", NULL},
        {"note", NULL},
    };
    sl_code first = sl_node_object(spec, err);

    if (first != SL_OK)
        return first;
    *out = sl_own_part_unsaid();
    out->id = id;
    sl_keep(&first, sl_members_check(spec, members, COUNT(members), warnings, err));
    sl_keep(&first, read_id(spec, id, err));
    sl_keep(&first, read_part_texts(spec, out, err));
    sl_keep(&first, read_aliases(spec, aliases, &out->aliases, err));
    sl_keep(&first, read_part_figures(spec, out, err));
    sl_keep(&first, read_rates(spec, out, warnings, err));
    return first;
}

static bool
is_digits(const char *text, size_t count)
{
    return strspn(text, "0123456789") >= count;
}

/* "2026", "2026-11" or "2026-11-30". */
static bool
is_date(const char *text)
{
    const size_t length = strlen(text);

    return (length == 4 || length == 7 || length == 10) && is_digits(text, 4) &&
           (length < 7 || (text[4] == '-' && is_digits(text + 5, 2))) &&
           (length < 10 || (text[7] == '-' && is_digits(text + 8, 2)));
}

/* required: of a price that is all there is. */
static sl_code
read_price(const sl_node *spec, bool required, sl_own_price *out, sl_errors *err)
{
    sl_code first = SL_OK;
    sl_node needed;

    *out = (sl_own_price){.price_per_node_hour = -1};
    sl_keep(&first, read_text(spec, "price_currency", 3, &out->price_currency, err));
    sl_keep(&first, read_text(spec, "price_date", 10, &out->price_date, err));
    sl_keep(&first, sl_node_double(spec, "price_per_node_hour", 1e-6, 1e9,
                                   &out->price_per_node_hour, NULL, err));
    if (first != SL_OK)
        return first;
    if (required || out->price_currency != NULL || out->price_date != NULL)
        sl_keep(&first, sl_node_required(spec, "price_per_node_hour", &needed, err));
    if (out->price_currency != NULL &&
        strspn(out->price_currency, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != 3) {
        sl_keep(&first,
                sl_node_fail_at(spec, "price_currency", err, SL_E_RANGE, "invalid_text",
                                "must be three capital letters, got \"%s\"", out->price_currency));
        sl_hint(err, "USD, EUR, GBP, JPY: the codes of ISO 4217");
    }
    if (out->price_date != NULL && !is_date(out->price_date)) {
        sl_keep(&first,
                sl_node_fail_at(spec, "price_date", err, SL_E_RANGE, "invalid_text",
                                "must be a day, a month or a year, got \"%s\"", out->price_date));
        sl_hint(err, "2026-11-30, 2026-11, 2026");
    }
    return first;
}

static sl_code
read_cards(const sl_node *spec, sl_own_node *out, sl_errors *warnings, sl_errors *err)
{
    static const sl_member members[] = {{"count", NULL}, {"bytes_per_s", NULL}, {"kind", NULL}};
    sl_code first = SL_OK;
    sl_node nics;
    sl_node needed;

    if (!sl_node_member(spec, "nics", &nics))
        return SL_OK;
    first = sl_node_object(&nics, err);
    if (first != SL_OK)
        return first;
    sl_keep(&first, sl_members_check(&nics, members, COUNT(members), warnings, err));
    sl_keep(&first, sl_node_required(&nics, "count", &needed, err));
    sl_keep(&first, sl_node_required(&nics, "bytes_per_s", &needed, err));
    sl_keep(&first, read_count(&nics, "count", 1, SL_CLUSTER_PER_NODE_MAX, &out->nic_count, err));
    sl_keep(&first,
            sl_node_double(&nics, "bytes_per_s", 1, RATE_MAX, &out->nic_bytes_per_s, NULL, err));
    sl_keep(&first, read_text(&nics, "kind", 31, &out->nic_kind, err));
    return first;
}

/* The node type that is assumed for a part: users decide that of their own parts only. */
static sl_code
read_reference(const sl_node *spec, const sl_part *part, bool *out, sl_errors *err)
{
    sl_code code = sl_node_bool(spec, "reference", out, NULL, err);

    if (code != SL_OK || !*out || part == NULL || part->own.revision > 0)
        return code;
    code = sl_node_fail_at(spec, "reference", err, SL_E_RANGE, "inconsistent",
                           "must be false: the catalogue says which node is assumed for %s",
                           part->accelerator.id);
    sl_hint(err, "false");
    return code;
}

static sl_code
find_accelerator(const sl_node *spec, const sl_catalog *catalog, const sl_part **part,
                 sl_errors *err)
{
    const char *name = NULL;
    sl_node needed;
    const sl_code code = sl_node_required(spec, "accelerator", &needed, err);

    if (code != SL_OK || sl_node_as_text(&needed, &name, err) != SL_OK)
        return SL_E_RANGE;
    return sl_catalog_find_part(catalog, name, "/accelerator", part, err);
}

static sl_code
read_node_type(const sl_node *spec, const char *id, const sl_catalog *catalog,
               char aliases[LIST_BYTES], sl_own_node *out, const sl_part **part,
               sl_errors *warnings, sl_errors *err)
{
    static const sl_member members[] = {
        {"id", NULL},         {"aliases", NULL},
        {"operator", NULL},   {"accelerator", NULL},
        {"reference", NULL},  {"accelerators_per_node", NULL},
        {"vcpus", NULL},      {"scale_up_domain", NULL},
        {"nics", NULL},       {"host_memory_bytes", NULL},
        {"price_date", NULL}, {"price_per_node_hour", NULL},
        {"source", NULL},     {"price_currency", NULL},
        {"note", NULL},       {"scale_up_pair_bytes_per_s", NULL},
    };
    sl_code first = sl_node_object(spec, err);
    sl_own_price price;
    sl_node needed;

    if (first != SL_OK)
        return first;
    *out = sl_own_node_unsaid();
    out->id = id;
    sl_keep(&first, sl_members_check(spec, members, COUNT(members), warnings, err));
    sl_keep(&first, read_id(spec, id, err));
    sl_keep(&first, read_aliases(spec, aliases, &out->aliases, err));
    sl_keep(&first, read_text(spec, "operator", 63, &out->operator_name, err));
    sl_keep(&first, read_text(spec, "source", 63, &out->source, err));
    sl_keep(&first, read_text(spec, "note", NOTE_MAX, &out->note, err));
    sl_keep(&first, find_accelerator(spec, catalog, part, err));
    sl_keep(&first, read_reference(spec, *part, &out->reference, err));
    sl_keep(&first, sl_node_required(spec, "accelerators_per_node", &needed, err));
    sl_keep(&first, read_count(spec, "accelerators_per_node", 1, SL_CLUSTER_PER_NODE_MAX,
                               &out->accelerators, err));
    sl_keep(&first, read_pair(spec, *part != NULL ? (*part)->accelerator.scale_up_bytes_per_s : -1,
                              &out->scale_up_pair_bytes_per_s, err));
    sl_keep(&first, read_count(spec, "scale_up_domain", 1, SL_CLUSTER_NODES_MAX,
                               &out->scale_up_domain, err));
    sl_keep(&first, read_count(spec, "vcpus", 1, 1 << 20, &out->vcpus, err));
    sl_keep(&first,
            read_count(spec, "host_memory_bytes", 1, BYTES_MAX, &out->host_memory_bytes, err));
    sl_keep(&first, read_cards(spec, out, warnings, err));
    sl_keep(&first, read_price(spec, false, &price, err));
    out->price_per_node_hour = price.price_per_node_hour;
    out->price_currency = price.price_currency;
    out->price_date = price.price_date;
    out->accelerator = *part != NULL ? (*part)->accelerator.id : NULL;
    return first;
}

static sl_code
read_price_spec(const sl_node *spec, const char *id, sl_own_price *out, sl_errors *warnings,
                sl_errors *err)
{
    static const sl_member members[] = {{"id", NULL},
                                        {"price_per_node_hour", NULL},
                                        {"price_currency", NULL},
                                        {"price_date", NULL}};
    sl_code first = sl_node_object(spec, err);

    if (first != SL_OK)
        return first;
    sl_keep(&first, sl_members_check(spec, members, COUNT(members), warnings, err));
    sl_keep(&first, read_id(spec, id, err));
    sl_keep(&first, read_price(spec, true, out, err));
    out->id = id;
    return first;
}

/* A name that already means something else would change what others' requests mean. */
static sl_code
check_name(const sl_catalog *catalog, sl_own_kind kind, const char *id, const char *name,
           const char *pointer, sl_errors *err)
{
    sl_errors faults = {.count = 0};
    const char *taken = NULL;

    if (kind == SL_OWN_ACCELERATOR) {
        const sl_part *part = NULL;
        if (sl_catalog_find_part(catalog, name, "", &part, &faults) == SL_OK)
            taken = part->accelerator.id;
        else if (sl_text_equal(faults.list[0].rule, "ambiguous_accelerator"))
            taken = faults.list[0].hint;
    } else {
        const sl_node_type *node = NULL;
        if (sl_catalog_find_node(catalog, name, "", &node, &faults) == SL_OK)
            taken = node->id;
    }
    if (taken == NULL || sl_text_equal(taken, id))
        return SL_OK;
    return sl_fail(err, SL_E_RANGE, "name_taken", pointer,
                   "must be a name of its own: %.40s means %s", name, taken);
}

static sl_code
check_names(const sl_catalog *catalog, sl_own_kind kind, const char *id, const sl_node *spec,
            sl_errors *err)
{
    sl_errors ignored = {.count = 0};
    const char *name = NULL;
    sl_code first = SL_OK;
    sl_node aliases;
    sl_node item;

    if (kind == SL_OWN_ACCELERATOR && sl_node_text(spec, "name", &name, NULL, &ignored) == SL_OK &&
        name != NULL)
        sl_keep(&first, check_name(catalog, kind, id, name, "/name", err));
    if (!sl_node_member(spec, "aliases", &aliases))
        return first;
    for (size_t i = 0; sl_node_at(&aliases, i, &item); i++) {
        char pointer[64];
        sl_node_pointer(&item, pointer, sizeof pointer);
        if (sl_node_as_text(&item, &name, &ignored) == SL_OK)
            sl_keep(&first, check_name(catalog, kind, id, name, pointer, err));
    }
    return first;
}

sl_code
sl_own_check(sl_own_kind kind, const char *id, const sl_node *spec, const sl_catalog *catalog,
             const char **uses, sl_errors *warnings, sl_errors *err)
{
    assert(id != NULL && spec != NULL && catalog != NULL && uses != NULL && err != NULL);

    char aliases[LIST_BYTES];
    const sl_part *used = NULL;
    sl_own_part part = sl_own_part_unsaid();
    sl_own_node node = sl_own_node_unsaid();
    sl_own_price price = {.id = NULL};
    sl_code code = SL_OK;

    *uses = NULL;
    switch (kind) {
    case SL_OWN_ACCELERATOR:
        code = read_part(spec, id, aliases, &part, warnings, err);
        if (code == SL_OK)
            code = sl_own_part_like(catalog, &part, &used, err);
        break;
    case SL_OWN_NODE_TYPE:
        code = read_node_type(spec, id, catalog, aliases, &node, &used, warnings, err);
        if (code == SL_OK && used != NULL && used->own.revision > 0)
            *uses = used->accelerator.id;
        break;
    case SL_OWN_PRICE:
    case SL_OWN_KIND_COUNT:
        return read_price_spec(spec, id, &price, warnings, err);
    }
    const sl_code named = check_names(catalog, kind, id, spec, err);
    return code != SL_OK ? code : named;
}

static sl_code
add(sl_overlay *overlay, const sl_own_row *row, const sl_node *spec, sl_errors *err)
{
    const sl_catalog *catalog = sl_overlay_catalog(overlay);
    sl_errors warnings = {.count = 0}; /* unknown fields were let pass when it was stored */
    char aliases[LIST_BYTES];
    const sl_part *used = NULL;
    sl_own_part part = sl_own_part_unsaid();
    sl_own_node node = sl_own_node_unsaid();
    sl_own_price price = {.id = NULL};
    sl_code code = SL_OK;

    switch (row->kind) {
    case SL_OWN_ACCELERATOR:
        code = read_part(spec, row->id, aliases, &part, &warnings, err);
        part.own = row->own;
        return code != SL_OK ? code : sl_overlay_add_part(overlay, &part, err);
    case SL_OWN_NODE_TYPE:
        code = read_node_type(spec, row->id, catalog, aliases, &node, &used, &warnings, err);
        node.own = row->own;
        return code != SL_OK ? code : sl_overlay_add_node(overlay, &node, err);
    case SL_OWN_PRICE:
    case SL_OWN_KIND_COUNT:
        break;
    }
    code = read_price_spec(spec, row->id, &price, &warnings, err);
    price.own = row->own;
    return code != SL_OK ? code : sl_overlay_add_price(overlay, &price, err);
}

/* An id that the tables have by now: theirs counts. By id alone, as there may be a thousand
 * rows. */
static sl_code
check_free(const sl_catalog *catalog, const sl_own_row *row, sl_errors *err)
{
    bool taken = false;

    if (row->kind == SL_OWN_ACCELERATOR)
        for (uint32_t i = 0; i < sl_catalog_part_count(catalog) && !taken; i++)
            taken = sl_text_equal(sl_catalog_part(catalog, i)->accelerator.id, row->id);
    else if (row->kind == SL_OWN_NODE_TYPE)
        for (uint32_t i = 0; i < sl_catalog_node_count(catalog) && !taken; i++)
            taken = sl_text_equal(sl_catalog_node(catalog, i)->id, row->id);
    return taken ? sl_fail(err, SL_E_CONFLICT, "catalog_entry", "",
                           "the catalogue has an entry of this id by now")
                 : SL_OK;
}

sl_code
sl_own_add(sl_overlay *overlay, const sl_own_row *row, sl_errors *err)
{
    assert(overlay != NULL && row != NULL && row->own.spec != NULL && err != NULL);

    sl_json *json = NULL;
    sl_code code = check_free(sl_overlay_catalog(overlay), row, err);
    if (code == SL_OK)
        code = sl_json_parse(row->own.spec, strlen(row->own.spec), &spec_limits, &json, err);
    if (code != SL_OK)
        return code;
    const sl_node root = sl_json_root(json);
    code = add(overlay, row, &root, err);
    sl_json_free(json);
    return code;
}
