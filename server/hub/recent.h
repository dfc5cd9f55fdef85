/**
 * What the client remembers for a while, in memory and bounded: failures that asking again would
 * only repeat, and whether anybody answers at the endpoint at all.
 */
#ifndef SL_HUB_RECENT_H
#define SL_HUB_RECENT_H

#include <stdbool.h>

#include "shardline/error.h"

enum { SL_HUB_RECENT_KEY_SIZE = 512 };

typedef struct sl_hub_recent sl_hub_recent;

sl_hub_recent *sl_hub_recent_new(void) SL_MUST_CHECK; /* NULL without memory */
void sl_hub_recent_free(sl_hub_recent *recent);       /* NULL is fine */

/** Keeps the failure for for_s seconds; the oldest one gives way. A key that does not fit is not
 * kept. */
void sl_hub_recent_add(sl_hub_recent *recent, const char *key, const sl_error *failure,
                       double for_s);
bool sl_hub_recent_find(sl_hub_recent *recent, const char *key, sl_error *out);

/** The endpoint answered, or did not. */
void sl_hub_recent_answered(sl_hub_recent *recent);
void sl_hub_recent_silent(sl_hub_recent *recent, double for_s);
/** True for a while after the last try reached nobody. */
bool sl_hub_recent_is_silent(sl_hub_recent *recent);

#endif
