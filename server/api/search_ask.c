#include "api/search_ask.h"

#include <string.h>

#include "shardline/version.h"
#include "json/members.h"

void *
sl_search_ask_new(const sl_app *app, size_t bytes, void (*release)(void *argument),
                  const sl_request *request, sl_response *response)
{
    sl_errors err = {.count = 0};
    void *own = NULL;

    if (app->searches == NULL)
        (void)sl_fail(&err, SL_E_UNAVAILABLE, "no_searches", "",
                      "the threads that search could not be started");
    else
        own = sl_arena_alloc(request->arena, 1, bytes);
    if (own == NULL) {
        if (err.count == 0)
            (void)sl_fail(&err, SL_E_MEMORY, "out_of_memory", "",
                          "the request does not fit in memory");
        sl_response_problem(response, request, &err);
        return NULL;
    }
    sl_response_own(response, release, own);
    sl_response_leave(response);
    return own;
}

/* The catalogue that all steps see, whatever becomes of the private rows meanwhile. */
static void
hold_catalog(const sl_app *app, sl_search_ask *ask)
{
    if (ask->catalog != NULL)
        return;
    ask->stock = app->stock;
    ask->catalog = app->stock == NULL ? app->catalog : sl_stock_take(app->stock);
}

/* What the clusters name. */
static sl_code
name_stored(sl_search_ask *ask, const sl_request *request, sl_errors *err)
{
    const sl_search_asked *const asked = ask->asked;

    for (uint32_t i = 0; i < asked->cluster_count; i++) {
        if (asked->of[i]->inventory == NULL)
            continue;
        ask->stored[i].slug = asked->of[i]->inventory;
        ask->pointers[i] =
            asked->list.value == NULL
                ? "/cluster/inventory"
                : sl_arena_format(request->arena, "/clusters/%u/inventory", (unsigned)i);
        if (ask->pointers[i] == NULL)
            return sl_fail(err, SL_E_MEMORY, "out_of_memory", "",
                           "the request does not fit in memory");
    }
    return SL_OK;
}

/* The document, with all its faults at once. */
static sl_code
read_document(sl_search_ask *ask, const sl_request *request, sl_errors *err)
{
    bool lenient = false;
    const sl_node root = sl_json_root(ask->json);
    const sl_code understood = sl_api_lenient(request, &lenient, err);
    sl_errors *const warnings = &ask->of_model.warnings;
    sl_code code = sl_search_read(&root, ask->catalog, request->arena, lenient ? warnings : NULL,
                                  &ask->asked, err);

    if (code == SL_OK)
        code = understood;
    if (ask->asked == NULL || ask->asked->of[0] == NULL)
        return code;
    ask->of_model.read = *ask->asked->of[0];
    const sl_estimate_request *const read = &ask->of_model.read;
    const sl_code named = sl_api_model_named(read, err);
    const sl_code listed = sl_api_decode_layers(&ask->of_model, lenient, request, err);
    if (code == SL_OK)
        code = named != SL_OK ? named : listed;
    if (code != SL_OK)
        return code;
    ask->from_hub = read->source == SL_MODEL_FROM_HUB;
    if (ask->from_hub && !sl_api_model_ticket(read, request, &ask->files))
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "the request does not fit in memory");
    return name_stored(ask, request, err);
}

/* On the store's lane: all inventories, each of which may be wrong. */
static void
fetch_stored(sl_app *app, sl_worker *worker, sl_search_ask *ask, const sl_request *request,
             sl_response *response, void *state)
{
    sl_errors err = {.count = 0};
    sl_code first = SL_OK;

    for (uint32_t i = 0; i < ask->asked->cluster_count; i++) {
        if (ask->stored[i].slug == NULL)
            continue;
        const sl_code code =
            sl_api_fetch_stored(app, worker, &ask->stored[i], ask->pointers[i], request, &err);
        if (first == SL_OK)
            first = code;
    }
    if (first == SL_OK)
        sl_response_continue(response, SL_LANE_COMPUTE, state);
    else
        sl_response_problem(response, request, &err);
}

/* True when nothing is missing any more. */
static bool
fetch(sl_app *app, sl_worker *worker, sl_search_ask *ask, const sl_request *request,
      sl_response *response, void *state)
{
    if (ask->from_hub) {
        if (!sl_api_model_arrives(app, worker, &ask->files, request, response, state))
            return false;
        if (ask->files.ticket.code != SL_OK) {
            sl_api_model_problem(&ask->files, request, response);
            return false;
        }
    }
    for (uint32_t i = 0; i < ask->asked->cluster_count; i++) {
        if (ask->stored[i].slug != NULL) {
            sl_response_continue(response, SL_LANE_STORE, state);
            return false;
        }
    }
    return true;
}

/* What sources observed decides which nodes there are: it is input as the spec is, in the order in
 * which the last word wins. */
static void
add_observations(const sl_api_stored *stored, sl_buffer *text)
{
    for (uint32_t i = 0; i < stored->observation_count; i++) {
        const sl_observation *const own = &stored->observations[i];
        uint32_t earlier = 0;
        for (uint32_t j = 0; j < stored->observation_count; j++)
            earlier += strcmp(stored->observations[j].observed_at, own->observed_at) < 0;
        sl_buffer_format(text, "\n%s %u %d ", own->source, (unsigned)earlier, own->stale);
        sl_buffer_text(text, own->facts);
    }
}

static sl_code
hash_input(sl_search_ask *ask, sl_errors *err)
{
    const sl_search_asked *const asked = ask->asked;
    sl_buffer text;
    bool observed = false;
    sl_code code = sl_search_hash(asked, ask->of_model.model->revision, sl_engine_version,
                                  ask->catalog, ask->hash, err);

    for (uint32_t i = 0; i < asked->cluster_count; i++)
        observed = observed || ask->stored[i].observation_count > 0;
    if (code != SL_OK || !observed)
        return code;
    sl_buffer_init(&text, SL_RESPONSE_BODY_MAX_BYTES);
    sl_buffer_text(&text, ask->hash);
    for (uint32_t i = 0; i < asked->cluster_count; i++)
        add_observations(&ask->stored[i], &text);
    if (text.failed)
        code = sl_fail(err, SL_E_MEMORY, "out_of_memory", "",
                       "what was observed exceeds the memory of one request");
    else
        sl_hash_text(text.data, text.size, ask->hash);
    sl_buffer_clear(&text);
    return code;
}

/* Everything is here. */
static sl_code
decode(sl_app *app, sl_search_ask *ask, const sl_request *request, sl_errors *err)
{
    sl_search_asked *const asked = ask->asked;
    sl_code first = SL_OK;

    for (uint32_t i = 0; i < asked->cluster_count; i++) {
        const sl_api_stored *const stored = &ask->stored[i];
        sl_host_status *hosts = NULL;
        if (stored->spec == NULL)
            continue;
        sl_code code = sl_api_stored_hosts(app, stored, request->arena, &hosts, err);
        if (code == SL_OK)
            code = sl_search_pool(asked, i, hosts, stored->spec, strlen(stored->spec), ask->catalog,
                                  err);
        sl_keep(&first, code);
    }
    sl_keep(&first,
            sl_api_decode_model(&ask->of_model, ask->from_hub ? &ask->files : NULL, request, err));
    if (first == SL_OK)
        first = sl_search_decode(asked, ask->of_model.model, err);
    return first == SL_OK ? hash_input(ask, err) : first;
}

/* False with a problem in the response. */
static bool
parse(sl_search_ask *ask, const sl_request *request, sl_response *response)
{
    static const sl_json_limits limits = {.max_bytes = SL_RESPONSE_BODY_MAX_BYTES, .max_depth = 32};
    sl_errors err = {.count = 0};

    if (ask->text == NULL) {
        ask->json = sl_api_body(request, false, response);
        return ask->json != NULL;
    }
    if (sl_json_parse(ask->text, strlen(ask->text), &limits, &ask->json, &err) == SL_OK)
        return true;
    sl_response_problem(response, request, &err);
    return false;
}

bool
sl_search_ask_step(sl_app *app, sl_worker *worker, sl_search_ask *ask, const sl_request *request,
                   sl_response *response, void *state)
{
    sl_errors err = {.count = 0};

    hold_catalog(app, ask);
    if (ask->json == NULL) {
        if (!parse(ask, request, response))
            return false;
        if (read_document(ask, request, &err) != SL_OK) {
            sl_response_problem(response, request, &err);
            return false;
        }
    }
    if (worker->store != NULL) {
        fetch_stored(app, worker, ask, request, response, state);
        return false;
    }
    if (!fetch(app, worker, ask, request, response, state))
        return false;
    if (decode(app, ask, request, &err) == SL_OK)
        return true;
    sl_response_problem(response, request, &err);
    return false;
}

void
sl_search_ask_clear(sl_search_ask *ask)
{
    sl_search_asked_clear(ask->asked);
    ask->asked = NULL;
    sl_json_free(ask->json);
    ask->json = NULL;
    if (ask->stock != NULL)
        sl_stock_give_back(ask->stock, ask->catalog);
    ask->stock = NULL;
}
