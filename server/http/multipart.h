/** Bodies of several files: multipart/form-data (RFC 7578) and any other multipart type. */
#ifndef SL_HTTP_MULTIPART_H
#define SL_HTTP_MULTIPART_H

#include <stdbool.h>
#include <stddef.h>

#include "shardline/error.h"

enum { SL_MULTIPART_BOUNDARY_MAX = 70, SL_MULTIPART_NAME_SIZE = 128 };

/** One part; text is borrowed from the body. */
typedef struct sl_part_body {
    char name[SL_MULTIPART_NAME_SIZE];     /* of the form's field, or "" */
    char filename[SL_MULTIPART_NAME_SIZE]; /* without folders, or "" */
    const char *text;
    size_t size;
} sl_part_body;

typedef struct sl_multipart {
    const char *at, *end;
    char delimiter[SL_MULTIPART_BOUNDARY_MAX + 5]; /* CRLF, dashes, boundary */
} sl_multipart;

/** Whether the content type is a multipart one. */
bool sl_multipart_is(const char *content_type);

/** SL_E_SYNTAX, rule malformed_multipart, without a usable boundary or where the body does not have
 * it. */
sl_code sl_multipart_open(const char *content_type, const char *body, size_t size,
                          sl_multipart *out, sl_errors *err) SL_MUST_CHECK;

/** *more = false behind the last part; malformed_multipart where the body ends inside one. */
sl_code sl_multipart_next(sl_multipart *multipart, sl_part_body *out, bool *more,
                          sl_errors *err) SL_MUST_CHECK;

#endif
