#include "codec/inventory/host_status.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "codec/inventory/host_join.h"
#include "codec/inventory/hosts.h"

/* A message holds the sentence with its counts. One of two clauses may name hosts in SPELLED_SIZE
 * bytes; three are as long with SPELLED_SHORT each. */
enum { SENTENCE_SIZE = 140, SPELLED_SIZE = 48, SPELLED_SHORT = 27 };

static sl_code
out_of_memory(sl_errors *err)
{
    return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory for the hosts");
}

typedef struct naming {
    sl_host_status *status;
    uint32_t pool;
} naming;

static sl_code
name_host(void *context, const char *name, sl_errors *err)
{
    const naming *const to = context;
    sl_joined_host *const host = sl_join_host(to->status, name);
    if (host == NULL)
        return out_of_memory(err);
    host->pool = to->pool;
    return SL_OK;
}

static sl_code
name_hosts(sl_host_status *status, const sl_node *object, uint32_t pool, sl_errors *err)
{
    naming to = {status, pool};
    sl_errors ignored;
    sl_node hosts, entry;
    const char *list = NULL;
    sl_errors_begin(&ignored, true);
    if (!sl_node_member(object, "hosts", &hosts))
        return SL_OK;
    for (size_t i = 0; sl_node_at(&hosts, i, &entry); i++) {
        if (sl_node_as_text(&entry, &list, &ignored) != SL_OK)
            continue;
        const sl_code code = sl_hosts_each(list, name_host, &to, err);
        if (code != SL_OK)
            return code;
        status->pools[pool].named = true;
    }
    return SL_OK;
}

static sl_code
read_pool(sl_host_status *status, const sl_node *object, const sl_pool_hardware *hardware,
          uint32_t index, sl_errors *err)
{
    sl_joined_pool *const out = &status->pools[index];
    const char *const name = sl_arena_copy(status->arena, hardware->name);
    if (name == NULL)
        return out_of_memory(err);
    *out = (sl_joined_pool){
        .hosts = {.name = name, .nodes = hardware->nodes},
        .accelerator = hardware->accelerator,
        .accelerators = hardware->accelerators,
        .memory_bytes = hardware->memory_bytes,
        .host_memory_bytes = hardware->host_memory_bytes,
    };
    return name_hosts(status, object, index, err);
}

static sl_code
read_pools(sl_host_status *status, const sl_node *spec, const sl_inventory_hardware *hardware,
           sl_errors *err)
{
    sl_node pools, object;
    if (hardware->count == 0 || !sl_node_member(spec, "pools", &pools))
        return SL_OK;
    status->pools = sl_arena_alloc(status->arena, hardware->count, sizeof *status->pools);
    if (status->pools == NULL)
        return out_of_memory(err);
    status->pool_count = hardware->count;
    sl_code code = SL_OK;
    for (uint32_t i = 0; code == SL_OK && sl_node_at(&pools, i, &object); i++)
        code = read_pool(status, &object, &hardware->pools[i], i, err);
    return code;
}

/* The later word last. */
static int
by_time(const void *a, const void *b)
{
    const sl_observation *const x = *(const sl_observation *const *)a;
    const sl_observation *const y = *(const sl_observation *const *)b;
    const int order = strcmp(x->observed_at, y->observed_at);
    return order != 0 ? order : strcmp(x->source, y->source);
}

static sl_code
take_observations(sl_host_status *status, sl_errors *err)
{
    const uint32_t count = status->observation_count;
    const sl_observation **const order =
        sl_arena_alloc(status->arena, count > 0 ? count : 1, sizeof(const sl_observation *));
    if (order == NULL)
        return out_of_memory(err);
    for (uint32_t i = 0; i < count; i++)
        order[i] = &status->observations[i];
    if (count > 1)
        qsort(order, count, sizeof(const sl_observation *), by_time);
    for (uint32_t i = 0; i < count; i++) {
        const sl_code code = order[i]->stale ? SL_OK : sl_join_observation(status, order[i], err);
        if (code != SL_OK)
            return code;
    }
    return SL_OK;
}

/* The pool without names that an unnamed host is of: the only one, or the only one of its part. */
static uint32_t
adopter(const sl_host_status *status, const sl_joined_host *host)
{
    uint32_t only = SL_NO_POOL, like = SL_NO_POOL;
    uint32_t count = 0, alike = 0;
    for (uint32_t i = 0; i < status->pool_count; i++) {
        const sl_joined_pool *const pool = &status->pools[i];
        if (pool->named)
            continue;
        count++;
        only = i;
        if (pool->accelerator != NULL && sl_join_may_be(&host->kind, pool->accelerator)) {
            alike++;
            like = i;
        }
    }
    return count == 1 ? only : alike == 1 ? like : SL_NO_POOL;
}

static void
adopt_hosts(sl_host_status *status)
{
    for (uint32_t i = 0; i < status->host_count; i++) {
        sl_joined_host *const host = &status->hosts[i];
        if (!host->listed || !sl_join_foreign(host))
            continue;
        host->pool = adopter(status, host);
        if (host->pool != SL_NO_POOL) {
            status->pools[host->pool].seen++;
            status->pools[host->pool].seen_by = host->seen_by;
        }
    }
}

/* Why hosts are left out, by the word that says so. */
typedef enum absence { ABSENCE_DRAINED, ABSENCE_DOWN, ABSENCE_MISSING, ABSENCES } absence;

static absence
absence_of(const sl_host_status *status, const sl_joined_host *host)
{
    if (sl_join_missing(status, host))
        return ABSENCE_MISSING;
    return host->state == SL_OBSERVED_DRAINED ? ABSENCE_DRAINED
           : host->state == SL_OBSERVED_DOWN  ? ABSENCE_DOWN
                                              : ABSENCES;
}

static bool
absent_for(const sl_host_status *status, uint32_t pool, uint32_t host, absence why)
{
    return status->hosts[host].pool == pool && absence_of(status, &status->hosts[host]) == why;
}

/* What the names of one clause may take: every clause must have room. */
static size_t
room_of_names(const sl_host_status *status, uint32_t pool)
{
    uint32_t clauses = 0;

    for (uint32_t why = 0; why < ABSENCES; why++) {
        uint32_t host = 0;
        while (host < status->host_count && !absent_for(status, pool, host, (absence)why))
            host++;
        clauses += host < status->host_count;
    }
    return clauses < ABSENCES ? SPELLED_SIZE : SPELLED_SHORT;
}

/* "node gpu017 is drained" behind what the sentence says already. */
static sl_code
say_absent(sl_host_status *status, uint32_t pool, absence why, const char **names,
           char sentence[SENTENCE_SIZE], sl_errors *err)
{
    static const char *const words[ABSENCES] = {"drained", "down", "missing"};
    uint32_t count = 0;
    for (uint32_t i = 0; i < status->host_count; i++)
        if (absent_for(status, pool, i, why))
            names[count++] = status->hosts[i].name;
    if (count == 0)
        return SL_OK;
    const char *const spelled =
        sl_join_spell(status->arena, names, count, room_of_names(status, pool));
    if (spelled == NULL)
        return out_of_memory(err);
    const size_t used = strlen(sentence);
    (void)sl_text_format(sentence + used, SENTENCE_SIZE - used, "%s%s %s %s %s",
                         used > 0 ? ", " : "", count == 1 ? "node" : "nodes", spelled,
                         count == 1 ? "is" : "are", words[why]);
    return SL_OK;
}

/* Of pools whose hosts nobody names all nodes are. */
static void
count_usable(sl_host_status *status)
{
    for (uint32_t i = 0; i < status->pool_count; i++) {
        sl_joined_pool *const pool = &status->pools[i];
        pool->hosts.usable = pool->named || pool->seen > 0 ? 0 : pool->hosts.nodes;
    }
    for (uint32_t i = 0; i < status->host_count; i++) {
        const sl_joined_host *const host = &status->hosts[i];
        if (host->pool == SL_NO_POOL || absence_of(status, host) != ABSENCES)
            continue;
        sl_pool_hosts *const hosts = &status->pools[host->pool].hosts;
        hosts->usable += hosts->usable < hosts->nodes;
    }
}

static sl_code
settle_pool(sl_host_status *status, uint32_t index, const char **names, sl_errors *err)
{
    sl_joined_pool *const pool = &status->pools[index];
    sl_pool_hosts *const hosts = &pool->hosts;
    char sentence[SENTENCE_SIZE] = "";
    if (hosts->usable == hosts->nodes)
        return SL_OK;
    for (uint32_t why = 0; why < ABSENCES; why++) {
        const sl_code code = say_absent(status, index, (absence)why, names, sentence, err);
        if (code != SL_OK)
            return code;
    }
    hosts->left_out =
        sl_arena_format(status->arena, "%s%s%" PRIu64 " of %" PRIu64 " nodes are usable", sentence,
                        *sentence == '\0' ? "" : ": ", hosts->usable, hosts->nodes);
    return hosts->left_out == NULL ? out_of_memory(err) : SL_OK;
}

static sl_code
settle_pools(sl_host_status *status, sl_errors *err)
{
    const uint32_t room = status->host_count > 0 ? status->host_count : 1;
    const char **const names = sl_arena_alloc(status->arena, room, sizeof *names);
    if (names == NULL)
        return out_of_memory(err);
    adopt_hosts(status);
    count_usable(status);
    for (uint32_t i = 0; i < status->pool_count; i++) {
        const sl_code code = settle_pool(status, i, names, err);
        if (code != SL_OK)
            return code;
    }
    return SL_OK;
}

sl_code
sl_host_status_join(const sl_node *spec, const sl_inventory_hardware *hardware,
                    const sl_catalog *catalog, const sl_observation *observations, uint32_t count,
                    sl_arena *arena, sl_host_status **out, sl_errors *err)
{
    assert(spec != NULL && hardware != NULL && catalog != NULL);
    assert((observations != NULL || count == 0) && arena != NULL && out != NULL && err != NULL);

    sl_host_status *const status = sl_arena_alloc(arena, 1, sizeof *status);
    if (status == NULL)
        return out_of_memory(err);
    status->arena = arena;
    status->names = (sl_index){.arena = arena, .name_of = sl_join_name, .owner = status};
    status->base_names = (sl_index){.arena = arena, .name_of = sl_join_base_name, .owner = status};
    status->catalog = catalog;
    status->observations = observations;
    status->observation_count = count;
    sl_code code = read_pools(status, spec, hardware, err);
    if (code == SL_OK)
        code = take_observations(status, err);
    if (code == SL_OK) {
        sl_join_names_settle(status);
        code = settle_pools(status, err);
    }
    if (code == SL_OK)
        code = sl_join_contradict(status, err);
    if (code == SL_OK)
        code = sl_join_unequal(status, err);
    if (code == SL_OK)
        *out = status;
    return code;
}

const sl_pool_hosts *
sl_host_status_pool(const sl_host_status *status, const char *name)
{
    assert(status != NULL);

    if (name == NULL)
        return status->pool_count == 1 ? &status->pools[0].hosts : NULL;
    for (uint32_t i = 0; i < status->pool_count; i++)
        if (sl_text_equal(status->pools[i].hosts.name, name))
            return &status->pools[i].hosts;
    return NULL;
}

bool
sl_host_status_wrong(const sl_host_status *status)
{
    assert(status != NULL);

    for (uint32_t i = 0; i < status->pool_count; i++)
        if (status->pools[i].accelerator == NULL ||
            status->pools[i].hosts.usable < status->pools[i].hosts.nodes)
            return true;
    for (uint32_t i = 0; i < status->host_count; i++)
        if (status->hosts[i].pool != SL_NO_POOL &&
            absence_of(status, &status->hosts[i]) != ABSENCES)
            return true;
    return status->contradiction_count > 0 || status->unequal_count > 0;
}
