/* Layers are simulated as if nothing slowed anything; here their times become those of a clock. */
#include "engine/schedule/timeline_parts.h"

#include <stddef.h>

/* How far a lane is: its next task begins, or ends where it runs. */
typedef struct cursor {
    uint32_t next, end;
    bool running;
} cursor;

typedef struct times {
    double *start_s, *end_s;
} times;

static double
due_s(const times *t, const cursor *lane)
{
    return lane->running ? t->end_s[lane->next] : t->start_s[lane->next];
}

/* At one time: what ends before passes do, what begins after what they leave open. */
static uint32_t
turn(const cursor *lane, bool passes)
{
    return !lane->running ? 2 : passes ? 1 : 0;
}

static cursor *
first_due(const times *t, cursor lanes[SL_LAYERS_LANES])
{
    cursor *first = NULL;

    for (uint32_t i = 0; i < SL_LAYERS_LANES; i++) {
        cursor *lane = &lanes[i];
        if (lane->next == lane->end)
            continue;
        const double later_s = first == NULL ? 0.0 : due_s(t, lane) - due_s(t, first);
        if (first == NULL || later_s < 0.0 ||
            (later_s == 0.0 &&
             turn(lane, i == SL_LAYERS_PASSES) < turn(first, first == &lanes[SL_LAYERS_PASSES])))
            first = lane;
    }
    return first;
}

void
sl_layers_set_clock(const sl_tasks *tasks, const double *open_s, double loss_ratio, double *start_s,
                    double *end_s)
{
    const times t = {start_s, end_s};
    cursor lanes[SL_LAYERS_LANES];
    cursor *const passes = &lanes[SL_LAYERS_PASSES];
    double simulated_s = 0.0;
    double now_s = 0.0;

    for (uint32_t i = 0; i < SL_LAYERS_LANES; i++)
        lanes[i] = (cursor){.next = tasks->lane_first[i], .end = tasks->lane_first[i + 1]};
    for (cursor *lane = first_due(&t, lanes); lane != NULL; lane = first_due(&t, lanes)) {
        const uint32_t beside = passes->running ? (uint32_t)lanes[SL_LAYERS_DATA].running +
                                                      lanes[SL_LAYERS_REPLICAS].running
                                                : 0;
        const double due = due_s(&t, lane);
        now_s += (due - simulated_s) * (1.0 + beside * loss_ratio);
        simulated_s = due;
        if (!lane->running) {
            start_s[lane->next] = now_s;
            lane->running = true;
            continue;
        }
        if (lane == passes)
            now_s += open_s[lane->next];
        end_s[lane->next++] = now_s;
        lane->running = false;
    }
}
