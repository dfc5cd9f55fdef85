/**
 * The words of the API for what the engine enumerates, in one table each: requests are read and
 * answers written through them. The first `modelled` words stand in the order of the enumerators;
 * the rest are words of the API that nothing here models yet, so that they are refused by name and
 * never called unknown.
 */
#ifndef SL_CODEC_NAMES_H
#define SL_CODEC_NAMES_H

#include "engine/strategy/comparison.h"
#include "shardline/accounting.h"
#include "shardline/plan.h"
#include "shardline/term.h"
#include "json/reader.h"

typedef struct sl_names {
    const char *const *list;
    uint32_t modelled;
    uint32_t count;
} sl_names;

extern const sl_names sl_kind_names;
extern const sl_names sl_framework_names;
extern const sl_names sl_precision_names;
extern const sl_names sl_optimizer_names;
extern const sl_names sl_recompute_names;
extern const sl_names sl_recompute_modes;
extern const sl_names sl_method_names; /* of recomputation; sl_recompute_method less one */
extern const sl_names sl_module_names; /* sl_recompute_module */
extern const sl_names sl_loss_names;
extern const sl_names sl_profile_names; /* of activations */
extern const sl_names sl_graph_names;
extern const sl_names sl_padding_names; /* of documents; the second is sl_workload.lengths_vary */
extern const sl_names sl_adapter_names; /* from SL_ADAPTER_LORA on: a word is method - 1 */
extern const sl_names sl_base_names;
extern const sl_names sl_context_names;
extern const sl_names sl_order_names;
extern const sl_names sl_gradient_sync_names; /* sl_gradient_sync less one */

/* How collectives of the tensor group overlap with products. */
typedef enum sl_overlap_word {
    SL_OVERLAP_NONE,
    SL_OVERLAP_BULK,       /* those of backward */
    SL_OVERLAP_USERBUFFER, /* and those of forward, in pieces */
    SL_OVERLAP_COUNT
} sl_overlap_word;
extern const sl_names sl_overlap_names;
extern const sl_names sl_recipe_names; /* from SL_RECIPE_DELAYED on */
extern const sl_names sl_wire_names;   /* from SL_WIRE_BF16 on */
extern const sl_names sl_reduce_names; /* the first of them */
extern const sl_names sl_schedule_names;
extern const sl_names sl_collective_names;
extern const sl_names sl_lifetime_names;
extern const sl_names sl_origin_names;
extern const sl_names sl_strategy_names;
extern const sl_names sl_situation_names;
extern const sl_names sl_tuning_names; /* methods of fine-tuning */

/* What a comparison sets side by side. */
typedef enum sl_comparison_of {
    SL_COMPARISON_OF_STRATEGIES,
    SL_COMPARISON_OF_FINETUNING,
    SL_COMPARISON_OF_COUNT
} sl_comparison_of;
extern const sl_names sl_comparison_names;

/* FSDP's names for what zero_stage and shard_group say. */
typedef enum sl_fsdp_sharding {
    SL_FSDP_NO_SHARD,
    SL_FSDP_SHARD_GRAD_OP,
    SL_FSDP_FULL_SHARD,
    SL_FSDP_HYBRID_SHARD,
    SL_FSDP_HYBRID_SHARD_ZERO2,
    SL_FSDP_SHARDING_COUNT
} sl_fsdp_sharding;
extern const sl_names sl_sharding_names;
uint32_t sl_sharding_stage(uint32_t word); /* zero_stage */
bool sl_sharding_is_hybrid(uint32_t word); /* one copy of the states a node */

/* Words of `attention` beyond the kernels' own: what each stands for is settled with the
 * cluster. */
typedef enum sl_attention_word {
    SL_ATTENTION_WORD_SDPA = SL_ATTENTION_KERNEL_COUNT,
    SL_ATTENTION_WORD_FLASH,
    SL_ATTENTION_WORD_EAGER,
    SL_ATTENTION_WORD_FLEX,
    SL_ATTENTION_WORD_COUNT
} sl_attention_word;
extern const sl_names sl_attention_names; /* modelled: SL_ATTENTION_WORD_COUNT */

/** The framework whose software profiles describe this one: DataParallel is PyTorch, as DDP is. */
const char *sl_framework_profiles(uint32_t framework);

/** The word of an enumerator. */
const char *sl_name(const sl_names *names, uint32_t index);

/** An optional member that is one of the words; refuses those that are not modelled. */
sl_code sl_names_read(const sl_node *object, const char *member, const sl_names *names,
                      uint32_t *out, bool *present, sl_errors *err) SL_MUST_CHECK;

/** The same for `accounting`, whose words are the engine's. */
sl_code sl_accounting_read(const sl_node *object, const char *member, sl_accounting *out,
                           sl_errors *err) SL_MUST_CHECK;
sl_code sl_activation_accounting_read(const sl_node *object, const char *member,
                                      sl_activation_accounting *out, sl_errors *err) SL_MUST_CHECK;

#endif
