/** Whom a request came from, as far as that can be known. */
#ifndef SL_HTTP_REMOTE_H
#define SL_HTTP_REMOTE_H

#include <microhttpd.h>

#include "base/arena.h"
#include "http/head.h"

/**
 * The address of the other end of the connection, in digits; NULL when it has none. A header is
 * believed only when that end is one of the settings' trusted proxies, and then only the last
 * address of X-Forwarded-For, which is the one that the proxy itself has seen: whatever stands
 * before it the client may have written.
 */
const char *sl_remote_address(struct MHD_Connection *connection, const sl_settings *settings,
                              const sl_head *head, sl_arena *arena);

/** The same once the other end is known; "" and NULL: it is not. For tests. */
const char *sl_remote_believed(const sl_settings *settings, const char *peer, const sl_head *head);

#endif
