/* What a loss takes: which kernels compute it, what they move and how long that is. */
#include "engine/placement/cross_entropy.h"

#include "engine_fixture.h"
#include "harness.h"

static sl_cluster cluster;
static sl_software software;

/* Of the fixture's Llama on one device: 16 micro-batches of 2,048 tokens, 32,768 words, 1 TB/s. */
static const double LOGITS = 16.0 * 2048.0 * 32768.0, RATE = 0.85e12;

static sl_question
question_of(sl_framework framework, sl_loss loss, uint32_t tensor)
{
    sl_question q = sl_fixture_llama_question(1, &cluster, &software);

    q.workload.framework = framework;
    q.workload.loss = loss;
    q.plan.tensor = tensor;
    q.plan.data = 8 / tensor;
    return q;
}

static sl_entropy
entropy_of(const sl_question *q)
{
    return sl_entropy_of(q->model, q->software, &q->workload, q->plan.tensor);
}

static void
each_loss_has_its_kernels(void)
{
    static const struct {
        sl_framework framework;
        sl_loss loss;
        uint32_t tensor;
        sl_entropy_kernels kernels;
        double forward, backward, copies;
    } rows[] = {
        {SL_FRAMEWORK_DDP, SL_LOSS_PROFILE, 1, SL_ENTROPY_OWN, 22.0, 26.0, 1.0},
        {SL_FRAMEWORK_DDP, SL_LOSS_EAGER, 1, SL_ENTROPY_OPERATORS, 22.0, 26.0, 1.0},
        {SL_FRAMEWORK_DDP, SL_LOSS_HALF, 1, SL_ENTROPY_HALF, 8.0, 10.0, 1.0},
        {SL_FRAMEWORK_DDP, SL_LOSS_FUSED, 1, SL_ENTROPY_FUSED, 4.0, 4.0, 1.0},
        {SL_FRAMEWORK_DDP, SL_LOSS_CHUNKED, 1, SL_ENTROPY_CHUNKED, 22.0, 26.0, 1.0},
        {SL_FRAMEWORK_DDP, SL_LOSS_CUT, 1, SL_ENTROPY_CUT, 4.0, 4.0, 1.0},
        {SL_FRAMEWORK_MEGATRON, SL_LOSS_PROFILE, 2, SL_ENTROPY_OWN, 38.0, 14.0, 1.0},
        {SL_FRAMEWORK_MEGATRON, SL_LOSS_PARALLEL, 2, SL_ENTROPY_VOCABULARY, 38.0, 14.0, 1.0},
        {SL_FRAMEWORK_FSDP2, SL_LOSS_EAGER, 2, SL_ENTROPY_OPERATORS, 22.0, 26.0, 2.0},
        {SL_FRAMEWORK_FSDP2, SL_LOSS_PROFILE, 2, SL_ENTROPY_SPLIT, 38.0, 38.0, 1.0},
        {SL_FRAMEWORK_FSDP2, SL_LOSS_FUSED, 2, SL_ENTROPY_SPLIT_COMPILED, 10.0, 6.0, 1.0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const sl_question q = question_of(rows[i].framework, rows[i].loss, rows[i].tensor);
        const sl_entropy e = entropy_of(&q);
        CU_ASSERT_EQUAL(e.kernels, rows[i].kernels);
        CU_ASSERT_EQUAL(e.forward_bytes, rows[i].forward);
        CU_ASSERT_EQUAL(e.backward_bytes, rows[i].backward);
        CU_ASSERT_EQUAL(e.copies, rows[i].copies);
    }
}

/* Logits of 32 bits need no cast, and what works in their place moves twice the bytes. */
static void
wide_logits_are_not_cast(void)
{
    sl_question q = question_of(SL_FRAMEWORK_DDP, SL_LOSS_EAGER, 1);

    q.workload.precision = SL_PRECISION_FP32;
    CU_ASSERT_EQUAL(entropy_of(&q).forward_bytes, 16.0);
    CU_ASSERT_EQUAL(entropy_of(&q).backward_bytes, 20.0);
    q.workload.loss = SL_LOSS_FUSED;
    CU_ASSERT_EQUAL(entropy_of(&q).forward_bytes, 8.0);
}

/* What a release computes of the logits beside its loss stays with every other loss. */
static void
a_release_may_fuse_its_own_and_compute_more(void)
{
    sl_question q = question_of(SL_FRAMEWORK_FSDP1, SL_LOSS_PROFILE, 1);

    software.loss_fused = true;
    CU_ASSERT_EQUAL(entropy_of(&q).forward_bytes, 4.0);
    software.metrics_entropies = 2.0;
    CU_ASSERT_EQUAL(entropy_of(&q).forward_bytes, 48.0);
    CU_ASSERT_EQUAL(entropy_of(&q).backward_bytes, 4.0);
    q.workload.loss = SL_LOSS_EAGER;
    CU_ASSERT_EQUAL(entropy_of(&q).forward_bytes, 66.0);
}

static void
a_step_is_longer_by_what_its_loss_moves(void)
{
    sl_question q = question_of(SL_FRAMEWORK_DDP, SL_LOSS_CUT, 1);
    cluster.accelerators_per_node = 1;
    q.plan.data = 1;
    const double least_s = sl_fixture_answer(&q)->time.step_s;
    static const struct {
        sl_loss loss;
        double more; /* bytes a logit */
    } rows[] = {{SL_LOSS_FUSED, 0.0}, {SL_LOSS_HALF, 10.0}, {SL_LOSS_EAGER, 40.0}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        q.workload.loss = rows[i].loss;
        sl_expect_near(sl_fixture_answer(&q)->time.step_s - least_s, rows[i].more * LOGITS / RATE,
                       1e-9, "its passes over the logits");
    }
}

static const sl_case cases[] = {
    SL_CASE(each_loss_has_its_kernels),
    SL_CASE(wide_logits_are_not_cast),
    SL_CASE(a_release_may_fuse_its_own_and_compute_more),
    SL_CASE(a_step_is_longer_by_what_its_loss_moves),
};

int
main(int argc, char **argv)
{
    return sl_run_cases(argc, argv, "cross_entropy", cases, sizeof cases / sizeof cases[0]);
}
