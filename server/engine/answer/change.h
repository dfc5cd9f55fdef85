/** Changes that may free memory or time: one field of a plan each, or a few that go together. */
#ifndef SL_ENGINE_CHANGE_H
#define SL_ENGINE_CHANGE_H

#include "engine/answer/evaluate.h"

typedef enum sl_change_kind {
    SL_CHANGE_RECOMPUTE,
    SL_CHANGE_MICRO_BATCH,
    SL_CHANGE_TENSOR,
    SL_CHANGE_PIPELINE,
    SL_CHANGE_EXPERT,
    SL_CHANGE_CONTEXT,
    SL_CHANGE_SEQUENCE,
    SL_CHANGE_ZERO_STAGE,
    SL_CHANGE_RESHARD,
    SL_CHANGE_GRADIENT_SYNC,
    SL_CHANGE_LOSS,
    SL_CHANGE_OFFLOAD_OPTIMIZER,
    SL_CHANGE_OFFLOAD_ACTIVATIONS,
    SL_CHANGE_ADAPTER_BASE,
    SL_CHANGE_FRAMEWORK,
    SL_CHANGE_NODES,
    SL_CHANGE_KIND_COUNT
} sl_change_kind;

/** What lacks memory, one of these or both; 0: nothing, and a change is to save time. */
enum { SL_DEVICES_LACK = 1, SL_NODES_LACK = 2 };

typedef struct sl_change {
    sl_change_kind kind;
    uint64_t value;
} sl_change;

enum { SL_CHANGE_VALUES_MAX = 32 };

/** The member of a request that it is about. */
const char *sl_change_name(sl_change_kind kind);

/**
 * Values worth trying in place of those of `now`. Where memory lacks, from what changes least to
 * what frees most, and none that only ever takes of it. Whether they are legal is left to
 * the check. Returns how many; of numbers no more than double or half at a time, and of nodes eight
 * times as many at most.
 */
uint32_t sl_change_values(const sl_question *question, const sl_combination *now, uint32_t lacking,
                          sl_change_kind kind, uint64_t values[SL_CHANGE_VALUES_MAX]);

/** Into a combination and the cluster it runs on. Of a first tensor degree sequences are split too,
 * where the software does that: the same run, with less memory. Another framework comes with the
 * release that the question has for it. */
void sl_change_apply(sl_change change, const sl_question *question, sl_combination *c,
                     sl_cluster *cluster);

#endif
