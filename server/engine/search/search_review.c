#include "engine/search/search_review.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "engine/answer/operating.h"
#include "engine/search/search_review_parts.h"
#include "shardline/timeline.h"

size_t
sl_review_scratch_bytes(void)
{
    return sizeof(sl_review_room);
}

uint64_t
sl_review_value(const sl_question *question, sl_dimension dimension)
{
    const sl_workload *w = &question->workload;
    const sl_plan *plan = &question->plan;
    const uint64_t values[SL_DIMENSION_COUNT] = {
        [SL_DIMENSION_TENSOR] = plan->tensor,
        [SL_DIMENSION_SEQUENCE] = plan->sequence,
        [SL_DIMENSION_CONTEXT] = plan->context,
        [SL_DIMENSION_CONTEXT_KIND] = plan->context_kind,
        [SL_DIMENSION_EXPERT] = plan->expert,
        [SL_DIMENSION_EXPERT_TENSOR] = plan->expert_tensor,
        [SL_DIMENSION_MICRO_BATCH] = w->micro_batch,
        [SL_DIMENSION_GLOBAL_BATCH] = w->global_batch,
        [SL_DIMENSION_ACCELERATORS] = sl_cluster_accelerators(question->cluster),
        [SL_DIMENSION_PIPELINE] = plan->pipeline,
        [SL_DIMENSION_VIRTUAL_PIPELINE] = plan->virtual_pipeline,
        [SL_DIMENSION_SCHEDULE] = plan->schedule,
        [SL_DIMENSION_LAYOUT] =
            plan->layout_chunks > 0 ? SL_SEARCH_LAYOUT_BALANCED : SL_SEARCH_LAYOUT_RULE,
        [SL_DIMENSION_DATA] = plan->data,
        [SL_DIMENSION_ZERO_STAGE] = plan->zero_stage,
        [SL_DIMENSION_SHARD_GROUP] = plan->shard_group,
        [SL_DIMENSION_RECOMPUTE] = w->recompute,
        [SL_DIMENSION_RECOMPUTE_LAYERS] =
            w->recompute_method == SL_RECOMPUTE_BLOCK ? w->recompute_layers : 0,
        [SL_DIMENSION_OFFLOAD] =
            (w->offload.optimizer ? (uint64_t)SL_SEARCH_OFFLOAD_OPTIMIZER : 0) |
            (w->offload.parameters ? (uint64_t)SL_SEARCH_OFFLOAD_PARAMETERS : 0) |
            (w->offload.activations ? (uint64_t)SL_SEARCH_OFFLOAD_ACTIVATIONS : 0),
    };

    assert(dimension < SL_DIMENSION_COUNT);
    return values[dimension];
}

/* Figures of the estimate, of a legal plan; of a batch beyond the critical one as many tokens count
 * as that has, as in the search. */
static void
point_of(const sl_search_request *request, const sl_estimate *e, uint64_t accelerators,
         sl_search_point *out)
{
    const uint64_t critical = request->constraints.critical_batch;
    const uint64_t batch = e->workload.global_batch;
    const double counted =
        critical > 0 && critical < batch ? (double)critical / (double)batch : 1.0;
    const sl_rank_memory *rank = &e->memory.ranks[e->memory.binding];

    out->step_s = e->time.step_s;
    out->tokens_per_s = e->throughput.tokens_per_s * counted;
    out->time_to_train_s = e->throughput.time_to_train_s / counted;
    out->cost = e->throughput.cost / counted;
    out->energy_j = e->throughput.energy_j / counted;
    out->peak_reserved_bytes = rank->peak_reserved_bytes;
    out->device_total_bytes = rank->device_total_bytes;
    out->headroom_bytes = e->memory.headroom_bytes;
    out->host_lacking_bytes = e->memory.host_lacking_bytes;
    out->host_room_bytes = e->memory.host_room_bytes;
    out->value[SL_DIMENSION_ACCELERATORS] = accelerators;
}

bool
sl_review_evaluate(const sl_search_request *request, const sl_question *question, sl_review_room *r,
                   sl_search_point *point)
{
    const sl_combination at =
        sl_evaluate_combination(question->software, &question->workload, &question->plan);

    sl_evaluate_price(question, &at, SL_CLOCK_HELD, &r->priced);
    if (!sl_evaluate_explained(question, &at, &r->priced, &r->estimate))
        return false;
    const sl_memory_case c = sl_evaluate_case(question, &at, &r->priced, &r->holdings);
    sl_operating_set(&c, &r->estimate);
    point_of(request, &r->estimate, sl_cluster_accelerators(question->cluster), point);
    return true;
}

static void
side_of(const sl_estimate *e, sl_review_side *out)
{
    const sl_rank_memory *rank = &e->memory.ranks[e->memory.binding];

    memset(out->memory_bytes, 0, sizeof out->memory_bytes);
    for (uint32_t i = 0; i < SL_TIME_TERMS; i++)
        out->time_s[i] = e->time.terms[i].value;
    for (uint32_t i = 0; i < rank->term_count; i++)
        out->memory_bytes[rank->terms[i].id] += rank->terms[i].value;
}

const char *
sl_review_broken(const sl_search_request *request, uint64_t tokens, const sl_search_point *point,
                 double *miss)
{
    const double usable = (double)point->headroom_bytes + (double)point->device_total_bytes;
    const double asked = sl_search_asked_bytes(request, usable);
    const uint64_t most = request->constraints.max_accelerators;
    const uint64_t size = point->value[SL_DIMENSION_ACCELERATORS];

    if (most > 0 && size > most) {
        *miss = (double)(size - most);
        return "max_accelerators";
    }
    if (point->headroom_bytes >= 0 && (double)point->headroom_bytes < asked) {
        *miss = asked - (double)point->headroom_bytes;
        return "headroom_ratio";
    }
    if (point->headroom_bytes >= 0 && point->host_lacking_bytes > 0) {
        *miss = (double)point->host_lacking_bytes;
        return sl_search_lacks_host_memory;
    }
    return sl_search_broken(request, tokens, point, miss);
}

/* The same plan when its step takes that long. */
static sl_search_point
slowed(const sl_search_point *point, double step_s)
{
    const double ratio = step_s / point->step_s;
    sl_search_point out = *point;

    out.step_s = step_s;
    out.tokens_per_s /= ratio;
    out.time_to_train_s *= ratio;
    out.cost *= ratio;
    out.energy_j *= ratio;
    return out;
}

/* The best plan of the search, evaluated and simulated as far as there is room. */
static void
review_plan(sl_search_review *review, uint32_t index, sl_review_room *r)
{
    sl_review_plan *out = &review->plans[index];
    const sl_search_point *point = &review->outcome->best[index];
    sl_errors err = {0};
    size_t bytes = 0;

    sl_search_question(review->search, point, &r->cluster, &r->question);
    const sl_code code = sl_estimate_answer(&r->question, &r->spare, &r->estimate, &err);
    assert(code == SL_OK); /* the search evaluated it */
    (void)code;
    *out = (sl_review_plan){.point = index,
                            .step_low_s = r->estimate.step_low_s,
                            .step_high_s = r->estimate.step_high_s,
                            .reserved_low_bytes = r->estimate.reserved_low_bytes,
                            .reserved_high_bytes = r->estimate.reserved_high_bytes,
                            .fits_certain = r->estimate.fits_certain};
    out->spread_ratio = sl_evaluate_spread_ratio(r->question.model, &r->estimate.time);
    const sl_combination at =
        sl_evaluate_combination(r->question.software, &r->question.workload, &r->question.plan);
    if (index < SL_REVIEW_RIVALS) {
        out->fast_step_s = sl_evaluate_step_at(&r->question, &at, false, &r->spare);
        out->slow_step_s = sl_evaluate_step_at(&r->question, &at, true, &r->spare);
    }
    if (!review->simulate)
        return;
    const sl_code sized = sl_timeline_size(&r->question, &r->estimate, &bytes, &err);
    if (sized == SL_E_UNSUPPORTED) {
        out->simulated = SL_REVIEW_REFUSED;
        memcpy(out->refused, err.list[0].message, sizeof out->refused);
        return;
    }
    out->simulated = SL_REVIEW_TOO_LARGE;
    if (sized != SL_OK || bytes > SL_REVIEW_TIMELINE_BYTES)
        return;
    sl_timeline timeline;
    sl_timeline_simulate(&r->question, &r->estimate, NULL, NULL, r->timeline, &timeline);
    out->simulated = SL_REVIEW_SIMULATED;
    out->simulated_step_s = timeline.step_s;
    const sl_search_point simulated = slowed(point, timeline.step_s);
    out->breaks = sl_search_broken(review->search->request, r->question.workload.tokens, &simulated,
                                   &out->miss);
}

static bool
is_among(const sl_values *values, uint64_t value)
{
    for (uint32_t i = 0; i < values->count; i++)
        if (values->list[i] == value)
            return true;
    return values->count == 0; /* what the others leave */
}

static bool
is_size(const sl_search *search, uint64_t size)
{
    for (uint32_t c = 0; c < search->request->question_count; c++) {
        const uint32_t *sizes = NULL;
        const uint32_t count = sl_search_sizes(search, c, &sizes);
        for (uint32_t i = 0; i < count; i++)
            if (sizes[i] == size)
                return true;
    }
    return false;
}

/* Dimensions in which the space does not have the plan, but for those that say nothing of it. */
static uint32_t
outside_of(const sl_search *search, const sl_question *q)
{
    const sl_plan *plan = &q->plan;
    const bool silent[SL_DIMENSION_COUNT] = {
        [SL_DIMENSION_SEQUENCE] = plan->tensor == 1,
        [SL_DIMENSION_CONTEXT_KIND] = plan->context == 1,
        [SL_DIMENSION_EXPERT_TENSOR] =
            q->model->experts == 0 || sl_plan_expert_tensor(plan) == plan->tensor,
        [SL_DIMENSION_SCHEDULE] = plan->pipeline == 1,
        [SL_DIMENSION_VIRTUAL_PIPELINE] = plan->pipeline == 1,
        [SL_DIMENSION_SHARD_GROUP] = plan->shard_group == plan->data,
        [SL_DIMENSION_ACCELERATORS] = is_size(search, sl_cluster_accelerators(q->cluster)),
    };
    uint32_t outside = 0;

    for (uint32_t d = 0; d < SL_DIMENSION_COUNT; d++) {
        const uint64_t value = sl_review_value(q, (sl_dimension)d);
        const bool is_sized = d == SL_DIMENSION_ACCELERATORS;
        if (!silent[d] && (is_sized || !is_among(&search->space.of[d], value)))
            outside |= 1u << d;
    }
    return outside;
}

/* What the plan leaves open is as in the search, and as in the best where that is legal: only what
 * it says is to make a difference. */
static void
pin_open_fields(const sl_search_review *review, sl_question *q)
{
    const sl_combination *facts = &review->search->facts[review->asked_cluster];
    const uint32_t settled =
        (uint32_t)(SL_UNKNOWN_SOFTWARE | SL_UNKNOWN_ATTENTION | SL_UNKNOWN_DROPOUT);
    sl_errors ignored = {.terse = true};

    if (facts->software == NULL || facts->workload.framework != q->workload.framework)
        return;
    if ((q->unknown & (uint32_t)SL_UNKNOWN_SOFTWARE) != 0) {
        q->software = facts->software;
        q->software_count = 1;
    }
    if ((q->unknown & (uint32_t)SL_UNKNOWN_ATTENTION) != 0)
        q->workload.attention = facts->workload.attention;
    if ((q->unknown & (uint32_t)SL_UNKNOWN_DROPOUT) != 0)
        q->workload.dropout = facts->workload.dropout;
    q->unknown &= ~settled;
    if (!review->why.has_best)
        return;
    const uint64_t *value = review->outcome->best[0].value;
    sl_question pinned = *q;
    pinned.unknown = 0;
    if ((q->unknown & (uint32_t)SL_UNKNOWN_MICRO_BATCH) != 0)
        pinned.workload.micro_batch = value[SL_DIMENSION_MICRO_BATCH];
    if ((q->unknown & (uint32_t)SL_UNKNOWN_RECOMPUTE) != 0)
        pinned.workload.recompute = (sl_recompute)value[SL_DIMENSION_RECOMPUTE];
    if ((q->unknown & (uint32_t)SL_UNKNOWN_SEQUENCE) != 0)
        pinned.plan.sequence = value[SL_DIMENSION_SEQUENCE] != 0;
    if ((q->unknown & (uint32_t)SL_UNKNOWN_ZERO_STAGE) != 0)
        pinned.plan.zero_stage = (uint32_t)value[SL_DIMENSION_ZERO_STAGE];
    if (sl_question_check(&pinned, &ignored) == SL_OK)
        *q = pinned;
}

static void
review_why(sl_search_review *review, sl_review_room *r)
{
    const sl_search_request *request = review->search->request;
    sl_review_why *why = &review->why;

    if (why->has_best) {
        why->best.point = review->outcome->best[0];
        sl_search_question(review->search, &why->best.point, &r->cluster, &r->question);
        const bool possible = sl_review_evaluate(request, &r->question, r, &why->best.point);
        assert(possible);
        (void)possible;
        side_of(&r->estimate, &why->best);
    }
    if (review->asked == NULL)
        return;
    r->question = *review->asked;
    pin_open_fields(review, &r->question);
    why->legal = sl_estimate_answer(&r->question, &r->spare, &r->estimate, &why->refused) == SL_OK;
    if (!why->legal)
        return;
    r->question.workload = r->estimate.workload; /* open fields are settled */
    r->question.plan = r->estimate.plan;
    side_of(&r->estimate, &why->own);
    for (uint32_t d = 0; d < SL_DIMENSION_COUNT; d++)
        why->own.point.value[d] = sl_review_value(&r->question, (sl_dimension)d);
    point_of(request, &r->estimate, sl_cluster_accelerators(r->question.cluster), &why->own.point);
    why->fits = r->estimate.fits;
    why->breaks =
        sl_review_broken(request, r->question.workload.tokens, &why->own.point, &why->miss);
    why->outside = outside_of(review->search, &r->question);
}

void
sl_review_begin(const sl_search *search, const sl_search_outcome *outcome,
                const sl_review_wish *wish, sl_search_review *out)
{
    const bool found = outcome->best_count > 0;

    memset(out, 0, sizeof *out);
    out->search = search;
    out->outcome = outcome;
    out->simulate = wish->simulate;
    out->wondered = wish->why;
    out->asked_cluster = wish->cluster;
    out->plan_count = outcome->best_count;
    out->unit_count = out->plan_count;
    if (wish->neighbours && found) {
        out->neighbour_count = SL_REVIEW_NEIGHBOURS_MAX;
        out->unit_count += SL_DIMENSION_COUNT;
    }
    if (!wish->why)
        return;
    out->unit_count++;
    out->why.has_best = found;
    if (wish->refused->count > 0)
        out->why.refused = *wish->refused;
    else
        out->asked = wish->asked;
}

void
sl_review_unit(sl_search_review *review, uint32_t unit, void *scratch)
{
    assert(unit < review->unit_count);

    if (unit < review->plan_count)
        review_plan(review, unit, scratch);
    else if (unit - review->plan_count < review->neighbour_count / 2)
        sl_review_neighbours(review, (sl_dimension)(unit - review->plan_count), scratch);
    else
        review_why(review, scratch);
}

static sl_search_point
simulated_point(const sl_search_review *review, const sl_review_plan *plan)
{
    const sl_search_point *point = &review->outcome->best[plan->point];

    return plan->simulated == SL_REVIEW_SIMULATED ? slowed(point, plan->simulated_step_s) : *point;
}

static void
rank_plans(sl_search_review *review)
{
    const sl_objective objective = review->search->request->objective;

    for (uint32_t i = 1; i < review->plan_count; i++) {
        const sl_review_plan plan = review->plans[i];
        const sl_search_point point = simulated_point(review, &plan);
        uint32_t at = i;
        for (; at > 0; at--) {
            const sl_search_point before = simulated_point(review, &review->plans[at - 1]);
            if (!sl_search_is_better(objective, &point, &before))
                break;
            review->plans[at] = review->plans[at - 1];
        }
        review->plans[at] = plan;
    }
}

/* Before plans are ranked: they stand in the order of the outcome. */
static void
set_robustness(sl_search_review *review)
{
    const sl_objective objective = review->search->request->objective;
    const sl_search_point *best = review->outcome->best;
    sl_review_robustness *out = &review->robustness;

    if (review->plan_count == 0)
        return;
    out->compared = review->plan_count < SL_REVIEW_RIVALS ? review->plan_count : SL_REVIEW_RIVALS;
    for (uint32_t i = 1; i < out->compared; i++) {
        const sl_search_point fast = slowed(&best[i], review->plans[i].fast_step_s);
        const sl_search_point slow = slowed(&best[i], review->plans[i].slow_step_s);
        const sl_search_point fastest =
            slowed(&best[out->fast_winner], review->plans[out->fast_winner].fast_step_s);
        const sl_search_point slowest =
            slowed(&best[out->slow_winner], review->plans[out->slow_winner].slow_step_s);
        if (sl_search_is_better(objective, &fast, &fastest))
            out->fast_winner = i;
        if (sl_search_is_better(objective, &slow, &slowest))
            out->slow_winner = i;
    }
    out->spread_ratio = review->plans[0].spread_ratio;
    const sl_search_point worst = slowed(&best[0], best[0].step_s * (1.0 + out->spread_ratio));
    for (uint32_t i = 0; i < review->plan_count; i++)
        out->within_spread += i == 0 || sl_search_is_better(objective, &best[i], &worst);
}

void
sl_review_finish(sl_search_review *review)
{
    uint32_t tried = 0;

    set_robustness(review);
    rank_plans(review);
    for (uint32_t i = 0; i < review->neighbour_count; i++)
        if (review->neighbours[i].tried)
            review->neighbours[tried++] = review->neighbours[i];
    review->neighbour_count = tried;
}
