/* Stored inventories: spec as the client sent it, status as we compute it. */
#include "api/inventories.h"

#include <inttypes.h>
#include <string.h>

#include "api/resources.h"
#include "base/text.h"
#include "codec/inventory/inventory.h"
#include "codec/question/notes.h"

bool
sl_slug_ok(const char *slug)
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

sl_code
sl_view_read(const sl_request *request, bool *spec_only, sl_errors *err)
{
    static const char *const views[] = {"spec"};
    int view = -1;
    const sl_code code = sl_api_choice(request, "view", views, 1, &view, err);

    *spec_only = view == 0;
    return code;
}

/* A spec is the same as long as its revision is; what we compute of it follows the catalogue and
 * what was observed too. */
bool
sl_row_known(const sl_app *app, const sl_inventory_row *row, const sl_api_joined *joined,
             bool spec_only, const sl_request *request, sl_response *response)
{
    const bool observed = joined != NULL && joined->tag != NULL;
    const char *const tag = spec_only
                                ? sl_arena_format(request->arena, "%" PRIu64, row->revision)
                                : sl_arena_format(request->arena, "%" PRIu64 "-%s%s%s",
                                                  row->revision, sl_catalog_revision(app->catalog),
                                                  observed ? "-" : "", observed ? joined->tag : "");

    return tag != NULL && sl_response_etag(response, request, tag);
}

void
sl_row_write(const sl_inventory_row *row, const sl_api_spec *spec, const sl_api_joined *joined,
             const sl_errors *warnings, const sl_request *request, sl_response *response)
{
    static const sl_api_joined nothing = {.hosts = NULL};
    sl_writer writer;

    /* Byte for byte what was accepted: a provisioning tool must see no drift. */
    if (spec == NULL) {
        sl_buffer_text(&response->body, row->spec);
        return;
    }
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
    sl_inventory_hardware_write(&writer, &spec->hardware);
    sl_api_joined_write(&writer, joined == NULL ? &nothing : joined);
    sl_write_object_end(&writer);
    if (warnings != NULL) {
        sl_write_key(&writer, "warnings");
        sl_write_array(&writer);
        sl_faults_write(&writer, warnings);
        sl_write_array_end(&writer);
    }
    sl_write_object_end(&writer);
    sl_api_finish(&writer, response, request);
}

void
sl_row_answer(const sl_app *app, const sl_inventory_row *row, const sl_api_spec *spec,
              const sl_api_joined *joined, const sl_request *request, sl_response *response)
{
    if (!sl_row_known(app, row, joined, spec == NULL, request, response))
        sl_row_write(row, spec, joined, NULL, request, response);
}

void
sl_row_members(sl_writer *writer, const sl_inventory_row *row)
{
    sl_put_text(writer, "slug", row->slug);
    sl_put_uint(writer, "revision", row->revision);
    sl_put_text(writer, "name", row->name);
    sl_put_text(writer, "created_at", row->created_at);
    sl_put_text(writer, "updated_at", row->updated_at);
    if (row->deleted_at != NULL)
        sl_put_text(writer, "deleted_at", row->deleted_at);
}

/* A text as it may stand in a query: everything but letters, digits and "-._~" is escaped. */
static void
append_escaped(sl_buffer *out, const char *text)
{
    static const char plain[] = "0123456789abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ-._~";

    for (const char *at = text; *at != '\0'; at++) {
        if (strchr(plain, *at) != NULL)
            sl_buffer_append(out, at, 1);
        else
            sl_buffer_format(out, "%%%02X", (unsigned)(unsigned char)*at);
    }
}

static const char *
next_link(const char *next, const sl_request *request)
{
    const char *link = NULL;
    sl_buffer text;

    sl_buffer_init(&text, SIZE_MAX);
    sl_buffer_format(&text, "<%s?", request->path);
    for (uint32_t i = 0; i < request->query_count; i++) {
        if (sl_text_equal(request->query[i].name, "cursor"))
            continue;
        append_escaped(&text, request->query[i].name);
        sl_buffer_append(&text, "=", 1);
        append_escaped(&text, request->query[i].value);
        sl_buffer_append(&text, "&", 1);
    }
    sl_buffer_format(&text, "cursor=%s>; rel=\"next\"", next);
    if (!text.failed)
        link = sl_arena_copy(request->arena, text.data);
    sl_buffer_clear(&text);
    return link;
}

/* The path needs no escapes: only that of an inventory that exists, thus of a slug, has a next
 * page. */
void
sl_page_finish(sl_writer *writer, const char *next, const sl_request *request,
               sl_response *response)
{
    const char *const link = next == NULL ? NULL : next_link(next, request);

    sl_put_text(writer, "next_cursor", next);
    sl_write_object_end(writer);
    if (link != NULL)
        sl_response_header(response, "Link", link);
    sl_api_finish(writer, response, request);
}

void
sl_inventories_get(void *argument, void *thread, const sl_request *request, sl_response *response)
{
    sl_app *app = argument;
    sl_worker *worker = sl_api_worker(thread, request, response);
    sl_errors err = {.count = 0};
    sl_inventory_row row;
    sl_api_spec spec = {.json = NULL};
    sl_api_joined joined;
    bool spec_only = false;

    if (worker == NULL)
        return;

    sl_code code = sl_view_read(request, &spec_only, &err);
    sl_store *store = code == SL_OK ? sl_api_store(app, worker, &err) : NULL;
    if (code == SL_OK)
        code = store == NULL ? SL_E_UNAVAILABLE
                             : sl_inventory_get(store, sl_request_parameter(request, "slug"), "",
                                                request->arena, &row, &err);
    if (code == SL_OK && !spec_only)
        code = sl_api_spec_read(app, row.spec, strlen(row.spec), &spec, &err);
    if (code == SL_OK && !spec_only)
        code = sl_api_join(app, store, &row, &spec, request->arena, &joined, &err);
    if (code != SL_OK)
        sl_response_problem(response, request, &err);
    else if (spec_only)
        sl_row_answer(app, &row, NULL, NULL, request, response);
    else
        sl_row_answer(app, &row, &spec, &joined, request, response);
    sl_api_spec_clear(&spec);
}
