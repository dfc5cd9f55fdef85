#include "intake/facts_json.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "codec/inventory/observed.h"

/* A host with what is said of it, while hosts are grouped. */
typedef struct entry {
    const char *name; /* NULL: not named */
    uint64_t count;
    sl_host_state state;
    const char *reason; /* "": none */
    const char *since;
    uint32_t kind;
} entry;

/* Both tell states apart by the same numbers. */
_Static_assert((int)SL_HOST_UNSAID == (int)SL_OBSERVED_UNSAID &&
                   (int)SL_HOST_USABLE == (int)SL_OBSERVED_USABLE &&
                   (int)SL_HOST_DRAINED == (int)SL_OBSERVED_DRAINED &&
                   (int)SL_HOST_DOWN == (int)SL_OBSERVED_DOWN,
               "states are kept as they were found");

static int
by_name(const void *a, const void *b)
{
    return strcmp(((const entry *)a)->name, ((const entry *)b)->name);
}

static int
by_word(const void *a, const void *b)
{
    const entry *const x = a;
    const entry *const y = b;
    if (x->state != y->state)
        return x->state < y->state ? -1 : 1;
    if ((x->name == NULL) != (y->name == NULL))
        return x->name == NULL ? 1 : -1;
    int order = strcmp(x->reason, y->reason);
    if (order == 0)
        order = strcmp(x->since, y->since);
    if (order == 0 && x->kind != y->kind)
        order = x->kind < y->kind ? -1 : 1;
    return order != 0 || x->name == NULL ? order : sl_hosts_compare(&x->name, &y->name);
}

static bool
same_word(const entry *a, const entry *b)
{
    return a->state == b->state && (a->name == NULL) == (b->name == NULL) && a->kind == b->kind &&
           sl_text_equal(a->reason, b->reason) && sl_text_equal(a->since, b->since);
}

/* Hosts of the present, by name, and the state that they were in. */
typedef struct carrying {
    entry *entries; /* the named ones, sorted by name */
    size_t count;
    sl_observed_group group;
    const char *since;
} carrying;

static sl_code
carry_host(void *context, const char *name, sl_errors *err)
{
    const carrying *const from = context;
    const entry wanted = {.name = name};
    entry *const now = from->count == 0 ? NULL
                                        : bsearch(&wanted, from->entries, from->count,
                                                  sizeof *from->entries, by_name);
    const char *const reason = from->group.reason == NULL ? "" : from->group.reason;
    (void)err;
    if (now != NULL && (int)now->state == (int)from->group.state &&
        sl_text_equal(now->reason, reason))
        now->since = from->since;
    return SL_OK;
}

/* What a document of another release does not say begins now. */
static sl_code
carry_since(carrying *to, const char *previous, sl_arena *arena, sl_errors *err)
{
    sl_observed before;
    sl_errors unseen = {0};
    sl_code code = SL_OK;
    const bool readable = sl_observed_open(previous, strlen(previous), &before, &unseen) == SL_OK;
    for (size_t i = 0; readable && code == SL_OK && i < sl_observed_count(&before); i++) {
        sl_node host;
        const char *list = NULL;
        if (!sl_observed_group_at(&before, i, &to->group) || *to->group.since == '\0')
            continue;
        to->since = sl_arena_copy(arena, to->group.since);
        if (to->since == NULL)
            code = sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory for the hosts");
        for (size_t j = 0; code == SL_OK && sl_node_at(&to->group.hosts, j, &host); j++)
            if (sl_node_as_text(&host, &list, &unseen) == SL_OK)
                code = sl_hosts_each(list, carry_host, to, &unseen);
    }
    sl_observed_close(&before);
    return code;
}

static void
write_kind(sl_writer *writer, const sl_facts *facts)
{
    sl_write_object(writer);
    for (uint32_t i = 0; i < SL_FIELD_COUNT; i++) {
        const sl_fact *const fact = &facts->field[i];
        if (!fact->said)
            continue;
        sl_write_key(writer, sl_field_name((sl_field)i));
        sl_write_object(writer);
        if (sl_field_is_text((sl_field)i))
            sl_put_text(writer, "value", fact->text);
        else
            sl_put_double(writer, "value", fact->number);
        sl_put_known_uint(writer, "line", fact->place.line);
        sl_put_text(writer, "path", fact->place.path);
        sl_write_object_end(writer);
    }
    sl_write_object_end(writer);
}

static void
write_kinds(sl_writer *writer, const sl_findings *findings)
{
    sl_write_key(writer, "kinds");
    sl_write_array(writer);
    for (uint32_t i = 0; i < sl_findings_kind_count(findings); i++)
        write_kind(writer, sl_findings_kind(findings, i));
    sl_write_array_end(writer);
}

static void
write_warnings(sl_writer *writer, const sl_findings *findings)
{
    uint32_t dropped = 0;
    const uint32_t count = sl_findings_warning_count(findings, &dropped);
    sl_write_key(writer, "warnings");
    sl_write_array(writer);
    for (uint32_t i = 0; i < count; i++) {
        const sl_found_warning *const warning = sl_findings_warning(findings, i);
        sl_write_object(writer);
        sl_put_text(writer, "code", warning->code);
        sl_put_text(writer, "message", warning->text);
        sl_put_known_uint(writer, "line", warning->place.line);
        sl_put_text(writer, "path", warning->place.path);
        sl_put_uint(writer, "count", warning->count);
        sl_write_object_end(writer);
    }
    sl_write_array_end(writer);
}

/* One group from entries[at] on; *used of them are of it. */
static sl_code
write_group(sl_writer *writer, const entry *entries, size_t count, const char **names,
            sl_arena *arena, size_t *used, sl_errors *err)
{
    const char *const *spelled = NULL;
    size_t spelled_count = 0;
    uint64_t nodes = 0;
    size_t i = 0;
    for (; i < count && same_word(&entries[0], &entries[i]); i++) {
        names[i] = entries[i].name;
        nodes += entries[i].count;
    }
    *used = i;
    sl_code code = SL_OK;
    if (entries[0].name != NULL)
        code = sl_hosts_compress(names, i, arena, &spelled, &spelled_count, err);
    sl_write_object(writer);
    sl_put_text(writer, "state", sl_host_state_names[entries[0].state]);
    sl_put_text(writer, "reason", *entries[0].reason == '\0' ? NULL : entries[0].reason);
    sl_put_text(writer, "since", entries[0].since);
    sl_put_uint(writer, "kind", entries[0].kind);
    sl_put_uint(writer, "count", nodes);
    sl_write_key(writer, "hosts");
    sl_write_array(writer);
    for (size_t j = 0; j < spelled_count; j++)
        sl_write_text(writer, spelled[j]);
    sl_write_array_end(writer);
    sl_write_object_end(writer);
    return code;
}

/* A host in each of its records; *named: how many of the entries have a name, and stand first. */
static void
fill_entries(const sl_findings *findings, const char *now, entry *entries, size_t *named,
             bool *listing)
{
    const uint32_t count = sl_findings_count(findings);
    size_t first = 0, last = count;
    for (uint32_t i = 0; i < count; i++) {
        const sl_found_host *const host = sl_findings_host(findings, i);
        entry *const to = host->name != NULL ? &entries[first++] : &entries[--last];
        *to = (entry){.name = host->name,
                      .count = host->count,
                      .state = host->state,
                      .reason = host->reason == NULL ? "" : host->reason,
                      .since = now,
                      .kind = host->kind};
        *listing = *listing || (host->name != NULL && host->state != SL_HOST_UNSAID);
    }
    *named = first;
}

sl_code
sl_facts_write(sl_writer *writer, sl_findings *findings, const char *previous, const char *now,
               uint64_t *hosts, sl_errors *err)
{
    assert(writer != NULL && findings != NULL && now != NULL && hosts != NULL && err != NULL);

    const size_t count = sl_findings_count(findings);
    sl_arena *const arena = sl_findings_arena(findings);
    entry *const entries = sl_arena_alloc(arena, count + 1, sizeof *entries);
    const char **const names = sl_arena_alloc(arena, count + 1, sizeof *names);
    if (entries == NULL || names == NULL)
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory for the hosts");

    sl_code code = SL_OK;
    carrying to = {.entries = entries};
    bool listing = false;
    fill_entries(findings, now, entries, &to.count, &listing);
    if (to.count > 1)
        qsort(entries, to.count, sizeof *entries, by_name);
    if (previous != NULL)
        code = carry_since(&to, previous, arena, err);
    if (count > 1)
        qsort(entries, count, sizeof *entries, by_word);

    *hosts = 0;
    sl_write_object(writer);
    sl_put_bool(writer, "listing", listing);
    sl_write_key(writer, "groups");
    sl_write_array(writer);
    for (size_t at = 0, used = 0; at < count && code == SL_OK; at += used) {
        code = write_group(writer, &entries[at], count - at, names, arena, &used, err);
        for (size_t i = 0; i < used; i++)
            *hosts += entries[at + i].count;
    }
    sl_write_array_end(writer);
    write_kinds(writer, findings);
    write_warnings(writer, findings);
    sl_write_object_end(writer);
    return code;
}
