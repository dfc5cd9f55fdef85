/*
 * Searches. What is asked comes over the lanes as with estimates; an answer that is kept is given
 * at once; else the crew searches while no thread of a lane is held, and the client reads how far
 * it came. Only whole results are kept.
 */
#include "api/searches.h"

#include <assert.h>
#include <string.h>

#include "api/resources.h"
#include "api/search_ask.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "http/events.h"
#include "http/exposition.h"
#include "shardline/version.h"
#include "store/search.h"

enum { FEED_BYTES = 1 << 20, HASH_DIGITS = SL_HASH_TEXT_SIZE - 1 };

/* Between two events of progress, as between the ticks that bring them; and when nothing is new,
 * before proxies take the connection for dead. */
static const double progress_s = 0.1;
static const double beat_s = 5;
static const double kept_s = 2;

typedef enum step { ASK, LOOK_UP, SEARCH, ANSWER, KEEP } step;

/* A search on its way over the lanes. In the request's arena. */
typedef struct searching {
    step step;
    sl_search_ask ask;
    bool keeps; /* the database is there, as far as was seen */
    sl_events events;
    sl_feed *feed;      /* the response's from the moment that the search has begun */
    sl_search_run *run; /* owned */
    const char *result; /* as it is kept */
    /* Of the watcher. */
    double told_s;
    uint32_t told_units;
} searching;

static void
release(void *argument)
{
    searching *const own = argument;

    sl_search_run_free(own->run);
    sl_search_ask_clear(&own->ask);
}

static sl_code
no_memory(sl_errors *err)
{
    return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "the search does not fit in memory");
}

static bool
has_database(const sl_app *app)
{
    return app->settings->database_url[0] != '\0';
}

/* The kept text with the member that says where it came from. */
static void
write_result(const char *kept, bool from_store, sl_buffer *out)
{
    const size_t size = strlen(kept);

    assert(size > 2 && kept[size - 1] == '}');
    sl_buffer_append(out, kept, size - 1);
    sl_buffer_format(out, ",\"from_store\":%s}", from_store ? "true" : "false");
}

/* The last event of a search, whose response began long ago. */
static void
end_feed(searching *own, const char *name, const sl_buffer *data)
{
    sl_buffer event;

    sl_buffer_init(&event, SL_RESPONSE_BODY_MAX_BYTES);
    if (data->failed)
        event.failed = true; /* cut, rather than whole without its result */
    else
        sl_events_write(own->events, name, data->data, data->size, &event);
    sl_feed_end(own->feed, &event);
}

static void
end_with_problem(searching *own, const sl_request *request, const sl_errors *err)
{
    sl_response problem;

    sl_response_init(&problem);
    sl_response_problem(&problem, request, err);
    end_feed(own, "error", &problem.body);
    sl_response_clear(&problem);
}

/* A problem, wherever the answer has got to. */
static void
fail(searching *own, const sl_request *request, sl_response *response, const sl_errors *err)
{
    if (own->feed != NULL)
        end_with_problem(own, request, err);
    else
        sl_response_problem(response, request, err);
}

static void
answer(searching *own, bool from_store, sl_response *response)
{
    sl_buffer text;

    sl_buffer_init(&text, SL_RESPONSE_BODY_MAX_BYTES);
    write_result(own->result, from_store, &text);
    if (own->feed != NULL) {
        end_feed(own, "result", &text);
    } else if (own->events != SL_EVENTS_NONE) {
        sl_events_head(own->events, response, &response->body);
        sl_events_write(own->events, "result", text.data, text.size, &response->body);
    } else {
        sl_buffer_append(&response->body, text.data, text.size);
    }
    sl_buffer_clear(&text);
}

/* Now and then, on the crew's ticker: one at a time. */
static void
tell_progress(void *context, const sl_search_run *run)
{
    searching *const own = context;
    const double now_s = sl_clock_now_s();
    sl_search_document document = {.asked = own->ask.asked};
    sl_buffer data;
    sl_buffer event;
    sl_writer writer;

    sl_search_run_document(run, &document);
    const bool news = document.outcome->units != own->told_units;
    const double since_s = now_s - own->told_s;
    if (since_s < (news ? progress_s : beat_s))
        return;
    own->told_s = now_s;
    own->told_units = document.outcome->units;
    sl_buffer_init(&data, FEED_BYTES);
    sl_buffer_init(&event, FEED_BYTES);
    if (news || !sl_events_beat(own->events, &event)) {
        sl_writer_init(&writer, &data);
        sl_progress_write(&writer, &document);
        if (sl_writer_ok(&writer))
            sl_events_write(own->events, "progress", data.data, data.size, &event);
    }
    if (event.size > 0)
        (void)sl_feed_put(own->feed, &event);
    sl_buffer_clear(&data);
    sl_buffer_clear(&event);
}

/* The first event goes out before the search is even taken up. */
static sl_code
open_feed(searching *own, sl_response *response, sl_errors *err)
{
    sl_buffer head;

    own->feed = sl_feed_new(FEED_BYTES);
    if (own->feed == NULL)
        return no_memory(err);
    sl_buffer_init(&head, FEED_BYTES);
    sl_events_head(own->events, response, &head);
    if (head.size > 0)
        (void)sl_feed_put(own->feed, &head);
    sl_buffer_clear(&head);
    own->told_units = UINT32_MAX; /* whatever it is, it is news */
    tell_progress(own, own->run);
    return SL_OK;
}

static void
begin(const sl_app *app, searching *own, const sl_request *request, sl_response *response)
{
    const bool streams = own->events != SL_EVENTS_NONE;
    const sl_search_task task = {.searches = app->searches,
                                 .asked = own->ask.asked,
                                 .relaxes = true,
                                 .cancelled = request->cancelled,
                                 .watcher = streams ? tell_progress : NULL,
                                 .context = own};
    sl_errors err = {.count = 0};

    sl_code code = sl_search_run_new(&task, &own->run, &err);
    if (code == SL_OK && streams)
        code = open_feed(own, response, &err);
    if (code == SL_OK)
        code = sl_search_run_begin(own->run, &err);
    if (code != SL_OK) {
        sl_feed_free(own->feed);
        own->feed = NULL;
        sl_response_problem(response, request, &err);
        return;
    }
    own->step = ANSWER;
    if (streams)
        sl_response_feed(response, own->feed);
    sl_response_park(response, SL_LANE_COMPUTE, own, sl_search_run_wait, own->run);
}

/* The result as it is kept, in the arena. */
static sl_code
write_document(searching *own, const sl_search_document *document, const sl_request *request,
               sl_errors *err)
{
    sl_buffer text;
    sl_writer writer;

    sl_buffer_init(&text, SL_RESPONSE_BODY_MAX_BYTES);
    sl_writer_init(&writer, &text);
    sl_search_write(&writer, document);
    if (sl_writer_ok(&writer))
        own->result = sl_arena_copy_bytes(request->arena, text.data, text.size);
    else
        (void)sl_fail(err, SL_E_INTERNAL, "answer_not_written", "",
                      "the answer could not be written as JSON");
    sl_buffer_clear(&text);
    if (own->result != NULL)
        return SL_OK;
    return err->count > 0 ? SL_E_INTERNAL : no_memory(err);
}

/* Neither the end of its time nor a bound cut it short. */
static bool
is_whole(const sl_search_document *document)
{
    return document->state == SL_SEARCH_DONE &&
           (document->relax->from == NULL || document->relax->complete);
}

/* The search is over. */
static void
conclude(searching *own, const sl_request *request, sl_response *response)
{
    sl_search_document document = {
        .asked = own->ask.asked,
        .about = sl_api_about(own->ask.catalog, &own->ask.of_model, own->ask.hash),
    };
    sl_errors err = {.count = 0};

    sl_search_run_document(own->run, &document);
    sl_code code = SL_OK;
    if (document.state == SL_SEARCH_CANCELLED)
        code = sl_fail(&err, SL_E_UNAVAILABLE, "cancelled", "",
                       "the search was given up before its end");
    if (code == SL_OK)
        code = write_document(own, &document, request, &err);
    if (code == SL_OK)
        sl_planned_count(SL_PLANNED_SEARCH, sl_search_run_worked_s(own->run));
    if (code != SL_OK) {
        fail(own, request, response, &err);
    } else if (own->keeps && is_whole(&document)) {
        own->step = KEEP;
        sl_response_continue(response, SL_LANE_STORE, own);
    } else {
        answer(own, false, response);
    }
}

/* The store for an answer that is kept: a convenience, for which nobody waits long. */
static sl_store *
kept_answers(sl_app *app, sl_worker *worker, sl_errors *err)
{
    sl_store_until(worker->store, sl_clock_now_s() + kept_s);
    return sl_api_store(app, worker, err);
}

/* True when the answer was given. A database that is away is no reason not to search. */
static bool
look_up(sl_app *app, sl_worker *worker, searching *own, const sl_request *request,
        sl_response *response)
{
    sl_errors err = {.count = 0};
    sl_search_row row;
    sl_store *const store = kept_answers(app, worker, &err);
    const sl_code code = store == NULL
                             ? SL_E_UNAVAILABLE
                             : sl_search_get(store, own->ask.hash, request->arena, &row, &err);

    own->keeps = code == SL_OK || code == SL_E_NOT_FOUND;
    if (code != SL_OK)
        return false;
    own->result = row.result;
    (void)atomic_fetch_add(&app->searches->kept_answers, 1);
    answer(own, true, response);
    return true;
}

static void
keep(sl_app *app, sl_worker *worker, searching *own, sl_response *response)
{
    const sl_search_row row = {.hash = own->ask.hash,
                               .engine_version = sl_engine_version,
                               .catalog_revision = sl_catalog_revision(own->ask.catalog),
                               .result = own->result};
    sl_errors err = {.count = 0};
    sl_store *const store = kept_answers(app, worker, &err);

    if (store == NULL || sl_search_put(store, &row, &err) != SL_OK)
        sl_log(SL_LOG_WARN, "the result of a search is not kept",
               (const sl_log_field[]){sl_log_text("reason", err.list[0].message)}, 1);
    answer(own, false, response);
}

/* What comes after the request was read. */
static void
ask(sl_app *app, sl_worker *worker, searching *own, const sl_request *request,
    sl_response *response)
{
    if (!sl_search_ask_step(app, worker, &own->ask, request, response, own))
        return;
    sl_errors err = {.count = 0};
    if (sl_search_settle_currencies(own->ask.asked, &err) != SL_OK) {
        sl_response_problem(response, request, &err);
        return;
    }
    own->keeps = has_database(app) && strstr(request->cache_control, "no-store") == NULL;
    if (own->keeps && strstr(request->cache_control, "no-cache") == NULL) {
        own->step = LOOK_UP;
        sl_response_continue(response, SL_LANE_STORE, own);
    } else {
        begin(app, own, request, response);
    }
}

static searching *
searching_new(const sl_app *app, const sl_request *request, sl_response *response)
{
    searching *const own = sl_search_ask_new(app, sizeof *own, release, request, response);

    if (own != NULL)
        own->events = sl_events_wanted(request);
    return own;
}

void
sl_searches_post(void *argument, void *thread, const sl_request *request, sl_response *response)
{
    sl_app *app = argument;
    sl_worker *worker = sl_api_worker(thread, request, response);
    searching *own = response->state;

    if (worker == NULL)
        return;
    if (own == NULL)
        own = searching_new(app, request, response);
    if (own == NULL)
        return;
    switch (own->step) {
    case ASK:
        ask(app, worker, own, request, response);
        break;
    case LOOK_UP:
        if (!look_up(app, worker, own, request, response)) {
            own->step = SEARCH;
            sl_response_continue(response, SL_LANE_COMPUTE, own);
        }
        break;
    case SEARCH:
        begin(app, own, request, response);
        break;
    case ANSWER:
        conclude(own, request, response);
        break;
    case KEEP:
        keep(app, worker, own, response);
        break;
    }
}

void
sl_searches_get(void *argument, void *thread, const sl_request *request, sl_response *response)
{
    sl_app *app = argument;
    sl_worker *worker = sl_api_worker(thread, request, response);
    const char *hash = sl_request_parameter(request, "hash");
    sl_errors err = {.count = 0};
    sl_search_row row;

    if (worker == NULL)
        return;
    sl_store *store = sl_api_store(app, worker, &err);
    sl_code code =
        store == NULL ? SL_E_UNAVAILABLE : sl_search_get(store, hash, request->arena, &row, &err);
    if (code != SL_OK) {
        sl_response_problem(response, request, &err);
        return;
    }
    /* A search that was asked for anew may take another place. */
    const char *const tag =
        sl_arena_format(request->arena, "%.*s-%s", HASH_DIGITS, row.hash, row.created_at);
    if (tag == NULL || !sl_response_etag(response, request, tag))
        write_result(row.result, true, &response->body);
}

void
sl_searches_write_metrics(sl_searches *searches, sl_buffer *out)
{
    static const struct {
        sl_search_state state;
        const char *name;
    } ends[] = {{SL_SEARCH_DONE, "done"},
                {SL_SEARCH_DEADLINE, "deadline"},
                {SL_SEARCH_CANCELLED, "cancelled"}};
    static const char *const results[] = {[SL_CANDIDATE_FEASIBLE] = "feasible",
                                          [SL_CANDIDATE_INFEASIBLE] = "infeasible",
                                          [SL_CANDIDATE_PRUNED] = "pruned",
                                          [SL_CANDIDATE_REFUSED] = "refused"};
    _Static_assert(sizeof results / sizeof results[0] == SL_CANDIDATE_RESULTS, "all have a name");
    uint32_t running = 0;
    uint32_t waiting = 0;

    if (searches == NULL)
        return;
    sl_crew_count(searches->crew, &running, &waiting);
    sl_exposition_family(out, "shardline_searches_running", "gauge", "Searches that run.");
    sl_exposition_count(out, "shardline_searches_running", NULL, 0, running);
    sl_exposition_family(out, "shardline_searches_waiting", "gauge",
                         "Searches that wait until one that runs has ended.");
    sl_exposition_count(out, "shardline_searches_waiting", NULL, 0, waiting);
    sl_exposition_family(out, "shardline_searches_ended_total", "counter",
                         "Searches that ended, by how; kept: answered without one.");
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        sl_exposition_count(out, "shardline_searches_ended_total",
                            &(sl_pair){"state", ends[i].name}, 1,
                            atomic_load(&searches->ended[ends[i].state]));
    sl_exposition_count(out, "shardline_searches_ended_total", &(sl_pair){"state", "kept"}, 1,
                        atomic_load(&searches->kept_answers));
    sl_exposition_family(out, "shardline_searches_evaluated_plans_total", "counter",
                         "Plans that searches worked out.");
    sl_exposition_count(out, "shardline_searches_evaluated_plans_total", NULL, 0,
                        atomic_load(&searches->candidates[SL_CANDIDATE_FEASIBLE]) +
                            atomic_load(&searches->candidates[SL_CANDIDATE_INFEASIBLE]));
    sl_exposition_family(out, "shardline_search_candidates_total", "counter",
                         "Plans that searches thought of, by what became of them.");
    for (uint32_t i = 0; i < SL_CANDIDATE_RESULTS; i++)
        sl_exposition_count(out, "shardline_search_candidates_total",
                            &(sl_pair){"result", results[i]}, 1,
                            atomic_load(&searches->candidates[i]));
}
