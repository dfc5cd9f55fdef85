#include "harness.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/csv.h"
#include "codec/hf_table.h"
#include "reading.h"

static uint64_t
number(const sl_csv *csv, const char *column)
{
    uint64_t value = 0;
    if (!sl_text_to_uint(sl_csv_get(csv, column), &value))
        CU_FAIL("the golden value is no number");
    return value;
}

static bool
expect_count(const char *name, const char *column, uint64_t actual, uint64_t expected)
{
    if (actual == expected)
        return true;
    printf("%s: %s is %llu, expected %llu\n", name, column, (unsigned long long)actual,
           (unsigned long long)expected);
    CU_FAIL("count differs");
    return false;
}

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

static bool
equals_oracle(const sl_csv *csv, const char *path)
{
    const char *name = sl_csv_get(csv, "model_id");
    sl_reading result = read_path(path);
    sl_model_counts counts = {0};
    bool equal = result.code == SL_OK && sl_model_count(result.model, &counts) == SL_OK;

    if (!equal)
        printf("%s: %s\n", name, result.err.list[0].message);
    CU_ASSERT_TRUE(equal);
    equal = expect_count(name, "total", counts.total, number(csv, "total_params")) && equal;
    equal = expect_count(name, "active", counts.active_per_token,
                         number(csv, "active_params_per_token")) &&
            equal;
    for (size_t i = 0; i < sizeof oracle_columns / sizeof oracle_columns[0]; i++)
        equal = expect_count(name, oracle_columns[i].name,
                             counts.component[oracle_columns[i].component],
                             number(csv, oracle_columns[i].name)) &&
                equal;
    clear_reading(&result);
    return equal;
}

static void
real_configs_of_supported_types_count_exactly(void)
{
    const char *oracle = sl_shared_path("data/models/param_oracle.csv");
    if (oracle == NULL) {
        sl_skip("the folder of real configs is absent");
        return;
    }
    size_t size = 0;
    char *text = sl_read_file(oracle, &size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    sl_arena *arena = sl_arena_new(16 << 20);
    CU_ASSERT_PTR_NOT_NULL_FATAL(arena);
    sl_errors err = {0};
    sl_csv csv;
    bool more = false;
    uint32_t exact = 0;
    uint32_t compared = 0;

    CU_ASSERT_EQUAL_FATAL(sl_csv_open(&csv, text, size, arena, &err), SL_OK);
    while (sl_csv_next(&csv, &more, &err) == SL_OK && more) {
        const char *path = real_config(sl_csv_get(&csv, "model_id"));
        if (sl_hf_type_find(sl_csv_get(&csv, "model_type")) == NULL || path == NULL)
            continue;
        compared++;
        exact += equals_oracle(&csv, path);
    }
    printf("exact: %u/%u\n", exact, compared);
    CU_ASSERT_EQUAL(err.count, 0);
    CU_ASSERT_TRUE(compared > 0);
    sl_arena_free(arena);
    free(text);
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
        CU_ASSERT_EQUAL(result.code, SL_OK);
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
    for (size_t i = 0; i < sizeof effective_keys / sizeof effective_keys[0]; i++) {
        if (strcmp(effective_keys[i].name, key) == 0) {
            (void)expect_count(name, key, effective_keys[i].value(model),
                               number(csv, "effective_value"));
            return true;
        }
    }
    return false;
}

static void
keys_end_with_the_value_their_class_gives_them(void)
{
    const char *table = sl_shared_path("data/models/effective_keys.csv");
    if (table == NULL) {
        sl_skip("the folder of real configs is absent");
        return;
    }
    size_t size = 0;
    char *text = sl_read_file(table, &size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    sl_arena *arena = sl_arena_new(16 << 20);
    CU_ASSERT_PTR_NOT_NULL_FATAL(arena);
    sl_errors err = {0};
    sl_csv csv;
    bool more = false;
    uint32_t compared = 0;

    CU_ASSERT_EQUAL_FATAL(sl_csv_open(&csv, text, size, arena, &err), SL_OK);
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
        {"real_configs_of_other_types_are_refused_by_name",
         real_configs_of_other_types_are_refused_by_name},
        {"keys_end_with_the_value_their_class_gives_them",
         keys_end_with_the_value_their_class_gives_them},
    };
    return sl_run_cases(argc, argv, "hf_oracle", cases, sizeof cases / sizeof cases[0]);
}
