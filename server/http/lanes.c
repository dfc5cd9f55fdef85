#include "http/lanes.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/queue.h"
#include "http/exposition.h"

static const char *const lane_names[] = {
    [SL_LANE_COMPUTE] = "compute", [SL_LANE_STORE] = "store", [SL_LANE_HUB] = "hub",
    [SL_LANE_PROBE] = "probe",     [SL_LANE_BULK] = "bulk",
};
_Static_assert(sizeof lane_names / sizeof lane_names[0] == SL_LANE_COUNT, "every lane has a name");

typedef struct worker_thread {
    pthread_t thread;
    struct sl_lanes *lanes;
    sl_lane lane;
} worker_thread;

struct sl_lanes {
    const sl_server_config *config;
    sl_job_runner run;
    sl_queue *queues[SL_LANE_COUNT]; /* NULL for a lane without threads */
    atomic_uint_fast64_t waiting[SL_LANE_COUNT];
    atomic_uint_fast64_t rejected[SL_LANE_COUNT];
    worker_thread *threads;
    uint32_t thread_count; /* started */
};

/* A third of the share that other threads have where all want a core. Estimates beside uploads
 * waited no longer than with 10, which on a busy machine starves a small upload beyond its time
 * limit. */
enum { BULK_NICENESS = 5 };

static void *
worker_main(void *argument)
{
    const worker_thread *const self = argument;
    const sl_server_config *const config = self->lanes->config;
    void *worker = config->worker_new == NULL ? NULL : config->worker_new(config->app, self->lane);

    /* On Linux this is the thread's own. Where it is refused, the lane is only one among others. */
    if (self->lane == SL_LANE_BULK)
        (void)setpriority(PRIO_PROCESS, 0, BULK_NICENESS);
    sl_queue *const queue = self->lanes->queues[self->lane];
    for (void *job = sl_queue_pop(queue); job != NULL; job = sl_queue_pop(queue)) {
        (void)atomic_fetch_sub(&self->lanes->waiting[self->lane], 1);
        self->lanes->run(job, worker);
    }

    if (config->worker_free != NULL)
        config->worker_free(config->app, self->lane, worker);
    return NULL;
}

/* Starts the threads of one lane; false leaves thread_count at what runs. */
static bool
lane_start(sl_lanes *lanes, sl_lane lane)
{
    const uint32_t wanted = lanes->config->lane_threads[lane];
    if (wanted == 0)
        return true;
    assert(lanes->config->lane_depth[lane] > 0);
    lanes->queues[lane] = sl_queue_new(lanes->config->lane_depth[lane]);
    if (lanes->queues[lane] == NULL)
        return false;
    for (uint32_t i = 0; i < wanted; i++) {
        worker_thread *const self = &lanes->threads[lanes->thread_count];
        *self = (worker_thread){.lanes = lanes, .lane = lane};
        if (pthread_create(&self->thread, NULL, worker_main, self) != 0)
            return false;
        lanes->thread_count++;
    }
    return true;
}

sl_lanes *
sl_lanes_start(const sl_server_config *config, sl_job_runner run)
{
    assert(config != NULL && run != NULL);

    size_t total = 0;
    for (uint32_t lane = 0; lane < SL_LANE_COUNT; lane++)
        total += config->lane_threads[lane];
    sl_lanes *const lanes = calloc(1, sizeof *lanes);
    worker_thread *const threads = calloc(total > 0 ? total : 1, sizeof *threads);
    if (lanes == NULL || threads == NULL) {
        free(threads);
        free(lanes);
        return NULL;
    }
    *lanes = (sl_lanes){.config = config, .run = run, .threads = threads};
    for (uint32_t lane = 0; lane < SL_LANE_COUNT; lane++) {
        if (!lane_start(lanes, (sl_lane)lane)) {
            sl_lanes_stop(lanes);
            return NULL;
        }
    }
    return lanes;
}

bool
sl_lanes_push(sl_lanes *lanes, sl_lane lane, void *job)
{
    assert(lanes != NULL && lane < SL_LANE_COUNT && job != NULL);
    /* Counted before it is there to be taken, so that the count never falls below zero. */
    (void)atomic_fetch_add(&lanes->waiting[lane], 1);
    if (lanes->queues[lane] != NULL && sl_queue_push(lanes->queues[lane], job))
        return true;
    (void)atomic_fetch_sub(&lanes->waiting[lane], 1);
    (void)atomic_fetch_add(&lanes->rejected[lane], 1);
    return false;
}

void
sl_lanes_write_metrics(const sl_lanes *lanes, sl_buffer *out)
{
    assert(lanes != NULL && out != NULL);

    sl_exposition_family(out, "shardline_lane_depth", "gauge", "Jobs that wait for a worker.");
    for (uint32_t lane = 0; lane < SL_LANE_COUNT; lane++)
        sl_exposition_count(out, "shardline_lane_depth", &(sl_pair){"lane", lane_names[lane]}, 1,
                            atomic_load(&lanes->waiting[lane]));
    sl_exposition_family(out, "shardline_lane_rejected_total", "counter",
                         "Jobs that found their lane full, without a worker or stopping.");
    for (uint32_t lane = 0; lane < SL_LANE_COUNT; lane++)
        sl_exposition_count(out, "shardline_lane_rejected_total",
                            &(sl_pair){"lane", lane_names[lane]}, 1,
                            atomic_load(&lanes->rejected[lane]));
}

void
sl_lanes_stop(sl_lanes *lanes)
{
    if (lanes == NULL)
        return;
    for (uint32_t lane = 0; lane < SL_LANE_COUNT; lane++)
        if (lanes->queues[lane] != NULL)
            sl_queue_close(lanes->queues[lane]);
    for (uint32_t i = 0; i < lanes->thread_count; i++)
        (void)pthread_join(lanes->threads[i].thread, NULL);
    for (uint32_t lane = 0; lane < SL_LANE_COUNT; lane++)
        sl_queue_free(lanes->queues[lane]);
    free(lanes->threads);
    free(lanes);
}
