/** Questions to the Hub with bounded patience: tried again after faults of a moment. */
#ifndef SL_HUB_ASK_H
#define SL_HUB_ASK_H

#include "hub/transfer.h"

typedef struct sl_hub_patience {
    double try_s;    /* one try */
    double budget_s; /* all tries and the waits between them */
    uint32_t tries;
} sl_hub_patience;

/** True when nobody seems to answer at the endpoint: what is held is better than waiting. */
bool sl_hub_is_silent(const sl_hub *hub);

/** The body of the last try is in `body`, which the caller initialised with its limit. Also learns
 * whether anybody answers at the endpoint, and how long it asks not to be asked. */
sl_hub_outcome sl_hub_ask(sl_hub_worker *worker, const sl_hub_question *question,
                          const sl_hub_patience *patience, const atomic_bool *cancelled,
                          sl_buffer *body, sl_hub_reply *reply);

#endif
