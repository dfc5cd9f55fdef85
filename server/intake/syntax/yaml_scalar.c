#include "intake/syntax/yaml_scalar.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/text.h"

enum { DIGITS_MAX = 18, NUMBER_SIZE = 64 };

static bool
is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* "0x1F" and "0o17". */
static bool
put_based(sl_buffer *out, const char *text, size_t size)
{
    if (size < 3 || size > 2 + 15 || text[0] != '0' || (text[1] != 'x' && text[1] != 'o'))
        return false;
    const uint64_t base = text[1] == 'x' ? 16 : 8;
    uint64_t value = 0;
    for (size_t i = 2; i < size; i++) {
        const char c = text[i];
        const uint64_t digit = is_digit(c)            ? (uint64_t)(c - '0')
                               : c >= 'a' && c <= 'f' ? (uint64_t)(c - 'a') + 10
                               : c >= 'A' && c <= 'F' ? (uint64_t)(c - 'A') + 10
                                                      : base;
        if (digit >= base)
            return false;
        value = value * base + digit;
    }
    sl_buffer_format(out, "%llu", (unsigned long long)value);
    return true;
}

/* How many digits begin at `at`. */
static size_t
digits(const char *text, size_t size, size_t at)
{
    size_t count = 0;
    while (at + count < size && is_digit(text[at + count]))
        count++;
    return count;
}

/* [-+]?digits[.digits][e[-+]digits], spelled as JSON spells it. */
static bool
put_number(sl_buffer *out, const char *text, size_t size)
{
    char copy[NUMBER_SIZE];
    double value = 0.0;
    if (size >= sizeof copy)
        return false;
    memcpy(copy, text, size);
    copy[size] = '\0';
    if (strlen(copy) != size || !sl_text_to_double(copy, &value))
        return false;

    size_t at = *text == '-' || *text == '+' ? 1 : 0;
    const size_t whole = digits(text, size, at);
    if ((whole > 1 && text[at] == '0') || whole > DIGITS_MAX)
        return false;
    if (*text == '-')
        sl_buffer_text(out, "-");
    sl_buffer_append(out, whole > 0 ? text + at : "0", whole > 0 ? whole : 1);
    at += whole;
    if (at < size && text[at] == '.') {
        const size_t fraction = digits(text, size, ++at);
        if (fraction > 0)
            sl_buffer_format(out, ".%.*s", (int)fraction, text + at);
        at += fraction;
    }
    sl_buffer_append(out, text + at, size - at);
    return true;
}

bool
sl_yaml_plain(sl_buffer *out, const char *text, size_t size)
{
    assert(out != NULL && (text != NULL || size == 0));

    static const char *const values[][4] = {{"null", "Null", "NULL", "null"},
                                            {"~", "", "~", "null"},
                                            {"true", "True", "TRUE", "true"},
                                            {"false", "False", "FALSE", "false"}};
    if (size <= 5) {
        for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
            for (size_t j = 0; j < 3; j++) {
                if (sl_text_is(text, size, values[i][j])) {
                    sl_buffer_text(out, values[i][3]);
                    return true;
                }
            }
        }
    }
    if (!is_digit(*text) && *text != '-' && *text != '+' && *text != '.')
        return false;
    return put_based(out, text, size) || put_number(out, text, size);
}

/* Bytes from here that stand for themselves in a text of JSON. What libyaml gives is UTF-8. */
static size_t
harmless(const char *text, size_t size)
{
    size_t count = 0;
    while (count < size && (unsigned char)text[count] >= 0x20u && text[count] != '"' &&
           text[count] != '\\' && text[count] != 0x7F)
        count++;
    return count;
}

void
sl_yaml_quoted(sl_buffer *out, const char *text, size_t size)
{
    assert(out != NULL && (text != NULL || size == 0));

    sl_buffer_append(out, "\"", 1);
    for (size_t at = 0; at < size;) {
        const size_t run = harmless(text + at, size - at);
        if (run > 0)
            sl_buffer_append(out, text + at, run);
        at += run;
        if (at < size) {
            char escaped[SL_TEXT_ESCAPED_MAX];
            size_t taken = 0;
            const size_t length = sl_text_json_escape(text + at, size - at, escaped, &taken);
            sl_buffer_append(out, escaped, length);
            at += taken;
        }
    }
    sl_buffer_append(out, "\"", 1);
}
