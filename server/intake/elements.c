#include "intake/elements.h"

#include <assert.h>
#include <string.h>

enum { LIST_DEPTH_MAX = 4 };

/* A walk over the brackets of a JSON text. Only what tells strings from structure is understood. */
typedef struct walk {
    const char *at, *end;
    uint32_t line;
    uint32_t depth;
    char open[SL_ELEMENTS_DEPTH_MAX]; /* what closes each */
} walk;

static sl_code
malformed(const walk *w, const char *what, sl_errors *err)
{
    return sl_fail(err, SL_E_SYNTAX, "malformed_json", "", "line %u: %s", w->line, what);
}

/* `at` stands on the opening quote and ends behind the closing one. */
static bool
pass_string(walk *w)
{
    for (w->at++; w->at < w->end && *w->at != '"'; w->at++) {
        w->line += *w->at == '\n';
        if (*w->at == '\\' && w->at + 1 < w->end)
            w->at++;
    }
    if (w->at >= w->end)
        return false;
    w->at++;
    return true;
}

static bool
is_blank(char byte)
{
    return byte == ' ' || byte == '\n' || byte == '\t' || byte == '\r';
}

static void
pass_blanks(walk *w)
{
    for (; w->at < w->end && is_blank(*w->at); w->at++)
        w->line += *w->at == '\n';
}

/* One bracket, string or other byte. */
static sl_code
step(walk *w, sl_errors *err)
{
    const char c = *w->at;

    switch (c) {
    case '"':
        return pass_string(w) ? SL_OK : malformed(w, "a text does not end", err);
    case '{':
    case '[':
        if (w->depth == SL_ELEMENTS_DEPTH_MAX)
            return sl_fail(err, SL_E_SYNTAX, "too_deep", "", "line %u: over %d levels", w->line,
                           SL_ELEMENTS_DEPTH_MAX);
        w->open[w->depth++] = c == '{' ? '}' : ']';
        break;
    case '}':
    case ']':
        if (w->depth == 0 || w->open[w->depth - 1] != c)
            return malformed(w, "a bracket closes that was not opened", err);
        w->depth--;
        break;
    default:
        w->line += c == '\n';
        break;
    }
    w->at++;
    return SL_OK;
}

/* To the end of the value that begins here. */
static sl_code
pass_value(walk *w, sl_errors *err)
{
    const uint32_t depth = w->depth;

    pass_blanks(w);
    while (w->at < w->end) {
        const char c = *w->at;
        if (w->depth == depth && (c == ',' || c == ']' || c == '}'))
            return SL_OK;
        const sl_code code = step(w, err);
        if (code != SL_OK)
            return code;
    }
    return malformed(w, "the text ends inside a list", err);
}

/* Whether a member called `list` whose value is a list begins at this quote; `at` stands in the
 * list then, and behind the text else. */
static sl_code
enter_member(walk *w, const char *list, bool *entered, sl_errors *err)
{
    const char *const name = w->at + 1;
    const sl_code code = step(w, err);

    if (code != SL_OK)
        return code;
    const size_t length = (size_t)(w->at - 1 - name);
    if (length != strlen(list) || memcmp(name, list, length) != 0)
        return SL_OK;
    pass_blanks(w);
    if (w->at >= w->end || *w->at != ':')
        return SL_OK;
    w->at++;
    pass_blanks(w);
    if (w->at >= w->end || *w->at != '[')
        return SL_OK;
    *entered = true;
    return step(w, err);
}

/* To the first element of the list; *found is false at the end of the text. */
static sl_code
find_list(walk *w, const char *list, bool *found, sl_errors *err)
{
    sl_code code = SL_OK;

    *found = false;
    if (w->end - w->at >= 3 && memcmp(w->at, "\xEF\xBB\xBF", 3) == 0)
        w->at += 3; /* the mark that some editors put before UTF-8 */
    pass_blanks(w);
    if (list == NULL && w->at < w->end && *w->at == '[') {
        *found = true;
        return step(w, err);
    }
    while (code == SL_OK && w->at < w->end && !*found) {
        const bool member = list != NULL && *w->at == '"' && w->depth > 0 &&
                            w->depth <= LIST_DEPTH_MAX && w->open[w->depth - 1] == '}';
        code = member ? enter_member(w, list, found, err) : step(w, err);
    }
    return code;
}

/* What is visited, and an element without the members that nobody reads. */
typedef struct cutting {
    sl_member_read is_read;
    sl_element_visit visit;
    void *context;
    sl_buffer kept;       /* of the element, up to ... */
    const char *kept_end; /* ... here; behind it all is kept so far */
} cutting;

/* Behind a member that nobody reads, whose key began at `from` and was passed. */
static sl_code
leave_out(walk *w, cutting *c, const char *from, sl_errors *err)
{
    sl_buffer_append(&c->kept, c->kept_end, (size_t)(from - c->kept_end));
    pass_blanks(w);
    if (w->at >= w->end || *w->at != ':')
        return malformed(w, "a colon is missing behind a key", err);
    w->at++;
    pass_blanks(w);
    const char *const value = w->at;
    const sl_code code = pass_value(w, err);
    if (code != SL_OK)
        return code;
    if (w->at == value)
        return malformed(w, "a value is missing behind a key", err);
    if (*w->at == ',') {
        w->at++;
        pass_blanks(w);
        if (w->at < w->end && *w->at != '"')
            return malformed(w, "a key is missing behind a comma", err);
    } else {
        /* The last one: the comma before it goes as well. */
        sl_buffer *const kept = &c->kept;
        while (kept->size > 0 && is_blank(kept->data[kept->size - 1]))
            kept->size--;
        kept->size -= kept->size > 0 && kept->data[kept->size - 1] == ',';
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

/* To the end of the element that begins here, as pass_value does. */
static sl_code
cut_element(walk *w, cutting *c, sl_errors *err)
{
    const uint32_t depth = w->depth;
    bool key = false; /* a text that begins here is one */

    c->kept.size = 0;
    c->kept_end = w->at;
    while (w->at < w->end) {
        const char *const from = w->at;
        const char byte = *from;
        if (w->depth == depth && (byte == ',' || byte == ']' || byte == '}'))
            return SL_OK;
        sl_code code = step(w, err);
        if (code == SL_OK && byte == '"' && key &&
            is_left_out(c, w->depth - depth, from, (size_t)(w->at - from)))
            code = leave_out(w, c, from, err); /* up to the next key, if there is one */
        else if (byte == '{' || byte == ',')
            key = w->depth > depth && w->open[w->depth - 1] == '}';
        else
            key = key && is_blank(byte);
        if (code != SL_OK)
            return code;
    }
    return malformed(w, "the text ends inside a list", err);
}

static sl_code
visit_one(const cutting *c, const char *from, size_t size, uint32_t line, sl_errors *err)
{
    sl_json_limits limits = {
        .max_bytes = SL_ELEMENT_MAX_BYTES, .max_depth = SL_JSON_DEPTH_MAX, .depth_known = true};
    sl_errors inner;
    sl_json *json = NULL;

    sl_errors_begin(&inner, false);
    sl_code code = sl_json_parse(from, size, &limits, &json, &inner);
    if (code == SL_E_SYNTAX) {
        /* Some tools print NaN and Infinity. To look for them in every element takes as long as to
         * decode it. */
        limits.accept_python_numbers = true;
        sl_errors_begin(&inner, false);
        code = sl_json_parse(from, size, &limits, &json, &inner);
    }
    if (code != SL_OK)
        return sl_fail(err, code, inner.list[0].rule, "", "the element from line %u: %s", line,
                       inner.list[0].message);
    const sl_node root = sl_json_root(json);
    code = c->visit(c->context, &root, line, err);
    sl_json_free(json);
    return code;
}

/* One element, whole or without what is not read. */
static sl_code
cut_and_visit(walk *w, cutting *c, sl_errors *err)
{
    const char *const from = w->at;
    const uint32_t line = w->line;
    const sl_code code = c->is_read != NULL ? cut_element(w, c, err) : pass_value(w, err);

    if (code != SL_OK)
        return code;
    if (c->kept.size == 0)
        return visit_one(c, from, (size_t)(w->at - from), line, err);
    sl_buffer_append(&c->kept, c->kept_end, (size_t)(w->at - c->kept_end));
    if (c->kept.failed)
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory to read an element");
    return visit_one(c, c->kept.data, c->kept.size, line, err);
}

/* The elements from here to the end of the list. */
static sl_code
visit_list(walk *w, cutting *c, sl_errors *err)
{
    pass_blanks(w);
    while (w->at < w->end && *w->at != ']') {
        const sl_code code = cut_and_visit(w, c, err);
        if (code != SL_OK)
            return code;
        if (w->at < w->end && *w->at == ',') {
            w->at++;
            pass_blanks(w);
            if (w->at < w->end && *w->at == ']')
                return malformed(w, "a list ends with a comma", err);
        }
    }
    return SL_OK;
}

sl_code
sl_json_elements(const char *text, size_t size, const char *list, sl_member_read is_read,
                 sl_element_visit visit, void *context, bool *found, sl_errors *err)
{
    assert((text != NULL || size == 0) && visit != NULL && found != NULL && err != NULL);

    walk w = {.at = text, .end = text + size, .line = 1};
    cutting c = {.is_read = is_read, .visit = visit, .context = context};
    sl_buffer_init(&c.kept, SIZE_MAX);
    sl_code code = find_list(&w, list, found, err);
    if (code == SL_OK && *found)
        code = visit_list(&w, &c, err);
    sl_buffer_clear(&c.kept);
    while (code == SL_OK && w.at < w.end && w.depth > 0)
        code = step(&w, err);
    if (code != SL_OK)
        return code;
    pass_blanks(&w);
    if (w.depth > 0)
        return malformed(&w, "the text ends before its brackets do", err);
    if (w.at < w.end)
        return malformed(&w, "something follows the document", err);
    return SL_OK;
}
