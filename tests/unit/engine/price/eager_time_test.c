/* What eager PyTorch moves and issues beside the kernels a model is made of: casts of autocast, bounds
 * of scores and logits, steps of a routing. */
#include "engine/price/kernel.h"
#include "engine_fixture.h"
#include "harness.h"

static sl_cluster cluster;
static sl_software software;

static const double BLOCKS = 16.0, HIDDEN = 2048.0, TOKENS = 2048.0, WORDS = 32768.0;

/* One micro-batch of the fixture's Llama on each of eight replicas. */
static sl_question
replicas_of(const sl_dense_spec *spec)
{
    cluster = sl_fixture_cluster(1);
    software = sl_fixture_software();
    sl_question q = sl_fixture_question(sl_fixture_model(spec), &cluster, &software);

    q.workload.framework = SL_FRAMEWORK_DDP;
    q.workload.attention = SL_ATTENTION_FLASH2;
    q.workload.global_batch = 8;
    q.plan.data = 8;
    return q;
}

static sl_slice
slice_of(const sl_question *q)
{
    return sl_slice_of(q, &software, &q->workload, &q->plan, cluster.accelerator.sustained_ratio);
}

/* A kernel that copies, and one that computes a little on the way. */
static double
copied_s(const sl_question *q, double bytes)
{
    const sl_slice slice = slice_of(q);

    return sl_kernel_memory_s(&slice, bytes, 0.85);
}

static double
passed_s(const sl_question *q, double bytes)
{
    const sl_slice slice = slice_of(q);

    return sl_kernel_memory_s(&slice, bytes, slice.streaming.residual_ratio);
}

/* What a kernel that is there anyway takes longer. */
static double
more_s(double (*kernel_s)(const sl_question *, double), const sl_question *q, double bytes)
{
    return kernel_s(q, bytes) - kernel_s(q, 0.0);
}

typedef struct passes {
    double forward_s, backward_s, issued_s;
} passes;

static passes
passes_of(const sl_question *q)
{
    const sl_estimate *answer = sl_fixture_answer(q);

    return (passes){sl_fixture_seconds(answer, SL_TERM_FORWARD),
                    sl_fixture_seconds(answer, SL_TERM_BACKWARD), sl_fixture_issued_s(answer)};
}

/* Of each block both sums are fp32 (4 + 2 + 4 bytes in place of 2 + 2 + 2, and back 8 and a cast of 6 in
 * place of 4), and what their norms give is cast for two products there and back. */
static void
autocast_sums_in_fp32_and_casts_for_products(void)
{
    const sl_dense_spec spec = sl_fixture_llama();
    sl_question q = replicas_of(&spec);
    const double values = TOKENS * HIDDEN;

    const passes casting = passes_of(&q);
    q.workload.layout.parameter_bytes = 2.0;
    const passes narrow = passes_of(&q);
    const double casts_s = 2.0 * copied_s(&q, 6.0 * values);
    sl_expect_near(casting.forward_s - narrow.forward_s,
                   BLOCKS * (casts_s + 2.0 * more_s(passed_s, &q, 4.0 * values)), 1e-9, "forward");
    sl_expect_near(casting.backward_s - narrow.backward_s,
                   BLOCKS * (casts_s + 2.0 * more_s(passed_s, &q, 10.0 * values)), 1e-9,
                   "backward");
    q.workload.layout.parameter_bytes = -1.0;
    q.workload.compile = true;
    const double compiled_s = passes_of(&q).forward_s;
    q.workload.layout.parameter_bytes = 2.0;
    sl_expect_near(compiled_s - passes_of(&q).forward_s,
                   BLOCKS * 2.0 * more_s(passed_s, &q, 4.0 * values), 1e-9,
                   "generated kernels cast where they write");
}

/* The weights of four products a block and of the head, and the inputs of two; as many gradients. */
static void
autocast_issues_its_casts(void)
{
    const sl_dense_spec spec = sl_fixture_llama();
    sl_question q = replicas_of(&spec);

    software.host_operator_s = 1e-3;
    const passes casting = passes_of(&q);
    q.workload.layout.parameter_bytes = 2.0;
    sl_expect_near(casting.issued_s - passes_of(&q).issued_s, 2.0 * (BLOCKS * 6.0 + 1.0) * 1e-3,
                   1e-9, "there and back");
}

/* Of 33 norms, beyond what one kernel takes of 8 for 4: so many bytes of a value of 2 that has 36 in
 * forward. */
static void
expect_composed_norms(sl_question *q, double bytes, const char *what)
{
    const double norms = 2.0 * BLOCKS + 1.0;

    software.norm_keeps = SL_NORM_KEEPS_INPUT;
    const double kernel_s = passes_of(q).backward_s;
    software.norm_keeps = SL_NORM_KEEPS_CAST;
    const sl_slice slice = slice_of(q);
    const double ratio = slice.streaming.norm_ratio;
    const double once_s = sl_kernel_memory_s(&slice, 8.0 * TOKENS * HIDDEN, ratio);
    const double counted_s =
        sl_kernel_memory_s(&slice, 4.0 * bytes / 36.0 * TOKENS * HIDDEN, ratio);
    sl_expect_near(passes_of(q).backward_s - kernel_s, norms * (counted_s - once_s), 1e-9, what);
}

/* Beside adapters weights have no gradients. */
static void
composed_norms_read_more_backward(void)
{
    static const sl_adapter lora = {
        .method = SL_ADAPTER_LORA, .rank = 8, .target_count = 1, .targets = {"q_proj"}};
    const sl_dense_spec spec = sl_fixture_llama();
    sl_question q = replicas_of(&spec);

    q.workload.layout.parameter_bytes = 2.0;
    software.eager_activations = true;
    expect_composed_norms(&q, 92.0, "with weights");
    q.workload.adapter = lora;
    expect_composed_norms(&q, 84.0, "frozen");
}

/* A quotient, a tanh and a product of each score and each logit; back what they multiply. */
static void
bounds_pass_over_scores_and_logits(void)
{
    sl_dense_spec spec = sl_fixture_llama();
    sl_question q = replicas_of(&spec);

    q.workload.attention = SL_ATTENTION_UNFUSED;
    q.workload.layout.parameter_bytes = 2.0;
    software.eager_activations = true;
    const passes free = passes_of(&q);
    spec.scores_capped = spec.logits_capped = true;
    q.model = sl_fixture_model(&spec);
    const passes bound = passes_of(&q);
    const double scores = 32.0 * TOKENS * TOKENS, logits = TOKENS * WORDS;
    sl_expect_near(bound.forward_s - free.forward_s,
                   BLOCKS * passed_s(&q, 12.0 * scores) + more_s(copied_s, &q, 12.0 * logits), 1e-9,
                   "forward");
    sl_expect_near(bound.backward_s - free.backward_s,
                   BLOCKS * passed_s(&q, 14.0 * scores) + more_s(copied_s, &q, 14.0 * logits), 1e-9,
                   "backward");
    q.workload.attention = SL_ATTENTION_FLASH2;
    q.workload.compile = true;
    const passes generated = passes_of(&q);
    spec.scores_capped = spec.logits_capped = false;
    q.model = sl_fixture_model(&spec);
    CU_ASSERT_EQUAL(passes_of(&q).forward_s, generated.forward_s);
}

/* Two copies there and back of what each expert gets, or what a module of Transformers makes of them:
 * 22 bytes of a value, and 34 back. */
static void
experts_are_routed_in_steps(void)
{
    cluster = sl_fixture_cluster(1);
    software = sl_fixture_software();
    sl_question q = sl_fixture_mixture_question(&cluster, &software);

    q.workload.framework = SL_FRAMEWORK_DDP;
    q.workload.layout.parameter_bytes = 2.0;
    q.workload.global_batch = 8 * q.workload.micro_batch;
    q.plan.zero_stage = 0;
    q.plan.data = 8;
    q.plan.expert = 1;
    const passes plain = passes_of(&q);
    software.eager_activations = true;
    const passes composed = passes_of(&q);
    const double routed = 4.0 * 2.0 * TOKENS * HIDDEN; /* of four blocks, two experts of a token */
    sl_expect_near(composed.forward_s - plain.forward_s, more_s(copied_s, &q, 14.0 * routed), 1e-9,
                   "forward");
    sl_expect_near(composed.backward_s - plain.backward_s, more_s(copied_s, &q, 26.0 * routed),
                   1e-9, "backward");
    q.workload.compile = true;
    const double compiled_s = passes_of(&q).forward_s;
    software.eager_activations = false;
    CU_ASSERT_EQUAL(passes_of(&q).forward_s, compiled_s);
}

static const sl_case cases[] = {
    SL_CASE(autocast_sums_in_fp32_and_casts_for_products),
    SL_CASE(autocast_issues_its_casts),
    SL_CASE(composed_norms_read_more_backward),
    SL_CASE(bounds_pass_over_scores_and_logits),
    SL_CASE(experts_are_routed_in_steps),
};

int
main(int argc, char **argv)
{
    return sl_run_cases(argc, argv, "eager_time", cases, sizeof cases / sizeof cases[0]);
}
