/* The winner of a search with one dimension changed, up and down. */
#include "engine/placement/states.h"
#include "engine/schedule/schedule.h"
#include "engine/search/search_review_parts.h"

/* The neighbour in `list`, ascending, on that side of `from`; else twice or half of it, of which a
 * rule may say why it is none. False where there is no such number. */
static bool
step_from(uint64_t from, bool up, const uint64_t *list, uint32_t count, uint64_t *out)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t value = list[up ? i : count - 1 - i];
        if (up ? value <= from : value >= from)
            continue;
        *out = value;
        return true;
    }
    *out = up ? 2 * from : from / 2;
    return *out > 0;
}

static bool
step_choice(const sl_question *question, sl_choice choice, uint64_t from, bool up, uint64_t *out)
{
    uint64_t list[SL_CHOICES_MAX];
    const uint32_t count = sl_question_choices(question, choice, list);

    return step_from(from, up, list, count, out);
}

/* One of a few, by number. */
static bool
step_word(uint64_t from, bool up, uint64_t count, uint64_t *out)
{
    *out = up ? from + 1 : from - 1;
    return up ? from + 1 < count : from > 0;
}

static bool
step_expert(const sl_model *model, uint64_t from, bool up, uint64_t *out)
{
    uint64_t divisors[SL_CHOICES_MAX];
    uint32_t count = 0;

    for (uint64_t e = 1; e <= model->experts && count < SL_CHOICES_MAX; e++)
        if (model->experts % e == 0)
            divisors[count++] = e;
    return model->experts > 0 && step_from(from, up, divisors, count, out);
}

/* Whole nodes, then halves of one; no more than there are. */
static bool
step_size(const sl_search *search, const sl_search_point *point, bool up, uint64_t *out)
{
    const sl_cluster *whole = search->request->questions[point->cluster].cluster;
    const uint64_t node = whole->accelerators_per_node;
    const uint64_t from = point->value[SL_DIMENSION_ACCELERATORS];

    if (whole->pool_count > 0)
        return false;
    *out = up ? 2 * from : from / 2;
    if (!up && *out > node)
        *out -= *out % node;
    return *out > 0 && *out <= sl_cluster_accelerators(whole);
}

static bool
step_offload(uint64_t from, bool up, uint64_t *out)
{
    for (uint64_t bit = 1; bit <= SL_SEARCH_OFFLOAD_ACTIVATIONS; bit <<= 1)
        if (((from & bit) == 0) == up) {
            *out = from ^ bit;
            return true;
        }
    return false;
}

/* The value next to the winner's; false where the dimension has none, or follows from the
 * others. */
static bool
step_of(const sl_search *search, const sl_search_point *point, const sl_question *q,
        sl_dimension dimension, bool up, uint64_t *out)
{
    static const sl_choice choices[SL_DIMENSION_COUNT] = {
        [SL_DIMENSION_TENSOR] = SL_CHOICE_TENSOR,
        [SL_DIMENSION_CONTEXT] = SL_CHOICE_CONTEXT,
        [SL_DIMENSION_PIPELINE] = SL_CHOICE_PIPELINE,
        [SL_DIMENSION_VIRTUAL_PIPELINE] = SL_CHOICE_VIRTUAL_PIPELINE,
        [SL_DIMENSION_MICRO_BATCH] = SL_CHOICE_MICRO_BATCH,
        [SL_DIMENSION_ZERO_STAGE] = SL_CHOICE_ZERO_STAGE,
    };
    const uint64_t from = point->value[dimension];
    const bool fsdp = sl_framework_is_fsdp(q->workload.framework);
    const bool staged = q->plan.pipeline > 1;

    switch (dimension) {
    case SL_DIMENSION_SEQUENCE:
        return q->plan.tensor > 1 && step_word(from, up, 2, out);
    case SL_DIMENSION_CONTEXT_KIND:
        return q->plan.context > 1 && step_word(from, up, SL_CONTEXT_COUNT, out);
    case SL_DIMENSION_EXPERT:
        return step_expert(q->model, from, up, out);
    case SL_DIMENSION_EXPERT_TENSOR:
        return q->model->experts > 0 && q->plan.tensor > 1 &&
               step_from(sl_plan_expert_tensor(&q->plan), up, NULL, 0, out);
    case SL_DIMENSION_GLOBAL_BATCH:
        return step_from(from, up, NULL, 0, out);
    case SL_DIMENSION_ACCELERATORS:
        return step_size(search, point, up, out);
    case SL_DIMENSION_SCHEDULE:
        return staged && step_word(from, up, SL_SCHEDULE_COUNT, out);
    case SL_DIMENSION_LAYOUT:
        return staged && step_word(from, up, SL_SEARCH_LAYOUT_COUNT, out);
    case SL_DIMENSION_ZERO_STAGE:
        return step_word(from, up, 4, out);
    case SL_DIMENSION_SHARD_GROUP:
        if (from == 0)
            *out = q->cluster->accelerators_per_node;
        return fsdp && (from == 0 ? !up : step_from(from, up, NULL, 0, out));
    case SL_DIMENSION_RECOMPUTE:
        return step_word(from, up, fsdp ? SL_RECOMPUTE_WORDS : SL_RECOMPUTE_FULL + 1, out);
    case SL_DIMENSION_RECOMPUTE_LAYERS:
        *out = q->model->block_count / ((uint64_t)sl_schedule_chunks(&q->plan) * 2);
        return q->workload.recompute == SL_RECOMPUTE_FULL &&
               (from == 0 ? !up && *out > 0 : step_from(from, up, NULL, 0, out));
    case SL_DIMENSION_OFFLOAD:
        return step_offload(from, up, out);
    case SL_DIMENSION_VIRTUAL_PIPELINE:
        return staged && step_choice(q, choices[dimension], from, up, out);
    case SL_DIMENSION_DATA:
    case SL_DIMENSION_COUNT:
        return false;
    default:
        return step_choice(q, choices[dimension], from, up, out);
    }
}

/* Chunks ask for their schedule, and one stage has neither. */
static void
follow(sl_search_point *point)
{
    uint64_t *value = point->value;
    const uint64_t rest =
        value[SL_DIMENSION_TENSOR] * value[SL_DIMENSION_CONTEXT] * value[SL_DIMENSION_PIPELINE];
    const uint64_t data = value[SL_DIMENSION_ACCELERATORS] / rest;

    value[SL_DIMENSION_DATA] = data > 0 ? data : 1; /* what does not divide is refused for it */
    if (value[SL_DIMENSION_PIPELINE] == 1)
        value[SL_DIMENSION_VIRTUAL_PIPELINE] = 1;
    if (value[SL_DIMENSION_VIRTUAL_PIPELINE] == 1 &&
        value[SL_DIMENSION_SCHEDULE] == SL_SCHEDULE_INTERLEAVED_1F1B)
        value[SL_DIMENSION_SCHEDULE] = SL_SCHEDULE_1F1B;
    else if (value[SL_DIMENSION_VIRTUAL_PIPELINE] > 1 &&
             value[SL_DIMENSION_SCHEDULE] == SL_SCHEDULE_1F1B)
        value[SL_DIMENSION_SCHEDULE] = SL_SCHEDULE_INTERLEAVED_1F1B;
}

/* Whether the rules allow the plan of a point; a balanced layout is judged as the rule's, which it
 * is made from. */
static bool
is_legal(const sl_search_review *review, const sl_search_point *point, sl_review_room *r,
         sl_error *refused)
{
    const bool balanced = point->value[SL_DIMENSION_LAYOUT] == SL_SEARCH_LAYOUT_BALANCED;
    sl_search_point ruled = *point;
    sl_errors err = {0};

    ruled.value[SL_DIMENSION_LAYOUT] = SL_SEARCH_LAYOUT_RULE;
    sl_search_question(review->search, &ruled, &r->cluster, &r->question);
    if (sl_question_check(&r->question, &err) == SL_OK && balanced)
        sl_search_question(review->search, point, &r->cluster, &r->question);
    if (err.count == 0 && sl_question_check(&r->question, &err) == SL_OK)
        return true;
    *refused = err.list[0];
    return false;
}

static void
try_neighbour(const sl_search_review *review, sl_search_point point, sl_review_room *r,
              sl_review_neighbour *out)
{
    const sl_search_request *request = review->search->request;
    double miss = 0.0;

    point.value[out->dimension] = out->value;
    if (out->dimension != SL_DIMENSION_SCHEDULE)
        follow(&point);
    out->tried = true;
    out->point = point;
    out->legal = is_legal(review, &point, r, &out->refused);
    if (!out->legal)
        return;
    out->legal = sl_review_evaluate(request, &r->question, r, &out->point);
    if (!out->legal) {
        out->refused = (sl_error){.code = SL_E_RANGE, .rule = "out_of_range"};
        return;
    }
    out->fits = r->estimate.fits;
    out->fits_certain = r->estimate.fits_certain;
    out->breaks = sl_review_broken(request, r->question.workload.tokens, &out->point, &miss);
}

void
sl_review_neighbours(sl_search_review *review, sl_dimension dimension, sl_review_room *r)
{
    const sl_search_point *winner = &review->outcome->best[0];

    for (uint32_t side = 0; side < 2; side++) {
        sl_review_neighbour *out = &review->neighbours[2 * dimension + side];
        out->dimension = dimension;
        sl_search_question(review->search, winner, &r->cluster, &r->question);
        if (step_of(review->search, winner, &r->question, dimension, side == 1, &out->value))
            try_neighbour(review, *winner, r, out);
    }
}
