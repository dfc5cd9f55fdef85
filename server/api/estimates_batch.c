/*
 * Many estimates in one request: lines in, lines out, in their order. A line is asked as a request
 * of its own would be, over the lanes that it needs. What is answered waits for the client in the
 * feed and nowhere else, and between some lines the thread goes back, so that a batch of minutes
 * stalls nobody.
 */
#include "api/estimates.h"
#include "api/resources.h"

#include <string.h>

#include "base/clock.h"

enum {
    FEED_BYTES = 4 * 1024 * 1024,
    ANSWER_MAX_BYTES = FEED_BYTES / 2,
    LINE_ARENA_BYTES = 64 * 1024 * 1024
};

/* A few lines: who asks for one estimate beside many batches waits for a turn of each. */
static const double slice_s = 0.002;

typedef enum step { NEXT, ASKED, ANSWERED } step;

/* In the request's arena. */
typedef struct batch {
    step step;
    const char *at; /* the line at hand */
    const char *end;
    uint64_t told;      /* lines */
    sl_request line;    /* the request with one line for a body, and an arena for it */
    sl_response answer; /* to the line */
    sl_lane lane;       /* of this call */
    bool waited;        /* for the client to take what the feed holds */
    sl_feed *feed;      /* the response's */
} batch;

static void
end_line(batch *own)
{
    sl_response_clear(&own->answer);
    sl_arena_free(own->line.arena);
    own->line.arena = NULL;
    own->step = NEXT;
}

static void
release(void *argument)
{
    end_line(argument);
}

static sl_code
check_query(const sl_request *request, sl_errors *err)
{
    bool lenient = false;
    int require = -1;
    const sl_code known = sl_api_lenient(request, &lenient, err);
    const sl_code required = sl_api_required(request, &require, err);

    return known != SL_OK ? known : required;
}

static batch *
batch_new(const sl_request *request, sl_response *response)
{
    sl_errors err = {.count = 0};
    batch *own = NULL;

    sl_code code = check_query(request, &err);
    if (request->body_size == 0)
        code = sl_fail(&err, SL_E_SYNTAX, "empty_body", "",
                       "the body must be lines of JSON, an estimate request each");
    if (code == SL_OK)
        own = sl_arena_alloc(request->arena, 1, sizeof *own);
    if (own != NULL)
        own->feed = sl_feed_new(FEED_BYTES);
    if (own == NULL || own->feed == NULL) {
        if (err.count == 0)
            (void)sl_fail(&err, SL_E_MEMORY, "out_of_memory", "",
                          "the batch does not fit in memory");
        sl_response_problem(response, request, &err);
        return NULL;
    }
    own->at = request->body;
    own->end = request->body + request->body_size;
    own->line = *request;
    own->line.arena = NULL;
    sl_response_init(&own->answer);
    sl_response_own(response, release, own);
    response->content_type = "application/x-ndjson";
    sl_response_header(response, "Cache-Control", "no-store");
    sl_response_header(response, "X-Accel-Buffering", "no");
    sl_response_feed(response, own->feed);
    return own;
}

/* Where the line at hand ends: at its line feed, or with the body. */
static const char *
line_end(const batch *own)
{
    const char *const feed = memchr(own->at, '\n', (size_t)(own->end - own->at));

    return feed == NULL ? own->end : feed;
}

static sl_code
take_line(const sl_app *app, batch *own, sl_errors *err)
{
    const size_t size = (size_t)(line_end(own) - own->at);

    if (size > app->settings->max_body_bytes)
        return sl_fail(err, SL_E_TOO_LARGE, "too_large", "", "a line may have %zu bytes, got %zu",
                       app->settings->max_body_bytes, size);
    own->line.arena = sl_arena_new(LINE_ARENA_BYTES);
    own->line.body =
        own->line.arena == NULL ? NULL : sl_arena_copy_bytes(own->line.arena, own->at, size);
    own->line.body_size = size;
    return own->line.body != NULL
               ? SL_OK
               : sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "the line does not fit in memory");
}

/* True when the line is answered; otherwise the response says where that goes on. */
static bool
ask(sl_app *app, void *thread, batch *own, const sl_request *request, sl_response *response)
{
    sl_response *const answer = &own->answer;
    sl_errors err = {.count = 0};

    if (own->step == NEXT) {
        sl_response_init(answer);
        sl_buffer_init(&answer->body, ANSWER_MAX_BYTES);
        if (take_line(app, own, &err) != SL_OK) {
            sl_response_problem(answer, request, &err);
            return true;
        }
        own->step = ASKED;
    }
    answer->continues = false;
    answer->park = NULL;
    sl_estimates_post(app, thread, &own->line, answer);
    if (!answer->continues)
        return true;
    own->lane = answer->next_lane;
    if (answer->park != NULL)
        sl_response_park(response, own->lane, own, answer->park, answer->park_argument);
    else
        sl_response_continue(response, own->lane, own);
    return false;
}

/* True when the feed has the answer; otherwise the client is waited for, or gone. */
static bool
tell(batch *own, sl_response *response)
{
    if (sl_feed_put(own->feed, &own->answer.body)) {
        const char *const end = line_end(own);
        own->at = end == own->end ? end : end + 1;
        own->told++;
        own->waited = false;
        end_line(own);
        return true;
    }
    own->lane = SL_LANE_COMPUTE;
    if (!own->waited)
        sl_response_park(response, own->lane, own, sl_feed_wait, own->feed);
    own->waited = true;
    return false;
}

/* The last line of a batch whose time is over, in place of the answers that are missing. */
static void
give_up(batch *own, const sl_request *request)
{
    const bool late = sl_clock_now_s() >= request->deadline_s;
    sl_errors err = {.count = 0};

    (void)sl_fail(&err, late ? SL_E_TIMEOUT : SL_E_UNAVAILABLE, late ? "timeout" : "stopping", "",
                  "%s: what follows the first %llu lines was not answered",
                  late ? "the time for this request is over" : "the service stops",
                  (unsigned long long)own->told);
    end_line(own);
    sl_response_problem(&own->answer, request, &err);
    sl_buffer_text(&own->answer.body, "\n");
    sl_feed_end(own->feed, &own->answer.body);
}

void
sl_estimates_batch(void *app, void *thread, const sl_request *request, sl_response *response)
{
    batch *own = response->state;
    const double until_s = sl_clock_now_s() + slice_s;

    if (own == NULL)
        own = batch_new(request, response);
    if (own == NULL)
        return;
    for (;;) {
        if (own->step == ANSWERED && !tell(own, response))
            return;
        if (own->at == own->end || atomic_load(request->cancelled))
            break;
        if (own->step == NEXT && (own->lane != SL_LANE_COMPUTE || sl_clock_now_s() >= until_s)) {
            own->lane = SL_LANE_COMPUTE;
            sl_response_continue(response, own->lane, own);
            return;
        }
        if (!ask(app, thread, own, request, response))
            return;
        /* Without memory for it the feed will not take the answer, and ends cut off. */
        sl_buffer_text(&own->answer.body, "\n");
        own->step = ANSWERED;
    }
    if (own->at == own->end)
        sl_feed_end(own->feed, &own->answer.body);
    else
        give_up(own, request);
}
