#include "base/index.h"

#include <assert.h>
#include <string.h>

enum { FIRST_ROOM = 256 };

typedef struct sl_index_slot {
    uint64_t key; /* 0: free */
    uint32_t number;
} sl_index_slot;

/* A key is no 0, which marks a free slot. */
static uint64_t
key_of(const char *name, size_t length)
{
    const uint64_t key = sl_hash_quick(SL_QUICK_HASH_START, name, length);
    return key != 0 ? key : 1;
}

uint64_t
sl_index_key(const char *text)
{
    return key_of(text, strlen(text));
}

static bool
is_name(const sl_index *index, uint32_t number, const char *name, size_t length)
{
    const char *const there = index->name_of(index->owner, number);
    return strncmp(there, name, length) == 0 && there[length] == '\0';
}

/* Where a key stands, or would; with a name, where that one does. There is a free slot. */
static sl_index_slot *
slot_of(const sl_index *index, uint64_t key, const char *name, size_t length)
{
    for (uint32_t at = (uint32_t)key;; at++) {
        sl_index_slot *const slot = &index->slots[at & (index->room - 1)];
        if (slot->key == 0 ||
            (slot->key == key && (name == NULL || is_name(index, slot->number, name, length))))
            return slot;
    }
}

/* Puts a slot where its key would stand behind all that share it. */
static void
place(sl_index_slot *slots, uint32_t room, sl_index_slot slot)
{
    uint32_t at = (uint32_t)slot.key;
    while (slots[at & (room - 1)].key != 0)
        at++;
    slots[at & (room - 1)] = slot;
}

static bool
grow(sl_index *index)
{
    assert(index->arena != NULL);

    if (index->used < index->room / 2)
        return true;
    const uint32_t room = index->room > 0 ? 2 * index->room : FIRST_ROOM;
    sl_index_slot *const slots = sl_arena_alloc(index->arena, room, sizeof *slots);
    if (slots == NULL)
        return false;
    for (uint32_t i = 0; i < index->room; i++)
        if (index->slots[i].key != 0)
            place(slots, room, index->slots[i]);
    index->slots = slots;
    index->room = room;
    return true;
}

uint32_t *
sl_index_at(sl_index *index, uint64_t key, bool *known)
{
    assert(index != NULL && known != NULL);

    if (!grow(index))
        return NULL;
    key = key != 0 ? key : 1;
    sl_index_slot *const slot = slot_of(index, key, NULL, 0);
    *known = slot->key == key;
    index->used += !*known;
    slot->key = key;
    return &slot->number;
}

bool
sl_index_knows(const sl_index *index, uint64_t key)
{
    assert(index != NULL);
    return index->room > 0 && slot_of(index, key != 0 ? key : 1, NULL, 0)->key != 0;
}

bool
sl_index_find(const sl_index *index, const char *name, size_t length, uint32_t *number)
{
    assert(index != NULL && index->name_of != NULL && name != NULL && number != NULL);

    const sl_index_slot *const slot =
        index->room > 0 ? slot_of(index, key_of(name, length), name, length) : NULL;
    if (slot == NULL || slot->key == 0)
        return false;
    *number = slot->number;
    return true;
}

bool
sl_index_put(sl_index *index, const char *name, uint32_t number)
{
    assert(index != NULL && name != NULL);

    if (!grow(index))
        return false;
    place(index->slots, index->room, (sl_index_slot){sl_index_key(name), number});
    index->used++;
    return true;
}
