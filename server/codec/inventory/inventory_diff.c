#include "codec/inventory/inventory_diff.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "codec/inventory/inventory.h"
#include "codec/inventory/inventory_hosts_diff.h"

enum {
    HEADLINES_MAX = 3, /* changes that the summary quotes */
    TEXT_SIZE = 320,
    SUMMARY_SIZE = 1280,
    VALUE_SIZE = 64,
    PATH_SIZE = 128,
    POINTER_SIZE = 512
};

typedef struct differ {
    sl_writer *writer;
    sl_arena *arena;
    const char *pool; /* whose members are compared; NULL: those of the spec */
    uint32_t count;
    char headlines[HEADLINES_MAX][TEXT_SIZE];
} differ;

/* A scalar in words; "" for what has none that are short. */
static void
value_words(const sl_node *node, char out[VALUE_SIZE])
{
    sl_buffer text;
    const sl_json_kind kind = sl_node_kind(node);

    out[0] = '\0';
    if (kind == SL_JSON_OBJECT || kind == SL_JSON_ARRAY)
        return;
    sl_buffer_init(&text, SIZE_MAX);
    if (sl_json_canonical(node, &text) == SL_OK)
        (void)sl_text_copy(out, VALUE_SIZE, text.data);
    sl_buffer_clear(&text);
}

/* A field within its pool or spec: "labels.site". */
static void
path_words(const differ *at, const char *pointer, char out[PATH_SIZE])
{
    const char *path = pointer + 1;

    for (int i = 0; at->pool != NULL && i < 2; i++) /* behind "/pools/7" */
        path += strcspn(path, "/") + (path[strcspn(path, "/")] == '/');
    (void)sl_text_copy(out, PATH_SIZE, path);
    for (char *slash = strchr(out, '/'); slash != NULL; slash = strchr(slash, '/'))
        *slash = '.';
}

static void
write_value(differ *at, const char *key, const sl_node *node)
{
    sl_buffer text;

    if (node == NULL)
        return;
    sl_buffer_init(&text, SIZE_MAX);
    sl_write_key(at->writer, key);
    if (sl_json_canonical(node, &text) == SL_OK)
        sl_write_raw(at->writer, text.data, text.size);
    else
        sl_write_null(at->writer);
    sl_buffer_clear(&text);
}

static void
write_change(differ *at, const char *pointer, const sl_node *before, const sl_node *after,
             const char *text)
{
    sl_write_object(at->writer);
    sl_put_text(at->writer, "pointer", pointer);
    sl_put_text(at->writer, "change",
                before == NULL  ? "added"
                : after == NULL ? "removed"
                                : "changed");
    write_value(at, "from", before);
    write_value(at, "to", after);
    sl_put_text(at->writer, "text", text);
    sl_write_object_end(at->writer);
    if (at->count < HEADLINES_MAX)
        (void)sl_text_copy(at->headlines[at->count], TEXT_SIZE, text);
    at->count++;
}

/* The nodes of a pool, which is what most revisions are about. */
static bool
nodes_words(const differ *at, const char *path, const sl_node *before, const sl_node *after,
            char out[TEXT_SIZE])
{
    sl_errors ignored = {.count = 0};
    uint64_t from = 0;
    uint64_t to = 0;

    if (at->pool == NULL || before == NULL || after == NULL || !sl_text_equal(path, "nodes") ||
        sl_node_as_uint(before, 0, UINT64_MAX, &from, &ignored) != SL_OK ||
        sl_node_as_uint(after, 0, UINT64_MAX, &to, &ignored) != SL_OK)
        return false;
    (void)sl_text_format(out, TEXT_SIZE, "pool %.100s %s from %" PRIu64 " to %" PRIu64 " nodes",
                         at->pool, to > from ? "grew" : "shrank", from, to);
    return true;
}

static void
field_words(const differ *at, const char *path, const sl_node *before, const sl_node *after,
            char out[TEXT_SIZE])
{
    const char *const pool = at->pool == NULL ? "" : at->pool;
    const char *const lead = at->pool == NULL ? "" : "pool ";
    const char *const colon = at->pool == NULL ? "" : ": ";
    char from[VALUE_SIZE] = "";
    char to[VALUE_SIZE] = "";

    if (nodes_words(at, path, before, after, out))
        return;
    if (before != NULL)
        value_words(before, from);
    if (after != NULL)
        value_words(after, to);
    const char *what = before == NULL ? " was added" : after == NULL ? " was removed" : " changed";
    const char *was = "";
    const char *is = "";
    if (before == NULL && to[0] != '\0') {
        what = " was set";
        is = " to ";
    } else if (after == NULL && from[0] != '\0') {
        was = ", having been ";
    } else if (from[0] != '\0' && to[0] != '\0') {
        was = " from ";
        is = " to ";
    }
    (void)sl_text_format(out, TEXT_SIZE, "%s%.80s%s%s%s%s%s%s%s", lead, pool, colon, path, what,
                         was, was[0] == '\0' ? "" : from, is, is[0] == '\0' ? "" : to);
}

/* One field, of which one may be NULL: absent. */
static void
field_change(differ *at, const sl_node *before, const sl_node *after)
{
    char pointer[POINTER_SIZE];
    char path[PATH_SIZE];
    char text[TEXT_SIZE];

    sl_node_pointer(after != NULL ? after : before, pointer, sizeof pointer);
    path_words(at, pointer, path);
    field_words(at, path, before, after, text);
    write_change(at, pointer, before, after, text);
}

static bool
same(const sl_node *a, const sl_node *b)
{
    sl_buffer left;
    sl_buffer right;

    sl_buffer_init(&left, SIZE_MAX);
    sl_buffer_init(&right, SIZE_MAX);
    const bool equal = sl_json_canonical(a, &left) == SL_OK &&
                       sl_json_canonical(b, &right) == SL_OK && left.size == right.size &&
                       memcmp(left.data, right.data, left.size) == 0;
    sl_buffer_clear(&left);
    sl_buffer_clear(&right);
    return equal;
}

/* Two objects on the way: first the members of the earlier one, then those that are new. */
typedef struct level {
    sl_node before;
    sl_node after;
    void *state;
    bool adding;
} level;

/* One step through the innermost pair; false at its end. A pair of objects is entered. */
static bool
step(differ *at, level *stack, size_t *depth, const char *skipped)
{
    level *const top = &stack[*depth - 1];
    sl_node member;
    sl_node other;

    if (!sl_node_next(top->adding ? &top->after : &top->before, &top->state, &member)) {
        const bool more = !top->adding;
        top->adding = true;
        top->state = NULL;
        return more;
    }
    if (sl_node_kind(&member) == SL_JSON_NULL ||
        (*depth == 1 && sl_text_equal(member.key, skipped)))
        return true;
    const bool both = sl_node_member(top->adding ? &top->before : &top->after, member.key, &other);
    if (top->adding) {
        if (!both)
            field_change(at, NULL, &member);
    } else if (!both) {
        field_change(at, &member, NULL);
    } else if (sl_node_kind(&member) == SL_JSON_OBJECT && sl_node_kind(&other) == SL_JSON_OBJECT) {
        assert(*depth < SL_JSON_DEPTH_MAX);
        stack[(*depth)++] = (level){.before = member, .after = other};
    } else if (!same(&member, &other)) {
        field_change(at, &member, &other);
    }
    return true;
}

/* Every member but `skipped`, which is compared elsewhere. */
static void
compare_objects(differ *at, const sl_node *before, const sl_node *after, const char *skipped)
{
    level stack[SL_JSON_DEPTH_MAX] = {{.before = *before, .after = *after}};

    for (size_t depth = 1; depth > 0;)
        if (!step(at, stack, &depth, skipped))
            depth--;
}

/* The pools of a spec by their place. */
typedef struct pool_list {
    sl_node pools;
    sl_node list[SL_INVENTORY_POOLS_MAX];
    const char *names[SL_INVENTORY_POOLS_MAX];
    size_t count;
} pool_list;

static void
read_pools(const sl_node *spec, pool_list *out)
{
    out->count = 0;
    if (spec == NULL || !sl_node_member(spec, "pools", &out->pools))
        return;
    const size_t count = sl_node_count(&out->pools);
    for (size_t i = 0; i < count && i < SL_INVENTORY_POOLS_MAX; i++) {
        sl_errors ignored = {.count = 0};
        const char *name = "";
        if (!sl_node_at(&out->pools, i, &out->list[i]) ||
            sl_node_text(&out->list[i], "name", &name, NULL, &ignored) != SL_OK)
            return;
        out->names[i] = name;
        out->count = i + 1;
    }
}

/* A pool that came or went. */
static void
pool_change(differ *at, const sl_node *before, const sl_node *after, const char *name)
{
    sl_errors ignored = {.count = 0};
    const sl_node *const pool = after != NULL ? after : before;
    char pointer[POINTER_SIZE];
    char text[TEXT_SIZE];
    uint64_t nodes = 0;

    const sl_code code = sl_node_uint(pool, "nodes", 0, UINT64_MAX, &nodes, NULL, &ignored);
    assert(code == SL_OK); /* as when it was stored */
    sl_node_pointer(pool, pointer, sizeof pointer);
    (void)sl_text_format(text, sizeof text,
                         after != NULL ? "pool %.200s was added with %" PRIu64 " nodes"
                                       : "pool %.200s was removed with its %" PRIu64 " nodes",
                         name, nodes);
    write_change(at, pointer, before, after, text);
}

/* The hosts themselves are listed apart; here only that they are written in another way. */
static sl_code
compare_spelling(differ *at, const sl_node *before, const sl_node *after, sl_errors *err)
{
    char pointer[POINTER_SIZE];
    char text[TEXT_SIZE];
    sl_node left;
    sl_node right;
    bool same_hosts = false;

    if (!sl_node_member(before, "hosts", &left) || !sl_node_member(after, "hosts", &right) ||
        same(&left, &right))
        return SL_OK;
    const sl_code code = sl_hosts_same(&left, &right, at->arena, &same_hosts, err);
    if (code != SL_OK || !same_hosts)
        return code;
    sl_node_pointer(&right, pointer, sizeof pointer);
    (void)sl_text_format(text, sizeof text,
                         "pool %.200s: the same hosts are written in another way", at->pool);
    write_change(at, pointer, &left, &right, text);
    return SL_OK;
}

static sl_code
compare_pools(differ *at, const pool_list *before, const pool_list *after, sl_errors *err)
{
    sl_code code = SL_OK;
    size_t last = 0;
    bool ordered = true;

    for (size_t i = 0; i < before->count; i++)
        if (sl_text_index(before->names[i], after->names, after->count) < 0)
            pool_change(at, &before->list[i], NULL, before->names[i]);
    for (size_t i = 0; code == SL_OK && i < after->count; i++) {
        const int was = sl_text_index(after->names[i], before->names, before->count);
        if (was < 0) {
            pool_change(at, NULL, &after->list[i], after->names[i]);
            continue;
        }
        ordered = ordered && (size_t)was >= last;
        last = (size_t)was;
        at->pool = after->names[i];
        compare_objects(at, &before->list[was], &after->list[i], "hosts");
        code = compare_spelling(at, &before->list[was], &after->list[i], err);
        at->pool = NULL;
    }
    if (!ordered)
        write_change(at, "/pools", &before->pools, &after->pools,
                     "the pools stand in another order");
    return code;
}

static void
add_words(char out[SUMMARY_SIZE], const char *words)
{
    const size_t used = strlen(out);
    (void)sl_text_format(out + used, SUMMARY_SIZE - used, "%s%s", used == 0 ? "" : "; ", words);
}

static void
write_summary(const differ *at, const sl_hosts_diff *hosts)
{
    const struct {
        uint64_t count;
        const char *what;
    } moves[] = {{hosts->added, "added"}, {hosts->removed, "removed"}, {hosts->moved, "moved"}};
    char summary[SUMMARY_SIZE] = "";
    char words[TEXT_SIZE];

    for (uint32_t i = 0; i < at->count && i < HEADLINES_MAX; i++)
        add_words(summary, at->headlines[i]);
    if (at->count > HEADLINES_MAX) {
        (void)sl_text_format(words, sizeof words, "%" PRIu32 " further %s",
                             at->count - HEADLINES_MAX,
                             at->count - HEADLINES_MAX == 1 ? "change" : "changes");
        add_words(summary, words);
    }
    for (size_t i = 0; i < sizeof moves / sizeof moves[0]; i++) {
        if (moves[i].count == 0)
            continue;
        (void)sl_text_format(words, sizeof words, "%" PRIu64 " %s %s", moves[i].count,
                             moves[i].count == 1 ? "host" : "hosts", moves[i].what);
        add_words(summary, words);
    }
    if (!hosts->compared)
        add_words(summary, "the hosts are too many to be compared");
    sl_put_text(at->writer, "summary", summary[0] == '\0' ? "the same in meaning" : summary);
}

sl_code
sl_inventory_diff_write(sl_writer *writer, const sl_node *before, const sl_node *after,
                        sl_arena *arena, sl_errors *err)
{
    assert(writer != NULL && after != NULL && arena != NULL && err != NULL);

    differ at = {.writer = writer, .arena = arena};
    sl_hosts_diff hosts = {0};
    pool_list *const left = sl_arena_alloc(arena, 1, sizeof *left);
    pool_list *const right = sl_arena_alloc(arena, 1, sizeof *right);
    if (left == NULL || right == NULL)
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory to compare specs");

    sl_write_key(writer, "hosts");
    sl_code code = sl_hosts_diff_write(writer, before, after, arena, &hosts, err);
    if (code != SL_OK)
        return code;
    sl_write_key(writer, "changes");
    sl_write_array(writer);
    read_pools(before, left);
    read_pools(after, right);
    if (before != NULL)
        compare_objects(&at, before, after, "pools");
    code = compare_pools(&at, left, right, err);
    sl_write_array_end(writer);
    write_summary(&at, &hosts);
    return code;
}
