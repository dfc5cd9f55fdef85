/* What a scrape says: the text format, each counter, and counting by many threads at once. */
#include <assert.h>
#include <pthread.h>
#include <string.h>

#include "base/text.h"
#include "harness.h"
#include "http/exposition.h"
#include "http/metrics.h"
#include "http_fixture.h"

static void
nothing(void *app, void *worker, const sl_request *request, sl_response *response)
{
    (void)app;
    (void)worker;
    (void)request;
    (void)response;
}

static const sl_route routes[] = {
    {SL_GET, "/things/{slug}", SL_LANE_COMPUTE, nothing, NULL, 0, 1, NULL},
    {SL_PUT, "/things/{slug}", SL_LANE_COMPUTE, nothing, NULL, 0, 1, NULL},
    {SL_POST, "/things:inspect", SL_LANE_COMPUTE, nothing, NULL, 0, 1, NULL},
};
enum { ROUTES = sizeof routes / sizeof routes[0], NO_SAMPLE = -1 };

/* The value of a series, or NO_SAMPLE. */
static double
sample(const char *text, const char *series)
{
    const size_t length = strlen(series);
    double value = NO_SAMPLE;
    for (const char *at = text; at != NULL; at = strchr(at, '\n')) {
        at += *at == '\n';
        if (strncmp(at, series, length) != 0 || at[length] != ' ')
            continue;
        char number[64];
        (void)sl_text_format(number, sizeof number, "%.*s", (int)strcspn(at + length + 1, "\n"),
                             at + length + 1);
        CU_ASSERT_TRUE(sl_text_to_double(number, &value));
    }
    return value;
}

static void
expect_sample(const char *text, const char *series, double expected)
{
    sl_expect_near(sample(text, series), expected, 1e-9, series);
}

static void
values_of_labels_are_escaped_and_times_are_seconds(void)
{
    static const sl_pair labels[] = {{"a", "x\\y\"z\nw"}, {"b", ""}};
    sl_buffer out;
    sl_buffer_init(&out, 1 << 16);
    sl_exposition_family(&out, "n", "gauge", "Help.");
    sl_exposition_count(&out, "n", labels, 2, UINT64_MAX);
    sl_exposition_count(&out, "n", NULL, 0, 0);
    sl_exposition_time(&out, "n", labels + 1, 1, 12000000345);
    sl_expect_text(out.data,
                   "# HELP n Help.\n# TYPE n gauge\n"
                   "n{a=\"x\\\\y\\\"z\\nw\",b=\"\"} 18446744073709551615\n"
                   "n 0\nn{b=\"\"} 12.000000345\n",
                   "text");
    sl_buffer_clear(&out);
}

static void
requests_are_counted_by_route_method_and_code(void)
{
    sl_metrics *const metrics = sl_metrics_new(routes, ROUTES);
    assert(metrics != NULL);
    const uint32_t get = sl_method_label("GET");
    sl_metrics_count(metrics, routes[0].pattern, get, 200, 0.1);
    sl_metrics_count(metrics, routes[0].pattern, get, 200, 0.1);
    sl_metrics_count(metrics, routes[0].pattern, get, 404, 0.1);
    sl_metrics_count(metrics, routes[1].pattern, sl_method_label("PUT"), 201, 0.1);
    sl_metrics_count(metrics, NULL, sl_method_label("BREW"), 599, 0.1);
    sl_metrics_count(metrics, "static", sl_method_label("HEAD"), 0, 0.1);

    sl_buffer out;
    sl_buffer_init(&out, 1 << 16);
    sl_metrics_write(metrics, &out);
#define COUNT(route, method, code)                                                                 \
    "shardline_http_requests_total{route=\"" route "\",method=\"" method "\",code=\"" code "\"}"
    expect_sample(out.data, COUNT("/things/{slug}", "GET", "200"), 2);
    expect_sample(out.data, COUNT("/things/{slug}", "GET", "404"), 1);
    expect_sample(out.data, COUNT("/things/{slug}", "PUT", "201"), 1);
    expect_sample(out.data, COUNT("none", "other", "other"), 1);
    expect_sample(out.data, COUNT("static", "HEAD", "none"), 1);
    CU_ASSERT_PTR_NULL(strstr(out.data, "things:inspect"));
    /* Both routes of the pattern are one series. */
    expect_sample(out.data,
                  "shardline_http_request_duration_seconds_count{route=\"/things/{slug}\"}", 4);
    sl_buffer_clear(&out);
    sl_metrics_free(metrics);
}

static void
histogram_is_cumulative_and_sums_seconds(void)
{
    static const double durations_s[] = {0, 0.001, 0.0011, 0.3, 10, 11, 60};
    sl_metrics *const metrics = sl_metrics_new(routes, ROUTES);
    assert(metrics != NULL);
    double sum_s = 0;
    for (size_t i = 0; i < sizeof durations_s / sizeof durations_s[0]; i++) {
        sl_metrics_count(metrics, routes[2].pattern, 0, 200, durations_s[i]);
        sum_s += durations_s[i];
    }
    sl_buffer out;
    sl_buffer_init(&out, 1 << 16);
    sl_metrics_write(metrics, &out);
#define DURATION(part, le)                                                                         \
    "shardline_http_request_duration_seconds" part "{route=\"/things:inspect\"" le "}"
    expect_sample(out.data, DURATION("_bucket", ",le=\"0.001\""), 2);
    expect_sample(out.data, DURATION("_bucket", ",le=\"0.0025\""), 3);
    expect_sample(out.data, DURATION("_bucket", ",le=\"0.25\""), 3);
    expect_sample(out.data, DURATION("_bucket", ",le=\"0.5\""), 4);
    expect_sample(out.data, DURATION("_bucket", ",le=\"10\""), 5);
    expect_sample(out.data, DURATION("_bucket", ",le=\"+Inf\""), 7);
    expect_sample(out.data, DURATION("_count", ""), 7);
    expect_sample(out.data, DURATION("_sum", ""), sum_s);
    sl_buffer_clear(&out);
    sl_metrics_free(metrics);
}

enum { COUNTERS = 4, TIMES = 2000 };

static void *
count_main(void *argument)
{
    for (int i = 0; i < TIMES; i++)
        sl_metrics_count(argument, routes[0].pattern, 0, 200, 0.002);
    return NULL;
}

static void
counts_of_many_threads_add_up_while_they_are_read(void)
{
    sl_metrics *const metrics = sl_metrics_new(routes, ROUTES);
    assert(metrics != NULL);
    pthread_t threads[COUNTERS];
    for (int i = 0; i < COUNTERS; i++)
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, count_main, metrics), 0);
    sl_buffer out;
    sl_buffer_init(&out, 1 << 16);
    double before = 0;
    for (int i = 0; i < 50; i++) {
        sl_buffer_clear(&out);
        sl_buffer_init(&out, 1 << 16);
        sl_metrics_write(metrics, &out);
        const double seen = sample(out.data, COUNT("/things/{slug}", "GET", "200"));
        CU_ASSERT_TRUE(seen == NO_SAMPLE ? before == 0 : seen >= before);
        before = seen == NO_SAMPLE ? 0 : seen;
    }
    for (int i = 0; i < COUNTERS; i++)
        (void)pthread_join(threads[i], NULL);
    sl_buffer_clear(&out);
    sl_buffer_init(&out, 1 << 16);
    sl_metrics_write(metrics, &out);
    expect_sample(out.data, COUNT("/things/{slug}", "GET", "200"), COUNTERS * TIMES);
    expect_sample(out.data, "shardline_http_request_duration_seconds_sum{route=\"/things/{slug}\"}",
                  COUNTERS * TIMES * 0.002);
    sl_buffer_clear(&out);
    sl_metrics_free(metrics);
}

static void
ask(sl_client *client, const char *method, const char *path, int status)
{
    sl_answer answer = sl_client_ask(client, method, path, "");
    CU_ASSERT_EQUAL(answer.status, status);
    sl_answer_free(&answer);
}

static void
server_counts_what_it_answers(void)
{
    sl_fixture fixture;
    sl_fixture_init(&fixture);
    sl_fixture_file(&fixture, "index.html", "page");
    sl_fixture_start(&fixture);
    sl_client client = sl_client_open(&fixture);
    ask(&client, "GET", "/things/a", 200);
    ask(&client, "GET", "/things/b", 200);
    ask(&client, "HEAD", "/things/c", 200);
    ask(&client, "GET", "/things/c?x", 422);
    ask(&client, "DELETE", "/things/c", 405);
    ask(&client, "GET", "/", 200);
    ask(&client, "GET", "/none", 404);
    ask(&client, "BREW", "/other", 404);
    ask(&client, "GET", "/nowhere", 503);
    /* A request of this connection is counted before the next one of it begins. */
    sl_answer answer = sl_client_ask(&client, "GET", "/metrics", "");
    CU_ASSERT_EQUAL(answer.status, 200);
    expect_sample(answer.body, COUNT("/things/{slug}", "GET", "200"), 2);
    expect_sample(answer.body, COUNT("/things/{slug}", "HEAD", "200"), 1);
    expect_sample(answer.body, COUNT("/things/{slug}", "GET", "422"), 1);
    expect_sample(answer.body, COUNT("/things/{slug}", "DELETE", "405"), 1);
    expect_sample(answer.body, COUNT("static", "GET", "200"), 1);
    expect_sample(answer.body, COUNT("none", "GET", "404"), 1);
    expect_sample(answer.body, COUNT("none", "other", "404"), 1);
    expect_sample(answer.body, COUNT("/nowhere", "GET", "503"), 1);
    expect_sample(answer.body, "shardline_lane_rejected_total{lane=\"hub\"}", 1);
    expect_sample(answer.body, "shardline_lane_rejected_total{lane=\"store\"}", 0);
    expect_sample(answer.body, "shardline_http_requests_in_flight", 1);
    expect_sample(answer.body, COUNT("/metrics", "GET", "200"), NO_SAMPLE);
    CU_ASSERT_TRUE(sample(answer.body, "process_resident_memory_bytes") > 1e5);
    CU_ASSERT_TRUE(sample(answer.body, "process_start_time_seconds") > 1.6e9);
    CU_ASSERT_PTR_NULL(strstr(answer.body, "BREW"));
    sl_answer_free(&answer);
    sl_client_close(&client);
    CU_ASSERT_EQUAL(sl_fixture_stop(&fixture, 5), 0);
}

static void
depth_of_a_lane_is_what_waits_in_it(void)
{
    sl_fixture fixture;
    sl_fixture_init(&fixture);
    sl_fixture_start(&fixture);
    sl_client running = sl_client_open(&fixture);
    sl_client queued = sl_client_open(&fixture);
    sl_client client = sl_client_open(&fixture);
    sl_client_send(&running, "GET /hold HTTP/1.1\r\nHost: localhost\r\n\r\n");
    sl_fixture_await_started(&fixture, 1);
    sl_client_send(&queued, "GET /hold HTTP/1.1\r\nHost: localhost\r\n\r\n");
    double depth = 0;
    while (depth != 1) {
        sl_answer answer = sl_client_ask(&client, "GET", "/metrics", "");
        depth = sample(answer.body, "shardline_lane_depth{lane=\"store\"}");
        CU_ASSERT_TRUE_FATAL(depth == 0 || depth == 1);
        sl_answer_free(&answer);
    }
    ask(&client, "GET", "/hold", 503);
    sl_answer answer = sl_client_ask(&client, "GET", "/metrics", "");
    expect_sample(answer.body, "shardline_lane_depth{lane=\"store\"}", 1);
    expect_sample(answer.body, "shardline_lane_depth{lane=\"compute\"}", 0);
    expect_sample(answer.body, "shardline_lane_rejected_total{lane=\"store\"}", 1);
    expect_sample(answer.body, "shardline_http_requests_in_flight", 3);
    sl_answer_free(&answer);

    sl_fixture_open(&fixture);
    sl_client *const holders[] = {&running, &queued};
    for (size_t i = 0; i < sizeof holders / sizeof holders[0]; i++) {
        answer = sl_client_read(holders[i], true);
        CU_ASSERT_EQUAL(answer.status, 200);
        sl_answer_free(&answer);
        sl_client_close(holders[i]);
    }
    sl_client_close(&client);
    CU_ASSERT_EQUAL(sl_fixture_stop(&fixture, 5), 0);
}

enum { CROWD = 4, ROUNDS = 40 };

static void *
visitor_main(void *argument)
{
    sl_client client = sl_client_open(argument);
    for (int i = 0; i < ROUNDS; i++) {
        sl_answer answer = sl_client_ask(&client, "GET", i % 4 == 0 ? "/metrics" : "/things/a", "");
        sl_answer_free(&answer);
    }
    sl_client_close(&client);
    return NULL;
}

static void
crowd_is_counted_to_the_last_request(void)
{
    sl_fixture fixture;
    sl_fixture_init(&fixture);
    sl_fixture_start(&fixture);
    pthread_t threads[CROWD];
    for (int i = 0; i < CROWD; i++)
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, visitor_main, &fixture), 0);
    for (int i = 0; i < CROWD; i++)
        (void)pthread_join(threads[i], NULL);
    /* A client may read its answer just before the server has counted it. */
    sl_client client = sl_client_open(&fixture);
    double in_flight = 0;
    while (in_flight != 1) {
        sl_answer answer = sl_client_ask(&client, "GET", "/metrics", "");
        in_flight = sample(answer.body, "shardline_http_requests_in_flight");
        if (in_flight == 1)
            expect_sample(answer.body, COUNT("/things/{slug}", "GET", "200"),
                          CROWD * (ROUNDS - ROUNDS / 4));
        sl_answer_free(&answer);
    }
    sl_client_close(&client);
    CU_ASSERT_EQUAL(sl_fixture_stop(&fixture, 5), 0);
}

static const sl_case cases[] = {
    SL_CASE(values_of_labels_are_escaped_and_times_are_seconds),
    SL_CASE(requests_are_counted_by_route_method_and_code),
    SL_CASE(histogram_is_cumulative_and_sums_seconds),
    SL_CASE(counts_of_many_threads_add_up_while_they_are_read),
    SL_CASE(server_counts_what_it_answers),
    SL_CASE(depth_of_a_lane_is_what_waits_in_it),
    SL_CASE(crowd_is_counted_to_the_last_request),
};

int
main(int argc, char **argv)
{
    return sl_run_cases(argc, argv, "http_metrics", cases, sizeof cases / sizeof cases[0]);
}
