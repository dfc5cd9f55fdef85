/**
 * Bounded JSON text, appended in order; no tree is built. Commas and escaping are the writer's.
 * Whole doubles below 2^53 keep every digit, others print at most 12 (a contract; NaN and
 * infinities become null and set `failed`: they are a fault of ours, never an answer). Misuse (key
 * outside an object) asserts.
 */
#ifndef SL_JSON_WRITER_H
#define SL_JSON_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "json/reader.h"

/** A document of the reader always fits, wrapped into an answer. */
enum { SL_WRITER_DEPTH_MAX = SL_JSON_DEPTH_MAX + 32 };

typedef struct sl_writer {
    sl_buffer *out; /* borrowed */
    uint32_t depth;
    bool first[SL_WRITER_DEPTH_MAX];
    bool in_object[SL_WRITER_DEPTH_MAX];
    bool after_key;
    bool failed;
} sl_writer;

void sl_writer_init(sl_writer *writer, sl_buffer *out);
/** True when everything was closed, fit and was finite. */
bool sl_writer_ok(const sl_writer *writer);

void sl_write_object(sl_writer *writer);
void sl_write_object_end(sl_writer *writer);
void sl_write_array(sl_writer *writer);
void sl_write_array_end(sl_writer *writer);
void sl_write_key(sl_writer *writer, const char *key);

void sl_write_text(sl_writer *writer, const char *text); /* NULL writes null */
void sl_write_uint(sl_writer *writer, uint64_t value);
void sl_write_int(sl_writer *writer, int64_t value);
void sl_write_double(sl_writer *writer, double value);
void sl_write_bool(sl_writer *writer, bool value);
void sl_write_null(sl_writer *writer);
/** Many elements of an array; `none` writes null. */
void sl_write_uints(sl_writer *writer, const uint32_t *values, size_t count, uint32_t none);
void sl_write_doubles(sl_writer *writer, const double *values, size_t count);
/** An already valid JSON text, copied as it is. */
void sl_write_raw(sl_writer *writer, const char *json, size_t size);

/** The list of errors as an array of {pointer, code, detail, hint}; the hint only where there
 * is one. */
void sl_write_errors(sl_writer *writer, const sl_errors *err);

/* A key with its value in one call. */
void sl_put_text(sl_writer *writer, const char *key, const char *text);
void sl_put_uint(sl_writer *writer, const char *key, uint64_t value);
void sl_put_int(sl_writer *writer, const char *key, int64_t value);
void sl_put_double(sl_writer *writer, const char *key, double value);
void sl_put_bool(sl_writer *writer, const char *key, bool value);
void sl_put_null(sl_writer *writer, const char *key);
/** null where nobody knows; in the latter two 0 stands for that. */
void sl_put_optional(sl_writer *writer, const char *key, bool known, uint64_t value);
void sl_put_known_uint(sl_writer *writer, const char *key, uint64_t value);
void sl_put_known_double(sl_writer *writer, const char *key, double value);

/** Canonical text (sorted keys, no spaces, reals with the fewest digits that read back as the same
 * double) of a document for hashing; equal documents give equal bytes, 4.0 being equal to 4.
 * SL_E_MEMORY when it does not fit. */
sl_code sl_json_canonical(const sl_node *node, sl_buffer *out) SL_MUST_CHECK;

#endif
