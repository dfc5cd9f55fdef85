/* What a diff of two specs says: hosts by name, fields by meaning, and the same in words. */
#include <string.h>

#include "codec/inventory/inventory_diff.h"
#include "harness.h"

#define NODE "\"node\":{\"accelerator\":\"x\",\"accelerators\":8}"

static void
expect_diff(const char *before, const char *after, const char *expected)
{
    static const sl_json_limits limits = {.max_bytes = SIZE_MAX, .max_depth = 32};
    sl_errors err = {.count = 0};
    sl_arena *const arena = sl_arena_new(64 << 20);
    sl_json *left = NULL;
    sl_json *right = NULL;
    sl_buffer out;
    sl_writer writer;

    if (before != NULL)
        CU_ASSERT_EQUAL(sl_json_parse(before, strlen(before), &limits, &left, &err), SL_OK);
    CU_ASSERT_EQUAL_FATAL(sl_json_parse(after, strlen(after), &limits, &right, &err), SL_OK);
    const sl_node from = left == NULL ? (sl_node){.value = NULL} : sl_json_root(left);
    const sl_node to = sl_json_root(right);
    sl_buffer_init(&out, SIZE_MAX);
    sl_writer_init(&writer, &out);
    sl_write_object(&writer);
    CU_ASSERT_EQUAL(sl_inventory_diff_write(&writer, left == NULL ? NULL : &from, &to, arena, &err),
                    SL_OK);
    sl_write_object_end(&writer);
    CU_ASSERT_TRUE(sl_writer_ok(&writer));
    sl_expect_text(out.data, expected, after);
    sl_buffer_clear(&out);
    sl_json_free(left);
    sl_json_free(right);
    sl_arena_free(arena);
}

#define NO_HOSTS "{\"hosts\":{\"added\":[],\"removed\":[],\"moved\":[]},"

static void
a_pool_that_grew_names_its_new_hosts(void)
{
    expect_diff("{\"pools\":[{\"name\":\"h\",\"nodes\":32,\"hosts\":[\"gpu[001-032]\"]," NODE "}]}",
                "{\"pools\":[{\"name\":\"h\",\"nodes\":40,\"hosts\":[\"gpu[001-040]\"]," NODE "}]}",
                "{\"hosts\":{\"added\":[\"gpu[033-040]\"],\"removed\":[],\"moved\":[]},"
                "\"changes\":[{\"pointer\":\"/pools/0/nodes\",\"change\":\"changed\",\"from\":32,"
                "\"to\":40,\"text\":\"pool h grew from 32 to 40 nodes\"}],"
                "\"summary\":\"pool h grew from 32 to 40 nodes; 8 hosts added\"}");
}

static void
hosts_that_changed_their_pool_have_moved(void)
{
    expect_diff(
        "{\"pools\":[{\"name\":\"a\",\"nodes\":4,\"hosts\":[\"n[1-4]\"]," NODE "},"
        "{\"name\":\"b\",\"nodes\":2,\"hosts\":[\"m1\",\"m2\"]," NODE "}]}",
        "{\"pools\":[{\"name\":\"a\",\"nodes\":2,\"hosts\":[\"n1\",\"n2\"]," NODE "},"
        "{\"name\":\"b\",\"nodes\":3,\"hosts\":[\"n[3-4],m1\"]," NODE "}]}",
        "{\"hosts\":{\"added\":[],\"removed\":[\"m2\"],\"moved\":[{\"hosts\":[\"n[3-4]\"],"
        "\"from\":\"a\",\"to\":\"b\"}]},"
        "\"changes\":[{\"pointer\":\"/pools/0/nodes\",\"change\":\"changed\",\"from\":4,\"to\":2,"
        "\"text\":\"pool a shrank from 4 to 2 nodes\"},"
        "{\"pointer\":\"/pools/1/nodes\",\"change\":\"changed\",\"from\":2,\"to\":3,"
        "\"text\":\"pool b grew from 2 to 3 nodes\"}],"
        "\"summary\":\"pool a shrank from 4 to 2 nodes; pool b grew from 2 to 3 nodes;"
        " 1 host removed; 2 hosts moved\"}");
}

static void
pools_are_matched_by_name_wherever_they_stand(void)
{
    expect_diff(
        "{\"pools\":[{\"name\":\"a\",\"nodes\":1," NODE "},{\"name\":\"b\",\"nodes\":2," NODE "}]}",
        "{\"pools\":[{\"name\":\"b\",\"nodes\":2," NODE "},{\"name\":\"a\",\"nodes\":1," NODE "}]}",
        NO_HOSTS
        "\"changes\":[{\"pointer\":\"/pools\",\"change\":\"changed\",\"from\":["
        "{\"name\":\"a\",\"node\":{\"accelerator\":\"x\",\"accelerators\":8},\"nodes\":1},"
        "{\"name\":\"b\",\"node\":{\"accelerator\":\"x\",\"accelerators\":8},\"nodes\":2}],"
        "\"to\":[{\"name\":\"b\",\"node\":{\"accelerator\":\"x\",\"accelerators\":8},"
        "\"nodes\":2},{\"name\":\"a\",\"node\":{\"accelerator\":\"x\",\"accelerators\":8},"
        "\"nodes\":1}],\"text\":\"the pools stand in another order\"}],"
        "\"summary\":\"the pools stand in another order\"}");
    expect_diff(
        "{\"pools\":[{\"name\":\"a\",\"nodes\":1}]}", "{\"pools\":[{\"name\":\"b\",\"nodes\":2}]}",
        NO_HOSTS
        "\"changes\":[{\"pointer\":\"/pools/0\",\"change\":\"removed\","
        "\"from\":{\"name\":\"a\",\"nodes\":1},"
        "\"text\":\"pool a was removed with its 1 nodes\"},"
        "{\"pointer\":\"/pools/0\",\"change\":\"added\","
        "\"to\":{\"name\":\"b\",\"nodes\":2},\"text\":\"pool b was added with 2 nodes\"}],"
        "\"summary\":\"pool a was removed with its 1 nodes; pool b was added with 2 nodes\"}");
}

static void
fields_are_compared_by_what_they_mean(void)
{
    expect_diff(
        "{\"name\":\"a\",\"description\":null,\"labels\":{\"x\":\"1\",\"y\":\"2\"},"
        "\"pools\":[{\"name\":\"p\",\"nodes\":1,\"price_per_node_hour\":2.0,"
        "\"node\":{\"accelerator\":\"x\",\"nics\":[1]}}]}",
        "{\"labels\":{\"y\":\"3\",\"z\":\"4\"},\"name\":\"a\","
        "\"pools\":[{\"name\":\"p\",\"nodes\":1.0,\"price_per_node_hour\":2,"
        "\"node\":{\"accelerator\":\"x\",\"nics\":[2],\"memory_bytes\":5}}]}",
        NO_HOSTS
        "\"changes\":["
        "{\"pointer\":\"/labels/x\",\"change\":\"removed\",\"from\":\"1\","
        "\"text\":\"labels.x was removed, having been \\\"1\\\"\"},"
        "{\"pointer\":\"/labels/y\",\"change\":\"changed\",\"from\":\"2\",\"to\":\"3\","
        "\"text\":\"labels.y changed from \\\"2\\\" to \\\"3\\\"\"},"
        "{\"pointer\":\"/labels/z\",\"change\":\"added\",\"to\":\"4\","
        "\"text\":\"labels.z was set to \\\"4\\\"\"},"
        "{\"pointer\":\"/pools/0/node/nics\",\"change\":\"changed\",\"from\":[1],\"to\":[2],"
        "\"text\":\"pool p: node.nics changed\"},"
        "{\"pointer\":\"/pools/0/node/memory_bytes\",\"change\":\"added\",\"to\":5,"
        "\"text\":\"pool p: node.memory_bytes was set to 5\"}],"
        "\"summary\":\"labels.x was removed, having been \\\"1\\\"; labels.y changed from"
        " \\\"2\\\" to \\\"3\\\"; labels.z was set to \\\"4\\\"; 2 further changes\"}");
}

static void
another_spelling_of_the_same_hosts_moves_nobody(void)
{
    expect_diff("{\"pools\":[{\"name\":\"p\",\"nodes\":3,\"hosts\":[\"n[1-3]\"]}]}",
                "{\"pools\":[{\"name\":\"p\",\"nodes\":3,\"hosts\":[\"n2\",\"n[1,3]\"]}]}",
                NO_HOSTS "\"changes\":[{\"pointer\":\"/pools/0/hosts\",\"change\":\"changed\","
                         "\"from\":[\"n[1-3]\"],\"to\":[\"n2\",\"n[1,3]\"],"
                         "\"text\":\"pool p: the same hosts are written in another way\"}],"
                         "\"summary\":\"pool p: the same hosts are written in another way\"}");
}

static void
before_the_first_revision_there_was_nothing(void)
{
    expect_diff(NULL,
                "{\"name\":\"a\",\"pools\":[{\"name\":\"p\",\"nodes\":2,\"hosts\":[\"n[1-2]\"]}]}",
                "{\"hosts\":{\"added\":[\"n[1-2]\"],\"removed\":[],\"moved\":[]},"
                "\"changes\":[{\"pointer\":\"/pools/0\",\"change\":\"added\",\"to\":"
                "{\"hosts\":[\"n[1-2]\"],\"name\":\"p\",\"nodes\":2},"
                "\"text\":\"pool p was added with 2 nodes\"}],"
                "\"summary\":\"pool p was added with 2 nodes; 2 hosts added\"}");
}

static void
more_hosts_than_are_compared_are_left_out(void)
{
    expect_diff(
        "{\"pools\":[{\"name\":\"p\",\"nodes\":1}]}",
        "{\"pools\":[{\"name\":\"p\",\"nodes\":1,\"hosts\":[\"a[1-99999]\",\"b[1-99999]\"]}]}",
        "{\"hosts\":null,\"changes\":[],\"summary\":\"the hosts are too many to be compared\"}");
}

static const sl_case cases[] = {
    SL_CASE(a_pool_that_grew_names_its_new_hosts),
    SL_CASE(hosts_that_changed_their_pool_have_moved),
    SL_CASE(pools_are_matched_by_name_wherever_they_stand),
    SL_CASE(fields_are_compared_by_what_they_mean),
    SL_CASE(another_spelling_of_the_same_hosts_moves_nobody),
    SL_CASE(before_the_first_revision_there_was_nothing),
    SL_CASE(more_hosts_than_are_compared_are_left_out),
};

int
main(int argc, char **argv)
{
    sl_json_start();
    return sl_run_cases(argc, argv, "inventory_diff", cases, sizeof cases / sizeof cases[0]);
}
