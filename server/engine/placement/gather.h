/** What sharded parameters cost while they are in use: gathered copies and whole gradients. */
#ifndef SL_ENGINE_GATHER_H
#define SL_ENGINE_GATHER_H

#include "engine/memory/memory.h"

/**
 * Bytes on one rank beside its shards. A unit is a block, or what else the plan wraps (unit.h);
 * embedding, final norm, head and what is wrapped nowhere else are the root unit, which stays
 * gathered from forward to backward.
 */
typedef struct sl_gathered {
    double unit_elements;      /* of the largest but the root; DeepSpeed: of the largest matrix */
    double beside_elements;    /* of the one that FSDP gathers ahead of it */
    double root_elements;      /* of the root unit on this rank */
    double loss_bytes;         /* gathered parameters when the loss is computed */
    double head_bytes;         /* ... and while the head runs */
    double backward_bytes;     /* ... and while the largest block runs backward */
    double beside_bytes;       /* ... of which what is gathered ahead */
    double head_gradients;     /* gradients not yet reduced, when the loss is computed */
    double backward_gradients; /* ... and in the backward of a block */
    double backward_reduced;   /* what their reduction leaves on the rank */
    double root_bytes;         /* the root unit gathered, at the very end of backward ... */
    double root_let_go;        /* ... less what copies of its gradients take the place of, */
    double root_gradients;     /* ... when these are reduced */
    double root_reduced;       /* ... to this */
    double root_made;          /* ... and before, as autograd makes them */
    double queued;             /* whole gradients of blocks that wait to be let go of ... */
    double queued_ended;       /* ... when so much of backward_bytes is no longer gathered */
    double queued_ratio;       /* ... of so many of all blocks, as backward goes on */
    double stepped_head;       /* the gradient that the optimizer steps on in backward: */
    double stepped_block;      /* ... of the head, of a block's largest matrix, */
    double stepped_root;       /* ... of the embedding's table at the very end */
    double head_flat;          /* of head_bytes what is in those segments */
    double root_segments;      /* of the streams that gather and reduce the root unit, which nothing
                                  else can use */
    double reduce_buffers;     /* for as long as the process lives */
    double backward_buckets;   /* of gradients on their way, from the loss to the end of backward */
    double passing_buffers;    /* after backward, one after the other, larger than what it left */
} sl_gathered;

/**
 * FSDP, stage 3 with resharding: root + the unit in use + the one prefetched, which is a neighbour
 * of it, and in FSDP2 the flat output that is copied out of, the root's as long as the head runs
 * backward; at the loss the last block, and of the root what the release keeps; without resharding: all parameters of the
 * rank. A root is let go of before its gradients are copied to be reduced.
 * Quantised blocks under adapters are gathered as they are stored.
 * Gradients of a block: in the type it is gathered in, the reduce's input where that is a copy (in
 * another type, and always in FSDP2), and its output; the head's stay whole until the root's
 * backward. Added to gradients that wait whole, a block's are gone when those are copied to be
 * reduced. FSDP traced into one graph: the head or the block in use and its gradient, no unit
 * longer than it is used; all parameters where nothing is recomputed, because gathering again is.
 * DeepSpeed stage 3: at most stage3_max_live_parameters (1e9) elements, a reduce bucket of 5e8 for
 * good and what it is dealt out through in backward. Stage 2: such buckets come and go with each
 * backward, two with overlap_comm. Stage 1 flattens gradients into one once backward is done, and
 * gathers updated parameters through another (allgather_bucket_size); both are taken to stay, which
 * six measured peaks want (ATorch's pipelines: 0.6 % off, 6.5 % too small without).
 * Megatron on DeepSpeed's engine: the bucket that a pipeline reduces through once backward is done,
 * and what updated parameters are gathered into, a bucket or more at a time. Where DeepSpeed adds
 * gradients up beside them: the copy that its largest tensor is added through.
 * With optimizer_in_backward on one device: the gradient of one tensor at a time.
 * DataParallel, whose replicas hold their copies for a step: see engine/placement/lent.h.
 * FSDP 1's no_shard: root + the unit in use + the one prefetched, cast to 16 bits.
 * Megatron-FSDP, stages 2 and 3 of Megatron: gradients are made or copied into whole buckets in the
 * type of the main gradients. Stage 2 has no units (mcore_fsdp_adapter.py, until pull request 6357
 * of August 2026): the whole rank's are there from the head's backward on. Stage 3: the head's
 * until the end, and those of the embedding; a block's until more than 1e9 elements, or two blocks,
 * wait behind it, reduced or not (wait_for_previous_grad_reduce); as many blocks are gathered ahead
 * as half of that takes. With double buffers (fsdp_double_buffer) two blocks of each, for good.
 * All zero where every rank holds its parameters whole and reduces them in place.
 * Source: PyTorch fully_shard and FullyShardedDataParallel; torchtitan experiments/simple_fsdp and
 * graph_trainer; Megatron-LM core/distributed/fsdp (param_and_grad_buffer.py, megatron_fsdp.py),
 * issue 6314; DeepSpeed zero/config.py, engine.py (_configure_zero_optimizer),
 * stage_1_and_2.py (_release_ipg_buffers, reduce_gradients), stage3.py, bf16_optimizer.py,
 * runtime/utils.py (all_gather_dp_groups).
 */
sl_gathered sl_gather_measure(const sl_memory_case *c, const sl_stage *stage);

/** How a rank's parameters and gradients travel: in pieces, one of which nothing computes under. */
typedef struct sl_edges {
    double first;            /* elements gathered before the first layer can run */
    double last;             /* ... reduced after the last gradient is there */
    double gathers, reduces; /* pieces of all of them, about even */
} sl_edges;

/**
 * FSDP: units; the root unit is first and last, in one graph the embedding. DeepSpeed: the
 * embedding first, a reduce bucket of 5e8 elements last, and all in one but for early releases
 * (lists.h); with owners of whole tensors (InternLM's hybrid_zero_optim.py) a reduction and a
 * broadcast for each of them. Megatron: buckets of max(4e7, 1e6 D) elements, D data x context
 * ranks. DDP: buckets of 25 MiB. No more than all the rank has.
 * Source: Megatron-LM distributed_data_parallel.py; DeepSpeed zero/config.py; torch.nn.parallel's
 * DistributedDataParallel (bucket_cap_mb); fully_shard.
 */
sl_edges sl_gather_edges(const sl_memory_case *c, const sl_holding *holding);

/** Elements that a rank's gradients and parameters travel of: of a frozen model that no rank divides
 * its adapters alone, which are in `all` then. */
sl_elements sl_gather_sent(const sl_memory_case *c, const sl_holding *holding);

/** Bytes of these when parameters are gathered. */
double sl_gather_bytes(const sl_memory_case *c, const sl_holding *holding);

#endif
