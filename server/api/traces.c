/*
 * A recorded trace beside the prediction of the same run. The body, an estimate request and the
 * trace behind it, lies on disk: each call reads the request from its beginning until, on the
 * compute lane with model and inventory at hand, the plan is predicted. The last call, on the bulk
 * lane, reads the trace.
 */
#include "api/estimates.h"
#include "api/resources.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "http/spool.h"
#include "shardline/version.h"
#include "trace/measured_json.h"
#include "trace/upload.h"

enum { PART_BYTES = 64 * 1024 };

static sl_code
out_of_memory(sl_errors *err)
{
    return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory to read the trace with");
}

/* What is said of the body must be so: a reader between would take it at its word. */
static sl_code
check_coding(const sl_request *request, sl_errors *err)
{
    char magic = '\0';
    size_t got = 0;

    if (request->content_encoding == NULL ||
        sl_text_equal_ignoring_case(request->content_encoding, "identity"))
        return SL_OK;
    if (sl_spool_read(request->spool, 0, &magic, 1, &got) && got == 1 && magic == 0x1f)
        return SL_OK;
    return sl_fail(err, SL_E_SYNTAX, "malformed_gzip", "",
                   "the body must be the gzip it is said to be");
}

/* Reads the body, or up to the request's end where that is all that is wanted. */
static sl_code
read_body(const sl_request *request, sl_upload *upload, bool request_only, sl_errors *err)
{
    char *const part = malloc(PART_BYTES);
    sl_code code = part == NULL ? out_of_memory(err) : SL_OK;
    uint64_t offset = 0;
    size_t size = 0;
    size_t got = 0;

    while (code == SL_OK && !(request_only && sl_upload_request(upload, &size) != NULL)) {
        if (atomic_load(request->cancelled)) {
            code = sl_fail(err, SL_E_TIMEOUT, "cancelled", "", "the request was given up");
        } else if (!sl_spool_read(request->spool, offset, part, PART_BYTES, &got)) {
            code =
                sl_fail(err, SL_E_UNAVAILABLE, "no_spool", "", "the body could not be read back");
        } else if (got == 0) {
            code = sl_upload_finish(upload, err);
            break;
        } else {
            code = sl_upload_feed(upload, part, got, err);
            offset += got;
        }
    }
    free(part);
    return code;
}

/* The estimate request at the beginning of the body, in the arena. */
static sl_code
read_request(const sl_app *app, const sl_request *request, sl_request *out, sl_errors *err)
{
    if (request->spool == NULL)
        return sl_fail(err, SL_E_SYNTAX, "malformed_json", "",
                       "the body must be an estimate request and a trace behind it");
    sl_code code = check_coding(request, err);
    if (code != SL_OK)
        return code;
    sl_upload *const upload = sl_upload_new(app->settings->max_body_bytes, NULL);
    if (upload == NULL)
        return out_of_memory(err);
    code = read_body(request, upload, true, err);
    size_t size = 0;
    const char *const text = code == SL_OK ? sl_upload_request(upload, &size) : NULL;
    if (text != NULL) {
        out->body = sl_arena_copy_bytes(request->arena, text, size);
        out->body_size = size;
        if (out->body == NULL)
            code = out_of_memory(err);
    }
    sl_upload_free(upload);
    return code;
}

static sl_code
read_trace(const sl_app *app, const sl_request *request, sl_trace *trace, sl_errors *err)
{
    sl_upload *const upload = sl_upload_new(app->settings->max_body_bytes, trace);
    if (upload == NULL)
        return out_of_memory(err);
    const sl_code code = read_body(request, upload, false, err);
    sl_upload_free(upload);
    return code;
}

/* What the compute lane leaves to the one that reads the trace. In the request's arena. */
typedef struct prediction {
    sl_estimate estimate;
    double classes[SL_CLASS_COUNT];
    sl_errors warnings;
    const char *catalog_revision;
    double took_s;
} prediction;

static sl_code
predict(const sl_app *app, sl_worker *worker, const sl_api_asked *a, sl_arena *arena,
        prediction **out, sl_errors *err)
{
    const double start_s = sl_clock_now_s();

    if (sl_estimate_accounting_alone(&a->read))
        return sl_fail(err, SL_E_RANGE, "plan_required", "",
                       "a trace is compared with a plan on a cluster, not with an accounting");
    const sl_question question = sl_estimate_request_question(&a->read, a->model);
    sl_code code = sl_estimate_request_check(&a->read, &question, err);
    if (code == SL_OK)
        code = sl_estimate_answer(&question, worker->scratch, worker->estimate, err);
    if (code != SL_OK)
        return code;
    prediction *const made = sl_arena_alloc(arena, 1, sizeof *made);
    if (made == NULL)
        return out_of_memory(err);
    made->estimate = *worker->estimate;
    made->warnings = a->warnings;
    made->catalog_revision = sl_arena_copy(arena, sl_catalog_revision(app->catalog));
    if (made->catalog_revision == NULL)
        return out_of_memory(err);
    sl_classes_predict(&question, worker->estimate, made->classes);
    made->took_s = sl_clock_now_s() - start_s;
    *out = made;
    return SL_OK;
}

/* The plan first: its faults are found in a moment. The trace takes seconds, on a lane where nobody
 * waits who is answered in that. */
static void
answer_prediction(sl_app *app, sl_worker *worker, sl_api_asked *a, const sl_request *request,
                  sl_response *response)
{
    sl_errors err = {.count = 0};
    prediction *made = NULL;

    if (predict(app, worker, a, request->arena, &made, &err) == SL_OK)
        sl_response_continue(response, SL_LANE_BULK, made);
    else
        sl_response_problem(response, request, &err);
}

static void
answer_comparison(const sl_app *app, const prediction *predicted, const sl_request *request,
                  sl_response *response)
{
    const double start_s = sl_clock_now_s();
    sl_errors err = {.count = 0};
    sl_trace_figures *const figures = sl_arena_alloc(request->arena, 1, sizeof *figures);
    sl_trace *const trace = sl_trace_new(SL_TRACE_KERNELS_MAX);
    sl_measured_document document = {
        .measured = figures,
        .predicted = &predicted->estimate,
        .warnings = &predicted->warnings,
        .engine_version = sl_engine_version,
        .catalog_revision = predicted->catalog_revision,
    };

    memcpy(document.classes, predicted->classes, sizeof document.classes);
    sl_code code = figures == NULL || trace == NULL ? out_of_memory(&err)
                                                    : read_trace(app, request, trace, &err);
    if (code == SL_OK) {
        sl_writer writer;
        sl_trace_measure(trace, figures);
        sl_writer_init(&writer, &response->body);
        sl_measured_write(&writer, &document);
        sl_api_finish(&writer, response, request);
        sl_planned_count(SL_PLANNED_TRACE, predicted->took_s + sl_clock_now_s() - start_s);
    } else {
        sl_response_problem(response, request, &err);
    }
    sl_trace_free(trace);
}

void
sl_timelines_compare(void *argument, void *thread, const sl_request *request, sl_response *response)
{
    sl_app *app = argument;
    const sl_worker *worker = sl_api_worker(thread, request, response);
    sl_request asked = *request;
    sl_errors err = {.count = 0};

    if (worker == NULL)
        return;
    if (worker->lane == SL_LANE_BULK)
        answer_comparison(app, response->state, request, response);
    else if (read_request(app, request, &asked, &err) == SL_OK)
        sl_api_ask(app, thread, &asked, response, sl_estimate_request_read, answer_prediction,
                   SL_PLANNED_TRACE);
    else
        sl_response_problem(response, request, &err);
}
