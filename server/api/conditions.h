/** What a request asks of something stored: its name, and the state it must be in. */
#ifndef SL_API_CONDITIONS_H
#define SL_API_CONDITIONS_H

#include "api/app.h"

/** 1 to 63 of a-z, 0-9 and inner dashes: the identity of a thing in a URL. SL_E_RANGE, rule
 * invalid_slug; what: "the source". */
sl_code sl_api_slug(const char *slug, const char *what, sl_errors *err) SL_MUST_CHECK;

/**
 * If-Match as one revision: that of its first tag of ours, whatever view it was seen in;
 * SL_REVISION_ANY for "*"; 0 when it is not sent. SL_E_PRECONDITION, rule revision_mismatch, when
 * none of its tags is ours.
 */
sl_code sl_api_if_match(const sl_request *request, uint64_t *out, sl_errors *err) SL_MUST_CHECK;

/** ?dry_run=true, or 1. */
sl_code sl_api_dry_run(const sl_request *request, bool *out, sl_errors *err) SL_MUST_CHECK;

#endif
