/* A training step as a drawing: the plan of an estimate request, simulated. */
#include "api/estimates.h"
#include "api/resources.h"

#include <stdlib.h>
#include <string.h>

#include "codec/answer/timeline_json.h"
#include "http/accept.h"
#include "trace/gzip.h"
#include "json/members.h"

/* What an Accept asks for: columns where it names none. */
typedef enum form { FORM_COLUMNS, FORM_TRACE, FORM_FILE, FORMS } form;

static const char *const types[FORMS] = {
    [FORM_COLUMNS] = "application/json",
    [FORM_TRACE] = "application/vnd.chrome-trace+json",
    [FORM_FILE] = "application/gzip",
};

static sl_code
out_of_memory(sl_errors *err)
{
    return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "the timeline does not fit in memory");
}

/* Below, packing costs more than it saves. */
static const size_t packed_from_bytes = 4096;

static form
form_of(const sl_request *request)
{
    const int chosen = sl_accept_choose(request->accept, types, FORMS);

    return chosen < 0 ? FORM_COLUMNS : (form)chosen;
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
    return out_of_memory(err);
}

/* A trace goes as a packed file of the name that TensorBoard's plugin looks for, or what was asked
 * for as it is, packed on the way where the client takes that. */
static void
put_head(form as, bool packed, sl_response *response)
{
    response->content_type = types[as];
    sl_response_header(response, "Vary", "Accept, Accept-Encoding");
    if (as == FORM_FILE)
        sl_response_header(response, "Content-Disposition",
                           "attachment; filename=\"step.pt.trace.json.gz\"");
    else if (packed)
        sl_response_header(response, "Content-Encoding", "gzip");
}

/* What is longer than one answer may be is the client's to shorten: nothing of ours broke. */
static sl_code
too_long(form as, bool packed, sl_errors *err)
{
    const sl_code code =
        sl_fail(err, SL_E_RANGE, "answer_too_large", "",
                "limit, from_s, to_s and rank must leave an answer of at most %d bytes",
                SL_RESPONSE_BODY_MAX_BYTES);

    if (packed)
        sl_hint(err, "limit=%d, or a part of the step by from_s and to_s", SL_SPANS_DEFAULT / 10);
    else
        sl_hint(err, "%s, which is packed; or a part of the step by from_s and to_s",
                as == FORM_TRACE ? "Accept: application/gzip" : "Accept-Encoding: gzip");
    return code;
}

/* Writes the answer, in whatever form the client takes it. */
static sl_code
draw(sl_timeline_document *document, const double *sizes, void *scratch, form as,
     const sl_request *request, sl_response *response, sl_errors *err)
{
    const bool packs = as == FORM_FILE || sl_request_takes_gzip(request);
    sl_gzip *const gzip = packs ? sl_gzip_new(&response->body) : NULL;
    bool packed = false;
    sl_writer writer;

    if (packs && gzip == NULL)
        return out_of_memory(err);
    sl_writer_init(&writer, packs ? sl_gzip_text(gzip) : &response->body);
    sl_code code = write_answer(document->question, document, sizes, scratch, as != FORM_COLUMNS,
                                &writer, err);
    const size_t from_bytes = as == FORM_FILE ? 0 : packed_from_bytes;
    if (code == SL_OK &&
        (writer.out->failed || (packs && !sl_gzip_finish(gzip, from_bytes, &packed))))
        code = too_long(as, packs, err);
    if (code == SL_OK) {
        put_head(as, packed, response);
        sl_api_finish(&writer, response, request);
    }
    sl_gzip_free(gzip);
    return code;
}

static void
answer_timeline(sl_app *app, sl_worker *worker, sl_api_asked *a, const sl_request *request,
                sl_response *response)
{
    sl_timeline_query query = {.limit = 0};
    sl_question question;
    sl_errors err = {.count = 0};
    const double *sizes = NULL;
    size_t bytes = 0;
    void *scratch = NULL;

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
        code = out_of_memory(&err);
    if (code == SL_OK) {
        sl_timeline_document document = {
            .question = &question,
            .query = &query,
            .estimate = worker->estimate,
            .request = &a->read,
            .warnings = &a->warnings,
        };
        code = draw(&document, sizes, scratch, form_of(request), request, response, &err);
    }
    free(scratch);
    if (code != SL_OK)
        sl_response_problem(response, request, &err);
}

void
sl_timelines_post(void *app, void *worker, const sl_request *request, sl_response *response)
{
    sl_api_ask(app, worker, request, response, sl_timeline_request_read, answer_timeline,
               SL_PLANNED_TIMELINE);
}
