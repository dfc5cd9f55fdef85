/* The catalogue: accelerators and node types, read only. */
#include "api/resources.h"

#include "codec/hardware_json.h"

/* Answers 304 when the client has this revision of the catalogue. */
static bool
not_modified(const sl_app *app, const sl_request *request, sl_response *response)
{
    return sl_response_etag(response, request, sl_catalog_revision(app->catalog));
}

typedef void (*entry_writer)(sl_writer *writer, const sl_catalog *catalog, uint32_t index);

static void
write_part(sl_writer *writer, const sl_catalog *catalog, uint32_t index)
{
    sl_part_write(writer, sl_catalog_part(catalog, index));
}

static void
write_node_type(sl_writer *writer, const sl_catalog *catalog, uint32_t index)
{
    sl_node_type_write(writer, sl_catalog_node(catalog, index));
}

/* The whole table in one page: it is small and its order is the file's. */
static void
list(const sl_app *app, uint32_t count, entry_writer write, const sl_request *request,
     sl_response *response)
{
    sl_writer writer;

    if (not_modified(app, request, response))
        return;
    sl_writer_init(&writer, &response->body);
    sl_write_object(&writer);
    sl_write_key(&writer, "items");
    sl_write_array(&writer);
    for (uint32_t i = 0; i < count; i++)
        write(&writer, app->catalog, i);
    sl_write_array_end(&writer);
    sl_put_null(&writer, "next_cursor");
    sl_write_object_end(&writer);
    sl_api_finish(&writer, response, request);
}

/* Names in a path are of something that is not there; in a document the same fault is 422. */
static void
not_found(sl_errors *err, const sl_request *request, sl_response *response)
{
    err->list[0].code = SL_E_NOT_FOUND;
    sl_response_problem(response, request, err);
}

void
sl_accelerators_list(void *argument, void *worker, const sl_request *request, sl_response *response)
{
    const sl_app *app = argument;

    (void)worker;
    list(app, sl_catalog_part_count(app->catalog), write_part, request, response);
}

void
sl_node_types_list(void *argument, void *worker, const sl_request *request, sl_response *response)
{
    const sl_app *app = argument;

    (void)worker;
    list(app, sl_catalog_node_count(app->catalog), write_node_type, request, response);
}

void
sl_accelerators_get(void *argument, void *worker, const sl_request *request, sl_response *response)
{
    const sl_app *app = argument;
    const sl_part *part = NULL;
    sl_errors err = {.count = 0};
    sl_writer writer;

    (void)worker;
    if (sl_catalog_find_part(app->catalog, sl_request_parameter(request, "id"), "", &part, &err) !=
        SL_OK) {
        not_found(&err, request, response);
    } else if (!not_modified(app, request, response)) {
        sl_writer_init(&writer, &response->body);
        sl_part_write(&writer, part);
        sl_api_finish(&writer, response, request);
    }
}

void
sl_node_types_get(void *argument, void *worker, const sl_request *request, sl_response *response)
{
    const sl_app *app = argument;
    const sl_node_type *type = NULL;
    sl_errors err = {.count = 0};
    sl_writer writer;

    (void)worker;
    if (sl_catalog_find_node(app->catalog, sl_request_parameter(request, "id"), "", &type, &err) !=
        SL_OK) {
        not_found(&err, request, response);
    } else if (!not_modified(app, request, response)) {
        sl_writer_init(&writer, &response->body);
        sl_node_type_write(&writer, type);
        sl_api_finish(&writer, response, request);
    }
}
