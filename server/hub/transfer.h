/** One question to the Hub over HTTP: redirects followed, nothing retried. */
#ifndef SL_HUB_TRANSFER_H
#define SL_HUB_TRANSFER_H

#include "hub/client.h"

typedef enum sl_hub_outcome {
    SL_HUB_ANSWERED, /* the reply's status says what */
    SL_HUB_CANCELLED,
    SL_HUB_NOT_CONNECTED, /* no answer: name, route, TLS, reset */
    SL_HUB_TIMED_OUT,
    SL_HUB_TRUNCATED,
    SL_HUB_TOO_LARGE,
    SL_HUB_ADDRESS_REFUSED,
    SL_HUB_TOO_MANY_REDIRECTS,
    SL_HUB_NO_MEMORY,
    SL_HUB_OUTCOME_COUNT
} sl_hub_outcome;

typedef struct sl_hub_reply {
    long status;          /* of the last hop; 0 when there was no answer */
    bool from_endpoint;   /* the last hop was answered by the endpoint, not by a content host */
    bool retryable;       /* the same question may succeed a moment later */
    double retry_after_s; /* asked for by the Hub; negative when it was not */
    char commit[SL_HUB_COMMIT_SIZE + 1]; /* X-Repo-Commit; one longer, so that a cut shows */
    char etag[SL_HUB_ETAG_SIZE];
    char error_code[64];
    char error_message[128];
    char content_range[48]; /* of a 206 */
    char request_id[64];    /* as the last hop's server calls this question */
    const char *reason;     /* why there was no answer; static storage, NULL when unknown */
} sl_hub_reply;

typedef struct sl_hub_question {
    const char *url;      /* at the endpoint */
    const char *etag;     /* sent as If-None-Match; "" for none */
    uint64_t first, size; /* the bytes asked for; size 0 for the whole file */
    sl_hub_bucket bucket;
    bool beside; /* for what is good to have: that it is not answered says nothing of the Hub */
} sl_hub_question;

/**
 * GET of an address at the endpoint. The body of a 200, or of a 206 where a part was asked for, is
 * appended to `body`, whose limit counts decoded bytes. The token goes to the endpoint's own
 * scheme, host and port only.
 */
sl_hub_outcome sl_hub_transfer_get(sl_hub_worker *worker, const sl_hub_question *question,
                                   double deadline_s, const atomic_bool *cancelled, sl_buffer *body,
                                   sl_hub_reply *reply);

/** Sets what is the same for every question. False when libcurl refused an option. */
bool sl_hub_transfer_prepare(sl_hub_worker *worker);

#endif
