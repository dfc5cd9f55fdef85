/** How far a plan goes, in the words of a request. */
#ifndef SL_CODEC_LIMITS_JSON_H
#define SL_CODEC_LIMITS_JSON_H

#include "codec/question.h"
#include "engine/limits.h"
#include "json/writer.h"

/** The largest values that a request may say. */
sl_limit_bounds sl_limits_bounds(const sl_estimate_request *request);

/** Everything an answer is written from; all borrowed. */
typedef struct sl_limits_document {
    const sl_estimate_request *request;
    const sl_model *model;
    uint64_t parameters;
    const sl_estimate *estimate; /* of the plan as it is */
    const sl_limits *limits;
    const sl_errors *warnings; /* of reading the request and the model; NULL: none */
    const char *engine_version;
    const char *catalog_revision;
    const char *input_hash;
} sl_limits_document;

/** The answer, as one object. */
void sl_limits_write(sl_writer *writer, const sl_limits_document *document);

#endif
