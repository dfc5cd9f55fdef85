#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "codec/answer/estimate_json.h"
#include "codec/search/limits_clusters.h"

enum { NONE = -1 };

static const char *const aim_names[SL_AIM_COUNT] = {
    [SL_AIM_SMALLEST] = "smallest",
    [SL_AIM_FASTEST] = "fastest",
    [SL_AIM_CHEAPEST] = "cheapest",
};

/* Ties go to the faster, then to the candidate that was named first. */
static bool
is_better(sl_aim aim, const sl_search_point *a, const sl_search_point *b)
{
    const uint64_t size_a = a->value[SL_DIMENSION_ACCELERATORS];
    const uint64_t size_b = b->value[SL_DIMENSION_ACCELERATORS];

    if (aim == SL_AIM_SMALLEST && size_a != size_b)
        return size_a < size_b;
    if (aim == SL_AIM_CHEAPEST && a->cost < b->cost)
        return true;
    if (aim == SL_AIM_CHEAPEST && a->cost > b->cost)
        return false;
    return a->tokens_per_s > b->tokens_per_s;
}

static int
best_of(const sl_candidates *candidates, sl_aim aim)
{
    int best = NONE;

    for (uint32_t i = 0; i < candidates->count; i++) {
        const sl_candidate_plan *const plan = &candidates->list[i].of[aim];
        if (plan->found &&
            (best == NONE || is_better(aim, &plan->point, &candidates->list[best].of[aim].point)))
            best = (int)i;
    }
    return best;
}

sl_currencies
sl_candidates_currencies(const sl_candidates *candidates)
{
    sl_currencies found = {.first = NULL};

    for (uint32_t i = 0; i < candidates->count; i++)
        if (candidates->list[i].of[SL_AIM_CHEAPEST].found)
            sl_currencies_add(&found, candidates->list[i].cluster);
    return found;
}

sl_currencies
sl_candidates_prices(const sl_candidates *candidates)
{
    sl_currencies found = {.first = NULL};

    for (uint32_t i = 0; i < candidates->count; i++)
        sl_currencies_add(&found, candidates->list[i].cluster);
    return found;
}

static void
answers_write(sl_writer *writer, const sl_candidates *candidates)
{
    const bool compares = sl_candidates_currencies(candidates).other == NULL;

    for (uint32_t aim = 0; aim < SL_AIM_COUNT; aim++) {
        const int best =
            aim == SL_AIM_CHEAPEST && !compares ? NONE : best_of(candidates, (sl_aim)aim);
        sl_write_key(writer, aim_names[aim]);
        if (best == NONE) {
            sl_write_null(writer);
            continue;
        }
        const sl_candidate *const candidate = &candidates->list[best];
        sl_write_object(writer);
        sl_put_uint(writer, "candidate", (uint64_t)best);
        sl_put_text(writer, "name", candidate->name);
        sl_write_key(writer, "plan");
        sl_write_raw(writer, candidate->of[aim].plan, strlen(candidate->of[aim].plan));
        sl_write_object_end(writer);
    }
}

static void
found_write(sl_writer *writer, const sl_candidate_plan *plan)
{
    sl_write_object(writer);
    sl_put_bool(writer, "searched", plan->searched);
    sl_put_text(writer, "missing", plan->missing);
    sl_write_key(writer, "plan");
    if (plan->found)
        sl_write_raw(writer, plan->plan, strlen(plan->plan));
    else
        sl_write_null(writer);
    sl_put_text(writer, "nothing", plan->nothing);
    sl_write_object_end(writer);
}

/* What the rules of thumb say: states alone, over nominal memory. */
static void
rules_write(sl_writer *writer, const sl_candidate *candidate, uint64_t parameters)
{
    const uint64_t nominal = candidate->cluster->accelerator.nominal_bytes;

    sl_write_key(writer, "rules_of_thumb");
    sl_write_array(writer);
    for (uint32_t rule = SL_ACCOUNTING_EXACT + 1; rule < SL_ACCOUNTING_COUNT; rule++) {
        const double element = sl_precision_bytes(candidate->request->workload.precision);
        sl_accounting_bytes whole;
        if (rule == SL_ACCOUNTING_INFERENCE_1_2 || nominal == 0 ||
            sl_accounting_evaluate((sl_accounting)rule, parameters, 1, 0, 1, element, &whole) !=
                SL_OK)
            continue;
        sl_write_object(writer);
        sl_put_text(writer, "name", sl_accounting_describe((sl_accounting)rule)->name);
        sl_put_uint(writer, "total_bytes", whole.total);
        sl_put_uint(writer, "minimum_accelerators",
                    whole.total / nominal + (whole.total % nominal != 0));
        sl_write_object_end(writer);
    }
    sl_write_array_end(writer);
}

static void
candidate_write(sl_writer *writer, const sl_candidate *candidate, uint64_t parameters)
{
    const sl_cluster *const cluster = candidate->cluster;

    sl_write_object(writer);
    sl_put_text(writer, "name", candidate->name);
    sl_write_key(writer, "cluster");
    sl_write_raw(writer, candidate->said, strlen(candidate->said));
    sl_put_text(writer, "accelerator", cluster->accelerator.id);
    sl_put_uint(writer, "nodes", cluster->nodes);
    sl_put_uint(writer, "accelerators_per_node", cluster->accelerators_per_node);
    sl_put_known_double(writer, "price_per_node_hour", cluster->price_per_node_hour);
    sl_put_text(writer, "price_currency", sl_currency_said(cluster));
    for (uint32_t aim = 0; aim < SL_AIM_COUNT; aim++) {
        sl_write_key(writer, aim_names[aim]);
        found_write(writer, &candidate->of[aim]);
    }
    rules_write(writer, candidate, parameters);
    sl_write_object_end(writer);
}

/* Of the first candidate: what all have in common; each cluster's own are its estimate's to say. */
static void
notes_write(sl_writer *writer, const sl_candidates_document *document)
{
    const sl_estimate_request *const request = document->candidates->list[0].request;

    sl_estimate_notes_write(writer, request, NULL, document->about.warnings, true);
    sl_estimate_notes_write(writer, request, NULL, NULL, false);
}

void
sl_candidates_write(sl_writer *writer, const sl_candidates_document *document)
{
    const sl_candidates *const candidates = document->candidates;

    assert(candidates->count >= 1);
    sl_write_object(writer);
    sl_answer_model_write(writer, &document->about);
    answers_write(writer, candidates);
    sl_write_key(writer, "candidates");
    sl_write_array(writer);
    for (uint32_t i = 0; i < candidates->count; i++)
        candidate_write(writer, &candidates->list[i], document->about.parameters);
    sl_write_array_end(writer);
    sl_put_uint(writer, "searches", candidates->searches);
    sl_put_uint(writer, "evaluated", candidates->evaluated);
    sl_put_double(writer, "elapsed_s", document->elapsed_s);
    sl_put_text(writer, "evaluator", "closed_form");
    notes_write(writer, document);
    sl_answer_origin_write(writer, &document->about);
    sl_write_object_end(writer);
}
