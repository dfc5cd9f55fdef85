/* The catalogue: accelerators and node types, read only. */
#include "api/resources.h"

#include "codec/hardware_json.h"

void
sl_accelerators_list(void *argument, void *worker, const sl_request *request, sl_response *response)
{
    const sl_app *app = argument;
    sl_writer writer;

    (void)worker;
    if (sl_response_etag(response, request, sl_catalog_revision(app->catalog)))
        return;
    sl_writer_init(&writer, &response->body);
    sl_write_object(&writer);
    sl_write_key(&writer, "items");
    sl_write_array(&writer);
    for (uint32_t i = 0; i < sl_catalog_part_count(app->catalog); i++)
        sl_part_write(&writer, sl_catalog_part(app->catalog, i));
    sl_write_array_end(&writer);
    sl_put_null(&writer, "next_cursor");
    sl_write_object_end(&writer);
    sl_api_finish(&writer, response, request);
}

void
sl_accelerators_get(void *argument, void *worker, const sl_request *request, sl_response *response)
{
    const sl_app *app = argument;
    const char *id = sl_request_parameter(request, "id");
    const sl_part *part = NULL;
    sl_errors err = {.count = 0};
    sl_writer writer;

    (void)worker;
    if (sl_catalog_find_part(app->catalog, id, "", &part, &err) != SL_OK) {
        err.list[0].code = SL_E_NOT_FOUND;
        sl_response_problem(response, request, &err);
        return;
    }
    if (sl_response_etag(response, request, sl_catalog_revision(app->catalog)))
        return;
    sl_writer_init(&writer, &response->body);
    sl_part_write(&writer, part);
    sl_api_finish(&writer, response, request);
}

void
sl_node_types_list(void *argument, void *worker, const sl_request *request, sl_response *response)
{
    const sl_app *app = argument;
    sl_writer writer;

    (void)worker;
    if (sl_response_etag(response, request, sl_catalog_revision(app->catalog)))
        return;
    sl_writer_init(&writer, &response->body);
    sl_write_object(&writer);
    sl_write_key(&writer, "items");
    sl_write_array(&writer);
    for (uint32_t i = 0; i < sl_catalog_node_count(app->catalog); i++)
        sl_node_type_write(&writer, sl_catalog_node(app->catalog, i));
    sl_write_array_end(&writer);
    sl_put_null(&writer, "next_cursor");
    sl_write_object_end(&writer);
    sl_api_finish(&writer, response, request);
}

void
sl_node_types_get(void *argument, void *worker, const sl_request *request, sl_response *response)
{
    const sl_app *app = argument;
    const char *id = sl_request_parameter(request, "id");
    const sl_node_type *type = NULL;
    sl_errors err = {.count = 0};
    sl_writer writer;

    (void)worker;
    if (sl_catalog_find_node(app->catalog, id, "", &type, &err) != SL_OK) {
        err.list[0].code = SL_E_NOT_FOUND;
        sl_response_problem(response, request, &err);
        return;
    }
    if (sl_response_etag(response, request, sl_catalog_revision(app->catalog)))
        return;
    sl_writer_init(&writer, &response->body);
    sl_node_type_write(&writer, type);
    sl_api_finish(&writer, response, request);
}
