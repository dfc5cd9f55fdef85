/* What is said of an answer's states: how they are sharded, offloaded, adapted and rebuilt. */
#include <stddef.h>

#include "engine/answer/notes.h"
#include "engine/placement/adapter.h"
#include "engine/placement/recompute.h"
#include "engine/placement/states.h"
#include "engine/price/low_precision.h"
#include "shardline/plan.h"

/* Buffers that some code has and some has not: said, not counted. */
static void
note_buffers(sl_estimate *out)
{
    const sl_framework framework = out->workload.framework;
    const bool stepped = out->workload.optimizer == SL_OPTIMIZER_ADAMW &&
                         (framework == SL_FRAMEWORK_DDP || sl_framework_is_fsdp(framework));

    if (framework == SL_FRAMEWORK_MEGATRON && out->plan.zero_stage >= 2)
        sl_note_add(
            out, true, "megatron_fsdp",
            out->plan.zero_stage == 2
                ? "stage 2 of megatron is Megatron-FSDP's optim_grads: until its pull request 6357 "
                  "of August 2026 whole main gradients of the rank are there during backward, so "
                  "that its peak exceeds stage 1's; no measured run decides it"
            : out->software->double_buffers
                ? "stage 3 of megatron is Megatron-FSDP's optim_grads_params, gathered and reduced "
                  "by blocks; two blocks gathered and two of gradients stay, as NVIDIA's recipes "
                  "set it (fsdp_double_buffer)"
                : "stage 3 of megatron is Megatron-FSDP's optim_grads_params, gathered and reduced "
                  "by blocks; without fsdp_double_buffer gradients of up to 1e9 elements wait to "
                  "be let go of (suggested_communication_unit_size), which no measured run "
                  "decides");
    if (framework == SL_FRAMEWORK_DEEPSPEED && out->plan.data * out->plan.context > 1 &&
        (out->plan.zero_stage == 1 || out->plan.zero_stage == 2))
        sl_note_add(out, false, "allgather_bucket",
                    "updated parameters are gathered into their place after the step: copies of "
                    "allgather_bucket_size (5e8 elements) are not counted");
    if (sl_states_engine(&out->workload, &out->plan))
        sl_note_add(out, false, "deepspeed_engine",
                    "DeepSpeed's ZeRO 1 beneath Megatron's layers, with its default buckets of 5e8 "
                    "elements: these and flat copies of gradients stay reserved");
    if (stepped && !out->workload.offload.optimizer)
        sl_note_add(
            out, false, "adamw_implementation",
            "PyTorch's foreach implementation of AdamW, its default on a device, holds lists as "
            "large "
            "as one of its moments while it steps: as many as step_lists of the profile says, none "
            "where it is fused");
}

/* What FSDP1 holds of a frozen base depends on how its blocks are recomputed. */
static void
note_held_inputs(sl_estimate *out)
{
    if (sl_recompute_holds_inputs(&out->workload, &out->plan, out->software))
        sl_note_add(out, false, "inputs_held",
                    "reentrant recomputation, Transformers 4's own: FSDP 1 holds the inputs of all "
                    "frozen blocks and their gradients until backward is done; use_reentrant=False "
                    "(software pytorch-fsdp1-2.x) or FSDP 2 lets go of them");
    else if (sl_recompute_may_hold_inputs(&out->workload, &out->plan))
        sl_note_add(out, true, "inputs_let_go",
                    "recomputation counts as not reentrant; where it is, as Transformers 4's own, "
                    "FSDP 1 holds the inputs of all frozen blocks and their gradients until "
                    "backward is done: software transformers-fsdp1-4.x counts them");
}

/* Why adapters may need more memory than all of the weights would. */
static void
note_adapter(const sl_question *question, sl_estimate *out)
{
    const sl_adapter *adapter = &out->workload.adapter;
    const double spread = out->plan.sequence ? out->plan.tensor : 1.0;
    const double kept_bytes = sl_precision_kept_bytes(out->workload.precision);

    if (!sl_adapter_on(adapter))
        return;
    sl_note_add(
        out, true, "adapter_time",
        "a quantised base is unpacked at the speed of memory, which kernels may not reach; what "
        "adapters other than LoRA and its kin multiply is not priced, and model FLOPs count frozen "
        "weights as if they trained");
    if (adapter->base == SL_ADAPTER_BASE_INT8 && sl_framework_is_fsdp(out->workload.framework) &&
        out->plan.zero_stage > 0)
        sl_note_add(out, true, "adapter_base_support",
                    "fsdp cannot shard int8 weights of bitsandbytes (its issue 1709, PEFT's 2833), "
                    "and is counted as if it could; bases nf4 and nf4_double, stored in the type "
                    "of the rest, it can");
    if (adapter->method == SL_ADAPTER_LORA_FA)
        sl_note_add(
            out, true, "lora_fa_input",
            "by its definition lora_fa need not keep the inputs of its frozen half; the published "
            "PEFT run needs as much as lora does, so they are counted: an upper bound");
    if (question->model->experts > 0 && out->workload.framework == SL_FRAMEWORK_MEGATRON &&
        sl_adapter_has_targets(adapter->method))
        sl_note_add(
            out, false, "adapter_experts_shared",
            "the experts of a rank share one adapter for each of their modules, as Megatron-Bridge "
            "makes them by default (share_expert_adapters)");
    if (sl_adapter_gathers(adapter, out->workload.framework, spread))
        sl_note_add(
            out, true, "adapter_inputs_gathered",
            "with sequence parallelism Megatron's adapters keep the inputs of linear_qkv and "
            "linear_fc1 gathered over the tensor ranks, in every layer: activations of LoRA may "
            "exceed those of full fine-tuning; adapter.sequence_parallel_input_regather keeps a "
            "rank's part, and the gathers that take its place are not priced");
    if (sl_adapter_casts(adapter, kept_bytes))
        sl_note_add(
            out, false, "adapter_inputs_copied",
            "adapters in another precision than the base keep a copy of the input for each of "
            "their matrices, and outside of autocast multiply in theirs: activations may exceed "
            "those of full fine-tuning; adapter.dtype bf16 keeps one input, adapter.autocast, "
            "which Trainer's bf16 is, narrow copies");
    if (sl_adapter_multiplied_bytes(adapter, kept_bytes) > kept_bytes &&
        question->cluster->accelerator.peak_flops_per_s[SL_PRECISION_FP32] <= 0.0)
        sl_note_add(out, true, "adapter_rate_unknown",
                    "no rate of this part in fp32 is known: what adapters multiply in fp32 is "
                    "priced at the rate of the base, which is too fast");
}

static void
note_offload(const sl_question *question, sl_estimate *out)
{
    const sl_offload *offload = &out->workload.offload;

    if (question->cluster->accelerator.host_bytes_per_s <= 0.0 &&
        (offload->optimizer || offload->parameters || offload->activations))
        sl_note_add(
            out, true, "host_link_unknown",
            "the link of this part to its host is not known: what goes over it is not priced");
    else if (offload->optimizer || offload->parameters)
        sl_note_add(
            out, true, "offload_time",
            "the optimizer's step on the host is taken as 4e9 updates a second and node, and what "
            "goes "
            "over the host's link at its datasheet rate: no measured run decides either");
    if (offload->activations && out->workload.framework == SL_FRAMEWORK_MEGATRON &&
        (out->plan.pipeline > 1 || out->workload.recompute == SL_RECOMPUTE_FULL))
        sl_note_add(
            out, true, "activation_offload_support",
            "Megatron's offload by layers (cpu_offloading) refuses a pipeline, and recomputation "
            "beside it: this takes a release with fine-grained offloading, which was held against "
            "no measured run");
    if (sl_states_away(&out->workload) > 0.0 && sl_states_away(&out->workload) < 1.0)
        sl_note_add(
            out, false, "optimizer_fraction_whole",
            "Megatron moves whole shards of tensors until their parameters reach the fraction: up "
            "to one of them more leaves the device than is counted");
    if (offload->optimizer_on_nvme || offload->parameters_on_nvme)
        sl_note_add(
            out, true, "nvme_time",
            "reading and writing the disks is not priced: the step takes longer; buffers in the "
            "host's "
            "memory are DeepSpeed's defaults");
}

/* Megatron refuses some of these, and lets others pass. */
static void
note_modules(const sl_question *question, sl_estimate *out)
{
    const sl_model *model = question->model;
    const uint32_t asked = out->workload.recompute_modules;
    uint32_t found = out->workload.attention == SL_ATTENTION_UNFUSED
                         ? UINT32_C(1) << SL_MODULE_CORE_ATTENTION
                         : 0;

    if (out->workload.recompute != SL_RECOMPUTE_MODULES)
        return;
    for (uint32_t k = 0; k < model->kind_count; k++)
        for (uint32_t i = 0; i < model->kinds[k].operator_count; i++)
            for (uint32_t m = 0; m < SL_MODULE_COUNT; m++)
                if (sl_recompute_runs(&model->kinds[k], i, (sl_recompute_module)m))
                    found |= UINT32_C(1) << m;
    if ((asked & ~found) != 0)
        sl_note_add(
            out, true, "recompute_module_absent",
            "one or more of recompute.modules change nothing: the model has no such part, or a "
            "fused kernel never keeps it");
}

/* What the sharding frameworks add, and how little of their time was measured. */
static void
note_mechanism(sl_estimate *out)
{
    const sl_framework framework = out->workload.framework;

    if (sl_framework_is_fsdp(framework) || framework == SL_FRAMEWORK_DEEPSPEED)
        sl_note_add(
            out, true, "sharded_time_unvalidated",
            "gathers and reductions of fsdp and deepspeed hide under forward and backward as a "
            "whole, but for the first and the last piece; of deepspeed only stage 3 was held "
            "against measured runs");
    if (framework == SL_FRAMEWORK_DEEPSPEED)
        sl_note_add(
            out, true, "deepspeed_memory_unvalidated",
            "buffers of deepspeed are its defaults (buckets of 5e8, at most 1e9 live elements); "
            "no complete measured run decides them");
    if (sl_states_own_bf16(&out->workload, &out->plan))
        sl_note_add(
            out, false, "bf16_optimizer",
            "in bf16 without ZeRO DeepSpeed takes its BF16_Optimizer, which divides masters and "
            "moments over the data ranks and keeps a sum of gradients in fp32: 8 bytes a "
            "parameter and 12 shared. Releases since 0.17.6 hold all 16 on every rank instead "
            "(software deepspeed-0.18)");
    if (out->workload.recompute == SL_RECOMPUTE_OPERATORS)
        sl_note_add(
            out, false, "op_sac_policy",
            "op_sac keeps every other product and the attention, as torchtitan does; products of "
            "experts, half of the rest of forward and gathers of tensor parallelism are priced as "
            "run again");
    if (sl_framework_is_fsdp(framework) && sl_slice_autocasts(&out->workload))
        sl_note_add(
            out, false, "autocast_read",
            "parameters gathered in 32 bits are multiplied with in 16, under autocast: what "
            "norms read and blocks begin with is counted in 32; of the one source of such "
            "peaks a third is in no count");
}

/* How the step runs: graphs, compiled kernels, an optimizer within backward. */
static void
note_running(sl_estimate *out)
{
    if (out->workload.graphs != SL_GRAPHS_NONE)
        sl_note_add(
            out, true, "cuda_graphs_coarse",
            out->workload.graphs == SL_GRAPHS_LAYER
                ? "captured blocks keep their output, a hidden state for each in flight; before "
                  "TransformerEngine 2.6 also a copy of their input and two gradients. What else "
                  "their pool holds is in the upper end of what is reserved alone: a few GB, more "
                  "than ten with a pipeline (Megatron-Bridge's guide), taken as 3 and 10"
                : "a graph of the whole step is counted as no buffers of its own. What its pool "
                  "holds is in the upper end of what is reserved alone: a few GB, more than ten "
                  "with a pipeline (Megatron-Bridge's guide), taken as 3 and 10");
    if (out->workload.optimizer_in_backward)
        sl_note_add(
            out, false, "optimizer_in_backward",
            "gradients cannot be clipped by their norm or summed over micro-batches when each is "
            "stepped on at once");
    if (out->workload.compile)
        sl_note_add(
            out, true, "compile_time",
            "generated pointwise kernels are priced as fused ones, and the host is taken to be "
            "ahead of "
            "the device");
}

/* Optimizers whose support or time is in doubt, and copies that states are held in. */
static void
note_optimizer(sl_estimate *out)
{
    const sl_framework framework = out->workload.framework;

    if (framework == SL_FRAMEWORK_MEGATRON && (out->workload.optimizer == SL_OPTIMIZER_ADAMW_8BIT ||
                                               out->workload.optimizer == SL_OPTIMIZER_ADAMW_4BIT ||
                                               out->workload.optimizer == SL_OPTIMIZER_ADAFACTOR))
        sl_note_add(out, true, "optimizer_support",
                    "Megatron's own optimizers are Adam, SGD and, of late, Muon: this one takes "
                    "code of yours, and is counted as its library keeps it");
    if (sl_states_steps_flat(&out->workload, &out->plan) &&
        out->workload.optimizer == SL_OPTIMIZER_ADAFACTOR)
        sl_note_add(out, true, "optimizer_support",
                    "flat parts of tensors have no rows and columns: Adafactor keeps 4 bytes a "
                    "parameter of them, and steps as for vectors");
    if (framework == SL_FRAMEWORK_FSDP1 && sl_states_steps_flat(&out->workload, &out->plan) &&
        out->workload.optimizer == SL_OPTIMIZER_MUON)
        sl_note_add(out, true, "optimizer_support",
                    "Muon needs whole matrices, and FSDP 1 steps on flat parts of them: this takes "
                    "code of yours, or framework fsdp2");
    if (framework == SL_FRAMEWORK_MEGATRON && out->workload.offload.optimizer &&
        (out->plan.zero_stage >= 2 || out->workload.optimizer == SL_OPTIMIZER_MUON))
        sl_note_add(out, true, "optimizer_offload_support",
                    "Megatron's optimizer on the host is Adam's, of the distributed optimizer: "
                    "with Muon or Megatron-FSDP a release may refuse it");
    if (sl_low_keeps_operands(&out->workload) && out->plan.zero_stage >= 3)
        sl_note_add(
            out, true, "quantised_copies_whole",
            "quantised copies of weights are counted whole on every rank, as TransformerEngine "
            "keeps them from one micro-batch to the next: an upper bound where Megatron-FSDP lets "
            "go of them (keep_fp8_transpose_cache off)");
    if (out->workload.optimizer == SL_OPTIMIZER_MUON)
        sl_note_add(out, true, "muon_time",
                    "the products of Muon's orthogonalisation are not priced");
    if (out->plan.shard_group > 0 && out->plan.shard_group < out->plan.data)
        sl_note_add(out, false, "hybrid_copies",
                    "states are divided within shard_group and held once by every such group");
}

void
sl_note_states(const sl_question *question, sl_estimate *out)
{
    note_mechanism(out);
    note_offload(question, out);
    note_adapter(question, out);
    note_held_inputs(out);
    note_running(out);
    note_optimizer(out);
    note_modules(question, out);
    note_buffers(out);
}
