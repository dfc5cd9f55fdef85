/* The dashboard's files as a browser gets them. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "harness.h"
#include "http/accept.h"
#include "http/static.h"
#include "http_fixture.h"

#define PAGE "<!doctype html><title>planner</title>"
#define SCRIPT "export const answer = 42;"
#define PACKED "stands for the gzip bytes"

static void
start_with_files(sl_fixture *fixture)
{
    sl_fixture_init(fixture);
    sl_fixture_file(fixture, "index.html", PAGE);
    sl_fixture_file(fixture, "assets/app-1A2B3C4D.js", SCRIPT);
    sl_fixture_file(fixture, "assets/app-1A2B3C4D.js.gz", PACKED);
    sl_fixture_file(fixture, "assets/plain.css", "a{}");
    sl_fixture_file(fixture, ".hidden", "secret");
    sl_fixture_start(fixture);
}

static void
expect_header(const sl_answer *answer, const char *name, const char *wanted)
{
    char value[512];
    (void)sl_answer_header(answer, name, value, sizeof value);
    sl_expect_text(value, wanted, name);
}

static void
page_carries_the_policies_and_is_asked_for_again(void)
{
    sl_fixture fixture;
    start_with_files(&fixture);
    sl_client client = sl_client_open(&fixture);
    sl_answer answer = sl_client_ask(&client, "GET", "/", "");
    CU_ASSERT_EQUAL(answer.status, 200);
    sl_expect_text(answer.body, PAGE, "page");
    expect_header(&answer, "Content-Type", "text/html; charset=utf-8");
    expect_header(&answer, "Cache-Control", "no-cache");
    expect_header(&answer, "X-Content-Type-Options", "nosniff");
    expect_header(&answer, "Referrer-Policy", "no-referrer");
    expect_header(&answer, "Vary", "");
    char policy[512];
    CU_ASSERT_TRUE(sl_answer_header(&answer, "Content-Security-Policy", policy, sizeof policy));
    CU_ASSERT_PTR_NOT_NULL(strstr(policy, "default-src 'none'"));
    CU_ASSERT_PTR_NOT_NULL(strstr(policy, "frame-ancestors 'none'"));
    CU_ASSERT_PTR_NULL(strstr(policy, "unsafe"));
    CU_ASSERT_TRUE(sl_answer_header(&answer, "Cross-Origin-Opener-Policy", policy, sizeof policy));
    sl_answer_free(&answer);

    answer = sl_client_ask(&client, "GET", "/index.html", "");
    CU_ASSERT_EQUAL(answer.status, 200);
    sl_answer_free(&answer);
    sl_client_close(&client);
    CU_ASSERT_EQUAL(sl_fixture_stop(&fixture, 5), 0);
}

static void
query_of_a_file_is_ignored(void)
{
    sl_fixture fixture;
    start_with_files(&fixture);
    sl_client client = sl_client_open(&fixture);
    sl_answer answer = sl_client_ask(&client, "GET", "/?model=a&model=b&other", "");
    CU_ASSERT_EQUAL(answer.status, 200);
    sl_expect_text(answer.body, PAGE, "page");
    sl_answer_free(&answer);
    sl_client_close(&client);
    CU_ASSERT_EQUAL(sl_fixture_stop(&fixture, 5), 0);
}

static void
hashed_names_are_immutable_and_others_are_not(void)
{
    sl_fixture fixture;
    start_with_files(&fixture);
    sl_client client = sl_client_open(&fixture);
    sl_answer answer = sl_client_ask(&client, "GET", "/assets/app-1A2B3C4D.js", "");
    CU_ASSERT_EQUAL(answer.status, 200);
    expect_header(&answer, "Cache-Control", "public, max-age=31536000, immutable");
    expect_header(&answer, "Content-Type", "text/javascript; charset=utf-8");
    expect_header(&answer, "Vary", "Accept-Encoding");
    expect_header(&answer, "Content-Encoding", "");
    sl_expect_text(answer.body, SCRIPT, "script");
    sl_answer_free(&answer);

    answer = sl_client_ask(&client, "GET", "/assets/plain.css", "");
    expect_header(&answer, "Cache-Control", "no-cache");
    expect_header(&answer, "Content-Type", "text/css; charset=utf-8");
    sl_answer_free(&answer);
    sl_client_close(&client);
    CU_ASSERT_EQUAL(sl_fixture_stop(&fixture, 5), 0);
}

static void
twin_is_sent_to_who_takes_gzip_under_its_own_tag(void)
{
    sl_fixture fixture;
    start_with_files(&fixture);
    sl_client client = sl_client_open(&fixture);
    sl_answer plain = sl_client_ask(&client, "GET", "/assets/app-1A2B3C4D.js",
                                    "Accept-Encoding: br, gzip;q=0\r\n");
    sl_answer packed =
        sl_client_ask(&client, "GET", "/assets/app-1A2B3C4D.js", "Accept-Encoding: br, gzip\r\n");
    sl_expect_text(plain.body, SCRIPT, "plain body");
    sl_expect_text(packed.body, PACKED, "packed body");
    expect_header(&packed, "Content-Encoding", "gzip");
    expect_header(&packed, "Content-Type", "text/javascript; charset=utf-8");
    expect_header(&packed, "Vary", "Accept-Encoding");
    char first[64];
    char second[64];
    CU_ASSERT_TRUE(sl_answer_header(&plain, "ETag", first, sizeof first));
    CU_ASSERT_TRUE(sl_answer_header(&packed, "ETag", second, sizeof second));
    CU_ASSERT_STRING_NOT_EQUAL(first, second);
    CU_ASSERT_EQUAL(first[0], '"');
    sl_answer_free(&plain);
    sl_answer_free(&packed);
    sl_client_close(&client);
    CU_ASSERT_EQUAL(sl_fixture_stop(&fixture, 5), 0);
}

static void
known_tag_gives_304_with_its_headers_and_no_body(void)
{
    sl_fixture fixture;
    start_with_files(&fixture);
    sl_client client = sl_client_open(&fixture);
    sl_answer answer = sl_client_ask(&client, "GET", "/assets/app-1A2B3C4D.js", "");
    char tag[64];
    char header[128];
    CU_ASSERT_TRUE(sl_answer_header(&answer, "ETag", tag, sizeof tag));
    sl_answer_free(&answer);

    (void)sl_text_format(header, sizeof header, "If-None-Match: \"other\", W/%s\r\n", tag);
    answer = sl_client_ask(&client, "GET", "/assets/app-1A2B3C4D.js", header);
    CU_ASSERT_EQUAL(answer.status, 304);
    expect_header(&answer, "ETag", tag);
    expect_header(&answer, "Cache-Control", "public, max-age=31536000, immutable");
    sl_answer_free(&answer);

    /* A list may come in several lines, with others between and names in any case. */
    (void)sl_text_format(header, sizeof header,
                         "If-None-Match: \"other\"\r\nAccept: */*\r\nif-none-match: %s\r\n", tag);
    answer = sl_client_ask(&client, "GET", "/assets/app-1A2B3C4D.js", header);
    CU_ASSERT_EQUAL(answer.status, 304);
    sl_answer_free(&answer);

    answer =
        sl_client_ask(&client, "GET", "/assets/app-1A2B3C4D.js", "If-None-Match: \"other\"\r\n");
    CU_ASSERT_EQUAL(answer.status, 200);
    sl_answer_free(&answer);
    sl_client_close(&client);
    CU_ASSERT_EQUAL(sl_fixture_stop(&fixture, 5), 0);
}

static void
head_tells_the_length_and_other_methods_are_refused(void)
{
    sl_fixture fixture;
    start_with_files(&fixture);
    sl_client client = sl_client_open(&fixture);
    sl_answer answer = sl_client_ask(&client, "HEAD", "/", "");
    CU_ASSERT_EQUAL(answer.status, 200);
    char wanted[16];
    (void)sl_text_format(wanted, sizeof wanted, "%zu", strlen(PAGE));
    expect_header(&answer, "Content-Length", wanted);
    sl_answer_free(&answer);

    answer = sl_client_ask(&client, "DELETE", "/index.html", "");
    CU_ASSERT_EQUAL(answer.status, 405);
    expect_header(&answer, "Allow", "GET, HEAD, OPTIONS");
    sl_answer_free(&answer);
    answer = sl_client_ask(&client, "OPTIONS", "/index.html", "");
    CU_ASSERT_EQUAL(answer.status, 204);
    expect_header(&answer, "Allow", "GET, HEAD, OPTIONS");
    sl_answer_free(&answer);
    sl_client_close(&client);
    CU_ASSERT_EQUAL(sl_fixture_stop(&fixture, 5), 0);
}

static void
nothing_outside_the_set_can_be_named(void)
{
    sl_fixture fixture;
    start_with_files(&fixture);
    sl_client client = sl_client_open(&fixture);
    static const struct {
        const char *path;
        int status;
    } wanted[] = {
        {"/.hidden", 404},           {"/assets", 404},
        {"/assets/", 404},           {"/../etc/passwd", 400},
        {"/%2e%2e/etc/passwd", 400}, {"/..%2fetc%2fpasswd", 404},
        {"/missing.js", 404},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        sl_answer answer = sl_client_ask(&client, "GET", wanted[i].path, "");
        if (answer.status != wanted[i].status)
            sl_expect_text("another status", "its status", wanted[i].path);
        sl_answer_free(&answer);
    }
    sl_client_close(&client);
    CU_ASSERT_EQUAL(sl_fixture_stop(&fixture, 5), 0);
}

static void
missing_dashboard_says_so_and_the_api_answers(void)
{
    sl_fixture fixture;
    sl_fixture_init(&fixture);
    sl_fixture_start(&fixture);
    sl_client client = sl_client_open(&fixture);
    sl_answer answer = sl_client_ask(&client, "GET", "/", "");
    CU_ASSERT_EQUAL(answer.status, 404);
    expect_header(&answer, "Content-Type", "application/problem+json");
    CU_ASSERT_PTR_NOT_NULL(strstr(answer.body, "dashboard_not_built"));
    sl_answer_free(&answer);
    answer = sl_client_ask(&client, "GET", "/echo", "");
    CU_ASSERT_EQUAL(answer.status, 200);
    sl_answer_free(&answer);
    sl_client_close(&client);
    CU_ASSERT_EQUAL(sl_fixture_stop(&fixture, 5), 0);
}

static void
file_over_the_bound_stops_the_start(void)
{
    char folder[] = "/tmp/shardline-static-XXXXXX";
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    char path[64];
    (void)sl_text_format(path, sizeof path, "%s/huge.bin", folder);
    FILE *const file = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    CU_ASSERT_EQUAL(ftruncate(fileno(file), (off_t)9 * 1024 * 1024), 0);
    (void)fclose(file);

    sl_errors err = {.count = 0};
    sl_static *files = NULL;
    CU_ASSERT_EQUAL(sl_static_load(folder, &files, &err), SL_E_TOO_LARGE);
    CU_ASSERT_PTR_NULL(files);
    sl_expect_text(err.list[0].rule, "static_too_large", "rule");
    (void)unlink(path);
    (void)rmdir(folder);
}

static void
file_that_cannot_be_read_stops_the_start(void)
{
    char folder[] = "/tmp/shardline-static-XXXXXX";
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    char path[64];
    (void)sl_text_format(path, sizeof path, "%s/dangling.js", folder);
    CU_ASSERT_EQUAL(symlink("nowhere", path), 0);

    sl_errors err = {.count = 0};
    sl_static *files = NULL;
    CU_ASSERT_EQUAL(sl_static_load(folder, &files, &err), SL_E_UNAVAILABLE);
    CU_ASSERT_PTR_NULL(files);
    sl_expect_text(err.list[0].rule, "static_unreadable", "rule");
    (void)unlink(path);
    (void)rmdir(folder);
}

static void
accept_encoding_is_read_with_its_weights(void)
{
    CU_ASSERT_TRUE(sl_accept_gzip("gzip"));
    CU_ASSERT_TRUE(sl_accept_gzip("deflate, GZip ; q=0.001, br"));
    CU_ASSERT_TRUE(sl_accept_gzip("br;q=1.0, *;q=0.1"));
    CU_ASSERT_FALSE(sl_accept_gzip("gzip;q=0"));
    CU_ASSERT_FALSE(sl_accept_gzip("gzip; q=0.000, *"));
    CU_ASSERT_FALSE(sl_accept_gzip("*;q=0, br"));
    CU_ASSERT_FALSE(sl_accept_gzip("br, gzipped, x-gzip"));
    CU_ASSERT_FALSE(sl_accept_gzip(""));
    CU_ASSERT_FALSE(sl_accept_gzip(", ,"));
}

static void
the_type_that_weighs_most_is_chosen(void)
{
    static const char *const types[] = {"application/json", "application/gzip",
                                        "text/event-stream"};
    static const struct {
        const char *accept;
        int chosen;
    } rows[] = {
        {"", -1},
        {"*/*", -1},
        {"application/*, text/html", -1},
        {"application/gzip", 1},
        {"Application/GZip", 1},
        {"application/gzipped, application/gzi", -1},
        {"application/json, application/gzip", 0},
        {"application/gzip, application/json", 1},
        {"application/json, application/gzip;q=0", 0},
        {"application/gzip;q=0", -1},
        {"application/gzip ; Q=0.000 , */*", -1},
        {"application/json;q=0.1, application/gzip;q=0.2", 1},
        {"application/json;q=0.20, application/gzip;q=0.2", 0},
        {"application/json;q=0.999, application/gzip;q=1.000", 1},
        {"application/json;q=0.001, application/gzip;q=0.0009", 0},
        {"text/event-stream;charset=utf-8;q=0.3, application/json; q=.4", 0},
        {"application/json;charset=utf-8;q=0, text/event-stream;q=0.1", 2},
        {"application/json;q=none", -1},
        {"application/json;q=, text/event-stream;q", 2},
        {";q=1, ,application/json", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char got[16], want[16];
        (void)sl_text_format(got, sizeof got, "%d", sl_accept_choose(rows[i].accept, types, 3));
        (void)sl_text_format(want, sizeof want, "%d", rows[i].chosen);
        sl_expect_text(got, want, rows[i].accept);
    }
}

static const sl_case cases[] = {
    SL_CASE(page_carries_the_policies_and_is_asked_for_again),
    SL_CASE(query_of_a_file_is_ignored),
    SL_CASE(hashed_names_are_immutable_and_others_are_not),
    SL_CASE(twin_is_sent_to_who_takes_gzip_under_its_own_tag),
    SL_CASE(known_tag_gives_304_with_its_headers_and_no_body),
    SL_CASE(head_tells_the_length_and_other_methods_are_refused),
    SL_CASE(nothing_outside_the_set_can_be_named),
    SL_CASE(missing_dashboard_says_so_and_the_api_answers),
    SL_CASE(file_over_the_bound_stops_the_start),
    SL_CASE(file_that_cannot_be_read_stops_the_start),
    SL_CASE(accept_encoding_is_read_with_its_weights),
    SL_CASE(the_type_that_weighs_most_is_chosen),
};

int
main(int argc, char **argv)
{
    return sl_run_cases(argc, argv, "static", cases, sizeof cases / sizeof cases[0]);
}
