/* Handlers called as the lanes call them, without a daemon: what they refuse, and what their answers
 * carry beside the body. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "api/app.h"
#include "api/models.h"
#include "api/resources.h"
#include "base/text.h"
#include "harness.h"
#include "postgres_fixture.h"

static sl_postgres postgres;
static bool have_postgres;
static sl_catalog *catalog;

typedef void (*handler)(void *app, void *worker, const sl_request *request, sl_response *response);

static const char spec[] =
    "{\"name\":\"a\",\"pools\":[{\"name\":\"p\",\"nodes\":2,\"node\":{\"accelerator\":"
    "\"nvidia-h100-sxm5-80gb\",\"accelerators\":8}}]}";
static const char other_spec[] =
    "{\"name\":\"b\",\"pools\":[{\"name\":\"p\",\"nodes\":3,\"node\":{\"accelerator\":"
    "\"nvidia-h100-sxm5-80gb\",\"accelerators\":8}}]}";

/* A server of one thread, and the request it answers. */
typedef struct api_bench {
    sl_settings settings;
    sl_app app;
    sl_worker worker;
    sl_request request;
    sl_response response;
} api_bench;

static void
bench_open(api_bench *b, const char *url)
{
    memset(b, 0, sizeof *b);
    CU_ASSERT_TRUE(sl_text_copy(b->settings.database_url, sizeof b->settings.database_url, url));
    b->app = (sl_app){.settings = &b->settings, .catalog = catalog};
    sl_app_init(&b->app);
    b->worker.store = sl_store_new(b->settings.database_url);
    sl_response_init(&b->response);
}

static bool
bench_open_stored(api_bench *b)
{
    if (!have_postgres) {
        sl_skip("no PostgreSQL is installed");
        return false;
    }
    sl_postgres_empty(&postgres);
    bench_open(b, postgres.url);
    return true;
}

static void
forget(api_bench *b)
{
    sl_response_clear(&b->response);
    sl_arena_free(b->request.arena);
    b->request.arena = NULL;
}

static void
bench_close(api_bench *b)
{
    forget(b);
    sl_store_free(b->worker.store);
}

/* A new request of up to one query parameter; the fields of its head are set by the caller. */
static void
prepare(api_bench *b, sl_method method, const char *name, const char *value, const char *body)
{
    forget(b);
    sl_response_init(&b->response);
    b->request = (sl_request){.method = method,
                              .id = "id",
                              .path = "/api/v1/inventories",
                              .parameters = {{"slug", "a"}},
                              .parameter_count = 1,
                              .query = {{name, value}},
                              .query_count = name == NULL ? 0 : 1,
                              .body = body,
                              .body_size = strlen(body),
                              .arena = sl_arena_new(1 << 20)};
}

static const char *
body_of(const api_bench *b)
{
    return b->response.body.data == NULL ? "" : b->response.body.data;
}

static void
expect_holds(const api_bench *b, const char *part)
{
    if (strstr(body_of(b), part) == NULL)
        sl_expect_text(body_of(b), part, "must hold");
}

static void
expect_status(const api_bench *b, uint32_t status)
{
    if (b->response.status != status)
        printf("%s\n", body_of(b));
    CU_ASSERT_EQUAL(b->response.status, status);
}

static void
expect_rule(const api_bench *b, uint32_t status, const char *rule)
{
    char code[64];

    expect_status(b, status);
    CU_ASSERT_TRUE(sl_text_format(code, sizeof code, "\"code\":\"%s\"", rule));
    expect_holds(b, code);
}

static void
expect_header(const api_bench *b, const char *name, const char *expected)
{
    const char *found = "none";

    for (uint32_t i = 0; i < b->response.header_count; i++)
        if (sl_text_equal(b->response.headers[i].name, name))
            found = b->response.headers[i].value;
    sl_expect_text(found, expected, name);
}

static void
run(api_bench *b, handler handle)
{
    handle(&b->app, &b->worker, &b->request, &b->response);
}

static void
put(api_bench *b, const char *body, const char *if_match)
{
    prepare(b, SL_PUT, NULL, NULL, body);
    b->request.if_match = if_match;
    run(b, sl_inventories_put);
}

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
             (const char *const[]){"3", "\"\"", "\"x\"", "W/\"3\"", "\"3\", \"4\"", "\"3", NULL};
         *tag != NULL; tag++) {
        put(&b, spec, *tag);
        expect_rule(&b, 412, "revision_mismatch");
    }
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
        sl_api_decode_config(&file, "a/b", "/model/hub", arena, &model, &warnings, &err), SL_OK);
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

/* Whatever does not fit: the request goes on to the Hub's lane, with all that is needed there, or is
 * refused. The Hub is never asked, and its cache is empty. */
static void
a_request_that_names_a_model_survives_every_size_of_memory(void)
{
    static const char body[] = "{\"model\":{\"hub\":\"org/name\",\"revision\":\"a-longer-name\"},"
                               "\"workload\":{\"sequence_length\":128,"
                               "\"global_batch_size\":8},\"cluster\":{\"inventory\":\"prod\"}}";
    uint32_t continued = 0;
    uint32_t refused = 0;
    sl_errors err = {.count = 0};
    sl_hub *hub = NULL;
    atomic_bool cancelled = false;
    api_bench b;

    bench_open(&b, "");
    b.settings.hub_offline = true;
    CU_ASSERT_TRUE(sl_text_copy(b.settings.hub_endpoint, sizeof b.settings.hub_endpoint,
                                "https://huggingface.co"));
    CU_ASSERT_TRUE(sl_text_copy(b.settings.cache_dir, sizeof b.settings.cache_dir, "/nonexistent"));
    CU_ASSERT_EQUAL_FATAL(sl_hub_new(&b.settings, &hub, &err), SL_OK);
    b.worker.hub = sl_hub_worker_new(hub);
    CU_ASSERT_PTR_NOT_NULL_FATAL(b.worker.hub);
    for (size_t limit = 0; limit < 400; limit++) {
        prepare(&b, SL_POST, NULL, NULL, body);
        sl_arena_free(b.request.arena);
        b.request.arena = sl_arena_new(limit);
        b.request.cancelled = &cancelled;
        run(&b, sl_estimates_post);
        if (b.response.continues) {
            continued++;
            CU_ASSERT_EQUAL(b.response.next_lane, SL_LANE_HUB);
            run(&b, sl_estimates_post);
            expect_rule(&b, 503, "offline_not_cached");
        } else {
            refused++;
            expect_rule(&b, 503, "out_of_memory");
        }
    }
    CU_ASSERT_TRUE(continued > 0 && refused > 0);
    sl_hub_worker_free(b.worker.hub);
    sl_hub_free(hub);
    bench_close(&b);
}

static void
if_match_any_asks_for_an_inventory(void)
{
    api_bench b;

    if (!bench_open_stored(&b))
        return;
    put(&b, spec, "*");
    expect_rule(&b, 412, "revision_mismatch");
    put(&b, spec, NULL);
    expect_status(&b, 201);
    put(&b, other_spec, "*");
    expect_status(&b, 200);
    expect_holds(&b, "\"revision\":2");
    bench_close(&b);
}

static void
each_view_has_its_tag_and_either_names_the_revision(void)
{
    char wrapped[64];
    char quoted[64];
    api_bench b;

    if (!bench_open_stored(&b))
        return;
    CU_ASSERT_TRUE(
        sl_text_format(wrapped, sizeof wrapped, "\"1-%s\"", sl_catalog_revision(catalog)));
    put(&b, spec, NULL);
    expect_header(&b, "ETag", wrapped);
    prepare(&b, SL_GET, "view", "spec", "");
    run(&b, sl_inventories_get);
    expect_header(&b, "ETag", "\"1\"");
    sl_expect_text(body_of(&b), spec, "as it was accepted");

    prepare(&b, SL_GET, NULL, NULL, "");
    b.request.if_none_match = wrapped;
    run(&b, sl_inventories_get);
    expect_status(&b, 304);
    sl_expect_text(body_of(&b), "", "nothing follows");
    prepare(&b, SL_GET, NULL, NULL, "");
    b.request.if_none_match = "\"1\"";
    run(&b, sl_inventories_get);
    expect_status(&b, 200);

    put(&b, other_spec, wrapped);
    expect_status(&b, 200);
    put(&b, spec, "\"2\"");
    expect_status(&b, 200);
    CU_ASSERT_TRUE(sl_text_copy(quoted, sizeof quoted, wrapped));
    put(&b, other_spec, quoted);
    expect_rule(&b, 412, "revision_mismatch");
    bench_close(&b);
}

static void
a_dry_run_judges_the_conditions_too(void)
{
    api_bench b;

    if (!bench_open_stored(&b))
        return;
    put(&b, spec, NULL);
    prepare(&b, SL_PUT, "dry_run", "true", other_spec);
    b.request.if_none_match = "*";
    run(&b, sl_inventories_put);
    expect_rule(&b, 412, "inventory_exists");
    prepare(&b, SL_PUT, "dry_run", "true", other_spec);
    b.request.if_match = "\"1\"";
    run(&b, sl_inventories_put);
    expect_status(&b, 200);
    prepare(&b, SL_GET, NULL, NULL, "");
    run(&b, sl_inventories_get);
    expect_holds(&b, "\"revision\":1");
    bench_close(&b);
}

static void
the_link_to_the_next_page_keeps_the_limit(void)
{
    api_bench b;

    if (!bench_open_stored(&b))
        return;
    for (const char *const *slug = (const char *const[]){"a", "b", "c", NULL}; *slug != NULL;
         slug++) {
        prepare(&b, SL_PUT, NULL, NULL, spec);
        b.request.parameters[0].value = *slug;
        run(&b, sl_inventories_put);
        expect_status(&b, 201);
    }
    prepare(&b, SL_GET, "limit", "2", "");
    run(&b, sl_inventories_list);
    expect_header(&b, "Link", "</api/v1/inventories?limit=2&cursor=b>; rel=\"next\"");
    prepare(&b, SL_GET, "limit", "3", "");
    run(&b, sl_inventories_list);
    expect_header(&b, "Link", "none");
    bench_close(&b);
}

static void
a_revision_of_the_past_is_read_by_its_number(void)
{
    api_bench b;

    if (!bench_open_stored(&b))
        return;
    put(&b, spec, NULL);
    put(&b, other_spec, NULL);
    prepare(&b, SL_GET, "view", "spec", "");
    b.request.parameters[1] = (sl_pair){"n", "1"};
    b.request.parameter_count = 2;
    run(&b, sl_inventories_revision);
    expect_status(&b, 200);
    sl_expect_text(body_of(&b), spec, "the first spec");
    prepare(&b, SL_GET, NULL, NULL, "");
    b.request.parameters[1] = (sl_pair){"n", "one"};
    b.request.parameter_count = 2;
    run(&b, sl_inventories_revision);
    expect_rule(&b, 404, "revision_not_found");
    bench_close(&b);
}

static const sl_case cases[] = {
    {"a_query_value_that_is_not_known_is_refused", a_query_value_that_is_not_known_is_refused},
    {"a_dry_run_checks_a_spec_without_a_database", a_dry_run_checks_a_spec_without_a_database},
    {"what_unknown_warn_let_pass_is_said", what_unknown_warn_let_pass_is_said},
    {"conditions_that_cannot_be_judged_are_refused", conditions_that_cannot_be_judged_are_refused},
    {"slugs_limits_and_cursors_have_bounds", slugs_limits_and_cursors_have_bounds},
    {"a_thread_without_context_answers_503", a_thread_without_context_answers_503},
    {"each_lane_gets_its_context_and_gives_it_back", each_lane_gets_its_context_and_gives_it_back},
    {"without_a_database_it_is_ready_to_plan", without_a_database_it_is_ready_to_plan},
    {"an_inspection_names_every_fault_at_its_place", an_inspection_names_every_fault_at_its_place},
    {"a_fault_of_a_fetched_config_stands_at_the_name_of_the_model",
     a_fault_of_a_fetched_config_stands_at_the_name_of_the_model},
    {"a_count_of_parameters_keeps_the_rules_of_the_cluster",
     a_count_of_parameters_keeps_the_rules_of_the_cluster},
    {"choices_need_layers", choices_need_layers},
    {"a_request_that_names_a_model_survives_every_size_of_memory",
     a_request_that_names_a_model_survives_every_size_of_memory},
    {"if_match_any_asks_for_an_inventory", if_match_any_asks_for_an_inventory},
    {"each_view_has_its_tag_and_either_names_the_revision",
     each_view_has_its_tag_and_either_names_the_revision},
    {"a_dry_run_judges_the_conditions_too", a_dry_run_judges_the_conditions_too},
    {"a_revision_of_the_past_is_read_by_its_number", a_revision_of_the_past_is_read_by_its_number},
    {"the_link_to_the_next_page_keeps_the_limit", the_link_to_the_next_page_keeps_the_limit},
};

int
main(int argc, char **argv)
{
    sl_errors err = {.count = 0};

    sl_json_start();
    catalog = sl_catalog_new(&err);
    assert(catalog != NULL);
    have_postgres = sl_postgres_create(&postgres);
    const int status = sl_run_cases(argc, argv, "api", cases, sizeof cases / sizeof cases[0]);
    if (have_postgres)
        sl_postgres_remove(&postgres);
    sl_catalog_free(catalog);
    return status;
}
