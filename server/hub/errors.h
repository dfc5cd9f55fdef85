/** What went wrong at the Hub, in words that say what to do. */
#ifndef SL_HUB_ERRORS_H
#define SL_HUB_ERRORS_H

#include "hub/transfer.h"

/**
 * Reports an outcome that gave no file; the order of the rules is that of huggingface_hub. An
 * answer of status 200 or 304 that reaches this lacked what every file of the Hub carries.
 */
sl_code sl_hub_fail(const sl_hub *hub, sl_hub_outcome outcome, const sl_hub_reply *reply,
                    const sl_hub_subject *subject, sl_errors *err);

/** True when the Hub itself gave no verdict, so that a cached revision may stand in. */
bool sl_hub_is_unreachable(sl_hub_outcome outcome, const sl_hub_reply *reply);

/** The Hub knows that the commit has no such file. */
sl_code sl_hub_fail_file(const sl_hub_subject *subject, sl_errors *err);

/** The Hub asks to slow down, for so many seconds; negative when it did not say. */
sl_code sl_hub_fail_rate(const sl_hub *hub, const sl_hub_subject *subject, double retry_after_s,
                         sl_errors *err);

/** Nothing is held, and the Hub is not to be asked. */
sl_code sl_hub_fail_offline(const sl_hub_subject *subject, sl_errors *err);

#endif
