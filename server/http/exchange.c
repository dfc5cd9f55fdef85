#include "http/exchange.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/identity.h"
#include "base/text.h"
#include "http/head.h"
#include "http/metrics.h"
#include "http/problem.h"
#include "http/query.h"
#include "http/remote.h"

static const size_t ARENA_BYTES = (size_t)256 * 1024 * 1024;
/* A body nobody reads is taken to this length so that the answer arrives, then cut off. */
static const size_t DROPPED_MAX_BYTES = (size_t)8 * 1024 * 1024;

/* Leaves a problem as the ready response. */
static void
refuse(sl_exchange *exchange, uint32_t kind, const sl_errors *err)
{
    sl_problem_write(&exchange->response, &exchange->request, kind, err, NULL);
    exchange->ready = true;
    exchange->route = NULL;
}

static void
refuse_code(sl_exchange *exchange, const sl_errors *err)
{
    assert(err->count > 0);
    refuse(exchange, err->list[0].code, err);
}

/* A client's id is kept when it can stand in a log and a header as it is. */
static void
request_id_set(sl_exchange *exchange, const char *offered)
{
    static const char allowed[] = "0123456789abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ._-";
    if (offered != NULL && offered[0] != '\0' && offered[strspn(offered, allowed)] == '\0' &&
        sl_text_copy(exchange->id, sizeof exchange->id, offered))
        return;

    _Static_assert(sizeof exchange->id >= SL_IDENTITY_SIZE, "an id of ours fits");
    sl_identity_text(exchange->id);
}

/* From `version-trace-parent-flags` in lower-case hex (W3C Trace Context): what is malformed, or of
 * a version never to be used, is as if it was not sent. Later versions may append fields. */
static void
trace_id_set(sl_exchange *exchange, const char *traceparent)
{
    static const char hex[] = "0123456789abcdef";
    static const size_t lengths[] = {2, SL_TRACE_ID_SIZE - 1, 16, 2};
    const char *at = traceparent == NULL ? "" : traceparent;

    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        if (strspn(at, hex) != lengths[i] || (lengths[i] > 2 && strspn(at, "0") == lengths[i]))
            return;
        at += lengths[i];
        if (i + 1 < sizeof lengths / sizeof lengths[0] && *at++ != '-')
            return;
    }
    if (strncmp(traceparent, "ff", 2) == 0 ||
        (*at != '\0' && (*at != '-' || strncmp(traceparent, "00", 2) == 0)))
        return;
    memcpy(exchange->trace_id, traceparent + 3, SL_TRACE_ID_SIZE - 1);
}

/* Copies what handlers may read after the connection is gone. False without memory. */
static bool
fields_copy(sl_exchange *exchange, const sl_head *head)
{
    sl_request *const request = &exchange->request;
    const struct {
        sl_field field;
        const char **to;
        const char *absent;
    } wanted[] = {
        {SL_FIELD_CONTENT_TYPE, &request->content_type, ""},
        {SL_FIELD_CONTENT_ENCODING, &request->content_encoding, NULL},
        {SL_FIELD_ACCEPT, &request->accept, ""},
        {SL_FIELD_ACCEPT_ENCODING, &request->accept_encoding, NULL},
        {SL_FIELD_IF_MATCH, &request->if_match, NULL},
        {SL_FIELD_IF_NONE_MATCH, &request->if_none_match, NULL},
        {SL_FIELD_USER_AGENT, &request->user_agent, NULL},
        {SL_FIELD_CACHE_CONTROL, &request->cache_control, ""},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        const char *const value = head->value[wanted[i].field];
        *wanted[i].to = value == NULL ? wanted[i].absent : sl_arena_copy(request->arena, value);
        if (value != NULL && *wanted[i].to == NULL)
            return false;
    }
    return true;
}

typedef struct query_reading {
    sl_request *request;
    const char *fault; /* NULL: none so far */
} query_reading;

static enum MHD_Result
on_query(void *cls, enum MHD_ValueKind kind, const char *name, const char *value)
{
    (void)kind;
    query_reading *const reading = cls;
    sl_request *const request = reading->request;
    if (request->query_count == SL_QUERY_MAX) {
        reading->fault = "has too many parameters";
        return MHD_NO;
    }
    char *const key = sl_arena_copy(request->arena, name);
    char *const text = sl_arena_copy(request->arena, value == NULL ? "" : value);
    if (key == NULL || text == NULL) {
        reading->fault = "is too long";
        return MHD_NO;
    }
    if (!sl_percent_decode(key) || !sl_percent_decode(text)) {
        reading->fault = "must be valid percent-encoded UTF-8 without control characters";
        return MHD_NO;
    }
    request->query[request->query_count++] = (sl_pair){.name = key, .value = text};
    return MHD_YES;
}

/* Reads and checks the query, for the route that will answer. */
static void
query_read(sl_exchange *exchange, struct MHD_Connection *connection)
{
    query_reading reading = {.request = &exchange->request};
    (void)MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, on_query, &reading);
    sl_errors err = {.count = 0};
    sl_code code = SL_OK;
    if (reading.fault != NULL)
        code = sl_fail(&err, SL_E_SYNTAX, "malformed_query", "", "the query of the request %s",
                       reading.fault);
    else
        code = sl_query_check(exchange->route->query, exchange->request.query,
                              exchange->request.query_count, &err);
    if (code != SL_OK)
        refuse_code(exchange, &err);
}

/* 204 for OPTIONS, else 405; both name what there is. */
static void
answer_allow(sl_exchange *exchange, const sl_match *match, const char *method)
{
    char text[SL_ALLOW_TEXT_SIZE];
    sl_router_allow(match, text);
    if (sl_text_equal(method, "OPTIONS")) {
        exchange->response.status = 204;
        exchange->ready = true;
    } else {
        sl_errors err = {.count = 0};
        (void)sl_fail(&err, SL_E_SYNTAX, "method_not_allowed", "",
                      "the resource does not have the method of the request");
        sl_hint(&err, "%s", text);
        refuse(exchange, SL_PROBLEM_METHOD, &err);
    }
    const char *const allow = sl_arena_copy(exchange->request.arena, text);
    if (allow != NULL)
        sl_response_header(&exchange->response, "Allow", allow);
    const sl_route *const patch = match->routes[SL_PATCH];
    if (patch != NULL && patch->body_types != NULL)
        sl_response_header(&exchange->response, "Accept-Patch", patch->body_types);
}

/* No route has the path: a file, or nothing. */
static void
answer_file(sl_exchange *exchange, const sl_site *site, const sl_path *path, const sl_head *head,
            const char *method)
{
    const sl_static_file *const file = sl_static_find(site->files, path->text);
    if (file == NULL) {
        sl_errors err = {.count = 0};
        if (path->count == 0)
            (void)sl_fail(&err, SL_E_NOT_FOUND, "dashboard_not_built", "",
                          "the dashboard is not built, or its folder is not set; the API answers");
        else
            (void)sl_fail(&err, SL_E_NOT_FOUND, "no_such_path", "",
                          "nothing is served at this path");
        refuse_code(exchange, &err);
        return;
    }
    exchange->route_name = "static";
    if (exchange->request.method == SL_GET) {
        exchange->ready = true;
        sl_static_answer(file, &exchange->request, head->value[SL_FIELD_ACCEPT_ENCODING],
                         &exchange->response, &exchange->shared, &exchange->shared_size);
        return;
    }
    static const sl_route readable = {.method = SL_GET};
    const sl_match match = {.routes = {[SL_GET] = &readable}, .any = true};
    answer_allow(exchange, &match, method);
}

/* Finds who answers. A refusal or a file leaves the response ready. */
static void
route_find(sl_exchange *exchange, const sl_site *site, const sl_head *head, const char *url,
           const char *method)
{
    sl_request *const request = &exchange->request;
    sl_errors err = {.count = 0};
    sl_path path;
    if (sl_path_parse(url, request->arena, &path, &err) != SL_OK) {
        refuse_code(exchange, &err);
        return;
    }
    request->path = path.text;
    request->method = sl_method_parse(method, &request->head);

    const sl_match match = sl_router_match(site->routes, site->route_count, &path);
    if (!match.any) {
        answer_file(exchange, site, &path, head, method);
        return;
    }
    const sl_route *const route =
        request->method == SL_METHOD_COUNT ? NULL : match.routes[request->method];
    if (route == NULL) {
        for (uint32_t i = 0; i < SL_METHOD_COUNT; i++)
            if (match.routes[i] != NULL)
                exchange->route_name = match.routes[i]->pattern;
        answer_allow(exchange, &match, method);
        return;
    }
    exchange->route = route;
    exchange->route_name = route->pattern;
    if (!sl_router_parameters(route, &path, request->arena, request)) {
        (void)sl_fail(&err, SL_E_MEMORY, "out_of_memory", "", "no memory for the request");
        refuse_code(exchange, &err);
    }
}

static void
too_large(sl_exchange *exchange)
{
    sl_errors err = {.count = 0};
    (void)sl_fail(&err, SL_E_TOO_LARGE, "body_too_large", "", "the body must not be over %zu bytes",
                  exchange->body.limit);
    refuse_code(exchange, &err);
}

/* Who takes a file that was packed unpacks a body that is packed on its way. */
static bool
unpacks(const sl_route *route)
{
    return sl_type_accepted(route->body_types, "application/gzip");
}

/* A coding that nobody would undo: the answer says which are. */
static void
refuse_coding(sl_exchange *exchange)
{
    const char *const taken = unpacks(exchange->route) ? "gzip, identity" : "identity";
    sl_errors err = {.count = 0};
    (void)sl_fail(&err, SL_E_MEDIA_TYPE, "content_encoding", "", "the body must be %s, got %.32s",
                  unpacks(exchange->route) ? "gzip or not encoded" : "sent without an encoding",
                  exchange->request.content_encoding);
    sl_hint(&err, "%s", taken);
    refuse_code(exchange, &err);
    sl_response_header(&exchange->response, "Accept-Encoding", taken);
}

static bool
coding_taken(const sl_route *route, const char *coding)
{
    return coding == NULL || sl_text_equal_ignoring_case(coding, "identity") ||
           (unpacks(route) && sl_text_equal_ignoring_case(coding, "gzip"));
}

/* Type, coding and announced length of the body, for the route that will read it. */
static void
body_check(sl_exchange *exchange, const sl_head *head)
{
    if (head->body_bytes > exchange->body.limit) {
        too_large(exchange);
        return;
    }
    const sl_route *const route = exchange->route;
    if (route == NULL || route->body_types == NULL || (head->body_bytes == 0 && !head->chunked))
        return;
    if (!coding_taken(route, exchange->request.content_encoding)) {
        refuse_coding(exchange);
        return;
    }
    if (sl_type_accepted(route->body_types, head->value[SL_FIELD_CONTENT_TYPE]))
        return;
    const char *const field = route->method == SL_POST    ? "Accept-Post"
                              : route->method == SL_PATCH ? "Accept-Patch"
                                                          : "Accept";
    sl_errors err = {.count = 0};
    (void)sl_fail(&err, SL_E_MEDIA_TYPE, "media_type", "",
                  "the body must have a type that is read here, got %s",
                  exchange->request.content_type[0] == '\0' ? "none"
                                                            : exchange->request.content_type);
    sl_hint(&err, "%s", route->body_types);
    refuse_code(exchange, &err);
    sl_response_header(&exchange->response, field, route->body_types);
}

/* A place for a body that is too large for memory, if there is one and somebody will read it. */
static void
spool_open(sl_exchange *exchange, const sl_site *site, const sl_head *head)
{
    sl_errors err = {.count = 0};
    if (exchange->route->body_types == NULL ||
        exchange->route->max_body_bytes <= SL_BODY_MEMORY_MAX_BYTES ||
        (head->body_bytes == 0 && !head->chunked))
        return;
    if (sl_spool_open(site->settings->cache_dir, &exchange->spool, &err) != SL_OK)
        refuse_code(exchange, &err);
}

/* Methods that change nothing, which any page may have sent. */
static bool
only_reads(const char *method)
{
    return sl_text_equal(method, "GET") || sl_text_equal(method, "HEAD") ||
           sl_text_equal(method, "OPTIONS");
}

/* Refusals that come before anybody looks at the path. */
static void
gate(sl_exchange *exchange, const sl_site *site, const sl_head *head, const char *method,
     const char *version)
{
    sl_errors err = {.count = 0};
    if (!head->clear) {
        (void)sl_fail(&err, SL_E_SYNTAX, "ambiguous_request", "",
                      "Host, Content-Length and Transfer-Encoding must each have one meaning");
        refuse_code(exchange, &err);
    } else if (head->value[SL_FIELD_HOST] == NULL && sl_text_equal(version, "HTTP/1.1")) {
        (void)sl_fail(&err, SL_E_SYNTAX, "host_missing", "",
                      "a request of HTTP/1.1 must have a Host field");
        refuse_code(exchange, &err);
    } else if (!sl_host_allowed(site->settings, head->value[SL_FIELD_HOST])) {
        (void)sl_fail(&err, SL_E_FORBIDDEN, "host_not_allowed", "",
                      "the Host of the request must be a name that is served here");
        sl_hint(&err, "add it to SHARDLINE_ALLOWED_HOSTS");
        refuse(exchange, SL_PROBLEM_HOST, &err);
    } else if (!only_reads(method) && !sl_origin_allowed(site->settings, head)) {
        (void)sl_fail(&err, SL_E_FORBIDDEN, "origin_not_allowed", "",
                      "a page of another site must not send this request");
        sl_hint(&err, "a host of SHARDLINE_ALLOWED_HOSTS is not another site");
        refuse_code(exchange, &err);
    }
}

sl_exchange *
sl_exchange_new(const sl_site *site, struct MHD_Connection *connection, const char *url,
                const char *method, const char *version)
{
    assert(site != NULL && connection != NULL && url != NULL && method != NULL);

    sl_exchange *const exchange = calloc(1, sizeof *exchange);
    sl_arena *const arena = sl_arena_new(ARENA_BYTES);
    if (exchange == NULL || arena == NULL) {
        sl_arena_free(arena);
        free(exchange);
        return NULL;
    }
    exchange->connection = connection;
    const union MHD_ConnectionInfo *const info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    exchange->socket = info == NULL ? -1 : info->connect_fd;
    exchange->started_s = sl_clock_now_s();
    exchange->method_label = sl_method_label(method);
    exchange->holders = 1;
    atomic_init(&exchange->cancelled, false);
    atomic_init(&exchange->began, false);
    sl_response_init(&exchange->response);
    exchange->request = (sl_request){
        .id = exchange->id,
        .path = "",
        .body = "",
        .arena = arena,
        .cancelled = &exchange->cancelled,
    };

    const sl_head head = sl_head_read(connection, arena);
    request_id_set(exchange, head.value[SL_FIELD_REQUEST_ID]);
    trace_id_set(exchange, head.value[SL_FIELD_TRACEPARENT]);
    exchange->request.remote_address = sl_remote_address(connection, site->settings, &head, arena);
    if (!fields_copy(exchange, &head)) {
        sl_exchange_free(exchange);
        return NULL;
    }
    gate(exchange, site, &head, method, version);
    if (!exchange->ready)
        route_find(exchange, site, &head, url, method);
    if (!exchange->ready)
        query_read(exchange, connection);
    const size_t own = exchange->route == NULL ? 0 : exchange->route->max_body_bytes;
    sl_buffer_init(&exchange->body, own > 0 ? own : site->settings->max_body_bytes);
    if (!exchange->ready)
        body_check(exchange, &head);
    if (!exchange->ready)
        spool_open(exchange, site, &head);

    /* An answer before the body costs the connection: the rest of the body would have to be told
     * from the next request. Hence only where the body must not come at all. */
    const bool too_long =
        head.body_bytes > exchange->body.limit || head.body_bytes > DROPPED_MAX_BYTES;
    const bool held_back = head.value[SL_FIELD_EXPECT] != NULL;
    exchange->refused_early =
        exchange->ready &&
        (!head.clear || too_long || (held_back && (head.body_bytes > 0 || head.chunked)));
    return exchange;
}

void
sl_exchange_free(sl_exchange *exchange)
{
    assert(exchange != NULL);
    sl_response_clear(&exchange->response);
    sl_buffer_clear(&exchange->body);
    sl_spool_free(exchange->spool);
    sl_arena_free(exchange->request.arena);
    free(exchange);
}

/* Takes a part of a body that goes to disk; false leaves the refusal ready. */
static bool
spool_append(sl_exchange *exchange, const char *bytes, size_t size)
{
    sl_errors err = {.count = 0};
    if (size > exchange->body.limit - sl_spool_size(exchange->spool)) {
        too_large(exchange);
    } else if (sl_spool_append(exchange->spool, bytes, size)) {
        return true;
    } else {
        (void)sl_fail(&err, SL_E_UNAVAILABLE, "no_spool", "",
                      "the body could not be written to disk");
        refuse_code(exchange, &err);
    }
    sl_spool_free(exchange->spool);
    exchange->spool = NULL;
    return false;
}

/* The same of one that stays in memory. */
static bool
body_append(sl_exchange *exchange, const char *bytes, size_t size)
{
    sl_buffer_append(&exchange->body, bytes, size);
    if (!exchange->body.failed)
        return true;
    too_large(exchange);
    sl_buffer_clear(&exchange->body);
    return false;
}

bool
sl_exchange_append(sl_exchange *exchange, const char *bytes, size_t size)
{
    assert(exchange != NULL && bytes != NULL);

    const bool wanted = !exchange->ready && exchange->route->body_types != NULL;
    if (wanted && (exchange->spool == NULL ? body_append(exchange, bytes, size)
                                           : spool_append(exchange, bytes, size)))
        return true;
    exchange->dropped_bytes += size;
    return exchange->dropped_bytes <= DROPPED_MAX_BYTES;
}

void
sl_exchange_complete(sl_exchange *exchange)
{
    assert(exchange != NULL);
    exchange->request.spool = exchange->spool;
    if (exchange->body.data == NULL)
        return;
    exchange->request.body = exchange->body.data;
    exchange->request.body_size = exchange->body.size;
}
