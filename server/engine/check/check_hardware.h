/** What the parts cannot do that a question asks of them; a part of sl_question_check. */
#ifndef SL_ENGINE_CHECK_HARDWARE_H
#define SL_ENGINE_CHECK_HARDWARE_H

#include "shardline/plan.h"

/** Precision and attention kernel need a rate, memory and links too. */
sl_code sl_check_hardware(const sl_question *question, sl_errors *err) SL_MUST_CHECK;

#endif
