/** One combination of fully known values, evaluated; and what would help it. */
#ifndef SL_ENGINE_EVALUATE_H
#define SL_ENGINE_EVALUATE_H

#include "engine/answer/step.h"

/** A question with every unknown field given a value. */
typedef struct sl_combination {
    const sl_software *software;
    sl_workload workload;
    sl_plan plan;
} sl_combination;

/** What a release says of any workload that it runs. */
void sl_evaluate_release(const sl_software *software, sl_workload *workload);

/** Of a question whose fields are all known, under a release: what that says of the workload is said
 * in it. */
sl_combination sl_evaluate_combination(const sl_software *software, const sl_workload *workload,
                                       const sl_plan *plan);

/** The clock that kernels are priced at. */
typedef enum sl_clock {
    SL_CLOCK_COOL, /* of short runs, which the laws come from */
    SL_CLOCK_LOW,  /* the range of what is held over hours ... */
    SL_CLOCK_HELD, /* ... and within it what is the likeliest */
    SL_CLOCK_HIGH
} sl_clock;

/** Prices hold for every optimizer sharding of a combination that hooks modules alike
 * (sl_slice_hooked), and after sl_evaluate_reprice for another recomputation of it that is not by
 * modules. */
typedef struct sl_priced {
    sl_slice slice;                     /* on the first pool */
    sl_slice others[SL_POOLS_MAX - 1];  /* ... and on those after it */
    sl_kind_price prices[SL_KINDS_MAX]; /* of all kinds, pool after pool (sl_check_pools) */
    sl_pool_prices pools;
} sl_priced;

/** Of `from`, which may be the same. */
void sl_evaluate_reprice(const sl_question *question, sl_recompute recompute, const sl_priced *from,
                         sl_priced *out);

void sl_evaluate_price(const sl_question *question, const sl_combination *combination,
                       sl_clock clock, sl_priced *out);

/** A case without holdings, for what needs none. */
sl_memory_case sl_evaluate_bare_case(const sl_question *question, const sl_combination *combination,
                                     const sl_priced *priced);

/** What memory and step are computed from; it points into all four, the last of which it fills. */
sl_memory_case sl_evaluate_case(const sl_question *question, const sl_combination *combination,
                                const sl_priced *priced, sl_holdings *holdings);

/** The step, on one pool or several; sl_memory_evaluate goes before. */
void sl_evaluate_time(const sl_memory_case *c, sl_time *out);

/** Everything that one estimate was computed from, for as long as it is looked at again. */
typedef struct sl_known {
    sl_combination combination; /* the slice of the prices points into it */
    sl_priced priced;
    sl_holdings holdings;
    sl_memory_case c; /* points into this, the question and the estimate */
} sl_known;

void sl_evaluate_know(const sl_question *question, const sl_estimate *estimate, sl_known *out);

/** Memory of the ranks that may need most, and the step: bytes and seconds of every term without
 * what they are made of, and nothing else of *out, so that many plans can be tried. False when no
 * device could hold the bytes (sl_memory_evaluate); *out is then good for nothing. */
bool sl_evaluate(const sl_question *question, const sl_combination *combination,
                 const sl_priced *priced, sl_estimate *out) SL_MUST_CHECK;

/** The same bytes and seconds, of every rank and with inputs, traffic, throughput and what binds;
 * intervals, fixes and notes are left alone. */
bool sl_evaluate_explained(const sl_question *question, const sl_combination *combination,
                           const sl_priced *priced, sl_estimate *out) SL_MUST_CHECK;

/** Whether both ends of what the fullest rank may reserve [bytes] say of it what its peak says:
 * that it fits, or that it does not. What is outside the allocator is as large at either end. That
 * devices fit is not certain where a node lacks memory. */
bool sl_evaluate_is_certain(const sl_memory *memory, uint64_t low_bytes, uint64_t high_bytes);

/** How surely a plan has room (sl_memory_has_room): 2 at both ends of its interval, 1 by its peak
 * alone, 0 not. */
static inline int
sl_sureness(bool has_room, bool fits_certain)
{
    return has_room ? 1 + fits_certain : 0;
}

/** How surely the answer to a question will say that it has room, over all values of its open
 * fields; 0 too where none is legal. `scratch` is overwritten. */
int sl_evaluate_sureness(const sl_question *question, sl_estimate *scratch);

/** The step of a combination, which some device holds, at the end of the range of clocks, links and hosts;
 * it is evaluated in `scratch`. */
double sl_evaluate_step_at(const sl_question *question, const sl_combination *combination,
                           bool slow, sl_estimate *scratch);

/**
 * How far published runs lie from a step beside that range [ratio]: noise between machines and
 * releases; of traffic in the open, which shares its links with others; of tokens on their way to
 * experts. Independent causes: the root of the sum of their squares, 0.09, 0.45 x exposed / step and,
 * with experts, 0.05. Of a step that was explained.
 */
double sl_evaluate_spread_ratio(const sl_model *model, const sl_time *time);

/**
 * Widens the range of clocks, links and open fields, step_low_s to step_high_s [s], by that spread s:
 * nine of ten runs lie inside.
 *   low   max(step - root((step - low)^2 + (s step)^2), min(step, low) (1 - s))
 *   high  step + root((high - step)^2 + (1.5 s step)^2): what nobody counts takes time, and saves none
 */
void sl_evaluate_widen(const sl_model *model, sl_estimate *out);

/** The values that stand for a question whose open fields are software, attention and dropout at
 * most, where one will do: of its plausible combinations one of the newest release, with the newest
 * kernel. False when none is legal: *refused, empty before, says why. */
bool sl_evaluate_plausible(const sl_question *question, sl_combination *out,
                           sl_errors *refused) SL_MUST_CHECK;

/**
 * Changes to the plan, each evaluated: those that free memory, of devices or of nodes, when it lacks
 * some, those that save time when it does not; none that leaves a node without the memory it needs.
 * Where none is surely enough on the same nodes, two at a time of those that free most, in 24
 * evaluations at most and no more once four fixes are surely enough. What is not enough is listed
 * where nothing is, and only if it frees a tenth of what lacks in less than twice the time. Best
 * first, into out->fixes. `scratch` is overwritten.
 */
void sl_evaluate_fixes(const sl_question *question, sl_estimate *scratch, sl_estimate *out);

/** What was assumed and what is not modelled, into out->notes. Needs out->evaluated and the
 * plan evaluated. */
void sl_evaluate_notes(const sl_question *question, sl_estimate *out);

#endif
