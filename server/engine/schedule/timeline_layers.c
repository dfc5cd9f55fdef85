/*
 * One stage, layer by layer. Lanes: passes, then the optimizer; what comes up from the host, and
 * what goes down to it; parameters and gradients of the ranks that share the states, or of
 * DataParallel's devices; gradients of the copies of those.
 */
#include "engine/schedule/timeline_parts.h"

#include <assert.h>
#include <math.h>

#include "engine/memory/offload.h"
#include "engine/placement/lent.h"

static const uint32_t none = UINT32_MAX;

typedef struct parts {
    uint64_t tasks;
    size_t cost, kept, gathered, open, first, seconds, wait, wait_first, waits, microbatch, layer,
        kind;
    size_t fetched, saved;
    size_t start, end, simulation, bytes;
} parts;

typedef struct builder {
    const sl_memory_case *c;
    uint32_t layers;
    uint32_t microbatches;
    sl_data_time data;
    sl_data_flow how;
    sl_lent_traffic lent; /* of DataParallel's devices, of which there are so many */
    uint32_t lent_devices;
    sl_layer_cost *cost;
    uint32_t *lane_first;
    double *seconds;
    double *open_s; /* of each pass, and of the optimizer */
    uint32_t (*wait)[2];
    uint32_t *microbatch;
    uint16_t *layer;
    uint8_t *kind;
    uint32_t *fetched; /* of each pass the task that brings its parameters from the host, or none */
    uint32_t *saved;   /* of each forward the task that takes what it keeps there */
    uint32_t blocks, leaving; /* of them the first so many send what they keep to the host */
    uint32_t tasks;
    double hidden_ratio; /* of tokens' travel, where another micro-batch runs beside */
    bool paired;         /* layers of that come alternately */
} builder;

static size_t
cut(parts *p, uint64_t count, size_t size)
{
    const size_t at = (p->bytes + 15) / 16 * 16;

    p->bytes = at + count * size;
    return at;
}

/* At most: two passes, two gathers and two reductions of each layer and micro-batch, or what is
 * lent; what goes up or down for a forward and for a backward; the optimizer. */
static parts
parts_of(const sl_memory_case *c)
{
    const sl_offload *offload = &c->workload->offload;
    const uint64_t layers = c->question->model->layer_count;
    const uint64_t m = sl_plan_microbatches(c->workload, c->plan);
    const uint64_t copied = (offload->parameters ? 2u : 0u) + (offload->activations ? 2u : 0u);
    const uint64_t each = layers * (6 + copied) + SL_LENT_SPANS;
    parts p = {.tasks = each * m + 1};

    if (m > UINT32_MAX / each - 1) {
        p.bytes = SIZE_MAX;
        return p;
    }
    (void)cut(&p, 1, sizeof(sl_layers_run));
    p.cost = cut(&p, layers, sizeof(sl_layer_cost));
    p.kept = cut(&p, layers, sizeof(double));
    p.gathered = cut(&p, layers, sizeof(double));
    p.open = cut(&p, 2 * layers * m + 1, sizeof(double));
    p.first = cut(&p, SL_LAYERS_LANES + 1, sizeof(uint32_t));
    p.seconds = cut(&p, p.tasks, sizeof(double));
    p.wait = cut(&p, p.tasks, 2 * sizeof(uint32_t));
    p.wait_first = cut(&p, p.tasks + 1, sizeof(uint32_t));
    p.waits = cut(&p, p.tasks, 2 * sizeof(uint32_t));
    p.microbatch = cut(&p, p.tasks, sizeof(uint32_t));
    p.layer = cut(&p, p.tasks, sizeof(uint16_t));
    p.kind = cut(&p, p.tasks, sizeof(uint8_t));
    p.fetched = cut(&p, 2 * layers * m, sizeof(uint32_t));
    p.saved = cut(&p, layers * m, sizeof(uint32_t));
    p.start = cut(&p, p.tasks, sizeof(double));
    p.end = cut(&p, p.tasks, sizeof(double));
    p.simulation = cut(&p, 1, sl_simulation_bytes(SL_LAYERS_LANES));
    return p;
}

sl_pipeline_size
sl_layers_size(const sl_memory_case *c)
{
    const parts p = parts_of(c);

    return (sl_pipeline_size){.tasks = p.tasks,
                              .bytes = p.bytes == SIZE_MAX ? UINT64_MAX : p.bytes};
}

static uint32_t
add_task(builder *b, sl_span_kind kind, uint32_t microbatch, uint32_t layer, double seconds)
{
    const uint32_t task = b->tasks++;

    b->kind[task] = (uint8_t)kind;
    b->microbatch[task] = microbatch;
    b->layer[task] = (uint16_t)layer;
    b->seconds[task] = seconds;
    b->wait[task][0] = b->wait[task][1] = none;
    return task;
}

/* All but the first forward and the last backward have a pass of another micro-batch beside them. */
static bool
is_alone(const builder *b, uint32_t microbatch, bool forward)
{
    return forward ? microbatch == 0 : microbatch + 1 == b->microbatches;
}

/* The passes of a micro-batch one after another, or its forward, layer by layer, before what is
 * there of the backward of the one ahead. */
static uint32_t
pass_of(const builder *b, uint32_t microbatch, bool forward, uint32_t layer)
{
    const uint32_t turn = forward ? layer : b->layers - 1 - layer;

    if (!b->paired || is_alone(b, microbatch, forward))
        return (2 * microbatch + !forward) * b->layers + turn;
    return (2 * (microbatch + !forward) - 1) * b->layers + 2 * turn + !forward;
}

static void
lay_pass(builder *b, uint32_t microbatch, bool forward, uint32_t layer)
{
    const sl_layer_passes *of = &b->cost[layer].passes;
    const double open_s = forward ? of->forward_open_s : of->backward_open_s;
    const double routed_s = forward ? of->forward_routed_s : of->backward_routed_s;
    const uint32_t task = add_task(b, forward ? SL_SPAN_FORWARD : SL_SPAN_BACKWARD, microbatch,
                                   layer, forward ? of->forward_s : of->backward_s);

    assert(task == pass_of(b, microbatch, forward, layer));
    b->open_s[task] =
        open_s - (is_alone(b, microbatch, forward) ? 0.0 : b->hidden_ratio * routed_s);
}

static void
lay_passes(builder *b, double optimizer_s)
{
    b->lane_first[SL_LAYERS_PASSES] = 0;
    for (uint32_t i = 0; i < b->microbatches; i++) {
        const bool begun = b->paired && i > 0; /* beside the backward ahead */
        const bool beside = b->paired && i + 1 < b->microbatches;
        for (uint32_t l = 0; !begun && l < b->layers; l++)
            lay_pass(b, i, true, l);
        for (uint32_t l = 0; l < b->layers; l++) {
            if (beside)
                lay_pass(b, i + 1, true, l);
            lay_pass(b, i, false, b->layers - 1 - l);
        }
    }
    b->open_s[add_task(b, SL_SPAN_OPTIMIZER, 0, UINT16_MAX, optimizer_s)] = 0.0;
}

/* Its parameters come before a pass of a layer, no earlier than the pass before it begins; without
 * prefetching, than that ends; what is one unit, or all at once, before anything else runs. */
static void
wait_for_turn(builder *b, uint32_t task, uint32_t pass)
{
    const uint32_t early = b->how.ahead ? 2 : 1;

    if (pass >= early)
        b->wait[task][0] = pass - early;
}

static void
fetch(builder *b, uint32_t microbatch, bool forward, uint32_t layer)
{
    const uint32_t pass = pass_of(b, microbatch, forward, layer);

    if (b->cost[layer].travels.fetch_s <= 0.0)
        return;
    b->fetched[pass] =
        add_task(b, SL_SPAN_PARAMETERS_UP, microbatch, layer, b->cost[layer].travels.fetch_s);
    wait_for_turn(b, b->fetched[pass], pass);
    b->wait[pass][0] = b->fetched[pass];
}

static void
gather(builder *b, uint32_t microbatch, bool forward, uint32_t layer)
{
    const uint32_t pass = pass_of(b, microbatch, forward, layer);

    if (b->cost[layer].travels.gather_s <= 0.0)
        return;
    const uint32_t task =
        add_task(b, SL_SPAN_GATHER, microbatch, layer, b->cost[layer].travels.gather_s);
    wait_for_turn(b, task, pass);
    if (b->fetched[pass] != none)
        b->wait[task][0] = b->fetched[pass];
    b->wait[pass][0] = task;
}

static bool
gathers_in(const builder *b, uint32_t microbatch)
{
    return b->how.gathers && (b->how.each || microbatch == 0);
}

/* Down to the host: what a block keeps, once its forward has run. */
static void
lay_down(builder *b)
{
    b->lane_first[SL_LAYERS_DOWN] = b->tasks;
    for (uint32_t i = 0; i < b->microbatches; i++)
        for (uint32_t l = 0; l < b->layers; l++) {
            uint32_t *saved = &b->saved[i * b->layers + l];
            *saved = none;
            if (!b->cost[l].leaves)
                continue;
            *saved = add_task(b, SL_SPAN_ACTIVATIONS_DOWN, i, l, b->cost[l].passes.down_s);
            b->wait[*saved][0] = pass_of(b, i, true, l);
        }
}

/* A forward waits until those that should have left by then have. */
static void
wait_for_room(builder *b, uint32_t microbatch, uint32_t layer)
{
    const uint32_t due = sl_step_copy_due(b->blocks, b->leaving, layer);
    const uint32_t saved = due == UINT32_MAX ? none : b->saved[microbatch * b->layers + due];

    if (saved != none)
        b->wait[pass_of(b, microbatch, true, layer)][1] = saved;
}

/* Before its backward, and no earlier than the backward of the block that waited for it to leave
 * has run. */
static void
bring_back(builder *b, uint32_t microbatch, uint32_t layer)
{
    const uint32_t pass = pass_of(b, microbatch, false, layer);

    if (!b->cost[layer].leaves)
        return;
    const uint32_t task =
        add_task(b, SL_SPAN_ACTIVATIONS_UP, microbatch, layer, b->cost[layer].passes.up_s);
    b->wait[task][0] = b->saved[microbatch * b->layers + layer];
    const uint32_t later = sl_step_copy_back(b->blocks, b->leaving, layer);
    if (later < b->layers)
        b->wait[task][1] = pass_of(b, microbatch, false, later);
    b->wait[pass][1] = task;
}

/* Up from it: parameters before they are gathered, and what blocks kept. */
static void
lay_up(builder *b)
{
    b->lane_first[SL_LAYERS_UP] = b->tasks;
    for (uint32_t i = 0; i < b->microbatches; i++) {
        for (uint32_t l = 0; l < b->layers; l++) {
            if (gathers_in(b, i))
                fetch(b, i, true, l);
            wait_for_room(b, i, l);
        }
        for (uint32_t l = b->layers; l-- > 0;) {
            if (b->how.again && l > 0)
                fetch(b, i, false, l);
            bring_back(b, i, l);
        }
    }
}

static void
reduce(builder *b, uint32_t microbatch, uint32_t layer)
{
    const sl_layer_cost *cost = &b->cost[layer];
    const bool last = microbatch + 1 == b->microbatches;
    const double reduce_s = last ? cost->last_reduce_s : cost->travels.reduce_s;
    const double replicas_s = last ? cost->last_replicas_s : cost->travels.replicas_s;
    /* Not overlapped, all go when the last gradient is there. */
    const uint32_t pass = pass_of(b, microbatch, false, b->how.beside ? layer : 0);

    if (reduce_s > 0.0)
        b->wait[add_task(b, SL_SPAN_REDUCE, microbatch, layer, reduce_s)][0] = pass;
    if (b->how.one_line && replicas_s > 0.0)
        b->wait[add_task(b, SL_SPAN_REDUCE_REPLICAS, microbatch, layer, replicas_s)][0] = pass;
}

/* In the order of one stream: what the next layer needs, then what the last one made. */
static void
lay_data(builder *b)
{
    const uint32_t data_first = b->tasks;

    b->lane_first[SL_LAYERS_DATA] = data_first;
    for (uint32_t i = 0; i < b->microbatches; i++) {
        const bool reduces = b->how.reduces || i + 1 == b->microbatches;
        for (uint32_t l = 0; gathers_in(b, i) && l < b->layers; l++)
            gather(b, i, true, l);
        for (uint32_t l = b->layers; l-- > 0;) {
            /* The root stays gathered from forward to backward. */
            if (b->how.again && l > 0)
                gather(b, i, false, l);
            if (reduces && b->how.beside && l + 1 < b->layers)
                reduce(b, i, l + 1);
        }
        for (uint32_t l = b->how.beside ? 1 : b->layers; reduces && l-- > 0;)
            reduce(b, i, l);
        /* What does not overlap holds up the next micro-batch. */
        if (reduces && !b->how.beside && i + 1 < b->microbatches && b->tasks > data_first)
            b->wait[pass_of(b, i + 1, true, 0)][1] = b->tasks - 1;
    }
}

/* DataParallel: before a pass, or none, and after another, or none. */
static void
lend(builder *b, sl_span_kind kind, uint32_t microbatch, double seconds, uint32_t after,
     uint32_t before)
{
    if (seconds <= 0.0)
        return;
    const uint32_t task = add_task(b, kind, microbatch, UINT16_MAX, seconds);
    b->wait[task][0] = after;
    if (before != none)
        b->wait[before][0] = task;
}

/* One after another, and nothing of it beside a pass: the first device sends out parameters and
 * inputs, has all outputs for the loss, which is the last layer's, sends their gradients out and
 * adds up those of the parameters. */
static void
lay_lent(builder *b)
{
    const sl_lent_traffic *t = &b->lent;

    b->lane_first[SL_LAYERS_DATA] = b->tasks;
    for (uint32_t i = 0; i < b->microbatches; i++) {
        const uint32_t first = pass_of(b, i, true, 0);
        const uint32_t turn = pass_of(b, i, true, b->layers - 1);
        const uint32_t last = pass_of(b, i, false, 0);
        lend(b, SL_SPAN_BROADCAST, i, t->parameter_s, none, first);
        lend(b, SL_SPAN_SCATTER_INPUTS, i, t->input_s, none, first);
        lend(b, SL_SPAN_GATHER_OUTPUTS, i, t->output_s / 2.0, turn, turn + 1);
        lend(b, SL_SPAN_SCATTER_GRADIENTS, i, t->output_s / 2.0, none, turn + 1);
        lend(b, SL_SPAN_REDUCE, i, t->gradient_s, last, none);
    }
}

/* Over links of their own, each after the reduction that made it. */
static void
lay_replicas(builder *b)
{
    const uint32_t data_first = b->lane_first[SL_LAYERS_DATA];
    const uint32_t end = b->tasks;

    b->lane_first[SL_LAYERS_REPLICAS] = end;
    for (uint32_t task = data_first; !b->how.one_line && task < end; task++) {
        const uint32_t layer = b->layer[task];
        const bool last = b->microbatch[task] + 1 == b->microbatches;
        if (b->kind[task] != SL_SPAN_REDUCE || layer >= b->layers)
            continue;
        const sl_layer_cost *cost = &b->cost[layer];
        const double seconds = last ? cost->last_replicas_s : cost->travels.replicas_s;
        if (seconds <= 0.0)
            continue;
        const uint32_t sum =
            add_task(b, SL_SPAN_REDUCE_REPLICAS, b->microbatch[task], layer, seconds);
        b->wait[sum][0] = task;
    }
    b->lane_first[SL_LAYERS_LANES] = b->tasks;
    /* The optimizer is the last pass; the reductions of a stream end one after another. */
    const uint32_t optimizer = b->lane_first[SL_LAYERS_DOWN] - 1;
    if (end > data_first)
        b->wait[optimizer][0] = end - 1;
    if (b->tasks > end)
        b->wait[optimizer][1] = b->tasks - 1;
}

/* Waits of all tasks, one after another. */
static void
collect(const builder *b, uint32_t *first, uint32_t *waits)
{
    uint32_t count = 0;

    for (uint32_t task = 0; task < b->tasks; task++) {
        first[task] = count;
        for (uint32_t i = 0; i < 2; i++)
            if (b->wait[task][i] != none)
                waits[count++] = b->wait[task][i];
    }
    first[b->tasks] = count;
}

static sl_stream
stream_of(const sl_group *group)
{
    return group->level == SL_LEVEL_NETWORK ? SL_STREAM_NETWORK : SL_STREAM_SCALE_UP;
}

/* Where every micro-batch gathers, reduces or copies, passes are drawn one after another, as their
 * estimate counts them. */
static void
set_pairs(builder *b, const sl_rank_time *t)
{
    double routed_s = 0.0;
    const double beside_s = sl_step_experts_beside_s(b->c, t, &routed_s);

    if (!sl_schedule_trades_places(b->c->plan) || routed_s <= 0.0)
        return;
    b->hidden_ratio = 1.0 - beside_s / routed_s;
    b->paired = !b->how.each && !b->how.reduces && !b->c->workload->offload.activations;
}

static builder
builder_of(const sl_memory_case *c, const parts *p, char *scratch)
{
    const sl_data_groups groups = sl_step_data_groups(c);
    const sl_held held = sl_schedule_all_held(c->plan, 0);
    const sl_rank_time t = sl_step_rank(c, &held, &sl_holding_of(c->holdings, 0)->stage);
    builder b = {
        .c = c,
        .layers = c->question->model->layer_count,
        .microbatches = (uint32_t)sl_plan_microbatches(c->workload, c->plan),
        .lent_devices = sl_lent_devices(c->workload, c->plan),
        .cost = (sl_layer_cost *)(void *)(scratch + p->cost),
        .lane_first = (uint32_t *)(void *)(scratch + p->first),
        .seconds = (double *)(void *)(scratch + p->seconds),
        .open_s = (double *)(void *)(scratch + p->open),
        .wait = (uint32_t(*)[2])(void *)(scratch + p->wait),
        .microbatch = (uint32_t *)(void *)(scratch + p->microbatch),
        .layer = (uint16_t *)(void *)(scratch + p->layer),
        .kind = (uint8_t *)(scratch + p->kind),
        .fetched = (uint32_t *)(void *)(scratch + p->fetched),
        .saved = (uint32_t *)(void *)(scratch + p->saved),
    };
    b.blocks = sl_holding_of(c->holdings, 0)->stage.blocks;
    b.leaving = sl_offload_leaving(c->workload, b.blocks);

    for (uint32_t pass = 0; pass < 2 * b.layers * b.microbatches; pass++)
        b.fetched[pass] = none;
    if (b.lent_devices > 0) { /* whose traffic is not that of groups */
        b.lent = sl_lent_send(c);
        b.data.rounds = (sl_data_rounds){.reduces = 1.0};
        return b;
    }
    b.data = sl_step_data_rank(c, &groups, &t, 0, 0.0);
    b.how = sl_step_data_flow(c, &groups, &b.data);
    set_pairs(&b, &t);
    return b;
}

void
sl_layers_simulate(const sl_memory_case *c, const sl_time *time, double slowness, void *scratch,
                   const sl_layers_run **out)
{
    const sl_data_groups groups = sl_step_data_groups(c);
    const parts p = parts_of(c);
    char *at = scratch;
    sl_layers_run *run = scratch;
    builder b = builder_of(c, &p, at);
    double *start_s = (double *)(void *)(at + p.start);
    double *end_s = (double *)(void *)(at + p.end);
    uint32_t *first = (uint32_t *)(void *)(at + p.wait_first);
    uint32_t *waits = (uint32_t *)(void *)(at + p.waits);
    double *kept = (double *)(void *)(at + p.kept);
    double *gathered = (double *)(void *)(at + p.gathered);

    sl_layers_costs(c, &b.data, b.how.bucket, b.cost);
    for (uint32_t l = 0; l < b.layers; l++) {
        b.cost[l].passes.forward_s *= slowness;
        b.cost[l].passes.backward_s *= slowness;
        b.cost[l].passes.forward_open_s *= slowness;
        b.cost[l].passes.backward_open_s *= slowness;
        b.cost[l].passes.forward_routed_s *= slowness;
        b.cost[l].passes.backward_routed_s *= slowness;
        kept[l] = b.cost[l].passes.kept_bytes;
        gathered[l] = b.cost[l].travels.gathered_bytes;
    }
    lay_passes(&b, time->update_s);
    lay_down(&b);
    lay_up(&b);
    if (b.lent_devices > 0)
        lay_lent(&b);
    else
        lay_data(&b);
    lay_replicas(&b);
    assert(b.tasks <= p.tasks);
    collect(&b, first, waits);
    *run = (sl_layers_run){
        .tasks = {SL_LAYERS_LANES, b.lane_first, b.seconds, first, waits},
        .task_count = b.tasks,
        .passes = b.lane_first[SL_LAYERS_DOWN] - 1,
        .start_s = start_s,
        .end_s = end_s,
        .microbatch = b.microbatch,
        .layer = b.layer,
        .kind = b.kind,
        .data = stream_of(&groups.shard),
        .replicas = stream_of(&groups.replicas),
        .kept_bytes = kept,
        .gathered_bytes = gathered,
        .reshards = b.how.again,
        .stays = sl_states_keeps_gathered(c->workload, c->plan),
        .microbatches = b.microbatches,
    };
    const bool done = sl_simulate(&run->tasks, at + p.simulation, start_s, end_s);
    assert(done); /* gathers wait for earlier passes only, reductions for passes alone */
    (void)done;
    sl_layers_set_clock(&run->tasks, b.open_s, c->software->overlap_loss_ratio, start_s, end_s);
    for (uint32_t task = 0; task < b.tasks; task++)
        run->step_s = fmax(run->step_s, end_s[task]);
    *out = run;
}
