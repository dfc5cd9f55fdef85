/* Answers that are sent while they are made: what the client sees, and what the producer learns. */
#include <assert.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "harness.h"
#include "http/events.h"
#include "http_fixture.h"

enum { LIMIT_BYTES = 64 * 1024 };

/* The one request that a test makes, as its handler leaves it. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    const sl_request *request;
    sl_feed *feed;
    void (*wake)(void *context);
    void *context;
    bool parked;
    atomic_uint released;
} seen = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static sl_fixture fixture;
static sl_client client;

static void
on_release(void *argument)
{
    (void)argument;
    (void)atomic_fetch_add(&seen.released, 1);
}

static bool
keep_parked(void *argument, void (*wake)(void *context), void *context)
{
    (void)argument;
    (void)pthread_mutex_lock(&seen.lock);
    seen.wake = wake;
    seen.context = context;
    seen.parked = true;
    (void)pthread_cond_broadcast(&seen.changed);
    (void)pthread_mutex_unlock(&seen.lock);
    return true;
}

/* Streams, or with ?whole answers at its end, until it is woken. */
static void
produce(void *app, void *worker, const sl_request *request, sl_response *response)
{
    static char woken;
    const bool whole = sl_request_query(request, "whole") != NULL;
    const bool forgets = sl_request_query(request, "forget") != NULL;
    sl_buffer event;

    (void)app;
    (void)worker;
    sl_buffer_init(&event, LIMIT_BYTES);
    if (response->state != NULL) {
        if (whole) {
            sl_buffer_text(&response->body, "{}");
        } else if (!forgets) {
            sl_events_write(SL_EVENTS_LINES, "result", "{}", 2, &event);
            sl_feed_end(response->feed, &event);
        }
        return;
    }
    sl_response_own(response, on_release, NULL);
    sl_response_leave(response);
    sl_response_park(response, SL_LANE_COMPUTE, &woken, keep_parked, NULL);
    seen.request = request;
    if (whole)
        return;
    seen.feed = sl_feed_new(LIMIT_BYTES);
    assert(seen.feed != NULL);
    const sl_events wanted = sl_events_wanted(request);
    sl_events_head(wanted == SL_EVENTS_NONE ? SL_EVENTS_LINES : wanted, response, &event);
    if (event.size > 0)
        CU_ASSERT_TRUE(sl_feed_put(seen.feed, &event));
    sl_buffer_clear(&event);
    sl_response_feed(response, seen.feed);
}

static void
ping(void *app, void *worker, const sl_request *request, sl_response *response)
{
    (void)app;
    (void)worker;
    (void)request;
    sl_buffer_text(&response->body, "{}");
}

static const sl_route routes[] = {
    {SL_GET, "/stream", SL_LANE_COMPUTE, produce, NULL, 0, 60, "whole, forget"},
    {SL_GET, "/brief", SL_LANE_COMPUTE, produce, NULL, 0, 0.2, "whole"},
    {SL_GET, "/ping", SL_LANE_COMPUTE, ping, NULL, 0, 60, NULL},
};

static void
begin(const char *request)
{
    seen.parked = false;
    atomic_store(&seen.released, 0);
    sl_fixture_init(&fixture);
    fixture.config.routes = routes;
    fixture.config.route_count = sizeof routes / sizeof routes[0];
    sl_fixture_start(&fixture);
    client = sl_client_open(&fixture);
    sl_client_send(&client, request);
    (void)pthread_mutex_lock(&seen.lock);
    while (!seen.parked)
        (void)pthread_cond_wait(&seen.changed, &seen.lock);
    (void)pthread_mutex_unlock(&seen.lock);
}

static void
end(uint32_t cancelled)
{
    sl_client_close(&client);
    CU_ASSERT_EQUAL(sl_fixture_stop(&fixture, 5), cancelled);
    CU_ASSERT_EQUAL(atomic_load(&seen.released), 1);
}

static bool
put(const char *text)
{
    sl_buffer event;
    sl_buffer_init(&event, LIMIT_BYTES);
    sl_buffer_text(&event, text);
    const bool taken = sl_feed_put(seen.feed, &event);
    sl_buffer_clear(&event);
    return taken;
}

/* What the connection brings until `part` is among it, or it ends. */
static bool
arrives(const char *part, char *all, size_t size, size_t *used)
{
    while (strstr(all, part) == NULL) {
        if (*used + 1 == size)
            return false;
        const ssize_t got = recv(client.fd, all + *used, size - *used - 1, 0);
        if (got <= 0)
            return false;
        *used += (size_t)got;
        all[*used] = '\0';
    }
    return true;
}

static void
pause_ms(long ms)
{
    const struct timespec time = {.tv_nsec = ms * 1000000};
    (void)nanosleep(&time, NULL);
}

/* Seconds until the producer is told to stop; 2 when it is not. */
static double
cancelled_after_s(void)
{
    const double start_s = sl_clock_now_s();
    while (!atomic_load(seen.request->cancelled) && sl_clock_now_s() < start_s + 2)
        pause_ms(1);
    return sl_clock_now_s() - start_s;
}

#define ASK(path) "GET " path " HTTP/1.1\r\nHost: localhost\r\n\r\n"

static void
events_arrive_while_others_are_made(void)
{
    char all[4096] = "";
    size_t used = 0;

    begin(ASK("/stream"));
    CU_ASSERT_TRUE(put("{\"event\":\"progress\",\"data\":1}\n"));
    CU_ASSERT_TRUE(arrives("\"data\":1}", all, sizeof all, &used));
    CU_ASSERT_PTR_NULL(strstr(all, "Content-Length"));
    CU_ASSERT_PTR_NOT_NULL(strstr(all, "Transfer-Encoding: chunked"));
    CU_ASSERT_PTR_NOT_NULL(strstr(all, "Content-Type: application/x-ndjson"));
    CU_ASSERT_PTR_NOT_NULL(strstr(all, "X-Accel-Buffering: no"));
    CU_ASSERT_PTR_NOT_NULL(strstr(all, "Cache-Control: no-store"));
    CU_ASSERT_PTR_NULL(strstr(all, "result"));
    CU_ASSERT_TRUE(put("{\"event\":\"progress\",\"data\":2}\n"));
    CU_ASSERT_TRUE(arrives("\"data\":2}", all, sizeof all, &used));
    seen.wake(seen.context);
    CU_ASSERT_TRUE(
        arrives("{\"event\":\"result\",\"data\":{}}\n\r\n0\r\n\r\n", all, sizeof all, &used));
    sl_answer answer = sl_client_ask(&client, "GET", "/ping", "");
    CU_ASSERT_EQUAL(answer.status, 200);
    sl_answer_free(&answer);
    end(0);
}

static void
server_sent_events_begin_with_a_retry(void)
{
    char all[4096] = "";
    size_t used = 0;

    begin("GET /stream HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n");
    CU_ASSERT_TRUE(arrives("retry: 60000\n\n", all, sizeof all, &used));
    CU_ASSERT_PTR_NOT_NULL(strstr(all, "Content-Type: text/event-stream"));
    seen.wake(seen.context);
    CU_ASSERT_TRUE(arrives("result", all, sizeof all, &used));
    end(0);
}

static void
an_old_client_reads_to_the_end_of_the_connection(void)
{
    char all[4096] = "";
    size_t used = 0;

    begin("GET /stream HTTP/1.0\r\nHost: localhost\r\n\r\n");
    CU_ASSERT_TRUE(put("one\n"));
    CU_ASSERT_TRUE(arrives("\r\n\r\none\n", all, sizeof all, &used));
    seen.wake(seen.context);
    CU_ASSERT_FALSE(arrives("never", all, sizeof all, &used));
    CU_ASSERT_PTR_NOT_NULL(strstr(all, "one\n{\"event\":\"result\",\"data\":{}}\n"));
    end(0);
}

static void
events_nobody_reads_are_dropped_and_the_last_is_not(void)
{
    enum { EVENT_BYTES = 8 * 1024, EVENTS = 20000 };
    static char event[EVENT_BYTES + 1];
    static char all[8 * 1024 * 1024];
    size_t used = 0;
    uint32_t taken = 0;

    memset(event, 'x', EVENT_BYTES - 1);
    event[EVENT_BYTES - 1] = '\n';
    begin(ASK("/stream"));
    for (uint32_t i = 0; i < EVENTS; i++)
        taken += put(event) ? 1 : 0;
    /* What the kernel holds for the socket, and the stream's bound. */
    CU_ASSERT_TRUE(taken >= LIMIT_BYTES / EVENT_BYTES);
    CU_ASSERT_TRUE(taken < EVENTS / 20);
    seen.wake(seen.context);
    all[0] = '\0';
    CU_ASSERT_TRUE(arrives("\"result\"", all, sizeof all, &used));
    end(0);
}

static void
on_room(void *context)
{
    (void)atomic_fetch_add((atomic_uint *)context, 1);
}

static bool
becomes(atomic_uint *number, uint32_t value)
{
    for (uint32_t ms = 0; ms < 2000 && atomic_load(number) != value; ms++)
        pause_ms(1);
    return atomic_load(number) == value;
}

/* Fills what the kernel holds for the socket, and the stream. */
static void
fill(void)
{
    static char event[LIMIT_BYTES];

    memset(event, 'x', sizeof event - 1);
    for (uint32_t refused = 0; refused < 5; refused++) {
        while (put(event))
            refused = 0;
        pause_ms(20);
    }
}

static void
who_waits_for_room_is_woken_once(void)
{
    static char all[16 * 1024 * 1024];
    atomic_uint woken = 0;
    size_t used = 0;

    begin(ASK("/stream"));
    pause_ms(50);
    CU_ASSERT_FALSE(sl_feed_wait(seen.feed, on_room, &woken));
    fill();
    CU_ASSERT_TRUE(sl_feed_wait(seen.feed, on_room, &woken));
    pause_ms(50);
    CU_ASSERT_EQUAL(atomic_load(&woken), 0);
    seen.wake(seen.context);
    all[0] = '\0';
    CU_ASSERT_TRUE(arrives("\"result\"", all, sizeof all, &used));
    CU_ASSERT_EQUAL(atomic_load(&woken), 1);
    end(0);
}

static void
who_waits_for_room_is_woken_by_the_end_of_the_client(void)
{
    atomic_uint woken = 0;

    begin(ASK("/stream"));
    fill();
    CU_ASSERT_TRUE(sl_feed_wait(seen.feed, on_room, &woken));
    (void)close(client.fd);
    client.fd = -1;
    CU_ASSERT_TRUE(becomes(&woken, 1));
    CU_ASSERT_FALSE(sl_feed_wait(seen.feed, on_room, &woken));
    seen.wake(seen.context);
    end(0);
}

static void
a_client_that_leaves_tells_the_producer(void)
{
    static const char *const paths[] = {ASK("/stream"), ASK("/stream?whole=1")};

    for (size_t i = 0; i < 2; i++) {
        begin(paths[i]);
        pause_ms(50); /* let the head be sent, and the connection sleep again */
        CU_ASSERT_FALSE(atomic_load(seen.request->cancelled));
        (void)close(client.fd);
        CU_ASSERT_TRUE(cancelled_after_s() < 1);
        seen.wake(seen.context);
        client.fd = -1;
        end(0);
    }
}

static void
a_closed_sending_half_is_a_client_that_left(void)
{
    begin(ASK("/stream"));
    (void)shutdown(client.fd, SHUT_WR);
    CU_ASSERT_TRUE(cancelled_after_s() < 1);
    seen.wake(seen.context);
    end(0);
}

static void
a_deadline_is_left_to_the_producer(void)
{
    char all[4096] = "";
    size_t used = 0;

    begin(ASK("/brief"));
    CU_ASSERT_TRUE(cancelled_after_s() < 1);
    CU_ASSERT_TRUE(put("late\n"));
    seen.wake(seen.context);
    CU_ASSERT_TRUE(arrives("result", all, sizeof all, &used));
    CU_ASSERT_PTR_NOT_NULL(strstr(all, "late\n"));
    end(0);
}

static void
a_deadline_before_the_answer_is_a_problem(void)
{
    begin(ASK("/brief?whole=1"));
    sl_answer answer = sl_client_read(&client, true);
    CU_ASSERT_EQUAL(answer.status, 504);
    sl_answer_free(&answer);
    seen.wake(seen.context);
    end(0);
}

static void *
stop(void *argument)
{
    const double grace_s = 0.1;
    uint32_t *const cancelled = argument;
    *cancelled = sl_fixture_stop(&fixture, grace_s);
    return NULL;
}

static void
a_stop_lets_the_producer_say_its_last(void)
{
    char all[4096] = "";
    size_t used = 0;
    uint32_t cancelled = 0;
    pthread_t stopper;

    begin(ASK("/stream"));
    CU_ASSERT_EQUAL(pthread_create(&stopper, NULL, stop, &cancelled), 0);
    CU_ASSERT_TRUE(cancelled_after_s() < 1);
    seen.wake(seen.context);
    CU_ASSERT_TRUE(arrives("result", all, sizeof all, &used));
    (void)pthread_join(stopper, NULL);
    CU_ASSERT_EQUAL(cancelled, 1);
    sl_client_close(&client);
}

static void
a_stop_does_not_wait_for_one_who_says_nothing(void)
{
    char all[4096] = "";
    size_t used = 0;
    uint32_t cancelled = 0;
    pthread_t stopper;
    const double start_s = sl_clock_now_s();

    begin(ASK("/stream"));
    CU_ASSERT_EQUAL(pthread_create(&stopper, NULL, stop, &cancelled), 0);
    CU_ASSERT_FALSE(arrives("result", all, sizeof all, &used));
    CU_ASSERT_TRUE(sl_clock_now_s() - start_s < 4);
    seen.wake(seen.context);
    (void)pthread_join(stopper, NULL);
    CU_ASSERT_EQUAL(atomic_load(&seen.released), 1);
    sl_client_close(&client);
}

static void
a_feed_without_its_last_event_is_cut(void)
{
    char all[4096] = "";
    size_t used = 0;

    begin(ASK("/stream?forget"));
    CU_ASSERT_TRUE(put("one\n"));
    CU_ASSERT_TRUE(arrives("one\n", all, sizeof all, &used));
    seen.wake(seen.context);
    CU_ASSERT_FALSE(arrives("\r\n0\r\n\r\n", all, sizeof all, &used));
    end(0);
}

static void
what_is_accepted_first_is_given(void)
{
    static const struct {
        const char *accept;
        sl_events events;
    } rows[] = {
        {"", SL_EVENTS_NONE},
        {"*/*", SL_EVENTS_NONE},
        {"application/json, text/event-stream", SL_EVENTS_NONE},
        {"text/event-stream, application/json;q=0.5", SL_EVENTS_SSE},
        {"application/x-ndjson", SL_EVENTS_LINES},
        {"text/event-stream;q=0, application/json", SL_EVENTS_NONE},
        {"text/html, TEXT/Event-Stream; q=0.9", SL_EVENTS_SSE},
        {"text/event-streams", SL_EVENTS_NONE},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const sl_request request = {.accept = rows[i].accept};
        CU_ASSERT_EQUAL(sl_events_wanted(&request), rows[i].events);
    }
}

static const sl_case cases[] = {
    SL_CASE(events_arrive_while_others_are_made),
    SL_CASE(server_sent_events_begin_with_a_retry),
    SL_CASE(an_old_client_reads_to_the_end_of_the_connection),
    SL_CASE(events_nobody_reads_are_dropped_and_the_last_is_not),
    SL_CASE(who_waits_for_room_is_woken_once),
    SL_CASE(who_waits_for_room_is_woken_by_the_end_of_the_client),
    SL_CASE(a_client_that_leaves_tells_the_producer),
    SL_CASE(a_closed_sending_half_is_a_client_that_left),
    SL_CASE(a_deadline_is_left_to_the_producer),
    SL_CASE(a_deadline_before_the_answer_is_a_problem),
    SL_CASE(a_stop_lets_the_producer_say_its_last),
    SL_CASE(a_stop_does_not_wait_for_one_who_says_nothing),
    SL_CASE(a_feed_without_its_last_event_is_cut),
    SL_CASE(what_is_accepted_first_is_given),
};

int
main(int argc, char **argv)
{
    return sl_run_cases(argc, argv, "http_feed", cases, sizeof cases / sizeof cases[0]);
}
