/* A run over weeks: failures, checkpoints, energy and cost, by hand. */
#include <math.h>

#include "base/text.h"
#include "engine/answer/evaluate.h"
#include "engine_fixture.h"
#include "harness.h"

static sl_cluster cluster;
static sl_software software;

static sl_question
run_question(void)
{
    const sl_dense_spec spec = sl_fixture_gpt(12, 1024, 16);

    cluster = sl_fixture_cluster(2);
    cluster.accelerator.power_w = 400.0;
    software = sl_fixture_software();
    sl_question q = sl_fixture_question(sl_fixture_model(&spec), &cluster, &software);
    q.workload.tokens = UINT64_C(1000000000000);
    return q;
}

static double
input_of(const sl_estimate *e, sl_term_id id, const char *name)
{
    const sl_term *term = &e->figures[id - SL_TERM_USABLE];

    for (uint32_t i = 0; i < term->input_count; i++)
        if (sl_text_equal(term->inputs[i].name, name))
            return term->inputs[i].value;
    CU_FAIL("no such input");
    return 0.0;
}

/* Of what else a step takes, with a spread of a hundredth. */
static double
waited_ratio(uint32_t nodes)
{
    sl_question q = run_question();

    cluster.nodes = nodes;
    cluster.operation.speed_sigma_ratio = 0.01;
    q.plan.data = (uint32_t)sl_cluster_accelerators(&cluster);
    q.workload.global_batch = q.plan.data;
    const sl_estimate *e = sl_fixture_answer(&q);
    const double overhead_s = sl_fixture_seconds(e, SL_TERM_OVERHEAD);

    return overhead_s / (e->time.step_s - overhead_s);
}

/* The expected largest of so many normal deviates, integrated: 1.4236, 2.3437, 3.2482. */
static void
ranks_wait_for_the_slowest(void)
{
    sl_expect_near(waited_ratio(1), 0.014236, 0.08, "8 ranks");
    sl_expect_near(waited_ratio(8), 0.023437, 0.03, "64 ranks");
    sl_expect_near(waited_ratio(128), 0.032482, 0.01, "1,024 ranks");
}

/* One micro-batch on two stages: half of what passes take is the pipeline's filling. */
static void
a_pipeline_that_fills_does_not_wait(void)
{
    sl_question q = run_question();
    double alike_s, filling_s, waited_s;

    q.plan.pipeline = 2;
    q.plan.data = 8;
    q.workload.global_batch = 8;
    const sl_estimate *e = sl_fixture_answer(&q);
    alike_s = e->time.step_s;
    filling_s = e->time.filling_s;
    CU_ASSERT_TRUE(filling_s > 0.2 * alike_s);
    cluster.operation.speed_sigma_ratio = 0.01;
    waited_s = sl_fixture_answer(&q)->time.step_s - alike_s;
    sl_expect_near(waited_s / (alike_s - filling_s), 0.0176599, 0.05, "16 ranks");
}

/* The interval's ends have half of the spread of speeds and one and a half. What machines and releases
 * differ by knows nothing of it: squares add up, and the slower end is 1.9 times as far. */
static void
an_unknown_spread_of_speeds_widens_the_interval(void)
{
    sl_question q = run_question();

    cluster.accelerator.sustained_low_ratio = cluster.accelerator.sustained_high_ratio = 1.0;
    const sl_estimate *e = sl_fixture_answer(&q);
    const double alike_s = e->time.step_s;
    const double alone = sl_evaluate_spread_ratio(q.model, &e->time);
    sl_expect_near(e->step_low_s, alike_s * (1.0 - alone), 1e-12, "nothing else, low");
    sl_expect_near(e->step_high_s, alike_s * (1.0 + 1.9 * alone), 1e-12, "nothing else, high");

    cluster.operation.speed_sigma_ratio = 0.02;
    e = sl_fixture_answer(&q);
    const double step_s = e->time.step_s;
    const double spread_s = step_s * sl_evaluate_spread_ratio(q.model, &e->time);
    const double faster_s = sqrt(pow(step_s - e->step_low_s, 2.0) - pow(spread_s, 2.0));
    const double slower_s = sqrt(pow(e->step_high_s - step_s, 2.0) - pow(1.9 * spread_s, 2.0));
    sl_expect_near(faster_s, 0.5 * 0.02 * 1.76599 * alike_s, 0.05, "16 ranks, low");
    sl_expect_near(slower_s, 0.5 * 0.02 * 1.76599 * alike_s, 0.05, "16 ranks, high");
}

static void
nothing_fails_where_no_number_is_given(void)
{
    const sl_question q = run_question();
    const sl_estimate *e = sl_fixture_answer(&q);
    const double steps =
        1e12 / ((double)q.workload.global_batch * (double)q.workload.sequence_length);

    CU_ASSERT_EQUAL(e->throughput.goodput_ratio, 1.0);
    sl_expect_near(e->throughput.time_to_train_s, steps * e->time.step_s, 1e-12, "steps");
    CU_ASSERT_EQUAL(e->throughput.energy_j, 0.0);
    CU_ASSERT_EQUAL(e->throughput.cost, 0.0);
}

static void
failures_and_checkpoints_take_their_share(void)
{
    sl_question q = run_question();

    cluster.operation = (sl_operating){.failures_per_node_day = 0.5, /* one a day of two nodes */
                                       .restart_s = 864.0,
                                       .checkpoint_bytes_per_s = 1e9,
                                       .checkpoint_interval_s = 1728.0};
    const sl_estimate *e = sl_fixture_answer(&q);
    sl_model_counts counts;
    CU_ASSERT_EQUAL_FATAL(sl_model_count(q.model, &counts), SL_OK);
    /* bf16, an fp32 copy and two moments, written by two nodes at once */
    const double saving_s = 14.0 * (double)counts.total / 2e9;
    sl_expect_near(input_of(e, SL_TERM_GOODPUT, "mean_time_between_failures_s"), 86400.0, 1e-12,
                   "a day");
    sl_expect_near(input_of(e, SL_TERM_GOODPUT, "checkpoint_s"), saving_s, 1e-6, "14 bytes");
    sl_expect_near(e->throughput.goodput_ratio,
                   (1.0 - saving_s / 1728.0) * (1.0 - (864.0 + 864.0) / 86400.0), 1e-6, "both");

    /* Left to itself the interval is the best one: neither half nor twice as long is better. */
    cluster.operation.checkpoint_interval_s = 0.0;
    e = sl_fixture_answer(&q);
    const double best_s = input_of(e, SL_TERM_GOODPUT, "checkpoint_interval_s");
    const double best = e->throughput.goodput_ratio;
    sl_expect_near(best_s, sqrt(2.0 * saving_s * 86400.0), 1e-6, "Young 1974");
    for (double factor = 0.5; factor <= 2.0; factor *= 4.0) {
        cluster.operation.checkpoint_interval_s = factor * best_s;
        CU_ASSERT_TRUE(sl_fixture_answer(&q)->throughput.goodput_ratio < best);
    }
}

/* Writing takes its share of the time whether anything fails or not; nothing is written where
 * nothing fails and nobody asks for it. */
static void
checkpoints_asked_for_take_their_time_without_failures(void)
{
    const sl_question q = run_question();

    cluster.operation = (sl_operating){.restart_s = 864.0, .checkpoint_bytes_per_s = 1e9};
    const sl_estimate *e = sl_fixture_answer(&q);
    const double saving_s = input_of(e, SL_TERM_GOODPUT, "checkpoint_bytes") / 2e9;
    CU_ASSERT_EQUAL(e->throughput.goodput_ratio, 1.0);
    CU_ASSERT_EQUAL(input_of(e, SL_TERM_GOODPUT, "checkpoint_s"), 0.0);

    cluster.operation.checkpoint_interval_s = 4.0 * saving_s;
    e = sl_fixture_answer(&q);
    sl_expect_near(input_of(e, SL_TERM_GOODPUT, "checkpoint_s"), saving_s, 1e-12, "two nodes");
    sl_expect_near(e->throughput.goodput_ratio, 0.75, 1e-12, "a quarter of the time");

    /* Hardly any failures are next to none. */
    cluster.operation.failures_per_node_day = 1e-9;
    sl_expect_near(sl_fixture_answer(&q)->throughput.goodput_ratio, 0.75, 1e-6, "no step");
}

/* The same states, whatever ranks hold them. */
static void
a_checkpoint_holds_each_state_once(void)
{
    sl_question q = run_question();

    cluster.operation = (sl_operating){.failures_per_node_day = 0.1, .checkpoint_bytes_per_s = 1e9};
    const double whole = input_of(sl_fixture_answer(&q), SL_TERM_GOODPUT, "checkpoint_bytes");
    q.plan.zero_stage = 1;
    CU_ASSERT_EQUAL(input_of(sl_fixture_answer(&q), SL_TERM_GOODPUT, "checkpoint_bytes"), whole);
    q.plan.tensor = 2;
    q.plan.data /= 2;
    sl_expect_near(input_of(sl_fixture_answer(&q), SL_TERM_GOODPUT, "checkpoint_bytes"), whole,
                   0.02, "but for positions and vectors of tensor ranks");
}

static void
a_run_that_never_gets_on_has_no_end(void)
{
    sl_question q = run_question();

    cluster.operation = (sl_operating){
        .failures_per_node_day = 1.0, .restart_s = 43200.0, .checkpoint_bytes_per_s = 1e9};
    const sl_estimate *e = sl_fixture_answer(&q);
    CU_ASSERT_EQUAL(e->throughput.goodput_ratio, 0.0);
    CU_ASSERT_EQUAL(e->throughput.time_to_train_s, 0.0);
}

static void
energy_and_cost_go_with_the_time(void)
{
    sl_question q = run_question();

    cluster.price_per_node_hour = 10.0;
    cluster.operation = (sl_operating){
        .idle_power_ratio = 0.25, .load_ratio = 0.8, .node_power_ratio = 1.5, .pue_ratio = 1.2};
    const sl_estimate *e = sl_fixture_answer(&q);
    const double load = 0.8 * fmin(1.0, e->throughput.mfu_full / 0.35);
    const double watts = 400.0 * (0.25 + 0.75 * load);
    sl_expect_near(e->throughput.energy_j, 16.0 * watts * 1.5 * 1.2 * e->throughput.time_to_train_s,
                   1e-12, "joules");
    sl_expect_near(e->throughput.cost, e->throughput.time_to_train_s / 3600.0 * 2.0 * 10.0, 1e-12,
                   "two nodes");
}

/* At the lower clock it does less, and is as busy. */
static void
a_limited_device_draws_the_same_share_of_its_limit(void)
{
    const sl_question q = run_question();
    const double ends_s = sl_fixture_answer(&q)->time.step_s;
    const double clock = 0.8;

    cluster.operation = (sl_operating){
        .idle_power_ratio = 0.25, .load_ratio = 0.8, .node_power_ratio = 1.5, .pue_ratio = 1.2};
    cluster.accelerator.power_limit_w = 300.0;
    cluster.accelerator.limited_clock_ratio = clock;
    cluster.accelerator.sustained_ratio *= clock;
    const sl_estimate *e = sl_fixture_answer(&q);
    CU_ASSERT_TRUE(e->time.step_s > ends_s);
    const double load = 0.8 * fmin(1.0, e->throughput.mfu_full / clock / 0.35);
    const double watts = input_of(e, SL_TERM_ENERGY, "accelerator_w");
    sl_expect_near(watts, 300.0 * (0.25 + 0.75 * load), 1e-12, "of the limit");
    CU_ASSERT_EQUAL(input_of(e, SL_TERM_ENERGY, "power_w"), 400.0);
    CU_ASSERT_EQUAL(input_of(e, SL_TERM_ENERGY, "power_limit_w"), 300.0);
    sl_expect_near(e->throughput.energy_j, 16.0 * watts * 1.5 * 1.2 * e->throughput.time_to_train_s,
                   1e-12, "joules");
}

static const sl_case cases[] = {
    SL_CASE(ranks_wait_for_the_slowest),
    SL_CASE(a_pipeline_that_fills_does_not_wait),
    SL_CASE(an_unknown_spread_of_speeds_widens_the_interval),
    SL_CASE(nothing_fails_where_no_number_is_given),
    SL_CASE(failures_and_checkpoints_take_their_share),
    SL_CASE(checkpoints_asked_for_take_their_time_without_failures),
    SL_CASE(a_checkpoint_holds_each_state_once),
    SL_CASE(a_run_that_never_gets_on_has_no_end),
    SL_CASE(energy_and_cost_go_with_the_time),
    SL_CASE(a_limited_device_draws_the_same_share_of_its_limit),
};

int
main(int argc, char **argv)
{
    return sl_run_cases(argc, argv, "operating", cases, sizeof cases / sizeof cases[0]);
}
