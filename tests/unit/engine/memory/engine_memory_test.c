/* Megatron's layers on DeepSpeed's engine: what its ZeRO 1 keeps, and what its step leaves behind. */
#include "engine_fixture.h"
#include "harness.h"

#include <math.h>

static sl_cluster cluster;
static sl_software software;

static const double BUCKET = 5e8, REPLICAS = 8.0;

static sl_question
engine_question(sl_precision precision)
{
    sl_question q = sl_fixture_llama_question(1, &cluster, &software);

    software.on_deepspeed = true;
    q.workload.precision = precision;
    q.plan.data = (uint32_t)REPLICAS;
    q.plan.zero_stage = 1;
    return q;
}

static const sl_rank_memory *
answer_rank(const sl_question *q)
{
    return &sl_fixture_answer(q)->memory.ranks[0];
}

/* Reserved and neither allocated nor of the ratio. */
static double
idle_bytes(const sl_rank_memory *rank)
{
    return (double)rank->peak_reserved_bytes -
           software.fragmentation_ratio * (double)rank->peak_allocated_bytes;
}

/* Updated parameters are gathered in as many lists as there are whole buckets in them. */
static double
gathered_bytes(double n)
{
    return 2.0 * n / floor(n / BUCKET);
}

static void
gradients_in_fp16_have_no_copy_at_rest(void)
{
    const sl_question q = engine_question(SL_PRECISION_FP16);
    const double n = sl_fixture_llama_all();
    const sl_rank_memory *rank = answer_rank(&q);

    sl_expect_text(rank->phase, "head", "phase");
    sl_expect_near(sl_fixture_bytes(rank, SL_TERM_GRADIENTS), 2.0 * n, 1e-8, "whole");
    sl_expect_near(sl_fixture_bytes(rank, SL_TERM_OPTIMIZER_STATES), 8.0 * n / REPLICAS, 1e-8,
                   "moments");
    sl_expect_near(idle_bytes(rank), 2.0 * BUCKET + (2.0 + 4.0) * n / REPLICAS + gathered_bytes(n),
                   1e-6, "a bucket, then the part flat and cast, then the lists");

    software.on_deepspeed = false;
    rank = answer_rank(&q);
    sl_expect_near(sl_fixture_bytes(rank, SL_TERM_OPTIMIZER_STATES), 8.0 * n / REPLICAS, 1e-8,
                   "moments of Megatron's own");
    CU_ASSERT_TRUE(idle_bytes(rank) <= 1.0); /* whole bytes, and nothing idles */
}

static void
a_step_in_fp16_flattens_and_casts(void)
{
    sl_question q = engine_question(SL_PRECISION_FP16);
    const double n = sl_fixture_llama_all();

    q.plan.data = 1;
    cluster.accelerators_per_node = 1;
    q.workload.sequence_length = 8; /* so that activations are nothing */
    const sl_rank_memory *rank = answer_rank(&q);
    sl_expect_text(rank->phase, "optimizer", "phase");
    sl_expect_near(sl_fixture_bytes(rank, SL_TERM_GRADIENT_COPY), (2.0 + 4.0) * n, 1e-8,
                   "flat and cast");
    CU_ASSERT_TRUE(idle_bytes(rank) >=
                   2.0 * BUCKET); /* which a pipeline has with one replica too */
    CU_ASSERT_TRUE(idle_bytes(rank) < 2.0 * BUCKET + 1e8);
}

/* What goes over the data ranks of one group, and how. */
static const sl_communication *
sent_of(const sl_estimate *answer, sl_term_id id)
{
    for (uint32_t i = 0; i < answer->time.communication_count; i++)
        if (answer->time.communication[i].what == id)
            return &answer->time.communication[i];
    CU_FAIL_FATAL("nothing of that kind is sent");
    return NULL;
}

/* What its gradient is added to a sum through: embedding or head, the head with its norm. */
static double
added_bytes(const sl_question *q)
{
    const double hidden = (double)q->model->hidden;

    return 4.0 * ((double)q->model->vocabulary + 1.0) * hidden;
}

/* BF16_Optimizer: nothing to cast for the step, and sums that are sent in two bytes. */
static void
gradients_in_bf16_are_made_beside_their_sums(void)
{
    sl_question q = engine_question(SL_PRECISION_BF16);
    const double n = sl_fixture_llama_all();
    const sl_rank_memory *rank = answer_rank(&q);

    sl_expect_near(sl_fixture_bytes(rank, SL_TERM_GRADIENTS), 6.0 * n, 1e-8, "2 + 4");
    sl_expect_near(idle_bytes(rank), 2.0 * n + added_bytes(&q), 1e-6,
                   "sums cast for the way, a gradient as wide as its sum; lists fit in there");
    const sl_communication *sums = sent_of(sl_fixture_answer(&q), SL_TERM_GRADIENTS_SENT);
    const double sent = sums->bytes_per_step;
    CU_ASSERT_EQUAL(sums->collective, SL_COLLECTIVE_ALL_REDUCE);
    q.workload.reduce = SL_WIRE_FP32;
    sl_expect_near(idle_bytes(answer_rank(&q)), gathered_bytes(n) + added_bytes(&q), 1e-6,
                   "sent as they are");
    sl_expect_near(sent_of(sl_fixture_answer(&q), SL_TERM_GRADIENTS_SENT)->bytes_per_step,
                   2.0 * sent, 1e-8, "communication_data_type");
    q.workload.reduce = SL_WIRE_DEFAULT;
    software.on_deepspeed = false;
    sums = sent_of(sl_fixture_answer(&q), SL_TERM_GRADIENTS_SENT);
    sl_expect_near(sums->bytes_per_step, 2.0 * sent, 1e-8,
                   "sums are cast on the way, Megatron's are not");
    CU_ASSERT_EQUAL(sums->collective, SL_COLLECTIVE_REDUCE_SCATTER);
}

/* engine.py casts the whole flat sum before it is reduced, over one rank as well, unless it travels
 * as it is: on short sequences that is the peak, else a segment that backward left nothing for. */
static void
sums_are_cast_for_the_way(sl_question *q, double n)
{
    const sl_rank_memory *rank = answer_rank(q);
    const uint64_t length = q->workload.sequence_length;

    sl_expect_near(idle_bytes(rank), 2.0 * n + added_bytes(q), 1e-6, "no segment holds it");
    q->workload.sequence_length = 64;
    rank = answer_rank(q);
    sl_expect_text(rank->phase, "optimizer", "phase");
    sl_expect_near(sl_fixture_bytes(rank, SL_TERM_GRADIENT_COPY), 2.0 * n, 1e-8, "cast");
    q->workload.reduce = SL_WIRE_FP32;
    rank = answer_rank(q);
    CU_ASSERT_EQUAL(sl_fixture_bytes(rank, SL_TERM_GRADIENT_COPY), 0.0);
    sl_expect_near(idle_bytes(rank), added_bytes(q), 1e-6, "what is added to sums alone");
    q->workload.reduce = SL_WIRE_DEFAULT;
    q->workload.sequence_length = length;
}

/* DeepSpeed's bf16_optimizer.py: 2 + 2 + 4 whole, 4 + 8 divided; sums are added up whole, in two
 * bytes, updated weights gathered. */
static void
bf16_without_zero_divides_masters_where_the_release_does(void)
{
    sl_question q = engine_question(SL_PRECISION_BF16);
    const double n = sl_fixture_llama_all();

    software.on_deepspeed = false;
    software.own_bf16 = true;
    q.workload.framework = SL_FRAMEWORK_DEEPSPEED;
    q.plan.zero_stage = 0;
    const sl_rank_memory *rank = answer_rank(&q);
    sl_expect_near(sl_fixture_bytes(rank, SL_TERM_PARAMETERS), 2.0 * n, 1e-8, "whole");
    sl_expect_near(sl_fixture_bytes(rank, SL_TERM_GRADIENTS), 6.0 * n, 1e-8, "made and added up");
    sl_expect_near(sl_fixture_bytes(rank, SL_TERM_MASTER_WEIGHTS), 4.0 * n / REPLICAS, 1e-8,
                   "divided");
    sl_expect_near(sl_fixture_bytes(rank, SL_TERM_OPTIMIZER_STATES), 8.0 * n / REPLICAS, 1e-8,
                   "divided");
    CU_ASSERT_EQUAL(sl_fixture_bytes(rank, SL_TERM_REDUCE_BUFFERS), 0.0);
    sums_are_cast_for_the_way(&q, n);
    const sl_estimate *answer = sl_fixture_answer(&q);
    CU_ASSERT_TRUE(sl_fixture_has_note(answer, "bf16_optimizer"));
    CU_ASSERT_EQUAL(sent_of(answer, SL_TERM_GRADIENTS_SENT)->collective, SL_COLLECTIVE_ALL_REDUCE);
    sl_expect_near(sent_of(answer, SL_TERM_GRADIENTS_SENT)->bytes_per_step, 2.0 * n, 1e-8, "sums");
    sl_expect_near(sent_of(answer, SL_TERM_PARAMETERS_SENT)->bytes_per_step, 2.0 * n, 1e-8,
                   "weights");
    q.workload.reduce = SL_WIRE_FP32;
    sl_expect_near(sent_of(sl_fixture_answer(&q), SL_TERM_GRADIENTS_SENT)->bytes_per_step, 4.0 * n,
                   1e-8, "communication_data_type");
    q.workload.reduce = SL_WIRE_DEFAULT;

    software.own_bf16 = false;
    answer = sl_fixture_answer(&q);
    rank = &answer->memory.ranks[0];
    CU_ASSERT_FALSE(sl_fixture_has_note(answer, "bf16_optimizer"));
    sl_expect_near(sl_fixture_bytes(rank, SL_TERM_OPTIMIZER_STATES), 8.0 * n, 1e-8, "replicas");

    software.own_bf16 = true;
    q.workload.precision = SL_PRECISION_FP16;
    CU_ASSERT_FALSE(sl_fixture_has_note(sl_fixture_answer(&q), "bf16_optimizer"));
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_OPTIMIZER_STATES), 8.0 * n, 1e-8, "fp16");
}

/* all_gather_dp_groups is the last of step(), and nobody runs beside it. */
static void
updated_weights_are_gathered_by_the_step(void)
{
    sl_question q = engine_question(SL_PRECISION_BF16);

    software.own_bf16 = software.overlap_parameter_gather = true;
    const sl_communication *sent = sent_of(sl_fixture_answer(&q), SL_TERM_PARAMETERS_SENT);
    sl_expect_near(sent->exposed_s, sent->seconds, 1e-9, "Megatron on the engine");
    software.on_deepspeed = false;
    sent = sent_of(sl_fixture_answer(&q), SL_TERM_PARAMETERS_SENT);
    CU_ASSERT_TRUE(sent->exposed_s < sent->seconds); /* Megatron by itself fetches ahead */
    q.workload.framework = SL_FRAMEWORK_DEEPSPEED;
    for (q.plan.zero_stage = 0; q.plan.zero_stage < 3; q.plan.zero_stage++) {
        sent = sent_of(sl_fixture_answer(&q), SL_TERM_PARAMETERS_SENT);
        sl_expect_near(sent->exposed_s, sent->seconds, 1e-9, "DeepSpeed");
    }
    sent = sent_of(sl_fixture_answer(&q), SL_TERM_PARAMETERS_SENT);
    CU_ASSERT_TRUE(sent->exposed_s < sent->seconds); /* ZeRO 3 has them when modules need them */
}

/* BLOOM's own launch says stage 0 in bf16, whose optimizer divides by itself. */
static void
megatron_on_the_engine_needs_no_stage_in_bf16(void)
{
    sl_question q = engine_question(SL_PRECISION_BF16);

    software.own_bf16 = true;
    const uint64_t one = answer_rank(&q)->peak_reserved_bytes;
    q.plan.zero_stage = 0;
    CU_ASSERT_EQUAL(answer_rank(&q)->peak_reserved_bytes, one);
}

static const sl_case cases[] = {
    SL_CASE(bf16_without_zero_divides_masters_where_the_release_does),
    SL_CASE(updated_weights_are_gathered_by_the_step),
    SL_CASE(megatron_on_the_engine_needs_no_stage_in_bf16),
    SL_CASE(gradients_in_fp16_have_no_copy_at_rest),
    SL_CASE(a_step_in_fp16_flattens_and_casts),
    SL_CASE(gradients_in_bf16_are_made_beside_their_sums),
};

int
main(int argc, char **argv)
{
    return sl_run_cases(argc, argv, "engine_memory", cases, sizeof cases / sizeof cases[0]);
}
