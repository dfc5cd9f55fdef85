/**
 * What would give a search that found nothing an answer: of each thing that it holds fast (a
 * dimension whose values the request lists, the size of the cluster, the batch) the nearest other
 * value with which, all else as asked, a plan is one. Where no value of any one of them helps: a
 * set of listed dimensions that does when lifted together, and from which none can be taken back.
 * Batches tried are the multiples next to those asked for of each divisor of each cluster's largest
 * size, replicas those divisors. Pure and allocation-free; each value is a search of its own, whose
 * units run as those of any:
 *
 *   sl_relax_begin     the first
 *   sl_relax_next      when it found an answer, or ended without: the next
 */
#ifndef SL_ENGINE_SEARCH_RELAX_H
#define SL_ENGINE_SEARCH_RELAX_H

#include "shardline/search.h"

/** Units after which no more values are tried: a second or two. */
enum { SL_RELAX_UNITS_MAX = 1 << 14 };

/** point.value[dimension] in place of the values asked for. */
typedef struct sl_relaxation {
    sl_dimension dimension;
    double distance;       /* ratio of the two numbers, each plus 1: from the nearest asked for */
    sl_search_point point; /* the plan that it gives */
} sl_relaxation;

typedef struct sl_relaxed_value {
    uint64_t value;
    double distance; /* as above */
} sl_relaxed_value;

typedef struct sl_search_relax {
    const sl_search *from;     /* that found nothing */
    const sl_search *search;   /* at hand */
    sl_search_request request; /* of it */
    void *space;               /* that it lies in */
    uint32_t dimension;        /* whose values are tried: the nearest first, each once */
    uint32_t value_count;
    uint32_t at; /* the next of them */
    sl_relaxed_value values[SL_SEARCH_SIZES_MAX];
    uint32_t held;         /* bits 1 << sl_dimension: those that the request lists values of */
    uint32_t lifted;       /* of them, those that are open together */
    sl_search_point point; /* the plan of those */
    bool together;         /* what was found changes all at once */
    bool hopeless;  /* the search at hand has all that is listed lifted, and found nothing either */
    uint32_t units; /* gone through */
    bool complete;  /* every value was tried that had to be, and no bound cut that short */
    uint32_t count;
    sl_relaxation found[SL_DIMENSION_COUNT]; /* nearest first */
} sl_search_relax;

/** from found nothing; it and `space`, sl_search_bytes(), outlive *out. True: out->search is to be
 * run. */
bool sl_relax_begin(const sl_search *from, void *space, sl_search_relax *out) SL_MUST_CHECK;

/** found: what the search at hand came to, or its first answer. False: that is all. */
bool sl_relax_next(sl_search_relax *relax, const sl_search_outcome *found) SL_MUST_CHECK;

#endif
