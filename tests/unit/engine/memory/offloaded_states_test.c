/* States that the host or its disks have: what stays on a device, how much of a node they take, and
 * how long the host steps on them. */
#include "engine/answer/evaluate.h"
#include "engine_fixture.h"
#include "harness.h"

static sl_cluster cluster;
static sl_software software;

/* Of one node of 8, two micro-batches a step. */
static sl_question
llama_question(sl_framework framework, uint32_t stage)
{
    sl_question q = sl_fixture_llama_question(1, &cluster, &software);

    q.workload.framework = framework;
    q.plan.zero_stage = stage;
    return q;
}

/* States that the host has, and gradients that the device keeps for it. */
static void
expect_stepped_by_host(const sl_question *q, double gradients, double host, const char *what)
{
    const sl_memory *memory = &sl_fixture_answer(q)->memory;
    const sl_rank_memory *rank = &memory->ranks[0];

    sl_expect_near(sl_fixture_bytes(rank, SL_TERM_GRADIENTS), gradients, 1e-8, what);
    CU_ASSERT_EQUAL(sl_fixture_bytes(rank, SL_TERM_MASTER_WEIGHTS), 0.0);
    CU_ASSERT_EQUAL(sl_fixture_bytes(rank, SL_TERM_OPTIMIZER_STATES), 0.0);
    sl_expect_near((double)memory->host_per_node.bytes, host, 1e-8, what);
}

/* Megatron's optimizer steps on the host with a copy of gradients that stay where they add up. */
static void
megatron_leaves_gradients_on_the_device(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_MEGATRON, 1);
    const double n = sl_fixture_llama_all();

    q.workload.offload.optimizer = true;
    expect_stepped_by_host(&q, 4.0 * n, 16.0 * n, "16 N / 8 of each rank");
}

static void
what_is_offloaded_is_in_the_host(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_DEEPSPEED, 2);
    const double n = sl_fixture_llama_all();

    q.workload.offload.optimizer = true;
    sl_expect_near(sl_fixture_bytes_of(&q, SL_TERM_PARAMETERS), 2.0 * n, 1e-8, "ZeRO-Offload: 2 N");
    expect_stepped_by_host(&q, 0.0, 16.0 * n, "12 N + 4 N");
    q.plan.zero_stage = 3;
    q.workload.offload.parameters = true;
    const sl_estimate *e = sl_fixture_answer(&q);
    CU_ASSERT_EQUAL(sl_fixture_bytes(&e->memory.ranks[0], SL_TERM_PARAMETERS), 0.0);
    sl_expect_near((double)e->memory.host_per_node.bytes, 18.0 * n, 1e-8, "and 2 N");
    sl_expect_near((double)e->memory.host_per_node.high_bytes, 27.0 * n, 1e-8, "half as much more");
    sl_expect_near((double)e->memory.host_per_node.start_bytes, 8.0 * 4.0 * n, 1e-8, "4 N a rank");
    q.workload.framework = SL_FRAMEWORK_FSDP2;
    e = sl_fixture_answer(&q);
    CU_ASSERT_EQUAL(e->memory.host_per_node.high_bytes, e->memory.host_per_node.bytes);
    CU_ASSERT_EQUAL(e->memory.host_per_node.start_bytes, 0);
}

/* Parameters, gradients and both moments in 16 bits. */
static void
fsdp_moves_gradients_as_they_are(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_FSDP2, 3);

    q.workload.layout = (sl_layout){2.0, 2.0, 0.0, 4.0};
    q.workload.offload = (sl_offload){.optimizer = true, .parameters = true};
    sl_expect_near((double)sl_fixture_answer(&q)->memory.host_per_node.bytes,
                   (2.0 + 2.0 + 4.0) * sl_fixture_llama_all(), 1e-8, "8 N");
}

/* Weights that the host steps on without a master copy, and fp16's one fp32 gradient. */
static void
what_a_host_steps_on_is_there_once(void)
{
    static const struct {
        sl_framework framework;
        sl_precision precision;
        sl_wire reduce;
        double bytes;
        const char *what;
    } rows[] = {
        {SL_FRAMEWORK_MEGATRON, SL_PRECISION_BF16, SL_WIRE_DEFAULT, 16.0, "4 + 8 + 4"},
        {SL_FRAMEWORK_MEGATRON, SL_PRECISION_BF16, SL_WIRE_BF16, 16.0, "made of a bf16 gradient"},
        {SL_FRAMEWORK_MEGATRON, SL_PRECISION_FP16, SL_WIRE_DEFAULT, 16.0, "made of an fp16 one"},
        {SL_FRAMEWORK_MEGATRON, SL_PRECISION_FP32, SL_WIRE_DEFAULT, 16.0, "the parameter itself"},
        {SL_FRAMEWORK_DEEPSPEED, SL_PRECISION_FP32, SL_WIRE_DEFAULT, 16.0, "the parameter itself"},
        {SL_FRAMEWORK_FSDP2, SL_PRECISION_BF16, SL_WIRE_DEFAULT, 16.0, "a copy of the parameter"},
    };
    const double n = sl_fixture_llama_all();

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const bool fsdp = rows[i].framework == SL_FRAMEWORK_FSDP2;
        sl_question q = llama_question(rows[i].framework, fsdp ? 3 : 1);
        q.workload.precision = rows[i].precision;
        q.workload.reduce = rows[i].reduce;
        if (rows[i].precision == SL_PRECISION_FP32)
            q.workload.attention = SL_ATTENTION_UNFUSED;
        q.workload.offload.optimizer = true;
        sl_expect_near((double)sl_fixture_answer(&q)->memory.host_per_node.bytes, rows[i].bytes * n,
                       1e-8, rows[i].what);
    }
}

/* Half more of states, not of activations, and not of buffers whose size is set. */
static void
deepspeed_spares_for_states_alone(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_DEEPSPEED, 3);
    const double n = sl_fixture_llama_all();
    const sl_hosted *host = &sl_fixture_answer(&q)->memory.host_per_node;

    sl_expect_near((double)host->start_bytes, 8.0 * 4.0 * n, 1e-8, "nothing leaves");
    CU_ASSERT_EQUAL(host->bytes, 0);
    q.workload.offload = (sl_offload){.optimizer = true, .activations = true};
    host = &sl_fixture_answer(&q)->memory.host_per_node;
    CU_ASSERT_TRUE((double)host->bytes > 16.0 * n);
    sl_expect_near((double)(host->high_bytes - host->bytes), 8.0 * n, 1e-8, "of 16 N");
    q.workload.offload = (sl_offload){.optimizer = true,
                                      .parameters = true,
                                      .optimizer_on_nvme = true,
                                      .parameters_on_nvme = true};
    host = &sl_fixture_answer(&q)->memory.host_per_node;
    sl_expect_near((double)(host->high_bytes - host->bytes), 1.0 * n, 1e-8, "of 2 N");
    q.workload.offload = (sl_offload){.activations = true};
    host = &sl_fixture_answer(&q)->memory.host_per_node;
    CU_ASSERT_EQUAL(host->high_bytes, host->bytes);
}

/* Of a pipeline each rank builds its stages; two replicas of four lie in a node of eight. */
static void
ranks_build_their_part_at_start(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_DEEPSPEED, 1);

    q.plan.pipeline = 4;
    q.plan.data = 2;
    sl_expect_near((double)sl_fixture_answer(&q)->memory.host_per_node.start_bytes,
                   2.0 * 4.0 * sl_fixture_llama_all(), 1e-8, "two models");
}

/* ZeRO-Infinity: 4 buffers of fp32 values, here of the whole part, which is below a sub-group; all
 * of the parameters' part, below 1e9 elements, and 5 buffers of 1e8. */
static void
disks_hold_what_passes_through_the_host(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_DEEPSPEED, 3);
    const double n = sl_fixture_llama_all();

    q.workload.offload.optimizer = q.workload.offload.optimizer_on_nvme = true;
    const sl_memory *memory = &sl_fixture_answer(&q)->memory;
    sl_expect_near((double)memory->nvme_bytes_per_node, 16.0 * n, 1e-8, "12 N + 4 N");
    sl_expect_near((double)memory->host_per_node.bytes, 4.0 * 4.0 * n, 1e-8, "buffers");
    q.workload.offload.parameters = q.workload.offload.parameters_on_nvme = true;
    memory = &sl_fixture_answer(&q)->memory;
    sl_expect_near((double)memory->nvme_bytes_per_node, 16.0 * n, 1e-8, "none below max_in_cpu");
    sl_expect_near((double)memory->host_per_node.bytes, (16.0 + 2.0) * n + 8.0 * 2.0 * 5e8, 1e-8,
                   "and the parameters' buffers");

    sl_errors err = {0};
    q.plan.zero_stage = 2;
    q.workload.offload.parameters = q.workload.offload.parameters_on_nvme = false;
    CU_ASSERT_EQUAL(sl_question_check(&q, &err), SL_E_RANGE);
    sl_expect_text(err.list[0].rule, "nvme_not_of_framework", "rule");
    sl_expect_text(err.list[0].pointer, "/workload/offload/optimizer", "pointer");
}

/* 4e9 updates a second and node; a host link of 20 GB/s; two micro-batches. */
static void
the_host_steps_at_its_own_rate(void)
{
    sl_question q = llama_question(SL_FRAMEWORK_DEEPSPEED, 2);
    const double n = sl_fixture_llama_all();

    q.workload.offload.optimizer = true;
    const sl_estimate *e = sl_fixture_answer(&q);
    const sl_term *step = &e->time.terms[SL_TERM_OPTIMIZER_STEP - SL_TERM_FORWARD];
    sl_expect_near(step->inputs[1].value, n / 4e9, 1e-8, "update");
    sl_expect_near(step->inputs[2].value, 2.0 * 2.0 * n / 8.0 / 20e9, 1e-8,
                   "gradients down, twice");
    sl_expect_near(step->inputs[4].value, 2.0 * n / 8.0 / 20e9, 1e-8, "parameters up");
    sl_expect_near(step->value,
                   step->inputs[1].value + step->inputs[3].value + step->inputs[4].value, 1e-12,
                   "the sum");
    CU_ASSERT_TRUE(step->inputs[3].value < step->inputs[2].value);
    const double kept_s = sl_fixture_seconds(e, SL_TERM_DATA_COMMUNICATION);
    q.plan.zero_stage = 3;
    q.workload.offload.parameters = true;
    e = sl_fixture_answer(&q);
    step = &e->time.terms[SL_TERM_OPTIMIZER_STEP - SL_TERM_FORWARD];
    CU_ASSERT_EQUAL(step->inputs[4].value, 0.0);
    CU_ASSERT_TRUE(sl_fixture_seconds(e, SL_TERM_DATA_COMMUNICATION) > kept_s);
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(megatron_leaves_gradients_on_the_device),
        SL_CASE(what_is_offloaded_is_in_the_host),
        SL_CASE(fsdp_moves_gradients_as_they_are),
        SL_CASE(what_a_host_steps_on_is_there_once),
        SL_CASE(deepspeed_spares_for_states_alone),
        SL_CASE(ranks_build_their_part_at_start),
        SL_CASE(disks_hold_what_passes_through_the_host),
        SL_CASE(the_host_steps_at_its_own_rate),
    };

    return sl_run_cases(argc, argv, "offloaded_states", cases, sizeof cases / sizeof cases[0]);
}
