/** Figures of an answer beside its terms: each with what it is made of. */
#ifndef SL_ENGINE_FIGURE_H
#define SL_ENGINE_FIGURE_H

#include "shardline/estimate.h"

/** Sets the figure `id`, SL_TERM_USABLE or one after it. */
void sl_figure_set(sl_estimate *out, sl_term_id id, double value, const sl_input *inputs,
                   uint32_t count);

#define SL_SET_FIGURE(out, id, value, ...)                                                         \
    sl_figure_set(out, id, value, (const sl_input[]){__VA_ARGS__},                                 \
                  sizeof((const sl_input[]){__VA_ARGS__}) / sizeof(sl_input))

#endif
