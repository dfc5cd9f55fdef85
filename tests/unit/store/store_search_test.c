/* Kept results of searches in the database. */
#include <string.h>

#include "store/search.h"
#include "store_bench.h"

#define HASH_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define HASH_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define RESULT(state, hash, found)                                                                 \
    "{\"state\":\"" state "\",\"found\":" found ",\"input_hash\":\"" hash "\"}"

static sl_code
keep(store_bench *b, const char *hash, const char *result)
{
    const sl_search_row row = {
        .hash = hash, .engine_version = "1", .catalog_revision = "r", .result = result};
    return sl_search_put(b->store, &row, &b->err);
}

static void
a_result_is_read_back_to_the_byte(void)
{
    store_bench b;
    sl_search_row row;
    if (!bench_open(&b))
        return;
    CU_ASSERT_EQUAL(sl_search_get(b.store, HASH_A, b.arena, &row, &b.err), SL_E_NOT_FOUND);
    expect_error(&b, SL_E_NOT_FOUND, "search_not_found");
    CU_ASSERT_EQUAL(keep(&b, HASH_A, RESULT("done", HASH_A, " 1.50")), SL_OK);
    CU_ASSERT_EQUAL(keep(&b, HASH_B, RESULT("done", HASH_B, "2")), SL_OK);
    CU_ASSERT_EQUAL_FATAL(sl_search_get(b.store, HASH_A, b.arena, &row, &b.err), SL_OK);
    sl_expect_text(row.result, RESULT("done", HASH_A, " 1.50"), "result");
    sl_expect_text(row.hash, HASH_A, "hash");
    sl_expect_text(row.engine_version, "1", "engine");
    CU_ASSERT_EQUAL(strlen(row.created_at), strlen("2026-01-31T12:00:00.000Z"));
    bench_close(&b);
}

static void
the_same_search_takes_the_place_of_the_earlier(void)
{
    store_bench b;
    sl_search_row row;
    char ids[64];
    if (!bench_open(&b))
        return;
    CU_ASSERT_EQUAL(keep(&b, HASH_A, RESULT("done", HASH_A, "1")), SL_OK);
    CU_ASSERT_EQUAL(keep(&b, HASH_B, RESULT("done", HASH_B, "2")), SL_OK);
    CU_ASSERT_EQUAL(keep(&b, HASH_A, RESULT("done", HASH_A, "3")), SL_OK);
    CU_ASSERT_EQUAL_FATAL(sl_search_get(b.store, HASH_A, b.arena, &row, &b.err), SL_OK);
    sl_expect_text(row.result, RESULT("done", HASH_A, "3"), "result");
    sl_postgres_ask(&postgres, "SELECT string_agg(left(hash, 1), ',' ORDER BY id) FROM searches",
                    ids, sizeof ids);
    sl_expect_text(ids, "b,a", "the newest is last");
    bench_close(&b);
}

static void
the_newest_ten_thousand_are_kept(void)
{
    store_bench b;
    char left[64];
    if (!bench_open(&b))
        return;
    sl_postgres_do(&postgres,
                   "INSERT INTO searches (hash, engine_version, catalog_revision, result,"
                   " created_at) SELECT h, '1', 'r', json_build_object('state', 'done',"
                   " 'input_hash', h), now() FROM (SELECT lpad(to_hex(n), 64, '0') AS h"
                   " FROM generate_series(1, 10000) n) s");
    CU_ASSERT_EQUAL(keep(&b, HASH_A, RESULT("done", HASH_A, "1")), SL_OK);
    sl_postgres_ask(&postgres,
                    "SELECT count(*) || ' ' || bool_or(hash ~ '^0*1$') || ' '"
                    " || bool_or(hash ~ '^a*$') FROM searches",
                    left, sizeof left);
    sl_expect_text(left, "10000 false true", "the oldest went");
    /* In the place of the oldest that is left. */
    CU_ASSERT_EQUAL(
        keep(&b, "0000000000000000000000000000000000000000000000000000000000000002",
             RESULT("done", "0000000000000000000000000000000000000000000000000000000000000002",
                    "1")),
        SL_OK);
    sl_postgres_ask(&postgres, "SELECT count(*) >= 9999 AND count(*) <= 10000 FROM searches", left,
                    sizeof left);
    sl_expect_text(left, "t", "no more than that");
    bench_close(&b);
}

static void
the_schema_keeps_whole_results_only(void)
{
    store_bench b;
    if (!bench_open(&b))
        return;
    CU_ASSERT_EQUAL(keep(&b, HASH_A, RESULT("deadline", HASH_A, "1")), SL_E_RANGE);
    expect_error(&b, SL_E_RANGE, "not_storable");
    CU_ASSERT_EQUAL(keep(&b, HASH_A, RESULT("done", HASH_B, "1")), SL_E_RANGE);
    CU_ASSERT_EQUAL(keep(&b, "short", RESULT("done", "short", "1")), SL_E_RANGE);
    bench_close(&b);
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(a_result_is_read_back_to_the_byte),
        SL_CASE(the_same_search_takes_the_place_of_the_earlier),
        SL_CASE(the_newest_ten_thousand_are_kept),
        SL_CASE(the_schema_keeps_whole_results_only),
    };
    return bench_run(argc, argv, "store_search", cases, sizeof cases / sizeof cases[0]);
}
