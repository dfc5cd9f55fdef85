#include "engine/memory/offload.h"

#include <assert.h>
#include <stddef.h>

#include "engine/check/check.h"
#include "engine/extremes.h"
#include "engine/links/links.h"
#include "engine/placement/adapter.h"
#include "engine/schedule/schedule.h"

/* DeepSpeed's defaults. */
static const double sub_group_elements = 1e9;
static const double optimizer_buffers = 4.0;
static const double parameter_elements_in_host = 1e9;
static const double parameter_buffer_elements = 5.0 * 1e8;

/* CPU Adam of one node (DeepSpeed, Ren 2021, arXiv 2101.06840), coarse. */
static const double host_updates_per_s = 4e9;
static const double float_bytes = 4.0;

/* What the host steps on, per parameter: gradients, and weights, of which it has those that stay on
 * the device once more. */
static double
host_weight_and_gradient_bytes(const sl_workload *workload, const sl_layout *layout)
{
    const bool fsdp = sl_framework_is_fsdp(workload->framework);
    const double gradient = layout->gradient_bytes <= 0.0 ? 0.0
                            : fsdp                        ? layout->gradient_bytes
                                                          : float_bytes;
    const bool copied = !workload->offload.parameters && layout->master_bytes <= 0.0;

    return gradient + (copied ? layout->parameter_bytes : layout->master_bytes);
}

static void
add_optimizer(const sl_workload *workload, const sl_plan *plan, const sl_elements *elements,
              sl_offloaded *to)
{
    const sl_shards shards = sl_states_shards(workload, plan);
    const sl_layouts layouts = sl_states_layouts(workload, plan, elements);
    const double away = sl_states_away(workload);
    sl_layout layout;
    const sl_elements trained = sl_states_trained(workload, plan, elements, &layout);
    const double own = away * sl_states_at_rest(&trained, &shards.optimizer);
    const double states =
        sl_adapter_on(&workload->adapter)
            ? layout.optimizer_bytes * own
            : away * sl_states_optimizer_bytes(elements, &layouts, &shards.optimizer);
    const double bytes = host_weight_and_gradient_bytes(workload, &layout) * own + states;

    if (workload->offload.optimizer_on_nvme) {
        to->nvme_bytes += bytes;
        to->buffer_bytes += optimizer_buffers * float_bytes * sl_smaller(own, sub_group_elements);
    } else {
        to->state_bytes += bytes;
    }
}

/* Parameters of adapters in a rank's part: shards hold them like the base's. */
static double
adapters_at_rest(const sl_workload *workload, const sl_elements *elements, const sl_degree *degree)
{
    const sl_elements own = {.all = elements->adapters, .routed = elements->routed_adapters};
    const sl_elements frozen = sl_states_adapter_frozen(elements);

    return sl_adapter_on(&workload->adapter)
               ? sl_states_at_rest(&own, degree) + sl_states_at_rest(&frozen, degree)
               : 0.0;
}

static void
add_parameters(const sl_workload *workload, const sl_plan *plan, const sl_elements *elements,
               sl_offloaded *to)
{
    const sl_shards shards = sl_states_shards(workload, plan);
    const sl_layouts layouts = sl_states_layouts(workload, plan, elements);
    const bool disks = workload->offload.parameters_on_nvme;
    sl_layout layout; /* of adapters, where there are any */
    (void)sl_states_trained(workload, plan, elements, &layout);
    const double adapters = adapters_at_rest(workload, elements, &shards.parameters);
    const double own = sl_states_at_rest(elements, &shards.parameters) + adapters;
    const double kept = disks ? sl_smaller(own, parameter_elements_in_host) : own;
    const double bytes = sl_states_parameter_bytes(elements, &layouts, &shards.parameters) +
                         layout.parameter_bytes * adapters;
    const double each = own > 0.0 ? bytes / own : 0.0;

    to->state_bytes += each * kept;
    to->nvme_bytes += bytes - each * kept;
    if (disks)
        to->buffer_bytes += each * parameter_buffer_elements;
}

sl_offloaded
sl_offload_states(const sl_workload *workload, const sl_plan *plan, const sl_elements *elements)
{
    sl_offloaded out = {0.0, 0.0, 0.0};

    if (workload->offload.optimizer)
        add_optimizer(workload, plan, elements, &out);
    if (workload->offload.parameters)
        add_parameters(workload, plan, elements, &out);
    return out;
}

double
sl_offload_spare_bytes(const sl_workload *workload, const sl_offloaded *of)
{
    return workload->framework == SL_FRAMEWORK_DEEPSPEED ? of->state_bytes / 2.0 : 0.0;
}

double
sl_offload_start_bytes(const sl_workload *workload, const sl_elements *elements)
{
    return workload->framework == SL_FRAMEWORK_DEEPSPEED && !sl_adapter_on(&workload->adapter)
               ? float_bytes * elements->all
               : 0.0;
}

sl_host_step
sl_offload_step(const sl_question *question, const sl_workload *workload, const sl_plan *plan,
                const sl_elements *elements, double rounds)
{
    const sl_cluster *cluster = question->cluster;
    const double link = cluster->accelerator.host_bytes_per_s;
    const sl_shards shards = sl_states_shards(workload, plan);
    sl_layout layout;
    const sl_elements trained = sl_states_trained(workload, plan, elements, &layout);
    const double own = sl_states_away(workload) * sl_states_at_rest(&trained, &shards.optimizer);
    /* Megatron's are cast for the host's copy before they go. */
    const double sent = workload->framework == SL_FRAMEWORK_MEGATRON
                            ? float_bytes
                            : sl_states_reduce_bytes(workload, &layout);
    const double back = workload->offload.parameters ? 0.0 : layout.parameter_bytes * own;

    if (link <= 0.0)
        return (sl_host_step){0};
    return (sl_host_step){
        .update_s = own * cluster->accelerators_per_node / host_updates_per_s,
        .gradients_s = sent * own * rounds / link,
        .parameters_s = back / link,
    };
}

double
sl_offload_fetch_s(const sl_cluster *cluster, const sl_workload *workload, const sl_plan *plan,
                   const sl_elements *elements)
{
    const double link = cluster->accelerator.host_bytes_per_s;

    if (!workload->offload.parameters || link <= 0.0)
        return 0.0;

    const sl_shards shards = sl_states_shards(workload, plan);
    const sl_layout layout = sl_states_layout(workload, plan, elements);
    return layout.parameter_bytes * sl_states_at_rest(elements, &shards.parameters) / link;
}

uint32_t
sl_offload_leaving(const sl_workload *workload, uint32_t blocks)
{
    const uint32_t said = workload->offload.activation_layers;

    return said > 0 && said < blocks ? said : blocks;
}

bool
sl_offload_last_stays(const sl_workload *workload, uint32_t blocks)
{
    return sl_offload_leaving(workload, blocks) == blocks;
}

double
sl_offload_kept_s(const sl_cluster *cluster, const sl_workload *workload, double bytes)
{
    const sl_accelerator *part = &cluster->accelerator;

    return workload->offload.activations && part->host_bytes_per_s > 0.0
               ? sl_links_host_s(part, bytes)
               : 0.0;
}

static sl_code
check_leaving(const sl_question *question, sl_errors *err)
{
    static const char pointer[] = "/workload/offload/activation_layers";
    const sl_offload *offload = &question->workload.offload;
    uint32_t blocks = 0;

    if (offload->activation_layers == 0)
        return SL_OK;
    for (uint32_t i = 0; i < question->model->layer_count; i++)
        blocks += sl_schedule_is_block(question->model, question->model->layers[i]);
    if (offload->activation_layers > blocks)
        return sl_fail(err, SL_E_RANGE, "out_of_range", pointer,
                       "must be at most the %u blocks of the model, got %u", blocks,
                       offload->activation_layers);
    return SL_OK;
}

/* Who keeps parts of parameters with the host keeps what steps on them there too: FSDP's CPUOffload
 * moves a whole shard, DeepSpeed asserts it (partitioned_param_coordinator's stage 3, "parameter
 * offload is only available with optimizer state offload"). */
static sl_code
check_parameters(const sl_question *question, sl_errors *err)
{
    static const char pointer[] = "/workload/offload/parameters";
    static const char instead[] =
        "none, or framework fsdp2 with zero_stage 3, or framework deepspeed with zero_stage 3";
    const sl_workload *workload = &question->workload;
    const bool divides =
        sl_framework_is_fsdp(workload->framework) || workload->framework == SL_FRAMEWORK_DEEPSPEED;

    if (!workload->offload.parameters)
        return SL_OK;
    if (!divides || (sl_check_knows(question, SL_UNKNOWN_ZERO_STAGE) &&
                     !sl_states_divides_parameters(workload, &question->plan))) {
        const sl_code code =
            sl_fail(err, SL_E_RANGE, "needs_sharding", pointer,
                    "parameters are kept by the host where they are sharded: deepspeed stage 3 "
                    "or fsdp");
        sl_hint(err, instead);
        return code;
    }
    if (workload->offload.optimizer)
        return SL_OK;

    const sl_code code =
        sl_fail(err, SL_E_RANGE, "needs_optimizer_offload", "/workload/offload/optimizer",
                "parameters that the host keeps are stepped on there: fsdp and deepspeed move "
                "them together with their optimizer states");
    sl_hint(err, "cpu, or offload.parameters none");
    return code;
}

/* DeepSpeed moves what a stage divides; Megatron's cpu offload asserts the precision-aware optimizer,
 * and that the distributed one. */
static sl_code
check_optimizer(const sl_question *question, sl_errors *err)
{
    const sl_workload *workload = &question->workload;
    const bool deepspeed = workload->framework == SL_FRAMEWORK_DEEPSPEED;

    if (!workload->offload.optimizer || !sl_check_knows(question, SL_UNKNOWN_ZERO_STAGE) ||
        question->plan.zero_stage > 0 ||
        (!deepspeed && workload->framework != SL_FRAMEWORK_MEGATRON))
        return SL_OK;

    const sl_code code =
        sl_fail(err, SL_E_RANGE, "needs_sharding", "/workload/offload/optimizer",
                deepspeed ? "deepspeed moves optimizer states to the host in stages 1 to 3"
                          : "megatron moves optimizer states to the host of its distributed "
                            "optimizer");
    sl_hint(err, deepspeed ? "none, or zero_stage 2" : "none, or zero_stage 1");
    return code;
}

/* DeepSpeed has a ratio too, in its stage 3, which chooses by sub-groups. */
static sl_code
check_fraction(const sl_question *question, sl_errors *err)
{
    const sl_workload *workload = &question->workload;

    if (sl_states_away(workload) == 0.0 || sl_states_away(workload) == 1.0 ||
        workload->framework == SL_FRAMEWORK_MEGATRON)
        return SL_OK;

    const sl_code code =
        sl_fail(err, SL_E_UNSUPPORTED, "not_modelled", "/workload/offload/optimizer_fraction",
                "a part of the optimizer on the host is modelled as Megatron's "
                "optimizer-offload-fraction is");
    sl_hint(err, "1, or framework megatron");
    return code;
}

static sl_code
check_disks(const sl_question *question, sl_errors *err)
{
    const sl_offload *offload = &question->workload.offload;
    const bool infinity =
        question->workload.framework == SL_FRAMEWORK_DEEPSPEED &&
        (!sl_check_knows(question, SL_UNKNOWN_ZERO_STAGE) || question->plan.zero_stage == 3);

    if ((!offload->optimizer_on_nvme && !offload->parameters_on_nvme) || infinity)
        return SL_OK;

    const sl_code code = sl_fail(err, SL_E_RANGE, "nvme_not_of_framework",
                                 offload->optimizer_on_nvme ? "/workload/offload/optimizer"
                                                            : "/workload/offload/parameters",
                                 "only deepspeed's stage 3 keeps states on disks (ZeRO-Infinity)");
    sl_hint(err, "cpu, or framework deepspeed with zero_stage 3");
    return code;
}

sl_code
sl_check_offload(const sl_question *question, sl_errors *err)
{
    static const sl_rule rules[] = {check_leaving, check_parameters, check_optimizer,
                                    check_fraction};

    assert(question != NULL && err != NULL);
    const sl_code code = sl_check_all(rules, sizeof rules / sizeof rules[0], question, err);
    return code != SL_OK ? code : check_disks(question, err);
}
