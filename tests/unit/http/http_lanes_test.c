/* Many requests at once: deadlines, full lanes, clients that leave, and the stop. */
#include <poll.h>
#include <string.h>

#include "harness.h"
#include "http_fixture.h"

static void
expect_answer(sl_client *client, int status, const char *body)
{
    sl_answer answer = sl_client_read(client, true);
    CU_ASSERT_EQUAL(answer.status, status);
    if (answer.body == NULL || strstr(answer.body, body) == NULL)
        sl_expect_text(answer.body == NULL ? "" : answer.body, body, "part of the body");
    sl_answer_free(&answer);
}

static void
send_get(sl_client *client, const char *path)
{
    sl_client_send(client, "GET ");
    sl_client_send(client, path);
    sl_client_send(client, " HTTP/1.1\r\nHost: localhost\r\n\r\n");
}

static void
deadline_gives_504_while_other_lanes_answer(void)
{
    sl_fixture fixture;
    sl_fixture_init(&fixture);
    sl_fixture_start(&fixture);
    sl_client slow = sl_client_open(&fixture);
    sl_client quick = sl_client_open(&fixture);
    send_get(&slow, "/late");
    sl_fixture_await_started(&fixture, 1);
    send_get(&quick, "/things/a");
    expect_answer(&quick, 200, "a");
    expect_answer(&slow, 504, "/problems/timeout");

    /* The connection is as good as before, though its first handler still runs. */
    send_get(&slow, "/things/b");
    expect_answer(&slow, 200, "b");
    sl_fixture_open(&fixture);
    send_get(&slow, "/hold");
    expect_answer(&slow, 200, "held");
    sl_client_close(&slow);
    sl_client_close(&quick);
    CU_ASSERT_EQUAL(sl_fixture_stop(&fixture, 5), 0);
}

static void
without_a_lane_nothing_is_waited_for(void)
{
    sl_fixture fixture;
    sl_fixture_init(&fixture);
    fixture.config.lane_threads[SL_LANE_COMPUTE] = 0;
    fixture.config.lane_threads[SL_LANE_STORE] = 0;
    sl_fixture_start(&fixture);
    sl_client client = sl_client_open(&fixture);
    send_get(&client, "/things/a");
    expect_answer(&client, 503, "busy");
    for (int i = 0; i < 2; i++) {
        send_get(&client, "/alive");
        expect_answer(&client, 200, "/alive");
    }
    sl_client_close(&client);
    CU_ASSERT_EQUAL(sl_fixture_stop(&fixture, 5), 0);
}

static void
handler_continues_on_another_lane_with_its_state(void)
{
    sl_fixture fixture;
    sl_fixture_init(&fixture);
    sl_fixture_start(&fixture);
    sl_client client = sl_client_open(&fixture);
    send_get(&client, "/relay");
    expect_answer(&client, 200, "carried");
    send_get(&client, "/relay?dead");
    expect_answer(&client, 503, "/problems/unavailable");
    sl_client_close(&client);
    CU_ASSERT_EQUAL(sl_fixture_stop(&fixture, 5), 0);
}

static void
parked_requests_hold_no_thread_and_go_on_when_woken(void)
{
    sl_fixture fixture;
    sl_fixture_init(&fixture);
    sl_fixture_start(&fixture);
    sl_client running = sl_client_open(&fixture);
    sl_client waiting[4];
    send_get(&running, "/hold");
    sl_fixture_await_started(&fixture, 1);
    for (size_t i = 0; i < 4; i++) {
        waiting[i] = sl_client_open(&fixture);
        send_get(&waiting[i], "/park");
    }
    sl_fixture_await_parked(&fixture, 4);
    sl_client other = sl_client_open(&fixture);
    send_get(&other, "/things/served");
    expect_answer(&other, 200, "served");

    sl_fixture_open(&fixture);
    expect_answer(&running, 200, "held");
    for (size_t i = 0; i < 4; i++) {
        expect_answer(&waiting[i], 200, "woken");
        sl_client_close(&waiting[i]);
    }
    /* There is nothing to wait for any more. */
    send_get(&other, "/park");
    expect_answer(&other, 200, "woken");
    sl_client_close(&running);
    sl_client_close(&other);
    CU_ASSERT_EQUAL(sl_fixture_stop(&fixture, 5), 0);
}

static void
late_result_after_the_client_left_is_dropped(void)
{
    sl_fixture fixture;
    sl_fixture_init(&fixture);
    sl_fixture_start(&fixture);
    sl_client slow = sl_client_open(&fixture);
    send_get(&slow, "/late");
    sl_fixture_await_started(&fixture, 1);
    expect_answer(&slow, 504, "deadline");
    sl_client_close(&slow);
    sl_fixture_open(&fixture);
    sl_client next = sl_client_open(&fixture);
    send_get(&next, "/hold");
    expect_answer(&next, 200, "held");
    sl_client_close(&next);
    CU_ASSERT_EQUAL(fixture.app.finished, 2);
    CU_ASSERT_EQUAL(sl_fixture_stop(&fixture, 5), 0);
}

static void
request_that_expired_in_the_queue_never_runs(void)
{
    sl_fixture fixture;
    sl_fixture_init(&fixture);
    sl_fixture_start(&fixture);
    sl_client first = sl_client_open(&fixture);
    sl_client second = sl_client_open(&fixture);
    send_get(&first, "/hold");
    sl_fixture_await_started(&fixture, 1);
    send_get(&second, "/late");
    expect_answer(&second, 504, "deadline");
    sl_fixture_open(&fixture);
    expect_answer(&first, 200, "held");
    sl_client_close(&first);
    sl_client_close(&second);
    CU_ASSERT_EQUAL(sl_fixture_stop(&fixture, 5), 0);
    CU_ASSERT_EQUAL(fixture.app.started, 1);
}

/* Sends a PUT that ends at its deadline; whether it is told that it may have changed something. */
static bool
may_have_been_made(sl_fixture *fixture, const char *path)
{
    sl_client client = sl_client_open(fixture);
    sl_client_send(&client, "PUT ");
    sl_client_send(&client, path);
    sl_client_send(&client, " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n");
    sl_answer answer = sl_client_read(&client, true);
    CU_ASSERT_EQUAL(answer.status, 504);
    const bool told = answer.body != NULL && strstr(answer.body, "may have been made") != NULL;
    sl_answer_free(&answer);
    sl_client_close(&client);
    return told;
}

static void
only_a_change_that_began_may_have_been_made(void)
{
    sl_fixture fixture;
    sl_fixture_init(&fixture);
    sl_fixture_start(&fixture);
    CU_ASSERT(!may_have_been_made(&fixture, "/late?dry_run=true"));
    CU_ASSERT(!may_have_been_made(&fixture, "/late")); /* behind that one, which holds the lane */
    sl_fixture_open(&fixture);
    CU_ASSERT_EQUAL(sl_fixture_stop(&fixture, 5), 0);
    CU_ASSERT_EQUAL(fixture.app.started, 1);

    sl_fixture_init(&fixture);
    sl_fixture_start(&fixture);
    CU_ASSERT(may_have_been_made(&fixture, "/late"));
    sl_fixture_open(&fixture);
    CU_ASSERT_EQUAL(sl_fixture_stop(&fixture, 5), 0);
}

static void
full_lane_is_503_with_retry_after(void)
{
    sl_fixture fixture;
    sl_fixture_init(&fixture);
    sl_fixture_start(&fixture);
    sl_client running = sl_client_open(&fixture);
    send_get(&running, "/hold");
    sl_fixture_await_started(&fixture, 1);

    /* One may wait; of two more, one is refused, whichever came last. */
    sl_client more[2] = {sl_client_open(&fixture), sl_client_open(&fixture)};
    send_get(&more[0], "/hold");
    send_get(&more[1], "/hold");
    struct pollfd ready[2] = {{.fd = more[0].fd, .events = POLLIN},
                              {.fd = more[1].fd, .events = POLLIN}};
    CU_ASSERT_EQUAL(poll(ready, 2, -1), 1);
    const size_t refused = (ready[0].revents & POLLIN) != 0 ? 0 : 1;
    sl_answer answer = sl_client_read(&more[refused], true);
    char after[16];
    CU_ASSERT_EQUAL(answer.status, 503);
    CU_ASSERT_TRUE(sl_answer_header(&answer, "Retry-After", after, sizeof after));
    CU_ASSERT_PTR_NOT_NULL(strstr(answer.body, "busy"));
    sl_answer_free(&answer);

    send_get(&more[refused], "/things/still-here");
    expect_answer(&more[refused], 200, "still-here");
    sl_fixture_open(&fixture);
    expect_answer(&running, 200, "held");
    expect_answer(&more[1 - refused], 200, "held");
    sl_client_close(&running);
    sl_client_close(&more[0]);
    sl_client_close(&more[1]);
    CU_ASSERT_EQUAL(sl_fixture_stop(&fixture, 5), 0);
}

static void
lane_without_threads_is_503(void)
{
    sl_fixture fixture;
    sl_fixture_init(&fixture);
    sl_fixture_start(&fixture);
    sl_client client = sl_client_open(&fixture);
    send_get(&client, "/nowhere");
    expect_answer(&client, 503, "/problems/unavailable");
    sl_client_close(&client);
    CU_ASSERT_EQUAL(sl_fixture_stop(&fixture, 5), 0);
}

static void
client_that_leaves_while_suspended_harms_nobody(void)
{
    sl_fixture fixture;
    sl_fixture_init(&fixture);
    sl_fixture_start(&fixture);
    sl_client leaving = sl_client_open(&fixture);
    send_get(&leaving, "/hold");
    sl_fixture_await_started(&fixture, 1);
    sl_client_close(&leaving);
    sl_fixture_open(&fixture);
    sl_client staying = sl_client_open(&fixture);
    send_get(&staying, "/hold");
    expect_answer(&staying, 200, "held");
    sl_client_close(&staying);
    CU_ASSERT_EQUAL(sl_fixture_stop(&fixture, 5), 0);
}

typedef struct stopping {
    sl_fixture *fixture;
    double grace_s;
    uint32_t cancelled;
} stopping;

static void *
stop_main(void *argument)
{
    stopping *const self = argument;
    self->cancelled = sl_fixture_stop(self->fixture, self->grace_s);
    return NULL;
}

static void
stop_lets_a_running_request_finish(void)
{
    sl_fixture fixture;
    sl_fixture_init(&fixture);
    sl_fixture_start(&fixture);
    sl_client running = sl_client_open(&fixture);
    sl_client idle = sl_client_open(&fixture);
    send_get(&idle, "/things/a");
    expect_answer(&idle, 200, "a");
    send_get(&running, "/hold");
    sl_fixture_await_started(&fixture, 1);

    stopping self = {.fixture = &fixture, .grace_s = 60};
    pthread_t thread;
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, stop_main, &self), 0);
    /* Requests are served also while the server drains, which its last answer says. */
    bool last = false;
    while (!last) {
        send_get(&idle, "/things/a");
        sl_answer answer = sl_client_read(&idle, true);
        CU_ASSERT_EQUAL_FATAL(answer.status, 200);
        char value[16];
        last = sl_answer_header(&answer, "Connection", value, sizeof value) &&
               strcmp(value, "close") == 0;
        sl_answer_free(&answer);
    }
    CU_ASSERT_TRUE(sl_client_ended(&idle));
    sl_fixture_open(&fixture);
    expect_answer(&running, 200, "held");
    (void)pthread_join(thread, NULL);
    CU_ASSERT_EQUAL(self.cancelled, 0);
    CU_ASSERT_TRUE(sl_client_ended(&running));
    sl_client_close(&running);
    sl_client_close(&idle);
}

static void
stop_cancels_what_outlasts_the_grace(void)
{
    sl_fixture fixture;
    sl_fixture_init(&fixture);
    sl_fixture_start(&fixture);
    sl_client running = sl_client_open(&fixture);
    sl_client queued = sl_client_open(&fixture);
    sl_client reading = sl_client_open(&fixture);
    send_get(&running, "/hold");
    sl_fixture_await_started(&fixture, 1);
    send_get(&queued, "/hold");
    sl_client_send(&reading,
                   "POST /upload HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\na");

    stopping self = {.fixture = &fixture, .grace_s = 0};
    pthread_t thread;
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, stop_main, &self), 0);
    sl_answer answer = sl_client_read(&running, true);
    char value[16];
    CU_ASSERT_EQUAL(answer.status, 503);
    CU_ASSERT_PTR_NOT_NULL(strstr(answer.body, "\"code\":\"stopping\""));
    CU_ASSERT_TRUE(sl_answer_header(&answer, "Connection", value, sizeof value));
    sl_expect_text(value, "close", "Connection");
    sl_answer_free(&answer);
    /* A body that ends only now: refused, or its connection is closed already. */
    sl_client_send(&reading, "bcdefghi");
    answer = sl_client_read(&reading, true);
    CU_ASSERT_TRUE(answer.status == 503 || answer.status == 0);
    sl_answer_free(&answer);
    sl_fixture_open(&fixture); /* a handler must watch its flag; this one waits for the test */
    (void)pthread_join(thread, NULL);
    CU_ASSERT_TRUE(self.cancelled >= 1 && self.cancelled <= 2);
    sl_client_close(&running);
    sl_client_close(&queued);
    sl_client_close(&reading);
}

enum { CROWD = 6, ROUNDS = 60 };

typedef struct visitor {
    const sl_fixture *fixture;
    uint32_t seed;
    uint32_t wrong;
} visitor;

/* Asks at random, sometimes leaving in the middle; every answer must be one that can be. */
static void *
visitor_main(void *argument)
{
    visitor *const self = argument;
    sl_client client = sl_client_open(self->fixture);
    for (int i = 0; i < ROUNDS; i++) {
        self->seed = self->seed * 1664525U + 1013904223U;
        static const char *const paths[] = {"/race", "/things/a", "/late", "/none"};
        const uint32_t kind = (self->seed >> 16) % 5;
        send_get(&client, paths[kind % 4]);
        if (kind == 4) {
            sl_client_close(&client);
            client = sl_client_open(self->fixture);
            continue;
        }
        sl_answer answer = sl_client_read(&client, true);
        const int status = answer.status;
        const bool good = kind == 0   ? status == 200 || status == 504 || status == 503
                          : kind == 1 ? status == 200
                          : kind == 2 ? status == 200 || status == 503 || status == 504
                                      : status == 404;
        self->wrong += !good;
        sl_answer_free(&answer);
    }
    sl_client_close(&client);
    return NULL;
}

static void
stop_cancels_a_parked_request_too(void)
{
    sl_fixture fixture;
    sl_fixture_init(&fixture);
    sl_fixture_start(&fixture);
    sl_client running = sl_client_open(&fixture);
    sl_client waiting = sl_client_open(&fixture);
    send_get(&running, "/hold");
    sl_fixture_await_started(&fixture, 1);
    send_get(&waiting, "/park");
    sl_fixture_await_parked(&fixture, 1);

    stopping self = {.fixture = &fixture, .grace_s = 0};
    pthread_t thread;
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, stop_main, &self), 0);
    expect_answer(&running, 503, "stopping");
    expect_answer(&waiting, 503, "stopping");
    sl_client_close(&running);
    sl_client_close(&waiting);
    /* Woken after its answer has left, perhaps when no lane takes it any more. */
    sl_fixture_open(&fixture);
    (void)pthread_join(thread, NULL);
    CU_ASSERT_EQUAL(self.cancelled, 2);
}

static void
crowd_gets_only_answers_that_can_be(void)
{
    sl_fixture fixture;
    sl_fixture_init(&fixture);
    sl_fixture_start(&fixture);
    sl_fixture_open(&fixture);
    visitor visitors[CROWD];
    pthread_t threads[CROWD];
    for (uint32_t i = 0; i < CROWD; i++) {
        visitors[i] = (visitor){.fixture = &fixture, .seed = i};
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, visitor_main, &visitors[i]), 0);
    }
    for (uint32_t i = 0; i < CROWD; i++) {
        (void)pthread_join(threads[i], NULL);
        CU_ASSERT_EQUAL(visitors[i].wrong, 0);
    }
    CU_ASSERT_EQUAL(sl_fixture_stop(&fixture, 10), 0);
}

static const sl_case cases[] = {
    SL_CASE(deadline_gives_504_while_other_lanes_answer),
    SL_CASE(without_a_lane_nothing_is_waited_for),
    SL_CASE(handler_continues_on_another_lane_with_its_state),
    SL_CASE(parked_requests_hold_no_thread_and_go_on_when_woken),
    SL_CASE(late_result_after_the_client_left_is_dropped),
    SL_CASE(request_that_expired_in_the_queue_never_runs),
    SL_CASE(only_a_change_that_began_may_have_been_made),
    SL_CASE(full_lane_is_503_with_retry_after),
    SL_CASE(lane_without_threads_is_503),
    SL_CASE(client_that_leaves_while_suspended_harms_nobody),
    SL_CASE(stop_lets_a_running_request_finish),
    SL_CASE(stop_cancels_what_outlasts_the_grace),
    SL_CASE(stop_cancels_a_parked_request_too),
    SL_CASE(crowd_gets_only_answers_that_can_be),
};

int
main(int argc, char **argv)
{
    return sl_run_cases(argc, argv, "http_lanes", cases, sizeof cases / sizeof cases[0]);
}
