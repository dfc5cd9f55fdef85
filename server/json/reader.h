/**
 * Reading JSON with pointers: every value knows where it stands in the request, and every reader
 * reports its fault there and goes on, so that one answer names them all.
 *
 * A node lives on the caller's stack and points to its parent's node, which must outlive it.
 */
#ifndef SL_JSON_READER_H
#define SL_JSON_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shardline/error.h"

typedef struct sl_json sl_json; /* a parsed document */

enum { SL_JSON_DEPTH_MAX = 64 };

/** Called once in main before threads start: fixes the seed of the parser's hash tables. */
void sl_json_start(void);

typedef struct sl_json_limits {
    size_t max_bytes;           /* of the text */
    uint32_t max_depth;         /* checked before anything is built; 32 unless there is a reason,
                                   SL_JSON_DEPTH_MAX at most */
    bool depth_known;           /* the caller walked the text: it nests no deeper than that */
    bool parsed_before;         /* it was accepted within these limits: no depth and no key of it is
                                   looked at for that again */
    bool accept_python_numbers; /* NaN, Infinity and -Infinity outside strings become null (Hub
                                   configs) */
} sl_json_limits;

/**
 * Duplicate keys, trailing text, invalid UTF-8, embedded NUL, too deep: SL_E_SYNTAX with the line
 * and column in the message and a rule of malformed_json, duplicate_key, too_deep, out_of_range (a
 * number beyond 64 bits or a double); over max_bytes: SL_E_TOO_LARGE (rule too_large). A single
 * scalar is a document too. The document is the caller's; free it with sl_json_free.
 */
sl_code sl_json_parse(const char *text, size_t size, const sl_json_limits *limits, sl_json **out,
                      sl_errors *err) SL_MUST_CHECK;
void sl_json_free(sl_json *json); /* NULL is fine */

typedef struct sl_node {
    void *value;                  /* the parser's, read only; never NULL, may be JSON null */
    const struct sl_node *parent; /* NULL at the root */
    const char *key;              /* in an object */
    size_t index;                 /* in an array */
} sl_node;

typedef enum sl_json_kind {
    SL_JSON_NULL,
    SL_JSON_BOOL,
    SL_JSON_INTEGER,
    SL_JSON_REAL,
    SL_JSON_TEXT,
    SL_JSON_ARRAY,
    SL_JSON_OBJECT
} sl_json_kind;

sl_node sl_json_root(const sl_json *json);
sl_json_kind sl_node_kind(const sl_node *node);
size_t sl_node_count(const sl_node *node); /* members or elements; 0 for a scalar */
bool sl_node_at(const sl_node *array, size_t index, sl_node *out);
/** Iterates an object in insertion order: start with *state = NULL; false at the end. */
bool sl_node_next(const sl_node *object, void **state, sl_node *out);
/** RFC 6901 pointer of the node, cut to the buffer. */
void sl_node_pointer(const sl_node *node, char *out, size_t size);

/** False when the member is absent or null (null means unknown, the same as absent). Not an object:
 * false. */
bool sl_node_member(const sl_node *object, const char *name, sl_node *out);

/** Appends an error that points at the node. */
sl_code sl_node_fail(const sl_node *node, sl_errors *err, sl_code code, const char *rule,
                     const char *format, ...) SL_PRINTF(5, 6);
/** As sl_node_fail, for a member that may not exist. */
sl_code sl_node_fail_at(const sl_node *object, const char *member, sl_errors *err, sl_code code,
                        const char *rule, const char *format, ...) SL_PRINTF(6, 7);

/** Must be an object (rule wrong_type). */
sl_code sl_node_object(const sl_node *node, sl_errors *err) SL_MUST_CHECK;

/**
 * Every member of the object that is not in `known` becomes an error unknown_field with the nearest
 * known name, or else all of them, as hint. "$schema" and "annotations" are always known.
 * When `warnings` is not NULL (request said ?unknown=warn) they are appended there instead.
 */
sl_code sl_node_known(const sl_node *object, const char *const *known, size_t count, sl_errors *err,
                      sl_errors *warnings) SL_MUST_CHECK;

/* Optional members. Absent or null: SL_OK, *out untouched. Wrong type: wrong_type; outside:
 * out_of_range. An integral real (4.0) is accepted as an integer. `present` may be NULL. */
sl_code sl_node_uint(const sl_node *object, const char *name, uint64_t min, uint64_t max,
                     uint64_t *out, bool *present, sl_errors *err) SL_MUST_CHECK;
sl_code sl_node_double(const sl_node *object, const char *name, double min, double max, double *out,
                       bool *present, sl_errors *err) SL_MUST_CHECK;
sl_code sl_node_bool(const sl_node *object, const char *name, bool *out, bool *present,
                     sl_errors *err) SL_MUST_CHECK;
/** Borrowed from the document. */
sl_code sl_node_text(const sl_node *object, const char *name, const char **out, bool *present,
                     sl_errors *err) SL_MUST_CHECK;
/** One of `names`: *out = its index; else unknown_value with the nearest name (or all) as hint. */
sl_code sl_node_choice(const sl_node *object, const char *name, const char *const *names,
                       size_t count, uint32_t *out, bool *present, sl_errors *err) SL_MUST_CHECK;

/* The value itself, for elements of arrays. */
sl_code sl_node_as_uint(const sl_node *node, uint64_t min, uint64_t max, uint64_t *out,
                        sl_errors *err) SL_MUST_CHECK;
sl_code sl_node_as_double(const sl_node *node, double min, double max, double *out,
                          sl_errors *err) SL_MUST_CHECK;
sl_code sl_node_as_bool(const sl_node *node, bool *out, sl_errors *err) SL_MUST_CHECK;
sl_code sl_node_as_text(const sl_node *node, const char **out, sl_errors *err) SL_MUST_CHECK;
sl_code sl_node_as_choice(const sl_node *node, const char *const *names, size_t count,
                          uint32_t *out, sl_errors *err) SL_MUST_CHECK;

/** Required: absent or null becomes required_field. Otherwise *out is the member. */
sl_code sl_node_required(const sl_node *object, const char *name, sl_node *out,
                         sl_errors *err) SL_MUST_CHECK;

#endif
