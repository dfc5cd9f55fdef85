/**
 * The answer to a question: memory per rank by term, step time by term, throughput, what binds.
 * Pure and allocation-free; the caller gives the space.
 */
#ifndef SHARDLINE_ESTIMATE_H
#define SHARDLINE_ESTIMATE_H

#include "shardline/plan.h"
#include "shardline/term.h"

enum {
    SL_RANK_TERMS_MAX = 30,
    SL_TIME_TERMS = SL_TERM_OVERHEAD - SL_TERM_FORWARD + 1,
    SL_FIGURES = SL_TERM_ID_COUNT - SL_TERM_USABLE,
    SL_COMMUNICATION_MAX = 14,
    SL_NOTES_MAX = 48,
    SL_GUESSES_MAX = 8,
    SL_FIXES_MAX = 10
};

/** What a host's memory holds, bytes. */
typedef struct sl_hosted {
    uint64_t bytes;
    uint64_t high_bytes;  /* with half as much again of its states for DeepSpeed's buffers */
    uint64_t start_bytes; /* while the model is built, outside of DeepSpeed's zero.Init */
} sl_hosted;

/** Ranks that hold the same bytes: one pipeline stage, or several equal ones in a row. */
typedef struct sl_rank_memory {
    const char *role; /* "only stage", "first stage", "middle stage", "last stage"; where one rank
                         holds both ends "first and last stage" */
    uint32_t first_stage;
    uint32_t stage_count;
    uint64_t rank;  /* the lowest global rank of the group */
    uint64_t count; /* ranks in the group */
    uint64_t peak_allocated_bytes;
    uint64_t peak_reserved_bytes;
    uint64_t device_total_bytes;
    uint64_t returned_bytes; /* segments that a full device gives back: not in the totals */
    double varying_bytes;    /* of those alive at the peak, what goes by lengths that vary */
    uint32_t pool;           /* of several, where the ranks are */
    uint64_t usable_bytes;   /* there, on a device */
    sl_hosted host;          /* in the memory of the node, for one rank */
    uint64_t nvme_bytes;     /* on its disks, likewise */
    const char *phase;       /* when the peak is reached: "forward", "head", "backward",
                          "last_backward", "optimizer" */
    uint32_t term_count;
    sl_term terms[SL_RANK_TERMS_MAX]; /* they sum to device_total_bytes */
} sl_rank_memory;

typedef struct sl_memory {
    uint64_t capacity_bytes; /* of the binding rank's device */
    uint64_t reserved_bytes; /* ... what the driver keeps */
    uint64_t usable_bytes;
    uint64_t reserved_low_bytes; /* of the binding rank, over the fragmentation that was measured */
    uint64_t reserved_high_bytes;
    sl_hosted host_per_node; /* each of the node that has most of it */
    /* Of the node whose memory falls shortest of what its ranks keep there: by how much, and what it
     * has; 0: every node has enough, or what it has is not known. */
    uint64_t host_lacking_bytes, host_room_bytes;
    uint64_t nvme_bytes_per_node;
    int64_t headroom_bytes; /* usable less device total, where least is left */
    uint32_t binding;       /* index into ranks */
    uint32_t rank_count;
    sl_rank_memory ranks[SL_PIPELINE_MAX];
} sl_memory;

typedef struct sl_communication {
    const char *group; /* "tensor", "pipeline", "data", "embedding" */
    sl_collective collective;
    const char *level;     /* "scale_up" or "network" */
    double bytes_per_step; /* sent and received buffers of one rank of the busiest stage */
    double seconds;
    double exposed_s;
    sl_term_id what;                       /* is sent: SL_TERM_TENSOR_SENT to SL_TERM_LENT_SENT */
    double calls;                          /* in a step */
    double ranks, nodes, members_per_node; /* of the group, one of the nodes with the fewest */
} sl_communication;

/** The figures of such a row. */
typedef enum sl_sent_figure {
    SL_SENT_BYTES,
    SL_SENT_SECONDS,
    SL_SENT_EXPOSED,
    SL_SENT_LATENCY, /* what a message of one byte takes: only where somebody measures it */
    SL_SENT_FIGURE_COUNT
} sl_sent_figure;

/** A product of one device, m x k by k x n, whose shape was not measured; batch of them at once. */
typedef struct sl_guess {
    const char *name; /* of the operator, borrowed from the model */
    double batch, m, n, k;
} sl_guess;

/** Why a step in closed form may be more than 5 % off the step simulated (shardline/timeline.h). */
typedef enum sl_coarse {
    SL_COARSE_NONE,
    SL_COARSE_TRAFFIC, /* nothing hides much of what travels */
    SL_COARSE_FEW,     /* ZB-V with too few micro-batches to fill it */
    SL_COARSE_COPIES,  /* copies to the host that differ from block to block of one stage */
    SL_COARSE_CHUNKS   /* interleaved chunks differ */
} sl_coarse;

typedef struct sl_time {
    double step_s;
    double ideal_s;      /* causal FLOPs at the datasheet peak */
    double bubble_ratio; /* idle share of the pipeline's span */
    double filling_s;    /* while the pipeline fills and drains, by the formulas */
    double exposed_communication_s;
    double update_s; /* of the rank that updates longest; the term is what of it nothing hides */
    /* Of several pools that the replicas of one stage are spread over: whose ranks and whose links
     * the others wait for. */
    uint32_t slowest_pool;
    uint32_t slowest_links;
    double flops_again; /* by recomputation, of one micro-batch in all stages */
    sl_coarse coarse;   /* where the plan is explained */
    sl_term terms[SL_TIME_TERMS];
    uint32_t communication_count;
    sl_communication communication[SL_COMMUNICATION_MAX];
} sl_time;

typedef struct sl_throughput {
    double tokens_per_s;
    double tokens_per_s_per_accelerator;
    double samples_per_s;
    double model_flops_per_s_per_accelerator;
    double mfu_full;
    double mfu_causal;
    double hfu;
    double peak_flops_per_s;
    double goodput_ratio;   /* of a run over weeks, what failures and checkpoints leave */
    double time_to_train_s; /* with that; 0 = not asked, or it would never end */
    double energy_j;        /* of all that, the facility's share included */
    double cost;            /* in the currency of the price; 0 = not known */
    double model_flops;     /* of one step: 3 x forward, attention over all s x s scores */
    double causal_flops;    /* the same over the scores a causal mask keeps */
    double hardware_flops;  /* model_flops and what is recomputed */
} sl_throughput;

/** Something the reader must know: an assumption made, or a part not modelled. */
typedef struct sl_note {
    const char *code; /* stable, static */
    bool warning;     /* else an assumption */
    const char *text; /* one sentence, static: values stand in the resolved plan */
} sl_note;

/** How a figure of a row comes about. What a group waits for alone is its term of the step; of the
 * others the term is an input. */
void sl_communication_explain(const sl_time *time, const sl_communication *row, sl_sent_figure of,
                              sl_term *out);

/** A change that was evaluated, as the fields of a JSON merge patch. */
typedef struct sl_fix {
    const sl_software *software;
    sl_workload workload;
    sl_plan plan;
    uint32_t nodes;
    const char *what;     /* "recompute", "micro_batch_size", "zero_stage", "tensor", "pipeline",
                         "expert", "context", "sequence", "reshard_after_forward",
                         "gradient_sync", "loss", "offload", "adapter", "framework", "nodes",
                         "pipeline_layout" */
    const char *with;     /* where no single change is surely enough, the other of two; else NULL */
    bool numerics_differ; /* frozen weights are rounded further: another run */
    bool time_incomplete; /* step_s lacks some transfers over the host's link */
    uint64_t device_total_bytes;
    double step_s;
    bool fits, fits_certain; /* as of an estimate */
} sl_fix;

typedef struct sl_estimate {
    bool fits;         /* the devices, by the predicted peak */
    bool fits_certain; /* both ends of its interval say the same, and no node's memory lacks room */
    sl_memory memory;
    sl_time time;
    sl_throughput throughput;
    sl_term figures[SL_FIGURES]; /* SL_TERM_USABLE and after, indexed from it */
    double step_low_s, step_high_s;
    uint64_t reserved_low_bytes, reserved_high_bytes;
    uint32_t evaluated; /* combinations of unknown values */
    /* what was evaluated: the median combination */
    sl_workload workload;
    sl_plan plan;
    const sl_software *software;
    /* What to change first: the memory term that leads when the plan does not fit, else the time
     * term that takes most beyond forward and backward. The codec makes the sentence. */
    const char *binding_limit; /* "memory", "host_memory", whose term is the device's as of memory,
                                  "compute", or the name of a time term */
    sl_term binding_term;
    uint32_t fix_count;
    sl_fix fixes[SL_FIXES_MAX];
    uint32_t guess_count;
    sl_guess guesses[SL_GUESSES_MAX];
    bool unaligned; /* a product has rows of no whole number of 16 bytes */
    bool composed;  /* scores that the framework's kernel of softmax does not take */
    uint32_t note_count;
    sl_note notes[SL_NOTES_MAX];
} sl_estimate;

/**
 * Answers a question that passed sl_question_check. `scratch` is one more estimate for the caller
 * to lend. Errors: SL_E_RANGE with rule no_valid_combination when no value of the unknown fields is
 * legal.
 */
sl_code sl_estimate_answer(const sl_question *question, sl_estimate *scratch, sl_estimate *out,
                           sl_errors *err) SL_MUST_CHECK;

#endif
