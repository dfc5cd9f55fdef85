/** The computing of a step by class of kernel, as a profiler sees it: forward, backward and
 * recomputation are the same seconds the other way round. */
#ifndef SHARDLINE_CLASSES_H
#define SHARDLINE_CLASSES_H

#include "shardline/estimate.h"

typedef enum sl_class {
    SL_CLASS_PRODUCTS,  /* with the casts of their operands; plain layers, whatever they do */
    SL_CLASS_ATTENTION, /* unfused: its products and softmax as well */
    SL_CLASS_STREAMING, /* norms, rotations, activations, residuals, routing, state space scans */
    SL_CLASS_EMBEDDING,
    SL_CLASS_LOSS,
    SL_CLASS_COUNT
} sl_class;

/**
 * Seconds of one step on a device of the slowest stage, by class:
 *
 *   out[c] = microbatches sum over layers and operators of c (forward + backward + rebuilt)
 *
 * They sum to the terms forward, backward and recompute of the estimate, but for what a host runs.
 * `estimate` is an answer to `question`: its plan, workload and software are those that are priced.
 * Source: derived.
 */
void sl_classes_predict(const sl_question *question, const sl_estimate *estimate,
                        double out[SL_CLASS_COUNT]);

#endif
