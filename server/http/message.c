#include "http/message.h"
#include "http/accept.h"

#include <assert.h>
#include <string.h>

#include "base/text.h"

void
sl_response_init(sl_response *response)
{
    assert(response != NULL);
    *response = (sl_response){.status = 200, .content_type = "application/json"};
    sl_buffer_init(&response->body, SL_RESPONSE_BODY_MAX_BYTES);
}

void
sl_response_continue(sl_response *response, sl_lane lane, void *state)
{
    assert(response != NULL && lane < SL_LANE_COUNT);
    response->continues = true;
    response->next_lane = lane;
    response->state = state;
}

void
sl_response_park(sl_response *response, sl_lane lane, void *state, sl_park park, void *argument)
{
    assert(park != NULL);
    sl_response_continue(response, lane, state);
    response->park = park;
    response->park_argument = argument;
}

void
sl_response_leave(sl_response *response)
{
    assert(response != NULL);
    response->leaves = true;
}

void
sl_response_feed(sl_response *response, sl_feed *feed)
{
    assert(response != NULL && feed != NULL && response->feed == NULL);
    response->feed = feed;
}

void
sl_response_own(sl_response *response, void (*release)(void *argument), void *argument)
{
    assert(response != NULL && release != NULL && response->release == NULL);
    response->release = release;
    response->release_argument = argument;
}

void
sl_response_clear(sl_response *response)
{
    assert(response != NULL);
    sl_buffer_clear(&response->body);
    sl_feed_free(response->feed);
    response->feed = NULL;
    if (response->release != NULL)
        response->release(response->release_argument);
    response->release = NULL;
}

const char *
sl_request_parameter(const sl_request *request, const char *name)
{
    assert(request != NULL && name != NULL);
    for (uint32_t i = 0; i < request->parameter_count; i++)
        if (sl_text_equal(request->parameters[i].name, name))
            return request->parameters[i].value;
    return "";
}

const char *
sl_request_query(const sl_request *request, const char *name)
{
    assert(request != NULL && name != NULL);
    for (uint32_t i = 0; i < request->query_count; i++)
        if (sl_text_equal(request->query[i].name, name))
            return request->query[i].value;
    return NULL;
}

bool
sl_request_takes_gzip(const sl_request *request)
{
    return request->accept_encoding != NULL && sl_accept_gzip(request->accept_encoding);
}

void
sl_response_header(sl_response *response, const char *name, const char *value)
{
    assert(response != NULL && name != NULL && value != NULL);

    uint32_t at = 0;
    while (at < response->header_count &&
           !sl_text_equal_ignoring_case(response->headers[at].name, name))
        at++;
    assert(at < SL_RESPONSE_HEADERS_MAX);
    if (at == response->header_count)
        response->header_count++;
    response->headers[at] = (sl_pair){.name = name, .value = value};
}

bool
sl_etag_next(const char **at, sl_etag *out)
{
    assert(at != NULL && *at != NULL && out != NULL);

    const char *start = *at + strspn(*at, " \t,");
    const bool weak = start[0] == 'W' && start[1] == '/';
    if (weak)
        start += 2;
    const char *const end = *start == '"' ? strchr(start + 1, '"') : NULL;
    if (end == NULL)
        return false;
    *out = (sl_etag){.text = start, .length = (size_t)(end + 1 - start), .weak = weak};
    *at = end + 1;
    return true;
}

bool
sl_etag_listed(const char *list, const char *quoted)
{
    assert(list != NULL && quoted != NULL);

    const size_t length = strlen(quoted);
    const char *at = list + strspn(list, " \t,");
    if (*at == '*')
        return true;
    for (sl_etag tag; sl_etag_next(&at, &tag);)
        if (tag.length == length && memcmp(tag.text, quoted, length) == 0)
            return true;
    return false;
}

bool
sl_response_etag(sl_response *response, const sl_request *request, const char *tag)
{
    assert(response != NULL && request != NULL && tag != NULL);

    const char *const quoted = sl_arena_format(request->arena, "\"%s\"", tag);
    if (quoted == NULL)
        return false; /* an answer without a tag is still a right answer */
    sl_response_header(response, "ETag", quoted);
    if (request->method != SL_GET || request->if_none_match == NULL ||
        !sl_etag_listed(request->if_none_match, quoted))
        return false;
    response->status = 304;
    sl_buffer_clear(&response->body);
    return true;
}
