#include "json/scan.h"

#include <assert.h>
#include <string.h>

#include "base/text.h"

size_t
sl_scan_string(const char *text, size_t size, size_t at)
{
    const char *const quote = sl_text_closing_quote(text + at + 1, text + size);
    return quote != NULL ? (size_t)(quote - text) + 1 : size;
}

static const char *
behind_blanks(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r'))
        at++;
    return at;
}

static const char *
behind_string(const char *at, const char *end)
{
    return at + sl_scan_string(at, (size_t)(end - at), 0);
}

static const char *
behind_value(const char *at, const char *end)
{
    if (*at == '"')
        return behind_string(at, end);
    if (*at != '{' && *at != '[') {
        while (at < end && strchr(",]} \t\n\r", *at) == NULL)
            at++;
        return at;
    }
    size_t depth = 0;
    do {
        if (*at == '"') {
            at = behind_string(at, end);
            continue;
        }
        depth += *at == '{' || *at == '[';
        depth -= *at == '}' || *at == ']';
        at++;
    } while (depth > 0 && at < end);
    return at;
}

sl_piece
sl_piece_root(json_t *root, const char *text, size_t size)
{
    const char *const end = text + size;
    const char *const begin = behind_blanks(text, end);
    assert(begin < end);
    return (sl_piece){root, begin, (size_t)(behind_value(begin, end) - begin)};
}

sl_piece_walk
sl_piece_open(const sl_piece *container)
{
    assert(json_is_object(container->value) || json_is_array(container->value));
    return (sl_piece_walk){
        .container = *container,
        .at = container->text + 1,
        .member = json_is_object(container->value) ? json_object_iter(container->value) : NULL};
}

bool
sl_piece_next(sl_piece_walk *walk, sl_part *out)
{
    json_t *const container = walk->container.value;
    const char *const end = walk->container.text + walk->container.size;
    const bool object = json_is_object(container);
    const size_t count = object ? json_object_size(container) : json_array_size(container);

    if (walk->index == count)
        return false;
    const char *const blanks = walk->at + (walk->index > 0); /* behind the comma */
    const char *const lead = behind_blanks(blanks, end);
    *out = (sl_part){.blanks = blanks, .blanks_size = (size_t)(lead - blanks), .lead = lead};
    const char *value = lead;
    if (object) {
        /* The parser keeps the order of the text. */
        out->name = json_object_iter_key(walk->member);
        value = behind_blanks(behind_string(lead, end), end) + 1;
        value = behind_blanks(value, end);
        out->lead_size = (size_t)(value - lead);
        out->value.value = json_object_iter_value(walk->member);
        walk->member = json_object_iter_next(container, walk->member);
    } else {
        out->value.value = json_array_get(container, walk->index);
    }
    const char *const behind = behind_value(value, end);
    out->value.text = value;
    out->value.size = (size_t)(behind - value);
    walk->index++;
    /* The comma, or the blanks before the bracket. */
    walk->at = walk->index < count ? behind_blanks(behind, end) : behind;
    return true;
}
