/** Parts of a review, in files of their own. */
#ifndef SL_ENGINE_SEARCH_REVIEW_PARTS_H
#define SL_ENGINE_SEARCH_REVIEW_PARTS_H

#include <stdalign.h>
#include <stddef.h>

#include "engine/search/search_parts.h"
#include "engine/search/search_review.h"

/** The scratch of one thread. */
typedef struct sl_review_room {
    sl_estimate estimate, spare;
    sl_cluster cluster;
    sl_question question; /* the plan at hand */
    sl_priced priced;
    sl_holdings holdings;
    alignas(max_align_t) unsigned char timeline[SL_REVIEW_TIMELINE_BYTES];
} sl_review_room;

/** A legal plan without open fields: r->estimate, explained, and the figures of *point. False where
 * no device could hold it. */
bool sl_review_evaluate(const sl_search_request *request, const sl_question *question,
                        sl_review_room *r, sl_search_point *point) SL_MUST_CHECK;

/** Which constraint a plan that fits breaks, those of size and memory first, and by how much; NULL:
 * none. */
const char *sl_review_broken(const sl_search_request *request, uint64_t tokens,
                             const sl_search_point *point, double *miss);

/** Both in that dimension. */
void sl_review_neighbours(sl_search_review *review, sl_dimension dimension, sl_review_room *r);

#endif
