#include "harness.h"

#include <string.h>

#include "golden.h"
#include "hf/recipe.h"
#include "hf/wrapper.h"
#include "reading.h"

static const struct {
    const char *column;
    sl_component component;
} columns[] = {
    {"embedding", SL_COMPONENT_EMBEDDING},
    {"lm_head", SL_COMPONENT_LM_HEAD},
    {"attention", SL_COMPONENT_ATTENTION},
    {"mlp", SL_COMPONENT_MLP},
    {"routed_experts", SL_COMPONENT_ROUTED_EXPERTS},
    {"shared_experts", SL_COMPONENT_SHARED_EXPERTS},
    {"router", SL_COMPONENT_ROUTER},
    {"norms", SL_COMPONENT_NORMS},
    {"state_space", SL_COMPONENT_STATE_SPACE},
    {"other", SL_COMPONENT_OTHER},
};

/* An empty cell is none. */
static uint64_t
cell(const sl_csv *csv, const char *column)
{
    return sl_csv_get(csv, column)[0] == '\0' ? 0 : golden_number(csv, column);
}

/* What all layers of the list keep of a sequence. */
static sl_cache
cache_of(const sl_model *model)
{
    sl_cache sum = {0};

    for (uint32_t kind = 0; kind < model->kind_count; kind++) {
        const sl_cache *cache = &model->kinds[kind].cache;
        const uint64_t layers = sl_model_layers_of(model, kind);
        sum.per_token += cache->window == 0 ? cache->per_token * layers : 0;
        sum.per_source_token += cache->per_source_token * layers;
        sum.state_bytes += cache->state_bytes * layers;
    }
    return sum;
}

static void
compare_with_golden(const sl_csv *csv)
{
    const char *name = sl_csv_get(csv, "fixture");
    sl_reading result = read_fixture(name);
    sl_model_counts counts = {0};

    if (result.code != SL_OK) {
        printf("%s: %s: %s\n", name, result.err.list[0].pointer, result.err.list[0].message);
        CU_FAIL("the fixture is refused");
        clear_reading(&result);
        return;
    }
    CU_ASSERT_EQUAL(sl_model_count(result.model, &counts), SL_OK);
    (void)expect_count(name, "total", counts.total, cell(csv, "total"));
    (void)expect_count(name, "active", counts.active_per_token, cell(csv, "active"));
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        (void)expect_count(name, columns[i].column, counts.component[columns[i].component],
                           cell(csv, columns[i].column));
    (void)expect_count(name, "towers", counts.towers, cell(csv, "towers"));
    (void)expect_count(name, "buffers", counts.persistent_buffers, cell(csv, "persistent_buffers"));
    const sl_cache cache = cache_of(result.model);
    (void)expect_count(name, "kv bytes", 2 * cache.per_token, cell(csv, "kv_bytes_per_token"));
    (void)expect_count(name, "state bytes", cache.state_bytes, cell(csv, "state_bytes"));
    (void)expect_count(name, "source bytes", 2 * cache.per_source_token,
                       cell(csv, "source_bytes_per_token"));
    clear_reading(&result);
}

static void
fixtures_count_as_their_arithmetic_says(void)
{
    const uint32_t rows = read_golden("golden/recipe_counts.csv", compare_with_golden);

    printf("hand counts compared: %u\n", rows);
    CU_ASSERT_TRUE(rows > 0);
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(fixtures_count_as_their_arithmetic_says),
    };
    return sl_run_cases(argc, argv, "hf_recipe", cases, sizeof cases / sizeof cases[0]);
}
