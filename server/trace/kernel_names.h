/** What a kernel of a recorded trace does, by its name. */
#ifndef SL_TRACE_KERNEL_NAMES_H
#define SL_TRACE_KERNEL_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "shardline/hardware.h"

typedef enum sl_kernel_kind {
    SL_KERNEL_PRODUCTS,
    SL_KERNEL_ATTENTION,
    SL_KERNEL_STREAMING, /* norms, elementwise, reductions, permutations, state space scans */
    SL_KERNEL_EMBEDDING,
    SL_KERNEL_LOSS,
    SL_KERNEL_OPTIMIZER,
    SL_KERNEL_COPIES,
    SL_KERNEL_OTHER,
    SL_KERNEL_COLLECTIVE, /* the first of them: + sl_collective */
    SL_KERNEL_COLLECTIVE_OTHER = SL_KERNEL_COLLECTIVE + SL_COLLECTIVE_COUNT,
    SL_KERNEL_KIND_COUNT
} sl_kernel_kind;

/** The word of a kind; every collective is "communication". */
const char *sl_kernel_kind_name(sl_kernel_kind kind);

bool sl_kernel_communicates(sl_kernel_kind kind);

/** Computing: neither communication nor copies. */
bool sl_kernel_computes(sl_kernel_kind kind);

/** By the first row of the table that the name matches; SL_KERNEL_OTHER where none does. */
sl_kernel_kind sl_kernel_of_name(const char *name);

/** The kind of a copy or a fill, which the profiler names by its direction. */
sl_kernel_kind sl_kernel_of_copy(const char *name);

/** What PyTorch calls the collective that a kernel of NCCL works for ("_allgather_base"): tells an
 * all-to-all, which NCCL makes of sends and receives, from those. SL_KERNEL_OTHER: nothing
 * known. */
sl_kernel_kind sl_kernel_of_collective(const char *name);

#endif
