/**
 * What people ask of the plans a search found: intervals, the order by simulation, what the
 * winner's neighbours are like, whether it stays the winner, and why another plan is not it. Pure
 * and allocation-free, in units that any thread may run, each on scratch of its own:
 *
 *   sl_review_begin     what there is to do
 *   sl_review_unit      each unit once, in any order
 *   sl_review_finish    ranks, when all are done
 *
 * The winner, throughout, is the best by the closed form: that is what terms are compared in.
 */
#ifndef SL_ENGINE_SEARCH_REVIEW_H
#define SL_ENGINE_SEARCH_REVIEW_H

#include "shardline/search.h"

enum {
    SL_REVIEW_NEIGHBOURS_MAX = 2 * SL_DIMENSION_COUNT,
    SL_REVIEW_RIVALS = 8, /* the winner and those that may take over */
    /* Scratch of a timeline; a longer one is not simulated: about 5 ms, and memory of every
     * thread. */
    SL_REVIEW_TIMELINE_BYTES = 8 << 20,
    SL_REVIEW_MEMORY_TERMS = SL_TERM_CONTEXT + 1
};

typedef enum sl_review_simulated {
    SL_REVIEW_NOT_ASKED,
    SL_REVIEW_SIMULATED,
    SL_REVIEW_TOO_LARGE,
    SL_REVIEW_REFUSED, /* no timeline is modelled for it */
    SL_REVIEW_SIMULATED_COUNT
} sl_review_simulated;

/** One of the best plans. */
typedef struct sl_review_plan {
    uint32_t point; /* index into the outcome's best: its rank by the closed form */
    double step_low_s, step_high_s;
    uint64_t reserved_low_bytes, reserved_high_bytes;
    bool fits_certain; /* as of an estimate */
    /* At the ends of the range of clocks, links and hosts alone, which all plans share; of the rivals. */
    double fast_step_s, slow_step_s;
    double spread_ratio; /* that published runs have around a prediction */
    sl_review_simulated simulated;
    double simulated_step_s; /* 0 = was not */
    const char *breaks;      /* the constraint that it breaks with that; NULL: none */
    double miss;             /* by how much */
    char refused[192];       /* why it was not simulated */
} sl_review_plan;

/** The winner with one dimension changed; replicas take what that leaves. */
typedef struct sl_review_neighbour {
    bool tried;
    sl_dimension dimension;
    uint64_t value;
    bool legal;
    sl_error refused;        /* where it is not */
    bool fits, fits_certain; /* else in what follows; as of an estimate */
    const char *breaks;      /* the constraint that it breaks, "max_step_s"; NULL: none */
    sl_search_point point;   /* its figures */
} sl_review_neighbour;

/** One side of a comparison, term by term. */
typedef struct sl_review_side {
    double time_s[SL_TIME_TERMS];                /* from SL_TERM_FORWARD on */
    double memory_bytes[SL_REVIEW_MEMORY_TERMS]; /* of the binding rank */
    sl_search_point point;                       /* its figures; values where it is in the space */
} sl_review_side;

/** A plan that is not the best. */
typedef struct sl_review_why {
    bool legal;
    sl_errors refused; /* where it is not */
    bool fits;
    const char *breaks; /* as above */
    double miss;        /* by how much */
    uint32_t outside;   /* bits 1 << sl_dimension: values that the space does not have */
    sl_review_side own; /* where it is legal */
    sl_review_side best;
    bool has_best;
} sl_review_why;

/** Winners are indices into the outcome's best. */
typedef struct sl_review_robustness {
    uint32_t compared;      /* plans, the winner among them; 0: nothing was found */
    uint32_t fast_winner;   /* where every clock is high and every link fast */
    uint32_t slow_winner;   /* where they are low and slow */
    double spread_ratio;    /* of the winner */
    uint32_t within_spread; /* of the shown plans, the winner among them */
} sl_review_robustness;

typedef struct sl_search_review {
    const sl_search *search;
    const sl_search_outcome *outcome;
    const sl_question *asked; /* why not this one; NULL: nobody asked, or a rule refuses it */
    uint32_t asked_cluster;
    bool wondered; /* somebody asked */
    bool simulate;
    uint32_t unit_count;
    uint32_t plan_count;
    sl_review_plan plans[SL_SEARCH_BEST_MAX]; /* by rank from sl_review_finish on */
    uint32_t neighbour_count;
    sl_review_neighbour neighbours[SL_REVIEW_NEIGHBOURS_MAX];
    sl_review_why why;
    sl_review_robustness robustness;
} sl_search_review;

/** What is wanted beside intervals and robustness. */
typedef struct sl_review_wish {
    bool simulate;
    bool neighbours;
    bool why;                 /* a plan is to be held against the best: */
    const sl_question *asked; /* it */
    uint32_t cluster;         /* of the search, that it is on */
    const sl_errors *refused; /* rules that refuse it; count 0: none */
} sl_review_wish;

/** The value of a dimension in a question; of a layout whether the plan has one of its own. */
uint64_t sl_review_value(const sl_question *question, sl_dimension dimension);

/** Of one thread, aligned for any type. */
size_t sl_review_scratch_bytes(void);

/** All but `out` are borrowed until the review is written. */
void sl_review_begin(const sl_search *search, const sl_search_outcome *outcome,
                     const sl_review_wish *wish, sl_search_review *out);

/** A few milliseconds, of the longest timeline some ten more. */
void sl_review_unit(sl_search_review *review, uint32_t unit, void *scratch);

void sl_review_finish(sl_search_review *review);

#endif
