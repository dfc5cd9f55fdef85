/* Tasks on lanes: when they begin and end. */
#include "engine/schedule/simulation.h"

#include <stdlib.h>
#include <string.h>

#include "harness.h"

enum { LANES_MAX = 12, TASKS_MAX = 400, WAITS_MAX = 3 * TASKS_MAX };

typedef struct graph {
    uint32_t lane_first[LANES_MAX + 1];
    double seconds[TASKS_MAX];
    uint32_t wait_first[TASKS_MAX + 1];
    uint32_t waits[WAITS_MAX];
    double start_s[TASKS_MAX], end_s[TASKS_MAX];
} graph;

static bool
run(graph *g, uint32_t lanes)
{
    const sl_tasks tasks = {.lanes = lanes,
                            .lane_first = g->lane_first,
                            .seconds = g->seconds,
                            .wait_first = g->wait_first,
                            .waits = g->waits};
    void *scratch = malloc(sl_simulation_bytes(lanes));

    CU_ASSERT_PTR_NOT_NULL_FATAL(scratch);
    const bool ended = sl_simulate(&tasks, scratch, g->start_s, g->end_s);
    free(scratch);
    return ended;
}

/* Two lanes of two tasks: the second of each waits for the first of the other. */
static void
a_task_waits_for_its_lane_and_for_others(void)
{
    graph g = {.lane_first = {0, 2, 4},
               .seconds = {1.0, 2.0, 5.0, 3.0},
               .wait_first = {0, 0, 1, 1, 2},
               .waits = {2, 0}};

    CU_ASSERT_TRUE(run(&g, 2));
    CU_ASSERT_EQUAL(g.start_s[1], 5.0);
    CU_ASSERT_EQUAL(g.end_s[1], 7.0);
    CU_ASSERT_EQUAL(g.start_s[3], 5.0);
    CU_ASSERT_EQUAL(g.end_s[3], 8.0);
}

static void
a_lane_runs_in_its_order_even_where_a_later_task_could_start(void)
{
    graph g = {.lane_first = {0, 2, 3},
               .seconds = {1.0, 1.0, 4.0},
               .wait_first = {0, 1, 1, 1},
               .waits = {2}};

    CU_ASSERT_TRUE(run(&g, 2));
    CU_ASSERT_EQUAL(g.start_s[1], 5.0);
}

static void
tasks_that_wait_in_a_circle_are_a_deadlock(void)
{
    graph ring = {.lane_first = {0, 2, 4},
                  .seconds = {1.0, 1.0, 1.0, 1.0},
                  .wait_first = {0, 1, 1, 2, 2},
                  .waits = {3, 1}}; /* the first of each lane for the second of the other */
    graph itself = {.lane_first = {0, 1}, .seconds = {1.0}, .wait_first = {0, 1}, .waits = {0}};
    graph later = {
        .lane_first = {0, 3}, .seconds = {1.0, 1.0, 1.0}, .wait_first = {0, 0, 1, 1}, .waits = {2}};

    CU_ASSERT_FALSE(run(&ring, 2));
    CU_ASSERT_TRUE(ring.end_s[0] < 0.0 && ring.end_s[3] < 0.0);
    CU_ASSERT_FALSE(run(&itself, 1));
    CU_ASSERT_FALSE(run(&later, 1));
    CU_ASSERT_EQUAL(later.end_s[0], 1.0);
    CU_ASSERT_TRUE(later.end_s[1] < 0.0);
}

static void
nothing_to_do_takes_no_time(void)
{
    graph none = {.lane_first = {0}};
    graph empty = {.lane_first = {0, 0, 1, 1}, .wait_first = {0, 0}};

    CU_ASSERT_TRUE(run(&none, 0));
    CU_ASSERT_TRUE(run(&empty, 3));
    CU_ASSERT_EQUAL(empty.end_s[0], 0.0);
}

static void
many_lanes_may_wait_for_one_task(void)
{
    graph g = {.lane_first = {0, 1, 2, 3, 4},
               .seconds = {1.0, 2.0, 3.0, 7.0},
               .wait_first = {0, 1, 2, 3, 3},
               .waits = {3, 3, 3}};

    CU_ASSERT_TRUE(run(&g, 4));
    CU_ASSERT_EQUAL(g.end_s[0], 8.0);
    CU_ASSERT_EQUAL(g.end_s[1], 9.0);
    CU_ASSERT_EQUAL(g.end_s[2], 10.0);
}

static uint64_t state = 20240229;

static uint32_t
draw(uint32_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state >> 33) % below);
}

/* Tasks of drawn graphs wait only for those of a lower rank in one order of all, which runs lanes
 * in turn, so that what each must be is known by going through that order once. */
static void
drawn_graphs_come_out_as_the_recurrence_says(void)
{
    static graph g;

    for (uint32_t round = 0; round < 50; round++) {
        const uint32_t lanes = 2 + draw(LANES_MAX - 2);
        const uint32_t each = TASKS_MAX / lanes;
        const uint32_t tasks = lanes * each;
        double end_s[TASKS_MAX];
        uint32_t waited = 0;
        for (uint32_t lane = 0; lane <= lanes; lane++)
            g.lane_first[lane] = lane * each;
        for (uint32_t task = 0; task < tasks; task++) {
            g.seconds[task] = draw(100) / 7.0;
            g.wait_first[task] = waited;
            for (uint32_t i = draw(3); task % each > 0 && i-- > 0;)
                g.waits[waited++] = draw(lanes) * each + draw(task % each);
        }
        g.wait_first[tasks] = waited;
        CU_ASSERT_TRUE_FATAL(run(&g, lanes));
        for (uint32_t i = 0; i < each; i++)
            for (uint32_t lane = 0; lane < lanes; lane++) {
                const uint32_t task = lane * each + i;
                double start_s = i > 0 ? end_s[task - 1] : 0.0;
                for (uint32_t w = g.wait_first[task]; w < g.wait_first[task + 1]; w++)
                    if (end_s[g.waits[w]] > start_s)
                        start_s = end_s[g.waits[w]];
                end_s[task] = start_s + g.seconds[task];
                CU_ASSERT_EQUAL(g.start_s[task], start_s);
                CU_ASSERT_EQUAL(g.end_s[task], end_s[task]);
            }
    }
}

/* Of each of 3 nodes what it sends, and what it exchanges: `to` is of the sends. */
static void
run_shared(graph *g, const uint8_t *to)
{
    const sl_tasks tasks = {.lanes = 6,
                            .lane_first = g->lane_first,
                            .seconds = g->seconds,
                            .wait_first = g->wait_first,
                            .waits = g->waits};
    const sl_sharing sharing = {.nodes = 3, .sends = 0, .exchanges = 3, .to = to};
    void *scratch = malloc(sl_simulation_shared_bytes(6, 3));

    CU_ASSERT_PTR_NOT_NULL_FATAL(scratch);
    CU_ASSERT_TRUE(sl_simulate_shared(&tasks, &sharing, scratch, g->start_s, g->end_s));
    free(scratch);
}

/* 0 sends 1 s and then 2 s to 1 while it exchanges for 4 s. */
static void
a_send_and_an_exchange_share_the_way_out(void)
{
    graph g = {.lane_first = {0, 2, 2, 2, 3, 3, 3}, .seconds = {1.0, 2.0, 4.0}};

    run_shared(&g, (const uint8_t[]){1, 1});
    CU_ASSERT_EQUAL(g.end_s[0], 2.0);
    CU_ASSERT_EQUAL(g.end_s[1], 6.0);
    CU_ASSERT_EQUAL(g.end_s[2], 7.0); /* 3 s of it are done by 6 */
}

/* The same into a node that exchanges, and by a node whose exchange waits for the send. */
static void
what_takes_a_send_in_shares_its_way_in(void)
{
    graph in = {.lane_first = {0, 1, 1, 1, 1, 2, 2}, .seconds = {1.0, 4.0}};
    graph after = {.lane_first = {0, 1, 1, 1, 2, 2, 2},
                   .seconds = {1.0, 4.0},
                   .wait_first = {0, 0, 1},
                   .waits = {0}};

    run_shared(&in, (const uint8_t[]){1});
    CU_ASSERT_EQUAL(in.end_s[0], 2.0);
    CU_ASSERT_EQUAL(in.end_s[1], 5.0);
    run_shared(&after, (const uint8_t[]){1});
    CU_ASSERT_EQUAL(after.end_s[0], 1.0);
    CU_ASSERT_EQUAL(after.end_s[1], 5.0);
}

/* 0 and 2 send 1 s each to 1: freely, then beside its exchange of 4 s, each at a third of its
 * rate. */
static void
three_on_one_way_get_a_third_each(void)
{
    graph bare = {.lane_first = {0, 1, 1, 2, 2, 2, 2}, .seconds = {1.0, 1.0}};
    graph g = {.lane_first = {0, 1, 1, 2, 2, 3, 3}, .seconds = {1.0, 1.0, 4.0}};

    run_shared(&bare, (const uint8_t[]){1, 1});
    CU_ASSERT_EQUAL(bare.end_s[0], 1.0);
    CU_ASSERT_EQUAL(bare.end_s[1], 1.0);
    run_shared(&g, (const uint8_t[]){1, 1});
    CU_ASSERT_DOUBLE_EQUAL(g.end_s[0], 3.0, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(g.end_s[1], 3.0, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(g.end_s[2], 6.0, 1e-12);
}

/* 2 sends 2 s beside its own exchange of 1 s, until 3; then 1 exchanges 4 s, while 0 sends it 2 s
 * for the second time, and for the third. */
static void
links_are_shared_again_after_they_were_free(void)
{
    graph g = {.lane_first = {0, 3, 3, 4, 4, 5, 6},
               .seconds = {2.0, 2.0, 2.0, 2.0, 4.0, 1.0},
               .wait_first = {0, 0, 0, 0, 0, 1, 1},
               .waits = {3}};

    run_shared(&g, (const uint8_t[]){1, 1, 1, 0});
    CU_ASSERT_EQUAL(g.end_s[5], 2.0);
    CU_ASSERT_EQUAL(g.end_s[3], 3.0);
    CU_ASSERT_EQUAL(g.start_s[4], 3.0);
    CU_ASSERT_EQUAL(g.end_s[0], 2.0);
    CU_ASSERT_EQUAL(g.end_s[1], 5.0); /* half of it is left at 3 */
    CU_ASSERT_EQUAL(g.end_s[2], 9.0);
    CU_ASSERT_EQUAL(g.end_s[4], 10.0); /* 3 s of it are done by 9 */
}

/* Drawn graphs: without exchanges the same bits as lanes alone; with them no task is faster than
 * alone, and none slower than three on a way allow. */
static void
only_exchanges_slow_what_is_sent(void)
{
    static graph alone, shared;
    enum { EACH = 30 };
    uint8_t to[3 * EACH];

    for (uint32_t round = 0; round < 100; round++) {
        const bool exchanges = round % 2 == 1;
        uint32_t waited = 0;
        for (uint32_t lane = 0; lane <= 6; lane++)
            alone.lane_first[lane] = (lane < 3 || exchanges ? lane : 3) * EACH;
        for (uint32_t task = 0; task < alone.lane_first[6]; task++) {
            alone.seconds[task] = draw(100) / 7.0;
            alone.wait_first[task] = waited;
            if (task < 3 * EACH)
                to[task] = (uint8_t)((task / EACH + 1 + draw(2)) % 3);
            if (task % EACH > 0 && draw(2) == 0)
                alone.waits[waited++] = draw(exchanges ? 6 : 3) * EACH + draw(task % EACH);
        }
        alone.wait_first[alone.lane_first[6]] = waited;
        shared = alone;
        CU_ASSERT_TRUE_FATAL(run(&alone, 6));
        run_shared(&shared, to);
        for (uint32_t task = 0; task < alone.lane_first[6]; task++) {
            const double taken_s = shared.end_s[task] - shared.start_s[task];
            if (!exchanges)
                CU_ASSERT_EQUAL(shared.end_s[task], alone.end_s[task]);
            CU_ASSERT_TRUE(taken_s >= shared.seconds[task] - 1e-9);
            CU_ASSERT_TRUE(taken_s <= 3.0 * shared.seconds[task] + 1e-9);
            for (uint32_t w = shared.wait_first[task]; w < shared.wait_first[task + 1]; w++)
                CU_ASSERT_TRUE(shared.start_s[task] >= shared.end_s[shared.waits[w]]);
        }
    }
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(a_task_waits_for_its_lane_and_for_others),
        SL_CASE(a_lane_runs_in_its_order_even_where_a_later_task_could_start),
        SL_CASE(tasks_that_wait_in_a_circle_are_a_deadlock),
        SL_CASE(nothing_to_do_takes_no_time),
        SL_CASE(many_lanes_may_wait_for_one_task),
        SL_CASE(drawn_graphs_come_out_as_the_recurrence_says),
        SL_CASE(a_send_and_an_exchange_share_the_way_out),
        SL_CASE(what_takes_a_send_in_shares_its_way_in),
        SL_CASE(three_on_one_way_get_a_third_each),
        SL_CASE(links_are_shared_again_after_they_were_free),
        SL_CASE(only_exchanges_slow_what_is_sent),
    };

    return sl_run_cases(argc, argv, "simulation", cases, sizeof cases / sizeof cases[0]);
}
