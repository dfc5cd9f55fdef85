/* One micro-batch through chunks of a pipeline rank, pass by pass. */
#include "engine/answer/step_parts.h"

#include <stddef.h>

#include "engine/extremes.h"
#include "engine/memory/offload.h"
#include "engine/placement/recompute.h"
#include "engine/price/host.h"

double
sl_pass_dense_s(const sl_pass_time *pass)
{
    return pass->computing_s + pass->tensor_s + pass->context_s + pass->launch_s + pass->copied_s;
}

double
sl_pass_s(const sl_pass_time *pass)
{
    return sl_pass_dense_s(pass) + pass->expert_s;
}

double
sl_step_layers_again(const sl_memory_case *c, const sl_held *held, const sl_stage *stage,
                     uint32_t kind)
{
    if (!sl_schedule_is_block(c->question->model, kind))
        return 0.0;
    if (sl_recompute_each(c->workload))
        return stage->layers[kind];
    return sl_recompute_of(c->question->model, c->workload, c->plan, &c->holdings->cut, c->prices,
                           held, stage, kind)
        .layers;
}

/* Seconds of `layers` that one pass goes through. */
static void
add_layers(double layers, const sl_pass_price *pass, sl_pass_time *sum)
{
    sum->computing_s += layers * pass->computing_s;
    sum->tensor_s += layers * pass->tensor_s;
    sum->context_s += layers * pass->context_s;
    sum->expert_s += layers * pass->expert_s;
    sum->issued_s += layers * pass->issued_s;
}

/* Seconds that the device waits for the host: what both do of a pass runs side by side, but for
 * what is awaited. `again` of the layers recompute, in one go with their backward pass. */
static void
add_launch_waits(const sl_kind_price *price, double layers, double again, sl_rank_time *t)
{
    t->forward.launch_s += layers * (price->forward_awaited_s + price->forward.late_s);
    t->backward.launch_s +=
        layers * price->backward_awaited_s + (layers - again) * price->backward.late_s;
    t->again.launch_s += again * (price->again.awaited_s + price->again.pass.late_s);
}

static void
add_kind(const sl_kind_price *price, double layers, double again, sl_rank_time *t)
{
    const sl_rerun *rerun = &price->again;

    add_layers(layers, &price->forward, &t->forward);
    add_layers(layers, &price->backward, &t->backward);
    add_layers(again, &rerun->pass, &t->again);
    add_launch_waits(price, layers, again, t);
    t->flops_again +=
        again * (rerun->matmul_flops + rerun->attention_flops) + layers * price->tiled_flops;
}

/* Copies of the share of blocks that leave run beside the passes of all, spread over them
 * (TransformerEngine, layer_window_map): of the longer of the two what is beyond the passes. */
static void
add_copies(const sl_memory_case *c, uint32_t kind, double layers, double share, bool again,
           sl_rank_time *t)
{
    const sl_kind_price *price = &c->prices[kind];
    const double kept =
        again ? sl_recompute_kept_bytes(c->workload->recompute, price) : price->saved_bytes;
    const double copy_s = share * sl_offload_kept_s(c->cluster, c->workload, kept);
    const sl_rank_time layer = sl_step_layer(c, kind, again);
    const double back_s = sl_pass_s(&layer.backward) + sl_pass_s(&layer.again);

    t->forward.copied_s += layers * sl_larger(0.0, copy_s - sl_pass_s(&layer.forward));
    t->backward.copied_s += layers * sl_larger(0.0, copy_s - back_s);
}

static void
add_host(const sl_memory_case *c, const sl_held *held, sl_rank_time *t)
{
    const sl_host_time host = sl_host_measure(c, held);

    t->forward.computing_s += host.forward_s;
    t->forward.host_s = host.forward_s;
    t->backward.computing_s += host.backward_s;
    t->backward.host_s = host.backward_s;
    t->again.computing_s += host.recompute_s;
}

void
sl_step_measure_rank(const sl_memory_case *c, const sl_held *held, const sl_stage *stage,
                     sl_rank_time *out)
{
    const sl_model *model = c->question->model;
    const double copies = sl_schedule_copies(c->plan);
    const bool each = sl_recompute_each(c->workload);
    const bool copied =
        c->workload->offload.activations && !sl_plan_goes_by_layer(c->plan); /* else by layer */

    /* In parts: as a whole it would be cleared word by word. */
    out->forward = out->backward = out->again = (sl_pass_time){0};
    out->weight_s = out->visible_expert_s = out->flops_again = 0.0;
    for (uint32_t k = 0; k < model->kind_count; k++) {
        if (stage->layers[k] == 0)
            continue;
        /* Each copy runs its share of the micro-batches. */
        const double layers = stage->layers[k] / copies;
        const bool block = sl_schedule_is_block(model, k);
        const double again = !block ? 0.0
                             : each ? layers
                                    : sl_step_layers_again(c, held, stage, k) / copies;
        add_kind(&c->prices[k], layers, again, out);
        if (!block)
            continue;
        out->weight_s += layers * c->prices[k].weight_s;
        if (copied) {
            /* Of all chunks of the rank. */
            const uint32_t blocks = sl_holding_of(c->holdings, held->rank)->stage.blocks;
            const double share = (double)sl_offload_leaving(c->workload, blocks) / blocks;
            /* Other stages go on with another micro-batch first. */
            const bool stays = c->plan->pipeline == 1 && sl_offload_last_stays(c->workload, blocks);
            const double gone = stays ? 1.0 - 1.0 / blocks : 1.0;
            add_copies(c, k, gone * again, share, true, out);
            add_copies(c, k, gone * (layers - again), share, false, out);
        }
    }
    if (c->plan->host_run_count > 0)
        add_host(c, held, out);
}

sl_rank_time
sl_step_chunk(const sl_memory_case *c, uint32_t r, uint32_t index)
{
    const sl_held held = {.rank = r, .first = index, .count = 1};
    sl_memory_case space;
    sl_stage stage;

    sl_schedule_part(c->question->model, c->plan, &c->holdings->cut, &held, &stage);
    return sl_step_rank(sl_case_of_stage(c, r, &space), &held, &stage);
}

sl_rank_time
sl_step_rank(const sl_memory_case *c, const sl_held *held, const sl_stage *stage)
{
    sl_rank_time t;

    sl_step_measure_rank(c, held, stage, &t);
    return t;
}

sl_rank_time
sl_step_layer(const sl_memory_case *c, uint32_t kind, bool again)
{
    sl_rank_time t = {0};

    add_kind(&c->prices[kind], 1.0, again ? 1.0 : 0.0, &t);
    return t;
}
