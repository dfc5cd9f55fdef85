/**
 * Pipelines in closed form: which layers a rank holds, how many micro-batches it keeps alive, how
 * long a step spans.
 */
#ifndef SL_ENGINE_SCHEDULE_H
#define SL_ENGINE_SCHEDULE_H

#include <assert.h>

#include "shardline/plan.h"

/** Layers of each kind that a pipeline rank's device holds, all its chunks together. */
typedef struct sl_stage {
    uint16_t layers[SL_KINDS_MAX]; /* as many as the model has kinds */
    uint32_t blocks;               /* of them, neither embedding nor head */
    bool first;                    /* holds the first layer, an embedding where there is one */
    bool last;                     /* holds the last layer, a head where there is one */
} sl_stage;

/**
 * Which rank holds which chunk. The model is cut into p v chunks, in its order:
 *   most      chunk c on rank c mod p
 *   ZB-V      v = 2: chunk c on rank c going, on 2p - 1 - c coming back
 *   DualPipe  v = 1, two copies of the model: chunk c on rank c, of the other copy on p - 1 - c
 * Source: Narayanan 2021; Qi 2023 section 6 (arXiv 2401.10241); deepseek-ai/DualPipe README.
 */
uint32_t sl_schedule_rank(const sl_plan *plan, uint32_t chunk, uint32_t copy);

/** The same the other way round: the `index`th chunk, below sl_schedule_held, of a rank. */
uint32_t sl_schedule_chunk(const sl_plan *plan, uint32_t rank, uint32_t index);

/** Chunks of the model, and whole copies of it in one pipeline. */
uint32_t sl_schedule_chunks(const sl_plan *plan);
uint32_t sl_schedule_copies(const sl_plan *plan);

/** Chunks that a rank holds, all copies together. */
uint32_t sl_schedule_held(const sl_plan *plan);

/** Some of the chunks that a rank holds, by the index of sl_schedule_chunk. */
typedef struct sl_held {
    uint32_t rank;
    uint32_t first, count;
} sl_held;

sl_held sl_schedule_all_held(const sl_plan *plan, uint32_t rank);

/** The `index`th chunk, below sl_schedule_held, whose output passes from one of the ranks `rank`
 * and rank + 1 to the other. */
uint32_t sl_schedule_crossing(const sl_plan *plan, uint32_t rank, uint32_t index);

/** In how many directions outputs pass between two ranks. */
uint32_t sl_schedule_directions(const sl_plan *plan);

/** Whether the first and the last layer are on different ranks, so that what they share is stored
 * twice. Both ranks at the ends of a DualPipe hold both layers, each of another copy. */
bool sl_schedule_ends_apart(const sl_plan *plan);

/** Whether gradients of weights may be computed apart from those of inputs, and later. */
static inline bool
sl_schedule_splits_backward(const sl_plan *plan)
{
    return plan->schedule >= SL_SCHEDULE_ZB_H1;
}

/** Whether every micro-batch of a step is alive before the first runs backward. One stage has no
 * other to wait for: there GPipe runs a micro-batch forward and backward like any schedule. */
static inline bool
sl_schedule_holds_all(const sl_plan *plan)
{
    return plan->schedule == SL_SCHEDULE_GPIPE && plan->pipeline > 1;
}

/** The schedule that goes with so many chunks, the plan's own where it does. */
sl_schedule sl_schedule_of(const sl_plan *plan);

/** Whether forwards run beside backwards and take their place block by block, as overlap_experts has
 * it of one stage, of 1F1B and of interleaved. DualPipe's pairs each hold their own. */
static inline bool
sl_schedule_trades_places(const sl_plan *plan)
{
    const sl_schedule schedule = sl_schedule_of(plan);

    return plan->overlap_experts && (plan->pipeline == 1 || schedule == SL_SCHEDULE_1F1B ||
                                     schedule == SL_SCHEDULE_INTERLEAVED_1F1B);
}

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

/** Whether all blocks of the model are of one kind. */
bool sl_schedule_blocks_alike(const sl_model *model);

/** A list of layers cut into chunks, the first `over` of which hold one more than the others. */
typedef struct sl_chunking {
    sl_split split;
    uint32_t chunks, layers;
    bool alike;     /* all blocks are of one kind */
    bool given;     /* by the plan: then `before`, else `each` and `over` say where chunks begin */
    uint32_t ends;  /* layers at each end of the model that are no block */
    uint32_t ahead; /* layers before the first block */
    uint32_t each, over;
    uint16_t before[SL_LAYOUT_CHUNKS_MAX + 1]; /* blocks before each chunk, and in all */
} sl_chunking;

sl_chunking sl_schedule_cut(const sl_model *model, const sl_plan *plan);

/** First layer of a chunk in the model's list; that of the chunk after the last is the list's end.
 * The split must not be NONE. */
static inline uint32_t
sl_schedule_begin(const sl_chunking *cut, uint32_t chunk)
{
    assert(cut->split != SL_SPLIT_NONE && chunk <= cut->chunks);
    if (chunk == 0 || chunk == cut->chunks)
        return chunk == 0 ? 0 : cut->layers;
    if (cut->given)
        return cut->ahead + cut->before[chunk];
    return cut->ahead + chunk * cut->each + (chunk < cut->over ? chunk : cut->over);
}

/** What pipeline rank `rank` holds but for blocks of its host. The split must not be NONE. */
void sl_schedule_stage(const sl_model *model, const sl_plan *plan, const sl_chunking *cut,
                       uint32_t rank, sl_stage *out);

/** The same of some of its chunks. */
void sl_schedule_part(const sl_model *model, const sl_plan *plan, const sl_chunking *cut,
                      const sl_held *held, sl_stage *out);

/** Whether pipeline rank `rank` > 0 holds the same kinds in the same order as the one before it,
 * neither of them an end of the model nor any on the host. */
bool sl_schedule_repeats(const sl_model *model, const sl_plan *plan, const sl_chunking *cut,
                         uint32_t rank);

/** The same of a chunk > 0 and the one before it. */
bool sl_schedule_chunk_repeats(const sl_model *model, const sl_plan *plan, const sl_chunking *cut,
                               uint32_t chunk);

/** sl_schedule_begin, for those who ask once. */
uint32_t sl_schedule_chunk_begin(const sl_model *model, const sl_plan *plan, uint32_t chunk);

/** Blocks of a chunk: neither embedding nor head. */
static inline uint32_t
sl_schedule_chunk_blocks(const sl_chunking *cut, uint32_t chunk)
{
    const uint32_t ends = (chunk == 0 ? cut->ends : 0) + (chunk + 1 == cut->chunks ? cut->ends : 0);

    assert(chunk < cut->chunks);
    return sl_schedule_begin(cut, chunk + 1) - sl_schedule_begin(cut, chunk) - ends;
}

/** The kind whose output leaves a chunk. */
uint32_t sl_schedule_last_kind(const sl_model *model, const sl_plan *plan, uint32_t chunk);

/** Kinds that are neither the embedding's nor the head's. */
static inline bool
sl_schedule_is_block(const sl_model *model, uint32_t kind)
{
    return model->layer_count == model->block_count ||
           (kind != model->layers[0] && kind != model->layers[model->layer_count - 1]);
}

/** Micro-batches alive at most on one rank; a part of its chunks counts as a part of one. */
typedef struct sl_in_flight {
    double whole;    /* with all that forward kept */
    double deferred; /* beside them, with only what their gradients of weights wait for */
    double turning;  /* of the whole ones, those that come down to that before others are let go */
} sl_in_flight;

/**
 * What pipeline rank r keeps alive [micro-batches], none more often than there are: m.
 *                whole                                deferred
 *   naive        1 / v                                0
 *   GPipe        m                                    0
 *   1F1B         p - r                                0
 *   interleaved  (2 (p - r - 1) + (v - 1) p + 1) / v  0
 *   ZB-H1        p - r                                r: p of both on every rank, one turning
 *   ZB-H2        2 (p - r) - 1                        2 r: 2p - 1 of both, one turning
 *   ZB-V         p on every rank, all of them turning
 *   DualPipe     p + 1 stages: (p + 1) / 2 of both its stages, of which (1 + min(r, p - 1 - r)) / 2
 *                turning
 * With overlap_experts 1F1B and interleaved run one chunk further ahead, and hold as much: its
 * forward comes block by block as the backward beside it goes (sl_rank_phase has the block that is
 * there twice). ZB-V and DualPipe count a micro-batch whole until its weights' gradients are done.
 * Source: Huang 2019 (GPipe); Narayanan 2021; Megatron-LM schedules.py and combined_1f1b.py with
 * model_chunk_schedule_plan.py (get_layer, pop_layer, release_state); Qi 2023, sections 2 and 6
 * (arXiv 2401.10241); deepseek-ai/DualPipe README and dualpipe.py.
 */
sl_in_flight sl_schedule_in_flight(const sl_plan *plan, uint64_t microbatches, uint32_t rank);

/** Whether all chunks of the model hold the same blocks, so that a mean over those of a rank is
 * each of them. */
static inline bool
sl_schedule_chunks_alike(const sl_chunking *cut)
{
    return cut->split == SL_SPLIT_BLOCKS && cut->alike;
}

/** Whether no rank keeps more of anything alive than the one before it, and as much turning. */
bool sl_schedule_in_flight_falls(const sl_plan *plan);

/** One pass through one chunk of a rank [s], by the symbols of the papers F, I and W. */
typedef struct sl_chunk_pass {
    double forward_s;
    double
        input_s; /* gradients of inputs, or all of backward where the schedule does not split it */
    double weight_s; /* gradients of weights */
} sl_chunk_pass;

/** One micro-batch on one rank, all its chunks [s]. */
typedef struct sl_busy {
    double all_s;      /* forward and backward, with what neither hides */
    double backward_s; /* of it, backward, with what is recomputed for it */
    double weight_s;   /* of that, gradients of weights that may wait */
    /* Of forward and backward, what they wait for parameters and gradients that travel with each
     * micro-batch. */
    double gathers_s, reduces_s;
    sl_chunk_pass skew; /* of two chunks, how much longer the second takes than the first */
} sl_busy;

typedef struct sl_pipeline_span {
    double span_s;     /* first forward to last backward */
    double bubble_s;   /* of it, when the slowest rank has nothing to do */
    double sum_s;      /* busy seconds of one micro-batch, all ranks */
    double idle_ratio; /* idle share of all ranks over the span */
    uint32_t slowest;
} sl_pipeline_span;

/**
 * Span of a step, and bubble = span - m max_r busy, never below 0. F, B, I and W: a pass of one
 * rank through one of its v chunks, forward, backward, and of that gradients of inputs and of
 * weights; D_r the sum of F + I over the ranks after r, what a micro-batch takes there and back.
 *
 *   naive        m times the sum over the ranks of F + B
 *   GPipe        sum of F + B, and (m - 1) (max F + max B)
 *   1F1B, ZB-H1, ZB-H2: the longest path, with a = p - r - 1 passes ahead (ZB-H2 twice as many) and
 *       weights b = r backwards behind (ZB-H2 2r; 1F1B: W = 0, I = B), of which e = m - 1 - a
 *       backwards, at least 0, come before the last forward. That ends at
 *         f_r = max(f_(r-1) + F,
 *                   sum before r of F + m F + e I + max(0, e - b) W + max(0, D_r - a F))
 *       and the last gradient of inputs at
 *         g_r = max(f_r + (m - e) I + max(0, m - 1 - max(e, b)) W, g_(r+1) + I)
 *       or, where e = 0, at the first backward's begin and m I and max(0, m - 1 - b) W. The span is
 *         max_r g_r + (min(b, m - 1) + 1) W, with ZB-H2 less the sum before r of F;
 *       below 4 p micro-batches g_r of ZB-H2 and, of passes through all chunks, of interleaved is
 *       also what a later rank j leaves of it: from j's first backward on, ahead of which it fills
 *       up behind the slowest forward, or from its last forward on, gradients go from j to r, which
 *       has the rest
 *   interleaved  the largest of sum before r of F + B, and m v (F + B) + max(0, D_r - 2 a F) +
 *       max(0, D_r - 2 a B) + max(0, (v - 2) p max F + sum F - (v - 1) p F) and the same of B;
 *       where all forwards come first max(m v F + ((v - 1) p + 1) B, the same the other way round)
 *       + D_r
 *   DualPipe     the longest path through its eight phases (schedule_dualpipe.c); of equal stages,
 *                with
 *       n = p / 2 - 1, a bubble of max(2n F, (n - 1) F + n I) + n max(0, I - W)
 *   ZB-V         m max busy + half the larger of, for passes of the mean rank through both chunks,
 *       (p - 1)(I - F + max(0, F + I - 2W)) - W, or with I < F
 *       (p - 1) max(0, 2F - W - min(W, I)) - W
 *       max(0, 2p - 1 - m) F + max(0, 2 (p - 1) I - (m - 1)(F + B) - W)      few micro-batches
 *       these two less p times what the slowest rank is behind the mean;
 *       at least what a rank has left from the first gradient on, when all have filled up
 *
 * With equal stages and enough micro-batches the bubbles are (p - 1)(F + B), over v where
 * interleaved, (p - 1)(F + B - 2W), (p - 1)(F + B - 3W) and, with F = I = W, (p / 2 - 1)(F + B + B
 * - 3W). ZB-H2's and ZB-V's are spans of a rank of its own: the optimizer must not wait for all
 * ranks (post-validation). Source: Narayanan 2021 section 2.2; Qi 2023 table 1 (arXiv 2401.10241);
 * deepseek-ai/DualPipe README; paths derived. Held against steps simulated
 * (engine/schedule/pipeline.h): balanced exact but for ZB-V, which is published for equal passes
 * alone (0.1 % on average, 1.7 % at most). Of 3,000 steps each with passes that differ by up to a
 * fifth either way, on average 0.0 % for GPipe, 1F1B and ZB-H2, 0.1 % for DualPipe, ZB-H1 and
 * interleaved, 0.6 % for ZB-V; at most 1.1 % for DualPipe, 1.5 % for ZB-H1, 3 % for ZB-H2 and
 * interleaved and 3.7 % for ZB-V, with fewer than 2p - 1 micro-batches 6.1 %. Interleaved chunks of
 * one rank count as equal: with a head in the last a span is up to 0.8 % too short, with chunks
 * that differ by a fifth up to 8 %; of few passes the order is run (schedule_ring.h).
 */
sl_pipeline_span sl_schedule_span(const sl_plan *plan, uint64_t microbatches,
                                  const sl_busy busy[SL_PIPELINE_MAX]);

/** Whether no rank waits for all others before its optimizer (post-validation, Qi 2023 section 4):
 * steps of ranks then follow one another, each on its own. */
static inline bool
sl_schedule_steps_alone(const sl_plan *plan)
{
    return plan->pipeline > 1 &&
           (plan->schedule == SL_SCHEDULE_ZB_H2 || plan->schedule == SL_SCHEDULE_ZB_V);
}

/** What each of such ranks takes from its first pass to its last, the longest of them span_s; of
 * ZB-V, less of each the later it is in the pipeline by a pass of those before it and as long as it
 * is not busy longer. */
void sl_schedule_own_spans(const sl_plan *plan, uint64_t microbatches,
                           const sl_busy busy[SL_PIPELINE_MAX], double span_s,
                           double own_s[SL_PIPELINE_MAX]);

/** How much later the rank before ends its last backward [s], to which it sends for send_s: that and
 * backward / v, or with ZB-H1 backward less twice the weights' gradients; the other split schedules
 * fill the drain. */
double sl_schedule_drain_s(const sl_plan *plan, const sl_busy *busy, double send_s);

/** How much later the rank after begins its first forward [s]: one pass through a chunk and a send;
 * 0 where it does not wait for that alone (DualPipe), or where steps follow one another without
 * waiting for all ranks. */
double sl_schedule_fill_s(const sl_plan *plan, double forward_s, double send_s);

/** Boundaries that the first micro-batch passes while a rank waits for it: p - 1, and p / 2 - 1
 * where they enter at both ends. */
double sl_schedule_fill_boundaries(const sl_plan *plan);

#endif
