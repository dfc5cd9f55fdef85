/* What a framework refuses by itself is refused here, with what it would take. */
#include <stdio.h>

#include "engine_fixture.h"
#include "harness.h"
#include "shardline/plan.h"

static sl_cluster cluster;
static sl_software software;

static sl_question
llama_question(sl_framework framework)
{
    sl_question q = sl_fixture_llama_question(1, &cluster, &software);

    q.workload.framework = framework;
    return q;
}

typedef struct fault {
    const char *pointer, *rule, *hint;
} fault;

static void
expect_faults(const sl_question *q, const fault *faults, uint32_t count)
{
    sl_errors err = {0};

    CU_ASSERT_EQUAL(sl_question_check(q, &err), SL_E_RANGE);
    CU_ASSERT_EQUAL_FATAL(err.count, count);
    for (uint32_t i = 0; i < count; i++) {
        sl_expect_text(err.list[i].pointer, faults[i].pointer, faults[i].rule);
        sl_expect_text(err.list[i].rule, faults[i].rule, "rule");
        sl_expect_text(err.list[i].hint, faults[i].hint, faults[i].rule);
    }
}

static void
expect_fault(const sl_question *q, const char *pointer, const char *rule, const char *hint)
{
    expect_faults(q, &(fault){pointer, rule, hint}, 1);
}

static void
expect_legal(const sl_question *q)
{
    sl_errors err = {0};

    CU_ASSERT_EQUAL(sl_question_check(q, &err), SL_OK);
}

/* DeepSpeed runtime/pipe/engine.py takes TrainSchedule, whatever one asks. */
static void
deepspeed_runs_1f1b_alone(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_DEEPSPEED);

    q.plan.pipeline = 4;
    q.plan.data = 2;
    q.plan.schedule = SL_SCHEDULE_1F1B;
    expect_legal(&q);
    q.plan.schedule = SL_SCHEDULE_GPIPE;
    expect_fault(&q, "/parallelism/schedule", "schedule_not_of_framework", "1f1b");
    /* On one stage as well: shapes of other schedules are nothing to advise. */
    q.plan.pipeline = 1;
    q.plan.data = 8;
    q.plan.schedule = SL_SCHEDULE_ZB_V;
    expect_fault(&q, "/parallelism/schedule", "schedule_not_of_framework", "1f1b");
    q.plan.pipeline = 4;
    q.plan.data = 2;
    q.plan.schedule = SL_SCHEDULE_INTERLEAVED_1F1B;
    q.plan.virtual_pipeline = 2;
    /* One chunk alone makes it legal, since the schedule follows; another schedule alone does not. */
    const fault chunks[] = {
        {"/parallelism/virtual_pipeline", "schedule_not_of_framework", "1"},
        {"/parallelism/schedule", "schedule_not_of_framework", ""},
    };
    expect_faults(&q, chunks, 2);
    q.workload.framework = SL_FRAMEWORK_MEGATRON;
    expect_legal(&q);
}

/* moe_layer.py raises in training: experts beside tensor ranks go with sequence parallelism. */
static void
megatron_deals_experts_beside_tensor_ranks_along_the_sequence(void)
{
    cluster = sl_fixture_cluster(1);
    software = sl_fixture_software();
    sl_question q = sl_fixture_mixture_question(&cluster, &software);

    q.plan.tensor = 2;
    q.plan.data = 4;
    q.plan.expert = 4;
    q.plan.expert_tensor = 1;
    q.plan.sequence = true;
    expect_legal(&q);
    q.plan.sequence = false;
    expect_fault(&q, "/parallelism/sequence", "needs_sequence", "true");
    q.workload.sequence_length -= 1; /* which the ranks cannot share */
    const uint64_t shared = q.workload.sequence_length + 1;
    char hint[96];
    (void)snprintf(hint, sizeof hint, "1, or sequence true and sequence_length %llu",
                   (unsigned long long)shared);
    expect_fault(&q, "/parallelism/tensor", "needs_sequence", hint);
    q.workload.sequence_length = shared;
    q.unknown = SL_UNKNOWN_SEQUENCE;
    expect_legal(&q);
    q.unknown = 0;
    q.plan.expert = 1;
    expect_legal(&q);
}

/* Eight key-value heads on sixteen ranks: Megatron repeats them, DTensor has no half of one. */
static void
torchtitan_cuts_no_key_value_head(void)
{
    const sl_dense_spec spec = {.naming = SL_NAMING_LLAMA,
                                .blocks = 4,
                                .hidden = 2048,
                                .ffn = 8192,
                                .vocabulary = 128256,
                                .heads = 32,
                                .kv_heads = 4,
                                .head_dim = 64,
                                .gated_mlp = true,
                                .has_head = true};
    cluster = sl_fixture_cluster(1);
    software = sl_fixture_software();
    sl_question q = sl_fixture_question(sl_fixture_model(&spec), &cluster, &software);

    q.plan.tensor = 8;
    q.plan.data = 1;
    expect_legal(&q);
    q.workload.framework = SL_FRAMEWORK_FSDP2;
    q.plan.zero_stage = 3;
    expect_fault(&q, "/parallelism/tensor", "not_divisible", "1, 2, 4");
    q.plan.tensor = 4;
    q.plan.data = 2;
    expect_legal(&q);
}

/* Rows of operands: 8 where a tensor has one scale, whole blocks of scales of MXFP8. */
static void
transformer_engine_multiplies_whole_blocks_of_tokens(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_MEGATRON);

    cluster.accelerator.peak_flops_per_s[SL_PRECISION_FP8] = 2e15;
    q.workload.precision = SL_PRECISION_FP8;
    expect_legal(&q);
    q.workload.sequence_length = 4097;
    expect_fault(&q, "/workload/sequence_length", "not_aligned", "4104, or precision bf16");
    q.workload.precision = SL_PRECISION_BF16;
    expect_legal(&q);
    q.workload.precision = SL_PRECISION_FP8;
    q.workload.sequence_length = 1000; /* 125 rows of each rank, before they are gathered */
    q.plan.tensor = 8;
    q.plan.data = 1;
    expect_legal(&q);
    q.plan.sequence = true;
    expect_fault(&q, "/workload/sequence_length", "not_aligned", "1024, or precision bf16");
}

static const sl_case cases[] = {
    SL_CASE(deepspeed_runs_1f1b_alone),
    SL_CASE(megatron_deals_experts_beside_tensor_ranks_along_the_sequence),
    SL_CASE(torchtitan_cuts_no_key_value_head),
    SL_CASE(transformer_engine_multiplies_whole_blocks_of_tokens),
};

int
main(int argc, char **argv)
{
    return sl_run_cases(argc, argv, "framework_rules", cases, sizeof cases / sizeof cases[0]);
}
