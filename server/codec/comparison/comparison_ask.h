/** What a comparison request asks the engine. */
#ifndef SL_CODEC_COMPARISON_ASK_H
#define SL_CODEC_COMPARISON_ASK_H

#include "codec/question/question.h"
#include "engine/strategy/comparison.h"

/** Strategies: `given` is the request as an estimate is asked it, and `open` the same with
 * micro-batch free where the request does not say it; the ask borrows both. Needs has_cluster. */
typedef struct sl_comparison_questions {
    sl_question given, open;
} sl_comparison_questions;

sl_comparison_ask sl_comparison_request_ask(const sl_estimate_request *request,
                                            const sl_model *model, const sl_catalog *catalog,
                                            sl_comparison_questions *questions);

/** Fine-tuning: the request's plan, or replicas with DDP where neither plan nor framework is said;
 * one sequence at a time unless it says how many. */
sl_question sl_tuning_request_question(const sl_estimate_request *request, const sl_model *model,
                                       const sl_catalog *catalog);

#endif
