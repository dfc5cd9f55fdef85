/** A plain list of layers in a request becomes a model. */
#ifndef SL_CODEC_LAYERS_JSON_H
#define SL_CODEC_LAYERS_JSON_H

#include "shardline/model.h"
#include "json/reader.h"

/**
 * layers    an array; its pointers appear in the errors ("/model/layers/3/parameters")
 * name      as the user named the model; cut to the room there is
 * out       large: heap or arena
 * warnings  NULL, or where unknown members go instead of being errors (?unknown=warn)
 *
 * A layer has name, parameters, activation_bytes and forward_flops, and may have count (1) and
 * output_bytes, all per sample. A list does not say how a checkpoint stores it: fp32 is taken.
 * Rules: wrong_type, required_field, out_of_range, unknown_field (SL_E_RANGE). All faults are
 * reported at once; *out is then untouched.
 */
sl_code sl_layers_read(const sl_node *layers, const char *name, sl_model *out, sl_errors *warnings,
                       sl_errors *err) SL_MUST_CHECK;

#endif
