/* What travels over the data ranks of one stage for each of its layers, and when. */
#include "engine/answer/step_parts.h"

#include <stddef.h>

#include "engine/extremes.h"
#include "engine/memory/offload.h"
#include "engine/placement/gather.h"
#include "engine/placement/lent.h"
#include "engine/placement/recompute.h"
#include "engine/placement/unit.h"

bool
sl_step_flows(const sl_memory_case *c)
{
    return sl_plan_goes_by_layer(c->plan) && sl_lent_devices(c->workload, c->plan) == 0;
}

sl_layer_passes
sl_step_layer_passes(const sl_memory_case *c, uint32_t kind, bool again)
{
    const sl_kind_price *price = &c->prices[kind];
    const bool block = sl_schedule_is_block(c->question->model, kind);
    const sl_rank_time t = sl_step_layer(c, kind, again && block);
    const double forward_s = sl_pass_s(&t.forward);
    const double backward_s = sl_pass_s(&t.backward) + sl_pass_s(&t.again);
    sl_layer_passes out = {
        .forward_s = t.forward.computing_s,
        .backward_s = t.backward.computing_s + t.again.computing_s,
        .forward_routed_s = t.forward.expert_s,
        .backward_routed_s = t.backward.expert_s + t.again.expert_s,
        .kept_bytes = again && block ? sl_recompute_kept_bytes(c->workload->recompute, price)
                                     : price->saved_bytes,
    };

    out.forward_open_s = forward_s - out.forward_s;
    out.backward_open_s = backward_s - out.backward_s;
    if (!block || !c->workload->offload.activations)
        return out;
    out.copy_s = sl_offload_kept_s(c->cluster, c->workload, out.kept_bytes);
    out.down_s = sl_larger(0.0, out.copy_s - out.forward_open_s);
    out.up_s = sl_larger(0.0, out.copy_s - out.backward_open_s);
    return out;
}

/* Blocks among the first `recompute_layers` recompute, or all. */
uint32_t
sl_step_again_end(const sl_memory_case *c)
{
    const sl_workload *w = c->workload;

    if (w->recompute != SL_RECOMPUTE_FULL || w->recompute_method != SL_RECOMPUTE_BLOCK)
        return c->question->model->layer_count;
    return c->holdings->cut.ahead + w->recompute_layers;
}

static uint32_t
copies_behind(uint32_t blocks, uint32_t leaving)
{
    return leaving == blocks ? 2 : 1;
}

uint32_t
sl_step_copy_due(uint32_t blocks, uint32_t leaving, uint32_t layer)
{
    const uint32_t due = layer > 0 ? (layer - 1) * leaving / blocks : 0; /* after the embedding */
    const uint32_t behind = copies_behind(blocks, leaving);

    return due >= behind ? 1 + due - behind : UINT32_MAX;
}

uint32_t
sl_step_copy_back(uint32_t blocks, uint32_t leaving, uint32_t layer)
{
    const uint32_t waited = (layer + copies_behind(blocks, leaving) - 1) * blocks;

    return 1 + (waited + leaving - 1) / leaving;
}

double
sl_step_unit_elements(const sl_memory_case *c, uint32_t kind, double *root)
{
    const sl_model *model = c->question->model;
    const double all = c->prices[kind].elements;

    *root = 0.0;
    if (!sl_states_gathers_units(c->workload, c->plan) || c->software->traced_sharding)
        return all;
    if (!sl_schedule_is_block(model, kind)) {
        *root = all;
        return 0.0;
    }
    const sl_unit_split split = sl_unit_even(&c->plan->unit, c->slice, &model->kinds[kind], all);
    *root = split.largest > 0.0 ? split.root : all;
    return all - *root;
}

sl_layer_traffic
sl_step_element_traffic(const sl_memory_case *c, const sl_data_time *data)
{
    const double all = sl_larger(1.0, sl_holding_of(c->holdings, 0)->elements.all);
    const double gathered = all * sl_larger(1.0, data->gathered);
    const double reduced = all * data->rounds.reduces;

    return (sl_layer_traffic){
        .gather_s = (data->gather_s - data->fetch_s) / gathered,
        .fetch_s = data->fetch_s / gathered,
        .reduce_s = data->reduce_s / reduced,
        .replicas_s = (data->replica_s + data->copy_s) / reduced,
        .gathered_bytes =
            sl_states_gathers_units(c->workload, c->plan) ? data->gather_bytes / gathered : 0.0,
    };
}

sl_layer_traffic
sl_step_layer_traffic(const sl_layer_traffic *element, double elements)
{
    return (sl_layer_traffic){
        .gather_s = elements * element->gather_s,
        .fetch_s = elements * element->fetch_s,
        .reduce_s = elements * element->reduce_s,
        .replicas_s = elements * element->replicas_s,
        .gathered_bytes = elements * element->gathered_bytes,
    };
}

sl_data_flow
sl_step_data_flow(const sl_memory_case *c, const sl_data_groups *groups, const sl_data_time *data)
{
    const sl_software *software = c->software;
    const bool beside = software->overlap_gradient_reduce && !data->whole &&
                        !sl_states_reduces_after(c->workload, c->plan);
    const bool network = groups->shard.level == SL_LEVEL_NETWORK;
    const bool units = sl_states_gathers_units(c->workload, c->plan);

    return (sl_data_flow){
        .gathers = data->rounds.gathers > 0.0,
        .each = data->rounds.starts > 1.0,
        .again = data->rounds.gathers > data->rounds.starts,
        .reduces = data->rounds.reduces > 1.0,
        .ahead = sl_states_gathers_beside(software, c->workload, c->plan) && !data->whole,
        .beside = beside,
        .one_line = !beside || groups->shard.ranks <= 1.0 ||
                    network == (groups->replicas.level == SL_LEVEL_NETWORK),
        .bucket = units ? 0.0 : sl_gather_edges(c, sl_holding_of(c->holdings, 0)).last,
    };
}
