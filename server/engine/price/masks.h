/** deepspeed.moe's own layer: tokens reach their experts, and what these gave comes back, by products
 * with masks of tokens x experts x capacity. */
#ifndef SL_ENGINE_MASKS_H
#define SL_ENGINE_MASKS_H

#include "engine/price/kernel.h"

/**
 * Values of such a mask for one micro-batch on a rank, 0 where there is none:
 *   tokens x (experts x capacity),  experts x capacity = tokens x visits x capacity_factor
 * DeepSpeed's layer has them where experts are padded to a capacity, without Tutel; what overflows
 * is dropped, so that experts work on as many rows in any case.
 * Source: DeepSpeed moe/sharded_moe.py (top1gating, top2gating, topkgating, MOELayer.forward).
 */
double sl_masks_values(const sl_slice *slice, const sl_operator *op);

/**
 * What autograd keeps of them for backward [bytes]: both masks in the type of the tokens, and where
 * in its expert's rows each token is, one-hot in fp32, for every visit but of more than two for
 * every expert. What experts gave is kept as eager code keeps it in any case.
 */
double sl_masks_kept_bytes(const sl_slice *slice, const sl_operator *op);

/** The gradient of the weights that tokens are combined with, in the type of the tokens and in fp32
 * [bytes]. */
double sl_masks_gradient_bytes(const sl_slice *slice, const sl_operator *op);

/** The products with both masks, and the kernels that make these in fp32 and cast them [s]: two
 * products forward, three backward, as the mask that dispatches has no gradient. */
double sl_masks_s(const sl_slice *slice, const sl_operator *op, sl_pass pass);

#endif
