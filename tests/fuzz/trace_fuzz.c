/* Any bytes as a body to compare: reading them ends the same however they are cut, and what is
 * measured of a trace are times that it can have. */
#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "trace/upload.h"

enum { KERNELS_MAX = 256, REQUEST_MAX_BYTES = 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void
expect_time(double seconds, double most_s)
{
    assert(isfinite(seconds) && seconds >= 0.0 && seconds <= most_s * (1.0 + 1e-9));
}

static void
use(sl_trace *trace)
{
    static sl_trace_figures figures;
    sl_trace_measure(trace, &figures);
    expect_time(figures.device_span_s, figures.span_s);
    expect_time(figures.idle_s, figures.device_span_s);
    expect_time(figures.host_s, figures.idle_s);
    expect_time(figures.computing_s, figures.device_span_s);
    for (uint32_t k = 0; k < SL_KERNEL_KIND_COUNT; k++) {
        expect_time(figures.kinds[k].seconds, figures.device_span_s);
        /* A difference of sums: a last bit may be missing. */
        assert(figures.kinds[k].exposed_s >= -1e-9);
    }
    assert(figures.device != NULL && figures.stream_count > 0);
    for (uint32_t i = 0; i < figures.stream_count; i++)
        expect_time(figures.streams[i].busy_s, figures.span_s);
    for (uint32_t i = 0; i < figures.unmatched_count; i++)
        assert(memchr(figures.unmatched[i].name, '\0', SL_TRACE_NAME_SIZE) != NULL);
}

/* What came of it when it is fed in parts of `part` bytes. */
static sl_code
feed(const char *bytes, size_t size, size_t part)
{
    sl_errors err = {.count = 0};
    sl_trace *const trace = sl_trace_new(KERNELS_MAX);
    sl_upload *const upload = sl_upload_new(REQUEST_MAX_BYTES, trace);
    assert(trace != NULL && upload != NULL);
    sl_code code = SL_OK;
    for (size_t at = 0; at < size && code == SL_OK; at += part)
        code = sl_upload_feed(upload, bytes + at, size - at < part ? size - at : part, &err);
    if (code == SL_OK)
        code = sl_upload_finish(upload, &err);
    assert((code == SL_OK) == (err.count == 0));
    if (code == SL_OK)
        use(trace);
    else
        assert(err.list[0].code == code && err.list[0].message[0] != '\0');
    sl_upload_free(upload);
    sl_trace_free(trace);
    return code;
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char *const text = malloc(size + 1);
    if (text == NULL)
        return 0;
    memcpy(text, bytes, size);
    const sl_code whole = feed(text, size, size + 1);
    const sl_code cut = feed(text, size, 1 + size % 13);
    assert(whole == cut);
    (void)whole;
    (void)cut;
    free(text);
    return 0;
}
