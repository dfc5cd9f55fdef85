/* What a step does with gradients, parameters and states: over the data ranks, and by the optimizer. */
#include "engine/step_parts.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>

#include "engine/adapter.h"
#include "engine/gather.h"
#include "engine/host.h"
#include "engine/lent.h"
#include "engine/offload.h"
#include "engine/ranks.h"
#include "engine/unit.h"

static const double optimizer_bandwidth_ratio = 0.85;

sl_data_groups
sl_step_data_groups(const sl_memory_case *c)
{
    const sl_cluster *cluster = c->cluster;
    const sl_plan *plan = c->plan;
    const sl_strides strides = sl_ranks_strides(plan);
    const uint64_t copies = plan->shard_group > 0 ? plan->data / plan->shard_group : 1;
    const uint64_t shard = (uint64_t)plan->data / copies * plan->context;
    const uint64_t spread = (uint64_t)plan->expert * sl_plan_expert_tensor(plan);
    const uint64_t alike = shard * plan->tensor / spread;
    sl_group dense = sl_group_of(cluster, shard, strides.replica);

    if (c->software->single_rail && cluster->nics_per_node > 0)
        dense.members_per_node =
            fmin(dense.members_per_node,
                 (double)cluster->accelerators_per_node / cluster->nics_per_node);
    return (sl_data_groups){
        .shard = dense,
        .experts =
            sl_group_of(cluster, alike > 1 ? alike : 1, spread * strides.replica / plan->tensor),
        .replicas = sl_group_of(cluster, copies, strides.replica * shard),
    };
}

/* Collectives over the data ranks, of what is dense and of what is routed, each in pieces. */
static double
over_data_s(const sl_memory_case *c, const sl_data_groups *groups, sl_collective kind,
            double pieces, double dense, double routed)
{
    const sl_cluster *cluster = c->cluster;

    return pieces * (sl_collective_s(cluster, kind, &groups->shard, dense / pieces) +
                     sl_collective_s(cluster, kind, &groups->experts, routed / pieces));
}

/* Whole gradients are summed over the micro-batches and reduced once; divided ones are reduced with
 * each. Divided parameters are gathered for each forward, and for each backward where they were let
 * go; whole ones once, after the optimizer wrote its part. */
static sl_data_rounds
count_rounds(const sl_memory_case *c)
{
    const double m =
        (double)sl_plan_microbatches(c->workload, c->plan) / sl_schedule_copies(c->plan);
    const sl_shards shards = c->holdings->shards;
    const bool divided = shards.parameters.dense > 1.0;

    return (sl_data_rounds){
        .reduces = shards.gradients.dense > 1.0 ? m : 1.0,
        .gathers = divided ? (sl_states_reshards(c->workload, c->plan) ? 2.0 * m : m)
                   : c->plan->zero_stage >= 1 ? 1.0
                                              : 0.0,
        .starts = divided ? m : 1.0,
    };
}

/* Two copies of the model in one pipeline add up their gradients: the ranks that hold the same
 * stages, each the part of them that its data group left it. */
static void
measure_copies(const sl_memory_case *c, uint32_t r, double part, double rounds, sl_data_time *d)
{
    const uint32_t mirror = c->plan->pipeline - 1 - r;
    const uint32_t low = r < mirror ? r : mirror;
    const uint32_t high = r < mirror ? mirror : r;

    if (sl_schedule_copies(c->plan) == 1)
        return;
    d->copy_bytes = rounds * part;
    d->copy_s =
        rounds * sl_step_pair_s(c, low, high, SL_COLLECTIVE_ALL_REDUCE, part, &d->copy_level);
}

sl_data_time
sl_step_data_rank(const sl_memory_case *c, const sl_data_groups *groups, const sl_rank_time *t,
                  uint32_t r, double drained_s)
{
    const sl_cluster *cluster = c->cluster;
    const bool sharded = c->plan->zero_stage >= 1;
    const double copies = sl_schedule_copies(c->plan);
    const sl_data_rounds rounds = count_rounds(c);
    const sl_holding *holding = sl_holding_of(c->holdings, r);
    const sl_elements elements = holding->elements;
    const sl_layout layout = holding->layouts.all;
    const sl_edges edges = sl_gather_edges(c, holding);
    sl_data_time d = {.rounds = rounds};

    const double routed = elements.all > 0.0 ? elements.routed / elements.all : 0.0;
    const double reduce_bytes = elements.all * sl_states_reduce_bytes(c->workload, &layout) +
                                sl_adapter_element_bytes(&c->workload->adapter) * elements.adapters;
    const double gather_bytes =
        elements.matrices * sl_states_gather_bytes(c->workload, &layout, true) +
        (elements.all - elements.matrices) * sl_states_gather_bytes(c->workload, &layout, false);
    d.reduce_bytes = rounds.reduces * reduce_bytes;
    d.reduce_s =
        rounds.reduces *
        over_data_s(c, groups, sharded ? SL_COLLECTIVE_REDUCE_SCATTER : SL_COLLECTIVE_ALL_REDUCE,
                    edges.reduces, (1.0 - routed) * reduce_bytes, routed * reduce_bytes);
    if (groups->replicas.ranks > 1.0) {
        const double part = reduce_bytes / groups->shard.ranks;
        d.replica_bytes = rounds.reduces * part;
        d.replica_s = rounds.reduces * edges.reduces *
                      sl_collective_s(cluster, SL_COLLECTIVE_ALL_REDUCE, &groups->replicas,
                                      part / edges.reduces);
    }
    measure_copies(c, r, sharded ? reduce_bytes / groups->shard.ranks : reduce_bytes,
                   rounds.reduces, &d);
    /* What is one unit is gathered before it runs, and reduced after; a graph has none. */
    d.whole = !c->software->traced_sharding &&
              sl_unit_is_whole(c->question->model, &c->plan->unit, c->slice, c->prices);
    const double all = fmax(1.0, elements.all);
    const double all_s = d.reduce_s + d.replica_s + d.copy_s;
    d.last_s = edges.last / all * all_s / rounds.reduces;
    d.reduce_exposed_s =
        fmax(0.0, d.last_s +
                      sl_price_visible_s(c->software, all_s - d.last_s,
                                         rounds.reduces * copies * t->backward.computing_s,
                                         c->software->overlap_gradient_reduce && !d.whole) -
                      drained_s);
    if (rounds.gathers > 0.0) {
        /* Backward, which a second gather runs under, takes about twice the forward. */
        d.gather_bytes = rounds.gathers * gather_bytes;
        d.gather_s =
            rounds.gathers * (over_data_s(c, groups, SL_COLLECTIVE_ALL_GATHER, edges.gathers,
                                          (1.0 - routed) * gather_bytes, routed * gather_bytes) +
                              sl_offload_fetch_s(cluster, c->workload, c->plan, &elements));
        d.first_s = edges.first / all * d.gather_s * rounds.starts / rounds.gathers;
        d.gather_exposed_s =
            d.first_s + sl_price_visible_s(c->software, d.gather_s - d.first_s,
                                           rounds.gathers * copies * t->forward.computing_s,
                                           c->software->overlap_parameter_gather && !d.whole);
    }
    return d;
}

/* First and last stage, where they are apart, hold one copy each of a tied embedding and add up its
 * gradients. */
double
sl_step_tied_s(const sl_memory_case *c, double *bytes, sl_level *level)
{
    const sl_model *model = c->question->model;
    const sl_plan *plan = c->plan;

    if (!model->tied || !sl_schedule_ends_apart(plan))
        return 0.0;

    const sl_layer_kind *embedding = &model->kinds[model->layers[0]];

    assert(embedding->tensor_count >= 1);
    const sl_elements table = {.all = sl_slice_elements(c->slice, &embedding->tensors[0])};
    *bytes = table.all * sl_states_layout(c->workload, &table).gradient_bytes;
    return sl_step_pair_s(c, 0, plan->pipeline - 1, SL_COLLECTIVE_ALL_REDUCE, *bytes, level);
}

/* DataParallel: parameters out, outputs and gradients in, of every micro-batch and in the open. */
static void
evaluate_lent(const sl_memory_case *c, sl_time *out)
{
    const double m = (double)sl_plan_microbatches(c->workload, c->plan);
    const sl_lent_traffic sent = sl_lent_send(c);
    const sl_group group = sl_group_of(c->cluster, c->plan->data, 1);
    const double total_s = m * (sent.parameter_s + sent.gradient_s + sent.output_s);

    SL_SET_TERM(c, out, SL_TERM_DATA_COMMUNICATION, total_s, {"data", c->plan->data},
                {"gradient_bytes", m * sent.gradient_bytes},
                {"gradient_exposed_s", m * sent.gradient_s},
                {"parameter_bytes", m * sent.parameter_bytes},
                {"parameter_exposed_s", m * sent.parameter_s},
                {"output_bytes", m * sent.output_bytes}, {"output_exposed_s", m * sent.output_s});
    sl_step_add_communication(c, out, "data", SL_COLLECTIVE_BROADCAST, group.level,
                              m * sent.parameter_bytes, m * sent.parameter_s, m * sent.parameter_s);
    sl_step_add_communication(c, out, "data", SL_COLLECTIVE_REDUCE, group.level,
                              m * sent.gradient_bytes, m * sent.gradient_s, m * sent.gradient_s);
    sl_step_add_communication(c, out, "data", SL_COLLECTIVE_SEND_RECEIVE, group.level,
                              m * sent.output_bytes, m * sent.output_s, m * sent.output_s);
}

void
sl_step_data(const sl_memory_case *c, const sl_rank_time times[SL_PIPELINE_MAX], sl_time *out)
{
    const sl_plan *plan = c->plan;

    if (sl_lent_devices(c->workload, plan) > 0) {
        evaluate_lent(c, out);
        return;
    }

    sl_data_groups groups = sl_step_data_groups(c);
    uint32_t worst_rank = 0;
    double drained_s = 0.0;
    double tied_bytes = 0.0;
    sl_data_time worst = {0};

    for (uint32_t r = 0; r < plan->pipeline; r++) {
        /* What repeats the rank before drains longer, and shows less of the same traffic. */
        const bool goes_on = r == 0 || sl_case_goes_on(c, r);
        const bool less =
            r > 0 && sl_schedule_copies(plan) == 1 && sl_holding_repeats(c->holdings, r) && goes_on;
        sl_memory_case space;
        const sl_memory_case *at = sl_case_of_stage(c, r, &space);
        if (!goes_on)
            groups = sl_step_data_groups(at);
        const sl_data_time d =
            less ? worst : sl_step_data_rank(at, &groups, &times[r], r, drained_s);
        if (r == 0 || d.reduce_exposed_s + d.gather_exposed_s >
                          worst.reduce_exposed_s + worst.gather_exposed_s) {
            worst = d;
            worst_rank = r;
        }
        const sl_busy busy = {.backward_s =
                                  times[r].backward.computing_s + times[r].again.computing_s,
                              .weight_s = times[r].weight_s};
        drained_s += sl_schedule_drain_s(plan, &busy);
    }

    if (c->pools != NULL) { /* the groups of the last rank are at hand */
        sl_memory_case space;
        groups = sl_step_data_groups(sl_case_of_stage(c, worst_rank, &space));
    }
    const double all_s = worst.reduce_s + worst.replica_s + worst.copy_s;
    const double exposed = all_s > 0.0 ? worst.reduce_exposed_s / all_s : 0.0;
    sl_level tied_level = SL_LEVEL_NETWORK;
    const double tied_s = sl_step_tied_s(c, &tied_bytes, &tied_level);
    const double total_s = worst.reduce_exposed_s + worst.gather_exposed_s + tied_s;

    SL_SET_TERM(c, out, SL_TERM_DATA_COMMUNICATION, total_s, {"data", plan->data},
                {"gradient_bytes", worst.reduce_bytes}, {"gradient_s", worst.reduce_s},
                {"gradient_exposed_s", worst.reduce_exposed_s},
                {"parameter_bytes", worst.gather_bytes}, {"parameter_s", worst.gather_s},
                {"parameter_exposed_s", worst.gather_exposed_s}, {"tied_embedding_s", tied_s},
                {"members_per_node", groups.shard.members_per_node}, {"nodes", groups.shard.nodes},
                {"gradient_last_s", worst.last_s}, {"parameter_first_s", worst.first_s});
    sl_step_add_communication(
        c, out, "data",
        plan->zero_stage >= 1 ? SL_COLLECTIVE_REDUCE_SCATTER : SL_COLLECTIVE_ALL_REDUCE,
        groups.shard.level, worst.reduce_bytes, worst.reduce_s, exposed * worst.reduce_s);
    sl_step_add_communication(c, out, "data", SL_COLLECTIVE_ALL_GATHER, groups.shard.level,
                              worst.gather_bytes, worst.gather_s, worst.gather_exposed_s);
    sl_step_add_communication(c, out, "replicas", SL_COLLECTIVE_ALL_REDUCE, groups.replicas.level,
                              worst.replica_bytes, worst.replica_s, exposed * worst.replica_s);
    sl_step_add_communication(c, out, "copies", SL_COLLECTIVE_ALL_REDUCE, worst.copy_level,
                              worst.copy_bytes, worst.copy_s, exposed * worst.copy_s);
    sl_step_add_communication(c, out, "embedding", SL_COLLECTIVE_ALL_REDUCE, tied_level, tied_bytes,
                              tied_s, tied_s);
}

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
    return c->workload->framework == SL_FRAMEWORK_MEGATRON ? 1.0 : count_rounds(c).reduces;
}

sl_host_step
sl_step_on_host(const sl_memory_case *c, const sl_elements *elements)
{
    return sl_offload_step(c->question, c->workload, c->plan, elements, host_rounds(c));
}

/* On the host: gradients go down under backward as they are reduced, Megatron's when all are summed;
 * then the update, and the parameters up again. */
static void
evaluate_host_step(const sl_memory_case *c, const sl_elements *most, double trained,
                   double backward_s, sl_time *out)
{
    const bool summed = c->workload->framework == SL_FRAMEWORK_MEGATRON;
    const sl_host_step step = sl_step_on_host(c, most);
    const double sent_s =
        sl_price_visible_s(c->software, step.gradients_s, host_rounds(c) * backward_s, !summed);

    SL_SET_TERM(c, out, SL_TERM_OPTIMIZER_STEP, step.update_s + sent_s + step.parameters_s,
                {"parameters", trained}, {"host_update_s", step.update_s},
                {"gradients_s", step.gradients_s}, {"gradients_exposed_s", sent_s},
                {"parameters_s", step.parameters_s},
                {"host_bytes_per_s", c->cluster->accelerator.host_bytes_per_s});
}

/* The sharded part: the gradient is read for its norm, read and written by the clip, read by the
 * update, which reads and writes states and master weights and writes the parameters. Zeroing
 * sweeps the whole local gradient. */
void
sl_step_optimizer(const sl_memory_case *c, const sl_rank_time times[SL_PIPELINE_MAX],
                  uint32_t slowest, sl_time *out)
{
    const sl_shards shards = c->holdings->shards;
    sl_elements most = {0};
    double rate = c->slice->accelerator->memory_bytes_per_s; /* of the stage that takes longest */

    for (uint32_t r = 0; r < c->plan->pipeline; r++) {
        sl_memory_case space;
        const double own = sl_case_of_stage(c, r, &space)->slice->accelerator->memory_bytes_per_s;
        const sl_elements *elements = &sl_holding_of(c->holdings, r)->elements;
        if (elements->all * rate <= most.all * own)
            continue;
        most = *elements;
        rate = own;
    }

    sl_layout layout;
    const sl_elements trained = sl_states_trained(c->workload, &most, &layout);

    if (c->workload->offload.optimizer) {
        evaluate_host_step(c, &most, trained.all, times[slowest].backward.computing_s, out);
        return;
    }

    const double g = layout.gradient_bytes;
    /* Ranks that each hold a part, on average over dense parameters and routed ones. */
    const double all = fmax(1.0, trained.all);
    const double shard = all / fmax(1.0, sl_states_at_rest(&trained, &shards.optimizer));
    const double zeroed = g * sl_states_at_rest(&trained, &shards.gradients) / all;
    /* Without a master copy the update reads the parameters themselves. */
    const double weights = layout.master_bytes > 0.0
                               ? 2.0 * layout.master_bytes + layout.parameter_bytes
                               : 2.0 * layout.parameter_bytes;
    const double sharded = 4.0 * g + 2.0 * layout.optimizer_bytes + weights;
    const double bandwidth = optimizer_bandwidth_ratio * rate;

    /* The host steps on its blocks after the device on its own, and sweeps what the device does. */
    const double host_s = host_sweep_s(c) * (sharded + g);

    SL_SET_TERM(c, out, SL_TERM_OPTIMIZER_STEP,
                trained.all * (sharded / shard + zeroed) / bandwidth + host_s,
                {"parameters", trained.all}, {"host_s", host_s}, {"bytes_per_parameter", sharded},
                {"shards", shard}, {"zeroed_bytes_per_parameter", zeroed},
                {"bandwidth_bytes_per_s", bandwidth});
}
