/* Plans on several pools of nodes: where their stages are, what each holds and takes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/placement/pools.h"
#include "engine_fixture.h"
#include "harness.h"
#include "shardline/sharding.h"

enum { NODES = 2 };

static sl_software software;
static sl_cluster pools[SL_POOLS_MAX];
static sl_cluster joined;
static sl_cluster single;

/* Half the compute, memory and links of the other part; more memory is not why it is slower. */
static sl_cluster
slow_pool(uint32_t nodes)
{
    sl_cluster slow = sl_fixture_cluster(nodes);

    slow.accelerator.gemm.peak_flops_per_s *= 0.5;
    slow.accelerator.gemm.bandwidth_bytes_per_s *= 0.5;
    slow.accelerator.peak_flops_per_s[SL_PRECISION_BF16] *= 0.5;
    slow.accelerator.memory_bytes_per_s *= 0.5;
    return slow;
}

static const sl_cluster *
join(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        (void)snprintf(pools[i].pool, sizeof pools[i].pool, "%c", (char)('a' + i));
    sl_cluster_join(pools, count, &joined);
    return &joined;
}

static const sl_cluster *
two_pools(sl_cluster first, sl_cluster second)
{
    pools[0] = first;
    pools[1] = second;
    return join(2);
}

/* Plans on four nodes of eight. */
typedef struct shape {
    const char *name;
    sl_framework framework;
    uint32_t tensor, pipeline, virtual_pipeline, context, data, zero_stage, shard_group;
    sl_schedule schedule;
} shape;

static const shape shapes[] = {
    {"1f1b of 2", SL_FRAMEWORK_MEGATRON, 4, 2, 1, 1, 4, 1, 0, SL_SCHEDULE_1F1B},
    {"1f1b of 4", SL_FRAMEWORK_MEGATRON, 2, 4, 1, 1, 4, 0, 0, SL_SCHEDULE_1F1B},
    {"1f1b of 8", SL_FRAMEWORK_MEGATRON, 1, 8, 1, 1, 4, 1, 0, SL_SCHEDULE_1F1B},
    {"1f1b with context", SL_FRAMEWORK_MEGATRON, 2, 4, 1, 2, 2, 1, 0, SL_SCHEDULE_1F1B},
    {"interleaved", SL_FRAMEWORK_MEGATRON, 2, 4, 2, 1, 4, 1, 0, SL_SCHEDULE_INTERLEAVED_1F1B},
    {"gpipe", SL_FRAMEWORK_MEGATRON, 2, 4, 1, 1, 4, 1, 0, SL_SCHEDULE_GPIPE},
    {"zb_h1", SL_FRAMEWORK_MEGATRON, 2, 4, 1, 1, 4, 1, 0, SL_SCHEDULE_ZB_H1},
    {"zb_h2", SL_FRAMEWORK_MEGATRON, 2, 4, 1, 1, 4, 1, 0, SL_SCHEDULE_ZB_H2},
    {"naive", SL_FRAMEWORK_MEGATRON, 2, 4, 1, 1, 4, 0, 0, SL_SCHEDULE_NAIVE},
    {"full shard", SL_FRAMEWORK_FSDP2, 1, 1, 1, 1, 32, 3, 0, SL_SCHEDULE_1F1B},
    {"full shard of tensors", SL_FRAMEWORK_FSDP2, 2, 1, 1, 1, 16, 3, 0, SL_SCHEDULE_1F1B},
    {"hybrid shard", SL_FRAMEWORK_FSDP1, 1, 1, 1, 1, 32, 3, 8, SL_SCHEDULE_1F1B},
    {"replicas", SL_FRAMEWORK_DDP, 1, 1, 1, 1, 32, 0, 0, SL_SCHEDULE_1F1B},
    {"sharded optimizer", SL_FRAMEWORK_MEGATRON, 2, 1, 1, 1, 16, 1, 0, SL_SCHEDULE_1F1B},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static sl_question
question_of(const shape *s, const sl_cluster *cluster)
{
    sl_dense_spec spec = sl_fixture_llama();
    sl_question q = sl_fixture_question(sl_fixture_model(&spec), cluster, &software);

    q.workload.framework = s->framework;
    q.workload.attention = SL_ATTENTION_FLASH2;
    q.workload.global_batch = 64;
    q.plan.tensor = s->tensor;
    q.plan.pipeline = s->pipeline;
    q.plan.virtual_pipeline = s->virtual_pipeline;
    q.plan.context = s->context;
    q.plan.data = s->data;
    q.plan.zero_stage = s->zero_stage;
    q.plan.shard_group = s->shard_group;
    q.plan.schedule = s->schedule;
    return q;
}

static void
expect_equal(const sl_estimate *a, const sl_estimate *b, const char *name)
{
    sl_expect_near(a->time.step_s, b->time.step_s, 1e-12, name);
    for (uint32_t i = 0; i < SL_TIME_TERMS; i++)
        sl_expect_near(a->time.terms[i].value, b->time.terms[i].value, 1e-12, name);
    CU_ASSERT_EQUAL(a->time.communication_count, b->time.communication_count);
    for (uint32_t i = 0; i < a->time.communication_count; i++) {
        sl_expect_near(a->time.communication[i].seconds, b->time.communication[i].seconds, 1e-12,
                       name);
        CU_ASSERT_EQUAL(a->time.communication[i].level, b->time.communication[i].level);
    }
    CU_ASSERT_EQUAL(a->memory.headroom_bytes, b->memory.headroom_bytes);
    CU_ASSERT_EQUAL(a->memory.usable_bytes, b->memory.usable_bytes);
    sl_expect_near(a->step_low_s, b->step_low_s, 1e-12, name);
    sl_expect_near(a->step_high_s, b->step_high_s, 1e-12, name);
    sl_expect_near(a->throughput.mfu_full, b->throughput.mfu_full, 1e-12, name);
    sl_expect_near(a->throughput.hfu, b->throughput.hfu, 1e-12, name);
    sl_expect_near(a->throughput.goodput_ratio, b->throughput.goodput_ratio, 1e-12, name);
}

static void
two_pools_of_one_part_are_one_pool_of_both(void)
{
    static sl_estimate whole;

    for (uint32_t i = 0; i < SHAPES; i++) {
        single = sl_fixture_cluster(2 * NODES);
        const sl_question one = question_of(&shapes[i], &single);
        whole = *sl_fixture_answer(&one);
        const sl_question two = question_of(
            &shapes[i], two_pools(sl_fixture_cluster(NODES), sl_fixture_cluster(NODES)));
        expect_equal(sl_fixture_answer(&two), &whole, shapes[i].name);
    }
}

static void
three_pools_of_one_part_are_one_pool_of_all(void)
{
    static sl_estimate whole;

    for (uint32_t i = 0; i < SHAPES; i++) {
        if (shapes[i].pipeline == 2) /* a stage would lie in two */
            continue;
        single = sl_fixture_cluster(2 * NODES);
        const sl_question one = question_of(&shapes[i], &single);
        whole = *sl_fixture_answer(&one);
        pools[0] = pools[1] = sl_fixture_cluster(1);
        pools[2] = sl_fixture_cluster(2);
        const sl_question three = question_of(&shapes[i], join(3));
        expect_equal(sl_fixture_answer(&three), &whole, shapes[i].name);
    }
}

/* Nodes of a rack reach each other by its links; those of two pools by the network. */
static void
a_scale_up_domain_ends_with_its_pool(void)
{
    sl_cluster rack = sl_fixture_cluster(1);

    rack.accelerators_per_node = 4;
    rack.nics_per_node = 4;
    rack.accelerator.scale_up_domain = 72;
    sl_question q = question_of(&shapes[9], two_pools(rack, rack));
    q.plan.data = 8;
    const double apart_s = sl_fixture_answer(&q)->time.step_s;
    single = rack;
    single.nodes = 2;
    q.cluster = &single;
    CU_ASSERT_TRUE(apart_s > 1.1 * sl_fixture_answer(&q)->time.step_s);
    single.accelerator.scale_up_domain = 4;
    sl_expect_near(apart_s, sl_fixture_answer(&q)->time.step_s, 1e-12, "over the network");
}

static void
a_slower_second_pool_never_makes_it_faster(void)
{
    for (uint32_t i = 0; i < SHAPES; i++) {
        sl_question q = question_of(
            &shapes[i], two_pools(sl_fixture_cluster(NODES), sl_fixture_cluster(NODES)));
        double before_s = sl_fixture_answer(&q)->time.step_s;
        for (uint32_t slower = 0; slower < 4; slower++) {
            sl_cluster other = pools[1];
            other.accelerator.gemm.peak_flops_per_s *= slower == 0 ? 0.5 : 1.0;
            other.accelerator.memory_bytes_per_s *= slower == 1 ? 0.5 : 1.0;
            other.nic_bytes_per_s *= slower == 2 ? 0.5 : 1.0;
            other.accelerator.sustained_ratio *= slower == 3 ? 0.8 : 1.0;
            q.cluster = two_pools(sl_fixture_cluster(NODES), other);
            const double step_s = sl_fixture_answer(&q)->time.step_s;
            if (step_s < before_s * (1.0 - 1e-12))
                printf("  %s, %u: %.6f s after %.6f\n", shapes[i].name, slower, step_s, before_s);
            CU_ASSERT_TRUE(step_s >= before_s * (1.0 - 1e-12));
            before_s = step_s;
        }
    }
}

static void
uneven_replicas_take_as_long_as_on_the_slowest_part_alone(void)
{
    static sl_estimate slow;

    for (uint32_t i = 0; i < SHAPES; i++) {
        if (shapes[i].pipeline > 1)
            continue;
        single = slow_pool(2 * NODES);
        const sl_question one = question_of(&shapes[i], &single);
        slow = *sl_fixture_answer(&one);
        const sl_question q =
            question_of(&shapes[i], two_pools(sl_fixture_cluster(NODES), slow_pool(NODES)));
        const sl_estimate *estimate = sl_fixture_answer(&q);
        sl_expect_near(estimate->time.step_s, slow.time.step_s, 1e-12, shapes[i].name);
        CU_ASSERT_EQUAL(estimate->time.slowest_pool, 1);
        /* Two thirds of what the fast part could do, on the mean, are there. */
        sl_expect_near(estimate->throughput.peak_flops_per_s, 75e12, 1e-12, "peak");
    }
}

/* Compute of one pool and the network of the other bind the same step. */
static void
collectives_of_uneven_replicas_go_at_the_slowest_links(void)
{
    sl_cluster other = sl_fixture_cluster(NODES);

    other.nic_bytes_per_s *= 0.25;
    const sl_question q = question_of(&shapes[9], two_pools(slow_pool(NODES), other));
    const double both_s = sl_fixture_answer(&q)->time.step_s;
    single = slow_pool(2 * NODES);
    single.nic_bytes_per_s = other.nic_bytes_per_s;
    const sl_question worst = question_of(&shapes[9], &single);
    sl_expect_near(both_s, sl_fixture_answer(&worst)->time.step_s, 1e-12, "both");
}

static const sl_rank_memory *
rank_of_stage(const sl_memory *memory, uint32_t stage)
{
    for (uint32_t i = 0; i < memory->rank_count; i++)
        if (stage >= memory->ranks[i].first_stage &&
            stage < memory->ranks[i].first_stage + memory->ranks[i].stage_count)
            return &memory->ranks[i];
    CU_FAIL("no such stage");
    return &memory->ranks[0];
}

static void
each_stage_holds_what_it_holds_on_its_own_part_alone(void)
{
    static sl_estimate alone[2];

    for (uint32_t i = 0; i < SHAPES; i++) {
        const uint32_t p = shapes[i].pipeline;
        sl_cluster other = slow_pool(NODES);
        other.accelerator.memory_bytes = (uint64_t)24 << 30; /* full: what is kept depends on it */
        for (uint32_t part = 0; part < 2; part++) {
            single = part == 0 ? sl_fixture_cluster(2 * NODES) : other;
            single.nodes = 2 * NODES;
            const sl_question one = question_of(&shapes[i], &single);
            alone[part] = *sl_fixture_answer(&one);
        }
        const sl_question q = question_of(&shapes[i], two_pools(sl_fixture_cluster(NODES), other));
        const sl_memory *memory = &sl_fixture_answer(&q)->memory;
        int64_t least = INT64_MAX;
        for (uint32_t r = 0; r < memory->rank_count; r++) {
            const sl_rank_memory *rank = &memory->ranks[r];
            const sl_rank_memory *same =
                rank_of_stage(&alone[rank->pool].memory, rank->first_stage);
            CU_ASSERT_EQUAL(rank->device_total_bytes, same->device_total_bytes);
            CU_ASSERT_EQUAL(rank->term_count, same->term_count);
            for (uint32_t t = 0; t < rank->term_count; t++)
                CU_ASSERT_EQUAL(rank->terms[t].value, same->terms[t].value);
            CU_ASSERT_EQUAL(rank->pool, p == 1 ? r : rank->first_stage >= p / 2);
            const int64_t left = (int64_t)rank->usable_bytes - (int64_t)rank->device_total_bytes;
            least = left < least ? left : least;
        }
        CU_ASSERT_EQUAL(memory->headroom_bytes, least);
        CU_ASSERT_EQUAL(memory->ranks[memory->binding].pool, 1);
        CU_ASSERT_EQUAL(memory->usable_bytes, (uint64_t)24 << 30);
    }
}

static void
closed_form_and_simulation_agree_on_uneven_pools(void)
{
    static const double speeds[] = {0.3, 0.5, 0.8, 1.0};
    double farthest = 0.0;

    for (uint32_t i = 0; i < SHAPES; i++)
        for (uint32_t s = 0; s < 2 * sizeof speeds / sizeof speeds[0]; s++) {
            sl_cluster other = sl_fixture_cluster(NODES);
            other.accelerator.gemm.peak_flops_per_s *= speeds[s / 2];
            other.accelerator.memory_bytes_per_s *= speeds[s / 2];
            if (shapes[i].pipeline == 1)
                continue;
            const sl_question q =
                question_of(&shapes[i], s % 2 == 0 ? two_pools(sl_fixture_cluster(NODES), other)
                                                   : two_pools(other, sl_fixture_cluster(NODES)));
            const sl_estimate *estimate = sl_fixture_answer(&q);
            const sl_timeline *timeline = sl_fixture_timeline(&q, estimate);
            const double off = fabs(log(timeline->step_s / estimate->time.step_s));
            if (off > 0.05)
                printf("  %s at %.1f, %s: %.4f s simulated, %.4f s in closed form\n",
                       shapes[i].name, speeds[s / 2], s % 2 == 0 ? "later" : "first",
                       timeline->step_s, estimate->time.step_s);
            CU_ASSERT_TRUE(off <= 0.05);
            farthest = fmax(farthest, off);
            for (uint32_t r = 0; r < timeline->stage_count; r++)
                CU_ASSERT_EQUAL(timeline->stages[r].pool, r >= timeline->stage_count / 2);
        }
    printf("  farthest apart: %.2f %%\n", 100.0 * farthest);
}

static void
of_uneven_replicas_the_slowest_are_drawn(void)
{
    for (uint32_t i = 0; i < SHAPES; i++) {
        if (shapes[i].pipeline > 1)
            continue;
        single = slow_pool(2 * NODES);
        const sl_question one = question_of(&shapes[i], &single);
        const double alone_s = sl_fixture_timeline(&one, sl_fixture_answer(&one))->step_s;
        const sl_question q =
            question_of(&shapes[i], two_pools(sl_fixture_cluster(NODES), slow_pool(NODES)));
        const sl_estimate *estimate = sl_fixture_answer(&q);
        const sl_timeline *timeline = sl_fixture_timeline(&q, estimate);
        sl_expect_near(timeline->step_s, alone_s, 1e-12, shapes[i].name);
        CU_ASSERT_EQUAL(timeline->stages[0].pool, 1);
        CU_ASSERT_EQUAL(timeline->stages[0].rank, 16);
    }
}

static void
expect_refused(const sl_question *q, const char *pointer, const char *rule, const char *hint)
{
    sl_errors err = {0};
    bool found = false;

    CU_ASSERT_NOT_EQUAL(sl_question_check(q, &err), SL_OK);
    for (uint32_t i = 0; i < err.count; i++)
        found = found ||
                (strcmp(err.list[i].pointer, pointer) == 0 && strcmp(err.list[i].rule, rule) == 0 &&
                 strstr(err.list[i].hint, hint) != NULL);
    if (!found && err.count > 0)
        printf("  expected %s %s: %s %s %s\n", pointer, rule, err.list[0].pointer, err.list[0].rule,
               err.list[0].hint);
    CU_ASSERT_TRUE(found);
}

static void
what_pools_cannot_do_is_refused_by_name(void)
{
    sl_question q = question_of(&shapes[0], two_pools(sl_fixture_cluster(1), slow_pool(3)));

    expect_refused(&q, "/parallelism/pipeline", "pools_split_stage", "a takes 0.5, b takes 1.5");
    q = question_of(&shapes[10], two_pools(sl_fixture_cluster(2), slow_pool(2)));
    q.plan.tensor = 32;
    q.plan.data = 1;
    expect_refused(&q, "/parallelism/tensor", "pools_split_stage", "a takes 0.5, b takes 0.5");
    q = question_of(&shapes[1], &joined);
    q.plan.schedule = SL_SCHEDULE_DUALPIPE;
    expect_refused(&q, "/parallelism/schedule", "not_modelled", "1f1b");
    q = question_of(&shapes[1], &joined);
    q.plan.order = SL_ORDER_PIPELINE_DATA;
    expect_refused(&q, "/parallelism/order", "not_modelled", "tp-cp-ep-dp-pp");
    q = question_of(&shapes[1], &joined);
    q.workload.offload.optimizer = true;
    expect_refused(&q, "/workload/offload", "not_modelled", "");
    q = question_of(&shapes[9], &joined);
    q.workload.framework = SL_FRAMEWORK_DP;
    expect_refused(&q, "/workload/framework", "not_modelled", "");
    sl_cluster bare = sl_fixture_cluster(2);
    bare.nics_per_node = 0;
    q = question_of(&shapes[1], two_pools(sl_fixture_cluster(2), bare));
    expect_refused(&q, "/cluster/pools/1/nics", "nics_unknown", "");
    sl_cluster old = sl_fixture_cluster(2);
    old.accelerator.attention[SL_ATTENTION_FLASH2][0].head_dim = 0;
    q = question_of(&shapes[1], two_pools(sl_fixture_cluster(2), old));
    expect_refused(&q, "/workload/attention", "attention_not_supported", "unfused");
}

static void
experts_stay_inside_a_pool(void)
{
    sl_cluster three = sl_fixture_cluster(1);

    three.accelerators_per_node = 4;
    sl_question q = sl_fixture_mixture_question(two_pools(sl_fixture_cluster(1), three), &software);
    q.plan.data = 12;
    q.plan.expert = 4;
    q.workload.global_batch = 24;
    CU_ASSERT_TRUE(sl_fixture_answer(&q)->time.step_s > 0.0);
    pools[1].accelerators_per_node = 2;
    pools[1].nodes = 4;
    q.cluster = join(2);
    q.plan.data = 16;
    q.plan.expert = 16;
    expect_refused(&q, "/parallelism/expert", "not_modelled", "a takes 0.5");
}

static void
ranks_are_numbered_pool_by_pool(void)
{
    sl_cluster small = slow_pool(4);

    small.accelerators_per_node = 4;
    const sl_question q = question_of(&shapes[0], two_pools(sl_fixture_cluster(2), small));
    const sl_sharding sharding = sl_sharding_of(&q, sl_sharding_mode_of(&q));
    const sl_place last_of_first = sl_sharding_place(&sharding, 15);
    CU_ASSERT_EQUAL(last_of_first.pool, 0);
    CU_ASSERT_EQUAL(last_of_first.node, 1);
    CU_ASSERT_EQUAL(last_of_first.local_rank, 7);
    CU_ASSERT_EQUAL(last_of_first.pipeline, 0);
    const sl_place seventh = sl_sharding_place(&sharding, 22);
    CU_ASSERT_EQUAL(seventh.pool, 1);
    CU_ASSERT_EQUAL(seventh.node, 3);
    CU_ASSERT_EQUAL(seventh.local_rank, 2);
    CU_ASSERT_EQUAL(seventh.pipeline, 1);
    CU_ASSERT_STRING_EQUAL(sl_sharding_groups(&sharding, SL_GROUP_PIPELINE).level, "network");
    CU_ASSERT_STRING_EQUAL(sl_sharding_groups(&sharding, SL_GROUP_TENSOR).level, "scale_up");
}

static const sl_fix *
layout_fix(const sl_estimate *estimate)
{
    for (uint32_t i = 0; i < estimate->fix_count; i++)
        if (strcmp(estimate->fixes[i].what, "pipeline_layout") == 0)
            return &estimate->fixes[i];
    return NULL;
}

/* Blocks in proportion to speed: of 16 on two stages, one twice as fast, about 11 and 5. */
static void
a_layout_that_balances_time_is_suggested_and_evaluated(void)
{
    sl_question q = question_of(&shapes[0], two_pools(sl_fixture_cluster(2), slow_pool(2)));
    const sl_estimate *estimate = sl_fixture_answer(&q);
    const sl_fix *fix = layout_fix(estimate);

    CU_ASSERT_PTR_NOT_NULL_FATAL(fix);
    const sl_fix kept = *fix;
    const double before_s = estimate->time.step_s;
    CU_ASSERT_TRUE(kept.fits);
    CU_ASSERT_TRUE(kept.plan.layout[0] == 11 || kept.plan.layout[0] == 12);
    CU_ASSERT_EQUAL(kept.plan.layout[0] + kept.plan.layout[1], 16);
    CU_ASSERT_TRUE(kept.step_s < 0.85 * before_s);
    q.plan = kept.plan;
    sl_expect_near(sl_fixture_answer(&q)->time.step_s, kept.step_s, 1e-12, "evaluated");
    for (uint32_t blocks = 8; blocks < 16; blocks++) {
        q.plan.layout[0] = (uint16_t)blocks;
        q.plan.layout[1] = (uint16_t)(16 - blocks);
        CU_ASSERT_TRUE(sl_fixture_answer(&q)->time.step_s >= 0.99 * kept.step_s);
    }
}

/* Chunks of a rank go with its speed, too. */
static void
a_layout_of_chunks_is_suggested_where_they_are_interleaved(void)
{
    const sl_question q = question_of(&shapes[4], two_pools(sl_fixture_cluster(2), slow_pool(2)));
    const sl_estimate *estimate = sl_fixture_answer(&q);
    const sl_fix *fix = layout_fix(estimate);

    CU_ASSERT_PTR_NOT_NULL_FATAL(fix);
    if (fix == NULL) /* for the analyser, which knows no fatal assertion */
        return;
    CU_ASSERT_EQUAL(fix->plan.layout_chunks, 8);
    CU_ASSERT_TRUE(fix->plan.layout[0] + fix->plan.layout[4] >
                   fix->plan.layout[3] + fix->plan.layout[7]);
    CU_ASSERT_TRUE(fix->step_s < 0.9 * estimate->time.step_s);
}

static void
a_layout_that_fits_is_suggested_where_a_pool_lacks_memory(void)
{
    sl_cluster small = sl_fixture_cluster(2);

    single = sl_fixture_cluster(4);
    const sl_question one = question_of(&shapes[0], &single);
    const sl_memory *memory = &sl_fixture_answer(&one)->memory;
    const sl_rank_memory *last = &memory->ranks[memory->rank_count - 1];
    small.accelerator.memory_bytes = last->device_total_bytes * 9 / 10;
    const sl_question q = question_of(&shapes[0], two_pools(sl_fixture_cluster(2), small));
    const sl_estimate *estimate = sl_fixture_answer(&q);
    CU_ASSERT_FALSE(estimate->fits);
    const sl_fix *fix = layout_fix(estimate);
    CU_ASSERT_TRUE(fix != NULL && fix->fits && fix->plan.layout[0] > 8);
}

static void
several_pools_have_in_common_what_all_of_them_have(void)
{
    sl_cluster other = slow_pool(6);

    other.accelerators_per_node = 4;
    other.accelerator.memory_bytes = (uint64_t)40 << 30;
    other.accelerator.peak_flops_per_s[SL_PRECISION_FP32] = 0.0;
    other.accelerator.release_year = 2024;
    other.price_per_node_hour = 10.0;
    sl_cluster first = sl_fixture_cluster(2);
    first.price_per_node_hour = 30.0;
    const sl_cluster *both = two_pools(first, other);
    CU_ASSERT_EQUAL(sl_cluster_accelerators(both), 40);
    CU_ASSERT_EQUAL(both->nodes, 8);
    CU_ASSERT_EQUAL(both->accelerators_per_node, 4);
    CU_ASSERT_EQUAL(both->accelerator.memory_bytes, (uint64_t)40 << 30);
    CU_ASSERT_EQUAL(both->accelerator.peak_flops_per_s[SL_PRECISION_FP32], 0.0);
    sl_expect_near(both->accelerator.peak_flops_per_s[SL_PRECISION_BF16],
                   (16.0 * 100e12 + 24.0 * 50e12) / 40.0, 1e-12, "mean peak");
    sl_expect_near(both->price_per_node_hour, (2.0 * 30.0 + 6.0 * 10.0) / 8.0, 1e-12, "price");
    CU_ASSERT_EQUAL(both->accelerator.release_year, 2024);
    CU_ASSERT_EQUAL(pools[0].beside, 24);
    CU_ASSERT_EQUAL(pools[1].beside, 16);
}

static const sl_case cases[] = {
    SL_CASE(two_pools_of_one_part_are_one_pool_of_both),
    SL_CASE(three_pools_of_one_part_are_one_pool_of_all),
    SL_CASE(a_scale_up_domain_ends_with_its_pool),
    SL_CASE(a_slower_second_pool_never_makes_it_faster),
    SL_CASE(uneven_replicas_take_as_long_as_on_the_slowest_part_alone),
    SL_CASE(collectives_of_uneven_replicas_go_at_the_slowest_links),
    SL_CASE(each_stage_holds_what_it_holds_on_its_own_part_alone),
    SL_CASE(closed_form_and_simulation_agree_on_uneven_pools),
    SL_CASE(of_uneven_replicas_the_slowest_are_drawn),
    SL_CASE(what_pools_cannot_do_is_refused_by_name),
    SL_CASE(experts_stay_inside_a_pool),
    SL_CASE(ranks_are_numbered_pool_by_pool),
    SL_CASE(a_layout_that_balances_time_is_suggested_and_evaluated),
    SL_CASE(a_layout_of_chunks_is_suggested_where_they_are_interleaved),
    SL_CASE(a_layout_that_fits_is_suggested_where_a_pool_lacks_memory),
    SL_CASE(several_pools_have_in_common_what_all_of_them_have),
};

int
main(int argc, char **argv)
{
    software = sl_fixture_software();
    return sl_run_cases(argc, argv, "pools", cases, sizeof cases / sizeof cases[0]);
}
