/* What becomes of stored inventories: deleted, restored, patched, listed, and written down. */
#include "store/audit.h"
#include "store/sql.h"
#include "store_inventories.h"

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
    const sl_audit_subject a = {.kind = SL_AUDIT_INVENTORY, .name = "a"};
    const sl_audit_subject no = {.kind = SL_AUDIT_INVENTORY, .name = "no"};
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

    CU_ASSERT_EQUAL(sl_audit_list(b.store, &a, 0, 3, b.arena, &page, &b.err), SL_OK);
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
    CU_ASSERT_EQUAL(sl_audit_list(b.store, &a, page.events[2].id, 3, b.arena, &page, &b.err),
                    SL_OK);
    CU_ASSERT(page.count == 1 && !page.more && page.events[0].revision == 1);
    CU_ASSERT_EQUAL(sl_audit_list(b.store, &a, page.events[0].id, 3, b.arena, &page, &b.err),
                    SL_OK);
    CU_ASSERT(page.count == 0 && !page.more);
    CU_ASSERT_EQUAL(sl_audit_list(b.store, &no, 0, 3, b.arena, &page, &b.err), SL_E_NOT_FOUND);
    expect_error(&b, SL_E_NOT_FOUND, "inventory_not_found");

    CU_ASSERT_EQUAL(sl_inventory_revisions(b.store, "a", 0, 5, b.arena, &page, &b.err), SL_OK);
    CU_ASSERT_EQUAL_FATAL(page.count, 3);
    sl_expect_text(page.events[0].action, "restore", "what made revision 3");
    sl_expect_text(page.events[1].action, "put", "what made revision 2");
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
        {{.limit = 9, .name_part = "_"}, ""},
        {{.limit = 9, .name_part = ""}, "a b c"},
        {{.limit = 9, .name_part = "U"}, "a"},
        {{.limit = 9, .name_part = "th"}, "a"},
        {{.limit = 9, .name_part = "eu north"}, "a"},
        {{.limit = 9, .name_part = "eu north "}, ""},
        {{.limit = 9, .name_part = "u no eu"}, ""}, /* all of its runs but one */
        {{.sort = SL_SORT_NAME, .limit = 9, .name_part = "A"}, "b c"},
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

/* Of whatever length: what covers a part stands in the name. */
static void
every_part_of_a_name_finds_it(void)
{
    static const char name[] = "Rack seventeen";
    store_bench b;
    if (!bench_open(&b))
        return;
    CU_ASSERT_EQUAL(put(&b, "other", "{}", "h1"), SL_OK);
    sl_inventory_write write = write_of("whole", "{}", "h1");
    write.name = name;
    CU_ASSERT_EQUAL(do_write(&b, &write), SL_OK);
    for (size_t from = 0; from + 1 < sizeof name; from++) {
        for (size_t length = 4; from + length < sizeof name; length++) {
            char part[sizeof name] = "";
            memcpy(part, name + from, length);
            expect_page(&b, &(sl_inventory_query){.limit = 9, .name_part = part}, "whole", false);
        }
    }
    bench_close(&b);
}

static void
a_name_is_found_by_any_part_of_its_start(void)
{
    static const struct {
        const char *part;
        const char *expected;
    } rows[] = {
        {"x", "long"},
        {"xa", "long"},
        {"xab", "long"},
        {"z", "umlaut"},
        {"\xc3\x84rz", "umlaut"},
        {"rZ", "umlaut"},
        {"\xe2\x82\xac", "umlaut"},
        {"aaaa", ""},
        {"\\", "quoted"},
        {"'a\"{,}", "quoted"},
    };
    store_bench b;
    if (!bench_open(&b))
        return;
    CU_ASSERT_EQUAL(put(&b, "long", "{}", "h1"), SL_OK);
    CU_ASSERT_EQUAL(put(&b, "quoted", "{}", "h1"), SL_OK);
    CU_ASSERT_EQUAL(put(&b, "umlaut", "{}", "h1"), SL_OK);
    sl_postgres_do(&postgres,
                   "UPDATE inventories SET name = repeat('b', 252) || 'cxabz' WHERE slug = 'long';"
                   " UPDATE inventories SET name = E'\\\\ \\'a\"{,}' WHERE slug = 'quoted';"
                   " UPDATE inventories SET name = E'M\\u00C4RZ \\u20AC' WHERE slug = 'umlaut'");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        expect_page(&b, &(sl_inventory_query){.limit = 9, .name_part = rows[i].part},
                    rows[i].expected, false);
    bench_close(&b);
}

/* Of many inventories, as the lists are planned: for the values that they have. */
static void
a_filter_that_leaves_few_is_looked_up_whatever_the_order(void)
{
    static const struct {
        sl_statement statement;
        const char *first;
        const char *last;
    } lists[] = {
        {SL_SQL_INVENTORIES_BY_SLUG, "''", ""},
        {SL_SQL_INVENTORIES_BY_SLUG_DOWN, "'~'", ""},
        {SL_SQL_INVENTORIES_BY_UPDATE, "'-infinity'", ", ''"},
        {SL_SQL_INVENTORIES_BY_UPDATE_DOWN, "'infinity'", ", '~'"},
        {SL_SQL_INVENTORIES_BY_NAME, "''", ", ''"},
        {SL_SQL_INVENTORIES_BY_OBSERVATION, "'-infinity'", ", ''"},
    };
    static const struct {
        const char *part, *problems;
        const char *index;
    } filters[] = {
        {"'nowhere'", "NULL", "inventories_name_runs_index"},
        {"'no'", "NULL", "inventories_name_runs_index"},
        {"'q'", "NULL", "inventories_name_runs_index"},
        {"'cluster 4711'", "NULL", "inventories_name_runs_index"},
        {"NULL", "true", "inventories_problem_at_index"},
    };
    static char sql[4096], plan[16384];
    store_bench b;
    if (!bench_open(&b))
        return;
    sl_postgres_do(&postgres,
                   "INSERT INTO inventories (slug, revision, name, spec, spec_hash, created_at,"
                   " updated_at, hosts_wrong, stale_at) SELECT 'inv-' || i, 1, 'Cluster ' || i,"
                   " '{}', 'h', now(), now(), i % 500 = 0, now() + i % 600 * interval '1 minute'"
                   " FROM generate_series(1, 10000) i;"
                   " INSERT INTO inventory_revisions SELECT slug, revision, name, spec, spec_hash,"
                   " created_at FROM inventories");
    sl_postgres_do(&postgres, "ANALYZE inventories");
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        for (size_t j = 0; j < sizeof filters / sizeof filters[0]; j++) {
            CU_ASSERT(sl_text_format(sql, sizeof sql,
                                     "PREPARE listed AS %s; EXPLAIN (COSTS OFF, FORMAT JSON)"
                                     " EXECUTE listed (%s, 101, false, NULL, %s, NULL, NULL,"
                                     " NULL, %s%s)",
                                     sl_sql_get(lists[i].statement)->text, lists[i].first,
                                     filters[j].part, filters[j].problems, lists[i].last));
            sl_postgres_ask(&postgres, sql, plan, sizeof plan);
            if (strstr(plan, filters[j].index) == NULL)
                sl_fail_for(plan);
        }
    }
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

static const sl_case cases[] = {
    SL_CASE(a_restore_makes_the_next_revision_of_what_was_deleted),
    SL_CASE(a_patch_needs_an_inventory_that_is_there),
    SL_CASE(every_change_has_one_row_in_the_audit_and_no_change_none),
    SL_CASE(a_list_by_time_or_name_breaks_ties_by_slug),
    SL_CASE(a_list_is_narrowed_by_what_an_inventory_holds),
    SL_CASE(every_part_of_a_name_finds_it),
    SL_CASE(a_name_is_found_by_any_part_of_its_start),
    SL_CASE(a_filter_that_leaves_few_is_looked_up_whatever_the_order),
    SL_CASE(the_schema_keeps_a_current_revision_and_one_writing_of_each),
};

int
main(int argc, char **argv)
{
    return bench_run(argc, argv, "store_life", cases, sizeof cases / sizeof cases[0]);
}
