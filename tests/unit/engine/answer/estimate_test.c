#include <stdlib.h>
#include <string.h>

#include "engine_fixture.h"
#include "harness.h"

static sl_cluster cluster;
static sl_software software[2];

static sl_question
gpt_question(uint32_t nodes)
{
    const sl_dense_spec spec = sl_fixture_gpt(8, 1024, 16);

    cluster = sl_fixture_cluster(nodes);
    software[0] = software[1] = sl_fixture_software();
    return sl_fixture_question(sl_fixture_model(&spec), &cluster, software);
}

static const sl_error *
fault(const sl_question *question, const char *rule)
{
    static sl_errors err;

    memset(&err, 0, sizeof err);
    const sl_code code = sl_question_check(question, &err);
    CU_ASSERT_NOT_EQUAL(code, SL_OK);
    for (uint32_t i = 0; i < err.count; i++)
        if (strcmp(err.list[i].rule, rule) == 0)
            return &err.list[i];
    return NULL;
}

static void
expect_fault(const sl_question *question, const char *rule, const char *pointer, const char *hint)
{
    const sl_error *error = fault(question, rule);

    CU_ASSERT_PTR_NOT_NULL(error);
    if (error == NULL)
        return;
    sl_expect_text(error->pointer, pointer, rule);
    sl_expect_text(error->hint, hint, rule);
}

static void
impossible_cuts_name_the_nearest_legal_values(void)
{
    sl_question q = gpt_question(1);

    q.plan.tensor = 7;
    expect_fault(&q, "not_divisible", "/parallelism/tensor", "1, 2, 4, 8");
    expect_fault(&q, "world_size_mismatch", "/parallelism",
                 "tensor x pipeline x context must divide 8");
    q = gpt_question(1);
    q.plan.data = 4;
    expect_fault(&q, "world_size_mismatch", "/parallelism/data", "8");
    q = gpt_question(1);
    q.workload.global_batch = 55; /* of 8 ranks */
    expect_fault(&q, "not_divisible", "/parallelism/data", "global_batch_size 56");
    q = gpt_question(1);
    q.plan.data = 2;
    q.plan.pipeline = 4;
    q.plan.virtual_pipeline = 2;
    q.plan.schedule = SL_SCHEDULE_INTERLEAVED_1F1B;
    q.workload.global_batch = 17; /* in rounds of 4 micro-batches: 8 sequences */
    expect_fault(&q, "not_divisible", "/parallelism/data", "global_batch_size 16");
    q.workload.global_batch = 21;
    expect_fault(&q, "not_divisible", "/parallelism/data", "global_batch_size 24");
    q = gpt_question(1);
    q.workload.micro_batch = 3;
    expect_fault(&q, "not_divisible", "/workload/micro_batch_size", "1, 2");
    q = gpt_question(1);
    q.workload.sequence_length = 4096;
    expect_fault(&q, "out_of_range", "/workload/sequence_length", "at most 2048");
    q = gpt_question(1);
    q.plan.context = 2;
    expect_fault(&q, "needs_fused_attention", "/workload/attention", "flash2, or context 1");
    q.workload.attention = SL_ATTENTION_FLASH2;
    q.workload.sequence_length = 2046;
    expect_fault(&q, "not_divisible", "/parallelism/context",
                 "1, or sequence_length 2048"); /* 3 divides the sequence, not 8 */
    q = gpt_question(1);                        /* 16 heads, 8 of a tensor rank */
    q.plan.tensor = 2;
    q.plan.context = 16;
    q.plan.context_kind = SL_CONTEXT_EXCHANGE;
    q.workload.attention = SL_ATTENTION_FLASH2;
    expect_fault(&q, "not_divisible", "/parallelism/context",
                 "1, 2, 4, or context_kind p2p, or context_kind allgather");
    q = gpt_question(1);
    q.workload.framework = SL_FRAMEWORK_FSDP2;
    q.plan.zero_stage = 1;
    expect_fault(&q, "stage_not_of_framework", "/parallelism/zero_stage", "2, 3");
    q = gpt_question(1);
    q.plan.pipeline = 2;
    q.plan.zero_stage = 3; /* Megatron-FSDP */
    expect_fault(&q, "not_modelled", "/parallelism/zero_stage", "0, 1, or pipeline 1");
    q = gpt_question(1);
    q.workload.precision = SL_PRECISION_FP8;
    expect_fault(&q, "precision_not_supported", "/workload/precision", "bf16, fp16, fp32");
    q = gpt_question(1);
    q.workload.attention = SL_ATTENTION_FLASH3;
    expect_fault(&q, "attention_not_supported", "/workload/attention", "unfused, flash2");
    q = gpt_question(2);
    cluster.nics_per_node = 0;
    expect_fault(&q, "nics_unknown", "/cluster/nics", "");
    q = gpt_question(1);
    q.plan.expert = 2;
    expect_fault(&q, "no_experts", "/parallelism/expert", "1");
    q = gpt_question(1);
    q.plan.expert_tensor = 2;
    expect_fault(&q, "no_experts", "/parallelism/expert_tensor", "1");
    q = gpt_question(1);
    q.plan.context = 2;
    q.unknown = SL_UNKNOWN_ATTENTION; /* of which none is left for it */
    q.workload.precision = SL_PRECISION_FP32;
    expect_fault(&q, "needs_fused_attention", "/workload/precision",
                 "bf16, fp16, or bf16 with attention flash2, or context 1");
    q = gpt_question(1);
    cluster.accelerator.scale_up_domain = 1;
    cluster.accelerator.host_bytes_per_s = 0.0;
    expect_fault(&q, "links_unknown", "/cluster/scale_up_bytes_per_s", "");
}

static void
pipelines_divide_layers_chunks_and_microbatches(void)
{
    sl_question q = gpt_question(1);

    q.plan.pipeline = 11;
    expect_fault(&q, "too_few_layers", "/parallelism/pipeline", "1, 2, 4, 8");
    q = gpt_question(1);
    q.plan.pipeline = 4;
    q.plan.data = 2;
    q.plan.layout_chunks = 3;
    expect_fault(&q, "layout_mismatch", "/parallelism/pipeline_layout",
                 "4 numbers that add up to 8");
    q.plan.layout_chunks = 4;
    for (uint32_t i = 0; i < 4; i++)
        q.plan.layout[i] = 3;
    expect_fault(&q, "layout_mismatch", "/parallelism/pipeline_layout",
                 "4 numbers that add up to 8");
    q.plan.layout[0] = 8;
    q.plan.layout[1] = q.plan.layout[2] = q.plan.layout[3] = 0;
    expect_fault(&q, "layout_mismatch", "/parallelism/pipeline_layout",
                 "4 numbers that add up to 8");
    q = gpt_question(1);
    q.plan.pipeline = 4;
    q.plan.data = 2;
    q.plan.virtual_pipeline = 3;
    q.plan.schedule = SL_SCHEDULE_INTERLEAVED_1F1B;
    expect_fault(&q, "too_few_layers", "/parallelism/virtual_pipeline", "1, 2");
    q.plan.virtual_pipeline = 2;
    q.workload.global_batch = 12;
    expect_fault(&q, "microbatches_not_divisible", "/parallelism/virtual_pipeline",
                 "1, or global_batch_size 16");
    q.workload.global_batch = 10; /* 8 is nearer */
    expect_fault(&q, "microbatches_not_divisible", "/parallelism/virtual_pipeline",
                 "1, or global_batch_size 8");
    q = gpt_question(1);
    q.plan.pipeline = 8;
    q.plan.data = 1;
    q.plan.virtual_pipeline = 2;
    q.plan.schedule = SL_SCHEDULE_ZB_V;
    expect_fault(&q, "too_few_layers", "/parallelism/pipeline", "2, 4");
    q = gpt_question(1);
    q.plan.virtual_pipeline = 2;
    expect_fault(&q, "needs_pipeline", "/parallelism/virtual_pipeline", "1, or pipeline 2");
    q = gpt_question(1);
    q.plan.schedule = SL_SCHEDULE_INTERLEAVED_1F1B;
    expect_fault(&q, "schedule_mismatch", "/parallelism/schedule", "1f1b");
}

static void
ddp_refuses_what_it_cannot_cut(void)
{
    sl_question q = gpt_question(1);

    q.workload.framework = SL_FRAMEWORK_DDP;
    q.plan.tensor = 2;
    q.plan.data = 4;
    expect_fault(&q, "framework_replicates", "/parallelism/tensor", "1, or framework megatron");
    q = gpt_question(1);
    q.workload.framework = SL_FRAMEWORK_DDP;
    q.plan.zero_stage = 1;
    expect_fault(&q, "framework_replicates", "/parallelism/zero_stage",
                 "0, or framework megatron with zero_stage 1");
}

static void
all_faults_come_at_once(void)
{
    sl_question q = gpt_question(1);
    sl_errors err = {0};

    q.plan.tensor = 3;
    q.plan.pipeline = 7;
    q.plan.context = 2;
    q.workload.sequence_length = 9999;
    CU_ASSERT_NOT_EQUAL(sl_question_check(&q, &err), SL_OK);
    CU_ASSERT_TRUE(err.count >= 5);
}

static void
every_choice_offered_is_legal_and_no_legal_one_is_left_out(void)
{
    sl_question q = gpt_question(2);
    uint64_t values[SL_CHOICES_MAX];

    for (uint32_t tensor = 1; tensor <= 16; tensor++) {
        const uint32_t count = sl_question_choices(&q, SL_CHOICE_TENSOR, values);
        bool offered = false;
        sl_question tried = q;
        sl_errors ignored = {0};

        for (uint32_t i = 0; i < count; i++)
            offered = offered || values[i] == tensor;
        tried.plan.tensor = tensor;
        tried.plan.data = 16 / tensor;
        CU_ASSERT_EQUAL(offered, sl_question_check(&tried, &ignored) == SL_OK);
    }
    CU_ASSERT_EQUAL(sl_question_choices(&q, SL_CHOICE_CONTEXT, values), 1);
    CU_ASSERT_EQUAL(sl_question_choices(&q, SL_CHOICE_DATA, values), 1);
    CU_ASSERT_EQUAL(values[0], 16);
}

static bool
offers_stages(const sl_question *q, uint64_t stages)
{
    uint64_t values[SL_CHOICES_MAX];
    const uint32_t count = sl_question_choices(q, SL_CHOICE_PIPELINE, values);

    for (uint32_t i = 0; i < count; i++)
        if (values[i] == stages)
            return true;
    return false;
}

/* 61 layers, and 63 with both ends, on 16 devices: no stages but one are alike. */
static void
unequal_stages_are_offered_where_there_are_no_others(void)
{
    const sl_dense_spec spec = sl_fixture_gpt(61, 1024, 16);
    sl_question q = gpt_question(2);

    CU_ASSERT_TRUE(offers_stages(&q, 8));
    q.model = sl_fixture_model(&spec);
    for (uint32_t stages = 1; stages <= 8; stages *= 2) {
        q.plan.pipeline = stages;
        q.plan.data = 16 / stages;
        CU_ASSERT_TRUE(offers_stages(&q, 2));
        CU_ASSERT_TRUE(offers_stages(&q, 4));
        CU_ASSERT_TRUE(offers_stages(&q, 8));
        CU_ASSERT_FALSE(offers_stages(&q, 3));
    }
}

static void
traffic_that_nothing_hides_widens_the_interval(void)
{
    sl_question q = gpt_question(1);
    const sl_estimate *e = sl_fixture_answer(&q);
    const double narrow = e->step_high_s / e->step_low_s;

    q.plan.tensor = 8;
    q.plan.data = 1;
    e = sl_fixture_answer(&q);
    CU_ASSERT_TRUE(e->time.exposed_communication_s > 0.0);
    CU_ASSERT_TRUE(e->step_high_s / e->step_low_s > narrow);
}

static void
a_host_that_is_waited_for_widens_the_interval(void)
{
    sl_question q = gpt_question(1);
    const sl_estimate *e = sl_fixture_answer(&q);
    const double narrow = e->step_high_s / e->step_low_s;

    CU_ASSERT_FALSE(sl_fixture_has_note(e, "host_speed_assumed"));
    software[0].host_operator_s = 1e-2;
    e = sl_fixture_answer(&q);
    CU_ASSERT_TRUE(e->step_high_s / e->step_low_s > 1.1 * narrow);
    CU_ASSERT_TRUE(e->step_high_s > 1.25 * e->time.step_s);
    CU_ASSERT_TRUE(sl_fixture_has_note(e, "host_speed_assumed"));
    software[0].host_said = true;
    e = sl_fixture_answer(&q);
    CU_ASSERT_TRUE(e->step_high_s < 1.25 * e->time.step_s);
    CU_ASSERT_FALSE(sl_fixture_has_note(e, "host_speed_assumed"));
}

static void
unknown_fields_widen_the_interval_and_the_answer_is_inside(void)
{
    sl_question q = gpt_question(1);
    const sl_estimate *e = sl_fixture_answer(&q);
    const double narrow = e->step_high_s / e->step_low_s;

    CU_ASSERT_EQUAL(e->evaluated, 1);
    q.unknown = SL_UNKNOWN_RECOMPUTE | SL_UNKNOWN_MICRO_BATCH | SL_UNKNOWN_ZERO_STAGE |
                SL_UNKNOWN_ATTENTION | SL_UNKNOWN_DROPOUT;
    e = sl_fixture_answer(&q);
    CU_ASSERT_TRUE(e->evaluated > 10);
    CU_ASSERT_TRUE(e->step_high_s / e->step_low_s > narrow);
    CU_ASSERT_TRUE(e->step_low_s <= e->time.step_s && e->time.step_s <= e->step_high_s);
    CU_ASSERT_TRUE(e->reserved_low_bytes < e->reserved_high_bytes);
    CU_ASSERT_EQUAL(e->workload.attention, SL_ATTENTION_FLASH2); /* fused is the plausible one */
}

static void
a_release_that_fixes_a_choice_leaves_no_other(void)
{
    sl_question q = gpt_question(1);

    software[0].attention = SL_ATTENTION_UNFUSED;
    software[0].dropout = 1;
    q.unknown = SL_UNKNOWN_ATTENTION | SL_UNKNOWN_DROPOUT;
    const sl_estimate *e = sl_fixture_answer(&q);
    CU_ASSERT_EQUAL(e->evaluated, 1);
    CU_ASSERT_EQUAL(e->workload.attention, SL_ATTENTION_UNFUSED);
    CU_ASSERT_TRUE(e->workload.dropout);
}

/* TransformerEngine's on Blackwell, which has laws of both and version 3 of neither. */
static void
an_open_kernel_of_megatron_is_cudnn_where_version_3_is_not(void)
{
    sl_question q = gpt_question(1);
    sl_attention_laws(*const laws)[SL_ATTENTION_WIDTHS_MAX] = cluster.accelerator.attention;

    laws[SL_ATTENTION_CUDNN][0] = laws[SL_ATTENTION_FLASH2][0];
    q.unknown = SL_UNKNOWN_ATTENTION;
    const sl_estimate *e = sl_fixture_answer(&q);
    CU_ASSERT_EQUAL(e->evaluated, 1);
    CU_ASSERT_EQUAL(e->workload.attention, SL_ATTENTION_CUDNN);
    laws[SL_ATTENTION_FLASH3][0] = laws[SL_ATTENTION_FLASH2][0];
    CU_ASSERT_EQUAL(sl_fixture_answer(&q)->evaluated, 3);
}

static void
open_software_asks_every_profile(void)
{
    sl_question q = gpt_question(1);

    software[1].streaming.norm_ratio = 0.1;
    q.software_count = 2;
    q.unknown = SL_UNKNOWN_SOFTWARE;
    CU_ASSERT_EQUAL(sl_fixture_answer(&q)->evaluated, 2);
    cluster.accelerator.release_year = 2022;
    software[0].year = 2021;
    software[1].year = 2024;
    CU_ASSERT_EQUAL(sl_fixture_answer(&q)->evaluated, 1); /* older than the part */
    cluster.accelerator.release_year = 2030;
    CU_ASSERT_EQUAL(sl_fixture_answer(&q)->evaluated, 2); /* there is no other */
    software[1].traced_sharding = true;
    CU_ASSERT_EQUAL(sl_fixture_answer(&q)->evaluated, 1); /* an experiment */
}

/* A release that takes as long, and more memory, answers for an open one only where it is newer. */
static void
the_newest_of_equal_releases_answers(void)
{
    sl_question q = gpt_question(1);

    q.software_count = 2;
    q.unknown = SL_UNKNOWN_SOFTWARE;
    memcpy(software[0].date, "2024-12", sizeof "2024-12");
    memcpy(software[1].date, "2025-09", sizeof "2025-09");
    sl_expect_text(sl_fixture_answer(&q)->software->date, "2025-09", "the second is newer");
    memcpy(software[0].date, "2026-01", sizeof "2026-01");
    sl_expect_text(sl_fixture_answer(&q)->software->date, "2026-01", "the first is");
}

static void
no_legal_combination_is_said(void)
{
    sl_question q = gpt_question(1);
    sl_estimate *space = calloc(2, sizeof *space);
    sl_errors err = {0};

    CU_ASSERT_PTR_NOT_NULL(space);
    if (space == NULL)
        return;
    q.unknown = SL_UNKNOWN_MICRO_BATCH;
    q.workload.global_batch = UINT64_C(8) * 3; /* a replica has three sequences: 1 divides */
    CU_ASSERT_EQUAL(sl_estimate_answer(&q, &space[0], &space[1], &err), SL_OK);
    q.workload.sequence_length = 4096;
    CU_ASSERT_EQUAL(sl_estimate_answer(&q, &space[0], &space[1], &err), SL_E_RANGE);
    sl_expect_text(err.list[0].rule, "no_valid_combination", "rule");
    sl_expect_text(err.list[0].pointer, "/workload/sequence_length", "what no value mends");
    sl_expect_text(err.list[0].hint, "at most 2048", "hint");
    free(space);
}

static void
the_same_question_gives_the_same_bits(void)
{
    sl_question q = gpt_question(2);
    sl_estimate *space = calloc(3, sizeof *space);
    sl_errors err = {0};

    CU_ASSERT_PTR_NOT_NULL(space);
    if (space == NULL)
        return;
    q.unknown = SL_UNKNOWN_RECOMPUTE | SL_UNKNOWN_ATTENTION;
    q.plan.pipeline = 4;
    q.plan.data = 4;
    CU_ASSERT_EQUAL(sl_estimate_answer(&q, &space[0], &space[1], &err), SL_OK);
    CU_ASSERT_EQUAL(sl_estimate_answer(&q, &space[0], &space[2], &err), SL_OK);
    CU_ASSERT_TRUE(
        sl_same_bytes(&space[1].throughput, &space[2].throughput, sizeof space[1].throughput));
    CU_ASSERT_TRUE(sl_same_bytes(&space[1].figures, &space[2].figures, sizeof space[1].figures));
    free(space);
}

static void
layers_that_divide_only_with_embedding_and_head_are_split_so(void)
{
    sl_question q = gpt_question(1);
    const sl_dense_spec spec = sl_fixture_gpt(14, 1024, 16);
    uint32_t blocks = 0;

    q.model = sl_fixture_model(&spec);
    q.plan.pipeline = 8; /* 14 + 2 layers: two a stage, one block on the first and last */
    q.plan.data = 1;
    const sl_memory *memory = &sl_fixture_answer(&q)->memory;
    for (uint32_t i = 0; i < memory->rank_count; i++)
        for (uint32_t t = 0; t < memory->ranks[i].term_count; t++)
            if (memory->ranks[i].terms[t].id == SL_TERM_ACTIVATIONS)
                blocks += (uint32_t)memory->ranks[i].terms[t].inputs[1].value *
                          memory->ranks[i].stage_count;
    CU_ASSERT_EQUAL(blocks, 14);
}

static void
fused_attention_is_refused_outside_16_bits(void)
{
    sl_question q = gpt_question(1);

    q.workload.precision = SL_PRECISION_FP32;
    q.workload.attention = SL_ATTENTION_FLASH2;
    expect_fault(&q, "attention_not_supported", "/workload/attention", "unfused");
    q.workload.attention = SL_ATTENTION_EFFICIENT;
    expect_fault(&q, "attention_not_of_framework", "/workload/attention", "unfused");
    q.unknown = SL_UNKNOWN_ATTENTION;
    const sl_estimate *e = sl_fixture_answer(&q);
    CU_ASSERT_EQUAL(e->workload.attention, SL_ATTENTION_UNFUSED);
    CU_ASSERT_TRUE(e->throughput.mfu_full < 1.0);
}

static void
selective_with_a_fused_kernel_is_not_counted_beside_none(void)
{
    sl_question q = gpt_question(1);

    q.workload.attention = SL_ATTENTION_FLASH2;
    q.unknown = SL_UNKNOWN_RECOMPUTE;
    CU_ASSERT_EQUAL(sl_fixture_answer(&q)->evaluated, 2); /* none and full */
    q.workload.attention = SL_ATTENTION_UNFUSED;
    CU_ASSERT_EQUAL(sl_fixture_answer(&q)->evaluated, 3);
}

static void
more_bytes_than_can_be_counted_are_refused(void)
{
    sl_question q = gpt_question(1);
    sl_estimate *space = calloc(2, sizeof *space);
    const sl_dense_spec spec = sl_fixture_llama();
    sl_errors err = {0};

    CU_ASSERT_PTR_NOT_NULL(space);
    if (space == NULL)
        return;
    q.model = sl_fixture_model(&spec); /* rotary: no end of positions */
    q.workload.sequence_length = 1 << 24;
    q.workload.global_batch = 512;
    q.workload.micro_batch = 64;
    CU_ASSERT_EQUAL(sl_question_check(&q, &err), SL_OK);
    CU_ASSERT_EQUAL(sl_estimate_answer(&q, &space[0], &space[1], &err), SL_E_RANGE);
    sl_expect_text(err.list[0].rule, "out_of_range", "rule");
    free(space);
}

static double
input(const sl_term *term, const char *name)
{
    CU_ASSERT_TRUE(sl_term_find(term, name) < term->input_count); /* else a formula lacks it */
    return sl_term_input(term, name);
}

static double
bytes_of_inputs(const sl_term *m)
{
    switch (m->id) {
    case SL_TERM_PIPELINE_BUFFERS:
        return 2.0 * (input(m, "received_bytes") + input(m, "sent_bytes")) /
               input(m, "ranks_sharing");
    case SL_TERM_BACKWARD_TRANSIENT:
        return input(m, "element_bytes") * input(m, "tokens") * input(m, "width") +
               input(m, "beside_bytes") + input(m, "held_bytes") + input(m, "mask_bytes");
    case SL_TERM_RECOMPUTED_BLOCK:
        return input(m, "block_bytes") - input(m, "kept_bytes");
    case SL_TERM_DUMMY_WEIGHT_GRADIENTS:
        return input(m, "elements") * input(m, "element_bytes");
    case SL_TERM_WORKSPACES:
        return input(m, "pytorch_workspaces") * input(m, "pytorch_workspace_bytes") +
               (input(m, "engine_workspaces") + input(m, "expert_workspaces")) *
                   input(m, "engine_workspace_bytes");
    case SL_TERM_ACTIVATIONS:
        return input(m, "microbatches_in_flight") * input(m, "blocks") *
                   input(m, "bytes_per_block") +
               input(m, "embedding_and_head_bytes");
    case SL_TERM_STEP_LISTS:
        return input(m, "step_lists") * input(m, "bytes_per_parameter") *
               ((input(m, "parameters") - input(m, "routed_parameters")) / input(m, "shards") +
                input(m, "routed_parameters") / input(m, "routed_shards") + input(m, "padding"));
    default:
        return m->value;
    }
}

/* Whether lists of the optimizer's step are among them. */
static bool
check_shown_bytes(const sl_estimate *e)
{
    bool lists = false;

    for (uint32_t r = 0; r < e->memory.rank_count; r++)
        for (uint32_t i = 0; i < e->memory.ranks[r].term_count; i++) {
            const sl_term *m = &e->memory.ranks[r].terms[i];
            lists |= m->id == SL_TERM_STEP_LISTS;
            sl_expect_near(bytes_of_inputs(m), m->value, 1e-6, sl_term_describe(m->id)->formula);
        }
    return lists;
}

/* The formulas of engine/answer/terms.c, worked from nothing but the inputs that are shown. */
static void
shown_inputs_give_the_shown_values(void)
{
    sl_question q = gpt_question(2);

    q.plan.pipeline = 4;
    q.plan.data = 4;
    q.plan.zero_stage = 1;
    software[0].dummy_weight_gradients = true;
    software[0].pytorch_workspaces = 2.0;
    software[0].engine_workspaces = 1.0;
    cluster.accelerator.pytorch_workspace_bytes = 3e7;
    cluster.accelerator.engine_workspace_bytes = 4e6;
    q.workload.recompute = SL_RECOMPUTE_FULL;
    const sl_estimate *e = sl_fixture_answer(&q);
    const sl_term *t = e->time.terms;
    const sl_term *bubble = &t[SL_TERM_BUBBLE - SL_TERM_FORWARD];
    const sl_term *optimizer = &t[SL_TERM_OPTIMIZER_STEP - SL_TERM_FORWARD];
    const sl_term *ratio = &e->figures[SL_TERM_BUBBLE_RATIO - SL_TERM_USABLE];
    const sl_term *peak = &e->figures[SL_TERM_PEAK_ALLOCATED - SL_TERM_USABLE];
    const sl_term *mfu = &e->figures[SL_TERM_MFU_FULL - SL_TERM_USABLE];

    sl_expect_near((input(bubble, "busy_sum_s") - input(bubble, "slowest_busy_s")) /
                       input(bubble, "chunks_per_rank"),
                   bubble->value, 1e-12, "bubble");
    sl_expect_near(input(optimizer, "parameters") *
                       (input(optimizer, "bytes_per_parameter") / input(optimizer, "shards") +
                        input(optimizer, "zeroed_bytes_per_parameter")) /
                       input(optimizer, "bandwidth_bytes_per_s"),
                   optimizer->value, 1e-12, "optimizer");
    sl_expect_near(1.0 - input(ratio, "microbatches") * input(ratio, "busy_sum_s") /
                             (input(ratio, "pipeline") * input(ratio, "span_s")),
                   ratio->value, 1e-9, "bubble ratio");
    sl_expect_near(input(peak, "persistent_bytes") + input(peak, "activation_bytes") +
                       input(peak, "transient_bytes"),
                   peak->value, 1e-12, "peak allocated");
    sl_expect_near(input(mfu, "model_flops") / (input(mfu, "step_s") * input(mfu, "accelerators") *
                                                input(mfu, "peak_flops_per_s")),
                   mfu->value, 1e-12, "mfu");
    (void)check_shown_bytes(e);

    software[0].step_lists = 1.0;
    q.workload.sequence_length = 8; /* so that the optimizer's phase is the peak */
    CU_ASSERT_TRUE(check_shown_bytes(sl_fixture_answer(&q)));
}

static void
fixes_fit_first_and_every_fix_passes_its_check(void)
{
    sl_question q = gpt_question(2);

    cluster.accelerator.memory_bytes = (uint64_t)5 << 30;
    q.plan.tensor = 2;
    q.plan.data = 8;
    q.workload.micro_batch = 2;
    const sl_estimate *e = sl_fixture_answer(&q);
    CU_ASSERT_FALSE(e->fits);
    CU_ASSERT_TRUE(e->memory.headroom_bytes < 0);
    sl_expect_text(e->binding_limit, "memory", "limit");
    CU_ASSERT_TRUE(e->fix_count >= 3);
    CU_ASSERT_TRUE(e->fixes[0].fits);
    for (uint32_t i = 0; i < e->fix_count; i++) {
        sl_question fixed = q;
        sl_errors err = {0};
        fixed.workload = e->fixes[i].workload;
        fixed.plan = e->fixes[i].plan;
        CU_ASSERT_EQUAL(sl_question_check(&fixed, &err), SL_OK);
        CU_ASSERT_TRUE(e->fixes[i].device_total_bytes <
                       e->memory.ranks[e->memory.binding].device_total_bytes);
        CU_ASSERT_TRUE(i == 0 || e->fixes[i - 1].fits >= e->fixes[i].fits);
    }
}

static const sl_case cases[] = {
    SL_CASE(impossible_cuts_name_the_nearest_legal_values),
    SL_CASE(pipelines_divide_layers_chunks_and_microbatches),
    SL_CASE(ddp_refuses_what_it_cannot_cut),
    SL_CASE(all_faults_come_at_once),
    SL_CASE(every_choice_offered_is_legal_and_no_legal_one_is_left_out),
    SL_CASE(unequal_stages_are_offered_where_there_are_no_others),
    SL_CASE(traffic_that_nothing_hides_widens_the_interval),
    SL_CASE(a_host_that_is_waited_for_widens_the_interval),
    SL_CASE(unknown_fields_widen_the_interval_and_the_answer_is_inside),
    SL_CASE(a_release_that_fixes_a_choice_leaves_no_other),
    SL_CASE(an_open_kernel_of_megatron_is_cudnn_where_version_3_is_not),
    SL_CASE(open_software_asks_every_profile),
    SL_CASE(the_newest_of_equal_releases_answers),
    SL_CASE(no_legal_combination_is_said),
    SL_CASE(the_same_question_gives_the_same_bits),
    SL_CASE(layers_that_divide_only_with_embedding_and_head_are_split_so),
    SL_CASE(fused_attention_is_refused_outside_16_bits),
    SL_CASE(selective_with_a_fused_kernel_is_not_counted_beside_none),
    SL_CASE(more_bytes_than_can_be_counted_are_refused),
    SL_CASE(shown_inputs_give_the_shown_values),
    SL_CASE(fixes_fit_first_and_every_fix_passes_its_check),
};

int
main(int argc, char **argv)
{
    return sl_run_cases(argc, argv, "estimate", cases, sizeof cases / sizeof cases[0]);
}
