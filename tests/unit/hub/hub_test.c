/* The client against a stand-in on loopback: every rule, and what must never leave. */
#include <assert.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/text.h"
#include "hub_fixture.h"

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

static void
redirect(standin *from, uint16_t port, const char *more)
{
    char head[256];
    (void)sl_text_format(head, sizeof head, "302 Found\r\nLocation: http://127.0.0.1:%u/blob\r\n%s",
                         port, more);
    standin_reply(from, head, "<p>Moved.</p>");
}

static void
a_config_is_fetched_with_the_token_and_kept_by_commit(void)
{
    bench *const b = bench_new();
    standin_reply(b->server, standin_file_head, standin_config);
    sl_expect_text(bench_get(b, "refs/pr/1"), "", "fetched");
    sl_expect_text(b->file.text, standin_config, "text");
    sl_expect_text(b->file.commit, COMMIT, "commit");
    CU_ASSERT_FALSE(b->file.from_cache);
    CU_ASSERT_FALSE(b->file.stale);
    const char *const request = standin_request(b->server, 0);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(request, "GET /org/name/resolve/refs%2Fpr%2F1/config.json HTTP/1.1\r\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(request, "Authorization: Bearer " TOKEN "\r\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(request, "User-Agent: shardline/"));
    CU_ASSERT_PTR_NULL(strstr(request, "If-None-Match"));
    const char *const trace = strstr(request, "X-Amzn-Trace-Id: ");
    CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
    CU_ASSERT_EQUAL(strspn(strchr(trace, ' ') + 1, "0123456789abcdef"), 32);

    sl_expect_text(bench_get(b, COMMIT), "", "by commit");
    sl_expect_text(b->file.text, standin_config, "text by commit");
    CU_ASSERT_TRUE(b->file.from_cache);
    CU_ASSERT_FALSE(b->file.stale);
    CU_ASSERT_EQUAL(standin_requests(b->server), 1);
    bench_free(b);
}

static void
answers_become_rules_in_the_order_of_the_hub(void)
{
    static const struct {
        const char *head, *rule;
        sl_code code;
        uint32_t requests;
    } rows[] = {
        {"404 N\r\nX-Error-Code: RevisionNotFound", "revision_not_found", SL_E_NOT_FOUND, 1},
        {"401 N\r\nX-Error-Code: RevisionNotFound", "revision_not_found", SL_E_NOT_FOUND, 1},
        {"404 N\r\nX-Error-Code: EntryNotFound", "file_not_found", SL_E_NOT_FOUND, 1},
        {"401 N\r\nX-Error-Code: GatedRepo", "gated", SL_E_FORBIDDEN, 1},
        {"403 N\r\nX-Error-Code: GatedRepo", "gated", SL_E_FORBIDDEN, 1},
        {"403 N\r\nX-Error-Message: Access to this resource is disabled.", "disabled",
         SL_E_FORBIDDEN, 1},
        {"404 N\r\nX-Error-Code: RepoNotFound", "repository_not_found", SL_E_NOT_FOUND, 1},
        {"401 N\r\nX-Error-Message: Invalid username or password.", "repository_not_found",
         SL_E_NOT_FOUND, 1},
        {"401 N", "repository_not_found", SL_E_NOT_FOUND, 1},
        {"401 N\r\nX-Error-Message: Invalid credentials in Authorization header", "bad_token",
         SL_E_FORBIDDEN, 1},
        {"403 N\r\nX-Error-Message: not for you", "forbidden", SL_E_FORBIDDEN, 1},
        {"403 N\r\nX-Error-Message: echo of " TOKEN, "forbidden", SL_E_FORBIDDEN, 1},
        {"404 N", "repository_not_found", SL_E_NOT_FOUND, 1},
        {"400 N", "upstream_error", SL_E_UPSTREAM, 1},
        {"416 N", "upstream_error", SL_E_UPSTREAM, 1},
        {"408 N", "upstream_error", SL_E_UPSTREAM, 3},
        {"500 N", "upstream_error", SL_E_UPSTREAM, 3},
        {"501 N", "upstream_error", SL_E_UPSTREAM, 1},
        {"502 N", "upstream_error", SL_E_UPSTREAM, 3},
        {"503 N\r\nRetry-After: 1", "upstream_error", SL_E_UPSTREAM, 3},
        {"504 N", "upstream_error", SL_E_UPSTREAM, 3},
        {"505 N", "upstream_error", SL_E_UPSTREAM, 1},
        {"204 N", "upstream_error", SL_E_UPSTREAM, 1},
        {"302 N", "upstream_error", SL_E_UPSTREAM, 1},
        {"304 N", "not_the_hub", SL_E_UPSTREAM, 1},
        {"200 N\r\nETag: \"a\"", "not_the_hub", SL_E_UPSTREAM, 1},
        {"200 N\r\nX-Repo-Commit: " COMMIT, "not_the_hub", SL_E_UPSTREAM, 1},
        {"200 N\r\nETag: \"a\"\r\nX-Repo-Commit: main", "not_the_hub", SL_E_UPSTREAM, 1},
        {"200 N\r\nETag: \"a\"\r\nX-Repo-Commit: " COMMIT "0", "not_the_hub", SL_E_UPSTREAM, 1},
        {"429 N", "rate_limited", SL_E_RATE_LIMITED, 3},
        {"429 N\r\nRetry-After: 0", "rate_limited", SL_E_RATE_LIMITED, 3},
        {"429 N\r\nratelimit: \"api\";r=499;t=55", "rate_limited", SL_E_RATE_LIMITED, 3},
        {"429 N\r\nRetry-After: Wed, 21 Oct 2026 07:28:00 GMT", "rate_limited", SL_E_RATE_LIMITED,
         3},
        {"429 N\r\nratelimit: \"api\";r=0;t=55", "rate_limited", SL_E_RATE_LIMITED, 1},
        {"429 N\r\nratelimit: \"api\"; r=0; t=6\r\nRetry-After: 0", "rate_limited",
         SL_E_RATE_LIMITED, 1},
        {"429 N\r\nratelimit: \"api\";r=9;t=0\r\nRetry-After: 77", "rate_limited",
         SL_E_RATE_LIMITED, 1},
    };
    bench *const b = bench_new();
    for (size_t i = 0; i < COUNT(rows); i++) {
        sl_expect_text(bench_get_after(b, rows[i].head, "{}"), rows[i].rule, rows[i].head);
        CU_ASSERT_EQUAL(b->err.list[0].code, rows[i].code);
        if (standin_requests(b->server) != rows[i].requests)
            printf("%u requests: %s\n", standin_requests(b->server), rows[i].head);
        CU_ASSERT_EQUAL(standin_requests(b->server), rows[i].requests);
    }
    CU_ASSERT_PTR_NOT_NULL(strstr(b->err.list[0].hint, "77 seconds"));
    bench_free(b);
}

static void
a_gate_says_to_accept_the_terms_and_set_the_token(void)
{
    bench *const b = bench_new();
    b->settings.hub_token[0] = '\0';
    bench_restart(b);
    sl_expect_text(bench_get_after(b, "401 N\r\nX-Error-Code: GatedRepo", ""), "gated", "rule");
    CU_ASSERT_PTR_NOT_NULL(strstr(b->err.list[0].message, "org/name"));
    CU_ASSERT_PTR_NOT_NULL(strstr(b->err.list[0].hint, "accept the terms"));
    CU_ASSERT_PTR_NOT_NULL(strstr(b->err.list[0].hint, "HF_TOKEN"));
    CU_ASSERT_PTR_NULL(strstr(standin_request(b->server, 0), "Authorization"));
    bench_free(b);
}

static void
faults_of_a_moment_are_retried(void)
{
    bench *const b = bench_new();
    standin_reply(b->server, "503 N", "");
    standin_reset(b->server);
    standin_reply(b->server, standin_file_head, standin_config);
    sl_expect_text(bench_get(b, "main"), "", "third try");
    CU_ASSERT_EQUAL(standin_requests(b->server), 3);

    standin_forget(b->server);
    standin_reply(b->server, "429 N\r\nratelimit: \"api\";r=0;t=0", "");
    standin_reply(b->server, standin_file_head, standin_config);
    sl_expect_text(bench_get(b, "other"), "", "after the wait asked for");
    CU_ASSERT_EQUAL(standin_requests(b->server), 2);

    standin_forget(b->server);
    standin_reset(b->server);
    sl_expect_text(bench_get(b, "third"), "connection_failed", "reset");
    CU_ASSERT_EQUAL(standin_requests(b->server), 3);
    bench_free(b);
}

static void
the_budget_ends_the_tries(void)
{
    bench *const b = bench_new();
    b->hub->limits.budget_s = 10.0;
    b->hub->limits.backoff_s = b->hub->limits.backoff_max_s = 11.0;
    sl_expect_text(bench_get_after(b, "500 N", ""), "upstream_error", "no time for a second try");
    CU_ASSERT_EQUAL(standin_requests(b->server), 1);
    bench_free(b);
}

static void
the_token_does_not_reach_another_port(void)
{
    bench *const b = bench_new();
    redirect(b->server, standin_port(b->other),
             "X-Repo-Commit: " COMMIT "\r\nX-Linked-Etag: \"linked\"");
    standin_reply(b->other,
                  "200 OK\r\nETag: \"content\"\r\nX-Repo-Commit: main\r\nContent-Length: 23",
                  standin_config);
    sl_expect_text(bench_get(b, "main"), "", "fetched");
    sl_expect_text(b->file.text, standin_config, "text of the last answer only");
    sl_expect_text(b->file.commit, COMMIT, "commit of the first host");
    CU_ASSERT_PTR_NOT_NULL(strstr(standin_request(b->server, 0), "Bearer " TOKEN));
    CU_ASSERT_PTR_NOT_NULL(strstr(standin_request(b->other, 0), "GET /blob HTTP/1.1"));
    CU_ASSERT_PTR_NULL(strstr(standin_request(b->other, 0), TOKEN));

    /* The content host compares its own tag. */
    standin_forget(b->other);
    standin_reply(b->other, "304 Not Modified", "");
    sl_expect_text(bench_get(b, "main"), "", "revalidated");
    CU_ASSERT_TRUE(b->file.from_cache);
    CU_ASSERT_PTR_NOT_NULL(strstr(standin_request(b->other, 0), "If-None-Match: \"content\"\r\n"));
    CU_ASSERT_PTR_NULL(strstr(standin_request(b->other, 0), TOKEN));
    bench_free(b);
}

static void
a_renamed_repository_is_followed_with_the_token(void)
{
    bench *const b = bench_new();
    standin_reply(b->server, "307 Moved\r\nLocation: /new/name/resolve/main/config.json", "");
    standin_reply(b->server, "307 Moved\r\nLocation: https://huggingface.co/newer/name", "");
    standin_reply(b->server, standin_file_head, standin_config);
    sl_expect_text(bench_get(b, "main"), "", "fetched");
    CU_ASSERT_PTR_NOT_NULL(strstr(standin_request(b->server, 1), "GET /new/name/resolve/main/"));
    CU_ASSERT_PTR_NOT_NULL(strstr(standin_request(b->server, 1), "Bearer " TOKEN));
    /* An address of the official Hub is meant for the endpoint in its place. */
    CU_ASSERT_PTR_NOT_NULL(strstr(standin_request(b->server, 2), "GET /newer/name HTTP/1.1"));
    bench_free(b);
}

static void
redirects_end_after_five(void)
{
    bench *const b = bench_new();
    sl_expect_text(bench_get_after(b, "302 Found\r\nLocation: /again", ""), "too_many_redirects",
                   "loop");
    CU_ASSERT_EQUAL(standin_requests(b->server), 6);
    bench_free(b);
}

static void
another_commit_than_was_asked_for_is_refused(void)
{
    static const char other[] = "89abcdef0123456789abcdef0123456789abcdef";
    static const char upper[] = "0123456789ABCDEF0123456789ABCDEF01234567";
    bench *const b = bench_new();
    standin_reply(b->server, standin_file_head, standin_config);
    sl_expect_text(bench_get(b, other), "not_the_hub", "another");
    sl_expect_text(bench_get(b, upper), "", "the same in capitals");
    sl_expect_text(b->file.commit, COMMIT, "as the Hub writes it");
    bench_free(b);
}

static void
a_content_host_gives_no_verdict_on_the_repository(void)
{
    bench *const b = bench_new();
    redirect(b->server, standin_port(b->other), "X-Repo-Commit: " COMMIT);
    standin_reply(b->other, "403 N\r\nX-Error-Code: GatedRepo", "");
    sl_expect_text(bench_get(b, "main"), "upstream_error", "worn-out signature");
    bench_free(b);
}

static void
answers_may_not_lead_into_our_network(void)
{
    bench *const b = bench_new();
    static const char *const targets[] = {
        "http://169.254.169.254/latest/meta-data/", "https://10.0.0.1/",    "http://cdn.example/",
        "https://user:pass@cdn.example/",           "file:///etc/hostname", "https://cdn.example/"};
    /* The last one is a name that resolves to a private address. */
    struct curl_slist *const names = curl_slist_append(NULL, "cdn.example:443:10.0.0.1");
    CU_ASSERT_EQUAL(curl_easy_setopt(b->worker->handle, CURLOPT_RESOLVE, names), CURLE_OK);
    for (size_t i = 0; i < COUNT(targets); i++) {
        char head[128];
        (void)sl_text_format(head, sizeof head, "302 Found\r\nLocation: %s", targets[i]);
        sl_expect_text(bench_get_after(b, head, ""), "address_refused", targets[i]);
        CU_ASSERT_EQUAL(standin_requests(b->server), 1);
    }
    curl_slist_free_all(names);
    bench_free(b);
}

static void
the_endpoint_itself_may_be_inside_our_network(void)
{
    bench *const b = bench_new();
    (void)sl_text_format(b->settings.hub_endpoint, sizeof b->settings.hub_endpoint,
                         "https://mirror.example:%u", standin_port(b->server));
    bench_restart(b);
    char name[64];
    (void)sl_text_format(name, sizeof name, "mirror.example:%u:127.0.0.1", standin_port(b->server));
    struct curl_slist *const names = curl_slist_append(NULL, name);
    CU_ASSERT_EQUAL(curl_easy_setopt(b->worker->handle, CURLOPT_RESOLVE, names), CURLE_OK);
    /* The stand-in speaks no TLS: that it was reached at all is the point. */
    sl_expect_text(bench_get_after(b, standin_file_head, standin_config), "connection_failed",
                   "no TLS");
    CU_ASSERT_TRUE(standin_requests(b->server) > 0);
    curl_slist_free_all(names);
    bench_free(b);
}

/* Stands in for the resolver in libcurl too: names are found out only once the gate is open. */
static atomic_bool names_gate;
static atomic_uint names_asked, names_answered;

int
getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
            struct addrinfo **out)
{
    static const struct timespec slice = {.tv_nsec = 1000L * 1000};
    (void)name;
    (void)service;
    (void)hints;
    (void)out;
    (void)atomic_fetch_add(&names_asked, 1);
    for (int i = 0; i < 20000 && !atomic_load(&names_gate); i++)
        (void)nanosleep(&slice, NULL);
    (void)atomic_fetch_add(&names_answered, 1);
    return EAI_AGAIN;
}

static void
a_slow_resolver_holds_nobody_past_the_deadline(void)
{
    static const struct timespec slice = {.tv_nsec = 1000L * 1000};
    bench *const b = bench_new();
    (void)sl_text_copy(b->settings.hub_endpoint, sizeof b->settings.hub_endpoint,
                       "https://slow.example");
    bench_restart(b);
    b->hub->limits.connect_s = 0.1;
    b->hub->limits.transfer_s = 0.2;
    b->hub->limits.tries = 2;
    sl_hub_worker_free(b->worker);
    b->worker = sl_hub_worker_new(b->hub);
    CU_ASSERT_PTR_NOT_NULL_FATAL(b->worker);
    const double started_s = sl_clock_now_s();
    sl_expect_text(bench_get(b, "main"), "connection_failed", "no name");
    CU_ASSERT_TRUE(sl_clock_now_s() - started_s < 5.0);
    CU_ASSERT_TRUE(atomic_load(&names_asked) > 0);
    CU_ASSERT_EQUAL(atomic_load(&names_answered), 0);
    bench_free(b);
    CU_ASSERT_TRUE(sl_clock_now_s() - started_s < 5.0);

    /* The threads that were left behind end before the process does. */
    atomic_store(&names_gate, true);
    while (atomic_load(&names_answered) < atomic_load(&names_asked))
        (void)nanosleep(&slice, NULL);
    (void)nanosleep(&(struct timespec){.tv_nsec = 50L * 1000 * 1000}, NULL);
}

static void
a_damaged_body_is_neither_given_nor_kept(void)
{
    static const unsigned char half_gzip[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02,
                                              0x03, 0xab, 0x56, 0xca, 0xcd, 0x4f, 0x49, 0xcd, 0x89};
    bench *const b = bench_new();
    sl_expect_text(bench_get_after(b, FILE_HEAD "Content-Length: 99", standin_config), "truncated",
                   "length");
    CU_ASSERT_EQUAL(standin_requests(b->server), 3);
    sl_expect_text(bench_get_after(b, FILE_HEAD "Transfer-Encoding: chunked", "17\r\n{\"mod"),
                   "truncated", "chunked");
    sl_expect_text(bench_get_after(b, FILE_HEAD "X-A: b", "{\"mod"), "truncated", "unknown length");
    sl_expect_text(bench_get_after(b, FILE_HEAD "X-A: b", "<!doctype html>"), "truncated",
                   "a page");
    sl_expect_text(bench_get_after(b, FILE_HEAD "X-A: b", ""), "truncated", "empty");
    standin_forget(b->server);
    standin_reply_bytes(b->server, FILE_HEAD "Content-Encoding: gzip\r\nContent-Length: 18",
                        half_gzip, sizeof half_gzip);
    sl_expect_text(bench_get(b, "main"), "truncated", "gzip");
    sl_expect_text(bench_get_after(b, standin_file_head, standin_config), "", "healed");
    CU_ASSERT_PTR_NULL(strstr(standin_request(b->server, 0), "If-None-Match"));
    bench_free(b);
}

static void
numbers_that_only_python_writes_are_let_through(void)
{
    bench *const b = bench_new();
    sl_expect_text(bench_get_after(b, FILE_HEAD "X-A: b", "{\"a\": NaN, \"b\": -Infinity}"), "",
                   "NaN");
    bench_free(b);
}

static void
a_packed_body_is_unpacked(void)
{
    static const unsigned char gzip[] = {
        0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xab, 0x56, 0xca, 0xcd, 0x4f,
        0x49, 0xcd, 0x89, 0x2f, 0xa9, 0x2c, 0x48, 0x55, 0xb2, 0x52, 0x50, 0xca, 0xc9, 0x49, 0xcc,
        0x4d, 0x54, 0xaa, 0x05, 0x00, 0xca, 0x7b, 0x24, 0xd9, 0x17, 0x00, 0x00, 0x00};
    bench *const b = bench_new();
    standin_reply_bytes(b->server, FILE_HEAD "Content-Encoding: gzip\r\nContent-Length: 43", gzip,
                        sizeof gzip);
    sl_expect_text(bench_get(b, "main"), "", "fetched");
    sl_expect_text(b->file.text, standin_config, "text");
    CU_ASSERT_PTR_NOT_NULL(strstr(standin_request(b->server, 0), "gzip"));
    bench_free(b);
}

static void
a_body_over_one_mebibyte_is_refused(void)
{
    bench *const b = bench_new();
    const size_t size = SL_HUB_FILE_MAX_BYTES + 1;
    char *const blanks = malloc(size + 1);
    assert(blanks != NULL);
    memset(blanks, ' ', size);
    blanks[size] = '\0';
    sl_expect_text(bench_get_after(b, FILE_HEAD "Content-Length: 1048577", blanks), "too_large",
                   "known");
    CU_ASSERT_EQUAL(standin_requests(b->server), 1);
    sl_expect_text(bench_get_after(b, FILE_HEAD "X-A: b", blanks), "too_large", "unknown");

    unsigned char bomb[8192];
    const size_t packed = gzip_bomb(bomb, sizeof bomb, size);
    standin_forget(b->server);
    standin_reply_bytes(b->server, FILE_HEAD "Content-Encoding: gzip", bomb, packed);
    sl_expect_text(bench_get(b, "main"), "too_large", "unpacked");

    memcpy(blanks + size - 3, "{}", 3);
    sl_expect_text(bench_get_after(b, FILE_HEAD "X-A: b", blanks), "", "just fits");
    free(blanks);
    bench_free(b);
}

static void
a_slow_hub_ends_in_timeout(void)
{
    bench *const b = bench_new();
    b->hub->limits.transfer_s = 0.2;
    standin_hold(b->server);
    sl_expect_text(bench_get(b, "main"), "timeout", "no answer");
    CU_ASSERT_EQUAL(b->err.list[0].code, SL_E_TIMEOUT);
    CU_ASSERT_EQUAL(standin_requests(b->server), 1);
    sl_expect_text(bench_get_after(b, FILE_HEAD "Content-Length: 99", standin_config), "timeout",
                   "stalled");
    CU_ASSERT_EQUAL(standin_requests(b->server), 1);
    bench_free(b);
}

static void
a_cancelled_request_leaves_the_hub(void)
{
    bench *const b = bench_new();
    atomic_store(&b->cancelled, true);
    sl_expect_text(bench_get(b, "main"), "timeout", "before");
    CU_ASSERT_EQUAL(standin_requests(b->server), 0);

    /* The server answers nothing and waits: only the flag can end this. */
    atomic_store(&b->cancelled, false);
    standin_hold(b->server);
    standin_set_on_request(b->server, &b->cancelled);
    sl_expect_text(bench_get(b, "main"), "timeout", "during");
    CU_ASSERT_PTR_NOT_NULL(strstr(b->err.list[0].message, "the request ended before"));
    CU_ASSERT_TRUE(atomic_load(&b->cancelled));
    CU_ASSERT_EQUAL(standin_requests(b->server), 1);
    bench_free(b);
}

static void
only_the_named_proxy_is_used(void)
{
    bench *const b = bench_new();
    char proxy[64];
    (void)sl_text_format(proxy, sizeof proxy, "http://127.0.0.1:%u", standin_port(b->other));
    CU_ASSERT_EQUAL(setenv("http_proxy", proxy, 1), 0);
    CU_ASSERT_EQUAL(setenv("all_proxy", proxy, 1), 0);
    CU_ASSERT_EQUAL(setenv("no_proxy", "*", 1), 0);
    standin_reply(b->other, standin_file_head, standin_config);
    sl_expect_text(bench_get_after(b, standin_file_head, standin_config), "", "direct");
    CU_ASSERT_EQUAL(standin_requests(b->other), 0);

    (void)sl_text_copy(b->settings.hub_proxy, sizeof b->settings.hub_proxy, proxy);
    bench_restart(b);
    sl_expect_text(bench_get(b, "main"), "", "by the proxy");
    CU_ASSERT_PTR_NOT_NULL(strstr(standin_request(b->other, 0), "GET http://127.0.0.1:"));
    (void)unsetenv("http_proxy");
    (void)unsetenv("all_proxy");
    (void)unsetenv("no_proxy");
    bench_free(b);
}

static void
settings_that_would_be_unsafe_are_refused(void)
{
    static const char *const endpoints[] = {"http://huggingface.co", "https://a:b@huggingface.co",
                                            "ftp://huggingface.co",  "https://huggingface.co/?a=b",
                                            "huggingface.co",        ""};
    sl_settings settings = {0};
    sl_hub *hub = NULL;
    for (size_t i = 0; i < COUNT(endpoints); i++) {
        sl_errors err = {0};
        (void)sl_text_copy(settings.hub_endpoint, sizeof settings.hub_endpoint, endpoints[i]);
        CU_ASSERT_EQUAL(sl_hub_new(&settings, &hub, &err), SL_E_RANGE);
        sl_expect_text(err.list[0].rule, "invalid_endpoint", endpoints[i]);
    }
    sl_errors err = {0};
    (void)sl_text_copy(settings.hub_endpoint, sizeof settings.hub_endpoint,
                       "https://huggingface.co");
    (void)sl_text_copy(settings.hub_token, sizeof settings.hub_token, "hf_a\r\nX: y");
    CU_ASSERT_EQUAL(sl_hub_new(&settings, &hub, &err), SL_E_RANGE);
    sl_expect_text(err.list[0].rule, "invalid_token", "token");
    CU_ASSERT_PTR_NULL(strstr(err.list[0].message, "hf_a"));
    CU_ASSERT_PTR_NULL(hub);
}

static void
time_outs_of_the_settings_are_taken(void)
{
    bench *const b = bench_new();
    CU_ASSERT_DOUBLE_EQUAL(b->hub->limits.transfer_s, 15.0, 0);
    CU_ASSERT_DOUBLE_EQUAL(b->hub->limits.etag_s, 10.0, 0);
    b->settings.hub_download_timeout_s = 3;
    b->settings.hub_etag_timeout_s = 2;
    bench_restart(b);
    CU_ASSERT_DOUBLE_EQUAL(b->hub->limits.transfer_s, 3.0, 0);
    CU_ASSERT_DOUBLE_EQUAL(b->hub->limits.etag_s, 2.0, 0);
    bench_free(b);
}

static void
a_bad_name_asks_nobody(void)
{
    bench *const b = bench_new();
    sl_expect_text(bench_get(b, "a..b"), "invalid_revision", "revision");
    CU_ASSERT_EQUAL(b->err.list[0].code, SL_E_RANGE);
    CU_ASSERT_EQUAL(standin_requests(b->server), 0);
    bench_free(b);
}

static const sl_case cases[] = {
    SL_CASE(a_config_is_fetched_with_the_token_and_kept_by_commit),
    SL_CASE(answers_become_rules_in_the_order_of_the_hub),
    SL_CASE(a_gate_says_to_accept_the_terms_and_set_the_token),
    SL_CASE(faults_of_a_moment_are_retried),
    SL_CASE(the_budget_ends_the_tries),
    SL_CASE(the_token_does_not_reach_another_port),
    SL_CASE(a_renamed_repository_is_followed_with_the_token),
    SL_CASE(redirects_end_after_five),
    SL_CASE(another_commit_than_was_asked_for_is_refused),
    SL_CASE(a_content_host_gives_no_verdict_on_the_repository),
    SL_CASE(answers_may_not_lead_into_our_network),
    SL_CASE(the_endpoint_itself_may_be_inside_our_network),
    SL_CASE(a_slow_resolver_holds_nobody_past_the_deadline),
    SL_CASE(a_damaged_body_is_neither_given_nor_kept),
    SL_CASE(numbers_that_only_python_writes_are_let_through),
    SL_CASE(a_packed_body_is_unpacked),
    SL_CASE(a_body_over_one_mebibyte_is_refused),
    SL_CASE(a_slow_hub_ends_in_timeout),
    SL_CASE(a_cancelled_request_leaves_the_hub),
    SL_CASE(only_the_named_proxy_is_used),
    SL_CASE(settings_that_would_be_unsafe_are_refused),
    SL_CASE(time_outs_of_the_settings_are_taken),
    SL_CASE(a_bad_name_asks_nobody),
};

int
main(int argc, char **argv)
{
    return sl_run_cases(argc, argv, "hub", cases, COUNT(cases));
}
