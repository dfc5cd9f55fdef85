/**
 * One training step of a plan, simulated: what runs on each pipeline stage and stream, and when;
 * what is kept alive meanwhile. Of one replica: the others do the same at the same time.
 */
#ifndef SHARDLINE_TIMELINE_H
#define SHARDLINE_TIMELINE_H

#include <stddef.h>

#include "shardline/estimate.h"

/** What a stage does at the same time, each in order. */
typedef enum sl_stream {
    SL_STREAM_HOST,
    SL_STREAM_COMPUTE,
    SL_STREAM_SCALE_UP,
    SL_STREAM_NETWORK,
    SL_STREAM_COPY, /* between device and host */
    SL_STREAM_COUNT
} sl_stream;

typedef enum sl_span_kind {
    SL_SPAN_FORWARD,
    SL_SPAN_BACKWARD, /* with what is recomputed for it */
    SL_SPAN_BACKWARD_INPUT,
    SL_SPAN_BACKWARD_WEIGHT,
    SL_SPAN_SEND_OUTPUT,
    SL_SPAN_SEND_GRADIENT,
    SL_SPAN_GATHER,
    SL_SPAN_REDUCE,
    SL_SPAN_OPTIMIZER,
    SL_SPAN_BARRIER,
    SL_SPAN_REDUCE_REPLICAS,  /* of the shards of several copies of the states */
    SL_SPAN_OVERHEAD,         /* waiting for the slowest rank of all replicas, and the fixed part */
    SL_SPAN_GRADIENTS_DOWN,   /* to the host whose optimizer steps */
    SL_SPAN_PARAMETERS_UP,    /* from the host that keeps them, or whose optimizer stepped */
    SL_SPAN_ACTIVATIONS_DOWN, /* to the host that keeps them until backward ... */
    SL_SPAN_ACTIVATIONS_UP,   /* ... and back */
    SL_SPAN_BROADCAST,        /* DataParallel: parameters to the devices that are lent them */
    SL_SPAN_SCATTER_INPUTS,
    SL_SPAN_GATHER_OUTPUTS,    /* onto the first device, for the loss */
    SL_SPAN_SCATTER_GRADIENTS, /* of those outputs */
    SL_SPAN_KINDS
} sl_span_kind;

#define SL_SPAN_NONE UINT32_MAX

enum { SL_SPANS_MAX = 1 << 21 };

typedef struct sl_span {
    uint32_t stage;
    sl_stream stream;
    sl_span_kind kind;
    uint32_t microbatch, chunk, layer; /* SL_SPAN_NONE where it is of none or of several */
    double start_s, end_s;
} sl_span;

/** A stage's optimizer on the host: the copies before and after its update, and what the device does
 * of it, before and beside that. */
typedef struct sl_host_update {
    double swept_start_s, swept_end_s;
    double down_start_s, update_start_s, updated_s, device_end_s, up_start_s, end_s;
} sl_host_update;

typedef struct sl_stage_run {
    uint64_t rank;         /* global, of the first replica */
    uint32_t pool;         /* of several, where it is */
    double begin_s, end_s; /* first pass, last pass */
    double busy_s;         /* passes */
    uint64_t base_bytes;   /* what is there from step to step */
    uint64_t peak_bytes;   /* most of what passes keep, beyond that */
    sl_host_update host;   /* where the timeline has it */
} sl_stage_run;

typedef struct sl_timeline {
    double step_s; /* from one step to the next: where no stage waits for all, less than end_s */
    double end_s;  /* of the last span */
    double idle_ratio; /* of all stages, between first and last pass of any */
    bool by_layer;     /* passes are those of layers, else of chunks */
    /* Ranks over which parameters and gradients travel, and copies of what those share; whether all
     * of the gradients come back to each (an all-reduce). */
    uint32_t data_ranks, replica_ranks;
    bool reduces_all;
    /* Spans of each stage beside its update where the optimizer steps on the host: copies, and what
     * its device does; else 0. */
    uint32_t host_spans;
    uint32_t span_count;
    uint32_t stage_count;
    sl_stage_run stages[SL_PIPELINE_MAX];
    const void *run; /* in the scratch memory */
} sl_timeline;

/** Bytes of scratch memory that a simulation takes; SL_E_UNSUPPORTED, not_modelled for
 * micro-batches that a schedule has no order for; SL_E_RANGE, timeline_too_large above
 * SL_SPANS_MAX. `estimate` answers `question`. */
sl_code sl_timeline_size(const sl_question *question, const sl_estimate *estimate, size_t *bytes,
                         sl_errors *err) SL_MUST_CHECK;

/**
 * Simulates the plan that was estimated.
 *   several stages   passes of chunks in the schedule's order (engine/schedule/order.h), sends
 *                    between them, parameters gathered before and gradients reduced after
 *   one stage        layer by layer: FSDP's units, or buckets about as large as a layer, gathered
 *                    one layer ahead of their use and reduced after their backward, in one stream.
 *                    Offloaded parameters come up from the host before that; what blocks keep goes
 *                    down to it and comes up again. DataParallel's devices are lent all for each
 *                    micro-batch; the first is drawn
 * then optimizer and overhead. A host's optimizer updates on the host's stream; gradients come down
 * to it on the copies' stream, what backward hides of that beside it, and parameters go up again.
 * Durations are those of the estimate's closed form, layer by layer.
 * slowness  [ratio]  of the passes of each stage, 1 and more; NULL: all alike. It outlives *out
 * sizes     [ratio]  of each micro-batch to the usual one, on several stages; NULL: all alike.
 *           Likewise
 * scratch has the bytes of sl_timeline_size, aligned for any type, and outlives *out.
 * Source: PyTorch FSDP prefetching; Megatron-LM distributed_data_parallel.py;
 * engine/schedule/pipeline.h.
 */
void sl_timeline_simulate(const sl_question *question, const sl_estimate *estimate,
                          const double slowness[SL_PIPELINE_MAX], const double *sizes,
                          void *scratch, sl_timeline *out);

/** One after another, by lane. */
sl_span sl_timeline_span(const sl_timeline *timeline, uint32_t index);

/** Of each span that stages send the one that takes it in, of all others SL_SPAN_NONE. */
void sl_timeline_takers(const sl_timeline *timeline, uint32_t *takers);

/** One operator of a layer, or what its passes wait for: collectives that nothing hides, the host.
 * Of one micro-batch [s]; input_s with what is recomputed. */
typedef struct sl_pass_part {
    const char *name; /* borrowed from the model; NULL: waiting */
    double forward_s, input_s, weight_s;
} sl_pass_part;

typedef struct sl_pass_parts {
    uint32_t count;
    sl_pass_part list[SL_KIND_OPERATORS_MAX + 1];
} sl_pass_parts;

/** Every kind of the model, which `out` has room for, in the order of forward, as stages on the
 * pool of `stage` run it; waiting comes last. */
void sl_timeline_operators(const sl_question *question, const sl_estimate *estimate, uint32_t stage,
                           sl_pass_parts *out);

/** Layers from *first to before *end of a stage's chunk. */
void sl_timeline_layers(const sl_model *model, const sl_plan *plan, uint32_t stage, uint32_t chunk,
                        uint32_t *first, uint32_t *end);

/** Steps of the staircase of what passes of a stage keep. */
uint64_t sl_timeline_steps(const sl_timeline *timeline, uint32_t stage);

/** From at_s[i] on, bytes[i]; arrays of sl_timeline_steps. */
void sl_timeline_staircase(const sl_timeline *timeline, uint32_t stage, double *at_s,
                           uint64_t *bytes);

/** "forward", ...; "compute", "scale_up", ... */
const char *sl_span_kind_name(sl_span_kind kind);
const char *sl_stream_name(sl_stream stream);

#endif
