#include "engine/schedule/pipeline.h"

#include <assert.h>
#include <math.h>

#include "engine/schedule/pipeline_tasks.h"

sl_pipeline_size
sl_pipeline_measure(const sl_plan *plan, uint64_t microbatches)
{
    const sl_pipeline_parts parts = sl_pipeline_parts_of(plan, microbatches);

    return (sl_pipeline_size){.tasks = parts.passes + parts.others,
                              .bytes = parts.bytes == SIZE_MAX ? UINT64_MAX : parts.bytes};
}

static const sl_chunk_cost *
cost_of(const sl_pipeline_run *run, uint32_t rank, uint32_t chunk)
{
    return &run->of->chunks[rank * sl_schedule_held(run->of->plan) + chunk];
}

/* Of a micro-batch that is larger or smaller than the usual one. */
static uint64_t
sized(const sl_pipeline *of, uint32_t microbatch, uint64_t bytes)
{
    return of->sizes == NULL ? bytes : (uint64_t)ceil((double)bytes * of->sizes[microbatch]);
}

static uint64_t
kept_of(const sl_pipeline_run *run, uint32_t rank, const sl_work *pass)
{
    return sized(run->of, pass->microbatch, cost_of(run, rank, pass->chunk)->kept_bytes);
}

/* A forward that takes, block by block, the place of the backward beside it, which comes next. */
static bool
takes_place(const sl_pipeline_run *run, const sl_work *pass)
{
    return pass->kind == SL_WORK_FORWARD && pass->beside &&
           sl_schedule_trades_places(run->of->plan);
}

/* What is alive once the pass has begun, where it keeps, or ended, where it lets go. */
static uint64_t
bytes_after(const sl_pipeline_run *run, uint32_t rank, const sl_work *pass, uint64_t bytes)
{
    const uint64_t kept = kept_of(run, rank, pass);
    const uint64_t deferred =
        sized(run->of, pass->microbatch, cost_of(run, rank, pass->chunk)->deferred_bytes);

    switch ((sl_work_kind)pass->kind) {
    case SL_WORK_FORWARD:
        return takes_place(run, pass) ? bytes : bytes + kept;
    case SL_WORK_BACKWARD: /* after a forward at least */
        return bytes - kept + (takes_place(run, pass - 1) ? kept_of(run, rank, pass - 1) : 0);
    case SL_WORK_BACKWARD_INPUT:
        return bytes - kept + deferred;
    case SL_WORK_BACKWARD_WEIGHT:
        return bytes - deferred;
    case SL_WORK_KINDS:
        break;
    }
    return bytes;
}

/* Two passes beside each other: the second starts with the first. */
static void
join_pairs(const sl_pipeline_run *run, double *start_s)
{
    const uint32_t passes = run->tasks.lane_first[run->of->plan->pipeline];

    for (uint32_t i = 0; i + 1 < passes; i++)
        if (run->passes[i].beside)
            start_s[i + 1] = start_s[i];
}

static void
sum_up(sl_pipeline_run *run)
{
    for (uint32_t task = 0; task < run->task_count; task++)
        if (run->end_s[task] > run->step_s)
            run->step_s = run->end_s[task];
    for (uint32_t r = 0; r < run->of->plan->pipeline; r++) {
        const uint32_t first = run->tasks.lane_first[r];
        const uint32_t end = run->tasks.lane_first[r + 1];
        sl_rank_run *out = &run->ranks[r];
        uint64_t bytes = 0;
        out->begin_s = run->start_s[first];
        out->end_s = run->end_s[end - 1];
        for (uint32_t i = first; i < end; i++) {
            const sl_work *pass = &run->passes[i];
            out->busy_s += run->tasks.seconds[i];
            bytes = bytes_after(run, r, pass, bytes);
            if (bytes > out->peak_bytes)
                out->peak_bytes = bytes;
        }
        assert(bytes == 0);
    }
}

/* In the order of time only where links are shared: it takes twice as long. */
static bool
run_tasks(const sl_pipeline_run *run, const sl_pipeline_parts *parts, void *scratch,
          double *start_s, double *end_s)
{
    void *space = (char *)scratch + parts->simulation;
    sl_sharing sharing;

    if (sl_pipeline_shares(run, parts, scratch, &sharing))
        return sl_simulate_shared(&run->tasks, &sharing, space, start_s, end_s);
    return sl_simulate(&run->tasks, space, start_s, end_s);
}

bool
sl_pipeline_simulate(const sl_pipeline *pipeline, void *scratch, sl_pipeline_run *out)
{
    const sl_pipeline_parts parts = sl_pipeline_parts_of(pipeline->plan, pipeline->microbatches);
    double *start_s = (double *)(void *)((char *)scratch + parts.start);
    double *end_s = (double *)(void *)((char *)scratch + parts.end);

    assert(pipeline->plan->pipeline <= SL_PIPELINE_MAX && parts.bytes != SIZE_MAX);
    sl_pipeline_lay(pipeline, &parts, scratch, out);
    out->start_s = start_s;
    out->end_s = end_s;
    if (!run_tasks(out, &parts, scratch, start_s, end_s))
        return false;
    join_pairs(out, start_s);
    sum_up(out);
    return true;
}

sl_event
sl_pipeline_event(const sl_pipeline_run *run, uint32_t task)
{
    const sl_stream data = run->of->data_scale_up ? SL_STREAM_SCALE_UP : SL_STREAM_NETWORK;
    const sl_stream streams[] = {SL_STREAM_COMPUTE, SL_STREAM_SCALE_UP, SL_STREAM_NETWORK, data,
                                 SL_STREAM_COMPUTE, SL_STREAM_HOST};
    const uint32_t ranks = run->of->plan->pipeline;
    const uint32_t passes = run->tasks.lane_first[ranks];

    assert(task < run->task_count);
    const uint32_t lane = run->lanes[task];
    sl_event out = {.rank = lane % ranks,
                    .stream = streams[lane / ranks],
                    .start_s = run->start_s[task],
                    .end_s = run->end_s[task]};
    uint32_t pass = task;
    if (task >= passes) {
        out.kind = run->kinds[task - passes];
        pass = run->origins[task - passes];
    } else {
        out.kind = run->passes[task].kind;
    }
    if (out.kind == SL_SPAN_GATHER || out.kind == SL_SPAN_REDUCE) {
        out.chunk = (pass & INT32_MAX) % sl_schedule_held(run->of->plan);
    } else if (out.kind <= SL_SPAN_SEND_GRADIENT) {
        out.microbatch = run->passes[pass].microbatch;
        out.chunk = run->passes[pass].chunk;
    }
    return out;
}

/* A pass of a rank waits for what others send it, and may wait for what the rank itself does. */
static void
find_sent_to(const sl_pipeline_run *run, uint32_t rank, uint32_t pass, uint32_t *takers)
{
    const sl_tasks *t = &run->tasks;
    const uint32_t passes = t->lane_first[run->of->plan->pipeline];

    for (uint32_t i = t->wait_first[pass]; i < t->wait_first[pass + 1]; i++) {
        const uint32_t sent = t->waits[i];
        if (sent < passes || run->kinds[sent - passes] > SL_SPAN_SEND_GRADIENT)
            continue;
        const uint32_t from = run->origins[sent - passes];
        if (from >= t->lane_first[rank] && from < t->lane_first[rank + 1])
            continue;
        /* A forward waits for what the backward beside it takes, too. */
        const bool gradient = run->kinds[sent - passes] == SL_SPAN_SEND_GRADIENT;
        takers[sent] = pass + (run->passes[pass].beside && gradient);
    }
}

void
sl_pipeline_takers(const sl_pipeline_run *run, uint32_t *takers)
{
    for (uint32_t r = 0; r < run->of->plan->pipeline; r++)
        for (uint32_t i = run->tasks.lane_first[r]; i < run->tasks.lane_first[r + 1]; i++)
            find_sent_to(run, r, i, takers);
}

uint64_t
sl_pipeline_staircase(const sl_pipeline_run *run, uint32_t rank, double *at_s, uint64_t *bytes)
{
    const uint32_t first = run->tasks.lane_first[rank];
    const uint32_t count = run->tasks.lane_first[rank + 1] - first;
    uint64_t alive = 0;

    assert(rank < run->of->plan->pipeline);
    for (uint32_t i = 0; i < count; i++) {
        const sl_work *pass = &run->passes[first + i];
        const bool forward = pass->kind == SL_WORK_FORWARD;
        alive = bytes_after(run, rank, pass, alive);
        at_s[i] = forward ? run->start_s[first + i] : run->end_s[first + i];
        bytes[i] = alive;
    }
    return count;
}
