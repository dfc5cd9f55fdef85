/** Bytes of every distinct rank, by term, at its peak. */
#ifndef SL_ENGINE_MEMORY_H
#define SL_ENGINE_MEMORY_H

#include "engine/price.h"
#include "engine/schedule.h"
#include "shardline/estimate.h"

/**
 * Bytes per parameter of framework, precision and optimizer, with the workload's overrides applied.
 *   Megatron bf16  2 + 4 + 4 + 8;  fp16  2 + 2 + 4 + 12 (fp32 gradient copy);  fp32  4 + 4 + 0 + 8
 *   DDP under autocast  4 + 4 + 0 + 8, and 2 for the cached 16-bit weights
 * for AdamW; SGD has no states, with momentum 4. Source: Megatron-LM docs dist_optimizer.md;
 * PyTorch AMP.
 */
sl_layout sl_memory_layout(const sl_workload *workload);

/** Over how many ranks optimizer states and master weights are divided: 1 without a sharded
 * optimizer. */
double sl_memory_shard(const sl_plan *plan);

/** Parameters a pipeline rank holds [count]. */
double sl_memory_stage_elements(const sl_model *model, const sl_kind_price *prices,
                                const sl_stage *stage);

typedef struct sl_memory_case {
    const sl_question *question;
    const sl_workload *workload;
    const sl_plan *plan;
    const sl_software *software;
    const sl_slice *slice;
    const sl_kind_price *prices;
} sl_memory_case;

/** Widest output of one micro-batch that pipeline rank `rank`, not the last, passes on to the next,
 * whole [bytes]. */
double sl_memory_sent_bytes(const sl_memory_case *c, uint32_t rank);

/**
 * Peak of every pipeline rank; ranks with equal bytes are one entry. The peak is the larger of
 * two phases, never a sum of their maxima: the head (activations in flight, logits, the head's
 * gradients) and the backward of a block (activations, the recomputed block, its widest
 * gradient). The optimizer's step, without activations, is below both. False when a rank would
 * need more than 2^53 bytes, which no figure here could hold; *out is then good for nothing.
 */
bool sl_memory_evaluate(const sl_memory_case *c, sl_memory *out) SL_MUST_CHECK;

#endif
