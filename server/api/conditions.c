#include "api/conditions.h"

#include <string.h>

#include "base/text.h"

/* The revision in a tag of ours, "3" or "3-<catalogue>"; 0 when it is none. */
static uint64_t
revision_of(const sl_etag *tag)
{
    char digits[24];
    uint64_t revision = 0;
    const size_t count = strcspn(tag->text + 1, "-\"");

    if (tag->weak || count == 0 || count >= sizeof digits)
        return 0;
    memcpy(digits, tag->text + 1, count);
    digits[count] = '\0';
    return sl_text_to_uint(digits, &revision) && revision != SL_REVISION_ANY ? revision : 0;
}

/* If-Match: each tag names a revision, in whatever view it was seen, and any of them will do; "*"
 * asks only that there is one. A tag that is none of ours matches nothing, nor does a weak one. */
static sl_code
read_if_match(const char *text, sl_precondition *out, sl_errors *err)
{
    if (text == NULL)
        return SL_OK;
    if (sl_text_equal(text, "*")) {
        out->revisions[out->count++] = SL_REVISION_ANY;
        return SL_OK;
    }
    const char *at = text;
    for (sl_etag tag; sl_etag_next(&at, &tag);) {
        const uint64_t revision = revision_of(&tag);
        if (revision == 0)
            continue;
        if (out->count == SL_PRECONDITION_MAX)
            return sl_fail(err, SL_E_RANGE, "too_many", "", "If-Match must not list over %d ETags",
                           SL_PRECONDITION_MAX);
        out->revisions[out->count++] = revision;
    }
    if (out->count > 0 && at[strspn(at, " \t,")] == '\0')
        return SL_OK;
    return sl_fail(err, SL_E_PRECONDITION, "revision_mismatch", "",
                   "If-Match must list ETags of this, got %s", text);
}

sl_code
sl_api_precondition(const sl_request *request, sl_precondition *out, sl_errors *err)
{
    *out = (sl_precondition){.count = 0};
    sl_code code = read_if_match(request->if_match, out, err);
    if (code != SL_OK || request->if_none_match == NULL)
        return code;
    if (!sl_text_equal(request->if_none_match, "*")) {
        code = sl_fail(err, SL_E_UNSUPPORTED, "unsupported_precondition", "",
                       "If-None-Match must be * where something is stored, got %s",
                       request->if_none_match);
        sl_hint(err, "If-Match names what may be replaced");
        return code;
    }
    out->create_only = true;
    return SL_OK;
}

/* A client's own words as they can stand in any table and terminal; NULL where it said nothing. */
static const char *
agent_of(const sl_request *request)
{
    if (request->user_agent == NULL)
        return NULL;
    char *const text = sl_arena_copy_bytes(request->arena, request->user_agent,
                                           strnlen(request->user_agent, SL_USER_AGENT_MAX));
    for (char *at = text; at != NULL && *at != '\0'; at++)
        if (*at < ' ' || *at > '~')
            *at = '?';
    return text;
}

sl_requester
sl_api_requester(const sl_request *request)
{
    return (sl_requester){.remote_address = request->remote_address,
                          .user_agent = agent_of(request),
                          .request_id = request->id};
}
