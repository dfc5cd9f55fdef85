/**
 * From keys or names to numbers, in an arena: what a reader met before.
 *
 * Keys are known by 64 bits of hash alone: two that share them are one, which honest ones do once
 * in ten million files and others do to their own inventory. Names are compared with those that
 * their numbers stand for, where the index can ask for these.
 */
#ifndef SL_BASE_INDEX_H
#define SL_BASE_INDEX_H

#include "base/arena.h"
#include "base/hash.h"

/** Set arena, for names also name_of and its owner, and zero the rest. */
typedef struct sl_index {
    sl_arena *arena;
    const char *(*name_of)(const void *owner, uint32_t number);
    const void *owner;
    struct sl_index_slot *slots;
    uint32_t room, used;
} sl_index;

/** A key of one text; sl_hash_quick makes keys of several parts. */
uint64_t sl_index_key(const char *text);

/** The number of a key, 0 where the key is new; until the next call. NULL past the arena's
 * limit. */
uint32_t *sl_index_at(sl_index *index, uint64_t key, bool *known);
bool sl_index_knows(const sl_index *index, uint64_t key);

/** The number of a name of that length; false, and *number untouched, where it is not known. */
bool sl_index_find(const sl_index *index, const char *name, size_t length, uint32_t *number);

/** Adds a name that is not known. Its number must stand for it by the next call. False past the
 * arena's limit. */
bool sl_index_put(sl_index *index, const char *name, uint32_t number) SL_MUST_CHECK;

#endif
