/* When gradients that add up over micro-batches are reduced: what each framework does, and what
 * waiting for the last one costs in memory and spares in traffic. */
#include "engine_fixture.h"
#include "harness.h"

static sl_cluster cluster;
static sl_software software;

static const double BLOCKS = 16.0, HIDDEN = 2048.0, KEYS = 512.0, ROWS = 32768.0;

/* Llama of the fixture on one node of 8, two micro-batches a step, sequences so short that
 * activations are nothing. */
static sl_question
llama_question(sl_framework framework, uint32_t stage)
{
    sl_question q = sl_fixture_llama_question(1, &cluster, &software);

    software.logits_peak_bytes = 0.0;
    q.workload.framework = framework;
    q.workload.sequence_length = 8;
    q.plan.zero_stage = stage;
    return q;
}

/* Bytes a step of one collective of the data group, and what of it is exposed. */
static double
traffic_of(const sl_question *q, sl_collective collective, double *exposed_ratio)
{
    const sl_time *time = &sl_fixture_answer(q)->time;
    double bytes = 0.0, seconds = 0.0, exposed_s = 0.0;

    for (uint32_t i = 0; i < time->communication_count; i++) {
        const sl_communication *row = &time->communication[i];
        if (row->collective != collective)
            continue;
        bytes += row->bytes_per_step;
        seconds += row->seconds;
        exposed_s += row->exposed_s;
    }
    if (exposed_ratio != NULL)
        *exposed_ratio = exposed_s / seconds;
    return bytes;
}

/* One row a framework and stage: what it does by itself, and what it can be told. */
static void
each_framework_reduces_as_it_does(void)
{
    static const struct {
        sl_framework framework;
        uint32_t stage;
        sl_gradient_sync own;
        const char *refused; /* hint where the other one is refused, else NULL */
    } rows[] = {
        {SL_FRAMEWORK_DDP, 0, SL_GRADIENT_SYNC_LAST, NULL},
        {SL_FRAMEWORK_DP, 0, SL_GRADIENT_SYNC_EACH, "each, or framework ddp"},
        {SL_FRAMEWORK_FSDP1, 0, SL_GRADIENT_SYNC_LAST, NULL},
        {SL_FRAMEWORK_FSDP1, 2, SL_GRADIENT_SYNC_EACH, NULL},
        {SL_FRAMEWORK_FSDP1, 3, SL_GRADIENT_SYNC_EACH, NULL},
        {SL_FRAMEWORK_FSDP2, 2, SL_GRADIENT_SYNC_EACH, NULL},
        {SL_FRAMEWORK_FSDP2, 3, SL_GRADIENT_SYNC_EACH, NULL},
        {SL_FRAMEWORK_DEEPSPEED, 0, SL_GRADIENT_SYNC_LAST, "last, or zero_stage 2"},
        {SL_FRAMEWORK_DEEPSPEED, 1, SL_GRADIENT_SYNC_LAST, "last, or zero_stage 2"},
        {SL_FRAMEWORK_DEEPSPEED, 2, SL_GRADIENT_SYNC_EACH, "each, or zero_stage 1"},
        {SL_FRAMEWORK_DEEPSPEED, 3, SL_GRADIENT_SYNC_EACH, "each, or zero_stage 1"},
        {SL_FRAMEWORK_MEGATRON, 0, SL_GRADIENT_SYNC_LAST, "last, or zero_stage 3"},
        {SL_FRAMEWORK_MEGATRON, 1, SL_GRADIENT_SYNC_LAST, "last, or zero_stage 3"},
        {SL_FRAMEWORK_MEGATRON, 2, SL_GRADIENT_SYNC_EACH, "each, or zero_stage 1"},
        {SL_FRAMEWORK_MEGATRON, 3, SL_GRADIENT_SYNC_EACH, "each, or zero_stage 1"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        sl_question q = llama_question(rows[i].framework, rows[i].stage);
        sl_errors err = {0};
        CU_ASSERT_EQUAL(sl_plan_gradient_sync(&q.workload, &q.plan), rows[i].own);
        q.plan.gradient_sync = rows[i].own;
        CU_ASSERT_EQUAL(sl_question_check(&q, &err), SL_OK);
        q.plan.gradient_sync =
            rows[i].own == SL_GRADIENT_SYNC_EACH ? SL_GRADIENT_SYNC_LAST : SL_GRADIENT_SYNC_EACH;
        CU_ASSERT_EQUAL(sl_plan_gradient_sync(&q.workload, &q.plan), q.plan.gradient_sync);
        CU_ASSERT_EQUAL(sl_question_check(&q, &err), rows[i].refused == NULL ? SL_OK : SL_E_RANGE);
        if (rows[i].refused == NULL)
            continue;
        sl_expect_text(err.list[0].rule, "gradient_sync_not_of_framework", "rule");
        sl_expect_text(err.list[0].pointer, "/parallelism/gradient_sync", "pointer");
        sl_expect_text(err.list[0].hint, rows[i].refused, "hint");
    }
}

static void
what_is_said_of_itself_changes_nothing(void)
{
    static const sl_framework frameworks[] = {SL_FRAMEWORK_DDP, SL_FRAMEWORK_FSDP1,
                                              SL_FRAMEWORK_FSDP2, SL_FRAMEWORK_DEEPSPEED};

    for (size_t i = 0; i < sizeof frameworks / sizeof frameworks[0]; i++) {
        sl_question q = llama_question(frameworks[i], i == 0 ? 0 : 3);
        const double step_s = sl_fixture_answer(&q)->time.step_s;
        const uint64_t bytes = sl_fixture_answer(&q)->memory.ranks[0].device_total_bytes;
        q.plan.gradient_sync = sl_plan_gradient_sync(&q.workload, &q.plan);
        CU_ASSERT_EQUAL(sl_fixture_answer(&q)->time.step_s, step_s);
        CU_ASSERT_EQUAL(sl_fixture_answer(&q)->memory.ranks[0].device_total_bytes, bytes);
    }
}

/* fully_shard: all of them in reduce_dtype, the head's new one, and of the block in use the copy
 * that is reduced, whose own have gone by then, and its output. */
static void
fsdp2_keeps_whole_gradients_in_the_type_it_reduces(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_FSDP2, 3);
    const double n = sl_fixture_llama_all();
    const double head = ROWS * HIDDEN + HIDDEN;
    const double block = sl_fixture_llama_block();

    CU_ASSERT_EQUAL(sl_fixture_bytes_of(&q, SL_TERM_WAITING_GRADIENTS), 0.0);
    q.plan.gradient_sync = SL_GRADIENT_SYNC_LAST;
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_WAITING_GRADIENTS), 4.0 * n, 1e-8, "fp32");
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_UNSHARDED_GRADIENTS),
                   2.0 * head + block * (4.0 + 4.0 / 8.0), 1e-8, "a block on its way");
    CU_ASSERT_EQUAL(sl_fixture_bytes_of(&q, SL_TERM_GRADIENTS), 0.0);
    q.workload.reduce = SL_WIRE_BF16;
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_WAITING_GRADIENTS), 2.0 * n, 1e-8, "bf16");
    q.workload.global_batch = 8;
    CU_ASSERT_EQUAL(sl_fixture_bytes_of(&q, SL_TERM_WAITING_GRADIENTS), 0.0);
}

static void
fsdp1_keeps_them_as_autograd_makes_them(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_FSDP1, 3);

    q.plan.gradient_sync = SL_GRADIENT_SYNC_LAST;
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_WAITING_GRADIENTS), 2.0 * sl_fixture_llama_all(),
                   1e-8, "bf16, reduced in fp32");
    q.workload.gather = SL_WIRE_FP32;
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_WAITING_GRADIENTS), 4.0 * sl_fixture_llama_all(),
                   1e-8, "param_dtype fp32");
}

/* The gradient of a large embedding is made last, beside all that wait and before any is
 * reduced. */
static void
a_large_vocabulary_is_fullest_before_the_last_micro_batch(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_FSDP2, 3);
    sl_dense_spec spec = sl_fixture_llama();
    spec.vocabulary = 262144;
    q.model = sl_fixture_model(&spec);
    q.plan.gradient_sync = SL_GRADIENT_SYNC_LAST;
    const sl_rank_memory *rank = &sl_fixture_answer(&q)->memory.ranks[0];
    const double root = 2.0 * 262144.0 * HIDDEN + HIDDEN;
    sl_expect_text(rank->phase, "last_backward", "phase");
    sl_expect_near(sl_fixture_bytes(rank, SL_TERM_WAITING_GRADIENTS),
                   4.0 * (root + BLOCKS * sl_fixture_llama_block()), 1e-8, "all of them");
    sl_expect_near(sl_fixture_bytes(rank, SL_TERM_UNSHARDED_GRADIENTS), 2.0 * root, 1e-8,
                   "and the root's new ones");
}

/* LoRA on queries and values: what trains waits, and nothing else. */
static void
of_adapters_their_own_gradients_wait(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_FSDP2, 3);
    const double adapters = BLOCKS * 16.0 * (2.0 * HIDDEN + HIDDEN + KEYS);

    q.workload.adapter = (sl_adapter){
        .method = SL_ADAPTER_LORA, .rank = 16, .target_count = 2, .targets = {"q_proj", "v_proj"}};
    q.plan.gradient_sync = SL_GRADIENT_SYNC_LAST;
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_WAITING_GRADIENTS), 4.0 * adapters, 1e-8,
                   "fp32 adapters");
    CU_ASSERT_EQUAL(sl_fixture_bytes_of(&q, SL_TERM_UNSHARDED_GRADIENTS), 0.0);
}

static void
waiting_reduces_once(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_FSDP2, 3);
    const double n = sl_fixture_llama_all();

    sl_expect_near(traffic_of(&q, SL_COLLECTIVE_REDUCE_SCATTER, NULL), 2.0 * 4.0 * n, 1e-8, "each");
    const double each_s = sl_fixture_answer(&q)->time.step_s;
    q.plan.gradient_sync = SL_GRADIENT_SYNC_LAST;
    sl_expect_near(traffic_of(&q, SL_COLLECTIVE_REDUCE_SCATTER, NULL), 4.0 * n, 1e-8, "once");
    CU_ASSERT_TRUE(sl_fixture_answer(&q)->time.step_s < each_s);
    q = llama_question(SL_FRAMEWORK_DDP, 0);
    const uint64_t bytes = sl_fixture_answer(&q)->memory.ranks[0].device_total_bytes;
    sl_expect_near(traffic_of(&q, SL_COLLECTIVE_ALL_REDUCE, NULL), 4.0 * n, 1e-8, "ddp: no_sync");
    q.plan.gradient_sync = SL_GRADIENT_SYNC_EACH;
    sl_expect_near(traffic_of(&q, SL_COLLECTIVE_ALL_REDUCE, NULL), 2.0 * 4.0 * n, 1e-8, "without");
    CU_ASSERT_EQUAL(sl_fixture_answer(&q)->memory.ranks[0].device_total_bytes, bytes);
}

/* _should_free_in_backward: what shard_grad_op has gathered stays under no_sync in FSDP 1. */
static void
fsdp1_gathers_once_where_nothing_is_let_go(void)
{
    static const sl_framework frameworks[] = {SL_FRAMEWORK_FSDP1, SL_FRAMEWORK_FSDP2};
    const double n = sl_fixture_llama_all();

    for (size_t i = 0; i < 2; i++) {
        sl_question q = llama_question(frameworks[i], 2);
        sl_expect_near(traffic_of(&q, SL_COLLECTIVE_ALL_GATHER, NULL), 2.0 * 2.0 * n, 1e-8,
                       "for each forward");
        q.plan.gradient_sync = SL_GRADIENT_SYNC_LAST;
        sl_expect_near(traffic_of(&q, SL_COLLECTIVE_ALL_GATHER, NULL),
                       (i == 0 ? 1.0 : 2.0) * 2.0 * n, 1e-8, "under no_sync");
        q.plan.zero_stage = 3;
        const double waiting = traffic_of(&q, SL_COLLECTIVE_ALL_GATHER, NULL);
        q.plan.gradient_sync = SL_GRADIENT_SYNC_EACH;
        sl_expect_near(waiting, traffic_of(&q, SL_COLLECTIVE_ALL_GATHER, NULL), 1e-8,
                       "full_shard lets go of them all the same");
    }
}

/* torch.distributed.pipelining gathers for the first micro-batch and reduces after the last
 * backward. */
static void
a_pipeline_of_fsdp2_reduces_in_the_open(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_FSDP2, 3);
    double hidden = 0.0, open = 0.0;

    software.overlap_gradient_reduce = true;
    q.workload.sequence_length = 2048;
    q.plan.pipeline = 2;
    q.plan.data = 4;
    q.plan.schedule = SL_SCHEDULE_1F1B;
    q.plan.gradient_sync = SL_GRADIENT_SYNC_EACH;
    const double gathers = traffic_of(&q, SL_COLLECTIVE_ALL_GATHER, NULL);
    const double reduces = traffic_of(&q, SL_COLLECTIVE_REDUCE_SCATTER, &hidden);
    q.plan.gradient_sync = SL_GRADIENT_SYNC_DEFAULT;
    /* The slower stage is shown before and the one that shows more after: they differ by a norm. */
    sl_expect_near(traffic_of(&q, SL_COLLECTIVE_ALL_GATHER, NULL), gathers / 4.0, 1e-5, "once");
    sl_expect_near(traffic_of(&q, SL_COLLECTIVE_REDUCE_SCATTER, &open), reduces / 4.0, 1e-5,
                   "of four");
    CU_ASSERT_TRUE(hidden < 0.9);
    sl_expect_near(open, 1.0, 1e-8, "all of it");
}

/* FSDP's documentation, limitations: outside of no_sync the new gradient replaces the old one. */
static void
fsdp1_with_parameters_on_the_host_waits(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_FSDP1, 3);
    sl_errors err = {0};

    q.workload.offload.optimizer = q.workload.offload.parameters = true;
    CU_ASSERT_EQUAL(sl_plan_gradient_sync(&q.workload, &q.plan), SL_GRADIENT_SYNC_LAST);
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_WAITING_GRADIENTS), 2.0 * sl_fixture_llama_all(),
                   1e-8, "on the device, whole");
    q.plan.gradient_sync = SL_GRADIENT_SYNC_EACH;
    CU_ASSERT_EQUAL(sl_question_check(&q, &err), SL_E_RANGE);
    sl_expect_text(err.list[0].rule, "each_with_offload", "rule");
    sl_expect_text(err.list[0].hint, "last, or framework fsdp2", "hint");
    q.workload.global_batch = 8;
    err = (sl_errors){0};
    CU_ASSERT_EQUAL(sl_question_check(&q, &err), SL_OK); /* nothing adds up */
}

static void
a_traced_graph_has_no_no_sync(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_FSDP2, 3);
    sl_errors err = {0};

    software.traced_sharding = true;
    q.plan.gradient_sync = SL_GRADIENT_SYNC_LAST;
    CU_ASSERT_EQUAL(sl_question_check(&q, &err), SL_E_RANGE);
    sl_expect_text(err.list[0].hint, "each, or other software", "hint");
}

static bool
has_fix(const sl_estimate *e, sl_gradient_sync sync)
{
    for (uint32_t i = 0; i < e->fix_count; i++)
        if (strcmp(e->fixes[i].what, "gradient_sync") == 0 &&
            e->fixes[i].plan.gradient_sync == sync)
            return true;
    return false;
}

/* What is whole is the first thing to divide where there is no room; with room, once is faster. */
static void
reducing_otherwise_is_a_fix(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_FSDP2, 3);

    CU_ASSERT_TRUE(has_fix(sl_fixture_answer(&q), SL_GRADIENT_SYNC_LAST));
    const uint64_t divided = sl_fixture_answer(&q)->memory.ranks[0].device_total_bytes;
    q.plan.gradient_sync = SL_GRADIENT_SYNC_LAST;
    CU_ASSERT_FALSE(has_fix(sl_fixture_answer(&q), SL_GRADIENT_SYNC_EACH));
    cluster.accelerator.memory_bytes = divided + cluster.accelerator.reserved_bytes;
    CU_ASSERT_FALSE(sl_fixture_answer(&q)->fits);
    CU_ASSERT_TRUE(has_fix(sl_fixture_answer(&q), SL_GRADIENT_SYNC_EACH));
}

static const sl_case cases[] = {
    SL_CASE(each_framework_reduces_as_it_does),
    SL_CASE(what_is_said_of_itself_changes_nothing),
    SL_CASE(fsdp2_keeps_whole_gradients_in_the_type_it_reduces),
    SL_CASE(fsdp1_keeps_them_as_autograd_makes_them),
    SL_CASE(a_large_vocabulary_is_fullest_before_the_last_micro_batch),
    SL_CASE(of_adapters_their_own_gradients_wait),
    SL_CASE(waiting_reduces_once),
    SL_CASE(fsdp1_gathers_once_where_nothing_is_let_go),
    SL_CASE(a_pipeline_of_fsdp2_reduces_in_the_open),
    SL_CASE(fsdp1_with_parameters_on_the_host_waits),
    SL_CASE(a_traced_graph_has_no_no_sync),
    SL_CASE(reducing_otherwise_is_a_fix),
};

int
main(int argc, char **argv)
{
    return sl_run_cases(argc, argv, "gradient_sync", cases, sizeof cases / sizeof cases[0]);
}
