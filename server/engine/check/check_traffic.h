/** What may be asked of the traffic between ranks: its element types, and what hides it. */
#ifndef SL_ENGINE_CHECK_TRAFFIC_H
#define SL_ENGINE_CHECK_TRAFFIC_H

#include "shardline/plan.h"

/**
 * Refuses element types that the framework does not send: gradients in bf16 that Megatron sums in
 * another 16-bit type (rule reduce_dtype_not_of_framework), parameters gathered otherwise than they
 * are stored outside FSDP (gather_dtype_not_of_framework), quantised parameters outside Megatron
 * (primary_weights_not_of_framework) or of a base that is quantised already
 * (primary_weights_of_quantised_base), transposes that are kept whoever reads them
 * (transposes_not_apart). And tokens under computing where Megatron has no combined
 * schedule: outside it (not_modelled), without expert parallelism, in a pipeline of one chunk a
 * rank, with full recomputation (overlap_not_possible).
 * Source: Megatron-LM combined_1f1b.py, transformer_config.py.
 */
sl_code sl_check_traffic(const sl_question *question, sl_errors *err) SL_MUST_CHECK;

#endif
