/**
 * Attention as one rank has it: what takes its softmax, its heads and keys, and what of it is kept.
 */
#ifndef SL_ENGINE_ATTENDED_H
#define SL_ENGINE_ATTENDED_H

#include "engine/placement/slice.h"

/** What takes the softmax of the unfused core, from scores to what multiplies the values. */
typedef enum sl_scores {
    SL_SCORES_ROWS,     /* one kernel, whole rows */
    SL_SCORES_CAUSAL,   /* one kernel that reads what a causal mask leaves, and writes whole rows */
    SL_SCORES_COMPOSED, /* Megatron's code of single kernels: cast, scale, mask, softmax, cast */
    SL_SCORES_EAGER,    /* Transformers': scale, mask, softmax in fp32, cast */
} sl_scores;

/**
 * Megatron has a kernel for 16 bits that takes four rows of scores at a time: where sequences x
 * heads of a rank, or positions, are no whole fours, or there are more than 2,048 of these (16,384
 * of TransformerEngine's), PyTorch's kernels do its work.
 * Source: Megatron-LM megatron/model/fused_softmax.py, megatron/fused_kernels
 * (scaled_upper_triang_masked_softmax.h); TransformerEngine pytorch/softmax.py.
 */
sl_scores sl_slice_scores(const sl_slice *slice, const sl_operator *op);

/** Bytes of one element of its output and of the gradients of both its ends: single kernels compute
 * in fp32. */
double sl_slice_softmax_bytes(const sl_slice *slice, const sl_operator *op);

/** Bytes that attention keeps from forward to backward for one micro-batch on this rank: queries, keys and values, output,
 * and what its kernel keeps of its rows or scores. */
double sl_slice_attention_bytes(const sl_slice *slice, const sl_operator *op);

/** The part of that which selective recomputation drops: the attention core. */
double sl_slice_core_bytes(const sl_slice *slice, const sl_operator *op);

/** The part that is its queries, keys and values. */
double sl_slice_qkv_bytes(const sl_slice *slice, const sl_operator *op);

/** Whether there are fewer key-value heads than tensor ranks: each rank then works on a whole one
 * that others have too. */
bool sl_slice_shares_kv_heads(const sl_slice *slice, const sl_operator *op);

/** Bytes of keys and values of this rank's tokens, after the cut over tensor ranks; with those
 * repeated that an exchange of tokens for heads deals out to more ranks than there are heads. */
double sl_slice_kv_bytes(const sl_slice *slice, const sl_operator *op);

/** Mean number of keys a query sees over its document of s positions: (s + 1) / 2 under a causal
 * mask, less with a window, s without a mask. Encoder and decoder have s positions each. */
double sl_slice_causal_keys(const sl_slice *slice, const sl_operator *op);

/** Without the mask: a whole window, or document, of each. */
double sl_slice_all_keys(const sl_slice *slice, const sl_operator *op);

#endif
