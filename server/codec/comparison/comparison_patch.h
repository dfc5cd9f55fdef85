/** What a column of a comparison changes in the request. */
#ifndef SL_CODEC_COMPARISON_PATCH_H
#define SL_CODEC_COMPARISON_PATCH_H

#include "codec/question/question.h"
#include "json/writer.h"

/**
 * The request as a JSON merge patch makes it, sent as an estimate, is `asked` and nothing else:
 * what the column chose is said, what depends on the framework is said or taken back.
 * asked: NULL for the request as it is.
 * planned: the plan is written too, and what the request's plan says beside it taken back; false
 * where it is the request's own.
 */
void sl_comparison_patch_write(sl_writer *writer, const sl_estimate_request *request,
                               const sl_question *asked, bool planned);

#endif
