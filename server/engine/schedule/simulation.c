#include "engine/schedule/simulation.h"

#include <assert.h>

#include "engine/schedule/simulation_waiting.h"

static const uint32_t none = SL_LANE_NONE;

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
    uint32_t ready; /* the first lane that may run */
    double *start_s, *end_s;
} simulation;

size_t
sl_simulation_bytes(uint32_t lanes)
{
    return lanes * sizeof(lane_state);
}

/* A lane and all that waited with it for a task may run: it has ended. */
static void
wake(simulation *s, uint32_t lane, double end_s)
{
    while (lane != none) {
        lane_state *woken = &s->lanes[lane];
        const uint32_t other = woken->other;
        woken->wait++;
        if (end_s > woken->now_s)
            woken->now_s = end_s;
        woken->other = s->ready;
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
                lane->other = sl_first_waiting(s->end_s[awaited]);
                s->end_s[awaited] = sl_end_awaited_by(index);
                return;
            }
            if (s->end_s[awaited] > lane->now_s)
                lane->now_s = s->end_s[awaited];
        }
        s->start_s[task] = lane->now_s;
        lane->now_s += t->seconds[task];
        const uint32_t waiting = sl_first_waiting(s->end_s[task]);
        s->end_s[task] = lane->now_s;
        wake(s, waiting, lane->now_s);
    }
}

bool
sl_simulate(const sl_tasks *tasks, void *scratch, double *start_s, double *end_s)
{
    const uint32_t count = tasks->lane_first[tasks->lanes];
    lane_state *lanes = scratch;
    simulation s = {
        .tasks = tasks, .lanes = lanes, .ready = none, .start_s = start_s, .end_s = end_s};

    for (uint32_t task = 0; task < count; task++) {
        assert(tasks->seconds[task] >= 0.0);
        end_s[task] = sl_end_awaited_by(none);
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
