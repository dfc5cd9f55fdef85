/** Products of a plan whose shapes no table has: their times are a law's beyond what it was fitted
 * to; and those that are slower than it says. */
#ifndef SL_ENGINE_GUESSES_H
#define SL_ENGINE_GUESSES_H

#include "engine/memory/memory.h"

/**
 * Fills out->guesses with one device's forward products of distinct shapes, the largest first, as
 * many as there is room for; and out->unaligned: whether the width of any is no multiple of what fast
 * kernels take. Routers, which are small, do not count.
 */
void sl_guesses_set(const sl_memory_case *c, sl_estimate *out);

#endif
