#include "base/crew.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/log.h"

/* As little as there is without being shut out wherever anything else runs, which SCHED_IDLE would
 * mean; who computes beside it waited no longer with the one than with the other. */
enum { NICENESS = 19 };

static const double TICK_S = 0.1;

struct sl_crew {
    sl_crew_config config;
    pthread_mutex_t lock;
    pthread_cond_t work; /* there is a piece to do, or the end */
    pthread_cond_t came; /* the first of the works, or the end */
    sl_crew_work *first; /* by arrival */
    uint32_t running;
    uint32_t waiting;
    uint64_t ticks;
    bool stopping;
    pthread_t ticker;
    pthread_t *members;
    uint32_t member_count; /* started */
};

static void
lock(sl_crew *crew)
{
    const int failed = pthread_mutex_lock(&crew->lock);
    assert(failed == 0);
}

static void
unlock(sl_crew *crew)
{
    const int failed = pthread_mutex_unlock(&crew->lock);
    assert(failed == 0);
}

/* Lets those run that waited longest. Who comes late owes no time to the others, nor they to it. */
static void
promote(sl_crew *crew)
{
    double least_s = -1;
    for (const sl_crew_work *at = crew->first; at != NULL; at = at->next)
        if (at->runs && (least_s < 0 || at->spent_s < least_s))
            least_s = at->spent_s;
    for (sl_crew_work *at = crew->first; at != NULL && crew->running < crew->config.running_max;
         at = at->next) {
        if (at->runs || at->over)
            continue;
        at->runs = true;
        at->spent_s = least_s < 0 ? 0 : least_s;
        crew->waiting--;
        crew->running++;
        (void)pthread_cond_broadcast(&crew->work);
    }
}

/* Leaves a work that it was in; the last to leave one that is over ends it. Under the lock, which
 * is not held meanwhile. */
static void
leave(sl_crew *crew, sl_crew_work *work)
{
    assert(work->inside > 0);
    if (--work->inside > 0 || !work->over)
        return;
    sl_crew_work **at = &crew->first;
    while (*at != work)
        at = &(*at)->next;
    *at = work->next;
    if (crew->first == NULL) /* the others need their memory no longer */
        (void)pthread_cond_broadcast(&crew->work);
    if (work->runs)
        crew->running--;
    else
        crew->waiting--;
    promote(crew);
    unlock(crew);
    work->ended(work);
    lock(crew);
}

/* The work that had the least time, of those that have a piece to do. */
static sl_crew_work *
choose(const sl_crew *crew)
{
    sl_crew_work *chosen = NULL;
    for (sl_crew_work *at = crew->first; at != NULL; at = at->next)
        if (at->runs && !at->over && !at->dry && (chosen == NULL || at->spent_s < chosen->spent_s))
            chosen = at;
    return chosen;
}

/* Under the lock, which is not held meanwhile. */
static void
do_piece(sl_crew *crew, sl_crew_work *work, void *scratch)
{
    const uint64_t seen = work->pieces;
    work->inside++;
    unlock(crew);
    const double start_s = sl_clock_now_s();
    const sl_crew_step step = work->piece(work, scratch);
    const double spent_s = sl_clock_now_s() - start_s;
    lock(crew);
    work->spent_s += spent_s;
    if (step == SL_CREW_NOTHING) {
        /* Unless what it lacked was done by the time that it is noted here. */
        work->dry = work->pieces == seen;
    } else {
        work->pieces++;
        work->dry = false;
        (void)pthread_cond_broadcast(&crew->work);
    }
    work->over = work->over || step == SL_CREW_OVER;
    leave(crew, work);
}

static void *
member_main(void *argument)
{
    sl_crew *const crew = argument;
    void *scratch = NULL;

    /* On Linux this is the thread's own. */
    (void)setpriority(PRIO_PROCESS, 0, NICENESS);
    lock(crew);
    while (!crew->stopping) {
        sl_crew_work *const work = choose(crew);
        if (work != NULL && scratch == NULL) {
            scratch = malloc(crew->config.scratch_bytes);
            if (scratch == NULL)
                sl_log(SL_LOG_ERROR, "no memory for a thread of searches", NULL, 0);
        }
        if (work != NULL && scratch != NULL) {
            do_piece(crew, work, scratch);
            continue;
        }
        if (crew->first == NULL) {
            free(scratch);
            scratch = NULL;
        }
        (void)pthread_cond_wait(&crew->work, &crew->lock);
    }
    unlock(crew);
    free(scratch);
    return NULL;
}

/* A work that this round has not looked after yet. */
static sl_crew_work *
unticked(const sl_crew *crew)
{
    sl_crew_work *at = crew->first;
    while (at != NULL && at->ticks == crew->ticks)
        at = at->next;
    return at;
}

/* Looks after every work. Under the lock, which is not held meanwhile. */
static void
tick(sl_crew *crew)
{
    crew->ticks++;
    for (sl_crew_work *at = unticked(crew); at != NULL; at = unticked(crew)) {
        at->ticks = crew->ticks;
        if (at->over)
            continue;
        at->inside++;
        const bool runs = at->runs;
        unlock(crew);
        const bool goes_on = at->tick(at, runs);
        lock(crew);
        at->over = at->over || !goes_on;
        leave(crew, at);
    }
}

static void *
ticker_main(void *argument)
{
    sl_crew *const crew = argument;

    lock(crew);
    while (!crew->stopping) {
        if (crew->first == NULL) {
            (void)pthread_cond_wait(&crew->came, &crew->lock);
            continue;
        }
        tick(crew);
        const struct timespec until = sl_clock_after(TICK_S);
        int late = 0;
        while (!crew->stopping && late == 0)
            late = pthread_cond_timedwait(&crew->came, &crew->lock, &until);
    }
    unlock(crew);
    return NULL;
}

static bool
start_threads(sl_crew *crew)
{
    if (pthread_create(&crew->ticker, NULL, ticker_main, crew) != 0)
        return false;
    while (crew->member_count < crew->config.threads &&
           pthread_create(&crew->members[crew->member_count], NULL, member_main, crew) == 0)
        crew->member_count++;
    if (crew->member_count > 0)
        return true;
    lock(crew);
    crew->stopping = true;
    (void)pthread_cond_broadcast(&crew->came);
    unlock(crew);
    (void)pthread_join(crew->ticker, NULL);
    return false;
}

sl_crew *
sl_crew_start(const sl_crew_config *config)
{
    assert(config != NULL && config->threads > 0 && config->scratch_bytes > 0);
    assert(config->running_max > 0);

    sl_crew *const crew = calloc(1, sizeof *crew);
    pthread_t *const members = calloc(config->threads, sizeof *members);
    if (crew == NULL || members == NULL)
        goto no_memory;
    *crew = (sl_crew){.config = *config, .members = members};
    if (pthread_mutex_init(&crew->lock, NULL) != 0)
        goto no_memory;
    if (pthread_cond_init(&crew->work, NULL) != 0)
        goto no_work;
    if (!sl_clock_condition(&crew->came))
        goto no_came;
    if (start_threads(crew))
        return crew;

    (void)pthread_cond_destroy(&crew->came);
no_came:
    (void)pthread_cond_destroy(&crew->work);
no_work:
    (void)pthread_mutex_destroy(&crew->lock);
no_memory:
    free(members);
    free(crew);
    return NULL;
}

void
sl_crew_stop(sl_crew *crew)
{
    if (crew == NULL)
        return;
    lock(crew);
    assert(crew->first == NULL);
    crew->stopping = true;
    (void)pthread_cond_broadcast(&crew->work);
    (void)pthread_cond_broadcast(&crew->came);
    unlock(crew);
    (void)pthread_join(crew->ticker, NULL);
    for (uint32_t i = 0; i < crew->member_count; i++)
        (void)pthread_join(crew->members[i], NULL);
    (void)pthread_cond_destroy(&crew->came);
    (void)pthread_cond_destroy(&crew->work);
    (void)pthread_mutex_destroy(&crew->lock);
    free(crew->members);
    free(crew);
}

bool
sl_crew_add(sl_crew *crew, sl_crew_work *work)
{
    assert(crew != NULL && work != NULL);
    assert(work->piece != NULL && work->tick != NULL && work->ended != NULL);

    lock(crew);
    const bool taken = !crew->stopping && (crew->running < crew->config.running_max ||
                                           crew->waiting < crew->config.waiting_max);
    if (taken) {
        sl_crew_work **at = &crew->first;
        while (*at != NULL)
            at = &(*at)->next;
        *at = work;
        crew->waiting++;
        promote(crew);
        (void)pthread_cond_signal(&crew->came);
    }
    unlock(crew);
    return taken;
}

void
sl_crew_count(sl_crew *crew, uint32_t *running, uint32_t *waiting)
{
    assert(crew != NULL && running != NULL && waiting != NULL);
    lock(crew);
    *running = crew->running;
    *waiting = crew->waiting;
    unlock(crew);
}
