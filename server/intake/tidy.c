#include "intake/tidy.h"

#include <assert.h>
#include <string.h>

#include "intake/lines.h"

enum { LINES_BEFORE_MAX = 64 };

sl_raw
sl_tidy_escapes(const sl_raw *raw, sl_arena *arena)
{
    assert(raw != NULL && arena != NULL);

    if (raw->size == 0 || memchr(raw->text, '\033', raw->size) == NULL)
        return *raw;
    char *const text = sl_arena_alloc(arena, raw->size, 1);
    if (text == NULL)
        return *raw;
    size_t size = 0;
    for (size_t i = 0; i < raw->size;) {
        const size_t skipped = sl_escape_size(raw->text + i, raw->size - i);
        i += skipped;
        if (skipped == 0)
            text[size++] = raw->text[i++];
    }
    return (sl_raw){raw->name, text, size};
}

/* A line that opens a document and nothing else, or an object with its first member. */
static bool
opens_json(const char *line, size_t length)
{
    if (length == 0 || (*line != '{' && *line != '['))
        return false;
    size_t at = 1;
    while (at < length && (line[at] == ' ' || line[at] == '\t'))
        at++;
    return at == length || line[at] == '"' || line[at] == '{';
}

/* A bracket that closes and ends its line; that of the prompt "[root@head ~]#" does not. */
static bool
closes_json(const sl_raw *raw, size_t behind)
{
    if (raw->text[behind - 1] != '}' && raw->text[behind - 1] != ']')
        return false;
    while (behind < raw->size && (raw->text[behind] == ' ' || raw->text[behind] == '\r'))
        behind++;
    return behind == raw->size || raw->text[behind] == '\n';
}

bool
sl_tidy_json(const sl_raw *raw, sl_arena *arena, sl_raw *out)
{
    assert(raw != NULL && arena != NULL && out != NULL);

    sl_lines lines = {.at = raw->text, .end = raw->text + raw->size};
    const char *line = NULL;
    size_t length = 0;
    bool opened = false;

    while (!opened && lines.number < LINES_BEFORE_MAX && sl_lines_next(&lines, &line, &length))
        opened = opens_json(line, length);
    if (!opened)
        return false;
    const size_t from = (size_t)(line - raw->text);
    size_t to = raw->size;
    while (to > from && !closes_json(raw, to))
        to--;
    char *const text = sl_arena_alloc(arena, raw->size, 1);
    if (text == NULL || to == from)
        return false;
    memcpy(text, raw->text, raw->size);
    for (size_t i = 0; i < raw->size; i++)
        if ((i < from || i >= to) && text[i] != '\n')
            text[i] = ' ';
    *out = (sl_raw){raw->name, text, raw->size};
    return true;
}
