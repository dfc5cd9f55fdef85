/* One step of a pipeline, simulated: what runs when, and what is alive. */
#include "engine/schedule/pipeline.h"

#include <string.h>

#include "harness.h"
#include "pipeline_fixture.h"

/* When each chunk's forward, or backward, of a micro-batch starts and ends. */
typedef struct times {
    double start_s[2][SL_PIPELINE_RANKS_MAX * SL_PIPELINE_CHUNKS_MAX][SL_PIPELINE_BATCHES_MAX];
    double end_s[2][SL_PIPELINE_RANKS_MAX * SL_PIPELINE_CHUNKS_MAX][SL_PIPELINE_BATCHES_MAX];
} times;

static void
note_times(const sl_plan *plan, times *out)
{
    for (uint32_t task = 0; task < sl_pipeline_last.tasks.lane_first[plan->pipeline]; task++) {
        const sl_event e = sl_pipeline_event(&sl_pipeline_last, task);
        if (e.kind == SL_WORK_BACKWARD_WEIGHT)
            continue;
        const uint32_t way = e.kind != SL_WORK_FORWARD;
        const uint32_t chunk = sl_schedule_chunk(plan, e.rank, e.chunk);
        out->start_s[way][chunk][e.microbatch] = e.start_s;
        out->end_s[way][chunk][e.microbatch] = e.end_s;
    }
}

/* Every schedule, also with experts that overlap, over stages that differ and links that take
 * time. */
static void
no_pass_starts_before_what_it_needs_has_come(void)
{
    static times t;

    for (uint32_t i = 0; i < 200; i++) {
        const sl_schedule schedule = (sl_schedule)(i % SL_SCHEDULE_COUNT);
        const uint32_t p = 2 * sl_pipeline_draw_count(1, 4);
        const uint32_t m =
            schedule == SL_SCHEDULE_DUALPIPE ? 2 * p : sl_pipeline_draw_count(1, 3 * p);
        sl_plan plan =
            sl_pipeline_plan(schedule, p,
                             schedule == SL_SCHEDULE_INTERLEAVED_1F1B ? sl_pipeline_draw_count(2, 4)
                             : schedule == SL_SCHEDULE_ZB_V           ? 2
                                                                      : 1);
        plan.overlap_experts = sl_pipeline_draw(0.0, 1.0) < 0.5;
        sl_pipeline pipeline = sl_pipeline_of(&plan, m);
        pipeline.overlaps_sends = sl_pipeline_draw(0.0, 1.0) < 0.5;
        for (uint32_t c = 0; c < p * sl_schedule_held(&plan); c++)
            sl_pipeline_costs[c] =
                (sl_chunk_cost){.work = {sl_pipeline_draw(0.5, 2.0), sl_pipeline_draw(0.5, 2.0),
                                         sl_pipeline_draw(0.2, 1.0)},
                                .send_s = sl_pipeline_draw(0.0, 0.5)};
        CU_ASSERT_TRUE_FATAL(sl_pipeline_run_once(&pipeline));
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
                const double send_s =
                    from == rank ? 0.0 : sl_pipeline_costs[from * held + index].send_s;
                CU_ASSERT_TRUE(t.start_s[0][c][b] >= t.end_s[0][c - 1][b] + send_s - 1e-9);
                CU_ASSERT_TRUE(t.start_s[1][c - 1][b] >= t.end_s[1][c][b] + send_s - 1e-9);
            }
    }
}

/* Balanced, but for one rank that takes `slow` times as long. */
static void
a_straggler_slows_every_micro_batch(void)
{
    static const double slow = 3.0;
    const sl_plan plan = sl_pipeline_plan(SL_SCHEDULE_1F1B, 4, 1);
    const uint32_t m = 16;
    double slowness[] = {1.0, 1.0, 1.0, slow};
    sl_pipeline pipeline = sl_pipeline_of(&plan, m);

    sl_pipeline_set_costs(&plan, 1.0, 1.0, 1.0);
    pipeline.slowness = slowness;
    CU_ASSERT_TRUE(sl_pipeline_run_once(&pipeline));
    sl_expect_near(sl_pipeline_last.step_s, m * slow * 3.0 + 3.0 * 3.0, 1e-12,
                   "last rank: fill and drain stay");
    slowness[3] = 1.0;
    slowness[0] = slow;
    CU_ASSERT_TRUE(sl_pipeline_run_once(&pipeline));
    /* A round trip through the others takes 9 s, as its next 3 forwards do. The last one's 9 s it
     * spends on 3 backwards of 6 s. */
    sl_expect_near(sl_pipeline_last.step_s, m * slow * 3.0, 1e-12, "first rank: it never waits");
}

/* F 1 s, B 2 s, each send 0.5 s. */
static void
sends_take_time_and_if_not_hidden_that_of_the_rank(void)
{
    const sl_plan plan = sl_pipeline_plan(SL_SCHEDULE_1F1B, 2, 1);
    sl_pipeline pipeline = sl_pipeline_of(&plan, 2);

    sl_pipeline_set_costs(&plan, 1.0, 1.0, 1.0);
    sl_pipeline_costs[0].send_s = 0.5;
    sl_pipeline_costs[1].send_s = 100.0; /* there is no chunk after it */
    CU_ASSERT_TRUE(sl_pipeline_run_once(&pipeline));
    sl_expect_near(sl_pipeline_last.step_s, 10.0, 1e-12, "hidden");
    pipeline.overlaps_sends = false;
    CU_ASSERT_TRUE(sl_pipeline_run_once(&pipeline));
    sl_expect_near(sl_pipeline_last.step_s, 10.5, 1e-12, "not hidden");
    sl_expect_near(sl_pipeline_last.start_s[1], 1.5, 1e-12,
                   "the second forward waits for the first's send");
}

static void
a_rank_sends_one_after_the_other(void)
{
    const sl_plan plan = sl_pipeline_plan(SL_SCHEDULE_GPIPE, 2, 1);
    sl_pipeline pipeline = sl_pipeline_of(&plan, 3);

    sl_pipeline_set_costs(&plan, 1.0, 1.0, 0.0);
    sl_pipeline_costs[0].send_s = 2.0;
    CU_ASSERT_TRUE(sl_pipeline_run_once(&pipeline));
    /* Forwards of the second rank start at 3, 5 and 7, backwards end at 9, 10 and 11, gradients
     * come at 11, 13 and 15. */
    sl_expect_near(sl_pipeline_last.step_s, 16.0, 1e-12, "a link that is slower than the ranks");
}

static void
the_turn_of_the_v_sends_nothing(void)
{
    const sl_plan plan = sl_pipeline_plan(SL_SCHEDULE_ZB_V, 2, 2);
    const sl_pipeline pipeline = sl_pipeline_of(&plan, 1);

    sl_pipeline_set_costs(&plan, 1.0, 1.0, 1.0);
    for (uint32_t i = 0; i < 4; i++)
        sl_pipeline_costs[i].send_s = 10.0;
    CU_ASSERT_TRUE(sl_pipeline_run_once(&pipeline));
    /* There and back twice, over one boundary each; one pass of weights is left at the end. */
    sl_expect_near(sl_pipeline_last.step_s, 8.0 + 4.0 * 10.0 + 1.0, 1e-12, "four sends");
}

/* F 2 s with 1 s of exchange, B 4 s with 2 s: beside each other 3 s. */
static void
passes_beside_each_other_hide_their_exchanges(void)
{
    const sl_plan plan = sl_pipeline_plan(SL_SCHEDULE_DUALPIPE, 2, 1);

    sl_pipeline_set_costs(&plan, 2.0, 2.0, 2.0);
    for (uint32_t i = 0; i < 4; i++) {
        sl_pipeline_costs[i].forward_exchange_s = 1.0;
        sl_pipeline_costs[i].backward_exchange_s = 2.0;
    }
    sl_pipeline_step_s(&plan, 4);
    /* F0 f2 F1 b2 f3&B0 b3 I1 W1 */
    const sl_event forward = sl_pipeline_event(&sl_pipeline_last, 4);
    const sl_event backward = sl_pipeline_event(&sl_pipeline_last, 5);
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
        sl_pipeline_costs[i].backward_exchange_s = 3.0;
    sl_pipeline_step_s(&plan, 4);
    sl_expect_near(sl_pipeline_last.end_s[4] - sl_pipeline_last.start_s[4], 4.0, 1e-12,
                   "exchanges are the longer");
}

static void
data_parallel_work_goes_before_and_after(void)
{
    const sl_plan plan = sl_pipeline_plan(SL_SCHEDULE_1F1B, 2, 1);
    const double optimizer_s[] = {0.25, 0.5};
    sl_pipeline pipeline = sl_pipeline_of(&plan, 1);

    sl_pipeline_set_costs(&plan, 1.0, 1.0, 1.0);
    sl_pipeline_costs[0].gather_s = 0.5;
    sl_pipeline_costs[1].gather_s = 4.0;
    sl_pipeline_costs[1].reduce_s = 3.0;
    pipeline.optimizer_s = optimizer_s;
    CU_ASSERT_TRUE(sl_pipeline_run_once(&pipeline));
    /* The second rank waits for its parameters until 4; backwards end at 7 and 9. */
    CU_ASSERT_EQUAL(sl_pipeline_last.ranks[1].begin_s, 4.0);
    CU_ASSERT_EQUAL(sl_pipeline_last.ranks[0].end_s, 9.0);
    sl_expect_near(sl_pipeline_last.step_s, 7.0 + 3.0 + 0.5, 1e-12, "reduction, then optimizer");
    pipeline.barrier = true;
    CU_ASSERT_TRUE(sl_pipeline_run_once(&pipeline));
    sl_expect_near(sl_pipeline_last.end_s[sl_pipeline_last.task_count - 3], 10.0 + 0.25, 1e-12,
                   "the first waits for both");
    /* Without passes of its own the second reduces from 4 to 7. */
    const double slowness[] = {1.0, 2.0};
    pipeline.slowness = slowness;
    sl_pipeline_costs[1].work = (sl_work_seconds){0};
    CU_ASSERT_TRUE(sl_pipeline_run_once(&pipeline));
    sl_expect_near(sl_pipeline_last.step_s, 7.0 + 2.0 * 0.5, 1e-12,
                   "a straggler's optimizer takes longer");
}

/* One micro-batch: the first rank waits from 1 to 4 for the gradient that its own come from. */
static void
nothing_is_reduced_before_the_last_backward_begins(void)
{
    const sl_plan plan = sl_pipeline_plan(SL_SCHEDULE_1F1B, 2, 1);
    const sl_pipeline pipeline = sl_pipeline_of(&plan, 1);
    uint32_t reductions = 0;

    sl_pipeline_set_costs(&plan, 1.0, 1.0, 1.0);
    sl_pipeline_costs[0].reduce_beside_s = 3.0;
    CU_ASSERT_TRUE(sl_pipeline_run_once(&pipeline));
    for (uint32_t task = 0; task < sl_pipeline_last.task_count; task++) {
        const sl_event event = sl_pipeline_event(&sl_pipeline_last, task);
        if (event.kind != SL_SPAN_REDUCE)
            continue;
        reductions++;
        CU_ASSERT_EQUAL(event.start_s, 4.0);
    }
    CU_ASSERT_EQUAL(reductions, 1);
    CU_ASSERT_EQUAL(sl_pipeline_last.step_s, 7.0);
}

/* The last layers of the first pass need the last parameters: 0.5 s of them before it, 3 s beside
 * it. */
static void
the_first_pass_makes_nothing_before_all_parameters_are_there(void)
{
    const sl_plan plan = sl_pipeline_plan(SL_SCHEDULE_1F1B, 2, 1);
    const sl_pipeline pipeline = sl_pipeline_of(&plan, 2);

    for (uint32_t sends = 0; sends < 2; sends++) {
        sl_pipeline_set_costs(&plan, 1.0, 1.0, 1.0);
        sl_pipeline_costs[0].gather_s = 0.5;
        sl_pipeline_costs[0].gather_beside_s = 3.0;
        sl_pipeline_costs[0].send_s = sends * 0.25;
        sl_pipeline_costs[0].send_scale_up = true;
        CU_ASSERT_TRUE(sl_pipeline_run_once(&pipeline));
        sl_expect_near(sl_pipeline_last.ranks[1].begin_s, 3.5 + sends * 0.25, 1e-12,
                       "what it makes goes on then");
    }
}

/* Chunks 0 and 2 on the first rank; the reduction of the second chunk begins under the first's last
 * backwards, or not. */
static void
reductions_of_chunks_hide_under_later_passes(void)
{
    const sl_plan plan = sl_pipeline_plan(SL_SCHEDULE_INTERLEAVED_1F1B, 2, 2);
    sl_pipeline pipeline = sl_pipeline_of(&plan, 2);

    sl_pipeline_set_costs(&plan, 1.0, 1.0, 1.0);
    const double bare_s = sl_pipeline_step_s(&plan, 2);
    sl_pipeline_costs[1].reduce_s = 2.0;
    CU_ASSERT_TRUE(sl_pipeline_run_once(&pipeline));
    sl_expect_near(sl_pipeline_last.step_s, bare_s, 1e-12, "hidden");
    pipeline.reduces_last = true;
    CU_ASSERT_TRUE(sl_pipeline_run_once(&pipeline));
    sl_expect_near(sl_pipeline_last.step_s, bare_s + 2.0, 1e-12, "after all passes");
    sl_pipeline_costs[1].reduce_s = 0.0;
    sl_pipeline_costs[1].gather_s = 1.5;
    CU_ASSERT_TRUE(sl_pipeline_run_once(&pipeline));
    sl_expect_near(sl_pipeline_last.step_s, bare_s, 1e-12, "there before its first forward");
    pipeline.gathers_first = true;
    CU_ASSERT_TRUE(sl_pipeline_run_once(&pipeline));
    sl_expect_near(sl_pipeline_last.step_s, bare_s + 1.5, 1e-12, "before all passes");
}

/* Two stages, two micro-batches, F = B = 2 s, sends of 1 s. What the second rank still gathers
 * while the first send comes in has the same links, or others. */
static void
sends_share_links_with_gathers_and_reductions(void)
{
    const sl_plan plan = sl_pipeline_plan(SL_SCHEDULE_1F1B, 2, 1);
    sl_pipeline pipeline = sl_pipeline_of(&plan, 2);

    sl_pipeline_set_costs(&plan, 2.0, 1.0, 1.0);
    sl_pipeline_costs[0].send_s = 1.0;
    sl_pipeline_costs[1].gather_s = 2.5;
    CU_ASSERT_TRUE(sl_pipeline_run_once(&pipeline));
    /* Half of the send beside the gather, which ends at 3: sent by 3.5. */
    sl_expect_near(sl_pipeline_last.ranks[1].begin_s, 3.5, 1e-12, "the same links");
    pipeline.data_scale_up = true;
    CU_ASSERT_TRUE(sl_pipeline_run_once(&pipeline));
    sl_expect_near(sl_pipeline_last.ranks[1].begin_s, 3.0, 1e-12, "others");

    /* The last gradient goes to the first rank while the second reduces its own. */
    pipeline.data_scale_up = false;
    sl_pipeline_costs[1].gather_s = 0.0;
    sl_pipeline_costs[1].reduce_s = 10.0;
    const double alone_s = sl_pipeline_costs[1].reduce_s;
    CU_ASSERT_TRUE(sl_pipeline_run_once(&pipeline));
    /* Passes of the second rank end at 3 + 4 * 2; its send takes 2 s, its reduction a second
     * more. */
    sl_expect_near(sl_pipeline_last.step_s, 11.0 + alone_s + 1.0, 1e-12, "both take longer");
    sl_expect_near(sl_pipeline_last.ranks[0].end_s, 13.0 + 2.0, 1e-12, "the last backward waits");
}

static void
micro_batches_may_differ_in_size(void)
{
    const sl_plan plan = sl_pipeline_plan(SL_SCHEDULE_NAIVE, 2, 1);
    const double sizes[] = {1.0, 0.5, 2.0};
    sl_pipeline pipeline = sl_pipeline_of(&plan, 3);

    sl_pipeline_set_costs(&plan, 1.0, 1.0, 1.0);
    sl_pipeline_costs[0].send_s = 0.5;
    pipeline.sizes = sizes;
    CU_ASSERT_TRUE(sl_pipeline_run_once(&pipeline));
    sl_expect_near(sl_pipeline_last.step_s, 3.5 * (2.0 * 3.0 + 2.0 * 0.5), 1e-12, "in proportion");
}

static void
events_say_who_what_and_when(void)
{
    const sl_plan plan = sl_pipeline_plan(SL_SCHEDULE_1F1B, 2, 1);
    uint32_t found[SL_SPAN_KINDS] = {0};
    const sl_pipeline pipeline = sl_pipeline_of(&plan, 2);

    sl_pipeline_set_costs(&plan, 1.0, 1.0, 1.0);
    sl_pipeline_costs[0].send_s = 0.5;
    sl_pipeline_costs[0].send_scale_up = true;
    sl_pipeline_costs[0].gather_s = sl_pipeline_costs[1].gather_s = 0.25;
    CU_ASSERT_TRUE(sl_pipeline_run_once(&pipeline));
    for (uint32_t task = 0; task < sl_pipeline_last.task_count; task++) {
        const sl_event e = sl_pipeline_event(&sl_pipeline_last, task);
        CU_ASSERT_TRUE(e.rank < 2 && e.microbatch < 2 && e.chunk == 0 && e.start_s <= e.end_s);
        found[e.kind]++;
        if (e.kind == SL_SPAN_SEND_OUTPUT || e.kind == SL_SPAN_SEND_GRADIENT)
            CU_ASSERT_TRUE(e.stream == SL_STREAM_SCALE_UP &&
                           e.rank == (e.kind == SL_SPAN_SEND_GRADIENT));
        if (e.kind == SL_SPAN_GATHER)
            CU_ASSERT_EQUAL(e.stream, SL_STREAM_NETWORK);
    }
    CU_ASSERT_EQUAL(found[SL_WORK_FORWARD], 4);
    CU_ASSERT_EQUAL(found[SL_WORK_BACKWARD], 4);
    CU_ASSERT_EQUAL(found[SL_SPAN_SEND_OUTPUT], 2);
    CU_ASSERT_EQUAL(found[SL_SPAN_SEND_GRADIENT], 2);
    CU_ASSERT_EQUAL(found[SL_SPAN_GATHER], 2);
    CU_ASSERT_EQUAL(sl_pipeline_last.task_count, 14);
}

/* Each send feeds one pass of the same micro-batch and direction on the rank of the chunk after it,
 * or before it, as the chunks of the schedule are numbered; also where a rank waits for its own. */
static void
what_is_sent_is_taken_by_the_pass_that_needs_it(void)
{
    static uint32_t takers[4096];

    for (uint32_t schedule = 0; schedule < SL_SCHEDULE_COUNT; schedule++)
        for (uint32_t beside = 0; beside < 2; beside++) {
            const bool interleaved = schedule == SL_SCHEDULE_INTERLEAVED_1F1B;
            const uint32_t v = interleaved || schedule == SL_SCHEDULE_ZB_V ? 2 : 1;
            const sl_plan plan = sl_pipeline_plan((sl_schedule)schedule, 4, v);
            sl_pipeline pipeline = sl_pipeline_of(&plan, 8);
            uint32_t sends = 0;
            sl_pipeline_set_costs(&plan, 1.0, 1.0, 1.0);
            for (uint32_t i = 0; i < 8; i++)
                sl_pipeline_costs[i].send_s = 0.3;
            pipeline.overlaps_sends = beside == 1;
            CU_ASSERT_TRUE_FATAL(sl_pipeline_run_once(&pipeline));
            CU_ASSERT_FATAL(sl_pipeline_last.task_count <= 4096);
            memset(takers, 0xff, sizeof takers);
            sl_pipeline_takers(&sl_pipeline_last, takers);
            for (uint32_t task = 0; task < sl_pipeline_last.task_count; task++) {
                const sl_event sent = sl_pipeline_event(&sl_pipeline_last, task);
                const bool output = sent.kind == SL_SPAN_SEND_OUTPUT;
                CU_ASSERT_EQUAL(takers[task] != SL_SPAN_NONE,
                                output || sent.kind == SL_SPAN_SEND_GRADIENT);
                if (takers[task] == SL_SPAN_NONE)
                    continue;
                const sl_event taken = sl_pipeline_event(&sl_pipeline_last, takers[task]);
                const uint32_t from = sl_schedule_chunk(&plan, sent.rank, sent.chunk);
                CU_ASSERT_EQUAL(sl_schedule_chunk(&plan, taken.rank, taken.chunk),
                                output ? from + 1 : from - 1);
                CU_ASSERT_EQUAL(taken.microbatch, sent.microbatch);
                CU_ASSERT_EQUAL(taken.kind == SL_SPAN_FORWARD, output);
                CU_ASSERT_NOT_EQUAL(taken.kind, SL_SPAN_BACKWARD_WEIGHT);
                CU_ASSERT_TRUE(taken.start_s >= sent.end_s);
                sends++;
            }
            CU_ASSERT_EQUAL(sends, 2 * 8 * (sl_schedule_chunks(&plan) - 1) -
                                       (schedule == SL_SCHEDULE_ZB_V ? 2 * 8 : 0));
        }
}

/* ZB-H1 on two ranks, 3 micro-batches of 10 bytes, 4 of which weights wait for. */
static void
the_staircase_rises_with_forwards_and_falls_in_two_parts(void)
{
    const sl_plan plan = sl_pipeline_plan(SL_SCHEDULE_ZB_H1, 2, 1);
    double at_s[9];
    uint64_t bytes[9];

    sl_pipeline_set_costs(&plan, 1.0, 1.0, 1.0);
    for (uint32_t i = 0; i < 2; i++) {
        sl_pipeline_costs[i].kept_bytes = 10;
        sl_pipeline_costs[i].deferred_bytes = 4;
    }
    sl_pipeline_step_s(&plan, 3);
    /* F0 I0 F1 I1 W0 F2 I2 W1 W2 */
    static const uint64_t second[] = {10, 4, 14, 8, 4, 14, 8, 4, 0};
    CU_ASSERT_EQUAL_FATAL(sl_pipeline_staircase(&sl_pipeline_last, 1, at_s, bytes), 9);
    for (uint32_t i = 0; i < 9; i++) {
        CU_ASSERT_EQUAL(bytes[i], second[i]);
        CU_ASSERT_TRUE(i == 0 || at_s[i] >= at_s[i - 1]);
    }
    CU_ASSERT_EQUAL(at_s[0], 1.0);
    CU_ASSERT_EQUAL(at_s[1], 3.0);
    CU_ASSERT_EQUAL(sl_pipeline_last.ranks[1].peak_bytes, 14);
    CU_ASSERT_EQUAL(sl_pipeline_last.ranks[0].peak_bytes, 20);
}

static void
nothing_takes_no_time_and_too_much_says_so(void)
{
    const sl_plan one = sl_pipeline_plan(SL_SCHEDULE_1F1B, 1, 1);
    const sl_plan wide = sl_pipeline_plan(SL_SCHEDULE_INTERLEAVED_1F1B, 128, 32);

    sl_pipeline_set_costs(&one, 0.0, 0.0, 0.0);
    CU_ASSERT_EQUAL(sl_pipeline_step_s(&one, 1), 0.0);
    CU_ASSERT_EQUAL(sl_pipeline_last.task_count, 2);
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
    const sl_plan plan = sl_pipeline_plan(SL_SCHEDULE_INTERLEAVED_1F1B, SL_PIPELINE_MAX, 8);
    sl_pipeline pipeline = sl_pipeline_of(&plan, SL_PIPELINE_MAX);

    for (uint32_t i = 0; i < SL_PIPELINE_MAX * 8; i++)
        wide[i].work = (sl_work_seconds){1.0, 1.0, 1.0};
    pipeline.chunks = wide;
    CU_ASSERT_TRUE_FATAL(sl_pipeline_run_once(&pipeline));
    sl_expect_near(sl_pipeline_last.step_s, (128.0 * 8.0 + 127.0) * 3.0, 1e-12,
                   "(v m + p - 1)(F + B)");
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(no_pass_starts_before_what_it_needs_has_come),
        SL_CASE(a_straggler_slows_every_micro_batch),
        SL_CASE(sends_take_time_and_if_not_hidden_that_of_the_rank),
        SL_CASE(a_rank_sends_one_after_the_other),
        SL_CASE(the_turn_of_the_v_sends_nothing),
        SL_CASE(passes_beside_each_other_hide_their_exchanges),
        SL_CASE(data_parallel_work_goes_before_and_after),
        SL_CASE(nothing_is_reduced_before_the_last_backward_begins),
        SL_CASE(the_first_pass_makes_nothing_before_all_parameters_are_there),
        SL_CASE(reductions_of_chunks_hide_under_later_passes),
        SL_CASE(sends_share_links_with_gathers_and_reductions),
        SL_CASE(micro_batches_may_differ_in_size),
        SL_CASE(events_say_who_what_and_when),
        SL_CASE(what_is_sent_is_taken_by_the_pass_that_needs_it),
        SL_CASE(the_staircase_rises_with_forwards_and_falls_in_two_parts),
        SL_CASE(nothing_takes_no_time_and_too_much_says_so),
        SL_CASE(the_widest_pipeline_runs),
    };

    return sl_run_cases(argc, argv, "pipeline", cases, sizeof cases / sizeof cases[0]);
}
