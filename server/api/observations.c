/*
 * Observations of a stored inventory: the raw output of a tool as it comes from cron. It is read on
 * the lane for uploads and kept from the store's; the text itself is not.
 */
#include <inttypes.h>
#include <string.h>

#include "api/conditions.h"
#include "api/inventories.h"
#include "api/plan_keeper.h"
#include "api/raw_body.h"
#include "api/resources.h"
#include "base/instant.h"
#include "base/text.h"
#include "intake/facts_json.h"
#include "intake/format.h"
#include "store/observation.h"

enum { FACTS_MAX_BYTES = 16 * 1024 * 1024, STALE_AFTER_MAX_S = 366 * 86400 };

/* Clocks of two machines differ; what lies further ahead would shut the source up until then. */
static const double AHEAD_MAX_S = 300;

/* What a PUT says, from one lane to the next. In the request's arena. */
typedef struct put_job {
    sl_observation_write write;
    sl_findings *findings;
    char raw_hash[SL_HASH_TEXT_SIZE];
    char facts_hash[SL_HASH_TEXT_SIZE];
    char observed_at[SL_INSTANT_SIZE];
} put_job;

static const char *
tag_of(const sl_observation_row *row, sl_arena *arena)
{
    return sl_arena_format(arena, "%" PRIu64 "-%s%s", row->revision, row->observed_at,
                           row->stale ? "-stale" : "");
}

static void
write_row(sl_writer *writer, const char *slug, const sl_observation_row *row)
{
    sl_write_object(writer);
    sl_put_text(writer, "inventory", slug);
    sl_put_text(writer, "source", row->source);
    sl_put_uint(writer, "revision", row->revision);
    sl_put_text(writer, "format", row->format);
    sl_put_text(writer, "observed_at", row->observed_at);
    sl_put_text(writer, "received_at", row->received_at);
    sl_put_text(writer, "changed_at", row->changed_at);
    sl_put_uint(writer, "stale_after_s", row->stale_after_s);
    sl_put_bool(writer, "stale", row->stale);
    sl_put_uint(writer, "hosts", row->hosts);
    sl_put_text(writer, "raw_hash", row->raw_hash);
    if (row->facts != NULL) {
        sl_write_key(writer, "facts");
        sl_write_raw(writer, row->facts, strlen(row->facts));
    }
    sl_write_object_end(writer);
}

static void
answer_row(const sl_observation_row *row, bool tagged, const sl_request *request,
           sl_response *response)
{
    sl_writer writer;
    const char *const tag = tagged ? tag_of(row, request->arena) : NULL;

    if (tag != NULL && sl_response_etag(response, request, tag))
        return;
    sl_writer_init(&writer, &response->body);
    write_row(&writer, sl_request_parameter(request, "slug"), row);
    sl_api_finish(&writer, response, request);
}

static sl_code
read_observed_at(const sl_request *request, char out[SL_INSTANT_SIZE], sl_errors *err)
{
    const char *const text = sl_request_query(request, "observed_at");
    const double now_s = sl_instant_now_s();
    double observed_s = now_s;

    if (text != NULL && !sl_instant_read(text, &observed_s)) {
        (void)sl_fail(err, SL_E_RANGE, "wrong_type", "",
                      "observed_at must be a moment as RFC 3339 writes it, got %.40s", text);
        sl_hint(err, "2026-01-31T12:00:00Z; a + is %%2B in a query");
        return SL_E_RANGE;
    }
    if (observed_s > now_s + AHEAD_MAX_S)
        return sl_fail(err, SL_E_RANGE, "out_of_range", "",
                       "observed_at must not be ahead of the clock here, got %.40s", text);
    sl_instant_write(observed_s, out);
    return SL_OK;
}

static sl_code
read_stale_after(const sl_request *request, uint64_t *out, sl_errors *err)
{
    const char *const text = sl_request_query(request, "stale_after_s");

    if (text == NULL || (sl_text_to_uint(text, out) && *out >= 1 && *out <= STALE_AFTER_MAX_S))
        return SL_OK;
    return sl_fail(err, SL_E_RANGE, "out_of_range", "",
                   "stale_after_s must be a number from 1 to %d, got %.32s", STALE_AFTER_MAX_S,
                   text);
}

/* NULL: what the text is recognised as. */
static sl_code
read_format(const sl_request *request, const sl_format **out, sl_errors *err)
{
    const char *const name = sl_request_query(request, "format");

    *out = name == NULL || sl_text_equal(name, "auto") ? NULL : sl_format_find(name);
    if (*out != NULL || name == NULL || sl_text_equal(name, "auto"))
        return SL_OK;
    (void)sl_fail(err, SL_E_RANGE, "unknown_value", "",
                  "the query parameter format has no value %.60s", name);
    sl_hint(err, "auto, or a format's name");
    return SL_E_RANGE;
}

static sl_code
read_options(const sl_request *request, put_job *job, const sl_format **format, sl_errors *err)
{
    sl_observation_write *const write = &job->write;
    write->slug = sl_request_parameter(request, "slug");
    write->source = sl_request_parameter(request, "source");
    write->observed_at = job->observed_at;
    write->requester = sl_api_requester(request);
    write->raw_hash = job->raw_hash;
    write->facts_hash = job->facts_hash;

    sl_code code = SL_OK;
    if (!sl_slug_ok(write->source))
        code = sl_fail(err, SL_E_RANGE, "invalid_slug", "",
                       "the source must be 1 to 63 of a-z, 0-9 and inner dashes, got %s",
                       write->source);
    if (code == SL_OK)
        code = read_format(request, format, err);
    if (code == SL_OK)
        code = read_observed_at(request, job->observed_at, err);
    if (code == SL_OK)
        code = read_stale_after(request, &write->stale_after_s, err);
    if (code == SL_OK)
        code = sl_api_flag(request, "dry_run", &write->dry_run, err);
    return code == SL_OK ? sl_api_precondition(request, &write->precondition, err) : code;
}

/* On the lane for uploads. */
static sl_code
read_text(const sl_request *request, const sl_format *format, put_job *job, sl_errors *err)
{
    const sl_format *used = NULL;
    uint32_t confidence = 0;
    sl_raw_body body;

    /* What labels may name is no observation. */
    job->findings = sl_findings_new(request->arena, NULL);
    if (job->findings == NULL)
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory to read the text");
    sl_code code = sl_raw_body_open(request, &body, err);
    if (code == SL_OK) {
        const sl_raw raw = {.name = "", .text = body.text, .size = body.size};
        sl_hash_text(body.text, body.size, job->raw_hash);
        code = sl_intake_read(&raw, format, job->findings, &used, &confidence, err);
    }
    sl_raw_body_close(&body);
    if (code == SL_OK)
        job->write.format = used->name;
    if (code == SL_OK && sl_findings_count(job->findings) == 0)
        code = sl_fail(err, SL_E_UNSUPPORTED, "no_hosts", "",
                       "the text speaks of no node: there is nothing to keep");
    return code;
}

/* On the store's lane: what the source said before tells since when a host is as it is. */
static sl_code
keep(sl_store *store, const sl_request *request, put_job *job, sl_observation_row *row,
     bool *created, sl_errors *err)
{
    sl_observation_write *const write = &job->write;
    sl_errors unseen = {.count = 0};
    sl_observation_row before = {.facts = NULL};
    sl_writer writer;
    sl_buffer facts;

    sl_code code =
        sl_observation_get(store, write->slug, write->source, request->arena, &before, &unseen);
    /* Where there is none the put says what is missing. */
    if (code != SL_OK)
        before.facts = NULL;
    if (code != SL_OK && code != SL_E_NOT_FOUND) {
        *err = unseen; /* or all would be as it is since now */
        return code;
    }
    sl_buffer_init(&facts, FACTS_MAX_BYTES);
    sl_writer_init(&writer, &facts);
    code = sl_facts_write(&writer, job->findings, before.facts, write->observed_at, &write->hosts,
                          err);
    if (code == SL_OK && !sl_writer_ok(&writer))
        code = sl_fail(err, SL_E_TOO_LARGE, "too_large", "",
                       "what was read must not be over %d bytes", FACTS_MAX_BYTES);
    if (code == SL_OK) {
        write->facts = facts.data;
        sl_hash_text(facts.data, facts.size, job->facts_hash);
        code = sl_observation_put(store, write, request->arena, row, created, err);
    }
    sl_buffer_clear(&facts);
    return code;
}

void
sl_observations_put(void *argument, void *thread, const sl_request *request, sl_response *response)
{
    sl_app *app = argument;
    sl_worker *worker = sl_api_worker(thread, request, response);
    put_job *job = response->state;
    sl_errors err = {.count = 0};
    sl_observation_row row;
    bool created = false;
    sl_code code = SL_OK;

    if (worker == NULL)
        return;
    if (job == NULL) {
        const sl_format *format = NULL;
        job = sl_arena_alloc(request->arena, 1, sizeof *job);
        if (job == NULL) {
            (void)sl_fail(&err, SL_E_MEMORY, "out_of_memory", "", "no memory to read with");
            sl_response_problem(response, request, &err);
            return;
        }
        code = read_options(request, job, &format, &err);
        if (code == SL_OK)
            code = read_text(request, format, job, &err);
        if (code == SL_OK) {
            sl_response_continue(response, SL_LANE_STORE, job);
            return;
        }
    } else {
        sl_store *store = sl_api_store(app, worker, &err);
        code = store == NULL ? SL_E_UNAVAILABLE : keep(store, request, job, &row, &created, &err);
    }
    if (code != SL_OK) {
        sl_response_problem(response, request, &err);
        return;
    }
    if (!job->write.dry_run)
        sl_plan_keeper_stir(app->keeper);
    response->status = created && !job->write.dry_run ? 201 : 200;
    answer_row(&row, !job->write.dry_run, request, response);
}

void
sl_observations_get(void *argument, void *thread, const sl_request *request, sl_response *response)
{
    sl_app *app = argument;
    sl_worker *worker = sl_api_worker(thread, request, response);
    sl_errors err = {.count = 0};
    sl_observation_row row;

    if (worker == NULL)
        return;
    sl_store *store = sl_api_store(app, worker, &err);
    if (store != NULL && sl_observation_get(store, sl_request_parameter(request, "slug"),
                                            sl_request_parameter(request, "source"), request->arena,
                                            &row, &err) == SL_OK)
        answer_row(&row, true, request, response);
    else
        sl_response_problem(response, request, &err);
}

void
sl_observations_delete(void *argument, void *thread, const sl_request *request,
                       sl_response *response)
{
    sl_app *app = argument;
    sl_worker *worker = sl_api_worker(thread, request, response);
    sl_observation_write write = {.slug = sl_request_parameter(request, "slug"),
                                  .source = sl_request_parameter(request, "source"),
                                  .requester = sl_api_requester(request)};
    sl_errors err = {.count = 0};
    sl_observation_row row;
    sl_writer writer;

    if (worker == NULL)
        return;
    sl_code code = sl_api_flag(request, "dry_run", &write.dry_run, &err);
    if (code == SL_OK)
        code = sl_api_precondition(request, &write.precondition, &err);
    sl_store *store = code == SL_OK ? sl_api_store(app, worker, &err) : NULL;
    if (store != NULL &&
        sl_observation_get(store, write.slug, write.source, request->arena, &row, &err) == SL_OK &&
        sl_observation_delete(store, &write, &err) == SL_OK) {
        if (!write.dry_run)
            sl_plan_keeper_stir(app->keeper);
        row.facts = NULL;
        sl_writer_init(&writer, &response->body);
        write_row(&writer, write.slug, &row);
        sl_api_finish(&writer, response, request);
        return;
    }
    sl_response_problem(response, request, &err);
}

static void
write_page(const sl_observation_row *rows, uint32_t count, bool more, const sl_request *request,
           sl_response *response)
{
    const char *const slug = sl_request_parameter(request, "slug");
    sl_writer writer;

    sl_writer_init(&writer, &response->body);
    sl_write_object(&writer);
    sl_write_key(&writer, "items");
    sl_write_array(&writer);
    for (uint32_t i = 0; i < count; i++)
        write_row(&writer, slug, &rows[i]);
    sl_write_array_end(&writer);
    sl_page_finish(&writer, more ? rows[count - 1].source : NULL, request, response);
}

void
sl_observations_list(void *argument, void *thread, const sl_request *request, sl_response *response)
{
    sl_app *app = argument;
    sl_worker *worker = sl_api_worker(thread, request, response);
    const char *const cursor = sl_request_query(request, "cursor");
    sl_errors err = {.count = 0};
    sl_observation_row *rows = NULL;
    uint32_t limit = 0, count = 0;
    bool more = false;

    if (worker == NULL)
        return;
    if (cursor != NULL && !sl_slug_ok(cursor))
        (void)sl_fail(&err, SL_E_RANGE, "invalid_cursor", "", "the cursor is not one of ours");
    else if (sl_api_limit(request, SL_PAGE_DEFAULT, SL_PAGE_MAX, &limit, &err) == SL_OK) {
        sl_store *store = sl_api_store(app, worker, &err);
        if (store != NULL &&
            sl_observation_list(store, sl_request_parameter(request, "slug"),
                                cursor == NULL ? "" : cursor, limit, false, request->arena, &rows,
                                &count, &more, &err) == SL_OK) {
            write_page(rows, count, more, request, response);
            return;
        }
    }
    sl_response_problem(response, request, &err);
}
