/* Routed experts: who holds them, over how many ranks their states are divided, what a token
 * costs. */
#include <math.h>
#include <string.h>

#include "engine/answer/evaluate.h"
#include "engine/placement/gather.h"
#include "engine_fixture.h"
#include "harness.h"

static sl_cluster cluster;
static sl_software software;

static const double HIDDEN = 2048.0, WIDTH = 1024.0, EXPERTS = 8.0, VISITS = 2.0, TOKENS = 2048.0;
static const double BLOCKS = 4.0;

/* On one node of 8. */
static sl_question
mixture_question(void)
{
    cluster = sl_fixture_cluster(1);
    software = sl_fixture_software();
    return sl_fixture_mixture_question(&cluster, &software);
}

static double
routed_elements(void)
{
    return BLOCKS * EXPERTS * 3.0 * HIDDEN * WIDTH;
}

static double
dense_elements(const sl_question *q)
{
    sl_model_counts counts = {0};

    CU_ASSERT_EQUAL(sl_model_count(q->model, &counts), SL_OK);
    CU_ASSERT_EQUAL((double)counts.component[SL_COMPONENT_ROUTED_EXPERTS], routed_elements());
    return (double)counts.total - routed_elements();
}

static const sl_rank_memory *
answer_rank(const sl_question *q)
{
    return &sl_fixture_answer(q)->memory.ranks[0];
}

static void
experts_are_dealt_out_and_their_states_over_the_ranks_that_are_alike(void)
{
    sl_question q = mixture_question();
    const double dense = dense_elements(&q);
    const double routed = routed_elements();

    for (uint32_t e = 1; e <= 8; e *= 2) {
        q.plan.expert = e;
        const sl_rank_memory *rank = answer_rank(&q);
        sl_expect_near(sl_fixture_bytes(rank, SL_TERM_PARAMETERS), 2.0 * (dense + routed / e), 1e-8,
                       "8 / e experts");
        /* However they are dealt out: each state is somewhere once. */
        sl_expect_near(sl_fixture_bytes(rank, SL_TERM_OPTIMIZER_STATES),
                       8.0 * (dense + routed) / 8.0, 1e-8, "8 (N) / 8");
    }
}

/* TransformerEngine multiplies for experts on four streams, each with a workspace of its own. */
static void
grouped_products_have_workspaces(void)
{
    sl_question q = mixture_question();
    const sl_dense_spec dense = sl_fixture_llama();

    software.engine_workspaces = 1.0;
    software.expert_workspaces = 4.0;
    cluster.accelerator.engine_workspace_bytes = 1e6;
    CU_ASSERT_EQUAL(sl_fixture_bytes(answer_rank(&q), SL_TERM_WORKSPACES), 5e6);
    q.model = sl_fixture_model(&dense);
    CU_ASSERT_EQUAL(sl_fixture_bytes(answer_rank(&q), SL_TERM_WORKSPACES), 1e6);
}

/* Muon keeps one moment of a matrix: whatever ranks share experts, each is somewhere once.
 * Adafactor likewise keeps what it keeps of every expert. */
static void
optimizers_by_shape_are_exact_for_experts_on_fewer_ranks(void)
{
    sl_question q = mixture_question();
    const double vectors = BLOCKS * 2.0 * HIDDEN + HIDDEN;
    const double tables = 2.0 * 32768.0 * HIDDEN;
    const double matrices = dense_elements(&q) - vectors - tables;
    const double keys = 512.0;
    const double router = HIDDEN + EXPERTS;
    const double factored = BLOCKS * (2.0 * (HIDDEN + HIDDEN) + 2.0 * (HIDDEN + keys) + router) +
                            2.0 * (32768.0 + HIDDEN) + vectors +
                            BLOCKS * EXPERTS * 3.0 * (HIDDEN + WIDTH);

    for (uint32_t e = 1; e <= 8; e *= 2) {
        q.plan.expert = e;
        q.workload.optimizer = SL_OPTIMIZER_MUON;
        sl_expect_near(sl_fixture_bytes(answer_rank(&q), SL_TERM_OPTIMIZER_STATES),
                       (4.0 * (matrices + routed_elements()) + 8.0 * (vectors + tables)) / 8.0,
                       1e-8, "muon");
        q.workload.optimizer = SL_OPTIMIZER_ADAFACTOR;
        sl_expect_near(sl_fixture_bytes(answer_rank(&q), SL_TERM_OPTIMIZER_STATES),
                       4.0 * factored / 8.0, 1e-8, "adafactor");
    }
}

/* What a reduction leaves of a block: two ranks are alike in experts, eight in the rest. */
static void
experts_are_reduced_over_the_ranks_that_are_alike(void)
{
    static sl_priced priced;
    sl_question q = mixture_question();
    static sl_holdings holdings;

    q.workload.framework = SL_FRAMEWORK_FSDP2;
    q.plan.zero_stage = 3;
    q.plan.expert = 4;
    q.plan.expert_tensor = 1;
    const sl_combination c = {&software, q.workload, q.plan};
    sl_evaluate_price(&q, &c, SL_CLOCK_COOL, &priced);
    const sl_memory_case one = sl_evaluate_case(&q, &c, &priced, &holdings);

    const double routed = routed_elements() / BLOCKS;
    const double dense = (dense_elements(&q) - 2.0 * 32768.0 * HIDDEN - HIDDEN) / BLOCKS;
    sl_expect_near(sl_gather_measure(&one, &holdings.list[0].stage).backward_reduced,
                   4.0 * (routed / 4.0 / 2.0 + dense / 8.0), 1e-12, "of a block");
}

/* Of eight ranks with other experts each, none gets from the others what it lacks of its own. */
static void
experts_are_gathered_over_the_ranks_that_are_alike(void)
{
    sl_question q = mixture_question();

    q.plan.expert = 8;
    q.plan.expert_tensor = 1;
    const sl_estimate *e = sl_fixture_answer(&q);
    const sl_term *data = &e->time.terms[SL_TERM_DATA_COMMUNICATION - SL_TERM_FORWARD];
    sl_expect_text(data->inputs[5].name, "parameter_s", "input");
    /* In six buckets of 4e7 elements. */
    sl_expect_near(data->inputs[5].value,
                   6.0 * 10e-6 + 2.0 * dense_elements(&q) * 7.0 / 8.0 / 100e9, 1e-12,
                   "dense parameters alone");
}

static double
block_bytes(const sl_question *q)
{
    const sl_rank_memory *rank = answer_rank(q);

    for (uint32_t i = 0; i < rank->term_count; i++)
        if (rank->terms[i].id == SL_TERM_ACTIVATIONS)
            return rank->terms[i].inputs[2].value;
    return 0.0;
}

/* sharded_moe.py: two masks of tokens x experts x capacity in 16 bits, and of both visits a one-hot
 * of each token's place in fp32; two products forward and three backward take their time. */
static void
deepspeeds_own_layer_keeps_masks_where_experts_have_a_capacity(void)
{
    const double values = TOKENS * VISITS * TOKENS; /* experts have that many rows together */
    sl_question q = mixture_question();

    q.workload.framework = SL_FRAMEWORK_DEEPSPEED;
    const double kept = block_bytes(&q);
    const double step_s = sl_fixture_answer(&q)->time.step_s;
    q.workload.capacity = 1.0; /* as many rows as experts that are balanced have without one */
    sl_expect_near(block_bytes(&q) - kept, 2.0 * 2.0 * values + 4.0 * VISITS * values / EXPERTS,
                   1e-9, "masks and places");
    const double products_s = 5.0 * 2.0 * values * HIDDEN / 100e12;
    const double microbatches = 2.0; /* 16 sequences over 8 ranks */
    CU_ASSERT_TRUE(sl_fixture_answer(&q)->time.step_s - step_s >
                   0.9 * microbatches * BLOCKS * products_s);

    q.workload.framework = SL_FRAMEWORK_MEGATRON;
    const double padded = block_bytes(&q);
    q.workload.capacity = 0.0;
    CU_ASSERT_EQUAL(block_bytes(&q), padded);
}

static void
what_experts_are_asked_of_a_dense_model_is_said(void)
{
    const sl_dense_spec spec = sl_fixture_llama();
    sl_question q = mixture_question();

    q.workload.routing_said = true;
    CU_ASSERT_FALSE(sl_fixture_has_note(sl_fixture_answer(&q), "no_experts"));
    q.model = sl_fixture_model(&spec);
    CU_ASSERT_TRUE(sl_fixture_has_note(sl_fixture_answer(&q), "no_experts"));
}

/* Queries and values of equal width do not hide what the cache says. */
static void
latent_attention_is_what_the_model_says(void)
{
    sl_dense_spec spec = sl_fixture_llama();
    cluster = sl_fixture_cluster(1);
    software = sl_fixture_software();
    sl_question q = sl_fixture_question(sl_fixture_model(&spec), &cluster, &software);

    CU_ASSERT_FALSE(sl_fixture_has_note(sl_fixture_answer(&q), "latent_attention"));
    spec.naming = SL_NAMING_DEEPSEEK;
    spec.latent = (sl_latent){.kv_rank = 512, .rotary_dim = 16, .plain_dim = 48, .value_dim = 64};
    q = sl_fixture_question(sl_fixture_model(&spec), &cluster, &software);
    CU_ASSERT_TRUE(sl_fixture_has_note(sl_fixture_answer(&q), "latent_attention"));
}

/* Sixteen in one domain are more than were measured, whatever they share. */
static void
every_group_says_that_it_is_extrapolated(void)
{
    sl_question q = mixture_question();

    cluster = sl_fixture_cluster(2);
    cluster.accelerators_per_node = 16;
    cluster.accelerator.scale_up_domain = 16;
    q.plan.data = 4;
    q.plan.context = 8;
    CU_ASSERT_FALSE(sl_fixture_has_note(sl_fixture_answer(&q), "group_extrapolated"));
    q.plan.data = 2;
    q.plan.context = 16;
    CU_ASSERT_TRUE(sl_fixture_has_note(sl_fixture_answer(&q), "group_extrapolated"));
    cluster.nodes = 1;
    q.plan.data = 4;
    q.plan.context = 4; /* which divide the states together */
    CU_ASSERT_TRUE(sl_fixture_has_note(sl_fixture_answer(&q), "group_extrapolated"));
}

/* A rank of a tensor group that does not cut experts holds all of its share of them. */
static void
experts_that_are_not_cut_are_whole_on_every_tensor_rank(void)
{
    sl_question q = mixture_question();

    q.plan.tensor = 4;
    q.plan.sequence = true;
    q.plan.data = 2;
    q.plan.zero_stage = 0;
    q.plan.expert_tensor = 1;
    const double whole = sl_fixture_bytes(answer_rank(&q), SL_TERM_PARAMETERS);
    q.plan.expert_tensor = 4;
    const double cut = sl_fixture_bytes(answer_rank(&q), SL_TERM_PARAMETERS);
    sl_expect_near(whole - cut, 2.0 * routed_elements() * (1.0 - 1.0 / 4.0), 1e-8, "3 / 4 of them");
    q.plan.expert_tensor = 1;
    q.plan.expert = 4;
    sl_expect_near(sl_fixture_bytes(answer_rank(&q), SL_TERM_PARAMETERS), cut, 1e-12,
                   "shared by four is as much as cut by four");
}

/* Megatron's grid of experts is its own (arXiv 2504.14960): cut over two of four tensor ranks, or over
 * two where nothing else is cut. */
static void
experts_may_be_cut_otherwise_than_the_rest(void)
{
    sl_question q = mixture_question();

    q.plan.zero_stage = 0;
    q.plan.expert_tensor = 2;
    sl_expect_near(sl_fixture_bytes(answer_rank(&q), SL_TERM_PARAMETERS),
                   2.0 * (dense_elements(&q) + routed_elements() / 2.0), 1e-8, "tensor 1");
    q.plan.tensor = 4;
    q.plan.sequence = true;
    q.plan.data = 2;
    const double half = sl_fixture_bytes(answer_rank(&q), SL_TERM_PARAMETERS);
    const double kept = block_bytes(&q);
    q.plan.expert = 2;
    const double quarter = sl_fixture_bytes(answer_rank(&q), SL_TERM_PARAMETERS);
    sl_expect_near(half - quarter, 2.0 * routed_elements() / 4.0, 1e-8, "and shared by two");
    sl_expect_near(block_bytes(&q), kept, 1e-12, "as many tokens arrive");
    q.plan.expert_tensor = 4;
    q.plan.expert = 1;
    sl_expect_near(sl_fixture_bytes(answer_rank(&q), SL_TERM_PARAMETERS), quarter, 1e-8,
                   "or by four");
    sl_expect_near(block_bytes(&q) - kept, TOKENS * VISITS / 4.0 * 2.0 * 2.0 * HIDDEN, 1e-12,
                   "inputs for two ranks more, of parts half as wide");
}

/* torchtitan cuts them where nobody shares them (apply_moe_ep_tp): what is taken instead is said. */
static void
experts_taken_to_be_whole_under_fully_shard_are_told(void)
{
    sl_question q = mixture_question();

    q.workload.framework = SL_FRAMEWORK_FSDP2;
    q.plan.zero_stage = 3;
    q.plan.tensor = 4;
    q.plan.data = 2;
    q.plan.expert_tensor = 1;
    CU_ASSERT_TRUE(sl_fixture_has_note(sl_fixture_answer(&q), "experts_whole"));
    q.plan.expert_tensor = 4;
    CU_ASSERT_FALSE(sl_fixture_has_note(sl_fixture_answer(&q), "experts_whole"));
}

static void
a_block_keeps_what_arrived_at_its_experts(void)
{
    sl_question q = mixture_question();
    const double rows = VISITS;
    const double expert = 2.0 * (HIDDEN + 2.0 * WIDTH + WIDTH); /* input, gate and up, product */
    const double attention = 2.0 * (2048.0 + 2.0 * 512.0 + 2048.0) + 4.0 * 32.0;
    const double norms = 2.0 * 2.0 * HIDDEN + 2.0 * 2.0 * HIDDEN; /* inputs and outputs */
    const double routing = 2.0 * 4.0 * EXPERTS + 2.0 * 4.0 * VISITS;
    const double even = TOKENS * (norms + attention + routing + rows * expert);

    sl_expect_near(block_bytes(&q), even, 1e-12, "one rank with all experts");
    q.workload.imbalance = 3.0;
    sl_expect_near(block_bytes(&q), even, 1e-12, "gets all tokens anyway");
    q.plan.expert = 2;
    sl_expect_near(block_bytes(&q), even + TOKENS * rows * expert, 1e-12, "twice the mean of two");
    q.plan.expert = 8;
    sl_expect_near(block_bytes(&q), even + 2.0 * TOKENS * rows * expert, 1e-12, "three times");
    q.workload.imbalance = 100.0;
    sl_expect_near(block_bytes(&q), even + 3.0 * TOKENS * rows * expert, 1e-12,
                   "at most experts / visits = 4");
    q.workload.capacity = 1.5;
    sl_expect_near(block_bytes(&q), even + 0.5 * TOKENS * rows * expert, 1e-12,
                   "padded to one and a half");
}

/* Beside what else eager code keeps (silu of the gate): what is multiplied by its score, which
 * torchtitan does in fp32. OLMoE of 6 layers on one H100 has 29.4 GiB (tests/accuracy/data, H019). */
static void
eager_code_keeps_what_scores_multiply(void)
{
    sl_question q = mixture_question();

    q.workload.framework = SL_FRAMEWORK_FSDP2;
    q.plan.zero_stage = 3;
    const double fused = block_bytes(&q);
    software.eager_activations = true;
    sl_expect_near(block_bytes(&q) - fused, TOKENS * VISITS * (2.0 * WIDTH + 4.0 * HIDDEN), 1e-12,
                   "4 h for every visit");
    q.workload.framework = SL_FRAMEWORK_DDP;
    q.plan.zero_stage = 0;
    q.workload.layout.parameter_bytes = 2.0;
    const double eager = block_bytes(&q);
    software.eager_activations = false;
    sl_expect_near(eager - block_bytes(&q), TOKENS * VISITS * (2.0 * WIDTH + 2.0 * HIDDEN), 1e-12,
                   "2 h in 16 bits");
}

static void
impossible_shares_are_refused(void)
{
    sl_question q = mixture_question();
    sl_errors err = {0};

    q.plan.expert = 3;
    CU_ASSERT_EQUAL(sl_question_check(&q, &err), SL_E_RANGE);
    sl_expect_text(err.list[0].pointer, "/parallelism/expert", "3 of 8");
    sl_expect_text(err.list[0].hint, "1, 2, 4, 8", "divide experts and ranks");
    q.plan.data = 12;
    q.plan.expert = 8;
    err.count = 0;
    CU_ASSERT_EQUAL(sl_question_check(&q, &err), SL_E_RANGE);
    sl_expect_text(err.list[0].pointer, "/parallelism/expert", "8 of 8 experts, of 12 ranks");
    sl_expect_text(err.list[0].hint, "1, 2, 4", "both");
    q.plan.data = 8;
    q.plan.expert = 2;
    q.plan.expert_tensor = 3;
    err.count = 0;
    CU_ASSERT_EQUAL(sl_question_check(&q, &err), SL_E_RANGE);
    sl_expect_text(err.list[0].pointer, "/parallelism/expert_tensor", "3 of 8 ranks");
    sl_expect_text(err.list[0].hint, "1, 2, 4", "beside two for experts");
    q.plan.expert_tensor = 2;
    q.workload.framework = SL_FRAMEWORK_FSDP2;
    q.plan.zero_stage = 3;
    err.count = 0;
    CU_ASSERT_EQUAL(sl_question_check(&q, &err), SL_E_UNSUPPORTED);
    sl_expect_text(err.list[0].pointer, "/parallelism/expert_tensor", "neither 1 nor tensor");
    q.plan.expert_tensor = 1;
    q.workload.framework = SL_FRAMEWORK_DDP;
    q.plan.zero_stage = 0;
    err.count = 0;
    CU_ASSERT_EQUAL(sl_question_check(&q, &err), SL_E_UNSUPPORTED);
    sl_expect_text(err.list[0].pointer, "/parallelism/expert", "ddp");
    q.workload.framework = SL_FRAMEWORK_FSDP2;
    q.plan.zero_stage = 3;
    q.plan.shard_group = 2;
    q.plan.expert = 4;
    err.count = 0;
    CU_ASSERT_EQUAL(sl_question_check(&q, &err), SL_E_RANGE);
    sl_expect_text(err.list[0].hint, "1, 2", "copies of two ranks each");
}

/* A stack of 8 over 16 ranks: a whole expert on half of them, or half of each on all. */
static void
fewer_experts_than_ranks_are_padded_or_cut(void)
{
    sl_dense_spec spec = sl_fixture_llama();

    spec.naming = SL_NAMING_GPT_OSS;
    spec.blocks = (uint32_t)BLOCKS;
    spec.ffn = (uint64_t)WIDTH;
    spec.experts = (sl_experts){.count = EXPERTS, .per_token = 2, .width = (uint32_t)WIDTH};
    cluster = sl_fixture_cluster(2);
    software = sl_fixture_software();
    sl_question q = sl_fixture_question(sl_fixture_model(&spec), &cluster, &software);
    q.workload.framework = SL_FRAMEWORK_FSDP2;
    q.workload.attention = SL_ATTENTION_FLASH2;
    q.plan.data = 16;
    q.plan.zero_stage = 3;
    const double padded = sl_fixture_bytes_of(&q, SL_TERM_PARAMETERS);
    software.cuts_experts = true;
    sl_expect_near((padded - sl_fixture_bytes_of(&q, SL_TERM_PARAMETERS)) /
                       (4.0 * routed_elements() / 16.0),
                   1.0, 0.01, "as much again as experts have, their biases beside");
}

static const sl_case cases[] = {
    SL_CASE(experts_are_dealt_out_and_their_states_over_the_ranks_that_are_alike),
    SL_CASE(grouped_products_have_workspaces),
    SL_CASE(optimizers_by_shape_are_exact_for_experts_on_fewer_ranks),
    SL_CASE(experts_are_reduced_over_the_ranks_that_are_alike),
    SL_CASE(experts_are_gathered_over_the_ranks_that_are_alike),
    SL_CASE(deepspeeds_own_layer_keeps_masks_where_experts_have_a_capacity),
    SL_CASE(what_experts_are_asked_of_a_dense_model_is_said),
    SL_CASE(latent_attention_is_what_the_model_says),
    SL_CASE(every_group_says_that_it_is_extrapolated),
    SL_CASE(experts_that_are_not_cut_are_whole_on_every_tensor_rank),
    SL_CASE(experts_may_be_cut_otherwise_than_the_rest),
    SL_CASE(experts_taken_to_be_whole_under_fully_shard_are_told),
    SL_CASE(a_block_keeps_what_arrived_at_its_experts),
    SL_CASE(eager_code_keeps_what_scores_multiply),
    SL_CASE(fewer_experts_than_ranks_are_padded_or_cut),
    SL_CASE(impossible_shares_are_refused),
};

int
main(int argc, char **argv)
{
    return sl_run_cases(argc, argv, "experts_memory", cases, sizeof cases / sizeof cases[0]);
}
