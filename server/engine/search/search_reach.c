/* What no plan of a search can keep, before any is tried. */
#include <math.h>

#include "engine/search/search_parts.h"

/* Tokens that one accelerator of the cluster trains in a second at its datasheet peak: no product
 * is faster, and of the backward pass only what every kind of training has is counted. */
static double
ceiling_per_s(const sl_search *search, uint32_t index)
{
    const sl_question *from = &search->request->questions[index];
    const bool several = from->cluster->pool_count > 0;
    sl_cluster cluster = several ? from->cluster->pools[0] : *from->cluster;
    sl_question question = *from;
    sl_combination at = search->facts[index];
    sl_holdings holdings;
    sl_priced priced;
    sl_throughput flops;
    double peak = from->cluster->accelerator.peak_flops_per_s[at.workload.precision];

    for (uint32_t i = 0; i < from->cluster->pool_count; i++)
        peak =
            fmax(peak, from->cluster->pools[i].accelerator.peak_flops_per_s[at.workload.precision]);
    cluster.nodes = cluster.accelerators_per_node = 1;
    at.plan.data = 1; /* the other degrees of the facts are 1 */
    at.workload.micro_batch = at.workload.global_batch = 1;
    question.cluster = &cluster;
    sl_evaluate_price(&question, &at, SL_CLOCK_HELD, &priced);
    const sl_memory_case c = sl_evaluate_case(&question, &at, &priced, &holdings);
    sl_step_throughput(&c, &(sl_time){.step_s = 1.0}, &flops);
    const bool trains_all = at.workload.adapter.method == SL_ADAPTER_NONE;
    const double least = trains_all ? flops.causal_flops : flops.causal_flops / 3.0;
    return peak * flops.tokens_per_s / least;
}

sl_code
sl_search_check_reach(const sl_search *search, sl_errors *err)
{
    const sl_search_request *request = search->request;
    const sl_constraints *by = &request->constraints;
    double most_per_s = 0.0; /* tokens, of any cluster at any size */
    sl_code first = SL_OK;

    for (uint32_t i = 0; i < request->question_count; i++) {
        const uint32_t *sizes = NULL;
        const uint32_t count = sl_search_sizes(search, i, &sizes);
        if (count > 0)
            most_per_s = fmax(most_per_s, ceiling_per_s(search, i) * sizes[count - 1]);
    }
    const double tokens = (double)request->questions[0].workload.tokens;
    const double least_s = tokens / most_per_s;
    if (by->deadline_s > 0.0 && by->deadline_s < least_s) {
        first = sl_fail(err, SL_E_RANGE, "out_of_reach", "/constraints/deadline_s",
                        "every accelerator at its datasheet peak trains %.4g tokens in %.4g s, "
                        "got %.4g s",
                        tokens, least_s, by->deadline_s);
        sl_hint(err, "more than %.4g", least_s);
    }
    const sl_values *batches = &search->space.of[SL_DIMENSION_GLOBAL_BATCH];
    const double least_step_s = (double)batches->list[0] *
                                (double)request->questions[0].workload.sequence_length / most_per_s;
    if (by->max_step_s > 0.0 && by->max_step_s < least_step_s) {
        first = sl_fail(err, SL_E_RANGE, "out_of_reach", "/constraints/max_step_s",
                        "every accelerator at its datasheet peak needs %.4g s for a batch of %llu, "
                        "got %.4g s",
                        least_step_s, (unsigned long long)batches->list[0], by->max_step_s);
        sl_hint(err, "more than %.4g", least_step_s);
    }
    if (by->min_tokens_per_s > most_per_s) {
        first = sl_fail(err, SL_E_RANGE, "out_of_reach", "/constraints/min_tokens_per_s",
                        "every accelerator at its datasheet peak trains %.4g tokens/s, got %.4g",
                        most_per_s, by->min_tokens_per_s);
        sl_hint(err, "less than %.4g", most_per_s);
    }
    return first;
}
