#include "api/plan_trial.h"

#include <assert.h>
#include <string.h>

#include "api/resources.h"
#include "shardline/version.h"

enum { EVALUATION_BYTES = 1 << 20 };

const char *
sl_plan_verdict_name(sl_verdict_kind kind)
{
    assert(kind != SL_VERDICT_NONE);
    return kind == SL_VERDICT_FITS           ? sl_plan_verdict_names[SL_PLAN_FITS]
           : kind == SL_VERDICT_DOES_NOT_FIT ? sl_plan_verdict_names[SL_PLAN_DOES_NOT_FIT]
                                             : sl_plan_verdict_names[SL_PLAN_REFUSED];
}

sl_verdict_basis
sl_plan_basis(const sl_app *app, const sl_plan_row *row, sl_arena *arena)
{
    const char *const catalog = sl_arena_copy(arena, sl_catalog_revision(app->catalog));

    return (sl_verdict_basis){.inventory_revision = row->inventory_revision,
                              .observations_hash = row->observations_hash,
                              .engine_version = sl_engine_version,
                              .catalog_revision = catalog != NULL ? catalog : ""};
}

bool
sl_plan_trial_step(sl_app *app, void *worker, sl_plan_trial *trial, const sl_request *request,
                   sl_response *response, void *state)
{
    sl_errors err = {.count = 0};
    sl_response inner;

    trial->asked = *request;
    trial->asked.method = SL_POST;
    trial->asked.body = trial->request_text;
    trial->asked.body_size = strlen(trial->request_text);
    trial->asked.query_count = 0;
    sl_response_init(&inner);
    inner.state = trial->inner;
    sl_estimates_post(app, worker, &trial->asked, &inner);
    if (inner.continues) {
        trial->inner = inner.state;
        if (inner.park != NULL)
            sl_response_park(response, inner.next_lane, state, inner.park, inner.park_argument);
        else
            sl_response_continue(response, inner.next_lane, state);
        sl_response_clear(&inner);
        return false;
    }
    if (sl_verdict_read(inner.status, inner.body.data == NULL ? "" : inner.body.data,
                        inner.body.size, request->arena, &trial->verdict, &err) != SL_OK)
        trial->verdict = (sl_verdict){.kind = SL_VERDICT_NONE};
    sl_response_clear(&inner);
    return true;
}

const char *
sl_plan_evaluation(const sl_plan_trial *trial, sl_arena *arena)
{
    const char *copy = NULL;
    sl_buffer text;
    sl_writer writer;

    sl_buffer_init(&text, EVALUATION_BYTES);
    sl_writer_init(&writer, &text);
    sl_verdict_write(&writer, &trial->verdict, &trial->basis);
    if (sl_writer_ok(&writer))
        copy = sl_arena_copy_bytes(arena, text.data, text.size);
    sl_buffer_clear(&text);
    return copy;
}

sl_code
sl_plan_trial_keep(sl_store *store, sl_plan_trial *trial, const sl_plan_row *row, sl_arena *arena,
                   sl_errors *err)
{
    const sl_verdict_kept kept = {
        .fitted =
            row->verdict != NULL && strcmp(row->verdict, sl_plan_verdict_names[SL_PLAN_FITS]) == 0,
        .evaluation = row->evaluation,
    };
    const char *reason = NULL;

    if (trial->verdict.kind == SL_VERDICT_NONE)
        return SL_OK;
    const sl_code code =
        sl_verdict_reason(&kept, &trial->verdict, &trial->basis, arena, &reason, err);
    if (code != SL_OK)
        return code;
    const char *const evaluation = sl_plan_evaluation(trial, arena);
    if (evaluation == NULL)
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory for the verdict");
    const sl_plan_judgement judgement = {.slug = row->slug,
                                         .revision = row->revision,
                                         .verdict = sl_plan_verdict_name(trial->verdict.kind),
                                         .evaluation = evaluation,
                                         .reason = reason,
                                         .holds_for = row->holds_for,
                                         .judged_for = row->judged_for};
    return sl_plan_judge(store, &judgement, err);
}
