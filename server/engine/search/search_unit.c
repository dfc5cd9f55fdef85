/* One unit of a search: all plans that share sizes and batch, and prices but for their ends,
 * recomputation and hooks, gone through in order. */
#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "engine/answer/evaluate.h"
#include "engine/check/check.h"
#include "engine/check/check_schedule.h"
#include "engine/links/collective.h"
#include "engine/placement/balance.h"
#include "engine/placement/states.h"
#include "engine/schedule/schedule.h"
#include "engine/search/search_work.h"

size_t
sl_search_scratch_bytes(void)
{
    return sizeof(sl_search_work);
}

static const sl_values *
values_of(const sl_search_work *u, sl_dimension dimension)
{
    return &u->search->space.of[dimension];
}

static uint64_t
value_of(const sl_search_work *u, sl_dimension dimension)
{
    return u->point.value[dimension];
}

static void
refuse(sl_search_work *u, const char *rule, const char *pointer, uint64_t count)
{
    u->out->refused += count;
    sl_search_refuse(rule, pointer, count, 0.0, NULL, u->out);
}

/* The first rule that the check named. */
static void
refuse_as_checked(sl_search_work *u, uint64_t count)
{
    refuse(u, u->refused.list[0].rule, u->refused.list[0].pointer, count);
}

/* Values that say the same twice, or nothing: one rank has nothing to split. */
static bool
is_repeated(const sl_search_work *u)
{
    const sl_values *sequence = values_of(u, SL_DIMENSION_SEQUENCE);
    const sl_values *kinds = values_of(u, SL_DIMENSION_CONTEXT_KIND);
    const sl_values *cuts = values_of(u, SL_DIMENSION_EXPERT_TENSOR);
    const uint64_t tensor = value_of(u, SL_DIMENSION_TENSOR);
    const uint64_t cut = value_of(u, SL_DIMENSION_EXPERT_TENSOR);

    return (tensor == 1 && value_of(u, SL_DIMENSION_SEQUENCE) != sequence->list[0]) ||
           (value_of(u, SL_DIMENSION_CONTEXT) == 1 &&
            value_of(u, SL_DIMENSION_CONTEXT_KIND) != kinds->list[0]) ||
           (cut == tensor && cuts->list[0] == 0);
}

/* Rules of the unit as a whole. */
static bool
is_possible(sl_search_work *u)
{
    const uint64_t tensor = value_of(u, SL_DIMENSION_TENSOR);

    if (is_repeated(u))
        return false;
    if (value_of(u, SL_DIMENSION_SEQUENCE) != 0 && tensor > 1 &&
        !u->search->facts[u->place.cluster].software->splits_sequence)
        return false;
    if (tensor > sl_collective_island(&u->cluster) && !u->search->tensor_listed &&
        !u->search->space.tensor_anywhere) {
        refuse(u, "beyond_domain", "/parallelism/tensor", 1);
        return false;
    }
    return true;
}

/* What all plans of a unit share. */
static void
apply_unit(const sl_search *search, uint32_t cluster, const uint64_t value[SL_DIMENSION_COUNT],
           sl_workload *workload, sl_plan *plan)
{
    const sl_question *from = &search->request->questions[cluster];
    const sl_combination *facts = &search->facts[cluster];

    *workload = from->workload;
    workload->attention = facts->workload.attention;
    workload->dropout = facts->workload.dropout;
    sl_evaluate_release(facts->software, workload);
    workload->global_batch = value[SL_DIMENSION_GLOBAL_BATCH];
    workload->micro_batch = value[SL_DIMENSION_MICRO_BATCH];
    *plan = from->plan;
    plan->tensor = (uint32_t)value[SL_DIMENSION_TENSOR];
    plan->sequence = plan->tensor > 1 && value[SL_DIMENSION_SEQUENCE] != 0;
    plan->context = (uint32_t)value[SL_DIMENSION_CONTEXT];
    plan->context_kind = (sl_context_kind)value[SL_DIMENSION_CONTEXT_KIND];
    plan->expert = (uint32_t)value[SL_DIMENSION_EXPERT];
    plan->expert_tensor = (uint32_t)value[SL_DIMENSION_EXPERT_TENSOR];
}

/* How the model is cut into stages and chunks. */
static void
apply_stages(const sl_search *search, uint32_t cluster, const uint64_t value[SL_DIMENSION_COUNT],
             sl_plan *plan)
{
    const sl_plan *from = &search->request->questions[cluster].plan;

    plan->pipeline = (uint32_t)value[SL_DIMENSION_PIPELINE];
    plan->virtual_pipeline = (uint32_t)value[SL_DIMENSION_VIRTUAL_PIPELINE];
    plan->schedule = (sl_schedule)value[SL_DIMENSION_SCHEDULE];
    plan->data = (uint32_t)value[SL_DIMENSION_DATA];
    /* A layout is of one number of chunks. */
    plan->layout_chunks = from->layout_chunks == sl_schedule_chunks(plan) ? from->layout_chunks : 0;
    if (plan->layout_chunks > 0)
        memcpy(plan->layout, from->layout, sizeof plan->layout);
}

static void
apply_recompute(const uint64_t value[SL_DIMENSION_COUNT], sl_workload *workload)
{
    const uint64_t layers = value[SL_DIMENSION_RECOMPUTE_LAYERS];

    workload->recompute = (sl_recompute)value[SL_DIMENSION_RECOMPUTE];
    workload->recompute_method = layers > 0 ? SL_RECOMPUTE_BLOCK : SL_RECOMPUTE_EACH;
    workload->recompute_layers = (uint32_t)layers;
}

/* How states are sharded and what is offloaded. */
static void
apply_states(const uint64_t value[SL_DIMENSION_COUNT], sl_workload *workload, sl_plan *plan)
{
    const uint64_t group = value[SL_DIMENSION_SHARD_GROUP];
    const uint64_t offload = value[SL_DIMENSION_OFFLOAD];

    plan->zero_stage = (uint32_t)value[SL_DIMENSION_ZERO_STAGE];
    plan->shard_group = group == plan->data ? 0 : (uint32_t)group;
    workload->offload.optimizer = (offload & SL_SEARCH_OFFLOAD_OPTIMIZER) != 0;
    workload->offload.parameters = (offload & SL_SEARCH_OFFLOAD_PARAMETERS) != 0;
    workload->offload.activations = (offload & SL_SEARCH_OFFLOAD_ACTIVATIONS) != 0;
}

void
sl_search_apply(const sl_search *search, uint32_t cluster, const uint64_t value[SL_DIMENSION_COUNT],
                sl_workload *workload, sl_plan *plan)
{
    apply_unit(search, cluster, value, workload, plan);
    apply_stages(search, cluster, value, plan);
    apply_recompute(value, workload);
    apply_states(value, workload, plan);
}

/* Deals the blocks of a plan that is cut by the rule out evenly in time. Often they come to lie as
 * when last dealt, for another recomputation. */
static sl_dealing
deal(sl_search_work *u)
{
    sl_memory_case c = sl_evaluate_bare_case(&u->question, &u->at, &sl_search_prices(u)->priced);
    sl_plan balanced = u->at.plan;

    c.holdings = &sl_search_hold(u)->holdings;
    if (!sl_balance_plan(&c, &balanced))
        return SL_DEALT_ALIKE;
    u->dealt.held =
        u->dealt.held && memcmp(balanced.layout, u->balanced.layout,
                                balanced.layout_chunks * sizeof balanced.layout[0]) == 0;
    u->balanced = balanced;
    return SL_DEALT_ANEW;
}

/* Once for all plans that differ in states alone. False where blocks lie evenly already: that is no
 * plan more. */
static bool
is_balanced_anew(sl_search_work *u)
{
    if (u->dealing == SL_NOT_DEALT)
        u->dealing = deal(u);
    if (u->dealing == SL_DEALT_ANEW) {
        u->cut = &u->dealt;
        u->at.plan.layout_chunks = u->balanced.layout_chunks;
        memcpy(u->at.plan.layout, u->balanced.layout, sizeof u->balanced.layout);
    }
    return u->dealing == SL_DEALT_ANEW;
}

static bool
is_legal(sl_search_work *u)
{
    u->question.workload = u->at.workload;
    u->question.plan = u->at.plan;
    sl_errors_begin(&u->refused, true);
    const sl_code code = u->is_passed ? sl_question_check_cut(&u->question, &u->refused)
                                      : sl_question_check(&u->question, &u->refused);
    u->is_passed = u->is_passed || code == SL_OK;
    return code == SL_OK;
}

/* To rebuild as many blocks of each chunk as there are is to rebuild all. */
static bool
rebuilds_some(sl_search_work *u)
{
    const uint64_t layers = value_of(u, SL_DIMENSION_RECOMPUTE_LAYERS);

    return layers == 0 || layers < sl_search_hold(u)->largest;
}

/* The plan of the point's values, where the rules allow it: by the framework's layout, then
 * balanced, which takes prices that a plan must be legal to have. */
static void
check_plan(sl_search_work *u)
{
    const sl_values *layouts = values_of(u, SL_DIMENSION_LAYOUT);
    const uint32_t given = u->at.plan.layout_chunks;

    if (!is_legal(u)) {
        refuse_as_checked(u, layouts->count);
        return;
    }
    for (uint32_t i = 0; i < layouts->count; i++) {
        u->cut = &u->ruled;
        const bool dealt = layouts->list[i] == SL_SEARCH_LAYOUT_BALANCED && is_balanced_anew(u);
        /* What is balanced by the rule is one plan, not two. */
        if ((i > 0 && !dealt) || !rebuilds_some(u))
            continue;
        u->point.value[SL_DIMENSION_LAYOUT] = layouts->list[i];
        u->point.ordinal = (uint64_t)u->place.number << 32 | u->seen++;
        if (!dealt || is_legal(u))
            sl_search_try(u);
        else
            refuse_as_checked(u, 1);
    }
    u->at.plan.layout_chunks = given;
    if (given > 0)
        memcpy(u->at.plan.layout, u->search->request->questions[u->place.cluster].plan.layout,
               sizeof u->at.plan.layout);
}

/* How states are sharded and what is offloaded, over a plan whose stages stand. */
static void
try_states(sl_search_work *u)
{
    const sl_values *stages = values_of(u, SL_DIMENSION_ZERO_STAGE);
    const sl_values *groups = values_of(u, SL_DIMENSION_SHARD_GROUP);
    const sl_values *offloads = values_of(u, SL_DIMENSION_OFFLOAD);
    const sl_plan *plan = &u->at.plan;
    const bool alone = plan->data * plan->context == 1;
    bool tried[2] = {false, false};

    for (uint32_t z = 0; z < stages->count; z++) {
        u->at.plan.zero_stage = (uint32_t)stages->list[z];
        /* To one rank all stages are the same but for the optimizer that steps without any. */
        const bool own = sl_states_own_bf16(&u->at.workload, plan);
        if (alone && tried[own])
            continue;
        tried[own] = true;
        for (uint32_t g = 0; g < groups->count; g++) {
            const uint64_t group = groups->list[g] == plan->data ? 0 : groups->list[g];
            /* All of them is said by 0, which comes first where both are there. */
            if (groups->list[g] > plan->data || (group != groups->list[g] && groups->list[0] == 0))
                continue;
            for (uint32_t o = 0; o < offloads->count; o++) {
                u->point.value[SL_DIMENSION_ZERO_STAGE] = stages->list[z];
                u->point.value[SL_DIMENSION_SHARD_GROUP] = group;
                u->point.value[SL_DIMENSION_OFFLOAD] = offloads->list[o];
                apply_states(u->point.value, &u->at.workload, &u->at.plan);
                check_plan(u);
            }
        }
    }
}

/* Plans of one number of stages and chunks, and what comes below them. */
static uint64_t
plans_below(const sl_search_work *u)
{
    return (uint64_t)u->mode_count * values_of(u, SL_DIMENSION_ZERO_STAGE)->count *
           values_of(u, SL_DIMENSION_SHARD_GROUP)->count *
           values_of(u, SL_DIMENSION_OFFLOAD)->count * values_of(u, SL_DIMENSION_LAYOUT)->count;
}

/* The rules of the stages alone, which hold for all plans below. */
static bool
stages_possible(sl_search_work *u)
{
    sl_errors_begin(&u->refused, true);
    if (sl_check_schedule(&u->at.workload, &u->at.plan, &u->refused) == SL_OK &&
        sl_check_microbatches(&u->at.workload, &u->at.plan, &u->refused) == SL_OK) {
        if (sl_schedule_split(u->question.model, &u->at.plan) != SL_SPLIT_NONE)
            return true;
        refuse(u, "too_few_layers", "/parallelism/pipeline", plans_below(u));
        return false;
    }
    refuse_as_checked(u, plans_below(u));
    return false;
}

/* Plans of one number of stages and chunks, and of one recomputation. */
static void
try_recompute(sl_search_work *u, sl_recompute mode)
{
    const sl_values *layers = values_of(u, SL_DIMENSION_RECOMPUTE_LAYERS);

    u->point.value[SL_DIMENSION_RECOMPUTE] = mode;
    u->dealing = SL_NOT_DEALT;
    for (uint32_t i = 0; i < (mode == SL_RECOMPUTE_FULL ? layers->count : 1); i++) {
        u->point.value[SL_DIMENSION_RECOMPUTE_LAYERS] = layers->list[i];
        apply_recompute(u->point.value, &u->at.workload);
        if (!u->deals_once)
            u->dealing = SL_NOT_DEALT;
        try_states(u);
    }
}

/* Plans of one number of stages and chunks: one recomputation after the other, as they are cut
 * alike. */
static void
try_stages(sl_search_work *u)
{
    apply_stages(u->search, u->place.cluster, u->point.value, &u->at.plan);
    if (!stages_possible(u))
        return;
    u->ruled.held = u->dealt.held = false;
    for (uint32_t z = 0; z < sizeof u->floors / sizeof u->floors[0]; z++)
        u->floors[z].known = false;
    /* Which stages are on a pool depends on how many there are. */
    if (u->cluster.pool_count > 0)
        sl_search_forget_prices(u);
    for (uint32_t i = 0; i < u->mode_count; i++)
        try_recompute(u, u->modes[i]);
}

/* The ranks that are left for replicas, if that many can share the batch. */
static bool
derive_data(sl_search_work *u)
{
    const uint64_t rest = value_of(u, SL_DIMENSION_TENSOR) * value_of(u, SL_DIMENSION_CONTEXT) *
                          value_of(u, SL_DIMENSION_PIPELINE);
    const uint64_t all = value_of(u, SL_DIMENSION_ACCELERATORS);
    const uint64_t batch = value_of(u, SL_DIMENSION_GLOBAL_BATCH);
    const sl_values *wanted = values_of(u, SL_DIMENSION_DATA);
    const uint64_t below = plans_below(u) * values_of(u, SL_DIMENSION_VIRTUAL_PIPELINE)->count *
                           values_of(u, SL_DIMENSION_SCHEDULE)->count;

    assert(rest > 0);
    if (all % rest != 0) {
        refuse(u, "world_size_mismatch", "/parallelism", below);
        return false;
    }
    const uint64_t data = all / rest;
    if (batch % data != 0) {
        refuse(u, "not_divisible", "/parallelism/data", below);
        return false;
    }
    if (batch / data % value_of(u, SL_DIMENSION_MICRO_BATCH) != 0) {
        refuse(u, "not_divisible", "/workload/micro_batch_size", below);
        return false;
    }
    u->point.value[SL_DIMENSION_DATA] = data;
    for (uint32_t i = 0; i < wanted->count; i++)
        if (wanted->list[i] == data)
            return true;
    return wanted->count == 0;
}

static void
try_pipelines(sl_search_work *u)
{
    const sl_values *stages = values_of(u, SL_DIMENSION_PIPELINE);
    const sl_values *chunks = values_of(u, SL_DIMENSION_VIRTUAL_PIPELINE);
    const sl_values *schedules = values_of(u, SL_DIMENSION_SCHEDULE);

    for (uint32_t p = 0; p < stages->count; p++) {
        u->point.value[SL_DIMENSION_PIPELINE] = stages->list[p];
        if (!derive_data(u))
            continue;
        for (uint32_t v = 0; v < chunks->count; v++)
            for (uint32_t s = 0; s < schedules->count; s++) {
                /* One stage has one chunk and no schedule to choose. */
                if (stages->list[p] == 1 && (v > 0 || s > 0))
                    continue;
                u->point.value[SL_DIMENSION_VIRTUAL_PIPELINE] = chunks->list[v];
                u->point.value[SL_DIMENSION_SCHEDULE] = schedules->list[s];
                try_stages(u);
            }
    }
}

/* The recomputations that are plans of their own. */
static void
list_modes(sl_search_work *u)
{
    const sl_values *modes = values_of(u, SL_DIMENSION_RECOMPUTE);
    const bool counts = values_of(u, SL_DIMENSION_RECOMPUTE_LAYERS)->list[0] > 0;
    sl_workload asked = u->at.workload;

    u->mode_count = 0;
    for (uint32_t i = 0; i < modes->count; i++) {
        asked.recompute = (sl_recompute)modes->list[i];
        /* What rebuilds nothing more is the same plan under another name, and only what is rebuilt
         * as a whole is counted in layers. */
        if ((modes->count == 1 || sl_recompute_matters(&asked)) &&
            (!counts || asked.recompute == SL_RECOMPUTE_FULL))
            u->modes[u->mode_count++] = asked.recompute;
    }
}

void
sl_search_unit(const sl_search *search, uint32_t number, const sl_search_outcome *known,
               void *scratch, sl_search_outcome *part)
{
    sl_search_work *u = scratch;

    u->search = search;
    u->known = known;
    u->out = part;
    u->place = sl_search_place_of(search, number);
    u->seen = 0;
    sl_search_begin(part);
    part->units = 1;
    const sl_question *question = &search->request->questions[u->place.cluster];
    u->question = *question;
    u->question.unknown = 0;
    u->question.cluster = &u->cluster;
    u->question.software = search->facts[u->place.cluster].software;
    u->question.software_count = 1;
    u->at.software = u->question.software;
    u->point = (sl_search_point){.cluster = u->place.cluster};
    memcpy(u->point.value, u->place.value, sizeof u->place.value);
    sl_search_shrink(question->cluster, (uint32_t)value_of(u, SL_DIMENSION_ACCELERATORS),
                     &u->cluster);
    if (!is_possible(u))
        return;
    apply_unit(search, u->place.cluster, u->point.value, &u->at.workload, &u->at.plan);
    list_modes(u);
    sl_search_forget_prices(u);
    u->is_passed = false;
    u->deals_once = sl_schedule_blocks_alike(question->model);
    u->least_lacking = 0.0;
    for (uint32_t i = 0; i < known->reason_count; i++)
        if (strcmp(known->reasons[i].rule, sl_search_lacks_memory) == 0)
            u->least_lacking = known->reasons[i].least;
    try_pipelines(u);
}

void
sl_search_question(const sl_search *search, const sl_search_point *point, sl_cluster *cluster,
                   sl_question *out)
{
    const sl_question *from = &search->request->questions[point->cluster];

    sl_search_shrink(from->cluster, (uint32_t)point->value[SL_DIMENSION_ACCELERATORS], cluster);
    *out = *from;
    out->cluster = cluster;
    out->software = search->facts[point->cluster].software;
    out->software_count = 1;
    out->unknown = 0;
    sl_search_apply(search, point->cluster, point->value, &out->workload, &out->plan);
    if (point->value[SL_DIMENSION_LAYOUT] != SL_SEARCH_LAYOUT_BALANCED)
        return;
    const sl_combination at = sl_evaluate_combination(out->software, &out->workload, &out->plan);
    sl_priced priced;
    sl_holdings holdings;
    sl_evaluate_price(out, &at, SL_CLOCK_HELD, &priced);
    const sl_memory_case c = sl_evaluate_case(out, &at, &priced, &holdings);
    (void)sl_balance_plan(&c, &out->plan);
}
