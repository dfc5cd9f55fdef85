#include "api/search_run.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"

enum { RUNNING_MAX = 4, WAITING_MAX = 16, RETRY_AFTER_S = 10 };

typedef enum stage { SEARCHING, RELAXING, REVIEWING, OVER } stage;

struct sl_search_run {
    sl_crew_work work; /* first: the crew knows the run by it */
    sl_search_task task;
    void *space;
    const sl_search *search;
    sl_search_outcome *parts; /* of a round */
    sl_search_outcome *shown; /* the watcher's copy of the next */
    sl_search_outcome *outcome;
    sl_search_review *review;
    void *relaxed_space;
    sl_search_outcome *relaxed; /* of the search at hand while it is relaxing */
    sl_search_relax *relax;
    double asked_s;

    pthread_mutex_t lock; /* of all below, while it is not over */
    stage stage;
    sl_search_state state;
    uint32_t unit_count; /* of the stage, like the next four */
    uint32_t first;      /* of the round */
    uint32_t end;        /* of the round, which shrinks when the time is over */
    uint32_t next;       /* nobody took yet */
    uint32_t done;       /* of the round */
    double began_s;      /* 0: no piece was done yet */
    double until_s;      /* from then on */
    bool is_late;        /* while relaxing: what was searched was searched to its end before */
    double elapsed_s;
    double worked_s;
    void (*wake)(void *context); /* NULL: nobody waits yet */
    void *context;
    bool ended;
};

static void
lock(sl_search_run *run)
{
    const int failed = pthread_mutex_lock(&run->lock);
    assert(failed == 0);
}

static void
unlock(sl_search_run *run)
{
    const int failed = pthread_mutex_unlock(&run->lock);
    assert(failed == 0);
}

static uint32_t
least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static void
begin_round(sl_search_run *run, uint32_t size)
{
    run->first = run->end;
    run->end = run->first + least(size, run->unit_count - run->first);
    run->next = run->first;
    run->done = 0;
}

/* Units from the first of a search on. */
static void
begin_units(sl_search_run *run, stage at, uint32_t units, uint32_t round)
{
    run->stage = at;
    run->unit_count = units;
    run->end = 0;
    begin_round(run, round);
}

static void
begin_review(sl_search_run *run)
{
    const sl_review_wish wish = sl_search_wish(run->task.asked);

    sl_review_begin(run->search, run->outcome, &wish, run->review);
    begin_units(run, REVIEWING, run->review->unit_count, run->review->unit_count);
}

static void
begin_relaxed(sl_search_run *run)
{
    sl_search_begin(run->relaxed);
    begin_units(run, RELAXING, sl_search_unit_count(run->relax->search), SL_SEARCH_ROUND_UNITS);
}

static void
count_candidates(const sl_search_outcome *of, uint64_t out[SL_CANDIDATE_RESULTS])
{
    out[SL_CANDIDATE_FEASIBLE] = of->feasible;
    out[SL_CANDIDATE_INFEASIBLE] = of->evaluated - of->feasible;
    out[SL_CANDIDATE_PRUNED] = of->pruned;
    out[SL_CANDIDATE_REFUSED] = of->refused;
}

static void
merge_round(sl_search_run *run, const sl_search *search, sl_search_outcome *into)
{
    uint64_t before[SL_CANDIDATE_RESULTS];
    uint64_t after[SL_CANDIDATE_RESULTS];

    count_candidates(into, before);
    for (uint32_t i = 0; i < run->end - run->first; i++)
        sl_search_merge(search, &run->parts[i], into);
    count_candidates(into, after);
    for (uint32_t i = 0; i < SL_CANDIDATE_RESULTS; i++)
        (void)atomic_fetch_add(&run->task.searches->candidates[i], after[i] - before[i]);
}

/* What a search that ended leads to. */
static void
end_search(sl_search_run *run)
{
    if (run->state == SL_SEARCH_CANCELLED)
        run->stage = OVER;
    else if (run->task.relaxes && run->state == SL_SEARCH_RUNNING &&
             sl_search_is_relaxed(run->task.asked, run->outcome) &&
             sl_relax_begin(run->search, run->relaxed_space, run->relax))
        begin_relaxed(run);
    else
        begin_review(run);
}

static void
end_relaxed(sl_search_run *run)
{
    if (run->state == SL_SEARCH_CANCELLED)
        run->stage = OVER;
    else if (!run->is_late && sl_relax_next(run->relax, run->relaxed))
        begin_relaxed(run);
    else
        begin_review(run);
}

/* All units that were taken are done: what comes next. Under the lock. */
static void
advance(sl_search_run *run)
{
    const bool goes_on =
        run->state == SL_SEARCH_RUNNING && !run->is_late && run->end < run->unit_count;

    if (run->stage == SEARCHING) {
        merge_round(run, run->search, run->outcome);
        if (goes_on)
            begin_round(run, SL_SEARCH_ROUND_UNITS);
        else
            end_search(run);
    } else if (run->stage == RELAXING) {
        merge_round(run, run->relax->search, run->relaxed);
        if (goes_on && run->relaxed->best_count == 0)
            begin_round(run, SL_SEARCH_ROUND_UNITS);
        else
            end_relaxed(run);
    }
    if (run->stage != REVIEWING || run->done < run->end - run->first)
        return;
    if (run->state != SL_SEARCH_CANCELLED)
        sl_review_finish(run->review);
    if (run->state == SL_SEARCH_RUNNING)
        run->state = SL_SEARCH_DONE;
    run->stage = OVER;
}

/* Looks whether it is to go on; if not, no unit is begun any more. Under the lock. */
static void
check_time(sl_search_run *run)
{
    const double now_s = sl_clock_now_s();

    if (run->began_s == 0) {
        run->began_s = now_s;
        run->until_s = now_s + run->task.asked->time_limit_s;
    }
    if (run->state == SL_SEARCH_CANCELLED || run->stage == OVER)
        return;
    if (atomic_load(run->task.cancelled))
        run->state = SL_SEARCH_CANCELLED;
    else if (run->stage == SEARCHING && run->state == SL_SEARCH_RUNNING && now_s >= run->until_s)
        run->state = SL_SEARCH_DEADLINE;
    else if (run->stage == RELAXING && !run->is_late && now_s >= run->until_s)
        run->is_late = true;
    else
        return;
    run->end = run->next;
    if (run->done == run->end - run->first)
        advance(run);
}

static sl_crew_step
piece(sl_crew_work *work, void *scratch)
{
    sl_search_run *const run = (sl_search_run *)work;

    lock(run);
    check_time(run);
    const stage at = run->stage;
    const bool taken = at != OVER && run->next < run->end;
    const uint32_t unit = run->next;
    if (taken)
        run->next++;
    sl_search_outcome *const part = &run->parts[taken && at != REVIEWING ? unit - run->first : 0];
    unlock(run);
    if (!taken)
        return at == OVER ? SL_CREW_OVER : SL_CREW_NOTHING;

    /* Nothing is merged, and no review begun, while a unit is out: both are read without the
     * lock. */
    if (at == SEARCHING)
        sl_search_unit(run->search, unit, run->outcome, scratch, part);
    else if (at == RELAXING)
        sl_search_unit(run->relax->search, unit, run->relaxed, scratch, part);
    else
        sl_review_unit(run->review, unit, scratch);

    lock(run);
    run->done++;
    if (run->done == run->end - run->first)
        advance(run);
    const bool over = run->stage == OVER;
    unlock(run);
    return over ? SL_CREW_OVER : SL_CREW_WORKED;
}

static bool
tick(sl_crew_work *work, bool runs)
{
    sl_search_run *const run = (sl_search_run *)work;

    (void)runs;
    if (atomic_load(run->task.cancelled))
        return false;
    if (run->task.watcher == NULL)
        return true;
    lock(run);
    *run->shown = *run->outcome;
    unlock(run);
    run->task.watcher(run->task.context, run);
    return true;
}

/* The last that the crew does with it. */
static void
ended(sl_crew_work *work)
{
    sl_search_run *const run = (sl_search_run *)work;

    lock(run);
    if (run->stage != OVER) {
        assert(atomic_load(run->task.cancelled));
        run->state = SL_SEARCH_CANCELLED;
        run->stage = OVER;
    }
    (void)atomic_fetch_add(&run->task.searches->ended[run->state], 1);
    const double now_s = sl_clock_now_s();
    run->elapsed_s = now_s - run->asked_s;
    run->worked_s = run->began_s > 0 ? now_s - run->began_s : 0;
    run->ended = true;
    void (*const wake)(void *context) = run->wake;
    void *const context = run->context;
    unlock(run);
    /* From here on somebody else may free it. */
    if (wake != NULL)
        wake(context);
}

bool
sl_search_run_wait(void *argument, void (*wake)(void *context), void *context)
{
    sl_search_run *const run = argument;

    lock(run);
    const bool waits = !run->ended;
    run->wake = waits ? wake : NULL;
    run->context = context;
    unlock(run);
    return waits;
}

static sl_code
allocate(sl_search_run *run, sl_errors *err)
{
    run->space = malloc(sl_search_bytes());
    run->parts = calloc(SL_SEARCH_ROUND_UNITS, sizeof *run->parts);
    run->shown = calloc(1, sizeof *run->shown);
    run->outcome = calloc(1, sizeof *run->outcome);
    run->review = calloc(1, sizeof *run->review);
    run->relaxed_space = malloc(sl_search_bytes());
    run->relaxed = calloc(1, sizeof *run->relaxed);
    run->relax = calloc(1, sizeof *run->relax);
    if (run->space != NULL && run->parts != NULL && run->shown != NULL && run->outcome != NULL &&
        run->review != NULL && run->relaxed_space != NULL && run->relaxed != NULL &&
        run->relax != NULL)
        return SL_OK;
    return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory for the search");
}

sl_code
sl_search_run_new(const sl_search_task *task, sl_search_run **out, sl_errors *err)
{
    assert(task != NULL && task->searches != NULL && task->asked != NULL && out != NULL);

    sl_search_run *const run = calloc(1, sizeof *run);
    if (run == NULL)
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory for the search");
    if (pthread_mutex_init(&run->lock, NULL) != 0) {
        free(run);
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory for the search");
    }
    run->work = (sl_crew_work){.piece = piece, .tick = tick, .ended = ended};
    run->task = *task;
    run->asked_s = sl_clock_now_s();
    sl_code code = allocate(run, err);
    if (code == SL_OK)
        code = sl_search_prepare(&task->asked->request, run->space, &run->search, err);
    if (code != SL_OK) {
        sl_search_run_free(run);
        return code;
    }
    sl_search_begin(run->outcome);
    *run->shown = *run->outcome;
    run->unit_count = sl_search_unit_count(run->search);
    begin_round(run, SL_SEARCH_ROUND_UNITS);
    *out = run;
    return SL_OK;
}

void
sl_search_run_free(sl_search_run *run)
{
    if (run == NULL)
        return;
    (void)pthread_mutex_destroy(&run->lock);
    free(run->space);
    free(run->parts);
    free(run->shown);
    free(run->outcome);
    free(run->review);
    free(run->relaxed_space);
    free(run->relaxed);
    free(run->relax);
    free(run);
}

sl_code
sl_search_run_begin(sl_search_run *run, sl_errors *err)
{
    assert(run != NULL);
    if (sl_crew_add(run->task.searches->crew, &run->work))
        return SL_OK;
    (void)sl_fail(err, SL_E_UNAVAILABLE, "busy", "",
                  "%d searches run and %d wait: no more are taken", RUNNING_MAX, WAITING_MAX);
    sl_retry_after(err, RETRY_AFTER_S);
    return SL_E_UNAVAILABLE;
}

void
sl_search_run_document(const sl_search_run *run, sl_search_document *document)
{
    document->search = run->search;
    document->outcome = run->ended ? run->outcome : run->shown;
    document->review = run->ended ? run->review : NULL;
    document->relax = run->ended ? run->relax : NULL;
    document->relaxed = run->ended ? run->relaxed : NULL;
    document->state = run->ended ? run->state : SL_SEARCH_RUNNING;
    document->elapsed_s = run->ended ? run->elapsed_s : sl_clock_now_s() - run->asked_s;
}

double
sl_search_run_worked_s(const sl_search_run *run)
{
    assert(run != NULL && run->ended);
    return run->worked_s;
}

sl_searches *
sl_searches_start(uint32_t threads)
{
    const size_t unit_bytes = sl_search_scratch_bytes();
    const size_t review_bytes = sl_review_scratch_bytes();
    const sl_crew_config config = {
        .threads = threads,
        .scratch_bytes = unit_bytes > review_bytes ? unit_bytes : review_bytes,
        .running_max = RUNNING_MAX,
        .waiting_max = WAITING_MAX,
    };
    sl_searches *const searches = calloc(1, sizeof *searches);

    if (searches == NULL)
        return NULL;
    searches->crew = sl_crew_start(&config);
    if (searches->crew != NULL)
        return searches;
    free(searches);
    return NULL;
}

void
sl_searches_stop(sl_searches *searches)
{
    if (searches == NULL)
        return;
    sl_crew_stop(searches->crew);
    free(searches);
}
