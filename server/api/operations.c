/* Health, readiness, version, metrics. */
#include "api/plan_keeper.h"
#include "api/planned.h"
#include "api/resources.h"
#include "api/searches.h"

#include "http/exposition.h"
#include "shardline/version.h"

static const double ready_s = 2;

void
sl_health_get(void *app, void *worker, const sl_request *request, sl_response *response)
{
    sl_writer writer;

    (void)app;
    (void)worker;
    sl_writer_init(&writer, &response->body);
    sl_write_object(&writer);
    sl_put_text(&writer, "status", "ok");
    sl_write_object_end(&writer);
    sl_api_finish(&writer, response, request);
}

static void
write_check(sl_writer *writer, const char *name, const char *status, const char *detail)
{
    sl_write_object(writer);
    sl_put_text(writer, "name", name);
    sl_put_text(writer, "status", status);
    sl_put_text(writer, "detail", detail);
    sl_write_object_end(writer);
}

/* Ready: everything that was configured works. Without a database planning is all there is,
 * and it works. */
void
sl_ready_get(void *argument, void *thread, const sl_request *request, sl_response *response)
{
    sl_app *app = argument;
    sl_worker *worker = sl_api_worker(thread, request, response);
    const bool configured = app->settings->database_url[0] != '\0' && app->stock != NULL;
    sl_errors err = {.count = 0};
    sl_writer writer;

    if (worker == NULL)
        return;

    sl_code code = SL_OK;
    if (configured) {
        /* Who asks wants to know now: a database that takes longer does not serve anybody. */
        code = sl_stock_ready(app->stock, ready_s, &err);
    }
    response->status = code == SL_OK ? 200 : 503;
    if (code != SL_OK)
        sl_response_header(response, "Retry-After", "2");

    sl_writer_init(&writer, &response->body);
    sl_write_object(&writer);
    sl_put_text(&writer, "status", code == SL_OK ? "ready" : "not_ready");
    sl_write_key(&writer, "checks");
    sl_write_array(&writer);
    write_check(&writer, "catalogue", "ok", NULL);
    write_check(&writer, "database",
                !configured     ? "not_configured"
                : code == SL_OK ? "ok"
                                : "failed",
                err.count > 0 ? err.list[0].message : NULL);
    sl_write_array_end(&writer);
    sl_write_object_end(&writer);
    sl_api_finish(&writer, response, request);
}

void
sl_version_get(void *argument, void *worker, const sl_request *request, sl_response *response)
{
    const sl_app *app = argument;
    sl_writer writer;

    (void)worker;
    sl_writer_init(&writer, &response->body);
    sl_write_object(&writer);
    sl_put_text(&writer, "name", "shardline");
    sl_put_text(&writer, "version", SL_VERSION);
    sl_put_text(&writer, "engine_version", sl_engine_version);
    sl_put_text(&writer, "catalog_revision", sl_catalog_revision(app->catalog));
    sl_write_object_end(&writer);
    sl_api_finish(&writer, response, request);
}

void
sl_metrics_get(void *argument, void *worker, const sl_request *request, sl_response *response)
{
    const sl_app *app = argument;
    sl_buffer *out = &response->body;
    const sl_pair build[] = {
        {"version", SL_VERSION},
        {"engine_version", sl_engine_version},
        {"catalog_revision", sl_catalog_revision(app->catalog)},
    };
    uint64_t plans[SL_PLAN_VERDICTS];

    (void)worker;
    response->content_type = SL_EXPOSITION_TYPE;
    sl_response_header(response, "Cache-Control", "no-store");
    sl_server_metrics_write(request->server, out);
    sl_exposition_family(out, "shardline_hub_fetch_total", "counter",
                         "Requests for a model of the Hub that ended, by how.");
    for (uint32_t i = 0; i < SL_HUB_RESULT_COUNT; i++)
        sl_exposition_count(out, "shardline_hub_fetch_total",
                            &(sl_pair){"result", sl_hub_result_text((sl_hub_result)i)}, 1,
                            sl_hub_result_count(app->hub, (sl_hub_result)i));
    if (sl_plan_keeper_counts(app->keeper, plans)) {
        sl_exposition_family(out, "shardline_plans", "gauge",
                             "Saved plans by the verdict that holds now.");
        for (uint32_t i = 0; i < SL_PLAN_VERDICTS; i++)
            sl_exposition_count(out, "shardline_plans",
                                &(sl_pair){"verdict", sl_plan_verdict_names[i]}, 1, plans[i]);
    }
    sl_planned_write_metrics(out);
    sl_searches_write_metrics(app->searches, out);
    sl_exposition_family(out, "shardline_db_pool_in_use", "gauge",
                         "Connections to the database that are at work, or being made.");
    sl_exposition_count(out, "shardline_db_pool_in_use", NULL, 0, sl_store_in_use());
    sl_exposition_family(out, "shardline_build_info", "gauge", "What runs, as labels of a one.");
    sl_exposition_count(out, "shardline_build_info", build, sizeof build / sizeof build[0], 1);
}
