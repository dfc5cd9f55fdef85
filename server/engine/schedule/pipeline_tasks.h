/** A pipeline's step as tasks that wait for each other. */
#ifndef SL_ENGINE_PIPELINE_TASKS_H
#define SL_ENGINE_PIPELINE_TASKS_H

#include "engine/schedule/pipeline.h"

/** Where the scratch memory of a pipeline is cut. Counts are the most there can be. */
typedef struct sl_pipeline_parts {
    uint64_t passes, others, waits;
    uint32_t lanes;
    /* What the tasks are, each in bytes from the start. */
    size_t pass, seconds, lane_first, wait_first, wait, origin, kind, to, lane;
    /* What is needed to lay them. */
    size_t where, sent, beside, first, last, rest, planned, order;
    /* What is needed to run them, in the same place. */
    size_t start, end, simulation;
    size_t bytes; /* UINT64_MAX as in sl_pipeline_size */
} sl_pipeline_parts;

sl_pipeline_parts sl_pipeline_parts_of(const sl_plan *plan, uint64_t microbatches);

/** Lanes on which parameters and gradients travel share links with what ranks send over the same
 * stream. False where there is nothing of one of the two. */
bool sl_pipeline_shares(const sl_pipeline_run *run, const sl_pipeline_parts *parts, void *scratch,
                        sl_sharing *out);

/** The order of ZB-V by what its chunks take. `seconds` takes as many as there are chunks, `scratch`
 * sl_order_v_bytes. */
void sl_pipeline_write_v(const sl_plan *plan, uint64_t microbatches, const sl_chunk_cost *chunks,
                         sl_work_seconds *seconds, void *scratch, sl_work *out);

/** Cuts every rank's order into tasks and says what each waits for. `run` then lacks times. */
void sl_pipeline_lay(const sl_pipeline *pipeline, const sl_pipeline_parts *parts, void *scratch,
                     sl_pipeline_run *run);

#endif
