/*
 * Laws of single operators against the kernel tables they were fitted to, cool and short runs:
 * printed, and held to what they reach. The tables are not in this repository; without them this is
 * skipped.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/csv.h"
#include "catalog/catalog.h"
#include "engine/links/collective.h"
#include "engine/price/kernel.h"
#include "harness.h"
#include "measured_table.h"

static sl_catalog *catalog;
static const sl_software software = {.streaming = {0.7, 0.85, 0.85, 0.7, 0.85}};

/* Names of the tables' parts, and ours. */
static const char *const parts[][2] = {
    {"A100-SXM4-80GB", "nvidia-a100-sxm4-80gb"},
    {"H100-SXM5-80GB", "nvidia-h100-sxm5-80gb"},
    {"H200-SXM5-141GB", "nvidia-h200-sxm-141gb"},
    {"B200-SXM", "nvidia-b200-sxm-180gb"},
    {"GB200", "nvidia-gb200"},
    {"L40S", "nvidia-l40s"},
    {"GB300", "nvidia-gb300"},
    {"B300-SXM", "nvidia-b300-sxm"},
};
enum { PARTS = sizeof parts / sizeof parts[0] };

/* Of |ln(predicted / measured)|. */
typedef struct score {
    double sum;
    uint32_t count;
} score;

static int
part_of(const sl_table *t)
{
    for (int i = 0; i < PARTS; i++)
        if (strcmp(sl_csv_get(&t->csv, "gpu"), parts[i][0]) == 0)
            return i;
    return -1;
}

static const sl_accelerator *
accelerator(int part)
{
    const sl_part *found = NULL;
    sl_errors err = {0};

    CU_ASSERT_EQUAL_FATAL(sl_catalog_find_part(catalog, parts[part][1], "", &found, &err), SL_OK);
    return &found->accelerator;
}

static void
add(score *s, double predicted, double measured)
{
    if (predicted <= 0.0 || measured <= 0.0)
        return;
    s->sum += fabs(log(predicted / measured));
    s->count++;
}

/* Prints each score that has rows; the mean over all of them. */
static double
print_scores(const char *what, const score scores[PARTS])
{
    score all = {0.0, 0};

    for (int i = 0; i < PARTS; i++) {
        if (scores[i].count == 0)
            continue;
        printf("  %-24s %-16s %5u rows  mean %5.1f %%\n", what, parts[i][0], scores[i].count,
               100.0 * scores[i].sum / scores[i].count);
        all.sum += scores[i].sum;
        all.count += scores[i].count;
    }
    CU_ASSERT_TRUE_FATAL(all.count > 0);
    printf("  %-24s %-16s %5u rows  mean %5.1f %%\n", what, "all", all.count,
           100.0 * all.sum / all.count);
    return all.sum / all.count;
}

static sl_slice
cool_slice(const sl_accelerator *part)
{
    return (sl_slice){
        .accelerator = part,
        .software = &software,
        .streaming = software.streaming,
        .clock_ratio = 1.0,
        .tensor = 1.0,
        .context = 1.0,
        .spread = 1.0,
        .element_bytes = 2.0,
        .precision = SL_PRECISION_BF16,
    };
}

static bool
is_power_of_two(double x)
{
    return exp2(floor(log2(x))) == x;
}

/* Shapes of models: laws of low precisions and all surfaces were fitted to powers of two alone
 * (tests/accuracy/fit_products). */
static bool
was_fitted(const sl_product *p)
{
    return is_power_of_two(p->m) && is_power_of_two(p->n) && is_power_of_two(p->k);
}

/* Products of `dtype` with at least 1,024 in each dimension that were fitted, or that were not, of
 * the collection and the parts that laws are of. */
static double
score_products(const char *what, const char *dtype, sl_precision precision, const char *collection,
               bool fitted)
{
    score scores[PARTS] = {{0.0, 0}};
    sl_table t;

    if (!sl_table_open_shared(&t, "data/gemm_efficiency.csv"))
        return 0.0;
    while (sl_table_next(&t)) {
        const int part = part_of(&t);
        const sl_product product = {1.0,
                                    sl_table_number(&t, "m"),
                                    sl_table_number(&t, "n"),
                                    sl_table_number(&t, "k"),
                                    precision,
                                    false};
        if (part < 0 || strcmp(sl_csv_get(&t.csv, "dtype"), dtype) != 0 ||
            !sl_table_has(&t, "source", collection) || product.m < 1024.0 || product.n < 1024.0 ||
            product.k < 1024.0 || was_fitted(&product) != fitted)
            continue;
        add(&scores[part], sl_kernel_timed_s(accelerator(part), product),
            1e-6 * sl_table_number(&t, "time_us"));
    }
    sl_table_close(&t);
    return print_scores(what, scores);
}

static void
products_are_as_fast_as_measured(void)
{
    static const struct {
        const char *what, *dtype, *collection;
        double most;
        sl_precision precision;
        bool fitted;
    } tables[] = {
        {"bf16", "bfloat16", "sglang", 0.05, SL_PRECISION_BF16, true},
        {"bf16, not fitted", "bfloat16", "sglang", 0.06, SL_PRECISION_BF16, false},
        {"fp8", "fp8", "trtllm", 0.03, SL_PRECISION_FP8, true},
        {"fp8, not fitted", "fp8", "trtllm", 0.05, SL_PRECISION_FP8, false},
        {"nvfp4", "nvfp4", "trtllm", 0.04, SL_PRECISION_NVFP4, true},
        {"nvfp4, not fitted", "nvfp4", "trtllm", 0.06, SL_PRECISION_NVFP4, false},
    };

    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        CU_ASSERT_TRUE(score_products(tables[i].what, tables[i].dtype, tables[i].precision,
                                      tables[i].collection, tables[i].fitted) <= tables[i].most);
}

/* Causal rows of FlashAttention's own charts: 2,048 features, 16,384 tokens. */
static void
attention_is_as_fast_as_charted(void)
{
    static const struct {
        const char *word;
        sl_attention_kernel kernel;
    } kernels[] = {
        {"FA2", SL_ATTENTION_FLASH2}, {"FA3", SL_ATTENTION_FLASH3}, {"cuDNN", SL_ATTENTION_CUDNN}};
    score scores[PARTS] = {{0.0, 0}};
    sl_table t;

    if (!sl_table_open_shared(&t, "data/attention_efficiency.csv"))
        return;
    while (sl_table_next(&t)) {
        const int part = part_of(&t);
        const char *pass = sl_csv_get(&t.csv, "pass");
        const uint32_t width = (uint32_t)sl_table_number(&t, "head_dim");
        for (size_t i = 0; part >= 0 && i < sizeof kernels / sizeof kernels[0]; i++) {
            if (strcmp(sl_csv_get(&t.csv, "kernel"), kernels[i].word) != 0 ||
                sl_table_number(&t, "causal") != 1.0 ||
                !sl_kernel_attention_fits(accelerator(part), kernels[i].kernel, width))
                continue;
            sl_slice slice = cool_slice(accelerator(part));
            slice.sequence = slice.document = sl_table_number(&t, "seqlen");
            slice.sequences = sl_table_number(&t, "batch");
            slice.tokens = slice.sequence * slice.sequences;
            slice.attention = kernels[i].kernel;
            const sl_operator op = {.kind = SL_OPERATOR_ATTENTION,
                                    .heads = (uint32_t)sl_table_number(&t, "heads_q"),
                                    .kv_heads = (uint32_t)sl_table_number(&t, "heads_kv"),
                                    .head_dim = width};
            const double forward_s = sl_kernel_attention_s(&slice, &op, SL_PASS_FORWARD);
            const double backward_s = sl_kernel_attention_s(&slice, &op, SL_PASS_BACKWARD);
            const double predicted = strcmp(pass, "fwd") == 0   ? forward_s
                                     : strcmp(pass, "bwd") == 0 ? backward_s
                                                                : forward_s + backward_s;
            const double flops = 2.0 * slice.tokens * slice.sequence * op.heads * width *
                                 (strcmp(pass, "fwd") == 0   ? 1.0
                                  : strcmp(pass, "bwd") == 0 ? 2.5
                                                             : 3.5);
            add(&scores[part], predicted, flops / (1e12 * sl_table_number(&t, "achieved_tflops")));
        }
    }
    sl_table_close(&t);
    CU_ASSERT_TRUE(print_scores("causal attention", scores) <= 0.05);
}

/* NCCL inside one node, 4 KiB to 512 MiB. */
static void
collectives_are_as_fast_as_measured(void)
{
    static const struct {
        const char *word;
        sl_collective kind;
    } kinds[] = {{"all_reduce", SL_COLLECTIVE_ALL_REDUCE},
                 {"all_gather", SL_COLLECTIVE_ALL_GATHER},
                 {"reduce_scatter", SL_COLLECTIVE_REDUCE_SCATTER}};
    score scores[PARTS] = {{0.0, 0}};
    sl_table t;

    if (!sl_table_open_shared(&t, "data/collectives.csv"))
        return;
    while (sl_table_next(&t)) {
        const int part = part_of(&t);
        const double gpus = sl_table_number(&t, "gpus");
        if (part < 0 || !sl_table_has(&t, "source", "/comm/nccl/"))
            continue;
        const sl_cluster cluster = {.accelerator = *accelerator(part),
                                    .nodes = 1,
                                    .accelerators_per_node = 8,
                                    .nics_per_node = 8,
                                    .nic_bytes_per_s = 50e9,
                                    .oversubscription_ratio = 1.0};
        const sl_group group = sl_group_of(&cluster, (uint64_t)gpus, 1);
        for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
            if (strcmp(sl_csv_get(&t.csv, "op"), kinds[i].word) == 0)
                add(&scores[part],
                    sl_collective_s(&cluster, kinds[i].kind, &group,
                                    sl_table_number(&t, "message_bytes")),
                    1e-6 * sl_table_number(&t, "time_us"));
    }
    sl_table_close(&t);
    CU_ASSERT_TRUE(print_scores("collectives in a node", scores) <= 0.08);
}

static const sl_case cases[] = {
    SL_CASE(products_are_as_fast_as_measured),
    SL_CASE(attention_is_as_fast_as_charted),
    SL_CASE(collectives_are_as_fast_as_measured),
};

int
main(int argc, char **argv)
{
    sl_errors err = {0};

    catalog = sl_catalog_new(&err);
    if (catalog == NULL)
        return EXIT_FAILURE;
    const int code = sl_run_cases(argc, argv, "operators", cases, sizeof cases / sizeof cases[0]);
    sl_catalog_free(catalog);
    return code;
}
