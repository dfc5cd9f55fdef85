/** What may be asked of blocks that the host runs. */
#ifndef SL_ENGINE_CHECK_HOST_H
#define SL_ENGINE_CHECK_HOST_H

#include "shardline/plan.h"

/**
 *   out_of_range, overlapping  each block of the model at most once
 *   host_link_unknown          hidden states go there and back
 * and not_modelled for what no code does so: more than one replica, cut tensors, a pipeline that
 * has several stages at work, FSDP, DeepSpeed, adapters, offload beside it.
 */
sl_code sl_check_host(const sl_question *question, sl_errors *err) SL_MUST_CHECK;

#endif
