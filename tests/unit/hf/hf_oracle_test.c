#include "harness.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden.h"
#include "hf/table.h"
#include "reading.h"

/* Up to two columns of a table, and the components that together they count. */
typedef struct oracle_column {
    const char *name;
    const char *more; /* or NULL */
    sl_component component;
    sl_component added; /* SL_COMPONENT_COUNT: none */
} oracle_column;

/* Towers beside a language part have a column of their own. */
static const oracle_column oracle_columns[] = {
    {"embedding", NULL, SL_COMPONENT_EMBEDDING, SL_COMPONENT_COUNT},
    {"lm_head", NULL, SL_COMPONENT_LM_HEAD, SL_COMPONENT_COUNT},
    {"attention_total", NULL, SL_COMPONENT_ATTENTION, SL_COMPONENT_COUNT},
    {"dense_mlp_total", NULL, SL_COMPONENT_MLP, SL_COMPONENT_COUNT},
    {"routed_experts_total", NULL, SL_COMPONENT_ROUTED_EXPERTS, SL_COMPONENT_COUNT},
    {"shared_experts_total", NULL, SL_COMPONENT_SHARED_EXPERTS, SL_COMPONENT_COUNT},
    {"router_total", NULL, SL_COMPONENT_ROUTER, SL_COMPONENT_COUNT},
    {"norms", NULL, SL_COMPONENT_NORMS, SL_COMPONENT_COUNT},
    {"ssm_total", NULL, SL_COMPONENT_STATE_SPACE, SL_COMPONENT_COUNT},
    {"other_total", "other_modal_total", SL_COMPONENT_OTHER, SL_COMPONENT_COUNT},
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

    CU_ASSERT_TRUE(equal);
    if (!equal) {
        printf("%s: %s\n", name, result->err.list[0].message);
        return false;
    }
    if (misfiles_head(csv)) {
        counts.component[SL_COMPONENT_MLP] += counts.component[SL_COMPONENT_LM_HEAD];
        counts.component[SL_COMPONENT_LM_HEAD] = 0;
    }
    equal = expect_count(name, "total", counts.total, golden_number(csv, "total_params")) && equal;
    equal = expect_count(name, "buffers", counts.persistent_buffers,
                         golden_number(csv, "persistent_buffers")) &&
            equal;
    for (size_t i = 0; i < column_count; i++) {
        const oracle_column *at = &columns[i];
        const uint64_t expected =
            golden_number(csv, at->name) + (at->more == NULL ? 0 : golden_number(csv, at->more));
        uint64_t actual = counts.component[at->component];
        actual += at->added == SL_COMPONENT_COUNT ? 0 : counts.component[at->added];
        equal = expect_count(name, at->name, actual, expected) && equal;
    }
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

/* A table, opened; text and arena are the caller's. NULL: no such folder. */
static char *
open_table(const char *path, sl_arena **arena, sl_csv *csv)
{
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
real_configs_count_exactly(void)
{
    sl_arena *arena = NULL;
    sl_csv csv;
    sl_errors err = {0};
    bool more = false;
    uint32_t exact = 0;
    uint32_t compared = 0;

    char *text = open_table(sl_shared_path("data/models/param_oracle.csv"), &arena, &csv);
    if (text == NULL)
        return;
    while (sl_csv_next(&csv, &more, &err) == SL_OK && more) {
        const char *name = sl_csv_get(&csv, "model_id");
        const char *path = real_config(name);
        if (path == NULL)
            continue;
        sl_reading result = read_named(path, name);
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
    {"embedding", NULL, SL_COMPONENT_EMBEDDING, SL_COMPONENT_COUNT},
    {"lm_head", NULL, SL_COMPONENT_LM_HEAD, SL_COMPONENT_COUNT},
    {"attention_and_ssm_total", NULL, SL_COMPONENT_ATTENTION, SL_COMPONENT_STATE_SPACE},
    {"dense_mlp_total", NULL, SL_COMPONENT_MLP, SL_COMPONENT_COUNT},
    {"routed_experts_total", NULL, SL_COMPONENT_ROUTED_EXPERTS, SL_COMPONENT_COUNT},
    {"shared_experts_total", NULL, SL_COMPONENT_SHARED_EXPERTS, SL_COMPONENT_COUNT},
    {"router_total", NULL, SL_COMPONENT_ROUTER, SL_COMPONENT_COUNT},
    {"norms", NULL, SL_COMPONENT_NORMS, SL_COMPONENT_COUNT},
    {"other_total", NULL, SL_COMPONENT_OTHER, SL_COMPONENT_COUNT},
};

static void
expect_table(const char *path)
{
    sl_arena *arena = NULL;
    sl_csv csv;
    sl_errors err = {0};
    bool more = false;
    uint32_t exact = 0;
    uint32_t compared = 0;

    char *text = open_table(path, &arena, &csv);
    if (text == NULL)
        return;
    while (sl_csv_next(&csv, &more, &err) == SL_OK && more) {
        const char *type = sl_csv_get(&csv, "model_type");
        const char *keys = sl_csv_get(&csv, "config_json");
        char config[1000];
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

static void
golden_classes_count_exactly(void)
{
    expect_table(sl_tests_path("golden/class_counts.csv"));
}

static void
synthetic_configs_count_exactly(void)
{
    expect_table(sl_shared_path("data/models/param_oracle_synthetic.csv"));
}

/* Real files that nobody has counted: of custom code at hand nowhere, or of several models. */
static const char *const uncounted[] = {"moonshotai__Kimi-K3", "Qwen__Qwen2.5-Omni-AWQ",
                                        "openbmb__MiniCPM-MoE-8x2B"};

static bool
is_refused_by_name(const char *path)
{
    sl_reading result = read_path(path);
    const bool refused = result.code == SL_E_UNSUPPORTED && result.err.count > 0 &&
                         (strcmp(result.err.list[0].rule, "unsupported_architecture") == 0 ||
                          strcmp(result.err.list[0].rule, "unsupported_option") == 0);

    CU_ASSERT_TRUE(refused || result.code == SL_OK);
    clear_reading(&result);
    return refused;
}

static void
only_what_nobody_counted_is_refused_and_by_name(void)
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
        if (path != NULL && is_refused_by_name(path)) {
            refused++;
            if (sl_text_index(entry->d_name, uncounted, sizeof uncounted / sizeof uncounted[0]) < 0)
                CU_FAIL(entry->d_name);
        }
        entry = readdir(models);
    }
    (void)closedir(models);
    printf("refused by name: %u\n", refused);
    CU_ASSERT_EQUAL(refused, sizeof uncounted / sizeof uncounted[0]);
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
    {"google/gemma-3-27b-it", 81920, 52, 1024, 8192},
    {"openai/gpt-oss-120b", 36864, 18, 128, 2048},
    {"meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8", 49152, 36, 8192, 4096},
    {"Qwen/Qwen3-Next-80B-A3B-Instruct", 24576, 0, 0, 0},
    {"Qwen/Qwen3.5-27B", 65536, 0, 0, 0},
    {"nvidia/Nemotron-H-56B-Base-8K", 40960, 0, 0, 0},
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
            const uint64_t bytes = 2 * at->cache.per_token;
            const uint32_t count = sl_model_layers_of(result.model, kind);
            if (at->cache.window == 0) {
                full += bytes * count;
                continue;
            }
            layers += count;
            (void)expect_count(caches[i].model, "window", at->cache.window, caches[i].window);
            (void)expect_count(caches[i].model, "window bytes", bytes, caches[i].window_bytes);
        }
        (void)expect_count(caches[i].model, "full bytes", full, caches[i].full_bytes);
        (void)expect_count(caches[i].model, "window layers", layers, caches[i].window_layers);
        clear_reading(&result);
    }
}

/* What latent attention would keep were its latents expanded, and a model without a latent. */
static void
expanded_latents_take_what_plain_keys_and_values_would(void)
{
    static const struct {
        const char *model;
        uint64_t latent_bytes;
        uint64_t naive_bytes;
    } rows[] = {
        {"deepseek-ai/DeepSeek-V3", 70272, 4997120},
        {"meta-llama/Meta-Llama-3.1-8B", 131072, 131072},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *path = real_config(rows[i].model);
        if (path == NULL) {
            sl_skip("the folder of real configs is absent");
            return;
        }
        sl_reading result = read_path(path);
        uint64_t latent = 0;
        uint64_t naive = 0;
        CU_ASSERT_EQUAL_FATAL(result.code, SL_OK);
        for (uint32_t kind = 0; kind < result.model->kind_count; kind++) {
            const uint64_t count = sl_model_layers_of(result.model, kind);
            latent += 2 * result.model->kinds[kind].cache.per_token * count;
            naive += 2 * result.model->kinds[kind].cache.naive_per_token * count;
        }
        (void)expect_count(rows[i].model, "latent bytes", latent, rows[i].latent_bytes);
        (void)expect_count(rows[i].model, "naive bytes", naive, rows[i].naive_bytes);
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

/* What encoder and decoder have each. */
static uint64_t
blocks_of(const sl_model *model)
{
    const bool two = strcmp(model->model_type, "t5") == 0 || strcmp(model->model_type, "bart") == 0;

    return two ? model->block_count / 2 : model->block_count;
}

static uint64_t
experts_of(const sl_model *model)
{
    return model->experts;
}

static uint64_t
per_token_of(const sl_model *model)
{
    return model->experts_per_token;
}

/* Whether some block has a bias of that component. */
static bool
has_bias(const sl_model *model, sl_component component)
{
    for (uint32_t k = 0; k < model->kind_count; k++) {
        const sl_layer_kind *kind = &model->kinds[k];
        for (uint32_t i = 0; model->beside[k] == 0 && i < kind->tensor_count; i++) {
            const char *name = kind->tensors[i].name;
            const size_t length = strlen(name);
            if (kind->tensors[i].component == component && strstr(name, "norm") == NULL &&
                length > strlen(".bias") && strcmp(&name[length - strlen(".bias")], ".bias") == 0)
                return true;
        }
    }
    return false;
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
    uint64_t window = 0;
    for (uint32_t kind = 0; kind < model->kind_count; kind++) {
        const uint64_t own = model->kinds[kind].cache.window;
        window = own > window ? own : window;
    }
    return window;
}

static const effective_key effective_keys[] = {
    {"hidden_size", hidden_of},
    {"intermediate_size", ffn_of},
    {"num_hidden_layers", blocks_of},
    {"num_attention_heads", heads_of},
    {"num_key_value_heads", kv_heads_of},
    {"head_dim", head_dim_of},
    {"sliding_window", window_of},
    {"num_local_experts", experts_of},
    {"num_experts", experts_of},
    {"n_routed_experts", experts_of},
    {"num_experts_per_tok", per_token_of},
};

static bool
is_latent(const sl_model *model)
{
    const sl_cache *cache = &model->kinds[model->layers[1]].cache;

    return cache->naive_per_token != cache->per_token;
}

static bool
has_towers(const sl_model *model)
{
    uint32_t copies = 0;

    for (uint32_t kind = 0; kind < model->kind_count; kind++)
        copies += model->beside[kind];
    return copies != 0;
}

/* Llama 4 calls the width of an expert so; Nemotron-H names experts that no block has; the window
 * of DeepSeek-V4 is part of a state of fixed size. */
static bool
means_another_thing(const char *key, const sl_model *model)
{
    if (strcmp(key, "intermediate_size") == 0)
        return strcmp(model->model_type, "llama4") == 0;
    if (strcmp(key, "sliding_window") == 0)
        return strcmp(model->model_type, "deepseek_v4") == 0;
    return strstr(key, "experts") != NULL && model->experts == 0 &&
           strcmp(model->model_type, "nemotron_h") == 0;
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
        if (!model->has_head || has_towers(model)) /* whose own flag the table does not hold */
            return false;
        (void)expect_count(name, key, model->tied, tied);
        return true;
    }
    if (strcmp(key, "attention_bias") == 0 || strcmp(key, "mlp_bias") == 0) {
        const bool biased = strcmp(sl_csv_get(csv, "effective_value"), "True") == 0;
        (void)expect_count(
            name, key, has_bias(model, key[0] == 'm' ? SL_COMPONENT_MLP : SL_COMPONENT_ATTENTION),
            biased);
        return true;
    }
    /* What these classes call head_dim is the rotary part of a head. */
    if ((strcmp(key, "head_dim") == 0 && is_latent(model)) || means_another_thing(key, model))
        return false;
    /* A window as long as the longest context is none. */
    if (strcmp(key, "sliding_window") == 0 &&
        golden_number(csv, "effective_value") >= model->position_limit)
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

    char *text = open_table(sl_shared_path("data/models/effective_keys.csv"), &arena, &csv);
    if (text == NULL)
        return;
    while (sl_csv_next(&csv, &more, &err) == SL_OK && more) {
        const char *path = real_config(sl_csv_get(&csv, "model_id"));
        if (path == NULL)
            continue;
        sl_reading result = read_named(path, sl_csv_get(&csv, "model_id"));
        CU_ASSERT_EQUAL(result.code, SL_OK);
        if (result.code == SL_OK)
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
        SL_CASE(real_configs_count_exactly),
        SL_CASE(golden_classes_count_exactly),
        SL_CASE(synthetic_configs_count_exactly),
        SL_CASE(only_what_nobody_counted_is_refused_and_by_name),
        SL_CASE(kv_cache_bytes_follow_the_published_shapes),
        SL_CASE(expanded_latents_take_what_plain_keys_and_values_would),
        SL_CASE(keys_end_with_the_value_their_class_gives_them),
    };
    return sl_run_cases(argc, argv, "hf_oracle", cases, sizeof cases / sizeof cases[0]);
}
