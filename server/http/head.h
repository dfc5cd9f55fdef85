/** The header fields of a request that this layer reads, taken in one pass over them. */
#ifndef SL_HTTP_HEAD_H
#define SL_HTTP_HEAD_H

#include <microhttpd.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/settings.h"

typedef enum sl_field {
    SL_FIELD_HOST,
    SL_FIELD_CONTENT_TYPE,
    SL_FIELD_CONTENT_ENCODING,
    SL_FIELD_CONTENT_LENGTH,
    SL_FIELD_TRANSFER_ENCODING,
    SL_FIELD_EXPECT,
    SL_FIELD_ACCEPT,
    SL_FIELD_ACCEPT_ENCODING,
    SL_FIELD_IF_MATCH,
    SL_FIELD_IF_NONE_MATCH,
    SL_FIELD_REQUEST_ID,
    SL_FIELD_TRACEPARENT,
    SL_FIELD_USER_AGENT,
    SL_FIELD_CACHE_CONTROL,
    SL_FIELD_FORWARDED_FOR,
    SL_FIELD_ORIGIN,
    SL_FIELD_FETCH_SITE,
    SL_FIELD_COUNT
} sl_field;

/** Borrowed from the connection and the arena: valid until its request completes. */
typedef struct sl_head {
    const char *value[SL_FIELD_COUNT]; /* of a list all lines of its name as one (RFC 9110, 5.3), of
                                          any other the first; NULL when absent */
    uint32_t times[SL_FIELD_COUNT];
    uint64_t body_bytes; /* announced; 0 when chunked or without a body */
    bool chunked;
    bool clear; /* false when two readers could disagree on where the body ends */
} sl_head;

sl_head sl_head_read(struct MHD_Connection *connection, sl_arena *arena);

/**
 * True when the request may be answered under this name: loopback names, the listening host, the
 * allowed hosts; the port does not matter. A page of a stranger that resolves its own name to this
 * machine (DNS rebinding) is recognised by nothing else. NULL (HTTP/1.0, never a browser) passes.
 */
bool sl_host_allowed(const sl_settings *settings, const char *host);

/**
 * False when a browser says that a page of another site sent the request: many can be sent without
 * asking first, and on loopback there is nothing else to keep strangers out. The host of Origin is
 * judged as that of Host is; scheme and port may be a proxy's. Who is no browser says neither.
 */
bool sl_origin_allowed(const sl_settings *settings, const sl_head *head);

/** True when content_type (without its parameters) is in the comma-separated list, or it is "*". */
bool sl_type_accepted(const char *list, const char *content_type);

#endif
