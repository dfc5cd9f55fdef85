/* What stages of a pipeline send each other, and how much longer a step takes for it. */
#include <stddef.h>

#include "engine/answer/step_parts.h"
#include "engine/extremes.h"
#include "engine/placement/ranks.h"

/* Of a span, sends that only a rank hides that may be the slowest with one of its chunks alone.
 * Coarse: read off drawn plans (tests/unit/engine/check/combinations_test.c). */
static const double hidden_ratio = 0.01;

/* Of a span of DualPipe, whose ranks wait for each other both ways with every pair of passes, all
 * sends. Coarse as well. */
static const double both_ways_ratio = 0.1;

/* What crosses the stage boundaries, one micro-batch in one direction. */
typedef struct hops {
    double bytes;     /* per rank, of the slowest hop */
    double slowest_s; /* and what it takes */
    double sum_s;     /* of them all */
    sl_level level;
    double *after_s; /* of each, by the rank before it; of the last one 0 */
    sl_level after[SL_PIPELINE_MAX];
} hops;

/* The slowest links between two stages of several pools, which have the network between them. */
static sl_group
between_pools(const sl_memory_case *c, uint32_t low, uint32_t high)
{
    const sl_group apart = {
        .ranks = 2.0, .nodes = 2.0, .members_per_node = 1.0, .level = SL_LEVEL_NETWORK};

    for (uint32_t i = 0; i < c->pools->count; i++) {
        const sl_pool_price *pool = &c->pools->list[i];
        if (low >= pool->first_stage && high < pool->end_stage)
            return sl_ranks_between(pool->cluster, c->plan, low - pool->first_stage,
                                    high - pool->first_stage);
    }
    return apart;
}

double
sl_step_pair_s(const sl_memory_case *c, uint32_t low, uint32_t high, sl_collective kind,
               double bytes, sl_level *level)
{
    sl_memory_case spaces[2];
    const sl_memory_case *one = sl_case_of_stage(c, low, &spaces[0]);
    const sl_group pair = c->pools == NULL ? sl_ranks_between(c->cluster, c->plan, low, high)
                                           : between_pools(c, low, high);
    const double seconds = sl_collective_s(one->cluster, kind, &pair, bytes);

    *level = pair.level;
    if (c->pools == NULL)
        return seconds;
    const sl_memory_case *other = sl_case_of_stage(c, high, &spaces[1]);
    return sl_larger(seconds, sl_collective_s(other->cluster, kind, &pair, bytes));
}

/* First and last stage, where they are apart, hold one copy each of a tied embedding and add up its
 * gradients. */
double
sl_step_tied_s(const sl_memory_case *c, double *bytes, sl_level *level)
{
    const sl_model *model = c->question->model;
    const sl_plan *plan = c->plan;

    if (!model->tied || !sl_schedule_ends_apart(plan))
        return 0.0;

    const sl_layer_kind *embedding = &model->kinds[model->layers[0]];

    assert(embedding->tensor_count >= 1);
    const sl_elements table = {.all = sl_slice_elements(c->slice, &embedding->tensors[0])};
    const sl_layout layout = sl_states_layout(c->workload, c->plan, &table);
    *bytes = table.all * sl_states_summed_bytes(&layout);
    return sl_step_pair_s(c, 0, plan->pipeline - 1, SL_COLLECTIVE_ALL_REDUCE, *bytes, level);
}

/* With the gather that follows it where the release splits the hidden state over the tensor group
 * for the wire only (Narayanan 2021 section 4.1): of the outputs by the later stage, of gradients
 * by the other. */
double
sl_step_hop_s(const sl_memory_case *c, uint32_t low, uint32_t high, double whole, double *bytes,
              sl_level *level)
{
    const bool scattered = c->software->scatter_sends && c->slice->spread < c->slice->tensor;

    *bytes = whole / (scattered ? c->slice->tensor : c->slice->spread);
    const double send_s = sl_step_pair_s(c, low, high, SL_COLLECTIVE_SEND_RECEIVE, *bytes, level);
    if (!scattered)
        return send_s;

    sl_memory_case spaces[2];
    const sl_cluster *const sides[] = {sl_case_of_stage(c, low, &spaces[0])->cluster,
                                       sl_case_of_stage(c, high, &spaces[1])->cluster};
    double gather_s = 0.0;
    for (uint32_t i = 0; i < (sides[0] == sides[1] ? 1 : 2); i++) {
        const sl_group group = sl_ranks_group(sides[i], c->plan, SL_AXIS_TENSOR);
        gather_s =
            sl_larger(gather_s, sl_collective_s(sides[i], SL_COLLECTIVE_ALL_GATHER, &group, whole));
    }
    return send_s + gather_s;
}

/* Not the whole struct: most pipelines are shorter than the longest. */
static void
measure_hops(const sl_memory_case *c, hops *h)
{
    const bool alike = c->pools == NULL && !sl_model_is_plain(c->question->model) &&
                       sl_ranks_stages_alike(c->cluster, c->plan);
    const uint32_t last = c->plan->pipeline - 1;
    sl_level level = SL_LEVEL_SCALE_UP;
    double bytes = 0.0;
    double seconds = 0.0;

    h->bytes = h->slowest_s = h->sum_s = h->after_s[last] = 0.0;
    h->level = h->after[last] = SL_LEVEL_SCALE_UP;
    for (uint32_t r = 0; r < last; r++) {
        if (r == 0 || !alike)
            seconds = sl_step_hop_s(c, r, r + 1, sl_memory_sent_bytes(c, r), &bytes, &level);
        h->sum_s += seconds;
        h->after_s[r] = seconds;
        h->after[r] = level;
        if (seconds > h->slowest_s) {
            h->slowest_s = seconds;
            h->bytes = bytes;
            h->level = level;
        }
    }
}

double
sl_step_send_s(const sl_memory_case *c, uint32_t chunk, uint32_t from, uint32_t to, sl_level *level)
{
    const uint32_t kind = sl_schedule_last_kind(c->question->model, c->plan, chunk);
    double bytes = 0.0;

    return from == to ? 0.0
                      : sl_step_hop_s(c, from < to ? from : to, from < to ? to : from,
                                      c->prices[kind].output_bytes, &bytes, level);
}

/* How much longer a step spans where a rank computes nothing while it sends: outputs on, gradients
 * back. */
static double
open_sends_s(const sl_memory_case *c, uint64_t m, const sl_busy *busy, const sl_pipeline_span *span)
{
    const sl_plan *plan = c->plan;
    const uint32_t copies = sl_schedule_copies(plan); /* which share the micro-batches */
    sl_busy sending[SL_PIPELINE_MAX];
    sl_level level = SL_LEVEL_SCALE_UP;

    for (uint32_t r = 0; r < plan->pipeline; r++)
        sending[r] = busy[r];
    for (uint32_t copy = 0; copy < copies; copy++)
        for (uint32_t chunk = 0; chunk + 1 < sl_schedule_chunks(plan); chunk++) {
            const uint32_t from = sl_schedule_rank(plan, chunk, copy);
            const uint32_t to = sl_schedule_rank(plan, chunk + 1, copy);
            const double sent_s = sl_step_send_s(c, chunk, from, to, &level) / copies;
            sending[from].all_s += sent_s;
            sending[to].all_s += sent_s;
            sending[to].backward_s += sent_s;
        }
    return sl_schedule_span(plan, m, sending).span_s - span->span_s;
}

/* What a rank is on the way of a micro-batch to a later rank and back. */
static double
trip_part_s(bool splits, const sl_busy *busy)
{
    return busy->all_s - (splits ? busy->weight_s : 0.0); /* gradients of weights wait */
}

/* A rank of 1F1B has one micro-batch more under way than the next: from one rank to the n-th after
 * it and back passes one in n + 1 of them. Of all such trips those between neighbours, from the
 * first rank and to the last. */
static double
round_trips_s(const sl_memory_case *c, double m, const hops *h, const sl_busy *busy,
              double slowest_s)
{
    const bool splits = sl_schedule_splits_backward(c->plan);
    const sl_schedule schedule = sl_schedule_of(c->plan);
    const uint32_t last = c->plan->pipeline - 1;
    double from_first_s = trip_part_s(splits, &busy[0]);
    double to_last_s = trip_part_s(splits, &busy[last]);
    double most_s = 0.0;

    if (schedule != SL_SCHEDULE_1F1B && schedule != SL_SCHEDULE_ZB_H1)
        return 0.0;
    for (uint32_t n = 1; n <= last; n++) {
        const double before_s = trip_part_s(splits, &busy[n - 1]);
        const double after_s = trip_part_s(splits, &busy[n]);
        const double sends_s = 2.0 * h->after_s[n - 1];
        from_first_s += sends_s + after_s;
        to_last_s += 2.0 * h->after_s[last - n] + trip_part_s(splits, &busy[last - n]);
        const double longest_s = sl_larger(from_first_s, to_last_s) / (n + 1.0) - slowest_s;
        const double next_s = (before_s + sends_s + after_s) / 2.0 - slowest_s;
        most_s = sl_larger(most_s, sl_larger(0.0, m - (n + 1.0)) * longest_s);
        most_s = sl_larger(most_s, sl_larger(0.0, m - 2.0) * next_s);
    }
    return most_s;
}

/* GPipe sends outputs alone and then gradients alone: what goes one way takes the longest of passes
 * and sends for each micro-batch after the first. */
static double
one_way_s(const sl_plan *plan, double m, const hops *h, const sl_busy *busy)
{
    double forward_s = 0.0, backward_s = 0.0;

    for (uint32_t r = 0; r < plan->pipeline; r++) {
        forward_s = sl_larger(forward_s, busy[r].all_s - busy[r].backward_s);
        backward_s = sl_larger(backward_s, busy[r].backward_s);
    }
    return (m - 1.0) *
           (sl_larger(0.0, h->slowest_s - forward_s) + sl_larger(0.0, h->slowest_s - backward_s));
}

/* Beside computing a send costs no rank its time, but what comes back comes later, and a rank sends
 * outputs to the next and gradients to the one before over the same links. */
static double
late_sends_s(const sl_memory_case *c, double m, const hops *h, const sl_busy *busy,
             double slowest_s)
{
    const double chunks = c->plan->virtual_pipeline;
    double most_s = h->slowest_s;

    if (sl_schedule_of(c->plan) == SL_SCHEDULE_GPIPE)
        return one_way_s(c->plan, m, h, busy);
    for (uint32_t r = 1; r + 1 < c->plan->pipeline; r++)
        if (h->after[r - 1] == h->after[r])
            most_s = sl_larger(most_s, h->after_s[r - 1] + h->after_s[r]);
    return sl_larger(round_trips_s(c, m, h, busy, slowest_s), m * (chunks * most_s - slowest_s));
}

/* Sends that nothing is beside while the pipeline fills and drains. Interleaved, ranks wait at
 * every chunk but the first until the first micro-batch has gone around, while which each of them
 * runs p passes: what the slowest takes longer for those than all of them for one hides sends:
 * *hidden_s, if it is the slowest with every chunk. */
static double
filling_sends_s(const sl_memory_case *c, const hops *h, const sl_busy *busy, double *hidden_s)
{
    const sl_plan *plan = c->plan;
    const uint32_t last = plan->pipeline - 1;
    const double chunks = plan->virtual_pipeline;
    double forward_sum_s = 0.0, backward_sum_s = 0.0;
    double forward_most_s = 0.0, backward_most_s = 0.0;
    sl_level level = SL_LEVEL_SCALE_UP;

    if (sl_schedule_of(plan) != SL_SCHEDULE_INTERLEAVED_1F1B)
        return 2.0 * h->sum_s * sl_schedule_fill_boundaries(plan) / last;
    for (uint32_t r = 0; r <= last; r++) {
        const double forward_s = (busy[r].all_s - busy[r].backward_s) / chunks;
        const double backward_s = busy[r].backward_s / chunks;
        forward_sum_s += forward_s;
        backward_sum_s += backward_s;
        forward_most_s = sl_larger(forward_most_s, forward_s);
        backward_most_s = sl_larger(backward_most_s, backward_s);
    }
    const double around_s = h->sum_s + sl_step_send_s(c, last, last, 0, &level);
    const double open_s =
        sl_larger(0.0, forward_sum_s + around_s - plan->pipeline * forward_most_s) +
        sl_larger(0.0, backward_sum_s + around_s - plan->pipeline * backward_most_s);
    *hidden_s = (chunks - 1.0) * (2.0 * around_s - open_s);
    return 2.0 * h->sum_s + (chunks - 1.0) * open_s;
}

bool
sl_step_has_few(const sl_plan *plan, uint64_t m)
{
    return sl_schedule_of(plan) == SL_SCHEDULE_ZB_V && m < 2 * (uint64_t)plan->pipeline - 1;
}

/* What each chunk sends to the next one. */
static void
find_chunk_sends(const sl_memory_case *c, const hops *h, sl_ring_send after[SL_MODEL_LAYERS_MAX])
{
    const sl_plan *plan = c->plan;
    const uint32_t p = plan->pipeline;
    const bool alike = !sl_model_is_plain(c->question->model);

    for (uint32_t i = 0; i + 1 < sl_schedule_chunks(plan); i++) {
        const uint32_t from = sl_schedule_rank(plan, i, 0);
        const uint32_t to = sl_schedule_rank(plan, i + 1, 0);
        const uint32_t low = from < to ? from : to;
        sl_level level = h->after[low];
        double seconds = h->after_s[low];
        if (alike && to == 0 && i >= p) {
            after[i] = after[i - p];
            continue;
        }
        if (!alike || from == to || from > to + 1 || to > from + 1)
            seconds = sl_step_send_s(c, i, from, to, &level);
        after[i] = (sl_ring_send){seconds, level == SL_LEVEL_NETWORK};
    }
}

void
sl_step_set_bubble(const sl_plan *plan, uint64_t m, double busy_sum_s, double passes_s,
                   double bubble_s, sl_time *out)
{
    out->terms[SL_TERM_BUBBLE - SL_TERM_FORWARD].value = bubble_s;
    out->bubble_ratio = 1.0 - (double)m * busy_sum_s / (plan->pipeline * (passes_s + bubble_s));
}

/* Of a step whose order is run, `taken_s`, the bubble is what it has without anything to send;
 * returns the rest. */
static double
part_bubble_s(const sl_ring *of, const sl_pipeline_span *span, double taken_s, sl_time *out)
{
    const sl_ring silent = {of->plan, of->microbatches, of->passes, NULL, true};
    const double busy_s = span->span_s - span->bubble_s;
    const double alone_s = sl_smaller(taken_s, sl_larger(busy_s, sl_ring_span_s(&silent)));

    sl_step_set_bubble(of->plan, of->microbatches, span->sum_s, busy_s, alone_s - busy_s, out);
    return taken_s - alone_s;
}

/* Whether no chunk inside the model differs from another, whatever layers take. */
static bool
are_even(const sl_memory_case *c)
{
    const sl_chunking *cut = &c->holdings->cut;

    return cut->split == SL_SPLIT_BLOCKS && cut->alike && c->plan->host_run_count == 0;
}

/* late: as the formulas have it, or nothing is beside sends. The passes are set where the order is
 * run. */
static sl_sent
choose(const sl_memory_case *c, uint64_t m, const sl_busy *busy, bool late, double slowest_s,
       sl_chunk_pass passes[SL_MODEL_LAYERS_MAX])
{
    const bool interleaved = sl_schedule_of(c->plan) == SL_SCHEDULE_INTERLEAVED_1F1B;
    const bool coarse = late || sl_step_has_few(c->plan, m);
    const bool runs = (interleaved || coarse) && sl_ring_runs(c->plan, m);
    const bool uneven = interleaved && (runs || c->explained) && !are_even(c);

    if (!uneven && !(runs && coarse))
        return (sl_sent){.late = late};
    sl_step_chunks(c, busy, passes);
    const bool differ = uneven && sl_step_chunks_differ(c->plan, passes, slowest_s);
    const bool run = runs && (coarse || differ);
    return (sl_sent){.run = run, .late = late, .differ = differ};
}

/* What the term is made of; together with the bubble by the formulas `exposed_s` is right of the
 * step as a whole, `shown_s` with the bubble that is shown. */
typedef struct parts {
    double fill_s, late_s, open_s;
    double exposed_s, shown_s;
} parts;

/* The order is run: what of its span the formulas' lacks or has too much. */
static parts
run_order(const sl_memory_case *c, uint64_t m, const hops *h, const sl_pipeline_span *span,
          const sl_chunk_pass *passes, bool beside, sl_time *out)
{
    sl_ring_send after[SL_MODEL_LAYERS_MAX];
    const sl_ring run = {c->plan, m, passes, after, beside};

    find_chunk_sends(c, h, after);
    const double taken_s = sl_larger(span->span_s - span->bubble_s, sl_ring_span_s(&run));
    const double exposed_s = taken_s - span->span_s;
    const double shown_s = c->explained ? part_bubble_s(&run, span, taken_s, out) : exposed_s;
    return (parts){.fill_s = beside ? shown_s : 0.0,
                   .open_s = beside ? 0.0 : shown_s,
                   .exposed_s = exposed_s,
                   .shown_s = shown_s};
}

sl_sent
sl_step_sends(const sl_memory_case *c, uint64_t m, const sl_busy busy[SL_PIPELINE_MAX],
              const sl_pipeline_span *span, double after_s[SL_PIPELINE_MAX], sl_time *out)
{
    const sl_plan *plan = c->plan;

    if (plan->pipeline == 1) {
        after_s[0] = 0.0;
        SL_SET_TERM(c, out, SL_TERM_PIPELINE_COMMUNICATION, 0.0, {"pipeline", 1.0});
        return (sl_sent){0};
    }
    const double boundaries = plan->pipeline - 1.0;
    hops h;
    h.after_s = after_s;
    measure_hops(c, &h);
    const double slowest_s = busy[span->slowest].all_s;
    /* One stage at a time has nothing beside its sends. */
    const bool beside = c->software->overlap_pipeline && plan->schedule != SL_SCHEDULE_NAIVE;
    double hidden_s = 0.0;
    parts of = {.fill_s = beside ? filling_sends_s(c, &h, busy, &hidden_s) : 0.0,
                .late_s = beside ? late_sends_s(c, (double)m, &h, busy, slowest_s) : 0.0,
                .open_s = beside ? 0.0 : open_sends_s(c, m, busy, span)};
    sl_chunk_pass passes[SL_MODEL_LAYERS_MAX];
    const double transfers = 2.0 * (double)m * plan->virtual_pipeline;
    const bool late = of.late_s > 0.0 || hidden_s > hidden_ratio * span->span_s ||
                      (beside && plan->schedule == SL_SCHEDULE_DUALPIPE &&
                       transfers * h.slowest_s > both_ways_ratio * span->span_s);
    sl_sent sent = choose(c, m, busy, late || !beside, slowest_s, passes);
    sent.late = sent.late && late;
    of.exposed_s = of.shown_s = of.fill_s + of.late_s + of.open_s;
    if (sent.run)
        of = run_order(c, m, &h, span, passes, beside, out);

    sent.open_s = span->bubble_s + of.exposed_s;
    sent.idle_ratio = span->idle_ratio;
    SL_SET_TERM(c, out, SL_TERM_PIPELINE_COMMUNICATION, of.exposed_s, {"bytes_per_send", h.bytes},
                {"send_s", h.slowest_s}, {"boundaries", boundaries}, {"open_sends_s", of.open_s},
                {"late_sends_s", of.late_s}, {"fill_and_drain_s", of.fill_s});
    out->terms[SL_TERM_PIPELINE_COMMUNICATION - SL_TERM_FORWARD].value = of.shown_s;
    const sl_sent_row row = {SL_TERM_PIPELINE_SENT,
                             SL_COLLECTIVE_SEND_RECEIVE,
                             sl_step_pair_at(h.level),
                             transfers,
                             transfers * h.bytes,
                             transfers * h.slowest_s,
                             of.shown_s};
    sl_step_add_communication(c, &row, out);
    return sent;
}
