/** What a plan runs into as it grows, in numbers of its own, and what a lost device costs it. */
#ifndef SL_ENGINE_SCALING_H
#define SL_ENGINE_SCALING_H

#include "shardline/estimate.h"

/** 0 in a count: it does not limit this plan, or was not met. */
typedef struct sl_scaling {
    double exposed_ratio; /* communication that nothing hides, over the step */
    /* Accelerators from which on what replicas exchange takes more than a tenth of the step, the
     * global batch being as it is; doubled from one node on. */
    uint64_t data_exposed_from;
    uint64_t replicas_limit; /* each has a sequence of the batch; those of dp stand in one node */
    uint64_t tensor_limit;   /* ranks of the widest cut that is legal inside a scale-up domain */
    uint64_t stages_limit;   /* each has a layer */
    uint64_t microbatches;   /* of a replica in a step */
    uint64_t small_bubble_batch;  /* global batch, doubled, that leaves a tenth idle or less */
    uint64_t largest_layer_bytes; /* naive stages: states of the largest layer, which one holds */
} sl_scaling;

typedef struct sl_failure {
    uint64_t ranks_stopped; /* all that wait for the lost one */
    uint64_t copies_left;   /* whole copies of the states elsewhere */
    double seconds_lost;    /* restart, and half the time between checkpoints; 0 = not known */
    double mean_time_between_failures_s; /* 0 = not known */
} sl_failure;

/** Of the plan that *answer is for; `question` has the cluster and the model. `scratch` is
 * overwritten, and is not *answer. */
void sl_scaling_measure(const sl_question *question, const sl_estimate *answer,
                        sl_estimate *scratch, sl_scaling *out);

void sl_failure_measure(const sl_estimate *answer, sl_failure *out);

/** Seconds of a message of one byte in the group of a row of traffic; 0 where the row is none of a
 * parallel group. */
double sl_scaling_latency_s(const sl_question *question, const sl_estimate *answer,
                            const sl_communication *row);

#endif
