/** The legal values of each setting, given the others: what a form offers. */
#ifndef SL_CODEC_CHOICES_JSON_H
#define SL_CODEC_CHOICES_JSON_H

#include "codec/question/question.h"
#include "json/writer.h"

/**
 * {"valid", "choices": {...}, "errors": [...]} for a request and its model. A request that is not
 * valid still gets its choices: for degrees those that would make it so, for words those that are
 * not themselves at fault.
 */
void sl_choices_write(sl_writer *writer, const sl_estimate_request *request,
                      const sl_catalog *catalog, const sl_model *model);

#endif
