/** The evaluation of a saved plan: its request goes the way that one from a client would. */
#ifndef SL_API_PLAN_TRIAL_H
#define SL_API_PLAN_TRIAL_H

#include "api/app.h"
#include "codec/inventory/verdict.h"
#include "store/plan.h"

/** Set the first two, zero the rest. In the request's arena. */
typedef struct sl_plan_trial {
    const char *request_text;
    sl_verdict_basis basis;
    sl_request asked;
    void *inner; /* state of the estimate, between its lanes */
    sl_verdict verdict;
} sl_plan_trial;

/**
 * A step on the lane of this worker; begins on the compute lane. True: the verdict is there.
 * Otherwise the response continues with `state`, which is to come back here.
 */
bool sl_plan_trial_step(sl_app *app, void *worker, sl_plan_trial *trial, const sl_request *request,
                        sl_response *response, void *state) SL_MUST_CHECK;

/** What a verdict on the row, now, is computed from. */
sl_verdict_basis sl_plan_basis(const sl_app *app, const sl_plan_row *row, sl_arena *arena);

/** The evaluation as JSON, in the arena. NULL without memory. */
const char *sl_plan_evaluation(const sl_plan_trial *trial, sl_arena *arena);

/** Keeps the verdict of a trial of `row`, with the reason if it ceased to fit. One that nobody
 * could say is not kept: the plan stays pending. */
sl_code sl_plan_trial_keep(sl_store *store, sl_plan_trial *trial, const sl_plan_row *row,
                           sl_arena *arena, sl_errors *err) SL_MUST_CHECK;

/** The name of a verdict that somebody could say. */
const char *sl_plan_verdict_name(sl_verdict_kind kind);

#endif
