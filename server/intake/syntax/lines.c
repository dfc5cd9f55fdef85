#include "intake/syntax/lines.h"

#include <assert.h>
#include <string.h>

bool
sl_lines_next(sl_lines *lines, const char **line, size_t *length)
{
    assert(lines != NULL && line != NULL && length != NULL);

    if (lines->number == 0 && lines->end - lines->at >= 3 &&
        memcmp(lines->at, "\xEF\xBB\xBF", 3) == 0)
        lines->at += 3; /* the mark that some editors put before UTF-8 */
    if (lines->at >= lines->end)
        return false;
    const size_t rest = (size_t)(lines->end - lines->at);
    const char *const feed = memchr(lines->at, '\n', rest);
    *line = lines->at;
    *length = feed == NULL ? rest : (size_t)(feed - lines->at);
    lines->at = feed == NULL ? lines->end : feed + 1;
    if (*length > 0 && (*line)[*length - 1] == '\r')
        --*length;
    lines->number++;
    return true;
}

size_t
sl_escape_size(const char *at, size_t rest)
{
    if (rest < 2 || at[0] != '\033' || at[1] != '[')
        return 0;
    for (size_t i = 2; i < rest; i++)
        if (at[i] >= 0x40 && at[i] <= 0x7E)
            return i + 1;
    return rest;
}

/* Nearly every line is all text, which is copied at once. */
static size_t
copy_plain(char *to, size_t size, const char *line, size_t length, bool *cut)
{
    *cut = length >= size;
    const size_t used = *cut ? size - 1 : length;
    for (size_t i = 0; i < used; i++) {
        const char byte = line[i];
        to[i] = byte;
        if (byte == '\0' || byte == '\t')
            to[i] = ' ';
    }
    return used;
}

static size_t
copy_without_escapes(char *to, size_t size, const char *line, size_t length, bool *cut)
{
    size_t used = 0;

    *cut = false;
    for (size_t i = 0; i < length && !*cut;) {
        const size_t skipped = sl_escape_size(line + i, length - i);
        i += skipped;
        if (skipped > 0)
            continue;
        bool full = false;
        used += copy_plain(to + used, size - used, line + i++, 1, &full);
        *cut = full;
    }
    return used;
}

bool
sl_lines_copy(sl_lines *lines, char *to, size_t size, bool *cut)
{
    assert(to != NULL && size > 0 && cut != NULL);

    const char *line = NULL;
    size_t length = 0;
    if (!sl_lines_next(lines, &line, &length))
        return false;
    const bool plain = length == 0 || memchr(line, '\033', length) == NULL;
    const size_t used = plain ? copy_plain(to, size, line, length, cut)
                              : copy_without_escapes(to, size, line, length, cut);
    to[used] = '\0';
    return true;
}
