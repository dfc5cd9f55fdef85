/** Waiting for the database, never without a bound. Inside server/store only. */
#ifndef SL_STORE_WAIT_H
#define SL_STORE_WAIT_H

#include "store/connection.h"

typedef enum sl_wait_end {
    SL_WAIT_DONE,    /* the result is there, be it an error */
    SL_WAIT_LATE,    /* the time was over */
    SL_WAIT_GIVEN_UP /* sl_store_give_up */
} sl_wait_end;

/** When the wait for a statement that is sent now ends; HUGE_VAL where nothing but
 * sl_store_give_up ends it. */
double sl_wait_until_s(const sl_store *store);

/** Whether nothing may be sent any more: DONE if it may. */
sl_wait_end sl_wait_allowed(const sl_store *store);

/**
 * What was just put on its way over the connection (`sent`: what libpq's function returned) is sent
 * to its end, and all that it answers is read. *out, the caller's, is the first result that failed,
 * else the last. Unless DONE there is none, and the connection is of no use: what was sent may
 * still be carried out.
 */
sl_wait_end sl_wait_result(sl_store *store, bool sent, double until_s,
                           PGresult **out) SL_MUST_CHECK;

#endif
