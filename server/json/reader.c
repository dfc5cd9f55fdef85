#include "json/reader.h"

#include <assert.h>
#include <float.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/text.h"

enum { MESSAGE_BYTES = 192, POINTER_BYTES = 128, HINT_BYTES = 128, DESCRIBED_BYTES = 64 };

sl_json_kind
sl_node_kind(const sl_node *node)
{
    assert(node != NULL && node->value != NULL);

    switch (json_typeof((const json_t *)node->value)) {
    case JSON_OBJECT:
        return SL_JSON_OBJECT;
    case JSON_ARRAY:
        return SL_JSON_ARRAY;
    case JSON_STRING:
        return SL_JSON_TEXT;
    case JSON_INTEGER:
        return SL_JSON_INTEGER;
    case JSON_REAL:
        return SL_JSON_REAL;
    case JSON_TRUE:
    case JSON_FALSE:
        return SL_JSON_BOOL;
    case JSON_NULL:
        break;
    }
    return SL_JSON_NULL;
}

size_t
sl_node_count(const sl_node *node)
{
    assert(node != NULL && node->value != NULL);
    return json_is_object((const json_t *)node->value) ? json_object_size(node->value)
                                                       : json_array_size(node->value);
}

bool
sl_node_at(const sl_node *array, size_t index, sl_node *out)
{
    assert(array != NULL && array->value != NULL && out != NULL);

    json_t *const value = json_array_get(array->value, index);
    if (value == NULL)
        return false;
    *out = (sl_node){.value = value, .parent = array, .index = index};
    return true;
}

bool
sl_node_next(const sl_node *object, void **state, sl_node *out)
{
    assert(object != NULL && object->value != NULL && state != NULL && out != NULL);

    void *const member = *state == NULL ? json_object_iter(object->value)
                                        : json_object_iter_next(object->value, *state);
    if (member == NULL)
        return false;
    *state = member;
    *out = (sl_node){.value = json_object_iter_value(member),
                     .parent = object,
                     .key = json_object_iter_key(member)};
    return true;
}

/* Writes what fits, whole characters only; false when something did not. */
static bool
append_bytes(char *out, size_t size, size_t *used, const char *bytes, size_t length)
{
    if (length >= size - *used)
        return false;
    memcpy(out + *used, bytes, length);
    *used += length;
    out[*used] = '\0';
    return true;
}

static bool
append_token(char *out, size_t size, size_t *used, const sl_node *node)
{
    if (!append_bytes(out, size, used, "/", 1))
        return false;
    if (node->key == NULL) {
        char index[24];
        (void)sl_text_format(index, sizeof index, "%zu", node->index);
        return append_bytes(out, size, used, index, strlen(index));
    }
    size_t left = strlen(node->key);
    for (const char *at = node->key; left > 0;) {
        const size_t character = sl_text_character(at, left);
        const size_t taken = character > 0 ? character : 1;
        const bool fits = *at == '~'   ? append_bytes(out, size, used, "~0", 2)
                          : *at == '/' ? append_bytes(out, size, used, "~1", 2)
                                       : append_bytes(out, size, used, at, taken);
        if (!fits)
            return false;
        at += taken;
        left -= taken;
    }
    return true;
}

void
sl_node_pointer(const sl_node *node, char *out, size_t size)
{
    assert(node != NULL && out != NULL && size > 0);

    const sl_node *chain[SL_JSON_DEPTH_MAX + 1];
    size_t length = 0;
    for (; node->parent != NULL; node = node->parent) {
        assert(length < sizeof chain / sizeof chain[0]);
        chain[length++] = node;
    }
    size_t used = 0;
    out[0] = '\0';
    while (length > 0 && append_token(out, size, &used, chain[length - 1]))
        length--;
}

bool
sl_node_member(const sl_node *object, const char *name, sl_node *out)
{
    assert(object != NULL && object->value != NULL && name != NULL && out != NULL);

    json_t *const value = json_object_get(object->value, name);
    if (value == NULL || json_is_null(value))
        return false;
    *out = (sl_node){.value = value, .parent = object, .key = name};
    return true;
}

static sl_code fail(const sl_node *node, sl_errors *err, sl_code code, const char *rule,
                    const char *format, va_list arguments) SL_PRINTF(5, 0);

static sl_code
fail(const sl_node *node, sl_errors *err, sl_code code, const char *rule, const char *format,
     va_list arguments)
{
    char pointer[POINTER_BYTES], message[MESSAGE_BYTES];
    sl_node_pointer(node, pointer, sizeof pointer);
    (void)sl_text_vformat(message, sizeof message, format, arguments);
    return sl_fail(err, code, rule, pointer, "%s", message);
}

sl_code
sl_node_fail(const sl_node *node, sl_errors *err, sl_code code, const char *rule,
             const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)fail(node, err, code, rule, format, arguments);
    va_end(arguments);
    return code;
}

sl_code
sl_node_fail_at(const sl_node *object, const char *member, sl_errors *err, sl_code code,
                const char *rule, const char *format, ...)
{
    assert(object != NULL && member != NULL);

    const sl_node node = {.value = object->value, .parent = object, .key = member};
    va_list arguments;
    va_start(arguments, format);
    (void)fail(&node, err, code, rule, format, arguments);
    va_end(arguments);
    return code;
}

/* The value as a sentence can quote it. */
static void
describe(const sl_node *node, char out[DESCRIBED_BYTES])
{
    const json_t *const value = node->value;
    const size_t size = DESCRIBED_BYTES;
    switch (sl_node_kind(node)) {
    case SL_JSON_NULL:
        (void)sl_text_copy(out, size, "null");
        break;
    case SL_JSON_BOOL:
        (void)sl_text_copy(out, size, json_is_true(value) ? "true" : "false");
        break;
    case SL_JSON_INTEGER:
        (void)sl_text_format(out, size, "%lld", (long long)json_integer_value(value));
        break;
    case SL_JSON_REAL:
        (void)sl_text_format(out, size, "%.12g", json_real_value(value));
        break;
    case SL_JSON_TEXT:
        if (!sl_text_format(out, size - 4, "\"%s", json_string_value(value)))
            (void)sl_text_copy(out + strlen(out), 4, "...");
        (void)sl_text_copy(out + strlen(out), 2, "\"");
        break;
    case SL_JSON_ARRAY:
        (void)sl_text_copy(out, size, "an array");
        break;
    case SL_JSON_OBJECT:
        (void)sl_text_copy(out, size, "an object");
        break;
    }
}

static sl_code
wrong_type(const sl_node *node, const char *wanted, sl_errors *err)
{
    char got[DESCRIBED_BYTES];
    describe(node, got);
    return sl_node_fail(node, err, SL_E_RANGE, "wrong_type", "must be %s, got %s", wanted, got);
}

sl_code
sl_node_object(const sl_node *node, sl_errors *err)
{
    return sl_node_kind(node) == SL_JSON_OBJECT ? SL_OK : wrong_type(node, "an object", err);
}

/* The nearest name as hint, or as many of all of them as fit. */
static void
hint_names(const char *word, const char *const *names, size_t count, sl_errors *err)
{
    static const char more[] = ", ...";
    /* Nobody would see it, and a body can hold very many unknown names. */
    if (err->dropped > 0)
        return;
    const char *const nearest = sl_text_nearest(word, names, count);
    if (nearest != NULL) {
        sl_hint(err, "%s", nearest);
        return;
    }
    char hint[HINT_BYTES] = "";
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        const char *const comma = i > 0 ? ", " : "";
        const size_t needed = strlen(comma) + strlen(names[i]);
        if (used + needed + sizeof more > sizeof hint) {
            (void)append_bytes(hint, sizeof hint, &used, more, sizeof more - 1);
            break;
        }
        (void)append_bytes(hint, sizeof hint, &used, comma, strlen(comma));
        (void)append_bytes(hint, sizeof hint, &used, names[i], strlen(names[i]));
    }
    sl_hint(err, "%s", hint);
}

sl_code
sl_node_known(const sl_node *object, const char *const *known, size_t count, sl_errors *err,
              sl_errors *warnings)
{
    assert(known != NULL || count == 0);

    sl_errors *const to = warnings != NULL ? warnings : err;
    sl_code code = SL_OK;
    void *state = NULL;
    sl_node member;
    while (sl_node_next(object, &state, &member)) {
        if (sl_text_equal(member.key, "$schema") || sl_text_equal(member.key, "annotations") ||
            sl_text_index(member.key, known, count) >= 0)
            continue;
        code = sl_node_fail(&member, to, SL_E_RANGE, "unknown_field", "is not a known field");
        hint_names(member.key, known, count, to);
    }
    return warnings != NULL ? SL_OK : code;
}

static sl_code
uint_out_of_range(const sl_node *node, uint64_t min, uint64_t max, bool above, sl_errors *err)
{
    char got[DESCRIBED_BYTES];
    describe(node, got);
    const unsigned long long low = min, high = max;
    if (max == UINT64_MAX)
        (void)sl_node_fail(node, err, SL_E_RANGE, "out_of_range", "must be at least %llu, got %s",
                           low, got);
    else
        (void)sl_node_fail(node, err, SL_E_RANGE, "out_of_range",
                           "must be from %llu to %llu, got %s", low, high, got);
    sl_hint(err, "%llu", above ? high : low);
    return SL_E_RANGE;
}

sl_code
sl_node_as_uint(const sl_node *node, uint64_t min, uint64_t max, uint64_t *out, sl_errors *err)
{
    assert(min <= max && out != NULL && err != NULL);

    static const double two_to_64 = 18446744073709551616.0;
    const json_t *const value = node->value;
    uint64_t read = 0;
    bool below = false, above = false;
    if (json_is_integer(value)) {
        below = json_integer_value(value) < 0;
        read = below ? 0 : (uint64_t)json_integer_value(value);
    } else if (json_is_real(value) && floor(json_real_value(value)) == json_real_value(value)) {
        below = json_real_value(value) < 0;
        above = json_real_value(value) >= two_to_64;
        read = below || above ? 0 : (uint64_t)json_real_value(value);
    } else {
        return wrong_type(node, "an integer", err);
    }
    above = above || (!below && read > max);
    if (above || below || read < min)
        return uint_out_of_range(node, min, max, above, err);
    *out = read;
    return SL_OK;
}

sl_code
sl_node_as_double(const sl_node *node, double min, double max, double *out, sl_errors *err)
{
    assert(min <= max && out != NULL && err != NULL);

    if (!json_is_number((const json_t *)node->value))
        return wrong_type(node, "a number", err);
    const double read = json_number_value(node->value);
    if (read >= min && read <= max) {
        *out = read;
        return SL_OK;
    }
    char got[DESCRIBED_BYTES];
    describe(node, got);
    if (max >= DBL_MAX)
        (void)sl_node_fail(node, err, SL_E_RANGE, "out_of_range", "must be at least %.12g, got %s",
                           min, got);
    else if (min <= -DBL_MAX)
        (void)sl_node_fail(node, err, SL_E_RANGE, "out_of_range", "must be at most %.12g, got %s",
                           max, got);
    else
        (void)sl_node_fail(node, err, SL_E_RANGE, "out_of_range",
                           "must be from %.12g to %.12g, got %s", min, max, got);
    sl_hint(err, "%.12g", read < min ? min : max);
    return SL_E_RANGE;
}

sl_code
sl_node_as_text(const sl_node *node, const char **out, sl_errors *err)
{
    assert(out != NULL && err != NULL);

    if (!json_is_string((const json_t *)node->value))
        return wrong_type(node, "text", err);
    *out = json_string_value(node->value);
    return SL_OK;
}

/* Looks an optional member up and says so in *present, which may be NULL. */
static bool
optional(const sl_node *object, const char *name, sl_node *out, bool *present)
{
    const bool found = sl_node_member(object, name, out);
    if (present != NULL)
        *present = found;
    return found;
}

sl_code
sl_node_uint(const sl_node *object, const char *name, uint64_t min, uint64_t max, uint64_t *out,
             bool *present, sl_errors *err)
{
    sl_node member;
    if (!optional(object, name, &member, present))
        return SL_OK;
    return sl_node_as_uint(&member, min, max, out, err);
}

sl_code
sl_node_double(const sl_node *object, const char *name, double min, double max, double *out,
               bool *present, sl_errors *err)
{
    sl_node member;
    if (!optional(object, name, &member, present))
        return SL_OK;
    return sl_node_as_double(&member, min, max, out, err);
}

sl_code
sl_node_as_bool(const sl_node *node, bool *out, sl_errors *err)
{
    assert(node != NULL && out != NULL && err != NULL);

    if (!json_is_boolean((const json_t *)node->value))
        return wrong_type(node, "true or false", err);
    *out = json_is_true((const json_t *)node->value);
    return SL_OK;
}

sl_code
sl_node_bool(const sl_node *object, const char *name, bool *out, bool *present, sl_errors *err)
{
    assert(out != NULL && err != NULL);

    sl_node member;
    if (!optional(object, name, &member, present))
        return SL_OK;
    return sl_node_as_bool(&member, out, err);
}

sl_code
sl_node_text(const sl_node *object, const char *name, const char **out, bool *present,
             sl_errors *err)
{
    sl_node member;
    if (!optional(object, name, &member, present))
        return SL_OK;
    return sl_node_as_text(&member, out, err);
}

sl_code
sl_node_as_choice(const sl_node *node, const char *const *names, size_t count, uint32_t *out,
                  sl_errors *err)
{
    assert(names != NULL && count > 0 && out != NULL);

    const char *word = NULL;
    const sl_code code = sl_node_as_text(node, &word, err);
    if (code != SL_OK)
        return code;
    const int index = sl_text_index(word, names, count);
    if (index < 0) {
        char got[DESCRIBED_BYTES];
        describe(node, got);
        (void)sl_node_fail(node, err, SL_E_RANGE, "unknown_value",
                           "must be one of the known names, got %s", got);
        hint_names(word, names, count, err);
        return SL_E_RANGE;
    }
    *out = (uint32_t)index;
    return SL_OK;
}

sl_code
sl_node_choice(const sl_node *object, const char *name, const char *const *names, size_t count,
               uint32_t *out, bool *present, sl_errors *err)
{
    sl_node member;
    if (!optional(object, name, &member, present))
        return SL_OK;
    return sl_node_as_choice(&member, names, count, out, err);
}

sl_code
sl_node_required(const sl_node *object, const char *name, sl_node *out, sl_errors *err)
{
    if (sl_node_member(object, name, out))
        return SL_OK;
    return sl_node_fail_at(object, name, err, SL_E_RANGE, "required_field", "is required");
}
