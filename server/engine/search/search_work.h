/** One unit of a search at work: the plan at hand, and what plans of the unit share. */
#ifndef SL_ENGINE_SEARCH_WORK_H
#define SL_ENGINE_SEARCH_WORK_H

#include "engine/search/search_parts.h"

/** Whether the blocks of a plan are dealt out evenly in time. */
typedef enum sl_dealing {
    SL_NOT_DEALT,
    SL_DEALT_ALIKE, /* as the framework's rule has it */
    SL_DEALT_ANEW
} sl_dealing;

/** What plans that are cut alike share. */
typedef struct sl_search_cut {
    bool held;        /* the rest is set */
    uint32_t largest; /* blocks of the largest chunk */
    sl_holdings holdings;
} sl_search_cut;

/** Bytes of states that plans of a number of stages and chunks need in any case, of one ZeRO
 * stage. */
typedef struct sl_search_floor {
    bool known;
    uint64_t shard_group, offload; /* those that it was worked out for */
    double bytes;
} sl_search_floor;

/** What plans of one recomputation share. */
typedef struct sl_search_priced {
    bool known;         /* the rest is set */
    double layers_s[2]; /* what bounds a step: nothing rebuilt, all blocks rebuilt */
    sl_priced priced;
} sl_search_priced;

/** A unit while it is gone through: the scratch of one thread. */
typedef struct sl_search_work {
    const sl_search *search;
    const sl_search_outcome *known;
    sl_search_outcome *out;
    sl_search_place place;
    uint64_t seen; /* plans met, which number them */
    sl_recompute modes[SL_RECOMPUTE_COUNT];
    uint32_t mode_count;
    sl_cluster cluster;
    sl_question question; /* the plan at hand ... */
    sl_combination at;    /* ... and the same, priced */
    bool is_passed;       /* a plan of the unit has: others differ in how they are cut alone */
    sl_dealing dealing;
    bool deals_once;  /* for all numbers of blocks that are rebuilt */
    sl_plan balanced; /* its blocks, once dealt */
    sl_search_cut ruled, dealt;
    sl_search_cut *cut;        /* of these, that of the plan at hand */
    sl_search_floor floors[4]; /* by ZeRO stage */
    sl_search_point point;
    /* Without hooks and with them; ends of the model on one rank, and apart; of each, those of all
     * layers. */
    sl_search_priced priced[2][2][SL_RECOMPUTE_COUNT];
    sl_elements model[2];
    double least_lacking; /* bytes that the nearest plan without memory lacks; 0: none known */
    sl_estimate estimate;
    sl_errors refused;
} sl_search_work;

/** What stands for plans without the memory they need, among the reasons. */
extern const char sl_search_lacks_memory[];

/** The prices of the plan at hand, worked out once for each recomputation, for ends of the model
 * on one rank or apart, and with hooks or without. The plan must be legal. */
const sl_search_priced *sl_search_prices(sl_search_work *u);

/** Forgets all prices. */
void sl_search_forget_prices(sl_search_work *u);

/** How the plan at hand is cut, worked out once for all that are cut alike. The plan must be
 * legal. */
const sl_search_cut *sl_search_hold(sl_search_work *u);

/** A legal plan: kept, refused, or left out because a bound proves that it does not matter. */
void sl_search_try(sl_search_work *u);

#endif
