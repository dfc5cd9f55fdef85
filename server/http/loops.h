/**
 * The threads that read from clients and write to them, each with a daemon of the HTTP library of
 * its own, all of them on one listening socket.
 *
 * The library has such threads itself. Those of 0.9.75 wait once more after a batch of exactly 128
 * events, before they look at any of them: whoever sent these has no answer until somebody else
 * sends something, or until the connections time out. So the waiting is done here, and the library
 * is only ever asked to do what is due.
 */
#ifndef SL_HTTP_LOOPS_H
#define SL_HTTP_LOOPS_H

#include <microhttpd.h>

#include "shardline/error.h"

typedef struct sl_loops sl_loops;

/** Makes a daemon with these options among its own, that waits with epoll and has no thread; NULL
 * where it cannot. */
typedef struct MHD_Daemon *sl_loop_daemon(void *context, struct MHD_OptionItem *options);

/** NULL without memory, descriptor, daemon or thread. */
sl_loops *sl_loops_start(unsigned count, sl_loop_daemon *start, void *context) SL_MUST_CHECK;

/** From any thread, in place of MHD_resume_connection, which wakes nobody for certain. */
void sl_loops_resume(struct MHD_Connection *connection);

/** Takes no newcomers any more. The listening socket is the caller's then, and stays open until the
 * loops are stopped. */
void sl_loops_quiesce(sl_loops *loops);

/** Closes every connection; after sl_loops_quiesce, when no request is suspended. */
void sl_loops_stop(sl_loops *loops);

#endif
