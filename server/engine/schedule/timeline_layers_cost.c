/* What each layer of one stage takes: passes, what travels for them, what they keep. */
#include "engine/schedule/timeline_parts.h"

#include <math.h>

#include "engine/memory/offload.h"
#include "engine/placement/gather.h"
#include "engine/placement/recompute.h"
#include "engine/placement/unit.h"

/* Elements that travel with a layer: its own but for what is the root's, which the first layer has. */
static double
unit_elements(const sl_memory_case *c, uint32_t layer, double *root)
{
    const sl_model *model = c->question->model;
    const uint32_t kind = model->layers[layer];
    const double all = c->prices[kind].elements;

    *root = 0.0;
    if (!sl_states_gathers_units(c->workload, c->plan) || c->software->traced_sharding)
        return all;
    if (!sl_schedule_is_block(model, kind)) {
        *root = all;
        return 0.0;
    }
    const sl_unit_split split = sl_unit_of(&c->plan->unit, c->slice, &model->kinds[kind], all);
    *root = split.largest > 0.0 ? split.root : all;
    return all - *root;
}

/* Blocks among the first `recompute_layers` of a chunk recompute, or all. */
static bool
runs_again(const sl_memory_case *c, uint32_t block)
{
    return c->workload->recompute != SL_RECOMPUTE_FULL ||
           c->workload->recompute_method != SL_RECOMPUTE_BLOCK ||
           block < c->workload->recompute_layers;
}

static void
set_passes(const sl_memory_case *c, uint32_t layer, uint32_t block, sl_layer_cost *cost)
{
    const sl_model *model = c->question->model;
    const uint32_t kind = model->layers[layer];
    const sl_kind_price *price = &c->prices[kind];
    const bool again = sl_schedule_is_block(model, kind) && runs_again(c, block);
    const sl_rank_time t = sl_step_layer(c, kind, again);

    cost->forward_s = sl_pass_s(&t.forward);
    cost->backward_s = sl_pass_s(&t.backward) + sl_pass_s(&t.again);
    cost->kept_bytes =
        again ? sl_recompute_kept_bytes(c->workload->recompute, price) : price->saved_bytes;
    const uint32_t blocks = sl_holding_of(c->holdings, 0)->stage.blocks;
    if (sl_schedule_is_block(model, kind) && block < sl_offload_leaving(c->workload, blocks))
        cost->copy_s = sl_offload_kept_s(c->cluster, c->workload, cost->kept_bytes);
}

/* Reductions of the last micro-batch wait for a bucket of gradients to fill, from the last layer on, and
 * go with the one that fills it; layers that are larger than it go alone, as units do. Those of earlier
 * ones run on under what comes after. */
static void
fill_buckets(const sl_memory_case *c, sl_layer_cost *costs)
{
    const sl_edges edges = sl_gather_edges(c, sl_holding_of(c->holdings, 0));
    const double least = sl_states_gathers_units(c->workload, c->plan) ? 0.0 : edges.last;
    double elements = 0.0;
    double reduce_s = 0.0;
    double replicas_s = 0.0;

    for (uint32_t l = c->question->model->layer_count; l-- > 0;) {
        sl_layer_cost *cost = &costs[l];
        elements += c->prices[c->question->model->layers[l]].elements;
        reduce_s += cost->reduce_s;
        replicas_s += cost->replicas_s;
        if (elements < least && l > 0)
            continue;
        cost->last_reduce_s = reduce_s;
        cost->last_replicas_s = replicas_s;
        elements = reduce_s = replicas_s = 0.0;
    }
}

/* What the last block keeps is wanted again at once, and stays. */
static void
keep_last(uint32_t layers, sl_layer_cost *costs)
{
    for (uint32_t l = layers; l-- > 0;)
        if (costs[l].copy_s > 0.0) {
            costs[l].copy_s = 0.0;
            return;
        }
}

void
sl_layers_costs(const sl_memory_case *c, const sl_data_time *data, sl_layer_cost *costs)
{
    const uint32_t layers = c->question->model->layer_count;
    const double all = fmax(1.0, sl_holding_of(c->holdings, 0)->elements.all);
    const double rounds = fmax(1.0, data->gathered);
    const double fetch_s = data->fetch_s / rounds / all;
    const double gather_s = data->gather_s / rounds / all - fetch_s;
    const double reduce_s = data->reduce_s / data->rounds.reduces / all;
    const double replicas_s = (data->replica_s + data->copy_s) / data->rounds.reduces / all;
    const double gathered = data->gather_bytes / rounds / all;
    const bool units = sl_states_gathers_units(c->workload, c->plan);
    double roots = 0.0;
    uint32_t block = 0;

    for (uint32_t l = 0; l < layers; l++) {
        double root = 0.0;
        const double elements = unit_elements(c, l, &root);
        roots += root;
        costs[l] = (sl_layer_cost){.gather_s = elements * gather_s,
                                   .fetch_s = elements * fetch_s,
                                   .reduce_s = elements * reduce_s,
                                   .replicas_s = elements * replicas_s,
                                   .gathered_bytes = units ? elements * gathered : 0.0};
        set_passes(c, l, block, &costs[l]);
        block += sl_schedule_is_block(c->question->model, c->question->model->layers[l]);
    }
    costs[0].gather_s += roots * gather_s;
    costs[0].fetch_s += roots * fetch_s;
    costs[0].reduce_s += roots * reduce_s;
    costs[0].replicas_s += roots * replicas_s;
    costs[0].gathered_bytes += units ? roots * gathered : 0.0;
    fill_buckets(c, costs);
    if (sl_offload_last_stays(c->workload, block))
        keep_last(layers, costs);
}
