/** Ways of training a model on many devices, each as a legal plan on one cluster. */
#ifndef SL_ENGINE_STRATEGY_H
#define SL_ENGINE_STRATEGY_H

#include "shardline/estimate.h"

typedef enum sl_strategy {
    SL_STRATEGY_GIVEN, /* the plan of the request, as it is */
    SL_STRATEGY_DP,
    SL_STRATEGY_DDP,
    SL_STRATEGY_ZERO_1,
    SL_STRATEGY_ZERO_2,
    SL_STRATEGY_ZERO_3,
    SL_STRATEGY_FSDP_SHARD_GRAD_OP,
    SL_STRATEGY_FSDP_FULL_SHARD,
    SL_STRATEGY_HSDP, /* FSDP's hybrid_shard, and below with stage 2 inside a node */
    SL_STRATEGY_HSDP_ZERO_2,
    SL_STRATEGY_TENSOR,
    SL_STRATEGY_PIPELINE,
    SL_STRATEGY_LAYER_WISE,
    SL_STRATEGY_LAYER_WISE_DDP,
    SL_STRATEGY_CPU_LAYERS,
    SL_STRATEGY_OFFLOAD,
    SL_STRATEGY_MIXED,
    SL_STRATEGY_COUNT
} sl_strategy;

/** Profiles of the releases of one framework. */
typedef struct sl_releases {
    const sl_software *list;
    uint32_t count;
} sl_releases;

/**
 * What is compared: the question, in which SL_UNKNOWN_MICRO_BATCH and SL_UNKNOWN_RECOMPUTE are
 * choices each strategy makes for itself, and what its framework is in each of them.
 */
typedef struct sl_comparison_ask {
    const sl_question *question;
    sl_releases releases[SL_FRAMEWORK_COUNT]; /* at least one of each */
    const sl_question *given;                 /* the request's own plan as it is, or NULL */
    bool predicts; /* several tokens at once, which is modelled for Megatron alone */
} sl_comparison_ask;

/** How much has to be changed to adopt it, 1 to 5: 1 a wrapper, 2 a configuration,
 * 3 one that has to know nodes and devices, 4 the code of the model or a framework of its own, 5
 * several of these at once. A judgement. */
uint32_t sl_strategy_complexity(sl_strategy strategy);

/**
 * The question of the strategy's best plan: one that surely fits before one that may not, and that
 * before one that does not; of those that fit the fastest, of the others the smallest; micro-batch
 * and recomputation chosen with it where they are open, for the newest release that is plausible,
 * and whether it surely fits by all that are. What remains unknown in *out are facts: software,
 * attention, dropout.
 *   dp, ddp, zero_*, fsdp_*   all devices are replicas
 *   hsdp*                     one copy of the states in each node
 *   tensor                    as many ranks as domain, heads and widths allow; replicas of that
 *   pipeline                  1F1B over the fewest stages that fit; replicas of that
 *   layer_wise                naive stages over all devices; with _ddp over the fewest that fit
 *   cpu_layers                naive stages over all devices, the fewest last blocks on the host
 *                             that fit
 *   offload                   DeepSpeed; first the optimizer of stage 2 on the host, then of stage
 *                             3, then its parameters too
 *   mixed                     Megatron, tensor x context inside a domain, 1F1B or 2 chunks a stage,
 *                             experts over ranks where there are any, optimizer states over the
 *                             replicas
 * Errors: those of sl_question_check for the first plan that is tried, rule one_device where there
 * is nothing to cut over, one_replica where devices make no two replicas of several, one_node for
 * copies in each of one node. `scratch` is overwritten.
 */
sl_code sl_strategy_derive(const sl_comparison_ask *ask, sl_strategy strategy, sl_estimate *scratch,
                           sl_question *out, sl_errors *err) SL_MUST_CHECK;

#endif
