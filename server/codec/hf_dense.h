/** Decoders that are described by a row of a table (hf_table.h). */
#ifndef SL_CODEC_HF_DENSE_H
#define SL_CODEC_HF_DENSE_H

#include "codec/hf_source.h"
#include "codec/hf_table.h"

/**
 * Describes the model of a config. Name, revision, model_type, dtype and quantisation are the
 * caller's. Errors as sl_hf_config_read.
 */
sl_code sl_hf_dense_read(const sl_hf_source *source, const sl_hf_type *type,
                         sl_model *out) SL_MUST_CHECK;

#endif
