/** The end of a feed that the connection reads. Used inside server/http only. */
#ifndef SL_HTTP_FEED_BODY_H
#define SL_HTTP_FEED_BODY_H

#include <microhttpd.h>

#include "http/feed.h"

/** A response whose body is what the feed brings; the connection is suspended while there is
 * nothing. The feed outlives the connection's request. NULL without memory. */
struct MHD_Response *sl_feed_response(sl_feed *feed,
                                      struct MHD_Connection *connection) SL_MUST_CHECK;

/** The request ended, sent or not: the connection is not touched any more. Bytes that were sent. */
size_t sl_feed_detach(sl_feed *feed);

/** Nothing will come any more: unless the last event is there the body is cut off where it is.
 * Either way the connection is not suspended again. */
void sl_feed_cut(sl_feed *feed);

#endif
