#include "engine/memory/rank_memory.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "engine/checked.h"
#include "engine/extremes.h"
#include "engine/memory/offload.h"
#include "engine/placement/adapter.h"
#include "engine/placement/lent.h"
#include "engine/placement/ranks.h"
#include "engine/price/host.h"
#include "engine/schedule/timeline_parts.h"

/* What the pool of captured graphs may hold beside the outputs that are counted: a few GB, more than
 * ten with a pipeline (Megatron-Bridge's performance guide). */
static const double graph_pool_bytes = 3e9;
static const double pipelined_graph_pool_bytes = 10e9;

const sl_memory_case *
sl_case_on_pool(const sl_memory_case *c, uint32_t pool, sl_memory_case *space)
{
    assert(c->pools != NULL && pool < c->pools->count);

    const sl_pool_price *price = &c->pools->list[pool];
    *space = *c;
    space->cluster = price->cluster;
    space->slice = price->slice;
    space->prices = price->prices;
    return space;
}

const sl_memory_case *
sl_case_of_spread(const sl_memory_case *c, uint32_t pool, uint32_t links, sl_memory_case *space)
{
    assert(sl_case_is_spread(c) && links < c->pools->count);
    (void)sl_case_on_pool(c, pool, space);
    space->cluster = c->pools->list[links].cluster;
    return space;
}

uint32_t
sl_case_pool_of(const sl_memory_case *c, uint32_t stage)
{
    uint32_t pool = 0;

    while (stage >= c->pools->list[pool].end_stage)
        pool++;
    assert(pool < c->pools->count);
    return pool;
}

/* Terms are whole bytes, each rounded up: the mean's may be more than the largest rank's by
 * that. */
static const double rounded_bytes = SL_RANK_TERMS_MAX;

double
sl_memory_floor_bytes(const sl_memory_case *c, const sl_elements *model)
{
    const double share = (double)sl_schedule_copies(c->plan) / c->plan->pipeline;
    const sl_elements mean = sl_states_part(model, share);
    const sl_layouts layouts = sl_states_layouts(c->workload, c->plan, &mean);
    const sl_shards shards = sl_states_shards(c->workload, c->plan);
    const sl_rank_bytes b = {.elements = &mean, .layouts = &layouts, .shards = &shards};
    const sl_rank_outside outside = sl_rank_outside_of(c->plan);
    const sl_stage nothing = {0};
    sl_rank_phase peak;
    sl_rank_memory rank;

    sl_rank_peak(c, &b, &peak);
    if (!sl_rank_terms(c, &nothing, &outside, &b, &peak, &rank))
        return (double)UINT64_MAX;
    return (double)rank.device_total_bytes - rounded_bytes;
}

double
sl_memory_plain_sent_bytes(const sl_memory_case *c, uint32_t rank)
{
    const sl_plan *plan = c->plan;
    double bytes = 0.0;

    for (uint32_t i = 0; i < sl_schedule_held(plan); i++) {
        const uint32_t chunk = sl_schedule_crossing(plan, rank, i);
        const uint32_t kind = sl_schedule_last_kind(c->question->model, plan, chunk);
        bytes = sl_larger(bytes, c->prices[kind].output_bytes);
    }
    return bytes;
}

/* Beside the device; most plans keep everything on it. */
static void
set_host(const sl_memory_case *c, const sl_rank_bytes *b, double in_flight, uint32_t r,
         sl_rank_memory *rank)
{
    const sl_offload *offload = &c->workload->offload;

    rank->host = (sl_hosted){.start_bytes =
                                 (uint64_t)ceil(sl_offload_start_bytes(c->workload, b->elements))};
    rank->nvme_bytes = 0;
    if (!offload->optimizer && !offload->parameters && !offload->activations &&
        c->plan->host_run_count == 0)
        return;

    const sl_offloaded off = sl_offload_states(c->workload, c->plan, b->elements);
    const double bytes =
        b->offloaded + off.state_bytes + off.buffer_bytes + sl_host_bytes(c, r, in_flight);
    rank->host.bytes = (uint64_t)ceil(bytes);
    rank->host.high_bytes = (uint64_t)ceil(bytes + sl_offload_spare_bytes(c->workload, &off));
    rank->nvme_bytes = (uint64_t)ceil(off.nvme_bytes);
}

static bool
evaluate_rank(const sl_memory_case *c, const sl_rank_outside *outside,
              const sl_in_flight *in_flight, const sl_alive *alive, uint32_t r,
              sl_rank_memory *rank)
{
    const sl_stage *stage = &sl_holding_of(c->holdings, r)->stage;
    sl_rank_bytes b;
    sl_rank_phase peak;

    sl_rank_measure(c, in_flight, alive, r, &b);
    sl_rank_peak(c, &b, &peak);
    if (!sl_rank_terms(c, stage, outside, &b, &peak, rank))
        return false;

    rank->pool = 0;
    rank->usable_bytes = sl_rank_usable_bytes(&c->cluster->accelerator);
    rank->role = c->plan->pipeline == 1        ? "only stage"
                 : stage->first && stage->last ? "first and last stage"
                 : stage->first                ? "first stage"
                 : stage->last                 ? "last stage"
                                               : "middle stage";
    rank->first_stage = r;
    rank->stage_count = 1;
    set_host(c, &b, in_flight->whole, r, rank);
    rank->rank = r * sl_ranks_strides(c->plan).pipeline;
    rank->count = sl_plan_stage_ranks(c->plan);
    if (sl_lent_devices(c->workload, c->plan) > 0)
        sl_lent_name(c, rank);
    return true;
}

static bool
same_bytes(const sl_rank_memory *a, const sl_rank_memory *b)
{
    if (a->role != b->role || a->pool != b->pool || a->term_count != b->term_count ||
        a->host.bytes != b->host.bytes || a->host.high_bytes != b->host.high_bytes ||
        a->host.start_bytes != b->host.start_bytes || a->nvme_bytes != b->nvme_bytes)
        return false;
    for (uint32_t i = 0; i < a->term_count; i++)
        if (a->terms[i].id != b->terms[i].id || a->terms[i].value != b->terms[i].value)
            return false;
    return true;
}

/* Of so many ranks more; no host has as much as a number cannot say. */
static void
add_alike(uint64_t ranks, uint64_t bytes, uint64_t *in_node, uint64_t *most)
{
    uint64_t all = 0;

    if (!sl_multiply(ranks, bytes, &all) || !sl_add(in_node, all))
        *in_node = UINT64_MAX;
    if (*in_node > *most)
        *most = *in_node;
}

/* Of a node that has `room` and keeps `bytes`. */
static void
note_lack(uint64_t room, uint64_t bytes, sl_memory *out)
{
    if (room == 0 || bytes <= room || bytes - room <= out->host_lacking_bytes)
        return;
    out->host_lacking_bytes = bytes - room;
    out->host_room_bytes = room;
}

/* Stages follow one another over the nodes, those of all replicas or of one: where a node holds
 * several whole ones, theirs add up. */
static void
add_host(const sl_memory_case *c, uint32_t r, const sl_hosted *rank, sl_hosted *in_node,
         sl_memory *out)
{
    const uint64_t per_node = c->cluster->accelerators_per_node;
    const uint64_t per_stage = sl_ranks_strides(c->plan).pipeline;
    const uint64_t per_line = per_stage * c->plan->pipeline; /* ranks until stages begin again */
    const uint64_t lines =
        per_line < per_node && per_node % per_line == 0 ? per_node / per_line : 1;
    const bool several = per_stage < per_node && per_node % per_stage == 0;
    const uint64_t ranks = several ? lines * per_stage : per_node;
    sl_hosted *most = &out->host_per_node;

    if (!several || r * per_stage % per_node == 0)
        *in_node = (sl_hosted){0};
    add_alike(ranks, rank->bytes, &in_node->bytes, &most->bytes);
    add_alike(ranks, rank->high_bytes, &in_node->high_bytes, &most->high_bytes);
    add_alike(ranks, rank->start_bytes, &in_node->start_bytes, &most->start_bytes);
    note_lack(c->cluster->host_memory_bytes, in_node->bytes, out);
}

/* Whether stages may be left out that need no more than the one before. What is in the host adds up
 * over stages, of chunks there and back that differ the later ones may be the larger, and with ZB-V
 * any rank may keep most: then none is. */
static bool
may_skip(const sl_memory_case *c)
{
    const sl_offload *offload = &c->workload->offload;

    if (c->plan->schedule == SL_SCHEDULE_ZB_V ||
        (sl_schedule_directions(c->plan) == 2 && !sl_schedule_chunks_alike(&c->holdings->cut)))
        return false;
    return c->fullest_only && !offload->optimizer && !offload->parameters &&
           !offload->activations && c->plan->host_run_count == 0 &&
           !sl_model_is_plain(c->question->model);
}

/* Whether a stage that holds the same as the one before keeps no more of it alive. */
static bool
is_less(const sl_in_flight *here, const sl_in_flight *before)
{
    return here->whole <= before->whole && here->deferred <= before->deferred &&
           here->turning == before->turning;
}

static int64_t
headroom_of(const sl_rank_memory *rank)
{
    return (int64_t)rank->usable_bytes - (int64_t)rank->device_total_bytes;
}

/* Full devices are alike in all but what they would keep if they could. */
static bool
is_fuller(const sl_rank_memory *a, const sl_rank_memory *b)
{
    return headroom_of(a) != headroom_of(b) ? headroom_of(a) < headroom_of(b)
                                            : a->returned_bytes > b->returned_bytes;
}

/* The devices that DataParallel lends the model to: they have nothing of their own. */
static bool
evaluate_lent(const sl_memory_case *c, const sl_rank_outside *outside, sl_memory *out)
{
    static const sl_layout nothing = {0.0, 0.0, 0.0, 0.0};
    sl_workload bare = *c->workload;
    sl_memory_case lent = *c;
    const sl_holding *own = sl_holding_of(c->holdings, 0);
    const uint64_t microbatches = sl_plan_microbatches(c->workload, c->plan);
    const sl_in_flight in_flight = sl_schedule_in_flight(c->plan, microbatches, 0);
    sl_holdings holdings;

    bare.layout = nothing;
    bare.optimizer = SL_OPTIMIZER_SGD;
    /* Of adapters the layout is what they have beside their weights: gradients come here too. */
    if (sl_adapter_on(&bare.adapter))
        bare.layout.gradient_bytes = c->workload->layout.gradient_bytes;
    sl_hold(c->question->model, &bare, c->plan, c->slice, c->prices, &holdings);
    lent.workload = &bare;
    lent.holdings = &holdings;
    lent.lent = &own->layouts.all;
    return evaluate_rank(&lent, outside, &in_flight, NULL, 0, &out->ranks[out->rank_count++]);
}

/* The one stage on each pool that its replicas are spread over. */
static bool
evaluate_spread(const sl_memory_case *c, const sl_rank_outside *outside, sl_memory *out)
{
    const uint64_t m = sl_plan_microbatches(c->workload, c->plan);
    const sl_in_flight in_flight = sl_schedule_in_flight(c->plan, m, 0);
    uint64_t first = 0;

    for (uint32_t i = 0; i < c->pools->count; i++) {
        sl_memory_case space;
        const sl_memory_case *here = sl_case_of_pool(c, i, &space);
        sl_rank_memory *rank = &out->ranks[out->rank_count];
        if (!evaluate_rank(here, outside, &in_flight, NULL, 0, rank))
            return false;
        sl_hosted in_node = {0};
        add_host(here, 0, &rank->host, &in_node, out);
        rank->pool = i;
        rank->rank = first;
        rank->count = sl_cluster_accelerators(here->cluster);
        first += rank->count;
        if (is_fuller(rank, &out->ranks[out->binding]))
            out->binding = out->rank_count;
        out->rank_count++;
    }
    return true;
}

static bool
evaluate_stages(const sl_memory_case *c, const sl_rank_outside *outside, sl_memory *out)
{
    const uint64_t microbatches = sl_plan_microbatches(c->workload, c->plan);
    const bool skips = may_skip(c);
    const bool jumps = skips && c->pools == NULL && sl_schedule_in_flight_falls(c->plan);
    sl_in_flight in_flight[2]; /* at hand, and before */
    sl_alive alive[2 * SL_PIPELINE_MAX];
    const bool known = sl_stages_alive_v(c, alive);
    sl_hosted in_node = {0};

    for (uint32_t r = 0; r < c->plan->pipeline;
         r = jumps ? sl_holding_of(c->holdings, r)->end_rank : r + 1) {
        sl_memory_case space;
        const sl_memory_case *at = sl_case_of_stage(c, r, &space);
        sl_rank_memory *rank = &out->ranks[out->rank_count];
        sl_in_flight *here = &in_flight[r % 2];

        const bool repeats =
            skips && r > 0 && sl_holding_repeats(c->holdings, r) && sl_case_goes_on(c, r);
        *here = sl_schedule_in_flight(c->plan, microbatches, r);
        if (repeats && is_less(here, &in_flight[(r + 1) % 2]))
            continue;
        if (!evaluate_rank(at, outside, here, known ? &alive[2 * r] : NULL, r, rank))
            return false;
        if (c->pools != NULL)
            rank->pool = sl_case_pool_of(c, r);
        if (rank->host.bytes > 0 || rank->host.start_bytes > 0 || in_node.bytes > 0)
            add_host(at, r, &rank->host, &in_node, out);
        if (out->rank_count > 0 && same_bytes(&out->ranks[out->rank_count - 1], rank)) {
            out->ranks[out->rank_count - 1].stage_count++;
            out->ranks[out->rank_count - 1].count += rank->count;
            continue;
        }
        if (is_fuller(rank, &out->ranks[out->binding]))
            out->binding = out->rank_count;
        out->rank_count++;
    }
    return true;
}

static double
graphs_at_most(const sl_memory_case *c)
{
    if (c->workload->graphs == SL_GRAPHS_NONE)
        return 0.0;
    return c->plan->pipeline > 1 ? pipelined_graph_pool_bytes : graph_pool_bytes;
}

/* What does not follow the ratio, segments of freed gradients, is at both ends; the upper one is
 * what the allocator would keep where there is room. */
static void
set_reserved_range(const sl_memory_case *c, sl_memory *out)
{
    const sl_fragmentation apart = sl_rank_fragmentation(c);
    const sl_rank_memory *fullest = &out->ranks[out->binding];
    const double allocated = (double)fullest->peak_allocated_bytes;
    const double reserved = (double)(fullest->peak_reserved_bytes + fullest->returned_bytes);
    const double below = apart.ratio - apart.low_ratio;
    const double above = apart.high_ratio - apart.ratio;
    const double less = allocated * below + fullest->varying_bytes * sl_rank_varying_ratio;
    const double more =
        allocated * above + graphs_at_most(c) +
        fullest->varying_bytes * (sl_rank_varying_high_ratio - sl_rank_varying_ratio);

    out->reserved_low_bytes =
        (uint64_t)ceil(sl_smaller((double)fullest->peak_reserved_bytes, reserved - less));
    out->reserved_high_bytes = (uint64_t)sl_rounded_up(reserved + more);
}

bool
sl_memory_evaluate(const sl_memory_case *c, sl_memory *out)
{
    const sl_rank_outside outside = sl_rank_outside_of(c->plan);

    assert(c->plan->pipeline <= SL_PIPELINE_MAX);
    out->rank_count = 0;
    out->binding = 0;
    out->host_per_node = (sl_hosted){0};
    out->host_lacking_bytes = out->host_room_bytes = 0;
    if (!(sl_case_is_spread(c) ? evaluate_spread(c, &outside, out)
                               : evaluate_stages(c, &outside, out)))
        return false;
    if (sl_lent_devices(c->workload, c->plan) > 0 && !evaluate_lent(c, &outside, out))
        return false;

    const sl_rank_memory *fullest = &out->ranks[out->binding];
    uint64_t most_nvme = 0;
    for (uint32_t i = 0; i < out->rank_count; i++)
        most_nvme = out->ranks[i].nvme_bytes > most_nvme ? out->ranks[i].nvme_bytes : most_nvme;
    out->nvme_bytes_per_node = most_nvme * c->cluster->accelerators_per_node;
    sl_memory_case space;
    const sl_accelerator *part = &sl_case_of_pool(c, fullest->pool, &space)->cluster->accelerator;
    out->capacity_bytes = part->memory_bytes;
    out->reserved_bytes = part->reserved_bytes;
    out->usable_bytes = fullest->usable_bytes;
    out->headroom_bytes = headroom_of(fullest);
    set_reserved_range(c, out);
    return true;
}
