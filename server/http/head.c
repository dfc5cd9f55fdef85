#include "http/head.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

#include "base/buffer.h"
#include "base/text.h"

/* The daemon takes no head that is longer. */
enum { HEAD_MAX_BYTES = 64 * 1024 };

static const char *const field_names[] = {
    [SL_FIELD_HOST] = "Host",
    [SL_FIELD_CONTENT_TYPE] = "Content-Type",
    [SL_FIELD_CONTENT_ENCODING] = "Content-Encoding",
    [SL_FIELD_CONTENT_LENGTH] = "Content-Length",
    [SL_FIELD_TRANSFER_ENCODING] = "Transfer-Encoding",
    [SL_FIELD_EXPECT] = "Expect",
    [SL_FIELD_ACCEPT] = "Accept",
    [SL_FIELD_ACCEPT_ENCODING] = "Accept-Encoding",
    [SL_FIELD_IF_MATCH] = "If-Match",
    [SL_FIELD_IF_NONE_MATCH] = "If-None-Match",
    [SL_FIELD_REQUEST_ID] = "X-Request-Id",
    [SL_FIELD_TRACEPARENT] = "traceparent",
    [SL_FIELD_USER_AGENT] = "User-Agent",
    [SL_FIELD_CACHE_CONTROL] = "Cache-Control",
    [SL_FIELD_FORWARDED_FOR] = "X-Forwarded-For",
    [SL_FIELD_ORIGIN] = "Origin",
    [SL_FIELD_FETCH_SITE] = "Sec-Fetch-Site",
};
_Static_assert(sizeof field_names / sizeof field_names[0] == SL_FIELD_COUNT,
               "every field has a name");

static enum MHD_Result
on_field(void *cls, enum MHD_ValueKind kind, const char *name, const char *value)
{
    (void)kind;
    sl_head *const head = cls;
    for (uint32_t i = 0; i < SL_FIELD_COUNT; i++) {
        if (!sl_text_equal_ignoring_case(name, field_names[i]))
            continue;
        if (head->times[i]++ == 0)
            head->value[i] = value == NULL ? "" : value;
        break;
    }
    return MHD_YES;
}

/* Lines of one name, as one text. */
typedef struct lines {
    const char *name;
    sl_buffer text;
    bool any;
} lines;

static enum MHD_Result
on_line(void *cls, enum MHD_ValueKind kind, const char *name, const char *value)
{
    (void)kind;
    lines *const all = cls;
    if (!sl_text_equal_ignoring_case(name, all->name))
        return MHD_YES;
    sl_buffer_text(&all->text, all->any ? ", " : "");
    sl_buffer_text(&all->text, value == NULL ? "" : value);
    all->any = true;
    return MHD_YES;
}

/* The lists that this layer reads as such: a client or a proxy may send each in several lines. */
static void
join_lists(struct MHD_Connection *connection, sl_arena *arena, sl_head *head)
{
    static const sl_field lists[] = {SL_FIELD_CONTENT_ENCODING, SL_FIELD_ACCEPT,
                                     SL_FIELD_ACCEPT_ENCODING,  SL_FIELD_IF_MATCH,
                                     SL_FIELD_IF_NONE_MATCH,    SL_FIELD_CACHE_CONTROL};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        if (head->times[lists[i]] < 2)
            continue;
        lines all = {.name = field_names[lists[i]]};
        sl_buffer_init(&all.text, HEAD_MAX_BYTES);
        (void)MHD_get_connection_values(connection, MHD_HEADER_KIND, on_line, &all);
        const char *const joined =
            all.text.failed ? NULL : sl_arena_copy_bytes(arena, all.text.data, all.text.size);
        if (joined != NULL)
            head->value[lists[i]] = joined;
        else
            head->clear = false; /* half a condition is none */
        sl_buffer_clear(&all.text);
    }
}

sl_head
sl_head_read(struct MHD_Connection *connection, sl_arena *arena)
{
    assert(connection != NULL && arena != NULL);

    sl_head head = {.clear = true};
    (void)MHD_get_connection_values(connection, MHD_HEADER_KIND, on_field, &head);

    const char *const length = head.value[SL_FIELD_CONTENT_LENGTH];
    const char *const coding = head.value[SL_FIELD_TRANSFER_ENCODING];
    if (coding != NULL) {
        /* The daemon reads any other coding as "until the connection closes". */
        head.chunked = sl_text_equal_ignoring_case(coding, "chunked");
        head.clear = head.chunked && length == NULL && head.times[SL_FIELD_TRANSFER_ENCODING] == 1;
    } else if (length != NULL) {
        head.clear =
            sl_text_to_uint(length, &head.body_bytes) && head.times[SL_FIELD_CONTENT_LENGTH] == 1;
    }
    head.clear = head.clear && head.times[SL_FIELD_HOST] <= 1;
    join_lists(connection, arena, &head);
    return head;
}

/* Compares a name of `length` bytes, not terminated, ignoring case. */
static bool
same_name(const char *name, size_t length, const char *other)
{
    return strlen(other) == length && strncasecmp(name, other, length) == 0;
}

/* The same with an entry of the allowed hosts, which may be written as it stands in a URL: an IPv6
 * address in brackets, and a port. */
static bool
same_host(const char *name, size_t length, const char *entry)
{
    size_t used = strlen(entry);
    if (entry[0] == '[')
        used = strcspn(++entry, "]");
    else if (strchr(entry, ':') == strrchr(entry, ':'))
        used = strcspn(entry, ":");
    return used == length && strncasecmp(name, entry, length) == 0;
}

bool
sl_host_allowed(const sl_settings *settings, const char *host)
{
    assert(settings != NULL);
    if (host == NULL)
        return true;

    const char *name = host;
    size_t length = strcspn(host, ":");
    if (host[0] == '[') { /* an IPv6 address: its colons are not the port's */
        name = host + 1;
        length = strcspn(name, "]");
        if (name[length] != ']')
            return false;
    }
    static const char *const loopback[] = {"localhost", "127.0.0.1", "::1"};
    for (size_t i = 0; i < sizeof loopback / sizeof loopback[0]; i++)
        if (same_name(name, length, loopback[i]))
            return true;
    if (same_name(name, length, settings->listen_host))
        return true;
    for (uint32_t i = 0; i < settings->allowed_host_count; i++)
        if (same_host(name, length, settings->allowed_hosts[i]))
            return true;
    return false;
}

bool
sl_origin_allowed(const sl_settings *settings, const sl_head *head)
{
    assert(settings != NULL && head != NULL);
    static const char *const schemes[] = {"http://", "https://"};
    const char *const site = head->value[SL_FIELD_FETCH_SITE];
    const char *const origin = head->value[SL_FIELD_ORIGIN];

    if (site != NULL && sl_text_equal_ignoring_case(site, "cross-site"))
        return false;
    if (origin == NULL)
        return true;
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
        const size_t length = strlen(schemes[i]);
        if (strncasecmp(origin, schemes[i], length) == 0)
            return head->times[SL_FIELD_ORIGIN] == 1 && sl_host_allowed(settings, origin + length);
    }
    return false; /* "null": a page that hides where it is from */
}

bool
sl_type_accepted(const char *list, const char *content_type)
{
    assert(list != NULL);
    if (sl_text_equal(list, "*"))
        return true;
    if (content_type == NULL)
        return false;
    const char *const type = content_type + strspn(content_type, " \t");
    const size_t length = strcspn(type, "; \t");
    for (const char *at = list; *at != '\0';) {
        at += strspn(at, ", ");
        const size_t entry = strcspn(at, ", ");
        if (entry == length && entry > 0 && strncasecmp(at, type, length) == 0)
            return true;
        at += entry;
    }
    return false;
}
