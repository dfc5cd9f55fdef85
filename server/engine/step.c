#include "engine/step.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "engine/host.h"
#include "engine/lent.h"
#include "engine/offload.h"
#include "engine/ranks.h"
#include "engine/recompute.h"
#include "engine/unit.h"

static const double optimizer_bandwidth_ratio = 0.85;

/* One micro-batch on one pipeline rank, all its chunks. Each pass holds what its host runs of it. */
typedef struct rank_time {
    double host_forward_s, host_backward_s;
    double forward_s;
    double backward_s;
    double weight_s; /* of it, gradients of weights of blocks */
    double recompute_s;
    double tensor_s; /* exposed, forward, backward and recomputation */
    double expert_s; /* likewise, of routing */
    double context_s;
} rank_time;

static double
busy_s(const rank_time *t)
{
    return t->forward_s + t->backward_s + t->recompute_s + t->tensor_s + t->expert_s + t->context_s;
}

/* Layers of a kind on a rank that run a part of their forward again. */
static double
layers_again(const sl_memory_case *c, uint32_t rank, const sl_stage *stage, uint32_t kind)
{
    if (!sl_schedule_is_block(c->question->model, kind))
        return 0.0;
    return sl_recompute_of(c->question->model, c->workload, c->plan, c->prices, rank, stage, kind)
        .layers;
}

/* Which pass a collective waits in is not kept apart: backward has as large a share of them as of the
 * rest. */
static sl_busy
busy_of(const rank_time *t)
{
    const double computing_s = t->forward_s + t->backward_s + t->recompute_s;
    const double backward_s = t->backward_s + t->recompute_s;
    const double all_s = busy_s(t);

    return (sl_busy){
        .all_s = all_s,
        .backward_s = computing_s > 0.0 ? all_s * backward_s / computing_s : 0.0,
        .weight_s = t->weight_s,
    };
}

static rank_time
measure_rank(const sl_memory_case *c, uint32_t r)
{
    const sl_model *model = c->question->model;
    const double copies = sl_schedule_copies(c->plan);
    rank_time t = {0};
    sl_stage stage;

    sl_schedule_stage(model, c->plan, r, &stage);
    for (uint32_t k = 0; k < model->kind_count; k++) {
        const sl_kind_price *price = &c->prices[k];
        const double layers = stage.layers[k] / copies; /* each copy runs its share of them */

        if (stage.layers[k] == 0)
            continue;
        t.forward_s += layers * price->forward_s;
        t.backward_s += layers * price->backward_s;
        t.tensor_s += layers * (sl_price_exposed_s(price->tensor_forward) +
                                sl_price_exposed_s(price->tensor_backward));
        t.expert_s += layers * (price->expert_forward.exposed_s + price->expert_backward.exposed_s);
        t.context_s +=
            layers * (price->context_forward.exposed_s + price->context_backward.exposed_s);
        if (sl_schedule_is_block(model, k))
            t.weight_s += layers * price->weight_s;
        const double again = layers_again(c, r, &stage, k);
        const sl_rerun rerun = sl_recompute_rerun(c->workload, price);
        t.recompute_s += again * rerun.forward_s;
        t.tensor_s += again * sl_price_exposed_s(rerun.tensor);
        t.expert_s += again * rerun.expert.exposed_s;
        t.context_s += again * rerun.context.exposed_s;
    }
    if (c->plan->host_run_count > 0) {
        const sl_host_time host = sl_host_measure(c, r);
        t.forward_s += host.forward_s;
        t.backward_s += host.backward_s;
        t.recompute_s += host.recompute_s;
        t.host_forward_s = host.forward_s;
        t.host_backward_s = host.backward_s;
    }
    /* Tokens of one direction travel while the other computes (DeepSeek-V3 section 3.2.1). */
    if (c->plan->schedule == SL_SCHEDULE_DUALPIPE)
        t.expert_s = sl_price_visible_s(t.expert_s, t.forward_s + t.backward_s, true);
    return t;
}

static void
set_term(sl_time *out, sl_term_id id, double seconds, const sl_input *inputs, uint32_t count)
{
    sl_term *term = &out->terms[id - SL_TERM_FORWARD];

    assert(id >= SL_TERM_FORWARD && id <= SL_TERM_OVERHEAD && count <= SL_TERM_INPUTS_MAX);
    *term = (sl_term){.id = id, .value = seconds, .input_count = count};
    memcpy(term->inputs, inputs, count * sizeof *inputs);
    out->step_s += seconds;
}

#define SET_TERM(out, id, seconds, ...)                                                            \
    set_term(out, id, seconds, (const sl_input[]){__VA_ARGS__},                                    \
             sizeof((const sl_input[]){__VA_ARGS__}) / sizeof(sl_input))

static void
add_communication(sl_time *out, const char *group, sl_collective kind, sl_level level, double bytes,
                  double seconds, double exposed)
{
    if (seconds <= 0.0)
        return;
    assert(out->communication_count < SL_COMMUNICATION_MAX);
    out->communication[out->communication_count++] = (sl_communication){
        .group = group,
        .collective = kind,
        .level = sl_level_name(level),
        .bytes_per_step = ceil(bytes), /* widths cut over ranks may leave a fraction */
        .seconds = seconds,
        .exposed_s = exposed,
    };
    out->exposed_communication_s += exposed;
}

/* What crosses the stage boundaries, one micro-batch in one direction. */
typedef struct hops {
    double bytes;     /* per rank, of the slowest hop */
    double slowest_s; /* and what it takes */
    double sum_s;     /* of them all */
    sl_level level;
} hops;

/* A hop that sends `whole` bytes, and the gather that follows it where the release splits the hidden
 * state over the tensor group for the wire only (Narayanan 2021 section 4.1). */
static double
hop_s(const sl_memory_case *c, const sl_group *pair, double whole, double *bytes)
{
    const sl_cluster *cluster = c->question->cluster;
    const bool scattered = c->software->scatter_sends && c->slice->spread < c->slice->tensor;

    *bytes = whole / (scattered ? c->slice->tensor : c->slice->spread);
    const double send_s = sl_collective_s(cluster, SL_COLLECTIVE_SEND_RECEIVE, pair, *bytes);
    if (!scattered)
        return send_s;

    const sl_group group = sl_group_of(cluster, c->plan->tensor, 1);
    return send_s + sl_collective_s(cluster, SL_COLLECTIVE_ALL_GATHER, &group, whole);
}

static hops
measure_hops(const sl_memory_case *c)
{
    hops h = {.level = SL_LEVEL_SCALE_UP};

    for (uint32_t r = 0; r + 1 < c->plan->pipeline; r++) {
        const sl_group pair = sl_ranks_between(c->question->cluster, c->plan, r, r + 1);
        double bytes = 0.0;
        const double seconds = hop_s(c, &pair, sl_memory_sent_bytes(c, r), &bytes);
        h.sum_s += seconds;
        if (seconds > h.slowest_s) {
            h.slowest_s = seconds;
            h.bytes = bytes;
            h.level = pair.level;
        }
    }
    return h;
}

static void
evaluate_pipeline(const sl_memory_case *c, uint64_t m, sl_time *out)
{
    const sl_plan *plan = c->plan;
    const double boundaries = plan->pipeline - 1.0;
    const hops h = measure_hops(c);
    const double fill_s =
        boundaries > 0.0 ? 2.0 * h.sum_s * sl_schedule_fill_boundaries(plan) / boundaries : 0.0;
    const double transfers = 2.0 * (double)m * plan->virtual_pipeline;
    const double steady_s = c->software->overlap_pipeline ? 0.0 : transfers * h.slowest_s;

    if (plan->pipeline == 1) {
        SET_TERM(out, SL_TERM_PIPELINE_COMMUNICATION, 0.0, {"pipeline", 1.0});
        return;
    }
    SET_TERM(out, SL_TERM_PIPELINE_COMMUNICATION, fill_s + steady_s, {"bytes_per_send", h.bytes},
             {"send_s", h.slowest_s}, {"boundaries", boundaries},
             {"exposed_sends_per_step", c->software->overlap_pipeline ? 0.0 : transfers},
             {"fill_and_drain_s", fill_s});
    add_communication(out, "pipeline", SL_COLLECTIVE_SEND_RECEIVE, h.level, transfers * h.bytes,
                      transfers * h.slowest_s + fill_s, fill_s + steady_s);
}

typedef struct data_time {
    double reduce_s, gather_s, replica_s, copy_s;
    double reduce_bytes, gather_bytes, replica_bytes, copy_bytes;
    double reduce_exposed_s, gather_exposed_s; /* that of the reduction with the replicas' */
    sl_level copy_level;
} data_time;

/* The ranks that share one copy of the states, and those that hold the same part of other copies. */
/* The ranks that share one copy of the states, those of them that have the same experts, and the ranks
 * that hold the same part of other copies. */
typedef struct data_groups {
    sl_group shard, experts, replicas;
} data_groups;

static data_groups
find_data_groups(const sl_memory_case *c)
{
    const sl_cluster *cluster = c->question->cluster;
    const sl_plan *plan = c->plan;
    const sl_strides strides = sl_ranks_strides(plan);
    const uint64_t copies = plan->shard_group > 0 ? plan->data / plan->shard_group : 1;
    const uint64_t shard = (uint64_t)plan->data / copies * plan->context;
    const uint64_t spread = (uint64_t)plan->expert * sl_plan_expert_tensor(plan);
    const uint64_t alike = shard * plan->tensor / spread;

    return (data_groups){
        .shard = sl_group_of(cluster, shard, strides.replica),
        .experts =
            sl_group_of(cluster, alike > 1 ? alike : 1, spread * strides.replica / plan->tensor),
        .replicas = sl_group_of(cluster, copies, strides.replica * shard),
    };
}

/* One collective over the data ranks, of what is dense and of what is routed. */
static double
over_data_s(const sl_memory_case *c, const data_groups *groups, sl_collective kind, double dense,
            double routed)
{
    const sl_cluster *cluster = c->question->cluster;

    return sl_collective_s(cluster, kind, &groups->shard, dense) +
           sl_collective_s(cluster, kind, &groups->experts, routed);
}

typedef struct data_rounds {
    double reduces, gathers; /* of all gradients, of all parameters, in a step */
} data_rounds;

/* Whole gradients are summed over the micro-batches and reduced once; divided ones are reduced with
 * each. Divided parameters are gathered for each forward, and for each backward where they were let
 * go; whole ones once, after the optimizer wrote its part. */
static data_rounds
count_rounds(const sl_memory_case *c)
{
    const double m =
        (double)sl_plan_microbatches(c->workload, c->plan) / sl_schedule_copies(c->plan);
    const sl_shards shards = sl_states_shards(c->workload, c->plan);
    const bool divided = shards.parameters.dense > 1.0;

    return (data_rounds){
        .reduces = shards.gradients.dense > 1.0 ? m : 1.0,
        .gathers = divided ? (sl_states_reshards(c->workload, c->plan) ? 2.0 * m : m)
                   : c->plan->zero_stage >= 1 ? 1.0
                                              : 0.0,
    };
}

/* Two copies of the model in one pipeline add up their gradients: the ranks that hold the same
 * stages, each the part of them that its data group left it. */
static void
measure_copies(const sl_memory_case *c, uint32_t r, double part, double rounds, data_time *d)
{
    const uint32_t mirror = c->plan->pipeline - 1 - r;
    const uint32_t low = r < mirror ? r : mirror;
    const uint32_t high = r < mirror ? mirror : r;

    if (sl_schedule_copies(c->plan) == 1)
        return;
    const sl_group pair = sl_ranks_between(c->question->cluster, c->plan, low, high);
    d->copy_bytes = rounds * part;
    d->copy_level = pair.level;
    d->copy_s =
        rounds * sl_collective_s(c->question->cluster, SL_COLLECTIVE_ALL_REDUCE, &pair, part);
}

static data_time
measure_data(const sl_memory_case *c, const data_groups *groups, const rank_time *t, uint32_t r,
             double drained_s)
{
    const sl_cluster *cluster = c->question->cluster;
    const bool sharded = c->plan->zero_stage >= 1;
    const double copies = sl_schedule_copies(c->plan);
    const data_rounds rounds = count_rounds(c);
    sl_stage stage;
    data_time d = {0};

    sl_schedule_stage(c->question->model, c->plan, r, &stage);
    const sl_elements elements = sl_states_stage(c->question->model, c->prices, &stage);
    const sl_layout layout = sl_states_layout(c->workload, &elements);
    const double routed = elements.all > 0.0 ? elements.routed / elements.all : 0.0;
    const double reduce_bytes =
        elements.all * sl_states_reduce_bytes(c->workload, &layout) + 4.0 * elements.adapters;
    const double gather_bytes =
        elements.matrices * sl_states_gather_bytes(c->workload, &layout, true) +
        (elements.all - elements.matrices) * sl_states_gather_bytes(c->workload, &layout, false);
    d.reduce_bytes = rounds.reduces * reduce_bytes;
    d.reduce_s =
        rounds.reduces *
        over_data_s(c, groups, sharded ? SL_COLLECTIVE_REDUCE_SCATTER : SL_COLLECTIVE_ALL_REDUCE,
                    (1.0 - routed) * reduce_bytes, routed * reduce_bytes);
    if (groups->replicas.ranks > 1.0) {
        const double part = reduce_bytes / groups->shard.ranks;
        d.replica_bytes = rounds.reduces * part;
        d.replica_s = rounds.reduces *
                      sl_collective_s(cluster, SL_COLLECTIVE_ALL_REDUCE, &groups->replicas, part);
    }
    measure_copies(c, r, sharded ? reduce_bytes / groups->shard.ranks : reduce_bytes,
                   rounds.reduces, &d);
    /* What is one unit is gathered before it runs, and reduced after. */
    const bool whole = !c->software->traced_sharding &&
                       sl_unit_is_whole(c->question->model, &c->plan->unit, c->slice, c->prices);
    d.reduce_exposed_s =
        fmax(0.0, sl_price_visible_s(d.reduce_s + d.replica_s + d.copy_s,
                                     rounds.reduces * copies * t->backward_s,
                                     c->software->overlap_gradient_reduce && !whole) -
                      drained_s);
    if (rounds.gathers > 0.0) {
        /* Backward, which a second gather runs under, takes about twice the forward. */
        d.gather_bytes = rounds.gathers * gather_bytes;
        d.gather_s =
            rounds.gathers *
            (sl_collective_s(cluster, SL_COLLECTIVE_ALL_GATHER, &groups->shard, gather_bytes) +
             sl_offload_fetch_s(cluster, c->workload, c->plan, &elements));
        d.gather_exposed_s = sl_price_visible_s(d.gather_s, rounds.gathers * copies * t->forward_s,
                                                c->software->overlap_parameter_gather && !whole);
    }
    return d;
}

/* First and last stage, where they are apart, hold one copy each of a tied embedding and add up its
 * gradients. */
static double
tied_gradient_s(const sl_memory_case *c, double *bytes, sl_level *level)
{
    const sl_model *model = c->question->model;
    const sl_plan *plan = c->plan;

    if (!model->tied || !sl_schedule_ends_apart(plan))
        return 0.0;

    const sl_layer_kind *embedding = &model->kinds[model->layers[0]];
    const sl_group pair = sl_ranks_between(c->question->cluster, plan, 0, plan->pipeline - 1);

    assert(embedding->tensor_count >= 1);
    *level = pair.level;
    const sl_elements table = {.all = sl_slice_elements(c->slice, &embedding->tensors[0])};
    *bytes = table.all * sl_states_layout(c->workload, &table).gradient_bytes;
    return sl_collective_s(c->question->cluster, SL_COLLECTIVE_ALL_REDUCE, &pair, *bytes);
}

/* DataParallel: parameters out, outputs and gradients in, of every micro-batch and in the open. */
static void
evaluate_lent(const sl_memory_case *c, sl_time *out)
{
    const double m = (double)sl_plan_microbatches(c->workload, c->plan);
    const sl_lent_traffic sent = sl_lent_send(c);
    const sl_group group = sl_group_of(c->question->cluster, c->plan->data, 1);
    const double total_s = m * (sent.parameter_s + sent.gradient_s + sent.output_s);

    SET_TERM(out, SL_TERM_DATA_COMMUNICATION, total_s, {"data", c->plan->data},
             {"gradient_bytes", m * sent.gradient_bytes},
             {"gradient_exposed_s", m * sent.gradient_s},
             {"parameter_bytes", m * sent.parameter_bytes},
             {"parameter_exposed_s", m * sent.parameter_s}, {"output_bytes", m * sent.output_bytes},
             {"output_exposed_s", m * sent.output_s});
    add_communication(out, "data", SL_COLLECTIVE_BROADCAST, group.level, m * sent.parameter_bytes,
                      m * sent.parameter_s, m * sent.parameter_s);
    add_communication(out, "data", SL_COLLECTIVE_REDUCE, group.level, m * sent.gradient_bytes,
                      m * sent.gradient_s, m * sent.gradient_s);
    add_communication(out, "data", SL_COLLECTIVE_SEND_RECEIVE, group.level, m * sent.output_bytes,
                      m * sent.output_s, m * sent.output_s);
}

static void
evaluate_data(const sl_memory_case *c, const rank_time times[SL_PIPELINE_MAX], sl_time *out)
{
    const sl_plan *plan = c->plan;

    if (sl_lent_devices(c->workload, plan) > 0) {
        evaluate_lent(c, out);
        return;
    }

    const data_groups groups = find_data_groups(c);
    const sl_group group = groups.shard;
    double drained_s = 0.0;
    double tied_bytes = 0.0;
    data_time worst = {0};

    for (uint32_t r = 0; r < plan->pipeline; r++) {
        const data_time d = measure_data(c, &groups, &times[r], r, drained_s);
        if (r == 0 || d.reduce_exposed_s + d.gather_exposed_s >
                          worst.reduce_exposed_s + worst.gather_exposed_s)
            worst = d;
        const sl_busy busy = {.backward_s = times[r].backward_s + times[r].recompute_s,
                              .weight_s = times[r].weight_s};
        drained_s += sl_schedule_drain_s(plan, &busy);
    }

    const double all_s = worst.reduce_s + worst.replica_s + worst.copy_s;
    const double exposed = all_s > 0.0 ? worst.reduce_exposed_s / all_s : 0.0;
    sl_level tied_level = SL_LEVEL_NETWORK;
    const double tied_s = tied_gradient_s(c, &tied_bytes, &tied_level);
    const double total_s = worst.reduce_exposed_s + worst.gather_exposed_s + tied_s;

    SET_TERM(out, SL_TERM_DATA_COMMUNICATION, total_s, {"data", plan->data},
             {"gradient_bytes", worst.reduce_bytes}, {"gradient_s", worst.reduce_s},
             {"gradient_exposed_s", worst.reduce_exposed_s},
             {"parameter_bytes", worst.gather_bytes}, {"parameter_s", worst.gather_s},
             {"parameter_exposed_s", worst.gather_exposed_s}, {"tied_embedding_s", tied_s},
             {"members_per_node", group.members_per_node}, {"nodes", group.nodes});
    add_communication(out, "data",
                      plan->zero_stage >= 1 ? SL_COLLECTIVE_REDUCE_SCATTER
                                            : SL_COLLECTIVE_ALL_REDUCE,
                      group.level, worst.reduce_bytes, worst.reduce_s, exposed * worst.reduce_s);
    add_communication(out, "data", SL_COLLECTIVE_ALL_GATHER, group.level, worst.gather_bytes,
                      worst.gather_s, worst.gather_exposed_s);
    add_communication(out, "replicas", SL_COLLECTIVE_ALL_REDUCE, groups.replicas.level,
                      worst.replica_bytes, worst.replica_s, exposed * worst.replica_s);
    add_communication(out, "copies", SL_COLLECTIVE_ALL_REDUCE, worst.copy_level, worst.copy_bytes,
                      worst.copy_s, exposed * worst.copy_s);
    add_communication(out, "embedding", SL_COLLECTIVE_ALL_REDUCE, tied_level, tied_bytes, tied_s,
                      tied_s);
}

/* On the host: gradients go down under backward as they are reduced, Megatron's when all are summed;
 * then the update, and the parameters up again. */
static void
evaluate_host_step(const sl_memory_case *c, const sl_elements *most, double backward_s,
                   sl_time *out)
{
    const bool summed = c->workload->framework == SL_FRAMEWORK_MEGATRON;
    const double rounds = summed ? 1.0 : count_rounds(c).reduces;
    const sl_host_step step = sl_offload_step(c->question, c->workload, c->plan, most, rounds);
    const double sent_s = sl_price_visible_s(step.gradients_s, rounds * backward_s, !summed);

    SET_TERM(out, SL_TERM_OPTIMIZER_STEP, step.update_s + sent_s + step.parameters_s,
             {"parameters", most->all}, {"host_update_s", step.update_s},
             {"gradients_s", step.gradients_s}, {"gradients_exposed_s", sent_s},
             {"parameters_s", step.parameters_s},
             {"host_bytes_per_s", c->question->cluster->accelerator.host_bytes_per_s});
}

/* Seconds of one byte of each parameter that hosts have: those of one node work one by one. */
static double
host_sweep_s(const sl_memory_case *c)
{
    double seconds = 0.0;

    for (uint32_t r = 0; c->plan->host_run_count > 0 && r < c->plan->pipeline; r++)
        seconds += sl_host_measure(c, r).sweep_s;
    return seconds;
}

/* The sharded part: the gradient is read for its norm, read and written by the clip, read by the
 * update, which reads and writes states and master weights and writes the parameters. Zeroing
 * sweeps the whole local gradient. */
static void
evaluate_optimizer(const sl_memory_case *c, double backward_s, sl_time *out)
{
    const sl_shards shards = sl_states_shards(c->workload, c->plan);
    sl_elements most = {0};

    for (uint32_t r = 0; r < c->plan->pipeline; r++) {
        sl_stage stage;
        sl_schedule_stage(c->question->model, c->plan, r, &stage);
        const sl_elements here = sl_states_stage(c->question->model, c->prices, &stage);
        if (here.all > most.all)
            most = here;
    }

    if (c->workload->offload.optimizer) {
        evaluate_host_step(c, &most, backward_s, out);
        return;
    }

    const sl_layout layout = sl_states_layout(c->workload, &most);
    const double g = layout.gradient_bytes;
    /* Ranks that each hold a part, on average over dense parameters and routed ones. */
    const double all = fmax(1.0, most.all);
    const double shard = all / fmax(1.0, sl_states_at_rest(&most, &shards.optimizer));
    const double zeroed = g * sl_states_at_rest(&most, &shards.gradients) / all;
    /* Without a master copy the update reads the parameters themselves. */
    const double weights = layout.master_bytes > 0.0
                               ? 2.0 * layout.master_bytes + layout.parameter_bytes
                               : 2.0 * layout.parameter_bytes;
    const double sharded = 4.0 * g + 2.0 * layout.optimizer_bytes + weights;
    const double bandwidth =
        optimizer_bandwidth_ratio * c->question->cluster->accelerator.memory_bytes_per_s;

    /* The host steps on its blocks after the device on its own, and sweeps what the device does. */
    const double host_s = host_sweep_s(c) * (sharded + g);

    SET_TERM(out, SL_TERM_OPTIMIZER_STEP,
             most.all * (sharded / shard + zeroed) / bandwidth + host_s, {"parameters", most.all},
             {"host_s", host_s}, {"bytes_per_parameter", sharded}, {"shards", shard},
             {"zeroed_bytes_per_parameter", zeroed}, {"bandwidth_bytes_per_s", bandwidth});
}

static void
add_runs(sl_traffic *sum, double runs, const sl_traffic *of)
{
    sum->bytes += runs * of->bytes;
    sum->busy_s += runs * of->busy_s;
    sum->exposed_s += runs * of->exposed_s;
}

/* What the ranks that share experts or sequences send each other over the step, on the slowest
 * stage. */
static void
add_shared_rows(const sl_memory_case *c, uint32_t rank, const sl_stage *stage, double microbatches,
                sl_time *out)
{
    const sl_model *model = c->question->model;
    const sl_cluster *cluster = c->question->cluster;
    const sl_group experts = sl_group_of(cluster, c->plan->expert, sl_plan_expert_tensor(c->plan));
    const sl_group sequence = sl_group_of(cluster, c->plan->context, c->plan->tensor);
    sl_collective collective = SL_COLLECTIVE_SEND_RECEIVE;
    sl_traffic routed = {0};
    sl_traffic shared = {0};

    for (uint32_t k = 0; k < model->kind_count; k++) {
        const sl_kind_price *price = &c->prices[k];
        const double runs = microbatches * stage->layers[k];
        const double again = microbatches * layers_again(c, rank, stage, k);
        const sl_rerun rerun = sl_recompute_rerun(c->workload, price);
        add_runs(&routed, runs, &price->expert_forward);
        add_runs(&routed, again, &rerun.expert);
        add_runs(&routed, runs, &price->expert_backward);
        add_runs(&shared, runs, &price->context_forward);
        add_runs(&shared, again, &rerun.context);
        add_runs(&shared, runs, &price->context_backward);
        if (price->context_forward.busy_s > 0.0)
            collective = price->context_collective;
    }
    /* The schedule may hide more than a layer of its own does. */
    const sl_term *exposed = &out->terms[SL_TERM_EXPERT_COMMUNICATION - SL_TERM_FORWARD];
    add_communication(out, "expert", SL_COLLECTIVE_ALL_TO_ALL, experts.level, routed.bytes,
                      routed.busy_s, exposed->value);
    add_communication(out, "context", collective, sequence.level, shared.bytes, shared.busy_s,
                      shared.exposed_s);
}

/* One row per kind of collective of the tensor group, over the step and the slowest stage. */
static void
add_tensor_rows(const sl_memory_case *c, uint32_t rank, double microbatches, sl_time *out)
{
    const sl_model *model = c->question->model;
    const sl_group group = sl_group_of(c->question->cluster, c->plan->tensor, 1);
    sl_stage stage;

    sl_schedule_stage(model, c->plan, rank, &stage);
    for (uint32_t kind = 0; kind < SL_COLLECTIVE_COUNT; kind++) {
        sl_traffic sum = {0};
        for (uint32_t k = 0; k < model->kind_count; k++) {
            const sl_rerun rerun = sl_recompute_rerun(c->workload, &c->prices[k]);
            const double runs = microbatches * stage.layers[k];
            add_runs(&sum, runs, &c->prices[k].tensor_forward[kind]);
            add_runs(&sum, microbatches * layers_again(c, rank, &stage, k), &rerun.tensor[kind]);
            add_runs(&sum, runs, &c->prices[k].tensor_backward[kind]);
        }
        add_communication(out, "tensor", (sl_collective)kind, group.level, sum.bytes, sum.busy_s,
                          sum.exposed_s);
    }
    add_shared_rows(c, rank, &stage, microbatches, out);
}

/* Hidden states of blocks that the host runs, there and back. */
static void
add_host_row(const sl_memory_case *c, uint32_t rank, double microbatches, sl_time *out)
{
    if (c->plan->host_run_count == 0)
        return;
    const sl_host_time host = sl_host_measure(c, rank);
    add_communication(out, "host", SL_COLLECTIVE_SEND_RECEIVE, SL_LEVEL_HOST,
                      microbatches * host.sent_bytes, microbatches * host.sent_s,
                      microbatches * host.sent_s);
}

static void
evaluate_slowest(const sl_memory_case *c, const rank_time *t, const sl_span *span, uint64_t m,
                 sl_time *out)
{
    const double count = (double)m;

    SET_TERM(out, SL_TERM_FORWARD, count * t->forward_s, {"microbatches", count},
             {"microbatch_forward_s", t->forward_s}, {"slowest_stage", span->slowest},
             {"microbatch_host_s", t->host_forward_s});
    SET_TERM(out, SL_TERM_BACKWARD, count * t->backward_s, {"microbatches", count},
             {"microbatch_backward_s", t->backward_s}, {"slowest_stage", span->slowest},
             {"microbatch_host_s", t->host_backward_s});
    SET_TERM(out, SL_TERM_RECOMPUTE, count * t->recompute_s, {"microbatches", count},
             {"microbatch_recompute_s", t->recompute_s});
    SET_TERM(out, SL_TERM_TENSOR_COMMUNICATION, count * t->tensor_s, {"microbatches", count},
             {"microbatch_exposed_s", t->tensor_s}, {"tensor", c->plan->tensor});
    SET_TERM(out, SL_TERM_CONTEXT_COMMUNICATION, count * t->context_s, {"microbatches", count},
             {"microbatch_exposed_s", t->context_s}, {"context", c->plan->context});
    SET_TERM(out, SL_TERM_EXPERT_COMMUNICATION, count * t->expert_s, {"microbatches", count},
             {"microbatch_exposed_s", t->expert_s}, {"expert", c->plan->expert});
    SET_TERM(out, SL_TERM_BUBBLE, span->bubble_s, {"busy_sum_s", span->sum_s},
             {"slowest_busy_s", busy_s(t)}, {"slowest_weight_s", t->weight_s},
             {"chunks_per_rank", c->plan->virtual_pipeline});
    add_host_row(c, span->slowest, count, out);
    add_tensor_rows(c, span->slowest, count / sl_schedule_copies(c->plan), out);
}

void
sl_step_evaluate(const sl_memory_case *c, sl_time *out)
{
    const uint64_t m = sl_plan_microbatches(c->workload, c->plan);
    rank_time times[SL_PIPELINE_MAX];
    sl_busy busy[SL_PIPELINE_MAX];

    for (uint32_t r = 0; r < c->plan->pipeline; r++) {
        times[r] = measure_rank(c, r);
        busy[r] = busy_of(&times[r]);
    }

    const sl_span span = sl_schedule_span(c->plan, m, busy);

    *out = (sl_time){.bubble_ratio = span.idle_ratio};
    evaluate_slowest(c, &times[span.slowest], &span, m, out);
    evaluate_pipeline(c, m, out);
    evaluate_data(c, times, out);
    evaluate_optimizer(c, times[span.slowest].backward_s, out);
    SET_TERM(out, SL_TERM_OVERHEAD, c->software->step_overhead_s,
             {"step_overhead_s", c->software->step_overhead_s});
}

/* Of one micro-batch, over all stages. */
static double
flops_again(const sl_memory_case *c)
{
    double flops = 0.0;

    for (uint32_t r = 0; r < c->plan->pipeline; r++) {
        sl_stage stage;
        sl_schedule_stage(c->question->model, c->plan, r, &stage);
        for (uint32_t k = 0; k < c->question->model->kind_count; k++) {
            const sl_rerun rerun = sl_recompute_rerun(c->workload, &c->prices[k]);
            flops += layers_again(c, r, &stage, k) * (rerun.matmul_flops + rerun.attention_flops);
        }
    }
    return flops;
}

void
sl_step_throughput(const sl_memory_case *c, const sl_time *time, sl_throughput *out)
{
    const sl_model *model = c->question->model;
    const sl_workload *workload = c->workload;
    const double world = (double)sl_plan_world(c->plan);
    const double microbatches =
        (double)sl_plan_microbatches(workload, c->plan) * (double)c->plan->data * c->plan->context;
    const double peak = c->question->cluster->accelerator.peak_flops_per_s[workload->precision];
    double full = 0.0;
    double causal = 0.0;
    const double again = flops_again(c);

    for (uint32_t i = 0; i < model->layer_count; i++) {
        const sl_kind_price *price = &c->prices[model->layers[i]];
        full += price->matmul_flops + price->attention_flops;
        causal += price->matmul_flops + price->causal_flops;
    }

    const double tokens = (double)workload->global_batch * (double)workload->sequence_length;
    const double available = time->step_s * world * peak;
    const double model_flops = 3.0 * full * microbatches;
    const double causal_flops = 3.0 * causal * microbatches;
    const double hardware_flops = model_flops + again * microbatches;

    *out = (sl_throughput){
        .tokens_per_s = tokens / time->step_s,
        .tokens_per_s_per_accelerator = tokens / time->step_s / world,
        .samples_per_s = (double)workload->global_batch / time->step_s,
        .model_flops_per_s_per_accelerator = model_flops / time->step_s / world,
        .mfu_full = model_flops / available,
        .mfu_causal = causal_flops / available,
        .hfu = hardware_flops / available,
        .peak_flops_per_s = peak,
        .time_to_train_s =
            workload->tokens > 0 ? (double)workload->tokens / tokens * time->step_s : 0.0,
        .model_flops = model_flops,
        .causal_flops = causal_flops,
        .hardware_flops = hardware_flops,
    };
}
