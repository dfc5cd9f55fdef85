/** What the files of this folder share about the process-wide client and its per-thread workers. */
#ifndef SL_HUB_CLIENT_H
#define SL_HUB_CLIENT_H

#include <curl/curl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "hub/hub.h"
#include "hub/origin.h"
#include "hub/reach.h"
#include "hub/recent.h"

enum {
    SL_HUB_FILE_MAX_BYTES = 1 << 20, /* a config.json is a tenth of this at most */
    SL_HUB_URL_SIZE = 8192,          /* signed addresses of a content network are long */
    SL_HUB_ETAG_SIZE = 256,
    SL_HUB_COMMIT_SIZE = 41
};

/** How long and how often the Hub is asked. Fixed in the server; tests shorten the waits. */
typedef struct sl_hub_limits {
    double connect_s;  /* until a connection stands */
    double transfer_s; /* one try, redirects included */
    double etag_s;     /* the only try where a cached revision can stand in */
    double check_s;    /* everything a cross-check asks for */
    double search_s;   /* the only try of a search */
    long stalled_s;    /* whole seconds below stalled_bytes_per_s end a try; 0 for never */
    long stalled_bytes_per_s;
    double budget_s;        /* all tries and the waits between them */
    double backoff_s;       /* before the second try; doubles after that */
    double backoff_max_s;   /* and grows no further */
    double rate_wait_max_s; /* a longer wait asked for by the Hub is passed on to the user */
    double rate_margin_s;   /* added to the wait asked for, which is cut to whole seconds */
    double missing_s;       /* what was not found is not asked for again so soon */
    double unchecked_s;     /* nor what could not be cross-checked */
    double silent_s;        /* nor a cached revision, after nobody answered */
    double limited_max_s;   /* nor anything of its kind, at most, when the Hub asks to slow down */
    double slow_s;          /* nor while others have waited this long for any answer */
    uint32_t tries;
    uint32_t redirects;
} sl_hub_limits;

/** What threads change: behind a pointer, for the client is the same to all of them. */
typedef struct sl_hub_state {
    sl_hub_recent *recent;
    pthread_mutex_t flights_lock; /* over the next one and all that hangs on it */
    sl_hub_ticket *leaders;       /* of fetches under way */
    atomic_uint_fast64_t results[SL_HUB_RESULT_COUNT];
} sl_hub_state;

struct sl_hub {
    char endpoint[512];
    sl_hub_origin origin; /* of the endpoint: the only one that gets the token */
    char token[512];
    char user_agent[128];
    char proxy[512];
    char cache_dir[600];
    char official_dir[600]; /* cache of Hugging Face's own tools, read only; "" for none */
    bool offline;
    sl_hub_limits limits;
    sl_hub_state *state;
};

struct sl_hub_worker {
    const sl_hub *hub;
    CURL *handle;
    char url[SL_HUB_URL_SIZE]; /* of the hop under way */
    sl_hub_origin origin;      /* of url */
    sl_hub_reach reach;
    const atomic_bool *cancelled;
    sl_buffer *body; /* borrowed from the fetch under way */
    bool oversized;  /* the body grew past its limit */
    bool refused;    /* an address was refused during the hop under way */
    bool awaited;    /* others take note of the question under way: nobody answered it yet */
};

#endif
