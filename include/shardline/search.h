/**
 * The best plans of a space of legal ones, exactly: what is left out is proved not to matter. Pure
 * and allocation-free: the caller lends the memory and runs units of work on as many threads as it
 * likes; the answer, its counts included, is the same for any number of them.
 *
 *   sl_search_prepare          fills the space's open dimensions, refuses one that is empty
 *   rounds of units            sl_search_unit on each unit of a round, in any order and from any
 *                              thread, all against the outcome that stood before the round
 *   sl_search_merge            in the order of the units, when all of the round are done
 */
#ifndef SHARDLINE_SEARCH_H
#define SHARDLINE_SEARCH_H

#include <stddef.h>

#include "shardline/estimate.h"

enum {
    SL_SEARCH_CLUSTERS_MAX = 16,
    SL_SEARCH_VALUES_MAX = 128,
    SL_SEARCH_SIZES_MAX = 4096, /* of one cluster, in accelerators */
    SL_SEARCH_BEST_MAX = 100,
    SL_SEARCH_FRONT_MAX = 2048,
    SL_SEARCH_REASONS_MAX = 48,
    SL_SEARCH_ROUND_UNITS = 32,
    SL_SEARCH_UNITS_MAX = 1 << 20
};

/** What a plan is made of. A dimension's values are numbers as the plan or the workload has them;
 * those of enumerations are their enumerators. A unit of work is one value of each of the first
 * nine. */
typedef enum sl_dimension {
    SL_DIMENSION_TENSOR,
    SL_DIMENSION_SEQUENCE, /* 0, 1 */
    SL_DIMENSION_CONTEXT,
    SL_DIMENSION_CONTEXT_KIND, /* sl_context_kind */
    SL_DIMENSION_EXPERT,
    SL_DIMENSION_EXPERT_TENSOR,
    SL_DIMENSION_MICRO_BATCH,
    SL_DIMENSION_GLOBAL_BATCH,
    SL_DIMENSION_ACCELERATORS, /* all that work; a space may say them in whole nodes instead */
    SL_DIMENSION_PIPELINE,
    SL_DIMENSION_VIRTUAL_PIPELINE,
    SL_DIMENSION_SCHEDULE, /* sl_schedule */
    SL_DIMENSION_LAYOUT,   /* sl_search_layout */
    SL_DIMENSION_DATA,
    SL_DIMENSION_ZERO_STAGE,
    SL_DIMENSION_SHARD_GROUP,      /* 0 = all data ranks */
    SL_DIMENSION_RECOMPUTE,        /* sl_recompute, by words */
    SL_DIMENSION_RECOMPUTE_LAYERS, /* of full: 0 = every block, else the first of each chunk */
    SL_DIMENSION_OFFLOAD,          /* sl_search_offload bits */
    SL_DIMENSION_COUNT
} sl_dimension;

enum { SL_SEARCH_UNIT_DIMENSIONS = SL_DIMENSION_ACCELERATORS + 1 };

/** How blocks are dealt out over the stages. */
typedef enum sl_search_layout {
    SL_SEARCH_LAYOUT_RULE,     /* as the framework's rule has it */
    SL_SEARCH_LAYOUT_BALANCED, /* so that all stages take as long as can be, head and embedding
                                  counted */
    SL_SEARCH_LAYOUT_COUNT
} sl_search_layout;

typedef enum sl_search_offload {
    SL_SEARCH_OFFLOAD_OPTIMIZER = 1 << 0,
    SL_SEARCH_OFFLOAD_PARAMETERS = 1 << 1,
    SL_SEARCH_OFFLOAD_ACTIVATIONS = 1 << 2
} sl_search_offload;

/** Ascending, each once. None: the default of the dimension (sl_search_prepare). */
typedef struct sl_values {
    uint32_t count;
    uint64_t list[SL_SEARCH_VALUES_MAX];
} sl_values;

typedef struct sl_space {
    sl_values of[SL_DIMENSION_COUNT];
    sl_values nodes;      /* in place of accelerators */
    bool every_size;      /* any number of nodes up to the cluster's, parts of one node too */
    bool tensor_anywhere; /* tensor groups may leave the scale-up domain */
} sl_space;

typedef enum sl_objective {
    SL_OBJECTIVE_THROUGHPUT,    /* most tokens that count, per second */
    SL_OBJECTIVE_TIME_TO_TRAIN, /* failures and checkpoints included */
    SL_OBJECTIVE_COST,
    SL_OBJECTIVE_ACCELERATORS, /* fewest, then the fastest */
    SL_OBJECTIVE_ENERGY,
    SL_OBJECTIVE_COUNT
} sl_objective;

/** 0 = no such constraint. */
typedef struct sl_constraints {
    uint64_t max_accelerators;
    double max_step_s;
    double min_tokens_per_s; /* that count */
    double deadline_s;       /* of the whole training */
    double budget;           /* likewise, in the currency of the price */
    double headroom_ratio;   /* of the usable bytes, to be left free */
    /* Sequences of a batch beyond which more of them earn nothing (McCandlish 2018): of a larger
     * one as many tokens count as this has. */
    uint64_t critical_batch;
} sl_constraints;

/** A question's fields that the space has values for are overwritten; the others hold. Questions
 * are one for each cluster and differ in nothing else; unknown may have the bits of software,
 * attention and dropout. */
typedef struct sl_search_request {
    uint32_t question_count;
    const sl_question *questions;
    sl_space space;
    sl_objective objective;
    sl_constraints constraints;
    uint32_t limit;  /* plans wanted, 1 to SL_SEARCH_BEST_MAX */
    bool front;      /* the Pareto front is wanted too */
    bool exhaustive; /* nothing is left out by a bound: what pruning is tested against */
} sl_search_request;

/** One plan, small enough to be kept by the thousand. */
typedef struct sl_search_point {
    uint64_t ordinal; /* its place in the space: what breaks ties */
    uint32_t cluster; /* index into the request's questions */
    uint64_t value[SL_DIMENSION_COUNT];
    double step_s;
    double tokens_per_s;    /* that count: of a batch up to the critical one */
    double time_to_train_s; /* 0 = no tokens were given, as of the next two */
    double cost;
    double energy_j;
    uint64_t peak_reserved_bytes;
    uint64_t device_total_bytes;
    int64_t headroom_bytes;
    uint64_t host_lacking_bytes, host_room_bytes; /* as of an estimate's memory */
} sl_search_point;

/** Why plans are no answer. */
typedef struct sl_search_reason {
    const char
        *rule; /* of sl_question_check, or "out_of_memory", "host_memory", "max_step_s", ... */
    char pointer[64]; /* of the field that the rule names, or "" */
    uint64_t count;   /* plans */
    double
        least; /* by how little the nearest of them misses: bytes, seconds, ...; 0 for legality */
    bool has_nearest;
    sl_search_point nearest; /* that one */
} sl_search_reason;

typedef struct sl_search_outcome {
    uint64_t evaluated; /* memory and, where it fits, time worked out */
    uint64_t feasible;  /* of them, those that are answers */
    uint64_t
        pruned; /* legal plans left out, or left after their memory, because a bound proves that
                           they are neither among the best nor on the front */
    uint64_t refused; /* no plans at all: a rule forbids them */
    uint32_t units;   /* done */
    uint32_t best_count;
    sl_search_point best[SL_SEARCH_BEST_MAX];
    /* No other feasible plan is as good in rate, headroom, accelerators and cost at once, and
     * better in one. By falling rate. */
    uint32_t front_count;
    bool front_cut; /* there were more than SL_SEARCH_FRONT_MAX: those of the highest rate are
                      here */
    sl_search_point front[SL_SEARCH_FRONT_MAX];
    uint32_t reason_count;
    sl_search_reason reasons[SL_SEARCH_REASONS_MAX];
} sl_search_outcome;

typedef struct sl_search sl_search;

/** Bytes of a search, of the scratch of one thread, and both aligned for any type. */
size_t sl_search_bytes(void);
size_t sl_search_scratch_bytes(void);

/**
 * Makes the search in `space`. Dimensions without values take all that can be legal:
 *   tensor            divisors of the attention heads, inside a node's scale-up domain unless
 *                     anywhere
 *   sequence          off, and on where the release has it
 *   context           powers of two up to 16 where the framework has it, sequences of 8,192 up
 *   context_kind      p2p
 *   expert            divisors of the routed experts; expert_tensor: 1 and tensor
 *   micro_batch       powers of two, and three times those, up to 64
 *   global_batch      the workload's
 *   accelerators      the whole cluster; any number of whole nodes, and the powers of two below one
 *                     node, where every_size says so, the objective is accelerators, cost or
 *                     energy, or max_accelerators is less than the cluster has
 *   pipeline          1 to SL_PIPELINE_MAX that leave no rank without a layer; virtual_pipeline 1
 *                     to 8
 *   schedule          1f1b and interleaved_1f1b; layout: the rule, and balanced
 *   data              what the others leave
 *   zero_stage        those of the framework; shard_group: all, and a node's with fsdp
 *   recompute         the words of the framework; recompute_layers: all, and with megatron powers
 *                     of two up to 16 of each chunk that has more
 *   offload           none
 * request and what it points to outlive the search. Errors: SL_E_RANGE at /space/... for a value
 * that no plan could have, at /constraints/... for one that contradicts another or that no plan can
 * keep (out_of_reach), too_large for more than
 * SL_SEARCH_UNITS_MAX units, needs_price, needs_tokens for an objective without them.
 */
sl_code sl_search_prepare(const sl_search_request *request, void *space, const sl_search **out,
                          sl_errors *err) SL_MUST_CHECK;

uint32_t sl_search_unit_count(const sl_search *search);

/** The values that the search goes through, defaults filled in, but for accelerators, which are
 * each cluster's own: sizes of cluster `index`, ascending. */
const sl_space *sl_search_space(const sl_search *search);
uint32_t sl_search_sizes(const sl_search *search, uint32_t index, const uint32_t **sizes);

/** What stands for fields that a question leaves unknown: the newest release and kernel. */
const sl_software *sl_search_software(const sl_search *search, uint32_t cluster);

/** An outcome before any unit. */
void sl_search_begin(sl_search_outcome *out);

/** One unit, a few milliseconds at most: *part is begun afresh. known: what was merged so far. */
void sl_search_unit(const sl_search *search, uint32_t unit, const sl_search_outcome *known,
                    void *scratch, sl_search_outcome *part);

void sl_search_merge(const sl_search *search, const sl_search_outcome *part,
                     sl_search_outcome *into);

/** The question whose only plan a point is, all fields known: sl_estimate_answer answers it.
 * *cluster has the nodes that it uses, and the question points to it. */
void sl_search_question(const sl_search *search, const sl_search_point *point, sl_cluster *cluster,
                        sl_question *out);

const char *sl_dimension_name(sl_dimension dimension);
const char *sl_objective_name(sl_objective objective);

#endif
