/** An estimate request with everything it names, shared by the resources that take one. */
#ifndef SL_API_ESTIMATES_H
#define SL_API_ESTIMATES_H

#include "api/models.h"
#include "api/planned.h"
#include "codec/answer/answer.h"
#include "codec/inventory/host_status.h"
#include "codec/question/question.h"
#include "codec/question/standing.h"

/** Everything an answer borrows from while it is written. */
typedef struct sl_api_asked {
    sl_json *json;
    sl_estimate_request read;
    sl_errors warnings;
    sl_model *model; /* NULL for a bare number of parameters */
    sl_model_counts counts;
} sl_api_asked;

typedef void (*sl_api_answerer)(sl_app *app, sl_worker *worker, sl_api_asked *a,
                                const sl_request *request, sl_response *response);

/** A stored inventory that a request names. In the request's arena. */
typedef struct sl_api_stored {
    const char *slug; /* NULL: not needed, or already here */
    const char *spec;
    sl_observation *observations;
    uint32_t observation_count;
} sl_api_stored;

/** A fault of the name of a model of the Hub; SL_OK for a model from elsewhere. */
sl_code sl_api_model_named(const sl_estimate_request *read, sl_errors *err) SL_MUST_CHECK;

/** What a request asks of the Hub, in its arena. False without memory. */
bool sl_api_model_ticket(const sl_estimate_request *read, const sl_request *request,
                         sl_api_model *out) SL_MUST_CHECK;

/** a->model of a request that lists its layers; SL_OK for any other. */
sl_code sl_api_decode_layers(sl_api_asked *a, bool lenient, const sl_request *request,
                             sl_errors *err) SL_MUST_CHECK;

/** a->model and its counts; after the layers. fetched: the files of one from the Hub, else NULL. */
sl_code sl_api_decode_model(sl_api_asked *a, const sl_api_model *fetched, const sl_request *request,
                            sl_errors *err) SL_MUST_CHECK;

/** Reads ?require=, what a gate asks for; -1 where it asks for nothing. Errors of sl_api_choice. */
sl_code sl_api_required(const sl_request *request, int *out, sl_errors *err) SL_MUST_CHECK;

/** Of all that an answer follows from: what was asked, engine and catalogue. */
sl_code sl_api_input_hash(const sl_app *app, const sl_api_asked *a, char out[SL_HASH_TEXT_SIZE],
                          sl_errors *err) SL_MUST_CHECK;

/** What the answer says of itself; hash: where sl_api_input_hash writes, or another of the
 * question. */
sl_answer_about sl_api_about(const sl_catalog *catalog, const sl_api_asked *a, const char *hash);

/** On the store's lane: what the slug names, which is then here; pointer: of the slug. */
sl_code sl_api_fetch_stored(sl_app *app, sl_worker *worker, sl_api_stored *stored,
                            const char *pointer, const sl_request *request,
                            sl_errors *err) SL_MUST_CHECK;

/** Its hosts as they were last observed, in the arena; NULL where nobody did. */
sl_code sl_api_stored_hosts(const sl_app *app, const sl_api_stored *stored, sl_arena *arena,
                            sl_host_status **out, sl_errors *err) SL_MUST_CHECK;

/** An estimate, into the worker's, that settles what the request leaves open: *question is then
 * about the plan that was estimated. what: "a timeline". */
sl_code sl_api_settle(const sl_worker *worker, const sl_api_asked *a, const char *what,
                      sl_question *question, sl_errors *err) SL_MUST_CHECK;

/**
 * Reads the request, fetches the model and the inventory it names over the lanes, and calls
 * `answer` on the compute lane; or answers with the problem. A handler does nothing else, as it is
 * called again on each lane, up to that where `answer` continues. kind: as which its time counts,
 * unless it continues.
 */
void sl_api_ask(sl_app *app, void *thread, const sl_request *request, sl_response *response,
                sl_question_reader read, sl_api_answerer answer, sl_planned kind);

#endif
