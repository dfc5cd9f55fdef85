#include "harness.h"

#include <stdio.h>
#include <string.h>

#include "golden.h"
#include "hf/quantization.h"
#include "reading.h"

/* The message of the warning about quantisation, or "". */
static const char *
warning_of(const sl_reading *result)
{
    for (uint32_t i = 0; i < result->warnings.count; i++) {
        if (strcmp(result->warnings.list[i].rule, "quantization") == 0)
            return result->warnings.list[i].message;
    }
    return "";
}

static void
compare_with_golden(const sl_csv *csv)
{
    const char *name = sl_csv_get(csv, "fixture");
    sl_reading result = read_fixture(name);
    CU_ASSERT_EQUAL_FATAL(result.code, SL_OK);
    const sl_quantization *found = &result.model->quantization;
    sl_model_counts counts;

    CU_ASSERT_EQUAL_FATAL(sl_model_count(result.model, &counts), SL_OK);
    (void)expect_count(name, "quantized", found->quantized_parameters,
                       golden_number(csv, "quantized"));
    (void)expect_count(name, "kept", found->kept_parameters, golden_number(csv, "kept"));
    (void)expect_count(name, "scale_bytes", found->scale_bytes, golden_number(csv, "scale_bytes"));
    (void)expect_count(name, "weights_bytes", sl_model_weights_bytes(result.model, &counts),
                       golden_number(csv, "weights_bytes"));
    (void)expect_count(name, "sum of both", found->quantized_parameters + found->kept_parameters,
                       counts.total);
    CU_ASSERT_PTR_NOT_NULL(strstr(warning_of(&result), found->method));
    clear_reading(&result);
}

static void
every_method_takes_the_bytes_counted_by_hand(void)
{
    CU_ASSERT_EQUAL(read_golden("golden/quantized_bytes.csv", compare_with_golden), 21);
}

/* Bits per weight of a matrix of 4096 x 4096, from the table of spec/inference.md, section 2.3. */
static const struct {
    const char *fixture;
    uint32_t format;
    double bits;
    double tolerance;
} densities[] = {
    {"quant_fp8_block", 0, 8.002, 1e-4},
    {"quant_fbgemm", 0, 8 + 32.0 / 4096, 1e-12},
    {"quant_bnb_int8", 0, 8 + 32.0 / 4096, 1e-6},
    {"quant_bnb_fp4", 0, 4.5, 1e-5},
    {"quant_bnb_nf4", 0, 4.127, 2e-4},
    {"quant_mxfp4", 0, 4.25, 1e-12},
    {"quant_ct_nvfp4", 0, 4.5, 1e-5},
    {"quant_modelopt_nvfp4", 0, 4.5, 1e-5},
    {"quant_gptq", 0, 4 + 20.0 / 32 + 32.0 / 4096, 1e-12},
    {"quant_awq", 0, 4.3125, 1e-12},
};

static void
formats_have_the_published_bits_per_weight(void)
{
    const uint64_t side = 4096;

    for (size_t i = 0; i < sizeof densities / sizeof densities[0]; i++) {
        sl_reading result = read_fixture(densities[i].fixture);
        sl_stored stored;
        CU_ASSERT_EQUAL_FATAL(result.code, SL_OK);
        CU_ASSERT_EQUAL_FATAL(
            sl_format_bytes(&result.model->quantization.formats[densities[i].format], side, side,
                            &stored),
            SL_OK);
        sl_expect_near((double)(stored.weight_bytes + stored.scale_bytes) * 8 /
                           (double)(side * side),
                       densities[i].bits, densities[i].tolerance, densities[i].fixture);
        clear_reading(&result);
    }
}

/* A ragged end takes a whole word and a whole scale; the largest matrix stays inside 64 bits, or is
 * refused. */
static void
ends_are_rounded_up_and_sums_are_checked(void)
{
    const sl_tensor_format format = {.dtype = "int4",
                                     .bits = 4,
                                     .word_weights = 8,
                                     .word_bytes = 4,
                                     .scale_outputs = 1,
                                     .scale_inputs = 128,
                                     .scale_bytes = 2,
                                     .word_zeros = 8,
                                     .word_zero_bytes = 4};
    sl_stored stored = {1, 2};

    CU_ASSERT_EQUAL_FATAL(sl_format_bytes(&format, 9, 129, &stored), SL_OK);
    CU_ASSERT_EQUAL(stored.weight_bytes, UINT64_C(9) * 17 * 4);
    CU_ASSERT_EQUAL(stored.scale_bytes, 9 * 2 * 2 + 2 * 2 * 4);
    CU_ASSERT_EQUAL(sl_format_bytes(&format, UINT64_MAX, 1, &stored), SL_E_RANGE);
    CU_ASSERT_EQUAL(sl_format_bytes(&format, UINT64_C(1) << 33, UINT64_C(1) << 33, &stored),
                    SL_E_RANGE);
    CU_ASSERT_EQUAL(stored.weight_bytes, UINT64_C(9) * 17 * 4);
}

static sl_reading
read_section(const char *section)
{
    char text[2000];
    CU_ASSERT_TRUE_FATAL(sl_text_format(
        text, sizeof text,
        "{\"model_type\":\"mixtral\",\"hidden_size\":64,\"intermediate_size\":96,"
        "\"num_hidden_layers\":2,\"num_attention_heads\":4,\"num_key_value_heads\":2,"
        "\"num_local_experts\":12,\"vocab_size\":10,\"quantization_config\":%s}",
        section));
    return read_text(text, strlen(text));
}

typedef struct refusal {
    const char *section;
    const char *named; /* in the warning */
} refusal;

static void
what_is_not_modelled_is_named_and_leaves_the_size_unquantised(void)
{
    static const refusal cases[] = {
        {"{}", "unknown"},
        {"{\"quant_method\":\"hqq\"}", "hqq"},
        {"{\"quant_method\":\"torchao\"}", "torchao"},
        {"{\"quant_method\":\"quanto\",\"modules_to_not_convert\":null}", "quanto"},
        {"{\"quant_method\":\"fp8\",\"fmt\":\"e3m4\"}", "e3m4"},
        {"{\"quant_method\":\"fp8\",\"modules_to_not_convert\":[\"re:^(?!lm_head)\"]}", "(?!"},
        {"{\"quant_method\":\"fp8\",\"modules_to_not_convert\":[\"re:(a)\\\\1\"]}", "(a)"},
        {"{\"quant_method\":\"fp8\",\"modules_to_not_convert\":[\"\"]}", "pattern"},
        {"{\"quant_method\":\"gptq\",\"bits\":5,\"group_size\":128}", "5 bits"},
        {"{\"quant_method\":\"gptq\",\"bits\":4,\"checkpoint_format\":\"marlin\"}", "marlin"},
        {"{\"quant_method\":\"gptq\",\"bits\":4,\"dynamic\":{\"+:.*down.*\":{\"bits\":8}}}", "+:"},
        {"{\"quant_method\":\"awq\",\"bits\":4,\"version\":\"gemv\"}", "gemv"},
        {"{\"quant_method\":\"awq\",\"bits\":8}", "8 bits"},
        {"{\"quant_method\":\"bitsandbytes\"}", "neither"},
        {"{\"quant_method\":\"modelopt\"}", "quant_algo"},
        {"{\"quant_method\":\"modelopt\",\"quant_algo\":\"INT4_AWQ\"}", "INT4_AWQ"},
        {"{\"quant_method\":\"modelopt\",\"quant_algo\":\"MIXED_PRECISION\"}", "quantized_layers"},
        {"{\"quant_method\":\"compressed-tensors\"}", "config_groups"},
        {"{\"quant_method\":\"compressed-tensors\",\"format\":\"marlin-24\",\"config_groups\":"
         "{\"a\":{\"weights\":{\"num_bits\":4}}}}",
         "marlin-24"},
        {"{\"quant_method\":\"compressed-tensors\",\"format\":\"pack-quantized\",\"config_groups\":"
         "{\"a\":{\"targets\":[\"FusedMoE\"],\"weights\":{\"num_bits\":4}}}}",
         "FusedMoE"},
        {"{\"quant_method\":\"compressed-tensors\",\"format\":\"nvfp4-pack-quantized\","
         "\"config_groups\":{\"a\":{\"weights\":{\"num_bits\":4,\"type\":\"float\"}}}}",
         "nvfp4"},
        {"{\"quant_method\":\"compressed-tensors\",\"format\":\"float-quantized\","
         "\"sparsity_config\":{\"format\":\"sparse-24-bitmask\"},\"config_groups\":{}}",
         "sparse-24"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sl_reading result = read_section(cases[i].section);
        const char *warning = warning_of(&result);
        CU_ASSERT_EQUAL_FATAL(result.code, SL_OK);
        if (result.model->quantized_weights_bytes != 0 || strstr(warning, cases[i].named) == NULL ||
            strstr(warning, "not modelled") == NULL) {
            printf("%s: %s\n", cases[i].section, warning);
            CU_FAIL("not refused by name");
        }
        CU_ASSERT_EQUAL(result.model->quantization.format_count, 0);
        CU_ASSERT_EQUAL(result.model->stored_as[1][0].format, 0);
        clear_reading(&result);
    }
}

typedef struct fault {
    const char *section;
    const char *rule;
    const char *pointer;
} fault;

static void
each_bad_value_of_the_section_is_named_at_its_pointer(void)
{
    static const fault cases[] = {
        {"7", "wrong_type", ""},
        {"{\"quant_method\":7}", "wrong_type", "/quant_method"},
        {"{\"quant_method\":\"fp8\",\"weight_block_size\":128}", "wrong_type",
         "/weight_block_size"},
        {"{\"quant_method\":\"fp8\",\"weight_block_size\":[128,0]}", "out_of_range",
         "/weight_block_size/1"},
        {"{\"quant_method\":\"fp8\",\"modules_to_not_convert\":[\"a\",7]}", "wrong_type",
         "/modules_to_not_convert/1"},
        {"{\"quant_method\":\"gptq\",\"bits\":4,\"group_size\":0}", "out_of_range", "/group_size"},
        {"{\"quant_method\":\"gptq\",\"bits\":4,\"group_size\":-2}", "out_of_range", "/group_size"},
        {"{\"quant_method\":\"gptq\",\"bits\":4,\"modules_in_block_to_quantize\":[[1]]}",
         "wrong_type", "/modules_in_block_to_quantize/0/0"},
        {"{\"quant_method\":\"bitsandbytes\",\"load_in_4bit\":\"yes\"}", "wrong_type",
         "/load_in_4bit"},
        {"{\"quant_method\":\"compressed-tensors\",\"format\":\"int-quantized\","
         "\"config_groups\":{\"group_0\":{\"weights\":{\"num_bits\":\"8\"}}}}",
         "wrong_type", "/config_groups/group_0/weights/num_bits"},
        {"{\"quant_method\":\"compressed-tensors\",\"format\":\"int-quantized\","
         "\"config_groups\":{\"g\":{\"targets\":[[\"Linear\"]],\"weights\":{\"num_bits\":8}}}}",
         "wrong_type", "/config_groups/g/targets/0"},
        {"{\"quant_method\":\"modelopt\",\"quant_algo\":\"MIXED_PRECISION\","
         "\"quantized_layers\":{\"lm_head\":4}}",
         "wrong_type", "/quantized_layers/lm_head"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char pointer[128];
        sl_reading result = read_section(cases[i].section);
        (void)sl_text_format(pointer, sizeof pointer, "/quantization_config%s", cases[i].pointer);
        CU_ASSERT_EQUAL(result.code, SL_E_RANGE);
        CU_ASSERT_EQUAL_FATAL(result.err.count, 1);
        sl_expect_text(result.err.list[0].rule, cases[i].rule, cases[i].section);
        sl_expect_text(result.err.list[0].pointer, pointer, cases[i].section);
        clear_reading(&result);
    }
}

/* One expert of one layer named: its bytes stay, the tensor is of both dtypes. */
static void
single_experts_can_be_kept(void)
{
    static const char base[] = "{\"quant_method\":\"fp8\",\"modules_to_not_convert\":[%s]}";
    char section[200];
    (void)sl_text_format(section, sizeof section, base, "");
    sl_reading none = read_section(section);
    (void)sl_text_format(section, sizeof section, base,
                         "\"model.layers.1.block_sparse_moe.experts.11.w2\"");
    sl_reading one = read_section(section);

    CU_ASSERT_EQUAL_FATAL(none.code, SL_OK);
    CU_ASSERT_EQUAL_FATAL(one.code, SL_OK);
    CU_ASSERT_EQUAL(one.model->quantized_weights_bytes,
                    none.model->quantized_weights_bytes + UINT64_C(64) * 96 - 4);
    uint32_t mixed = 0;
    for (uint32_t layer = 0; layer < one.model->layer_count; layer++) {
        for (uint32_t i = 0; i < SL_KIND_TENSORS_MAX; i++) {
            mixed += one.model->stored_as[layer][i].mixed;
            CU_ASSERT_FALSE(none.model->stored_as[layer][i].mixed);
        }
    }
    CU_ASSERT_EQUAL(mixed, 1);
    clear_reading(&none);
    clear_reading(&one);

    /* gpt-oss keeps its experts in one tensor: a list of single ones has nothing to name. */
    static const char stacked[] =
        "{\"model_type\":\"gpt_oss\",\"quantization_config\":{\"quant_method\":\"mxfp4\","
        "\"modules_to_not_convert\":[\"model.layers.0.mlp.experts.3\"]}}";
    sl_reading stack = read_text(stacked, strlen(stacked));
    CU_ASSERT_EQUAL_FATAL(stack.code, SL_OK);
    CU_ASSERT_EQUAL(stack.model->quantized_weights_bytes, 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(warning_of(&stack), "single experts"));
    clear_reading(&stack);
}

/* Quantised parameters of the small decoder under a section, whose layer has 2 * 64 * 64 and
 * 2 * 16 * 64 in attention and 3 * 64 * 176 in its MLP. */
static uint64_t
quantized_by(const char *section)
{
    char text[800];
    CU_ASSERT_TRUE_FATAL(sl_text_format(
        text, sizeof text,
        "{\"model_type\":\"llama\",\"vocab_size\":320,\"hidden_size\":64,"
        "\"intermediate_size\":176,\"num_hidden_layers\":2,\"num_attention_heads\":8,"
        "\"num_key_value_heads\":2,\"quantization_config\":%s}",
        section));
    sl_reading result = read_text(text, strlen(text));
    CU_ASSERT_EQUAL_FATAL(result.code, SL_OK);
    const uint64_t parameters = result.model->quantization.quantized_parameters;
    clear_reading(&result);
    return parameters;
}

static void
lists_and_options_say_which_layers_are_quantised(void)
{
    const uint64_t mlp = UINT64_C(3) * 64 * 176;
    const uint64_t attention = UINT64_C(2) * 64 * 64 + UINT64_C(2) * 16 * 64;
    const uint64_t head = UINT64_C(320) * 64;

    CU_ASSERT_EQUAL(quantized_by("{\"quant_method\":\"gptq\"}"), 2 * (mlp + attention));
    CU_ASSERT_EQUAL(quantized_by("{\"quant_method\":\"gptq\",\"lm_head\":true}"),
                    2 * (mlp + attention) + head);
    CU_ASSERT_EQUAL(quantized_by("{\"quant_method\":\"gptq\",\"modules_in_block_to_quantize\":"
                                 "[[\"mlp.up_proj\"],[\"mlp.down_proj\"]]}"),
                    UINT64_C(2) * 2 * 64 * 176);
    CU_ASSERT_EQUAL(quantized_by("{\"quant_method\":\"gptq\",\"dynamic\":{\"-:.*self_attn\":{}}}"),
                    2 * mlp);
    CU_ASSERT_EQUAL(
        quantized_by("{\"quant_method\":\"gptq\",\"dynamic\":{\"-:.*\\\\.1\\\\..*\":{}}}"),
        mlp + attention);
    CU_ASSERT_EQUAL(quantized_by("{\"quant_method\":\"bitsandbytes\",\"load_in_8bit\":true,"
                                 "\"llm_int8_skip_modules\":[]}"),
                    2 * (mlp + attention) + head);
    CU_ASSERT_EQUAL(quantized_by("{\"quant_method\":\"modelopt\",\"quant_algo\":\"NVFP4\","
                                 "\"exclude_modules\":[\"*mlp*\"]}"),
                    2 * attention + head);
    CU_ASSERT_EQUAL(quantized_by("{\"quant_method\":\"modelopt\",\"quant_algo\":\"NVFP4\","
                                 "\"exclude_modules\":[\"*mlp*\"],\"ignore\":[\"lm_head\"]}"),
                    2 * attention);
    CU_ASSERT_EQUAL(quantized_by("{\"quant_method\":\"gptq\",\"modules_to_not_convert\":[\"mlp\"],"
                                 "\"dynamic\":{\"-:.*self_attn\":{}}}"),
                    0);
    CU_ASSERT_EQUAL(quantized_by("{\"quant_method\":\"mxfp4\"}"), 0);
}

static void
the_section_may_lie_in_text_config(void)
{
    static const char text[] = "{\"model_type\":\"llama\",\"text_config\":{\"quantization_config\":"
                               "{\"quant_method\":\"fp8\"}}}";
    static const char bad[] = "{\"model_type\":\"llama\",\"text_config\":{\"quantization_config\":"
                              "{\"quant_method\":\"fp8\",\"fmt\":7}}}";
    sl_reading inner = read_text(text, strlen(text));
    sl_reading wrong = read_text(bad, strlen(bad));

    CU_ASSERT_EQUAL_FATAL(inner.code, SL_OK);
    sl_expect_text(inner.model->quantization.method, "fp8", "method");
    CU_ASSERT_EQUAL_FATAL(wrong.err.count, 1);
    sl_expect_text(wrong.err.list[0].pointer, "/text_config/quantization_config/fmt", "pointer");
    clear_reading(&inner);
    clear_reading(&wrong);
}

static void
experts_of_another_dtype_are_refused(void)
{
    static const char text[] = "{\"model_type\":\"mixtral\",\"expert_dtype\":\"fp4\","
                               "\"quantization_config\":{\"quant_method\":\"fp8\"}}";
    sl_reading result = read_text(text, strlen(text));

    CU_ASSERT_EQUAL_FATAL(result.code, SL_OK);
    CU_ASSERT_EQUAL(result.model->quantized_weights_bytes, 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(warning_of(&result), "expert_dtype fp4"));
    clear_reading(&result);
}

/* A dtype of one byte is that of the quantised weights: the others have two. */
static void
kept_tensors_have_16_bits_at_least(void)
{
    static const char text[] =
        "{\"model_type\":\"llama\",\"torch_dtype\":\"float8_e4m3fn\",\"quantization_config\":"
        "{\"quant_method\":\"fp8\"}}";
    sl_reading result = read_text(text, strlen(text));

    CU_ASSERT_EQUAL_FATAL(result.code, SL_OK);
    CU_ASSERT_EQUAL(result.model->checkpoint_element_bytes, 2);
    sl_expect_text(sl_model_stored_dtype(result.model, &sl_model_stored_as(result.model, 0)[0]),
                   "bf16", "embedding");
    sl_expect_text(sl_model_stored_dtype(result.model, &sl_model_stored_as(result.model, 1)[1]),
                   "fp8_e4m3", "query");
    clear_reading(&result);
}

/* ... also where its method is not modelled, and the size is that of the unquantised checkpoint. */
static void
a_dtype_of_one_byte_is_never_that_of_the_unquantised(void)
{
    static const char *const texts[] = {
        "{\"model_type\":\"llama\",\"torch_dtype\":\"float8_e4m3fn\",\"quantization_config\":"
        "{\"quant_method\":\"hqq\"}}",
        "{\"model_type\":\"llama\",\"torch_dtype\":\"bfloat16\"}"};
    uint64_t bytes[2];

    for (size_t i = 0; i < 2; i++) {
        sl_reading result = read_text(texts[i], strlen(texts[i]));
        sl_model_counts counts;
        CU_ASSERT_EQUAL_FATAL(result.code, SL_OK);
        CU_ASSERT_EQUAL_FATAL(sl_model_count(result.model, &counts), SL_OK);
        sl_expect_text(result.model->checkpoint_dtype, "bf16", "dtype");
        bytes[i] = sl_model_weights_bytes(result.model, &counts);
        clear_reading(&result);
    }
    CU_ASSERT_EQUAL(bytes[0], bytes[1]);
}

static sl_code
read_separate(const char *text, sl_reading *into)
{
    sl_json *json = NULL;
    sl_errors err = {0};

    CU_ASSERT_EQUAL_FATAL(sl_json_parse(text, strlen(text), &reading_limits, &json, &err), SL_OK);
    const sl_node root = sl_json_root(json);
    const sl_code code =
        sl_hf_quantization_read_file(&root, into->model, &into->warnings, &into->err);
    sl_json_free(json);
    return code;
}

static void
the_separate_file_says_what_the_config_does_not(void)
{
    static const char file[] =
        "{\"producer\":{\"name\":\"modelopt\",\"version\":\"0.23\"},\"quantization\":"
        "{\"quant_algo\":\"FP8\",\"kv_cache_quant_algo\":\"FP8\",\"exclude_modules\":"
        "[\"lm_head\"]}}";
    sl_reading plain = read_fixture("llama_tiny");
    sl_reading own = read_fixture("quant_gptq");
    sl_reading same = read_fixture("quant_modelopt_fp8");

    CU_ASSERT_EQUAL(read_separate(file, &plain), SL_OK);
    sl_expect_text(plain.model->quantization.method, "modelopt", "method");
    sl_expect_text(plain.model->quantization.kv_cache_dtype, "fp8_e4m3", "cache");
    sl_expect_text(plain.model->quantization.kept[0], "lm_head", "kept");
    CU_ASSERT_EQUAL(plain.model->quantized_weights_bytes,
                    UINT64_C(173504) * 2 -
                        3 * (same.model->quantization.quantized_parameters - UINT64_C(7) * 8));
    CU_ASSERT_EQUAL(plain.warnings.count, 1);
    CU_ASSERT_EQUAL(read_separate(file, &own), SL_OK);
    sl_expect_text(own.model->quantization.method, "gptq", "method");

    CU_ASSERT_EQUAL(read_separate("{\"quantization\":7,\"producer\":{}}", &plain), SL_E_RANGE);
    sl_expect_text(plain.err.list[0].pointer, "/quantization", "pointer");
    sl_expect_text(plain.model->quantization.method, "modelopt", "method");
    CU_ASSERT_EQUAL(read_separate("[]", &plain), SL_E_RANGE);
    clear_reading(&plain);
    clear_reading(&own);
    clear_reading(&same);
}

/* Weights of real checkpoints. `beside` is what the files hold and the class does not: the layer
 * for multi-token prediction with its copies of embedding and head, and the biases of the routers.
 *
 * gpt-oss-120b   the sum of its tensors, as public copies of its index say: equal
 * DeepSeek-V3    15,424,226,528 of layer 61 and 59 * 256 * 4; the 688,586,727,753 bytes are those
 *                of the files of revision afb92e1, with 11.9 MB of headers for 91,991 tensors
 */
static const struct {
    const char *model;
    uint64_t beside;
    uint64_t published;
    double tolerance;
} checkpoints[] = {
    {"models/openai__gpt-oss-120b/config.json", 0, UINT64_C(65248815744), 0},
    {"models/deepseek-ai__DeepSeek-V3/config.json", UINT64_C(15424226528) + UINT64_C(59) * 256 * 4,
     UINT64_C(688586727753), 2e-5},
};

static void
real_checkpoints_have_their_published_size(void)
{
    for (size_t i = 0; i < sizeof checkpoints / sizeof checkpoints[0]; i++) {
        const char *path = sl_shared_path(checkpoints[i].model);
        if (path == NULL) {
            sl_skip("the folder of real configs is absent");
            return;
        }
        sl_reading result = read_path(path);
        CU_ASSERT_EQUAL_FATAL(result.code, SL_OK);
        sl_expect_near((double)(result.model->quantized_weights_bytes + checkpoints[i].beside),
                       (double)checkpoints[i].published, checkpoints[i].tolerance,
                       checkpoints[i].model);
        clear_reading(&result);
    }
}

/* Real configs whose layers are all modelled; the numbers are ours, held so that they do not move
 * unseen. */
static const struct {
    const char *model;
    uint64_t bytes;
} reckoned[] = {
    {"MiniMaxAI__MiniMax-M2.5", UINT64_C(230024049664)},
    {"Qwen__Qwen3-235B-A22B-FP8", UINT64_C(236445455360)},
    {"Qwen__Qwen3-32B-FP8", UINT64_C(34326243328)},
    {"Qwen__Qwen3-8B-FP8", UINT64_C(9437399040)},
    {"deepseek-ai__DeepSeek-R1", UINT64_C(673150552416)},
    {"deepseek-ai__DeepSeek-V3.1", UINT64_C(673150552416)},
    {"meta-llama__Llama-3.1-405B-FP8", UINT64_C(415943499776)},
    {"moonshotai__Kimi-K2-Instruct", UINT64_C(1029173157728)},
    {"nvidia__MiniMax-M2.5-NVFP4", UINT64_C(134401693696)},
    {"zai-org__GLM-5-FP8", UINT64_C(746129978112)},
};

static void
real_configs_give_the_bytes_they_gave(void)
{
    for (size_t i = 0; i < sizeof reckoned / sizeof reckoned[0]; i++) {
        char relative[200];
        (void)sl_text_format(relative, sizeof relative, "models/%s/config.json", reckoned[i].model);
        const char *path = sl_shared_path(relative);
        if (path == NULL) {
            sl_skip("the folder of real configs is absent");
            return;
        }
        sl_reading result = read_path(path);
        CU_ASSERT_EQUAL_FATAL(result.code, SL_OK);
        (void)expect_count(reckoned[i].model, "bytes", result.model->quantized_weights_bytes,
                           reckoned[i].bytes);
        clear_reading(&result);
    }
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(every_method_takes_the_bytes_counted_by_hand),
        SL_CASE(formats_have_the_published_bits_per_weight),
        SL_CASE(ends_are_rounded_up_and_sums_are_checked),
        SL_CASE(what_is_not_modelled_is_named_and_leaves_the_size_unquantised),
        SL_CASE(each_bad_value_of_the_section_is_named_at_its_pointer),
        SL_CASE(single_experts_can_be_kept),
        SL_CASE(lists_and_options_say_which_layers_are_quantised),
        SL_CASE(the_section_may_lie_in_text_config),
        SL_CASE(experts_of_another_dtype_are_refused),
        SL_CASE(kept_tensors_have_16_bits_at_least),
        SL_CASE(a_dtype_of_one_byte_is_never_that_of_the_unquantised),
        SL_CASE(the_separate_file_says_what_the_config_does_not),
        SL_CASE(real_checkpoints_have_their_published_size),
        SL_CASE(real_configs_give_the_bytes_they_gave),
    };
    return sl_run_cases(argc, argv, "quantization", cases, sizeof cases / sizeof cases[0]);
}
