/* Published runs against the planner, printed row by row. Nothing in the engine was tuned to
 * them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "catalog/catalog.h"
#include "codec/question/cluster.h"
#include "codec/question/operating.h"
#include "engine_fixture.h"
#include "harness.h"
#include "shardline/units.h"

typedef struct table {
    char *text;
    sl_arena *arena;
    sl_csv csv;
    sl_errors err;
} table;

static bool
table_open(table *t, const char *path)
{
    size_t size = 0;

    memset(t, 0, sizeof *t);
    t->text = sl_read_file(sl_tests_path(path), &size);
    t->arena = sl_arena_new(1 << 20);
    const bool open = t->text != NULL && t->arena != NULL &&
                      sl_csv_open(&t->csv, t->text, size, t->arena, &t->err) == SL_OK;
    CU_ASSERT_TRUE(open);
    return open;
}

static bool
table_next(table *t)
{
    bool more = false;

    CU_ASSERT_EQUAL(sl_csv_next(&t->csv, &more, &t->err), SL_OK);
    return more;
}

static void
table_close(table *t)
{
    sl_arena_free(t->arena);
    free(t->text);
}

static double
number(const table *t, const char *column)
{
    return strtod(sl_csv_get(&t->csv, column), NULL);
}

static uint32_t
count(const table *t, const char *column)
{
    return (uint32_t)number(t, column);
}

/* Whole nodes of 8 with their reference node's cards. */
static bool
cluster_of(const sl_catalog *catalog, const char *name, uint32_t accelerators, sl_cluster *out)
{
    static const sl_pool says_nothing;
    const sl_part *part = NULL;
    sl_errors err = {0};

    if (sl_catalog_find_part(catalog, name, "", &part, &err) != SL_OK)
        return false;

    const sl_node_type *node = sl_catalog_reference_node(catalog, &part->accelerator);
    const uint32_t per_node = accelerators < 8 ? accelerators : 8;
    *out = (sl_cluster){
        .accelerator = part->accelerator,
        .nodes = accelerators / per_node,
        .accelerators_per_node = per_node,
        .nics_per_node = node == NULL ? 0 : node->nic_count,
        .nic_bytes_per_s = node == NULL ? 0.0 : node->nic_bytes_per_s,
        .fabric = *sl_catalog_fabric(catalog, "infiniband"),
        .oversubscription_ratio = 1.0,
        .operation = sl_operating_of(&says_nothing, NULL),
    };
    return true;
}

static double
step_error(const table *t, const sl_catalog *catalog)
{
    const sl_dense_spec spec =
        sl_fixture_gpt(count(t, "layers"), (uint64_t)number(t, "hidden"), count(t, "heads"));
    const bool full = strcmp(sl_csv_get(&t->csv, "recompute"), "full") == 0;
    const uint32_t pipeline = count(t, "pipeline");
    const uint32_t chunks = count(t, "virtual_pipeline");
    bool exact = false;
    const sl_software *software = sl_catalog_find_software(catalog, "megatron-lm-2022", &exact);
    sl_cluster cluster;

    CU_ASSERT_PTR_NOT_NULL_FATAL(software);
    CU_ASSERT_TRUE(cluster_of(catalog, "nvidia-a100-sxm4-80gb", 8 * pipeline, &cluster));
    sl_question q = sl_fixture_question(sl_fixture_model(&spec), &cluster, software);
    q.workload.global_batch = count(t, "global_batch");
    q.workload.micro_batch = count(t, "micro_batch");
    q.workload.precision = SL_PRECISION_FP16;
    q.workload.dropout = true;
    q.workload.recompute = full ? SL_RECOMPUTE_FULL : SL_RECOMPUTE_SELECTIVE;
    q.plan.tensor = 8;
    q.plan.sequence = !full;
    q.plan.pipeline = pipeline;
    q.plan.virtual_pipeline = chunks;
    q.plan.data = 1;
    q.plan.schedule = chunks > 1 ? SL_SCHEDULE_INTERLEAVED_1F1B : SL_SCHEDULE_1F1B;

    const sl_estimate *e = sl_fixture_answer(&q);
    const double measured_s = number(t, "measured_s");
    const double error = e->time.step_s / measured_s - 1.0;

    printf("  %-5s %-9s measured %6.2f s  predicted %6.2f s  %+5.1f %%  interval %.2f-%.2f s\n",
           sl_csv_get(&t->csv, "model"), sl_csv_get(&t->csv, "recompute"), measured_s,
           e->time.step_s, 100.0 * error, e->step_low_s, e->step_high_s);
    CU_ASSERT_TRUE(e->fits); /* it ran */
    return error;
}

static void
eight_megatron_runs_are_predicted_within_four_percent_on_average(void)
{
    sl_errors err = {0};
    sl_catalog *catalog = sl_catalog_new(&err);
    double sum = 0.0, bias = 0.0, worst = 0.0;
    uint32_t rows = 0;
    table t = {.text = NULL};

    CU_ASSERT_PTR_NOT_NULL(catalog);
    if (catalog != NULL && table_open(&t, "golden/korthikanti_2022_table5.csv"))
        while (table_next(&t)) {
            const double error = step_error(&t, catalog);
            sum += fabs(error);
            bias += error;
            worst = fmax(worst, fabs(error));
            rows++;
        }
    printf("  step time: mean %.1f %%, worst %.1f %%, bias %+.1f %% over %u rows\n",
           100.0 * sum / rows, 100.0 * worst, 100.0 * bias / rows, rows);
    CU_ASSERT_EQUAL(rows, 8);
    CU_ASSERT_TRUE(sum / rows <= 0.04);
    CU_ASSERT_TRUE(worst <= 0.08);
    table_close(&t);
    sl_catalog_free(catalog);
}

static double
peak_error(const table *t, const sl_catalog *catalog)
{
    const sl_dense_spec spec = {
        .naming = SL_NAMING_LLAMA,
        .blocks = 12,
        .hidden = 8192,
        .ffn = 28672,
        .vocabulary = 128256,
        .heads = 64,
        .kv_heads = 8,
        .head_dim = 128,
        .gated_mlp = true,
        .has_head = true,
    };
    bool exact = false;
    const sl_software *software = sl_catalog_find_software(catalog, "mbridge-26.04", &exact);
    const uint32_t tensor = count(t, "tensor");
    const uint32_t pipeline = count(t, "pipeline");
    const uint32_t data = count(t, "data");
    sl_cluster cluster;

    CU_ASSERT_PTR_NOT_NULL_FATAL(software);
    CU_ASSERT_TRUE(cluster_of(catalog, "nvidia-b200-sxm-180gb", 8, &cluster));
    cluster.accelerators_per_node = tensor * pipeline * data;
    sl_question q = sl_fixture_question(sl_fixture_model(&spec), &cluster, software);
    q.workload.sequence_length = 4096;
    q.workload.global_batch = UINT64_C(8) * data;
    q.workload.attention = SL_ATTENTION_FLASH2;
    q.plan.tensor = tensor;
    q.plan.sequence = tensor > 1;
    q.plan.pipeline = pipeline;
    q.plan.data = data;
    q.plan.zero_stage = 1;

    const sl_memory *memory = &sl_fixture_answer(&q)->memory;
    const bool first = strcmp(sl_csv_get(&t->csv, "stage"), "first") == 0;
    const sl_rank_memory *rank = &memory->ranks[first ? 0 : memory->rank_count - 1];
    const double predicted_gib = (double)rank->peak_allocated_bytes / SL_GIB_BYTES;
    const double measured_gib = number(t, "measured_gib");

    printf("  tensor %u pipeline %u data %u %-5s measured %.3f GiB  predicted %.3f GiB  %+.2f %%\n",
           tensor, pipeline, data, sl_csv_get(&t->csv, "stage"), measured_gib, predicted_gib,
           100.0 * (predicted_gib / measured_gib - 1.0));
    return predicted_gib / measured_gib - 1.0;
}

static void
five_megatron_peaks_are_predicted_within_one_percent(void)
{
    sl_errors err = {0};
    sl_catalog *catalog = sl_catalog_new(&err);
    uint32_t rows = 0;
    table t = {.text = NULL};

    CU_ASSERT_PTR_NOT_NULL(catalog);
    if (catalog != NULL && table_open(&t, "golden/megatron_b200_peaks.csv"))
        while (table_next(&t)) {
            CU_ASSERT_TRUE(fabs(peak_error(&t, catalog)) <= 0.01);
            rows++;
        }
    CU_ASSERT_EQUAL(rows, 5);
    table_close(&t);
    sl_catalog_free(catalog);
}

static const sl_case cases[] = {
    SL_CASE(eight_megatron_runs_are_predicted_within_four_percent_on_average),
    SL_CASE(five_megatron_peaks_are_predicted_within_one_percent),
};

int
main(int argc, char **argv)
{
    return sl_run_cases(argc, argv, "published", cases, sizeof cases / sizeof cases[0]);
}
