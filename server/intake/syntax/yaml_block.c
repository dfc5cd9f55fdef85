#include "intake/syntax/yaml_block.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "base/text.h"

/* libyaml knows keys of up to 1,024 characters as such. */
enum { KEY_MAX_BYTES = 512 };

sl_yaml_block
sl_yaml_block_new(const char *text, size_t size)
{
    assert(text != NULL || size == 0);
    return (sl_yaml_block){.at = text, .end = text + size, .awaits = true};
}

/* Bytes of a character beyond ASCII that is one to libyaml and ends no line; 0: it may not be. */
static size_t
wide_character(const char *at, size_t left)
{
    static const char *const odd[] = {"\xE2\x80\xA8", "\xE2\x80\xA9", "\xEF\xBB\xBF",
                                      "\xEF\xBF\xBE", "\xEF\xBF\xBF"};
    const size_t size = sl_text_character(at, left);

    if (size == 2 && (unsigned char)at[0] == 0xC2 && (unsigned char)at[1] < 0xA0)
        return 0;
    for (size_t i = 0; size == 3 && i < sizeof odd / sizeof odd[0]; i++)
        if (memcmp(at, odd[i], 3) == 0)
            return 0;
    return size;
}

/* Whether eight bytes are of ASCII's printable characters: none is over '~' or under a blank. */
static bool
are_printable(const char *at)
{
    const uint64_t ones = UINT64_MAX / 0xFF;
    uint64_t bytes = 0;

    memcpy(&bytes, at, sizeof bytes);
    return (((bytes + ones) | (bytes - ones * ' ') | bytes) & ones * 0x80) == 0;
}

static bool
is_printable(const char *at, const char *end)
{
    while (at < end) {
        if (end - at >= 8 && are_printable(at)) {
            at += 8;
            continue;
        }
        if (*at >= ' ' && *at <= '~') {
            at++;
            continue;
        }
        const size_t size = (unsigned char)*at < 0x80 ? 0 : wide_character(at, (size_t)(end - at));
        if (size == 0)
            return false;
        at += size;
    }
    return true;
}

/* The next line of the text, whatever it is of; false where none is left or its characters are
 * doubtful. */
static bool
take_line(sl_yaml_block *b)
{
    if (b->at == b->end)
        return false;
    const char *const start = b->at;
    const char *const feed = memchr(start, '\n', (size_t)(b->end - start));
    const char *from = start;
    const char *end = feed != NULL ? feed : b->end;

    b->at = feed != NULL ? feed + 1 : b->end;
    if (feed != NULL && end > from && end[-1] == '\r')
        end--;
    while (from < end && *from == ' ')
        from++;
    while (end > from && end[-1] == ' ')
        end--;
    b->line = (sl_yaml_line){.from = from, .end = end, .column = (uint32_t)(from - start)};
    return is_printable(from, end);
}

static bool
is_empty(const sl_yaml_line *line)
{
    return line->from == line->end;
}

/* At the end of a line or before a blank. */
static bool
is_blank_at(const char *at, const char *end)
{
    return at == end || *at == ' ';
}

static bool
is_dash(const char *at, const char *end)
{
    return at < end && *at == '-' && is_blank_at(at + 1, end);
}

/* Whether what begins here can only be a plain scalar. */
static bool
begins_plain(const char *at, const char *end)
{
    static const char marks[] = "/_.(+<^$~;=\\";
    const unsigned char first = (unsigned char)*at;

    if (first == '-')
        return !is_blank_at(at + 1, end);
    return isalnum(first) || first >= 0x80 || memchr(marks, first, sizeof marks - 1) != NULL;
}

/* Where a plain text stops: at the colon of a key, where a comment begins, or at the end. */
static const char *
end_of_plain(const char *from, const char *end)
{
    const char *at = from;

    for (; at < end; at++) {
        if (*at == ':' && is_blank_at(at + 1, end))
            break;
        if (*at == '#' && (at == from || at[-1] == ' '))
            break;
    }
    return at;
}

/* Whether the rest of a line is text alone: no key ends in it and no comment begins. */
static bool
is_plain(const char *from, const char *end)
{
    return end_of_plain(from, end) == end;
}

/* Where the colon is of the key that begins here; NULL: no key does. `out` takes it. */
static const char *
key_colon(const char *from, const char *end, sl_yaml_step *out)
{
    const bool quoted = *from == '"' || *from == '\'';
    const char *colon = NULL;

    if (quoted) {
        const char *const close = memchr(from + 1, *from, (size_t)(end - from) - 1);
        if (close == NULL || memchr(from, '\\', (size_t)(close - from)) != NULL)
            return NULL;
        colon = close + 1;
    } else if (begins_plain(from, end)) {
        colon = end_of_plain(from, end);
        if (colon > from && colon[-1] == ' ')
            return NULL;
    }
    if (colon == NULL || colon >= end || *colon != ':' || !is_blank_at(colon + 1, end) ||
        colon - from > KEY_MAX_BYTES)
        return NULL;
    out->key = quoted ? from + 1 : from;
    out->key_size = (size_t)(colon - from) - (quoted ? 2 : 0);
    return colon;
}

static uint32_t
column_of_innermost(const sl_yaml_block *b)
{
    assert(b->depth > 0);
    return b->open[b->depth - 1].column;
}

/* Takes lines to the one in which a quoted scalar ends, and nothing may follow it there. */
static bool
pass_quoted(sl_yaml_block *b, const char *at, char quote)
{
    static const char escapes[] = "abtnvfre \"/\\N_LP";

    for (;;) {
        for (; at < b->line.end; at++) {
            if (*at == quote && quote == '\'' && at + 1 < b->line.end && at[1] == quote)
                at++;
            else if (*at == quote)
                return at + 1 == b->line.end;
            else if (*at == '\\' && quote == '"' && ++at < b->line.end &&
                     memchr(escapes, *at, sizeof escapes - 1) == NULL)
                return false;
        }
        if (!take_line(b) || (b->line.column == 0 && !is_empty(&b->line)))
            return false;
        at = b->line.from;
    }
}

/* The column of the next line that is not empty, when it is one of a value's: further right than
 * what the value stands in. 0: it is another's. */
static uint32_t
column_behind(const sl_yaml_block *b)
{
    const char *at = b->at;

    while (at < b->end) {
        const char *from = at;
        while (at < b->end && *at == ' ')
            at++;
        if (at < b->end && *at != '\n' && *at != '\r')
            return at - from > column_of_innermost(b) ? (uint32_t)(at - from) : 0;
        while (at < b->end && *at != '\n')
            at++;
        at += at < b->end;
    }
    return 0;
}

/* Takes lines up to the one that column_behind() has found. Asked again for every empty line before
 * it, that would look through all that follow each time. blanks: empty lines may hold some. */
static bool
take_text(sl_yaml_block *b, bool blanks)
{
    do {
        if (!take_line(b) || (!blanks && is_empty(&b->line) && b->line.column > 0))
            return false;
    } while (is_empty(&b->line));
    return true;
}

/* Literal and folded scalars, behind their mark: lines that begin where the first does, or further
 * right. One that keeps the empty lines behind it ("+") would take in lines that were emptied. */
static bool
pass_literal(sl_yaml_block *b, const char *at)
{
    at += at < b->line.end && *at == '-';
    if (at < b->line.end)
        return false;
    const uint32_t column = column_behind(b);
    /* Blanks before the first line could be its indentation. */
    for (bool begun = false; column > 0 && column_behind(b) > 0; begun = true)
        if (!take_text(b, begun) || b->line.column < column)
            return false;
    return true;
}

/* A plain scalar goes on in lines further right. */
static bool
pass_plain(sl_yaml_block *b, const char *at)
{
    if (!is_plain(at, b->line.end))
        return false;
    while (column_behind(b) > 0)
        if (!take_text(b, true) || !is_plain(b->line.from, b->line.end))
            return false;
    return true;
}

/* A scalar or empty brackets, to the end of its last line. */
static bool
pass_value(sl_yaml_block *b, const char *at)
{
    const char *const end = b->line.end;

    b->awaits = false;
    if (*at == '"' || *at == '\'')
        return pass_quoted(b, at + 1, *at);
    if (*at == '|' || *at == '>')
        return pass_literal(b, at + 1);
    if (end - at == 2 && (memcmp(at, "{}", 2) == 0 || memcmp(at, "[]", 2) == 0))
        return true;
    return begins_plain(at, end) && pass_plain(b, at);
}

/* What a line further left ends; an item of a list ends no list that begins in its column. */
static void
close_levels(sl_yaml_block *b, uint32_t column, bool dash)
{
    while (b->depth > 0) {
        const sl_yaml_level *const innermost = &b->open[b->depth - 1];
        if (innermost->column < column ||
            (innermost->column == column && (innermost->mapping || dash)))
            return;
        b->depth--;
        b->awaits = false;
    }
}

/* A key or an item in that column: of the innermost collection, or of the value it waits for. A
 * sequence may stand in the column of the key whose value it is. */
static bool
enter(sl_yaml_block *b, uint32_t column, bool mapping, bool *first)
{
    const sl_yaml_level *const innermost = b->depth > 0 ? &b->open[b->depth - 1] : NULL;

    *first = false;
    if (innermost != NULL && innermost->column == column && innermost->mapping == mapping)
        return true;
    if (!b->awaits || b->depth == SL_YAML_LEVELS_MAX)
        return false;
    if (innermost != NULL && innermost->column == column && mapping)
        return false;
    *first = true;
    b->open[b->depth++] =
        (sl_yaml_level){.column = column, .number = b->numbered++, .mapping = mapping};
    return true;
}

/* What follows a dash, or stands in a line without one. */
static bool
take_node(sl_yaml_block *b, const char *at, uint32_t column, sl_yaml_step *out)
{
    const char *const end = b->line.end;
    const char *const colon = key_colon(at, end, out);

    if (colon == NULL)
        return b->awaits && b->depth > 0 && column > column_of_innermost(b) && !is_dash(at, end) &&
               pass_value(b, at);
    if (!enter(b, column, true, &out->first))
        return false;
    out->key_depth = b->depth;
    b->awaits = true;
    for (at = colon + 1; at < end && *at == ' ';)
        at++;
    return at == end || pass_value(b, at);
}

bool
sl_yaml_block_step(sl_yaml_block *block, sl_yaml_step *out)
{
    assert(block != NULL && out != NULL);

    *out = (sl_yaml_step){.from = block->at};
    if (!take_line(block))
        return false;
    const sl_yaml_line line = block->line;
    const char *at = line.from;
    out->node = !is_empty(&line) && *at != '#';
    if (!out->node)
        return true;
    if (line.column == 0 && line.end - at >= 3 &&
        (memcmp(at, "---", 3) == 0 || memcmp(at, "...", 3) == 0))
        return false;
    const bool dash = is_dash(at, line.end);
    close_levels(block, line.column, dash);
    if (!dash)
        return take_node(block, at, line.column, out);
    bool first = false;
    if (!enter(block, line.column, false, &first))
        return false;
    out->item_depth = block->depth;
    block->awaits = true;
    for (at++; at < line.end && *at == ' ';)
        at++;
    if (at == line.end)
        return true;
    return take_node(block, at, line.column + (uint32_t)(at - line.from), out);
}
