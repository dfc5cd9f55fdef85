#include "intake/syntax/json_walk.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

#include "base/text.h"

sl_json_walk
sl_json_walk_new(const char *text, size_t size, uint32_t line)
{
    assert(text != NULL || size == 0);
    return (sl_json_walk){.at = text, .end = text + size, .counted = text, .line = line};
}

uint32_t
sl_json_walk_line(sl_json_walk *walk)
{
    assert(walk != NULL);

    uint32_t count = 0;
    for (const char *at = walk->counted; at < walk->at; at++)
        count += *at == '\n';
    walk->counted = walk->at;
    walk->line += count;
    return walk->line;
}

sl_code
sl_json_walk_fault(sl_json_walk *walk, const char *what, sl_errors *err)
{
    return sl_fail(err, SL_E_SYNTAX, "malformed_json", "", "line %u: %s", sl_json_walk_line(walk),
                   what);
}

/* `at` stands on the opening quote and ends behind the closing one. */
static bool
pass_string(sl_json_walk *w)
{
    const char *const quote = sl_text_closing_quote(w->at + 1, w->end);

    w->at = quote != NULL ? quote + 1 : w->end;
    return quote != NULL;
}

/* What a byte is outside of texts; all others are of words. */
typedef enum kind { WORD, BLANK, MARK } kind;

static const unsigned char kinds[UCHAR_MAX + 1] = {
    [' '] = BLANK, ['\n'] = BLANK, ['\t'] = BLANK, ['\r'] = BLANK, ['"'] = MARK, ['{'] = MARK,
    ['}'] = MARK,  ['['] = MARK,   [']'] = MARK,   [','] = MARK,   [':'] = MARK};

static kind
kind_of(char byte)
{
    return (kind)kinds[(unsigned char)byte];
}

static bool
is_blank(char byte)
{
    return kind_of(byte) == BLANK;
}

void
sl_json_walk_blanks(sl_json_walk *walk)
{
    assert(walk != NULL);

    while (walk->at < walk->end && is_blank(*walk->at))
        walk->at++;
}

static sl_code
open_bracket(sl_json_walk *w, char closes, sl_errors *err)
{
    if (w->depth == SL_JSON_DEPTH_MAX)
        return sl_fail(err, SL_E_SYNTAX, "too_deep", "", "line %u: over %d levels",
                       sl_json_walk_line(w), SL_JSON_DEPTH_MAX);
    w->open[w->depth++] = closes;
    w->at++;
    return SL_OK;
}

sl_code
sl_json_walk_step(sl_json_walk *walk, sl_errors *err)
{
    assert(walk != NULL && walk->at < walk->end && err != NULL);
    const char byte = *walk->at;

    switch (byte) {
    case '"':
        return pass_string(walk) ? SL_OK : sl_json_walk_fault(walk, "a text does not end", err);
    case '{':
        return open_bracket(walk, '}', err);
    case '[':
        return open_bracket(walk, ']', err);
    case '}':
    case ']':
        if (walk->depth == 0 || walk->open[walk->depth - 1] != byte)
            return sl_json_walk_fault(walk, "a bracket closes that was not opened", err);
        walk->depth--;
        break;
    default: {
        const kind same = kind_of(byte);
        while (same != MARK && walk->at + 1 < walk->end && kind_of(walk->at[1]) == same)
            walk->at++;
        break;
    }
    }
    walk->at++;
    return SL_OK;
}

/* Whether a value that began at `from`, with so many brackets around it, is over: behind the bracket
 * that closes it, anything else before what follows values. */
static bool
is_over(const sl_json_walk *w, const char *from, uint32_t around)
{
    if (w->depth != around || from == w->end)
        return false;
    if (*from == '{' || *from == '[')
        return w->at > from;
    return w->at < w->end && (*w->at == ',' || *w->at == ']' || *w->at == '}');
}

static sl_code
ends_inside(sl_json_walk *w, sl_errors *err)
{
    return sl_json_walk_fault(w, "the text ends inside a list", err);
}

sl_code
sl_json_walk_value(sl_json_walk *walk, sl_errors *err)
{
    const uint32_t depth = walk->depth;

    sl_json_walk_blanks(walk);
    const char *const from = walk->at;
    while (walk->at < walk->end && !is_over(walk, from, depth)) {
        const sl_code code = sl_json_walk_step(walk, err);
        if (code != SL_OK)
            return code;
    }
    return is_over(walk, from, depth) ? SL_OK : ends_inside(walk, err);
}

/* A value while it is cut. */
typedef struct cutting {
    sl_member_read is_read;
    sl_buffer *kept;
    const char *kept_end; /* up to here all that is read is kept */
    bool key;             /* a text that begins here is one */
} cutting;

static void
keep(cutting *c, const char *to)
{
    if (to > c->kept_end)
        sl_buffer_append(c->kept, c->kept_end, (size_t)(to - c->kept_end));
    c->kept_end = to;
}

/* Blanks part words, "1 2"; behind anything else they say nothing. */
static void
pass_blanks(sl_json_walk *w, cutting *c)
{
    const char *const from = w->at;
    const bool alone = from > c->kept_end && kind_of(from[-1]) == MARK;

    sl_json_walk_blanks(w);
    if (alone) {
        keep(c, from);
        c->kept_end = w->at;
    }
}

/* Behind a member that nobody reads, whose key began at `from` and was passed. */
static sl_code
leave_out(sl_json_walk *w, cutting *c, const char *from, sl_errors *err)
{
    keep(c, from);
    sl_json_walk_blanks(w);
    if (w->at >= w->end || *w->at != ':')
        return sl_json_walk_fault(w, "a colon is missing behind a key", err);
    w->at++;
    sl_json_walk_blanks(w);
    const char *const value = w->at;
    const sl_code code = sl_json_walk_value(w, err);
    if (code != SL_OK)
        return code;
    if (w->at == value)
        return sl_json_walk_fault(w, "a value is missing behind a key", err);
    sl_json_walk_blanks(w);
    if (w->at < w->end && *w->at == ',') {
        w->at++;
        sl_json_walk_blanks(w);
        if (w->at < w->end && *w->at != '"')
            return sl_json_walk_fault(w, "a key is missing behind a comma", err);
    } else if (w->at < w->end && *w->at == '}') {
        /* The last one: the comma before it goes as well. */
        sl_buffer *const kept = c->kept;
        kept->size -= kept->size > 0 && kept->data[kept->size - 1] == ',';
    } else if (w->at < w->end) {
        return sl_json_walk_fault(w, "a comma is missing behind a value", err);
    }
    c->kept_end = w->at;
    return SL_OK;
}

/* Whether nobody reads the member whose quoted key that is. An escape may spell any name. */
static bool
is_left_out(const cutting *c, uint32_t depth, const char *key, size_t size)
{
    return memchr(key, '\\', size) == NULL && !c->is_read(depth, key + 1, size - 2);
}

/* A text, bracket or other byte. */
static sl_code
cut_step(sl_json_walk *w, cutting *c, uint32_t around, sl_errors *err)
{
    const char *const from = w->at;
    const bool key = c->key && *from == '"';
    const sl_code code = sl_json_walk_step(w, err);

    c->key = (*from == '{' || *from == ',') && w->depth > around && w->open[w->depth - 1] == '}';
    if (code != SL_OK || !key || !is_left_out(c, w->depth - around, from, (size_t)(w->at - from)))
        return code;
    c->key = true; /* up to the next one, if there is one */
    return leave_out(w, c, from, err);
}

/* To the end of the value that begins here, without most of the blanks and the members that nobody
 * reads. */
static sl_code
cut_value(sl_json_walk *w, sl_member_read is_read, sl_buffer *kept, sl_errors *err)
{
    const uint32_t depth = w->depth;
    const char *const from = w->at;
    cutting c = {.is_read = is_read, .kept = kept, .kept_end = from};

    while (w->at < w->end && !is_over(w, from, depth)) {
        sl_code code = SL_OK;
        if (is_blank(*w->at))
            pass_blanks(w, &c);
        else
            code = cut_step(w, &c, depth, err);
        if (code != SL_OK)
            return code;
    }
    if (!is_over(w, from, depth))
        return ends_inside(w, err);
    keep(&c, w->at);
    return SL_OK;
}

static sl_code
decode(const char *text, size_t size, size_t most_bytes, sl_json **json, sl_errors *err)
{
    sl_json_limits limits = {
        .max_bytes = most_bytes, .max_depth = SL_JSON_DEPTH_MAX, .depth_known = true};

    sl_errors_begin(err, false);
    const sl_code code = sl_json_parse(text, size, &limits, json, err);
    if (code != SL_E_SYNTAX)
        return code;
    /* Some tools print NaN and Infinity. To look for them in every value takes as long as to decode
     * it. */
    limits.accept_python_numbers = true;
    sl_errors_begin(err, false);
    return sl_json_parse(text, size, &limits, json, err);
}

/* Where a fault stands is told by the text as it came. */
static void
tell_place(const char *text, size_t size, size_t most_bytes, sl_errors *err)
{
    sl_errors whole;
    sl_json *json = NULL;

    if (decode(text, size, most_bytes, &json, &whole) == SL_E_SYNTAX)
        *err = whole;
    sl_json_free(json);
}

sl_code
sl_json_walk_cut(sl_json_walk *walk, const sl_json_cut *cut, sl_buffer *kept, sl_json_piece *piece,
                 sl_errors *err)
{
    assert(walk != NULL && cut != NULL && kept != NULL && piece != NULL && err != NULL);

    sl_json_walk_blanks(walk);
    const char *const from = walk->at;
    const size_t before = kept->size;
    const uint32_t line = sl_json_walk_line(walk);
    const sl_code code = cut->is_read != NULL ? cut_value(walk, cut->is_read, kept, err)
                                              : sl_json_walk_value(walk, err);
    if (code != SL_OK)
        return code;
    if (kept->failed)
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory to read JSON");
    *piece = (sl_json_piece){.source = from,
                             .source_size = (size_t)(walk->at - from),
                             .whole = cut->is_read == NULL,
                             .at = before,
                             .size = kept->size - before,
                             .line = line};
    return SL_OK;
}

sl_code
sl_json_piece_decode(const sl_json_piece *piece, const sl_json_cut *cut, const sl_buffer *kept,
                     sl_json **json, sl_errors *err)
{
    assert(piece != NULL && cut != NULL && kept != NULL && json != NULL && err != NULL);

    sl_errors inner;
    const char *const cut_out = piece->size > 0 ? kept->data + piece->at : "";
    const char *const text = piece->whole ? piece->source : cut_out;
    const size_t size = piece->whole ? piece->source_size : piece->size;
    const sl_code code = decode(text, size, cut->most_bytes, json, &inner);
    if (code == SL_OK)
        return SL_OK;
    if (code == SL_E_SYNTAX && !piece->whole && piece->source != NULL)
        tell_place(piece->source, piece->source_size, cut->most_bytes, &inner);
    return sl_fail(err, code, inner.list[0].rule, "", "the %s from line %u: %s", cut->what,
                   piece->line, inner.list[0].message);
}

sl_code
sl_json_walk_decode(sl_json_walk *walk, const sl_json_cut *cut, sl_buffer *kept, sl_json **json,
                    sl_errors *err)
{
    sl_json_piece piece;

    kept->size = 0;
    const sl_code code = sl_json_walk_cut(walk, cut, kept, &piece, err);
    return code == SL_OK ? sl_json_piece_decode(&piece, cut, kept, json, err) : code;
}
