/*
 * What a search takes on one core, in this run: spaces of the models, with bounds and
 * without. build/release/tests/bench/search_bench [name of one space [exhaustive | bounded |
 * best]]. Plans per second are those evaluated, then those with the pruned; only what stands beside
 * each other in one run compares.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "catalog/catalog.h"
#include "nodes.h"
#include "questions.h"
#include "shardline/search.h"

static const sl_dense_spec gpt3_175b = {
    .naming = SL_NAMING_GPT2,
    .blocks = 96,
    .hidden = 12288,
    .ffn = 49152,
    .vocabulary = 51200,
    .learned_positions = 2048,
    .heads = 96,
    .kv_heads = 96,
    .head_dim = 128,
    .layer_norm = true,
    .no_rotary = true,
    .qkv_bias = true,
    .output_bias = true,
    .mlp_bias = true,
    .tied = true,
    .has_head = true,
};

/* DeepSeek-V3 (arXiv 2412.19437, table of its config): latents, 256 experts behind three dense
 * blocks. */
static const sl_dense_spec deepseek_v3 = {
    .naming = SL_NAMING_DEEPSEEK,
    .blocks = 61,
    .hidden = 7168,
    .ffn = 18432,
    .vocabulary = 129280,
    .heads = 128,
    .kv_heads = 128,
    .head_dim = 192,
    .latent =
        {.query_rank = 1536, .kv_rank = 512, .plain_dim = 128, .rotary_dim = 64, .value_dim = 128},
    .experts =
        {.count = 256, .per_token = 8, .width = 2048, .shared_width = 2048, .correction = true},
    .gated_mlp = true,
    .has_head = true,
    .block = {SL_BLOCK_DENSE_MLP, SL_BLOCK_DENSE_MLP, SL_BLOCK_DENSE_MLP},
};

typedef struct setting {
    const char *name;
    const sl_dense_spec *spec;
    const char *part, *software;
    uint32_t nodes;
    uint64_t sequence, batch;
    bool every_size;
} setting;

static const setting settings[] = {
    {"175b-4096", &gpt3_175b, "nvidia-a100-sxm4-80gb", "mbridge-26.04", 512, 2048, 4096, false},
    {"175b-1024-any", &gpt3_175b, "nvidia-a100-sxm4-80gb", "mbridge-26.04", 128, 2048, 1536, true},
    {"deepseek-2048", &deepseek_v3, "nvidia-h100-sxm5-80gb", "mbridge-26.04", 256, 8192, 8192,
     false},
};

static sl_model model;

static sl_question
ask(const sl_catalog *catalog, const setting *of, sl_cluster *cluster)
{
    sl_errors err = {0};

    if (sl_model_describe_dense(of->spec, &model, &err) != SL_OK) {
        fprintf(stderr, "%s\n", err.list[0].message);
        exit(EXIT_FAILURE);
    }
    *cluster = nodes_of(catalog, of->part, of->nodes, 25e9);
    return question_of(catalog, of->software, &model, cluster, of->sequence, of->batch);
}

static void
print_plan(const sl_search_point *point)
{
    for (uint32_t d = 0; d < SL_DIMENSION_COUNT; d++)
        if (point->value[d] > 1)
            printf(" %s %llu", sl_dimension_name((sl_dimension)d),
                   (unsigned long long)point->value[d]);
    printf(": %.3f s, %.0f tokens/s, %.1f GiB left\n", point->step_s, point->tokens_per_s,
           (double)point->headroom_bytes / (1u << 30));
}

static void
run(const sl_search_request *request, const char *name)
{
    static sl_search_outcome known, parts[SL_SEARCH_ROUND_UNITS];
    void *space = malloc(sl_search_bytes());
    void *scratch = malloc(sl_search_scratch_bytes());
    const sl_search *search = NULL;
    sl_errors err = {0};
    double first_s = 0.0;

    if (space == NULL || scratch == NULL)
        exit(EXIT_FAILURE);
    const double start_s = sl_clock_now_s();
    const clock_t start = clock();
    if (sl_search_prepare(request, space, &search, &err) != SL_OK) {
        fprintf(stderr, "%s: %s %s\n", name, err.list[0].pointer, err.list[0].message);
        exit(EXIT_FAILURE);
    }
    const uint32_t units = sl_search_unit_count(search);
    sl_search_begin(&known);
    for (uint32_t unit = 0; unit < units; unit += SL_SEARCH_ROUND_UNITS) {
        const uint32_t left = units - unit;
        const uint32_t count = left < SL_SEARCH_ROUND_UNITS ? left : SL_SEARCH_ROUND_UNITS;
        for (uint32_t i = 0; i < count; i++)
            sl_search_unit(search, unit + i, &known, scratch, &parts[i]);
        for (uint32_t i = 0; i < count; i++)
            sl_search_merge(search, &parts[i], &known);
        if (first_s <= 0.0 && known.best_count > 0)
            first_s = sl_clock_now_s() - start_s;
    }
    const double all_s = sl_clock_now_s() - start_s;
    const double busy_s = (double)(clock() - start) / CLOCKS_PER_SEC;
    printf("%-16s %s%s: %u units, %llu evaluated, %llu pruned, %llu refused, %llu answers, front "
           "%u\n  %.3f s, first %.3f s; %.3f s of a core: %.0f evaluated/s, %.0f with pruned; %.1f "
           "MiB\n",
           name, request->exhaustive ? "exhaustive" : "bounded", request->front ? "" : ", no front",
           units, (unsigned long long)known.evaluated, (unsigned long long)known.pruned,
           (unsigned long long)known.refused, (unsigned long long)known.feasible, known.front_count,
           all_s, first_s, busy_s, (double)known.evaluated / busy_s,
           (double)(known.evaluated + known.pruned) / busy_s,
           (double)(sl_search_bytes() + sl_search_scratch_bytes() + sizeof parts + sizeof known) /
               (1u << 20));
    for (uint32_t i = 0; i < 3 && i < known.best_count; i++)
        print_plan(&known.best[i]);
    for (uint32_t i = 0; request->exhaustive && i < known.reason_count; i++)
        printf("   %s %s: %llu\n", known.reasons[i].rule, known.reasons[i].pointer,
               (unsigned long long)known.reasons[i].count);
    free(scratch);
    free(space);
}

/* Whether the argument is not given, or that word. */
static bool
is_wanted(int argc, char **argv, int argument, const char *word)
{
    return argc <= argument || strcmp(argv[argument], word) == 0;
}

int
main(int argc, char **argv)
{
    sl_errors err = {0};
    sl_catalog *catalog = sl_catalog_new(&err);

    if (catalog == NULL)
        return EXIT_FAILURE;
    for (uint32_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        sl_cluster cluster;
        if (!is_wanted(argc, argv, 1, settings[i].name))
            continue;
        const sl_question question = ask(catalog, &settings[i], &cluster);
        sl_search_request request = {
            .question_count = 1,
            .questions = &question,
            .space = {.every_size = settings[i].every_size},
            .objective = SL_OBJECTIVE_THROUGHPUT,
            .limit = 20,
            .front = true,
            .exhaustive = true,
        };
        if (is_wanted(argc, argv, 2, "exhaustive"))
            run(&request, settings[i].name);
        request.exhaustive = false;
        if (is_wanted(argc, argv, 2, "bounded"))
            run(&request, settings[i].name);
        request.front = false;
        if (is_wanted(argc, argv, 2, "best"))
            run(&request, settings[i].name);
    }
    sl_catalog_free(catalog);
    return EXIT_SUCCESS;
}
