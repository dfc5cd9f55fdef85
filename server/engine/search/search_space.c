/* The space of a search: what each dimension can be, and which of it a unit of work is. */
#include "engine/search/search_parts.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "engine/checked.h"
#include "engine/links/collective.h"
#include "engine/placement/recompute.h"
#include "engine/placement/states.h"
#include "engine/schedule/schedule.h"

enum {
    CONTEXTS_MAX = 16,      /* ranks that share a sequence, where nothing is said */
    MICRO_BATCHES_MAX = 64, /* likewise, sequences */
    REBUILT_MAX = 16,       /* blocks of a chunk */
    CHUNKS_MAX = 8,         /* ... of a rank */
    LONG_SEQUENCE = 8192    /* from which on a sequence is worth sharing */
};

static const char *const dimension_names[] = {
    [SL_DIMENSION_TENSOR] = "tensor",
    [SL_DIMENSION_SEQUENCE] = "sequence",
    [SL_DIMENSION_CONTEXT] = "context",
    [SL_DIMENSION_CONTEXT_KIND] = "context_kind",
    [SL_DIMENSION_EXPERT] = "expert",
    [SL_DIMENSION_EXPERT_TENSOR] = "expert_tensor",
    [SL_DIMENSION_MICRO_BATCH] = "micro_batch_size",
    [SL_DIMENSION_GLOBAL_BATCH] = "global_batch_size",
    [SL_DIMENSION_ACCELERATORS] = "accelerators",
    [SL_DIMENSION_PIPELINE] = "pipeline",
    [SL_DIMENSION_VIRTUAL_PIPELINE] = "virtual_pipeline",
    [SL_DIMENSION_SCHEDULE] = "schedule",
    [SL_DIMENSION_LAYOUT] = "layout",
    [SL_DIMENSION_DATA] = "data",
    [SL_DIMENSION_ZERO_STAGE] = "zero_stage",
    [SL_DIMENSION_SHARD_GROUP] = "shard_group",
    [SL_DIMENSION_RECOMPUTE] = "recompute",
    [SL_DIMENSION_RECOMPUTE_LAYERS] = "recompute_layers",
    [SL_DIMENSION_OFFLOAD] = "offload",
};
_Static_assert(sizeof dimension_names / sizeof dimension_names[0] == SL_DIMENSION_COUNT,
               "a name for each dimension");

static const char *const objective_names[] = {
    [SL_OBJECTIVE_THROUGHPUT] = "throughput",
    [SL_OBJECTIVE_TIME_TO_TRAIN] = "time_to_train",
    [SL_OBJECTIVE_COST] = "cost",
    [SL_OBJECTIVE_ACCELERATORS] = "accelerators",
    [SL_OBJECTIVE_ENERGY] = "energy",
};
_Static_assert(sizeof objective_names / sizeof objective_names[0] == SL_OBJECTIVE_COUNT,
               "a name for each objective");

const char *
sl_dimension_name(sl_dimension dimension)
{
    assert(dimension < SL_DIMENSION_COUNT);
    return dimension_names[dimension];
}

const char *
sl_objective_name(sl_objective objective)
{
    assert(objective < SL_OBJECTIVE_COUNT);
    return objective_names[objective];
}

size_t
sl_search_bytes(void)
{
    return sizeof(sl_search);
}

static void
add_value(sl_values *values, uint64_t value)
{
    if (values->count < SL_SEARCH_VALUES_MAX)
        values->list[values->count++] = value;
}

static void
add_powers(sl_values *values, uint64_t most)
{
    for (uint64_t value = 1; value <= most; value *= 2)
        add_value(values, value);
}

/* Powers of two, and three times those. */
static void
add_rounds(sl_values *values, uint64_t most)
{
    for (uint64_t value = 1; value <= most; value *= 2) {
        add_value(values, value);
        if (value > 1 && value / 2 * 3 <= most)
            add_value(values, value / 2 * 3);
    }
}

static void
add_divisors(sl_values *values, uint64_t whole, uint64_t most)
{
    for (uint64_t value = 1; value <= most && value <= whole; value++)
        if (whole % value == 0)
            add_value(values, value);
}

static uint64_t
widest_island(const sl_search_request *request)
{
    uint64_t widest = 1;

    for (uint32_t i = 0; i < request->question_count; i++) {
        const uint64_t here = sl_collective_island(request->questions[i].cluster);
        widest = here > widest ? here : widest;
    }
    return widest;
}

/* Degrees that only some frameworks have. */
static void
open_degrees(const sl_search_request *request, sl_space *space)
{
    const sl_question *q = &request->questions[0];
    const sl_model *model = q->model;
    const sl_framework framework = q->workload.framework;
    const bool plain = sl_model_is_plain(model);
    const bool shares = framework == SL_FRAMEWORK_MEGATRON || framework == SL_FRAMEWORK_FSDP2 ||
                        framework == SL_FRAMEWORK_DEEPSPEED;
    const bool cuts = !plain && !sl_framework_replicates(framework);
    const uint64_t widest = space->tensor_anywhere ? SL_SEARCH_VALUES_MAX : widest_island(request);
    sl_values defaults[SL_DIMENSION_COUNT] = {0};

    add_divisors(&defaults[SL_DIMENSION_TENSOR], cuts ? model->heads : 1, widest);
    add_value(&defaults[SL_DIMENSION_SEQUENCE], 0);
    if (cuts)
        add_value(&defaults[SL_DIMENSION_SEQUENCE], 1);
    add_powers(&defaults[SL_DIMENSION_CONTEXT],
               shares && !plain && q->workload.sequence_length >= LONG_SEQUENCE ? CONTEXTS_MAX : 1);
    add_value(&defaults[SL_DIMENSION_CONTEXT_KIND], q->plan.context_kind);
    add_divisors(&defaults[SL_DIMENSION_EXPERT], shares && model->experts > 0 ? model->experts : 1,
                 SL_SEARCH_VALUES_MAX * 8ull);
    add_value(&defaults[SL_DIMENSION_EXPERT_TENSOR], 0);
    if (model->experts > 0)
        add_value(&defaults[SL_DIMENSION_EXPERT_TENSOR], 1);
    for (uint64_t p = 1; p <= SL_PIPELINE_MAX; p++)
        if (p == 1 || (p <= model->layer_count && !sl_framework_replicates(framework)))
            add_value(&defaults[SL_DIMENSION_PIPELINE], p);
    for (uint64_t v = 1; v <= CHUNKS_MAX; v++)
        add_value(&defaults[SL_DIMENSION_VIRTUAL_PIPELINE], v);
    for (uint32_t d = 0; d < SL_DIMENSION_COUNT; d++)
        if (space->of[d].count == 0)
            space->of[d] = defaults[d];
}

/* How the states are held, and what is kept for backward. */
static void
open_states(const sl_search_request *request, sl_space *space)
{
    static const uint32_t stages[SL_FRAMEWORK_COUNT][2] = {
        [SL_FRAMEWORK_MEGATRON] = {0, 1},  [SL_FRAMEWORK_DDP] = {0, 0},
        [SL_FRAMEWORK_FSDP1] = {2, 3},     [SL_FRAMEWORK_FSDP2] = {2, 3},
        [SL_FRAMEWORK_DEEPSPEED] = {1, 3}, [SL_FRAMEWORK_DP] = {0, 0},
    };
    const sl_question *q = &request->questions[0];
    const sl_framework framework = q->workload.framework;
    const bool fsdp = sl_framework_is_fsdp(framework);
    sl_values defaults[SL_DIMENSION_COUNT] = {0};

    add_rounds(&defaults[SL_DIMENSION_MICRO_BATCH], MICRO_BATCHES_MAX);
    add_value(&defaults[SL_DIMENSION_GLOBAL_BATCH], q->workload.global_batch);
    add_value(&defaults[SL_DIMENSION_SCHEDULE], SL_SCHEDULE_1F1B);
    add_value(&defaults[SL_DIMENSION_SCHEDULE], SL_SCHEDULE_INTERLEAVED_1F1B);
    add_value(&defaults[SL_DIMENSION_LAYOUT], SL_SEARCH_LAYOUT_RULE);
    add_value(&defaults[SL_DIMENSION_LAYOUT], SL_SEARCH_LAYOUT_BALANCED);
    for (uint32_t stage = stages[framework][0]; stage <= stages[framework][1]; stage++)
        add_value(&defaults[SL_DIMENSION_ZERO_STAGE], stage);
    add_value(&defaults[SL_DIMENSION_SHARD_GROUP], 0);
    if (fsdp && q->cluster->nodes > 1)
        add_value(&defaults[SL_DIMENSION_SHARD_GROUP], q->cluster->accelerators_per_node);
    for (uint32_t mode = 0; mode < SL_RECOMPUTE_WORDS; mode++)
        if (sl_recompute_is_of((sl_recompute)mode, framework))
            add_value(&defaults[SL_DIMENSION_RECOMPUTE], mode);
    add_value(&defaults[SL_DIMENSION_RECOMPUTE_LAYERS], 0);
    if (framework == SL_FRAMEWORK_MEGATRON)
        add_powers(&defaults[SL_DIMENSION_RECOMPUTE_LAYERS], REBUILT_MAX);
    add_value(&defaults[SL_DIMENSION_OFFLOAD], 0);
    for (uint32_t d = 0; d < SL_DIMENSION_COUNT; d++)
        if (space->of[d].count == 0)
            space->of[d] = defaults[d];
}

void
sl_search_open(const sl_search_request *request, sl_space *space)
{
    open_degrees(request, space);
    open_states(request, space);
}

uint64_t
sl_search_next_size(const sl_cluster *cluster, uint64_t size)
{
    const uint64_t node = cluster->accelerators_per_node;

    if (cluster->pool_count > 0)
        return UINT64_MAX;
    if (size < node)
        return 2 * size < node ? 2 * size : node;
    return size + node;
}

static bool
holds(const sl_values *values, uint64_t value)
{
    for (uint32_t i = 0; i < values->count; i++)
        if (values->list[i] == value)
            return true;
    return false;
}

/* Whether the space has plans of so many accelerators of this cluster. */
static bool
is_size(const sl_search_request *request, const sl_cluster *cluster, uint64_t size)
{
    const sl_space *space = &request->space;
    const uint64_t most = request->constraints.max_accelerators;
    const uint64_t all = sl_cluster_accelerators(cluster);
    const uint64_t node = cluster->accelerators_per_node;
    assert(node > 0);
    const bool every = space->every_size || request->objective == SL_OBJECTIVE_ACCELERATORS ||
                       request->objective == SL_OBJECTIVE_COST ||
                       request->objective == SL_OBJECTIVE_ENERGY || (most > 0 && most < all);

    if (most > 0 && size > most)
        return false;
    if (space->nodes.count > 0)
        return size % node == 0 && holds(&space->nodes, size / node);
    if (space->of[SL_DIMENSION_ACCELERATORS].count > 0)
        return holds(&space->of[SL_DIMENSION_ACCELERATORS], size);
    return size == all || every;
}

uint64_t
sl_search_first_size(const sl_cluster *cluster)
{
    return cluster->pool_count > 0 ? sl_cluster_accelerators(cluster) : 1;
}

static bool
open_sizes(sl_search *search, uint32_t index)
{
    const sl_search_request *request = search->request;
    const sl_cluster *cluster = request->questions[index].cluster;
    const uint64_t all = sl_cluster_accelerators(cluster);
    uint32_t *sizes = search->sizes[index];
    uint32_t count = 0;

    for (uint64_t size = sl_search_first_size(cluster); size <= all;
         size = sl_search_next_size(cluster, size)) {
        if (!is_size(request, cluster, size))
            continue;
        if (count == SL_SEARCH_SIZES_MAX || size > UINT32_MAX)
            return false;
        sizes[count++] = (uint32_t)size;
    }
    search->first_size[index + 1] = search->first_size[index] + count;
    return true;
}

/* Of those that the space lists, whatever the constraint; 0: no cluster has one. */
static uint64_t
smallest_size(const sl_search_request *request)
{
    sl_search_request open = *request;
    uint64_t smallest = 0;

    open.constraints.max_accelerators = 0;
    for (uint32_t i = 0; i < request->question_count; i++) {
        const sl_cluster *cluster = request->questions[i].cluster;
        const uint64_t all = sl_cluster_accelerators(cluster);
        uint64_t size = sl_search_first_size(cluster);
        while (size <= all && !is_size(&open, cluster, size))
            size = sl_search_next_size(cluster, size);
        if (size <= all && (smallest == 0 || size < smallest))
            smallest = size;
    }
    return smallest;
}

static sl_code
check_sizes(const sl_search *search, sl_errors *err)
{
    const sl_search_request *request = search->request;
    const sl_constraints *by = &request->constraints;
    const uint32_t found = search->first_size[request->question_count];
    const sl_cluster *first = request->questions[0].cluster;
    const uint64_t all = sl_cluster_accelerators(first);
    sl_code code = SL_OK;

    if (found > 0)
        return SL_OK;
    const uint64_t smallest = by->max_accelerators > 0 ? smallest_size(request) : 0;
    if (smallest > 0) {
        code = sl_fail(err, SL_E_RANGE, "empty_space", "/constraints/max_accelerators",
                       "must be at least %llu, the smallest size of the space, got %llu",
                       (unsigned long long)smallest, (unsigned long long)by->max_accelerators);
        sl_hint(err, "%llu", (unsigned long long)smallest);
        return code;
    }
    code = sl_fail(err, SL_E_RANGE, "empty_space",
                   request->space.nodes.count > 0 ? "/space/nodes" : "/space/accelerators",
                   "no cluster has any of these sizes: the first has %llu accelerators, %u in each "
                   "node",
                   (unsigned long long)all, first->accelerators_per_node);
    sl_hint(err, "1 to %u nodes", first->nodes);
    return code;
}

/* What no plan could have, whatever the rest. */
static sl_code
check_values(const sl_space *space, sl_errors *err)
{
    static const struct {
        sl_dimension dimension;
        uint64_t least, most;
    } ranges[] = {
        {SL_DIMENSION_TENSOR, 1, 1u << 20},
        {SL_DIMENSION_SEQUENCE, 0, 1},
        {SL_DIMENSION_CONTEXT, 1, 1u << 20},
        {SL_DIMENSION_CONTEXT_KIND, 0, SL_CONTEXT_COUNT - 1},
        {SL_DIMENSION_EXPERT, 1, 1u << 20},
        {SL_DIMENSION_EXPERT_TENSOR, 0, 1u << 20},
        {SL_DIMENSION_MICRO_BATCH, 1, 1u << 30},
        {SL_DIMENSION_GLOBAL_BATCH, 1, 1u << 30},
        {SL_DIMENSION_ACCELERATORS, 1, UINT32_MAX},
        {SL_DIMENSION_PIPELINE, 1, SL_PIPELINE_MAX},
        {SL_DIMENSION_VIRTUAL_PIPELINE, 1, 1u << 16},
        {SL_DIMENSION_SCHEDULE, 0, SL_SCHEDULE_COUNT - 1},
        {SL_DIMENSION_LAYOUT, 0, SL_SEARCH_LAYOUT_COUNT - 1},
        {SL_DIMENSION_DATA, 1, UINT32_MAX},
        {SL_DIMENSION_ZERO_STAGE, 0, 3},
        {SL_DIMENSION_SHARD_GROUP, 0, UINT32_MAX},
        {SL_DIMENSION_RECOMPUTE, 0, SL_RECOMPUTE_WORDS - 1},
        {SL_DIMENSION_RECOMPUTE_LAYERS, 0, 1u << 16},
        {SL_DIMENSION_OFFLOAD, 0, 7},
    };
    sl_code first = SL_OK;

    for (uint32_t r = 0; r < sizeof ranges / sizeof ranges[0]; r++) {
        const sl_values *values = &space->of[ranges[r].dimension];
        for (uint32_t i = 0; i < values->count; i++) {
            if (values->list[i] >= ranges[r].least && values->list[i] <= ranges[r].most)
                continue;
            first = sl_fail(
                err, SL_E_RANGE, "out_of_range", "/space", "%s must be from %llu to %llu, got %llu",
                dimension_names[ranges[r].dimension], (unsigned long long)ranges[r].least,
                (unsigned long long)ranges[r].most, (unsigned long long)values->list[i]);
        }
    }
    return first;
}

/* What is minimised must be known. */
static sl_code
check_objective(const sl_search_request *request, sl_errors *err)
{
    const sl_constraints *by = &request->constraints;
    const bool costs = request->objective == SL_OBJECTIVE_COST || by->budget > 0.0;
    const bool lasts = costs || request->objective == SL_OBJECTIVE_TIME_TO_TRAIN ||
                       request->objective == SL_OBJECTIVE_ENERGY || by->deadline_s > 0.0;
    sl_code code = SL_OK;

    if (lasts && request->questions[0].workload.tokens == 0) {
        code = sl_fail(err, SL_E_RANGE, "needs_tokens", "/workload/tokens",
                       "%s is that of a whole training: say of how many tokens",
                       by->deadline_s > 0.0 ? "a deadline"
                       : by->budget > 0.0   ? "a budget"
                                            : objective_names[request->objective]);
    }
    for (uint32_t i = 0; costs && i < request->question_count; i++) {
        const sl_cluster *cluster = request->questions[i].cluster;
        if (cluster->price_per_node_hour > 0.0)
            continue;
        code =
            sl_fail(err, SL_E_RANGE, "needs_price", "/cluster/price_per_node_hour",
                    "cost needs the price of a node, which %s has none of",
                    cluster->node_type[0] != '\0' ? cluster->node_type : cluster->accelerator.id);
    }
    return code;
}

/* Release, attention and dropout where they were left open: those of a plan that only replicates.
 * It is refused by what refuses every plan. */
static sl_code
settle_facts(sl_search *search, uint32_t index, sl_errors *err)
{
    const sl_question *question = &search->request->questions[index];
    const sl_values *stages = &search->space.of[SL_DIMENSION_ZERO_STAGE];
    sl_question asked = *question;
    sl_cluster cluster;

    sl_search_shrink(question->cluster, search->sizes[index][0], &cluster);
    asked.cluster = &cluster;
    asked.plan.tensor = asked.plan.pipeline = asked.plan.virtual_pipeline = 1;
    asked.plan.context = asked.plan.expert = 1;
    asked.plan.expert_tensor = asked.plan.shard_group = asked.plan.layout_chunks = 0;
    asked.plan.sequence = false;
    asked.plan.schedule = SL_SCHEDULE_1F1B;
    asked.plan.data = (uint32_t)sl_cluster_accelerators(&cluster);
    asked.plan.zero_stage = (uint32_t)stages->list[stages->count - 1];
    asked.workload.micro_batch = 1;
    asked.workload.global_batch = asked.plan.data;
    asked.workload.recompute = SL_RECOMPUTE_NONE;
    asked.workload.recompute_method = SL_RECOMPUTE_EACH;
    asked.unknown &= (uint32_t)(SL_UNKNOWN_SOFTWARE | SL_UNKNOWN_ATTENTION | SL_UNKNOWN_DROPOUT);
    if (!sl_evaluate_plausible(&asked, &search->facts[index], err))
        return err->count > 0 ? err->list[0].code
                              : sl_fail(err, SL_E_RANGE, "no_valid_combination", "",
                                        "no release known here runs this; name one");
    return SL_OK;
}

/* About the golden ratio of them, so that strides fill the space evenly; prime to their number. */
static uint32_t
stride_of(uint32_t units)
{
    uint32_t stride = (uint32_t)(0.618 * units);

    if (stride == 0)
        return 1;
    while (sl_common_divisor(units, stride) != 1)
        stride++;
    return stride;
}

static sl_code
count_units(sl_search *search, sl_errors *err)
{
    uint64_t units = 1;

    for (uint32_t d = 0; d < SL_DIMENSION_ACCELERATORS; d++)
        units *= search->space.of[d].count;
    search->per_size = (uint32_t)units;
    units *= search->first_size[search->request->question_count];
    if (units > SL_SEARCH_UNITS_MAX ||
        search->per_size != units / search->first_size[search->request->question_count])
        return sl_fail(
            err, SL_E_RANGE, "too_large", "/space",
            "has %llu combinations of degrees, sizes and batches, of which at most %d are "
            "searched: restrict some",
            (unsigned long long)units, SL_SEARCH_UNITS_MAX);
    search->unit_count = (uint32_t)units;
    search->stride = stride_of(search->unit_count);
    return SL_OK;
}

sl_code
sl_search_prepare(const sl_search_request *request, void *space, const sl_search **out,
                  sl_errors *err)
{
    sl_search *search = space;
    sl_code code = check_values(&request->space, err);

    assert(request->question_count >= 1 && request->question_count <= SL_SEARCH_CLUSTERS_MAX);
    assert(request->limit >= 1 && request->limit <= SL_SEARCH_BEST_MAX);
    if (check_objective(request, err) != SL_OK || code != SL_OK)
        return SL_E_RANGE;
    search->request = request;
    search->space = request->space;
    search->tensor_listed = request->space.of[SL_DIMENSION_TENSOR].count > 0;
    sl_search_open(request, &search->space);
    search->first_size[0] = 0;
    for (uint32_t i = 0; i < request->question_count; i++)
        if (!open_sizes(search, i))
            return sl_fail(err, SL_E_RANGE, "too_large", "/space/nodes",
                           "a cluster has more than %d sizes: list those to be searched",
                           SL_SEARCH_SIZES_MAX);
    code = check_sizes(search, err);
    if (code != SL_OK)
        return code;
    for (uint32_t i = 0; i < request->question_count; i++) {
        if (search->first_size[i + 1] == search->first_size[i])
            continue;
        code = settle_facts(search, i, err);
        if (code != SL_OK)
            return code;
    }
    code = count_units(search, err);
    if (code == SL_OK)
        code = sl_search_check_reach(search, err);
    if (code == SL_OK)
        *out = search;
    return code;
}

uint32_t
sl_search_unit_count(const sl_search *search)
{
    return search->unit_count;
}

const sl_space *
sl_search_space(const sl_search *search)
{
    return &search->space;
}

uint32_t
sl_search_sizes(const sl_search *search, uint32_t index, const uint32_t **sizes)
{
    assert(index < search->request->question_count);
    *sizes = search->sizes[index];
    return search->first_size[index + 1] - search->first_size[index];
}

const sl_software *
sl_search_software(const sl_search *search, uint32_t cluster)
{
    assert(cluster < search->request->question_count);
    return search->facts[cluster].software;
}

sl_search_place
sl_search_place_of(const sl_search *search, uint32_t unit)
{
    assert(unit < search->unit_count);

    const uint32_t number = (uint32_t)((uint64_t)unit * search->stride % search->unit_count);
    const uint32_t size = number / search->per_size;
    uint32_t rest = number % search->per_size;
    sl_search_place place = {.number = number};

    while (size >= search->first_size[place.cluster + 1])
        place.cluster++;
    place.value[SL_DIMENSION_ACCELERATORS] =
        search->sizes[place.cluster][size - search->first_size[place.cluster]];
    for (uint32_t d = 0; d < SL_DIMENSION_ACCELERATORS; d++) {
        const sl_values *values = &search->space.of[d];
        place.value[d] = values->list[rest % values->count];
        rest /= values->count;
    }
    return place;
}

void
sl_search_shrink(const sl_cluster *whole, uint32_t accelerators, sl_cluster *out)
{
    const uint32_t node = whole->accelerators_per_node;

    *out = *whole;
    if (whole->pool_count > 0)
        return;
    if (accelerators >= node) {
        out->nodes = accelerators / node;
        return;
    }
    const double share = (double)accelerators / node;
    out->nodes = 1;
    out->accelerators_per_node = accelerators;
    out->nics_per_node =
        whole->nics_per_node == 0 ? 0 : 1 + (whole->nics_per_node - 1) * accelerators / node;
    out->host_memory_bytes = (uint64_t)((double)whole->host_memory_bytes * share);
}
