/** Pipelines of plain costs, simulated, for tests. */
#ifndef SL_TESTS_PIPELINE_FIXTURE_H
#define SL_TESTS_PIPELINE_FIXTURE_H

#include "engine/schedule/pipeline.h"

enum {
    SL_PIPELINE_RANKS_MAX = 12,
    SL_PIPELINE_CHUNKS_MAX = 6, /* of one rank */
    SL_PIPELINE_BATCHES_MAX = 40
};

/** What the next run takes, and the last one: readable until the next. */
extern sl_chunk_cost sl_pipeline_costs[SL_PIPELINE_RANKS_MAX * SL_PIPELINE_CHUNKS_MAX];
extern sl_pipeline_run sl_pipeline_last;

sl_plan sl_pipeline_plan(sl_schedule schedule, uint32_t ranks, uint32_t chunks);

/** The same for every chunk; one unit of memory each, of which gradients of weights wait for
 * all. */
void sl_pipeline_set_costs(const sl_plan *plan, double forward_s, double input_s, double weight_s);

sl_pipeline sl_pipeline_of(const sl_plan *plan, uint64_t batches);

bool sl_pipeline_run_once(const sl_pipeline *pipeline);

/** Runs one of these costs, and says what it takes. */
double sl_pipeline_step_s(const sl_plan *plan, uint64_t batches);

/** The longest any rank has nothing to do between its own first and last pass. */
double sl_pipeline_longest_idle_s(void);

/** Seeded. */
double sl_pipeline_draw(double least, double most);
uint32_t sl_pipeline_draw_count(uint32_t least, uint32_t most);

#endif
