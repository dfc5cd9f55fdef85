#include "intake/index.h"

#include <assert.h>
#include <string.h>

enum { FIRST_ROOM = 256 };

typedef struct sl_index_slot {
    uint64_t key; /* 0: free */
    uint32_t value;
} sl_index_slot;

/* FNV-1a */
uint64_t
sl_index_key(uint64_t key, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        key = (key ^ ((const unsigned char *)bytes)[i]) * UINT64_C(1099511628211);
    return key;
}

uint64_t
sl_index_key_text(uint64_t key, const char *text)
{
    return sl_index_key(key, text, strlen(text));
}

/* Where a key stands, or would. There is a free slot. */
static sl_index_slot *
slot_of(sl_index_slot *slots, uint32_t room, uint64_t key)
{
    uint32_t at = (uint32_t)key & (room - 1);
    while (slots[at].key != 0 && slots[at].key != key)
        at = (at + 1) & (room - 1);
    return &slots[at];
}

static bool
grow(sl_index *index)
{
    if (index->used < index->room / 2)
        return true;
    const uint32_t room = index->room > 0 ? 2 * index->room : FIRST_ROOM;
    sl_index_slot *const slots = sl_arena_alloc(index->arena, room, sizeof *slots);
    if (slots == NULL)
        return false;
    for (uint32_t i = 0; i < index->room; i++)
        if (index->slots[i].key != 0)
            *slot_of(slots, room, index->slots[i].key) = index->slots[i];
    index->slots = slots;
    index->room = room;
    return true;
}

uint32_t *
sl_index_at(sl_index *index, uint64_t key, bool *known)
{
    assert(index != NULL && index->arena != NULL && known != NULL);

    if (!grow(index))
        return NULL;
    key = key != 0 ? key : 1;
    sl_index_slot *const slot = slot_of(index->slots, index->room, key);
    *known = slot->key == key;
    index->used += !*known;
    slot->key = key;
    return &slot->value;
}

bool
sl_index_knows(const sl_index *index, uint64_t key)
{
    assert(index != NULL);
    return index->room > 0 && slot_of(index->slots, index->room, key != 0 ? key : 1)->key != 0;
}
