/** The handlers of the route table, one file per resource. */
#ifndef SL_API_RESOURCES_H
#define SL_API_RESOURCES_H

#include "api/app.h"

#define SL_HANDLER(name)                                                                           \
    void name(void *app, void *worker, const sl_request *request, sl_response *response)

SL_HANDLER(sl_health_get);
SL_HANDLER(sl_ready_get);
SL_HANDLER(sl_version_get);
SL_HANDLER(sl_metrics_get);
SL_HANDLER(sl_openapi_get);
SL_HANDLER(sl_schemas_get);

SL_HANDLER(sl_accelerators_list);
SL_HANDLER(sl_accelerators_get);
SL_HANDLER(sl_accelerators_put);
SL_HANDLER(sl_accelerators_delete);
SL_HANDLER(sl_accelerators_audit);
SL_HANDLER(sl_node_types_list);
SL_HANDLER(sl_node_types_get);
SL_HANDLER(sl_node_types_put);
SL_HANDLER(sl_node_types_delete);
SL_HANDLER(sl_node_types_audit);
SL_HANDLER(sl_node_prices_get);
SL_HANDLER(sl_node_prices_put);
SL_HANDLER(sl_node_prices_delete);
SL_HANDLER(sl_node_prices_audit);

SL_HANDLER(sl_models_search);
SL_HANDLER(sl_models_get);
SL_HANDLER(sl_models_inspect);

SL_HANDLER(sl_estimates_post);
SL_HANDLER(sl_estimates_batch);
SL_HANDLER(sl_estimates_choices);
SL_HANDLER(sl_shardings_post);
SL_HANDLER(sl_timelines_post);
SL_HANDLER(sl_timelines_compare);
SL_HANDLER(sl_comparisons_post);
SL_HANDLER(sl_limits_post);
SL_HANDLER(sl_limits_clusters);

SL_HANDLER(sl_inventories_parse);
SL_HANDLER(sl_inventories_formats);
SL_HANDLER(sl_inventories_list);
SL_HANDLER(sl_inventories_get);
SL_HANDLER(sl_inventories_put);
SL_HANDLER(sl_inventories_patch);
SL_HANDLER(sl_inventories_delete);
SL_HANDLER(sl_inventories_restore);
SL_HANDLER(sl_inventories_revisions);
SL_HANDLER(sl_inventories_revision);
SL_HANDLER(sl_inventories_audit);
SL_HANDLER(sl_inventories_diff);
SL_HANDLER(sl_inventories_diff_draft);

SL_HANDLER(sl_plans_list);
SL_HANDLER(sl_plans_get);
SL_HANDLER(sl_plans_put);
SL_HANDLER(sl_plans_delete);
SL_HANDLER(sl_plans_audit);

SL_HANDLER(sl_searches_post);
SL_HANDLER(sl_searches_get);

SL_HANDLER(sl_observations_list);
SL_HANDLER(sl_observations_get);
SL_HANDLER(sl_observations_put);
SL_HANDLER(sl_observations_delete);
SL_HANDLER(sl_observations_audit);

#endif
