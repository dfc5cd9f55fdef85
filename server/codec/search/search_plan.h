/** Plans of a search: in the words of a request, with what they come to. */
#ifndef SL_CODEC_SEARCH_PLAN_H
#define SL_CODEC_SEARCH_PLAN_H

#include "codec/search/search.h"

/**
 * A plan as one object with always the same members. "parallelism", "workload" and "cluster",
 * merged into the request (with the cluster of that index as its cluster), are the estimate request
 * that it answers. plan: what the review found of it, with its rank; NULL: nothing.
 */
void sl_search_plan_write(sl_writer *writer, const sl_search_document *document,
                          const sl_search_point *point, const sl_review_plan *plan, uint32_t rank);

/** Its members but for what names cluster and rank: sizes, what is merged, and figures. request:
 * the one with the cluster that the plan is on. */
void sl_search_plan_members_write(sl_writer *writer, const sl_estimate_request *request,
                                  const sl_search *search, const sl_search_point *point);

/** The same in few members, for events. */
void sl_search_glimpse_write(sl_writer *writer, const sl_search_point *point);

/** Members that say what a plan comes to. Of one that does not fit nothing but bytes is known: its
 * step is 0, which is written as null. */
void sl_search_figures_write(sl_writer *writer, const sl_search_point *point);

/** What the request called the cluster: its inventory and pool, node type or accelerator. */
void sl_search_cluster_say(const sl_search_asked *asked, uint32_t index, char *out, size_t size);

/** Which plan it is, for those who hold several lists side by side. */
void sl_search_put_id(sl_writer *writer, const char *key, const sl_search_point *point);

#endif
