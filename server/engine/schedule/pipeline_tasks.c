/*
 * Lanes, in their order: compute of every rank, whose tasks are the passes; what each sends over
 * scale-up links; over the network; its parameters and gradients; its optimizer; and one for the
 * barrier.
 */
#include "engine/schedule/pipeline_tasks.h"

#include <assert.h>
#include <string.h>

#include "engine/extremes.h"

enum { LINK_SCALE_UP, LINK_NETWORK, LINK_DATA, LINKS, RANK_LANES = 2 + LINKS };

static const uint32_t none = UINT32_MAX;
static const uint32_t beside_bit = 1U << 31; /* in the origin of what a pass runs beside */

/* Chunks of all ranks are numbered rank after rank: those before and after one in the model. */
typedef struct neighbours {
    uint32_t before, after;
} neighbours;

typedef struct builder {
    const sl_pipeline *of;
    uint32_t ranks, held;
    uint64_t batches; /* of one copy of the model */
    sl_work *passes;
    double *seconds;
    uint32_t *lane_first, *wait_first, *waits;
    uint32_t *origins;
    uint8_t *kinds;
    uint8_t *to;     /* of each of them that is a send: rank */
    uint16_t *lanes; /* of each task */
    uint32_t *where; /* forward and backward of each chunk and micro-batch: pass */
    uint32_t *sent;  /* of each pass: task that sends what it makes, or none */
    neighbours *beside;
    uint32_t *first, *last; /* passes of each chunk: first of all, last that makes gradients */
    uint32_t *rest;         /* of each chunk the gather beside its first pass, or none */
    uint32_t passes_count;
    uint32_t tasks; /* so far */
    uint32_t waited;
} builder;

/* Room for `count` of `size` bytes behind what is cut already. */
static size_t
cut(sl_pipeline_parts *parts, uint64_t count, size_t size)
{
    const size_t at = (parts->bytes + 15) / 16 * 16;

    parts->bytes = at + count * size;
    return at;
}

sl_pipeline_parts
sl_pipeline_parts_of(const sl_plan *plan, uint64_t microbatches)
{
    const uint64_t chunks = (uint64_t)plan->pipeline * sl_schedule_held(plan);
    const uint64_t lanes = RANK_LANES * (uint64_t)plan->pipeline + 1;
    const bool v = plan->schedule == SL_SCHEDULE_ZB_V;
    sl_pipeline_parts out = {.lanes = (uint32_t)lanes};

    assert(sl_order_exists(plan, microbatches));
    if (microbatches > UINT32_MAX || plan->virtual_pipeline > UINT16_MAX) {
        out.passes = UINT64_MAX / 2;
        out.bytes = SIZE_MAX;
        return out;
    }
    for (uint32_t r = 0; r < plan->pipeline; r++)
        out.passes += sl_order_count(plan, microbatches, r);
    const uint64_t walks = 2 * chunks * (microbatches / sl_schedule_copies(plan));
    const uint64_t sends = plan->pipeline > 1 ? walks : 0;
    out.others = sends + 4 * chunks + plan->pipeline + 1;
    const uint64_t tasks = out.passes + out.others;
    /* A pass for its data; a pass for the last sends; sends for what they are of; passes for both
     * gathers of a chunk, what its first one makes for one of them, and both its reductions for
     * passes, one of them for what a pass waits for: data and sends of two beside each other, and
     * gathers of two chunks; the end of a rank for each of its lanes. */
    out.waits = out.passes + 2 * sends + (5 + 6) * chunks + lanes + plan->pipeline;
    if (tasks >= UINT32_MAX || out.waits >= UINT32_MAX) {
        out.bytes = SIZE_MAX;
        return out;
    }
    out.pass = cut(&out, out.passes, sizeof(sl_work));
    out.seconds = cut(&out, tasks, sizeof(double));
    out.lane_first = cut(&out, lanes + 1, sizeof(uint32_t));
    out.wait_first = cut(&out, tasks + 1, sizeof(uint32_t));
    out.wait = cut(&out, out.waits, sizeof(uint32_t));
    out.origin = cut(&out, out.others, sizeof(uint32_t));
    out.kind = cut(&out, out.others, sizeof(uint8_t));
    out.to = cut(&out, out.others, sizeof(uint8_t));
    out.lane = cut(&out, tasks, sizeof(uint16_t));
    const size_t kept = out.bytes;
    out.where = cut(&out, walks, sizeof(uint32_t));
    out.sent = cut(&out, out.passes, sizeof(uint32_t));
    out.beside = cut(&out, chunks, sizeof(neighbours));
    out.first = cut(&out, chunks, sizeof(uint32_t));
    out.last = cut(&out, chunks, sizeof(uint32_t));
    out.rest = cut(&out, chunks, sizeof(uint32_t));
    out.planned = cut(&out, v ? chunks : 0, sizeof(sl_work_seconds));
    out.order = cut(&out, 1, v ? sl_order_v_bytes(plan, microbatches) : 0);
    const size_t laid = out.bytes;
    out.bytes = kept; /* what laying the tasks took is free again */
    out.start = cut(&out, tasks, sizeof(double));
    out.end = cut(&out, tasks, sizeof(double));
    out.simulation = cut(&out, 1, sl_simulation_shared_bytes((uint32_t)lanes, plan->pipeline));
    if (out.bytes < laid)
        out.bytes = laid;
    return out;
}

static builder
builder_of(const sl_pipeline *of, const sl_pipeline_parts *parts, char *scratch)
{
    return (builder){
        .of = of,
        .ranks = of->plan->pipeline,
        .held = sl_schedule_held(of->plan),
        .batches = of->microbatches / sl_schedule_copies(of->plan),
        .passes = (sl_work *)(void *)(scratch + parts->pass),
        .seconds = (double *)(void *)(scratch + parts->seconds),
        .lane_first = (uint32_t *)(void *)(scratch + parts->lane_first),
        .wait_first = (uint32_t *)(void *)(scratch + parts->wait_first),
        .waits = (uint32_t *)(void *)(scratch + parts->wait),
        .origins = (uint32_t *)(void *)(scratch + parts->origin),
        .kinds = (uint8_t *)(scratch + parts->kind),
        .to = (uint8_t *)(scratch + parts->to),
        .lanes = (uint16_t *)(void *)(scratch + parts->lane),
        .where = (uint32_t *)(void *)(scratch + parts->where),
        .sent = (uint32_t *)(void *)(scratch + parts->sent),
        .beside = (neighbours *)(void *)(scratch + parts->beside),
        .first = (uint32_t *)(void *)(scratch + parts->first),
        .last = (uint32_t *)(void *)(scratch + parts->last),
        .rest = (uint32_t *)(void *)(scratch + parts->rest),
    };
}

void
sl_pipeline_write_v(const sl_plan *plan, uint64_t microbatches, const sl_chunk_cost *chunks,
                    sl_work_seconds *seconds, void *scratch, sl_work *out)
{
    double send_s = 0.0;

    for (uint32_t c = 0; c < plan->pipeline * sl_schedule_held(plan); c++) {
        seconds[c] = chunks[c].work;
        send_s = sl_larger(send_s, chunks[c].send_s);
    }
    sl_order_write_v(plan, microbatches, seconds, send_s, scratch, out);
}

static void
write_orders(builder *b, const sl_pipeline_parts *parts, char *scratch)
{
    const sl_pipeline *of = b->of;
    sl_work_seconds *seconds = (sl_work_seconds *)(void *)(scratch + parts->planned);
    uint64_t count = 0;

    for (uint32_t r = 0; r < b->ranks; r++) {
        b->lane_first[r] = (uint32_t)count;
        if (of->plan->schedule != SL_SCHEDULE_ZB_V)
            sl_order_write(of->plan, of->microbatches, of->group, r, b->passes + count);
        count += sl_order_count(of->plan, of->microbatches, r);
    }
    b->passes_count = b->tasks = b->lane_first[b->ranks] = (uint32_t)count;
    if (of->plan->schedule == SL_SCHEDULE_ZB_V)
        sl_pipeline_write_v(of->plan, of->microbatches, of->chunks, seconds, scratch + parts->order,
                            b->passes);
}

static uint32_t
holder_of(const builder *b, uint32_t chunk, uint32_t copy)
{
    const sl_plan *plan = b->of->plan;
    const uint32_t rank = sl_schedule_rank(plan, chunk, copy);
    uint32_t index = copy;

    if (sl_schedule_copies(plan) == 1)
        index = chunk / b->ranks;
    return rank * b->held + index;
}

static void
find_neighbours(builder *b)
{
    const sl_plan *plan = b->of->plan;
    const uint32_t chunks = sl_schedule_chunks(plan);

    for (uint32_t copy = 0; copy < sl_schedule_copies(plan); copy++)
        for (uint32_t c = 0; c < chunks; c++)
            b->beside[holder_of(b, c, copy)] =
                (neighbours){.before = c > 0 ? holder_of(b, c - 1, copy) : none,
                             .after = c + 1 < chunks ? holder_of(b, c + 1, copy) : none};
}

static uint32_t *
place_of(const builder *b, uint32_t chunk, bool forward, uint32_t microbatch)
{
    const uint64_t row = 2 * (uint64_t)chunk + !forward;

    /* A second copy of the model has micro-batches of its own, which count on from the first's. */
    return &b->where[row * b->batches + microbatch - (microbatch < b->batches ? 0 : b->batches)];
}

static void
find_passes(builder *b)
{
    for (uint32_t c = 0; c < b->ranks * b->held; c++)
        b->first[c] = none;
    for (uint32_t r = 0; r < b->ranks; r++)
        for (uint32_t i = b->lane_first[r]; i < b->lane_first[r + 1]; i++) {
            const sl_work *pass = &b->passes[i];
            const uint32_t chunk = r * b->held + pass->chunk;
            const bool forward = pass->kind == SL_WORK_FORWARD;
            if (pass->kind != SL_WORK_BACKWARD_WEIGHT)
                *place_of(b, chunk, forward, pass->microbatch) = i;
            if (b->first[chunk] == none)
                b->first[chunk] = i;
            if (!forward)
                b->last[chunk] = i;
        }
}

static double
scaled(const double *factors, uint64_t index)
{
    return factors == NULL ? 1.0 : factors[index];
}

static double
seconds_of(const builder *b, uint32_t rank, const sl_work *pass)
{
    const sl_chunk_cost *cost = &b->of->chunks[rank * b->held + pass->chunk];
    const double factor = scaled(b->of->slowness, rank) * scaled(b->of->sizes, pass->microbatch);

    switch ((sl_work_kind)pass->kind) {
    case SL_WORK_FORWARD:
        return factor * cost->work.forward_s;
    case SL_WORK_BACKWARD_INPUT:
        return factor * cost->work.backward_input_s;
    case SL_WORK_BACKWARD_WEIGHT:
        return factor * cost->work.backward_weight_s;
    case SL_WORK_BACKWARD:
    case SL_WORK_KINDS:
        break;
    }
    return factor * (cost->work.backward_input_s + cost->work.backward_weight_s);
}

/* A forward and the backward beside it. */
static double
seconds_of_both(const builder *b, uint32_t rank, const sl_work *pair)
{
    const uint32_t first = rank * b->held;
    const sl_chunk_cost *forward = &b->of->chunks[first + pair[0].chunk];
    const sl_chunk_cost *backward = &b->of->chunks[first + pair[1].chunk];
    double exchange_s = forward->forward_exchange_s * scaled(b->of->sizes, pair[0].microbatch) +
                        backward->backward_exchange_s * scaled(b->of->sizes, pair[1].microbatch);

    exchange_s *= scaled(b->of->slowness, rank);
    const double rest_s =
        seconds_of(b, rank, &pair[0]) + seconds_of(b, rank, &pair[1]) - exchange_s;
    return rest_s > exchange_s ? rest_s : exchange_s;
}

static void
time_passes(builder *b)
{
    for (uint32_t r = 0; r < b->ranks; r++)
        for (uint32_t i = b->lane_first[r]; i < b->lane_first[r + 1]; i++) {
            if (!b->passes[i].beside) {
                b->seconds[i] = seconds_of(b, r, &b->passes[i]);
                continue;
            }
            b->seconds[i] = seconds_of_both(b, r, &b->passes[i]);
            b->seconds[++i] = 0.0; /* ends with the forward */
        }
}

static void
add_task(builder *b, sl_span_kind kind, uint32_t origin, double seconds)
{
    b->kinds[b->tasks - b->passes_count] = (uint8_t)kind;
    b->origins[b->tasks - b->passes_count] = origin;
    b->seconds[b->tasks++] = seconds;
}

/* What a pass makes for the chunk after it, or before it: over the boundary that the two share. */
static void
send(builder *b, uint32_t rank, uint32_t pass, bool scale_up)
{
    const sl_work *of = &b->passes[pass];
    const uint32_t chunk = rank * b->held + of->chunk;
    const bool forward = of->kind == SL_WORK_FORWARD;
    const uint32_t to = forward ? b->beside[chunk].after : b->beside[chunk].before;

    if (of->kind == SL_WORK_BACKWARD_WEIGHT || to == none || to / b->held == rank)
        return;
    const sl_chunk_cost *boundary = &b->of->chunks[forward ? chunk : to];
    if (boundary->send_s <= 0.0 || boundary->send_scale_up != scale_up)
        return;
    b->sent[pass] = b->tasks;
    b->to[b->tasks - b->passes_count] = (uint8_t)(to / b->held);
    add_task(b, forward ? SL_SPAN_SEND_OUTPUT : SL_SPAN_SEND_GRADIENT, pass,
             boundary->send_s * scaled(b->of->sizes, of->microbatch));
}

static void
add_some(builder *b, sl_span_kind kind, uint32_t origin, double seconds)
{
    if (seconds > 0.0)
        add_task(b, kind, origin, seconds);
}

static void
reduce(builder *b, uint32_t chunk)
{
    add_some(b, SL_SPAN_REDUCE, chunk | beside_bit, b->of->chunks[chunk].reduce_beside_s);
    add_some(b, SL_SPAN_REDUCE, chunk, b->of->chunks[chunk].reduce_s);
}

/* Parameters and gradients of a rank, in the order in which its passes come to them. */
static void
lay_data(builder *b, uint32_t rank)
{
    const uint32_t first = rank * b->held;

    for (uint32_t c = first; c < first + b->held; c++) {
        add_some(b, SL_SPAN_GATHER, c, b->of->chunks[c].gather_s);
        b->rest[c] = b->of->chunks[c].gather_beside_s > 0.0 ? b->tasks : none;
        add_some(b, SL_SPAN_GATHER, c | beside_bit, b->of->chunks[c].gather_beside_s);
    }
    for (uint32_t i = b->lane_first[rank]; i < b->lane_first[rank + 1]; i++)
        if (!b->of->reduces_last && i == b->last[first + b->passes[i].chunk])
            reduce(b, first + b->passes[i].chunk);
    for (uint32_t c = first; b->of->reduces_last && c < first + b->held; c++)
        reduce(b, c);
}

static void
lay_link(builder *b, uint32_t rank, uint32_t link)
{
    if (link == LINK_DATA)
        lay_data(b, rank);
    else
        for (uint32_t i = b->lane_first[rank]; i < b->lane_first[rank + 1]; i++)
            send(b, rank, i, link == LINK_SCALE_UP);
}

static void
lay_others(builder *b)
{
    const sl_pipeline *of = b->of;
    uint32_t *lane = &b->lane_first[b->ranks];

    for (uint32_t i = 0; i < b->passes_count; i++)
        b->sent[i] = none;
    for (uint32_t link = 0; link < LINKS; link++)
        for (uint32_t r = 0; r < b->ranks; r++) {
            *lane++ = b->tasks;
            lay_link(b, r, link);
        }
    for (uint32_t r = 0; r < b->ranks; r++) {
        *lane++ = b->tasks;
        if (of->optimizer_s != NULL)
            add_task(b, SL_SPAN_OPTIMIZER, r, scaled(of->slowness, r) * of->optimizer_s[r]);
    }
    *lane++ = b->tasks;
    if (of->barrier)
        add_task(b, SL_SPAN_BARRIER, 0, 0.0);
    *lane = b->tasks;
}

static void
wait_for(builder *b, uint32_t task)
{
    b->waits[b->waited++] = task;
}

/* What a pass makes, which the first of a chunk does not without all of its parameters. */
static void
wait_for_made(builder *b, uint32_t chunk, uint32_t pass)
{
    wait_for(b, pass);
    if (pass == b->first[chunk] && b->rest[chunk] != none)
        wait_for(b, b->rest[chunk]);
}

/* What a pass is made of, where another made it. */
static void
wait_for_data(builder *b, uint32_t rank, const sl_work *pass)
{
    const uint32_t chunk = rank * b->held + pass->chunk;
    const bool forward = pass->kind == SL_WORK_FORWARD;
    const uint32_t from = forward ? b->beside[chunk].before : b->beside[chunk].after;

    if (pass->kind == SL_WORK_BACKWARD_WEIGHT || (forward && from == none))
        return;
    const uint32_t made_by = from == none ? chunk : from;
    const uint32_t maker = *place_of(b, made_by, from == none || forward, pass->microbatch);
    if (b->sent[maker] != none)
        wait_for(b, b->sent[maker]);
    else
        wait_for_made(b, made_by, maker);
}

/* The gather of a chunk is there before its first pass, the rest of it before that has made what it
 * makes;
 * or all gathers are before the first pass of the rank. */
static void
wait_for_parameters(builder *b, uint32_t rank, uint32_t pass)
{
    const uint32_t lane = (1 + LINK_DATA) * b->ranks + rank;
    const uint32_t first = b->lane_first[rank];

    for (uint32_t task = b->lane_first[lane]; task < b->lane_first[lane + 1]; task++) {
        const uint32_t origin = b->origins[task - b->passes_count];
        if (b->kinds[task - b->passes_count] != SL_SPAN_GATHER)
            return;
        const bool rest = (origin & beside_bit) != 0;
        const uint32_t needed = b->first[origin & ~beside_bit] + rest;
        if (pass == (b->of->gathers_first ? first : needed))
            wait_for(b, task);
    }
}

static void
wait_for_sends(builder *b, uint32_t rank, uint32_t pass)
{
    const uint32_t first = b->lane_first[rank];

    if (pass > first && b->sent[pass - 1] != none)
        wait_for(b, b->sent[pass - 1]);
    if (pass > first + 1 && b->passes[pass - 2].beside && b->sent[pass - 2] != none)
        wait_for(b, b->sent[pass - 2]);
}

static void
tie_passes(builder *b, uint32_t rank)
{
    uint32_t begun = 0; /* the last pass that a gather may be for */

    for (uint32_t c = rank * b->held; c < (rank + 1) * b->held; c++)
        if (b->first[c] != none && b->first[c] + 1 > begun)
            begun = b->first[c] + 1;
    for (uint32_t i = b->lane_first[rank]; i < b->lane_first[rank + 1]; i++) {
        const bool second = i > b->lane_first[rank] && b->passes[i - 1].beside;
        b->wait_first[i] = b->waited;
        if (second) /* the one before waited for both */
            continue;
        wait_for_data(b, rank, &b->passes[i]);
        if (b->passes[i].beside)
            wait_for_data(b, rank, &b->passes[i + 1]);
        if (i <= begun)
            wait_for_parameters(b, rank, i);
        if (!b->of->overlaps_sends)
            wait_for_sends(b, rank, i);
    }
}

/* Everything of a rank but its optimizer. */
static void
wait_for_rank(builder *b, uint32_t rank)
{
    for (uint32_t lane = rank; lane <= rank + LINKS * b->ranks; lane += b->ranks)
        if (b->lane_first[lane + 1] > b->lane_first[lane])
            wait_for(b, b->lane_first[lane + 1] - 1);
}

/* For all that a pass waits for: to begin with it. */
static void
wait_as(builder *b, uint32_t rank, uint32_t pass)
{
    const uint32_t first = b->lane_first[rank];

    if (pass > first && b->passes[pass - 1].beside) /* begins with the one before */
        pass--;
    if (pass > first)
        wait_for(b, pass - 1);
    for (uint32_t i = b->wait_first[pass]; i < b->wait_first[pass + 1]; i++)
        wait_for(b, b->waits[i]);
}

/* Gradients of a chunk are there after its last pass, and some as it begins. */
static void
wait_for_gradients(builder *b, uint32_t origin)
{
    const uint32_t chunk = origin & ~beside_bit;
    const uint32_t rank = chunk / b->held;

    if (b->of->reduces_last)
        wait_for(b, b->lane_first[rank + 1] - 1);
    else if ((origin & beside_bit) == 0)
        wait_for(b, b->last[chunk]);
    else
        wait_as(b, rank, b->last[chunk]);
}

static void
tie_other(builder *b, uint32_t rank, uint32_t task)
{
    const uint32_t origin = b->origins[task - b->passes_count];

    b->wait_first[task] = b->waited;
    switch ((sl_span_kind)b->kinds[task - b->passes_count]) {
    case SL_SPAN_SEND_OUTPUT:
    case SL_SPAN_SEND_GRADIENT:
        wait_for_made(b, rank * b->held + b->passes[origin].chunk, origin);
        break;
    case SL_SPAN_REDUCE:
        wait_for_gradients(b, origin);
        break;
    case SL_SPAN_OPTIMIZER:
        if (b->of->barrier)
            wait_for(b, b->tasks - 1);
        else
            wait_for_rank(b, origin);
        break;
    case SL_SPAN_BARRIER:
        for (uint32_t r = 0; r < b->ranks; r++)
            wait_for_rank(b, r);
        break;
    default: /* gathers wait for nothing */
        break;
    }
}

bool
sl_pipeline_shares(const sl_pipeline_run *run, const sl_pipeline_parts *parts, void *scratch,
                   sl_sharing *out)
{
    const uint32_t ranks = run->of->plan->pipeline;
    const uint32_t link = run->of->data_scale_up ? LINK_SCALE_UP : LINK_NETWORK;
    const uint32_t *first = run->tasks.lane_first;
    const uint32_t passes = first[ranks];

    *out = (sl_sharing){
        .nodes = ranks, .sends = (1 + link) * ranks, .exchanges = (1 + LINK_DATA) * ranks};
    out->to = (const uint8_t *)scratch + parts->to + (first[out->sends] - passes);
    return first[out->sends] < first[out->sends + ranks] &&
           first[out->exchanges] < first[out->exchanges + ranks];
}

void
sl_pipeline_lay(const sl_pipeline *pipeline, const sl_pipeline_parts *parts, void *scratch,
                sl_pipeline_run *run)
{
    builder b = builder_of(pipeline, parts, scratch);

    write_orders(&b, parts, scratch);
    find_neighbours(&b);
    find_passes(&b);
    time_passes(&b);
    lay_others(&b);
    for (uint32_t r = 0; r < b.ranks; r++)
        tie_passes(&b, r);
    for (uint32_t lane = b.ranks; lane < parts->lanes; lane++)
        for (uint32_t task = b.lane_first[lane]; task < b.lane_first[lane + 1]; task++)
            tie_other(&b, lane % b.ranks, task);
    b.wait_first[b.tasks] = b.waited;
    for (uint32_t lane = 0; lane < parts->lanes; lane++)
        for (uint32_t task = b.lane_first[lane]; task < b.lane_first[lane + 1]; task++)
            b.lanes[task] = (uint16_t)lane;
    assert(b.tasks <= parts->passes + parts->others && b.waited <= parts->waits);

    *run = (sl_pipeline_run){
        .of = pipeline,
        .tasks = {.lanes = parts->lanes,
                  .lane_first = b.lane_first,
                  .seconds = b.seconds,
                  .wait_first = b.wait_first,
                  .waits = b.waits},
        .task_count = b.tasks,
        .passes = b.passes,
        .origins = b.origins,
        .kinds = b.kinds,
        .lanes = b.lanes,
    };
}
