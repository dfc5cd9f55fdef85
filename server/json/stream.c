#include "json/stream.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/text.h"

void
sl_stream_init(sl_stream *stream, sl_stream_sink sink, void *context)
{
    assert(stream != NULL && sink != NULL);
    *stream = (sl_stream){.sink = sink, .context = context};
}

bool
sl_stream_done(const sl_stream *stream)
{
    assert(stream != NULL);
    return stream->state == SL_STREAM_DONE;
}

static sl_code
malformed(const sl_stream *stream, sl_errors *err, const char *what)
{
    return sl_fail(err, SL_E_SYNTAX, "malformed_json", "", "byte %" PRIu64 ": %s", stream->offset,
                   what);
}

static void
tell(const sl_stream *stream, sl_stream_kind kind)
{
    const sl_stream_token token = {kind, stream->depth, stream->text, stream->length};
    stream->sink(stream->context, &token);
}

/* What comes after a value: the document's end, or a comma. */
static void
value_ends(sl_stream *stream)
{
    stream->state = stream->depth == 0 ? SL_STREAM_DONE : SL_STREAM_COMMA;
    stream->length = 0;
}

static sl_code
open_level(sl_stream *stream, bool object, sl_errors *err)
{
    if (stream->depth == SL_STREAM_DEPTH_MAX)
        return sl_fail(err, SL_E_SYNTAX, "too_deep", "",
                       "byte %" PRIu64 ": must not be nested deeper than %d", stream->offset,
                       SL_STREAM_DEPTH_MAX);
    tell(stream, object ? SL_STREAM_OBJECT : SL_STREAM_ARRAY);
    stream->in_object[stream->depth++] = object;
    stream->state = object ? SL_STREAM_FIRST_KEY : SL_STREAM_FIRST_VALUE;
    return SL_OK;
}

static void
close_level(sl_stream *stream, bool object)
{
    stream->depth--;
    tell(stream, object ? SL_STREAM_OBJECT_END : SL_STREAM_ARRAY_END);
    value_ends(stream);
}

static void
keep(sl_stream *stream, char byte)
{
    if (stream->length < SL_STREAM_TEXT_MAX)
        stream->text[stream->length++] = byte;
}

/* A character of an escape. NUL becomes U+FFFD as half pairs do: a text is a C string. */
static void
keep_character(sl_stream *stream, uint32_t code)
{
    char bytes[SL_TEXT_CHARACTER_MAX];
    const size_t size = sl_text_put_character(code == 0 ? 0xFFFD : code, bytes);

    for (size_t i = 0; i < size; i++)
        keep(stream, bytes[i]);
}

/* A first half that no second one followed. */
static void
drop_half(sl_stream *stream)
{
    if (stream->high_unit != 0)
        keep_character(stream, stream->high_unit);
    stream->high_unit = 0;
}

static void
unit_ends(sl_stream *stream)
{
    const uint32_t unit = stream->unit;
    const bool second = unit >= 0xDC00 && unit < 0xE000;

    stream->state = SL_STREAM_STRING;
    if (second && stream->high_unit != 0) {
        keep_character(stream, 0x10000 + ((stream->high_unit - 0xD800) << 10) + (unit - 0xDC00));
        stream->high_unit = 0;
        return;
    }
    drop_half(stream);
    if (unit >= 0xD800 && unit < 0xDC00)
        stream->high_unit = unit;
    else
        keep_character(stream, unit);
}

/* The value of a hexadecimal digit; 16: it is none. */
static uint32_t
hex_value(char digit)
{
    if (digit >= '0' && digit <= '9')
        return (uint32_t)(digit - '0');
    if (digit >= 'a' && digit <= 'f')
        return (uint32_t)(digit - 'a') + 10;
    return digit >= 'A' && digit <= 'F' ? (uint32_t)(digit - 'A') + 10 : 16;
}

static sl_code
read_unit(sl_stream *stream, char byte, sl_errors *err)
{
    const uint32_t value = hex_value(byte);

    if (value == 16)
        return malformed(stream, err, "four hexadecimal digits must follow \\u");
    stream->unit = stream->unit << 4 | value;
    if (++stream->digits == 4)
        unit_ends(stream);
    return SL_OK;
}

static sl_code
read_escape(sl_stream *stream, char byte, sl_errors *err)
{
    static const char letters[] = "\"\\/bfnrt";
    static const char meant[] = "\"\\/\b\f\n\r\t";
    const char *const found = memchr(letters, byte, sizeof letters - 1);

    if (byte == 'u') {
        stream->digits = stream->unit = 0;
        stream->state = SL_STREAM_UNICODE;
        return SL_OK;
    }
    if (found == NULL)
        return malformed(stream, err, "no such escape");
    drop_half(stream);
    keep(stream, meant[found - letters]);
    stream->state = SL_STREAM_STRING;
    return SL_OK;
}

/* Terminates what was kept, cut between characters. */
static void
terminate(sl_stream *stream)
{
    if (stream->length == SL_STREAM_TEXT_MAX) {
        size_t end = stream->length;
        while (end > 0 && ((unsigned char)stream->text[end - 1] & 0xC0) == 0x80)
            end--;
        const size_t start = end > 0 ? end - 1 : 0;
        if (sl_text_character(stream->text + start, stream->length - start) !=
            stream->length - start)
            stream->length = start;
    }
    stream->text[stream->length] = '\0';
}

static void
string_ends(sl_stream *stream)
{
    drop_half(stream);
    terminate(stream);
    tell(stream, stream->is_key ? SL_STREAM_KEY : SL_STREAM_TEXT);
    if (!stream->is_key) {
        value_ends(stream);
        return;
    }
    stream->state = SL_STREAM_COLON;
    stream->length = 0;
}

/* The bytes of a string up to what means something; at least one is read. */
static size_t
read_string(sl_stream *stream, const char *bytes, size_t size)
{
    size_t at = 0;

    while (at < size && bytes[at] != '"' && bytes[at] != '\\')
        at++;
    if (at > 0) {
        drop_half(stream);
        const size_t room = SL_STREAM_TEXT_MAX - stream->length;
        const size_t kept = at < room ? at : room;
        memcpy(stream->text + stream->length, bytes, kept);
        for (size_t i = stream->length; i < stream->length + kept; i++)
            if (stream->text[i] == '\0')
                stream->text[i] = ' ';
        stream->length += kept;
    }
    if (at == size)
        return at;
    if (bytes[at] == '"')
        string_ends(stream);
    else
        stream->state = SL_STREAM_ESCAPE;
    return at + 1;
}

static size_t
digits_at(const char *text)
{
    return strspn(text, "0123456789");
}

/* RFC 8259 section 6. */
static bool
is_number(const char *text)
{
    const char *at = text + (*text == '-');
    const size_t whole = digits_at(at);

    if (whole == 0 || (whole > 1 && *at == '0'))
        return false;
    at += whole;
    if (*at == '.') {
        const size_t part = digits_at(++at);
        if (part == 0)
            return false;
        at += part;
    }
    if (*at == 'e' || *at == 'E') {
        at++;
        at += *at == '+' || *at == '-';
        const size_t power = digits_at(at);
        if (power == 0)
            return false;
        at += power;
    }
    return *at == '\0';
}

static sl_code
bare_ends(sl_stream *stream, sl_errors *err)
{
    static const char *const words[] = {"true", "false", "null",     "NaN",       "nan",
                                        "-nan", "inf",   "Infinity", "-Infinity", "-inf"};

    stream->text[stream->length] = '\0';
    const bool number = stream->length < SL_STREAM_TEXT_MAX && is_number(stream->text);
    if (!number && sl_text_index(stream->text, words, sizeof words / sizeof words[0]) < 0)
        return malformed(stream, err, "neither a number nor true, false or null ends here");
    tell(stream, number ? SL_STREAM_NUMBER : SL_STREAM_WORD);
    value_ends(stream);
    return SL_OK;
}

static bool
is_bare(char byte)
{
    return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
           (byte >= 'A' && byte <= 'Z') || byte == '-' || byte == '+' || byte == '.';
}

static void
string_begins(sl_stream *stream, bool is_key)
{
    stream->is_key = is_key;
    stream->length = 0;
    stream->high_unit = 0;
    stream->state = SL_STREAM_STRING;
}

static sl_code
read_value(sl_stream *stream, char byte, sl_errors *err)
{
    const bool first = stream->state == SL_STREAM_FIRST_VALUE;

    if (byte == '{' || byte == '[')
        return open_level(stream, byte == '{', err);
    if (byte == ']' && first) {
        close_level(stream, false);
        return SL_OK;
    }
    if (stream->depth == 0)
        return malformed(stream, err, "the document must begin with { or [");
    if (byte == '"') {
        string_begins(stream, false);
        return SL_OK;
    }
    if (!is_bare(byte))
        return malformed(stream, err, first ? "expected a value or ]" : "expected a value");
    stream->length = 0;
    keep(stream, byte);
    stream->state = SL_STREAM_BARE;
    return SL_OK;
}

/* One byte between values, none of them a blank. */
static sl_code
read_structure(sl_stream *stream, char byte, sl_errors *err)
{
    switch (stream->state) {
    case SL_STREAM_FIRST_KEY:
        if (byte == '}') {
            close_level(stream, true);
            return SL_OK;
        }
        /* fall through */
    case SL_STREAM_NEXT_KEY:
        if (byte != '"')
            return malformed(stream, err, "expected a key in quotes");
        string_begins(stream, true);
        return SL_OK;
    case SL_STREAM_COLON:
        if (byte != ':')
            return malformed(stream, err, "expected : after a key");
        stream->state = SL_STREAM_VALUE;
        return SL_OK;
    case SL_STREAM_COMMA: {
        const bool object = stream->in_object[stream->depth - 1];
        if (byte == (object ? '}' : ']')) {
            close_level(stream, object);
            return SL_OK;
        }
        if (byte != ',')
            return malformed(stream, err, object ? "expected , or }" : "expected , or ]");
        stream->state = object ? SL_STREAM_NEXT_KEY : SL_STREAM_VALUE;
        return SL_OK;
    }
    default:
        return read_value(stream, byte, err);
    }
}

static size_t
count_blanks(const char *bytes, size_t size)
{
    size_t at = 0;
    while (at < size &&
           (bytes[at] == ' ' || bytes[at] == '\n' || bytes[at] == '\r' || bytes[at] == '\t'))
        at++;
    return at;
}

/* Reads one byte, or the run of them that a string or blanks are. */
static sl_code
read_some(sl_stream *stream, const char *bytes, size_t size, size_t *taken, sl_errors *err)
{
    const char byte = bytes[0];

    *taken = 1;
    switch (stream->state) {
    case SL_STREAM_STRING:
        *taken = read_string(stream, bytes, size);
        return SL_OK;
    case SL_STREAM_ESCAPE:
        return read_escape(stream, byte, err);
    case SL_STREAM_UNICODE:
        return read_unit(stream, byte, err);
    case SL_STREAM_BARE:
        if (is_bare(byte)) {
            keep(stream, byte);
            return SL_OK;
        }
        *taken = 0; /* it belongs to what comes next */
        return bare_ends(stream, err);
    default:
        *taken = count_blanks(bytes, size);
        if (*taken > 0)
            return SL_OK;
        *taken = 1;
        return read_structure(stream, byte, err);
    }
}

sl_code
sl_stream_feed(sl_stream *stream, const char *bytes, size_t size, size_t *used, sl_errors *err)
{
    assert(stream != NULL && (bytes != NULL || size == 0) && used != NULL);

    size_t at = 0;
    while (at < size && stream->state != SL_STREAM_DONE) {
        size_t taken = 0;
        const sl_code code = read_some(stream, bytes + at, size - at, &taken, err);
        if (code != SL_OK)
            return code;
        at += taken;
        stream->offset += taken;
    }
    *used = at;
    return SL_OK;
}

sl_code
sl_stream_finish(const sl_stream *stream, sl_errors *err)
{
    assert(stream != NULL);
    return sl_stream_done(stream) ? SL_OK : malformed(stream, err, "the text ends too early");
}
