/**
 * The JSON of a search. As an estimate's, a request becomes questions in steps, because its parts
 * come from several places:
 *
 *   sl_search_read      the document alone: an estimate request for each of its clusters
 *   sl_search_pool      + the spec of a stored inventory, for each cluster that names one
 *   sl_search_decode    + the model: what sl_search_prepare takes
 *
 * and what comes of them an answer:
 *
 *   sl_progress_write   while it runs
 *   sl_search_write     when it ended
 */
#ifndef SL_CODEC_SEARCH_H
#define SL_CODEC_SEARCH_H

#include "base/arena.h"
#include "codec/answer/answer.h"
#include "codec/question/currency.h"
#include "codec/question/question.h"
#include "engine/search/search_relax.h"
#include "engine/search/search_review.h"
#include "shardline/search.h"
#include "json/writer.h"

enum { SL_SEARCH_TIME_LIMIT_DEFAULT_S = 30, SL_SEARCH_TIME_LIMIT_MAX_S = 300 };

/** A plan that the request wants to be held against the best. */
typedef struct sl_search_why {
    bool asked;
    uint32_t cluster; /* index */
    sl_json *json;    /* the request with that plan, owned */
    sl_estimate_request *request;
    sl_question question;
    sl_errors refused; /* by a rule: no fault of the request, but the answer to it */
} sl_search_why;

/** A request as read. In an arena, borrowing from its document; cleared before both go. */
typedef struct sl_search_asked {
    sl_node root;
    sl_node list; /* "clusters"; value NULL where the request has one "cluster" */
    sl_node entries[SL_SEARCH_CLUSTERS_MAX];
    uint32_t cluster_count;
    sl_estimate_request *of[SL_SEARCH_CLUSTERS_MAX]; /* all alike but for cluster and notes */
    double time_limit_s;
    bool neighbours;
    bool simulate;
    sl_search_why why;
    /* From sl_search_decode on. */
    sl_question questions[SL_SEARCH_CLUSTERS_MAX];
    sl_search_request request;
} sl_search_asked;

/**
 * Reads everything that needs neither model nor inventory; all faults are collected, each once.
 * *out is in the arena, and is what could be read even where SL_OK is not the answer; NULL:
 * SL_E_MEMORY.
 * warnings   NULL, or where unknown fields go instead of being errors
 * Rules: those of sl_estimate_request_read, and at the members of a search required_field,
 * wrong_type, out_of_range, unknown_field, unknown_value, conflicting_fields, not_modelled.
 */
sl_code sl_search_read(const sl_node *root, const sl_catalog *catalog, sl_arena *arena,
                       sl_errors *warnings, sl_search_asked **out, sl_errors *err) SL_MUST_CHECK;

/** What of[index] needs of its inventory: sl_estimate_request_pool, its faults at the cluster's
 * place. hosts: NULL where nobody observed them. */
sl_code sl_search_pool(sl_search_asked *asked, uint32_t index, const struct sl_host_status *hosts,
                       const char *spec, size_t size, const sl_catalog *catalog,
                       sl_errors *err) SL_MUST_CHECK;

/** Questions about `model`, which became the requests' (sl_estimate_request_model) before:
 * asked->request is what sl_search_prepare takes. Needs the cluster of every request. */
sl_code sl_search_decode(sl_search_asked *asked, const sl_model *model,
                         sl_errors *err) SL_MUST_CHECK;

/**
 * Of a decoded request whose clusters are priced in several currencies: SL_E_RANGE, rule
 * currencies_differ, where costs decide which plan is better; else costs are left out, with a
 * warning, since the front compares them.
 */
sl_code sl_search_settle_currencies(sl_search_asked *asked, sl_errors *err) SL_MUST_CHECK;

/** The same refusal where a budget is held against each of the prices of `found` on its own. */
sl_code sl_search_check_budget(const sl_search_asked *asked, const sl_currencies *found,
                               sl_errors *err) SL_MUST_CHECK;

/** What a review of the plans found is to say. */
sl_review_wish sl_search_wish(const sl_search_asked *asked);

/** Whether it is to be said what would give a search of that outcome an answer: where none of its
 * plans is legal or has room, for what misses a constraint says by how much. */
bool sl_search_is_relaxed(const sl_search_asked *asked, const sl_search_outcome *outcome);

/** As sl_estimate_request_hash, over the specs of all inventories. */
sl_code sl_search_hash(const sl_search_asked *asked, const char *model_revision,
                       const char *engine_version, const sl_catalog *catalog,
                       char out[SL_HASH_TEXT_SIZE], sl_errors *err) SL_MUST_CHECK;

/** NULL is fine. */
void sl_search_asked_clear(sl_search_asked *asked);

typedef enum sl_search_state {
    SL_SEARCH_RUNNING,
    SL_SEARCH_DONE,
    SL_SEARCH_DEADLINE, /* time_limit_s was over: the answer is what was found until then */
    SL_SEARCH_CANCELLED,
    SL_SEARCH_STATES
} sl_search_state;

/** Everything an answer is written from; all borrowed. */
typedef struct sl_search_document {
    const sl_search_asked *asked;
    const sl_search *search;
    const sl_search_outcome *outcome;
    const sl_search_review *review;   /* finished; NULL in progress events */
    const sl_search_relax *relax;     /* likewise; from NULL: nothing was to be relaxed */
    const sl_search_outcome *relaxed; /* of the last search of that */
    sl_search_state state;
    double elapsed_s;
    sl_answer_about about;
} sl_search_document;

/** The answer, as one object. */
void sl_search_write(sl_writer *writer, const sl_search_document *document);

/** One event of progress, as one object: counts, the best so far and the front so far in few
 * members each. Needs asked, search, outcome, state and elapsed_s. */
void sl_progress_write(sl_writer *writer, const sl_search_document *document);

#endif
