/** The check of a question, by what a change of plan can break. */
#ifndef SL_ENGINE_CHECK_H
#define SL_ENGINE_CHECK_H

#include <stddef.h>

#include "shardline/plan.h"

/**
 * What sl_question_check says, of a question that differs from one which passed it in nothing but
 * pipeline, virtual_pipeline, layout, schedule, data, zero_stage, shard_group, reshard, host_runs,
 * recompute with its method, and offload: the rules that read none of these are left out.
 */
sl_code sl_question_check_cut(const sl_question *question, sl_errors *err) SL_MUST_CHECK;

typedef sl_code (*sl_rule)(const sl_question *question, sl_errors *err);

/** Asks all of so many rules: the first code counts, and every fault is named. */
sl_code sl_check_all(const sl_rule *rules, size_t count, const sl_question *question,
                     sl_errors *err) SL_MUST_CHECK;

/** Whether a request says the field, which else is tried with all that is plausible. */
static inline bool
sl_check_knows(const sl_question *question, sl_unknown field)
{
    return (question->unknown & (uint32_t)field) == 0;
}

#endif
