/** Answers packed for the wire or as a file. */
#ifndef SL_TRACE_GZIP_H
#define SL_TRACE_GZIP_H

#include <stdbool.h>

#include "base/buffer.h"

/**
 * One gzip file, packed while its text is written, so that a text many times longer than memory
 * should hold is never there as a whole: fast rather than small, and the same for the same text.
 */
typedef struct sl_gzip sl_gzip;

/** out, the caller's, gets the file. NULL without memory. */
sl_gzip *sl_gzip_new(sl_buffer *out) SL_MUST_CHECK;
void sl_gzip_free(sl_gzip *gzip); /* NULL is fine */

/** Where the text is to be written. It fails when what comes of it does not fit into `out`. */
sl_buffer *sl_gzip_text(sl_gzip *gzip);

/** Writes the end. A text of less than from_bytes is left as it is: `out` is that, and *packed
 * false. False where `out` failed. */
bool sl_gzip_finish(sl_gzip *gzip, size_t from_bytes, bool *packed) SL_MUST_CHECK;

#endif
