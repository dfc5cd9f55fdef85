/**
 * Cursors of lists that can be sorted: opaque to the client, and of one order only. They say where
 * the last row stood, so that rows which appear meanwhile never shift a page.
 */
#ifndef SL_API_CURSOR_H
#define SL_API_CURSOR_H

#include <stdbool.h>

#include "base/arena.h"

typedef struct sl_cursor {
    const char *sort; /* word of the order */
    const char *slug; /* of the last row */
    const char *key;  /* what the order compares first */
} sl_cursor;

/** NULL without memory. */
const char *sl_cursor_write(const sl_cursor *cursor, sl_arena *arena) SL_MUST_CHECK;

/** False for what is no cursor of ours. */
bool sl_cursor_read(const char *text, sl_arena *arena, sl_cursor *out) SL_MUST_CHECK;

#endif
