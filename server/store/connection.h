/** The one connection of a store. Used inside server/store only. */
#ifndef SL_STORE_CONNECTION_H
#define SL_STORE_CONNECTION_H

#include <libpq-fe.h>
#include <stdbool.h>

#include "shardline/error.h"
#include "store/sql.h"
#include "store/store.h"

/** Why the statement run last failed, as far as trying again is concerned. */
typedef enum sl_fault {
    SL_FAULT_NONE,  /* it did not, or the same would happen again */
    SL_FAULT_AGAIN, /* two transactions were in each other's way */
    SL_FAULT_LOST   /* the connection went away, and with it the transaction */
} sl_fault;

struct sl_store {
    const char *url;             /* borrowed, "" = none; secret */
    PGconn *conn;                /* NULL while there is none; owned */
    bool prepared[SL_SQL_COUNT]; /* on this connection: a new one starts without any */
    double backoff_s;            /* 0 while the last attempt to connect succeeded */
    uint64_t made_before;        /* connections of the process when the wait began */
    double retry_at_s;           /* no attempt before, on the clock of sl_clock_now_s */
    sl_fault fault;
    double deadline_s;    /* of sl_store_until; 0: none */
    bool unbounded;       /* a statement of a migration runs, which takes what it takes */
    double clock_ahead_s; /* the database's clock less ours, at least; of the transaction */
};

/**
 * Makes sure that there is a connection. After a failed attempt the next ones fail at once until
 * the backoff has passed, so that a dead database costs nobody a timeout per request. It takes 3 s
 * at most for each host, and 2 s where the deadline leaves less than 3, which is the least that
 * libpq knows; the URL's connect_timeout stands.
 */
sl_code sl_connection_open(sl_store *store, sl_errors *err) SL_MUST_CHECK;

/** Around the work with a connection; sl_store_in_use counts it. */
void sl_connection_enter(void);
void sl_connection_leave(void);

/** Forgets the connection and what was prepared on it. */
void sl_connection_discard(sl_store *store);

#endif
