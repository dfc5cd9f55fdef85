/** Blocks dealt out over the ranks of a pipeline so that all take as long as can be. */
#ifndef SL_ENGINE_BALANCE_H
#define SL_ENGINE_BALANCE_H

#include "engine/memory/memory.h"

/**
 * Blocks of each pipeline rank: one after the other goes to the rank that ends first with it, from
 * what the ranks of the case take of a micro-batch, for one of their blocks on the mean and for all
 * that is no block. False where there is nothing to deal out (one stage, plain layers, more chunks
 * than a layout has room for) or a rank has no block to be measured by. A block is measured as
 * rebuilt where any of its kind on the rank is: those of one kind lie alike whether all of them are
 * rebuilt or some of each chunk. Source: derived; the optimum for blocks of one kind.
 */
bool sl_balance_blocks(const sl_memory_case *c, uint32_t out[SL_PIPELINE_MAX]);

/** The fewest blocks of a rank: one in each chunk, but in those that have embedding or head
 * alone. */
uint32_t sl_balance_fewest(const sl_plan *plan, uint32_t rank);

/** Blocks of each rank, dealt out over its chunks, into the plan's layout. */
void sl_balance_deal(const uint32_t blocks[SL_PIPELINE_MAX], sl_plan *plan);

/** Gives the plan of the case that layout. False, and *plan as it was, where there is none or the
 * blocks lie so already. */
bool sl_balance_plan(const sl_memory_case *c, sl_plan *plan);

#endif
