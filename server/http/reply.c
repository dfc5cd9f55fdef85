#include "http/reply.h"

#include <assert.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/text.h"
#include "http/feed_body.h"
#include "http/metrics.h"
#include "http/query.h"

/* The daemon wants a pointer to writable memory even for bytes that it only reads. */
static struct MHD_Response *
response_borrowing(const char *bytes, size_t size)
{
    union {
        const char *readable;
        void *writable;
    } address = {.readable = bytes};
    return MHD_create_response_from_buffer(size, address.writable, MHD_RESPMEM_PERSISTENT);
}

static struct MHD_Response *
response_owning(sl_response *answer, size_t *size)
{
    char *const data = sl_buffer_take(&answer->body, size);
    if (data == NULL)
        return response_borrowing("", 0);
    struct MHD_Response *const made =
        MHD_create_response_from_buffer_with_free_callback(*size, data, free);
    if (made == NULL)
        free(data);
    return made;
}

static bool
headers_add(struct MHD_Response *made, const sl_exchange *exchange, const sl_response *answer,
            bool last)
{
    bool cached = false;
    bool ok = MHD_add_response_header(made, "X-Request-Id", exchange->id) == MHD_YES &&
              MHD_add_response_header(made, "X-Content-Type-Options", "nosniff") == MHD_YES &&
              MHD_add_response_header(made, "Referrer-Policy", "no-referrer") == MHD_YES;
    if (answer->status != 204 && answer->status != 304)
        ok = ok && MHD_add_response_header(made, "Content-Type", answer->content_type) == MHD_YES;
    for (uint32_t i = 0; i < answer->header_count; i++) {
        const sl_pair *const header = &answer->headers[i];
        cached = cached || sl_text_equal_ignoring_case(header->name, "Cache-Control");
        ok = ok && MHD_add_response_header(made, header->name, header->value) == MHD_YES;
    }
    if (!cached)
        ok = ok && MHD_add_response_header(made, "Cache-Control", "private, no-cache") == MHD_YES;
    if (last)
        ok = ok && MHD_add_response_header(made, "Connection", "close") == MHD_YES;
    return ok;
}

enum MHD_Result
sl_reply_queue(sl_exchange *exchange, sl_response *answer, bool last)
{
    assert(exchange != NULL && answer != NULL);

    if (answer->body.failed) {
        sl_errors err = {.count = 0};
        (void)sl_fail(&err, SL_E_MEMORY, "answer_too_large", "",
                      "the answer is larger than this server gives at once");
        sl_response_problem(answer, &exchange->request, &err);
    }
    const bool shared = answer == &exchange->response && exchange->shared != NULL;
    size_t size = exchange->shared_size;
    struct MHD_Response *made = NULL;
    if (answer->feed != NULL)
        made = sl_feed_response(answer->feed, exchange->connection);
    else
        made = shared ? response_borrowing(exchange->shared, size) : response_owning(answer, &size);
    if (made == NULL)
        return MHD_NO;
    enum MHD_Result queued = MHD_NO;
    if (headers_add(made, exchange, answer, last))
        queued = MHD_queue_response(exchange->connection, answer->status, made);
    MHD_destroy_response(made);
    if (queued == MHD_YES) {
        exchange->status = answer->status;
        exchange->answer_bytes = exchange->request.head || answer->feed != NULL ? 0 : size;
        exchange->sent = answer->feed;
    }
    return queued;
}

/* Whether the request may have changed something: its handler began, and only the answer is
 * missing. */
static bool
may_have_changed(const sl_exchange *exchange)
{
    static const char rehearses[] = "dry_run";

    if (!atomic_load(&exchange->began) || !sl_query_reads(exchange->route->query, rehearses))
        return false;
    const char *const said = sl_request_query(&exchange->request, rehearses);
    return said == NULL || !(sl_text_equal(said, "true") || sl_text_equal(said, "1"));
}

enum MHD_Result
sl_reply_outcome(sl_exchange *exchange, sl_outcome outcome, bool last)
{
    assert(outcome != SL_WAITING && outcome != SL_DONE);

    sl_errors err = {.count = 0};
    if (outcome == SL_EXPIRED)
        (void)sl_fail(&err, SL_E_TIMEOUT, "deadline", "",
                      "the answer was not ready within %.3g seconds", exchange->route->timeout_s);
    else if (outcome == SL_BUSY)
        (void)sl_fail(&err, SL_E_UNAVAILABLE, "busy", "",
                      "every worker is busy and the queue is full");
    else
        (void)sl_fail(&err, SL_E_UNAVAILABLE, "stopping", "", "the server is stopping");
    if (may_have_changed(exchange))
        sl_hint(&err, "the change may have been made: read it back before trying again");

    /* The worker may still be writing its own answer: this one shares nothing with it. */
    sl_response answer;
    sl_response_init(&answer);
    sl_response_problem(&answer, &exchange->request, &err);
    const enum MHD_Result queued = sl_reply_queue(exchange, &answer, last);
    sl_response_clear(&answer);
    return queued;
}

void
sl_reply_log(const sl_exchange *exchange, double duration_s)
{
    assert(exchange != NULL);
    const sl_log_field fields[] = {
        sl_log_text("request_id", exchange->id),
        sl_log_text("method", sl_method_labels[exchange->method_label]),
        sl_log_text("route", exchange->route_name),
        sl_log_count("status", exchange->status),
        sl_log_number("duration_s", duration_s),
        sl_log_count("bytes", exchange->answer_bytes),
        sl_log_text("trace_id", exchange->trace_id),
    };
    const uint32_t all = sizeof fields / sizeof fields[0];
    sl_log(exchange->status >= 500 ? SL_LOG_WARN : SL_LOG_INFO, "request", fields,
           exchange->trace_id[0] == '\0' ? all - 1 : all);
}
