#include "api/plan_keeper.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "api/inventories.h"
#include "api/plan_trial.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"

enum { PAGE = 16, NICENESS = 10 };

static const size_t ARENA_BYTES = (size_t)256 * 1024 * 1024;
static const double EVERY_S = 15;
static const double TRIAL_S = 30;

struct sl_plan_keeper {
    sl_app *app;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool stirred, woken; /* guarded by the mutex */
    atomic_bool stopping;
    sl_worker *workers[SL_LANE_COUNT]; /* the thread's own, one for each lane it plays */
    atomic_bool counted;
    atomic_uint_fast64_t counts[SL_PLAN_VERDICTS];
};

/* Called by whoever ends what a trial waits for. */
static void
wake(void *context)
{
    sl_plan_keeper *const keeper = context;
    (void)pthread_mutex_lock(&keeper->mutex);
    keeper->woken = true;
    (void)pthread_cond_broadcast(&keeper->changed);
    (void)pthread_mutex_unlock(&keeper->mutex);
}

/* Another request fetches what this trial needs; it ends within its own time limit. */
static void
wait_parked(sl_plan_keeper *keeper, const sl_response *response)
{
    keeper->woken = false;
    if (!response->park(response->park_argument, wake, keeper))
        return;
    (void)pthread_mutex_lock(&keeper->mutex);
    while (!keeper->woken)
        (void)pthread_cond_wait(&keeper->changed, &keeper->mutex);
    (void)pthread_mutex_unlock(&keeper->mutex);
}

/* Takes the trial through the lanes. */
static void
try_plan(sl_plan_keeper *keeper, sl_app *view, sl_plan_trial *trial, const sl_request *request)
{
    sl_response response;
    sl_lane lane = SL_LANE_COMPUTE;

    sl_response_init(&response);
    while (!sl_plan_trial_step(view, keeper->workers[lane], trial, request, &response, trial)) {
        lane = response.next_lane;
        if (response.park != NULL)
            wait_parked(keeper, &response);
        sl_response_clear(&response);
        sl_response_init(&response);
    }
    sl_response_clear(&response);
}

/* Unless somebody else did meanwhile. */
static sl_code
judge(sl_plan_keeper *keeper, sl_app *view, const char *slug, sl_arena *arena, sl_errors *err)
{
    const sl_request request = {.method = SL_POST,
                                .id = "plans",
                                .path = "",
                                .body = "",
                                .content_type = "application/json",
                                .accept = "",
                                .arena = arena,
                                .deadline_s = sl_clock_now_s() + TRIAL_S,
                                .cancelled = &keeper->stopping};
    sl_store *const store = keeper->workers[SL_LANE_STORE]->store;
    sl_errors unseen = {.count = 0};
    sl_plan_row row;
    sl_plan_document document;

    if (sl_plan_get(store, slug, view->software, arena, &row, &unseen) != SL_OK || row.current ||
        sl_plan_document_request(row.spec, arena, &document, &unseen) != SL_OK)
        return SL_OK;
    sl_plan_trial trial = {.request_text = document.request,
                           .basis = sl_plan_basis(view, &row, arena)};
    try_plan(keeper, view, &trial, &request);
    return sl_plan_trial_keep(store, &trial, &row, arena, err);
}

/* A page of the plans that wait; *after moves behind it. False: there is no more to do. */
static bool
judge_page(sl_plan_keeper *keeper, sl_app *view, char after[SL_SLUG_SIZE])
{
    const sl_plan_query query = {
        .after = after, .limit = PAGE, .verdict = sl_plan_verdict_names[SL_PLAN_PENDING]};
    sl_store *const store = keeper->workers[SL_LANE_STORE]->store;
    sl_arena *const arena = sl_arena_new(ARENA_BYTES);
    sl_errors err = {.count = 0};
    sl_plan_row *rows = NULL;
    uint32_t count = 0;
    bool more = false;

    sl_code code = arena == NULL ? SL_E_MEMORY
                                 : sl_plan_list(store, &query, view->software, arena, &rows, &count,
                                                &more, &err);
    for (uint32_t i = 0; i < count && code == SL_OK && !atomic_load(&keeper->stopping); i++) {
        sl_arena *const own = sl_arena_new(ARENA_BYTES);
        code = own == NULL ? SL_E_MEMORY : judge(keeper, view, rows[i].slug, own, &err);
        sl_arena_free(own);
    }
    if (code == SL_OK && count > 0)
        code = sl_text_copy(after, SL_SLUG_SIZE, rows[count - 1].slug) ? SL_OK : SL_E_INTERNAL;
    sl_arena_free(arena);
    return code == SL_OK && more && !atomic_load(&keeper->stopping);
}

static void
count_plans(sl_plan_keeper *keeper, const sl_app *view)
{
    uint64_t counts[SL_PLAN_VERDICTS];
    sl_errors err = {.count = 0};

    if (sl_plan_count(keeper->workers[SL_LANE_STORE]->store, NULL, view->software, counts, &err) !=
        SL_OK)
        return;
    for (uint32_t i = 0; i < SL_PLAN_VERDICTS; i++)
        atomic_store(&keeper->counts[i], counts[i]);
    atomic_store(&keeper->counted, true);
}

/* True: the thread goes on. */
static bool
wait_stirred(sl_plan_keeper *keeper)
{
    const struct timespec until = sl_clock_after(EVERY_S);
    int waited = 0;

    (void)pthread_mutex_lock(&keeper->mutex);
    while (!keeper->stirred && waited == 0 && !atomic_load(&keeper->stopping))
        waited = pthread_cond_timedwait(&keeper->changed, &keeper->mutex, &until);
    keeper->stirred = false;
    (void)pthread_mutex_unlock(&keeper->mutex);
    return !atomic_load(&keeper->stopping);
}

static void *
run(void *context)
{
    sl_plan_keeper *const keeper = context;

    (void)setpriority(PRIO_PROCESS, 0, NICENESS);
    while (wait_stirred(keeper)) {
        char after[SL_SLUG_SIZE] = "";
        /* Whoever uses the database first migrates it; there is nothing to do before that. */
        if (!atomic_load(&keeper->app->migrated))
            continue;
        /* One catalogue for the round. */
        sl_app *const view = sl_api_enter(keeper->app, keeper->workers[SL_LANE_COMPUTE], NULL);
        sl_inventories_judge(view, keeper->workers[SL_LANE_STORE]->store, &keeper->stopping);
        while (judge_page(keeper, view, after))
            continue;
        count_plans(keeper, view);
        sl_api_leave(keeper->app, keeper->workers[SL_LANE_COMPUTE]);
    }
    return NULL;
}

static bool
set_up(sl_plan_keeper *keeper)
{
    static const sl_lane lanes[] = {SL_LANE_COMPUTE, SL_LANE_STORE, SL_LANE_HUB};

    for (size_t i = 0; i < sizeof lanes / sizeof lanes[0]; i++) {
        keeper->workers[lanes[i]] = sl_worker_new(keeper->app, lanes[i]);
        if (keeper->workers[lanes[i]] == NULL)
            return false;
    }
    (void)pthread_mutex_init(&keeper->mutex, NULL);
    if (sl_clock_condition(&keeper->changed)) {
        if (pthread_create(&keeper->thread, NULL, run, keeper) == 0)
            return true;
        (void)pthread_cond_destroy(&keeper->changed);
    }
    (void)pthread_mutex_destroy(&keeper->mutex);
    return false;
}

static void
tear_down(sl_plan_keeper *keeper)
{
    for (uint32_t i = 0; i < SL_LANE_COUNT; i++)
        sl_worker_free(keeper->app, (sl_lane)i, keeper->workers[i]);
    free(keeper);
}

sl_plan_keeper *
sl_plan_keeper_start(sl_app *app)
{
    sl_plan_keeper *const keeper = calloc(1, sizeof *keeper);

    if (keeper == NULL)
        return NULL;
    keeper->app = app;
    atomic_init(&keeper->stopping, false);
    atomic_init(&keeper->counted, false);
    keeper->stirred = true;
    if (set_up(keeper))
        return keeper;
    sl_log(SL_LOG_ERROR, "saved plans are judged only when they are read", NULL, 0);
    tear_down(keeper);
    return NULL;
}

void
sl_plan_keeper_stop(sl_plan_keeper *keeper)
{
    if (keeper == NULL)
        return;
    atomic_store(&keeper->stopping, true);
    sl_plan_keeper_stir(keeper);
    (void)pthread_join(keeper->thread, NULL);
    (void)pthread_cond_destroy(&keeper->changed);
    (void)pthread_mutex_destroy(&keeper->mutex);
    tear_down(keeper);
}

void
sl_plan_keeper_stir(sl_plan_keeper *keeper)
{
    if (keeper == NULL)
        return;
    (void)pthread_mutex_lock(&keeper->mutex);
    keeper->stirred = true;
    (void)pthread_cond_broadcast(&keeper->changed);
    (void)pthread_mutex_unlock(&keeper->mutex);
}

bool
sl_plan_keeper_counts(const sl_plan_keeper *keeper, uint64_t counts[SL_PLAN_VERDICTS])
{
    if (keeper == NULL || !atomic_load(&keeper->counted))
        return false;
    for (uint32_t i = 0; i < SL_PLAN_VERDICTS; i++)
        counts[i] = atomic_load(&keeper->counts[i]);
    return true;
}
