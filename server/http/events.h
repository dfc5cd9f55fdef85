/**
 * Events of a stream, in the two forms that clients read: server-sent events, and one JSON object a
 * line.
 *
 *   event: progress              {"event": "progress", "data": {...}}
 *   data: {...}
 *
 * An event's data is one JSON text without line breaks.
 */
#ifndef SL_HTTP_EVENTS_H
#define SL_HTTP_EVENTS_H

#include "http/message.h"

typedef enum sl_events {
    SL_EVENTS_NONE, /* one document */
    SL_EVENTS_SSE,  /* text/event-stream */
    SL_EVENTS_LINES /* application/x-ndjson */
} sl_events;

/** What the client asks for, by its Accept (accept.h). */
sl_events sl_events_wanted(const sl_request *request);

/** The head of an answer in that form, which no proxy is to hold back; and what an SSE client does
 * when the connection breaks, as the first bytes of the body. */
void sl_events_head(sl_events events, sl_response *response, sl_buffer *out);

/** name: of the event, plain. data: JSON. */
void sl_events_write(sl_events events, const char *name, const char *data, size_t size,
                     sl_buffer *out);

/** What means nothing and keeps a connection alive through proxies; false where the form has no
 * such thing. */
bool sl_events_beat(sl_events events, sl_buffer *out);

#endif
