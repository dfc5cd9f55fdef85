/** Texts that are known and not read: what they are, and what to send instead. */
#ifndef SL_INTAKE_REFUSALS_H
#define SL_INTAKE_REFUSALS_H

#include "intake/format.h"

/** SL_E_UNSUPPORTED, rule unknown_format, with what the text is known to be, or looks like. */
sl_code sl_intake_refuse(const sl_sample *sample, sl_errors *err);

#endif
