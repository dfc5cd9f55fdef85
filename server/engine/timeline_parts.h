/** A timeline's two ways to simulate a step, in files of their own: timeline.c chooses. */
#ifndef SL_ENGINE_TIMELINE_PARTS_H
#define SL_ENGINE_TIMELINE_PARTS_H

#include "engine/pipeline.h"
#include "engine/step_parts.h"

/** Passes of chunks on several stages. */
typedef struct sl_stages_run {
    sl_pipeline pipeline;
    sl_pipeline_run run;
} sl_stages_run;

/** Bytes and tasks; UINT64_MAX bytes where the tasks cannot be numbered. The order must exist. */
sl_pipeline_size sl_stages_size(const sl_memory_case *c);
void sl_stages_simulate(const sl_memory_case *c, const sl_time *time, const double *slowness,
                        const double *sizes, void *scratch, const sl_stages_run **out);

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
    /* Kept by a forward until its backward ends, and gathered until they are let go. */
    const double *kept_bytes, *gathered_bytes; /* of each layer */
    bool reshards;
} sl_layers_run;

sl_pipeline_size sl_layers_size(const sl_memory_case *c);
void sl_layers_simulate(const sl_memory_case *c, const sl_time *time, double slowness,
                        void *scratch, const sl_layers_run **out);
sl_span sl_layers_span(const sl_layers_run *run, uint32_t task);
uint64_t sl_layers_steps(const sl_layers_run *run);

/** Returns the highest step; at_s and bytes may be NULL. */
uint64_t sl_layers_staircase(const sl_layers_run *run, double *at_s, uint64_t *bytes);

/** Of a collective's `hidden_s`, what computing loses to it. */
double sl_timeline_loss_s(const sl_memory_case *c, double hidden_s);

#endif
