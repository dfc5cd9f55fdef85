/* Flat tensors: what a unit's tensors are together, end to end. */
#include "engine/sharding.h"

#include <assert.h>
#include <stddef.h>

#include "engine/schedule.h"

/* Whether a layer is of the root unit: around the blocks. */
static bool
is_root(const sl_sharding *sharding, uint32_t layer)
{
    const sl_model *model = sharding->question->model;

    return !sl_schedule_is_block(model, model->layers[layer]);
}

/* Layers of the unit that `layer` is of: on one stage both ends are one root. */
static uint32_t
layers_of(const sl_sharding *sharding, uint32_t layer, uint32_t layers[2])
{
    const sl_model *model = sharding->question->model;

    layers[0] = layer;
    if (!is_root(sharding, layer) || sharding->question->plan.pipeline > 1)
        return 1;
    layers[0] = 0;
    layers[1] = model->layer_count - 1;
    return 2;
}

/* Elements of one tensor of a layer on a rank: of all its experts there, below `below`. */
static uint64_t
tensor_elements(const sl_sharding *sharding, uint32_t layer, uint32_t index, uint32_t below,
                uint32_t tensor_rank, uint32_t expert_rank)
{
    const sl_sharded_tensor first = sl_sharding_tensor(sharding, layer, 0, index, 0);
    const uint64_t one = sl_sharding_allocated(sharding, &first, tensor_rank, expert_rank);
    const uint64_t experts = first.tensor->experts;

    if (experts == 0)
        return one;
    const uint64_t each =
        first.expert_placed ? sl_ceil_div(experts, sharding->question->plan.expert) : experts;
    const uint64_t begin = first.expert_placed ? each * expert_rank : 0;
    const uint64_t end = begin + each < below ? begin + each : below;
    return end > begin ? (end - begin) * one : 0;
}

/* Elements of the unit; and in *offset those before an expert of tensor `index` of `layer`. */
static uint64_t
unit_elements(const sl_sharding *sharding, uint32_t layer, uint32_t index, uint32_t expert,
              bool routed, uint32_t tensor_rank, uint32_t expert_rank, uint64_t *offset)
{
    const sl_model *model = sharding->question->model;
    const sl_slice slice = sl_sharding_slice(sharding);
    uint32_t layers[2];
    const uint32_t count = layers_of(sharding, layer, layers);
    uint64_t elements = 0;

    for (uint32_t l = 0; l < count; l++) {
        const sl_layer_kind *kind = &model->kinds[model->layers[layers[l]]];
        for (uint32_t i = 0; i < kind->tensor_count; i++) {
            const sl_tensor *tensor = &kind->tensors[i];
            if (!sl_slice_holds(&slice, tensor) || sl_sharding_routes(sharding, tensor) != routed)
                continue;
            if (layers[l] == layer && i == index)
                *offset = elements + (expert == 0 ? 0
                                                  : tensor_elements(sharding, layer, i, expert,
                                                                    tensor_rank, expert_rank));
            elements +=
                tensor_elements(sharding, layers[l], i, tensor->experts, tensor_rank, expert_rank);
        }
    }
    return elements;
}

uint64_t
sl_sharding_flat_offset(const sl_sharding *sharding, const sl_sharded_tensor *tensor,
                        uint32_t tensor_rank, uint32_t expert_rank, uint64_t *elements)
{
    uint64_t offset = 0;

    *elements = unit_elements(sharding, tensor->layer, tensor->index, tensor->expert,
                              sl_sharding_routes(sharding, tensor->tensor), tensor_rank,
                              expert_rank, &offset);
    return offset;
}

bool
sl_sharding_step_place(const sl_sharding *sharding, sl_flat_walk *walk)
{
    if (++walk->tensor_rank < sl_sharding_cut_ranks(sharding, walk->routed))
        return true;
    walk->tensor_rank = 0;
    if (walk->routed && ++walk->expert_rank < sharding->question->plan.expert)
        return true;
    walk->expert_rank = 0;
    walk->routed = !walk->routed && sl_sharding_has_routed(sharding);
    return walk->routed;
}

bool
sl_sharding_next_flat(const sl_sharding *sharding, sl_flat_walk *walk, sl_flat_unit *out)
{
    assert(sharding != NULL && walk != NULL && out != NULL);

    const sl_model *model = sharding->question->model;
    const sl_plan *plan = &sharding->question->plan;

    if (sharding->mode.kind != SL_SHARDING_FLAT)
        return false;
    if (sl_sharding_has_buckets(sharding))
        return sl_sharding_next_bucket(sharding, walk, out);
    while (walk->layer < model->layer_count) {
        uint32_t layers[2];
        uint64_t offset = 0;

        while (sl_schedule_chunk_begin(model, plan, walk->chunk + 1) <= walk->layer)
            walk->chunk++;
        const sl_flat_walk at = *walk;
        if (!sl_sharding_step_place(sharding, walk) && ++walk->layer == model->layer_count &&
            walk->copy + 1 < sl_schedule_copies(plan))
            *walk = (sl_flat_walk){.copy = walk->copy + 1};
        (void)layers_of(sharding, at.layer, layers);
        if (layers[0] != at.layer)
            continue;
        const uint64_t elements = unit_elements(sharding, at.layer, UINT32_MAX, 0, at.routed,
                                                at.tensor_rank, at.expert_rank, &offset);
        if (elements == 0)
            continue;
        const uint32_t degree = sl_sharding_degree(sharding, at.routed);
        const uint64_t length = sl_ceil_div(elements, degree);
        *out = (sl_flat_unit){
            .layer = at.layer,
            .block = at.layer - (model->layer_count != model->block_count && at.layer > 0),
            .root = is_root(sharding, at.layer),
            .routed = at.routed,
            .chunk = at.chunk,
            .stage = sl_schedule_rank(plan, at.chunk, at.copy),
            .tensor_rank = at.tensor_rank,
            .expert_rank = at.expert_rank,
            .degree = degree,
            .elements = elements,
            .padded_elements = length * degree,
            .length = length,
        };
        return true;
    }
    return false;
}

sl_rank_set
sl_sharding_flat_ranks(const sl_sharding *sharding, const sl_flat_unit *unit, uint64_t number)
{
    assert(number < unit->degree);

    const sl_rank_place place = {
        .stage = unit->stage,
        .tensor_rank = unit->tensor_rank,
        .expert_rank = unit->expert_rank,
        .degree = unit->degree,
        .placed = unit->routed,
        .shard = number,
    };
    return sl_sharding_ranks(sharding, &place);
}
