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

/** How a question is answered, or ended. */
typedef enum sl_hub_hearing {
    SL_HUB_HEARD,    /* the endpoint begins to answer, whatever it says */
    SL_HUB_UNHEARD,  /* nobody did */
    SL_HUB_ABANDONED /* nobody waited for it */
} sl_hub_hearing;

/** A question is on its way, and is answered or has ended. silent_s: as in sl_hub_limits. */
void sl_hub_recent_asks(sl_hub_recent *recent);
void sl_hub_recent_asked(sl_hub_recent *recent, sl_hub_hearing hearing, double silent_s);

/** What the Hub counts together when it limits rates. */
typedef enum sl_hub_bucket {
    SL_HUB_BUCKET_FILES,
    SL_HUB_BUCKET_API,
    SL_HUB_BUCKET_COUNT
} sl_hub_bucket;

/** The Hub asks for nothing of the kind for so long; a shorter time leaves a longer one alone. */
void sl_hub_recent_limit(sl_hub_recent *recent, sl_hub_bucket bucket, double for_s);
/** Seconds that are left of it; 0 when none are. */
double sl_hub_recent_limited_s(sl_hub_recent *recent, sl_hub_bucket bucket);

/** True for a while after the last question reached nobody, and as soon as one is on its way while
 * no answer has come for slow_s seconds. */
bool sl_hub_recent_is_silent(sl_hub_recent *recent, double slow_s);

#endif
