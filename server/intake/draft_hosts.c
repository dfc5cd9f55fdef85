/* The hosts of a draft's pools, by state, and the scale-up domains they make. */
#include "intake/merge.h"

#include <assert.h>
#include <string.h>

#include "base/sort.h"

static sl_code
out_of_memory(sl_errors *err)
{
    return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory to merge the files");
}

/* One host with all that its files say of its state. */
typedef struct member {
    const char *name;
    const char *domain;
    const char *reason;
    uint32_t pool; /* UINT32_MAX: no accelerators */
    sl_host_state state;
} member;

static member
member_of(const sl_merge *m, uint32_t first)
{
    const sl_findings *const findings = m->findings;
    const sl_class *const class = m->classes[m->class_of[first]];
    member out = {.name = sl_findings_host(findings, first)->name, .pool = class->pool_index};

    for (uint32_t at = first; at != SL_FOUND_NONE; at = sl_findings_host(findings, at)->next) {
        const sl_found_host *const host = sl_findings_host(findings, at);
        if (host->state > out.state) {
            out.state = host->state;
            out.reason = host->reason;
        }
        if (out.domain == NULL)
            out.domain = host->domain;
    }
    return out;
}

static int
text_order(const char *a, const char *b)
{
    return a == b ? 0 : a == NULL ? -1 : b == NULL ? 1 : strcmp(a, b);
}

static int
by_group(const void *a, const void *b)
{
    const member *const x = a, *const y = b;
    if (x->pool != y->pool)
        return x->pool < y->pool ? -1 : 1;
    if (x->state != y->state)
        return x->state < y->state ? -1 : 1;
    const int order = text_order(x->reason, y->reason);
    return order != 0 ? order : sl_hosts_compare(&x->name, &y->name);
}

static int
by_domain(const void *a, const void *b)
{
    const member *const x = a, *const y = b;
    if (x->pool != y->pool)
        return x->pool < y->pool ? -1 : 1;
    const int order = text_order(x->domain, y->domain);
    return order != 0 ? order : sl_hosts_compare(&x->name, &y->name);
}

/* The names of members [0, count), compressed. */
static sl_code
compress(const sl_merge *m, const member *members, uint32_t count, const char *const **hosts,
         size_t *entries, sl_errors *err)
{
    const char **const names = sl_arena_alloc(m->arena, count > 0 ? count : 1, sizeof *names);
    if (names == NULL)
        return out_of_memory(err);
    for (uint32_t i = 0; i < count; i++)
        names[i] = members[i].name;
    return sl_hosts_compress(names, count, m->arena, hosts, entries, err);
}

static bool
one_group(const member *a, const member *b)
{
    return a->state == b->state && text_order(a->reason, b->reason) == 0;
}

/* A pool's hosts by state and reason; members are those of the pool, in that order. */
static sl_code
group_pool(const sl_merge *m, sl_draft_pool *pool, member *members, uint32_t count, sl_errors *err)
{
    uint32_t groups = 0;
    for (uint32_t i = 0; i < count; i++)
        groups += i == 0 || !one_group(&members[i - 1], &members[i]);
    pool->groups = sl_arena_alloc(m->arena, groups > 0 ? groups : 1, sizeof *pool->groups);
    if (pool->groups == NULL)
        return out_of_memory(err);
    for (uint32_t from = 0, to = 0; from < count; from = to) {
        for (to = from + 1; to < count && one_group(&members[from], &members[to]);)
            to++;
        sl_draft_group *const group = &pool->groups[pool->group_count++];
        *group = (sl_draft_group){
            .state = members[from].state, .reason = members[from].reason, .count = to - from};
        pool->in_state[group->state] += group->count;
        const sl_code code =
            compress(m, members + from, to - from, &group->hosts, &group->host_entries, err);
        if (code != SL_OK)
            return code;
    }
    return compress(m, members, count, &pool->hosts, &pool->host_entries, err);
}

/* Hosts of one domain reach one another over the scale-up links: the domain is larger than a node.
 * members: of the pool, sorted by domain. */
static void
size_domain(const sl_merge *m, uint32_t index, const member *members, uint32_t count)
{
    sl_draft_pool *const pool = &m->draft->pools[index];
    const double per_node = sl_value_number(&pool->value[SL_FIELD_ACCELERATORS]);
    uint32_t usual = 0, domains = 0;
    bool differ = false;

    for (uint32_t from = 0, to = 0; from < count; from = to) {
        for (to = from + 1;
             to < count && text_order(members[from].domain, members[to].domain) == 0;)
            to++;
        if (members[from].domain == NULL)
            continue;
        differ = differ || (domains > 0 && to - from != usual);
        usual = to - from > usual ? to - from : usual;
        domains++;
    }
    if (usual <= 1 || per_node <= 0)
        return;
    pool->value[SL_FIELD_SCALE_UP_DOMAIN] =
        (sl_value){.fact = {.said = true, .number = usual * per_node},
                   .origin = SL_FROM_LIKE,
                   .reason = "nodes that a file puts into one scale-up domain, times their parts"};
    if (differ)
        sl_draft_note_add(m->draft, m->arena, "domains_differ", true, "",
                          "the %u scale-up domains of the pool are of several sizes; the largest, "
                          "%u nodes, is taken",
                          domains, usual);
}

static sl_draft_pool *
pool_of(sl_draft *draft, uint32_t index)
{
    return index == UINT32_MAX ? &draft->bare : &draft->pools[index];
}

sl_code
sl_merge_place_hosts(const sl_merge *m, sl_errors *err)
{
    assert(m != NULL && err != NULL);

    const uint32_t records = sl_findings_count(m->findings);
    sl_draft *const draft = m->draft;
    member *const members = sl_arena_alloc(m->arena, records > 0 ? records : 1, sizeof *members);
    uint32_t count = 0;

    if (members == NULL)
        return out_of_memory(err);
    for (uint32_t i = 0; i < records; i++) {
        const sl_found_host *const host = sl_findings_host(m->findings, i);
        if (m->class_of[i] == SL_FOUND_NONE)
            continue;
        const sl_class *const class = m->classes[m->class_of[i]];
        sl_draft_pool *const pool = pool_of(draft, class->pool_index);
        if (host->name != NULL) {
            members[count++] = member_of(m, i);
        } else if (!class->absorbed) {
            pool->unnamed += host->count;
            pool->in_state[host->state] += host->count;
        }
    }
    for (int pass = 0; pass < 2; pass++) {
        sl_sort(members, count, sizeof *members, pass == 0 ? by_domain : by_group);
        for (uint32_t from = 0, to = 0; from < count; from = to) {
            const uint32_t pool = members[from].pool;
            sl_code code = SL_OK;
            for (to = from + 1; to < count && members[to].pool == pool;)
                to++;
            if (pass == 0 && pool != UINT32_MAX)
                size_domain(m, pool, members + from, to - from);
            else if (pass == 1)
                code = group_pool(m, pool_of(draft, pool), members + from, to - from, err);
            if (code != SL_OK)
                return code;
        }
    }
    return SL_OK;
}
