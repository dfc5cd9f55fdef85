/* All that a model's description needs, fetched once for everybody who asks at the same time. */
#include <assert.h>

#include "base/clock.h"
#include "base/text.h"
#include "hub/ask.h"
#include "hub/check.h"
#include "json/reader.h"

static sl_hub_subject
subject_of(const sl_hub_ticket *ticket)
{
    return (sl_hub_subject){.repository = ticket->repository,
                            .revision = ticket->revision,
                            .file = "config.json",
                            .pointer = ticket->pointer};
}

static sl_hub_subject
quantization_of(const sl_hub_ticket *ticket)
{
    return (sl_hub_subject){.repository = ticket->repository,
                            .revision = ticket->model.config.commit,
                            .file = "hf_quant_config.json",
                            .pointer = ticket->pointer,
                            .beside = true};
}

static void
count(const sl_hub *hub, sl_hub_result result)
{
    (void)atomic_fetch_add_explicit(&hub->state->results[result], 1, memory_order_relaxed);
}

/* How a ticket that nobody else's fetch answered ended. */
static void
count_ended(const sl_hub *hub, const sl_hub_ticket *ticket, bool asked)
{
    /* Every other code is a failure. */
    static const sl_hub_result results[SL_CODE_COUNT] = {
        [SL_E_NOT_FOUND] = SL_HUB_RESULT_NOT_FOUND,
        [SL_E_FORBIDDEN] = SL_HUB_RESULT_FORBIDDEN,
        [SL_E_RATE_LIMITED] = SL_HUB_RESULT_RATE_LIMITED,
        [SL_E_TIMEOUT] = SL_HUB_RESULT_TIMEOUT,
        [SL_E_UNAVAILABLE] = SL_HUB_RESULT_OFFLINE,
    };
    const sl_hub_file *const config = &ticket->model.config;
    if (ticket->code != SL_OK)
        count(hub, results[ticket->code]);
    else
        count(hub, config->stale         ? SL_HUB_RESULT_STALE
                   : !config->from_cache ? SL_HUB_RESULT_DOWNLOADED
                   : asked               ? SL_HUB_RESULT_REVALIDATED
                                         : SL_HUB_RESULT_CACHED);
}

static void
end(sl_hub_ticket *ticket, sl_code code, const sl_errors *err)
{
    ticket->code = code;
    if (code != SL_OK)
        ticket->failure = err->list[0];
    ticket->done = true;
}

/* Modelopt's checkpoints say how they are quantised in a file of its own. */
static bool
names_quantization(const sl_hub_file *config)
{
    static const sl_json_limits limits = {
        .max_bytes = 1 << 20, .max_depth = SL_JSON_DEPTH_MAX, .accept_python_numbers = true};
    sl_errors faults = {.count = 0};
    sl_json *json = NULL;
    sl_node text, quantization;

    /* What cannot be read is refused by whoever decodes it. */
    if (sl_json_parse(config->text, config->size, &limits, &json, &faults) != SL_OK)
        return true;
    const sl_node root = sl_json_root(json);
    const bool named = sl_node_member(&root, "quantization_config", &quantization) ||
                       (sl_node_member(&root, "text_config", &text) &&
                        sl_node_member(&text, "quantization_config", &quantization));
    sl_json_free(json);
    return named;
}

/* Where nobody said whether there is such a file, there may be one all the same. */
static bool
may_have_quantization(const sl_hub_model *model)
{
    return (model->info.has_quantization_file || !model->info.known) &&
           !names_quantization(&model->config);
}

/* No revision holds a blank: the failure of none is taken for this. */
static bool
unasked_key(const sl_hub_ticket *ticket, char key[SL_HUB_RECENT_KEY_SIZE])
{
    return sl_text_format(key, SL_HUB_RECENT_KEY_SIZE, "%s@%s quantization", ticket->repository,
                          ticket->model.config.commit);
}

/* Where it is not known that there is such a file, it is asked for once in a while. */
static bool
is_to_be_asked_for(const sl_hub *hub, const sl_hub_ticket *ticket)
{
    char key[SL_HUB_RECENT_KEY_SIZE];
    sl_error ignored;
    return ticket->model.info.known || !(sl_hub_is_silent(hub) || !unasked_key(ticket, key) ||
                                         sl_hub_recent_find(hub->state->recent, key, &ignored));
}

/* True when it is missing for all we know, by how asking for it has failed. Offline nobody can know
 * whether there is one. */
static bool
is_missed(const sl_hub *hub, const sl_hub_model *model, const sl_errors *failure)
{
    return model->info.known ||
           (!hub->offline && !sl_text_equal(failure->list[0].rule, "file_not_found"));
}

/* The quantisation from the caches, without the network; false when it is to be asked for. */
static bool
recall_quantization(const sl_hub *hub, sl_hub_ticket *ticket)
{
    sl_errors err = {.count = 0};
    sl_hub_model *const model = &ticket->model;
    if (!may_have_quantization(model))
        return true;
    const sl_hub_subject subject = quantization_of(ticket);
    switch (sl_hub_recall(hub, &subject, ticket->arena, &model->quantization, &err)) {
    case SL_HUB_KNOWN:
        return true;
    case SL_HUB_KNOWN_NOT:
        model->quantization_missing = is_missed(hub, model, &err);
        return true;
    case SL_HUB_UNKNOWN:
        break;
    }
    model->quantization_missing = !is_to_be_asked_for(hub, ticket);
    return model->quantization_missing;
}

/* What goes with a config at hand, likewise. */
static bool
recall_rest(const sl_hub *hub, sl_hub_ticket *ticket)
{
    return sl_hub_check_recall(hub, ticket->repository, ticket->model.config.commit, ticket->arena,
                               &ticket->model.info) &&
           recall_quantization(hub, ticket);
}

bool
sl_hub_model_recall(const sl_hub *hub, sl_hub_ticket *ticket)
{
    assert(hub != NULL && ticket != NULL && !ticket->done);

    sl_errors err = {.count = 0};
    const sl_hub_subject subject = subject_of(ticket);
    sl_code code = sl_hub_check_id(subject.repository, subject.revision, subject.pointer, &err);
    if (code == SL_OK) {
        const sl_hub_recollection found =
            sl_hub_recall(hub, &subject, ticket->arena, &ticket->model.config, &err);
        if (found == SL_HUB_UNKNOWN || (found == SL_HUB_KNOWN && !recall_rest(hub, ticket)))
            return false;
        if (found == SL_HUB_KNOWN_NOT)
            code = err.list[0].code;
    }
    end(ticket, code, &err);
    if (code != SL_E_RANGE)
        count_ended(hub, ticket, false);
    return true;
}

/* Remembers that the quantisation could not be had, so that it is not asked for every time. */
static void
miss_quantization(const sl_hub *hub, sl_hub_ticket *ticket, const sl_error *why)
{
    char key[SL_HUB_RECENT_KEY_SIZE];

    ticket->model.quantization_missing = true;
    if (unasked_key(ticket, key))
        sl_hub_recent_add(hub->state->recent, key, why, hub->limits.unchecked_s);
}

static void
fetch_quantization(sl_hub_worker *worker, sl_hub_ticket *ticket, const atomic_bool *cancelled)
{
    sl_errors err = {.count = 0};
    sl_hub_model *const model = &ticket->model;
    const sl_hub_subject subject = quantization_of(ticket);

    if (sl_hub_fetch(worker, &subject, cancelled, ticket->arena, &model->quantization, &err) ==
        SL_OK)
        return;
    if (is_missed(worker->hub, model, &err) && !atomic_load(cancelled))
        miss_quantization(worker->hub, ticket, &err.list[0]);
    else
        model->quantization_missing = is_missed(worker->hub, model, &err);
}

/* The rest is good to have: what cannot be had in a short time is left out. A Hub that took all of
 * it to say nothing about the files is not asked for one more. */
static void
fetch_rest(sl_hub_worker *worker, sl_hub_ticket *ticket, const atomic_bool *cancelled)
{
    static const sl_error unheard = {.code = SL_E_UPSTREAM, .rule = "timeout"};
    const double end_s = sl_clock_now_s() + worker->hub->limits.check_s;
    sl_hub_model *const model = &ticket->model;

    if (!sl_hub_check_recall(worker->hub, ticket->repository, model->config.commit, ticket->arena,
                             &model->info))
        sl_hub_check_fetch(worker, ticket->repository, model->config.commit, cancelled,
                           ticket->arena, &model->info);
    if (recall_quantization(worker->hub, ticket))
        return;
    if (!model->info.known && sl_clock_now_s() >= end_s)
        miss_quantization(worker->hub, ticket, &unheard);
    else
        fetch_quantization(worker, ticket, cancelled);
}

static void
fetch(sl_hub_worker *worker, sl_hub_ticket *ticket, const atomic_bool *cancelled)
{
    sl_errors err = {.count = 0};
    const sl_hub_subject subject = subject_of(ticket);
    const sl_code code =
        sl_hub_fetch(worker, &subject, cancelled, ticket->arena, &ticket->model.config, &err);
    if (code == SL_OK)
        fetch_rest(worker, ticket, cancelled);
    end(ticket, code, &err);
    count_ended(worker->hub, ticket, true);
}

static void
lock(const sl_hub *hub)
{
    const int failed = pthread_mutex_lock(&hub->state->flights_lock);
    assert(failed == 0);
}

static void
unlock(const sl_hub *hub)
{
    const int failed = pthread_mutex_unlock(&hub->state->flights_lock);
    assert(failed == 0);
}

/* The ticket whose fetch this one would repeat. Under the lock; there are no more leaders than
 * threads that fetch. */
static sl_hub_ticket *
find_leader(const sl_hub *hub, const sl_hub_ticket *ticket)
{
    sl_hub_ticket *at = hub->state->leaders;
    while (at != NULL && !(sl_text_equal(at->repository, ticket->repository) &&
                           sl_text_equal(at->revision, ticket->revision)))
        at = at->next;
    return at;
}

/* A copy in the follower's own arena. False without memory. */
static bool
copy_file(const sl_hub_file *from, sl_arena *arena, sl_hub_file *to)
{
    *to = *from;
    if (from->text != NULL)
        to->text = sl_arena_copy_bytes(arena, from->text, from->size);
    return from->text == NULL || to->text != NULL;
}

/* The follower's thread is asleep or elsewhere: until it is woken the ticket is ours. */
static void
share(const sl_hub *hub, const sl_hub_ticket *leader, sl_hub_ticket *follower)
{
    follower->code = leader->code;
    follower->failure = leader->failure;
    follower->model.info = leader->model.info;
    follower->model.quantization_missing = leader->model.quantization_missing;
    if (leader->code != SL_OK) {
        (void)sl_text_copy(follower->failure.pointer, sizeof follower->failure.pointer,
                           follower->pointer);
    } else if (!copy_file(&leader->model.config, follower->arena, &follower->model.config) ||
               !copy_file(&leader->model.quantization, follower->arena,
                          &follower->model.quantization)) {
        sl_errors err = {.count = 0};
        follower->code = sl_fail(&err, SL_E_MEMORY, "out_of_memory", follower->pointer,
                                 "no memory was left to fetch %.96s", follower->repository);
        follower->failure = err.list[0];
    }
    follower->done = true;
    count(hub, SL_HUB_RESULT_SHARED);
}

/* Ends the fetch and wakes who waited for it. Of a request that was cancelled they learn nothing:
 * one of them will lead the next. */
static void
land(const sl_hub *hub, sl_hub_ticket *leader, bool cancelled)
{
    lock(hub);
    sl_hub_ticket **at = &hub->state->leaders;
    while (*at != leader)
        at = &(*at)->next;
    *at = leader->next;
    sl_hub_ticket *followers = leader->followers;
    leader->followers = NULL;
    unlock(hub);

    while (followers != NULL) {
        sl_hub_ticket *const follower = followers;
        followers = follower->next;
        if (!cancelled)
            share(hub, leader, follower);
        follower->wake(follower->context);
    }
}

bool
sl_hub_model_fetch(sl_hub_worker *worker, sl_hub_ticket *ticket, const atomic_bool *cancelled)
{
    assert(worker != NULL && ticket != NULL && cancelled != NULL && !ticket->done);

    const sl_hub *const hub = worker->hub;
    lock(hub);
    const bool leads = find_leader(hub, ticket) == NULL;
    if (leads) {
        ticket->followers = NULL;
        ticket->follower_count = 0;
        ticket->next = hub->state->leaders;
        hub->state->leaders = ticket;
    }
    unlock(hub);
    if (leads) {
        fetch(worker, ticket, cancelled);
        land(hub, ticket, atomic_load(cancelled));
    }
    return leads;
}

static void
end_busy(const sl_hub *hub, sl_hub_ticket *ticket)
{
    sl_errors err = {.count = 0};
    const sl_code code =
        sl_fail(&err, SL_E_UNAVAILABLE, "busy", ticket->pointer,
                "%d requests wait for %.96s already", SL_HUB_FOLLOWERS_MAX, ticket->repository);
    end(ticket, code, &err);
    count(hub, SL_HUB_RESULT_FAILED);
}

bool
sl_hub_model_wait(const sl_hub *hub, sl_hub_ticket *ticket, void (*wake)(void *context),
                  void *context)
{
    assert(hub != NULL && ticket != NULL && wake != NULL);

    lock(hub);
    sl_hub_ticket *const leader = find_leader(hub, ticket);
    const bool full = leader != NULL && leader->follower_count == SL_HUB_FOLLOWERS_MAX;
    const bool waits = leader != NULL && !full;
    if (waits) {
        ticket->wake = wake;
        ticket->context = context;
        ticket->next = leader->followers;
        leader->followers = ticket;
        leader->follower_count++;
    }
    unlock(hub);
    if (full)
        end_busy(hub, ticket);
    return waits;
}
