/** What FSDP wraps: which parameters are gathered, and reduced, together. */
#ifndef SL_ENGINE_UNIT_H
#define SL_ENGINE_UNIT_H

#include "engine/placement/states.h"

/** A block as its plan wraps it, in elements on this rank. */
typedef struct sl_unit_split {
    double largest;                 /* of its units; 0 = it is none */
    double root;                    /* what stays with the root unit */
    double largest_sent, root_sent; /* both as they are gathered (sl_states_sent) */
} sl_unit_split;

/** A block: elements, and as they are gathered where each tensor is divided by whole rows over so
 * many ranks; 0 = evenly, so that both are the same. */
typedef struct sl_unit_block {
    double elements, sent;
    sl_degree over;
} sl_unit_block;

/**
 *   block    {elements, 0}
 *   root     {0, elements}
 *   size     {elements, 0} for blocks of at least so many, else {0, elements}
 *   modules  the largest of those named, which hold what begins with their name; the rest is the
 *            root's
 * Source: PyTorch wrap.py (transformer, size-based and lambda policies); the size-based one looks
 * into blocks and at the tables too, which is not followed.
 */
sl_unit_split sl_unit_of(const sl_unit *unit, const sl_slice *slice, const sl_layer_kind *kind,
                         const sl_unit_block *block);

/** The same of a kind that is divided evenly. */
sl_unit_split sl_unit_even(const sl_unit *unit, const sl_slice *slice, const sl_layer_kind *kind,
                           double elements);

/** Whether a block of so many elements on this rank is wrapped, or a part of it: else it is the root's. */
bool sl_unit_wraps(const sl_unit *unit, const sl_slice *slice, const sl_layer_kind *kind,
                   double elements);

/** Whether no block is wrapped: the model is one unit. `prices` of its kinds. */
bool sl_unit_is_whole(const sl_model *model, const sl_unit *unit, const sl_slice *slice,
                      const sl_kind_price *prices);

/** Of FSDP only (unit_not_of_framework); a module that no block has is an unknown_module. */
sl_code sl_check_unit(const sl_question *question, sl_errors *err) SL_MUST_CHECK;

#endif
