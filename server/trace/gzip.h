/** Answers packed for the wire or as a file. */
#ifndef SL_TRACE_GZIP_H
#define SL_TRACE_GZIP_H

#include <stdbool.h>

#include "base/buffer.h"

/** The buffer's bytes as one gzip file in their place, packed fast rather than small; the same
 * bytes give the same file. False without memory: the buffer is then as it was. */
bool sl_gzip(sl_buffer *buffer) SL_MUST_CHECK;

#endif
