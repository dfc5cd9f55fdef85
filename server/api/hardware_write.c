/* Private accelerators, node types and prices: put beside the catalogue, and taken away again. */
#include "api/hardware.h"
#include "api/resources.h"

#include <string.h>

#include "api/conditions.h"
#include "base/text.h"

static const sl_json_limits spec_limits = {.max_bytes = 16 << 10, .max_depth = 8};

/* A write in progress; everything is the request's. */
typedef struct write {
    sl_own_kind kind;
    const char *id;
    sl_app *app;
    sl_store *store;           /* NULL: a dry run that asks nothing of the database */
    const sl_catalog *catalog; /* as it was when the write was checked */
    sl_precondition asked;
    bool dry_run;
    bool lenient;
    bool spec_only;
    sl_errors warnings;
    char hash[SL_HASH_TEXT_SIZE];
    const char *uses;
} write;

static sl_code
read_options(const sl_request *request, write *w, sl_errors *err)
{
    static const char *const booleans[] = {"false", "true", "0", "1"};
    int dry_run = -1;
    sl_code code = sl_api_choice(request, "dry_run", booleans, 4, &dry_run, err);

    w->id = sl_request_parameter(request, "id");
    w->dry_run = dry_run == 1 || dry_run == 3;
    if (code == SL_OK)
        code = sl_api_lenient(request, &w->lenient, err);
    if (code == SL_OK)
        code = sl_hardware_entry_view(request, &w->spec_only, err);
    if (code == SL_OK)
        code = sl_api_precondition(request, &w->asked, err);
    return code;
}

/* Everything is judged by what the database has now. A plain dry run needs none: it checks a
 * spec. */
static sl_code
open_catalog(sl_worker *worker, write *w, sl_errors *err)
{
    const bool plain = w->dry_run && w->asked.count == 0 && !w->asked.create_only;

    if (!plain) {
        w->store = sl_api_store(w->app, worker, err);
        if (w->store == NULL)
            return SL_E_UNAVAILABLE;
        const sl_code code = sl_stock_refresh(w->app->stock, w->store, err);
        if (code != SL_OK)
            return code;
    }
    w->catalog = sl_stock_take(w->app->stock);
    return SL_OK;
}

/* An entry of the catalogue stays as it is; a price is of one. */
static sl_code
check_entry(const write *w, sl_errors *err)
{
    sl_errors faults = {.count = 0};
    const sl_node_type *type = NULL;
    const sl_part *part = NULL;
    const char *taken = NULL;

    if (w->kind == SL_OWN_PRICE) {
        const sl_code code = sl_catalog_find_node(w->catalog, w->id, "", &type, err);
        if (code != SL_OK)
            err->list[0].code = code == SL_E_RANGE ? SL_E_NOT_FOUND : code;
        if (code != SL_OK || (type->own.revision == 0 && sl_text_equal(type->id, w->id)))
            return code;
        (void)sl_fail(err, SL_E_CONFLICT, type->own.revision > 0 ? "private_entry" : "not_an_id",
                      "",
                      type->own.revision > 0 ? "the price of the private %s is part of it"
                                             : "must be the id of the node type, %s",
                      type->id);
        sl_hint(err, "PUT /api/v1/node-types/%s%s", type->id,
                type->own.revision > 0 ? "" : "/price");
        return SL_E_CONFLICT;
    }
    if (w->kind == SL_OWN_ACCELERATOR) {
        if (sl_catalog_find_part(w->catalog, w->id, "", &part, &faults) == SL_OK)
            taken = part->accelerator.id;
        else if (sl_text_equal(faults.list[0].rule, "ambiguous_accelerator"))
            taken = faults.list[0].hint;
    } else if (sl_catalog_find_node(w->catalog, w->id, "", &type, &faults) == SL_OK) {
        taken = type->id;
    }
    if (taken == NULL || (sl_text_equal(taken, w->id) &&
                          sl_hardware_entry_own(w->catalog, w->kind, w->id)->revision > 0))
        return SL_OK;
    (void)sl_fail(err, SL_E_CONFLICT, "catalog_entry", "",
                  "%.60s is a name of %.80s, which stays as it is: choose another id", w->id,
                  taken);
    if (w->kind == SL_OWN_NODE_TYPE)
        sl_hint(err, "a price alone: PUT /api/v1/node-types/%s/price", taken);
    else
        sl_hint(err, "%.80s-private with \"like\": \"%.20s ...\"", w->id, taken);
    return SL_E_CONFLICT;
}

static sl_code
check_spec(const sl_request *request, write *w, sl_errors *err)
{
    sl_json *json = NULL;
    sl_buffer text;
    sl_code code = sl_json_parse(request->body, request->body_size, &spec_limits, &json, err);

    if (code != SL_OK)
        return code;
    const sl_node root = sl_json_root(json);
    code = sl_own_check(w->kind, w->id, &root, w->catalog, &w->uses,
                        w->lenient ? &w->warnings : NULL, err);
    sl_buffer_init(&text, spec_limits.max_bytes * 8);
    if (code == SL_OK && sl_json_canonical(&root, &text) != SL_OK)
        code = sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "the spec does not fit");
    if (code == SL_OK)
        sl_hash_text(text.data, text.size, w->hash);
    sl_buffer_clear(&text);
    sl_json_free(json);
    return code;
}

/* The catalogue with this row and what it needs: what cannot be read back is not stored. */
static sl_code
try_out(const sl_request *request, const write *w, sl_catalog **out, sl_errors *err)
{
    const sl_own *const before = sl_hardware_entry_own(w->catalog, w->kind, w->id);
    const uint64_t revision = sl_catalog_own_revision(w->catalog) + 1;
    const bool stored = before != NULL && before->revision > 0;
    sl_own_row rows[2] = {{.kind = SL_OWN_ACCELERATOR, .id = w->uses}};
    const uint32_t first = w->uses == NULL ? 1 : 0;

    if (w->uses != NULL)
        rows[0].own = *sl_hardware_entry_own(w->catalog, SL_OWN_ACCELERATOR, w->uses);
    rows[1] = (sl_own_row){.kind = w->kind,
                           .id = w->id,
                           .own = {.revision = stored ? before->revision : revision,
                                   .spec = request->body,
                                   .created_at = stored ? before->created_at : "",
                                   .updated_at = stored ? before->updated_at : ""}};
    return sl_stock_build(rows + first, 2 - first, revision, out, err);
}

/* Stores the row; then what is in use has it. */
static sl_code
store_row(const sl_request *request, write *w, bool *created, sl_errors *err)
{
    const sl_hardware_row row = {.kind = sl_own_kinds[w->kind], .id = w->id, .spec = request->body};

    const sl_requester by = sl_api_requester(request);
    sl_code code = sl_hardware_put(w->store, &row, w->hash, w->uses, SL_OWN_ROWS_MAX, &w->asked,
                                   &by, created, err);
    if (code != SL_OK)
        return code;
    code = sl_stock_refresh(w->app->stock, w->store, err);
    if (code != SL_OK)
        sl_api_made_not_shown("stored", err);
    return code;
}

/* The entry as `catalog` has it; `name` may be gone when another took it away at once. */
static void
answer(const write *w, const sl_catalog *catalog, bool tagged, const sl_request *request,
       sl_response *response)
{
    const sl_own *const own = sl_hardware_entry_own(catalog, w->kind, w->id);
    sl_writer writer;

    if (own == NULL) {
        sl_errors err = {.count = 0};
        (void)sl_fail(&err, SL_E_CONFLICT, "removed_meanwhile", "",
                      "%s was stored, and then removed by another", w->id);
        sl_response_problem(response, request, &err);
        return;
    }
    if (tagged)
        (void)sl_hardware_entry_not_modified(catalog, own, w->spec_only, request, response);
    if (w->spec_only && own->revision > 0) {
        sl_buffer_text(&response->body, own->spec);
        return;
    }
    sl_writer_init(&writer, &response->body);
    sl_hardware_entry_write(&writer, catalog, w->kind, w->id, w->lenient ? &w->warnings : NULL);
    sl_api_finish(&writer, response, request);
}

static sl_code
put_row(const sl_request *request, write *w, sl_response *response, sl_errors *err)
{
    sl_catalog *trial = NULL;
    bool created = false;

    sl_code code = try_out(request, w, &trial, err);
    if (code == SL_OK && w->dry_run && w->store != NULL)
        code = sl_hardware_put_allowed(w->store, sl_own_kinds[w->kind], w->id, &w->asked, err);
    if (code == SL_OK && w->dry_run)
        answer(w, trial, false, request, response);
    sl_catalog_free(trial);
    if (code != SL_OK || w->dry_run)
        return code;
    code = store_row(request, w, &created, err);
    if (code != SL_OK)
        return code;
    const sl_catalog *const now = sl_stock_take(w->app->stock);
    response->status = created ? 201 : 200;
    answer(w, now, true, request, response);
    sl_stock_give_back(w->app->stock, now);
    return SL_OK;
}

static void
put(sl_app *app, void *thread, sl_own_kind kind, const sl_request *request, sl_response *response)
{
    sl_worker *worker = sl_api_worker(thread, request, response);
    write w = {.kind = kind, .app = app};
    sl_errors err = {.count = 0};

    if (worker == NULL)
        return;
    sl_code code = read_options(request, &w, &err);
    if (code == SL_OK)
        code = sl_own_check_id(w.id, &err);
    if (code == SL_OK)
        code = open_catalog(worker, &w, &err);
    if (code == SL_OK)
        code = check_entry(&w, &err);
    if (code == SL_OK)
        code = check_spec(request, &w, &err);
    if (code == SL_OK)
        code = put_row(request, &w, response, &err);
    if (code != SL_OK)
        sl_response_problem(response, request, &err);
    if (w.catalog != NULL)
        sl_stock_give_back(app->stock, w.catalog);
}

/* A part that a node type is made of stays as long as that does. */
static sl_code
check_unused(const write *w, sl_errors *err)
{
    for (uint32_t i = 0; w->kind == SL_OWN_ACCELERATOR && i < sl_catalog_node_count(w->catalog);
         i++) {
        const sl_node_type *const type = sl_catalog_node(w->catalog, i);
        if (type->accelerator == NULL || !sl_text_equal(type->accelerator->id, w->id))
            continue;
        (void)sl_fail(err, SL_E_CONFLICT, "in_use", "",
                      "the private node type %s is made of it: remove that first", type->id);
        sl_hint(err, "DELETE /api/v1/node-types/%s", type->id);
        return SL_E_CONFLICT;
    }
    return SL_OK;
}

static sl_code
delete_row(const sl_request *request, write *w, sl_errors *err)
{
    const char *const kind = sl_own_kinds[w->kind];
    const sl_requester by = sl_api_requester(request);

    sl_code code = check_unused(w, err);
    if (code != SL_OK)
        return code;
    if (w->dry_run)
        return sl_hardware_put_allowed(w->store, kind, w->id, &w->asked, err);
    code = sl_hardware_delete(w->store, kind, w->id, &w->asked, &by, err);
    if (code != SL_OK)
        return code;
    code = sl_stock_refresh(w->app->stock, w->store, err);
    if (code != SL_OK)
        sl_api_made_not_shown("removed", err);
    return code;
}

/* Whether there is a private row of this id to remove. */
static sl_code
check_there(const write *w, sl_errors *err)
{
    const sl_own *const own = sl_hardware_entry_own(w->catalog, w->kind, w->id);

    if (own == NULL || (w->kind == SL_OWN_PRICE && own->revision == 0)) {
        const sl_code code = sl_fail(err, SL_E_NOT_FOUND, "hardware_not_found", "",
                                     "there is no private entry %.80s", w->id);
        sl_hint(err, "?origin=private lists them");
        return code;
    }
    return own->revision > 0
               ? SL_OK
               : sl_fail(err, SL_E_CONFLICT, "catalog_entry", "",
                         "%.80s is the catalogue's own and stays: only private entries are removed",
                         w->id);
}

/* Answers with what was there. */
static void
remove_entry(sl_app *app, void *thread, sl_own_kind kind, const sl_request *request,
             sl_response *response)
{
    sl_worker *worker = sl_api_worker(thread, request, response);
    write w = {.kind = kind, .app = app};
    sl_errors err = {.count = 0};

    if (worker == NULL)
        return;
    sl_code code = read_options(request, &w, &err);
    if (code == SL_OK) {
        w.store = sl_api_store(app, worker, &err);
        code = w.store == NULL ? SL_E_UNAVAILABLE : sl_stock_refresh(app->stock, w.store, &err);
    }
    if (code == SL_OK) {
        w.catalog = sl_stock_take(app->stock);
        code = check_there(&w, &err);
    }
    if (code == SL_OK)
        code = delete_row(request, &w, &err);
    if (code == SL_OK)
        answer(&w, w.catalog, false, request, response);
    else
        sl_response_problem(response, request, &err);
    if (w.catalog != NULL)
        sl_stock_give_back(app->stock, w.catalog);
}

void
sl_accelerators_put(void *app, void *worker, const sl_request *request, sl_response *response)
{
    put(app, worker, SL_OWN_ACCELERATOR, request, response);
}

void
sl_accelerators_delete(void *app, void *worker, const sl_request *request, sl_response *response)
{
    remove_entry(app, worker, SL_OWN_ACCELERATOR, request, response);
}

void
sl_node_types_put(void *app, void *worker, const sl_request *request, sl_response *response)
{
    put(app, worker, SL_OWN_NODE_TYPE, request, response);
}

void
sl_node_types_delete(void *app, void *worker, const sl_request *request, sl_response *response)
{
    remove_entry(app, worker, SL_OWN_NODE_TYPE, request, response);
}

void
sl_node_prices_put(void *app, void *worker, const sl_request *request, sl_response *response)
{
    put(app, worker, SL_OWN_PRICE, request, response);
}

void
sl_node_prices_delete(void *app, void *worker, const sl_request *request, sl_response *response)
{
    remove_entry(app, worker, SL_OWN_PRICE, request, response);
}
