#include "api/raw_body.h"

#include <assert.h>

#include "base/text.h"
#include "trace/gunzip.h"

static sl_code
keep_bytes(void *context, const char *bytes, size_t size, sl_errors *err)
{
    sl_buffer *const out = context;

    sl_buffer_append(out, bytes, size);
    return out->failed ? sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory to unpack with")
                       : SL_OK;
}

static sl_code
unpack(sl_raw_body *body, sl_errors *err)
{
    sl_gunzip *const gunzip = sl_gunzip_new(SL_RAW_UNPACKED_MAX_BYTES, keep_bytes, &body->unpacked);
    if (gunzip == NULL)
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory to unpack with");
    sl_code code = sl_gunzip_feed(gunzip, body->text, body->size, err);
    if (code == SL_OK)
        code = sl_gunzip_finish(gunzip, err);
    sl_gunzip_free(gunzip);
    body->text = body->unpacked.size > 0 ? body->unpacked.data : "";
    body->size = body->unpacked.size;
    return code;
}

sl_code
sl_raw_body_open(const sl_request *request, sl_raw_body *out, sl_errors *err)
{
    assert(request != NULL && out != NULL && err != NULL);

    *out = (sl_raw_body){.text = request->body, .size = request->body_size};
    sl_buffer_init(&out->unpacked, (size_t)SL_RAW_UNPACKED_MAX_BYTES + 1);
    if (request->spool != NULL) {
        if (!sl_spool_view_open(request->spool, &out->view))
            return sl_fail(err, SL_E_UNAVAILABLE, "no_spool", "",
                           "the body could not be read back");
        out->text = out->view.text;
        out->size = out->view.size;
    }
    if (out->size == 0)
        return sl_fail(err, SL_E_SYNTAX, "empty_body", "", "the body must be what a tool printed");
    return (unsigned char)*out->text == 0x1f ? unpack(out, err) : SL_OK;
}

void
sl_raw_body_close(sl_raw_body *body)
{
    assert(body != NULL);
    sl_spool_view_clear(&body->view);
    sl_buffer_clear(&body->unpacked);
}
