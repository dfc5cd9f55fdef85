/* Where ranks are, which ones share what, and on which stage each tensor stands. */
#include "engine/placement/sharding.h"

#include <assert.h>
#include <stddef.h>

#include "engine/placement/adapter.h"
#include "engine/placement/pools.h"
#include "engine/placement/ranks.h"
#include "engine/placement/states.h"
#include "engine/schedule/schedule.h"

sl_sharding_mode
sl_sharding_mode_of(const sl_question *question)
{
    const sl_shards shards = sl_states_shards(&question->workload, &question->plan);
    const uint32_t degree = (uint32_t)shards.optimizer.dense;
    const bool routed = question->model->experts > 0 && shards.optimizer.routed > 1.0;
    sl_sharding_mode mode = {SL_SHARDING_FLAT, degree,
                             shards.parameters.dense > 1.0 ||
                                 (routed && shards.parameters.routed > 1.0)};

    switch (question->workload.framework) {
    case SL_FRAMEWORK_MEGATRON:
    case SL_FRAMEWORK_DDP:
    case SL_FRAMEWORK_DP:
    case SL_FRAMEWORK_FSDP1:
    case SL_FRAMEWORK_DEEPSPEED:
    case SL_FRAMEWORK_COUNT:
        break;
    case SL_FRAMEWORK_FSDP2:
        mode.kind = SL_SHARDING_AXIS_0;
        break;
    }
    /* Of a frozen base there are no states. */
    const bool any = mode.parameters || !sl_adapter_on(&question->workload.adapter);
    return any && (degree > 1 || routed) ? mode : (sl_sharding_mode){SL_SHARDING_NONE, 1, false};
}

sl_code
sl_sharding_check(const sl_question *question, sl_errors *err)
{
    const sl_plan *plan = &question->plan;
    const sl_sharding_mode mode = sl_sharding_mode_of(question);

    if (plan->host_run_count > 0)
        return sl_fail(err, SL_E_UNSUPPORTED, "not_modelled", "/parallelism/placement",
                       "the map lists what devices hold: blocks on the cpu are not modelled yet");
    if (question->workload.framework == SL_FRAMEWORK_MEGATRON && plan->zero_stage >= 2)
        return sl_fail(err, SL_E_UNSUPPORTED, "not_modelled", "/parallelism/zero_stage",
                       "how Megatron-FSDP lays out its shards is not modelled yet");
    if (plan->unit.kind == SL_UNIT_BY_MODULE && mode.kind == SL_SHARDING_FLAT)
        return sl_fail(err, SL_E_UNSUPPORTED, "not_modelled", "/parallelism/fsdp_unit",
                       "the map of flat tensors of modules is not modelled yet");
    return SL_OK;
}

sl_sharding
sl_sharding_of(const sl_question *question, sl_sharding_mode mode)
{
    assert(question != NULL && mode.degree >= 1);

    const sl_sharding sharding = {question, mode};
    const uint64_t t = question->plan.tensor;
    const uint64_t replicas = sl_sharding_replicas(&sharding);
    const uint64_t experts =
        (uint64_t)question->plan.expert * sl_plan_expert_tensor(&question->plan);

    assert(replicas % mode.degree == 0);
    assert(question->model->experts == 0 || t * replicas % experts == 0);
    assert(question->model->experts == 0 || mode.kind == SL_SHARDING_NONE ||
           t * mode.degree % experts == 0);
    assert(mode.kind != SL_SHARDING_NONE || mode.degree == 1);
    return sharding;
}

sl_slice
sl_sharding_slice(const sl_sharding *sharding)
{
    const sl_question *question = sharding->question;

    return sl_slice_of(question, question->software, &question->workload, &question->plan, 1.0);
}

uint64_t
sl_sharding_replicas(const sl_sharding *sharding)
{
    return (uint64_t)sharding->question->plan.data * sharding->question->plan.context;
}

bool
sl_sharding_routes(const sl_sharding *sharding, const sl_tensor *tensor)
{
    return tensor->component == SL_COMPONENT_ROUTED_EXPERTS && sl_sharding_has_routed(sharding);
}

bool
sl_sharding_has_routed(const sl_sharding *sharding)
{
    const sl_plan *plan = &sharding->question->plan;

    return sharding->question->model->experts > 0 &&
           (plan->expert > 1 || sl_plan_expert_tensor(plan) != plan->tensor);
}

uint32_t
sl_sharding_cut_ranks(const sl_sharding *sharding, bool routed)
{
    const sl_plan *plan = &sharding->question->plan;

    return routed ? sl_plan_expert_tensor(plan) : plan->tensor;
}

uint32_t
sl_sharding_degree(const sl_sharding *sharding, bool routed)
{
    const sl_plan *plan = &sharding->question->plan;
    const uint32_t degree = sharding->mode.degree;

    if (!routed || sharding->mode.kind == SL_SHARDING_NONE)
        return degree;
    return plan->tensor * degree / (plan->expert * sl_plan_expert_tensor(plan));
}

/* Where runs touch they are one. */
static sl_rank_set
joined(sl_rank_set set)
{
    if (set.count == 1 || set.run == set.stride)
        return (sl_rank_set){set.first, set.run * set.count, 1, set.run * set.count};
    return set;
}

sl_rank_set
sl_sharding_ranks(const sl_sharding *sharding, const sl_rank_place *place, uint64_t *apart)
{
    const sl_plan *plan = &sharding->question->plan;
    const uint64_t cut = sl_sharding_cut_ranks(sharding, place->placed);
    const uint64_t ranks = plan->tensor * sl_sharding_replicas(sharding);
    const uint64_t experts = place->placed ? plan->expert : 1;
    const uint64_t modulus = experts * place->degree;
    const uint64_t residue = place->placed ? place->expert_rank : 0;
    const sl_strides strides = sl_ranks_strides(plan);
    /* Experts dealt out are so over neighbouring ranks (sl_check_order). */
    const uint64_t beside = place->placed ? cut : strides.replica;

    assert(ranks % (cut * modulus) == 0 && residue < modulus);
    *apart = beside * experts;
    return joined((sl_rank_set){
        .first = strides.pipeline * place->stage + beside * residue +
                 (place->whole_tensor ? 0 : place->tensor_rank),
        .run = place->whole_tensor ? cut : 1,
        .count = ranks / (cut * modulus),
        .stride = beside * modulus,
    });
}

uint64_t
sl_rank_set_next(const sl_rank_set *set, uint64_t from)
{
    assert(set != NULL && set->run >= 1 && set->count >= 1);

    if (from <= set->first)
        return set->first;
    const uint64_t at = (from - set->first) / set->stride;
    const uint64_t within = (from - set->first) % set->stride;
    if (at < set->count && within < set->run)
        return from;
    return at + 1 < set->count ? set->first + (at + 1) * set->stride : UINT64_MAX;
}

sl_place
sl_sharding_place(const sl_sharding *sharding, uint64_t rank)
{
    const sl_plan *plan = &sharding->question->plan;
    const sl_cluster *cluster = sharding->question->cluster;
    const sl_strides strides = sl_ranks_strides(plan);
    uint64_t first_rank = 0, first_node = 0;
    const uint32_t pool = sl_pools_of_rank(cluster, rank, &first_rank);
    const uint64_t per_node = sl_pools_at(cluster, pool)->accelerators_per_node;
    const uint64_t stage_ranks = plan->tensor * sl_sharding_replicas(sharding);

    assert(rank < sl_plan_world(plan));
    for (uint32_t i = 0; i < pool; i++)
        first_node += cluster->pools[i].nodes;
    return (sl_place){
        .pool = pool,
        .node = first_node + (rank - first_rank) / per_node,
        .local_rank = (rank - first_rank) % per_node,
        .data = rank / strides.data % plan->data,
        .pipeline = rank / strides.pipeline % plan->pipeline,
        .tensor = rank % plan->tensor,
        .context = rank / strides.context % plan->context,
        .expert = rank % stage_ranks / sl_plan_expert_tensor(plan) % plan->expert,
    };
}

uint64_t
sl_sharding_next_number(const sl_sharding *sharding, uint32_t stage, bool routed, uint64_t first,
                        uint64_t last, uint64_t from)
{
    const sl_plan *plan = &sharding->question->plan;
    const uint64_t degree = sl_sharding_degree(sharding, routed);
    const sl_strides strides = sl_ranks_strides(plan);
    const uint64_t begin = strides.pipeline * stage;
    /* Ranks with one number: those of a cut, and where experts are dealt out of all that share
     * them. */
    const uint64_t run = sl_sharding_cut_ranks(sharding, routed);
    const uint64_t beside = routed ? run * plan->expert : strides.replica;
    const uint64_t places = plan->tensor * sl_sharding_replicas(sharding) / run;
    const uint64_t numbers = routed ? places / plan->expert : places;

    assert(beside >= run && degree != 0 && numbers != 0);
    if (from >= degree || last < begin)
        return UINT64_MAX;
    /* Of those on the stage, the first and the last with a rank among those asked for. */
    const uint64_t width = routed ? beside : run;
    const uint64_t begun = first <= begin ? 0 : (first - begin + beside - width) / beside;
    const uint64_t within = (last - begin) / beside;
    const uint64_t ended = within < numbers ? within : numbers - 1;
    if (begun > ended)
        return UINT64_MAX;
    /* Neighbours in the group have neighbouring numbers, and begin again at the degree. */
    const uint64_t a = begun % degree;
    const uint64_t b = ended % degree;
    const bool wraps = b < a;
    if (ended - begun >= degree - 1 || (from <= b && (a <= from || wraps)))
        return from;
    if (wraps || from <= a)
        return from > a ? from : a;
    return UINT64_MAX;
}

sl_rank_groups
sl_sharding_groups(const sl_sharding *sharding, sl_group_kind kind)
{
    static const char *const names[] = {
        [SL_GROUP_TENSOR] = "tensor",
        [SL_GROUP_CONTEXT] = "context",
        [SL_GROUP_DATA] = "data",
        [SL_GROUP_REPLICAS] = "replicas",
        [SL_GROUP_PIPELINE] = "pipeline",
        [SL_GROUP_EXPERT] = "expert",
        [SL_GROUP_EXPERT_DATA] = "expert_data",
        [SL_GROUP_EXPERT_TENSOR] = "expert_tensor",
    };
    _Static_assert(sizeof names / sizeof names[0] == SL_GROUP_KIND_COUNT, "a name for each kind");
    const sl_plan *plan = &sharding->question->plan;
    const uint64_t world = sl_plan_world(plan);
    const sl_strides apart = sl_ranks_strides(plan);
    const uint64_t apart_experts = sl_ranks_spacing(plan, SL_AXIS_EXPERT_SHARD).stride;
    const sl_spacing spacings[] = {
        [SL_GROUP_TENSOR] = sl_ranks_spacing(plan, SL_AXIS_TENSOR),
        [SL_GROUP_CONTEXT] = sl_ranks_spacing(plan, SL_AXIS_CONTEXT),
        [SL_GROUP_DATA] = {sl_plan_sharers(plan), apart.data},
        [SL_GROUP_REPLICAS] = sl_ranks_spacing(plan, SL_AXIS_REPLICAS),
        [SL_GROUP_PIPELINE] = {plan->pipeline, apart.pipeline},
        [SL_GROUP_EXPERT] = sl_ranks_spacing(plan, SL_AXIS_EXPERT),
        [SL_GROUP_EXPERT_DATA] = {plan->tensor * sl_sharding_replicas(sharding) /
                                      ((uint64_t)plan->expert * sl_plan_expert_tensor(plan)),
                                  apart_experts},
        [SL_GROUP_EXPERT_TENSOR] = sl_ranks_spacing(plan, SL_AXIS_EXPERT_TENSOR),
    };

    assert((unsigned)kind < SL_GROUP_KIND_COUNT);
    const uint64_t size = spacings[kind].ranks;
    const uint64_t stride = spacings[kind].stride;
    const uint64_t extent = size * stride;
    sl_level level = SL_LEVEL_SCALE_UP;

    /* The slowest that any of them crosses. */
    for (uint32_t i = 0; i < sl_pools_count(sharding->question->cluster); i++) {
        const sl_cluster *pool = sl_pools_at(sharding->question->cluster, i);
        const sl_level own = sl_group_of(pool, size, stride).level;
        level = own > level ? own : level;
    }

    return (sl_rank_groups){
        .kind = names[kind],
        .size = size,
        .stride = stride,
        .count = world / size,
        .starts = joined((sl_rank_set){0, stride, world / extent, extent}),
        .level = sl_level_name(level),
    };
}

/* Experts in one tensor: a stack [experts, ...], or end to end along the axis that is cut. */
static void
place_experts(const sl_sharding *sharding, sl_sharded_tensor *out)
{
    const sl_tensor *tensor = out->tensor;
    const uint32_t ranks = sharding->question->plan.expert;
    const uint32_t experts = sharding->question->model->experts;

    if (tensor->component == SL_COMPONENT_ROUTED_EXPERTS && tensor->experts == 0 &&
        tensor->cut != SL_CUT_REPLICATED && tensor->cut_axis == 0) {
        out->blocks = experts;
        out->parts[0] /= experts;
    }
    if (!sl_sharding_routes(sharding, tensor))
        return;
    out->expert_placed = true;
    if (tensor->experts != 0)
        out->expert_from = (uint32_t)(out->expert / sl_ceil_div(tensor->experts, ranks));
    else
        out->expert_cut = ranks;
}

sl_sharded_tensor
sl_sharding_tensor(const sl_sharding *sharding, uint32_t layer, uint32_t stage, uint32_t index,
                   uint32_t expert)
{
    const sl_model *model = sharding->question->model;
    const sl_layer_kind *kind = &model->kinds[model->layers[layer]];
    const sl_tensor *tensor = &kind->tensors[index];
    const uint32_t ranks = sl_sharding_cut_ranks(sharding, sl_sharding_routes(sharding, tensor));
    const bool cut = tensor->cut != SL_CUT_REPLICATED && ranks > 1;
    /* Flat tensors of two ranks may differ in length, and then nothing in them is at one place. */
    const bool flat = sharding->mode.kind == SL_SHARDING_FLAT && sharding->mode.parameters &&
                      !sl_sharding_is_alone(sharding);
    sl_sharded_tensor out = {
        .kind = kind,
        .tensor = tensor,
        .index = index,
        .layer = layer,
        .block = layer - (model->layer_count != model->block_count && layer > 0),
        .expert = expert,
        .stage = stage,
        .tensor_cut = cut || flat ? ranks : 1,
        .expert_cut = 1,
        .part_count = 1,
        .parts = {tensor->shape[tensor->cut_axis]},
        .blocks = 1,
    };

    /* Padded on one rank too. */
    if (tensor->cut == SL_CUT_VOCABULARY) {
        const sl_slice slice = sl_sharding_slice(sharding);
        out.parts[0] = (uint64_t)sl_slice_vocabulary(&slice, (double)out.parts[0]);
    } else if (cut && tensor->part_count != 0) {
        out.part_count = tensor->part_count;
        for (uint32_t i = 0; i < tensor->part_count; i++)
            out.parts[i] = tensor->parts[i];
    }
    place_experts(sharding, &out);
    return out;
}

/* On to the tensor that the walk stands at or before; false at the end of the last copy. */
static bool
settle(const sl_model *model, const sl_plan *plan, sl_tensor_walk *walk)
{
    while (walk->layer < model->layer_count &&
           walk->tensor >= model->kinds[model->layers[walk->layer]].tensor_count) {
        walk->layer++;
        walk->tensor = 0;
        if (walk->layer == model->layer_count && walk->copy + 1 < sl_schedule_copies(plan))
            *walk = (sl_tensor_walk){.copy = walk->copy + 1};
    }
    return walk->layer < model->layer_count;
}

static void
step(const sl_tensor *tensor, sl_tensor_walk *walk)
{
    if (++walk->expert < tensor->experts)
        return;
    walk->expert = 0;
    walk->tensor++;
}

bool
sl_sharding_next(const sl_sharding *sharding, sl_tensor_walk *walk, sl_sharded_tensor *out)
{
    assert(sharding != NULL && walk != NULL && out != NULL);

    const sl_model *model = sharding->question->model;
    const sl_plan *plan = &sharding->question->plan;
    const sl_slice slice = sl_sharding_slice(sharding);

    while (settle(model, plan, walk)) {
        const sl_tensor *tensor = &model->kinds[model->layers[walk->layer]].tensors[walk->tensor];
        while (sl_schedule_chunk_begin(model, plan, walk->chunk + 1) <= walk->layer)
            walk->chunk++;
        const bool held = sl_slice_holds(&slice, tensor);
        if (held)
            *out = sl_sharding_tensor(sharding, walk->layer,
                                      sl_schedule_rank(plan, walk->chunk, walk->copy), walk->tensor,
                                      walk->expert);
        step(tensor, walk);
        if (held)
            return true;
    }
    return false;
}

uint64_t
sl_sharding_tensor_count(const sl_sharding *sharding)
{
    const sl_model *model = sharding->question->model;
    uint64_t count = 0;

    for (uint32_t layer = 0; layer < model->layer_count; layer++) {
        const sl_layer_kind *kind = &model->kinds[model->layers[layer]];
        for (uint32_t i = 0; i < kind->tensor_count; i++)
            count += kind->tensors[i].experts == 0 ? 1 : kind->tensors[i].experts;
    }
    return count * sl_schedule_copies(&sharding->question->plan);
}
