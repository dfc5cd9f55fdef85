/** Distinct shapes of weights: TransformerEngine keeps one dummy gradient of each. */
#ifndef SL_ENGINE_SHAPES_H
#define SL_ENGINE_SHAPES_H

#include "engine/price/price.h"
#include "engine/schedule/schedule.h"

/** What each kind has of them, into prices: nothing where the release keeps no such gradients, or
 * what trains are adapters. */
void sl_shapes_price(const sl_model *model, const sl_slice *slice, sl_kind_price *prices);

/** Elements of the distinct shapes of some kinds, one of each [count]. */
typedef struct sl_shapes {
    double elements;
    bool shared; /* one has shapes of those before it: sl_shapes_elements says how many there are */
} sl_shapes;

static inline void
sl_shapes_add(const sl_kind_price *price, sl_shapes *to)
{
    if (price->shape_elements <= 0.0)
        return;
    to->shared = to->shared || (to->elements > 0.0 && !price->lone_shape);
    to->elements += price->shape_elements;
}

/** The same of all kinds of a stage, looked for. */
double sl_shapes_elements(const sl_model *model, const sl_slice *slice, const sl_stage *stage);

#endif
