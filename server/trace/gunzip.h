/** Bytes as they arrive, unpacked where they are gzip: by their first byte, not by what is said of
 * them. */
#ifndef SL_TRACE_GUNZIP_H
#define SL_TRACE_GUNZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shardline/error.h"

/** Takes the bytes; a failure ends the feeding and is passed on. */
typedef sl_code (*sl_bytes_sink)(void *context, const char *bytes, size_t size, sl_errors *err);

typedef struct sl_gunzip sl_gunzip;

/** limit_bytes bounds what comes out. NULL without memory. */
sl_gunzip *sl_gunzip_new(uint64_t limit_bytes, sl_bytes_sink sink, void *context) SL_MUST_CHECK;
void sl_gunzip_free(sl_gunzip *gunzip); /* NULL is fine */

/** SL_E_SYNTAX, rule malformed_gzip, with the byte of the packed text; SL_E_TOO_LARGE, rule
 * too_large. Several gzip files one after the other are one text; zeros behind them are padding. */
sl_code sl_gunzip_feed(sl_gunzip *gunzip, const char *bytes, size_t size,
                       sl_errors *err) SL_MUST_CHECK;

/** The bytes end here: malformed_gzip in the middle of a gzip file. */
sl_code sl_gunzip_finish(const sl_gunzip *gunzip, sl_errors *err) SL_MUST_CHECK;

#endif
