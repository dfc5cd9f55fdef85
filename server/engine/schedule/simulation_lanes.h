/** Lanes of tasks, run one after another, each as far as it gets. */
#ifndef SL_ENGINE_SIMULATION_LANES_H
#define SL_ENGINE_SIMULATION_LANES_H

#include "engine/schedule/simulation.h"

/** No lane. */
#define SL_LANE_NONE UINT32_MAX

/** How far a lane has come. */
typedef struct sl_lane {
    uint32_t next;  /* task */
    uint32_t wait;  /* of that task's, the first not known to have ended */
    uint32_t other; /* the next lane that waits for the same task, or that may run */
    double now_s;   /* end of the task before, and of what was waited for since */
} sl_lane;

typedef struct sl_lanes {
    const sl_tasks *tasks;
    sl_lane *lanes;
    uint32_t ready;            /* the first lane that may run */
    uint32_t held, held_count; /* lanes from this one on whose tasks may not begin ... */
    double held_s;             /* ... and when the first of them could */
    double *start_s, *end_s;   /* of each task */
} sl_lanes;

/** The end [s] of a task that has not ended, below 0: `lane` is the first that waits for it, if
 * any. That spares a place in memory for each. */
static inline double
sl_end_awaited_by(uint32_t lane)
{
    return lane == SL_LANE_NONE ? -1.0 : -2.0 - lane;
}

/** The lane that such an end tells. */
static inline uint32_t
sl_first_waiting(double end_s)
{
    return end_s == -1.0 ? SL_LANE_NONE : (uint32_t)(-2.0 - end_s);
}

/** A lane may run. */
static inline void
sl_lane_make_ready(sl_lanes *s, uint32_t lane)
{
    s->lanes[lane].other = s->ready;
    s->ready = lane;
}

/** Puts a lane before its task `next`, which has not begun, nor has any after it. */
void sl_lane_set_out(sl_lanes *s, uint32_t lane, uint32_t next);

/** Runs lanes that may run, and those that may then, until none may. */
void sl_lanes_run(sl_lanes *s);

/** Whether the lane's next task waits for one that has not ended; the lane is then lined up there. */
static inline bool
sl_lane_waits(sl_lanes *s, uint32_t index)
{
    const sl_tasks *t = s->tasks;
    sl_lane *lane = &s->lanes[index];

    for (; lane->wait < t->wait_first[lane->next + 1]; lane->wait++) {
        double *end_s = &s->end_s[t->waits[lane->wait]];
        if (*end_s < 0.0) {
            lane->other = sl_first_waiting(*end_s);
            *end_s = sl_end_awaited_by(index);
            return true;
        }
        if (*end_s > lane->now_s)
            lane->now_s = *end_s;
    }
    return false;
}

/** Whether all lanes have run to their ends. */
bool sl_lanes_ended(const sl_lanes *s);

#endif
