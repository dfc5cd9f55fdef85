/** What may be asked of element types: of the traffic between ranks, and of stored weights. */
#ifndef SL_ENGINE_CHECK_TRAFFIC_H
#define SL_ENGINE_CHECK_TRAFFIC_H

#include "shardline/plan.h"

/**
 * Refuses element types that the framework does not send: gradients in bf16 that Megatron sums in
 * another 16-bit type (rule reduce_dtype_not_of_framework), parameters gathered otherwise than they
 * are stored outside FSDP (gather_dtype_not_of_framework), quantised parameters outside Megatron
 * (primary_weights_not_of_framework).
 */
sl_code sl_check_traffic(const sl_question *question, sl_errors *err) SL_MUST_CHECK;

#endif
