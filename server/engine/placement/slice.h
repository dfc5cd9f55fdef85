/**
 * What one rank sees of one micro-batch: the widths of every operator after the cut. Memory and
 * time both start here, so that they can never disagree about a shape.
 */
#ifndef SL_ENGINE_SLICE_H
#define SL_ENGINE_SLICE_H

#include "engine/placement/cross_entropy.h"
#include "shardline/plan.h"

typedef struct sl_slice {
    const sl_accelerator *accelerator;
    const sl_software *software;
    double clock_ratio; /* rate held over the step against the kernels' cool short runs */
    double sequence;    /* positions of one sequence */
    double document;    /* of them, those that see each other */
    double tokens;      /* of one micro-batch on this rank */
    double sequences;   /* or samples, of one micro-batch */
    double tensor;
    double context; /* ranks that share each sequence */
    sl_context_kind context_kind;
    double expert;        /* ranks that share the routed experts */
    double expert_tensor; /* ... and the cut of each */
    double imbalance;     /* tokens of the fullest of them over the mean, as far as that goes */
    double capacity;      /* what experts are padded to instead; 0 = nothing */
    double spread; /* over how many ranks norms, residuals and block inputs are split: tensor with
                      sequence parallelism, else 1 */
    double element_bytes;    /* of what is kept between operators */
    double stream_bytes;     /* ... of the sums that norms read: under autocast both are fp32 */
    double operand_bytes;    /* of inputs that products keep quantised; 0 = they keep 16 bits */
    double transposed_bytes; /* of each quantised weight, in each backward */
    double gated_bytes;      /* of what a gated activation read, kept for backward */
    double attended_bytes;   /* of queries, keys and values that attention keeps ... */
    double attention_bytes;  /* ... and of its output */
    sl_precision precision;
    bool sums_half; /* gradients are added up in 16 bits */
    sl_entropy entropy;
    bool current_scales; /* of the values at hand, which are read for them first */
    bool by_row;         /* products scaled row by row, whose operands are cast for each of them */
    sl_framework framework;
    sl_attention_kernel attention;
    const sl_adapter *adapter;
    sl_streaming streaming; /* of the release, or of generated kernels */
    bool sends_once;        /* as the release, or the request's dispatcher, has it */
    bool in_turn;           /* experts of a token are neighbours, and the next token's the next */
    bool generated;         /* by a compiler: what reads one value is one kernel */
    double awaited_s; /* to issue one operator that the device waits for, in eager code or graphs */
    double host_operator_s;  /* to issue one operator; 0 where graphs or generated code do */
    double unit_operators;   /* that what the host does around a unit of FSDP is as long as, in each
                                pass: a block, all that is in none */
    double module_operators; /* that hooks around a module are as long as, in each pass */
    sl_recompute recompute;
    uint32_t recompute_modules; /* bits; 0 unless recomputation is by modules */
    double mlp_tiles;           /* parts that dense MLPs run over one by one; 0 = at once */
    bool dropout;
    bool eager;      /* pointwise results are kept where fused code rebuilds them */
    bool ends_apart; /* a tied head then holds its own copy of the embedding */
} sl_slice;

/** Bytes of one element of what is kept between products: training in 8 bits multiplies in them,
 * and the rest stays in 16. */
double sl_precision_kept_bytes(sl_precision precision);

/** Autocast multiplies in 16 bits what is stored in 32; sums of both, norms and softmax stay in 32.
 * Replicas run so, and FSDP where it gathers in 32 bits; else it gathers in 16. */
bool sl_slice_autocasts(const sl_workload *workload);

/** Whether hooks around each module have the host wait: prices then go by the stage as well. */
bool sl_slice_hooked(const sl_software *software, const sl_plan *plan);

sl_slice sl_slice_of(const sl_question *question, const sl_software *software,
                     const sl_workload *workload, const sl_plan *plan, double clock_ratio);

/**
 * Vocabulary rows after padding [count]. Megatron: the next multiple of 128 * tensor
 * (make_vocab_size_divisible_by); others do not pad.
 */
double sl_slice_vocabulary(const sl_slice *slice, double vocabulary);

/** Whether a tensor has storage of its own that counts as parameters: a buffer does not, a tied one
 * does on the other end of a pipeline only. */
bool sl_slice_holds(const sl_slice *slice, const sl_tensor *tensor);

/** Parameters of a tensor that one tensor-parallel rank holds; the largest shard counts. */
double sl_slice_elements(const sl_slice *slice, const sl_tensor *tensor);

/**
 * The axis whose rows fully_shard deals out to `ranks`: the first. A stack of experts that is dealt
 * out over expert_ranks already, or any of a release that does so, is cut along its second axis where
 * there are more ranks than experts of it (torchtitan, apply_fsdp: Shard(1)).
 */
uint32_t sl_slice_shard_axis(const sl_software *software, const sl_tensor *tensor,
                             uint64_t expert_ranks, uint64_t ranks);

/**
 * Of sl_slice_elements, what the first of `ranks` holds at rest under fully_shard [count], the most
 * of any:
 *   ceil(rows / ranks) x elements of a row
 * Source: torch/distributed/fsdp/_fully_shard/_fsdp_param.py (chunks of ceil, the last short or
 * empty). Pinned by sharded_memory_test against the map of shards.
 */
double sl_slice_shard_elements(const sl_slice *slice, const sl_tensor *tensor, double ranks);

/**
 * ... under ZeRO 3, which lays a tensor flat and pads it to equal parts: ceil(elements / ranks), of
 * each expert's own.
 * Source: DeepSpeed runtime/zero/partition_parameters.py (_aligned_size).
 */
double sl_slice_flat_elements(const sl_slice *slice, const sl_tensor *tensor, double ranks);

/** Of sl_slice_elements, those of a tensor of routed experts are shared and cut apart from the
 * rest. */
bool sl_slice_is_routed(const sl_tensor *tensor);

/** Whether a layer norms its queries and keys, head by head or across all. */
bool sl_slice_norms_heads(const sl_layer_kind *kind);

/** Over how many ranks an operator is cut [count]. */
double sl_slice_cut_ranks(const sl_slice *slice, const sl_operator *op);

/** Positions of one micro-batch that an operator sees, on this rank: its tokens, or one of each
 * sequence. */
double sl_slice_positions(const sl_slice *slice, const sl_operator *op);

/**
 * Rows of one micro-batch that an operator works on, on this rank: its positions, or what a
 * balanced router sends to its experts, tokens * visits * expert_tensor / tensor, times the
 * imbalance, which ends where one rank gets all tokens: min(expert ranks, experts / visits).
 */
double sl_slice_rows(const sl_slice *slice, const sl_operator *op);

/** What the products of an operator run in: low precisions are for the linear layers of blocks;
 * router, head and attention stay in 16 bits. */
sl_precision sl_slice_precision(const sl_slice *slice, const sl_operator *op);

/** Whether a product keeps its input quantised, operand_bytes a value. */
bool sl_slice_keeps_low(const sl_slice *slice, const sl_operator *op);

/** Whether a low precision multiplies it: a linear layer of a block that is no router or gate. */
bool sl_slice_may_be_low(const sl_operator *op);

/** The same of the weight of one in a block. */
bool sl_slice_weight_may_be_low(const sl_tensor *tensor);

/** Routed experts on this rank; 1 for an operator every token goes through. */
double sl_slice_experts(const sl_slice *slice, const sl_operator *op);

/** Input and output features of a matrix product on this rank. */
double sl_slice_inputs(const sl_slice *slice, const sl_operator *op);
double sl_slice_outputs(const sl_slice *slice, const sl_operator *op);

/** Bytes of a value that eager code bounds, b tanh(x / b), read and written. */
typedef struct sl_capping {
    double forward_bytes, backward_bytes;
} sl_capping;

/** A quotient, the tanh, a product; back a product, the tanh's gradient from its output, a quotient:
 * 2 + 2 + 2 values, 2 + 3 + 2. Source: transformers modeling_gemma2.py. */
static inline sl_capping
sl_slice_capping(double element_bytes)
{
    return (sl_capping){6.0 * element_bytes, 7.0 * element_bytes};
}

/** Whether sums are wider than what products take: under autocast. */
static inline bool
sl_slice_sums_wide(const sl_slice *slice)
{
    return slice->stream_bytes > slice->element_bytes;
}

/** Products that a product of joined tensors is issued as [count]: one for each tensor where the
 * release has them apart. */
uint32_t sl_slice_products(const sl_slice *slice, const sl_operator *op);

/** Whether autocast casts the input of a product, which a norm gave in fp32. */
bool sl_slice_casts_inputs(const sl_slice *slice, const sl_operator *op);

#endif
