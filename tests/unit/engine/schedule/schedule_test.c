/* Schedules of a pipeline: who holds which chunk, what is alive, how long the step spans. */
#include "engine/schedule/schedule.h"

#include "engine_fixture.h"
#include "harness.h"

enum { STAGES_MAX = 8 };

static sl_cluster cluster;
static sl_software software;

static sl_plan
plan_of(sl_schedule schedule, uint32_t stages)
{
    const uint32_t chunks = schedule == SL_SCHEDULE_INTERLEAVED_1F1B ? 3
                            : schedule == SL_SCHEDULE_ZB_V           ? 2
                                                                     : 1;

    return (sl_plan){.tensor = 1,
                     .pipeline = stages,
                     .virtual_pipeline = chunks,
                     .context = 1,
                     .expert = 1,
                     .data = 1,
                     .schedule = schedule};
}

static void
every_chunk_is_on_one_rank_and_with_dualpipe_on_two(void)
{
    for (uint32_t schedule = 0; schedule < SL_SCHEDULE_COUNT; schedule++)
        for (uint32_t p = 2; p <= STAGES_MAX; p += 2) {
            const sl_plan plan = plan_of((sl_schedule)schedule, p);
            const uint32_t chunks = sl_schedule_chunks(&plan);
            uint32_t found[STAGES_MAX * 3] = {0};
            for (uint32_t r = 0; r < p; r++)
                for (uint32_t i = 0; i < sl_schedule_held(&plan); i++) {
                    const uint32_t chunk = sl_schedule_chunk(&plan, r, i);
                    const uint32_t copy = sl_schedule_copies(&plan) == 2 ? i : 0;
                    CU_ASSERT_FATAL(chunk < chunks);
                    CU_ASSERT_EQUAL(sl_schedule_rank(&plan, chunk, copy), r);
                    found[chunk]++;
                }
            for (uint32_t chunk = 0; chunk < chunks; chunk++)
                CU_ASSERT_EQUAL(found[chunk], schedule == SL_SCHEDULE_DUALPIPE ? 2 : 1);
        }
}

/* 16 layers on 4 ranks, Qi 2023 section 6: 1-2 and 15-16 on the first. */
static void
zb_v_goes_there_and_back(void)
{
    const sl_plan plan = plan_of(SL_SCHEDULE_ZB_V, 4);

    CU_ASSERT_EQUAL(sl_schedule_chunk(&plan, 0, 1), 7);
    CU_ASSERT_EQUAL(sl_schedule_chunk(&plan, 3, 0), 3);
    CU_ASSERT_EQUAL(sl_schedule_chunk(&plan, 3, 1), 4);
    CU_ASSERT_FALSE(sl_schedule_ends_apart(&plan));
}

/* Chunk by chunk: what a rank passes on to another one is what crosses between the two. */
static void
outputs_cross_between_neighbours(void)
{
    static const sl_schedule schedules[] = {SL_SCHEDULE_1F1B, SL_SCHEDULE_ZB_V,
                                            SL_SCHEDULE_DUALPIPE};

    for (uint32_t i = 0; i < 3; i++) {
        const sl_plan plan = plan_of(schedules[i], 6);
        uint32_t crossings = 0;
        for (uint32_t copy = 0; copy < sl_schedule_copies(&plan); copy++)
            for (uint32_t chunk = 0; chunk + 1 < sl_schedule_chunks(&plan); chunk++) {
                const uint32_t from = sl_schedule_rank(&plan, chunk, copy);
                const uint32_t to = sl_schedule_rank(&plan, chunk + 1, copy);
                const uint32_t low = from < to ? from : to;
                bool found = false;
                if (from == to) /* the turn of the V */
                    continue;
                CU_ASSERT_EQUAL(from > to ? from - to : to - from, 1);
                for (uint32_t n = 0; n < sl_schedule_held(&plan); n++)
                    found = found || sl_schedule_crossing(&plan, low, n) == chunk;
                CU_ASSERT_TRUE(found);
                crossings++;
            }
        CU_ASSERT_EQUAL(crossings, 5 * sl_schedule_directions(&plan));
    }
}

/* F = 2, B = 5 with W = 2 of it, 4 stages, 16 micro-batches. */
static void
bubbles_are_the_published_ones(void)
{
    static const struct {
        sl_schedule schedule;
        double bubble_s;
        const char *formula;
    } rows[] = {
        {SL_SCHEDULE_1F1B, 3.0 * 7.0, "(p - 1)(F + B), Narayanan 2021"},
        {SL_SCHEDULE_GPIPE, 3.0 * 7.0, "(p - 1)(F + B), Huang 2019"},
        {SL_SCHEDULE_INTERLEAVED_1F1B, 7.0, "(p - 1)(F + B) / v, Narayanan 2021"},
        {SL_SCHEDULE_NAIVE, 16.0 * 3.0 * 7.0, "one stage at a time"},
        {SL_SCHEDULE_ZB_H1, 3.0 * 3.0, "(p - 1)(F + B - 2W), Qi 2023 table 1"},
        {SL_SCHEDULE_ZB_H2, 3.0 * 1.0, "(p - 1)(F + B - 3W), Qi 2023 table 1"},
        {SL_SCHEDULE_ZB_V, (3.0 * (1.0 + 1.0) - 2.0) / 2.0, "derived, see below"},
        {SL_SCHEDULE_DUALPIPE, 2.0 * 2.0 + 3.0 - 2.0, "(p / 2 - 1)(2F + I - W), derived"},
    };
    const sl_busy one = {.all_s = 7.0, .backward_s = 5.0, .weight_s = 2.0};
    const sl_busy busy[SL_PIPELINE_MAX] = {one, one, one, one};

    for (uint32_t i = 0; i < SL_SCHEDULE_COUNT; i++) {
        const sl_plan plan = plan_of(rows[i].schedule, 4);
        const sl_pipeline_span span = sl_schedule_span(&plan, 16, busy);
        sl_expect_near(span.bubble_s, rows[i].bubble_s, 1e-12, rows[i].formula);
        sl_expect_near(span.span_s, 16.0 * 7.0 + rows[i].bubble_s, 1e-12, "span");
        sl_expect_near(span.idle_ratio, rows[i].bubble_s / span.span_s, 1e-12, "idle ratio");
    }
}

/* What the authors' scheduler finds (sail-sg/zero-bubble-pipeline-parallelism, zbv.py), nothing to
 * send, room for 2p chunks; seconds of a chunk, 100 forward. */
static void
zb_v_is_near_what_its_scheduler_finds(void)
{
    static const struct {
        uint32_t stages, batches;
        double input_s, weight_s, bubble_s;
    } rows[] = {
        {4, 16, 100.0, 100.0, 0.0},    {4, 16, 120.0, 80.0, 160.0},
        {4, 16, 140.0, 70.0, 350.0},   {4, 16, 200.0, 100.0, 500.0},
        {8, 16, 120.0, 80.0, 480.0},   {8, 32, 130.0, 90.0, 480.0},
        {8, 32, 110.0, 60.0, 650.0},   {8, 64, 150.0, 90.0, 750.0},
        {8, 32, 233.0, 95.0, 1837.0},  {8, 8, 136.0, 110.0, 700.0},
        {16, 16, 127.0, 96.0, 1500.0}, {16, 32, 100.0, 100.0, 0.0},
        {16, 64, 140.0, 70.0, 2030.0}, {16, 128, 200.0, 100.0, 2900.0},
    };

    for (uint32_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const sl_plan plan = plan_of(SL_SCHEDULE_ZB_V, rows[i].stages);
        sl_busy busy[SL_PIPELINE_MAX];
        for (uint32_t r = 0; r < rows[i].stages; r++) {
            busy[r].weight_s = 2.0 * rows[i].weight_s;
            busy[r].backward_s = busy[r].weight_s + 2.0 * rows[i].input_s;
            busy[r].all_s = busy[r].backward_s + 200.0;
        }
        const double bubble_s = sl_schedule_span(&plan, rows[i].batches, busy).bubble_s;
        const double one_f_one_b_s = (rows[i].stages - 1.0) * busy[0].all_s;
        CU_ASSERT_TRUE(bubble_s <= rows[i].bubble_s + 1e-9);
        CU_ASSERT_TRUE(rows[i].bubble_s - bubble_s <= 0.02 * one_f_one_b_s);
    }
}

static void
equal_passes_leave_the_published_bubble(void)
{
    sl_busy busy[SL_PIPELINE_MAX];

    for (uint32_t r = 0; r < STAGES_MAX; r++)
        busy[r] = (sl_busy){.all_s = 3.0, .backward_s = 2.0, .weight_s = 1.0};
    const sl_plan h2 = plan_of(SL_SCHEDULE_ZB_H2, STAGES_MAX);
    const sl_plan v = plan_of(SL_SCHEDULE_ZB_V, STAGES_MAX);
    CU_ASSERT_EQUAL(sl_schedule_span(&h2, 32, busy).bubble_s, 0.0);
    CU_ASSERT_EQUAL(sl_schedule_span(&v, 32, busy).bubble_s, 0.0);
    /* (p / 2 - 1)(F + 2B - 3W) of DualPipe's README, B being both gradients. */
    const sl_plan dual = plan_of(SL_SCHEDULE_DUALPIPE, STAGES_MAX);
    sl_expect_near(sl_schedule_span(&dual, 32, busy).bubble_s,
                   (STAGES_MAX / 2.0 - 1.0) * (1.0 + 2.0 * 2.0 - 3.0 * 1.0), 1e-12, "DualPipe");
    /* Weights that take longer than the rest do not make it negative. */
    for (uint32_t r = 0; r < STAGES_MAX; r++)
        busy[r].weight_s = 1.9;
    CU_ASSERT_EQUAL(sl_schedule_span(&v, 32, busy).bubble_s, 0.0);
}

static void
what_is_alive_is_what_the_papers_say(void)
{
    for (uint32_t r = 0; r < STAGES_MAX; r++) {
        const double p = STAGES_MAX;
        const sl_plan h1 = plan_of(SL_SCHEDULE_ZB_H1, STAGES_MAX);
        const sl_plan h2 = plan_of(SL_SCHEDULE_ZB_H2, STAGES_MAX);
        const sl_plan v = plan_of(SL_SCHEDULE_ZB_V, STAGES_MAX);
        const sl_plan dual = plan_of(SL_SCHEDULE_DUALPIPE, STAGES_MAX);
        const sl_in_flight one = sl_schedule_in_flight(&h1, 64, r);
        const sl_in_flight two = sl_schedule_in_flight(&h2, 64, r);
        CU_ASSERT_EQUAL(one.whole + one.deferred, p);
        CU_ASSERT_EQUAL(two.whole + two.deferred, 2.0 * p - 1.0);
        CU_ASSERT_EQUAL(sl_schedule_in_flight(&v, 64, r).whole, p);
        CU_ASSERT_EQUAL(2.0 * sl_schedule_in_flight(&dual, 64, r).whole, p + 1.0);
        /* No more than there are. */
        CU_ASSERT_EQUAL(sl_schedule_in_flight(&v, 3, r).whole, 3.0);
        CU_ASSERT_TRUE(sl_schedule_in_flight(&h2, 3, r).whole <= 3.0);
    }
}

static sl_question
gpt_question(uint32_t stages, sl_schedule schedule)
{
    const sl_dense_spec spec = sl_fixture_gpt(8, 1024, 16);

    cluster = sl_fixture_cluster(1);
    software = sl_fixture_software();
    sl_question q = sl_fixture_question(sl_fixture_model(&spec), &cluster, &software);
    q.workload.global_batch = 64;
    q.plan.pipeline = stages;
    q.plan.data = 8 / stages;
    q.plan.schedule = schedule;
    q.plan.virtual_pipeline = schedule == SL_SCHEDULE_ZB_V ? 2 : 1;
    return q;
}

static void
one_stage_leaves_nothing_to_schedule(void)
{
    static const sl_schedule schedules[] = {SL_SCHEDULE_GPIPE, SL_SCHEDULE_ZB_H1,
                                            SL_SCHEDULE_ZB_H2};
    sl_question q = gpt_question(1, SL_SCHEDULE_1F1B);
    const double step_s = sl_fixture_answer(&q)->time.step_s;
    const uint64_t peak = sl_fixture_answer(&q)->memory.ranks[0].peak_allocated_bytes;

    for (uint32_t i = 0; i < 3; i++) {
        q.plan.schedule = schedules[i];
        const sl_estimate *e = sl_fixture_answer(&q);
        CU_ASSERT_EQUAL(e->memory.ranks[0].peak_allocated_bytes, peak);
        CU_ASSERT_EQUAL(e->time.step_s, step_s);
        CU_ASSERT_EQUAL(e->time.bubble_ratio, 0.0);
        CU_ASSERT_EQUAL(sl_fixture_bytes(&e->memory.ranks[0], SL_TERM_WEIGHT_OPERANDS), 0.0);
    }
}

/* The last of 4 stages of 2 blocks: 3 of 4 micro-batches wait with 32 sbh each a block. */
static void
a_gpt_block_waits_with_32_sbh(void)
{
    sl_question q = gpt_question(4, SL_SCHEDULE_ZB_H1);
    const sl_memory *memory = &sl_fixture_answer(&q)->memory;

    CU_ASSERT_EQUAL_FATAL(memory->rank_count, 4);
    sl_expect_near(sl_fixture_bytes(&memory->ranks[3], SL_TERM_WEIGHT_OPERANDS),
                   3.0 * 2.0 * 32.0 * 2048.0 * 1024.0, 1e-12, "M_W, Qi 2023 section 2");
}

static void
ends_that_meet_share_a_tied_table(void)
{
    const double table = 51200.0 * 1024.0;
    sl_question q = gpt_question(4, SL_SCHEDULE_1F1B);
    double sums[3] = {0.0};

    for (uint32_t i = 0; i < 3; i++) {
        q = gpt_question(4, i == 0   ? SL_SCHEDULE_1F1B
                            : i == 1 ? SL_SCHEDULE_ZB_V
                                     : SL_SCHEDULE_DUALPIPE);
        q.workload.global_batch = 64;
        const sl_estimate *e = sl_fixture_answer(&q);
        for (uint32_t r = 0; r < e->memory.rank_count; r++)
            sums[i] += e->memory.ranks[r].stage_count * e->memory.ranks[r].terms[0].inputs[0].value;
        if (i > 0)
            sl_expect_text(e->memory.ranks[0].role, "first and last stage", "role");
    }
    sl_expect_near(sums[0] - sums[1], table, 0.0, "one copy less");
    sl_expect_near(sums[2], 2.0 * sums[1], 0.0, "DualPipe holds all twice");
}

static void
splitting_backward_is_faster_and_never_smaller(void)
{
    static const sl_schedule schedules[] = {SL_SCHEDULE_1F1B, SL_SCHEDULE_ZB_H1, SL_SCHEDULE_ZB_H2};
    double before_s = 1e9;
    uint64_t before_bytes = 0;

    for (uint32_t i = 0; i < 3; i++) {
        sl_question q = gpt_question(8, schedules[i]);
        const sl_estimate *e = sl_fixture_answer(&q);
        const uint64_t bytes = e->memory.ranks[e->memory.binding].device_total_bytes;
        CU_ASSERT_TRUE(e->time.step_s < before_s);
        CU_ASSERT_TRUE(bytes >= before_bytes);
        before_s = e->time.step_s;
        before_bytes = bytes;
    }
}

/* Each of DualPipe's copies runs half of the micro-batches, and runs again what it ran. */
static void
two_copies_run_a_block_again_no_oftener_than_one(void)
{
    sl_question q = gpt_question(4, SL_SCHEDULE_1F1B);
    double flops[2] = {0.0};
    double seconds[2] = {0.0};

    q.workload.recompute = SL_RECOMPUTE_FULL;
    for (uint32_t i = 0; i < 2; i++) {
        q.plan.schedule = i == 0 ? SL_SCHEDULE_1F1B : SL_SCHEDULE_DUALPIPE;
        const sl_estimate *e = sl_fixture_answer(&q);
        flops[i] = e->throughput.hardware_flops;
        seconds[i] = sl_fixture_seconds(e, SL_TERM_RECOMPUTE);
    }
    sl_expect_near(flops[1], flops[0], 1e-12, "products");
    sl_expect_near(seconds[1], seconds[0], 1e-12, "seconds");
}

static void
refuse(const sl_question *q, const char *rule, const char *pointer, const char *hint)
{
    sl_errors err = {0};

    CU_ASSERT_EQUAL(sl_question_check(q, &err), SL_E_RANGE);
    CU_ASSERT_EQUAL_FATAL(err.count, 1);
    sl_expect_text(err.list[0].rule, rule, "rule");
    sl_expect_text(err.list[0].pointer, pointer, "pointer");
    sl_expect_text(err.list[0].hint, hint, "hint");
}

static void
impossible_schedules_say_what_is_possible(void)
{
    sl_question q = gpt_question(4, SL_SCHEDULE_ZB_V);

    q.plan.virtual_pipeline = 4;
    q.workload.global_batch = 64;
    refuse(&q, "schedule_mismatch", "/parallelism/virtual_pipeline",
           "2"); /* four chunks on each of four ranks are more than the layers */
    q = gpt_question(1, SL_SCHEDULE_DUALPIPE);
    refuse(&q, "needs_pipeline", "/parallelism/pipeline", "2, 4, 8, or schedule 1f1b");
    q = gpt_question(4, SL_SCHEDULE_DUALPIPE);
    q.workload.global_batch = 14; /* 7 micro-batches of 2 replicas; 8 are the least */
    refuse(&q, "too_few_microbatches", "/workload/global_batch_size", "16");
    q.workload.global_batch = 18;
    refuse(&q, "too_few_microbatches", "/workload/global_batch_size", "20");
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(every_chunk_is_on_one_rank_and_with_dualpipe_on_two),
        SL_CASE(zb_v_goes_there_and_back),
        SL_CASE(outputs_cross_between_neighbours),
        SL_CASE(bubbles_are_the_published_ones),
        SL_CASE(zb_v_is_near_what_its_scheduler_finds),
        SL_CASE(equal_passes_leave_the_published_bubble),
        SL_CASE(what_is_alive_is_what_the_papers_say),
        SL_CASE(one_stage_leaves_nothing_to_schedule),
        SL_CASE(a_gpt_block_waits_with_32_sbh),
        SL_CASE(ends_that_meet_share_a_tied_table),
        SL_CASE(splitting_backward_is_faster_and_never_smaller),
        SL_CASE(two_copies_run_a_block_again_no_oftener_than_one),
        SL_CASE(impossible_schedules_say_what_is_possible),
    };

    return sl_run_cases(argc, argv, "schedule", cases, sizeof cases / sizeof cases[0]);
}
