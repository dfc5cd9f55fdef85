/** The answer to an estimate request. */
#ifndef SL_CODEC_ESTIMATE_JSON_H
#define SL_CODEC_ESTIMATE_JSON_H

#include "codec/answer/answer.h"
#include "codec/question/question.h"
#include "shardline/estimate.h"
#include "json/writer.h"

/** Everything an answer is written from; all borrowed. */
typedef struct sl_estimate_document {
    const sl_estimate_request *request;
    const sl_estimate *estimate; /* NULL for a bare number of parameters */
    sl_answer_about about;
} sl_estimate_document;

/**
 * Writes the answer as one object. A request with an accounting of its own gets it beside the exact
 * figures, or alone when there are none. SL_E_RANGE, before anything is written, when the bytes of
 * the accounting cannot be counted.
 */
sl_code sl_estimate_write(sl_writer *writer, const sl_estimate_document *document,
                          sl_errors *err) SL_MUST_CHECK;

/** The table of communication as a member, each figure with what explains it; latency_s, of a message
 * of one byte in each row, where it was measured, else NULL. */
void sl_communication_write(sl_writer *writer, const sl_time *time, const double latency_s[]);

/** "warnings" or "assumptions" of reading and engine, as members; where both say the same, reading
 * says it with its values. estimate and faults may be NULL. */
void sl_estimate_notes_write(sl_writer *writer, const sl_estimate_request *request,
                             const sl_estimate *estimate, const sl_errors *faults, bool warning);

#endif
