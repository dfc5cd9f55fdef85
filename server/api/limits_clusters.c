/*
 * Which cluster for a model. Each candidate is searched on its own, aim after aim, by the crew of
 * the searches; what is asked comes over the lanes as with a search, as many candidates at a time
 * as one takes.
 */
#include <string.h>

#include "api/resources.h"
#include "api/search_ask.h"
#include "api/search_run.h"
#include "base/clock.h"
#include "codec/search/limits_clusters.h"
#include "shardline/version.h"

typedef enum step { READ, ASK, BEGIN, CONCLUDE } step;

/* In the request's arena. */
typedef struct looking {
    step step;
    double began_s;
    double worked_s; /* of the searches, without what they waited behind others */
    sl_candidates_asked asked;
    sl_search_ask asks[SL_CANDIDATE_DOCUMENTS_MAX];
    sl_space spaces[SL_CANDIDATE_DOCUMENTS_MAX]; /* as their documents have them */
    sl_aim aim;        /* what is looked for, in which document, on which of its clusters */
    uint32_t document; /* while they are asked for, the one at hand */
    uint32_t cluster;
    sl_search_run *run; /* owned */
    sl_candidates candidates;
} looking;

static void
release(void *argument)
{
    looking *const own = argument;

    sl_search_run_free(own->run);
    for (uint32_t i = 0; i < SL_CANDIDATE_DOCUMENTS_MAX; i++)
        sl_search_ask_clear(&own->asks[i]);
}

static sl_candidate *
candidate_of(looking *own)
{
    return &own->candidates.list[own->document * SL_SEARCH_CLUSTERS_MAX + own->cluster];
}

static sl_code
no_memory(sl_errors *err)
{
    return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "the clusters do not fit in memory");
}

static bool
read(const sl_app *app, looking *own, const sl_request *request, sl_response *response)
{
    sl_errors err = {.count = 0};
    bool lenient = false;
    sl_json *const json = sl_api_body(request, false, response);

    if (json == NULL)
        return false;
    const sl_node root = sl_json_root(json);
    sl_code code = sl_api_lenient(request, &lenient, &err);
    const sl_code asked =
        sl_candidates_read(&root, app->catalog, request->arena,
                           lenient ? &own->asks[0].of_model.warnings : NULL, &own->asked, &err);
    if (code == SL_OK)
        code = asked;
    for (uint32_t i = 0; i < own->asked.document_count; i++)
        own->asks[i].text = own->asked.documents[i];
    if (code != SL_OK)
        sl_response_problem(response, request, &err);
    sl_json_free(json);
    return code == SL_OK;
}

/* The candidates of a document, all of which is here. */
static sl_code
name_candidates(looking *own, const sl_request *request, sl_errors *err)
{
    const sl_search_asked *const asked = own->asks[own->document].asked;

    for (own->cluster = 0; own->cluster < asked->cluster_count; own->cluster++) {
        const sl_code code =
            sl_candidate_name(asked, own->cluster, request->arena, candidate_of(own), err);
        if (code != SL_OK)
            return code;
        own->candidates.count++;
    }
    own->spaces[own->document] = asked->request.space;
    own->cluster = 0;
    return SL_OK;
}

/* Over the lanes, one document after the other; true when all are here. */
static bool
ask(sl_app *app, sl_worker *worker, looking *own, const sl_request *request, sl_response *response)
{
    sl_errors err = {.count = 0};

    while (own->document < own->asked.document_count) {
        if (!sl_search_ask_step(app, worker, &own->asks[own->document], request, response, own))
            return false;
        if (name_candidates(own, request, &err) != SL_OK) {
            sl_response_problem(response, request, &err);
            return false;
        }
        own->document++;
    }
    own->document = 0;
    own->aim = SL_AIM_SMALLEST;
    /* The constraints are the same in each document. */
    const sl_currencies prices = sl_candidates_prices(&own->candidates);
    if (sl_search_check_budget(own->asks[0].asked, &prices, &err) == SL_OK)
        return true;
    sl_response_problem(response, request, &err);
    return false;
}

/* Of all documents, as each is a request. */
static void
hash_all(const looking *own, char out[SL_HASH_TEXT_SIZE])
{
    char text[SL_CANDIDATE_DOCUMENTS_MAX * SL_HASH_TEXT_SIZE];
    size_t size = 0;

    for (uint32_t i = 0; i < own->asked.document_count; i++, size += SL_HASH_TEXT_SIZE)
        memcpy(text + size, own->asks[i].hash, SL_HASH_TEXT_SIZE);
    sl_hash_text(text, size, out);
}

static void
answer(looking *own, const sl_request *request, sl_response *response)
{
    char hash[SL_HASH_TEXT_SIZE] = "";
    const sl_candidates_document document = {
        .candidates = &own->candidates,
        .elapsed_s = sl_clock_now_s() - own->began_s,
        .about = sl_api_about(own->asks[0].catalog, &own->asks[0].of_model, hash),
    };
    sl_writer writer;

    const bool bounded = own->asks[0].asked->request.constraints.budget > 0.0;
    const sl_currencies currencies = bounded ? sl_candidates_prices(&own->candidates)
                                             : sl_candidates_currencies(&own->candidates);
    sl_currencies_note(&currencies, "which candidate is the cheapest is not said",
                       &own->asks[0].asked->of[0]->notes);
    sl_planned_count(SL_PLANNED_LIMITS_CLUSTERS, own->worked_s);
    hash_all(own, hash);
    sl_writer_init(&writer, &response->body);
    sl_candidates_write(&writer, &document);
    sl_api_finish(&writer, response, request);
}

/* The next cluster, document or aim; false when all were at hand. What is cheapest to find comes
 * first, for all, as the time may end. */
static bool
advance(looking *own)
{
    if (sl_candidate_goes_on(own->asks[own->document].asked, own->cluster, own->aim,
                             &candidate_of(own)->of[own->aim]))
        return true;
    if (++own->cluster < own->asks[own->document].asked->cluster_count)
        return true;
    own->cluster = 0;
    if (++own->document < own->asked.document_count)
        return true;
    own->document = 0;
    own->aim = (sl_aim)(own->aim + 1);
    return own->aim < SL_AIM_COUNT;
}

/* A search that has no plan, as no combination is legal there: what it says is the candidate's. */
static sl_code
keep_refusal(looking *own, const sl_request *request, const sl_errors *refused, sl_errors *err)
{
    sl_candidate_plan *const plan = &candidate_of(own)->of[own->aim];

    plan->searched = true;
    plan->nothing = sl_arena_copy(request->arena, refused->list[0].message);
    return plan->nothing != NULL ? SL_OK : no_memory(err);
}

/* True when the response waits for a search, false when there is nothing to search for here. */
static bool
begin(const sl_app *app, looking *own, const sl_request *request, sl_response *response,
      sl_code *code, sl_errors *err)
{
    sl_search_asked *const asked = own->asks[own->document].asked;
    sl_candidate_plan *const plan = &candidate_of(own)->of[own->aim];
    const sl_search_task task = {
        .searches = app->searches, .asked = asked, .cancelled = request->cancelled};
    const double left_s = own->asked.time_limit_s - (sl_clock_now_s() - own->began_s);
    sl_errors refused = {.count = 0};

    if (!sl_candidate_aim(asked, &own->spaces[own->document], own->cluster, own->aim, plan))
        return false;
    if (left_s <= 0.0) {
        plan->searched = false;
        plan->missing = "time";
        return false;
    }
    asked->time_limit_s = left_s;
    *code = sl_search_run_new(&task, &own->run, &refused);
    if (*code == SL_E_RANGE || *code == SL_E_UNSUPPORTED) {
        *code = keep_refusal(own, request, &refused, err);
        return false;
    }
    if (*code == SL_OK)
        *code = sl_search_run_begin(own->run, err);
    else
        *err = refused;
    if (*code != SL_OK)
        return false;
    own->step = CONCLUDE;
    sl_response_park(response, SL_LANE_COMPUTE, own, sl_search_run_wait, own->run);
    return true;
}

static sl_code
conclude(looking *own, const sl_request *request, sl_errors *err)
{
    sl_search_document document = {.asked = own->asks[own->document].asked};

    sl_search_run_document(own->run, &document);
    own->candidates.searches++;
    own->candidates.evaluated += document.outcome->evaluated;
    own->worked_s += sl_search_run_worked_s(own->run);
    sl_code code = SL_OK;
    if (document.state == SL_SEARCH_CANCELLED)
        code = sl_fail(err, SL_E_UNAVAILABLE, "cancelled", "",
                       "the search was given up before its end");
    else
        code = sl_candidate_keep(&document, own->cluster, request->arena,
                                 &candidate_of(own)->of[own->aim], err);
    sl_search_run_free(own->run);
    own->run = NULL;
    own->step = BEGIN;
    return code;
}

static looking *
looking_new(const sl_app *app, const sl_request *request, sl_response *response)
{
    looking *const own = sl_search_ask_new(app, sizeof *own, release, request, response);

    if (own != NULL)
        own->began_s = sl_clock_now_s();
    return own;
}

/* From one search to the next, as far as it goes without waiting. */
static void
look(const sl_app *app, looking *own, const sl_request *request, sl_response *response)
{
    sl_errors err = {.count = 0};
    sl_code code = SL_OK;
    bool more = true;

    if (own->step == CONCLUDE) {
        code = conclude(own, request, &err);
        more = code == SL_OK && advance(own);
    }
    while (code == SL_OK && more) {
        if (begin(app, own, request, response, &code, &err))
            return;
        more = code == SL_OK && advance(own);
    }
    if (code == SL_OK)
        answer(own, request, response);
    else
        sl_response_problem(response, request, &err);
}

void
sl_limits_clusters(void *argument, void *thread, const sl_request *request, sl_response *response)
{
    sl_app *app = argument;
    sl_worker *worker = sl_api_worker(thread, request, response);
    looking *own = response->state;

    if (worker == NULL)
        return;
    if (own == NULL)
        own = looking_new(app, request, response);
    if (own == NULL)
        return;
    if (own->step == READ) {
        if (!read(app, own, request, response))
            return;
        own->step = ASK;
    }
    if (own->step == ASK) {
        if (!ask(app, worker, own, request, response))
            return;
        own->step = BEGIN;
    }
    look(app, own, request, response);
}
