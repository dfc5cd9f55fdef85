/*
 * Estimates and the choices a form offers. What a request names decides which lanes it visits: the
 * Hub's for a model by id, the store's for an inventory by slug, and compute for the answer, so
 * that a dead backend only keeps its own threads waiting.
 */
#include "api/estimates.h"
#include "api/joined.h"
#include "api/models.h"
#include "api/resources.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "codec/answer/estimate_json.h"
#include "codec/question/choices_json.h"
#include "codec/question/layers_json.h"
#include "hf/config.h"
#include "shardline/version.h"
#include "json/members.h"

/* What a request needs from elsewhere, and what came of it. In the request's arena. */
typedef struct job {
    bool faulty; /* the request: where nothing comes, its own faults are all there is to say */
    bool from_hub;
    sl_api_model model;
    sl_api_stored stored;
} job;

static const char *
hub_revision(const sl_estimate_request *read)
{
    return read->revision == NULL ? "main" : read->revision;
}

sl_code
sl_api_model_named(const sl_estimate_request *read, sl_errors *err)
{
    if (read->hub == NULL)
        return SL_OK;
    return sl_hub_check_id(read->hub, hub_revision(read), "/model/hub", err);
}

bool
sl_api_model_ticket(const sl_estimate_request *read, const sl_request *request, sl_api_model *out)
{
    sl_hub_ticket *ticket = &out->ticket;

    ticket->repository = sl_arena_copy(request->arena, read->hub);
    ticket->revision = sl_arena_copy(request->arena, hub_revision(read));
    ticket->pointer = "/model/hub";
    ticket->arena = request->arena;
    return ticket->repository != NULL && ticket->revision != NULL;
}

/* What the request names, to be fetched; NULL when it names nothing, or without memory: what is
 * missing then is noticed where it is used. */
static job *
job_new(const sl_estimate_request *read, const sl_request *request)
{
    const bool from_hub = read->source == SL_MODEL_FROM_HUB;

    if (!from_hub && read->inventory == NULL)
        return NULL;

    job *needed = sl_arena_alloc(request->arena, 1, sizeof *needed);
    if (needed == NULL)
        return NULL;
    needed->from_hub = from_hub;
    if (from_hub && !sl_api_model_ticket(read, request, &needed->model))
        return NULL;
    if (read->inventory != NULL) {
        needed->stored.slug = sl_arena_copy(request->arena, read->inventory);
        if (needed->stored.slug == NULL)
            return NULL;
    }
    return needed;
}

sl_code
sl_api_fetch_stored(sl_app *app, sl_worker *worker, sl_api_stored *stored, const char *pointer,
                    const sl_request *request, sl_errors *err)
{
    sl_inventory_row row;
    sl_store *store = sl_api_store(app, worker, err);
    sl_code code = store == NULL
                       ? SL_E_UNAVAILABLE
                       : sl_inventory_get(store, stored->slug, pointer, request->arena, &row, err);

    if (code == SL_OK)
        code = sl_api_observations(store, stored->slug, request->arena, &stored->observations,
                                   &stored->observation_count, err);
    if (code != SL_OK)
        return code;
    stored->spec = row.spec;
    stored->slug = NULL;
    return SL_OK;
}

sl_code
sl_api_stored_hosts(const sl_app *app, const sl_api_stored *stored, sl_arena *arena,
                    sl_host_status **out, sl_errors *err)
{
    *out = NULL;
    if (stored->observation_count == 0)
        return SL_OK;
    return sl_api_host_status(app, stored->spec, stored->observations, stored->observation_count,
                              arena, out, err);
}

/* Gets one thing and goes on to the next. True on the compute lane with everything at hand;
 * otherwise the response says what is next, or what went wrong. */
static bool
fetch(sl_app *app, sl_worker *worker, job *needed, const sl_request *request, sl_response *response)
{
    if (needed->from_hub &&
        !sl_api_model_arrives(app, worker, &needed->model, request, response, needed))
        return false;
    if (needed->from_hub && needed->model.ticket.code != SL_OK) {
        sl_api_model_problem(&needed->model, request, response);
        return false;
    }
    if (needed->stored.slug == NULL)
        return true;
    sl_errors err = {.count = 0};
    if (worker->store == NULL)
        sl_response_continue(response, SL_LANE_STORE, needed);
    else if (sl_api_fetch_stored(app, worker, &needed->stored, "/cluster/inventory", request,
                                 &err) == SL_OK)
        sl_response_continue(response, SL_LANE_COMPUTE, needed);
    else
        sl_response_problem(response, request, &err);
    return false;
}

static sl_code
new_model(sl_api_asked *a, const sl_request *request, sl_errors *err)
{
    a->model = sl_arena_alloc(request->arena, 1, sizeof *a->model);
    if (a->model != NULL)
        return SL_OK;
    return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "the model does not fit in memory");
}

sl_code
sl_api_decode_layers(sl_api_asked *a, bool lenient, const sl_request *request, sl_errors *err)
{
    if (a->read.source != SL_MODEL_FROM_LAYERS)
        return SL_OK;
    const sl_code code = new_model(a, request, err);
    return code != SL_OK
               ? code
               : sl_layers_read(&a->read.layers, "", a->model, lenient ? &a->warnings : NULL, err);
}

sl_code
sl_api_decode_model(sl_api_asked *a, const sl_api_model *fetched, const sl_request *request,
                    sl_errors *err)
{
    sl_code code = SL_OK;

    if (a->read.source == SL_MODEL_FROM_PARAMETERS)
        return SL_OK;
    if (a->read.source == SL_MODEL_FROM_HUB) {
        if (fetched == NULL)
            return sl_fail(err, SL_E_MEMORY, "out_of_memory", "",
                           "the request does not fit in memory");
        const sl_hub_ticket *ticket = &fetched->ticket;
        const sl_hub_model *files = &ticket->model;
        code = sl_api_decode_config(
            &files->config, files->quantization.text == NULL ? NULL : &files->quantization,
            ticket->repository, "/model/hub", request->arena, &a->model, &a->warnings, err);
        if (code == SL_OK)
            sl_api_model_warn(files, "/model/hub", &a->warnings);
    } else if (a->read.source == SL_MODEL_FROM_CONFIG) {
        code = new_model(a, request, err);
        if (code == SL_OK)
            code = sl_hf_config_read(&a->read.config, "", a->model, &a->warnings, err);
    }
    if (code == SL_OK && a->read.mtp)
        code = sl_model_add_prediction(a->model, err);
    if (code == SL_OK && sl_model_count(a->model, &a->counts) != SL_OK)
        code = sl_fail(err, SL_E_RANGE, "out_of_range", "/model",
                       "the parameters of this model cannot be counted in 64 bits");
    return code == SL_OK ? sl_estimate_request_model(&a->read, a->model, err) : code;
}

/* Of an inventory that was fetched, the pools that a request names. */
static sl_code
gather_pools(const sl_app *app, const job *fetched, const sl_request *request,
             sl_estimate_request *read, sl_errors *err)
{
    sl_host_status *hosts = NULL;

    if (read->inventory == NULL)
        return SL_OK;
    if (fetched == NULL || fetched->stored.spec == NULL)
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "the request does not fit in memory");
    sl_code code = sl_api_stored_hosts(app, &fetched->stored, request->arena, &hosts, err);
    read->hosts = hosts;
    if (code == SL_OK)
        code = sl_estimate_request_pool(read, fetched->stored.spec, strlen(fetched->stored.spec),
                                        app->catalog, err);
    return code;
}

/* On the compute lane, with everything at hand. */
static sl_code
gather(const sl_app *app, const job *fetched, const sl_request *request, sl_api_asked *a,
       sl_errors *err)
{
    const sl_code code = gather_pools(app, fetched, request, &a->read, err);
    const sl_code decoded =
        sl_api_decode_model(a, fetched == NULL ? NULL : &fetched->model, request, err);

    return code != SL_OK ? code : decoded;
}

/* A request that is being answered, or refused. */
typedef struct asking {
    const sl_app *app;
    const job *fetched;
    const sl_request *request;
    sl_question_reader read;
    bool lenient;
    bool judges; /* what it names is here: not the document alone says what is wrong */
    sl_api_asked *a;
} asking;

/* Reads the body, and what the query says of reading it. */
static sl_code
read_body(asking *it, sl_errors *err)
{
    sl_api_asked *const a = it->a;
    const sl_node root = sl_json_root(a->json);
    const sl_code understood = sl_api_lenient(it->request, &it->lenient, err);
    const sl_code code =
        it->read(&root, it->app->catalog, it->lenient ? &a->warnings : NULL, &a->read, err);
    /* Here, so that the name and the layers are judged with the rest of the document. */
    const sl_code named = sl_api_model_named(&a->read, err);
    const sl_code listed = sl_api_decode_layers(a, it->lenient, it->request, err);

    return code != SL_OK         ? code
           : understood != SL_OK ? understood
           : named != SL_OK      ? named
                                 : listed;
}

/* Whether rules are asked beside faults: not where plans that cannot be are answered, too, nor
 * without the model. */
static bool
is_judged(sl_planned kind, const sl_estimate_request *read, const sl_errors *err)
{
    if (read->source == SL_MODEL_FROM_HUB && read->hub == NULL)
        return false;
    for (uint32_t i = 0; i < err->count; i++)
        if (strncmp(err->list[i].pointer, "/model", strlen("/model")) == 0 &&
            (strcmp(err->list[i].rule, "unknown_field") != 0 ||
             strncmp(err->list[i].pointer, "/model/layers", strlen("/model/layers")) == 0))
            return false;
    return kind != SL_PLANNED_COMPARISON && kind != SL_PLANNED_CHOICES;
}

static bool
judge(void *context, sl_estimate_request *read, sl_errors *err)
{
    const asking *const it = context;
    if (!it->judges)
        return true;
    if (gather_pools(it->app, it->fetched, it->request, read, err) != SL_OK)
        return false;

    sl_code code = SL_OK;
    if (sl_estimate_accounting_alone(read)) {
        code = sl_estimate_request_check(read, NULL, err);
    } else if (it->a->model != NULL) {
        const sl_question question = sl_estimate_request_question(read, it->a->model);
        code = sl_estimate_request_check(read, &question, err);
    }
    assert(code == SL_OK || err->count > 0);
    return true;
}

/* Answers with the faults of the request, and with what else is wrong with it. */
static void
refuse(asking *it, sl_response *response, sl_errors *err)
{
    const sl_request *const request = it->request;
    const sl_node root = sl_json_root(it->a->json);
    const sl_standing standing = {
        .text = sl_arena_copy_bytes(request->arena, request->body, request->body_size),
        .root = &root,
        .read = it->read,
        .catalog = it->app->catalog,
        .lenient = it->lenient,
        .judge = judge,
        .context = it,
        .room = sl_arena_alloc(request->arena, 1, sizeof *standing.room),
    };
    bool of_document = standing.text != NULL && standing.room != NULL;

    for (uint32_t i = 0; i < err->count; i++)
        of_document = of_document &&
                      (err->list[i].code == SL_E_RANGE || err->list[i].code == SL_E_UNSUPPORTED);
    if (of_document)
        sl_standing_add(&standing, err);
    sl_response_problem(response, request, err);
}

/* With all that a request names at hand, or as much of it as its faults leave to be had. */
static bool
is_whole(asking *it, sl_planned kind, sl_code read, sl_errors *err)
{
    if (read == SL_OK && gather(it->app, it->fetched, it->request, it->a, err) == SL_OK)
        return true;
    /* Hosts of an inventory are joined anew for each choice of values. */
    const char *const spec = it->fetched == NULL ? NULL : it->fetched->stored.spec;
    it->judges = is_judged(kind, &it->a->read, err) &&
                 (spec == NULL || strlen(spec) <= SL_STANDING_TEXT_MAX) &&
                 (read == SL_OK ||
                  sl_api_decode_model(it->a, it->fetched == NULL ? NULL : &it->fetched->model,
                                      it->request, err) == SL_OK);
    return false;
}

void
sl_api_ask(sl_app *app, void *thread, const sl_request *request, sl_response *response,
           sl_question_reader read, sl_api_answerer answer, sl_planned kind)
{
    sl_worker *worker = sl_api_worker(thread, request, response);
    job *fetched = response->state;
    sl_errors err = {.count = 0};
    sl_api_asked a = {.json = NULL};
    asking it = {.app = app, .request = request, .read = read, .a = &a};

    if (worker == NULL)
        return;
    bool arrived = fetched == NULL || fetch(app, worker, fetched, request, response);
    if (!arrived && (response->continues || !fetched->faulty))
        return;
    a.json = sl_api_body(request, false, response);
    if (a.json == NULL)
        return;

    const sl_code code = read_body(&it, &err);
    const bool goes_on = code == SL_OK || is_judged(kind, &a.read, &err);
    if (goes_on && fetched == NULL) {
        fetched = job_new(&a.read, request);
        if (fetched != NULL)
            fetched->faulty = code != SL_OK;
        arrived = fetched == NULL || fetch(app, worker, fetched, request, response);
    }
    it.fetched = fetched;
    if (response->continues || (!arrived && code == SL_OK)) {
        sl_json_free(a.json);
        return;
    }
    const double start_s = sl_clock_now_s();
    if (goes_on && arrived && is_whole(&it, kind, code, &err)) {
        answer(app, worker, &a, request, response);
        if (response->status < 400 && !response->continues)
            sl_planned_count(kind, sl_clock_now_s() - start_s);
    } else {
        refuse(&it, response, &err);
    }
    sl_json_free(a.json);
}

sl_code
sl_api_settle(const sl_worker *worker, const sl_api_asked *a, const char *what,
              sl_question *question, sl_errors *err)
{
    if (a->model == NULL)
        return sl_fail(err, SL_E_RANGE, "model_required", "/model",
                       "%s needs a model with layers, not a number of parameters", what);
    *question = sl_estimate_request_question(&a->read, a->model);
    sl_code code = sl_estimate_request_check(&a->read, question, err);
    if (code != SL_OK)
        return code;
    code = sl_estimate_answer(question, worker->scratch, worker->estimate, err);
    if (code == SL_OK) {
        question->plan = worker->estimate->plan;
        question->workload = worker->estimate->workload;
        question->software = worker->estimate->software;
    }
    return code;
}

/* What a gate asks for. */
enum { REQUIRE_FITS, REQUIRE_FITS_CERTAIN, REQUIREMENTS };

sl_code
sl_api_required(const sl_request *request, int *out, sl_errors *err)
{
    static const char *const words[REQUIREMENTS] = {
        [REQUIRE_FITS] = "fits", [REQUIRE_FITS_CERTAIN] = "fits_certain"};

    return sl_api_choice(request, "require", words, REQUIREMENTS, out, err);
}

static bool
keeps(const sl_estimate *estimate, int require)
{
    return require < 0 ||
           (estimate->fits && (require != REQUIRE_FITS_CERTAIN || estimate->fits_certain));
}

/* The answer stands in the body already: it moves into the problem that says it does not fit. */
static void
refuse_unfit(const sl_estimate *estimate, const sl_request *request, sl_response *response)
{
    sl_errors err = {.count = 0};
    size_t size = 0;
    char *document = sl_buffer_take(&response->body, &size);

    if (estimate->fits && estimate->memory.host_lacking_bytes > 0)
        (void)sl_fail(&err, SL_E_DOES_NOT_FIT, "host_memory_exceeded", "",
                      "a node lacks %llu bytes of memory for what the plan keeps there",
                      (unsigned long long)estimate->memory.host_lacking_bytes);
    else if (estimate->fits)
        (void)sl_fail(
            &err, SL_E_DOES_NOT_FIT, "fits_uncertain", "",
            "the upper end of what the fullest rank may reserve, %llu bytes, does not fit",
            (unsigned long long)estimate->reserved_high_bytes);
    else
        (void)sl_fail(&err, SL_E_DOES_NOT_FIT, "does_not_fit", "",
                      "the fullest rank lacks %lld bytes of device memory",
                      (long long)-estimate->memory.headroom_bytes);
    sl_response_problem_with(response, request, &err, "estimate", document);
    free(document);
}

sl_code
sl_api_input_hash(const sl_app *app, const sl_api_asked *a, char out[SL_HASH_TEXT_SIZE],
                  sl_errors *err)
{
    const char *const revision = a->model == NULL ? "" : a->model->revision;

    return sl_estimate_request_hash(&a->read, revision, sl_engine_version, app->catalog, out, err);
}

sl_answer_about
sl_api_about(const sl_catalog *catalog, const sl_api_asked *a, const char *hash)
{
    return (sl_answer_about){
        .model = a->model,
        .parameters = a->model == NULL ? a->read.parameters : a->counts.total - a->counts.towers,
        .warnings = &a->warnings,
        .engine_version = sl_engine_version,
        .catalog_revision = sl_catalog_revision(catalog),
        .input_hash = hash,
    };
}

static void
answer_estimate(sl_app *app, sl_worker *worker, sl_api_asked *a, const sl_request *request,
                sl_response *response)
{
    int require = -1;
    char hash[SL_HASH_TEXT_SIZE] = "";
    sl_errors err = {.count = 0};
    sl_writer writer;
    sl_estimate_document document = {
        .request = &a->read,
        .about = sl_api_about(app->catalog, a, hash),
    };

    const bool accounting_only = sl_estimate_accounting_alone(&a->read);
    sl_code code = sl_api_required(request, &require, &err);
    if (code == SL_OK && accounting_only) {
        code = sl_estimate_request_check(&a->read, NULL, &err);
    } else if (code == SL_OK) {
        const sl_question question = sl_estimate_request_question(&a->read, a->model);
        code = sl_estimate_request_check(&a->read, &question, &err);
        if (code == SL_OK)
            code = sl_estimate_answer(&question, worker->scratch, worker->estimate, &err);
        document.estimate = worker->estimate;
    }
    if (code == SL_OK)
        code = sl_api_input_hash(app, a, hash, &err);
    sl_writer_init(&writer, &response->body);
    if (code == SL_OK)
        code = sl_estimate_write(&writer, &document, &err);
    if (code != SL_OK) {
        sl_response_problem(response, request, &err);
        return;
    }
    sl_api_finish(&writer, response, request);
    if (response->status == 200 && document.estimate != NULL && !keeps(document.estimate, require))
        refuse_unfit(document.estimate, request, response);
}

static void
answer_choices(sl_app *app, sl_worker *worker, sl_api_asked *a, const sl_request *request,
               sl_response *response)
{
    sl_errors err = {.count = 0};
    sl_writer writer;

    (void)worker;
    if (a->model == NULL) {
        (void)sl_fail(&err, SL_E_RANGE, "model_required", "/model",
                      "choices need a model with layers, not a number of parameters");
        sl_response_problem(response, request, &err);
        return;
    }
    sl_writer_init(&writer, &response->body);
    sl_choices_write(&writer, &a->read, app->catalog, a->model);
    sl_api_finish(&writer, response, request);
}

void
sl_estimates_post(void *app, void *worker, const sl_request *request, sl_response *response)
{
    sl_api_ask(app, worker, request, response, sl_estimate_request_read, answer_estimate,
               SL_PLANNED_ESTIMATE);
}

void
sl_estimates_choices(void *app, void *worker, const sl_request *request, sl_response *response)
{
    sl_api_ask(app, worker, request, response, sl_estimate_request_read, answer_choices,
               SL_PLANNED_CHOICES);
}
