/* What one connection sees: framing, refusals and headers, over real sockets. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "harness.h"
#include "http_fixture.h"

/* Most claims need a server and one connection. */
static sl_fixture fixture;
static sl_client client;

static void
begin(void)
{
    sl_fixture_init(&fixture);
    sl_fixture_start(&fixture);
    client = sl_client_open(&fixture);
}

static void
end(void)
{
    sl_client_close(&client);
    CU_ASSERT_EQUAL(sl_fixture_stop(&fixture, 5), 0);
}

static void
expect_status(const sl_answer *answer, int status, const char *what)
{
    char actual[16];
    char expected[16];
    (void)sl_text_format(actual, sizeof actual, "%d", answer->status);
    (void)sl_text_format(expected, sizeof expected, "%d", status);
    sl_expect_text(actual, expected, what);
}

static void
expect_header(const sl_answer *answer, const char *name, const char *wanted)
{
    char value[256];
    (void)sl_answer_header(answer, name, value, sizeof value);
    sl_expect_text(value, wanted, name);
}

static void
expect_body_has(const sl_answer *answer, const char *part)
{
    if (answer->body == NULL || strstr(answer->body, part) == NULL)
        sl_expect_text(answer->body == NULL ? "" : answer->body, part, "part of the body");
}

/* Asks and expects a status, nothing else; the connection must still answer. */
static void
expect_ask(const char *method, const char *path, const char *headers, int status)
{
    sl_answer answer = sl_client_ask(&client, method, path, headers);
    expect_status(&answer, status, path);
    sl_answer_free(&answer);
}

static void
connection_survives_many_requests(void)
{
    begin();
    for (int i = 0; i < 3; i++)
        expect_ask("GET", "/echo", "", 200);
    expect_ask("GET", "/none", "", 404);
    expect_ask("GET", "/echo", "", 200);
    end();
}

static void
answers_carry_id_and_policy_headers(void)
{
    begin();
    sl_answer answer = sl_client_ask(&client, "GET", "/echo", "X-Request-Id: build-7.a_b\r\n");
    expect_header(&answer, "X-Request-Id", "build-7.a_b");
    expect_header(&answer, "X-Content-Type-Options", "nosniff");
    expect_header(&answer, "Referrer-Policy", "no-referrer");
    expect_header(&answer, "Cache-Control", "private, no-cache");
    expect_header(&answer, "Content-Type", "application/json");
    sl_answer_free(&answer);

    static const char *const bad[] = {"X-Request-Id: a b\r\n", "X-Request-Id: \"x\"\r\n",
                                      "X-Request-Id:\r\n", ""};
    char previous[80] = "";
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        answer = sl_client_ask(&client, "GET", "/echo", bad[i]);
        char id[80];
        CU_ASSERT_TRUE(sl_answer_header(&answer, "X-Request-Id", id, sizeof id));
        CU_ASSERT_EQUAL(strlen(id), 32);
        CU_ASSERT_STRING_NOT_EQUAL(id, previous);
        (void)sl_text_copy(previous, sizeof previous, id);
        sl_answer_free(&answer);
    }
    end();
}

static void
problems_name_the_request_and_are_not_stored(void)
{
    begin();
    sl_answer answer = sl_client_ask(&client, "GET", "/none", "X-Request-Id: r1\r\n");
    expect_status(&answer, 404, "/none");
    expect_header(&answer, "Content-Type", "application/problem+json");
    expect_header(&answer, "Cache-Control", "no-store");
    expect_body_has(&answer, "\"instance\":\"r1\"");
    expect_body_has(&answer, "\"type\":\"/problems/not-found\"");
    expect_body_has(&answer, "\"code\":\"no_such_path\"");
    sl_answer_free(&answer);
    answer = sl_client_ask(&client, "GET", "/problem", "");
    expect_status(&answer, 422, "/problem");
    expect_body_has(&answer, "\"pointer\":\"/parallelism/tensor\"");
    sl_answer_free(&answer);
    end();
}

static void
wrong_method_is_405_with_allow(void)
{
    begin();
    sl_answer answer = sl_client_ask(&client, "DELETE", "/echo", "");
    expect_status(&answer, 405, "DELETE");
    expect_header(&answer, "Allow", "GET, HEAD, POST, OPTIONS");
    expect_body_has(&answer, "/problems/method-not-allowed");
    expect_body_has(&answer, "\"code\":\"method_not_allowed\"");
    sl_answer_free(&answer);
    answer = sl_client_ask(&client, "BREW", "/things/x", "");
    expect_status(&answer, 405, "BREW");
    expect_header(&answer, "Allow", "GET, HEAD, OPTIONS");
    sl_answer_free(&answer);
    expect_ask("GET", "/echo", "", 200);
    end();
}

static void
options_lists_methods_without_a_body(void)
{
    begin();
    sl_answer answer = sl_client_ask(&client, "OPTIONS", "/echo", "");
    expect_status(&answer, 204, "OPTIONS");
    expect_header(&answer, "Allow", "GET, HEAD, POST, OPTIONS");
    expect_header(&answer, "Content-Type", "");
    sl_answer_free(&answer);
    expect_ask("OPTIONS", "/none", "", 404);
    expect_ask("GET", "/echo", "", 200);
    end();
}

static void
head_is_get_without_the_body(void)
{
    begin();
    sl_answer got = sl_client_ask(&client, "GET", "/things/abc", "");
    sl_answer head = sl_client_ask(&client, "HEAD", "/things/abc", "");
    expect_status(&head, 200, "HEAD");
    sl_expect_text(got.body, "abc", "GET body");
    expect_header(&head, "Content-Length", "3");
    expect_header(&head, "Content-Type", "text/plain");
    sl_answer_free(&got);
    sl_answer_free(&head);
    expect_ask("GET", "/echo", "", 200);
    end();
}

static void
path_and_query_are_decoded_once(void)
{
    begin();
    sl_answer answer = sl_client_ask(&client, "GET", "/things/caf%C3%A9%20%2525", "");
    sl_expect_text(answer.body, "caf\xc3\xa9 %25", "slug");
    sl_answer_free(&answer);
    answer = sl_client_ask(&client, "GET", "/echo?a=%C3%A9+x%2B%26&dry_run&b=%2525", "");
    expect_body_has(&answer, "\"a\":\"\xc3\xa9 x+&\"");
    expect_body_has(&answer, "\"dry_run\":\"\"");
    expect_body_has(&answer, "\"b\":\"%25\"");
    sl_answer_free(&answer);
    static const char *const bad[] = {"/things/%00",  "/things/%zz", "/things//x", "/things/../x",
                                      "/things/%2e.", "/echo?a=%00", "/echo?a=%f", "/echo?%ff=1"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        expect_ask("GET", bad[i], "", 400);
    expect_ask("GET", "/echo?a&b&c&d&e&f&g&h&i&j&k&l&m&n&o&dry_run", "", 200);
    answer = sl_client_ask(&client, "GET", "/echo?a&b&c&d&e&f&g&h&i&j&k&l&m&n&o&dry_run&a", "");
    expect_status(&answer, 400, "seventeen parameters");
    expect_body_has(&answer, "\"code\":\"malformed_query\"");
    sl_answer_free(&answer);
    end();
}

static void
query_that_is_not_read_is_refused_before_the_handler(void)
{
    begin();
    sl_answer answer = sl_client_ask(&client, "GET", "/echo?dryrun=true", "");
    expect_status(&answer, 422, "a misspelt parameter");
    expect_header(&answer, "Content-Type", "application/problem+json");
    expect_body_has(&answer, "\"code\":\"unknown_parameter\"");
    expect_body_has(&answer, "\"hint\":\"dry_run\"");
    sl_answer_free(&answer);
    answer = sl_client_ask(&client, "GET", "/echo?a=1&%61=2", "");
    expect_status(&answer, 422, "a parameter twice");
    expect_body_has(&answer, "\"code\":\"repeated_parameter\"");
    sl_answer_free(&answer);
    expect_ask("GET", "/hold?x", "", 422);
    CU_ASSERT_EQUAL(fixture.app.started, 0);
    expect_ask("GET", "/echo?", "", 200);
    expect_ask("GET", "/none?x", "", 404);
    expect_ask("DELETE", "/echo?x", "", 405);

    /* The body of a refused request is not taken for the next one. */
    sl_client_send(&client, "POST /echo?x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n"
                            "Content-Type: application/json\r\n\r\n{}");
    answer = sl_client_read(&client, true);
    expect_status(&answer, 422, "POST /echo?x");
    sl_answer_free(&answer);
    expect_ask("GET", "/echo", "", 200);
    end();
}

static void
body_arrives_whole_and_empty_is_empty(void)
{
    begin();
    sl_client_send(&client, "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 7\r\n"
                            "Content-Type: application/json; charset=utf-8\r\n\r\n{\"a\"");
    sl_client_send(&client, ":1}");
    sl_answer answer = sl_client_read(&client, true);
    expect_status(&answer, 200, "POST /echo");
    expect_body_has(&answer, "\"body\":\"{\\\"a\\\":1}\"");
    sl_answer_free(&answer);
    answer = sl_client_ask(&client, "POST", "/echo", "Content-Length: 0\r\n");
    expect_status(&answer, 200, "empty body");
    expect_body_has(&answer, "\"body\":\"\",\"body_size\":0");
    sl_answer_free(&answer);
    end();
}

static void
chunked_body_arrives_whole(void)
{
    begin();
    sl_client_send(&client,
                   "POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
                   "Content-Type: application/json\r\n\r\n2\r\n[1\r\n1\r\n,\r\n");
    sl_client_send(&client, "2\r\n2]\r\n0\r\n\r\n");
    sl_answer answer = sl_client_read(&client, true);
    expect_status(&answer, 200, "chunked");
    expect_body_has(&answer, "\"body\":\"[1,2]\"");
    sl_answer_free(&answer);
    expect_ask("GET", "/echo", "", 200);
    end();
}

static void
large_body_arrives_whole(void)
{
    begin();
    enum { SIZE = 3 * 1024 * 1024 };
    char *const body = malloc(SIZE);
    assert(body != NULL);
    unsigned long long sum = 0;
    for (size_t i = 0; i < SIZE; i++) {
        body[i] = (char)('a' + i % 23);
        sum += (unsigned char)body[i];
    }
    char text[128];
    (void)sl_text_format(text, sizeof text,
                         "POST /upload HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n",
                         SIZE);
    sl_client_send(&client, text);
    sl_client_send_bytes(&client, body, SIZE);
    sl_answer answer = sl_client_read(&client, true);
    (void)sl_text_format(text, sizeof text, "%d %llu", SIZE, sum);
    sl_expect_text(answer.body, text, "size and sum");
    sl_answer_free(&answer);
    free(body);
    expect_ask("GET", "/echo", "", 200);
    end();
}

static void
pipelined_requests_are_answered_in_order(void)
{
    begin();
    sl_client_send(&client,
                   "GET /things/one HTTP/1.1\r\nHost: localhost\r\n\r\n"
                   "POST /upload HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\nab"
                   "GET /none HTTP/1.1\r\nHost: localhost\r\n\r\n"
                   "GET /things/two HTTP/1.1\r\nHost: localhost\r\n\r\n");
    static const char *const bodies[] = {"one", "2 195", NULL, "two"};
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        sl_answer answer = sl_client_read(&client, true);
        expect_status(&answer, bodies[i] == NULL ? 404 : 200, "pipelined");
        if (bodies[i] != NULL)
            sl_expect_text(answer.body, bodies[i], "pipelined body");
        sl_answer_free(&answer);
    }
    end();
}

static void
announced_body_over_the_limit_is_refused_at_once(void)
{
    begin();
    sl_client_send(&client, "POST /echo HTTP/1.1\r\nHost: localhost\r\n"
                            "Content-Type: application/json\r\nContent-Length: 1048577\r\n\r\n");
    sl_answer answer = sl_client_read(&client, true);
    expect_status(&answer, 413, "announced");
    expect_body_has(&answer, "/problems/too-large");
    expect_body_has(&answer, "\"code\":\"body_too_large\"");
    sl_answer_free(&answer);
    CU_ASSERT_TRUE(sl_client_ended(&client));
    end();
}

/* Sends a chunked body of `count` chunks of 64 KiB. */
static void
send_chunks(const char *path, int count)
{
    static char chunk[64 * 1024];
    memset(chunk, 'x', sizeof chunk);
    char text[160];
    (void)sl_text_format(text, sizeof text,
                         "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                         "Transfer-Encoding: chunked\r\n\r\n",
                         path);
    sl_client_send(&client, text);
    for (int i = 0; i < count; i++) {
        sl_client_send(&client, "10000\r\n");
        sl_client_send_bytes(&client, chunk, sizeof chunk);
        sl_client_send(&client, "\r\n");
    }
    sl_client_send(&client, "0\r\n\r\n");
}

static void
chunked_body_over_the_limit_is_refused_at_its_end(void)
{
    begin();
    send_chunks("/echo", 17);
    sl_answer answer = sl_client_read(&client, true);
    expect_status(&answer, 413, "chunked");
    sl_answer_free(&answer);
    expect_ask("GET", "/echo", "", 200);
    send_chunks("/echo", 15);
    answer = sl_client_read(&client, true);
    expect_status(&answer, 200, "under the limit");
    sl_answer_free(&answer);
    end();
}

static void
endless_body_is_cut_off(void)
{
    begin();
    send_chunks("/echo", 200);
    sl_answer answer = sl_client_read(&client, true);
    CU_ASSERT_EQUAL(answer.status, 0);
    sl_answer_free(&answer);
    end();
}

static void
wrong_media_type_is_415_and_names_the_right_one(void)
{
    begin();
    static const char *const types[] = {"Content-Type: application/x-www-form-urlencoded\r\n", ""};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        char text[256];
        (void)sl_text_format(
            text, sizeof text,
            "POST /echo HTTP/1.1\r\nHost: localhost\r\n%sContent-Length: 2\r\n\r\n{}", types[i]);
        sl_client_send(&client, text);
        sl_answer answer = sl_client_read(&client, true);
        expect_status(&answer, 415, "media type");
        expect_header(&answer, "Accept-Post", "application/json");
        expect_body_has(&answer, "\"hint\":\"application/json\"");
        expect_body_has(&answer, "\"code\":\"media_type\"");
        sl_answer_free(&answer);
    }
    expect_ask("GET", "/echo", "", 200);
    end();
}

static void
body_where_none_is_read_is_dropped(void)
{
    begin();
    sl_client_send(&client,
                   "GET /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc");
    sl_answer answer = sl_client_read(&client, true);
    expect_status(&answer, 200, "GET with a body");
    expect_body_has(&answer, "\"body_size\":0");
    sl_answer_free(&answer);
    sl_client_send(&client,
                   "POST /none HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc");
    answer = sl_client_read(&client, true);
    expect_status(&answer, 404, "POST to nothing");
    sl_answer_free(&answer);
    expect_ask("GET", "/echo", "", 200);
    end();
}

static void
body_held_back_is_asked_for_only_when_wanted(void)
{
    begin();
    sl_client_send(&client, "POST /upload HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
                            "Content-Length: 2\r\n\r\n");
    sl_answer answer = sl_client_read(&client, true);
    expect_status(&answer, 100, "wanted");
    sl_answer_free(&answer);
    sl_client_send(&client, "ab");
    answer = sl_client_read(&client, true);
    expect_status(&answer, 200, "after the body");
    sl_answer_free(&answer);
    sl_client_send(&client, "POST /none HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
                            "Content-Length: 2\r\n\r\n");
    answer = sl_client_read(&client, true);
    expect_status(&answer, 404, "not wanted");
    sl_answer_free(&answer);
    end();
}

static void
http_1_1_without_a_host_is_400(void)
{
    begin();
    sl_client_send(&client, "GET /things/x HTTP/1.1\r\n\r\n");
    sl_answer answer = sl_client_read(&client, true);
    expect_status(&answer, 400, "no Host");
    expect_body_has(&answer, "\"code\":\"host_missing\"");
    sl_answer_free(&answer);
    end();
}

static void
strange_host_is_421(void)
{
    begin();
    static const struct {
        const char *host;
        int status;
    } wanted[] = {
        {"localhost:8080", 200},   {"127.0.0.1", 200},    {"[::1]:1", 200},
        {"plan.example.org", 200}, {"evil.example", 421}, {"127.0.0.1.evil.example", 421},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        char text[160];
        (void)sl_text_format(text, sizeof text, "GET /echo HTTP/1.1\r\nHost: %s\r\n\r\n",
                             wanted[i].host);
        sl_client_send(&client, text);
        sl_answer answer = sl_client_read(&client, true);
        expect_status(&answer, wanted[i].status, wanted[i].host);
        if (wanted[i].status == 421) {
            expect_body_has(&answer, "/problems/misdirected");
            expect_body_has(&answer, "\"code\":\"host_not_allowed\"");
        }
        sl_answer_free(&answer);
    }
    end();
}

/* Each on a connection of its own, which must end after the refusal. */
static void
request_with_two_meanings_is_refused_and_cut(void)
{
    static const char *const heads[] = {
        "Host: localhost\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n",
        "Host: localhost\r\nContent-Length: 2\r\nContent-Length: 3\r\n",
        "Host: localhost\r\nTransfer-Encoding: gzip, chunked\r\n",
        "Host: localhost\r\nHost: evil.example\r\n",
    };
    sl_fixture_init(&fixture);
    sl_fixture_start(&fixture);
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        client = sl_client_open(&fixture);
        char text[256];
        (void)sl_text_format(text, sizeof text,
                             "POST /upload HTTP/1.1\r\n%s\r\n0\r\n\r\nGET /none HTTP/1.1\r\n\r\n",
                             heads[i]);
        sl_client_send(&client, text);
        sl_answer answer = sl_client_read(&client, true);
        expect_status(&answer, 400, heads[i]);
        expect_body_has(&answer, "ambiguous_request");
        sl_answer_free(&answer);
        answer = sl_client_read(&client, true);
        expect_status(&answer, 0, "after the refusal");
        sl_answer_free(&answer);
        sl_client_close(&client);
    }
    CU_ASSERT_EQUAL(sl_fixture_stop(&fixture, 5), 0);
}

static void
writes_of_a_page_of_another_site_are_403(void)
{
    begin();
    static const struct {
        const char *method, *headers;
        int status;
    } wanted[] = {
        {"POST", "", 200},
        {"POST", "Origin: http://localhost:1\r\nSec-Fetch-Site: same-origin\r\n", 200},
        {"POST", "Origin: https://plan.example.org\r\n", 200},
        {"POST", "Origin: https://evil.example\r\n", 403},
        {"POST", "Origin: null\r\n", 403},
        {"POST", "Sec-Fetch-Site: cross-site\r\n", 403},
        {"BREW", "Origin: null\r\n", 403},
        {"GET", "Origin: https://evil.example\r\nSec-Fetch-Site: cross-site\r\n", 405},
        {"OPTIONS", "Origin: https://evil.example\r\n", 204},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        sl_answer answer = sl_client_ask(&client, wanted[i].method, "/upload", wanted[i].headers);
        expect_status(&answer, wanted[i].status, wanted[i].headers);
        if (wanted[i].status == 403) {
            expect_body_has(&answer, "/problems/forbidden");
            expect_body_has(&answer, "\"code\":\"origin_not_allowed\"");
        }
        sl_answer_free(&answer);
    }
    end();
}

static void
old_protocol_without_a_host_is_answered(void)
{
    begin();
    sl_client_send(&client, "GET /things/x HTTP/1.0\r\n\r\n");
    sl_answer answer = sl_client_read(&client, true);
    expect_status(&answer, 200, "HTTP/1.0");
    sl_answer_free(&answer);
    CU_ASSERT_TRUE(sl_client_ended(&client));
    end();
}

static void
taken_port_is_named(void)
{
    begin();
    sl_settings settings = fixture.settings;
    settings.listen_port = fixture.port;
    sl_server_config config = fixture.config;
    config.settings = &settings;
    sl_server *second = NULL;
    uint16_t port = 0;
    sl_errors err = {.count = 0};
    CU_ASSERT_EQUAL(sl_server_start(&config, &second, &port, &err), SL_E_CONFLICT);
    sl_expect_text(err.list[0].rule, "port_in_use", "rule");
    CU_ASSERT_PTR_NULL(second);
    expect_ask("GET", "/echo", "", 200);
    end();
}

static void
address_that_is_not_ours_is_named(void)
{
    sl_fixture_init(&fixture);
    sl_settings settings = fixture.settings;
    /* Reserved for documentation: no machine has it. */
    CU_ASSERT_TRUE(sl_text_copy(settings.listen_host, sizeof settings.listen_host, "192.0.2.1"));
    settings.listen_port = 0;
    sl_server_config config = fixture.config;
    config.settings = &settings;
    sl_server *server = NULL;
    uint16_t port = 0;
    sl_errors err = {.count = 0};
    CU_ASSERT_EQUAL(sl_server_start(&config, &server, &port, &err), SL_E_UNAVAILABLE);
    sl_expect_text(err.list[0].rule, "cannot_listen", "rule");
    CU_ASSERT_PTR_NULL(server);
}

static const sl_case cases[] = {
    SL_CASE(connection_survives_many_requests),
    SL_CASE(answers_carry_id_and_policy_headers),
    SL_CASE(problems_name_the_request_and_are_not_stored),
    SL_CASE(wrong_method_is_405_with_allow),
    SL_CASE(options_lists_methods_without_a_body),
    SL_CASE(head_is_get_without_the_body),
    SL_CASE(path_and_query_are_decoded_once),
    SL_CASE(query_that_is_not_read_is_refused_before_the_handler),
    SL_CASE(body_arrives_whole_and_empty_is_empty),
    SL_CASE(chunked_body_arrives_whole),
    SL_CASE(large_body_arrives_whole),
    SL_CASE(pipelined_requests_are_answered_in_order),
    SL_CASE(announced_body_over_the_limit_is_refused_at_once),
    SL_CASE(chunked_body_over_the_limit_is_refused_at_its_end),
    SL_CASE(endless_body_is_cut_off),
    SL_CASE(wrong_media_type_is_415_and_names_the_right_one),
    SL_CASE(body_where_none_is_read_is_dropped),
    SL_CASE(body_held_back_is_asked_for_only_when_wanted),
    SL_CASE(http_1_1_without_a_host_is_400),
    SL_CASE(strange_host_is_421),
    SL_CASE(request_with_two_meanings_is_refused_and_cut),
    SL_CASE(writes_of_a_page_of_another_site_are_403),
    SL_CASE(old_protocol_without_a_host_is_answered),
    SL_CASE(taken_port_is_named),
    SL_CASE(address_that_is_not_ours_is_named),
};

int
main(int argc, char **argv)
{
    return sl_run_cases(argc, argv, "http_server", cases, sizeof cases / sizeof cases[0]);
}
