/**
 * Growing byte buffer with a hard limit. A failed append sets `failed` and later appends do
 * nothing, so that a long sequence of writes is checked once, at its end. One with a drain is
 * emptied into it where an append would pass the limit, and fails for what alone is longer.
 */
#ifndef SL_BASE_BUFFER_H
#define SL_BASE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

#include "shardline/error.h"

typedef struct sl_buffer {
    char *data; /* NUL-terminated once anything was appended; owned */
    size_t size;
    size_t capacity;
    size_t limit;
    bool failed;
    void (*drain)(void *context, struct sl_buffer *buffer); /* takes all bytes, size is 0 then, or
                                                               sets failed; NULL: none */
    void *drain_context;
} sl_buffer;

void sl_buffer_init(sl_buffer *buffer, size_t limit_bytes);
void sl_buffer_clear(sl_buffer *buffer); /* frees; the buffer may be initialised again */
void sl_buffer_append(sl_buffer *buffer, const void *bytes, size_t size);

enum { SL_BUFFER_SHORT_SIZE = 32 };

/** The first `size` bytes of a text that has room for more: a short copy of one length takes no
 * call. */
void sl_buffer_append_short(sl_buffer *buffer, const char text[SL_BUFFER_SHORT_SIZE], size_t size);

void sl_buffer_text(sl_buffer *buffer, const char *text);
void sl_buffer_format(sl_buffer *buffer, const char *format, ...) SL_PRINTF(2, 3);

/** Transfers the bytes to the caller, who frees them with free(); the buffer is empty after. NULL
 * when nothing was appended or an append failed. size may be NULL. */
char *sl_buffer_take(sl_buffer *buffer, size_t *size) SL_MUST_CHECK;

#endif
