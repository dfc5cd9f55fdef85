#include "hub/transfer.h"

#include <assert.h>
#include <inttypes.h>
#include <netdb.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/identity.h"
#include "base/text.h"
#include "hub/rate.h"
#include "hub/repository.h"

/* Every host but the endpoint is the answer of a server. With a proxy the address is the
 * proxy's. */
static bool
may_connect(sl_hub_worker *worker, const char *address)
{
    const sl_hub *const hub = worker->hub;
    if (hub->proxy[0] != '\0')
        return true;
    if (sl_hub_origin_equal(&worker->origin, &hub->origin)) {
        sl_hub_reach_learn(&worker->reach, address);
        return true;
    }
    return sl_hub_reach_allows(&worker->reach, hub->origin.loopback, address);
}

static curl_socket_t
open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *peer)
{
    sl_hub_worker *const worker = context;
    char text[SL_HUB_ADDRESS_SIZE];

    const bool numeric =
        purpose == CURLSOCKTYPE_IPCXN && getnameinfo(&peer->addr, (socklen_t)peer->addrlen, text,
                                                     sizeof text, NULL, 0, NI_NUMERICHOST) == 0;
    if (!numeric || !may_connect(worker, text)) {
        worker->refused = true;
        return CURL_SOCKET_BAD;
    }
    return socket(peer->family, peer->socktype | SOCK_CLOEXEC, peer->protocol);
}

/* Second check, also for a connection that was kept from an earlier question. */
static int
before_request(void *context, char *primary_ip, char *local_ip, int primary_port, int local_port)
{
    sl_hub_worker *const worker = context;
    (void)local_ip;
    (void)primary_port;
    (void)local_port;
    if (may_connect(worker, primary_ip))
        return CURL_PREREQFUNC_OK;
    worker->refused = true;
    return CURL_PREREQFUNC_ABORT;
}

static int
on_progress(void *context, curl_off_t total, curl_off_t now, curl_off_t up_total, curl_off_t up_now)
{
    const sl_hub_worker *const worker = context;
    (void)total;
    (void)now;
    (void)up_total;
    (void)up_now;
    return atomic_load(worker->cancelled) ? 1 : 0;
}

/* The first of them is the status line of the first hop: the endpoint is there, however long what
 * follows may take. */
static size_t
on_header(char *bytes, size_t one, size_t size, void *context)
{
    sl_hub_worker *const worker = context;
    (void)bytes;
    (void)one;
    if (worker->awaited) {
        worker->awaited = false;
        sl_hub_recent_asked(worker->hub->state->recent, SL_HUB_HEARD, 0.0);
    }
    return size;
}

/* Bytes arrive decoded, so that this bound also holds for what was packed or of unknown length. */
static size_t
on_body(char *bytes, size_t one, size_t size, void *context)
{
    sl_hub_worker *const worker = context;
    long status = 0;
    (void)one;

    if (curl_easy_getinfo(worker->handle, CURLINFO_RESPONSE_CODE, &status) != CURLE_OK)
        return 0;
    if (status != 200 && status != 206)
        return size; /* the headers say all we report */
    if (size > worker->body->limit - worker->body->size) {
        worker->oversized = true;
        return 0;
    }
    sl_buffer_append(worker->body, bytes, size);
    return worker->body->failed ? 0 : size;
}

static long
milliseconds(double seconds)
{
    return seconds < 0.001 ? 1L : (long)(seconds * 1000.0);
}

bool
sl_hub_transfer_prepare(sl_hub_worker *worker)
{
    const sl_hub *const hub = worker->hub;
    CURL *const h = worker->handle;
    const char *const schemes = hub->origin.https ? "https" : "http,https";
    bool ok = true;

    ok = ok && curl_easy_setopt(h, CURLOPT_PROTOCOLS_STR, schemes) == CURLE_OK;
    /* Redirects are followed by hand: each target is judged before it is asked. */
    ok = ok && curl_easy_setopt(h, CURLOPT_FOLLOWLOCATION, 0L) == CURLE_OK;
    ok = ok && curl_easy_setopt(h, CURLOPT_NOSIGNAL, 1L) == CURLE_OK;
#if LIBCURL_VERSION_NUM >= 0x075700 /* 7.87.0 */
    /* Else the end of a question would wait for the thread that still looks for its name. */
    ok = ok && curl_easy_setopt(h, CURLOPT_QUICK_EXIT, 1L) == CURLE_OK;
#endif
    ok = ok && curl_easy_setopt(h, CURLOPT_PROXY, hub->proxy) == CURLE_OK;
    ok = ok && curl_easy_setopt(h, CURLOPT_NOPROXY, "") == CURLE_OK;
    ok = ok && curl_easy_setopt(h, CURLOPT_USERAGENT, hub->user_agent) == CURLE_OK;
    ok = ok &&
         curl_easy_setopt(h, CURLOPT_LOW_SPEED_LIMIT, hub->limits.stalled_bytes_per_s) == CURLE_OK;
    ok = ok && curl_easy_setopt(h, CURLOPT_LOW_SPEED_TIME, hub->limits.stalled_s) == CURLE_OK;
    ok = ok && curl_easy_setopt(h, CURLOPT_CONNECTTIMEOUT_MS,
                                milliseconds(hub->limits.connect_s)) == CURLE_OK;
    ok = ok && curl_easy_setopt(h, CURLOPT_OPENSOCKETFUNCTION, open_socket) == CURLE_OK;
    ok = ok && curl_easy_setopt(h, CURLOPT_OPENSOCKETDATA, worker) == CURLE_OK;
    ok = ok && curl_easy_setopt(h, CURLOPT_PREREQFUNCTION, before_request) == CURLE_OK;
    ok = ok && curl_easy_setopt(h, CURLOPT_PREREQDATA, worker) == CURLE_OK;
    ok = ok && curl_easy_setopt(h, CURLOPT_XFERINFOFUNCTION, on_progress) == CURLE_OK;
    ok = ok && curl_easy_setopt(h, CURLOPT_XFERINFODATA, worker) == CURLE_OK;
    ok = ok && curl_easy_setopt(h, CURLOPT_NOPROGRESS, 0L) == CURLE_OK;
    ok = ok && curl_easy_setopt(h, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L) == CURLE_OK;
    ok = ok && curl_easy_setopt(h, CURLOPT_HEADERFUNCTION, on_header) == CURLE_OK;
    ok = ok && curl_easy_setopt(h, CURLOPT_HEADERDATA, worker) == CURLE_OK;
    ok = ok && curl_easy_setopt(h, CURLOPT_WRITEFUNCTION, on_body) == CURLE_OK;
    ok = ok && curl_easy_setopt(h, CURLOPT_WRITEDATA, worker) == CURLE_OK;
    return ok;
}

/* Value of a header of the last hop, or NULL. */
static const char *
header(const sl_hub_worker *worker, const char *name)
{
    struct curl_header *found = NULL;
    if (curl_easy_header(worker->handle, name, 0, CURLH_HEADER, -1, &found) != CURLHE_OK)
        return NULL;
    return found->value;
}

/* Text of a server that goes into an answer of ours: printable ASCII, and never the token. */
static void
copy_printable(const sl_hub *hub, const char *from, char *to, size_t size)
{
    if (from == NULL || (hub->token[0] != '\0' && strstr(from, hub->token) != NULL)) {
        to[0] = '\0';
        return;
    }
    (void)sl_text_copy(to, size, from);
    for (char *c = to; *c != '\0'; c++) {
        if (*c < ' ' || *c > '~')
            *c = '?';
    }
}

/* As the server calls the question, by the first of the names that it says. */
static const char *
request_id(const sl_hub_worker *worker)
{
    static const char *const names[] = {"x-request-id", "x-amzn-trace-id", "x-amz-cf-id"};
    const char *id = NULL;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && id == NULL; i++)
        id = header(worker, names[i]);
    return id;
}

static void
read_headers(sl_hub_worker *worker, sl_hub_reply *reply)
{
    const sl_hub *const hub = worker->hub;
    const char *const range = header(worker, "content-range");
    if (range != NULL)
        (void)sl_text_copy(reply->content_range, sizeof reply->content_range, range);
    copy_printable(hub, request_id(worker), reply->request_id, sizeof reply->request_id);
    reply->retry_after_s =
        sl_hub_wait_asked_for(header(worker, "ratelimit"), header(worker, "retry-after"));

    /* The tag of the last hop is the one that its server compares. */
    const char *const linked = header(worker, "x-linked-etag");
    const char *const own = header(worker, "etag");
    const char *const etag = own != NULL ? own : linked;
    if (etag != NULL &&
        (!sl_hub_is_visible(etag) || !sl_text_copy(reply->etag, sizeof reply->etag, etag)))
        reply->etag[0] = '\0';
    if (!reply->from_endpoint)
        return;

    const char *const commit = header(worker, "x-repo-commit");
    if (commit != NULL)
        (void)sl_text_copy(reply->commit, sizeof reply->commit, commit);
    copy_printable(hub, header(worker, "x-error-code"), reply->error_code,
                   sizeof reply->error_code);
    copy_printable(hub, header(worker, "x-error-message"), reply->error_message,
                   sizeof reply->error_message);
}

static sl_hub_outcome
outcome_of(const sl_hub_worker *worker, CURLcode code, sl_hub_reply *reply)
{
    if (code == CURLE_ABORTED_BY_CALLBACK && !worker->refused)
        return SL_HUB_CANCELLED;
    if (worker->refused && reply->status == 0)
        return SL_HUB_ADDRESS_REFUSED;
    /* A failure needs no body to be understood. */
    const bool carries_body = reply->status == 200 || reply->status == 206;
    if (code == CURLE_OK || (reply->status >= 201 && reply->status <= 599 && !carries_body))
        return SL_HUB_ANSWERED;
    if (worker->oversized || code == CURLE_FILESIZE_EXCEEDED)
        return SL_HUB_TOO_LARGE;

    reply->reason = curl_easy_strerror(code);
    reply->retryable = true;
    switch (code) {
    case CURLE_OPERATION_TIMEDOUT: {
        /* Before a connection stood nothing was asked; after it another try would only wait again,
         * and keep a worker from others. A kept connection has no connect time: count what went. */
        long sent_bytes = 0;
        (void)curl_easy_getinfo(worker->handle, CURLINFO_REQUEST_SIZE, &sent_bytes);
        reply->retryable = sent_bytes == 0;
        return sent_bytes == 0 ? SL_HUB_NOT_CONNECTED : SL_HUB_TIMED_OUT;
    }
    case CURLE_PARTIAL_FILE:
    case CURLE_BAD_CONTENT_ENCODING:
    case CURLE_HTTP2_STREAM:
        return SL_HUB_TRUNCATED;
    case CURLE_OUT_OF_MEMORY:
    case CURLE_WRITE_ERROR:
        reply->retryable = false;
        return SL_HUB_NO_MEMORY;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_COULDNT_RESOLVE_PROXY:
        reply->retryable = false;
        return SL_HUB_NOT_CONNECTED;
    default:
        return carries_body ? SL_HUB_TRUNCATED : SL_HUB_NOT_CONNECTED;
    }
}

/* Appends "Name: value" to the list; false when it does not fit or memory is out. */
static bool
add_header(struct curl_slist **list, const char *name, const char *value)
{
    char line[640];
    if (!sl_text_format(line, sizeof line, "%s%s", name, value))
        return false;
    struct curl_slist *const longer = curl_slist_append(*list, line);
    if (longer == NULL)
        return false;
    *list = longer;
    return true;
}

/* What belongs to one question, for every hop of it. Parts are of the bytes as stored: asked for
 * unpacked. */
static bool
set_question(sl_hub_worker *worker, const sl_hub_question *question)
{
    CURL *const h = worker->handle;
    char range[48];

    const bool part = question->size > 0;
    const char *const packing = part ? NULL : "";
    const bool fits = sl_text_format(range, sizeof range, "%" PRIu64 "-%" PRIu64, question->first,
                                     question->first + question->size - 1);
    return fits && curl_easy_setopt(h, CURLOPT_ACCEPT_ENCODING, packing) == CURLE_OK &&
           curl_easy_setopt(h, CURLOPT_RANGE, part ? range : NULL) == CURLE_OK &&
           curl_easy_setopt(h, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)worker->body->limit) ==
               CURLE_OK;
}

static sl_hub_outcome
ask_one(sl_hub_worker *worker, const char *etag, double deadline_s, sl_hub_reply *reply)
{
    const sl_hub *const hub = worker->hub;
    CURL *const h = worker->handle;
    struct curl_slist *headers = NULL;
    sl_hub_outcome outcome = SL_HUB_NO_MEMORY;
    char trace[SL_IDENTITY_SIZE];

    worker->refused = false;
    reply->status = 0;
    reply->from_endpoint = sl_hub_origin_equal(&worker->origin, &hub->origin);

    /* The name by which both sides' logs tell of the question. */
    sl_identity_text(trace);
    if (!add_header(&headers, "X-Amzn-Trace-Id: ", trace))
        goto cleanup;
    if (etag[0] != '\0' && !add_header(&headers, "If-None-Match: ", etag))
        goto cleanup;
    if (reply->from_endpoint && hub->token[0] != '\0' &&
        !add_header(&headers, "Authorization: Bearer ", hub->token))
        goto cleanup;
    const double left_s = deadline_s - sl_clock_now_s();
    if (curl_easy_setopt(h, CURLOPT_URL, worker->url) != CURLE_OK ||
        curl_easy_setopt(h, CURLOPT_HTTPHEADER, headers) != CURLE_OK ||
        curl_easy_setopt(h, CURLOPT_TIMEOUT_MS, milliseconds(left_s)) != CURLE_OK)
        goto cleanup;

    const CURLcode code = curl_easy_perform(h);
    if (curl_easy_getinfo(h, CURLINFO_RESPONSE_CODE, &reply->status) != CURLE_OK)
        reply->status = 0;
    read_headers(worker, reply);
    outcome = outcome_of(worker, code, reply);

cleanup:
    (void)curl_easy_setopt(h, CURLOPT_HTTPHEADER, NULL);
    curl_slist_free_all(headers);
    return outcome;
}

/* Takes the target of a redirect as the next hop. False when we must not go there. */
static bool
take_location(sl_hub_worker *worker, const char *location)
{
    static const char official[] = "https://huggingface.co/";
    const sl_hub *const hub = worker->hub;
    sl_hub_origin target;
    char url[SL_HUB_URL_SIZE];

    /* A mirror passes on addresses of the original: they are meant for the mirror. */
    const bool mirrored = strncmp(location, official, sizeof official - 1) == 0;
    const bool fits = mirrored ? sl_text_format(url, sizeof url, "%s/%s", hub->endpoint,
                                                location + sizeof official - 1)
                               : sl_text_copy(url, sizeof url, location);
    if (!fits || !sl_hub_origin_parse(url, &target) ||
        !sl_hub_origin_allowed(&target, &hub->origin))
        return false;
    memcpy(worker->url, url, sizeof url);
    worker->origin = target;
    return true;
}

/* Worth another try: the list of huggingface_hub (utils/_http). */
static bool
is_retryable(long status)
{
    return status == 408 || status == 429 || status == 500 || (status >= 502 && status <= 504);
}

sl_hub_outcome
sl_hub_transfer_get(sl_hub_worker *worker, const sl_hub_question *question, double deadline_s,
                    const atomic_bool *cancelled, sl_buffer *body, sl_hub_reply *reply)
{
    assert(worker != NULL && question != NULL && question->url != NULL && question->etag != NULL);
    assert(cancelled != NULL && body != NULL && body->size == 0 && reply != NULL);

    worker->cancelled = cancelled;
    worker->body = body;
    worker->oversized = false;
    worker->origin = worker->hub->origin;
    *reply = (sl_hub_reply){.retry_after_s = -1.0};
    if (!sl_text_copy(worker->url, sizeof worker->url, question->url) ||
        !set_question(worker, question))
        return SL_HUB_NO_MEMORY;

    for (uint32_t redirects = 0;; redirects++) {
        const sl_hub_outcome outcome = ask_one(worker, question->etag, deadline_s, reply);
        if (outcome != SL_HUB_ANSWERED)
            return outcome;
        char *location = NULL;
        const bool redirected =
            reply->status >= 300 && reply->status <= 399 && reply->status != 304 &&
            curl_easy_getinfo(worker->handle, CURLINFO_REDIRECT_URL, &location) == CURLE_OK &&
            location != NULL;
        if (!redirected) {
            reply->retryable = is_retryable(reply->status);
            return outcome;
        }
        if (redirects == worker->hub->limits.redirects)
            return SL_HUB_TOO_MANY_REDIRECTS;
        if (!take_location(worker, location))
            return SL_HUB_ADDRESS_REFUSED;
    }
}
