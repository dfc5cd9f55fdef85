/** An estimate request with everything it names, shared by the resources that take one. */
#ifndef SL_API_ESTIMATES_H
#define SL_API_ESTIMATES_H

#include "api/app.h"
#include "codec/question.h"

/** Everything an answer borrows from while it is written. */
typedef struct sl_api_asked {
    sl_json *json;
    sl_estimate_request read;
    sl_errors warnings;
    sl_model *model; /* NULL for a bare number of parameters */
    sl_model_counts counts;
} sl_api_asked;

/** sl_estimate_request_read, or a reader of requests with more members. */
typedef sl_code (*sl_api_reader)(const sl_node *root, const sl_catalog *catalog,
                                 sl_errors *warnings, sl_estimate_request *out, sl_errors *err);

typedef void (*sl_api_answerer)(sl_app *app, sl_worker *worker, sl_api_asked *a,
                                const sl_request *request, sl_response *response);

/** An estimate, into the worker's, that settles what the request leaves open: *question is then about
 * the plan that was estimated. what: "a timeline". */
sl_code sl_api_settle(const sl_worker *worker, const sl_api_asked *a, const char *what,
                      sl_question *question, sl_errors *err) SL_MUST_CHECK;

/**
 * Reads the request, fetches the model and the inventory it names over the lanes, and calls `answer`
 * on the compute lane; or answers with the problem. A handler does nothing else, as it is called
 * again on each lane.
 */
void sl_api_ask(sl_app *app, void *thread, const sl_request *request, sl_response *response,
                sl_api_reader read, sl_api_answerer answer);

#endif
