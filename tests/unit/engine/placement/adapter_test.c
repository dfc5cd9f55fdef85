/* Adapters: how many parameters each method trains, what it keeps, and what its targets name. */
#include <stddef.h>
#include <string.h>

#include "adapter_fixture.h"
#include "harness.h"

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

/* A is (r, 1, least) and B (most, ceil(least / r), r), of the longest input and the longest output
 * of all targets: PEFT tuners/randlora/model.py, _find_dim and _init_randlora_A_randlora_B. */
static void
randlora_shares_one_pair_of_matrices(void)
{
    const sl_adapter all = {.method = SL_ADAPTER_RANDLORA, .rank = 32};
    const sl_adapter some = {.method = SL_ADAPTER_RANDLORA, .rank = 50, ON_Q_AND_V};

    CU_ASSERT_EQUAL(input_of(&all, SL_TERM_ADAPTERS, "frozen"), 32 * FFN + 256 * 32 * FFN);
    CU_ASSERT_EQUAL(input_of(&some, SL_TERM_ADAPTERS, "frozen"), 50 * HIDDEN + 62 * 50 * HIDDEN);
}

/* A is (r, longest input) and B (longest output, r), which need not be sides of one target: PEFT
 * tuners/vera/model.py, _find_dim and _init_vera_A_vera_B. */
static void
vera_shares_matrices_as_long_as_any_target(void)
{
    const sl_adapter all = {.method = SL_ADAPTER_VERA, .rank = 256};
    const sl_adapter some = {.method = SL_ADAPTER_VERA,
                             .rank = 256,
                             .target_count = 2,
                             .targets = {"k_proj", "down_proj"}};

    CU_ASSERT_EQUAL(input_of(&all, SL_TERM_ADAPTERS, "frozen"), 256 * (FFN + FFN));
    CU_ASSERT_EQUAL(input_of(&some, SL_TERM_ADAPTERS, "frozen"), 256 * (FFN + HIDDEN));
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

static const sl_case cases[] = {
    SL_CASE(counts_are_those_that_peft_publishes),
    SL_CASE(counts_are_those_of_the_definitions),
    SL_CASE(frozen_halves_weigh_what_they_store),
    SL_CASE(randlora_shares_one_pair_of_matrices),
    SL_CASE(vera_shares_matrices_as_long_as_any_target),
    SL_CASE(a_layout_is_of_what_trains),
    SL_CASE(quantised_bases_are_unpacked_matrix_by_matrix),
    SL_CASE(each_method_keeps_what_its_gradients_need),
    SL_CASE(norms_of_weights_need_room),
    SL_CASE(what_is_not_quantised_may_be_wide),
    SL_CASE(autocast_keeps_narrow_inputs),
    SL_CASE(a_quantised_base_may_keep_its_inputs),
    SL_CASE(composed_norms_keep_what_a_weight_that_trains_multiplies),
    SL_CASE(dropout_leaves_each_matrix_an_input_of_its_own),
    SL_CASE(a_base_may_be_stored_as_it_multiplies),
    SL_CASE(a_target_nothing_goes_by_is_refused),
};

int
main(int argc, char **argv)
{
    return sl_run_cases(argc, argv, "adapter", cases, sizeof cases / sizeof cases[0]);
}
