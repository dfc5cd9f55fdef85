/* Which plans are kept: the best by the objective, and those that none beats in everything. */
#include "engine/search/search_parts.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

static uint64_t
accelerators_of(const sl_search_point *point)
{
    return point->value[SL_DIMENSION_ACCELERATORS];
}

/* Below 0 where a is better, by the objective alone. */
static double
compare_objective(sl_objective objective, const sl_search_point *a, const sl_search_point *b)
{
    switch (objective) {
    case SL_OBJECTIVE_TIME_TO_TRAIN:
        return a->time_to_train_s - b->time_to_train_s;
    case SL_OBJECTIVE_COST:
        return a->cost - b->cost;
    case SL_OBJECTIVE_ACCELERATORS:
        return (double)accelerators_of(a) - (double)accelerators_of(b);
    case SL_OBJECTIVE_ENERGY:
        return a->energy_j - b->energy_j;
    default:
        return b->tokens_per_s - a->tokens_per_s;
    }
}

bool
sl_search_is_better(sl_objective objective, const sl_search_point *a, const sl_search_point *b)
{
    const double first = compare_objective(objective, a, b);

    if (first != 0.0)
        return first < 0.0;
    if (a->tokens_per_s != b->tokens_per_s)
        return a->tokens_per_s > b->tokens_per_s;
    if (accelerators_of(a) != accelerators_of(b))
        return accelerators_of(a) < accelerators_of(b);
    return a->ordinal < b->ordinal;
}

const char *
sl_search_broken(const sl_search_request *request, uint64_t tokens, const sl_search_point *p,
                 double *miss)
{
    const sl_constraints *by = &request->constraints;
    const bool ends = tokens == 0 || p->time_to_train_s > 0.0;
    const struct {
        const char *rule;
        bool broken;
        double miss;
    } rules[] = {
        {"max_step_s", by->max_step_s > 0.0 && p->step_s > by->max_step_s,
         p->step_s - by->max_step_s},
        {"min_tokens_per_s", p->tokens_per_s < by->min_tokens_per_s,
         by->min_tokens_per_s - p->tokens_per_s},
        {"never_ends", !ends, 0.0},
        {"deadline_s", by->deadline_s > 0.0 && p->time_to_train_s > by->deadline_s,
         p->time_to_train_s - by->deadline_s},
        {"budget", by->budget > 0.0 && p->cost > by->budget, p->cost - by->budget},
    };

    for (uint32_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if (!rules[i].broken)
            continue;
        *miss = rules[i].miss;
        return rules[i].rule;
    }
    return NULL;
}

bool
sl_search_dominates(const sl_search_point *a, const sl_search_point *b)
{
    if (a->tokens_per_s < b->tokens_per_s || a->headroom_bytes < b->headroom_bytes ||
        accelerators_of(a) > accelerators_of(b) || a->cost > b->cost)
        return false;
    return a->tokens_per_s > b->tokens_per_s || a->headroom_bytes > b->headroom_bytes ||
           accelerators_of(a) < accelerators_of(b) || a->cost < b->cost || a->ordinal < b->ordinal;
}

bool
sl_search_is_hopeless(const sl_search_request *request, const sl_search_outcome *known,
                      const sl_search_point *bound)
{
    if (known->best_count < request->limit ||
        !sl_search_is_better(request->objective, &known->best[known->best_count - 1], bound))
        return false;
    if (!request->front)
        return true;
    /* By falling rate: behind the first that is slower none is as good. */
    for (uint32_t i = 0; i < known->front_count; i++) {
        if (known->front[i].tokens_per_s < bound->tokens_per_s)
            return false;
        if (sl_search_dominates(&known->front[i], bound))
            return true;
    }
    return false;
}

static void
keep_best(const sl_search_request *request, const sl_search_point *point, sl_search_outcome *out)
{
    uint32_t at = out->best_count;

    while (at > 0 && sl_search_is_better(request->objective, point, &out->best[at - 1]))
        at--;
    if (at == request->limit)
        return;
    const uint32_t after = out->best_count < request->limit ? out->best_count : request->limit - 1;
    memmove(&out->best[at + 1], &out->best[at], (after - at) * sizeof out->best[0]);
    out->best[at] = *point;
    out->best_count = after + 1;
}

static void
keep_front(const sl_search_point *point, sl_search_outcome *out)
{
    uint32_t left = 0;
    uint32_t at = 0;

    for (uint32_t i = 0; i < out->front_count && out->front[i].tokens_per_s >= point->tokens_per_s;
         i++)
        if (sl_search_dominates(&out->front[i], point))
            return;
    for (uint32_t i = 0; i < out->front_count; i++) {
        if (sl_search_dominates(point, &out->front[i]))
            continue;
        if (out->front[i].tokens_per_s > point->tokens_per_s ||
            (out->front[i].tokens_per_s == point->tokens_per_s &&
             out->front[i].ordinal < point->ordinal))
            at = left + 1;
        if (left != i)
            out->front[left] = out->front[i];
        left++;
    }
    if (left == SL_SEARCH_FRONT_MAX) {
        out->front_cut = true;
        if (at == left)
            return;
        left--;
    }
    memmove(&out->front[at + 1], &out->front[at], (left - at) * sizeof out->front[0]);
    out->front[at] = *point;
    out->front_count = left + 1;
}

void
sl_search_keep(const sl_search_request *request, const sl_search_point *point,
               sl_search_outcome *out)
{
    keep_best(request, point, out);
    if (request->front)
        keep_front(point, out);
}

static const char *const others = "other_rules";

/* Most are not, which the first letter tells, and those that are often the same place. */
static bool
is_same_text(const char *a, const char *b)
{
    return a == b || (*a == *b && strcmp(a, b) == 0);
}

void
sl_search_refuse(const char *rule, const char *pointer, uint64_t count, double least,
                 const sl_search_point *nearest, sl_search_outcome *out)
{
    uint32_t i = 0;

    while (i < out->reason_count && (!is_same_text(out->reasons[i].rule, rule) ||
                                     !is_same_text(out->reasons[i].pointer, pointer)))
        i++;
    /* Rules are fewer than places; what found none would be counted together. */
    if (i == SL_SEARCH_REASONS_MAX - 1 && strcmp(rule, others) != 0) {
        sl_search_refuse(others, "", count, least, nearest, out);
        return;
    }
    sl_search_reason *reason = &out->reasons[i];
    if (i == out->reason_count) {
        out->reason_count++;
        *reason = (sl_search_reason){.rule = rule};
        const size_t length = strnlen(pointer, sizeof reason->pointer - 1);
        memcpy(reason->pointer, pointer, length); /* what is behind it is 0 */
    }
    reason->count += count;
    if (nearest == NULL)
        return;
    if (!reason->has_nearest || least < reason->least ||
        (least == reason->least && nearest->ordinal < reason->nearest.ordinal)) {
        reason->has_nearest = true;
        reason->least = least;
        reason->nearest = *nearest;
    }
}

void
sl_search_begin(sl_search_outcome *out)
{
    out->evaluated = out->feasible = out->pruned = out->refused = 0;
    out->units = out->best_count = out->front_count = out->reason_count = 0;
    out->front_cut = false;
}

void
sl_search_merge(const sl_search *search, const sl_search_outcome *part, sl_search_outcome *into)
{
    const sl_search_request *request = search->request;

    into->evaluated += part->evaluated;
    into->feasible += part->feasible;
    into->pruned += part->pruned;
    into->refused += part->refused;
    into->units += part->units;
    into->front_cut = into->front_cut || part->front_cut;
    for (uint32_t i = 0; i < part->best_count; i++)
        keep_best(request, &part->best[i], into);
    for (uint32_t i = 0; i < part->front_count; i++)
        keep_front(&part->front[i], into);
    for (uint32_t i = 0; i < part->reason_count; i++) {
        const sl_search_reason *reason = &part->reasons[i];
        sl_search_refuse(reason->rule, reason->pointer, reason->count, reason->least,
                         reason->has_nearest ? &reason->nearest : NULL, into);
    }
}
