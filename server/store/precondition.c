#include "store/precondition.h"

#include <inttypes.h>

sl_code
sl_precondition_check(const sl_precondition *asked, bool there, uint64_t revision,
                      const char *exists_rule, sl_errors *err)
{
    if (asked->create_only && there)
        return sl_fail(err, SL_E_PRECONDITION, exists_rule, "",
                       "must not exist yet, and is at revision %" PRIu64, revision);
    if (asked->count == 0)
        return SL_OK;
    for (uint32_t i = 0; there && i < asked->count; i++)
        if (asked->revisions[i] == SL_REVISION_ANY || asked->revisions[i] == revision)
            return SL_OK;
    if (asked->revisions[0] == SL_REVISION_ANY)
        return sl_fail(err, SL_E_PRECONDITION, "revision_mismatch", "",
                       "must exist already, and does not");
    if (!there)
        return sl_fail(err, SL_E_PRECONDITION, "revision_mismatch", "",
                       "must be at revision %" PRIu64 ", and does not exist", asked->revisions[0]);
    return sl_fail(err, SL_E_PRECONDITION, "revision_mismatch", "",
                   "must be at revision %" PRIu64 ", and is at %" PRIu64, asked->revisions[0],
                   revision);
}
