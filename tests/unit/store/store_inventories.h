/** Short ways to write inventories to a store and to ask for them. */
#ifndef SL_TESTS_STORE_INVENTORIES_H
#define SL_TESTS_STORE_INVENTORIES_H

#include "store_bench.h"

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
