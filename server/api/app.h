/** What every resource shares: settings, catalogue, Hub, and the context of each worker thread. */
#ifndef SL_API_APP_H
#define SL_API_APP_H

#include <stdatomic.h>

#include "api/stock.h"
#include "base/embed.h"
#include "base/hash.h"
#include "catalog/catalog.h"
#include "http/server.h"
#include "hub/hub.h"
#include "shardline/estimate.h"
#include "store/inventory.h"
#include "store/store.h"
#include "json/reader.h"
#include "json/writer.h"

/** Judges saved plans (plan_keeper.h). */
typedef struct sl_plan_keeper sl_plan_keeper;

/** Runs searches (search_run.h). */
typedef struct sl_searches sl_searches;

/** The process; and what a handler sees of it, which is the same but for a catalogue of its own. */
typedef struct sl_app {
    const sl_settings *settings;
    const sl_catalog *catalog; /* a handler's: the one in use when it began, until it ends */
    const sl_hub *hub;
    sl_stock *stock;                      /* NULL: the catalogue is all there is */
    struct sl_app *process;               /* of a handler's view; NULL: this is the process */
    char contract_tag[SL_HASH_TEXT_SIZE]; /* of /openapi.json */
    char software[64];      /* versions of engine and catalogue: equal ones, equal answers */
    sl_plan_keeper *keeper; /* the caller's to set and to stop; NULL: none */
    sl_searches *searches;  /* likewise */
    atomic_bool migrated;   /* the schema was brought up to date by this process */
} sl_app;

/** The rest of `app` is the caller's to fill. */
void sl_app_init(sl_app *app);

/** The OpenAPI document, embedded. */
const sl_embedded *sl_api_contract(void);

/** One per thread; each lane uses its part. Estimates are too large for a stack. */
typedef struct sl_worker {
    sl_lane lane;          /* whose thread it is */
    sl_store *store;       /* store lane */
    sl_hub_worker *hub;    /* hub lane */
    sl_estimate *estimate; /* compute lane, like the next */
    sl_estimate *scratch;
    sl_app view; /* of the handler that runs */
} sl_worker;

/** For sl_server_config. NULL stops nothing: handlers of a thread without context answer 503. */
void *sl_worker_new(void *app, sl_lane lane);
void sl_worker_free(void *app, sl_lane lane, void *worker);

/** For sl_server_config: the view of a handler, whose store is bound by the request's time, and its
 * end. request: NULL outside of any. */
void *sl_api_enter(void *app, void *worker, const sl_request *request);
void sl_api_leave(void *app, void *worker);

/** For sl_server_config: nobody waits for a database any longer. */
void sl_api_give_up(void *app);

/** An sl_stock_opener for an sl_app. */
sl_store *sl_api_open(void *app, sl_store *store, sl_errors *err);

extern const sl_route sl_api_routes[];
extern const size_t sl_api_route_count;

/** The body as a document, or a problem in the response and NULL. Free with sl_json_free.
 * python_numbers: NaN and Infinity become null, as configs written by Python have them. */
sl_json *sl_api_body(const sl_request *request, bool python_numbers,
                     sl_response *response) SL_MUST_CHECK;

/**
 * Reads a query parameter that is one of `words`: *out is its index, or -1 when it is absent.
 * Another value is SL_E_RANGE, rule unknown_value: what was meant must not be guessed, least of all
 * by a request that stores.
 */
sl_code sl_api_choice(const sl_request *request, const char *name, const char *const *words,
                      size_t count, int *out, sl_errors *err) SL_MUST_CHECK;

/** Reads ?limit=, from 1 to `most`; `usual` where it is absent. Rule out_of_range. */
sl_code sl_api_limit(const sl_request *request, uint32_t usual, uint32_t most, uint32_t *out,
                     sl_errors *err) SL_MUST_CHECK;

/** Reads a query parameter that is true or false (1 or 0); false where it is absent. */
sl_code sl_api_flag(const sl_request *request, const char *name, bool *out,
                    sl_errors *err) SL_MUST_CHECK;

/** ?unknown=warn: unknown fields of the body become warnings. */
sl_code sl_api_lenient(const sl_request *request, bool *out, sl_errors *err) SL_MUST_CHECK;

/** Ends a JSON answer: a fault of ours becomes a 500 problem instead of a broken document, and one
 * that did not fit into its buffer a 503, rule answer_too_large. */
void sl_api_finish(const sl_writer *writer, sl_response *response, const sl_request *request);

/** The store of this worker with its schema up to date, or NULL and err filled. */
sl_store *sl_api_store(sl_app *app, sl_worker *worker, sl_errors *err) SL_MUST_CHECK;

/**
 * For what fails behind a commit: the database that did not answer any more is rule made_not_shown
 * then, never one that says that nothing was changed. `done`: "stored", "removed".
 */
void sl_api_made_not_shown(const char *done, sl_errors *err);

/** The worker's context for a lane, or NULL and a 503 problem in the response. */
sl_worker *sl_api_worker(void *worker, const sl_request *request,
                         sl_response *response) SL_MUST_CHECK;

#endif
