/* Tokens on their way to routed experts: what is sent, what hides it, what waits for the host. */
#include <math.h>
#include <stdlib.h>

#include "engine/links/collective.h"
#include "engine/schedule/schedule.h"
#include "engine_fixture.h"
#include "harness.h"
#include "shardline/timeline.h"

static sl_cluster cluster;
static sl_software software;

/* Eight experts, of which a token visits two, on nodes of 8. */
static sl_question
mixture_question(uint32_t nodes)
{
    cluster = sl_fixture_cluster(nodes);
    software = sl_fixture_software();
    return sl_fixture_mixture_question(&cluster, &software);
}

static double
sent_bytes(const sl_question *q)
{
    return sl_fixture_sent_bytes(q, "expert", SL_COLLECTIVE_COUNT);
}

/* Of groups that divide states each rank sends its part to those of the others: however experts are
 * dealt out within a group it is as large, and Megatron sends it once a step. */
static void
groups_add_up_what_their_ranks_hold(void)
{
    sl_question q = mixture_question(2);

    q.workload.global_batch = 64; /* four micro-batches */
    q.plan.data = 16;
    q.plan.shard_group = 8;
    q.plan.zero_stage = 1;
    software.divides_in_groups = true;
    const double whole = sl_fixture_sent_bytes(&q, "replicas", SL_COLLECTIVE_COUNT);
    CU_ASSERT_TRUE(whole > 0.0);
    for (uint32_t stage = 1; stage <= 3; stage += 2)
        for (uint32_t e = 1; e <= 8; e *= 8) {
            q.plan.zero_stage = stage;
            q.plan.expert = e;
            sl_expect_near(sl_fixture_sent_bytes(&q, "replicas", SL_COLLECTIVE_COUNT), whole, 1e-9,
                           "each part once");
        }
}

/* Two experts among four ranks are on 4 (1 - (3/4)^2) = 1.75 of them. */
static void
a_token_is_sent_once_to_each_rank_of_its_experts(void)
{
    sl_question q = mixture_question(1);

    q.plan.expert = 4;
    const double copies = sent_bytes(&q);
    q.workload.dispatch = SL_DISPATCH_ONCE;
    sl_expect_near(sent_bytes(&q) / copies, 1.75 / 2.0, 1e-9, "asked for");
    q.workload.dispatch = SL_DISPATCH_DEFAULT;
    software.sends_once = true;
    sl_expect_near(sent_bytes(&q) / copies, 1.75 / 2.0, 1e-9, "of the release");
    q.workload.dispatch = SL_DISPATCH_COPIES;
    CU_ASSERT_EQUAL(sent_bytes(&q), copies);
}

/* Rows by sixteens: copied there and back once more, 4 bytes a value each. */
static void
quantised_products_of_experts_pad_their_rows(void)
{
    sl_question q = mixture_question(1);

    cluster.accelerator.peak_flops_per_s[SL_PRECISION_FP8] =
        2.0 * cluster.accelerator.peak_flops_per_s[SL_PRECISION_BF16];
    q.workload.dispatch = SL_DISPATCH_COPIES;
    const double plain_s = sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_FORWARD);
    q.workload.dispatch = SL_DISPATCH_ONCE;
    CU_ASSERT_EQUAL(sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_FORWARD), plain_s);

    q.workload.precision = SL_PRECISION_FP8;
    const double once_s = sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_FORWARD);
    const double once_back_s = sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_BACKWARD);
    q.workload.dispatch = SL_DISPATCH_COPIES;
    const double rows = 2.0 * (double)q.workload.global_batch / (double)q.plan.data *
                        (double)q.workload.sequence_length;
    const double padded_s =
        4.0 * rows * 2048.0 * 8.0 / (0.85 * cluster.accelerator.memory_bytes_per_s);
    sl_expect_near(sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_FORWARD) - once_s, padded_s,
                   1e-6, "four blocks");
    sl_expect_near(sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_BACKWARD) - once_back_s,
                   padded_s, 1e-6, "and back");
    q.workload.capacity = 1.0;
    CU_ASSERT_EQUAL(sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_FORWARD), once_s);
}

/* Experts 0 and 1, then 2 and 3: both on a rank that has two, on two that have one each. */
static void
experts_dealt_in_turn_are_neighbours(void)
{
    sl_question q = mixture_question(1);

    software.sends_once = true;
    q.plan.expert = 4;
    const double drawn = sent_bytes(&q);
    q.workload.forced = true;
    CU_ASSERT_EQUAL(sent_bytes(&q), drawn);
    software.deals_in_turn = true;
    sl_expect_near(sent_bytes(&q) / drawn, 1.0 / 1.75, 1e-9, "both on one of four");
    q.workload.forced = false;
    CU_ASSERT_EQUAL(sent_bytes(&q), drawn);
    q.plan.expert = 8;
    const double apart = sent_bytes(&q);
    q.workload.forced = true;
    sl_expect_near(sent_bytes(&q) / apart, 2.0 / (8.0 * (1.0 - 49.0 / 64.0)), 1e-9,
                   "on two of eight");
    q.workload.dispatch = SL_DISPATCH_COPIES;
    const double copies = sent_bytes(&q);
    q.workload.forced = false;
    CU_ASSERT_EQUAL(sent_bytes(&q), copies);
}

/* Four experts on each of two ranks: two products forward and four backward for each expert of each
 * block, one activation for all. Captured graphs do not take them in. */
static void
experts_issued_one_by_one_are_waited_for(void)
{
    sl_question q = mixture_question(1);

    q.plan.expert = 2;
    software.expert_operator_s = 1e-9;
    software.host_operator_s = 2e-9; /* hidden by what computes, whatever is awaited */
    CU_ASSERT_EQUAL(sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_LAUNCH), 0.0);
    software.experts_apart = SL_APART_ALWAYS;
    const double eager_s = sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_LAUNCH);
    q.plan.expert = 4;
    sl_expect_near(sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_LAUNCH), eager_s / 2.0, 1e-9,
                   "half as many experts");
    q.plan.expert = 2;
    software.experts_apart = SL_APART_WITHOUT_FP4;
    CU_ASSERT_EQUAL(sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_LAUNCH), eager_s);
    cluster.accelerator.peak_flops_per_s[SL_PRECISION_NVFP4] = 400e12;
    CU_ASSERT_EQUAL(sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_LAUNCH), 0.0);
    software.experts_apart = SL_APART_ALWAYS;
    CU_ASSERT_EQUAL(sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_LAUNCH), eager_s);
    q.workload.graphs = SL_GRAPHS_LAYER;
    CU_ASSERT_EQUAL(sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_LAUNCH), eager_s);
    q.workload.graphs = SL_GRAPHS_FULL;
    CU_ASSERT_EQUAL(sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_LAUNCH), 0.0);
    q.workload.graphs = SL_GRAPHS_NONE;
    q.workload.compile = true;
    CU_ASSERT_EQUAL(sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_LAUNCH), 0.0);
}

/* The first module of each pass is prepared while the device waits, the other while it is at the
 * first: of 2 + 4 products for each of four experts a quick host shows 1 + 2, a slow one all of
 * them less those seconds. */
static void
modules_of_experts_hide_under_the_one_before(void)
{
    static const double hosts_s[] = {1e-9, 2e-9, 1.0, 2.0};
    double launch_s[4];
    sl_question q = mixture_question(1);

    q.plan.expert = 2;
    q.workload.graphs = SL_GRAPHS_LAYER; /* nothing else is issued then */
    software.experts_apart = SL_APART_ALWAYS;
    for (uint32_t i = 0; i < 4; i++) {
        software.expert_operator_s = hosts_s[i];
        launch_s[i] = sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_LAUNCH);
    }
    const double products = (launch_s[3] - launch_s[2]) / (hosts_s[3] - hosts_s[2]);
    sl_expect_near(launch_s[1], 2.0 * launch_s[0], 1e-9, "what nothing hides");
    sl_expect_near(launch_s[0] / hosts_s[0], products / 2.0, 1e-9, "half of the products");
    CU_ASSERT(launch_s[2] < products * hosts_s[2]);
    CU_ASSERT(launch_s[2] > products * hosts_s[2] -
                                sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_FORWARD) -
                                sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_BACKWARD));
}

static double
expert_s(const sl_question *q)
{
    return sl_fixture_seconds(sl_fixture_answer(q), SL_TERM_EXPERT_COMMUNICATION);
}

/* Of two nodes one is outside: half of what goes once to each node crosses the network. */
static void
a_token_crosses_the_network_once_for_each_node(void)
{
    sl_question q = mixture_question(2);
    const sl_group group = {
        .ranks = 16.0, .nodes = 2.0, .members_per_node = 8.0, .level = SL_LEVEL_NETWORK};
    const double to_ranks = 6e9, to_nodes = 2e9;
    const double network_s = sl_collective_s(&cluster, SL_COLLECTIVE_ALL_TO_ALL, &group, to_nodes);
    const double card_s = 18e-6 + to_nodes / 2.0 / (0.96 * 10e9);
    const double inside_s = to_ranks * 7.0 / 8.0 / (0.62 * 100e9);

    /* One message to a node; where none passes them on, one to each of its eight ranks. */
    sl_expect_near(network_s, card_s + 7.0 * 3e-6, 1e-12, "its own card");
    sl_expect_near(sl_collective_dispatch_s(&cluster, &group, to_ranks, to_nodes),
                   sqrt(card_s * card_s + inside_s * inside_s), 1e-12, "both ways");

    q.plan.expert = 8; /* every node has them all: nothing leaves it */
    q.plan.data = 16;
    q.workload.dispatch = SL_DISPATCH_COPIES;
    const double copies_s = expert_s(&q);
    q.workload.dispatch = SL_DISPATCH_ONCE;
    CU_ASSERT_TRUE(expert_s(&q) < copies_s);
}

/* DeepEP between 16 and 32 H100, hidden 7,168, 4,096 tokens of 8 experts each: dispatch in 8 bits,
 * combine in 16 (ai-dynamo/aiconfigurator, h100_sxm). */
static void
measured_dispatches_come_out_near(void)
{
    static const struct {
        double nodes, bytes, measured_s;
    } runs[] = {{2.0, 1.0, 0.80e-3}, {2.0, 2.0, 1.78e-3}, {4.0, 1.0, 1.85e-3}, {4.0, 2.0, 3.52e-3}};

    cluster = sl_fixture_cluster(4);
    cluster.accelerator.scale_up_bytes_per_s = 450e9;
    cluster.nic_bytes_per_s = 50e9;
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        const double ranks = 8.0 * runs[i].nodes;
        const sl_group group = {.ranks = ranks,
                                .nodes = runs[i].nodes,
                                .members_per_node = 8.0,
                                .level = SL_LEVEL_NETWORK};
        const double token = 4096.0 * 7168.0 * runs[i].bytes;
        const double predicted_s = sl_collective_dispatch_s(
            &cluster, &group, token * ranks * (1.0 - pow(1.0 - 1.0 / ranks, 8.0)),
            token * runs[i].nodes * (1.0 - pow(1.0 - 1.0 / runs[i].nodes, 8.0)));

        sl_expect_near(predicted_s, runs[i].measured_s, 0.085, "DeepEP");
    }
}

static double
activations(const sl_question *q)
{
    return sl_fixture_bytes(&sl_fixture_answer(q)->memory.ranks[0], SL_TERM_ACTIVATIONS);
}

/* 1F1B of one rank: a forward runs beside each backward but the first and the last, which travel in
 * the open like one micro-batch, and what hides costs computing a share. */
static void
tokens_travel_under_another_micro_batch(void)
{
    sl_question q = mixture_question(1);

    q.plan.expert = 8;
    q.workload.global_batch = 64; /* eight micro-batches */
    const double open_s = expert_s(&q);
    CU_ASSERT_TRUE_FATAL(open_s > 0.0);
    q.plan.overlap_experts = true;
    software.overlap_loss_ratio = 0.0;
    sl_expect_near(expert_s(&q), open_s / 8.0, 1e-9, "of one of eight");
    software.overlap_loss_ratio = 0.3;
    sl_expect_near(expert_s(&q), open_s * (1.0 + 0.3 * 7.0) / 8.0, 1e-9, "at a price");
}

/* An input of a term of the only rank, -1 where it has no such term. */
static double
input_of(const sl_question *q, sl_term_id id, uint32_t input)
{
    const sl_rank_memory *rank = &sl_fixture_answer(q)->memory.ranks[0];

    for (uint32_t i = 0; i < rank->term_count; i++)
        if (rank->terms[i].id == id)
            return rank->terms[i].inputs[input].value;
    return -1.0;
}

/* Experts in each of so many blocks of a vocabulary so small that most is there beside them. */
static const sl_model *
headless(uint32_t blocks)
{
    sl_dense_spec spec = sl_fixture_llama();

    spec.naming = SL_NAMING_MIXTRAL;
    spec.blocks = blocks;
    spec.vocabulary = 128;
    spec.experts = (sl_experts){.count = 8, .per_token = 2, .width = 1024};
    return sl_fixture_model(&spec);
}

/* Block by block the forward takes the place of the backward beside it: as much is kept as without,
 * and one block is there twice. */
static void
a_forward_beside_a_backward_keeps_one_block_more(void)
{
    sl_question q = mixture_question(1);

    q.plan.expert = 8;
    q.workload.global_batch = 64;
    q.model = headless(4);
    const double kept = activations(&q);
    const double block = input_of(&q, SL_TERM_ACTIVATIONS, 2);
    CU_ASSERT_TRUE_FATAL(block > 0.0);
    q.plan.overlap_experts = true;
    CU_ASSERT_EQUAL(sl_schedule_in_flight(&q.plan, 8, 0).whole, 1.0);
    CU_ASSERT_EQUAL(activations(&q), kept);
    sl_expect_text(sl_fixture_answer(&q)->memory.ranks[0].phase, "backward", "most");
    sl_expect_near(input_of(&q, SL_TERM_BACKWARD_TRANSIENT, 3), block, 1e-9, "of four blocks one");
    q.workload.global_batch = 8; /* no other micro-batch */
    CU_ASSERT_EQUAL(input_of(&q, SL_TERM_BACKWARD_TRANSIENT, 3), 0.0);
}

/* Of six chunks, whose sum is rounded, as of one: where all micro-batches are alive before the first
 * backward none runs beside another. */
static void
no_block_is_there_twice_where_all_forwards_come_first(void)
{
    sl_question q = mixture_question(4);

    q.model = headless(24);
    q.plan.expert = 8;
    q.plan.data = 8;
    q.plan.pipeline = 4;
    q.plan.virtual_pipeline = 6;
    q.plan.schedule = SL_SCHEDULE_INTERLEAVED_1F1B;
    q.plan.overlap_experts = true;
    q.workload.global_batch = 4 * 8;
    CU_ASSERT_EQUAL(input_of(&q, SL_TERM_BACKWARD_TRANSIENT, 3), 0.0);
    q.workload.global_batch = 8 * 8;
    CU_ASSERT_TRUE(input_of(&q, SL_TERM_BACKWARD_TRANSIENT, 3) > 0.0);
}

/* When layers of the second micro-batch run forward and of the first backward, and what is kept at
 * most. */
typedef struct beside {
    double forward_s[8], backward_s[8]; /* begin */
    double step_s;
    double peak_bytes;
} beside;

static void
simulate(const sl_question *q, beside *out)
{
    const sl_estimate *estimate = sl_fixture_answer(q);
    sl_errors err = {0};
    sl_timeline timeline;
    size_t bytes = 0;

    CU_ASSERT_EQUAL_FATAL(sl_timeline_size(q, estimate, &bytes, &err), SL_OK);
    void *scratch = malloc(bytes);
    CU_ASSERT_PTR_NOT_NULL_FATAL(scratch);
    sl_timeline_simulate(q, estimate, NULL, NULL, scratch, &timeline);
    out->step_s = timeline.step_s;
    out->peak_bytes = (double)timeline.stages[0].peak_bytes;
    for (uint32_t i = 0; i < timeline.span_count; i++) {
        const sl_span span = sl_timeline_span(&timeline, i);
        if (span.kind == SL_SPAN_FORWARD && span.microbatch == 1)
            out->forward_s[span.layer] = span.start_s;
        if (span.kind == SL_SPAN_BACKWARD && span.microbatch == 0)
            out->backward_s[span.layer] = span.start_s;
    }
    free(scratch);
}

/* An embedding, four blocks and a head: each of them forward before what is next of the backward. */
static void
layers_of_two_micro_batches_come_alternately(void)
{
    sl_question q = mixture_question(1);
    beside apart, pairs;

    q.model = headless(4);
    q.plan.expert = 8;
    q.workload.global_batch = 24;
    simulate(&q, &apart);
    for (uint32_t l = 0; l < 6; l++)
        CU_ASSERT_TRUE(apart.forward_s[l] > apart.backward_s[0]);
    q.plan.overlap_experts = true;
    simulate(&q, &pairs);
    sl_expect_near(pairs.step_s, sl_fixture_answer(&q)->time.step_s, 0.01, "as estimated");
    CU_ASSERT_TRUE(pairs.step_s < apart.step_s);
    for (uint32_t l = 0; l < 6; l++) {
        CU_ASSERT_TRUE(pairs.forward_s[l] < pairs.backward_s[5 - l]);
        CU_ASSERT_TRUE(l == 5 || pairs.backward_s[5 - l] < pairs.forward_s[l + 1]);
    }
    const double one_s = pairs.step_s, one_bytes = pairs.peak_bytes;
    q.plan.schedule = SL_SCHEDULE_ZB_H1; /* one stage runs like any other */
    simulate(&q, &pairs);
    CU_ASSERT_EQUAL(pairs.step_s, one_s);
    CU_ASSERT_EQUAL(pairs.peak_bytes, one_bytes);
    const double head_inputs = /* of its norm and of its product */ 4.0 *
                               (double)q.workload.sequence_length * (double)q.workload.micro_batch *
                               (double)sl_fixture_llama().hidden;
    sl_expect_near(pairs.peak_bytes - apart.peak_bytes,
                   input_of(&q, SL_TERM_BACKWARD_TRANSIENT, 3) - head_inputs, 1e-3,
                   "a block more, once the head is through");
}

static void
expect_refused(const sl_question *q, sl_code code, const char *rule)
{
    sl_errors err = {0};

    CU_ASSERT_EQUAL(sl_question_check(q, &err), code);
    CU_ASSERT_EQUAL_FATAL(err.count, 1);
    sl_expect_text(err.list[0].rule, rule, "rule");
    sl_expect_text(err.list[0].pointer, "/workload/moe/overlap", rule);
}

static void
an_overlap_that_no_schedule_has_is_refused(void)
{
    sl_errors err = {0};
    sl_question q = mixture_question(1);

    q.plan.overlap_experts = true;
    expect_refused(&q, SL_E_RANGE, "overlap_not_possible");
    q.plan.expert = 2;
    CU_ASSERT_EQUAL(sl_question_check(&q, &err), SL_OK);
    q.workload.recompute = SL_RECOMPUTE_FULL;
    expect_refused(&q, SL_E_RANGE, "overlap_not_possible");
    q.workload.recompute = SL_RECOMPUTE_NONE;
    q.plan.pipeline = 2;
    q.plan.data = 4;
    expect_refused(&q, SL_E_RANGE, "overlap_not_possible");
    q.plan.virtual_pipeline = 2;
    q.plan.schedule = SL_SCHEDULE_INTERLEAVED_1F1B;
    CU_ASSERT_EQUAL(sl_question_check(&q, &err), SL_OK);
    q = mixture_question(1);
    q.plan.overlap_experts = true;
    q.plan.expert = 2;
    q.workload.framework = SL_FRAMEWORK_FSDP2;
    q.plan.zero_stage = 3;
    expect_refused(&q, SL_E_UNSUPPORTED, "not_modelled");
}

/* On one device of two: four experts at once, and a router that is too narrow, but no product of
 * attention or of the vocabulary. */
static void
shapes_that_no_table_has_are_named(void)
{
    sl_question q = mixture_question(1);

    q.plan.expert = 2;
    const sl_estimate *e = sl_fixture_answer(&q);
    CU_ASSERT_EQUAL_FATAL(e->guess_count, 3);
    sl_expect_text(e->guesses[0].name, "expert_up", "the largest first");
    CU_ASSERT_EQUAL(e->guesses[0].batch, 4.0);
    CU_ASSERT_EQUAL(e->guesses[0].n, 2.0 * 1024.0);
    sl_expect_text(e->guesses[1].name, "expert_down", "half of that");
    sl_expect_text(e->guesses[2].name, "router", "eight columns");
    CU_ASSERT_EQUAL(e->guesses[2].n, 8.0);
}

/* Of a value on its way to its expert and back 8 bytes go each way, in compiled code, or as many as
 * the kernels move that a release never compiles, whose product with the scores keeps fp32. */
static void
routes_that_nothing_compiles_move_what_the_release_says(void)
{
    sl_question q = mixture_question(1);

    q.workload.framework = SL_FRAMEWORK_FSDP2;
    q.workload.compile = true;
    q.plan.zero_stage = 3;
    const double tokens = (double)(q.workload.global_batch * q.workload.sequence_length) / 8.0;
    const double values = tokens * 2.0 * 4.0 * 2048.0; /* two visits, four blocks */
    const sl_estimate *e = sl_fixture_answer(&q);
    const double forward_s = sl_fixture_seconds(e, SL_TERM_FORWARD);
    const double backward_s = sl_fixture_seconds(e, SL_TERM_BACKWARD);
    const double kept = sl_fixture_bytes(&e->memory.ranks[0], SL_TERM_ACTIVATIONS);

    software.route_forward_bytes = 28.0;
    software.route_backward_bytes = 36.0;
    e = sl_fixture_answer(&q);
    const double rate = cluster.accelerator.memory_bytes_per_s * 0.85;
    sl_expect_near(sl_fixture_seconds(e, SL_TERM_FORWARD) - forward_s, values * 20.0 / rate, 0.02,
                   "28 bytes for 8");
    sl_expect_near(sl_fixture_seconds(e, SL_TERM_BACKWARD) - backward_s, values * 28.0 / rate, 0.02,
                   "36 for 8");
    const double microbatches =
        (double)q.workload.global_batch / 8.0 / (double)q.workload.micro_batch;
    sl_expect_near(sl_fixture_bytes(&e->memory.ranks[0], SL_TERM_ACTIVATIONS) - kept,
                   4.0 * values / microbatches, 1e-9, "4 bytes of each");
}

/* Experts with biases: both clamps, and the bias of each expert a kernel of its own. */
static void
biases_of_experts_are_kernels_of_their_own(void)
{
    sl_dense_spec spec = sl_fixture_llama();
    sl_question q = mixture_question(1);

    software.host_operator_s = software.expert_operator_s = 1e-9;
    software.experts_apart = SL_APART_ALWAYS;
    const sl_estimate *e = sl_fixture_answer(&q);
    const double plain_s = sl_fixture_seconds(e, SL_TERM_FORWARD);
    const double waited_s = sl_fixture_seconds(e, SL_TERM_LAUNCH);
    const double kept = sl_fixture_bytes(&e->memory.ranks[0], SL_TERM_ACTIVATIONS);

    spec.naming = SL_NAMING_MIXTRAL;
    spec.blocks = 4;
    spec.experts = (sl_experts){.count = 8, .per_token = 2, .width = 1024, .bias = true};
    q.model = sl_fixture_model(&spec);
    e = sl_fixture_answer(&q);
    const double tokens = (double)(q.workload.global_batch * q.workload.sequence_length) / 8.0;
    const double values = tokens * spec.experts.per_token * spec.blocks *
                          (8.0 * 2.0 * (double)spec.experts.width + 28.0 * (double)spec.hidden);
    sl_expect_near(sl_fixture_seconds(e, SL_TERM_FORWARD) - plain_s,
                   values / (cluster.accelerator.memory_bytes_per_s * 0.85), 0.02, "bytes moved");
    sl_expect_near(sl_fixture_seconds(e, SL_TERM_LAUNCH) / waited_s, 2.0 / 3.0, 1e-9,
                   "backward begins with a bias in place of two gradients");
    CU_ASSERT_EQUAL(sl_fixture_bytes(&e->memory.ranks[0], SL_TERM_ACTIVATIONS), kept);
}

static const sl_case cases[] = {
    SL_CASE(groups_add_up_what_their_ranks_hold),
    SL_CASE(routes_that_nothing_compiles_move_what_the_release_says),
    SL_CASE(biases_of_experts_are_kernels_of_their_own),
    SL_CASE(shapes_that_no_table_has_are_named),
    SL_CASE(a_token_is_sent_once_to_each_rank_of_its_experts),
    SL_CASE(quantised_products_of_experts_pad_their_rows),
    SL_CASE(experts_dealt_in_turn_are_neighbours),
    SL_CASE(a_token_crosses_the_network_once_for_each_node),
    SL_CASE(measured_dispatches_come_out_near),
    SL_CASE(tokens_travel_under_another_micro_batch),
    SL_CASE(a_forward_beside_a_backward_keeps_one_block_more),
    SL_CASE(no_block_is_there_twice_where_all_forwards_come_first),
    SL_CASE(layers_of_two_micro_batches_come_alternately),
    SL_CASE(an_overlap_that_no_schedule_has_is_refused),
    SL_CASE(experts_issued_one_by_one_are_waited_for),
    SL_CASE(modules_of_experts_hide_under_the_one_before),
};

int
main(int argc, char **argv)
{
    return sl_run_cases(argc, argv, "experts_time", cases, sizeof cases / sizeof cases[0]);
}
