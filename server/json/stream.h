/**
 * JSON read as it arrives: each key and value is told to a sink, nothing is kept. What a text of
 * any length costs is one sl_stream.
 *
 * Read as profilers write it, which is a little more than JSON: NaN, inf and their like stand for
 * null, and strings may hold control characters. Duplicate keys are the sink's to notice.
 */
#ifndef SL_JSON_STREAM_H
#define SL_JSON_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shardline/error.h"

enum {
    SL_STREAM_DEPTH_MAX = 64,
    SL_STREAM_TEXT_MAX = 1024 /* bytes of a key, text or number that are kept; the rest of a text is
                                 skipped, a number that is longer is refused */
};

typedef enum sl_stream_kind {
    SL_STREAM_OBJECT,
    SL_STREAM_OBJECT_END,
    SL_STREAM_ARRAY,
    SL_STREAM_ARRAY_END,
    SL_STREAM_KEY,
    SL_STREAM_TEXT,
    SL_STREAM_NUMBER, /* as it was written */
    SL_STREAM_WORD    /* true, false, null and what stands for it */
} sl_stream_kind;

/** Borrowed for the call. */
typedef struct sl_stream_token {
    sl_stream_kind kind;
    uint32_t depth;   /* objects and lists around it; of a begin or an end, around that */
    const char *text; /* of a key, text, number or word: NUL-terminated, escapes resolved */
    size_t length;
} sl_stream_token;

typedef void (*sl_stream_sink)(void *context, const sl_stream_token *token);

typedef enum sl_stream_state {
    SL_STREAM_VALUE,
    SL_STREAM_FIRST_VALUE, /* or the end of the list */
    SL_STREAM_FIRST_KEY,   /* or the end of the object */
    SL_STREAM_NEXT_KEY,
    SL_STREAM_COLON,
    SL_STREAM_COMMA, /* or the end of what is open */
    SL_STREAM_STRING,
    SL_STREAM_ESCAPE,
    SL_STREAM_UNICODE,
    SL_STREAM_BARE, /* inside a number or a word */
    SL_STREAM_DONE
} sl_stream_state;

/** Fields are the reader's own. */
typedef struct sl_stream {
    sl_stream_sink sink;
    void *context;
    uint64_t offset; /* of the next byte */
    sl_stream_state state;
    bool is_key;
    uint32_t depth;
    bool in_object[SL_STREAM_DEPTH_MAX];
    uint32_t digits;    /* of a \u escape, so far */
    uint32_t unit;      /* what they say */
    uint32_t high_unit; /* the first half of a surrogate pair; 0: none */
    size_t length;
    char text[SL_STREAM_TEXT_MAX + 8];
} sl_stream;

void sl_stream_init(sl_stream *stream, sl_stream_sink sink, void *context);

/**
 * Reads on. Ends behind the document, an object or a list, or at the end of the bytes; *used is how
 * many were read. SL_E_SYNTAX names the byte: malformed_json, too_deep.
 */
sl_code sl_stream_feed(sl_stream *stream, const char *bytes, size_t size, size_t *used,
                       sl_errors *err) SL_MUST_CHECK;

/** Whether the document is complete. */
bool sl_stream_done(const sl_stream *stream);

/** The text ends here: SL_E_SYNTAX, rule malformed_json, unless the document is complete. */
sl_code sl_stream_finish(const sl_stream *stream, sl_errors *err) SL_MUST_CHECK;

#endif
