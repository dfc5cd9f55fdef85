/** Decoding a fetched config, shared by the models and the estimates resource. */
#ifndef SL_API_MODELS_H
#define SL_API_MODELS_H

#include "hub/hub.h"
#include "shardline/model.h"

/**
 * The model a config.json of the Hub describes, in the arena, with its revision. Errors are those
 * of sl_hf_config_read, and of the parser when the file is no JSON, all at `pointer`: where the
 * request names the repository, "" for a path.
 */
sl_code sl_api_decode_config(const sl_hub_file *file, const char *name, const char *pointer,
                             sl_arena *arena, sl_model **out, sl_errors *warnings,
                             sl_errors *err) SL_MUST_CHECK;

#endif
