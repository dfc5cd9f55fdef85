/*
 * What a sharding map costs on 16,384 ranks: the engine's walk over every shard, those that are
 * alike at once, and a page as JSON.
 * Build the release preset and run build/release/tests/bench/sharding_bench.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "codec/answer/sharding_json.h"
#include "llamas.h"

enum { ROUNDS = 5, PAGE_MAX_BYTES = 64 << 20 };

static sl_model model;
static const sl_software software; /* no width depends on it */
static sl_cluster cluster;
static sl_estimate_request request;

/* 126 blocks of nine tensors: 1,137 tensors. */
static sl_question
ask(uint32_t tensor, uint32_t pipeline, uint32_t data)
{
    sl_errors err = {.count = 0};

    if (sl_model_describe_dense(&llama_405b, &model, &err) != SL_OK)
        exit(EXIT_FAILURE);
    cluster = (sl_cluster){.nodes = 2048, .accelerators_per_node = 8};
    cluster.accelerator.scale_up_domain = 8;
    return (sl_question){.model = &model,
                         .cluster = &cluster,
                         .software = &software,
                         .software_count = 1,
                         .workload = {.layout = {-1.0, -1.0, -1.0, -1.0}},
                         .plan = {.tensor = tensor,
                                  .pipeline = pipeline,
                                  .virtual_pipeline = 1,
                                  .context = 1,
                                  .expert = 1,
                                  .data = data,
                                  .zero_stage = 1}};
}

/* 64 blocks of 256 experts each, one by one in the checkpoint: 49,000 tensors and more. */
static sl_question
ask_experts(void)
{
    static sl_model mixture;
    const sl_dense_spec spec = {
        .naming = SL_NAMING_QWEN2_MOE,
        .blocks = 64,
        .hidden = 7168,
        .ffn = 2048,
        .vocabulary = 128256,
        .heads = 128,
        .kv_heads = 8,
        .head_dim = 128,
        .gated_mlp = true,
        .has_head = true,
        .experts = {.count = 256, .per_token = 8, .width = 2048},
    };
    sl_errors err = {.count = 0};
    sl_question q = ask(8, 16, 128);

    if (sl_model_describe_dense(&spec, &mixture, &err) != SL_OK)
        exit(EXIT_FAILURE);
    q.model = &mixture;
    q.plan.expert = 64;
    q.plan.expert_tensor = 1;
    return q;
}

/* What a walk saw: shards, and the elements that their ranks hold together. */
typedef struct walked {
    uint64_t shards, elements;
} walked;

static walked
walk_all(const sl_sharding *sharding)
{
    sl_tensor_walk walk = {0};
    sl_sharded_tensor tensor;
    walked seen = {0, 0};

    while (sl_sharding_next(sharding, &walk, &tensor))
        for (uint32_t p = 0; p < sl_sharding_part_count(&tensor); p++) {
            const sl_tensor_part part = sl_sharding_part(sharding, &tensor, p);
            const uint64_t end = part.first_shard + part.shard_count;
            uint64_t alike = 0;
            for (uint64_t i = part.first_shard; i < end; i += alike) {
                const sl_shard shard = sl_sharding_shard(&part, i);
                alike = sl_sharding_alike(&part, i);
                seen.shards += alike;
                seen.elements += alike * shard.elements * shard.ranks.run * shard.ranks.count;
            }
        }
    return seen;
}

static void
measure(const char *name, const sl_question *q, sl_sharding_mode mode,
        const sl_sharding_query *query)
{
    const sl_sharding sharding = sl_sharding_of(q, mode);
    double best_walk_s = 1e9;
    double best_page_s = 1e9;
    walked seen = {0, 0};
    size_t bytes = 0;

    for (int i = 0; i < ROUNDS; i++) {
        sl_buffer body;
        sl_writer writer;
        const double start_s = sl_clock_now_s();
        seen = walk_all(&sharding);
        const double walked_s = sl_clock_now_s();
        sl_buffer_init(&body, PAGE_MAX_BYTES);
        sl_writer_init(&writer, &body);
        if (!sl_sharding_write(&writer, &sharding, query, &request, NULL) || !sl_writer_ok(&writer))
            exit(EXIT_FAILURE);
        const double written_s = sl_clock_now_s();
        bytes = body.size;
        sl_buffer_clear(&body);
        if (walked_s - start_s < best_walk_s)
            best_walk_s = walked_s - start_s;
        if (written_s - walked_s < best_page_s)
            best_page_s = written_s - walked_s;
    }
    printf("%-44s %9llu shards of %.6e elements, walk %6.2f ms, page of %6.2f MB %6.2f ms\n", name,
           (unsigned long long)seen.shards, (double)seen.elements, 1e3 * best_walk_s,
           (double)bytes / 1e6, 1e3 * best_page_s);
}

int
main(void)
{
    static const sl_sharding_query first = {.limit = SL_SHARDS_DEFAULT};
    static const sl_sharding_query most = {.limit = SL_SHARDS_MAX};
    static const sl_sharding_query one = {
        .limit = SL_SHARDS_MAX, .range_count = 1, .ranges = {{77, 77}}};
    const sl_question hybrid = ask(8, 2, 1024);
    const sl_question rows = ask(1, 1, 16384);
    const sl_question experts = ask_experts();
    const sl_sharding_mode states = {SL_SHARDING_FLAT, 1024, false};
    const sl_sharding_mode flat = {SL_SHARDING_FLAT, 16384, true};
    const sl_sharding_mode axis = {SL_SHARDING_AXIS_0, 16384, true};

    measure("tensor 8 pipeline 2, first page", &hybrid, states, &first);
    measure("tensor 8 pipeline 2, largest page", &hybrid, states, &most);
    measure("tensor 8 pipeline 2, one rank", &hybrid, states, &one);
    measure("experts over 64, states over 128, first page", &experts,
            (sl_sharding_mode){SL_SHARDING_FLAT, 128, false}, &first);
    measure("experts over 64, states over 128, one rank", &experts,
            (sl_sharding_mode){SL_SHARDING_FLAT, 128, false}, &one);
    measure("flat parameters over all, first page", &rows, flat, &first);
    measure("flat parameters over all, one rank", &rows, flat, &one);
    measure("first axis over all, first page", &rows, axis, &first);
    measure("first axis over all, one rank", &rows, axis, &one);
    return EXIT_SUCCESS;
}
