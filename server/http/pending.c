#include "http/pending.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"

/* For the answers of cancelled requests to reach their clients. */
static const double FAREWELL_S = 2.0;
/* The watchdog's sleep when nothing is pending; pthread wants a finite time. */
static const double IDLE_S = 3600.0;

typedef enum phase { RUNNING, DRAINING, STOPPED } phase;

struct sl_pending {
    pthread_mutex_t lock;
    pthread_cond_t watch; /* an earlier deadline, or the end of the watchdog */
    pthread_cond_t left;  /* a request ended */
    pthread_t watchdog;
    sl_exchange *first; /* waiting, in no order: there are few */
    uint32_t in_flight;
    phase phase;
    bool watchdog_ends;
    double watch_until_s; /* when the watchdog looks again on its own */
};

static void
lock(sl_pending *pending)
{
    const int failed = pthread_mutex_lock(&pending->lock);
    assert(failed == 0);
}

static void
unlock(sl_pending *pending)
{
    const int failed = pthread_mutex_unlock(&pending->lock);
    assert(failed == 0);
}

/* Takes the exchange out of the set and lets its connection go on. Under the lock. */
static void
settle(sl_pending *pending, sl_exchange *exchange, sl_outcome outcome)
{
    assert(exchange->outcome == SL_WAITING && outcome != SL_WAITING);

    if (exchange->previous == NULL)
        pending->first = exchange->next;
    else
        exchange->previous->next = exchange->next;
    if (exchange->next != NULL)
        exchange->next->previous = exchange->previous;
    exchange->outcome = outcome;
    if (outcome != SL_DONE)
        atomic_store(&exchange->cancelled, true);
    MHD_resume_connection(exchange->connection);
}

/* Settles what is late; the time to look again. Under the lock. */
static double
expire(sl_pending *pending)
{
    const double now_s = sl_clock_now_s();
    double next_s = now_s + IDLE_S;
    for (sl_exchange *at = pending->first; at != NULL;) {
        sl_exchange *const next = at->next;
        if (at->request.deadline_s <= now_s)
            settle(pending, at, SL_EXPIRED);
        else if (at->request.deadline_s < next_s)
            next_s = at->request.deadline_s;
        at = next;
    }
    return next_s;
}

static void *
watchdog_main(void *argument)
{
    sl_pending *const pending = argument;
    lock(pending);
    while (!pending->watchdog_ends) {
        pending->watch_until_s = expire(pending);
        const double rest_s = pending->watch_until_s - sl_clock_now_s();
        const struct timespec until = sl_clock_after(rest_s > 0 ? rest_s : 0);
        (void)pthread_cond_timedwait(&pending->watch, &pending->lock, &until);
    }
    unlock(pending);
    return NULL;
}

sl_pending *
sl_pending_new(void)
{
    sl_pending *const pending = calloc(1, sizeof *pending);
    if (pending == NULL)
        return NULL;
    if (pthread_mutex_init(&pending->lock, NULL) != 0)
        goto no_lock;
    if (!sl_clock_condition(&pending->watch))
        goto no_watch;
    if (!sl_clock_condition(&pending->left))
        goto no_left;
    if (pthread_create(&pending->watchdog, NULL, watchdog_main, pending) != 0)
        goto no_watchdog;
    return pending;

no_watchdog:
    (void)pthread_cond_destroy(&pending->left);
no_left:
    (void)pthread_cond_destroy(&pending->watch);
no_watch:
    (void)pthread_mutex_destroy(&pending->lock);
no_lock:
    free(pending);
    return NULL;
}

void
sl_pending_free(sl_pending *pending)
{
    if (pending == NULL)
        return;
    lock(pending);
    assert(pending->in_flight == 0 && pending->first == NULL);
    pending->watchdog_ends = true;
    (void)pthread_cond_signal(&pending->watch);
    unlock(pending);
    (void)pthread_join(pending->watchdog, NULL);
    (void)pthread_cond_destroy(&pending->left);
    (void)pthread_cond_destroy(&pending->watch);
    (void)pthread_mutex_destroy(&pending->lock);
    free(pending);
}

/* Drops one hold; frees outside the lock, since a body may be large. */
static void
drop_and_unlock(sl_pending *pending, sl_exchange *exchange)
{
    assert(exchange->holders > 0);
    const bool last = --exchange->holders == 0;
    unlock(pending);
    if (last)
        sl_exchange_free(exchange);
}

bool
sl_pending_enter(sl_pending *pending)
{
    lock(pending);
    pending->in_flight++;
    const bool draining = pending->phase != RUNNING;
    unlock(pending);
    return draining;
}

void
sl_pending_leave(sl_pending *pending, sl_exchange *exchange)
{
    lock(pending);
    assert(pending->in_flight > 0);
    pending->in_flight--;
    (void)pthread_cond_broadcast(&pending->left);
    if (exchange == NULL)
        unlock(pending);
    else
        drop_and_unlock(pending, exchange);
}

void
sl_pending_add(sl_pending *pending, sl_exchange *exchange)
{
    lock(pending);
    assert(exchange->holders == 1);
    exchange->holders = 2;
    exchange->outcome = SL_WAITING;
    exchange->previous = NULL;
    exchange->next = pending->first;
    if (pending->first != NULL)
        pending->first->previous = exchange;
    pending->first = exchange;
    if (pending->phase == STOPPED)
        settle(pending, exchange, SL_CANCELLED);
    else if (exchange->request.deadline_s < pending->watch_until_s)
        (void)pthread_cond_signal(&pending->watch);
    unlock(pending);
}

bool
sl_pending_wanted(sl_pending *pending, const sl_exchange *exchange)
{
    return sl_pending_outcome(pending, exchange) == SL_WAITING;
}

void
sl_pending_settle(sl_pending *pending, sl_exchange *exchange, sl_outcome outcome)
{
    lock(pending);
    if (exchange->outcome == SL_WAITING)
        settle(pending, exchange, outcome);
    drop_and_unlock(pending, exchange);
}

sl_outcome
sl_pending_outcome(sl_pending *pending, const sl_exchange *exchange)
{
    lock(pending);
    const sl_outcome outcome = exchange->outcome;
    unlock(pending);
    return outcome;
}

bool
sl_pending_draining(sl_pending *pending)
{
    lock(pending);
    const bool draining = pending->phase != RUNNING;
    unlock(pending);
    return draining;
}

uint32_t
sl_pending_in_flight(sl_pending *pending)
{
    lock(pending);
    const uint32_t in_flight = pending->in_flight;
    unlock(pending);
    return in_flight;
}

/* Waits until nothing is in flight, at most `s` seconds. Under the lock. */
static void
wait_empty(sl_pending *pending, double s)
{
    const struct timespec until = sl_clock_after(s);
    int late = 0;
    while (pending->in_flight > 0 && late == 0)
        late = pthread_cond_timedwait(&pending->left, &pending->lock, &until);
}

uint32_t
sl_pending_drain(sl_pending *pending, double grace_s)
{
    assert(pending != NULL && grace_s >= 0);

    uint32_t cancelled = 0;
    lock(pending);
    pending->phase = DRAINING;
    wait_empty(pending, grace_s);
    pending->phase = STOPPED;
    while (pending->first != NULL) {
        settle(pending, pending->first, SL_CANCELLED);
        cancelled++;
    }
    wait_empty(pending, FAREWELL_S);
    unlock(pending);
    return cancelled;
}
