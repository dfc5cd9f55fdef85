/** What a write asks of the thing it is about to replace, and who asks. */
#ifndef SL_API_CONDITIONS_H
#define SL_API_CONDITIONS_H

#include "api/app.h"

/**
 * If-Match and If-None-Match: each tag names a revision, in whatever view it was seen, and any of
 * them will do; "*" asks only that there is one, or that there is none. SL_E_PRECONDITION, rule
 * revision_mismatch; too_many (SL_E_RANGE); unsupported_precondition (SL_E_UNSUPPORTED).
 */
sl_code sl_api_precondition(const sl_request *request, sl_precondition *out,
                            sl_errors *err) SL_MUST_CHECK;

/** For the audit; in the request's arena. */
sl_requester sl_api_requester(const sl_request *request);

#endif
