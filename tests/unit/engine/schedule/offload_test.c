/* Blocks whose activations go to the host: how many, what stays, and what of their copies shows. */
#include "engine/answer/evaluate.h"
#include "engine/answer/step_parts.h"
#include "engine_fixture.h"
#include "harness.h"

static const double blocks = 8.0;
static sl_cluster cluster;
static sl_software software;

/* One device, 16 micro-batches of one sequence; the activations of `layers` blocks leave, of all
 * where 0. */
static sl_question
ask(uint32_t layers, double host_bytes_per_s)
{
    const sl_dense_spec spec = sl_fixture_gpt((uint32_t)blocks, 1024, 16);

    cluster = sl_fixture_cluster(1);
    cluster.accelerators_per_node = 1;
    cluster.accelerator.host_bytes_per_s = host_bytes_per_s;
    software = sl_fixture_software();
    sl_question q = sl_fixture_question(sl_fixture_model(&spec), &cluster, &software);
    q.plan.data = 1;
    q.workload.offload = (sl_offload){.activations = true, .activation_layers = layers};
    return q;
}

static void
as_many_blocks_leave_as_are_said(void)
{
    sl_question q = ask(0, 1e12);

    q.workload.offload.activations = false;
    const double none = sl_fixture_bytes_of(&q, SL_TERM_ACTIVATIONS);
    q = ask(1, 1e12);
    const double block = none - sl_fixture_bytes_of(&q, SL_TERM_ACTIVATIONS);

    CU_ASSERT_TRUE(block > 0.0);
    for (uint32_t layers = 2; layers < 8; layers++) {
        const double gone =
            layers < 6 ? layers : 6.0; /* two are on their way where nearly all leave */
        q = ask(layers, 1e12);
        sl_expect_near(none - sl_fixture_bytes_of(&q, SL_TERM_ACTIVATIONS), gone * block, 1e-9,
                       "blocks gone");
    }
}

/* What the device is without is in the host. */
static void
activations_that_leave_are_in_the_host(void)
{
    sl_question q = ask(0, 1e12);

    q.workload.offload.activations = false;
    const double all = sl_fixture_bytes_of(&q, SL_TERM_ACTIVATIONS);
    CU_ASSERT_EQUAL(sl_fixture_answer(&q)->memory.host_per_node.bytes, 0);
    q = ask(3, 1e12);
    const double rest = sl_fixture_bytes_of(&q, SL_TERM_ACTIVATIONS);
    sl_expect_near((double)sl_fixture_answer(&q)->memory.host_per_node.bytes, all - rest, 1e-8,
                   "three blocks of one device");
}

static double
waited_s(uint32_t layers, double host_bytes_per_s)
{
    const sl_question q = ask(layers, host_bytes_per_s);

    return sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_ACTIVATION_OFFLOAD);
}

/* Of four blocks on each of two stages. */
static double
staged_s(uint32_t layers, double host_bytes_per_s)
{
    sl_question q = ask(layers, host_bytes_per_s);

    cluster.accelerators_per_node = 2;
    q.plan.pipeline = 2;
    return sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_ACTIVATION_OFFLOAD);
}

static void
copies_of_some_blocks_are_spread_over_the_passes_of_all(void)
{
    const double slow = 2e9;

    CU_ASSERT_TRUE(waited_s(0, slow) > 0.0);
    CU_ASSERT_TRUE(waited_s(4, slow) < waited_s(0, slow));
    CU_ASSERT_TRUE(waited_s(4, slow) > waited_s(2, slow));
    /* Half as many over a link half as fast; of all of them the last stays. Where passes turn back
     * about one pass of them is waited for otherwise. */
    sl_expect_near(waited_s(4, slow), waited_s(0, 2.0 * slow) * blocks / (blocks - 1.0), 0.01,
                   "half of the blocks");
    sl_expect_near(waited_s(8, slow), waited_s(0, slow), 0.0, "as many as there are");
    CU_ASSERT_TRUE(staged_s(2, slow) > 0.0);
    sl_expect_near(staged_s(2, slow), staged_s(0, 2.0 * slow), 1e-9, "half of a stage's blocks");
}

/* Two of the four blocks of a rank, and not of each of its chunks. */
static void
chunks_copy_what_their_rank_does(void)
{
    static sl_priced priced;
    static sl_holdings holdings;
    sl_question q = ask(2, 2e9);

    cluster.accelerators_per_node = 2;
    q.plan.pipeline = q.plan.virtual_pipeline = 2;
    q.plan.schedule = SL_SCHEDULE_INTERLEAVED_1F1B;
    const sl_combination asked = {&software, q.workload, q.plan};
    sl_evaluate_price(&q, &asked, SL_CLOCK_COOL, &priced);
    const sl_memory_case c = sl_evaluate_case(&q, &asked, &priced, &holdings);
    const sl_held all = sl_schedule_all_held(&q.plan, 0);
    const sl_rank_time rank = sl_step_rank(&c, &all, &sl_holding_of(&holdings, 0)->stage);
    double forward_s = 0.0, backward_s = 0.0;

    CU_ASSERT_EQUAL(all.count, 2);
    for (uint32_t i = 0; i < all.count; i++) {
        const sl_rank_time chunk = sl_step_chunk(&c, 0, i);
        forward_s += chunk.forward.copied_s;
        backward_s += chunk.backward.copied_s;
    }
    CU_ASSERT_TRUE(rank.forward.copied_s > 0.0);
    sl_expect_near(forward_s, rank.forward.copied_s, 1e-12, "forward");
    sl_expect_near(backward_s, rank.backward.copied_s, 1e-12, "backward");

    const sl_estimate *answer = sl_fixture_answer(&q);
    CU_ASSERT_TRUE(answer->time.coarse != SL_COARSE_COPIES);
}

static void
no_more_layers_leave_than_there_are(void)
{
    const sl_question q = ask(9, 1e12); /* eight blocks */
    sl_errors err = {0};

    CU_ASSERT_EQUAL(sl_question_check(&q, &err), SL_E_RANGE);
    CU_ASSERT_TRUE_FATAL(err.count >= 1);
    sl_expect_text(err.list[0].rule, "out_of_range", "rule");
    sl_expect_text(err.list[0].pointer, "/workload/offload/activation_layers", "pointer");
}

static void
expect_fault(const sl_question *q, const char *pointer, const char *rule)
{
    sl_errors err = {0};

    CU_ASSERT_EQUAL(sl_question_check(q, &err), SL_E_RANGE);
    CU_ASSERT_EQUAL_FATAL(err.count, 1);
    sl_expect_text(err.list[0].pointer, pointer, rule);
    sl_expect_text(err.list[0].rule, rule, pointer);
}

/* One device divides nothing among ranks, and yet its stage says whether parameters may leave. */
static void
parameters_leave_with_what_steps_on_them(void)
{
    static const char parameters[] = "/workload/offload/parameters";
    static const char optimizer[] = "/workload/offload/optimizer";
    sl_question q = ask(0, 1e12);
    sl_errors err = {0};

    q.plan.zero_stage = 1;
    q.workload.offload = (sl_offload){.parameters = true, .optimizer = true};
    expect_fault(&q, parameters, "needs_sharding"); /* megatron */
    q.workload.framework = SL_FRAMEWORK_DDP;
    q.plan.zero_stage = 0;
    expect_fault(&q, parameters, "needs_sharding");
    q.workload.framework = SL_FRAMEWORK_DEEPSPEED;
    q.plan.zero_stage = 2;
    expect_fault(&q, parameters, "needs_sharding");
    q.plan.zero_stage = 3;
    CU_ASSERT_EQUAL(sl_question_check(&q, &err), SL_OK);
    q.workload.offload.optimizer = false;
    expect_fault(&q, optimizer, "needs_optimizer_offload");
    q.workload.framework = SL_FRAMEWORK_FSDP2;
    expect_fault(&q, optimizer, "needs_optimizer_offload");
    q.workload.framework = SL_FRAMEWORK_DEEPSPEED;
    q.plan.zero_stage = 0;
    q.workload.offload = (sl_offload){.optimizer = true};
    expect_fault(&q, optimizer, "needs_sharding"); /* no ZeRO, no ZeRO-Offload */
    q.workload.framework = SL_FRAMEWORK_MEGATRON;
    expect_fault(&q, optimizer, "needs_sharding"); /* no distributed optimizer */
    q.plan.zero_stage = 1;
    err = (sl_errors){0};
    CU_ASSERT_EQUAL(sl_question_check(&q, &err), SL_OK);
}

static double
input_of(const sl_estimate *answer, sl_term_id id, const char *name)
{
    return sl_term_input(&answer->time.terms[id - SL_TERM_FORWARD], name);
}

/* Half of the optimizer leaves: its states, master weights and a copy of gradients. */
static void
a_fraction_of_the_optimizer_leaves(void)
{
    static const double fractions[] = {0.0, 0.5, 1.0};
    sl_question q = ask(0, 1e12);
    double master[3], states[3], gradients[3], host[3], seconds[3], swept[3];

    q.plan.zero_stage = 1;
    for (uint32_t i = 0; i < 3; i++) {
        q.workload.offload = (sl_offload){.optimizer = i > 0, .optimizer_fraction = fractions[i]};
        const sl_estimate *answer = sl_fixture_answer(&q);
        const sl_rank_memory *rank = &answer->memory.ranks[0];
        master[i] = sl_fixture_bytes(rank, SL_TERM_MASTER_WEIGHTS);
        states[i] = sl_fixture_bytes(rank, SL_TERM_OPTIMIZER_STATES);
        gradients[i] = sl_fixture_bytes(rank, SL_TERM_GRADIENTS);
        host[i] = (double)answer->memory.host_per_node.bytes;
        seconds[i] = sl_fixture_seconds(answer, SL_TERM_OPTIMIZER_STEP);
        swept[i] = i == 0 ? 0.0 : input_of(answer, SL_TERM_OPTIMIZER_STEP, "swept_s");
    }
    sl_expect_near(master[1], master[0] / 2.0, 1e-8, "master weights");
    sl_expect_near(states[1], states[0] / 2.0, 1e-8, "states");
    CU_ASSERT_TRUE(master[2] == 0.0 && states[2] == 0.0);
    sl_expect_near(gradients[1], gradients[0], 1e-12, "gradients stay");
    CU_ASSERT_EQUAL(host[0], 0.0);
    sl_expect_near(host[1], (master[0] + states[0] + master[0]) / 2.0, 1e-8, "4 + 8 + 4 bytes");
    sl_expect_near(host[2], 2.0 * host[1], 1e-8, "all");
    /* All gradients are swept over where they are; the device steps on its half in less time. */
    sl_expect_near(swept[1], (3.0 * 4.0 + 4.0) * master[0] / 4.0 / 0.78e12, 1e-8, "all of them");
    CU_ASSERT_EQUAL(swept[2], swept[1]);
    sl_expect_near(seconds[2] - swept[2], 2.0 * (seconds[1] - swept[1]), 1e-9, "the host's half");
    CU_ASSERT_TRUE(seconds[0] < seconds[1]);
}

/* Where the device is the slower it decides. */
static void
who_steps_longer_decides(void)
{
    sl_question q = ask(0, 1e12);

    q.plan.zero_stage = 1;
    q.workload.offload = (sl_offload){.optimizer = true, .optimizer_fraction = 0.01};
    cluster.accelerator.memory_bytes_per_s = 1e10;
    const double slow = sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_OPTIMIZER_STEP);
    cluster.accelerator.memory_bytes_per_s = 5e9;
    const double slower = sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_OPTIMIZER_STEP);
    sl_expect_near(slower, 2.0 * slow, 1e-3, "0.99 of it on the device");
}

static void
a_fraction_is_megatrons(void)
{
    static const char pointer[] = "/workload/offload/optimizer_fraction";
    sl_question q = ask(0, 1e12);
    sl_errors err = {0};

    q.plan.zero_stage = 1;
    q.workload.offload = (sl_offload){.optimizer = true, .optimizer_fraction = 0.5};
    CU_ASSERT_EQUAL(sl_question_check(&q, &err), SL_OK);
    q.workload.framework = SL_FRAMEWORK_DDP;
    q.plan.zero_stage = 0;
    CU_ASSERT_EQUAL(sl_question_check(&q, &err), SL_E_UNSUPPORTED);
    CU_ASSERT_EQUAL_FATAL(err.count, 1);
    sl_expect_text(err.list[0].pointer, pointer, "pointer");
    sl_expect_text(err.list[0].rule, "not_modelled", "rule");
    q.workload.offload.optimizer_fraction = 1.0;
    err = (sl_errors){0};
    CU_ASSERT_EQUAL(sl_question_check(&q, &err), SL_OK);
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(as_many_blocks_leave_as_are_said),
        SL_CASE(activations_that_leave_are_in_the_host),
        SL_CASE(parameters_leave_with_what_steps_on_them),
        SL_CASE(copies_of_some_blocks_are_spread_over_the_passes_of_all),
        SL_CASE(chunks_copy_what_their_rank_does),
        SL_CASE(no_more_layers_leave_than_there_are),
        SL_CASE(a_fraction_of_the_optimizer_leaves),
        SL_CASE(who_steps_longer_decides),
        SL_CASE(a_fraction_is_megatrons),
    };

    return sl_run_cases(argc, argv, "offload", cases, sizeof cases / sizeof cases[0]);
}
