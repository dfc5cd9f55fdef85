#include "codec/inventory/inventory_hosts.h"

#include "codec/inventory/inventory.h"
#include "json/members.h"

static const size_t ARENA_BYTES = (size_t)32 * 1024 * 1024; /* an index of SL_HOSTS_MAX and more */

void
sl_host_names_clear(sl_host_names *names)
{
    sl_arena_free(names->index.arena);
    *names = (sl_host_names){0};
}

typedef struct naming {
    sl_host_names *names;
    const sl_node *entry;
} naming;

static sl_code
take_name(void *context, const char *name, sl_errors *err)
{
    const naming *const n = context;
    sl_index *const index = &n->names->index;
    bool known = false;

    if (index->used == SL_HOSTS_MAX)
        return sl_node_fail(n->entry, err, SL_E_RANGE, "too_many",
                            "must not name over %d hosts in all pools", SL_HOSTS_MAX);
    if (index->arena == NULL)
        index->arena = sl_arena_new(ARENA_BYTES);
    if (index->arena == NULL || sl_index_at(index, sl_index_key(name), &known) == NULL)
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory for the hosts");
    if (known)
        return sl_node_fail(n->entry, err, SL_E_RANGE, "duplicate_host",
                            "%.60s is named twice in the inventory", name);
    return SL_OK;
}

static sl_code
check_entry(const sl_node *item, sl_host_names *names, uint64_t *count, sl_errors *err)
{
    const char *entry = NULL;
    const sl_code code = sl_node_as_text(item, &entry, err);

    *count = 0;
    if (code != SL_OK)
        return code;
    if (sl_hosts_too_many(entry))
        return sl_node_fail(item, err, SL_E_RANGE, "too_many",
                            "must stand for at most %d hosts, got \"%.60s\"", SL_HOSTS_MAX, entry);
    if (!sl_hosts_count(entry, count)) {
        (void)sl_node_fail(item, err, SL_E_RANGE, "malformed_hosts",
                           "must be a host name or a range, got \"%.60s\"", entry);
        sl_hint(err, "gpu[001-032]");
        return SL_E_RANGE;
    }
    return sl_hosts_each(entry, take_name, &(naming){names, item}, err);
}

sl_code
sl_hosts_check(const sl_node *pool, uint64_t nodes, sl_host_names *names, sl_errors *err)
{
    sl_node hosts;
    if (!sl_node_member(pool, "hosts", &hosts))
        return SL_OK;
    const size_t entries = sl_node_count(&hosts);
    if (sl_node_kind(&hosts) != SL_JSON_ARRAY)
        return sl_node_fail(&hosts, err, SL_E_RANGE, "wrong_type", "must be an array");
    if (entries > SL_INVENTORY_HOSTS_MAX)
        return sl_node_fail(&hosts, err, SL_E_RANGE, "out_of_range",
                            "must have at most %d entries, got %zu", SL_INVENTORY_HOSTS_MAX,
                            entries);
    sl_code first = SL_OK;
    uint64_t total = 0;
    for (size_t i = 0; i < entries; i++) {
        sl_node item;
        uint64_t count = 0;
        if (!sl_node_at(&hosts, i, &item))
            continue;
        sl_keep(&first, check_entry(&item, names, &count, err));
        total += count;
    }
    if (first == SL_OK && nodes > 0 && entries > 0 && total != nodes) {
        first = sl_node_fail(&hosts, err, SL_E_RANGE, "inconsistent",
                             "must name the %llu nodes of the pool, got %llu",
                             (unsigned long long)nodes, (unsigned long long)total);
        sl_hint(err, "nodes %llu", (unsigned long long)total);
    }
    return first;
}
