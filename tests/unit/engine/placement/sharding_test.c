/* Who holds what: every element of every tensor once per replica, whatever the plan. */
#include <stdio.h>
#include <stdlib.h>

#include "engine/schedule/schedule.h"
#include "sharded.h"

static uint64_t
size_of(const sl_rank_set *set)
{
    return set->run * set->count;
}

/* Adds the shard's ranks to every element of its boxes. */
static void
paint(const sl_sharding *s, const sl_sharded_tensor *t, const sl_tensor_part *part,
      const sl_shard *shard, uint32_t *holders)
{
    sl_range box[SL_TENSOR_AXES_MAX] = {{0, 1}, {0, 1}, {0, 1}, {0, 1}};
    const uint64_t *shape = t->tensor->shape;
    uint64_t painted = 0;

    for (uint64_t i = 0; i < part->pieces; i++) {
        if (!sl_sharding_piece(s, t, part, shard, i, box))
            continue;
        for (uint64_t a = box[0].begin; a < box[0].end; a++)
            for (uint64_t b = box[1].begin; b < box[1].end; b++)
                for (uint64_t c = box[2].begin; c < box[2].end; c++) {
                    const uint64_t columns = t->tensor->axes > 1 ? shape[1] : 1;
                    const uint64_t depth = t->tensor->axes > 2 ? shape[2] : 1;
                    holders[(a * columns + b) * depth + c] += (uint32_t)size_of(&shard->ranks);
                    painted++;
                }
    }
    CU_ASSERT_EQUAL(painted, shard->elements);
}

/* Each rank of the set has the coordinates that the shard is for. */
static void
check_ranks(const sl_sharding *s, const sl_sharded_tensor *t, const sl_tensor_part *part,
            const sl_shard *shard)
{
    uint64_t seen = 0;

    for (uint64_t rank = sl_rank_set_next(&shard->ranks, 0); rank != UINT64_MAX;
         rank = sl_rank_set_next(&shard->ranks, rank + 1)) {
        const sl_place place = sl_sharding_place(s, rank);
        seen++;
        if (place.pipeline != t->stage ||
            (t->tensor_cut > 1 && place.tensor % t->tensor_cut != part->tensor_rank) ||
            (t->expert_placed && place.expert != part->expert_rank))
            CU_FAIL("a rank of another place");
    }
    CU_ASSERT_EQUAL(seen, size_of(&shard->ranks));
}

/* Those said to be alike are, and few steps lead past all of a part: a short first one, whole ones,
 * one where padding begins, padding alone and a short last one. */
static void
check_alike(const sl_tensor_part *part)
{
    const uint64_t end = part->first_shard + part->shard_count;
    uint64_t at = part->first_shard;
    uint32_t steps = 0;

    for (; at < end; steps++) {
        const sl_shard first = sl_sharding_shard(part, at);
        const uint64_t next = at + sl_sharding_alike(part, at);
        CU_ASSERT_TRUE_FATAL(next > at);
        for (; at < next; at++) {
            const sl_shard other = sl_sharding_shard(part, at);
            CU_ASSERT_EQUAL(other.elements, first.elements);
            CU_ASSERT_EQUAL(other.padding_elements, first.padding_elements);
            CU_ASSERT_EQUAL(size_of(&other.ranks), size_of(&first.ranks));
        }
    }
    CU_ASSERT_EQUAL(at, end);
    CU_ASSERT_TRUE(steps <= 5);
}

static void
check_tensor(const sl_sharding *s, const sl_sharded_tensor *t, bool boxes)
{
    static uint32_t holders[1 << 14];
    const sl_plan *plan = &s->question->plan;
    const uint64_t stage_ranks = sl_plan_world(plan) / plan->pipeline;
    uint64_t elements = 1;
    uint64_t ranks = 0;

    for (uint32_t axis = 0; axis < t->tensor->axes; axis++)
        elements *= t->tensor->shape[axis];
    CU_ASSERT_FATAL(elements <= sizeof holders / sizeof holders[0]);
    memset(holders, 0, sizeof holders);
    for (uint32_t p = 0; p < sl_sharding_part_count(t); p++) {
        const sl_tensor_part part = sl_sharding_part(s, t, p);
        uint64_t flat = 0;
        check_alike(&part);
        for (uint64_t i = 0; i < part.shard_count; i++) {
            const sl_shard shard = sl_sharding_shard(&part, part.first_shard + i);
            ranks += size_of(&shard.ranks);
            check_ranks(s, t, &part, &shard);
            if (boxes)
                paint(s, t, &part, &shard, holders);
            CU_ASSERT_EQUAL(shard.flat.begin, flat);
            flat = shard.flat.end;
        }
        CU_ASSERT_EQUAL(flat, part.rows * part.row);
    }
    if (!boxes)
        return;
    const bool one_expert = t->expert_placed && t->tensor->experts != 0;
    CU_ASSERT_EQUAL(ranks, one_expert ? stage_ranks / plan->expert : stage_ranks);
    /* Every element is on one of as many ranks as cut, deal out and shard what it is of. */
    const uint32_t cut_ranks = t->expert_placed ? sl_plan_expert_tensor(plan) : plan->tensor;
    const uint64_t experts = t->expert_placed ? plan->expert : 1;
    const uint64_t degree =
        s->mode.parameters ? (uint64_t)plan->tensor * s->mode.degree / (cut_ranks * experts) : 1;
    const bool cut = t->tensor->cut != SL_CUT_REPLICATED;
    const uint64_t each = stage_ranks / ((cut ? cut_ranks : 1) * degree) / experts;
    for (uint64_t i = 0; i < elements; i++)
        if (holders[i] != each) {
            printf("  %s%s element %llu: %u holders, not %llu\n", t->kind->prefix, t->tensor->name,
                   (unsigned long long)i, holders[i], (unsigned long long)each);
            CU_FAIL("not once per replica");
            return;
        }
}

/* Every tensor of every layer, and each on the stage whose layers sl_schedule_part counts. */
static void
check_all(const sl_sharding *s, bool boxes)
{
    const sl_model *model = s->question->model;
    uint32_t expected[8][SL_DECODER_KINDS_MAX] = {{0}};
    sl_tensor_walk walk = {0};
    sl_sharded_tensor t;
    uint32_t last = UINT32_MAX;
    uint64_t tensors = 0;

    while (sl_sharding_next(s, &walk, &t)) {
        tensors++;
        if (t.layer != last)
            expected[t.stage][model->layers[t.layer]]++;
        last = t.layer;
        check_tensor(s, &t, boxes);
    }
    CU_ASSERT_EQUAL(last, model->layer_count - 1);
    CU_ASSERT_TRUE(tensors <= sl_sharding_tensor_count(s));
    CU_ASSERT_EQUAL(tensors % sl_schedule_copies(&s->question->plan), 0);
    for (uint32_t stage = 0; stage < s->question->plan.pipeline; stage++) {
        sl_stage held;
        const sl_held all = sl_schedule_all_held(&s->question->plan, stage);
        const sl_chunking cut = sl_schedule_cut(model, &s->question->plan);
        sl_schedule_part(model, &s->question->plan, &cut, &all, &held);
        for (uint32_t kind = 0; kind < model->kind_count; kind++)
            CU_ASSERT_EQUAL(held.layers[kind], expected[stage][kind]);
    }
}

static void
every_element_is_held_once_per_replica(void)
{
    for (uint32_t i = 0; i < 150; i++) {
        const sl_dense_spec spec = drawn_spec();
        const sl_plan plan = drawn_plan(spec.experts.count != 0);
        const sl_question q =
            ask(&spec, plan, draw(2) == 0 ? SL_FRAMEWORK_MEGATRON : SL_FRAMEWORK_DDP);
        const uint32_t all = plan.data * plan.context;
        const sl_sharding none = sl_sharding_of(&q, (sl_sharding_mode){SL_SHARDING_NONE, 1, false});
        const sl_sharding rows =
            sl_sharding_of(&q, (sl_sharding_mode){SL_SHARDING_AXIS_0, all, true});
        const sl_sharding hybrid =
            sl_sharding_of(&q, (sl_sharding_mode){SL_SHARDING_AXIS_0, plan.expert, true});

        check_all(&none, true);
        check_all(&rows, true);
        check_all(&hybrid, true);
    }
}

/* Units of one stage, tensor and expert rank hold the tensors of that place end to end. */
static void
flat_tensors_hold_every_element_once(void)
{
    for (uint32_t i = 0; i < 80; i++) {
        const sl_dense_spec spec = drawn_spec();
        sl_plan plan = drawn_plan(spec.experts.count != 0);
        if (draw(3) == 0)
            plan.unit.kind = SL_UNIT_ROOT;
        const sl_question q =
            ask(&spec, plan, draw(2) == 0 ? SL_FRAMEWORK_MEGATRON : SL_FRAMEWORK_DDP);
        const sl_sharding flat = sl_sharding_of(
            &q, (sl_sharding_mode){SL_SHARDING_FLAT, plan.data * plan.context, true});
        sl_flat_walk units = {0};
        sl_tensor_walk walk = {0};
        sl_flat_unit unit;
        sl_sharded_tensor t;
        uint64_t in_units = 0, padding = 0, in_tensors = 0;

        check_all(&flat, false);
        while (sl_sharding_next_flat(&flat, &units, &unit)) {
            const sl_rank_set ranks = sl_sharding_flat_ranks(&flat, &unit, unit.degree - 1);
            const sl_place place = sl_sharding_place(&flat, ranks.first);
            CU_ASSERT_EQUAL(place.pipeline, unit.stage);
            const uint32_t cut = unit.routed ? sl_plan_expert_tensor(&plan) : plan.tensor;
            CU_ASSERT_EQUAL(place.tensor % cut, unit.tensor_rank);
            CU_ASSERT_EQUAL(unit.length * unit.degree, unit.padded_elements);
            CU_ASSERT_TRUE(unit.padded_elements - unit.elements < unit.degree);
            in_units += unit.elements;
            padding += unit.padded_elements - unit.elements;
        }
        while (sl_sharding_next(&flat, &walk, &t))
            for (uint32_t p = 0; p < sl_sharding_part_count(&t); p++) {
                const sl_tensor_part part = sl_sharding_part(&flat, &t, p);
                in_tensors += part.rows * part.row;
            }
        CU_ASSERT_EQUAL(in_units, in_tensors);
        CU_ASSERT_TRUE(padding > 0 || plan.data * plan.context == 1 || in_units % 2 == 0);
    }
}

/* What rank (stage, 0, 0 ...) holds, padding included: the largest shard of everything. */
static uint64_t
held_by_first(const sl_sharding *s, uint32_t stage)
{
    const uint64_t per_stage = sl_plan_world(&s->question->plan) / s->question->plan.pipeline;
    const uint64_t first = stage * per_stage;
    sl_tensor_walk walk = {0};
    sl_sharded_tensor t;
    uint64_t held = 0;

    while (sl_sharding_next(s, &walk, &t)) {
        const sl_tensor_part part = sl_sharding_part(s, &t, 0);
        if (part.first_shard > 0) /* of a flat unit, another rank's */
            continue;
        const sl_shard shard = sl_sharding_shard(&part, 0);
        if (sl_rank_set_next(&shard.ranks, first) == first)
            held += shard.elements + shard.padding_elements;
    }
    return held;
}

static void
the_bytes_of_a_rank_are_those_of_the_estimate(void)
{
    static const sl_schedule schedules[] = {SL_SCHEDULE_1F1B, SL_SCHEDULE_ZB_V,
                                            SL_SCHEDULE_DUALPIPE};

    for (uint32_t i = 0; i < 60; i++) {
        sl_dense_spec spec = i % 2 == 0 ? sl_fixture_llama() : sl_fixture_gpt(16, 2048, 16);
        spec.vocabulary -= draw(150);
        const uint32_t pipeline = power(4);
        const sl_schedule schedule = pipeline > 1 ? schedules[i % 3] : SL_SCHEDULE_1F1B;
        const sl_plan plan = {.tensor = power(4),
                              .pipeline = pipeline,
                              .virtual_pipeline = schedule == SL_SCHEDULE_ZB_V ? 2 : 1,
                              .context = 1,
                              .expert = 1,
                              .data = power(3) * 8,
                              .zero_stage = draw(2),
                              .schedule = schedule};
        sl_question q = ask(&spec, plan, SL_FRAMEWORK_MEGATRON);
        q.workload.global_batch = 1024;
        const sl_estimate *answer = sl_fixture_answer(&q);
        const sl_sharding s = sl_sharding_of(&q, sl_sharding_mode_of(&q));

        for (uint32_t r = 0; r < answer->memory.rank_count; r++) {
            const sl_rank_memory *rank = &answer->memory.ranks[r];
            CU_ASSERT_EQUAL(rank->terms[0].id, SL_TERM_PARAMETERS);
            sl_expect_near((double)held_by_first(&s, rank->first_stage),
                           rank->terms[0].inputs[0].value, 0.0, "parameters of a rank");
        }
    }
}

/* Of sharded parameters, what the first rank holds and what pads it is the estimate's term. */
static void
sharded_parameters_are_those_of_the_estimate(void)
{
    static const struct {
        sl_framework framework;
        uint32_t stage, group;
    } modes[] = {{SL_FRAMEWORK_FSDP1, 3, 0},     {SL_FRAMEWORK_FSDP1, 2, 4},
                 {SL_FRAMEWORK_FSDP2, 3, 0},     {SL_FRAMEWORK_FSDP2, 2, 2},
                 {SL_FRAMEWORK_DEEPSPEED, 3, 0}, {SL_FRAMEWORK_DEEPSPEED, 1, 0}};

    for (uint32_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        const sl_dense_spec spec = sl_fixture_llama();
        const sl_plan plan = {.tensor = power(2),
                              .pipeline = 1,
                              .virtual_pipeline = 1,
                              .context = 1,
                              .expert = 1,
                              .data = 8,
                              .zero_stage = modes[i].stage,
                              .shard_group = modes[i].group};
        sl_question q = ask(&spec, plan, modes[i].framework);
        q.workload.global_batch = 1024;
        const sl_estimate *answer = sl_fixture_answer(&q);
        const sl_term *term = &answer->memory.ranks[0].terms[0];
        const sl_sharding s = sl_sharding_of(&q, sl_sharding_mode_of(&q));

        CU_ASSERT_EQUAL(s.mode.parameters, modes[i].stage > 1);
        sl_expect_near((double)held_by_first(&s, 0), term->value / term->inputs[1].value, 1e-9,
                       "parameters of the first rank");
    }
}

static uint32_t
drawn_stage(sl_framework framework)
{
    switch (framework) {
    case SL_FRAMEWORK_MEGATRON:
        return draw(2);
    case SL_FRAMEWORK_DDP:
        return 0;
    case SL_FRAMEWORK_FSDP1:
    case SL_FRAMEWORK_FSDP2:
        return 2 + draw(2);
    default:
        return draw(4);
    }
}

/* A plan that some framework may be asked for, legal or not. */
static sl_question
drawn_question(void)
{
    const sl_framework framework = (sl_framework)draw(SL_FRAMEWORK_COUNT);
    sl_dense_spec spec = drawn_spec();
    const bool plain = framework == SL_FRAMEWORK_DDP || framework == SL_FRAMEWORK_DP;
    const bool fsdp = framework == SL_FRAMEWORK_FSDP1 || framework == SL_FRAMEWORK_FSDP2;
    const bool deepspeed = framework == SL_FRAMEWORK_DEEPSPEED;
    const bool dealt =
        spec.experts.count != 0 && (framework == SL_FRAMEWORK_MEGATRON ||
                                    framework == SL_FRAMEWORK_FSDP2 || (deepspeed && draw(2)));
    sl_plan plan = {.tensor = plain ? 1 : power(4),
                    .pipeline = plain ? 1 : power(3),
                    .virtual_pipeline = 1,
                    .context = framework == SL_FRAMEWORK_MEGATRON || deepspeed ? power(2) : 1,
                    .expert = dealt ? power(4) : 1,
                    .expert_tensor = dealt && draw(2) == 0 ? 0 : 1,
                    .data = power(4),
                    .zero_stage = drawn_stage(framework)};

    if ((fsdp || deepspeed) && draw(2) == 1) /* by which few tensors have a multiple of rows */
        plan.data = 3 * power(2);
    if ((fsdp || (framework == SL_FRAMEWORK_MEGATRON && plan.zero_stage == 1)) && draw(2) == 1)
        plan.shard_group = power(3);
    spec.vocabulary = 1024;                  /* nothing to pad */
    if (fsdp && plan.tensor > spec.kv_heads) /* which cuts none of them */
        plan.tensor = (uint32_t)spec.kv_heads;
    if (spec.experts.count != 0) {
        spec.experts.count = 8;
        spec.experts.width = 8;
    }
    sl_question q = ask(&spec, plan, framework);
    the_software.cuts_experts = draw(2) == 1;
    const uint64_t world = sl_plan_world(&plan);
    if (world < 8)
        the_cluster.accelerators_per_node = (uint32_t)world;
    q.workload.sequence_length = 4;
    q.workload.global_batch = 192;
    q.workload.attention = SL_ATTENTION_FLASH2;
    return q;
}

/* Elements of a part that all ranks hold together. */
static uint64_t
held_of(const sl_tensor_part *part)
{
    const uint64_t end = part->first_shard + part->shard_count;
    uint64_t held = 0;
    uint64_t alike = 0;

    for (uint64_t i = part->first_shard; i < end; i += alike) {
        const sl_shard shard = sl_sharding_shard(part, i);
        alike = sl_sharding_alike(part, i);
        held += alike * shard.elements * size_of(&shard.ranks);
    }
    return held;
}

/* On average over the ranks of a stage, without padding. */
static double
mean_held(const sl_sharding *s, uint32_t stage)
{
    sl_tensor_walk walk = {0};
    sl_sharded_tensor t;
    uint64_t held = 0;

    while (sl_sharding_next(s, &walk, &t))
        for (uint32_t p = 0; t.stage == stage && p < sl_sharding_part_count(&t); p++) {
            const sl_tensor_part part = sl_sharding_part(s, &t, p);
            held += held_of(&part);
        }
    return (double)held / ((double)sl_plan_world(&s->question->plan) / s->question->plan.pipeline);
}

static void
plans_of_every_framework_hold_what_the_estimate_counts(void)
{
    uint32_t asked[SL_FRAMEWORK_COUNT] = {0};
    uint32_t padded[SL_FRAMEWORK_COUNT] = {0};

    for (uint32_t i = 0; i < 1200; i++) {
        const sl_question q = drawn_question();
        sl_errors err = {0};
        if (sl_question_check(&q, &err) != SL_OK || sl_sharding_check(&q, &err) != SL_OK)
            continue;
        const sl_sharding s = sl_sharding_of(&q, sl_sharding_mode_of(&q));
        const sl_estimate *answer = sl_fixture_answer(&q);
        check_all(&s, s.mode.kind != SL_SHARDING_FLAT || !s.mode.parameters);
        /* DataParallel lends the model: only its first device holds it. */
        const uint32_t holders =
            q.workload.framework == SL_FRAMEWORK_DP ? 1 : answer->memory.rank_count;
        for (uint32_t r = 0; r < holders; r++) {
            const sl_term *term = &answer->memory.ranks[r].terms[0];
            const double routed = term->inputs[3].value;
            const double even = (term->inputs[0].value - routed) / term->inputs[2].value +
                                routed / term->inputs[4].value;
            const uint32_t stage = answer->memory.ranks[r].first_stage;
            CU_ASSERT_EQUAL(term->id, SL_TERM_PARAMETERS);
            sl_expect_near(mean_held(&s, stage), even, 1e-12, "parameters of a rank");
            sl_expect_text(term->inputs[5].name, "padding", "of the fullest rank");
            padded[q.workload.framework] += term->inputs[5].value > 0.0;
            if (s.mode.parameters)
                sl_expect_near((double)held_by_first(&s, stage), even + term->inputs[5].value,
                               1e-12, "parameters of the fullest rank");
            else
                CU_ASSERT_EQUAL(term->inputs[5].value, 0.0);
        }
        asked[q.workload.framework]++;
    }
    for (uint32_t i = 0; i < SL_FRAMEWORK_COUNT; i++)
        CU_ASSERT_TRUE(asked[i] >= 20);
    CU_ASSERT_TRUE(padded[SL_FRAMEWORK_FSDP1] >= 10);
    CU_ASSERT_TRUE(padded[SL_FRAMEWORK_FSDP2] >= 20);
    CU_ASSERT_TRUE(padded[SL_FRAMEWORK_DEEPSPEED] >= 5);
}

/* More ranks than most tensors have rows, and neither a multiple of the other. */
static void
many_ranks_hold_the_model_once(void)
{
    static const sl_sharding_kind kinds[] = {SL_SHARDING_AXIS_0, SL_SHARDING_FLAT};
    const sl_dense_spec spec = sl_fixture_llama();
    const sl_question q = ask(&spec, flat_plan(16376, 3), SL_FRAMEWORK_FSDP2);
    sl_model_counts counts = {0};

    CU_ASSERT_EQUAL_FATAL(sl_model_count(q.model, &counts), SL_OK);
    for (uint32_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const sl_sharding s = sl_sharding_of(&q, (sl_sharding_mode){kinds[i], 16376, true});
        sl_expect_near(mean_held(&s, 0) * 16376, (double)counts.total, 1e-12, "all ranks together");
    }
}

static void
one_rank_holds_whole_tensors(void)
{
    const sl_dense_spec spec = small(SL_NAMING_PHI3);
    const sl_plan plan = flat_plan(1, 1);
    const sl_question q = ask(&spec, plan, SL_FRAMEWORK_MEGATRON);
    const sl_sharding s = sl_sharding_of(&q, sl_sharding_mode_of(&q));
    sl_tensor_walk walk = {0};
    sl_sharded_tensor t;

    CU_ASSERT_EQUAL(s.mode.kind, SL_SHARDING_NONE);
    while (sl_sharding_next(&s, &walk, &t)) {
        const sl_tensor_part part = sl_sharding_part(&s, &t, 0);
        const sl_shard shard = sl_sharding_shard(&part, 0);
        sl_range box[SL_TENSOR_AXES_MAX];
        CU_ASSERT_EQUAL(sl_sharding_part_count(&t) * part.shard_count * part.pieces, 1);
        CU_ASSERT_TRUE(sl_sharding_piece(&s, &t, &part, &shard, 0, box));
        for (uint32_t axis = 0; axis < t.tensor->axes; axis++)
            CU_ASSERT_TRUE(box[axis].begin == 0 && box[axis].end == t.tensor->shape[axis]);
    }
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(every_element_is_held_once_per_replica),
        SL_CASE(flat_tensors_hold_every_element_once),
        SL_CASE(the_bytes_of_a_rank_are_those_of_the_estimate),
        SL_CASE(sharded_parameters_are_those_of_the_estimate),
        SL_CASE(plans_of_every_framework_hold_what_the_estimate_counts),
        SL_CASE(many_ranks_hold_the_model_once),
        SL_CASE(one_rank_holds_whole_tensors),
    };

    return sl_run_cases(argc, argv, "sharding", cases, sizeof cases / sizeof cases[0]);
}
