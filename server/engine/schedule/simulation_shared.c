/* Tasks in the order of time: where links are shared, what runs now says how fast it runs. */
#include "engine/schedule/simulation.h"

#include <assert.h>

#include "engine/schedule/simulation_waiting.h"

static const uint32_t none = SL_LANE_NONE;

typedef struct lane_state {
    uint32_t next;   /* task */
    uint32_t wait;   /* of that task's, the first not known to have ended */
    uint32_t other;  /* the next lane that waits for the same task, or that may run */
    uint32_t place;  /* in the heap, while the task runs */
    uint32_t beside; /* while it sends, another lane whose task goes the same way in */
    double left_s;   /* of the task at full rate, from since_s on */
    double since_s;
    double rate;
} lane_state;

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
    const sl_tasks *tasks;
    const sl_sharing *sharing;
    lane_state *lanes;
    node_state *nodes;
    runner *heap; /* the first to end on top */
    uint32_t running;
    bool vacant;    /* the top has ended, and nothing has come in its place */
    uint32_t ready; /* the first lane that may run */
    double now_s;
    double *start_s, *end_s;
} simulation;

size_t
sl_simulation_shared_bytes(uint32_t lanes, uint32_t nodes)
{
    return lanes * (sizeof(lane_state) + sizeof(runner)) + nodes * sizeof(node_state);
}

static void
put(simulation *s, uint32_t place, runner of)
{
    s->heap[place] = of;
    s->lanes[of.lane].place = place;
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
    for (uint32_t lane = in ? n->in : none; lane != none; lane = s->lanes[lane].beside)
        enter += 1.0;
    return leave > enter ? leave : enter;
}

static uint32_t
receiver_of(const simulation *s, uint32_t lane)
{
    const uint32_t first = s->tasks->lane_first[s->sharing->sends];

    return s->sharing->to[s->lanes[lane].next - first];
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
    lane_state *l = &s->lanes[lane];
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
    for (uint32_t lane = n->in; lane != none; lane = s->lanes[lane].beside)
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
        set_rates_at(s, lane - sharing->exchanges);
    } else if (is_of(sharing->sends, sharing->nodes, lane)) {
        const uint32_t from = lane - sharing->sends;
        const uint32_t to = receiver_of(s, lane);
        uint32_t *in = &s->nodes[to].in;
        s->nodes[from].out = takes ? lane : none;
        while (!takes && *in != lane)
            in = &s->lanes[*in].beside;
        if (takes)
            s->lanes[lane].beside = *in;
        *in = takes ? lane : s->lanes[lane].beside;
        if (s->nodes[from].exchange == none && s->nodes[to].exchange == none)
            return;
        fill(s);
        set_rates_at(s, from);
        set_rates_at(s, to);
    }
}

static void
make_ready(simulation *s, uint32_t lane)
{
    s->lanes[lane].other = s->ready;
    s->ready = lane;
}

/* Starts the lane's next task if all that it waits for has ended; else lines up there. */
static void
start(simulation *s, uint32_t lane)
{
    const sl_tasks *t = s->tasks;
    lane_state *l = &s->lanes[lane];

    if (l->next == t->lane_first[lane + 1])
        return;
    for (; l->wait < t->wait_first[l->next + 1]; l->wait++) {
        const uint32_t awaited = t->waits[l->wait];
        if (s->end_s[awaited] < 0.0) {
            l->other = sl_first_waiting(s->end_s[awaited]);
            s->end_s[awaited] = sl_end_awaited_by(lane);
            return;
        }
    }
    s->start_s[l->next] = l->since_s = s->now_s;
    l->left_s = t->seconds[l->next];
    l->rate = 1.0;
    enter(s, (runner){s->now_s + l->left_s, lane});
    take_ways(s, lane, true);
}

/* Ends the task that ends first. */
static void
end_first(simulation *s)
{
    const uint32_t lane = s->heap[0].lane;
    const uint32_t task = s->lanes[lane].next;
    uint32_t other = sl_first_waiting(s->end_s[task]);

    s->now_s = s->end_s[task] = s->heap[0].end_s;
    s->vacant = true;
    take_ways(s, lane, false);
    s->lanes[lane].next++;
    make_ready(s, lane);
    while (other != none) {
        const uint32_t after = s->lanes[other].other;
        s->lanes[other].wait++; /* this one has ended */
        make_ready(s, other);
        other = after;
    }
}

bool
sl_simulate_shared(const sl_tasks *tasks, const sl_sharing *sharing, void *scratch, double *start_s,
                   double *end_s)
{
    const uint32_t count = tasks->lane_first[tasks->lanes];
    lane_state *lanes = scratch;
    runner *heap = (runner *)(lanes + tasks->lanes);
    node_state *nodes = (node_state *)(heap + tasks->lanes);
    simulation s = {.tasks = tasks,
                    .sharing = sharing,
                    .lanes = lanes,
                    .nodes = nodes,
                    .heap = heap,
                    .ready = none,
                    .start_s = start_s,
                    .end_s = end_s};

    for (uint32_t i = 0; i < sharing->nodes; i++)
        nodes[i] = (node_state){none, none, none};
    for (uint32_t task = 0; task < count; task++) {
        assert(tasks->seconds[task] >= 0.0);
        end_s[task] = sl_end_awaited_by(none);
    }
    for (uint32_t i = tasks->lanes; i-- > 0;) {
        lanes[i] = (lane_state){.next = tasks->lane_first[i],
                                .wait = tasks->wait_first[tasks->lane_first[i]]};
        make_ready(&s, i);
    }
    for (;;) {
        while (s.ready != none) {
            const uint32_t lane = s.ready;
            s.ready = lanes[lane].other;
            start(&s, lane);
        }
        fill(&s);
        if (s.running == 0)
            break;
        end_first(&s);
    }
    for (uint32_t i = 0; i < tasks->lanes; i++)
        if (lanes[i].next != tasks->lane_first[i + 1])
            return false;
    return true;
}
