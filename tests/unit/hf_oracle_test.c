#include "harness.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/hf_table.h"
#include "golden.h"
#include "reading.h"

typedef struct oracle_column {
    const char *name;
    sl_component component;
} oracle_column;

static const oracle_column oracle_columns[] = {
    {"embedding", SL_COMPONENT_EMBEDDING},
    {"lm_head", SL_COMPONENT_LM_HEAD},
    {"attention_total", SL_COMPONENT_ATTENTION},
    {"dense_mlp_total", SL_COMPONENT_MLP},
    {"routed_experts_total", SL_COMPONENT_ROUTED_EXPERTS},
    {"shared_experts_total", SL_COMPONENT_SHARED_EXPERTS},
    {"router_total", SL_COMPONENT_ROUTER},
    {"norms", SL_COMPONENT_NORMS},
    {"ssm_total", SL_COMPONENT_STATE_SPACE},
    {"other_total", SL_COMPONENT_OTHER},
};

/* Path of the config of "org/name" in the folder of real configs, or NULL. */
static const char *
real_config(const char *model)
{
    char relative[300];
    const char *slash = strchr(model, '/');
    if (slash == NULL)
        return NULL;
    (void)sl_text_format(relative, sizeof relative, "models/%.*s__%s/config.json",
                         (int)(slash - model), model, slash + 1);
    return sl_shared_path(relative);
}

/* The oracle files the head of InternLM2, called "output", under the MLP: its total is right. */
static bool
misfiles_head(const sl_csv *csv)
{
    return strcmp(sl_csv_get(csv, "model_type"), "internlm2") == 0;
}

static bool
equals_oracle(const sl_csv *csv, const char *name, const oracle_column *columns,
              size_t column_count, sl_reading *result)
{
    sl_model_counts counts = {0};
    bool equal = result->code == SL_OK && sl_model_count(result->model, &counts) == SL_OK;

    if (!equal)
        printf("%s: %s\n", name, result->err.list[0].message);
    CU_ASSERT_TRUE(equal);
    if (misfiles_head(csv)) {
        counts.component[SL_COMPONENT_MLP] += counts.component[SL_COMPONENT_LM_HEAD];
        counts.component[SL_COMPONENT_LM_HEAD] = 0;
    }
    equal = expect_count(name, "total", counts.total, golden_number(csv, "total_params")) && equal;
    for (size_t i = 0; i < column_count; i++)
        equal = expect_count(name, columns[i].name, counts.component[columns[i].component],
                             golden_number(csv, columns[i].name)) &&
                equal;
    uint64_t sum = 0;
    for (size_t i = 0; i < SL_COMPONENT_COUNT; i++)
        sum += counts.component[i];
    equal = expect_count(name, "sum of the components", sum, counts.total) && equal;
    return equal;
}

static bool
equals_active(const sl_csv *csv, const char *name, const sl_reading *result)
{
    sl_model_counts counts = {0};

    CU_ASSERT_EQUAL(sl_model_count(result->model, &counts), SL_OK);
    return expect_count(name, "active", counts.active_per_token,
                        golden_number(csv, "active_params_per_token"));
}

/* A table of the shared folder, opened; text and arena are the caller's. NULL: no such folder. */
static char *
open_table(const char *relative, sl_arena **arena, sl_csv *csv)
{
    const char *path = sl_shared_path(relative);
    size_t size = 0;
    sl_errors err = {0};

    if (path == NULL) {
        sl_skip("the folder of real configs is absent");
        return NULL;
    }
    char *text = sl_read_file(path, &size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    *arena = sl_arena_new(16 << 20);
    CU_ASSERT_PTR_NOT_NULL_FATAL(*arena);
    CU_ASSERT_EQUAL_FATAL(sl_csv_open(csv, text, size, *arena, &err), SL_OK);
    return text;
}

static void
real_configs_of_supported_types_count_exactly(void)
{
    sl_arena *arena = NULL;
    sl_csv csv;
    sl_errors err = {0};
    bool more = false;
    uint32_t exact = 0;
    uint32_t compared = 0;

    char *text = open_table("data/models/param_oracle.csv", &arena, &csv);
    if (text == NULL)
        return;
    while (sl_csv_next(&csv, &more, &err) == SL_OK && more) {
        const char *name = sl_csv_get(&csv, "model_id");
        const char *path = real_config(name);
        if (sl_hf_type_find(sl_csv_get(&csv, "model_type")) == NULL || path == NULL)
            continue;
        sl_reading result = read_path(path);
        const bool equal = equals_oracle(&csv, name, oracle_columns,
                                         sizeof oracle_columns / sizeof oracle_columns[0], &result);
        compared++;
        exact += equal && equals_active(&csv, name, &result);
        clear_reading(&result);
    }
    printf("exact: %u/%u\n", exact, compared);
    CU_ASSERT_EQUAL(err.count, 0);
    CU_ASSERT_TRUE(compared > 0);
    sl_arena_free(arena);
    free(text);
}

/* The second table joins attention and state space, and counts no active parameters. */
static const oracle_column synthetic_columns[] = {
    {"embedding", SL_COMPONENT_EMBEDDING},
    {"lm_head", SL_COMPONENT_LM_HEAD},
    {"attention_and_ssm_total", SL_COMPONENT_ATTENTION},
    {"dense_mlp_total", SL_COMPONENT_MLP},
    {"routed_experts_total", SL_COMPONENT_ROUTED_EXPERTS},
    {"shared_experts_total", SL_COMPONENT_SHARED_EXPERTS},
    {"router_total", SL_COMPONENT_ROUTER},
    {"norms", SL_COMPONENT_NORMS},
    {"other_total", SL_COMPONENT_OTHER},
};

static void
synthetic_configs_of_supported_types_count_exactly(void)
{
    sl_arena *arena = NULL;
    sl_csv csv;
    sl_errors err = {0};
    bool more = false;
    uint32_t exact = 0;
    uint32_t compared = 0;

    char *text = open_table("data/models/param_oracle_synthetic.csv", &arena, &csv);
    if (text == NULL)
        return;
    while (sl_csv_next(&csv, &more, &err) == SL_OK && more) {
        const char *type = sl_csv_get(&csv, "model_type");
        const char *keys = sl_csv_get(&csv, "config_json");
        char config[1000];
        if (sl_hf_type_find(type) == NULL)
            continue;
        CU_ASSERT_TRUE_FATAL(keys[0] == '{');
        CU_ASSERT_TRUE_FATAL(sl_text_format(config, sizeof config, "{\"model_type\":\"%s\"%s%s",
                                            type, keys[1] == '}' ? "" : ",", keys + 1));
        sl_reading result = read_text(config, strlen(config));
        compared++;
        exact += equals_oracle(&csv, sl_csv_get(&csv, "tag"), synthetic_columns,
                               sizeof synthetic_columns / sizeof synthetic_columns[0], &result);
        clear_reading(&result);
    }
    printf("exact: %u/%u\n", exact, compared);
    CU_ASSERT_EQUAL(err.count, 0);
    CU_ASSERT_TRUE(compared > 0);
    sl_arena_free(arena);
    free(text);
}

/* A type that is modelled, with a key that adds what is not. */
static bool
is_refused_option(const sl_reading *result)
{
    return result->code == SL_E_UNSUPPORTED &&
           strcmp(result->err.list[0].rule, "unsupported_option") == 0;
}

/* True when the config is of a type that is not modelled, and was refused by that name. */
static bool
is_refused_by_name(const char *path)
{
    sl_reading result = read_path(path);
    const sl_node root = sl_json_root(result.json);
    sl_errors err = {0};
    const char *type = NULL;
    bool refused = false;

    CU_ASSERT_EQUAL(sl_node_text(&root, "model_type", &type, NULL, &err), SL_OK);
    if (type == NULL) {
        CU_ASSERT_EQUAL(result.code, SL_E_RANGE);
        sl_expect_text(result.err.list[0].rule, "required_field", "rule");
    } else if (sl_hf_type_find(type) == NULL) {
        CU_ASSERT_EQUAL(result.code, SL_E_UNSUPPORTED);
        sl_expect_text(result.err.list[0].rule, "unsupported_architecture", "rule");
        CU_ASSERT_PTR_NOT_NULL(strstr(result.err.list[0].message, type));
        refused = true;
    } else {
        refused = is_refused_option(&result);
        CU_ASSERT_TRUE(refused || result.code == SL_OK);
    }
    clear_reading(&result);
    return refused;
}

static void
real_configs_of_other_types_are_refused_by_name(void)
{
    const char *folder = sl_shared_path("models");
    DIR *models = folder == NULL ? NULL : opendir(folder);
    if (models == NULL) {
        sl_skip("the folder of real configs is absent");
        return;
    }
    uint32_t refused = 0;
    const struct dirent *entry = readdir(models);
    while (entry != NULL) {
        char relative[300];
        (void)sl_text_format(relative, sizeof relative, "models/%s/config.json", entry->d_name);
        const char *path = strstr(entry->d_name, "__") == NULL ? NULL : sl_shared_path(relative);
        refused += path != NULL && is_refused_by_name(path);
        entry = readdir(models);
    }
    (void)closedir(models);
    printf("refused by name: %u\n", refused);
    CU_ASSERT_TRUE(refused > 0);
}

/* Bytes of keys and values at 2 bytes an element: per token over the layers that see everything,
 * and of one layer with a window. */
static const struct {
    const char *model;
    uint64_t full_bytes;
    uint64_t window_layers;
    uint64_t window;
    uint64_t window_bytes;
} caches[] = {
    {"meta-llama/Llama-2-7b-hf", 524288, 0, 0, 0},
    {"mosaicml/mpt-7b", 524288, 0, 0, 0},
    {"allenai/OLMo-2-1124-7B", 524288, 0, 0, 0},
    {"meta-llama/Meta-Llama-3.1-8B", 131072, 0, 0, 0},
    {"meta-llama/Meta-Llama-3.1-70B", 327680, 0, 0, 0},
    {"mistralai/Mixtral-8x7B-v0.1", 131072, 0, 0, 0},
    {"Qwen/Qwen2.5-7B", 57344, 0, 0, 0},
    {"Qwen/Qwen3-8B", 147456, 0, 0, 0},
    {"Qwen/Qwen3-30B-A3B", 98304, 0, 0, 0},
    {"Qwen/Qwen3-235B-A22B", 192512, 0, 0, 0},
    {"zai-org/GLM-4.7-FP8", 376832, 0, 0, 0},
    {"MiniMaxAI/MiniMax-M2.5", 253952, 0, 0, 0},
    {"CohereForAI/c4ai-command-r-v01", 1310720, 0, 0, 0},
    {"tiiuae/falcon-40b", 122880, 0, 0, 0},
    {"WizardLM/WizardCoder-15B-V1.0", 20480, 0, 0, 0},
    {"deepseek-ai/DeepSeek-V3", 70272, 0, 0, 0},
    {"moonshotai/Kimi-K2-Instruct", 70272, 0, 0, 0},
    {"deepseek-ai/DeepSeek-V2-Lite", 31104, 0, 0, 0},
    {"google/gemma-2-27b", 188416, 23, 4096, 8192},
    {"openai/gpt-oss-120b", 36864, 18, 128, 2048},
};

static void
kv_cache_bytes_follow_the_published_shapes(void)
{
    for (size_t i = 0; i < sizeof caches / sizeof caches[0]; i++) {
        const char *path = real_config(caches[i].model);
        if (path == NULL) {
            sl_skip("the folder of real configs is absent");
            return;
        }
        sl_reading result = read_path(path);
        CU_ASSERT_EQUAL_FATAL(result.code, SL_OK);
        uint64_t full = 0;
        uint64_t layers = 0;
        for (uint32_t kind = 0; kind < result.model->kind_count; kind++) {
            const sl_layer_kind *at = &result.model->kinds[kind];
            const uint64_t bytes = sl_kind_kv_bytes(at, 2);
            const uint32_t count = sl_model_layers_of(result.model, kind);
            if (sl_kind_window(at) == 0) {
                full += bytes * count;
                continue;
            }
            layers += count;
            (void)expect_count(caches[i].model, "window", sl_kind_window(at), caches[i].window);
            (void)expect_count(caches[i].model, "window bytes", bytes, caches[i].window_bytes);
        }
        (void)expect_count(caches[i].model, "full bytes", full, caches[i].full_bytes);
        (void)expect_count(caches[i].model, "window layers", layers, caches[i].window_layers);
        clear_reading(&result);
    }
}

typedef struct effective_key {
    const char *name;
    uint64_t (*value)(const sl_model *model);
} effective_key;

static uint64_t
hidden_of(const sl_model *model)
{
    return model->hidden;
}

static uint64_t
ffn_of(const sl_model *model)
{
    return model->ffn;
}

static uint64_t
blocks_of(const sl_model *model)
{
    return model->block_count;
}

static uint64_t
heads_of(const sl_model *model)
{
    return model->heads;
}

static uint64_t
kv_heads_of(const sl_model *model)
{
    return model->kv_heads;
}

static uint64_t
head_dim_of(const sl_model *model)
{
    return model->head_dim;
}

static uint64_t
window_of(const sl_model *model)
{
    return sl_kind_window(&model->kinds[model->kind_count - 2]);
}

static const effective_key effective_keys[] = {
    {"hidden_size", hidden_of},           {"intermediate_size", ffn_of},
    {"num_hidden_layers", blocks_of},     {"num_attention_heads", heads_of},
    {"num_key_value_heads", kv_heads_of}, {"head_dim", head_dim_of},
    {"sliding_window", window_of},
};

static bool
is_latent(const sl_model *model)
{
    const sl_layer_kind *block = &model->kinds[model->layers[1]];

    for (uint32_t i = 0; i < block->operator_count; i++) {
        if (block->operators[i].kv_latent != 0)
            return true;
    }
    return false;
}

/* What the class ends with for one key, compared with what the decoder ended with. False when the
 * key is not one the description holds as a number. */
static bool
compare_effective(const sl_csv *csv, const sl_model *model)
{
    const char *key = sl_csv_get(csv, "key");
    const char *name = sl_csv_get(csv, "model_id");

    if (strcmp(key, "tie_word_embeddings") == 0) {
        const bool tied = strcmp(sl_csv_get(csv, "effective_value"), "True") == 0;
        (void)expect_count(name, key, model->tied, tied);
        return true;
    }
    /* What these classes call head_dim is the rotary part of a head. */
    if (strcmp(key, "head_dim") == 0 && is_latent(model))
        return false;
    for (size_t i = 0; i < sizeof effective_keys / sizeof effective_keys[0]; i++) {
        if (strcmp(effective_keys[i].name, key) == 0) {
            (void)expect_count(name, key, effective_keys[i].value(model),
                               golden_number(csv, "effective_value"));
            return true;
        }
    }
    return false;
}

static void
keys_end_with_the_value_their_class_gives_them(void)
{
    sl_arena *arena = NULL;
    sl_csv csv;
    sl_errors err = {0};
    bool more = false;
    uint32_t compared = 0;

    char *text = open_table("data/models/effective_keys.csv", &arena, &csv);
    if (text == NULL)
        return;
    while (sl_csv_next(&csv, &more, &err) == SL_OK && more) {
        const char *path = real_config(sl_csv_get(&csv, "model_id"));
        if (sl_hf_type_find(sl_csv_get(&csv, "model_type")) == NULL || path == NULL)
            continue;
        sl_reading result = read_path(path);
        CU_ASSERT_EQUAL_FATAL(result.code, SL_OK);
        compared += compare_effective(&csv, result.model);
        clear_reading(&result);
    }
    printf("effective keys compared: %u\n", compared);
    CU_ASSERT_EQUAL(err.count, 0);
    CU_ASSERT_TRUE(compared > 0);
    sl_arena_free(arena);
    free(text);
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        {"real_configs_of_supported_types_count_exactly",
         real_configs_of_supported_types_count_exactly},
        {"synthetic_configs_of_supported_types_count_exactly",
         synthetic_configs_of_supported_types_count_exactly},
        {"real_configs_of_other_types_are_refused_by_name",
         real_configs_of_other_types_are_refused_by_name},
        {"kv_cache_bytes_follow_the_published_shapes", kv_cache_bytes_follow_the_published_shapes},
        {"keys_end_with_the_value_their_class_gives_them",
         keys_end_with_the_value_their_class_gives_them},
    };
    return sl_run_cases(argc, argv, "hf_oracle", cases, sizeof cases / sizeof cases[0]);
}
