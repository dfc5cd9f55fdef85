#include <assert.h>
#include <microhttpd.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "http/exchange.h"
#include "http/exposition.h"
#include "http/feed_body.h"
#include "http/lanes.h"
#include "http/listen.h"
#include "http/loops.h"
#include "http/metrics.h"
#include "http/pending.h"
#include "http/reply.h"
#include "http/server.h"

enum {
    CONNECTIONS_MAX = 4096,
    OTHER_DESCRIPTORS = 256, /* files, database and upstream connections beside the clients */
    IDLE_TIMEOUT_S = 30,
    BODY_TIMEOUT_S = 60,   /* from the head to the last byte, however busy the client seems */
    SPOOL_TIMEOUT_S = 300, /* the same of a body that goes to disk */
    CONNECTION_MEMORY_BYTES = 64 * 1024
};

struct sl_server {
    sl_server_config config;
    sl_site site;
    sl_static *files;
    sl_pending *pending;
    sl_lanes *lanes;
    sl_metrics *metrics;
    sl_loops *loops;
    int listen_fd;
    uint64_t start_time_ns; /* since 1970 */
};

/* Hands the job, and its hold, to the lane its handler chose. */
static void
job_push(void *job)
{
    sl_exchange *const exchange = job;
    sl_server *const server = exchange->server;
    if (!sl_lanes_push(server->lanes, exchange->response.next_lane, exchange))
        sl_pending_settle(server->pending, exchange, SL_BUSY);
}

static void
handle(const sl_server_config *config, sl_exchange *exchange, void *worker)
{
    void *const app = config->enter != NULL ? config->enter(config->app, worker, &exchange->request)
                                            : config->app;

    atomic_store(&exchange->began, true);
    exchange->route->handler(app, worker, &exchange->request, &exchange->response);
    if (config->leave != NULL)
        config->leave(config->app, worker);
}

/* A job of a lane: runs the handler unless nobody waits for it any more. One that is parked belongs
 * to whoever wakes it, and may be gone already. */
static void
job_run(void *job, void *worker)
{
    sl_exchange *const exchange = job;
    sl_server *const server = exchange->server;
    sl_response *const response = &exchange->response;
    const bool fed = response->feed != NULL;

    response->continues = false;
    response->park = NULL;
    if (sl_pending_wanted(server->pending, exchange))
        handle(&server->config, exchange, worker);
    if (response->leaves) {
        response->leaves = false;
        sl_pending_watch(server->pending, exchange);
    }
    if (response->feed != NULL && !fed)
        sl_pending_open(server->pending, exchange);
    if (!response->continues)
        sl_pending_settle(server->pending, exchange, SL_DONE);
    else if (response->park == NULL || !response->park(response->park_argument, job_push, exchange))
        job_push(exchange);
}

/* Of a route without a lane: what any worker might be too busy for, answered at once. */
static enum MHD_Result
answer_here(sl_server *server, sl_exchange *exchange)
{
    handle(&server->config, exchange, NULL);
    assert(!exchange->response.continues && exchange->response.feed == NULL);
    return sl_reply_queue(exchange, &exchange->response, sl_pending_draining(server->pending));
}

/* The request is complete: answers what needs no handler, hands the rest to its lane. */
static enum MHD_Result
request_dispatch(sl_server *server, sl_exchange *exchange)
{
    if (exchange->ready)
        return sl_reply_queue(exchange, &exchange->response, sl_pending_draining(server->pending));

    const sl_lane lane = exchange->route->lane;
    sl_exchange_complete(exchange);
    exchange->request.deadline_s = sl_clock_now_s() + exchange->route->timeout_s;
    if (lane == SL_LANE_NONE)
        return answer_here(server, exchange);
    exchange->suspended = true;
    /* In this order: a worker may be done, and resume, before the push has returned. From the add
     * on the exchange belongs to whoever settles it. */
    MHD_suspend_connection(exchange->connection);
    sl_pending_add(server->pending, exchange);
    if (!sl_lanes_push(server->lanes, lane, exchange))
        sl_pending_settle(server->pending, exchange, SL_BUSY);
    return MHD_YES;
}

/* The connection was resumed: somebody settled the request. */
static enum MHD_Result
request_finish(sl_server *server, sl_exchange *exchange)
{
    const sl_outcome outcome = sl_pending_outcome(server->pending, exchange);
    const bool last = sl_pending_draining(server->pending);
    if (outcome == SL_DONE)
        return sl_reply_queue(exchange, &exchange->response, last);
    return sl_reply_outcome(exchange, outcome, last);
}

static enum MHD_Result
request_begin(sl_server *server, struct MHD_Connection *connection, const char *url,
              const char *method, const char *version, void **state)
{
    /* Closed without an answer, as what comes a moment later finds it: a proxy asks elsewhere. */
    if (!sl_pending_enter(server->pending))
        return MHD_NO;
    sl_exchange *const exchange = sl_exchange_new(&server->site, connection, url, method, version);
    if (exchange == NULL) {
        sl_pending_leave(server->pending, NULL);
        return MHD_NO;
    }
    exchange->server = server;
    exchange->request.server = server;
    *state = exchange;
    /* Any other answer waits for the next call: one given here costs the connection. */
    if (exchange->refused_early)
        return sl_reply_queue(exchange, &exchange->response, true);
    return MHD_YES;
}

/* Called for the head, then for each part of the body, then at its end, then when resumed. */
static enum MHD_Result
on_request(void *cls, struct MHD_Connection *connection, const char *url, const char *method,
           const char *version, const char *bytes, size_t *size, void **state)
{
    sl_server *const server = cls;
    sl_exchange *const exchange = *state;
    if (exchange == NULL)
        return request_begin(server, connection, url, method, version, state);
    if (*size > 0) {
        const double allowed_s = exchange->spool == NULL ? BODY_TIMEOUT_S : SPOOL_TIMEOUT_S;
        const bool late = sl_clock_now_s() - exchange->started_s > allowed_s;
        const bool taken = !late && sl_exchange_append(exchange, bytes, *size);
        *size = 0;
        return taken ? MHD_YES : MHD_NO;
    }
    return exchange->suspended ? request_finish(server, exchange)
                               : request_dispatch(server, exchange);
}

static void
on_completed(void *cls, struct MHD_Connection *connection, void **state,
             enum MHD_RequestTerminationCode how)
{
    (void)connection;
    (void)how;
    sl_server *const server = cls;
    sl_exchange *const exchange = *state;
    if (exchange == NULL)
        return;
    *state = NULL;
    if (exchange->sent != NULL)
        exchange->answer_bytes = sl_feed_detach(exchange->sent);
    const double duration_s = sl_clock_now_s() - exchange->started_s;
    sl_reply_log(exchange, duration_s);
    sl_metrics_count(server->metrics, exchange->route_name, exchange->method_label,
                     exchange->status, duration_s);
    sl_pending_leave(server->pending, exchange);
}

/* Paths and queries are decoded by us, once and strictly. */
static size_t
on_unescape(void *cls, struct MHD_Connection *connection, char *text)
{
    (void)cls;
    (void)connection;
    return strlen(text);
}

static void SL_PRINTF(2, 0) on_message(void *cls, const char *format, va_list arguments)
{
    (void)cls;
    char text[256];
    (void)sl_text_vformat(text, sizeof text, format, arguments);
    text[strcspn(text, "\r\n")] = '\0';
    const sl_log_field detail = sl_log_text("detail", text);
    sl_log(SL_LOG_WARN, "http daemon", &detail, 1);
}

/* As many connections as descriptors allow; raises the soft limit where the hard one lets us. */
static unsigned
connection_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return CONNECTIONS_MAX;
    const rlim_t wanted = (rlim_t)CONNECTIONS_MAX + OTHER_DESCRIPTORS;
    if (limit.rlim_cur < wanted) {
        const rlim_t before = limit.rlim_cur;
        limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
        if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
            limit.rlim_cur = before;
    }
    if (limit.rlim_cur >= wanted)
        return CONNECTIONS_MAX;
    return limit.rlim_cur > (rlim_t)OTHER_DESCRIPTORS * 2
               ? (unsigned)limit.rlim_cur - OTHER_DESCRIPTORS
               : OTHER_DESCRIPTORS;
}

/* Half the cores parse and send, the others compute. */
static unsigned
loop_count(void)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);

    return cores >= 4 ? (unsigned)cores / 2 : 1;
}

static struct MHD_Daemon *
daemon_start(void *context, struct MHD_OptionItem *options)
{
    sl_server *const server = context;

    return MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, NULL, NULL, on_request,
        server, MHD_OPTION_EXTERNAL_LOGGER, on_message, server, MHD_OPTION_NOTIFY_COMPLETED,
        on_completed, server, MHD_OPTION_UNESCAPE_CALLBACK, on_unescape, NULL,
        MHD_OPTION_LISTEN_SOCKET, server->listen_fd, MHD_OPTION_CONNECTION_LIMIT,
        connection_limit() / loop_count(), MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_TIMEOUT_S,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY_BYTES, MHD_OPTION_ARRAY,
        options, MHD_OPTION_END);
}

/* Frees what was started; the loops are stopped already. */
static void
server_free(sl_server *server)
{
    if (server->listen_fd >= 0)
        (void)close(server->listen_fd);
    sl_lanes_stop(server->lanes);
    sl_metrics_free(server->metrics);
    sl_pending_free(server->pending);
    sl_static_free(server->files);
    free(server);
}

static uint64_t
wall_clock_ns(void)
{
    struct timespec time = {0};
    const int base = timespec_get(&time, TIME_UTC);
    assert(base == TIME_UTC);
    return (uint64_t)time.tv_sec * 1000000000U + (uint64_t)time.tv_nsec;
}

sl_code
sl_server_start(const sl_server_config *config, sl_server **out, uint16_t *port, sl_errors *err)
{
    assert(config != NULL && config->settings != NULL && out != NULL && port != NULL);

    sl_router_check(config->routes, config->route_count);
    sl_server *const server = calloc(1, sizeof *server);
    if (server == NULL)
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory for the server");
    server->config = *config;
    server->listen_fd = -1;

    const sl_settings *const settings = config->settings;
    sl_code code = sl_static_load(settings->static_dir, &server->files, err);
    if (code != SL_OK)
        goto failed;
    server->site = (sl_site){.settings = settings,
                             .routes = config->routes,
                             .route_count = config->route_count,
                             .files = server->files};
    code =
        sl_listen_open(settings->listen_host, settings->listen_port, &server->listen_fd, port, err);
    if (code != SL_OK)
        goto failed;
    server->start_time_ns = wall_clock_ns();
    server->metrics = sl_metrics_new(config->routes, config->route_count);
    server->pending = server->metrics == NULL ? NULL : sl_pending_new();
    server->lanes = server->pending == NULL ? NULL : sl_lanes_start(&server->config, job_run);
    server->loops =
        server->lanes == NULL ? NULL : sl_loops_start(loop_count(), daemon_start, server);
    if (server->loops == NULL) {
        code = sl_fail(err, SL_E_UNAVAILABLE, "cannot_start", "",
                       "the threads of the server could not be started");
        goto failed;
    }
    *out = server;
    return SL_OK;

failed:
    server_free(server);
    return code;
}

void
sl_server_metrics_write(const sl_server *server, sl_buffer *out)
{
    assert(server != NULL && out != NULL);

    sl_metrics_write(server->metrics, out);
    sl_exposition_family(out, "shardline_http_requests_in_flight", "gauge",
                         "Requests that began and did not end yet, this one among them.");
    sl_exposition_count(out, "shardline_http_requests_in_flight", NULL, 0,
                        sl_pending_in_flight(server->pending));
    sl_lanes_write_metrics(server->lanes, out);
    sl_metrics_write_process(server->start_time_ns, out);
}

uint32_t
sl_server_stop(sl_server *server, double grace_s)
{
    assert(server != NULL);

    /* The quiesced socket stays open until the loops are gone, which may still look at it; shut
     * down, it refuses newcomers at once instead of letting them wait for nobody. */
    sl_loops_quiesce(server->loops);
    (void)shutdown(server->listen_fd, SHUT_RDWR);
    const uint32_t cancelled = sl_pending_drain(server->pending, grace_s);
    if (server->config.give_up != NULL)
        server->config.give_up(server->config.app);
    sl_loops_stop(server->loops);
    sl_pending_await_jobs(server->pending);
    server_free(server);
    return cancelled;
}
