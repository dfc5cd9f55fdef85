/** Low-rank adapters on frozen weights: what trains, and what the frozen base weighs. */
#ifndef SL_ENGINE_ADAPTER_H
#define SL_ENGINE_ADAPTER_H

#include "engine/slice.h"

/** Whether all but adapters is frozen. */
bool sl_adapter_on(const sl_adapter *adapter);

/** Whether the matrices of a tensor get an adapter: those of linear layers of blocks whose module is
 * a target, or all of them where no target is named. */
bool sl_adapter_targets(const sl_adapter *adapter, const sl_tensor *tensor);

/** Parameters of the adapters of a tensor on this rank: rank x (inputs + outputs) of each matrix, the
 * cut side cut. Source: Hu 2021. */
double sl_adapter_elements(const sl_slice *slice, const sl_tensor *tensor);

/** Whether a tensor is adapted, and one of those that an operator multiplies with. */
bool sl_adapter_feeds(const sl_slice *slice, const sl_operator *op, const sl_tensor *tensor);

/**
 * Bytes per frozen weight of a linear layer of a block: bf16 2; int8 1; NF4 1/2 and an fp32 scale for
 * 64; with double quantisation an 8-bit scale for 64 and an fp32 one for 256 of those. Embedding,
 * norms and head stay in 2. Source: Dettmers 2022, 2023.
 */
double sl_adapter_base_bytes(sl_adapter_base base);

#endif
