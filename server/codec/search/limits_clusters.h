/**
 * Which cluster for a model: the smallest, the cheapest and the fastest of those that a request
 * lists and of node types of the catalogue. Each is searched on its own, through the requests that
 * searches take:
 *
 *   sl_candidates_read    the request becomes documents of searches, of as many clusters each as
 *                         one takes
 *   sl_candidate_name     one cluster of a document that was decoded
 *   sl_candidate_aim      what is looked for there, as a search
 *   sl_candidate_keep     what came of that search
 *   sl_candidates_write   the answer
 */
#ifndef SL_CODEC_LIMITS_CLUSTERS_H
#define SL_CODEC_LIMITS_CLUSTERS_H

#include "codec/question/currency.h"
#include "codec/search/search.h"

enum {
    SL_CANDIDATES_MAX = 128,
    SL_CANDIDATE_DOCUMENTS_MAX = SL_CANDIDATES_MAX / SL_SEARCH_CLUSTERS_MAX,
    SL_CANDIDATE_NODES_DEFAULT = 16,
    SL_CANDIDATE_NODES_MAX = 512
};

/** What is looked for among the plans on one cluster. */
typedef enum sl_aim {
    SL_AIM_SMALLEST, /* the fewest accelerators; of these the fastest */
    SL_AIM_FASTEST,
    SL_AIM_CHEAPEST, /* to train all tokens */
    SL_AIM_COUNT
} sl_aim;

/** The request as documents of searches, texts in the arena. */
typedef struct sl_candidates_asked {
    uint32_t document_count;
    const char *documents[SL_CANDIDATE_DOCUMENTS_MAX];
    double time_limit_s; /* of all searches together */
} sl_candidates_asked;

/** What one aim found on one cluster. */
typedef struct sl_candidate_plan {
    uint64_t
        looked_to; /* accelerators: where the rounds of the smallest have come to; 0: no rounds */
    bool searched; /* to its end */
    const char *missing; /* why it was not: "price", "tokens", "time"; static */
    bool found;
    sl_search_point point;
    const char *plan;    /* JSON, in the arena; NULL: none */
    const char *nothing; /* why none was found, a sentence in the arena */
} sl_candidate_plan;

typedef struct sl_candidate {
    const char *name; /* in the arena, as the next */
    const char *said; /* the cluster as a request has it, JSON */
    const sl_cluster *cluster;
    const sl_estimate_request *request;
    sl_candidate_plan of[SL_AIM_COUNT];
} sl_candidate;

typedef struct sl_candidates {
    uint32_t count;
    sl_candidate list[SL_CANDIDATES_MAX];
    uint64_t evaluated; /* plans, of all searches */
    uint32_t searches;
} sl_candidates;

/**
 * Reads what is about candidates: "clusters", "node_types" (names, or "all") of 1 to "max_nodes"
 * nodes, and leaves the rest to sl_search_read. Rules: required_field without any, wrong_type,
 * out_of_range, unknown_field, unknown_node_type, unknown_accelerator for a type whose part the
 * catalogue does not have ("all" leaves these out).
 */
sl_code sl_candidates_read(const sl_node *root, const sl_catalog *catalog, sl_arena *arena,
                           sl_errors *warnings, sl_candidates_asked *out,
                           sl_errors *err) SL_MUST_CHECK;

/** Fills *out, zero before, with cluster `index` of a decoded document. SL_E_MEMORY. */
sl_code sl_candidate_name(const sl_search_asked *asked, uint32_t index, sl_arena *arena,
                          sl_candidate *out, sl_errors *err) SL_MUST_CHECK;

/**
 * The search for one aim on cluster `index` of a decoded document, of any number of nodes where
 * `space`, the request's own, does not say which; false where the aim needs what was not given, and
 * *plan says so. The smallest is looked for in rounds of sizes that double: it is found in the
 * first that has a plan.
 */
bool sl_candidate_aim(sl_search_asked *asked, const sl_space *space, uint32_t index, sl_aim aim,
                      sl_candidate_plan *plan);

/** Whether another round is to come for that aim. */
bool sl_candidate_goes_on(const sl_search_asked *asked, uint32_t index, sl_aim aim,
                          const sl_candidate_plan *plan);

/** What a search that ended found; texts in the arena. SL_E_MEMORY. */
sl_code sl_candidate_keep(const sl_search_document *document, uint32_t index, sl_arena *arena,
                          sl_candidate_plan *plan, sl_errors *err) SL_MUST_CHECK;

/** Those of the cheapest plans: where they differ, none is the cheapest of all. */
sl_currencies sl_candidates_currencies(const sl_candidates *candidates);

/** Those of all that have a price, whatever was found. */
sl_currencies sl_candidates_prices(const sl_candidates *candidates);

/** Everything an answer is written from; all borrowed. */
typedef struct sl_candidates_document {
    const sl_candidates *candidates;
    double elapsed_s;
    sl_answer_about about;
} sl_candidates_document;

void sl_candidates_write(sl_writer *writer, const sl_candidates_document *document);

#endif
