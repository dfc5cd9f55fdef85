/** What a handler sees of a request and what it gives back. No libmicrohttpd type crosses this
 * line. */
#ifndef SL_HTTP_MESSAGE_H
#define SL_HTTP_MESSAGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "http/feed.h"
#include "shardline/error.h"

typedef enum sl_lane {
    SL_LANE_COMPUTE, /* pure work, one thread per core */
    SL_LANE_STORE,   /* one database connection per thread */
    SL_LANE_HUB,     /* one curl handle per thread */
    SL_LANE_PROBE,   /* waits for what somebody else looks after, two seconds at most */
    SL_LANE_BULK,    /* seconds of work on one upload, behind whatever else wants the cores */
    SL_LANE_COUNT,
    SL_LANE_NONE = SL_LANE_COUNT /* a route's, whose handler waits for nobody and takes no time: it
                                    runs where requests are read, without a worker */
} sl_lane;

/** The daemon (server.h). */
typedef struct sl_server sl_server;

/** A body on disk (spool.h). */
typedef struct sl_spool sl_spool;

typedef enum sl_method { SL_GET, SL_POST, SL_PUT, SL_PATCH, SL_DELETE, SL_METHOD_COUNT } sl_method;

enum { SL_PATH_PARAMETERS_MAX = 4, SL_QUERY_MAX = 16, SL_RESPONSE_HEADERS_MAX = 12 };

typedef struct sl_pair {
    const char *name;
    const char *value;
} sl_pair;

/** Everything is owned by the request and lives until its completion. */
typedef struct sl_request {
    sl_method method;
    bool head;                                  /* a HEAD request, routed as GET */
    const char *id;                             /* X-Request-Id of the answer and the log */
    const char *path;                           /* decoded once, "/api/v1/models/org/name" */
    sl_pair parameters[SL_PATH_PARAMETERS_MAX]; /* of the route pattern, percent-decoded */
    uint32_t parameter_count;
    sl_pair query[SL_QUERY_MAX]; /* percent-decoded; a key without '=' has the value "" */
    uint32_t query_count;
    const char *body; /* NUL-terminated; "" when there is none */
    size_t body_size;
    const sl_spool *spool;    /* where the route takes more than memory should: the body, which is
                                 then "" above; NULL when there is none */
    const char *content_type; /* "" when absent */
    const char
        *content_encoding; /* NULL when absent; of a body that is not on disk nobody reads it */
    const char *accept;
    const char *accept_encoding; /* NULL when absent */
    const char *if_match;        /* NULL when absent */
    const char *if_none_match;   /* NULL when absent */
    const char *user_agent;      /* NULL when absent; what a client says of itself */
    const char *cache_control;   /* "" when absent */
    const char *remote_address;  /* of the connection's other end, no name a header gives; NULL when
                                    it is no address */
    sl_arena *arena;
    double deadline_s;            /* on sl_clock_now_s() */
    const atomic_bool *cancelled; /* the deadline passed, the client left, the server drains */
    const sl_server *server;      /* that received it */
} sl_request;

/** Arranges that `wake` is called once, with `context`, from any thread and perhaps before this
 * returns. False: there is nothing to wait for, and it will not be called. */
typedef bool (*sl_park)(void *argument, void (*wake)(void *context), void *context);

enum { SL_RESPONSE_BODY_MAX_BYTES = 64 * 1024 * 1024 };

/** Starts as 200 with an empty body of at most SL_RESPONSE_BODY_MAX_BYTES. */
typedef struct sl_response {
    uint32_t status;
    const char *content_type; /* static storage; default application/json */
    sl_buffer body;
    sl_pair headers[SL_RESPONSE_HEADERS_MAX]; /* values in the request's arena or static */
    uint32_t header_count;
    bool continues; /* set by sl_response_continue, cleared by the server */
    sl_lane next_lane;
    void *state;  /* the handler's, from one lane to the next; NULL on the first. In the arena. */
    sl_park park; /* set by sl_response_park, cleared by the server */
    void *park_argument;
    bool leaves;                     /* set by sl_response_leave */
    sl_feed *feed;                   /* set by sl_response_feed; owned */
    void (*release)(void *argument); /* set by sl_response_own */
    void *release_argument;
} sl_response;

void sl_response_init(sl_response *response);
/** The handler returns without an answer and is called again on `lane`. */
void sl_response_continue(sl_response *response, sl_lane lane, void *state);
/** The same once `park`, called when the handler has returned, has it woken; until then no thread
 * is held. argument lives in the request's arena. */
void sl_response_park(sl_response *response, sl_lane lane, void *state, sl_park park,
                      void *argument);
/** A client that closes the connection, or its sending half, from now on cancels the request. */
void sl_response_leave(sl_response *response);
/**
 * The answer begins when the handler returns: the status, the type and the headers that stand, and
 * for a body what goes into the feed, which is taken over. A handler that continues or parks goes
 * on while it is sent, and is called to its end whatever becomes of the client; `cancelled` tells
 * it of that.
 */
void sl_response_feed(sl_response *response, sl_feed *feed);
/** What the request needs freed when nobody answers or reads it any more; once for a request. */
void sl_response_own(sl_response *response, void (*release)(void *argument), void *argument);
void sl_response_clear(sl_response *response); /* frees the body, the feed and what is owned */

const char *sl_request_parameter(const sl_request *request, const char *name); /* "" when absent */
const char *sl_request_query(const sl_request *request, const char *name); /* NULL when absent */
bool sl_request_takes_gzip(const sl_request *request); /* an answer, by Accept-Encoding */
/** Replaces an earlier value of the same name. */
void sl_response_header(sl_response *response, const char *name, const char *value);

/**
 * Answers err as an RFC 9457 document. The status is that of the first error's code; every error is
 * listed. type is "/problems/<kind>" (problem.c has the table). Adds Retry-After to 503 answers.
 * What the body and the headers held before is dropped.
 */
void sl_response_problem(sl_response *response, const sl_request *request, const sl_errors *err);

/** The same with one more member, `json` being its value's text; not a part of the body. */
void sl_response_problem_with(sl_response *response, const sl_request *request,
                              const sl_errors *err, const char *name, const char *json);

/**
 * Sets the ETag (strong, quoted by this function) and, for GET and HEAD, answers 304 with an empty
 * body, returning true, when If-None-Match names it.
 */
bool sl_response_etag(sl_response *response, const sl_request *request, const char *tag);

/** One entity tag of a list. */
typedef struct sl_etag {
    const char *text; /* in the list, with its quotes */
    size_t length;
    bool weak;
} sl_etag;

/** Takes the tag at *at and moves behind it; false at the end, and where the list is malformed. */
bool sl_etag_next(const char **at, sl_etag *out);

/** True when an If-None-Match list is "*" or names the quoted tag (W/ is ignored). */
bool sl_etag_listed(const char *list, const char *quoted);

#endif
