/*
 * How long a step of DualPipe spans, in closed form. Depth r is the r-th rank from either end,
 * where both directions do the same: micro-batches of the near one come from the end that r is
 * nearer to and go on to the middle, those of the far one come from the middle.
 */
#include <assert.h>

#include "engine/extremes.h"
#include "engine/schedule/schedule_parts.h"

typedef struct depth {
    sl_chunk_pass near, far;
    double near_s, far_s; /* a whole backward of one and a forward of the other */
    double again_s;       /* a far backward and a far forward */
    double inner;         /* depths between this one and the middle */
    double meets_s;       /* the first far forward begins */
    double turns_s;       /* the first far gradient of inputs begins */
    double entered_s;     /* the first pair has ended: of near forward and far backward */
    double pairs_s;       /* the first pair with a near backward begins */
    double near_end_s;    /* the last near forward ends */
    double far_end_s;     /* the last far forward ends */
    double inputs_s;      /* the last far gradient of inputs ends */
} depth;

/* Of two ranks at the same depth the longer of each pass through the same layers, which are the
 * first chunk of one and the second of the other: half of the skew more, or less. */
static sl_chunk_pass
slower(const sl_plan *plan, const sl_busy *one, const sl_busy *other, double half)
{
    const sl_chunk_pass a = sl_pass_of(plan, one);
    const sl_chunk_pass b = sl_pass_of(plan, other);

    return (sl_chunk_pass){.forward_s = sl_larger(a.forward_s + half * one->skew.forward_s,
                                                  b.forward_s - half * other->skew.forward_s),
                           .input_s = sl_larger(a.input_s + half * one->skew.input_s,
                                                b.input_s - half * other->skew.input_s),
                           .weight_s = sl_larger(a.weight_s + half * one->skew.weight_s,
                                                 b.weight_s - half * other->skew.weight_s)};
}

static double
backward_s(const sl_chunk_pass *pass)
{
    return pass->input_s + pass->weight_s;
}

/* Phase 1: near forwards alone, until the first far one comes from the other side. */
static void
fill(const sl_plan *plan, const sl_busy *busy, depth *d, uint32_t depths)
{
    double come_s = 0.0;

    for (uint32_t r = 0; r < depths; r++) {
        const sl_busy *one = &busy[r];
        const sl_busy *other = &busy[plan->pipeline - 1 - r];
        const double inner = depths - 1.0 - r;
        depth *at = &d[r];
        at->near = slower(plan, one, other, -0.5);
        at->far = slower(plan, one, other, 0.5);
        at->near_s = at->far.forward_s + backward_s(&at->near);
        at->far_s = at->near.forward_s + backward_s(&at->far);
        at->again_s = at->far.forward_s + backward_s(&at->far);
        at->inner = inner;
        at->meets_s = come_s + (2.0 * inner + 1.0) * at->near.forward_s;
        come_s += at->near.forward_s;
    }
    for (uint32_t r = depths - 1; r-- > 0;)
        d[r].meets_s = sl_larger(d[r].meets_s, d[r + 1].meets_s + d[r + 1].far.forward_s);
}

/* When a depth has run its forwards of phase 2, as far as those of depth `of` decide. */
static double
filled_s(const depth *of, double r)
{
    return of->meets_s + (r + 1.0) * of->far.forward_s + r * of->near.forward_s;
}

/* Phases 2 and 3: forwards of both directions in turn, then far backwards, which come from the
 * outer depth, until the first near one comes from the inner. */
static void
turn(depth *d, uint32_t depths)
{
    for (uint32_t r = 0; r < depths; r++) {
        depth *at = &d[r];
        double ready_s = filled_s(at, r);
        double run_s = 0.0;
        if (at->inner > 0.0)
            ready_s = sl_larger(ready_s, filled_s(&d[r + 1], r) + at->far.forward_s);
        at->turns_s = ready_s;
        if (r > 0) {
            const double come_s = d[r - 1].turns_s + d[r - 1].far.input_s;
            at->turns_s = sl_larger(ready_s, come_s);
            run_s = come_s + at->inner * d[r - 1].again_s;
        }
        at->entered_s = sl_larger(run_s, at->turns_s + at->inner * at->again_s) + at->far_s;
        if (at->inner == 0.0) /* the first two are not beside each other there */
            at->entered_s =
                sl_larger(ready_s + at->near.forward_s, at->turns_s) + backward_s(&at->far);
        at->pairs_s = at->entered_s;
    }
    for (uint32_t r = depths - 1; r-- > 0;)
        d[r].pairs_s = sl_larger(d[r].pairs_s, d[r + 1].pairs_s + d[r + 1].near_s);
}

/* Phases 4 and 5: pairs of both kinds in turn, then far forwards with far backwards between
 * them. */
static void
run(depth *d, uint32_t depths, double microbatches)
{
    for (uint32_t r = 0; r < depths; r++) {
        const double rounds = microbatches / 2.0 - 2.0 * depths + r; /* after the first */
        d[r].near_end_s =
            rounds > 0.0 ? d[r].pairs_s + rounds * (d[r].near_s + d[r].far_s) : d[r].entered_s;
        if (r > 0)
            d[r].near_end_s = sl_larger(d[r].near_end_s, d[r - 1].near_end_s + d[r].far_s);
    }
    for (uint32_t r = depths; r-- > 0;) {
        d[r].far_end_s = sl_larger(d[r].near_end_s, d[r].pairs_s) + d[r].near_s +
                         d[r].inner * (backward_s(&d[r].far) + d[r].near_s);
        if (d[r].inner > 0.0)
            d[r].far_end_s = sl_larger(d[r].far_end_s, d[r + 1].far_end_s + d[r].near_s);
    }
}

/* Phases 6 to 8: the last far gradients go to the middle and the last near ones come back,
 * gradients of weights last. Returns the end of all. */
static double
drain(depth *d, uint32_t depths)
{
    double back_s = 0.0;
    double end_s = 0.0;

    for (uint32_t r = 0; r < depths;
         r++) { /* far and near in turn, of which the first r + 1 whole */
        const uint32_t near_whole = (r + 1) / 2;
        const uint32_t far_whole = r + 1 - near_whole;
        d[r].inputs_s = d[r].far_end_s + (r + 1.0) * d[r].far.input_s + r * d[r].near.input_s +
                        far_whole * d[r].far.weight_s + near_whole * d[r].near.weight_s;
        if (r > 0)
            d[r].inputs_s = sl_larger(d[r].inputs_s, d[r - 1].inputs_s + d[r].far.input_s);
    }
    for (uint32_t r = depths; r-- > 0;) {
        const double weight_s = (d[r].near.weight_s + d[r].far.weight_s) / 2.0;
        const double own_s = d[r].inputs_s + d[r].inner * (d[r].near.input_s + weight_s);
        back_s = sl_larger(back_s, own_s) + d[r].near.input_s;
        end_s = sl_larger(end_s, back_s + (r + 1.0) * weight_s);
    }
    return end_s;
}

double
sl_schedule_dualpipe_s(const sl_plan *plan, double microbatches, const sl_busy *busy)
{
    const uint32_t depths = plan->pipeline / 2;
    depth d[SL_PIPELINE_MAX / 2];

    assert(depths >= 1);
    fill(plan, busy, d, depths);
    turn(d, depths);
    run(d, depths, microbatches);
    return drain(d, depths);
}
