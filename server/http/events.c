#include "http/events.h"

#include <assert.h>
#include <string.h>

#include "http/accept.h"

/* A search that broke off is not to be started again by a browser of its own accord; it asks for
 * the answer that is kept, much later. */
static const char sse_start[] = "retry: 60000\n\n";

static const char *const types[] = {
    [SL_EVENTS_NONE] = "application/json",
    [SL_EVENTS_SSE] = "text/event-stream",
    [SL_EVENTS_LINES] = "application/x-ndjson",
};

sl_events
sl_events_wanted(const sl_request *request)
{
    assert(request != NULL);

    const int chosen = sl_accept_choose(request->accept, types, sizeof types / sizeof types[0]);
    return chosen < 0 ? SL_EVENTS_NONE : (sl_events)chosen;
}

void
sl_events_head(sl_events events, sl_response *response, sl_buffer *out)
{
    assert(events != SL_EVENTS_NONE);

    response->content_type = types[events];
    sl_response_header(response, "Cache-Control", "no-store");
    sl_response_header(response, "X-Accel-Buffering", "no");
    if (events == SL_EVENTS_SSE)
        sl_buffer_text(out, sse_start);
}

void
sl_events_write(sl_events events, const char *name, const char *data, size_t size, sl_buffer *out)
{
    assert(events != SL_EVENTS_NONE && name != NULL && data != NULL);
    assert(memchr(data, '\n', size) == NULL);

    sl_buffer_format(
        out, events == SL_EVENTS_SSE ? "event: %s\ndata: " : "{\"event\":\"%s\",\"data\":", name);
    sl_buffer_append(out, data, size);
    sl_buffer_text(out, events == SL_EVENTS_SSE ? "\n\n" : "}\n");
}

bool
sl_events_beat(sl_events events, sl_buffer *out)
{
    if (events == SL_EVENTS_SSE)
        sl_buffer_text(out, ":\n\n");
    return events == SL_EVENTS_SSE;
}
