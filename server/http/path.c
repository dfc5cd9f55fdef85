#include "http/path.h"

#include <assert.h>
#include <string.h>

#include "base/text.h"

static int
hex_value(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    if (digit >= 'a' && digit <= 'f')
        return digit - 'a' + 10;
    if (digit >= 'A' && digit <= 'F')
        return digit - 'A' + 10;
    return -1;
}

bool
sl_percent_decode(char *text)
{
    assert(text != NULL);

    char *to = text;
    for (const char *from = text; *from != '\0'; from++) {
        char byte = *from;
        if (byte == '%') {
            const int high = hex_value(from[1]);
            const int low = high < 0 ? -1 : hex_value(from[2]);
            if (low < 0)
                return false;
            byte = (char)(high * 16 + low);
            from += 2;
        }
        if ((byte >= '\0' && byte < ' ') || byte == '\x7f')
            return false;
        *to++ = byte;
    }
    *to = '\0';

    const size_t size = (size_t)(to - text);
    for (size_t at = 0; at < size;) {
        const size_t length = sl_text_character(text + at, size - at);
        if (length == 0)
            return false;
        at += length;
    }
    return true;
}

static sl_code
malformed(sl_errors *err, const char *what)
{
    return sl_fail(err, SL_E_SYNTAX, "malformed_path", "", "the path of the request %s", what);
}

/* Decodes one segment, already cut out of the path. */
static sl_code
segment_decode(char *segment, sl_errors *err)
{
    if (!sl_percent_decode(segment))
        return malformed(err, "must be valid percent-encoded UTF-8 without control characters");
    if (sl_text_equal(segment, ".") || sl_text_equal(segment, ".."))
        return malformed(err, "must not contain dot segments");
    return SL_OK;
}

sl_code
sl_path_parse(const char *raw, sl_arena *arena, sl_path *out, sl_errors *err)
{
    assert(raw != NULL && arena != NULL && out != NULL);

    if (raw[0] != '/')
        return malformed(err, "must start with '/'");
    if (strstr(raw, "//") != NULL)
        return malformed(err, "must not contain '//'");

    const size_t size = strlen(raw) + 1;
    char *const cut = sl_arena_copy(arena, raw);
    char *const text = sl_arena_alloc(arena, size, 1); /* decoding never lengthens */
    if (cut == NULL || text == NULL)
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory for the path");

    sl_path path = {.text = text};
    size_t used = 0;
    for (char *at = cut; at != NULL && at[1] != '\0';) {
        char *const segment = at + 1;
        at = strchr(segment, '/');
        const bool trailing = at != NULL && at[1] == '\0';
        if (path.count + (trailing ? 2U : 1U) > SL_PATH_SEGMENTS_MAX)
            return malformed(err, "has too many segments");
        if (at != NULL)
            *at = '\0';
        const sl_code code = segment_decode(segment, err);
        if (code != SL_OK)
            return code;
        const size_t length = strlen(segment);
        text[used++] = '/';
        memcpy(text + used, segment, length);
        used += length;
        path.segments[path.count++] = segment;
        if (trailing) {
            text[used++] = '/';
            path.segments[path.count++] = "";
        }
    }
    if (used == 0)
        text[used++] = '/';
    text[used] = '\0';
    *out = path;
    return SL_OK;
}
