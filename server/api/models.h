/** Getting a model of the Hub and decoding it, shared by the models and the estimates resource. */
#ifndef SL_API_MODELS_H
#define SL_API_MODELS_H

#include "api/app.h"
#include "codec/answer/cross_check.h"
#include "shardline/model.h"

/** A model on its way into a handler, over the lanes. In the request's arena. */
typedef struct sl_api_model {
    const sl_hub *hub;
    sl_hub_ticket ticket; /* repository, revision, pointer and arena are the asker's to fill */
} sl_api_model;

/**
 * Brings the model a step nearer: from the caches on the compute lane, from the Hub on its own, or
 * parked while another request fetches the same. True on the compute lane with the ticket done;
 * otherwise the response continues with `state`, which is to come back here.
 */
bool sl_api_model_arrives(sl_app *app, sl_worker *worker, sl_api_model *model,
                          const sl_request *request, sl_response *response,
                          void *state) SL_MUST_CHECK;

/** Answers with the problem that a done ticket ended with. */
void sl_api_model_problem(const sl_api_model *model, const sl_request *request,
                          sl_response *response);

/** What was not as it should be about files that came all the same, as warnings. */
void sl_api_model_warn(const sl_hub_model *model, const char *pointer, sl_errors *warnings);

/**
 * The model a config.json of the Hub describes, in the arena, with its revision. quantization_file:
 * hf_quant_config.json of the same commit where the config names no quantisation; NULL: there is
 * none. Errors are those of sl_hf_config_read, and of the parser when the file is no JSON, all at
 * `pointer`: where the request names the repository, "" for a path.
 */
sl_code sl_api_decode_config(const sl_hub_file *file, const sl_hub_file *quantization_file,
                             const char *name, const char *pointer, sl_arena *arena, sl_model **out,
                             sl_errors *warnings, sl_errors *err) SL_MUST_CHECK;

#endif
