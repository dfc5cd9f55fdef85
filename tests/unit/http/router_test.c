/* Paths, patterns and the fields of a head: what can be decided without a connection. */

#include "harness.h"
#include "http/head.h"
#include "http/query.h"
#include "http/remote.h"
#include "http/router.h"

static void
nothing(void *app, void *worker, const sl_request *request, sl_response *response)
{
    (void)app;
    (void)worker;
    (void)request;
    (void)response;
}

static const sl_route routes[] = {
    {SL_GET, "/", SL_LANE_COMPUTE, nothing, NULL, 0, 1, NULL},
    {SL_GET, "/things", SL_LANE_COMPUTE, nothing, NULL, 0, 1, NULL},
    {SL_POST, "/things:inspect", SL_LANE_COMPUTE, nothing, NULL, 0, 1, NULL},
    {SL_GET, "/things/special", SL_LANE_COMPUTE, nothing, NULL, 0, 1, NULL},
    {SL_GET, "/things/{slug}", SL_LANE_COMPUTE, nothing, NULL, 0, 1, NULL},
    {SL_PUT, "/things/{slug}", SL_LANE_COMPUTE, nothing, NULL, 0, 1, NULL},
    {SL_PATCH, "/things/{slug}", SL_LANE_COMPUTE, nothing, NULL, 0, 1, NULL},
    {SL_DELETE, "/things/{slug}", SL_LANE_COMPUTE, nothing, NULL, 0, 1, NULL},
    {SL_POST, "/things/{slug}:restore", SL_LANE_COMPUTE, nothing, NULL, 0, 1, NULL},
    {SL_GET, "/things/{slug}/revisions/{n}", SL_LANE_COMPUTE, nothing, NULL, 0, 1, NULL},
};
enum { ROUTES = sizeof routes / sizeof routes[0] };

/* What a path matches, with its parameters in `request`; the arena is the caller's. */
static sl_match
match_of(const char *raw, sl_arena *arena, sl_method method, sl_request *request)
{
    sl_errors err = {.count = 0};
    sl_path path;
    *request = (sl_request){.parameter_count = 0};
    CU_ASSERT_EQUAL_FATAL(sl_path_parse(raw, arena, &path, &err), SL_OK);
    const sl_match match = sl_router_match(routes, ROUTES, &path);
    if (match.routes[method] != NULL)
        CU_ASSERT_TRUE(sl_router_parameters(match.routes[method], &path, arena, request));
    return match;
}

static void
expect_pattern(const char *raw, sl_method method, const char *pattern)
{
    sl_arena *const arena = sl_arena_new(1 << 20);
    sl_request request;
    const sl_match match = match_of(raw, arena, method, &request);
    const sl_route *const route = match.routes[method];
    sl_expect_text(route == NULL ? "none" : route->pattern, pattern, raw);
    sl_arena_free(arena);
}

static void
literal_wins_over_suffix_and_suffix_over_name(void)
{
    expect_pattern("/", SL_GET, "/");
    expect_pattern("/things", SL_GET, "/things");
    expect_pattern("/things:inspect", SL_POST, "/things:inspect");
    expect_pattern("/things/special", SL_GET, "/things/special");
    expect_pattern("/things/other", SL_GET, "/things/{slug}");
    expect_pattern("/things/x:restore", SL_POST, "/things/{slug}:restore");
    expect_pattern("/things/x/revisions/3", SL_GET, "/things/{slug}/revisions/{n}");
}

static void
more_specific_pattern_hides_methods_of_the_other(void)
{
    expect_pattern("/things/x:restore", SL_GET, "none");
    expect_pattern("/things/special", SL_PUT, "none");
}

static void
path_must_match_to_its_end(void)
{
    expect_pattern("/things/", SL_GET, "none");
    expect_pattern("/things/x/", SL_GET, "none");
    expect_pattern("/things/x/revisions", SL_GET, "none");
    expect_pattern("/things/x/revisions/3/more", SL_GET, "none");
    expect_pattern("/thing", SL_GET, "none");
    expect_pattern("/thingss", SL_GET, "none");
    expect_pattern("/things/:restore", SL_POST, "none");
}

static void
parameters_are_decoded_once_and_lose_their_suffix(void)
{
    sl_arena *const arena = sl_arena_new(1 << 20);
    sl_request request;
    (void)match_of("/things/a%20b%2Fc%2525/revisions/7", arena, SL_GET, &request);
    CU_ASSERT_EQUAL(request.parameter_count, 2);
    sl_expect_text(sl_request_parameter(&request, "slug"), "a b/c%25", "slug");
    sl_expect_text(sl_request_parameter(&request, "n"), "7", "n");
    sl_expect_text(sl_request_parameter(&request, "missing"), "", "missing");
    (void)match_of("/things/prod-eu:restore", arena, SL_POST, &request);
    sl_expect_text(sl_request_parameter(&request, "slug"), "prod-eu", "slug of a verb");
    sl_arena_free(arena);
}

static void
allow_names_every_method_of_the_path(void)
{
    sl_arena *const arena = sl_arena_new(1 << 20);
    sl_request request;
    char allow[SL_ALLOW_TEXT_SIZE];
    sl_match match = match_of("/things/x", arena, SL_GET, &request);
    sl_router_allow(&match, allow);
    sl_expect_text(allow, "GET, HEAD, PUT, PATCH, DELETE, OPTIONS", "Allow");
    match = match_of("/things:inspect", arena, SL_POST, &request);
    sl_router_allow(&match, allow);
    sl_expect_text(allow, "POST, OPTIONS", "Allow");
    sl_arena_free(arena);
}

static void
head_is_a_get_and_unknown_methods_are_none(void)
{
    bool head = false;
    CU_ASSERT_EQUAL(sl_method_parse("HEAD", &head), SL_GET);
    CU_ASSERT_TRUE(head);
    CU_ASSERT_EQUAL(sl_method_parse("DELETE", &head), SL_DELETE);
    CU_ASSERT_FALSE(head);
    CU_ASSERT_EQUAL(sl_method_parse("PATCH", &head), SL_PATCH);
    CU_ASSERT_EQUAL(sl_method_parse("BREW", &head), SL_METHOD_COUNT);
    CU_ASSERT_EQUAL(sl_method_parse("get", &head), SL_METHOD_COUNT);
}

static void
malformed_paths_are_refused(void)
{
    static const char *const raw[] = {
        "",
        "things",
        "*",
        "http://x/",
        "//",
        "/a//b",
        "/a//",
        "/.",
        "/a/..",
        "/a/%2e%2E/b",
        "/a%00b",
        "/%",
        "/%4",
        "/%zz",
        "/%0a",
        "/a%7f",
        "/%ff",
        "/%c0%af",
        "/%ed%a0%80",
        "/\x01",
        "/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17",
        "/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/",
    };
    for (size_t i = 0; i < sizeof raw / sizeof raw[0]; i++) {
        sl_arena *const arena = sl_arena_new(1 << 20);
        sl_errors err = {.count = 0};
        sl_path path;
        if (sl_path_parse(raw[i], arena, &path, &err) != SL_E_SYNTAX || err.count != 1)
            sl_expect_text("accepted", "refused", raw[i]);
        else
            sl_expect_text(err.list[0].rule, "malformed_path", raw[i]);
        sl_arena_free(arena);
    }
}

static void
path_text_is_the_decoded_path(void)
{
    static const char *const pairs[][2] = {
        {"/", "/"},
        {"/a/b", "/a/b"},
        {"/a/", "/a/"},
        {"/caf%C3%A9/x%2By", "/caf\xc3\xa9/x+y"},
        {"/...", "/..."},
        {"/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16", "/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        sl_arena *const arena = sl_arena_new(1 << 20);
        sl_errors err = {.count = 0};
        sl_path path = {.text = "refused"};
        CU_ASSERT_EQUAL(sl_path_parse(pairs[i][0], arena, &path, &err), SL_OK);
        sl_expect_text(path.text, pairs[i][1], pairs[i][0]);
        sl_arena_free(arena);
    }
}

static void
only_a_trusted_proxy_is_believed_about_whom_it_forwards(void)
{
    static const sl_settings settings = {.trusted_proxies = {"10.0.0.1", "2001:db8::1"},
                                         .trusted_proxy_count = 2};
    static const char *const rows[][3] = {
        /* the other end, X-Forwarded-For, who it was */
        {"10.0.0.1", "192.0.2.7", "192.0.2.7"},
        {"10.0.0.1", "203.0.113.9, 192.0.2.7", "192.0.2.7"},
        {"2001:db8::1", "2001:db8::77", "2001:db8::77"},
        {"10.0.0.1", NULL, "10.0.0.1"},
        {"10.0.0.1", "", "10.0.0.1"},
        {"10.0.0.1", "unknown", "10.0.0.1"},
        {"10.0.0.1", "192.0.2.7,", "10.0.0.1"},
        {"10.0.0.2", "192.0.2.7", "10.0.0.2"},
        {"10.0.0.10", "192.0.2.7", "10.0.0.10"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        sl_head head = {.clear = true};
        head.value[SL_FIELD_FORWARDED_FOR] = rows[i][1];
        head.times[SL_FIELD_FORWARDED_FOR] = rows[i][1] != NULL;
        sl_expect_text(sl_remote_believed(&settings, rows[i][0], &head), rows[i][2], rows[i][0]);
    }
    sl_head twice = {.clear = true};
    twice.value[SL_FIELD_FORWARDED_FOR] = "192.0.2.7";
    twice.times[SL_FIELD_FORWARDED_FOR] = 2;
    sl_expect_text(sl_remote_believed(&settings, "10.0.0.1", &twice), "10.0.0.1", "two of them");
}

static void
only_loopback_listening_and_allowed_hosts_pass(void)
{
    static const sl_settings settings = {.listen_host = "planner.internal",
                                         .allowed_hosts = {"plan.example.org", "2001:db8::1"},
                                         .allowed_host_count = 2};
    static const char *const good[] = {
        "localhost",  "LOCALHOST:8080",   "127.0.0.1:1",      "[::1]",
        "[::1]:8080", "planner.internal", "Plan.Example.Org", "[2001:db8::1]:80"};
    static const char *const bad[] = {"",
                                      "evil.example",
                                      "localhost.evil.example",
                                      "evil.localhost",
                                      "127.0.0.1.evil.example",
                                      "127.0.0.2",
                                      "[::1",
                                      "::1",
                                      "plan.example.org."};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        sl_expect_text(sl_host_allowed(&settings, good[i]) ? "allowed" : "refused", "allowed",
                       good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        sl_expect_text(sl_host_allowed(&settings, bad[i]) ? "allowed" : "refused", "refused",
                       bad[i]);
}

static void
allowed_hosts_may_be_written_as_in_a_url(void)
{
    static const sl_settings settings = {
        .listen_host = "127.0.0.1",
        .allowed_hosts = {"[2001:db8::1]", "[2001:db8::2]:8080", "plan.example.org:443"},
        .allowed_host_count = 3};
    static const char *const good[] = {"[2001:db8::1]",      "[2001:DB8::1]:80",
                                       "[2001:db8::2]",      "plan.example.org",
                                       "plan.example.org:1", "plan.example.org:443"};
    static const char *const bad[] = {"2001:db8::1",         "[2001:db8::]", "[2001:db8::10]",
                                      "plan.example.org443", "[2001:db8::1", ""};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        sl_expect_text(sl_host_allowed(&settings, good[i]) ? "allowed" : "refused", "allowed",
                       good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        sl_expect_text(sl_host_allowed(&settings, bad[i]) ? "allowed" : "refused", "refused",
                       bad[i]);
}

static void
only_pages_of_hosts_that_are_served_here_may_write(void)
{
    static const sl_settings settings = {
        .listen_host = "127.0.0.1", .allowed_hosts = {"plan.example.org"}, .allowed_host_count = 1};
    static const struct {
        const char *origin, *site, *want;
    } rows[] = {
        {NULL, NULL, "allowed"},
        {NULL, "none", "allowed"},
        {NULL, "same-origin", "allowed"},
        {NULL, "cross-site", "refused"},
        {NULL, "Cross-Site", "refused"},
        {"http://localhost:8080", NULL, "allowed"},
        {"HTTP://127.0.0.1", "same-site", "allowed"},
        {"http://[::1]:8080", "same-origin", "allowed"},
        {"https://plan.example.org", "same-origin", "allowed"}, /* TLS ends at the proxy */
        {"https://Plan.Example.org:8443", NULL, "allowed"},
        {"https://plan.example.org", "cross-site", "refused"},
        {"https://evil.example", NULL, "refused"},
        {"https://evil.example", "same-site", "refused"},
        {"http://localhost.evil.example", NULL, "refused"},
        {"http://localhost@evil.example", NULL, "refused"},
        {"http://evil.example:80/http://localhost", NULL, "refused"},
        {"null", NULL, "refused"},
        {"null", "same-origin", "refused"},
        {"", NULL, "refused"},
        {"localhost", NULL, "refused"},
        {"http://", NULL, "refused"},
        {"capacitor://localhost", NULL, "refused"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        sl_head head = {.clear = true};
        head.value[SL_FIELD_ORIGIN] = rows[i].origin;
        head.times[SL_FIELD_ORIGIN] = rows[i].origin != NULL;
        head.value[SL_FIELD_FETCH_SITE] = rows[i].site;
        sl_expect_text(sl_origin_allowed(&settings, &head) ? "allowed" : "refused", rows[i].want,
                       rows[i].origin == NULL ? "no origin" : rows[i].origin);
    }
    sl_head twice = {.clear = true};
    twice.value[SL_FIELD_ORIGIN] = "http://localhost";
    twice.times[SL_FIELD_ORIGIN] = 2;
    CU_ASSERT_FALSE(sl_origin_allowed(&settings, &twice));
}

static void
unknown_query_parameters_are_refused_with_the_nearest_known(void)
{
    static const sl_pair query[] = {
        {"dryrun", "true"}, {"view", "spec"}, {"page", "1"}, {"page", "2"}, {"", ""}};
    sl_errors err = {.count = 0};
    CU_ASSERT_EQUAL(sl_query_check("dry_run, unknown, view", query, 5, &err), SL_E_RANGE);
    CU_ASSERT_EQUAL_FATAL(err.count, 3);
    sl_expect_text(err.list[0].rule, "unknown_parameter", "rule");
    sl_expect_text(err.list[0].message, "the query parameter \"dryrun\" is not read here", "said");
    sl_expect_text(err.list[0].hint, "dry_run", "the nearest");
    sl_expect_text(err.list[1].hint, "dry_run, unknown, view", "none is near");
    sl_expect_text(err.list[2].rule, "unknown_parameter", "a nameless one");

    err.count = 0;
    CU_ASSERT_EQUAL(sl_query_check(NULL, query, 1, &err), SL_E_RANGE);
    sl_expect_text(err.list[0].hint, "", "where none is read");
    err.count = 0;
    CU_ASSERT_EQUAL(sl_query_check("view", query + 1, 1, &err), SL_OK);
    CU_ASSERT_EQUAL(sl_query_check(NULL, NULL, 0, &err), SL_OK);
    CU_ASSERT_EQUAL(err.count, 0);
}

static void
repeated_query_parameters_are_refused(void)
{
    static const sl_pair query[] = {{"view", "spec"}, {"limit", "1"}, {"view", "spec"}};
    sl_errors err = {.count = 0};
    CU_ASSERT_EQUAL(sl_query_check("limit,view", query, 3, &err), SL_E_RANGE);
    CU_ASSERT_EQUAL_FATAL(err.count, 1);
    sl_expect_text(err.list[0].rule, "repeated_parameter", "rule");
    CU_ASSERT_EQUAL(sl_query_check("limit,view", query, 2, &err), SL_OK);
}

static void
content_types_compare_without_case_and_parameters(void)
{
    CU_ASSERT_TRUE(sl_type_accepted("application/json", "application/json"));
    CU_ASSERT_TRUE(sl_type_accepted("application/json", "Application/JSON; charset=utf-8"));
    CU_ASSERT_TRUE(sl_type_accepted("text/plain, application/json", "application/json"));
    CU_ASSERT_TRUE(sl_type_accepted("*", NULL));
    CU_ASSERT_FALSE(sl_type_accepted("application/json", NULL));
    CU_ASSERT_FALSE(sl_type_accepted("application/json", ""));
    CU_ASSERT_FALSE(sl_type_accepted("application/json", "application/jsonp"));
    CU_ASSERT_FALSE(sl_type_accepted("application/json", "application/jso"));
}

static const sl_case cases[] = {
    SL_CASE(literal_wins_over_suffix_and_suffix_over_name),
    SL_CASE(more_specific_pattern_hides_methods_of_the_other),
    SL_CASE(path_must_match_to_its_end),
    SL_CASE(parameters_are_decoded_once_and_lose_their_suffix),
    SL_CASE(allow_names_every_method_of_the_path),
    SL_CASE(head_is_a_get_and_unknown_methods_are_none),
    SL_CASE(malformed_paths_are_refused),
    SL_CASE(path_text_is_the_decoded_path),
    SL_CASE(only_a_trusted_proxy_is_believed_about_whom_it_forwards),
    SL_CASE(only_loopback_listening_and_allowed_hosts_pass),
    SL_CASE(allowed_hosts_may_be_written_as_in_a_url),
    SL_CASE(only_pages_of_hosts_that_are_served_here_may_write),
    SL_CASE(unknown_query_parameters_are_refused_with_the_nearest_known),
    SL_CASE(repeated_query_parameters_are_refused),
    SL_CASE(content_types_compare_without_case_and_parameters),
};

int
main(int argc, char **argv)
{
    sl_router_check(routes, ROUTES);
    return sl_run_cases(argc, argv, "router", cases, sizeof cases / sizeof cases[0]);
}
