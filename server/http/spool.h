/**
 * A large body in a file without a name, so that it takes no memory however long it is. The file is
 * gone with its descriptor: nothing is left behind, not even by a server that is killed.
 */
#ifndef SL_HTTP_SPOOL_H
#define SL_HTTP_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "http/message.h"

/** Bodies of routes that take more than this go to a file; those of others stay in memory. */
enum { SL_BODY_MEMORY_MAX_BYTES = 64 * 1024 * 1024 };

/** How many there may be at once, and what they may hold together: they share one disk. */
enum { SL_SPOOLS_MAX = 64 };
extern const uint64_t sl_spools_max_bytes;

/** In `folder`, which is made where it is not there. SL_E_UNAVAILABLE, rule busy, while as many as
 * may be are open in this process; rule no_spool where no file can be had. */
sl_code sl_spool_open(const char *folder, sl_spool **out, sl_errors *err) SL_MUST_CHECK;
void sl_spool_free(sl_spool *spool); /* NULL is fine */

/** False when the disk does not take it, or all of them together hold too much. */
bool sl_spool_append(sl_spool *spool, const char *bytes, size_t size) SL_MUST_CHECK;
uint64_t sl_spool_size(const sl_spool *spool); /* bytes appended */

/** Reads up to `size` bytes from `offset`; any thread may. *got is 0 at the end. False when the
 * disk does not give what was written. */
bool sl_spool_read(const sl_spool *spool, uint64_t offset, char *to, size_t size,
                   size_t *got) SL_MUST_CHECK;

/** The whole body as one text, which the system reads from disk as it is looked at and may forget
 * again. Not NUL-terminated; outlives no spool. */
typedef struct sl_spool_view {
    const char *text;
    size_t size;
} sl_spool_view;

/** False when the system does not map it. Clear it before the spool goes. */
bool sl_spool_view_open(const sl_spool *spool, sl_spool_view *out) SL_MUST_CHECK;
void sl_spool_view_clear(sl_spool_view *view);

#endif
