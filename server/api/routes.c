#include "api/resources.h"

#define JSON_BODY "application/json"
#define LINES_BODY "application/x-ndjson, application/ndjson, application/jsonl"
#define PATCH_BODY "application/merge-patch+json, application/json-patch+json"
/* An estimate request and a trace behind it, either packed or not: what it is, is told by its
 * bytes. */
#define TRACE_BODY "application/octet-stream, application/gzip, application/json"
enum {
    TRACE_MAX_BYTES = 256 * 1024 * 1024,
    /* Several files of 64 MiB; what is above that lies on disk. */
    UPLOAD_MAX_BYTES = 128 * 1024 * 1024,
    /* One file, and a byte more than stays in memory. */
    OBSERVATION_MAX_BYTES = 64 * 1024 * 1024 + 1,
    HARDWARE_MAX_BYTES = 16 * 1024,
    BATCH_MAX_BYTES = 16 * 1024 * 1024,
    BATCH_MAX_S = 600,
    SEARCH_MAX_S = 1800
};

/* The last columns: seconds from the end of the request to the answer, of which the Hub has 20 of
 * its own for a config and 3 for each thing beside it; and the query parameters that are read. */
const sl_route sl_api_routes[] = {
    {SL_GET, "/healthz", SL_LANE_NONE, sl_health_get, NULL, 0, 5.0, NULL},
    {SL_GET, "/readyz", SL_LANE_PROBE, sl_ready_get, NULL, 0, 10.0, NULL},
    {SL_GET, "/metrics", SL_LANE_COMPUTE, sl_metrics_get, NULL, 0, 5.0, NULL},
    {SL_GET, "/version", SL_LANE_COMPUTE, sl_version_get, NULL, 0, 5.0, NULL},
    {SL_GET, "/openapi.json", SL_LANE_COMPUTE, sl_openapi_get, NULL, 0, 5.0, NULL},
    {SL_GET, "/schemas/{name}", SL_LANE_COMPUTE, sl_schemas_get, NULL, 0, 5.0, NULL},

    {SL_GET, "/api/v1/accelerators", SL_LANE_COMPUTE, sl_accelerators_list, NULL, 0, 5.0,
     "vendor, arch, query, memory_bytes__gte, origin"},
    {SL_GET, "/api/v1/accelerators/{id}", SL_LANE_COMPUTE, sl_accelerators_get, NULL, 0, 5.0,
     "view"},
    {SL_PUT, "/api/v1/accelerators/{id}", SL_LANE_STORE, sl_accelerators_put, JSON_BODY,
     HARDWARE_MAX_BYTES, 10.0, "dry_run, unknown, view"},
    {SL_DELETE, "/api/v1/accelerators/{id}", SL_LANE_STORE, sl_accelerators_delete, NULL, 0, 10.0,
     "dry_run, view"},
    {SL_GET, "/api/v1/accelerators/{id}/audit", SL_LANE_STORE, sl_accelerators_audit, NULL, 0, 10.0,
     "limit, cursor"},
    {SL_GET, "/api/v1/node-types", SL_LANE_COMPUTE, sl_node_types_list, NULL, 0, 5.0,
     "operator, accelerator, query, origin"},
    {SL_GET, "/api/v1/node-types/{id}", SL_LANE_COMPUTE, sl_node_types_get, NULL, 0, 5.0, "view"},
    {SL_PUT, "/api/v1/node-types/{id}", SL_LANE_STORE, sl_node_types_put, JSON_BODY,
     HARDWARE_MAX_BYTES, 10.0, "dry_run, unknown, view"},
    {SL_DELETE, "/api/v1/node-types/{id}", SL_LANE_STORE, sl_node_types_delete, NULL, 0, 10.0,
     "dry_run, view"},
    {SL_GET, "/api/v1/node-types/{id}/audit", SL_LANE_STORE, sl_node_types_audit, NULL, 0, 10.0,
     "limit, cursor"},
    {SL_GET, "/api/v1/node-types/{id}/price", SL_LANE_COMPUTE, sl_node_prices_get, NULL, 0, 5.0,
     "view"},
    {SL_PUT, "/api/v1/node-types/{id}/price", SL_LANE_STORE, sl_node_prices_put, JSON_BODY,
     HARDWARE_MAX_BYTES, 10.0, "dry_run, unknown, view"},
    {SL_DELETE, "/api/v1/node-types/{id}/price", SL_LANE_STORE, sl_node_prices_delete, NULL, 0,
     10.0, "dry_run, view"},
    {SL_GET, "/api/v1/node-types/{id}/price/audit", SL_LANE_STORE, sl_node_prices_audit, NULL, 0,
     10.0, "limit, cursor"},

    {SL_GET, "/api/v1/models", SL_LANE_COMPUTE, sl_models_search, NULL, 0, 10.0, "query, limit"},
    {SL_GET, "/api/v1/models/{name}", SL_LANE_COMPUTE, sl_models_get, NULL, 0, 28.0, "revision"},
    {SL_GET, "/api/v1/models/{org}/{name}", SL_LANE_COMPUTE, sl_models_get, NULL, 0, 28.0,
     "revision"},
    {SL_POST, "/api/v1/models:inspect", SL_LANE_COMPUTE, sl_models_inspect, JSON_BODY, 0, 5.0,
     NULL},

    {SL_POST, "/api/v1/estimates", SL_LANE_COMPUTE, sl_estimates_post, JSON_BODY, 0, 30.0,
     "require, unknown"},
    {SL_POST, "/api/v1/estimates:batch", SL_LANE_COMPUTE, sl_estimates_batch, LINES_BODY,
     BATCH_MAX_BYTES, BATCH_MAX_S, "require, unknown"},
    {SL_POST, "/api/v1/estimates:choices", SL_LANE_COMPUTE, sl_estimates_choices, JSON_BODY, 0,
     30.0, "unknown"},
    {SL_POST, "/api/v1/shardings", SL_LANE_COMPUTE, sl_shardings_post, JSON_BODY, 0, 30.0,
     "rank, tensor, limit, cursor, unknown"},
    {SL_POST, "/api/v1/timelines", SL_LANE_COMPUTE, sl_timelines_post, JSON_BODY, 0, 30.0,
     "rank, from_s, to_s, rings, limit, unknown"},
    {SL_POST, "/api/v1/timelines:compare", SL_LANE_COMPUTE, sl_timelines_compare, TRACE_BODY,
     TRACE_MAX_BYTES, 60.0, "unknown"},
    {SL_POST, "/api/v1/comparisons", SL_LANE_COMPUTE, sl_comparisons_post, JSON_BODY, 0, 30.0,
     "unknown"},
    {SL_POST, "/api/v1/limits", SL_LANE_COMPUTE, sl_limits_post, JSON_BODY, 0, 30.0, "unknown"},
    {SL_POST, "/api/v1/limits:clusters", SL_LANE_COMPUTE, sl_limits_clusters, JSON_BODY, 0,
     SEARCH_MAX_S, "unknown"},

    {SL_GET, "/api/v1/inventories", SL_LANE_STORE, sl_inventories_list, NULL, 0, 10.0,
     "limit, cursor, sort, gpu, name, label, deleted, updated_since, problems"},
    {SL_POST, "/api/v1/inventories:parse", SL_LANE_BULK, sl_inventories_parse, "*",
     UPLOAD_MAX_BYTES, 60.0, "format, strict"},
    {SL_GET, "/api/v1/inventories:formats", SL_LANE_COMPUTE, sl_inventories_formats, NULL, 0, 5.0,
     NULL},
    {SL_GET, "/api/v1/inventories/{slug}", SL_LANE_STORE, sl_inventories_get, NULL, 0, 10.0,
     "view"},
    {SL_PUT, "/api/v1/inventories/{slug}", SL_LANE_STORE, sl_inventories_put, JSON_BODY, 0, 10.0,
     "dry_run, unknown, view"},
    {SL_PATCH, "/api/v1/inventories/{slug}", SL_LANE_STORE, sl_inventories_patch, PATCH_BODY, 0,
     10.0, "dry_run, unknown, view"},
    {SL_DELETE, "/api/v1/inventories/{slug}", SL_LANE_STORE, sl_inventories_delete, NULL, 0, 10.0,
     "dry_run, view"},
    {SL_POST, "/api/v1/inventories/{slug}:restore", SL_LANE_STORE, sl_inventories_restore, NULL, 0,
     10.0, "dry_run, view"},
    {SL_GET, "/api/v1/inventories/{slug}/audit", SL_LANE_STORE, sl_inventories_audit, NULL, 0, 10.0,
     "limit, cursor"},
    {SL_GET, "/api/v1/inventories/{slug}/diff", SL_LANE_STORE, sl_inventories_diff, NULL, 0, 10.0,
     "from, to"},
    {SL_POST, "/api/v1/inventories/{slug}/diff", SL_LANE_STORE, sl_inventories_diff_draft,
     JSON_BODY, 0, 10.0, NULL},
    {SL_GET, "/api/v1/inventories/{slug}/revisions", SL_LANE_STORE, sl_inventories_revisions, NULL,
     0, 10.0, "limit, cursor"},
    {SL_GET, "/api/v1/inventories/{slug}/revisions/{n}", SL_LANE_STORE, sl_inventories_revision,
     NULL, 0, 10.0, "view"},

    {SL_GET, "/api/v1/inventories/{slug}/observations", SL_LANE_STORE, sl_observations_list, NULL,
     0, 10.0, "limit, cursor"},
    {SL_GET, "/api/v1/inventories/{slug}/observations/{source}", SL_LANE_STORE, sl_observations_get,
     NULL, 0, 10.0, NULL},
    {SL_PUT, "/api/v1/inventories/{slug}/observations/{source}", SL_LANE_BULK, sl_observations_put,
     "*", OBSERVATION_MAX_BYTES, 30.0, "dry_run, format, observed_at, stale_after_s"},
    {SL_DELETE, "/api/v1/inventories/{slug}/observations/{source}", SL_LANE_STORE,
     sl_observations_delete, NULL, 0, 10.0, "dry_run"},
    {SL_GET, "/api/v1/inventories/{slug}/observations/{source}/audit", SL_LANE_STORE,
     sl_observations_audit, NULL, 0, 10.0, "limit, cursor"},

    {SL_GET, "/api/v1/plans", SL_LANE_STORE, sl_plans_list, NULL, 0, 10.0,
     "limit, cursor, inventory, fits"},
    {SL_GET, "/api/v1/plans/{slug}", SL_LANE_STORE, sl_plans_get, NULL, 0, 30.0, "view"},
    {SL_PUT, "/api/v1/plans/{slug}", SL_LANE_STORE, sl_plans_put, JSON_BODY, 0, 30.0,
     "dry_run, view"},
    {SL_DELETE, "/api/v1/plans/{slug}", SL_LANE_STORE, sl_plans_delete, NULL, 0, 10.0,
     "dry_run, view"},
    {SL_GET, "/api/v1/plans/{slug}/audit", SL_LANE_STORE, sl_plans_audit, NULL, 0, 10.0,
     "limit, cursor"},

    /* Each has its own limit once it runs; before, it may wait for others. */
    {SL_POST, "/api/v1/searches", SL_LANE_COMPUTE, sl_searches_post, JSON_BODY, 0, SEARCH_MAX_S,
     "unknown"},
    {SL_GET, "/api/v1/searches/{hash}", SL_LANE_STORE, sl_searches_get, NULL, 0, 10.0, NULL},
};
const size_t sl_api_route_count = sizeof sl_api_routes / sizeof sl_api_routes[0];
