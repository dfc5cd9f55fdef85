/** Hints that hold what they say. */
#ifndef SL_ENGINE_HINTS_H
#define SL_ENGINE_HINTS_H

#include "shardline/plan.h"

/**
 * Follows the hints of what a check of `question` found, before anybody else does. Alternatives
 * that leave their fault standing go; those that break a rule which held go, too, where another
 * breaks none. At a degree, a stage or a micro-batch a rule says nothing of values, or begins with
 * "or " what else there is to do: the values are those that leave nothing at fault, where there are
 * any, then those that break nothing else. With tensor, pipeline and context data follows.
 *
 * The language of hints: alternatives with ", " or ", or " between them, each a value of the field
 * at fault or "name value", "with" more of the same: "2, 4, or framework fsdp2 with zero_stage 3".
 * What is not understood so ("leave it out") stays.
 */
void sl_hints_follow(const sl_question *question, sl_errors *err);

/** What hints call attention kernels. */
extern const char *const sl_hints_attention[SL_ATTENTION_KERNEL_COUNT];

#endif
