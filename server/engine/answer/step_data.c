/* What a step sends of gradients and parameters over the data ranks. */
#include "engine/answer/step_parts.h"

#include <assert.h>
#include <stddef.h>

#include "engine/extremes.h"
#include "engine/links/lists.h"
#include "engine/memory/offload.h"
#include "engine/placement/adapter.h"
#include "engine/placement/gather.h"
#include "engine/placement/lent.h"
#include "engine/placement/ranks.h"
#include "engine/placement/unit.h"

sl_data_rounds
sl_step_data_rounds(const sl_memory_case *c)
{
    const double m =
        (double)sl_plan_microbatches(c->workload, c->plan) / sl_schedule_copies(c->plan);
    const sl_shards *shards = &c->holdings->shards;
    const bool divided = shards->parameters.dense > 1.0;
    const bool each = sl_plan_gradient_sync(c->workload, c->plan) == SL_GRADIENT_SYNC_EACH;
    const double starts = sl_states_keeps_gathered(c->workload, c->plan) ? 1.0 : m;

    return (sl_data_rounds){
        .reduces = each && c->plan->data * c->plan->context > 1 ? m : 1.0,
        .gathers = divided ? (sl_states_reshards(c->workload, c->plan) ? 2.0 * m : starts)
                   : sl_states_divides_masters(c->workload, c->plan) ? 1.0
                                                                     : 0.0,
        .starts = divided ? starts : 1.0,
    };
}

static void
find_groups(const sl_memory_case *c, sl_data_groups *out)
{
    const sl_cluster *cluster = c->cluster;
    const sl_plan *plan = c->plan;
    const bool has_experts = c->question->model->experts > 0;
    const bool whole = !sl_states_divides_masters(c->workload, plan);
    const sl_layout *layout = &sl_holding_of(c->holdings, 0)->layouts.all;

    out->shard = sl_ranks_group(cluster, plan, SL_AXIS_SHARD);
    out->experts = has_experts ? sl_ranks_group(cluster, plan, SL_AXIS_EXPERT_SHARD)
                               : sl_group_of(cluster, 1, 1);
    out->replicas = sl_ranks_group(cluster, plan, SL_AXIS_REPLICAS);
    out->rounds = sl_step_data_rounds(c);
    out->sums_whole = sl_states_sums_beside(c->workload, plan, layout);
    out->reduce = plan->zero_stage >= 1 && !out->sums_whole ? SL_COLLECTIVE_REDUCE_SCATTER
                                                            : SL_COLLECTIVE_ALL_REDUCE;
    out->owners = sl_states_has_owners(c->software, plan);
    assert(!whole || out->rounds.gathers == 0.0); /* else one way would not do for both */
    sl_transfer_prepare(cluster, &out->shard, whole, &out->dense);
    if (has_experts)
        sl_transfer_prepare(cluster, &out->experts, whole, &out->routed);
}

sl_data_groups
sl_step_data_groups(const sl_memory_case *c)
{
    sl_data_groups out;

    find_groups(c, &out);
    return out;
}

/* Broadcasts and reductions to an owner go around the ring like gathers and scattered reductions
 * of a little more. */
static double
piece_s(const sl_data_groups *groups, const sl_transfer *over, sl_collective kind, double bytes)
{
    return sl_transfer_s(over, kind,
                         groups->owners ? bytes * sl_collective_message_ratio(over->group.ranks)
                                        : bytes);
}

/* Collectives over the data ranks, of what is dense and of what is routed, each in pieces. */
static double
over_data_s(const sl_data_groups *groups, sl_collective kind, double pieces, double dense,
            double routed)
{
    const double routed_s =
        routed > 0.0 ? piece_s(groups, &groups->routed, kind, routed / pieces) : 0.0;

    return pieces * (piece_s(groups, &groups->dense, kind, dense / pieces) + routed_s);
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

/* What a rank computes of one micro-batch [s], which hides what travels meanwhile. */
typedef struct cover {
    double forward_s, backward_s;
    double weight_s; /* where it is the last pass of the one chunk that a rank holds, else 0 */
} cover;

/* Whether gradients of weights are the last pass of the one chunk that a rank holds: of two chunks
 * one is reduced while the other's passes run. */
static bool
weights_last(const sl_plan *plan)
{
    return sl_schedule_splits_backward(plan) && sl_schedule_held(plan) == 1;
}

static cover
cover_of(const sl_memory_case *c, const sl_rank_time *t)
{
    const double copies = sl_schedule_copies(c->plan);

    return (cover){.forward_s = copies * t->forward.computing_s,
                   .backward_s = copies * (t->backward.computing_s + t->again.computing_s),
                   .weight_s = weights_last(c->plan) ? t->weight_s : 0.0};
}

/* Of `seconds` in so many rounds what nothing hides: `beside_s` of each does, and `between_s`
 * before the next one. What is left of the last has nothing after it. */
static double
visible_s(const sl_software *software, double seconds, double rounds, double beside_s,
          double between_s)
{
    return sl_larger(
        sl_price_visible_s(software, seconds, rounds * beside_s + (rounds - 1.0) * between_s, true),
        sl_price_visible_s(software, seconds / rounds, beside_s, true));
}

/* Of `seconds` once in a step what nothing hides: `edge_s` lies under nothing. Interleaved, a
 * chunk's part is wanted a group of micro-batches after that of the one before. */
static double
once_s(const sl_memory_case *c, double seconds, double edge_s, double cover_s)
{
    const sl_plan *plan = c->plan;
    const bool apart = sl_schedule_of(plan) == SL_SCHEDULE_INTERLEAVED_1F1B;
    const double chunks = apart ? plan->virtual_pipeline : 1.0;
    const double group =
        sl_smaller(plan->pipeline, (double)sl_plan_microbatches(c->workload, plan));
    const double part_s = seconds / chunks;
    const double covers_s = ((chunks - 1.0) * group + 1.0) * cover_s / chunks;
    const double own_s =
        sl_smaller(edge_s, part_s) + sl_larger(0.0, part_s - edge_s - cover_s / chunks);
    const double open_s = sl_larger(own_s, seconds - covers_s);

    return sl_price_visible_s(c->software, seconds, seconds - open_s, true);
}

/* Whether gradients go one of two ways, over the network or not, unlike those of the shards. */
static bool
goes_otherwise(const sl_data_groups *groups, double seconds, sl_level level)
{
    return seconds <= 0.0 ||
           (level == SL_LEVEL_NETWORK) != (groups->shard.level == SL_LEVEL_NETWORK);
}

/* Whether gradients are reduced while backward runs. */
static bool
reduces_beside(const sl_memory_case *c, const sl_data_time *d)
{
    return c->software->overlap_gradient_reduce && !d->whole &&
           !sl_states_reduces_after(c->workload, c->plan);
}

/* Copies of the states that have links of their own are summed while the next part is reduced. */
static bool
sums_beside(const sl_memory_case *c, const sl_data_groups *groups, const sl_data_time *d)
{
    return reduces_beside(c, d) && d->replica_s + d->copy_s > 0.0 &&
           goes_otherwise(groups, d->replica_s, groups->replicas.level) &&
           goes_otherwise(groups, d->copy_s, d->copy_level);
}

double
sl_step_reductions_s(const sl_memory_case *c, const sl_data_groups *groups, const sl_data_time *d)
{
    const double early = 1.0 - d->last / d->rounds.reduces;
    const double others_s = d->replica_s + d->copy_s;

    return sums_beside(c, groups, d) ? d->last_s + early * sl_larger(d->reduce_s, others_s)
                                     : d->reduce_s + others_s;
}

/* Of reductions what nothing hides. The last lies under nothing; the others run under backward,
 * beside what is gathered for it over the same links, and while the next micro-batch runs forward
 * unless that is gathered for. */
static double
reductions_s(const sl_memory_case *c, const sl_data_groups *groups, const cover *one,
             const sl_data_time *d)
{
    const sl_software *software = c->software;
    const double rounds = d->rounds.reduces;
    const double early = 1.0 - d->last / rounds;
    const double reduce_s = early * d->reduce_s;
    const double others_s = early * (d->replica_s + d->copy_s);
    const double gather_s = d->gathered > 0.0 ? d->gather_s / d->gathered : 0.0;
    const bool gathers = software->overlap_parameter_gather && d->rounds.gathers > d->rounds.starts;
    const double backward_s =
        gathers ? sl_larger(0.0, one->backward_s - gather_s) : one->backward_s;
    const double between_s = d->rounds.starts > 1.0 && gather_s > 0.0 ? 0.0 : one->forward_s;

    if (!reduces_beside(c, d))
        return d->last_s + reduce_s + others_s;
    if (sums_beside(c, groups, d))
        return d->last_s +
               sl_larger(visible_s(software, reduce_s, rounds, backward_s, between_s),
                         visible_s(software, others_s, rounds, one->backward_s, one->forward_s));
    if (rounds == 1.0)
        return once_s(c, d->last_s + reduce_s + others_s, d->last_s,
                      one->weight_s > 0.0 ? one->weight_s : backward_s);
    return d->last_s + visible_s(software, reduce_s + others_s, rounds, backward_s, between_s);
}

/* Of the elements `routed` are shared over fewer ranks [ratio]. */
static void
measure_gathers(const sl_memory_case *c, const sl_data_groups *groups, const sl_holding *holding,
                const sl_edges *edges, double routed, sl_data_time *d)
{
    const sl_data_rounds rounds = groups->rounds;
    const sl_elements *elements = &holding->elements;
    const sl_elements sent = sl_gather_sent(c, holding);
    const double bytes = sl_gather_bytes(c, holding);
    const sl_lists lists = sl_lists_count(c, &holding->stage);
    const double again = 1.0 + lists.again_ratio * rounds.starts / rounds.gathers;
    const double one_s = over_data_s(groups, SL_COLLECTIVE_ALL_GATHER, edges->gathers,
                                     (1.0 - routed) * bytes, routed * bytes) +
                         sl_lists_gather_s(c, lists.gathered, groups->shard.ranks, bytes);

    /* What is gathered first stays from forward to backward, which needs it last. */
    const double first = edges->first / sl_larger(1.0, sent.all);
    d->gathered = rounds.gathers - (rounds.gathers - rounds.starts) * first;
    const double staying = edges->gathers > 1.0 ? 1.0 : first; /* of the pieces */
    d->gathers =
        again * (rounds.gathers * edges->gathers - (rounds.gathers - rounds.starts) * staying);
    d->gather_bytes = d->gathered * again * bytes;
    d->fetch_s = d->gathered * sl_offload_fetch_s(c->cluster, c->workload, c->plan, elements);
    d->gather_s = d->fetch_s + d->gathered * again * one_s;
    d->first_s = first * d->gather_s * rounds.starts / d->gathered;
}

/* Reductions of a whole step: of what is dense and of what is routed, and for each tensor apart where
 * a release reduces by lists. */
static double
reduce_all_s(const sl_memory_case *c, const sl_data_groups *groups, sl_collective kind,
             const sl_holding *holding, double pieces, double routed, double bytes)
{
    const sl_lists lists = sl_lists_count(c, &holding->stage);

    return groups->rounds.reduces *
           (over_data_s(groups, kind, pieces, (1.0 - routed) * bytes, routed * bytes) +
            sl_lists_reduce_s(c, lists.reduced, groups->shard.ranks, bytes));
}

/* The same of gradients that are summed up whole where parameters are gathered. */
static double
reduce_whole_s(const sl_memory_case *c, const sl_data_groups *groups, const sl_holding *holding,
               double pieces, double routed, double bytes)
{
    sl_data_groups whole = *groups;

    sl_transfer_prepare(c->cluster, &whole.shard, true, &whole.dense);
    if (c->question->model->experts > 0)
        sl_transfer_prepare(c->cluster, &whole.experts, true, &whole.routed);
    return reduce_all_s(c, &whole, SL_COLLECTIVE_ALL_REDUCE, holding, pieces, routed, bytes);
}

/* Megatron's instances, and groups of its FSDP, add up after the last micro-batch alone
 * (megatron_fsdp.py, is_last_microbatch). */
static double
replica_rounds(const sl_memory_case *c, const sl_data_rounds *rounds)
{
    return c->workload->framework == SL_FRAMEWORK_MEGATRON ? 1.0 : rounds->reduces;
}

/* What travels, and of that what lies under nothing. */
static void
measure_traffic(const sl_memory_case *c, const sl_data_groups *groups, uint32_t r, sl_data_time *d)
{
    const sl_cluster *cluster = c->cluster;
    const bool sharded = c->plan->zero_stage >= 1;
    const sl_data_rounds rounds = groups->rounds;
    const sl_holding *holding = sl_holding_of(c->holdings, r);
    const sl_elements sent = sl_gather_sent(c, holding);
    const sl_layout *layout = &holding->layouts.all;
    const sl_edges edges = sl_gather_edges(c, holding);

    d->rounds = rounds;
    d->replica_s = d->replica_bytes = d->copy_s = d->copy_bytes = 0.0;
    d->gather_s = d->gather_bytes = d->first_s = d->fetch_s = d->gathered = d->gathers = 0.0;
    d->gather_exposed_s = d->reduce_exposed_s = d->copied_s = 0.0;
    d->copy_level = SL_LEVEL_SCALE_UP;
    const double routed = sent.all > 0.0 ? sent.routed / sent.all : 0.0;
    const double reduce_bytes = sent.all * sl_states_reduce_bytes(c->workload, layout) +
                                sl_adapter_element_bytes(&c->workload->adapter) * sent.adapters;
    const bool dense_travels = groups->shard.ranks > 1.0;
    const bool routed_travels = routed > 0.0 && groups->experts.ranks > 1.0;
    d->streams = dense_travels && routed_travels ? 2.0 : 1.0;
    /* What is of one rank alone takes no time but from its host, which it is counted for. */
    d->travels = dense_travels == routed_travels || routed == 0.0 ? 1.0
                 : routed_travels                                 ? routed
                                  : (sent.all - sent.routed) / sent.all;
    d->reduces = rounds.reduces * edges.reduces;
    d->reduce_bytes = rounds.reduces * reduce_bytes;
    d->reduce_s =
        groups->sums_whole
            ? reduce_whole_s(c, groups, holding, edges.reduces, routed, reduce_bytes)
            : reduce_all_s(c, groups, groups->reduce, holding, edges.reduces, routed, reduce_bytes);
    d->all_reduce_s = 0.0;
    if (c->explained && c->plan->zero_stage == 2) /* some courses draw it so */
        d->all_reduce_s = reduce_whole_s(c, groups, holding, edges.reduces, routed, reduce_bytes);
    const double own = reduce_bytes * ((1.0 - routed) / groups->shard.ranks +
                                       routed / sl_larger(1.0, groups->experts.ranks));
    if (groups->replicas.ranks > 1.0) {
        const double times = replica_rounds(c, &rounds);
        d->replica_bytes = times * own;
        d->replica_s = times * edges.reduces *
                       sl_collective_s(cluster, SL_COLLECTIVE_ALL_REDUCE, &groups->replicas,
                                       own / edges.reduces);
    }
    measure_copies(c, r, sharded ? own : reduce_bytes, rounds.reduces, d);
    /* What is one unit is gathered before it runs, and reduced after; a graph has none. */
    d->whole = !c->software->traced_sharding &&
               sl_unit_is_whole(c->question->model, &c->plan->unit, c->slice, c->prices);
    d->last = edges.last / sl_larger(1.0, sent.all);
    d->last_s = d->last * (d->reduce_s + d->replica_s + d->copy_s) / rounds.reduces;
    if (rounds.gathers > 0.0)
        measure_gathers(c, groups, holding, &edges, routed, d);
}

/* Of gathers what nothing hides. */
static double
gathers_s(const sl_memory_case *c, const cover *covered, const sl_data_time *d)
{
    const sl_data_rounds rounds = d->rounds;
    const bool beside = sl_states_gathers_beside(c->software, c->workload, c->plan) && !d->whole;

    if (rounds.gathers <= 0.0)
        return 0.0;
    if (beside && rounds.gathers == 1.0)
        return once_s(c, d->gather_s, d->first_s, covered->forward_s);
    const double rest_s = d->gather_s - d->first_s;
    const double again_s = rest_s * (rounds.gathers - rounds.starts) / rounds.gathers;
    return d->first_s +
           sl_price_visible_s(c->software, rest_s - again_s, rounds.starts * covered->forward_s,
                              beside) +
           sl_price_visible_s(c->software, again_s,
                              (rounds.gathers - rounds.starts) * covered->backward_s, beside);
}

static void
measure_rank(const sl_memory_case *c, const sl_data_groups *groups, const sl_rank_time *t,
             uint32_t r, double filled_s, double drained_s, sl_data_time *d)
{
    measure_traffic(c, groups, r, d);
    if (sl_step_flows(c)) {
        sl_step_flow(c, groups, t, d);
        return;
    }
    const cover one = cover_of(c, t);
    d->gather_exposed_s = sl_larger(0.0, gathers_s(c, &one, d) - filled_s);
    d->reduce_exposed_s = sl_larger(0.0, reductions_s(c, groups, &one, d) - drained_s);
}

sl_data_time
sl_step_data_rank(const sl_memory_case *c, const sl_data_groups *groups, const sl_rank_time *t,
                  uint32_t r, double drained_s)
{
    sl_data_time d;

    measure_rank(c, groups, t, r, 0.0, drained_s, &d);
    return d;
}

static void
add_rows(const sl_memory_case *c, const sl_sent_row *rows, size_t count, sl_time *out)
{
    for (size_t i = 0; i < count; i++)
        sl_step_add_communication(c, &rows[i], out);
}

/* DataParallel: parameters and inputs out, outputs and gradients in, of every micro-batch and in
 * the open. */
static void
evaluate_lent(const sl_memory_case *c, sl_time *out)
{
    const double m = (double)sl_plan_microbatches(c->workload, c->plan);
    const sl_lent_traffic sent = sl_lent_send(c);
    const sl_group group = sl_group_of(c->cluster, c->plan->data, 1);
    const double rest_s = m * (sent.input_s + sent.output_s);
    const double total_s = m * (sent.parameter_s + sent.gradient_s) + rest_s;

    SL_SET_TERM(c, out, SL_TERM_DATA_COMMUNICATION, total_s, {"data", c->plan->data},
                {"gradient_bytes", m * sent.gradient_bytes},
                {"gradient_exposed_s", m * sent.gradient_s},
                {"parameter_bytes", m * sent.parameter_bytes},
                {"parameter_exposed_s", m * sent.parameter_s},
                {"input_bytes", m * sent.input_bytes}, {"input_exposed_s", m * sent.input_s},
                {"output_bytes", m * sent.output_bytes}, {"output_exposed_s", m * sent.output_s});
    if (c->workload->offload.activations && sl_plan_goes_by_layer(c->plan))
        SL_SET_TERM(c, out, SL_TERM_ACTIVATION_OFFLOAD, m * sl_step_copied_s(c),
                    {"host_bytes_per_s", c->cluster->accelerator.host_bytes_per_s});
    const double parameter_s = m * sent.parameter_s;
    const double gradient_s = m * sent.gradient_s;
    const double sends = m * (sent.input_bytes > 0.0 ? 3.0 : 2.0);
    const sl_sent_row rows[] = {
        {SL_TERM_LENT_SENT, SL_COLLECTIVE_BROADCAST, group, m, m * sent.parameter_bytes,
         parameter_s, parameter_s},
        {SL_TERM_LENT_SENT, SL_COLLECTIVE_REDUCE, group, m, m * sent.gradient_bytes, gradient_s,
         gradient_s},
        {SL_TERM_LENT_SENT, SL_COLLECTIVE_SEND_RECEIVE, group, sends,
         m * (sent.input_bytes + sent.output_bytes), rest_s, rest_s},
    };
    add_rows(c, rows, sizeof rows / sizeof rows[0], out);
}

/* Whether a rank has the same traffic as the one before it. */
static bool
repeats(const sl_memory_case *c, uint32_t r)
{
    return r > 0 && sl_case_goes_on(c, r) && sl_schedule_copies(c->plan) == 1 &&
           sl_holding_repeats(c->holdings, r);
}

bool
sl_step_data_pace(const sl_memory_case *c, const sl_rank_time *const times[SL_PIPELINE_MAX],
                  sl_busy busy[SL_PIPELINE_MAX])
{
    const double m = (double)sl_plan_microbatches(c->workload, c->plan);
    const sl_data_rounds rounds = sl_step_data_rounds(c);
    double forward_s = 0.0;
    double backward_s = 0.0;

    if (c->plan->pipeline == 1 || sl_lent_devices(c->workload, c->plan) > 0 ||
        (rounds.gathers <= 1.0 && rounds.reduces <= 1.0))
        return false;
    for (uint32_t r = 0; r < c->plan->pipeline; r++) {
        if (!repeats(c, r)) {
            sl_memory_case space;
            const sl_memory_case *at = sl_case_of_stage(c, r, &space);
            sl_data_groups groups;
            sl_data_time d;
            find_groups(at, &groups);
            measure_rank(at, &groups, times[r], r, 0.0, 0.0, &d);
            forward_s = rounds.gathers > 1.0 ? d.gather_exposed_s / m : 0.0;
            backward_s = rounds.reduces > 1.0 ? d.reduce_exposed_s / m : 0.0;
        }
        busy[r].all_s += forward_s + backward_s;
        busy[r].backward_s += backward_s;
        busy[r].gathers_s = forward_s;
        busy[r].reduces_s = backward_s;
    }
    return true;
}

/* The rank that shows most: what is behind the others when all have ended their passes. */
static void
find_worst(const sl_memory_case *c, const sl_rank_time *const times[SL_PIPELINE_MAX],
           const sl_busy busy[SL_PIPELINE_MAX], const double after_s[SL_PIPELINE_MAX],
           sl_data_groups *groups, sl_data_time *out)
{
    const sl_plan *plan = c->plan;
    sl_data_time at_hand;
    uint32_t worst = 0;
    double filled_s = 0.0;
    double drained_s = 0.0;

    assert(plan->pipeline >= 1);
    for (uint32_t r = 0; r < plan->pipeline; r++) {
        sl_memory_case space;
        const sl_memory_case *at = sl_case_of_stage(c, r, &space);
        sl_data_time *d = r == 0 ? out : &at_hand;
        if (r == 0 || !sl_case_goes_on(c, r))
            find_groups(at, groups);
        /* What repeats the rank before drains longer, and shows less of the same traffic. */
        if (!repeats(c, r)) {
            measure_rank(at, groups, times[r], r, filled_s, drained_s, d);
            if (r > 0 && d->reduce_exposed_s + d->gather_exposed_s >
                             out->reduce_exposed_s + out->gather_exposed_s) {
                *out = *d;
                worst = r;
            }
        }
        drained_s += sl_schedule_drain_s(plan, &busy[r], after_s[r]);
        filled_s += sl_schedule_fill_s(plan, busy[r].all_s - busy[r].backward_s, after_s[r]);
    }
    if (c->pools != NULL) { /* those of the last rank are at hand */
        sl_memory_case space;
        find_groups(sl_case_of_stage(c, worst, &space), groups);
    }
}

/* Where each rank steps on its own: the last to end. */
static void
find_last(const sl_memory_case *c, const sl_rank_time *const times[SL_PIPELINE_MAX], double *late_s,
          sl_data_groups *groups, sl_data_time *out)
{
    sl_data_time at_hand;
    uint32_t last = 0;

    for (uint32_t r = 0; r < c->plan->pipeline; r++) {
        sl_memory_case space;
        const sl_memory_case *at = sl_case_of_stage(c, r, &space);
        if (r == 0 || !sl_case_goes_on(c, r))
            find_groups(at, groups);
        if (!repeats(c, r))
            measure_rank(at, groups, times[r], r, 0.0, 0.0, &at_hand);
        late_s[r] += at_hand.gather_exposed_s + at_hand.reduce_exposed_s;
        if (r == 0 || late_s[r] > late_s[last]) {
            *out = at_hand;
            last = r;
        }
    }
    const double open_s = sl_larger(0.0, late_s[last]);
    out->gather_exposed_s = sl_smaller(out->gather_exposed_s, open_s);
    out->reduce_exposed_s = open_s - out->gather_exposed_s;
    if (c->pools != NULL) {
        sl_memory_case space;
        find_groups(sl_case_of_stage(c, last, &space), groups);
    }
}

void
sl_step_data(const sl_memory_case *c, const sl_rank_time *const times[SL_PIPELINE_MAX],
             const sl_busy busy[SL_PIPELINE_MAX], const double after_s[SL_PIPELINE_MAX],
             const uint32_t *paced, double *late_s, sl_time *out)
{
    const sl_plan *plan = c->plan;

    if (sl_lent_devices(c->workload, plan) > 0) {
        evaluate_lent(c, out);
        return;
    }

    sl_data_groups groups;
    sl_data_time worst;
    double tied_bytes = 0.0;

    if (paced != NULL) {
        sl_memory_case space;
        const sl_memory_case *at = sl_case_of_stage(c, *paced, &space);
        find_groups(at, &groups);
        measure_rank(at, &groups, times[*paced], *paced, 0.0, 0.0, &worst);
    } else if (late_s != NULL) {
        find_last(c, times, late_s, &groups, &worst);
    } else {
        find_worst(c, times, busy, after_s, &groups, &worst);
    }
    if (c->workload->offload.activations && sl_step_flows(c))
        SL_SET_TERM(c, out, SL_TERM_ACTIVATION_OFFLOAD, worst.copied_s,
                    {"host_bytes_per_s", c->cluster->accelerator.host_bytes_per_s});
    const double all_s = worst.reduce_s + worst.replica_s + worst.copy_s;
    const double exposed = all_s > 0.0 ? worst.reduce_exposed_s / all_s : 0.0;
    sl_level tied_level = SL_LEVEL_NETWORK;
    const double tied_s = sl_step_tied_s(c, &tied_bytes, &tied_level);
    const double total_s = worst.reduce_exposed_s + worst.gather_exposed_s + tied_s;
    const double reduce_bytes = worst.travels * worst.reduce_bytes;
    const double gather_bytes = worst.travels * worst.gather_bytes;

    SL_SET_TERM(c, out, SL_TERM_DATA_COMMUNICATION, total_s, {"data", plan->data},
                {"gradient_bytes", reduce_bytes}, {"gradient_s", worst.reduce_s},
                {"gradient_exposed_s", worst.reduce_exposed_s}, {"parameter_bytes", gather_bytes},
                {"parameter_s", worst.gather_s}, {"parameter_exposed_s", worst.gather_exposed_s},
                {"tied_embedding_s", tied_s}, {"members_per_node", groups.shard.members_per_node},
                {"nodes", groups.shard.nodes}, {"gradient_last_s", worst.last_s},
                {"parameter_first_s", worst.first_s}, {"all_reduce_instead_s", worst.all_reduce_s});
    if (!c->explained)
        return;
    /* Where one rank has a copy of the states, only experts are on others too. */
    const sl_group over = groups.shard.ranks > 1.0 ? groups.shard : groups.experts;
    const sl_sent_row rows[] = {
        {SL_TERM_GRADIENTS_SENT, groups.owners ? SL_COLLECTIVE_REDUCE : groups.reduce, over,
         worst.streams * worst.reduces, reduce_bytes, worst.reduce_s, exposed * worst.reduce_s},
        {SL_TERM_PARAMETERS_SENT,
         groups.owners ? SL_COLLECTIVE_BROADCAST : SL_COLLECTIVE_ALL_GATHER, over,
         worst.streams * worst.gathers, gather_bytes, worst.gather_s, worst.gather_exposed_s},
        {SL_TERM_REPLICAS_SENT, SL_COLLECTIVE_ALL_REDUCE, groups.replicas,
         worst.reduces / worst.rounds.reduces * replica_rounds(c, &worst.rounds),
         worst.replica_bytes, worst.replica_s, exposed * worst.replica_s},
        {SL_TERM_COPIES_SENT, SL_COLLECTIVE_ALL_REDUCE, sl_step_pair_at(worst.copy_level),
         worst.rounds.reduces, worst.copy_bytes, worst.copy_s, exposed * worst.copy_s},
        {SL_TERM_EMBEDDING_SENT, SL_COLLECTIVE_ALL_REDUCE, sl_step_pair_at(tied_level), 1.0,
         tied_bytes, tied_s, tied_s},
    };
    add_rows(c, rows, sizeof rows / sizeof rows[0], out);
}
