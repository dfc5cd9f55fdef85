#include "pipeline_fixture.h"

#include <math.h>
#include <stdlib.h>

#include "harness.h"

sl_chunk_cost sl_pipeline_costs[SL_PIPELINE_RANKS_MAX * SL_PIPELINE_CHUNKS_MAX];
sl_pipeline_run sl_pipeline_last;

static void *scratch; /* of the last run */

sl_plan
sl_pipeline_plan(sl_schedule schedule, uint32_t ranks, uint32_t chunks)
{
    return (sl_plan){.pipeline = ranks, .virtual_pipeline = chunks, .schedule = schedule};
}

void
sl_pipeline_set_costs(const sl_plan *plan, double forward_s, double input_s, double weight_s)
{
    for (uint32_t i = 0; i < plan->pipeline * sl_schedule_held(plan); i++)
        sl_pipeline_costs[i] = (sl_chunk_cost){
            .work = {forward_s, input_s, weight_s}, .kept_bytes = 1, .deferred_bytes = 1};
}

sl_pipeline
sl_pipeline_of(const sl_plan *plan, uint64_t batches)
{
    return (sl_pipeline){
        .plan = plan, .microbatches = batches, .chunks = sl_pipeline_costs, .overlaps_sends = true};
}

bool
sl_pipeline_run_once(const sl_pipeline *pipeline)
{
    const sl_pipeline_size size = sl_pipeline_measure(pipeline->plan, pipeline->microbatches);

    free(scratch);
    scratch = malloc(size.bytes);
    CU_ASSERT_PTR_NOT_NULL_FATAL(scratch);
    const bool ended = sl_pipeline_simulate(pipeline, scratch, &sl_pipeline_last);
    CU_ASSERT_TRUE(sl_pipeline_last.task_count <= size.tasks);
    return ended;
}

double
sl_pipeline_step_s(const sl_plan *plan, uint64_t batches)
{
    static sl_pipeline pipeline; /* the run refers to it */

    pipeline = sl_pipeline_of(plan, batches);
    CU_ASSERT_TRUE_FATAL(sl_pipeline_run_once(&pipeline));
    return sl_pipeline_last.step_s;
}

double
sl_pipeline_longest_idle_s(void)
{
    double idle_s = 0.0;

    for (uint32_t r = 0; r < sl_pipeline_last.of->plan->pipeline; r++)
        idle_s = fmax(idle_s, sl_pipeline_last.ranks[r].end_s - sl_pipeline_last.ranks[r].begin_s -
                                  sl_pipeline_last.ranks[r].busy_s);
    return idle_s;
}

static uint64_t state = 20240229;

double
sl_pipeline_draw(double least, double most)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return least + (most - least) * (double)(state >> 11) / 9007199254740992.0;
}

uint32_t
sl_pipeline_draw_count(uint32_t least, uint32_t most)
{
    return least + (uint32_t)sl_pipeline_draw(0.0, most - least + 1.0);
}
