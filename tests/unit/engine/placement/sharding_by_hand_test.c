/* Who holds what, by hand: slices, flat units, buckets, groups. */
#include "engine/schedule/schedule.h"
#include "sharded.h"

/* Megatron's buckets of a stage, tensor and expert rank hold what stands there, each parameter
 * once. */
static void
buckets_hold_every_parameter_once(void)
{
    for (uint32_t i = 0; i < 80; i++) {
        const sl_dense_spec spec = drawn_spec();
        const sl_plan plan = drawn_plan(spec.experts.count != 0);
        const sl_question q = ask(&spec, plan, SL_FRAMEWORK_MEGATRON);
        const sl_sharding s = sl_sharding_of(
            &q, (sl_sharding_mode){SL_SHARDING_FLAT, plan.data * plan.context, false});
        sl_flat_walk units = {0};
        sl_tensor_walk walk = {0};
        sl_flat_unit unit;
        sl_sharded_tensor t;
        uint64_t in_units = 0, in_tensors = 0;

        while (sl_sharding_next_flat(&s, &units, &unit)) {
            const sl_rank_set ranks = sl_sharding_flat_ranks(&s, &unit, unit.degree - 1);
            CU_ASSERT_EQUAL(sl_sharding_place(&s, ranks.first).pipeline, unit.stage);
            CU_ASSERT_TRUE(unit.padded_elements % 128 == 0 &&
                           unit.padded_elements % unit.degree == 0);
            CU_ASSERT_EQUAL(unit.length * unit.degree, unit.padded_elements);
            in_units += unit.elements;
        }
        while (sl_sharding_next(&s, &walk, &t)) {
            const uint32_t cut = t.expert_placed ? sl_plan_expert_tensor(&plan) : plan.tensor;
            for (uint32_t p = 0; p < sl_sharding_part_count(&t); p++) {
                const sl_tensor_part part = sl_sharding_part(&s, &t, p);
                in_tensors += part.rows * part.row * (cut / t.tensor_cut);
            }
        }
        CU_ASSERT_EQUAL(in_units, in_tensors);
    }
}

/* From the last block of the first stage: its MLP, 50.3 million, fills a bucket; attention and the
 * MLP before it the next. The table that the last stage has too is alone. Later stages have one. */
static void
buckets_are_filled_from_the_last_parameter(void)
{
    const uint64_t mlp = UINT64_C(3) * 2048 * 8192;
    const uint64_t attention = UINT64_C(2048) * (2048 + 512 + 512 + 2048);
    const uint64_t norms = UINT64_C(2) * 2048;
    sl_dense_spec spec = sl_fixture_llama();
    spec.tied = true;
    sl_plan plan = flat_plan(12, 1);
    plan.pipeline = 2;
    const sl_question q = ask(&spec, plan, SL_FRAMEWORK_MEGATRON);
    const sl_sharding s = sl_sharding_of(&q, sl_sharding_mode_of(&q));
    sl_flat_walk walk = {0};
    sl_flat_unit unit;

    the_software.overlap_gradient_reduce = true;
    CU_ASSERT_TRUE_FATAL(sl_sharding_next_flat(&s, &walk, &unit));
    CU_ASSERT_TRUE(unit.elements == mlp && unit.layer == 8 && unit.number == 0);
    CU_ASSERT_EQUAL(unit.padded_elements, (mlp + 383) / 384 * 384);
    CU_ASSERT_TRUE_FATAL(sl_sharding_next_flat(&s, &walk, &unit));
    CU_ASSERT_TRUE(unit.layer == 7 && unit.number == 1);
    CU_ASSERT_TRUE(unit.elements > 40000000 && unit.elements <= attention + norms + mlp);
    while (unit.layer > 0)
        CU_ASSERT_TRUE_FATAL(sl_sharding_next_flat(&s, &walk, &unit));
    CU_ASSERT_EQUAL(unit.elements, UINT64_C(32768) * 2048);
    CU_ASSERT_TRUE_FATAL(sl_sharding_next_flat(&s, &walk, &unit));
    CU_ASSERT_TRUE(unit.chunk == 1 && unit.number == 0);
    CU_ASSERT_EQUAL(unit.elements, UINT64_C(32768) * 2048);
    CU_ASSERT_TRUE_FATAL(sl_sharding_next_flat(&s, &walk, &unit));
    CU_ASSERT_EQUAL(unit.elements, 8 * (mlp + attention + norms) + 2048);
    CU_ASSERT_FALSE(sl_sharding_next_flat(&s, &walk, &unit));
}

/* Beside adapters optimizer states are theirs alone; parameters are cut as ever. */
static void
a_frozen_base_has_no_states_to_divide(void)
{
    const sl_dense_spec spec = small(SL_NAMING_LLAMA);
    sl_question q = ask(&spec, flat_plan(8, 1), SL_FRAMEWORK_MEGATRON);

    CU_ASSERT_EQUAL(sl_sharding_mode_of(&q).kind, SL_SHARDING_FLAT);
    q.workload.adapter = (sl_adapter){.method = SL_ADAPTER_LORA, .rank = 4};
    CU_ASSERT_EQUAL(sl_sharding_mode_of(&q).kind, SL_SHARDING_NONE);
    q.workload.framework = SL_FRAMEWORK_FSDP2;
    q.plan.zero_stage = 3;
    CU_ASSERT_EQUAL(sl_sharding_mode_of(&q).kind, SL_SHARDING_AXIS_0);
}

/* Of blocks as Llama 2 7B has them: gate and up fill one together, queries, keys and values the
 * next, and the output projection comes after the norm before them. */
static void
buckets_take_parameters_as_megatron_has_them(void)
{
    const uint64_t matrix = UINT64_C(4096) * 11008;
    const uint64_t square = UINT64_C(4096) * 4096;
    const uint64_t norm = 4096;
    const uint64_t filled[] = {
        UINT64_C(128) * 4096 + norm + matrix, /* the head's padded rows, the last norm, down */
        2 * matrix,
        norm + 3 * square,
        norm + square + matrix,
    };
    sl_dense_spec spec = small(SL_NAMING_LLAMA);
    spec.hidden = 4096;
    spec.ffn = 11008;
    spec.heads = spec.kv_heads = 32;
    spec.head_dim = 128;
    const sl_question q = ask(&spec, flat_plan(8, 1), SL_FRAMEWORK_MEGATRON);
    const sl_sharding s = sl_sharding_of(&q, sl_sharding_mode_of(&q));
    sl_flat_walk walk = {0};
    sl_flat_unit unit;

    the_software.overlap_gradient_reduce = true;
    for (uint32_t i = 0; i < sizeof filled / sizeof filled[0]; i++) {
        CU_ASSERT_TRUE_FATAL(sl_sharding_next_flat(&s, &walk, &unit));
        CU_ASSERT_EQUAL(unit.elements, filled[i]);
    }
}

/* One vector of all parameters, at stage 1 and 2 alike, and two elements a rank to round up to. */
static void
deepspeed_divides_one_vector_of_a_stage(void)
{
    sl_dense_spec spec = small(SL_NAMING_LLAMA);
    const sl_plan plan = flat_plan(24, 2);
    const sl_question q = ask(&spec, plan, SL_FRAMEWORK_DEEPSPEED);
    const sl_sharding s = sl_sharding_of(&q, sl_sharding_mode_of(&q));
    sl_model_counts counts = {0};
    sl_flat_walk walk = {0};
    sl_flat_unit unit;

    CU_ASSERT_EQUAL_FATAL(sl_model_count(q.model, &counts), SL_OK);
    CU_ASSERT_TRUE_FATAL(sl_sharding_next_flat(&s, &walk, &unit));
    CU_ASSERT_EQUAL(unit.elements, counts.total);
    CU_ASSERT_EQUAL(unit.padded_elements, (counts.total + 47) / 48 * 48);
    CU_ASSERT_FALSE(sl_sharding_next_flat(&s, &walk, &unit));
}

/* 64 x 37 of the head are 2,368 elements: 99 on each of 24 ranks, whose last has 91 and 8 of
 * padding. Of a norm of 64 the last ranks have padding alone. */
static void
deepspeed_divides_each_parameter_at_stage_3(void)
{
    sl_dense_spec spec = small(SL_NAMING_LLAMA);
    spec.hidden = 64;
    const sl_plan plan = flat_plan(24, 3);
    const sl_question q = ask(&spec, plan, SL_FRAMEWORK_DEEPSPEED);
    const sl_sharding s = sl_sharding_of(&q, sl_sharding_mode_of(&q));
    sl_flat_walk walk = {0};
    sl_flat_unit unit;
    sl_sharded_tensor t = find(&s, "lm_head.weight");
    sl_tensor_part part = sl_sharding_part(&s, &t, 0);

    CU_ASSERT_FALSE(sl_sharding_next_flat(&s, &walk, &unit));
    CU_ASSERT_EQUAL(part.shard_count, 24);
    sl_shard shard = sl_sharding_shard(&part, 1);
    CU_ASSERT_TRUE(shard.flat.begin == 99 && shard.flat.end == 198);
    CU_ASSERT_TRUE(shard.ranks.first == 1 && shard.ranks.run == 1 && shard.ranks.count == 1);
    shard = sl_sharding_shard(&part, 23);
    CU_ASSERT_TRUE(shard.elements == 91 && shard.padding_elements == 8);
    t = find(&s, "self_attn.k_proj.weight");
    part = sl_sharding_part(&s, &t, 0); /* 8 x 64 */
    shard = sl_sharding_shard(&part, 23);
    CU_ASSERT_TRUE(shard.elements == 6 && shard.padding_elements == 16);
    t = find(&s, "model.norm.weight");
    part = sl_sharding_part(&s, &t, 0); /* 64, three on each of 21 ranks, then one */
    shard = sl_sharding_shard(&part, 22);
    CU_ASSERT_TRUE(shard.elements == 0 && shard.padding_elements == 3);
}

/* Four expert ranks of a stack of eight, six wide: beyond eight ranks it is cut along its second
 * axis. */
static void
few_experts_are_cut_along_their_second_axis(void)
{
    for (uint32_t data = 4; data <= 32; data *= 2) {
        sl_dense_spec spec = small(SL_NAMING_LLAMA4);
        spec.experts = (sl_experts){.count = 8, .per_token = 2, .width = 8};
        sl_plan plan = flat_plan(data, 3);
        plan.expert = 4;
        plan.expert_tensor = 1;
        const sl_question q = ask(&spec, plan, SL_FRAMEWORK_FSDP2);
        const sl_sharding s = sl_sharding_of(&q, sl_sharding_mode_of(&q));
        const sl_sharded_tensor t = find(&s, "feed_forward.experts.gate_up_proj");
        const sl_tensor_part part = sl_sharding_part(&s, &t, 1);
        const sl_shard shard = sl_sharding_shard(&part, part.shard_count - 1);
        sl_range box[SL_TENSOR_AXES_MAX];

        CU_ASSERT_EQUAL(part.shard_count, data / 4);
        CU_ASSERT_EQUAL(part.axis, data > 8);
        CU_ASSERT_TRUE(sl_sharding_piece(&s, &t, &part, &shard, 0, box));
        CU_ASSERT_TRUE(box[0].begin == (data == 8 ? 3 : 2) && box[0].end == 4);
        CU_ASSERT_TRUE(box[1].begin == (data > 8 ? 8 - 8 / (data / 4) : 0) && box[1].end == 8);
    }
}

/* Two expert ranks of whole experts over tensor 4: neighbours in the tensor group hold different
 * ones, and what four of eight ranks have alike is sharded over them. */
static void
experts_that_are_not_cut_are_dealt_out_over_the_tensor_group(void)
{
    sl_dense_spec spec = small(SL_NAMING_QWEN2_MOE);
    spec.experts = (sl_experts){.count = 4, .per_token = 2, .width = 8};
    sl_plan plan = flat_plan(2, 1);
    plan.tensor = 4;
    plan.expert = 2;
    plan.expert_tensor = 1;
    const sl_question q = ask(&spec, plan, SL_FRAMEWORK_MEGATRON);
    const sl_sharding s = sl_sharding_of(&q, sl_sharding_mode_of(&q));
    sl_sharded_tensor t = find(&s, "mlp.experts.{}.gate_proj.weight"); /* of expert 0 */
    const sl_tensor_part part = sl_sharding_part(&s, &t, 0);
    const sl_shard shard = sl_sharding_shard(&part, 0);
    sl_flat_walk walk = {0};
    sl_flat_unit unit = {0};

    CU_ASSERT_EQUAL(sl_sharding_part_count(&t), 1);
    CU_ASSERT_EQUAL(shard.elements, 64);
    CU_ASSERT_TRUE(shard.ranks.first == 0 && shard.ranks.run == 1 && shard.ranks.count == 4 &&
                   shard.ranks.stride == 2);
    CU_ASSERT_EQUAL(sl_sharding_place(&s, 5).expert, 1);
    while (!unit.routed && sl_sharding_next_flat(&s, &walk, &unit))
        CU_ASSERT_EQUAL(unit.degree, unit.routed ? 4 : 2);
    CU_ASSERT_TRUE(unit.routed);
    CU_ASSERT_EQUAL(sl_sharding_flat_ranks(&s, &unit, 3).first, 6);
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
    sl_shard shard = sl_sharding_shard(&part, 0);
    CU_ASSERT_EQUAL(part.pieces, 3);
    for (uint64_t i = 0; i < 3; i++) {
        CU_ASSERT_TRUE(sl_sharding_piece(&s, &t, &part, &shard, i, box));
        CU_ASSERT_TRUE(box[0].begin == by_part[i][0] && box[0].end == by_part[i][1]);
        CU_ASSERT_TRUE(box[1].begin == 0 && box[1].end == 8);
    }

    q = ask(&by_head, plan, SL_FRAMEWORK_MEGATRON);
    s = sl_sharding_of(&q, mode);
    t = find(&s, "attention.wqkv.weight");
    part = sl_sharding_part(&s, &t, 1);
    shard = sl_sharding_shard(&part, 0);
    CU_ASSERT_EQUAL(part.pieces, 1);
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

/* Llama's block has attention and MLP before its norms, GPT-2's each norm before what reads it. */
static void
a_flat_tensor_is_in_the_order_of_the_class(void)
{
    static const struct {
        sl_naming naming;
        const char *names[4];
        uint64_t offsets[4];
    } rows[] = {
        {SL_NAMING_LLAMA,
         {"self_attn.q_proj.weight", "mlp.gate_proj.weight", "input_layernorm.weight",
          "post_attention_layernorm.weight"},
         {0, 640, 1024, 1032}}, /* 256 + 64 + 64 + 256, and three of 128 */
        {SL_NAMING_GPT2,
         {"ln_1.weight", "attn.c_attn.weight", "ln_2.weight", "mlp.c_fc.weight"},
         {0, 8, 648, 656}},
    };

    for (uint32_t i = 0; i < 2; i++) {
        sl_dense_spec spec = small(rows[i].naming);
        spec.gated_mlp = i == 0;
        const sl_question q = ask(&spec, flat_plan(8, 3), SL_FRAMEWORK_FSDP1);
        const sl_sharding s = sl_sharding_of(&q, sl_sharding_mode_of(&q));
        for (uint32_t n = 0; n < 4; n++) {
            const sl_sharded_tensor t = find(&s, rows[i].names[n]);
            CU_ASSERT_EQUAL(sl_sharding_part(&s, &t, 0).flat_offset, rows[i].offsets[n]);
        }
    }
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
        const sl_shard shard = sl_sharding_shard(&part, i);
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

/* The way back ends where it began: one table. Two copies of the model make it two ranks, one
 * each. */
static void
a_tied_table_is_held_once_where_both_ends_meet(void)
{
    static const sl_schedule schedules[] = {SL_SCHEDULE_ZB_V, SL_SCHEDULE_DUALPIPE};
    const sl_dense_spec spec = sl_fixture_gpt(8, 1024, 16);

    for (uint32_t i = 0; i < 2; i++) {
        const sl_plan plan = {.tensor = 2,
                              .pipeline = 2,
                              .virtual_pipeline = 2 - i,
                              .context = 1,
                              .expert = 1,
                              .data = 4,
                              .schedule = schedules[i]};
        const sl_question q = ask(&spec, plan, SL_FRAMEWORK_MEGATRON);
        const sl_sharding s = sl_sharding_of(&q, (sl_sharding_mode){SL_SHARDING_NONE, 1, false});
        sl_tensor_walk walk = {0};
        sl_sharded_tensor t;
        uint32_t tables = 0;
        while (sl_sharding_next(&s, &walk, &t))
            if (t.tensor->cut == SL_CUT_VOCABULARY)
                CU_ASSERT_EQUAL(t.stage, tables++);
        CU_ASSERT_EQUAL(tables, sl_schedule_copies(&plan));
    }
}

/* Members of every group by its definition, against the coordinates of each rank. */
static void
groups_partition_the_ranks(void)
{
    for (uint32_t i = 0; i < 60; i++) {
        const sl_dense_spec spec = small(SL_NAMING_LLAMA);
        sl_plan plan = drawn_plan(true);
        plan.shard_group = i % 2 == 1 && plan.data % 2 == 0 ? plan.data / 2 : 0;
        const uint64_t shared = plan.shard_group > 0 ? plan.shard_group : plan.data;
        const uint64_t stage_ranks = sl_plan_world(&plan) / plan.pipeline;
        const uint64_t experts = (uint64_t)plan.expert * sl_plan_expert_tensor(&plan);
        const sl_question q = ask(&spec, plan, SL_FRAMEWORK_MEGATRON);
        const sl_sharding s = sl_sharding_of(&q, (sl_sharding_mode){SL_SHARDING_NONE, 1, false});
        for (uint32_t kind = 0; kind < SL_GROUP_KIND_COUNT; kind++) {
            const sl_rank_groups g = sl_sharding_groups(&s, (sl_group_kind)kind);
            uint32_t seen = 0;
            for (uint64_t start = sl_rank_set_next(&g.starts, 0); start != UINT64_MAX;
                 start = sl_rank_set_next(&g.starts, start + 1))
                for (uint64_t m = 0; m < g.size; m++, seen++) {
                    const sl_place at = sl_sharding_place(&s, start + m * g.stride);
                    const uint64_t in_stage = (start + m * g.stride) % stage_ranks;
                    const uint64_t own[] = {
                        at.tensor,          at.context,
                        at.data % shared,   at.data / shared,
                        at.pipeline,        at.expert,
                        in_stage / experts, in_stage % sl_plan_expert_tensor(&plan)};
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
        SL_CASE(deepspeed_divides_one_vector_of_a_stage),
        SL_CASE(deepspeed_divides_each_parameter_at_stage_3),
        SL_CASE(few_experts_are_cut_along_their_second_axis),
        SL_CASE(experts_that_are_not_cut_are_dealt_out_over_the_tensor_group),
        SL_CASE(buckets_hold_every_parameter_once),
        SL_CASE(buckets_are_filled_from_the_last_parameter),
        SL_CASE(a_frozen_base_has_no_states_to_divide),
        SL_CASE(buckets_take_parameters_as_megatron_has_them),
        SL_CASE(a_fused_projection_is_cut_part_by_part),
        SL_CASE(a_linear_layer_of_4_by_3_is_padded_to_16_ranks),
        SL_CASE(a_flat_tensor_is_in_the_order_of_the_class),
        SL_CASE(short_shards_of_the_first_axis_say_their_padding),
        SL_CASE(a_tied_head_is_held_on_both_ends_of_a_pipeline),
        SL_CASE(a_tied_table_is_held_once_where_both_ends_meet),
        SL_CASE(groups_partition_the_ranks),
        SL_CASE(groups_say_which_links_they_cross),
    };

    return sl_run_cases(argc, argv, "sharding_by_hand", cases, sizeof cases / sizeof cases[0]);
}
