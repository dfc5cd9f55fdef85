/** Between the files of the sharding map. */
#ifndef SL_ENGINE_SHARDING_H
#define SL_ENGINE_SHARDING_H

#include "engine/placement/slice.h"
#include "shardline/sharding.h"

/** Widths of the plan's cuts; of a slice only what does not depend on time. */
sl_slice sl_sharding_slice(const sl_sharding *sharding);

/** Ranks of a stage that share tensors: data x context [count]. */
uint64_t sl_sharding_replicas(const sl_sharding *sharding);

/** Whether a tensor is of routed experts on ranks of their own. */
bool sl_sharding_routes(const sl_sharding *sharding, const sl_tensor *tensor);

/** Ranks that a cut tensor is cut over: tensor, or expert_tensor. */
uint32_t sl_sharding_cut_ranks(const sl_sharding *sharding, bool routed);

/** Over how many ranks a flat or first-axis whole is cut: fewer for routed experts. */
uint32_t sl_sharding_degree(const sl_sharding *sharding, bool routed);

/** Ranks of one place in tensor and expert group; those of routed experts where placed.
 * whole_tensor: all of the tensor group; degree: of their shards. */
typedef struct sl_rank_place {
    uint32_t stage, tensor_rank, expert_rank, degree;
    bool whole_tensor, placed;
} sl_rank_place;

/** Those with the first shard; those with the next ones are `apart` further each. */
sl_rank_set sl_sharding_ranks(const sl_sharding *sharding, const sl_rank_place *place,
                              uint64_t *apart);

/** One tensor of a layer as the walk gives it; expert: its number where each has one. */
sl_sharded_tensor sl_sharding_tensor(const sl_sharding *sharding, uint32_t layer, uint32_t stage,
                                     uint32_t index, uint32_t expert);

/** Elements of a part with its padding: rows x row, without what the data group cuts. */
uint64_t sl_sharding_allocated(const sl_sharding *sharding, const sl_sharded_tensor *tensor,
                               uint32_t tensor_rank, uint32_t expert_rank);

/** Elements that stand before the tensor in its unit's flat tensor, and those of the whole unit. */
uint64_t sl_sharding_flat_offset(const sl_sharding *sharding, const sl_sharded_tensor *tensor,
                                 uint32_t tensor_rank, uint32_t expert_rank,
                                 uint64_t *unit_elements);

/** Whether each tensor is a flat unit by itself, as DeepSpeed's stage 3 has it. */
bool sl_sharding_is_alone(const sl_sharding *sharding);

/** Whether flat units are buckets, and the next of them as sl_sharding_next_flat. */
bool sl_sharding_has_buckets(const sl_sharding *sharding);
bool sl_sharding_next_bucket(const sl_sharding *sharding, sl_flat_walk *walk, sl_flat_unit *out);

/** On to the next tensor rank of a walk, or expert rank, or to routed experts; false after them. */
bool sl_sharding_step_place(const sl_sharding *sharding, sl_flat_walk *walk);

static inline uint64_t
sl_ceil_div(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

#endif
