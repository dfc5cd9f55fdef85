/**
 * Keeps the verdicts on saved plans current, and what is found of the hosts of inventories. A
 * thread of its own, behind whatever else wants the cores, looks at one inventory after the other
 * that changed, then evaluates one plan after the other whose verdict no longer holds: when
 * something was written here, and from time to time, for what other replicas wrote and what went
 * stale.
 */
#ifndef SL_API_PLAN_KEEPER_H
#define SL_API_PLAN_KEEPER_H

#include "api/app.h"
#include "store/plan.h"

/** app outlives it. NULL without memory or thread. */
sl_plan_keeper *sl_plan_keeper_start(sl_app *app) SL_MUST_CHECK;
void sl_plan_keeper_stop(sl_plan_keeper *keeper); /* NULL is fine */

/** An inventory, an observation or a plan was written. NULL is fine. */
void sl_plan_keeper_stir(sl_plan_keeper *keeper);

/** How many plans had each verdict when it last looked; false before that, and for NULL. */
bool sl_plan_keeper_counts(const sl_plan_keeper *keeper, uint64_t counts[SL_PLAN_VERDICTS]);

#endif
