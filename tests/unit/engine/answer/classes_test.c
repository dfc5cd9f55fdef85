#include "shardline/classes.h"

#include "engine_fixture.h"
#include "harness.h"

static double
computing_s(const sl_estimate *estimate)
{
    return sl_fixture_seconds(estimate, SL_TERM_FORWARD) +
           sl_fixture_seconds(estimate, SL_TERM_BACKWARD) +
           sl_fixture_seconds(estimate, SL_TERM_RECOMPUTE);
}

static void
expect_whole(const sl_question *question, const char *what)
{
    const sl_estimate *estimate = sl_fixture_answer(question);
    double classes[SL_CLASS_COUNT];
    double sum = 0.0;

    sl_classes_predict(question, estimate, classes);
    for (uint32_t i = 0; i < SL_CLASS_COUNT; i++) {
        CU_ASSERT_TRUE(classes[i] >= 0.0);
        sum += classes[i];
    }
    sl_expect_near(sum, computing_s(estimate), 1e-12, what);
}

static void
classes_sum_to_forward_backward_and_recomputation(void)
{
    const sl_dense_spec spec = sl_fixture_llama();
    const sl_cluster cluster = sl_fixture_cluster(2);
    const sl_software software = sl_fixture_software();
    sl_question question = sl_fixture_question(sl_fixture_model(&spec), &cluster, &software);
    static const char *const names[] = {
        [SL_RECOMPUTE_NONE] = "none",
        [SL_RECOMPUTE_SELECTIVE] = "selective",
        [SL_RECOMPUTE_FULL] = "full",
    };

    question.plan.tensor = 2;
    question.plan.pipeline = 2;
    question.plan.data = 4;
    for (uint32_t mode = 0; mode < sizeof names / sizeof names[0]; mode++) {
        question.workload.recompute = (sl_recompute)mode;
        expect_whole(&question, names[mode]);
    }
    question.workload.recompute = SL_RECOMPUTE_MODULES;
    question.workload.recompute_modules = 1U << SL_MODULE_CORE_ATTENTION | 1U << SL_MODULE_MLP;
    expect_whole(&question, "modules");

    question.workload.framework = SL_FRAMEWORK_FSDP2;
    question.workload.recompute = SL_RECOMPUTE_OPERATORS;
    question.plan.tensor = question.plan.pipeline = 1;
    question.plan.data = 16;
    question.plan.zero_stage = 3;
    expect_whole(&question, "operators");
}

static void
experts_and_both_ends_of_a_pipeline_are_whole_too(void)
{
    const sl_cluster cluster = sl_fixture_cluster(1);
    const sl_software software = sl_fixture_software();
    sl_question question = sl_fixture_mixture_question(&cluster, &software);

    expect_whole(&question, "experts");
    question.plan.pipeline = 2;
    question.plan.data /= 2;
    question.plan.schedule = SL_SCHEDULE_DUALPIPE;
    expect_whole(&question, "dualpipe");
}

static void
a_mixture_spends_most_of_its_computing_in_products(void)
{
    const sl_cluster cluster = sl_fixture_cluster(1);
    const sl_software software = sl_fixture_software();
    const sl_question question = sl_fixture_mixture_question(&cluster, &software);
    const sl_estimate *estimate = sl_fixture_answer(&question);
    double classes[SL_CLASS_COUNT];

    sl_classes_predict(&question, estimate, classes);
    for (uint32_t i = 0; i < SL_CLASS_COUNT; i++)
        CU_ASSERT_TRUE(classes[i] > 0.0);
    CU_ASSERT_TRUE(classes[SL_CLASS_PRODUCTS] > 0.5 * computing_s(estimate));
}

static const sl_case cases[] = {
    SL_CASE(classes_sum_to_forward_backward_and_recomputation),
    SL_CASE(experts_and_both_ends_of_a_pipeline_are_whole_too),
    SL_CASE(a_mixture_spends_most_of_its_computing_in_products),
};

int
main(int argc, char **argv)
{
    return sl_run_cases(argc, argv, "classes", cases, sizeof cases / sizeof cases[0]);
}
