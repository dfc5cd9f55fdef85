#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "harness.h"
#include "shardline/accounting.h"

static sl_accounting
by_name(const char *name)
{
    for (int i = 0; i < SL_ACCOUNTING_COUNT; i++)
        if (strcmp(sl_accounting_describe((sl_accounting)i)->name, name) == 0)
            return (sl_accounting)i;
    CU_FAIL("the golden names an accounting that does not exist");
    return SL_ACCOUNTING_HALF_SIMPLE;
}

static double
number(const sl_csv *csv, const char *column)
{
    return strtod(sl_csv_get(csv, column), NULL);
}

static void
check_row(const sl_csv *csv)
{
    const char *source = sl_csv_get(csv, "source");
    sl_accounting_bytes bytes = {0};
    const sl_code code = sl_accounting_evaluate(
        by_name(sl_csv_get(csv, "accounting")), (uint64_t)number(csv, "parameters"),
        (uint64_t)number(csv, "ranks"), (uint32_t)number(csv, "zero_stage"),
        (uint64_t)number(csv, "microbatches"), number(csv, "element_bytes"), &bytes);

    CU_ASSERT_EQUAL(code, SL_OK);
    sl_expect_near((double)bytes.total, number(csv, "total_bytes"), number(csv, "tolerance"),
                   source);
    sl_expect_near(bytes.communication_elements, number(csv, "communication"), 0.0, source);
    CU_ASSERT_EQUAL(bytes.parameters + bytes.gradients + bytes.optimizer, bytes.total);
}

static void
every_worked_figure_of_the_courses_is_reproduced(void)
{
    size_t size = 0;
    char *text = sl_read_file(sl_tests_path("golden/accountings.csv"), &size);
    sl_arena *arena = sl_arena_new(1 << 20);
    sl_errors err = {0};
    sl_csv csv;
    bool more = false;
    uint32_t rows = 0;

    CU_ASSERT_PTR_NOT_NULL(text);
    CU_ASSERT_PTR_NOT_NULL(arena);
    if (text != NULL && arena != NULL && sl_csv_open(&csv, text, size, arena, &err) == SL_OK)
        while (sl_csv_next(&csv, &more, &err) == SL_OK && more) {
            check_row(&csv);
            rows++;
        }
    CU_ASSERT_EQUAL(err.count, 0);
    CU_ASSERT_TRUE(rows >= 17);
    sl_arena_free(arena);
    free(text);
}

/* What the courses print beside the sum: billions of bytes of weights, gradients and states. */
static void
parts_are_those_of_the_courses(void)
{
    static const struct {
        const char *name;
        uint64_t parameters;
        uint64_t billions[3];
    } courses[] = {
        {"half-simple", 7000000000, {14, 14, 28}},
        {"mixed-2-2-12", 40000000000, {80, 80, 480}},
        {"mixed-2-4-12", 40000000000, {80, 160, 480}},
        {"fp32-16n", 1000000000, {4, 4, 8}},
        {"mixed-12n", 1000000000, {4, 2, 6}},
        {"train-adamw-rule", 70000000000, {0, 140, 560}},
        {"train-sgd-rule", 70000000000, {0, 140, 210}},
    };

    for (uint32_t i = 0; i < sizeof courses / sizeof courses[0]; i++) {
        sl_accounting_bytes bytes = {0};
        CU_ASSERT_EQUAL(sl_accounting_evaluate(by_name(courses[i].name), courses[i].parameters, 1,
                                               0, 1, 2.0, &bytes),
                        SL_OK);
        CU_ASSERT_EQUAL(bytes.parameters, courses[i].billions[0] * 1000000000);
        CU_ASSERT_EQUAL(bytes.gradients, courses[i].billions[1] * 1000000000);
        CU_ASSERT_EQUAL(bytes.optimizer, courses[i].billions[2] * 1000000000);
    }
}

static void
memory_shrinks_four_eight_and_m_times_for_many_ranks(void)
{
    const uint64_t parameters = 64000000000;
    const uint64_t ranks = 1 << 20;
    double total[4];

    for (uint32_t stage = 0; stage < 4; stage++) {
        sl_accounting_bytes bytes = {0};
        CU_ASSERT_EQUAL(sl_accounting_evaluate(SL_ACCOUNTING_MIXED_2_2_12, parameters, ranks, stage,
                                               1, 2.0, &bytes),
                        SL_OK);
        total[stage] = (double)bytes.total;
    }
    sl_expect_near(total[0] / total[1], 4.0, 1e-4, "stage 1");
    sl_expect_near(total[0] / total[2], 8.0, 1e-4, "stage 2");
    sl_expect_near(total[0] / total[3], (double)ranks, 1e-4, "stage 3");
}

/* Stage 3 in groups of 8 moves 3 m inside and sums an eighth of the gradients, 2 m / 8, among
 * copies. */
static void
copies_of_the_states_sum_their_shards(void)
{
    sl_expect_near(sl_accounting_copies_elements(3, 4, 8), 1.0, 0, "stage 3, four micro-batches");
    sl_expect_near(sl_accounting_copies_elements(2, 1, 8), 0.25, 0, "stage 2");
    sl_expect_near(sl_accounting_copies_elements(1, 4, 8), 0.25, 0, "stage 1 reduces once");
    sl_expect_near(sl_accounting_copies_elements(0, 4, 8), 0.0, 0, "stage 0 has no shards");
}

static void
more_than_a_double_can_count_is_refused(void)
{
    sl_accounting_bytes bytes = {.total = 7};

    CU_ASSERT_EQUAL(
        sl_accounting_evaluate(SL_ACCOUNTING_MIXED_2_2_12, UINT64_MAX, 1, 0, 1, 2.0, &bytes),
        SL_E_RANGE);
    CU_ASSERT_EQUAL(bytes.total, 7); /* failure leaves outputs alone */
}

/* GPT-3 on eight tensor ranks: 5 a s / (h t) is ten. */
static void
activation_rules_give_the_figures_of_the_courses(void)
{
    const sl_activation_shape gpt3 = {2048, 1, 12288, 96, 96, 8};
    const double sbhl = 2415919104.0;

    sl_expect_near(sl_activation_accounting_bytes(SL_ACTIVATION_SBHL, &gpt3), sbhl, 0, "s b h L");
    sl_expect_near(sl_activation_accounting_bytes(SL_ACTIVATION_SBHL_10_24T, &gpt3), 13 * sbhl, 0,
                   "10 + 24 / 8");
    sl_expect_near(sl_activation_accounting_bytes(SL_ACTIVATION_SBHL_10_24T_SCORES, &gpt3),
                   23 * sbhl, 0, "and 5 x 96 x 2048 / (12288 x 8)");
}

static const sl_case cases[] = {
    SL_CASE(activation_rules_give_the_figures_of_the_courses),
    SL_CASE(copies_of_the_states_sum_their_shards),
    SL_CASE(parts_are_those_of_the_courses),
    SL_CASE(every_worked_figure_of_the_courses_is_reproduced),
    SL_CASE(memory_shrinks_four_eight_and_m_times_for_many_ranks),
    SL_CASE(more_than_a_double_can_count_is_refused),
};

int
main(int argc, char **argv)
{
    return sl_run_cases(argc, argv, "accounting", cases, sizeof cases / sizeof cases[0]);
}
