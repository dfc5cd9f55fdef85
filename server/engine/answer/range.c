/* How far a step may lie from what is predicted: clocks, links, and what nobody knows of
 * machines. */
#include "engine/answer/evaluate.h"

#include <assert.h>
#include <math.h>

/* Groups inside a domain beyond what was measured: one rack was, of one part, in one collective. */
static const double wide_low_ratio = -0.15;
static const double wide_high_ratio = 0.30;

/* Of the spread of speeds: by itself a source is least off with half of it (meg21t2) to one and a half
 * of it or more (foundry, grok1); tests/accuracy/run --spread. */
static const double sigma_low_ratio = 0.5;
static const double sigma_high_ratio = 1.5;

/* Of the host: vTrain's cells of one width, tensor and micro-batch that it decides take 0.8 to 1.4 times
 * what one speed for all of them says, most of them 0.85 to 1.3. */
static const double host_low_ratio = 0.85;
static const double host_high_ratio = 1.3;

static sl_excess
excess_of(const sl_fabric *fabric, bool slow)
{
    return slow ? (sl_excess){fabric->high_ratio - 1.0, wide_high_ratio}
                : (sl_excess){fabric->low_ratio - 1.0, wide_low_ratio};
}

double
sl_evaluate_step_at(const sl_question *question, const sl_combination *combination, bool slow,
                    sl_estimate *scratch)
{
    sl_cluster cluster = *question->cluster;
    sl_cluster pools[SL_POOLS_MAX];
    sl_question asked = *question;
    sl_software software = *combination->software;
    sl_combination run = *combination;
    sl_priced priced;

    if (!software.host_said) { /* who gives it knows it */
        software.host_operator_s *= slow ? host_high_ratio : host_low_ratio;
        software.expert_operator_s *= slow ? host_high_ratio : host_low_ratio;
    }
    run.software = &software;
    cluster.excess = excess_of(&cluster.fabric, slow);
    cluster.operation.speed_sigma_ratio *= slow ? sigma_high_ratio : sigma_low_ratio;
    for (uint32_t p = 0; p < cluster.pool_count; p++) {
        pools[p] = cluster.pools[p];
        pools[p].excess = excess_of(&pools[p].fabric, slow);
    }
    cluster.pools = pools;
    asked.cluster = &cluster;
    sl_evaluate_price(&asked, &run, slow ? SL_CLOCK_LOW : SL_CLOCK_HIGH, &priced);
    const bool possible = sl_evaluate(&asked, &run, &priced, scratch);
    assert(possible); /* bytes depend on neither clock nor host */
    (void)possible;
    return scratch->time.step_s;
}

/* Beside that range, of causes that know nothing of each other. */
static const double spread_ratio = 0.09;         /* machines and releases */
static const double spread_exposed_ratio = 0.45; /* traffic in the open, of the step */
static const double spread_experts_ratio = 0.05; /* where tokens go */
static const double slower_ratio = 1.9;          /* what nobody counts takes time, and saves none */

static double
root_of_squares(double a, double b)
{
    return sqrt(a * a + b * b);
}

double
sl_evaluate_spread_ratio(const sl_model *model, const sl_time *time)
{
    const double exposed =
        spread_exposed_ratio * fmin(1.0, time->exposed_communication_s / time->step_s);
    const double experts = model->experts > 0 ? spread_experts_ratio : 0.0;

    return root_of_squares(spread_ratio, root_of_squares(exposed, experts));
}

void
sl_evaluate_widen(const sl_model *model, sl_estimate *out)
{
    const double step_s = out->time.step_s;
    const double spread_s = step_s * sl_evaluate_spread_ratio(model, &out->time);
    /* Slower products hide more traffic: the step at a clock's end can lie on the wrong side. */
    const double faster_s = fmax(0.0, step_s - out->step_low_s);
    const double slower_s = fmax(0.0, out->step_high_s - step_s);

    /* Of open fields far apart the root could exceed the step itself. */
    out->step_low_s = fmax(step_s - root_of_squares(faster_s, spread_s),
                           fmin(step_s, out->step_low_s) * (1.0 - spread_s / step_s));
    out->step_high_s = step_s + root_of_squares(slower_s, slower_ratio * spread_s);
}
