/* Products in 8 and 4 bits: copies of weights, inputs that are kept, blocks that are spared. */
#include "engine_fixture.h"
#include "harness.h"

static sl_cluster cluster;
static sl_software software;
static sl_model model; /* one that may be changed */

static const double BLOCKS = 16.0, HIDDEN = 2048.0, KEYS = 512.0, FFN = 8192.0, ROWS = 32768.0;
static const double TOKENS = 2048.0, HEADS = 32.0;

static double
block_weights(void)
{
    return HIDDEN * (2.0 * HIDDEN + 2.0 * KEYS) + 3.0 * HIDDEN * FFN;
}

static double
all_elements(void)
{
    return BLOCKS * (block_weights() + 2.0 * HIDDEN) + 2.0 * ROWS * HIDDEN + HIDDEN;
}

static sl_question
llama_question(sl_framework framework, uint32_t stage, sl_precision precision)
{
    const sl_dense_spec spec = sl_fixture_llama();
    sl_errors err = {0};

    cluster = sl_fixture_cluster(1);
    for (uint32_t i = SL_PRECISION_FP8; i <= SL_PRECISION_NVFP4; i++)
        cluster.accelerator.peak_flops_per_s[i] = i == SL_PRECISION_NVFP4 ? 400e12 : 200e12;
    memcpy(cluster.accelerator.arch, "Hopper", sizeof "Hopper");
    software = sl_fixture_software();
    sl_model_clear(&model);
    CU_ASSERT_EQUAL(sl_model_describe_dense(&spec, &model, &err), SL_OK);
    sl_question q = sl_fixture_question(&model, &cluster, &software);

    q.workload.framework = framework;
    q.workload.precision = precision;
    q.workload.attention = SL_ATTENTION_FLASH2;
    q.plan.zero_stage = stage;
    return q;
}

static double
block_kept_bytes(const sl_question *q)
{
    const sl_rank_memory *rank = &sl_fixture_answer(q)->memory.ranks[0];

    for (uint32_t i = 0; i < rank->term_count; i++)
        if (rank->terms[i].id == SL_TERM_ACTIVATIONS)
            return rank->terms[i].inputs[2].value;
    return 0.0;
}

/* TransformerEngine: both orientations on Hopper, one on Blackwell, both wherever a scale holds for
 * a few values only. */
static void
transformer_engine_keeps_weights_quantised(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_MEGATRON, 1, SL_PRECISION_FP8);
    const double weights = BLOCKS * block_weights();

    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_LOW_PRECISION_WEIGHTS), 2.0 * weights, 1e-8,
                   "Hopper");
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_PARAMETERS), 2.0 * all_elements(), 1e-8,
                   "bf16 weights");
    cluster.accelerator.any_layout = true;
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_LOW_PRECISION_WEIGHTS), weights, 1e-8,
                   "Blackwell");
    q.workload.fp8.recipe = SL_RECIPE_BLOCK;
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_LOW_PRECISION_WEIGHTS),
                   2.0 * (1.0 + 4.0 / 16384.0) * weights, 1e-8, "an fp32 scale for 128 x 128");
    q.workload.precision = SL_PRECISION_MXFP8;
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_LOW_PRECISION_WEIGHTS), 2.0 * 1.03125 * weights,
                   1e-8, "a byte for 32");
    q.workload.precision = SL_PRECISION_NVFP4;
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_LOW_PRECISION_WEIGHTS), 2.0 * 0.5625 * weights,
                   1e-8, "half a byte, and a byte for 16");
    q = llama_question(SL_FRAMEWORK_FSDP2, 3, SL_PRECISION_FP8);
    CU_ASSERT_EQUAL(sl_fixture_bytes_of(&q, SL_TERM_LOW_PRECISION_WEIGHTS), 0.0);
}

static void
primary_weights_are_one_of_the_copies(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_MEGATRON, 1, SL_PRECISION_FP8);
    const double weights = BLOCKS * block_weights();
    const double rest = all_elements() - weights;

    q.workload.fp8.primary_weights = true;
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_PARAMETERS), weights + 2.0 * rest, 1e-8,
                   "a byte each");
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_LOW_PRECISION_WEIGHTS), weights, 1e-8,
                   "the transpose");
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_MASTER_WEIGHTS), 4.0 / 8.0 * all_elements(),
                   1e-8, "fp32 master");
    cluster.accelerator.any_layout = true;
    CU_ASSERT_EQUAL(sl_fixture_bytes_of(&q, SL_TERM_LOW_PRECISION_WEIGHTS), 0.0);
    q.workload.fp8.recipe = SL_RECIPE_BLOCK;
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_PARAMETERS),
                   (1.0 + 4.0 / 16384.0) * weights + 2.0 * rest, 1e-8, "a scale for 128 x 128");
}

/* Megatron-FSDP gathers a block in what its own layers are stored in; embedding and head are wider. */
static void
gathered_blocks_are_as_wide_as_their_own_weights(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_MEGATRON, 3, SL_PRECISION_FP8);
    const double vectors = 2.0 * HIDDEN;
    const double block = block_weights() + vectors;

    q.workload.fp8.primary_weights = true;
    software.double_buffers = true;
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_REDUCE_BUFFERS),
                   2.0 * (block_weights() + 2.0 * vectors + 4.0 * block), 1e-8, "two of each");
}

/* disable_parameter_transpose_cache: one matrix at a time, and each read and written once more in
 * every backward. */
static void
transposes_may_be_made_when_needed(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_MEGATRON, 1, SL_PRECISION_FP8);
    sl_errors err = {0};

    q.workload.fp8.primary_weights = true;
    const double kept_s = sl_fixture_answer(&q)->time.step_s;
    CU_ASSERT_EQUAL(sl_fixture_bytes_of(&q, SL_TERM_TRANSPOSED), 0.0);
    q.workload.fp8.transposed_anew = true;
    CU_ASSERT_EQUAL(sl_fixture_bytes_of(&q, SL_TERM_LOW_PRECISION_WEIGHTS), 0.0);
    CU_ASSERT_EQUAL(sl_fixture_bytes_of(&q, SL_TERM_TRANSPOSED), (double)HIDDEN * FFN);
    CU_ASSERT(sl_fixture_answer(&q)->time.step_s > kept_s);
    cluster.accelerator.any_layout = true;
    CU_ASSERT_EQUAL(sl_fixture_bytes_of(&q, SL_TERM_TRANSPOSED), 0.0);

    q.workload.fp8.recipe = SL_RECIPE_BLOCK;
    CU_ASSERT_EQUAL(sl_question_check(&q, &err), SL_E_RANGE);
    sl_expect_text(err.list[0].pointer, "/workload/fp8/transpose_cache", "scales of blocks");
    q.workload.fp8 = (sl_fp8){.transposed_anew = true};
    err = (sl_errors){0};
    CU_ASSERT_EQUAL(sl_question_check(&q, &err), SL_E_RANGE);
    sl_expect_text(err.list[0].rule, "transposes_not_apart", "copies of 16-bit weights");
}

/* activation_func_fp8_input_store: gate and up are kept in one byte a value, cast once more in each
 * pass, under any precision; only Megatron's fused SwiGLU does it. */
static void
inputs_of_swiglu_may_wait_in_8_bits(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_MEGATRON, 1, SL_PRECISION_BF16);
    sl_errors err = {0};

    const double kept = block_kept_bytes(&q);
    const double step_s = sl_fixture_answer(&q)->time.step_s;
    q.workload.fp8.activation_inputs = true;
    sl_expect_near(kept - block_kept_bytes(&q), 2.0 * FFN * TOKENS, 1e-9, "a byte of each value");
    CU_ASSERT(sl_fixture_answer(&q)->time.step_s > step_s);

    q.workload.framework = SL_FRAMEWORK_FSDP2;
    q.plan.zero_stage = 3;
    CU_ASSERT_EQUAL(sl_question_check(&q, &err), SL_E_RANGE);
    sl_expect_text(err.list[0].rule, "activation_inputs_not_kept_low", "of other frameworks");
}

/* FusedAttnFunc: queries, keys and values in one byte a value, the output too where its scale is the
 * last step's; cuDNN's kernels alone, and not in blocks that stay in 16 bits. */
static void
attention_in_8_bits_keeps_what_it_read_so(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_MEGATRON, 1, SL_PRECISION_FP8);
    sl_errors err = {0};

    memcpy(cluster.accelerator.attention[SL_ATTENTION_CUDNN],
           cluster.accelerator.attention[SL_ATTENTION_FLASH2],
           sizeof cluster.accelerator.attention[SL_ATTENTION_CUDNN]);
    q.workload.attention = SL_ATTENTION_CUDNN;
    const double kept = block_kept_bytes(&q);
    q.workload.fp8.attention = true;
    sl_expect_near(kept - block_kept_bytes(&q), (2.0 * HIDDEN + 2.0 * KEYS) * TOKENS, 1e-9,
                   "a byte of queries, keys, values and output");
    CU_ASSERT_TRUE(sl_fixture_has_note(sl_fixture_answer(&q), "attention_low"));
    q.workload.fp8.recipe = SL_RECIPE_CURRENT;
    sl_expect_near(kept - block_kept_bytes(&q), (HIDDEN + 2.0 * KEYS) * TOKENS, 1e-9,
                   "the output stays in 16 bits");

    q.workload.attention = SL_ATTENTION_FLASH2;
    CU_ASSERT_EQUAL(sl_question_check(&q, &err), SL_E_RANGE);
    sl_expect_text(err.list[0].rule, "attention_not_low", "of another kernel");
}

/* Norm inputs 2 x 2 h; inputs of qkv, gate and up, down, and of the output projection, which the
 * attention keeps in 16 bits too; q, k, v, row sums, output; gate and up. */
static void
transformer_engine_keeps_inputs_quantised(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_MEGATRON, 1, SL_PRECISION_BF16);
    const double wide = 2.0 * 2.0 * HIDDEN + 2.0 * (HIDDEN + 2.0 * KEYS) + 2.0 * HIDDEN +
                        4.0 * HEADS + 2.0 * 2.0 * FFN;

    sl_expect_near(block_kept_bytes(&q), TOKENS * (wide + 2.0 * (2.0 * HIDDEN + FFN)), 1e-12,
                   "bf16");
    q.workload.precision = SL_PRECISION_FP8;
    sl_expect_near(block_kept_bytes(&q), TOKENS * (wide + 3.0 * HIDDEN + FFN), 1e-12, "fp8");
    q.workload.precision = SL_PRECISION_NVFP4;
    sl_expect_near(block_kept_bytes(&q), TOKENS * (wide + 0.5625 * (3.0 * HIDDEN + FFN)), 1e-12,
                   "nvfp4");
}

/* torchtitan's table: 32 x 2048 tokens of an 8B model, 27 blocks of 32 in NVFP4, 63.5 GiB less than
 * in bf16. By hand 2 (h + h_k + f) a token and block less: q, v and gate. */
static void
nvfp4_products_keep_no_output_under_op_sac(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_FSDP2, 3, SL_PRECISION_BF16);

    q.workload.recompute = SL_RECOMPUTE_OPERATORS;
    q.workload.compile = true;
    const double bf16 = block_kept_bytes(&q);
    q.workload.precision = SL_PRECISION_MXFP8;
    sl_expect_near(block_kept_bytes(&q), bf16, 1e-12, "MXFP8 changes nothing");
    q.workload.precision = SL_PRECISION_NVFP4;
    sl_expect_near(bf16 - block_kept_bytes(&q), TOKENS * 2.0 * (HIDDEN + KEYS + FFN), 1e-12,
                   "q, v and gate");
    const double tokens = 32.0 * 2048.0;
    sl_expect_near(27.0 * tokens * 2.0 * (4096.0 + 1024.0 + 14336.0) / (1024.0 * 1024.0 * 1024.0),
                   174.49 - 110.95, 0.01, "GiB of the 8B model");
}

static void
spared_blocks_are_as_in_bf16(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_MEGATRON, 1, SL_PRECISION_FP8);
    bool half[16] = {[0] = true, [15] = true};
    sl_errors err = {0};
    const double low_s = sl_fixture_answer(&q)->time.step_s;

    CU_ASSERT_EQUAL(sl_model_keep_half(&model, half, 16, &err), SL_OK);
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_LOW_PRECISION_WEIGHTS),
                   2.0 * 14.0 * block_weights(), 1e-8, "fourteen of sixteen");
    CU_ASSERT_TRUE(sl_fixture_answer(&q)->time.step_s > low_s);
    sl_model_counts counts;
    CU_ASSERT_EQUAL(sl_model_count(&model, &counts), SL_OK);
    sl_expect_near((double)counts.total, all_elements(), 0.0, "the parameters stay");

    const sl_estimate *e = sl_fixture_answer(&q);
    const double mixed_s = e->time.step_s;
    memset(half, true, sizeof half);
    CU_ASSERT_EQUAL(sl_model_keep_half(&model, half, 16, &err), SL_OK);
    const double spared_s = sl_fixture_answer(&q)->time.step_s;
    CU_ASSERT_TRUE(spared_s > mixed_s);
    CU_ASSERT_EQUAL(sl_fixture_bytes_of(&q, SL_TERM_LOW_PRECISION_WEIGHTS), 0.0);
    q.workload.precision = SL_PRECISION_BF16;
    sl_expect_near(sl_fixture_answer(&q)->time.step_s, spared_s, 1e-12, "all of them: bf16");
}

/* The head, the router and the attention stay in 16 bits: they are not sped up. */
static void
low_precision_speeds_up_the_linear_layers_of_blocks(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_MEGATRON, 1, SL_PRECISION_BF16);

    q.workload.micro_batch = 2;
    const double bf16_s = sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_FORWARD);
    q.workload.precision = SL_PRECISION_FP8;
    const double fp8_s = sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_FORWARD);
    q.workload.precision = SL_PRECISION_MXFP8;
    sl_expect_near(sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_FORWARD), fp8_s, 1e-12,
                   "as fast by the datasheet");
    CU_ASSERT_TRUE(fp8_s < bf16_s && fp8_s > bf16_s / 2.0);
}

static void
what_cannot_be_quantised_is_refused(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_FSDP2, 3, SL_PRECISION_FP8);
    sl_errors err = {0};

    q.workload.fp8.primary_weights = true;
    CU_ASSERT_EQUAL(sl_question_check(&q, &err), SL_E_RANGE);
    sl_expect_text(err.list[0].pointer, "/workload/fp8/primary_weights", "pointer");
    q = llama_question(SL_FRAMEWORK_MEGATRON, 1, SL_PRECISION_NVFP4);
    cluster.accelerator.peak_flops_per_s[SL_PRECISION_NVFP4] = 0.0;
    err.count = 0;
    CU_ASSERT_EQUAL(sl_question_check(&q, &err), SL_E_RANGE);
    sl_expect_text(err.list[0].pointer, "/workload/precision", "pointer");
    sl_expect_text(err.list[0].hint, "bf16, fp16, fp8, mxfp8",
                   "what the part has, and has the attention kernel for");
}

/* TransformerEngine asserts multiples of 16; torchao pads. */
static void
widths_that_do_not_align_are_refused(void)
{
    sl_dense_spec odd = sl_fixture_llama();
    sl_question q = llama_question(SL_FRAMEWORK_MEGATRON, 1, SL_PRECISION_FP8);
    sl_errors err = {0};

    CU_ASSERT_EQUAL(sl_question_check(&q, &err), SL_OK);
    odd.ffn -= 4;
    q.model = sl_fixture_model(&odd);
    CU_ASSERT_EQUAL(sl_question_check(&q, &err), SL_E_RANGE);
    sl_expect_text(err.list[0].rule, "not_aligned", "rule");
    sl_expect_text(err.list[0].pointer, "/workload/precision", "pointer");
    CU_ASSERT_PTR_NOT_NULL(strstr(err.list[0].message, "mlp_down has 8188"));
    err.count = 0;
    q.workload.framework = SL_FRAMEWORK_FSDP2;
    q.plan.zero_stage = 3;
    CU_ASSERT_EQUAL(sl_question_check(&q, &err), SL_OK);
}

static double
gathered_bytes(const sl_question *q)
{
    return sl_fixture_sent_bytes(q, "tensor", SL_COLLECTIVE_ALL_GATHER);
}

/* Of a block the inputs of two products, for forward and for backward, and two output gradients:
 * TransformerEngine casts them before they are gathered (gather_along_first_dim with a quantizer), but
 * where adapters read an input too. */
static void
ranks_gather_what_products_take(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_MEGATRON, 1, SL_PRECISION_BF16);

    q.plan.tensor = 4;
    q.plan.sequence = true;
    q.plan.data = 2;
    const double half = gathered_bytes(&q);
    const double passed = (double)q.workload.global_batch / q.plan.data * BLOCKS * TOKENS * HIDDEN;
    q.workload.precision = SL_PRECISION_FP8;
    sl_expect_near(half - gathered_bytes(&q), 6.0 * passed, 1e-9, "1 byte in place of 2");
    q.workload.precision = SL_PRECISION_NVFP4;
    sl_expect_near(half - gathered_bytes(&q), 6.0 * passed * (2.0 - 0.5 - 1.0 / 16.0), 1e-9,
                   "with a scale for sixteen");
    q.workload.precision = SL_PRECISION_FP8;
    q.workload.adapter = (sl_adapter){
        .method = SL_ADAPTER_LORA, .rank = 8, .target_count = 1, .targets = {"all-linear"}};
    sl_expect_near(half - gathered_bytes(&q), 2.0 * passed, 1e-9, "output gradients alone");
}

/* With memory of this rate; the laws of products keep theirs. */
static double
forward_s(sl_question *q, double rate)
{
    cluster.accelerator.memory_bytes_per_s = rate;
    return sl_fixture_seconds(sl_fixture_answer(q), SL_TERM_FORWARD);
}

/* 5 bytes for each value of an input: of queries, keys and values, of the output, of gate and up
 * together, of the way down. In 16 bits, with the same norms and sums, there are none. */
static void
rows_are_cast_for_each_product(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_FSDP2, 3, SL_PRECISION_FP8);
    const double slow = 1e12, quick = 2e12;
    const double inputs = 3.0 * HIDDEN + FFN;

    q.workload.fp8.recipe = SL_RECIPE_ROWWISE;
    const double by_row_s = forward_s(&q, slow) - forward_s(&q, quick);
    q.workload.precision = SL_PRECISION_BF16;
    q.workload.fp8.recipe = SL_RECIPE_DEFAULT;
    const double half_s = forward_s(&q, slow) - forward_s(&q, quick);
    sl_expect_near(by_row_s - half_s,
                   2.0 * BLOCKS * TOKENS * inputs * 5.0 / 0.85 * (1.0 / slow - 1.0 / quick), 1e-6,
                   "two micro-batches");
}

/* What a norm makes it writes twice; what attention and activation make is read first, and all of it
 * once more where scales are those of the values at hand. */
static void
operands_are_cast_where_they_are_made(void)
{
    static const struct {
        sl_recipe recipe;
        double normed, others;
    } cases[] = {{SL_RECIPE_DEFAULT, 2.0, 4.0},
                 {SL_RECIPE_DELAYED, 2.0, 4.0},
                 {SL_RECIPE_CURRENT, 6.0, 6.0},
                 {SL_RECIPE_TENSORWISE, 6.0, 6.0}};
    const double slow = 1e12, quick = 2e12;
    sl_question q = llama_question(SL_FRAMEWORK_MEGATRON, 1, SL_PRECISION_BF16);
    const double half_s = forward_s(&q, slow) - forward_s(&q, quick);

    q.workload.precision = SL_PRECISION_FP8;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const double bytes = cases[i].normed * 2.0 * HIDDEN + cases[i].others * (HIDDEN + FFN);
        q.workload.fp8.recipe = cases[i].recipe;
        sl_expect_near(forward_s(&q, slow) - forward_s(&q, quick) - half_s,
                       2.0 * BLOCKS * TOKENS * bytes / 0.85 * (1.0 / slow - 1.0 / quick), 1e-6,
                       "two micro-batches");
    }
}

/* Of each value of an input, once forward. */
static void
inputs_in_16_bits_are_cast_for_products(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_FSDP2, 3, SL_PRECISION_FP8);
    sl_gemm_law *law = &cluster.accelerator.low_gemm[SL_LOW_PRODUCT_FP8];
    const double inputs = 2.0 * BLOCKS * TOKENS * (3.0 * HIDDEN + FFN);

    *law = cluster.accelerator.gemm;
    const double free_s = forward_s(&q, 1e12);
    law->cast_values_per_s = 1e9;
    sl_expect_near(forward_s(&q, 1e12) - free_s, inputs / 1e9, 1e-6, "two micro-batches");
    q.plan.tensor = 2;
    q.plan.data = 4;
    q.plan.sequence = true;
    const double halves_s = forward_s(&q, 1e12);
    law->cast_values_per_s = 0.0;
    sl_expect_near(halves_s - forward_s(&q, 1e12), inputs / 1e9, 1e-6,
                   "four of half of each, before tensor ranks gather them");
}

static const sl_case cases[] = {
    SL_CASE(transformer_engine_keeps_weights_quantised),
    SL_CASE(primary_weights_are_one_of_the_copies),
    SL_CASE(gathered_blocks_are_as_wide_as_their_own_weights),
    SL_CASE(transposes_may_be_made_when_needed),
    SL_CASE(inputs_of_swiglu_may_wait_in_8_bits),
    SL_CASE(attention_in_8_bits_keeps_what_it_read_so),
    SL_CASE(transformer_engine_keeps_inputs_quantised),
    SL_CASE(nvfp4_products_keep_no_output_under_op_sac),
    SL_CASE(spared_blocks_are_as_in_bf16),
    SL_CASE(low_precision_speeds_up_the_linear_layers_of_blocks),
    SL_CASE(what_cannot_be_quantised_is_refused),
    SL_CASE(widths_that_do_not_align_are_refused),
    SL_CASE(operands_are_cast_where_they_are_made),
    SL_CASE(inputs_in_16_bits_are_cast_for_products),
    SL_CASE(ranks_gather_what_products_take),
    SL_CASE(rows_are_cast_for_each_product),
};

int
main(int argc, char **argv)
{
    return sl_run_cases(argc, argv, "low_precision", cases, sizeof cases / sizeof cases[0]);
}
