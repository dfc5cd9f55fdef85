#include "intake/document.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/text.h"

enum { RESTARTS_MAX = 32, NUMBER_SIZE = 64 };

sl_raw
sl_document_raw(const sl_raw *raw)
{
    assert(raw != NULL);

    sl_raw bare = *raw;
    if (raw->size >= 3 && memcmp(raw->text, "\xEF\xBB\xBF", 3) == 0) {
        bare.text += 3;
        bare.size -= 3;
    }
    return bare;
}

const char *
sl_document_end(const char *from, const char *end)
{
    uint32_t depth = 0;
    bool text = false;

    for (const char *at = from; at < end; at++) {
        if (text) {
            if (*at == '\\')
                at++;
            else
                text = *at != '"';
            continue;
        }
        text = *at == '"';
        depth += *at == '{' || *at == '[';
        if ((*at == '}' || *at == ']') && --depth == 0)
            return at + 1;
    }
    return NULL;
}

sl_code
sl_document_count(uint32_t *elements, sl_errors *err)
{
    assert(elements != NULL && err != NULL);

    if (++*elements <= SL_DOCUMENT_ELEMENTS_MAX)
        return SL_OK;
    return sl_fail(err, SL_E_RANGE, "too_many", "", "must hold at most %d elements",
                   SL_DOCUMENT_ELEMENTS_MAX);
}

char
sl_document_first(const sl_raw *raw)
{
    const sl_raw bare = sl_document_raw(raw);
    for (size_t i = 0; i < bare.size; i++)
        if (bare.text[i] != ' ' && bare.text[i] != '\t' && bare.text[i] != '\r' &&
            bare.text[i] != '\n')
            return bare.text[i];
    return '\0';
}

bool
sl_document_is_json(const sl_raw *raw)
{
    const char first = sl_document_first(raw);
    return first == '{' || first == '[';
}

sl_code
sl_document_decode(const sl_raw *raw, sl_json **json, sl_buffer *text, sl_errors *err)
{
    assert(raw != NULL && json != NULL && err != NULL);

    static const sl_json_limits limits = {.max_bytes = SL_DOCUMENT_MAX_BYTES,
                                          .max_depth = SL_JSON_DEPTH_MAX};
    const sl_raw bare = sl_document_raw(raw);
    sl_buffer own;
    sl_buffer *const out = text != NULL ? text : &own;

    sl_buffer_init(out, SL_DOCUMENT_MAX_BYTES);
    if (sl_document_is_json(&bare)) {
        if (text != NULL && bare.size <= SL_DOCUMENT_MAX_BYTES)
            sl_buffer_append(text, bare.text, bare.size);
        return sl_json_parse(bare.text, bare.size, &limits, json, err);
    }
    sl_code code = sl_yaml_document(bare.text, bare.size, out, err);
    if (code == SL_OK)
        code = sl_json_parse(out->data, out->size, &limits, json, err);
    if (text == NULL)
        sl_buffer_clear(&own);
    return code;
}

const char *
sl_document_words(const sl_node *object, const char *name)
{
    sl_errors ignored;
    sl_errors_begin(&ignored, true);
    sl_node member;
    const char *text = NULL;

    if (!sl_node_member(object, name, &member) || sl_node_kind(&member) != SL_JSON_TEXT ||
        sl_node_as_text(&member, &text, &ignored) != SL_OK || *text == '\0')
        return NULL;
    return text;
}

bool
sl_document_object(const sl_node *object, const char *name, sl_node *out)
{
    return sl_node_member(object, name, out) && sl_node_kind(out) == SL_JSON_OBJECT;
}

bool
sl_document_array(const sl_node *object, const char *name, sl_node *out)
{
    return sl_node_member(object, name, out) && sl_node_kind(out) == SL_JSON_ARRAY;
}

/* Of a number as text, as people and tools write it: blanks around it say nothing. */
static bool
read_number(const char *text, double *out)
{
    char number[NUMBER_SIZE];

    text += strspn(text, " \t");
    if (!sl_text_copy(number, sizeof number, text))
        return false;
    size_t length = strlen(number);
    while (length > 0 && (number[length - 1] == ' ' || number[length - 1] == '\t'))
        length--;
    number[length] = '\0';
    return sl_text_to_double(number, out);
}

bool
sl_document_as_number(const sl_node *node, double *out)
{
    sl_errors ignored;
    sl_errors_begin(&ignored, true);
    const char *text = NULL;

    switch (sl_node_kind(node)) {
    case SL_JSON_INTEGER:
    case SL_JSON_REAL:
        return sl_node_as_double(node, -1e18, 1e18, out, &ignored) == SL_OK;
    case SL_JSON_TEXT:
        return sl_node_as_text(node, &text, &ignored) == SL_OK && read_number(text, out);
    case SL_JSON_NULL:
    case SL_JSON_BOOL:
    case SL_JSON_ARRAY:
    case SL_JSON_OBJECT:
        break;
    }
    return false;
}

bool
sl_document_number(const sl_node *object, const char *name, double *out)
{
    sl_node member;
    return sl_node_member(object, name, &member) && sl_document_as_number(&member, out);
}

/* "GB", "GiB", "Gi", "G", case aside: what one of it is in bytes. 0 where nobody says. */
static double
unit_bytes(const char *unit)
{
    static const char prefixes[] = "kmgtp";

    if (sl_text_equal_ignoring_case(unit, "b") || sl_text_equal_ignoring_case(unit, "bytes"))
        return 1.0;
    const char *const prefix = *unit == '\0' ? NULL : strchr(prefixes, tolower(*unit));
    if (prefix == NULL)
        return 0.0;
    const char *const rest = unit + 1;
    const bool binary =
        sl_text_equal_ignoring_case(rest, "i") || sl_text_equal_ignoring_case(rest, "ib");
    if (!binary && *rest != '\0' && !sl_text_equal_ignoring_case(rest, "b"))
        return 0.0;
    return pow(binary ? 1024.0 : 1000.0, (double)(prefix - prefixes + 1));
}

bool
sl_document_bytes(const char *text, double *bytes)
{
    assert(text != NULL && bytes != NULL);

    char number[NUMBER_SIZE], unit[NUMBER_SIZE];
    double value = 0.0;
    text += strspn(text, " ");
    const size_t digits = strspn(text, "0123456789.,");
    const char *const at = text + digits + strspn(text + digits, " ");
    const size_t letters = strcspn(at, " ;,()/");
    if (digits == 0 || digits >= sizeof number || letters >= sizeof unit)
        return false;
    /* "1,024 GB": commas part thousands, where three digits follow; "1,5" is anybody's guess. */
    size_t used = 0;
    for (size_t i = 0; i < digits; i++) {
        if (text[i] != ',')
            number[used++] = text[i];
        else if (strspn(text + i + 1, "0123456789") != 3)
            return false;
    }
    number[used] = '\0';
    memcpy(unit, at, letters);
    unit[letters] = '\0';
    const double scale = unit_bytes(unit);
    if (scale == 0.0 || !sl_text_to_double(number, &value))
        return false;
    *bytes = value * scale;
    return true;
}

bool
sl_document_is_host(const char *name)
{
    assert(name != NULL);

    for (const char *at = name; *at != '\0'; at++)
        if ((unsigned char)*at <= ' ' || *at == ',' || *at == '[' || *at == ']' || *at == 0x7F)
            return false;
    return *name != '\0' && strnlen(name, SL_HOST_NAME_MAX + 1) <= SL_HOST_NAME_MAX;
}

sl_code
sl_document_add(sl_findings *findings, const sl_found_host *host, const sl_facts *facts,
                sl_errors *err)
{
    assert(findings != NULL && host != NULL);

    sl_found_host added = *host;
    if (host->name != NULL && !sl_document_is_host(host->name)) {
        sl_findings_warn(findings, "odd_name", host->line, NULL,
                         "\"%.60s\" cannot be the name of a host: its node is counted without it",
                         host->name);
        added.name = NULL;
        added.count = 1;
    }
    return sl_findings_add(findings, &added, facts, err);
}

sl_finder
sl_finder_new(const sl_raw *raw)
{
    return (sl_finder){
        .begin = raw->text, .at = raw->text, .end = raw->text + raw->size, .line = 1};
}

static bool
is_of_word(char c)
{
    return isalnum((unsigned char)c) || c == '-' || c == '_' || c == '.';
}

/* Whether the word at `at` is whole; "db" is not one in "db[01:03]". */
static bool
is_whole(const sl_finder *finder, const char *at, size_t length)
{
    if (at > finder->begin && (is_of_word(at[-1]) || at[-1] == ']'))
        return false;
    return at + length == finder->end || (!is_of_word(at[length]) && at[length] != '[');
}

/* From `at` on; false leaves the finder where it was. */
static bool
find_on(sl_finder *finder, const char *word, size_t length)
{
    uint32_t line = finder->line;

    for (const char *at = finder->at; (size_t)(finder->end - at) >= length; at++) {
        if (*at == *word && memcmp(at, word, length) == 0 && is_whole(finder, at, length)) {
            finder->at = at + length;
            finder->line = line;
            return true;
        }
        line += *at == '\n';
    }
    return false;
}

uint32_t
sl_finder_line(sl_finder *finder, const char *word)
{
    assert(finder != NULL && word != NULL);

    const size_t length = strlen(word);
    if (length == 0 || finder->restarts == RESTARTS_MAX)
        return 0;
    if (find_on(finder, word, length))
        return finder->line;
    finder->restarts++;
    sl_finder again = {.begin = finder->begin, .at = finder->begin, .end = finder->end, .line = 1};
    if (!find_on(&again, word, length))
        return 0;
    finder->at = again.at;
    finder->line = again.line;
    return finder->line;
}
