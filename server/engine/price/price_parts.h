/** Parts of pricing a layer, in files of their own: price.c goes over its operators. */
#ifndef SL_ENGINE_PRICE_PARTS_H
#define SL_ENGINE_PRICE_PARTS_H

#include "engine/links/collective.h"
#include "engine/placement/attended.h"
#include "engine/price/price.h"

/** Where, how cut, and what it comes to so far. */
typedef struct sl_pricing {
    const sl_cluster *cluster;
    const sl_slice *slice;
    sl_group tensor_group;
    sl_group expert_group;
    sl_group expert_tensor_group;
    sl_group context_group;
    sl_kind_price *out;
    bool whole_heads;                /* each tensor rank norms and rotates the heads of all */
    double experts_forward_s;        /* of the module of experts before: the device's seconds ... */
    double experts_backward_issue_s; /* ... and what its host takes in backward */
} sl_pricing;

/** Of the memory's bandwidth, what plain streaming kernels reach: A100 and H100 tables. */
static const double sl_copy_ratio = 0.85;

/** A product, or one for each expert: forward, both gradients, what casts its operands and adds up its
 * gradients, and where it opens or closes a tensor-parallel region. */
void sl_price_multiply(const sl_pricing *p, const sl_operator *op);

/** To add one micro-batch's gradients of so many weights to the others'. */
double sl_price_accumulate_s(const sl_slice *slice, double weights);

/** Adds one collective of the tensor group; cover_s of 0 leaves all of it visible. */
void sl_price_add_traffic(const sl_pricing *p, sl_traffic traffic[SL_SENT_COUNT],
                          sl_collective kind, double bytes, double cover_s);

/** Opens a tensor-parallel region. With sequence parallelism its input is gathered, and gathered
 * again in backward (under dgrad) because only the shard was kept; the input's gradient is reduced
 * under wgrad. In pieces (userbuffers) the gather of forward runs under the product too. `gathered`
 * are the bytes of what is gathered: as products take it, where that is kept quantised.
 * Megatron-LM tensor_parallel/layers.py; TransformerEngine, overlap of communication and
 * products, and distributed.py (gather_along_first_dim with a quantizer). */
void sl_price_open_region(const sl_pricing *p, double bytes, double gathered, double forward_s,
                          double dgrad_s, double wgrad_s);

/** Closes a region: partial sums are reduced forward; backward only gathers the scattered
 * gradient, quantised where products of its input were (grad_output_preprocess). */
void sl_price_close_region(const sl_pricing *p, double bytes, double gathered, double forward_s,
                           double dgrad_s);

/** Tokens on their way to experts or back, `width` wide, and what backward sends for it. A cut
 * expert needs its tokens on every rank of the cut, and leaves parts of sums on all. */
void sl_price_exchange(const sl_pricing *p, const sl_operator *op, double width);

/**
 * Share of the memory's bandwidth that a norm reaches, of 4 bytes a value forward and what backward
 * takes: the profile's, but for LayerNorm at least 0.35. PyTorch has one kernel for that, where it
 * composes others of passes in fp32 (profiles of eager code: 36 bytes for 4).
 * Source: Vidur and LLMCompass kernel timings; transformers LlamaRMSNorm, torch.nn.RMSNorm.
 */
double sl_price_norm_ratio(const sl_slice *slice, const sl_operator *op);

/** What it reads and writes in backward, for 4 in forward [bytes of a value]: 8, and of Transformers'
 * composed one as counted in autograd's graph of it. */
double sl_price_norm_backward_bytes(const sl_slice *slice, const sl_operator *op);

/** Adds what an operator added to its kind's forward, between `before` and `after`, to a part of it
 * that runs again. */
void sl_price_add_rerun(sl_rerun *again, const sl_kind_price *after, const sl_kind_price *before);

/**
 * Counts what the host issues of an operator that takes the device so long: itself, and in backward
 * a gradient of each operand of a product. Attention without a fused kernel is two products, a
 * dropout and what sl_slice_scores says. Where experts are issued apart, their products and biases
 * are, once for each of them, and after a wait for the counts of tokens. One activation takes the
 * tokens of all (Megatron-LM, TEGroupedMLP).
 */
void sl_price_count_issued(sl_pricing *p, const sl_operator *op, double forward_s,
                           double backward_s);

/** Bytes that a composed GELU moves for each 2-byte value in eager code; elsewhere false, and they
 * are untouched. */
bool sl_price_composed_gelu(const sl_slice *slice, const sl_operator *op, double *forward_bytes,
                            double *backward_bytes);

/**
 * Adds the adapters beside a product, of rank r on n inputs and m outputs: rows x r x n and rows x
 * m x r forward, the gradients of both operands of each backward, and around them, in kernels of
 * their own: dropout, cast, scale and sum (price_adapter.c). Unsloth's kernels and generated code
 * do without. Halves that FSDP1 wraps have their hooks, which the host is waited for beyond what
 * the product and its adapters take since `forward_s` and `backward_s` of the kind. A quantised
 * base is unpacked before each product with it: packed bytes are read and 16-bit ones written, as
 * an elementwise kernel does; of int8 for backward alone.
 * Source: Hu 2021; PEFT tuners/lora/layer.py; bitsandbytes autograd/_functions.py (MatMul4Bit,
 * MatMul8bitLt).
 */
void sl_price_adapter(const sl_pricing *p, const sl_layer_kind *kind, const sl_operator *op,
                      double forward_s, double backward_s);

#endif
