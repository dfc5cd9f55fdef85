/* Closed form and simulation of one step: what hides what, and short steps. */
#include <math.h>
#include <stdio.h>

#include "engine_fixture.h"
#include "harness.h"

static sl_cluster cluster;
static sl_software software;

static sl_question
llama_question(uint32_t stages, sl_schedule schedule, uint64_t batches)
{
    sl_dense_spec spec = sl_fixture_llama();

    cluster = sl_fixture_cluster(4);
    software = sl_fixture_software();
    software.overlap_gradient_reduce = software.overlap_parameter_gather = true;
    software.overlap_pipeline = true;
    sl_question q = sl_fixture_question(sl_fixture_model(&spec), &cluster, &software);
    q.workload.attention = SL_ATTENTION_FLASH2;
    q.plan.pipeline = stages;
    q.plan.schedule = schedule;
    q.plan.virtual_pipeline =
        schedule == SL_SCHEDULE_INTERLEAVED_1F1B || schedule == SL_SCHEDULE_ZB_V ? 2 : 1;
    q.plan.data = 32 / stages;
    q.plan.zero_stage = 1;
    q.workload.global_batch = batches * q.plan.data;
    return q;
}

/* Of the simulated step over the closed form's. */
static double
ratio_of(const sl_question *q, const sl_estimate *e)
{
    return sl_fixture_timeline(q, e)->step_s / e->time.step_s;
}

static void
expect_within(const sl_question *q, double most, const char *what)
{
    const sl_estimate *e = sl_fixture_answer(q);
    const double ratio = ratio_of(q, e);

    if (fabs(log(ratio)) > most)
        printf("  %s: %.4f of the closed form\n", what, ratio);
    CU_ASSERT_TRUE(fabs(log(ratio)) <= most);
}

static void
expect_parts(const sl_estimate *e)
{
    const sl_term *data = &e->time.terms[SL_TERM_DATA_COMMUNICATION - SL_TERM_FORWARD];
    double terms_s = 0.0;
    double rows_s = 0.0;

    for (uint32_t i = 0; i < SL_TIME_TERMS; i++) {
        CU_ASSERT_TRUE(e->time.terms[i].value >= 0.0);
        terms_s += e->time.terms[i].value;
    }
    for (uint32_t i = 0; i < e->time.communication_count; i++)
        rows_s += e->time.communication[i].exposed_s;
    const sl_term *bubble = &e->time.terms[SL_TERM_BUBBLE - SL_TERM_FORWARD];
    const double m = (double)sl_plan_microbatches(&e->workload, &e->plan);
    const double span_s = m * bubble->inputs[1].value + bubble->value;
    sl_expect_near(e->time.bubble_ratio,
                   1.0 - m * sl_term_input(bubble, "busy_sum_s") / (e->plan.pipeline * span_s),
                   1e-9, "the idle share goes with the bubble");
    sl_expect_near(terms_s, e->time.step_s, 1e-9, "terms sum to the step");
    sl_expect_near(rows_s, e->time.exposed_communication_s, 1e-9, "rows to what is exposed");
    sl_expect_near(sl_term_input(data, "gradient_exposed_s") +
                       sl_term_input(data, "parameter_exposed_s") +
                       sl_term_input(data, "tied_embedding_s"),
                   data->value, 1e-9, "a term is made of its inputs");
}

/* Links so slow that much is in the open; of split backwards any. */
static void
short_steps_are_as_long_as_their_timelines(void)
{
    for (uint32_t schedule = 0; schedule < SL_SCHEDULE_COUNT; schedule++)
        for (uint32_t slower = 1; slower <= 16; slower *= 4)
            for (uint32_t batches = 2; batches <= 4; batches += 2) {
                const bool split = schedule >= SL_SCHEDULE_ZB_H1;
                if (schedule == SL_SCHEDULE_DUALPIPE && batches < 4)
                    continue;
                sl_question q = llama_question(2, (sl_schedule)schedule, batches);
                cluster.nic_bytes_per_s /= slower;
                if (split)
                    expect_within(&q, 1e-9, "a short step");
                else if (slower == 16 && batches * 2 * q.plan.virtual_pipeline <= 12)
                    expect_within(&q, 1e-9, "a short step in the open");
                expect_parts(sl_fixture_answer(&q));
            }
}

/* What a later stage gathers hides under what comes to it, sends and passes alike. */
static void
gathers_hide_under_sends_that_fill_the_pipeline(void)
{
    for (uint32_t slower = 1; slower <= 16; slower *= 2) {
        sl_question q = llama_question(4, SL_SCHEDULE_NAIVE, 4);
        software.overlap_parameter_gather = software.overlap_gradient_reduce = false;
        cluster.nic_bytes_per_s /= slower;
        expect_within(&q, 0.01, "nothing beside sends");
    }
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(short_steps_are_as_long_as_their_timelines),
        SL_CASE(gathers_hide_under_sends_that_fill_the_pipeline),
    };

    return sl_run_cases(argc, argv, "agreement", cases, sizeof cases / sizeof cases[0]);
}
