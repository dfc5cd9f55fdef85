#include <assert.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "json/reader.h"
#include "json/scan.h"

struct sl_json {
    json_t *root;
};

void
sl_json_start(void)
{
    json_object_seed(0);
}

/* Line and column of a byte, counted from 1 in characters. */
static void
locate(const char *text, size_t at, size_t *line, size_t *column)
{
    *line = 1;
    *column = 0;
    for (size_t i = 0; i <= at; i++) {
        const unsigned char byte = (unsigned char)text[i];
        if (byte == '\n') {
            ++*line;
            *column = 0;
        } else if ((byte & 0xC0u) != 0x80u) {
            ++*column;
        }
    }
}

/* The parser passes over a NUL that follows a number. */
static sl_code
check_nul(const char *text, size_t size, sl_errors *err)
{
    const char *const nul = size > 0 ? memchr(text, '\0', size) : NULL;
    if (nul == NULL)
        return SL_OK;
    size_t line = 0, column = 0;
    locate(text, (size_t)(nul - text), &line, &column);
    return sl_fail(err, SL_E_SYNTAX, "malformed_json", "", "line %zu, column %zu: a NUL byte", line,
                   column);
}

static sl_code
too_deep(const char *text, size_t at, uint32_t max_depth, sl_errors *err)
{
    size_t line = 0, column = 0;
    locate(text, at, &line, &column);
    return sl_fail(err, SL_E_SYNTAX, "too_deep", "",
                   "line %zu, column %zu: must not nest deeper than %u levels", line, column,
                   max_depth);
}

/* The parser recurses, so depth is known to be bounded before it starts. */
static sl_code
check_depth(const char *text, size_t size, uint32_t max_depth, sl_errors *err)
{
    uint32_t depth = 0;
    for (size_t at = 0; at < size;) {
        if (text[at] == '"') {
            at = sl_scan_string(text, size, at);
            continue;
        }
        if ((text[at] == '[' || text[at] == '{') && ++depth > max_depth)
            return too_deep(text, at, max_depth, err);
        if ((text[at] == ']' || text[at] == '}') && depth > 0)
            depth--;
        at++;
    }
    return SL_OK;
}

static bool
is_word(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '_' || byte == '.' || byte == '+' || byte == '-';
}

/* Length of the Python number that begins at `at`, 0 when there is none. */
static size_t
python_number(const char *text, size_t size, size_t at)
{
    static const char *const names[] = {"NaN", "Infinity", "-Infinity"};
    if (at > 0 && is_word(text[at - 1]))
        return 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const size_t length = strlen(names[i]);
        if (size - at < length || memcmp(text + at, names[i], length) != 0)
            continue;
        if (size - at == length || !is_word(text[at + length]))
            return length;
    }
    return 0;
}

/* A copy in which Python's numbers are null; NULL when the heap is exhausted. */
static char *
replace_python_numbers(const char *text, size_t size, size_t *out_size)
{
    static const char null[] = {'n', 'u', 'l', 'l'};
    char *const copy = malloc(size + size / 3 + 1); /* NaN grows by one byte in three */
    if (copy == NULL)
        return NULL;
    size_t to = 0;
    for (size_t at = 0; at < size;) {
        const size_t number = python_number(text, size, at);
        if (number > 0) {
            memcpy(copy + to, null, sizeof null);
            to += sizeof null;
            at += number;
            continue;
        }
        const size_t next = text[at] == '"' ? sl_scan_string(text, size, at) : at + 1;
        memcpy(copy + to, text + at, next - at);
        to += next - at;
        at = next;
    }
    *out_size = to;
    return copy;
}

/* Where the parser stumbled over a number of Python's: which it is, and how to write it. False: that
 * is not why. */
static bool
refuse_python_number(const char *text, size_t size, const json_error_t *error, sl_errors *err)
{
    const size_t end = error->position < 0 ? 0 : (size_t)error->position;
    size_t line = 0, column = 0;

    for (size_t at = 0; at < size && at < end;) {
        const size_t length = python_number(text, size, at);
        if (length == 0) {
            at = text[at] == '"' ? sl_scan_string(text, size, at) : at + 1;
            continue;
        }
        if (end > at + length + 1)
            return false;
        locate(text, at, &line, &column);
        (void)sl_fail(err, SL_E_SYNTAX, "malformed_json", "",
                      "line %zu, column %zu: %.*s is a number of Python's, JSON has none such",
                      line, column, (int)length, text + at);
        sl_hint(err, "null in its place, as it is read in a config of the Hub");
        return true;
    }
    return false;
}

static sl_code
refuse(const json_error_t *error, sl_errors *err)
{
    const char *rule = "malformed_json";
    const char *what = error->text;
    switch (json_error_code(error)) {
    case json_error_out_of_memory:
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "the document does not fit");
    case json_error_duplicate_key:
        rule = "duplicate_key";
        break;
    case json_error_numeric_overflow:
        rule = "out_of_range";
        what = "a number is too large for 64 bits";
        break;
    case json_error_null_character:
    case json_error_null_byte_in_key:
        what = "a text must not hold \\u0000";
        break;
    default:
        break;
    }
    return sl_fail(err, SL_E_SYNTAX, rule, "", "line %d, column %d: %s", error->line, error->column,
                   what);
}

sl_code
sl_json_parse(const char *text, size_t size, const sl_json_limits *limits, sl_json **out,
              sl_errors *err)
{
    assert((text != NULL || size == 0) && limits != NULL && out != NULL && err != NULL);
    assert(limits->max_depth >= 1 && limits->max_depth <= SL_JSON_DEPTH_MAX);

    if (size > limits->max_bytes)
        return sl_fail(err, SL_E_TOO_LARGE, "too_large", "",
                       "must not be larger than %zu bytes, got %zu", limits->max_bytes, size);
    sl_code code = limits->parsed_before ? SL_OK : check_nul(text, size, err);
    if (code == SL_OK && !limits->depth_known && !limits->parsed_before)
        code = check_depth(text, size, limits->max_depth, err);
    if (code != SL_OK)
        return code;

    char *copy = NULL;
    const char *source = text != NULL ? text : "";
    sl_json *const json = malloc(sizeof *json);
    if (json != NULL && limits->accept_python_numbers) {
        copy = replace_python_numbers(source, size, &size);
        source = copy;
    }
    if (json == NULL || source == NULL) {
        free(json);
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "the document does not fit");
    }

    json_error_t error;
    const size_t keys = limits->parsed_before ? 0 : JSON_REJECT_DUPLICATES;
    json->root = json_loadb(source, size, keys | JSON_DECODE_ANY, &error);
    if (json->root == NULL) {
        const bool told = json_error_code(&error) == json_error_invalid_syntax &&
                          refuse_python_number(source, size, &error, err);
        code = told ? SL_E_SYNTAX : refuse(&error, err);
        free(json);
    } else {
        *out = json;
    }
    free(copy);
    return code;
}

void
sl_json_free(sl_json *json)
{
    if (json == NULL)
        return;
    json_decref(json->root);
    free(json);
}

sl_node
sl_json_root(const sl_json *json)
{
    assert(json != NULL);
    return (sl_node){.value = json->root};
}
