/** Where the description of a model is read from: a config, or the language part of one. */
#ifndef SL_HF_SOURCE_H
#define SL_HF_SOURCE_H

#include "shardline/model.h"
#include "json/reader.h"

typedef enum sl_hf_tie {
    SL_HF_TIE_BY_CLASS, /* tie_word_embeddings of the config, or what the class says */
    SL_HF_TIE_NEVER,
    SL_HF_TIE_ALWAYS
} sl_hf_tie;

typedef struct sl_hf_source {
    const sl_node *config;  /* of the language part */
    const char *model_type; /* of the language part: as a file or its wrapper says it */
    bool absent;            /* the whole config has no such part: the class takes its defaults */
    bool wrapped;           /* part of a larger config, which names class and dtype */
    sl_hf_tie tie;
    sl_errors *warnings;
    sl_errors *err;
} sl_hf_source;

#endif
