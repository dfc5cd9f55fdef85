#include "engine/placement/ranks.h"

#include <assert.h>
#include <stddef.h>

sl_strides
sl_ranks_strides(const sl_plan *plan)
{
    const uint64_t one = (uint64_t)plan->tensor * plan->context; /* replica, of one stage */
    const bool stages_inside = plan->order == SL_ORDER_PIPELINE_DATA;
    sl_strides strides = {
        .context = plan->tensor,
        .data = stages_inside ? one * plan->pipeline : one,
        .pipeline = stages_inside ? one : one * plan->data,
    };

    strides.replica = plan->context > 1 ? strides.context : strides.data;
    return strides;
}

sl_spacing
sl_ranks_spacing(const sl_plan *plan, sl_axis axis)
{
    const sl_strides strides = sl_ranks_strides(plan);
    const uint64_t sharers = sl_plan_sharers(plan);
    const uint64_t shard = sharers * plan->context;
    const uint64_t spread = (uint64_t)plan->expert * sl_plan_expert_tensor(plan);
    const uint64_t alike = shard * plan->tensor / spread;

    switch (axis) {
    case SL_AXIS_TENSOR:
        return (sl_spacing){plan->tensor, 1};
    case SL_AXIS_CONTEXT:
        return (sl_spacing){plan->context, strides.context};
    case SL_AXIS_SHARD:
        return (sl_spacing){shard, strides.replica};
    case SL_AXIS_REPLICAS:
        return (sl_spacing){plan->data / sharers, strides.replica * shard};
    case SL_AXIS_EXPERT:
        return (sl_spacing){plan->expert, sl_plan_expert_tensor(plan)};
    case SL_AXIS_EXPERT_TENSOR:
        return (sl_spacing){sl_plan_expert_tensor(plan), 1};
    case SL_AXIS_EXPERT_SHARD:
        return (sl_spacing){alike > 0 ? alike : 1, spread * strides.replica / plan->tensor};
    case SL_AXIS_COUNT:
        break;
    }
    assert(false);
    return (sl_spacing){1, 1};
}

sl_group
sl_ranks_group(const sl_cluster *cluster, const sl_plan *plan, sl_axis axis)
{
    const sl_spacing spacing = sl_ranks_spacing(plan, axis);

    return sl_group_of(cluster, spacing.ranks, spacing.stride);
}

sl_group
sl_ranks_between(const sl_cluster *cluster, const sl_plan *plan, uint32_t first, uint32_t last)
{
    const sl_strides strides = sl_ranks_strides(plan);
    const uint64_t replicas = plan->order == SL_ORDER_PIPELINE_DATA ? plan->data : 1;
    sl_group slowest =
        sl_group_pair(cluster, first * strides.pipeline, (last + 1) * strides.pipeline);

    /* Where replicas begin repeats itself after as many of them as a node has ranks, or sooner. */
    for (uint64_t r = 1; r < replicas && r < cluster->accelerators_per_node; r++) {
        const uint64_t begin = r * strides.data;
        const sl_group pair = sl_group_pair(cluster, begin + first * strides.pipeline,
                                            begin + (last + 1) * strides.pipeline);
        if (pair.level > slowest.level)
            slowest = pair;
    }
    return slowest;
}

bool
sl_ranks_stages_alike(const sl_cluster *cluster, const sl_plan *plan)
{
    return plan->order == SL_ORDER_DATA_PIPELINE &&
           sl_ranks_strides(plan).pipeline % sl_collective_island(cluster) == 0;
}

sl_code
sl_check_order(const sl_question *question, sl_errors *err)
{
    assert(question != NULL && err != NULL);

    const sl_plan *plan = &question->plan;
    const char *pointer = "/parallelism/order";

    if (plan->order == SL_ORDER_DATA_PIPELINE || plan->pipeline == 1)
        return SL_OK;
    if (question->workload.framework != SL_FRAMEWORK_MEGATRON) {
        const sl_code code = sl_fail(err, SL_E_RANGE, "order_not_of_framework", pointer,
                                     "only megatron puts replicas outside the pipeline");
        sl_hint(err, "tp-cp-ep-dp-pp, or framework megatron");
        return code;
    }
    if (plan->context == 1 && plan->expert == 1 &&
        (question->model->experts == 0 || sl_plan_expert_tensor(plan) == plan->tensor))
        return SL_OK;
    const sl_code code = sl_fail(err, SL_E_UNSUPPORTED, "not_modelled", pointer,
                                 "replicas outside the pipeline are modelled without context and "
                                 "expert parallelism");
    sl_hint(err, "tp-cp-ep-dp-pp");
    return code;
}
