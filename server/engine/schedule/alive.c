#include "engine/schedule/alive.h"

#include <assert.h>
#include <string.h>

#include "engine/extremes.h"

enum { CHUNKS = 2 }; /* of a rank of ZB-V or DualPipe */

static double
bytes_of(const sl_alive *alive, const sl_chunk_bytes *bytes)
{
    return alive->whole * bytes->whole + alive->deferred * bytes->deferred;
}

/* Of the first `passes` that go through all chunks, p micro-batches of each, those of the one that
 * comes `turn`th. */
static double
passes_of(const sl_plan *plan, uint64_t passes, uint32_t turn)
{
    const uint64_t p = plan->pipeline;
    const uint64_t round = p * plan->virtual_pipeline;
    const uint64_t before = turn * p;
    const uint64_t left = passes % round;
    const uint64_t own = left <= before ? 0 : left - before < p ? left - before : p;

    return (double)(passes / round * p + own);
}

/* Forwards go through the chunks in order, p micro-batches of each, backwards the other way; as many
 * as run ahead are alive, and with each pair of passes one comes and one goes. */
static void
find_interleaved(const sl_plan *plan, uint64_t passes, uint64_t ahead, const sl_chunk_bytes *bytes,
                 sl_alive *out)
{
    const uint64_t p = plan->pipeline;
    const uint64_t v = plan->virtual_pipeline;
    double alive = 0.0, most = 0.0;
    uint64_t forward = ahead;
    uint64_t backward = 0;
    uint64_t at = 0; /* backwards before the moment */

    while (forward < passes && backward < p * v) { /* then it is as before */
        const uint64_t left = p - forward % p;
        const uint64_t back = p - backward % p;
        const uint64_t run = left < back ? left : back;
        alive +=
            (double)run * (bytes[forward / p % v].whole - bytes[v - 1 - backward / p % v].whole);
        forward += run;
        backward += run;
        if (alive > most)
            at = backward;
        most = sl_larger(most, alive);
    }
    for (uint32_t i = 0; i < v; i++)
        out[i] = (sl_alive){.whole = passes_of(plan, ahead + at, i) -
                                     passes_of(plan, at, (uint32_t)v - 1 - i)};
}

static void
find_turned(const sl_in_flight *in_flight, const sl_chunk_bytes *bytes, sl_alive *out)
{
    const sl_alive before = {in_flight->whole, in_flight->deferred};
    const sl_alive after = {in_flight->whole - in_flight->turning,
                            in_flight->deferred + in_flight->turning};

    *out = bytes_of(&before, bytes) >= bytes_of(&after, bytes) ? before : after;
}

/* A fold over an order, which keeps what was alive when most was. */
typedef struct fold {
    const sl_chunk_bytes *bytes;
    sl_alive now[CHUNKS];
    double most;
    sl_alive *out;
} fold;

static void
keep_most(fold *f)
{
    const double bytes = bytes_of(&f->now[0], &f->bytes[0]) + bytes_of(&f->now[1], &f->bytes[1]);

    if (bytes <= f->most)
        return;
    f->most = bytes;
    memcpy(f->out, f->now, sizeof f->now);
}

void
sl_alive_in_order(const sl_work *order, uint64_t count, const sl_chunk_bytes bytes[CHUNKS],
                  sl_alive out[CHUNKS])
{
    fold f = {.bytes = bytes, .out = out};

    out[0] = out[1] = (sl_alive){0.0, 0.0};
    for (uint64_t i = 0; i < count; i++) {
        sl_alive *const chunk = &f.now[order[i].chunk];
        assert(order[i].chunk < CHUNKS);
        switch ((sl_work_kind)order[i].kind) {
        case SL_WORK_FORWARD:
            chunk->whole += 1.0;
            break;
        case SL_WORK_BACKWARD:
            chunk->whole -= 1.0;
            break;
        case SL_WORK_BACKWARD_INPUT:
            chunk->whole -= 1.0;
            chunk->deferred += 1.0;
            break;
        case SL_WORK_BACKWARD_WEIGHT:
        case SL_WORK_KINDS:
            chunk->deferred -= 1.0;
            break;
        }
        keep_most(&f);
    }
}

static void
find_dualpipe(const sl_plan *plan, uint32_t rank, const sl_chunk_bytes *bytes, sl_alive *out)
{
    sl_work order[5 * SL_PIPELINE_MAX];
    const uint64_t batches = 2 * (uint64_t)plan->pipeline;
    const uint64_t count = sl_order_count(plan, batches, rank);

    assert(count <= sizeof order / sizeof order[0]);
    sl_order_write(plan, batches, 0, rank, order);
    sl_alive_in_order(order, count, bytes, out);
}

/* No more than 2p chunks are alive; how many of those whose gradients of inputs are there wait is
 * not known, and taken to be as many as may be, of the chunk that these keep more of. */
static void
find_v(const sl_plan *plan, uint64_t microbatches, uint32_t rank, const sl_chunk_bytes *bytes,
       sl_alive *out)
{
    sl_work order[SL_ORDER_V_PASSES * 4 * SL_PIPELINE_MAX];
    const uint64_t all = sl_order_v_settles(plan);
    const uint64_t count =
        sl_order_write_v_skeleton(plan, microbatches < all ? microbatches : all, rank, order);
    const uint32_t waits = bytes[0].deferred >= bytes[1].deferred ? 0 : 1;
    fold f = {.bytes = bytes, .out = out};
    double turned = 0.0;

    out[0] = out[1] = (sl_alive){0.0, 0.0};
    for (uint64_t i = 0; i < count; i++) {
        const bool forward = order[i].kind == SL_WORK_FORWARD;
        f.now[order[i].chunk].whole += forward ? 1.0 : -1.0;
        turned += forward ? 0.0 : 1.0;
        const double room = 2.0 * plan->pipeline - f.now[0].whole - f.now[1].whole;
        f.now[waits].deferred = sl_smaller(turned, room);
        keep_most(&f);
    }
}

void
sl_alive_most(const sl_plan *plan, uint64_t microbatches, uint32_t rank,
              const sl_chunk_bytes *bytes, sl_alive *out)
{
    const sl_in_flight in_flight = sl_schedule_in_flight(plan, microbatches, rank);

    switch (plan->schedule) {
    case SL_SCHEDULE_ZB_H1:
    case SL_SCHEDULE_ZB_H2:
        find_turned(&in_flight, bytes, out);
        return;
    case SL_SCHEDULE_ZB_V:
        find_v(plan, microbatches, rank, bytes, out);
        return;
    case SL_SCHEDULE_DUALPIPE:
        find_dualpipe(plan, rank, bytes, out);
        return;
    default:
        assert(plan->schedule == SL_SCHEDULE_INTERLEAVED_1F1B);
        find_interleaved(plan, microbatches * plan->virtual_pipeline,
                         (uint64_t)(in_flight.whole * plan->virtual_pipeline + 0.5), bytes, out);
    }
}
