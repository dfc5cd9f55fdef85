/**
 * Changing a document by a patch. What the patch does not touch keeps the order of its members,
 * the spelling of its numbers and its layout: it is copied and not written anew.
 */
#ifndef SL_JSON_PATCH_H
#define SL_JSON_PATCH_H

#include "base/buffer.h"
#include "json/reader.h"

enum { SL_PATCH_OPERATIONS_MAX = 100 };

/** A patch of either kind: the text of a request. */
typedef struct sl_patch {
    const char *text;
    size_t size;
} sl_patch;

/**
 * RFC 7396: an object changes the members that it names, null removes one, and anything else (a
 * list too) replaces what was there. `document` was accepted by the parser before. Errors of the
 * patch are those of sl_json_parse; SL_E_TOO_LARGE, rule too_large, when the result does not fit
 * limits->max_bytes or `out`.
 */
sl_code sl_json_merge_patch(const char *document, const sl_patch *patch,
                            const sl_json_limits *limits, sl_buffer *out,
                            sl_errors *err) SL_MUST_CHECK;

/**
 * RFC 6902: a list of operations, each on what the ones before it left; all or none. Pointers of
 * errors lead into the patch. SL_E_RANGE: what an operation may be, malformed_pointer;
 * SL_E_CONFLICT where the document is not as an operation needs it: path_not_found, test_failed;
 * SL_E_TOO_LARGE as above, after whichever operation.
 */
sl_code sl_json_pointer_patch(const char *document, const sl_patch *patch,
                              const sl_json_limits *limits, sl_buffer *out,
                              sl_errors *err) SL_MUST_CHECK;

#endif
