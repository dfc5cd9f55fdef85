/** Rules of what ranks of one replica share: a sequence, or the experts of a layer. */
#ifndef SL_ENGINE_CHECK_SHARED_H
#define SL_ENGINE_CHECK_SHARED_H

#include "shardline/plan.h"

/**
 * context: no_sequence of plain layers; not_modelled but for megatron, fsdp2 and deepspeed;
 * needs_fused_attention without a kernel; not_divisible where a causal mask is not balanced by two
 * pieces a rank, or heads do not deal out.
 */
sl_code sl_check_context(const sl_question *question, sl_errors *err) SL_MUST_CHECK;

/** Ranks that one expert is cut over, the most that a hint names. */
enum { SL_EXPERT_CUT_HINTED = 64 };

/** expert and expert_tensor: no_experts, not_modelled, not_divisible. */
sl_code sl_check_experts(const sl_question *question, sl_errors *err) SL_MUST_CHECK;

/** The nearest length of a sequence whose positions tensor divides, and context in pairs;
 * of two the longer [tokens]. */
uint64_t sl_nearest_length(uint64_t length, const sl_plan *plan);

#endif
