/* One step of a pipeline, simulated, against published formulas and the closed forms. */
#include "engine/pipeline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

enum { RANKS_MAX = 12, CHUNKS_MAX = 6, BATCHES_MAX = 40 };

static sl_chunk_cost costs[RANKS_MAX * CHUNKS_MAX];
static sl_pipeline_run run;
static void *scratch;

static sl_plan
plan_of(sl_schedule schedule, uint32_t ranks, uint32_t chunks)
{
    return (sl_plan){.pipeline = ranks, .virtual_pipeline = chunks, .schedule = schedule};
}

/* The same for every chunk; one unit of memory each, of which gradients of weights wait for all. */
static void
set_costs(const sl_plan *plan, double forward_s, double input_s, double weight_s)
{
    for (uint32_t i = 0; i < plan->pipeline * sl_schedule_held(plan); i++)
        costs[i] = (sl_chunk_cost){
            .work = {forward_s, input_s, weight_s}, .kept_bytes = 1, .deferred_bytes = 1};
}

static sl_pipeline
pipeline_of(const sl_plan *plan, uint64_t batches)
{
    return (sl_pipeline){
        .plan = plan, .microbatches = batches, .chunks = costs, .overlaps_sends = true};
}

/* The run stays readable until the next one. */
static bool
simulate(const sl_pipeline *pipeline)
{
    const sl_pipeline_size size = sl_pipeline_measure(pipeline->plan, pipeline->microbatches);

    free(scratch);
    scratch = malloc(size.bytes);
    CU_ASSERT_PTR_NOT_NULL_FATAL(scratch);
    const bool ended = sl_pipeline_simulate(pipeline, scratch, &run);
    CU_ASSERT_TRUE(run.task_count <= size.tasks);
    return ended;
}

static double
step_of(const sl_plan *plan, uint64_t batches)
{
    static sl_pipeline pipeline; /* the run refers to it */

    pipeline = pipeline_of(plan, batches);
    CU_ASSERT_TRUE_FATAL(simulate(&pipeline));
    return run.step_s;
}

/* The longest any rank has nothing to do between its own first and last pass. */
static double
longest_idle(void)
{
    double idle_s = 0.0;

    for (uint32_t r = 0; r < run.of->plan->pipeline; r++)
        idle_s = fmax(idle_s, run.ranks[r].end_s - run.ranks[r].begin_s - run.ranks[r].busy_s);
    return idle_s;
}

static uint64_t state = 20240229;

static double
draw(double least, double most)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return least + (most - least) * (double)(state >> 11) / 9007199254740992.0;
}

static uint32_t
draw_count(uint32_t least, uint32_t most)
{
    return least + (uint32_t)draw(0.0, most - least + 1.0);
}

/* B is all of backward, W its gradients of weights. */
static double
published_bubble(const sl_plan *plan, double f, double b, double w)
{
    const double others = plan->pipeline - 1.0;

    switch (plan->schedule) {
    case SL_SCHEDULE_INTERLEAVED_1F1B: /* of passes through all chunks of a rank */
        return others * plan->virtual_pipeline * (f + b) / plan->virtual_pipeline;
    case SL_SCHEDULE_ZB_H1:
        return others * (f + b - 2.0 * w);
    case SL_SCHEDULE_ZB_H2:
        return others * (f + b - 3.0 * w);
    case SL_SCHEDULE_DUALPIPE: /* F&B is F + B: nothing is hidden */
        return (plan->pipeline / 2.0 - 1.0) * (f + b + b - 3.0 * w);
    default:
        return others * (f + b);
    }
}

/* As many micro-batches as the formulas are for, and weights' gradients that fit under a forward. */
static void
free_communication_leaves_the_published_bubble(void)
{
    static const sl_schedule schedules[] = {
        SL_SCHEDULE_GPIPE, SL_SCHEDULE_1F1B,  SL_SCHEDULE_INTERLEAVED_1F1B,
        SL_SCHEDULE_ZB_H1, SL_SCHEDULE_ZB_H2, SL_SCHEDULE_DUALPIPE};

    for (uint32_t i = 0; i < 600; i++) {
        const sl_schedule schedule = schedules[i % 6];
        const bool interleaved = schedule == SL_SCHEDULE_INTERLEAVED_1F1B;
        const bool dual = schedule == SL_SCHEDULE_DUALPIPE;
        const uint32_t p = dual ? 2 * draw_count(1, 6) : draw_count(2, RANKS_MAX);
        const uint32_t v = interleaved ? draw_count(2, CHUNKS_MAX) : 1;
        const uint32_t m = interleaved || dual ? p * draw_count(2, 4) : 2 * p + draw_count(0, 20);
        const sl_plan plan = plan_of(schedule, p, v);
        const double f = draw(0.5, 2.0);
        const double w = dual ? f : draw(0.3, 1.0) * f;
        const double input_s = dual ? f : w * draw(1.0, 3.0);
        const double bubble_s = published_bubble(&plan, f, input_s + w, w);
        set_costs(&plan, f, input_s, w);
        const double all_s = m * v * (f + input_s + w);
        const double span_s = step_of(&plan, m);
        if (schedule == SL_SCHEDULE_ZB_H2) /* of each rank by itself */
            sl_expect_near(all_s + longest_idle(), all_s + fmax(0.0, bubble_s), 1e-12, "ZB-H2");
        else
            sl_expect_near(span_s, all_s + bubble_s, 1e-12, "span");
    }
}

static void
layers_one_device_after_the_other_leave_the_rest_idle(void)
{
    static const uint32_t devices[] = {2, 3, 4};

    for (uint32_t i = 0; i < 3; i++) { /* 12 layers on 3: of 4 each, idle for 2/3 */
        const uint32_t p = devices[i];
        const sl_plan plan = plan_of(SL_SCHEDULE_NAIVE, p, 1);
        for (uint32_t m = 1; m <= 3; m++) {
            double busy_s = 0.0;
            set_costs(&plan, 4.0, 4.0, 4.0);
            const double span_s = step_of(&plan, m);
            for (uint32_t r = 0; r < p; r++)
                busy_s += run.ranks[r].busy_s;
            sl_expect_near(span_s, m * p * 12.0, 1e-12, "one after the other");
            sl_expect_near(1.0 - busy_s / (p * span_s), 1.0 - 1.0 / p, 1e-12, "idle");
        }
    }
}

/* Also with few micro-batches, and with weights' gradients that are longer than a forward; ZB-H2's is
 * not for both and gradients of inputs that are shorter than one. */
static void
closed_forms_are_what_balanced_schedules_come_to(void)
{
    for (uint32_t schedule = 0; schedule < SL_SCHEDULE_COUNT; schedule++)
        for (uint32_t p = 2; p <= 10; p++)
            for (uint32_t m = 1; m <= BATCHES_MAX; m++) {
                const uint32_t v = schedule == SL_SCHEDULE_INTERLEAVED_1F1B ? 3 : 1;
                const sl_plan plan = plan_of((sl_schedule)schedule, p, v);
                const double w = draw(0.3, 1.5);
                const double input_s = draw(0.8, 2.0);
                sl_busy busy[SL_PIPELINE_MAX];
                if (!sl_order_exists(&plan, m) || schedule == SL_SCHEDULE_DUALPIPE ||
                    (v > 1 && m % p != 0) ||
                    (schedule == SL_SCHEDULE_ZB_H2 && m < 2 * p - 1 && input_s < 1.0))
                    continue;
                for (uint32_t r = 0; r < p; r++)
                    busy[r] = (sl_busy){v * (1.0 + input_s + w), v * (input_s + w), v * w};
                set_costs(&plan, 1.0, input_s, w);
                const double span_s = step_of(&plan, m);
                const double expected_s = sl_schedule_span(&plan, m, busy).span_s;
                if (schedule == SL_SCHEDULE_ZB_H2)
                    sl_expect_near(m * busy[0].all_s + longest_idle(), expected_s, 1e-9, "ZB-H2");
                else
                    sl_expect_near(span_s, expected_s, 1e-9, "span");
            }
}

/* Stages that differ by up to a fifth either way in each kind of pass, seeded. */
static void
closed_forms_are_near_what_uneven_stages_come_to(void)
{
    static const struct {
        double most, mean;
    } bounds[SL_SCHEDULE_COUNT] = {
        [SL_SCHEDULE_1F1B] = {0.01, 1e-3},    [SL_SCHEDULE_INTERLEAVED_1F1B] = {0.07, 0.015},
        [SL_SCHEDULE_NAIVE] = {1e-12, 1e-12}, [SL_SCHEDULE_GPIPE] = {1e-12, 1e-12},
        [SL_SCHEDULE_ZB_H1] = {0.02, 2e-3},   [SL_SCHEDULE_ZB_H2] = {0.1, 8e-3},
        [SL_SCHEDULE_ZB_V] = {0.1, 0.02},     [SL_SCHEDULE_DUALPIPE] = {0.07, 0.012},
    };

    for (uint32_t schedule = 0; schedule < SL_SCHEDULE_COUNT; schedule++) {
        double sum = 0.0;
        double most = 0.0;
        for (uint32_t i = 0; i < 150; i++) {
            const bool v = schedule == SL_SCHEDULE_ZB_V;
            const bool dual = schedule == SL_SCHEDULE_DUALPIPE;
            const bool interleaved = schedule == SL_SCHEDULE_INTERLEAVED_1F1B;
            const uint32_t p = 2 * draw_count(1, RANKS_MAX / 2);
            const sl_plan plan = plan_of((sl_schedule)schedule, p,
                                         interleaved ? draw_count(2, 4)
                                         : v         ? 2
                                                     : 1);
            const uint32_t held = sl_schedule_held(&plan);
            const uint32_t m = (dual ? 2 : 1) * p * draw_count(1, 3) +
                               (interleaved ? 0 : 2 * draw_count(0, p / 2));
            const double input_s = draw(1.0, 1.5);
            const double weight_s = draw(0.5, 1.0);
            sl_busy busy[SL_PIPELINE_MAX];
            for (uint32_t r = 0; r < p; r++) {
                const sl_work_seconds work = {draw(0.8, 1.2), input_s * draw(0.8, 1.2),
                                              weight_s * draw(0.8, 1.2)};
                const double chunks = dual ? 1.0 : held;
                const double backward_s = work.backward_input_s + work.backward_weight_s;
                for (uint32_t c = 0; c < held; c++)
                    costs[r * held + c] = (sl_chunk_cost){.work = work};
                busy[r] = (sl_busy){chunks * (work.forward_s + backward_s), chunks * backward_s,
                                    chunks * work.backward_weight_s};
            }
            double span_s = step_of(&plan, m);
            if (schedule == SL_SCHEDULE_ZB_H2 || v) {
                span_s = 0.0; /* of each rank by itself */
                for (uint32_t r = 0; r < p; r++)
                    span_s = fmax(span_s, run.ranks[r].end_s - run.ranks[r].begin_s);
            }
            const double error = fabs(sl_schedule_span(&plan, m, busy).span_s / span_s - 1.0);
            sum += error / 150.0;
            most = fmax(most, error);
        }
        CU_ASSERT_TRUE(most <= bounds[schedule].most);
        CU_ASSERT_TRUE(sum <= bounds[schedule].mean);
    }
}

/* When each chunk's forward, or backward, of a micro-batch starts and ends. */
typedef struct times {
    double start_s[2][RANKS_MAX * CHUNKS_MAX][BATCHES_MAX];
    double end_s[2][RANKS_MAX * CHUNKS_MAX][BATCHES_MAX];
} times;

static void
note_times(const sl_plan *plan, times *out)
{
    for (uint32_t task = 0; task < run.tasks.lane_first[plan->pipeline]; task++) {
        const sl_event e = sl_pipeline_event(&run, task);
        if (e.kind == SL_WORK_BACKWARD_WEIGHT)
            continue;
        const uint32_t way = e.kind != SL_WORK_FORWARD;
        const uint32_t chunk = sl_schedule_chunk(plan, e.rank, e.chunk);
        out->start_s[way][chunk][e.microbatch] = e.start_s;
        out->end_s[way][chunk][e.microbatch] = e.end_s;
    }
}

/* Every schedule, also with experts that overlap, over stages that differ and links that take time. */
static void
no_pass_starts_before_what_it_needs_has_come(void)
{
    static times t;

    for (uint32_t i = 0; i < 200; i++) {
        const sl_schedule schedule = (sl_schedule)(i % SL_SCHEDULE_COUNT);
        const uint32_t p = 2 * draw_count(1, 4);
        const uint32_t m = schedule == SL_SCHEDULE_DUALPIPE ? 2 * p : draw_count(1, 3 * p);
        sl_plan plan = plan_of(schedule, p,
                               schedule == SL_SCHEDULE_INTERLEAVED_1F1B ? draw_count(2, 4)
                               : schedule == SL_SCHEDULE_ZB_V           ? 2
                                                                        : 1);
        plan.overlap_experts = draw(0.0, 1.0) < 0.5;
        sl_pipeline pipeline = pipeline_of(&plan, m);
        pipeline.overlaps_sends = draw(0.0, 1.0) < 0.5;
        for (uint32_t c = 0; c < p * sl_schedule_held(&plan); c++)
            costs[c] = (sl_chunk_cost){.work = {draw(0.5, 2.0), draw(0.5, 2.0), draw(0.2, 1.0)},
                                       .send_s = draw(0.0, 0.5)};
        CU_ASSERT_TRUE_FATAL(simulate(&pipeline));
        note_times(&plan, &t);
        for (uint32_t c = 0; c < sl_schedule_chunks(&plan); c++)
            for (uint32_t b = 0; b < m; b++) {
                const uint32_t copy =
                    sl_schedule_copies(&plan) == 2 && b >= m / 2; /* of the second half */
                const uint32_t rank = sl_schedule_rank(&plan, c, copy);
                const uint32_t held = sl_schedule_held(&plan);
                CU_ASSERT_TRUE(t.start_s[1][c][b] >= t.end_s[0][c][b] ||
                               c + 1 < sl_schedule_chunks(&plan));
                if (c == 0)
                    continue;
                const uint32_t from = sl_schedule_rank(&plan, c - 1, copy);
                const uint32_t index = sl_schedule_copies(&plan) == 2 ? copy : (c - 1) / p;
                const double send_s = from == rank ? 0.0 : costs[from * held + index].send_s;
                CU_ASSERT_TRUE(t.start_s[0][c][b] >= t.end_s[0][c - 1][b] + send_s - 1e-9);
                CU_ASSERT_TRUE(t.start_s[1][c - 1][b] >= t.end_s[1][c][b] + send_s - 1e-9);
            }
    }
}

/* Every schedule, rank and number of micro-batches that has an order: none waits forever. */
static void
what_is_alive_is_what_the_closed_form_says(void)
{
    uint32_t checked = 0;

    for (uint32_t schedule = 0; schedule < SL_SCHEDULE_COUNT; schedule++)
        for (uint32_t p = 1; p <= 9; p++)
            for (uint32_t v = 1; v <= 3; v++)
                for (uint32_t m = 1; m <= BATCHES_MAX; m++) {
                    const sl_plan plan = plan_of((sl_schedule)schedule, p, v);
                    const uint32_t held = sl_schedule_held(&plan);
                    if (!sl_order_exists(&plan, m))
                        continue;
                    set_costs(&plan, 1.0, 1.0, 1.0);
                    step_of(&plan, m);
                    if ((v > 1 && m % p != 0) || (schedule == SL_SCHEDULE_GPIPE && v > 1) ||
                        (schedule == SL_SCHEDULE_NAIVE && v > 1))
                        continue; /* whose closed form is for whole groups, and one chunk */
                    for (uint32_t r = 0; r < p; r++) {
                        const sl_in_flight f = sl_schedule_in_flight(&plan, m, r);
                        sl_expect_near((double)run.ranks[r].peak_bytes,
                                       held * (f.whole + f.deferred), 1e-12, "alive");
                    }
                    for (uint32_t i = 0; i < p * held; i++)
                        costs[i].deferred_bytes = 0;
                    step_of(&plan, m);
                    for (uint32_t r = 0;
                         r < p && schedule != SL_SCHEDULE_ZB_V && schedule != SL_SCHEDULE_DUALPIPE;
                         r++)
                        sl_expect_near((double)run.ranks[r].peak_bytes,
                                       held * sl_schedule_in_flight(&plan, m, r).whole, 1e-12,
                                       "whole");
                    checked++;
                }
    CU_ASSERT_TRUE(checked > 1500);
}

/* Weights' gradients kept apart take no more than those alive beside them, ZB-V's no more than p. */
static void
zb_v_takes_the_memory_of_one_forward_one_backward(void)
{
    for (uint32_t p = 2; p <= 8; p++)
        for (uint32_t i = 0; i < 10; i++) {
            const sl_plan plan = plan_of(SL_SCHEDULE_ZB_V, p, 2);
            set_costs(&plan, 1.0, draw(0.8, 2.4), draw(0.4, 1.1));
            step_of(&plan, draw_count(1, 4 * p));
            for (uint32_t r = 0; r < p; r++)
                CU_ASSERT_TRUE(run.ranks[r].peak_bytes <= 2 * (uint64_t)p);
        }
}

static void
zb_v_leaves_no_bubble_when_all_passes_are_equal(void)
{
    for (uint32_t p = 2; p <= 10; p++)
        for (uint32_t m = 2 * p - 1; m <= 4 * p; m++) {
            const sl_plan plan = plan_of(SL_SCHEDULE_ZB_V, p, 2);
            set_costs(&plan, 0.1, 0.1, 0.1);
            step_of(&plan, m);
            CU_ASSERT_TRUE(longest_idle() < 1e-9);
        }
}

/* What the authors' scheduler finds (sail-sg/zero-bubble-pipeline-parallelism, zbv.py), nothing to
 * send, room for 2p chunks; seconds of a chunk, 100 forward. The last two are among those that this
 * one does worst and best on. */
static void
zb_v_is_near_what_its_scheduler_finds(void)
{
    static const struct {
        uint32_t ranks, batches;
        double input_s, weight_s, bubble_s, tolerance_ratio;
    } rows[] = {
        {4, 16, 100.0, 100.0, 0.0, 0.0},    {4, 16, 120.0, 80.0, 160.0, 0.0},
        {4, 16, 140.0, 70.0, 350.0, 0.0},   {4, 16, 200.0, 100.0, 500.0, 0.0},
        {8, 16, 120.0, 80.0, 480.0, 0.02},  {8, 32, 130.0, 90.0, 480.0, 0.02},
        {8, 32, 110.0, 60.0, 650.0, 0.02},  {8, 64, 150.0, 90.0, 750.0, 0.0},
        {8, 32, 233.0, 95.0, 1837.0, 0.0},  {8, 8, 136.0, 110.0, 700.0, 0.0},
        {16, 16, 127.0, 96.0, 1500.0, 0.0}, {16, 32, 100.0, 100.0, 0.0, 0.0},
        {16, 64, 140.0, 70.0, 2030.0, 0.0}, {16, 128, 200.0, 100.0, 2900.0, 0.0},
        {3, 8, 103.0, 114.0, 14.0, 0.07},   {7, 24, 215.0, 184.0, 869.0, 0.02},
    };

    for (uint32_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        static sl_chunk_cost wide[32];
        const sl_plan plan = plan_of(SL_SCHEDULE_ZB_V, rows[i].ranks, 2);
        sl_pipeline pipeline = pipeline_of(&plan, rows[i].batches);
        for (uint32_t c = 0; c < 2 * rows[i].ranks; c++)
            wide[c].work = (sl_work_seconds){100.0, rows[i].input_s, rows[i].weight_s};
        pipeline.chunks = wide;
        CU_ASSERT_TRUE_FATAL(simulate(&pipeline));
        const double one_f_one_b_s =
            2.0 * (rows[i].ranks - 1.0) * (100.0 + rows[i].input_s + rows[i].weight_s);
        CU_ASSERT_TRUE(fabs(longest_idle() - rows[i].bubble_s) <=
                       rows[i].tolerance_ratio * one_f_one_b_s + 1e-6);
    }
}

/* Balanced, but for one rank that takes `slow` times as long. */
static void
a_straggler_slows_every_micro_batch(void)
{
    static const double slow = 3.0;
    const sl_plan plan = plan_of(SL_SCHEDULE_1F1B, 4, 1);
    const uint32_t m = 16;
    double slowness[] = {1.0, 1.0, 1.0, slow};
    sl_pipeline pipeline = pipeline_of(&plan, m);

    set_costs(&plan, 1.0, 1.0, 1.0);
    pipeline.slowness = slowness;
    CU_ASSERT_TRUE(simulate(&pipeline));
    sl_expect_near(run.step_s, m * slow * 3.0 + 3.0 * 3.0, 1e-12, "last rank: fill and drain stay");
    slowness[3] = 1.0;
    slowness[0] = slow;
    CU_ASSERT_TRUE(simulate(&pipeline));
    /* A round trip through the others takes 9 s, as its next 3 forwards do. The last one's 9 s it
     * spends on 3 backwards of 6 s. */
    sl_expect_near(run.step_s, m * slow * 3.0, 1e-12, "first rank: it never waits");
}

/* F 1 s, B 2 s, each send 0.5 s. */
static void
sends_take_time_and_if_not_hidden_that_of_the_rank(void)
{
    const sl_plan plan = plan_of(SL_SCHEDULE_1F1B, 2, 1);
    sl_pipeline pipeline = pipeline_of(&plan, 2);

    set_costs(&plan, 1.0, 1.0, 1.0);
    costs[0].send_s = 0.5;
    costs[1].send_s = 100.0; /* there is no chunk after it */
    CU_ASSERT_TRUE(simulate(&pipeline));
    sl_expect_near(run.step_s, 10.0, 1e-12, "hidden");
    pipeline.overlaps_sends = false;
    CU_ASSERT_TRUE(simulate(&pipeline));
    sl_expect_near(run.step_s, 10.5, 1e-12, "not hidden");
    sl_expect_near(run.start_s[1], 1.5, 1e-12, "the second forward waits for the first's send");
}

static void
a_rank_sends_one_after_the_other(void)
{
    const sl_plan plan = plan_of(SL_SCHEDULE_GPIPE, 2, 1);
    sl_pipeline pipeline = pipeline_of(&plan, 3);

    set_costs(&plan, 1.0, 1.0, 0.0);
    costs[0].send_s = 2.0;
    CU_ASSERT_TRUE(simulate(&pipeline));
    /* Forwards of the second rank start at 3, 5 and 7, backwards end at 9, 10 and 11, gradients come
     * at 11, 13 and 15. */
    sl_expect_near(run.step_s, 16.0, 1e-12, "a link that is slower than the ranks");
}

static void
the_turn_of_the_v_sends_nothing(void)
{
    const sl_plan plan = plan_of(SL_SCHEDULE_ZB_V, 2, 2);
    const sl_pipeline pipeline = pipeline_of(&plan, 1);

    set_costs(&plan, 1.0, 1.0, 1.0);
    for (uint32_t i = 0; i < 4; i++)
        costs[i].send_s = 10.0;
    CU_ASSERT_TRUE(simulate(&pipeline));
    /* There and back twice, over one boundary each; one pass of weights is left at the end. */
    sl_expect_near(run.step_s, 8.0 + 4.0 * 10.0 + 1.0, 1e-12, "four sends");
}

/* F 2 s with 1 s of exchange, B 4 s with 2 s: beside each other 3 s. */
static void
passes_beside_each_other_hide_their_exchanges(void)
{
    const sl_plan plan = plan_of(SL_SCHEDULE_DUALPIPE, 2, 1);

    set_costs(&plan, 2.0, 2.0, 2.0);
    for (uint32_t i = 0; i < 4; i++) {
        costs[i].forward_exchange_s = 1.0;
        costs[i].backward_exchange_s = 2.0;
    }
    step_of(&plan, 4);
    /* F0 f2 F1 b2 f3&B0 b3 I1 W1 */
    const sl_event forward = sl_pipeline_event(&run, 4);
    const sl_event backward = sl_pipeline_event(&run, 5);
    CU_ASSERT_EQUAL(forward.kind, SL_WORK_FORWARD);
    CU_ASSERT_EQUAL(backward.kind, SL_WORK_BACKWARD);
    CU_ASSERT_EQUAL(forward.microbatch, 3);
    CU_ASSERT_EQUAL(backward.microbatch, 0);
    CU_ASSERT_EQUAL(forward.chunk, 1);
    CU_ASSERT_EQUAL(backward.chunk, 0);
    CU_ASSERT_EQUAL(forward.start_s, backward.start_s);
    CU_ASSERT_EQUAL(forward.end_s, backward.end_s);
    sl_expect_near(forward.end_s - forward.start_s, 3.0, 1e-12, "of 6");
    for (uint32_t i = 0; i < 4; i++)
        costs[i].backward_exchange_s = 3.0;
    step_of(&plan, 4);
    sl_expect_near(run.end_s[4] - run.start_s[4], 4.0, 1e-12, "exchanges are the longer");
}

static void
data_parallel_work_goes_before_and_after(void)
{
    const sl_plan plan = plan_of(SL_SCHEDULE_1F1B, 2, 1);
    const double optimizer_s[] = {0.25, 0.5};
    sl_pipeline pipeline = pipeline_of(&plan, 1);

    set_costs(&plan, 1.0, 1.0, 1.0);
    costs[0].gather_s = 0.5;
    costs[1].gather_s = 4.0;
    costs[1].reduce_s = 3.0;
    pipeline.optimizer_s = optimizer_s;
    CU_ASSERT_TRUE(simulate(&pipeline));
    /* The second rank waits for its parameters until 4; backwards end at 7 and 9. */
    CU_ASSERT_EQUAL(run.ranks[1].begin_s, 4.0);
    CU_ASSERT_EQUAL(run.ranks[0].end_s, 9.0);
    sl_expect_near(run.step_s, 7.0 + 3.0 + 0.5, 1e-12, "reduction, then optimizer");
    pipeline.barrier = true;
    CU_ASSERT_TRUE(simulate(&pipeline));
    sl_expect_near(run.end_s[run.task_count - 3], 10.0 + 0.25, 1e-12, "the first waits for both");
    /* Without passes of its own the second reduces from 4 to 7. */
    const double slowness[] = {1.0, 2.0};
    pipeline.slowness = slowness;
    costs[1].work = (sl_work_seconds){0};
    CU_ASSERT_TRUE(simulate(&pipeline));
    sl_expect_near(run.step_s, 7.0 + 2.0 * 0.5, 1e-12, "a straggler's optimizer takes longer");
}

/* Chunks 0 and 2 on the first rank; the reduction of the second chunk begins under the first's last
 * backwards, or not. */
static void
reductions_of_chunks_hide_under_later_passes(void)
{
    const sl_plan plan = plan_of(SL_SCHEDULE_INTERLEAVED_1F1B, 2, 2);
    sl_pipeline pipeline = pipeline_of(&plan, 2);

    set_costs(&plan, 1.0, 1.0, 1.0);
    const double bare_s = step_of(&plan, 2);
    costs[1].reduce_s = 2.0;
    CU_ASSERT_TRUE(simulate(&pipeline));
    sl_expect_near(run.step_s, bare_s, 1e-12, "hidden");
    pipeline.reduces_last = true;
    CU_ASSERT_TRUE(simulate(&pipeline));
    sl_expect_near(run.step_s, bare_s + 2.0, 1e-12, "after all passes");
    costs[1].reduce_s = 0.0;
    costs[1].gather_s = 1.5;
    CU_ASSERT_TRUE(simulate(&pipeline));
    sl_expect_near(run.step_s, bare_s, 1e-12, "there before its first forward");
    pipeline.gathers_first = true;
    CU_ASSERT_TRUE(simulate(&pipeline));
    sl_expect_near(run.step_s, bare_s + 1.5, 1e-12, "before all passes");
}

static void
micro_batches_may_differ_in_size(void)
{
    const sl_plan plan = plan_of(SL_SCHEDULE_NAIVE, 2, 1);
    const double sizes[] = {1.0, 0.5, 2.0};
    sl_pipeline pipeline = pipeline_of(&plan, 3);

    set_costs(&plan, 1.0, 1.0, 1.0);
    costs[0].send_s = 0.5;
    pipeline.sizes = sizes;
    CU_ASSERT_TRUE(simulate(&pipeline));
    sl_expect_near(run.step_s, 3.5 * (2.0 * 3.0 + 2.0 * 0.5), 1e-12, "in proportion");
}

static void
events_say_who_what_and_when(void)
{
    const sl_plan plan = plan_of(SL_SCHEDULE_1F1B, 2, 1);
    uint32_t found[SL_EVENT_KINDS] = {0};
    const sl_pipeline pipeline = pipeline_of(&plan, 2);

    set_costs(&plan, 1.0, 1.0, 1.0);
    costs[0].send_s = 0.5;
    costs[0].send_scale_up = true;
    costs[0].gather_s = costs[1].gather_s = 0.25;
    CU_ASSERT_TRUE(simulate(&pipeline));
    for (uint32_t task = 0; task < run.task_count; task++) {
        const sl_event e = sl_pipeline_event(&run, task);
        CU_ASSERT_TRUE(e.rank < 2 && e.microbatch < 2 && e.chunk == 0 && e.start_s <= e.end_s);
        found[e.kind]++;
        if (e.kind == SL_EVENT_SEND_OUTPUT || e.kind == SL_EVENT_SEND_GRADIENT)
            CU_ASSERT_TRUE(e.stream == SL_STREAM_SCALE_UP &&
                           e.rank == (e.kind == SL_EVENT_SEND_GRADIENT));
        if (e.kind == SL_EVENT_GATHER)
            CU_ASSERT_EQUAL(e.stream, SL_STREAM_NETWORK);
    }
    CU_ASSERT_EQUAL(found[SL_WORK_FORWARD], 4);
    CU_ASSERT_EQUAL(found[SL_WORK_BACKWARD], 4);
    CU_ASSERT_EQUAL(found[SL_EVENT_SEND_OUTPUT], 2);
    CU_ASSERT_EQUAL(found[SL_EVENT_SEND_GRADIENT], 2);
    CU_ASSERT_EQUAL(found[SL_EVENT_GATHER], 2);
    CU_ASSERT_EQUAL(run.task_count, 14);
}

/* ZB-H1 on two ranks, 3 micro-batches of 10 bytes, 4 of which weights wait for. */
static void
the_staircase_rises_with_forwards_and_falls_in_two_parts(void)
{
    const sl_plan plan = plan_of(SL_SCHEDULE_ZB_H1, 2, 1);
    double at_s[9];
    uint64_t bytes[9];

    set_costs(&plan, 1.0, 1.0, 1.0);
    for (uint32_t i = 0; i < 2; i++) {
        costs[i].kept_bytes = 10;
        costs[i].deferred_bytes = 4;
    }
    step_of(&plan, 3);
    /* F0 I0 F1 I1 W0 F2 I2 W1 W2 */
    static const uint64_t second[] = {10, 4, 14, 8, 4, 14, 8, 4, 0};
    CU_ASSERT_EQUAL_FATAL(sl_pipeline_staircase(&run, 1, at_s, bytes), 9);
    for (uint32_t i = 0; i < 9; i++) {
        CU_ASSERT_EQUAL(bytes[i], second[i]);
        CU_ASSERT_TRUE(i == 0 || at_s[i] >= at_s[i - 1]);
    }
    CU_ASSERT_EQUAL(at_s[0], 1.0);
    CU_ASSERT_EQUAL(at_s[1], 3.0);
    CU_ASSERT_EQUAL(run.ranks[1].peak_bytes, 14);
    CU_ASSERT_EQUAL(run.ranks[0].peak_bytes, 20);
}

static void
nothing_takes_no_time_and_too_much_says_so(void)
{
    const sl_plan one = plan_of(SL_SCHEDULE_1F1B, 1, 1);
    const sl_plan wide = plan_of(SL_SCHEDULE_INTERLEAVED_1F1B, 128, 32);

    set_costs(&one, 0.0, 0.0, 0.0);
    CU_ASSERT_EQUAL(step_of(&one, 1), 0.0);
    CU_ASSERT_EQUAL(run.task_count, 2);
    CU_ASSERT_EQUAL(sl_pipeline_measure(&wide, UINT64_MAX).bytes, UINT64_MAX);
    CU_ASSERT_EQUAL(sl_pipeline_measure(&wide, UINT32_MAX).bytes, UINT64_MAX);
    /* Two passes and two sends of 128 x 32 chunks, 50,000 times. */
    const sl_pipeline_size size = sl_pipeline_measure(&wide, 50000);
    CU_ASSERT_TRUE(size.tasks >= 4ull * 128 * 32 * 50000 && size.bytes < UINT64_MAX);
}

static void
the_widest_pipeline_runs(void)
{
    static sl_chunk_cost wide[SL_PIPELINE_MAX * 8];
    const sl_plan plan = plan_of(SL_SCHEDULE_INTERLEAVED_1F1B, SL_PIPELINE_MAX, 8);
    sl_pipeline pipeline = pipeline_of(&plan, SL_PIPELINE_MAX);

    for (uint32_t i = 0; i < SL_PIPELINE_MAX * 8; i++)
        wide[i].work = (sl_work_seconds){1.0, 1.0, 1.0};
    pipeline.chunks = wide;
    CU_ASSERT_TRUE_FATAL(simulate(&pipeline));
    sl_expect_near(run.step_s, (128.0 * 8.0 + 127.0) * 3.0, 1e-12, "(v m + p - 1)(F + B)");
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(free_communication_leaves_the_published_bubble),
        SL_CASE(layers_one_device_after_the_other_leave_the_rest_idle),
        SL_CASE(closed_forms_are_what_balanced_schedules_come_to),
        SL_CASE(closed_forms_are_near_what_uneven_stages_come_to),
        SL_CASE(no_pass_starts_before_what_it_needs_has_come),
        SL_CASE(what_is_alive_is_what_the_closed_form_says),
        SL_CASE(zb_v_takes_the_memory_of_one_forward_one_backward),
        SL_CASE(zb_v_leaves_no_bubble_when_all_passes_are_equal),
        SL_CASE(zb_v_is_near_what_its_scheduler_finds),
        SL_CASE(a_straggler_slows_every_micro_batch),
        SL_CASE(sends_take_time_and_if_not_hidden_that_of_the_rank),
        SL_CASE(a_rank_sends_one_after_the_other),
        SL_CASE(the_turn_of_the_v_sends_nothing),
        SL_CASE(passes_beside_each_other_hide_their_exchanges),
        SL_CASE(data_parallel_work_goes_before_and_after),
        SL_CASE(reductions_of_chunks_hide_under_later_passes),
        SL_CASE(micro_batches_may_differ_in_size),
        SL_CASE(events_say_who_what_and_when),
        SL_CASE(the_staircase_rises_with_forwards_and_falls_in_two_parts),
        SL_CASE(nothing_takes_no_time_and_too_much_says_so),
        SL_CASE(the_widest_pipeline_runs),
    };

    const int failed = sl_run_cases(argc, argv, "pipeline", cases, sizeof cases / sizeof cases[0]);
    free(scratch);
    return failed;
}
