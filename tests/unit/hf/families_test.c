#include "harness.h"

#include <stdio.h>
#include <string.h>

#include "engine_fixture.h"
#include "hf/table.h"
#include "hf/wrapper.h"
#include "reading.h"

/* A config that says nothing but its type, and what a few classes cannot do without. */
static sl_reading
read_type(const char *type)
{
    static const char *const needs[][2] = {
        {"glm4_moe", ",\"head_dim\":128"},
        {"nemotron-nas", ",\"num_hidden_layers\":2,\"block_configs\":["
                         "{\"attention\":{},\"ffn\":{\"ffn_mult\":2.0}},"
                         "{\"attention\":{\"no_op\":true},\"ffn\":{\"ffn_mult\":1.0}}]"},
    };
    const char *more = "";
    for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++)
        more = strcmp(type, needs[i][0]) == 0 ? needs[i][1] : more;
    return read_type_with(type, more);
}

static sl_question
question_of(const sl_model *model, const sl_cluster *cluster, const sl_software *software)
{
    sl_question q = sl_fixture_question(model, cluster, software);
    q.workload.sequence_length = 512;
    return q;
}

/* Elements of the matrices a token is multiplied with in one layer. */
static uint64_t
multiplied_elements(const sl_layer_kind *kind)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < kind->tensor_count; i++) {
        const sl_tensor *tensor = &kind->tensors[i];
        uint64_t elements = 0;
        CU_ASSERT_EQUAL(sl_tensor_elements(tensor, &elements), SL_OK);
        /* A stack of experts' biases is as much of a matrix as the weights are. */
        if (tensor->axes >= 2 && tensor->component != SL_COMPONENT_EMBEDDING &&
            strstr(tensor->name, "bias") == NULL)
            sum += elements;
    }
    return sum;
}

static void
every_matrix_of_a_priced_type_is_multiplied_once(void)
{
    uint32_t priced = 0;

    for (size_t i = 0; sl_hf_type_name(i) != NULL; i++) {
        sl_reading result = read_type(sl_hf_type_name(i));
        priced += result.model->unpriced == NULL;
        for (uint32_t k = 0; result.model->unpriced == NULL && k < result.model->kind_count; k++) {
            const sl_layer_kind *kind = &result.model->kinds[k];
            uint64_t sum = 0;
            for (uint32_t n = 0; n < kind->operator_count; n++) {
                const sl_operator *op = &kind->operators[n];
                if (op->kind == SL_OPERATOR_MATMUL)
                    sum += op->inputs * op->outputs * (op->experts > 0 ? op->experts : 1);
            }
            if (sum != multiplied_elements(kind))
                sl_fail_for(sl_hf_type_name(i));
        }
        clear_reading(&result);
    }
    printf("types priced: %u\n", priced);
    CU_ASSERT_TRUE(priced > 0);
}

static uint32_t
count_operators(const sl_layer_kind *kind, sl_operator_kind what)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < kind->operator_count; i++)
        count += kind->operators[i].kind == what;
    return count;
}

/* False when no plan of this cut is legal for the model. */
static bool
estimate_with(const sl_model *model, uint32_t tensor, uint32_t pipeline, const char *type)
{
    const sl_cluster cluster = sl_fixture_cluster(1);
    const sl_software software = sl_fixture_software();
    sl_question q = question_of(model, &cluster, &software);
    sl_errors err = {0};

    q.plan.tensor = tensor;
    q.plan.sequence = tensor > 1;
    q.plan.expert_tensor = 1; /* experts of DeepSeek-V2 are 1,407 wide */
    q.plan.pipeline = pipeline;
    q.plan.data = 8 / tensor / pipeline;
    if (sl_question_check(&q, &err) != SL_OK)
        return false;
    const sl_estimate *e = sl_fixture_answer(&q);
    if (!(e->time.step_s > 0.0) || !(e->throughput.mfu_full > 0.0) ||
        !(e->throughput.mfu_full < 1.0) || e->memory.rank_count == 0)
        sl_fail_for(type);
    return true;
}

static void
every_priced_type_gets_an_estimate_whole_and_cut(void)
{
    for (size_t i = 0; sl_hf_type_name(i) != NULL; i++) {
        sl_reading result = read_type(sl_hf_type_name(i));
        const bool odd_heads = result.model->heads % 2 != 0; /* Falcon-7B has 71 */
        if (result.model->unpriced == NULL) {
            if (!estimate_with(result.model, 1, 1, sl_hf_type_name(i)) ||
                !estimate_with(result.model, 1, 2, sl_hf_type_name(i)) ||
                estimate_with(result.model, 2, 2, sl_hf_type_name(i)) == odd_heads)
                sl_fail_for(sl_hf_type_name(i));
        }
        clear_reading(&result);
    }
}

static void
expect_listed(const char *families, const char *name)
{
    const size_t length = strlen(name);
    const char *at = strstr(families, name);

    while (at != NULL && (strchr(" \n", at[-1]) == NULL || strchr(",.", at[length]) == NULL))
        at = strstr(at + 1, name);
    if (at == NULL)
        sl_fail_for(name);
}

static void
the_readme_lists_every_type(void)
{
    size_t size = 0;
    char *text = sl_read_file(sl_tests_path("../server/hf/README.md"), &size);
    const char *families = text == NULL ? NULL : strstr(text, "## Types");
    CU_ASSERT_PTR_NOT_NULL(families);
    if (families != NULL) {
        for (size_t i = 0; sl_hf_type_name(i) != NULL; i++)
            expect_listed(families, sl_hf_type_name(i));
        for (size_t i = 0; sl_hf_recipe_name(i) != NULL; i++)
            expect_listed(families, sl_hf_recipe_name(i));
        for (size_t i = 0; sl_hf_wrapper_name(i) != NULL; i++)
            expect_listed(families, sl_hf_wrapper_name(i));
    }
    free(text);
}

/* Lists of blocks without experts mean nothing to classes that have no such blocks. */
static void
lists_of_other_classes_leave_every_type_describable(void)
{
    for (size_t i = 0; sl_hf_type_name(i) != NULL; i++) {
        sl_reading result =
            read_type_with(sl_hf_type_name(i), ",\"head_dim\":64,\"num_hidden_layers\":2,"
                                               "\"mlp_only_layers\":[1],\"moe_layers\":[0],"
                                               "\"mlp_layer_types\":[\"dense\",\"sparse\"],"
                                               "\"block_configs\":[{\"attention\":{},\"ffn\":"
                                               "{\"ffn_mult\":2.0}},{\"attention\":{},\"ffn\":"
                                               "{\"ffn_mult\":1.0}}]");
        clear_reading(&result);
    }
}

static void
what_is_not_priced_is_refused_by_name_and_still_counted(void)
{
    const sl_cluster cluster = sl_fixture_cluster(1);
    const sl_software software = sl_fixture_software();
    uint32_t refused = 0;

    for (size_t i = 0; sl_hf_type_name(i) != NULL; i++) {
        sl_reading result = read_type(sl_hf_type_name(i));
        sl_model_counts counts;
        CU_ASSERT_EQUAL(sl_model_count(result.model, &counts), SL_OK);
        CU_ASSERT_TRUE(counts.active_per_token <= counts.total);
        if (result.model->unpriced != NULL) {
            const sl_question q = question_of(result.model, &cluster, &software);
            sl_errors err = {0};
            CU_ASSERT_EQUAL(sl_question_check(&q, &err), SL_E_UNSUPPORTED);
            CU_ASSERT_EQUAL_FATAL(err.count, 1);
            sl_expect_text(err.list[0].rule, "not_modelled", "rule");
            sl_expect_text(err.list[0].pointer, "/model", "pointer");
            CU_ASSERT_PTR_NOT_NULL(strstr(err.list[0].message, result.model->unpriced));
            refused++;
        }
        clear_reading(&result);
    }
    printf("types refused: %u\n", refused);
    CU_ASSERT_TRUE(refused > 0);
}

static void
learned_positions_end_where_their_table_does(void)
{
    static const struct {
        const char *type;
        uint64_t positions; /* 0 = no table */
    } cases[] = {{"opt", 2048}, {"gpt_bigcode", 1024}, {"gpt2", 1024}, {"bloom", 0}, {"mpt", 0}};
    const sl_cluster cluster = sl_fixture_cluster(1);
    const sl_software software = sl_fixture_software();

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sl_reading result = read_type(cases[i].type);
        sl_question q = question_of(result.model, &cluster, &software);
        sl_errors err = {0};

        q.workload.sequence_length = cases[i].positions == 0 ? 65536 : cases[i].positions;
        CU_ASSERT_EQUAL(sl_question_check(&q, &err), SL_OK);
        q.workload.sequence_length = cases[i].positions + 1;
        if (cases[i].positions != 0) {
            CU_ASSERT_EQUAL(sl_question_check(&q, &err), SL_E_RANGE);
            sl_expect_text(err.list[0].pointer, "/workload/sequence_length", "pointer");
        }
        clear_reading(&result);
    }
}

typedef struct form_case {
    const char *fixture;
    const char *operators; /* of the first block, in order */
} form_case;

static void
blocks_list_their_operators_in_the_order_of_their_form(void)
{
    static const form_case cases[] = {
        {"gemma2_tiny", "input_norm qkv rotary attention attention_output attention_norm "
                        "attention_residual mlp_norm mlp_up activation mlp_down output_norm "
                        "mlp_residual "},
        {"olmo2_tiny", "qkv qk_norm rotary attention attention_output attention_norm "
                       "attention_residual mlp_up activation mlp_down output_norm mlp_residual "},
        {"opt_narrow", "qkv attention attention_output attention_residual attention_norm mlp_up "
                       "activation mlp_down mlp_residual output_norm "},
        {"gptj_tiny", "input_norm qkv rotary attention attention_output mlp_up activation mlp_down "
                      "attention_residual mlp_residual "},
        {"falcon_grouped", "input_norm qkv rotary attention attention_output mlp_norm mlp_up "
                           "activation mlp_down attention_residual mlp_residual "},
        {"falcon_serial", "input_norm qkv attention attention_output attention_residual mlp_norm "
                          "mlp_up activation mlp_down mlp_residual "},
        {"bloom_tiny", "input_norm qkv attention attention_output attention_residual mlp_norm "
                       "mlp_up activation mlp_down mlp_residual "},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sl_reading result = read_fixture(cases[i].fixture);
        char listed[400] = "";
        CU_ASSERT_EQUAL_FATAL(result.code, SL_OK);
        const sl_layer_kind *block = &result.model->kinds[1];
        for (uint32_t n = 0; n < block->operator_count; n++) {
            const size_t length = strlen(listed);
            CU_ASSERT_TRUE_FATAL(sl_text_format(listed + length, sizeof listed - length, "%s ",
                                                block->operators[n].name));
        }
        sl_expect_text(listed, cases[i].operators, cases[i].fixture);
        clear_reading(&result);
    }
}

static void
blocks_of_their_own_shapes_are_kinds_of_their_own(void)
{
    static const uint8_t layers[] = {0, 1, 2, 3, 1, 4};
    sl_reading result = read_fixture("nemotron_nas_blocks");

    CU_ASSERT_EQUAL_FATAL(result.code, SL_OK);
    CU_ASSERT_EQUAL_FATAL(result.model->layer_count, 6);
    CU_ASSERT_EQUAL(memcmp(result.model->layers, layers, sizeof layers), 0);
    sl_expect_text(result.model->kinds[1].name, "dense", "first shape");
    sl_expect_text(result.model->kinds[2].name, "dense_2", "second shape");
    CU_ASSERT_EQUAL(count_operators(&result.model->kinds[2], SL_OPERATOR_ATTENTION), 0);
    CU_ASSERT_EQUAL(count_operators(&result.model->kinds[3], SL_OPERATOR_ACTIVATION), 0);
    CU_ASSERT_EQUAL(result.model->kinds[2].cache.per_token, 0);
    CU_ASSERT_EQUAL(result.model->ffn, 512);
    CU_ASSERT_EQUAL(result.model->kv_heads, 2);
    clear_reading(&result);
}

/* RMSNorm; LayerNorm with bias, with weight alone, with neither; of a recipe; of heads. */
static void
layer_norms_are_told_from_others(void)
{
    static const struct {
        const char *fixture;
        bool centred;
    } cases[] = {{"llama_tiny", false}, {"opt_tiny", true},       {"mpt_tiny", true},
                 {"olmo_tiny", true},   {"bert_tiny", true},      {"gemma3_tiny", false},
                 {"jamba_tiny", false}, {"cohere_qk_norm", true}, {"dbrx_tiny", true}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sl_reading result = read_fixture(cases[i].fixture);
        CU_ASSERT_EQUAL_FATAL(result.code, SL_OK);
        const sl_layer_kind *block = &result.model->kinds[1];
        CU_ASSERT_TRUE(count_operators(block, SL_OPERATOR_NORM) > 0);
        for (uint32_t n = 0; n < block->operator_count; n++)
            if (block->operators[n].kind == SL_OPERATOR_NORM)
                CU_ASSERT_EQUAL(block->operators[n].centred, cases[i].centred);
        clear_reading(&result);
    }
}

static void
falcon_with_one_norm_calls_it_as_the_small_ones_do(void)
{
    static const char text[] = "{\"model_type\":\"falcon\",\"new_decoder_architecture\":true,"
                               "\"num_kv_heads\":1,\"num_ln_in_parallel_attn\":1}";
    sl_reading result = read_text(text, strlen(text));

    CU_ASSERT_EQUAL_FATAL(result.code, SL_OK);
    sl_expect_text(result.model->kinds[1].tensors[0].name, "input_layernorm.weight", "norm");
    CU_ASSERT_EQUAL(count_operators(&result.model->kinds[1], SL_OPERATOR_NORM), 1);
    clear_reading(&result);
}

static void
the_narrowest_mlp_must_divide_too(void)
{
    const sl_cluster cluster = sl_fixture_cluster(1);
    const sl_software software = sl_fixture_software();
    sl_dense_spec spec = sl_fixture_llama();
    sl_errors err = {0};

    spec.shape_count = 2;
    spec.shapes[0] = (sl_block_shape){.ffn = 8192, .kv_heads = 8};
    spec.shapes[1] = (sl_block_shape){.ffn = 6, .kv_heads = 8};
    spec.shape_of[3] = 1;
    sl_question q = question_of(sl_fixture_model(&spec), &cluster, &software);
    q.plan.tensor = 4;
    q.plan.data = 2;
    CU_ASSERT_EQUAL(sl_question_check(&q, &err), SL_E_RANGE);
    sl_expect_text(err.list[0].rule, "not_divisible", "rule");
    CU_ASSERT_PTR_NOT_NULL(strstr(err.list[0].message, "the 6 feed-forward width"));
}

/* True when the up projection keeps no input of its own. */
static bool
shares_up(const char *fixture)
{
    sl_reading result = read_fixture(fixture);
    bool shares = false;

    CU_ASSERT_EQUAL_FATAL(result.code, SL_OK);
    for (uint32_t i = 0; i < result.model->kinds[1].operator_count; i++) {
        const sl_operator *op = &result.model->kinds[1].operators[i];
        if (strcmp(op->name, "mlp_up") == 0)
            shares = op->shares_input;
    }
    clear_reading(&result);
    return shares;
}

static void
parallel_halves_behind_one_norm_keep_its_output_once(void)
{
    CU_ASSERT_TRUE(shares_up("gptj_tiny"));
    CU_ASSERT_TRUE(shares_up("phi_tiny"));
    CU_ASSERT_TRUE(shares_up("falcon_one_key_head"));
    CU_ASSERT_FALSE(shares_up("falcon_grouped"));
    CU_ASSERT_FALSE(shares_up("gpt_neox_serial"));
}

static void
a_narrow_token_table_is_projected_to_the_hidden_size_and_back(void)
{
    sl_reading result = read_fixture("opt_narrow");
    CU_ASSERT_EQUAL_FATAL(result.code, SL_OK);
    const sl_model *model = result.model;
    const sl_layer_kind *head = &model->kinds[model->kind_count - 1];

    sl_expect_text(model->kinds[0].tensors[2].name, "model.decoder.project_in.weight", "in");
    sl_expect_text(head->tensors[0].name, "model.decoder.project_out.weight", "out");
    CU_ASSERT_EQUAL(count_operators(&model->kinds[0], SL_OPERATOR_MATMUL), 1);
    CU_ASSERT_EQUAL(count_operators(head, SL_OPERATOR_MATMUL), 2);
    CU_ASSERT_EQUAL(count_operators(head, SL_OPERATOR_NORM), 0);
    CU_ASSERT_EQUAL(model->position_limit, 64);
    clear_reading(&result);
}

typedef struct named_tensor {
    const char *fixture;
    const char *name;
    uint64_t shape[3];
    uint32_t kind;
    uint32_t experts;
} named_tensor;

static void
tensors_have_the_names_and_shapes_of_the_checkpoint(void)
{
    static const named_tensor cases[] = {
        {"bloom_tiny", "transformer.word_embeddings_layernorm.bias", {32}, 0, 0},
        {"gpt_neox_serial", "attention.query_key_value.weight", {96, 32}, 1, 0},
        {"phi_msft_tiny", "lm_head.ln.weight", {32}, 2, 0},
        {"phi3_tiny", "mlp.gate_up_proj.weight", {160, 32}, 1, 0},
        {"falcon_grouped", "ln_attn.weight", {32}, 1, 0},
        {"cohere_qk_norm", "self_attn.k_norm.weight", {2, 8}, 1, 0},
        {"mixtral_tiny", "block_sparse_moe.experts.{}.w2.weight", {32, 80}, 1, 4},
        {"qwen2_moe_mixed", "mlp.shared_expert_gate.weight", {1, 32}, 2, 0},
        {"gpt_oss_tiny", "mlp.experts.gate_up_proj", {4, 32, 160}, 1, 0},
        {"gpt_oss_tiny", "self_attn.sinks", {4}, 1, 0},
        {"granitemoe_tiny", "block_sparse_moe.input_linear.weight", {4, 160, 32}, 1, 0},
        {"dbrx_tiny", "ffn.experts.mlp.w2", {160, 32}, 1, 0},
        {"deepseek_v3_tiny", "self_attn.kv_a_proj_with_mqa.weight", {20, 32}, 1, 0},
        {"deepseek_v2_no_query_rank", "self_attn.q_proj.weight", {48, 32}, 1, 0},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sl_reading result = read_fixture(cases[i].fixture);
        bool found = false;
        CU_ASSERT_EQUAL_FATAL(result.code, SL_OK);
        const sl_layer_kind *kind = &result.model->kinds[cases[i].kind];
        for (uint32_t n = 0; n < kind->tensor_count; n++) {
            const sl_tensor *tensor = &kind->tensors[n];
            if (strcmp(tensor->name, cases[i].name) != 0)
                continue;
            found = tensor->experts == cases[i].experts;
            for (uint32_t axis = 0; axis < tensor->axes; axis++)
                found = found && tensor->shape[axis] == cases[i].shape[axis];
        }
        if (!found)
            sl_fail_for(cases[i].name);
        clear_reading(&result);
    }
}

typedef struct cut_tensor {
    const char *fixture;
    const char *name; /* in the last kind of blocks */
    sl_cut cut;
    uint32_t axis;
} cut_tensor;

static void
tensors_are_cut_where_the_parallel_layers_cut_them(void)
{
    static const cut_tensor cases[] = {
        {"phi3_tiny", "self_attn.qkv_proj.weight", SL_CUT_COLUMN, 0},
        {"phi3_tiny", "mlp.gate_up_proj.weight", SL_CUT_COLUMN, 0},
        {"phi3_tiny", "mlp.down_proj.weight", SL_CUT_ROW, 1},
        {"opt_tiny", "fc1.bias", SL_CUT_COLUMN, 0},
        {"opt_tiny", "fc2.bias", SL_CUT_REPLICATED, 0},
        {"cohere_qk_norm", "self_attn.q_norm.weight", SL_CUT_COLUMN, 0},
        {"gemma3_pattern", "self_attn.q_norm.weight", SL_CUT_REPLICATED, 0},
        {"mixtral_tiny", "block_sparse_moe.gate.weight", SL_CUT_REPLICATED, 0},
        {"mixtral_tiny", "block_sparse_moe.experts.{}.w1.weight", SL_CUT_COLUMN, 0},
        {"mixtral_tiny", "block_sparse_moe.experts.{}.w2.weight", SL_CUT_ROW, 1},
        {"gpt_oss_tiny", "mlp.experts.gate_up_proj", SL_CUT_COLUMN, 2},
        {"gpt_oss_tiny", "mlp.experts.gate_up_proj_bias", SL_CUT_COLUMN, 1},
        {"gpt_oss_tiny", "mlp.experts.down_proj", SL_CUT_ROW, 1},
        {"gpt_oss_tiny", "mlp.experts.down_proj_bias", SL_CUT_REPLICATED, 0},
        {"granitemoe_tiny", "block_sparse_moe.input_linear.weight", SL_CUT_COLUMN, 1},
        {"granitemoe_tiny", "block_sparse_moe.output_linear.weight", SL_CUT_ROW, 2},
        {"dbrx_tiny", "ffn.experts.mlp.w2", SL_CUT_ROW, 0},
        {"deepseek_v3_tiny", "self_attn.kv_a_proj_with_mqa.weight", SL_CUT_REPLICATED, 0},
        {"deepseek_v3_tiny", "self_attn.kv_b_proj.weight", SL_CUT_COLUMN, 0},
        {"deepseek_v3_tiny", "self_attn.o_proj.weight", SL_CUT_ROW, 1},
        {"deepseek_v3_tiny", "mlp.shared_experts.down_proj.weight", SL_CUT_ROW, 1},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sl_reading result = read_fixture(cases[i].fixture);
        bool found = false;
        CU_ASSERT_EQUAL_FATAL(result.code, SL_OK);
        const sl_layer_kind *kind = &result.model->kinds[result.model->kind_count - 2];
        for (uint32_t n = 0; n < kind->tensor_count; n++) {
            const sl_tensor *tensor = &kind->tensors[n];
            if (strcmp(tensor->name, cases[i].name) == 0)
                found = tensor->cut == cases[i].cut && tensor->cut_axis == cases[i].axis;
        }
        if (!found)
            sl_fail_for(cases[i].name);
        clear_reading(&result);
    }
}

static void
every_cut_lies_on_an_axis_of_its_tensor(void)
{
    for (size_t i = 0; sl_hf_type_name(i) != NULL; i++) {
        sl_reading result = read_type(sl_hf_type_name(i));
        for (uint32_t k = 0; k < result.model->kind_count; k++) {
            for (uint32_t n = 0; n < result.model->kinds[k].tensor_count; n++) {
                const sl_tensor *tensor = &result.model->kinds[k].tensors[n];
                const bool whole = tensor->cut == SL_CUT_REPLICATED && tensor->cut_axis != 0;
                if (tensor->cut_axis >= tensor->axes || whole)
                    sl_fail_for(tensor->name);
            }
        }
        clear_reading(&result);
    }
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(every_matrix_of_a_priced_type_is_multiplied_once),
        SL_CASE(every_priced_type_gets_an_estimate_whole_and_cut),
        SL_CASE(lists_of_other_classes_leave_every_type_describable),
        SL_CASE(the_readme_lists_every_type),
        SL_CASE(what_is_not_priced_is_refused_by_name_and_still_counted),
        SL_CASE(learned_positions_end_where_their_table_does),
        SL_CASE(blocks_list_their_operators_in_the_order_of_their_form),
        SL_CASE(blocks_of_their_own_shapes_are_kinds_of_their_own),
        SL_CASE(layer_norms_are_told_from_others),
        SL_CASE(falcon_with_one_norm_calls_it_as_the_small_ones_do),
        SL_CASE(the_narrowest_mlp_must_divide_too),
        SL_CASE(parallel_halves_behind_one_norm_keep_its_output_once),
        SL_CASE(a_narrow_token_table_is_projected_to_the_hidden_size_and_back),
        SL_CASE(tensors_have_the_names_and_shapes_of_the_checkpoint),
        SL_CASE(tensors_are_cut_where_the_parallel_layers_cut_them),
        SL_CASE(every_cut_lies_on_an_axis_of_its_tensor),
    };
    return sl_run_cases(argc, argv, "families", cases, sizeof cases / sizeof cases[0]);
}
