#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "base/text.h"
#include "harness.h"
#include "postgres_fixture.h"
#include "store/migrate.h"
#include "store/store.h"

static sl_postgres postgres;
static bool have_postgres;

/* An empty database; false, and the case skipped, where there is no PostgreSQL. */
static bool
fresh(void)
{
    if (have_postgres)
        sl_postgres_empty(&postgres);
    else
        sl_skip("no PostgreSQL is installed");
    return have_postgres;
}

static void
expect_answer(const char *sql, const char *expected)
{
    char answer[256];
    sl_postgres_ask(&postgres, sql, answer, sizeof answer);
    sl_expect_text(answer, expected, sql);
}

static void
expect_error(const sl_errors *err, sl_code code, const char *rule)
{
    CU_ASSERT_EQUAL(err->count, 1);
    CU_ASSERT_EQUAL(err->list[0].code, code);
    sl_expect_text(err->count > 0 ? err->list[0].rule : "", rule, "rule");
}

static sl_code
migrate(sl_errors *err)
{
    sl_store *store = sl_store_new(postgres.url);
    const sl_code code = sl_store_migrate(store, err);
    sl_store_free(store);
    return code;
}

static sl_code
apply(const sl_embedded *files, size_t count, sl_errors *err)
{
    const sl_embedded_set set = {files, count};
    sl_store *store = sl_store_new(postgres.url);
    const sl_code code = sl_migrate_apply(store, &set, err);
    sl_store_free(store);
    return code;
}

static sl_embedded
file_of(const char *name, const char *text)
{
    const sl_embedded file = {name, (const unsigned char *)text, strlen(text)};
    return file;
}

static sl_code
ready(sl_errors *err)
{
    sl_store *store = sl_store_new(postgres.url);
    const sl_code code = sl_store_ready(store, err);
    sl_store_free(store);
    return code;
}

static void
an_empty_database_is_not_ready_until_migrated(void)
{
    if (!fresh())
        return;
    sl_errors err = {0};
    CU_ASSERT_EQUAL(ready(&err), SL_E_UNAVAILABLE);
    expect_error(&err, SL_E_UNAVAILABLE, "database_not_migrated");

    sl_errors none = {0};
    CU_ASSERT_EQUAL(migrate(&none), SL_OK);
    CU_ASSERT_EQUAL(ready(&none), SL_OK);
    CU_ASSERT_EQUAL(none.count, 0);
    expect_answer("SELECT number || ' ' || name FROM schema_migrations ORDER BY number LIMIT 1",
                  "1 0001_inventories.sql");
    expect_answer("SELECT count(*) FROM inventories", "0");
}

static void
every_embedded_migration_is_applied_in_order(void)
{
    if (!fresh())
        return;
    sl_errors err = {0};
    CU_ASSERT_EQUAL(migrate(&err), SL_OK);
    char count[32];
    (void)sl_text_format(count, sizeof count, "%zu", sl_sql_files.count);
    CU_ASSERT(sl_sql_files.count > 0);
    expect_answer("SELECT count(*) FROM schema_migrations WHERE checksum ~ '^[0-9a-f]{64}$'",
                  count);
    for (size_t i = 1; i < sl_sql_files.count; i++)
        CU_ASSERT(strncmp(sl_sql_files.files[i - 1].name, sl_sql_files.files[i].name, 4) < 0);
}

static void
every_table_and_every_column_says_what_it_is(void)
{
    if (!fresh())
        return;
    sl_errors err = {0};
    CU_ASSERT_EQUAL(migrate(&err), SL_OK);
    expect_answer(
        "SELECT coalesce(string_agg(c.relname || coalesce('.' || a.attname, ''), ', '"
        " ORDER BY c.relname, a.attname), 'none')"
        " FROM pg_class c JOIN LATERAL (SELECT 0 AS attnum, NULL::name AS attname"
        " UNION ALL SELECT attnum, attname FROM pg_attribute"
        " WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped) a ON true"
        " WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm')"
        " AND coalesce(col_description(c.oid, a.attnum), '') = ''"
        " AND coalesce(CASE a.attnum WHEN 0 THEN obj_description(c.oid, 'pg_class') END, '')"
        " = ''",
        "none");
}

/* What the release before stored is found by what this one lists by. */
static void
inventories_of_the_release_before_are_taken_along(void)
{
    if (!fresh())
        return;
    sl_errors err = {0};
    CU_ASSERT_EQUAL(apply(sl_sql_files.files, 1, &err), SL_OK);
    sl_postgres_do(&postgres,
                   "INSERT INTO inventories VALUES ('a', 1, 'A', '{\"labels\":{\"site\":\"one\"},"
                   "\"pools\":[{\"node\":{\"accelerator\":\"z\"}},{\"node\":{}},"
                   "{\"node\":{\"accelerator\":\"y\"}},{\"node\":{\"accelerator\":\"z\"}}]}', 'h',"
                   " now(), now(), NULL);"
                   " INSERT INTO inventory_revisions SELECT slug, revision, name, spec, spec_hash,"
                   " created_at FROM inventories");
    CU_ASSERT_EQUAL(migrate(&err), SL_OK);
    CU_ASSERT_EQUAL(err.count, 0);
    expect_answer("SELECT accelerators::text || ' ' || labels::text FROM inventories",
                  "{y,z} {\"site\": \"one\"}");
    /* And it may still write beside this one. */
    sl_postgres_do(&postgres,
                   "BEGIN; UPDATE inventories SET revision = revision + 1; INSERT INTO"
                   " inventory_revisions SELECT slug, revision, name, spec, spec_hash, updated_at"
                   " FROM inventories; COMMIT");
    expect_answer("SELECT revision FROM inventories", "2");
}

/* Rows that one file changes twice, of a release whose inventories had sources and plans. */
static void
what_was_observed_and_judged_before_is_found_as_a_problem(void)
{
    if (!fresh())
        return;
    sl_errors err = {0};
    CU_ASSERT_EQUAL(apply(sl_sql_files.files, 8, &err), SL_OK);
    sl_postgres_do(
        &postgres,
        "INSERT INTO inventories (slug, revision, name, spec, spec_hash, created_at, updated_at)"
        " SELECT slug, 1, slug, '{}', 'h', now(), now() FROM unnest('{both,fine,seen}'::text[])"
        " slug; INSERT INTO inventory_revisions SELECT slug, revision, name, spec, spec_hash,"
        " created_at FROM inventories;"
        " INSERT INTO observations SELECT slug, 'cron', 1, 'f', repeat('0', 64), '{}',"
        " repeat('1', 64), 1, '2026-01-01Z', 60, now(), now() FROM inventories"
        " WHERE slug <> 'fine';"
        " INSERT INTO plans (slug, revision, name, spec, spec_hash, inventory, created_at,"
        " updated_at, verdict, evaluation, evaluated_at, evaluated_for)"
        " VALUES ('p', 1, '', '{}', 'h', 'both', now(), now(), 'does_not_fit', '{}', now(), '')");
    CU_ASSERT_EQUAL(migrate(&err), SL_OK);
    CU_ASSERT_EQUAL(err.count, 0);
    sl_postgres_do(&postgres, "UPDATE inventories SET hosts_wrong = false");
    expect_answer("SELECT string_agg(concat_ws(' ', slug, stale_at AT TIME ZONE 'UTC',"
                  " plans_wrong, problem_at = '-infinity', length(observed_hash)), ', '"
                  " ORDER BY slug) FROM inventories",
                  "both 2026-01-01 00:01:00 t t 32, fine infinity f f 0,"
                  " seen 2026-01-01 00:01:00 f f 32");
    /* And verdicts are followed from then on. */
    sl_postgres_do(&postgres, "UPDATE plans SET verdict = 'fits'");
    expect_answer("SELECT count(*) FROM inventories WHERE plans_wrong", "0");
}

static void
migrating_twice_changes_nothing(void)
{
    if (!fresh())
        return;
    sl_errors err = {0};
    char before[256];
    CU_ASSERT_EQUAL(migrate(&err), SL_OK);
    sl_postgres_ask(&postgres, "SELECT md5(string_agg(m::text, ';')) FROM schema_migrations m",
                    before, sizeof before);
    CU_ASSERT_EQUAL(migrate(&err), SL_OK);
    expect_answer("SELECT md5(string_agg(m::text, ';')) FROM schema_migrations m", before);
    CU_ASSERT_EQUAL(err.count, 0);
}

enum { MIGRATORS = 4 };

static void *
migrate_in_thread(void *context)
{
    sl_code *code = context;
    sl_errors err = {0};
    *code = migrate(&err);
    return NULL;
}

static void
concurrent_migrators_apply_each_file_once(void)
{
    if (!fresh())
        return;
    pthread_t threads[MIGRATORS];
    sl_code codes[MIGRATORS];
    for (int i = 0; i < MIGRATORS; i++)
        CU_ASSERT_EQUAL(pthread_create(&threads[i], NULL, migrate_in_thread, &codes[i]), 0);
    for (int i = 0; i < MIGRATORS; i++) {
        CU_ASSERT_EQUAL(pthread_join(threads[i], NULL), 0);
        CU_ASSERT_EQUAL(codes[i], SL_OK);
    }
    sl_errors err = {0};
    CU_ASSERT_EQUAL(ready(&err), SL_OK);
}

typedef struct waiter {
    char url[256];
    sl_embedded_set set;
    sl_code code;
} waiter;

static void *
apply_in_thread(void *context)
{
    waiter *waiting = context;
    sl_errors err = {0};
    sl_store *store = sl_store_new(waiting->url);
    waiting->code = sl_migrate_apply(store, &waiting->set, &err);
    sl_store_free(store);
    return NULL;
}

static void
a_migrator_waits_for_another_past_the_lock_timeout_of_a_request(void)
{
    if (!fresh())
        return;
    const sl_embedded files[] = {
        file_of("0001_slow.sql", "CREATE TABLE slow (n int); SELECT pg_sleep(0.5);")};
    waiter waiters[2];
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        waiters[i].set = (sl_embedded_set){files, 1};
        CU_ASSERT(sl_text_format(waiters[i].url, sizeof waiters[i].url,
                                 "%s&options=-c%%20lock_timeout%%3D20", postgres.url));
        CU_ASSERT_EQUAL(pthread_create(&threads[i], NULL, apply_in_thread, &waiters[i]), 0);
    }
    for (int i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL(pthread_join(threads[i], NULL), 0);
        CU_ASSERT_EQUAL(waiters[i].code, SL_OK);
    }
    expect_answer("SELECT count(*) FROM schema_migrations", "1");
}

static void
an_edited_migration_is_refused_by_name(void)
{
    if (!fresh())
        return;
    sl_errors err = {0};
    CU_ASSERT_EQUAL(migrate(&err), SL_OK);
    sl_postgres_do(&postgres, "UPDATE schema_migrations SET checksum = repeat('0', 64)");
    CU_ASSERT_EQUAL(migrate(&err), SL_E_CONFLICT);
    expect_error(&err, SL_E_CONFLICT, "migration_changed");
    CU_ASSERT_PTR_NOT_NULL(strstr(err.list[0].message, "0001_inventories.sql"));
}

static void
a_database_ahead_of_the_build_is_accepted(void)
{
    if (!fresh())
        return;
    sl_errors err = {0};
    CU_ASSERT_EQUAL(migrate(&err), SL_OK);
    sl_postgres_do(&postgres, "INSERT INTO schema_migrations VALUES (9999, '9999_later.sql', 'x',"
                              " now())");
    CU_ASSERT_EQUAL(migrate(&err), SL_OK);
    CU_ASSERT_EQUAL(ready(&err), SL_OK);
    CU_ASSERT_EQUAL(err.count, 0);
}

static void
a_failing_migration_leaves_nothing_behind_and_stops_the_ones_after(void)
{
    if (!fresh())
        return;
    const sl_embedded files[] = {
        file_of("0001_good.sql", "CREATE TABLE good (n int);"),
        file_of("0002_bad.sql", "CREATE TABLE half (n int); SELECT no_such_function();"),
        file_of("0003_after.sql", "CREATE TABLE after_it (n int);"),
    };
    sl_errors err = {0};
    CU_ASSERT_NOT_EQUAL(apply(files, 3, &err), SL_OK);
    CU_ASSERT_EQUAL(err.count, 1);
    CU_ASSERT_PTR_NULL(strstr(err.list[0].message, "no_such_function"));
    expect_answer("SELECT string_agg(tablename, ',' ORDER BY tablename) FROM pg_tables"
                  " WHERE schemaname = 'public'",
                  "good,schema_migrations");
    expect_answer("SELECT string_agg(name, ',') FROM schema_migrations", "0001_good.sql");

    /* Forward only: once mended, the same command goes on where it stopped. */
    const sl_embedded mended[] = {files[0], file_of("0002_bad.sql", "CREATE TABLE half (n int);"),
                                  files[2]};
    sl_errors none = {0};
    CU_ASSERT_EQUAL(apply(mended, 3, &none), SL_OK);
    expect_answer("SELECT count(*) FROM schema_migrations", "3");
}

static void
a_migration_may_take_longer_than_a_statement_of_a_request(void)
{
    if (!fresh())
        return;
    char url[256];
    (void)sl_text_format(url, sizeof url, "%s&options=-c%%20statement_timeout%%3D100",
                         postgres.url);
    const sl_embedded slow[] = {file_of("0001_slow.sql", "SELECT pg_sleep(0.5);")};
    const sl_embedded_set set = {slow, 1};
    sl_errors err = {0};
    sl_store *store = sl_store_new(url);
    CU_ASSERT_EQUAL(sl_migrate_apply(store, &set, &err), SL_OK);
    CU_ASSERT_EQUAL(err.count, 0);
    sl_store_free(store);
}

static const sl_case cases[] = {
    SL_CASE(an_empty_database_is_not_ready_until_migrated),
    SL_CASE(every_embedded_migration_is_applied_in_order),
    SL_CASE(every_table_and_every_column_says_what_it_is),
    SL_CASE(inventories_of_the_release_before_are_taken_along),
    SL_CASE(what_was_observed_and_judged_before_is_found_as_a_problem),
    SL_CASE(migrating_twice_changes_nothing),
    SL_CASE(concurrent_migrators_apply_each_file_once),
    SL_CASE(a_migrator_waits_for_another_past_the_lock_timeout_of_a_request),
    SL_CASE(an_edited_migration_is_refused_by_name),
    SL_CASE(a_database_ahead_of_the_build_is_accepted),
    SL_CASE(a_failing_migration_leaves_nothing_behind_and_stops_the_ones_after),
    SL_CASE(a_migration_may_take_longer_than_a_statement_of_a_request),
};

int
main(int argc, char **argv)
{
    have_postgres = sl_postgres_create(&postgres);
    const int status = sl_run_cases(argc, argv, "migrate", cases, sizeof cases / sizeof cases[0]);
    if (have_postgres)
        sl_postgres_remove(&postgres);
    return status;
}
