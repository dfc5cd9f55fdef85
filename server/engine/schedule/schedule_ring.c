#include "engine/schedule/schedule_ring.h"

#include <stddef.h>

#include "engine/extremes.h"

/* Rounds of p micro-batches that are run, at most. */
enum { ROUNDS = 4 };

/* When a rank goes on with its next pass, when its links are free, and when what it made last
 * arrives. */
typedef struct rank {
    double free_s;
    double lane_s[2];
    double on_s, back_s;
} rank;

/* Passes of one tick: ranks from `turn` on are in the block before of forwards, and in the next of
 * backwards. */
typedef struct tick {
    int64_t index
        [2]; /* of the first rank's forward and backward; ranks after it: one less, one more each */
    uint32_t turn[2];
    uint32_t row[2][2]; /* which of its chunks a rank has, below `turn` and from it on */
} tick;

enum { FORWARD, BACKWARD };

static uint64_t
run_rounds(const sl_plan *plan, uint64_t microbatches)
{
    const uint64_t rounds = microbatches / plan->pipeline;

    return rounds < ROUNDS ? rounds : ROUNDS;
}

bool
sl_ring_runs(const sl_plan *plan, uint64_t microbatches)
{
    const uint64_t p = plan->pipeline;

    return sl_schedule_of(plan) == SL_SCHEDULE_INTERLEAVED_1F1B && p > 1 && microbatches % p == 0 &&
           !plan->overlap_experts &&
           run_rounds(plan, microbatches) * p * p * plan->virtual_pipeline <= SL_RING_PAIRS_MAX;
}

/* The u-th tick from two on: that of the first rank's first forward. */
static tick
tick_of(const sl_plan *plan, uint64_t u)
{
    const uint32_t p = plan->pipeline;
    const uint32_t v = plan->virtual_pipeline;
    const uint64_t forward = u - 2;
    const uint32_t row = (uint32_t)(forward / p % v);
    const uint32_t slot = (uint32_t)((u / p + v - 1) % v); /* backwards begin v + 1 blocks later */

    return (tick){
        .index = {(int64_t)forward, (int64_t)u - (int64_t)(v + 1) * p},
        .turn = {(uint32_t)(forward % p) + 1, p - (uint32_t)(u % p)},
        .row = {{row, (row + v - 1) % v}, {v - 1 - slot, v - 1 - (slot + 1) % v}},
    };
}

/* When what passes between a chunk and the next one arrives; `*now_s` is when the rank goes on. */
static double
sent_s(const sl_ring *ring, uint32_t chunk, rank *from, double *now_s)
{
    if (ring->after == NULL || ring->after[chunk].seconds <= 0.0)
        return *now_s;
    double *lane_s = &from->lane_s[ring->after[chunk].network];
    *lane_s = sl_larger(*now_s, *lane_s) + ring->after[chunk].seconds;
    if (!ring->beside)
        *now_s = *lane_s;
    return *lane_s;
}

/* All ranks in one tick, from the last on: what the one before made is still that of the tick
 * before. */
static void
run_tick(const sl_ring *ring, const tick *at, uint64_t count, rank *ranks)
{
    const uint32_t p = ring->plan->pipeline;
    const uint32_t last = sl_schedule_chunks(ring->plan) - 1;
    const double around_s = ranks[p - 1].on_s;
    double come_s = ranks[0].back_s;

    for (uint32_t r = p; r-- > 0;) {
        /* Before the first of them these are more than any count. */
        const uint64_t forward = (uint64_t)(at->index[FORWARD] - r);
        const uint64_t backward = (uint64_t)(at->index[BACKWARD] + r);
        const double back_s = ranks[r].back_s;
        double now_s = ranks[r].free_s;
        if (forward < count) {
            const uint32_t chunk = at->row[FORWARD][r >= at->turn[FORWARD]] * p + r;
            if (chunk > 0)
                now_s = sl_larger(now_s, r > 0 ? ranks[r - 1].on_s : around_s);
            now_s += ring->passes[chunk].forward_s;
            ranks[r].on_s = chunk < last ? sent_s(ring, chunk, &ranks[r], &now_s) : now_s;
        }
        if (backward < count) {
            const uint32_t chunk = at->row[BACKWARD][r >= at->turn[BACKWARD]] * p + r;
            if (chunk < last)
                now_s = sl_larger(now_s, come_s);
            now_s += ring->passes[chunk].input_s;
            ranks[r].back_s = chunk > 0 ? sent_s(ring, chunk - 1, &ranks[r], &now_s) : now_s;
        }
        ranks[r].free_s = now_s;
        come_s = back_s;
    }
}

static double
latest_s(const sl_plan *plan, const rank *ranks)
{
    double latest = 0.0;

    for (uint32_t r = 0; r < plan->pipeline; r++)
        latest = sl_larger(latest, ranks[r].free_s);
    return latest;
}

double
sl_ring_span_s(const sl_ring *ring)
{
    const sl_plan *plan = ring->plan;
    const uint64_t p = plan->pipeline;
    const uint64_t round = p * plan->virtual_pipeline;
    const uint64_t rounds = run_rounds(plan, ring->microbatches);
    const uint64_t count = rounds * round;
    const uint64_t left = ring->microbatches / p - rounds;
    rank ranks[SL_PIPELINE_MAX];
    double begun_s = 0.0;
    double round_s = 0.0;

    assert(sl_ring_runs(plan, ring->microbatches));
    for (uint32_t r = 0; r < p; r++)
        ranks[r] = (rank){0};
    for (uint64_t u = 2; u < count + round + p; u++) {
        const tick at = tick_of(plan, u);
        run_tick(ring, &at, count, ranks);
        /* Of the last round that the first rank has a forward of. */
        if (left > 0 && u == count + 1 - round)
            begun_s = latest_s(plan, ranks);
        else if (left > 0 && u == count + 1)
            round_s = latest_s(plan, ranks) - begun_s;
    }
    return latest_s(plan, ranks) + (double)left * round_s;
}
