/** Which kernels compute the loss, over how many copies of the logits, and what they move. Memory
 * and time both start here. */
#ifndef SL_ENGINE_CROSS_ENTROPY_H
#define SL_ENGINE_CROSS_ENTROPY_H

#include "shardline/plan.h"

typedef enum sl_entropy_kernels {
    SL_ENTROPY_OWN,            /* the release's, as its row says */
    SL_ENTROPY_OPERATORS,      /* PyTorch's cast, log-softmax and what picks the labels */
    SL_ENTROPY_NARROW,         /* ... without the cast */
    SL_ENTROPY_HALF,           /* ... by code that lets go of nothing */
    SL_ENTROPY_FUSED,          /* in place of the logits, by a compiler or by hand */
    SL_ENTROPY_CHUNKED,        /* PyTorch's, over a part of the tokens at a time */
    SL_ENTROPY_SPLIT,          /* DTensor's operators over a vocabulary that ranks share */
    SL_ENTROPY_SPLIT_COMPILED, /* ... compiled */
    SL_ENTROPY_VOCABULARY,     /* Megatron's operators over such a vocabulary */
    SL_ENTROPY_CUT,            /* block by block of logits that are never stored */
    SL_ENTROPY_COUNT
} sl_entropy_kernels;

typedef struct sl_entropy {
    sl_entropy_kernels kernels;
    double copies;        /* of this rank's part of the logits, where it gathers them all */
    double forward_bytes; /* read and written, of each of them */
    double backward_bytes;
} sl_entropy;

/** What the workload asks for, or the release does by itself. */
sl_entropy sl_entropy_of(const sl_model *model, const sl_software *software,
                         const sl_workload *workload, uint32_t tensor);

#endif
