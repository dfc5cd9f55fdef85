/* Which kernels take the softmax of unfused scores: Megatron's own, where shapes suit it, PyTorch's
 * one by one elsewhere. */
#include <string.h>

#include "engine/answer/evaluate.h"
#include "engine/placement/attended.h"
#include "engine/price/kernel.h"
#include "engine_fixture.h"
#include "harness.h"

static sl_cluster cluster;
static sl_software software;

static const double BLOCKS = 4.0;

/* Four blocks of 16 heads of a GPT, 2,048 positions. */
static sl_question
scored(void)
{
    const sl_dense_spec spec = sl_fixture_gpt(4, 1024, 16);

    cluster = sl_fixture_cluster(1);
    software = sl_fixture_software();
    return sl_fixture_question(sl_fixture_model(&spec), &cluster, &software);
}

static const sl_operator *
core_of(const sl_model *model)
{
    for (uint32_t i = 0; i < model->kind_count; i++)
        for (uint32_t j = 0; j < model->kinds[i].operator_count; j++)
            if (model->kinds[i].operators[j].kind == SL_OPERATOR_ATTENTION)
                return &model->kinds[i].operators[j];
    return NULL;
}

static sl_slice
slice_of(const sl_question *q)
{
    return sl_slice_of(q, &software, &q->workload, &q->plan, cluster.accelerator.sustained_ratio);
}

static sl_scores
scores_of(const sl_question *q)
{
    const sl_slice slice = slice_of(q);

    return sl_slice_scores(&slice, core_of(q->model));
}

/* The constraint that BLOOM's chronicle names, (heads / tensor) x micro-batch in whole fours, and the
 * longest row there are registers for. */
static void
megatron_s_kernel_takes_whole_fours_and_rows_up_to_its_longest(void)
{
    sl_question q = scored();

    q.plan.tensor = 8;
    q.plan.data = 1;
    CU_ASSERT_EQUAL(scores_of(&q), SL_SCORES_COMPOSED);
    CU_ASSERT_TRUE(sl_fixture_has_note(sl_fixture_answer(&q), "scores_composed"));
    q.workload.attention = SL_ATTENTION_FLASH2;
    CU_ASSERT_FALSE(sl_fixture_has_note(sl_fixture_answer(&q), "scores_composed"));
    q.workload.attention = SL_ATTENTION_UNFUSED;
    q.workload.micro_batch = 2;
    CU_ASSERT_FALSE(sl_fixture_has_note(sl_fixture_answer(&q), "scores_composed"));
    CU_ASSERT_EQUAL(scores_of(&q), SL_SCORES_CAUSAL);
    q.workload.sequence_length = 2046;
    CU_ASSERT_EQUAL(scores_of(&q), SL_SCORES_COMPOSED);
    q.workload.sequence_length = 4096;
    CU_ASSERT_EQUAL(scores_of(&q), SL_SCORES_COMPOSED);
    software.engine_workspaces = 1.0;
    CU_ASSERT_EQUAL(scores_of(&q), SL_SCORES_CAUSAL);
    q.workload.sequence_length = 32768;
    CU_ASSERT_EQUAL(scores_of(&q), SL_SCORES_COMPOSED);
}

static void
other_frameworks_and_widths_have_no_such_kernel(void)
{
    sl_question q = scored();

    q.workload.precision = SL_PRECISION_FP32;
    CU_ASSERT_EQUAL(scores_of(&q), SL_SCORES_COMPOSED);
    q.workload.framework = SL_FRAMEWORK_DDP;
    CU_ASSERT_EQUAL(scores_of(&q), SL_SCORES_ROWS);
    software.eager_activations = true;
    CU_ASSERT_EQUAL(scores_of(&q), SL_SCORES_EAGER);
}

static double
core_s(const sl_question *q, sl_pass pass)
{
    const sl_slice slice = slice_of(q);

    return sl_kernel_attention_s(&slice, core_of(q->model), pass);
}

/* The one fused kernel that there is in 32 bits, at the datasheet's rates of both. */
static void
a_kernel_that_takes_32_bits_goes_by_their_rate(void)
{
    sl_question q = scored();
    sl_accelerator *const a = &cluster.accelerator;

    memcpy(a->attention[SL_ATTENTION_EFFICIENT], a->attention[SL_ATTENTION_FLASH2],
           sizeof a->attention[SL_ATTENTION_EFFICIENT]);
    q.workload.attention = SL_ATTENTION_EFFICIENT;
    const double half_s = core_s(&q, SL_PASS_FORWARD);
    q.workload.precision = SL_PRECISION_FP32;
    const double launch_s = a->attention[SL_ATTENTION_EFFICIENT][0].forward.launch_s;
    sl_expect_near((core_s(&q, SL_PASS_FORWARD) - launch_s) / (half_s - launch_s),
                   a->peak_flops_per_s[SL_PRECISION_BF16] / a->peak_flops_per_s[SL_PRECISION_FP32],
                   1e-9, "rates");
    CU_ASSERT_TRUE(sl_attention_possible(a, SL_ATTENTION_EFFICIENT, SL_PRECISION_FP32));
    CU_ASSERT_FALSE(sl_attention_possible(a, SL_ATTENTION_FLASH2, SL_PRECISION_FP32));
}

/* A causal mask leaves 2,049 of 4,096 to read of each row and gradient; all are written. Composed are a
 * cast, a scale, a mask, softmax and a cast of each score: 6 + 8 + 8 + 8 + 6 bytes, and back 6 + 12 + 8 +
 * 8 + 6. */
static void
a_causal_kernel_reads_half_and_single_kernels_pass_over_all(void)
{
    sl_question q = scored();
    const double scores = 16.0 * 2048.0 * 2048.0, read = 2049.0 / 4096.0;
    const sl_slice slice = slice_of(&q);
    const double byte_s = (sl_kernel_memory_s(&slice, scores, slice.streaming.softmax_ratio) -
                           sl_kernel_memory_s(&slice, 0.0, slice.streaming.softmax_ratio));
    const double forward_s = core_s(&q, SL_PASS_FORWARD);
    const double backward_s = core_s(&q, SL_PASS_BACKWARD);

    q.workload.framework = SL_FRAMEWORK_DDP;
    sl_expect_near(core_s(&q, SL_PASS_FORWARD) - forward_s, 2.0 * (1.0 - read) * byte_s, 1e-9,
                   "whole rows, forward");
    sl_expect_near(core_s(&q, SL_PASS_BACKWARD) - backward_s, 4.0 * (1.0 - read) * byte_s, 1e-9,
                   "whole rows, backward");

    /* Two heads of the sixteen: an eighth of the scores. */
    q.plan.tensor = 8;
    const double rows_forward_s = core_s(&q, SL_PASS_FORWARD);
    const double rows_backward_s = core_s(&q, SL_PASS_BACKWARD);
    q.workload.framework = SL_FRAMEWORK_MEGATRON;
    sl_expect_near(core_s(&q, SL_PASS_FORWARD) - rows_forward_s, (36.0 - 4.0) / 8.0 * byte_s, 1e-9,
                   "composed, forward");
    sl_expect_near(core_s(&q, SL_PASS_BACKWARD) - rows_backward_s, (40.0 - 6.0) / 8.0 * byte_s,
                   1e-9, "composed, backward");
}

/* Of 32 bits nothing is cast, there nor back. */
static void
scores_of_32_bits_are_not_cast(void)
{
    sl_question q = scored();

    q.plan.tensor = 8;
    q.plan.data = 1;
    q.workload.global_batch = 1;
    software.host_operator_s = 1e-3;
    const double casts_s = sl_fixture_issued_s(sl_fixture_answer(&q));
    q.workload.precision = SL_PRECISION_FP32;
    sl_expect_near(casts_s - sl_fixture_issued_s(sl_fixture_answer(&q)),
                   BLOCKS * (2.0 + 2.0) * 1e-3, 1e-9, "four casts a block");
}

static double
largest_gradient(const sl_question *q)
{
    static sl_priced priced;
    const sl_combination c = {&software, q->workload, q->plan};

    sl_evaluate_price(q, &c, SL_CLOCK_COOL, &priced);
    return priced.prices[1].largest_gradient_bytes; /* of a block */
}

static void
gradients_of_both_ends_are_as_wide_as_the_softmax(void)
{
    sl_question q = scored();
    const double scores = 16.0 * 2048.0 * 2048.0;

    sl_expect_near(largest_gradient(&q), 2.0 * 2.0 * scores, 1e-12, "16 bits");
    q.plan.tensor = 8;
    sl_expect_near(largest_gradient(&q), 2.0 * 4.0 * scores / 8.0, 1e-12, "cast to 32");
    q.plan.tensor = 1;
    q.workload.framework = SL_FRAMEWORK_DDP;
    software.eager_activations = true;
    sl_expect_near(largest_gradient(&q), 2.0 * 4.0 * scores, 1e-12, "Transformers");
}

static void
a_step_whose_heads_are_no_fours_takes_longer_and_keeps_more(void)
{
    sl_question q = scored();

    q.plan.tensor = 8;
    q.plan.data = 1;
    q.workload.global_batch = 1;
    const sl_slice composed = slice_of(&q);
    const sl_operator *core = core_of(q.model);
    const double scores = 2.0 * 2048.0 * 2048.0;
    sl_expect_near(sl_slice_core_bytes(&composed, core), (4.0 + 2.0) * scores, 1e-12,
                   "fp32 and what multiplies the values");
    software.host_operator_s = 1e-3;
    const double issued_s = sl_fixture_issued_s(sl_fixture_answer(&q));
    q.workload.micro_batch = 2;
    q.workload.global_batch = 2;
    const sl_slice kernel = slice_of(&q);
    sl_expect_near(sl_slice_core_bytes(&kernel, core), 2.0 * 2.0 * scores, 1e-12, "as they are");
    sl_expect_near(issued_s - sl_fixture_issued_s(sl_fixture_answer(&q)),
                   BLOCKS * (4.0 + 4.0) * 1e-3, 1e-9, "four kernels more there and back");
}

static const sl_case cases[] = {
    SL_CASE(megatron_s_kernel_takes_whole_fours_and_rows_up_to_its_longest),
    SL_CASE(other_frameworks_and_widths_have_no_such_kernel),
    SL_CASE(a_kernel_that_takes_32_bits_goes_by_their_rate),
    SL_CASE(a_causal_kernel_reads_half_and_single_kernels_pass_over_all),
    SL_CASE(scores_of_32_bits_are_not_cast),
    SL_CASE(gradients_of_both_ends_are_as_wide_as_the_softmax),
    SL_CASE(a_step_whose_heads_are_no_fours_takes_longer_and_keeps_more),
};

int
main(int argc, char **argv)
{
    return sl_run_cases(argc, argv, "scores", cases, sizeof cases / sizeof cases[0]);
}
