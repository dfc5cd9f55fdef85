/** A store on a throwaway database, and short ways to write to it. */
#ifndef SL_TESTS_STORE_BENCH_H
#define SL_TESTS_STORE_BENCH_H

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

/* A write of what a spec's hash stands for; what else it asks is the case's to set. */
static inline sl_inventory_write
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

static inline sl_code
do_write(store_bench *bench, const sl_inventory_write *write)
{
    return sl_inventory_write_do(bench->store, write, bench->arena, &bench->row, &bench->created,
                                 &bench->err);
}

static inline sl_code
try_write(store_bench *bench, const sl_inventory_write *write)
{
    return sl_inventory_write_try(bench->store, write, bench->arena, &bench->row, &bench->err);
}

static inline sl_code
put(store_bench *bench, const char *slug, const char *spec, const char *hash)
{
    const sl_inventory_write write = write_of(slug, spec, hash);
    return do_write(bench, &write);
}

static inline sl_inventory_write
conditional(const char *slug, const char *hash, uint64_t if_match, bool only_create)
{
    sl_inventory_write write = write_of(slug, "{}", hash);
    write.precondition =
        (sl_precondition){.revisions = {if_match}, .count = if_match != 0, only_create};
    return write;
}

static inline sl_code
put_if(store_bench *bench, const char *slug, const char *hash, uint64_t if_match, bool only_create)
{
    const sl_inventory_write write = conditional(slug, hash, if_match, only_create);
    return do_write(bench, &write);
}

static inline sl_code
try_put_if(store_bench *bench, uint64_t if_match, bool only_create)
{
    const sl_inventory_write write = conditional("a", "h", if_match, only_create);
    return try_write(bench, &write);
}

/* A write without a spec: a delete or a restore. */
static inline sl_code
act(store_bench *bench, sl_inventory_action action, const char *slug, uint64_t if_match)
{
    sl_inventory_write write = conditional(slug, NULL, if_match, false);
    write.action = action;
    return do_write(bench, &write);
}

static inline sl_code
get(store_bench *bench, const char *slug)
{
    return sl_inventory_get(bench->store, slug, "/cluster/inventory", bench->arena, &bench->row,
                            &bench->err);
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

/* The slugs of a page, joined by blanks. */
static inline void
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

#endif
