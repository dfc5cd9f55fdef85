#include "harness.h"

#include <string.h>

#include "base/buffer.h"
#include "codec/answer/model_json.h"
#include "reading.h"

/* The answer of a model, parsed again; the caller frees it. */
static sl_json *
answer_of(const sl_reading *result)
{
    sl_buffer buffer;
    sl_writer writer;
    sl_model_counts counts;
    sl_json *json = NULL;
    sl_errors err = {0};

    sl_buffer_init(&buffer, 1 << 20);
    sl_writer_init(&writer, &buffer);
    CU_ASSERT_EQUAL_FATAL(sl_model_count(result->model, &counts), SL_OK);
    sl_model_write(&writer, result->model, &counts, NULL, &result->warnings);
    CU_ASSERT_TRUE_FATAL(sl_writer_ok(&writer));
    CU_ASSERT_EQUAL_FATAL(sl_json_parse(buffer.data, buffer.size, &reading_limits, &json, &err),
                          SL_OK);
    sl_buffer_clear(&buffer);
    return json;
}

static sl_node
member(const sl_node *object, const char *name)
{
    sl_node out = {0};
    if (!sl_node_member(object, name, &out))
        CU_FAIL_FATAL(name);
    return out;
}

static uint64_t
uint_of(const sl_node *object, const char *name)
{
    sl_errors err = {0};
    uint64_t value = 0;
    bool present = false;
    CU_ASSERT_EQUAL(sl_node_uint(object, name, 0, UINT64_MAX, &value, &present, &err), SL_OK);
    CU_ASSERT_TRUE(present);
    return value;
}

/* A member of each run, added up. */
static uint64_t
sum_of_runs(const sl_node *layers, const char *name)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < sl_node_count(layers); i++) {
        sl_node run;
        CU_ASSERT_TRUE_FATAL(sl_node_at(layers, i, &run));
        sum += uint_of(&run, name);
    }
    return sum;
}

static void
the_answer_has_the_members_of_the_contract_in_order(void)
{
    static const char *const keys[] = {
        "name",           "revision",      "architecture",     "model_type",
        "parameters",     "weights_bytes", "kv_cache",         "layers",
        "quantization",   "warnings",      "tower_parameters", "persistent_buffers",
        "mtp_parameters", "gated",         "cross_check"};
    sl_reading result = read_fixture("llama_tiny");
    sl_json *json = answer_of(&result);
    const sl_node root = sl_json_root(json);
    void *state = NULL;
    sl_node at;

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        CU_ASSERT_TRUE_FATAL(sl_node_next(&root, &state, &at));
        sl_expect_text(at.key, keys[i], "member");
    }
    CU_ASSERT_FALSE(sl_node_next(&root, &state, &at));
    const sl_node parameters = member(&root, "parameters");
    CU_ASSERT_EQUAL(sl_node_count(&parameters), 12);
    CU_ASSERT_EQUAL(uint_of(&parameters, "total"), 173504);
    CU_ASSERT_EQUAL(uint_of(&parameters, "active_per_token"), 173504);
    CU_ASSERT_EQUAL(uint_of(&parameters, "routed_experts"), 0);
    CU_ASSERT_EQUAL(uint_of(&root, "weights_bytes"), 347008);
    const sl_node layers = member(&root, "layers");
    CU_ASSERT_EQUAL(sum_of_runs(&layers, "weights_bytes"), 347008);
    sl_json_free(json);
    clear_reading(&result);
}

/* Elements of the tensors listed, each run as often as it says, tied ones and
 * buffers left out. */
static uint64_t
listed_elements(const sl_node *layers)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < sl_node_count(layers); i++) {
        sl_node run;
        CU_ASSERT_TRUE_FATAL(sl_node_at(layers, i, &run));
        const sl_node tensors = member(&run, "tensors");
        for (size_t k = 0; k < sl_node_count(&tensors); k++) {
            sl_errors err = {0};
            bool tied = false;
            bool buffer = false;
            sl_node tensor;
            CU_ASSERT_TRUE_FATAL(sl_node_at(&tensors, k, &tensor));
            CU_ASSERT_EQUAL(sl_node_bool(&tensor, "tied", &tied, NULL, &err), SL_OK);
            CU_ASSERT_EQUAL(sl_node_bool(&tensor, "buffer", &buffer, NULL, &err), SL_OK);
            const sl_node shape = member(&tensor, "shape");
            uint64_t elements = tied || buffer ? 0 : uint_of(&run, "count");
            uint64_t experts = 1;
            CU_ASSERT_EQUAL(sl_node_uint(&tensor, "experts", 1, UINT64_MAX, &experts, NULL, &err),
                            SL_OK);
            elements *= experts;
            for (size_t axis = 0; axis < sl_node_count(&shape); axis++) {
                sl_node side;
                uint64_t size = 0;
                CU_ASSERT_TRUE_FATAL(sl_node_at(&shape, axis, &side));
                CU_ASSERT_EQUAL(sl_node_as_uint(&side, 1, UINT64_MAX, &size, &err), SL_OK);
                elements *= size;
            }
            sum += elements;
        }
    }
    return sum;
}

static void
listed_tensors_add_up_to_the_total(void)
{
    static const char *const fixtures[] = {
        "qwen2_window", "gpt2_tiny",    "mistral_base_class", "qwen3_layer_types",
        "mixtral_tiny", "gpt_oss_tiny", "dbrx_tiny",          "deepseek_v3_tiny"};
    for (size_t i = 0; i < sizeof fixtures / sizeof fixtures[0]; i++) {
        sl_reading result = read_fixture(fixtures[i]);
        sl_json *json = answer_of(&result);
        const sl_node root = sl_json_root(json);
        const sl_node parameters = member(&root, "parameters");
        const sl_node layers = member(&root, "layers");
        CU_ASSERT_EQUAL(listed_elements(&layers), uint_of(&parameters, "total"));
        CU_ASSERT_EQUAL(sum_of_runs(&layers, "parameters"), uint_of(&parameters, "total"));
        sl_json_free(json);
        clear_reading(&result);
    }
}

static void
windowed_layers_stand_apart_from_bytes_per_token(void)
{
    sl_reading result = read_fixture("qwen2_window");
    sl_json *json = answer_of(&result);
    const sl_node root = sl_json_root(json);
    const sl_node cache = member(&root, "kv_cache");
    const sl_node windows = member(&cache, "window_layers");
    const sl_node layers = member(&root, "layers");
    sl_node window;

    CU_ASSERT_EQUAL(uint_of(&cache, "bytes_per_token"), UINT64_C(3) * 2 * 8 * 2);
    CU_ASSERT_EQUAL(uint_of(&cache, "bytes_per_sequence"), 0);
    CU_ASSERT_EQUAL_FATAL(sl_node_count(&windows), 1);
    CU_ASSERT_TRUE_FATAL(sl_node_at(&windows, 0, &window));
    CU_ASSERT_EQUAL(uint_of(&window, "window"), 16);
    CU_ASSERT_EQUAL(uint_of(&window, "count"), 2);
    CU_ASSERT_EQUAL(uint_of(&window, "bytes_per_token"), UINT64_C(2) * 8 * 2);
    CU_ASSERT_EQUAL(sl_node_count(&layers), 4);
    sl_json_free(json);
    clear_reading(&result);
}

static const char *
text_of(const sl_node *object, const char *name)
{
    sl_errors err = {0};
    const char *text = NULL;
    CU_ASSERT_EQUAL(sl_node_text(object, name, &text, NULL, &err), SL_OK);
    return text == NULL ? "" : text;
}

static void
a_quantised_checkpoint_says_how_it_is_stored(void)
{
    static const char *const keys[] = {"method",
                                       "format",
                                       "bits",
                                       "group_size",
                                       "block",
                                       "scale_bytes",
                                       "quantized_parameters",
                                       "kept_parameters",
                                       "modules_kept_count",
                                       "modules_kept",
                                       "kv_cache_dtype"};
    sl_reading result = read_fixture("llama_fp8");
    sl_json *json = answer_of(&result);
    const sl_node root = sl_json_root(json);
    const sl_node quantization = member(&root, "quantization");
    const sl_node warnings = member(&root, "warnings");
    const sl_node block = member(&quantization, "block");
    void *state = NULL;
    sl_node at;

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        CU_ASSERT_TRUE_FATAL(sl_node_next(&quantization, &state, &at));
        sl_expect_text(at.key, keys[i], "member");
    }
    CU_ASSERT_FALSE(sl_node_next(&quantization, &state, &at));
    sl_expect_text(text_of(&quantization, "method"), "fp8", "method");
    CU_ASSERT_EQUAL(uint_of(&quantization, "bits"), 8);
    CU_ASSERT_EQUAL(sl_node_count(&block), 2);
    CU_ASSERT_EQUAL(uint_of(&quantization, "scale_bytes"), UINT64_C(4) * (8 + 10 + 6));
    CU_ASSERT_EQUAL(uint_of(&quantization, "modules_kept_count"), 3);
    CU_ASSERT_EQUAL(sl_node_count(&warnings), 1);
    sl_json_free(json);
    clear_reading(&result);
}

static void
a_method_that_is_not_modelled_is_named_alone(void)
{
    static const char text[] =
        "{\"model_type\":\"llama\",\"quantization_config\":{\"quant_method\":\"hqq\"}}";
    sl_reading result = read_text(text, strlen(text));
    sl_json *json = answer_of(&result);
    const sl_node root = sl_json_root(json);
    const sl_node quantization = member(&root, "quantization");
    sl_node bits;

    sl_expect_text(text_of(&quantization, "method"), "hqq", "method");
    CU_ASSERT_FALSE(sl_node_member(&quantization, "bits", &bits));
    sl_json_free(json);
    clear_reading(&result);
}

/* Dtype of tensor `index` of run `at`. */
static const char *
dtype_of(const sl_node *layers, size_t at, size_t index)
{
    sl_node run;
    sl_node tensor;
    CU_ASSERT_TRUE_FATAL(sl_node_at(layers, at, &run));
    const sl_node tensors = member(&run, "tensors");
    CU_ASSERT_TRUE_FATAL(sl_node_at(&tensors, index, &tensor));
    return text_of(&tensor, "dtype");
}

/* The fixture keeps the down projection of block 0 and the attention of block 2. */
static void
kept_modules_split_a_run_of_layers(void)
{
    enum { QUERY = 1, DOWN = 8 };
    sl_reading result = read_fixture("llama_fp8");
    sl_json *json = answer_of(&result);
    const sl_node root = sl_json_root(json);
    const sl_node layers = member(&root, "layers");

    CU_ASSERT_EQUAL_FATAL(sl_node_count(&layers), 5);
    sl_expect_text(dtype_of(&layers, 0, 0), "bf16", "embedding");
    sl_expect_text(dtype_of(&layers, 1, QUERY), "fp8_e4m3", "query of block 0");
    sl_expect_text(dtype_of(&layers, 1, DOWN), "bf16", "down of block 0");
    sl_expect_text(dtype_of(&layers, 2, DOWN), "fp8_e4m3", "down of block 1");
    sl_expect_text(dtype_of(&layers, 3, QUERY), "bf16", "query of block 2");
    sl_json_free(json);
    clear_reading(&result);
}

/* A tower's run has dtypes of its own. */
static void
towers_of_a_quantised_checkpoint_have_its_dtypes(void)
{
    static const char text[] =
        "{\"model_type\":\"llava\",\"text_config\":{\"model_type\":\"llama\"},\"vision_config\":{},"
        "\"quantization_config\":{\"quant_method\":\"fp8\",\"modules_to_not_convert\":"
        "[\"vision_tower.vision_model.encoder.layers.0.mlp\"]}}";
    sl_reading result = read_text(text, strlen(text));
    CU_ASSERT_EQUAL_FATAL(result.code, SL_OK);
    sl_json *json = answer_of(&result);
    const sl_node root = sl_json_root(json);
    const sl_node layers = member(&root, "layers");
    uint32_t converted = 0;
    uint32_t mixed = 0;
    sl_node run;
    sl_node at;

    for (size_t i = 0; sl_node_at(&layers, i, &run); i++) {
        if (strcmp(text_of(&run, "pipeline_parallel"), "not_planned") != 0)
            continue;
        const sl_node tensors = member(&run, "tensors");
        for (size_t k = 0; sl_node_at(&tensors, k, &at); k++) {
            converted += strcmp(text_of(&at, "dtype"), "fp8_e4m3") == 0;
            mixed += sl_node_member(&at, "dtype_mixed", &(sl_node){0});
        }
    }
    CU_ASSERT_EQUAL(converted, 6 + 2);
    CU_ASSERT_EQUAL(mixed, 2);
    sl_json_free(json);
    clear_reading(&result);
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(the_answer_has_the_members_of_the_contract_in_order),
        SL_CASE(listed_tensors_add_up_to_the_total),
        SL_CASE(windowed_layers_stand_apart_from_bytes_per_token),
        SL_CASE(a_quantised_checkpoint_says_how_it_is_stored),
        SL_CASE(a_method_that_is_not_modelled_is_named_alone),
        SL_CASE(kept_modules_split_a_run_of_layers),
        SL_CASE(towers_of_a_quantised_checkpoint_have_its_dtypes),
    };
    return sl_run_cases(argc, argv, "model_json", cases, sizeof cases / sizeof cases[0]);
}
