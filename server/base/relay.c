#include "base/relay.h"

#include <assert.h>
#include <pthread.h>
#include <stdint.h>

typedef struct running {
    const sl_relay *relay;
    void *second;
    pthread_mutex_t taking; /* of what is taken up, and of: */
    uint64_t taken;
    bool over;
    pthread_mutex_t giving; /* of: */
    uint64_t given;
    pthread_cond_t turned; /* another one was given */
} running;

/* A mutex or condition variable of ours fails only when we misuse it. */
static void
must(int result)
{
    assert(result == 0);
    (void)result;
}

/* *number: of the load in the sequence. False where none is left. */
static bool
take(running *r, void *load, uint64_t *number)
{
    must(pthread_mutex_lock(&r->taking));
    const bool left = !r->over;
    if (left) {
        *number = r->taken++;
        r->over = !r->relay->take(r->relay->context, load);
    }
    must(pthread_mutex_unlock(&r->taking));
    return left;
}

static void
give(running *r, void *load, uint64_t number)
{
    must(pthread_mutex_lock(&r->giving));
    while (r->given != number)
        must(pthread_cond_wait(&r->turned, &r->giving));
    const bool goes_on = r->relay->give(r->relay->context, load);
    r->given++;
    must(pthread_cond_signal(&r->turned));
    must(pthread_mutex_unlock(&r->giving));
    if (goes_on)
        return;
    must(pthread_mutex_lock(&r->taking));
    r->over = true;
    must(pthread_mutex_unlock(&r->taking));
}

/* One load after another, of which the first is taken. */
static void
carry(running *r, void *load, uint64_t number)
{
    do {
        r->relay->work(r->relay->context, load);
        give(r, load, number);
    } while (take(r, load, &number));
}

static void *
second_main(void *argument)
{
    running *const r = argument;
    uint64_t number = 0;

    if (take(r, r->second, &number))
        carry(r, r->second, number);
    return NULL;
}

void
sl_relay_run(const sl_relay *relay, void *first, void *second)
{
    assert(relay != NULL && relay->take != NULL && relay->work != NULL && relay->give != NULL);
    assert(first != NULL && second != NULL && first != second);

    running r = {.relay = relay,
                 .second = second,
                 .taking = PTHREAD_MUTEX_INITIALIZER,
                 .giving = PTHREAD_MUTEX_INITIALIZER,
                 .turned = PTHREAD_COND_INITIALIZER};
    uint64_t number = 0;
    pthread_t thread;
    const bool left = take(&r, first, &number);
    assert(left);
    const bool two = !r.over && pthread_create(&thread, NULL, second_main, &r) == 0;
    carry(&r, first, number);
    if (two)
        must(pthread_join(thread, NULL));
    must(pthread_cond_destroy(&r.turned));
    must(pthread_mutex_destroy(&r.giving));
    must(pthread_mutex_destroy(&r.taking));
}
