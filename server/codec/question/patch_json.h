/** Changes to what was evaluated, in the words of a request. */
#ifndef SL_CODEC_PATCH_JSON_H
#define SL_CODEC_PATCH_JSON_H

#include "codec/question/question.h"
#include "shardline/estimate.h"
#include "json/writer.h"

/** A fix as a merge patch of the request: only the fields that differ from what was evaluated and
 * that the request does not derive by itself. */
void sl_patch_write(sl_writer *writer, const sl_estimate_request *request,
                    const sl_estimate *estimate, const sl_fix *fix);

#endif
