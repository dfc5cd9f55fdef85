/** From keys to numbers, in an arena: what a reader met before. */
#ifndef SL_INTAKE_INDEX_H
#define SL_INTAKE_INDEX_H

#include "base/arena.h"

/** Set arena, and zero the rest. Keys are known by 64 bits of hash alone: two that share them are one,
 * which honest names do once in ten million files and others do to their own inventory. */
typedef struct sl_index {
    sl_arena *arena;
    struct sl_index_slot *slots;
    uint32_t room, used;
} sl_index;

/** Starts a key, and goes on with its next part. */
#define SL_INDEX_KEY UINT64_C(14695981039346656037)
uint64_t sl_index_key(uint64_t key, const void *bytes, size_t size);
uint64_t sl_index_key_text(uint64_t key, const char *text);

/** The number of a key, 0 where the key is new; until the next call. NULL past the arena's limit. */
uint32_t *sl_index_at(sl_index *index, uint64_t key, bool *known);
bool sl_index_knows(const sl_index *index, uint64_t key);

#endif
