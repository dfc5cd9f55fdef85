/* What the client keeps on disk, and when it believes it. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "hub_fixture.h"

#define COUNT(list) (sizeof(list) / sizeof(list)[0])
#define OTHER_COMMIT "fedcba9876543210fedcba9876543210fedcba98"

static void
a_branch_is_revalidated_by_its_etag(void)
{
    bench *const b = bench_new();
    sl_expect_text(bench_get_after(b, standin_file_head, standin_config), "", "fetched");
    sl_expect_text(
        bench_get_after(b, "304 Not Modified\r\nLocation: /x\r\nX-Repo-Commit: " COMMIT, ""), "",
        "unchanged");
    CU_ASSERT_PTR_NOT_NULL(strstr(standin_request(b->server, 0), "If-None-Match: \"one\"\r\n"));
    sl_expect_text(b->file.text, standin_config, "text");
    CU_ASSERT_TRUE(b->file.from_cache);
    CU_ASSERT_FALSE(b->file.stale);

    /* The branch moved on, this file did not: the new commit is known from now on. */
    sl_expect_text(bench_get_after(b, "304 Not Modified\r\nX-Repo-Commit: " OTHER_COMMIT, ""), "",
                   "moved");
    sl_expect_text(b->file.commit, OTHER_COMMIT, "commit");
    sl_expect_text(bench_get(b, OTHER_COMMIT), "", "by commit");
    CU_ASSERT_EQUAL(standin_requests(b->server), 1);

    sl_expect_text(bench_get_after(b,
                                   "200 OK\r\nX-Repo-Commit: " COMMIT
                                   "\r\nETag: W/\"two\"\r\nX-Linked-Etag: \"three\"\r\n"
                                   "Content-Length: 2",
                                   "{}"),
                   "", "changed");
    sl_expect_text(b->file.text, "{}", "new text");
    CU_ASSERT_FALSE(b->file.from_cache);
    sl_expect_text(bench_get(b, "main"), "", "asked again");
    CU_ASSERT_PTR_NOT_NULL(strstr(standin_request(b->server, 1), "If-None-Match: W/\"two\"\r\n"));
    bench_free(b);
}

static void
offline_the_cache_alone_answers(void)
{
    bench *const b = bench_new();
    sl_expect_text(bench_get_after(b, standin_file_head, standin_config), "", "fetched");
    b->settings.hub_offline = true;
    bench_restart(b);
    sl_expect_text(bench_get(b, "main"), "", "branch");
    sl_expect_text(b->file.text, standin_config, "text");
    CU_ASSERT_TRUE(b->file.from_cache);
    CU_ASSERT_TRUE(b->file.stale);
    sl_expect_text(bench_get(b, COMMIT), "", "commit");
    CU_ASSERT_FALSE(b->file.stale);
    sl_expect_text(bench_get(b, "other"), "offline_not_cached", "not cached");
    CU_ASSERT_EQUAL(b->err.list[0].code, SL_E_UNAVAILABLE);
    CU_ASSERT_EQUAL(standin_requests(b->server), 1);
    bench_free(b);
}

static void
a_cached_revision_stands_in_only_when_the_hub_gave_no_verdict(void)
{
    static const char *const silent[] = {"500 N", "429 N\r\nratelimit: \"api\";r=0;t=55",
                                         "200 OK\r\nContent-Type: text/html"};
    bench *const b = bench_new();
    sl_expect_text(bench_get_after(b, standin_file_head, standin_config), "", "fetched");
    for (size_t i = 0; i < COUNT(silent); i++) {
        sl_expect_text(bench_get_after(b, silent[i], "<p>"), "", silent[i]);
        CU_ASSERT_TRUE(b->file.stale);
        CU_ASSERT_TRUE(b->file.from_cache);
        sl_expect_text(b->file.text, standin_config, "text");
    }
    sl_expect_text(bench_get_after(b, "401 N\r\nX-Error-Code: GatedRepo", ""), "gated", "verdict");
    sl_expect_text(bench_get_after(b, FILE_HEAD "X-A: b", "{"), "truncated", "a new state, broken");

    standin_free(b->server);
    b->server = NULL;
    sl_expect_text(bench_get(b, "main"), "", "down");
    CU_ASSERT_TRUE(b->file.stale);
    sl_expect_text(bench_get(b, "other"), "connection_failed", "down and not cached");
    bench_free(b);
}

static void
a_cut_cache_file_is_fetched_again(void)
{
    static const char *const files[] = {"snapshots/" COMMIT "/config.json",
                                        "snapshots/" COMMIT "/config.json.sha256", "refs/main"};
    bench *const b = bench_new();
    for (size_t i = 0; i < COUNT(files); i++) {
        char path[700];
        (void)sl_text_format(path, sizeof path, "%s/hub/models--org--name/%s",
                             b->settings.cache_dir, files[i]);
        sl_expect_text(bench_get_after(b, standin_file_head, standin_config), "", "fetched");
        CU_ASSERT_TRUE(file_halve(path));
        sl_expect_text(bench_get_after(b, standin_file_head, standin_config), "", files[i]);
        sl_expect_text(b->file.text, standin_config, files[i]);
        CU_ASSERT_FALSE(b->file.from_cache);
        CU_ASSERT_PTR_NULL(strstr(standin_request(b->server, 0), "If-None-Match"));
        sl_expect_text(bench_get(b, COMMIT), "", "healed");
        CU_ASSERT_TRUE(b->file.from_cache);
    }
    bench_free(b);
}

static void
a_cache_that_cannot_be_written_costs_only_time(void)
{
    bench *const b = bench_new();
    (void)sl_text_copy(b->settings.cache_dir + strlen(b->settings.cache_dir), 16, "/file/x");
    char file[512];
    (void)sl_text_copy(file, sizeof file, b->settings.cache_dir);
    file[strlen(file) - 2] = '\0';
    FILE *const in_the_way = fopen(file, "w");
    assert(in_the_way != NULL);
    (void)fclose(in_the_way);
    bench_restart(b);
    sl_expect_text(bench_get_after(b, standin_file_head, standin_config), "", "fetched");
    sl_expect_text(bench_get(b, COMMIT), "", "fetched again");
    CU_ASSERT_FALSE(b->file.from_cache);
    b->settings.cache_dir[strlen(b->settings.cache_dir) - strlen("/file/x")] = '\0';
    bench_free(b);
}

static void *
fetch_often(void *context)
{
    const sl_hub *const hub = context;
    sl_hub_worker *const worker = sl_hub_worker_new(hub);
    sl_arena *const arena = sl_arena_new((size_t)16 << 20);
    uintptr_t good = 0;
    for (int i = 0; worker != NULL && arena != NULL && i < 12; i++) {
        atomic_bool cancelled = false;
        sl_errors err = {0};
        sl_hub_file file;
        const sl_hub_subject subject = {
            .repository = "org/name", .revision = "main", .file = "config.json", .pointer = ""};
        const sl_code code = sl_hub_fetch(worker, &subject, &cancelled, arena, &file, &err);
        good += code == SL_OK && sl_text_equal(file.text, standin_config);
    }
    sl_arena_free(arena);
    sl_hub_worker_free(worker);
    return good == 12 ? context : NULL;
}

static void
two_threads_share_one_cache(void)
{
    bench *const b = bench_new();
    pthread_t threads[2];
    standin_reply(b->server, standin_file_head, standin_config);
    for (size_t i = 0; i < COUNT(threads); i++)
        CU_ASSERT_EQUAL(pthread_create(&threads[i], NULL, fetch_often, b->hub), 0);
    for (size_t i = 0; i < COUNT(threads); i++) {
        void *good = NULL;
        CU_ASSERT_EQUAL(pthread_join(threads[i], &good), 0);
        CU_ASSERT_PTR_NOT_NULL(good);
    }
    sl_expect_text(bench_get(b, COMMIT), "", "intact");
    CU_ASSERT_TRUE(b->file.from_cache);
    bench_free(b);
}

static const sl_case cases[] = {
    SL_CASE(a_branch_is_revalidated_by_its_etag),
    SL_CASE(offline_the_cache_alone_answers),
    SL_CASE(a_cached_revision_stands_in_only_when_the_hub_gave_no_verdict),
    SL_CASE(a_cut_cache_file_is_fetched_again),
    SL_CASE(a_cache_that_cannot_be_written_costs_only_time),
    SL_CASE(two_threads_share_one_cache),
};

int
main(int argc, char **argv)
{
    return sl_run_cases(argc, argv, "hub_cache", cases, COUNT(cases));
}
