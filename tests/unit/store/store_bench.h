/** A store on a throwaway database. */
#ifndef SL_TESTS_STORE_BENCH_H
#define SL_TESTS_STORE_BENCH_H

#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "harness.h"
#include "postgres_fixture.h"
#include "store/inventory.h"

enum { ARENA_BYTES = 16 << 20, URL_SIZE = 256 };

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

static inline bool
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

static inline void
bench_close(store_bench *bench)
{
    sl_store_free(bench->store);
    sl_arena_free(bench->arena);
}

/* The store again, with more said in its URL. */
static inline void
bench_reconnect(store_bench *bench, char url[URL_SIZE], const char *more)
{
    CU_ASSERT(sl_text_format(url, URL_SIZE, "%s%s", postgres.url, more));
    sl_store_free(bench->store);
    bench->store = sl_store_new(url);
}

/* Exactly one error, then an empty list again. */
static inline void
expect_error(store_bench *bench, sl_code code, const char *rule)
{
    CU_ASSERT_EQUAL(bench->err.count, 1);
    CU_ASSERT_EQUAL(bench->err.list[0].code, code);
    sl_expect_text(bench->err.count > 0 ? bench->err.list[0].rule : "", rule, "rule");
    bench->err.count = 0;
}

static inline void
expect_answer(const char *sql, const char *expected)
{
    char answer[256];
    sl_postgres_ask(&postgres, sql, answer, sizeof answer);
    sl_expect_text(answer, expected, sql);
}

static inline int
bench_run(int argc, char **argv, const char *suite, const sl_case *list, size_t count)
{
    have_postgres = sl_postgres_create(&postgres);
    const int status = sl_run_cases(argc, argv, suite, list, count);
    if (have_postgres)
        sl_postgres_remove(&postgres);
    return status;
}

#endif
