#include "engine/links/collective.h"
#include "engine/price/kernel.h"
#include "engine/schedule/schedule.h"
#include "engine_fixture.h"
#include "harness.h"

static sl_cluster cluster;
static sl_software software;

static sl_question
gpt_question(uint32_t nodes, uint32_t blocks, uint64_t hidden, uint32_t heads)
{
    const sl_dense_spec spec = sl_fixture_gpt(blocks, hidden, heads);

    cluster = sl_fixture_cluster(nodes);
    software = sl_fixture_software();
    return sl_fixture_question(sl_fixture_model(&spec), &cluster, &software);
}

static void
equal_stages_idle_p_minus_1_over_m_plus_p_minus_1(void)
{
    sl_plan plan = {.pipeline = 4, .virtual_pipeline = 1};
    const sl_busy busy[SL_PIPELINE_MAX] = {
        {.all_s = 2.0}, {.all_s = 2.0}, {.all_s = 2.0}, {.all_s = 2.0}};

    const sl_pipeline_span span = sl_schedule_span(&plan, 8, busy);
    sl_expect_near(span.bubble_s, 6.0, 1e-12, "(p - 1)(F + B), Narayanan 2021");
    sl_expect_near(span.span_s, 22.0, 1e-12, "(m + p - 1)(F + B)");
    sl_expect_near(span.idle_ratio, 3.0 / 11.0, 1e-12, "(p - 1) / (m + p - 1)");
}

static void
three_equal_stages_and_one_microbatch_idle_two_thirds(void)
{
    sl_plan plan = {.pipeline = 3, .virtual_pipeline = 1};
    const sl_busy busy[SL_PIPELINE_MAX] = {{.all_s = 1.0}, {.all_s = 1.0}, {.all_s = 1.0}};

    sl_expect_near(sl_schedule_span(&plan, 1, busy).idle_ratio, 2.0 / 3.0, 1e-12,
                   "naive layer-wise parallelism");
}

static void
chunks_divide_the_bubble(void)
{
    sl_plan plan = {.pipeline = 4, .virtual_pipeline = 3, .schedule = SL_SCHEDULE_INTERLEAVED_1F1B};
    const sl_busy busy[SL_PIPELINE_MAX] = {
        {.all_s = 6.0}, {.all_s = 6.0}, {.all_s = 6.0}, {.all_s = 6.0}};

    sl_expect_near(sl_schedule_span(&plan, 8, busy).bubble_s, 3.0 * 6.0 / 3.0, 1e-12,
                   "(p - 1)(F + B) / v");
}

static void
interleaving_keeps_one_plus_p_minus_1_over_p_v_more(void)
{
    sl_plan plan = {.pipeline = 8, .virtual_pipeline = 3, .schedule = SL_SCHEDULE_INTERLEAVED_1F1B};
    const double p = 8.0, v = 3.0;

    sl_expect_near(sl_schedule_in_flight(&plan, 64, 0).whole, p * (1.0 + (p - 1.0) / (p * v)),
                   1e-12, "Narayanan 2021; Korthikanti 2022");
    plan.virtual_pipeline = 1;
    plan.schedule = SL_SCHEDULE_1F1B;
    CU_ASSERT_EQUAL(sl_schedule_in_flight(&plan, 64, 0).whole, 8.0);
    CU_ASSERT_EQUAL(sl_schedule_in_flight(&plan, 64, 7).whole, 1.0);
    CU_ASSERT_EQUAL(sl_schedule_in_flight(&plan, 3, 0).whole, 3.0); /* no more than there are */
}

/* The courses: of three equal stages, one at a time works; GPipe idles as 1F1B does and keeps every
 * micro-batch. */
static void
naive_and_gpipe_are_what_they_are_drawn_as(void)
{
    const sl_busy busy[SL_PIPELINE_MAX] = {{.all_s = 2.0}, {.all_s = 2.0}, {.all_s = 2.0}};
    sl_plan plan = {.pipeline = 3, .virtual_pipeline = 1, .schedule = SL_SCHEDULE_NAIVE};

    for (uint64_t m = 1; m <= 4; m++) {
        const sl_pipeline_span span = sl_schedule_span(&plan, m, busy);
        sl_expect_near(span.span_s, 6.0 * (double)m, 1e-12, "one after the other");
        sl_expect_near(span.idle_ratio, 2.0 / 3.0, 1e-12, "two of three idle");
        CU_ASSERT_EQUAL(sl_schedule_in_flight(&plan, m, 0).whole, 1.0);
    }
    plan.schedule = SL_SCHEDULE_GPIPE;
    const sl_pipeline_span span = sl_schedule_span(&plan, 4, busy);
    sl_expect_near(span.bubble_s, 4.0, 1e-12, "(p - 1)(F + B)");
    CU_ASSERT_EQUAL(sl_schedule_in_flight(&plan, 4, 2).whole, 4.0);
}

static void
time_terms_sum_to_the_step(void)
{
    sl_question q = gpt_question(2, 8, 1024, 16);

    for (uint32_t p = 1; p <= 8; p *= 2)
        for (uint32_t mode = 0; mode < SL_RECOMPUTE_OPERATORS; mode++) {
            q.plan.pipeline = p;
            q.plan.data = 16 / p;
            q.plan.zero_stage = p % 4 == 0;
            q.workload.recompute = (sl_recompute)mode;
            const sl_estimate *e = sl_fixture_answer(&q);
            double sum = 0.0;
            for (sl_term_id id = SL_TERM_FORWARD; id <= SL_TERM_OVERHEAD; id++) {
                CU_ASSERT_TRUE(sl_fixture_seconds(e, id) >= 0.0);
                sum += sl_fixture_seconds(e, id);
            }
            sl_expect_near(sum, e->time.step_s, 1e-12, "sum of terms");
            CU_ASSERT_TRUE(e->step_low_s <= e->time.step_s && e->time.step_s <= e->step_high_s);
            CU_ASSERT_TRUE(e->time.ideal_s < e->time.step_s);
        }
}

/* 72 B s L h^2 (1 + s / 6h + V / 12hL): with the vocabulary padded nowhere, exactly. */
static void
model_flops_follow_the_published_formula(void)
{
    sl_question q = gpt_question(1, 12, 1024, 16);
    const double B = 16.0, s = 2048.0, L = 12.0, h = 1024.0, V = 51200.0;
    const sl_estimate *e = sl_fixture_answer(&q);

    sl_expect_near(e->throughput.model_flops_per_s_per_accelerator * 8.0 * e->time.step_s,
                   72.0 * B * s * L * h * h * (1.0 + s / (6.0 * h) + V / (12.0 * h * L)), 1e-12,
                   "Korthikanti 2022 appendix A");
    CU_ASSERT_TRUE(e->throughput.mfu_causal < e->throughput.mfu_full);
}

static void
full_recomputation_adds_one_forward_of_the_blocks(void)
{
    sl_question q = gpt_question(1, 12, 1024, 16);
    const sl_estimate *e = sl_fixture_answer(&q);
    const double step_s = e->time.step_s - sl_fixture_seconds(e, SL_TERM_OVERHEAD);
    const double forward_s = sl_fixture_seconds(e, SL_TERM_FORWARD);

    q.workload.recompute = SL_RECOMPUTE_FULL;
    e = sl_fixture_answer(&q);
    const double again_s = sl_fixture_seconds(e, SL_TERM_RECOMPUTE);
    sl_expect_near(e->time.step_s - sl_fixture_seconds(e, SL_TERM_OVERHEAD) - step_s, again_s, 1e-9,
                   "the step grows by what is recomputed");
    CU_ASSERT_TRUE(again_s < forward_s && again_s > 0.5 * forward_s); /* the head is not */
    CU_ASSERT_TRUE(e->throughput.hfu > e->throughput.mfu_full);
}

/* A step of a host that takes `operator_s` to issue each operator, and what of it is waited for. */
static double
waited_s(sl_question *q, sl_software *issuing, double operator_s)
{
    issuing->host_operator_s = operator_s;
    q->software = issuing;
    return sl_fixture_seconds(sl_fixture_answer(q), SL_TERM_LAUNCH);
}

/* 12 blocks of 9 operators and an attention of three, whose two products have two gradients each
 * like the four others. */
static void
a_slow_host_sets_the_time_of_small_layers(void)
{
    sl_software issuing = software;
    sl_question q = gpt_question(1, 12, 64, 8);

    CU_ASSERT_EQUAL(waited_s(&q, &issuing, 0.0), 0.0);
    const double slow_s = waited_s(&q, &issuing, 1.0);
    const double slower_s = waited_s(&q, &issuing, 2.0);
    const double issued = slower_s - slow_s; /* one second more for each */
    const double microbatches = (double)q.workload.global_batch / (double)q.plan.data;
    CU_ASSERT_TRUE(issued >= microbatches * 12.0 * (12.0 + 18.0));
    CU_ASSERT_TRUE(issued <= microbatches * (12.0 * (12.0 + 18.0) + 12.0)); /* with the ends */
    CU_ASSERT_TRUE(slow_s < issued); /* what computes meanwhile is not waited for */
    CU_ASSERT_EQUAL(waited_s(&q, &issuing, 1e-9), 0.0);

    q.workload.compile = true;
    CU_ASSERT_EQUAL(waited_s(&q, &issuing, 1.0), 0.0);
    q.workload.compile = false;
    q.workload.graphs = SL_GRAPHS_LAYER;
    CU_ASSERT_EQUAL(waited_s(&q, &issuing, 1.0), 0.0);
}

static void
recomputation_is_issued_again(void)
{
    sl_software issuing = software;
    sl_question q = gpt_question(1, 12, 64, 8);
    const double once_s = waited_s(&q, &issuing, 1.0);

    q.workload.recompute = SL_RECOMPUTE_FULL;
    const double microbatches = (double)q.workload.global_batch / (double)q.plan.data;
    sl_expect_near(waited_s(&q, &issuing, 1.0) - once_s, microbatches * 12.0 * 12.0, 1e-3,
                   "operators of one more forward pass");
}

/* A small all-reduce of the eight ranks behind each forward and each backward. */
static void
delayed_scales_take_the_largest_values_of_all_ranks(void)
{
    sl_question q = gpt_question(1, 4, 1024, 16);

    cluster.accelerator.peak_flops_per_s[SL_PRECISION_FP8] =
        2.0 * cluster.accelerator.peak_flops_per_s[SL_PRECISION_BF16];
    q.workload.precision = SL_PRECISION_FP8;
    const sl_group stage = sl_group_of(&cluster, 8, 1);
    const double one_s = sl_collective_s(&cluster, SL_COLLECTIVE_ALL_REDUCE, &stage, 1024.0);
    const double passes =
        2.0 * (double)q.workload.global_batch / (double)(q.workload.micro_batch * q.plan.data);
    const double without_s = sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_OVERHEAD);
    q.workload.fp8.recipe = SL_RECIPE_DELAYED;
    CU_ASSERT_TRUE(one_s > 0.0);
    sl_expect_near(sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_OVERHEAD) - without_s,
                   passes * one_s, 1e-9, "each micro-batch");
    q.workload.precision = SL_PRECISION_BF16;
    const double half_s = sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_OVERHEAD);
    q.workload.fp8.recipe = SL_RECIPE_DEFAULT;
    CU_ASSERT_EQUAL(sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_OVERHEAD), half_s);
}

static void
one_accelerator_communicates_nothing(void)
{
    sl_question q = gpt_question(1, 4, 1024, 16);

    cluster.accelerators_per_node = 1;
    q.plan.data = 1;
    const sl_estimate *e = sl_fixture_answer(&q);
    CU_ASSERT_EQUAL(e->time.exposed_communication_s, 0.0);
    CU_ASSERT_EQUAL(e->time.communication_count, 0);
    CU_ASSERT_EQUAL(e->time.bubble_ratio, 0.0);
}

static void
overlap_hides_the_gradient_reduction(void)
{
    sl_question q = gpt_question(2, 8, 1024, 16);
    const double exposed_s = sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_DATA_COMMUNICATION);

    software.overlap_gradient_reduce = true;
    const double hidden_s = sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_DATA_COMMUNICATION);
    CU_ASSERT_TRUE(hidden_s < exposed_s);
    CU_ASSERT_TRUE(hidden_s > 0.0);
}

static sl_slice
fixture_slice(const sl_cluster *on)
{
    return (sl_slice){
        .accelerator = &on->accelerator,
        .software = &software,
        .clock_ratio = 1.0,
        .sequence = 2048.0,
        .tokens = 2048.0,
        .sequences = 1.0,
        .tensor = 1.0,
        .spread = 1.0,
        .element_bytes = 2.0,
        .precision = SL_PRECISION_BF16,
    };
}

static void
a_product_pays_for_whole_waves(void)
{
    cluster = sl_fixture_cluster(1);
    const sl_slice slice = fixture_slice(&cluster);
    /* 100 tiles of 256 x 128 fill the 100 multiprocessors once; one more row of tiles needs
     * two waves. */
    const double one_s =
        sl_kernel_product_s(&slice, (sl_product){.batch = 1, .m = 2560, .n = 1280, .k = 8192});
    const double two_s =
        sl_kernel_product_s(&slice, (sl_product){.batch = 1, .m = 2561, .n = 1280, .k = 8192});

    sl_expect_near(one_s, 4e-6 + 2.0 * 256.0 * 128.0 * 8292.0 * 100.0 / 80e12, 1e-12,
                   "one wave of 256 x 128");
    CU_ASSERT_TRUE(two_s > one_s * 1.02);
}

static void
an_unaligned_product_computes_at_a_share_of_the_rate(void)
{
    cluster = sl_fixture_cluster(1);
    sl_product product = {.batch = 1, .m = 2560, .n = 1280, .k = 8192};
    const sl_slice slice = fixture_slice(&cluster);
    const double aligned_s = sl_kernel_product_s(&slice, product) - 4e-6;
    const struct {
        sl_alignment alignment;
        double words_ratio, unaligned_ratio, slower;
    } rows[] = {
        {SL_ALIGNED_WORDS, 0.0, 0.0, 2.0}, /* a law that does not say */
        {SL_UNALIGNED, 0.0, 0.0, 2.0},     {SL_ALIGNED_WORDS, 0.4, 0.2, 2.5},
        {SL_UNALIGNED, 0.4, 0.2, 5.0},     {SL_ALIGNED, 0.4, 0.2, 1.0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cluster.accelerator.gemm.words_rate_ratio = rows[i].words_ratio;
        cluster.accelerator.gemm.unaligned_rate_ratio = rows[i].unaligned_ratio;
        product.alignment = rows[i].alignment;
        sl_expect_near(sl_kernel_product_s(&slice, product) - 4e-6, rows[i].slower * aligned_s,
                       1e-12, "more compute, one launch");
    }
    CU_ASSERT_EQUAL(sl_kernel_alignment(50257, SL_PRECISION_BF16), SL_UNALIGNED);
    CU_ASSERT_EQUAL(sl_kernel_alignment(50257 / 4.0, SL_PRECISION_BF16), SL_UNALIGNED);
    CU_ASSERT_EQUAL(sl_kernel_alignment(50258, SL_PRECISION_BF16), SL_ALIGNED_WORDS);
    CU_ASSERT_EQUAL(sl_kernel_alignment(50304, SL_PRECISION_BF16), SL_ALIGNED);
    CU_ASSERT_EQUAL(sl_kernel_alignment(12, SL_PRECISION_FP32), SL_ALIGNED);
}

/* Without tensor cores a part does not come near its power: 51 TFLOP/s of H100, cool and hot. */
static void
fp32_products_are_not_throttled(void)
{
    cluster = sl_fixture_cluster(1);
    sl_slice slice = fixture_slice(&cluster);
    const sl_product wide = {
        .batch = 1, .m = 8192, .n = 8192, .k = 8192, .precision = SL_PRECISION_FP32};
    const sl_product half = {
        .batch = 1, .m = 8192, .n = 8192, .k = 8192, .precision = SL_PRECISION_BF16};
    const double cool_s = sl_kernel_product_s(&slice, wide);
    const double half_s = sl_kernel_product_s(&slice, half);

    slice.clock_ratio = 0.8;
    sl_expect_near(sl_kernel_product_s(&slice, wide), cool_s, 1e-12, "fp32");
    CU_ASSERT_TRUE(sl_kernel_product_s(&slice, half) > 1.2 * half_s);
}

static void
a_thin_product_is_bound_by_memory(void)
{
    cluster = sl_fixture_cluster(1);
    const sl_slice slice = fixture_slice(&cluster);
    const double bytes = (1.0 * 8192 + 8192.0 * 8192 + 8192) * 2.0;

    sl_expect_near(
        sl_kernel_product_s(&slice, (sl_product){.batch = 1, .m = 1, .n = 8192, .k = 8192}),
        4e-6 + bytes / 0.8e12, 0.35, "weights read once");
}

static void
single_precision_products_run_at_its_own_peak(void)
{
    cluster = sl_fixture_cluster(1);
    sl_slice slice = fixture_slice(&cluster);
    sl_product product = {.batch = 1, .m = 2560, .n = 1280, .k = 8192};
    const double half_s = sl_kernel_product_s(&slice, product);

    product.precision = SL_PRECISION_FP32;
    slice.element_bytes = 4.0;
    sl_expect_near(sl_kernel_product_s(&slice, product), 10.0 * half_s, 0.05, "10 of 100 TFLOP/s");
}

/* It fills a tile's pipeline in the time that 16 bits do: 10 steps in place of 100. */
static void
a_slow_precision_fills_its_pipeline_as_soon(void)
{
    cluster = sl_fixture_cluster(1);
    const sl_slice slice = fixture_slice(&cluster);
    const double launch_s = cluster.accelerator.gemm.launch_s;
    sl_product product = {
        .batch = 1, .m = 2560, .n = 1280, .k = 64, .precision = SL_PRECISION_FP32};
    const double once_s = sl_kernel_product_s(&slice, product) - launch_s;

    product.k = 128;
    sl_expect_near(sl_kernel_product_s(&slice, product) - launch_s,
                   once_s * (128.0 + 10.0) / (64.0 + 10.0), 1e-9, "128 steps and 10");
}

/* A precision with a law of its own runs at it, slowed less than 16-bit products where it computes
 * a smaller share of its peak; one without is scaled by the datasheet. */
static void
low_products_have_laws_of_their_own(void)
{
    cluster = sl_fixture_cluster(1);
    sl_accelerator *part = &cluster.accelerator;
    part->peak_flops_per_s[SL_PRECISION_FP8] = 2.0 * part->peak_flops_per_s[SL_PRECISION_BF16];
    sl_slice slice = fixture_slice(&cluster);
    const sl_product half = {.batch = 1, .m = 8192, .n = 8192, .k = 8192};
    sl_product low = half;
    low.precision = SL_PRECISION_FP8;

    const double half_s = sl_kernel_product_s(&slice, half);
    sl_expect_near(sl_kernel_product_s(&slice, low), half_s / 2.0, 0.05, "by the datasheet");

    part->low_gemm[SL_LOW_PRODUCT_FP8] = part->gemm; /* no faster than 16 bits: half their share */
    sl_expect_near(sl_kernel_product_s(&slice, low), half_s, 0.05, "its own law");
    slice.clock_ratio = 0.8;
    sl_expect_near(sl_kernel_product_s(&slice, half), half_s / 0.8, 0.05, "the clock of hours");
    sl_expect_near(sl_kernel_product_s(&slice, low), half_s, 0.05, "0.8 x cbrt(2) is above 1");
}

static void
generated_kernels_stream_as_fused_ones(void)
{
    sl_software eager = software;
    sl_question q = gpt_question(1, 4, 1024, 16);

    eager.streaming = (sl_streaming){0.1, 0.1, 0.1, 0.1, 0.1};
    q.software = &eager;
    const double eager_s = sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_FORWARD);
    q.workload.compile = true;
    const double compiled_s = sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_FORWARD);
    eager.streaming = (sl_streaming){0.70, 0.85, 0.85, 0.70, 0.88};
    q.workload.compile = false;
    CU_ASSERT_TRUE(compiled_s < eager_s);
    CU_ASSERT_EQUAL(sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_FORWARD), compiled_s);
}

/* wq, wk and wv, w1 and w3: what a checkpoint keeps apart and no release fuses is issued one by
 * one, a gradient of input and of weights each, and what the input's gradients are added up
 * with. */
static void
products_of_their_own_are_issued_one_by_one(void)
{
    const sl_dense_spec spec = sl_fixture_llama();
    cluster = sl_fixture_cluster(1);
    software = sl_fixture_software();
    software.host_operator_s = 1e-3;
    sl_question q = sl_fixture_question(sl_fixture_model(&spec), &cluster, &software);

    q.workload.attention = SL_ATTENTION_FLASH2;
    q.plan.data = 8;
    q.workload.global_batch = 8;
    const sl_estimate *answer = sl_fixture_answer(&q);
    const double fused_s = sl_fixture_issued_s(answer);
    const double backward_s = sl_fixture_seconds(answer, SL_TERM_BACKWARD);
    software.splits_products = true;
    answer = sl_fixture_answer(&q);
    sl_expect_near(sl_fixture_issued_s(answer) - fused_s, 16.0 * (3.0 + 9.0) * 1e-3, 1e-9,
                   "16 blocks: 2 + 1 forward; 4 + 2 and 2 + 1 backward");
    /* 2,048 positions of 2,048 features, 9 passes of 2 bytes at 0.85 of 1 TB/s, and the same
     * FLOPs. */
    CU_ASSERT_TRUE(sl_fixture_seconds(answer, SL_TERM_BACKWARD) - backward_s >=
                   16.0 * 9.0 * 2048.0 * 2048.0 * 2.0 / 0.85e12);
}

/* Of each of 16 blocks and each pass more than one kernel: two norms, a rotary embedding, a gate;
 * of the final norm. LayerNorm is one; scores are scaled, masked, normed and cast one by one. */
static void
eager_code_issues_what_it_composes_of_passes(void)
{
    sl_question q = sl_fixture_llama_question(1, &cluster, &software);
    const double block = 2.0 * (7.0 + 11.0) + 13.0 + 21.0 + 1.0 + 2.0;

    software.host_operator_s = 1e-3;
    q.workload.global_batch = 8;
    const double fused_s = sl_fixture_issued_s(sl_fixture_answer(&q));
    software.eager_activations = true;
    sl_expect_near(sl_fixture_issued_s(sl_fixture_answer(&q)) - fused_s,
                   (16.0 * block + 7.0 + 11.0) * 1e-3, 1e-9, "composed");

    q = gpt_question(1, 16, 1024, 16);
    software.host_operator_s = 1e-3;
    q.workload.global_batch = 8;
    const double plain_s = sl_fixture_issued_s(sl_fixture_answer(&q));
    software.eager_activations = true;
    sl_expect_near(sl_fixture_issued_s(sl_fixture_answer(&q)) - plain_s, 16.0 * (3.0 + 2.0) * 1e-3,
                   1e-9, "scores");
}

/* Of each of 16 blocks four products, two norms, a rotary embedding, an activation, and what holds
 * these: the MLP, the attention, the block; of the ends the embedding, a norm and a head. An adapter is
 * four more. */
static void
hooks_of_every_module_take_the_host_in_every_pass(void)
{
    sl_question q = sl_fixture_llama_question(1, &cluster, &software);
    const double modules = 16.0 * (4.0 + 2.0 + 1.0 + 2.0 + 2.0) + 3.0;

    software.host_operator_s = 1e-3;
    q.workload.framework = SL_FRAMEWORK_DEEPSPEED;
    q.workload.global_batch = 8;
    q.plan.zero_stage = 3;
    const double issued_s = sl_fixture_issued_s(sl_fixture_answer(&q));
    software.module_operators = 5.0;
    sl_expect_near(sl_fixture_issued_s(sl_fixture_answer(&q)) - issued_s,
                   2.0 * modules * 5.0 * 1e-3, 1e-9, "forward and backward");
    q.plan.zero_stage = 2;
    CU_ASSERT_EQUAL(sl_fixture_issued_s(sl_fixture_answer(&q)), issued_s);

    q.plan.zero_stage = 3;
    q.workload.adapter = (sl_adapter){
        .method = SL_ADAPTER_LORA, .rank = 8, .target_count = 1, .targets = {"q_proj"}};
    const double hooked_s = sl_fixture_issued_s(sl_fixture_answer(&q));
    software.module_operators = 0.0;
    sl_expect_near(hooked_s - sl_fixture_issued_s(sl_fixture_answer(&q)),
                   2.0 * (modules + 16.0 * 4.0) * 5.0 * 1e-3, 1e-9, "with an adapter a block");
}

/* Where the stage is open, 3 counts beside the others on one rank, too, where without hooks all are
 * one: the slowest, it ends the interval. */
static void
an_open_stage_counts_hooks_on_one_rank(void)
{
    sl_question q = sl_fixture_llama_question(1, &cluster, &software);

    software.host_operator_s = 1e-3;
    software.module_operators = 50.0;
    q.workload.framework = SL_FRAMEWORK_DEEPSPEED;
    cluster.accelerators_per_node = 1;
    q.workload.global_batch = q.plan.data = 1;
    q.plan.zero_stage = 1;
    const double bare_high_s = sl_fixture_answer(&q)->step_high_s;
    q.plan.zero_stage = 3;
    const double hooked_s = sl_fixture_answer(&q)->time.step_s;
    CU_ASSERT(hooked_s > bare_high_s);
    q.unknown = SL_UNKNOWN_ZERO_STAGE;
    CU_ASSERT(sl_fixture_answer(&q)->step_high_s >= hooked_s);
}

/* What reaches a tenth of the bandwidth composed of passes reaches 0.35 as PyTorch's LayerNorm. */
static void
a_layer_norm_is_one_kernel(void)
{
    double added_s[2];

    for (uint32_t i = 0; i < 2; i++) {
        sl_question q = i == 0 ? sl_fixture_llama_question(1, &cluster, &software)
                               : gpt_question(1, 16, 2048, 16);
        software.streaming.norm_ratio = 0.35;
        const double kernel_s = sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_FORWARD);
        software.streaming.norm_ratio = 0.1;
        added_s[i] = sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_FORWARD) - kernel_s;
    }
    CU_ASSERT_TRUE(added_s[0] > 0.0);
    CU_ASSERT_EQUAL(added_s[1], 0.0);
}

static bool
is_unaligned(sl_framework framework, sl_attention_kernel attention, uint64_t vocabulary,
             uint32_t head_dim)
{
    sl_dense_spec spec = sl_fixture_llama();

    cluster = sl_fixture_cluster(1);
    software = sl_fixture_software();
    spec.vocabulary = vocabulary;
    spec.head_dim = head_dim;
    sl_question q = sl_fixture_question(sl_fixture_model(&spec), &cluster, &software);
    q.workload.framework = framework;
    q.workload.attention = attention;
    return sl_fixture_has_note(sl_fixture_answer(&q), "products_unaligned");
}

static double
step_of(uint64_t vocabulary)
{
    sl_dense_spec spec = sl_fixture_llama();

    cluster = sl_fixture_cluster(1);
    software = sl_fixture_software();
    spec.vocabulary = vocabulary;
    sl_question q = sl_fixture_question(sl_fixture_model(&spec), &cluster, &software);
    q.workload.framework = SL_FRAMEWORK_DDP;
    return sl_fixture_answer(&q)->time.step_s;
}

static void
an_odd_vocabulary_takes_longer_than_a_padded_one(void)
{
    CU_ASSERT_TRUE(step_of(50257) > 1.01 * step_of(50304));
    CU_ASSERT_TRUE(step_of(50312) > step_of(50304) && step_of(50312) < 1.01 * step_of(50304));
}

/* 16 bytes are 8 values of bf16. */
static void
widths_that_tensor_cores_do_not_like_are_named(void)
{
    CU_ASSERT_FALSE(is_unaligned(SL_FRAMEWORK_DDP, SL_ATTENTION_UNFUSED, 50304, 64));
    CU_ASSERT_TRUE(is_unaligned(SL_FRAMEWORK_DDP, SL_ATTENTION_UNFUSED, 50257, 64));
    CU_ASSERT_FALSE(is_unaligned(SL_FRAMEWORK_MEGATRON, SL_ATTENTION_UNFUSED, 50257, 64));
    CU_ASSERT_TRUE(is_unaligned(SL_FRAMEWORK_DDP, SL_ATTENTION_UNFUSED, 50304, 108));
    CU_ASSERT_FALSE(is_unaligned(SL_FRAMEWORK_DDP, SL_ATTENTION_FLASH2, 50304, 108));
}

static const sl_case cases[] = {
    SL_CASE(an_odd_vocabulary_takes_longer_than_a_padded_one),
    SL_CASE(widths_that_tensor_cores_do_not_like_are_named),
    SL_CASE(eager_code_issues_what_it_composes_of_passes),
    SL_CASE(hooks_of_every_module_take_the_host_in_every_pass),
    SL_CASE(an_open_stage_counts_hooks_on_one_rank),
    SL_CASE(a_layer_norm_is_one_kernel),
    SL_CASE(products_of_their_own_are_issued_one_by_one),
    SL_CASE(equal_stages_idle_p_minus_1_over_m_plus_p_minus_1),
    SL_CASE(three_equal_stages_and_one_microbatch_idle_two_thirds),
    SL_CASE(chunks_divide_the_bubble),
    SL_CASE(interleaving_keeps_one_plus_p_minus_1_over_p_v_more),
    SL_CASE(naive_and_gpipe_are_what_they_are_drawn_as),
    SL_CASE(time_terms_sum_to_the_step),
    SL_CASE(model_flops_follow_the_published_formula),
    SL_CASE(full_recomputation_adds_one_forward_of_the_blocks),
    SL_CASE(a_slow_host_sets_the_time_of_small_layers),
    SL_CASE(recomputation_is_issued_again),
    SL_CASE(delayed_scales_take_the_largest_values_of_all_ranks),
    SL_CASE(one_accelerator_communicates_nothing),
    SL_CASE(overlap_hides_the_gradient_reduction),
    SL_CASE(a_product_pays_for_whole_waves),
    SL_CASE(an_unaligned_product_computes_at_a_share_of_the_rate),
    SL_CASE(fp32_products_are_not_throttled),
    SL_CASE(a_thin_product_is_bound_by_memory),
    SL_CASE(single_precision_products_run_at_its_own_peak),
    SL_CASE(a_slow_precision_fills_its_pipeline_as_soon),
    SL_CASE(low_products_have_laws_of_their_own),
    SL_CASE(generated_kernels_stream_as_fused_ones),
};

int
main(int argc, char **argv)
{
    return sl_run_cases(argc, argv, "step", cases, sizeof cases / sizeof cases[0]);
}
