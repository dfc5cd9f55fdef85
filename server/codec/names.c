#include "codec/names.h"

#include <assert.h>

#define COUNT(list) ((uint32_t)(sizeof(list) / sizeof(list)[0]))

static const char *const kinds[] = {"pretraining", "finetuning", "inference"};

static const char *const frameworks[] = {
    [SL_FRAMEWORK_MEGATRON] = "megatron",   [SL_FRAMEWORK_DDP] = "ddp",
    [SL_FRAMEWORK_FSDP1] = "fsdp1",         [SL_FRAMEWORK_FSDP2] = "fsdp2",
    [SL_FRAMEWORK_DEEPSPEED] = "deepspeed", [SL_FRAMEWORK_DP] = "dp",
};
_Static_assert(COUNT(frameworks) == SL_FRAMEWORK_COUNT, "a word for every framework");

static const char *const precisions[] = {
    [SL_PRECISION_BF16] = "bf16",   [SL_PRECISION_FP16] = "fp16", [SL_PRECISION_TF32] = "tf32",
    [SL_PRECISION_FP32] = "fp32",   [SL_PRECISION_FP8] = "fp8",   [SL_PRECISION_MXFP8] = "mxfp8",
    [SL_PRECISION_NVFP4] = "nvfp4",
};
_Static_assert(COUNT(precisions) == SL_PRECISION_COUNT, "a word for every precision");

static const char *const recipes[] = {
    [SL_RECIPE_DELAYED - 1] = "delayed",       [SL_RECIPE_CURRENT - 1] = "current",
    [SL_RECIPE_TENSORWISE - 1] = "tensorwise", [SL_RECIPE_ROWWISE - 1] = "rowwise",
    [SL_RECIPE_BLOCK - 1] = "block",           [SL_RECIPE_MXFP8 - 1] = "mxfp8",
};
_Static_assert(COUNT(recipes) + 1 == SL_RECIPE_COUNT, "a word for every recipe but the default");

static const char *const optimizers[] = {
    [SL_OPTIMIZER_ADAMW] = "adamw",
    [SL_OPTIMIZER_SGD] = "sgd",
    [SL_OPTIMIZER_SGD_MOMENTUM] = "sgd_momentum",
    [SL_OPTIMIZER_ADAMW_8BIT] = "adamw_8bit",
    [SL_OPTIMIZER_ADAMW_4BIT] = "adamw_4bit",
    [SL_OPTIMIZER_ADAFACTOR] = "adafactor",
    [SL_OPTIMIZER_MUON] = "muon",
};
_Static_assert(COUNT(optimizers) == SL_OPTIMIZER_COUNT, "a word for every optimizer");

static const char *const recomputes[] = {
    [SL_RECOMPUTE_NONE] = "none",
    [SL_RECOMPUTE_SELECTIVE] = "selective",
    [SL_RECOMPUTE_FULL] = "full",
    [SL_RECOMPUTE_OPERATORS] = "op_sac",
};
_Static_assert(COUNT(recomputes) == SL_RECOMPUTE_COUNT, "a word for every mode");

static const char *const losses[] = {
    [SL_LOSS_PROFILE] = "profile", [SL_LOSS_EAGER] = "eager",       [SL_LOSS_FUSED] = "fused",
    [SL_LOSS_CHUNKED] = "chunked", [SL_LOSS_PARALLEL] = "parallel",
};
_Static_assert(COUNT(losses) == SL_LOSS_COUNT, "a word for every loss");

static const char *const shardings[] = {
    [SL_FSDP_NO_SHARD] = "no_shard",
    [SL_FSDP_SHARD_GRAD_OP] = "shard_grad_op",
    [SL_FSDP_FULL_SHARD] = "full_shard",
    [SL_FSDP_HYBRID_SHARD] = "hybrid_shard",
    [SL_FSDP_HYBRID_SHARD_ZERO2] = "hybrid_shard_zero2",
};
_Static_assert(COUNT(shardings) == SL_FSDP_SHARDING_COUNT, "a word for every mode");

static const char *const bases[] = {
    [SL_ADAPTER_BASE_BF16] = "bf16",
    [SL_ADAPTER_BASE_INT8] = "int8",
    [SL_ADAPTER_BASE_NF4] = "nf4",
    [SL_ADAPTER_BASE_NF4_DOUBLE] = "nf4_double",
};
_Static_assert(COUNT(bases) == SL_ADAPTER_BASE_COUNT, "a word for every base");

static const char *const contexts[] = {
    [SL_CONTEXT_RING] = "p2p",
    [SL_CONTEXT_EXCHANGE] = "a2a",
    [SL_CONTEXT_GATHER] = "allgather",
};
_Static_assert(COUNT(contexts) == SL_CONTEXT_COUNT, "a word for every kind");

static const char *const orders[] = {
    [SL_ORDER_DATA_PIPELINE] = "tp-cp-ep-dp-pp",
    [SL_ORDER_PIPELINE_DATA] = "tp-cp-ep-pp-dp",
};
_Static_assert(COUNT(orders) == SL_ORDER_COUNT, "a word for every order");

static const char *const overlaps[] = {
    [SL_OVERLAP_NONE] = "none",
    [SL_OVERLAP_BULK] = "bulk",
    [SL_OVERLAP_USERBUFFER] = "userbuffer",
};
_Static_assert(COUNT(overlaps) == SL_OVERLAP_COUNT, "a word for every overlap");

static const char *const wires[] = {
    [SL_WIRE_BF16 - 1] = "bf16",
    [SL_WIRE_FP32 - 1] = "fp32",
    [SL_WIRE_FP16 - 1] = "fp16",
    [SL_WIRE_FP8 - 1] = "fp8",
};
_Static_assert(COUNT(wires) + 1 == SL_WIRE_COUNT, "a word for every type but the default");

static const char *const schedules[] = {
    [SL_SCHEDULE_1F1B] = "1f1b",
    [SL_SCHEDULE_INTERLEAVED_1F1B] = "interleaved_1f1b",
    [SL_SCHEDULE_NAIVE] = "naive",
    [SL_SCHEDULE_GPIPE] = "gpipe",
    "zb_h1",
    "zb_h2",
    "zb_v",
    "dualpipe",
};

static const char *const attentions[] = {
    [SL_ATTENTION_UNFUSED] = "unfused",  [SL_ATTENTION_FLASH2] = "flash2",
    [SL_ATTENTION_FLASH3] = "flash3",    [SL_ATTENTION_CUDNN] = "cudnn",
    [SL_ATTENTION_WORD_SDPA] = "sdpa",   [SL_ATTENTION_WORD_FLASH] = "flash",
    [SL_ATTENTION_WORD_EAGER] = "eager", [SL_ATTENTION_WORD_FLEX] = "flex",
};

static const char *const collectives[] = {
    [SL_COLLECTIVE_ALL_REDUCE] = "all_reduce",
    [SL_COLLECTIVE_ALL_GATHER] = "all_gather",
    [SL_COLLECTIVE_REDUCE_SCATTER] = "reduce_scatter",
    [SL_COLLECTIVE_SEND_RECEIVE] = "send_receive",
    [SL_COLLECTIVE_ALL_TO_ALL] = "all_to_all",
    [SL_COLLECTIVE_BROADCAST] = "broadcast",
    [SL_COLLECTIVE_REDUCE] = "reduce",
};
_Static_assert(COUNT(collectives) == SL_COLLECTIVE_COUNT, "a word for every collective");

static const char *const lifetimes[] = {
    [SL_LIFETIME_NONE] = "none",
    [SL_LIFETIME_PERSISTENT] = "persistent",
    [SL_LIFETIME_ACTIVATION] = "activation",
    [SL_LIFETIME_TRANSIENT] = "transient",
    [SL_LIFETIME_OUTSIDE_ALLOCATOR] = "outside_allocator",
};
_Static_assert(COUNT(lifetimes) == SL_LIFETIME_COUNT, "a word for every lifetime");

static const char *const origins[] = {
    [SL_ORIGIN_MEASURED] = "measured",
    [SL_ORIGIN_SCALED] = "scaled",
    [SL_ORIGIN_DATASHEET] = "datasheet",
};
_Static_assert(COUNT(origins) == SL_ORIGIN_COUNT, "a word for every origin");

const sl_names sl_kind_names = {kinds, 2, COUNT(kinds)};
const sl_names sl_framework_names = {frameworks, SL_FRAMEWORK_COUNT, COUNT(frameworks)};
const sl_names sl_precision_names = {precisions, SL_PRECISION_COUNT, COUNT(precisions)};
const sl_names sl_optimizer_names = {optimizers, SL_OPTIMIZER_COUNT, COUNT(optimizers)};
const sl_names sl_recompute_names = {recomputes, SL_RECOMPUTE_COUNT, COUNT(recomputes)};
const sl_names sl_loss_names = {losses, SL_LOSS_COUNT, COUNT(losses)};
const sl_names sl_sharding_names = {shardings, SL_FSDP_SHARDING_COUNT, COUNT(shardings)};
const sl_names sl_base_names = {bases, SL_ADAPTER_BASE_COUNT, COUNT(bases)};
const sl_names sl_context_names = {contexts, SL_CONTEXT_COUNT, COUNT(contexts)};
const sl_names sl_order_names = {orders, COUNT(orders), COUNT(orders)};
const sl_names sl_overlap_names = {overlaps, COUNT(overlaps), COUNT(overlaps)};
const sl_names sl_recipe_names = {recipes, COUNT(recipes), COUNT(recipes)};
const sl_names sl_wire_names = {wires, COUNT(wires), COUNT(wires)};
const sl_names sl_reduce_names = {wires, SL_WIRE_FP32, SL_WIRE_FP32};
const sl_names sl_schedule_names = {schedules, SL_SCHEDULE_COUNT, COUNT(schedules)};
const sl_names sl_attention_names = {attentions, SL_ATTENTION_WORD_COUNT, COUNT(attentions)};
const sl_names sl_collective_names = {collectives, SL_COLLECTIVE_COUNT, COUNT(collectives)};
const sl_names sl_lifetime_names = {lifetimes, SL_LIFETIME_COUNT, COUNT(lifetimes)};
const sl_names sl_origin_names = {origins, SL_ORIGIN_COUNT, COUNT(origins)};

const char *
sl_framework_profiles(uint32_t framework)
{
    return sl_name(&sl_framework_names,
                   framework == SL_FRAMEWORK_DP ? (uint32_t)SL_FRAMEWORK_DDP : framework);
}

const char *
sl_name(const sl_names *names, uint32_t index)
{
    assert(names != NULL && index < names->count);
    return names->list[index];
}

sl_code
sl_names_read(const sl_node *object, const char *member, const sl_names *names, uint32_t *out,
              bool *present, sl_errors *err)
{
    assert(names != NULL && out != NULL && present != NULL);

    uint32_t index = 0;
    *present = false;
    const sl_code code =
        sl_node_choice(object, member, names->list, names->count, &index, present, err);
    if (code != SL_OK || !*present)
        return code;
    if (index >= names->modelled)
        return sl_node_fail_at(object, member, err, SL_E_UNSUPPORTED, "not_modelled",
                               "\"%s\" is not modelled yet", names->list[index]);
    *out = index;
    return SL_OK;
}

sl_code
sl_activation_accounting_read(const sl_node *object, const char *member,
                              sl_activation_accounting *out, sl_errors *err)
{
    assert(out != NULL);

    const char *names[SL_ACTIVATION_COUNT];
    for (uint32_t i = 0; i < SL_ACTIVATION_COUNT; i++)
        names[i] = sl_activation_accounting_describe((sl_activation_accounting)i)->name;
    uint32_t index = 0;
    bool present = false;
    const sl_code code =
        sl_node_choice(object, member, names, SL_ACTIVATION_COUNT, &index, &present, err);
    if (code == SL_OK && present)
        *out = (sl_activation_accounting)index;
    return code;
}

sl_code
sl_accounting_read(const sl_node *object, const char *member, sl_accounting *out, sl_errors *err)
{
    assert(out != NULL);

    const char *names[SL_ACCOUNTING_COUNT];
    for (uint32_t i = 0; i < SL_ACCOUNTING_COUNT; i++)
        names[i] = sl_accounting_describe((sl_accounting)i)->name;
    uint32_t index = 0;
    bool present = false;
    const sl_code code =
        sl_node_choice(object, member, names, SL_ACCOUNTING_COUNT, &index, &present, err);
    if (code == SL_OK && present)
        *out = (sl_accounting)index;
    return code;
}
