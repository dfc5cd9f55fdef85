/* What each layer of one stage takes: passes, what travels for them, what they keep. */
#include "engine/schedule/timeline_parts.h"

#include "engine/memory/offload.h"

/* Reductions of the last micro-batch wait for a bucket of gradients to fill, from the last layer
 * on, and go with the one that fills it; layers that are larger than it go alone, as units do.
 * Those of earlier ones run on under what comes after. */
static void
fill_buckets(const sl_memory_case *c, double least, sl_layer_cost *costs)
{
    double elements = 0.0;
    double reduce_s = 0.0;
    double replicas_s = 0.0;

    for (uint32_t l = c->question->model->layer_count; l-- > 0;) {
        sl_layer_cost *cost = &costs[l];
        elements += c->prices[c->question->model->layers[l]].elements;
        reduce_s += cost->travels.reduce_s;
        replicas_s += cost->travels.replicas_s;
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
        if (costs[l].leaves) {
            costs[l].leaves = false;
            return;
        }
}

void
sl_layers_costs(const sl_memory_case *c, const sl_data_time *data, double bucket,
                sl_layer_cost *costs)
{
    const sl_model *model = c->question->model;
    const sl_layer_traffic one = sl_step_element_traffic(c, data);
    double roots = 0.0;
    double first = 0.0;
    const uint32_t leaving = sl_offload_leaving(c->workload, model->block_count);
    uint32_t block = 0;

    for (uint32_t l = 0; l < model->layer_count; l++) {
        double root = 0.0;
        const uint32_t kind = model->layers[l];
        const double elements = sl_step_unit_elements(c, kind, &root);
        roots += root;
        first = l == 0 ? elements : first;
        costs[l] = (sl_layer_cost){
            .passes = sl_step_layer_passes(c, kind, l < sl_step_again_end(c)),
            .travels = sl_step_layer_traffic(&one, elements),
        };
        costs[l].leaves = costs[l].passes.copy_s > 0.0 && block < leaving;
        block += sl_schedule_is_block(model, kind);
    }
    costs[0].travels = sl_step_layer_traffic(&one, first + roots);
    fill_buckets(c, bucket, costs);
    if (sl_offload_last_stays(c->workload, block))
        keep_last(model->layer_count, costs);
}
