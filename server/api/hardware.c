/* The catalogue and the private rows beside it, as they are in use. */
#include "api/hardware.h"
#include "api/resources.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "codec/answer/hardware_json.h"

static sl_code
find(const sl_catalog *catalog, sl_own_kind kind, const char *name, const sl_part **part,
     const sl_node_type **type, sl_errors *err)
{
    return kind == SL_OWN_ACCELERATOR ? sl_catalog_find_part(catalog, name, "", part, err)
                                      : sl_catalog_find_node(catalog, name, "", type, err);
}

const sl_own *
sl_hardware_entry_own(const sl_catalog *catalog, sl_own_kind kind, const char *name)
{
    sl_errors unseen = {.count = 0};
    const sl_node_type *type = NULL;
    const sl_part *part = NULL;

    if (find(catalog, kind, name, &part, &type, &unseen) != SL_OK)
        return NULL;
    if (part != NULL)
        return &part->own;
    return kind == SL_OWN_PRICE ? &type->own_price : &type->own;
}

void
sl_hardware_entry_write(sl_writer *writer, const sl_catalog *catalog, sl_own_kind kind,
                        const char *name, const sl_errors *warnings)
{
    sl_errors unseen = {.count = 0};
    const sl_node_type *type = NULL;
    const sl_part *part = NULL;

    if (find(catalog, kind, name, &part, &type, &unseen) != SL_OK)
        sl_write_null(writer);
    else if (part != NULL)
        sl_part_write(writer, catalog, part, warnings);
    else if (kind == SL_OWN_PRICE)
        sl_node_price_write(writer, type, warnings);
    else
        sl_node_type_write(writer, catalog, type, warnings);
}

bool
sl_hardware_entry_not_modified(const sl_catalog *catalog, const sl_own *own, bool spec_only,
                               const sl_request *request, sl_response *response)
{
    const char *const tables = sl_catalog_revision(catalog);
    const char *tag = tables;

    if (own != NULL && own->revision > 0)
        tag = sl_arena_format(request->arena, "%" PRIu64 "%s%s", own->revision,
                              spec_only ? "" : "-", spec_only ? "" : tables);
    return tag != NULL && sl_response_etag(response, request, tag);
}

/* A problem about a name in a path: what in a document is 422 is 404 there. */
static void
name_problem(sl_errors *err, const sl_request *request, sl_response *response)
{
    if (err->list[0].code == SL_E_RANGE)
        err->list[0].code = SL_E_NOT_FOUND;
    sl_response_problem(response, request, err);
}

sl_code
sl_hardware_entry_view(const sl_request *request, bool *spec_only, sl_errors *err)
{
    static const char *const views[] = {"spec"};
    int view = -1;
    const sl_code code = sl_api_choice(request, "view", views, 1, &view, err);

    *spec_only = view == 0;
    return code;
}

/* What a list is narrowed to. NULL and 0: not asked. */
typedef struct filter {
    const char *vendor;
    const char *arch;
    const char *operator_name;
    const char *query;
    const sl_accelerator *accelerator;
    uint64_t least_bytes;
    int origin; /* of origins; -1: any */
} filter;

static const char *const origins[] = {"catalog", "private"};

static sl_code
read_filter(const sl_catalog *catalog, const sl_request *request, filter *out, sl_errors *err)
{
    const char *least = sl_request_query(request, "memory_bytes__gte");
    const char *accelerator = sl_request_query(request, "accelerator");
    const sl_part *part = NULL;

    *out = (filter){
        .vendor = sl_request_query(request, "vendor"),
        .arch = sl_request_query(request, "arch"),
        .operator_name = sl_request_query(request, "operator"),
        .query = sl_request_query(request, "query"),
    };
    sl_code code = sl_api_choice(request, "origin", origins, 2, &out->origin, err);
    if (least != NULL && !sl_text_to_uint(least, &out->least_bytes))
        code = sl_fail(err, SL_E_RANGE, "out_of_range", "",
                       "memory_bytes__gte must be a number of bytes, got %.40s", least);
    if (accelerator != NULL) {
        const sl_code found = sl_catalog_find_part(catalog, accelerator, "", &part, err);
        if (found != SL_OK)
            return found;
        out->accelerator = &part->accelerator;
    }
    return code;
}

static bool
is(const char *wanted, const char *text)
{
    return wanted == NULL || sl_text_equal_ignoring_case(wanted, text);
}

static bool
has_origin(const filter *asked, const sl_own *own)
{
    return asked->origin < 0 || asked->origin == (own->revision > 0);
}

static bool
part_passes(const filter *asked, const sl_part *part)
{
    const sl_accelerator *const a = &part->accelerator;

    if (!is(asked->vendor, a->vendor) || !is(asked->arch, a->arch) ||
        !has_origin(asked, &part->own) || a->memory_bytes < asked->least_bytes)
        return false;
    bool named = asked->query == NULL || sl_text_holds_ignoring_case(a->id, asked->query) ||
                 sl_text_holds_ignoring_case(a->name, asked->query);
    for (uint32_t i = 0; i < part->alias_count && !named; i++)
        named = sl_text_holds_ignoring_case(part->aliases[i], asked->query);
    return named;
}

static bool
node_passes(const filter *asked, const sl_node_type *type)
{
    const sl_accelerator *const a = type->accelerator;

    if (!is(asked->operator_name, type->operator_name) || !has_origin(asked, &type->own) ||
        (asked->accelerator != NULL &&
         (a == NULL || !sl_text_equal(a->id, asked->accelerator->id))))
        return false;
    return asked->query == NULL || sl_text_holds_ignoring_case(type->id, asked->query) ||
           sl_text_holds_ignoring_case(type->aliases, asked->query);
}

/* One page: what it can hold is bounded. The tables' order, then private rows by id. */
static void
list(const sl_app *app, sl_own_kind kind, const sl_request *request, sl_response *response)
{
    const sl_catalog *const catalog = app->catalog;
    const bool parts = kind == SL_OWN_ACCELERATOR;
    const uint32_t count = parts ? sl_catalog_part_count(catalog) : sl_catalog_node_count(catalog);
    sl_errors err = {.count = 0};
    sl_writer writer;
    filter asked;

    if (read_filter(catalog, request, &asked, &err) != SL_OK) {
        sl_response_problem(response, request, &err);
        return;
    }
    if (sl_hardware_entry_not_modified(catalog, NULL, false, request, response))
        return;
    sl_writer_init(&writer, &response->body);
    sl_write_object(&writer);
    sl_write_key(&writer, "items");
    sl_write_array(&writer);
    for (uint32_t i = 0; i < count; i++) {
        if (parts && part_passes(&asked, sl_catalog_part(catalog, i)))
            sl_part_write(&writer, catalog, sl_catalog_part(catalog, i), NULL);
        else if (!parts && node_passes(&asked, sl_catalog_node(catalog, i)))
            sl_node_type_write(&writer, catalog, sl_catalog_node(catalog, i), NULL);
    }
    sl_write_array_end(&writer);
    sl_put_null(&writer, "next_cursor");
    sl_write_object_end(&writer);
    sl_api_finish(&writer, response, request);
}

static void
get(const sl_app *app, sl_own_kind kind, const sl_request *request, sl_response *response)
{
    const char *const name = sl_request_parameter(request, "id");
    const sl_node_type *type = NULL;
    const sl_part *part = NULL;
    sl_errors err = {.count = 0};
    sl_writer writer;
    bool spec_only = false;

    if (sl_hardware_entry_view(request, &spec_only, &err) != SL_OK) {
        sl_response_problem(response, request, &err);
        return;
    }
    if (find(app->catalog, kind, name, &part, &type, &err) != SL_OK) {
        name_problem(&err, request, response);
        return;
    }
    const sl_own *const own = sl_hardware_entry_own(app->catalog, kind, name);
    if (spec_only && own->revision == 0) {
        (void)sl_fail(&err, SL_E_NOT_FOUND, "hardware_not_found", "",
                      "%s is the catalogue's own: nobody sent a spec of it", name);
        sl_response_problem(response, request, &err);
        return;
    }
    if (sl_hardware_entry_not_modified(app->catalog, own, spec_only, request, response))
        return;
    if (spec_only) {
        sl_buffer_text(&response->body, own->spec);
        return;
    }
    sl_writer_init(&writer, &response->body);
    sl_hardware_entry_write(&writer, app->catalog, kind, name, NULL);
    sl_api_finish(&writer, response, request);
}

void
sl_accelerators_list(void *app, void *worker, const sl_request *request, sl_response *response)
{
    (void)worker;
    list(app, SL_OWN_ACCELERATOR, request, response);
}

void
sl_node_types_list(void *app, void *worker, const sl_request *request, sl_response *response)
{
    (void)worker;
    list(app, SL_OWN_NODE_TYPE, request, response);
}

void
sl_accelerators_get(void *app, void *worker, const sl_request *request, sl_response *response)
{
    (void)worker;
    get(app, SL_OWN_ACCELERATOR, request, response);
}

void
sl_node_types_get(void *app, void *worker, const sl_request *request, sl_response *response)
{
    (void)worker;
    get(app, SL_OWN_NODE_TYPE, request, response);
}

void
sl_node_prices_get(void *app, void *worker, const sl_request *request, sl_response *response)
{
    (void)worker;
    get(app, SL_OWN_PRICE, request, response);
}
