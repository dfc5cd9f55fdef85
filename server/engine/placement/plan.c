/* What follows from a plan and a workload by themselves. */
#include "shardline/plan.h"

#include <assert.h>

#include "engine/placement/slice.h"

uint64_t
sl_cluster_accelerators(const sl_cluster *cluster)
{
    uint64_t sum = 0;

    if (cluster->pool_count == 0)
        return (uint64_t)cluster->nodes * cluster->accelerators_per_node;
    for (uint32_t i = 0; i < cluster->pool_count; i++)
        sum += (uint64_t)cluster->pools[i].nodes * cluster->pools[i].accelerators_per_node;
    return sum;
}

uint64_t
sl_plan_world(const sl_plan *plan)
{
    return sl_plan_stage_ranks(plan) * plan->pipeline;
}

uint64_t
sl_plan_stage_ranks(const sl_plan *plan)
{
    return (uint64_t)plan->tensor * plan->context * plan->data;
}

uint32_t
sl_plan_sharers(const sl_plan *plan)
{
    return plan->shard_group > 0 ? plan->shard_group : plan->data;
}

uint32_t
sl_plan_expert_tensor(const sl_plan *plan)
{
    return plan->expert_tensor > 0 ? plan->expert_tensor : plan->tensor;
}

bool
sl_plan_derive_data(const sl_cluster *cluster, const sl_plan *plan, uint64_t *data)
{
    const uint64_t available = sl_cluster_accelerators(cluster);
    const uint64_t rest = (uint64_t)plan->tensor * plan->pipeline * plan->context;

    *data = available / rest;
    return *data >= 1 && available % rest == 0;
}

bool
sl_recompute_matters(const sl_workload *workload)
{
    return workload->recompute != SL_RECOMPUTE_SELECTIVE ||
           workload->attention == SL_ATTENTION_UNFUSED;
}

bool
sl_attention_possible(const sl_accelerator *part, sl_attention_kernel kernel,
                      sl_precision precision)
{
    if (kernel == SL_ATTENTION_UNFUSED)
        return true;
    /* Fused kernels but one exist for 16-bit elements only, which 8-bit training keeps for
     * attention. */
    if (kernel != SL_ATTENTION_EFFICIENT && sl_precision_kept_bytes(precision) > 2.0)
        return false;
    for (uint32_t i = 0; i < SL_ATTENTION_WIDTHS_MAX; i++)
        if (part->attention[kernel][i].head_dim != 0)
            return true;
    return false;
}

bool
sl_attention_prefers_cudnn(const sl_accelerator *part)
{
    return part->attention[SL_ATTENTION_FLASH3][0].head_dim == 0 &&
           part->attention[SL_ATTENTION_CUDNN][0].head_dim != 0;
}

bool
sl_attention_is_cudnn(sl_framework framework, const sl_accelerator *part)
{
    return framework == SL_FRAMEWORK_MEGATRON && sl_attention_prefers_cudnn(part);
}

sl_gradient_sync
sl_plan_gradient_sync(const sl_workload *workload, const sl_plan *plan)
{
    const bool hosted = workload->framework == SL_FRAMEWORK_FSDP1 && workload->offload.parameters;
    const bool pipelined = workload->framework == SL_FRAMEWORK_FSDP2 && plan->pipeline > 1;

    if (plan->gradient_sync != SL_GRADIENT_SYNC_DEFAULT)
        return plan->gradient_sync;
    if (workload->framework == SL_FRAMEWORK_DP)
        return SL_GRADIENT_SYNC_EACH;
    return plan->zero_stage >= 2 && !hosted && !pipelined ? SL_GRADIENT_SYNC_EACH
                                                          : SL_GRADIENT_SYNC_LAST;
}

uint64_t
sl_plan_microbatches(const sl_workload *workload, const sl_plan *plan)
{
    const uint64_t per_round = (uint64_t)plan->data * workload->micro_batch;

    assert(per_round >= 1 && workload->global_batch % per_round == 0);
    return workload->global_batch / per_round;
}
