#include "engine/answer/step_parts.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "engine/extremes.h"
#include "engine/placement/adapter.h"
#include "engine/placement/ranks.h"
#include "engine/placement/recompute.h"
#include "engine/price/host.h"

static const double maxima_bytes = 1024.0; /* as good as none */

/* Forward, backward and what runs again, together. */
static sl_pass_time
all_passes(const sl_rank_time *t)
{
    const sl_pass_time *f = &t->forward;
    const sl_pass_time *b = &t->backward;
    const sl_pass_time *a = &t->again;

    return (sl_pass_time){
        .computing_s = f->computing_s + b->computing_s + a->computing_s,
        .tensor_s = f->tensor_s + b->tensor_s + a->tensor_s,
        .context_s = f->context_s + b->context_s + a->context_s,
        .expert_s = f->expert_s + b->expert_s + a->expert_s,
        .launch_s = f->launch_s + b->launch_s + a->launch_s,
        .copied_s = f->copied_s + b->copied_s + a->copied_s,
        .issued_s = f->issued_s + b->issued_s + a->issued_s,
    };
}

/* Of what routing takes the part that is visible. */
static double
visible_of(const sl_rank_time *t)
{
    const double routed_s = all_passes(t).expert_s;

    return routed_s > 0.0 ? t->visible_expert_s / routed_s : 0.0;
}

static sl_busy
busy_of(const sl_rank_time *t)
{
    const sl_pass_time all = all_passes(t);
    const double visible = visible_of(t);

    return (sl_busy){
        .all_s = sl_pass_dense_s(&all) + t->visible_expert_s,
        .backward_s = sl_pass_dense_s(&t->backward) + sl_pass_dense_s(&t->again) +
                      visible * (t->backward.expert_s + t->again.expert_s),
        .weight_s = t->weight_s,
    };
}

/* Tokens of one direction travel while the other computes (DeepSeek-V3 section 3.2.1). */
double
sl_step_experts_beside_s(const sl_memory_case *c, const sl_rank_time *t, double *routed_s)
{
    *routed_s = all_passes(t).expert_s;
    return sl_price_visible_s(c->software, *routed_s,
                              t->forward.computing_s + t->backward.computing_s, true);
}

/* Micro-batches that fill the pipeline have no other beside them. */
static double
visible_experts_s(const sl_memory_case *c, uint32_t r, const sl_rank_time *t)
{
    double routed_s = 0.0;
    const double beside_s = sl_step_experts_beside_s(c, t, &routed_s);

    if (c->plan->schedule == SL_SCHEDULE_DUALPIPE)
        return beside_s;
    if (!c->plan->overlap_experts)
        return routed_s;

    const uint64_t m = sl_plan_microbatches(c->workload, c->plan);
    const double filling = sl_schedule_in_flight(c->plan, m, r).whole / (double)m;
    return filling * routed_s + (1.0 - filling) * beside_s;
}

/* How much longer passes take through the second of a rank's two chunks than through the first. */
static sl_chunk_pass
skew_of(const sl_memory_case *c, uint32_t r, const sl_busy *all, double visible)
{
    const double copies = sl_schedule_copies(c->plan); /* which share the micro-batches */
    sl_rank_time t = sl_step_chunk(c, r, 0);
    t.visible_expert_s = visible * all_passes(&t).expert_s;
    const sl_busy first = busy_of(&t);
    const double weight_s = all->weight_s - 2.0 * first.weight_s;
    const double backward_s = all->backward_s - 2.0 * first.backward_s;
    return (sl_chunk_pass){
        .forward_s = copies * (all->all_s - 2.0 * first.all_s - backward_s),
        .input_s = copies * (backward_s - weight_s),
        .weight_s = copies * weight_s,
    };
}

static void
measure_rank(const sl_memory_case *c, uint32_t r, sl_rank_time *out)
{
    const sl_held held = sl_schedule_all_held(c->plan, r);
    sl_memory_case space;

    sl_step_measure_rank(sl_case_of_stage(c, r, &space), &held,
                         &sl_holding_of(c->holdings, r)->stage, out);
    out->visible_expert_s = visible_experts_s(c, r, out);
}

sl_term *
sl_step_set_term(sl_time *out, sl_term_id id, double seconds)
{
    assert(id >= SL_TERM_FORWARD && id <= SL_TERM_OVERHEAD);

    sl_term *term = &out->terms[id - SL_TERM_FORWARD];
    term->id = id;
    term->value = seconds;
    term->input_count = 0;
    out->step_s += seconds;
    return term;
}

static void
add_runs(sl_traffic *sum, double runs, const sl_traffic *of)
{
    sum->calls += runs * of->calls;
    sum->bytes += runs * of->bytes;
    sum->busy_s += runs * of->busy_s;
    sum->exposed_s += runs * of->exposed_s;
}

static void
add_row(const sl_memory_case *c, sl_term_id what, sl_collective kind, const sl_group *over,
        const sl_traffic *sum, sl_time *out)
{
    const sl_sent_row row = {what,       kind,        *over,         sum->calls,
                             sum->bytes, sum->busy_s, sum->exposed_s};

    sl_step_add_communication(c, &row, out);
}

/* What the ranks that share experts or sequences send each other over the step, on the slowest
 * stage. */
static void
add_shared_rows(const sl_memory_case *c, const sl_held *held, const sl_stage *stage,
                double microbatches, sl_time *out)
{
    const sl_model *model = c->question->model;
    const sl_cluster *cluster = c->cluster;
    const sl_group experts = sl_ranks_group(cluster, c->plan, SL_AXIS_EXPERT);
    const sl_group sequence = sl_ranks_group(cluster, c->plan, SL_AXIS_CONTEXT);
    sl_collective collective = SL_COLLECTIVE_SEND_RECEIVE;
    sl_traffic routed = {0};
    sl_traffic shared = {0};

    for (uint32_t k = 0; k < model->kind_count; k++) {
        const sl_kind_price *price = &c->prices[k];
        const double runs = microbatches * stage->layers[k];
        const double again = microbatches * sl_step_layers_again(c, held, stage, k);
        add_runs(&routed, runs, &price->expert_forward);
        add_runs(&routed, again, &price->again.expert);
        add_runs(&routed, runs, &price->expert_backward);
        add_runs(&shared, runs, &price->context_forward);
        add_runs(&shared, again, &price->again.context);
        add_runs(&shared, runs, &price->context_backward);
        if (price->context_forward.busy_s > 0.0)
            collective = price->context_collective;
    }
    /* The schedule may hide more than a layer of its own does. */
    routed.exposed_s = out->terms[SL_TERM_EXPERT_COMMUNICATION - SL_TERM_FORWARD].value;
    add_row(c, SL_TERM_EXPERT_SENT, SL_COLLECTIVE_ALL_TO_ALL, &experts, &routed, out);
    add_row(c, SL_TERM_CONTEXT_SENT, collective, &sequence, &shared, out);
}

/* One row per kind of collective of the tensor group and of the ranks that cut experts otherwise, over
 * the step and the slowest stage. */
static void
add_tensor_rows(const sl_memory_case *c, uint32_t rank, double microbatches, sl_time *out)
{
    const sl_model *model = c->question->model;
    const sl_group group = sl_ranks_group(c->cluster, c->plan, SL_AXIS_TENSOR);
    const sl_group experts = sl_ranks_group(c->cluster, c->plan, SL_AXIS_EXPERT_TENSOR);
    const sl_held held = sl_schedule_all_held(c->plan, rank);
    const sl_stage *stage = &sl_holding_of(c->holdings, rank)->stage;

    for (uint32_t i = 0; i < SL_SENT_COUNT; i++) {
        const bool own = i < SL_COLLECTIVE_COUNT;
        const sl_collective kind = own                          ? (sl_collective)i
                                   : i == SL_SENT_EXPERT_GATHER ? SL_COLLECTIVE_ALL_GATHER
                                                                : SL_COLLECTIVE_REDUCE_SCATTER;
        sl_traffic sum = {0};
        for (uint32_t k = 0; k < model->kind_count; k++) {
            const double runs = microbatches * stage->layers[k];
            const double again = microbatches * sl_step_layers_again(c, &held, stage, k);
            add_runs(&sum, runs, &c->prices[k].tensor_forward[i]);
            add_runs(&sum, again, &c->prices[k].again.tensor[i]);
            add_runs(&sum, runs, &c->prices[k].tensor_backward[i]);
        }
        add_row(c, own ? SL_TERM_TENSOR_SENT : SL_TERM_EXPERT_TENSOR_SENT, kind,
                own ? &group : &experts, &sum, out);
    }
    add_shared_rows(c, &held, stage, microbatches, out);
}

/* Hidden states of blocks that the host runs, there and back. */
static void
add_host_row(const sl_memory_case *c, uint32_t rank, double microbatches, sl_time *out)
{
    if (c->plan->host_run_count == 0)
        return;
    const sl_held held = sl_schedule_all_held(c->plan, rank);
    const sl_host_time host = sl_host_measure(c, &held);
    const double sent_s = microbatches * host.sent_s;
    const sl_sent_row row = {SL_TERM_HOST_SENT,
                             SL_COLLECTIVE_SEND_RECEIVE,
                             sl_step_pair_at(SL_LEVEL_HOST),
                             microbatches * host.sends,
                             microbatches * host.sent_bytes,
                             sent_s,
                             sent_s};
    sl_step_add_communication(c, &row, out);
}

static void
evaluate_slowest(const sl_memory_case *c, const sl_rank_time *t, const sl_pipeline_span *span,
                 double busy_s, uint64_t m, sl_time *out)
{
    const double count = (double)m;
    const double forward_s = t->forward.computing_s;
    const double backward_s = t->backward.computing_s;
    const double again_s = t->again.computing_s;
    const sl_pass_time all = all_passes(t);

    SL_SET_TERM(c, out, SL_TERM_FORWARD, count * forward_s, {"microbatches", count},
                {"microbatch_forward_s", forward_s}, {"slowest_stage", span->slowest},
                {"microbatch_host_s", t->forward.host_s});
    SL_SET_TERM(c, out, SL_TERM_BACKWARD, count * backward_s, {"microbatches", count},
                {"microbatch_backward_s", backward_s}, {"slowest_stage", span->slowest},
                {"microbatch_host_s", t->backward.host_s});
    SL_SET_TERM(c, out, SL_TERM_RECOMPUTE, count * again_s, {"microbatches", count},
                {"microbatch_recompute_s", again_s});
    SL_SET_TERM(c, out, SL_TERM_LAUNCH, count * all.launch_s, {"microbatches", count},
                {"microbatch_wait_s", all.launch_s}, {"microbatch_issued_s", all.issued_s},
                {"host_operator_s", c->slice->host_operator_s},
                {"expert_operator_s", c->slice->awaited_s},
                {"unit_operators", c->slice->unit_operators});
    SL_SET_TERM(c, out, SL_TERM_TENSOR_COMMUNICATION, count * all.tensor_s, {"microbatches", count},
                {"microbatch_exposed_s", all.tensor_s}, {"tensor", c->plan->tensor});
    SL_SET_TERM(c, out, SL_TERM_CONTEXT_COMMUNICATION, count * all.context_s,
                {"microbatches", count}, {"microbatch_exposed_s", all.context_s},
                {"context", c->plan->context});
    SL_SET_TERM(c, out, SL_TERM_EXPERT_COMMUNICATION, count * t->visible_expert_s,
                {"microbatches", count}, {"microbatch_exposed_s", t->visible_expert_s},
                {"expert", c->plan->expert});
    SL_SET_TERM(c, out, SL_TERM_ACTIVATION_OFFLOAD, count * all.copied_s, {"microbatches", count},
                {"microbatch_forward_wait_s", t->forward.copied_s},
                {"microbatch_backward_wait_s", t->backward.copied_s},
                {"host_bytes_per_s", c->cluster->accelerator.host_bytes_per_s});
    SL_SET_TERM(c, out, SL_TERM_BUBBLE, span->bubble_s, {"busy_sum_s", span->sum_s},
                {"slowest_busy_s", busy_s}, {"slowest_weight_s", t->weight_s},
                {"chunks_per_rank", c->plan->virtual_pipeline});
    if (c->explained) {
        sl_memory_case space;
        const sl_memory_case *at = sl_case_of_stage(c, span->slowest, &space);
        add_host_row(at, span->slowest, count, out);
        add_tensor_rows(at, span->slowest, count / sl_schedule_copies(c->plan), out);
    }
}

/* How many standard deviations the slowest of so many ranks is behind the mean, expected of normal
 * speeds: sqrt(2 ln n) is the least upper bound, from which Gumbel's law takes what is here. */
static double
sigmas_of_slowest(uint64_t ranks)
{
    static const double ln_4_pi = 2.5310242469692907;
    static const double twice_euler = 1.1544313298030657;

    if (ranks < 2)
        return 0.0;
    const double ln = log((double)ranks);
    const double most = sqrt(2.0 * ln);
    return most - (log(ln) + ln_4_pi - twice_euler) / (2.0 * most);
}

/* All ranks wait for the slowest, but where a pipeline fills and drains: that is as long as all its
 * ranks are slow, each once. */
static double
waited_s(const sl_memory_case *c, double busy_s)
{
    return c->question->cluster->operation.speed_sigma_ratio *
           sigmas_of_slowest(sl_plan_world(c->plan)) * busy_s;
}

/* Delayed scaling takes the largest values that the ranks of a stage saw, all of them, before the
 * next pass through a chunk: on leaving fp8_autocast, and behind the backward of its first module. A
 * few values of each product. TransformerEngine pytorch/fp8.py, reduce_and_update_fp8_tensors;
 * Megatron-LM get_amax_reduction_group. */
static double
maxima_s(const sl_memory_case *c)
{
    const sl_workload *w = c->workload;
    const uint64_t ranks = sl_plan_stage_ranks(c->plan);
    const double passes =
        2.0 * (double)sl_plan_microbatches(w, c->plan) * (double)c->plan->virtual_pipeline;

    if (w->framework != SL_FRAMEWORK_MEGATRON || w->precision != SL_PRECISION_FP8 ||
        w->fp8.recipe != SL_RECIPE_DELAYED || ranks <= 1)
        return 0.0;
    const sl_group group = sl_group_of(c->cluster, ranks, 1);
    return passes * sl_collective_s(c->cluster, SL_COLLECTIVE_ALL_REDUCE, &group, maxima_bytes);
}

double
sl_step_overhead_s(const sl_memory_case *c, double step_s, double filling_s)
{
    return c->software->step_overhead_s + maxima_s(c) + waited_s(c, step_s - filling_s);
}

static void
set_overhead(const sl_memory_case *c, sl_time *out)
{
    const double step_s = out->step_s;

    SL_SET_TERM(c, out, SL_TERM_OVERHEAD, sl_step_overhead_s(c, step_s, out->filling_s),
                {"step_overhead_s", c->software->step_overhead_s}, {"maxima_s", maxima_s(c)},
                {"ranks", (double)sl_plan_world(c->plan)},
                {"sigmas_of_slowest", sigmas_of_slowest(sl_plan_world(c->plan))},
                {"speed_sigma_ratio", c->question->cluster->operation.speed_sigma_ratio},
                {"filling_s", out->filling_s},
                {"slowest_rank_s", waited_s(c, step_s - out->filling_s)});
}

/* How much later than the longest of the ranks each ends, below 0. */
static double *
find_spare(const sl_plan *plan, uint64_t m, const sl_busy *busy, double span_s, double *out)
{
    sl_schedule_own_spans(plan, m, busy, span_s, out);
    for (uint32_t r = 0; r < plan->pipeline; r++)
        out[r] -= span_s;
    return out;
}

void
sl_step_evaluate(const sl_memory_case *c, sl_time *out)
{
    const uint64_t m = sl_plan_microbatches(c->workload, c->plan);
    sl_rank_time measured[SL_PIPELINE_MAX]; /* of ranks that differ */
    const sl_rank_time *times[SL_PIPELINE_MAX];
    sl_busy busy[SL_PIPELINE_MAX];
    double after_s[SL_PIPELINE_MAX]; /* a send from each rank to the next */
    double spare[SL_PIPELINE_MAX];
    const bool alone = sl_schedule_steps_alone(c->plan);
    uint32_t count = 0;

    /* What fills the pipeline is not hidden, and is more on the first ranks. */
    const bool skips = !c->plan->overlap_experts;
    double flops_again = 0.0;
    for (uint32_t r = 0; r < c->plan->pipeline; r++) {
        const bool alike =
            skips && r > 0 && sl_holding_repeats(c->holdings, r) && sl_case_goes_on(c, r);
        if (alike) {
            times[r] = times[r - 1];
            busy[r] = busy[r - 1];
        } else {
            measure_rank(c, r, &measured[count]);
            times[r] = &measured[count++];
            busy[r] = busy_of(times[r]);
            if (sl_schedule_directions(c->plan) == 2)
                busy[r].skew = skew_of(c, r, &busy[r], visible_of(times[r]));
        }
        flops_again += times[r]->flops_again;
    }

    const bool paced = sl_step_data_pace(c, times, busy);
    const sl_pipeline_span span = sl_schedule_span(c->plan, m, busy);

    /* Not the whole struct: every term is set below, and of a plan that is not explained no
     * inputs. */
    out->step_s = out->ideal_s = out->exposed_communication_s = 0.0;
    out->slowest_pool = out->slowest_links = 0;
    out->communication_count = 0;
    out->bubble_ratio = span.idle_ratio;
    out->filling_s = span.bubble_s;
    out->flops_again = flops_again;
    evaluate_slowest(c, times[span.slowest], &span, busy[span.slowest].all_s, m, out);
    const sl_sent sent = sl_step_sends(c, m, busy, &span, after_s, out);
    double *late_s = alone ? find_spare(c->plan, m, busy, span.span_s, spare) : NULL;
    sl_step_data(c, times, busy, after_s, paced ? &span.slowest : NULL, late_s, out);
    sl_step_optimizer(c, times[span.slowest], late_s, out);
    const bool whole = sl_step_whole(c, m, (double)m * busy[span.slowest].all_s, &sent, out);
    set_overhead(c, out);
    if (c->explained)
        out->coarse = whole ? SL_COARSE_NONE : sl_step_coarse(c, &sent, out);
}

void
sl_step_throughput(const sl_memory_case *c, const sl_time *time, sl_throughput *out)
{
    const sl_model *model = c->question->model;
    const sl_workload *workload = c->workload;
    const double world = (double)sl_plan_world(c->plan);
    const double microbatches =
        (double)sl_plan_microbatches(workload, c->plan) * (double)c->plan->data * c->plan->context;
    const double peak = c->question->cluster->accelerator.peak_flops_per_s[workload->precision];
    double products = 0.0, full = 0.0, causal = 0.0;

    for (uint32_t i = 0; i < model->layer_count; i++) {
        const sl_kind_price *price = &c->prices[model->layers[i]];
        products += price->matmul_flops;
        full += price->attention_flops;
        causal += price->causal_flops;
    }

    const double tokens = (double)workload->global_batch * (double)workload->sequence_length;
    const double available = time->step_s * world * peak;
    /* Nobody computes gradients of frozen weights, of which attention has none; what adapters compute
     * is too little to count. */
    const double passes = sl_adapter_on(&workload->adapter) ? 2.0 : 3.0;
    const double model_flops = (passes * products + 3.0 * full) * microbatches;
    const double causal_flops = (passes * products + 3.0 * causal) * microbatches;
    const double hardware_flops = model_flops + time->flops_again * microbatches;

    *out = (sl_throughput){
        .tokens_per_s = tokens / time->step_s,
        .tokens_per_s_per_accelerator = tokens / time->step_s / world,
        .samples_per_s = (double)workload->global_batch / time->step_s,
        .model_flops_per_s_per_accelerator = model_flops / time->step_s / world,
        .mfu_full = model_flops / available,
        .mfu_causal = causal_flops / available,
        .hfu = hardware_flops / available,
        .peak_flops_per_s = peak,
        .model_flops = model_flops,
        .causal_flops = causal_flops,
        .hardware_flops = hardware_flops,
    };
}
