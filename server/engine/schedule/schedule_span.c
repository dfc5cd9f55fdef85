/* How long a step of a pipeline spans, in closed form. */
#include <assert.h>
#include <stddef.h>

#include "engine/extremes.h"
#include "engine/schedule/schedule_parts.h"

/* Rounds of p micro-batches from which on it is left out that ranks hold up each other, which to
 * look for takes p^2. Measured, on 20,000 random pipelines of 2 to 16 stages each, whose ranks
 * differ by a fifth or by all either way: with 4 p micro-batches a span so comes out 0.1 % too
 * short on average (interleaved; ZB-H2 0.03 %) and at most 1.9 %, with 2 p 0.4 % and 5.4 %, with 8
 * p 0.05 % and 1.4 %. */
static const double few_rounds = 4.0;

/* A bubble below this share of the step is what sums of seconds round by. */
static const double rounding_ratio = 1e-12;

/* All ranks' passes one after the other, and the longest of each kind. */
typedef struct passes {
    sl_chunk_pass sum, most;
} passes;

static passes
passes_of(const sl_plan *plan, const sl_busy *busy)
{
    passes out = {0};

    for (uint32_t r = 0; r < plan->pipeline; r++) {
        const sl_chunk_pass p = sl_pass_of(plan, &busy[r]);
        out.sum.forward_s += p.forward_s;
        out.sum.input_s += p.input_s;
        out.most.forward_s = sl_larger(out.most.forward_s, p.forward_s);
        out.most.input_s = sl_larger(out.most.input_s, p.input_s);
    }
    return out;
}

static double
gpipe_s(const sl_plan *plan, double m, const sl_busy *busy)
{
    const passes all = passes_of(plan, busy);

    return all.sum.forward_s + all.sum.input_s +
           (m - 1.0) * (all.most.forward_s + all.most.input_s);
}

/* How far a rank is when its forwards are done, and when the ones before its first backward are. */
typedef struct progress {
    double filled_s, forward_end_s;
    double early; /* backwards before the last forward */
    double input_s;
} progress;

/* The least that a rank takes from its first pass to its last, others later by `beyond_s`. */
static double
interleaved_rank_s(const sl_plan *plan, double m, const passes *all, const sl_chunk_pass *own,
                   double beyond_s, uint32_t rank)
{
    const double p = plan->pipeline;
    const double v = plan->virtual_pipeline;
    const double n = v * m;
    const double lead = (v - 1.0) * p; /* forwards before the last chunk's first */
    const double later = 2.0 * (p - 1.0 - rank);
    const double loops = v > 1.0 ? (v - 2.0) * p : 0.0;
    const double forward_s =
        sl_larger(0.0, loops * all->most.forward_s + all->sum.forward_s - lead * own->forward_s);
    const double input_s =
        sl_larger(0.0, loops * all->most.input_s + all->sum.input_s - lead * own->input_s);
    const double busy_s = n * (own->forward_s + own->input_s);

    if (later + lead + 1.0 <= n)
        return busy_s + forward_s + input_s + sl_larger(0.0, beyond_s - later * own->forward_s) +
               sl_larger(0.0, beyond_s - later * own->input_s);
    /* No backward before the last forward. */
    return sl_larger(
        busy_s, beyond_s + sl_larger(n * own->forward_s + (lead + 1.0) * own->input_s + input_s,
                                     (lead + 1.0) * own->forward_s + n * own->input_s + forward_s));
}

/* The same of ranks that hold up each other: one fills up behind the slowest, before or after it,
 * and runs pairs; when its forwards have ended, or as it begins, gradients go on to an earlier one,
 * which has the rest of its backwards to run, and the last of them to the first. */
static double
crossing_s(const sl_plan *plan, double m, const passes *all, const sl_busy *busy)
{
    const double p = plan->pipeline;
    const double n = m * plan->virtual_pipeline;
    double later_s[SL_PIPELINE_MAX]; /* longest forward of the ranks after */
    progress ranks[SL_PIPELINE_MAX];
    double most_s = 0.0;
    double fill_s = 0.0;
    double last_s = 0.0;

    for (uint32_t r = plan->pipeline; r-- > 0;) {
        later_s[r] = most_s;
        most_s = sl_larger(most_s, sl_pass_of(plan, &busy[r]).forward_s);
    }
    most_s = 0.0;
    for (uint32_t r = 0; r < plan->pipeline; r++) {
        const sl_chunk_pass own = sl_pass_of(plan, &busy[r]);
        const double before =
            sl_smaller(n, 2.0 * (p - 1.0 - r) + (plan->virtual_pipeline - 1.0) * p + 1.0);
        most_s = sl_larger(most_s, own.forward_s);
        fill_s += own.forward_s;
        ranks[r].early = n - before;
        ranks[r].input_s = own.input_s;
        ranks[r].filled_s =
            fill_s + sl_larger((before - 1.0) * most_s,
                               all->sum.forward_s + (before - p - 1.0) * later_s[r]);
        ranks[r].forward_end_s = ranks[r].filled_s + ranks[r].early * (own.forward_s + own.input_s);
    }
    for (uint32_t r = plan->pipeline; r-- > 0;) {
        const sl_chunk_pass own = sl_pass_of(plan, &busy[r]);
        double down_s = 0.0;
        last_s += own.input_s;
        for (uint32_t j = r; j < plan->pipeline; j++) {
            if (j > r)
                down_s += ranks[j].input_s;
            last_s = sl_larger(last_s, ranks[j].filled_s + down_s + n * own.input_s +
                                           ranks[r].early * own.forward_s);
            last_s = sl_larger(last_s, ranks[j].forward_end_s + down_s +
                                           (n - ranks[j].early) * own.input_s);
        }
    }
    return last_s;
}

static double
interleaved_s(const sl_plan *plan, double m, const sl_busy *busy)
{
    const passes all = passes_of(plan, busy);
    double before_s = 0.0; /* what ranks before this one take of a micro-batch, there and back */
    double span_s = 0.0;

    for (uint32_t r = 0; r < plan->pipeline; r++) {
        const sl_chunk_pass own = sl_pass_of(plan, &busy[r]);
        const double own_s = own.forward_s + own.input_s;
        const double beyond_s =
            sl_larger(0.0, all.sum.forward_s + all.sum.input_s - before_s - own_s);
        span_s = sl_larger(span_s, before_s + interleaved_rank_s(plan, m, &all, &own, beyond_s, r));
        before_s += own_s;
    }
    return m < few_rounds * plan->pipeline ? sl_larger(span_s, crossing_s(plan, m, &all, busy))
                                           : span_s;
}

/* Last gradient of inputs of rank r, held up by a later one that fills up late or ends its forwards
 * late: it goes on with the gradients that come from there. */
static double
held_up_s(const sl_plan *plan, double m, const sl_busy *busy, const progress *ranks, uint32_t r)
{
    const sl_chunk_pass own = sl_pass_of(plan, &busy[r]);
    const double behind = 2.0 * r;
    const double weights = sl_larger(0.0, m - 1.0 - behind);
    const double filled_s =
        m * own.input_s + weights * own.weight_s + ranks[r].early * own.forward_s;
    double down_s = 0.0;
    double end_s = 0.0;

    for (uint32_t j = r + 1; j < plan->pipeline; j++) {
        const double done = ranks[j].early;
        const double weights_done = sl_larger(0.0, done - behind);
        down_s += ranks[j].input_s;
        end_s = sl_larger(end_s, ranks[j].filled_s + down_s + filled_s);
        end_s = sl_larger(end_s, ranks[j].forward_end_s + down_s + (m - done) * own.input_s +
                                     (weights - weights_done) * own.weight_s);
    }
    return end_s;
}

/* 1F1B, ZB-H1 and ZB-H2, as sl_schedule_span says; alone_s, or NULL: of each rank, from its own
 * first pass on. */
static double
pairs_s(const sl_plan *plan, double m, const sl_busy *busy, double *alone_s)
{
    const bool by_itself = plan->schedule == SL_SCHEDULE_ZB_H2;
    const double reach = by_itself ? 2.0 : 1.0;
    const passes all = passes_of(plan, busy);
    double input_end_s[SL_PIPELINE_MAX]; /* last gradient of inputs, but for what follows a rank */
    progress ranks[SL_PIPELINE_MAX];     /* with ZB-H2 */
    double fill_s = 0.0;
    double most_s = 0.0;
    double before_s = 0.0;
    double forward_end_s = 0.0;
    double last_s = 0.0;
    double span_s = 0.0;

    for (uint32_t r = 0; r < plan->pipeline; r++) {
        const sl_chunk_pass own = sl_pass_of(plan, &busy[r]);
        const double behind = reach * r;
        const double ahead = reach * (plan->pipeline - 1.0 - r);
        const double early =
            sl_larger(0.0, m - ahead - 1.0); /* backwards before the last forward */
        const double own_s = own.forward_s + own.input_s;
        const double beyond_s =
            sl_larger(0.0, all.sum.forward_s + all.sum.input_s - before_s - own_s);
        const double waits_s = early > 0.0 ? sl_larger(0.0, beyond_s - ahead * own.forward_s) : 0.0;
        const double early_weights = sl_larger(0.0, early - behind);
        forward_end_s = sl_larger(forward_end_s + own.forward_s, fill_s + m * own.forward_s +
                                                                     waits_s + early * own.input_s +
                                                                     early_weights * own.weight_s);
        if (by_itself) {
            most_s = sl_larger(most_s, own.forward_s);
            const double filled_s = fill_s + own.forward_s + (m - early - 1.0) * most_s;
            forward_end_s =
                sl_larger(forward_end_s, filled_s + early * own_s + early_weights * own.weight_s);
            ranks[r] = (progress){filled_s, forward_end_s, early, own.input_s};
        }
        input_end_s[r] = forward_end_s + (m - early) * own.input_s +
                         sl_larger(0.0, m - 1.0 - sl_larger(early, behind)) * own.weight_s;
        if (early == 0.0)
            input_end_s[r] =
                sl_larger(input_end_s[r], fill_s + own_s + beyond_s + (m - 1.0) * own.input_s +
                                              sl_larger(0.0, m - 1.0 - behind) * own.weight_s);
        fill_s += own.forward_s;
        before_s += own_s;
    }
    for (uint32_t r = plan->pipeline; r-- > 0;) {
        const sl_chunk_pass own = sl_pass_of(plan, &busy[r]);
        fill_s -= own.forward_s;
        last_s = sl_larger(input_end_s[r], last_s + own.input_s);
        if (by_itself && m < few_rounds * plan->pipeline)
            last_s = sl_larger(last_s, held_up_s(plan, m, busy, ranks, r));
        const double end_s = last_s + (sl_smaller(reach * r, m - 1.0) + 1.0) * own.weight_s;
        const double taken_s = by_itself ? end_s - fill_s : end_s;
        span_s = sl_larger(span_s, taken_s);
        if (alone_s != NULL)
            alone_s[r] = taken_s;
    }
    return span_s;
}

/* Of passes through both chunks of a rank, hence the halves. */
static double
zb_v_bubble_s(const sl_plan *plan, double microbatches, const sl_busy *mean)
{
    const double p = plan->pipeline;
    const double forward_s = mean->all_s - mean->backward_s;
    const double input_s = mean->backward_s - mean->weight_s;
    const double weight_s = mean->weight_s;
    /* Gaps of one pass of a rank: what takes longer there and back than the other way, and what
     * weights' gradients do not fill. */
    const double gap_s =
        input_s >= forward_s
            ? input_s - forward_s + sl_larger(0.0, forward_s + input_s - 2.0 * weight_s)
            : sl_larger(0.0, 2.0 * forward_s - weight_s - sl_smaller(weight_s, input_s));
    const double many_s = (p - 1.0) * gap_s - weight_s;
    const double few_s =
        sl_larger(0.0, 2.0 * p - 1.0 - microbatches) * forward_s +
        sl_larger(0.0, 2.0 * (p - 1.0) * input_s - (microbatches - 1.0) * mean->all_s - weight_s);

    return sl_larger(many_s, few_s) / 2.0;
}

/* The least that any rank of ZB-V takes. All fill up behind the slowest forward until the first
 * gradient of inputs sets out from the first rank, and passes those that have still forwards to run
 * before it. From then on a rank has the rest of its passes, or the last of its gradients of inputs
 * go to the first: before them each forward left needs the room of activations whose weights'
 * gradients are done. */
static double
zb_v_filled_s(const sl_plan *plan, double m, const sl_busy *busy)
{
    const double p = plan->pipeline;
    double sum_s = 0.0;
    double most_s = 0.0;
    double first_s = 0.0; /* gradient of inputs sets out */
    double inputs_s = 0.0;
    double before_s = 0.0;
    double span_s = 0.0;

    for (uint32_t r = 0; r < plan->pipeline; r++) {
        const double forward_s = sl_pass_of(plan, &busy[r]).forward_s;
        most_s = sl_larger(most_s, forward_s);
        sum_s += forward_s;
        first_s =
            sl_larger(first_s, 2.0 * sum_s + (sl_smaller(2.0 * (p - r) - 1.0, m) - 1.0) * most_s);
    }
    const double last_weight_s = sl_pass_of(plan, &busy[0]).weight_s;
    for (uint32_t r = 0; r < plan->pipeline; r++) {
        const sl_chunk_pass own = sl_pass_of(plan, &busy[r]);
        const double filled = sl_smaller(m, 2.0 * p - r - 1.0) + sl_smaller(m, r + 1.0);
        const double left = 2.0 * m - filled;
        first_s = sl_larger(first_s, before_s + filled * own.forward_s);
        const double rest_s = first_s + 2.0 * m * own.input_s + left * own.forward_s;
        span_s = sl_larger(span_s, rest_s + 2.0 * m * own.weight_s - before_s);
        span_s = sl_larger(span_s, rest_s + left * own.weight_s + inputs_s + last_weight_s);
        first_s += own.input_s;
        inputs_s += own.input_s;
        before_s += own.forward_s;
    }
    return span_s;
}

/* The slowest rank sets the pace, the others fill and drain. It is waited for by p micro-batches in
 * flight, and what it is behind the mean on those is not idle besides. */
static double
zb_v_s(const sl_plan *plan, double m, const sl_busy *busy, uint32_t slowest)
{
    const double p = plan->pipeline;
    sl_busy mean = {0};

    for (uint32_t r = 0; r < plan->pipeline; r++) {
        mean.all_s += busy[r].all_s / p;
        mean.backward_s += busy[r].backward_s / p;
        mean.weight_s += busy[r].weight_s / p;
    }
    const double bubble_s = zb_v_bubble_s(plan, m, &mean) - p * (busy[slowest].all_s - mean.all_s);
    return sl_larger(m * busy[slowest].all_s + sl_larger(0.0, bubble_s),
                     zb_v_filled_s(plan, m, busy));
}

static double
naive_s(const sl_plan *plan, double m, const sl_busy *busy)
{
    double sum_s = 0.0;

    for (uint32_t r = 0; r < plan->pipeline; r++)
        sum_s += busy[r].all_s;
    return m * sum_s;
}

static double
span_of(const sl_plan *plan, double m, const sl_busy *busy, uint32_t slowest)
{
    switch (sl_schedule_of(plan)) {
    case SL_SCHEDULE_GPIPE:
        return gpipe_s(plan, m, busy);
    case SL_SCHEDULE_INTERLEAVED_1F1B:
        return interleaved_s(plan, m, busy);
    case SL_SCHEDULE_1F1B:
    case SL_SCHEDULE_ZB_H1:
    case SL_SCHEDULE_ZB_H2:
        return pairs_s(plan, m, busy, NULL);
    case SL_SCHEDULE_DUALPIPE:
        return sl_schedule_dualpipe_s(plan, m, busy);
    case SL_SCHEDULE_ZB_V:
        return zb_v_s(plan, m, busy, slowest);
    case SL_SCHEDULE_NAIVE:
    case SL_SCHEDULE_COUNT:
        break;
    }
    return naive_s(plan, m, busy);
}

sl_pipeline_span
sl_schedule_span(const sl_plan *plan, uint64_t microbatches, const sl_busy busy[SL_PIPELINE_MAX])
{
    const double m = (double)microbatches;
    double sum_s = 0.0;
    uint32_t slowest = 0;

    for (uint32_t r = 0; r < plan->pipeline; r++) {
        sum_s += busy[r].all_s;
        if (busy[r].all_s > busy[slowest].all_s)
            slowest = r;
    }
    const double least_s = m * busy[slowest].all_s;
    double bubble_s = span_of(plan, m, busy, slowest) - least_s;
    if (bubble_s < rounding_ratio * least_s)
        bubble_s = 0.0;
    const double span_s = least_s + bubble_s;

    return (sl_pipeline_span){
        .span_s = span_s,
        .bubble_s = bubble_s,
        .sum_s = sum_s,
        .idle_ratio = span_s > 0.0 ? 1.0 - m * sum_s / (plan->pipeline * span_s) : 0.0,
        .slowest = slowest,
    };
}

/* Ranks of ZB-V: the later ones begin after forwards of those before them and end before their
 * gradients of inputs. */
static void
zb_v_own_s(const sl_plan *plan, double m, const sl_busy *busy, double span_s, double *own_s)
{
    double edges_s = 0.0;

    for (uint32_t r = 0; r < plan->pipeline; r++) {
        const sl_chunk_pass own = sl_pass_of(plan, &busy[r]);
        own_s[r] = sl_larger(m * busy[r].all_s, span_s - edges_s);
        edges_s += own.forward_s + own.input_s;
    }
}

void
sl_schedule_own_spans(const sl_plan *plan, uint64_t microbatches,
                      const sl_busy busy[SL_PIPELINE_MAX], double span_s,
                      double own_s[SL_PIPELINE_MAX])
{
    assert(sl_schedule_steps_alone(plan));
    if (plan->schedule == SL_SCHEDULE_ZB_H2)
        (void)pairs_s(plan, (double)microbatches, busy, own_s);
    else
        zb_v_own_s(plan, (double)microbatches, busy, span_s, own_s);
}
