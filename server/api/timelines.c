/* A training step as a drawing: the plan of an estimate request, simulated. */
#include "api/estimates.h"
#include "api/resources.h"

#include <stdlib.h>
#include <string.h>

#include "codec/answer/timeline_json.h"
#include "trace/gzip.h"
#include "json/members.h"

/* What an Accept names, if any: columns otherwise. */
typedef enum form { FORM_COLUMNS, FORM_TRACE, FORM_FILE, FORMS } form;

static const char *const types[FORMS] = {
    [FORM_COLUMNS] = "application/json",
    [FORM_TRACE] = "application/vnd.chrome-trace+json",
    [FORM_FILE] = "application/gzip",
};

/* Below, packing costs more than it saves. */
static const size_t packed_from_bytes = 4096;

static form
form_of(const sl_request *request)
{
    for (uint32_t i = FORM_TRACE; i < FORMS; i++)
        if (strstr(request->accept, types[i]) != NULL)
            return (form)i;
    return FORM_COLUMNS;
}

static sl_code
read_query(const sl_request *request, sl_timeline_query *query, sl_errors *err)
{
    static const char *const words[] = {"true", "false"};
    int rings = -1;
    sl_code limited =
        sl_api_limit(request, SL_SPANS_DEFAULT, SL_SPANS_LISTED_MAX, &query->limit, err);
    sl_keep(&limited, sl_api_choice(request, "rings", words, 2, &rings, err));
    query->rings = rings == 0;
    const sl_code code = sl_timeline_query_read(sl_request_query(request, "rank"),
                                                sl_request_query(request, "from_s"),
                                                sl_request_query(request, "to_s"), query, err);

    return limited != SL_OK ? limited : code;
}

static sl_code
read_detail(const sl_estimate_request *read, bool *operators, sl_errors *err)
{
    *operators = read->detail != NULL && strcmp(read->detail, "operator") == 0;
    if (*operators || read->detail == NULL || strcmp(read->detail, "stage") == 0)
        return SL_OK;

    const sl_code code = sl_fail(err, SL_E_RANGE, "unknown_value", "/detail",
                                 "must be \"stage\" or \"operator\", got %.40s", read->detail);
    sl_hint(err, "stage");
    return code;
}

static sl_code
check_slow(const sl_estimate_request *read, const sl_plan *plan, sl_errors *err)
{
    if (read->slow_stage == UINT32_MAX || read->slow_stage < plan->pipeline)
        return SL_OK;
    return sl_fail(err, SL_E_RANGE, "out_of_range", "/slow_stage/stage",
                   "must be below the %u stages of the plan, got %u", plan->pipeline,
                   read->slow_stage);
}

/* Each micro-batch over the usual one: as many as the plan has, together the batch of a replica.
 * *out is in the request's arena; NULL where all are alike. */
static sl_code
read_sizes(const sl_estimate_request *read, const sl_estimate *estimate, sl_arena *arena,
           const double **out, sl_errors *err)
{
    const uint64_t count = sl_plan_microbatches(&estimate->workload, &estimate->plan);
    const uint64_t usual = estimate->workload.micro_batch;
    const uint64_t all = count * usual; /* samples of a replica */
    sl_code first = SL_OK;
    uint64_t total = 0;
    sl_node item;

    *out = NULL;
    if (read->sizes.value == NULL)
        return SL_OK;
    if (estimate->plan.pipeline == 1)
        return sl_node_fail(&read->sizes, err, SL_E_UNSUPPORTED, "not_modelled",
                            "micro-batches of several sizes are modelled on a pipeline of stages");
    if (sl_node_count(&read->sizes) != count) {
        (void)sl_node_fail(&read->sizes, err, SL_E_RANGE, "inconsistent",
                           "must have the %llu micro-batches of a replica, got %zu",
                           (unsigned long long)count, sl_node_count(&read->sizes));
        sl_hint(err, "%llu sizes", (unsigned long long)count);
        return SL_E_RANGE;
    }
    double *const sizes = sl_arena_alloc(arena, count, sizeof *sizes);
    if (sizes == NULL)
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "the sizes do not fit in memory");
    for (size_t i = 0; sl_node_at(&read->sizes, i, &item); i++) {
        uint64_t samples = 0;
        sl_keep(&first, sl_node_as_uint(&item, 1, all, &samples, err));
        sizes[i] = (double)samples / (double)usual;
        total += samples;
    }
    if (first == SL_OK && total != all)
        return sl_node_fail(&read->sizes, err, SL_E_RANGE, "inconsistent",
                            "must add up to the %llu samples of a replica, got %llu",
                            (unsigned long long)all, (unsigned long long)total);
    *out = sizes;
    return first;
}

/* Simulates into `scratch` and writes what comes of it. */
static sl_code
write_answer(const sl_question *question, sl_timeline_document *document, const double *sizes,
             void *scratch, bool trace, sl_writer *writer, sl_errors *err)
{
    double slowness[SL_PIPELINE_MAX];
    sl_timeline timeline;

    for (uint32_t i = 0; i < SL_PIPELINE_MAX; i++)
        slowness[i] = i == document->request->slow_stage ? document->request->slow_ratio : 1.0;
    sl_timeline_simulate(question, document->estimate, slowness, sizes, scratch, &timeline);
    document->timeline = &timeline;
    if (trace ? sl_trace_write(writer, document) : sl_timeline_write(writer, document))
        return SL_OK;
    return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "the timeline does not fit in memory");
}

/* As the client takes it: a trace as a packed file of the name that TensorBoard's plugin looks for,
 * or what was asked for, packed on the way. */
static void
pack(const sl_request *request, form as, sl_response *response)
{
    if (response->status != 200)
        return;
    sl_response_header(response, "Vary", "Accept, Accept-Encoding");
    if (as == FORM_TRACE)
        response->content_type = types[FORM_TRACE];
    if (as == FORM_FILE) {
        sl_errors err = {.count = 0};
        if (sl_gzip(&response->body)) {
            response->content_type = types[FORM_FILE];
            sl_response_header(response, "Content-Disposition",
                               "attachment; filename=\"step.pt.trace.json.gz\"");
            return;
        }
        (void)sl_fail(&err, SL_E_MEMORY, "out_of_memory", "", "the trace does not fit in memory");
        sl_response_problem(response, request, &err);
    } else if (sl_request_takes_gzip(request) && response->body.size > packed_from_bytes &&
               sl_gzip(&response->body)) {
        sl_response_header(response, "Content-Encoding", "gzip");
    }
}

static void
answer_timeline(sl_app *app, sl_worker *worker, sl_api_asked *a, const sl_request *request,
                sl_response *response)
{
    sl_timeline_query query = {.limit = 0};
    sl_question question;
    sl_errors err = {.count = 0};
    sl_writer writer;
    const double *sizes = NULL;
    size_t bytes = 0;
    void *scratch = NULL;
    const form as = form_of(request);

    (void)app;
    sl_code code = read_query(request, &query, &err);
    sl_keep(&code, read_detail(&a->read, &query.operators, &err));
    sl_keep(&code, sl_api_settle(worker, a, "a timeline", &question, &err));
    if (code == SL_OK)
        code = sl_timeline_query_check(&query, &worker->estimate->plan, &err);
    if (code == SL_OK)
        code = check_slow(&a->read, &worker->estimate->plan, &err);
    if (code == SL_OK)
        code = read_sizes(&a->read, worker->estimate, request->arena, &sizes, &err);
    if (code == SL_OK)
        code = sl_timeline_size(&question, worker->estimate, &bytes, &err);
    if (code == SL_OK && (scratch = malloc(bytes)) == NULL)
        code =
            sl_fail(&err, SL_E_MEMORY, "out_of_memory", "", "the timeline does not fit in memory");
    sl_writer_init(&writer, &response->body);
    if (code == SL_OK) {
        sl_timeline_document document = {
            .question = &question,
            .query = &query,
            .estimate = worker->estimate,
            .request = &a->read,
            .warnings = &a->warnings,
        };
        code =
            write_answer(&question, &document, sizes, scratch, as != FORM_COLUMNS, &writer, &err);
    }
    free(scratch);
    if (code != SL_OK) {
        sl_response_problem(response, request, &err);
        return;
    }
    sl_api_finish(&writer, response, request);
    pack(request, as, response);
}

void
sl_timelines_post(void *app, void *worker, const sl_request *request, sl_response *response)
{
    sl_api_ask(app, worker, request, response, sl_timeline_request_read, answer_timeline,
               SL_PLANNED_TIMELINE);
}
