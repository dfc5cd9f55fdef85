/* ZeRO and FSDP: what each rank holds at rest, what it gathers, and which moment is the peak. */
#include <math.h>

#include "engine/answer/evaluate.h"
#include "engine/memory/rank_memory.h"
#include "engine_fixture.h"
#include "harness.h"

static sl_cluster cluster;
static sl_software software;

static const double BLOCKS = 16.0, HIDDEN = 2048.0, KEYS = 512.0, FFN = 8192.0, ROWS = 32768.0;
static const double TOKENS = 2048.0;

/* Llama of the fixture on one node of 8; two micro-batches a step unless told otherwise. */
static sl_question
llama_question(sl_framework framework, uint32_t stage)
{
    const sl_dense_spec spec = sl_fixture_llama();
    cluster = sl_fixture_cluster(1);
    software = sl_fixture_software();
    software.eager_activations = true;
    sl_question q = sl_fixture_question(sl_fixture_model(&spec), &cluster, &software);

    q.workload.framework = framework;
    q.workload.attention = SL_ATTENTION_FLASH2;
    q.plan.zero_stage = stage;
    return q;
}

static const sl_rank_memory *
answer_rank(const sl_question *q)
{
    return &sl_fixture_answer(q)->memory.ranks[0];
}

static void
expect_states(const sl_question *q, double parameters, double gradients, double optimizer,
              const char *what)
{
    const sl_rank_memory *rank = answer_rank(q);
    const double n = sl_fixture_llama_all();

    sl_expect_near(sl_fixture_bytes(rank, SL_TERM_PARAMETERS), parameters * n, 1e-8, what);
    sl_expect_near(sl_fixture_bytes(rank, SL_TERM_GRADIENTS), gradients * n, 1e-8, what);
    sl_expect_near(sl_fixture_bytes(rank, SL_TERM_MASTER_WEIGHTS) +
                       sl_fixture_bytes(rank, SL_TERM_OPTIMIZER_STATES),
                   optimizer * n, 1e-8, what);
}

static void
zero_divides_states_then_gradients_then_parameters(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_DEEPSPEED, 0);

    expect_states(&q, 2.0, 2.0, 12.0, "stage 0: 16 N");
    q.plan.zero_stage = 1;
    expect_states(&q, 2.0, 2.0, 12.0 / 8.0, "stage 1: 4 N + 12 N / 8");
    q.plan.zero_stage = 2;
    expect_states(&q, 2.0, 2.0 / 8.0, 12.0 / 8.0, "stage 2: 2 N + 14 N / 8");
    q.plan.zero_stage = 3;
    expect_states(&q, 2.0 / 8.0, 2.0 / 8.0, 12.0 / 8.0, "stage 3: 16 N / 8");
}

static void
fsdp_keeps_fp32_shards_of_everything(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_FSDP2, 3);

    expect_states(&q, 4.0 / 8.0, 4.0 / 8.0, 8.0 / 8.0, "full_shard: 16 N / 8");
    q.plan.zero_stage = 2;
    expect_states(&q, 4.0 / 8.0, 4.0 / 8.0, 8.0 / 8.0, "shard_grad_op at rest");
    q.plan.zero_stage = 3;
    q.plan.shard_group = 2;
    expect_states(&q, 4.0 / 2.0, 4.0 / 2.0, 8.0 / 2.0, "hybrid, groups of two");
    q.workload.precision = SL_PRECISION_FP32;
    q.workload.attention = SL_ATTENTION_UNFUSED;
    expect_states(&q, 4.0 / 2.0, 4.0 / 2.0, 8.0 / 2.0, "fp32 weighs as much at rest");
}

/* Several instances of the distributed optimizer each divide what it keeps over their own ranks. */
static void
megatron_divides_within_an_instance(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_MEGATRON, 1);
    sl_errors err = {0};

    q.plan.shard_group = 2;
    CU_ASSERT_EQUAL(sl_question_check(&q, &err), SL_E_UNSUPPORTED);
    sl_expect_text(err.list[0].pointer, "/parallelism/shard_group", "a release without instances");
    software.divides_in_groups = true;
    expect_states(&q, 2.0, 4.0, 12.0 / 2.0, "stage 1: 6 N + 12 N / 2");
    q.plan.zero_stage = 3;
    expect_states(&q, 2.0 / 2.0, 4.0 / 2.0, 12.0 / 2.0, "stage 3: 18 N / 2");
    q.plan.zero_stage = 0;
    err.count = 0;
    CU_ASSERT_EQUAL(sl_question_check(&q, &err), SL_E_UNSUPPORTED);
    sl_expect_text(err.list[0].pointer, "/parallelism/shard_group", "nothing to divide");
    q.unknown = SL_UNKNOWN_ZERO_STAGE; /* then of the stages those that do count */
    expect_states(&q, 2.0, 4.0, 12.0 / 2.0, "stage 1, which is the only one");
    q.unknown = 0;
    q.workload.framework = SL_FRAMEWORK_DEEPSPEED;
    q.plan.zero_stage = 2;
    err.count = 0;
    CU_ASSERT_EQUAL(sl_question_check(&q, &err), SL_E_UNSUPPORTED);
    q.plan.zero_stage = 1;
    expect_states(&q, 2.0, 2.0, 12.0 / 2.0, "InternLM's stage 1");
}

/* Megatron-FSDP has Megatron's bytes, and gathers by blocks. */
static void
megatron_fsdp_divides_as_zero_does(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_MEGATRON, 3);

    expect_states(&q, 2.0 / 8.0, 4.0 / 8.0, 12.0 / 8.0, "stage 3");
    CU_ASSERT_TRUE(sl_fixture_bytes_of(&q, SL_TERM_GATHERED_PARAMETERS) > 0.0);
    q.plan.zero_stage = 2;
    expect_states(&q, 2.0, 4.0 / 8.0, 12.0 / 8.0, "stage 2");
    CU_ASSERT_EQUAL(sl_fixture_bytes_of(&q, SL_TERM_GATHERED_PARAMETERS), 0.0); /* they are whole */
    CU_ASSERT_TRUE(sl_fixture_bytes_of(&q, SL_TERM_UNSHARDED_GRADIENTS) > 0.0);
}

/* Megatron issue 6314: main gradients of the whole rank from the head's backward on, beside their
 * shards, so that stage 2 takes more than stage 1 there. */
static void
megatron_fsdp_makes_whole_gradients_in_stage_2(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_MEGATRON, 2);
    const double all = sl_fixture_llama_all();

    q.workload.recompute = SL_RECOMPUTE_FULL;
    const sl_rank_memory *rank = answer_rank(&q);
    CU_ASSERT_TRUE(sl_fixture_bytes(rank, SL_TERM_UNSHARDED_GRADIENTS) >= 4.0 * all);
    const uint64_t two = rank->peak_allocated_bytes;
    q.plan.zero_stage = 1;
    CU_ASSERT_TRUE(answer_rank(&q)->peak_allocated_bytes < two);
}

/* Without double buffers as many blocks' gradients wait as 1e9 elements are, and half of that is
 * gathered ahead; all of the Llama's blocks here. */
static void
megatron_fsdp_queues_whole_gradients_in_stage_3(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_MEGATRON, 3);
    const double root = sl_fixture_llama_root();
    const double block = sl_fixture_llama_block();

    CU_ASSERT_TRUE(BLOCKS * block < 1e9);
    CU_ASSERT_TRUE(block * floor(5e8 / block) < BLOCKS * block);
    q.workload.recompute = SL_RECOMPUTE_FULL;
    q.workload.sequence_length = 8; /* so that activations are nothing */
    const sl_rank_memory *rank = answer_rank(&q);
    const double table = ROWS * HIDDEN;
    sl_expect_near(sl_fixture_bytes(rank, SL_TERM_UNSHARDED_GRADIENTS),
                   4.0 * (root + BLOCKS * block) + 2.0 * (table + HIDDEN), 1e-8,
                   "all, and the embedding's as it is made");
    sl_expect_near(sl_fixture_bytes(rank, SL_TERM_GATHERED_PARAMETERS), 2.0 * root, 1e-8,
                   "the root alone is gathered by then");
    q.workload.sequence_length = 2048;
    q.workload.recompute = SL_RECOMPUTE_NONE;
    rank = answer_rank(&q);
    sl_expect_near(sl_fixture_bytes(rank, SL_TERM_GATHERED_PARAMETERS),
                   2.0 * (root + block * (1.0 + ceil(5e8 / block))), 1e-8, "blocks ahead");

    software.double_buffers = true;
    rank = answer_rank(&q);
    sl_expect_near(sl_fixture_bytes(rank, SL_TERM_REDUCE_BUFFERS), 2.0 * (2.0 + 4.0) * block, 1e-8,
                   "two of each, for good");
    sl_expect_near(sl_fixture_bytes(rank, SL_TERM_GATHERED_PARAMETERS), 2.0 * root, 1e-8,
                   "blocks are in those");
}

/* Of blocks beyond 1e9 elements two wait: by when they do, what was gathered ahead is let go of. */
static void
megatron_fsdp_queues_two_blocks_at_least(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_MEGATRON, 3);
    sl_dense_spec spec = sl_fixture_llama();

    spec.hidden = 16384;
    spec.heads = spec.kv_heads = 128;
    spec.ffn = 32768;
    spec.blocks = 3;
    spec.vocabulary = 1024;
    q.model = sl_fixture_model(&spec);
    q.workload.recompute = SL_RECOMPUTE_FULL;
    q.workload.sequence_length = 8; /* so that activations are nothing */
    const sl_rank_memory *rank = answer_rank(&q);
    const double matrix = 16384.0 * 32768.0, keys = 128.0 * 64.0;
    const double block = 16384.0 * (4.0 * keys + 2.0) + 3.0 * matrix;
    sl_expect_text(rank->phase, "backward", "phase");
    sl_expect_near(sl_fixture_bytes(rank, SL_TERM_UNSHARDED_GRADIENTS),
                   2.0 * matrix + 4.0 * (block + block / 8.0 + 1024.0 * 16384.0) +
                       (2.0 * 4.0 - 2.0) * block,
                   1e-4, "two in the queue for one that was ahead");
}

/* FlatParamHandle: the low precision parameter of no_shard lives from pre_unshard to post_reshard. */
static void
no_shard_casts_the_units_in_use(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_FSDP1, 0);
    const double root = sl_fixture_llama_root();
    const double block = sl_fixture_llama_block();

    expect_states(&q, 4.0, 4.0, 8.0, "16 N, fp32");
    const sl_rank_memory *rank = answer_rank(&q);
    sl_expect_text(rank->phase, "backward", "the fullest moment");
    sl_expect_near(sl_fixture_bytes(rank, SL_TERM_GATHERED_PARAMETERS), 2.0 * (root + 2.0 * block),
                   1e-8, "the root, the block in use, the one prefetched");
    q.workload.precision = SL_PRECISION_FP32;
    q.workload.attention = SL_ATTENTION_UNFUSED;
    CU_ASSERT_EQUAL(sl_fixture_bytes_of(&q, SL_TERM_GATHERED_PARAMETERS), 0.0);
}

/* torch.amp casts the weights of products, not a table that is looked up in. */
static void
autocast_copies_what_products_read(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_DDP, 0);

    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_CACHED_WEIGHTS),
                   2.0 * (sl_fixture_llama_all() - ROWS * HIDDEN), 1e-8, "but the embedding");
}

static void
every_optimizer_has_its_bytes(void)
{
    const double matrices = BLOCKS * (sl_fixture_llama_block() - 2.0 * HIDDEN);
    const double rest = sl_fixture_llama_all() - matrices;
    const double factored = 4.0 * (BLOCKS * (2.0 * (HIDDEN + HIDDEN) + 2.0 * (HIDDEN + KEYS) +
                                             3.0 * (HIDDEN + FFN) + 2.0 * HIDDEN) +
                                   2.0 * (ROWS + HIDDEN) + HIDDEN);
    const struct {
        sl_optimizer optimizer;
        double bytes;
        const char *what;
    } rows[] = {
        {SL_OPTIMIZER_ADAMW, 8.0 * sl_fixture_llama_all(), "two fp32 moments"},
        {SL_OPTIMIZER_SGD, 0.0, "none"},
        {SL_OPTIMIZER_SGD_MOMENTUM, 4.0 * sl_fixture_llama_all(), "one"},
        {SL_OPTIMIZER_ADAMW_8BIT, 2.03125 * sl_fixture_llama_all(), "2 (1 + 4 / 256)"},
        {SL_OPTIMIZER_ADAMW_4BIT, 1.0625 * sl_fixture_llama_all(), "2 (1/2 + 4 / 128)"},
        {SL_OPTIMIZER_ADAFACTOR, factored, "4 (R + C) a matrix, 4 n a vector"},
        {SL_OPTIMIZER_MUON, 4.0 * matrices + 8.0 * rest, "one moment of matrices, two of the rest"},
    };

    _Static_assert(sizeof rows / sizeof rows[0] == SL_OPTIMIZER_COUNT, "a row per optimizer");
    for (uint32_t i = 0; i < SL_OPTIMIZER_COUNT; i++) {
        sl_question q = llama_question(SL_FRAMEWORK_DDP, 0);
        q.workload.optimizer = rows[i].optimizer;
        sl_expect_near(sl_fixture_bytes(answer_rank(&q), SL_TERM_OPTIMIZER_STATES), rows[i].bytes,
                       1e-8, rows[i].what);
    }
}

/* Whoever lays tensors end to end and cuts them leaves Adafactor vectors (len(shape) < 2 in its
 * _get_options): a moment of every value. fully_shard keeps shapes, and one rank whole tensors. */
static void
flat_parts_have_no_rows_and_columns(void)
{
    static const struct {
        sl_framework framework;
        uint32_t stage, data;
        bool own_bf16, flat;
        const char *what;
    } rows[] = {
        {SL_FRAMEWORK_FSDP1, 3, 8, false, true, "full_shard"},
        {SL_FRAMEWORK_FSDP1, 2, 8, false, true, "shard_grad_op"},
        {SL_FRAMEWORK_FSDP1, 0, 8, false, false, "no_shard"},
        {SL_FRAMEWORK_FSDP1, 3, 1, false, false, "full_shard of one rank"},
        {SL_FRAMEWORK_FSDP2, 3, 8, false, false, "fully_shard"},
        {SL_FRAMEWORK_DEEPSPEED, 0, 8, false, false, "DeepSpeed without ZeRO"},
        {SL_FRAMEWORK_DEEPSPEED, 0, 8, true, true, "BF16_Optimizer"},
        {SL_FRAMEWORK_DEEPSPEED, 1, 8, false, true, "ZeRO 1"},
        {SL_FRAMEWORK_DEEPSPEED, 3, 8, false, true, "ZeRO 3"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        sl_question q = llama_question(rows[i].framework, rows[i].stage);
        q.workload.optimizer = SL_OPTIMIZER_ADAFACTOR;
        software.own_bf16 = rows[i].own_bf16;
        q.plan.data = rows[i].data;
        cluster.accelerators_per_node = rows[i].data;
        const double bytes = sl_fixture_bytes(answer_rank(&q), SL_TERM_OPTIMIZER_STATES);
        if (rows[i].flat)
            sl_expect_near(bytes, 4.0 * sl_fixture_llama_all() / 8.0, 1e-8, rows[i].what);
        else
            CU_ASSERT(bytes < 0.01 * sl_fixture_llama_all());
    }
}

/* What a fully_shard rank has reserved beside its gradients when an eager loss peaks: the streams that
 * gather and reduce hold the root unit's flat copy and its gradients in fp32, and no wider logits
 * fit where those of 16 bits were. */
static double
segments_at_the_loss(const sl_question *q)
{
    const double logits =
        (double)q->workload.micro_batch * (double)q->workload.sequence_length * ROWS;

    return (2.0 + 4.0) * sl_fixture_llama_root() + 2.0 * logits;
}

/* Of a single micro-batch no gradient exists when the loss peaks; its segments stay reserved. */
static void
gradients_of_one_micro_batch_are_not_there_at_the_head(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_FSDP2, 3);
    const double gradients = 4.0 / 8.0 * sl_fixture_llama_all();

    software.logits_peak_bytes = 14.0;
    const double two = sl_fixture_bytes(answer_rank(&q), SL_TERM_GRADIENTS);
    sl_expect_near(two, gradients, 1e-8, "two micro-batches: those of the first");
    q.workload.global_batch = 8;
    const sl_rank_memory *rank = answer_rank(&q);
    sl_expect_text(rank->phase, "head", "phase");
    CU_ASSERT_EQUAL(sl_fixture_bytes(rank, SL_TERM_GRADIENTS), 0.0);
    sl_expect_near(sl_fixture_bytes(rank, SL_TERM_FRAGMENTATION),
                   0.05 * (double)rank->peak_allocated_bytes + gradients + segments_at_the_loss(&q),
                   1e-8, "5 %, the freed gradients and what other streams hold");
}

/* Of one micro-batch, the shard that the last reduction leaves is the gradient: it is there once.
 * The root's comes last: whole it is as large as its 6 bytes a parameter, next to all shards; the
 * unit itself is let go of before (8B over eight ranks, 8,192 tokens, compiled: 20.83 GiB measured). */
static void
the_last_reduction_leaves_the_gradient_itself(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_FSDP2, 3);
    const double head = ROWS * HIDDEN + HIDDEN;
    const double shards = 4.0 / 8.0 * sl_fixture_llama_all();
    const double block = 2.0 * (sl_fixture_llama_root() + 3.0 * sl_fixture_llama_block()) +
                         2.0 * head + 6.0 * sl_fixture_llama_block() + shards -
                         4.0 / 8.0 * sl_fixture_llama_root();
    const double root = 6.0 * sl_fixture_llama_root() + shards;

    software.logits_peak_bytes = 0.0;
    q.workload.recompute = SL_RECOMPUTE_FULL;
    q.workload.sequence_length = 8; /* so that activations are nothing */
    q.workload.global_batch = 8;
    const sl_rank_memory *rank = answer_rank(&q);
    sl_expect_text(rank->phase, "last_backward", "phase");
    sl_expect_near(sl_fixture_bytes(rank, SL_TERM_GRADIENTS) +
                       sl_fixture_bytes(rank, SL_TERM_UNSHARDED_GRADIENTS) +
                       sl_fixture_bytes(rank, SL_TERM_GATHERED_PARAMETERS),
                   fmax(block, root), 1e-8, "one micro-batch");
    q.workload.global_batch = 16;
    rank = answer_rank(&q);
    sl_expect_near(sl_fixture_bytes(rank, SL_TERM_GRADIENTS) +
                       sl_fixture_bytes(rank, SL_TERM_UNSHARDED_GRADIENTS) +
                       sl_fixture_bytes(rank, SL_TERM_GATHERED_PARAMETERS),
                   fmax(block + 4.0 / 8.0 * (sl_fixture_llama_root() + sl_fixture_llama_block()),
                        root + 4.0 / 8.0 * sl_fixture_llama_root()),
                   1e-8, "two: what comes is added to what is there");
}

static void
gathered_parameters_are_the_root_and_two_blocks(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_FSDP2, 3);

    software.logits_peak_bytes = 0.0; /* so that a block's backward is the peak */
    sl_expect_near(sl_fixture_bytes(answer_rank(&q), SL_TERM_GATHERED_PARAMETERS),
                   2.0 * (sl_fixture_llama_root() + 3.0 * sl_fixture_llama_block()), 1e-8,
                   "in use, prefetched and the flat output it is copied from");
    q.workload.framework = SL_FRAMEWORK_FSDP1;
    sl_expect_near(sl_fixture_bytes(answer_rank(&q), SL_TERM_GATHERED_PARAMETERS),
                   2.0 * (sl_fixture_llama_root() + 2.0 * sl_fixture_llama_block()), 1e-8,
                   "no flat output");
    q.plan.reshard = SL_RESHARD_NEVER;
    sl_expect_near(sl_fixture_bytes(answer_rank(&q), SL_TERM_GATHERED_PARAMETERS),
                   2.0 * sl_fixture_llama_all(), 1e-8, "all of them");
    q.plan.reshard = SL_RESHARD_DEFAULT;
    q.plan.zero_stage = 2;
    sl_expect_near(sl_fixture_bytes(answer_rank(&q), SL_TERM_GATHERED_PARAMETERS),
                   2.0 * sl_fixture_llama_all(), 1e-8, "shard_grad_op keeps them");
}

/* One traced graph: only what is used is gathered, and freed gradients leave no segments. */
static void
a_traced_graph_gathers_only_what_it_uses(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_FSDP2, 3);
    const double head = ROWS * HIDDEN + HIDDEN;

    software.logits_peak_bytes = 14.0;
    software.traced_sharding = true;
    q.workload.global_batch = 8;
    q.workload.recompute = SL_RECOMPUTE_OPERATORS;
    const sl_rank_memory *rank = answer_rank(&q);
    sl_expect_text(rank->phase, "head", "phase");
    sl_expect_near(sl_fixture_bytes(rank, SL_TERM_GATHERED_PARAMETERS), 2.0 * head, 1e-8, "head");
    sl_expect_near(sl_fixture_bytes(rank, SL_TERM_FRAGMENTATION),
                   0.05 * (double)rank->peak_allocated_bytes, 1e-8, "no idle gradients");
    q.workload.recompute = SL_RECOMPUTE_NONE;
    sl_expect_near(sl_fixture_bytes(answer_rank(&q), SL_TERM_GATHERED_PARAMETERS),
                   2.0 * sl_fixture_llama_all(), 1e-8, "nothing is gathered twice");
    q.plan.reshard = SL_RESHARD_ALWAYS;
    sl_expect_near(sl_fixture_bytes(answer_rank(&q), SL_TERM_GATHERED_PARAMETERS), 2.0 * head, 1e-8,
                   "unless it was asked for");
}

/* Megatron gathers inputs of products that are cut once more in backward, PyTorch keeps them. */
static void
inputs_of_cut_products_stay_whole_outside_megatron(void)
{
    double kept[2] = {0};

    for (uint32_t i = 0; i < 2; i++) {
        sl_question q = llama_question(i == 0 ? SL_FRAMEWORK_MEGATRON : SL_FRAMEWORK_FSDP2, 3);
        software.regathers_inputs = i == 0;
        q.plan.zero_stage = i == 0 ? 1 : 3;
        q.plan.tensor = 2;
        q.plan.data = 4;
        q.plan.sequence = true;
        const sl_rank_memory *rank = answer_rank(&q);
        for (uint32_t t = 0; t < rank->term_count; t++)
            if (rank->terms[t].id == SL_TERM_ACTIVATIONS)
                kept[i] = rank->terms[t].inputs[2].value;
    }
    sl_expect_near(kept[1] - kept[0], 2.0 * 2.0 * HIDDEN / 2.0 * TOKENS, 1e-12,
                   "the other half of two inputs: attention's and the network's");
}

/* Segments of freed gradients are no fragmentation: both ends of the interval have them. */
static void
freed_gradients_are_in_the_whole_interval(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_FSDP2, 3);
    const double gradients = 4.0 / 8.0 * sl_fixture_llama_all();

    software.logits_peak_bytes = 14.0;
    q.workload.global_batch = 8;
    const sl_estimate *e = sl_fixture_answer(&q);
    const double allocated = (double)e->memory.ranks[0].peak_allocated_bytes;
    const double idle = gradients + segments_at_the_loss(&q);
    sl_expect_near((double)e->memory.reserved_low_bytes, 1.028 * allocated + idle, 1e-8, "low");
    sl_expect_near((double)e->memory.reserved_high_bytes, 1.093 * allocated + idle, 1e-8, "high");
}

/* torchtitan's op: block input, every other product's output (q, v, gate, down), attention. */
static void
recompute_by_operators_keeps_every_other_product(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_FSDP2, 3);
    const double kept = 2.0 * (HIDDEN + HIDDEN + KEYS + FFN + HIDDEN) + 2.0 * HIDDEN + 4.0 * 32.0;
    const sl_rank_memory *rank = NULL;

    q.workload.recompute = SL_RECOMPUTE_OPERATORS;
    rank = answer_rank(&q);
    for (uint32_t i = 0; i < rank->term_count; i++)
        if (rank->terms[i].id == SL_TERM_ACTIVATIONS)
            sl_expect_near(rank->terms[i].inputs[2].value, TOKENS * kept, 1e-12,
                           "8 h + 2 h_k + 2 f + 4 a");
    q.workload.compile = true;
    rank = answer_rank(&q);
    for (uint32_t i = 0; i < rank->term_count; i++)
        if (rank->terms[i].id == SL_TERM_ACTIVATIONS)
            sl_expect_near(rank->terms[i].inputs[2].value, TOKENS * (kept - 2.0 * HIDDEN), 1e-12,
                           "the next block's input holds the last product's output");
}

static void
the_step_of_deepspeed_casts_gradients(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_DEEPSPEED, 0);

    q.plan.data = 8;
    q.workload.sequence_length = 8; /* so that activations are nothing */
    const sl_rank_memory *rank = answer_rank(&q);
    sl_expect_text(rank->phase, "optimizer", "phase");
    sl_expect_near(sl_fixture_bytes(rank, SL_TERM_GRADIENT_COPY), 4.0 * sl_fixture_llama_all(),
                   1e-8, "fp32 copies");
    CU_ASSERT_EQUAL(sl_fixture_bytes(rank, SL_TERM_ACTIVATIONS), 0.0);
}

/* Modules are fetched, and gradients copied into the bucket, one matrix after the other. */
static void
stage_three_of_deepspeed_has_one_whole_gradient(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_DEEPSPEED, 3);

    q.plan.data = 8;
    q.workload.loss = SL_LOSS_CUT; /* so that the head has no logits, and is no peak */
    const sl_rank_memory *rank = answer_rank(&q);
    sl_expect_text(rank->phase, "backward", "phase");
    sl_expect_near(sl_fixture_bytes(rank, SL_TERM_UNSHARDED_GRADIENTS), 2.0 * HIDDEN * FFN, 1e-12,
                   "of the largest matrix");
    sl_expect_near(sl_fixture_bytes(rank, SL_TERM_GATHERED_PARAMETERS), 2.0 * 1e9, 1e-12,
                   "as many parameters as may be live");
}

/* PyTorch's foreach kernels take the roots of all second moments at once; autocast's copies are
 * gone by then. */
static void
a_step_of_foreach_kernels_makes_lists(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_DDP, 0);

    q.workload.sequence_length = 8; /* so that activations are nothing */
    const double n = sl_fixture_llama_all();
    sl_expect_near(sl_fixture_bytes(answer_rank(&q), SL_TERM_STEP_LISTS), 0.0, 0.0, "fused: none");

    software.step_lists = 2.0;
    const sl_rank_memory *rank = answer_rank(&q);
    sl_expect_text(rank->phase, "optimizer", "phase");
    sl_expect_near(sl_fixture_bytes(rank, SL_TERM_STEP_LISTS), 2.0 * 4.0 * n, 1e-8, "fp32 lists");
    sl_expect_near(sl_fixture_bytes(rank, SL_TERM_CACHED_WEIGHTS), 0.0, 0.0, "no copies");
    q.workload.optimizer = SL_OPTIMIZER_SGD;
    CU_ASSERT_EQUAL(sl_fixture_bytes(answer_rank(&q), SL_TERM_STEP_LISTS), 0.0);

    q = llama_question(SL_FRAMEWORK_FSDP2, 3);
    software.step_lists = 2.0;
    q.workload.sequence_length = 8;
    q.plan.data = cluster.accelerators_per_node = 2;
    sl_expect_near(sl_fixture_bytes(answer_rank(&q), SL_TERM_STEP_LISTS), 2.0 * 4.0 * n / 2.0, 1e-8,
                   "of its shard");
}

/* LoRA on queries and values of the fixture: r (h + h) + r (h + 512) a block; the rest is
 * frozen. */
static void
adapters_train_alone_on_a_frozen_base(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_DDP, 0);
    const double adapters = BLOCKS * 16.0 * (2.0 * HIDDEN + HIDDEN + KEYS);
    const double matrices = BLOCKS * (sl_fixture_llama_block() - 2.0 * HIDDEN);
    const double rest = sl_fixture_llama_all() - matrices;
    const struct {
        sl_adapter_base base;
        double bytes;
    } rows[] = {{SL_ADAPTER_BASE_BF16, 2.0},
                {SL_ADAPTER_BASE_INT8, 1.0},
                {SL_ADAPTER_BASE_NF4, 0.5625},
                {SL_ADAPTER_BASE_NF4_DOUBLE, 0.515869140625}};

    q.workload.adapter = (sl_adapter){
        .method = SL_ADAPTER_LORA, .rank = 16, .target_count = 2, .targets = {"q_proj", "v_proj"}};
    for (uint32_t i = 0; i < SL_ADAPTER_BASE_COUNT; i++) {
        q.workload.adapter.base = rows[i].base;
        const sl_rank_memory *rank = answer_rank(&q);
        sl_expect_near(sl_fixture_bytes(rank, SL_TERM_PARAMETERS),
                       rows[i].bytes * matrices + 2.0 * rest, 1e-8, "frozen base");
        sl_expect_near(sl_fixture_bytes(rank, SL_TERM_ADAPTERS), 16.0 * adapters, 1e-8,
                       "4 + 4 + 8 an adapter parameter");
        CU_ASSERT_EQUAL(sl_fixture_bytes(rank, SL_TERM_GRADIENTS), 0.0);
        CU_ASSERT_EQUAL(sl_fixture_bytes(rank, SL_TERM_OPTIMIZER_STATES), 0.0);
    }
    q.workload.adapter.target_count = 0;
    sl_expect_near(sl_fixture_bytes(answer_rank(&q), SL_TERM_ADAPTERS),
                   16.0 * BLOCKS * 16.0 *
                       (2.0 * 2.0 * HIDDEN + 2.0 * (HIDDEN + KEYS) + 3.0 * (HIDDEN + FFN)),
                   1e-8, "every linear layer");
}

/* Two of eight ranks share the sequence: half the tokens, and their keys and values besides. */
static void
ranks_that_share_a_sequence_keep_their_part(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_MEGATRON, 1);
    double kept[2] = {0};

    for (uint32_t i = 0; i < 2; i++) {
        q.plan.context = i + 1;
        q.plan.data = 8 / q.plan.context;
        const sl_rank_memory *rank = answer_rank(&q);
        for (uint32_t t = 0; t < rank->term_count; t++)
            if (rank->terms[t].id == SL_TERM_ACTIVATIONS)
                kept[i] = rank->terms[t].inputs[2].value;
        sl_expect_near(sl_fixture_bytes(rank, SL_TERM_OPTIMIZER_STATES), sl_fixture_llama_all(),
                       1e-8, "states are shared by data x context");
    }
    sl_expect_near(kept[1], kept[0] / 2.0, 1e-12, "half");
    q.plan.context_kind = SL_CONTEXT_EXCHANGE;
    const sl_rank_memory *rank = answer_rank(&q);
    for (uint32_t t = 0; t < rank->term_count; t++)
        if (rank->terms[t].id == SL_TERM_ACTIVATIONS)
            sl_expect_near(rank->terms[t].inputs[2].value,
                           kept[0] / 2.0 + 2.0 * HIDDEN * TOKENS / 2.0, 1e-12,
                           "an exchange keeps the attention's output twice");
}

/* Gradients that are set to zero and not to none are there at the head already. */
static void
gradients_that_stay_are_there_at_the_head(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_DDP, 0);

    q.plan.data = 1;
    cluster.accelerators_per_node = 1;
    q.workload.global_batch = 1;
    q.workload.sequence_length = 8192;
    q.workload.loss = SL_LOSS_EAGER;
    CU_ASSERT_EQUAL(sl_fixture_bytes(answer_rank(&q), SL_TERM_GRADIENTS), 0.0);
    software.gradients_stay = true;
    sl_expect_near(sl_fixture_bytes(answer_rank(&q), SL_TERM_GRADIENTS),
                   4.0 * sl_fixture_llama_all(), 1e-8, "of fp32 parameters");
}

/* The gradients of the two ends of a tied table are summed into a third: 1B, 128 tokens, has 3.28 GiB
 * beside its states (tests/accuracy/data, H022). */
static void
a_tied_table_has_three_gradients_at_the_end(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_DDP, 0);
    sl_dense_spec spec = sl_fixture_llama();

    spec.tied = true;
    q.model = sl_fixture_model(&spec);
    q.plan.data = 1;
    cluster.accelerators_per_node = 1;
    q.workload.global_batch = 1;
    q.workload.sequence_length = 8;
    const sl_rank_memory *rank = answer_rank(&q);
    sl_expect_text(rank->phase, "last_backward", "phase");
    sl_expect_near(sl_fixture_bytes(rank, SL_TERM_UNSHARDED_GRADIENTS), 2.0 * 4.0 * ROWS * HIDDEN,
                   1e-8, "two beside the one that is kept");
}

static double
reserved_by(const sl_rank_phase *p)
{
    return p->gradients + p->gathered + p->unreduced + p->stepped + p->activations + p->operands +
           p->rebuilt + p->logits + p->transient + p->copies + p->idle;
}

/* What idled beside a smaller phase stays reserved when another one becomes the peak. */
static void
segments_of_a_smaller_phase_stay_reserved(void)
{
    static sl_priced priced;
    sl_question q = llama_question(SL_FRAMEWORK_DEEPSPEED, 1);
    static sl_holdings holdings;

    q.workload.global_batch = 8;
    const sl_combination c = {&software, q.workload, q.plan};
    sl_evaluate_price(&q, &c, SL_CLOCK_COOL, &priced);
    const sl_memory_case one = sl_evaluate_case(&q, &c, &priced, &holdings);
    const sl_in_flight in_flight = sl_schedule_in_flight(&q.plan, 1, 0);
    sl_rank_bytes b;
    sl_rank_phase before, after;

    sl_rank_measure(&one, &in_flight, NULL, 0, &b);
    sl_rank_peak(&one, &b, &before);
    CU_ASSERT_TRUE(before.idle > 4.0 * b.widest_gradient);
    b.largest_block = reserved_by(&before) - 1.5 * before.idle;
    sl_rank_peak(&one, &b, &after);
    sl_expect_text(after.name, "last_backward", "phase");
    sl_expect_near(reserved_by(&after), reserved_by(&before), 1e-12, "reserved");
}

static const sl_case cases[] = {
    SL_CASE(zero_divides_states_then_gradients_then_parameters),
    SL_CASE(fsdp_keeps_fp32_shards_of_everything),
    SL_CASE(megatron_divides_within_an_instance),
    SL_CASE(megatron_fsdp_divides_as_zero_does),
    SL_CASE(megatron_fsdp_makes_whole_gradients_in_stage_2),
    SL_CASE(megatron_fsdp_queues_whole_gradients_in_stage_3),
    SL_CASE(megatron_fsdp_queues_two_blocks_at_least),
    SL_CASE(no_shard_casts_the_units_in_use),
    SL_CASE(autocast_copies_what_products_read),
    SL_CASE(every_optimizer_has_its_bytes),
    SL_CASE(flat_parts_have_no_rows_and_columns),
    SL_CASE(gradients_of_one_micro_batch_are_not_there_at_the_head),
    SL_CASE(the_last_reduction_leaves_the_gradient_itself),
    SL_CASE(gathered_parameters_are_the_root_and_two_blocks),
    SL_CASE(a_traced_graph_gathers_only_what_it_uses),
    SL_CASE(inputs_of_cut_products_stay_whole_outside_megatron),
    SL_CASE(freed_gradients_are_in_the_whole_interval),
    SL_CASE(recompute_by_operators_keeps_every_other_product),
    SL_CASE(gradients_that_stay_are_there_at_the_head),
    SL_CASE(a_tied_table_has_three_gradients_at_the_end),
    SL_CASE(segments_of_a_smaller_phase_stay_reserved),
    SL_CASE(the_step_of_deepspeed_casts_gradients),
    SL_CASE(stage_three_of_deepspeed_has_one_whole_gradient),
    SL_CASE(a_step_of_foreach_kernels_makes_lists),
    SL_CASE(adapters_train_alone_on_a_frozen_base),
    SL_CASE(ranks_that_share_a_sequence_keep_their_part),
};

int
main(int argc, char **argv)
{
    return sl_run_cases(argc, argv, "sharded_memory", cases, sizeof cases / sizeof cases[0]);
}
