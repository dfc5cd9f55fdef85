/* Every part of the catalogue, in boxes of every shape: a question is refused or answered with
 * figures that can be. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "catalog/catalog.h"
#include "catalogued.h"
#include "engine_fixture.h"
#include "harness.h"

static sl_catalog *catalog;
static sl_cluster cluster;
static uint32_t answered, refused;

static void
box(const sl_part *part, uint32_t nodes, uint32_t per_node, uint32_t domain)
{
    cluster = (sl_cluster){
        .accelerator = part->accelerator,
        .nodes = nodes,
        .accelerators_per_node = per_node,
        .nics_per_node = 4,
        .nic_bytes_per_s = 25e9,
        .fabric = *sl_catalog_fabric(catalog, "infiniband"),
        .oversubscription_ratio = 1.0,
    };
    if (domain > 0)
        cluster.accelerator.scale_up_domain = domain;
}

static void
expect_possible(const sl_question *q, const char *what)
{
    static sl_estimate answer, scratch;
    sl_errors err = {0};

    if (sl_question_check(q, &err) != SL_OK) {
        CU_ASSERT_TRUE(err.count > 0);
        refused++;
        return;
    }
    CU_ASSERT_EQUAL(sl_estimate_answer(q, &scratch, &answer, &err), SL_OK);
    answered++;

    const bool possible = isfinite(answer.time.step_s) && answer.throughput.mfu_full > 0.0 &&
                          answer.throughput.mfu_full < 1.0 &&
                          answer.time.ideal_s < answer.time.step_s;
    if (!possible)
        printf("  %s: step %g s, mfu %g\n", what, answer.time.step_s, answer.throughput.mfu_full);
    CU_ASSERT_TRUE(possible);
}

static void
try_plans(const char *what)
{
    static const uint32_t degrees[][2] = {{1, 1}, {2, 1}, {4, 1}, {8, 1}, {1, 2}, {1, 4}, {2, 2}};
    const sl_dense_spec spec = sl_fixture_gpt(8, 1024, 16);
    const sl_model *model = sl_fixture_model(&spec);
    const uint32_t all = cluster.nodes * cluster.accelerators_per_node;
    uint32_t count = 0;
    const sl_software *software = sl_catalog_software(catalog, "megatron", &count);

    for (uint32_t i = 0; i < sizeof degrees / sizeof degrees[0]; i++)
        for (uint32_t precision = 0; precision < SL_PRECISION_COUNT; precision++) {
            sl_question q = sl_fixture_question(model, &cluster, software);
            q.software_count = count;
            q.unknown = SL_UNKNOWN_ATTENTION;
            q.workload.precision = (sl_precision)precision;
            q.workload.global_batch = (uint64_t)all * 4;
            q.plan.tensor = degrees[i][0];
            q.plan.pipeline = degrees[i][1];
            if (all % (q.plan.tensor * q.plan.pipeline) != 0)
                continue;
            q.plan.data = all / (q.plan.tensor * q.plan.pipeline);
            expect_possible(&q, what);
        }
}

static void
no_box_of_any_part_gives_nonsense(void)
{
    static const uint32_t domains[] = {0, 1, 72};
    static const uint32_t per_node[] = {1, 3, 8};

    for (uint32_t i = 0; i < sl_catalog_part_count(catalog); i++)
        for (uint32_t d = 0; d < sizeof domains / sizeof domains[0]; d++)
            for (uint32_t n = 0; n < sizeof per_node / sizeof per_node[0]; n++)
                for (uint32_t nodes = 1; nodes <= 3; nodes += 2) {
                    const sl_part *part = sl_catalog_part(catalog, i);
                    box(part, nodes, per_node[n], domains[d]);
                    try_plans(part->accelerator.id);
                }
    printf("  %u questions answered, %u refused\n", answered, refused);
    CU_ASSERT_TRUE(answered > 10000);
    CU_ASSERT_TRUE(refused > 0);
}

static double
step_s(const sl_question *q)
{
    return sl_fixture_answer(q)->time.step_s;
}

static void
better_hardware_never_hurts(void)
{
    const sl_part *part = NULL;
    sl_errors err = {0};
    const sl_dense_spec spec = sl_fixture_llama();
    uint32_t count = 0;

    if (sl_catalog_find_part(catalog, "nvidia-h100-sxm5-80gb", "", &part, &err) != SL_OK) {
        CU_FAIL("no H100 in the catalogue");
        return;
    }
    box(part, 2, 8, 0);

    sl_question q = sl_fixture_question(sl_fixture_model(&spec), &cluster,
                                        sl_catalog_software(catalog, "megatron", &count));
    q.workload.attention = SL_ATTENTION_FLASH2;
    q.plan.tensor = 2;
    q.plan.data = 8;

    const double before_s = step_s(&q);
    cluster.nic_bytes_per_s *= 2.0;
    const double network_s = step_s(&q);
    CU_ASSERT_TRUE(network_s <= before_s);
    cluster.accelerator.memory_bytes_per_s *= 2.0;
    const double memory_s = step_s(&q);
    CU_ASSERT_TRUE(memory_s < network_s);
    sl_accelerator_set_scale_up(&cluster.accelerator, 900e9);
    const double links_s = step_s(&q);
    CU_ASSERT_TRUE(links_s < memory_s);
    cluster.accelerator.sustained_ratio *= 1.1;
    CU_ASSERT_TRUE(step_s(&q) < links_s);
}

static void
pcie_boxes_use_what_was_measured_over_pcie(void)
{
    const sl_part *part = NULL;
    sl_errors err = {0};
    uint32_t count = 0;
    const sl_dense_spec spec = sl_fixture_llama();

    if (sl_catalog_find_part(catalog, "nvidia-l40s", "", &part, &err) != SL_OK) {
        CU_FAIL("no L40S in the catalogue");
        return;
    }
    box(part, 1, 8, 0);

    sl_question q = sl_fixture_question(sl_fixture_model(&spec), &cluster,
                                        sl_catalog_software(catalog, "megatron", &count));
    q.workload.attention = SL_ATTENTION_FLASH2;
    const sl_estimate *e = sl_fixture_answer(&q);
    CU_ASSERT_EQUAL_FATAL(e->time.communication_count, 1);
    const sl_communication *row = &e->time.communication[0];
    sl_expect_text(row->level, "host", "level");
    /* 1.4 GB/s of bus bandwidth among eight, as measured; PCIe itself would give 24. */
    sl_expect_near(row->bytes_per_step * 2.0 * 7.0 / 8.0 / row->seconds, 1.4e9, 0.05, "rate");
}

static const sl_case cases[] = {
    SL_CASE(no_box_of_any_part_gives_nonsense),
    SL_CASE(better_hardware_never_hurts),
    SL_CASE(pcie_boxes_use_what_was_measured_over_pcie),
};

int
main(int argc, char **argv)
{
    return sl_run_catalogued(argc, argv, "parts", cases, sizeof cases / sizeof cases[0], &catalog);
}
