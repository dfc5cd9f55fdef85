/* Lists of plain layers: every figure is hand arithmetic on the round rates of the fixture,
 * 80 TFLOP/s and 4 us a product, 0.85 of 1 TB/s, 10 us and 100 GB/s a send. */
#include "engine_fixture.h"
#include "harness.h"

#include "base/text.h"

static const double launch_s = 4e-6;

static sl_model model;
static sl_cluster cluster;
static sl_software software;

/* 1 ms of compute, and 0.1 ms, on the fixture. */
static const sl_plain_layer heavy = {"heavy", 1, 1000000, 3000000, 80000000000, 1000000};
static const sl_plain_layer light = {"light", 1, 500000, 2000000, 8000000000, 0};

static sl_question
ask(const sl_plain_layer *layers, uint32_t count, uint32_t pipeline)
{
    sl_model_describe_plain(layers, count, &model);
    cluster = sl_fixture_cluster(1);
    cluster.accelerators_per_node = pipeline;
    software = sl_fixture_software();

    sl_question q = sl_fixture_question(&model, &cluster, &software);
    q.workload.sequence_length = 1;
    q.plan.pipeline = pipeline;
    q.plan.data = 1;
    return q;
}

static void
alike_layers_are_one_kind_and_every_layer_counts(void)
{
    const sl_plain_layer layers[] = {heavy, light, heavy, {"light", 3, 500000, 1, 1, 0}};
    sl_model_counts counts = {0};

    sl_model_describe_plain(layers, 4, &model);
    CU_ASSERT_TRUE(sl_model_is_plain(&model));
    CU_ASSERT_EQUAL(model.kind_count, 3);
    CU_ASSERT_EQUAL(model.layer_count, 6);
    CU_ASSERT_EQUAL(model.block_count, 6);
    CU_ASSERT_EQUAL(model.layers[2], model.layers[0]);
    CU_ASSERT_EQUAL(sl_model_count(&model, &counts), SL_OK);
    CU_ASSERT_EQUAL(counts.total, 2 * 1000000 + 4 * 500000);
    CU_ASSERT_EQUAL(counts.component[SL_COMPONENT_OTHER], counts.total);
    CU_ASSERT_EQUAL(model.kinds[0].cache.per_token, 0);
}

static void
as_many_kinds_as_layers_can_number(void)
{
    static sl_plain_layer layers[SL_KINDS_MAX];
    static char names[SL_KINDS_MAX][8];

    for (uint32_t i = 0; i < SL_KINDS_MAX; i++) {
        CU_ASSERT_TRUE(sl_text_format(names[i], sizeof names[i], "l%u", i));
        layers[i] = (sl_plain_layer){
            names[i], SL_MODEL_LAYERS_MAX / SL_KINDS_MAX, SL_PLAIN_FIGURE_MAX, i, i, 0};
    }
    sl_model_counts counts = {0};
    sl_model_describe_plain(layers, SL_KINDS_MAX, &model);
    CU_ASSERT_EQUAL(model.kind_count, SL_KINDS_MAX);
    CU_ASSERT_EQUAL(model.layer_count, SL_MODEL_LAYERS_MAX);
    CU_ASSERT_EQUAL(model.layers[SL_MODEL_LAYERS_MAX - 1], SL_KINDS_MAX - 1);
    CU_ASSERT_EQUAL(sl_model_count(&model, &counts), SL_OK);
    CU_ASSERT_EQUAL(counts.total, SL_MODEL_LAYERS_MAX * SL_PLAIN_FIGURE_MAX);
    for (uint32_t i = 0; i < SL_KINDS_MAX; i++) {
        layers[i].parameters = 1000;
        layers[i].activation_bytes = 1000 + i;
    }
    const sl_question q = ask(layers, SL_KINDS_MAX, 4);
    const sl_rank_memory *rank = &sl_fixture_answer(&q)->memory.ranks[0];
    sl_expect_near(sl_fixture_bytes(rank, SL_TERM_PARAMETERS), 2.0 * 1000.0 * 8.0 * 64.0, 0.0,
                   "2 bytes, 8 layers of 64 kinds of 1000");
}

/* bf16 Megatron: 2 + 4 + 4 + 8 bytes a parameter, and what a micro-batch of 2 keeps. */
static void
states_follow_the_parameters_and_activations_the_batch(void)
{
    const sl_plain_layer layers[] = {heavy, light};
    sl_question q = ask(layers, 2, 1);

    q.workload.micro_batch = 2;
    const sl_rank_memory *rank = &sl_fixture_answer(&q)->memory.ranks[0];
    sl_expect_near(sl_fixture_bytes(rank, SL_TERM_PARAMETERS), 2.0 * 1.5e6, 0.0, "weights");
    sl_expect_near(sl_fixture_bytes(rank, SL_TERM_GRADIENTS), 4.0 * 1.5e6, 0.0, "gradients");
    sl_expect_near(sl_fixture_bytes(rank, SL_TERM_MASTER_WEIGHTS), 4.0 * 1.5e6, 0.0, "master");
    sl_expect_near(sl_fixture_bytes(rank, SL_TERM_OPTIMIZER_STATES), 8.0 * 1.5e6, 0.0, "states");
    sl_expect_near(sl_fixture_bytes(rank, SL_TERM_ACTIVATIONS), 2.0 * 5e6, 0.0, "2 x (3 + 2) MB");
    sl_expect_near(sl_fixture_bytes(rank, SL_TERM_BACKWARD_TRANSIENT), 2.0 * 2e6, 0.0,
                   "the widest output, here all that the second layer keeps");
    CU_ASSERT_EQUAL(sl_fixture_bytes(rank, SL_TERM_LOGITS), 0.0);
    sl_expect_text(rank->phase, "backward", "there is no head to bind");
}

static void
full_recomputation_keeps_the_outputs_and_rebuilds_the_largest_layer(void)
{
    const sl_plain_layer layers[] = {heavy, light};
    sl_question q = ask(layers, 2, 1);

    q.workload.recompute = SL_RECOMPUTE_FULL;
    const sl_estimate *e = sl_fixture_answer(&q);
    const sl_rank_memory *rank = &e->memory.ranks[0];
    sl_expect_near(sl_fixture_bytes(rank, SL_TERM_ACTIVATIONS), 1e6 + 2e6, 0.0,
                   "1 MB is passed on of 3 kept; of the second no output is known");
    sl_expect_near(sl_fixture_bytes(rank, SL_TERM_RECOMPUTED_BLOCK), 3e6 - 1e6, 0.0, "rebuilt");
    sl_expect_near(sl_fixture_seconds(e, SL_TERM_RECOMPUTE), sl_fixture_seconds(e, SL_TERM_FORWARD),
                   1e-12, "one more forward of all");

    const sl_plain_layer opaque = {"opaque", 1, 1, 4000000, 1, 0};
    const sl_plain_layer largest_last[] = {heavy, opaque};
    q = ask(largest_last, 2, 1);
    q.workload.recompute = SL_RECOMPUTE_FULL;
    rank = &sl_fixture_answer(&q)->memory.ranks[0];
    sl_expect_near(sl_fixture_bytes(rank, SL_TERM_RECOMPUTED_BLOCK), 3e6 - 1e6, 0.0,
                   "the largest layer keeps all it has: another one rebuilds most");
}

static void
a_layer_takes_the_slower_of_flops_and_bytes(void)
{
    /* 1 ms of FLOPs beside 7 us of bytes; 425 MB kept are 850 moved: 1 ms beside no FLOPs. */
    const sl_plain_layer bound = {"bound", 1, 0, 425000000, 0, 0};
    sl_question q = ask(&heavy, 1, 1);

    q.workload.global_batch = 1;
    const sl_estimate *e = sl_fixture_answer(&q);
    sl_expect_near(sl_fixture_seconds(e, SL_TERM_FORWARD), launch_s + 1e-3, 1e-12, "80 GFLOP");
    sl_expect_near(sl_fixture_seconds(e, SL_TERM_BACKWARD), launch_s + 2e-3 + 6.0 * 1e6 / 0.85e12,
                   1e-12, "twice the FLOPs, and 6 bytes a weight into the main gradient");
    sl_expect_near(e->throughput.model_flops_per_s_per_accelerator * e->time.step_s, 3.0 * 80e9,
                   1e-12, "3 x forward");
    CU_ASSERT_EQUAL(e->throughput.mfu_full, e->throughput.mfu_causal);

    q = ask(&bound, 1, 1);
    q.workload.global_batch = 1;
    e = sl_fixture_answer(&q);
    sl_expect_near(sl_fixture_seconds(e, SL_TERM_FORWARD), launch_s + 1e-3, 1e-12, "850 MB");
    sl_expect_near(sl_fixture_seconds(e, SL_TERM_BACKWARD), launch_s + 2e-3, 1e-12, "1.7 GB");
}

static void
weights_are_read_once_a_micro_batch(void)
{
    const sl_plain_layer wide = {"wide", 1, 425000000, 0, 0, 1};
    sl_question q = ask(&wide, 1, 1);

    q.workload.global_batch = 64;
    q.workload.micro_batch = 64;
    sl_expect_near(sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_FORWARD), launch_s + 1e-3,
                   1e-12, "2 bytes of 425 M weights, whatever the batch");
}

/* Twelve equal layers on three devices, one batch: the naive layer-wise parallelism. */
static void
three_equal_stages_and_one_batch_idle_two_thirds(void)
{
    sl_plain_layer layers = heavy;

    layers.count = 12;
    sl_question q = ask(&layers, 1, 3);
    q.workload.global_batch = q.workload.micro_batch = 8;
    const sl_estimate *e = sl_fixture_answer(&q);
    sl_expect_near(e->time.bubble_ratio, 2.0 / 3.0, 1e-12, "1 - 1 / 3");
    for (uint32_t r = 0; r < e->memory.rank_count; r++)
        sl_expect_near(sl_fixture_bytes(&e->memory.ranks[r], SL_TERM_PARAMETERS), 2.0 * 4e6, 0.0,
                       "4 of 12 layers");
}

/* Stages of two layers; what crosses is the output of the last, or all it keeps. */
static void
stages_send_the_output_of_their_last_layer(void)
{
    const sl_plain_layer layers[] = {light, heavy, heavy, light, light, light};
    sl_question q = ask(layers, 6, 3);

    q.workload.micro_batch = 4;
    q.workload.global_batch = 16;
    const sl_estimate *e = sl_fixture_answer(&q);
    const double sent[] = {4.0 * 1e6, 4.0 * 2e6, 0.0}; /* heavy, then light */
    for (uint32_t r = 0; r < 3; r++)
        sl_expect_near(sl_fixture_bytes(&e->memory.ranks[r], SL_TERM_PIPELINE_BUFFERS),
                       2.0 * (sent[r] + (r > 0 ? sent[r - 1] : 0.0)), 0.0, "both ways, twice");

    const double slow_s = 10e-6 + 8e6 / 100e9, quick_s = 10e-6 + 4e6 / 100e9;
    sl_expect_near(
        sl_fixture_seconds(e, SL_TERM_PIPELINE_COMMUNICATION), quick_s + 4.0 * (quick_s + slow_s),
        1e-12, "the second rank's sends of 4 micro-batches both ways, and the first one's before");
    CU_ASSERT_EQUAL(e->time.communication_count, 1);
    sl_expect_near(e->time.communication[0].bytes_per_step, 8.0 * 8e6, 0.0, "8 x 8 MB");
}

static void
replicas_reduce_their_gradients(void)
{
    const sl_plain_layer layers[] = {heavy, light};
    sl_question q = ask(layers, 2, 1);

    cluster.accelerators_per_node = 8;
    q.plan.data = 8;
    q.workload.framework = SL_FRAMEWORK_DDP;
    const sl_estimate *e = sl_fixture_answer(&q);
    CU_ASSERT_EQUAL_FATAL(e->time.communication_count, 1);
    sl_expect_text(e->time.communication[0].group, "data", "group");
    sl_expect_near(e->time.communication[0].bytes_per_step, 4.0 * 1.5e6, 0.0, "fp32 gradients");
    sl_expect_near(sl_fixture_bytes(&e->memory.ranks[0], SL_TERM_GRADIENT_BUCKETS), 4.0 * 1.5e6,
                   0.0, "buckets");
    sl_expect_near(e->throughput.tokens_per_s, e->throughput.samples_per_s, 0.0,
                   "one and the same");
}

/* Six layers on four stages: two, two, one and one. */
static void
layers_that_do_not_divide_go_to_the_first_stages(void)
{
    sl_plain_layer layers = heavy;
    sl_errors err = {0};

    layers.count = 6;
    sl_question q = ask(&layers, 1, 4);
    const sl_estimate *e = sl_fixture_answer(&q);
    CU_ASSERT_EQUAL_FATAL(e->memory.rank_count, 4);
    sl_expect_near(sl_fixture_bytes(&e->memory.ranks[0], SL_TERM_PARAMETERS),
                   2.0 * sl_fixture_bytes(&e->memory.ranks[3], SL_TERM_PARAMETERS), 0.0,
                   "two against one");
    q = ask(&layers, 1, 7);
    CU_ASSERT_EQUAL(sl_question_check(&q, &err), SL_E_RANGE);
    sl_expect_text(err.list[0].pointer, "/parallelism/pipeline", "pointer");
    sl_expect_text(err.list[0].hint, "1", "no other number of stages divides 7 accelerators");
}

static void
what_needs_an_architecture_is_refused_by_name(void)
{
    const sl_question asked = ask(&heavy, 1, 2);
    sl_question q[6];
    static const struct {
        const char *rule, *pointer;
    } expected[] = {
        {"no_tensors", "/parallelism/tensor"},        {"no_sequence", "/parallelism/sequence"},
        {"no_sequence", "/workload/sequence_length"}, {"no_attention", "/workload/attention"},
        {"no_attention", "/workload/recompute"},      {"no_dropout", "/workload/dropout"},
    };

    for (uint32_t i = 0; i < 6; i++) {
        q[i] = asked;
        q[i].plan.pipeline = 1;
        q[i].plan.data = 2;
    }
    q[0].plan.tensor = 2;
    q[0].plan.data = 1;
    q[1].plan.sequence = true;
    q[2].workload.sequence_length = 224;
    q[3].workload.attention = SL_ATTENTION_FLASH2;
    q[4].workload.recompute = SL_RECOMPUTE_SELECTIVE;
    q[5].workload.dropout = true;
    for (uint32_t i = 0; i < 6; i++) {
        sl_errors err = {0};
        CU_ASSERT_EQUAL(sl_question_check(&q[i], &err), SL_E_RANGE);
        CU_ASSERT_EQUAL_FATAL(err.count, 1);
        sl_expect_text(err.list[0].rule, expected[i].rule, "rule");
        sl_expect_text(err.list[0].pointer, expected[i].pointer, "pointer");
        CU_ASSERT_TRUE(err.list[0].hint[0] != '\0');
    }
}

static void
tensors_have_one_choice_and_open_fields_no_double(void)
{
    sl_plain_layer layers = heavy;
    uint64_t values[SL_CHOICES_MAX];

    layers.count = 4;
    sl_question q = ask(&layers, 1, 4);
    CU_ASSERT_EQUAL(sl_question_choices(&q, SL_CHOICE_TENSOR, values), 1);
    CU_ASSERT_EQUAL(values[0], 1);
    CU_ASSERT_EQUAL(sl_question_choices(&q, SL_CHOICE_PIPELINE, values), 3); /* 1, 2, 4 */
    q.unknown = SL_UNKNOWN_RECOMPUTE;
    CU_ASSERT_EQUAL(sl_fixture_answer(&q)->evaluated, 2); /* none and full, not selective */
}

static bool
has_note(const sl_estimate *e, const char *code)
{
    for (uint32_t i = 0; i < e->note_count; i++)
        if (sl_text_equal(e->notes[i].code, code))
            return true;
    return false;
}

static void
an_answer_says_what_was_assumed_of_the_layers(void)
{
    sl_question q = ask(&light, 1, 1);
    const sl_estimate *e = sl_fixture_answer(&q);

    CU_ASSERT_TRUE(has_note(e, "per_sample") && has_note(e, "layers_unmeasured"));
    CU_ASSERT_TRUE(has_note(e, "outputs_assumed") && has_note(e, "framework_borrowed"));
    CU_ASSERT_FALSE(has_note(e, "no_head"));
    q = ask(&heavy, 1, 1);
    CU_ASSERT_FALSE(has_note(sl_fixture_answer(&q), "outputs_assumed"));
}

/* Nothing is allocated there, so nothing is lost to fragments. */
static void
a_stage_of_layers_that_keep_nothing_needs_its_context_alone(void)
{
    const sl_plain_layer layers[] = {{"table", 1, 1000, 0, 1000, 0}, {"norm", 1, 0, 0, 1000, 0}};
    const sl_question q = ask(layers, 2, 2);
    const sl_rank_memory *idle = &sl_fixture_answer(&q)->memory.ranks[1];

    CU_ASSERT_EQUAL(idle->peak_reserved_bytes, 0);
    CU_ASSERT_EQUAL(idle->term_count, 1);
    CU_ASSERT_EQUAL((double)idle->device_total_bytes, idle->terms[0].value);
}

static const sl_case cases[] = {
    SL_CASE(alike_layers_are_one_kind_and_every_layer_counts),
    SL_CASE(as_many_kinds_as_layers_can_number),
    SL_CASE(states_follow_the_parameters_and_activations_the_batch),
    SL_CASE(full_recomputation_keeps_the_outputs_and_rebuilds_the_largest_layer),
    SL_CASE(a_layer_takes_the_slower_of_flops_and_bytes),
    SL_CASE(weights_are_read_once_a_micro_batch),
    SL_CASE(three_equal_stages_and_one_batch_idle_two_thirds),
    SL_CASE(stages_send_the_output_of_their_last_layer),
    SL_CASE(replicas_reduce_their_gradients),
    SL_CASE(layers_that_do_not_divide_go_to_the_first_stages),
    SL_CASE(a_stage_of_layers_that_keep_nothing_needs_its_context_alone),
    SL_CASE(what_needs_an_architecture_is_refused_by_name),
    SL_CASE(tensors_have_one_choice_and_open_fields_no_double),
    SL_CASE(an_answer_says_what_was_assumed_of_the_layers),
};

int
main(int argc, char **argv)
{
    return sl_run_cases(argc, argv, "plain", cases, sizeof cases / sizeof cases[0]);
}
