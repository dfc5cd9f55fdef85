/* What the store does when the database misbehaves, is gone, or was never there. */
#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/text.h"
#include "harness.h"
#include "postgres_fixture.h"
#include "store/inventory.h"

enum { ARENA_BYTES = 1 << 20, URL_SIZE = 256, RECOVERY_STEPS = 1200, STEP_NS = 50000000 };

static sl_postgres postgres;
static bool have_postgres;

static sl_store *
open_store(const char *url)
{
    sl_store *store = sl_store_new(url);
    CU_ASSERT_PTR_NOT_NULL(store);
    return store;
}

/* An empty migrated database, and a store whose URL says `more` beside where it is. */
static sl_store *
fresh(char url[URL_SIZE], const char *more)
{
    if (!have_postgres) {
        sl_skip("no PostgreSQL is installed");
        return NULL;
    }
    sl_postgres_empty(&postgres);
    sl_errors err = {0};
    sl_store *plain = open_store(postgres.url);
    CU_ASSERT_EQUAL(sl_store_migrate(plain, &err), SL_OK);
    sl_store_free(plain);
    CU_ASSERT(sl_text_format(url, URL_SIZE, "%s%s", postgres.url, more));
    return open_store(url);
}

static sl_code
put(sl_store *store, const char *hash, sl_errors *err)
{
    sl_arena *arena = sl_arena_new(ARENA_BYTES);
    sl_inventory_row row = {0};
    bool created = false;
    const sl_inventory_write write = {.action = SL_INVENTORY_PUT,
                                      .slug = "a",
                                      .name = "name",
                                      .spec = "{}",
                                      .spec_hash = hash,
                                      .accelerators = "[]"};
    const sl_code code = sl_inventory_write_do(store, &write, arena, &row, &created, err);
    sl_arena_free(arena);
    return code;
}

static void
expect_error(const sl_errors *err, sl_code code, const char *rule)
{
    CU_ASSERT_EQUAL(err->count, 1);
    CU_ASSERT_EQUAL(err->list[0].code, code);
    sl_expect_text(err->count > 0 ? err->list[0].rule : "", rule, "rule");
}

static void
expect_put_fails(sl_store *store, const char *hash, sl_code code, const char *rule)
{
    sl_errors err = {0};
    CU_ASSERT_EQUAL(put(store, hash, &err), code);
    expect_error(&err, code, rule);
}

static void
expect_put(sl_store *store, const char *hash)
{
    sl_errors err = {0};
    CU_ASSERT_EQUAL(put(store, hash, &err), SL_OK);
    CU_ASSERT_EQUAL(err.count, 0);
}

static void
expect_answer(const char *sql, const char *expected)
{
    char answer[256];
    sl_postgres_ask(&postgres, sql, answer, sizeof answer);
    sl_expect_text(answer, expected, sql);
}

/* Each new revision runs `body`, which may consult how often it ran (a sequence never rolls back);
   `kind` decides whether at the insert or at the commit. */
static void
trap_revisions(const char *kind, const char *body)
{
    char sql[1024];
    CU_ASSERT(sl_text_format(
        sql, sizeof sql,
        "CREATE SEQUENCE runs;"
        " CREATE FUNCTION trap() RETURNS trigger LANGUAGE plpgsql AS $$ DECLARE run bigint;"
        " BEGIN run := nextval('runs'); %s RETURN NULL; END $$;"
        " CREATE %s AFTER INSERT ON inventory_revisions %s FOR EACH ROW EXECUTE FUNCTION trap()",
        body, kind[0] == 'c' ? "CONSTRAINT TRIGGER trap" : "TRIGGER trap",
        kind[0] == 'c' ? "DEFERRABLE INITIALLY DEFERRED" : ""));
    sl_postgres_do(&postgres, sql);
}

static void
without_a_url_everything_names_the_setting(void)
{
    sl_store *store = open_store("");
    sl_errors ready = {0};
    sl_errors migrate = {0};
    CU_ASSERT_EQUAL(sl_store_ready(store, &ready), SL_E_UNAVAILABLE);
    expect_error(&ready, SL_E_UNAVAILABLE, "database_not_configured");
    CU_ASSERT_PTR_NOT_NULL(strstr(ready.list[0].hint, "SHARDLINE_DATABASE_URL"));
    CU_ASSERT_EQUAL(sl_store_migrate(store, &migrate), SL_E_UNAVAILABLE);
    expect_error(&migrate, SL_E_UNAVAILABLE, "database_not_configured");
    expect_put_fails(store, "h", SL_E_UNAVAILABLE, "database_not_configured");
    sl_store_free(store);
}

static void
a_bad_url_is_unavailable_and_never_quoted(void)
{
    static const char *const urls[] = {"sesame", "postgresql://user:sesame@:port/db",
                                       "host=/nowhere password=sesame nonsense=1",
                                       "postgresql:///db?host=/nowhere-sesame&user=sesame"};
    for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++) {
        sl_store *store = open_store(urls[i]);
        sl_errors err = {0};
        CU_ASSERT_EQUAL(sl_store_ready(store, &err), SL_E_UNAVAILABLE);
        expect_error(&err, SL_E_UNAVAILABLE, "database_unavailable");
        CU_ASSERT_PTR_NULL(strstr(err.list[0].message, "sesame"));
        CU_ASSERT_PTR_NULL(strstr(err.list[0].hint, "sesame"));
        sl_store_free(store);
    }
}

static void
after_a_failed_attempt_the_next_calls_fail_without_another(void)
{
    enum { CALLS = 20 };
    char folder[] = "/tmp/sl-mute-XXXXXX";
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char url[URL_SIZE];
    if (mkdtemp(folder) == NULL) {
        CU_FAIL("no temporary folder");
        return;
    }
    /* A server that takes every connection and never says a word. */
    CU_ASSERT(
        sl_text_format(address.sun_path, sizeof address.sun_path, "%s/.s.PGSQL.5432", folder));
    CU_ASSERT(sl_text_format(url, sizeof url, "host=%s user=u connect_timeout=2", folder));
    const int mute = socket(AF_UNIX, SOCK_STREAM, 0);
    CU_ASSERT(mute >= 0);
    CU_ASSERT_EQUAL(bind(mute, (const struct sockaddr *)&address, sizeof address), 0);
    CU_ASSERT_EQUAL(listen(mute, CALLS), 0);
    CU_ASSERT_EQUAL(fcntl(mute, F_SETFL, O_NONBLOCK), 0);

    sl_store *store = open_store(url);
    for (int i = 0; i < CALLS; i++) {
        sl_errors err = {0};
        CU_ASSERT_EQUAL(sl_store_ready(store, &err), SL_E_UNAVAILABLE);
    }
    int attempts = 0;
    for (int peer = accept(mute, NULL, NULL); peer >= 0; peer = accept(mute, NULL, NULL)) {
        attempts++;
        close(peer);
    }
    /* One, unless the machine stood still for the length of a backoff. */
    CU_ASSERT(attempts >= 1 && attempts < CALLS / 2);
    sl_store_free(store);
    close(mute);
    unlink(address.sun_path);
    rmdir(folder);
}

static void
a_killed_server_is_unavailable_and_a_restarted_one_is_used_again(void)
{
    char url[URL_SIZE];
    const struct timespec step = {0, STEP_NS};
    sl_store *store = fresh(url, "");
    if (store == NULL)
        return;
    expect_put(store, "h1");
    sl_postgres_kill(&postgres);
    expect_put_fails(store, "h2", SL_E_UNAVAILABLE, "database_unavailable");
    expect_put_fails(store, "h2", SL_E_UNAVAILABLE, "database_unavailable");

    sl_postgres_start(&postgres);
    sl_code code = SL_E_UNAVAILABLE;
    for (int i = 0; i < RECOVERY_STEPS && code != SL_OK; i++) {
        sl_errors err = {0};
        code = sl_store_ready(store, &err);
        (void)nanosleep(&step, NULL);
    }
    CU_ASSERT_EQUAL(code, SL_OK);
    expect_put(store, "h2");
    expect_answer("SELECT revision FROM inventories", "2");
    sl_store_free(store);
}

static void
a_session_cut_between_requests_is_replaced_unnoticed(void)
{
    char url[URL_SIZE];
    sl_store *store = fresh(url, "");
    if (store == NULL)
        return;
    expect_put(store, "h1");
    sl_postgres_do(&postgres, "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
                              " WHERE application_name = 'shardline'");
    expect_put(store, "h2");
    sl_postgres_do(&postgres, "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
                              " WHERE application_name = 'shardline'");
    sl_errors err = {0};
    CU_ASSERT_EQUAL(sl_store_ready(store, &err), SL_OK);
    CU_ASSERT_EQUAL(err.count, 0);
    sl_store_free(store);
}

static void
a_transaction_in_conflict_is_tried_again_as_a_whole(void)
{
    char url[URL_SIZE];
    sl_store *store = fresh(url, "");
    if (store == NULL)
        return;
    trap_revisions("insert", "IF run = 1 THEN RAISE EXCEPTION USING ERRCODE = '40001'; END IF;"
                             " IF run = 2 THEN RAISE EXCEPTION USING ERRCODE = '40P01'; END IF;");
    expect_put(store, "h1");
    expect_answer("SELECT last_value FROM runs", "3");
    expect_answer("SELECT string_agg(revision::text, ',') FROM inventory_revisions", "1");
    sl_store_free(store);
}

static void
endless_conflict_ends_as_busy_after_a_bounded_number_of_tries(void)
{
    char url[URL_SIZE];
    sl_store *store = fresh(url, "");
    if (store == NULL)
        return;
    trap_revisions("insert", "RAISE EXCEPTION USING ERRCODE = '40001';");
    expect_put_fails(store, "h1", SL_E_UNAVAILABLE, "database_busy");
    expect_answer("SELECT last_value FROM runs", "5");
    expect_answer("SELECT count(*) FROM inventories", "0");

    sl_postgres_do(&postgres, "DROP TRIGGER trap ON inventory_revisions");
    expect_put(store, "h1");
    sl_store_free(store);
}

static void
a_connection_lost_inside_a_transaction_is_tried_again(void)
{
    char url[URL_SIZE];
    sl_store *store = fresh(url, "");
    if (store == NULL)
        return;
    trap_revisions("insert",
                   "IF run = 1 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;");
    expect_put(store, "h1");
    expect_answer("SELECT last_value FROM runs", "2");
    sl_store_free(store);
}

static void
a_connection_lost_while_committing_is_not_tried_again(void)
{
    char url[URL_SIZE];
    sl_store *store = fresh(url, "");
    if (store == NULL)
        return;
    trap_revisions("commit", "PERFORM pg_terminate_backend(pg_backend_pid());");
    sl_errors err = {0};
    CU_ASSERT_EQUAL(put(store, "h1", &err), SL_E_UNAVAILABLE);
    expect_error(&err, SL_E_UNAVAILABLE, "database_unavailable");
    CU_ASSERT_PTR_NOT_NULL(strstr(err.list[0].hint, "may have been made"));
    expect_answer("SELECT last_value FROM runs", "1");
    sl_store_free(store);
}

static void
a_forgotten_prepared_statement_is_prepared_again(void)
{
    char url[URL_SIZE];
    sl_store *store = fresh(url, "");
    if (store == NULL)
        return;
    trap_revisions("insert", "IF run = 1 THEN DEALLOCATE inventory_record; END IF;");
    expect_put(store, "h1");
    expect_put(store, "h2");
    expect_answer("SELECT revision FROM inventories", "2");
    sl_store_free(store);
}

static void
the_url_outranks_the_timeouts_and_a_slow_statement_times_out(void)
{
    char url[URL_SIZE];
    sl_store *store = fresh(url, "&options=-c%20statement_timeout%3D100");
    if (store == NULL)
        return;
    trap_revisions("insert", "IF run = 1 THEN PERFORM pg_sleep(60); END IF;");
    expect_put_fails(store, "h1", SL_E_TIMEOUT, "database_timeout");
    expect_put(store, "h1");
    sl_store_free(store);
}

static void
pause_s(double s)
{
    const double whole_s = floor(s);
    const struct timespec time = {.tv_sec = (time_t)whole_s,
                                  .tv_nsec = (long)((s - whole_s) * 1e9)};
    (void)nanosleep(&time, NULL);
}

/* The statement is still at work when its time is over, and ends before anybody looks. */
static void
what_is_late_before_its_commit_is_never_made(void)
{
    char url[URL_SIZE];
    sl_store *store = fresh(url, "");
    if (store == NULL)
        return;
    expect_put(store, "h0"); /* connected, prepared */
    trap_revisions("insert", "IF run = 1 THEN PERFORM pg_sleep(2.5); END IF;");
    sl_errors err = {0};
    const double start_s = sl_clock_now_s();
    sl_store_until(store, start_s + 1.0);
    CU_ASSERT_EQUAL(put(store, "h1", &err), SL_E_TIMEOUT);
    CU_ASSERT(sl_clock_now_s() - start_s < 2.0);
    expect_error(&err, SL_E_TIMEOUT, "database_timeout");
    sl_expect_text(err.list[0].hint, "nothing was changed", "hint");
    /* Its time is over for whatever comes next as well, and nothing more is sent. */
    expect_put_fails(store, "h2", SL_E_TIMEOUT, "database_timeout");
    pause_s(2.5);
    expect_answer("SELECT count(*) FROM inventory_revisions", "1");
    expect_answer("SELECT revision FROM inventories", "1");
    sl_store_until(store, 0);
    expect_put(store, "h3");
    sl_store_free(store);
}

static void
a_commit_whose_answer_is_late_is_of_unknown_outcome(void)
{
    char url[URL_SIZE];
    sl_store *store = fresh(url, "");
    if (store == NULL)
        return;
    expect_put(store, "h0"); /* connected, prepared */
    trap_revisions("commit", "PERFORM pg_sleep(2.5);");
    sl_errors err = {0};
    sl_store_until(store, sl_clock_now_s() + 1.0);
    CU_ASSERT_EQUAL(put(store, "h1", &err), SL_E_TIMEOUT);
    expect_error(&err, SL_E_TIMEOUT, "outcome_unknown");
    CU_ASSERT_PTR_NOT_NULL(strstr(err.list[0].hint, "read it back"));
    pause_s(3.0);
    expect_answer("SELECT revision FROM inventories", "2");
    sl_store_free(store);
}

static void
each_state_of_the_database_has_its_code_and_rule(void)
{
    static const struct {
        const char *state;
        sl_code code;
        const char *rule;
    } states[] = {
        {"55P03", SL_E_UNAVAILABLE, "database_busy"},
        {"53100", SL_E_UNAVAILABLE, "database_unavailable"},
        {"57014", SL_E_TIMEOUT, "database_timeout"},
        {"23505", SL_E_CONFLICT, "already_exists"},
        {"23514", SL_E_RANGE, "not_storable"},
        {"22021", SL_E_RANGE, "not_storable"},
        {"42P01", SL_E_UNAVAILABLE, "database_not_migrated"},
        {"42703", SL_E_UNAVAILABLE, "database_not_migrated"},
        {"42501", SL_E_UNAVAILABLE, "database_denied"},
        {"25006", SL_E_UNAVAILABLE, "database_unavailable"},
        {"57P01", SL_E_UNAVAILABLE, "database_unavailable"},
        {"08003", SL_E_UNAVAILABLE, "database_unavailable"},
    };
    char url[URL_SIZE];
    sl_store *store = fresh(url, "");
    if (store == NULL)
        return;
    sl_postgres_do(&postgres, "CREATE TABLE state (value text); INSERT INTO state VALUES ('')");
    trap_revisions("insert", "RAISE EXCEPTION USING ERRCODE = (SELECT value FROM state);");
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
        char sql[64];
        CU_ASSERT(
            sl_text_format(sql, sizeof sql, "UPDATE state SET value = '%s'", states[i].state));
        sl_postgres_do(&postgres, sql);
        expect_put_fails(store, "h1", states[i].code, states[i].rule);
    }
    expect_answer("SELECT count(*) FROM inventories", "0");
    sl_store_free(store);
}

static void
every_session_has_time_limits_a_name_and_utf_8(void)
{
    char url[URL_SIZE];
    sl_store *store = fresh(url, "&client_encoding=LATIN1");
    if (store == NULL)
        return;
    trap_revisions("insert", "RAISE EXCEPTION USING ERRCODE = CASE WHEN"
                             " current_setting('statement_timeout') = '5s' AND"
                             " current_setting('lock_timeout') = '2s' AND"
                             " current_setting('idle_in_transaction_session_timeout') = '10s' AND"
                             " current_setting('client_encoding') = 'UTF8' AND"
                             " current_setting('application_name') = 'shardline'"
                             " THEN '23505' ELSE 'XX000' END;");
    expect_put_fails(store, "h1", SL_E_CONFLICT, "already_exists");
    sl_store_free(store);

    CU_ASSERT(sl_text_format(url, URL_SIZE, "%s&application_name=other", postgres.url));
    store = open_store(url);
    sl_errors err = {0};
    CU_ASSERT_EQUAL(sl_store_ready(store, &err), SL_OK);
    expect_answer("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'other'", "1");
    sl_store_free(store);
}

static void
an_unforeseen_refusal_is_internal_and_carries_only_its_sqlstate(void)
{
    char url[URL_SIZE];
    sl_store *store = fresh(url, "");
    if (store == NULL)
        return;
    trap_revisions("insert", "RAISE EXCEPTION 'sesame' USING ERRCODE = 'XX001';");
    sl_errors err = {0};
    CU_ASSERT_EQUAL(put(store, "h1", &err), SL_E_INTERNAL);
    expect_error(&err, SL_E_INTERNAL, "database_error");
    CU_ASSERT_PTR_NOT_NULL(strstr(err.list[0].message, "XX001"));
    CU_ASSERT_PTR_NULL(strstr(err.list[0].message, "sesame"));
    sl_store_free(store);
}

static const sl_case cases[] = {
    SL_CASE(without_a_url_everything_names_the_setting),
    SL_CASE(a_bad_url_is_unavailable_and_never_quoted),
    SL_CASE(after_a_failed_attempt_the_next_calls_fail_without_another),
    SL_CASE(a_killed_server_is_unavailable_and_a_restarted_one_is_used_again),
    SL_CASE(a_session_cut_between_requests_is_replaced_unnoticed),
    SL_CASE(a_transaction_in_conflict_is_tried_again_as_a_whole),
    SL_CASE(endless_conflict_ends_as_busy_after_a_bounded_number_of_tries),
    SL_CASE(a_connection_lost_inside_a_transaction_is_tried_again),
    SL_CASE(a_connection_lost_while_committing_is_not_tried_again),
    SL_CASE(a_forgotten_prepared_statement_is_prepared_again),
    SL_CASE(the_url_outranks_the_timeouts_and_a_slow_statement_times_out),
    SL_CASE(what_is_late_before_its_commit_is_never_made),
    SL_CASE(a_commit_whose_answer_is_late_is_of_unknown_outcome),
    SL_CASE(each_state_of_the_database_has_its_code_and_rule),
    SL_CASE(every_session_has_time_limits_a_name_and_utf_8),
    SL_CASE(an_unforeseen_refusal_is_internal_and_carries_only_its_sqlstate),
};

int
main(int argc, char **argv)
{
    have_postgres = sl_postgres_create(&postgres);
    const int status =
        sl_run_cases(argc, argv, "store_outage", cases, sizeof cases / sizeof cases[0]);
    if (have_postgres)
        sl_postgres_remove(&postgres);
    return status;
}
