#include "base/arena.h"

#include <assert.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_BLOCK_BYTES = 8 * 1024, LATER_BLOCK_BYTES = 64 * 1024 };

typedef struct block {
    struct block *next; /* filled before this one; NULL in the first */
    size_t size, used;
    alignas(max_align_t) unsigned char bytes[];
} block;

struct sl_arena {
    size_t limit, used; /* of what callers asked for, with padding */
    block *current;
};

static block *
block_new(size_t size, block *next)
{
    block *const made = malloc(sizeof *made + size);
    if (made != NULL)
        *made = (block){.next = next, .size = size};
    return made;
}

sl_arena *
sl_arena_new(size_t limit_bytes)
{
    sl_arena *const arena = malloc(sizeof *arena);
    block *const first = block_new(FIRST_BLOCK_BYTES, NULL);
    if (arena == NULL || first == NULL) {
        free(first);
        free(arena);
        return NULL;
    }
    *arena = (sl_arena){.limit = limit_bytes, .current = first};
    return arena;
}

void
sl_arena_free(sl_arena *arena)
{
    if (arena == NULL)
        return;
    for (block *at = arena->current; at != NULL;) {
        block *const next = at->next;
        free(at);
        at = next;
    }
    free(arena);
}

/* `size` bytes, not cleared, at a multiple of `alignment`. */
static void *
take(sl_arena *arena, size_t size, size_t alignment)
{
    block *at = arena->current;
    size_t padding = (alignment - at->used % alignment) % alignment;
    const bool fits = padding <= at->size - at->used && size <= at->size - at->used - padding;
    if (!fits)
        padding = 0;
    if (size > SIZE_MAX - sizeof(block) - LATER_BLOCK_BYTES - padding ||
        size + padding > arena->limit - arena->used)
        return NULL;

    if (!fits) {
        at = block_new(size > LATER_BLOCK_BYTES ? size : LATER_BLOCK_BYTES, at);
        if (at == NULL)
            return NULL;
        arena->current = at;
    }
    void *const start = at->bytes + at->used + padding;
    at->used += padding + size;
    arena->used += padding + size;
    return start;
}

void *
sl_arena_alloc(sl_arena *arena, size_t count, size_t size)
{
    assert(arena != NULL);

    if (size != 0 && count > SIZE_MAX / size)
        return NULL;
    void *const start = take(arena, count * size, alignof(max_align_t));
    if (start != NULL)
        memset(start, 0, count * size);
    return start;
}

char *
sl_arena_copy_bytes(sl_arena *arena, const char *bytes, size_t length)
{
    assert(arena != NULL && (bytes != NULL || length == 0));

    char *const copy = length < SIZE_MAX ? take(arena, length + 1, 1) : NULL;
    if (copy == NULL)
        return NULL;
    if (length > 0)
        memcpy(copy, bytes, length);
    copy[length] = '\0';
    return copy;
}

char *
sl_arena_copy(sl_arena *arena, const char *text)
{
    assert(text != NULL);
    return sl_arena_copy_bytes(arena, text, strlen(text));
}

char *
sl_arena_format(sl_arena *arena, const char *format, ...)
{
    assert(arena != NULL && format != NULL);

    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    char *text = NULL;
    const int length = vsnprintf(NULL, 0, format, arguments);
    if (length >= 0)
        text = take(arena, (size_t)length + 1, 1);
    if (text != NULL)
        (void)vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    va_end(arguments);
    return text;
}
