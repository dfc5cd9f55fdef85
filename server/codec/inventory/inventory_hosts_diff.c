#include "codec/inventory/inventory_hosts_diff.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "codec/inventory/hosts.h"

/* A host and its pool, both in documents or the arena; of one that moved, where to as well. */
typedef struct placed {
    const char *name;
    const char *pool;
    const char *to;
} placed;

/* The hosts of one spec by name, each once. */
typedef struct host_set {
    placed *list;
    size_t count;
    bool whole; /* false: there are more than are compared */
    sl_arena *arena;
    const char *pool; /* that is being read */
} host_set;

static int
by_name(const void *a, const void *b)
{
    const placed *const left = a;
    const placed *const right = b;
    return strcmp(left->name, right->name);
}

static int
by_way(const void *a, const void *b)
{
    const placed *const left = a;
    const placed *const right = b;
    const int from = strcmp(left->pool, right->pool);
    const int to = from != 0 ? from : strcmp(left->to, right->to);
    return to != 0 ? to : strcmp(left->name, right->name);
}

static sl_code
no_memory(sl_errors *err)
{
    return sl_fail(err, SL_E_MEMORY, "out_of_memory", "",
                   "the hosts exceed the memory of one request");
}

static sl_code
keep(void *context, const char *name, sl_errors *err)
{
    host_set *const set = context;
    placed *const next = &set->list[set->count];
    next->name = sl_arena_copy(set->arena, name);
    next->pool = set->pool;
    if (next->name == NULL)
        return no_memory(err);
    set->count++;
    return SL_OK;
}

/* How many names the entries of a list stand for; entries are texts, as the check has seen. */
static uint64_t
count_list(const sl_node *hosts)
{
    uint64_t total = 0;
    for (size_t i = 0; i < sl_node_count(hosts); i++) {
        sl_errors ignored = {.count = 0};
        sl_node entry;
        const char *text = NULL;
        uint64_t count = 0;
        if (sl_node_at(hosts, i, &entry) && sl_node_as_text(&entry, &text, &ignored) == SL_OK &&
            sl_hosts_count(text, &count))
            total += count;
    }
    return total;
}

static sl_code
read_list(host_set *set, const sl_node *hosts, sl_errors *err)
{
    for (size_t i = 0; i < sl_node_count(hosts); i++) {
        sl_node entry;
        const char *text = NULL;
        uint64_t count = 0;
        sl_errors ignored = {.count = 0};
        if (!sl_node_at(hosts, i, &entry) || sl_node_as_text(&entry, &text, &ignored) != SL_OK ||
            !sl_hosts_count(text, &count))
            continue;
        const sl_code code = sl_hosts_each(text, keep, set, err);
        if (code != SL_OK)
            return code;
    }
    return SL_OK;
}

/* Sorts what was read; a host that is listed twice counts where it is listed first. */
static void
settle(host_set *set)
{
    size_t kept = 0;
    if (set->count > 0)
        qsort(set->list, set->count, sizeof *set->list, by_name);
    for (size_t i = 0; i < set->count; i++)
        if (i == 0 || !sl_text_equal(set->list[i].name, set->list[kept - 1].name))
            set->list[kept++] = set->list[i];
    set->count = kept;
}

static sl_code
reserve(host_set *set, uint64_t count, sl_errors *err)
{
    set->whole = count <= SL_HOSTS_MAX;
    if (!set->whole || count == 0)
        return SL_OK;
    set->list = sl_arena_alloc(set->arena, (size_t)count, sizeof *set->list);
    return set->list != NULL ? SL_OK : no_memory(err);
}

static sl_code
read_spec(const sl_node *spec, sl_arena *arena, host_set *out, sl_errors *err)
{
    sl_errors ignored = {.count = 0};
    sl_node pools;
    sl_node pool;
    sl_node hosts;
    uint64_t total = 0;

    *out = (host_set){.whole = true, .arena = arena};
    if (spec == NULL || !sl_node_member(spec, "pools", &pools))
        return SL_OK;
    for (size_t i = 0; i < sl_node_count(&pools); i++)
        if (sl_node_at(&pools, i, &pool) && sl_node_member(&pool, "hosts", &hosts))
            total += count_list(&hosts);
    sl_code code = reserve(out, total, err);
    for (size_t i = 0; code == SL_OK && out->whole && i < sl_node_count(&pools); i++) {
        out->pool = "";
        if (sl_node_at(&pools, i, &pool) && sl_node_member(&pool, "hosts", &hosts) &&
            sl_node_text(&pool, "name", &out->pool, NULL, &ignored) == SL_OK)
            code = read_list(out, &hosts, err);
    }
    settle(out);
    return code;
}

/* The names of a run of hosts, compressed, as an array. */
static sl_code
write_names(sl_writer *writer, const placed *list, size_t count, sl_arena *arena, sl_errors *err)
{
    const char *const *entries = NULL;
    size_t entry_count = 0;
    sl_code code = SL_OK;

    if (count > 0) {
        const char **const names = sl_arena_alloc(arena, count, sizeof *names);
        if (names == NULL)
            return no_memory(err);
        for (size_t i = 0; i < count; i++)
            names[i] = list[i].name;
        code = sl_hosts_compress(names, count, arena, &entries, &entry_count, err);
    }
    sl_write_array(writer);
    for (size_t i = 0; code == SL_OK && i < entry_count; i++)
        sl_write_text(writer, entries[i]);
    sl_write_array_end(writer);
    return code;
}

static sl_code
write_moved(sl_writer *writer, placed *list, size_t count, sl_arena *arena, sl_errors *err)
{
    sl_code code = SL_OK;

    if (count > 0)
        qsort(list, count, sizeof *list, by_way);
    sl_write_array(writer);
    for (size_t from = 0, to = 0; code == SL_OK && from < count; from = to) {
        while (to < count && sl_text_equal(list[to].pool, list[from].pool) &&
               sl_text_equal(list[to].to, list[from].to))
            to++;
        sl_write_object(writer);
        sl_write_key(writer, "hosts");
        code = write_names(writer, list + from, to - from, arena, err);
        sl_put_text(writer, "from", list[from].pool);
        sl_put_text(writer, "to", list[from].to);
        sl_write_object_end(writer);
    }
    sl_write_array_end(writer);
    return code;
}

/* What is in one set only, and what is in both but in another pool. Each list has its room. */
typedef struct parted {
    placed *added, *removed, *moved;
    sl_hosts_diff counts;
} parted;

static void
part(const host_set *before, const host_set *after, parted *out)
{
    sl_hosts_diff *const counts = &out->counts;
    size_t i = 0;
    size_t j = 0;

    while (i < before->count || j < after->count) {
        const int order = i == before->count  ? 1
                          : j == after->count ? -1
                                              : by_name(&before->list[i], &after->list[j]);
        if (order < 0) {
            out->removed[counts->removed++] = before->list[i++];
        } else if (order > 0) {
            out->added[counts->added++] = after->list[j++];
        } else {
            if (!sl_text_equal(before->list[i].pool, after->list[j].pool)) {
                placed *const moved = &out->moved[counts->moved++];
                *moved = before->list[i];
                moved->to = after->list[j].pool;
            }
            i++;
            j++;
        }
    }
}

sl_code
sl_hosts_diff_write(sl_writer *writer, const sl_node *before, const sl_node *after, sl_arena *arena,
                    sl_hosts_diff *out, sl_errors *err)
{
    host_set left;
    host_set right;
    parted parts = {.counts = {0}};

    sl_code code = read_spec(before, arena, &left, err);
    if (code == SL_OK)
        code = read_spec(after, arena, &right, err);
    if (code != SL_OK)
        return code;
    if (!left.whole || !right.whole) {
        sl_write_null(writer);
        return SL_OK;
    }
    parts.removed = sl_arena_alloc(arena, left.count + 1, sizeof *parts.removed);
    parts.added = sl_arena_alloc(arena, right.count + 1, sizeof *parts.added);
    parts.moved = sl_arena_alloc(arena, left.count + 1, sizeof *parts.moved);
    if (parts.removed == NULL || parts.added == NULL || parts.moved == NULL)
        return no_memory(err);
    part(&left, &right, &parts);

    sl_write_object(writer);
    sl_write_key(writer, "added");
    code = write_names(writer, parts.added, parts.counts.added, arena, err);
    sl_write_key(writer, "removed");
    if (code == SL_OK)
        code = write_names(writer, parts.removed, parts.counts.removed, arena, err);
    if (code != SL_OK)
        return code;
    sl_write_key(writer, "moved");
    code = write_moved(writer, parts.moved, parts.counts.moved, arena, err);
    sl_write_object_end(writer);
    *out = parts.counts;
    out->compared = true;
    return code;
}

sl_code
sl_hosts_same(const sl_node *before, const sl_node *after, sl_arena *arena, bool *same,
              sl_errors *err)
{
    const sl_node *const lists[] = {before, after};
    host_set sets[2];

    *same = false;
    for (size_t i = 0; i < 2; i++) {
        sets[i] = (host_set){.arena = arena, .pool = ""};
        sl_code code = reserve(&sets[i], count_list(lists[i]), err);
        if (code == SL_OK && sets[i].whole)
            code = read_list(&sets[i], lists[i], err);
        if (code != SL_OK || !sets[i].whole)
            return code;
        settle(&sets[i]);
    }
    *same = sets[0].count == sets[1].count;
    for (size_t i = 0; *same && i < sets[0].count; i++)
        *same = sl_text_equal(sets[0].list[i].name, sets[1].list[i].name);
    return SL_OK;
}
