/** A timeline's two ways to simulate a step, in files of their own: timeline.c chooses. */
#ifndef SL_ENGINE_TIMELINE_PARTS_H
#define SL_ENGINE_TIMELINE_PARTS_H

#include "engine/answer/step_parts.h"
#include "engine/schedule/alive.h"
#include "engine/schedule/pipeline.h"

/** Passes of chunks on several stages. */
typedef struct sl_stages_run {
    sl_pipeline pipeline;
    sl_pipeline_run run;
} sl_stages_run;

/** Bytes and tasks; UINT64_MAX bytes where the tasks cannot be numbered. The order must exist. */
sl_pipeline_size sl_stages_size(const sl_memory_case *c);
void sl_stages_simulate(const sl_memory_case *c, const sl_time *time, const double *slowness,
                        const double *sizes, void *scratch, const sl_stages_run **out);

/** From the first task of a step to its end: of all ranks, or, where they step on their own, of the
 * one that takes longest. */
double sl_stages_step_s(const sl_stages_run *run);

/** A step, and what is left of it without updates, without parameters and gradients too, and with
 * nothing to send at all [s]. */
typedef struct sl_stages_taken {
    double all_s, before_update_s, sent_s, silent_s;
} sl_stages_taken;

/** `apart`: more than the step itself. Scratch as sl_stages_simulate has. */
void sl_stages_take(const sl_memory_case *c, const sl_time *time, bool apart, void *scratch,
                    sl_stages_taken *out);

/** What ranks of ZB-V keep at most, by the order that is simulated: out[2 r + i] is of chunk i of rank
 * r. False for other schedules, and for more passes than are gone through for an estimate. */
bool sl_stages_alive_v(const sl_memory_case *c, sl_alive out[]);

/** Lanes of layers: passes, then the optimizer; copies to the host, and from it; parameters and
 * gradients of ranks; gradients of copies of those. */
enum {
    SL_LAYERS_PASSES,
    SL_LAYERS_DOWN,
    SL_LAYERS_UP,
    SL_LAYERS_DATA,
    SL_LAYERS_REPLICAS,
    SL_LAYERS_LANES
};

/** Spans of DataParallel's devices for one micro-batch. */
enum { SL_LENT_SPANS = 5 };

/** What one layer takes. */
typedef struct sl_layer_cost {
    sl_layer_passes passes;
    sl_layer_traffic travels;              /* of its own unit; the root's is the first layer's */
    double last_reduce_s, last_replicas_s; /* in the last micro-batch, bucket by bucket */
    bool leaves;                           /* what it keeps, to the host */
} sl_layer_cost;

/** Of every layer of the model, whose data ranks' traffic is `data`, with gradients in buckets of
 * so many elements. */
void sl_layers_costs(const sl_memory_case *c, const sl_data_time *data, double bucket,
                     sl_layer_cost *costs);

/** Times of tasks that slow nothing become those of a clock: each pass is followed by what is open
 * of it, in which no other lane gets on, and passes beside which parameters or gradients travel
 * slow these and are slowed by loss_ratio. open_s: of each task of the first lane. */
void sl_layers_set_clock(const sl_tasks *tasks, const double *open_s, double loss_ratio,
                         double *start_s, double *end_s);

/** Layers on one stage. */
typedef struct sl_layers_run {
    sl_tasks tasks;
    uint32_t task_count;
    uint32_t passes; /* tasks of the first lane but the optimizer */
    double step_s;
    const double *start_s, *end_s;
    const uint32_t *microbatch;
    const uint16_t *layer; /* UINT16_MAX: of several */
    const uint8_t *kind;   /* sl_span_kind */
    sl_stream data;        /* where parameters and gradients travel */
    sl_stream replicas;
    /* Kept by a forward until its backward ends, but for what is with the host meanwhile, and
     * gathered until they are let go. */
    const double *kept_bytes, *gathered_bytes; /* of each layer */
    bool reshards;
    bool stays; /* what a micro-batch gathered is there for the next */
    uint32_t microbatches;
} sl_layers_run;

sl_pipeline_size sl_layers_size(const sl_memory_case *c);
void sl_layers_simulate(const sl_memory_case *c, const sl_time *time, double slowness,
                        void *scratch, const sl_layers_run **out);
sl_span sl_layers_span(const sl_layers_run *run, uint32_t task);
uint64_t sl_layers_steps(const sl_layers_run *run);

/** Returns the highest step; at_s and bytes may be NULL. */
uint64_t sl_layers_staircase(const sl_layers_run *run, double *at_s, uint64_t *bytes);

#endif
