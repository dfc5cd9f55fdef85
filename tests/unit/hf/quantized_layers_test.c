/* Which tensors of a model a quantisation config converts, and what finding out may cost. */
#include "harness.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "hf/modules.h"
#include "hf/quantization.h"
#include "reading.h"

enum { TEXT_MAX = 1 << 20 };

/* Appends to a text of TEXT_MAX bytes. */
static void add_text(char *text, const char *format, ...) SL_PRINTF(2, 3);

static void
add_text(char *text, const char *format, ...)
{
    const size_t size = strlen(text);
    va_list arguments;

    va_start(arguments, format);
    CU_ASSERT_TRUE_FATAL(sl_text_vformat(text + size, TEXT_MAX - size, format, arguments));
    va_end(arguments);
}

#define FLOAT_GROUP(targets)                                                                       \
    "{\"targets\":" targets                                                                        \
    ",\"weights\":{\"num_bits\":8,\"type\":\"float\",\"strategy\":\"tensor\"}}"
#define COMPRESSED(targets, ignore)                                                                \
    "{\"quant_method\":\"compressed-tensors\",\"format\":\"float-quantized\","                     \
    "\"config_groups\":{\"g\":" FLOAT_GROUP(targets) "},\"ignore\":" ignore "}"

static const char llava[] = "\"model_type\":\"llava\",\"text_config\":{\"model_type\":\"llama\"},"
                            "\"vision_config\":{\"hidden_size\":1024,\"intermediate_size\":4096,"
                            "\"num_hidden_layers\":24}";

static sl_reading
read_with(const char *keys, const char *section)
{
    char text[2000];
    CU_ASSERT_TRUE_FATAL(
        sl_text_format(text, sizeof text, "{%s,\"quantization_config\":%s}", keys, section));
    const sl_reading result = read_text(text, strlen(text));
    CU_ASSERT_EQUAL_FATAL(result.code, SL_OK);
    return result;
}

static bool
warns_of(const sl_reading *result, const char *words)
{
    for (uint32_t i = 0; i < result->warnings.count; i++) {
        if (strstr(result->warnings.list[i].message, words) != NULL)
            return true;
    }
    return false;
}

/* Steps of comparing the lists of a config that was read. */
static uint64_t
steps_of(const sl_reading *result)
{
    const sl_node root = sl_json_root(result->json);
    sl_hf_quantization quantization;
    sl_errors warnings = {0};
    sl_errors err = {0};

    CU_ASSERT_EQUAL_FATAL(sl_hf_quantization_read(&root, &quantization, &err), SL_OK);
    return sl_hf_quantization_apply(&quantization, result->model, &warnings);
}

/* DeepSeek-V3 quantises 669,065,609,216 weights, of which 58 blocks have one expert of 3 matrices
 * of 2048 x 7168 each that stays. */
static void
one_expert_of_every_block_may_be_kept(void)
{
    sl_reading result =
        read_with("\"model_type\":\"deepseek_v3\"",
                  COMPRESSED("[\"Linear\"]", "[\"lm_head\",\"re:.*mlp\\\\.gate$\","
                                             "\"re:.*\\\\.experts\\\\.255\\\\..*\"]"));

    CU_ASSERT_EQUAL(result.model->quantization.quantized_parameters,
                    UINT64_C(669065609216) - UINT64_C(58) * 3 * 2048 * 7168);
    CU_ASSERT_FALSE(warns_of(&result, "too long"));
    CU_ASSERT_TRUE(steps_of(&result) < SL_HF_WORK_MAX / 2);
    clear_reading(&result);
}

/* Entries without a number are asked once for numbers of one digit, of two, of three. */
static void
entries_without_numbers_are_not_asked_for_each_expert(void)
{
    sl_reading all = read_with("\"model_type\":\"deepseek_v3\"",
                               COMPRESSED("[\"Linear\"]", "[\"re:.*experts.*down.*\"]"));
    sl_reading digits =
        read_with("\"model_type\":\"deepseek_v3\"",
                  COMPRESSED("[\"Linear\"]", "[\"re:.*\\\\.experts\\\\.\\\\w\\\\..*\","
                                             "\"*.experts.??.*\"]"));
    const uint64_t expert = UINT64_C(58) * 3 * 2048 * 7168;
    const uint64_t layers = UINT64_C(669065609216) + UINT64_C(129280) * 7168;

    CU_ASSERT_TRUE(steps_of(&all) < 1 << 20);
    CU_ASSERT_EQUAL(all.model->quantization.quantized_parameters,
                    layers - 257 * expert / 3); /* the shared one too */
    CU_ASSERT_EQUAL(digits.model->quantization.quantized_parameters, layers - 100 * expert);
    CU_ASSERT_TRUE(steps_of(&digits) < 1 << 21);
    clear_reading(&all);
    clear_reading(&digits);
}

/* The most that a request may ask for: 2000 blocks of 65536 experts. */
static const char largest[] = "\"model_type\":\"mixtral\",\"num_hidden_layers\":2000,"
                              "\"num_local_experts\":65536,\"hidden_size\":64,"
                              "\"intermediate_size\":64";

/* Eight groups of `count` targets each, "re:" or not, and different in their number. */
static void
write_groups(char *text, const char *keys, uint32_t count, const char *start)
{
    uint32_t number = 0;

    text[0] = '\0';
    add_text(text,
             "{%s,\"quantization_config\":{\"quant_method\":\"compressed-tensors\","
             "\"format\":\"float-quantized\",\"config_groups\":{",
             keys);
    for (uint32_t group = 0; group < 8; group++) {
        add_text(text, "%s\"g%u\":{\"weights\":{\"num_bits\":8,\"type\":\"float\"},\"targets\":[",
                 group == 0 ? "" : ",", group);
        for (uint32_t i = 0; i < count; i++)
            add_text(text, "%s\"%s%u\"", i == 0 ? "" : ",", start, number++);
        add_text(text, "]}");
    }
    add_text(text, "}}}");
}

static void
the_work_of_all_lists_together_is_bounded(void)
{
    static const struct {
        uint32_t count;
        const char *start;
    } cases[] = {
        {1024, "*????????????????????????????????????????X"},
        {64, "re:.*(s|e|a|l|y|r|[0-9]|[.])"
             "............................................................Q"},
        {64, "re:((((((((((.*)*)*)*)*)*)*)*)*)*)*[x-z]?[0-9]?"},
        {1024, "a.b.c."},
        {1, "*"},
    };
    static char text[TEXT_MAX];

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        write_groups(text, largest, cases[i].count, cases[i].start);
        sl_reading result = read_text(text, strlen(text));
        CU_ASSERT_EQUAL_FATAL(result.code, SL_OK);
        CU_ASSERT_EQUAL(result.model->quantized_weights_bytes, 0);
        CU_ASSERT_TRUE(warns_of(&result, "too long to compare"));
        const uint64_t steps = steps_of(&result);
        if (steps < SL_HF_WORK_MAX || steps > SL_HF_WORK_MAX + (1 << 17)) {
            printf("%s: %llu steps\n", cases[i].start, (unsigned long long)steps);
            CU_FAIL("not the bound of one request");
        }
        clear_reading(&result);
    }
    /* A model of usual size may have many. */
    write_groups(text, "\"model_type\":\"mixtral\"", 8, "re:.*\\\\.experts\\\\..*Q");
    sl_reading usual = read_text(text, strlen(text));
    CU_ASSERT_EQUAL_FATAL(usual.code, SL_OK);
    CU_ASSERT_NOT_EQUAL(usual.model->quantized_weights_bytes, 0);
    clear_reading(&usual);
}

/* Tables, scores, norms and bare parameters of two axes are no linear layers, whatever their
 * component is. */
static void
only_weights_of_linear_layers_are_converted(void)
{
    static const struct {
        const char *keys;
        const char *tensor; /* the end of its name */
        bool linear;
    } cases[] = {
        {"\"model_type\":\"mamba\"", "A_log", false},
        {"\"model_type\":\"mamba\"", "x_proj.weight", true},
        {"\"model_type\":\"t5\"", "relative_attention_bias.weight", false},
        {"\"model_type\":\"t5\"", "SelfAttention.q.weight", true},
        {"\"model_type\":\"t5\"", "shared.weight", false},
        {"\"model_type\":\"deepseek_v4\"", "hc_attn_fn", false},
        {"\"model_type\":\"deepseek_v4\"", "hc_ffn_fn", false},
        {"\"model_type\":\"deepseek_v4\"", "compressor.ape", false},
        {"\"model_type\":\"deepseek_v4\"", "attn.wkv.weight", true},
        {"\"model_type\":\"ernie4_5_moe\"", "e_score_correction_bias", false},
        {"\"model_type\":\"bert\"", "position_embeddings.weight", false},
        {"\"model_type\":\"deepseek_v3\"", "mlp.gate.weight", false},
        {"\"model_type\":\"mixtral\"", "gate.weight", true},
        {"\"model_type\":\"gpt_oss\"", "gate_up_proj", true},
        {"\"model_type\":\"gpt_oss\"", "gate_up_proj_bias", false},
        {"\"model_type\":\"llama\"", "embed_tokens.weight", false},
        {"\"model_type\":\"llama\"", "lm_head.weight", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sl_reading result = read_with(cases[i].keys, COMPRESSED("[\"Linear\"]", "[]"));
        const sl_model *model = result.model;
        uint32_t found = 0;
        for (uint32_t layer = 0; layer < model->layer_count; layer++) {
            const sl_layer_kind *kind = &model->kinds[model->layers[layer]];
            for (uint32_t k = 0; k < kind->tensor_count; k++) {
                const sl_tensor *tensor = &kind->tensors[k];
                if (!sl_text_ends_with(tensor->name, cases[i].tensor))
                    continue;
                found++;
                CU_ASSERT_EQUAL(tensor->linear, cases[i].linear);
                const bool converted = cases[i].linear && tensor->component != SL_COMPONENT_ROUTER;
                CU_ASSERT_EQUAL(model->stored_as[layer][k].format != 0, converted);
            }
        }
        if (found == 0) {
            printf("%s: %s\n", cases[i].keys, cases[i].tensor);
            CU_FAIL("no such tensor");
        }
        clear_reading(&result);
    }
}

/* CLIP's tower in llava: 24 blocks of 4 matrices of 1024 x 1024 and 2 of 4096 x 1024, and the
 * projector's 1024 x 4096 and 4096 x 4096. */
static const uint64_t clip_block = UINT64_C(4) * 1024 * 1024 + UINT64_C(2) * 4096 * 1024;
static const uint64_t projector = UINT64_C(1024) * 4096 + UINT64_C(4096) * 4096;

/* Parameters of llava that a section quantises. */
static uint64_t
quantized_by(const char *section)
{
    sl_reading result = read_with(llava, section);
    const sl_quantization *found = &result.model->quantization;
    const uint64_t quantized = found->quantized_parameters;
    sl_model_counts counts;

    CU_ASSERT_EQUAL_FATAL(sl_model_count(result.model, &counts), SL_OK);
    CU_ASSERT_EQUAL(quantized + found->kept_parameters, counts.total);
    clear_reading(&result);
    return quantized;
}

static void
towers_are_converted_as_the_method_does(void)
{
    const uint64_t text = quantized_by(COMPRESSED(
        "[\"Linear\"]", "[\"lm_head\",\"re:.*vision_tower.*\",\"re:.*multi_modal_projector.*\"]"));
    const uint64_t tower = 24 * clip_block;

    CU_ASSERT_EQUAL(quantized_by(COMPRESSED("[\"Linear\"]", "[\"lm_head\"]")),
                    text + tower + projector);
    /* An entry of this method is a module, not what holds modules. */
    CU_ASSERT_EQUAL(quantized_by(COMPRESSED("[\"Linear\"]", "[\"lm_head\",\"vision_tower\"]")),
                    text + tower + projector);
    CU_ASSERT_EQUAL(
        quantized_by(COMPRESSED("[\"Linear\"]", "[\"lm_head\",\"re:.*vision_tower.*\"]")),
        text + projector);
    CU_ASSERT_EQUAL(
        quantized_by(COMPRESSED("[\"Linear\"]", "[\"lm_head\",\"re:.*encoder.layers.23[.].*\"]")),
        text + tower - clip_block + projector);
    CU_ASSERT_EQUAL(quantized_by("{\"quant_method\":\"bitsandbytes\",\"load_in_8bit\":true}"),
                    text + tower + projector);
    CU_ASSERT_EQUAL(quantized_by("{\"quant_method\":\"fp8\"}"), text + tower + projector);
    CU_ASSERT_EQUAL(quantized_by("{\"quant_method\":\"modelopt\",\"quant_algo\":\"FP8\","
                                 "\"exclude_modules\":[\"lm_head\",\"vision_tower*\"]}"),
                    text + projector);
    CU_ASSERT_EQUAL(quantized_by("{\"quant_method\":\"awq\"}"), text);
    CU_ASSERT_EQUAL(quantized_by("{\"quant_method\":\"gptq\"}"), text);
    CU_ASSERT_EQUAL(quantized_by("{\"quant_method\":\"gptq\",\"modules_in_block_to_quantize\":"
                                 "[[\"self_attn.q_proj\"]]}"),
                    UINT64_C(32) * 4096 * 4096);
}

/* One block of 24 kept: the run's tensors are of both dtypes. */
static void
towers_say_how_their_tensors_are_stored(void)
{
    sl_reading result =
        read_with(llava, COMPRESSED("[\"Linear\"]", "[\"re:.*encoder.layers.0.mlp.*\"]"));
    const sl_model *model = result.model;
    uint32_t mixed = 0;
    uint32_t converted = 0;

    for (uint32_t kind = 0; kind < model->kind_count; kind++) {
        const sl_stored_as *as = sl_model_stored_beside(model, kind);
        for (uint32_t i = 0; i < model->kinds[kind].tensor_count; i++) {
            mixed += as[i].mixed;
            converted += as[i].format != 0;
        }
    }
    CU_ASSERT_EQUAL(mixed, 2);
    CU_ASSERT_EQUAL(converted, 6 + 2);
    clear_reading(&result);
}

static void
routers_that_may_be_converted_are_kept_with_a_warning(void)
{
    static const char words[] = "routers that it is not told of";
    static const char mixtral[] = "\"model_type\":\"mixtral\"";
    sl_reading open = read_with(mixtral, COMPRESSED("[\"Linear\"]", "[\"lm_head\"]"));
    sl_reading told =
        read_with(mixtral, COMPRESSED("[\"Linear\"]", "[\"lm_head\",\"re:.*gate$\"]"));
    sl_reading named = read_with(mixtral, COMPRESSED("[\"re:.*gate$\"]", "[]"));
    sl_reading awq = read_with(mixtral, "{\"quant_method\":\"awq\"}");
    sl_reading bare = read_with("\"model_type\":\"deepseek_v3\"", "{\"quant_method\":\"fp8\"}");

    CU_ASSERT_TRUE(warns_of(&open, words));
    CU_ASSERT_TRUE(warns_of(&open, "1048576 parameters")); /* 32 * 8 * 4096 */
    CU_ASSERT_FALSE(warns_of(&told, words));
    CU_ASSERT_FALSE(warns_of(&awq, words));
    CU_ASSERT_FALSE(warns_of(&bare, words));
    CU_ASSERT_EQUAL(open.model->quantized_weights_bytes, told.model->quantized_weights_bytes);
    CU_ASSERT_EQUAL(named.model->quantization.quantized_parameters, UINT64_C(32) * 8 * 4096);
    clear_reading(&open);
    clear_reading(&told);
    clear_reading(&named);
    clear_reading(&awq);
    clear_reading(&bare);
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(one_expert_of_every_block_may_be_kept),
        SL_CASE(entries_without_numbers_are_not_asked_for_each_expert),
        SL_CASE(the_work_of_all_lists_together_is_bounded),
        SL_CASE(only_weights_of_linear_layers_are_converted),
        SL_CASE(towers_are_converted_as_the_method_does),
        SL_CASE(towers_say_how_their_tensors_are_stored),
        SL_CASE(routers_that_may_be_converted_are_kept_with_a_warning),
    };
    return sl_run_cases(argc, argv, "quantized_layers", cases, sizeof cases / sizeof cases[0]);
}
