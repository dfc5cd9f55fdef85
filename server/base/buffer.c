#include "base/buffer.h"

#include <assert.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY_BYTES = 256 };

void
sl_buffer_init(sl_buffer *buffer, size_t limit_bytes)
{
    assert(buffer != NULL);
    /* One byte is kept for the NUL. */
    *buffer = (sl_buffer){.limit = limit_bytes < SIZE_MAX ? limit_bytes : SIZE_MAX - 1};
}

void
sl_buffer_clear(sl_buffer *buffer)
{
    assert(buffer != NULL);
    free(buffer->data);
    *buffer = (sl_buffer){
        .limit = buffer->limit, .drain = buffer->drain, .drain_context = buffer->drain_context};
}

static bool
grow(sl_buffer *buffer, size_t more)
{
    if (buffer->failed)
        return false;
    if (more > buffer->limit - buffer->size && buffer->drain != NULL)
        buffer->drain(buffer->drain_context, buffer);
    if (buffer->failed || more > buffer->limit - buffer->size) {
        buffer->failed = true;
        return false;
    }
    const size_t needed = buffer->size + more + 1;
    size_t capacity = buffer->capacity > 0 ? buffer->capacity : FIRST_CAPACITY_BYTES;
    while (capacity < needed)
        capacity = capacity <= SIZE_MAX / 2 ? capacity * 2 : needed;
    if (capacity > buffer->limit + 1)
        capacity = buffer->limit + 1;
    char *const grown = realloc(buffer->data, capacity);
    if (grown == NULL) {
        buffer->failed = true;
        return false;
    }
    buffer->data = grown;
    buffer->capacity = capacity;
    return true;
}

/* Makes room for `more` bytes and their NUL; false sets failed. A capacity never exceeds the limit
 * and the NUL. */
static bool
reserve(sl_buffer *buffer, size_t more)
{
    return (!buffer->failed && more < buffer->capacity - buffer->size) || grow(buffer, more);
}

void
sl_buffer_append(sl_buffer *buffer, const void *bytes, size_t size)
{
    assert(buffer != NULL && (bytes != NULL || size == 0));

    if (!reserve(buffer, size))
        return;
    if (size > 0)
        memcpy(buffer->data + buffer->size, bytes, size);
    buffer->size += size;
    buffer->data[buffer->size] = '\0';
}

void
sl_buffer_append_short(sl_buffer *buffer, const char text[SL_BUFFER_SHORT_SIZE], size_t size)
{
    assert(buffer != NULL && text != NULL && size < SL_BUFFER_SHORT_SIZE);

    if (buffer->failed || buffer->capacity - buffer->size < SL_BUFFER_SHORT_SIZE) {
        sl_buffer_append(buffer, text, size);
        return;
    }
    memcpy(buffer->data + buffer->size, text, SL_BUFFER_SHORT_SIZE);
    buffer->size += size;
    buffer->data[buffer->size] = '\0';
}

void
sl_buffer_text(sl_buffer *buffer, const char *text)
{
    assert(text != NULL);
    sl_buffer_append(buffer, text, strlen(text));
}

void
sl_buffer_format(sl_buffer *buffer, const char *format, ...)
{
    assert(buffer != NULL && format != NULL);

    if (!reserve(buffer, 0))
        return;
    const size_t room = buffer->capacity - buffer->size;
    char *const end = buffer->data + buffer->size;
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    const int length = vsnprintf(end, room, format, arguments);
    if (length < 0 || ((size_t)length >= room && !reserve(buffer, (size_t)length))) {
        buffer->failed = true;
        *end = '\0';
    } else {
        if ((size_t)length >= room)
            (void)vsnprintf(buffer->data + buffer->size, (size_t)length + 1, format, again);
        buffer->size += (size_t)length;
    }
    va_end(again);
    va_end(arguments);
}

char *
sl_buffer_take(sl_buffer *buffer, size_t *size)
{
    assert(buffer != NULL);

    if (buffer->failed)
        sl_buffer_clear(buffer);
    char *const data = buffer->data;
    if (size != NULL)
        *size = buffer->size;
    *buffer = (sl_buffer){.limit = buffer->limit};
    return data;
}
