/** Rules for models with encoders, which attend to all positions or across. Of check.c. */
#ifndef SL_ENGINE_CHECK_ENCODER_H
#define SL_ENGINE_CHECK_ENCODER_H

#include "shardline/plan.h"

/** Refuses by name what is modelled for decoders only; SL_OK for those. */
sl_code sl_check_encoder(const sl_question *question, sl_errors *err) SL_MUST_CHECK;

#endif
