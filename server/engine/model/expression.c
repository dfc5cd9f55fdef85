#include "engine/model/expression.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

/* The texts are literals of our own tables, so their nesting is bounded by what they say. */
typedef struct reading {
    const char *at;
    const sl_scope *scope;
    bool failed; /* the values left the range */
} reading;

static uint64_t comparison(reading *parser);

void
sl_scope_set(sl_scope *scope, const char *name, uint64_t value)
{
    assert(scope != NULL && name != NULL);

    for (uint32_t i = 0; i < scope->count; i++) {
        if (strcmp(scope->names[i], name) == 0) {
            scope->values[i] = value;
            return;
        }
    }
    assert(scope->count < SL_SCOPE_NAMES_MAX);
    scope->names[scope->count] = name;
    scope->values[scope->count++] = value;
}

static const uint64_t *
find(const sl_scope *scope, const char *name, size_t length)
{
    for (uint32_t i = 0; i < scope->count; i++) {
        if (strncmp(scope->names[i], name, length) == 0 && scope->names[i][length] == '\0')
            return &scope->values[i];
    }
    return NULL;
}

const uint64_t *
sl_scope_find(const sl_scope *scope, const char *name)
{
    assert(scope != NULL && name != NULL);
    return find(scope, name, strlen(name));
}

static void
skip_blanks(reading *parser)
{
    while (*parser->at == ' ')
        parser->at++;
}

/* True, and past it, when the text goes on with `sign`. */
static bool
take(reading *parser, const char *sign)
{
    const size_t length = strlen(sign);

    skip_blanks(parser);
    if (strncmp(parser->at, sign, length) != 0)
        return false;
    parser->at += length;
    return true;
}

static bool
is_name_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

static uint64_t
number(reading *parser)
{
    uint64_t value = 0;

    while (*parser->at >= '0' && *parser->at <= '9') {
        assert(value < UINT64_MAX / 10);
        value = value * 10 + (uint64_t)(*parser->at++ - '0');
    }
    return value;
}

static uint64_t
primary(reading *parser)
{
    if (take(parser, "(")) {
        const uint64_t value = comparison(parser);
        const bool closed = take(parser, ")");
        assert(closed);
        (void)closed;
        return value;
    }
    assert(is_name_character(*parser->at));
    if (*parser->at >= '0' && *parser->at <= '9')
        return number(parser);

    const char *name = parser->at;
    while (is_name_character(*parser->at))
        parser->at++;
    const uint64_t *value = find(parser->scope, name, (size_t)(parser->at - name));
    assert(value != NULL);
    return *value;
}

static uint64_t
product(reading *parser)
{
    uint64_t value = primary(parser);

    for (;;) {
        if (take(parser, "*")) {
            const uint64_t factor = primary(parser);
            if (factor != 0 && value > UINT64_MAX / factor)
                parser->failed = true;
            else
                value *= factor;
            continue;
        }
        const bool divides = take(parser, "/");
        if (!divides && !take(parser, "%"))
            return value;
        const uint64_t divisor = primary(parser);
        if (divisor == 0)
            parser->failed = true;
        else
            value = divides ? value / divisor : value % divisor;
    }
}

static uint64_t
sum(reading *parser)
{
    uint64_t value = product(parser);

    for (;;) {
        if (take(parser, "+")) {
            const uint64_t term = product(parser);
            if (term > UINT64_MAX - value)
                parser->failed = true;
            else
                value += term;
        } else if (take(parser, "-")) {
            const uint64_t term = product(parser);
            if (term > value)
                parser->failed = true;
            else
                value -= term;
        } else {
            return value;
        }
    }
}

static uint64_t
comparison(reading *parser)
{
    const uint64_t left = sum(parser);

    if (take(parser, "=="))
        return left == sum(parser);
    if (take(parser, "!="))
        return left != sum(parser);
    if (take(parser, "<="))
        return left <= sum(parser);
    if (take(parser, ">="))
        return left >= sum(parser);
    if (take(parser, "<"))
        return left < sum(parser);
    if (take(parser, ">"))
        return left > sum(parser);
    return left;
}

sl_code
sl_expression_list(const char *text, const sl_scope *scope, uint64_t *out, uint32_t max,
                   uint32_t *count)
{
    assert(text != NULL && scope != NULL && out != NULL && count != NULL);

    reading parser = {.at = text, .scope = scope};
    *count = 0;
    skip_blanks(&parser);
    while (*parser.at != '\0') {
        assert(*count < max);
        const uint64_t value = comparison(&parser);
        if (parser.failed)
            return SL_E_RANGE;
        out[(*count)++] = value;
        const bool more = take(&parser, ",");
        skip_blanks(&parser);
        assert(more == (*parser.at != '\0'));
        (void)more;
    }
    return SL_OK;
}

sl_code
sl_expression_value(const char *text, const sl_scope *scope, uint64_t *out)
{
    uint64_t value = 0;
    uint32_t count = 0;
    const sl_code code = sl_expression_list(text, scope, &value, 1, &count);

    if (code != SL_OK)
        return code;
    assert(count == 1);
    *out = value;
    return SL_OK;
}
