/** One column of a comparison: figures, limits and sentences made of them. */
#ifndef SL_CODEC_COMPARISON_ENTRY_H
#define SL_CODEC_COMPARISON_ENTRY_H

#include "codec/question/question.h"
#include "engine/strategy/comparison.h"
#include "json/writer.h"

typedef struct sl_entry_document {
    const sl_estimate_request *request;
    const sl_entry *entry;
    bool given;   /* the request as it is: nothing changes */
    bool planned; /* the plan is the column's own, not the request's */
    bool limits;  /* with what limits it and what a failure costs */
} sl_entry_document;

/** The members "applicable", "refused", "change", "resolved", "fits", "memory", "time",
 * "throughput", "communication", "warnings", and where asked for "scaling" and "failure"; null
 * after "refused" where no plan is legal. */
void sl_entry_write(sl_writer *writer, const sl_entry_document *document);

/** "layer_wise" as "layer wise". */
void sl_spell(const char *name, char *out, size_t size);

#endif
