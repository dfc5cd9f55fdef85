/* One micro-batch through chunks of a pipeline rank, pass by pass. */
#include "engine/step_parts.h"

#include <math.h>
#include <stddef.h>

#include "engine/host.h"
#include "engine/recompute.h"

double
sl_pass_dense_s(const sl_pass_time *pass)
{
    return pass->computing_s + pass->tensor_s + pass->context_s + pass->launch_s;
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
    return sl_recompute_of(c->question->model, c->workload, c->plan, c->prices, held, stage, kind)
        .layers;
}

/* One pass through one layer: what it shows of collectives, and what the host takes to issue it. */
typedef struct pass {
    double computing_s, tensor_s, context_s, expert_s;
    double host_s;
    double awaited; /* operators that the device waits for while the host issues them */
} pass;

static pass
pass_of(const sl_memory_case *c, double computing_s, double issued, double awaited,
        const sl_traffic tensor[SL_COLLECTIVE_COUNT], const sl_traffic *context,
        const sl_traffic *expert)
{
    double calls = context->calls + expert->calls;

    for (uint32_t i = 0; i < SL_COLLECTIVE_COUNT; i++)
        calls += tensor[i].calls;
    return (pass){
        .computing_s = computing_s,
        .tensor_s = sl_price_exposed_s(tensor),
        .context_s = context->exposed_s,
        .expert_s = expert->exposed_s,
        .host_s = c->slice->host_operator_s * (issued + calls),
        .awaited = awaited,
    };
}

static void
add_layers(const pass *of, double layers, sl_pass_time *sum)
{
    sum->computing_s += layers * of->computing_s;
    sum->tensor_s += layers * of->tensor_s;
    sum->context_s += layers * of->context_s;
    sum->expert_s += layers * of->expert_s;
}

/* How much longer the host takes for a pass than the device, which runs beside it. */
static double
behind_s(const pass *p)
{
    return p->host_s - p->computing_s - p->tensor_s - p->context_s - p->expert_s;
}

/* Seconds that the device waits for the host: what both do of a pass runs side by side, but for what
 * is awaited. `again` of the layers recompute, in one go with their backward pass. */
static void
add_launch_waits(const sl_memory_case *c, const pass *forward, const pass *backward,
                 const pass *rebuilt, double layers, double again, sl_rank_time *t)
{
    const double awaited_s = c->slice->awaited_s;

    if (awaited_s <= 0.0)
        return;
    t->forward.launch_s += layers * (awaited_s * forward->awaited + fmax(0.0, behind_s(forward)));
    t->backward.launch_s +=
        layers * awaited_s * backward->awaited + (layers - again) * fmax(0.0, behind_s(backward));
    t->again.launch_s +=
        again * (awaited_s * rebuilt->awaited + fmax(0.0, behind_s(backward) + behind_s(rebuilt)));
}

static void
add_kind(const sl_memory_case *c, const sl_kind_price *price, double layers, double again,
         sl_rank_time *t)
{
    const sl_rerun *rerun = &price->again;
    const pass forward =
        pass_of(c, price->forward_s, price->forward_issued, price->forward_awaited,
                price->tensor_forward, &price->context_forward, &price->expert_forward);
    const pass backward =
        pass_of(c, price->backward_s, price->backward_issued, price->backward_awaited,
                price->tensor_backward, &price->context_backward, &price->expert_backward);
    const pass rebuilt = pass_of(c, rerun->forward_s, rerun->issued, rerun->awaited, rerun->tensor,
                                 &rerun->context, &rerun->expert);

    add_layers(&forward, layers, &t->forward);
    add_layers(&backward, layers, &t->backward);
    add_layers(&rebuilt, again, &t->again);
    add_launch_waits(c, &forward, &backward, &rebuilt, layers, again, t);
    t->flops_again += again * (rerun->matmul_flops + rerun->attention_flops);
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

sl_rank_time
sl_step_rank(const sl_memory_case *c, const sl_held *held, const sl_stage *stage)
{
    const sl_model *model = c->question->model;
    const double copies = sl_schedule_copies(c->plan);
    sl_rank_time t = {0};

    for (uint32_t k = 0; k < model->kind_count; k++) {
        /* Each copy runs its share of the micro-batches. */
        const double layers = stage->layers[k] / copies;
        if (stage->layers[k] == 0)
            continue;
        add_kind(c, &c->prices[k], layers, sl_step_layers_again(c, held, stage, k) / copies, &t);
        if (sl_schedule_is_block(model, k))
            t.weight_s += layers * c->prices[k].weight_s;
    }
    if (c->plan->host_run_count > 0)
        add_host(c, held, &t);
    return t;
}

sl_rank_time
sl_step_layer(const sl_memory_case *c, uint32_t kind, bool again)
{
    sl_rank_time t = {0};

    add_kind(c, &c->prices[kind], 1.0, again ? 1.0 : 0.0, &t);
    return t;
}
