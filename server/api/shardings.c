/* Which rank holds what: the plan of an estimate request as a map. */
#include "api/estimates.h"
#include "api/resources.h"

#include "codec/answer/sharding_json.h"
#include "json/members.h"

static sl_code
read_query(const sl_request *request, sl_sharding_query *query, sl_errors *err)
{
    query->tensor = sl_request_query(request, "tensor");

    const sl_code limited =
        sl_api_limit(request, SL_SHARDS_DEFAULT, SL_SHARDS_MAX, &query->limit, err);
    const sl_code code = sl_sharding_query_read(sl_request_query(request, "rank"),
                                                sl_request_query(request, "cursor"), query, err);
    return limited != SL_OK ? limited : code;
}

static void
answer_sharding(sl_app *app, sl_worker *worker, sl_api_asked *a, const sl_request *request,
                sl_response *response)
{
    sl_sharding_query query = {.limit = 0};
    sl_sharding sharding = {.question = NULL};
    sl_question question;
    sl_errors err = {.count = 0};
    sl_writer writer;

    (void)app;
    sl_code code = read_query(request, &query, &err);
    const sl_code settled = sl_api_settle(worker, a, "a sharding", &question, &err);
    if (code == SL_OK)
        code = settled;
    if (code == SL_OK)
        code = sl_sharding_check(&question, &err);
    if (code == SL_OK) {
        sharding = sl_sharding_of(&question, sl_sharding_mode_of(&question));
        code = sl_sharding_query_check(&query, &sharding, &err);
    }
    if (code != SL_OK) {
        sl_response_problem(response, request, &err);
        return;
    }
    sl_writer_init(&writer, &response->body);
    if (!sl_sharding_write(&writer, &sharding, &query, &a->read, &a->warnings)) {
        (void)sl_fail(&err, SL_E_MEMORY, "out_of_memory", "", "the map does not fit in memory");
        sl_response_problem(response, request, &err);
        return;
    }
    sl_api_finish(&writer, response, request);
}

void
sl_shardings_post(void *app, void *worker, const sl_request *request, sl_response *response)
{
    sl_api_ask(app, worker, request, response, sl_estimate_request_read, answer_sharding,
               SL_PLANNED_SHARDING);
}
