/**
 * What else is wrong with a request of which members could not be read. A member that is no value
 * of its own says nothing, so every legal one is thought in its place: a fault counts that stands,
 * in the same words, whichever it is; what only follows from one of them is not said. Members that
 * may be left out are left out, which is what unknown means; degrees, lengths, frameworks and parts
 * take a few of their values.
 */
#ifndef SL_CODEC_STANDING_H
#define SL_CODEC_STANDING_H

#include "codec/question/question.h"

/** sl_estimate_request_read, or a reader of requests with more members. */
typedef sl_code (*sl_question_reader)(const sl_node *root, const sl_catalog *catalog,
                                      sl_errors *warnings, sl_estimate_request *out,
                                      sl_errors *err);

/** Appends what is wrong with a request that could be read; false where what it names does not go
 * with it, so that no rule could be asked. */
typedef bool (*sl_question_judge)(void *context, sl_estimate_request *request, sl_errors *err);

typedef struct sl_standing {
    const char *text;    /* of the request */
    const sl_node *root; /* of its document */
    sl_question_reader read;
    const sl_catalog *catalog;
    bool lenient; /* unknown members are no faults */
    sl_question_judge judge;
    void *context;             /* of the judge */
    sl_estimate_request *room; /* to read into: large */
} sl_standing;

/**
 * err: the faults of reading, at least one, of which those that only follow from others are taken
 * out, and to which the faults that stand are appended; each once, all in the order of the request,
 * and in a place that is at fault already no other. A list that is full, and a text of more than
 * SL_STANDING_TEXT_MAX bytes, stay as they are.
 */
void sl_standing_add(const sl_standing *standing, sl_errors *err);

enum { SL_STANDING_TEXT_MAX = 64 << 10 };

#endif
