/** Products in 8 and 4 bits: what their operands take beside the 16-bit tensors they are made
 * of. */
#ifndef SL_ENGINE_LOW_PRECISION_H
#define SL_ENGINE_LOW_PRECISION_H

#include "shardline/plan.h"

/**
 * Bytes of one quantised value, scales included.
 *   one scale a tensor or a row   1
 *   an fp32 one for 128 (block)   1 + 4 / 128
 *   MXFP8, 1 byte for 32          1 + 1 / 32
 *   NVFP4, 1 byte for 16          1/2 + 1 / 16
 * Source: TransformerEngine docs, features/low_precision_training.
 */
double sl_low_value_bytes(const sl_workload *workload);

/**
 * The same of a weight, whose blocks are square: one scale for 128 x 128, 1 + 4 / 16384.
 * Source: TransformerEngine common/recipe (Float8BlockScaling.w_block_scaling_dim, 2 by default).
 */
double sl_low_weight_value_bytes(const sl_workload *workload);

/**
 * Whether weights and inputs of linear layers are kept quantised: TransformerEngine, under
 * Megatron, does, a weight once a step and an input until backward. torchao, under FSDP, casts both
 * again in backward: torchtitan's peak under MXFP8 is that of bf16 within 3 %.
 * Source: TransformerEngine pytorch/module/linear.py; torchtitan docs of NVFP4, table of peaks.
 */
bool sl_low_keeps_operands(const sl_workload *workload);

/** Whether one scale holds for a whole tensor, which then may be transposed as it is. */
bool sl_low_has_one_scale(const sl_workload *workload);

/**
 * Quantised bytes of a linear layer's weight beside the parameter itself.
 *
 *   sl_low_weight_value_bytes * (orientations - primary)
 *
 * orientations  one for forward and one, transposed, for the gradient of the input; one alone where
 *               a scale holds for the whole tensor and the part multiplies any layout
 *               (Blackwell's parts for data centres), or where the other is made when it is needed
 *               (Megatron's disable_parameter_transpose_cache)
 * primary       1 where the parameter itself is one of them
 * 0 where operands are not kept. Source: TransformerEngine docs, handling transposes.
 */
double sl_low_weight_bytes(const sl_workload *workload, const sl_accelerator *part);

/**
 * Bytes of one value of attention's output that it keeps for backward: where it multiplies in 8 bits
 * under delayed scaling 1, under other recipes in 16 bits as without (NVTE_DPA_FP8CS_O_in_F16).
 * Queries, keys and values are kept in 1 then. Source: TransformerEngine
 * dot_product_attention/backends.py (FusedAttnFunc), with its backward in 8 bits (NVTE_FP8_DPA_BWD).
 */
double sl_low_attention_bytes(const sl_workload *workload);

/** Bytes of one weight that each backward writes transposed; 0 where none does. */
double sl_low_transposed_bytes(const sl_workload *workload, const sl_accelerator *part);

#endif
