/**
 * A body that is produced while it is sent. Whole events go in at one end, from any thread; the
 * connection takes bytes at the other, at its client's pace. An event that finds no room is
 * dropped, and only the last one has room always; who must not lose one parks until there is room.
 * What waits is thus bounded however slow the client is, and a client that takes nothing is cut off
 * by the daemon's idle timeout.
 */
#ifndef SL_HTTP_FEED_H
#define SL_HTTP_FEED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

typedef struct sl_feed sl_feed;

/** What waits is at most `limit_bytes` before the last event, and as much may be on its way. NULL
 * without memory. */
sl_feed *sl_feed_new(size_t limit_bytes) SL_MUST_CHECK;
void sl_feed_free(sl_feed *feed); /* no connection reads it; NULL is fine */

/** False: the event was dropped whole, for want of room or of a client. */
bool sl_feed_put(sl_feed *feed, const sl_buffer *event);

/** An sl_park: wakes when all events are on their way, so that any has room, or when nobody reads
 * them. */
bool sl_feed_wait(void *feed, void (*wake)(void *context), void *context);

/** The last event, which is taken over and cleared; what comes after is dropped. */
void sl_feed_end(sl_feed *feed, sl_buffer *last);

#endif
