#include "intake/slurm/keys.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "base/text.h"

enum { LINE_MAX_BYTES = 4 * 1024 * 1024 };

void
sl_slurm_keys_init(sl_slurm_keys *keys, const sl_raw *raw)
{
    assert(keys != NULL && raw != NULL);
    *keys = (sl_slurm_keys){.lines = {.at = raw->text, .end = raw->text + raw->size}};
    sl_buffer_init(&keys->text, LINE_MAX_BYTES);
}

void
sl_slurm_keys_clear(sl_slurm_keys *keys)
{
    sl_buffer_clear(&keys->text);
}

/* Bytes before the comment. "\#" begins none. */
static size_t
before_comment(const char *line, size_t length)
{
    const char *const end = line + length;

    for (const char *at = line; length > 0 && (at = memchr(at, '#', (size_t)(end - at))) != NULL;
         at++)
        if (at == line || at[-1] != '\\')
            return (size_t)(at - line);
    return length;
}

/* A whole line into the buffer. False at the end of the text. */
static bool
gather(sl_slurm_keys *keys)
{
    const char *line = NULL;
    size_t length = 0;

    if (keys->text.failed) {
        sl_buffer_clear(&keys->text);
        sl_buffer_init(&keys->text, LINE_MAX_BYTES);
    }
    keys->text.size = 0;
    if (!sl_lines_next(&keys->lines, &line, &length))
        return false;
    keys->line = keys->lines.number;
    for (;;) {
        const size_t kept = before_comment(line, length);
        size_t end = kept;
        while (end > 0 && isspace((unsigned char)line[end - 1]))
            end--;
        const bool goes_on = kept == length && end > 0 && line[end - 1] == '\\';
        sl_buffer_append(&keys->text, line, goes_on ? end - 1 : kept);
        if (!goes_on || !sl_lines_next(&keys->lines, &line, &length))
            break;
        sl_buffer_text(&keys->text, " ");
    }
    sl_buffer_append(&keys->text, "", 1);
    keys->too_long = keys->text.failed;
    return true;
}

/* NUL bytes before the end of the text are blanks, and "\#" is '#'. */
static void
clean(sl_slurm_keys *keys)
{
    char *to = keys->text.data;
    const char *const end = to + keys->text.size - 1;

    for (const char *at = to; at < end; at++) {
        at += *at == '\\' && at[1] == '#';
        const bool blank = *at == '\0' || (*at >= '\t' && *at <= '\r'); /* as isspace has them */
        *to++ = blank ? ' ' : *at;
    }
    *to = '\0';
}

/* The next of two bytes, or the end. */
static char *
find_either(char *at, char a, char b)
{
    while (*at != a && *at != b && *at != '\0')
        at++;
    return at;
}

/* Cuts the text into keys, in place. */
static void
cut(sl_slurm_keys *keys)
{
    char *at = keys->text.data;

    for (keys->count = 0; keys->count < SL_SLURM_KEYS_MAX;) {
        while (*at == ' ')
            at++;
        if (*at == '\0')
            return;
        char *behind = find_either(at, '=', ' ');
        keys->list[keys->count].key = at;
        keys->list[keys->count].value = NULL;
        if (*behind == '=') {
            const bool quoted = behind[1] == '"';
            char *const value = behind + 1 + quoted;
            *behind = '\0';
            keys->list[keys->count].value = value;
            behind = find_either(value, quoted ? '"' : ' ', '\0');
        }
        const bool last = *behind == '\0';
        keys->count++;
        *behind = '\0';
        /* Slurm takes a list that ends with a comma. */
        for (char *end = behind; end > at && end[-1] == ',';)
            *--end = '\0';
        if (last)
            return;
        at = behind + 1;
    }
}

bool
sl_slurm_keys_next(sl_slurm_keys *keys)
{
    assert(keys != NULL);

    while (gather(keys)) {
        keys->count = 0;
        if (keys->too_long)
            return true;
        clean(keys);
        cut(keys);
        if (keys->count > 0)
            return true;
    }
    return false;
}

const char *
sl_slurm_keys_get(const sl_slurm_keys *keys, const char *key)
{
    for (uint32_t i = 0; i < keys->count; i++)
        if (keys->list[i].value != NULL && sl_text_equal_ignoring_case(keys->list[i].key, key))
            return keys->list[i].value;
    return NULL;
}

bool
sl_slurm_line_begins(const sl_sample *sample, const char *text)
{
    for (const char *at = sample->head; *at != '\0';) {
        at += strspn(at, " \t\r\n");
        size_t same = 0;
        while (text[same] != '\0' &&
               tolower((unsigned char)at[same]) == tolower((unsigned char)text[same]))
            same++;
        if (text[same] == '\0')
            return true;
        at += strcspn(at, "\n");
    }
    return false;
}
