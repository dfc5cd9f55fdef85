/** The answer to a comparison request. */
#ifndef SL_CODEC_COMPARISON_JSON_H
#define SL_CODEC_COMPARISON_JSON_H

#include "codec/answer/answer.h"
#include "codec/question/question.h"
#include "engine/strategy/comparison.h"
#include "json/writer.h"

/** Everything an answer is written from; all borrowed. One of strategies and tuning is not NULL. */
typedef struct sl_comparison_document {
    const sl_estimate_request *request;
    const sl_comparison *strategies;
    const sl_tuning_comparison *tuning;
    sl_answer_about about;
} sl_comparison_document;

void sl_comparison_write(sl_writer *writer, const sl_comparison_document *document);

#endif
