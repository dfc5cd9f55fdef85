/** What went wrong at the Hub, in words that say what to do. */
#ifndef SL_HUB_ERRORS_H
#define SL_HUB_ERRORS_H

#include "hub/transfer.h"

/** What was asked for, as the messages name it. */
typedef struct sl_hub_subject {
    const char *repository;
    const char *revision;
    const char *pointer;
} sl_hub_subject;

/**
 * Reports an outcome that gave no file; the order of the rules is that of huggingface_hub. An
 * answer of status 200 or 304 that reaches this lacked what every file of the Hub carries.
 */
sl_code sl_hub_fail(const sl_hub *hub, sl_hub_outcome outcome, const sl_hub_reply *reply,
                    const sl_hub_subject *subject, sl_errors *err);

/** True when the Hub itself gave no verdict, so that a cached revision may stand in. */
bool sl_hub_is_unreachable(sl_hub_outcome outcome, const sl_hub_reply *reply);

#endif
