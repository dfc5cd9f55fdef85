#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "harness.h"
#include "postgres_fixture.h"
#include "store/inventory.h"

enum { ARENA_BYTES = 4 << 20, URL_SIZE = 256 };

static sl_postgres postgres;
static bool have_postgres;

/* What a case works with: an empty migrated database, one store, one arena, one error list. */
typedef struct store_bench {
    sl_store *store;
    sl_arena *arena;
    sl_errors err;
    sl_inventory_row row;
    bool created;
} store_bench;

static bool
bench_open(store_bench *bench)
{
    memset(bench, 0, sizeof *bench);
    if (!have_postgres) {
        sl_skip("no PostgreSQL is installed");
        return false;
    }
    sl_postgres_empty(&postgres);
    bench->store = sl_store_new(postgres.url);
    bench->arena = sl_arena_new(ARENA_BYTES);
    CU_ASSERT_EQUAL(sl_store_migrate(bench->store, &bench->err), SL_OK);
    return true;
}

static void
bench_close(store_bench *bench)
{
    sl_store_free(bench->store);
    sl_arena_free(bench->arena);
}

/* The store again, with more said in its URL. */
static void
bench_reconnect(store_bench *bench, char url[URL_SIZE], const char *more)
{
    CU_ASSERT(sl_text_format(url, URL_SIZE, "%s%s", postgres.url, more));
    sl_store_free(bench->store);
    bench->store = sl_store_new(url);
}

/* A write of what a spec's hash stands for; what else it asks is the case's to set. */
static sl_inventory_write
write_of(const char *slug, const char *spec, const char *hash)
{
    return (sl_inventory_write){.action = SL_INVENTORY_PUT,
                                .slug = slug,
                                .requester = {"192.0.2.7", "a tool/1.0", "request-1"},
                                .name = "a name",
                                .spec = spec,
                                .spec_hash = hash,
                                .accelerators = "[]"};
}

static sl_code
do_write(store_bench *bench, const sl_inventory_write *write)
{
    return sl_inventory_write_do(bench->store, write, bench->arena, &bench->row, &bench->created,
                                 &bench->err);
}

static sl_code
try_write(store_bench *bench, const sl_inventory_write *write)
{
    return sl_inventory_write_try(bench->store, write, bench->arena, &bench->row, &bench->err);
}

static sl_code
put(store_bench *bench, const char *slug, const char *spec, const char *hash)
{
    const sl_inventory_write write = write_of(slug, spec, hash);
    return do_write(bench, &write);
}

static sl_inventory_write
conditional(const char *slug, const char *hash, uint64_t if_match, bool only_create)
{
    sl_inventory_write write = write_of(slug, "{}", hash);
    write.precondition =
        (sl_precondition){.revisions = {if_match}, .count = if_match != 0, only_create};
    return write;
}

static sl_code
put_if(store_bench *bench, const char *slug, const char *hash, uint64_t if_match, bool only_create)
{
    const sl_inventory_write write = conditional(slug, hash, if_match, only_create);
    return do_write(bench, &write);
}

static sl_code
try_put_if(store_bench *bench, uint64_t if_match, bool only_create)
{
    const sl_inventory_write write = conditional("a", "h", if_match, only_create);
    return try_write(bench, &write);
}

/* A write without a spec: a delete or a restore. */
static sl_code
act(store_bench *bench, sl_inventory_action action, const char *slug, uint64_t if_match)
{
    sl_inventory_write write = conditional(slug, NULL, if_match, false);
    write.action = action;
    return do_write(bench, &write);
}

static sl_code
get(store_bench *bench, const char *slug)
{
    return sl_inventory_get(bench->store, slug, "/cluster/inventory", bench->arena, &bench->row,
                            &bench->err);
}

/* Exactly one error, then an empty list again. */
static void
expect_error(store_bench *bench, sl_code code, const char *rule)
{
    CU_ASSERT_EQUAL(bench->err.count, 1);
    CU_ASSERT_EQUAL(bench->err.list[0].code, code);
    sl_expect_text(bench->err.count > 0 ? bench->err.list[0].rule : "", rule, "rule");
    bench->err.count = 0;
}

static void
expect_answer(const char *sql, const char *expected)
{
    char answer[256];
    sl_postgres_ask(&postgres, sql, answer, sizeof answer);
    sl_expect_text(answer, expected, sql);
}

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

/* The slugs of a page, joined by blanks. */
static void
expect_page(store_bench *bench, const sl_inventory_query *query, const char *expected, bool more)
{
    char slugs[256] = "";
    sl_inventory_page page = {.count = 0};
    CU_ASSERT_EQUAL(sl_inventory_list(bench->store, query, bench->arena, &page, &bench->err),
                    SL_OK);
    for (uint32_t i = 0; i < page.count; i++) {
        const size_t used = strlen(slugs);
        CU_ASSERT(sl_text_format(slugs + used, sizeof slugs - used, "%s%s", i == 0 ? "" : " ",
                                 page.rows[i].slug));
        CU_ASSERT_PTR_NULL(page.rows[i].spec);
    }
    sl_expect_text(slugs, expected, "page");
    CU_ASSERT_EQUAL(page.more, more);
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
a_restore_makes_the_next_revision_of_what_was_deleted(void)
{
    store_bench b;
    if (!bench_open(&b))
        return;
    CU_ASSERT_EQUAL(act(&b, SL_INVENTORY_RESTORE, "a", 0), SL_E_NOT_FOUND);
    expect_error(&b, SL_E_NOT_FOUND, "inventory_not_found");
    CU_ASSERT_EQUAL(act(&b, SL_INVENTORY_DELETE, "a", 0), SL_E_NOT_FOUND);
    expect_error(&b, SL_E_NOT_FOUND, "inventory_not_found");
    CU_ASSERT_EQUAL(put(&b, "a", "{\"n\": 1.50}", "h1"), SL_OK);
    CU_ASSERT_EQUAL(act(&b, SL_INVENTORY_RESTORE, "a", 0), SL_E_CONFLICT);
    expect_error(&b, SL_E_CONFLICT, "inventory_not_deleted");
    CU_ASSERT_EQUAL(act(&b, SL_INVENTORY_DELETE, "a", 2), SL_E_PRECONDITION);
    expect_error(&b, SL_E_PRECONDITION, "revision_mismatch");
    CU_ASSERT_EQUAL(act(&b, SL_INVENTORY_DELETE, "a", 1), SL_OK);
    CU_ASSERT_EQUAL(act(&b, SL_INVENTORY_DELETE, "a", 0), SL_E_NOT_FOUND);
    expect_error(&b, SL_E_NOT_FOUND, "inventory_not_found");
    CU_ASSERT_EQUAL(act(&b, SL_INVENTORY_RESTORE, "a", 2), SL_E_PRECONDITION);
    expect_error(&b, SL_E_PRECONDITION, "revision_mismatch");
    CU_ASSERT_EQUAL(act(&b, SL_INVENTORY_RESTORE, "a", 1), SL_OK);
    CU_ASSERT_EQUAL(b.row.revision, 2);
    sl_expect_text(b.row.spec, "{\"n\": 1.50}", "spec");
    CU_ASSERT_EQUAL(get(&b, "a"), SL_OK);
    bench_close(&b);
}

static void
a_patch_needs_an_inventory_that_is_there(void)
{
    store_bench b;
    if (!bench_open(&b))
        return;
    sl_inventory_write patch = write_of("a", "{}", "h1");
    patch.action = SL_INVENTORY_PATCH;
    CU_ASSERT_EQUAL(do_write(&b, &patch), SL_E_NOT_FOUND);
    expect_error(&b, SL_E_NOT_FOUND, "inventory_not_found");
    CU_ASSERT_EQUAL(put(&b, "a", "{}", "h0"), SL_OK);
    CU_ASSERT_EQUAL(do_write(&b, &patch), SL_OK);
    CU_ASSERT_EQUAL(b.row.revision, 2);
    CU_ASSERT_EQUAL(act(&b, SL_INVENTORY_DELETE, "a", 0), SL_OK);
    CU_ASSERT_EQUAL(do_write(&b, &patch), SL_E_NOT_FOUND);
    expect_error(&b, SL_E_NOT_FOUND, "inventory_not_found");
    bench_close(&b);
}

static void
every_change_has_one_row_in_the_audit_and_no_change_none(void)
{
    store_bench b;
    sl_inventory_history page;
    if (!bench_open(&b))
        return;
    CU_ASSERT_EQUAL(put(&b, "a", "{}", "h1"), SL_OK);
    CU_ASSERT_EQUAL(put(&b, "a", "{}", "h1"), SL_OK);
    CU_ASSERT_EQUAL(put_if(&b, "a", "h2", 7, false), SL_E_PRECONDITION);
    expect_error(&b, SL_E_PRECONDITION, "revision_mismatch");
    CU_ASSERT_EQUAL(put(&b, "a", "{}", "h2"), SL_OK);
    CU_ASSERT_EQUAL(act(&b, SL_INVENTORY_DELETE, "a", 0), SL_OK);
    CU_ASSERT_EQUAL(act(&b, SL_INVENTORY_RESTORE, "a", 0), SL_OK);
    CU_ASSERT_EQUAL(put(&b, "other", "{}", "h1"), SL_OK);

    CU_ASSERT_EQUAL(sl_inventory_audit(b.store, "a", 0, 3, b.arena, &page, &b.err), SL_OK);
    CU_ASSERT_EQUAL_FATAL(page.count, 3);
    CU_ASSERT(page.more);
    sl_expect_text(page.events[0].action, "restore", "the last");
    CU_ASSERT_EQUAL(page.events[0].revision, 3);
    sl_expect_text(page.events[1].action, "delete", "before it");
    CU_ASSERT_EQUAL(page.events[1].revision, 2);
    sl_expect_text(page.events[2].action, "put", "the second put");
    sl_expect_text(page.events[2].requester.remote_address, "192.0.2.7", "from where");
    sl_expect_text(page.events[2].requester.user_agent, "a tool/1.0", "by what");
    sl_expect_text(page.events[2].requester.request_id, "request-1", "in which request");
    CU_ASSERT_EQUAL(sl_inventory_audit(b.store, "a", page.events[2].id, 3, b.arena, &page, &b.err),
                    SL_OK);
    CU_ASSERT(page.count == 1 && !page.more && page.events[0].revision == 1);
    CU_ASSERT_EQUAL(sl_inventory_audit(b.store, "a", page.events[0].id, 3, b.arena, &page, &b.err),
                    SL_OK);
    CU_ASSERT(page.count == 0 && !page.more);
    CU_ASSERT_EQUAL(sl_inventory_audit(b.store, "no", 0, 3, b.arena, &page, &b.err),
                    SL_E_NOT_FOUND);
    expect_error(&b, SL_E_NOT_FOUND, "inventory_not_found");

    CU_ASSERT_EQUAL(sl_inventory_revisions(b.store, "a", 0, 5, b.arena, &page, &b.err), SL_OK);
    CU_ASSERT_EQUAL_FATAL(page.count, 3);
    sl_expect_text(page.events[0].action, "restore", "what made revision 3");
    sl_expect_text(page.events[1].action, "put", "what made revision 2");
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
a_list_by_time_or_name_breaks_ties_by_slug(void)
{
    store_bench b;
    sl_inventory_page page;
    if (!bench_open(&b))
        return;
    for (const char *const *slug = (const char *const[]){"a", "b", "c", "d", NULL}; *slug != NULL;
         slug++)
        CU_ASSERT_EQUAL(put(&b, *slug, "{}", "h1"), SL_OK);
    sl_postgres_do(&postgres,
                   "UPDATE inventories SET updated_at = '2026-02-03T04:05:06.123456Z'"
                   " WHERE slug IN ('b', 'c');"
                   " UPDATE inventories SET updated_at = '2026-02-03T04:05:06.123457Z',"
                   " name = 'A name' WHERE slug = 'a';"
                   " UPDATE inventories SET updated_at = '2026-01-01Z' WHERE slug = 'd'");
    const sl_inventory_query by_time = {.sort = SL_SORT_UPDATED, .limit = 2};
    expect_page(&b, &by_time, "d b", true);
    CU_ASSERT_EQUAL(sl_inventory_list(b.store, &by_time, b.arena, &page, &b.err), SL_OK);
    sl_expect_text(page.last_key, "2026-02-03T04:05:06.123456Z", "to the microsecond");
    expect_page(
        &b,
        &(sl_inventory_query){
            .sort = SL_SORT_UPDATED, .limit = 2, .after_key = page.last_key, .after_slug = "b"},
        "c a", false);
    expect_page(&b, &(sl_inventory_query){.sort = SL_SORT_UPDATED_DOWN, .limit = 3}, "a c b", true);
    expect_page(&b,
                &(sl_inventory_query){.sort = SL_SORT_UPDATED_DOWN,
                                      .limit = 3,
                                      .after_key = page.last_key,
                                      .after_slug = "c"},
                "b d", false);
    expect_page(&b, &(sl_inventory_query){.sort = SL_SORT_NAME, .limit = 3}, "a b c", true);
    expect_page(&b,
                &(sl_inventory_query){
                    .sort = SL_SORT_NAME, .limit = 3, .after_key = "a name", .after_slug = "b"},
                "c d", false);
    bench_close(&b);
}

static void
a_list_is_narrowed_by_what_an_inventory_holds(void)
{
    store_bench b;
    if (!bench_open(&b))
        return;
    sl_inventory_write write =
        write_of("a", "{\"labels\":{\"site\":\"one\",\"tier\":\"gold\"}}", "h1");
    write.accelerators = "[\"part-1\",\"part-2\"]";
    write.name = "Eu North";
    CU_ASSERT_EQUAL(do_write(&b, &write), SL_OK);
    write = write_of("b", "{\"labels\":{\"site\":\"two\"}}", "h1");
    write.accelerators = "[\"part-2\"]";
    CU_ASSERT_EQUAL(do_write(&b, &write), SL_OK);
    CU_ASSERT_EQUAL(put(&b, "c", "{\"labels\":null}", "h1"), SL_OK);
    sl_postgres_do(&postgres,
                   "UPDATE inventories SET updated_at = '2026-02-03T04:05:06Z' WHERE slug = 'c'");

    static const struct {
        sl_inventory_query query;
        const char *expected;
    } rows[] = {
        {{.limit = 9, .accelerator = "part-1"}, "a"},
        {{.limit = 9, .accelerator = "part-2"}, "a b"},
        {{.limit = 9, .accelerator = "part-3"}, ""},
        {{.limit = 9, .name_part = "eu n"}, "a"},
        {{.limit = 9, .name_part = "%"}, ""},
        {{.limit = 9, .labels = "{\"site\":\"two\"}"}, "b"},
        {{.limit = 9, .labels = "{\"site\":\"two\",\"tier\":\"gold\"}"}, ""},
        {{.limit = 9, .label_name = "tier"}, "a"},
        {{.limit = 9, .label_name = "gold"}, ""},
        {{.limit = 9, .updated_since = "2026-02-03T06:05:06.001+02:00"}, "a b"},
        {{.limit = 9, .updated_since = "2026-02-03T04:05:06Z"}, "a b c"},
        {{.limit = 9, .accelerator = "part-2", .name_part = "NAME"}, "b"},
        {{.sort = SL_SORT_SLUG_DOWN, .limit = 9, .accelerator = "part-2"}, "b a"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        expect_page(&b, &rows[i].query, rows[i].expected, false);
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

/* What the code promises the schema refuses to break, whoever writes. */
static void
the_schema_keeps_a_current_revision_and_one_writing_of_each(void)
{
    static const struct {
        const char *sql;
        const char *state;
    } rows[] = {
        {"UPDATE inventories SET revision = 7", "23503"},
        {"DELETE FROM inventory_revisions", "23503"},
        {"INSERT INTO inventory_revisions SELECT slug, 0, name, spec, spec_hash, created_at"
         " FROM inventories",
         "23514"},
        {"UPDATE inventories SET spec = '[]'", "23514"},
        {"INSERT INTO inventory_audit (slug, revision, action, written_at)"
         " VALUES ('a', 1, 'patch', now())",
         "23505"},
        {"INSERT INTO inventory_audit (slug, revision, action, written_at)"
         " VALUES ('a', 2, 'put', now())",
         "23503"},
        {"INSERT INTO inventory_audit (slug, revision, action, written_at)"
         " VALUES ('a', 1, 'drop', now())",
         "23514"},
    };
    store_bench b;
    if (!bench_open(&b))
        return;
    CU_ASSERT_EQUAL(put(&b, "a", "{}", "h1"), SL_OK);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char sql[512];
        CU_ASSERT(sl_text_format(sql, sizeof sql,
                                 "CREATE OR REPLACE FUNCTION attempt() RETURNS text"
                                 " LANGUAGE plpgsql AS $$ BEGIN SET CONSTRAINTS ALL IMMEDIATE; %s;"
                                 " RETURN 'accepted'; EXCEPTION WHEN OTHERS THEN RETURN SQLSTATE;"
                                 " END $$",
                                 rows[i].sql));
        sl_postgres_do(&postgres, sql);
        expect_answer("SELECT attempt()", rows[i].state);
    }
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
    SL_CASE(a_restore_makes_the_next_revision_of_what_was_deleted),
    SL_CASE(a_patch_needs_an_inventory_that_is_there),
    SL_CASE(every_change_has_one_row_in_the_audit_and_no_change_none),
    SL_CASE(a_list_is_paged_by_slug_in_byte_order),
    SL_CASE(a_list_by_time_or_name_breaks_ties_by_slug),
    SL_CASE(a_list_is_narrowed_by_what_an_inventory_holds),
    SL_CASE(the_schema_keeps_a_current_revision_and_one_writing_of_each),
    SL_CASE(revisions_come_newest_first_in_pages),
    SL_CASE(hostile_slugs_are_refused_and_never_found),
    SL_CASE(any_name_is_kept_as_it_is_and_broken_utf_8_is_refused),
    SL_CASE(a_row_larger_than_the_arena_is_an_error_and_leaves_the_row_alone),
    SL_CASE(concurrent_puts_of_one_slug_give_consecutive_revisions),
};

int
main(int argc, char **argv)
{
    have_postgres = sl_postgres_create(&postgres);
    const int status = sl_run_cases(argc, argv, "store", cases, sizeof cases / sizeof cases[0]);
    if (have_postgres)
        sl_postgres_remove(&postgres);
    return status;
}
