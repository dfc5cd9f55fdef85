/**
 * Bump allocator: everything a request needs is freed at once when it ends.
 * One thread at a time. The owner is whoever called sl_arena_new.
 */
#ifndef SL_BASE_ARENA_H
#define SL_BASE_ARENA_H

#include <stddef.h>

#include "shardline/error.h"

typedef struct sl_arena sl_arena;

/** limit_bytes bounds the sum of all allocations. NULL when the heap is exhausted. */
sl_arena *sl_arena_new(size_t limit_bytes) SL_MUST_CHECK;
void sl_arena_free(sl_arena *arena); /* NULL is fine */

/** count * size bytes, zeroed, aligned for any type; NULL past the limit or on overflow. */
void *sl_arena_alloc(sl_arena *arena, size_t count, size_t size) SL_MUST_CHECK;

/** Copies of text; NULL past the limit. */
char *sl_arena_copy(sl_arena *arena, const char *text) SL_MUST_CHECK;
char *sl_arena_copy_bytes(sl_arena *arena, const char *bytes, size_t length) SL_MUST_CHECK;
char *sl_arena_format(sl_arena *arena, const char *format, ...) SL_PRINTF(2, 3) SL_MUST_CHECK;

#endif
