#include "codec/question/names.h"

#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "shardline/words.h"

#define COUNT(list) ((uint32_t)(sizeof(list) / sizeof(list)[0]))

static const char *const kinds[] = {"pretraining", "finetuning", "inference"};

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

/* Of the object, where core_attention is what the word "selective" says. */
static const char *const recompute_modes[] = {
    [SL_RECOMPUTE_NONE] = "none",       [SL_RECOMPUTE_SELECTIVE] = "core_attention",
    [SL_RECOMPUTE_FULL] = "full",       [SL_RECOMPUTE_OPERATORS] = "op_sac",
    [SL_RECOMPUTE_MODULES] = "modules",
};
static const char *const recomputes[] = {
    [SL_RECOMPUTE_NONE] = "none",
    [SL_RECOMPUTE_SELECTIVE] = "selective",
    [SL_RECOMPUTE_FULL] = "full",
    [SL_RECOMPUTE_OPERATORS] = "op_sac",
};
_Static_assert(COUNT(recomputes) == SL_RECOMPUTE_WORDS, "a word for every mode");

static const char *const methods[] = {
    [SL_RECOMPUTE_BLOCK - 1] = "block",
    [SL_RECOMPUTE_UNIFORM - 1] = "uniform",
};
_Static_assert(COUNT(methods) == SL_RECOMPUTE_METHOD_COUNT - 1, "a word for every method");

static const char *const modules[] = {
    [SL_MODULE_CORE_ATTENTION] = "core_attn",
    [SL_MODULE_NORMS] = "layernorm",
    [SL_MODULE_LATENT_UP] = "mla_up_proj",
    [SL_MODULE_MLP] = "mlp",
    [SL_MODULE_EXPERT_ACTIVATION] = "moe_act",
    [SL_MODULE_SHARED_EXPERTS] = "shared_experts",
    [SL_MODULE_EXPERTS] = "moe",
};
_Static_assert(COUNT(modules) == SL_MODULE_COUNT, "a word for every module");

static const char *const losses[] = {
    [SL_LOSS_PROFILE] = "profile",  [SL_LOSS_EAGER] = "eager",       [SL_LOSS_FUSED] = "fused",
    [SL_LOSS_CHUNKED] = "chunked",  [SL_LOSS_PARALLEL] = "parallel", [SL_LOSS_CUT] = "cut",
    [SL_LOSS_HALF] = "eager_16bit",
};
_Static_assert(COUNT(losses) == SL_LOSS_COUNT, "a word for every loss");

static const char *const profiles[] = {
    [SL_ACTIVATIONS_PROFILE] = "profile",
    [SL_ACTIVATIONS_FUSED] = "fused",
    [SL_ACTIVATIONS_EAGER] = "eager",
    [SL_ACTIVATIONS_COMPILED] = "compiled",
};
_Static_assert(COUNT(profiles) == SL_ACTIVATIONS_COUNT, "a word for every profile");

static const char *const paddings[] = {"max_length", "longest"};
static const char *const graphs[] = {
    [SL_GRAPHS_NONE] = "none",
    [SL_GRAPHS_LAYER] = "layer",
    [SL_GRAPHS_FULL] = "full",
};
_Static_assert(COUNT(graphs) == SL_GRAPHS_COUNT, "a word for every extent");

static const char *const gradient_syncs[] = {
    [SL_GRADIENT_SYNC_EACH - 1] = "each",
    [SL_GRADIENT_SYNC_LAST - 1] = "last",
};
_Static_assert(COUNT(gradient_syncs) == SL_GRADIENT_SYNC_COUNT - 1, "a word for every moment");

static const char *const shardings[] = {
    [SL_FSDP_NO_SHARD] = "no_shard",
    [SL_FSDP_SHARD_GRAD_OP] = "shard_grad_op",
    [SL_FSDP_FULL_SHARD] = "full_shard",
    [SL_FSDP_HYBRID_SHARD] = "hybrid_shard",
    [SL_FSDP_HYBRID_SHARD_ZERO2] = "hybrid_shard_zero2",
};
_Static_assert(COUNT(shardings) == SL_FSDP_SHARDING_COUNT, "a word for every mode");

static const char *const adapters[] = {
    [SL_ADAPTER_LORA - 1] = "lora",
    [SL_ADAPTER_RSLORA - 1] = "rslora",
    [SL_ADAPTER_DORA - 1] = "dora",
    [SL_ADAPTER_LORA_FA - 1] = "lora_fa",
    [SL_ADAPTER_ADALORA - 1] = "adalora",
    [SL_ADAPTER_LOHA - 1] = "loha",
    [SL_ADAPTER_LOKR - 1] = "lokr",
    [SL_ADAPTER_VERA - 1] = "vera",
    [SL_ADAPTER_RANDLORA - 1] = "randlora",
    [SL_ADAPTER_TINYLORA - 1] = "tinylora",
    [SL_ADAPTER_IA3 - 1] = "ia3",
    [SL_ADAPTER_OFT - 1] = "oft",
    [SL_ADAPTER_BOFT - 1] = "boft",
    [SL_ADAPTER_LN_TUNING - 1] = "ln_tuning",
    [SL_ADAPTER_PROMPT_TUNING - 1] = "prompt_tuning",
    [SL_ADAPTER_P_TUNING - 1] = "p_tuning",
    [SL_ADAPTER_PREFIX_TUNING - 1] = "prefix_tuning",
    /* not modelled */
    "adaption_prompt",
    "bitfit",
    "c3a",
    "fourierft",
    "gralora",
    "hra",
    "miss",
    "poly",
    "road",
    "shira",
    "trainable_tokens",
    "vblora",
    "xlora",
};

static const char *const bases[] = {
    [SL_ADAPTER_BASE_BF16] = "bf16",
    [SL_ADAPTER_BASE_INT8] = "int8",
    [SL_ADAPTER_BASE_NF4] = "nf4",
    [SL_ADAPTER_BASE_NF4_DOUBLE] = "nf4_double",
};
_Static_assert(COUNT(bases) == SL_ADAPTER_BASE_COUNT, "a word for every base");

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

static const char *const attentions[] = {
    [SL_ATTENTION_UNFUSED] = "unfused",  [SL_ATTENTION_FLASH1] = "flash1",
    [SL_ATTENTION_FLASH2] = "flash2",    [SL_ATTENTION_FLASH3] = "flash3",
    [SL_ATTENTION_CUDNN] = "cudnn",      [SL_ATTENTION_EFFICIENT] = "efficient",
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
    [SL_ORIGIN_INTERPOLATED] = "interpolated",
    [SL_ORIGIN_SCALED] = "scaled",
    [SL_ORIGIN_DATASHEET] = "datasheet",
};
_Static_assert(COUNT(origins) == SL_ORIGIN_COUNT, "a word for every origin");

static const char *const strategies[] = {
    [SL_STRATEGY_GIVEN] = "given",
    [SL_STRATEGY_DP] = "dp",
    [SL_STRATEGY_DDP] = "ddp",
    [SL_STRATEGY_ZERO_1] = "zero_1",
    [SL_STRATEGY_ZERO_2] = "zero_2",
    [SL_STRATEGY_ZERO_3] = "zero_3",
    [SL_STRATEGY_FSDP_SHARD_GRAD_OP] = "fsdp_shard_grad_op",
    [SL_STRATEGY_FSDP_FULL_SHARD] = "fsdp_full_shard",
    [SL_STRATEGY_HSDP] = "hsdp",
    [SL_STRATEGY_HSDP_ZERO_2] = "hsdp_zero_2",
    [SL_STRATEGY_TENSOR] = "tensor",
    [SL_STRATEGY_PIPELINE] = "pipeline",
    [SL_STRATEGY_LAYER_WISE] = "layer_wise",
    [SL_STRATEGY_LAYER_WISE_DDP] = "layer_wise_ddp",
    [SL_STRATEGY_CPU_LAYERS] = "cpu_layers",
    [SL_STRATEGY_OFFLOAD] = "offload",
    [SL_STRATEGY_MIXED] = "mixed",
};
_Static_assert(COUNT(strategies) == SL_STRATEGY_COUNT, "a word for every strategy");

static const char *const situations[] = {
    [SL_SITUATION_DATA_LARGE] = "data_large",
    [SL_SITUATION_SLIGHTLY_LARGE] = "model_slightly_larger",
    [SL_SITUATION_MODEL_LARGE] = "model_large",
    [SL_SITUATION_BOTH] = "both_large",
};
_Static_assert(COUNT(situations) == SL_SITUATION_COUNT, "a word for every situation");

static const char *const tunings[] = {
    [SL_TUNING_FULL] = "full",
    [SL_TUNING_LORA] = "lora",
    [SL_TUNING_LORA_INT8] = "lora_int8",
    [SL_TUNING_QLORA] = "qlora",
    [SL_TUNING_QLORA_DOUBLE] = "qlora_double",
};
_Static_assert(COUNT(tunings) == SL_TUNING_METHOD_COUNT, "a word for every method");

static const char *const comparisons[] = {
    [SL_COMPARISON_OF_STRATEGIES] = "strategies",
    [SL_COMPARISON_OF_FINETUNING] = "finetuning",
};
_Static_assert(COUNT(comparisons) == SL_COMPARISON_OF_COUNT, "a word for every comparison");

const sl_names sl_kind_names = {kinds, 2, COUNT(kinds)};
const sl_names sl_framework_names = {sl_framework_words, SL_FRAMEWORK_COUNT, SL_FRAMEWORK_COUNT};
const sl_names sl_precision_names = {sl_precision_words, SL_PRECISION_COUNT, SL_PRECISION_COUNT};
const sl_names sl_optimizer_names = {optimizers, SL_OPTIMIZER_COUNT, COUNT(optimizers)};
const sl_names sl_recompute_names = {recomputes, SL_RECOMPUTE_WORDS, COUNT(recomputes)};
const sl_names sl_recompute_modes = {recompute_modes, COUNT(recompute_modes),
                                     COUNT(recompute_modes)};
const sl_names sl_method_names = {methods, COUNT(methods), COUNT(methods)};
const sl_names sl_module_names = {modules, COUNT(modules), COUNT(modules)};
const sl_names sl_loss_names = {losses, SL_LOSS_COUNT, COUNT(losses)};
const sl_names sl_profile_names = {profiles, COUNT(profiles), COUNT(profiles)};
const sl_names sl_graph_names = {graphs, COUNT(graphs), COUNT(graphs)};
const sl_names sl_padding_names = {paddings, COUNT(paddings), COUNT(paddings)};
const sl_names sl_sharding_names = {shardings, SL_FSDP_SHARDING_COUNT, COUNT(shardings)};
const sl_names sl_adapter_names = {adapters, SL_ADAPTER_METHOD_COUNT - 1, COUNT(adapters)};
const sl_names sl_base_names = {bases, SL_ADAPTER_BASE_COUNT, COUNT(bases)};
const sl_names sl_context_names = {sl_context_words, SL_CONTEXT_COUNT, SL_CONTEXT_COUNT};
const sl_names sl_gradient_sync_names = {gradient_syncs, COUNT(gradient_syncs),
                                         COUNT(gradient_syncs)};
const sl_names sl_order_names = {orders, COUNT(orders), COUNT(orders)};
const sl_names sl_overlap_names = {overlaps, COUNT(overlaps), COUNT(overlaps)};
const sl_names sl_recipe_names = {recipes, COUNT(recipes), COUNT(recipes)};
const sl_names sl_wire_names = {wires, COUNT(wires), COUNT(wires)};
const sl_names sl_reduce_names = {wires, SL_WIRE_FP32, SL_WIRE_FP32};
const sl_names sl_schedule_names = {sl_schedule_words, SL_SCHEDULE_COUNT, SL_SCHEDULE_COUNT};
const sl_names sl_attention_names = {attentions, SL_ATTENTION_WORD_COUNT, COUNT(attentions)};
const sl_names sl_collective_names = {collectives, SL_COLLECTIVE_COUNT, COUNT(collectives)};
const sl_names sl_lifetime_names = {lifetimes, SL_LIFETIME_COUNT, COUNT(lifetimes)};
const sl_names sl_origin_names = {origins, SL_ORIGIN_COUNT, COUNT(origins)};
const sl_names sl_strategy_names = {strategies, SL_STRATEGY_COUNT, COUNT(strategies)};
const sl_names sl_situation_names = {situations, SL_SITUATION_COUNT, COUNT(situations)};
const sl_names sl_tuning_names = {tunings, SL_TUNING_METHOD_COUNT, COUNT(tunings)};
const sl_names sl_comparison_names = {comparisons, SL_COMPARISON_OF_COUNT, COUNT(comparisons)};

uint32_t
sl_sharding_stage(uint32_t word)
{
    static const uint32_t stages[] = {
        [SL_FSDP_NO_SHARD] = 0,     [SL_FSDP_SHARD_GRAD_OP] = 2,      [SL_FSDP_FULL_SHARD] = 3,
        [SL_FSDP_HYBRID_SHARD] = 3, [SL_FSDP_HYBRID_SHARD_ZERO2] = 2,
    };

    assert(word < SL_FSDP_SHARDING_COUNT);
    return stages[word];
}

bool
sl_sharding_is_hybrid(uint32_t word)
{
    return word == SL_FSDP_HYBRID_SHARD || word == SL_FSDP_HYBRID_SHARD_ZERO2;
}

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

/* The words that are modelled, where a hint has room for all of them. */
static void
hint_modelled(const sl_names *names, sl_errors *err)
{
    char list[sizeof err->list[0].hint] = "";
    size_t size = 0;
    for (uint32_t i = 0; i < names->modelled; i++) {
        const size_t length = strlen(names->list[i]) + (i > 0 ? strlen(", ") : 0);
        if (size + length >= sizeof list)
            return;
        (void)sl_text_format(list + size, sizeof list - size, "%s%s", i > 0 ? ", " : "",
                             names->list[i]);
        size += length;
    }
    sl_hint(err, "%s", list);
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
    if (index >= names->modelled) {
        const sl_code refused =
            sl_node_fail_at(object, member, err, SL_E_UNSUPPORTED, "not_modelled",
                            "\"%s\" is not modelled yet", names->list[index]);
        hint_modelled(names, err);
        return refused;
    }
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
