#include "codec/inventory_hosts.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "codec/inventory.h"
#include "json/members.h"

enum { FIRST_SLOTS = 256 };

void
sl_host_names_clear(sl_host_names *names)
{
    free(names->slots);
    *names = (sl_host_names){0};
}

/* Where a hash stands, or would. */
static uint64_t *
slot_of(const sl_host_names *names, uint64_t hash)
{
    const size_t mask = names->slot_count - 1;
    for (size_t at = (size_t)hash;; at++) {
        uint64_t *const slot = &names->slots[at & mask];
        if (*slot == 0 || *slot == hash)
            return slot;
    }
}

static bool
make_room(sl_host_names *names)
{
    if (names->slot_count > 0 && names->used < names->slot_count / 2)
        return true;
    const sl_host_names old = *names;
    names->slot_count = old.slot_count > 0 ? 2 * old.slot_count : FIRST_SLOTS;
    names->slots = calloc(names->slot_count, sizeof *names->slots);
    if (names->slots == NULL) {
        *names = old;
        return false;
    }
    for (size_t i = 0; i < old.slot_count; i++)
        if (old.slots[i] != 0)
            *slot_of(names, old.slots[i]) = old.slots[i];
    free(old.slots);
    return true;
}

typedef struct naming {
    sl_host_names *names;
    const sl_node *entry;
} naming;

static sl_code
take_name(void *context, const char *name, sl_errors *err)
{
    const naming *const n = context;
    const uint64_t hash = sl_hash_quick(SL_QUICK_HASH_START, name, strlen(name));

    if (n->names->used == SL_HOSTS_MAX)
        return sl_node_fail(n->entry, err, SL_E_RANGE, "too_many",
                            "must not name over %d hosts in all pools", SL_HOSTS_MAX);
    if (!make_room(n->names))
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory for the hosts");
    /* 0 marks a free slot: the one name in 2^64 that has it is not looked for. */
    uint64_t *const slot = slot_of(n->names, hash);
    if (*slot == hash && hash != 0)
        return sl_node_fail(n->entry, err, SL_E_RANGE, "duplicate_host",
                            "%.60s is named twice in the inventory", name);
    n->names->used += *slot != hash;
    *slot = hash;
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
