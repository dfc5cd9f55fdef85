/**
 * One request and its answer, from the first header to the completion callback.
 *
 * Two parties may hold it: the connection, and the worker that runs its handler. Each drops its
 * hold when done (pending.h), so that a worker that comes late finds everything it reads and
 * writes still there. Nothing in `request` points into the connection.
 */
#ifndef SL_HTTP_EXCHANGE_H
#define SL_HTTP_EXCHANGE_H

#include <microhttpd.h>

#include "http/router.h"
#include "http/spool.h"
#include "http/static.h"

enum { SL_REQUEST_ID_SIZE = 65, SL_TRACE_ID_SIZE = 33 };

/** What is served; the same for every request. */
typedef struct sl_site {
    const sl_settings *settings;
    const sl_route *routes;
    size_t route_count;
    const sl_static *files;
} sl_site;

/** Who settled a suspended request; guarded by the lock of the pending set. */
typedef enum sl_outcome {
    SL_WAITING,  /* nobody yet: queued or running */
    SL_DONE,     /* the worker: response holds the answer */
    SL_EXPIRED,  /* the watchdog */
    SL_BUSY,     /* the lane was full */
    SL_CANCELLED /* the server stops */
} sl_outcome;

typedef struct sl_exchange {
    struct sl_exchange *next, *previous; /* in the pending set */
    sl_server *server;
    struct MHD_Connection *connection; /* touched by the connection's thread, or under the lock */
    const sl_route *route;             /* NULL when no handler will run */
    const char *route_name;            /* the pattern, for log and metrics; NULL: none matched */
    uint32_t method_label;             /* of sl_method_labels */
    sl_request request;
    sl_response response; /* of the handler, or of this layer when `ready` */
    sl_buffer body;       /* empty where the body is spooled; the limit is its limit all the same */
    sl_spool *spool;      /* NULL: the body stays in memory, or there is none */
    const char *shared;   /* a body borrowed from the static files; NULL: response.body */
    size_t shared_size;
    bool ready;           /* response needs no handler */
    bool refused_early;   /* answer before the body: it is too long, or not sent yet */
    bool suspended;       /* handed to a lane; the next call of the daemon brings the outcome */
    size_t dropped_bytes; /* of a body that nobody will read */
    char id[SL_REQUEST_ID_SIZE];
    char trace_id[SL_TRACE_ID_SIZE]; /* of the trace the client is in; "": in none */
    double started_s;
    uint32_t status; /* of the answer that was queued; 0: none */
    size_t answer_bytes;
    sl_feed *sent; /* the feed that the connection reads; NULL: none */
    int socket;    /* the connection's, while it lasts */
    atomic_bool cancelled;
    atomic_bool began;  /* a handler did */
    sl_outcome outcome; /* these four guarded by the lock of the pending set */
    uint32_t holders;
    bool open;       /* settled, and its job writes on into the feed */
    uint64_t ticket; /* by which the watch of hangups knows it; 0: not watched */
} sl_exchange;

/**
 * Reads the head of a request. Whatever can be refused from the head alone leaves a ready
 * response. NULL without memory.
 */
sl_exchange *sl_exchange_new(const sl_site *site, struct MHD_Connection *connection,
                             const char *url, const char *method,
                             const char *version) SL_MUST_CHECK;
void sl_exchange_free(sl_exchange *exchange);

/**
 * Takes a part of the body. One that is too long turns the answer into 413 and is dropped; false
 * when so much of it came that only closing the connection stops it.
 */
bool sl_exchange_append(sl_exchange *exchange, const char *bytes, size_t size) SL_MUST_CHECK;

/** The body is complete: hands it to the request. */
void sl_exchange_complete(sl_exchange *exchange);

#endif
