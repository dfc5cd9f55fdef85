/* Who changed what is stored: one kind of page, whatever it is of. */
#include <inttypes.h>

#include "api/inventories.h"
#include "api/resources.h"
#include "codec/inventory/private_hardware.h"
#include "store/audit.h"

static void
write_page(const sl_inventory_history *page, const sl_request *request, sl_response *response)
{
    const char *next = NULL;
    sl_writer writer;

    if (page->more)
        next = sl_arena_format(request->arena, "%" PRIu64, page->events[page->count - 1].id);
    sl_writer_init(&writer, &response->body);
    sl_write_object(&writer);
    sl_write_key(&writer, "items");
    sl_write_array(&writer);
    for (uint32_t i = 0; i < page->count; i++)
        sl_event_write(&writer, &page->events[i]);
    sl_write_array_end(&writer);
    sl_page_finish(&writer, next, request, response);
}

static void
answer(sl_app *app, void *thread, const sl_audit_subject *subject, const sl_request *request,
       sl_response *response)
{
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
        sl_audit_list(store, subject, before, limit, request->arena, &page, &err) == SL_OK)
        write_page(&page, request, response);
    else
        sl_response_problem(response, request, &err);
}

void
sl_inventories_audit(void *app, void *worker, const sl_request *request, sl_response *response)
{
    const sl_audit_subject subject = {.kind = SL_AUDIT_INVENTORY,
                                      .name = sl_request_parameter(request, "slug")};
    answer(app, worker, &subject, request, response);
}

void
sl_observations_audit(void *app, void *worker, const sl_request *request, sl_response *response)
{
    const sl_audit_subject subject = {.kind = SL_AUDIT_OBSERVATION,
                                      .name = sl_request_parameter(request, "slug"),
                                      .part = sl_request_parameter(request, "source")};
    answer(app, worker, &subject, request, response);
}

void
sl_plans_audit(void *app, void *worker, const sl_request *request, sl_response *response)
{
    const sl_audit_subject subject = {.kind = SL_AUDIT_PLAN,
                                      .name = sl_request_parameter(request, "slug")};
    answer(app, worker, &subject, request, response);
}

static void
answer_hardware(sl_app *app, void *worker, sl_own_kind kind, const sl_request *request,
                sl_response *response)
{
    const sl_audit_subject subject = {.kind = SL_AUDIT_HARDWARE,
                                      .name = sl_request_parameter(request, "id"),
                                      .part = sl_own_kinds[kind]};
    answer(app, worker, &subject, request, response);
}

void
sl_accelerators_audit(void *app, void *worker, const sl_request *request, sl_response *response)
{
    answer_hardware(app, worker, SL_OWN_ACCELERATOR, request, response);
}

void
sl_node_types_audit(void *app, void *worker, const sl_request *request, sl_response *response)
{
    answer_hardware(app, worker, SL_OWN_NODE_TYPE, request, response);
}

void
sl_node_prices_audit(void *app, void *worker, const sl_request *request, sl_response *response)
{
    answer_hardware(app, worker, SL_OWN_PRICE, request, response);
}
