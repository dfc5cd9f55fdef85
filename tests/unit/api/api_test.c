/* What handlers refuse, and what their answers carry beside the body, without a database. */
#include <assert.h>

#include "api/models.h"
#include "api_bench.h"
#include "shardline/version.h"

static void
a_query_value_that_is_not_known_is_refused(void)
{
    static const struct {
        const char *name;
        const char *value;
    } wrong[] = {{"dry_run", "yes"}, {"dry_run", ""}, {"unknown", "warm"}, {"view", "specs"}};
    api_bench b;

    bench_open(&b, "");
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        prepare(&b, SL_PUT, wrong[i].name, wrong[i].value, spec);
        run(&b, sl_inventories_put);
        expect_rule(&b, 422, "unknown_value");
    }
    expect_holds(&b, "\"hint\":\"spec\"");
    prepare(&b, SL_GET, "view", "all", "");
    run(&b, sl_inventories_get);
    expect_rule(&b, 422, "unknown_value");
    prepare(
        &b, SL_POST, "require", "fit",
        "{\"model\":{\"parameters\":7000000000},\"workload\":{\"accounting\":\"mixed-2-2-12\"}}");
    run(&b, sl_estimates_post);
    expect_rule(&b, 422, "unknown_value");
    expect_holds(&b, "query parameter require");
    b.request.query_count = 0;
    sl_response_clear(&b.response);
    sl_response_init(&b.response);
    run(&b, sl_estimates_post);
    expect_status(&b, 200);
    bench_close(&b);
}

static void
a_dry_run_checks_a_spec_without_a_database(void)
{
    api_bench b;

    bench_open(&b, "");
    prepare(&b, SL_PUT, "dry_run", "true", spec);
    run(&b, sl_inventories_put);
    expect_status(&b, 200);
    expect_holds(&b, "\"revision\":0");
    expect_header(&b, "ETag", "none");
    put(&b, spec, NULL);
    expect_rule(&b, 503, "database_not_configured");
    bench_close(&b);
}

static void
what_unknown_warn_let_pass_is_said(void)
{
    api_bench b;

    bench_open(&b, "");
    prepare(&b, SL_PUT, "unknown", "warn", "");
    b.request.body = "{\"nam\":\"a\",\"pools\":[{\"name\":\"p\",\"nodes\":2,\"node\":{"
                     "\"accelerator\":\"nvidia-h100-sxm5-80gb\",\"accelerators\":8}}]}";
    b.request.body_size = strlen(b.request.body);
    b.request.query[1] = (sl_pair){"dry_run", "1"};
    b.request.query_count = 2;
    run(&b, sl_inventories_put);
    expect_status(&b, 200);
    expect_holds(&b, "\"warnings\":[{\"code\":\"unknown_field\",\"message\":\"/nam: ");
    bench_close(&b);
}

static void
conditions_that_cannot_be_judged_are_refused(void)
{
    api_bench b;

    bench_open(&b, "");
    for (const char *const *tag =
             (const char *const[]){"3", "\"\"", "\"0\"", "\"x\", \"y\"", "W/\"3\"", "\"3\", \"4",
                                   "\"3\", 4", "\"3\", *", "\"3", NULL};
         *tag != NULL; tag++) {
        put(&b, spec, *tag);
        expect_rule(&b, 412, "revision_mismatch");
    }
    put(&b, spec,
        "\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\",\"8\",\"9\",\"10\",\"11\",\"12\",\"13\","
        "\"14\",\"15\",\"16\",\"17\"");
    expect_rule(&b, 422, "too_many");
    prepare(&b, SL_PUT, NULL, NULL, spec);
    b.request.if_none_match = "\"3\"";
    run(&b, sl_inventories_put);
    expect_rule(&b, 422, "unsupported_precondition");
    bench_close(&b);
}

static void
slugs_limits_and_cursors_have_bounds(void)
{
    api_bench b;

    bench_open(&b, "");
    prepare(&b, SL_PUT, NULL, NULL, spec);
    b.request.parameters[0].value = "Upper";
    run(&b, sl_inventories_put);
    expect_rule(&b, 422, "invalid_slug");
    prepare(&b, SL_GET, "limit", "0", "");
    run(&b, sl_inventories_list);
    expect_rule(&b, 422, "out_of_range");
    prepare(&b, SL_GET, "cursor", "A", "");
    run(&b, sl_inventories_list);
    expect_rule(&b, 422, "invalid_cursor");
    prepare(&b, SL_GET, "cursor", "0", "");
    run(&b, sl_inventories_revisions);
    expect_rule(&b, 422, "invalid_cursor");
    bench_close(&b);
}

static void
a_thread_without_context_answers_503(void)
{
    api_bench b;

    bench_open(&b, "");
    prepare(&b, SL_GET, NULL, NULL, "");
    sl_ready_get(&b.app, NULL, &b.request, &b.response);
    expect_rule(&b, 503, "worker_missing");
    bench_close(&b);
}

static void
each_lane_gets_its_context_and_gives_it_back(void)
{
    api_bench b;

    bench_open(&b, "");
    for (uint32_t lane = 0; lane < SL_LANE_COUNT; lane++) {
        if (lane == SL_LANE_HUB)
            continue; /* needs a client: the hub's own tests */
        sl_worker *worker = sl_worker_new(&b.app, (sl_lane)lane);
        CU_ASSERT_PTR_NOT_NULL(worker);
        CU_ASSERT_EQUAL(worker != NULL && worker->store != NULL, lane == SL_LANE_STORE);
        sl_worker_free(&b.app, (sl_lane)lane, worker);
    }
    bench_close(&b);
}

static void
without_a_database_it_is_ready_to_plan(void)
{
    api_bench b;

    bench_open(&b, "");
    prepare(&b, SL_GET, NULL, NULL, "");
    run(&b, sl_ready_get);
    expect_status(&b, 200);
    expect_holds(&b, "\"status\":\"not_configured\"");
    prepare(&b, SL_GET, NULL, NULL, "");
    run(&b, sl_health_get);
    expect_holds(&b, "{\"status\":\"ok\"}");
    prepare(&b, SL_GET, NULL, NULL, "");
    run(&b, sl_version_get);
    expect_holds(&b, sl_catalog_revision(catalog));
    bench_close(&b);
}

static sl_hub *offline_hub(api_bench *b);

static void
metrics_say_what_runs_beside_the_counters(void)
{
    sl_server_config config = {.routes = sl_api_routes, .route_count = sl_api_route_count};
    sl_errors err = {.count = 0};
    sl_server *server = NULL;
    uint16_t port = 0;
    char build[192];
    api_bench b;

    bench_open(&b, "");
    CU_ASSERT_TRUE(
        sl_text_copy(b.settings.listen_host, sizeof b.settings.listen_host, "127.0.0.1"));
    CU_ASSERT_TRUE(
        sl_text_copy(b.settings.static_dir, sizeof b.settings.static_dir, "/nonexistent"));
    config.settings = &b.settings;
    sl_hub *const hub = offline_hub(&b);
    CU_ASSERT_EQUAL_FATAL(sl_server_start(&config, &server, &port, &err), SL_OK);
    prepare(&b, SL_GET, NULL, NULL, "");
    b.request.server = server;
    run(&b, sl_metrics_get);
    expect_status(&b, 200);
    sl_expect_text(b.response.content_type, "text/plain; version=0.0.4", "type");
    expect_header(&b, "Cache-Control", "no-store");
    CU_ASSERT_TRUE(sl_text_format(build, sizeof build,
                                  "\nshardline_build_info{version=\"%s\",engine_version=\"%s\","
                                  "catalog_revision=\"%s\"} 1\n",
                                  SL_VERSION, sl_engine_version, sl_catalog_revision(catalog)));
    expect_holds(&b, build);
    expect_holds(&b, "\nshardline_http_requests_in_flight 0\n");
    expect_holds(&b, "\nshardline_hub_fetch_total{result=\"downloaded\"} 0\n");
    CU_ASSERT_EQUAL(sl_server_stop(server, 1), 0);
    sl_hub_free(hub);
    bench_close(&b);
}

static void
an_inspection_names_every_fault_at_its_place(void)
{
    api_bench b;

    bench_open(&b, "");
    prepare(&b, SL_POST, NULL, NULL,
            "{\"nam\":\"x\",\"name\":3,\"config\":{\"model_type\":\"none\"}}");
    run(&b, sl_models_inspect);
    expect_rule(&b, 422, "unknown_field");
    expect_holds(&b, "\"pointer\":\"/nam\"");
    expect_holds(&b, "\"pointer\":\"/name\"");
    expect_holds(&b, "\"pointer\":\"/config/model_type\"");
    prepare(&b, SL_POST, NULL, NULL, "[");
    run(&b, sl_models_inspect);
    expect_rule(&b, 400, "malformed_json");
    bench_close(&b);
}

/* What the Hub holds is no part of the request: its faults stand where the request names it. */
static void
a_fault_of_a_fetched_config_stands_at_the_name_of_the_model(void)
{
    static const char text[] = "{\"model_type\":\"none\"}";
    const sl_hub_file file = {.text = text, .size = sizeof text - 1};
    sl_arena *arena = sl_arena_new(1 << 20);
    sl_errors warnings = {.count = 0};
    sl_errors err = {.count = 0};
    sl_model *model = NULL;

    assert(arena != NULL);
    CU_ASSERT_NOT_EQUAL(
        sl_api_decode_config(&file, NULL, "a/b", "/model/hub", arena, &model, &warnings, &err),
        SL_OK);
    CU_ASSERT_EQUAL(err.count, 1);
    sl_expect_text(err.list[0].pointer, "/model/hub", "pointer");
    CU_ASSERT_EQUAL(strncmp(err.list[0].message, "its /model_type: ", 17), 0);
    sl_arena_free(arena);
}

static void
a_count_of_parameters_keeps_the_rules_of_the_cluster(void)
{
    api_bench b;

    bench_open(&b, "");
    prepare(&b, SL_POST, NULL, NULL,
            "{\"model\":{\"parameters\":7000000000},\"workload\":{\"accounting\":\"mixed-2-2-12\"},"
            "\"cluster\":{\"accelerator\":\"nvidia-h100-sxm5-80gb\",\"nodes\":1,"
            "\"accelerators_per_node\":8},\"parallelism\":{\"tensor\":3,\"data\":\"auto\"}}");
    run(&b, sl_estimates_post);
    expect_rule(&b, 422, "not_divisible");
    bench_close(&b);
}

static void
choices_need_layers(void)
{
    api_bench b;

    bench_open(&b, "");
    prepare(
        &b, SL_POST, NULL, NULL,
        "{\"model\":{\"parameters\":7000000000},\"workload\":{\"accounting\":\"mixed-2-2-12\"}}");
    run(&b, sl_estimates_choices);
    expect_rule(&b, 422, "model_required");
    bench_close(&b);
}

/* A client of a Hub that is not to be asked, with an empty cache. */
static sl_hub *
offline_hub(api_bench *b)
{
    sl_errors err = {.count = 0};
    sl_hub *hub = NULL;

    b->settings.hub_offline = true;
    CU_ASSERT_TRUE(sl_text_copy(b->settings.hub_endpoint, sizeof b->settings.hub_endpoint,
                                "https://huggingface.co"));
    CU_ASSERT_TRUE(
        sl_text_copy(b->settings.cache_dir, sizeof b->settings.cache_dir, "/nonexistent"));
    CU_ASSERT_EQUAL_FATAL(sl_hub_new(&b->settings, &hub, &err), SL_OK);
    b->app.hub = hub;
    return hub;
}

/* Whatever does not fit: the caches are asked for the model, with all that is needed, or the
 * request is refused. */
static void
a_request_that_names_a_model_survives_every_size_of_memory(void)
{
    static const char body[] = "{\"model\":{\"hub\":\"org/name\",\"revision\":\"a-longer-name\"},"
                               "\"workload\":{\"sequence_length\":128,"
                               "\"global_batch_size\":8},\"cluster\":{\"inventory\":\"prod\"}}";
    uint32_t answered = 0;
    uint32_t refused = 0;
    atomic_bool cancelled = false;
    api_bench b;

    bench_open(&b, "");
    sl_hub *const hub = offline_hub(&b);
    for (size_t limit = 0; limit < 4000; limit += 7) {
        prepare(&b, SL_POST, NULL, NULL, body);
        sl_arena_free(b.request.arena);
        b.request.arena = sl_arena_new(limit);
        b.request.cancelled = &cancelled;
        run(&b, sl_estimates_post);
        CU_ASSERT_FALSE(b.response.continues);
        expect_status(&b, 503);
        if (strstr(body_of(&b), "offline_not_cached") != NULL)
            answered++;
        else
            refused++;
    }
    CU_ASSERT_TRUE(answered > 0 && refused > 0);
    sl_hub_free(hub);
    bench_close(&b);
}

/* Each lane does its part: what the caches do not know is for the Hub's. */
static void
a_model_that_is_not_cached_goes_over_to_the_lane_of_the_hub(void)
{
    api_bench b;

    bench_open(&b, "");
    sl_hub *const hub = offline_hub(&b);
    prepare(&b, SL_GET, NULL, NULL, "");
    b.request.parameters[0] = (sl_pair){"name", "gpt2"};
    run(&b, sl_models_get);
    expect_rule(&b, 503, "offline_not_cached");
    prepare(&b, SL_GET, NULL, NULL, "");
    b.request.parameters[0] = (sl_pair){"name", "gpt--2"};
    run(&b, sl_models_get);
    expect_rule(&b, 422, "invalid_repository");
    sl_hub_free(hub);

    b.settings.hub_offline = false;
    sl_errors err = {.count = 0};
    sl_hub *online = NULL;
    CU_ASSERT_EQUAL_FATAL(sl_hub_new(&b.settings, &online, &err), SL_OK);
    b.app.hub = online;
    prepare(&b, SL_GET, NULL, NULL, "");
    b.request.parameters[0] = (sl_pair){"name", "gpt2"};
    run(&b, sl_models_get);
    CU_ASSERT_TRUE(b.response.continues);
    CU_ASSERT_EQUAL(b.response.next_lane, SL_LANE_HUB);
    sl_hub_free(online);
    bench_close(&b);
}

static void
a_search_has_bounds_and_works_without_the_hub(void)
{
    atomic_bool cancelled = false;
    api_bench b;

    bench_open(&b, "");
    sl_hub *const hub = offline_hub(&b);
    for (const char *const *limit = (const char *const[]){"0", "101", "x", "", NULL};
         *limit != NULL; limit++) {
        prepare(&b, SL_GET, "limit", *limit, "");
        run(&b, sl_models_search);
        expect_rule(&b, 422, "out_of_range");
    }
    prepare(&b, SL_GET, "query", "a\tb", "");
    b.request.cancelled = &cancelled;
    run(&b, sl_models_search);
    expect_rule(&b, 422, "invalid_query");
    prepare(&b, SL_GET, "query", "llama", "");
    b.request.cancelled = &cancelled;
    run(&b, sl_models_search);
    expect_status(&b, 200);
    expect_holds(&b, "{\"models\":[],\"source\":\"cache\",\"stale\":false}");
    CU_ASSERT_FALSE(b.response.continues); /* no thread that asks the Hub is needed */
    sl_hub_free(hub);
    bench_close(&b);
}

static const sl_case cases[] = {
    SL_CASE(a_query_value_that_is_not_known_is_refused),
    SL_CASE(a_dry_run_checks_a_spec_without_a_database),
    SL_CASE(what_unknown_warn_let_pass_is_said),
    SL_CASE(conditions_that_cannot_be_judged_are_refused),
    SL_CASE(slugs_limits_and_cursors_have_bounds),
    SL_CASE(a_thread_without_context_answers_503),
    SL_CASE(each_lane_gets_its_context_and_gives_it_back),
    SL_CASE(without_a_database_it_is_ready_to_plan),
    SL_CASE(metrics_say_what_runs_beside_the_counters),
    SL_CASE(an_inspection_names_every_fault_at_its_place),
    SL_CASE(a_fault_of_a_fetched_config_stands_at_the_name_of_the_model),
    SL_CASE(a_count_of_parameters_keeps_the_rules_of_the_cluster),
    SL_CASE(choices_need_layers),
    SL_CASE(a_request_that_names_a_model_survives_every_size_of_memory),
    SL_CASE(a_model_that_is_not_cached_goes_over_to_the_lane_of_the_hub),
    SL_CASE(a_search_has_bounds_and_works_without_the_hub),
};

int
main(int argc, char **argv)
{
    sl_errors err = {.count = 0};

    sl_json_start();
    catalog = sl_catalog_new(&err);
    assert(catalog != NULL);
    const int status = sl_run_cases(argc, argv, "api", cases, sizeof cases / sizeof cases[0]);
    sl_catalog_free(catalog);
    return status;
}
