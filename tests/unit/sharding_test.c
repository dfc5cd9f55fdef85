/* Who holds what: every element of every tensor once per replica, whatever the plan. */
#include "shardline/sharding.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/schedule.h"
#include "engine_fixture.h"
#include "harness.h"

static sl_model the_model;
static sl_cluster the_cluster;
static sl_software the_software;

static uint32_t the_state = 1;

/* A seeded generator of our own: the same plans on every machine. */
static uint32_t
draw(uint32_t below)
{
    the_state = the_state * 1664525U + 1013904223U;
    return (the_state >> 8) % below;
}

static uint32_t
power(uint32_t below)
{
    return 1U << draw(below);
}

static sl_dense_spec
small(sl_naming naming)
{
    return (sl_dense_spec){
        .naming = naming,
        .blocks = 8,
        .hidden = 8,
        .ffn = 16,
        .vocabulary = 37,
        .heads = 8,
        .kv_heads = 2,
        .head_dim = 4,
        .gated_mlp = true,
        .has_head = true,
    };
}

/* Fused and not, experts one by one, stacked and end to end. */
static sl_dense_spec
drawn_spec(void)
{
    static const sl_naming dense[] = {SL_NAMING_LLAMA, SL_NAMING_PHI3, SL_NAMING_GLM4,
                                      SL_NAMING_INTERNLM2};
    static const sl_naming routed[] = {SL_NAMING_QWEN2_MOE, SL_NAMING_DBRX, SL_NAMING_LLAMA4,
                                       SL_NAMING_GRANITE_MOE, SL_NAMING_GPT_OSS};
    const bool experts = draw(2) == 1;
    sl_dense_spec spec = small(experts ? routed[draw(5)] : dense[draw(4)]);

    spec.tied = draw(2) == 1;
    spec.qkv_bias = draw(2) == 1;
    if (spec.naming == SL_NAMING_LLAMA && draw(2) == 1) {
        spec.naming = SL_NAMING_GPT2;
        spec.gated_mlp = false;
        spec.learned_positions = 5;
    }
    if (experts)
        spec.experts = (sl_experts){.count = 3 + draw(6), .per_token = 2, .width = 6};
    return spec;
}

static sl_question
ask(const sl_dense_spec *spec, sl_plan plan, sl_framework framework)
{
    sl_errors err = {0};

    memset(&the_model, 0, sizeof the_model);
    CU_ASSERT_EQUAL_FATAL(sl_model_describe_dense(spec, &the_model, &err), SL_OK);
    const uint64_t world = sl_plan_world(&plan);
    the_cluster = sl_fixture_cluster(world < 8 ? 1 : (uint32_t)(world / 8));
    the_software = sl_fixture_software();
    sl_question q = sl_fixture_question(&the_model, &the_cluster, &the_software);
    q.plan = plan;
    q.workload.framework = framework;
    return q;
}

static sl_plan
drawn_plan(bool experts)
{
    sl_plan plan = {.tensor = power(4),
                    .pipeline = power(3),
                    .virtual_pipeline = power(2),
                    .context = power(2),
                    .expert = 1,
                    .data = power(4)};

    if (experts && draw(2) == 1)
        plan.expert = plan.data;
    return plan;
}

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

    for (uint64_t i = 0; i < shard->pieces; i++) {
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
            (t->tensor_cut > 1 && place.tensor != part->tensor_rank) ||
            (t->expert_placed && place.expert != part->expert_rank))
            CU_FAIL("a rank of another place");
    }
    CU_ASSERT_EQUAL(seen, size_of(&shard->ranks));
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
        for (uint64_t i = 0; i < part.shard_count; i++) {
            const sl_shard shard = sl_sharding_shard(s, t, &part, part.first_shard + i);
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
    const uint64_t degree =
        s->mode.parameters ? s->mode.degree / (t->expert_placed ? plan->expert : 1) : 1;
    const bool cut = t->tensor->cut != SL_CUT_REPLICATED;
    const uint64_t each =
        stage_ranks / ((cut ? plan->tensor : 1) * degree) / (t->expert_placed ? plan->expert : 1);
    for (uint64_t i = 0; i < elements; i++)
        if (holders[i] != each) {
            printf("  %s%s element %llu: %u holders, not %llu\n", t->kind->prefix, t->tensor->name,
                   (unsigned long long)i, holders[i], (unsigned long long)each);
            CU_FAIL("not once per replica");
            return;
        }
}

/* Every tensor of every layer, and each on the stage whose layers sl_schedule_stage counts. */
static void
check_all(const sl_sharding *s, bool boxes)
{
    const sl_model *model = s->question->model;
    uint32_t expected[8][SL_DECODER_KINDS_MAX] = {{0}};
    sl_tensor_walk walk = {0};
    sl_sharded_tensor t;
    uint32_t last = UINT32_MAX;

    while (sl_sharding_next(s, &walk, &t)) {
        if (t.layer != last)
            expected[t.stage][model->layers[t.layer]]++;
        last = t.layer;
        check_tensor(s, &t, boxes);
    }
    CU_ASSERT_EQUAL(last, model->layer_count - 1);
    for (uint32_t stage = 0; stage < s->question->plan.pipeline; stage++) {
        sl_stage held;
        sl_schedule_stage(model, &s->question->plan, stage, &held);
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
            CU_ASSERT_EQUAL(place.tensor, unit.tensor_rank);
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
        const sl_shard shard = sl_sharding_shard(s, &t, &part, 0);
        if (sl_rank_set_next(&shard.ranks, first) == first)
            held += shard.elements + shard.padding_elements;
    }
    return held;
}

static void
the_bytes_of_a_rank_are_those_of_the_estimate(void)
{
    for (uint32_t i = 0; i < 40; i++) {
        sl_dense_spec spec = i % 2 == 0 ? sl_fixture_llama() : sl_fixture_gpt(16, 2048, 16);
        spec.vocabulary -= draw(150);
        const sl_plan plan = {.tensor = power(4),
                              .pipeline = power(4),
                              .virtual_pipeline = 1,
                              .context = 1,
                              .expert = 1,
                              .data = power(3) * 8,
                              .zero_stage = draw(2)};
        sl_question q = ask(&spec, plan, SL_FRAMEWORK_MEGATRON);
        q.workload.global_batch = 1024;
        const sl_estimate *answer = sl_fixture_answer(&q);
        const sl_sharding s = sl_sharding_of(&q, sl_sharding_mode_of(&q.workload, &q.plan));

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
        const sl_sharding s = sl_sharding_of(&q, sl_sharding_mode_of(&q.workload, &q.plan));

        CU_ASSERT_EQUAL(s.mode.parameters, modes[i].stage > 1);
        /* Short last shards are padded: no more than a row of each tensor, or an element a unit. */
        sl_expect_near((double)held_by_first(&s, 0) / (term->value / term->inputs[1].value), 1.0,
                       1e-3, "parameters of the first rank");
    }
}

static void
one_rank_holds_whole_tensors(void)
{
    const sl_dense_spec spec = small(SL_NAMING_PHI3);
    const sl_plan plan = {.tensor = 1,
                          .pipeline = 1,
                          .virtual_pipeline = 1,
                          .context = 1,
                          .expert = 1,
                          .data = 1,
                          .zero_stage = 1};
    const sl_question q = ask(&spec, plan, SL_FRAMEWORK_MEGATRON);
    const sl_sharding s = sl_sharding_of(&q, sl_sharding_mode_of(&q.workload, &q.plan));
    sl_tensor_walk walk = {0};
    sl_sharded_tensor t;

    CU_ASSERT_EQUAL(s.mode.kind, SL_SHARDING_NONE);
    while (sl_sharding_next(&s, &walk, &t)) {
        const sl_tensor_part part = sl_sharding_part(&s, &t, 0);
        const sl_shard shard = sl_sharding_shard(&s, &t, &part, 0);
        sl_range box[SL_TENSOR_AXES_MAX];
        CU_ASSERT_EQUAL(sl_sharding_part_count(&t) * part.shard_count * shard.pieces, 1);
        CU_ASSERT_TRUE(sl_sharding_piece(&s, &t, &part, &shard, 0, box));
        for (uint32_t axis = 0; axis < t.tensor->axes; axis++)
            CU_ASSERT_TRUE(box[axis].begin == 0 && box[axis].end == t.tensor->shape[axis]);
    }
}

static sl_sharded_tensor
find(const sl_sharding *sharding, const char *name)
{
    sl_tensor_walk walk = {.layer = 1};
    sl_sharded_tensor t;

    while (sl_sharding_next(sharding, &walk, &t))
        if (strcmp(t.tensor->name, name) == 0)
            return t;
    CU_FAIL_FATAL("no such tensor");
    return t;
}

/* Queries 0-31, keys 32-39, values 40-47 of phi3 with 8 heads and 2 key-value heads of 4. */
static void
a_fused_projection_is_cut_part_by_part(void)
{
    static const uint64_t by_part[3][2] = {{8, 16}, {34, 36}, {42, 44}};
    const sl_dense_spec spec = small(SL_NAMING_PHI3);
    const sl_dense_spec by_head = small(SL_NAMING_INTERNLM2);
    const sl_plan plan = {
        .tensor = 4, .pipeline = 1, .virtual_pipeline = 1, .context = 1, .expert = 1, .data = 1};
    const sl_sharding_mode mode = {SL_SHARDING_NONE, 1, false};
    sl_question q = ask(&spec, plan, SL_FRAMEWORK_MEGATRON);
    sl_sharding s = sl_sharding_of(&q, mode);
    sl_range box[SL_TENSOR_AXES_MAX];

    sl_sharded_tensor t = find(&s, "self_attn.qkv_proj.weight");
    sl_tensor_part part = sl_sharding_part(&s, &t, 1);
    sl_shard shard = sl_sharding_shard(&s, &t, &part, 0);
    CU_ASSERT_EQUAL(shard.pieces, 3);
    for (uint64_t i = 0; i < 3; i++) {
        CU_ASSERT_TRUE(sl_sharding_piece(&s, &t, &part, &shard, i, box));
        CU_ASSERT_TRUE(box[0].begin == by_part[i][0] && box[0].end == by_part[i][1]);
        CU_ASSERT_TRUE(box[1].begin == 0 && box[1].end == 8);
    }

    q = ask(&by_head, plan, SL_FRAMEWORK_MEGATRON);
    s = sl_sharding_of(&q, mode);
    t = find(&s, "attention.wqkv.weight");
    part = sl_sharding_part(&s, &t, 1);
    shard = sl_sharding_shard(&s, &t, &part, 0);
    CU_ASSERT_EQUAL(shard.pieces, 1);
    CU_ASSERT_TRUE(sl_sharding_piece(&s, &t, &part, &shard, 0, box));
    CU_ASSERT_TRUE(box[0].begin == 12 && box[0].end == 24);
}

/* The course: a linear layer of 4 x 3 with bias has 15 elements, padded to 16, one on each rank. */
static void
a_linear_layer_of_4_by_3_is_padded_to_16_ranks(void)
{
    static sl_model model;
    static const sl_plain_layer layer = {.name = "linear", .count = 1, .parameters = 15};
    const sl_cluster cluster = sl_fixture_cluster(2);
    const sl_software software = sl_fixture_software();
    sl_flat_walk walk = {0};
    sl_flat_unit unit;

    sl_model_describe_plain(&layer, 1, &model);
    /* Weight and bias apart, as a checkpoint has them. */
    model.kinds[0].tensor_count = 2;
    model.tensors[0].axes = 2;
    model.tensors[0].shape[0] = 4 - 1;
    model.tensors[0].shape[1] = 4;
    model.tensors[1] = model.tensors[0];
    model.tensors[1].axes = 1;
    const sl_question q = sl_fixture_question(&model, &cluster, &software);
    const sl_sharding s = sl_sharding_of(&q, (sl_sharding_mode){SL_SHARDING_FLAT, 16, true});

    CU_ASSERT_TRUE_FATAL(sl_sharding_next_flat(&s, &walk, &unit));
    CU_ASSERT_EQUAL(unit.elements, 15);
    CU_ASSERT_EQUAL(unit.padded_elements, 16);
    CU_ASSERT_EQUAL(unit.length, 1);
    for (uint64_t i = 0; i < 16; i++) {
        const sl_rank_set ranks = sl_sharding_flat_ranks(&s, &unit, i);
        CU_ASSERT_TRUE(ranks.first == i && ranks.run == 1 && ranks.count == 1);
    }
    CU_ASSERT_FALSE(sl_sharding_next_flat(&s, &walk, &unit));

    sl_tensor_walk tensors = {.tensor = 1};
    sl_sharded_tensor bias;
    CU_ASSERT_TRUE_FATAL(sl_sharding_next(&s, &tensors, &bias));
    const sl_tensor_part part = sl_sharding_part(&s, &bias, 0);
    CU_ASSERT_TRUE(part.flat_offset == 12 && part.first_shard == 12 && part.shard_count == 3);
}

/* Ceil chunks of the first axis: 10 rows on 8 ranks are 2 on each of 5, and padding on three. */
static void
short_shards_of_the_first_axis_say_their_padding(void)
{
    static const uint64_t rows[] = {2, 2, 2, 2, 2, 0, 0, 0};
    static sl_model model;
    static const sl_plain_layer layer = {.name = "linear", .count = 1, .parameters = 10};
    const sl_cluster cluster = sl_fixture_cluster(1);
    const sl_software software = sl_fixture_software();
    sl_tensor_walk walk = {0};
    sl_sharded_tensor t;

    sl_model_describe_plain(&layer, 1, &model);
    const sl_question q = sl_fixture_question(&model, &cluster, &software);
    const sl_sharding s = sl_sharding_of(&q, (sl_sharding_mode){SL_SHARDING_AXIS_0, 8, true});

    CU_ASSERT_TRUE_FATAL(sl_sharding_next(&s, &walk, &t));
    const sl_tensor_part part = sl_sharding_part(&s, &t, 0);
    CU_ASSERT_EQUAL(part.shard_count, 8);
    for (uint64_t i = 0; i < 8; i++) {
        const sl_shard shard = sl_sharding_shard(&s, &t, &part, i);
        CU_ASSERT_EQUAL(shard.elements, rows[i]);
        CU_ASSERT_EQUAL(shard.padding_elements, 2 - rows[i]);
    }
}

static void
a_tied_head_is_held_on_both_ends_of_a_pipeline(void)
{
    const sl_dense_spec spec = sl_fixture_gpt(8, 1024, 16);
    for (uint32_t pipeline = 1; pipeline <= 2; pipeline++) {
        const sl_plan plan = {.tensor = 2,
                              .pipeline = pipeline,
                              .virtual_pipeline = pipeline,
                              .context = 1,
                              .expert = 1,
                              .data = 4};
        const sl_question q = ask(&spec, plan, SL_FRAMEWORK_MEGATRON);
        const sl_sharding s = sl_sharding_of(&q, (sl_sharding_mode){SL_SHARDING_NONE, 1, false});
        sl_tensor_walk walk = {0};
        sl_sharded_tensor t;
        uint32_t tables = 0;
        while (sl_sharding_next(&s, &walk, &t))
            if (t.tensor->cut == SL_CUT_VOCABULARY) {
                CU_ASSERT_EQUAL(t.stage, tables);
                tables++;
            }
        CU_ASSERT_EQUAL(tables, pipeline);
    }
}

/* Members of every group by its definition, against the coordinates of each rank. */
static void
groups_partition_the_ranks(void)
{
    for (uint32_t i = 0; i < 60; i++) {
        const sl_dense_spec spec = small(SL_NAMING_LLAMA);
        const sl_plan plan = drawn_plan(true);
        const sl_question q = ask(&spec, plan, SL_FRAMEWORK_MEGATRON);
        const sl_sharding s = sl_sharding_of(&q, (sl_sharding_mode){SL_SHARDING_NONE, 1, false});
        for (uint32_t kind = 0; kind < SL_GROUP_KIND_COUNT; kind++) {
            const sl_rank_groups g = sl_sharding_groups(&s, (sl_group_kind)kind);
            uint32_t seen = 0;
            for (uint64_t start = sl_rank_set_next(&g.starts, 0); start != UINT64_MAX;
                 start = sl_rank_set_next(&g.starts, start + 1))
                for (uint64_t m = 0; m < g.size; m++, seen++) {
                    const sl_place at = sl_sharding_place(&s, start + m * g.stride);
                    const uint64_t own[] = {at.tensor, at.context, at.data, at.pipeline, at.expert};
                    CU_ASSERT_EQUAL(own[kind], m);
                }
            CU_ASSERT_EQUAL(seen, sl_plan_world(&plan));
            CU_ASSERT_EQUAL(g.count * g.size, sl_plan_world(&plan));
        }
    }
}

static void
groups_say_which_links_they_cross(void)
{
    const sl_dense_spec spec = small(SL_NAMING_LLAMA);
    const sl_plan plan = {
        .tensor = 8, .pipeline = 2, .virtual_pipeline = 1, .context = 1, .expert = 1, .data = 4};
    const sl_question q = ask(&spec, plan, SL_FRAMEWORK_MEGATRON);
    const sl_sharding s = sl_sharding_of(&q, (sl_sharding_mode){SL_SHARDING_NONE, 1, false});

    sl_expect_text(sl_sharding_groups(&s, SL_GROUP_TENSOR).level, "scale_up", "tensor");
    sl_expect_text(sl_sharding_groups(&s, SL_GROUP_DATA).level, "network", "data");
    sl_expect_text(sl_sharding_groups(&s, SL_GROUP_PIPELINE).level, "network", "pipeline");
    CU_ASSERT_EQUAL(sl_sharding_place(&s, 43).node, 5);
    CU_ASSERT_EQUAL(sl_sharding_place(&s, 43).local_rank, 3);
    CU_ASSERT_EQUAL(sl_sharding_place(&s, 43).pipeline, 1);
    CU_ASSERT_EQUAL(sl_sharding_place(&s, 43).data, 1);
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        {"every_element_is_held_once_per_replica", every_element_is_held_once_per_replica},
        {"flat_tensors_hold_every_element_once", flat_tensors_hold_every_element_once},
        {"the_bytes_of_a_rank_are_those_of_the_estimate",
         the_bytes_of_a_rank_are_those_of_the_estimate},
        {"sharded_parameters_are_those_of_the_estimate",
         sharded_parameters_are_those_of_the_estimate},
        {"one_rank_holds_whole_tensors", one_rank_holds_whole_tensors},
        {"a_fused_projection_is_cut_part_by_part", a_fused_projection_is_cut_part_by_part},
        {"a_linear_layer_of_4_by_3_is_padded_to_16_ranks",
         a_linear_layer_of_4_by_3_is_padded_to_16_ranks},
        {"short_shards_of_the_first_axis_say_their_padding",
         short_shards_of_the_first_axis_say_their_padding},
        {"a_tied_head_is_held_on_both_ends_of_a_pipeline",
         a_tied_head_is_held_on_both_ends_of_a_pipeline},
        {"groups_partition_the_ranks", groups_partition_the_ranks},
        {"groups_say_which_links_they_cross", groups_say_which_links_they_cross},
    };

    return sl_run_cases(argc, argv, "sharding", cases, sizeof cases / sizeof cases[0]);
}
