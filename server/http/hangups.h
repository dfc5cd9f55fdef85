/**
 * Who leaves without waiting for the answer. The daemon does not look at a suspended connection, so
 * that a thread of our own does: the kernel tells it of the end of a client's side at once.
 */
#ifndef SL_HTTP_HANGUPS_H
#define SL_HTTP_HANGUPS_H

#include <stdbool.h>
#include <stdint.h>

#include "shardline/error.h"

typedef struct sl_hangups sl_hangups;

/** left: called on the thread with the ticket of a watch. NULL without memory, descriptor or
 * thread. */
sl_hangups *sl_hangups_new(void (*left)(void *context, uint64_t ticket),
                           void *context) SL_MUST_CHECK;
void sl_hangups_free(sl_hangups *hangups); /* joins the thread; NULL is fine */

/** Tells when the other end of `socket` is closed, also if it is already. ticket: not 0. False
 * where the system has no room for another. */
bool sl_hangups_watch(sl_hangups *hangups, int socket, uint64_t ticket) SL_MUST_CHECK;

/** The socket serves another request, or is about to be closed. */
void sl_hangups_forget(sl_hangups *hangups, int socket);

#endif
