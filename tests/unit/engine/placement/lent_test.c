/* torch.nn.DataParallel: one device holds the model, the others are lent it for a step. */
#include <math.h>

#include "engine_fixture.h"
#include "harness.h"

static sl_cluster cluster;
static sl_software software;

static const double ROWS = 32768.0;

static sl_question
llama_question(uint64_t sequence)
{
    const sl_dense_spec spec = sl_fixture_llama();
    cluster = sl_fixture_cluster(1);
    software = sl_fixture_software();
    sl_question q = sl_fixture_question(sl_fixture_model(&spec), &cluster, &software);

    q.workload.framework = SL_FRAMEWORK_DP;
    q.workload.attention = SL_ATTENTION_FLASH2;
    q.workload.sequence_length = sequence;
    q.workload.global_batch = 8;
    return q;
}

static void
the_first_device_holds_the_states(void)
{
    sl_question q = llama_question(8);
    const double n = sl_fixture_llama_all();
    const sl_estimate *e = sl_fixture_answer(&q);
    const sl_rank_memory *first = &e->memory.ranks[0];
    const sl_rank_memory *other = &e->memory.ranks[1];

    CU_ASSERT_EQUAL_FATAL(e->memory.rank_count, 2);
    sl_expect_text(first->role, "first device", "role");
    sl_expect_text(other->role, "other devices", "role");
    CU_ASSERT_EQUAL(first->count, 1);
    CU_ASSERT_EQUAL(other->rank, 1);
    CU_ASSERT_EQUAL(other->count, 7);
    CU_ASSERT_EQUAL(e->memory.binding, 0);

    sl_expect_near(sl_fixture_bytes(first, SL_TERM_PARAMETERS), 4.0 * n, 1e-8, "fp32 weights");
    CU_ASSERT_EQUAL(sl_fixture_bytes(first, SL_TERM_CACHED_WEIGHTS), 0.0); /* backward is through */
    sl_expect_near(sl_fixture_bytes(first, SL_TERM_OPTIMIZER_STATES), 8.0 * n, 1e-8, "states");
    sl_expect_near(sl_fixture_bytes(first, SL_TERM_GRADIENTS), 4.0 * n, 1e-8, "the sum");
    sl_expect_near(sl_fixture_bytes(first, SL_TERM_UNSHARDED_GRADIENTS), 4.0 * n, 1e-8,
                   "and its own");

    CU_ASSERT_EQUAL(sl_fixture_bytes(other, SL_TERM_PARAMETERS), 0.0);
    CU_ASSERT_EQUAL(sl_fixture_bytes(other, SL_TERM_GRADIENTS), 0.0);
    CU_ASSERT_EQUAL(sl_fixture_bytes(other, SL_TERM_OPTIMIZER_STATES), 0.0);
    sl_expect_near(sl_fixture_bytes(other, SL_TERM_GATHERED_PARAMETERS), (4.0 + 2.0) * n, 1e-8,
                   "a copy and its cast");
    sl_expect_near(sl_fixture_bytes(other, SL_TERM_UNSHARDED_GRADIENTS), 4.0 * n, 1e-8,
                   "its gradients");
    q.workload.global_batch = 16;
    sl_expect_near(
        sl_fixture_bytes(&sl_fixture_answer(&q)->memory.ranks[0], SL_TERM_UNSHARDED_GRADIENTS),
        2.0 * 4.0 * n, 1e-8, "a second micro-batch adds a sum of its own");
}

/* Long sequences, so that the loss is the peak: 8 batches of logits, and the first's own output. */
static void
the_first_device_gathers_the_logits(void)
{
    sl_question q = llama_question(32768);

    q.workload.recompute = SL_RECOMPUTE_FULL;
    software.logits_peak_bytes = 14.0;
    const sl_estimate *e = sl_fixture_answer(&q);
    const double logits = 32768.0 * ROWS;

    sl_expect_text(e->memory.ranks[0].phase, "head", "phase");
    sl_expect_near(sl_fixture_bytes(&e->memory.ranks[0], SL_TERM_LOGITS),
                   8.0 * logits * 14.0 + 2.0 * logits, 1e-8, "of the whole batch");
    CU_ASSERT_TRUE(e->memory.ranks[1].peak_allocated_bytes <
                   e->memory.ranks[0].peak_allocated_bytes);
}

/* Links of 100 GB/s, ring laws without ramp: 4 N there and 4 N back, outputs one after the
 * other. */
static void
everything_is_sent_in_the_open(void)
{
    sl_question q = llama_question(8);
    const double n = sl_fixture_llama_all();
    const double outputs = 2.0 * 7.0 * 8.0 * ROWS * 2.0;
    const double inputs = 7.0 * 8.0 * 8.0; /* 8 tokens to each of 7, 8 bytes each */
    const sl_time *time = &sl_fixture_answer(&q)->time;

    CU_ASSERT_EQUAL_FATAL(time->communication_count, 3);
    CU_ASSERT_EQUAL(time->communication[0].collective, SL_COLLECTIVE_BROADCAST);
    CU_ASSERT_EQUAL(time->communication[1].collective, SL_COLLECTIVE_REDUCE);
    sl_expect_near(time->communication[0].bytes_per_step, 4.0 * n, 1e-8, "broadcast");
    sl_expect_near(time->communication[0].exposed_s, 10e-6 + 4.0 * n / 100e9, 1e-6,
                   "the message at the bus rate");
    sl_expect_near(time->communication[1].bytes_per_step, 4.0 * n, 1e-8, "reduce");
    sl_expect_near(time->communication[2].bytes_per_step, inputs + outputs, 1e-12,
                   "tokens, logits and their gradients");
    sl_expect_near(time->terms[SL_TERM_DATA_COMMUNICATION - SL_TERM_FORWARD].value,
                   time->communication[0].seconds + time->communication[1].seconds +
                       time->communication[2].seconds,
                   1e-12, "nothing hides");
}

static void
one_device_is_no_replica(void)
{
    sl_question q = llama_question(8);

    cluster.accelerators_per_node = 1;
    q.plan.data = 1;
    const sl_estimate *e = sl_fixture_answer(&q);
    CU_ASSERT_EQUAL(e->memory.rank_count, 1);
    sl_expect_text(e->memory.ranks[0].role, "only stage", "role");
    CU_ASSERT_EQUAL(e->time.communication_count, 0);
}

static void
expect_fault(const sl_question *q, const char *rule, const char *pointer, const char *hint)
{
    sl_errors err = {0};

    CU_ASSERT_NOT_EQUAL(sl_question_check(q, &err), SL_OK);
    CU_ASSERT_EQUAL_FATAL(err.count, 1);
    sl_expect_text(err.list[0].rule, rule, "rule");
    sl_expect_text(err.list[0].pointer, pointer, rule);
    sl_expect_text(err.list[0].hint, hint, rule);
}

static void
what_one_process_cannot_do_is_refused(void)
{
    sl_question q = llama_question(8);

    q.plan.zero_stage = 1;
    expect_fault(&q, "framework_replicates", "/parallelism/zero_stage",
                 "0, or framework megatron with zero_stage 1");
    q = llama_question(8);
    q.plan.tensor = 2;
    q.plan.data = 4;
    expect_fault(&q, "framework_replicates", "/parallelism/tensor", "1, or framework megatron");
    q = llama_question(8);
    cluster.nodes = 2;
    q.plan.data = 16;
    q.workload.global_batch = 16;
    expect_fault(&q, "one_node", "/cluster/nodes", "1, or framework ddp");
    q = llama_question(8);
    q.workload.offload.optimizer = true;
    expect_fault(&q, "not_modelled", "/workload/offload",
                 "leave it out, or framework deepspeed with zero_stage 2, or framework fsdp2 with "
                 "zero_stage 3");
}

static const sl_case cases[] = {
    SL_CASE(the_first_device_holds_the_states),     SL_CASE(the_first_device_gathers_the_logits),
    SL_CASE(everything_is_sent_in_the_open),        SL_CASE(one_device_is_no_replica),
    SL_CASE(what_one_process_cannot_do_is_refused),
};

int
main(int argc, char **argv)
{
    return sl_run_cases(argc, argv, "lent", cases, sizeof cases / sizeof cases[0]);
}
