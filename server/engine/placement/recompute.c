#include "engine/placement/recompute.h"

#include <assert.h>
#include <string.h>

#include "engine/extremes.h"
#include "engine/placement/adapter.h"
#include "engine/placement/kept.h"
#include "engine/placement/states.h"

/* torchtitan's op keeps every other product. */
static const double operators_again_ratio = 0.5;

bool
sl_recompute_is_of(sl_recompute recompute, sl_framework framework)
{
    if (recompute == SL_RECOMPUTE_MODULES)
        return framework == SL_FRAMEWORK_MEGATRON;
    return recompute != SL_RECOMPUTE_OPERATORS || sl_framework_is_fsdp(framework);
}

static bool
is_block_norm(const sl_operator *op)
{
    return op->kind == SL_OPERATOR_NORM && op->component == SL_COMPONENT_NORMS;
}

/* A norm before attention or MLP; one after them goes into the residual, which keeps nothing of
 * it. */
static bool
is_pre_norm(const sl_layer_kind *kind, uint32_t index)
{
    return is_block_norm(&kind->operators[index]) && index + 1 < kind->operator_count &&
           kind->operators[index + 1].kind == SL_OPERATOR_MATMUL;
}

/* Attention through latents has a norm of its own between the way down and the way up. */
static bool
has_latent(const sl_layer_kind *kind)
{
    for (uint32_t i = 0; i < kind->operator_count; i++)
        if (kind->operators[i].kind == SL_OPERATOR_NORM &&
            kind->operators[i].component == SL_COMPONENT_ATTENTION &&
            kind->operators[i].cut == SL_CUT_REPLICATED)
            return true;
    return false;
}

static bool
is_expert_part(const sl_operator *op)
{
    return op->component == SL_COMPONENT_ROUTER || op->component == SL_COMPONENT_ROUTED_EXPERTS ||
           op->component == SL_COMPONENT_SHARED_EXPERTS;
}

static bool
is_mlp_part(const sl_operator *op)
{
    return op->component == SL_COMPONENT_MLP;
}

/* Inside a part of a block: what begins the part keeps the input that it is rebuilt from. */
static bool
is_inside(const sl_layer_kind *kind, uint32_t index, bool (*is_part)(const sl_operator *op))
{
    return index > 0 && is_part(&kind->operators[index]) && is_part(&kind->operators[index - 1]);
}

bool
sl_recompute_drops(const sl_layer_kind *kind, uint32_t index, sl_recompute_module module)
{
    const sl_operator *op = &kind->operators[index];

    assert(index < kind->operator_count);
    switch (module) {
    case SL_MODULE_NORMS:
        return index > 0 && op->kind == SL_OPERATOR_MATMUL && is_pre_norm(kind, index - 1);
    case SL_MODULE_LATENT_UP:
        return op->kind == SL_OPERATOR_ATTENTION && has_latent(kind);
    case SL_MODULE_MLP:
        return is_inside(kind, index, is_mlp_part);
    case SL_MODULE_EXPERT_ACTIVATION:
        return op->component == SL_COMPONENT_ROUTED_EXPERTS && op->kind == SL_OPERATOR_MATMUL &&
               op->cut == SL_CUT_ROW;
    case SL_MODULE_SHARED_EXPERTS:
        return op->component == SL_COMPONENT_SHARED_EXPERTS;
    case SL_MODULE_EXPERTS:
        return is_inside(kind, index, is_expert_part);
    case SL_MODULE_CORE_ATTENTION: /* of an attention only its scores, which are priced apart */
    case SL_MODULE_COUNT:
        break;
    }
    return false;
}

bool
sl_recompute_runs(const sl_layer_kind *kind, uint32_t index, sl_recompute_module module)
{
    const sl_operator *op = &kind->operators[index];

    assert(index < kind->operator_count);
    switch (module) {
    case SL_MODULE_NORMS:
        return is_pre_norm(kind, index);
    case SL_MODULE_LATENT_UP:
        return op->component == SL_COMPONENT_ATTENTION && op->cut == SL_CUT_COLUMN &&
               (op->kind == SL_OPERATOR_MATMUL || op->kind == SL_OPERATOR_ROTARY) &&
               has_latent(kind);
    case SL_MODULE_MLP:
        return is_mlp_part(op);
    case SL_MODULE_EXPERT_ACTIVATION:
        return op->component == SL_COMPONENT_ROUTED_EXPERTS && op->kind == SL_OPERATOR_ACTIVATION &&
               !op->biased;
    case SL_MODULE_SHARED_EXPERTS:
        return op->component == SL_COMPONENT_SHARED_EXPERTS;
    case SL_MODULE_EXPERTS:
        return is_expert_part(op);
    case SL_MODULE_CORE_ATTENTION:
    case SL_MODULE_COUNT:
        break;
    }
    return false;
}

/* Layers of a kind among the first `most` blocks of each chunk. alone: all of those blocks are of
 * it. */
static double
count_first(const sl_model *model, const sl_plan *plan, const sl_chunking *cut, const sl_held *held,
            bool alone, uint32_t kind, uint32_t most)
{
    uint32_t layers = 0;

    for (uint32_t n = 0; n < held->count; n++) {
        const uint32_t chunk = sl_schedule_chunk(plan, held->rank, held->first + n);
        const uint32_t blocks = sl_schedule_chunk_blocks(cut, chunk);
        const uint32_t first = blocks < most ? blocks : most;
        if (alone) {
            layers += first;
            continue;
        }
        uint32_t seen = 0;
        for (uint32_t i = sl_schedule_begin(cut, chunk); seen < first; i++) {
            const bool block = sl_schedule_is_block(model, model->layers[i]);
            layers += block && model->layers[i] == kind;
            seen += block;
        }
    }
    return layers;
}

double
sl_recompute_saved_bytes(const sl_recomputed *again, const sl_kind_price *price, double layers)
{
    return again->layers * again->kept_bytes + (layers - again->layers) * price->saved_bytes;
}

double
sl_recompute_kept_bytes(sl_recompute recompute, const sl_kind_price *price)
{
    switch (recompute) {
    case SL_RECOMPUTE_FULL:
        return price->input_bytes;
    case SL_RECOMPUTE_SELECTIVE:
        return price->saved_bytes - price->core_bytes;
    case SL_RECOMPUTE_OPERATORS:
        return sl_smaller(price->saved_bytes, price->products_bytes);
    case SL_RECOMPUTE_MODULES:
        return price->saved_bytes - price->modules_bytes;
    case SL_RECOMPUTE_NONE:
    case SL_RECOMPUTE_COUNT:
        break;
    }
    return price->saved_bytes;
}

/* Blocks that are rebuilt together from the input of the first of them. */
typedef struct groups {
    double begun;      /* by a block of the kind asked for [count] */
    double live_bytes; /* of the largest, beyond the input it keeps */
} groups;

/* The blocks of each chunk, `most` at a time. */
static groups
find_groups(const sl_model *model, const sl_workload *workload, const sl_plan *plan,
            const sl_chunking *cut, const sl_kind_price *prices, const sl_held *held, uint32_t kind)
{
    const uint32_t most = workload->recompute_layers;
    groups out = {0.0, 0.0};

    for (uint32_t n = 0; n < held->count; n++) {
        const uint32_t chunk = sl_schedule_chunk(plan, held->rank, held->first + n);
        const uint32_t end = sl_schedule_begin(cut, chunk + 1);
        uint32_t blocks = 0;
        double live = 0.0;
        for (uint32_t i = sl_schedule_begin(cut, chunk); i < end; i++) {
            const sl_kind_price *price = &prices[model->layers[i]];
            if (!sl_schedule_is_block(model, model->layers[i]))
                continue;
            const bool begins = blocks++ % most == 0;
            out.begun += begins && model->layers[i] == kind;
            live = begins ? price->saved_bytes - sl_recompute_kept_bytes(workload->recompute, price)
                          : live + price->saved_bytes;
            out.live_bytes = sl_larger(out.live_bytes, live);
        }
    }
    return out;
}

sl_recomputed
sl_recompute_of(const sl_model *model, const sl_workload *workload, const sl_plan *plan,
                const sl_chunking *cut, const sl_kind_price *prices, const sl_held *held,
                const sl_stage *stage, uint32_t kind)
{
    const sl_kind_price *price = &prices[kind];
    const double kept = price->again.kept_bytes;
    sl_recomputed out = {
        .layers = stage->layers[kind], .kept_bytes = kept, .live_bytes = price->again.live_bytes};

    if (sl_recompute_each(workload))
        return out;
    assert(workload->recompute_layers >= 1);
    if (workload->recompute_method == SL_RECOMPUTE_BLOCK) {
        /* What a host takes is no part of the stage. */
        const bool alone = plan->host_run_count == 0 && sl_schedule_is_block(model, kind) &&
                           stage->layers[kind] == stage->blocks;
        out.layers = count_first(model, plan, cut, held, alone, kind, workload->recompute_layers);
        return out;
    }
    if (stage->layers[kind] == 0)
        return out;

    const groups of = find_groups(model, workload, plan, cut, prices, held, kind);
    out.kept_bytes = kept * of.begun / stage->layers[kind];
    out.live_bytes = of.live_bytes;
    return out;
}

double
sl_recompute_stage_bytes(const sl_model *model, const sl_workload *workload, const sl_plan *plan,
                         const sl_chunking *cut, const sl_kind_price *prices, const sl_held *held,
                         const sl_stage *stage)
{
    double bytes = 0.0;

    for (uint32_t k = 0; k < model->kind_count; k++) {
        if (stage->layers[k] == 0 || !sl_schedule_is_block(model, k))
            continue;
        const sl_recomputed again =
            sl_recompute_of(model, workload, plan, cut, prices, held, stage, k);
        bytes += sl_recompute_saved_bytes(&again, &prices[k], stage->layers[k]);
    }
    return bytes;
}

bool
sl_recompute_may_hold_inputs(const sl_workload *workload, const sl_plan *plan)
{
    return workload->framework == SL_FRAMEWORK_FSDP1 && plan->zero_stage > 0 &&
           sl_adapter_on(&workload->adapter) && workload->recompute == SL_RECOMPUTE_FULL &&
           !workload->offload.activations;
}

bool
sl_recompute_holds_inputs(const sl_workload *workload, const sl_plan *plan,
                          const sl_software *software)
{
    return sl_recompute_may_hold_inputs(workload, plan) && !software->rebuild_stops;
}

bool
sl_recompute_is_tiled(const sl_slice *slice, const sl_layer_kind *kind, uint32_t index)
{
    return slice->mlp_tiles > 0.0 && sl_recompute_runs(kind, index, SL_MODULE_MLP);
}

/* Whether an operator is a product whose input is the last thing kept: behind it an adapter keeps
 * what its first half gave, and the base runs before that (PEFT lora/layer.py, forward). */
static bool
closes(const sl_slice *slice, const sl_layer_kind *kind, const sl_operator *op)
{
    return op->kind == SL_OPERATOR_MATMUL &&
           !(sl_adapter_on(slice->adapter) && sl_adapter_kept_bytes(slice, kind, op) > 0.0);
}

uint32_t
sl_recompute_end(const sl_slice *slice, const sl_layer_kind *kind)
{
    uint32_t end = kind->operator_count;

    if (!slice->software->rebuild_stops)
        return end;
    while (end > 0 && !sl_recompute_is_tiled(slice, kind, end - 1) &&
           sl_slice_saved_bytes(slice, &kind->operators[end - 1]) <= 0.0)
        end--;
    return end > 0 && !sl_recompute_is_tiled(slice, kind, end - 1) &&
                   closes(slice, kind, &kind->operators[end - 1])
               ? end - 1
               : end;
}

/* The whole forward, but for the tail. */
static sl_rerun
whole_rerun(const sl_kind_price *price)
{
    const sl_rerun *tail = &price->tail;
    sl_rerun again = {
        .forward_s = price->forward_s - tail->forward_s,
        .issued = price->forward_issued - tail->issued,
        .awaited_s = price->forward_awaited_s - tail->awaited_s,
        .matmul_flops = price->matmul_flops - tail->matmul_flops,
        .attention_flops = price->attention_flops - tail->attention_flops,
        .context = sl_price_traffic_less(&price->context_forward, &tail->context),
        .expert = sl_price_traffic_less(&price->expert_forward, &tail->expert),
    };

    for (uint32_t i = 0; i < SL_SENT_COUNT; i++)
        again.tensor[i] = sl_price_traffic_less(&price->tensor_forward[i], &tail->tensor[i]);
    return again;
}

/* The list that torchtitan has for Qwen3, whose blocks norm queries and keys, lacks the exchange,
 * which those of its other models name (models/qwen3/infra/parallelize.py, llama4's beside it). */
bool
sl_recompute_keeps_exchange(const sl_slice *slice, const sl_layer_kind *kind)
{
    return slice->software->exchange_kept && slice->expert > 1.0 && !sl_slice_norms_heads(kind);
}

/* Every other product, but all those of experts, which are none that torchtitan's list names; and
 * of what ranks send what it does not name either: gathered inputs, sums that are not scattered,
 * tokens on their way to experts and back where they are not kept, and without sums_kept all sums. */
static sl_rerun
operators_rerun(const sl_slice *slice, const sl_kind_price *price)
{
    const double half = operators_again_ratio;
    const double rest = 1.0 - half;
    const sl_rerun *tail = &price->tail, *grouped = &price->grouped;
    sl_rerun again = {
        .forward_s = half * (price->forward_s - price->core_forward_s - tail->forward_s) +
                     rest * grouped->forward_s,
        .issued = half * (price->forward_issued - tail->issued) + rest * grouped->issued,
        .awaited_s =
            half * (price->forward_awaited_s - tail->awaited_s) + rest * grouped->awaited_s,
        .matmul_flops =
            half * (price->matmul_flops - tail->matmul_flops) + rest * grouped->matmul_flops,
    };

    for (uint32_t i = 0; i < SL_SENT_COUNT; i++)
        if ((i != SL_COLLECTIVE_REDUCE_SCATTER && i != SL_SENT_EXPERT_SCATTER) ||
            !slice->software->sums_kept)
            again.tensor[i] = sl_price_traffic_less(&price->tensor_forward[i], &tail->tensor[i]);
    if (!price->keeps_exchange)
        again.expert = sl_price_traffic_less(&price->expert_forward, &tail->expert);
    return again;
}

sl_rerun
sl_recompute_rerun(const sl_slice *slice, const sl_kind_price *price)
{
    sl_rerun again = {0};

    switch (slice->recompute) {
    case SL_RECOMPUTE_FULL:
        again = whole_rerun(price);
        break;
    case SL_RECOMPUTE_OPERATORS:
        again = operators_rerun(slice, price);
        break;
    case SL_RECOMPUTE_SELECTIVE:
        if (slice->attention == SL_ATTENTION_UNFUSED) {
            again.forward_s = price->core_forward_s;
            again.attention_flops = price->attention_flops;
        }
        break;
    case SL_RECOMPUTE_MODULES: /* counted operator by operator */
    case SL_RECOMPUTE_NONE:
    case SL_RECOMPUTE_COUNT:
        break;
    }
    return again;
}
