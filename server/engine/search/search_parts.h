/** Parts of a search, in files of their own: its space, its ranking, its units. */
#ifndef SL_ENGINE_SEARCH_PARTS_H
#define SL_ENGINE_SEARCH_PARTS_H

#include "engine/answer/evaluate.h"
#include "shardline/search.h"

struct sl_search {
    const sl_search_request *request;
    sl_space space;
    bool tensor_listed; /* by the request: it may then leave the scale-up domain */
    uint32_t unit_count;
    uint32_t stride;                                 /* between units that follow one another */
    uint32_t per_size;                               /* units of one size of one cluster */
    uint32_t first_size[SL_SEARCH_CLUSTERS_MAX + 1]; /* sizes of the clusters before each */
    uint32_t sizes[SL_SEARCH_CLUSTERS_MAX][SL_SEARCH_SIZES_MAX];
    sl_combination
        facts[SL_SEARCH_CLUSTERS_MAX]; /* release, attention and dropout on each cluster */
};

/** The values of one unit's dimensions, and its number in the order of the space. */
typedef struct sl_search_place {
    uint32_t number;
    uint32_t cluster;
    uint64_t value[SL_SEARCH_UNIT_DIMENSIONS];
} sl_search_place;

/** Units are visited in strides, so that the first rounds see all of the space. */
sl_search_place sl_search_place_of(const sl_search *search, uint32_t unit);

/** The cluster with so many of its accelerators: whole nodes, or a part of one, which has a part of
 * the node's cards and memory and is paid as all of it: nodes are let whole. */
void sl_search_shrink(const sl_cluster *whole, uint32_t accelerators, sl_cluster *out);

/** Fills dimensions without values with all that can be legal, as sl_search_prepare says. */
void sl_search_open(const sl_search_request *request, sl_space *space);

/** Sizes of a cluster, up to all of it: of one node what a job can have of it, powers of two, then
 * whole nodes. Pools go as they are. */
uint64_t sl_search_first_size(const sl_cluster *cluster);
uint64_t sl_search_next_size(const sl_cluster *cluster, uint64_t size);

/** The question with the values of a point, but for the layout of a balanced one. */
void sl_search_apply(const sl_search *search, uint32_t cluster,
                     const uint64_t value[SL_DIMENSION_COUNT], sl_workload *workload,
                     sl_plan *plan);

/** Bytes that the constraint wants left over of the usable ones. */
static inline double
sl_search_asked_bytes(const sl_search_request *request, double usable_bytes)
{
    return request->constraints.headroom_ratio * usable_bytes;
}

/** What stands among the reasons for plans whose devices have the memory they need and whose nodes do
 * not. */
extern const char sl_search_lacks_host_memory[];

/** Whether a comes before b by the objective; ties go to the faster, the smaller, the first. */
bool sl_search_is_better(sl_objective objective, const sl_search_point *a,
                         const sl_search_point *b);

/** The first constraint but those of memory that a plan breaks, and by how much; NULL: it keeps
 * them all. A run that never ends keeps no deadline. tokens: of the whole training, 0 = none
 * given. */
const char *sl_search_broken(const sl_search_request *request, uint64_t tokens,
                             const sl_search_point *point, double *miss);

/**
 * What no plan can keep, before any is tried: a step, a rate or a deadline beyond the datasheet
 * peak of every size of every cluster, at /constraints with the nearest value that is not:
 * out_of_reach.
 *   tokens_per_s <= accelerators x peak_flops_per_s / causal FLOPs of a token
 */
sl_code sl_search_check_reach(const sl_search *search, sl_errors *err) SL_MUST_CHECK;

/** Whether a is as good as b in rate, headroom, accelerators and cost; of equals the first is
 * better. */
bool sl_search_dominates(const sl_search_point *a, const sl_search_point *b);

/** Whether a plan no better than `bound` is sure to be neither among the best nor on the front. */
bool sl_search_is_hopeless(const sl_search_request *request, const sl_search_outcome *known,
                           const sl_search_point *bound);

/** An answer found. */
void sl_search_keep(const sl_search_request *request, const sl_search_point *point,
                    sl_search_outcome *out);

/** Plans that are none. least: by how little the nearest of them, which `nearest` is or NULL,
 * misses. */
void sl_search_refuse(const char *rule, const char *pointer, uint64_t count, double least,
                      const sl_search_point *nearest, sl_search_outcome *out);

#endif
