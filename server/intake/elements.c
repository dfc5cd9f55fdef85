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

static void
pass_blanks(walk *w)
{
    for (; w->at < w->end && (*w->at == ' ' || *w->at == '\n' || *w->at == '\t' || *w->at == '\r');
         w->at++)
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

static sl_code
visit_one(const walk *w, const char *from, uint32_t line, sl_element_visit visit, void *context,
          sl_errors *err)
{
    sl_json_limits limits = {
        .max_bytes = SL_ELEMENT_MAX_BYTES, .max_depth = SL_JSON_DEPTH_MAX, .depth_known = true};
    sl_errors inner = {0};
    sl_json *json = NULL;
    sl_code code = sl_json_parse(from, (size_t)(w->at - from), &limits, &json, &inner);

    if (code == SL_E_SYNTAX) {
        /* Some tools print NaN and Infinity. To look for them in every element takes as long as to
         * decode it. */
        limits.accept_python_numbers = true;
        inner = (sl_errors){0};
        code = sl_json_parse(from, (size_t)(w->at - from), &limits, &json, &inner);
    }
    if (code != SL_OK)
        return sl_fail(err, code, inner.list[0].rule, "", "the element from line %u: %s", line,
                       inner.list[0].message);
    const sl_node root = sl_json_root(json);
    code = visit(context, &root, line, err);
    sl_json_free(json);
    return code;
}

/* The elements from here to the end of the list. */
static sl_code
visit_list(walk *w, sl_element_visit visit, void *context, sl_errors *err)
{
    pass_blanks(w);
    while (w->at < w->end && *w->at != ']') {
        const char *const from = w->at;
        const uint32_t line = w->line;
        sl_code code = pass_value(w, err);
        if (code == SL_OK)
            code = visit_one(w, from, line, visit, context, err);
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
sl_json_elements(const char *text, size_t size, const char *list, sl_element_visit visit,
                 void *context, bool *found, sl_errors *err)
{
    assert((text != NULL || size == 0) && visit != NULL && found != NULL && err != NULL);

    walk w = {.at = text, .end = text + size, .line = 1};
    sl_code code = find_list(&w, list, found, err);
    if (code == SL_OK && *found)
        code = visit_list(&w, visit, context, err);
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
