#include "api/conditions.h"

#include <string.h>

#include "base/text.h"

sl_code
sl_api_slug(const char *slug, const char *what, sl_errors *err)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
    const size_t length = strlen(slug);

    if (length >= 1 && length <= 63 && slug[0] != '-' && slug[length - 1] != '-' &&
        strspn(slug, allowed) == length)
        return SL_OK;
    return sl_fail(err, SL_E_RANGE, "invalid_slug", "",
                   "%s must be 1 to 63 of a-z, 0-9 and inner dashes, got %s", what, slug);
}

/* The revision in a tag of ours, "3" or "3-<more>"; 0 when it is none. */
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

sl_code
sl_api_if_match(const sl_request *request, uint64_t *out, sl_errors *err)
{
    const char *at = request->if_match;

    *out = 0;
    if (at == NULL)
        return SL_OK;
    if (sl_text_equal(at, "*")) {
        *out = SL_REVISION_ANY;
        return SL_OK;
    }
    for (sl_etag tag; sl_etag_next(&at, &tag);) {
        *out = revision_of(&tag);
        if (*out != 0)
            return SL_OK;
    }
    return sl_fail(err, SL_E_PRECONDITION, "revision_mismatch", "",
                   "If-Match must name an ETag of this, got %s", request->if_match);
}

sl_code
sl_api_dry_run(const sl_request *request, bool *out, sl_errors *err)
{
    static const char *const booleans[] = {"false", "true", "0", "1"};
    int chosen = -1;
    const sl_code code = sl_api_choice(request, "dry_run", booleans, 4, &chosen, err);

    *out = chosen == 1 || chosen == 3;
    return code;
}
