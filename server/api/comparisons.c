/* Strategies, or ways of fine-tuning, side by side with the numbers of one model and cluster. */
#include "api/estimates.h"
#include "api/resources.h"

#include "codec/comparison/comparison_ask.h"
#include "codec/comparison/comparison_json.h"
#include "codec/question/names.h"
#include "shardline/version.h"

static sl_code
no_memory(sl_errors *err)
{
    return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "the comparison does not fit in memory");
}

/* Columns are too large for a stack: they live as long as the request. */
static sl_code
compare_strategies(const sl_app *app, const sl_worker *worker, const sl_api_asked *a,
                   const sl_request *request, sl_comparison_document *document, sl_errors *err)
{
    sl_comparison *comparison = sl_arena_alloc(request->arena, 1, sizeof *comparison);
    sl_comparison_questions questions;

    if (comparison == NULL)
        return no_memory(err);
    const sl_comparison_ask ask =
        sl_comparison_request_ask(&a->read, a->model, app->catalog, &questions);
    for (uint32_t i = 0; i < SL_STRATEGY_COUNT; i++)
        comparison->asked[i] = (a->read.strategies >> i & 1u) != 0;
    sl_comparison_answer(&ask, worker->scratch, worker->estimate, comparison);
    document->strategies = comparison;
    return SL_OK;
}

static sl_code
compare_tunings(const sl_app *app, const sl_worker *worker, const sl_api_asked *a,
                const sl_request *request, sl_comparison_document *document, sl_errors *err)
{
    sl_tuning_comparison *tuning = sl_arena_alloc(request->arena, 1, sizeof *tuning);

    if (tuning == NULL)
        return no_memory(err);
    const sl_question question = sl_tuning_request_question(&a->read, a->model, app->catalog);
    sl_tuning_answer(&question, worker->scratch, worker->estimate, tuning);
    document->tuning = tuning;
    return SL_OK;
}

static void
answer_comparison(sl_app *app, sl_worker *worker, sl_api_asked *a, const sl_request *request,
                  sl_response *response)
{
    char hash[SL_HASH_TEXT_SIZE] = "";
    sl_errors err = {.count = 0};
    sl_writer writer;
    sl_comparison_document document = {
        .request = &a->read,
        .about = sl_api_about(app->catalog, a, hash),
    };
    sl_code code = SL_OK;

    if (a->model == NULL)
        code = sl_fail(&err, SL_E_RANGE, "model_required", "/model",
                       "a comparison needs a model with layers, not a number of parameters");
    else if (a->read.of == SL_COMPARISON_OF_STRATEGIES)
        code = compare_strategies(app, worker, a, request, &document, &err);
    else
        code = compare_tunings(app, worker, a, request, &document, &err);
    if (code == SL_OK)
        code = sl_api_input_hash(app, a, hash, &err);
    if (code != SL_OK) {
        sl_response_problem(response, request, &err);
        return;
    }
    sl_writer_init(&writer, &response->body);
    sl_comparison_write(&writer, &document);
    sl_api_finish(&writer, response, request);
}

void
sl_comparisons_post(void *app, void *worker, const sl_request *request, sl_response *response)
{
    sl_api_ask(app, worker, request, response, sl_comparison_request_read, answer_comparison,
               SL_PLANNED_COMPARISON);
}
