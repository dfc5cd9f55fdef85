#include "base/queue.h"

#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

struct sl_queue {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* an item came or the queue was closed */
    size_t capacity, head, count;
    bool closed;
    void *items[];
};

/* A mutex or condition variable of ours fails only when we misuse it. */
static void
must(int result)
{
    assert(result == 0);
    (void)result;
}

sl_queue *
sl_queue_new(size_t capacity)
{
    assert(capacity > 0);

    if (capacity > (SIZE_MAX - sizeof(sl_queue)) / sizeof(void *))
        return NULL;
    sl_queue *const queue = malloc(sizeof *queue + capacity * sizeof queue->items[0]);
    if (queue == NULL)
        return NULL;
    *queue = (sl_queue){.capacity = capacity};
    if (pthread_mutex_init(&queue->lock, NULL) != 0)
        goto no_lock;
    if (pthread_cond_init(&queue->changed, NULL) != 0)
        goto no_condition;
    return queue;

no_condition:
    must(pthread_mutex_destroy(&queue->lock));
no_lock:
    free(queue);
    return NULL;
}

void
sl_queue_free(sl_queue *queue)
{
    if (queue == NULL)
        return;
    assert(queue->count == 0);
    must(pthread_cond_destroy(&queue->changed));
    must(pthread_mutex_destroy(&queue->lock));
    free(queue);
}

bool
sl_queue_push(sl_queue *queue, void *item)
{
    assert(queue != NULL && item != NULL);

    must(pthread_mutex_lock(&queue->lock));
    const bool taken = !queue->closed && queue->count < queue->capacity;
    if (taken) {
        queue->items[(queue->head + queue->count) % queue->capacity] = item;
        queue->count++;
        must(pthread_cond_signal(&queue->changed));
    }
    must(pthread_mutex_unlock(&queue->lock));
    return taken;
}

void *
sl_queue_pop(sl_queue *queue)
{
    assert(queue != NULL);

    must(pthread_mutex_lock(&queue->lock));
    while (queue->count == 0 && !queue->closed)
        must(pthread_cond_wait(&queue->changed, &queue->lock));
    void *item = NULL;
    if (queue->count > 0) {
        item = queue->items[queue->head];
        queue->head = (queue->head + 1) % queue->capacity;
        queue->count--;
    }
    must(pthread_mutex_unlock(&queue->lock));
    return item;
}

void
sl_queue_close(sl_queue *queue)
{
    assert(queue != NULL);

    must(pthread_mutex_lock(&queue->lock));
    queue->closed = true;
    must(pthread_cond_broadcast(&queue->changed));
    must(pthread_mutex_unlock(&queue->lock));
}
