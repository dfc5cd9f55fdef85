/**
 * Threads of the lowest priority that share their time among a few long works. A work is done in
 * pieces of some milliseconds; who had the least time is served next, so that several works advance
 * alike whatever their pieces cost, and whoever else wants a core gets it at once.
 */
#ifndef SL_BASE_CREW_H
#define SL_BASE_CREW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shardline/error.h"

typedef enum sl_crew_step {
    SL_CREW_WORKED,
    SL_CREW_NOTHING, /* until a piece that another thread has in hand is done */
    SL_CREW_OVER     /* no piece will come any more */
} sl_crew_step;

/** A work, as a member of whatever it works on. Fill the functions, zero the rest. */
typedef struct sl_crew_work {
    /** One piece, on as many threads at once as there are; scratch: the thread's. */
    sl_crew_step (*piece)(struct sl_crew_work *work, void *scratch);
    /** Ten times a second while it waits or runs, on a thread of usual priority. False gives it
     * up. */
    bool (*tick)(struct sl_crew_work *work, bool runs);
    /** Once, when no thread is in it: the crew does not touch it any more. */
    void (*ended)(struct sl_crew_work *work);

    /* The crew's own. */
    struct sl_crew_work *next;
    double spent_s;
    uint64_t pieces; /* done */
    uint64_t ticks;  /* the last round that looked after it */
    uint32_t inside; /* threads */
    bool runs, dry, over;
} sl_crew_work;

typedef struct sl_crew sl_crew;

typedef struct sl_crew_config {
    uint32_t threads;
    size_t scratch_bytes; /* of each thread, aligned for any type; held while there is work */
    uint32_t running_max; /* works at a time; others wait */
    uint32_t waiting_max;
} sl_crew_config;

/** NULL without memory or threads. */
sl_crew *sl_crew_start(const sl_crew_config *config) SL_MUST_CHECK;

/** No work is left. NULL is fine. */
void sl_crew_stop(sl_crew *crew);

/** False when as many wait as may: the work stays the caller's. Otherwise it may be over before
 * this returns. */
bool sl_crew_add(sl_crew *crew, sl_crew_work *work) SL_MUST_CHECK;

void sl_crew_count(sl_crew *crew, uint32_t *running, uint32_t *waiting);

#endif
