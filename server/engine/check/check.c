#include "engine/check/check.h"

#include <assert.h>
#include <stddef.h>

#include "engine/check/check_adapter.h"
#include "engine/check/check_hardware.h"
#include "engine/check/check_host.h"
#include "engine/check/check_operators.h"
#include "engine/check/check_plain.h"
#include "engine/check/check_schedule.h"
#include "engine/check/check_shared.h"
#include "engine/check/check_traffic.h"
#include "engine/check/hints.h"
#include "engine/links/collective.h"
#include "engine/memory/offload.h"
#include "engine/placement/adapter.h"
#include "engine/placement/lent.h"
#include "engine/placement/pools.h"
#include "engine/placement/ranks.h"
#include "engine/placement/recompute.h"
#include "engine/placement/states.h"
#include "engine/placement/unit.h"
#include "engine/schedule/schedule.h"

static sl_code
check_divides(uint64_t part, uint64_t whole, const char *pointer, const char *what, sl_errors *err)
{
    if (whole % part == 0)
        return SL_OK;
    return sl_fail(err, SL_E_RANGE, "not_divisible", pointer, "must divide the %llu %s, got %llu",
                   (unsigned long long)whole, what, (unsigned long long)part);
}

/* As many replicas as the cut leaves, with a batch that they can share. */
static void
hint_replicas(const sl_question *question, uint64_t replicas, sl_errors *err)
{
    sl_plan plan = question->plan;

    if (err->terse)
        return;
    plan.data = (uint32_t)replicas;
    if (question->workload.global_batch % replicas == 0)
        sl_hint(err, "%llu", (unsigned long long)replicas);
    else
        sl_hint(err, "%llu with global_batch_size %llu", (unsigned long long)replicas,
                (unsigned long long)sl_nearest_batch(&question->workload, &plan));
}

static sl_code
check_world(const sl_question *question, sl_errors *err)
{
    const uint64_t available = sl_cluster_accelerators(question->cluster);
    const uint64_t world = sl_plan_world(&question->plan);

    if (world == available)
        return SL_OK;

    /* When data alone can mend it, it is what is wrong. */
    const uint64_t rest = world / question->plan.data;
    const bool divides = available % rest == 0;
    const sl_code code = sl_fail(
        err, SL_E_RANGE, "world_size_mismatch", divides ? "/parallelism/data" : "/parallelism",
        "tensor x pipeline x context x data must be the cluster's %llu accelerators, got %llu",
        (unsigned long long)available, (unsigned long long)world);
    if (divides)
        hint_replicas(question, available / rest, err);
    else
        sl_hint(err, "tensor x pipeline x context must divide %llu", (unsigned long long)available);
    return code;
}

/* A width of some MLP, of experts or else, that its cut does not divide; one that it does if none. */
static uint64_t
hardest_width(const sl_model *model, bool routed, uint32_t cut)
{
    for (uint32_t k = 0; k < model->kind_count; k++)
        for (uint32_t i = 0; i < model->kinds[k].operator_count; i++) {
            const sl_operator *op = &model->kinds[k].operators[i];
            if (op->kind == SL_OPERATOR_ACTIVATION && routed == (op->experts > 0) &&
                op->outputs % cut != 0)
                return op->outputs;
        }
    return cut;
}

/* Experts that are cut as the rest are at fault where the rest is. */
static sl_code
check_widths(const sl_question *question, sl_errors *err)
{
    const sl_plan *plan = &question->plan;
    const uint32_t cut = sl_plan_expert_tensor(plan);
    const uint64_t width = hardest_width(question->model, false, plan->tensor);
    const uint64_t routed = hardest_width(question->model, true, cut);
    const char *pointer = "/parallelism/tensor";
    sl_code code = check_divides(plan->tensor, width, pointer, "feed-forward width", err);

    if (cut == plan->tensor)
        return code == SL_OK ? check_divides(cut, routed, pointer, "feed-forward width", err)
                             : code;
    if (routed % cut != 0) {
        code = check_divides(cut, routed, "/parallelism/expert_tensor", "width of an expert", err);
        sl_hint_divisors(err, routed, routed, SL_EXPERT_CUT_HINTED);
    }
    return code;
}

static sl_code
check_tensor(const sl_question *question, sl_errors *err)
{
    const sl_model *model = question->model;
    const sl_plan *plan = &question->plan;
    const char *pointer = "/parallelism/tensor";
    sl_code code = check_divides(plan->tensor, model->heads, pointer, "attention heads", err);

    /* With more ranks than key-value heads, Megatron cuts the query-key-value weights evenly
     * and gathers; DTensors of keys and values are cut into whole heads (torchtitan). */
    const bool whole = sl_framework_is_fsdp(question->workload.framework);
    if (code == SL_OK && model->kv_heads % plan->tensor != 0 &&
        (whole || plan->tensor % model->kv_heads != 0))
        code = check_divides(plan->tensor, model->kv_heads, pointer, "key-value heads", err);
    if (code == SL_OK)
        code = check_widths(question, err);
    if (sl_check_knows(question, SL_UNKNOWN_SEQUENCE) && plan->sequence &&
        question->workload.sequence_length % plan->tensor != 0) {
        code = sl_fail(err, SL_E_RANGE, "not_divisible", "/parallelism/sequence",
                       "tensor must divide the %llu positions of a sequence, got %u",
                       (unsigned long long)question->workload.sequence_length, plan->tensor);
        sl_hint(err, "false, or sequence_length %llu",
                (unsigned long long)sl_nearest_length(question->workload.sequence_length, plan));
    }
    return code;
}

/* A rank's chunk is at least one layer; how many chunks ZB-V has is not to choose. */
static sl_code
refuse_split(const sl_question *question, sl_errors *err)
{
    const sl_plan *plan = &question->plan;
    const bool chosen = plan->virtual_pipeline > 1 && plan->schedule != SL_SCHEDULE_ZB_V;
    const char *pointer = chosen ? "/parallelism/virtual_pipeline" : "/parallelism/pipeline";
    const uint32_t layers = question->model->layer_count;

    return sl_fail(err, SL_E_RANGE, "too_few_layers", pointer,
                   "pipeline x virtual_pipeline must be at most the %u layers, embedding "
                   "and head counted; got %u x %u",
                   layers, plan->pipeline, plan->virtual_pipeline);
}

/* A given layout has a number for each chunk, and all blocks. */
static sl_code
check_layout_numbers(const sl_question *question, sl_errors *err)
{
    const sl_plan *plan = &question->plan;
    const uint32_t chunks = plan->pipeline * plan->virtual_pipeline;
    const char *pointer = "/parallelism/pipeline_layout";
    uint32_t sum = 0;

    if (plan->layout_chunks == 0)
        return SL_OK;
    if (plan->layout_chunks != chunks)
        return sl_fail(err, SL_E_RANGE, "layout_mismatch", pointer,
                       "must have a number for each of pipeline x virtual_pipeline chunks, %u; got "
                       "%u",
                       chunks, plan->layout_chunks);
    for (uint32_t i = 0; i < chunks; i++) {
        sum += plan->layout[i];
        if (plan->layout[i] == 0 &&
            (sl_model_is_plain(question->model) || (i > 0 && i + 1 < chunks)))
            return sl_fail(err, SL_E_RANGE, "layout_mismatch", pointer,
                           "chunk %u has no layer: only those of embedding and head may", i);
    }
    if (sum != question->model->block_count)
        return sl_fail(err, SL_E_RANGE, "layout_mismatch", pointer,
                       "must add up to the %u blocks of the model, got %u",
                       question->model->block_count, sum);
    return SL_OK;
}

static sl_code
check_layout(const sl_question *question, sl_errors *err)
{
    const sl_code code = check_layout_numbers(question, err);

    if (code != SL_OK)
        sl_hint(err, "%u numbers that add up to %u",
                question->plan.pipeline * question->plan.virtual_pipeline,
                question->model->block_count);
    return code;
}

static sl_code
check_pipeline(const sl_question *question, sl_errors *err)
{
    const sl_plan *plan = &question->plan;

    if (plan->pipeline > SL_PIPELINE_MAX)
        return sl_fail(err, SL_E_UNSUPPORTED, "not_modelled", "/parallelism/pipeline",
                       "at most %d stages are modelled, got %u", SL_PIPELINE_MAX, plan->pipeline);

    const sl_code code = sl_check_schedule(&question->workload, plan, err);
    if (code != SL_OK)
        return code;
    if (sl_schedule_split(question->model, plan) == SL_SPLIT_NONE)
        return refuse_split(question, err);
    return check_layout(question, err);
}

/* Replicas most often follow from the cut, and what can mend them is the batch; or their own
 * number, where it is not what the cut leaves. */
static sl_code
refuse_batch(const sl_question *question, sl_errors *err)
{
    const sl_plan *const plan = &question->plan;
    const uint64_t batch = question->workload.global_batch;
    uint64_t follows = 0;
    const sl_code code = sl_fail(err, SL_E_RANGE, "not_divisible", "/parallelism/data",
                                 "must divide the %llu sequences of a global batch, got %u",
                                 (unsigned long long)batch, plan->data);

    if (err->terse)
        return code;
    const uint64_t nearest = sl_nearest_batch(&question->workload, plan);
    if (sl_plan_derive_data(question->cluster, plan, &follows) && follows != plan->data &&
        batch % follows == 0)
        sl_hint(err, "%llu, or global_batch_size %llu", (unsigned long long)follows,
                (unsigned long long)nearest);
    else
        sl_hint(err, "global_batch_size %llu", (unsigned long long)nearest);
    return code;
}

static sl_code
check_batch(const sl_question *question, sl_errors *err)
{
    const sl_workload *workload = &question->workload;
    const sl_plan *plan = &question->plan;
    const uint64_t batch = workload->global_batch;

    if (batch % plan->data != 0)
        return refuse_batch(question, err);
    if (!sl_check_knows(question, SL_UNKNOWN_MICRO_BATCH))
        return SL_OK;
    sl_code code = check_divides(workload->micro_batch, batch / plan->data,
                                 "/workload/micro_batch_size", "sequences of a replica", err);
    return code != SL_OK ? code : sl_check_microbatches(workload, plan, err);
}

static sl_code
check_framework(const sl_question *question, sl_errors *err)
{
    const sl_plan *plan = &question->plan;
    const char *name = question->workload.framework == SL_FRAMEWORK_DP ? "dp" : "ddp";
    sl_code code = SL_OK;

    if (!sl_framework_replicates(question->workload.framework))
        return code;

    if (plan->tensor > 1 || plan->pipeline > 1) {
        code = sl_fail(err, SL_E_RANGE, "framework_replicates",
                       plan->tensor > 1 ? "/parallelism/tensor" : "/parallelism/pipeline",
                       "%s holds the whole model on every rank, got %u", name,
                       plan->tensor > 1 ? plan->tensor : plan->pipeline);
        sl_hint(err, "or framework megatron");
    }
    if (plan->zero_stage > 0 && sl_check_knows(question, SL_UNKNOWN_ZERO_STAGE)) {
        code = sl_fail(err, SL_E_RANGE, "framework_replicates", "/parallelism/zero_stage",
                       "%s shards nothing, got %u", name, plan->zero_stage);
        sl_hint(err, "or framework megatron with zero_stage 1");
    }
    return code;
}

/* Whether states may be divided over fewer ranks than the data group has: by a release that does,
 * or by one of those that are open. FSDP's hybrid sharding is no matter of the release. */
static bool
divides_in_groups(const sl_question *question)
{
    const uint32_t stage = question->plan.zero_stage;
    const bool deepspeed = question->workload.framework == SL_FRAMEWORK_DEEPSPEED;
    bool any = false;

    if (sl_framework_is_fsdp(question->workload.framework))
        return true;
    for (uint32_t i = 0; i < question->software_count; i++)
        any = any || question->software[i].divides_in_groups;
    return any && (!sl_check_knows(question, SL_UNKNOWN_ZERO_STAGE) ||
                   (deepspeed ? stage == 1 : stage > 0));
}

/* Which stages a framework has, and what they go with. */
static sl_code
check_sharding(const sl_question *question, sl_errors *err)
{
    static const struct {
        uint32_t first, last;
        const char *rule;
    } stages[SL_FRAMEWORK_COUNT] = {
        [SL_FRAMEWORK_MEGATRON] = {0, 3, "megatron has stages 0 and 1, Megatron-FSDP 2 and 3"},
        [SL_FRAMEWORK_DDP] = {0, 0, "ddp shards nothing: 0"},
        [SL_FRAMEWORK_DP] = {0, 0, "dp shards nothing: 0"},
        [SL_FRAMEWORK_FSDP1] = {0, 3, "fsdp has no_shard (0), shard_grad_op (2), full_shard (3)"},
        [SL_FRAMEWORK_FSDP2] = {2, 3, "fsdp2 has shard_grad_op (2) and full_shard (3)"},
        [SL_FRAMEWORK_DEEPSPEED] = {0, 3, "deepspeed has stages 0 to 3"},
    };
    const sl_plan *plan = &question->plan;
    const sl_framework framework = question->workload.framework;
    const bool whole = plan->shard_group == 0 || plan->shard_group == plan->data;
    sl_code code = SL_OK;

    if (sl_check_knows(question, SL_UNKNOWN_ZERO_STAGE) && !sl_framework_replicates(framework) &&
        (plan->zero_stage < stages[framework].first || plan->zero_stage > stages[framework].last ||
         (sl_framework_is_fsdp(framework) && plan->zero_stage == 1)))
        code = sl_fail(err, SL_E_RANGE, "stage_not_of_framework", "/parallelism/zero_stage",
                       "%s; got %u", stages[framework].rule, plan->zero_stage);
    if (framework == SL_FRAMEWORK_MEGATRON && plan->pipeline > 1 && plan->zero_stage > 1 &&
        sl_check_knows(question, SL_UNKNOWN_ZERO_STAGE)) {
        code =
            sl_fail(err, SL_E_UNSUPPORTED, "not_modelled", "/parallelism/zero_stage",
                    "Megatron-FSDP (stages 2 and 3) is modelled without a pipeline; got stage %u",
                    plan->zero_stage);
        sl_hint(err, "or pipeline 1");
    }
    if (framework == SL_FRAMEWORK_DEEPSPEED && plan->pipeline > 1 && plan->zero_stage > 1 &&
        sl_check_knows(question, SL_UNKNOWN_ZERO_STAGE))
        code = sl_fail(err, SL_E_RANGE, "stage_not_of_framework", "/parallelism/zero_stage",
                       "deepspeed's pipeline goes with stages 0 and 1, got %u", plan->zero_stage);
    if (!whole && !divides_in_groups(question)) {
        code = sl_fail(err, SL_E_UNSUPPORTED, "not_modelled", "/parallelism/shard_group",
                       "a shard group below the data group is modelled for fsdp, from zero_stage 1 "
                       "on for Megatron of 2024 and later and for InternLM's stage 1");
        sl_hint(err, "leave it out, or framework fsdp2 with zero_stage 3");
    } else if (!whole && plan->data % plan->shard_group != 0) {
        code = check_divides(plan->shard_group, plan->data, "/parallelism/shard_group",
                             "data-parallel ranks", err);
        sl_hint_divisors(err, plan->data, plan->data, plan->data);
    }
    if (plan->reshard != SL_RESHARD_DEFAULT &&
        (!sl_framework_is_fsdp(framework) ||
         (plan->reshard == SL_RESHARD_ALWAYS && plan->zero_stage == 2 &&
          sl_check_knows(question, SL_UNKNOWN_ZERO_STAGE)))) {
        code = sl_fail(err, SL_E_RANGE, "reshard_not_of_framework",
                       "/parallelism/reshard_after_forward",
                       "is a choice of fsdp with full_shard: megatron and ddp gather nothing, "
                       "deepspeed goes by its live parameters, shard_grad_op keeps them");
        sl_hint(err, "leave it out, or framework fsdp2 with zero_stage 3");
    }
    const sl_recompute recompute = question->workload.recompute;
    if (sl_recompute_is_of(recompute, framework))
        return code;
    if (recompute == SL_RECOMPUTE_MODULES) {
        code = sl_fail(err, SL_E_RANGE, "recompute_not_of_framework", "/workload/recompute/mode",
                       "modules of a block are rebuilt apart by megatron only");
        sl_hint(err, "none, core_attention, op_sac, full");
    } else if (sl_check_knows(question, SL_UNKNOWN_RECOMPUTE)) {
        code = sl_fail(err, SL_E_RANGE, "recompute_not_of_framework", "/workload/recompute",
                       "op_sac is selective checkpointing of fsdp training code");
        sl_hint(err, "none, selective, full");
    }
    return code;
}

/* What a workload asks for beyond words: an optimizer that steps early has one micro-batch to step
 * on, and a document is part of a sequence. */
static sl_code
check_workload(const sl_question *question, sl_errors *err)
{
    const sl_workload *workload = &question->workload;
    const sl_plan *plan = &question->plan;
    const char *early = "/workload/optimizer_in_backward";
    const uint64_t round = workload->micro_batch * plan->data;
    sl_code code = SL_OK;

    if (workload->document_length > workload->sequence_length) {
        code = sl_fail(err, SL_E_RANGE, "out_of_range", "/workload/documents/mean_length",
                       "must be at most the sequence of %llu positions, got %llu",
                       (unsigned long long)workload->sequence_length,
                       (unsigned long long)workload->document_length);
        sl_hint(err, "1 to %llu", (unsigned long long)workload->sequence_length);
    }
    if (workload->recompute_method != SL_RECOMPUTE_EACH &&
        workload->recompute_layers > question->model->block_count) {
        code = sl_fail(err, SL_E_RANGE, "out_of_range", "/workload/recompute/layers",
                       "must be at most the %u blocks of the model, got %u",
                       question->model->block_count, workload->recompute_layers);
        sl_hint(err, "1 to %u", question->model->block_count);
    }
    if (!workload->optimizer_in_backward)
        return code;
    assert(plan->data > 0); /* the degrees were judged before */
    if (sl_adapter_on(&workload->adapter)) {
        code = sl_fail(err, SL_E_UNSUPPORTED, "not_modelled", early,
                       "an optimizer that steps on each gradient at once is modelled where all "
                       "weights train");
        sl_hint(err, "false");
        return code;
    }
    if (!sl_framework_is_fsdp(workload->framework) &&
        (workload->framework != SL_FRAMEWORK_DDP || plan->data > 1)) {
        code = sl_fail(err, SL_E_RANGE, "optimizer_not_of_framework", early,
                       "goes with fsdp and with one device: %s keeps gradients in buffers",
                       workload->framework == SL_FRAMEWORK_DDP ? "ddp" : "this framework");
        sl_hint(err, "false, or framework fsdp2 with zero_stage 3");
        return code;
    }
    if (sl_check_knows(question, SL_UNKNOWN_MICRO_BATCH) && workload->global_batch > round) {
        code = sl_fail(err, SL_E_RANGE, "gradients_accumulate", early,
                       "steps on each gradient once: %llu micro-batches would have to be summed",
                       (unsigned long long)(workload->global_batch / round));
        if (workload->global_batch % plan->data == 0)
            sl_hint(err, "false, or micro_batch_size %llu",
                    (unsigned long long)(workload->global_batch / plan->data));
        else
            sl_hint(err, "false");
    }
    return code;
}

static sl_code
check_sequence(const sl_question *question, sl_errors *err)
{
    const sl_model *model = question->model;

    /* Learned positions are a table with an end; rotary ones only get worse. */
    if (!model->learned_positions || model->position_limit == 0 ||
        question->workload.sequence_length <= model->position_limit)
        return SL_OK;

    const sl_code code = sl_fail(err, SL_E_RANGE, "out_of_range", "/workload/sequence_length",
                                 "the model has %llu learned positions, got %llu",
                                 (unsigned long long)model->position_limit,
                                 (unsigned long long)question->workload.sequence_length);
    sl_hint(err, "at most %llu", (unsigned long long)model->position_limit);
    return code;
}

sl_code
sl_check_all(const sl_rule *rules, size_t count, const sl_question *question, sl_errors *err)
{
    sl_code first = SL_OK;

    for (size_t i = 0; i < count; i++) {
        const sl_code code = rules[i](question, err);
        if (first == SL_OK)
            first = code;
    }
    return first;
}

sl_code
sl_question_check(const sl_question *question, sl_errors *err)
{
    static const sl_rule rules[] = {
        check_framework,   check_sharding,   check_workload, sl_check_experts, sl_check_context,
        check_world,       check_tensor,     check_pipeline, check_batch,      check_sequence,
        sl_check_hardware, sl_check_plain,   sl_check_host,  sl_check_adapter, sl_check_operators,
        sl_check_tiles,    sl_check_traffic, sl_check_lent,  sl_check_offload, sl_check_unit,
        sl_check_order,    sl_check_pools,
    };

    /* What follows reads operators, which such a model has only in part. */
    if (question->model->unpriced != NULL)
        return sl_fail(err, SL_E_UNSUPPORTED, "not_modelled", "/model",
                       "time and memory of %s are not modelled yet; models:inspect counts this "
                       "model",
                       question->model->unpriced);
    const sl_code code = sl_check_all(rules, sizeof rules / sizeof rules[0], question, err);

    if (code != SL_OK && !err->terse && !err->unhinted)
        sl_hints_follow(question, err);
    return code;
}

sl_code
sl_question_check_cut(const sl_question *question, sl_errors *err)
{
    /* In the order of the whole check, less what goes by tensors, sequences and the hardware
     * alone. */
    static const sl_rule rules[] = {
        check_framework, check_sharding,   check_workload, sl_check_experts,
        check_world,     check_pipeline,   check_batch,    sl_check_plain,
        sl_check_host,   sl_check_across,  sl_check_tiles, sl_check_traffic,
        sl_check_lent,   sl_check_offload, sl_check_order, sl_check_pools,
    };

    return sl_check_all(rules, sizeof rules / sizeof rules[0], question, err);
}
