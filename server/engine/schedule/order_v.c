/* ZB-V: where gradients of weights go depends on how long everything takes. */
#include <assert.h>
#include <stddef.h>

#include "engine/extremes.h"
#include "engine/schedule/order.h"

enum { CHUNKS = 2, ENDS = SL_ORDER_V_PASSES }; /* of forwards, then of gradients of inputs */

/* A pass that is longer than a gap by no more than this share of it fits: sums of seconds round. */
static const double slack_ratio = 1e-9;

/* One rank as far as its order is written. What is left of its skeleton stands at the end of its
 * part of the order, which the order reaches when all gradients of weights are in it. */
typedef struct v_rank {
    sl_work *out;
    uint64_t written, weight; /* as in sl_order_write's: those before `weight` are complete */
    uint64_t next, end;       /* of the skeleton */
    uint32_t alive, waiting;  /* activations of chunks; of them those that wait for weights */
    double now_s;             /* end of the last pass */
    double begin_s;           /* of the first */
    double load_s;            /* all its passes and what it was idle between them */
} v_rank;

typedef struct v_order {
    uint32_t ranks;
    uint64_t batches;
    const sl_work_seconds *seconds; /* of each rank and chunk */
    double send_s;
    bool balances;    /* no gap is left that would make its rank's load the largest */
    double largest_s; /* load of a rank */
    v_rank *rank;
    double
        *end_s; /* of each rank, chunk and micro-batch, forwards first; negative before it ends */
    sl_work *out;
} v_order;

static double *
end_of(const v_order *v, uint32_t rank, uint32_t kind, uint32_t chunk, uint64_t microbatch)
{
    const uint64_t row = (uint64_t)rank * ENDS + (kind == SL_WORK_FORWARD ? 0 : CHUNKS) + chunk;

    return &v->end_s[row * v->batches + microbatch];
}

/* Numbers of micro-batches put into a skeleton, which skips those that there are not. */
typedef struct skeleton {
    v_rank *rank;
    uint64_t batches;
    uint64_t count[ENDS];
} skeleton;

static void
put(skeleton *s, sl_work_kind kind, uint32_t chunk)
{
    const uint64_t microbatch = s->count[(kind == SL_WORK_FORWARD ? 0 : CHUNKS) + chunk]++;

    if (microbatch < s->batches)
        s->rank->out[s->rank->end++] = (sl_work){
            .microbatch = (uint32_t)microbatch, .chunk = (uint16_t)chunk, .kind = (uint8_t)kind};
}

/* Qi 2023 figure 6: the order for equal passes, of 2p - 1 micro-batches at least. */
static void
lay_skeleton(uint32_t ranks, uint64_t microbatches, uint32_t r, v_rank *out)
{
    const uint32_t later = ranks - r;
    const uint64_t least = 2 * (uint64_t)ranks - 1;
    const uint64_t batches = microbatches > least ? microbatches : least;
    skeleton s = {.rank = out, .batches = microbatches};

    for (uint32_t i = 0; i < 2 * later - 1; i++)
        put(&s, SL_WORK_FORWARD, 0);
    for (uint32_t i = 0; i < r; i++) {
        put(&s, SL_WORK_FORWARD, 1);
        put(&s, SL_WORK_FORWARD, 0);
    }
    for (uint32_t i = 0; i < later; i++) {
        put(&s, SL_WORK_FORWARD, 1);
        put(&s, SL_WORK_BACKWARD_INPUT, 1);
    }
    while (s.count[1] < batches) {
        if (s.count[0] < batches)
            put(&s, SL_WORK_FORWARD, 0);
        put(&s, SL_WORK_BACKWARD_INPUT, 0);
        put(&s, SL_WORK_FORWARD, 1);
        put(&s, SL_WORK_BACKWARD_INPUT, 1);
    }
    for (uint32_t i = 0; i < r; i++) {
        put(&s, SL_WORK_BACKWARD_INPUT, 0);
        put(&s, SL_WORK_BACKWARD_INPUT, 1);
    }
    for (uint32_t i = 0; i < later; i++)
        put(&s, SL_WORK_BACKWARD_INPUT, 0);
    assert(out->end - out->next == ENDS * microbatches);
}

uint64_t
sl_order_write_v_skeleton(const sl_plan *plan, uint64_t microbatches, uint32_t rank, sl_work *out)
{
    v_rank own = {.out = out};

    lay_skeleton(plan->pipeline, microbatches, rank, &own);
    return own.end;
}

static void
start(v_order *v)
{
    const uint64_t forwards = CHUNKS * v->batches;

    v->largest_s = 0.0;
    for (uint32_t r = 0; r < v->ranks; r++) {
        v->rank[r] = (v_rank){
            .out = v->out + 3 * forwards * r, .next = forwards, .end = forwards, .begin_s = -1.0};
        lay_skeleton(v->ranks, v->batches, r, &v->rank[r]);
        for (uint32_t c = 0; c < CHUNKS; c++) {
            const sl_work_seconds *s = &v->seconds[r * CHUNKS + c];
            v->rank[r].load_s +=
                (double)v->batches * (s->forward_s + s->backward_input_s + s->backward_weight_s);
        }
        v->largest_s = sl_larger(v->largest_s, v->rank[r].load_s);
    }
    for (uint64_t i = 0; i < 2 * forwards * v->ranks; i++)
        v->end_s[i] = -1.0;
}

/* When a pass may begin; negative where that is not known yet. */
static double
ready_of(const v_order *v, uint32_t r, const sl_work *pass)
{
    const bool forward = pass->kind == SL_WORK_FORWARD;
    const bool down = forward == (pass->chunk == 0); /* from the first rank to the last */
    const uint32_t from = down ? 0 : v->ranks - 1;
    uint32_t kind = pass->kind;
    uint32_t chunk = pass->chunk;
    uint32_t other = r;

    if (r != from) {
        other = down ? r - 1 : r + 1;
    } else if (forward && chunk == 0) {
        return 0.0;
    } else if (!forward && chunk == 1) {
        kind = SL_WORK_FORWARD;
    } else { /* the turn of the V, one way or the other */
        chunk = 1 - chunk;
    }
    const double end_s = *end_of(v, other, kind, chunk, pass->microbatch);
    return end_s < 0.0 || other == r ? end_s : end_s + v->send_s;
}

static const sl_work *
first_waiting(v_rank *rank)
{
    while (rank->out[rank->weight].kind != SL_WORK_BACKWARD_INPUT)
        rank->weight++;
    return &rank->out[rank->weight];
}

static double
weight_seconds(const v_order *v, uint32_t r)
{
    return v->seconds[r * CHUNKS + first_waiting(&v->rank[r])->chunk].backward_weight_s;
}

static void
put_weight(v_order *v, uint32_t r)
{
    v_rank *rank = &v->rank[r];

    assert(rank->waiting > 0);
    rank->now_s += weight_seconds(v, r);
    rank->out[rank->written] = *first_waiting(rank);
    rank->out[rank->written++].kind = SL_WORK_BACKWARD_WEIGHT;
    rank->weight++;
    rank->waiting--;
    rank->alive--;
}

/* Whether a gradient of weights ends before something that is ready at `ready_s`. */
static bool
fits(const v_order *v, uint32_t r, double ready_s)
{
    const double seconds = weight_seconds(v, r);

    return ready_s - v->rank[r].now_s >= seconds * (1.0 - slack_ratio);
}

/* Gradients of weights that go before a pass that may begin at `ready_s`. */
static void
fill(v_order *v, uint32_t r, const sl_work *pass, double ready_s)
{
    v_rank *rank = &v->rank[r];

    if (pass->kind == SL_WORK_FORWARD)
        while (rank->alive == 2 * v->ranks)
            put_weight(v, r);
    while (rank->waiting > 0 && fits(v, r, ready_s))
        put_weight(v, r);
    if (v->balances && rank->waiting > 0 && ready_s > rank->now_s &&
        rank->load_s + ready_s - rank->now_s > v->largest_s * (1.0 + slack_ratio))
        put_weight(v, r);
}

static bool
advance(v_order *v, uint32_t r)
{
    v_rank *rank = &v->rank[r];

    if (rank->next == rank->end)
        return false;
    const sl_work pass = rank->out[rank->next];
    const double ready_s = ready_of(v, r, &pass);
    if (ready_s < 0.0)
        return false;

    fill(v, r, &pass, ready_s);
    const bool forward = pass.kind == SL_WORK_FORWARD;
    const sl_work_seconds *seconds = &v->seconds[r * CHUNKS + pass.chunk];
    const double start_s = sl_larger(rank->now_s, ready_s);
    if (rank->begin_s < 0.0)
        rank->begin_s = start_s;
    else
        rank->load_s += start_s - rank->now_s;
    v->largest_s = sl_larger(v->largest_s, rank->load_s);
    rank->now_s = start_s + (forward ? seconds->forward_s : seconds->backward_input_s);
    *end_of(v, r, pass.kind, pass.chunk, pass.microbatch) = rank->now_s;
    rank->alive += forward;
    rank->waiting += !forward;
    rank->out[rank->written++] = pass;
    rank->next++;
    return true;
}

/* The longest any rank takes from its first pass to its last. */
static double
write_all(v_order *v)
{
    double span_s = 0.0;
    bool moved = true;

    start(v);
    while (moved) {
        moved = false;
        for (uint32_t r = 0; r < v->ranks; r++)
            while (advance(v, r)) {
                moved = true;
                if (v->balances) /* what else is the largest load by then is what counts */
                    break;
            }
    }
    for (uint32_t r = 0; r < v->ranks; r++) {
        v_rank *rank = &v->rank[r];
        assert(rank->next == rank->end);
        while (rank->waiting > 0)
            put_weight(v, r);
        span_s = sl_larger(span_s, rank->now_s - rank->begin_s);
    }
    return span_s;
}

size_t
sl_order_v_bytes(const sl_plan *plan, uint64_t microbatches)
{
    return plan->pipeline * (sizeof(v_rank) + ENDS * microbatches * sizeof(double));
}

void
sl_order_write_v(const sl_plan *plan, uint64_t microbatches, const sl_work_seconds *seconds,
                 double send_s, void *scratch, sl_work *out)
{
    v_rank *ranks = scratch;
    v_order v = {.ranks = plan->pipeline,
                 .batches = microbatches,
                 .seconds = seconds,
                 .send_s = send_s,
                 .rank = ranks,
                 .end_s = (double *)(ranks + plan->pipeline),
                 .out = out};

    assert(plan->schedule == SL_SCHEDULE_ZB_V && sl_order_exists(plan, microbatches));
    assert(microbatches <= UINT32_MAX && out != NULL);
    const double greedy_s = write_all(&v);
    v.balances = true;
    if (write_all(&v) > greedy_s) {
        v.balances = false;
        write_all(&v);
    }
}
