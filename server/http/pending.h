/**
 * The requests in flight, and who may settle a suspended one.
 *
 * A suspended connection never times out and cannot be freed, so each waits here until exactly one
 * party settles it: its worker with an answer, the watchdog at its deadline, its client by leaving,
 * or the stop. Settling resumes the connection under the same lock, so that an empty set means that
 * nobody is about to touch one. A worker that comes after another party only drops its hold.
 */
#ifndef SL_HTTP_PENDING_H
#define SL_HTTP_PENDING_H

#include "http/exchange.h"

typedef struct sl_pending sl_pending;

/** Starts the watchdog, and the watch of clients that leave. NULL without memory or thread. */
sl_pending *sl_pending_new(void) SL_MUST_CHECK;
void sl_pending_free(sl_pending *pending); /* joins both; nothing may be in flight */

/** A request begins. False where the server has drained: nothing begins any more. */
bool sl_pending_enter(sl_pending *pending) SL_MUST_CHECK;
/** A request ended; drops the connection's hold. exchange may be NULL (it never came to be). */
void sl_pending_leave(sl_pending *pending, sl_exchange *exchange);

/**
 * The connection was suspended: from now on the exchange is held by a job too, and may be settled
 * any moment. During a stop it is settled at once.
 */
void sl_pending_add(sl_pending *pending, sl_exchange *exchange);

/** False when a job need not go on: its request was settled already, and it is not open. */
bool sl_pending_wanted(sl_pending *pending, const sl_exchange *exchange);

/**
 * Lets the answer begin, unless somebody settled the exchange: its feed is filled while the job
 * keeps its hold. From now on who wants it ended only sets `cancelled`.
 */
void sl_pending_open(sl_pending *pending, sl_exchange *exchange);

/** The client of an exchange that waits cancels it by leaving. */
void sl_pending_watch(sl_pending *pending, sl_exchange *exchange);

/** Settles the exchange unless somebody did, then drops the job's hold. */
void sl_pending_settle(sl_pending *pending, sl_exchange *exchange, sl_outcome outcome);

sl_outcome sl_pending_outcome(sl_pending *pending, const sl_exchange *exchange);

bool sl_pending_draining(sl_pending *pending);

/** Requests that began and did not end yet. */
uint32_t sl_pending_in_flight(sl_pending *pending);

/**
 * Waits up to grace_s until nothing runs, then lets nothing begin, cancels the rest and waits for
 * their answers to leave. Returns how many were cancelled.
 */
uint32_t sl_pending_drain(sl_pending *pending, double grace_s);

/** Waits until no job holds an exchange: none is queued, runs or is parked. */
void sl_pending_await_jobs(sl_pending *pending);

#endif
