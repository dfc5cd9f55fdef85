#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "codec/answer/estimate_json.h"
#include "codec/question/currency.h"
#include "codec/search/search.h"
#include "codec/search/search_plan.h"
#include "codec/search/search_relax_json.h"
#include "codec/search/search_review_json.h"
#include "codec/search/search_space.h"
#include "codec/search/search_words.h"

enum { GLIMPSES_BEST = 5, GLIMPSES_FRONT = 64, NAME_BYTES = 200 };

static const char *const states[] = {
    [SL_SEARCH_RUNNING] = "running",
    [SL_SEARCH_DONE] = "done",
    [SL_SEARCH_DEADLINE] = "deadline",
    [SL_SEARCH_CANCELLED] = "cancelled",
};
_Static_assert(sizeof states / sizeof states[0] == SL_SEARCH_STATES, "a word for each state");

/* Units are what progress goes by. */
static void
counts_write(sl_writer *writer, const sl_search_document *document)
{
    const sl_search_outcome *const found = document->outcome;

    sl_put_text(writer, "state", states[document->state]);
    sl_put_uint(writer, "evaluated", found->evaluated);
    sl_put_uint(writer, "feasible", found->feasible);
    sl_put_uint(writer, "pruned", found->pruned);
    sl_put_uint(writer, "refused", found->refused);
    sl_put_uint(writer, "units", sl_search_unit_count(document->search));
    sl_put_uint(writer, "units_done", found->units);
    sl_put_double(writer, "elapsed_s", document->elapsed_s);
}

static void
best_write(sl_writer *writer, const sl_search_document *document)
{
    const sl_search_review *const review = document->review;

    sl_write_key(writer, "best");
    sl_write_array(writer);
    for (uint32_t i = 0; i < review->plan_count; i++)
        sl_search_plan_write(writer, document, &document->outcome->best[review->plans[i].point],
                             &review->plans[i], i + 1);
    sl_write_array_end(writer);
}

static void
front_write(sl_writer *writer, const sl_search_document *document)
{
    const sl_search_outcome *const found = document->outcome;

    sl_write_key(writer, "pareto");
    sl_write_array(writer);
    for (uint32_t i = 0; i < found->front_count; i++)
        sl_search_plan_write(writer, document, &found->front[i], NULL, 0);
    sl_write_array_end(writer);
    sl_put_bool(writer, "pareto_cut", found->front_cut);
}

static void
reason_write(sl_writer *writer, const sl_search_document *document, const sl_search_reason *reason)
{
    const sl_search_request *const request = &document->asked->request;
    char sentence[SL_SEARCH_SENTENCE_BYTES];

    sl_reason_say(reason, sentence);
    sl_write_object(writer);
    sl_put_text(writer, "reason", reason->rule);
    sl_put_text(writer, "pointer", sl_reason_pointer(reason));
    sl_put_uint(writer, "count", reason->count);
    sl_put_text(writer, "sentence", sentence);
    sl_put_known_double(writer, "misses_by", reason->least);
    sl_put_known_double(writer, "limit", sl_reason_limit(reason, request));
    sl_put_known_double(writer, "needed", sl_reason_needed(reason));
    sl_write_key(writer, "nearest");
    if (reason->has_nearest)
        sl_search_plan_write(writer, document, &reason->nearest, NULL, 0);
    else
        sl_write_null(writer);
    sl_write_object_end(writer);
}

/* By falling count; the order of the outcome among equals. */
static void
rejected_write(sl_writer *writer, const sl_search_document *document)
{
    const sl_search_outcome *const found = document->outcome;
    bool written[SL_SEARCH_REASONS_MAX] = {false};

    sl_write_key(writer, "rejected");
    sl_write_array(writer);
    for (uint32_t n = 0; n < found->reason_count; n++) {
        uint32_t most = SL_SEARCH_REASONS_MAX;
        for (uint32_t i = 0; i < found->reason_count; i++)
            if (!written[i] && (most == SL_SEARCH_REASONS_MAX ||
                                found->reasons[i].count > found->reasons[most].count))
                most = i;
        written[most] = true;
        reason_write(writer, document, &found->reasons[most]);
    }
    sl_write_array_end(writer);
}

/* Why nothing was found, and what would help. */
static void
nothing_write(sl_writer *writer, const sl_search_document *document)
{
    char sentence[2 * SL_SEARCH_SENTENCE_BYTES];

    sl_nothing_say(document->outcome, &document->asked->request, sentence);
    const size_t used = strlen(sentence);
    sl_relaxed_say(document, sentence, sentence + used, sizeof sentence - used);
    sl_put_text(writer, "nothing", document->outcome->best_count == 0 ? sentence : NULL);
}

/* Where nothing was found: what stands nearest in the way. */
static void
tightest_write(sl_writer *writer, const sl_search_document *document)
{
    const sl_search_outcome *const found = document->outcome;
    const sl_search_request *const request = &document->asked->request;
    const sl_search_reason *const tightest = sl_reason_tightest(found, request);

    sl_write_key(writer, "tightest");
    if (found->best_count == 0 && tightest != NULL)
        reason_write(writer, document, tightest);
    else
        sl_write_null(writer);
}

static void
clusters_write(sl_writer *writer, const sl_search_document *document)
{
    const sl_search_asked *const asked = document->asked;
    char name[NAME_BYTES];

    sl_write_key(writer, "clusters");
    sl_write_array(writer);
    for (uint32_t i = 0; i < asked->cluster_count; i++) {
        const sl_cluster *const cluster = &asked->of[i]->cluster;
        sl_search_cluster_say(asked, i, name, sizeof name);
        sl_write_object(writer);
        sl_put_text(writer, "name", name);
        sl_put_text(writer, "accelerator", cluster->accelerator.id);
        sl_put_uint(writer, "nodes", cluster->nodes);
        sl_put_uint(writer, "accelerators", sl_cluster_accelerators(cluster));
        sl_put_known_double(writer, "price_per_node_hour", cluster->price_per_node_hour);
        sl_put_text(writer, "price_currency", sl_currency_said(cluster));
        const uint32_t *sizes = NULL; /* without any nothing was settled for it */
        const bool searched = sl_search_sizes(document->search, i, &sizes) > 0;
        sl_put_text(writer, "software",
                    searched ? sl_search_software(document->search, i)->name : NULL);
        sl_write_object_end(writer);
    }
    sl_write_array_end(writer);
}

/* Whether an earlier cluster's request says the same. */
static bool
is_repeated(const sl_search_asked *asked, uint32_t index, const sl_request_note *note)
{
    for (uint32_t c = 0; c < index; c++)
        for (uint32_t i = 0; i < asked->of[c]->notes.count; i++)
            if (sl_text_equal(asked->of[c]->notes.list[i].code, note->code) &&
                sl_text_equal(asked->of[c]->notes.list[i].text, note->text))
                return true;
    return false;
}

static void
notes_write(sl_writer *writer, const sl_search_document *document, bool warning)
{
    const sl_search_asked *const asked = document->asked;
    const sl_search_review *const review = document->review;

    sl_write_key(writer, warning ? "warnings" : "assumptions");
    sl_write_array(writer);
    if (warning && document->about.warnings != NULL)
        sl_faults_write(writer, document->about.warnings);
    for (uint32_t c = 0; c < asked->cluster_count; c++)
        for (uint32_t i = 0; i < asked->of[c]->notes.count; i++) {
            const sl_request_note *const note = &asked->of[c]->notes.list[i];
            if (note->warning == warning && !is_repeated(asked, c, note))
                sl_note_write(writer, note->code, note->text);
        }
    if (warning && review->plan_count > 0 && !review->plans[0].fits_certain)
        sl_note_write(
            writer, "little_room",
            "the first plan fits by less than its reserved memory may be larger than "
            "predicted, interval.peak_reserved_bytes; constraints.headroom_ratio asks for "
            "room");
    if (!warning && (asked->questions[0].unknown & (uint32_t)SL_UNKNOWN_SOFTWARE) != 0)
        sl_note_write(writer, "newest_software",
                      "software was not given: every plan is that of the newest release, with the "
                      "newest kernels, which each of them names");
    sl_write_array_end(writer);
}

static void
constraints_write(sl_writer *writer, const sl_search_request *request)
{
    const sl_constraints *const by = &request->constraints;

    sl_put_text(writer, "objective", sl_objective_name(request->objective));
    sl_write_key(writer, "constraints");
    sl_write_object(writer);
    sl_put_known_uint(writer, "max_accelerators", by->max_accelerators);
    sl_put_known_double(writer, "max_step_s", by->max_step_s);
    sl_put_known_double(writer, "min_tokens_per_s", by->min_tokens_per_s);
    sl_put_known_double(writer, "deadline_s", by->deadline_s);
    sl_put_known_double(writer, "budget", by->budget);
    sl_put_known_double(writer, "headroom_ratio", by->headroom_ratio);
    sl_put_known_uint(writer, "critical_batch_size", by->critical_batch);
    sl_write_object_end(writer);
}

void
sl_search_write(sl_writer *writer, const sl_search_document *document)
{
    assert(writer != NULL && document != NULL && document->review != NULL);

    sl_write_object(writer);
    counts_write(writer, document);
    sl_answer_model_write(writer, &document->about);
    constraints_write(writer, &document->asked->request);
    best_write(writer, document);
    front_write(writer, document);
    rejected_write(writer, document);
    nothing_write(writer, document);
    tightest_write(writer, document);
    sl_relaxations_write(writer, document);
    sl_search_review_write(writer, document);
    clusters_write(writer, document);
    sl_write_key(writer, "space");
    sl_space_write(writer, document->asked, document->search);
    notes_write(writer, document, true);
    notes_write(writer, document, false);
    sl_answer_origin_write(writer, &document->about);
    sl_write_object_end(writer);
}

/* As many as an event has room for, evenly of all. */
static void
glimpses_write(sl_writer *writer, const char *key, const sl_search_point *points, uint32_t count,
               uint32_t most)
{
    const uint32_t shown = count < most ? count : most;

    sl_write_key(writer, key);
    sl_write_array(writer);
    for (uint32_t i = 0; i < shown; i++)
        sl_search_glimpse_write(writer, &points[(uint64_t)i * count / shown]);
    sl_write_array_end(writer);
}

void
sl_progress_write(sl_writer *writer, const sl_search_document *document)
{
    assert(writer != NULL && document != NULL);

    const sl_search_outcome *const found = document->outcome;
    const uint32_t best = found->best_count < GLIMPSES_BEST ? found->best_count : GLIMPSES_BEST;
    sl_write_object(writer);
    counts_write(writer, document);
    glimpses_write(writer, "best", found->best, best, GLIMPSES_BEST);
    glimpses_write(writer, "pareto", found->front, found->front_count, GLIMPSES_FRONT);
    sl_put_uint(writer, "pareto_count", found->front_count);
    sl_write_object_end(writer);
}
