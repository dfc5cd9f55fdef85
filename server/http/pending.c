#include "http/pending.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "http/feed_body.h"
#include "http/hangups.h"
#include "http/loops.h"

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
    sl_exchange *first; /* waiting or open, in no order: there are few */
    uint32_t in_flight;
    uint32_t jobs; /* holds of jobs */
    sl_hangups *hangups;
    uint64_t tickets; /* given out */
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

/* Takes the exchange out of the set. Under the lock. */
static void
take_out(sl_pending *pending, sl_exchange *exchange)
{
    if (exchange->previous == NULL)
        pending->first = exchange->next;
    else
        exchange->previous->next = exchange->next;
    if (exchange->next != NULL)
        exchange->next->previous = exchange->previous;
}

/* Takes the exchange out of the set and lets its connection go on. Under the lock. */
static void
settle(sl_pending *pending, sl_exchange *exchange, sl_outcome outcome)
{
    assert(exchange->outcome == SL_WAITING && outcome != SL_WAITING);

    take_out(pending, exchange);
    exchange->outcome = outcome;
    if (outcome != SL_DONE)
        atomic_store(&exchange->cancelled, true);
    sl_loops_resume(exchange->connection);
}

/* Ends one that somebody else than its job wants ended: an open one is left to its job, which says
 * in the feed how far it came. Under the lock. */
static void
give_up(sl_pending *pending, sl_exchange *exchange, sl_outcome outcome)
{
    if (exchange->open)
        atomic_store(&exchange->cancelled, true);
    else
        settle(pending, exchange, outcome);
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
            give_up(pending, at, SL_EXPIRED);
        else if (at->request.deadline_s < next_s)
            next_s = at->request.deadline_s;
        at = next;
    }
    return next_s;
}

/* It may be settled, and even gone, by now. */
static void
on_left(void *context, uint64_t ticket)
{
    sl_pending *const pending = context;
    lock(pending);
    sl_exchange *at = pending->first;
    while (at != NULL && at->ticket != ticket)
        at = at->next;
    if (at != NULL)
        give_up(pending, at, SL_CANCELLED);
    unlock(pending);
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
    pending->hangups = sl_hangups_new(on_left, pending);
    if (pending->hangups == NULL)
        goto no_hangups;
    if (pthread_create(&pending->watchdog, NULL, watchdog_main, pending) != 0)
        goto no_watchdog;
    return pending;

no_watchdog:
    sl_hangups_free(pending->hangups);
no_hangups:
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
    sl_hangups_free(pending->hangups);
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
    const bool served = pending->phase != STOPPED;
    pending->in_flight += served;
    unlock(pending);
    return served;
}

void
sl_pending_leave(sl_pending *pending, sl_exchange *exchange)
{
    lock(pending);
    assert(pending->in_flight > 0);
    pending->in_flight--;
    (void)pthread_cond_broadcast(&pending->left);
    if (exchange == NULL) {
        unlock(pending);
        return;
    }
    /* An open one whose client left, or that was sent to its end. */
    atomic_store(&exchange->cancelled, true);
    if (exchange->ticket != 0)
        sl_hangups_forget(pending->hangups, exchange->socket);
    drop_and_unlock(pending, exchange);
}

void
sl_pending_add(sl_pending *pending, sl_exchange *exchange)
{
    lock(pending);
    assert(exchange->holders == 1);
    exchange->holders = 2;
    pending->jobs++;
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
    lock(pending);
    const bool wanted = exchange->outcome == SL_WAITING || exchange->open;
    unlock(pending);
    return wanted;
}

void
sl_pending_open(sl_pending *pending, sl_exchange *exchange)
{
    lock(pending);
    assert(!exchange->open);
    if (exchange->outcome == SL_WAITING) {
        exchange->outcome = SL_DONE;
        exchange->open = true;
        sl_loops_resume(exchange->connection);
    }
    unlock(pending);
}

void
sl_pending_watch(sl_pending *pending, sl_exchange *exchange)
{
    /* Under the lock: what waits is suspended, and its socket open. */
    lock(pending);
    if (exchange->outcome == SL_WAITING && exchange->ticket == 0) {
        exchange->ticket = ++pending->tickets;
        if (!sl_hangups_watch(pending->hangups, exchange->socket, exchange->ticket))
            sl_log(SL_LOG_WARN, "a client that leaves will be noticed late", NULL, 0);
    }
    unlock(pending);
}

void
sl_pending_settle(sl_pending *pending, sl_exchange *exchange, sl_outcome outcome)
{
    lock(pending);
    if (exchange->outcome == SL_WAITING) {
        settle(pending, exchange, outcome);
    } else if (exchange->open) {
        take_out(pending, exchange);
        /* A job that found its lane full leaves without a last event. */
        sl_feed_cut(exchange->response.feed);
    }
    exchange->open = false;
    assert(pending->jobs > 0);
    pending->jobs--;
    (void)pthread_cond_broadcast(&pending->left);
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
    for (sl_exchange *at = pending->first; at != NULL;) {
        sl_exchange *const next = at->next;
        cancelled += !atomic_load(&at->cancelled); /* else its client left, or its time was over */
        give_up(pending, at, SL_CANCELLED);
        at = next;
    }
    wait_empty(pending, FAREWELL_S);
    /* Streams whose jobs do not come to an end, or whose clients do not read it. */
    for (sl_exchange *at = pending->first; at != NULL; at = at->next)
        sl_feed_cut(at->response.feed);
    unlock(pending);
    return cancelled;
}

void
sl_pending_await_jobs(sl_pending *pending)
{
    lock(pending);
    while (pending->jobs > 0)
        (void)pthread_cond_wait(&pending->left, &pending->lock);
    unlock(pending);
}
