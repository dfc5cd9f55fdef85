/* A plan's step, simulated: beside the closed form, the memory estimate, and what streams allow. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine_fixture.h"
#include "harness.h"
#include "shardline/timeline.h"

static sl_cluster cluster;
static sl_software software;
static sl_timeline timeline;
static const sl_estimate *estimate;
static void *scratch;
static const double *slowness;
static const double *sizes;

static sl_question
llama_question(uint32_t nodes)
{
    sl_dense_spec spec = sl_fixture_llama();

    cluster = sl_fixture_cluster(nodes);
    software = sl_fixture_software();
    software.overlap_gradient_reduce = software.overlap_parameter_gather = true;
    software.overlap_pipeline = true;
    sl_question q = sl_fixture_question(sl_fixture_model(&spec), &cluster, &software);
    q.workload.attention = SL_ATTENTION_FLASH2;
    q.workload.global_batch = 64;
    return q;
}

/* Into `timeline`; false where the plan has none. */
static bool
simulate(const sl_question *q)
{
    sl_errors err = {0};
    size_t bytes = 0;

    estimate = sl_fixture_answer(q);
    free(scratch);
    scratch = NULL;
    if (sl_timeline_size(q, estimate, &bytes, &err) != SL_OK)
        return false;
    scratch = malloc(bytes);
    CU_ASSERT_PTR_NOT_NULL_FATAL(scratch);
    sl_timeline_simulate(q, estimate, slowness, sizes, scratch, &timeline);
    return true;
}

static void
expect_near_closed_form(const sl_question *q, double most, const char *what)
{
    CU_ASSERT_TRUE_FATAL(simulate(q));
    const double off = fabs(log(timeline.step_s / estimate->time.step_s));
    if (off > most)
        printf("  %s, schedule %d, framework %d, stage %u, overlap %d: %.4f s simulated, %.4f s in "
               "closed form\n",
               what, (int)q->plan.schedule, (int)q->workload.framework, q->plan.zero_stage,
               software.overlap_parameter_gather, timeline.step_s, estimate->time.step_s);
    CU_ASSERT_TRUE(off <= most);
}

/* Near, or within `most` where the answer says that it may not be. */
static void
expect_near_unless_coarse(const sl_question *q, double most, const char *what)
{
    CU_ASSERT_TRUE_FATAL(simulate(q));
    const bool coarse = sl_fixture_has_note(estimate, "closed_form_coarse");
    expect_near_closed_form(q, coarse ? most : 0.05, what);
}

static void
pipelines_take_what_the_closed_form_says(void)
{
    static const struct {
        sl_schedule schedule;
        uint32_t chunks;
        double most;
    } rows[] = {
        {SL_SCHEDULE_1F1B, 1, 0.02},  {SL_SCHEDULE_GPIPE, 1, 0.02},
        {SL_SCHEDULE_NAIVE, 1, 0.02}, {SL_SCHEDULE_INTERLEAVED_1F1B, 2, 0.02},
        {SL_SCHEDULE_ZB_H1, 1, 0.02}, {SL_SCHEDULE_ZB_H2, 1, 0.05},
        {SL_SCHEDULE_ZB_V, 2, 0.05},  {SL_SCHEDULE_DUALPIPE, 1, 0.05},
    };

    for (uint32_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (uint32_t overlapped = 0; overlapped < 2; overlapped++) {
            sl_question q = llama_question(4);
            software.overlap_gradient_reduce = software.overlap_parameter_gather = overlapped == 1;
            q.plan.pipeline = 4;
            q.plan.data = 8;
            q.plan.schedule = rows[i].schedule;
            q.plan.virtual_pipeline = rows[i].chunks;
            q.plan.zero_stage = 1;
            expect_near_closed_form(&q, rows[i].most, "pipeline");
        }
}

/* What a micro-batch waits for on one stage, those behind it wait for too. */
static void
sharded_pipelines_take_what_the_closed_form_says(void)
{
    static const sl_schedule schedules[] = {SL_SCHEDULE_1F1B, SL_SCHEDULE_GPIPE, SL_SCHEDULE_ZB_H1};

    for (uint32_t i = 0; i < sizeof schedules / sizeof schedules[0]; i++)
        for (uint32_t stage = 2; stage <= 3; stage++)
            for (uint32_t overlapped = 0; overlapped < 2; overlapped++) {
                sl_question q = llama_question(4);
                software.overlap_gradient_reduce = overlapped == 1;
                software.overlap_parameter_gather = overlapped == 1;
                q.workload.framework = SL_FRAMEWORK_FSDP2;
                q.plan.pipeline = 4;
                q.plan.data = 8;
                q.plan.schedule = schedules[i];
                q.plan.zero_stage = stage;
                expect_near_closed_form(&q, 0.02, "sharded pipeline");
            }
}

/* Sends beside computing, over links so slow that what comes back is waited for. */
static void
late_sends_take_what_the_closed_form_says(void)
{
    static const sl_schedule schedules[] = {SL_SCHEDULE_1F1B, SL_SCHEDULE_ZB_H1, SL_SCHEDULE_GPIPE};

    for (uint32_t slower = 1; slower <= 256; slower *= 4)
        for (uint32_t stages = 2; stages <= 4; stages *= 2)
            for (uint32_t i = 0; i < 3; i++) {
                sl_question q = llama_question(4);
                q.plan.pipeline = stages;
                q.plan.data = 32 / stages;
                q.plan.schedule = schedules[i];
                cluster.nic_bytes_per_s /= slower;
                q.workload.global_batch = 16 * q.plan.data;
                if (slower <= 4)
                    expect_near_closed_form(&q, 0.05, "late sends");
                else /* where a send takes about as long as a pass, lanes and trips hold up each
                        other */
                    expect_near_unless_coarse(&q, 0.15, "late sends");
            }
}

/* Parameters and gradients of one chunk under passes of others, over links so slow that most of it
 * is. */
static void
interleaved_chunks_hide_each_other_s_traffic(void)
{
    for (uint32_t slower = 1; slower <= 16; slower *= 2)
        for (uint32_t chunks = 2; chunks <= 4; chunks *= 2) {
            sl_question q = llama_question(16);
            q.plan.pipeline = 4;
            q.plan.virtual_pipeline = chunks;
            q.plan.schedule = SL_SCHEDULE_INTERLEAVED_1F1B;
            q.plan.data = 32;
            q.plan.zero_stage = 1;
            cluster.nic_bytes_per_s /= slower;
            q.workload.global_batch = 16 * q.plan.data;
            expect_near_unless_coarse(&q, 0.2, "interleaved");
            if (slower == 1)
                expect_near_closed_form(&q, chunks == 2 ? 0.02 : 0.05, "interleaved");
        }
}

/* Chunks that differ, and ZB-V with fewer micro-batches than fill it: the order itself is run. */
static void
few_passes_are_run_in_their_order(void)
{
    static const uint16_t layout[8] = {1, 4, 2, 2, 3, 1, 2, 1};

    for (uint32_t v_shape = 0; v_shape < 2; v_shape++)
        for (uint32_t beside = 0; beside < 2; beside++)
            for (uint32_t batches = 2; batches <= 32; batches *= 2) {
                sl_question q = llama_question(4);
                software.overlap_pipeline = beside == 1;
                q.plan.pipeline = 4;
                q.plan.virtual_pipeline = 2;
                q.plan.data = 8;
                q.plan.schedule = v_shape == 1 ? SL_SCHEDULE_ZB_V : SL_SCHEDULE_INTERLEAVED_1F1B;
                q.plan.layout_chunks = 8;
                memcpy(q.plan.layout, layout, sizeof layout);
                q.workload.global_batch = batches * q.plan.data;
                if (v_shape == 1 ? batches > 4 : batches % 4 != 0)
                    continue;
                expect_near_closed_form(&q, 0.02, "few passes");
                CU_ASSERT_FALSE(sl_fixture_has_note(estimate, "closed_form_coarse"));
            }
}

static void
layers_take_what_the_closed_form_says(void)
{
    static const sl_framework frameworks[] = {SL_FRAMEWORK_FSDP1, SL_FRAMEWORK_FSDP2,
                                              SL_FRAMEWORK_DEEPSPEED, SL_FRAMEWORK_MEGATRON,
                                              SL_FRAMEWORK_DDP};

    for (uint32_t i = 0; i < 5; i++)
        for (uint32_t stage = 0; stage <= 3; stage++)
            for (uint32_t overlapped = 0; overlapped < 2; overlapped++) {
                sl_question q = llama_question(4);
                const bool possible = frameworks[i] == SL_FRAMEWORK_MEGATRON    ? stage <= 1
                                      : frameworks[i] == SL_FRAMEWORK_DDP       ? stage == 0
                                      : frameworks[i] == SL_FRAMEWORK_DEEPSPEED ? stage >= 1
                                                                                : stage >= 2;
                if (!possible)
                    continue;
                software.overlap_gradient_reduce = overlapped == 1;
                software.overlap_parameter_gather = overlapped == 1;
                q.workload.framework = frameworks[i];
                q.plan.data = 32;
                q.plan.zero_stage = stage;
                expect_near_closed_form(&q, 0.05, "layers");
            }
}

/* Shards of a node or less, copies of them over the network, or in the node too. */
static void
hybrid_sharding_takes_what_the_closed_form_says(void)
{
    for (uint32_t shard = 1; shard <= 8; shard *= 2)
        for (uint64_t batches = 1; batches <= 4; batches *= 2)
            for (uint32_t nodes = 1; nodes <= 4; nodes *= 4) {
                sl_question q = llama_question(nodes);
                q.workload.framework = SL_FRAMEWORK_FSDP2;
                q.workload.global_batch = 8 * batches * nodes;
                q.workload.micro_batch = 1;
                q.plan.data = 8 * nodes;
                q.plan.shard_group = shard;
                q.plan.zero_stage = 3;
                if (shard == q.plan.data)
                    continue;
                expect_near_closed_form(&q, 0.05, "hybrid");
            }
}

/* A bucket is full when the last few blocks have theirs: here the head and half of the blocks. */
static void
gradients_are_reduced_by_the_bucket(void)
{
    sl_question q = llama_question(1);
    uint32_t reductions = 0;
    double before_s = 0.0;

    q.workload.framework = SL_FRAMEWORK_DEEPSPEED; /* of 5e8 elements, of 1.1e9 */
    q.workload.global_batch = 8;
    q.plan.data = 8;
    q.plan.zero_stage = 1;
    CU_ASSERT_TRUE_FATAL(simulate(&q));
    for (uint32_t i = 0; i < timeline.span_count; i++) {
        const sl_span span = sl_timeline_span(&timeline, i);
        if (span.kind != SL_SPAN_REDUCE)
            continue;
        CU_ASSERT_TRUE(span.start_s >= before_s);
        before_s = span.end_s;
        reductions++;
    }
    CU_ASSERT_EQUAL(reductions, 2);
}

/* The first stage keeps most micro-batches alive: embedding and blocks of all of them. */
static void
the_staircase_ends_where_the_memory_estimate_does(void)
{
    static const sl_schedule schedules[] = {SL_SCHEDULE_1F1B, SL_SCHEDULE_GPIPE, SL_SCHEDULE_NAIVE,
                                            SL_SCHEDULE_INTERLEAVED_1F1B};

    for (uint32_t i = 0; i < 4; i++) {
        sl_question q = llama_question(4);
        q.plan.pipeline = 4;
        q.plan.data = 8;
        q.plan.schedule = schedules[i];
        q.plan.virtual_pipeline = schedules[i] == SL_SCHEDULE_INTERLEAVED_1F1B ? 2 : 1;
        CU_ASSERT_TRUE_FATAL(simulate(&q));
        const sl_rank_memory *first = &estimate->memory.ranks[0];
        CU_ASSERT_EQUAL_FATAL(first->first_stage, 0);
        double kept = 0.0;
        for (uint32_t t = 0; t < first->term_count; t++)
            if (first->terms[t].id == SL_TERM_ACTIVATIONS)
                kept = first->terms[t].value;
        const uint64_t steps = sl_timeline_steps(&timeline, 0);
        double *at_s = malloc(steps * sizeof *at_s);
        uint64_t *bytes = malloc(steps * sizeof *bytes);
        uint64_t most = 0;
        if (at_s == NULL || bytes == NULL)
            abort();
        sl_timeline_staircase(&timeline, 0, at_s, bytes);
        for (uint64_t s = 0; s < steps; s++) {
            most = bytes[s] > most ? bytes[s] : most;
            CU_ASSERT_TRUE(s == 0 || at_s[s] >= at_s[s - 1]);
        }
        CU_ASSERT_EQUAL(bytes[steps - 1], 0);
        CU_ASSERT_EQUAL(most, timeline.stages[0].peak_bytes);
        sl_expect_near((double)most, kept, 1e-6, "in flight"); /* bytes are whole */
        free(at_s);
        free(bytes);
    }
}

static bool
same_lane(const sl_span *a, const sl_span *b)
{
    const bool data_a = a->kind == SL_SPAN_GATHER || a->kind == SL_SPAN_REDUCE;
    const bool data_b = b->kind == SL_SPAN_GATHER || b->kind == SL_SPAN_REDUCE;

    return a->stage == b->stage && a->stream == b->stream && data_a == data_b;
}

static void
what_runs_in_one_stream_does_not_overlap(void)
{
    for (uint32_t pipeline = 1; pipeline <= 4; pipeline *= 4) {
        sl_question q = llama_question(4);
        q.plan.pipeline = pipeline;
        q.plan.data = 32 / pipeline;
        q.workload.framework = pipeline == 1 ? SL_FRAMEWORK_FSDP2 : SL_FRAMEWORK_MEGATRON;
        q.plan.zero_stage = pipeline == 1 ? 3 : 1;
        CU_ASSERT_TRUE_FATAL(simulate(&q));
        for (uint32_t i = 1; i < timeline.span_count; i++) {
            const sl_span before = sl_timeline_span(&timeline, i - 1);
            const sl_span span = sl_timeline_span(&timeline, i);
            CU_ASSERT_TRUE(span.start_s >= 0.0 && span.end_s >= span.start_s);
            CU_ASSERT_TRUE(span.end_s <= timeline.end_s);
            CU_ASSERT_TRUE(!same_lane(&before, &span) || span.start_s >= before.end_s);
        }
    }
}

/* Gathered no earlier than the layer before it begins, there when it is needed; reduced after its
 * backward. */
static void
fsdp_gathers_one_unit_ahead(void)
{
    sl_question q = llama_question(4);
    double forward_s[64] = {0.0}, backward_end_s[64] = {0.0};
    uint32_t gathers = 0, reductions = 0;

    q.workload.framework = SL_FRAMEWORK_FSDP2;
    q.workload.global_batch = 32;
    q.plan.data = 32;
    q.plan.zero_stage = 3;
    CU_ASSERT_TRUE_FATAL(simulate(&q));
    CU_ASSERT_TRUE(timeline.by_layer);
    for (uint32_t i = 0; i < timeline.span_count; i++) {
        const sl_span span = sl_timeline_span(&timeline, i);
        if (span.kind == SL_SPAN_FORWARD)
            forward_s[span.layer] = span.start_s;
        if (span.kind == SL_SPAN_BACKWARD)
            backward_end_s[span.layer] = span.end_s;
        if (span.kind == SL_SPAN_REDUCE) {
            CU_ASSERT_TRUE(span.start_s >= backward_end_s[span.layer]);
            reductions++;
        }
        if (span.kind != SL_SPAN_GATHER || gathers++ > 16) /* of forward */
            continue;
        CU_ASSERT_TRUE(span.end_s <= forward_s[span.layer]);
        CU_ASSERT_TRUE(span.layer < 2 || span.start_s >= forward_s[span.layer - 1]);
    }
    CU_ASSERT_EQUAL(reductions, 17); /* the root and every block */
    CU_ASSERT_EQUAL(gathers, 17 + 16);
}

/* Everyone waits for it: half as slow again, its passes set the pace of the steady state. */
static void
a_slow_stage_slows_all(void)
{
    static double ratios[SL_PIPELINE_MAX];
    sl_question q = llama_question(4);

    for (uint32_t i = 0; i < SL_PIPELINE_MAX; i++)
        ratios[i] = i == 1 ? 1.5 : 1.0;
    q.plan.pipeline = 4;
    q.plan.data = 8;
    CU_ASSERT_TRUE_FATAL(simulate(&q));
    const double step_s = timeline.step_s;
    const double busy_s = timeline.stages[1].busy_s;
    slowness = ratios;
    CU_ASSERT_TRUE_FATAL(simulate(&q));
    slowness = NULL;
    sl_expect_near(timeline.stages[1].busy_s, 1.5 * busy_s, 1e-9, "its passes");
    CU_ASSERT_TRUE(timeline.step_s > 1.02 * step_s);
    CU_ASSERT_TRUE(timeline.step_s > timeline.stages[1].busy_s);
    CU_ASSERT_TRUE(timeline.step_s < step_s + 0.6 * busy_s);
}

/* One of twice the size among halves: the same work in all, kept longer where it is. */
static void
micro_batches_of_several_sizes_do_the_same_work(void)
{
    static double ratios[8] = {0.5, 0.5, 2.0, 0.5, 0.5, 2.0, 1.0, 1.0};
    sl_question q = llama_question(4);

    q.plan.pipeline = 4;
    q.plan.data = 8;
    q.workload.micro_batch = 1;
    CU_ASSERT_TRUE_FATAL(simulate(&q));
    CU_ASSERT_EQUAL_FATAL(sl_plan_microbatches(&estimate->workload, &estimate->plan), 8);
    const sl_stage_run even = timeline.stages[0];
    const double step_s = timeline.step_s;
    sizes = ratios;
    CU_ASSERT_TRUE_FATAL(simulate(&q));
    sizes = NULL;
    sl_expect_near(timeline.stages[0].busy_s, even.busy_s, 1e-9, "passes of the first stage");
    CU_ASSERT_TRUE(timeline.step_s > step_s); /* the largest sets the pace */
    CU_ASSERT_TRUE(timeline.stages[3].peak_bytes > even.peak_bytes / 4);
}

/* Down beside backward, updated, and up again: together the optimizer step of the estimate, which
 * no simulated second is added to. */
static void
a_host_steps_between_two_copies(void)
{
    for (uint32_t pipeline = 1; pipeline <= 4; pipeline *= 4) {
        sl_question q = llama_question(4);
        double step_s = 0.0;
        uint32_t updates = 0, copies = 0, swept = 0;
        q.plan.pipeline = pipeline;
        q.plan.data = 32 / pipeline;
        q.plan.zero_stage = pipeline == 1 ? 2 : 1;
        q.workload.framework = pipeline == 1 ? SL_FRAMEWORK_DEEPSPEED : SL_FRAMEWORK_MEGATRON;
        cluster.accelerator.host_bytes_per_s = 5e10;
        q.workload.offload.optimizer = true;
        CU_ASSERT_TRUE_FATAL(simulate(&q));
        for (uint32_t i = 0; i < timeline.span_count; i++) {
            const sl_span span = sl_timeline_span(&timeline, i);
            const sl_host_update *host = &timeline.stages[span.stage].host;
            copies += span.stream == SL_STREAM_COPY;
            CU_ASSERT_EQUAL(span.stream == SL_STREAM_COPY, span.kind == SL_SPAN_GRADIENTS_DOWN ||
                                                               span.kind == SL_SPAN_PARAMETERS_UP);
            if (span.kind != SL_SPAN_OPTIMIZER)
                continue;
            if (span.stream == SL_STREAM_COMPUTE) { /* gradients that stay, before they are sent */
                CU_ASSERT_TRUE(span.start_s < span.end_s && span.end_s <= host->down_start_s);
                swept++;
                continue;
            }
            updates++;
            CU_ASSERT_EQUAL(span.stream, SL_STREAM_HOST);
            CU_ASSERT_TRUE(host->down_start_s < span.start_s && span.start_s < span.end_s);
            CU_ASSERT_TRUE(span.end_s < host->end_s);
            step_s = fmax(step_s, host->end_s - timeline.stages[span.stage].end_s);
        }
        CU_ASSERT_EQUAL(updates, pipeline);
        CU_ASSERT_EQUAL(copies, 2 * pipeline);
        CU_ASSERT_EQUAL(swept, pipeline == 1 ? 0 : pipeline);
        CU_ASSERT_TRUE(step_s > 0.0);
        expect_near_closed_form(&q, log(1.05), "on the host");
    }
}

/* Half on the host, and the other half on its device meanwhile. */
static void
a_device_updates_beside_its_host(void)
{
    sl_question q = llama_question(4);
    double host_s[4] = {0.0}, device_s[4] = {0.0};

    q.plan.pipeline = 4;
    q.plan.data = 8;
    q.plan.zero_stage = 1;
    cluster.accelerator.host_bytes_per_s = 5e10;
    q.workload.offload = (sl_offload){.optimizer = true, .optimizer_fraction = 0.5};
    CU_ASSERT_TRUE_FATAL(simulate(&q));
    for (uint32_t i = 0; i < timeline.span_count; i++) {
        const sl_span span = sl_timeline_span(&timeline, i);
        const double update_s = timeline.stages[span.stage].host.update_start_s;
        if (span.kind != SL_SPAN_OPTIMIZER || span.start_s < update_s)
            continue;
        CU_ASSERT_EQUAL(span.start_s, update_s);
        (span.stream == SL_STREAM_HOST ? host_s : device_s)[span.stage] += span.end_s - update_s;
    }
    for (uint32_t r = 0; r < 4; r++)
        CU_ASSERT_TRUE(device_s[r] > 0.0 && device_s[r] < host_s[r]);
    expect_near_closed_form(&q, log(1.05), "on both");
}

/* Of 8 devices, one after the other and nothing beside a pass: what the closed form adds up. */
static void
replicas_are_lent_for_a_micro_batch(void)
{
    static const sl_span_kind turns[] = {
        SL_SPAN_BROADCAST,         SL_SPAN_SCATTER_INPUTS, SL_SPAN_FORWARD, SL_SPAN_GATHER_OUTPUTS,
        SL_SPAN_SCATTER_GRADIENTS, SL_SPAN_BACKWARD,       SL_SPAN_REDUCE};
    enum { TURNS = sizeof turns / sizeof turns[0] };
    sl_question q = llama_question(1);
    double begin_s[2 * TURNS], end_s[2 * TURNS] = {0.0};

    q.workload.framework = SL_FRAMEWORK_DP;
    q.workload.global_batch = 16; /* two micro-batches of one */
    CU_ASSERT_TRUE_FATAL(simulate(&q));
    sl_expect_near(timeline.step_s, estimate->time.step_s, 1e-12, "step");
    for (uint32_t i = 0; i < 2 * TURNS; i++)
        begin_s[i] = timeline.end_s;
    for (uint32_t i = 0; i < timeline.span_count; i++) {
        const sl_span span = sl_timeline_span(&timeline, i);
        for (uint32_t turn = 0; turn < TURNS; turn++) {
            if (span.kind != turns[turn])
                continue;
            const uint32_t at = span.microbatch * TURNS + turn;
            begin_s[at] = fmin(begin_s[at], span.start_s);
            end_s[at] = fmax(end_s[at], span.end_s);
        }
    }
    for (uint32_t i = 0; i < 2 * TURNS; i++) {
        CU_ASSERT_TRUE(end_s[i] > begin_s[i]);
        CU_ASSERT_EQUAL(begin_s[i], i == 0 ? 0.0 : end_s[i - 1]);
    }
}

/* Up from the host before they are gathered, or used where there is none to gather from; the link
 * is the device's own, of a tenth of what it computes with or of ten times that. */
static void
parameters_come_from_the_host_before_they_are_gathered(void)
{
    static const double links[] = {5e9, 5e11};

    for (uint32_t i = 0; i < 2; i++) {
        sl_question q = llama_question(4);
        double came_s[64] = {0.0};
        uint32_t came = 0;
        cluster.accelerator.host_bytes_per_s = links[i];
        q.workload.framework = SL_FRAMEWORK_FSDP2;
        q.workload.global_batch = 32;
        q.workload.offload.parameters = q.workload.offload.optimizer = true;
        q.plan.data = 32;
        q.plan.zero_stage = 3;
        expect_near_closed_form(&q, 0.05, "offloaded parameters");
        for (uint32_t s = 0; s < timeline.span_count; s++) {
            const sl_span span = sl_timeline_span(&timeline, s);
            if (span.kind == SL_SPAN_PARAMETERS_UP && span.layer != SL_SPAN_NONE) {
                CU_ASSERT_EQUAL(span.stream, SL_STREAM_COPY);
                came_s[span.layer] = came++ < 17 ? span.end_s : came_s[span.layer];
            }
        }
        CU_ASSERT_EQUAL(came, 17 + 16);
        for (uint32_t s = 0; s < timeline.span_count; s++) {
            const sl_span span = sl_timeline_span(&timeline, s);
            if (span.kind == SL_SPAN_GATHER)
                CU_ASSERT_TRUE(span.start_s >= came_s[span.layer]);
        }
    }
}

/* Down once a block's forward has run, up again before its backward; over a slow link passes wait
 * for it, as the estimate says. Beside the embedding and the head two blocks are on the device. */
static void
activations_wait_on_the_host_for_their_backward(void)
{
    static const double links[] = {2e9, 1e10, 1e12};

    for (uint32_t i = 0; i < 3; i++) {
        sl_question q = llama_question(1);
        double down_s[64] = {0.0}, up_s[64] = {0.0}, forward_s[64] = {0.0};
        q.workload.global_batch = 8;
        q.plan.data = 8;
        CU_ASSERT_TRUE_FATAL(simulate(&q));
        const uint64_t kept = timeline.stages[0].peak_bytes;
        const double step_s = timeline.step_s;
        cluster.accelerator.host_bytes_per_s = links[i];
        q.workload.offload.activations = true;
        expect_near_closed_form(&q, 0.05, "activations on the host");
        if (i == 2)
            sl_expect_near(timeline.step_s, step_s, 1e-9, "nothing waits");
        else
            CU_ASSERT_TRUE(timeline.step_s > 1.2 * step_s);
        CU_ASSERT_TRUE(timeline.stages[0].peak_bytes < kept / 2);
        for (uint32_t s = 0; s < timeline.span_count; s++) {
            const sl_span span = sl_timeline_span(&timeline, s);
            if (span.kind == SL_SPAN_FORWARD)
                forward_s[span.layer] = span.end_s;
            if (span.kind == SL_SPAN_ACTIVATIONS_DOWN) {
                CU_ASSERT_TRUE(span.start_s >= forward_s[span.layer]);
                down_s[span.layer] = span.end_s;
            }
            if (span.kind == SL_SPAN_ACTIVATIONS_UP) {
                CU_ASSERT_TRUE(span.start_s >= down_s[span.layer]);
                up_s[span.layer] = span.end_s;
            }
        }
        for (uint32_t s = 0; s < timeline.span_count; s++) {
            const sl_span span = sl_timeline_span(&timeline, s);
            if (span.kind == SL_SPAN_BACKWARD)
                CU_ASSERT_TRUE(span.start_s >= up_s[span.layer]);
        }
        CU_ASSERT_TRUE(up_s[1] > 0.0 && up_s[15] > 0.0);
        CU_ASSERT_TRUE(up_s[0] == 0.0 && up_s[16] == 0.0); /* the embedding, the last block */
    }
}

static void
what_has_no_timeline_is_refused_by_name(void)
{
    sl_question q = llama_question(4);
    sl_errors err = {0};
    size_t bytes = 0;

    q.plan.pipeline = 4;
    q.plan.data = 8;
    q.workload.global_batch = (uint64_t)1 << 22;
    CU_ASSERT_EQUAL(sl_timeline_size(&q, sl_fixture_answer(&q), &bytes, &err), SL_E_RANGE);
    sl_expect_text(err.list[0].rule, "timeline_too_large", "rule");
}

static const sl_case cases[] = {
    SL_CASE(pipelines_take_what_the_closed_form_says),
    SL_CASE(sharded_pipelines_take_what_the_closed_form_says),
    SL_CASE(late_sends_take_what_the_closed_form_says),
    SL_CASE(interleaved_chunks_hide_each_other_s_traffic),
    SL_CASE(few_passes_are_run_in_their_order),
    SL_CASE(layers_take_what_the_closed_form_says),
    SL_CASE(hybrid_sharding_takes_what_the_closed_form_says),
    SL_CASE(gradients_are_reduced_by_the_bucket),
    SL_CASE(the_staircase_ends_where_the_memory_estimate_does),
    SL_CASE(what_runs_in_one_stream_does_not_overlap),
    SL_CASE(fsdp_gathers_one_unit_ahead),
    SL_CASE(a_slow_stage_slows_all),
    SL_CASE(micro_batches_of_several_sizes_do_the_same_work),
    SL_CASE(a_host_steps_between_two_copies),
    SL_CASE(a_device_updates_beside_its_host),
    SL_CASE(replicas_are_lent_for_a_micro_batch),
    SL_CASE(parameters_come_from_the_host_before_they_are_gathered),
    SL_CASE(activations_wait_on_the_host_for_their_backward),
    SL_CASE(what_has_no_timeline_is_refused_by_name),
};

int
main(int argc, char **argv)
{
    const int code = sl_run_cases(argc, argv, "timeline", cases, sizeof cases / sizeof cases[0]);

    free(scratch);
    return code;
}
