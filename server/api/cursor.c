#include "api/cursor.h"

#include <string.h>

#include "base/text.h"

static const char digits[] = "0123456789abcdef";

const char *
sl_cursor_write(const sl_cursor *cursor, sl_arena *arena)
{
    /* The key comes last: it alone may hold line ends. */
    const char *const text =
        sl_arena_format(arena, "%s\n%s\n%s", cursor->sort, cursor->slug, cursor->key);
    char *const out = text == NULL ? NULL : sl_arena_alloc(arena, strlen(text) + 1, 2);

    for (size_t i = 0; out != NULL && text[i] != '\0'; i++) {
        const unsigned byte = (unsigned char)text[i];
        out[2 * i] = digits[byte >> 4];
        out[2 * i + 1] = digits[byte & 15];
    }
    return out;
}

/* The byte of two digits; 0, which no text of ours holds, for anything else. */
static char
byte_of(const char *pair)
{
    const char *const high = strchr(digits, pair[0]);
    const char *const low = high == NULL || pair[1] == '\0' ? NULL : strchr(digits, pair[1]);

    if (low == NULL)
        return '\0';
    const unsigned char byte = (unsigned char)((high - digits) * 16 + (low - digits));
    char out;
    memcpy(&out, &byte, 1);
    return out;
}

bool
sl_cursor_read(const char *text, sl_arena *arena, sl_cursor *out)
{
    const size_t length = strlen(text);
    char *const plain = length % 2 == 0 ? sl_arena_alloc(arena, length / 2 + 1, 1) : NULL;

    if (plain == NULL)
        return false;
    for (size_t i = 0; i < length / 2; i++)
        if ((plain[i] = byte_of(text + 2 * i)) == '\0')
            return false;
    char *const slug = strchr(plain, '\n');
    char *const key = slug == NULL ? NULL : strchr(slug + 1, '\n');
    if (key == NULL)
        return false;
    *slug = '\0';
    *key = '\0';
    *out = (sl_cursor){.sort = plain, .slug = slug + 1, .key = key + 1};
    for (const char *at = out->key; *at != '\0';) {
        const size_t size = sl_text_character(at, strlen(at));
        if (size == 0)
            return false;
        at += size;
    }
    return true;
}
