/** Simulated steps as JSON columns or as a Chrome trace, and the query that chooses what is in
 * them. */
#ifndef SL_CODEC_TIMELINE_JSON_H
#define SL_CODEC_TIMELINE_JSON_H

#include "codec/answer/sharding_json.h"
#include "codec/question/question.h"
#include "shardline/timeline.h"

enum { SL_SPANS_DEFAULT = 100000, SL_SPANS_LISTED_MAX = 1000000 };

typedef struct sl_timeline_query {
    sl_sharding_query ranks; /* only the ranges count: stages of which some rank is asked for */
    double from_s, to_s; /* spans that touch this window; to_s is infinite where nothing is said */
    uint32_t limit;      /* spans */
    bool rings;          /* collectives of the data group as steps around their ring */
    bool operators;      /* passes as the operators they are made of */
} sl_timeline_query;

/**
 * ranks  "0-7,12", or NULL: all;  from, to  seconds as text, or NULL. The limit is the caller's.
 * Errors: SL_E_RANGE with rule invalid_ranks or out_of_range, without pointer.
 */
sl_code sl_timeline_query_read(const char *ranks, const char *from, const char *to,
                               sl_timeline_query *out, sl_errors *err) SL_MUST_CHECK;

/** out_of_range where ranks are asked for that there are not. */
sl_code sl_timeline_query_check(const sl_timeline_query *query, const sl_plan *plan,
                                sl_errors *err) SL_MUST_CHECK;

/** Everything an answer is written from; all borrowed. */
typedef struct sl_timeline_document {
    const sl_question *question; /* about the plan that was simulated */
    const sl_timeline *timeline;
    const sl_timeline_query *query;
    const sl_estimate *estimate;
    const sl_estimate_request *request;
    const sl_errors *warnings; /* of reading; NULL: none */
} sl_timeline_document;

/** Columns: one entry of each per span, lane by lane, by start in each. False: out of memory. */
bool sl_timeline_write(sl_writer *writer, const sl_timeline_document *document) SL_MUST_CHECK;

/**
 * The Trace Event Format that chrome://tracing, Perfetto and TensorBoard read: a process for each
 * stage, a thread for each of its lanes, complete events with what they are as arguments, flow
 * arrows from the end of each send to the start of the pass that takes it in, counters of what is
 * kept alive. Times in microseconds. False: out of memory.
 */
bool sl_trace_write(sl_writer *writer, const sl_timeline_document *document) SL_MUST_CHECK;

#endif
