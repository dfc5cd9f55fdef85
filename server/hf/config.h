/**
 * A config.json of the Hugging Face Hub becomes the one description of a model. A key is read from
 * the file, then under its alias, then as the class defaults it (table.c).
 */
#ifndef SL_HF_CONFIG_H
#define SL_HF_CONFIG_H

#include "shardline/model.h"
#include "json/reader.h"

/**
 * config    an object; its pointers appear in the errors ("/config/hidden_size")
 * name      as the user named the model; cut to the room there is
 * out       large: heap or arena. Its revision is left empty, for the caller to fill
 * warnings  what was assumed, ignored or could not be modelled without making the counts wrong;
 *           zero-initialised by the caller, each message stands on its own
 *
 * Rules: unsupported_architecture, unsupported_option and unsupported_layer_types
 * (SL_E_UNSUPPORTED); required_field, wrong_type, out_of_range, unknown_value, not_divisible,
 * conflicting_keys and length_mismatch (SL_E_RANGE). All faults are reported at once; *out,
 * which is large and built in place, is then without kinds and layers.
 */
sl_code sl_hf_config_read(const sl_node *config, const char *name, sl_model *out,
                          sl_errors *warnings, sl_errors *err) SL_MUST_CHECK;

#endif
