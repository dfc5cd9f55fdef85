/* Adapters over ranks: what is cut, divided, copied and gathered of them and of their base. */
#include <math.h>
#include <stddef.h>

#include "adapter_fixture.h"
#include "harness.h"

/* torch.nn.parallel.DistributedDataParallel, gradient_as_bucket_view. */
static void
replicas_copy_the_gradients_of_adapters(void)
{
    const sl_adapter adapter = {.method = SL_ADAPTER_LORA, .rank = 8, ON_Q_AND_V};
    sl_question q = llama_question(&adapter);

    q.workload.framework = SL_FRAMEWORK_DDP;
    q.plan.zero_stage = 0;
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_GRADIENT_BUCKETS),
                   4.0 * input_in(&q, SL_TERM_ADAPTERS, "parameters"), 1e-8, "in buckets");
    q.workload.optimizer_in_backward = true;
    q.workload.framework = SL_FRAMEWORK_FSDP2;
    q.plan.zero_stage = 3;
    sl_errors err = {0};
    CU_ASSERT_EQUAL(sl_question_check(&q, &err), SL_E_UNSUPPORTED);
    sl_expect_text(err.list[0].pointer, "/workload/optimizer_in_backward", "all weights or none");
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

static const sl_term *
adapters_in(const sl_question *q)
{
    const sl_rank_memory *rank = &sl_fixture_answer(q)->memory.ranks[0];

    for (uint32_t t = 0; t < rank->term_count; t++)
        if (rank->terms[t].id == SL_TERM_ADAPTERS)
            return &rank->terms[t];
    CU_FAIL_FATAL("adapters have a term");
    return NULL;
}

/* A part of so many elements, some of them beside routed experts. */
static double
divided(const sl_term *term, const char *all, const char *routed, const char *over,
        const char *routed_over)
{
    const double beside = sl_term_input(term, routed);

    return (sl_term_input(term, all) - beside) / sl_term_input(term, over) +
           beside / sl_term_input(term, routed_over);
}

/* The formula of the term, of its inputs alone. */
static double
bytes_by_inputs(const sl_term *term)
{
    static const char *const parts[][2] = {{"parameter_shards", "routed_parameter_shards"},
                                           {"gradient_shards", "routed_gradient_shards"},
                                           {"optimizer_shards", "routed_optimizer_shards"}};
    const double each[] = {
        sl_term_input(term, "parameter_bytes"), sl_term_input(term, "gradient_bytes"),
        sl_term_input(term, "on_device") * sl_term_input(term, "optimizer_bytes")};
    const double buffers = sl_term_input(term, "buffers");
    const double over = sl_term_input(term, "parameter_shards");
    double bytes = buffers * sl_term_input(term, "element_bytes");

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        bytes +=
            each[i] * divided(term, "parameters", "routed_parameters", parts[i][0], parts[i][1]);
    return bytes + each[0] * (divided(term, "frozen", "routed_frozen", parts[0][0], parts[0][1]) -
                              buffers / over);
}

/* Stages 1 and 2 divide some of the parts: Megatron-LM dist_optimizer.md, Rajbhandari 2020. */
static const struct {
    sl_framework framework;
    uint32_t stage, expert;
    bool half, sent;
    double each; /* bytes a parameter that no routed expert has, on one of eight ranks */
} divisions[] = {
    {SL_FRAMEWORK_DDP, 0, 1, false, false, 4 + 4 + 8},
    {SL_FRAMEWORK_FSDP2, 3, 4, false, false, 16.0 / 8},
    {SL_FRAMEWORK_MEGATRON, 1, 4, true, false, 2 + 4 + 12.0 / 8},
    {SL_FRAMEWORK_MEGATRON, 1, 4, true, true, 2 + 4},
    {SL_FRAMEWORK_DEEPSPEED, 1, 4, true, false, 2 + 2 + 12.0 / 8},
    {SL_FRAMEWORK_DEEPSPEED, 2, 4, true, false, 2 + 14.0 / 8},
    {SL_FRAMEWORK_DEEPSPEED, 2, 4, true, true, 2},
    {SL_FRAMEWORK_DEEPSPEED, 3, 1, true, false, 16.0 / 8},
};
enum { DIVISIONS = sizeof divisions / sizeof divisions[0] };

static void
each_part_of_adapters_is_divided_over_ranks_of_its_own(void)
{
    for (size_t i = 0; i < DIVISIONS; i++) {
        const sl_adapter own = {.method = SL_ADAPTER_LORA, .rank = 8, .half = divisions[i].half};
        sl_question q = llama_question(&own);
        q.workload.framework = divisions[i].framework;
        q.workload.offload.optimizer = divisions[i].sent;
        q.plan.zero_stage = divisions[i].stage;
        const sl_term *term = adapters_in(&q);
        const double parameters = sl_term_input(term, "parameters");
        sl_expect_near(term->value, divisions[i].each * parameters, 1e-7, "of eight");
        sl_expect_near(term->value, bytes_by_inputs(term), 1e-7, "by its inputs");
    }
}

static void
bytes_of_adapters_follow_from_their_inputs(void)
{
    static const sl_adapter_method methods[] = {SL_ADAPTER_LORA, SL_ADAPTER_LORA_FA,
                                                SL_ADAPTER_VERA};
    cluster = sl_fixture_cluster(1);
    software = sl_fixture_software();
    sl_question q = sl_fixture_mixture_question(&cluster, &software);

    for (size_t i = 0; i < DIVISIONS; i++) {
        q.workload.framework = divisions[i].framework;
        q.workload.offload.optimizer = divisions[i].sent;
        q.plan.zero_stage = divisions[i].stage;
        q.plan.data = 8;
        q.plan.expert = divisions[i].expert;
        for (size_t m = 0; m < sizeof methods / sizeof methods[0]; m++) {
            q.workload.adapter =
                (sl_adapter){.method = methods[m], .rank = 8, .half = divisions[i].half};
            const sl_term *term = adapters_in(&q);
            sl_expect_near(term->value, ceil(bytes_by_inputs(term)), 1e-9, "some of experts");
        }
    }
}

/* fully_shard, FSDP 1 and DeepSpeed divide parameters; what PEFT's VeRA, RandLora and TinyLoRA have
 * in a BufferDict (tuners/_buffer_dict.py) is none. */
static void
buffers_of_adapters_are_whole_on_every_rank(void)
{
    static const sl_framework frameworks[] = {SL_FRAMEWORK_FSDP1, SL_FRAMEWORK_FSDP2,
                                              SL_FRAMEWORK_DEEPSPEED};
    const sl_adapter vera = {.method = SL_ADAPTER_VERA, .rank = 256, ON_Q_AND_V};
    const sl_adapter tiny = {.method = SL_ADAPTER_TINYLORA, .rank = 2, ON_Q_AND_V};
    const double of_tiny = LAYERS * (2 * (HIDDEN + HIDDEN) + 2 * (HIDDEN + KEYS) + 2 * 64 * 2 * 2);

    for (size_t i = 0; i < sizeof frameworks / sizeof frameworks[0]; i++) {
        sl_question q = llama_question(&vera);
        q.workload.framework = frameworks[i];
        q.plan.zero_stage = 3;
        sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_ADAPTERS),
                       16.0 * 129024 / 8 + 4.0 * 256 * (HIDDEN + HIDDEN), 1e-8, "VeRA");
        q.workload.adapter = tiny;
        sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_ADAPTERS), 16.0 * 3584 / 8 + 4.0 * of_tiny,
                       1e-8, "TinyLoRA");
    }
}

/* FSDP's CPUOffload and DeepSpeed's offload_param take every parameter that they divide, and none
 * of the buffers of PEFT (tuners/vera/model.py, tuners/_buffer_dict.py). */
static void
adapters_leave_with_the_parameters_they_stand_beside(void)
{
    static const struct {
        sl_framework framework;
        double element_bytes, host_bytes;
    } rows[] = {{SL_FRAMEWORK_FSDP1, 4.0, 4.0 + 4.0 + 8.0},
                {SL_FRAMEWORK_FSDP2, 4.0, 4.0 + 4.0 + 8.0},
                {SL_FRAMEWORK_DEEPSPEED, 2.0, 2.0 + 4.0 + 4.0 + 8.0}};
    const double base = LAYERS * (HIDDEN * (2 * HIDDEN + 2 * KEYS) + 3 * HIDDEN * FFN) +
                        128256 * HIDDEN + (2 * LAYERS + 1) * HIDDEN;
    const double frozen = LAYERS * 32 * (HIDDEN + HIDDEN);

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        sl_adapter adapter = lora;
        adapter.half = rows[i].element_bytes == 2.0;
        sl_question q = llama_question(&adapter);
        q.workload.framework = rows[i].framework;
        q.plan.zero_stage = 3;
        q.workload.offload.optimizer = q.workload.offload.parameters = true;
        const sl_memory *memory = &sl_fixture_answer(&q)->memory;
        CU_ASSERT_EQUAL(sl_fixture_bytes(&memory->ranks[0], SL_TERM_ADAPTERS), 0.0);
        sl_expect_near((double)memory->host_per_node.bytes,
                       2.0 * base + rows[i].host_bytes * LORA_TRAINED, 1e-8, "LoRA");

        q.workload.adapter.method = SL_ADAPTER_LORA_FA;
        memory = &sl_fixture_answer(&q)->memory;
        CU_ASSERT_EQUAL(sl_fixture_bytes(&memory->ranks[0], SL_TERM_ADAPTERS), 0.0);
        sl_expect_near((double)memory->host_per_node.bytes,
                       2.0 * base + rows[i].host_bytes * (LORA_TRAINED - frozen) +
                           rows[i].element_bytes * frozen,
                       1e-8, "and the halves that do not train");

        q.workload.adapter.method = SL_ADAPTER_VERA;
        CU_ASSERT_EQUAL(sl_fixture_bytes_of(&q, SL_TERM_ADAPTERS),
                        rows[i].element_bytes * 32 * (HIDDEN + HIDDEN));
    }
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
    CU_ASSERT_EQUAL(input_in(&q, SL_TERM_ADAPTERS, "routed_parameter_shards"), 2.0);
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
    const double shards = input_in(&q, SL_TERM_ADAPTERS, "optimizer_shards");

    q.workload.optimizer = SL_OPTIMIZER_ADAFACTOR;
    const double moments = sl_fixture_bytes_of(&q, SL_TERM_ADAPTERS) - 8.0 * trained / shards;
    sl_expect_near(adam, 16.0 * trained / shards, 1e-8, "AdamW");
    /* r (n + m) values have n + m + 2 r rows and columns. */
    const double sides = trained / 32.0 + LAYERS * 7.0 * 2.0 * 32.0;
    sl_expect_near(moments, 4.0 * sides / shards, 1e-8, "of seven matrices a block");
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
    SL_CASE(replicas_copy_the_gradients_of_adapters),
    SL_CASE(quantised_blocks_are_gathered_as_stored),
    SL_CASE(frozen_weights_are_gathered_and_have_no_gradient),
    SL_CASE(devices_that_are_lent_adapters_have_no_states_of_them),
    SL_CASE(megatron_and_deepspeed_keep_a_master_copy_of_adapters),
    SL_CASE(each_part_of_adapters_is_divided_over_ranks_of_its_own),
    SL_CASE(bytes_of_adapters_follow_from_their_inputs),
    SL_CASE(buffers_of_adapters_are_whole_on_every_rank),
    SL_CASE(adapters_leave_with_the_parameters_they_stand_beside),
    SL_CASE(megatron_gathers_what_adapters_read),
    SL_CASE(megatron_has_an_adapter_for_each_module),
    SL_CASE(experts_of_a_rank_share_megatrons_adapters),
    SL_CASE(adapters_of_experts_are_divided_as_their_experts_are),
    SL_CASE(adafactor_keeps_rows_and_columns_of_adapters),
    SL_CASE(what_is_gathered_again_is_not_kept),
    SL_CASE(scales_of_bitsandbytes_stay_whole),
    SL_CASE(wide_copies_are_of_the_whole_sequence),
};

int
main(int argc, char **argv)
{
    return sl_run_cases(argc, argv, "adapter_ranks", cases, sizeof cases / sizeof cases[0]);
}
