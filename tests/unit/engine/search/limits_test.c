/* How far plans go: every limit is the one that trying all values finds, and both its sides are
 * what an estimate of their own says. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drawn_question.h"
#include "engine/model/grown.h"
#include "engine/schedule/schedule.h"
#include "engine/search/limits.h"
#include "engine_fixture.h"
#include "harness.h"

enum { DRAWS = 300, MEASURED_MIN = 30 };

static sl_model space;
static sl_estimate answer, scratch;
static sl_limits limits;
static sl_cluster cluster;
static sl_software software;
static sl_drawn drawn;
static uint64_t number; /* of the draw at hand, for whoever reads a failure */

static const sl_limit_bounds small = {
    .sequence_length = 1 << 16, .global_batch = 1 << 12, .layers = 2000, .nodes = 64};

static void
expect(bool holds, const char *claim)
{
    if (!holds)
        printf("  draw %llu: %s\n", (unsigned long long)number, claim);
    CU_ASSERT_TRUE(holds);
}

static sl_question
gpt_question(uint32_t nodes, uint64_t memory_bytes)
{
    const sl_dense_spec spec = sl_fixture_gpt(24, 2048, 16);

    cluster = sl_fixture_cluster(nodes);
    cluster.accelerator.memory_bytes = memory_bytes;
    software = sl_fixture_software();
    sl_question q = sl_fixture_question(sl_fixture_model(&spec), &cluster, &software);
    q.workload.global_batch = 256;
    q.plan.zero_stage = 1;
    return q;
}

/* The same with rotary positions, which no table ends. */
static sl_question
llama_question(uint64_t memory_bytes)
{
    sl_question q = sl_fixture_llama_question(2, &cluster, &software);

    cluster.accelerator.memory_bytes = memory_bytes;
    q.workload.global_batch = 128;
    q.plan.zero_stage = 1;
    return q;
}

static void
measure(const sl_question *q, const sl_limit_bounds *bounds)
{
    sl_errors err = {0};

    CU_ASSERT_EQUAL_FATAL(sl_question_check(q, &err), SL_OK);
    sl_limits_measure(q, bounds, &space, &scratch, &limits);
}

static bool
fits(const sl_question *q)
{
    sl_errors err = {0};

    return sl_question_check(q, &err) == SL_OK &&
           sl_estimate_answer(q, &scratch, &answer, &err) == SL_OK && answer.fits;
}

/* Both sides, asked as questions of their own. */
static void
expect_sides(const sl_question *q, const sl_limit *limit)
{
    sl_cluster other = *q->cluster;
    sl_question asked = *q;

    asked.cluster = &other;
    if (limit->has_value) {
        asked.workload = limit->value.workload;
        asked.plan = limit->value.plan;
        other.nodes = limit->value.nodes;
        expect(fits(&asked), "the value fits");
        expect(answer.memory.headroom_bytes == limit->value.headroom_bytes &&
                   answer.time.step_s == limit->value.step_s,
               "with the figures of its own estimate");
    }
    if (limit->has_next && limit->next.legal) {
        asked.workload = limit->next.workload;
        asked.plan = limit->next.plan;
        other.nodes = limit->next.nodes;
        expect(fits(&asked) == limit->next.fits, "the next does as it says");
    }
}

static void
a_micro_batch_is_the_largest_divisor_that_fits(void)
{
    for (uint64_t gib = 8; gib <= 48; gib += 8) {
        sl_question q = gpt_question(2, gib << 30);
        uint64_t most = 0;

        number = gib;
        measure(&q, &small);
        for (uint64_t b = 1; b <= 16; b++) {
            sl_question tried = q;
            tried.workload.micro_batch = b;
            if (fits(&tried))
                most = b;
        }
        const sl_limit *limit = &limits.of[SL_LIMIT_MICRO_BATCH];
        expect(limit->has_value == (most > 0) && (most == 0 || limit->value.value == most),
               "the largest that fits");
        expect(limit->method == SL_LIMIT_WALK, "found by a walk");
        if (most == 16) {
            expect(limit->end == SL_LIMIT_END_RULE, "no rule lets more in");
            sl_expect_text(limit->next.fault.rule, "not_divisible", "rule");
        }
    }
}

static void
a_growing_batch_has_no_divisor_to_stop_it(void)
{
    sl_question q = gpt_question(2, (uint64_t)40 << 30);
    uint64_t most = 0;

    measure(&q, &small);
    for (uint64_t b = 1; b <= 64; b++) {
        sl_question tried = q;
        tried.workload.micro_batch = b;
        tried.workload.global_batch = 256 * b;
        if (!fits(&tried))
            break;
        most = b;
    }
    const sl_limit *limit = &limits.of[SL_LIMIT_GROWN_BATCH];
    CU_ASSERT_EQUAL(limit->method, SL_LIMIT_BISECTION);
    if (most * 256 < small.global_batch) {
        CU_ASSERT_EQUAL(limit->value.value, most);
        CU_ASSERT_EQUAL(limit->end, SL_LIMIT_END_MEMORY);
        CU_ASSERT_EQUAL(limit->next.value, most + 1);
        CU_ASSERT_TRUE(limit->next.headroom_bytes < 0);
    } else {
        CU_ASSERT_EQUAL(limit->value.value, small.global_batch / 256);
    }
    CU_ASSERT_EQUAL(limit->value.workload.global_batch, 256 * limit->value.value);
}

static void
a_table_of_positions_ends_a_sequence(void)
{
    sl_question q = gpt_question(2, (uint64_t)80 << 30);

    measure(&q, &small);
    const sl_limit *limit = &limits.of[SL_LIMIT_SEQUENCE];
    CU_ASSERT_EQUAL(limit->step, 1024);
    CU_ASSERT_EQUAL(limit->value.value, 2048);
    CU_ASSERT_EQUAL(limit->end, SL_LIMIT_END_RULE);
    sl_expect_text(limit->next.fault.pointer, "/workload/sequence_length", "pointer");
}

static void
rotary_positions_end_with_memory_or_with_what_is_counted(void)
{
    sl_question q = llama_question((uint64_t)40 << 30);

    measure(&q, &small);
    const sl_limit *limit = &limits.of[SL_LIMIT_SEQUENCE];
    CU_ASSERT_EQUAL(limit->end, SL_LIMIT_END_MEMORY);
    CU_ASSERT_EQUAL(limit->next.value, limit->value.value + 1024);
    for (uint64_t s = 1024; s <= small.sequence_length; s += 1024) {
        sl_question tried = q;
        tried.workload.sequence_length = s;
        CU_ASSERT_EQUAL(fits(&tried), s <= limit->value.value);
    }

    const sl_limit_bounds tiny = {
        .sequence_length = 4096, .global_batch = 1 << 12, .layers = 20, .nodes = 2};
    measure(&q, &tiny);
    CU_ASSERT_EQUAL(limit->end, SL_LIMIT_END_BOUND);
    CU_ASSERT_EQUAL(limit->value.value, 4096);
    CU_ASSERT_EQUAL(limits.of[SL_LIMIT_LAYERS].end, SL_LIMIT_END_BOUND);
    CU_ASSERT_FALSE(limits.of[SL_LIMIT_LAYERS].has_next);
}

static void
a_length_that_no_thousand_divides_goes_by_its_cut(void)
{
    sl_question q = llama_question((uint64_t)40 << 30);

    q.workload.sequence_length = 1200;
    q.plan.tensor = 8;
    q.plan.data = 2;
    measure(&q, &small);
    CU_ASSERT_EQUAL(limits.of[SL_LIMIT_SEQUENCE].step, 16);
}

/* Trying every number of blocks, with models described so. */
static void
expect_most_layers(sl_dense_spec spec, uint32_t stages, uint32_t chunks)
{
    sl_question q = gpt_question(1, (uint64_t)16 << 30);
    uint32_t most = 0;

    q.model = sl_fixture_model(&spec);
    q.plan.pipeline = stages;
    q.plan.virtual_pipeline = chunks;
    q.plan.schedule = chunks > 1 ? SL_SCHEDULE_INTERLEAVED_1F1B : SL_SCHEDULE_1F1B;
    q.plan.data = 8 / stages;
    number = 100 * stages + chunks;
    measure(&q, &small);
    const sl_limit layers = limits.of[SL_LIMIT_LAYERS];
    for (spec.blocks = 1; spec.blocks <= 240; spec.blocks++) {
        q.model = sl_fixture_model(&spec);
        if (fits(&q))
            most = spec.blocks;
    }
    expect(layers.end == SL_LIMIT_END_MEMORY && layers.value.value == most,
           "the most blocks that fit");
    spec.blocks = most;
    q.model = sl_fixture_model(&spec);
    expect(fits(&q) && answer.memory.headroom_bytes == layers.value.headroom_bytes,
           "with the bytes of a model described so");
}

static void
layers_are_the_most_that_fit_on_every_cut(void)
{
    sl_dense_spec spec = sl_fixture_gpt(24, 2048, 16);

    for (uint32_t stages = 1; stages <= 8; stages *= 2)
        expect_most_layers(spec, stages, 1);
    expect_most_layers(spec, 4, 2);
    spec.vocabulary = 150000; /* a head that outweighs blocks: one less stands before it */
    for (uint32_t stages = 2; stages <= 8; stages *= 2)
        expect_most_layers(spec, stages, 1);
    expect_most_layers(spec, 4, 3);
}

static void
given_stages_leave_the_layers_as_they_are(void)
{
    sl_question q = gpt_question(1, (uint64_t)40 << 30);

    q.plan.pipeline = 2;
    q.plan.data = 4;
    q.plan.layout_chunks = 2;
    q.plan.layout[0] = 14;
    q.plan.layout[1] = 10;
    measure(&q, &small);
    const sl_limit *limit = &limits.of[SL_LIMIT_LAYERS];
    CU_ASSERT_EQUAL(limit->value.value, 24);
    CU_ASSERT_EQUAL(limit->end, SL_LIMIT_END_RULE);
    sl_expect_text(limit->next.fault.rule, "layout_mismatch", "rule");
}

static void
the_fewest_nodes_are_the_fewest_of_all(void)
{
    for (uint64_t gib = 4; gib <= 40; gib += 4) {
        sl_question q = gpt_question(8, gib << 30);
        uint32_t fewest = 0;

        number = gib;
        measure(&q, &small);
        for (uint32_t nodes = small.nodes; nodes >= 1; nodes--) {
            sl_cluster other = cluster;
            sl_question tried = q;
            other.nodes = nodes;
            tried.cluster = &other;
            tried.plan.data = nodes * 8;
            if (fits(&tried))
                fewest = nodes;
        }
        const sl_limit *limit = &limits.of[SL_LIMIT_NODES];
        expect(limit->has_value == (fewest > 0) && (fewest == 0 || limit->value.value == fewest),
               "the fewest that fit");
    }
}

static void
a_plan_that_fits_nowhere_says_how_far_off_it_is(void)
{
    sl_question q = gpt_question(1, (uint64_t)2 << 30);

    measure(&q, &small);
    const sl_limit *limit = &limits.of[SL_LIMIT_MICRO_BATCH];
    CU_ASSERT_EQUAL(limit->end, SL_LIMIT_END_NEVER);
    CU_ASSERT_FALSE(limit->has_value);
    CU_ASSERT_TRUE(limit->next.legal && limit->next.headroom_bytes < 0);
    CU_ASSERT_EQUAL(limit->next.value, 1);
}

static void
lists_of_layers_have_neither_sequence_nor_width(void)
{
    const sl_plain_layer layer = {.name = "conv",
                                  .count = 8,
                                  .parameters = 1000000,
                                  .activation_bytes = 1 << 20,
                                  .forward_flops = 1000000000};
    static sl_model plain;

    cluster = sl_fixture_cluster(1);
    software = sl_fixture_software();
    sl_model_describe_plain(&layer, 1, &plain);
    plain.checkpoint_element_bytes = 2;
    sl_question q = sl_fixture_question(&plain, &cluster, &software);
    q.workload.sequence_length = 1;
    measure(&q, &small);
    sl_expect_text(limits.of[SL_LIMIT_SEQUENCE].reason, "no_sequence", "sequence");
    sl_expect_text(limits.of[SL_LIMIT_SCALE].reason, "no_width", "scale");
    CU_ASSERT_TRUE(limits.of[SL_LIMIT_LAYERS].has_value);
}

static bool
settle(sl_question *q)
{
    sl_errors err = {0};

    if (sl_question_check(q, &err) != SL_OK ||
        sl_estimate_answer(q, &scratch, &answer, &err) != SL_OK)
        return false;
    q->workload = answer.workload;
    q->plan = answer.plan;
    q->software = answer.software;
    q->software_count = 1;
    q->unknown = 0;
    return true;
}

/* What bisection rests on: below the value everything that is legal fits, above it nothing does. */
static void
expect_monotone(const sl_question *q, const sl_limit *limit, bool sequence)
{
    const uint64_t most =
        sequence ? small.sequence_length
                 : small.global_batch / (q->workload.global_batch / q->workload.micro_batch);

    for (uint64_t v = limit->step; v <= most; v += limit->step * (1 + v / limit->step / 8)) {
        sl_errors err = {0};
        sl_question tried = *q;
        if (sequence) {
            tried.workload.sequence_length = v;
        } else {
            tried.workload.micro_batch = v;
            tried.workload.global_batch = v * (q->workload.global_batch / q->workload.micro_batch);
        }
        if (sl_question_check(&tried, &err) != SL_OK)
            continue;
        expect(fits(&tried) == (limit->has_value && v <= limit->value.value),
               sequence ? "sequences fit up to the longest" : "batches fit up to the largest");
    }
}

/* Models of other sizes: none a little larger fits, and of those smaller that are as legal all
 * do. */
static void
expect_grown(const sl_question *q, sl_limit_id id, const sl_limit *limit)
{
    const uint64_t chunks = sl_schedule_chunks(&q->plan);
    const uint64_t beyond = id == SL_LIMIT_LAYERS ? 4 * chunks : 32;
    const uint64_t value = limit->value.value;
    sl_question tried = *q;

    if (!limit->has_value || limit->end == SL_LIMIT_END_BOUND)
        return;
    sl_grown_copy(q->model, &space);
    tried.model = &space;
    for (uint64_t v = value + 1; v <= value + beyond && v <= small.layers; v++) {
        if (id == SL_LIMIT_LAYERS)
            sl_grown_deepen(q->model, (uint32_t)v, &space);
        else if (!sl_grown_widen(q->model, v, &space))
            break;
        expect(!fits(&tried), "no model a little larger fits");
    }
    for (uint64_t v = 1; id == SL_LIMIT_SCALE && v < value; v += 1 + value / 16) {
        sl_errors err = {0};
        const bool placed = sl_grown_widen(q->model, v, &space);
        if (placed && sl_question_check(&tried, &err) == SL_OK)
            expect(fits(&tried), "narrower models fit");
    }
}

static void
drawn_plans_stop_where_they_say(void)
{
    uint32_t measured = 0;
    uint32_t ends[SL_LIMIT_COUNT][SL_LIMIT_END_COUNT] = {{0}};

    sl_draw_models();
    for (number = 0; number < DRAWS; number++) {
        sl_draw_question(number, &drawn);
        sl_question q = drawn.question;
        if (!settle(&q) || q.cluster->pool_count > 0)
            continue;
        sl_limits_measure(&q, &small, &space, &scratch, &limits);
        measured++;
        for (uint32_t i = 0; i < SL_LIMIT_COUNT; i++) {
            ends[i][limits.of[i].end]++;
            if (i == SL_LIMIT_LAYERS || i == SL_LIMIT_SCALE)
                expect_grown(&q, (sl_limit_id)i, &limits.of[i]);
            else
                expect_sides(&q, &limits.of[i]);
        }
        expect_monotone(&q, &limits.of[SL_LIMIT_GROWN_BATCH], false);
        if (limits.of[SL_LIMIT_SEQUENCE].end != SL_LIMIT_END_NONE)
            expect_monotone(&q, &limits.of[SL_LIMIT_SEQUENCE], true);
    }
    sl_draw_clear();
    printf("  %u plans measured\n", measured);
    for (uint32_t i = 0; i < SL_LIMIT_COUNT; i++)
        printf("  limit %u: memory %u, rule %u, bound %u, never %u, none %u\n", i,
               ends[i][SL_LIMIT_END_MEMORY], ends[i][SL_LIMIT_END_RULE],
               ends[i][SL_LIMIT_END_BOUND], ends[i][SL_LIMIT_END_NEVER],
               ends[i][SL_LIMIT_END_NONE]);
    CU_ASSERT_TRUE(measured >= MEASURED_MIN);
}

static const sl_case cases[] = {
    SL_CASE(a_micro_batch_is_the_largest_divisor_that_fits),
    SL_CASE(a_growing_batch_has_no_divisor_to_stop_it),
    SL_CASE(a_table_of_positions_ends_a_sequence),
    SL_CASE(rotary_positions_end_with_memory_or_with_what_is_counted),
    SL_CASE(a_length_that_no_thousand_divides_goes_by_its_cut),
    SL_CASE(layers_are_the_most_that_fit_on_every_cut),
    SL_CASE(given_stages_leave_the_layers_as_they_are),
    SL_CASE(the_fewest_nodes_are_the_fewest_of_all),
    SL_CASE(a_plan_that_fits_nowhere_says_how_far_off_it_is),
    SL_CASE(lists_of_layers_have_neither_sequence_nor_width),
    SL_CASE(drawn_plans_stop_where_they_say),
};

int
main(int argc, char **argv)
{
    return sl_run_cases(argc, argv, "limits", cases, sizeof cases / sizeof cases[0]);
}
