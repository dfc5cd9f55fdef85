/* Sharding maps as JSON: texts of ranks, and what no plan of the API asks for yet. */
#include "codec/answer/sharding_json.h"

#include <string.h>

#include "base/buffer.h"
#include "engine_fixture.h"
#include "harness.h"

static sl_model the_model;
static sl_cluster the_cluster;
static sl_software the_software;
static sl_estimate_request the_request;

static sl_question
ask(uint64_t parameters, uint32_t ranks)
{
    const sl_plain_layer layer = {.name = "linear", .count = 1, .parameters = parameters};

    the_cluster = sl_fixture_cluster(ranks / 8);
    the_software = sl_fixture_software();
    sl_model_describe_plain(&layer, 1, &the_model);
    return sl_fixture_question(&the_model, &the_cluster, &the_software);
}

/* Whether the page holds the text. */
static void
expect_page(const sl_question *q, sl_sharding_mode mode, const sl_sharding_query *query,
            const char *expected)
{
    const sl_sharding sharding = sl_sharding_of(q, mode);
    sl_buffer body;
    sl_writer writer;

    sl_buffer_init(&body, 1 << 20);
    sl_writer_init(&writer, &body);
    CU_ASSERT_TRUE(sl_sharding_write(&writer, &sharding, query, &the_request, NULL));
    CU_ASSERT_TRUE(sl_writer_ok(&writer));
    if (strstr(body.data, expected) == NULL)
        sl_expect_text(body.data, expected, "must hold");
    sl_buffer_clear(&body);
}

static void
flat_parameters_say_what_of_a_tensor_each_rank_has(void)
{
    const sl_question q = ask(15, 16);
    const sl_sharding_mode mode = {SL_SHARDING_FLAT, 16, true};
    const sl_sharding_query one = {.limit = 100, .range_count = 1, .ranges = {{14, 15}}};

    expect_page(&q, mode, &one,
                "\"shards\":[{\"ranks\":\"14\",\"slice\":[[0,15]],\"flat\":[14,15],\"bytes\":2,"
                "\"padding_bytes\":0}]");
    expect_page(
        &q, mode, &one,
        "\"elements\":15,\"padded_elements\":16,\"shards\":[{\"ranks\":\"14\",\"offset\":14,"
        "\"length\":1},{\"ranks\":\"15\",\"offset\":15,\"length\":1}]");
}

static void
a_shard_of_padding_alone_is_an_empty_box(void)
{
    const sl_question q = ask(10, 8);
    const sl_sharding_mode mode = {SL_SHARDING_AXIS_0, 8, true};
    const sl_sharding_query last = {.limit = 100, .range_count = 1, .ranges = {{4, 5}}};

    expect_page(&q, mode, &last,
                "\"shards\":[{\"ranks\":\"4\",\"slice\":[[8,10]],\"bytes\":4,\"padding_bytes\":0},"
                "{\"ranks\":\"5\",\"slice\":[[10,10]],\"bytes\":0,\"padding_bytes\":4}]");
}

static void
replicas_of_a_shard_are_a_range_with_a_stride(void)
{
    const sl_question q = ask(10, 16);
    const sl_sharding_mode mode = {SL_SHARDING_AXIS_0, 2, true};
    const sl_sharding_query all = {.limit = 100};
    const sl_sharding_query some = {.limit = 100, .range_count = 2, .ranges = {{1, 6}, {9, 9}}};
    const sl_sharding_query first = {.limit = 1};

    expect_page(&q, mode, &all, "{\"ranks\":\"0-14:2\",\"slice\":[[0,5]]");
    expect_page(&q, mode, &all, "{\"ranks\":\"1-15:2\",\"slice\":[[5,10]]");
    expect_page(&q, mode, &some, "{\"ranks\":\"2-6:2\",\"slice\":[[0,5]]");
    expect_page(&q, mode, &some, "{\"ranks\":\"1-5:2,9\",\"slice\":[[5,10]]");
    expect_page(&q, mode, &first, "\"next_cursor\":\"0.0.1\"");
}

static void
any_cursor_is_a_page(void)
{
    const sl_question q = ask(15, 16);
    const sl_sharding_mode mode = {SL_SHARDING_FLAT, 16, true};

    for (uint64_t entry = 0; entry < 4; entry++)
        for (uint64_t shard = 0; shard < 20; shard++) {
            const sl_sharding_query query = {.limit = 2,
                                             .entry = entry,
                                             .part = shard % 3,
                                             .shard = shard,
                                             .range_count = 1,
                                             .ranges = {{3, 12}}};
            expect_page(&q, mode, &query, "\"next_cursor\"");
        }
}

/* Against asking every rank for its own shard. */
static void
the_next_shard_of_a_range_of_ranks_is_found(void)
{
    sl_question q = ask(10, 48);
    q.plan = (sl_plan){
        .tensor = 2, .pipeline = 2, .virtual_pipeline = 1, .context = 1, .expert = 2, .data = 12};
    const sl_sharding s = sl_sharding_of(&q, (sl_sharding_mode){SL_SHARDING_FLAT, 6, true});

    for (uint64_t first = 0; first < 48; first++)
        for (uint64_t last = first; last < 48; last++)
            for (uint64_t from = 0; from < 7; from++)
                for (uint32_t routed = 0; routed < 2; routed++) {
                    uint64_t expected = UINT64_MAX;
                    for (uint64_t rank = first; rank <= last; rank++) {
                        const uint64_t own = rank / 2 % 12 / (routed + 1) % (routed == 1 ? 3 : 6);
                        if (rank / 24 == 1 && own >= from && own < expected)
                            expected = own;
                    }
                    if (sl_sharding_next_number(&s, 1, routed == 1, first, last, from) != expected)
                        CU_FAIL("another shard");
                }
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(flat_parameters_say_what_of_a_tensor_each_rank_has),
        SL_CASE(a_shard_of_padding_alone_is_an_empty_box),
        SL_CASE(replicas_of_a_shard_are_a_range_with_a_stride),
        SL_CASE(any_cursor_is_a_page),
        SL_CASE(the_next_shard_of_a_range_of_ranks_is_found),
    };

    return sl_run_cases(argc, argv, "sharding_json", cases, sizeof cases / sizeof cases[0]);
}
