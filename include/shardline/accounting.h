/**
 * The rules of thumb people teach, by name, so that a figure from a course can be reproduced and
 * held beside the exact answer.
 */
#ifndef SHARDLINE_ACCOUNTING_H
#define SHARDLINE_ACCOUNTING_H

#include <stdint.h>

#include "shardline/error.h"

typedef enum sl_accounting {
    SL_ACCOUNTING_EXACT,
    SL_ACCOUNTING_HALF_SIMPLE,
    SL_ACCOUNTING_MIXED_2_2_12,
    SL_ACCOUNTING_MIXED_2_4_12,
    SL_ACCOUNTING_FP32_16N,
    SL_ACCOUNTING_MIXED_12N,
    SL_ACCOUNTING_INFERENCE_1_2,
    SL_ACCOUNTING_TRAIN_ADAMW_RULE,
    SL_ACCOUNTING_TRAIN_SGD_RULE,
    SL_ACCOUNTING_COUNT
} sl_accounting;

typedef struct sl_accounting_info {
    const char *name;       /* "mixed-2-2-12" */
    double parameter_bytes; /* per parameter */
    double gradient_bytes;
    double optimizer_bytes;
    double overhead_ratio; /* multiplies the sum */
    const char *formula;
    const char *source;
} sl_accounting_info;

const sl_accounting_info *sl_accounting_describe(sl_accounting accounting);

/** Bytes of one data-parallel rank. */
typedef struct sl_accounting_bytes {
    uint64_t parameters;
    uint64_t gradients;
    uint64_t optimizer;
    uint64_t total;
    double communication_elements; /* per step, in units of the parameter count */
} sl_accounting_bytes;

/**
 * parameters N [count], ranks M >= 1, zero_stage 0-3, microbatches m >= 1.
 * Optimizer states are divided by M from stage 1, gradients from 2, weights at 3 (Rajbhandari
 * 2020); sizes round up. element_bytes: of the precision, for inference-1.2 only. SL_E_RANGE past
 * uint64_t.
 */
sl_code sl_accounting_evaluate(sl_accounting accounting, uint64_t parameters, uint64_t ranks,
                               uint32_t zero_stage, uint64_t microbatches, double element_bytes,
                               sl_accounting_bytes *out) SL_MUST_CHECK;

/**
 * What copies of the states add to the volume, in units of the parameter count: the shards of the
 * gradients, one group's summed with those of the others after every reduction.
 *
 *   2 x reductions / group        reductions: microbatches from stage 2 on, else 1
 *
 * group [count] >= 1: ranks that share one copy. 0 at stage 0, which shards nothing.
 * Source: PyTorch FullyShardedDataParallel, ShardingStrategy.HYBRID_SHARD.
 */
double sl_accounting_copies_elements(uint32_t zero_stage, uint64_t microbatches, uint64_t group);

/** What courses teach of activations, fp16, without sequence parallelism. */
typedef enum sl_activation_accounting {
    SL_ACTIVATION_EXACT,
    SL_ACTIVATION_SBHL,               /* everything recomputed */
    SL_ACTIVATION_SBHL_10_24T,        /* the attention core recomputed */
    SL_ACTIVATION_SBHL_10_24T_SCORES, /* nothing recomputed */
    SL_ACTIVATION_COUNT
} sl_activation_accounting;

typedef struct sl_activation_accounting_info {
    const char *name; /* "sbhl-10-24t" */
    const char *formula;
    const char *source;
} sl_activation_accounting_info;

const sl_activation_accounting_info *
sl_activation_accounting_describe(sl_activation_accounting accounting);

/** s positions of a sequence, b sequences of a rank, h hidden, l blocks, a heads, t tensor
 * ranks. */
typedef struct sl_activation_shape {
    double s, b, h, l, a, t;
} sl_activation_shape;

/** Bytes by the rule; not for SL_ACTIVATION_EXACT. */
double sl_activation_accounting_bytes(sl_activation_accounting accounting,
                                      const sl_activation_shape *shape);

#endif
