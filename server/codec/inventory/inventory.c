#include "codec/inventory/inventory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "codec/inventory/inventory_hosts.h"
#include "json/members.h"

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

static const double TOTAL_BYTES_MAX = 9e18;

enum { CANONICAL_BYTES = 16 << 20, LABELS_MAX = 64 };

static const sl_member spec_members[] = {
    {"name", NULL}, {"description", NULL}, {"labels", NULL}, {"pools", NULL}};

static const sl_member pool_members[] = {{"name", NULL},   {"nodes", NULL},
                                         {"hosts", NULL},  {"node", NULL},
                                         {"fabric", NULL}, {"price_per_node_hour", NULL}};

static const sl_member node_members[] = {{"node_type", NULL},
                                         {"accelerator", NULL},
                                         {"accelerators", NULL},
                                         {"memory_bytes", NULL},
                                         {"reserved_bytes", NULL},
                                         {"scale_up_bytes_per_s", NULL},
                                         {"scale_up_domain", NULL},
                                         {"host_memory_bytes", NULL},
                                         {"scale_up_pair_bytes_per_s", NULL},
                                         {"nics", NULL}};

/* A pool's members into *out, whose pools and object are set. */
static sl_code
read_pool(sl_inventory_pool *out, sl_errors *warnings, sl_errors *err)
{
    const sl_node *const object = &out->object;
    out->pool = (sl_pool){0};
    out->name = NULL;
    sl_code first = sl_node_object(object, err);
    if (first != SL_OK)
        return first;

    sl_node needed;
    sl_keep(&first, sl_members_check(object, pool_members, COUNT(pool_members), warnings, err));
    sl_keep(&first, sl_node_required(object, "name", &needed, err));
    sl_keep(&first, sl_node_text(object, "name", &out->name, NULL, err));
    sl_keep(&first, sl_node_required(object, "nodes", &needed, err));
    sl_keep(&first,
            sl_node_uint(object, "nodes", 1, SL_CLUSTER_NODES_MAX, &out->pool.nodes, NULL, err));
    sl_keep(&first, sl_node_double(object, "price_per_node_hour", 0, 1e9,
                                   &out->pool.price_per_node_hour, NULL, err));
    sl_node fabric;
    if (sl_node_member(object, "fabric", &fabric))
        sl_keep(&first, sl_pool_read_fabric(&fabric, &out->pool, warnings, err));

    const sl_code code = sl_node_required(object, "node", &out->node, err);
    if (code != SL_OK || sl_node_object(&out->node, err) != SL_OK)
        return first != SL_OK ? first : SL_E_RANGE;
    sl_keep(&first, sl_members_check(&out->node, node_members, COUNT(node_members), warnings, err));
    sl_keep(&first, sl_pool_read_node(&out->node, &out->pool, warnings, err));
    return first;
}

/* What a tool printed, or what the catalogue takes where none did. */
static uint64_t
reserved_of_unknown(const sl_pool *pool)
{
    const uint64_t reserved = pool->reserved_said
                                  ? pool->reserved_bytes
                                  : sl_accelerator_reserved_guess(pool->memory_bytes);
    return reserved < pool->memory_bytes ? reserved : pool->memory_bytes;
}

static sl_pool_hardware
count_pool(const sl_inventory_pool *found, const sl_catalog *catalog, sl_errors *faults)
{
    const sl_pool *const pool = &found->pool;
    sl_pool_hardware out = {
        .name = found->name,
        .said = pool->accelerator,
        .nodes = pool->nodes,
        .accelerators = pool->accelerators,
        .memory_bytes = pool->memory_bytes,
        .usable_bytes = pool->memory_bytes - reserved_of_unknown(pool),
        .host_memory_bytes = pool->host_memory_bytes,
    };
    sl_cluster cluster;
    if (sl_pool_resolve(pool, catalog, &found->node, NULL, &cluster, faults) != SL_OK)
        return out;
    const sl_part *part = NULL;
    sl_errors ignored;
    sl_errors_begin(&ignored, true);
    const sl_code code = sl_catalog_find_part(catalog, cluster.accelerator.id, "", &part, &ignored);
    assert(code == SL_OK);
    out.accelerator = part->accelerator.id; /* outlives the cluster here */
    out.accelerators = cluster.accelerators_per_node;
    out.memory_bytes = cluster.accelerator.memory_bytes;
    out.usable_bytes = cluster.accelerator.memory_bytes - cluster.accelerator.reserved_bytes;
    return out;
}

/* A part we do not know may stand in an inventory when its memory and number are given: it can be
 * counted, though nothing can be estimated on it. */
static bool
may_be_unknown(const sl_pool *pool, const sl_errors *faults)
{
    return pool->memory_bytes > 0 && pool->accelerators > 0 && faults->count == 1 &&
           sl_text_equal(faults->list[0].rule, "unknown_accelerator");
}

/* *bytes grows by the memory of the pool's accelerators. */
static sl_code
check_hardware(const sl_inventory_pool *found, const sl_catalog *catalog, double *bytes,
               sl_errors *err)
{
    sl_errors faults;
    sl_errors_begin(&faults, true); /* of many pools: worded where somebody reads it */
    const sl_pool_hardware pool = count_pool(found, catalog, &faults);
    *bytes += (double)pool.nodes * (double)pool.accelerators * (double)pool.memory_bytes;
    if (faults.count == 0 || may_be_unknown(&found->pool, &faults))
        return SL_OK;
    sl_errors_begin(&faults, false);
    (void)count_pool(found, catalog, &faults);
    sl_code first = SL_OK;
    for (uint32_t i = 0; i < faults.count; i++)
        sl_keep(&first, sl_refail(&faults.list[i], err));
    return first;
}

static sl_code
check_labels(const sl_node *spec, sl_errors *err)
{
    sl_node labels;
    if (!sl_node_member(spec, "labels", &labels))
        return SL_OK;
    sl_code first = sl_node_object(&labels, err);
    if (first != SL_OK)
        return first;
    if (sl_node_count(&labels) > LABELS_MAX)
        return sl_node_fail(&labels, err, SL_E_RANGE, "out_of_range",
                            "must have at most %d members, got %zu", LABELS_MAX,
                            sl_node_count(&labels));
    void *state = NULL;
    sl_node label;
    while (sl_node_next(&labels, &state, &label)) {
        const char *text = NULL;
        sl_keep(&first, sl_node_as_text(&label, &text, err));
    }
    return first;
}

/* Pools are told apart by name; few enough to compare each with those before it. names: of all
 * pools, NULL where none is said. */
static sl_code
check_name(const char *const *names, size_t index, const sl_node *object, sl_errors *err)
{
    const char *const name = names[index];
    if (name == NULL)
        return SL_OK;
    if (*name == '\0')
        return sl_node_fail_at(object, "name", err, SL_E_RANGE, "out_of_range",
                               "must not be empty");
    for (size_t i = 0; i < index; i++)
        if (names[i] != NULL && sl_text_equal(names[i], name))
            return sl_node_fail_at(object, "name", err, SL_E_RANGE, "duplicate_name",
                                   "must differ from pool %zu, got \"%.60s\"", i, name);
    return SL_OK;
}

static sl_code
read_pools(const sl_node *spec, sl_node *out, sl_errors *err)
{
    sl_code code = sl_node_required(spec, "pools", out, err);
    if (code != SL_OK)
        return code;
    const size_t count = sl_node_count(out);
    if (sl_node_kind(out) != SL_JSON_ARRAY)
        return sl_node_fail(out, err, SL_E_RANGE, "wrong_type", "must be an array");
    if (count < 1 || count > SL_INVENTORY_POOLS_MAX)
        code = sl_node_fail(out, err, SL_E_RANGE, "out_of_range",
                            "must have from 1 to %d pools, got %zu", SL_INVENTORY_POOLS_MAX, count);
    return code;
}

sl_code
sl_inventory_check(const sl_node *spec, const sl_catalog *catalog, sl_errors *warnings,
                   sl_errors *err)
{
    assert(spec != NULL && catalog != NULL && err != NULL);

    sl_code first = sl_node_object(spec, err);
    if (first != SL_OK)
        return first;
    const char *text = NULL;
    sl_keep(&first, sl_members_check(spec, spec_members, COUNT(spec_members), warnings, err));
    sl_keep(&first, sl_node_text(spec, "name", &text, NULL, err));
    sl_keep(&first, sl_node_text(spec, "description", &text, NULL, err));
    sl_keep(&first, check_labels(spec, err));

    sl_inventory_pool found;
    const sl_code code = read_pools(spec, &found.pools, err);
    if (code != SL_OK)
        return first != SL_OK ? first : code;
    double bytes = 0;
    sl_host_names hosts = {0};
    const char *names[SL_INVENTORY_POOLS_MAX] = {NULL};
    for (size_t i = 0; i < sl_node_count(&found.pools); i++) {
        if (!sl_node_at(&found.pools, i, &found.object))
            continue;
        const sl_code read = read_pool(&found, warnings, err);
        sl_keep(&first, read);
        if (read == SL_OK)
            sl_keep(&first, check_hardware(&found, catalog, &bytes, err));
        sl_keep(&first, sl_hosts_check(&found.object, found.pool.nodes, &hosts, err));
        names[i] = found.name;
        sl_keep(&first, check_name(names, i, &found.object, err));
    }
    sl_host_names_clear(&hosts);
    if (bytes > TOTAL_BYTES_MAX)
        sl_keep(&first, sl_node_fail(&found.pools, err, SL_E_RANGE, "out_of_range",
                                     "must have a total memory that can be counted in 64 bits"));
    return first;
}

void
sl_inventory_count(const sl_node *spec, const sl_catalog *catalog, sl_inventory_hardware *out)
{
    assert(spec != NULL && catalog != NULL && out != NULL);

    sl_errors ignored;
    sl_inventory_pool found;
    sl_errors_begin(&ignored, true);
    out->count = 0;
    if (read_pools(spec, &found.pools, &ignored) != SL_OK)
        return;
    while (sl_node_at(&found.pools, out->count, &found.object)) {
        sl_pool_hardware *const pool = &out->pools[out->count++];
        const bool reads = read_pool(&found, &ignored, &ignored) == SL_OK;
        *pool = reads ? count_pool(&found, catalog, &ignored) : (sl_pool_hardware){0};
        pool->name = found.name != NULL ? found.name : "";
    }
}

void
sl_inventory_hardware_write(sl_writer *writer, const sl_inventory_hardware *hardware)
{
    assert(writer != NULL && hardware != NULL);

    uint64_t nodes = 0, accelerators = 0, memory_bytes = 0;
    sl_write_object(writer);
    sl_write_key(writer, "pools");
    sl_write_array(writer);
    for (uint32_t i = 0; i < hardware->count; i++) {
        const sl_pool_hardware *const pool = &hardware->pools[i];
        if (pool->nodes == 0)
            continue;
        sl_write_object(writer);
        sl_put_text(writer, "name", pool->name);
        sl_put_text(writer, "accelerator", pool->accelerator);
        sl_put_uint(writer, "nodes", pool->nodes);
        sl_put_uint(writer, "accelerators", pool->nodes * pool->accelerators);
        sl_put_uint(writer, "usable_bytes_per_accelerator", pool->usable_bytes);
        sl_write_object_end(writer);
        nodes += pool->nodes;
        accelerators += pool->nodes * pool->accelerators;
        memory_bytes += pool->nodes * pool->accelerators * pool->memory_bytes;
    }
    sl_write_array_end(writer);
    sl_put_uint(writer, "nodes", nodes);
    sl_put_uint(writer, "accelerators", accelerators);
    sl_put_uint(writer, "memory_bytes", memory_bytes);
    sl_write_object_end(writer);
}

static int
by_text(const void *a, const void *b)
{
    const char *const *const left = a;
    const char *const *const right = b;
    return strcmp(*left, *right);
}

void
sl_inventory_accelerators_write(sl_writer *writer, const sl_inventory_hardware *hardware)
{
    assert(writer != NULL && hardware != NULL);

    const char *ids[SL_INVENTORY_POOLS_MAX];
    size_t count = 0;
    for (uint32_t i = 0; i < hardware->count; i++) {
        const sl_pool_hardware *const pool = &hardware->pools[i];
        const char *const id = pool->accelerator != NULL ? pool->accelerator : pool->said;
        if (id != NULL)
            ids[count++] = id;
    }
    if (count > 0)
        qsort(ids, count, sizeof ids[0], by_text);
    sl_write_array(writer);
    for (size_t i = 0; i < count; i++) {
        char bounded[SL_INVENTORY_ID_SIZE]; /* longer ones are found by how they begin */
        (void)sl_text_copy(bounded, sizeof bounded, ids[i]);
        if (i == 0 || !sl_text_equal(ids[i], ids[i - 1]))
            sl_write_text(writer, bounded);
    }
    sl_write_array_end(writer);
}

sl_code
sl_inventory_hash(const sl_node *spec, char out[SL_HASH_TEXT_SIZE], sl_errors *err)
{
    assert(spec != NULL && out != NULL && err != NULL);

    sl_buffer text;
    sl_buffer_init(&text, CANONICAL_BYTES);
    const bool fits = sl_json_canonical(spec, &text) == SL_OK && !text.failed;
    if (fits)
        sl_hash_text(text.data, text.size, out);
    sl_buffer_clear(&text);
    return fits ? SL_OK : sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "the spec does not fit");
}

static sl_code
fail_pool_name(const sl_node *pools, const char *name, const char *pointer, sl_errors *err)
{
    const char *names[SL_INVENTORY_POOLS_MAX];
    size_t count = 0;
    char list[sizeof err->list[0].hint] = "";
    for (size_t i = 0; i < sl_node_count(pools) && count < SL_INVENTORY_POOLS_MAX; i++) {
        sl_errors ignored = {0};
        sl_node pool;
        names[count] = NULL;
        if (!sl_node_at(pools, i, &pool) ||
            sl_node_text(&pool, "name", &names[count], NULL, &ignored) != SL_OK ||
            names[count] == NULL)
            continue;
        const size_t size = strlen(list);
        (void)sl_text_format(list + size, sizeof list - size, "%s%s", size > 0 ? ", " : "",
                             names[count]);
        count++;
    }
    if (name == NULL) {
        (void)sl_fail(
            err, SL_E_RANGE, "required_field", pointer,
            "must name one of the inventory's %zu pools; several of them, or \"all\", go into "
            "\"pools\"",
            count);
        sl_hint(err, "%s", list);
        return SL_E_RANGE;
    }
    (void)sl_fail(err, SL_E_RANGE, "unknown_value", pointer,
                  "must be a pool of the inventory, got \"%.60s\"", name);
    const char *const near = sl_text_nearest(name, names, count);
    sl_hint(err, "%s", near != NULL ? near : list);
    return SL_E_RANGE;
}

sl_code
sl_inventory_find_pool(const sl_node *spec, const char *name, const char *pointer,
                       sl_inventory_pool *out, sl_errors *inner, sl_errors *err)
{
    assert(spec != NULL && out != NULL && inner != NULL && err != NULL);

    const sl_code code = read_pools(spec, &out->pools, inner);
    if (code != SL_OK)
        return code;
    const size_t count = sl_node_count(&out->pools);
    for (size_t i = 0; i < count && (name != NULL || count == 1); i++) {
        sl_errors ignored = {0};
        const char *text = NULL;
        if (!sl_node_at(&out->pools, i, &out->object) ||
            sl_node_text(&out->object, "name", &text, NULL, &ignored) != SL_OK)
            continue;
        if (name == NULL || (text != NULL && sl_text_equal(text, name)))
            return read_pool(out, NULL, inner);
    }
    return fail_pool_name(&out->pools, name, pointer, err);
}

bool
sl_inventory_pool_at(const sl_node *spec, size_t index, sl_inventory_pool *out, sl_errors *inner)
{
    assert(spec != NULL && out != NULL && inner != NULL);

    return read_pools(spec, &out->pools, inner) == SL_OK &&
           sl_node_at(&out->pools, index, &out->object) && read_pool(out, NULL, inner) == SL_OK;
}
