/**
 * The dashboard's files, read into memory at start: no path of a request ever reaches the file
 * system, and a hit costs no system call but the send.
 */
#ifndef SL_HTTP_STATIC_H
#define SL_HTTP_STATIC_H

#include "http/message.h"

typedef struct sl_static sl_static;
typedef struct sl_static_file sl_static_file;

/**
 * Reads every regular file under `folder`. A folder that does not exist gives an empty set.
 * SL_E_TOO_LARGE when it holds more than a dashboard can need, SL_E_UNAVAILABLE when it cannot be
 * read.
 */
sl_code sl_static_load(const char *folder, sl_static **out, sl_errors *err) SL_MUST_CHECK;
void sl_static_free(sl_static *files); /* NULL is fine */

/** path starts with '/'; "/" is index.html. NULL when there is no such file. */
const sl_static_file *sl_static_find(const sl_static *files, const char *path);

/**
 * Fills headers and status: the gzip twin when accept_encoding (may be NULL) allows it, 304 when
 * If-None-Match names the ETag. The body is borrowed from the set: *body, *size (0 for a 304).
 */
void sl_static_answer(const sl_static_file *file, const sl_request *request,
                      const char *accept_encoding, sl_response *response, const char **body,
                      size_t *size);

#endif
