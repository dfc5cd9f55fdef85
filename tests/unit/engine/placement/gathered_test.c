/* What ZeRO and FSDP have in memory only while they gather and reduce: neighbours of the unit in use,
 * and DeepSpeed's buckets. */
#include "engine_fixture.h"
#include "harness.h"

static sl_cluster cluster;
static sl_software software;
static sl_model model;

static const double BUCKET = 2.0 * 5e8;

static sl_question
asked(sl_framework framework, uint32_t zero_stage)
{
    sl_question q = sl_fixture_llama_question(1, &cluster, &software);

    q.workload.framework = framework;
    q.workload.recompute = SL_RECOMPUTE_FULL;
    q.plan.zero_stage = zero_stage;
    q.plan.data = 8;
    return q;
}

/* One input of one term of the first rank. */
static double
input_of(const sl_question *q, sl_term_id id, const char *name)
{
    const sl_rank_memory *rank = &sl_fixture_answer(q)->memory.ranks[0];

    for (uint32_t i = 0; i < rank->term_count; i++)
        if (rank->terms[i].id == id)
            return sl_term_input(&rank->terms[i], name);
    return -1.0;
}

/* Of three layers that one in the middle is a hundred times as large as. */
static double
gathered_beside(sl_framework framework, uint64_t neighbours)
{
    const sl_plain_layer layers[] = {
        {"a", 1, neighbours, 1000, 1000, 100},
        {"b", 1, 100000000, 1000, 1000, 100},
        {"c", 1, neighbours, 1000, 1000, 100},
    };
    sl_question q = asked(framework, 3);

    sl_model_describe_plain(layers, 3, &model);
    q.model = &model;
    q.workload.sequence_length = 1;
    q.workload.attention = SL_ATTENTION_UNFUSED;
    q.workload.recompute = SL_RECOMPUTE_NONE;
    sl_expect_near(input_of(&q, SL_TERM_GATHERED_PARAMETERS, "beside_parameters"),
                   (double)neighbours, 1e-12, "said");
    return sl_fixture_bytes_of(&q, SL_TERM_GATHERED_PARAMETERS);
}

/* fully_shard keeps the flat output of the unit in use until the next one is copied out of its own
 * (_fsdp_param_group.py, all_gather_state). */
static void
a_neighbour_is_gathered_beside_the_largest_unit(void)
{
    sl_expect_near(gathered_beside(SL_FRAMEWORK_FSDP1, 1000000), 2.0 * (1e8 + 1e6), 1e-12,
                   "FSDP 1");
    sl_expect_near(gathered_beside(SL_FRAMEWORK_FSDP1, 100000000), 2.0 * 2e8, 1e-12, "all alike");
    sl_expect_near(gathered_beside(SL_FRAMEWORK_FSDP2, 1000000), 2.0 * (2e8 + 1e6), 1e-12,
                   "FSDP 2");
    sl_expect_near(gathered_beside(SL_FRAMEWORK_FSDP2, 100000000), 2.0 * 3e8, 1e-12, "all alike");
}

static void
expect_buckets(uint32_t zero_stage, bool overlap, double passing, double staying, const char *what)
{
    sl_question q = asked(SL_FRAMEWORK_DEEPSPEED, zero_stage);

    software.overlap_gradient_reduce = overlap;
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_PASSING_BUCKETS), passing, 1e-12, what);
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_REDUCE_BUFFERS), staying, 1e-12, what);
}

/* Those that go by a backward are there at its peak. */
static void
buckets_of_deepspeed_go_by_its_stage(void)
{
    expect_buckets(0, true, 0.0, 0.0, "none");
    expect_buckets(1, false, 0.0, 2.0 * BUCKET, "to reduce and to gather");
    expect_buckets(1, true, 0.0, 2.0 * BUCKET, "overlap_comm is ignored");
    expect_buckets(2, false, BUCKET, 0.0, "one");
    expect_buckets(2, true, 2.0 * BUCKET, 0.0, "two");
    expect_buckets(3, false, BUCKET, BUCKET, "its own, and what it is dealt out through");
    expect_buckets(3, true, BUCKET, BUCKET, "with overlap_comm alike");
}

/* One token leaves nothing for backward to peak with. */
static void
an_optimizer_step_has_no_bucket_of_backward(void)
{
    sl_question q = asked(SL_FRAMEWORK_DEEPSPEED, 2);
    const sl_rank_memory *rank = NULL;

    q.workload.sequence_length = 1;
    q.workload.optimizer = SL_OPTIMIZER_ADAMW;
    software.step_lists = 8.0;
    rank = &sl_fixture_answer(&q)->memory.ranks[0];
    sl_expect_text(rank->phase, "optimizer", "phase");
    CU_ASSERT_EQUAL(sl_fixture_bytes(rank, SL_TERM_PASSING_BUCKETS), 0.0);
}

/* Gradients are said to be as wide as they are reduced, not as they rest. */
static void
a_gradient_is_said_to_be_as_wide_as_it_is_reduced(void)
{
    sl_question q = asked(SL_FRAMEWORK_FSDP2, 3);

    q.workload.reduce = SL_WIRE_BF16;
    sl_expect_near(input_of(&q, SL_TERM_UNSHARDED_GRADIENTS, "reduced_bytes_per_parameter"), 2.0,
                   0.0, "bf16");
    q.workload.reduce = SL_WIRE_FP32;
    sl_expect_near(input_of(&q, SL_TERM_UNSHARDED_GRADIENTS, "reduced_bytes_per_parameter"), 4.0,
                   0.0, "fp32");
}

static void
deepspeed_clones_its_part_of_what_trains_in_fp32(void)
{
    sl_question q = asked(SL_FRAMEWORK_DEEPSPEED, 0);
    const double n = sl_fixture_llama_all();

    q.workload.precision = SL_PRECISION_FP32;
    q.workload.attention = SL_ATTENTION_UNFUSED;
    CU_ASSERT_EQUAL(sl_fixture_bytes_of(&q, SL_TERM_MASTER_WEIGHTS), 0.0);
    for (q.plan.zero_stage = 1; q.plan.zero_stage <= 3; q.plan.zero_stage++)
        sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_MASTER_WEIGHTS), 4.0 * n / 8.0, 1e-6,
                       "a part each");
}

/* register_post_accumulate_grad_hook steps on each parameter as its gradient comes: of the embedding
 * at the very end, when the head's has long gone. */
static void
a_step_in_backward_has_one_gradient_at_a_time(void)
{
    sl_question q = asked(SL_FRAMEWORK_DDP, 0);

    cluster.accelerators_per_node = 1;
    q.plan.data = 1;
    q.workload.sequence_length = 1;
    q.workload.global_batch = 1;
    q.workload.precision = SL_PRECISION_FP32; /* under autocast copies of weights are more */
    q.workload.attention = SL_ATTENTION_UNFUSED;
    q.workload.loss = SL_LOSS_CUT;
    q.workload.optimizer_in_backward = true;
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_STEPPED_GRADIENT), 4.0 * 32768.0 * 2048.0, 1e-12,
                   "the table, no head and no norm beside it");
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(a_neighbour_is_gathered_beside_the_largest_unit),
        SL_CASE(buckets_of_deepspeed_go_by_its_stage),
        SL_CASE(an_optimizer_step_has_no_bucket_of_backward),
        SL_CASE(a_gradient_is_said_to_be_as_wide_as_it_is_reduced),
        SL_CASE(deepspeed_clones_its_part_of_what_trains_in_fp32),
        SL_CASE(a_step_in_backward_has_one_gradient_at_a_time),
    };

    return sl_run_cases(argc, argv, "gathered", cases, sizeof cases / sizeof cases[0]);
}
