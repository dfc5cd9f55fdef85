/* The contract itself: the OpenAPI document, and its schemas one by one for validators and
 * editors. */
#include "api/resources.h"

#include <assert.h>

#include "base/text.h"

extern const sl_embedded_set sl_api_files;

const sl_embedded *
sl_api_contract(void)
{
    const sl_embedded *file = sl_embedded_find(&sl_api_files, "openapi.json");

    assert(file != NULL);
    return file;
}

void
sl_openapi_get(void *argument, void *worker, const sl_request *request, sl_response *response)
{
    const sl_app *app = argument;
    const sl_embedded *contract = sl_api_contract();

    (void)worker;
    if (!sl_response_etag(response, request, app->contract_tag))
        sl_buffer_append(&response->body, contract->data, contract->size);
}

/* All schemas travel together, under the path by which they refer to one another. */
static sl_code
write_schema(sl_writer *writer, const char *name, const sl_node *schemas)
{
    char reference[160];
    sl_buffer text;

    sl_buffer_init(&text, SL_RESPONSE_BODY_MAX_BYTES);
    const sl_code code = sl_json_canonical(schemas, &text);
    if (code == SL_OK) {
        (void)sl_text_format(reference, sizeof reference, "#/components/schemas/%s", name);
        sl_write_object(writer);
        sl_put_text(writer, "$schema", "https://json-schema.org/draft/2020-12/schema");
        sl_write_key(writer, "allOf");
        sl_write_array(writer);
        sl_write_object(writer);
        sl_put_text(writer, "$ref", reference);
        sl_write_object_end(writer);
        sl_write_array_end(writer);
        sl_write_key(writer, "components");
        sl_write_object(writer);
        sl_write_key(writer, "schemas");
        sl_write_raw(writer, text.data, text.size);
        sl_write_object_end(writer);
        sl_write_object_end(writer);
    }
    sl_buffer_clear(&text);
    return code;
}

void
sl_schemas_get(void *argument, void *worker, const sl_request *request, sl_response *response)
{
    const sl_json_limits limits = {.max_bytes = SIZE_MAX, .max_depth = SL_JSON_DEPTH_MAX};
    const sl_app *app = argument;
    const sl_embedded *contract = sl_api_contract();
    const char *name = sl_request_parameter(request, "name");
    sl_errors err = {.count = 0};
    sl_json *json = NULL;
    sl_node components, schemas, schema;
    sl_writer writer;

    (void)worker;
    if (sl_json_parse((const char *)contract->data, contract->size, &limits, &json, &err) !=
        SL_OK) {
        sl_response_problem(response, request, &err);
        return;
    }

    const sl_node root = sl_json_root(json);
    if (!sl_node_member(&root, "components", &components) ||
        !sl_node_member(&components, "schemas", &schemas) ||
        !sl_node_member(&schemas, name, &schema)) {
        (void)sl_fail(&err, SL_E_NOT_FOUND, "schema_not_found", "",
                      "the contract has no schema of this name");
        sl_hint(&err, "EstimateRequest, InventorySpec");
        sl_response_problem(response, request, &err);
    } else if (!sl_response_etag(response, request, app->contract_tag)) {
        response->content_type = "application/schema+json";
        sl_writer_init(&writer, &response->body);
        if (write_schema(&writer, name, &schemas) == SL_OK) {
            sl_api_finish(&writer, response, request);
        } else {
            (void)sl_fail(&err, SL_E_MEMORY, "out_of_memory", "",
                          "the schemas do not fit in memory");
            sl_response_problem(response, request, &err);
        }
    }
    sl_json_free(json);
}
