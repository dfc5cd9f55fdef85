/** What every computed answer says of itself: which model it is about, and what it follows from. */
#ifndef SL_CODEC_ANSWER_H
#define SL_CODEC_ANSWER_H

#include "shardline/error.h"
#include "shardline/model.h"
#include "json/writer.h"

/** All borrowed. */
typedef struct sl_answer_about {
    const sl_model *model;     /* NULL for a bare number of parameters */
    uint64_t parameters;       /* of the model, a tied head counted once */
    const sl_errors *warnings; /* of reading the request and the model; NULL: none */
    const char *engine_version;
    const char *catalog_revision;
    const char *input_hash;
} sl_answer_about;

/** "model": name, revision and parameters, as a member. */
void sl_answer_model_write(sl_writer *writer, const sl_answer_about *about);

/** "engine_version", "catalog_revision" and "input_hash", as members. */
void sl_answer_origin_write(sl_writer *writer, const sl_answer_about *about);

#endif
