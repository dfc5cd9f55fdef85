#include "engine/simulation.h"

#include <assert.h>

static const uint32_t none = UINT32_MAX;

/* How far a lane has come. */
typedef struct lane_state {
    uint32_t next;  /* task */
    uint32_t wait;  /* of that task's, the first not known to have ended */
    uint32_t other; /* the next lane that waits for the same task, or that may run */
    double now_s;
} lane_state;

typedef struct simulation {
    const sl_tasks *tasks;
    lane_state *lanes;
    uint32_t *waiting; /* of each task the first lane that waits for it */
    uint32_t ready;    /* the first lane that may run */
    double *start_s, *end_s;
} simulation;

size_t
sl_simulation_bytes(uint32_t lanes, uint32_t tasks)
{
    return lanes * sizeof(lane_state) + tasks * sizeof(uint32_t);
}

/* Everything that waited for the task may run. */
static void
wake(simulation *s, uint32_t task)
{
    uint32_t lane = s->waiting[task];

    while (lane != none) {
        const uint32_t other = s->lanes[lane].other;
        s->lanes[lane].other = s->ready;
        s->ready = lane;
        lane = other;
    }
}

/* Runs a lane up to the first task that waits for one that has not ended, and lines up there. */
static void
run_lane(simulation *s, uint32_t index)
{
    const sl_tasks *t = s->tasks;
    lane_state *lane = &s->lanes[index];
    const uint32_t end = t->lane_first[index + 1];

    for (; lane->next < end; lane->next++) {
        const uint32_t task = lane->next;
        for (; lane->wait < t->wait_first[task + 1]; lane->wait++) {
            const uint32_t awaited = t->waits[lane->wait];
            if (s->end_s[awaited] < 0.0) {
                lane->other = s->waiting[awaited];
                s->waiting[awaited] = index;
                return;
            }
            if (s->end_s[awaited] > lane->now_s)
                lane->now_s = s->end_s[awaited];
        }
        s->start_s[task] = lane->now_s;
        lane->now_s += t->seconds[task];
        s->end_s[task] = lane->now_s;
        wake(s, task);
    }
}

bool
sl_simulate(const sl_tasks *tasks, void *scratch, double *start_s, double *end_s)
{
    const uint32_t count = tasks->lane_first[tasks->lanes];
    lane_state *lanes = scratch;
    simulation s = {.tasks = tasks,
                    .lanes = lanes,
                    .waiting = (uint32_t *)(lanes + tasks->lanes),
                    .ready = none,
                    .start_s = start_s,
                    .end_s = end_s};

    for (uint32_t task = 0; task < count; task++) {
        assert(tasks->seconds[task] >= 0.0);
        s.waiting[task] = none;
        start_s[task] = end_s[task] = -1.0;
    }
    for (uint32_t i = tasks->lanes; i-- > 0;) {
        const uint32_t first = tasks->lane_first[i];
        lanes[i] = (lane_state){
            .next = first, .wait = tasks->wait_first[first], .other = s.ready, .now_s = 0.0};
        s.ready = i;
    }
    while (s.ready != none) {
        const uint32_t lane = s.ready;
        s.ready = lanes[lane].other;
        run_lane(&s, lane);
    }
    for (uint32_t i = 0; i < tasks->lanes; i++)
        if (lanes[i].next != tasks->lane_first[i + 1])
            return false;
    return true;
}
