/* Stored inventories: spec as the client sent it, status as we compute it. */
#include "api/inventories.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/resources.h"
#include "base/text.h"
#include "codec/inventory.h"

enum { PAGE_DEFAULT = 100, PAGE_MAX = 1000 };

static const sl_json_limits spec_limits = {.max_bytes = SIZE_MAX, .max_depth = 32};

bool
sl_api_slug_ok(const char *slug)
{
    const size_t length = strlen(slug);

    if (length < 1 || length > 63 || slug[0] == '-' || slug[length - 1] == '-')
        return false;
    for (size_t i = 0; i < length; i++) {
        const char c = slug[i];
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'))
            return false;
    }
    return true;
}

static const char *
revision_tag(const sl_inventory_row *row, sl_arena *arena)
{
    return sl_arena_format(arena, "%" PRIu64, row->revision);
}

/* The tag of a view: the bare spec and the wrapped answer are different bytes. */
static bool
not_modified(const sl_inventory_row *row, const sl_request *request, sl_response *response)
{
    const char *tag = revision_tag(row, request->arena);

    return tag != NULL && sl_response_etag(response, request, tag);
}

static void
write_row(const sl_app *app, const sl_inventory_row *row, const sl_request *request,
          sl_response *response)
{
    const char *view = sl_request_query(request, "view");
    sl_errors err = {.count = 0};
    sl_json *spec = NULL;
    sl_writer writer;

    /* Byte for byte what was accepted: a provisioning tool must see no drift. */
    if (view != NULL && sl_text_equal(view, "spec")) {
        sl_buffer_text(&response->body, row->spec);
        return;
    }
    if (sl_json_parse(row->spec, strlen(row->spec), &spec_limits, &spec, &err) != SL_OK) {
        sl_response_problem(response, request, &err);
        return;
    }

    const sl_node root = sl_json_root(spec);
    sl_writer_init(&writer, &response->body);
    sl_write_object(&writer);
    sl_put_text(&writer, "slug", row->slug);
    sl_put_uint(&writer, "revision", row->revision);
    sl_write_key(&writer, "spec");
    sl_write_raw(&writer, row->spec, strlen(row->spec));
    sl_write_key(&writer, "status");
    sl_write_object(&writer);
    sl_put_text(&writer, "created_at", row->created_at);
    sl_put_text(&writer, "updated_at", row->updated_at);
    sl_write_key(&writer, "hardware");
    sl_inventory_status_write(&writer, &root, app->catalog);
    sl_write_object_end(&writer);
    sl_write_object_end(&writer);
    sl_json_free(spec);
    sl_api_finish(&writer, response, request);
}

void
sl_inventories_get(void *argument, void *thread, const sl_request *request, sl_response *response)
{
    sl_app *app = argument;
    sl_worker *worker = sl_api_worker(thread, request, response);
    sl_errors err = {.count = 0};
    sl_inventory_row row;

    if (worker == NULL)
        return;

    sl_store *store = sl_api_store(app, worker, &err);
    if (store == NULL || sl_inventory_get(store, sl_request_parameter(request, "slug"), "",
                                          request->arena, &row, &err) != SL_OK) {
        sl_response_problem(response, request, &err);
        return;
    }
    if (!not_modified(&row, request, response))
        write_row(app, &row, request, response);
}

/* If-Match: "3" names a revision; "*" asks only that there is one. False and err when it is neither. */
static bool
read_if_match(const sl_request *request, uint64_t *out, sl_errors *err)
{
    const char *text = request->if_match;
    char digits[24];

    *out = 0;
    if (text == NULL || sl_text_equal(text, "*"))
        return true;

    const size_t length = strlen(text);
    if (length >= 3 && length < sizeof digits + 2 && text[0] == '"' && text[length - 1] == '"') {
        memcpy(digits, text + 1, length - 2);
        digits[length - 2] = '\0';
        if (sl_text_to_uint(digits, out) && *out > 0)
            return true;
    }
    (void)sl_fail(err, SL_E_PRECONDITION, "revision_mismatch", "",
                  "If-Match must be one quoted revision, got %s", text);
    return false;
}

static bool
is_true(const sl_request *request, const char *name)
{
    const char *text = sl_request_query(request, name);

    return text != NULL && (sl_text_equal(text, "true") || sl_text_equal(text, "1"));
}

/* Checks the body and addresses it; the document may go afterwards. */
static sl_code
check_spec(const sl_app *app, const sl_request *request, char hash[SL_HASH_TEXT_SIZE], char *name,
           size_t name_size, sl_errors *err)
{
    const char *unknown = sl_request_query(request, "unknown");
    const bool lenient = unknown != NULL && sl_text_equal(unknown, "warn");
    sl_errors warnings = {.count = 0};
    const char *text = "";
    sl_json *json = NULL;
    sl_code code = sl_json_parse(request->body, request->body_size, &spec_limits, &json, err);

    if (code != SL_OK)
        return code;

    const sl_node root = sl_json_root(json);
    code = sl_inventory_check(&root, app->catalog, lenient ? &warnings : NULL, err);
    if (code == SL_OK)
        code = sl_inventory_hash(&root, hash, err);
    if (code == SL_OK)
        code = sl_node_text(&root, "name", &text, NULL, err);
    if (code == SL_OK)
        (void)sl_text_copy(name, name_size, text);
    sl_json_free(json);
    return code;
}

void
sl_inventories_put(void *argument, void *thread, const sl_request *request, sl_response *response)
{
    sl_app *app = argument;
    sl_worker *worker = sl_api_worker(thread, request, response);
    const char *slug = sl_request_parameter(request, "slug");
    const bool create_only = request->if_none_match != NULL;
    char hash[SL_HASH_TEXT_SIZE];
    char name[256] = "";
    sl_errors err = {.count = 0};
    sl_inventory_row row = {.slug = slug, .name = name, .spec = request->body};
    uint64_t if_match = 0;
    bool created = false;

    if (worker == NULL)
        return;
    if (!sl_api_slug_ok(slug)) {
        (void)sl_fail(&err, SL_E_RANGE, "invalid_slug", "",
                      "the slug must be 1 to 63 of a-z, 0-9 and inner dashes, got %s", slug);
    } else if (read_if_match(request, &if_match, &err)) {
        sl_code code = check_spec(app, request, hash, name, sizeof name, &err);
        if (code == SL_OK && is_true(request, "dry_run")) {
            row.created_at = row.updated_at = NULL;
            write_row(app, &row, request, response);
            return;
        }
        sl_store *store = code == SL_OK ? sl_api_store(app, worker, &err) : NULL;
        if (store != NULL &&
            sl_inventory_put(store, slug, name, request->body, hash, if_match, create_only,
                             request->arena, &row, &created, &err) == SL_OK) {
            (void)not_modified(&row, request, response);
            response->status = created ? 201 : 200;
            write_row(app, &row, request, response);
            return;
        }
    }
    sl_response_problem(response, request, &err);
}

static sl_code
read_limit(const sl_request *request, uint32_t *out, sl_errors *err)
{
    const char *text = sl_request_query(request, "limit");
    uint64_t limit = PAGE_DEFAULT;

    if (text != NULL && (!sl_text_to_uint(text, &limit) || limit < 1 || limit > PAGE_MAX))
        return sl_fail(err, SL_E_RANGE, "out_of_range", "",
                       "limit must be a number from 1 to %d, got %s", PAGE_MAX, text);
    *out = (uint32_t)limit;
    return SL_OK;
}

static void
write_page(const sl_inventory_row *rows, uint32_t count, const char *next,
           const sl_request *request, sl_response *response)
{
    sl_writer writer;

    sl_writer_init(&writer, &response->body);
    sl_write_object(&writer);
    sl_write_key(&writer, "items");
    sl_write_array(&writer);
    for (uint32_t i = 0; i < count; i++) {
        sl_write_object(&writer);
        sl_put_text(&writer, "slug", rows[i].slug);
        sl_put_uint(&writer, "revision", rows[i].revision);
        sl_put_text(&writer, "name", rows[i].name);
        sl_put_text(&writer, "created_at", rows[i].created_at);
        sl_put_text(&writer, "updated_at", rows[i].updated_at);
        sl_write_object_end(&writer);
    }
    sl_write_array_end(&writer);
    sl_put_text(&writer, "next_cursor", next);
    sl_write_object_end(&writer);
    if (next != NULL) {
        const char *link =
            sl_arena_format(request->arena, "<%s?cursor=%s>; rel=\"next\"", request->path, next);
        if (link != NULL)
            sl_response_header(response, "Link", link);
    }
    sl_api_finish(&writer, response, request);
}

void
sl_inventories_list(void *argument, void *thread, const sl_request *request, sl_response *response)
{
    sl_app *app = argument;
    sl_worker *worker = sl_api_worker(thread, request, response);
    const char *cursor = sl_request_query(request, "cursor");
    sl_errors err = {.count = 0};
    sl_inventory_row *rows = NULL;
    uint32_t limit = 0;
    uint32_t count = 0;
    bool more = false;

    if (worker == NULL)
        return;
    /* The cursor is the last slug seen: rows that appear meanwhile never shift a page. */
    if (cursor != NULL && !sl_api_slug_ok(cursor))
        (void)sl_fail(&err, SL_E_RANGE, "invalid_cursor", "", "the cursor is not one of ours");
    else if (read_limit(request, &limit, &err) == SL_OK) {
        sl_store *store = sl_api_store(app, worker, &err);
        if (store != NULL &&
            sl_inventory_list(store, cursor == NULL ? "" : cursor, limit, request->arena, &rows,
                              &count, &more, &err) == SL_OK) {
            write_page(rows, count, more ? rows[count - 1].slug : NULL, request, response);
            return;
        }
    }
    sl_response_problem(response, request, &err);
}

void
sl_inventories_revisions(void *argument, void *thread, const sl_request *request,
                         sl_response *response)
{
    sl_app *app = argument;
    sl_worker *worker = sl_api_worker(thread, request, response);
    const char *cursor = sl_request_query(request, "cursor");
    sl_errors err = {.count = 0};
    sl_inventory_row *rows = NULL;
    uint64_t before = 0;
    uint32_t limit = 0;
    uint32_t count = 0;
    bool more = false;

    if (worker == NULL)
        return;
    if (cursor != NULL && (!sl_text_to_uint(cursor, &before) || before == 0))
        (void)sl_fail(&err, SL_E_RANGE, "invalid_cursor", "", "the cursor is not one of ours");
    else if (read_limit(request, &limit, &err) == SL_OK) {
        sl_store *store = sl_api_store(app, worker, &err);
        if (store != NULL &&
            sl_inventory_revisions(store, sl_request_parameter(request, "slug"), before, limit,
                                   request->arena, &rows, &count, &more, &err) == SL_OK) {
            const char *next = more ? revision_tag(&rows[count - 1], request->arena) : NULL;
            write_page(rows, count, next, request, response);
            return;
        }
    }
    sl_response_problem(response, request, &err);
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

    if (worker == NULL)
        return;
    if (!sl_text_to_uint(text, &revision) || revision == 0) {
        (void)sl_fail(&err, SL_E_NOT_FOUND, "revision_not_found", "",
                      "revisions are numbers from 1, got %s", text);
    } else {
        sl_store *store = sl_api_store(app, worker, &err);
        if (store != NULL && sl_inventory_revision(store, sl_request_parameter(request, "slug"),
                                                   revision, request->arena, &row, &err) == SL_OK) {
            if (!not_modified(&row, request, response))
                write_row(app, &row, request, response);
            return;
        }
    }
    sl_response_problem(response, request, &err);
}
