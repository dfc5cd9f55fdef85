/** What a quantised checkpoint weighs, where its layout is simple enough to say. */
#ifndef SL_CODEC_HF_QUANTIZATION_H
#define SL_CODEC_HF_QUANTIZATION_H

#include "shardline/model.h"
#include "json/reader.h"

/** Points into itself once read: never copied. */
typedef struct sl_hf_quantization {
    bool present;
    const char *method; /* borrowed from the document; "unknown" when the file does not say */
    sl_node section;    /* quantization_config */
    sl_node kept;       /* modules_to_not_convert */
    bool has_kept;
} sl_hf_quantization;

/** Reads quantization_config of `config`; absent or null is fine. Rule: wrong_type. */
sl_code sl_hf_quantization_read(const sl_node *config, sl_hf_quantization *out,
                                sl_errors *err) SL_MUST_CHECK;

/**
 * Fills quantization and quantized_weights_bytes of a model whose kinds and dtype are already
 * there. Counts never change.
 *
 * fp8 and fbgemm_fp8: every matrix of attention and MLP takes 1 byte per element unless
 * modules_to_not_convert names its module; the rest stays at the checkpoint's element size. The
 * scales are not counted (a warning says so). Other methods, and lists that hold patterns, leave
 * quantized_weights_bytes at 0 with a warning.
 */
void sl_hf_quantization_apply(const sl_hf_quantization *quantization, sl_model *model,
                              sl_errors *warnings);

#endif
