/*
 * Saved plans: an estimate request under a name, and the last verdict on it. One that is read or
 * written and whose verdict does not hold any more is judged on the way, over the lanes that its
 * request would take; a list says pending instead, and the keeper sees to it.
 */
#include <inttypes.h>
#include <string.h>

#include "api/conditions.h"
#include "api/inventories.h"
#include "api/plan_keeper.h"
#include "api/plan_trial.h"
#include "api/plans.h"
#include "api/resources.h"
#include "base/text.h"

/* Times that one request judges a plan at most: while somebody keeps writing, none of them
 * holds. */
enum { TAG_DIGITS = 12, TRIALS = 4 };

typedef enum phase { PHASE_TRIAL, PHASE_KEEP } phase;

/* A plan that is judged on its way to the answer. In the request's arena. */
typedef struct plan_job {
    phase phase;
    sl_plan_row row;
    sl_plan_trial trial;
    uint32_t trials; /* begun */
    bool stored;     /* by this request, whatever becomes of the verdict */
    bool created;
    bool spec_only;
    bool dry_run;
} plan_job;

static const char *
verdict_of(const sl_plan_row *row)
{
    return row->current ? row->verdict : sl_plan_verdict_names[SL_PLAN_PENDING];
}

/* The reason stands as long as the verdict does. */
static const char *
reason_of(const sl_plan_row *row)
{
    return row->current ? row->reason : NULL;
}

static void
put_permalink(sl_writer *writer, const char *slug, sl_arena *arena)
{
    const char *const link = sl_arena_format(arena, "/?plan=%s", slug);
    sl_put_text(writer, "permalink", link == NULL ? "/" : link);
}

static void
write_status(sl_writer *writer, const sl_plan_row *row)
{
    sl_put_text(writer, "inventory", row->inventory);
    sl_put_text(writer, "verdict", verdict_of(row));
    sl_put_text(writer, "reason", reason_of(row));
    sl_put_text(writer, "evaluated_at", row->evaluated_at);
    sl_write_key(writer, "evaluation");
    if (row->evaluation == NULL)
        sl_write_null(writer);
    else
        sl_write_raw(writer, row->evaluation, strlen(row->evaluation));
    sl_put_text(writer, "created_at", row->created_at);
    sl_put_text(writer, "updated_at", row->updated_at);
}

void
sl_plan_items_write(sl_writer *writer, const sl_plan_row *rows, uint32_t count, sl_arena *arena)
{
    sl_write_array(writer);
    for (uint32_t i = 0; i < count; i++) {
        sl_write_object(writer);
        sl_put_text(writer, "slug", rows[i].slug);
        sl_put_uint(writer, "revision", rows[i].revision);
        sl_put_text(writer, "name", rows[i].name);
        put_permalink(writer, rows[i].slug, arena);
        write_status(writer, &rows[i]);
        sl_write_object_end(writer);
    }
    sl_write_array_end(writer);
}

/* A document is the same as long as its revision is; what was found of it follows all that it was
 * computed from. */
static const char *
tag_of(const sl_plan_row *row, bool spec_only, sl_arena *arena)
{
    char hash[SL_HASH_TEXT_SIZE];

    if (spec_only)
        return sl_arena_format(arena, "%" PRIu64, row->revision);
    const char *const found = sl_arena_format(arena, "%s %s %s", row->holds_for, verdict_of(row),
                                              row->evaluated_at == NULL ? "" : row->evaluated_at);
    if (found == NULL)
        return NULL;
    sl_hash_text(found, strlen(found), hash);
    return sl_arena_format(arena, "%" PRIu64 "-%.*s", row->revision, (int)TAG_DIGITS, hash);
}

static void
answer(const plan_job *job, const sl_request *request, sl_response *response)
{
    const sl_plan_row *const row = &job->row;
    sl_writer writer;

    response->status = job->created ? 201 : 200;
    if (!job->dry_run) {
        const char *const tag = tag_of(row, job->spec_only, request->arena);
        if (tag != NULL && sl_response_etag(response, request, tag))
            return;
    }
    /* Byte for byte what was accepted: a provisioning tool must see no drift. */
    if (job->spec_only) {
        sl_buffer_text(&response->body, row->spec);
        return;
    }
    sl_writer_init(&writer, &response->body);
    sl_write_object(&writer);
    sl_put_text(&writer, "slug", row->slug);
    sl_put_uint(&writer, "revision", row->revision);
    put_permalink(&writer, row->slug, request->arena);
    sl_write_key(&writer, "spec");
    sl_write_raw(&writer, row->spec, strlen(row->spec));
    sl_write_key(&writer, "status");
    sl_write_object(&writer);
    write_status(&writer, row);
    sl_write_object_end(&writer);
    sl_write_object_end(&writer);
    sl_api_finish(&writer, response, request);
}

/* Answers, or has the plan judged first. `job` is in the arena by now. */
static void
answer_current(const sl_app *app, plan_job *job, const char *request_text,
               const sl_request *request, sl_response *response)
{
    if (job->spec_only || (job->row.current && !job->dry_run) || job->trials == TRIALS) {
        answer(job, request, response);
        return;
    }
    job->phase = PHASE_TRIAL;
    job->trials++;
    job->trial = (sl_plan_trial){.request_text = request_text,
                                 .basis = sl_plan_basis(app, &job->row, request->arena)};
    sl_response_continue(response, SL_LANE_COMPUTE, job);
}

/* A dry run is judged as well, and keeps nothing. */
static void
show_verdict(plan_job *job, const sl_request *request)
{
    if (job->trial.verdict.kind == SL_VERDICT_NONE)
        return;
    job->row.verdict = sl_plan_verdict_name(job->trial.verdict.kind);
    job->row.evaluation = sl_plan_evaluation(&job->trial, request->arena);
    job->row.current = true;
}

/* Keeps the verdict. Who judged the plan meanwhile and was heard first may have seen less than is
 * there now: then it is judged again. */
static void
keep_verdict(sl_app *app, sl_worker *worker, plan_job *job, const sl_request *request,
             sl_response *response)
{
    sl_errors err = {.count = 0};
    sl_plan_document document = {.request = NULL};

    sl_store *const store = sl_api_store(app, worker, &err);
    sl_code code = store == NULL
                       ? SL_E_UNAVAILABLE
                       : sl_plan_trial_keep(store, &job->trial, &job->row, request->arena, &err);
    if (code == SL_OK)
        code = sl_plan_get(store, job->row.slug, app->software, request->arena, &job->row, &err);
    if (code == SL_OK)
        code = sl_plan_document_request(job->row.spec, request->arena, &document, &err);
    sl_plan_keeper_stir(app->keeper);
    if (code != SL_OK && job->stored)
        sl_api_made_not_shown("stored", &err);
    if (code != SL_OK)
        sl_response_problem(response, request, &err);
    else if (job->trial.verdict.kind == SL_VERDICT_NONE)
        answer(job, request, response);
    else
        answer_current(app, job, document.request, request, response);
}

/* On with a plan that is being judged. */
static void
go_on(sl_app *app, sl_worker *worker, plan_job *job, const sl_request *request,
      sl_response *response)
{
    if (job->phase == PHASE_KEEP) {
        keep_verdict(app, worker, job, request, response);
        return;
    }
    if (!sl_plan_trial_step(app, worker, &job->trial, request, response, job))
        return;
    if (job->dry_run) {
        show_verdict(job, request);
        answer(job, request, response);
        return;
    }
    job->phase = PHASE_KEEP;
    sl_response_continue(response, SL_LANE_STORE, job);
}

static plan_job *
new_job(const sl_request *request, sl_errors *err)
{
    plan_job *const job = sl_arena_alloc(request->arena, 1, sizeof *job);
    if (job == NULL)
        (void)sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory for the plan");
    return job;
}

void
sl_plans_get(void *argument, void *thread, const sl_request *request, sl_response *response)
{
    sl_app *app = argument;
    sl_worker *worker = sl_api_worker(thread, request, response);
    plan_job *job = response->state;
    sl_errors err = {.count = 0};
    sl_plan_document document = {.request = NULL};

    if (worker == NULL)
        return;
    if (job != NULL) {
        go_on(app, worker, job, request, response);
        return;
    }
    job = new_job(request, &err);
    sl_code code = job == NULL ? SL_E_MEMORY : sl_view_read(request, &job->spec_only, &err);
    sl_store *const store = code == SL_OK ? sl_api_store(app, worker, &err) : NULL;
    if (store != NULL &&
        sl_plan_get(store, sl_request_parameter(request, "slug"), app->software, request->arena,
                    &job->row, &err) == SL_OK &&
        sl_plan_document_request(job->row.spec, request->arena, &document, &err) == SL_OK)
        answer_current(app, job, document.request, request, response);
    else
        sl_response_problem(response, request, &err);
}

static sl_code
read_put(const sl_app *app, const sl_request *request, plan_job *job, sl_plan_write *write,
         sl_plan_document *document, sl_errors *err)
{
    write->slug = sl_request_parameter(request, "slug");
    sl_code code = sl_api_flag(request, "dry_run", &job->dry_run, err);
    if (code == SL_OK)
        code = sl_view_read(request, &job->spec_only, err);
    if (code == SL_OK)
        code = sl_api_precondition(request, &write->precondition, err);
    if (code == SL_OK && !sl_slug_ok(write->slug))
        code =
            sl_fail(err, SL_E_RANGE, "invalid_slug", "",
                    "the slug must be 1 to 63 of a-z, 0-9 and inner dashes, got %s", write->slug);
    if (code == SL_OK)
        code = sl_plan_document_read(request->body, request->body_size, app->catalog,
                                     request->arena, document, err);
    write->name = document->name;
    write->requester = sl_api_requester(request);
    write->spec = request->body;
    write->spec_hash = document->hash;
    write->inventory = document->inventory;
    return code;
}

/* Saves it, or for a dry run finds out whether it could be. */
static sl_code
put_row(const sl_app *app, sl_store *store, const sl_plan_write *write, const sl_request *request,
        plan_job *job, sl_errors *err)
{
    if (!job->dry_run) {
        sl_code code = sl_plan_put(store, write, &job->created, err);
        if (code != SL_OK)
            return code;
        job->stored = true;
        code = sl_plan_get(store, write->slug, app->software, request->arena, &job->row, err);
        if (code != SL_OK)
            sl_api_made_not_shown("stored", err);
        return code;
    }
    job->row = (sl_plan_row){.slug = write->slug,
                             .name = write->name,
                             .spec = write->spec,
                             .inventory = write->inventory,
                             .observations_hash = ""};
    return sl_plan_put_try(store, write, err);
}

void
sl_plans_put(void *argument, void *thread, const sl_request *request, sl_response *response)
{
    sl_app *app = argument;
    sl_worker *worker = sl_api_worker(thread, request, response);
    plan_job *job = response->state;
    sl_errors err = {.count = 0};
    sl_plan_write write = {.slug = NULL};
    sl_plan_document document = {.name = ""};

    if (worker == NULL)
        return;
    if (job != NULL) {
        go_on(app, worker, job, request, response);
        return;
    }
    job = new_job(request, &err);
    const sl_code code =
        job == NULL ? SL_E_MEMORY : read_put(app, request, job, &write, &document, &err);
    sl_store *const store = code == SL_OK ? sl_api_store(app, worker, &err) : NULL;
    if (store == NULL || put_row(app, store, &write, request, job, &err) != SL_OK) {
        sl_response_problem(response, request, &err);
        return;
    }
    answer_current(app, job, document.request, request, response);
}

void
sl_plans_delete(void *argument, void *thread, const sl_request *request, sl_response *response)
{
    sl_app *app = argument;
    sl_worker *worker = sl_api_worker(thread, request, response);
    sl_plan_write write = {.slug = sl_request_parameter(request, "slug"),
                           .requester = sl_api_requester(request)};
    sl_errors err = {.count = 0};
    sl_plan_row row;
    sl_writer writer;
    bool dry_run = false, spec_only = false;

    if (worker == NULL)
        return;
    sl_code code = sl_api_flag(request, "dry_run", &dry_run, &err);
    if (code == SL_OK)
        code = sl_view_read(request, &spec_only, &err);
    if (code == SL_OK)
        code = sl_api_precondition(request, &write.precondition, &err);
    sl_store *const store = code == SL_OK ? sl_api_store(app, worker, &err) : NULL;
    if (store == NULL ||
        sl_plan_get(store, write.slug, app->software, request->arena, &row, &err) != SL_OK ||
        sl_plan_delete(store, &write, dry_run, &err) != SL_OK) {
        sl_response_problem(response, request, &err);
        return;
    }
    if (!dry_run)
        sl_plan_keeper_stir(app->keeper);
    if (spec_only) {
        sl_buffer_text(&response->body, row.spec);
        return;
    }
    sl_writer_init(&writer, &response->body);
    sl_write_object(&writer);
    sl_put_text(&writer, "slug", row.slug);
    sl_put_uint(&writer, "revision", row.revision);
    sl_put_text(&writer, "name", row.name);
    sl_write_object_end(&writer);
    sl_api_finish(&writer, response, request);
}

static sl_code
read_query(const sl_request *request, sl_plan_query *out, sl_errors *err)
{
    static const char *const words[] = {"true", "false", "pending"};
    static const char *const verdicts[] = {"fits", "not_fits", "pending"};
    int fits = -1;

    out->after = sl_request_query(request, "cursor");
    out->inventory = sl_request_query(request, "inventory");
    if (out->after == NULL)
        out->after = "";
    else if (!sl_slug_ok(out->after))
        return sl_fail(err, SL_E_RANGE, "invalid_cursor", "", "the cursor is not one of ours");
    const sl_code code = sl_api_choice(request, "fits", words, 3, &fits, err);
    out->verdict = fits < 0 ? NULL : verdicts[fits];
    return code != SL_OK ? code
                         : sl_api_limit(request, SL_PAGE_DEFAULT, SL_PAGE_MAX, &out->limit, err);
}

void
sl_plans_list(void *argument, void *thread, const sl_request *request, sl_response *response)
{
    sl_app *app = argument;
    sl_worker *worker = sl_api_worker(thread, request, response);
    sl_errors err = {.count = 0};
    sl_plan_query query = {.after = NULL};
    sl_plan_row *rows = NULL;
    uint32_t count = 0;
    bool more = false, waits = false;
    sl_writer writer;

    if (worker == NULL)
        return;
    const sl_code code = read_query(request, &query, &err);
    sl_store *const store = code == SL_OK ? sl_api_store(app, worker, &err) : NULL;
    if (store == NULL || sl_plan_list(store, &query, app->software, request->arena, &rows, &count,
                                      &more, &err) != SL_OK) {
        sl_response_problem(response, request, &err);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        waits = waits || !rows[i].current;
    if (waits)
        sl_plan_keeper_stir(app->keeper);
    sl_writer_init(&writer, &response->body);
    sl_write_object(&writer);
    sl_write_key(&writer, "items");
    sl_plan_items_write(&writer, rows, count, request->arena);
    sl_page_finish(&writer, more ? rows[count - 1].slug : NULL, request, response);
}
