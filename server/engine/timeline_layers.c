/*
 * One stage, layer by layer. Three lanes: passes, then the optimizer; parameters and gradients of the
 * ranks that share the states; gradients of the copies of those.
 */
#include "engine/timeline_parts.h"

#include <assert.h>
#include <math.h>

#include "engine/recompute.h"
#include "engine/unit.h"

static const uint32_t none = UINT32_MAX;

enum { LANE_PASSES, LANE_DATA, LANE_REPLICAS, LANES };

/* What one layer takes. */
typedef struct layer_cost {
    double forward_s, backward_s;
    double gather_s, reduce_s, replicas_s; /* of its own unit; the root's is the first layer's */
    double kept_bytes, gathered_bytes;
} layer_cost;

typedef struct parts {
    uint64_t tasks;
    size_t cost, kept, gathered, first, seconds, wait, wait_first, waits, microbatch, layer, kind;
    size_t start, end, simulation, bytes;
} parts;

typedef struct builder {
    const sl_memory_case *c;
    uint32_t layers;
    uint32_t microbatches;
    sl_data_time data;
    bool gathers, again, reduces; /* with each micro-batch; for backward too; with each */
    bool ahead, beside;           /* gathers before their layer runs; reductions under backward */
    layer_cost *cost;
    uint32_t *lane_first;
    double *seconds;
    uint32_t (*wait)[2];
    uint32_t *microbatch;
    uint16_t *layer;
    uint8_t *kind;
    uint32_t tasks, data_first;
} builder;

static size_t
cut(parts *p, uint64_t count, size_t size)
{
    const size_t at = (p->bytes + 15) / 16 * 16;

    p->bytes = at + count * size;
    return at;
}

/* At most: two passes, two gathers and two reductions of each layer and micro-batch, the optimizer. */
static parts
parts_of(const sl_memory_case *c)
{
    const uint64_t layers = c->question->model->layer_count;
    const uint64_t m = sl_plan_microbatches(c->workload, c->plan);
    parts p = {.tasks = 6 * layers * m + 1};

    if (m > UINT32_MAX / (6 * layers) - 1) {
        p.bytes = SIZE_MAX;
        return p;
    }
    (void)cut(&p, 1, sizeof(sl_layers_run));
    p.cost = cut(&p, layers, sizeof(layer_cost));
    p.kept = cut(&p, layers, sizeof(double));
    p.gathered = cut(&p, layers, sizeof(double));
    p.first = cut(&p, LANES + 1, sizeof(uint32_t));
    p.seconds = cut(&p, p.tasks, sizeof(double));
    p.wait = cut(&p, p.tasks, 2 * sizeof(uint32_t));
    p.wait_first = cut(&p, p.tasks + 1, sizeof(uint32_t));
    p.waits = cut(&p, p.tasks, 2 * sizeof(uint32_t));
    p.microbatch = cut(&p, p.tasks, sizeof(uint32_t));
    p.layer = cut(&p, p.tasks, sizeof(uint16_t));
    p.kind = cut(&p, p.tasks, sizeof(uint8_t));
    p.start = cut(&p, p.tasks, sizeof(double));
    p.end = cut(&p, p.tasks, sizeof(double));
    p.simulation = cut(&p, 1, sl_simulation_bytes(LANES, (uint32_t)p.tasks));
    return p;
}

sl_pipeline_size
sl_layers_size(const sl_memory_case *c)
{
    const parts p = parts_of(c);

    return (sl_pipeline_size){.tasks = p.tasks,
                              .bytes = p.bytes == SIZE_MAX ? UINT64_MAX : p.bytes};
}

/* Elements that travel with a layer: its own but for what is the root's, which the first layer has. */
static double
unit_elements(const sl_memory_case *c, uint32_t layer, double *root)
{
    const sl_model *model = c->question->model;
    const uint32_t kind = model->layers[layer];
    const double all = c->prices[kind].elements;

    *root = 0.0;
    if (!sl_states_gathers_units(c->workload, c->plan))
        return all;
    if (!sl_schedule_is_block(model, kind)) {
        *root = all;
        return 0.0;
    }
    const sl_unit_split split = sl_unit_of(&c->plan->unit, c->slice, &model->kinds[kind], all);
    *root = split.largest > 0.0 ? split.root : all;
    return all - *root;
}

/* Blocks among the first `recompute_layers` of a chunk recompute, or all. */
static bool
runs_again(const sl_memory_case *c, uint32_t block)
{
    return c->workload->recompute != SL_RECOMPUTE_FULL ||
           c->workload->recompute_method != SL_RECOMPUTE_BLOCK ||
           block < c->workload->recompute_layers;
}

static void
set_passes(const sl_memory_case *c, uint32_t layer, uint32_t block, layer_cost *cost)
{
    const sl_model *model = c->question->model;
    const uint32_t kind = model->layers[layer];
    const sl_kind_price *price = &c->prices[kind];
    const bool again = sl_schedule_is_block(model, kind) && runs_again(c, block);
    const sl_rank_time t = sl_step_layer(c, kind, again);

    cost->forward_s = sl_pass_s(&t.forward);
    cost->backward_s = sl_pass_s(&t.backward) + sl_pass_s(&t.again);
    cost->kept_bytes = again ? sl_recompute_kept_bytes(c->workload, price) : price->saved_bytes;
}

static void
set_costs(builder *b)
{
    const sl_memory_case *c = b->c;
    const double all = fmax(1.0, sl_holding_of(c->holdings, 0)->elements.all);
    const double gather_s =
        b->data.rounds.gathers > 0.0 ? b->data.gather_s / b->data.rounds.gathers / all : 0.0;
    const double reduce_s = b->data.reduce_s / b->data.rounds.reduces / all;
    const double replicas_s = (b->data.replica_s + b->data.copy_s) / b->data.rounds.reduces / all;
    const double gathered =
        b->data.rounds.gathers > 0.0 ? b->data.gather_bytes / b->data.rounds.gathers / all : 0.0;
    const bool units = sl_states_gathers_units(c->workload, c->plan);
    double roots = 0.0;
    uint32_t block = 0;

    for (uint32_t l = 0; l < b->layers; l++) {
        double root = 0.0;
        const double elements = unit_elements(c, l, &root);
        roots += root;
        b->cost[l] = (layer_cost){.gather_s = elements * gather_s,
                                  .reduce_s = elements * reduce_s,
                                  .replicas_s = elements * replicas_s,
                                  .gathered_bytes = units ? elements * gathered : 0.0};
        set_passes(c, l, block, &b->cost[l]);
        block += sl_schedule_is_block(c->question->model, c->question->model->layers[l]);
    }
    b->cost[0].gather_s += roots * gather_s;
    b->cost[0].reduce_s += roots * reduce_s;
    b->cost[0].replicas_s += roots * replicas_s;
    b->cost[0].gathered_bytes += units ? roots * gathered : 0.0;
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

/* What computing loses to the collective that runs beside it. */
static double
slowed_s(const builder *b, double seconds, double collective_s, bool overlapped)
{
    return seconds + (overlapped ? sl_timeline_loss_s(b->c, fmin(seconds, collective_s)) : 0.0);
}

static void
lay_passes(builder *b, double optimizer_s)
{
    b->lane_first[LANE_PASSES] = 0;
    for (uint32_t i = 0; i < b->microbatches; i++) {
        const bool gathers = b->gathers || i == 0;
        const bool reduces = b->reduces || i + 1 == b->microbatches;
        for (uint32_t l = 0; l < b->layers; l++)
            (void)add_task(
                b, SL_SPAN_FORWARD, i, l,
                slowed_s(b, b->cost[l].forward_s, b->cost[l].gather_s, gathers && b->ahead));
        for (uint32_t l = b->layers; l-- > 0;)
            (void)add_task(b, SL_SPAN_BACKWARD, i, l,
                           slowed_s(b, b->cost[l].backward_s,
                                    (b->again ? b->cost[l].gather_s : 0.0) +
                                        (reduces ? b->cost[l].reduce_s : 0.0),
                                    b->beside));
    }
    (void)add_task(b, SL_SPAN_OPTIMIZER, 0, UINT16_MAX, optimizer_s);
}

static uint32_t
pass_of(const builder *b, uint32_t microbatch, bool forward, uint32_t layer)
{
    return (2 * microbatch + !forward) * b->layers + (forward ? layer : b->layers - 1 - layer);
}

/* Before a pass of a layer, no earlier than the pass before it begins; without prefetching, than that
 * ends; what is one unit, or all at once, before anything else runs. */
static void
gather(builder *b, uint32_t microbatch, bool forward, uint32_t layer)
{
    const uint32_t pass = pass_of(b, microbatch, forward, layer);
    const uint32_t early = b->ahead ? 2 : 1;

    if (b->cost[layer].gather_s <= 0.0)
        return;
    const uint32_t task = add_task(b, SL_SPAN_GATHER, microbatch, layer, b->cost[layer].gather_s);
    if (pass >= early)
        b->wait[task][0] = pass - early;
    b->wait[pass][0] = task;
}

static void
reduce(builder *b, uint32_t microbatch, uint32_t layer)
{
    if (b->cost[layer].reduce_s <= 0.0)
        return;
    const uint32_t task = add_task(b, SL_SPAN_REDUCE, microbatch, layer, b->cost[layer].reduce_s);
    /* Not overlapped, all go when the last gradient is there. */
    b->wait[task][0] = pass_of(b, microbatch, false, b->beside ? layer : 0);
}

/* In the order of one stream: what the next layer needs, then what the last one made. */
static void
lay_data(builder *b)
{
    b->lane_first[LANE_DATA] = b->data_first = b->tasks;
    for (uint32_t i = 0; i < b->microbatches; i++) {
        const bool gathers = b->data.rounds.gathers > 0.0 && (b->gathers || i == 0);
        const bool reduces = b->reduces || i + 1 == b->microbatches;
        for (uint32_t l = 0; gathers && l < b->layers; l++)
            gather(b, i, true, l);
        for (uint32_t l = b->layers; l-- > 0;) {
            /* The root stays gathered from forward to backward. */
            if (b->again && l > 0)
                gather(b, i, false, l);
            if (reduces && b->beside && l + 1 < b->layers)
                reduce(b, i, l + 1);
        }
        for (uint32_t l = b->beside ? 1 : b->layers; reduces && l-- > 0;)
            reduce(b, i, l);
        /* What does not overlap holds up the next micro-batch. */
        if (reduces && !b->beside && i + 1 < b->microbatches && b->tasks > b->data_first)
            b->wait[pass_of(b, i + 1, true, 0)][1] = b->tasks - 1;
    }
}

static void
lay_replicas(builder *b)
{
    const uint32_t end = b->tasks;

    b->lane_first[LANE_REPLICAS] = end;
    for (uint32_t task = b->data_first; task < end; task++) {
        if (b->kind[task] != SL_SPAN_REDUCE || b->cost[b->layer[task]].replicas_s <= 0.0)
            continue;
        const uint32_t sum = add_task(b, SL_SPAN_REDUCE_REPLICAS, b->microbatch[task],
                                      b->layer[task], b->cost[b->layer[task]].replicas_s);
        b->wait[sum][0] = task;
    }
    b->lane_first[LANES] = b->tasks;
    /* The optimizer is the last pass; the reductions of a stream end one after another. */
    const uint32_t optimizer = b->lane_first[LANE_DATA] - 1;
    if (end > b->data_first)
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
        .data = sl_step_data_rank(c, &groups, &t, 0, 0.0),
        .cost = (layer_cost *)(void *)(scratch + p->cost),
        .lane_first = (uint32_t *)(void *)(scratch + p->first),
        .seconds = (double *)(void *)(scratch + p->seconds),
        .wait = (uint32_t(*)[2])(void *)(scratch + p->wait),
        .microbatch = (uint32_t *)(void *)(scratch + p->microbatch),
        .layer = (uint16_t *)(void *)(scratch + p->layer),
        .kind = (uint8_t *)(scratch + p->kind),
    };
    const bool divided =
        b.data.rounds.starts > 1.0 || sl_states_gathers_units(c->workload, c->plan);

    b.gathers = divided;
    b.again = b.data.rounds.gathers > b.data.rounds.starts;
    b.reduces = b.data.rounds.reduces > 1.0;
    b.ahead = c->software->overlap_parameter_gather && !b.data.whole;
    b.beside = c->software->overlap_gradient_reduce && !b.data.whole;
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

    set_costs(&b);
    for (uint32_t l = 0; l < b.layers; l++) {
        b.cost[l].forward_s *= slowness;
        b.cost[l].backward_s *= slowness;
        kept[l] = b.cost[l].kept_bytes;
        gathered[l] = b.cost[l].gathered_bytes;
    }
    lay_passes(&b, time->terms[SL_TERM_OPTIMIZER_STEP - SL_TERM_FORWARD].value);
    lay_data(&b);
    lay_replicas(&b);
    assert(b.tasks <= p.tasks);
    collect(&b, first, waits);
    *run = (sl_layers_run){
        .tasks = {LANES, b.lane_first, b.seconds, first, waits},
        .task_count = b.tasks,
        .passes = b.lane_first[LANE_DATA] - 1,
        .start_s = start_s,
        .end_s = end_s,
        .microbatch = b.microbatch,
        .layer = b.layer,
        .kind = b.kind,
        .data = groups.shard.level == SL_LEVEL_NETWORK ? SL_STREAM_NETWORK : SL_STREAM_SCALE_UP,
        .replicas =
            groups.replicas.level == SL_LEVEL_NETWORK ? SL_STREAM_NETWORK : SL_STREAM_SCALE_UP,
        .kept_bytes = kept,
        .gathered_bytes = gathered,
        .reshards = b.again,
    };
    const bool done = sl_simulate(&run->tasks, at + p.simulation, start_s, end_s);
    assert(done); /* gathers wait for earlier passes only, reductions for passes alone */
    (void)done;
    for (uint32_t task = 0; task < b.tasks; task++)
        run->step_s = fmax(run->step_s, end_s[task]);
    *out = run;
}

sl_span
sl_layers_span(const sl_layers_run *run, uint32_t task)
{
    const uint32_t *first = run->tasks.lane_first;
    const bool whole = run->layer[task] == UINT16_MAX;

    assert(task < run->task_count);
    return (sl_span){
        .stream = task < first[LANE_DATA]       ? SL_STREAM_COMPUTE
                  : task < first[LANE_REPLICAS] ? run->data
                                                : run->replicas,
        .kind = (sl_span_kind)run->kind[task],
        .microbatch = whole ? SL_SPAN_NONE : run->microbatch[task],
        .chunk = SL_SPAN_NONE,
        .layer = whole ? SL_SPAN_NONE : run->layer[task],
        .start_s = run->start_s[task],
        .end_s = run->end_s[task],
    };
}

static uint32_t
gather_count(const sl_layers_run *run)
{
    uint32_t count = 0;

    for (uint32_t task = run->passes + 1; task < run->task_count; task++)
        count += run->kind[task] == SL_SPAN_GATHER;
    return count;
}

uint64_t
sl_layers_steps(const sl_layers_run *run)
{
    return 2 * (uint64_t)run->passes + gather_count(run);
}

/* Of a pass, as it begins and as it ends. */
static double
change_of(const sl_layers_run *run, uint32_t pass, bool ends)
{
    const uint32_t layer = run->layer[pass];

    if (run->kind[pass] == SL_SPAN_FORWARD) {
        if (!ends)
            return run->kept_bytes[layer];
        return run->reshards && layer > 0 ? -run->gathered_bytes[layer] : 0.0;
    }
    return ends ? -run->kept_bytes[layer] - run->gathered_bytes[layer] : 0.0;
}

/* A step of the staircase. */
typedef struct stairs {
    double *at_s;
    uint64_t *bytes;
    uint64_t count, highest;
    double alive;
} stairs;

static void
climb(stairs *to, double at_s, double change)
{
    to->alive += change;
    const uint64_t bytes = (uint64_t)ceil(fmax(0.0, to->alive));
    if (bytes > to->highest)
        to->highest = bytes;
    if (to->at_s != NULL) {
        to->at_s[to->count] = at_s;
        to->bytes[to->count] = bytes;
    }
    to->count++;
}

uint64_t
sl_layers_staircase(const sl_layers_run *run, double *at_s, uint64_t *bytes)
{
    stairs to = {.at_s = at_s, .bytes = bytes};
    uint32_t task = run->passes + 1;

    for (uint64_t i = 0; i < 2 * (uint64_t)run->passes; i++) {
        const uint32_t pass = (uint32_t)(i / 2);
        const double now_s = i % 2 == 0 ? run->start_s[pass] : run->end_s[pass];
        /* Gathers that began by then; other tasks of their lane change nothing. */
        for (; task < run->task_count && run->start_s[task] <= now_s; task++)
            if (run->kind[task] == SL_SPAN_GATHER)
                climb(&to, run->start_s[task], run->gathered_bytes[run->layer[task]]);
        climb(&to, now_s, change_of(run, pass, i % 2 == 1));
    }
    assert(to.count == sl_layers_steps(run));
    return to.highest;
}
