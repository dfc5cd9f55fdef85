#include "harness.h"

#include <stdlib.h>
#include <string.h>

#include "engine/model/recipe.h"

static sl_scope
scope_of_three(void)
{
    sl_scope scope = {0};
    sl_scope_set(&scope, "hidden", 8);
    sl_scope_set(&scope, "heads", 2);
    sl_scope_set(&scope, "none", 0);
    return scope;
}

static void
expressions_bind_as_arithmetic_does(void)
{
    static const struct {
        const char *text;
        uint64_t value;
    } cases[] = {
        SL_CASE(42),
        {"hidden", 8},
        {" hidden*heads + 1 ", 17},
        {"1 + hidden * heads", 17},
        {"(1 + hidden) * heads", 18},
        {"hidden / 3", 2},
        {"hidden % 3", 2},
        {"hidden - heads - 1", 5},
        {"hidden / heads / 2", 2},
        {"hidden == 8", 1},
        {"hidden != 8", 0},
        {"heads < hidden", 1},
        {"heads <= 2", 1},
        {"heads > 2", 0},
        {"heads >= 2", 1},
        {"(hidden == 8) * (none != 0) + 3", 3},
        {"2 * heads + 1 == 5", 1},
    };
    const sl_scope scope = scope_of_three();

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t value = 0;
        CU_ASSERT_EQUAL(sl_expression_value(cases[i].text, &scope, &value), SL_OK);
        if (value != cases[i].value)
            CU_FAIL(cases[i].text);
    }
}

static void
values_out_of_range_are_told_and_leave_the_result(void)
{
    static const char *const texts[] = {"heads - hidden", "hidden / none", "hidden % none",
                                        "largest + 1", "largest * 2"};
    sl_scope scope = scope_of_three();

    sl_scope_set(&scope, "largest", UINT64_MAX);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        uint64_t value = 77;
        if (sl_expression_value(texts[i], &scope, &value) != SL_E_RANGE)
            CU_FAIL(texts[i]);
        CU_ASSERT_EQUAL(value, 77);
    }
}

static void
a_list_has_a_value_for_each_expression(void)
{
    const sl_scope scope = scope_of_three();
    uint64_t values[4] = {0};
    uint32_t count = 9;

    CU_ASSERT_EQUAL(sl_expression_list("hidden, 2 * heads, 1", &scope, values, 4, &count), SL_OK);
    CU_ASSERT_EQUAL(count, 3);
    CU_ASSERT_EQUAL(values[0], 8);
    CU_ASSERT_EQUAL(values[1], 4);
    CU_ASSERT_EQUAL(values[2], 1);
    CU_ASSERT_EQUAL(sl_expression_list("", &scope, values, 4, &count), SL_OK);
    CU_ASSERT_EQUAL(count, 0);
}

static const sl_part parts[] = {
    {SL_PART_LINEAR, "q", "heads, hidden", SL_COMPONENT_ATTENTION, SL_CUT_COLUMN, 0, ""},
    {SL_PART_LINEAR, "o", "hidden, heads", SL_COMPONENT_ATTENTION, SL_CUT_ROW, 1, "heads > 1"},
    {SL_PART_MATRIX, "gone", "hidden, hidden", SL_COMPONENT_MLP, SL_CUT_ROW, 1, "none"},
    {SL_PART_EXPERTS, "e.{}", "hidden, 3", SL_COMPONENT_ROUTED_EXPERTS, SL_CUT_COLUMN, 0, ""},
    {SL_PART_NORM, "norm", "hidden", SL_COMPONENT_NORMS, SL_CUT_REPLICATED, 0, ""},
    {SL_PART_HEAD, "head", "5, hidden", SL_COMPONENT_LM_HEAD, SL_CUT_VOCABULARY, 0, ""},
    {SL_PART_BUFFER, "ranges", "heads", SL_COMPONENT_OTHER, SL_CUT_REPLICATED, 0, ""},
};

static const sl_stack stack = {
    .prefix = "layers.{}.",
    .repeat = "1",
    .parts = parts,
    .part_count = sizeof parts / sizeof parts[0],
    .titles = {{"none", "never"}, {"", "block"}},
    .caches = {{.when = "none", .per_token = "1"},
               {.when = "", .per_token = "2 * heads", .window = "4", .state_bytes = "hidden * 2"}},
};

static void
a_kind_has_the_parts_whose_condition_holds(void)
{
    sl_scope scope = scope_of_three();
    sl_model *model = calloc(1, sizeof *model);
    sl_errors err = {0};
    sl_model_counts counts;
    uint32_t kind = 9;

    CU_ASSERT_PTR_NOT_NULL_FATAL(model);
    sl_scope_set(&scope, "experts", 7);
    sl_scope_set(&scope, "tied", 1);
    CU_ASSERT_EQUAL_FATAL(sl_recipe_add_kind(model, &stack, &scope, &kind, &err), SL_OK);
    const sl_layer_kind *block = &model->kinds[0];
    CU_ASSERT_EQUAL(kind, 0);
    sl_expect_text(block->name, "block", "title");
    CU_ASSERT_EQUAL_FATAL(block->tensor_count, 9);
    sl_expect_text(block->tensors[1].name, "q.bias", "tensor");
    CU_ASSERT_EQUAL(block->tensors[1].cut, SL_CUT_COLUMN);
    CU_ASSERT_EQUAL(block->tensors[2].cut_axis, 1);
    CU_ASSERT_EQUAL(block->tensors[3].cut, SL_CUT_REPLICATED);
    CU_ASSERT_EQUAL(block->tensors[4].experts, 7);
    CU_ASSERT_TRUE(block->tensors[7].tied);
    CU_ASSERT_TRUE(block->tensors[8].buffer);
    CU_ASSERT_EQUAL(block->cache.per_token, 4);
    CU_ASSERT_EQUAL(block->cache.naive_per_token, 4);
    CU_ASSERT_EQUAL(block->cache.window, 4);
    CU_ASSERT_EQUAL(block->cache.state_bytes, 16);

    /* Two copies in the list, three beside it: q 16 + 2, o 16 + 8, experts 7 * 24, norm 16. */
    model->layer_count = 2;
    model->beside[0] = 3;
    CU_ASSERT_EQUAL(sl_model_count(model, &counts), SL_OK);
    CU_ASSERT_EQUAL(counts.total, 5 * (18 + 24 + 168 + 16));
    CU_ASSERT_EQUAL(counts.persistent_buffers, 10);
    CU_ASSERT_EQUAL(counts.component[SL_COMPONENT_LM_HEAD], 0);
    free(model);
}

static void
an_empty_or_huge_shape_is_refused_by_name(void)
{
    static const uint64_t hidden[] = {0, UINT64_C(1) << 40};

    for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; i++) {
        sl_scope scope = scope_of_three();
        sl_model *model = calloc(1, sizeof *model);
        sl_errors err = {0};
        uint32_t kind = 0;
        CU_ASSERT_PTR_NOT_NULL_FATAL(model);
        sl_scope_set(&scope, "hidden", hidden[i]);
        sl_scope_set(&scope, "heads", 64);
        sl_scope_set(&scope, "experts", 7);
        sl_scope_set(&scope, "tied", 0);
        CU_ASSERT_EQUAL(sl_recipe_add_kind(model, &stack, &scope, &kind, &err), SL_E_RANGE);
        CU_ASSERT_EQUAL_FATAL(err.count, 1);
        sl_expect_text(err.list[0].rule, "out_of_range", "rule");
        CU_ASSERT_PTR_NOT_NULL(strstr(err.list[0].message, "heads, hidden"));
        free(model);
    }
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(expressions_bind_as_arithmetic_does),
        SL_CASE(values_out_of_range_are_told_and_leave_the_result),
        SL_CASE(a_list_has_a_value_for_each_expression),
        SL_CASE(a_kind_has_the_parts_whose_condition_holds),
        SL_CASE(an_empty_or_huge_shape_is_refused_by_name),
    };
    return sl_run_cases(argc, argv, "recipe", cases, sizeof cases / sizeof cases[0]);
}
