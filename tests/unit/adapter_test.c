/* Adapters: how many parameters each method trains, what it keeps, and what its targets name. */
#include <stddef.h>
#include <string.h>

#include "adapter_fixture.h"
#include "harness.h"

/* Of the only rank: an input of the term of adapters, or of activations. */
static double
input_in(const sl_question *q, sl_term_id id, const char *name)
{
    const sl_rank_memory *rank = &sl_fixture_answer(q)->memory.ranks[0];

    for (uint32_t t = 0; t < rank->term_count; t++)
        for (uint32_t i = 0; rank->terms[t].id == id && i < rank->terms[t].input_count; i++)
            if (strcmp(rank->terms[t].inputs[i].name, name) == 0)
                return rank->terms[t].inputs[i].value;
    CU_FAIL("the term has such an input");
    return 0.0;
}

static double
input_of(const sl_adapter *adapter, sl_term_id id, const char *name)
{
    const sl_question q = llama_question(adapter);

    return input_in(&q, id, name);
}

static double
trained(const sl_adapter *adapter)
{
    return input_of(adapter, SL_TERM_ADAPTERS, "parameters");
}

static void
counts_are_those_that_peft_publishes(void)
{
    static const struct {
        sl_adapter adapter;
        double parameters;
    } rows[] = {
        {{.method = SL_ADAPTER_LORA, .rank = 32, ON_Q_AND_V}, 9175040},
        {{.method = SL_ADAPTER_RSLORA, .rank = 64, ON_Q_AND_V}, 18350080},
        {{.method = SL_ADAPTER_LORA,
          .rank = 10,
          .target_count = 3,
          .targets = {"gate_proj", "up_proj", "mlp.down_proj"}},
         9461760},
        {{.method = SL_ADAPTER_LORA, .rank = 10, .target_count = 1, .targets = {"mlp.*"}}, 9461760},
        {{.method = SL_ADAPTER_DORA, .rank = 32, ON_Q_AND_V}, 9289728},
        {{.method = SL_ADAPTER_LORA_FA, .rank = 32, ON_Q_AND_V}, 3670016},
        {{.method = SL_ADAPTER_ADALORA, .rank = 64, ON_Q_AND_V}, 18353664},
        {{.method = SL_ADAPTER_LOHA, .rank = 32, ON_Q_AND_V}, 18350080},
        {{.method = SL_ADAPTER_VERA, .rank = 256, ON_Q_AND_V}, 129024},
        {{.method = SL_ADAPTER_RANDLORA, .rank = 32, ON_Q_AND_V}, 9289728},
        {{.method = SL_ADAPTER_TINYLORA, .rank = 2, ON_Q_AND_V}, 3584},
        {{.method = SL_ADAPTER_IA3}, 286720},
        {{.method = SL_ADAPTER_OFT, .rank = 32, ON_Q_AND_V}, 8171520},
        {{.method = SL_ADAPTER_BOFT, .block_size = 4, ON_Q_AND_V}, 802816},
        {{.method = SL_ADAPTER_LN_TUNING}, 175104},
        {{.method = SL_ADAPTER_PROMPT_TUNING, .virtual_tokens = 200}, 614400},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        CU_ASSERT_EQUAL(trained(&rows[i].adapter), rows[i].parameters);
}

static void
counts_are_those_of_the_definitions(void)
{
    /* 3072 = 48 x 64 and 1024 = 32 x 32: the small factors and what is left, of low rank. */
    CU_ASSERT_EQUAL(trained(&(sl_adapter){.method = SL_ADAPTER_LOKR, .rank = 8, ON_Q_AND_V}),
                    LAYERS * (48.0 * 48 + 8 * (64.0 + 64) + 48.0 * 32 + 8 * (64.0 + 32)));
    /* From half of the larger rest on the second factor is whole. */
    CU_ASSERT_EQUAL(trained(&(sl_adapter){.method = SL_ADAPTER_LOKR, .rank = 32, ON_Q_AND_V}),
                    LAYERS * (48.0 * 48 + 64.0 * 64 + 48.0 * 32 + 64.0 * 32));
    CU_ASSERT_EQUAL(
        trained(&(sl_adapter){.method = SL_ADAPTER_PREFIX_TUNING, .virtual_tokens = 30}),
        LAYERS * 30 * 2 * KEYS);
    CU_ASSERT_EQUAL(trained(&(sl_adapter){.method = SL_ADAPTER_P_TUNING, .virtual_tokens = 20}),
                    20 * HIDDEN + 3 * (HIDDEN * HIDDEN + HIDDEN));
    /* 100 divides nothing here: 96 is as near as it gets. */
    CU_ASSERT_EQUAL(trained(&(sl_adapter){.method = SL_ADAPTER_OFT, .block_size = 100, ON_Q_AND_V}),
                    LAYERS * 2 * HIDDEN * 95 / 2);
    CU_ASSERT_EQUAL(trained(&(sl_adapter){.method = SL_ADAPTER_LORA, .rank = 8}),
                    LAYERS * 8 *
                        (2 * (HIDDEN + HIDDEN) + 2 * (HIDDEN + KEYS) + 3 * (HIDDEN + FFN)));
    CU_ASSERT_EQUAL(
        trained(&(sl_adapter){
            .method = SL_ADAPTER_LORA, .rank = 8, .target_count = 1, .targets = {"lm_head"}}),
        8 * (HIDDEN + 128256));
}

/* What never trains is stored, and given no gradient and no state. */
static void
frozen_halves_weigh_what_they_store(void)
{
    const sl_adapter vera = {.method = SL_ADAPTER_VERA, .rank = 256, ON_Q_AND_V};
    const sl_adapter half = {.method = SL_ADAPTER_LORA_FA, .rank = 32, .half = true, ON_Q_AND_V};
    sl_question q = llama_question(&half);

    CU_ASSERT_EQUAL(input_of(&vera, SL_TERM_ADAPTERS, "frozen"), 256 * (HIDDEN + HIDDEN));
    sl_expect_near(sl_fixture_bytes(&sl_fixture_answer(&q)->memory.ranks[0], SL_TERM_ADAPTERS),
                   LAYERS * 32 * (8 * (HIDDEN + KEYS) + 2 * (HIDDEN + HIDDEN)), 1e-8,
                   "2 + 2 + 4 a trained parameter, 2 a frozen one");
}

/* What the workload says of gradients and states is said of what trains. */
static void
a_layout_is_of_what_trains(void)
{
    const sl_adapter adapter = {.method = SL_ADAPTER_LORA, .rank = 8, ON_Q_AND_V};
    const double own = trained(&adapter);
    sl_question q = llama_question(&adapter);

    q.workload.layout.gradient_bytes = 2.0;
    q.workload.layout.master_bytes = 3.0;
    q.workload.layout.optimizer_bytes = 5.0;
    const sl_rank_memory *rank = &sl_fixture_answer(&q)->memory.ranks[0];
    CU_ASSERT_EQUAL(sl_fixture_bytes(rank, SL_TERM_GRADIENTS), 0.0);
    CU_ASSERT_EQUAL(sl_fixture_bytes(rank, SL_TERM_MASTER_WEIGHTS), 0.0);
    CU_ASSERT_EQUAL(sl_fixture_bytes(rank, SL_TERM_OPTIMIZER_STATES), 0.0);
    sl_expect_near(sl_fixture_bytes(rank, SL_TERM_ADAPTERS), (4.0 + 2.0 + 3.0 + 5.0) * own, 1e-8,
                   "weights, gradients, masters, states");
}

/* Into 16 bits, in forward as in backward, and let go of. */
static void
quantised_bases_are_unpacked_matrix_by_matrix(void)
{
    sl_adapter adapter = {.method = SL_ADAPTER_LORA, .rank = 8, ON_Q_AND_V};
    const sl_question half = llama_question(&adapter);

    CU_ASSERT_EQUAL(sl_fixture_bytes_of(&half, SL_TERM_DEQUANTIZED), 0.0);
    adapter.base = SL_ADAPTER_BASE_NF4;
    const sl_question q = llama_question(&adapter);
    CU_ASSERT_EQUAL(sl_fixture_bytes_of(&q, SL_TERM_DEQUANTIZED), 2.0 * HIDDEN * FFN);
}

/* torch.nn.parallel.DistributedDataParallel, gradient_as_bucket_view. */
static void
replicas_copy_the_gradients_of_adapters(void)
{
    const sl_adapter adapter = {.method = SL_ADAPTER_LORA, .rank = 8, ON_Q_AND_V};
    sl_question q = llama_question(&adapter);

    q.workload.framework = SL_FRAMEWORK_DDP;
    q.plan.zero_stage = 0;
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_GRADIENT_BUCKETS), 4.0 * trained(&adapter), 1e-8,
                   "in buckets");
    q.workload.optimizer_in_backward = true;
    q.workload.framework = SL_FRAMEWORK_FSDP2;
    q.plan.zero_stage = 3;
    sl_errors err = {0};
    CU_ASSERT_EQUAL(sl_question_check(&q, &err), SL_E_UNSUPPORTED);
    sl_expect_text(err.list[0].pointer, "/workload/optimizer_in_backward", "all weights or none");
}

static double
kept_per_token(const sl_adapter *adapter)
{
    return input_of(adapter, SL_TERM_ACTIVATIONS, "bytes_per_block") / TOKENS;
}

static void
each_method_keeps_what_its_gradients_need(void)
{
    const sl_adapter none = {.method = SL_ADAPTER_PROMPT_TUNING, .virtual_tokens = 1};
    const double bare = input_of(&none, SL_TERM_ACTIVATIONS, "bytes_per_block") / (TOKENS + 1.0);
    const struct {
        sl_adapter adapter;
        double more;
        const char *what;
    } rows[] = {
        {{.method = SL_ADAPTER_LORA, .rank = 32, ON_Q_AND_V},
         4 * 2 * (HIDDEN + 32),
         "two fp32 copies"},
        {{.method = SL_ADAPTER_LORA, .rank = 32, .half = true, ON_Q_AND_V},
         2 * HIDDEN + 2 * 2 * 32,
         "one input for both"},
        {{.method = SL_ADAPTER_LORA, .rank = 32, .fused = true, ON_Q_AND_V},
         2 * HIDDEN + 4 * 2 * 32,
         "as computed"},
        {{.method = SL_ADAPTER_DORA, .rank = 32, ON_Q_AND_V},
         4 * 2 * (HIDDEN + 32) + (4 + 2) * (HIDDEN + KEYS),
         "both outputs too"},
        {{.method = SL_ADAPTER_VERA, .rank = 256, ON_Q_AND_V},
         4 * (2 * 256 + HIDDEN + KEYS),
         "no input"},
        {{.method = SL_ADAPTER_TINYLORA, .rank = 2, ON_Q_AND_V}, 4 * 2 * 2, "next to nothing"},
        {{.method = SL_ADAPTER_IA3}, 4 * (KEYS + KEYS + FFN), "what is scaled"},
        {{.method = SL_ADAPTER_LN_TUNING}, 0, "what norms read is there already"},
        {{.method = SL_ADAPTER_LOHA, .rank = 32, ON_Q_AND_V},
         4 * 2 * HIDDEN + 4 * HIDDEN * (HIDDEN + KEYS) / TOKENS,
         "and the update as a matrix"},
        {{.method = SL_ADAPTER_RANDLORA, .rank = 32, ON_Q_AND_V},
         4 * (HIDDEN + KEYS) + 4 * (HIDDEN * HIDDEN + KEYS * KEYS) / TOKENS,
         "input or middle, and the scaled base"},
        {{.method = SL_ADAPTER_OFT, .rank = 32, ON_Q_AND_V},
         4 * 2 * HIDDEN + 4 * 2 * 4 * HIDDEN * 96 / TOKENS,
         "skew matrices, powers, rotation"},
        {{.method = SL_ADAPTER_BOFT, .block_size = 4, ON_Q_AND_V},
         2 * HIDDEN + 2 * (2 * 2 * HIDDEN * HIDDEN + 2 * HIDDEN * (HIDDEN + KEYS)) / TOKENS,
         "permutations and rotated weights"},
        {{.method = SL_ADAPTER_PREFIX_TUNING, .virtual_tokens = 64},
         2 * 64 * 2 * KEYS / TOKENS,
         "a prefix"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        sl_expect_near(kept_per_token(&rows[i].adapter), bare + rows[i].more, 1e-9, rows[i].what);
}

/* Of down_proj four dense temporaries and an identity, in place of the gradient of gate and up. */
static void
norms_of_weights_need_room(void)
{
    const sl_adapter adapter = {.method = SL_ADAPTER_DORA, .rank = 8};
    sl_question q = llama_question(&adapter);

    q.workload.recompute = SL_RECOMPUTE_FULL;
    q.workload.loss = SL_LOSS_CUT;
    sl_expect_near(
        sl_fixture_bytes(&sl_fixture_answer(&q)->memory.ranks[0], SL_TERM_BACKWARD_TRANSIENT),
        4 * (4 * FFN * HIDDEN + FFN * FFN), 1e-8, "dora");
}

/* Embedding and norms in fp32, the hidden state with them, and the head's copy in 16 bits. */
static void
what_is_not_quantised_may_be_wide(void)
{
    sl_adapter adapter = {
        .method = SL_ADAPTER_LORA, .rank = 32, .base = SL_ADAPTER_BASE_NF4, ON_Q_AND_V};
    sl_question narrow = llama_question(&adapter);
    const double before =
        sl_fixture_bytes(&sl_fixture_answer(&narrow)->memory.ranks[0], SL_TERM_PARAMETERS);
    const double kept = kept_per_token(&adapter);

    adapter.wide_rest = true;
    sl_question wide = llama_question(&adapter);
    sl_expect_near(
        sl_fixture_bytes(&sl_fixture_answer(&wide)->memory.ranks[0], SL_TERM_PARAMETERS) - before,
        2 * (128256.0 * HIDDEN + 57 * HIDDEN), 1e-8, "2 bytes more");
    sl_expect_near(kept_per_token(&adapter) - kept, 2 * 2 * HIDDEN - 2 * 2 * (HIDDEN + 32), 1e-9,
                   "two norms wide, two inputs as autocast casts them");
}

/* Before 0.43.2 bitsandbytes kept what each product of the base reads: qkv's and gate and up's,
 * each once, and down's; the output of attention is there already. */
static void
a_quantised_base_may_keep_its_inputs(void)
{
    sl_adapter adapter = {
        .method = SL_ADAPTER_LORA, .rank = 32, .base = SL_ADAPTER_BASE_NF4, ON_Q_AND_V};
    const double kept = kept_per_token(&adapter);

    adapter.base_keeps_inputs = true;
    sl_expect_near(kept_per_token(&adapter) - kept, 2 * (2 * HIDDEN + FFN), 1e-9, "in 16 bits");
    adapter.half = true; /* then adapters read qkv's as it is */
    const double shared = kept_per_token(&adapter);
    adapter.base_keeps_inputs = false;
    sl_expect_near(shared - kept_per_token(&adapter), 2 * (HIDDEN + FFN), 1e-9, "once");
    const double plain = kept_per_token(&adapter);
    adapter.base = SL_ADAPTER_BASE_BF16;
    adapter.base_keeps_inputs = true;
    sl_expect_near(kept_per_token(&adapter), plain, 1e-9, "not of 16 bits");
}

/* Root in 16 bits; the block in use, the one prefetched and its copy in 4 and their scales. */
static void
quantised_blocks_are_gathered_as_stored(void)
{
    const sl_adapter adapter = {
        .method = SL_ADAPTER_LORA, .rank = 32, .base = SL_ADAPTER_BASE_NF4, ON_Q_AND_V};
    const double block = HIDDEN * (2 * HIDDEN + 2 * KEYS) + 3 * HIDDEN * FFN + 2 * HIDDEN;
    sl_question q = llama_question(&adapter);

    q.workload.framework = SL_FRAMEWORK_FSDP2;
    q.workload.loss = SL_LOSS_CUT;
    q.plan.zero_stage = 3;
    sl_expect_near(
        sl_fixture_bytes(&sl_fixture_answer(&q)->memory.ranks[0], SL_TERM_GATHERED_PARAMETERS),
        2 * (128256 * HIDDEN + HIDDEN) + 3 * 0.5625 * block, 1e-8, "nf4 on the wire");
}

static void
a_target_nothing_goes_by_is_refused(void)
{
    const sl_adapter adapter = {
        .method = SL_ADAPTER_LORA, .rank = 8, .target_count = 2, .targets = {"q_proj", "query"}};
    const sl_question q = llama_question(&adapter);
    sl_errors err = {0};

    CU_ASSERT_EQUAL(sl_question_check(&q, &err), SL_E_RANGE);
    CU_ASSERT_EQUAL(err.count, 1);
    CU_ASSERT_STRING_EQUAL(err.list[0].rule, "no_such_module");
    CU_ASSERT_STRING_EQUAL(err.list[0].pointer, "/workload/adapter/targets/1");
    CU_ASSERT_STRING_EQUAL(
        err.list[0].hint, "q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj, down_proj, lm_head");
}

/* Two copies of the input and what the first halves give, in 16 bits. */
static void
autocast_keeps_narrow_inputs(void)
{
    sl_adapter adapter = lora;
    const double kept = kept_per_token(&adapter);

    adapter.autocast = true;
    sl_expect_near(kept - kept_per_token(&adapter), (4 - 2) * 2 * (HIDDEN + 32), 1e-9, "narrow");
}

/* AdamW in fp32: the gradient four times, two states and the weight both ways, and zeroing. */
/* A norm that is composed of kernels keeps what its weight multiplies where that trains, and its input in
 * fp32 in any case. */
static void
composed_norms_keep_what_a_weight_that_trains_multiplies(void)
{
    const sl_adapter tuned = {.method = SL_ADAPTER_LN_TUNING};
    sl_question q = llama_question(&lora);

    q.workload.activations = SL_ACTIVATIONS_EAGER;
    software.norm_keeps = SL_NORM_KEEPS_CAST;
    q.workload.adapter = tuned;
    const double trains = input_in(&q, SL_TERM_ACTIVATIONS, "bytes_per_block");
    software.norm_keeps = SL_NORM_KEEPS_INPUT;
    const double one = input_in(&q, SL_TERM_ACTIVATIONS, "bytes_per_block");
    sl_expect_near((trains - one) / TOKENS, 2.0 * (4.0 + 2.0 - 2.0) * HIDDEN, 1e-9,
                   "two norms: 4 + 2 for 2");
    q.workload.adapter = (sl_adapter){.method = SL_ADAPTER_IA3};
    const double frozen_one = input_in(&q, SL_TERM_ACTIVATIONS, "bytes_per_block");
    software.norm_keeps = SL_NORM_KEEPS_CAST;
    sl_expect_near((input_in(&q, SL_TERM_ACTIVATIONS, "bytes_per_block") - frozen_one) / TOKENS,
                   2.0 * (4.0 - 2.0) * HIDDEN, 1e-9, "frozen: 4 for 2");
}

static void
frozen_weights_are_gathered_and_have_no_gradient(void)
{
    sl_question q = llama_question(&lora);

    q.workload.framework = SL_FRAMEWORK_DEEPSPEED;
    q.plan.zero_stage = 3;
    const sl_rank_memory *rank = &sl_fixture_answer(&q)->memory.ranks[0];
    CU_ASSERT_TRUE(sl_fixture_bytes(rank, SL_TERM_GATHERED_PARAMETERS) > 0.0);
    CU_ASSERT_EQUAL(sl_fixture_bytes(rank, SL_TERM_UNSHARDED_GRADIENTS), 0.0);
}

/* DataParallel: the first device has the states; the others weights and gradients, for a step. */
static void
devices_that_are_lent_adapters_have_no_states_of_them(void)
{
    sl_question q = llama_question(&lora);

    q.workload.framework = SL_FRAMEWORK_DP;
    const sl_memory *memory = &sl_fixture_answer(&q)->memory;
    CU_ASSERT_EQUAL_FATAL(memory->rank_count, 2);
    CU_ASSERT_EQUAL(sl_fixture_bytes(&memory->ranks[0], SL_TERM_ADAPTERS), 16.0 * LORA_TRAINED);
    CU_ASSERT_EQUAL(sl_fixture_bytes(&memory->ranks[1], SL_TERM_ADAPTERS), 8.0 * LORA_TRAINED);
}

/* Modules of Megatron train as its other parameters do: 16 bits, with a master copy and fp32
 * states. DeepSpeed's have gradients in 16 bits, too. */
static void
megatron_and_deepspeed_keep_a_master_copy_of_adapters(void)
{
    sl_adapter half = lora;
    half.half = true;
    sl_question q = llama_question(&half);

    q.workload.framework = SL_FRAMEWORK_MEGATRON;
    const sl_rank_memory *rank = &sl_fixture_answer(&q)->memory.ranks[0];
    CU_ASSERT_EQUAL(sl_fixture_bytes(rank, SL_TERM_ADAPTERS), 18.0 * LORA_TRAINED);

    q.workload.reduce = SL_WIRE_BF16;
    rank = &sl_fixture_answer(&q)->memory.ranks[0];
    CU_ASSERT_EQUAL(sl_fixture_bytes(rank, SL_TERM_ADAPTERS), 16.0 * LORA_TRAINED);

    q.workload.framework = SL_FRAMEWORK_DEEPSPEED;
    q.workload.reduce = SL_WIRE_DEFAULT;
    rank = &sl_fixture_answer(&q)->memory.ranks[0];
    CU_ASSERT_EQUAL(sl_fixture_bytes(rank, SL_TERM_ADAPTERS),
                    (2.0 + 2.0 + 4.0 + 8.0) * LORA_TRAINED);
}

/* TransformerEngine's weights in fp8, frozen: a byte each, and one more transposed where products
 * take one layout alone; tables and norms stay in 16 bits (NVIDIA's MLPerf LoRA of 70B). */
static void
a_base_may_be_stored_as_it_multiplies(void)
{
    sl_question q = llama_question(&lora);
    sl_errors err = {0};

    cluster.accelerator.peak_flops_per_s[SL_PRECISION_FP8] = 200e12;
    q.workload.framework = SL_FRAMEWORK_MEGATRON;
    q.workload.precision = SL_PRECISION_FP8;

    const sl_rank_memory *rank = &sl_fixture_answer(&q)->memory.ranks[0];
    const double wide = sl_fixture_bytes(rank, SL_TERM_PARAMETERS);
    const double copies = sl_fixture_bytes(rank, SL_TERM_LOW_PRECISION_WEIGHTS);
    const double linear = copies / 2.0;
    q.workload.fp8.primary_weights = true;
    rank = &sl_fixture_answer(&q)->memory.ranks[0];
    CU_ASSERT(linear > 0.0);
    CU_ASSERT_DOUBLE_EQUAL(sl_fixture_bytes(rank, SL_TERM_PARAMETERS), wide - linear, 1.0);
    CU_ASSERT_EQUAL(sl_fixture_bytes(rank, SL_TERM_LOW_PRECISION_WEIGHTS), linear);
    cluster.accelerator.any_layout = true;
    rank = &sl_fixture_answer(&q)->memory.ranks[0];
    CU_ASSERT_EQUAL(sl_fixture_bytes(rank, SL_TERM_LOW_PRECISION_WEIGHTS), 0.0);

    q.workload.adapter.base = SL_ADAPTER_BASE_NF4;
    CU_ASSERT_EQUAL(sl_question_check(&q, &err), SL_E_RANGE);
    sl_expect_text(err.list[0].rule, "primary_weights_of_quantised_base", "rule");
    sl_expect_text(err.list[0].pointer, "/workload/fp8/primary_weights", "pointer");
}

static double
block_per_token(const sl_question *q)
{
    return input_in(q, SL_TERM_ACTIVATIONS, "bytes_per_block") / TOKENS;
}

static sl_question
cut_question(const sl_adapter *adapter, sl_framework framework)
{
    sl_question q = llama_question(adapter);

    q.workload.framework = framework;
    q.plan.tensor = 2;
    q.plan.data = 4;
    q.plan.sequence = true;
    q.plan.zero_stage = framework == SL_FRAMEWORK_FSDP2 ? 3 : 0;
    return q;
}

/* Of queries, keys and values and of gate and up, beside the rank's part, which full fine-tuning
 * keeps; what is cut by rows has its own part of the input. */
static void
megatron_gathers_what_adapters_read(void)
{
    const sl_adapter all = {.method = SL_ADAPTER_LORA, .rank = 32, .half = true};
    const double middle = 4 * 32, row_inputs = (HIDDEN + FFN) / 2;
    sl_question q = cut_question(&all, SL_FRAMEWORK_MEGATRON);
    const double adapted = block_per_token(&q);

    CU_ASSERT_TRUE(sl_fixture_has_note(sl_fixture_answer(&q), "adapter_inputs_gathered"));
    CU_ASSERT_FALSE(sl_fixture_has_note(sl_fixture_answer(&q), "adapter_inputs_copied"));
    q.workload.adapter.half = false;
    const double wide = block_per_token(&q);
    CU_ASSERT_TRUE(sl_fixture_has_note(sl_fixture_answer(&q), "adapter_inputs_copied"));
    q.workload.adapter.method = SL_ADAPTER_NONE;
    sl_expect_near(adapted - block_per_token(&q), 2 * 2 * HIDDEN + 2 * middle, 1e-9,
                   "two whole inputs more than without adapters");
    sl_expect_near(wide - adapted,
                   4 * (2 * HIDDEN + row_inputs) - 2 * (3 * HIDDEN + FFN / 2) + (4 - 2) * middle,
                   1e-9, "one fp32 copy for each fused module in place of what it kept");
}

/* linear_qkv, linear_proj, linear_fc1 and linear_fc2 have one each, and both its halves are cut. Of
 * q and v alone there is one for each, as canonical LoRA has them. */
static void
megatron_has_an_adapter_for_each_module(void)
{
    const sl_adapter all = {.method = SL_ADAPTER_LORA, .rank = 32, .half = true};
    const double modules =
        (HIDDEN + HIDDEN + 2 * KEYS) + (HIDDEN + HIDDEN) + (HIDDEN + 2 * FFN) + (FFN + HIDDEN);
    sl_question q = cut_question(&all, SL_FRAMEWORK_MEGATRON);

    CU_ASSERT_EQUAL(input_in(&q, SL_TERM_ADAPTERS, "parameters"), LAYERS * 32 * modules / 2);
    q.workload.adapter = lora;
    CU_ASSERT_EQUAL(input_in(&q, SL_TERM_ADAPTERS, "parameters"), LORA_TRAINED / 2);
    /* PEFT's in FSDP stay whole on the side that the tensor ranks share. */
    q = cut_question(&lora, SL_FRAMEWORK_FSDP2);
    CU_ASSERT_EQUAL(input_in(&q, SL_TERM_ADAPTERS, "parameters"),
                    LAYERS * 32 * (2 * HIDDEN + (HIDDEN + KEYS) / 2));
}

/* Four of the eight experts are on a rank: PEFT's have an adapter each. */
static void
experts_of_a_rank_share_megatrons_adapters(void)
{
    const double blocks = 4, hidden = 2048, keys = 512, width = 1024;
    const double attention = (hidden + hidden + 2 * keys) + (hidden + hidden);
    cluster = sl_fixture_cluster(1);
    software = sl_fixture_software();
    sl_question q = sl_fixture_mixture_question(&cluster, &software);

    q.plan.data = 8;
    q.plan.expert = 2;
    q.workload.adapter = (sl_adapter){.method = SL_ADAPTER_LORA, .rank = 8, .half = true};
    CU_ASSERT_EQUAL(input_in(&q, SL_TERM_ADAPTERS, "parameters"),
                    blocks * 8 * (attention + (hidden + 2 * width) + (width + hidden)));
    CU_ASSERT_TRUE(sl_fixture_has_note(sl_fixture_answer(&q), "adapter_experts_shared"));

    q.workload.framework = SL_FRAMEWORK_DDP;
    q.plan.expert = 1;
    q.plan.zero_stage = 0;
    CU_ASSERT_EQUAL(input_in(&q, SL_TERM_ADAPTERS, "parameters"),
                    blocks * 8 *
                        (2 * (hidden + hidden) + 2 * (hidden + keys) + 8 * 3 * (hidden + width)));
    CU_ASSERT_FALSE(sl_fixture_has_note(sl_fixture_answer(&q), "adapter_experts_shared"));
}

/* Ranks that share experts have other ones each: only those that are alike divide them, so that a
 * rank has the same bytes however many share. */
static void
adapters_of_experts_are_divided_as_their_experts_are(void)
{
    const double blocks = 4, hidden = 2048, keys = 512, width = 1024;
    const double attention = 2 * (hidden + hidden) + 2 * (hidden + keys);
    const double all = blocks * 8 * (attention + 8 * 3 * (hidden + width));
    cluster = sl_fixture_cluster(1);
    software = sl_fixture_software();
    sl_question q = sl_fixture_mixture_question(&cluster, &software);

    q.workload.framework = SL_FRAMEWORK_FSDP2;
    q.workload.adapter = (sl_adapter){.method = SL_ADAPTER_LORA, .rank = 8};
    q.plan.zero_stage = 3;
    q.plan.data = 8;
    for (uint32_t expert = 1; expert <= 8; expert *= 2) {
        q.plan.expert = expert;
        sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_ADAPTERS), 16.0 * all / 8.0, 1e-8,
                       "each of them once over all ranks");
    }
    q.plan.expert = 4;
    CU_ASSERT_EQUAL(input_in(&q, SL_TERM_ADAPTERS, "routed_shards"), 2.0);
    /* The halves that do not train are as the experts too, in fp32. */
    q.workload.adapter.method = SL_ADAPTER_LORA_FA;
    const double frozen = blocks * 8 * (2 * hidden + 2 * hidden + 8 * (2 * hidden + width));
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_ADAPTERS),
                   (16.0 * (all - frozen) + 4.0 * frozen) / 8.0, 1e-8,
                   "and what is frozen of them");
}

/* Adafactor has a value for each row and column of both matrices, and of flat parts each value. */
static void
adafactor_keeps_rows_and_columns_of_adapters(void)
{
    const sl_adapter all = {.method = SL_ADAPTER_LORA, .rank = 32};
    sl_question q = cut_question(&all, SL_FRAMEWORK_FSDP2);
    const double adam = sl_fixture_bytes_of(&q, SL_TERM_ADAPTERS);
    const double trained = input_in(&q, SL_TERM_ADAPTERS, "parameters");
    const double shards = input_in(&q, SL_TERM_ADAPTERS, "shards");

    q.workload.optimizer = SL_OPTIMIZER_ADAFACTOR;
    const double moments = sl_fixture_bytes_of(&q, SL_TERM_ADAPTERS) - 8.0 * trained / shards;
    CU_ASSERT_TRUE(moments > 0.0);
    sl_expect_near(adam, 16.0 * trained / shards, 1e-8, "AdamW");
    /* r (n + m) values have n + m + 2 r rows and columns. */
    const double matrices = trained / 32.0;
    CU_ASSERT_TRUE(moments < 4.0 * 1.2 * matrices / shards);
    CU_ASSERT_TRUE(moments > 4.0 * matrices / shards);
    q.workload.framework = SL_FRAMEWORK_FSDP1;
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_ADAPTERS), 12.0 * trained / shards, 1e-8,
                   "flat parts");
}

/* Of queries, keys and values and of gate and up; one of them at a time is there again, whole. */
static void
what_is_gathered_again_is_not_kept(void)
{
    const sl_adapter all = {.method = SL_ADAPTER_LORA, .rank = 32, .half = true};
    sl_question q = cut_question(&all, SL_FRAMEWORK_MEGATRON);
    sl_errors err = {0};
    q.workload.loss = SL_LOSS_CUT; /* the peak is that of a block */
    const double before = block_per_token(&q);
    const double widest =
        sl_fixture_bytes(&sl_fixture_answer(&q)->memory.ranks[0], SL_TERM_BACKWARD_TRANSIENT);

    q.workload.adapter.regathers = true;
    sl_expect_near(before - block_per_token(&q), 2 * 2 * HIDDEN, 1e-9, "two whole inputs");
    sl_expect_near(
        sl_fixture_bytes(&sl_fixture_answer(&q)->memory.ranks[0], SL_TERM_BACKWARD_TRANSIENT) -
            widest,
        1.5 * 2 * HIDDEN * TOKENS, 1e-8, "one of them and a rank's part");
    CU_ASSERT_FALSE(sl_fixture_has_note(sl_fixture_answer(&q), "adapter_inputs_gathered"));
    CU_ASSERT_EQUAL(sl_question_check(&q, &err), SL_OK);
    q.workload.graphs = SL_GRAPHS_LAYER;
    CU_ASSERT_EQUAL(sl_question_check(&q, &err), SL_E_RANGE);
    sl_expect_text(err.list[0].pointer, "/workload/adapter/sequence_parallel_input_regather",
                   "graphs keep what they captured");
}

/* What dropout left of the input of q and of v, and a byte of mask for each; the input itself
 * goes. */
static void
dropout_leaves_each_matrix_an_input_of_its_own(void)
{
    sl_adapter half = lora;
    half.half = true;
    const double shared = kept_per_token(&half);
    const double copied = kept_per_token(&lora);

    half.dropout_ratio = 0.1;
    sl_expect_near(kept_per_token(&half) - shared, 2 * (2 + 1) * HIDDEN - 2 * HIDDEN, 1e-9,
                   "two inputs and masks in place of one");
    sl_adapter wide = lora;
    wide.dropout_ratio = 0.1;
    sl_expect_near(kept_per_token(&wide) - copied, 2 * HIDDEN, 1e-9, "masks beside the copies");
}

/* quant_state is no parameter: nothing divides it, nor takes it to the host. torchao's scales are
 * part of the tensor. */
static void
scales_of_bitsandbytes_stay_whole(void)
{
    const sl_adapter adapter = {
        .method = SL_ADAPTER_LORA, .rank = 32, .base = SL_ADAPTER_BASE_NF4, ON_Q_AND_V};
    const double matrices = LAYERS * (HIDDEN * (2 * HIDDEN + 2 * KEYS) + 3 * HIDDEN * FFN);
    const double rest = 128256 * HIDDEN + (2 * LAYERS + 1) * HIDDEN;
    sl_question q = llama_question(&adapter);
    q.plan.zero_stage = 3;

    static const sl_framework apart[] = {SL_FRAMEWORK_FSDP1, SL_FRAMEWORK_DEEPSPEED};
    for (size_t i = 0; i < sizeof apart / sizeof apart[0]; i++) {
        q.workload.framework = apart[i];
        q.workload.offload.parameters = false;
        const sl_rank_memory *rank = &sl_fixture_answer(&q)->memory.ranks[0];
        CU_ASSERT_EQUAL(sl_fixture_bytes(rank, SL_TERM_WEIGHT_SCALES), matrices / 16);
        sl_expect_near(sl_fixture_bytes(rank, SL_TERM_PARAMETERS), (matrices / 2 + 2 * rest) / 8,
                       1e-8, "packed weights, and the rest in 16 bits");
        q.workload.offload.optimizer = q.workload.offload.parameters = true;
        rank = &sl_fixture_answer(&q)->memory.ranks[0];
        CU_ASSERT_EQUAL(sl_fixture_bytes(rank, SL_TERM_WEIGHT_SCALES), matrices / 16);
        CU_ASSERT_EQUAL(sl_fixture_bytes(rank, SL_TERM_PARAMETERS), 0.0);
        q.workload.offload.optimizer = false;
    }
    q.workload.offload.parameters = false;
    q.workload.framework = SL_FRAMEWORK_FSDP2;
    const sl_rank_memory *rank = &sl_fixture_answer(&q)->memory.ranks[0];
    CU_ASSERT_EQUAL(sl_fixture_bytes(rank, SL_TERM_WEIGHT_SCALES), 0.0);
    sl_expect_near(sl_fixture_bytes(rank, SL_TERM_PARAMETERS), (matrices * 0.5625 + 2 * rest) / 8,
                   1e-8, "scales and all");
}

/* As the block's input is gathered before its products. */
static void
wide_copies_are_of_the_whole_sequence(void)
{
    sl_question q = cut_question(&lora, SL_FRAMEWORK_FSDP2);
    software.regathers_inputs = false;
    const double wide = block_per_token(&q);

    q.workload.adapter.half = true;
    sl_expect_near(wide - block_per_token(&q), (4 * 2 - 2) * HIDDEN + (4 - 2) * 2 * 32, 1e-9,
                   "two copies in place of one input");
}

static const sl_case cases[] = {
    SL_CASE(counts_are_those_that_peft_publishes),
    SL_CASE(counts_are_those_of_the_definitions),
    SL_CASE(frozen_halves_weigh_what_they_store),
    SL_CASE(a_layout_is_of_what_trains),
    SL_CASE(quantised_bases_are_unpacked_matrix_by_matrix),
    SL_CASE(replicas_copy_the_gradients_of_adapters),
    SL_CASE(each_method_keeps_what_its_gradients_need),
    SL_CASE(norms_of_weights_need_room),
    SL_CASE(what_is_not_quantised_may_be_wide),
    SL_CASE(autocast_keeps_narrow_inputs),
    SL_CASE(a_quantised_base_may_keep_its_inputs),
    SL_CASE(quantised_blocks_are_gathered_as_stored),
    SL_CASE(composed_norms_keep_what_a_weight_that_trains_multiplies),
    SL_CASE(frozen_weights_are_gathered_and_have_no_gradient),
    SL_CASE(devices_that_are_lent_adapters_have_no_states_of_them),
    SL_CASE(megatron_and_deepspeed_keep_a_master_copy_of_adapters),
    SL_CASE(megatron_gathers_what_adapters_read),
    SL_CASE(megatron_has_an_adapter_for_each_module),
    SL_CASE(experts_of_a_rank_share_megatrons_adapters),
    SL_CASE(adapters_of_experts_are_divided_as_their_experts_are),
    SL_CASE(adafactor_keeps_rows_and_columns_of_adapters),
    SL_CASE(what_is_gathered_again_is_not_kept),
    SL_CASE(dropout_leaves_each_matrix_an_input_of_its_own),
    SL_CASE(scales_of_bitsandbytes_stay_whole),
    SL_CASE(wide_copies_are_of_the_whole_sequence),
    SL_CASE(a_base_may_be_stored_as_it_multiplies),
    SL_CASE(a_target_nothing_goes_by_is_refused),
};

int
main(int argc, char **argv)
{
    return sl_run_cases(argc, argv, "adapter", cases, sizeof cases / sizeof cases[0]);
}
