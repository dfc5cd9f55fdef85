/* The cluster of a request: equal nodes, or several pools of them, inline or of an inventory. */
#include <assert.h>

#include "base/text.h"
#include "codec/inventory/inventory.h"
#include "codec/question/currency.h"
#include "codec/question/operating.h"
#include "codec/question/question_parts.h"
#include "json/members.h"

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

/* What describes nodes, wherever it stands. */
#define NODE_MEMBERS                                                                               \
    {"accelerator", NULL}, {"node_type", NULL}, {"nodes", NULL}, {"accelerators_per_node", NULL},  \
        {"accelerators", NULL}, {"memory_bytes", NULL}, {"reserved_bytes", NULL},                  \
        {"scale_up_bytes_per_s", NULL}, {"scale_up_pair_bytes_per_s", NULL},                       \
        {"scale_up_domain", NULL}, {"host_memory_bytes", NULL}, {"nics", NULL}, {"fabric", NULL},  \
        {"kind", NULL}, {"oversubscription", NULL}, {"price_per_node_hour", NULL},                 \
    {                                                                                              \
        "accelerator_overrides", NULL                                                              \
    }

static const sl_member cluster_members[] = {NODE_MEMBERS,        {"operation", NULL},
                                            {"inventory", NULL}, {"pool", NULL},
                                            {"pools", NULL},     {"hosts", NULL}};
static const sl_member inline_members[] = {NODE_MEMBERS, {"name", NULL}};
static const sl_member stored_members[] = {NODE_MEMBERS, {"pool", NULL}};

static sl_code
read_overrides(const sl_node *cluster, sl_pool *pool, sl_errors *warnings, sl_errors *err)
{
    static const sl_member members[] = {{"memory_bytes", NULL},
                                        {"memory_bandwidth_bytes_per_s", NULL},
                                        {"power_limit_w", NULL},
                                        {"sustained_ratio", NULL},
                                        {"attention_ratio", NULL}};
    sl_node overrides;
    if (!sl_node_member(cluster, "accelerator_overrides", &overrides))
        return SL_OK;
    sl_code first = sl_node_object(&overrides, err);
    if (first != SL_OK)
        return first;
    sl_keep(&first, sl_members_check(&overrides, members, COUNT(members), warnings, err));
    sl_keep(&first, sl_node_uint(&overrides, "memory_bytes", 1 << 20, 1ULL << 50,
                                 &pool->memory_bytes, NULL, err));
    sl_keep(&first, sl_node_double(&overrides, "memory_bandwidth_bytes_per_s", 1, 1e15,
                                   &pool->memory_bytes_per_s, NULL, err));
    sl_keep(&first,
            sl_node_double(&overrides, "power_limit_w", 1, 1e5, &pool->power_limit_w, NULL, err));
    sl_keep(&first, sl_node_double(&overrides, "sustained_ratio", 0.1, 1.2, &pool->sustained_ratio,
                                   NULL, err));
    sl_keep(&first, sl_node_double(&overrides, "attention_ratio", 0.1, 2.0, &pool->attention_ratio,
                                   NULL, err));
    return first;
}

/* Two words for one number: requests say accelerators_per_node, inventories accelerators. */
static sl_code
read_per_node(const sl_node *object, sl_pool *pool, sl_errors *err)
{
    uint64_t count = 0;
    bool said = false;
    sl_node other;
    const sl_code code = sl_node_uint(object, "accelerators_per_node", 1, SL_CLUSTER_PER_NODE_MAX,
                                      &count, &said, err);
    if (code != SL_OK || !said)
        return code;
    if (sl_node_member(object, "accelerators", &other) && pool->accelerators != count)
        return sl_node_fail_at(object, "accelerators_per_node", err, SL_E_RANGE,
                               "conflicting_fields", "says %llu, but \"accelerators\" says %llu",
                               (unsigned long long)count, (unsigned long long)pool->accelerators);
    pool->accelerators = count;
    return SL_OK;
}

/* Members that describe nodes; absent ones leave *pool as it is. */
static sl_code
read_nodes(const sl_node *object, sl_pool *pool, sl_errors *warnings, sl_errors *err)
{
    sl_node fabric;
    sl_code first = sl_node_text(object, "kind", &pool->fabric_kind, NULL, err);
    sl_keep(&first,
            sl_node_uint(object, "nodes", 1, SL_CLUSTER_NODES_MAX, &pool->nodes, NULL, err));
    sl_keep(&first, sl_pool_read_node(object, pool, warnings, err));
    sl_keep(&first, read_per_node(object, pool, err));
    sl_keep(&first, sl_node_double(object, "oversubscription", 1, 1000,
                                   &pool->oversubscription_ratio, NULL, err));
    sl_keep(&first, sl_node_double(object, "price_per_node_hour", 0, 1e9,
                                   &pool->price_per_node_hour, NULL, err));
    sl_keep(&first, read_overrides(object, pool, warnings, err));
    if (sl_node_member(object, "fabric", &fabric))
        sl_keep(&first, sl_pool_read_fabric(&fabric, pool, warnings, err));
    return first;
}

/* A list under "pools", or the word for all of an inventory's. */
static sl_code
check_pools(const sl_estimate_request *request, const sl_node *pools, sl_errors *err)
{
    const sl_node *const object = &request->cluster_object;
    const size_t count = sl_node_count(pools);
    const char *word = NULL;
    sl_node other;
    sl_code first = SL_OK;
    static const char *const apart[] = {"nodes", "pool"};

    for (size_t i = 0; i < COUNT(apart); i++)
        if (sl_node_member(object, apart[i], &other))
            sl_keep(&first, sl_node_fail(&other, err, SL_E_RANGE, "conflicting_fields",
                                         "stands in each of the \"pools\", not beside them"));
    if (sl_node_kind(pools) == SL_JSON_TEXT) {
        sl_keep(&first, sl_node_as_text(pools, &word, err));
        if (word != NULL && request->inventory != NULL && sl_text_equal(word, "all"))
            return first;
        sl_keep(&first, sl_node_fail(pools, err, SL_E_RANGE, "unknown_value",
                                     "must be a list of pools, or \"all\" of an inventory"));
        return first;
    }
    if (sl_node_kind(pools) != SL_JSON_ARRAY)
        return sl_node_fail(pools, err, SL_E_RANGE, "wrong_type", "must be an array");
    if (count < 1 || count > SL_POOLS_MAX)
        sl_keep(&first, sl_node_fail(pools, err, SL_E_RANGE, "out_of_range",
                                     "must have from 1 to %d pools, got %zu", SL_POOLS_MAX, count));
    return first;
}

sl_code
sl_question_read_cluster(sl_estimate_request *request, sl_pool *pool, sl_errors *warnings,
                         sl_errors *err)
{
    assert(request != NULL && pool != NULL && err != NULL);

    const sl_node *const object = &request->cluster_object;
    sl_node pools;
    sl_code first = sl_node_object(object, err);
    if (first != SL_OK) {
        if (sl_node_kind(object) == SL_JSON_ARRAY)
            sl_hint(err, "{\"pools\": [...]}");
        return first;
    }

    sl_keep(&first,
            sl_members_check(object, cluster_members, COUNT(cluster_members), warnings, err));
    sl_keep(&first, sl_node_text(object, "inventory", &request->inventory, NULL, err));
    sl_keep(&first, sl_node_text(object, "pool", &request->pool, NULL, err));
    sl_keep(&first, sl_question_read_hosts(request, err));
    sl_keep(&first, read_nodes(object, pool, warnings, err));
    sl_keep(&first, sl_operating_read(object, pool, warnings, err));
    if (sl_node_member(object, "pools", &pools))
        sl_keep(&first, check_pools(request, &pools, err));
    if (request->pool != NULL && request->inventory == NULL)
        sl_keep(&first, sl_node_fail_at(object, "pool", err, SL_E_RANGE, "conflicting_fields",
                                        "needs \"inventory\": it names a pool of one"));
    return first;
}

bool
sl_question_has_pools(const sl_estimate_request *request)
{
    sl_node pools;
    return request->cluster_object.value != NULL &&
           sl_node_member(&request->cluster_object, "pools", &pools);
}

/* One pool of the list, complete; its name is told apart from those before it. */
static sl_code
add_pool(sl_estimate_request *request, const sl_pool *pool, const char *name,
         const sl_catalog *catalog, const sl_node *where, sl_errors *err)
{
    sl_cluster *const out = &request->pools[request->pool_count];
    for (uint32_t i = 0; i < request->pool_count; i++)
        if (sl_text_equal(request->pools[i].pool, name))
            return sl_node_fail(where, err, SL_E_RANGE, "duplicate_name",
                                "must differ from pool %u, got \"%.60s\"", i, name);
    request->notes.pool = name;
    const sl_code code = sl_pool_resolve(pool, catalog, where, &request->notes, out, err);
    request->notes.pool = NULL;
    if (code != SL_OK)
        return code;
    (void)sl_text_copy(out->pool, sizeof out->pool, name);
    request->pool_count++;
    return SL_OK;
}

static sl_code
add_inline(sl_estimate_request *request, const sl_pool *common, const sl_node *entry,
           const sl_catalog *catalog, sl_errors *warnings, sl_errors *err)
{
    char numbered[24];
    const char *name = numbered;
    sl_pool pool = *common;
    sl_code first = sl_node_object(entry, err);
    if (first != SL_OK)
        return first;
    (void)sl_text_format(numbered, sizeof numbered, "%zu", entry->index);
    sl_keep(&first, sl_members_check(entry, inline_members, COUNT(inline_members), warnings, err));
    sl_keep(&first, sl_node_text(entry, "name", &name, NULL, err));
    sl_keep(&first, read_nodes(entry, &pool, warnings, err));
    return first != SL_OK ? first : add_pool(request, &pool, name, catalog, entry, err);
}

/* A pool of an inventory, as far as the document alone can be judged. */
static sl_code
check_stored(const sl_node *entry, sl_errors *warnings, sl_errors *err)
{
    sl_pool ignored = {0};
    sl_node needed;
    const char *name = NULL;
    sl_code first = sl_node_object(entry, err);
    if (first != SL_OK)
        return first;
    sl_keep(&first, sl_members_check(entry, stored_members, COUNT(stored_members), warnings, err));
    sl_keep(&first, sl_node_required(entry, "pool", &needed, err));
    sl_keep(&first, sl_node_text(entry, "pool", &name, NULL, err));
    sl_keep(&first, read_nodes(entry, &ignored, warnings, err));
    return first;
}

sl_code
sl_question_read_pools(sl_estimate_request *request, const sl_pool *common,
                       const sl_catalog *catalog, sl_errors *warnings, sl_errors *err)
{
    assert(request != NULL && common != NULL && catalog != NULL && err != NULL);

    sl_node pools, entry;
    sl_code first = SL_OK;
    if (!sl_node_member(&request->cluster_object, "pools", &pools))
        return SL_OK;
    for (size_t i = 0; sl_node_at(&pools, i, &entry); i++)
        sl_keep(&first, request->inventory != NULL
                            ? check_stored(&entry, warnings, err)
                            : add_inline(request, common, &entry, catalog, warnings, err));
    return first;
}

sl_code
sl_question_check_nodes(const sl_node *object, const sl_pool *stored, const sl_pool *pool,
                        sl_errors *err)
{
    if (pool->nodes <= stored->nodes)
        return SL_OK;
    const sl_code code =
        sl_node_fail_at(object, "nodes", err, SL_E_RANGE, "out_of_range",
                        "must be at most the %llu nodes of the pool, got %llu",
                        (unsigned long long)stored->nodes, (unsigned long long)pool->nodes);
    sl_hint(err, "%llu", (unsigned long long)stored->nodes);
    return code;
}

/* What stands beside the list, then what stands in its entry, override what is stored. */
static sl_code
add_stored(sl_estimate_request *request, const sl_inventory_pool *found, const sl_node *entry,
           const sl_catalog *catalog, sl_errors *err)
{
    sl_errors inner = {0};
    sl_errors said = {0}; /* of unknown fields, when the document was read */
    sl_pool pool = found->pool;
    sl_code code = sl_question_read_cluster(request, &pool, &said, err);
    if (code == SL_OK && entry != NULL)
        code = read_nodes(entry, &pool, &said, err);
    if (code == SL_OK && entry != NULL)
        code = sl_question_check_nodes(entry, &found->pool, &pool, err);
    request->notes.pool = found->name;
    if (code == SL_OK)
        code = sl_question_check_hosts(request, entry != NULL ? entry : &request->cluster_object,
                                       found->name, &pool.nodes, err);
    request->notes.pool = NULL;
    if (code != SL_OK)
        return code;
    code = add_pool(request, &pool, found->name, catalog, &found->node, &inner);
    return inner.count > 0 ? sl_refail_at(&inner, "/cluster/inventory", err) : code;
}

sl_code
sl_question_find_pools(sl_estimate_request *request, const sl_node *spec, const sl_catalog *catalog,
                       sl_errors *err)
{
    assert(request != NULL && spec != NULL && catalog != NULL && err != NULL);

    sl_errors inner = {0};
    sl_inventory_pool found;
    sl_node pools, entry;
    sl_code first = SL_OK;
    if (!sl_node_member(&request->cluster_object, "pools", &pools))
        return SL_OK;
    const bool all = sl_node_kind(&pools) == SL_JSON_TEXT;
    for (size_t i = 0; all && sl_inventory_pool_at(spec, i, &found, &inner); i++) {
        if (i == SL_POOLS_MAX)
            return sl_node_fail(&pools, err, SL_E_RANGE, "out_of_range",
                                "at most %d pools at a time: name those to take", SL_POOLS_MAX);
        sl_keep(&first, add_stored(request, &found, NULL, catalog, err));
    }
    inner.count = 0; /* the end of the list */
    for (size_t i = 0; !all && sl_node_at(&pools, i, &entry); i++) {
        char pointer[48];
        const char *name = NULL;
        (void)sl_text_format(pointer, sizeof pointer, "/cluster/pools/%zu/pool", i);
        sl_code code = sl_node_text(&entry, "pool", &name, NULL, err);
        if (code == SL_OK)
            code = sl_inventory_find_pool(spec, name, pointer, &found, &inner, err);
        if (inner.count > 0)
            return sl_refail_at(&inner, "/cluster/inventory", err);
        sl_keep(&first, code == SL_OK ? add_stored(request, &found, &entry, catalog, err) : code);
    }
    return first;
}

void
sl_question_join_pools(sl_estimate_request *request)
{
    assert(request != NULL && request->pool_count >= 1);

    sl_currencies currencies = {.first = NULL};

    for (uint32_t i = 0; i < request->pool_count; i++)
        sl_currencies_add(&currencies, &request->pools[i]);
    sl_currencies_note(&currencies, "they do not add up, and the cluster has none",
                       &request->notes);
    if (request->pool_count == 1)
        request->cluster = request->pools[0];
    else
        sl_cluster_join(request->pools, request->pool_count, &request->cluster);
    request->has_cluster = true;
}
