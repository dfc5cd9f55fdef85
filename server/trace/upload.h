/**
 * A request to compare: an estimate request and a recorded trace, one after the other in one body.
 * Each may be gzip on its own, and the body once more: what arrives is told apart by its first
 * byte.
 */
#ifndef SL_TRACE_UPLOAD_H
#define SL_TRACE_UPLOAD_H

#include "trace/trace.h"

/** Of the trace once it is unpacked, and of what is unpacked to get at it. */
extern const uint64_t sl_upload_unpacked_max_bytes;

typedef struct sl_upload sl_upload;

/** trace: NULL to read no further than the request. NULL without memory. */
sl_upload *sl_upload_new(size_t request_max_bytes, sl_trace *trace) SL_MUST_CHECK;
void sl_upload_free(sl_upload *upload); /* NULL is fine */

/** Faults are those of gunzip.h and trace.h, with the byte of what was unpacked; SL_E_TOO_LARGE,
 * rule request_too_large, where the first document is longer than a request may be. */
sl_code sl_upload_feed(sl_upload *upload, const char *bytes, size_t size,
                       sl_errors *err) SL_MUST_CHECK;

/** The body ends here. SL_E_SYNTAX where no trace came, rule trace_missing, or only a part of
 * it. */
sl_code sl_upload_finish(sl_upload *upload, sl_errors *err) SL_MUST_CHECK;

/** The text of the request, NUL-terminated, once it is there; NULL before. */
const char *sl_upload_request(const sl_upload *upload, size_t *size);

#endif
