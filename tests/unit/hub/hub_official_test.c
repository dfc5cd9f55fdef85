/* The cache of Hugging Face's own tools: read as they write it, never written, never trusted. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "hub/official.h"
#include "hub_fixture.h"

#define COUNT(list) (sizeof(list) / sizeof(list)[0])
#define OTHER_COMMIT "fedcba9876543210fedcba9876543210fedcba98"
#define BLOB "8a3b1c2d3e4f5061728394a5b6c7d8e9f0a1b2c3"

static char root[256]; /* HF_HUB_CACHE of the running case */

static void
make(const char *path, const char *text)
{
    char full[600];
    (void)sl_text_format(full, sizeof full, "%s/%s", root, path);
    for (char *slash = strchr(full + strlen(root) + 1, '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(full, 0700);
        *slash = '/';
    }
    if (text == NULL)
        return;
    FILE *const file = fopen(full, "w");
    assert(file != NULL);
    CU_ASSERT_TRUE(fputs(text, file) >= 0);
    CU_ASSERT_EQUAL(fclose(file), 0);
}

static void
link_to(const char *target, const char *path)
{
    char full[600];
    make(path, NULL);
    (void)sl_text_format(full, sizeof full, "%s/%s", root, path);
    (void)unlink(full);
    CU_ASSERT_EQUAL(symlink(target, full), 0);
}

/* As huggingface_hub lays a repository out. */
static void
lay_out(void)
{
    make("models--org--name/blobs/" BLOB, standin_config);
    make("models--org--name/refs/main", COMMIT);
    make("models--org--name/refs/refs/pr/1", COMMIT "\n");
    link_to("../../blobs/" BLOB, "models--org--name/snapshots/" COMMIT "/config.json");
    make("models--org--name/.no_exist/" COMMIT "/hf_quant_config.json", "");
}

/* A bench whose client also reads an official cache, laid out. */
static bench *
open_bench(void)
{
    bench *const b = bench_new();
    (void)sl_text_format(root, sizeof root, "%s/official", b->settings.cache_dir);
    CU_ASSERT_EQUAL(mkdir(root, 0700), 0);
    lay_out();
    (void)sl_text_copy(b->settings.hf_cache_dir, sizeof b->settings.hf_cache_dir, root);
    bench_restart(b);
    return b;
}

static void
a_commit_it_holds_is_not_asked_for(void)
{
    bench *const b = open_bench();
    sl_expect_text(bench_get(b, COMMIT), "", "commit");
    sl_expect_text(b->file.text, standin_config, "text");
    sl_expect_text(b->file.commit, COMMIT, "commit");
    CU_ASSERT_TRUE(b->file.from_cache && !b->file.stale);
    CU_ASSERT_EQUAL(standin_requests(b->server), 0);
    bench_free(b);
}

static void
a_branch_it_holds_is_asked_for_with_the_tag_of_its_blob(void)
{
    bench *const b = open_bench();
    sl_expect_text(bench_get_after(b, "304 Not Modified\r\nX-Repo-Commit: " COMMIT, ""), "",
                   "unchanged");
    CU_ASSERT_PTR_NOT_NULL(
        strstr(standin_request(b->server, 0), "If-None-Match: \"" BLOB "\"\r\n"));
    sl_expect_text(b->file.text, standin_config, "text");
    sl_expect_text(bench_get_after(b, standin_file_head, standin_config), "", "changed");
    CU_ASSERT_FALSE(b->file.from_cache);
    bench_free(b);
}

static void
offline_it_answers_for_every_revision_it_knows(void)
{
    bench *const b = open_bench();
    b->settings.hub_offline = true;
    bench_restart(b);
    sl_expect_text(bench_get(b, "main"), "", "branch");
    CU_ASSERT_TRUE(b->file.stale);
    sl_expect_text(bench_get(b, "refs/pr/1"), "", "a revision of several parts");
    sl_expect_text(bench_get(b, "refs/pr/2"), "offline_not_cached", "unknown");
    sl_expect_text(bench_get(b, OTHER_COMMIT), "offline_not_cached", "unknown commit");

    make("models--org--name/refs/empty", OTHER_COMMIT);
    make("models--org--name/.no_exist/" OTHER_COMMIT "/config.json", "");
    sl_expect_text(bench_get(b, "empty"), "file_not_found", "known not to be there");
    CU_ASSERT_EQUAL(standin_requests(b->server), 0);
    bench_free(b);
}

static void
what_it_knows_to_be_missing_is_not_asked_for(void)
{
    bench *const b = open_bench();
    make("models--org--name/.no_exist/" OTHER_COMMIT "/config.json", "");
    sl_expect_text(bench_get(b, OTHER_COMMIT), "file_not_found", "missing");
    CU_ASSERT_EQUAL(standin_requests(b->server), 0);
    bench_free(b);
}

static void
a_plain_file_in_place_of_a_link_is_read(void)
{
    bench *const b = open_bench();
    make("models--org--name/snapshots/" OTHER_COMMIT "/config.json", "{}");
    sl_expect_text(bench_get(b, OTHER_COMMIT), "", "plain");
    sl_expect_text(b->file.text, "{}", "text");
    bench_free(b);
}

static void
links_that_leave_the_repository_are_not_followed(void)
{
    static const char *const targets[] = {
        "/etc/passwd",
        "../../../secret",
        "../../blobs/../../secret",
        "../../blobs/../../models--org--other/blobs/" BLOB,
        "../../blobs/",
        "../../blobs/..",
        "../../blobs/link",
        "config2.json",
        "../../refs/main",
        "../../blobs/" BLOB "/",
        "../../../models--org--other/blobs/" BLOB,
    };
    bench *const b = open_bench();
    b->settings.hub_offline = true;
    bench_restart(b);
    make("secret", "{\"secret\": 1}");
    make("models--org--other/blobs/" BLOB, "{\"secret\": 2}");
    link_to("../../../secret", "models--org--name/blobs/link");
    make("models--org--name/snapshots/" COMMIT "/config2.json", "{}");
    for (size_t i = 0; i < COUNT(targets); i++) {
        link_to(targets[i], "models--org--name/snapshots/" COMMIT "/config.json");
        sl_expect_text(bench_get(b, COMMIT), "offline_not_cached", targets[i]);
    }
    bench_free(b);
}

static void
folders_that_are_links_are_not_entered(void)
{
    static const char *const folders[] = {"models--org--name", "models--org--name/snapshots",
                                          ("models--org--name/snapshots/" COMMIT),
                                          "models--org--name/blobs"};
    for (size_t i = 0; i < COUNT(folders); i++) {
        char from[600], to[600];
        bench *const b = open_bench();
        b->settings.hub_offline = true;
        bench_restart(b);
        sl_expect_text(bench_get(b, COMMIT), "", "before");
        (void)sl_text_format(from, sizeof from, "%s/%s", root, folders[i]);
        (void)sl_text_format(to, sizeof to, "%s/moved", root);
        CU_ASSERT_EQUAL(rename(from, to), 0);
        CU_ASSERT_EQUAL(symlink(to, from), 0);
        sl_expect_text(bench_get(b, COMMIT), "offline_not_cached", folders[i]);
        bench_free(b);
    }
}

static void
what_is_no_small_file_is_not_read(void)
{
    bench *const b = open_bench();
    char path[600];
    (void)sl_text_format(path, sizeof path, "%s/models--org--name/blobs/" BLOB, root);
    b->settings.hub_offline = true;
    bench_restart(b);
    CU_ASSERT_EQUAL(truncate(path, SL_HUB_FILE_MAX_BYTES + 1), 0);
    sl_expect_text(bench_get(b, COMMIT), "offline_not_cached", "large");
    CU_ASSERT_EQUAL(truncate(path, 0), 0);
    sl_expect_text(bench_get(b, COMMIT), "offline_not_cached", "empty");
    CU_ASSERT_EQUAL(unlink(path), 0);
    CU_ASSERT_EQUAL(mkfifo(path, 0600), 0);
    sl_expect_text(bench_get(b, COMMIT), "offline_not_cached", "a pipe that nobody writes to");
    bench_free(b);
}

static void
references_that_hold_no_commit_are_passed_over(void)
{
    static const char *const texts[] = {"",         "main",
                                        COMMIT "0", COMMIT "\nx",
                                        COMMIT " ", "../../../../../../../../../../../../etc"};
    bench *const b = open_bench();
    b->settings.hub_offline = true;
    bench_restart(b);
    for (size_t i = 0; i < COUNT(texts); i++) {
        make("models--org--name/refs/main", texts[i]);
        sl_expect_text(bench_get(b, "main"), "offline_not_cached", texts[i]);
    }
    bench_free(b);
}

static void
a_token_file_is_read_once_and_judged(void)
{
    static const struct {
        const char *text, *rule;
    } rows[] = {{"hf_file\n", ""},
                {"  hf_file  \r\n", ""},
                {"", ""},
                {"hf_a\nhf_b\n", "invalid_token"},
                {"hf_\x01", "invalid_token"}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        bench *const b = open_bench();
        sl_hub *hub = NULL;
        sl_errors err = {.count = 0};
        make("token", rows[i].text);
        b->settings.hub_token[0] = '\0';
        (void)sl_text_format(b->settings.hub_token_path, sizeof b->settings.hub_token_path,
                             "%s/token", root);
        const sl_code code = sl_hub_new(&b->settings, &hub, &err);
        sl_expect_text(code == SL_OK ? "" : err.list[0].rule, rows[i].rule, rows[i].text);
        if (code == SL_OK && rows[i].text[0] != '\0')
            sl_expect_text(hub->token, "hf_file", "token");
        sl_hub_free(hub);
        bench_free(b);
    }
}

static void
a_token_file_that_was_named_must_be_there(void)
{
    bench *const b = open_bench();
    sl_hub *hub = NULL;
    sl_errors err = {.count = 0};
    b->settings.hub_token[0] = '\0';
    (void)sl_text_format(b->settings.hub_token_path, sizeof b->settings.hub_token_path, "%s/none",
                         root);
    CU_ASSERT_EQUAL(sl_hub_new(&b->settings, &hub, &err), SL_OK);
    sl_expect_text(hub->token, "", "no token");
    sl_hub_free(hub);
    b->settings.hub_token_path_given = true;
    CU_ASSERT_EQUAL(sl_hub_new(&b->settings, &hub, &err), SL_E_RANGE);
    sl_expect_text(err.list[0].rule, "unreadable_token", "rule");
    bench_free(b);
}

static const sl_case cases[] = {
    SL_CASE(a_commit_it_holds_is_not_asked_for),
    SL_CASE(a_branch_it_holds_is_asked_for_with_the_tag_of_its_blob),
    SL_CASE(offline_it_answers_for_every_revision_it_knows),
    SL_CASE(what_it_knows_to_be_missing_is_not_asked_for),
    SL_CASE(a_plain_file_in_place_of_a_link_is_read),
    SL_CASE(links_that_leave_the_repository_are_not_followed),
    SL_CASE(folders_that_are_links_are_not_entered),
    SL_CASE(what_is_no_small_file_is_not_read),
    SL_CASE(references_that_hold_no_commit_are_passed_over),
    SL_CASE(a_token_file_is_read_once_and_judged),
    SL_CASE(a_token_file_that_was_named_must_be_there),
};

int
main(int argc, char **argv)
{
    return sl_run_cases(argc, argv, "hub_official", cases, COUNT(cases));
}
