#include "engine/strategy/strategy.h"

#include <assert.h>
#include <stddef.h>

#include "engine/answer/evaluate.h"
#include "engine/links/collective.h"
#include "engine/placement/recompute.h"

enum {
    MICRO_BATCHES = 4,       /* 1 to 8 */
    WHOLE_BATCH_PARTS = 6,   /* of a replica's samples: all to a thirty-second */
    EXPERT_DEGREES = 3,      /* one rank, those of a node, all that are legal */
    LONG_SEQUENCE = 1 << 14, /* from here on sequences are shared, too */
    CHUNKS = 2               /* of a stage, at most */
};

typedef struct trait {
    uint32_t complexity;
    sl_framework framework;
    uint32_t zero_stage;
} trait;

static const trait traits[SL_STRATEGY_COUNT] = {
    [SL_STRATEGY_GIVEN] = {1, SL_FRAMEWORK_MEGATRON, 0},
    [SL_STRATEGY_DP] = {1, SL_FRAMEWORK_DP, 0},
    [SL_STRATEGY_DDP] = {1, SL_FRAMEWORK_DDP, 0},
    [SL_STRATEGY_ZERO_1] = {2, SL_FRAMEWORK_DEEPSPEED, 1},
    [SL_STRATEGY_ZERO_2] = {2, SL_FRAMEWORK_DEEPSPEED, 2},
    [SL_STRATEGY_ZERO_3] = {2, SL_FRAMEWORK_DEEPSPEED, 3},
    [SL_STRATEGY_FSDP_SHARD_GRAD_OP] = {2, SL_FRAMEWORK_FSDP2, 2},
    [SL_STRATEGY_FSDP_FULL_SHARD] = {2, SL_FRAMEWORK_FSDP2, 3},
    [SL_STRATEGY_HSDP] = {3, SL_FRAMEWORK_FSDP2, 3},
    [SL_STRATEGY_HSDP_ZERO_2] = {3, SL_FRAMEWORK_FSDP2, 2},
    [SL_STRATEGY_TENSOR] = {4, SL_FRAMEWORK_MEGATRON, 0},
    [SL_STRATEGY_PIPELINE] = {4, SL_FRAMEWORK_MEGATRON, 0},
    [SL_STRATEGY_LAYER_WISE] = {2, SL_FRAMEWORK_MEGATRON, 0},
    [SL_STRATEGY_LAYER_WISE_DDP] = {3, SL_FRAMEWORK_MEGATRON, 0},
    [SL_STRATEGY_CPU_LAYERS] = {2, SL_FRAMEWORK_MEGATRON, 0},
    [SL_STRATEGY_OFFLOAD] = {3, SL_FRAMEWORK_DEEPSPEED, 2},
    [SL_STRATEGY_MIXED] = {5, SL_FRAMEWORK_MEGATRON, 1},
};

/* Plans that are tried, and the best of them. */
typedef struct search {
    sl_question base;  /* of which plan, micro-batch and recomputation are tried */
    uint32_t open;     /* of the latter two, those the request leaves open */
    bool settled;      /* the next is: with the first legal plan */
    sl_combination at; /* its facts hold for all plans of the strategy */
    sl_estimate *scratch;
    bool found;
    int sureness;
    double step_s;
    double lacking_bytes;
    uint64_t total_bytes;
    sl_question best;
    sl_errors refused; /* why the first plan that is not legal is not */
} search;

uint32_t
sl_strategy_complexity(sl_strategy strategy)
{
    return traits[strategy].complexity;
}

static uint64_t
world_of(const search *s)
{
    return sl_cluster_accelerators(s->base.cluster);
}

/* FSDP in the generation the request has, if it has one; blocks on the host of a single device need
 * no pipeline. */
static sl_framework
framework_of(const sl_comparison_ask *ask, sl_strategy strategy)
{
    const sl_cluster *cluster = ask->question->cluster;
    const bool alone = sl_cluster_accelerators(cluster) == 1;
    const sl_framework own = traits[strategy].framework;

    if (own == SL_FRAMEWORK_FSDP2 && ask->question->workload.framework == SL_FRAMEWORK_FSDP1)
        return SL_FRAMEWORK_FSDP1;
    return strategy == SL_STRATEGY_CPU_LAYERS && alone ? SL_FRAMEWORK_DDP : own;
}

/* Words of the request that are its framework's own hold where a strategy has that framework. */
static void
keep_words(const sl_workload *asked, sl_workload *base)
{
    const bool megatron = base->framework == SL_FRAMEWORK_MEGATRON;

    if (megatron)
        base->mlp_tiles = 0; /* all others have them */
    if (!megatron && base->offload.optimizer_fraction > 0.0)
        base->offload.optimizer_fraction = 1.0; /* a part is Megatron's alone */
    if (base->framework == asked->framework)
        return;
    base->fp8.attention = base->fp8.activation_inputs = false;
    base->fp8.primary_weights = base->fp8.transposed_anew = false;
    base->reduce = SL_WIRE_DEFAULT;
    /* 8 bits may be the workload's word, which every framework is asked for. */
    if (asked->gather != SL_WIRE_FP8)
        base->gather = SL_WIRE_DEFAULT;
}

static void
set_base(const sl_comparison_ask *ask, sl_strategy strategy, search *s)
{
    const uint32_t facts = SL_UNKNOWN_ATTENTION | SL_UNKNOWN_DROPOUT;
    const sl_question *asked = ask->question;
    const sl_framework framework = framework_of(ask, strategy);
    const bool own = framework == asked->workload.framework;
    const sl_releases *releases = &ask->releases[framework];

    s->base = *asked;
    s->base.software = releases->list;
    s->base.software_count = releases->count;
    s->base.unknown = asked->unknown & facts;
    if (releases->count > 1)
        s->base.unknown |= SL_UNKNOWN_SOFTWARE;
    s->open = asked->unknown & (SL_UNKNOWN_MICRO_BATCH | SL_UNKNOWN_RECOMPUTE);
    s->base.workload.framework = framework;
    keep_words(&asked->workload, &s->base.workload);
    if (!sl_recompute_is_of(asked->workload.recompute, framework))
        s->open |= SL_UNKNOWN_RECOMPUTE;
    s->base.plan = (sl_plan){
        .tensor = 1,
        .pipeline = 1,
        .virtual_pipeline = 1,
        .context = 1,
        .expert = 1,
        .expert_tensor = framework == SL_FRAMEWORK_MEGATRON ? 0 : 1,
        .data = (uint32_t)world_of(s),
        /* What Megatron's host steps on is of its distributed optimizer. */
        .zero_stage = framework == SL_FRAMEWORK_MEGATRON && asked->workload.offload.optimizer
                          ? 1
                          : traits[strategy].zero_stage,
        .overlap_experts = asked->plan.overlap_experts,
        /* A replica's stages are neighbours, dev0 = local_rank * k, where DDP is wrapped around them. */
        .order = strategy == SL_STRATEGY_LAYER_WISE_DDP ? SL_ORDER_PIPELINE_DATA
                 : own                                  ? asked->plan.order
                                                        : SL_ORDER_DATA_PIPELINE,
    };
}

/* How surely a plan fits that does with the facts it is tried with: by all that are plausible. It
 * overwrites the scratch. */
static int
sureness_of(search *s, const sl_question *tried)
{
    const int one = sl_sureness(sl_memory_has_room(&s->scratch->memory), s->scratch->fits_certain);

    return one < 2 || tried->unknown == 0 ? one : sl_evaluate_sureness(tried, s->scratch);
}

/* Among plans that are as surely to fit the faster, among those that do not fit the one that lacks
 * least, of several the smaller. It overwrites the scratch. */
static void
keep_if_better(search *s, const sl_question *tried)
{
    const sl_memory *memory = &s->scratch->memory;
    const double lacking = sl_memory_lacking_bytes(memory);
    const uint64_t total = memory->ranks[memory->binding].device_total_bytes;
    const bool nearer =
        lacking != s->lacking_bytes ? lacking < s->lacking_bytes : total < s->total_bytes;
    const double step_s = s->scratch->time.step_s;
    const bool fits = sl_memory_has_room(memory);

    /* What surely fits and is as fast as this stays, however surely this does. */
    if (s->found && s->sureness == 2 && (!fits || s->step_s <= step_s))
        return;

    const int sureness = sureness_of(s, tried);
    if (s->found && (s->sureness != sureness ? s->sureness > sureness
                     : sureness > 0          ? s->step_s <= step_s
                                             : !nearer))
        return;
    s->found = true;
    s->sureness = sureness;
    s->step_s = step_s;
    s->lacking_bytes = lacking;
    s->total_bytes = total;
    s->best = *tried;
}

/* The plan with a value for every fact; false when it is not legal. */
static bool
combine(search *s, const sl_question *tried, sl_combination *out)
{
    sl_question known = *tried;
    sl_errors found = {.terse = true};

    if (!s->settled) {
        s->settled = sl_evaluate_plausible(tried, &s->at, &s->refused);
        *out = s->at;
        return s->settled;
    }
    known.workload.attention = s->at.workload.attention;
    known.workload.dropout = s->at.workload.dropout;
    known.unknown = 0;
    *out = sl_evaluate_combination(s->at.software, &known.workload, &known.plan);
    return sl_question_check(&known, &found) == SL_OK;
}

/* Every recomputation that is open; whether one of them fits. */
static bool
try_recompute(search *s, sl_question *tried)
{
    const bool open = (s->open & SL_UNKNOWN_RECOMPUTE) != 0;
    sl_priced priced;
    bool fresh = true;
    bool fits = false;

    for (uint32_t mode = 0; mode < (open ? SL_RECOMPUTE_WORDS : 1); mode++) {
        sl_combination c;
        if (open)
            tried->workload.recompute = (sl_recompute)mode;
        if (!combine(s, tried, &c) || (open && !sl_recompute_matters(&c.workload)))
            continue;
        if (fresh)
            sl_evaluate_price(tried, &c, SL_CLOCK_HELD, &priced);
        else
            sl_evaluate_reprice(tried, c.workload.recompute, &priced, &priced);
        fresh = false;
        if (!sl_evaluate(tried, &c, &priced, s->scratch))
            continue;
        fits = fits || sl_memory_has_room(&s->scratch->memory);
        keep_if_better(s, tried);
    }
    return fits;
}

/* Plain layers run the batch of a replica at once, or in parts of it; sequences are few. */
static uint32_t
micro_batches(const search *s, const sl_plan *plan, uint64_t out[WHOLE_BATCH_PARTS])
{
    const uint64_t batch = s->base.workload.global_batch;
    const uint64_t each = batch % plan->data == 0 ? batch / plan->data : 1;
    uint32_t count = 0;

    if ((s->open & SL_UNKNOWN_MICRO_BATCH) == 0) {
        out[count++] = s->base.workload.micro_batch;
    } else if (sl_model_is_plain(s->base.model)) {
        for (uint64_t parts = 1; count < WHOLE_BATCH_PARTS && each % parts == 0; parts *= 2)
            out[count++] = each / parts;
    } else {
        for (uint32_t i = 0; i < MICRO_BATCHES && each % (1u << i) == 0; i++)
            out[count++] = 1u << i;
    }
    return count;
}

/* Whether it fits with some micro-batch and recomputation. */
static bool
try_plan(search *s, const sl_plan *plan)
{
    uint64_t sizes[WHOLE_BATCH_PARTS];
    const uint32_t count = micro_batches(s, plan, sizes);
    sl_question tried = s->base;
    bool fits = false;

    tried.plan = *plan;
    for (uint32_t i = 0; i < count; i++) {
        tried.workload.micro_batch = sizes[i];
        fits = try_recompute(s, &tried) || fits;
    }
    return fits;
}

static sl_code
refuse_alone(const char *what, sl_errors *err)
{
    return sl_fail(err, SL_E_RANGE, "one_device", "/cluster", "%s needs at least two accelerators",
                   what);
}

/* The largest cut that is legal, its norms split along the sequence where that is. */
static sl_code
try_tensor(search *s, sl_errors *err)
{
    const uint64_t world = world_of(s);
    const uint64_t domain = sl_collective_domain(s->base.cluster);

    if (domain < 2 || world < 2)
        return refuse_alone("a cut of tensors inside a scale-up domain", err);
    for (uint32_t t = (uint32_t)(domain < world ? domain : world); t > 1 && !s->found; t--) {
        sl_plan plan = s->base.plan;
        if (world % t != 0)
            continue;
        plan.tensor = t;
        plan.data = (uint32_t)(world / t);
        plan.sequence = !sl_model_is_plain(s->base.model);
        (void)try_plan(s, &plan);
        plan.sequence = false;
        if (!s->found)
            (void)try_plan(s, &plan);
    }
    return SL_OK;
}

/* Over the fewest stages that fit, all devices at most. */
static sl_code
try_stages(search *s, sl_schedule schedule, bool replicated, sl_errors *err)
{
    const uint64_t world = world_of(s);
    const uint64_t last = world < SL_PIPELINE_MAX ? world : SL_PIPELINE_MAX;
    sl_plan plan = s->base.plan;
    bool divides = false;

    if (world < 2)
        return refuse_alone("a model in several stages", err);
    plan.schedule = schedule;
    for (uint32_t p = 2; p <= last; p++) {
        if (world % p != 0 || (replicated && p == world))
            continue;
        divides = true;
        plan.pipeline = p;
        plan.data = (uint32_t)(world / p);
        if (try_plan(s, &plan))
            break;
    }
    return divides ? SL_OK
                   : sl_fail(err, SL_E_RANGE, "one_replica", "/cluster",
                             "%llu accelerators do not make replicas of several devices each",
                             (unsigned long long)world);
}

/* One replica of whole layers over all devices. */
static sl_plan
stacked(const search *s)
{
    sl_plan plan = s->base.plan;

    plan.pipeline = plan.data;
    plan.data = 1;
    if (plan.pipeline > 1)
        plan.schedule = SL_SCHEDULE_NAIVE;
    return plan;
}

static sl_code
try_layer_wise(search *s, sl_errors *err)
{
    const sl_plan plan = stacked(s);

    if (plan.pipeline == 1)
        return refuse_alone("a model in several stages", err);
    (void)try_plan(s, &plan);
    return SL_OK;
}

/* The fewest that fit in the smallest steps, between none and all, by halves; then every step with
 * them. */
static void
try_cpu_layers(search *s)
{
    const uint32_t blocks = s->base.model->block_count;
    search least = *s;
    sl_plan plan = stacked(s);
    uint64_t sizes[WHOLE_BATCH_PARTS];
    uint32_t few = 0, many = blocks;

    if ((s->open & SL_UNKNOWN_RECOMPUTE) != 0)
        least.base.workload.recompute = SL_RECOMPUTE_FULL;
    if ((s->open & SL_UNKNOWN_MICRO_BATCH) != 0) {
        const uint32_t count = micro_batches(s, &plan, sizes);
        least.base.workload.micro_batch = sizes[0] < sizes[count - 1] ? sizes[0] : sizes[count - 1];
    }
    least.open = 0;
    plan.host_run_count = 1;
    plan.host_runs[0].last = blocks - 1;
    while (many - few > 1) {
        const uint32_t middle = few + (many - few) / 2;
        plan.host_runs[0].first = blocks - middle;
        if (try_plan(&least, &plan))
            many = middle;
        else
            few = middle;
    }
    plan.host_runs[0].first = blocks - many;
    (void)try_plan(s, &plan);
}

static void
try_offload(search *s)
{
    sl_plan plan = s->base.plan;
    sl_offload *offload = &s->base.workload.offload;

    offload->optimizer = true;
    if (try_plan(s, &plan))
        return;
    plan.zero_stage = 3;
    if (try_plan(s, &plan))
        return;
    offload->parameters = true;
    (void)try_plan(s, &plan);
}

/* Ranks that share the experts: one, as many as are nearby, all that deal them out evenly. */
static uint32_t
expert_degrees(const search *s, const sl_plan *plan, uint32_t out[EXPERT_DEGREES])
{
    const uint32_t experts = s->base.model->experts;
    const uint64_t ranks = sl_plan_stage_ranks(plan);
    const uint64_t domain = sl_collective_domain(s->base.cluster);
    uint32_t near = 1, all = 1;
    uint32_t count = 0;

    for (uint32_t e = 2; e <= experts; e++) {
        if (experts % e != 0 || ranks % e != 0)
            continue;
        all = e;
        if (e <= domain)
            near = e;
    }
    out[count++] = 1;
    if (near > 1)
        out[count++] = near;
    if (all > near)
        out[count++] = all;
    return count;
}

static void
try_experts(search *s, sl_plan plan)
{
    uint32_t degrees[EXPERT_DEGREES];
    const uint32_t count = expert_degrees(s, &plan, degrees);

    for (uint32_t i = 0; i < count; i++) {
        plan.expert = degrees[i];
        plan.expert_tensor = degrees[i] > 1 ? 1 : s->base.plan.expert_tensor;
        (void)try_plan(s, &plan);
    }
}

/* All stages of one cut inside a domain. */
static void
try_mixed_stages(search *s, sl_plan plan)
{
    const uint64_t left = world_of(s) / plan.tensor / plan.context;
    const uint64_t last = left < SL_PIPELINE_MAX ? left : SL_PIPELINE_MAX;

    for (uint32_t p = 1; p <= last; p++) {
        if (left % p != 0)
            continue;
        plan.pipeline = p;
        plan.data = (uint32_t)(left / p);
        for (uint32_t v = 1; v <= (p > 1 ? CHUNKS : 1); v++) {
            plan.virtual_pipeline = v;
            plan.schedule = v > 1 ? SL_SCHEDULE_INTERLEAVED_1F1B : SL_SCHEDULE_1F1B;
            if (v == 1 || s->base.model->block_count % (p * v) == 0)
                try_experts(s, plan);
        }
    }
}

static void
try_mixed(search *s)
{
    const uint64_t world = world_of(s);
    const uint64_t domain = sl_collective_domain(s->base.cluster);
    const uint64_t positions = s->base.workload.sequence_length;
    const uint64_t shared = positions >= LONG_SEQUENCE ? domain : 1;

    for (uint32_t t = 1; t <= domain; t *= 2)
        for (uint32_t c = 1; c <= shared && (uint64_t)t * c <= domain; c *= 2) {
            sl_plan plan = s->base.plan;
            if (world % ((uint64_t)t * c) != 0)
                continue;
            plan.tensor = t;
            plan.context = c;
            plan.sequence = t > 1 && positions % t == 0;
            try_mixed_stages(s, plan);
        }
}

/* Of a node with all its devices; two levels need two nodes. */
static sl_code
try_hybrid(search *s, sl_errors *err)
{
    const sl_cluster *cluster = s->base.cluster;
    sl_plan plan = s->base.plan;

    if (cluster->nodes == 1) {
        const sl_code code = sl_fail(err, SL_E_RANGE, "one_node", "/cluster/nodes",
                                     "a copy of the states for each node needs more than one");
        sl_hint(err, "fsdp_full_shard or fsdp_shard_grad_op on one node");
        return code;
    }
    plan.shard_group = cluster->accelerators_per_node;
    (void)try_plan(s, &plan);
    return SL_OK;
}

static sl_code
try_all(search *s, sl_strategy strategy, sl_errors *err)
{
    /* Replicas that divide something, or a mixture, of one: there the plain plan has another
     * name. */
    const bool divides = strategy == SL_STRATEGY_MIXED ||
                         (s->base.plan.zero_stage > 0 && strategy != SL_STRATEGY_OFFLOAD);

    if (divides && world_of(s) == 1)
        return refuse_alone("what is divided over replicas", err);
    switch (strategy) {
    case SL_STRATEGY_HSDP:
    case SL_STRATEGY_HSDP_ZERO_2:
        return try_hybrid(s, err);
    case SL_STRATEGY_TENSOR:
        return try_tensor(s, err);
    case SL_STRATEGY_PIPELINE:
        return try_stages(s, SL_SCHEDULE_1F1B, false, err);
    case SL_STRATEGY_LAYER_WISE:
        return try_layer_wise(s, err);
    case SL_STRATEGY_LAYER_WISE_DDP:
        return try_stages(s, SL_SCHEDULE_NAIVE, true, err);
    case SL_STRATEGY_CPU_LAYERS:
        try_cpu_layers(s);
        break;
    case SL_STRATEGY_OFFLOAD:
        try_offload(s);
        break;
    case SL_STRATEGY_MIXED:
        try_mixed(s);
        break;
    default:
        (void)try_plan(s, &s->base.plan);
    }
    return SL_OK;
}

/* Why no plan is legal: what the first one breaks. */
static sl_code
refuse(const search *s, sl_errors *err)
{
    const sl_error *fault = &s->refused.list[0];

    if (s->refused.count == 0)
        return sl_fail(err, SL_E_RANGE, "no_valid_combination", "",
                       "no plan of this strategy is legal with what the request says");

    const sl_code code =
        sl_fail(err, fault->code, fault->rule, fault->pointer, "%s", fault->message);
    sl_hint(err, "%s", fault->hint);
    return code;
}

sl_code
sl_strategy_derive(const sl_comparison_ask *ask, sl_strategy strategy, sl_estimate *scratch,
                   sl_question *out, sl_errors *err)
{
    search s = {.scratch = scratch};

    assert(strategy != SL_STRATEGY_GIVEN && strategy < SL_STRATEGY_COUNT);
    set_base(ask, strategy, &s);
    if (ask->predicts && s.base.workload.framework != SL_FRAMEWORK_MEGATRON)
        return sl_fail(err, SL_E_UNSUPPORTED, "not_modelled", "/workload/mtp",
                       "multi-token prediction is modelled for megatron");

    const sl_code code = try_all(&s, strategy, err);
    if (code != SL_OK)
        return code;
    if (!s.found)
        return refuse(&s, err);
    *out = s.best;
    return SL_OK;
}
