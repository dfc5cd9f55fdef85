/* The joined status of hosts as an answer carries it. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "codec/inventory/host_join.h"
#include "codec/inventory/hosts.h"
#include "json/members.h"

static int
compare_texts(const char *a, const char *b)
{
    return strcmp(a == NULL ? "" : a, b == NULL ? "" : b);
}

/* Hosts of which the same is said stand together. */
static int
by_word(const void *a, const void *b)
{
    const sl_joined_host *const x = *(const sl_joined_host *const *)a;
    const sl_joined_host *const y = *(const sl_joined_host *const *)b;
    int order = compare_texts(x->reason, y->reason);
    if (order == 0)
        order = compare_texts(x->source, y->source);
    if (order == 0)
        order = compare_texts(x->since, y->since);
    return order != 0 ? order : sl_hosts_compare(&x->name, &y->name);
}

static bool
same_word(const sl_joined_host *a, const sl_joined_host *b)
{
    return compare_texts(a->reason, b->reason) == 0 && compare_texts(a->source, b->source) == 0 &&
           compare_texts(a->since, b->since) == 0;
}

typedef struct writing {
    sl_writer *writer;
    const sl_host_status *status;
    sl_arena *arena;
    const sl_joined_host **hosts; /* room for all */
    const char **names;           /* likewise */
    sl_errors *err;
    sl_code code;
} writing;

/* The names as elements of a list of their own. */
static void
write_names(writing *w, size_t count)
{
    const char *const *entries = NULL;
    size_t entry_count = 0;
    sl_write_array(w->writer);
    if (count > 0)
        sl_keep(&w->code,
                sl_hosts_compress(w->names, count, w->arena, &entries, &entry_count, w->err));
    for (size_t i = 0; i < entry_count; i++)
        sl_write_text(w->writer, entries[i]);
    sl_write_array_end(w->writer);
}

static void
write_state(writing *w, const char *key, sl_observed_state state)
{
    const sl_host_status *const status = w->status;
    size_t count = 0;
    for (uint32_t i = 0; i < status->host_count; i++) {
        const sl_joined_host *const host = &status->hosts[i];
        if (host->pool != SL_NO_POOL && host->state == state && !sl_join_missing(status, host))
            w->hosts[count++] = host;
    }
    if (count > 1)
        qsort(w->hosts, count, sizeof(const sl_joined_host *), by_word);
    sl_write_key(w->writer, key);
    sl_write_array(w->writer);
    for (size_t at = 0; at < count;) {
        const sl_joined_host *const first = w->hosts[at];
        size_t used = 0;
        while (at + used < count && same_word(first, w->hosts[at + used])) {
            w->names[used] = w->hosts[at + used]->name;
            used++;
        }
        sl_write_object(w->writer);
        sl_write_key(w->writer, "hosts");
        write_names(w, used);
        sl_put_uint(w->writer, "count", used);
        sl_put_text(w->writer, "reason", first->reason);
        sl_put_text(w->writer, "source", first->source);
        sl_put_text(w->writer, "since", first->since);
        sl_write_object_end(w->writer);
        at += used;
    }
    sl_write_array_end(w->writer);
}

static void
write_strays(writing *w)
{
    const sl_host_status *const status = w->status;
    size_t count = 0;
    for (uint32_t i = 0; i < status->host_count; i++)
        if (sl_join_missing(status, &status->hosts[i]))
            w->names[count++] = status->hosts[i].name;
    sl_write_key(w->writer, "missing");
    write_names(w, count);
    count = 0;
    for (uint32_t i = 0; i < status->host_count; i++)
        if (sl_join_foreign(&status->hosts[i]))
            w->names[count++] = status->hosts[i].name;
    sl_write_key(w->writer, "unexpected");
    write_names(w, count);
    count = 0;
    for (uint32_t i = 0; i < status->host_count; i++)
        if (status->hosts[i].ambiguous)
            w->names[count++] = status->hosts[i].name;
    sl_write_key(w->writer, "ambiguous");
    write_names(w, count);
}

static void
write_value(sl_writer *writer, const char *key, const char *text, double number)
{
    if (text != NULL)
        sl_put_text(writer, key, text);
    else
        sl_put_double(writer, key, number);
}

/* expected: what that member is called. */
static void
write_contradictions(writing *w, const char *key, const sl_contradiction *list, uint32_t count,
                     const char *expected)
{
    sl_write_key(w->writer, key);
    sl_write_array(w->writer);
    for (uint32_t i = 0; i < count; i++) {
        const sl_contradiction *const entry = &list[i];
        if (entry->host_count > 0)
            memcpy(w->names, entry->hosts, entry->host_count * sizeof *entry->hosts);
        sl_write_object(w->writer);
        sl_put_text(w->writer, "pool", entry->pool);
        sl_write_key(w->writer, "hosts");
        write_names(w, entry->host_count);
        sl_put_text(w->writer, "field", entry->field);
        write_value(w->writer, expected, entry->expected_text, entry->expected_number);
        if (entry->alike > 0)
            sl_put_uint(w->writer, "alike", entry->alike);
        write_value(w->writer, "observed", entry->observed->text, entry->observed->number);
        sl_put_text(w->writer, "source", entry->observed->source);
        sl_write_object_end(w->writer);
    }
    sl_write_array_end(w->writer);
}

static void
write_sources(writing *w)
{
    sl_write_key(w->writer, "sources");
    sl_write_array(w->writer);
    for (uint32_t i = 0; i < w->status->observation_count; i++) {
        const sl_observation *const source = &w->status->observations[i];
        sl_write_object(w->writer);
        sl_put_text(w->writer, "source", source->source);
        sl_put_text(w->writer, "format", source->format);
        sl_put_text(w->writer, "observed_at", source->observed_at);
        sl_put_uint(w->writer, "stale_after_s", source->stale_after_s);
        sl_put_bool(w->writer, "stale", source->stale);
        sl_put_uint(w->writer, "hosts", source->hosts);
        sl_write_object_end(w->writer);
    }
    sl_write_array_end(w->writer);
}

static void
write_pools(writing *w)
{
    uint64_t usable = 0;
    for (uint32_t i = 0; i < w->status->pool_count; i++)
        usable += w->status->pools[i].hosts.usable;
    sl_put_uint(w->writer, "usable", usable);
    sl_write_key(w->writer, "pools");
    sl_write_array(w->writer);
    for (uint32_t i = 0; i < w->status->pool_count; i++) {
        const sl_pool_hosts *const pool = &w->status->pools[i].hosts;
        sl_write_object(w->writer);
        sl_put_text(w->writer, "name", pool->name);
        sl_put_uint(w->writer, "nodes", pool->nodes);
        sl_put_uint(w->writer, "usable", pool->usable);
        sl_put_text(w->writer, "left_out", pool->left_out);
        sl_write_object_end(w->writer);
    }
    sl_write_array_end(w->writer);
}

sl_code
sl_host_status_write(sl_writer *writer, const sl_host_status *status, sl_arena *arena,
                     sl_errors *err)
{
    assert(writer != NULL && status != NULL && arena != NULL && err != NULL);

    const size_t room = status->host_count > 0 ? status->host_count : 1;
    writing w = {.writer = writer, .status = status, .arena = arena, .err = err};
    w.hosts = sl_arena_alloc(arena, room, sizeof(const sl_joined_host *));
    w.names = sl_arena_alloc(arena, room, sizeof(const char *));
    if (w.hosts == NULL || w.names == NULL)
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory for the hosts");
    sl_write_object(writer);
    write_pools(&w);
    write_state(&w, "drained", SL_OBSERVED_DRAINED);
    write_state(&w, "down", SL_OBSERVED_DOWN);
    write_strays(&w);
    write_contradictions(&w, "contradictions", status->contradictions, status->contradiction_count,
                         "spec");
    write_contradictions(&w, "unequal", status->unequal, status->unequal_count, "usual");
    write_sources(&w);
    sl_write_object_end(writer);
    return w.code;
}
