/** Collectives that take tensors one by one, each as a list of one part per rank. */
#ifndef SL_ENGINE_LISTS_H
#define SL_ENGINE_LISTS_H

#include "engine/memory/memory.h"

/**
 * Tensors of one rank as stage 3 of early DeepSpeed sends them [counts], all 0 elsewhere. What is
 * smaller than stage3_param_persistence_threshold (1e5 elements) stays gathered. A tensor is let go
 * after each use; backward has what recomputation gathered for it only where less than
 * stage3_max_reuse_distance (1e9 elements) lie between: what follows it in its block, there and
 * back.
 * Source: DeepSpeed 0.3 runtime/zero/stage3.py (release_sub_module, _keep_for_later),
 * zero/constants.py.
 */
typedef struct sl_lists {
    double gathered, reduced;
    double again_ratio; /* of one gather of all, what recomputation adds to that of a backward */
} sl_lists;

/** Tensors of one rank that hold anything [count]. */
double sl_lists_tensors(const sl_memory_case *c, const sl_stage *stage);

sl_lists sl_lists_count(const sl_memory_case *c, const sl_stage *stage);

/**
 * Seconds around the collectives of one gather or reduction, in which nothing else runs, 0 without
 * tensors:
 *   tensors x ranks x (1 + views / 4) x host_operator_s / 2 + passes x bytes / (copy rate)
 * The host cuts each tensor into parts and copies each by itself between the list and the buffer
 * that NCCL takes: a kernel a part, of the two that an operator is in host_operator_s, and views: a
 * gather narrows the tensor and selects in the buffer (2), a reduction flattens it first (3). A
 * view takes the host a quarter of a kernel: about 2 us, half of it Python's, of pytorch issue
 * 41383. A gather zeroes its buffer and copies it (3 passes), a reduction divides and copies (4).
 * tensors [count], ranks [count], bytes [bytes] of all tensors, whole
 * Source: DeepSpeed 0.3 runtime/zero/partition_parameters.py (_allgather_param,
 * _reduce_scatter_gradient), stage3.py (average_tensor); PyTorch 1.8 ProcessGroupNCCL.cpp
 * (allgather, reduce_scatter).
 */
double sl_lists_gather_s(const sl_memory_case *c, double tensors, double ranks, double bytes);
double sl_lists_reduce_s(const sl_memory_case *c, double tensors, double ranks, double bytes);

#endif
