/* What each rank of a pipeline runs, pass after pass. */
#include "engine/schedule/order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/schedule/alive.h"
#include "harness.h"

enum { RANKS_MAX = 8, BATCHES_MAX = 20, CHUNKS_MAX = 3, TEXT_MAX = 256 };
enum { WORKS_MAX = 3 * CHUNKS_MAX * BATCHES_MAX };

/* Orders of all ranks. */
static sl_work orders[RANKS_MAX][WORKS_MAX];
static uint64_t counts[RANKS_MAX];

static sl_plan
plan_of(sl_schedule schedule, uint32_t ranks, uint32_t chunks)
{
    return (sl_plan){.pipeline = ranks, .virtual_pipeline = chunks, .schedule = schedule};
}

static void
write_v(const sl_plan *plan, uint64_t batches, const sl_work_seconds *seconds)
{
    static sl_work all[RANKS_MAX * WORKS_MAX];
    void *scratch = malloc(sl_order_v_bytes(plan, batches));

    CU_ASSERT_PTR_NOT_NULL_FATAL(scratch);
    sl_order_write_v(plan, batches, seconds, 0.0, scratch, all);
    free(scratch);
    for (uint32_t r = 0; r < plan->pipeline; r++) {
        counts[r] = sl_order_count(plan, batches, r);
        memcpy(orders[r], &all[r * counts[r]], counts[r] * sizeof all[0]);
    }
}

static void
write_orders(const sl_plan *plan, uint64_t batches, uint32_t group)
{
    sl_work_seconds seconds[2 * RANKS_MAX];

    if (plan->schedule == SL_SCHEDULE_ZB_V) {
        for (uint32_t i = 0; i < 2 * plan->pipeline; i++)
            seconds[i] = (sl_work_seconds){1.0, 1.0 + 0.1 * (i % 3), 0.8};
        write_v(plan, batches, seconds);
        return;
    }
    for (uint32_t r = 0; r < plan->pipeline; r++) {
        counts[r] = sl_order_count(plan, batches, r);
        CU_ASSERT_FATAL(counts[r] <= WORKS_MAX);
        sl_order_write(plan, batches, group, r, orders[r]);
    }
}

/* F, B, I and W of the first chunk of a rank, small letters of the second; & joins what runs beside
 * each other. */
static void
expect_order(uint32_t rank, const char *expected)
{
    static const char letters[2][SL_WORK_KINDS + 1] = {"FBIW", "fbiw"};
    char text[TEXT_MAX] = "";
    size_t used = 0;

    for (uint64_t i = 0; i < counts[rank]; i++) {
        const sl_work *work = &orders[rank][i];
        CU_ASSERT_FATAL(work->chunk < 2 && used + 8 < TEXT_MAX);
        const int length = snprintf(text + used, TEXT_MAX - used, "%c%u%s",
                                    letters[work->chunk][work->kind], work->microbatch,
                                    i + 1 == counts[rank] ? ""
                                    : work->beside        ? "&"
                                                          : " ");
        used += (size_t)length;
    }
    sl_expect_text(text, expected, "order");
}

/* Of a rank: every pass once, forward before backward, weights' gradients after those of inputs. */
static bool
is_complete(const sl_plan *plan, uint64_t batches, uint32_t rank)
{
    static uint8_t seen[SL_WORK_KINDS][CHUNKS_MAX][BATCHES_MAX];
    const uint32_t copies = sl_schedule_copies(plan);
    const uint64_t own = batches / copies;
    uint64_t weights = 0;

    memset(seen, 0, sizeof seen);
    for (uint64_t i = 0; i < counts[rank]; i++) {
        const sl_work *work = &orders[rank][i];
        const uint64_t first = copies == 2 ? work->chunk * own : 0;
        if (work->chunk >= sl_schedule_held(plan) || work->microbatch < first ||
            work->microbatch >= first + own || work->kind >= SL_WORK_KINDS)
            return false;
        const uint32_t m = work->microbatch;
        if (seen[work->kind][work->chunk][m]++ > 0)
            return false;
        if (work->kind != SL_WORK_FORWARD && seen[SL_WORK_FORWARD][work->chunk][m] == 0)
            return false;
        if (work->kind == SL_WORK_BACKWARD_WEIGHT &&
            seen[SL_WORK_BACKWARD_INPUT][work->chunk][m] == 0)
            return false;
        if (work->beside && (i + 1 == counts[rank] || work->kind != SL_WORK_FORWARD ||
                             work[1].kind != SL_WORK_BACKWARD))
            return false;
        weights += work->kind == SL_WORK_BACKWARD || work->kind == SL_WORK_BACKWARD_WEIGHT;
    }
    /* As many gradients of weights as forwards; and gradients of inputs are not made twice. */
    for (uint32_t c = 0; c < sl_schedule_held(plan); c++)
        for (uint32_t m = 0; m < batches; m++)
            if (seen[SL_WORK_BACKWARD][c][m] + seen[SL_WORK_BACKWARD_INPUT][c][m] !=
                seen[SL_WORK_FORWARD][c][m])
                return false;
    return weights == sl_schedule_held(plan) * own;
}

static void
every_order_has_every_pass_once_and_in_turn(void)
{
    uint32_t checked = 0;

    for (uint32_t schedule = 0; schedule < SL_SCHEDULE_COUNT; schedule++)
        for (uint32_t p = 1; p <= RANKS_MAX; p++)
            for (uint32_t v = 1; v <= CHUNKS_MAX; v++)
                for (uint32_t m = 1; m <= BATCHES_MAX; m++)
                    for (uint32_t ahead = 0; ahead < 2; ahead++) {
                        sl_plan plan = plan_of((sl_schedule)schedule, p, v);
                        plan.overlap_experts = ahead == 1;
                        if (!sl_order_exists(&plan, m))
                            continue;
                        write_orders(&plan, m, 0);
                        for (uint32_t r = 0; r < p; r++)
                            CU_ASSERT_TRUE(is_complete(&plan, m, r));
                        checked++;
                    }
    CU_ASSERT_TRUE(checked > 1000);
}

static void
an_order_without_a_pass_or_out_of_turn_is_found_out(void)
{
    const sl_plan plan = plan_of(SL_SCHEDULE_ZB_H1, 2, 1);

    write_orders(&plan, 4, 0);
    CU_ASSERT_TRUE(is_complete(&plan, 4, 0));
    orders[0][0].microbatch = 1; /* F1 twice, F0 never */
    CU_ASSERT_FALSE(is_complete(&plan, 4, 0));
    write_orders(&plan, 4, 0);
    orders[0][0].kind = SL_WORK_BACKWARD_INPUT; /* before its forward */
    CU_ASSERT_FALSE(is_complete(&plan, 4, 0));
    write_orders(&plan, 4, 0);
    counts[0]--; /* the last gradient of weights */
    CU_ASSERT_FALSE(is_complete(&plan, 4, 0));
}

static void
naive_runs_one_after_the_other(void)
{
    const sl_plan plan = plan_of(SL_SCHEDULE_NAIVE, 3, 1);

    write_orders(&plan, 3, 0);
    expect_order(0, "F0 B0 F1 B1 F2 B2");
    expect_order(2, "F0 B0 F1 B1 F2 B2");
}

/* Huang 2019 figure 2c: backward begins with the last micro-batch. */
static void
gpipe_runs_all_forwards_first(void)
{
    const sl_plan plan = plan_of(SL_SCHEDULE_GPIPE, 4, 1);

    write_orders(&plan, 4, 0);
    for (uint32_t r = 0; r < 4; r++)
        expect_order(r, "F0 F1 F2 F3 B3 B2 B1 B0");
}

/* Narayanan 2021 figure 4, with half of its micro-batches. */
static void
one_forward_one_backward_by_hand(void)
{
    const sl_plan plan = plan_of(SL_SCHEDULE_1F1B, 4, 1);

    write_orders(&plan, 4, 0);
    expect_order(0, "F0 F1 F2 F3 B0 B1 B2 B3");
    expect_order(1, "F0 F1 F2 B0 F3 B1 B2 B3");
    expect_order(2, "F0 F1 B0 F2 B1 F3 B2 B3");
    expect_order(3, "F0 B0 F1 B1 F2 B2 F3 B3");
}

static void
experts_that_overlap_start_one_forward_earlier(void)
{
    sl_plan plan = plan_of(SL_SCHEDULE_1F1B, 1, 1);

    plan.overlap_experts = true;
    write_orders(&plan, 3, 0);
    expect_order(0, "F0 F1&B0 F2&B1 B2");
    plan = plan_of(SL_SCHEDULE_INTERLEAVED_1F1B, 2, 2);
    plan.overlap_experts = true;
    write_orders(&plan, 4, 0);
    expect_order(0, "F0 F1 f0 f1 F2 F3&b0 f2&b1 f3&B0 B1 b2 b3 B2 B3");
    expect_order(1, "F0 F1 f0 f1&b0 F2&b1 F3&B0 f2&B1 f3&b2 b3 B2 B3");
}

/* Narayanan 2021 figure 4 on two ranks; Megatron-LM's table of 5 micro-batches in groups of 3. */
static void
interleaved_by_hand(void)
{
    const sl_plan plan = plan_of(SL_SCHEDULE_INTERLEAVED_1F1B, 2, 2);

    write_orders(&plan, 4, 0);
    expect_order(0, "F0 F1 f0 f1 F2 b0 F3 b1 f2 B0 f3 B1 b2 b3 B2 B3");
    expect_order(1, "F0 F1 f0 b0 f1 b1 F2 B0 F3 B1 f2 b2 f3 b3 B2 B3");
    write_orders(&plan, 5, 3);
    expect_order(0, "F0 F1 F2 f0 f1 f2 b0 F3 b1 F4 b2 f3 B0 f4 B1 B2 b3 b4 B3 B4");
}

/* What would have ranks wait for each other is not what is run: 9 micro-batches of 8 ranks in a
 * group of 8 and one of 1. */
static void
no_last_group_is_smaller_than_the_ranks(void)
{
    const sl_plan plan = plan_of(SL_SCHEDULE_INTERLEAVED_1F1B, 8, 2);

    CU_ASSERT_EQUAL(sl_order_group(&plan, 16, 0), 8);
    CU_ASSERT_EQUAL(sl_order_group(&plan, 9, 0), 9);
    CU_ASSERT_EQUAL(sl_order_group(&plan, 20, 0), 10);
    CU_ASSERT_EQUAL(sl_order_group(&plan, 25, 0), 13);
    CU_ASSERT_EQUAL(sl_order_group(&plan, 3, 0), 8);
    CU_ASSERT_EQUAL(sl_order_group(&plan, 32, 16), 16);
    CU_ASSERT_EQUAL(sl_order_group(&plan, 32, 4), 8);
    for (uint32_t m = 8; m <= 1000; m++) {
        const uint64_t group = sl_order_group(&plan, m, 0);
        CU_ASSERT_TRUE(group >= 8 && group <= m && (m % group == 0 || m % group >= 8));
    }
}

/* Qi 2023 figure 3: gradients of weights wait on the later ranks. */
static void
zero_bubble_by_hand(void)
{
    sl_plan plan = plan_of(SL_SCHEDULE_ZB_H1, 4, 1);

    write_orders(&plan, 4, 0);
    expect_order(0, "F0 F1 F2 F3 I0 W0 I1 W1 I2 W2 I3 W3");
    expect_order(1, "F0 F1 F2 I0 F3 I1 W0 I2 W1 I3 W2 W3");
    expect_order(3, "F0 I0 F1 I1 F2 I2 F3 I3 W0 W1 W2 W3");
    plan = plan_of(SL_SCHEDULE_ZB_H2, 2, 1);
    write_orders(&plan, 4, 0);
    expect_order(0, "F0 F1 F2 I0 W0 F3 I1 W1 I2 W2 I3 W3");
    expect_order(1, "F0 I0 F1 I1 F2 I2 W0 F3 I3 W1 W2 W3");
}

/* Equal passes: forwards and gradients of inputs as in Qi 2023 figure 6; those of weights are where
 * four chunks are alive, or in what would be a gap. */
static void
zb_v_by_hand(void)
{
    const sl_plan plan = plan_of(SL_SCHEDULE_ZB_V, 2, 2);
    const sl_work_seconds seconds[] = {
        {1.0, 1.0, 1.0}, {1.0, 1.0, 1.0}, {1.0, 1.0, 1.0}, {1.0, 1.0, 1.0}};

    write_v(&plan, 4, seconds);
    expect_order(0, "F0 F1 F2 f0 i0 w0 f1 i1 w1 F3 I0 W0 f2 i2 w2 I1 W1 f3 i3 I2 w3 I3 W2 W3");
    expect_order(1, "F0 f0 F1 f1 i0 w0 F2 I0 W0 f2 i1 w1 F3 I1 W1 f3 i2 I2 i3 I3 w2 W2 w3 W3");
}

/* Half of the micro-batches enter at each end: phase by phase from dualpipe.py. */
static void
dualpipe_by_hand(void)
{
    sl_plan plan = plan_of(SL_SCHEDULE_DUALPIPE, 2, 1);

    write_orders(&plan, 4, 0);
    expect_order(0, "F0 f2 F1 b2 f3&B0 b3 I1 W1");
    expect_order(1, "f2 F0 f3 B0 F1&b2 B1 i3 w3");
    plan = plan_of(SL_SCHEDULE_DUALPIPE, 4, 1);
    write_orders(&plan, 8, 0);
    expect_order(0, "F0 F1 F2 f4 i4 w4 f5 F3&b5 f6&B0 b6 f7&B1 b7 I2 W2 I3 W3");
    expect_order(1, "F0 f4 F1 f5 F2 b4 f6&B0 F3&b5 f7&B1 b6 B2 i7 I3 w7 W3");
}

static uint64_t state; /* of a generator of our own: the same draws on every machine */

static double
draw(void)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(state >> 33) / (double)(UINT64_C(1) << 31);
}

/* Whatever passes take and chunks keep. */
static void
no_order_of_zb_v_keeps_more_than_its_bound(void)
{
    for (uint32_t i = 0; i < 400; i++) {
        const sl_plan plan = plan_of(SL_SCHEDULE_ZB_V, 2 + i % (RANKS_MAX - 1), 2);
        const uint64_t batches = 1 + (uint64_t)(draw() * BATCHES_MAX);
        sl_work_seconds seconds[2 * RANKS_MAX];
        for (uint32_t c = 0; c < 2 * plan.pipeline; c++)
            seconds[c] = (sl_work_seconds){draw(), draw(), draw()};
        write_v(&plan, batches, seconds);
        for (uint32_t r = 0; r < plan.pipeline; r++) {
            const sl_chunk_bytes bytes[] = {{draw(), draw()}, {draw(), draw()}};
            sl_alive bound[2], own[2];
            double least = 0.0, most = 0.0;
            sl_alive_most(&plan, batches, r, bytes, bound);
            sl_alive_in_order(orders[r], counts[r], bytes, own);
            for (uint32_t c = 0; c < 2; c++) {
                least += own[c].whole * bytes[c].whole + own[c].deferred * bytes[c].deferred;
                most += bound[c].whole * bytes[c].whole + bound[c].deferred * bytes[c].deferred;
            }
            CU_ASSERT_TRUE(least > 0.0 && least <= most * (1.0 + 1e-12));
        }
    }
}

static void
schedules_that_are_not_defined_say_so(void)
{
    static const struct {
        sl_schedule schedule;
        uint32_t ranks, chunks, batches;
    } rows[] = {
        {SL_SCHEDULE_1F1B, 4, 2, 8},     {SL_SCHEDULE_ZB_H1, 4, 2, 8},
        {SL_SCHEDULE_ZB_H2, 4, 2, 8},    {SL_SCHEDULE_ZB_V, 4, 1, 8},
        {SL_SCHEDULE_ZB_V, 4, 3, 8},     {SL_SCHEDULE_DUALPIPE, 3, 1, 8},
        {SL_SCHEDULE_DUALPIPE, 4, 1, 6}, {SL_SCHEDULE_DUALPIPE, 4, 1, 9},
        {SL_SCHEDULE_DUALPIPE, 4, 2, 8}, {SL_SCHEDULE_1F1B, 4, 1, 0},
        {SL_SCHEDULE_1F1B, 0, 1, 1},     {SL_SCHEDULE_GPIPE, 4, 0, 1},
        {SL_SCHEDULE_COUNT, 4, 1, 8},
    };

    for (uint32_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const sl_plan plan = plan_of(rows[i].schedule, rows[i].ranks, rows[i].chunks);
        CU_ASSERT_FALSE(sl_order_exists(&plan, rows[i].batches));
    }
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(every_order_has_every_pass_once_and_in_turn),
        SL_CASE(an_order_without_a_pass_or_out_of_turn_is_found_out),
        SL_CASE(naive_runs_one_after_the_other),
        SL_CASE(gpipe_runs_all_forwards_first),
        SL_CASE(one_forward_one_backward_by_hand),
        SL_CASE(experts_that_overlap_start_one_forward_earlier),
        SL_CASE(interleaved_by_hand),
        SL_CASE(no_last_group_is_smaller_than_the_ranks),
        SL_CASE(zero_bubble_by_hand),
        SL_CASE(zb_v_by_hand),
        SL_CASE(no_order_of_zb_v_keeps_more_than_its_bound),
        SL_CASE(dualpipe_by_hand),
        SL_CASE(schedules_that_are_not_defined_say_so),
    };

    return sl_run_cases(argc, argv, "order", cases, sizeof cases / sizeof cases[0]);
}
