/* Hosts that one document names with their domain and another without. */
#include <assert.h>
#include <string.h>

#include "codec/inventory/host_join.h"

enum { FIRST_ROOM = 64 };

const char *
sl_join_base_name(const void *status, uint32_t base)
{
    return ((const sl_host_status *)status)->bases[base].name;
}

static sl_joined_base *
find_base(const sl_host_status *status, const char *name, size_t length)
{
    uint32_t base = 0;
    return sl_index_find(&status->base_names, name, length, &base) ? &status->bases[base] : NULL;
}

static bool
grow(sl_host_status *status)
{
    const uint32_t room = status->base_room == 0 ? FIRST_ROOM : status->base_room * 2;
    sl_joined_base *const bases = sl_arena_alloc(status->arena, room, sizeof *bases);
    if (bases == NULL)
        return false;
    if (status->bases != NULL)
        memcpy(bases, status->bases, status->base_count * sizeof *bases);
    status->bases = bases;
    status->base_room = room;
    return true;
}

/* The base of a full name, which may be new; NULL without memory. */
static sl_joined_base *
base_of(sl_host_status *status, const char *name, size_t length)
{
    sl_joined_base *const known = find_base(status, name, length);
    if (known != NULL)
        return known;
    const char *const copy = sl_arena_copy_bytes(status->arena, name, length);
    if (copy == NULL || (status->base_count == status->base_room && !grow(status)) ||
        !sl_index_put(&status->base_names, copy, status->base_count))
        return NULL;
    sl_joined_base *const base = &status->bases[status->base_count++];
    *base = (sl_joined_base){.name = copy, .full = SL_NO_HOST};
    return base;
}

bool
sl_join_mention(sl_host_status *status, uint32_t index)
{
    assert(status != NULL && index < status->host_count);

    sl_joined_host *const host = &status->hosts[index];
    const size_t length = strcspn(host->name, ".");
    const bool full = host->name[length] == '.' && length > 0;
    sl_joined_base *const base =
        full ? base_of(status, host->name, length) : find_base(status, host->name, length);
    uint32_t other = SL_NO_HOST;

    host->named_by = status->word;
    if (base == NULL)
        return !full;
    if (full && !host->counted) {
        host->counted = true;
        base->full = index;
        base->fulls++;
    }
    if (!full)
        other = base->full;
    else if (!sl_index_find(&status->names, host->name, length, &other))
        return true;
    base->apart = base->apart || status->hosts[other].named_by == status->word;
    return true;
}

/* The words of a host under its other name, as far as they are later. */
static void
take_words(sl_joined_host *to, const sl_joined_host *from)
{
    to->listed = to->listed || from->listed;
    sl_join_state(to, from);
    if (from->seen_by != NULL && (to->seen_by == NULL || from->named_by > to->named_by)) {
        to->seen_by = from->seen_by;
        to->named_by = from->named_by;
    }
    for (uint32_t i = 0; i < SL_COMPARED_COUNT; i++) {
        const sl_joined_fact *const fact = from->kind.facts[i];
        if (fact == NULL || (to->kind.facts[i] != NULL && to->kind.facts[i]->word > fact->word))
            continue;
        to->kind.facts[i] = fact;
        if (i == SL_COMPARED_ACCELERATOR)
            to->kind.parts = from->kind.parts;
    }
    sl_joined_said **end = &to->said;
    while (*end != NULL)
        end = &(*end)->before;
    *end = from->said;
    to->said_count += from->said_count;
}

/* Whether two names became one host. */
static bool
settle(sl_host_status *status, sl_joined_base *base)
{
    uint32_t index = 0;

    if (!sl_index_find(&status->names, base->name, strlen(base->name), &index))
        return false;
    sl_joined_host *const plain = &status->hosts[index];
    sl_joined_host *const full = &status->hosts[base->full];
    if (base->fulls > 1 || base->apart) {
        base->asked = true;
        base->open = plain->pool == SL_NO_POOL;
        return false;
    }
    sl_joined_host *const kept = full->pool != SL_NO_POOL ? full : plain;
    sl_joined_host *const other = kept == full ? plain : full;
    take_words(kept, other);
    other->joined = true;
    return true;
}

/* What the spec names all of is no question. */
static void
mark_ambiguous(sl_host_status *status)
{
    for (uint32_t pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < status->host_count; i++) {
            sl_joined_host *const host = &status->hosts[i];
            sl_joined_base *const base = find_base(status, host->name, strcspn(host->name, "."));
            if (base == NULL || !base->asked)
                continue;
            base->open = base->open || host->pool == SL_NO_POOL;
            host->ambiguous = pass == 1 && base->open;
        }
}

void
sl_join_names_settle(sl_host_status *status)
{
    assert(status != NULL);

    bool joined = false, asked = false;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < status->base_count; i++) {
        joined = settle(status, &status->bases[i]) || joined;
        asked = asked || status->bases[i].asked;
    }
    if (asked)
        mark_ambiguous(status);
    for (uint32_t i = 0; joined && i < status->host_count; i++)
        if (!status->hosts[i].joined)
            status->hosts[kept++] = status->hosts[i];
    status->host_count = joined ? kept : status->host_count;
}
