#include "engine/check/check_shared.h"

#include <assert.h>

#include "engine/check/check.h"

/* Who has ranks of a replica that hold different parts of a sequence, or different experts. */
static bool
deals_out(sl_framework framework)
{
    return framework == SL_FRAMEWORK_MEGATRON || framework == SL_FRAMEWORK_FSDP2 ||
           framework == SL_FRAMEWORK_DEEPSPEED;
}

static bool
has_fused_attention(const sl_question *question)
{
    for (uint32_t kernel = SL_ATTENTION_UNFUSED + 1; kernel < SL_ATTENTION_KERNEL_COUNT; kernel++)
        if (sl_attention_possible(&question->cluster->accelerator, (sl_attention_kernel)kernel,
                                  question->workload.precision))
            return true;
    return false;
}

/* An exchange deals the heads of a tensor rank out over the ranks that share the sequence; DeepSpeed
 * repeats key-value heads where there are fewer (UlyssesSPAttentionHF), TransformerEngine does not. */
static sl_code
check_exchange(const sl_question *question, sl_errors *err)
{
    const sl_plan *plan = &question->plan;
    assert(plan->tensor != 0);

    const uint64_t heads = question->model->heads / plan->tensor;
    const uint64_t kv_heads = question->model->kv_heads / plan->tensor;

    const bool repeats = question->workload.framework == SL_FRAMEWORK_DEEPSPEED;
    if (kv_heads > 0 && heads % plan->context == 0 &&
        (kv_heads % plan->context == 0 || (repeats && plan->context % kv_heads == 0)))
        return SL_OK;

    const sl_code code =
        sl_fail(err, SL_E_RANGE, "not_divisible", "/parallelism/context",
                "must divide the %llu attention heads of a tensor rank and %s %llu key-value ones, "
                "got %u",
                (unsigned long long)heads, repeats ? "divide or be a multiple of the" : "the",
                (unsigned long long)kv_heads, plan->context);
    sl_hint(err, "or context_kind p2p, or context_kind allgather");
    return code;
}

uint64_t
sl_nearest_length(uint64_t length, const sl_plan *plan)
{
    const uint64_t unit =
        (uint64_t)plan->tensor * (plan->context > 1 ? 2 * (uint64_t)plan->context : 1);
    const uint64_t below = length / unit * unit;

    return below > 0 && 2 * (length - below) < unit ? below : below + unit;
}

sl_code
sl_check_context(const sl_question *question, sl_errors *err)
{
    const sl_plan *plan = &question->plan;
    const sl_framework framework = question->workload.framework;
    const uint64_t s = question->workload.sequence_length;
    const char *pointer = "/parallelism/context";
    sl_code code = SL_OK;

    if (plan->context == 1)
        return SL_OK;
    if (sl_model_is_plain(question->model))
        return sl_fail(err, SL_E_RANGE, "no_sequence", pointer,
                       "a list of layers is counted per sample: there is no sequence to share");
    if (!deals_out(framework)) {
        code = sl_fail(err, SL_E_UNSUPPORTED, "not_modelled", pointer,
                       "context parallelism is modelled for megatron, fsdp2 and deepspeed, got %u",
                       plan->context);
        sl_hint(err, "or framework megatron, or framework fsdp2 with zero_stage 3");
    }
    if (!has_fused_attention(question)) {
        const bool wide = sl_precision_bytes(question->workload.precision) > 2.0;
        code = sl_fail(err, SL_E_RANGE, "needs_fused_attention",
                       wide ? "/workload/precision" : pointer,
                       "a sequence shared by ranks needs a fused attention kernel, of which %s has "
                       "none in this precision",
                       question->cluster->accelerator.id);
        if (wide)
            sl_hint(err, "bf16, fp16, or bf16 with attention flash2, or context 1");
    } else if (sl_check_knows(question, SL_UNKNOWN_ATTENTION) &&
               question->workload.attention == SL_ATTENTION_UNFUSED) {
        code = sl_fail(err, SL_E_RANGE, "needs_fused_attention", "/workload/attention",
                       "a sequence shared by ranks needs a fused attention kernel");
        sl_hint(err, "flash1, flash2, flash3, cudnn, efficient, or context 1");
    }
    /* A causal mask is balanced by two pieces a rank, which heads of whole sequences do not need;
     * Megatron cuts two for those as well. */
    const bool whole =
        framework == SL_FRAMEWORK_DEEPSPEED && plan->context_kind == SL_CONTEXT_EXCHANGE;
    if (s % (whole ? plan->context : 2ull * plan->context) != 0) {
        code = sl_fail(err, SL_E_RANGE, "not_divisible", pointer,
                       "%s must divide the %llu positions of a sequence, got %u",
                       whole ? "context" : "2 x context", (unsigned long long)s, plan->context);
        sl_hint(err, "or sequence_length %llu", (unsigned long long)sl_nearest_length(s, plan));
    }
    if (plan->context_kind == SL_CONTEXT_EXCHANGE) {
        const sl_code exchange = check_exchange(question, err);
        code = code == SL_OK ? exchange : code;
    }
    return code;
}

/* Megatron's experts have a grid of their own; with torchtitan they are cut as the rest or not at all
 * (its etp), and DeepSpeed's never. */
static sl_code
check_expert_tensor(const sl_question *question, uint64_t ranks, sl_errors *err)
{
    const sl_plan *plan = &question->plan;
    const uint32_t cut = sl_plan_expert_tensor(plan);
    const bool own =
        question->workload.framework == SL_FRAMEWORK_MEGATRON && !question->workload.on_deepspeed;
    const char *pointer = "/parallelism/expert_tensor";
    sl_code code = SL_OK;

    if (cut == 1 || cut == plan->tensor)
        return SL_OK;
    if (!own) {
        code =
            sl_fail(err, SL_E_UNSUPPORTED, "not_modelled", pointer,
                    "a cut of experts that is neither 1 nor tensor is modelled for megatron, got "
                    "%u",
                    cut);
        sl_hint(err, plan->tensor > 1 ? "1, %u" : "1", plan->tensor);
    } else if (ranks % cut != 0) {
        code =
            sl_fail(err, SL_E_RANGE, "not_divisible", pointer,
                    "must divide the %llu ranks of tensor x context x %s, got %u",
                    (unsigned long long)ranks, plan->shard_group > 0 ? "shard_group" : "data", cut);
        sl_hint_divisors(err, ranks, ranks, SL_EXPERT_CUT_HINTED);
    }
    return code;
}

/* Experts are dealt out whole, over the ranks of one stage that share one copy of the states
 * (torchtitan's parallel_dims: ep divides dp_shard x cp x tp). */
sl_code
sl_check_experts(const sl_question *question, sl_errors *err)
{
    const sl_plan *plan = &question->plan;
    const uint32_t experts = question->model->experts;
    const uint32_t cut = sl_plan_expert_tensor(plan);
    const uint64_t copy = sl_plan_sharers(plan);
    const uint64_t ranks = (uint64_t)plan->tensor * plan->context * copy;
    const sl_framework framework = question->workload.framework;
    const char *pointer = "/parallelism/expert";
    sl_code code = SL_OK;

    assert(plan->expert >= 1 && cut >= 1);
    if (experts == 0 && plan->expert > 1)
        return sl_fail(err, SL_E_RANGE, "no_experts", pointer, "this model has no experts, got %u",
                       plan->expert);
    if (experts == 0 && plan->expert_tensor > 1) {
        code = sl_fail(err, SL_E_RANGE, "no_experts", "/parallelism/expert_tensor",
                       "this model has no experts to cut, got %u", plan->expert_tensor);
        sl_hint(err, "1");
    }
    if (experts == 0)
        return code;
    if (plan->expert > 1 && !deals_out(framework)) {
        code = sl_fail(err, SL_E_UNSUPPORTED, "not_modelled", pointer,
                       "expert parallelism is modelled for megatron, fsdp2 and deepspeed, got %u",
                       plan->expert);
        sl_hint(err, "or framework megatron, or framework fsdp2 with zero_stage 3");
    }
    if (plan->expert > 1 && framework == SL_FRAMEWORK_DEEPSPEED && plan->zero_stage == 3 &&
        sl_check_knows(question, SL_UNKNOWN_ZERO_STAGE)) {
        code = sl_fail(err, SL_E_UNSUPPORTED, "not_modelled", "/parallelism/zero_stage",
                       "experts that deepspeed deals out are modelled in stages 0 to 2, got 3");
        sl_hint(err, "2, or expert 1");
    }
    if (plan->expert > 1 && framework == SL_FRAMEWORK_DEEPSPEED &&
        (plan->tensor > 1 || plan->context > 1)) {
        /* Its groups for experts lie within the data ranks; each tensor rank has them whole. */
        code = sl_fail(err, SL_E_UNSUPPORTED, "not_modelled", pointer,
                       "experts that deepspeed deals out beside tensor or context parallelism are "
                       "not modelled, got %u",
                       plan->expert);
        sl_hint(err, "1");
    }
    /* Megatron-core's own; beneath DeepSpeed's engine experts are DeepSpeed's. */
    if (plan->expert > 1 && framework == SL_FRAMEWORK_MEGATRON &&
        !question->workload.on_deepspeed && plan->tensor > 1 && !plan->sequence &&
        sl_check_knows(question, SL_UNKNOWN_SEQUENCE)) {
        const uint64_t positions = question->workload.sequence_length / plan->context;
        const bool splits = positions % plan->tensor == 0;
        code = sl_fail(err, SL_E_RANGE, "needs_sequence",
                       splits ? "/parallelism/sequence" : "/parallelism/tensor",
                       "beside tensor parallelism Megatron shares experts out only with sequence "
                       "parallelism on");
        if (splits)
            sl_hint(err, "true");
        else
            sl_hint(err, "1, or sequence true and sequence_length %llu",
                    (unsigned long long)((positions / plan->tensor + 1) * plan->tensor *
                                         plan->context));
    }
    const sl_code own = check_expert_tensor(question, ranks, err);
    code = code == SL_OK ? own : code;
    if (code != SL_OK || (experts % plan->expert == 0 && ranks / cut % plan->expert == 0))
        return code;
    return sl_fail(err, SL_E_RANGE, "not_divisible", pointer,
                   "must divide the %u routed experts and the %llu ranks of tensor x context x %s "
                   "over expert_tensor, got %u",
                   experts, (unsigned long long)(ranks / cut),
                   plan->shard_group > 0 ? "shard_group" : "data", plan->expert);
}
