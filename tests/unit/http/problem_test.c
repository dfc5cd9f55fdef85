/* Problem documents, entity tags and the small accessors of messages. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "harness.h"
#include "http/problem.h"
#include "json/reader.h"

/* Status and type of a problem made from one code. */
static void
expect_problem(sl_code code, uint32_t status, const char *type, bool retry)
{
    const sl_request request = {.id = "abc", .path = "/x"};
    sl_response response;
    sl_response_init(&response);
    sl_errors err = {.count = 0};
    (void)sl_fail(&err, code, "some_rule", "/a/b", "must be so, got %d", 7);
    sl_response_problem(&response, &request, &err);

    CU_ASSERT_EQUAL(response.status, status);
    sl_expect_text(response.content_type, "application/problem+json", type);
    assert(response.body.data != NULL);
    char wanted[128];
    (void)snprintf(wanted, sizeof wanted, "\"type\":\"%s\"", type);
    if (strstr(response.body.data, wanted) == NULL)
        sl_expect_text(response.body.data, wanted, "type of the problem");
    bool retried = false;
    for (uint32_t i = 0; i < response.header_count; i++)
        retried = retried || strcmp(response.headers[i].name, "Retry-After") == 0;
    CU_ASSERT_EQUAL(retried, retry);
    sl_response_clear(&response);
}

static void
every_code_has_its_status_and_type(void)
{
    expect_problem(SL_E_SYNTAX, 400, "/problems/malformed", false);
    expect_problem(SL_E_RANGE, 422, "/problems/validation", false);
    expect_problem(SL_E_UNSUPPORTED, 422, "/problems/unsupported", false);
    expect_problem(SL_E_NOT_FOUND, 404, "/problems/not-found", false);
    expect_problem(SL_E_FORBIDDEN, 403, "/problems/forbidden", false);
    expect_problem(SL_E_CONFLICT, 409, "/problems/conflict", false);
    expect_problem(SL_E_DOES_NOT_FIT, 409, "/problems/does-not-fit", false);
    expect_problem(SL_E_PRECONDITION, 412, "/problems/precondition-failed", false);
    expect_problem(SL_E_TOO_LARGE, 413, "/problems/too-large", false);
    expect_problem(SL_E_MEDIA_TYPE, 415, "/problems/unsupported-media-type", false);
    expect_problem(SL_E_RATE_LIMITED, 503, "/problems/rate-limited", true);
    expect_problem(SL_E_UPSTREAM, 502, "/problems/upstream", false);
    expect_problem(SL_E_TIMEOUT, 504, "/problems/timeout", false);
    expect_problem(SL_E_UNAVAILABLE, 503, "/problems/unavailable", true);
    expect_problem(SL_E_MEMORY, 503, "/problems/overloaded", true);
    expect_problem(SL_E_INTERNAL, 500, "/problems/internal", false);
}

/* Value of Retry-After of a problem made from a code whose cause said so. */
static void
expect_retry(sl_code code, uint32_t seconds, const char *expected)
{
    sl_arena *const arena = sl_arena_new(4096);
    assert(arena != NULL);
    const sl_request request = {.id = "abc", .path = "/x", .arena = arena};
    sl_response response;
    sl_response_init(&response);
    sl_errors err = {.count = 0};
    (void)sl_fail(&err, code, "some_rule", "", "must be so");
    sl_retry_after(&err, seconds);
    sl_response_problem(&response, &request, &err);
    const char *found = "none";
    for (uint32_t i = 0; i < response.header_count; i++) {
        if (strcmp(response.headers[i].name, "Retry-After") == 0)
            found = response.headers[i].value;
    }
    sl_expect_text(found, expected, "Retry-After");
    sl_response_clear(&response);
    sl_arena_free(arena);
}

static void
a_cause_that_says_when_to_try_again_is_believed(void)
{
    expect_retry(SL_E_RATE_LIMITED, 78, "78");
    expect_retry(SL_E_RATE_LIMITED, 0, "30");
    expect_retry(SL_E_UNAVAILABLE, 5, "5");
    expect_retry(SL_E_NOT_FOUND, 5, "none");
}

static void
document_lists_every_error_and_counts_the_dropped(void)
{
    const sl_request request = {.id = "request-7", .path = "/x"};
    sl_response response;
    sl_response_init(&response);
    sl_buffer_text(&response.body, "{\"half\": an answer");
    sl_errors err = {.count = 0};
    for (int i = 0; i < SL_ERRORS_MAX + 3; i++) {
        (void)sl_fail(&err, SL_E_RANGE, "not_divisible", "/parallelism/tensor",
                      "must divide the \"heads\", got %d", i);
        sl_hint(&err, "1, 2, 4");
    }
    sl_response_problem(&response, &request, &err);

    const sl_json_limits limits = {.max_bytes = 1 << 20, .max_depth = 8};
    sl_json *json = NULL;
    sl_errors faults = {.count = 0};
    CU_ASSERT_EQUAL_FATAL(
        sl_json_parse(response.body.data, response.body.size, &limits, &json, &faults), SL_OK);
    const sl_node root = sl_json_root(json);
    sl_node errors;
    sl_node last;
    const char *text = "";
    uint64_t dropped = 0;
    CU_ASSERT_TRUE(sl_node_member(&root, "errors", &errors));
    CU_ASSERT_EQUAL(sl_node_count(&errors), SL_ERRORS_MAX);
    CU_ASSERT_TRUE_FATAL(sl_node_at(&errors, SL_ERRORS_MAX - 1, &last));
    CU_ASSERT_EQUAL(sl_node_text(&last, "detail", &text, NULL, &faults), SL_OK);
    sl_expect_text(text, "must divide the \"heads\", got 15", "last error");
    CU_ASSERT_EQUAL(sl_node_text(&last, "hint", &text, NULL, &faults), SL_OK);
    sl_expect_text(text, "1, 2, 4", "hint");
    CU_ASSERT_EQUAL(sl_node_text(&root, "instance", &text, NULL, &faults), SL_OK);
    sl_expect_text(text, "request-7", "instance");
    CU_ASSERT_EQUAL(sl_node_text(&root, "detail", &text, NULL, &faults), SL_OK);
    sl_expect_text(text, "must divide the \"heads\", got 0", "detail");
    CU_ASSERT_EQUAL(sl_node_uint(&root, "dropped_errors", 0, UINT64_MAX, &dropped, NULL, &faults),
                    SL_OK);
    CU_ASSERT_EQUAL(dropped, 3);
    sl_json_free(json);
    sl_response_clear(&response);
}

static void
a_problem_carries_one_more_document(void)
{
    const sl_request request = {.id = "a", .path = "/x"};
    sl_response response;
    sl_response_init(&response);
    sl_errors err = {.count = 0};
    sl_response_header(&response, "ETag", "\"of another answer\"");
    (void)sl_fail(&err, SL_E_DOES_NOT_FIT, "does_not_fit", "", "it does not fit");
    sl_response_problem_with(&response, &request, &err, "estimate", "{\"fits\":false}");

    CU_ASSERT_EQUAL(response.status, 409);
    assert(response.body.data != NULL);
    CU_ASSERT_PTR_NOT_NULL(strstr(response.body.data, ",\"estimate\":{\"fits\":false}}"));
    for (uint32_t i = 0; i < response.header_count; i++)
        CU_ASSERT_STRING_NOT_EQUAL(response.headers[i].name, "ETag");
    sl_response_clear(&response);
}

static void
failure_without_a_reason_is_ours(void)
{
    const sl_request request = {.id = "abc", .path = "/x"};
    sl_response response;
    sl_response_init(&response);
    const sl_errors none = {.count = 0};
    sl_response_problem(&response, &request, &none);
    CU_ASSERT_EQUAL(response.status, 500);
    sl_response_clear(&response);
}

static void
tags_are_found_in_lists_and_only_whole(void)
{
    CU_ASSERT_TRUE(sl_etag_listed("\"abc\"", "\"abc\""));
    CU_ASSERT_TRUE(sl_etag_listed("W/\"abc\"", "\"abc\""));
    CU_ASSERT_TRUE(sl_etag_listed("\"x\", \"a,b\" ,W/\"abc\"", "\"abc\""));
    CU_ASSERT_TRUE(sl_etag_listed(" * ", "\"abc\""));
    CU_ASSERT_FALSE(sl_etag_listed("\"abcd\"", "\"abc\""));
    CU_ASSERT_FALSE(sl_etag_listed("abc", "\"abc\""));
    CU_ASSERT_FALSE(sl_etag_listed("\"abc", "\"abc\""));
    CU_ASSERT_FALSE(sl_etag_listed("", "\"abc\""));
}

static void
tags_of_a_list_are_taken_one_by_one(void)
{
    const char *at = " \"a\",W/\"b, c\" , \"\" , d, \"e\"";
    sl_etag tag;
    CU_ASSERT_TRUE(sl_etag_next(&at, &tag));
    CU_ASSERT_TRUE(tag.length == 3 && memcmp(tag.text, "\"a\"", 3) == 0 && !tag.weak);
    CU_ASSERT_TRUE(sl_etag_next(&at, &tag));
    CU_ASSERT_TRUE(tag.length == 6 && memcmp(tag.text, "\"b, c\"", 6) == 0 && tag.weak);
    CU_ASSERT_TRUE(sl_etag_next(&at, &tag));
    CU_ASSERT_EQUAL(tag.length, 2);
    CU_ASSERT_FALSE(sl_etag_next(&at, &tag)); /* malformed: it does not go on behind it */
    sl_expect_text(at, " , d, \"e\"", "where it stopped");
}

static void
known_tag_gives_304_for_reads_alone(void)
{
    sl_arena *const arena = sl_arena_new(1 << 16);
    sl_request request = {.method = SL_GET, .id = "a", .if_none_match = "\"v1\"", .arena = arena};
    sl_response response;
    sl_response_init(&response);
    sl_buffer_text(&response.body, "{}");
    CU_ASSERT_FALSE(sl_response_etag(&response, &request, "v2"));
    CU_ASSERT_EQUAL(response.status, 200);
    CU_ASSERT_TRUE(sl_response_etag(&response, &request, "v1"));
    CU_ASSERT_EQUAL(response.status, 304);
    CU_ASSERT_EQUAL(response.body.size, 0);
    CU_ASSERT_EQUAL(response.header_count, 1);
    sl_expect_text(response.headers[0].value, "\"v1\"", "ETag");

    response.status = 200;
    request.method = SL_PUT;
    CU_ASSERT_FALSE(sl_response_etag(&response, &request, "v1"));
    CU_ASSERT_EQUAL(response.status, 200);
    sl_response_clear(&response);
    sl_arena_free(arena);
}

static void
query_tells_absent_from_empty(void)
{
    const sl_request request = {.query = {{"dry_run", ""}, {"view", "spec"}}, .query_count = 2};
    sl_expect_text(sl_request_query(&request, "dry_run"), "", "key without value");
    sl_expect_text(sl_request_query(&request, "view"), "spec", "key with value");
    CU_ASSERT_PTR_NULL(sl_request_query(&request, "strict"));
}

static const sl_case cases[] = {
    SL_CASE(every_code_has_its_status_and_type),
    SL_CASE(a_cause_that_says_when_to_try_again_is_believed),
    SL_CASE(document_lists_every_error_and_counts_the_dropped),
    SL_CASE(a_problem_carries_one_more_document),
    SL_CASE(failure_without_a_reason_is_ours),
    SL_CASE(tags_are_found_in_lists_and_only_whole),
    SL_CASE(tags_of_a_list_are_taken_one_by_one),
    SL_CASE(known_tag_gives_304_for_reads_alone),
    SL_CASE(query_tells_absent_from_empty),
};

int
main(int argc, char **argv)
{
    return sl_run_cases(argc, argv, "problem", cases, sizeof cases / sizeof cases[0]);
}
