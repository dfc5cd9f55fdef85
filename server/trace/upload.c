#include "trace/upload.h"

#include <assert.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "trace/gunzip.h"
#include "json/stream.h"

/* A trace of tens of MB packs to a tenth; this is what a packed body at its limit usually holds. */
const uint64_t sl_upload_unpacked_max_bytes = (uint64_t)1 << 30;

struct sl_upload {
    sl_gunzip *body;  /* what arrives */
    sl_gunzip *inner; /* what follows the request */
    sl_stream cutter; /* finds the request's end */
    sl_buffer request;
    sl_trace *trace; /* borrowed */
    bool trace_begun;
};

/* The cut needs the end of the document only. */
static void
on_request_token(void *context, const sl_stream_token *token)
{
    (void)context;
    (void)token;
}

/* Blanks between the documents are no part of the second, which its first byte decides about. */
static size_t
count_blanks(const char *bytes, size_t size)
{
    size_t at = 0;
    while (at < size &&
           (bytes[at] == ' ' || bytes[at] == '\t' || bytes[at] == '\n' || bytes[at] == '\r'))
        at++;
    return at;
}

static sl_code
on_trace(void *context, const char *bytes, size_t size, sl_errors *err)
{
    sl_upload *const upload = context;
    return sl_trace_feed(upload->trace, bytes, size, err);
}

/* Takes bytes of the request; *used of them are. */
static sl_code
take_request(sl_upload *upload, const char *bytes, size_t size, size_t *used, sl_errors *err)
{
    /* One byte too many tells, and no more are looked at. */
    const size_t room = upload->request.limit - upload->request.size;
    const size_t given = size <= room ? size : room + 1;
    const sl_code code = sl_stream_feed(&upload->cutter, bytes, given, used, err);
    if (code != SL_OK) {
        sl_hint(err, "the body begins with the estimate request; the trace follows it");
        return code;
    }
    sl_buffer_append(&upload->request, bytes, *used);
    if (!upload->request.failed)
        return SL_OK;
    (void)sl_fail(err, SL_E_TOO_LARGE, "request_too_large", "",
                  "the estimate request, which comes first, must not be over %zu bytes",
                  upload->request.limit);
    sl_hint(err, "cat request.json trace.json.gz");
    return SL_E_TOO_LARGE;
}

static sl_code
on_body(void *context, const char *bytes, size_t size, sl_errors *err)
{
    sl_upload *const upload = context;
    size_t at = 0;

    if (!sl_stream_done(&upload->cutter)) {
        const sl_code code = take_request(upload, bytes, size, &at, err);
        if (code != SL_OK)
            return code;
    }
    if (upload->trace == NULL)
        return SL_OK;
    if (!upload->trace_begun)
        at += count_blanks(bytes + at, size - at);
    if (at == size)
        return SL_OK;
    upload->trace_begun = true;
    return sl_gunzip_feed(upload->inner, bytes + at, size - at, err);
}

sl_upload *
sl_upload_new(size_t request_max_bytes, sl_trace *trace)
{
    sl_upload *const upload = calloc(1, sizeof *upload);
    if (upload == NULL)
        return NULL;
    upload->trace = trace;
    sl_buffer_init(&upload->request, request_max_bytes);
    sl_stream_init(&upload->cutter, on_request_token, NULL);
    upload->body = sl_gunzip_new(sl_upload_unpacked_max_bytes, on_body, upload);
    upload->inner = sl_gunzip_new(sl_upload_unpacked_max_bytes, on_trace, upload);
    if (upload->body != NULL && upload->inner != NULL)
        return upload;
    sl_upload_free(upload);
    return NULL;
}

void
sl_upload_free(sl_upload *upload)
{
    if (upload == NULL)
        return;
    sl_gunzip_free(upload->body);
    sl_gunzip_free(upload->inner);
    sl_buffer_clear(&upload->request);
    free(upload);
}

sl_code
sl_upload_feed(sl_upload *upload, const char *bytes, size_t size, sl_errors *err)
{
    assert(upload != NULL);
    return sl_gunzip_feed(upload->body, bytes, size, err);
}

sl_code
sl_upload_finish(sl_upload *upload, sl_errors *err)
{
    assert(upload != NULL);

    sl_code code = sl_gunzip_finish(upload->body, err);
    if (code == SL_OK)
        code = sl_stream_finish(&upload->cutter, err);
    if (code != SL_OK || upload->trace == NULL)
        return code;
    if (!upload->trace_begun) {
        (void)sl_fail(err, SL_E_SYNTAX, "trace_missing", "",
                      "the trace must follow the estimate request in the body");
        sl_hint(err, "cat request.json trace.json.gz");
        return SL_E_SYNTAX;
    }
    code = sl_gunzip_finish(upload->inner, err);
    return code == SL_OK ? sl_trace_finish(upload->trace, err) : code;
}

const char *
sl_upload_request(const sl_upload *upload, size_t *size)
{
    assert(upload != NULL && size != NULL);
    if (!sl_stream_done(&upload->cutter))
        return NULL;
    *size = upload->request.size;
    return upload->request.data;
}
