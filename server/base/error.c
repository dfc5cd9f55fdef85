#include "shardline/error.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include "base/text.h"

sl_code
sl_fail(sl_errors *err, sl_code code, const char *rule, const char *pointer, const char *format,
        ...)
{
    assert(err != NULL && rule != NULL && pointer != NULL && format != NULL);
    assert(code > SL_OK && code < SL_CODE_COUNT);

    if (err->count >= SL_ERRORS_MAX) {
        err->dropped++;
        return code;
    }
    sl_error *error = &err->list[err->count];
    error->code = code;
    error->rule = rule;
    error->message[0] = error->hint[0] = '\0';
    error->retry_after_s = 0;
    (void)sl_text_copy(error->pointer, sizeof error->pointer, pointer);
    err->count++;
    if (err->terse)
        return code;

    va_list arguments;
    va_start(arguments, format);
    (void)sl_text_vformat(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return code;
}

void
sl_hint(sl_errors *err, const char *format, ...)
{
    assert(err != NULL && format != NULL);

    /* Once an error was dropped, the one appended last is not in the list. */
    if (err->count == 0 || err->dropped > 0 || err->terse)
        return;
    sl_error *error = &err->list[err->count - 1];
    va_list arguments;
    va_start(arguments, format);
    (void)sl_text_vformat(error->hint, sizeof error->hint, format, arguments);
    va_end(arguments);
}

void
sl_hint_values(sl_errors *err, const uint64_t *values, uint32_t count)
{
    assert(err != NULL && (values != NULL || count == 0));

    if (err->count == 0 || err->dropped > 0 || err->terse)
        return;

    sl_error *error = &err->list[err->count - 1];
    const size_t room = sizeof error->hint - sizeof ", ..."; /* the ellipsis always fits */
    size_t used = 0;

    for (uint32_t i = 0; i < count; i++) {
        char one[24];
        (void)sl_text_format(one, sizeof one, "%s%" PRIu64, i == 0 ? "" : ", ", values[i]);
        const size_t length = strlen(one);
        if (used + length >= room) {
            (void)sl_text_copy(error->hint + used, sizeof error->hint - used, ", ...");
            return;
        }
        (void)sl_text_copy(error->hint + used, sizeof error->hint - used, one);
        used += length;
    }
}

void
sl_hint_divisors(sl_errors *err, uint64_t a, uint64_t b, uint64_t most)
{
    uint64_t found[64];
    uint32_t count = 0;

    if (err->terse)
        return;
    for (uint64_t d = 1; d <= most && d <= a && count < sizeof found / sizeof found[0]; d++)
        if (a % d == 0 && b % d == 0)
            found[count++] = d;
    sl_hint_values(err, found, count);
}

void
sl_retry_after(sl_errors *err, uint32_t seconds)
{
    assert(err != NULL);
    if (err->count > 0 && err->dropped == 0)
        err->list[err->count - 1].retry_after_s = seconds;
}
