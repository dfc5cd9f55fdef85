/*
 * What the limits of a plan cost on this machine in this run: 80 layers on 128 devices in 1 to 16
 * stages, blocks alike and of two kinds, from question to figures. Build the release preset and run
 * build/release/tests/bench/limits_bench.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "catalog/catalog.h"
#include "engine/search/limits.h"
#include "llamas.h"
#include "nodes.h"

enum { ROUNDS = 50 };

static sl_model model, space;
static sl_estimate scratch;
static sl_limits limits;

static sl_question
ask(const sl_catalog *catalog, uint32_t stages, bool mixed, sl_cluster *cluster)
{
    sl_dense_spec spec = llama_70b;
    sl_errors err = {0};

    if (mixed) { /* three dense ones, then experts */
        spec.naming = SL_NAMING_DEEPSEEK;
        spec.ffn = 8192;
        spec.experts = (sl_experts){.count = 64, .per_token = 8, .width = 512};
        for (uint32_t i = 0; i < 3; i++)
            spec.block[i] = SL_BLOCK_DENSE_MLP;
    }
    if (sl_model_describe_dense(&spec, &model, &err) != SL_OK)
        exit(EXIT_FAILURE);
    *cluster = nodes_of(catalog, "nvidia-h100-sxm5-80gb", 16, 50e9);
    sl_question q = {
        .model = &model,
        .cluster = cluster,
        .workload = {.sequence_length = 8192,
                     .global_batch = 512,
                     .micro_batch = 1,
                     .attention = SL_ATTENTION_FLASH2,
                     .layout = {-1.0, -1.0, -1.0, -1.0}},
        .plan = {.tensor = 8,
                 .sequence = true,
                 .pipeline = stages,
                 .virtual_pipeline = 1,
                 .context = 1,
                 .expert = 1,
                 .data = 16 / stages,
                 .zero_stage = 1},
    };
    q.software = sl_catalog_software(catalog, "megatron", &q.software_count);
    q.software_count = 1;
    return q;
}

static void
run(const sl_catalog *catalog, uint32_t stages, bool mixed)
{
    const sl_limit_bounds bounds = {
        .sequence_length = 1 << 24, .global_batch = 1 << 20, .layers = 2000, .nodes = 1 << 20};
    double fastest_s = 1.0;
    uint32_t evaluations = 0;
    sl_cluster cluster;
    const sl_question q = ask(catalog, stages, mixed, &cluster);

    for (int i = 0; i < ROUNDS; i++) {
        const double began_s = sl_clock_now_s();
        sl_limits_measure(&q, &bounds, &space, &scratch, &limits);
        const double took_s = sl_clock_now_s() - began_s;
        fastest_s = took_s < fastest_s ? took_s : fastest_s;
    }
    for (uint32_t i = 0; i < SL_LIMIT_COUNT; i++) {
        evaluations += limits.of[i].evaluations;
        printf("  limit %u: %llu, %u evaluations\n", i,
               (unsigned long long)limits.of[i].value.value, limits.of[i].evaluations);
    }
    printf("%u stages%s: %.2f ms, %u evaluations\n", stages, mixed ? ", two kinds" : "",
           1e3 * fastest_s, evaluations);
}

int
main(void)
{
    sl_errors err = {0};
    sl_catalog *catalog = sl_catalog_new(&err);

    if (catalog == NULL)
        return EXIT_FAILURE;
    for (uint32_t stages = 1; stages <= 16; stages *= 4) {
        run(catalog, stages, false);
        run(catalog, stages, true);
    }
    sl_catalog_free(catalog);
    return EXIT_SUCCESS;
}
