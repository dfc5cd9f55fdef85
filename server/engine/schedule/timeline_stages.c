/* What each chunk of a plan with several stages takes and keeps, and the step that comes of it. */
#include "engine/schedule/timeline_parts.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "engine/placement/ranks.h"
#include "engine/schedule/pipeline_tasks.h"

static size_t
aligned(size_t bytes)
{
    return (bytes + 15) / 16 * 16;
}

static size_t
costs_bytes(const sl_plan *plan)
{
    return aligned((size_t)plan->pipeline * sl_schedule_held(plan) * sizeof(sl_chunk_cost));
}

sl_pipeline_size
sl_stages_size(const sl_memory_case *c)
{
    const uint64_t m = sl_plan_microbatches(c->workload, c->plan);
    sl_pipeline_size size = sl_pipeline_measure(c->plan, m);

    if (size.bytes != UINT64_MAX)
        size.bytes += aligned(sizeof(sl_stages_run)) + costs_bytes(c->plan) +
                      aligned(c->plan->pipeline * sizeof(double));
    return size;
}

/* Times of a chunk: the parts of the rank's that fall to it. */
static void
set_work(const sl_memory_case *c, const sl_rank_time *t, sl_chunk_cost *cost)
{
    const double copies = sl_schedule_copies(c->plan); /* which share the micro-batches */

    cost->work = (sl_work_seconds){
        .forward_s = copies * sl_pass_s(&t->forward),
        .backward_input_s = copies * (sl_pass_s(&t->backward) + sl_pass_s(&t->again) - t->weight_s),
        .backward_weight_s = copies * t->weight_s,
    };
    cost->forward_exchange_s = copies * t->forward.expert_s;
    cost->backward_exchange_s = copies * (t->backward.expert_s + t->again.expert_s);
}

static void
set_kept(const sl_memory_case *c, const sl_held *held, const sl_stage *stage, sl_chunk_cost *cost)
{
    const sl_chunk_kept kept = sl_memory_chunk_kept(c, held, stage);

    cost->kept_bytes = (uint64_t)ceil(kept.blocks + kept.ends);
    cost->deferred_bytes = (uint64_t)ceil(kept.operands);
}

static void
set_send(const sl_memory_case *c, const sl_held *held, sl_chunk_cost *cost)
{
    const sl_plan *plan = c->plan;
    const uint32_t copy = sl_schedule_copies(plan) > 1 ? held->first : 0;
    const uint32_t chunk = sl_schedule_chunk(plan, held->rank, held->first);

    if (chunk + 1 == sl_schedule_chunks(plan))
        return;
    const uint32_t to = sl_schedule_rank(plan, chunk + 1, copy);
    if (to == held->rank)
        return;
    sl_level level = SL_LEVEL_SCALE_UP;
    cost->send_s = sl_step_send_s(c, chunk, held->rank, to, &level);
    cost->send_scale_up = level != SL_LEVEL_NETWORK;
}

/* What computing loses to `seconds` of traffic that is hidden but for `exposed_s`, which holds that
 * loss. */
static double
lost_s(const sl_memory_case *c, double seconds, double exposed_s)
{
    const double ratio = sl_price_loss_ratio(c->software);

    return ratio * fmax(0.0, seconds - exposed_s) / (1.0 - ratio);
}

/* Seconds that travel beside a pass, of which they hide under computing alone, as on one stage: the
 * rest of the pass is spread over it, and they stand still then. */
static double
beside_s(double seconds, double computing_s, double pass_s)
{
    if (seconds >= computing_s)
        return seconds > 0.0 ? seconds + pass_s - computing_s : 0.0;
    return seconds * pass_s / computing_s;
}

/* What of a rank's traffic over its data group falls to one of its chunks, of which its own first
 * pass and its last hide all but the first piece and the last; to the first chunk, whose parameters
 * are wanted first and whose gradients end last, what passes of all of them lose to it. */
static void
set_data(const sl_memory_case *c, const sl_data_groups *groups, const sl_data_time *d, double part,
         const sl_held *held, const sl_rank_time *own, sl_chunk_cost *cost)
{
    const double m = (double)sl_plan_microbatches(c->workload, c->plan) /
                     sl_schedule_copies(c->plan); /* of each copy */
    const double reduce_s = sl_step_reductions_s(c, groups, d);

    /* With each micro-batch: what computing does not hide lengthens its passes. */
    if (d->rounds.gathers > 1.0)
        cost->work.forward_s += part * d->gather_exposed_s / m;
    if (d->rounds.reduces > 1.0)
        cost->work.backward_input_s += part * d->reduce_exposed_s / m;
    const bool first = held->first == 0;
    const double gather_s = d->rounds.gathers == 1.0 ? part * d->gather_s : 0.0;
    const double reduced_s = d->rounds.reduces == 1.0 ? part * reduce_s : 0.0;
    const double needed_s = d->whole ? gather_s : fmin(d->first_s, gather_s);
    const double last_s = d->whole ? reduced_s : fmin(d->last_s, reduced_s);
    const double copies = sl_schedule_copies(c->plan);
    const double forward_s = sl_pass_s(&own->forward);
    const double backward_s = sl_pass_s(&own->backward) + sl_pass_s(&own->again);
    cost->gather_beside_s = gather_s - needed_s;
    cost->reduce_beside_s = reduced_s - last_s;
    if (sl_states_gathers_beside(c->software, c->workload, c->plan))
        cost->gather_beside_s =
            beside_s(gather_s - needed_s, copies * own->forward.computing_s, copies * forward_s);
    if (c->software->overlap_gradient_reduce && !sl_states_reduces_after(c->workload, c->plan))
        cost->reduce_beside_s =
            sl_schedule_splits_backward(c->plan)
                ? reduced_s - last_s
                : beside_s(reduced_s - last_s,
                           copies * (own->backward.computing_s + own->again.computing_s),
                           copies * backward_s);
    cost->gather_s = needed_s;
    cost->reduce_s = last_s;
    const double lost = sl_schedule_directions(c->plan) == 2 ? part : 1.0; /* the other's is open */
    if (first && d->rounds.gathers == 1.0)
        cost->gather_s += lost * lost_s(c, d->gather_s, d->gather_exposed_s);
    if (first && d->rounds.reduces == 1.0)
        cost->reduce_s += lost * lost_s(c, reduce_s, d->reduce_exposed_s);
}

static void
set_rank(const sl_memory_case *c, uint32_t r, sl_chunk_cost *costs)
{
    const sl_model *model = c->question->model;
    const sl_data_groups groups = sl_step_data_groups(c);
    const sl_holding *holding = sl_holding_of(c->holdings, r);
    const sl_held all = sl_schedule_all_held(c->plan, r);
    const sl_rank_time t = sl_step_rank(c, &all, &holding->stage);
    const sl_data_time d = sl_step_data_rank(c, &groups, &t, r, 0.0);

    for (uint32_t i = 0; i < all.count; i++) {
        const sl_held held = {.rank = r, .first = i, .count = 1};
        sl_stage stage;
        sl_schedule_part(model, c->plan, &c->holdings->cut, &held, &stage);
        const sl_elements elements = sl_states_stage(model, c->prices, &stage);
        costs[i] = (sl_chunk_cost){0};
        const sl_rank_time own = sl_step_rank(c, &held, &stage);
        set_work(c, &own, &costs[i]);
        set_kept(c, &held, &stage, &costs[i]);
        set_send(c, &held, &costs[i]);
        set_data(c, &groups, &d, elements.all / fmax(1.0, holding->elements.all), &held, &own,
                 &costs[i]);
    }
}

static void
set_costs(const sl_memory_case *c, sl_chunk_cost *costs)
{
    for (uint32_t r = 0; r < c->plan->pipeline; r++) {
        sl_memory_case space;
        set_rank(sl_case_of_stage(c, r, &space), r, &costs[(size_t)r * sl_schedule_held(c->plan)]);
    }
}

/* Whether parameters and gradients travel over scale-up links on every stage. */
static bool
data_scales_up(const sl_memory_case *c)
{
    for (uint32_t r = 0; r < c->plan->pipeline; r++) {
        sl_memory_case space;
        if (sl_step_data_groups(sl_case_of_stage(c, r, &space)).shard.level == SL_LEVEL_NETWORK)
            return false;
    }
    return true;
}

/* Both ends add up what they share before their update. */
static void
set_optimizers(const sl_memory_case *c, const sl_time *time, double *out)
{
    const uint32_t last = c->plan->pipeline - 1;
    double bytes = 0.0;
    sl_level level = SL_LEVEL_NETWORK;
    const double tied_s = sl_step_tied_s(c, &bytes, &level);

    sl_step_updates(c, time->update_s, out);
    out[0] += tied_s;
    out[last] += tied_s;
}

void
sl_stages_simulate(const sl_memory_case *c, const sl_time *time, const double *slowness,
                   const double *sizes, void *scratch, const sl_stages_run **out)
{
    const sl_plan *plan = c->plan;
    char *at = scratch;
    sl_stages_run *run = (sl_stages_run *)(void *)at;
    sl_chunk_cost *costs = (sl_chunk_cost *)(void *)(at += aligned(sizeof *run));
    double *optimizer_s = (double *)(void *)(at += costs_bytes(plan));

    at += aligned(plan->pipeline * sizeof *optimizer_s);
    set_costs(c, costs);
    set_optimizers(c, time, optimizer_s);
    run->pipeline = (sl_pipeline){
        .plan = plan,
        .microbatches = sl_plan_microbatches(c->workload, plan),
        .chunks = costs,
        .slowness = slowness,
        .sizes = sizes,
        .optimizer_s = optimizer_s,
        /* The norm of all gradients, but where the step is validated after it (Qi 2023 section
         * 4). */
        .barrier = !sl_schedule_steps_alone(plan),
        .overlaps_sends = c->software->overlap_pipeline,
        .data_scale_up = data_scales_up(c),
        .gathers_first = !sl_states_gathers_beside(c->software, c->workload, c->plan),
        .reduces_last =
            !c->software->overlap_gradient_reduce || sl_states_reduces_after(c->workload, plan),
    };
    const bool done = sl_pipeline_simulate(&run->pipeline, at, &run->run);
    assert(done); /* an order that exists ends */
    (void)done;
    *out = run;
}

/* Stages that never wait for all of them follow one another into the next step: it takes as long as
 * the longest of them, from its first task to its last. */
static double
longest_stage_s(const sl_pipeline_run *run)
{
    double begin_s[SL_PIPELINE_MAX], longest_s = 0.0;
    bool gathered[SL_PIPELINE_MAX] = {false};

    for (uint32_t r = 0; r < run->of->plan->pipeline; r++)
        begin_s[r] = run->ranks[r].begin_s;
    for (uint32_t task = 0; task < run->task_count; task++) {
        const sl_event event = sl_pipeline_event(run, task);
        if (event.kind != SL_SPAN_GATHER || (gathered[event.rank] && !run->of->gathers_first))
            continue;
        gathered[event.rank] = true;
        begin_s[event.rank] -= event.end_s - event.start_s; /* just before its first pass */
    }
    for (uint32_t task = 0; task < run->task_count; task++) {
        const sl_event event = sl_pipeline_event(run, task);
        longest_s = fmax(longest_s, event.end_s - begin_s[event.rank]);
    }
    return longest_s;
}

double
sl_stages_step_s(const sl_stages_run *run)
{
    return run->pipeline.barrier ? run->run.step_s : longest_stage_s(&run->run);
}

/* Without what was taken out of the costs. */
static double
again_s(sl_stages_run *run, void *scratch)
{
    const bool done = sl_pipeline_simulate(&run->pipeline, scratch, &run->run);

    assert(done);
    (void)done;
    return sl_stages_step_s(run);
}

void
sl_stages_take(const sl_memory_case *c, const sl_time *time, bool apart, void *scratch,
               sl_stages_taken *out)
{
    const sl_stages_run *first = NULL;
    const uint32_t chunks = c->plan->pipeline * sl_schedule_held(c->plan);

    sl_stages_simulate(c, time, NULL, NULL, scratch, &first);
    *out = (sl_stages_taken){.all_s = sl_stages_step_s(first)};
    if (!apart)
        return;
    sl_stages_run *run = scratch;
    sl_chunk_cost *costs = (sl_chunk_cost *)(void *)((char *)scratch + aligned(sizeof *run));
    void *space =
        (char *)costs + costs_bytes(c->plan) + aligned(c->plan->pipeline * sizeof(double));
    run->pipeline.optimizer_s = NULL;
    out->before_update_s = again_s(run, space);
    for (uint32_t i = 0; i < chunks; i++)
        costs[i].gather_s = costs[i].gather_beside_s = costs[i].reduce_beside_s =
            costs[i].reduce_s = 0.0;
    out->sent_s = again_s(run, space);
    for (uint32_t i = 0; i < chunks; i++)
        costs[i].send_s = 0.0;
    out->silent_s = again_s(run, space);
}

/* Room for an order of ZB-V on the stack, and for micro-batches on all stages together. */
enum { V_BYTES_MAX = 64 * 1024, V_BATCHES_MAX = 1280, V_CHUNKS = 2 };

static void
find_alive_v(const sl_memory_case *c, uint64_t m, sl_alive out[])
{
    const sl_plan *plan = c->plan;
    sl_work order[3 * V_CHUNKS * V_BATCHES_MAX];
    sl_chunk_cost costs[V_CHUNKS * SL_PIPELINE_MAX];
    sl_work_seconds seconds[V_CHUNKS * SL_PIPELINE_MAX];
    _Alignas(max_align_t) char scratch[V_BYTES_MAX];
    const uint64_t passes = sl_order_count(plan, m, 0); /* of each rank */

    set_costs(c, costs);
    sl_pipeline_write_v(plan, m, costs, seconds, scratch, order);
    for (uint32_t r = 0; r < plan->pipeline; r++) {
        const sl_chunk_cost *own = &costs[(size_t)r * V_CHUNKS];
        const sl_chunk_bytes bytes[V_CHUNKS] = {
            {(double)own[0].kept_bytes, (double)own[0].deferred_bytes},
            {(double)own[1].kept_bytes, (double)own[1].deferred_bytes}};
        sl_alive_in_order(&order[r * passes], passes, bytes, &out[(size_t)r * V_CHUNKS]);
    }
}

bool
sl_stages_alive_v(const sl_memory_case *c, sl_alive out[])
{
    const sl_plan *plan = c->plan;
    const uint64_t m = sl_plan_microbatches(c->workload, plan);
    const uint64_t most = V_BATCHES_MAX / plan->pipeline;
    const uint64_t batches = m < most ? m : most;

    if (plan->schedule != SL_SCHEDULE_ZB_V || !sl_order_exists(plan, m) ||
        (batches < m && batches < sl_order_v_settles(plan)) ||
        sl_order_v_bytes(plan, batches) > V_BYTES_MAX)
        return false;
    find_alive_v(c, batches, out);
    return true;
}
