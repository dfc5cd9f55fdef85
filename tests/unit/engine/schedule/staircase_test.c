/* What simulated stages keep alive, beside what memory is said to be kept: of every schedule, in
 * any layout, with or without a straggler. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drawn_question.h"
#include "engine/check/check.h"
#include "engine/schedule/schedule.h"
#include "engine_fixture.h"
#include "harness.h"
#include "shardline/timeline.h"

enum { DRAWS = 12000, RANKS_MIN = 30 };

static sl_drawn drawn;
static sl_estimate answer, scratch;
static sl_timeline timeline;
static uint64_t number; /* of the draw at hand, for whoever reads a failure */
static uint32_t compared[SL_SCHEDULE_COUNT];

/* Into `timeline`, *space being the caller's; false where the plan has none. */
static bool
simulate(void **space)
{
    static double slowness[SL_PIPELINE_MAX];
    const sl_question *q = &drawn.question;
    sl_errors err = {0};
    size_t bytes = 0;

    if (q->plan.pipeline == 1 || q->workload.offload.activations ||
        sl_question_check(q, &err) != SL_OK ||
        sl_estimate_answer(q, &scratch, &answer, &err) != SL_OK ||
        sl_timeline_size(q, &answer, &bytes, &err) != SL_OK)
        return false;
    for (uint32_t i = 0; i < SL_PIPELINE_MAX; i++)
        slowness[i] = i == number % q->plan.pipeline ? 1.0 + (double)(number % 5) / 2.0 : 1.0;
    *space = malloc(bytes);
    CU_ASSERT_PTR_NOT_NULL_FATAL(*space);
    sl_timeline_simulate(q, &answer, slowness, NULL, *space, &timeline);
    return true;
}

/* What is said to be kept is what is, each in whole bytes. */
static void
expect_kept(const sl_rank_memory *rank, double peak)
{
    const sl_plan *plan = &answer.plan;
    const double m = (double)sl_plan_microbatches(&answer.workload, plan);
    const double kept = sl_fixture_bytes(rank, SL_TERM_ACTIVATIONS) +
                        sl_fixture_bytes(rank, SL_TERM_WEIGHT_OPERANDS);
    const double rounded = 2.0 * m * sl_schedule_held(plan) + 1e-9 * peak; /* up, each by itself */

    if (fabs(kept - peak) > rounded) {
        printf("  draw %llu, schedule %d, stage %u: %.9g kept, %.9g alive\n",
               (unsigned long long)number, (int)plan->schedule, rank->first_stage, kept, peak);
        CU_FAIL("a staircase ends elsewhere");
    }
    compared[plan->schedule]++;
}

static void
every_staircase_ends_where_the_memory_estimate_does(void)
{
    sl_draw_models();
    for (number = 0; number < DRAWS; number++) {
        void *space = NULL;
        sl_draw_question(number, &drawn);
        if (!simulate(&space))
            continue;
        for (uint32_t i = 0; i < answer.memory.rank_count; i++) {
            const sl_rank_memory *rank = &answer.memory.ranks[i];
            uint64_t peak = 0;
            /* Elsewhere most is there when the optimizer runs. */
            if (strcmp(rank->phase, "backward") != 0 && strcmp(rank->phase, "head") != 0)
                continue;
            for (uint32_t s = 0; s < rank->stage_count; s++)
                if (timeline.stages[rank->first_stage + s].peak_bytes > peak)
                    peak = timeline.stages[rank->first_stage + s].peak_bytes;
            expect_kept(rank, (double)peak);
        }
        free(space);
    }
    for (uint32_t i = 0; i < SL_SCHEDULE_COUNT; i++)
        CU_ASSERT_TRUE(compared[i] >= RANKS_MIN);
    sl_draw_clear();
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(every_staircase_ends_where_the_memory_estimate_does),
    };

    return sl_run_cases(argc, argv, "staircase", cases, sizeof cases / sizeof cases[0]);
}
