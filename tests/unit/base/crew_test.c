/* Long works of one crew: who gets the time, and how each comes to its end. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "base/clock.h"
#include "base/crew.h"
#include "harness.h"

enum { SCRATCH_BYTES = 4096, ROUND = 8 };

/* Rounds of pieces, each of which spins; what a piece finds must be what the round before left. */
typedef struct chore {
    sl_crew_work work;
    pthread_mutex_t lock;
    double piece_s;
    uint32_t rounds, round;
    uint32_t next, done; /* of the round */
    atomic_bool give_up;
    atomic_uint pieces, ticks, ended;
    atomic_uint inside_max, inside;
    int niceness;
    double spent_s; /* in pieces */
} chore;

static void
spin(double s)
{
    const double until_s = sl_clock_now_s() + s;
    while (sl_clock_now_s() < until_s)
        continue;
}

static void
pause_ms(long ms)
{
    const struct timespec time = {.tv_nsec = ms * 1000000};
    (void)nanosleep(&time, NULL);
}

static sl_crew_step
piece(sl_crew_work *work, void *scratch)
{
    chore *const own = (chore *)work;

    assert(scratch != NULL);
    *(char *)scratch = 1;
    (void)pthread_mutex_lock(&own->lock);
    const bool over = own->round == own->rounds || atomic_load(&own->give_up);
    const bool taken = !over && own->next < ROUND;
    if (taken)
        own->next++;
    (void)pthread_mutex_unlock(&own->lock);
    if (over)
        return SL_CREW_OVER;
    if (!taken)
        return SL_CREW_NOTHING;

    const uint32_t inside = atomic_fetch_add(&own->inside, 1) + 1;
    if (inside > atomic_load(&own->inside_max))
        atomic_store(&own->inside_max, inside);
    const double began_s = sl_clock_now_s();
    spin(own->piece_s);
    const double spent_s = sl_clock_now_s() - began_s;
    (void)atomic_fetch_sub(&own->inside, 1);
    (void)atomic_fetch_add(&own->pieces, 1);

    (void)pthread_mutex_lock(&own->lock);
    own->niceness = getpriority(PRIO_PROCESS, 0);
    own->spent_s += spent_s;
    if (++own->done == ROUND) {
        own->round++;
        own->next = 0;
        own->done = 0;
    }
    (void)pthread_mutex_unlock(&own->lock);
    return SL_CREW_WORKED;
}

static bool
tick(sl_crew_work *work, bool runs)
{
    chore *const own = (chore *)work;

    (void)runs;
    (void)atomic_fetch_add(&own->ticks, 1);
    return !atomic_load(&own->give_up);
}

static void
ended(sl_crew_work *work)
{
    chore *const own = (chore *)work;

    CU_ASSERT_EQUAL(atomic_load(&own->inside), 0);
    (void)atomic_fetch_add(&own->ended, 1);
}

static void
chore_init(chore *own, uint32_t rounds, double piece_s)
{
    *own = (chore){.work = {.piece = piece, .tick = tick, .ended = ended},
                   .lock = PTHREAD_MUTEX_INITIALIZER,
                   .rounds = rounds,
                   .piece_s = piece_s};
}

static sl_crew *
crew_of(uint32_t threads, uint32_t running, uint32_t waiting)
{
    const sl_crew_config config = {.threads = threads,
                                   .scratch_bytes = SCRATCH_BYTES,
                                   .running_max = running,
                                   .waiting_max = waiting};
    sl_crew *const crew = sl_crew_start(&config);

    assert(crew != NULL);
    return crew;
}

static double
spent_s(chore *own)
{
    (void)pthread_mutex_lock(&own->lock);
    const double spent = own->spent_s;
    (void)pthread_mutex_unlock(&own->lock);
    return spent;
}

static void
await_end(const chore *own)
{
    for (int i = 0; i < 30000 && atomic_load(&own->ended) == 0; i++)
        pause_ms(1);
    CU_ASSERT_EQUAL(atomic_load(&own->ended), 1);
}

static void
every_piece_is_done_once_in_rounds(void)
{
    sl_crew *const crew = crew_of(4, 1, 0);
    chore own;
    uint32_t running = 9;
    uint32_t waiting = 9;

    chore_init(&own, 200, 0.00002);
    CU_ASSERT_TRUE(sl_crew_add(crew, &own.work));
    await_end(&own);
    CU_ASSERT_EQUAL(atomic_load(&own.pieces), 200 * ROUND);
    CU_ASSERT_TRUE(atomic_load(&own.inside_max) > 1);
    CU_ASSERT_EQUAL(own.niceness, 19);
    sl_crew_count(crew, &running, &waiting);
    CU_ASSERT_EQUAL(running, 0);
    CU_ASSERT_EQUAL(waiting, 0);
    sl_crew_stop(crew);
}

static void
works_share_time_whatever_their_pieces_cost(void)
{
    sl_crew *const crew = crew_of(2, 2, 0);
    chore fine;
    chore coarse;

    chore_init(&fine, UINT32_MAX, 0.0002);
    chore_init(&coarse, UINT32_MAX, 0.002);
    CU_ASSERT_TRUE(sl_crew_add(crew, &fine.work));
    CU_ASSERT_TRUE(sl_crew_add(crew, &coarse.work));
    while (atomic_load(&coarse.pieces) < 300)
        pause_ms(5);
    /* As they went by: on a machine at work a piece takes longer than it spins. */
    const double ratio = spent_s(&fine) / spent_s(&coarse);
    CU_ASSERT_TRUE(ratio > 0.5 && ratio < 2);
    atomic_store(&fine.give_up, true);
    atomic_store(&coarse.give_up, true);
    await_end(&fine);
    await_end(&coarse);
    sl_crew_stop(crew);
}

static void
what_finds_no_place_waits_or_is_refused(void)
{
    sl_crew *const crew = crew_of(2, 1, 1);
    chore works[3];
    uint32_t running = 0;
    uint32_t waiting = 0;

    for (size_t i = 0; i < 3; i++)
        chore_init(&works[i], UINT32_MAX, 0.0005);
    CU_ASSERT_TRUE(sl_crew_add(crew, &works[0].work));
    CU_ASSERT_TRUE(sl_crew_add(crew, &works[1].work));
    CU_ASSERT_FALSE(sl_crew_add(crew, &works[2].work));
    sl_crew_count(crew, &running, &waiting);
    CU_ASSERT_EQUAL(running, 1);
    CU_ASSERT_EQUAL(waiting, 1);
    pause_ms(350);
    CU_ASSERT_EQUAL(atomic_load(&works[1].pieces), 0);
    CU_ASSERT_TRUE(atomic_load(&works[1].ticks) >= 2);
    atomic_store(&works[0].give_up, true);
    await_end(&works[0]);
    while (atomic_load(&works[1].pieces) == 0)
        pause_ms(1);
    atomic_store(&works[1].give_up, true);
    await_end(&works[1]);
    sl_crew_stop(crew);
}

static void
one_that_waits_can_be_given_up(void)
{
    sl_crew *const crew = crew_of(1, 1, 1);
    chore first;
    chore second;

    chore_init(&first, UINT32_MAX, 0.0005);
    chore_init(&second, UINT32_MAX, 0.0005);
    CU_ASSERT_TRUE(sl_crew_add(crew, &first.work));
    CU_ASSERT_TRUE(sl_crew_add(crew, &second.work));
    atomic_store(&second.give_up, true);
    await_end(&second);
    CU_ASSERT_EQUAL(atomic_load(&second.pieces), 0);
    CU_ASSERT_EQUAL(atomic_load(&first.ended), 0);
    atomic_store(&first.give_up, true);
    await_end(&first);
    sl_crew_stop(crew);
}

static void
a_crowd_comes_and_goes(void)
{
    enum { CROWD = 64 };
    static chore works[CROWD];
    sl_crew *const crew = crew_of(4, 3, CROWD);

    for (size_t i = 0; i < CROWD; i++) {
        chore_init(&works[i], 1 + (uint32_t)i % 5, 0.00001);
        atomic_store(&works[i].give_up, i % 7 == 0);
        CU_ASSERT_TRUE(sl_crew_add(crew, &works[i].work));
    }
    for (size_t i = 0; i < CROWD; i++) {
        await_end(&works[i]);
        if (i % 7 != 0)
            CU_ASSERT_EQUAL(atomic_load(&works[i].pieces), works[i].rounds * ROUND);
    }
    sl_crew_stop(crew);
}

static const sl_case cases[] = {
    SL_CASE(every_piece_is_done_once_in_rounds),
    SL_CASE(works_share_time_whatever_their_pieces_cost),
    SL_CASE(what_finds_no_place_waits_or_is_refused),
    SL_CASE(one_that_waits_can_be_given_up),
    SL_CASE(a_crowd_comes_and_goes),
};

int
main(int argc, char **argv)
{
    return sl_run_cases(argc, argv, "crew", cases, sizeof cases / sizeof cases[0]);
}
