/* Where ranks stand: both orders, against the definition. */
#include "engine/placement/ranks.h"

#include "engine_fixture.h"
#include "harness.h"
#include "shardline/sharding.h"

static sl_cluster cluster;
static sl_software software;

static sl_question
llama_question(uint32_t nodes, sl_order order)
{
    const sl_dense_spec spec = sl_fixture_llama();
    cluster = sl_fixture_cluster(nodes);
    software = sl_fixture_software();
    sl_question q = sl_fixture_question(sl_fixture_model(&spec), &cluster, &software);

    q.workload.attention = SL_ATTENTION_FLASH2;
    q.plan.tensor = 2;
    q.plan.pipeline = 4;
    q.plan.data = nodes;
    q.plan.zero_stage = 1;
    q.plan.order = order;
    return q;
}

/* rank = t + 2 (d + D p), or t + 2 (p + 4 d). */
static void
places_follow_the_order(void)
{
    const sl_order orders[] = {SL_ORDER_DATA_PIPELINE, SL_ORDER_PIPELINE_DATA};

    for (uint32_t o = 0; o < 2; o++) {
        const sl_question q = llama_question(4, orders[o]);
        const sl_sharding s = sl_sharding_of(&q, sl_sharding_mode_of(&q));
        const uint64_t replicas = q.plan.data;
        for (uint64_t rank = 0; rank < 32; rank++) {
            const sl_place place = sl_sharding_place(&s, rank);
            const uint64_t beside = orders[o] == SL_ORDER_DATA_PIPELINE
                                        ? place.data + replicas * place.pipeline
                                        : place.pipeline + 4 * place.data;
            CU_ASSERT_EQUAL(rank, place.tensor + 2 * beside);
            CU_ASSERT_EQUAL(place.node, rank / 8);
        }
    }
}

/* Ranks of a shard are those of its stage, and every rank of the stage has one number. */
static void
sets_of_ranks_follow_the_order(void)
{
    const sl_question q = llama_question(4, SL_ORDER_PIPELINE_DATA);
    const sl_sharding s = sl_sharding_of(&q, (sl_sharding_mode){SL_SHARDING_AXIS_0, 4, true});
    sl_tensor_walk walk = {0};
    sl_sharded_tensor t;

    while (sl_sharding_next(&s, &walk, &t))
        for (uint32_t p = 0; p < sl_sharding_part_count(&t); p++) {
            const sl_tensor_part part = sl_sharding_part(&s, &t, p);
            for (uint64_t n = 0; n < part.shard_count; n++) {
                const sl_shard shard = sl_sharding_shard(&part, part.first_shard + n);
                uint64_t rank = sl_rank_set_next(&shard.ranks, 0);
                CU_ASSERT_NOT_EQUAL(rank, UINT64_MAX);
                for (; rank != UINT64_MAX; rank = sl_rank_set_next(&shard.ranks, rank + 1)) {
                    CU_ASSERT_EQUAL(sl_sharding_place(&s, rank).pipeline, t.stage);
                    CU_ASSERT_EQUAL(sl_sharding_place(&s, rank).data, part.first_shard + n);
                    CU_ASSERT_EQUAL(sl_sharding_next_number(&s, t.stage, false, rank, rank, 0),
                                    part.first_shard + n);
                }
            }
        }
    /* Ranks 2 and 3 are of stage 1: stage 0 has none of them. */
    CU_ASSERT_EQUAL(sl_sharding_next_number(&s, 0, false, 2, 3, 0), UINT64_MAX);
    CU_ASSERT_EQUAL(sl_sharding_next_number(&s, 0, false, 2, 8, 0), 1);
}

/* Stages of 8 ranks fill a node each, or a replica's four stages of 2 do. */
static void
groups_cross_the_links_of_their_order(void)
{
    sl_question q = llama_question(4, SL_ORDER_DATA_PIPELINE);

    CU_ASSERT_EQUAL(sl_ranks_between(&cluster, &q.plan, 0, 1).level, SL_LEVEL_NETWORK);
    CU_ASSERT_EQUAL(sl_ranks_strides(&q.plan).data, 2);
    CU_ASSERT_EQUAL(sl_fixture_answer(&q)->memory.ranks[1].rank, 8);
    q.plan.order = SL_ORDER_PIPELINE_DATA;
    CU_ASSERT_EQUAL(sl_ranks_between(&cluster, &q.plan, 0, 3).level, SL_LEVEL_SCALE_UP);
    CU_ASSERT_EQUAL(sl_ranks_strides(&q.plan).data, 8);
    CU_ASSERT_EQUAL(sl_fixture_answer(&q)->memory.ranks[1].rank, 2);
    /* Six stages of 2 begin a replica inside a node: some replica crosses with each hop. */
    q.plan.pipeline = 6;
    q.plan.data = 2;
    CU_ASSERT_EQUAL(sl_ranks_between(&cluster, &q.plan, 0, 1).level, SL_LEVEL_SCALE_UP);
    CU_ASSERT_EQUAL(sl_ranks_between(&cluster, &q.plan, 1, 2).level, SL_LEVEL_NETWORK);
}

/* Four nodes: each of one stage, or each of a replica's four stages. */
static void
a_node_has_the_host_memory_of_the_stages_on_it(void)
{
    sl_question q = llama_question(4, SL_ORDER_DATA_PIPELINE);
    uint64_t most = 0, sum = 0;

    q.workload.offload.optimizer = true;
    const sl_memory *memory = &sl_fixture_answer(&q)->memory;
    for (uint32_t i = 0; i < memory->rank_count; i++) {
        most = memory->ranks[i].host.bytes > most ? memory->ranks[i].host.bytes : most;
        sum += memory->ranks[i].stage_count * memory->ranks[i].host.bytes;
    }
    CU_ASSERT_EQUAL(memory->host_per_node.bytes, 8 * most);
    q.plan.order = SL_ORDER_PIPELINE_DATA;
    CU_ASSERT_EQUAL(sl_fixture_answer(&q)->memory.host_per_node.bytes, 2 * sum);
    q.plan.pipeline = 2; /* two replicas a node */
    q.plan.data = 8;
    memory = &sl_fixture_answer(&q)->memory;
    CU_ASSERT_EQUAL(memory->host_per_node.bytes,
                    4 * (memory->ranks[0].host.bytes + memory->ranks[1].host.bytes));
}

static void
the_other_order_is_refused_where_groups_are_not_evenly_spaced(void)
{
    sl_question q = llama_question(4, SL_ORDER_PIPELINE_DATA);
    sl_errors err = {0};

    q.plan.context = 2;
    q.plan.data = 2;
    CU_ASSERT_EQUAL(sl_question_check(&q, &err), SL_E_UNSUPPORTED);
    sl_expect_text(err.list[0].pointer, "/parallelism/order", "pointer");
    q = llama_question(4, SL_ORDER_PIPELINE_DATA);
    q.workload.framework = SL_FRAMEWORK_FSDP2;
    q.plan.zero_stage = 3;
    err.count = 0;
    CU_ASSERT_EQUAL(sl_question_check(&q, &err), SL_E_RANGE);
    sl_expect_text(err.list[0].rule, "order_not_of_framework", "rule");
}

static const sl_case cases[] = {
    SL_CASE(places_follow_the_order),
    SL_CASE(sets_of_ranks_follow_the_order),
    SL_CASE(groups_cross_the_links_of_their_order),
    SL_CASE(a_node_has_the_host_memory_of_the_stages_on_it),
    SL_CASE(the_other_order_is_refused_where_groups_are_not_evenly_spaced),
};

int
main(int argc, char **argv)
{
    return sl_run_cases(argc, argv, "ranks", cases, sizeof cases / sizeof cases[0]);
}
