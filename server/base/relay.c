#include "base/relay.h"

#include <assert.h>
#include <pthread.h>
#include <stddef.h>

#include "base/queue.h"

typedef struct running {
    const sl_relay *relay;
    sl_queue *empty; /* loads; closed when nothing more is to be taken up */
    sl_queue *full;  /* in their order; closed behind the last */
} running;

/* A queue has room for every load there is. */
static void
push(sl_queue *queue, void *load)
{
    const bool pushed = sl_queue_push(queue, load);
    assert(pushed);
    (void)pushed;
}

static void *
take_all(void *argument)
{
    const running *const r = argument;
    bool more = true;

    while (more) {
        void *const load = sl_queue_pop(r->empty);
        if (load == NULL)
            break;
        more = r->relay->take(r->relay->context, load);
        push(r->full, load);
    }
    sl_queue_close(r->full);
    return NULL;
}

static void
work_beside(running *r)
{
    bool wanted = true;

    for (void *load = sl_queue_pop(r->full); load != NULL; load = sl_queue_pop(r->full)) {
        wanted = wanted && r->relay->work(r->relay->context, load);
        if (wanted)
            push(r->empty, load);
        else
            sl_queue_close(r->empty);
    }
}

/* Loads are the caller's; NULL is fine. */
static void
drain(sl_queue *queue)
{
    if (queue != NULL)
        sl_queue_close(queue);
    while (queue != NULL && sl_queue_pop(queue) != NULL)
        continue;
}

static void
run_alone(const sl_relay *relay, void *load)
{
    bool more = true;

    while (more) {
        more = relay->take(relay->context, load);
        more = relay->work(relay->context, load) && more;
    }
}

/* What follows the first load. */
static void
run_rest(const sl_relay *relay)
{
    running r = {.relay = relay,
                 .empty = sl_queue_new(SL_RELAY_LOADS),
                 .full = sl_queue_new(SL_RELAY_LOADS)};
    pthread_t other;

    for (size_t i = 0; i < SL_RELAY_LOADS && r.empty != NULL; i++)
        push(r.empty, relay->loads[i]);
    if (r.empty != NULL && r.full != NULL && pthread_create(&other, NULL, take_all, &r) == 0) {
        work_beside(&r);
        const int failed = pthread_join(other, NULL);
        assert(failed == 0);
    } else {
        run_alone(relay, relay->loads[0]);
    }
    drain(r.empty);
    sl_queue_free(r.empty);
    sl_queue_free(r.full);
}

void
sl_relay_run(const sl_relay *relay)
{
    assert(relay != NULL && relay->take != NULL && relay->work != NULL);

    const bool more = relay->take(relay->context, relay->loads[0]);
    if (relay->work(relay->context, relay->loads[0]) && more)
        run_rest(relay);
}
