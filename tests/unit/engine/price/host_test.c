/* Blocks that run on the host: what leaves the device, what its memory takes, how long it lasts. */
#include "engine_fixture.h"
#include "harness.h"

#include <math.h>
#include <string.h>

static const double s = 2048.0, h = 1024.0, blocks = 8.0, microbatches = 16.0;
static sl_cluster cluster;
static sl_software software;

/* One device, 16 micro-batches of one sequence; the host runs `count` blocks from block 2 on. */
static sl_question
ask(uint32_t count, double flops_per_s)
{
    const sl_dense_spec spec = sl_fixture_gpt((uint32_t)blocks, (uint64_t)h, 16);

    cluster = sl_fixture_cluster(1);
    cluster.accelerators_per_node = 1;
    software = sl_fixture_software();
    sl_question q = sl_fixture_question(sl_fixture_model(&spec), &cluster, &software);
    q.workload.framework = SL_FRAMEWORK_DDP;
    q.plan.data = 1;
    if (count > 0) {
        q.plan.host_run_count = 1;
        q.plan.host_runs[0] = (sl_host_run){
            .first = 2, .last = 1 + count, .flops_per_s = flops_per_s, .memory_bytes_per_s = 1e18};
    }
    return q;
}

static const sl_communication *
row_of(const sl_estimate *e, const char *group)
{
    for (uint32_t i = 0; i < e->time.communication_count; i++)
        if (strcmp(e->time.communication[i].group, group) == 0)
            return &e->time.communication[i];
    return NULL;
}

static void
states_and_activations_move_to_the_host(void)
{
    const double parameters = 12.0 * h * h + 13.0 * h;
    double on_device[3], on_host[3], kept[3];

    for (uint32_t count = 0; count < 3; count++) {
        const sl_question q = ask(count, 1e12);
        const sl_memory *memory = &sl_fixture_answer(&q)->memory;
        on_device[count] = sl_fixture_bytes(&memory->ranks[0], SL_TERM_PARAMETERS);
        kept[count] = sl_fixture_bytes(&memory->ranks[0], SL_TERM_ACTIVATIONS);
        on_host[count] = (double)memory->host_per_node.bytes;
    }
    CU_ASSERT_EQUAL(on_host[0], 0.0);
    sl_expect_near(on_device[0] - on_device[2], 2.0 * 4.0 * parameters, 0.0, "weights");
    sl_expect_near(on_host[2] - on_host[1], 16.0 * parameters + kept[0] - kept[1], 1e-12,
                   "4 + 4 + 8 bytes a parameter, and what the block keeps");
}

static void
a_block_takes_its_flops_at_the_rate_given(void)
{
    const double flops = 24.0 * s * h * h + 4.0 * s * s * h;
    double forward_s[2], backward_s[2];

    for (uint32_t i = 0; i < 2; i++) {
        const sl_question q = ask(1, 1e12 * (i + 1));
        const sl_estimate *e = sl_fixture_answer(&q);
        forward_s[i] = sl_fixture_seconds(e, SL_TERM_FORWARD);
        backward_s[i] = sl_fixture_seconds(e, SL_TERM_BACKWARD);
    }
    sl_expect_near(forward_s[0] - forward_s[1], microbatches * flops / 2e12, 1e-9, "forward");
    sl_expect_near(backward_s[0] - backward_s[1], microbatches * flops / 1e12, 1e-9,
                   "backward is twice");
}

static void
hidden_states_go_there_and_back_once_a_run(void)
{
    for (uint32_t count = 1; count <= 4; count++) {
        const sl_question q = ask(count, 1e12);
        const sl_communication *row = row_of(sl_fixture_answer(&q), "host");
        CU_ASSERT_PTR_NOT_NULL(row);
        if (row == NULL)
            return;
        /* In and out, forward and backward, 16 bits wide. */
        sl_expect_near(row->bytes_per_step, microbatches * 4.0 * 2.0 * s * h, 1e-12, "bytes");
        sl_expect_text(row->level, "host", "level");
    }
    const sl_question none = ask(0, 0.0);
    CU_ASSERT_PTR_NULL(row_of(sl_fixture_answer(&none), "host"));
}

static void
a_slow_host_slows_the_step_and_frees_the_device(void)
{
    sl_question q = ask(0, 0.0);
    const sl_estimate *e = sl_fixture_answer(&q);
    double step_s = e->time.step_s;
    uint64_t bytes = e->memory.ranks[0].device_total_bytes;

    for (uint32_t count = 1; count <= 6; count++) {
        q = ask(count, 0.0);
        q.plan.host_runs[0].memory_bytes_per_s = 0.0; /* the assumed rates */
        e = sl_fixture_answer(&q);
        double sum = 0.0;
        for (sl_term_id id = SL_TERM_FORWARD; id <= SL_TERM_OVERHEAD; id++)
            sum += sl_fixture_seconds(e, id);
        sl_expect_near(sum, e->time.step_s, 1e-12, "terms sum to the step");
        CU_ASSERT_TRUE(e->time.step_s > step_s);
        CU_ASSERT_TRUE(e->memory.ranks[0].device_total_bytes < bytes);
        step_s = e->time.step_s;
        bytes = e->memory.ranks[0].device_total_bytes;
    }
}

/* Block 3 is the last of the first of two stages. */
static void
stages_one_after_the_other_may_have_them(void)
{
    sl_question q = ask(2, 1e12);

    cluster.accelerators_per_node = 2;
    q.workload.framework = SL_FRAMEWORK_MEGATRON;
    q.plan.pipeline = 2;
    q.plan.schedule = SL_SCHEDULE_NAIVE;
    const sl_memory *memory = &sl_fixture_answer(&q)->memory;
    CU_ASSERT_EQUAL_FATAL(memory->rank_count, 2);
    CU_ASSERT_TRUE(memory->ranks[0].host.bytes > 0);
    CU_ASSERT_EQUAL(memory->ranks[1].host.bytes, 0);
    CU_ASSERT_EQUAL(memory->host_per_node.bytes, memory->ranks[0].host.bytes);
    q.plan.host_runs[0].last = 5; /* and the first two of the second */
    const sl_memory *both = &sl_fixture_answer(&q)->memory;
    CU_ASSERT_EQUAL(both->host_per_node.bytes,
                    both->ranks[0].host.bytes + both->ranks[1].host.bytes);
}

static void
refuse(const sl_question *q, sl_code code, const char *rule, const char *pointer)
{
    sl_errors err = {0};

    CU_ASSERT_EQUAL(sl_question_check(q, &err), code);
    CU_ASSERT_TRUE_FATAL(err.count >= 1);
    sl_expect_text(err.list[0].rule, rule, "rule");
    sl_expect_text(err.list[0].pointer, pointer, "pointer");
}

static void
what_no_code_runs_so_is_refused(void)
{
    sl_question q = ask(7, 1e12);

    refuse(&q, SL_E_RANGE, "out_of_range", "/parallelism/placement/0/layers");
    q = ask(2, 1e12);
    q.plan.host_run_count = 2;
    q.plan.host_runs[1] = (sl_host_run){.first = 3, .last = 3};
    refuse(&q, SL_E_RANGE, "overlapping", "/parallelism/placement/1/layers");
    q = ask(2, 1e12);
    q.workload.offload.optimizer = true;
    refuse(&q, SL_E_UNSUPPORTED, "not_modelled", "/parallelism/placement");
    q = ask(2, 1e12);
    cluster.accelerators_per_node = 2;
    q.plan.data = 2;
    refuse(&q, SL_E_UNSUPPORTED, "not_modelled", "/parallelism/placement");
    q = ask(2, 1e12);
    cluster.accelerator.host_bytes_per_s = 0.0;
    refuse(&q, SL_E_RANGE, "host_link_unknown", "/cluster/accelerator");
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(states_and_activations_move_to_the_host),
        SL_CASE(a_block_takes_its_flops_at_the_rate_given),
        SL_CASE(hidden_states_go_there_and_back_once_a_run),
        SL_CASE(a_slow_host_slows_the_step_and_frees_the_device),
        SL_CASE(stages_one_after_the_other_may_have_them),
        SL_CASE(what_no_code_runs_so_is_refused),
    };

    return sl_run_cases(argc, argv, "host", cases, sizeof cases / sizeof cases[0]);
}
