/** What the targets of requests share: a document, the model it speaks of, and room for an
 * answer. */
#ifndef SL_TESTS_FUZZ_ASKING_H
#define SL_TESTS_FUZZ_ASKING_H

#include "catalog/catalog.h"
#include "codec/answer/answer.h"
#include "codec/question/question.h"
#include "json/writer.h"

enum { SL_ASKING_BYTES_MAX = 1 << 20 }; /* of a document */

/** Read once. */
const sl_catalog *sl_asking_catalog(void);

/** The input as JSON, NULL where it is none, or larger than that; free it. */
sl_json *sl_asking_parse(const char *text, size_t size);

/** The model that a request carries; SL_E_NOT_FOUND for one that has to be fetched. */
sl_code sl_asking_model(const sl_estimate_request *request, sl_model *model,
                        sl_errors *err) SL_MUST_CHECK;

/** What an answer says of itself. */
sl_answer_about sl_asking_about(const sl_model *model, uint64_t parameters);

/** An answer being written. */
typedef struct sl_asking_answer {
    sl_buffer text;
    sl_writer writer;
} sl_asking_answer;

/** Of at most `room` bytes; its writer is where it was begun. */
void sl_asking_begin(sl_asking_answer *answer, size_t room);

/** What was written is whole JSON within that room. */
void sl_asking_end(sl_asking_answer *answer);

/** Lets go of what could not be written. */
void sl_asking_drop(sl_asking_answer *answer);

#endif
