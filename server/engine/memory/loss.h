/** Logits at the loss: bytes of each, by phase. */
#ifndef SL_ENGINE_LOSS_H
#define SL_ENGINE_LOSS_H

#include "engine/memory/memory.h"

/** Bytes of one logit: at the ends of forward and of the loss's backward, and while the head runs
 * backward; and what segments of logits idle beside those of the loss. */
typedef struct sl_logit_bytes {
    double forward;
    double loss;
    double head;
    double idle;
} sl_logit_bytes;

/**
 * Of the loss that the workload asks for, or that is the release's own. Sources: PyTorch's cross_entropy and
 * DTensor's loss_parallel, counted; our own runs (tests/accuracy/data).
 */
sl_logit_bytes sl_loss_logits(const sl_memory_case *c);

#endif
