/** The one place where an answer becomes a response of the daemon, and the log of requests. */
#ifndef SL_HTTP_REPLY_H
#define SL_HTTP_REPLY_H

#include "http/exchange.h"

/**
 * Queues the response (its body is taken over) with the headers that every answer carries. `last`
 * asks the client to open a new connection. MHD_NO closes the connection: no memory.
 */
enum MHD_Result sl_reply_queue(sl_exchange *exchange, sl_response *response, bool last);

/** Queues the problem that fits the outcome of a request whose worker gave no answer. */
enum MHD_Result sl_reply_outcome(sl_exchange *exchange, sl_outcome outcome, bool last);

/** One line per request, when it ended after `duration_s`; status 0 says that no answer could be
 * given. */
void sl_reply_log(const sl_exchange *exchange, double duration_s);

#endif
