#include "harness.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "golden.h"
#include "hf/table.h"
#include "reading.h"

static bool
warns(const sl_reading *result, const char *rule)
{
    for (uint32_t i = 0; i < result->warnings.count; i++) {
        if (strcmp(result->warnings.list[i].rule, rule) == 0)
            return true;
    }
    return false;
}

static uint64_t
full_kv_bytes(const sl_model *model)
{
    uint64_t bytes = 0;
    for (uint32_t kind = 0; kind < model->kind_count; kind++) {
        if (model->kinds[kind].cache.window == 0)
            bytes += 2 * model->kinds[kind].cache.per_token * sl_model_layers_of(model, kind);
    }
    return bytes;
}

static void
compare_with_golden(const sl_csv *csv)
{
    const char *name = sl_csv_get(csv, "fixture");
    sl_reading result = read_fixture(name);
    sl_model_counts counts = {0};

    if (result.code != SL_OK)
        printf("%s: %s\n", name, result.err.list[0].message);
    CU_ASSERT_EQUAL_FATAL(result.code, SL_OK);
    CU_ASSERT_EQUAL_FATAL(sl_model_count(result.model, &counts), SL_OK);
    (void)expect_count(name, "total", counts.total, golden_number(csv, "total"));
    (void)expect_count(name, "active", counts.active_per_token, golden_number(csv, "active"));
    for (int i = 0; i < SL_COMPONENT_COUNT; i++) {
        const char *component = sl_component_text((sl_component)i);
        const bool listed = sl_csv_get(csv, component)[0] != '\0';
        (void)expect_count(name, component, counts.component[i],
                           listed ? golden_number(csv, component) : 0);
    }
    (void)expect_count(name, "weights_bytes", sl_model_weights_bytes(result.model, &counts),
                       golden_number(csv, "weights_bytes"));
    (void)expect_count(name, "kv_bytes_per_token", full_kv_bytes(result.model),
                       golden_number(csv, "kv_bytes_per_token"));
    clear_reading(&result);
}

static void
every_fixture_has_the_hand_counted_parameters_and_bytes(void)
{
    CU_ASSERT_EQUAL(read_golden("golden/param_counts.csv", compare_with_golden), 61);
}

typedef struct bad_input {
    const char *text;
    sl_code code;
    const char *rule;
    const char *pointer;
} bad_input;

static void
expect_bad(const bad_input *bad)
{
    sl_reading result = read_text(bad->text, strlen(bad->text));

    const sl_error *error = &result.err.list[0];
    if (result.code != bad->code || result.err.count != 1 || strcmp(error->rule, bad->rule) != 0 ||
        strcmp(error->pointer, bad->pointer) != 0) {
        printf("%s\n  gave code %d, %u errors, first %s at \"%s\": %s\n", bad->text,
               (int)result.code, result.err.count, result.err.count > 0 ? error->rule : "none",
               error->pointer, error->message);
        CU_FAIL("another error than expected");
    }
    CU_ASSERT_EQUAL(result.model->kind_count, 0);
    CU_ASSERT_EQUAL(result.model->layer_count, 0);
    clear_reading(&result);
}

static void
each_bad_value_is_named_at_its_pointer(void)
{
    static const bad_input cases[] = {
        {"[]", SL_E_RANGE, "wrong_type", ""},
        {"{}", SL_E_RANGE, "required_field", "/model_type"},
        {"{\"model_type\":7}", SL_E_RANGE, "wrong_type", "/model_type"},
        {"{\"model_type\":\"made_up\"}", SL_E_UNSUPPORTED, "unsupported_architecture",
         "/model_type"},
        {"{\"model_type\":\"llava\"}", SL_E_RANGE, "required_field", "/text_config"},
        {"{\"model_type\":\"bert\",\"architectures\":[\"BertForMadeUp\"]}", SL_E_UNSUPPORTED,
         "unsupported_architecture", "/architectures/0"},
        {"{\"model_type\":\"nemotron_h\",\"num_hidden_layers\":3,"
         "\"hybrid_override_pattern\":\"M-\"}",
         SL_E_RANGE, "length_mismatch", "/hybrid_override_pattern"},
        {"{\"model_type\":\"nemotron_h\",\"num_hidden_layers\":2,"
         "\"hybrid_override_pattern\":\"M?\"}",
         SL_E_UNSUPPORTED, "unsupported_layer_types", "/hybrid_override_pattern"},
        {"{\"model_type\":\"qwen3_next\",\"num_hidden_layers\":1,"
         "\"layer_types\":[\"made_up\"]}",
         SL_E_UNSUPPORTED, "unsupported_option", "/layer_types/0"},
        {"{\"model_type\":\"qwen3_next\",\"num_hidden_layers\":1,\"layer_types\":7}", SL_E_RANGE,
         "wrong_type", "/layer_types"},
        {"{\"model_type\":\"qwen3_next\",\"hidden_size\":-1}", SL_E_RANGE, "out_of_range",
         "/hidden_size"},
        {"{\"model_type\":\"qwen3_next\",\"hidden_size\":\"wide\"}", SL_E_RANGE, "wrong_type",
         "/hidden_size"},
        {"{\"model_type\":\"qwen3_next\",\"hidden_size\":0}", SL_E_RANGE, "out_of_range",
         "/hidden_size"},
        {"{\"model_type\":\"qwen3_5_text\",\"num_hidden_layers\":0,\"mtp_num_hidden_layers\":1}",
         SL_E_RANGE, "out_of_range", ""},
        {"{\"model_type\":\"qwen3_next\",\"num_hidden_layers\":4000}", SL_E_RANGE, "out_of_range",
         "/num_hidden_layers"},
        {"{\"model_type\":\"qwen3_next\",\"num_hidden_layers\":2047}", SL_E_RANGE, "out_of_range",
         ""},
        {"{\"model_type\":\"qwen3_next\",\"num_experts\":2,\"num_experts_per_tok\":3}", SL_E_RANGE,
         "out_of_range", "/num_experts_per_tok"},
        {"{\"model_type\":\"qwen3_next\",\"hidden_size\":1,\"moe_intermediate_size\":1,"
         "\"num_experts\":8589934592,\"num_hidden_layers\":4}",
         SL_E_RANGE, "out_of_range", "/num_experts"},
        {"{\"model_type\":\"qwen3_next\",\"num_hidden_layers\":4,\"mlp_only_layers\":[99]}",
         SL_E_RANGE, "out_of_range", "/mlp_only_layers"},
        {"{\"model_type\":\"qwen3_next\",\"num_hidden_layers\":4,\"mlp_only_layers\":[9999]}",
         SL_E_RANGE, "out_of_range", "/mlp_only_layers/0"},
        {"{\"model_type\":\"jamba\",\"num_attention_heads\":33}", SL_E_RANGE, "not_divisible",
         "/num_attention_heads"},
        {"{\"model_type\":\"jamba\",\"num_key_value_heads\":5}", SL_E_RANGE, "not_divisible",
         "/num_key_value_heads"},
        {"{\"model_type\":\"kimi_linear\",\"attn_res_block_size\":12,\"mla_use_output_gate\":"
         "false}",
         SL_E_UNSUPPORTED, "unsupported_option", "/attn_res_block_size"},
        {"{\"model_type\":\"bert\",\"add_cross_attention\":true}", SL_E_UNSUPPORTED,
         "unsupported_option", "/add_cross_attention"},
        {"{\"model_type\":\"smollm3\",\"use_sliding_window\":true}", SL_E_UNSUPPORTED,
         "unsupported_option", "/use_sliding_window"},
        {"{\"model_type\":\"mamba2\",\"num_heads\":3}", SL_E_RANGE, "inconsistent_keys", ""},
        {"{\"d_model\":8,\"n_layer\":2,\"ssm_cfg\":{}}", SL_E_UNSUPPORTED,
         "unsupported_architecture", "/ssm_cfg"},
        {"{\"model_type\":\"llava\",\"text_config\":{},\"vision_config\":5}", SL_E_RANGE,
         "wrong_type", "/vision_config"},
        {"{\"model_type\":\"gemma3\",\"text_config\":{},\"vision_config\":{\"model_type\":"
         "\"pixtral\"}}",
         SL_E_UNSUPPORTED, "unsupported_option", "/vision_config/model_type"},
        {"{\"model_type\":\"llava\",\"text_config\":{\"model_type\":\"vit\"}}", SL_E_UNSUPPORTED,
         "unsupported_architecture", "/text_config/model_type"},
        {"{\"model_type\":\"llama\",\"num_experts\":8}", SL_E_RANGE, "renamed_key", "/num_experts"},
        {"{\"model_type\":\"qwen3_moe\",\"n_routed_experts\":8}", SL_E_RANGE, "renamed_key",
         "/n_routed_experts"},
        {"{\"model_type\":\"glm_moe_dsa\",\"num_hidden_layers\":2,\"indexer_types\":[\"full\"]}",
         SL_E_RANGE, "length_mismatch", "/indexer_types"},
        {"{\"model_type\":\"glm_moe_dsa\",\"num_hidden_layers\":1,\"indexer_types\":[\"half\"]}",
         SL_E_UNSUPPORTED, "unsupported_layer_types", "/indexer_types/0"},
        {"{\"model_type\":\"glm_moe_dsa\",\"index_topk_pattern\":\"FS\"}", SL_E_UNSUPPORTED,
         "unsupported_option", "/index_topk_pattern"},
        {"{\"model_type\":\"gpt_made_up\"}", SL_E_UNSUPPORTED, "unsupported_architecture",
         "/model_type"},
        {"{\"model_type\":\"llava\",\"text_config\":{\"model_type\":\"made_up\"}}",
         SL_E_UNSUPPORTED, "unsupported_architecture", "/text_config/model_type"},
        {"{\"model_type\":\"llama\",\"hidden_size\":-64}", SL_E_RANGE, "out_of_range",
         "/hidden_size"},
        {"{\"model_type\":\"llama\",\"hidden_size\":0}", SL_E_RANGE, "out_of_range",
         "/hidden_size"},
        {"{\"model_type\":\"llama\",\"hidden_size\":64.5}", SL_E_RANGE, "wrong_type",
         "/hidden_size"},
        {"{\"model_type\":\"llama\",\"hidden_size\":\"64\"}", SL_E_RANGE, "wrong_type",
         "/hidden_size"},
        {"{\"model_type\":\"llama\",\"vocab_size\":99999999999}", SL_E_RANGE, "out_of_range",
         "/vocab_size"},
        {"{\"model_type\":\"llama\",\"num_hidden_layers\":2001}", SL_E_RANGE, "out_of_range",
         "/num_hidden_layers"},
        {"{\"model_type\":\"llama\",\"hidden_size\":100}", SL_E_RANGE, "not_divisible",
         "/num_attention_heads"},
        {"{\"model_type\":\"llama\",\"num_key_value_heads\":5}", SL_E_RANGE, "not_divisible",
         "/num_key_value_heads"},
        {"{\"model_type\":\"llama\",\"num_key_value_heads\":64}", SL_E_RANGE, "not_divisible",
         "/num_key_value_heads"},
        {"{\"model_type\":\"gpt2\",\"n_head\":7}", SL_E_RANGE, "not_divisible", "/n_head"},
        {"{\"model_type\":\"qwen3\",\"head_dim\":65536,\"num_attention_heads\":32768,"
         "\"num_key_value_heads\":32768}",
         SL_E_RANGE, "out_of_range", "/num_attention_heads"},
        {"{\"model_type\":\"gpt2\",\"n_embd\":768,\"hidden_size\":1536}", SL_E_RANGE,
         "conflicting_keys", "/hidden_size"},
        {"{\"model_type\":\"gpt2\",\"add_cross_attention\":true}", SL_E_UNSUPPORTED,
         "unsupported_option", "/add_cross_attention"},
        {"{\"model_type\":\"llama\",\"tie_word_embeddings\":\"yes\"}", SL_E_RANGE, "wrong_type",
         "/tie_word_embeddings"},
        {"{\"model_type\":\"llama\",\"attention_bias\":1}", SL_E_RANGE, "wrong_type",
         "/attention_bias"},
        {"{\"model_type\":\"llama\",\"torch_dtype\":\"int7\"}", SL_E_RANGE, "unknown_value",
         "/torch_dtype"},
        {"{\"model_type\":\"llama\",\"architectures\":\"LlamaForCausalLM\"}", SL_E_RANGE,
         "wrong_type", "/architectures"},
        {"{\"model_type\":\"llama\",\"architectures\":[3]}", SL_E_RANGE, "wrong_type",
         "/architectures/0"},
        {"{\"model_type\":\"llama\",\"architectures\":[\"LlamaForSequenceClassification\"]}",
         SL_E_UNSUPPORTED, "unsupported_architecture", "/architectures/0"},
        {"{\"model_type\":\"mistral\",\"sliding_window\":0}", SL_E_RANGE, "out_of_range",
         "/sliding_window"},
        {"{\"model_type\":\"qwen2\",\"use_sliding_window\":true,\"layer_types\":[\"full_"
         "attention\"]}",
         SL_E_RANGE, "length_mismatch", "/layer_types"},
        {"{\"model_type\":\"qwen2\",\"use_sliding_window\":true,\"num_hidden_layers\":2,"
         "\"layer_types\":[\"sliding_attention\",\"linear_attention\"]}",
         SL_E_UNSUPPORTED, "unsupported_layer_types", "/layer_types/1"},
        {"{\"model_type\":\"chatglm\",\"inner_hidden_size\":16384}", SL_E_UNSUPPORTED,
         "unsupported_option", "/inner_hidden_size"},
        {"{\"model_type\":\"qwen\",\"visual\":{\"width\":1664}}", SL_E_UNSUPPORTED,
         "unsupported_option", "/visual"},
        {"{\"model_type\":\"exaone4\",\"sliding_window_pattern\":\"LGLG\"}", SL_E_RANGE,
         "unknown_value", "/sliding_window_pattern"},
        {"{\"model_type\":\"nemotron-nas\"}", SL_E_RANGE, "required_field", "/block_configs"},
        {"{\"model_type\":\"nemotron-nas\",\"block_configs\":[]}", SL_E_RANGE, "length_mismatch",
         "/block_configs"},
        {"{\"model_type\":\"nemotron-nas\",\"num_hidden_layers\":1,\"block_configs\":[{"
         "\"attention\":{\"n_heads_in_group\":5},\"ffn\":{}}]}",
         SL_E_RANGE, "not_divisible", "/block_configs/0/attention/n_heads_in_group"},
        {"{\"model_type\":\"nemotron-nas\",\"num_hidden_layers\":1,\"block_configs\":[{"
         "\"attention\":{\"replace_with_linear\":true},\"ffn\":{}}]}",
         SL_E_UNSUPPORTED, "unsupported_option", "/block_configs/0/attention/replace_with_linear"},
        {"{\"model_type\":\"minicpm\",\"num_experts\":8}", SL_E_UNSUPPORTED, "unsupported_option",
         "/num_experts"},
        {"{\"model_type\":\"mixtral\",\"num_experts_per_tok\":9}", SL_E_RANGE, "out_of_range",
         "/num_experts_per_tok"},
        {"{\"model_type\":\"qwen3_moe\",\"mlp_only_layers\":[24]}", SL_E_RANGE, "out_of_range",
         "/mlp_only_layers/0"},
        {"{\"model_type\":\"qwen3_moe\",\"mlp_only_layers\":3}", SL_E_RANGE, "wrong_type",
         "/mlp_only_layers"},
        {"{\"model_type\":\"deepseek_v3\",\"num_routed_experts\":256}", SL_E_RANGE, "renamed_key",
         "/num_routed_experts"},
        {"{\"model_type\":\"dbrx\",\"attn_config\":[]}", SL_E_RANGE, "wrong_type", "/attn_config"},
        {"{\"model_type\":\"dbrx\",\"ffn_config\":{\"moe_top_k\":0}}", SL_E_RANGE, "out_of_range",
         "/ffn_config/moe_top_k"},
        {"{\"model_type\":\"falcon\",\"num_ln_in_parallel_attn\":3}", SL_E_RANGE, "out_of_range",
         "/num_ln_in_parallel_attn"},
        {"{\"model_type\":\"mixtral\",\"num_local_experts\":65536,\"num_experts_per_tok\":2}",
         SL_E_RANGE, "out_of_range", ""},
        {"{\"model_type\":\"llama\",\"quantization_config\":\"fp8\"}", SL_E_RANGE, "wrong_type",
         "/quantization_config"},
        {"{\"model_type\":\"llama\",\"quantization_config\":{\"modules_to_not_convert\":\"head\"}}",
         SL_E_RANGE, "wrong_type", "/quantization_config/modules_to_not_convert"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect_bad(&cases[i]);
}

static void
all_faults_of_a_config_are_reported_at_once(void)
{
    const char *text = "{\"model_type\":\"llama\",\"hidden_size\":-1,\"vocab_size\":\"x\","
                       "\"num_hidden_layers\":0,\"mlp_bias\":3,\"torch_dtype\":\"int7\"}";
    sl_reading result = read_text(text, strlen(text));

    CU_ASSERT_NOT_EQUAL(result.code, SL_OK);
    CU_ASSERT_EQUAL_FATAL(result.err.count, 5);
    sl_expect_text(result.err.list[0].pointer, "/vocab_size", "first");
    sl_expect_text(result.err.list[1].pointer, "/hidden_size", "second");
    sl_expect_text(result.err.list[2].pointer, "/num_hidden_layers", "third");
    sl_expect_text(result.err.list[3].pointer, "/mlp_bias", "fourth");
    sl_expect_text(result.err.list[4].pointer, "/torch_dtype", "fifth");
    clear_reading(&result);
}

static void
faults_of_every_part_are_told_at_once(void)
{
    const char *text = "{\"model_type\":\"llava\",\"text_config\":{\"hidden_size\":\"wide\"},"
                       "\"vision_config\":{\"hidden_size\":0}}";
    sl_reading result = read_text(text, strlen(text));
    CU_ASSERT_EQUAL_FATAL(result.err.count, 2);
    sl_expect_text(result.err.list[0].pointer, "/text_config/hidden_size", "first");
    sl_expect_text(result.err.list[1].pointer, "/vision_config/hidden_size", "second");
    clear_reading(&result);

    const char *lists = "{\"model_type\":\"qwen3_next\",\"hidden_size\":\"wide\","
                        "\"num_hidden_layers\":1,\"layer_types\":[\"made_up\"],"
                        "\"mlp_only_layers\":7}";
    result = read_text(lists, strlen(lists));
    CU_ASSERT_EQUAL_FATAL(result.err.count, 3);
    sl_expect_text(result.err.list[0].pointer, "/hidden_size", "first");
    sl_expect_text(result.err.list[1].pointer, "/mlp_only_layers", "second");
    sl_expect_text(result.err.list[2].pointer, "/layer_types/0", "third");
    clear_reading(&result);
}

static void
an_unsupported_type_is_named(void)
{
    const char *text = "{\"model_type\":\"made_up\"}";
    sl_reading result = read_text(text, strlen(text));

    CU_ASSERT_EQUAL_FATAL(result.err.count, 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(result.err.list[0].message, "made_up"));
    clear_reading(&result);
}

static void
the_part_of_a_wrapper_that_is_modelled_is_named(void)
{
    const char *text = "{\"model_type\":\"made_up\",\"text_config\":{\"model_type\":\"llama\"}}";
    sl_reading result = read_text(text, strlen(text));

    CU_ASSERT_EQUAL_FATAL(result.err.count, 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(result.err.list[0].hint, "llama"));
    clear_reading(&result);
}

static void
a_wrong_divisor_hints_at_the_nearest_right_ones(void)
{
    const char *text = "{\"model_type\":\"llama\",\"num_key_value_heads\":5}";
    sl_reading result = read_text(text, strlen(text));

    CU_ASSERT_EQUAL_FATAL(result.err.count, 1);
    sl_expect_text(result.err.list[0].hint, "4, 8", "hint");
    clear_reading(&result);
}

static void
every_listed_type_is_found_and_listed_once(void)
{
    for (size_t i = 0; sl_hf_type_name(i) != NULL; i++) {
        CU_ASSERT_PTR_NOT_NULL(sl_hf_type_find(sl_hf_type_name(i)));
        for (size_t k = 0; k < i; k++)
            CU_ASSERT_NOT_EQUAL(strcmp(sl_hf_type_name(k), sl_hf_type_name(i)), 0);
    }
}

typedef struct expected_warning {
    const char *fixture;
    const char *rule;
} expected_warning;

static void
what_was_assumed_or_ignored_is_a_warning(void)
{
    static const expected_warning cases[] = {
        {"llama_defaults", "missing_architectures"},
        {"llama_defaults", "class_defaults"},
        {"gpt2_tiny", "missing_dtype"},
        {"llama_misspelt_class", "custom_code"},
        {"qwen2_window_off", "ignored_key"},
        {"llama_fp8", "quantization"},
        {"llama_awq", "quantization"},
        {"mistral_missing_keys", "class_defaults"},
        {"deepseek_v3_tiny", "mtp_layers"},
        {"minimax_m2_tiny", "mtp_layers"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sl_reading result = read_fixture(cases[i].fixture);
        if (!warns(&result, cases[i].rule))
            CU_FAIL(cases[i].fixture);
        clear_reading(&result);
    }
    sl_reading silent = read_fixture("llama_tiny");
    CU_ASSERT_EQUAL(silent.warnings.count, 0);
    clear_reading(&silent);
}

static void
a_class_of_another_name_is_described_with_a_warning(void)
{
    const char *text = "{\"model_type\":\"llama\",\"architectures\":[\"OwnForCausalLM\"]}";
    sl_reading result = read_text(text, strlen(text));

    CU_ASSERT_EQUAL(result.code, SL_OK);
    CU_ASSERT_TRUE(warns(&result, "unfamiliar_class"));
    sl_expect_text(result.model->architecture, "OwnForCausalLM", "architecture");
    clear_reading(&result);
}

static void
class_and_dtype_are_read_as_the_library_reads_them(void)
{
    sl_reading misspelt = read_fixture("llama_misspelt_class");
    sl_expect_text(misspelt.model->architecture, "LlamaForCausalLM", "architecture");
    sl_expect_text(misspelt.model->checkpoint_dtype, "fp32", "dtype");
    clear_reading(&misspelt);

    sl_reading base = read_fixture("mistral_base_class");
    sl_expect_text(base.model->architecture, "MistralModel", "architecture");
    CU_ASSERT_FALSE(base.model->has_head);
    CU_ASSERT_EQUAL(base.model->position_limit, 131072);
    clear_reading(&base);

    sl_reading newer = read_fixture("qwen3_layer_types");
    sl_expect_text(newer.model->checkpoint_dtype, "bf16", "dtype");
    sl_expect_text(newer.model->name, "org/name", "name");
    clear_reading(&newer);
}

static void
windows_follow_the_rule_of_their_class(void)
{
    sl_reading missing = read_fixture("mistral_missing_keys");
    CU_ASSERT_EQUAL(missing.model->kinds[1].cache.window, 4096);
    CU_ASSERT_EQUAL(missing.model->kv_heads, 8);
    clear_reading(&missing);

    sl_reading null_window = read_fixture("mistral_null_window");
    CU_ASSERT_EQUAL(null_window.model->kinds[1].cache.window, 0);
    CU_ASSERT_EQUAL(null_window.model->kv_heads, 16);
    clear_reading(&null_window);

    sl_reading from_third = read_fixture("qwen2_window");
    CU_ASSERT_EQUAL(sl_model_layers_of(from_third.model, 1), 3);
    CU_ASSERT_EQUAL(sl_model_layers_of(from_third.model, 2), 2);
    CU_ASSERT_EQUAL(from_third.model->kinds[2].cache.window, 16);
    clear_reading(&from_third);

    sl_reading off = read_fixture("qwen2_window_off");
    CU_ASSERT_EQUAL(off.model->kind_count, 3);
    CU_ASSERT_EQUAL(off.model->kinds[1].cache.window, 0);
    clear_reading(&off);

    static const char lettered_text[] = "{\"model_type\":\"exaone4\",\"num_hidden_layers\":6,"
                                        "\"max_position_embeddings\":32768,"
                                        "\"sliding_window_pattern\":\"LLG\"}";
    sl_reading lettered = read_text(lettered_text, strlen(lettered_text));
    static const uint8_t two_of_three[] = {0, 2, 2, 1, 2, 2, 1, 3};
    CU_ASSERT_EQUAL_FATAL(lettered.model->layer_count, 8);
    CU_ASSERT_EQUAL(memcmp(lettered.model->layers, two_of_three, sizeof two_of_three), 0);
    clear_reading(&lettered);

    static const char marked_text[] = "{\"model_type\":\"llama4_text\",\"num_hidden_layers\":4,"
                                      "\"no_rope_layers\":[1,0,1,0]}";
    sl_reading marked = read_text(marked_text, strlen(marked_text));
    static const uint8_t every_second[] = {0, 2, 1, 2, 1, 3};
    CU_ASSERT_EQUAL_FATAL(marked.model->layer_count, 6);
    CU_ASSERT_EQUAL(memcmp(marked.model->layers, every_second, sizeof every_second), 0);
    clear_reading(&marked);

    static const char wide_text[] = "{\"model_type\":\"phi3\",\"num_hidden_layers\":2,"
                                    "\"sliding_window\":262144,\"max_position_embeddings\":131072}";
    sl_reading wide = read_text(wide_text, strlen(wide_text));
    CU_ASSERT_EQUAL(wide.model->kinds[1].cache.window, 0);
    clear_reading(&wide);

    sl_reading patterned = read_fixture("gemma3_pattern");
    static const uint8_t local_first[] = {0, 2, 1, 2, 1, 2, 3};
    CU_ASSERT_EQUAL_FATAL(patterned.model->layer_count, 7);
    CU_ASSERT_EQUAL(memcmp(patterned.model->layers, local_first, sizeof local_first), 0);
    CU_ASSERT_EQUAL(patterned.model->kinds[2].cache.window, 16);
    clear_reading(&patterned);

    sl_reading listed = read_fixture("qwen3_layer_types");
    CU_ASSERT_EQUAL(sl_model_layers_of(listed.model, 1), 1);
    CU_ASSERT_EQUAL(sl_model_layers_of(listed.model, 2), 2);
    clear_reading(&listed);
}

static void
patterns_beyond_translation_leave_the_size_unquantised(void)
{
    const char *text =
        "{\"model_type\":\"llama\",\"quantization_config\":{\"quant_method\":\"fp8\","
        "\"modules_to_not_convert\":[\"re:.*(?=mlp)\"]}}";
    sl_reading result = read_text(text, strlen(text));

    CU_ASSERT_EQUAL_FATAL(result.code, SL_OK);
    CU_ASSERT_EQUAL(result.model->quantized_weights_bytes, 0);
    CU_ASSERT_TRUE(warns(&result, "quantization"));
    clear_reading(&result);
}

static uint64_t
fp8_bytes(const char *kept)
{
    char text[400];
    (void)sl_text_format(
        text, sizeof text,
        "{\"model_type\":\"llama\",\"hidden_size\":64,\"intermediate_size\":96,"
        "\"num_hidden_layers\":12,\"num_attention_heads\":4,\"vocab_size\":10,"
        "\"quantization_config\":{\"quant_method\":\"fp8\",\"modules_to_not_convert\":[%s]}}",
        kept);
    sl_reading result = read_text(text, strlen(text));
    CU_ASSERT_EQUAL_FATAL(result.code, SL_OK);
    const uint64_t bytes = result.model->quantized_weights_bytes;
    clear_reading(&result);
    return bytes;
}

static void
a_kept_module_is_matched_by_whole_parts_of_its_path(void)
{
    const uint64_t none = fp8_bytes("");

    /* One fp32 scale goes with every quantised matrix. */
    CU_ASSERT_EQUAL(none, 2 * (2 * 10 * 64 + 25 * 64) + 12 * (4 * 64 * 64 + 3 * 64 * 96 + 7 * 4));
    CU_ASSERT_EQUAL(fp8_bytes("\"model.layers.1.mlp.down\", \"down\""), none);
    CU_ASSERT_EQUAL(fp8_bytes("\"down_proj\""), none + UINT64_C(12) * (64 * 96 - 4));
    CU_ASSERT_EQUAL(fp8_bytes("\"model.layers.1\""),
                    none + UINT64_C(4) * 64 * 64 + UINT64_C(3) * 64 * 96 - UINT64_C(7) * 4);
}

static const sl_operator *
operator_of(const sl_model *model, sl_operator_kind kind)
{
    const sl_layer_kind *block = &model->kinds[model->layers[1]];

    for (uint32_t i = 0; i < block->operator_count; i++)
        if (block->operators[i].kind == kind)
            return &block->operators[i];
    return NULL;
}

/* Kernels that eager code of the class runs: transformers' activations.py, modeling_gemma2.py. */
static void
what_a_class_writes_out_step_by_step_is_read(void)
{
    static const struct {
        const char *text;
        bool composed, rectified, relaid, lone, wide, scores, logits, drops;
    } rows[] = {
        {.text = "{\"model_type\":\"gpt2\"}", .composed = true},
        {.text = "{\"model_type\":\"gpt2\",\"activation_function\":\"gelu\",\"attn_pdrop\":0}"},
        {.text = "{\"model_type\":\"phi\",\"hidden_act\":\"gelu_new\",\"resid_pdrop\":0.1}",
         .composed = true,
         .relaid = true,
         .drops = true},
        {.text = "{\"model_type\":\"opt\",\"dropout\":null}", .rectified = true},
        {.text = "{\"model_type\":\"llama\",\"hidden_act\":7,\"dropout\":\"no\"}"},
        {.text = "{\"model_type\":\"stablelm\"}", .relaid = true},
        {.text = "{\"model_type\":\"falcon\"}", .lone = true},
        {.text = "{\"model_type\":\"falcon\",\"multi_query\":false}"},
        {.text = "{\"model_type\":\"cohere\"}", .wide = true},
        {.text = "{\"model_type\":\"gemma\"}", .wide = true},
        {.text = "{\"model_type\":\"gemma2\"}", .wide = true, .scores = true, .logits = true},
        {.text = "{\"model_type\":\"gemma2\",\"attn_logit_softcapping\":null}",
         .wide = true,
         .logits = true},
        {.text = "{\"model_type\":\"gemma3_text\",\"final_logit_softcapping\":30.0}",
         .wide = true,
         .logits = true},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        sl_reading result = read_text(rows[i].text, strlen(rows[i].text));
        CU_ASSERT_EQUAL_FATAL(result.code, SL_OK);
        const sl_model *model = result.model;
        CU_ASSERT_EQUAL(operator_of(model, SL_OPERATOR_ACTIVATION)->composed, rows[i].composed);
        CU_ASSERT_EQUAL(operator_of(model, SL_OPERATOR_ACTIVATION)->rectified, rows[i].rectified);
        CU_ASSERT_EQUAL(operator_of(model, SL_OPERATOR_ATTENTION)->relaid, rows[i].relaid);
        CU_ASSERT_EQUAL(operator_of(model, SL_OPERATOR_ATTENTION)->lone_keys, rows[i].lone);
        CU_ASSERT_EQUAL(operator_of(model, SL_OPERATOR_NORM)->wide, rows[i].wide);
        CU_ASSERT_EQUAL(operator_of(model, SL_OPERATOR_ATTENTION)->capped, rows[i].scores);
        CU_ASSERT_EQUAL(model->logits_capped, rows[i].logits);
        CU_ASSERT_EQUAL(model->drops, rows[i].drops);
        clear_reading(&result);
    }
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(every_fixture_has_the_hand_counted_parameters_and_bytes),
        SL_CASE(each_bad_value_is_named_at_its_pointer),
        SL_CASE(all_faults_of_a_config_are_reported_at_once),
        SL_CASE(faults_of_every_part_are_told_at_once),
        SL_CASE(an_unsupported_type_is_named),
        SL_CASE(the_part_of_a_wrapper_that_is_modelled_is_named),
        SL_CASE(a_wrong_divisor_hints_at_the_nearest_right_ones),
        SL_CASE(every_listed_type_is_found_and_listed_once),
        SL_CASE(what_was_assumed_or_ignored_is_a_warning),
        SL_CASE(a_class_of_another_name_is_described_with_a_warning),
        SL_CASE(class_and_dtype_are_read_as_the_library_reads_them),
        SL_CASE(windows_follow_the_rule_of_their_class),
        SL_CASE(a_kept_module_is_matched_by_whole_parts_of_its_path),
        SL_CASE(what_a_class_writes_out_step_by_step_is_read),
        SL_CASE(patterns_beyond_translation_leave_the_size_unquantised),
    };
    return sl_run_cases(argc, argv, "hf_config", cases, sizeof cases / sizeof cases[0]);
}
