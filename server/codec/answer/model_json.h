/** The answer of the models resource. */
#ifndef SL_CODEC_MODEL_JSON_H
#define SL_CODEC_MODEL_JSON_H

#include "codec/answer/cross_check.h"
#include "shardline/model.h"
#include "json/writer.h"

/**
 * Writes one object: name, revision (null when empty), architecture, parameters, weights_bytes,
 * kv_cache, layers, quantization, warnings (their messages), gated and cross_check (null
 * without `checkpoint`, which may be NULL).
 *
 * kv_cache takes 2 bytes per element. bytes_per_token sums the layers that keep every position; a
 * layer with a window keeps at most `window` positions, so those stand in window_layers, one entry
 * per window with the number of layers and the bytes of one position in one of them.
 * bytes_per_sequence is the constant state, which no attention layer has.
 * layers has one entry per run of equal kinds whose tensors are stored alike, so that modules which
 * a quantised checkpoint keeps split a run; where experts of one tensor differ, or the layers
 * of a tower, dtype is that of most of them and dtype_mixed is true. quantization says bits,
 * group_size (weights along the inputs; null = a whole row or matrix) or block (rows and columns)
 * of the format that most parameters have, and the bytes of all scales; without them the layout is
 * not modelled. modules_kept lists the first of modules_kept_count patterns. A tied tensor is
 * listed where the checkpoint's class has it, marked, and counted in the embedding.
 */
void sl_model_write(sl_writer *writer, const sl_model *model, const sl_model_counts *counts,
                    const sl_checkpoint *checkpoint, const sl_errors *warnings);

#endif
