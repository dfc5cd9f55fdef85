#include "shardline/timeline.h"

#include <assert.h>
#include <math.h>

#include "engine/answer/evaluate.h"
#include "engine/placement/lent.h"
#include "engine/placement/pools.h"
#include "engine/placement/ranks.h"
#include "engine/schedule/timeline_parts.h"

static sl_code
check_order(const sl_estimate *estimate, sl_errors *err)
{
    const sl_plan *plan = &estimate->plan;
    const uint64_t m = sl_plan_microbatches(&estimate->workload, plan);

    if (!sl_plan_goes_by_layer(plan) && !sl_order_exists(plan, m))
        return sl_fail(err, SL_E_UNSUPPORTED, "not_modelled", "/parallelism/schedule",
                       "the schedule has no order for %llu micro-batches on %u stages with %u "
                       "chunks each",
                       (unsigned long long)m, plan->pipeline, plan->virtual_pipeline);
    return SL_OK;
}

sl_code
sl_timeline_size(const sl_question *question, const sl_estimate *estimate, size_t *bytes,
                 sl_errors *err)
{
    const sl_question *q = question;
    const sl_memory_case c = {
        .question = q, .workload = &estimate->workload, .plan = &estimate->plan};
    const sl_code code = check_order(estimate, err);

    if (code != SL_OK)
        return code;
    const sl_pipeline_size size =
        sl_plan_goes_by_layer(&estimate->plan) ? sl_layers_size(&c) : sl_stages_size(&c);
    if (size.bytes == UINT64_MAX || size.tasks > SL_SPANS_MAX)
        return sl_fail(err, SL_E_RANGE, "timeline_too_large", "/workload/global_batch_size",
                       "a timeline has at most %d spans, this step more: take fewer micro-batches",
                       SL_SPANS_MAX);
    *bytes = size.bytes;
    return SL_OK;
}

/* What is there from step to step on the ranks of a stage. */
static uint64_t
persistent_bytes(const sl_memory *memory, uint32_t stage)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < memory->rank_count; i++) {
        const sl_rank_memory *rank = &memory->ranks[i];
        if (stage < rank->first_stage || stage >= rank->first_stage + rank->stage_count)
            continue;
        for (uint32_t t = 0; t < rank->term_count; t++)
            if (sl_term_describe(rank->terms[t].id)->lifetime == SL_LIFETIME_PERSISTENT)
                bytes += (uint64_t)rank->terms[t].value;
        break;
    }
    return bytes;
}

static void
sum_stages(const sl_stages_run *of, sl_timeline *out)
{
    const sl_pipeline_run *run = &of->run;
    double begin_s = run->step_s;
    double end_s = 0.0;
    double busy_s = 0.0;

    for (uint32_t r = 0; r < out->stage_count; r++) {
        const sl_rank_run *rank = &run->ranks[r];
        out->stages[r].begin_s = rank->begin_s;
        out->stages[r].end_s = rank->end_s;
        out->stages[r].busy_s = rank->busy_s;
        out->stages[r].peak_bytes = rank->peak_bytes;
        begin_s = fmin(begin_s, rank->begin_s);
        end_s = fmax(end_s, rank->end_s);
        busy_s += rank->busy_s;
    }
    out->step_s = sl_stages_step_s(of);
    out->end_s = run->step_s;
    out->span_count = run->task_count;
    out->idle_ratio = end_s > begin_s ? 1.0 - busy_s / (out->stage_count * (end_s - begin_s)) : 0.0;
}

static void
sum_layers(const sl_layers_run *run, sl_timeline *out)
{
    sl_stage_run *stage = &out->stages[0];
    const uint32_t last = run->passes - 1;

    stage->begin_s = run->start_s[0];
    stage->end_s = run->end_s[last];
    for (uint32_t pass = 0; pass < run->passes; pass++)
        stage->busy_s += run->end_s[pass] - run->start_s[pass];
    stage->peak_bytes = sl_layers_staircase(run, NULL, NULL);
    out->step_s = out->end_s = run->step_s;
    out->span_count = run->task_count;
    out->idle_ratio = 1.0 - stage->busy_s / (stage->end_s - stage->begin_s);
}

static sl_span run_span(const sl_timeline *timeline, uint32_t index);

/* What stands beside an update on the host, of each stage, in this order; what a device sweeps and
 * updates only where it does. */
enum { GRADIENTS_DOWN, PARAMETERS_UP, SWEPT, UPDATED_BESIDE };

static uint32_t
host_spans(const sl_workload *workload)
{
    if (!workload->offload.optimizer)
        return 0;
    if (workload->framework != SL_FRAMEWORK_MEGATRON)
        return PARAMETERS_UP + 1;
    return sl_states_away(workload) < 1.0 ? UPDATED_BESIDE + 1 : SWEPT + 1;
}

/* When the last of what blocks keep has gone down: gradients follow over the same link. */
static double
activations_down_s(const sl_timeline *timeline)
{
    double end_s = 0.0;

    for (uint32_t i = 0; i < timeline->span_count; i++) {
        const sl_span span = run_span(timeline, i);
        if (span.kind == SL_SPAN_ACTIVATIONS_DOWN)
            end_s = fmax(end_s, span.end_s);
    }
    return end_s;
}

/* What is simulated as one optimizer step, on the host: the end of it goes up again, the beginning
 * is what the device sweeps and what backward could not hide of the way down. */
static void
set_host(const sl_memory_case *c, sl_timeline *out)
{
    const double free_s = activations_down_s(out);

    for (uint32_t i = 0; i < out->span_count; i++) {
        const sl_span span = run_span(out, i);
        if (span.kind != SL_SPAN_OPTIMIZER)
            continue;
        sl_stage_run *const stage = &out->stages[span.stage];
        const sl_shared_update step =
            sl_step_on_host(c, &sl_holding_of(c->holdings, span.stage)->elements);
        const double longer_s = fmax(step.host.update_s, step.device_s);
        const double up_s = fmax(span.start_s, span.end_s - step.host.parameters_s);
        const double update_s = fmax(span.start_s, up_s - longer_s);
        stage->host = (sl_host_update){
            .swept_start_s = span.start_s,
            .swept_end_s = fmin(span.start_s + step.swept_s, update_s),
            .down_start_s = fmax(fmax(stage->begin_s, free_s), update_s - step.host.gradients_s),
            .update_start_s = update_s,
            .updated_s = fmin(update_s + step.host.update_s, up_s),
            .device_end_s = fmin(update_s + step.device_s, up_s),
            .up_start_s = up_s,
            .end_s = span.end_s,
        };
    }
    out->host_spans = host_spans(c->workload);
    out->span_count += out->host_spans * out->stage_count;
}

void
sl_timeline_simulate(const sl_question *question, const sl_estimate *estimate,
                     const double slowness[SL_PIPELINE_MAX], const double *sizes, void *scratch,
                     sl_timeline *out)
{
    sl_known of;
    const uint64_t stride = sl_ranks_strides(&estimate->plan).pipeline;
    uint64_t first_rank = 0;

    sl_evaluate_know(question, estimate, &of);
    *out = (sl_timeline){.stage_count = estimate->plan.pipeline,
                         .by_layer = sl_plan_goes_by_layer(&estimate->plan)};
    assert(sizes == NULL || !out->by_layer);
    if (out->by_layer) {
        const sl_layers_run *run = NULL;
        const sl_time *time = &estimate->time;
        sl_memory_case space;
        const sl_memory_case *c =
            sl_case_is_spread(&of.c)
                ? sl_case_of_spread(&of.c, time->slowest_pool, time->slowest_links, &space)
                : &of.c;
        sl_layers_simulate(c, time, slowness == NULL ? 1.0 : slowness[0], scratch, &run);
        sum_layers(run, out);
        out->run = run;
    } else {
        const sl_stages_run *run = NULL;
        sl_stages_simulate(&of.c, &estimate->time, slowness, sizes, scratch, &run);
        sum_stages(run, out);
        out->run = run;
    }
    const sl_data_groups groups = sl_step_data_groups(&of.c);
    out->data_ranks = (uint32_t)groups.shard.ranks;
    out->replica_ranks = (uint32_t)groups.replicas.ranks;
    out->reduces_all = estimate->plan.zero_stage == 0 &&
                       sl_lent_devices(&estimate->workload, &estimate->plan) == 0;
    out->idle_ratio = fmax(0.0, out->idle_ratio);
    for (uint32_t r = 0; r < out->stage_count; r++) {
        out->stages[r].rank = r * stride;
        out->stages[r].pool = sl_pools_of_rank(question->cluster, r * stride, &first_rank);
        out->stages[r].base_bytes = persistent_bytes(&estimate->memory, r);
    }
    if (sl_case_is_spread(&of.c)) { /* drawn is a rank of the pool that the others wait for */
        out->stages[0].pool = estimate->time.slowest_pool;
        out->stages[0].rank = estimate->memory.ranks[estimate->time.slowest_pool].rank;
    }
    if (estimate->workload.offload.optimizer)
        set_host(&of.c, out);
    out->span_count++; /* the overhead */
    const double overhead_s = sl_step_overhead_s(&of.c, out->step_s, estimate->time.filling_s);
    out->step_s += overhead_s;
    out->end_s += overhead_s;
}

static sl_span
stages_span(const sl_stages_run *of, uint32_t index)
{
    const sl_event event = sl_pipeline_event(&of->run, index);
    const bool passes = event.kind <= SL_SPAN_SEND_GRADIENT;
    const bool data = event.kind == SL_SPAN_GATHER || event.kind == SL_SPAN_REDUCE;

    return (sl_span){
        .stage = event.rank,
        .stream = event.stream,
        .kind = (sl_span_kind)event.kind,
        .microbatch = passes ? event.microbatch : SL_SPAN_NONE,
        .chunk = passes || data ? event.chunk : SL_SPAN_NONE,
        .layer = SL_SPAN_NONE,
        .start_s = event.start_s,
        .end_s = event.end_s,
    };
}

/* When all but the overhead is over. */
static double
run_end_s(const sl_timeline *timeline)
{
    if (timeline->by_layer) {
        const sl_layers_run *layers = timeline->run;
        return layers->step_s;
    }
    const sl_stages_run *stages = timeline->run;
    return stages->run.step_s;
}

static sl_span
run_span(const sl_timeline *timeline, uint32_t index)
{
    return timeline->by_layer ? sl_layers_span(timeline->run, index)
                              : stages_span(timeline->run, index);
}

static sl_span
host_span(const sl_timeline *timeline, uint32_t stage, uint32_t which)
{
    const sl_host_update *const host = &timeline->stages[stage].host;
    const struct {
        sl_stream stream;
        sl_span_kind kind;
        double start_s, end_s;
    } spans[] = {
        [GRADIENTS_DOWN] = {SL_STREAM_COPY, SL_SPAN_GRADIENTS_DOWN, host->down_start_s,
                            host->update_start_s},
        [PARAMETERS_UP] = {SL_STREAM_COPY, SL_SPAN_PARAMETERS_UP, host->up_start_s, host->end_s},
        [SWEPT] = {SL_STREAM_COMPUTE, SL_SPAN_OPTIMIZER, host->swept_start_s, host->swept_end_s},
        [UPDATED_BESIDE] = {SL_STREAM_COMPUTE, SL_SPAN_OPTIMIZER, host->update_start_s,
                            host->device_end_s},
    };

    assert(which < sizeof spans / sizeof spans[0]);
    return (sl_span){
        .stage = stage,
        .stream = spans[which].stream,
        .kind = spans[which].kind,
        .microbatch = SL_SPAN_NONE,
        .chunk = SL_SPAN_NONE,
        .layer = SL_SPAN_NONE,
        .start_s = spans[which].start_s,
        .end_s = spans[which].end_s,
    };
}

sl_span
sl_timeline_span(const sl_timeline *timeline, uint32_t index)
{
    assert(index < timeline->span_count);
    const uint32_t beside = timeline->host_spans;
    const uint32_t tasks = timeline->span_count - 1 - beside * timeline->stage_count;

    if (index + 1 == timeline->span_count)
        return (sl_span){
            .stream = SL_STREAM_HOST,
            .kind = SL_SPAN_OVERHEAD,
            .microbatch = SL_SPAN_NONE,
            .chunk = SL_SPAN_NONE,
            .layer = SL_SPAN_NONE,
            .start_s = run_end_s(timeline),
            .end_s = timeline->end_s,
        };
    if (index >= tasks)
        return host_span(timeline, (index - tasks) / beside, (index - tasks) % beside);
    sl_span span = run_span(timeline, index);
    if (beside > 0 && span.kind == SL_SPAN_OPTIMIZER) {
        span.stream = SL_STREAM_HOST;
        span.start_s = timeline->stages[span.stage].host.update_start_s;
        span.end_s = timeline->stages[span.stage].host.updated_s;
    }
    return span;
}

void
sl_timeline_takers(const sl_timeline *timeline, uint32_t *takers)
{
    const sl_stages_run *stages = timeline->run;

    for (uint32_t i = 0; i < timeline->span_count; i++)
        takers[i] = SL_SPAN_NONE;
    if (!timeline->by_layer)
        sl_pipeline_takers(&stages->run, takers);
}

uint64_t
sl_timeline_steps(const sl_timeline *timeline, uint32_t stage)
{
    const sl_stages_run *stages = timeline->run;

    assert(stage < timeline->stage_count);
    if (timeline->by_layer)
        return sl_layers_steps(timeline->run);
    return stages->run.tasks.lane_first[stage + 1] - stages->run.tasks.lane_first[stage];
}

void
sl_timeline_staircase(const sl_timeline *timeline, uint32_t stage, double *at_s, uint64_t *bytes)
{
    const sl_stages_run *stages = timeline->run;

    assert(stage < timeline->stage_count);
    if (timeline->by_layer)
        (void)sl_layers_staircase(timeline->run, at_s, bytes);
    else
        (void)sl_pipeline_staircase(&stages->run, stage, at_s, bytes);
}

const char *
sl_span_kind_name(sl_span_kind kind)
{
    static const char *const names[] = {
        [SL_SPAN_FORWARD] = "forward",
        [SL_SPAN_BACKWARD] = "backward",
        [SL_SPAN_BACKWARD_INPUT] = "backward_input",
        [SL_SPAN_BACKWARD_WEIGHT] = "backward_weight",
        [SL_SPAN_SEND_OUTPUT] = "send_output",
        [SL_SPAN_SEND_GRADIENT] = "send_gradient",
        [SL_SPAN_GATHER] = "gather",
        [SL_SPAN_REDUCE] = "reduce",
        [SL_SPAN_OPTIMIZER] = "optimizer",
        [SL_SPAN_BARRIER] = "barrier",
        [SL_SPAN_REDUCE_REPLICAS] = "reduce_replicas",
        [SL_SPAN_OVERHEAD] = "overhead",
        [SL_SPAN_GRADIENTS_DOWN] = "gradients_down",
        [SL_SPAN_PARAMETERS_UP] = "parameters_up",
        [SL_SPAN_ACTIVATIONS_DOWN] = "activations_down",
        [SL_SPAN_ACTIVATIONS_UP] = "activations_up",
        [SL_SPAN_BROADCAST] = "broadcast",
        [SL_SPAN_SCATTER_INPUTS] = "scatter_inputs",
        [SL_SPAN_GATHER_OUTPUTS] = "gather_outputs",
        [SL_SPAN_SCATTER_GRADIENTS] = "scatter_gradients",
    };
    _Static_assert(sizeof names / sizeof names[0] == SL_SPAN_KINDS, "a name per kind");

    return names[kind];
}

const char *
sl_stream_name(sl_stream stream)
{
    static const char *const names[] = {
        [SL_STREAM_HOST] = "host",         [SL_STREAM_COMPUTE] = "compute",
        [SL_STREAM_SCALE_UP] = "scale_up", [SL_STREAM_NETWORK] = "network",
        [SL_STREAM_COPY] = "copy",
    };
    _Static_assert(sizeof names / sizeof names[0] == SL_STREAM_COUNT, "a name per stream");

    return names[stream];
}
