#include "engine/placement/pools.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "engine/check/check.h"

uint32_t
sl_pools_count(const sl_cluster *cluster)
{
    return cluster->pool_count == 0 ? 1 : cluster->pool_count;
}

const sl_cluster *
sl_pools_at(const sl_cluster *cluster, uint32_t pool)
{
    assert(pool < sl_pools_count(cluster));
    return cluster->pool_count == 0 ? cluster : &cluster->pools[pool];
}

void
sl_pools_stages(const sl_cluster *cluster, const sl_plan *plan, uint32_t pool, uint32_t *first,
                uint32_t *end)
{
    const uint64_t per_stage = sl_plan_world(plan) / plan->pipeline;
    uint64_t ranks = 0;

    *first = 0;
    *end = plan->pipeline;
    if (cluster->pool_count == 0 || plan->pipeline == 1)
        return;
    for (uint32_t i = 0; i < pool; i++)
        ranks += sl_cluster_accelerators(&cluster->pools[i]);
    *first = (uint32_t)(ranks / per_stage);
    *end = (uint32_t)((ranks + sl_cluster_accelerators(&cluster->pools[pool])) / per_stage);
}

uint32_t
sl_pools_of_rank(const sl_cluster *cluster, uint64_t rank, uint64_t *first)
{
    uint32_t pool = 0;

    *first = 0;
    while (pool + 1 < cluster->pool_count) {
        const uint64_t own = sl_cluster_accelerators(&cluster->pools[pool]);
        if (rank < *first + own)
            break;
        *first += own;
        pool++;
    }
    return pool;
}

static const char any_part[] = "a part of the pools";

void
sl_pools_pointer(uint32_t pool, const char *member, char out[SL_POOLS_POINTER_SIZE])
{
    static const char list[] = "/cluster/pools/0";
    const size_t used = sizeof list - 1;
    const size_t room = SL_POOLS_POINTER_SIZE - used - 1;
    const size_t length = strlen(member) < room ? strlen(member) : room;

    _Static_assert(SL_POOLS_MAX <= 10, "a digit numbers every pool");
    memcpy(out, list, used);
    out[used - 1] = (char)('0' + pool);
    memcpy(out + used, member, length);
    out[used + length] = '\0';
}

/* Of what the pools have, what all of them have; of rates that go with the work, the mean. */
static void
join_part(const sl_cluster *pool, double share, sl_accelerator *out)
{
    const sl_accelerator *part = &pool->accelerator;

    for (uint32_t i = 0; i < SL_PRECISION_COUNT; i++) {
        const bool lacks = out->peak_flops_per_s[i] < 0.0 || part->peak_flops_per_s[i] <= 0.0;
        out->peak_flops_per_s[i] =
            lacks ? -1.0 : out->peak_flops_per_s[i] + share * part->peak_flops_per_s[i];
    }
    for (uint32_t i = 0; i < SL_ATTENTION_KERNEL_COUNT; i++)
        for (uint32_t j = 0; j < SL_ATTENTION_WIDTHS_MAX; j++)
            if (part->attention[i][j].head_dim == 0)
                out->attention[i][j].head_dim = 0;
    out->power_w += share * part->power_w;
    out->host_bytes_per_s = fmin(out->host_bytes_per_s, part->host_bytes_per_s);
    if (part->memory_bytes - part->reserved_bytes < out->memory_bytes - out->reserved_bytes) {
        out->memory_bytes = part->memory_bytes;
        out->reserved_bytes = part->reserved_bytes;
    }
    if (part->release_year > out->release_year)
        out->release_year = part->release_year;
}

/* Prices that do not say their currency are in that of the others. False: two differ, and do not
 * add up. */
static bool
join_currency(const sl_cluster *pool, sl_cluster *out)
{
    if (out->price_currency[0] == '\0')
        memcpy(out->price_currency, pool->price_currency, sizeof out->price_currency);
    return pool->price_currency[0] == '\0' ||
           memcmp(out->price_currency, pool->price_currency, sizeof out->price_currency) == 0;
}

void
sl_cluster_join(sl_cluster *pools, uint32_t count, sl_cluster *out)
{
    uint64_t accelerators = 0;
    double price = 0.0;
    bool priced = true;

    assert(count >= 2 && count <= SL_POOLS_MAX);
    *out = pools[0];
    out->pool[0] = '\0';
    out->node_type[0] = out->price_currency[0] = '\0';
    memcpy(out->accelerator.id, any_part, sizeof any_part);
    out->nodes = 0;
    out->accelerator.power_w = 0.0;
    for (uint32_t i = 0; i < SL_PRECISION_COUNT; i++)
        out->accelerator.peak_flops_per_s[i] = 0.0;
    for (uint32_t i = 0; i < count; i++)
        accelerators += sl_cluster_accelerators(&pools[i]);
    for (uint32_t i = 0; i < count; i++) {
        sl_cluster *pool = &pools[i];
        const uint64_t own = sl_cluster_accelerators(pool);
        pool->beside = accelerators - own;
        if (pool->accelerator.scale_up_domain > own) /* it ends with its pool */
            pool->accelerator.scale_up_domain = (uint32_t)own;
        out->nodes += pool->nodes;
        if (pool->accelerators_per_node < out->accelerators_per_node)
            out->accelerators_per_node = pool->accelerators_per_node;
        price += pool->nodes * pool->price_per_node_hour;
        priced = priced && pool->price_per_node_hour > 0.0 && join_currency(pool, out);
        join_part(pool, (double)own / (double)accelerators, &out->accelerator);
    }
    for (uint32_t i = 0; i < SL_PRECISION_COUNT; i++)
        out->accelerator.peak_flops_per_s[i] = fmax(0.0, out->accelerator.peak_flops_per_s[i]);
    out->price_per_node_hour = priced ? price / out->nodes : 0.0;
    out->pool_count = count;
    out->pools = pools;
}

/* What is not modelled on several pools, by the field that asks for it. */
static sl_code
check_modelled(const sl_question *question, sl_errors *err)
{
    const sl_plan *plan = &question->plan;
    const sl_workload *workload = &question->workload;
    const uint32_t most = SL_KINDS_MAX / question->cluster->pool_count;
    sl_code code = SL_OK;

    if (plan->schedule == SL_SCHEDULE_DUALPIPE || plan->schedule == SL_SCHEDULE_ZB_V) {
        code = sl_fail(err, SL_E_UNSUPPORTED, "not_modelled", "/parallelism/schedule",
                       "schedules that turn round are not modelled on several pools");
        sl_hint(err, "1f1b, interleaved_1f1b, gpipe, zb_h1, zb_h2");
    }
    if (plan->pipeline > 1 && plan->order == SL_ORDER_PIPELINE_DATA) {
        code = sl_fail(err, SL_E_UNSUPPORTED, "not_modelled", "/parallelism/order",
                       "replicas outside the pipeline are not modelled on several pools, where "
                       "each stage lies in one");
        sl_hint(err, "tp-cp-ep-dp-pp");
    }
    if (workload->framework == SL_FRAMEWORK_DP)
        code = sl_fail(err, SL_E_UNSUPPORTED, "not_modelled", "/workload/framework",
                       "dp has the devices of one node: several pools are not modelled for it");
    if (workload->offload.optimizer || workload->offload.parameters ||
        workload->offload.activations)
        code = sl_fail(err, SL_E_UNSUPPORTED, "not_modelled", "/workload/offload",
                       "hosts of several pools are not modelled: what devices hold is");
    if (plan->host_run_count > 0)
        code = sl_fail(err, SL_E_UNSUPPORTED, "not_modelled", "/parallelism/placement",
                       "hosts of several pools are not modelled: blocks run on devices");
    if (question->model->kind_count > most) {
        code = sl_fail(err, SL_E_UNSUPPORTED, "not_modelled", "/cluster/pools",
                       "a model of %u kinds of layers is modelled on %u pools at most, got %u",
                       question->model->kind_count, SL_KINDS_MAX / question->model->kind_count,
                       question->cluster->pool_count);
        sl_hint(err, "one pool, or fewer");
    }
    return code;
}

static sl_code
check_network(const sl_question *question, sl_errors *err)
{
    char pointer[SL_POOLS_POINTER_SIZE];
    sl_code code = SL_OK;

    for (uint32_t i = 0; i < question->cluster->pool_count; i++) {
        const sl_cluster *pool = &question->cluster->pools[i];
        if (pool->nics_per_node > 0 && pool->nic_bytes_per_s > 0.0)
            continue;
        sl_pools_pointer(i, "/nics", pointer);
        code = sl_fail(err, SL_E_RANGE, "nics_unknown", pointer,
                       "pools are joined by network cards, and no reference node of %s names them",
                       pool->accelerator.id);
    }
    return code;
}

/* How many blocks of `ranks` each pool takes, as far as a hint has room: "h100 takes 4, a100 takes
 * 2.5". */
static void
hint_shares(const sl_cluster *cluster, uint64_t ranks, sl_errors *err)
{
    char before[sizeof err->list[0].hint] = "";

    for (uint32_t i = 0; i < cluster->pool_count; i++) {
        const sl_cluster *pool = &cluster->pools[i];
        sl_hint(err, "%s%s%.24s takes %.3g", before, i > 0 ? ", " : "", pool->pool,
                (double)sl_cluster_accelerators(pool) / (double)ranks);
        memcpy(before, err->list[err->count - 1].hint, sizeof before);
    }
}

/* Stages, or where there is one, ranks that share a tensor or a sequence: whole ones to each
 * pool. */
static sl_code
check_lies_in_one(const sl_question *question, sl_errors *err)
{
    const sl_cluster *cluster = question->cluster;
    const sl_plan *plan = &question->plan;
    const bool spread = plan->pipeline == 1;
    const uint64_t inner = (uint64_t)plan->tensor * plan->context;
    const uint64_t ranks = spread ? inner : inner * plan->data;

    for (uint32_t i = 0; i < cluster->pool_count; i++) {
        const sl_cluster *pool = &cluster->pools[i];
        const uint64_t own = sl_cluster_accelerators(pool);
        if (own % ranks == 0)
            continue;
        const sl_code code = sl_fail(
            err, SL_E_RANGE, "pools_split_stage",
            spread ? "/parallelism/tensor" : "/parallelism/pipeline",
            "%s must lie in one pool: the %llu accelerators of pool %.40s are no multiple of the "
            "%llu ranks of %s",
            spread ? "a replica" : "a stage", (unsigned long long)own, pool->pool,
            (unsigned long long)ranks, spread ? "tensor x context" : "tensor x context x data");
        hint_shares(cluster, ranks, err);
        return code;
    }
    return SL_OK;
}

/* On one stage the ranks that share experts may reach over pools, whose links then differ. */
static sl_code
check_experts(const sl_question *question, sl_errors *err)
{
    const sl_plan *plan = &question->plan;
    const uint64_t ranks = (uint64_t)plan->expert * sl_plan_expert_tensor(plan);

    for (uint32_t i = 0; i < question->cluster->pool_count; i++) {
        const sl_cluster *pool = &question->cluster->pools[i];
        if (plan->expert == 1 || plan->pipeline > 1 || sl_cluster_accelerators(pool) % ranks == 0)
            continue;
        const sl_code code = sl_fail(
            err, SL_E_UNSUPPORTED, "not_modelled", "/parallelism/expert",
            "experts shared by ranks of several pools are not modelled: pool %.40s has %llu "
            "accelerators, no multiple of %llu",
            pool->pool, (unsigned long long)sl_cluster_accelerators(pool),
            (unsigned long long)ranks);
        hint_shares(question->cluster, ranks, err);
        return code;
    }
    return SL_OK;
}

sl_code
sl_check_pools(const sl_question *question, sl_errors *err)
{
    static const sl_rule rules[] = {check_modelled, check_network, check_lies_in_one,
                                    check_experts};

    assert(question != NULL && err != NULL);
    return question->cluster->pool_count > 0
               ? sl_check_all(rules, sizeof rules / sizeof rules[0], question, err)
               : SL_OK;
}
