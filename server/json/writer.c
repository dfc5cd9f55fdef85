#include "json/writer.h"

#include <assert.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"

enum { SHORT = SL_BUFFER_SHORT_SIZE };
_Static_assert((int)SL_NUMBER_TEXT_SIZE <= (int)SHORT, "a number is short");

void
sl_writer_init(sl_writer *writer, sl_buffer *out)
{
    assert(writer != NULL && out != NULL);
    *writer = (sl_writer){.out = out};
    writer->first[0] = true;
}

bool
sl_writer_ok(const sl_writer *writer)
{
    assert(writer != NULL);
    return writer->depth == 0 && !writer->first[0] && !writer->failed && !writer->out->failed;
}

/* Whether the value that comes needs a comma; asserts that one may stand here. */
static inline bool
takes_comma(sl_writer *writer)
{
    assert(writer != NULL);

    bool *const first = &writer->first[writer->depth];
    if (writer->in_object[writer->depth]) {
        assert(writer->after_key);
        writer->after_key = false;
        return false;
    }
    const bool takes = !*first;
    assert(!takes || writer->depth > 0); /* one document per writer */
    *first = false;
    return takes;
}

static void
before_value(sl_writer *writer)
{
    if (takes_comma(writer))
        sl_buffer_append(writer->out, ",", 1);
}

static void
begin(sl_writer *writer, bool object)
{
    before_value(writer);
    assert(writer->depth + 1 < SL_WRITER_DEPTH_MAX);
    writer->depth++;
    writer->first[writer->depth] = true;
    writer->in_object[writer->depth] = object;
    sl_buffer_append(writer->out, object ? "{" : "[", 1);
}

static void
end(sl_writer *writer, bool object)
{
    assert(writer != NULL && writer->depth > 0 && !writer->after_key);
    assert(writer->in_object[writer->depth] == object);
    writer->depth--;
    sl_buffer_append(writer->out, object ? "}" : "]", 1);
}

void
sl_write_object(sl_writer *writer)
{
    begin(writer, true);
}

void
sl_write_object_end(sl_writer *writer)
{
    end(writer, true);
}

void
sl_write_array(sl_writer *writer)
{
    begin(writer, false);
}

void
sl_write_array_end(sl_writer *writer)
{
    end(writer, false);
}

static bool
is_plain(char letter)
{
    return letter >= ' ' && letter <= '~' && letter != '"' && letter != '\\';
}

static void
append_quoted(sl_buffer *out, const char *text)
{
    size_t left = strlen(text);
    sl_buffer_append(out, "\"", 1);
    while (left > 0) {
        size_t plain = 0;
        while (plain < left && is_plain(text[plain]))
            plain++;
        if (plain > 0) {
            sl_buffer_append(out, text, plain);
        } else {
            char escaped[SL_TEXT_ESCAPED_MAX];
            const size_t size = sl_text_json_escape(text, left, escaped, &plain);
            sl_buffer_append(out, escaped, size);
        }
        text += plain;
        left -= plain;
    }
    sl_buffer_append(out, "\"", 1);
}

/* A key of a few plain letters with all that is around it, in one go, as almost all are; false of
 * any other. */
static bool
append_short_key(sl_buffer *out, bool comma, const char *key)
{
    char text[SHORT] = {','};
    size_t used = comma ? 1 : 0;

    text[used++] = '"';
    for (; is_plain(*key); key++) {
        if (used + sizeof "\":" >= SHORT)
            return false;
        text[used++] = *key;
    }
    if (*key != '\0')
        return false;
    text[used++] = '"';
    text[used++] = ':';
    sl_buffer_append_short(out, text, used);
    return true;
}

void
sl_write_key(sl_writer *writer, const char *key)
{
    assert(writer != NULL && key != NULL);
    assert(writer->in_object[writer->depth] && !writer->after_key);

    const bool comma = !writer->first[writer->depth];
    writer->first[writer->depth] = false;
    writer->after_key = true;
    if (append_short_key(writer->out, comma, key))
        return;
    if (comma)
        sl_buffer_append(writer->out, ",", 1);
    append_quoted(writer->out, key);
    sl_buffer_append(writer->out, ":", 1);
}

void
sl_write_raw(sl_writer *writer, const char *json, size_t size)
{
    assert(json != NULL && size > 0);
    before_value(writer);
    sl_buffer_append(writer->out, json, size);
}

/* A value of `size` bytes behind a comma, which is left out where none belongs: what long lists are
 * made of, in one go. */
static inline void
write_short(sl_writer *writer, const char text[1 + SHORT], size_t size)
{
    const bool comma = takes_comma(writer);

    sl_buffer_append_short(writer->out, comma ? text : text + 1, comma ? size + 1 : size);
}

void
sl_write_null(sl_writer *writer)
{
    static const char text[1 + SHORT] = ",null";

    write_short(writer, text, 4);
}

void
sl_write_text(sl_writer *writer, const char *text)
{
    if (text == NULL) {
        sl_write_null(writer);
        return;
    }
    before_value(writer);
    append_quoted(writer->out, text);
}

static void
write_digits(sl_writer *writer, bool negative, uint64_t magnitude)
{
    char text[2 * SHORT]; /* digits up to its middle: behind them there is room for a whole copy */
    char *begin = sl_number_whole(magnitude, text + SHORT);
    if (negative)
        *--begin = '-';
    const size_t size = (size_t)(text + SHORT - begin);
    *--begin = ',';
    write_short(writer, begin, size);
}

void
sl_write_uint(sl_writer *writer, uint64_t value)
{
    write_digits(writer, false, value);
}

void
sl_write_int(sl_writer *writer, int64_t value)
{
    write_digits(writer, value < 0, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void
sl_write_double(sl_writer *writer, double value)
{
    if (!isfinite(value)) {
        sl_write_null(writer);
        writer->failed = true;
    } else {
        char text[1 + SHORT] = {','};
        write_short(writer, text, sl_number_json(value, text + 1));
    }
}

/* Texts of so many numbers are copied at once. */
enum { BLOCK = 64 };

/* The text of a block, less the comma that its first number may not need. */
static void
write_block(sl_writer *writer, const char *text, const char *end)
{
    const char *begin = takes_comma(writer) ? text : text + 1;

    sl_buffer_append(writer->out, begin, (size_t)(end - begin));
}

static size_t
block_of(size_t left)
{
    return left < BLOCK ? left : BLOCK;
}

void
sl_write_uints(sl_writer *writer, const uint32_t *values, size_t count, uint32_t none)
{
    char text[BLOCK * SL_NUMBER_TEXT_SIZE];

    assert(!writer->in_object[writer->depth]);
    for (size_t i = 0; i < count; i += BLOCK) {
        write_block(writer, text,
                    sl_number_list_whole(values + i, block_of(count - i), none, text));
    }
}

static bool
are_finite(const double *values, size_t count)
{
    bool finite = true;

    for (size_t i = 0; i < count; i++)
        finite = finite && isfinite(values[i]);
    return finite;
}

void
sl_write_doubles(sl_writer *writer, const double *values, size_t count)
{
    char text[BLOCK * SL_NUMBER_TEXT_SIZE];

    assert(!writer->in_object[writer->depth]);
    for (size_t i = 0; i < count; i += BLOCK) {
        const size_t size = block_of(count - i);
        if (are_finite(values + i, size))
            write_block(writer, text, sl_number_list(values + i, size, text));
        else
            for (size_t k = i; k < i + size; k++)
                sl_write_double(writer, values[k]);
    }
}

void
sl_write_bool(sl_writer *writer, bool value)
{
    static const char texts[2][1 + SHORT] = {",false", ",true"};

    write_short(writer, texts[value], value ? 4 : 5);
}

void
sl_put_text(sl_writer *writer, const char *key, const char *text)
{
    sl_write_key(writer, key);
    sl_write_text(writer, text);
}

void
sl_put_uint(sl_writer *writer, const char *key, uint64_t value)
{
    sl_write_key(writer, key);
    sl_write_uint(writer, value);
}

void
sl_put_int(sl_writer *writer, const char *key, int64_t value)
{
    sl_write_key(writer, key);
    sl_write_int(writer, value);
}

void
sl_put_double(sl_writer *writer, const char *key, double value)
{
    sl_write_key(writer, key);
    sl_write_double(writer, value);
}

void
sl_put_bool(sl_writer *writer, const char *key, bool value)
{
    sl_write_key(writer, key);
    sl_write_bool(writer, value);
}

void
sl_put_null(sl_writer *writer, const char *key)
{
    sl_write_key(writer, key);
    sl_write_null(writer);
}

void
sl_put_optional(sl_writer *writer, const char *key, bool known, uint64_t value)
{
    if (known)
        sl_put_uint(writer, key, value);
    else
        sl_put_null(writer, key);
}

void
sl_put_known_uint(sl_writer *writer, const char *key, uint64_t value)
{
    sl_put_optional(writer, key, value > 0, value);
}

void
sl_put_known_double(sl_writer *writer, const char *key, double value)
{
    if (value > 0.0)
        sl_put_double(writer, key, value);
    else
        sl_put_null(writer, key);
}

void
sl_write_errors(sl_writer *writer, const sl_errors *err)
{
    assert(err != NULL);

    sl_write_array(writer);
    for (uint32_t i = 0; i < err->count; i++) {
        const sl_error *const error = &err->list[i];
        sl_write_object(writer);
        sl_put_text(writer, "pointer", error->pointer);
        sl_put_text(writer, "code", error->rule);
        sl_put_text(writer, "detail", error->message);
        if (error->hint[0] != '\0')
            sl_put_text(writer, "hint", error->hint);
        sl_write_object_end(writer);
    }
    sl_write_array_end(writer);
}

/* A container that is being written. The members of an object come sorted, by `keys`. */
typedef struct frame {
    json_t *container;
    size_t index, count;
    const char **keys;
} frame;

typedef struct walk {
    sl_writer *writer;
    size_t depth;
    frame stack[SL_JSON_DEPTH_MAX];
} walk;

/* Fewest digits that read back as the same double. */
static void
write_real(walk *at, double value)
{
    char text[SL_NUMBER_TEXT_SIZE];
    double back = 0;
    if (sl_number_is_whole(value)) {
        sl_write_int(at->writer, (int64_t)value);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        (void)sl_text_format(text, sizeof text, "%.*g", digits, value);
        if (sl_text_to_double(text, &back) && !(back < value) && !(back > value))
            break;
    }
    /* A whole real stays a real. */
    if (strpbrk(text, ".e") == NULL)
        (void)sl_text_copy(text + strlen(text), 3, ".0");
    sl_write_raw(at->writer, text, strlen(text));
}

static int
by_text(const void *a, const void *b)
{
    const char *const *const left = a;
    const char *const *const right = b;
    return strcmp(*left, *right);
}

static void
enter(walk *at, json_t *container)
{
    assert(at->depth < sizeof at->stack / sizeof at->stack[0]);
    frame *const top = &at->stack[at->depth++];
    *top = (frame){.container = container};
    begin(at->writer, json_is_object(container));
    top->count =
        json_is_object(container) ? json_object_size(container) : json_array_size(container);
    if (!json_is_object(container) || top->count == 0)
        return;
    top->keys = malloc(top->count * sizeof top->keys[0]);
    if (top->keys == NULL) {
        at->writer->failed = true;
        top->count = 0; /* nobody reads what failed */
        return;
    }
    size_t count = 0;
    for (void *member = json_object_iter(container); member != NULL;
         member = json_object_iter_next(container, member))
        top->keys[count++] = json_object_iter_key(member);
    qsort(top->keys, count, sizeof top->keys[0], by_text);
}

static void
write_value(walk *at, json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
    case JSON_ARRAY:
        enter(at, value);
        break;
    case JSON_STRING:
        sl_write_text(at->writer, json_string_value(value));
        break;
    case JSON_INTEGER:
        sl_write_int(at->writer, json_integer_value(value));
        break;
    case JSON_REAL:
        write_real(at, json_real_value(value));
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        sl_write_bool(at->writer, json_is_true(value));
        break;
    case JSON_NULL:
        sl_write_null(at->writer);
        break;
    }
}

/* The next member or element of the innermost container, NULL at its end. Writes the key. */
static json_t *
advance(walk *at, frame *top)
{
    if (top->index == top->count)
        return NULL;
    const size_t index = top->index++;
    if (top->keys == NULL)
        return json_array_get(top->container, index);
    sl_write_key(at->writer, top->keys[index]);
    return json_object_get(top->container, top->keys[index]);
}

/* Without recursion: the reader bounds the depth, the stack has room for it. */
sl_code
sl_json_canonical(const sl_node *node, sl_buffer *out)
{
    assert(node != NULL && node->value != NULL && out != NULL);

    sl_writer writer;
    sl_writer_init(&writer, out);
    walk at = {.writer = &writer};
    write_value(&at, node->value);
    while (at.depth > 0) {
        frame *const top = &at.stack[at.depth - 1];
        json_t *const value = advance(&at, top);
        if (value != NULL) {
            write_value(&at, value);
            continue;
        }
        end(&writer, json_is_object(top->container));
        free(top->keys);
        at.depth--;
    }
    return sl_writer_ok(&writer) ? SL_OK : SL_E_MEMORY;
}
