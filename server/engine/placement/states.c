#include "engine/placement/states.h"

#include <assert.h>

#include "engine/extremes.h"
#include "engine/placement/adapter.h"
#include "engine/price/low_precision.h"

/* Values that share one fp32 scale. bitsandbytes takes 256 since 0.44, torchao's 4-bit AdamW
 * 128. */
static const double block_8bit = 256.0;
static const double block_4bit = 128.0;

sl_elements
sl_states_stage(const sl_model *model, const sl_kind_price *prices, const sl_stage *stage)
{
    sl_elements sum = {0};

    for (uint32_t k = 0; k < model->kind_count; k++) {
        const double layers = stage->layers[k];
        if (stage->layers[k] == 0)
            continue;
        sum.all += layers * prices[k].elements;
        sum.routed += layers * prices[k].routed_elements;
        sum.adapters += layers * prices[k].adapter_elements;
        sum.routed_adapters += layers * prices[k].adapter_routed;
        sum.factored_adapters += layers * prices[k].adapter_factored;
        sum.frozen_adapters += layers * prices[k].adapter_frozen;
        sum.routed_frozen_adapters += layers * prices[k].adapter_routed_frozen;
        sum.adapter_buffers += layers * prices[k].adapter_buffers;
        sum.shared_inputs = sl_larger(sum.shared_inputs, prices[k].adapter_shared_inputs);
        sum.shared_outputs = sl_larger(sum.shared_outputs, prices[k].adapter_shared_outputs);
        sum.factored += layers * prices[k].factored_elements;
        sum.routed_factored += layers * prices[k].routed_factored;
        sum.routed_matrices += layers * prices[k].routed_matrices;
        if (!sl_schedule_is_block(model, k))
            continue;
        sum.matrices += layers * prices[k].matrix_elements;
        sum.low += layers * prices[k].low_elements;
        sum.routed_low += layers * sl_smaller(prices[k].low_elements, prices[k].routed_matrices);
    }
    return sum;
}

sl_elements
sl_states_part(const sl_elements *elements, double share)
{
    return (sl_elements){
        .all = share * elements->all,
        .routed = share * elements->routed,
        .matrices = share * elements->matrices,
        .low = share * elements->low,
        .adapters = share * elements->adapters,
        .routed_adapters = share * elements->routed_adapters,
        .factored_adapters = share * elements->factored_adapters,
        .frozen_adapters = share * elements->frozen_adapters,
        .routed_frozen_adapters = share * elements->routed_frozen_adapters,
        .adapter_buffers = share * elements->adapter_buffers,
        .shared_inputs = share * elements->shared_inputs,
        .shared_outputs = share * elements->shared_outputs,
        .factored = share * elements->factored,
        .routed_matrices = share * elements->routed_matrices,
        .routed_low = share * elements->routed_low,
        .routed_factored = share * elements->routed_factored,
    };
}

/* flat: of parts of tensors laid end to end, which have no rows and columns. */
static double
optimizer_bytes(sl_optimizer optimizer, bool flat, const sl_elements *e)
{
    switch (optimizer) {
    case SL_OPTIMIZER_ADAMW:
        return 8.0;
    case SL_OPTIMIZER_SGD:
        return 0.0;
    case SL_OPTIMIZER_SGD_MOMENTUM:
        return 4.0;
    case SL_OPTIMIZER_ADAMW_8BIT:
        return 2.0 * (1.0 + 4.0 / block_8bit);
    case SL_OPTIMIZER_ADAMW_4BIT:
        return 2.0 * (0.5 + 4.0 / block_4bit);
    case SL_OPTIMIZER_ADAFACTOR:
        return flat ? 4.0 : e->all > 0.0 ? 4.0 * e->factored / e->all : 0.0;
    case SL_OPTIMIZER_MUON:
        return e->all > 0.0 ? (4.0 * e->matrices + 8.0 * (e->all - e->matrices)) / e->all : 0.0;
    case SL_OPTIMIZER_COUNT:
        break;
    }
    assert(false);
    return 0.0;
}

bool
sl_states_sums_half(const sl_workload *workload)
{
    const bool fp16 =
        workload->precision == SL_PRECISION_FP16 && workload->reduce != SL_WIRE_FP32;

    return workload->framework == SL_FRAMEWORK_MEGATRON &&
           (fp16 || workload->reduce == SL_WIRE_BF16);
}

bool
sl_states_own_bf16(const sl_workload *workload, const sl_plan *plan)
{
    return workload->own_bf16 && plan->zero_stage == 0 &&
           sl_precision_kept_bytes(workload->precision) < 4.0 &&
           workload->precision != SL_PRECISION_FP16 && !sl_adapter_on(&workload->adapter);
}

bool
sl_states_divides_masters(const sl_workload *workload, const sl_plan *plan)
{
    return plan->zero_stage >= 1 || sl_states_own_bf16(workload, plan);
}

bool
sl_states_steps_flat(const sl_workload *workload, const sl_plan *plan)
{
    const bool lays =
        workload->framework == SL_FRAMEWORK_DEEPSPEED ||
        (workload->framework == SL_FRAMEWORK_FSDP1 && sl_states_divides_parameters(workload, plan));

    return lays && sl_states_shards(workload, plan).optimizer.dense > 1.0;
}

/* What the framework keeps of parameters that train; summed_apart: gradients made in 16 bits are
 * added up in others. */
static sl_layout
framework_layout(const sl_workload *workload, const sl_plan *plan, bool summed_apart,
                 const sl_elements *elements)
{
    const bool flat = sl_states_steps_flat(workload, plan);
    const bool half = sl_precision_bytes(workload->precision) < 4.0;
    const bool megatron = workload->framework == SL_FRAMEWORK_MEGATRON;
    const bool deepspeed = workload->framework == SL_FRAMEWORK_DEEPSPEED;
    /* Its own part of each group is cloned, in whatever type it trains (stage_1_and_2.py,
     * single_partition_of_fp32_groups; stage3.py, _create_fp32_partitions). */
    const bool parts = deepspeed && plan->zero_stage >= 1;
    const bool made_and_summed = (workload->on_deepspeed && megatron && half) || summed_apart;
    const double own = sl_states_sums_half(workload) ? 2.0
                       : made_and_summed             ? 6.0
                       : deepspeed && half           ? 2.0
                                                     : 4.0;

    return (sl_layout){
        .parameter_bytes = (megatron || deepspeed) && half ? 2.0 : 4.0,
        .gradient_bytes = own,
        .master_bytes = ((megatron || deepspeed) && half) || parts ? 4.0 : 0.0,
        .optimizer_bytes = optimizer_bytes(workload->optimizer, flat, elements),
    };
}

/* What scales of the base a rank holds whole, per weight of its linear layers. */
static double
whole_scale_bytes(const sl_workload *workload)
{
    const bool apart =
        workload->framework == SL_FRAMEWORK_FSDP1 || workload->framework == SL_FRAMEWORK_DEEPSPEED;

    return sl_adapter_on(&workload->adapter) && apart && workload->layout.parameter_bytes < 0.0
               ? sl_adapter_scale_bytes(workload->adapter.base)
               : 0.0;
}

double
sl_states_base_bytes(const sl_workload *workload)
{
    if (workload->adapter.base == SL_ADAPTER_BASE_BF16 && workload->layout.parameter_bytes >= 0.0)
        return workload->layout.parameter_bytes;
    return sl_adapter_base_bytes(workload->adapter.base) - whole_scale_bytes(workload);
}

double
sl_states_scale_bytes(const sl_workload *workload, const sl_elements *elements)
{
    return whole_scale_bytes(workload) * elements->matrices;
}

/* Of a frozen base [bytes per parameter]: what is quantised to multiply, if it is stored so, other
 * matrices of blocks, and the rest. */
static double
base_bytes(const sl_workload *workload, const sl_elements *elements)
{
    const double base = sl_states_base_bytes(workload);
    const double low = workload->fp8.primary_weights ? sl_low_weight_value_bytes(workload) : base;
    const double rest = elements->all - elements->matrices;

    if (elements->all <= 0.0)
        return base;
    return (low * elements->low + base * (elements->matrices - elements->low) +
            sl_adapter_rest_bytes(&workload->adapter) * rest) /
           elements->all;
}

/* What the workload says of the states of what trains. */
static void
override_states(const sl_layout *asked, sl_layout *layout)
{
    if (asked->gradient_bytes >= 0.0)
        layout->gradient_bytes = asked->gradient_bytes;
    if (asked->master_bytes >= 0.0)
        layout->master_bytes = asked->master_bytes;
    if (asked->optimizer_bytes >= 0.0)
        layout->optimizer_bytes = asked->optimizer_bytes;
}

sl_layout
sl_states_layout(const sl_workload *workload, const sl_plan *plan, const sl_elements *elements)
{
    sl_layout layout =
        framework_layout(workload, plan, sl_states_own_bf16(workload, plan), elements);

    if (sl_adapter_on(&workload->adapter))
        layout = (sl_layout){.parameter_bytes = base_bytes(workload, elements)};
    else if (workload->fp8.primary_weights && elements->all > 0.0)
        layout.parameter_bytes = (sl_low_weight_value_bytes(workload) * elements->low +
                                  layout.parameter_bytes * (elements->all - elements->low)) /
                                 elements->all;
    if (workload->layout.parameter_bytes >= 0.0)
        layout.parameter_bytes = workload->layout.parameter_bytes;
    if (!sl_adapter_on(&workload->adapter))
        override_states(&workload->layout, &layout);
    return layout;
}

bool
sl_states_alike(const sl_workload *workload)
{
    return !workload->fp8.primary_weights && !sl_adapter_on(&workload->adapter) &&
           workload->optimizer != SL_OPTIMIZER_ADAFACTOR &&
           workload->optimizer != SL_OPTIMIZER_MUON;
}

static double
wire_bytes(sl_wire wire)
{
    return wire == SL_WIRE_FP32 ? 4.0 : wire == SL_WIRE_FP8 ? 1.0 : 2.0;
}

double
sl_states_summed_bytes(const sl_layout *layout)
{
    return sl_smaller(layout->gradient_bytes, 4.0);
}

/* Gradients as they are made, and what they are added up in. */
static bool
keeps_both(const sl_workload *workload, const sl_layout *layout)
{
    return (workload->on_deepspeed || workload->own_bf16) && layout->gradient_bytes > 4.0;
}

double
sl_states_reduce_bytes(const sl_workload *workload, const sl_layout *layout)
{
    if (keeps_both(workload, layout) && workload->reduce == SL_WIRE_DEFAULT)
        return sl_precision_kept_bytes(workload->precision);
    if (workload->reduce == SL_WIRE_DEFAULT || layout->gradient_bytes <= 0.0 ||
        workload->framework == SL_FRAMEWORK_MEGATRON)
        return sl_states_summed_bytes(layout);
    return wire_bytes(workload->reduce);
}

double
sl_states_gather_bytes(const sl_workload *workload, const sl_layout *layout, bool linear)
{
    const double half = sl_precision_kept_bytes(workload->precision);
    /* Scales for a few values each are made anew of what was gathered in 16 bits. */
    const bool rescaled = workload->fp8.primary_weights && workload->precision != SL_PRECISION_FP8;
    const double own = rescaled ? half : sl_smaller(layout->parameter_bytes, half);

    if (workload->gather == SL_WIRE_FP8)
        return linear ? sl_smaller(own, 1.0) : own;
    return workload->gather == SL_WIRE_DEFAULT ? own : wire_bytes(workload->gather);
}

double
sl_states_gathered_bytes(const sl_workload *workload, const sl_layout *layout,
                         const sl_elements *elements)
{
    const double linear = sl_states_gather_bytes(workload, layout, true);
    const double other =
        workload->gather == SL_WIRE_FP8 ? sl_states_gather_bytes(workload, layout, false) : linear;

    return elements->matrices * linear + (elements->all - elements->matrices) * other;
}

bool
sl_framework_replicates(sl_framework framework)
{
    return framework == SL_FRAMEWORK_DDP || framework == SL_FRAMEWORK_DP;
}

bool
sl_framework_is_fsdp(sl_framework framework)
{
    return framework == SL_FRAMEWORK_FSDP1 || framework == SL_FRAMEWORK_FSDP2;
}

bool
sl_states_gathers_units(const sl_workload *workload, const sl_plan *plan)
{
    return plan->zero_stage >= 2 && (sl_framework_is_fsdp(workload->framework) ||
                                     workload->framework == SL_FRAMEWORK_MEGATRON);
}

bool
sl_states_divides_parameters(const sl_workload *workload, const sl_plan *plan)
{
    return plan->zero_stage >= (sl_framework_is_fsdp(workload->framework) ? 2 : 3);
}

sl_shards
sl_states_shards(const sl_workload *workload, const sl_plan *plan)
{
    const sl_degree whole = {1.0, 1.0};
    const double shard = (double)sl_plan_sharers(plan) * plan->context;
    /* Ranks that share experts hold different ones, and ranks that do not cut them the same. */
    const double alike = shard * plan->tensor / plan->expert / sl_plan_expert_tensor(plan);
    const sl_degree divided = {shard, alike > 1.0 ? alike : 1.0};

    return (sl_shards){
        .parameters = sl_states_divides_parameters(workload, plan) ? divided : whole,
        .gradients = plan->zero_stage >= 2 ? divided : whole,
        .optimizer = sl_states_divides_masters(workload, plan) ? divided : whole,
    };
}

sl_elements
sl_states_trained(const sl_workload *workload, const sl_plan *plan, const sl_elements *elements,
                  sl_layout *layout)
{
    if (!sl_adapter_on(&workload->adapter)) {
        *layout = sl_states_layout(workload, plan, elements);
        return *elements;
    }

    const sl_elements own = {.all = elements->adapters,
                             .routed = elements->routed_adapters,
                             .matrices = elements->adapters,
                             .factored = elements->factored_adapters};
    /* Megatron's modules are made in the precision of the model and train like the rest of it;
     * DeepSpeed casts the whole model (engine.py, _configure_distributed_model). */
    if (workload->adapter.half && (workload->framework == SL_FRAMEWORK_MEGATRON ||
                                   workload->framework == SL_FRAMEWORK_DEEPSPEED)) {
        *layout = framework_layout(workload, plan, false, &own);
        override_states(&workload->layout, layout);
        return own;
    }
    const double each = sl_adapter_element_bytes(&workload->adapter);
    const bool quantized = workload->optimizer == SL_OPTIMIZER_ADAMW_8BIT ||
                           workload->optimizer == SL_OPTIMIZER_ADAMW_4BIT;
    *layout = (sl_layout){
        .parameter_bytes = each,
        .gradient_bytes = each,
        .optimizer_bytes =
            optimizer_bytes(workload->optimizer, sl_states_steps_flat(workload, plan), &own) *
            (quantized ? 1.0 : each / 4.0),
    };
    override_states(&workload->layout, layout);
    return own;
}

double
sl_states_away(const sl_workload *workload)
{
    const sl_offload *offload = &workload->offload;

    if (!offload->optimizer)
        return 0.0;
    return offload->optimizer_fraction > 0.0 ? offload->optimizer_fraction : 1.0;
}

double
sl_states_adapter_buffers(const sl_workload *workload, const sl_elements *elements)
{
    return elements->adapter_buffers +
           sl_adapter_shared(&workload->adapter, elements->shared_inputs, elements->shared_outputs);
}

sl_elements
sl_states_adapter_frozen(const sl_elements *elements)
{
    return (sl_elements){.all = elements->frozen_adapters,
                         .routed = elements->routed_frozen_adapters};
}

sl_layout
sl_states_adapter_layout(const sl_workload *workload, const sl_plan *plan,
                         const sl_elements *elements)
{
    const bool sent =
        sl_states_away(workload) > 0.0 && workload->framework != SL_FRAMEWORK_MEGATRON;
    sl_layout layout;

    (void)sl_states_trained(workload, plan, elements, &layout);
    if (workload->offload.parameters)
        layout.parameter_bytes = 0.0;
    if (sent)
        layout.gradient_bytes = 0.0;
    return layout;
}

double
sl_states_adapter_bytes(const sl_workload *workload, const sl_plan *plan,
                        const sl_elements *elements, const sl_shards *shards)
{
    const double stays = 1.0 - sl_states_away(workload);
    const sl_layout layout = sl_states_adapter_layout(workload, plan, elements);
    const sl_elements own = {.all = elements->adapters, .routed = elements->routed_adapters};
    const sl_elements frozen = sl_states_adapter_frozen(elements);

    return layout.parameter_bytes * (sl_states_at_rest(&own, &shards->parameters) +
                                     sl_states_at_rest(&frozen, &shards->parameters)) +
           layout.gradient_bytes * sl_states_at_rest(&own, &shards->gradients) +
           stays * (layout.master_bytes + layout.optimizer_bytes) *
               sl_states_at_rest(&own, &shards->optimizer) +
           sl_adapter_element_bytes(&workload->adapter) *
               sl_states_adapter_buffers(workload, elements);
}

bool
sl_states_engine(const sl_workload *workload, const sl_plan *plan)
{
    return workload->on_deepspeed && plan->zero_stage <= 1 &&
           sl_states_divides_masters(workload, plan) && !workload->offload.optimizer &&
           !sl_adapter_on(&workload->adapter);
}

bool
sl_states_sums_beside(const sl_workload *workload, const sl_plan *plan, const sl_layout *layout)
{
    return sl_states_own_bf16(workload, plan) ||
           (sl_states_engine(workload, plan) && keeps_both(workload, layout));
}

double
sl_states_cast_bytes(const sl_workload *workload, const sl_plan *plan, const sl_layout *layout)
{
    const double sent = sl_states_reduce_bytes(workload, layout);
    const bool cast =
        sl_states_sums_beside(workload, plan, layout) && sent < sl_states_summed_bytes(layout);

    return cast ? sent : 0.0;
}

bool
sl_states_has_owners(const sl_software *software, const sl_plan *plan)
{
    return software->whole_owners && plan->zero_stage == 1;
}

bool
sl_states_wait(const sl_workload *workload, const sl_plan *plan)
{
    return sl_framework_is_fsdp(workload->framework) && plan->zero_stage >= 2 &&
           sl_plan_gradient_sync(workload, plan) == SL_GRADIENT_SYNC_LAST &&
           sl_plan_microbatches(workload, plan) > 1;
}

double
sl_states_waiting_bytes(const sl_workload *workload, const sl_layout *layout)
{
    if (layout->gradient_bytes <= 0.0)
        return 0.0;
    return workload->framework == SL_FRAMEWORK_FSDP1
               ? sl_states_gather_bytes(workload, layout, false)
               : sl_states_reduce_bytes(workload, layout);
}

bool
sl_states_reduces_after(const sl_workload *workload, const sl_plan *plan)
{
    if (workload->framework == SL_FRAMEWORK_DEEPSPEED)
        return plan->zero_stage == 0;
    return workload->framework == SL_FRAMEWORK_FSDP2 && plan->pipeline > 1 &&
           sl_states_wait(workload, plan);
}

bool
sl_states_gathers_beside(const sl_software *software, const sl_workload *workload,
                         const sl_plan *plan)
{
    const bool steps = workload->framework == SL_FRAMEWORK_DEEPSPEED || workload->on_deepspeed;

    return software->overlap_parameter_gather &&
           (!steps || sl_states_divides_parameters(workload, plan));
}

bool
sl_states_keeps_gathered(const sl_workload *workload, const sl_plan *plan)
{
    return !sl_states_reshards(workload, plan) &&
           (workload->framework == SL_FRAMEWORK_FSDP1 || plan->pipeline > 1) &&
           sl_states_wait(workload, plan);
}

sl_elements
sl_states_sent(const sl_elements *elements, const sl_degree *degree)
{
    const double routed = elements->routed_padding * degree->routed;
    const double empty = elements->padding * degree->dense + routed;
    sl_elements sent = *elements;

    if (empty <= 0.0)
        return sent;
    sent.all += empty;
    sent.routed += routed;
    sent.matrices *= sent.all / elements->all;
    sent.padding = sent.routed_padding = 0.0;
    return sent;
}

static sl_elements
routed_of(const sl_elements *e)
{
    return (sl_elements){.all = e->routed,
                         .routed = e->routed,
                         .matrices = e->routed_matrices,
                         .low = e->routed_low,
                         .factored = e->routed_factored};
}

static sl_elements
dense_of(const sl_elements *e)
{
    return (sl_elements){.all = e->all - e->routed,
                         .matrices = e->matrices - e->routed_matrices,
                         .low = e->low - e->routed_low,
                         .factored = e->factored - e->routed_factored};
}

sl_layouts
sl_states_layouts(const sl_workload *workload, const sl_plan *plan, const sl_elements *elements)
{
    const sl_layout all = sl_states_layout(workload, plan, elements);

    if (elements->routed <= 0.0)
        return (sl_layouts){all, all, all};
    const sl_elements dense = dense_of(elements);
    const sl_elements routed = routed_of(elements);
    return (sl_layouts){all, sl_states_layout(workload, plan, &dense),
                        sl_states_layout(workload, plan, &routed)};
}

static double
divided_bytes(const sl_elements *elements, const sl_degree *degree, double dense, double routed)
{
    const double own =
        dense * ((elements->all - elements->routed) / degree->dense + elements->padding);

    return elements->routed > 0.0
               ? own + routed * (elements->routed / degree->routed + elements->routed_padding)
               : own;
}

double
sl_states_parameter_bytes(const sl_elements *elements, const sl_layouts *layouts,
                          const sl_degree *degree)
{
    return divided_bytes(elements, degree, layouts->dense.parameter_bytes,
                         layouts->routed.parameter_bytes);
}

double
sl_states_optimizer_bytes(const sl_elements *elements, const sl_layouts *layouts,
                          const sl_degree *degree)
{
    return divided_bytes(elements, degree, layouts->dense.optimizer_bytes,
                         layouts->routed.optimizer_bytes);
}

double
sl_states_moment_bytes(const sl_layout *layout)
{
    return layout->optimizer_bytes / 2.0;
}

double
sl_states_at_rest(const sl_elements *elements, const sl_degree *degree)
{
    return divided_bytes(elements, degree, 1.0, 1.0);
}

bool
sl_states_reshards(const sl_workload *workload, const sl_plan *plan)
{
    if (plan->reshard != SL_RESHARD_DEFAULT)
        return plan->reshard == SL_RESHARD_ALWAYS;
    /* With a pipeline each micro-batch would gather again: torchtitan keeps them then. */
    return plan->zero_stage >= 3 &&
           (plan->pipeline == 1 || workload->framework == SL_FRAMEWORK_DEEPSPEED);
}
