#include "engine/schedule/order.h"

#include <assert.h>
#include <stddef.h>

bool
sl_order_exists(const sl_plan *plan, uint64_t microbatches)
{
    const uint64_t m = microbatches;

    if (m == 0 || plan->pipeline == 0)
        return false;
    switch (plan->schedule) {
    case SL_SCHEDULE_NAIVE:
    case SL_SCHEDULE_GPIPE:
    case SL_SCHEDULE_INTERLEAVED_1F1B:
        return plan->virtual_pipeline >= 1;
    case SL_SCHEDULE_ZB_V:
        return plan->virtual_pipeline == 2;
    case SL_SCHEDULE_DUALPIPE:
        return plan->virtual_pipeline == 1 && plan->pipeline % 2 == 0 && m % 2 == 0 &&
               m >= 2 * (uint64_t)plan->pipeline;
    case SL_SCHEDULE_1F1B:
    case SL_SCHEDULE_ZB_H1:
    case SL_SCHEDULE_ZB_H2:
        return plan->virtual_pipeline == 1;
    case SL_SCHEDULE_COUNT:
        break;
    }
    return false;
}

uint64_t
sl_order_group(const sl_plan *plan, uint64_t microbatches, uint32_t asked)
{
    const uint64_t p = plan->pipeline;
    const uint64_t m = microbatches;
    uint64_t group = asked > p ? asked : p;

    /* Ends at m at the latest. */
    while (group < m && m % group != 0 && m % group < p)
        group++;
    return group;
}

/* DualPipe: ranks between this one and the nearer end. */
static uint32_t
depth_of(const sl_plan *plan, uint32_t rank)
{
    const uint32_t other = plan->pipeline - 1 - rank;

    return rank < other ? rank : other;
}

uint64_t
sl_order_count(const sl_plan *plan, uint64_t microbatches, uint32_t rank)
{
    const uint64_t passes = 2 * (uint64_t)plan->virtual_pipeline * microbatches;

    if (plan->schedule == SL_SCHEDULE_DUALPIPE)
        return passes + plan->pipeline - 1 - depth_of(plan, rank);
    return sl_schedule_splits_backward(plan) ? passes / 2 * 3 : passes;
}

/* An order being written. */
typedef struct writer {
    sl_work *out;
    uint64_t count;
    uint64_t weight; /* passes before this one have no gradients of weights to come */
} writer;

static void
put(writer *w, sl_work_kind kind, uint32_t chunk, uint64_t microbatch)
{
    w->out[w->count++] = (sl_work){
        .microbatch = (uint32_t)microbatch, .chunk = (uint16_t)chunk, .kind = (uint8_t)kind};
}

/* Gradients of weights of the first pass that waits for them. */
static void
put_weight(writer *w)
{
    while (w->out[w->weight].kind != SL_WORK_BACKWARD_INPUT)
        w->weight++;
    put(w, SL_WORK_BACKWARD_WEIGHT, w->out[w->weight].chunk, w->out[w->weight].microbatch);
    w->weight++;
}

static void
write_naive(const sl_plan *plan, uint64_t m, writer *w)
{
    for (uint64_t i = 0; i < m; i++) {
        for (uint32_t c = 0; c < plan->virtual_pipeline; c++)
            put(w, SL_WORK_FORWARD, c, i);
        for (uint32_t c = plan->virtual_pipeline; c-- > 0;)
            put(w, SL_WORK_BACKWARD, c, i);
    }
}

static void
write_gpipe(const sl_plan *plan, uint64_t m, writer *w)
{
    for (uint32_t c = 0; c < plan->virtual_pipeline; c++)
        for (uint64_t i = 0; i < m; i++)
            put(w, SL_WORK_FORWARD, c, i);
    for (uint32_t c = plan->virtual_pipeline; c-- > 0;)
        for (uint64_t i = m; i-- > 0;)
            put(w, SL_WORK_BACKWARD, c, i);
}

/* Where a rank stands among its forwards, or its backwards, of interleaved chunks: micro-batches go
 * through all its chunks group by group. */
typedef struct cursor {
    uint64_t first, size; /* micro-batches of the group */
    uint64_t within;
    uint32_t chunk; /* by the order in which it comes to them */
} cursor;

static void
put_next(writer *w, const sl_plan *plan, uint64_t m, sl_work_kind kind, cursor *at)
{
    const uint32_t last = plan->virtual_pipeline - 1;

    put(w, kind, kind == SL_WORK_FORWARD ? at->chunk : last - at->chunk, at->first + at->within);
    if (++at->within < at->size)
        return;
    at->within = 0;
    if (at->chunk++ < last)
        return;
    at->chunk = 0;
    at->first += at->size;
    if (m - at->first < at->size)
        at->size = m - at->first;
}

/* 1F1B is the same with one chunk, but for what runs ahead of the first backward. */
static void
write_pairs(const sl_plan *plan, uint64_t m, uint64_t group, uint32_t rank, writer *w)
{
    const bool interleaved = plan->schedule == SL_SCHEDULE_INTERLEAVED_1F1B;
    const uint64_t later = plan->pipeline - 1 - rank;
    const uint64_t passes = m * plan->virtual_pipeline;
    cursor forwards = {.size = m < group ? m : group};
    cursor backwards = forwards;
    uint64_t ahead = interleaved ? 2 * later + (plan->virtual_pipeline - 1) * group : later;
    uint64_t forward = 0;

    ahead += plan->overlap_experts;
    for (; forward < passes && forward < ahead; forward++)
        put_next(w, plan, m, SL_WORK_FORWARD, &forwards);
    for (uint64_t backward = 0; backward < passes; backward++) {
        if (forward < passes) {
            put_next(w, plan, m, SL_WORK_FORWARD, &forwards);
            w->out[w->count - 1].beside = plan->overlap_experts;
            forward++;
        }
        put_next(w, plan, m, SL_WORK_BACKWARD, &backwards);
    }
}

static void
write_zero_bubble(const sl_plan *plan, uint64_t m, uint32_t rank, writer *w)
{
    const bool twice = plan->schedule == SL_SCHEDULE_ZB_H2;
    const uint64_t later = plan->pipeline - 1 - rank;
    const uint64_t ahead = twice ? 2 * later + 1 : later;
    const uint64_t behind = twice ? 2 * (uint64_t)rank : rank; /* gradients of weights */
    uint64_t forward = 0;
    uint64_t weight = 0;

    while (forward < m && forward < ahead)
        put(w, SL_WORK_FORWARD, 0, forward++);
    for (uint64_t input = 0; input < m; input++) {
        const bool more = forward < m;
        if (more && !twice)
            put(w, SL_WORK_FORWARD, 0, forward++);
        put(w, SL_WORK_BACKWARD_INPUT, 0, input);
        if (input >= behind) {
            put_weight(w);
            weight++;
        }
        if (more && twice)
            put(w, SL_WORK_FORWARD, 0, forward++);
    }
    for (; weight < m; weight++)
        put_weight(w);
}

/* A rank of DualPipe. Its near direction enters at its nearer end. */
typedef struct dual {
    writer *w;
    uint32_t near;        /* chunk of the near direction */
    uint64_t half;        /* micro-batches of a direction */
    uint64_t forward[2];  /* how many of each chunk are under way */
    uint64_t backward[2]; /* likewise */
} dual;

static void
put_dual(dual *d, sl_work_kind kind, uint32_t direction)
{
    const uint32_t chunk = d->near ^ direction;
    uint64_t *next = kind == SL_WORK_FORWARD ? d->forward : d->backward;

    put(d->w, kind, chunk, chunk * d->half + next[chunk]++);
}

static void
put_beside(dual *d, uint32_t forward)
{
    put_dual(d, SL_WORK_FORWARD, forward);
    d->w->out[d->w->count - 1].beside = true;
    put_dual(d, SL_WORK_BACKWARD, 1 - forward);
}

/* Phases 1 to 3 fill, 4 is the steady state, 5 to 8 drain. */
static void
write_dualpipe(const sl_plan *plan, uint64_t m, uint32_t rank, writer *w)
{
    const uint32_t x = depth_of(plan, rank);
    const uint32_t inner = plan->pipeline / 2 - 1 - x; /* ranks from here to the middle */
    const uint64_t steady = m / 2 - plan->pipeline + x + 1;
    dual d = {.w = w, .near = x != rank, .half = m / 2};

    for (uint32_t i = 0; i < 2 * inner; i++)
        put_dual(&d, SL_WORK_FORWARD, 0);
    for (uint32_t i = 0; i <= x; i++) {
        put_dual(&d, SL_WORK_FORWARD, 0);
        put_dual(&d, SL_WORK_FORWARD, 1);
    }
    for (uint32_t i = 0; i < inner; i++) {
        put_dual(&d, SL_WORK_BACKWARD_INPUT, 1);
        put_weight(w);
        put_dual(&d, SL_WORK_FORWARD, 1);
    }
    for (uint64_t i = 0; i < steady; i++) {
        put_beside(&d, 0);
        if (i == 0 && inner == 0) /* the middle ranks wait less with the first two apart */
            w->out[w->count - 2].beside = false;
        put_beside(&d, 1);
    }
    for (uint32_t i = 0; i < inner; i++) {
        put_dual(&d, SL_WORK_BACKWARD, 1);
        put_beside(&d, 1);
    }
    for (uint32_t i = 0; i < 2 * (x + 1); i++) /* the second half split */
        put_dual(&d, i > x ? SL_WORK_BACKWARD_INPUT : SL_WORK_BACKWARD, 1 - i % 2);
    for (uint32_t i = 0; i < inner; i++) {
        put_weight(w);
        put_dual(&d, SL_WORK_BACKWARD_INPUT, 0);
    }
    for (uint32_t i = 0; i <= x; i++)
        put_weight(w);
}

void
sl_order_write(const sl_plan *plan, uint64_t microbatches, uint32_t group, uint32_t rank,
               sl_work *out)
{
    writer w = {.out = out};

    assert(sl_order_exists(plan, microbatches) && microbatches <= UINT32_MAX);
    assert(rank < plan->pipeline && out != NULL);
    switch (plan->schedule) {
    case SL_SCHEDULE_NAIVE:
        write_naive(plan, microbatches, &w);
        break;
    case SL_SCHEDULE_GPIPE:
        if (sl_schedule_holds_all(plan))
            write_gpipe(plan, microbatches, &w);
        else
            write_naive(plan, microbatches, &w);
        break;
    case SL_SCHEDULE_1F1B:
    case SL_SCHEDULE_INTERLEAVED_1F1B:
        write_pairs(plan, microbatches, sl_order_group(plan, microbatches, group), rank, &w);
        break;
    case SL_SCHEDULE_ZB_H1:
    case SL_SCHEDULE_ZB_H2:
        write_zero_bubble(plan, microbatches, rank, &w);
        break;
    case SL_SCHEDULE_DUALPIPE:
        write_dualpipe(plan, microbatches, rank, &w);
        break;
    case SL_SCHEDULE_ZB_V: /* sl_order_write_v */
    case SL_SCHEDULE_COUNT:
        assert(false);
    }
    assert(w.count == sl_order_count(plan, microbatches, rank));
}
