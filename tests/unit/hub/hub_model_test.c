/* A model of the Hub: fetched once for many, remembered for a while or for ever, searched for. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "hub_fixture.h"

#define COUNT(list) (sizeof(list) / sizeof(list)[0])
#define MISSING "404 N\r\nX-Error-Code: RepoNotFound"

static void
pause_ms(long ms)
{
    const struct timespec time = {.tv_nsec = ms * 1000 * 1000};
    (void)nanosleep(&time, NULL);
}

/* One request led by a thread of its own, until the stand-in has it. */
typedef struct leading {
    bench *b;
    sl_hub_ticket ticket;
    atomic_bool cancelled, asked, gate;
    atomic_uint woken;
    pthread_t thread;
} leading;

static void *
lead(void *argument)
{
    leading *const l = argument;
    const bool led = sl_hub_model_fetch(l->b->worker, &l->ticket, &l->cancelled);
    assert(led);
    return NULL;
}

static void
start_leading(leading *l, bench *b)
{
    *l = (leading){.b = b, .ticket = bench_ticket(b, "main")};
    standin_set_on_request(b->server, &l->asked);
    standin_set_gate(b->server, &l->gate);
    const int failed = pthread_create(&l->thread, NULL, lead, l);
    assert(failed == 0);
    while (!atomic_load(&l->asked))
        pause_ms(1);
}

static void
wake(void *context)
{
    (void)atomic_fetch_add((atomic_uint *)context, 1);
}

static void
many_requests_for_one_model_are_one_download(void)
{
    enum { FOLLOWERS = 20 };
    bench *const b = bench_new();
    sl_hub_worker *const other = sl_hub_worker_new(b->hub);
    sl_hub_ticket followers[FOLLOWERS];
    leading l;
    assert(other != NULL);
    bench_config_then(b, standin_config, INFO_HEAD, COUNTED);
    start_leading(&l, b);
    for (size_t i = 0; i < FOLLOWERS; i++) {
        followers[i] = bench_ticket(b, "main");
        followers[i].arena = sl_arena_new(1 << 20);
        CU_ASSERT_FALSE(sl_hub_model_fetch(other, &followers[i], &b->cancelled));
        CU_ASSERT_TRUE(sl_hub_model_wait(b->hub, &followers[i], wake, &l.woken));
    }
    atomic_store(&l.gate, true);
    (void)pthread_join(l.thread, NULL);
    CU_ASSERT_EQUAL(atomic_load(&l.woken), FOLLOWERS);
    for (size_t i = 0; i < FOLLOWERS; i++) {
        CU_ASSERT_TRUE(followers[i].done);
        CU_ASSERT_EQUAL(followers[i].code, SL_OK);
        sl_expect_text(followers[i].model.config.text, standin_config, "text");
        CU_ASSERT_PTR_NOT_EQUAL(followers[i].model.config.text, l.ticket.model.config.text);
        CU_ASSERT_EQUAL(followers[i].model.info.total, 7);
        sl_arena_free(followers[i].arena);
    }
    CU_ASSERT_EQUAL(standin_requests(b->server), 2);
    CU_ASSERT_EQUAL(sl_hub_result_count(b->hub, SL_HUB_RESULT_DOWNLOADED), 1);
    CU_ASSERT_EQUAL(sl_hub_result_count(b->hub, SL_HUB_RESULT_SHARED), FOLLOWERS);

    /* It has landed: there is nothing to wait for. */
    sl_hub_ticket late = bench_ticket(b, "main");
    CU_ASSERT_FALSE(sl_hub_model_wait(b->hub, &late, wake, &l.woken));
    sl_hub_worker_free(other);
    bench_free(b);
}

static void
a_crowd_beyond_the_bound_is_told_at_once(void)
{
    static sl_hub_ticket crowd[SL_HUB_FOLLOWERS_MAX + 1];
    bench *const b = bench_new();
    leading l;
    bench_config_then(b, standin_config, INFO_HEAD, COUNTED);
    start_leading(&l, b);
    for (size_t i = 0; i < COUNT(crowd); i++) {
        crowd[i] = bench_ticket(b, "main");
        CU_ASSERT_EQUAL(sl_hub_model_wait(b->hub, &crowd[i], wake, &l.woken),
                        i < SL_HUB_FOLLOWERS_MAX);
    }
    const sl_hub_ticket *const last = &crowd[SL_HUB_FOLLOWERS_MAX];
    CU_ASSERT_TRUE(last->done);
    CU_ASSERT_EQUAL(last->code, SL_E_UNAVAILABLE);
    sl_expect_text(last->failure.rule, "busy", "rule");
    sl_expect_text(last->failure.pointer, "/model", "pointer");
    CU_ASSERT_EQUAL(atomic_load(&l.woken), 0);
    atomic_store(&l.gate, true);
    (void)pthread_join(l.thread, NULL);
    CU_ASSERT_EQUAL(atomic_load(&l.woken), SL_HUB_FOLLOWERS_MAX);
    for (size_t i = 0; i < SL_HUB_FOLLOWERS_MAX; i++)
        CU_ASSERT_EQUAL(crowd[i].code, SL_OK);
    bench_free(b);
}

static void
a_failure_is_shared_at_the_place_each_request_names(void)
{
    bench *const b = bench_new();
    leading l;
    standin_reply(b->server, "403 N\r\nX-Error-Code: GatedRepo", "");
    start_leading(&l, b);
    sl_hub_ticket follower = bench_ticket(b, "main");
    follower.pointer = "/elsewhere";
    CU_ASSERT_TRUE(sl_hub_model_wait(b->hub, &follower, wake, &l.woken));
    atomic_store(&l.gate, true);
    (void)pthread_join(l.thread, NULL);
    CU_ASSERT_TRUE(follower.done);
    sl_expect_text(follower.failure.rule, "gated", "rule");
    sl_expect_text(follower.failure.pointer, "/elsewhere", "pointer");
    sl_expect_text(l.ticket.failure.pointer, "/model", "the leader's own");
    CU_ASSERT_EQUAL(standin_requests(b->server), 1);
    bench_free(b);
}

static void
who_waits_for_a_cancelled_request_is_woken_to_try_again(void)
{
    bench *const b = bench_new();
    leading l;
    standin_hold(b->server);
    start_leading(&l, b);
    sl_hub_ticket follower = bench_ticket(b, "main");
    CU_ASSERT_TRUE(sl_hub_model_wait(b->hub, &follower, wake, &l.woken));
    atomic_store(&l.cancelled, true);
    (void)pthread_join(l.thread, NULL);
    atomic_store(&l.gate, true);
    sl_expect_text(l.ticket.failure.rule, "timeout", "leader");
    CU_ASSERT_EQUAL(atomic_load(&l.woken), 1);
    CU_ASSERT_FALSE(follower.done);
    bench_free(b);
}

static void
other_revisions_and_repositories_are_other_fetches(void)
{
    bench *const b = bench_new();
    leading l;
    bench_config_then(b, standin_config, INFO_HEAD, COUNTED);
    start_leading(&l, b);
    sl_hub_ticket other = bench_ticket(b, "v2");
    CU_ASSERT_FALSE(sl_hub_model_wait(b->hub, &other, wake, &l.woken));
    other = bench_ticket(b, "main");
    other.repository = "org/names";
    CU_ASSERT_FALSE(sl_hub_model_wait(b->hub, &other, wake, &l.woken));
    atomic_store(&l.gate, true);
    (void)pthread_join(l.thread, NULL);
    bench_free(b);
}

/* What a lane does, over and over: fetch, or wait until woken. */
static void *
ask_often(void *argument)
{
    const sl_hub *const hub = argument;
    sl_hub_worker *const worker = sl_hub_worker_new(hub);
    uintptr_t good = 0;
    assert(worker != NULL);
    for (int i = 0; i < 10; i++) {
        atomic_bool cancelled = false;
        atomic_uint woken = 0;
        sl_arena *const arena = sl_arena_new(1 << 20);
        sl_hub_ticket ticket = {
            .repository = "org/name", .revision = "main", .pointer = "", .arena = arena};
        while (!ticket.done && !sl_hub_model_fetch(worker, &ticket, &cancelled)) {
            const unsigned before = atomic_load(&woken);
            if (sl_hub_model_wait(hub, &ticket, wake, &woken)) {
                while (atomic_load(&woken) == before)
                    pause_ms(1);
            }
        }
        good += ticket.code == SL_OK && sl_text_equal(ticket.model.config.text, standin_config);
        sl_arena_free(arena);
    }
    sl_hub_worker_free(worker);
    return good == 10 ? argument : NULL;
}

static void
threads_that_ask_for_one_model_all_get_it(void)
{
    bench *const b = bench_new();
    pthread_t threads[4];
    standin_reply(b->server, standin_file_head, standin_config);
    b->hub->limits.check_s = 0.0;
    for (size_t i = 0; i < COUNT(threads); i++)
        CU_ASSERT_EQUAL(pthread_create(&threads[i], NULL, ask_often, b->hub), 0);
    for (size_t i = 0; i < COUNT(threads); i++) {
        void *good = NULL;
        CU_ASSERT_EQUAL(pthread_join(threads[i], &good), 0);
        CU_ASSERT_PTR_NOT_NULL(good);
    }
    bench_free(b);
}

static void
a_commit_that_is_held_needs_nobody(void)
{
    bench *const b = bench_new();
    sl_hub_ticket ticket;
    bench_config_then(b, standin_config, INFO_HEAD, COUNTED);
    sl_expect_text(bench_fetch(b, "main", &ticket), "", "fetched");
    CU_ASSERT_EQUAL(ticket.model.info.source, SL_HUB_COUNTED_METADATA);
    sl_expect_text(ticket.model.info.gated, "false", "gated");
    CU_ASSERT_PTR_NOT_NULL(strstr(standin_request(b->server, 1),
                                  "GET /api/models/org/name/revision/" COMMIT
                                  "?expand=safetensors&expand=gated&expand=sha"));
    CU_ASSERT_PTR_NOT_NULL(strstr(standin_request(b->server, 1), "Bearer " TOKEN));

    bench_restart(b); /* what follows is from disk */
    sl_hub_ticket again = bench_ticket(b, COMMIT);
    CU_ASSERT_TRUE(sl_hub_model_recall(b->hub, &again));
    CU_ASSERT_EQUAL(again.code, SL_OK);
    CU_ASSERT_EQUAL(again.model.info.total, 7);
    CU_ASSERT_EQUAL(sl_hub_result_count(b->hub, SL_HUB_RESULT_CACHED), 1);
    again = bench_ticket(b, "main");
    CU_ASSERT_FALSE(sl_hub_model_recall(b->hub, &again));
    again = bench_ticket(b, "a..b");
    CU_ASSERT_TRUE(sl_hub_model_recall(b->hub, &again));
    sl_expect_text(again.failure.rule, "invalid_revision", "rule");

    /* A branch costs one question. */
    standin_forget(b->server);
    standin_reply(b->server, "304 N\r\nX-Repo-Commit: " COMMIT, "");
    sl_expect_text(bench_fetch(b, "main", &ticket), "", "revalidated");
    CU_ASSERT_EQUAL(standin_requests(b->server), 1);
    CU_ASSERT_EQUAL(ticket.model.info.total, 7);
    CU_ASSERT_EQUAL(sl_hub_result_count(b->hub, SL_HUB_RESULT_REVALIDATED), 1);
    bench_free(b);
}

static void
what_was_not_found_is_not_asked_for_again_so_soon(void)
{
    static const char *const heads[] = {MISSING, "401 N",
                                        "404 N\r\nX-Error-Code: RevisionNotFound"};
    for (size_t i = 0; i < COUNT(heads); i++) {
        bench *const b = bench_new();
        sl_hub_ticket ticket;
        b->hub->limits.missing_s = 60.0;
        standin_reply(b->server, heads[i], "");
        const char *const rule = bench_fetch(b, "main", &ticket);
        CU_ASSERT_EQUAL(ticket.code, SL_E_NOT_FOUND);
        ticket = bench_ticket(b, "main");
        ticket.pointer = "/other";
        CU_ASSERT_TRUE(sl_hub_model_recall(b->hub, &ticket));
        sl_expect_text(ticket.failure.rule, rule, "rule");
        sl_expect_text(ticket.failure.pointer, "/other", "pointer");
        CU_ASSERT_EQUAL(standin_requests(b->server), 1);
        /* A repository has no other revision either; a revision may have a sister. */
        ticket = bench_ticket(b, "v2");
        CU_ASSERT_EQUAL(sl_hub_model_recall(b->hub, &ticket), i < 2);
        CU_ASSERT_EQUAL(sl_hub_result_count(b->hub, SL_HUB_RESULT_NOT_FOUND), i < 2 ? 3 : 2);
        bench_free(b);
    }
}

static void
what_was_not_found_is_asked_for_after_a_while(void)
{
    bench *const b = bench_new();
    sl_hub_ticket ticket;
    b->hub->limits.missing_s = 0.02;
    standin_reply(b->server, MISSING, "");
    (void)bench_fetch(b, "main", &ticket);
    pause_ms(30);
    ticket = bench_ticket(b, "main");
    CU_ASSERT_FALSE(sl_hub_model_recall(b->hub, &ticket));
    bench_free(b);
}

static void
a_file_that_a_commit_lacks_is_remembered_for_ever(void)
{
    bench *const b = bench_new();
    sl_hub_ticket ticket;
    standin_reply(b->server, "404 N\r\nX-Error-Code: EntryNotFound\r\nX-Repo-Commit: " COMMIT, "");
    sl_expect_text(bench_fetch(b, "main", &ticket), "file_not_found", "asked");
    bench_restart(b);
    ticket = bench_ticket(b, COMMIT);
    CU_ASSERT_TRUE(sl_hub_model_recall(b->hub, &ticket));
    sl_expect_text(ticket.failure.rule, "file_not_found", "from disk");
    /* The branch may have moved. */
    ticket = bench_ticket(b, "main");
    CU_ASSERT_FALSE(sl_hub_model_recall(b->hub, &ticket));
    CU_ASSERT_EQUAL(standin_requests(b->server), 1);
    bench_free(b);
}

static void
a_silent_hub_is_left_alone_where_something_is_held(void)
{
    bench *const b = bench_new();
    sl_hub_ticket ticket;
    bench_config_then(b, standin_config, INFO_HEAD, COUNTED);
    sl_expect_text(bench_fetch(b, "main", &ticket), "", "fetched");
    b->hub->limits.silent_s = 60.0;
    standin_forget(b->server);
    standin_reset(b->server);
    sl_expect_text(bench_fetch(b, "main", &ticket), "", "stale");
    CU_ASSERT_TRUE(ticket.model.config.stale);
    CU_ASSERT_EQUAL(standin_requests(b->server), 1);

    ticket = bench_ticket(b, "main");
    CU_ASSERT_TRUE(sl_hub_model_recall(b->hub, &ticket));
    CU_ASSERT_TRUE(ticket.model.config.stale);
    CU_ASSERT_EQUAL(sl_hub_result_count(b->hub, SL_HUB_RESULT_STALE), 2);
    /* What is not held is asked for all the same, and an answer ends the silence. */
    standin_forget(b->server);
    standin_reply(b->server, MISSING, "");
    sl_expect_text(bench_fetch(b, "v2", &ticket), "repository_not_found", "asked");
    ticket = bench_ticket(b, "main");
    CU_ASSERT_FALSE(sl_hub_model_recall(b->hub, &ticket));
    bench_free(b);
}

static void
a_slow_hub_is_left_alone_as_soon_as_it_shows(void)
{
    bench *const b = bench_new();
    sl_hub_ticket ticket;
    leading l;
    bench_config_then(b, standin_config, INFO_HEAD, COUNTED);
    sl_expect_text(bench_fetch(b, "main", &ticket), "", "fetched");
    b->hub->limits.slow_s = 0.05;
    standin_forget(b->server);
    standin_reply(b->server, MISSING, "");
    start_leading(&l, b);
    ticket = bench_ticket(b, "main");
    CU_ASSERT_FALSE(sl_hub_model_recall(b->hub, &ticket));
    pause_ms(80);
    CU_ASSERT_TRUE(sl_hub_model_recall(b->hub, &ticket));
    CU_ASSERT_TRUE(ticket.model.config.stale);
    atomic_store(&l.gate, true);
    (void)pthread_join(l.thread, NULL);
    ticket = bench_ticket(b, "main");
    CU_ASSERT_FALSE(sl_hub_model_recall(b->hub, &ticket));
    bench_free(b);
}

/* True when a held revision would be asked about. */
static bool
would_ask(bench *b)
{
    sl_hub_ticket ticket = bench_ticket(b, "main");
    return !sl_hub_model_recall(b->hub, &ticket);
}

static void
a_check_that_runs_out_of_its_own_time_makes_nobody_silent(void)
{
    bench *const b = bench_new();
    sl_hub_ticket ticket;
    b->hub->limits.silent_s = 60.0;
    b->hub->limits.check_s = 0.1;
    standin_reply(b->server, FILE_HEAD "X-A: b", standin_config);
    standin_say_nothing(b->server);
    sl_expect_text(bench_fetch(b, "main", &ticket), "", "fetched");
    CU_ASSERT_FALSE(ticket.model.info.known);
    CU_ASSERT_TRUE(would_ask(b));

    /* Nor does the last of several tries, when the budget leaves it no time of its own. */
    b->hub->limits.transfer_s = 0.3;
    b->hub->limits.budget_s = 0.2;
    standin_forget(b->server);
    standin_reply(b->server, "503 N", "");
    standin_say_nothing(b->server);
    sl_expect_text(bench_fetch(b, "v2", &ticket), "timeout", "second try");
    CU_ASSERT_TRUE(would_ask(b));
    b->hub->limits.budget_s = 0.4;
    sl_expect_text(bench_fetch(b, "v3", &ticket), "timeout", "the first and only");
    CU_ASSERT_FALSE(would_ask(b));
    bench_free(b);
}

static void
redirect_to(standin *from, uint16_t port)
{
    char head[96];
    (void)sl_text_format(head, sizeof head, "302 Found\r\nLocation: http://127.0.0.1:%u/blob",
                         port);
    standin_reply(from, head, "");
}

static void
a_dead_content_host_makes_nobody_silent(void)
{
    bench *const b = bench_new();
    sl_hub_ticket ticket;
    leading l;
    b->hub->limits.silent_s = 60.0;
    b->hub->limits.slow_s = 0.05;
    bench_config_then(b, standin_config, INFO_HEAD, COUNTED);
    sl_expect_text(bench_fetch(b, "main", &ticket), "", "fetched");
    standin_forget(b->server);
    redirect_to(b->server, 1); /* nobody listens there */
    sl_expect_text(bench_fetch(b, "v2", &ticket), "connection_failed", "closed");
    CU_ASSERT_TRUE(would_ask(b));

    standin_forget(b->server);
    redirect_to(b->server, standin_port(b->other));
    standin_say_nothing(b->other);
    start_leading(&l, b);
    atomic_store(&l.gate, true);
    pause_ms(100);
    CU_ASSERT_TRUE(would_ask(b));
    atomic_store(&l.cancelled, true);
    (void)pthread_join(l.thread, NULL);
    CU_ASSERT_TRUE(would_ask(b));
    bench_free(b);
}

static void
a_held_revision_is_asked_about_once_and_briefly(void)
{
    bench *const b = bench_new();
    sl_hub_ticket ticket;
    bench_config_then(b, standin_config, INFO_HEAD, COUNTED);
    sl_expect_text(bench_fetch(b, "main", &ticket), "", "fetched");
    b->hub->limits.etag_s = 0.2;
    standin_forget(b->server);
    standin_hold(b->server);
    sl_expect_text(bench_fetch(b, "main", &ticket), "", "slow");
    CU_ASSERT_TRUE(ticket.model.config.stale);
    CU_ASSERT_EQUAL(standin_requests(b->server), 1);
    bench_free(b);
}

static void
an_unchanged_file_of_no_commit_is_none_of_the_hub(void)
{
    bench *const b = bench_new();
    sl_hub_ticket ticket;
    bench_config_then(b, standin_config, INFO_HEAD, COUNTED);
    sl_expect_text(bench_fetch(b, "main", &ticket), "", "fetched");
    static const char *const heads[] = {"304 N", "304 N\r\nX-Repo-Commit: main"};
    for (size_t i = 0; i < COUNT(heads); i++) {
        standin_forget(b->server);
        standin_reply(b->server, heads[i], "");
        sl_expect_text(bench_fetch(b, "main", &ticket), "", heads[i]);
        CU_ASSERT_TRUE(ticket.model.config.stale);
        sl_expect_text(ticket.model.config.commit, COMMIT, "commit");
    }
    bench_free(b);
}

static void
the_wait_the_hub_asks_for_is_passed_on(void)
{
    static const struct {
        const char *head;
        uint32_t seconds;
    } rows[] = {{"429 N\r\nratelimit: \"api\";r=0;t=55", 55},
                {"429 N\r\nRetry-After: 77", 77},
                {"429 N\r\nratelimit: \"api\";r=9;t=55", 0}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        bench *const b = bench_new();
        sl_hub_ticket ticket;
        standin_reply(b->server, rows[i].head, "");
        sl_expect_text(bench_fetch(b, "main", &ticket), "rate_limited", rows[i].head);
        CU_ASSERT_EQUAL(ticket.failure.retry_after_s, rows[i].seconds);
        CU_ASSERT_EQUAL(sl_hub_result_count(b->hub, SL_HUB_RESULT_RATE_LIMITED), 1);
        bench_free(b);
    }
}

static void
while_the_hub_asks_to_slow_down_nothing_is_asked(void)
{
    bench *const b = bench_new();
    sl_hub_ticket ticket;
    bench_config_then(b, standin_config, INFO_HEAD, COUNTED);
    sl_expect_text(bench_fetch(b, "main", &ticket), "", "fetched");
    b->hub->limits.limited_max_s = 50.0;
    standin_forget(b->server);
    standin_reply(b->server, "429 N\r\nRetry-After: 77", "");
    sl_expect_text(bench_fetch(b, "v2", &ticket), "rate_limited", "said");
    CU_ASSERT_EQUAL(ticket.failure.retry_after_s, 77);

    ticket = bench_ticket(b, "v3");
    CU_ASSERT_TRUE(sl_hub_model_recall(b->hub, &ticket));
    sl_expect_text(ticket.failure.rule, "rate_limited", "known");
    CU_ASSERT_EQUAL(ticket.code, SL_E_RATE_LIMITED);
    CU_ASSERT_TRUE(ticket.failure.retry_after_s >= 40 && ticket.failure.retry_after_s <= 50);
    ticket = bench_ticket(b, "main");
    CU_ASSERT_TRUE(sl_hub_model_recall(b->hub, &ticket));
    CU_ASSERT_TRUE(ticket.model.config.stale);
    CU_ASSERT_EQUAL(standin_requests(b->server), 1);
    bench_free(b);

    bench *const brief = bench_new();
    brief->hub->limits.limited_max_s = 0.05;
    standin_reply(brief->server, "429 N\r\nRetry-After: 77", "");
    sl_expect_text(bench_fetch(brief, "main", &ticket), "rate_limited", "said");
    pause_ms(80);
    ticket = bench_ticket(brief, "main");
    CU_ASSERT_FALSE(sl_hub_model_recall(brief->hub, &ticket));
    bench_free(brief);
}

static sl_hub_found
search(bench *b, const char *query, uint32_t limit)
{
    sl_hub_found found = {.count = 0};
    sl_errors err = {.count = 0};
    CU_ASSERT_EQUAL(sl_hub_search(b->worker, query, limit, &b->cancelled, b->arena, &found, &err),
                    SL_OK);
    return found;
}

static void
a_search_asks_the_hub_and_else_the_caches(void)
{
    bench *const b = bench_new();
    sl_hub_ticket ticket;
    standin_reply(b->server, INFO_HEAD, "[{\"id\":\"org/found\",\"gated\":\"auto\"}]");
    sl_hub_found found = search(b, "fo", 5);
    CU_ASSERT_EQUAL(found.count, 1);
    CU_ASSERT_FALSE(found.from_cache || found.stale);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(standin_request(b->server, 0), "GET /api/models?search=fo&limit=5&"));

    bench_config_then(b, standin_config, INFO_HEAD, COUNTED);
    sl_expect_text(bench_fetch(b, "main", &ticket), "", "cached");
    static const char *const broken[] = {"500 N", "429 N", "200 OK", "404 N"};
    for (size_t i = 0; i < COUNT(broken); i++) {
        standin_forget(b->server);
        standin_reply(b->server, broken[i], "<p>");
        found = search(b, "NAM", 5);
        CU_ASSERT_TRUE(found.from_cache && found.stale);
        CU_ASSERT_EQUAL_FATAL(found.count, 1);
        sl_expect_text(found.hits[0].id, "org/name", "id");
        CU_ASSERT_EQUAL(standin_requests(b->server), 1);
    }
    /* The Hub limits searches apart from files. */
    b->hub->limits.limited_max_s = 60.0;
    standin_forget(b->server);
    standin_reply(b->server, "429 N\r\nRetry-After: 77", "");
    for (int i = 0; i < 3; i++)
        CU_ASSERT_TRUE(search(b, "NAM", 5).stale);
    CU_ASSERT_EQUAL(standin_requests(b->server), 1);
    ticket = bench_ticket(b, "main");
    CU_ASSERT_FALSE(sl_hub_model_recall(b->hub, &ticket));
    b->settings.hub_offline = true;
    bench_restart(b);
    CU_ASSERT_EQUAL(search(b, "other", 5).count, 0);
    found = search(b, "", 1);
    CU_ASSERT_EQUAL(found.count, 1);
    CU_ASSERT_TRUE(found.from_cache && !found.stale);
    bench_free(b);
}

static void
a_search_that_is_cancelled_says_so(void)
{
    bench *const b = bench_new();
    sl_hub_found found;
    sl_errors err = {.count = 0};
    atomic_store(&b->cancelled, true);
    CU_ASSERT_EQUAL(sl_hub_search(b->worker, "a", 5, &b->cancelled, b->arena, &found, &err),
                    SL_E_TIMEOUT);
    bench_free(b);
}

static const sl_case cases[] = {
    SL_CASE(many_requests_for_one_model_are_one_download),
    SL_CASE(a_crowd_beyond_the_bound_is_told_at_once),
    SL_CASE(a_failure_is_shared_at_the_place_each_request_names),
    SL_CASE(who_waits_for_a_cancelled_request_is_woken_to_try_again),
    SL_CASE(other_revisions_and_repositories_are_other_fetches),
    SL_CASE(threads_that_ask_for_one_model_all_get_it),
    SL_CASE(a_commit_that_is_held_needs_nobody),
    SL_CASE(what_was_not_found_is_not_asked_for_again_so_soon),
    SL_CASE(what_was_not_found_is_asked_for_after_a_while),
    SL_CASE(a_file_that_a_commit_lacks_is_remembered_for_ever),
    SL_CASE(a_silent_hub_is_left_alone_where_something_is_held),
    SL_CASE(a_slow_hub_is_left_alone_as_soon_as_it_shows),
    SL_CASE(a_check_that_runs_out_of_its_own_time_makes_nobody_silent),
    SL_CASE(a_dead_content_host_makes_nobody_silent),
    SL_CASE(a_held_revision_is_asked_about_once_and_briefly),
    SL_CASE(an_unchanged_file_of_no_commit_is_none_of_the_hub),
    SL_CASE(the_wait_the_hub_asks_for_is_passed_on),
    SL_CASE(while_the_hub_asks_to_slow_down_nothing_is_asked),
    SL_CASE(a_search_asks_the_hub_and_else_the_caches),
    SL_CASE(a_search_that_is_cancelled_says_so),
};

int
main(int argc, char **argv)
{
    return sl_run_cases(argc, argv, "hub_model", cases, COUNT(cases));
}
