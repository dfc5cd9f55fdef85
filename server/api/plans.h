/** Saved plans as others show them. */
#ifndef SL_API_PLANS_H
#define SL_API_PLANS_H

#include "api/app.h"
#include "store/plan.h"

/** A list of plans without their documents. */
void sl_plan_items_write(sl_writer *writer, const sl_plan_row *rows, uint32_t count,
                         sl_arena *arena);

#endif
