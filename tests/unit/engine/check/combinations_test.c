/* Questions drawn over every field: what passes the check has an answer that hangs together,
 * whatever goes with whatever. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drawn_question.h"
#include "engine/check/check.h"
#include "engine_fixture.h"
#include "harness.h"
#include "shardline/sharding.h"
#include "shardline/timeline.h"

enum { DRAWS = 3000, TIMELINE_DRAWS = 13200, ANSWERED_MIN = 600 };

static sl_drawn drawn;
static sl_estimate answer, again, scratch;
static uint64_t number; /* of the draw at hand, for whoever reads a failure */

static void
expect(bool holds, const char *claim)
{
    if (!holds)
        printf("  draw %llu: %s\n", (unsigned long long)number, claim);
    CU_ASSERT_TRUE(holds);
}

static const sl_rank_memory *
fullest(const sl_estimate *e)
{
    return &e->memory.ranks[e->memory.binding];
}

static void
expect_terms(const sl_rank_memory *rank)
{
    double sum = 0.0;

    for (uint32_t i = 0; i < rank->term_count; i++) {
        const sl_term *term = &rank->terms[i];
        sum += term->value;
        expect(isfinite(term->value) && term->value > 0.0, "a memory term is a number of bytes");
        for (uint32_t k = 0; k < term->input_count; k++)
            expect(isfinite(term->inputs[k].value) && term->inputs[k].value >= 0.0,
                   term->inputs[k].name);
    }
    expect(sum == (double)rank->device_total_bytes, "memory terms sum to the device's total");
    expect(rank->peak_allocated_bytes <= rank->peak_reserved_bytes &&
               rank->peak_reserved_bytes < rank->device_total_bytes,
           "allocated within reserved within the device's total");
}

static void
expect_memory(const sl_question *q, const sl_estimate *e)
{
    const sl_memory *m = &e->memory;
    const uint64_t total = fullest(e)->device_total_bytes;
    uint64_t ranks = 0;

    for (uint32_t i = 0; i < m->rank_count; i++) {
        expect_terms(&m->ranks[i]);
        expect(m->ranks[i].device_total_bytes <= total, "the binding rank is the fullest");
        ranks += m->ranks[i].count;
    }
    expect(ranks == sl_plan_world(&q->plan), "every rank is in one group");
    expect(m->headroom_bytes == (int64_t)m->usable_bytes - (int64_t)total,
           "headroom is what is usable less the fullest rank");
    expect(e->fits == (m->headroom_bytes >= 0), "what has headroom fits");
    expect(e->figures[SL_TERM_DEVICE_TOTAL - SL_TERM_USABLE].value == (double)total,
           "figures are the fullest rank's");
    expect(e->reserved_low_bytes <= fullest(e)->peak_reserved_bytes &&
               fullest(e)->peak_reserved_bytes <= e->reserved_high_bytes,
           "the interval holds what is reserved");
}

/* Only adapters train, so that only they have gradients and states. */
static void
expect_frozen(const sl_estimate *e)
{
    for (uint32_t i = 0; i < e->memory.rank_count; i++) {
        const sl_rank_memory *rank = &e->memory.ranks[i];
        expect(sl_fixture_bytes(rank, SL_TERM_GRADIENTS) +
                       sl_fixture_bytes(rank, SL_TERM_UNSHARDED_GRADIENTS) +
                       sl_fixture_bytes(rank, SL_TERM_MASTER_WEIGHTS) +
                       sl_fixture_bytes(rank, SL_TERM_OPTIMIZER_STATES) ==
                   0.0,
               "what is frozen has no gradient");
        expect(sl_fixture_bytes(rank, SL_TERM_GRADIENT_BUCKETS) <=
                   sl_fixture_bytes(rank, SL_TERM_ADAPTERS),
               "buckets hold gradients of what trains");
    }
}

static double
input_of(const sl_term *term, const char *name)
{
    return sl_term_find(term, name) < term->input_count ? sl_term_input(term, name) : (double)NAN;
}

static bool
near_to(double value, double wanted)
{
    return fabs(value - wanted) <= 1e-9 * fabs(wanted) + 1e-15;
}

/* Formulas of a row with their inputs in place give its figures. */
static void
expect_row(const sl_time *t, const sl_communication *row)
{
    sl_term bytes, seconds, exposed;

    sl_communication_explain(t, row, SL_SENT_BYTES, &bytes);
    sl_communication_explain(t, row, SL_SENT_SECONDS, &seconds);
    sl_communication_explain(t, row, SL_SENT_EXPOSED, &exposed);
    const double sent = input_of(&seconds, "calls") * input_of(&seconds, "bytes_per_call");
    expect(near_to(input_of(&bytes, "calls") * input_of(&bytes, "bytes_per_call"),
                   row->bytes_per_step),
           "calls make the bytes");
    expect(near_to(sent / input_of(&seconds, "bytes_per_s"), row->seconds), "and the seconds");
    expect(row->nodes * row->members_per_node >= row->ranks - 1e-9,
           "a group has its ranks on its nodes");
    expect(near_to(exposed.value, row->exposed_s), "what explains the exposed part is of it");
    const double seconds_s = input_of(&exposed, "seconds");
    const double hidden_s = input_of(&exposed, "hidden_s");
    if (exposed.id == SL_TERM_GRADIENTS_EXPOSED)
        expect(near_to(input_of(&exposed, "gradient_exposed_s") * seconds_s /
                           input_of(&exposed, "gradient_s"),
                       row->exposed_s),
               "rows share what is exposed of gradients");
    else if (exposed.id == SL_TERM_PARAMETERS_EXPOSED)
        expect(near_to(seconds_s + input_of(&exposed, "behind_s") - hidden_s, row->exposed_s),
               "parameters wait as long as they say");
    else if (exposed.id == SL_TERM_TENSOR_EXPOSED || exposed.id == SL_TERM_ALL_EXPOSED)
        expect(fabs(seconds_s - hidden_s - row->exposed_s) <= 1e-9 * row->seconds,
               "what is not hidden is exposed");
}

static void
expect_time(const sl_estimate *e)
{
    const sl_time *t = &e->time;
    double sum_s = 0.0;
    double exposed_s = 0.0;

    for (uint32_t i = 0; i < SL_TIME_TERMS; i++) {
        expect(isfinite(t->terms[i].value) && t->terms[i].value >= 0.0,
               "a term of the step is a time");
        sum_s += t->terms[i].value;
    }
    for (uint32_t i = 0; i < t->communication_count; i++) {
        exposed_s += t->communication[i].exposed_s;
        expect_row(t, &t->communication[i]);
    }
    expect(fabs(sum_s - t->step_s) <= 1e-9 * t->step_s, "the terms sum to the step");
    expect(e->step_low_s <= t->step_s && t->step_s <= e->step_high_s,
           "the interval holds the step");
    expect(t->bubble_ratio >= -1e-9 && t->bubble_ratio < 1.0, "the idle share is one");
    expect(fabs(exposed_s - t->exposed_communication_s) <= 1e-9 * t->step_s,
           "rows sum to what is exposed");
    expect(sl_fixture_seconds(e, SL_TERM_RECOMPUTE) <=
               sl_fixture_seconds(e, SL_TERM_FORWARD) * (1.0 + 1e-9),
           "no more runs again than ran");
    /* Forward and both gradients; of a frozen base that of its inputs alone. */
    const double passes = e->workload.adapter.method != SL_ADAPTER_NONE ? 2.0 : 3.0;
    /* MLPs in tiles run again in backward whether or not their block was rebuilt before. */
    const double forwards = e->workload.mlp_tiles > 0 ? 2.0 : 1.0;
    expect(e->throughput.hfu >= e->throughput.mfu_full &&
               e->throughput.hfu <= e->throughput.mfu_full * (1.0 + forwards / passes + 1e-9),
           "recomputation is at most one more forward, and one of tiles");
    expect(t->ideal_s <= t->step_s, "the ideal step is no longer than the step");
    expect(e->throughput.mfu_causal <= 1.0, "no device is faster than its peak");
    for (uint32_t i = 0; i < SL_FIGURES; i++)
        expect(isfinite(e->figures[i].value), "a figure is a number");
}

static bool
ask(const sl_question *q, sl_estimate *out)
{
    sl_errors err = {0};
    const bool answered =
        sl_question_check(q, &err) == SL_OK && sl_estimate_answer(q, &scratch, out, &err) == SL_OK;

    expect(answered == (err.count == 0), "a refusal says why");
    return answered;
}

static double
states_of(const sl_rank_memory *rank)
{
    return sl_fixture_bytes(rank, SL_TERM_PARAMETERS) +
           sl_fixture_bytes(rank, SL_TERM_MASTER_WEIGHTS) +
           sl_fixture_bytes(rank, SL_TERM_OPTIMIZER_STATES) +
           sl_fixture_bytes(rank, SL_TERM_ADAPTERS);
}

/* What is no split backward keeps no operands beside checkpoints. */
static bool
is_split(const sl_plan *plan)
{
    return plan->schedule >= SL_SCHEDULE_ZB_H1;
}

static void
expect_more_sharding_holds_less(sl_question q)
{
    const bool alone = q.plan.data == 1 && q.plan.context == 1 && q.model->experts == 0;
    const double states = states_of(&answer.memory.ranks[0]);
    /* ZeRO clones its part of what trains in fp32, too. */
    const bool clones = q.plan.zero_stage == 0 &&
                        q.workload.framework == SL_FRAMEWORK_DEEPSPEED &&
                        q.workload.precision == SL_PRECISION_FP32;

    q.plan.zero_stage++;
    if (q.plan.zero_stage > 3 || clones || !ask(&q, &again))
        return;
    expect(states_of(&again.memory.ranks[0]) <= states, "more sharding holds no more");
    if (alone)
        expect(states_of(&again.memory.ranks[0]) == states, "one rank shards nothing");
}

/* What follows compares totals: terms are rounded up, each on its own. */
static void
expect_recomputation_frees(sl_question q)
{
    q.workload.recompute = SL_RECOMPUTE_NONE;
    q.workload.recompute_method = SL_RECOMPUTE_EACH;
    if (is_split(&q.plan) || q.software->traced_sharding || q.workload.offload.activations ||
        !ask(&q, &again))
        return;
    expect(fullest(&answer)->device_total_bytes <=
               fullest(&again)->device_total_bytes + SL_RANK_TERMS_MAX,
           "recomputation frees memory");
    expect(answer.throughput.hardware_flops >= again.throughput.hardware_flops,
           "and costs products");
}

static void
expect_offload_frees(sl_question q)
{
    const sl_offload none = {0};

    /* With parameters in the host's memory, FSDP 1 has one of them alone. */
    q.plan.gradient_sync = sl_plan_gradient_sync(&q.workload, &q.plan);
    q.workload.offload = none;
    if (!ask(&q, &again))
        return;
    expect(fullest(&answer)->device_total_bytes <=
               fullest(&again)->device_total_bytes + SL_RANK_TERMS_MAX,
           "what goes to the host leaves the device");
    expect(again.memory.host_per_node.bytes <= answer.memory.host_per_node.bytes &&
               again.memory.nvme_bytes_per_node == 0,
           "and is there");
}

static void
expect_more_work_keeps_more(sl_question q)
{
    const uint64_t before = fullest(&answer)->device_total_bytes;
    sl_question longer = q;

    longer.workload.sequence_length *= 2;
    if (ask(&longer, &again))
        expect(fullest(&again)->device_total_bytes + SL_RANK_TERMS_MAX >= before,
               "longer sequences keep no less");
    q.workload.micro_batch *= 2;
    q.workload.global_batch *= 2;
    if (ask(&q, &again))
        expect(fullest(&again)->device_total_bytes + SL_RANK_TERMS_MAX >= before,
               "larger batches keep no less");
}

static void
expect_the_same_again(const sl_question *q)
{
    expect(ask(q, &again), "what was answered is answered again");
    expect(answer.time.step_s == again.time.step_s &&
               fullest(&answer)->device_total_bytes == fullest(&again)->device_total_bytes,
           "the same question has the same answer");
}

static void
expect_fixes(sl_question q)
{
    static sl_fix fixes[SL_FIXES_MAX];
    const uint32_t count = answer.fix_count;
    const sl_cluster own = drawn.cluster;

    memcpy(fixes, answer.fixes, sizeof fixes);
    for (uint32_t i = 0; i < count; i++) {
        drawn.cluster.nodes = fixes[i].nodes;
        q.workload = fixes[i].workload;
        q.plan = fixes[i].plan;
        expect(ask(&q, &again) && again.time.step_s == fixes[i].step_s &&
                   fullest(&again)->device_total_bytes == fixes[i].device_total_bytes,
               "a fix is what its own question answers");
    }
    drawn.cluster = own;
}

/* Units are for ranks of their stage, and cut evenly; the walk over what a rank holds comes to an
 * end. */
static void
expect_map(const sl_question *q)
{
    sl_errors err = {0};
    sl_flat_walk units = {0};
    sl_flat_unit unit;
    sl_tensor_walk tensors = {0};
    sl_sharded_tensor tensor;

    if (sl_sharding_check(q, &err) != SL_OK)
        return;
    const sl_sharding_mode mode = sl_sharding_mode_of(q);
    const sl_sharding map = sl_sharding_of(q, mode);
    while (mode.kind == SL_SHARDING_FLAT && sl_sharding_next_flat(&map, &units, &unit))
        expect(unit.elements > 0 && unit.elements <= unit.padded_elements &&
                   unit.length * unit.degree == unit.padded_elements &&
                   unit.stage < q->plan.pipeline,
               "a unit is cut evenly");
    while (sl_sharding_next(&map, &tensors, &tensor))
        expect(tensor.stage < q->plan.pipeline, "a tensor is on a stage");
}

static void
what_is_accepted_has_an_answer_that_hangs_together(void)
{
    uint32_t answered = 0;

    sl_draw_models();
    for (number = 0; number < DRAWS; number++) {
        sl_draw_question(number, &drawn);
        sl_question q = drawn.question;
        if (!ask(&q, &answer))
            continue;
        answered++;
        expect_memory(&q, &answer);
        expect_time(&answer);
        if (q.workload.adapter.method != SL_ADAPTER_NONE)
            expect_frozen(&answer);
        expect_the_same_again(&q);
        /* With what was evaluated in place of what nobody said. */
        q.workload = answer.workload;
        q.plan = answer.plan;
        q.unknown = 0;
        expect_the_same_again(&q);
        expect_more_sharding_holds_less(q);
        expect_more_work_keeps_more(q);
        if (q.workload.recompute != SL_RECOMPUTE_NONE)
            expect_recomputation_frees(q);
        expect_offload_frees(q);
        expect_map(&q);
        if (answered % 10 == 0)
            expect_fixes(q);
    }
    printf("  %u of %d answered\n", answered, DRAWS);
    CU_ASSERT_TRUE(answered >= ANSWERED_MIN);
    sl_draw_clear();
}

/* The fields of one plan that a search changes, put into another question. */
static sl_question
cut_like(const sl_question *q, const sl_question *other)
{
    sl_question cut = *q;

    cut.plan.pipeline = other->plan.pipeline;
    cut.plan.virtual_pipeline = other->plan.virtual_pipeline;
    cut.plan.layout_chunks = other->plan.layout_chunks;
    memcpy(cut.plan.layout, other->plan.layout, sizeof cut.plan.layout);
    cut.plan.schedule = other->plan.schedule;
    cut.plan.data = other->plan.data;
    cut.plan.zero_stage = other->plan.zero_stage;
    cut.plan.shard_group = other->plan.shard_group;
    cut.plan.reshard = other->plan.reshard;
    cut.plan.host_run_count = other->plan.host_run_count;
    memcpy(cut.plan.host_runs, other->plan.host_runs, sizeof cut.plan.host_runs);
    cut.workload.recompute = other->workload.recompute;
    cut.workload.recompute_method = other->workload.recompute_method;
    cut.workload.recompute_layers = other->workload.recompute_layers;
    cut.workload.recompute_modules = other->workload.recompute_modules;
    cut.workload.offload = other->workload.offload;
    return cut;
}

/* What the whole check says of a plan cut otherwise, its part says too, fault by fault. */
static void
cutting_otherwise_breaks_no_rule_that_is_left_out(void)
{
    enum { CUTS = 24 };
    static sl_drawn other;
    static sl_errors whole, part;
    uint32_t passed = 0, compared = 0;

    sl_draw_models();
    for (number = 0; number < DRAWS; number++) {
        sl_draw_question(number, &drawn);
        whole.count = whole.dropped = 0;
        if (sl_question_check(&drawn.question, &whole) != SL_OK)
            continue;
        for (uint64_t i = 0; i < CUTS; i++) {
            sl_draw_question(DRAWS + number * CUTS + i, &other);
            sl_question cut = cut_like(&drawn.question, &other.question);
            if (i % 2 == 0) { /* most others have too many ranks */
                cut.plan.data = drawn.question.plan.data;
                cut.plan.pipeline = drawn.question.plan.pipeline;
            }
            whole.count = whole.dropped = part.count = part.dropped = 0;
            const sl_code code = sl_question_check(&cut, &whole);
            expect(code == sl_question_check_cut(&cut, &part), "the same code");
            expect(whole.count == part.count && whole.dropped == part.dropped, "as many faults");
            for (uint32_t k = 0; k < whole.count && k < part.count; k++)
                expect(strcmp(whole.list[k].message, part.list[k].message) == 0, "the same fault");
            compared++;
            passed += code == SL_OK;
        }
    }
    printf("  %u of %u pass\n", passed, compared);
    CU_ASSERT_TRUE(passed >= compared / 50);
    sl_draw_clear();
}

/* Whether no rank of a pipeline is busy for much longer than the mean of all. */
static bool
is_balanced(const sl_estimate *e)
{
    static const double most = 1.05;
    const sl_term *bubble = &e->time.terms[SL_TERM_BUBBLE - SL_TERM_FORWARD];

    return e->plan.pipeline == 1 || e->plan.pipeline * sl_term_input(bubble, "slowest_busy_s") <=
                                        most * sl_term_input(bubble, "busy_sum_s");
}

/* The final figure of a plan beside the one that a search goes by: within 2 % on one stage and where
 * stages are balanced, within 5 % where they are not. Most drawn models are of few blocks on slow
 * links, where traffic is much of a step. */
static void
timelines_are_near_their_estimates(void)
{
    static const double near = 0.05, balanced = 0.02, coarse_mean = 0.003;
    uint32_t alone = 0, staged = 0, even = 0, staged_off = 0, said = 0;
    double coarse_sum = 0.0;

    sl_draw_models();
    for (number = 0; number < TIMELINE_DRAWS; number++) {
        static sl_timeline timeline;
        sl_errors err = {0};
        size_t bytes = 0;
        sl_draw_question(number, &drawn);
        if (!ask(&drawn.question, &answer) ||
            sl_timeline_size(&drawn.question, &answer, &bytes, &err) != SL_OK)
            continue;
        void *space = malloc(bytes);
        CU_ASSERT_PTR_NOT_NULL_FATAL(space);
        sl_timeline_simulate(&drawn.question, &answer, NULL, NULL, space, &timeline);
        const double off = fabs(log(timeline.step_s / answer.time.step_s));
        const bool coarse = sl_fixture_has_note(&answer, "closed_form_coarse");
        const bool pipeline = answer.plan.pipeline > 1;
        expect(off <= (is_balanced(&answer) ? balanced : near),
               "a simulated step is near its estimate");
        expect(!coarse || pipeline, "one stage is not said to be coarse");
        alone += !pipeline;
        staged += pipeline;
        even += pipeline && is_balanced(&answer);
        staged_off += pipeline && off > balanced;
        said += coarse;
        coarse_sum += coarse ? off : 0.0;
        free(space);
    }
    printf("  %u plans on one stage and %u of %u pipelines are balanced; %u are off by more than "
           "%.0f %%; %u say that they may be coarse: those by %.2f %%\n",
           alone, even, staged, staged_off, 100.0 * balanced, said, 100.0 * coarse_sum / said);
    CU_ASSERT_TRUE(alone >= 2000 && even >= 80);
    CU_ASSERT_TRUE(300 * staged_off <= staged);
    CU_ASSERT_TRUE(24 * said <= staged);
    CU_ASSERT_TRUE(coarse_sum / said <= coarse_mean);
    sl_draw_clear();
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(what_is_accepted_has_an_answer_that_hangs_together),
        SL_CASE(cutting_otherwise_breaks_no_rule_that_is_left_out),
        SL_CASE(timelines_are_near_their_estimates),
    };

    return sl_run_cases(argc, argv, "combinations", cases, sizeof cases / sizeof cases[0]);
}
