/** Models like a given one, deeper or wider: what the limits of a plan are looked for with. */
#ifndef SL_ENGINE_GROWN_H
#define SL_ENGINE_GROWN_H

#include "shardline/model.h"

/** The same model in another place; kinds point into their own. */
void sl_grown_copy(const sl_model *of, sl_model *out);

/**
 * Gives *out, a copy of *of, so many blocks: the first ones of *of, and beyond them those that its
 * list ends with, over and over.
 *
 *   block i = block first + (i - first) % period      i >= blocks of *of
 *
 * first and period are those that explain the list with the least sum: 3 and 1 where three dense
 * blocks come before all of experts, 0 and 6 where every sixth has no window. blocks: 1 to
 * sl_grown_depth_max.
 * Source: derived.
 */
void sl_grown_deepen(const sl_model *of, uint32_t blocks, sl_model *out);

/** Blocks that a model can have beside its embedding and head. */
uint32_t sl_grown_depth_max(const sl_model *model);

/**
 * Steps that every width of a model divides into, key-value heads among them: its width can be any
 * number of such parts. 0: a model whose width is more than one number (latents, state spaces,
 * encoders, a narrow token table, predictions of further tokens, plain layers).
 */
uint64_t sl_grown_parts(const sl_model *model);

/**
 * Gives *out, a copy of *of, widths of parts / sl_grown_parts(of): hidden state, feed-forward and
 * experts, heads and key-value heads. Depth, vocabulary, positions, number of experts and features
 * of a head stay. False, with *out good for nothing, where one leaves SL_MODEL_WIDTH_MAX. parts >=
 * 1. Source: derived.
 */
bool sl_grown_widen(const sl_model *of, uint64_t parts, sl_model *out) SL_MUST_CHECK;

#endif
