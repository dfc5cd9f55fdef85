/* What a workload says beside precision and batch: when the optimizer steps, what kernels keep,
 * what is captured, what a sequence is made of. */
#include <string.h>

#include "engine_fixture.h"
#include "harness.h"

static sl_cluster cluster;
static sl_software software;

static const double HIDDEN = 2048.0, FFN = 8192.0, TOKENS = 2048.0, BLOCKS = 16.0;
static const double VOCABULARY = 32768.0, HEADS = 32.0, HEAD_DIM = 64.0;

static sl_question
llama_question(void)
{
    const sl_dense_spec spec = sl_fixture_llama();

    cluster = sl_fixture_cluster(1);
    software = sl_fixture_software();

    sl_question q = sl_fixture_question(sl_fixture_model(&spec), &cluster, &software);
    q.workload.attention = SL_ATTENTION_FLASH2;
    return q;
}

/* One device, one micro-batch: 4 bytes a gradient, of one tensor at a time. */
static void
an_optimizer_in_backward_holds_one_gradient(void)
{
    sl_question q = llama_question();

    q.workload.framework = SL_FRAMEWORK_DDP;
    q.workload.global_batch = 1;
    q.workload.sequence_length = 8; /* so that gradients are more than activations */
    q.plan.data = 1;
    cluster.accelerators_per_node = 1;
    const double before = (double)sl_fixture_answer(&q)->memory.ranks[0].peak_allocated_bytes;
    q.workload.optimizer_in_backward = true;
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_GRADIENTS), 0.0, 0.0, "none at rest");
    const double stepped = sl_fixture_bytes_of(&q, SL_TERM_STEPPED_GRADIENT);
    const double after = (double)sl_fixture_answer(&q)->memory.ranks[0].peak_allocated_bytes;
    CU_ASSERT_TRUE(stepped == 4.0 * (VOCABULARY * HIDDEN + HIDDEN) ||
                   stepped == 4.0 * FFN * HIDDEN);
    CU_ASSERT_TRUE(after < before);
}

/* Where products do not add to main gradients themselves, autograd has gradients and no dummies. */
static void
dummies_stand_for_gradients_that_are_added_up_elsewhere(void)
{
    sl_question q = llama_question();
    const double keys = 512.0;

    q.workload.framework = SL_FRAMEWORK_MEGATRON;
    software.dummy_weight_gradients = true;
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_DUMMY_WEIGHT_GRADIENTS),
                   2.0 * HIDDEN * (HIDDEN + HIDDEN + 2.0 * keys + 3.0 * FFN + VOCABULARY), 1e-12,
                   "one of each shape");
    software.gradient_accumulation_fusion = 0.0;
    CU_ASSERT_EQUAL(sl_fixture_bytes_of(&q, SL_TERM_DUMMY_WEIGHT_GRADIENTS), 0.0);
}

static void
an_optimizer_in_backward_needs_gradients_it_can_step_on(void)
{
    sl_question q = llama_question();
    sl_errors err = {0};

    q.workload.optimizer_in_backward = true;
    CU_ASSERT_EQUAL(sl_question_check(&q, &err), SL_E_RANGE);
    sl_expect_text(err.list[0].rule, "optimizer_not_of_framework", "megatron's are in buffers");
    q.workload.framework = SL_FRAMEWORK_FSDP2;
    q.plan.zero_stage = 3;
    err.count = 0;
    CU_ASSERT_EQUAL(sl_question_check(&q, &err), SL_E_RANGE);
    sl_expect_text(err.list[0].rule, "gradients_accumulate", "two micro-batches");
    sl_expect_text(err.list[0].hint, "false, or micro_batch_size 2", "one of both");
    q.workload.micro_batch = 2;
    CU_ASSERT_EQUAL(sl_question_check(&q, &err), SL_OK);
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_GRADIENTS), 0.0, 0.0,
                   "each unit's is stepped on");
}

/* Eager code keeps silu(gate) beside what fused code keeps. */
static void
an_activation_profile_goes_before_the_softwares(void)
{
    sl_question q = llama_question();
    const double plain = sl_fixture_bytes_of(&q, SL_TERM_ACTIVATIONS);

    q.workload.activations = SL_ACTIVATIONS_EAGER;
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_ACTIVATIONS) - plain,
                   BLOCKS * TOKENS * 2.0 * FFN, 1e-9, "one tensor more");
    software.eager_activations = true;
    q.workload.activations = SL_ACTIVATIONS_FUSED;
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_ACTIVATIONS), plain, 1e-12, "none of them");
    q.workload.activations = SL_ACTIVATIONS_COMPILED;
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_ACTIVATIONS), plain, 1e-12, "nor compiled");
}

static double
eager_block_bytes(sl_question *q)
{
    return sl_fixture_bytes_of(q, SL_TERM_ACTIVATIONS) / BLOCKS / TOKENS;
}

/* 16 blocks of 1B on one H100 keep 8 h a norm in transformers 5.17 (tests/accuracy/data, H001): the
 * fp32 copy, what the weight multiplies and the product's input. */
static void
a_norm_composed_of_kernels_keeps_what_they_read(void)
{
    sl_question q = llama_question();

    q.workload.activations = SL_ACTIVATIONS_EAGER;
    const double input = eager_block_bytes(&q);
    software.norm_keeps = SL_NORM_KEEPS_CAST;
    sl_expect_near(eager_block_bytes(&q) - input, (2.0 + 1.0 / BLOCKS) * 4.0 * HIDDEN, 1e-9,
                   "two of a block and the last one: 4 + 2 for 2");
    software.norm_keeps = SL_NORM_KEEPS_WIDE;
    sl_expect_near(eager_block_bytes(&q) - input, (2.0 + 1.0 / BLOCKS) * 6.0 * HIDDEN, 1e-9,
                   "4 + 4 for 2");
    q.workload.activations = SL_ACTIVATIONS_COMPILED;
    software.norm_keeps = SL_NORM_KEEPS_INPUT;
    const double compiled = eager_block_bytes(&q);
    software.norm_keeps = SL_NORM_KEEPS_WIDE;
    sl_expect_near(eager_block_bytes(&q), compiled, 1e-12, "a generated one reads once");
}

/* Gemma's multiplies before it casts back, whatever the release does (H017). */
static void
a_norm_may_multiply_in_fp32(void)
{
    sl_question q = llama_question();
    sl_dense_spec spec = sl_fixture_llama();

    q.workload.activations = SL_ACTIVATIONS_EAGER;
    software.norm_keeps = SL_NORM_KEEPS_WIDE;
    const double wide = eager_block_bytes(&q);
    software.norm_keeps = SL_NORM_KEEPS_CAST;
    spec.norm_wide = true;
    q.model = sl_fixture_model(&spec);
    sl_expect_near(eager_block_bytes(&q), wide, 1e-12, "4 + 4 for 2");
}

/* Eager scores of Gemma 2 keep the tanh that bounds them; a fused kernel has none (H017). */
static void
capped_scores_keep_their_tanh(void)
{
    sl_question q = llama_question();
    sl_dense_spec spec = sl_fixture_llama();

    q.workload.activations = SL_ACTIVATIONS_EAGER;
    const double fused = eager_block_bytes(&q);
    q.workload.attention = SL_ATTENTION_UNFUSED;
    const double plain = eager_block_bytes(&q);
    spec.scores_capped = true;
    q.model = sl_fixture_model(&spec);
    sl_expect_near(eager_block_bytes(&q) - plain, 2.0 * HEADS * TOKENS, 1e-9, "2 a score");
    q.workload.attention = SL_ATTENTION_FLASH2;
    sl_expect_near(eager_block_bytes(&q), fused, 1e-12, "none");
}

/* GPT-2 large, 8 x 1,024 tokens on one card: 29.49 GiB in bf16 and 45.17 under autocast, where one
 * kernel for it would leave 20.9 and 28.1 (tests/accuracy/data, K001 and K002). */
static void
a_gelu_composed_of_kernels_keeps_its_steps(void)
{
    sl_question q = llama_question();
    sl_dense_spec spec = sl_fixture_llama();

    q.workload.activations = SL_ACTIVATIONS_EAGER;
    spec.gated_mlp = false;
    q.model = sl_fixture_model(&spec);
    const double kernel = eager_block_bytes(&q);
    q.workload.framework = SL_FRAMEWORK_DDP;
    const double under_autocast = eager_block_bytes(&q);
    spec.composed_activation = true;
    q.model = sl_fixture_model(&spec);
    sl_expect_near(eager_block_bytes(&q) - under_autocast, 12.0 * FFN, 1e-9,
                   "2 for the wide input, 4 + 4 + 2 of the tanh and the factors");
    q.workload.framework = SL_FRAMEWORK_MEGATRON;
    sl_expect_near(eager_block_bytes(&q) - kernel, 6.0 * FFN, 1e-9, "the tanh and both factors");
    q.workload.activations = SL_ACTIVATIONS_COMPILED;
    sl_expect_near(eager_block_bytes(&q), kernel, 1e-9, "one kernel, generated");
}

/* OPT 1.3B on one card has 21.86 GiB, 3 less than with an input kept for each ReLU. */
static void
a_relu_keeps_what_it_gave(void)
{
    sl_question q = llama_question();
    sl_dense_spec spec = sl_fixture_llama();

    spec.gated_mlp = false;
    q.model = sl_fixture_model(&spec);
    const double input = eager_block_bytes(&q);
    spec.rectified = true;
    q.model = sl_fixture_model(&spec);
    sl_expect_near(input - eager_block_bytes(&q), 2.0 * FFN, 1e-9,
                   "the next product's input alone");
}

/* Phi, StableLM, GLM: what is joined along heads is contiguous by heads, as the output then is. */
static void
an_output_by_heads_is_copied_for_its_product(void)
{
    sl_question q = llama_question();
    sl_dense_spec spec = sl_fixture_llama();

    spec.relaid = true;
    const double fused = eager_block_bytes(&q);
    q.workload.activations = SL_ACTIVATIONS_EAGER;
    const double eager = eager_block_bytes(&q);
    q.model = sl_fixture_model(&spec);
    sl_expect_near(eager_block_bytes(&q), eager, 1e-9, "flash-attn's lie by positions");
    software.relays_outputs = 1.0;
    sl_expect_near(eager_block_bytes(&q) - eager, 2.0 * HIDDEN, 1e-9, "once more");
    q.workload.activations = SL_ACTIVATIONS_FUSED;
    sl_expect_near(eager_block_bytes(&q), fused, 1e-9, "not by fused code");
}

/* Cohere on one card has 48.1 GiB: x, x less its mean twice, and that over its deviation. */
static void
a_layer_norm_composed_of_kernels_keeps_their_steps(void)
{
    sl_question q = llama_question();
    sl_dense_spec spec = sl_fixture_llama();

    q.workload.activations = SL_ACTIVATIONS_EAGER;
    spec.norm_unbiased = true;
    q.model = sl_fixture_model(&spec);
    const double kernel = eager_block_bytes(&q);
    spec.norm_wide = true;
    q.model = sl_fixture_model(&spec);
    sl_expect_near(eager_block_bytes(&q) - kernel, (2.0 + 1.0 / BLOCKS) * 10.0 * HIDDEN, 1e-9,
                   "4 + 4 + 4 for 2");
}

/* Of 32 heads with 8 of keys and values, for SDPA: torchtitan's repeat_kv. */
static void
repeated_keys_are_kept_as_they_were_repeated(void)
{
    sl_question q = llama_question();
    const double grouped = eager_block_bytes(&q);
    const double more = 2.0 * 2.0 * (HEADS - 8.0) * HEAD_DIM;

    software.repeats_keys = 1.0;
    sl_expect_near(eager_block_bytes(&q) - grouped, more, 1e-9, "keys and values");
    software.repeats_keys = 0.0;
    q.workload.attention = SL_ATTENTION_UNFUSED;
    q.workload.activations = SL_ACTIVATIONS_FUSED;
    const double fused = eager_block_bytes(&q);
    q.workload.activations = SL_ACTIVATIONS_EAGER;
    sl_expect_near(
        eager_block_bytes(&q) - fused, more + 2.0 * FFN + HEADS * TOKENS * 4.0, 1e-9,
        "products of scores read them so; silu of the gate, and scores in fp32 and bf16");
}

/* GPT-NeoX: queries and keys are turned into tensors of their own, values stay a view of what one
 * product gave, and so all of that stays (tests/accuracy/data, H018), compiled too: nine peaks of a
 * compiled one of 3B went from 3 to 9 % too small to within 0.5 (N001 to N009). */
static void
values_that_are_a_view_keep_queries_and_keys(void)
{
    const sl_dense_spec apart = sl_fixture_llama();
    sl_dense_spec joined = apart;

    joined.naming = SL_NAMING_PHI3;
    for (uint32_t compiled = 0; compiled < 2; compiled++) {
        sl_question q = llama_question();
        q.workload.activations = compiled ? q.workload.activations : SL_ACTIVATIONS_EAGER;
        q.workload.compile = compiled;
        q.workload.framework = compiled ? SL_FRAMEWORK_FSDP2 : q.workload.framework;
        q.plan.zero_stage = compiled ? 3 : q.plan.zero_stage;
        q.model = sl_fixture_model(&apart);
        const double bytes = eager_block_bytes(&q);
        q.model = sl_fixture_model(&joined);
        sl_expect_near(eager_block_bytes(&q) - bytes, 2.0 * (HEADS + 8.0) * HEAD_DIM, 1e-9,
                       compiled ? "compiled" : "one product for all three");
    }
}

/* In fp32 under autocast: sums in 32 bits, and a copy of what a norm gave for each product. */
static void
autocast_casts_for_each_product(void)
{
    sl_question q = llama_question();

    cluster.accelerators_per_node = 1;
    q.plan.data = 1;
    q.workload.global_batch = 1;
    q.workload.framework = SL_FRAMEWORK_DDP;
    q.workload.activations = SL_ACTIVATIONS_EAGER;
    const double one = eager_block_bytes(&q);
    software.splits_products = true;
    sl_expect_near(eager_block_bytes(&q) - one, 2.0 * (2.0 + 1.0) * HIDDEN, 1e-9,
                   "three of the attention, two of the MLP");
}

static void
captured_blocks_have_outputs_of_their_own(void)
{
    sl_question q = llama_question();

    q.workload.graphs = SL_GRAPHS_LAYER;
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_GRAPH_BUFFERS), BLOCKS * 2.0 * HIDDEN * TOKENS,
                   1e-12, "one in flight");
    q.plan.pipeline = 4;
    q.plan.data = 2;
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_GRAPH_BUFFERS),
                   4.0 * (BLOCKS / 4.0) * 2.0 * HIDDEN * TOKENS, 1e-12, "four in flight");
    q.workload.graphs = SL_GRAPHS_FULL;
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_GRAPH_BUFFERS), 0.0, 0.0,
                   "a whole step has none");
}

/* A graph of the whole step is counted as nothing, and may have what its guide says. */
static void
pools_of_graphs_are_at_the_upper_end(void)
{
    sl_question q = llama_question();
    const double most[] = {3e9, 10e9};

    for (uint32_t i = 0; i < 2; i++) {
        q.plan.pipeline = 1 + i;
        q.plan.data = 8 / q.plan.pipeline;
        q.workload.graphs = SL_GRAPHS_NONE;
        const sl_memory none = sl_fixture_answer(&q)->memory;
        q.workload.graphs = SL_GRAPHS_FULL;
        const sl_memory *some = &sl_fixture_answer(&q)->memory;
        CU_ASSERT_EQUAL(some->ranks[0].peak_reserved_bytes, none.ranks[0].peak_reserved_bytes);
        CU_ASSERT_EQUAL(some->reserved_low_bytes, none.reserved_low_bytes);
        sl_expect_near((double)(some->reserved_high_bytes - none.reserved_high_bytes), most[i],
                       1e-3, "whole segments");
    }
}

/* States are as they were; what goes by tokens is kept three tenths more of, and may be one and a
 * half times more. */
static void
lengths_that_vary_leave_segments_idle(void)
{
    sl_question q = llama_question();
    const sl_memory alike = sl_fixture_answer(&q)->memory;
    const sl_rank_memory *rank = &alike.ranks[0];
    const double tokens = sl_fixture_bytes(rank, SL_TERM_ACTIVATIONS) +
                          sl_fixture_bytes(rank, SL_TERM_LOGITS) +
                          sl_fixture_bytes(rank, SL_TERM_RECOMPUTED_BLOCK) +
                          sl_fixture_bytes(rank, SL_TERM_BACKWARD_TRANSIENT);

    q.workload.lengths_vary = true;
    const sl_memory vary = sl_fixture_answer(&q)->memory;
    CU_ASSERT_TRUE(tokens > 0.0);
    CU_ASSERT_EQUAL(vary.ranks[0].peak_allocated_bytes, rank->peak_allocated_bytes);
    sl_expect_near((double)(vary.ranks[0].peak_reserved_bytes - rank->peak_reserved_bytes),
                   0.30 * tokens, 1e-6, "idle segments");
    sl_expect_near((double)(vary.reserved_high_bytes - alike.reserved_high_bytes), 1.43 * tokens,
                   1e-6, "at most");
    sl_expect_near((double)vary.reserved_low_bytes, (double)alike.reserved_low_bytes, 1e-6,
                   "at least");
}

static void
packed_documents_see_less_and_keep_as_much(void)
{
    sl_question q = llama_question();
    const double bytes = sl_fixture_bytes_of(&q, SL_TERM_ACTIVATIONS);
    const double forward = sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_FORWARD);
    const double flops = sl_fixture_answer(&q)->throughput.causal_flops;
    const double pair = 3.0 * 4.0 * BLOCKS * HEADS * HEAD_DIM * 16.0 * TOKENS;

    q.workload.document_length = 512;
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_ACTIVATIONS), bytes, 1e-12,
                   "no scores are kept");
    CU_ASSERT_TRUE(sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_FORWARD) < forward);
    sl_expect_near(flops - sl_fixture_answer(&q)->throughput.causal_flops,
                   pair * (2049.0 - 513.0) / 2.0, 1e-9, "pairs that are left out");

    sl_errors err = {0};
    q.workload.document_length = 4096;
    CU_ASSERT_EQUAL(sl_question_check(&q, &err), SL_E_RANGE);
    sl_expect_text(err.list[0].pointer, "/workload/documents/mean_length", "longer than all");
}

/* Beside the head of the last stage: a block, a projection of two hidden states, and a second
 * loss. */
static void
a_prediction_layer_is_on_the_last_stage(void)
{
    sl_question q = llama_question();
    sl_model_counts before = {0}, after = {0};
    const double keys = 8.0 * HEAD_DIM;
    const double block =
        2.0 * HIDDEN * HIDDEN + 2.0 * HIDDEN * keys + 3.0 * HIDDEN * FFN + 2.0 * HIDDEN;
    const double own = 3.0 * HIDDEN + 2.0 * HIDDEN * HIDDEN;
    sl_model *model = NULL;
    sl_errors err = {0};

    q.plan.pipeline = 2;
    q.plan.data = 4;
    const sl_estimate *answer = sl_fixture_answer(&q);
    const double first = sl_fixture_bytes(&answer->memory.ranks[0], SL_TERM_PARAMETERS);
    const double last = sl_fixture_bytes(&answer->memory.ranks[1], SL_TERM_PARAMETERS);
    const double logits = sl_fixture_bytes(&answer->memory.ranks[1], SL_TERM_LOGITS);
    CU_ASSERT_EQUAL(sl_model_count(q.model, &before), SL_OK);

    const sl_dense_spec spec = sl_fixture_llama();
    model = sl_fixture_own_model(&spec);
    CU_ASSERT_EQUAL_FATAL(sl_model_add_prediction(model, &err), SL_OK);
    CU_ASSERT_EQUAL(sl_model_count(model, &after), SL_OK);
    CU_ASSERT_EQUAL((double)(after.total - before.total), block + own);
    q.model = model;
    answer = sl_fixture_answer(&q);
    sl_expect_near(sl_fixture_bytes(&answer->memory.ranks[0], SL_TERM_PARAMETERS), first, 0.0,
                   "the first stage has none of it");
    sl_expect_near(sl_fixture_bytes(&answer->memory.ranks[1], SL_TERM_PARAMETERS) - last,
                   2.0 * (block + own + VOCABULARY * HIDDEN), 1e-9, "and the embedding again");
    sl_expect_near(sl_fixture_bytes(&answer->memory.ranks[1], SL_TERM_LOGITS), 2.0 * logits, 1e-12,
                   "two losses");
}

/* A head that is the embedding's table has it: there is no second copy of it beside the first. */
static void
a_prediction_layer_takes_the_table_of_a_tied_head(void)
{
    sl_question q = llama_question();
    sl_dense_spec spec = sl_fixture_llama();
    double last[2] = {0.0};
    sl_errors err = {0};

    spec.tied = true;
    q.plan.pipeline = 2;
    q.plan.data = 4;
    for (uint32_t i = 0; i < 2; i++) {
        sl_model *model = sl_fixture_own_model(&spec);
        if (i == 1)
            CU_ASSERT_EQUAL_FATAL(sl_model_add_prediction(model, &err), SL_OK);
        q.model = model;
        last[i] = sl_fixture_bytes(&sl_fixture_answer(&q)->memory.ranks[1], SL_TERM_PARAMETERS);
    }
    const double block =
        2.0 * HIDDEN * HIDDEN + 2.0 * HIDDEN * 8.0 * HEAD_DIM + 3.0 * HIDDEN * FFN + 2.0 * HIDDEN;
    sl_expect_near(last[1] - last[0], 2.0 * (block + 3.0 * HIDDEN + 2.0 * HIDDEN * HIDDEN), 1e-9,
                   "its own parameters");
}

/* All forwards come before the first backward: norm and logits of the head keep their inputs of
 * all. */
static void
the_head_of_gpipe_keeps_its_inputs_of_every_micro_batch(void)
{
    sl_question q = llama_question();
    double ends[2] = {0.0};

    q.plan.pipeline = 2;
    q.plan.data = 4;
    q.workload.global_batch = 16; /* four micro-batches of a replica */
    for (uint32_t i = 0; i < 2; i++) {
        q.plan.schedule = i == 0 ? SL_SCHEDULE_1F1B : SL_SCHEDULE_GPIPE;
        const sl_rank_memory *rank = &sl_fixture_answer(&q)->memory.ranks[1];
        for (uint32_t t = 0; t < rank->term_count; t++)
            if (rank->terms[t].id == SL_TERM_ACTIVATIONS)
                ends[i] = rank->terms[t].inputs[3].value;
    }
    CU_ASSERT_TRUE(ends[0] > 0.0);
    CU_ASSERT_EQUAL(ends[1], 4.0 * ends[0]);
}

/* Of a block its input in 32 bits; beside it 16-bit copies of the block that is rebuilt and of the
 * head, of all weights where nothing is. */
static void
sharding_that_gathers_in_32_bits_runs_under_autocast(void)
{
    sl_question q = llama_question();
    const double head = VOCABULARY * HIDDEN;

    q.workload.framework = SL_FRAMEWORK_FSDP1;
    q.plan.zero_stage = 3;
    q.workload.recompute = SL_RECOMPUTE_FULL;
    const double inputs = sl_fixture_bytes_of(&q, SL_TERM_ACTIVATIONS);
    CU_ASSERT_EQUAL(sl_fixture_bytes_of(&q, SL_TERM_CACHED_WEIGHTS), 0.0);
    q.workload.gather = SL_WIRE_FP32;
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_ACTIVATIONS) - inputs,
                   (BLOCKS + 1.0) * 2.0 * HIDDEN * TOKENS, 1e-9, "inputs of blocks and last norm");
    const double block = (sl_fixture_llama_all() - 2.0 * head - HIDDEN) / BLOCKS;
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_CACHED_WEIGHTS), 2.0 * (block + head), 1e-9,
                   "one block and the head");
    q.workload.recompute = SL_RECOMPUTE_NONE;
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_CACHED_WEIGHTS), 2.0 * sl_fixture_llama_all(),
                   1e-9, "all");
    q.workload.layout.parameter_bytes = 2.0;
    CU_ASSERT_EQUAL(sl_fixture_bytes_of(&q, SL_TERM_CACHED_WEIGHTS), 0.0);
}

/* A base in 32 bits that does not train: what casts of it products keep, or those of one block. */
static void
casts_of_a_frozen_base_are_kept_by_its_products(void)
{
    sl_question q = llama_question();
    const double head = VOCABULARY * HIDDEN;

    q.workload.framework = SL_FRAMEWORK_DDP;
    q.workload.adapter = (sl_adapter){
        .method = SL_ADAPTER_LORA, .rank = 8, .target_count = 1, .targets = {"q_proj"}};
    CU_ASSERT_EQUAL(sl_fixture_bytes_of(&q, SL_TERM_CACHED_WEIGHTS), 0.0); /* 16 bits as it is */
    q.workload.layout.parameter_bytes = 4.0;
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_CACHED_WEIGHTS),
                   2.0 * (sl_fixture_llama_all() - head), 1e-9, "all but a table");
    q.workload.recompute = SL_RECOMPUTE_FULL;
    const sl_rank_memory *rank = &sl_fixture_answer(&q)->memory.ranks[0];
    sl_expect_text(rank->phase, "head", "phase");
    sl_expect_near(sl_fixture_bytes(rank, SL_TERM_CACHED_WEIGHTS), 2.0 * head, 1e-9, "the head's");
    q.workload.recompute = SL_RECOMPUTE_NONE;
    q.workload.adapter.base = SL_ADAPTER_BASE_NF4;
    CU_ASSERT_EQUAL(sl_fixture_bytes_of(&q, SL_TERM_CACHED_WEIGHTS), 0.0); /* unpacked, not cast */
}

static const sl_case cases[] = {
    SL_CASE(an_optimizer_in_backward_holds_one_gradient),
    SL_CASE(dummies_stand_for_gradients_that_are_added_up_elsewhere),
    SL_CASE(an_optimizer_in_backward_needs_gradients_it_can_step_on),
    SL_CASE(an_activation_profile_goes_before_the_softwares),
    SL_CASE(a_norm_composed_of_kernels_keeps_what_they_read),
    SL_CASE(a_norm_may_multiply_in_fp32),
    SL_CASE(capped_scores_keep_their_tanh),
    SL_CASE(a_gelu_composed_of_kernels_keeps_its_steps),
    SL_CASE(a_relu_keeps_what_it_gave),
    SL_CASE(an_output_by_heads_is_copied_for_its_product),
    SL_CASE(a_layer_norm_composed_of_kernels_keeps_their_steps),
    SL_CASE(repeated_keys_are_kept_as_they_were_repeated),
    SL_CASE(values_that_are_a_view_keep_queries_and_keys),
    SL_CASE(autocast_casts_for_each_product),
    SL_CASE(captured_blocks_have_outputs_of_their_own),
    SL_CASE(pools_of_graphs_are_at_the_upper_end),
    SL_CASE(packed_documents_see_less_and_keep_as_much),
    SL_CASE(lengths_that_vary_leave_segments_idle),
    SL_CASE(a_prediction_layer_is_on_the_last_stage),
    SL_CASE(a_prediction_layer_takes_the_table_of_a_tied_head),
    SL_CASE(sharding_that_gathers_in_32_bits_runs_under_autocast),
    SL_CASE(casts_of_a_frozen_base_are_kept_by_its_products),
    SL_CASE(the_head_of_gpipe_keeps_its_inputs_of_every_micro_batch),
};

int
main(int argc, char **argv)
{
    return sl_run_cases(argc, argv, "workload_memory", cases, sizeof cases / sizeof cases[0]);
}
