/* Flat tensors: what a unit's tensors are together, end to end. */
#include "engine/placement/sharding.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "engine/placement/unit.h"
#include "engine/schedule/schedule.h"

bool
sl_sharding_is_alone(const sl_sharding *sharding)
{
    return sharding->mode.kind == SL_SHARDING_FLAT && sharding->mode.parameters &&
           sharding->question->workload.framework == SL_FRAMEWORK_DEEPSPEED;
}

/* Whether a layer is of the root unit: around the blocks, or a block that is not wrapped. */
static bool
is_root(const sl_sharding *sharding, uint32_t layer)
{
    const sl_model *model = sharding->question->model;
    const sl_layer_kind *kind = &model->kinds[model->layers[layer]];
    const sl_unit *unit = &sharding->question->plan.unit;
    const sl_slice slice = sl_sharding_slice(sharding);
    double elements = 0.0;

    if (!sl_schedule_is_block(model, model->layers[layer]))
        return true;
    for (uint32_t i = 0; i < kind->tensor_count; i++)
        elements += sl_slice_elements(&slice, &kind->tensors[i]);
    return !sl_unit_wraps(unit, &slice, kind, elements);
}

static uint32_t
stage_of(const sl_sharding *sharding, uint32_t layer)
{
    const sl_plan *plan = &sharding->question->plan;
    uint32_t chunk = 0;

    while (sl_schedule_chunk_begin(sharding->question->model, plan, chunk + 1) <= layer)
        chunk++;
    return sl_schedule_rank(plan, chunk, 0);
}

/* Whether `other` is of the unit that `layer` is of: on one stage all root layers are one. */
static bool
same_unit(const sl_sharding *sharding, uint32_t layer, uint32_t other)
{
    return other == layer || (is_root(sharding, layer) && is_root(sharding, other) &&
                              stage_of(sharding, layer) == stage_of(sharding, other));
}

/* Whether a unit begins with this layer. */
static bool
begins_unit(const sl_sharding *sharding, uint32_t layer)
{
    for (uint32_t l = 0; is_root(sharding, layer) && l < layer; l++)
        if (same_unit(sharding, layer, l))
            return false;
    return true;
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

/* Modules register their parameters in the order in which their class names them, and so a flat
 * tensor has them: a block's own norms, "input_layernorm.weight", may be behind all else in it. */
static bool
is_behind(const sl_layer_kind *kind, const sl_tensor *tensor)
{
    const char *dot = strchr(tensor->name, '.');

    return kind->norms_last && tensor->component == SL_COMPONENT_NORMS &&
           (dot == NULL || strchr(dot + 1, '.') == NULL);
}

/* Elements of the unit; and in *offset those before an expert of tensor `index` of `layer`. */
static uint64_t
unit_elements(const sl_sharding *sharding, uint32_t layer, uint32_t index, uint32_t expert,
              bool routed, uint32_t tensor_rank, uint32_t expert_rank, uint64_t *offset)
{
    const sl_model *model = sharding->question->model;
    const sl_slice slice = sl_sharding_slice(sharding);
    const bool root = is_root(sharding, layer);
    const uint32_t end = root ? model->layer_count : layer + 1;
    uint64_t elements = 0;

    for (uint32_t l = root ? 0 : layer; l < end; l++) {
        const sl_layer_kind *kind = &model->kinds[model->layers[l]];
        if (!same_unit(sharding, layer, l))
            continue;
        for (uint32_t n = 0; n < 2 * kind->tensor_count; n++) {
            const uint32_t i = n < kind->tensor_count ? n : n - kind->tensor_count;
            const sl_tensor *tensor = &kind->tensors[i];
            if (is_behind(kind, tensor) != (n >= kind->tensor_count) ||
                !sl_slice_holds(&slice, tensor) || sl_sharding_routes(sharding, tensor) != routed)
                continue;
            if (l == layer && i == index)
                *offset = elements + (expert == 0 ? 0
                                                  : tensor_elements(sharding, layer, i, expert,
                                                                    tensor_rank, expert_rank));
            elements += tensor_elements(sharding, l, i, tensor->experts, tensor_rank, expert_rank);
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

    if (sharding->mode.kind != SL_SHARDING_FLAT || sl_sharding_is_alone(sharding))
        return false;
    if (sl_sharding_has_buckets(sharding))
        return sl_sharding_next_bucket(sharding, walk, out);
    while (walk->layer < model->layer_count) {
        uint64_t offset = 0;

        while (sl_schedule_chunk_begin(model, plan, walk->chunk + 1) <= walk->layer)
            walk->chunk++;
        const sl_flat_walk at = *walk;
        if (!sl_sharding_step_place(sharding, walk) && ++walk->layer == model->layer_count &&
            walk->copy + 1 < sl_schedule_copies(plan))
            *walk = (sl_flat_walk){.copy = walk->copy + 1};
        if (!begins_unit(sharding, at.layer))
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
    };
    uint64_t apart = 0;
    sl_rank_set ranks = sl_sharding_ranks(sharding, &place, &apart);

    ranks.first += number * apart;
    return ranks;
}
