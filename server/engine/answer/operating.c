#include "engine/answer/operating.h"

#include <math.h>

#include "engine/answer/figure.h"
#include "engine/placement/pools.h"

static const double day_s = 86400.0;
static const double hour_s = 3600.0;
/* Where products take this share of their peak, a device draws its full load: a rule of thumb. */
static const double full_load_mfu = 0.35;

/* What a checkpoint holds: each state once, whatever data ranks hold it. What tensor ranks hold
 * alike (norms, positions; a percent at most) is counted for each of them. */
static double
checkpoint_bytes(const sl_memory_case *c)
{
    const double cut = c->slice->tensor;
    const double experts = c->slice->expert * c->slice->expert_tensor;
    double bytes = 0.0;

    for (uint32_t r = 0; r < c->plan->pipeline; r++) {
        sl_layout layout;
        const sl_elements trained = sl_states_trained(
            c->workload, c->plan, &sl_holding_of(c->holdings, r)->elements, &layout);
        const double each = layout.parameter_bytes + layout.master_bytes + layout.optimizer_bytes;
        bytes += each * (cut * (trained.all - trained.routed) + experts * trained.routed);
    }
    return bytes / sl_schedule_copies(c->plan);
}

static double
set_goodput(const sl_memory_case *c, sl_estimate *out)
{
    const sl_operating *by = &c->question->cluster->operation;
    const double nodes = c->question->cluster->nodes;
    const double bytes = checkpoint_bytes(c);
    const double rate = by->checkpoint_bytes_per_s;
    const double asked_s = by->checkpoint_interval_s;
    const bool fails = by->failures_per_node_day > 0.0 && rate > 0.0;
    /* Where nothing fails none is needed; whoever asks for them has them all the same. */
    const bool saves = fails || (asked_s > 0.0 && rate > 0.0);
    const double between_s = fails ? day_s / (by->failures_per_node_day * nodes) : 0.0;
    const double saving_s = saves ? bytes / (nodes * rate) : 0.0;
    const double best_s = sqrt(2.0 * saving_s * between_s);
    const double interval_s = fmax(saving_s, asked_s > 0.0 ? asked_s : best_s);
    const double saved = interval_s > 0.0 ? 1.0 - saving_s / interval_s : 1.0;
    const double lost_s = by->restart_s + interval_s / 2.0;
    const double kept = fails ? 1.0 - lost_s / between_s : 1.0;
    const double goodput = saved * fmax(0.0, kept);

    SL_SET_FIGURE(out, SL_TERM_GOODPUT, goodput, {"mean_time_between_failures_s", between_s},
                  {"failures_per_node_day", by->failures_per_node_day}, {"nodes", nodes},
                  {"checkpoint_bytes", bytes}, {"checkpoint_bytes_per_s", rate},
                  {"checkpoint_s", saving_s}, {"checkpoint_interval_s", interval_s},
                  {"restart_s", by->restart_s}, {"lost_s", fails ? lost_s : 0.0});
    return goodput;
}

/* What a device draws at most, and the clock that its limit leaves it: of pools the mean. */
static void
find_limits(const sl_cluster *cluster, double *most_w, double *clock_ratio)
{
    const double all = (double)sl_cluster_accelerators(cluster);

    *most_w = *clock_ratio = 0.0;
    for (uint32_t i = 0; i < sl_pools_count(cluster); i++) {
        const sl_cluster *pool = sl_pools_at(cluster, i);
        const sl_accelerator *part = &pool->accelerator;
        const double share = (double)sl_cluster_accelerators(pool) / all;
        const bool limited = part->power_limit_w > 0.0;
        *most_w += share * (limited ? part->power_limit_w : part->power_w);
        *clock_ratio += share * (limited ? part->limited_clock_ratio : 1.0);
    }
}

static void
set_energy(const sl_memory_case *c, sl_estimate *out)
{
    const sl_cluster *cluster = c->question->cluster;
    const sl_operating *by = &cluster->operation;
    const double world = (double)sl_plan_world(c->plan);
    double most_w, clock_ratio;

    find_limits(cluster, &most_w, &clock_ratio);
    /* A device at a lower clock does less and is as busy. */
    const double full_mfu = full_load_mfu * clock_ratio;
    const double load = by->load_ratio * fmin(1.0, out->throughput.mfu_full / full_mfu);
    const double watts = most_w * (by->idle_power_ratio + (1.0 - by->idle_power_ratio) * load);
    const double joules =
        world * watts * by->node_power_ratio * by->pue_ratio * out->throughput.time_to_train_s;

    out->throughput.energy_j = joules;
    SL_SET_FIGURE(out, SL_TERM_ENERGY, joules, {"accelerators", world}, {"accelerator_w", watts},
                  {"power_w", cluster->accelerator.power_w}, {"power_limit_w", most_w},
                  {"idle_power_ratio", by->idle_power_ratio}, {"load_ratio", load},
                  {"node_power_ratio", by->node_power_ratio}, {"pue_ratio", by->pue_ratio},
                  {"time_to_train_s", out->throughput.time_to_train_s});
}

void
sl_operating_set(const sl_memory_case *c, sl_estimate *out)
{
    const sl_cluster *cluster = c->question->cluster;
    sl_throughput *t = &out->throughput;
    const double tokens = (double)c->workload->tokens;
    const double per_step =
        (double)c->workload->global_batch * (double)c->workload->sequence_length;

    t->goodput_ratio = set_goodput(c, out);
    t->time_to_train_s = tokens > 0.0 && t->goodput_ratio > 0.0
                             ? tokens / per_step * out->time.step_s / t->goodput_ratio
                             : 0.0;
    SL_SET_FIGURE(out, SL_TERM_TIME_TO_TRAIN, t->time_to_train_s, {"tokens", tokens},
                  {"tokens_per_step", per_step}, {"step_s", out->time.step_s},
                  {"goodput_ratio", t->goodput_ratio});
    set_energy(c, out);
    t->cost = t->time_to_train_s / hour_s * cluster->nodes * cluster->price_per_node_hour;
    SL_SET_FIGURE(out, SL_TERM_COST, t->cost, {"time_to_train_s", t->time_to_train_s},
                  {"nodes", cluster->nodes}, {"price_per_node_hour", cluster->price_per_node_hour});
}
