#include <assert.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "json/patch.h"
#include "json/scan.h"

/* An object that is being merged: first its own members in their order, then those that are new. */
typedef struct merging {
    sl_piece_walk target; /* container.value NULL: there is no object to merge into */
    sl_piece patch;
    sl_piece_walk added;
    sl_part *changes; /* the patch's members by name; owned */
    bool adding;
    bool first;         /* no member is written yet */
    const char *blanks; /* before the last member of the target, for those that are added */
    size_t blanks_size;
} merging;

typedef struct merge {
    sl_buffer *out;
    size_t depth;
    merging stack[SL_JSON_DEPTH_MAX];
} merge;

static int
by_name(const void *a, const void *b)
{
    const sl_part *const left = a;
    const sl_part *const right = b;
    return strcmp(left->name, right->name);
}

/* target: NULL, or what the patch finds in its place. False without memory. */
static bool
enter(merge *at, const sl_piece *target, const sl_piece *patch)
{
    assert(at->depth < sizeof at->stack / sizeof at->stack[0]);
    const size_t count = json_object_size(patch->value);
    merging *const top = &at->stack[at->depth];
    *top = (merging){.patch = *patch, .added = sl_piece_open(patch), .first = true};
    if (count > 0) {
        top->changes = calloc(count, sizeof *top->changes);
        if (top->changes == NULL)
            return false;
        sl_piece_walk walk = sl_piece_open(patch);
        for (size_t i = 0; i < count; i++) {
            const bool there = sl_piece_next(&walk, &top->changes[i]);
            assert(there);
        }
        qsort(top->changes, count, sizeof *top->changes, by_name);
    }
    if (target != NULL && json_is_object(target->value))
        top->target = sl_piece_open(target);
    else
        top->adding = true;
    at->depth++;
    sl_buffer_append(at->out, "{", 1);
    return true;
}

static void
leave(merge *at)
{
    merging *const top = &at->stack[--at->depth];
    const sl_piece *const target = &top->target.container;
    if (target->value != NULL) /* the blanks before its bracket */
        sl_buffer_append(at->out, top->target.at,
                         (size_t)(target->text + target->size - 1 - top->target.at));
    sl_buffer_append(at->out, "}", 1);
    free(top->changes);
}

static void
write_lead(merge *at, merging *top, const char *blanks, size_t blanks_size, const sl_part *part)
{
    if (!top->first)
        sl_buffer_append(at->out, ",", 1);
    top->first = false;
    sl_buffer_append(at->out, blanks, blanks_size);
    sl_buffer_append(at->out, part->lead, part->lead_size);
}

/* The value of a patch in place of `target`; an object is merged into it. */
static bool
write_change(merge *at, const sl_piece *target, const sl_piece *change)
{
    if (json_is_object(change->value))
        return enter(at, target, change);
    sl_buffer_append(at->out, change->text, change->size);
    return true;
}

/* One member of the target: as it was, changed, or left out. */
static bool
step_target(merge *at, merging *top)
{
    sl_part own;
    if (!sl_piece_next(&top->target, &own)) {
        top->adding = true;
        return true;
    }
    top->blanks = own.blanks;
    top->blanks_size = own.blanks_size;
    const sl_part wanted = {.name = own.name};
    const sl_part *const change =
        top->changes == NULL ? NULL
                             : bsearch(&wanted, top->changes, json_object_size(top->patch.value),
                                       sizeof wanted, by_name);
    if (change != NULL && json_is_null(change->value.value))
        return true;
    write_lead(at, top, own.blanks, own.blanks_size, &own);
    if (change != NULL)
        return write_change(at, &own.value, &change->value);
    sl_buffer_append(at->out, own.value.text, own.value.size);
    return true;
}

/* One member of the patch that the target does not have; false at their end too. */
static bool
step_added(merge *at, merging *top, bool *ended)
{
    sl_part part;
    *ended = !sl_piece_next(&top->added, &part);
    if (*ended || json_is_null(part.value.value) ||
        json_object_get(top->target.container.value, part.name) != NULL)
        return true;
    write_lead(at, top, top->blanks, top->blanks_size, &part);
    return write_change(at, NULL, &part.value);
}

/* Without recursion: the parser has bounded both depths. */
static bool
merge_all(merge *at, const sl_piece *document, const sl_piece *patch)
{
    bool ok = write_change(at, document, patch);
    while (ok && at->depth > 0) {
        merging *const top = &at->stack[at->depth - 1];
        bool ended = false;
        ok = top->adding ? step_added(at, top, &ended) : step_target(at, top);
        if (ended)
            leave(at);
    }
    while (at->depth > 0)
        free(at->stack[--at->depth].changes);
    return ok;
}

sl_code
sl_json_merge_patch(const char *document, const sl_patch *patch, const sl_json_limits *limits,
                    sl_buffer *out, sl_errors *err)
{
    assert(document != NULL && patch != NULL && limits != NULL && out != NULL && err != NULL);

    sl_json *before = NULL;
    sl_json *change = NULL;
    merge at = {.out = out};
    bool ok = false;
    sl_code code = sl_json_parse(patch->text, patch->size, limits, &change, err);
    if (code == SL_OK)
        code = sl_json_parse(document, strlen(document), limits, &before, err);
    if (code == SL_OK) {
        const sl_piece to = sl_piece_root(sl_json_root(before).value, document, strlen(document));
        const sl_piece by = sl_piece_root(sl_json_root(change).value, patch->text, patch->size);
        ok = merge_all(&at, &to, &by) && !out->failed && out->size <= limits->max_bytes;
        if (!ok)
            code = sl_fail(err, SL_E_TOO_LARGE, "too_large", "",
                           "what the patch makes must not be larger than %zu bytes",
                           limits->max_bytes);
    }
    sl_json_free(before);
    sl_json_free(change);
    return code;
}
