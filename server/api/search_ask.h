/** What a search is asked: its request with the model and the inventories that it names. */
#ifndef SL_API_SEARCH_ASK_H
#define SL_API_SEARCH_ASK_H

#include "api/estimates.h"
#include "codec/search/search.h"

/** On its way over the lanes, in the request's arena; zero at first. */
typedef struct sl_search_ask {
    sl_stock *stock; /* of the next; NULL: the process's own */
    const sl_catalog *catalog;
    const char *text; /* in place of the request's body; NULL: that one */
    sl_json *json;
    sl_search_asked *asked;
    sl_api_asked of_model; /* a request that names it, its warnings, the model */
    bool from_hub;
    sl_api_model files;
    sl_api_stored stored[SL_SEARCH_CLUSTERS_MAX];
    const char *pointers[SL_SEARCH_CLUSTERS_MAX]; /* of their slugs */
    char hash[SL_HASH_TEXT_SIZE];
} sl_search_ask;

/**
 * What a handler that searches knows of its request: `bytes` of zeros in the arena, released with
 * it. A client that leaves cancels it. NULL with a problem in the response.
 */
void *sl_search_ask_new(const sl_app *app, size_t bytes, void (*release)(void *argument),
                        const sl_request *request, sl_response *response) SL_MUST_CHECK;

/**
 * A step on the lane of this worker; begins on the compute lane. True there when `asked` is decoded
 * and the hash of all input known. Otherwise the response continues with `state`, which is to come
 * back here, or holds the problem.
 */
bool sl_search_ask_step(sl_app *app, sl_worker *worker, sl_search_ask *ask,
                        const sl_request *request, sl_response *response,
                        void *state) SL_MUST_CHECK;

/** Gives back what it holds outside the arena. */
void sl_search_ask_clear(sl_search_ask *ask);

#endif
