/**
 * Explanations: the engine emits each figure as {term, value, inputs}; one table says in words how
 * a term is computed and where that comes from. The codec only renders.
 */
#ifndef SHARDLINE_TERM_H
#define SHARDLINE_TERM_H

#include <stdint.h>
#include <string.h>

#include "shardline/plan.h"

enum { SL_TERM_INPUTS_MAX = 16 };

typedef enum sl_term_id {
    /* memory, in the order bars are drawn */
    SL_TERM_PARAMETERS,
    SL_TERM_WEIGHT_SCALES,
    SL_TERM_GRADIENTS,
    SL_TERM_MASTER_WEIGHTS,
    SL_TERM_OPTIMIZER_STATES,
    SL_TERM_ADAPTERS,
    SL_TERM_DEQUANTIZED,
    SL_TERM_TRANSPOSED,
    SL_TERM_CACHED_WEIGHTS,
    SL_TERM_LOW_PRECISION_WEIGHTS,
    SL_TERM_GATHERED_PARAMETERS,
    SL_TERM_UNSHARDED_GRADIENTS,
    SL_TERM_PASSING_BUCKETS,
    SL_TERM_WAITING_GRADIENTS,
    SL_TERM_STEPPED_GRADIENT,
    SL_TERM_GRADIENT_COPY,
    SL_TERM_STEP_LISTS,
    SL_TERM_ACTIVATIONS,
    SL_TERM_WEIGHT_OPERANDS,
    SL_TERM_RECOMPUTED_BLOCK,
    SL_TERM_LOGITS,
    SL_TERM_BACKWARD_TRANSIENT,
    SL_TERM_DUMMY_WEIGHT_GRADIENTS,
    SL_TERM_GRADIENT_BUCKETS,
    SL_TERM_REDUCE_BUFFERS,
    SL_TERM_GRAPH_BUFFERS,
    SL_TERM_PIPELINE_BUFFERS,
    SL_TERM_WORKSPACES,
    SL_TERM_FRAGMENTATION,
    SL_TERM_CONTEXT,
    /* time, in waterfall order; they sum to the step */
    SL_TERM_FORWARD,
    SL_TERM_BACKWARD,
    SL_TERM_RECOMPUTE,
    SL_TERM_LAUNCH,
    SL_TERM_TENSOR_COMMUNICATION,
    SL_TERM_CONTEXT_COMMUNICATION,
    SL_TERM_EXPERT_COMMUNICATION,
    SL_TERM_ACTIVATION_OFFLOAD,
    SL_TERM_PIPELINE_COMMUNICATION,
    SL_TERM_BUBBLE,
    SL_TERM_DATA_COMMUNICATION,
    SL_TERM_OPTIMIZER_STEP,
    SL_TERM_OVERHEAD,
    /* rows of the communication table: bytes of each kind, seconds, what of them is exposed */
    SL_TERM_TENSOR_SENT,
    SL_TERM_CONTEXT_SENT,
    SL_TERM_EXPERT_SENT,
    SL_TERM_EXPERT_TENSOR_SENT,
    SL_TERM_PIPELINE_SENT,
    SL_TERM_GRADIENTS_SENT,
    SL_TERM_PARAMETERS_SENT,
    SL_TERM_REPLICAS_SENT,
    SL_TERM_COPIES_SENT,
    SL_TERM_EMBEDDING_SENT,
    SL_TERM_HOST_SENT,
    SL_TERM_LENT_SENT,
    SL_TERM_SENT_INSIDE,
    SL_TERM_SENT_ACROSS,
    SL_TERM_SENT_TO_HOST,
    SL_TERM_MESSAGE_LATENCY,
    SL_TERM_TENSOR_EXPOSED,
    SL_TERM_GRADIENTS_EXPOSED,
    SL_TERM_PARAMETERS_EXPOSED,
    SL_TERM_ALL_EXPOSED,
    /* other figures */
    SL_TERM_USABLE,
    SL_TERM_HEADROOM,
    SL_TERM_PEAK_ALLOCATED,
    SL_TERM_PEAK_RESERVED,
    SL_TERM_DEVICE_TOTAL,
    SL_TERM_STEP,
    SL_TERM_IDEAL,
    SL_TERM_BUBBLE_RATIO,
    SL_TERM_TOKENS_PER_S,
    SL_TERM_TOKENS_PER_S_PER_ACCELERATOR,
    SL_TERM_SAMPLES_PER_S,
    SL_TERM_MODEL_FLOPS_PER_S,
    SL_TERM_MFU_FULL,
    SL_TERM_MFU_CAUSAL,
    SL_TERM_HFU,
    SL_TERM_EXPOSED_COMMUNICATION,
    SL_TERM_GOODPUT,
    SL_TERM_TIME_TO_TRAIN,
    SL_TERM_ENERGY,
    SL_TERM_COST,
    SL_TERM_ID_COUNT
} sl_term_id;

/** When the bytes of a memory term exist. */
typedef enum sl_lifetime {
    SL_LIFETIME_NONE, /* not memory */
    SL_LIFETIME_PERSISTENT,
    SL_LIFETIME_ACTIVATION,
    SL_LIFETIME_TRANSIENT,
    SL_LIFETIME_OUTSIDE_ALLOCATOR,
    SL_LIFETIME_COUNT
} sl_lifetime;

typedef struct sl_term_info {
    const char *name;    /* the API's vocabulary; several terms may share a name */
    const char *pointer; /* where the figure stands in an answer, or NULL for a list entry */
    sl_lifetime lifetime;
    const char *formula;
    const char *source;
} sl_term_info;

typedef struct sl_input {
    const char *name; /* static: a symbol of the formula, with its unit where it has one */
    double value;
} sl_input;

typedef struct sl_term {
    sl_term_id id;
    double value;
    uint32_t input_count;
    sl_input inputs[SL_TERM_INPUTS_MAX];
} sl_term;

const sl_term_info *sl_term_describe(sl_term_id id);

/** Its formula in a plan of that schedule, on which the bubble's depends. */
const char *sl_term_formula(sl_term_id id, sl_schedule schedule);

/** What a memory term is among those of its name, in few words. */
const char *sl_term_what(sl_term_id id);

/** What sentences call a term where that is not its name: as the page does
 * (static/src/widgets/terms.js); otherwise its name. */
const char *sl_term_words(sl_term_id id);

/** Place of the input of that name; input_count where a term has none. */
uint32_t sl_term_find(const sl_term *term, const char *name);

/** Its value; 0 where there is none. */
double sl_term_input(const sl_term *term, const char *name);

/** What a term is computed from, at most SL_TERM_INPUTS_MAX of {name, value}. */
#define SL_TERM_SET_INPUTS(term, ...)                                                              \
    do {                                                                                           \
        const sl_input given[] = {__VA_ARGS__};                                                    \
        _Static_assert(sizeof given <= sizeof(term)->inputs, "no more inputs than there is room"); \
        memcpy((term)->inputs, given, sizeof given);                                               \
        (term)->input_count = sizeof given / sizeof given[0];                                      \
    } while (0)

#endif
