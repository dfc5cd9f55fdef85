/** The body of a request as one text, whatever came: from disk, from memory, or unpacked. */
#ifndef SL_API_RAW_BODY_H
#define SL_API_RAW_BODY_H

#include "base/buffer.h"
#include "http/message.h"
#include "http/spool.h"

/** Of what is unpacked: that lies in memory. */
enum { SL_RAW_UNPACKED_MAX_BYTES = 128 * 1024 * 1024 };

typedef struct sl_raw_body {
    const char *text; /* not NUL-terminated */
    size_t size;
    sl_spool_view view;
    sl_buffer unpacked;
} sl_raw_body;

/**
 * Gzip is told by its first byte and unpacked, named or not; a Content-Encoding that is neither
 * gzip nor identity is SL_E_MEDIA_TYPE, rule content_encoding. SL_E_TOO_LARGE, SL_E_SYNTAX
 * (malformed_gzip), SL_E_UNAVAILABLE (no_spool), SL_E_SYNTAX (empty_body). Close it in any case.
 */
sl_code sl_raw_body_open(const sl_request *request, sl_raw_body *out, sl_errors *err) SL_MUST_CHECK;
void sl_raw_body_close(sl_raw_body *body);

#endif
