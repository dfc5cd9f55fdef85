/**
 * A search that runs: its units, those of what would give it an answer where it finds none, and
 * those of the review of what they found, as pieces of a crew's work. What comes of it depends on
 * neither the number of threads nor their order: the units of a round see what earlier rounds
 * found, and are merged by number when all are done.
 */
#ifndef SL_API_SEARCH_RUN_H
#define SL_API_SEARCH_RUN_H

#include <stdatomic.h>

#include "api/app.h"
#include "base/crew.h"
#include "codec/search/search.h"

/** What became of a plan that was thought of. */
typedef enum sl_candidate_result {
    SL_CANDIDATE_FEASIBLE,
    SL_CANDIDATE_INFEASIBLE, /* worked out, and no answer */
    SL_CANDIDATE_PRUNED,     /* left out, as a bound proves that it does not matter */
    SL_CANDIDATE_REFUSED,    /* a rule forbids it */
    SL_CANDIDATE_RESULTS
} sl_candidate_result;

/** All searches of the process. */
struct sl_searches {
    sl_crew *crew;
    atomic_uint_fast64_t candidates[SL_CANDIDATE_RESULTS];
    atomic_uint_fast64_t ended[SL_SEARCH_STATES]; /* by the state that they ended in */
    atomic_uint_fast64_t kept_answers;            /* given without a search */
};

/** NULL without memory or threads. */
sl_searches *sl_searches_start(uint32_t threads) SL_MUST_CHECK;
void sl_searches_stop(sl_searches *searches); /* no search is left; NULL is fine */

typedef struct sl_search_run sl_search_run;

/** Now and then while it runs, on one thread at a time. What it reads of the run is told below. */
typedef void (*sl_search_watcher)(void *context, const sl_search_run *run);

typedef struct sl_search_task {
    sl_searches *searches;
    sl_search_asked *asked; /* decoded; outlives the run */
    bool relaxes;           /* without an answer, what would give one is sought too */
    const atomic_bool *cancelled;
    sl_search_watcher watcher; /* NULL: nobody wants to know */
    void *context;
} sl_search_task;

/** Prepares it. Errors are those of sl_search_prepare, and SL_E_MEMORY. */
sl_code sl_search_run_new(const sl_search_task *task, sl_search_run **out,
                          sl_errors *err) SL_MUST_CHECK;
void sl_search_run_free(sl_search_run *run); /* not begun, or over; NULL is fine */

/** SL_E_UNAVAILABLE, rule busy, when as many searches wait as may. */
sl_code sl_search_run_begin(sl_search_run *run, sl_errors *err) SL_MUST_CHECK;

/** An sl_park: wakes when it is over. Once over it may be freed. */
bool sl_search_run_wait(void *run, void (*wake)(void *context), void *context);

/** Fills search, outcome, review, relax, state and elapsed_s: for a watcher what was found so far,
 * without a review; when it is over, what it came to. */
void sl_search_run_document(const sl_search_run *run, sl_search_document *document);

/** Time from its first piece to its end, without that for which it waited behind others. It is
 * over. */
double sl_search_run_worked_s(const sl_search_run *run);

#endif
