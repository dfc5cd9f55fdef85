/* Buckets: what Megatron's distributed optimizer divides, and ZeRO below stage 3. */
#include "engine/placement/sharding.h"

#include <assert.h>
#include <stddef.h>

#include "engine/schedule/schedule.h"

/* Elements: 128 bytes of the narrowest parameter, the multiple of a bucket, and its least size. */
enum { PARAMETER_ALIGNMENT = 64, BUCKET_MULTIPLE = 128 };
static const uint64_t bucket_elements = 40000000;
static const uint64_t bucket_elements_per_rank = 1000000;

bool
sl_sharding_has_buckets(const sl_sharding *sharding)
{
    return sharding->mode.kind == SL_SHARDING_FLAT && !sharding->mode.parameters;
}

static uint64_t
aligned(uint64_t at, uint64_t multiple)
{
    return sl_ceil_div(at, multiple) * multiple;
}

/* lcm(degree, 128): 128 is a power of two. */
static uint64_t
bucket_multiple(uint64_t degree)
{
    uint64_t rest = BUCKET_MULTIPLE;

    while (rest > 1 && degree % 2 == 0) {
        degree /= 2;
        rest /= 2;
    }
    return degree * BUCKET_MULTIPLE;
}

/* How a framework fills buckets. */
typedef struct bucket_rule {
    uint64_t full;      /* elements that close one */
    uint64_t alignment; /* of each parameter in it */
    uint64_t multiple;  /* of all of it */
    bool shared_apart;  /* a table that another stage has too is alone in one */
} bucket_rule;

/* Megatron without overlap, on later stages and in later chunks, has one bucket for all; so has
 * DeepSpeed, which pads to two elements a rank. */
static bucket_rule
rule_of(const sl_sharding *sharding, const sl_flat_walk *walk, uint64_t degree)
{
    const uint64_t least = bucket_elements_per_rank * degree;
    const bool one = !sharding->question->software->overlap_gradient_reduce || walk->chunk > 0;

    if (sharding->question->workload.framework == SL_FRAMEWORK_DEEPSPEED)
        return (bucket_rule){.full = UINT64_MAX, .alignment = 1, .multiple = 2 * degree};
    return (bucket_rule){
        .full = one                       ? UINT64_MAX
                : least > bucket_elements ? least
                                          : bucket_elements,
        .alignment = PARAMETER_ALIGNMENT,
        .multiple = bucket_multiple(degree),
        .shared_apart = true,
    };
}

/* Embedding and head that are one table, on two stages: reduced with one another as well. */
static bool
is_shared(const sl_sharding *sharding, const sl_tensor *tensor)
{
    return sharding->question->model->tied && sl_schedule_ends_apart(&sharding->question->plan) &&
           tensor->cut == SL_CUT_VOCABULARY;
}

/* The tensor that is registered nth from the last: in the order of the block, but that Megatron's
 * attention has its output projection before all else (Attention, which SelfAttention extends). */
static uint32_t
nth_from_last(const sl_layer_kind *kind, uint32_t nth)
{
    for (uint32_t first = 0; first < 2; first++)
        for (uint32_t i = kind->tensor_count; i-- > 0;) {
            const sl_tensor *tensor = &kind->tensors[i];
            const bool output =
                tensor->component == SL_COMPONENT_ATTENTION && tensor->cut == SL_CUT_ROW;
            if (output == (first == 1) && nth-- == 0)
                return i;
        }
    return 0;
}

/* The tensor the walk stands at, counted from the chunk's last; false after the first. */
static bool
at_tensor(const sl_sharding *sharding, const sl_flat_walk *walk, uint32_t *layer, uint32_t *index)
{
    const sl_model *model = sharding->question->model;
    const sl_plan *plan = &sharding->question->plan;
    const uint32_t begin = sl_schedule_chunk_begin(model, plan, walk->chunk);
    const uint32_t end = sl_schedule_chunk_begin(model, plan, walk->chunk + 1);

    if (walk->layer >= end - begin)
        return false;
    *layer = end - 1 - walk->layer;
    *index = nth_from_last(&model->kinds[model->layers[*layer]], walk->tensor);
    return true;
}

/* Parameters of its own that a tensor is on this rank: one, or one for each expert here. */
static uint32_t
parameters_of(const sl_sharding *sharding, const sl_flat_walk *walk, const sl_tensor *tensor)
{
    const sl_slice slice = sl_sharding_slice(sharding);
    const uint32_t ranks = walk->routed ? sharding->question->plan.expert : 1;

    if (!sl_slice_holds(&slice, tensor) || sl_sharding_routes(sharding, tensor) != walk->routed)
        return 0;
    if (tensor->experts == 0)
        return 1;
    const uint32_t each = (uint32_t)sl_ceil_div(tensor->experts, ranks);
    const uint32_t before = each * walk->expert_rank;
    const uint32_t left = tensor->experts > before ? tensor->experts - before : 0;
    return left < each ? left : each;
}

static bool
is_fused(const sl_tensor *tensor)
{
    return tensor->cut == SL_CUT_COLUMN &&
           (tensor->component == SL_COMPONENT_ATTENTION || tensor->component == SL_COMPONENT_MLP ||
            tensor->component == SL_COMPONENT_SHARED_EXPERTS ||
            tensor->component == SL_COMPONENT_ROUTED_EXPERTS);
}

/* Tensors of the checkpoint, this one and those before it, that are one parameter of Megatron's:
 * queries, keys and values, or gate and up; with their biases, which are small. */
static uint32_t
fused_count(const sl_layer_kind *kind, uint32_t index)
{
    uint32_t count = 1;

    while (count <= index && is_fused(&kind->tensors[index]) &&
           is_fused(&kind->tensors[index - count]) &&
           kind->tensors[index - count].component == kind->tensors[index].component &&
           kind->tensors[index - count].experts == kind->tensors[index].experts)
        count++;
    return count;
}

static void
step_tensor(const sl_layer_kind *kind, sl_flat_walk *walk, uint32_t count)
{
    walk->expert = 0;
    walk->tensor += count;
    if (walk->tensor < kind->tensor_count)
        return;
    walk->tensor = 0;
    walk->layer++;
}

/* Takes parameters until the bucket is full; where it ends, padding between them included. */
static uint64_t
fill(const sl_sharding *sharding, sl_flat_walk *walk, const bucket_rule *rule, sl_flat_unit *out)
{
    const sl_model *model = sharding->question->model;
    uint64_t end = 0;
    uint32_t layer = 0;
    uint32_t index = 0;

    while (end < rule->full && at_tensor(sharding, walk, &layer, &index)) {
        const sl_layer_kind *kind = &model->kinds[model->layers[layer]];
        if (kind->tensor_count == 0) { /* a plain layer without parameters */
            step_tensor(kind, walk, 1);
            continue;
        }
        const sl_tensor *tensor = &kind->tensors[index];
        const uint32_t fused = fused_count(kind, index);
        if (walk->expert >= parameters_of(sharding, walk, tensor)) {
            step_tensor(kind, walk, fused);
            continue;
        }
        const bool shared = rule->shared_apart && is_shared(sharding, tensor);
        if (shared && out->elements > 0)
            break;
        uint64_t elements = 0;
        for (uint32_t i = 0; i < fused; i++) {
            const sl_sharded_tensor placed =
                sl_sharding_tensor(sharding, layer, out->stage, index - i, 0);
            elements +=
                sl_sharding_allocated(sharding, &placed, walk->tensor_rank, walk->expert_rank);
        }
        end = aligned(end, rule->alignment) + elements;
        out->elements += elements;
        out->layer = layer;
        walk->expert++;
        if (shared)
            break;
    }
    return end;
}

/* On to the next place, and from the last to the next chunk, of the next copy after the last. */
static void
step_place(const sl_sharding *sharding, sl_flat_walk *walk)
{
    const sl_plan *plan = &sharding->question->plan;

    walk->layer = walk->tensor = walk->expert = walk->number = 0;
    if (!sl_sharding_step_place(sharding, walk) && ++walk->chunk == sl_schedule_chunks(plan) &&
        walk->copy + 1 < sl_schedule_copies(plan))
        *walk = (sl_flat_walk){.copy = walk->copy + 1};
}

bool
sl_sharding_next_bucket(const sl_sharding *sharding, sl_flat_walk *walk, sl_flat_unit *out)
{
    const sl_plan *plan = &sharding->question->plan;

    while (walk->chunk < sl_schedule_chunks(plan)) {
        const uint32_t degree = sl_sharding_degree(sharding, walk->routed);
        sl_flat_unit unit = {
            .bucket = true,
            .chunk = walk->chunk,
            .number = walk->number,
            .routed = walk->routed,
            .stage = sl_schedule_rank(plan, walk->chunk, walk->copy),
            .tensor_rank = walk->tensor_rank,
            .expert_rank = walk->expert_rank,
            .degree = degree,
        };
        const bucket_rule rule = rule_of(sharding, walk, degree);
        const uint64_t end = fill(sharding, walk, &rule, &unit);
        if (unit.elements == 0) {
            step_place(sharding, walk);
            continue;
        }
        walk->number++;
        unit.padded_elements = aligned(end, rule.multiple);
        unit.length = unit.padded_elements / degree;
        *out = unit;
        return true;
    }
    return false;
}
