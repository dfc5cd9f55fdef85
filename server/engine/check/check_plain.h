/** What may be asked of a list of plain layers. */
#ifndef SL_ENGINE_CHECK_PLAIN_H
#define SL_ENGINE_CHECK_PLAIN_H

#include "shardline/plan.h"

/**
 * Refuses what such a list says nothing about: cut tensors (rule no_tensors), sequences
 * (no_sequence), attention kernels (no_attention) and dropout (no_dropout). Other models pass.
 */
sl_code sl_check_plain(const sl_question *question, sl_errors *err) SL_MUST_CHECK;

#endif
