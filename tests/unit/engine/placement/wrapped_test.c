/* What FSDP1 does to a base that does not train: it holds what blocks were given that are rebuilt, and
 * wraps each half of an adapter by itself. */
#include "adapter_fixture.h"

static const double HALVES = 4.0; /* of q and v */

/* On two devices; the loss needs no logits, so that blocks need most. */
static sl_question
wrapped_question(void)
{
    sl_question q = llama_question(&lora);

    cluster = sl_fixture_cluster(1);
    cluster.accelerators_per_node = 2;
    q.workload.framework = SL_FRAMEWORK_FSDP1;
    q.workload.recompute = SL_RECOMPUTE_FULL;
    q.workload.loss = SL_LOSS_CUT;
    q.workload.global_batch = 2;
    q.plan.zero_stage = 3;
    q.plan.data = 2;
    return q;
}

/* Of gradients of what blocks were given, at the peak of the only group of ranks. */
static double
held_bytes(const sl_question *q)
{
    return sl_fixture_bytes_of(q, SL_TERM_BACKWARD_TRANSIENT) > 0.0
               ? input_in(q, SL_TERM_BACKWARD_TRANSIENT, "held_bytes")
               : 0.0;
}

static void
inputs_of_frozen_blocks_stay_with_their_gradients(void)
{
    const double state = 2.0 * HIDDEN * TOKENS;
    sl_question q = wrapped_question();

    sl_expect_near(held_bytes(&q), (LAYERS - 1.0) * state, 1e-12, "gradients");
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_ACTIVATIONS), LAYERS * state, 1e-12, "inputs");
    CU_ASSERT_TRUE(sl_fixture_has_note(sl_fixture_answer(&q), "inputs_held"));
    CU_ASSERT_FALSE(sl_fixture_has_note(sl_fixture_answer(&q), "inputs_let_go"));
    /* The block that comes last in backward has none to gather ahead of. */
    const double gathered = sl_fixture_bytes_of(&q, SL_TERM_GATHERED_PARAMETERS);
    software.rebuild_stops = true;
    CU_ASSERT_EQUAL(held_bytes(&q), 0.0);
    CU_ASSERT_TRUE(sl_fixture_bytes_of(&q, SL_TERM_GATHERED_PARAMETERS) > gathered);
    CU_ASSERT_TRUE(sl_fixture_has_note(sl_fixture_answer(&q), "inputs_let_go"));
}

/* ... and none where all train, where nothing is rebuilt, or where another FSDP has them. */
static void
inputs_of_others_do_not(void)
{
    static const sl_adapter none = {0};
    sl_question q = wrapped_question();

    q.workload.adapter = none;
    CU_ASSERT_EQUAL(held_bytes(&q), 0.0);
    q = wrapped_question();
    q.workload.recompute = SL_RECOMPUTE_NONE;
    CU_ASSERT_EQUAL(held_bytes(&q), 0.0);
    q = wrapped_question();
    q.workload.framework = SL_FRAMEWORK_FSDP2;
    CU_ASSERT_EQUAL(held_bytes(&q), 0.0);
    CU_ASSERT_FALSE(sl_fixture_has_note(sl_fixture_answer(&q), "inputs_let_go"));
}

/* Forward, forward once more and backward, of each block and each half in it, and forward and
 * backward of the root, which is what is before and behind them; products hide none of it that take no time, and all of
 * it where the host takes none. */
static void
the_host_is_waited_for_at_each_unit(void)
{
    sl_question q = wrapped_question();

    software.host_operator_s = 1.0;
    software.unit_operators = 0.0;
    const double alone_s = sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_LAUNCH);
    software.unit_operators = 1e6;
    sl_expect_near(sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_LAUNCH) - alone_s,
                   (3.0 * LAYERS * (1.0 + HALVES) + 2.0) * 1e6, 1e-3, "units");
    const sl_term *launch = &sl_fixture_answer(&q)->time.terms[SL_TERM_LAUNCH - SL_TERM_FORWARD];
    sl_expect_near(sl_term_input(launch, "unit_operators"), 1e6, 1e-12, "said");
    software.host_operator_s = 1e-12;
    CU_ASSERT_EQUAL(sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_LAUNCH), 0.0);
}

/* Blocks are units of FSDP 2 as well, whose adapters go with them. */
static void
the_second_fsdp_has_blocks_for_units(void)
{
    sl_question q = wrapped_question();

    q.workload.framework = SL_FRAMEWORK_FSDP2;
    software.host_operator_s = 1.0;
    software.unit_operators = 0.0;
    const double alone_s = sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_LAUNCH);
    software.unit_operators = 1e6;
    sl_expect_near(sl_fixture_seconds(sl_fixture_answer(&q), SL_TERM_LAUNCH) - alone_s,
                   (3.0 * LAYERS + 2.0) * 1e6, 1e-3, "units");
}

static const sl_case cases[] = {
    SL_CASE(inputs_of_frozen_blocks_stay_with_their_gradients),
    SL_CASE(inputs_of_others_do_not),
    SL_CASE(the_second_fsdp_has_blocks_for_units),
    SL_CASE(the_host_is_waited_for_at_each_unit),
};

int
main(int argc, char **argv)
{
    return sl_run_cases(argc, argv, "wrapped", cases, sizeof cases / sizeof cases[0]);
}
