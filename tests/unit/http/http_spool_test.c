/* Bodies too large for memory, over real sockets. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "harness.h"
#include "http_fixture.h"

static sl_fixture fixture;

static void
expect_answer(sl_client *client, int status, const char *body)
{
    sl_answer answer = sl_client_read(client, true);
    CU_ASSERT_EQUAL(answer.status, status);
    if (*body != '\0' && (answer.body == NULL || strstr(answer.body, body) == NULL))
        sl_expect_text(answer.body == NULL ? "" : answer.body, body, "part of the body");
    sl_answer_free(&answer);
}

static void
begin_upload(sl_client *client, unsigned long long size)
{
    char head[160];
    (void)sl_text_format(head, sizeof head,
                         "POST /spool HTTP/1.1\r\nHost: localhost\r\nContent-Encoding: gzip\r\n"
                         "Content-Length: %llu\r\n\r\n",
                         size);
    sl_client_send(client, head);
}

static void
large_body_arrives_whole_by_way_of_disk(void)
{
    enum { SIZE = 3 * 1024 * 1024 + 1 };
    char *const body = malloc(SIZE);
    assert(body != NULL);
    unsigned long long sum = 0;
    for (size_t i = 0; i < SIZE; i++) {
        body[i] = (char)('a' + i % 23);
        sum += (unsigned char)body[i];
    }
    sl_fixture_init(&fixture);
    sl_fixture_start(&fixture);
    sl_client client = sl_client_open(&fixture);
    char expected[64];
    (void)sl_text_format(expected, sizeof expected, "%d %llu gzip", SIZE, sum);
    for (uint32_t again = 0; again < 2; again++) {
        begin_upload(&client, SIZE);
        sl_client_send_bytes(&client, body, SIZE);
        expect_answer(&client, 200, expected);
    }
    sl_client_send(&client, "POST /spool HTTP/1.1\r\nHost: localhost\r\n"
                            "Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n");
    expect_answer(&client, 200, "3 294 ");
    sl_client_send(&client, "POST /spool HTTP/1.1\r\nHost: localhost\r\n\r\n");
    expect_answer(&client, 200, "0 0 ");
    sl_client_close(&client);
    CU_ASSERT_EQUAL(sl_fixture_stop(&fixture, 5), 0);
    free(body);
}

static void
body_over_its_limit_is_refused_from_its_head(void)
{
    sl_fixture_init(&fixture);
    sl_fixture_start(&fixture);
    sl_client client = sl_client_open(&fixture);
    begin_upload(&client, (unsigned long long)SL_FIXTURE_SPOOL_MAX + 1);
    expect_answer(&client, 413, "body_too_large");
    sl_client_close(&client);
    CU_ASSERT_EQUAL(sl_fixture_stop(&fixture, 5), 0);
}

static void
body_that_grows_over_its_limit_is_refused(void)
{
    enum { PART = 1024 * 1024 };
    char *const part = calloc(1, PART);
    assert(part != NULL);
    sl_fixture_init(&fixture);
    sl_fixture_start(&fixture);
    sl_client client = sl_client_open(&fixture);
    sl_client_send(&client, "POST /spool HTTP/1.1\r\nHost: localhost\r\n"
                            "Transfer-Encoding: chunked\r\n\r\n");
    for (uint32_t i = 0; i <= SL_FIXTURE_SPOOL_MAX / PART; i++) {
        sl_client_send(&client, "100000\r\n");
        sl_client_send_bytes(&client, part, PART);
        sl_client_send(&client, "\r\n");
    }
    sl_client_send(&client, "0\r\n\r\n");
    expect_answer(&client, 413, "body_too_large");
    sl_client_close(&client);
    CU_ASSERT_EQUAL(sl_fixture_stop(&fixture, 5), 0);
    free(part);
}

static void
only_so_many_are_read_at_once(void)
{
    sl_client waiting[SL_SPOOLS_MAX];
    sl_fixture_init(&fixture);
    sl_fixture_start(&fixture);
    for (uint32_t i = 0; i < SL_SPOOLS_MAX; i++) {
        waiting[i] = sl_client_open(&fixture);
        sl_client_send(&waiting[i], "POST /spool HTTP/1.1\r\nHost: localhost\r\n"
                                    "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n");
        expect_answer(&waiting[i], 100, "");
        sl_client_send(&waiting[i], "a");
    }
    sl_client late = sl_client_open(&fixture);
    begin_upload(&late, 1);
    sl_client_send(&late, "a");
    expect_answer(&late, 503, "large bodies are being read");
    sl_client_close(&late);
    for (uint32_t i = 0; i < SL_SPOOLS_MAX; i++) {
        sl_client_send(&waiting[i], "b");
        expect_answer(&waiting[i], 200, "2 195 ");
        sl_client_close(&waiting[i]);
    }
    CU_ASSERT_EQUAL(sl_fixture_stop(&fixture, 5), 0);
}

static void
without_a_place_on_disk_the_answer_is_503(void)
{
    sl_fixture_init(&fixture);
    (void)sl_text_copy(fixture.settings.cache_dir, sizeof fixture.settings.cache_dir,
                       "/proc/nowhere");
    sl_fixture_start(&fixture);
    sl_client client = sl_client_open(&fixture);
    begin_upload(&client, 1);
    sl_client_send(&client, "a");
    expect_answer(&client, 503, "SHARDLINE_CACHE_DIR");
    sl_client_close(&client);
    CU_ASSERT_EQUAL(sl_fixture_stop(&fixture, 5), 0);
}

static const sl_case cases[] = {
    SL_CASE(large_body_arrives_whole_by_way_of_disk),
    SL_CASE(body_over_its_limit_is_refused_from_its_head),
    SL_CASE(body_that_grows_over_its_limit_is_refused),
    SL_CASE(only_so_many_are_read_at_once),
    SL_CASE(without_a_place_on_disk_the_answer_is_503),
};

int
main(int argc, char **argv)
{
    return sl_run_cases(argc, argv, "http_spool", cases, sizeof cases / sizeof cases[0]);
}
