/**
 * Bounded queue of pointers between threads. A full queue refuses at once: the caller answers 503
 * instead of letting requests pile up.
 */
#ifndef SL_BASE_QUEUE_H
#define SL_BASE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

#include "shardline/error.h"

typedef struct sl_queue sl_queue;

sl_queue *sl_queue_new(size_t capacity) SL_MUST_CHECK;
void sl_queue_free(sl_queue *queue); /* must be empty; NULL is fine */

/** False when full or closed. */
bool sl_queue_push(sl_queue *queue, void *item) SL_MUST_CHECK;

/** Waits for an item; NULL once the queue is closed and empty. */
void *sl_queue_pop(sl_queue *queue) SL_MUST_CHECK;

/** No push succeeds any more; waiting threads get what is left, then NULL. */
void sl_queue_close(sl_queue *queue);

#endif
