/* What each quantisation method stores: facts of the files that its own tools write. */
#include <assert.h>
#include <stdarg.h>
#include <string.h>

#include "base/text.h"
#include "hf/quantization.h"

enum { GROUP_MAX = 1 << 20 };

void
sl_hf_refuse(sl_hf_quantization *out, const char *format, ...)
{
    va_list arguments;

    if (out->refused[0] != '\0')
        return;
    va_start(arguments, format);
    (void)sl_text_vformat(out->refused, sizeof out->refused, format, arguments);
    va_end(arguments);
}

sl_hf_group *
sl_hf_add_group(sl_hf_quantization *out, const sl_tensor_format *format)
{
    if (out->group_count == SL_FORMATS_MAX) {
        sl_hf_refuse(out, "more than %d groups", SL_FORMATS_MAX);
        return NULL;
    }
    sl_hf_group *group = &out->groups[out->group_count++];
    *group = (sl_hf_group){.format = *format, .everywhere = true};
    return group;
}

sl_code
sl_hf_read_group_size(const sl_node *section, const char *name, uint64_t *out, sl_errors *err)
{
    double size = -1;

    const sl_code code = sl_node_double(section, name, -1, GROUP_MAX, &size, NULL, err);
    if (code != SL_OK)
        return code;
    const uint64_t whole = size < 0 ? 0 : (uint64_t)size;
    if (size != -1 && (whole == 0 || (double)whole != size))
        return sl_node_fail_at(section, name, err, SL_E_RANGE, "out_of_range",
                               "must be a number of weights, or -1 for all of a row, got %g", size);
    *out = whole;
    return SL_OK;
}

sl_code
sl_hf_read_block(const sl_node *section, const char *name, sl_tensor_format *format, bool *present,
                 sl_errors *err)
{
    uint64_t sides[2] = {0, 0};
    sl_node list;
    sl_node side;

    *present = sl_node_member(section, name, &list);
    if (!*present)
        return SL_OK;
    if (sl_node_kind(&list) != SL_JSON_ARRAY || sl_node_count(&list) != 2)
        return sl_node_fail(&list, err, SL_E_RANGE, "wrong_type",
                            "must be a list of the rows and columns of a block");
    for (size_t i = 0; i < 2 && sl_node_at(&list, i, &side); i++) {
        const sl_code code = sl_node_as_uint(&side, 1, GROUP_MAX, &sides[i], err);
        if (code != SL_OK)
            return code;
    }
    format->scale_outputs = sides[0];
    format->scale_inputs = sides[1];
    return SL_OK;
}

sl_code
sl_hf_read_names(const sl_node *names, sl_node *out, sl_errors *err)
{
    const sl_json_kind kind = sl_node_kind(names);
    sl_node element;
    sl_node inner;

    if (kind != SL_JSON_ARRAY && kind != SL_JSON_OBJECT)
        return sl_node_fail(names, err, SL_E_RANGE, "wrong_type", "must be a list of module names");
    for (size_t i = 0; kind == SL_JSON_ARRAY && sl_node_at(names, i, &element); i++) {
        const bool nested = sl_node_kind(&element) == SL_JSON_ARRAY;
        const size_t count = nested ? sl_node_count(&element) : 1;
        for (size_t k = 0; k < count; k++) {
            const char *text = NULL;
            inner = element;
            if (nested && !sl_node_at(&element, k, &inner))
                break;
            const sl_code code = sl_node_as_text(&inner, &text, err);
            if (code != SL_OK)
                return code;
        }
    }
    *out = *names;
    out->parent = NULL;
    return SL_OK;
}

sl_code
sl_hf_read_kept(sl_hf_quantization *out, const sl_node *section, const char *name, sl_errors *err)
{
    sl_node list;

    if (!sl_node_member(section, name, &list))
        return SL_OK;
    assert(out->kept_count < SL_HF_KEPT_MAX);
    return sl_hf_read_names(&list, &out->kept[out->kept_count++], err);
}

const char *
sl_hf_dtype(bool is_float, uint64_t bits)
{
    static const char *const integers[] = {[1] = "int1", [2] = "int2", [3] = "int3", [4] = "int4",
                                           [5] = "int5", [6] = "int6", [7] = "int7", [8] = "int8"};
    static const char *const floats[9] = {[4] = "fp4_e2m1", [8] = "fp8_e4m3"};
    if (bits > 8)
        return NULL;
    return is_float ? floats[bits] : integers[bits];
}

static bool
is_text(const char *text, const char *expected)
{
    return text != NULL && sl_text_equal_ignoring_case(text, expected);
}

sl_code
sl_hf_read_kv_scheme(sl_hf_quantization *out, const sl_node *section, sl_errors *err)
{
    sl_node scheme;
    uint64_t bits = 0;
    const char *type = NULL;

    if (!sl_node_member(section, "kv_cache_scheme", &scheme))
        return SL_OK;
    sl_code code = sl_node_object(&scheme, err);
    if (code == SL_OK)
        code = sl_node_uint(&scheme, "num_bits", 1, 64, &bits, NULL, err);
    if (code == SL_OK)
        code = sl_node_text(&scheme, "type", &type, NULL, err);
    if (code == SL_OK)
        out->kv_cache = sl_hf_dtype(is_text(type, "float"), bits);
    return code;
}

/* Fine-grained fp8: weight and weight_scale_inv, one fp32 for each tile; without tiles one for the
 * matrix; input_scale where activations have a fixed one. The files of DeepSeek that say scale_fmt
 * ue8m0 still hold the scales as fp32, rounded to powers of two. */
static sl_code
read_fp8(sl_hf_quantization *out, sl_errors *err)
{
    static const sl_tensor_format plain = {
        .dtype = "fp8_e4m3", .bits = 8, .word_weights = 1, .word_bytes = 1, .scale_bytes = 4};
    const char *format = NULL;
    const char *scheme = NULL;
    bool block = false;

    sl_hf_group *group = sl_hf_add_group(out, &plain);
    sl_code code =
        sl_hf_read_block(&out->section, "weight_block_size", &group->format, &block, err);
    if (code == SL_OK)
        code = sl_node_text(&out->section, "fmt", &format, NULL, err);
    if (code == SL_OK)
        code = sl_node_text(&out->section, "activation_scheme", &scheme, NULL, err);
    if (code != SL_OK)
        return code;
    if (is_text(format, "e5m2") || is_text(format, "float8_e5m2"))
        group->format.dtype = "fp8_e5m2";
    else if (format != NULL && !is_text(format, "e4m3") && !is_text(format, "float8_e4m3fn"))
        sl_hf_refuse(out, "fmt %s", format);
    if (is_text(scheme, "static"))
        group->format.input_bytes = 4;
    out->format = block ? "block" : "tensor";
    out->assumed = "fp32 scales";
    return SL_OK;
}

/* FBGEMM: one fp32 for each output feature. */
static sl_code
read_fbgemm(sl_hf_quantization *out, sl_errors *err)
{
    static const sl_tensor_format rows = {.dtype = "fp8_e4m3",
                                          .bits = 8,
                                          .word_weights = 1,
                                          .word_bytes = 1,
                                          .scale_outputs = 1,
                                          .scale_bytes = 4};
    (void)err;
    (void)sl_hf_add_group(out, &rows);
    out->format = "row";
    out->assumed = "one fp32 scale for each output feature";
    return SL_OK;
}

/* "dynamic" of GPTQModel: an expression behind "-:" keeps modules, one behind "+:" or nothing gives
 * them bits and groups of their own. */
static sl_code
read_exceptions(sl_hf_quantization *out, sl_errors *err)
{
    sl_node exceptions;
    sl_node at;
    void *state = NULL;

    if (!sl_node_member(&out->section, "dynamic", &exceptions))
        return SL_OK;
    const sl_code code = sl_node_object(&exceptions, err);
    if (code != SL_OK)
        return code;
    while (sl_node_next(&exceptions, &state, &at)) {
        if (strncmp(at.key, "-:", 2) != 0)
            sl_hf_refuse(out, "dynamic %.60s", at.key);
    }
    return sl_hf_read_kept(out, &out->section, "dynamic", err);
}

/* qweight and qzeros in words of 32 bits (three of them for 32 weights of 3 bits), fp16 scales, and
 * g_idx whether or not the columns were ordered. */
static sl_code
read_gptq(sl_hf_quantization *out, sl_errors *err)
{
    static const uint32_t word_weights[9] = {[2] = 16, [3] = 32, [4] = 8, [8] = 4};
    const sl_node *section = &out->section;
    const char *layout = NULL;
    uint64_t bits = 4;
    sl_node modules;
    sl_tensor_format format = {.scale_outputs = 1, .scale_bytes = 2, .order_bytes = 4};

    sl_code code = sl_node_uint(section, "bits", 1, 64, &bits, NULL, err);
    if (code == SL_OK)
        code = sl_hf_read_group_size(section, "group_size", &format.scale_inputs, err);
    if (code == SL_OK)
        code = sl_node_text(section, "checkpoint_format", &layout, NULL, err);
    if (code == SL_OK)
        code = sl_node_bool(section, "lm_head", &out->head, NULL, err);
    if (code == SL_OK)
        code = read_exceptions(out, err);
    if (code != SL_OK)
        return code;
    if (layout != NULL && !is_text(layout, "gptq") && !is_text(layout, "gptq_v2"))
        sl_hf_refuse(out, "checkpoint_format %s", layout);
    if (bits > 8 || word_weights[bits] == 0) {
        sl_hf_refuse(out, "%u bits", (unsigned)bits);
        return SL_OK;
    }
    format.dtype = sl_hf_dtype(false, bits);
    format.bits = (uint32_t)bits;
    format.word_weights = format.word_zeros = word_weights[bits];
    format.word_bytes = format.word_zero_bytes = (uint32_t)(word_weights[bits] * bits / 8);
    sl_hf_group *group = sl_hf_add_group(out, &format);
    out->format = layout == NULL ? "gptq" : layout;
    out->assumed = "fp16 scales, packed zero points and the group of every input feature";
    if (!sl_node_member(section, "modules_in_block_to_quantize", &modules))
        return SL_OK;
    group->everywhere = false;
    return sl_hf_read_names(&modules, &group->targets, err);
}

/* qweight and qzeros in words of 32 bits along the outputs, fp16 scales. The other versions lay
 * scales and zero points out with padding that depends on the group. */
static sl_code
read_awq(sl_hf_quantization *out, sl_errors *err)
{
    static const sl_tensor_format packed = {.dtype = "int4",
                                            .bits = 4,
                                            .word_weights = 8,
                                            .word_bytes = 4,
                                            .scale_outputs = 1,
                                            .scale_bytes = 2,
                                            .word_zeros = 8,
                                            .word_zero_bytes = 4,
                                            .words_along_outputs = true};
    uint64_t bits = 4;
    const char *version = "gemm";
    sl_node other;

    sl_hf_group *group = sl_hf_add_group(out, &packed);
    sl_code code = sl_node_uint(&out->section, "bits", 1, 64, &bits, NULL, err);
    if (code == SL_OK)
        code = sl_node_uint(&out->section, "w_bit", 1, 64, &bits, NULL, err);
    if (code == SL_OK)
        code = sl_hf_read_group_size(&out->section, "group_size", &group->format.scale_inputs, err);
    if (code == SL_OK && sl_node_member(&out->section, "q_group_size", &other))
        code =
            sl_hf_read_group_size(&out->section, "q_group_size", &group->format.scale_inputs, err);
    if (code == SL_OK)
        code = sl_node_text(&out->section, "version", &version, NULL, err);
    if (code != SL_OK)
        return code;
    if (bits != 4)
        sl_hf_refuse(out, "%u bits", (unsigned)bits);
    if (!is_text(version, "gemm") && !is_text(version, "exllama"))
        sl_hf_refuse(out, "version %s", version);
    out->format = version;
    out->assumed = "fp16 scales and packed zero points";
    return SL_OK;
}

/* Four bits: two weights a byte; 64 of them, in storage order, share an absmax, fp32, or one byte
 * with an fp32 for 256 of those. The table of the 16 values, for nested scales that of their 256
 * and the offset, are stored with every matrix; a text of some 150 bytes is left out. Eight bits:
 * one fp32 (SCB) for each output feature, and one byte that says the layout. */
static const sl_tensor_format bnb_four = {.dtype = "fp4",
                                          .bits = 4,
                                          .word_weights = 2,
                                          .word_bytes = 1,
                                          .flat = true,
                                          .scale_inputs = 64,
                                          .scale_bytes = 4,
                                          .matrix_bytes = 16 * 4};
static const sl_tensor_format bnb_eight = {.dtype = "int8",
                                           .bits = 8,
                                           .word_weights = 1,
                                           .word_bytes = 1,
                                           .scale_outputs = 1,
                                           .scale_bytes = 4,
                                           .matrix_bytes = 1};

static sl_code
read_bitsandbytes(sl_hf_quantization *out, sl_errors *err)
{
    const sl_node *section = &out->section;
    bool eight = false;
    bool four = false;
    bool nested = false;
    const char *type = "fp4";

    sl_code code = sl_node_bool(section, "load_in_8bit", &eight, NULL, err);
    if (code == SL_OK)
        code = sl_node_bool(section, "load_in_4bit", &four, NULL, err);
    if (code == SL_OK)
        code = sl_node_bool(section, "bnb_4bit_use_double_quant", &nested, NULL, err);
    if (code == SL_OK)
        code = sl_node_text(section, "bnb_4bit_quant_type", &type, NULL, err);
    if (code != SL_OK)
        return code;
    if (eight == four || (four && !is_text(type, "nf4") && !is_text(type, "fp4"))) {
        sl_hf_refuse(out, "neither 8 bits nor nf4 nor fp4");
        return SL_OK;
    }
    sl_hf_group *group = sl_hf_add_group(out, four ? &bnb_four : &bnb_eight);
    out->format = four ? type : "int8";
    /* Without a list the library keeps the head; a list is taken as it stands. */
    out->head = out->kept_count != 0;
    out->stacks_kept = true;
    out->assumed = four ? "blocks of 64 weights, without the text beside each matrix"
                        : "one fp32 scale for each output feature";
    if (four && is_text(type, "nf4"))
        group->format.dtype = "nf4";
    if (four && nested) {
        group->format.scale_bytes = 1;
        group->format.nested_scales = 256;
        group->format.nested_bytes = 4;
        group->format.matrix_bytes = 16 * 4 + 256 * 4 + 4;
    }
    return SL_OK;
}

/* gpt-oss: blocks of two weights a byte, and one byte (e8m0) for 32 of them along the inputs. Only
 * the experts are converted, whatever the list says. */
static sl_code
read_mxfp4(sl_hf_quantization *out, sl_errors *err)
{
    static const sl_tensor_format blocks = {.dtype = "mxfp4",
                                            .bits = 4,
                                            .word_weights = 2,
                                            .word_bytes = 1,
                                            .scale_outputs = 1,
                                            .scale_inputs = 32,
                                            .scale_bytes = 1};
    (void)err;
    (void)sl_hf_add_group(out, &blocks);
    out->experts_only = true;
    out->format = "mxfp4";
    out->assumed = "only the experts are quantised, in groups of 32";
    return SL_OK;
}

typedef struct method_row {
    const char *name;
    const char *kept; /* key of the modules to keep; NULL = the reader sees to it */
    sl_hf_reach routers;
    sl_hf_reach beside;
    sl_code (*read)(sl_hf_quantization *out, sl_errors *err);
} method_row;

/*
 * What happens to linear layers that no list names, and why:
 *
 * fp8, fbgemm_fp8     the library replaces every nn.Linear but the head's: a tower's like any
 *                     other.
 * bitsandbytes        the same.
 * compressed-tensors  targets name classes of modules, and "Linear" is every nn.Linear.
 * gptq                the tools walk the linear layers of the decoder's blocks, which each model's
 *                     definition lists without its router.
 * awq                 the same; files of wrappers also list their tower.
 * mxfp4               only the experts.
 * modelopt            converts what its patterns do not disable, and writes those into the file;
 *                     its own defaults disable routers under all their names.
 *
 * A router is an nn.Linear in some versions of a class and a bare parameter in others, so where
 * every nn.Linear is converted the file does not say whether it was.
 */
static const method_row methods[] = {
    {"fp8", "modules_to_not_convert", SL_HF_UNSURE, SL_HF_CONVERTED, read_fp8},
    {"fbgemm_fp8", "modules_to_not_convert", SL_HF_UNSURE, SL_HF_CONVERTED, read_fbgemm},
    {"gptq", "modules_to_not_convert", SL_HF_SPARED, SL_HF_SPARED, read_gptq},
    {"awq", "modules_to_not_convert", SL_HF_SPARED, SL_HF_SPARED, read_awq},
    {"bitsandbytes", "llm_int8_skip_modules", SL_HF_UNSURE, SL_HF_CONVERTED, read_bitsandbytes},
    {"mxfp4", "modules_to_not_convert", SL_HF_SPARED, SL_HF_SPARED, read_mxfp4},
    {"compressed-tensors", "ignore", SL_HF_UNSURE, SL_HF_CONVERTED, sl_hf_read_compressed},
    {"modelopt", NULL, SL_HF_SPARED, SL_HF_CONVERTED, sl_hf_read_modelopt},
    {"modelopt_fp4", NULL, SL_HF_SPARED, SL_HF_CONVERTED, sl_hf_read_modelopt},
};

sl_code
sl_hf_quantization_methods(sl_hf_quantization *out, sl_errors *err)
{
    assert(out != NULL && err != NULL);

    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        if (!sl_text_equal(methods[i].name, out->method))
            continue;
        out->routers = methods[i].routers;
        out->whole_names = methods[i].read == sl_hf_read_compressed;
        out->beside = methods[i].beside;
        if (methods[i].kept != NULL) {
            const sl_code code = sl_hf_read_kept(out, &out->section, methods[i].kept, err);
            if (code != SL_OK)
                return code;
        }
        return methods[i].read(out, err);
    }
    sl_hf_refuse(out, "the method");
    return sl_hf_read_kept(out, &out->section, "modules_to_not_convert", err);
}
