#include "engine/schedule/simulation_lanes.h"

#include <assert.h>
#include <math.h>

static const uint32_t none = SL_LANE_NONE;

size_t
sl_simulation_bytes(uint32_t lanes)
{
    return lanes * sizeof(sl_lane);
}

void
sl_lane_set_out(sl_lanes *s, uint32_t lane, uint32_t next)
{
    const uint32_t *first = &s->tasks->lane_first[lane];

    for (uint32_t task = next; task < first[1]; task++) {
        assert(s->tasks->seconds[task] >= 0.0);
        s->end_s[task] = sl_end_awaited_by(none);
    }
    s->lanes[lane] = (sl_lane){.next = next,
                               .wait = s->tasks->wait_first[next],
                               .now_s = next > first[0] ? s->end_s[next - 1] : 0.0};
}

/* A lane and all that waited with it for a task may run: it has ended. */
static void
wake(sl_lanes *s, uint32_t lane, double end_s)
{
    while (lane != none) {
        sl_lane *woken = &s->lanes[lane];
        const uint32_t other = woken->other;
        woken->wait++;
        if (end_s > woken->now_s)
            woken->now_s = end_s;
        sl_lane_make_ready(s, lane);
        lane = other;
    }
}

/* Runs a lane up to the first task that waits for one that has not ended. */
static void
run_lane(sl_lanes *s, uint32_t index)
{
    sl_lane *lane = &s->lanes[index];
    const uint32_t end = s->tasks->lane_first[index + 1];
    const bool held = index - s->held < s->held_count;

    for (; lane->next < end && !sl_lane_waits(s, index); lane->next++) {
        const uint32_t task = lane->next;
        if (held) {
            s->held_s = fmin(s->held_s, lane->now_s);
            return;
        }
        s->start_s[task] = lane->now_s;
        lane->now_s += s->tasks->seconds[task];
        const uint32_t waiting = sl_first_waiting(s->end_s[task]);
        s->end_s[task] = lane->now_s;
        wake(s, waiting, lane->now_s);
    }
}

void
sl_lanes_run(sl_lanes *s)
{
    while (s->ready != none) {
        const uint32_t lane = s->ready;
        s->ready = s->lanes[lane].other;
        run_lane(s, lane);
    }
}

bool
sl_lanes_ended(const sl_lanes *s)
{
    for (uint32_t i = 0; i < s->tasks->lanes; i++)
        if (s->lanes[i].next != s->tasks->lane_first[i + 1])
            return false;
    return true;
}

bool
sl_simulate(const sl_tasks *tasks, void *scratch, double *start_s, double *end_s)
{
    sl_lanes s = {
        .tasks = tasks, .lanes = scratch, .ready = none, .start_s = start_s, .end_s = end_s};

    for (uint32_t i = tasks->lanes; i-- > 0;) {
        sl_lane_set_out(&s, i, tasks->lane_first[i]);
        sl_lane_make_ready(&s, i);
    }
    sl_lanes_run(&s);
    return sl_lanes_ended(&s);
}
