#include "api/conditions.h"

#include <string.h>

#include "base/text.h"

/* The revision in a tag of ours; 0 when it is none. */
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

static sl_code
read_if_match(const char *text, sl_conditions *out, sl_errors *err)
{
    if (text == NULL)
        return SL_OK;
    if (sl_text_equal(text, "*")) {
        out->if_match[out->if_match_count++] = SL_REVISION_ANY;
        return SL_OK;
    }
    const char *at = text;
    for (sl_etag tag; sl_etag_next(&at, &tag);) {
        const uint64_t revision = revision_of(&tag);
        if (revision == 0)
            continue;
        if (out->if_match_count == SL_IF_MATCH_MAX)
            return sl_fail(err, SL_E_RANGE, "too_many", "", "If-Match must not list over %d ETags",
                           SL_IF_MATCH_MAX);
        out->if_match[out->if_match_count++] = revision;
    }
    if (out->if_match_count > 0 && at[strspn(at, " \t,")] == '\0')
        return SL_OK;
    return sl_fail(err, SL_E_PRECONDITION, "revision_mismatch", "",
                   "If-Match must list ETags of this entry, got %.80s", text);
}

sl_code
sl_conditions_read(const sl_request *request, sl_conditions *out, sl_errors *err)
{
    *out = (sl_conditions){.if_match_count = 0};
    sl_code code = read_if_match(request->if_match, out, err);
    if (code != SL_OK || request->if_none_match == NULL)
        return code;
    out->create_only = sl_text_equal(request->if_none_match, "*");
    if (out->create_only)
        return SL_OK;
    code = sl_fail(err, SL_E_UNSUPPORTED, "unsupported_precondition", "",
                   "If-None-Match must be * where something is stored, got %.80s",
                   request->if_none_match);
    sl_hint(err, "If-Match names what may be replaced");
    return code;
}

bool
sl_conditions_any(const sl_conditions *conditions)
{
    return conditions->if_match_count > 0 || conditions->create_only;
}
