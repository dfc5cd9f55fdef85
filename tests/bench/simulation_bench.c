/*
 * What a simulated step costs, orders and tasks included, and how that grows with micro-batches.
 * Build the release preset and run build/release/tests/bench/simulation_bench.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "engine/schedule/pipeline.h"

enum { ROUNDS = 15, STAGES = 64, HELD_MAX = 4 };

static sl_chunk_cost costs[STAGES * HELD_MAX];
static sl_pipeline_run run;

/* Stages that differ a little, sends of a tenth of a forward. */
static void
set_costs(void)
{
    for (uint32_t i = 0; i < STAGES * HELD_MAX; i++) {
        const double factor = 1.0 + 0.01 * (i % 7);
        costs[i] = (sl_chunk_cost){.work = {factor, factor, 0.8 * factor},
                                   .send_s = 0.1,
                                   .gather_s = 1.0,
                                   .reduce_s = 1.0,
                                   .kept_bytes = 1 << 20,
                                   .deferred_bytes = 1 << 19};
    }
}

static void
measure(const char *name, sl_schedule schedule, uint32_t chunks, uint64_t batches)
{
    const sl_plan plan = {.pipeline = STAGES, .virtual_pipeline = chunks, .schedule = schedule};
    const sl_pipeline pipeline = {
        .plan = &plan, .microbatches = batches, .chunks = costs, .overlaps_sends = true};
    const sl_pipeline_size size = sl_pipeline_measure(&plan, batches);
    double first_s = 0.0;
    double best_s = 1e9;
    void *scratch = malloc(size.bytes);

    if (scratch == NULL)
        exit(EXIT_FAILURE);
    for (int i = 0; i < ROUNDS; i++) {
        const double start_s = sl_clock_now_s();
        if (!sl_pipeline_simulate(&pipeline, scratch, &run))
            exit(EXIT_FAILURE);
        const double taken_s = sl_clock_now_s() - start_s;
        if (i == 0)
            first_s = taken_s;
        if (taken_s < best_s)
            best_s = taken_s;
    }
    free(scratch);
    printf("%-16s x %5llu  %8u tasks %7.1f MB  first %7.2f ms, best %7.2f ms, %5.1f ns a task\n",
           name, (unsigned long long)batches, run.task_count, (double)size.bytes / 1e6,
           1e3 * first_s, 1e3 * best_s, 1e9 * best_s / run.task_count);
}

int
main(void)
{
    set_costs();
    measure("1f1b", SL_SCHEDULE_1F1B, 1, 512);
    measure("interleaved v=4", SL_SCHEDULE_INTERLEAVED_1F1B, 4, 512);
    measure("zb_h1", SL_SCHEDULE_ZB_H1, 1, 512);
    measure("zb_h2", SL_SCHEDULE_ZB_H2, 1, 512);
    measure("zb_v", SL_SCHEDULE_ZB_V, 2, 512);
    measure("dualpipe", SL_SCHEDULE_DUALPIPE, 1, 512);
    measure("gpipe", SL_SCHEDULE_GPIPE, 1, 512);
    for (uint64_t batches = 64; batches <= 16384; batches *= 2)
        measure("1f1b", SL_SCHEDULE_1F1B, 1, batches);
    return EXIT_SUCCESS;
}
