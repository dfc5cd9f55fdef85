/**
 * Which rank holds which slice of which tensor under a plan: placement of ranks, parallel groups,
 * cuts of every tensor of the checkpoint, and what is sharded over the data group. Nothing is
 * listed that is not asked for: tensors come from a walk, the shards of one by number, each in
 * constant time.
 */
#ifndef SHARDLINE_SHARDING_H
#define SHARDLINE_SHARDING_H

#include "shardline/plan.h"

/** What ranks that would hold the same do with it. */
typedef enum sl_sharding_kind {
    SL_SHARDING_NONE,  /* every replica holds all */
    SL_SHARDING_FLAT,  /* a unit's tensors end to end, padded, cut evenly (ZeRO, FSDP1); of ZeRO 3
                          each tensor is a unit */
    SL_SHARDING_AXIS_0 /* each tensor cut along its first axis, stacks of fewer experts than ranks
                          along their second (FSDP2) */
} sl_sharding_kind;

typedef struct sl_sharding_mode {
    sl_sharding_kind kind;
    uint32_t degree; /* ranks a whole is cut over, of data x context; 1 with NONE. Of routed experts
                        it is tensor * degree / (expert * expert_tensor) */
    bool parameters; /* the parameters too; else optimizer states and master weights only */
} sl_sharding_mode;

/** A question whose plan passed sl_question_check with nothing left open, and how it is sharded. */
typedef struct sl_sharding {
    const sl_question *question; /* borrowed */
    sl_sharding_mode mode;
} sl_sharding;

/**
 * What the framework does at the plan's ZeRO stage:
 *   Megatron  stage 1: states flat over data x context (the distributed optimizer); 0: none
 *   DDP       none
 *   FSDP1     2 and 3: parameters flat by unit
 *   FSDP2     2 and 3: every parameter along its first axis
 *   DeepSpeed 1 and 2: states flat; 3: parameters flat, each by itself
 * Beside adapters only parameters are: their frozen base has no states.
 */
sl_sharding_mode sl_sharding_mode_of(const sl_question *question);

/** What an estimate has and no map yet, blocks on the host and flat tensors of modules:
 * SL_E_UNSUPPORTED, not_modelled. */
sl_code sl_sharding_check(const sl_question *question, sl_errors *err) SL_MUST_CHECK;

/** Asserts what no check allows: degree divides data x context, expert * expert_tensor divides
 * tensor times each. */
sl_sharding sl_sharding_of(const sl_question *question, sl_sharding_mode mode);

/** Ranks first + stride i + j for i < count and j < run; count 1 where they are one range. */
typedef struct sl_rank_set {
    uint64_t first, run, count, stride;
} sl_rank_set;

/** The smallest rank of the set that is at least `from`; UINT64_MAX when there is none. */
uint64_t sl_rank_set_next(const sl_rank_set *set, uint64_t from);

/** Index of a rank in each of its groups, and where it runs. */
typedef struct sl_place {
    uint32_t pool; /* of several; nodes are numbered on from pool to pool */
    uint64_t node, local_rank;
    uint64_t data, pipeline, tensor, context, expert;
} sl_place;

/**
 * The place of a global rank:
 *   rank = tensor + t * (context + c * (data + D * pipeline))
 * or in the plan's other order tensor + t * (context + c * (pipeline + p * data)),
 *   expert = floor(rank / expert_tensor) mod e, within a stage
 * and ranks fill node after node. Source: Megatron-LM parallel_state.py, default order
 * tp-cp-ep-dp-pp, experts in a grid of their own, expert_tensor innermost; the device meshes of
 * PyTorch have pp outermost and tp innermost, and torchtitan takes expert ranks from tp, cp and dp
 * alike.
 * rank: below sl_plan_world(plan).
 */
sl_place sl_sharding_place(const sl_sharding *sharding, uint64_t rank);

/** Whether routed experts go to ranks of their own: dealt out, or cut otherwise. */
bool sl_sharding_has_routed(const sl_sharding *sharding);

typedef enum sl_group_kind {
    SL_GROUP_TENSOR,
    SL_GROUP_CONTEXT,
    SL_GROUP_DATA,     /* ranks that divide what they would all hold */
    SL_GROUP_REPLICAS, /* hybrid sharding: those with the same part, one of each */
    SL_GROUP_PIPELINE,
    SL_GROUP_EXPERT,
    SL_GROUP_EXPERT_DATA,   /* those that hold the same experts */
    SL_GROUP_EXPERT_TENSOR, /* those that cut one expert */
    SL_GROUP_KIND_COUNT
} sl_group_kind;

/** Groups of one kind: `count` of them, `size` ranks `stride` apart each. */
typedef struct sl_rank_groups {
    const char *kind; /* "tensor" ... */
    uint64_t size, stride, count;
    sl_rank_set starts; /* the first rank of each */
    const char *level;  /* "scale_up", "host" or "network": the slowest links that one crosses */
} sl_rank_groups;

sl_rank_groups sl_sharding_groups(const sl_sharding *sharding, sl_group_kind kind);

/** One tensor of the checkpoint on the stage that holds it. */
typedef struct sl_sharded_tensor {
    const sl_layer_kind *kind;
    const sl_tensor *tensor;
    uint32_t index;       /* of the tensor in its kind */
    uint32_t layer;       /* in the model's list */
    uint32_t block;       /* {} of the kind's prefix */
    uint32_t expert;      /* {} of the name where `tensor->experts` is not 0 */
    uint32_t stage;       /* pipeline rank */
    uint32_t tensor_cut;  /* ranks of a tensor group whose holds differ: t, or 1; of a routed expert
                             its own cut */
    uint32_t expert_from; /* the first expert rank that holds any of it ... */
    uint32_t expert_cut;  /* ... and how many hold different slices */
    bool expert_placed;   /* false: every expert rank holds the same */
    uint32_t part_count;  /* of the cut axis: q, k and v of a fused tensor */
    uint64_t parts[SL_TENSOR_PARTS_MAX];
    uint64_t blocks; /* groups of such parts along the cut axis: experts stored end to end */
} sl_sharded_tensor;

/** Zero-initialised at the start. */
typedef struct sl_tensor_walk {
    uint32_t layer, tensor, expert, chunk, copy;
} sl_tensor_walk;

/**
 * The next tensor that some rank holds, in the order of the model; false at the end. Buffers are
 * not listed, nor what lies beside the list of layers; a tied head is where it has storage of its
 * own, on the other end of a pipeline. All of the model comes once for each copy in a pipeline.
 */
bool sl_sharding_next(const sl_sharding *sharding, sl_tensor_walk *walk, sl_sharded_tensor *out);

/** Tensors that walk passes, buffers included, of all copies [count]. */
uint64_t sl_sharding_tensor_count(const sl_sharding *sharding);

/** What one tensor-parallel and expert rank holds of a tensor before the data group cuts it. */
typedef struct sl_tensor_part {
    uint32_t tensor_rank, expert_rank;
    uint32_t axis;        /* the one that AXIS_0 cuts: the first, or of few experts the second */
    uint64_t rows;        /* of that axis, padding included */
    uint64_t row;         /* elements of one of them */
    uint64_t elements;    /* of rows x row, without padding, which is last */
    uint64_t pieces;      /* boxes of the tensor that it is */
    uint64_t flat_offset; /* FLAT parameters only: in the unit, padding included */
    uint64_t shard_rows;  /* AXIS_0 only: rows of a shard, ceil(rows / degree) */
    uint64_t shard_flat;  /* FLAT parameters only: elements of a shard */
    bool alone;           /* ... and in the unit there is nothing else */
    uint64_t first_shard, shard_count;
    sl_rank_set ranks;    /* with shard 0, whether or not it has any of this tensor ... */
    uint64_t ranks_apart; /* ... and how much further those with the next one are */
} sl_tensor_part;

/** tensor_cut * expert_cut parts. */
uint32_t sl_sharding_part_count(const sl_sharded_tensor *tensor);
sl_tensor_part sl_sharding_part(const sl_sharding *sharding, const sl_sharded_tensor *tensor,
                                uint32_t number);

typedef struct sl_range {
    uint64_t begin, end; /* half open */
} sl_range;

/** What equal ranks hold of a tensor: of each piece of the part up to one box. */
typedef struct sl_shard {
    sl_rank_set ranks;
    sl_range rows; /* of the part, along its axis: what AXIS_0 cuts */
    sl_range flat; /* of the part, row after row: what FLAT parameters cut; else all of it */
    uint64_t elements;
    uint64_t padding_elements; /* allocated beside them: vocabulary rows, a short last shard */
} sl_shard;

/** Shard `number`, from part->first_shard on. */
sl_shard sl_sharding_shard(const sl_tensor_part *part, uint64_t number);

/**
 * Shards from `number` on, itself included, that are alike: as many elements and as much padding,
 * each on as many ranks of its own [count, >= 1]. At most five of these runs are all of a part:
 * sums over a map go by them, whatever the degree.
 */
uint64_t sl_sharding_alike(const sl_tensor_part *part, uint64_t number);

/**
 * The smallest number, at least `from`, of a shard that some rank of [first, last] on pipeline rank
 * `stage` has of what its group cuts, routed experts or the rest; UINT64_MAX when there is none.
 */
uint64_t sl_sharding_next_number(const sl_sharding *sharding, uint32_t stage, bool routed,
                                 uint64_t first, uint64_t last, uint64_t from);

/** Box `piece` of a shard, a range of each axis of the tensor; false when it is empty. Under FLAT
 * it is the box of the part, of which `flat` says what is held. */
bool sl_sharding_piece(const sl_sharding *sharding, const sl_sharded_tensor *tensor,
                       const sl_tensor_part *part, const sl_shard *shard, uint64_t piece,
                       sl_range out[SL_TENSOR_AXES_MAX]);

/**
 * The flat tensor of a unit on one tensor-parallel and expert rank. A unit is a block, as the plan
 * wraps them; embedding, final norm, head and blocks that are no unit are the root unit, of which
 * each stage of a pipeline has its own.
 *
 *   padded = ceil(elements / degree) * degree,  rank i holds [i * length, (i + 1) * length)
 *
 * in the order in which the classes of the Hugging Face library register them, as far as it is
 * described: of experts that are apart all of one projection come before the next, where a class
 * may have one expert after the other; parts lists are in the order of the step.
 *
 * Routed experts, of which there are fewer replicas, are a unit of their own under expert
 * parallelism. Source: Zhao 2023 (PyTorch FSDP), section 3.2.1: FlatParameter.
 *
 * Megatron's distributed optimizer cuts buckets instead: of a chunk's parameters from the last to
 * the first, each begun at a multiple of 64, as many as reach max(40e6, 1e6 * degree) elements
 * where the reduction overlaps on the first stage, else all; a tied table is a bucket of its own.
 *
 *   padded = the next multiple of lcm(degree, 128)
 *
 * DeepSpeed below stage 3 has one of all parameters of a stage, padded to 2 * degree.
 * At stage 3 it cuts each parameter by itself, padded to degree: units of one tensor, which are not
 * listed.
 * Source: Megatron-LM param_and_grad_buffer.py, distributed_data_parallel.py; DeepSpeed
 * zero/stage_1_and_2.py, zero/partition_parameters.py. Queries, keys and values are one parameter
 * there, and gate and up, whatever the checkpoint has.
 */
typedef struct sl_flat_unit {
    uint32_t layer; /* the unit's first */
    uint32_t block; /* its number; meaningless for the root */
    bool root;
    bool routed; /* routed experts alone */
    bool bucket; /* of states alone; `layer` is then the first in the model that it has part of */
    uint32_t chunk;  /* of the pipeline */
    uint32_t number; /* of a bucket in its chunk, in the order in which they are filled */
    uint32_t stage;
    uint32_t tensor_rank, expert_rank;
    uint32_t degree;
    uint64_t elements;
    uint64_t padded_elements;
    uint64_t length; /* of a shard */
} sl_flat_unit;

/** Zero-initialised at the start. */
typedef struct sl_flat_walk {
    uint32_t layer, chunk, copy, tensor_rank, expert_rank;
    bool routed;
    uint32_t tensor, expert, number; /* of buckets; `layer` counts from the chunk's last */
} sl_flat_walk;

/** The next unit; false at the end, and at once when nothing is flat or each tensor by itself. */
bool sl_sharding_next_flat(const sl_sharding *sharding, sl_flat_walk *walk, sl_flat_unit *out);

/** The ranks that hold shard `number`, below `degree`, of a unit. */
sl_rank_set sl_sharding_flat_ranks(const sl_sharding *sharding, const sl_flat_unit *unit,
                                   uint64_t number);

#endif
