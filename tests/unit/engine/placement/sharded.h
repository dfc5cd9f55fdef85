/** Seeded plans of small models, for the tests of sharding maps. */
#ifndef SL_TESTS_SHARDED_H
#define SL_TESTS_SHARDED_H

#include <string.h>

#include "engine_fixture.h"
#include "harness.h"
#include "shardline/sharding.h"

static sl_model the_model;
static sl_cluster the_cluster;
static sl_software the_software;

static uint32_t the_state = 1;

/* A seeded generator of our own: the same plans on every machine. */
static inline uint32_t
draw(uint32_t below)
{
    the_state = the_state * 1664525U + 1013904223U;
    return (the_state >> 8) % below;
}

static inline uint32_t
power(uint32_t below)
{
    return 1U << draw(below);
}

static inline sl_dense_spec
small(sl_naming naming)
{
    return (sl_dense_spec){
        .naming = naming,
        .blocks = 8,
        .hidden = 8,
        .ffn = 16,
        .vocabulary = 37,
        .heads = 8,
        .kv_heads = 2,
        .head_dim = 4,
        .gated_mlp = true,
        .has_head = true,
    };
}

/* Fused and not, experts one by one, stacked and end to end. */
static inline sl_dense_spec
drawn_spec(void)
{
    static const sl_naming dense[] = {SL_NAMING_LLAMA, SL_NAMING_PHI3, SL_NAMING_GLM4,
                                      SL_NAMING_INTERNLM2};
    static const sl_naming routed[] = {SL_NAMING_QWEN2_MOE, SL_NAMING_DBRX, SL_NAMING_LLAMA4,
                                       SL_NAMING_GRANITE_MOE, SL_NAMING_GPT_OSS};
    const bool experts = draw(2) == 1;
    sl_dense_spec spec = small(experts ? routed[draw(5)] : dense[draw(4)]);

    spec.tied = draw(2) == 1;
    spec.qkv_bias = draw(2) == 1;
    if (spec.naming == SL_NAMING_LLAMA && draw(2) == 1) {
        spec.naming = SL_NAMING_GPT2;
        spec.gated_mlp = false;
        spec.learned_positions = 5;
    }
    if (experts)
        spec.experts = (sl_experts){.count = 3 + draw(6), .per_token = 2, .width = 6};
    return spec;
}

static inline sl_question
ask(const sl_dense_spec *spec, sl_plan plan, sl_framework framework)
{
    sl_errors err = {0};

    memset(&the_model, 0, sizeof the_model);
    CU_ASSERT_EQUAL_FATAL(sl_model_describe_dense(spec, &the_model, &err), SL_OK);
    const uint64_t world = sl_plan_world(&plan);
    the_cluster = sl_fixture_cluster(world < 8 ? 1 : (uint32_t)(world / 8));
    the_software = sl_fixture_software();
    sl_question q = sl_fixture_question(&the_model, &the_cluster, &the_software);
    q.plan = plan;
    q.workload.framework = framework;
    return q;
}

/* Data parallel only. */
static inline sl_plan
flat_plan(uint32_t data, uint32_t zero_stage)
{
    return (sl_plan){.tensor = 1,
                     .pipeline = 1,
                     .virtual_pipeline = 1,
                     .context = 1,
                     .expert = 1,
                     .data = data,
                     .zero_stage = zero_stage};
}

static inline sl_plan
drawn_plan(bool experts)
{
    sl_plan plan = {.tensor = power(4),
                    .pipeline = power(3),
                    .virtual_pipeline = power(2),
                    .context = power(2),
                    .expert = 1,
                    .data = power(4)};

    if (experts && draw(2) == 1)
        plan.expert = plan.data;
    if (experts && draw(2) == 1)
        plan.expert_tensor = plan.tensor >= 4 && draw(2) == 1 ? 2 : 1;
    if (plan.pipeline > 1 && draw(2) == 1)
        plan.schedule = plan.virtual_pipeline == 2 ? SL_SCHEDULE_ZB_V : SL_SCHEDULE_DUALPIPE;
    return plan;
}

static inline sl_sharded_tensor
find(const sl_sharding *sharding, const char *name)
{
    sl_tensor_walk walk = {.layer = 1};
    sl_sharded_tensor t;

    while (sl_sharding_next(sharding, &walk, &t))
        if (strcmp(t.tensor->name, name) == 0)
            return t;
    CU_FAIL_FATAL("no such tensor");
    return t;
}

#endif
