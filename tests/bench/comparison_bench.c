/*
 * What a comparison costs on this machine in this run: all strategies for 80 layers on 128 devices,
 * and all ways of fine-tuning, from question to figures. Build the release preset and run
 * build/release/tests/bench/comparison_bench.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "catalog/catalog.h"
#include "engine/strategy/comparison.h"
#include "llamas.h"
#include "nodes.h"
#include "questions.h"

enum { ROUNDS = 100 };

static const char *const frameworks[SL_FRAMEWORK_COUNT] = {
    [SL_FRAMEWORK_MEGATRON] = "megatron",   [SL_FRAMEWORK_DDP] = "ddp",
    [SL_FRAMEWORK_FSDP1] = "fsdp1",         [SL_FRAMEWORK_FSDP2] = "fsdp2",
    [SL_FRAMEWORK_DEEPSPEED] = "deepspeed", [SL_FRAMEWORK_DP] = "ddp",
};

static sl_model model;
static sl_estimate answer, scratch;
static sl_comparison comparison;
static sl_tuning_comparison tuning;

static sl_question
ask(const sl_catalog *catalog, sl_cluster *cluster)
{
    sl_errors err = {0};

    if (sl_model_describe_dense(&llama_70b, &model, &err) != SL_OK)
        exit(EXIT_FAILURE);
    *cluster = nodes_of(catalog, "nvidia-h100-sxm5-80gb", 16, 50e9);
    sl_question question = question_of(catalog, "mbridge-26.04", &model, cluster, 8192, 512);
    question.plan.data = 128;
    question.unknown =
        SL_UNKNOWN_MICRO_BATCH | SL_UNKNOWN_RECOMPUTE | SL_UNKNOWN_ATTENTION | SL_UNKNOWN_DROPOUT;
    return question;
}

static double
strategies_s(const sl_comparison_ask *asked)
{
    double fastest_s = 1.0;

    for (uint32_t i = SL_STRATEGY_DP; i < SL_STRATEGY_COUNT; i++)
        comparison.asked[i] = true;
    for (int i = 0; i < ROUNDS; i++) {
        const double start_s = sl_clock_now_s();
        sl_comparison_answer(asked, &scratch, &answer, &comparison);
        const double taken_s = sl_clock_now_s() - start_s;
        fastest_s = taken_s < fastest_s ? taken_s : fastest_s;
    }
    return fastest_s;
}

static double
tunings_s(sl_question q, const sl_releases *releases)
{
    double fastest_s = 1.0;

    q.workload.framework = SL_FRAMEWORK_DDP;
    q.software = releases->list;
    q.software_count = releases->count;
    for (int i = 0; i < ROUNDS; i++) {
        const double start_s = sl_clock_now_s();
        sl_tuning_answer(&q, &scratch, &answer, &tuning);
        const double taken_s = sl_clock_now_s() - start_s;
        fastest_s = taken_s < fastest_s ? taken_s : fastest_s;
    }
    return fastest_s;
}

int
main(void)
{
    sl_errors err = {0};
    sl_catalog *catalog = sl_catalog_new(&err);
    sl_cluster cluster;

    if (catalog == NULL)
        return EXIT_FAILURE;

    const sl_question q = ask(catalog, &cluster);
    sl_comparison_ask asked = {.question = &q};
    for (uint32_t f = 0; f < SL_FRAMEWORK_COUNT; f++)
        asked.releases[f].list =
            sl_catalog_software(catalog, frameworks[f], &asked.releases[f].count);

    printf("16 strategies, fastest of %d    %8.2f ms\n", ROUNDS, 1e3 * strategies_s(&asked));
    printf("20 ways of fine-tuning         %8.2f ms\n",
           1e3 * tunings_s(q, &asked.releases[SL_FRAMEWORK_DDP]));
    sl_catalog_free(catalog);
    return EXIT_SUCCESS;
}
