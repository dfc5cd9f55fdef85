/**
 * Pipelines in closed form: which layers a rank holds, how many micro-batches it keeps alive, how
 * long a step spans.
 */
#ifndef SL_ENGINE_SCHEDULE_H
#define SL_ENGINE_SCHEDULE_H

#include "shardline/plan.h"

/** Layers of each kind that a pipeline rank holds, all its chunks together. */
typedef struct sl_stage {
    uint32_t layers[SL_KINDS_MAX]; /* as many as the model has kinds */
    uint32_t blocks;               /* of them, neither embedding nor head */
    bool first;                    /* holds the first layer, an embedding where there is one */
    bool last;                     /* holds the last layer, a head where there is one */
} sl_stage;

/** The schedule that goes with so many chunks, the plan's own where it does. */
sl_schedule sl_schedule_of(const sl_plan *plan);

/** How the layers are cut into pipeline * virtual_pipeline chunks. */
typedef enum sl_split {
    SL_SPLIT_NONE,   /* not at all: there are fewer layers than chunks */
    SL_SPLIT_GIVEN,  /* as the plan's layout says */
    SL_SPLIT_BLOCKS, /* blocks divide: embedding and head come on top of the first and last chunk */
    SL_SPLIT_LAYERS, /* blocks + 2 divide: embedding and head count as a layer each
                        (account_for_embedding_in_pipeline_split, account_for_loss_...) */
    SL_SPLIT_UNEVEN  /* neither: the same count, and the first chunks hold one more each, as
                        torchtitan's generate_llm_fqn_per_model_part does */
} sl_split;

sl_split sl_schedule_split(const sl_model *model, const sl_plan *plan);

/** What pipeline rank `rank` holds; chunk c is on rank c mod p. The split must not be NONE. */
void sl_schedule_stage(const sl_model *model, const sl_plan *plan, uint32_t rank, sl_stage *out);

/** First layer of a chunk in the model's list; that of the chunk after the last is the list's end.
 * Chunk c is on rank c mod p. */
uint32_t sl_schedule_chunk_begin(const sl_model *model, const sl_plan *plan, uint32_t chunk);

/** The kind whose output leaves a chunk. */
uint32_t sl_schedule_last_kind(const sl_model *model, const sl_plan *plan, uint32_t chunk);

/** Kinds that are neither the embedding's nor the head's. */
bool sl_schedule_is_block(const sl_model *model, uint32_t kind);

/**
 * Chunks whose activations pipeline rank r keeps alive at most [count].
 *   naive        1
 *   GPipe        m
 *   1F1B         min(m, p - r)
 *   interleaved  min(m v, 2 (p - r - 1) + (v - 1) p + 1)
 * Source: Huang 2019 (GPipe); Narayanan 2021; Megatron-LM schedules.py. Divide by v for micro-batches.
 */
uint64_t sl_schedule_chunks_in_flight(const sl_plan *plan, uint64_t microbatches, uint32_t rank);

typedef struct sl_span {
    double span_s;     /* first forward to last backward */
    double bubble_s;   /* of it, when the slowest rank has nothing to do */
    double sum_s;      /* busy seconds of one micro-batch, all ranks */
    double idle_ratio; /* idle share of all ranks over the span */
    uint32_t slowest;
} sl_span;

/**
 * busy_s[r]: forward and backward of one micro-batch on rank r, all chunks [s].
 *   span = m * max_r busy + (sum_r busy - max_r busy) / v
 * and for the naive schedule m * sum_r busy. With equal stages the bubble is (p - 1)(F + B) / v, of
 * GPipe too, and m (p - 1)(F + B) of the naive one. Source: Narayanan 2021 section 2.2; uneven
 * stages derived: fill and drain pass every other stage once, the slowest sets the steady state.
 */
sl_span sl_schedule_span(const sl_plan *plan, uint64_t microbatches,
                         const double busy_s[SL_PIPELINE_MAX]);

#endif
