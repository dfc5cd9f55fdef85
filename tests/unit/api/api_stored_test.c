/* What handlers store, and what they say of it: revisions, views, conditions and pages. */
#include <assert.h>

#include "api_bench.h"
#include "postgres_fixture.h"

static sl_postgres postgres;
static bool have_postgres;

static bool
bench_open_stored(api_bench *b)
{
    if (!have_postgres) {
        sl_skip("no PostgreSQL is installed");
        return false;
    }
    sl_postgres_empty(&postgres);
    bench_open(b, postgres.url);
    return true;
}

static void
if_match_any_asks_for_an_inventory(void)
{
    api_bench b;

    if (!bench_open_stored(&b))
        return;
    put(&b, spec, "*");
    expect_rule(&b, 412, "revision_mismatch");
    put(&b, spec, NULL);
    expect_status(&b, 201);
    put(&b, other_spec, "*");
    expect_status(&b, 200);
    expect_holds(&b, "\"revision\":2");
    bench_close(&b);
}

static void
each_view_has_its_tag_and_either_names_the_revision(void)
{
    char wrapped[64];
    char quoted[64];
    api_bench b;

    if (!bench_open_stored(&b))
        return;
    CU_ASSERT_TRUE(
        sl_text_format(wrapped, sizeof wrapped, "\"1-%s\"", sl_catalog_revision(catalog)));
    put(&b, spec, NULL);
    expect_header(&b, "ETag", wrapped);
    prepare(&b, SL_GET, "view", "spec", "");
    run(&b, sl_inventories_get);
    expect_header(&b, "ETag", "\"1\"");
    sl_expect_text(body_of(&b), spec, "as it was accepted");

    prepare(&b, SL_GET, NULL, NULL, "");
    b.request.if_none_match = wrapped;
    run(&b, sl_inventories_get);
    expect_status(&b, 304);
    sl_expect_text(body_of(&b), "", "nothing follows");
    prepare(&b, SL_GET, NULL, NULL, "");
    b.request.if_none_match = "\"1\"";
    run(&b, sl_inventories_get);
    expect_status(&b, 200);

    put(&b, other_spec, wrapped);
    expect_status(&b, 200);
    put(&b, spec, "\"2\"");
    expect_status(&b, 200);
    CU_ASSERT_TRUE(sl_text_copy(quoted, sizeof quoted, wrapped));
    put(&b, other_spec, quoted);
    expect_rule(&b, 412, "revision_mismatch");
    bench_close(&b);
}

static void
any_tag_of_an_if_match_list_will_do(void)
{
    api_bench b;

    if (!bench_open_stored(&b))
        return;
    put(&b, spec, "\"1\", \"2\"");
    expect_rule(&b, 412, "revision_mismatch");
    put(&b, spec, NULL);
    expect_status(&b, 201);
    put(&b, other_spec, "\"7\", W/\"1\"");
    expect_rule(&b, 412, "revision_mismatch");
    put(&b, other_spec, "\"7\", \"of another\", \"1\"");
    expect_status(&b, 200);
    expect_holds(&b, "\"revision\":2");
    put(&b, spec, "\"1\",\"3\"");
    expect_rule(&b, 412, "revision_mismatch");
    expect_holds(&b, "is at 2");
    prepare(&b, SL_PUT, "dry_run", "true", spec);
    b.request.if_match = "\"1\", \"2-of-a-view\"";
    run(&b, sl_inventories_put);
    expect_status(&b, 200);
    bench_close(&b);
}

static void
a_dry_run_judges_the_conditions_too(void)
{
    api_bench b;

    if (!bench_open_stored(&b))
        return;
    put(&b, spec, NULL);
    prepare(&b, SL_PUT, "dry_run", "true", other_spec);
    b.request.if_none_match = "*";
    run(&b, sl_inventories_put);
    expect_rule(&b, 412, "inventory_exists");
    prepare(&b, SL_PUT, "dry_run", "true", other_spec);
    b.request.if_match = "\"1\"";
    run(&b, sl_inventories_put);
    expect_status(&b, 200);
    prepare(&b, SL_GET, NULL, NULL, "");
    run(&b, sl_inventories_get);
    expect_holds(&b, "\"revision\":1");
    bench_close(&b);
}

static void
the_link_to_the_next_page_keeps_the_limit(void)
{
    api_bench b;

    if (!bench_open_stored(&b))
        return;
    for (const char *const *slug = (const char *const[]){"a", "b", "c", NULL}; *slug != NULL;
         slug++) {
        prepare(&b, SL_PUT, NULL, NULL, spec);
        b.request.parameters[0].value = *slug;
        run(&b, sl_inventories_put);
        expect_status(&b, 201);
    }
    prepare(&b, SL_GET, "limit", "2", "");
    run(&b, sl_inventories_list);
    /* "slug", "b" and "b" in hexadecimal, a line each. */
    expect_header(&b, "Link",
                  "</api/v1/inventories?limit=2&cursor=736c75670a620a62>; rel=\"next\"");
    prepare(&b, SL_GET, "limit", "3", "");
    run(&b, sl_inventories_list);
    expect_header(&b, "Link", "none");
    bench_close(&b);
}

static void
a_revision_of_the_past_is_read_by_its_number(void)
{
    api_bench b;

    if (!bench_open_stored(&b))
        return;
    put(&b, spec, NULL);
    put(&b, other_spec, NULL);
    prepare(&b, SL_GET, "view", "spec", "");
    b.request.parameters[1] = (sl_pair){"n", "1"};
    b.request.parameter_count = 2;
    run(&b, sl_inventories_revision);
    expect_status(&b, 200);
    sl_expect_text(body_of(&b), spec, "the first spec");
    prepare(&b, SL_GET, NULL, NULL, "");
    b.request.parameters[1] = (sl_pair){"n", "one"};
    b.request.parameter_count = 2;
    run(&b, sl_inventories_revision);
    expect_rule(&b, 404, "revision_not_found");
    bench_close(&b);
}

static const sl_case cases[] = {
    SL_CASE(if_match_any_asks_for_an_inventory),
    SL_CASE(each_view_has_its_tag_and_either_names_the_revision),
    SL_CASE(any_tag_of_an_if_match_list_will_do),
    SL_CASE(a_dry_run_judges_the_conditions_too),
    SL_CASE(a_revision_of_the_past_is_read_by_its_number),
    SL_CASE(the_link_to_the_next_page_keeps_the_limit),
};

int
main(int argc, char **argv)
{
    sl_errors err = {.count = 0};

    sl_json_start();
    catalog = sl_catalog_new(&err);
    assert(catalog != NULL);
    have_postgres = sl_postgres_create(&postgres);
    const int status =
        sl_run_cases(argc, argv, "api_stored", cases, sizeof cases / sizeof cases[0]);
    if (have_postgres)
        sl_postgres_remove(&postgres);
    sl_catalog_free(catalog);
    return status;
}
