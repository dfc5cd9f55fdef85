#include "http/problem.h"

#include <assert.h>
#include <string.h>

#include "json/writer.h"

typedef struct problem {
    uint32_t status;
    const char *type;
    const char *title;
    const char *retry_after; /* seconds, where the cause does not say; NULL: it does not help */
} problem;

static const problem problems[] = {
    [SL_OK] = {500, "/problems/internal", "The service failed", NULL},
    [SL_E_SYNTAX] = {400, "/problems/malformed", "The request cannot be read", NULL},
    [SL_E_RANGE] = {422, "/problems/validation", "The request asks for the impossible", NULL},
    [SL_E_UNSUPPORTED] = {422, "/problems/unsupported", "This is not supported", NULL},
    [SL_E_NOT_FOUND] = {404, "/problems/not-found", "Not found", NULL},
    [SL_E_FORBIDDEN] = {403, "/problems/forbidden", "This is not allowed", NULL},
    [SL_E_CONFLICT] = {409, "/problems/conflict", "The state of the resource forbids it", NULL},
    [SL_E_DOES_NOT_FIT] = {409, "/problems/does-not-fit", "The plan does not fit", NULL},
    [SL_E_PRECONDITION] = {412, "/problems/precondition-failed", "The resource has changed", NULL},
    [SL_E_TOO_LARGE] = {413, "/problems/too-large", "The request is too large", NULL},
    [SL_E_MEDIA_TYPE] = {415, "/problems/unsupported-media-type",
                         "The body has a type that is not read here", NULL},
    [SL_E_RATE_LIMITED] = {503, "/problems/rate-limited", "A service behind us asks to slow down",
                           "30"},
    [SL_E_UPSTREAM] = {502, "/problems/upstream", "A service behind us failed", NULL},
    [SL_E_TIMEOUT] = {504, "/problems/timeout", "The time for this request is over", NULL},
    [SL_E_UNAVAILABLE] = {503, "/problems/unavailable", "A part of the service is missing", "2"},
    [SL_E_MEMORY] = {503, "/problems/overloaded", "The request needs more than there is", "2"},
    [SL_E_INTERNAL] = {500, "/problems/internal", "The service failed", NULL},
    [SL_PROBLEM_METHOD] = {405, "/problems/method-not-allowed",
                           "The resource does not have this method", NULL},
    [SL_PROBLEM_HOST] = {421, "/problems/misdirected", "This host name is not served here", NULL},
};
_Static_assert(sizeof problems / sizeof problems[0] == SL_PROBLEM_COUNT, "every kind has a row");

/* Of the cause, where it said when; else the table's. */
static const char *
retry_after_of(const problem *row, const sl_request *request, const sl_errors *err)
{
    const char *own = NULL;
    if (row->retry_after != NULL && err->count > 0 && err->list[0].retry_after_s > 0)
        own = sl_arena_format(request->arena, "%u", err->list[0].retry_after_s);
    return own != NULL ? own : row->retry_after;
}

void
sl_problem_write(sl_response *response, const sl_request *request, uint32_t kind,
                 const sl_errors *err, const sl_pair *extension)
{
    assert(response != NULL && request != NULL && err != NULL);
    assert(kind < SL_PROBLEM_COUNT);

    const problem *const row = &problems[kind];
    sl_buffer_clear(&response->body);
    response->header_count = 0; /* a tag or a link of the answer that did not come to be */
    response->status = row->status;
    response->content_type = "application/problem+json";
    sl_response_header(response, "Cache-Control", "no-store");
    const char *const retry_after = retry_after_of(row, request, err);
    if (retry_after != NULL)
        sl_response_header(response, "Retry-After", retry_after);

    sl_writer writer;
    sl_writer_init(&writer, &response->body);
    sl_write_object(&writer);
    sl_put_text(&writer, "type", row->type);
    sl_put_text(&writer, "title", row->title);
    sl_put_uint(&writer, "status", row->status);
    sl_put_text(&writer, "detail", err->count > 0 ? err->list[0].message : row->title);
    sl_put_text(&writer, "instance", request->id);
    sl_write_key(&writer, "errors");
    sl_write_errors(&writer, err);
    if (err->dropped > 0)
        sl_put_uint(&writer, "dropped_errors", err->dropped);
    if (extension != NULL) {
        sl_write_key(&writer, extension->name);
        sl_write_raw(&writer, extension->value, strlen(extension->value));
    }
    sl_write_object_end(&writer);
}

void
sl_response_problem(sl_response *response, const sl_request *request, const sl_errors *err)
{
    assert(err != NULL);
    /* A handler that failed without saying why is a fault of ours that must not stop the others. */
    sl_problem_write(response, request, err->count > 0 ? err->list[0].code : SL_E_INTERNAL, err,
                     NULL);
}

void
sl_response_problem_with(sl_response *response, const sl_request *request, const sl_errors *err,
                         const char *name, const char *json)
{
    assert(err != NULL && err->count > 0 && name != NULL && json != NULL);

    const sl_pair extension = {name, json};
    sl_problem_write(response, request, err->list[0].code, err, &extension);
}
