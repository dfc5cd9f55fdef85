/** When tasks begin and end that run on lanes, in order, and wait for each other. */
#ifndef SL_ENGINE_SIMULATION_H
#define SL_ENGINE_SIMULATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * Tasks are numbered lane by lane, those of a lane in the order in which it runs them, one at a
 * time, as a stream of a device does. There are fewer than UINT32_MAX.
 */
typedef struct sl_tasks {
    uint32_t lanes;
    const uint32_t *lane_first; /* lanes + 1: the first task of each, and their number */
    const double *seconds;      /* [s] of each task, >= 0 */
    const uint32_t *wait_first; /* tasks + 1: where those that a task waits for begin in `waits` */
    const uint32_t *waits;
} sl_tasks;

/** Bytes of scratch memory of sl_simulate. */
size_t sl_simulation_bytes(uint32_t lanes);

/**
 * start = max(end of the task before on the lane, ends of those waited for); end = start + seconds.
 * In time linear in tasks and waits. False where tasks wait for each other in a circle: those that
 * never start then end before 0.
 */
bool sl_simulate(const sl_tasks *tasks, void *scratch, double *start_s, double *end_s);

/**
 * Nodes, each with a way out and a way in that several tasks may take at the same time. One lane of
 * each node sends: its tasks take the way out of their node and the way in of another. One lane of
 * each exchanges with nodes that are not drawn, and takes both ways of its own.
 */
typedef struct sl_sharing {
    uint32_t nodes;
    uint32_t sends, exchanges; /* the first of `nodes` lanes each, node after node */
    const uint8_t *to;         /* node of each task that sends, from the first of those lanes on */
} sl_sharing;

/** Bytes of scratch memory of sl_simulate_shared. */
size_t sl_simulation_shared_bytes(uint32_t lanes, uint32_t nodes);

/**
 * sl_simulate, but for ways that are shared: while a node exchanges, all that takes one of its ways
 * gets the same part of it,
 *   rate = 1 / the most tasks on any way that it takes and that something exchanges over
 * and sends that meet on a way where nothing is exchanged do not slow each other. A task then ends
 * when its seconds at full rate are done. In time linear in tasks and waits, but for those between
 * the first exchanges, and from the next one on, that of each times the logarithm of the lanes.
 */
bool sl_simulate_shared(const sl_tasks *tasks, const sl_sharing *sharing, void *scratch,
                        double *start_s, double *end_s);

#endif
