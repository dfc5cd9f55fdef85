/* Models by a part of their name. */
#include "api/resources.h"

#include "codec/answer/cross_check.h"

enum { LIMIT_DEFAULT = 20 };

static void
write_hit(sl_writer *writer, const sl_hub_hit *hit)
{
    sl_write_object(writer);
    sl_put_text(writer, "id", hit->id);
    sl_gated_write(writer, hit->gated);
    sl_put_optional(writer, "downloads", hit->has_downloads, hit->downloads);
    sl_put_optional(writer, "likes", hit->has_likes, hit->likes);
    sl_put_text(writer, "library", hit->library);
    sl_put_text(writer, "last_modified", hit->last_modified);
    sl_put_text(writer, "source", hit->from_cache ? "cache" : "hub");
    sl_write_object_end(writer);
}

static void
write_found(const sl_hub_found *found, const sl_request *request, sl_response *response)
{
    sl_writer writer;

    sl_writer_init(&writer, &response->body);
    sl_write_object(&writer);
    sl_write_key(&writer, "models");
    sl_write_array(&writer);
    for (uint32_t i = 0; i < found->count; i++)
        write_hit(&writer, &found->hits[i]);
    sl_write_array_end(&writer);
    sl_put_text(&writer, "source", found->from_cache ? "cache" : "hub");
    sl_put_bool(&writer, "stale", found->stale);
    sl_write_object_end(&writer);
    sl_api_finish(&writer, response, request);
}

/* On the compute lane the caches are searched where the Hub is not to be asked; asking it has a
 * lane of its own, whose threads may all be waiting for a Hub that hangs. */
void
sl_models_search(void *app, void *thread, const sl_request *request, sl_response *response)
{
    const sl_app *shared = app;
    sl_worker *worker = sl_api_worker(thread, request, response);
    const char *query = sl_request_query(request, "query");
    const char *text = query == NULL ? "" : query;
    sl_hub_found found = {.count = 0};
    sl_errors err = {.count = 0};
    uint32_t limit = 0;

    if (worker == NULL)
        return;
    sl_code code = sl_api_limit(request, LIMIT_DEFAULT, SL_HUB_SEARCH_MAX, &limit, &err);
    if (code == SL_OK && worker->hub != NULL) {
        code = sl_hub_search(worker->hub, text, limit, request->cancelled, request->arena, &found,
                             &err);
    } else if (code == SL_OK) {
        const sl_hub_recollection recalled =
            sl_hub_search_recall(shared->hub, text, limit, request->arena, &found, &err);
        if (recalled == SL_HUB_UNKNOWN) {
            sl_response_continue(response, SL_LANE_HUB, response->state);
            return;
        }
        if (recalled == SL_HUB_KNOWN_NOT)
            code = err.list[0].code;
    }
    if (code == SL_OK)
        write_found(&found, request, response);
    else
        sl_response_problem(response, request, &err);
}
