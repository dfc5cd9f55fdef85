/* How long a step of a pipeline spans, in closed form. */
#include "engine/schedule.h"

/* A bubble below this share of the step is what sums of seconds round by. */
static const double rounding_ratio = 1e-12;

/* fmax and fmin are calls, and a search comes here with every plan. */
static double
larger(double a, double b)
{
    return a > b ? a : b;
}

static double
smaller(double a, double b)
{
    return a < b ? a : b;
}

/* What one rank other than the slowest leaves idle on it. */
static double
bubble_of(const sl_plan *plan, double microbatches, const sl_busy *busy)
{
    if (plan->schedule == SL_SCHEDULE_NAIVE)
        return microbatches * busy->all_s;
    return (busy->all_s + busy->backward_s - 3.0 * busy->weight_s) / 2.0; /* DualPipe */
}

/* One pass through one chunk of a rank, by the symbols of the papers. */
typedef struct pass {
    double forward_s, input_s, weight_s;
} pass;

static pass
pass_of(const sl_plan *plan, const sl_busy *busy)
{
    const double v = plan->virtual_pipeline;
    const double weight_s = sl_schedule_splits_backward(plan) ? busy->weight_s / v : 0.0;

    return (pass){.forward_s = (busy->all_s - busy->backward_s) / v,
                  .input_s = busy->backward_s / v - weight_s,
                  .weight_s = weight_s};
}

/* All ranks' passes one after the other, and the longest of each kind. */
typedef struct passes {
    pass sum, most;
} passes;

static passes
passes_of(const sl_plan *plan, const sl_busy *busy)
{
    passes out = {0};

    for (uint32_t r = 0; r < plan->pipeline; r++) {
        const pass p = pass_of(plan, &busy[r]);
        out.sum.forward_s += p.forward_s;
        out.sum.input_s += p.input_s;
        out.most.forward_s = larger(out.most.forward_s, p.forward_s);
        out.most.input_s = larger(out.most.input_s, p.input_s);
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

/* The least that a rank takes from its first pass to its last, others later by `beyond_s`. */
static double
interleaved_rank_s(const sl_plan *plan, double m, const passes *all, const pass *own,
                   double beyond_s, uint32_t rank)
{
    const double p = plan->pipeline;
    const double v = plan->virtual_pipeline;
    const double n = v * m;
    const double lead = (v - 1.0) * p; /* forwards before the last chunk's first */
    const double later = 2.0 * (p - 1.0 - rank);
    const double loops = v > 1.0 ? (v - 2.0) * p : 0.0;
    const double forward_s =
        larger(0.0, loops * all->most.forward_s + all->sum.forward_s - lead * own->forward_s);
    const double input_s =
        larger(0.0, loops * all->most.input_s + all->sum.input_s - lead * own->input_s);
    const double busy_s = n * (own->forward_s + own->input_s);

    if (later + lead + 1.0 <= n)
        return busy_s + forward_s + input_s + larger(0.0, beyond_s - later * own->forward_s) +
               larger(0.0, beyond_s - later * own->input_s);
    /* No backward before the last forward. */
    return larger(busy_s,
                  beyond_s + larger(n * own->forward_s + (lead + 1.0) * own->input_s + input_s,
                                    (lead + 1.0) * own->forward_s + n * own->input_s + forward_s));
}

static double
interleaved_s(const sl_plan *plan, double m, const sl_busy *busy)
{
    const passes all = passes_of(plan, busy);
    double before_s = 0.0; /* what ranks before this one take of a micro-batch, there and back */
    double span_s = 0.0;

    for (uint32_t r = 0; r < plan->pipeline; r++) {
        const pass own = pass_of(plan, &busy[r]);
        const double own_s = own.forward_s + own.input_s;
        const double beyond_s = larger(0.0, all.sum.forward_s + all.sum.input_s - before_s - own_s);
        span_s = larger(span_s, before_s + interleaved_rank_s(plan, m, &all, &own, beyond_s, r));
        before_s += own_s;
    }
    return span_s;
}

/* 1F1B, ZB-H1 and ZB-H2, as sl_schedule_span says. */
static double
pairs_s(const sl_plan *plan, double m, const sl_busy *busy)
{
    const bool by_itself = plan->schedule == SL_SCHEDULE_ZB_H2;
    const double reach = by_itself ? 2.0 : 1.0;
    const passes all = passes_of(plan, busy);
    double input_end_s[SL_PIPELINE_MAX]; /* last gradient of inputs, but for what follows a rank */
    double fill_s = 0.0;
    double before_s = 0.0;
    double forward_end_s = 0.0;
    double last_s = 0.0;
    double span_s = 0.0;

    for (uint32_t r = 0; r < plan->pipeline; r++) {
        const pass own = pass_of(plan, &busy[r]);
        const double behind = reach * r;
        const double ahead = reach * (plan->pipeline - 1.0 - r);
        const double early = larger(0.0, m - ahead - 1.0); /* backwards before the last forward */
        const double own_s = own.forward_s + own.input_s;
        const double beyond_s = larger(0.0, all.sum.forward_s + all.sum.input_s - before_s - own_s);
        const double waits_s = early > 0.0 ? larger(0.0, beyond_s - ahead * own.forward_s) : 0.0;
        forward_end_s = larger(forward_end_s + own.forward_s,
                               fill_s + m * own.forward_s + waits_s + early * own.input_s +
                                   larger(0.0, early - behind) * own.weight_s);
        input_end_s[r] = forward_end_s + (m - early) * own.input_s +
                         larger(0.0, m - 1.0 - larger(early, behind)) * own.weight_s;
        if (early == 0.0)
            input_end_s[r] =
                larger(input_end_s[r], fill_s + own_s + beyond_s + (m - 1.0) * own.input_s +
                                           larger(0.0, m - 1.0 - behind) * own.weight_s);
        fill_s += own.forward_s;
        before_s += own_s;
    }
    for (uint32_t r = plan->pipeline; r-- > 0;) {
        const pass own = pass_of(plan, &busy[r]);
        fill_s -= own.forward_s;
        last_s = larger(input_end_s[r], last_s + own.input_s);
        const double end_s = last_s + (smaller(reach * r, m - 1.0) + 1.0) * own.weight_s;
        span_s = larger(span_s, by_itself ? end_s - fill_s : end_s);
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
    const double many_s = (p - 1.0) * (larger(0.0, input_s - forward_s) +
                                       larger(0.0, forward_s + input_s - 2.0 * weight_s)) -
                          weight_s;
    const double few_s =
        larger(0.0, 2.0 * p - 1.0 - microbatches) * forward_s +
        larger(0.0, 2.0 * (p - 1.0) * input_s - (microbatches - 1.0) * mean->all_s - weight_s);

    return larger(many_s, few_s) / 2.0;
}

/* The slowest rank sets the pace, the others fill and drain. With micro-batches in both directions
 * it is waited for by p of them in flight, and what it is behind the mean on those is not idle
 * besides. */
static double
paced_s(const sl_plan *plan, double m, const sl_busy *busy, uint32_t slowest)
{
    const double p = plan->pipeline;
    double bubble_s = 0.0;
    sl_busy mean = {0};

    for (uint32_t r = 0; r < plan->pipeline; r++) {
        const bool mirror =
            plan->schedule == SL_SCHEDULE_DUALPIPE && r == plan->pipeline - 1 - slowest;
        if (r != slowest && !mirror)
            bubble_s += bubble_of(plan, m, &busy[r]);
        mean.all_s += busy[r].all_s / p;
        mean.backward_s += busy[r].backward_s / p;
        mean.weight_s += busy[r].weight_s / p;
    }
    if (plan->schedule == SL_SCHEDULE_ZB_V)
        bubble_s = zb_v_bubble_s(plan, m, &mean);
    if (sl_schedule_directions(plan) == 2)
        bubble_s -= p * (busy[slowest].all_s - mean.all_s);
    return m * busy[slowest].all_s + larger(0.0, bubble_s);
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
        return pairs_s(plan, m, busy);
    case SL_SCHEDULE_NAIVE:
    case SL_SCHEDULE_ZB_V:
    case SL_SCHEDULE_DUALPIPE:
    case SL_SCHEDULE_COUNT:
        break;
    }
    return paced_s(plan, m, busy, slowest);
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
