/** One rank's memory, between memory.c's parts: what it allocates, when most, and as which
 * terms. */
#ifndef SL_ENGINE_RANK_MEMORY_H
#define SL_ENGINE_RANK_MEMORY_H

#include "engine/memory/loss.h"
#include "engine/memory/memory.h"
#include "engine/placement/gather.h"
#include "engine/schedule/alive.h"

/** What one rank allocates, before it becomes terms. */
typedef struct sl_rank_bytes {
    const sl_elements *elements; /* borrowed of the case's holdings, like the next two */
    const sl_layouts *layouts;
    const sl_shards *shards;
    sl_gathered gathered;
    double in_flight; /* micro-batches */
    bool paired;      /* a forward runs beside a backward and takes its place */
    double deferred;  /* micro-batches whose gradients of weights wait beside them */
    double blocks_saved;
    double operands;   /* of blocks, what those gradients wait with */
    double ends_saved; /* embedding and head */
    double logits_width;
    sl_logit_bytes logit;
    double mask_bytes; /* that the loader makes of one micro-batch */
    double head_transient;
    double widest_gradient;
    double dummy_elements;
    double largest_matrix; /* elements, on this rank */
    double made_gradient;  /* of that, on its way to the one it is added to ... */
    double made_head;      /* ... and the head's */
    double received, sent; /* of one micro-batch, from and to the stages beside it */
    double rebuilt, kept;  /* beside and by the block that rebuilds most */
    double rebuilds;       /* blocks that do */
    double freed;          /* before it, of the same micro-batch */
    double largest_block;  /* what one block saves */
    double block_elements; /* of the largest */
    double head_elements;  /* of the head's matrix on this rank */
    double table_elements; /* of a tied table that both ends of the rank share, else 0 */
    double looked_up;      /* of an untied embedding: no product reads it */
    double graph_buffers;
    double captured;  /* micro-batches that these are of */
    double offloaded; /* of blocks_saved, what is in the host's memory */
} sl_rank_bytes;

/** Whose activations are left at a moment of the step. */
typedef enum sl_kept {
    SL_KEPT_ALL,
    SL_KEPT_INPUTS,     /* of blocks that were rebuilt, by what still refers to them */
    SL_KEPT_LAST_BLOCK, /* the one whose backward runs, of the last micro-batch */
    SL_KEPT_ENDS        /* embedding and head */
} sl_kept;

/** What lives beside states and buffers at one moment of the step. */
typedef struct sl_rank_phase {
    const char *name;
    sl_kept kept;     /* what `activations` are of */
    double gradients; /* at rest, reduced */
    double gathered;
    double unreduced; /* gradients whole, on their way to be reduced */
    double buckets;   /* ... and what they are copied into */
    double waiting;   /* until the last micro-batch is reduced, those of the ones before */
    double stepped;   /* gradients that the optimizer is stepping on */
    double activations;
    double operands; /* of gradients of weights that wait */
    double rebuilt;
    double logits;
    double transient;
    double beside; /* of the block that runs forward beside a backward */
    double held;   /* gradients of inputs, of blocks that backward is through with */
    double made;   /* a gradient on its way to the one it is added to */
    double mask;   /* that the loader made */
    double copies; /* of gradients, for the optimizer */
    double last;   /* gradients of the step before */
    double lists;  /* beside its states, while it steps */
    double cached; /* 16-bit copies that autocast keeps of wider weights */
    double idle;   /* not alive, but in segments too small for what is: kept reserved */
} sl_rank_phase;

/** Of what is alive in a phase, the bytes that go by the tokens of a batch. */
static inline double
sl_rank_token_bytes(const sl_rank_phase *p)
{
    return p->activations + p->operands + p->rebuilt + p->logits + p->transient + p->beside +
           p->held + p->mask;
}

/** Segments that no later batch fills, where lengths of sequences vary [ratio of token bytes], and
 * at most. */
extern const double sl_rank_varying_ratio, sl_rank_varying_high_ratio;

/** What lies outside the allocator, the same on every rank. */
typedef struct sl_rank_outside {
    double communicators; /* [count] */
    double bytes;
    double whole_bytes; /* rounded up */
} sl_rank_outside;

sl_rank_outside sl_rank_outside_of(const sl_plan *plan);

/** What pipeline rank `r` allocates of one micro-batch and of those in flight; `alive`: of each of its
 * chunks, NULL where that follows from the schedule. */
void sl_rank_measure(const sl_memory_case *c, const sl_in_flight *in_flight, const sl_alive *alive,
                     uint32_t r, sl_rank_bytes *out);

/** The phase with the largest sum (sl_memory_evaluate says which there are). */
void sl_rank_peak(const sl_memory_case *c, const sl_rank_bytes *b, sl_rank_phase *out);

/** Of gradients, what is made of them once backward is done [bytes per parameter]: DeepSpeed casts
 * those that it reduced in 16 bits for an fp32 step, flattened before where they were tensors of a
 * pipeline's own, its BF16_Optimizer those that it added up in fp32 for the way, and Megatron casts
 * those that it added up in 16 bits, until the next step's zero_grad.
 * Source: Megatron-LM core/optimizer/optimizer.py (Float16OptimizerWithFloat16Params), which lets go
 * of them before forward; a first step of its fp16 tests holds 8 bytes a parameter less, not 12. */
double sl_rank_copied_bytes(const sl_memory_case *c, const sl_layout *layout);

/** The ranks that those copies are shared over, of `shards`. */
const sl_degree *sl_rank_copied_over(const sl_memory_case *c, const sl_layout *layout,
                                     const sl_shards *shards);

/** Of a device's memory, what the driver leaves: bytes. */
uint64_t sl_rank_usable_bytes(const sl_accelerator *part);

/** Terms of the peak and of the states, what the allocator loses and what lies outside it, and
 * their sums. False above 2^53 bytes. */
bool sl_rank_terms(const sl_memory_case *c, const sl_stage *stage, const sl_rank_outside *outside,
                   const sl_rank_bytes *b, const sl_rank_phase *peak,
                   sl_rank_memory *rank) SL_MUST_CHECK;

/** Reserved over allocated, and the range it was seen in. */
typedef struct sl_fragmentation {
    double ratio, low_ratio, high_ratio;
} sl_fragmentation;

/**
 * The software profile's; of expandable segments no more than 1.03, and up to 1.06: nobody measured
 * either. Published is that a run which failed by fragmentation went on with them (Megatron-Bridge,
 * Llama 3 70B on 32 H100).
 */
sl_fragmentation sl_rank_fragmentation(const sl_memory_case *c);

#endif
