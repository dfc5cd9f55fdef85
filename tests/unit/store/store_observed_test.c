/* Observations and saved plans in the database: what is refused, what is kept, what holds. */
#include <string.h>

#include "store/observation.h"
#include "store/plan.h"
#include "store_inventories.h"

#define HASH_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define HASH_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

/* With an inventory "a" to speak of. */
static bool
inventory_open(store_bench *b)
{
    if (!bench_open(b))
        return false;
    CU_ASSERT_EQUAL_FATAL(put(b, "a", "{\"pools\":[]}", "h"), SL_OK);
    return true;
}

static sl_code
observe(store_bench *b, const char *source, const char *observed_at, const char *facts_hash,
        sl_observation_row *row)
{
    const sl_observation_write write = {.slug = "a",
                                        .source = source,
                                        .format = "test",
                                        .raw_hash = HASH_A,
                                        .facts = "{\"groups\":[]}",
                                        .facts_hash = facts_hash,
                                        .hosts = 2,
                                        .observed_at = observed_at};
    bool created = false;
    return sl_observation_put(b->store, &write, b->arena, row, &created, &b->err);
}

static void
observations_never_go_back_and_count_their_changes(void)
{
    store_bench b;
    sl_observation_row row;
    if (!inventory_open(&b))
        return;
    CU_ASSERT_EQUAL(observe(&b, "s", "2026-01-31T12:00:00Z", HASH_A, &row), SL_OK);
    CU_ASSERT_EQUAL(row.revision, 1);
    CU_ASSERT_EQUAL(row.stale_after_s, 86400);
    CU_ASSERT_EQUAL(observe(&b, "s", "2026-01-31T12:01:00Z", HASH_A, &row), SL_OK);
    CU_ASSERT_EQUAL(row.revision, 1);
    sl_expect_text(row.observed_at, "2026-01-31T12:01:00.000Z", "renewed");
    CU_ASSERT_EQUAL(observe(&b, "s", "2026-01-31T12:02:00Z", HASH_B, &row), SL_OK);
    CU_ASSERT_EQUAL(row.revision, 2);
    CU_ASSERT_EQUAL(observe(&b, "s", "2026-01-31T12:01:59Z", HASH_A, &row), SL_E_CONFLICT);
    expect_error(&b, SL_E_CONFLICT, "stale_observation");
    char audit[64];
    sl_postgres_ask(&postgres,
                    "SELECT string_agg(action || ' ' || revision, ',' ORDER BY id)"
                    " FROM observation_audit",
                    audit, sizeof audit);
    sl_expect_text(audit, "put 1,put 2", "what changed something is noted");
    bench_close(&b);
}

static void
sources_of_an_inventory_are_bounded(void)
{
    store_bench b;
    sl_observation_row row;
    if (!inventory_open(&b))
        return;
    sl_postgres_do(&postgres,
                   "INSERT INTO observations SELECT 'a', 's' || n, 1, 'f', repeat('a', 64), '{}',"
                   " repeat('a', 64), 0, now(), 60, now(), now() FROM generate_series(1, 1024) n");
    CU_ASSERT_EQUAL(observe(&b, "one-more", "2026-01-31T12:00:00Z", HASH_A, &row), SL_E_RANGE);
    expect_error(&b, SL_E_RANGE, "too_many");
    CU_ASSERT_EQUAL(observe(&b, "s7", "2999-01-31T12:00:00Z", HASH_A, &row), SL_OK);
    bench_close(&b);
}

static void
the_schema_refuses_what_the_code_never_writes(void)
{
    store_bench b;
    if (!inventory_open(&b))
        return;
    for (const char *const *change =
             (const char *const[]){"source = 'Upper'", "revision = 0", "raw_hash = 'x'",
                                   "facts = '[]'", "stale_after_s = 0", "hosts = -1", NULL};
         *change != NULL; change++) {
        sl_observation_row row;
        char statement[256];
        char answer[64];
        CU_ASSERT_EQUAL(observe(&b, "s", "2026-01-31T12:00:00Z", HASH_A, &row), SL_OK);
        (void)sl_text_format(statement, sizeof statement,
                             "DO $$ BEGIN UPDATE observations SET %s; RAISE 'it was taken';"
                             " EXCEPTION WHEN check_violation THEN NULL; END $$",
                             *change);
        sl_postgres_do(&postgres, statement);
        sl_postgres_ask(&postgres, "SELECT count(*) FROM observations WHERE source = 's'", answer,
                        sizeof answer);
        sl_expect_text(answer, "1", *change);
    }
    bench_close(&b);
}

static void
every_table_and_column_says_what_it_is(void)
{
    store_bench b;
    char answer[256];
    if (!inventory_open(&b))
        return;
    sl_postgres_ask(&postgres,
                    "SELECT coalesce(string_agg(c.relname || '.' || a.attname, ','), 'all do')"
                    " FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid"
                    " AND a.attnum >= 0 AND NOT a.attisdropped"
                    " WHERE c.relname IN ('observations', 'plans', 'plan_revisions',"
                    " 'observation_audit', 'plan_audit')"
                    " AND col_description(c.oid, a.attnum) IS NULL",
                    answer, sizeof answer);
    sl_expect_text(answer, "all do", "columns");
    sl_postgres_ask(&postgres,
                    "SELECT count(*) FROM pg_class c WHERE obj_description(c.oid) IS NOT NULL"
                    " AND c.relname IN ('observations', 'plans', 'plan_revisions',"
                    " 'observation_audit', 'plan_audit')",
                    answer, sizeof answer);
    sl_expect_text(answer, "5", "tables");
    bench_close(&b);
}

static sl_plan_row
plan_of(store_bench *b, const char *software)
{
    sl_plan_row row = {.slug = NULL};
    CU_ASSERT_EQUAL(sl_plan_get(b->store, "p", software, b->arena, &row, &b->err), SL_OK);
    return row;
}

static void
save(store_bench *b, const char *spec_hash)
{
    const sl_plan_write write = {
        .slug = "p", .name = "", .spec = "{}", .spec_hash = spec_hash, .inventory = "a"};
    bool created = false;
    CU_ASSERT_EQUAL(sl_plan_put(b->store, &write, &created, &b->err), SL_OK);
}

static void
judge(store_bench *b, const sl_plan_row *row, const char *verdict)
{
    const sl_plan_judgement judgement = {.slug = row->slug,
                                         .revision = row->revision,
                                         .verdict = verdict,
                                         .evaluation = "{}",
                                         .holds_for = row->holds_for,
                                         .judged_for = row->judged_for};
    CU_ASSERT_EQUAL(sl_plan_judge(b->store, &judgement, &b->err), SL_OK);
}

static void
a_verdict_holds_until_what_it_was_computed_from_changes(void)
{
    store_bench b;
    sl_observation_row observed;
    uint64_t counts[SL_PLAN_VERDICTS];
    if (!inventory_open(&b))
        return;
    save(&b, "1");
    CU_ASSERT_FALSE(plan_of(&b, "v1").current);
    sl_plan_row row = plan_of(&b, "v1");
    judge(&b, &row, "fits");
    CU_ASSERT_TRUE(plan_of(&b, "v1").current);
    CU_ASSERT_FALSE(plan_of(&b, "v2").current);

    CU_ASSERT_EQUAL(observe(&b, "s", "2999-01-31T12:00:00Z", HASH_A, &observed), SL_OK);
    CU_ASSERT_FALSE(plan_of(&b, "v1").current);
    const sl_plan_row early = row;
    row = plan_of(&b, "v1");
    judge(&b, &row, "does_not_fit");
    judge(&b, &early, "refused"); /* by who read it before anybody judged: too late */
    CU_ASSERT_TRUE(plan_of(&b, "v1").current);
    CU_ASSERT_EQUAL(observe(&b, "s", "2999-01-31T13:00:00Z", HASH_A, &observed), SL_OK);
    CU_ASSERT_TRUE(plan_of(&b, "v1").current);

    CU_ASSERT_EQUAL(sl_plan_count(b.store, NULL, "v1", counts, &b.err), SL_OK);
    CU_ASSERT_EQUAL(counts[SL_PLAN_DOES_NOT_FIT], 1);
    CU_ASSERT_EQUAL(counts[SL_PLAN_PENDING], 0);
    sl_postgres_do(&postgres, "UPDATE observations SET observed_at = now() - interval '2 days'");
    CU_ASSERT_FALSE(plan_of(&b, "v1").current);
    CU_ASSERT_EQUAL(sl_plan_count(b.store, NULL, "v1", counts, &b.err), SL_OK);
    CU_ASSERT_EQUAL(counts[SL_PLAN_PENDING], 1);
    bench_close(&b);
}

static void
a_verdict_on_another_revision_or_a_second_one_is_not_kept(void)
{
    store_bench b;
    if (!inventory_open(&b))
        return;
    save(&b, "1");
    const sl_plan_row old = plan_of(&b, "v1");
    save(&b, "2");
    judge(&b, &old, "refused");
    CU_ASSERT_PTR_NULL(plan_of(&b, "v1").verdict);
    const sl_plan_row row = plan_of(&b, "v1");
    judge(&b, &row, "fits");
    judge(&b, &row, "refused");
    sl_expect_text(plan_of(&b, "v1").verdict, "fits", "the first one");
    bench_close(&b);
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(observations_never_go_back_and_count_their_changes),
        SL_CASE(sources_of_an_inventory_are_bounded),
        SL_CASE(the_schema_refuses_what_the_code_never_writes),
        SL_CASE(every_table_and_column_says_what_it_is),
        SL_CASE(a_verdict_holds_until_what_it_was_computed_from_changes),
        SL_CASE(a_verdict_on_another_revision_or_a_second_one_is_not_kept),
    };
    return bench_run(argc, argv, "store_observed", cases, sizeof cases / sizeof cases[0]);
}
