/**
 * How far a plan goes: along one field of it at a time, the others as they are, the last value that
 * still fits, what it takes there, and why the next one is too much. Every value is judged by a
 * check and an evaluation of its own; the two that are answered by full ones.
 */
#ifndef SL_ENGINE_LIMITS_H
#define SL_ENGINE_LIMITS_H

#include "shardline/estimate.h"

typedef enum sl_limit_id {
    SL_LIMIT_MICRO_BATCH, /* largest, of the global batch as it is */
    SL_LIMIT_GROWN_BATCH, /* largest micro-batch, the global batch growing along */
    SL_LIMIT_SEQUENCE,    /* longest */
    SL_LIMIT_LAYERS,      /* most blocks (engine/model/grown.h) */
    SL_LIMIT_SCALE,       /* widest model, in its parts (engine/model/grown.h) */
    SL_LIMIT_NODES,       /* fewest, with as many replicas as they hold */
    SL_LIMIT_COUNT
} sl_limit_id;

/** What stands behind the last value. */
typedef enum sl_limit_end {
    SL_LIMIT_END_MEMORY, /* the next value that is legal does not fit */
    SL_LIMIT_END_RULE,   /* no further value is legal: the next breaks a rule */
    SL_LIMIT_END_BOUND,  /* the last that is counted still fits: no limit was met */
    SL_LIMIT_END_LEAST,  /* one node: there are no fewer */
    SL_LIMIT_END_NEVER,  /* no value fits: `next` is the nearest that is legal, or breaks a rule */
    SL_LIMIT_END_NONE,   /* the plan has no such limit */
    SL_LIMIT_END_COUNT
} sl_limit_end;

typedef enum sl_limit_method {
    SL_LIMIT_BISECTION, /* more never takes less there */
    SL_LIMIT_WALK,      /* every value: fewer micro-batches, or other stages, may take less */
    SL_LIMIT_BISECTION_AND_WALK, /* of equal stages, then every value that others could be */
    SL_LIMIT_METHOD_COUNT
} sl_limit_method;

typedef struct sl_limit_point {
    uint64_t value;
    bool legal;
    sl_error fault;              /* where it is not */
    bool sized;                  /* a device could hold it: the figures below are there */
    bool fits, fits_certain;     /* as of an estimate */
    uint64_t device_total_bytes; /* of the binding rank */
    uint64_t usable_bytes;
    int64_t headroom_bytes;
    uint64_t host_lacking_bytes; /* of the memory of a node; 0: none lacks, or it is not known */
    bool has_room;               /* of both (sl_memory_has_room) */
    double step_s;
    double tokens_per_s;
    uint64_t parameters; /* of the model as it is there; 0 where they cannot be counted */
    uint64_t blocks;
    uint64_t hidden;
    uint32_t nodes;
    sl_workload workload;
    sl_plan plan;
} sl_limit_point;

typedef struct sl_limit {
    sl_limit_end end;
    const char *reason; /* of none: "no_sequence", "several_pools", "no_width"; static */
    sl_limit_method method;
    uint32_t evaluations; /* of a plan that is legal */
    uint64_t step;        /* values are its multiples; 0: not of one number */
    uint64_t now;         /* the plan's own value */
    bool has_value, has_next;
    sl_limit_point value; /* the last that fits */
    sl_limit_point next;  /* the one after it */
} sl_limit;

/** The largest values that are counted: those of a request. */
typedef struct sl_limit_bounds {
    uint64_t sequence_length;
    uint64_t global_batch;
    uint32_t layers;
    uint32_t nodes;
} sl_limit_bounds;

typedef struct sl_limits {
    sl_limit of[SL_LIMIT_COUNT];
} sl_limits;

/**
 * The limits of a plan that is legal, all fields known. `space` and `scratch` are overwritten.
 *
 *   micro_batch  divisors of a replica's sequences: a walk
 *   grown_batch  any number, as many micro-batches as now: bisection
 *   sequence     multiples of 1,024 that 2 context tensor divides where the plan's own length is
 *                one and the least fits, else those of the common divisor of 2 context tensor and
 *                that length: bisection
 *   layers       any number, cut into stages by the framework's rule, which may leave one with
 *                less: bisection of equal stages and a walk; a walk alone where blocks differ
 *   scale        the model's widths, in parts that all of them divide into: bisection
 *   nodes        replicas among the divisors of the micro-batches of a step that fill whole nodes:
 *                a walk from the fewest
 */
void sl_limits_measure(const sl_question *question, const sl_limit_bounds *bounds, sl_model *space,
                       sl_estimate *scratch, sl_limits *out);

#endif
