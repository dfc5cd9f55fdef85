/** What operators keep of a forward pass until their backward has read it. */
#ifndef SL_ENGINE_KEPT_H
#define SL_ENGINE_KEPT_H

#include "engine/placement/slice.h"

/**
 * Bytes an operator keeps from forward to backward for one micro-batch on this rank.
 * The rule: what autograd saves, counted at the operator that saves it (a product its input, a norm
 * its input, attention its q, k, v, output and row statistics). Source: Korthikanti 2022 table 2
 * for the unfused block (34 sbh + 5 a s^2 b); fused kernels delete what they recompute.
 */
double sl_slice_saved_bytes(const sl_slice *slice, const sl_operator *op);

#endif
