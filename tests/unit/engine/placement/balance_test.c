/* Blocks dealt out over the stages: to which rank each goes, and when recomputation makes no
 * difference. */
#include "engine/placement/balance.h"

#include <string.h>

#include "engine/answer/evaluate.h"
#include "engine/answer/step_parts.h"
#include "engine/schedule/schedule.h"
#include "engine_fixture.h"
#include "harness.h"

static sl_cluster cluster;
static sl_software software;
static sl_priced priced;
static sl_holdings holdings;
static sl_combination combination;

static sl_memory_case
case_of(const sl_question *q)
{
    combination = (sl_combination){&software, q->workload, q->plan};
    sl_evaluate_price(q, &combination, SL_CLOCK_HELD, &priced);
    return sl_evaluate_case(q, &combination, &priced, &holdings);
}

/* 24 blocks between a table and a head that is as wide as is asked for. */
static sl_question
question_of(uint64_t vocabulary, uint32_t pipeline, uint32_t chunks)
{
    sl_dense_spec spec = sl_fixture_llama();

    spec.blocks = 24;
    spec.vocabulary = vocabulary;
    cluster = sl_fixture_cluster(2);
    software = sl_fixture_software();
    sl_question q = sl_fixture_question(sl_fixture_model(&spec), &cluster, &software);
    q.workload.attention = SL_ATTENTION_FLASH2;
    q.workload.global_batch = 64;
    q.plan.pipeline = pipeline;
    q.plan.virtual_pipeline = chunks;
    q.plan.schedule = chunks > 1 ? SL_SCHEDULE_INTERLEAVED_1F1B : SL_SCHEDULE_1F1B;
    q.plan.data = 16 / pipeline;
    return q;
}

static double
layer_s(const sl_memory_case *c, uint32_t kind)
{
    const sl_rank_time t = sl_step_layer(c, kind, false);

    return sl_pass_s(&t.forward) + sl_pass_s(&t.backward) + sl_pass_s(&t.again);
}

/* What a rank takes of a micro-batch with that many blocks. */
static double
rank_s(const sl_memory_case *c, uint32_t rank, uint32_t blocks)
{
    const sl_model *model = c->question->model;
    double all_s = blocks * layer_s(c, model->layers[1]);

    if (rank == 0)
        all_s += layer_s(c, model->layers[0]);
    if (rank + 1 == c->plan->pipeline)
        all_s += layer_s(c, model->layers[model->layer_count - 1]);
    return all_s;
}

/* No rank has a block more that would have ended sooner on another. */
static void
every_block_goes_to_the_rank_that_ends_first_with_it(void)
{
    static const uint64_t vocabularies[] = {1024, 32000, 256000, 1024000};
    uint32_t uneven = 0, dealt = 0;

    for (uint32_t i = 0; i < 4 * 4 * 3; i++) {
        const uint32_t pipeline = 2U << i % 4; /* to 16 */
        const uint32_t chunks = 1 + i / 4 % 3;
        /* Else the head alone may be the last stage: that has no block to be measured by. */
        if (24 % (pipeline * chunks) != 0)
            continue;
        const sl_question q = question_of(vocabularies[i / 12], pipeline, chunks);
        const sl_memory_case c = case_of(&q);
        uint32_t blocks[SL_PIPELINE_MAX];
        uint32_t all = 0;
        CU_ASSERT_TRUE_FATAL(sl_balance_blocks(&c, blocks));
        dealt++;
        for (uint32_t r = 0; r < pipeline; r++) {
            const uint32_t fewest = sl_balance_fewest(&q.plan, r);
            all += blocks[r];
            uneven += blocks[r] != blocks[0];
            CU_ASSERT_TRUE(blocks[r] >= fewest);
            for (uint32_t other = 0; blocks[r] > fewest && other < pipeline; other++)
                CU_ASSERT_TRUE(rank_s(&c, r, blocks[r]) <=
                               rank_s(&c, other, blocks[other] + 1) * (1.0 + 1e-12));
        }
        CU_ASSERT_EQUAL(all, 24);
    }
    CU_ASSERT_TRUE(dealt > 20 && uneven > 10);
}

static bool
deals_alike(sl_question q, uint32_t layers)
{
    sl_plan plans[2];

    for (uint32_t i = 0; i < 2; i++) {
        q.workload.recompute = SL_RECOMPUTE_FULL;
        q.workload.recompute_method = i == 0 ? SL_RECOMPUTE_EACH : SL_RECOMPUTE_BLOCK;
        q.workload.recompute_layers = i == 0 ? 0 : layers;
        const sl_memory_case c = case_of(&q);
        plans[i] = q.plan;
        (void)sl_balance_plan(&c, &plans[i]);
    }
    return plans[0].layout_chunks == plans[1].layout_chunks &&
           memcmp(plans[0].layout, plans[1].layout,
                  plans[0].layout_chunks * sizeof plans[0].layout[0]) == 0;
}

static void
blocks_of_one_kind_are_dealt_out_alike_however_many_are_rebuilt(void)
{
    for (uint32_t i = 0; i < 12; i++) {
        const sl_question q = question_of(i < 6 ? 32000 : 512000, 2U << i % 3, 1 + i % 2);
        CU_ASSERT_TRUE(sl_schedule_blocks_alike(q.model));
        for (uint32_t layers = 1; layers <= 16; layers *= 2)
            CU_ASSERT_TRUE(deals_alike(q, layers));
    }
}

/* Dense blocks before those with experts: what is rebuilt first is one kind or the other. */
static void
blocks_of_two_kinds_may_not_be(void)
{
    sl_dense_spec spec = sl_fixture_llama();

    cluster = sl_fixture_cluster(2);
    software = sl_fixture_software();
    spec.blocks = 24;
    spec.naming = SL_NAMING_QWEN2_MOE;
    spec.experts = (sl_experts){.count = 8, .per_token = 2, .width = 4096};
    for (uint32_t i = 0; i < 12; i++)
        spec.block[i] = SL_BLOCK_DENSE_MLP;
    sl_question q = sl_fixture_question(sl_fixture_model(&spec), &cluster, &software);
    q.workload.attention = SL_ATTENTION_FLASH2;
    q.workload.global_batch = 64;
    q.plan.pipeline = 3; /* the second has four blocks of each */
    q.plan.data = 4;
    CU_ASSERT_FALSE(sl_schedule_blocks_alike(q.model));
    CU_ASSERT_FALSE(deals_alike(q, 2));
}

static const sl_case cases[] = {
    SL_CASE(every_block_goes_to_the_rank_that_ends_first_with_it),
    SL_CASE(blocks_of_one_kind_are_dealt_out_alike_however_many_are_rebuilt),
    SL_CASE(blocks_of_two_kinds_may_not_be),
};

int
main(int argc, char **argv)
{
    return sl_run_cases(argc, argv, "balance", cases, sizeof cases / sizeof cases[0]);
}
