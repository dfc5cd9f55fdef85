#include "engine/search/limits.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "engine/answer/evaluate.h"
#include "engine/checked.h"
#include "engine/model/grown.h"
#include "engine/schedule/schedule.h"

/* Values of a walk: no number below 2^20 has more divisors, and a model no more layers. */
enum { VALUES_MAX = SL_MODEL_LAYERS_MAX, CHECKS_MAX = 256, SCALE_MOST = 64, ROUND_LENGTH = 1024 };

static const uint64_t NOTHING = UINT64_MAX; /* no index */

/* The values of one field in their order: multiples of a step, or a list. */
typedef struct line {
    const sl_question *question;
    sl_limit_id id;
    uint64_t step;
    uint64_t begin, count; /* of indices: from begin to count - 1 */
    uint64_t counted;      /* from here on nothing is asked for */
    uint64_t list[VALUES_MAX];
    /* What a value changes. */
    sl_model *space;
    sl_cluster cluster;
    bool alike;                 /* all values have the same prices: those of the first */
    sl_combination combination; /* of the value at hand; the slice of its prices points into it */
    sl_priced priced;
    sl_estimate *scratch;
    sl_limit *out;
} line;

static uint64_t
value_at(const line *l, uint64_t index)
{
    return l->step > 0 ? l->step * (index + 1) : l->list[index];
}

/* The question with that value; false where no model could have it. */
static bool
place(line *l, uint64_t value, sl_question *asked)
{
    const sl_question *now = l->question;
    const uint64_t microbatches = sl_plan_microbatches(&now->workload, &now->plan);

    *asked = *now;
    switch (l->id) {
    case SL_LIMIT_GROWN_BATCH:
        asked->workload.global_batch = value * now->plan.data * microbatches;
        asked->workload.micro_batch = value;
        break;
    case SL_LIMIT_MICRO_BATCH:
        asked->workload.micro_batch = value;
        break;
    case SL_LIMIT_SEQUENCE:
        asked->workload.sequence_length = value;
        break;
    case SL_LIMIT_LAYERS:
        if (value > sl_grown_depth_max(now->model))
            return false;
        sl_grown_deepen(now->model, (uint32_t)value, l->space);
        asked->model = l->space;
        break;
    case SL_LIMIT_SCALE:
        asked->model = l->space;
        return sl_grown_widen(now->model, value, l->space);
    case SL_LIMIT_NODES:
        l->cluster.nodes = (uint32_t)value;
        asked->cluster = &l->cluster;
        asked->plan.data = (uint32_t)(value * now->plan.data / now->cluster->nodes);
        if (asked->plan.data == 0)
            asked->plan.data = 1; /* more ranks than there are: what the check says */
        if (now->plan.shard_group == now->plan.data)
            asked->plan.shard_group = 0; /* all of them, as now */
        break;
    case SL_LIMIT_COUNT:
        assert(false);
    }
    return true;
}

static bool
is_legal(line *l, uint64_t index)
{
    sl_question asked;
    sl_errors ignored = {.terse = true};

    return place(l, value_at(l, index), &asked) && sl_question_check(&asked, &ignored) == SL_OK;
}

static void
price(line *l, const sl_question *asked)
{
    l->combination = sl_evaluate_combination(asked->software, &asked->workload, &asked->plan);
    sl_evaluate_price(asked, &l->combination, SL_CLOCK_HELD, &l->priced);
}

/* Of a value that is legal. */
static bool
does_fit(line *l, uint64_t index)
{
    sl_question asked;
    const bool placed = place(l, value_at(l, index), &asked);
    sl_holdings holdings;

    assert(placed);
    if (!l->alike || l->out->evaluations == 0)
        price(l, &asked);
    l->out->evaluations++;
    sl_memory_case at = sl_evaluate_case(&asked, &l->combination, &l->priced, &holdings);
    at.fullest_only = true;
    return sl_memory_evaluate(&at, &l->scratch->memory) && sl_memory_has_room(&l->scratch->memory);
}

static void
fill_figures(line *l, const sl_question *asked, sl_limit_point *out)
{
    sl_estimate *scratch = l->scratch;

    price(l, asked);
    out->sized = sl_evaluate_explained(asked, &l->combination, &l->priced, scratch);
    if (!out->sized)
        return;
    const sl_memory *memory = &scratch->memory;
    out->fits = scratch->fits;
    out->fits_certain = scratch->fits_certain;
    out->device_total_bytes = memory->ranks[memory->binding].device_total_bytes;
    out->usable_bytes = memory->usable_bytes;
    out->headroom_bytes = memory->headroom_bytes;
    out->host_lacking_bytes = memory->host_lacking_bytes;
    out->has_room = sl_memory_has_room(memory);
    out->step_s = scratch->time.step_s;
    out->tokens_per_s = scratch->throughput.tokens_per_s;
}

/* The value with a full estimate, or the rule that it breaks; of one that no model could have
 * neither. */
static void
fill_point(line *l, uint64_t value, sl_limit_point *out)
{
    sl_question asked;
    sl_errors found = {0};
    sl_model_counts counts;

    *out = (sl_limit_point){.value = value};
    if (!place(l, value, &asked))
        return;
    out->legal = sl_question_check(&asked, &found) == SL_OK;
    if (!out->legal) {
        out->fault = found.list[0];
        return;
    }
    if (sl_model_count(asked.model, &counts) == SL_OK)
        out->parameters = counts.total - counts.towers;
    out->blocks = asked.model->block_count;
    out->hidden = asked.model->hidden;
    out->nodes = asked.cluster->nodes;
    out->workload = asked.workload;
    out->plan = asked.plan;
    fill_figures(l, &asked, out);
}

/* The first index from `from` on and below `end` that is legal, as far as is looked. */
static uint64_t
legal_from(line *l, uint64_t from, uint64_t end)
{
    for (uint64_t i = from; i < end && i - from < CHECKS_MAX; i++)
        if (is_legal(l, i))
            return i;
    return NOTHING;
}

/* The last one below `end`, from `begin` on. */
static uint64_t
legal_below(line *l, uint64_t end, uint64_t begin)
{
    for (uint64_t i = end; i > begin && end - i < CHECKS_MAX; i--)
        if (is_legal(l, i - 1))
            return i - 1;
    return NOTHING;
}

/* The value at `last` fits, `next` is the index of the first legal one beyond it where that was
 * met. */
static void
end_at(line *l, uint64_t last, uint64_t next)
{
    sl_limit *out = l->out;

    out->has_value = true;
    fill_point(l, value_at(l, last), &out->value);
    assert(out->value.legal && out->value.has_room);
    if (next == NOTHING && l->step > 0)
        next = legal_from(l, last + 1, last + 1 + CHECKS_MAX);
    out->end = SL_LIMIT_END_BOUND; /* what is not counted is not said */
    if (next != NOTHING && next >= l->counted)
        return;
    fill_point(
        l, next != NOTHING ? value_at(l, next) : value_at(l, last) + (l->step > 0 ? l->step : 1),
        &out->next);
    out->has_next = out->next.legal || out->next.fault.rule != NULL;
    if (out->has_next)
        out->end = out->next.legal ? SL_LIMIT_END_MEMORY : SL_LIMIT_END_RULE;
    assert(!out->next.legal || !out->next.has_room);
}

/* Nothing fits: what comes nearest, or the rule that all values break. */
static void
end_never(line *l, uint64_t nearest)
{
    l->out->end = SL_LIMIT_END_NEVER;
    l->out->has_next = l->count > 0;
    if (l->count > 0)
        fill_point(l, value_at(l, nearest == NOTHING ? 0 : nearest), &l->out->next);
}

/* The last index that fits and the first legal one beyond it, NOTHING where there is none: *low,
 * *high. False where none fits; *low is then the first that is legal. */
static bool
bisect_between(line *l, uint64_t *low, uint64_t *high)
{
    *low = legal_from(l, l->begin, l->count);
    *high = *low == NOTHING ? NOTHING : legal_below(l, l->count, *low);
    if (*low == NOTHING || *high == NOTHING || !does_fit(l, *low))
        return false;
    if (*high == *low || does_fit(l, *high)) {
        *low = *high;
        *high = NOTHING;
        return true;
    }
    while (*high - *low > 1) {
        const uint64_t middle = *low + (*high - *low) / 2;
        uint64_t tried = legal_from(l, middle, *high);
        if (tried == NOTHING)
            tried = legal_below(l, middle, *low + 1);
        if (tried == NOTHING)
            break;
        if (does_fit(l, tried))
            *low = tried;
        else
            *high = tried;
    }
    return true;
}

static void
bisect(line *l)
{
    uint64_t low = NOTHING;
    uint64_t high = NOTHING;

    l->out->method = SL_LIMIT_BISECTION;
    if (bisect_between(l, &low, &high))
        end_at(l, low, high);
    else
        end_never(l, low);
}

/* From the largest value down to the first that fits. */
static void
walk_down(line *l)
{
    uint64_t above = NOTHING;

    l->out->method = SL_LIMIT_WALK;
    for (uint64_t i = l->count; i > 0; i--) {
        if (!is_legal(l, i - 1))
            continue;
        if (does_fit(l, i - 1)) {
            end_at(l, i - 1, above);
            return;
        }
        above = i - 1;
    }
    end_never(l, above);
}

/* From the smallest up: the fewest. */
static void
walk_up(line *l)
{
    uint64_t below = NOTHING;

    l->out->method = SL_LIMIT_WALK;
    for (uint64_t i = 0; i < l->count; i++) {
        if (!is_legal(l, i))
            continue;
        if (!does_fit(l, i)) {
            below = i;
            continue;
        }
        l->out->has_value = true;
        fill_point(l, value_at(l, i), &l->out->value);
        l->out->has_next = below != NOTHING || value_at(l, i) > 1;
        l->out->end = SL_LIMIT_END_LEAST;
        if (!l->out->has_next)
            return;
        fill_point(l, below != NOTHING ? value_at(l, below) : value_at(l, i) - 1, &l->out->next);
        l->out->end = l->out->next.legal ? SL_LIMIT_END_MEMORY : SL_LIMIT_END_RULE;
        return;
    }
    end_never(l, below);
}

static void
list_divisors(line *l, uint64_t of)
{
    for (uint64_t d = 1; d <= of && l->count < VALUES_MAX; d++)
        if (of % d == 0)
            l->list[l->count++] = d;
}

static void
limit_micro_batch(line *l)
{
    const sl_workload *w = &l->question->workload;

    l->out->now = w->micro_batch;
    list_divisors(l, w->global_batch / l->question->plan.data);
    l->counted = l->count;
    walk_down(l);
}

static void
limit_grown_batch(line *l, const sl_limit_bounds *bounds)
{
    const sl_workload *w = &l->question->workload;
    const sl_plan *plan = &l->question->plan;

    l->out->now = w->micro_batch;
    l->out->step = l->step = 1;
    l->count = l->counted = bounds->global_batch / (plan->data * sl_plan_microbatches(w, plan));
    bisect(l);
}

/* Lengths from that of a document to the end of the table of positions. */
static void
step_lengths(line *l, uint64_t step, uint64_t most)
{
    const sl_model *model = l->question->model;
    const uint64_t document = l->question->workload.document_length;
    const bool ends = model->learned_positions && model->position_limit > 0;

    l->step = step;
    l->begin = document == 0 ? 0 : (document - 1) / step;
    l->counted = most / step;
    l->count = ends && model->position_limit < most ? model->position_limit / step : l->counted;
}

static void
limit_sequence(line *l, const sl_limit_bounds *bounds)
{
    const uint64_t now = l->question->workload.sequence_length;
    const sl_plan *plan = &l->question->plan;
    const uint64_t cut = 2ull * plan->context * plan->tensor;
    const uint64_t round = cut / sl_common_divisor(cut, ROUND_LENGTH) * ROUND_LENGTH;

    if (sl_model_is_plain(l->question->model)) {
        l->out->reason = "no_sequence";
        return;
    }
    step_lengths(l, round, bounds->sequence_length);
    if (now % round != 0 || l->begin >= l->count || !is_legal(l, l->begin) ||
        !does_fit(l, l->begin))
        step_lengths(l, sl_common_divisor(cut, now), bounds->sequence_length);
    l->out->now = now;
    l->out->step = l->step;
    bisect(l);
}

/* Whether all blocks cost the same and the framework deals them out. */
static bool
are_alike(const sl_question *question)
{
    const sl_model *model = question->model;
    const uint32_t before = model->layer_count != model->block_count;

    for (uint32_t i = 1; i < model->block_count; i++)
        if (model->layers[before + i] != model->layers[before])
            return false;
    return question->plan.layout_chunks == 0 && question->plan.host_run_count == 0;
}

/*
 * Of equal stages the deeper take no less: k blocks in each of c chunks fit and k + 1 do not. From
 * (k + 2) c blocks on every chunk has k + 2 layers, ends counted, so none has less than those that
 * did not fit; below that a rule that counts ends as layers may leave one less, and every number is
 * tried.
 */
static void
limit_layers(line *l, const sl_limit_bounds *bounds)
{
    const uint32_t deepest = sl_grown_depth_max(l->question->model);
    const uint64_t most = bounds->layers < deepest ? bounds->layers : deepest;
    const uint64_t chunks = sl_schedule_chunks(&l->question->plan);
    uint64_t low = NOTHING;
    uint64_t high = NOTHING;

    l->alike = true; /* kinds of layers have prices, not their number */
    l->count = l->counted = most;
    l->step = 1;
    sl_grown_copy(l->question->model, l->space);
    if (are_alike(l->question) && chunks <= most) {
        l->step = chunks;
        l->count = most / chunks;
        const uint64_t equal = bisect_between(l, &low, &high) ? low + 1 : 0;
        l->step = 1;
        l->count = (equal + 2) * chunks - 1 < most ? (equal + 2) * chunks - 1 : most;
    }
    walk_down(l);
    l->out->method = l->count < most ? SL_LIMIT_BISECTION_AND_WALK : SL_LIMIT_WALK;
    l->out->now = l->question->model->block_count;
    l->out->step = 1;
}

static void
limit_scale(line *l)
{
    const uint64_t parts = sl_grown_parts(l->question->model);

    if (parts == 0) {
        l->out->reason = "no_width";
        return;
    }
    l->out->now = parts;
    l->out->step = l->step = 1;
    l->count = l->counted = SCALE_MOST * parts;
    sl_grown_copy(l->question->model, l->space);
    bisect(l);
}

static void
limit_nodes(line *l, const sl_limit_bounds *bounds)
{
    const sl_cluster *cluster = l->question->cluster;
    const sl_plan *plan = &l->question->plan;
    const uint64_t rest = (uint64_t)plan->tensor * plan->pipeline * plan->context;
    const uint64_t microbatches =
        l->question->workload.global_batch / l->question->workload.micro_batch;

    if (cluster->pool_count > 0) {
        l->out->reason = "several_pools";
        return;
    }
    l->out->now = cluster->nodes;
    l->cluster = *cluster;
    for (uint64_t data = 1; data <= microbatches && l->count < VALUES_MAX; data++) {
        uint64_t ranks = 0;
        if (microbatches % data != 0 || !sl_multiply(data, rest, &ranks) ||
            ranks % cluster->accelerators_per_node != 0 ||
            ranks / cluster->accelerators_per_node > bounds->nodes)
            continue;
        l->list[l->count++] = ranks / cluster->accelerators_per_node;
    }
    walk_up(l);
}

void
sl_limits_measure(const sl_question *question, const sl_limit_bounds *bounds, sl_model *space,
                  sl_estimate *scratch, sl_limits *out)
{
    assert(question->unknown == 0);

    *out = (sl_limits){0};
    for (uint32_t i = 0; i < SL_LIMIT_COUNT; i++) {
        line l = {.question = question,
                  .id = (sl_limit_id)i,
                  .space = space,
                  .scratch = scratch,
                  .out = &out->of[i]};
        l.out->end = SL_LIMIT_END_NONE;
        switch (l.id) {
        case SL_LIMIT_MICRO_BATCH:
            limit_micro_batch(&l);
            break;
        case SL_LIMIT_GROWN_BATCH:
            limit_grown_batch(&l, bounds);
            break;
        case SL_LIMIT_SEQUENCE:
            limit_sequence(&l, bounds);
            break;
        case SL_LIMIT_LAYERS:
            limit_layers(&l, bounds);
            break;
        case SL_LIMIT_SCALE:
            limit_scale(&l);
            break;
        case SL_LIMIT_NODES:
            limit_nodes(&l, bounds);
            break;
        case SL_LIMIT_COUNT:
            break;
        }
    }
}
