#include "api/app.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/plan_keeper.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "shardline/version.h"

static const double STORE_S = 10;
static const double ANSWER_S = 0.5;

static void
name_software(sl_app *app)
{
    const bool fits = sl_text_format(app->software, sizeof app->software, "%s %s",
                                     sl_engine_version, sl_catalog_revision(app->catalog));
    assert(fits);
}

void
sl_app_init(sl_app *app)
{
    const sl_embedded *contract = sl_api_contract();

    sl_hash_text(contract->data, contract->size, app->contract_tag);
    name_software(app);
    atomic_init(&app->migrated, false);
}

void *
sl_worker_new(void *argument, sl_lane lane)
{
    const sl_app *app = argument;
    sl_worker *worker = calloc(1, sizeof *worker);

    if (worker == NULL)
        return NULL;
    worker->lane = lane;
    switch (lane) {
    case SL_LANE_STORE:
        worker->store = sl_store_new(app->settings->database_url);
        if (worker->store != NULL)
            return worker;
        break;
    case SL_LANE_HUB:
        worker->hub = sl_hub_worker_new(app->hub);
        if (worker->hub != NULL)
            return worker;
        break;
    case SL_LANE_COMPUTE:
        worker->estimate = calloc(1, sizeof *worker->estimate);
        worker->scratch = calloc(1, sizeof *worker->scratch);
        if (worker->estimate != NULL && worker->scratch != NULL)
            return worker;
        break;
    case SL_LANE_PROBE:
    case SL_LANE_BULK:
        return worker; /* reads and answers, no more */
    case SL_LANE_COUNT:
        assert(false);
    }
    sl_log(SL_LOG_ERROR, "a worker could not be set up", NULL, 0);
    sl_worker_free(argument, lane, worker);
    return NULL;
}

void
sl_worker_free(void *app, sl_lane lane, void *argument)
{
    sl_worker *worker = argument;

    (void)app;
    (void)lane;
    if (worker == NULL)
        return;
    if (worker->store != NULL)
        sl_store_free(worker->store);
    if (worker->hub != NULL)
        sl_hub_worker_free(worker->hub);
    free(worker->estimate);
    free(worker->scratch);
    free(worker);
}

sl_json *
sl_api_body(const sl_request *request, bool python_numbers, sl_response *response)
{
    const sl_json_limits limits = {
        .max_bytes = SIZE_MAX, .max_depth = 32, .accept_python_numbers = python_numbers};
    sl_errors err = {.count = 0};
    sl_json *json = NULL;

    if (sl_json_parse(request->body, request->body_size, &limits, &json, &err) != SL_OK)
        sl_response_problem(response, request, &err);
    return json;
}

sl_code
sl_api_choice(const sl_request *request, const char *name, const char *const *words, size_t count,
              int *out, sl_errors *err)
{
    const char *text = sl_request_query(request, name);
    char list[96] = "";

    *out = text == NULL ? -1 : sl_text_index(text, words, count);
    if (text == NULL || *out >= 0)
        return SL_OK;
    const sl_code code = sl_fail(err, SL_E_RANGE, "unknown_value", "",
                                 "the query parameter %s has no value %.60s", name, text);
    for (size_t i = 0; i < count; i++) {
        const size_t used = strlen(list);
        (void)sl_text_format(list + used, sizeof list - used, "%s%s", i == 0 ? "" : ", ", words[i]);
    }
    sl_hint(err, "%s", list);
    return code;
}

sl_code
sl_api_limit(const sl_request *request, uint32_t usual, uint32_t most, uint32_t *out,
             sl_errors *err)
{
    const char *text = sl_request_query(request, "limit");
    uint64_t limit = usual;

    if (text != NULL && (!sl_text_to_uint(text, &limit) || limit < 1 || limit > most))
        return sl_fail(err, SL_E_RANGE, "out_of_range", "",
                       "limit must be a number from 1 to %" PRIu32 ", got %.32s", most, text);
    *out = (uint32_t)limit;
    return SL_OK;
}

sl_code
sl_api_flag(const sl_request *request, const char *name, bool *out, sl_errors *err)
{
    static const char *const words[] = {"false", "true", "0", "1"};
    int chosen = -1;
    const sl_code code = sl_api_choice(request, name, words, 4, &chosen, err);

    *out = chosen == 1 || chosen == 3;
    return code;
}

sl_code
sl_api_lenient(const sl_request *request, bool *out, sl_errors *err)
{
    static const char *const words[] = {"warn"};
    int chosen = -1;
    const sl_code code = sl_api_choice(request, "unknown", words, 1, &chosen, err);

    *out = chosen == 0;
    return code;
}

void
sl_api_finish(const sl_writer *writer, sl_response *response, const sl_request *request)
{
    sl_errors err = {.count = 0};

    if (sl_writer_ok(writer))
        return;
    if (!writer->failed && writer->out->failed) {
        (void)sl_fail(&err, SL_E_MEMORY, "answer_too_large", "",
                      "the answer is larger than this server gives at once");
        sl_response_problem(response, request, &err);
        return;
    }
    (void)sl_fail(&err, SL_E_INTERNAL, "answer_not_written", "",
                  "the answer could not be written as JSON");
    sl_log(SL_LOG_ERROR, "an answer could not be written",
           (const sl_log_field[]){sl_log_text("request_id", request->id)}, 1);
    sl_response_problem(response, request, &err);
}

/* What the store does not do within its bound is answered as that, in time for the answer to go
 * out before the request's own deadline. */
static void
bound_store(sl_worker *worker, const sl_request *request)
{
    double until_s = sl_clock_now_s() + STORE_S;

    if (request->deadline_s > 0 && request->deadline_s - ANSWER_S < until_s)
        until_s = request->deadline_s - ANSWER_S;
    sl_store_until(worker->store, until_s);
}

void *
sl_api_enter(void *argument, void *thread, const sl_request *request)
{
    sl_app *app = argument;
    sl_worker *worker = thread;

    if (worker != NULL && worker->store != NULL && request != NULL)
        bound_store(worker, request);
    if (worker == NULL || app->stock == NULL)
        return app;
    worker->view.settings = app->settings;
    worker->view.catalog = sl_stock_take(app->stock);
    worker->view.hub = app->hub;
    worker->view.stock = app->stock;
    worker->view.process = app;
    worker->view.keeper = app->keeper;
    worker->view.searches = app->searches;
    memcpy(worker->view.contract_tag, app->contract_tag, sizeof app->contract_tag);
    name_software(&worker->view);
    return &worker->view;
}

void
sl_api_leave(void *argument, void *thread)
{
    sl_app *app = argument;
    sl_worker *worker = thread;

    if (worker == NULL || app->stock == NULL)
        return;
    sl_stock_give_back(app->stock, worker->view.catalog);
    worker->view.catalog = NULL;
}

sl_store *
sl_api_open(void *argument, sl_store *store, sl_errors *err)
{
    sl_app *app = argument;

    /* The database may come up long after we did: the first use that reaches it migrates. */
    if (!atomic_load(&app->migrated)) {
        if (sl_store_migrate(store, err) != SL_OK)
            return NULL;
        atomic_store(&app->migrated, true);
        sl_plan_keeper_stir(app->keeper);
    }
    return store;
}

void
sl_api_give_up(void *app)
{
    (void)app;
    sl_store_give_up();
}

sl_store *
sl_api_store(sl_app *app, sl_worker *worker, sl_errors *err)
{
    return sl_api_open(app->process != NULL ? app->process : app, worker->store, err);
}

void
sl_api_made_not_shown(const char *done, sl_errors *err)
{
    assert(err != NULL && err->count > 0);

    const sl_code code = err->list[0].code;
    if (code == SL_E_TIMEOUT || code == SL_E_UNAVAILABLE) {
        *err = (sl_errors){.count = 0};
        (void)sl_fail(err, code, "made_not_shown", "",
                      "the change is made; the database did not answer what it made of it");
    }
    sl_hint(err, "it is %s: read it back", done);
}

sl_worker *
sl_api_worker(void *worker, const sl_request *request, sl_response *response)
{
    sl_errors err = {.count = 0};

    if (worker == NULL) {
        (void)sl_fail(&err, SL_E_MEMORY, "worker_missing", "",
                      "the thread that should answer could not be set up");
        sl_response_problem(response, request, &err);
    }
    return worker;
}
