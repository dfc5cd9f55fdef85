/* What stored inventories were: their revisions, who made them, and what they changed. */
#include <inttypes.h>
#include <string.h>

#include "api/inventories.h"
#include "api/resources.h"
#include "base/text.h"
#include "codec/inventory/inventory.h"
#include "codec/inventory/inventory_diff.h"

void
sl_event_write(sl_writer *writer, const sl_inventory_event *event)
{
    if (event->action == NULL) {
        sl_write_null(writer);
        return;
    }
    sl_write_object(writer);
    if (event->id != 0)
        sl_put_uint(writer, "id", event->id);
    sl_put_text(writer, "action", event->action);
    if (event->id != 0) {
        sl_put_uint(writer, "revision", event->revision);
        sl_put_text(writer, "written_at", event->written_at);
    }
    sl_put_text(writer, "remote_address", event->requester.remote_address);
    sl_put_text(writer, "user_agent", event->requester.user_agent);
    sl_put_text(writer, "request_id", event->requester.request_id);
    sl_write_object_end(writer);
}

static void
write_revisions(const sl_inventory_history *page, const sl_request *request, sl_response *response)
{
    sl_writer writer;

    sl_writer_init(&writer, &response->body);
    sl_write_object(&writer);
    sl_write_key(&writer, "items");
    sl_write_array(&writer);
    for (uint32_t i = 0; i < page->count; i++) {
        sl_write_object(&writer);
        sl_row_members(&writer, &page->rows[i]);
        sl_write_key(&writer, "written");
        sl_event_write(&writer, &page->events[i]);
        sl_write_object_end(&writer);
    }
    sl_write_array_end(&writer);
    sl_page_finish(&writer,
                   page->more ? sl_arena_format(request->arena, "%" PRIu64,
                                                page->events[page->count - 1].revision)
                              : NULL,
                   request, response);
}

sl_code
sl_history_page(const sl_request *request, uint64_t *before, uint32_t *limit, sl_errors *err)
{
    const char *const cursor = sl_request_query(request, "cursor");

    *before = 0;
    if (cursor != NULL && (!sl_text_to_uint(cursor, before) || *before == 0))
        return sl_fail(err, SL_E_RANGE, "invalid_cursor", "", "the cursor is not one of ours");
    return sl_api_limit(request, SL_PAGE_DEFAULT, SL_PAGE_MAX, limit, err);
}

void
sl_inventories_revisions(void *argument, void *thread, const sl_request *request,
                         sl_response *response)
{
    sl_app *app = argument;
    sl_worker *worker = sl_api_worker(thread, request, response);
    sl_errors err = {.count = 0};
    sl_inventory_history page;
    uint64_t before = 0;
    uint32_t limit = 0;

    if (worker == NULL)
        return;
    const sl_code code = sl_history_page(request, &before, &limit, &err);
    sl_store *const store = code == SL_OK ? sl_api_store(app, worker, &err) : NULL;
    if (store != NULL &&
        sl_inventory_revisions(store, sl_request_parameter(request, "slug"), before, limit,
                               request->arena, &page, &err) == SL_OK)
        write_revisions(&page, request, response);
    else
        sl_response_problem(response, request, &err);
}

static void
answer_revision(const sl_app *app, const sl_inventory_row *row, bool spec_only,
                const sl_request *request, sl_response *response)
{
    sl_errors err = {.count = 0};
    sl_api_spec spec = {.json = NULL};

    if (spec_only)
        sl_row_answer(app, row, NULL, NULL, request, response);
    else if (sl_api_spec_read(app, row->spec, strlen(row->spec), &spec, &err) == SL_OK)
        sl_row_answer(app, row, &spec, NULL, request, response);
    else
        sl_response_problem(response, request, &err);
    sl_api_spec_clear(&spec);
}

void
sl_inventories_revision(void *argument, void *thread, const sl_request *request,
                        sl_response *response)
{
    sl_app *app = argument;
    sl_worker *worker = sl_api_worker(thread, request, response);
    const char *text = sl_request_parameter(request, "n");
    sl_errors err = {.count = 0};
    sl_inventory_row row;
    uint64_t revision = 0;
    bool spec_only = false;

    if (worker == NULL)
        return;
    if (!sl_text_to_uint(text, &revision) || revision == 0) {
        (void)sl_fail(&err, SL_E_NOT_FOUND, "revision_not_found", "",
                      "revisions are numbers from 1, got %s", text);
    } else if (sl_view_read(request, &spec_only, &err) == SL_OK) {
        sl_store *store = sl_api_store(app, worker, &err);
        if (store != NULL && sl_inventory_revision(store, sl_request_parameter(request, "slug"),
                                                   revision, request->arena, &row, &err) == SL_OK) {
            answer_revision(app, &row, spec_only, request, response);
            return;
        }
    }
    sl_response_problem(response, request, &err);
}

/* ?from= and ?to=: absent, what the current revision changed. Revision 0 is before the first. */
static sl_code
read_range(const sl_request *request, uint64_t current, uint64_t *from, uint64_t *to,
           sl_errors *err)
{
    const char *const names[] = {"to", "from"};
    uint64_t *const numbers[] = {to, from};

    for (size_t i = 0; i < 2; i++) {
        const char *const text = sl_request_query(request, names[i]);
        *numbers[i] = i == 0 ? current : *to - (*to > 0);
        if (text != NULL && (!sl_text_to_uint(text, numbers[i]) || (i == 0 && *to == 0)))
            return sl_fail(err, SL_E_RANGE, "out_of_range", "",
                           "%s must be the number of a revision, got %.32s", names[i], text);
    }
    return SL_OK;
}

static sl_code
read_revision(sl_store *store, const sl_inventory_row *current, uint64_t number, sl_arena *arena,
              sl_json **out, sl_errors *err)
{
    sl_inventory_row row = *current;
    sl_code code = SL_OK;

    if (number != current->revision)
        code = sl_inventory_revision(store, current->slug, number, arena, &row, err);
    return code == SL_OK ? sl_json_parse(row.spec, strlen(row.spec), &sl_spec_limits, out, err)
                         : code;
}

/* before: NULL for revision 0. */
static sl_code
write_diff(uint64_t from, const sl_json *before, uint64_t to, const sl_json *after,
           const sl_request *request, sl_response *response, sl_errors *err)
{
    const sl_node left = before == NULL ? (sl_node){.value = NULL} : sl_json_root(before);
    const sl_node right = sl_json_root(after);
    sl_writer writer;

    sl_writer_init(&writer, &response->body);
    sl_write_object(&writer);
    sl_put_uint(&writer, "from", from);
    sl_put_uint(&writer, "to", to);
    const sl_code code = sl_inventory_diff_write(&writer, before == NULL ? NULL : &left, &right,
                                                 request->arena, err);
    if (code == SL_OK) {
        sl_write_object_end(&writer);
        sl_api_finish(&writer, response, request);
    }
    return code;
}

static sl_code
diff_revisions(sl_store *store, const sl_request *request, sl_response *response, sl_errors *err)
{
    sl_inventory_row current;
    sl_json *before = NULL;
    sl_json *after = NULL;
    uint64_t from = 0;
    uint64_t to = 0;
    sl_code code = sl_inventory_get(store, sl_request_parameter(request, "slug"), "",
                                    request->arena, &current, err);

    if (code == SL_OK)
        code = read_range(request, current.revision, &from, &to, err);
    if (code == SL_OK)
        code = read_revision(store, &current, to, request->arena, &after, err);
    if (code == SL_OK && from > 0)
        code = read_revision(store, &current, from, request->arena, &before, err);
    if (code == SL_OK)
        code = write_diff(from, before, to, after, request, response, err);
    sl_json_free(before);
    sl_json_free(after);
    return code;
}

void
sl_inventories_diff(void *argument, void *thread, const sl_request *request, sl_response *response)
{
    sl_app *app = argument;
    sl_worker *worker = sl_api_worker(thread, request, response);
    sl_errors err = {.count = 0};

    if (worker == NULL)
        return;
    sl_store *store = sl_api_store(app, worker, &err);
    if (store == NULL || diff_revisions(store, request, response, &err) != SL_OK)
        sl_response_problem(response, request, &err);
}

/* The spec of the body against the current one, as the revision that it would become. */
static sl_code
diff_draft(const sl_app *app, sl_store *store, const sl_request *request, sl_response *response,
           sl_errors *err)
{
    sl_inventory_row current;
    sl_json *before = NULL;
    sl_json *after = NULL;
    sl_code code = sl_json_parse(request->body, request->body_size, &sl_spec_limits, &after, err);

    if (code == SL_OK) {
        const sl_node root = sl_json_root(after);
        code = sl_inventory_check(&root, app->catalog, NULL, err);
    }
    if (code == SL_OK)
        code = sl_inventory_get(store, sl_request_parameter(request, "slug"), "", request->arena,
                                &current, err);
    if (code == SL_OK)
        code = sl_json_parse(current.spec, strlen(current.spec), &sl_spec_limits, &before, err);
    if (code == SL_OK)
        code = write_diff(current.revision, before, current.revision + 1, after, request, response,
                          err);
    sl_json_free(before);
    sl_json_free(after);
    return code;
}

void
sl_inventories_diff_draft(void *argument, void *thread, const sl_request *request,
                          sl_response *response)
{
    sl_app *app = argument;
    sl_worker *worker = sl_api_worker(thread, request, response);
    sl_errors err = {.count = 0};

    if (worker == NULL)
        return;
    sl_store *store = sl_api_store(app, worker, &err);
    if (store == NULL || diff_draft(app, store, request, response, &err) != SL_OK)
        sl_response_problem(response, request, &err);
}
