/* Interleaved steps whose order is run in closed form, beside the same steps simulated. */
#include <math.h>
#include <stdio.h>

#include "engine/schedule/schedule_ring.h"
#include "harness.h"
#include "pipeline_fixture.h"

enum { DRAWS = 2000, CHUNKS = SL_PIPELINE_RANKS_MAX * SL_PIPELINE_CHUNKS_MAX };

static sl_chunk_pass passes[CHUNKS];
static sl_ring_send after[CHUNKS];

/* Chunks of one to three layers each, whose outputs take as long as up to `most_s` to send, over
 * links of either kind. */
static void
draw_chunks(const sl_plan *plan, double most_s)
{
    const uint32_t chunks = sl_schedule_chunks(plan);
    const double backward_s = sl_pipeline_draw(1.8, 3.2);

    for (uint32_t i = 0; i < chunks; i++) {
        const double layers = sl_pipeline_draw_count(1, 3);
        const bool last = i + 1 == chunks;
        sl_chunk_cost *cost =
            &sl_pipeline_costs[i % plan->pipeline * plan->virtual_pipeline + i / plan->pipeline];
        passes[i] = (sl_chunk_pass){.forward_s = layers, .input_s = backward_s * layers};
        after[i].seconds = last ? 0.0 : sl_pipeline_draw(0.0, most_s);
        after[i].network = sl_pipeline_draw_count(0, 1) == 1;
        *cost = (sl_chunk_cost){.work = {layers, backward_s * layers, 0.0},
                                .send_s = after[i].seconds,
                                .send_scale_up = !after[i].network};
    }
}

static double
simulated_s(const sl_plan *plan, uint32_t m, bool beside)
{
    sl_pipeline pipeline = sl_pipeline_of(plan, m);

    pipeline.overlaps_sends = beside;
    CU_ASSERT_TRUE_FATAL(sl_pipeline_run_once(&pipeline));
    return sl_pipeline_last.step_s;
}

static void
a_few_rounds_are_run_exactly_and_more_go_on_like_the_last(void)
{
    uint32_t exact = 0, longer = 0;
    double sum = 0.0;

    for (uint32_t i = 0; i < DRAWS; i++) {
        const uint32_t p = sl_pipeline_draw_count(2, 8);
        const uint32_t m = p * sl_pipeline_draw_count(1, SL_PIPELINE_BATCHES_MAX / p);
        const sl_plan plan = sl_pipeline_plan(SL_SCHEDULE_INTERLEAVED_1F1B, p,
                                              sl_pipeline_draw_count(2, SL_PIPELINE_CHUNKS_MAX));
        const bool sends = i % 3 > 0; /* no time at all, little, or more than a pass */
        const bool beside = i % 2 == 0;
        if (!sl_ring_runs(&plan, m))
            continue;
        draw_chunks(&plan, i % 3 == 1 ? 0.5 : sends ? 4.0 : 0.0);
        const sl_ring ring = {&plan, m, passes, sends ? after : NULL, beside};
        const double expected_s = simulated_s(&plan, m, beside);
        const double error = fabs(sl_ring_span_s(&ring) / expected_s - 1.0);
        CU_ASSERT_TRUE(error <= (m <= 4 * p ? 1e-12 : 0.015));
        exact += m <= 4 * p;
        longer += m > 4 * p;
        sum += error;
    }
    printf("  %u run to the end, %u in part, %.3f %% off on average\n", exact, longer,
           100.0 * sum / (exact + longer));
    CU_ASSERT_TRUE(exact >= 300 && longer >= 300);
    CU_ASSERT_TRUE(sum / (exact + longer) <= 2e-4);
}

static void
other_orders_and_longer_ones_are_not_run(void)
{
    sl_plan plan = sl_pipeline_plan(SL_SCHEDULE_INTERLEAVED_1F1B, 4, 2);

    CU_ASSERT_TRUE(sl_ring_runs(&plan, 4));
    CU_ASSERT_TRUE(sl_ring_runs(&plan, 4000));
    CU_ASSERT_FALSE(sl_ring_runs(&plan, 6)); /* groups of other sizes */
    plan.overlap_experts = true;
    CU_ASSERT_FALSE(sl_ring_runs(&plan, 4));
    plan = sl_pipeline_plan(SL_SCHEDULE_INTERLEAVED_1F1B, 4, 6); /* 24 pairs of a micro-batch */
    CU_ASSERT_TRUE(sl_ring_runs(&plan, 12) && 12 * 24 <= SL_RING_PAIRS_MAX);
    CU_ASSERT_FALSE(sl_ring_runs(&plan, 16) || 16 * 24 <= SL_RING_PAIRS_MAX);
    plan = sl_pipeline_plan(SL_SCHEDULE_1F1B, 4, 1);
    CU_ASSERT_FALSE(sl_ring_runs(&plan, 4));
    plan = sl_pipeline_plan(SL_SCHEDULE_ZB_V, 4, 2);
    CU_ASSERT_FALSE(sl_ring_runs(&plan, 4));
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(a_few_rounds_are_run_exactly_and_more_go_on_like_the_last),
        SL_CASE(other_orders_and_longer_ones_are_not_run),
    };

    return sl_run_cases(argc, argv, "ring", cases, sizeof cases / sizeof cases[0]);
}
