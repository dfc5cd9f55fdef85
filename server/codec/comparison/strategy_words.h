/** What a course says of a strategy, in words; the numbers are the engine's. */
#ifndef SL_CODEC_STRATEGY_WORDS_H
#define SL_CODEC_STRATEGY_WORDS_H

#include "engine/strategy/comparison.h"

enum { SL_SUPPORT_MAX = 3 };

typedef struct sl_support {
    const char *framework, *pro, *con;
} sl_support;

typedef struct sl_strategy_words {
    const char *definition;
    const char *how_it_works;
    const char *use_when;
    const char *scalability;
    const char *adoption; /* what has to be changed */
    const char *latency;
    const char *fault_tolerance;
    const char *examples;
    bool exchanges_activations;
    const sl_support *supported_by[SL_SUPPORT_MAX]; /* up to the first NULL */
    const char *source;
} sl_strategy_words;

const sl_strategy_words *sl_strategy_describe(sl_strategy strategy);

/** When a situation is met. */
const char *sl_situation_describe(sl_situation situation);

typedef struct sl_tuning_words {
    const char *definition;
    const char *how_it_works;
    const char *kept; /* what the result is in the end: merged, or beside the base */
    const char *lost;
    const char *source;
} sl_tuning_words;

const sl_tuning_words *sl_tuning_describe(sl_tuning_method method);

#endif
