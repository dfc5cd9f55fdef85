/** Rules for single operators: encoders, attention across, state space, products in 8 bits. Of check.c. */
#ifndef SL_ENGINE_CHECK_OPERATORS_H
#define SL_ENGINE_CHECK_OPERATORS_H

#include "shardline/plan.h"

/** Refuses by name what is modelled for attention under a causal mask only; and cuts that leave a
 * state space with parts of heads or groups, or TransformerEngine with widths that it asserts against. */
sl_code sl_check_operators(const sl_question *question, sl_errors *err) SL_MUST_CHECK;

/** Of those rules, the one that reads the pipeline. */
sl_code sl_check_across(const sl_question *question, sl_errors *err) SL_MUST_CHECK;

/** Where dense MLPs run over parts of the sequence: what that is modelled beside. */
sl_code sl_check_tiles(const sl_question *question, sl_errors *err) SL_MUST_CHECK;

#endif
