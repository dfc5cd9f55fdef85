/* How far a plan goes: its largest batch, longest sequence, deepest and widest model, fewest
 * nodes. */
#include "api/estimates.h"
#include "api/resources.h"

#include "codec/search/limits_json.h"
#include "shardline/version.h"

/* A model and limits are too large for a stack: they live as long as the request. */
static sl_code
measure(const sl_worker *worker, const sl_api_asked *a, const sl_request *request,
        const sl_limits **out, sl_errors *err)
{
    sl_question question;
    const sl_code code = sl_api_settle(worker, a, "a limit", &question, err);

    if (code != SL_OK)
        return code;
    sl_model *const space = sl_arena_alloc(request->arena, 1, sizeof *space);
    sl_limits *const limits = sl_arena_alloc(request->arena, 1, sizeof *limits);
    if (space == NULL || limits == NULL)
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "the limits do not fit in memory");

    const sl_limit_bounds bounds = sl_limits_bounds(&a->read);
    question.software_count = 1;
    question.unknown = 0;
    sl_limits_measure(&question, &bounds, space, worker->scratch, limits);
    *out = limits;
    return SL_OK;
}

static void
answer_limits(sl_app *app, sl_worker *worker, sl_api_asked *a, const sl_request *request,
              sl_response *response)
{
    char hash[SL_HASH_TEXT_SIZE] = "";
    sl_errors err = {.count = 0};
    sl_writer writer;
    sl_limits_document document = {
        .request = &a->read,
        .estimate = worker->estimate,
        .about = sl_api_about(app->catalog, a, hash),
    };

    sl_code code = measure(worker, a, request, &document.limits, &err);
    if (code == SL_OK)
        code = sl_api_input_hash(app, a, hash, &err);
    if (code != SL_OK) {
        sl_response_problem(response, request, &err);
        return;
    }
    sl_writer_init(&writer, &response->body);
    sl_limits_write(&writer, &document);
    sl_api_finish(&writer, response, request);
}

void
sl_limits_post(void *app, void *worker, const sl_request *request, sl_response *response)
{
    sl_api_ask(app, worker, request, response, sl_estimate_request_read, answer_limits,
               SL_PLANNED_LIMITS);
}
