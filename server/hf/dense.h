/** Decoders that are described by a row of a table (table.h). */
#ifndef SL_HF_DENSE_H
#define SL_HF_DENSE_H

#include "hf/source.h"
#include "hf/table.h"

/**
 * Describes the model of a config. Name, revision, model_type, dtype and quantisation are the
 * caller's. Errors as sl_hf_config_read.
 */
sl_code sl_hf_dense_read(const sl_hf_source *source, const sl_hf_type *type,
                         sl_model *out) SL_MUST_CHECK;

#endif
