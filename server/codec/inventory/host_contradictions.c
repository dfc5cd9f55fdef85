/* Where what a tool printed is not what the spec says. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "codec/inventory/host_join.h"

/* Tools print a little less memory of a device than another tool does, and of a host what firmware
 * leaves. */
static const double MEMORY_TOLERANCE_RATIO = 0.03;
static const double HOST_MEMORY_TOLERANCE_RATIO = 0.1;

enum { FIRST_HOSTS = 8 };

/* What the pool says of a field; false where it says nothing. */
static bool
said(const sl_joined_pool *pool, uint32_t field, const char **text, double *number)
{
    *text = NULL;
    switch ((sl_compared)field) {
    case SL_COMPARED_ACCELERATOR:
        *text = pool->accelerator;
        return pool->accelerator != NULL;
    case SL_COMPARED_ACCELERATORS:
        *number = (double)pool->accelerators;
        return pool->accelerator != NULL;
    case SL_COMPARED_MEMORY:
        *number = (double)pool->memory_bytes;
        return pool->accelerator != NULL;
    case SL_COMPARED_HOST_MEMORY:
        *number = (double)pool->host_memory_bytes;
        return pool->host_memory_bytes > 0;
    case SL_COMPARED_SLICED:
        *number = 0;
        return true;
    case SL_COMPARED_DRIVER:
    case SL_COMPARED_POWER_LIMIT:
    case SL_COMPARED_NIC_COUNT:
    case SL_COMPARED_NIC_RATE:
        return false;
    case SL_COMPARED_COUNT:
        break;
    }
    assert(false);
    return false;
}

bool
sl_join_near(uint32_t field, double printed, double number)
{
    const double tolerance = field == SL_COMPARED_MEMORY        ? MEMORY_TOLERANCE_RATIO
                             : field == SL_COMPARED_HOST_MEMORY ? HOST_MEMORY_TOLERANCE_RATIO
                                                                : 0;
    return fabs(printed - number) <= tolerance * number;
}

static bool
agree(uint32_t field, const sl_joined_kind *kind, const char *text, double number)
{
    const sl_joined_fact *const fact = kind->facts[field];
    /* A name that is no part's contradicts nothing, nor does one that may be this part's. */
    if (text != NULL)
        return kind->parts == NULL || kind->parts->count == 0 || sl_join_may_be(kind, text);
    return fact->text != NULL || sl_join_near(field, fact->number, number);
}

/* A fact that is not what the pool says, which is then told. */
static bool
differs(const sl_joined_pool *pool, const sl_joined_kind *kind, uint32_t field, const char **text,
        double *number)
{
    return kind->facts[field] != NULL && said(pool, field, text, number) &&
           !agree(field, kind, *text, *number);
}

bool
sl_join_contradicted(const sl_host_status *status, const sl_joined_host *host, uint32_t field)
{
    const char *text = NULL;
    double number = 0;
    return differs(&status->pools[host->pool], &host->kind, field, &text, &number);
}

static bool
same_fact(const sl_joined_fact *a, const sl_joined_fact *b)
{
    if (!sl_text_equal(a->source, b->source) || (a->text == NULL) != (b->text == NULL))
        return false;
    return a->text != NULL ? sl_text_equal(a->text, b->text) : a->number == b->number;
}

/* The entry that a contradiction belongs to, which may be new; NULL beyond the bound. */
static sl_contradiction *
entry_of(sl_host_status *status, const sl_joined_pool *pool, uint32_t field,
         const sl_joined_fact *fact)
{
    for (uint32_t i = 0; i < status->contradiction_count; i++) {
        sl_contradiction *const there = &status->contradictions[i];
        if (there->pool == pool->hosts.name && there->field == sl_compared_fields[field] &&
            same_fact(there->observed, fact))
            return there;
    }
    if (status->contradiction_count == SL_CONTRADICTIONS_MAX)
        return NULL;
    sl_contradiction *const made = &status->contradictions[status->contradiction_count++];
    *made = (sl_contradiction){
        .pool = pool->hosts.name, .field = sl_compared_fields[field], .observed = fact};
    return made;
}

static bool
add_host(sl_host_status *status, sl_contradiction *to, const char *name)
{
    if (to->host_count == to->host_room) {
        const uint32_t room = to->host_room == 0 ? FIRST_HOSTS : to->host_room * 2;
        const char **const hosts = sl_arena_alloc(status->arena, room, sizeof *hosts);
        if (hosts == NULL)
            return false;
        if (to->host_count > 0)
            memcpy(hosts, to->hosts, to->host_count * sizeof *hosts);
        to->hosts = hosts;
        to->host_room = room;
    }
    to->hosts[to->host_count++] = name;
    return true;
}

/* name: NULL where nobody named the nodes. */
static sl_code
compare(sl_host_status *status, const sl_joined_pool *pool, const sl_joined_kind *kind,
        const char *name, sl_errors *err)
{
    for (uint32_t field = 0; field < SL_COMPARED_COUNT; field++) {
        const char *text = NULL;
        double number = 0;
        if (!differs(pool, kind, field, &text, &number))
            continue;
        sl_contradiction *const entry = entry_of(status, pool, field, kind->facts[field]);
        if (entry == NULL)
            return SL_OK;
        entry->expected_text = text;
        entry->expected_number = number;
        if (name != NULL && !add_host(status, entry, name))
            return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory for the hosts");
    }
    return SL_OK;
}

/* The pool that nodes without names are of: the only one, or the only one of their part. */
static const sl_joined_pool *
pool_of(const sl_host_status *status, const sl_joined_kind *kind)
{
    const sl_joined_pool *found = NULL;
    if (status->pool_count == 1)
        return &status->pools[0];
    for (uint32_t i = 0; i < status->pool_count; i++) {
        const sl_joined_pool *const pool = &status->pools[i];
        if (pool->accelerator == NULL || !sl_join_may_be(kind, pool->accelerator))
            continue;
        if (found != NULL)
            return NULL;
        found = pool;
    }
    return found;
}

/* A pool without names has as many nodes as sources list, or they contradict it. */
static sl_code
compare_counts(sl_host_status *status, const sl_joined_pool *pool, sl_errors *err)
{
    if (pool->named || pool->seen == 0 || pool->seen == pool->hosts.nodes ||
        status->contradiction_count == SL_CONTRADICTIONS_MAX)
        return SL_OK;
    sl_joined_fact *const fact = sl_arena_alloc(status->arena, 1, sizeof *fact);
    if (fact == NULL)
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory for the hosts");
    *fact = (sl_joined_fact){.number = (double)pool->seen, .source = pool->seen_by};
    status->contradictions[status->contradiction_count++] =
        (sl_contradiction){.pool = pool->hosts.name,
                           .field = "nodes",
                           .expected_number = (double)pool->hosts.nodes,
                           .observed = fact};
    return SL_OK;
}

sl_code
sl_join_contradict(sl_host_status *status, sl_errors *err)
{
    sl_code code = SL_OK;
    for (uint32_t i = 0; i < status->pool_count && code == SL_OK; i++)
        code = compare_counts(status, &status->pools[i], err);
    for (uint32_t i = 0; i < status->host_count && code == SL_OK; i++) {
        const sl_joined_host *const host = &status->hosts[i];
        if (host->pool != SL_NO_POOL)
            code = compare(status, &status->pools[host->pool], &host->kind, host->name, err);
    }
    for (const sl_joined_unnamed *at = status->unnamed; at != NULL && code == SL_OK;
         at = at->next) {
        const sl_joined_pool *const pool = pool_of(status, at->kind);
        if (pool != NULL)
            code = compare(status, pool, at->kind, NULL, err);
    }
    return code;
}
