#include "shardline/accounting.h"

#include <assert.h>
#include <math.h>

/* inference-1.2 takes its weight bytes from the precision: 0 here. */
static const sl_accounting_info accountings[] = {
    [SL_ACCOUNTING_EXACT] = {"exact", 0.0, 0.0, 0.0, 1.0,
                             "operator by operator, in the framework's own layout", "derived"},
    [SL_ACCOUNTING_HALF_SIMPLE] =
        {"half-simple", 2.0, 2.0, 4.0, 1.0,
         "2 weights + 2 gradients + 4 for two half-precision Adam moments", "teaching rule"},
    [SL_ACCOUNTING_MIXED_2_2_12] = {"mixed-2-2-12", 2.0, 2.0, 12.0, 1.0,
                                    "2 weights + 2 gradients + 12 for fp32 master, momentum and "
                                    "variance",
                                    "Rajbhandari 2020, ZeRO, section 3.1"},
    [SL_ACCOUNTING_MIXED_2_4_12] = {"mixed-2-4-12", 2.0, 4.0, 12.0, 1.0,
                                    "2 weights + 4 fp32 gradients + 12 for fp32 master, momentum "
                                    "and variance",
                                    "Megatron-LM docs/source/api-guide/dist_optimizer.md"},
    [SL_ACCOUNTING_FP32_16N] = {"fp32-16n", 4.0, 4.0, 8.0, 1.0,
                                "4 weights + 4 gradients + 8 for two fp32 Adam moments",
                                "teaching rule"},
    [SL_ACCOUNTING_MIXED_12N] = {"mixed-12n", 4.0, 2.0, 6.0, 1.0,
                                 "4 fp32 weights + 2 bf16 gradients + 2 bf16 momentum + 4 fp32 "
                                 "variance",
                                 "teaching rule"},
    [SL_ACCOUNTING_INFERENCE_1_2] = {"inference-1.2", 0.0, 0.0, 0.0, 1.2,
                                     "1.2 x weights at the precision's bytes", "teaching rule"},
    [SL_ACCOUNTING_TRAIN_ADAMW_RULE] =
        {"train-adamw-rule", 0.0, 2.0, 8.0, 1.0,
         "of the half-precision weights W: 1 W gradients + 4 W AdamW "
         "states",
         "teaching rule; the weights are inside the 4 W. Of 70e9 parameters it makes 700 GB, where "
         "the model's publisher speaks of 500"},
    [SL_ACCOUNTING_TRAIN_SGD_RULE] = {"train-sgd-rule", 0.0, 2.0, 3.0, 1.0,
                                      "of the half-precision weights W: 1 W gradients + 1.5 W SGD "
                                      "states",
                                      "teaching rule; the weights are inside the 1.5 W"},
};
_Static_assert(sizeof accountings / sizeof accountings[0] == SL_ACCOUNTING_COUNT,
               "a row per accounting");

const sl_accounting_info *
sl_accounting_describe(sl_accounting accounting)
{
    assert(accounting >= 0 && accounting < SL_ACCOUNTING_COUNT);
    return &accountings[accounting];
}

/* Rajbhandari 2020 section 7: 2 N for DDP and stage 1; stage 2 reduces every micro-batch and
 * gathers once; stage 3 gathers twice and reduces once per micro-batch. */
static double
communication_elements(uint32_t zero_stage, uint64_t microbatches, uint64_t ranks)
{
    const double m = (double)microbatches;

    if (ranks <= 1)
        return 0.0;
    switch (zero_stage) {
    case 2:
        return 1.0 + m;
    case 3:
        return 3.0 * m;
    default:
        return 2.0;
    }
}

sl_code
sl_accounting_evaluate(sl_accounting accounting, uint64_t parameters, uint64_t ranks,
                       uint32_t zero_stage, uint64_t microbatches, double element_bytes,
                       sl_accounting_bytes *out)
{
    assert(ranks >= 1 && zero_stage <= 3 && microbatches >= 1);
    assert(accounting != SL_ACCOUNTING_EXACT);

    const sl_accounting_info *info = sl_accounting_describe(accounting);
    const double weight_bytes =
        accounting == SL_ACCOUNTING_INFERENCE_1_2 ? element_bytes : info->parameter_bytes;
    const double n = (double)parameters * info->overhead_ratio;
    const double shard = (double)ranks;
    const double p = ceil(n * weight_bytes / (zero_stage >= 3 ? shard : 1.0));
    const double g = ceil(n * info->gradient_bytes / (zero_stage >= 2 ? shard : 1.0));
    const double o = ceil(n * info->optimizer_bytes / (zero_stage >= 1 ? shard : 1.0));

    /* Doubles hold every integer up to 2^53; beyond 9 PB per rank no count is meant. */
    if (p + g + o > 9007199254740992.0)
        return SL_E_RANGE;

    *out = (sl_accounting_bytes){
        .parameters = (uint64_t)p,
        .gradients = (uint64_t)g,
        .optimizer = (uint64_t)o,
        .total = (uint64_t)(p + g + o),
        /* Serving reduces no gradients. */
        .communication_elements = accounting == SL_ACCOUNTING_INFERENCE_1_2
                                      ? 0.0
                                      : communication_elements(zero_stage, microbatches, ranks),
    };
    return SL_OK;
}

double
sl_accounting_copies_elements(uint32_t zero_stage, uint64_t microbatches, uint64_t group)
{
    assert(zero_stage <= 3 && microbatches >= 1 && group >= 1);

    if (zero_stage == 0)
        return 0.0;
    return 2.0 * (zero_stage >= 2 ? (double)microbatches : 1.0) / (double)group;
}

static const sl_activation_accounting_info activations[] = {
    [SL_ACTIVATION_EXACT] = {"exact", "operator by operator, what autograd saves", "derived"},
    [SL_ACTIVATION_SBHL] = {"sbhl", "s b h L",
                            "teaching rule of full recomputation; Korthikanti 2022 has 2 s b h L"},
    [SL_ACTIVATION_SBHL_10_24T] = {"sbhl-10-24t", "s b h L (10 + 24 / t)",
                                   "Korthikanti 2022 eq. 2, the attention core recomputed"},
    [SL_ACTIVATION_SBHL_10_24T_SCORES] = {"sbhl-10-24t-attention",
                                          "s b h L (10 + 24 / t + 5 a s / (h t))",
                                          "Korthikanti 2022 eq. 2"},
};
_Static_assert(sizeof activations / sizeof activations[0] == SL_ACTIVATION_COUNT,
               "a row per accounting");

const sl_activation_accounting_info *
sl_activation_accounting_describe(sl_activation_accounting accounting)
{
    assert(accounting >= 0 && accounting < SL_ACTIVATION_COUNT);
    return &activations[accounting];
}

double
sl_activation_accounting_bytes(sl_activation_accounting accounting,
                               const sl_activation_shape *shape)
{
    const double sbhl = shape->s * shape->b * shape->h * shape->l;
    const double cut = 10.0 + 24.0 / shape->t;

    switch (accounting) {
    case SL_ACTIVATION_SBHL:
        return sbhl;
    case SL_ACTIVATION_SBHL_10_24T:
        return sbhl * cut;
    case SL_ACTIVATION_SBHL_10_24T_SCORES:
        return sbhl * (cut + 5.0 * shape->a * shape->s / (shape->h * shape->t));
    case SL_ACTIVATION_EXACT:
    case SL_ACTIVATION_COUNT:
        break;
    }
    assert(false);
    return 0.0;
}
