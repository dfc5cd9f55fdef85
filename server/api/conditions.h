/** What a write depends on: If-Match and If-None-Match, where ETags begin with a revision. */
#ifndef SL_API_CONDITIONS_H
#define SL_API_CONDITIONS_H

#include "http/message.h"
#include "store/store.h"

enum { SL_IF_MATCH_MAX = 16 };

typedef struct sl_conditions {
    uint64_t if_match[SL_IF_MATCH_MAX]; /* of which any will do; SL_REVISION_ANY for "*" */
    size_t if_match_count;              /* 0: not asked */
    bool create_only;
} sl_conditions;

/**
 * Reads both headers. Each tag of If-Match names a revision, "3" or "3-<catalogue>", in whatever view
 * it was seen; a tag that is none of ours matches nothing, nor does a weak one.
 * SL_E_RANGE: too_many; SL_E_PRECONDITION: revision_mismatch; SL_E_UNSUPPORTED:
 * unsupported_precondition.
 */
sl_code sl_conditions_read(const sl_request *request, sl_conditions *out,
                           sl_errors *err) SL_MUST_CHECK;

/** Whether anything is asked. */
bool sl_conditions_any(const sl_conditions *conditions);

#endif
