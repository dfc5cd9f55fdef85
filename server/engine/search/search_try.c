/*
 * What a search makes of one legal plan. Memory first, which is cheaper; then a bound, which spares
 * the time of most; then the time.
 */
#include "engine/search/search_work.h"

#include <stddef.h>

#include "engine/answer/operating.h"
#include "engine/answer/step_parts.h"
#include "engine/memory/rank_memory.h"
#include "engine/placement/states.h"
#include "engine/schedule/schedule.h"

const char sl_search_lacks_memory[] = "out_of_memory";
const char sl_search_lacks_host_memory[] = "host_memory";

/* No step is shorter than what the mean rank computes of its micro-batches, in this file's own
 * prices: layers add up over the ranks, and the slowest is no faster than the mean. Not where ranks
 * have prices of their own, nor where a host takes a part. 0 = no bound. */
static double
all_layers_s(sl_search_work *u, const sl_priced *priced, bool again)
{
    const sl_model *model = u->question.model;
    const sl_workload *workload = &u->at.workload;
    double of_kind_s[SL_KINDS_MAX];
    double sum_s = 0.0;

    if (priced->pools.count > 0 || u->at.plan.host_run_count > 0 ||
        workload->framework == SL_FRAMEWORK_DP)
        return 0.0;
    const sl_memory_case c = {.question = &u->question,
                              .cluster = &u->cluster,
                              .workload = workload,
                              .plan = &u->at.plan,
                              .software = u->at.software,
                              .slice = &priced->slice,
                              .prices = priced->prices};
    for (uint32_t k = 0; k < model->kind_count; k++) {
        const sl_rank_time t = sl_step_layer(&c, k, again && sl_schedule_is_block(model, k));
        of_kind_s[k] =
            sl_pass_dense_s(&t.forward) + sl_pass_dense_s(&t.backward) + sl_pass_dense_s(&t.again);
    }
    for (uint32_t i = 0; i < model->layer_count; i++)
        sum_s += of_kind_s[model->layers[i]];
    return sum_s * (1.0 - 1e-9);
}

static sl_elements
all_elements(const sl_model *model, const sl_priced *priced)
{
    sl_stage whole = {.first = true, .last = true};

    for (uint32_t i = 0; i < model->layer_count; i++)
        whole.layers[model->layers[i]]++;
    return sl_states_stage(model, priced->prices, &whole);
}

void
sl_search_forget_prices(sl_search_work *u)
{
    for (uint32_t hooked = 0; hooked < 2; hooked++)
        for (uint32_t apart = 0; apart < 2; apart++)
            for (uint32_t i = 0; i < SL_RECOMPUTE_COUNT; i++)
                u->priced[hooked][apart][i].known = false;
}

/* The prices of another recomputation that those of this one follow from; none follow to or from
 * modules. */
static const sl_priced *
find_other(const sl_search_priced all[SL_RECOMPUTE_COUNT], sl_recompute recompute)
{
    if (recompute == SL_RECOMPUTE_MODULES)
        return NULL;
    for (uint32_t i = 0; i < SL_RECOMPUTE_MODULES; i++)
        if (all[i].known)
            return &all[i].priced;
    return NULL;
}

const sl_search_priced *
sl_search_prices(sl_search_work *u)
{
    const bool apart = sl_schedule_ends_apart(&u->at.plan);
    const bool hooked = sl_slice_hooked(u->at.software, &u->at.plan);
    const sl_recompute recompute = u->at.workload.recompute;
    sl_search_priced *own = &u->priced[hooked][apart][recompute];

    if (own->known)
        return own;
    const sl_priced *other = find_other(u->priced[hooked][apart], recompute);
    if (other != NULL)
        sl_evaluate_reprice(&u->question, recompute, other, &own->priced);
    else
        sl_evaluate_price(&u->question, &u->at, SL_CLOCK_HELD, &own->priced);
    own->known = true;
    own->layers_s[false] = all_layers_s(u, &own->priced, false);
    own->layers_s[true] = all_layers_s(u, &own->priced, true);
    u->model[apart] = all_elements(u->question.model, &own->priced);
    return own;
}

/* Blocks of the largest chunk. */
static uint32_t
largest_chunk(const sl_chunking *cut)
{
    uint32_t largest = 0;

    for (uint32_t i = 0; i < cut->chunks; i++) {
        const uint32_t blocks = sl_schedule_chunk_blocks(cut, i);
        largest = blocks > largest ? blocks : largest;
    }
    return largest;
}

const sl_search_cut *
sl_search_hold(sl_search_work *u)
{
    const sl_model *model = u->question.model;
    const sl_combination *at = &u->at;
    const sl_priced *priced = &sl_search_prices(u)->priced;
    sl_search_cut *cut = u->cut;

    if (cut->held) {
        sl_hold_shards(model, &at->workload, &at->plan, &priced->slice, priced->prices,
                       &cut->holdings);
        return cut;
    }
    sl_hold(model, &at->workload, &at->plan, &priced->slice, priced->prices, &cut->holdings);
    cut->largest = largest_chunk(&cut->holdings.cut);
    cut->held = true;
    return cut;
}

/* Of a batch beyond the critical one, as many tokens count as that has. */
static double
counted_tokens(const sl_search_work *u)
{
    const uint64_t critical = u->search->request->constraints.critical_batch;
    const uint64_t batch = u->at.workload.global_batch;

    return (double)(critical > 0 && critical < batch ? critical : batch) *
           (double)u->at.workload.sequence_length;
}

/* What the point is worth when a step takes step_s; tokens that do not count are to be trained on
 * all the same. */
static void
rate_point(sl_search_work *u, const sl_memory_case *c, double step_s)
{
    const sl_workload *workload = &u->at.workload;
    sl_search_point *point = &u->point;
    sl_estimate *e = &u->estimate;
    const double counted = counted_tokens(u);

    point->step_s = step_s;
    point->tokens_per_s = counted / step_s;
    point->time_to_train_s = point->cost = point->energy_j = 0.0;
    if (workload->tokens == 0)
        return;
    const double wasted =
        (double)workload->global_batch * (double)workload->sequence_length / counted;
    e->time.step_s = step_s;
    sl_step_throughput(c, &e->time, &e->throughput);
    sl_operating_set(c, e);
    point->time_to_train_s = wasted * e->throughput.time_to_train_s;
    point->cost = wasted * e->throughput.cost;
    point->energy_j = wasted * e->throughput.energy_j;
}

/* Whether it keeps what was asked for, else the reason. */
static bool
is_answer(sl_search_work *u)
{
    double miss = 0.0;
    const char *rule =
        sl_search_broken(u->search->request, u->at.workload.tokens, &u->point, &miss);

    if (rule == NULL)
        return true;
    sl_search_refuse(rule, "", 1, miss, &u->point, u->out);
    return false;
}

/* How blocks are dealt out, and how many are rebuilt, makes no difference to it. */
static double
floor_bytes(sl_search_work *u, const sl_memory_case *c)
{
    const uint64_t *value = u->point.value;
    sl_search_floor *floor = &u->floors[value[SL_DIMENSION_ZERO_STAGE]];

    if (floor->known && floor->shard_group == value[SL_DIMENSION_SHARD_GROUP] &&
        floor->offload == value[SL_DIMENSION_OFFLOAD])
        return floor->bytes;
    *floor = (sl_search_floor){
        .known = true,
        .shard_group = value[SL_DIMENSION_SHARD_GROUP],
        .offload = value[SL_DIMENSION_OFFLOAD],
        .bytes = sl_memory_floor_bytes(c, &u->model[sl_schedule_ends_apart(&u->at.plan)])};
    return floor->bytes;
}

/* Whether the states alone are too much, by more than another plan lacks, which is then the
 * nearest. */
static bool
is_too_large(sl_search_work *u, const sl_memory_case *c)
{
    const sl_search_request *request = u->search->request;
    const uint64_t usable = sl_rank_usable_bytes(&u->cluster.accelerator);

    if (request->exhaustive || u->least_lacking <= 0.0 || c->pools != NULL ||
        u->at.workload.framework == SL_FRAMEWORK_DP)
        return false;
    const double floor = floor_bytes(u, c);
    if (floor <= (double)usable ||
        floor - (double)usable + sl_search_asked_bytes(request, (double)usable) <= u->least_lacking)
        return false;
    sl_search_refuse(sl_search_lacks_memory, "", 1, 0.0, NULL, u->out);
    return true;
}

/* Whether nodes and the constraint have what they want of memory, else how much is lacking. */
static bool
has_room(sl_search_work *u)
{
    const sl_memory *memory = &u->estimate.memory;
    const sl_rank_memory *rank = &memory->ranks[memory->binding];
    const double asked = sl_search_asked_bytes(u->search->request, (double)memory->usable_bytes);
    sl_search_point *point = &u->point;

    point->headroom_bytes = memory->headroom_bytes;
    point->peak_reserved_bytes = rank->peak_reserved_bytes;
    point->device_total_bytes = rank->device_total_bytes;
    point->host_lacking_bytes = memory->host_lacking_bytes;
    point->host_room_bytes = memory->host_room_bytes;
    if ((double)memory->headroom_bytes >= asked && memory->host_lacking_bytes == 0)
        return true;
    point->step_s = point->tokens_per_s = 0.0;
    point->time_to_train_s = point->cost = point->energy_j = 0.0;
    if ((double)memory->headroom_bytes >= asked) {
        sl_search_refuse(sl_search_lacks_host_memory, "", 1, (double)memory->host_lacking_bytes,
                         point, u->out);
        return false;
    }
    const double lacking = asked - (double)memory->headroom_bytes;
    sl_search_refuse(memory->headroom_bytes < 0 ? sl_search_lacks_memory : "headroom_ratio", "", 1,
                     lacking, point, u->out);
    if (memory->headroom_bytes < 0 && (u->least_lacking <= 0.0 || lacking < u->least_lacking))
        u->least_lacking = lacking;
    return false;
}

static bool
is_hopeless(sl_search_work *u, const sl_memory_case *c, const double layers_s[2])
{
    const sl_search_request *request = u->search->request;
    const sl_workload *workload = &u->at.workload;
    const bool again =
        workload->recompute != SL_RECOMPUTE_NONE && workload->recompute_method == SL_RECOMPUTE_EACH;
    const double microbatches = (double)sl_plan_microbatches(&u->at.workload, &u->at.plan);

    if (request->exhaustive || layers_s[again] <= 0.0)
        return false;
    rate_point(u, c, microbatches * layers_s[again] / u->at.plan.pipeline);
    return sl_search_is_hopeless(request, u->known, &u->point) ||
           sl_search_is_hopeless(request, u->out, &u->point);
}

void
sl_search_try(sl_search_work *u)
{
    const sl_search_priced *prices = sl_search_prices(u);
    sl_memory_case c = sl_evaluate_bare_case(&u->question, &u->at, &prices->priced);

    if (is_too_large(u, &c)) {
        u->out->pruned++;
        return;
    }
    c.holdings = &sl_search_hold(u)->holdings;
    c.fullest_only = true;
    if (!sl_memory_evaluate(&c, &u->estimate.memory)) {
        u->out->evaluated++;
        sl_search_refuse("out_of_range", "/workload", 1, 0.0, NULL, u->out);
        return;
    }
    if (!has_room(u)) {
        u->out->evaluated++;
        return;
    }
    if (is_hopeless(u, &c, prices->layers_s)) {
        u->out->pruned++;
        return;
    }
    sl_evaluate_time(&c, &u->estimate.time);
    u->out->evaluated++;
    rate_point(u, &c, u->estimate.time.step_s);
    if (!is_answer(u))
        return;
    u->out->feasible++;
    sl_search_keep(u->search->request, &u->point, u->out);
}
