/* What a rebuild runs and sends again: all, as far as backward needs it, or what a policy drops. */
#include "engine_fixture.h"
#include "harness.h"

static sl_cluster cluster;
static sl_software software;

static const double HIDDEN = 2048.0, FFN = 8192.0, BLOCKS = 16.0;
static const double EXPERT_WIDTH = 1024.0, VISITS = 2.0;

static sl_question
llama_question(void)
{
    return sl_fixture_llama_question(1, &cluster, &software);
}

static sl_question
sharded_question(void)
{
    sl_question q = llama_question();

    q.workload.framework = SL_FRAMEWORK_FSDP2;
    q.plan.zero_stage = 3;
    return q;
}

static sl_question
latent_question_of(double expert_width)
{
    return sl_fixture_latent_question((uint64_t)expert_width, &cluster, &software);
}

static double
flops_again(const sl_question *q)
{
    const sl_throughput *t = &sl_fixture_answer(q)->throughput;

    return t->hardware_flops - t->model_flops;
}

/* Backward reads the input of the way down and not its output; a mask of dropout comes after it. */
static void
what_stops_early_leaves_the_last_product_out(void)
{
    sl_question q = llama_question();

    q.workload.recompute = SL_RECOMPUTE_FULL;
    const double tokens = (double)(q.workload.global_batch * q.workload.sequence_length);
    const double down = BLOCKS * 2.0 * tokens * FFN * HIDDEN;
    const double whole = flops_again(&q);
    const double whole_s = sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_RECOMPUTE);
    const double kept = sl_fixture_bytes_of(&q, SL_TERM_ACTIVATIONS);

    software.rebuild_stops = true;
    sl_expect_near(whole - flops_again(&q), down, 1e-9, "all but the way down");
    CU_ASSERT_TRUE(sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_RECOMPUTE) < whole_s);
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_ACTIVATIONS), kept, 1e-12,
                   "what is kept is the same");
    q.workload.recompute = SL_RECOMPUTE_FULL;
    q.workload.dropout = true;
    sl_expect_near(flops_again(&q), whole, 1e-12, "the mask is drawn after the product");
}

/* In backward each tile runs forward once more, whether its block is rebuilt before or not. */
static void
tiles_run_their_products_again(void)
{
    sl_question q = sharded_question();

    const double tokens = (double)(q.workload.global_batch * q.workload.sequence_length);
    const double tiles = BLOCKS * 2.0 * 3.0 * tokens * HIDDEN * FFN;

    q.workload.recompute = SL_RECOMPUTE_FULL;
    const double whole = flops_again(&q);
    q.workload.mlp_tiles = 8;
    sl_expect_near(flops_again(&q), whole + tiles, 1e-9, "beside a rebuild");
    q.workload.recompute_method = SL_RECOMPUTE_BLOCK;
    q.workload.recompute_layers = 4;
    sl_expect_near(flops_again(&q), whole / 4.0 + tiles, 1e-9, "in every block");
    q.workload.recompute = SL_RECOMPUTE_NONE;
    sl_expect_near(flops_again(&q), tiles, 1e-9, "alone");
}

/* Tiles keep their MLP's input alone, so the way down is not the last to have what it needs. */
static void
what_stops_early_runs_mlps_in_tiles_whole(void)
{
    sl_question q = sharded_question();

    q.workload.recompute = SL_RECOMPUTE_FULL;
    q.workload.mlp_tiles = 8;
    const double whole = flops_again(&q);
    software.rebuild_stops = true;
    sl_expect_near(flops_again(&q), whole, 1e-12, "with the way down");
}

static void
what_stops_early_halves_the_other_products(void)
{
    sl_question q = sharded_question();

    q.workload.recompute = SL_RECOMPUTE_OPERATORS;
    const double tokens = (double)(q.workload.global_batch * q.workload.sequence_length);
    const double down = BLOCKS * 2.0 * tokens * FFN * HIDDEN;
    const double whole = flops_again(&q);

    software.rebuild_stops = true;
    sl_expect_near(whole - flops_again(&q), down / 2.0, 1e-9, "every other one of those before");
}

/* torchtitan's list names aten.mm, none of the products that take all experts at once. */
static void
products_of_experts_all_run_again(void)
{
    double again[2] = {0};
    double tokens = 0.0;

    for (uint32_t i = 0; i < 2; i++) {
        sl_question q = latent_question_of((1.0 + i) * EXPERT_WIDTH);
        tokens = (double)(q.workload.global_batch * q.workload.sequence_length);
        q.workload.framework = SL_FRAMEWORK_FSDP2;
        q.plan.zero_stage = 3;
        q.workload.recompute = SL_RECOMPUTE_OPERATORS;
        again[i] = flops_again(&q);
    }
    sl_expect_near(again[1] - again[0], 4.0 * 2.0 * tokens * VISITS * 3.0 * EXPERT_WIDTH * HIDDEN,
                   1e-9, "three products of experts twice as wide");
}

/* What was reduced and scattered is kept, what was gathered before a product is not: two gathers of
 * a block's two and two scatters, each as long as a gather. */
static void
recompute_by_operators_gathers_again(void)
{
    sl_question q = sharded_question();

    q.plan.tensor = 2;
    q.plan.data = 4;
    q.plan.sequence = true;
    q.workload.recompute = SL_RECOMPUTE_NONE;
    const double none = sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_TENSOR_COMMUNICATION);
    q.workload.recompute = SL_RECOMPUTE_FULL;
    const double full = sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_TENSOR_COMMUNICATION);
    q.workload.recompute = SL_RECOMPUTE_OPERATORS;
    sl_expect_near(sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_TENSOR_COMMUNICATION),
                   none + (full - none) / 2.0, 1e-9, "gathers alone");
}

/* What the last product of experts gave is no input of anything: it is not sent back again. Shared
 * experts come before. */
static void
what_stops_early_does_not_bring_tokens_back(void)
{
    sl_question q = latent_question_of(EXPERT_WIDTH);

    q.plan.expert = 4;
    q.workload.recompute = SL_RECOMPUTE_NONE;
    const double none = sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_EXPERT_COMMUNICATION);
    q.workload.recompute = SL_RECOMPUTE_FULL;
    sl_expect_near(sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_EXPERT_COMMUNICATION),
                   1.5 * none, 1e-9, "six ways in place of four");
    software.rebuild_stops = true;
    sl_expect_near(sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_EXPERT_COMMUNICATION),
                   1.25 * none, 1e-9, "five");
}

/* Without a policy that keeps it, what went to experts and back goes again. */
static void
recompute_by_operators_sends_tokens_again_unless_kept(void)
{
    sl_question q = latent_question_of(8.0 * EXPERT_WIDTH);

    q.workload.framework = SL_FRAMEWORK_FSDP2;
    q.plan.zero_stage = 3;
    q.plan.expert = 4;
    q.workload.recompute = SL_RECOMPUTE_OPERATORS;
    const double kept = sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_EXPERT_COMMUNICATION);
    const double kept_bytes = sl_fixture_bytes_of(&q, SL_TERM_ACTIVATIONS);
    software.exchange_kept = false;
    sl_expect_near(sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_EXPERT_COMMUNICATION),
                   1.5 * kept, 1e-9, "three passes in place of two");
    CU_ASSERT_TRUE(sl_fixture_bytes_of(&q, SL_TERM_ACTIVATIONS) < kept_bytes);
    q.plan.expert = 1;
    const double alone = sl_fixture_bytes_of(&q, SL_TERM_ACTIVATIONS);
    software.exchange_kept = true;
    CU_ASSERT_EQUAL(sl_fixture_bytes_of(&q, SL_TERM_ACTIVATIONS), alone);
}

/* Qwen3's list in torchtitan names no exchange: its blocks of experts norm queries and keys. */
static void
recompute_by_operators_sends_tokens_again_where_heads_are_normed(void)
{
    sl_dense_spec spec = sl_fixture_llama();
    double sent[2], held[2];

    spec.naming = SL_NAMING_MIXTRAL;
    spec.blocks = 4;
    spec.experts = (sl_experts){.count = 8, .per_token = 2, .width = EXPERT_WIDTH};
    spec.qk_norm = SL_QK_NORM_HEAD;
    for (uint32_t i = 0; i < 2; i++) {
        sl_question q = sharded_question();
        q.model = sl_fixture_model(&spec);
        q.plan.expert = 4;
        q.workload.recompute = SL_RECOMPUTE_OPERATORS;
        software.exchange_kept = i == 1;
        sent[i] = sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_EXPERT_COMMUNICATION);
        held[i] = sl_fixture_bytes_of(&q, SL_TERM_ACTIVATIONS);
        q.workload.recompute = SL_RECOMPUTE_NONE;
        sl_expect_near(
            sent[i], 1.5 * sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_EXPERT_COMMUNICATION),
            1e-9, "three passes in place of two");
    }
    CU_ASSERT_EQUAL(sent[1], sent[0]);
    CU_ASSERT_EQUAL(held[1], held[0]);
}

/* torchtitan's list of March 2025 on: what is added up is no longer kept, but goes over links again. 8B
 * with tensor 2 holds 28.18 GiB so and 30.18 with the sums (tests/accuracy/data). */
static void
recompute_by_operators_adds_up_again_unless_kept(void)
{
    sl_question q = sharded_question();

    q.plan.tensor = 2;
    q.plan.data = 4;
    q.plan.sequence = true;
    q.workload.recompute = SL_RECOMPUTE_OPERATORS;
    software.eager_activations = true;
    const double kept = sl_fixture_bytes_of(&q, SL_TERM_ACTIVATIONS);
    const double kept_s = sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_TENSOR_COMMUNICATION);
    software.sums_kept = false;
    const double sums = 16.0 * 2.0 * 2.0 * 2048.0 * (double)q.workload.sequence_length / 2.0;
    sl_expect_near(kept - sl_fixture_bytes_of(&q, SL_TERM_ACTIVATIONS), sums, 1e-9,
                   "two of each of 16 blocks");
    CU_ASSERT_TRUE(sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_TENSOR_COMMUNICATION) >
                   kept_s);
}

/* Scattered outputs of the way down are what is not reduced again: of two products each way,
 * one. */
static void
what_stops_early_does_not_reduce_its_output(void)
{
    sl_question q = llama_question();

    q.plan.tensor = 2;
    q.plan.data = 4;
    q.workload.recompute = SL_RECOMPUTE_NONE;
    const double none = sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_TENSOR_COMMUNICATION);
    q.workload.recompute = SL_RECOMPUTE_FULL;
    const double whole = sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_TENSOR_COMMUNICATION);
    software.rebuild_stops = true;
    sl_expect_near(sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_TENSOR_COMMUNICATION),
                   none + (whole - none) / 2.0, 1e-9, "attention's alone");
}

static const sl_case cases[] = {
    SL_CASE(recompute_by_operators_adds_up_again_unless_kept),
    SL_CASE(what_stops_early_leaves_the_last_product_out),
    SL_CASE(tiles_run_their_products_again),
    SL_CASE(what_stops_early_runs_mlps_in_tiles_whole),
    SL_CASE(what_stops_early_halves_the_other_products),
    SL_CASE(products_of_experts_all_run_again),
    SL_CASE(recompute_by_operators_gathers_again),
    SL_CASE(recompute_by_operators_sends_tokens_again_unless_kept),
    SL_CASE(recompute_by_operators_sends_tokens_again_where_heads_are_normed),
    SL_CASE(what_stops_early_does_not_bring_tokens_back),
    SL_CASE(what_stops_early_does_not_reduce_its_output),
};

int
main(int argc, char **argv)
{
    return sl_run_cases(argc, argv, "rebuild", cases, sizeof cases / sizeof cases[0]);
}
