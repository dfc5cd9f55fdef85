#include "codec/inventory/inventory.h"

#include <string.h>

#include "base/text.h"
#include "catalogued.h"
#include "harness.h"

static sl_catalog *catalog;

static sl_code
check(const char *text, sl_errors *err)
{
    static const sl_json_limits limits = {.max_bytes = 1 << 20, .max_depth = 32};
    sl_json *json = NULL;
    memset(err, 0, sizeof *err);
    CU_ASSERT_EQUAL_FATAL(sl_json_parse(text, strlen(text), &limits, &json, err), SL_OK);
    const sl_node root = sl_json_root(json);
    const sl_code code = sl_inventory_check(&root, catalog, NULL, err);
    sl_json_free(json);
    return code;
}

static void
expect_fault(const sl_errors *err, const char *pointer, const char *rule)
{
    const char *found = "no error there";
    for (uint32_t i = 0; i < err->count; i++) {
        if (sl_text_equal(err->list[i].pointer, pointer))
            found = err->list[i].rule;
    }
    sl_expect_text(found, rule, pointer);
}

/* A spec of one pool with the given members. */
static sl_code
check_pool(const char *members, sl_errors *err)
{
    char text[1024];
    (void)sl_text_format(text, sizeof text, "{\"pools\":[{%s}]}", members);
    return check(text, err);
}

static const char full[] =
    "{\"name\":\"prod-eu\",\"description\":\"\",\"labels\":{\"team\":\"a\"},\"pools\":[{\"name\":"
    "\"h100\",\"nodes\":32,\"hosts\":[\"gpu[001-032]\"],\"node\":{\"node_type\":\"hgx-h100-8\","
    "\"accelerator\":\"nvidia-h100-sxm5-80gb\",\"accelerators\":8,\"memory_bytes\":85520809984,"
    "\"scale_up_bytes_per_s\":450000000000,\"scale_up_domain\":8,\"host_memory_bytes\":0,"
    "\"nics\":[{\"count\":8,\"bytes_per_s\":50000000000,\"kind\":\"infiniband\"}]},"
    "\"fabric\":{\"kind\":\"fat_tree\",\"oversubscription\":1.0},\"price_per_node_hour\":null}],"
    "\"annotations\":{\"x\":1}}";

static void
the_documented_spec_passes(void)
{
    sl_errors err;
    CU_ASSERT_EQUAL(check(full, &err), SL_OK);
    CU_ASSERT_EQUAL(err.count, 0);
}

static void
every_fault_of_a_spec_is_named_at_once(void)
{
    sl_errors err;
    CU_ASSERT_EQUAL(check("{\"nam\":1,\"labels\":{\"a\":1},\"pools\":[{\"name\":\"a\",\"nodes\":0,"
                          "\"node\":{\"accelerator\":\"b200\",\"accelerators\":9999,\"gpu\":1}},"
                          "{\"name\":\"a\",\"nodes\":1,\"node\":{\"accelerator\":\"b200\"},"
                          "\"hosts\":[\"n[1-2]\"],\"fabric\":{\"oversubscription\":0.5}},"
                          "{}]}",
                          &err),
                    SL_E_RANGE);
    expect_fault(&err, "/nam", "unknown_field");
    expect_fault(&err, "/labels/a", "wrong_type");
    expect_fault(&err, "/pools/0/nodes", "out_of_range");
    expect_fault(&err, "/pools/0/node/accelerators", "out_of_range");
    expect_fault(&err, "/pools/0/node/gpu", "unknown_field");
    expect_fault(&err, "/pools/1/name", "duplicate_name");
    expect_fault(&err, "/pools/1/hosts", "inconsistent");
    expect_fault(&err, "/pools/1/fabric/oversubscription", "out_of_range");
    expect_fault(&err, "/pools/2/name", "required_field");
    expect_fault(&err, "/pools/2/nodes", "required_field");
    expect_fault(&err, "/pools/2/node", "required_field");
}

static void
pools_are_required_and_bounded(void)
{
    sl_errors err;
    CU_ASSERT_EQUAL(check("{}", &err), SL_E_RANGE);
    expect_fault(&err, "/pools", "required_field");
    CU_ASSERT_EQUAL(check("{\"pools\":[]}", &err), SL_E_RANGE);
    expect_fault(&err, "/pools", "out_of_range");
    CU_ASSERT_EQUAL(check("{\"pools\":{}}", &err), SL_E_RANGE);
    expect_fault(&err, "/pools", "wrong_type");
    CU_ASSERT_EQUAL(check("[]", &err), SL_E_RANGE);
    expect_fault(&err, "", "wrong_type");
}

static void
hosts_count_the_nodes(void)
{
    static const struct {
        const char *hosts;
        uint32_t nodes;
        const char *rule; /* NULL: passes */
    } cases[] = {
        {"[\"n1\",\"n2\"]", 2, NULL},
        {"[\"gpu[001-032]\"]", 32, NULL},
        {"[\"r[1-2]n[1-4,7]\"]", 10, NULL},
        {"[]", 3, NULL},
        {"[\"n[1-2]\",\"m\"]", 2, "inconsistent"},
        {"[\"n[2-1]\"]", 1, "malformed_hosts"},
        {"[\"n[1-\"]", 1, "malformed_hosts"},
        {"[\"n[]\"]", 1, "malformed_hosts"},
        {"[\"n1,n[2-3]\"]", 3, NULL},
        {"[\"n1,\"]", 1, "malformed_hosts"},
        {"[\"n[1-3]\",\"n2\"]", 4, "duplicate_host"},
        {"[\"\"]", 1, "malformed_hosts"},
        {"[\"n[0-999999999]\"]", 1, "too_many"},
        {"[\"n[1-1000][1-1000][1-1000]\"]", 1, "too_many"},
        {"[\"n[99999999999999999999]\"]", 1, "malformed_hosts"},
        {"[7]", 1, "wrong_type"},
        {"\"n1\"", 1, "wrong_type"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char members[256];
        sl_errors err;
        (void)sl_text_format(members, sizeof members,
                             "\"name\":\"a\",\"nodes\":%u,\"node\":{\"accelerator\":\"b200\"},"
                             "\"hosts\":%s",
                             cases[i].nodes, cases[i].hosts);
        const sl_code code = check_pool(members, &err);
        CU_ASSERT_EQUAL(code == SL_OK, cases[i].rule == NULL);
        sl_expect_text(err.count > 0 ? err.list[0].rule : "", cases[i].rule ? cases[i].rule : "",
                       cases[i].hosts);
    }
}

static void
an_unknown_part_needs_its_memory_and_number(void)
{
    sl_errors err;
    CU_ASSERT_EQUAL(check_pool("\"name\":\"a\",\"nodes\":1,\"node\":{\"accelerator\":\"mystery\","
                               "\"memory_bytes\":68719476736,\"accelerators\":8}",
                               &err),
                    SL_OK);
    CU_ASSERT_EQUAL(
        check_pool("\"name\":\"a\",\"nodes\":1,\"node\":{\"accelerator\":\"mystery\"}", &err),
        SL_E_RANGE);
    expect_fault(&err, "/pools/0/node/accelerator", "unknown_accelerator");
    CU_ASSERT_EQUAL(check_pool("\"name\":\"a\",\"nodes\":1,\"node\":{\"accelerator\":\"a100\","
                               "\"memory_bytes\":68719476736,\"accelerators\":8}",
                               &err),
                    SL_E_RANGE);
    expect_fault(&err, "/pools/0/node/accelerator", "ambiguous_accelerator");
    CU_ASSERT_EQUAL(
        check_pool("\"name\":\"a\",\"nodes\":1,\"node\":{\"accelerator\":\"h100nvl\"}", &err),
        SL_E_RANGE);
    expect_fault(&err, "/pools/0/node/accelerators", "required_field");
}

static void
a_total_beyond_64_bits_is_refused(void)
{
    sl_errors err;
    CU_ASSERT_EQUAL(check_pool("\"name\":\"a\",\"nodes\":131072,\"node\":{\"accelerator\":"
                               "\"mystery\",\"memory_bytes\":1125899906842624,"
                               "\"accelerators\":512}",
                               &err),
                    SL_E_RANGE);
    expect_fault(&err, "/pools", "out_of_range");
}

/* Status of a spec as text, in a buffer of the caller's. */
static void
write_status(const char *text, sl_buffer *out)
{
    static const sl_json_limits limits = {.max_bytes = 1 << 20, .max_depth = 32};
    sl_errors err = {0};
    sl_json *json = NULL;
    CU_ASSERT_EQUAL_FATAL(sl_json_parse(text, strlen(text), &limits, &json, &err), SL_OK);
    const sl_node root = sl_json_root(json);
    sl_writer writer;
    sl_buffer_init(out, 1 << 16);
    sl_writer_init(&writer, out);
    sl_inventory_hardware hardware;
    sl_inventory_count(&root, catalog, &hardware);
    sl_inventory_hardware_write(&writer, &hardware);
    CU_ASSERT_TRUE_FATAL(sl_writer_ok(&writer));
    sl_json_free(json);
}

static void
status_adds_up_the_pools(void)
{
    sl_buffer out;
    write_status(full, &out);
    /* 256 parts of 85,520,809,984 bytes; 480 MiB of each are the driver's. */
    sl_expect_text(out.data,
                   "{\"pools\":[{\"name\":\"h100\",\"accelerator\":\"nvidia-h100-sxm5-80gb\","
                   "\"nodes\":32,\"accelerators\":256,"
                   "\"usable_bytes_per_accelerator\":85017493504}],"
                   "\"nodes\":32,\"accelerators\":256,\"memory_bytes\":21893327355904}",
                   "status");
    sl_buffer_clear(&out);
    write_status("{\"pools\":[{\"name\":\"x\",\"nodes\":2,\"node\":{\"accelerator\":\"mystery\","
                 "\"memory_bytes\":1000000000,\"accelerators\":4}}]}",
                 &out);
    sl_expect_text(out.data,
                   "{\"pools\":[{\"name\":\"x\",\"accelerator\":null,\"nodes\":2,"
                   "\"accelerators\":8,\"usable_bytes_per_accelerator\":990000000}],"
                   "\"nodes\":2,\"accelerators\":8,\"memory_bytes\":8000000000}",
                   "unknown part");
    sl_buffer_clear(&out);
}

static void
equal_specs_have_equal_hashes(void)
{
    static const char *const texts[] = {"{\"a\":1,\"b\":[1,2]}", " { \"b\": [1, 2], \"a\": 1 }",
                                        "{\"a\":1,\"b\":[2,1]}"};
    static const sl_json_limits limits = {.max_bytes = 1 << 10, .max_depth = 8};
    char hashes[3][SL_HASH_TEXT_SIZE];
    for (size_t i = 0; i < 3; i++) {
        sl_errors err = {0};
        sl_json *json = NULL;
        CU_ASSERT_EQUAL_FATAL(sl_json_parse(texts[i], strlen(texts[i]), &limits, &json, &err),
                              SL_OK);
        const sl_node root = sl_json_root(json);
        CU_ASSERT_EQUAL(sl_inventory_hash(&root, hashes[i], &err), SL_OK);
        sl_json_free(json);
    }
    sl_expect_text(hashes[1], hashes[0], "spelling");
    CU_ASSERT_STRING_NOT_EQUAL(hashes[2], hashes[0]);
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(the_documented_spec_passes),
        SL_CASE(every_fault_of_a_spec_is_named_at_once),
        SL_CASE(pools_are_required_and_bounded),
        SL_CASE(hosts_count_the_nodes),
        SL_CASE(an_unknown_part_needs_its_memory_and_number),
        SL_CASE(a_total_beyond_64_bits_is_refused),
        SL_CASE(status_adds_up_the_pools),
        SL_CASE(equal_specs_have_equal_hashes),
    };
    return sl_run_catalogued(argc, argv, "inventory", cases, sizeof cases / sizeof cases[0],
                             &catalog);
}
