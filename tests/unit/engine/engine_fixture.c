#include "engine_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

static sl_model the_model;
static sl_timeline the_timeline;
static sl_estimate the_answer;
static sl_estimate the_scratch;

sl_dense_spec
sl_fixture_gpt(uint32_t blocks, uint64_t hidden, uint32_t heads)
{
    return (sl_dense_spec){
        .naming = SL_NAMING_GPT2,
        .blocks = blocks,
        .hidden = hidden,
        .ffn = 4 * hidden,
        .vocabulary = 51200,
        .learned_positions = 2048,
        .heads = heads,
        .kv_heads = heads,
        .head_dim = (uint32_t)(hidden / heads),
        .layer_norm = true,
        .qkv_bias = true,
        .output_bias = true,
        .mlp_bias = true,
        .tied = true,
        .has_head = true,
    };
}

sl_dense_spec
sl_fixture_llama(void)
{
    return (sl_dense_spec){
        .naming = SL_NAMING_LLAMA,
        .blocks = 16,
        .hidden = 2048,
        .ffn = 8192,
        .vocabulary = 32768,
        .heads = 32,
        .kv_heads = 8,
        .head_dim = 64,
        .gated_mlp = true,
        .has_head = true,
    };
}

sl_model *
sl_fixture_own_model(const sl_dense_spec *spec)
{
    sl_errors err = {0};

    memset(&the_model, 0, sizeof the_model);
    CU_ASSERT_EQUAL(sl_model_describe_dense(spec, &the_model, &err), SL_OK);
    return &the_model;
}

const sl_model *
sl_fixture_model(const sl_dense_spec *spec)
{
    return sl_fixture_own_model(spec);
}

sl_cluster
sl_fixture_cluster(uint32_t nodes)
{
    sl_cluster cluster = {
        .nodes = nodes,
        .accelerators_per_node = 8,
        .nics_per_node = 8,
        .nic_bytes_per_s = 10e9,
        .fabric = {"infiniband", 0.96, 0.72, 1.0, 1.0, 0.0, 1.0, 1.0, false, false, 1.0, 1.0},
        .oversubscription_ratio = 1.0,
    };
    sl_accelerator *part = &cluster.accelerator;
    const sl_collective_law law = {10e-6, 100e9, 0.0};

    memcpy(part->id, "round", sizeof "round");
    part->memory_bytes = (uint64_t)80 << 30;
    part->memory_bytes_per_s = 1e12;
    part->peak_flops_per_s[SL_PRECISION_BF16] = 100e12;
    part->peak_flops_per_s[SL_PRECISION_FP16] = 100e12;
    part->peak_flops_per_s[SL_PRECISION_FP32] = 10e12;
    part->scale_up_bytes_per_s = 100e9;
    part->scale_up_domain = 8;
    part->host_bytes_per_s = 20e9;
    part->gemm = (sl_gemm_law){.multiprocessors = 100.0,
                               .peak_flops_per_s = 80e12,
                               .prologue_k = 100.0,
                               .launch_s = 4e-6,
                               .bandwidth_bytes_per_s = 0.8e12,
                               .rate_128x128_ratio = 0.9,
                               .rate_128x64_ratio = 0.8,
                               .rate_64x64_ratio = 0.7};
    part->attention[SL_ATTENTION_FLASH2][0] =
        (sl_attention_laws){64, {60e12, 500.0, 0.0}, {50e12, 500.0, 0.0}};
    for (uint32_t kind = 0; kind < SL_COLLECTIVE_COUNT; kind++)
        for (uint32_t size = 0; size < SL_COLLECTIVE_SIZES; size++)
            part->collective[kind][size] = law;
    part->sustained_ratio = 1.0;
    part->sustained_low_ratio = 0.9;
    part->sustained_high_ratio = 1.1;
    return cluster;
}

sl_software
sl_fixture_software(void)
{
    return (sl_software){
        .name = "fixture",
        .framework = "megatron",
        .attention = -1,
        .dropout = -1,
        .streaming = {0.7, 0.85, 0.85, 0.7, 0.85},
        .logits_peak_bytes = 6.0,
        .fused_logits_peak_bytes = 2.0,
        .chunked_logits_peak_bytes = 1.75,
        .fragmentation_ratio = 1.05,
        .fragmentation_low_ratio = 1.028,
        .fragmentation_high_ratio = 1.093,
        .exchange_kept = true,
        .sums_kept = true,
        .splits_sequence = true,
        .regathers_inputs = true,
        .gradient_accumulation_fusion = 1.0,
        .overlap_loss_ratio = 0.3,
        .step_overhead_s = 0.0,
    };
}

sl_question
sl_fixture_question(const sl_model *model, const sl_cluster *cluster, const sl_software *software)
{
    return (sl_question){
        .model = model,
        .cluster = cluster,
        .software = software,
        .software_count = 1,
        .workload =
            {
                .framework = SL_FRAMEWORK_MEGATRON,
                .sequence_length = 2048,
                .global_batch = 16,
                .micro_batch = 1,
                .precision = SL_PRECISION_BF16,
                .optimizer = SL_OPTIMIZER_ADAMW,
                .recompute = SL_RECOMPUTE_NONE,
                .attention = SL_ATTENTION_UNFUSED,
                .layout = {-1.0, -1.0, -1.0, -1.0},
            },
        .plan =
            {
                .tensor = 1,
                .pipeline = 1,
                .virtual_pipeline = 1,
                .context = 1,
                .expert = 1,
                .data = cluster->nodes * cluster->accelerators_per_node,
                .schedule = SL_SCHEDULE_1F1B,
            },
    };
}

static sl_question
question_of(const sl_dense_spec *spec, uint32_t nodes, sl_cluster *cluster, sl_software *software)
{
    *cluster = sl_fixture_cluster(nodes);
    *software = sl_fixture_software();
    sl_question q = sl_fixture_question(sl_fixture_model(spec), cluster, software);
    q.workload.attention = SL_ATTENTION_FLASH2;
    return q;
}

sl_question
sl_fixture_llama_question(uint32_t nodes, sl_cluster *cluster, sl_software *software)
{
    const sl_dense_spec spec = sl_fixture_llama();

    return question_of(&spec, nodes, cluster, software);
}

sl_question
sl_fixture_latent_question(uint64_t expert_width, sl_cluster *cluster, sl_software *software)
{
    sl_dense_spec spec = sl_fixture_llama();

    spec.naming = SL_NAMING_DEEPSEEK;
    spec.blocks = 4;
    spec.heads = spec.kv_heads = 16;
    spec.latent = (sl_latent){
        .query_rank = 768, .kv_rank = 512, .plain_dim = 128, .rotary_dim = 64, .value_dim = 128};
    spec.experts =
        (sl_experts){.count = 8, .per_token = 2, .width = expert_width, .shared_width = 512};
    return question_of(&spec, 1, cluster, software);
}

sl_question
sl_fixture_mixture_question(const sl_cluster *cluster, const sl_software *software)
{
    sl_dense_spec spec = sl_fixture_llama();

    spec.naming = SL_NAMING_MIXTRAL;
    spec.blocks = 4;
    spec.ffn = 1024;
    spec.experts = (sl_experts){.count = 8, .per_token = 2, .width = 1024};

    sl_question q = sl_fixture_question(sl_fixture_model(&spec), cluster, software);
    q.workload.attention = SL_ATTENTION_FLASH2;
    q.plan.zero_stage = 1;
    return q;
}

const sl_estimate *
sl_fixture_answer(const sl_question *question)
{
    sl_errors err = {0};
    sl_code code = sl_question_check(question, &err);

    if (code == SL_OK)
        code = sl_estimate_answer(question, &the_scratch, &the_answer, &err);
    CU_ASSERT_EQUAL(code, SL_OK);
    for (uint32_t i = 0; i < err.count; i++)
        printf("  %s: %s: %s\n", err.list[i].pointer, err.list[i].rule, err.list[i].message);
    return &the_answer;
}

const sl_timeline *
sl_fixture_timeline(const sl_question *question, const sl_estimate *answer)
{
    sl_errors err = {0};
    size_t bytes = 0;

    CU_ASSERT_EQUAL_FATAL(sl_timeline_size(question, answer, &bytes, &err), SL_OK);
    void *space = malloc(bytes);
    CU_ASSERT_PTR_NOT_NULL_FATAL(space);
    sl_timeline_simulate(question, answer, NULL, NULL, space, &the_timeline);
    free(space);
    return &the_timeline;
}

double
sl_fixture_bytes(const sl_rank_memory *rank, sl_term_id id)
{
    for (uint32_t i = 0; i < rank->term_count; i++)
        if (rank->terms[i].id == id)
            return rank->terms[i].value;
    return 0.0;
}

double
sl_fixture_seconds(const sl_estimate *estimate, sl_term_id id)
{
    return estimate->time.terms[id - SL_TERM_FORWARD].value;
}

double
sl_fixture_sent_bytes(const sl_question *question, const char *group, sl_collective collective)
{
    const sl_time *time = &sl_fixture_answer(question)->time;
    double bytes = 0.0;

    for (uint32_t i = 0; i < time->communication_count; i++) {
        const sl_communication *row = &time->communication[i];
        if ((group == NULL || strcmp(row->group, group) == 0) &&
            (collective == SL_COLLECTIVE_COUNT || row->collective == collective))
            bytes += row->bytes_per_step;
    }
    return bytes;
}

double
sl_fixture_issued_s(const sl_estimate *estimate)
{
    const sl_term *launch = &estimate->time.terms[SL_TERM_LAUNCH - SL_TERM_FORWARD];

    return sl_term_input(launch, "microbatches") * sl_term_input(launch, "microbatch_issued_s");
}

double
sl_fixture_bytes_of(const sl_question *question, sl_term_id id)
{
    return sl_fixture_bytes(&sl_fixture_answer(question)->memory.ranks[0], id);
}

static const double BLOCKS = 16.0, HIDDEN = 2048.0, KEYS = 512.0, FFN = 8192.0, ROWS = 32768.0;

double
sl_fixture_llama_block(void)
{
    return HIDDEN * (2.0 * HIDDEN + 2.0 * KEYS) + 3.0 * HIDDEN * FFN + 2.0 * HIDDEN;
}

double
sl_fixture_llama_root(void)
{
    return 2.0 * ROWS * HIDDEN + HIDDEN;
}

double
sl_fixture_llama_all(void)
{
    return BLOCKS * sl_fixture_llama_block() + sl_fixture_llama_root();
}

bool
sl_fixture_has_note(const sl_estimate *answer, const char *code)
{
    for (uint32_t i = 0; i < answer->note_count; i++)
        if (strcmp(answer->notes[i].code, code) == 0)
            return true;
    return false;
}
