/**
 * The daemon: routes as data, five bounded lanes of workers, static files, problem documents.
 *
 * Threading: libmicrohttpd's epoll threads parse requests, suspend them and queue a job on the
 * route's lane; a worker of the lane runs the handler; the connection is resumed and the answer
 * queued. A request past its deadline is answered 504 by a watchdog while its worker's late result
 * is dropped.
 */
#ifndef SL_HTTP_SERVER_H
#define SL_HTTP_SERVER_H

#include "base/settings.h"
#include "http/message.h"

/**
 * Runs on a worker of the route's lane, if it has one. `app` is the process-wide context given to sl_server_start,
 * `worker` what worker_new returned for this thread. Success or problem, the response is always
 * filled, or sl_response_continue was called: then the handler runs again on that lane, with that
 * lane's worker, so that waiting for one backend never holds a thread of another.
 */
typedef void (*sl_handler)(void *app, void *worker, const sl_request *request,
                           sl_response *response);

typedef struct sl_route {
    sl_method method;
    const char *pattern; /* "/api/v1/models/{org}/{name}"; a literal suffix such as ":inspect" may
                            follow a segment */
    sl_lane lane;
    sl_handler handler;
    const char *body_types; /* accepted Content-Types, comma-separated; "*" takes any, named or not;
                               who takes application/gzip unpacks that Content-Encoding too; NULL: a
                               body is read and dropped */
    size_t max_body_bytes;  /* 0: the setting's; above SL_BODY_MEMORY_MAX_BYTES (spool.h) the body
                               goes to disk */
    double timeout_s;       /* from the last byte of the body to the answer */
    const char *query;      /* comma-separated names of the query parameters that the handler reads,
                               each at most once; NULL: none. Others are refused. A route that
                               changes anything reads dry_run, and changes nothing where that is
                               true. */
} sl_route;

typedef struct sl_server_config {
    const sl_settings *settings;
    const sl_route *routes;
    size_t route_count;
    void *app;
    uint32_t lane_threads[SL_LANE_COUNT];
    uint32_t lane_depth[SL_LANE_COUNT]; /* jobs waiting at most; above: 503 with Retry-After */
    /** Per-thread context of a lane; either may be NULL. */
    void *(*worker_new)(void *app, sl_lane lane);
    void (*worker_free)(void *app, sl_lane lane, void *worker);
    /** Around every handler, on its thread; both may be NULL. What enter returns is the handler's
     * `app`: one that does not change while it works. */
    void *(*enter)(void *app, void *worker, const sl_request *request);
    void (*leave)(void *app, void *worker);
    /** When the server stops and every request was answered or cancelled: handlers that wait for
     * something behind the service are to come back. May be NULL. */
    void (*give_up)(void *app);
} sl_server_config;

/** Loads static_dir, binds and starts. port_taken: rule port_in_use. *port is the bound port. */
sl_code sl_server_start(const sl_server_config *config, sl_server **out, uint16_t *port,
                        sl_errors *err) SL_MUST_CHECK;

/** Appends the metrics of requests, lanes and the process, in the text format of exposition.h. */
void sl_server_metrics_write(const sl_server *server, sl_buffer *out);

/**
 * Stops accepting, gives running requests `grace_s`, cancels the rest, resumes every suspended
 * connection, stops and frees. Returns the number of requests that had to be cancelled. Joins the
 * workers: a handler that runs long must look at request->cancelled.
 */
uint32_t sl_server_stop(sl_server *server, double grace_s);

#endif
