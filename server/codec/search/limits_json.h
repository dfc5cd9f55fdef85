/** How far a plan goes, in the words of a request. */
#ifndef SL_CODEC_LIMITS_JSON_H
#define SL_CODEC_LIMITS_JSON_H

#include "codec/answer/answer.h"
#include "codec/question/question.h"
#include "engine/search/limits.h"
#include "json/writer.h"

/** The largest values that a request may say. */
sl_limit_bounds sl_limits_bounds(const sl_estimate_request *request);

/** Everything an answer is written from; all borrowed. */
typedef struct sl_limits_document {
    const sl_estimate_request *request;
    const sl_estimate *estimate; /* of the plan as it is */
    const sl_limits *limits;
    sl_answer_about about;
} sl_limits_document;

/** The answer, as one object. */
void sl_limits_write(sl_writer *writer, const sl_limits_document *document);

#endif
