/*
 * Tasks in the order of time, where links are shared: what runs now says how fast it runs. Links are
 * shared while something is exchanged, mostly as a step begins and as it ends; between, lanes run
 * one after another.
 */
#include "engine/schedule/simulation_lanes.h"

#include <assert.h>
#include <math.h>

static const uint32_t none = SL_LANE_NONE;

/* A lane's task while it runs. */
typedef struct run_state {
    uint32_t place;  /* in the heap */
    uint32_t beside; /* while it sends, another lane whose task goes the same way in */
    double left_s;   /* of the task at full rate, from since_s on */
    double since_s;
    double rate;
} run_state;

/* A lane that runs, and when its task ends at the present rate. */
typedef struct runner {
    double end_s;
    uint32_t lane;
} runner;

/* What takes the ways of a node: lanes, none where there is no such task. */
typedef struct node_state {
    uint32_t exchange, out, in;
} node_state;

typedef struct simulation {
    sl_lanes of;
    const sl_sharing *sharing;
    run_state *runs; /* of each lane */
    node_state *nodes;
    uint32_t exchanging; /* nodes */
    runner *heap;        /* the first to end on top */
    uint32_t running;
    bool vacant; /* the top has ended, and nothing has come in its place */
    double now_s;
} simulation;

size_t
sl_simulation_shared_bytes(uint32_t lanes, uint32_t nodes)
{
    return lanes * (sizeof(sl_lane) + sizeof(run_state) + sizeof(runner)) +
           nodes * sizeof(node_state);
}

static void
put(simulation *s, uint32_t place, runner of)
{
    s->heap[place] = of;
    s->runs[of.lane].place = place;
}

/* Where a runner belongs, from `place` on upwards or down. */
static void
settle(simulation *s, uint32_t place, runner of)
{
    runner *heap = s->heap;

    for (; place > 0 && heap[(place - 1) / 2].end_s > of.end_s; place = (place - 1) / 2)
        put(s, place, heap[(place - 1) / 2]);
    for (uint32_t child = 2 * place + 1; child < s->running; child = 2 * place + 1) {
        child += child + 1 < s->running && heap[child + 1].end_s < heap[child].end_s;
        if (heap[child].end_s >= of.end_s)
            break;
        put(s, place, heap[child]);
        place = child;
    }
    put(s, place, of);
}

/* What runs next often takes the place of what ran last. */
static void
enter(simulation *s, runner of)
{
    const uint32_t place = s->vacant ? 0 : s->running++;

    s->vacant = false;
    settle(s, place, of);
}

static void
fill(simulation *s)
{
    if (s->vacant && --s->running > 0)
        settle(s, 0, s->heap[s->running]);
    s->vacant = false;
}

static bool
is_of(uint32_t first, uint32_t count, uint32_t lane)
{
    return lane >= first && lane - first < count;
}

/* Tasks on the busier way of a node that exchanges, or only on one of its ways; 1 where it does
 * not. */
static double
met_at(const simulation *s, uint32_t node, bool out, bool in)
{
    const node_state *n = &s->nodes[node];
    double leave = 1.0;
    double enter = 1.0;

    if (n->exchange == none)
        return 1.0;
    if (out && n->out != none)
        leave += 1.0;
    for (uint32_t lane = in ? n->in : none; lane != none; lane = s->runs[lane].beside)
        enter += 1.0;
    return leave > enter ? leave : enter;
}

static uint32_t
receiver_of(const simulation *s, uint32_t lane)
{
    const uint32_t first = s->of.tasks->lane_first[s->sharing->sends];

    return s->sharing->to[s->of.lanes[lane].next - first];
}

static double
rate_of(const simulation *s, uint32_t lane)
{
    const sl_sharing *sharing = s->sharing;

    if (is_of(sharing->exchanges, sharing->nodes, lane))
        return 1.0 / met_at(s, lane - sharing->exchanges, true, true);
    if (!is_of(sharing->sends, sharing->nodes, lane))
        return 1.0;
    const double out = met_at(s, lane - sharing->sends, true, false);
    const double in = met_at(s, receiver_of(s, lane), false, true);
    return 1.0 / (out > in ? out : in);
}

static void
set_rate(simulation *s, uint32_t lane)
{
    run_state *l = &s->runs[lane];
    const double rate = rate_of(s, lane);

    if (rate == l->rate)
        return;
    l->left_s -= (s->now_s - l->since_s) * l->rate;
    l->left_s = l->left_s > 0.0 ? l->left_s : 0.0;
    l->since_s = s->now_s;
    l->rate = rate;
    settle(s, l->place, (runner){s->now_s + l->left_s / rate, lane});
}

/* Of all that takes the ways of a node. */
static void
set_rates_at(simulation *s, uint32_t node)
{
    const node_state *n = &s->nodes[node];

    if (n->exchange != none)
        set_rate(s, n->exchange);
    if (n->out != none)
        set_rate(s, n->out);
    for (uint32_t lane = n->in; lane != none; lane = s->runs[lane].beside)
        set_rate(s, lane);
}

/* A task of the lane takes its ways, or leaves them. */
static void
take_ways(simulation *s, uint32_t lane, bool takes)
{
    const sl_sharing *sharing = s->sharing;

    if (is_of(sharing->exchanges, sharing->nodes, lane)) {
        fill(s);
        s->nodes[lane - sharing->exchanges].exchange = takes ? lane : none;
        s->exchanging += takes ? 1 : UINT32_MAX;
        set_rates_at(s, lane - sharing->exchanges);
    } else if (is_of(sharing->sends, sharing->nodes, lane)) {
        const uint32_t from = lane - sharing->sends;
        const uint32_t to = receiver_of(s, lane);
        uint32_t *in = &s->nodes[to].in;
        s->nodes[from].out = takes ? lane : none;
        while (!takes && *in != lane)
            in = &s->runs[*in].beside;
        if (takes)
            s->runs[lane].beside = *in;
        *in = takes ? lane : s->runs[lane].beside;
        if (s->nodes[from].exchange == none && s->nodes[to].exchange == none)
            return;
        fill(s);
        set_rates_at(s, from);
        set_rates_at(s, to);
    }
}

/* The task of a lane, which began at `since_s`, runs now, and takes its ways. */
static void
begin(simulation *s, uint32_t lane, double since_s)
{
    const double seconds = s->of.tasks->seconds[s->of.lanes[lane].next];

    s->runs[lane] = (run_state){.left_s = seconds, .since_s = since_s, .rate = 1.0};
    enter(s, (runner){since_s + seconds, lane});
    take_ways(s, lane, true);
}

/* Starts the lane's next task if all that it waits for has ended; else lines up there. */
static void
start(simulation *s, uint32_t lane)
{
    const uint32_t task = s->of.lanes[lane].next;

    if (task == s->of.tasks->lane_first[lane + 1] || sl_lane_waits(&s->of, lane))
        return;
    s->of.start_s[task] = s->now_s;
    begin(s, lane, s->now_s);
}

/* Ends the task that ends first. */
static void
end_first(simulation *s)
{
    const uint32_t lane = s->heap[0].lane;
    const uint32_t task = s->of.lanes[lane].next;
    uint32_t other = sl_first_waiting(s->of.end_s[task]);

    s->now_s = s->of.end_s[task] = s->heap[0].end_s;
    s->vacant = true;
    take_ways(s, lane, false);
    s->of.lanes[lane].next++;
    sl_lane_make_ready(&s->of, lane);
    while (other != none) {
        const uint32_t after = s->of.lanes[other].other;
        s->of.lanes[other].wait++; /* this one has ended */
        sl_lane_make_ready(&s->of, other);
        other = after;
    }
}

/* To the end, or until nothing is exchanged. */
static void
run_in_time(simulation *s, bool to_the_end)
{
    for (;;) {
        while (s->of.ready != none) {
            const uint32_t lane = s->of.ready;
            s->of.ready = s->of.lanes[lane].other;
            start(s, lane);
        }
        fill(s);
        if (s->running == 0 || (!to_the_end && s->exchanging == 0))
            return;
        end_first(s);
    }
}

/* Nothing is exchanged now: runs lanes as far as they get without, and finds when something is. */
static void
run_by_lane(simulation *s)
{
    sl_lanes *of = &s->of;

    for (uint32_t i = 0; i < s->running; i++) {
        const uint32_t lane = s->heap[i].lane;
        of->end_s[of->lanes[lane].next++] = s->heap[i].end_s;
    }
    s->running = 0;
    for (uint32_t i = 0; i < s->sharing->nodes; i++)
        s->nodes[i] = (node_state){none, none, none};
    of->ready = none;
    for (uint32_t i = 0; i < of->tasks->lanes; i++) {
        sl_lane_set_out(of, i, of->lanes[i].next);
        sl_lane_make_ready(of, i);
    }
    of->held_s = HUGE_VAL;
    sl_lanes_run(of);
}

/* Back to when something is exchanged again: what began before and has not ended runs, what would
 * have begun later has not begun. */
static void
go_back(simulation *s, double to_s)
{
    sl_lanes *of = &s->of;

    s->now_s = to_s;
    for (uint32_t i = 0; i < of->tasks->lanes; i++) {
        const uint32_t run = of->lanes[i].next;
        uint32_t next = run;
        while (next > of->tasks->lane_first[i] && of->end_s[next - 1] > to_s)
            next--;
        sl_lane_set_out(of, i, next);
        if (next < run && of->start_s[next] < to_s) {
            of->lanes[i].wait = of->tasks->wait_first[next + 1];
            begin(s, i, of->start_s[next]);
        } else {
            sl_lane_make_ready(of, i);
        }
    }
}

bool
sl_simulate_shared(const sl_tasks *tasks, const sl_sharing *sharing, void *scratch, double *start_s,
                   double *end_s)
{
    sl_lane *lanes = scratch;
    run_state *runs = (run_state *)(lanes + tasks->lanes);
    runner *heap = (runner *)(runs + tasks->lanes);
    simulation s = {.of = {.tasks = tasks,
                           .lanes = lanes,
                           .ready = none,
                           .held = sharing->exchanges,
                           .held_count = sharing->nodes,
                           .start_s = start_s,
                           .end_s = end_s},
                    .sharing = sharing,
                    .runs = runs,
                    .nodes = (node_state *)(heap + tasks->lanes),
                    .heap = heap};

    for (uint32_t i = 0; i < sharing->nodes; i++)
        s.nodes[i] = (node_state){none, none, none};
    for (uint32_t i = tasks->lanes; i-- > 0;) {
        sl_lane_set_out(&s.of, i, tasks->lane_first[i]);
        sl_lane_make_ready(&s.of, i);
    }
    run_in_time(&s, false);
    run_by_lane(&s);
    if (s.of.held_s < HUGE_VAL) {
        go_back(&s, s.of.held_s);
        run_in_time(&s, true);
    }
    return sl_lanes_ended(&s.of);
}
