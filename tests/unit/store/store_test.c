#include <pthread.h>
#include <stdint.h>

#include "store_inventories.h"

static void
a_put_creates_revision_one_and_get_returns_it(void)
{
    store_bench b;
    if (!bench_open(&b))
        return;
    CU_ASSERT_EQUAL(put(&b, "prod-eu", "{\"pools\": []}", "h1"), SL_OK);
    CU_ASSERT(b.created);
    CU_ASSERT_EQUAL(b.row.revision, 1);

    memset(&b.row, 0, sizeof b.row);
    CU_ASSERT_EQUAL(get(&b, "prod-eu"), SL_OK);
    sl_expect_text(b.row.slug, "prod-eu", "slug");
    sl_expect_text(b.row.name, "a name", "name");
    sl_expect_text(b.row.spec, "{\"pools\": []}", "spec");
    CU_ASSERT_EQUAL(b.row.revision, 1);
    sl_expect_text(b.row.created_at, b.row.updated_at, "created with its first revision");
    CU_ASSERT_EQUAL(b.err.count, 0);
    bench_close(&b);
}

static void
times_are_rfc_3339_in_utc_whatever_the_zone_of_the_session(void)
{
    store_bench b;
    char url[URL_SIZE];
    if (!bench_open(&b))
        return;
    bench_reconnect(&b, url, "&options=-c%20timezone%3DAsia/Kolkata%20-c%20datestyle%3DGerman");
    CU_ASSERT_EQUAL(put(&b, "a", "{}", "h1"), SL_OK);
    sl_postgres_do(&postgres, "UPDATE inventories SET created_at = '2026-02-03T04:05:06.789Z'");
    CU_ASSERT_EQUAL(get(&b, "a"), SL_OK);
    sl_expect_text(b.row.created_at, "2026-02-03T04:05:06.789Z", "created_at");
    bench_close(&b);
}

static void
the_same_spec_again_keeps_revision_text_and_time(void)
{
    store_bench b;
    if (!bench_open(&b))
        return;
    CU_ASSERT_EQUAL(put(&b, "a", "{\"n\": 1}", "h1"), SL_OK);
    const sl_inventory_row first = b.row;
    CU_ASSERT_EQUAL(put(&b, "a", "{ \"n\":1 }", "h1"), SL_OK);
    CU_ASSERT_FALSE(b.created);
    CU_ASSERT_EQUAL(b.row.revision, 1);
    sl_expect_text(b.row.spec, first.spec, "spec");
    sl_expect_text(b.row.updated_at, first.updated_at, "updated_at");
    expect_answer("SELECT count(*) FROM inventory_revisions", "1");
    bench_close(&b);
}

static void
another_spec_makes_the_next_revision_and_keeps_the_old_one(void)
{
    store_bench b;
    if (!bench_open(&b))
        return;
    CU_ASSERT_EQUAL(put(&b, "a", "{\"n\": 1}", "h1"), SL_OK);
    CU_ASSERT_EQUAL(put(&b, "a", "{\"n\": 2}", "h2"), SL_OK);
    CU_ASSERT_FALSE(b.created);
    CU_ASSERT_EQUAL(b.row.revision, 2);
    sl_expect_text(b.row.spec, "{\"n\": 2}", "spec");

    CU_ASSERT_EQUAL(sl_inventory_revision(b.store, "a", 1, b.arena, &b.row, &b.err), SL_OK);
    CU_ASSERT_EQUAL(b.row.revision, 1);
    sl_expect_text(b.row.spec, "{\"n\": 1}", "spec of revision 1");
    CU_ASSERT_EQUAL(sl_inventory_revision(b.store, "a", 2, b.arena, &b.row, &b.err), SL_OK);
    sl_expect_text(b.row.spec, "{\"n\": 2}", "spec of revision 2");

    CU_ASSERT_EQUAL(sl_inventory_revision(b.store, "a", 3, b.arena, &b.row, &b.err),
                    SL_E_NOT_FOUND);
    expect_error(&b, SL_E_NOT_FOUND, "revision_not_found");
    CU_ASSERT_EQUAL(sl_inventory_revision(b.store, "a", UINT64_MAX, b.arena, &b.row, &b.err),
                    SL_E_NOT_FOUND);
    expect_error(&b, SL_E_NOT_FOUND, "revision_not_found");
    bench_close(&b);
}

static void
a_spec_comes_back_byte_for_byte(void)
{
    static const char spec[] = "{\"z\":1.50, \"a\" :1e3,\n\t\"big\":12345678901234567890123,"
                               "\"a\":\"\\u00e9 \\\"q\\\" \\/ ' \xf0\x9f\x9a\x80\",\"m\":-0.0 }";
    store_bench b;
    if (!bench_open(&b))
        return;
    CU_ASSERT_EQUAL(put(&b, "a", spec, "h1"), SL_OK);
    sl_expect_text(b.row.spec, spec, "spec of put");
    CU_ASSERT_EQUAL(get(&b, "a"), SL_OK);
    sl_expect_text(b.row.spec, spec, "spec of get");
    CU_ASSERT_EQUAL(sl_inventory_revision(b.store, "a", 1, b.arena, &b.row, &b.err), SL_OK);
    sl_expect_text(b.row.spec, spec, "spec of the revision");
    bench_close(&b);
}

static void
an_absent_inventory_is_not_found_at_the_callers_pointer(void)
{
    store_bench b;
    if (!bench_open(&b))
        return;
    CU_ASSERT_EQUAL(get(&b, "nowhere"), SL_E_NOT_FOUND);
    sl_expect_text(b.err.list[0].pointer, "/cluster/inventory", "pointer");
    expect_error(&b, SL_E_NOT_FOUND, "inventory_not_found");
    bench_close(&b);
}

static void
if_match_accepts_only_the_current_revision(void)
{
    store_bench b;
    if (!bench_open(&b))
        return;
    CU_ASSERT_EQUAL(put_if(&b, "a", "h1", 1, false), SL_E_PRECONDITION);
    expect_error(&b, SL_E_PRECONDITION, "revision_mismatch");
    expect_answer("SELECT count(*) FROM inventories", "0");

    CU_ASSERT_EQUAL(put(&b, "a", "{}", "h1"), SL_OK);
    CU_ASSERT_EQUAL(put_if(&b, "a", "h2", 2, false), SL_E_PRECONDITION);
    expect_error(&b, SL_E_PRECONDITION, "revision_mismatch");
    CU_ASSERT_EQUAL(put_if(&b, "a", "h1", 2, false), SL_E_PRECONDITION);
    expect_error(&b, SL_E_PRECONDITION, "revision_mismatch");
    CU_ASSERT_EQUAL(put_if(&b, "a", "h2", 1, false), SL_OK);
    CU_ASSERT_EQUAL(b.row.revision, 2);
    bench_close(&b);
}

static void
if_match_any_only_replaces(void)
{
    store_bench b;
    if (!bench_open(&b))
        return;
    CU_ASSERT_EQUAL(put_if(&b, "a", "h1", SL_REVISION_ANY, false), SL_E_PRECONDITION);
    expect_error(&b, SL_E_PRECONDITION, "revision_mismatch");
    expect_answer("SELECT count(*) FROM inventories", "0");

    CU_ASSERT_EQUAL(put(&b, "a", "{}", "h1"), SL_OK);
    CU_ASSERT_EQUAL(put_if(&b, "a", "h2", SL_REVISION_ANY, false), SL_OK);
    CU_ASSERT_EQUAL(b.row.revision, 2);
    sl_postgres_do(&postgres, "UPDATE inventories SET deleted_at = now()");
    CU_ASSERT_EQUAL(put_if(&b, "a", "h3", SL_REVISION_ANY, false), SL_E_PRECONDITION);
    expect_error(&b, SL_E_PRECONDITION, "revision_mismatch");
    bench_close(&b);
}

static void
what_a_put_would_be_refused_for_is_known_without_it(void)
{
    store_bench b;
    if (!bench_open(&b))
        return;
    CU_ASSERT_EQUAL(try_put_if(&b, 0, true), SL_OK);
    CU_ASSERT_EQUAL(try_put_if(&b, 1, false), SL_E_PRECONDITION);
    expect_error(&b, SL_E_PRECONDITION, "revision_mismatch");
    CU_ASSERT_EQUAL(put(&b, "a", "{}", "h1"), SL_OK);
    CU_ASSERT_EQUAL(try_put_if(&b, 1, false), SL_OK);
    CU_ASSERT_EQUAL(try_put_if(&b, 2, false), SL_E_PRECONDITION);
    expect_error(&b, SL_E_PRECONDITION, "revision_mismatch");
    CU_ASSERT_EQUAL(try_put_if(&b, 0, true), SL_E_PRECONDITION);
    expect_error(&b, SL_E_PRECONDITION, "inventory_exists");
    bench_close(&b);
}

static void
if_none_match_only_creates(void)
{
    store_bench b;
    if (!bench_open(&b))
        return;
    CU_ASSERT_EQUAL(put_if(&b, "a", "h1", 0, true), SL_OK);
    CU_ASSERT(b.created);
    CU_ASSERT_EQUAL(put_if(&b, "a", "h1", 0, true), SL_E_PRECONDITION);
    expect_error(&b, SL_E_PRECONDITION, "inventory_exists");
    bench_close(&b);
}

static void
a_deleted_inventory_is_gone_and_a_put_brings_it_back_with_the_next_revision(void)
{
    store_bench b;
    sl_inventory_history history;
    if (!bench_open(&b))
        return;
    CU_ASSERT_EQUAL(put(&b, "a", "{}", "h1"), SL_OK);
    CU_ASSERT_EQUAL(act(&b, SL_INVENTORY_DELETE, "a", 0), SL_OK);
    CU_ASSERT_EQUAL(b.row.revision, 1);
    CU_ASSERT_PTR_NOT_NULL(b.row.deleted_at);
    CU_ASSERT_EQUAL(get(&b, "a"), SL_E_NOT_FOUND);
    expect_error(&b, SL_E_NOT_FOUND, "inventory_not_found");
    expect_page(&b, &(sl_inventory_query){.limit = 5}, "", false);
    expect_page(&b, &(sl_inventory_query){.limit = 5, .deleted = true}, "a", false);
    CU_ASSERT_EQUAL(sl_inventory_revision(b.store, "a", 1, b.arena, &b.row, &b.err),
                    SL_E_NOT_FOUND);
    expect_error(&b, SL_E_NOT_FOUND, "revision_not_found");
    CU_ASSERT_EQUAL(sl_inventory_revisions(b.store, "a", 0, 5, b.arena, &history, &b.err),
                    SL_E_NOT_FOUND);
    expect_error(&b, SL_E_NOT_FOUND, "inventory_not_found");
    CU_ASSERT_EQUAL(put_if(&b, "a", "h1", 1, false), SL_E_PRECONDITION);
    expect_error(&b, SL_E_PRECONDITION, "revision_mismatch");

    CU_ASSERT_EQUAL(put_if(&b, "a", "h1", 0, true), SL_OK);
    CU_ASSERT(b.created);
    CU_ASSERT_EQUAL(b.row.revision, 2);
    CU_ASSERT_PTR_NULL(b.row.deleted_at);
    CU_ASSERT_EQUAL(get(&b, "a"), SL_OK);
    bench_close(&b);
}

static void
a_list_is_paged_by_slug_in_byte_order(void)
{
    static const char *const slugs[] = {"a", "a-b", "a0", "ab", "b"};
    store_bench b;
    if (!bench_open(&b))
        return;
    for (int i = 4; i >= 0; i--)
        CU_ASSERT_EQUAL(put(&b, slugs[i], "{}", "h1"), SL_OK);

    expect_page(&b, &(sl_inventory_query){.limit = 2}, "a a-b", true);
    expect_page(&b, &(sl_inventory_query){.limit = 2, .after_key = "a-b", .after_slug = "a-b"},
                "a0 ab", true);
    expect_page(&b, &(sl_inventory_query){.limit = 2, .after_key = "ab", .after_slug = "ab"}, "b",
                false);
    expect_page(&b, &(sl_inventory_query){.limit = 2, .after_key = "b", .after_slug = "b"}, "",
                false);
    expect_page(&b, &(sl_inventory_query){.sort = SL_SORT_SLUG_DOWN, .limit = 2}, "b ab", true);
    expect_page(&b,
                &(sl_inventory_query){
                    .sort = SL_SORT_SLUG_DOWN, .limit = 9, .after_key = "ab", .after_slug = "ab"},
                "a0 a-b a", false);
    bench_close(&b);
}

static void
revisions_come_newest_first_in_pages(void)
{
    store_bench b;
    sl_inventory_history page;
    if (!bench_open(&b))
        return;
    CU_ASSERT_EQUAL(put(&b, "a", "{}", "h1"), SL_OK);
    CU_ASSERT_EQUAL(put(&b, "a", "{}", "h2"), SL_OK);
    CU_ASSERT_EQUAL(put(&b, "a", "{}", "h3"), SL_OK);

    CU_ASSERT_EQUAL(sl_inventory_revisions(b.store, "a", 0, 2, b.arena, &page, &b.err), SL_OK);
    CU_ASSERT(page.more);
    CU_ASSERT(page.count == 2 && page.rows[0].revision == 3 && page.rows[1].revision == 2);
    CU_ASSERT_EQUAL(sl_inventory_revisions(b.store, "a", 2, 2, b.arena, &page, &b.err), SL_OK);
    CU_ASSERT(page.count == 1 && page.rows[0].revision == 1 && !page.more);
    CU_ASSERT_EQUAL(sl_inventory_revisions(b.store, "a", 1, 2, b.arena, &page, &b.err), SL_OK);
    CU_ASSERT(page.count == 0 && !page.more);
    CU_ASSERT_EQUAL(sl_inventory_revisions(b.store, "no", 0, 2, b.arena, &page, &b.err),
                    SL_E_NOT_FOUND);
    expect_error(&b, SL_E_NOT_FOUND, "inventory_not_found");
    bench_close(&b);
}

static void
hostile_slugs_are_refused_and_never_found(void)
{
    static const char *const hostile[] = {
        "",
        "Robert'); DROP TABLE inventories;--",
        "-a",
        "a-",
        "UPPER",
        "a_b",
        "a b",
        "a\n",
        "\xc3\xa4",
        "a\\",
        "\"a\"",
        "$1",
        "a123456789012345678901234567890123456789012345678901234567890123"};
    store_bench b;
    if (!bench_open(&b))
        return;
    for (size_t i = 0; i < sizeof hostile / sizeof hostile[0]; i++) {
        CU_ASSERT_EQUAL(put(&b, hostile[i], "{}", "h1"), SL_E_RANGE);
        expect_error(&b, SL_E_RANGE, "not_storable");
        CU_ASSERT_EQUAL(get(&b, hostile[i]), SL_E_NOT_FOUND);
        expect_error(&b, SL_E_NOT_FOUND, "inventory_not_found");
    }
    expect_answer("SELECT count(*) FROM inventories", "0");
    CU_ASSERT_EQUAL(
        put(&b, "a12345678901234567890123456789012345678901234567890123456789012", "{}", "h1"),
        SL_OK);
    CU_ASSERT_EQUAL(put(&b, "0", "{}", "h1"), SL_OK);
    bench_close(&b);
}

static void
any_name_is_kept_as_it_is_and_broken_utf_8_is_refused(void)
{
    static const char *const names[] = {"",
                                        "O'Brien \"x\" \\ $1 %s",
                                        "'); DROP TABLE inventories;--",
                                        "\xe6\x97\xa5\xe6\x9c\xac",
                                        "tab\tline\nend",
                                        "\xf0\x9f\x9a\x80"};
    store_bench b;
    if (!bench_open(&b))
        return;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char hash[8];
        CU_ASSERT(sl_text_format(hash, sizeof hash, "h%zu", i));
        sl_inventory_write write = write_of("a", "{}", hash);
        write.name = names[i];
        CU_ASSERT_EQUAL(do_write(&b, &write), SL_OK);
        CU_ASSERT_EQUAL(get(&b, "a"), SL_OK);
        sl_expect_text(b.row.name, names[i], "name");
    }
    sl_inventory_write broken = write_of("b", "{}", "h");
    broken.name = "\xff";
    CU_ASSERT_EQUAL(do_write(&b, &broken), SL_E_RANGE);
    expect_error(&b, SL_E_RANGE, "not_storable");
    CU_ASSERT_EQUAL(put(&b, "b", "{not json", "h"), SL_E_RANGE);
    CU_ASSERT_PTR_NULL(strstr(b.err.list[0].message, "not json"));
    expect_error(&b, SL_E_RANGE, "not_storable");
    bench_close(&b);
}

static void
a_row_larger_than_the_arena_is_an_error_and_leaves_the_row_alone(void)
{
    store_bench b;
    if (!bench_open(&b))
        return;
    CU_ASSERT_EQUAL(put(&b, "a", "{\"a\":\"0123456789012345678901234567890123456789\"}", "h1"),
                    SL_OK);
    sl_arena *small = sl_arena_new(32);
    sl_inventory_row row = {.revision = 77};
    CU_ASSERT_EQUAL(sl_inventory_get(b.store, "a", "", small, &row, &b.err), SL_E_MEMORY);
    expect_error(&b, SL_E_MEMORY, "out_of_memory");
    CU_ASSERT_EQUAL(row.revision, 77);
    sl_arena_free(small);
    bench_close(&b);
}

enum { PUTTERS = 4, PUTS_EACH = 10, PUTS = PUTTERS * PUTS_EACH };

typedef struct putter {
    int number;
    uint64_t revisions[PUTS_EACH];
    uint32_t created;
    uint32_t failed;
} putter;

static void *
put_in_thread(void *context)
{
    putter *own = context;
    sl_store *store = sl_store_new(postgres.url);
    sl_arena *arena = sl_arena_new(ARENA_BYTES);
    for (int i = 0; i < PUTS_EACH; i++) {
        sl_errors err = {0};
        sl_inventory_row row = {0};
        bool created = false;
        char hash[32];
        (void)sl_text_format(hash, sizeof hash, "thread %d put %d", own->number, i);
        const sl_inventory_write write = write_of("one", "{}", hash);
        if (sl_inventory_write_do(store, &write, arena, &row, &created, &err) != SL_OK)
            own->failed++;
        own->created += created;
        own->revisions[i] = row.revision;
    }
    sl_arena_free(arena);
    sl_store_free(store);
    return NULL;
}

static void
concurrent_puts_of_one_slug_give_consecutive_revisions(void)
{
    store_bench b;
    if (!bench_open(&b))
        return;
    putter putters[PUTTERS] = {0};
    pthread_t threads[PUTTERS];
    for (int i = 0; i < PUTTERS; i++) {
        putters[i].number = i;
        CU_ASSERT_EQUAL(pthread_create(&threads[i], NULL, put_in_thread, &putters[i]), 0);
    }
    bool seen[PUTS + 1] = {false};
    uint32_t created = 0;
    for (int i = 0; i < PUTTERS; i++) {
        CU_ASSERT_EQUAL(pthread_join(threads[i], NULL), 0);
        CU_ASSERT_EQUAL(putters[i].failed, 0);
        created += putters[i].created;
        for (int k = 0; k < PUTS_EACH; k++) {
            const uint64_t revision = putters[i].revisions[k];
            CU_ASSERT(revision >= 1 && revision <= PUTS && !seen[revision]);
            if (revision <= PUTS)
                seen[revision] = true;
        }
    }
    CU_ASSERT_EQUAL(created, 1);
    CU_ASSERT_EQUAL(get(&b, "one"), SL_OK);
    CU_ASSERT_EQUAL(b.row.revision, PUTS);
    expect_answer("SELECT count(*) FROM inventory_revisions", "40");
    expect_answer("SELECT count(DISTINCT revision) FROM inventory_audit WHERE action = 'put'",
                  "40");
    bench_close(&b);
}

static const sl_case cases[] = {
    SL_CASE(a_put_creates_revision_one_and_get_returns_it),
    SL_CASE(times_are_rfc_3339_in_utc_whatever_the_zone_of_the_session),
    SL_CASE(the_same_spec_again_keeps_revision_text_and_time),
    SL_CASE(another_spec_makes_the_next_revision_and_keeps_the_old_one),
    SL_CASE(a_spec_comes_back_byte_for_byte),
    SL_CASE(an_absent_inventory_is_not_found_at_the_callers_pointer),
    SL_CASE(if_match_accepts_only_the_current_revision),
    SL_CASE(if_match_any_only_replaces),
    SL_CASE(what_a_put_would_be_refused_for_is_known_without_it),
    SL_CASE(if_none_match_only_creates),
    SL_CASE(a_deleted_inventory_is_gone_and_a_put_brings_it_back_with_the_next_revision),
    SL_CASE(a_list_is_paged_by_slug_in_byte_order),
    SL_CASE(revisions_come_newest_first_in_pages),
    SL_CASE(hostile_slugs_are_refused_and_never_found),
    SL_CASE(any_name_is_kept_as_it_is_and_broken_utf_8_is_refused),
    SL_CASE(a_row_larger_than_the_arena_is_an_error_and_leaves_the_row_alone),
    SL_CASE(concurrent_puts_of_one_slug_give_consecutive_revisions),
};

int
main(int argc, char **argv)
{
    return bench_run(argc, argv, "store", cases, sizeof cases / sizeof cases[0]);
}
