/* What a question asks of: clusters of several pools, and those that are stored. */
#include "question_reading.h"

#include <stdlib.h>
#include <string.h>

static const char stored[] =
    "{\"name\":\"prod\",\"pools\":[{\"name\":\"h100\",\"nodes\":32,\"node\":{\"node_type\":"
    "\"hgx-h100-8\"},\"price_per_node_hour\":20},{\"name\":\"odd\",\"nodes\":4,\"node\":{"
    "\"accelerator\":\"mystery\",\"memory_bytes\":68719476736,\"accelerators\":8}}]}";

static void
read_stored(reading *r, const char *cluster)
{
    read_parts(r, NULL, NULL, cluster, NULL);
    CU_ASSERT_EQUAL_FATAL(r->code, SL_OK);
    CU_ASSERT_FALSE(r->request.has_cluster);
    r->code = sl_estimate_request_pool(&r->request, stored, strlen(stored), catalog, &r->err);
}

static void
an_inventory_gives_the_cluster_and_the_request_overrides_it(void)
{
    reading r;
    read_stored(&r, "{\"inventory\":\"prod\",\"pool\":\"h100\",\"nodes\":4,"
                    "\"price_per_node_hour\":18}");
    CU_ASSERT_EQUAL_FATAL(r.code, SL_OK);
    CU_ASSERT_TRUE(r.request.has_cluster);
    CU_ASSERT_EQUAL(r.request.cluster.nodes, 4);
    CU_ASSERT_EQUAL(r.request.plan.data, 32);
    sl_expect_near(r.request.cluster.price_per_node_hour, 18, 1e-12, "price");
    CU_ASSERT_EQUAL(strlen(r.request.inventory_hash), 64);
    clear(&r);
    read_stored(&r, "{\"inventory\":\"prod\",\"pool\":\"h100\"}");
    CU_ASSERT_EQUAL(r.request.cluster.nodes, 32);
    sl_expect_near(r.request.cluster.price_per_node_hour, 20, 1e-12, "price");
    clear(&r);
}

static void
faults_of_an_inventory_point_into_the_request(void)
{
    reading r;
    read_stored(&r, "{\"inventory\":\"prod\"}");
    expect_refused(&r, "/cluster/pool", "required_field");
    sl_expect_text(r.err.list[0].hint, "h100, odd", "names");
    clear(&r);
    read_stored(&r, "{\"inventory\":\"prod\",\"pool\":\"h10\"}");
    expect_refused(&r, "/cluster/pool", "unknown_value");
    sl_expect_text(r.err.list[0].hint, "h100", "nearest");
    clear(&r);
    read_stored(&r, "{\"inventory\":\"prod\",\"pool\":\"h100\",\"nodes\":33}");
    expect_refused(&r, "/cluster/nodes", "out_of_range");
    clear(&r);
    read_stored(&r, "{\"inventory\":\"prod\",\"pool\":\"odd\"}");
    expect_refused(&r, "/cluster/inventory", "unknown_accelerator");
    clear(&r);
    read_parts(&r, NULL, NULL, "{\"inventory\":\"prod\"}", NULL);
    r.code = sl_estimate_request_pool(&r.request, "{", 1, catalog, &r.err);
    expect_refused(&r, "/cluster/inventory", "bad_inventory");
    clear(&r);
}

static void
a_list_of_pools_becomes_one_cluster(void)
{
    reading r;
    read_parts(&r, NULL, NULL,
               "{\"accelerators_per_node\":8,\"pools\":["
               "{\"name\":\"fast\",\"accelerator\":\"nvidia-h100-sxm5-80gb\",\"nodes\":2},"
               "{\"accelerator\":\"nvidia-a100-sxm4-40gb\",\"nodes\":3,\"accelerators\":4,"
               "\"accelerators_per_node\":4}]}",
               NULL);
    CU_ASSERT_EQUAL_FATAL(r.code, SL_OK);
    const sl_cluster *const c = &r.request.cluster;
    CU_ASSERT_EQUAL(c->pool_count, 2);
    CU_ASSERT_EQUAL(c->nodes, 5);
    CU_ASSERT_EQUAL(r.request.plan.data, 28);
    sl_expect_text(c->pools[0].pool, "fast", "name");
    sl_expect_text(c->pools[1].pool, "1", "its number");
    CU_ASSERT_EQUAL(c->pools[0].accelerators_per_node, 8);
    CU_ASSERT_EQUAL(c->pools[1].accelerators_per_node, 4);
    sl_expect_text(c->pools[1].accelerator.id, "nvidia-a100-sxm4-40gb", "part");
    clear(&r);
    read_parts(&r, NULL, NULL,
               "{\"pools\":[{\"accelerator\":\"nvidia-h100-sxm5-80gb\",\"nodes\":2}]}", NULL);
    CU_ASSERT_EQUAL_FATAL(r.code, SL_OK);
    CU_ASSERT_EQUAL(r.request.cluster.pool_count, 0);
    CU_ASSERT_EQUAL(r.request.cluster.nodes, 2);
    clear(&r);
}

static void
faults_of_a_list_of_pools_point_into_it(void)
{
    static const char *const cases[][3] = {
        {"{\"pools\":[]}", "/cluster/pools", "out_of_range"},
        {"{\"pools\":{}}", "/cluster/pools", "wrong_type"},
        {"{\"pools\":\"all\"}", "/cluster/pools", "unknown_value"},
        {"{\"pools\":[3]}", "/cluster/pools/0", "wrong_type"},
        {"{\"pools\":[{\"nodes\":1}]}", "/cluster/pools/0/accelerator", "required_field"},
        {"{\"pools\":[{\"accelerator\":\"b200\",\"nodess\":1}]}", "/cluster/pools/0/nodess",
         "unknown_field"},
        {"{\"pools\":[{\"accelerator\":\"b200\",\"pool\":\"x\"}]}", "/cluster/pools/0/pool",
         "unknown_field"},
        {"{\"nodes\":2,\"pools\":[{\"accelerator\":\"b200\"}]}", "/cluster/nodes",
         "conflicting_fields"},
        {"{\"pools\":[{\"accelerator\":\"b200\",\"name\":\"x\"},"
         "{\"accelerator\":\"b200\",\"name\":\"x\"}]}",
         "/cluster/pools/1", "duplicate_name"},
        {"{\"inventory\":\"prod\",\"pools\":[{\"nodes\":1}]}", "/cluster/pools/0/pool",
         "required_field"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        reading r;
        read_parts(&r, NULL, NULL, cases[i][0], NULL);
        expect_refused(&r, cases[i][1], cases[i][2]);
        clear(&r);
    }
}

static const char several[] =
    "{\"pools\":[{\"name\":\"h100\",\"nodes\":4,\"node\":{\"accelerator\":"
    "\"nvidia-h100-sxm5-80gb\",\"accelerators\":8}},{\"name\":\"a100\",\"nodes\":8,\"node\":{"
    "\"accelerator\":\"nvidia-a100-sxm4-80gb\",\"accelerators\":8}}]}";

static void
read_several(reading *r, const char *cluster)
{
    read_parts(r, NULL, NULL, cluster, NULL);
    CU_ASSERT_EQUAL_FATAL(r->code, SL_OK);
    r->code = sl_estimate_request_pool(&r->request, several, strlen(several), catalog, &r->err);
}

static void
pools_of_an_inventory_come_in_the_order_asked_for(void)
{
    reading r;
    read_several(&r, "{\"inventory\":\"prod\",\"price_per_node_hour\":9,\"pools\":["
                     "{\"pool\":\"a100\",\"nodes\":2},{\"pool\":\"h100\"}]}");
    CU_ASSERT_EQUAL_FATAL(r.code, SL_OK);
    CU_ASSERT_EQUAL(r.request.cluster.pool_count, 2);
    sl_expect_text(r.request.cluster.pools[0].pool, "a100", "first");
    CU_ASSERT_EQUAL(r.request.cluster.pools[0].nodes, 2);
    CU_ASSERT_EQUAL(r.request.cluster.pools[1].nodes, 4);
    sl_expect_near(r.request.cluster.price_per_node_hour, 9, 1e-12, "of both");
    clear(&r);
    read_several(&r, "{\"inventory\":\"prod\",\"pools\":\"all\"}");
    CU_ASSERT_EQUAL_FATAL(r.code, SL_OK);
    CU_ASSERT_EQUAL(r.request.plan.data, 96);
    sl_expect_text(r.request.cluster.pools[0].pool, "h100", "first");
    clear(&r);
    read_several(&r, "{\"inventory\":\"prod\",\"pools\":[{\"pool\":\"a10\"}]}");
    expect_refused(&r, "/cluster/pools/0/pool", "unknown_value");
    clear(&r);
    read_several(&r, "{\"inventory\":\"prod\",\"pools\":[{\"pool\":\"h100\",\"nodes\":5}]}");
    expect_refused(&r, "/cluster/pools/0/nodes", "out_of_range");
    clear(&r);
    read_several(&r, "{\"inventory\":\"prod\"}");
    expect_refused(&r, "/cluster/pool", "required_field");
    clear(&r);
}

static void
a_comparison_has_pools_and_may_lack_a_cluster(void)
{
    static const char *const cases[][3] = {
        {"", "/cluster", "required_field"},
        {",\"cluster\":{\"pools\":[{\"accelerator\":\"b200\"},{\"accelerator\":\"h100-sxm\"}]}",
         NULL, NULL},
        {",\"cluster\":{\"inventory\":\"prod\",\"pools\":\"all\"}", NULL, NULL},
    };
    static const sl_json_limits limits = {.max_bytes = 1 << 20, .max_depth = 32};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        reading r = {0};
        char text[512];
        CU_ASSERT_TRUE_FATAL(sl_text_format(
            text, sizeof text,
            "{\"model\":{\"hub\":\"org/name\"},\"workload\":{\"sequence_length\":2048,"
            "\"global_batch_size\":64}%s}",
            cases[i][0]));
        CU_ASSERT_EQUAL_FATAL(sl_json_parse(text, strlen(text), &limits, &r.json, &r.err), SL_OK);
        const sl_node root = sl_json_root(r.json);
        r.code = sl_comparison_request_read(&root, catalog, NULL, &r.request, &r.err);
        if (cases[i][1] != NULL) {
            expect_refused(&r, cases[i][1], cases[i][2]);
        } else {
            CU_ASSERT_EQUAL(r.code, SL_OK);
            CU_ASSERT_TRUE(sl_notes_have(&r.request.notes, "pools_in_common"));
        }
        clear(&r);
    }
}

static void
unknown_fields_that_are_warnings_stay_so_with_an_inventory(void)
{
    static const char *const clusters[] = {
        "{\"inventory\":\"prod\",\"pool\":\"h100\",\"nodess\":4}",
        "{\"inventory\":\"prod\",\"pools\":[{\"pool\":\"h100\",\"nodess\":4}]}",
    };
    for (size_t i = 0; i < sizeof clusters / sizeof clusters[0]; i++) {
        reading r;
        char text[512];
        CU_ASSERT_TRUE_FATAL(sl_text_format(
            text, sizeof text,
            "{\"model\":{\"hub\":\"org/name\"},\"workload\":{\"sequence_length\":2048,"
            "\"global_batch_size\":64},\"cluster\":%s,\"parallelism\":{}}",
            clusters[i]));
        read_request(&r, text, true);
        CU_ASSERT_EQUAL_FATAL(r.code, SL_OK);
        CU_ASSERT_EQUAL(r.warnings.count, 1);
        r.code = sl_estimate_request_pool(&r.request, several, strlen(several), catalog, &r.err);
        CU_ASSERT_EQUAL(r.code, SL_OK);
        clear(&r);
    }
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(an_inventory_gives_the_cluster_and_the_request_overrides_it),
        SL_CASE(faults_of_an_inventory_point_into_the_request),
        SL_CASE(a_list_of_pools_becomes_one_cluster),
        SL_CASE(faults_of_a_list_of_pools_point_into_it),
        SL_CASE(pools_of_an_inventory_come_in_the_order_asked_for),
        SL_CASE(a_comparison_has_pools_and_may_lack_a_cluster),
        SL_CASE(unknown_fields_that_are_warnings_stay_so_with_an_inventory),
    };
    return sl_run_catalogued(argc, argv, "question_pools", cases, sizeof cases / sizeof cases[0],
                             &catalog);
}
