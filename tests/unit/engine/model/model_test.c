#include "harness.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "shardline/model.h"

/* A small decoder of every shape the widths can take: a = 6 heads of 10 over h = 48, g = 2. */
static sl_dense_spec
small_llama(void)
{
    return (sl_dense_spec){.naming = SL_NAMING_LLAMA,
                           .blocks = 4,
                           .hidden = 48,
                           .ffn = 100,
                           .vocabulary = 70,
                           .heads = 6,
                           .kv_heads = 2,
                           .head_dim = 10,
                           .gated_mlp = true,
                           .has_head = true};
}

static sl_dense_spec
small_gpt2(void)
{
    return (sl_dense_spec){.naming = SL_NAMING_GPT2,
                           .blocks = 2,
                           .hidden = 12,
                           .ffn = 48,
                           .vocabulary = 30,
                           .learned_positions = 9,
                           .heads = 3,
                           .kv_heads = 3,
                           .head_dim = 4,
                           .layer_norm = true,
                           .qkv_bias = true,
                           .output_bias = true,
                           .mlp_bias = true,
                           .tied = true,
                           .has_head = true};
}

static sl_model *
describe(const sl_dense_spec *spec)
{
    sl_errors err = {0};
    sl_model *model = calloc(1, sizeof *model);
    CU_ASSERT_PTR_NOT_NULL_FATAL(model);
    CU_ASSERT_EQUAL_FATAL(sl_model_describe_dense(spec, model, &err), SL_OK);
    CU_ASSERT_EQUAL(err.count, 0);
    return model;
}

static const sl_tensor *
find_tensor(const sl_layer_kind *kind, const char *name)
{
    for (uint32_t i = 0; i < kind->tensor_count; i++) {
        if (strcmp(kind->tensors[i].name, name) == 0)
            return &kind->tensors[i];
    }
    CU_FAIL_FATAL("no such tensor");
    return NULL;
}

static void
components_add_up_to_the_hand_count(void)
{
    const sl_dense_spec spec = small_llama();
    sl_model *model = describe(&spec);
    sl_model_counts counts;

    CU_ASSERT_EQUAL_FATAL(sl_model_count(model, &counts), SL_OK);
    CU_ASSERT_EQUAL(counts.component[SL_COMPONENT_EMBEDDING], UINT64_C(70) * 48);
    CU_ASSERT_EQUAL(counts.component[SL_COMPONENT_LM_HEAD], UINT64_C(70) * 48);
    CU_ASSERT_EQUAL(counts.component[SL_COMPONENT_ATTENTION],
                    UINT64_C(4) * (48 * 60 + 2 * 48 * 20 + 60 * 48));
    CU_ASSERT_EQUAL(counts.component[SL_COMPONENT_MLP], UINT64_C(4) * 3 * 48 * 100);
    CU_ASSERT_EQUAL(counts.component[SL_COMPONENT_NORMS], UINT64_C(9) * 48);
    uint64_t sum = 0;
    for (int i = 0; i < SL_COMPONENT_COUNT; i++)
        sum += counts.component[i];
    CU_ASSERT_EQUAL(counts.total, sum);
    CU_ASSERT_EQUAL(counts.active_per_token, sum);
    free(model);
}

static void
biases_and_query_key_norms_count_as_attention_and_mlp(void)
{
    sl_dense_spec spec = small_llama();
    spec.qkv_bias = spec.output_bias = spec.mlp_bias = true;
    spec.qk_norm = SL_QK_NORM_HEAD;
    sl_model *model = describe(&spec);
    sl_model_counts counts;

    CU_ASSERT_EQUAL_FATAL(sl_model_count(model, &counts), SL_OK);
    CU_ASSERT_EQUAL(counts.component[SL_COMPONENT_ATTENTION],
                    UINT64_C(4) * (48 * 60 + 2 * 48 * 20 + 60 * 48 + 60 + 2 * 20 + 48 + 2 * 10));
    CU_ASSERT_EQUAL(counts.component[SL_COMPONENT_MLP],
                    UINT64_C(4) * (3 * 48 * 100 + 2 * 100 + 48));
    CU_ASSERT_EQUAL(counts.component[SL_COMPONENT_NORMS], UINT64_C(9) * 48);
    free(model);
}

static void
a_tied_head_is_listed_but_counted_once(void)
{
    sl_dense_spec spec = small_llama();
    spec.tied = true;
    sl_model *model = describe(&spec);
    sl_model_counts counts;
    const sl_layer_kind *head = &model->kinds[model->kind_count - 1];

    CU_ASSERT_EQUAL_FATAL(sl_model_count(model, &counts), SL_OK);
    CU_ASSERT_EQUAL(counts.component[SL_COMPONENT_LM_HEAD], 0);
    CU_ASSERT_EQUAL(counts.component[SL_COMPONENT_EMBEDDING], UINT64_C(70) * 48);
    CU_ASSERT_TRUE(find_tensor(head, "lm_head.weight")->tied);
    CU_ASSERT_TRUE(model->tied);
    free(model);
}

static void
gpt2_counts_twelve_h_squared_and_thirteen_h_a_block(void)
{
    const sl_dense_spec spec = small_gpt2();
    sl_model *model = describe(&spec);
    sl_model_counts counts;

    CU_ASSERT_EQUAL_FATAL(sl_model_count(model, &counts), SL_OK);
    CU_ASSERT_EQUAL(counts.total, 30 * 12 + 9 * 12 + 2 * (12 * 144 + 13 * 12) + 2 * 12);
    CU_ASSERT_EQUAL(counts.component[SL_COMPONENT_EMBEDDING], UINT64_C(39) * 12);
    CU_ASSERT_EQUAL(model->position_limit, 9);
    CU_ASSERT_TRUE(model->learned_positions);
    free(model);
}

static void
spare_rows_of_the_position_table_are_no_positions(void)
{
    sl_dense_spec spec = small_gpt2();
    spec.spare_positions = 2;
    sl_model *model = describe(&spec);
    CU_ASSERT_EQUAL(model->position_limit, 7);
    free(model);
}

static void
a_class_without_head_ends_with_its_norm_and_drops_the_prefix(void)
{
    sl_dense_spec spec = small_llama();
    spec.has_head = false;
    sl_model *model = describe(&spec);
    const sl_layer_kind *head = &model->kinds[model->kind_count - 1];

    CU_ASSERT_EQUAL(head->tensor_count, 1);
    CU_ASSERT_EQUAL(head->operator_count, 1);
    CU_ASSERT_EQUAL(head->operators[0].kind, SL_OPERATOR_NORM);
    sl_expect_text(head->tensors[0].name, "norm.weight", "final norm");
    sl_expect_text(model->kinds[0].tensors[0].name, "embed_tokens.weight", "embedding");
    sl_expect_text(model->kinds[1].prefix, "layers.{}.", "prefix");
    free(model);
}

static void
layers_are_embedding_full_blocks_windowed_blocks_head(void)
{
    sl_dense_spec spec = small_llama();
    spec.window = 5;
    memset(spec.block, SL_BLOCK_FULL_ATTENTION, 3);
    sl_model *model = describe(&spec);
    static const uint8_t expected[] = {0, 1, 1, 1, 2, 3};

    CU_ASSERT_EQUAL_FATAL(model->layer_count, 6);
    CU_ASSERT_EQUAL(model->block_count, 4);
    CU_ASSERT_EQUAL(memcmp(model->layers, expected, sizeof expected), 0);
    sl_expect_text(model->kinds[1].name, "dense", "kind");
    sl_expect_text(model->kinds[2].name, "dense_window", "kind");
    CU_ASSERT_EQUAL(model->kinds[1].cache.window, 0);
    CU_ASSERT_EQUAL(model->kinds[2].cache.window, 5);
    CU_ASSERT_EQUAL(sl_model_layers_of(model, 1), 3);
    CU_ASSERT_EQUAL(sl_model_layers_of(model, 2), 1);
    free(model);
}

static void
a_window_over_all_blocks_or_none_needs_one_kind(void)
{
    sl_dense_spec spec = small_llama();
    spec.window = 5;
    sl_model *all = describe(&spec);
    CU_ASSERT_EQUAL(all->kind_count, 3);
    sl_expect_text(all->kinds[1].name, "dense", "kind");
    CU_ASSERT_EQUAL(all->kinds[1].cache.window, 5);

    memset(spec.block, SL_BLOCK_FULL_ATTENTION, 4);
    sl_model *none = describe(&spec);
    CU_ASSERT_EQUAL(none->kind_count, 3);
    CU_ASSERT_EQUAL(none->kinds[1].cache.window, 0);
    free(all);
    free(none);
}

static void
expect_cut(const sl_layer_kind *kind, const char *name, sl_cut cut, uint32_t axis)
{
    const sl_tensor *tensor = find_tensor(kind, name);
    if (tensor->cut != cut || tensor->cut_axis != axis)
        CU_FAIL(name);
}

static void
torch_weights_cut_columns_on_axis_0_and_rows_on_axis_1(void)
{
    sl_dense_spec spec = small_llama();
    spec.qkv_bias = spec.output_bias = true;
    sl_model *model = describe(&spec);
    const sl_layer_kind *block = &model->kinds[1];

    expect_cut(block, "self_attn.q_proj.weight", SL_CUT_COLUMN, 0);
    expect_cut(block, "self_attn.v_proj.bias", SL_CUT_COLUMN, 0);
    expect_cut(block, "self_attn.o_proj.weight", SL_CUT_ROW, 1);
    expect_cut(block, "self_attn.o_proj.bias", SL_CUT_REPLICATED, 0);
    expect_cut(block, "mlp.gate_proj.weight", SL_CUT_COLUMN, 0);
    expect_cut(block, "mlp.down_proj.weight", SL_CUT_ROW, 1);
    expect_cut(block, "input_layernorm.weight", SL_CUT_REPLICATED, 0);
    expect_cut(&model->kinds[0], "model.embed_tokens.weight", SL_CUT_VOCABULARY, 0);
    expect_cut(&model->kinds[2], "lm_head.weight", SL_CUT_VOCABULARY, 0);
    const sl_tensor *output = find_tensor(block, "self_attn.o_proj.weight");
    CU_ASSERT_EQUAL(output->shape[0], 48);
    CU_ASSERT_EQUAL(output->shape[1], 60);
    free(model);
}

static void
conv1d_weights_cut_columns_on_axis_1_and_rows_on_axis_0(void)
{
    const sl_dense_spec spec = small_gpt2();
    sl_model *model = describe(&spec);
    const sl_layer_kind *block = &model->kinds[1];

    expect_cut(block, "attn.c_attn.weight", SL_CUT_COLUMN, 1);
    expect_cut(block, "attn.c_attn.bias", SL_CUT_COLUMN, 0);
    expect_cut(block, "attn.c_proj.weight", SL_CUT_ROW, 0);
    expect_cut(block, "attn.c_proj.bias", SL_CUT_REPLICATED, 0);
    expect_cut(block, "mlp.c_fc.weight", SL_CUT_COLUMN, 1);
    expect_cut(block, "mlp.c_proj.weight", SL_CUT_ROW, 0);
    expect_cut(&model->kinds[0], "transformer.wpe.weight", SL_CUT_REPLICATED, 0);
    const sl_tensor *qkv = find_tensor(block, "attn.c_attn.weight");
    CU_ASSERT_EQUAL(qkv->shape[0], 12);
    CU_ASSERT_EQUAL(qkv->shape[1], 36);
    free(model);
}

static void
expect_operators(const sl_layer_kind *kind, const char *const *names, uint32_t count)
{
    CU_ASSERT_EQUAL_FATAL(kind->operator_count, count);
    for (uint32_t i = 0; i < count; i++)
        sl_expect_text(kind->operators[i].name, names[i], "operator");
}

static void
operators_follow_the_forward_pass(void)
{
    static const char *const llama[] = {
        "input_norm",         "qkv",      "qk_norm", "rotary",     "attention", "attention_output",
        "attention_residual", "mlp_norm", "mlp_up",  "activation", "mlp_down",  "mlp_residual"};
    static const char *const gpt2[] = {
        "input_norm", "qkv",    "attention",  "attention_output", "attention_residual",
        "mlp_norm",   "mlp_up", "activation", "mlp_down",         "mlp_residual"};
    static const char *const head[] = {"final_norm", "logits", "loss"};
    sl_dense_spec spec = small_llama();
    spec.qk_norm = SL_QK_NORM_HEAD;
    sl_model *model = describe(&spec);
    expect_operators(&model->kinds[1], llama, 12);
    expect_operators(&model->kinds[2], head, 3);
    CU_ASSERT_EQUAL(model->kinds[1].operators[8].outputs, 200);
    CU_ASSERT_EQUAL(model->kinds[1].operators[9].inputs, 200);
    CU_ASSERT_EQUAL(model->kinds[1].operators[9].outputs, 100);
    free(model);

    spec = small_gpt2();
    model = describe(&spec);
    expect_operators(&model->kinds[1], gpt2, 10);
    free(model);
}

/* The two halves of a description must tell the same story: inputs * outputs over the products of a
 * block are the elements of its matrices. */
static void
products_of_a_block_use_each_matrix_once(void)
{
    const sl_dense_spec specs[] = {small_llama(), small_gpt2()};
    for (size_t i = 0; i < 2; i++) {
        sl_model *model = describe(&specs[i]);
        const sl_layer_kind *block = &model->kinds[1];
        uint64_t used = 0;
        uint64_t held = 0;
        for (uint32_t k = 0; k < block->operator_count; k++) {
            const sl_operator *op = &block->operators[k];
            used += op->kind == SL_OPERATOR_MATMUL ? op->inputs * op->outputs : 0;
        }
        for (uint32_t k = 0; k < block->tensor_count; k++) {
            const sl_tensor *tensor = &block->tensors[k];
            held += tensor->axes == 2 ? tensor->shape[0] * tensor->shape[1] : 0;
        }
        CU_ASSERT_EQUAL(used, held);
        free(model);
    }
}

static void
only_the_attention_output_shares_its_input(void)
{
    const sl_dense_spec spec = small_llama();
    sl_model *model = describe(&spec);

    for (uint32_t k = 0; k < model->kind_count; k++) {
        const sl_layer_kind *kind = &model->kinds[k];
        for (uint32_t i = 0; i < kind->operator_count; i++) {
            const sl_operator *op = &kind->operators[i];
            CU_ASSERT_EQUAL(op->shares_input, strcmp(op->name, "attention_output") == 0);
        }
    }
    free(model);
}

static void
keys_and_values_take_two_widths_of_the_kv_heads(void)
{
    const sl_dense_spec spec = small_llama();
    sl_model *model = describe(&spec);

    CU_ASSERT_EQUAL(model->kinds[1].cache.per_token, UINT64_C(2) * 2 * 10);
    CU_ASSERT_EQUAL(model->kinds[1].cache.naive_per_token, UINT64_C(2) * 2 * 10);
    CU_ASSERT_EQUAL(model->kinds[0].cache.per_token, 0);
    CU_ASSERT_EQUAL(model->kinds[2].cache.per_token, 0);
    free(model);
}

static void
expect_refused(const sl_dense_spec *spec)
{
    sl_errors err = {0};
    sl_model *model = calloc(1, sizeof *model);
    sl_model *before = calloc(1, sizeof *before);
    assert(model != NULL && before != NULL);
    CU_ASSERT_EQUAL(sl_model_describe_dense(spec, model, &err), SL_E_RANGE);
    CU_ASSERT_EQUAL_FATAL(err.count, 1);
    sl_expect_text(err.list[0].rule, "out_of_range", "rule");
    CU_ASSERT_TRUE(sl_same_bytes(model, before, sizeof *model));
    free(before);
    free(model);
}

static void
sizes_past_the_bounds_are_refused_and_leave_the_model_alone(void)
{
    sl_dense_spec spec = small_llama();
    spec.blocks = SL_MODEL_LAYERS_MAX - 1;
    expect_refused(&spec);
    spec = small_llama();
    spec.hidden = SL_MODEL_WIDTH_MAX + 1;
    expect_refused(&spec);
    spec = small_llama();
    spec.head_dim = SL_MODEL_WIDTH_MAX;
    expect_refused(&spec);
    spec = small_llama();
    spec.vocabulary = SL_MODEL_ROWS_MAX + 1;
    expect_refused(&spec);
}

static void
the_largest_description_still_counts_in_64_bits(void)
{
    sl_dense_spec spec = small_llama();
    spec.blocks = SL_MODEL_LAYERS_MAX - 2;
    spec.hidden = spec.ffn = SL_MODEL_WIDTH_MAX;
    spec.heads = spec.kv_heads = 1;
    spec.head_dim = SL_MODEL_WIDTH_MAX / 3;
    spec.vocabulary = SL_MODEL_ROWS_MAX;
    sl_model *model = describe(&spec);
    sl_model_counts counts;

    CU_ASSERT_EQUAL_FATAL(sl_model_count(model, &counts), SL_OK);
    CU_ASSERT_TRUE(counts.total <= UINT64_MAX / 4);
    free(model);
}

static void
a_product_past_64_bits_is_an_error(void)
{
    const sl_tensor tensor = {.axes = 2, .shape = {UINT64_C(1) << 33, UINT64_C(1) << 31}};
    uint64_t elements = 7;
    CU_ASSERT_EQUAL(sl_tensor_elements(&tensor, &elements), SL_E_RANGE);
    CU_ASSERT_EQUAL(elements, 7);
}

static void
weights_weigh_the_checkpoint_unless_the_quantised_size_is_known(void)
{
    const sl_dense_spec spec = small_llama();
    sl_model *model = describe(&spec);
    const sl_model_counts counts = {.total = 1000};

    model->checkpoint_element_bytes = 4;
    CU_ASSERT_EQUAL(sl_model_weights_bytes(model, &counts), 4000);
    model->quantized_weights_bytes = 1234;
    CU_ASSERT_EQUAL(sl_model_weights_bytes(model, &counts), 1234);
    free(model);
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(components_add_up_to_the_hand_count),
        SL_CASE(biases_and_query_key_norms_count_as_attention_and_mlp),
        SL_CASE(a_tied_head_is_listed_but_counted_once),
        SL_CASE(gpt2_counts_twelve_h_squared_and_thirteen_h_a_block),
        SL_CASE(spare_rows_of_the_position_table_are_no_positions),
        SL_CASE(a_class_without_head_ends_with_its_norm_and_drops_the_prefix),
        SL_CASE(layers_are_embedding_full_blocks_windowed_blocks_head),
        SL_CASE(a_window_over_all_blocks_or_none_needs_one_kind),
        SL_CASE(torch_weights_cut_columns_on_axis_0_and_rows_on_axis_1),
        SL_CASE(conv1d_weights_cut_columns_on_axis_1_and_rows_on_axis_0),
        SL_CASE(operators_follow_the_forward_pass),
        SL_CASE(products_of_a_block_use_each_matrix_once),
        SL_CASE(only_the_attention_output_shares_its_input),
        SL_CASE(keys_and_values_take_two_widths_of_the_kv_heads),
        SL_CASE(sizes_past_the_bounds_are_refused_and_leave_the_model_alone),
        SL_CASE(the_largest_description_still_counts_in_64_bits),
        SL_CASE(a_product_past_64_bits_is_an_error),
        SL_CASE(weights_weigh_the_checkpoint_unless_the_quantised_size_is_known),
    };
    return sl_run_cases(argc, argv, "model", cases, sizeof cases / sizeof cases[0]);
}
