/* What the optimizer does at the end of a step, on devices and on hosts. */
#include "engine/answer/step_parts.h"

#include "engine/extremes.h"
#include "engine/memory/offload.h"
#include "engine/placement/adapter.h"
#include "engine/placement/ranks.h"
#include "engine/price/host.h"

/* Of the memory's rate: a fused AdamW reaches 0.78 in fp32 and 0.68 in bf16 on H100 (device.py), and
 * one in foreach kernels, which read and write between them, moves 2.8 times as much. */
static const double optimizer_bandwidth_ratio = 0.78;
static const double list_passes = 2.8;

/* Seconds of one byte of each parameter that hosts have: those of one node work one by one. */
static double
host_sweep_s(const sl_memory_case *c)
{
    double seconds = 0.0;

    for (uint32_t r = 0; c->plan->host_run_count > 0 && r < c->plan->pipeline; r++) {
        const sl_held held = sl_schedule_all_held(c->plan, r);
        seconds += sl_host_measure(c, &held).sweep_s;
    }
    return seconds;
}

/* How often gradients go down. */
static double
host_rounds(const sl_memory_case *c)
{
    return c->workload->framework == SL_FRAMEWORK_MEGATRON ? 1.0 : sl_step_data_rounds(c).reduces;
}

/* What a device sweeps over, bytes of each parameter. */
typedef struct sweep {
    double swept;   /* of its part: for the norm of gradients and the clip, cast first where they are */
    double updated; /* of its part: gradients, states and weights */
    double zeroed;  /* of its whole gradient */
    double shard;   /* ranks that each hold a part, on average over dense and routed parameters */
    double parameters;
    double bandwidth;
} sweep;

/* The sharded part: the gradient is read for its norm, read and written by the clip, read by the
 * update, which reads and writes states and master weights and writes the parameters. What Megatron
 * added up in 16 bits is read once more, and all this is of its copy. Zeroing sweeps the whole local
 * gradient. */
static sweep
device_sweep(const sl_memory_case *c, const sl_elements *trained, const sl_layout *layout,
             double rate)
{
    const sl_shards *shards = &c->holdings->shards;
    const double g = sl_states_summed_bytes(layout);
    const bool cast = sl_states_sums_half(c->workload) && g < layout->master_bytes;
    const double stepped = cast ? layout->master_bytes : g;
    const double all = sl_larger(1.0, trained->all);
    /* Without a master copy the update reads the parameters themselves. */
    const double weights = layout->master_bytes > 0.0
                               ? 2.0 * layout->master_bytes + layout->parameter_bytes
                               : 2.0 * layout->parameter_bytes;
    const bool lists =
        c->workload->optimizer == SL_OPTIMIZER_ADAMW && c->software->step_lists > 0.0;

    return (sweep){
        .swept = 3.0 * stepped + (cast ? g + stepped : 0.0),
        .updated = stepped + 2.0 * layout->optimizer_bytes + weights,
        .zeroed = g * sl_states_at_rest(trained, &shards->gradients) / all,
        .shard = all / sl_larger(1.0, sl_states_at_rest(trained, &shards->optimizer)),
        .parameters = trained->all,
        .bandwidth = optimizer_bandwidth_ratio * rate / (lists ? list_passes : 1.0),
    };
}

sl_shared_update
sl_step_on_host(const sl_memory_case *c, const sl_elements *elements)
{
    sl_layout layout;
    const sl_elements trained = sl_states_trained(c->workload, c->plan, elements, &layout);
    const double stays = 1.0 - sl_states_away(c->workload);
    const sweep of = device_sweep(c, &trained, &layout, c->slice->accelerator->memory_bytes_per_s);
    const bool sums = c->workload->framework == SL_FRAMEWORK_MEGATRON;

    return (sl_shared_update){
        .host = sl_offload_step(c->question, c->workload, c->plan, elements, host_rounds(c)),
        .swept_s = sums ? of.parameters * (of.swept / of.shard + of.zeroed) / of.bandwidth : 0.0,
        .device_s = stays * of.parameters * of.updated / of.shard / of.bandwidth,
    };
}

/* The longest is as given; others go with their elements, over the rate they are stepped on at. */
void
sl_step_updates(const sl_memory_case *c, double longest_s, double out[SL_PIPELINE_MAX])
{
    double most = 0.0;

    for (uint32_t r = 0; r < c->plan->pipeline; r++) {
        sl_memory_case space;
        const sl_memory_case *here = sl_case_of_stage(c, r, &space);
        out[r] = sl_holding_of(c->holdings, r)->elements.all;
        if (here->cluster != c->cluster)
            out[r] *= c->cluster->accelerator.memory_bytes_per_s /
                      here->cluster->accelerator.memory_bytes_per_s;
        most = sl_larger(most, out[r]);
    }
    for (uint32_t r = 0; r < c->plan->pipeline; r++) /* most is 0 where the host has all of it */
        out[r] = longest_s * (most > 0.0 ? out[r] / most : 1.0);
}

/* Of the longest update what the passes of other ranks hide: where each rank steps on its own the
 * last to end need not be the one that updates longest. */
static double
hidden_s_of(const sl_memory_case *c, const double *late_s, const sl_time *time)
{
    double updates_s[SL_PIPELINE_MAX];
    double late = 0.0; /* the last rank before its update, and after it */
    double end_s = 0.0;

    if (late_s == NULL)
        return 0.0;
    sl_step_updates(c, time->update_s, updates_s);
    for (uint32_t r = 0; r < c->plan->pipeline; r++) {
        late = sl_larger(late, late_s[r]);
        end_s = sl_larger(end_s, late_s[r] + updates_s[r]);
    }
    return sl_larger(0.0, time->update_s - sl_larger(0.0, end_s - late));
}

/* On the host: gradients go down under backward as they are reduced, Megatron's when all are
 * summed and swept; then the update, beside the device's of what stays there, and the parameters up
 * again. */
static void
evaluate_host_step(const sl_memory_case *c, const sl_elements *most, double trained,
                   double backward_s, const double *late_s, sl_time *out)
{
    const bool summed = c->workload->framework == SL_FRAMEWORK_MEGATRON;
    const sl_shared_update step = sl_step_on_host(c, most);
    const sl_host_step *host = &step.host;
    const double sent_s =
        sl_price_visible_s(c->software, host->gradients_s, host_rounds(c) * backward_s, !summed);

    out->update_s =
        step.swept_s + sent_s + sl_larger(host->update_s, step.device_s) + host->parameters_s;
    const double hidden_s = hidden_s_of(c, late_s, out);
    SL_SET_TERM(c, out, SL_TERM_OPTIMIZER_STEP, out->update_s - hidden_s, {"parameters", trained},
                {"host_update_s", host->update_s}, {"gradients_s", host->gradients_s},
                {"gradients_exposed_s", sent_s}, {"parameters_s", host->parameters_s},
                {"host_bytes_per_s", c->cluster->accelerator.host_bytes_per_s},
                {"hidden_s", hidden_s}, {"device_update_s", step.device_s},
                {"swept_s", step.swept_s});
}

/* What the stage holds whose update takes longest, and the rate of the memory there. */
static const sl_holding *
find_slowest_update(const sl_memory_case *c, double *rate)
{
    const sl_holding *most = sl_holding_of(c->holdings, 0);

    *rate = c->slice->accelerator->memory_bytes_per_s;
    for (uint32_t r = 0; r < c->plan->pipeline; r++) {
        sl_memory_case space;
        const double own = sl_case_of_stage(c, r, &space)->slice->accelerator->memory_bytes_per_s;
        const sl_holding *holding = sl_holding_of(c->holdings, r);
        if (holding->elements.all * *rate <= most->elements.all * own)
            continue;
        most = holding;
        *rate = own;
    }
    return most;
}

void
sl_step_optimizer(const sl_memory_case *c, const sl_rank_time *slowest, const double *late_s,
                  sl_time *out)
{
    double rate = 0.0;
    const sl_holding *most = find_slowest_update(c, &rate);
    const bool frozen = sl_adapter_on(&c->workload->adapter);
    sl_layout adapters;
    const sl_elements trained =
        frozen ? sl_states_trained(c->workload, c->plan, &most->elements, &adapters)
               : most->elements;
    const sl_layout layout = frozen ? adapters : most->layouts.all;

    if (c->workload->offload.optimizer) {
        evaluate_host_step(c, &most->elements, trained.all, slowest->backward.computing_s, late_s,
                           out);
        return;
    }

    const sweep of = device_sweep(c, &trained, &layout, rate);
    const double sharded = of.swept + of.updated;
    /* The host steps on its blocks after the device on its own, and sweeps what the device does. */
    const double host_s = host_sweep_s(c) * (sharded + sl_states_summed_bytes(&layout));

    out->update_s = of.parameters * (sharded / of.shard + of.zeroed) / of.bandwidth + host_s;
    const double hidden_s = hidden_s_of(c, late_s, out);
    SL_SET_TERM(c, out, SL_TERM_OPTIMIZER_STEP, out->update_s - hidden_s,
                {"parameters", of.parameters}, {"host_s", host_s}, {"bytes_per_parameter", sharded},
                {"shards", of.shard}, {"zeroed_bytes_per_parameter", of.zeroed},
                {"bandwidth_bytes_per_s", of.bandwidth}, {"hidden_s", hidden_s});
}
