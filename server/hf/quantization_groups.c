/* The two methods whose configs name groups of layers: compressed-tensors and modelopt. */
#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "hf/quantization.h"

/* How a format of compressed-tensors lays one matrix out. A scale of 0 bytes has the dtype the
 * weights had. */
typedef struct layout_row {
    const char *name;
    const char *dtype;  /* NULL = by bits and type */
    uint32_t word_bits; /* weights are joined into words of so many; 0 = a byte each */
    uint32_t scale_bytes;
    uint32_t matrix_bytes; /* weight_shape, two int64; weight_global_scale, fp32 */
    uint32_t input_bytes;  /* of a fixed scale of activations; 0 = the dtype the weights had */
    uint64_t scale_inputs; /* of a group, where the format says it; 0 = the config does */
} layout_row;

static const layout_row layouts[] = {
    {.name = "naive-quantized"},
    {.name = "int-quantized"},
    {.name = "float-quantized"},
    {.name = "pack-quantized", .word_bits = 32, .matrix_bytes = 16},
    {.name = "nvfp4-pack-quantized",
     .dtype = "nvfp4",
     .word_bits = 8,
     .scale_bytes = 1,
     .matrix_bytes = 4,
     .input_bytes = 4,
     .scale_inputs = 16},
    {.name = "mxfp4-pack-quantized",
     .dtype = "mxfp4",
     .word_bits = 8,
     .scale_bytes = 1,
     .scale_inputs = 32},
    {.name = "mxfp8-quantized", .dtype = "mxfp8", .scale_bytes = 1, .scale_inputs = 32},
};

static const layout_row *
find_layout(const char *name)
{
    for (size_t i = 0; name != NULL && i < sizeof layouts / sizeof layouts[0]; i++) {
        if (sl_text_equal(layouts[i].name, name))
            return &layouts[i];
    }
    return NULL;
}

/* What a group says of its weights. */
typedef struct weights_args {
    uint64_t bits;
    const char *type;
    const char *strategy;
    const char *order; /* "group": the columns were ordered, weight_g_idx is stored */
    bool symmetric;
    uint64_t group_size; /* 0 = none */
} weights_args;

static sl_code
read_args(const sl_node *weights, weights_args *args, sl_errors *err)
{
    sl_node order;

    *args = (weights_args){.bits = 8, .type = "int", .symmetric = true};
    sl_code code = sl_node_object(weights, err);
    if (code == SL_OK)
        code = sl_node_uint(weights, "num_bits", 1, 64, &args->bits, NULL, err);
    if (code == SL_OK)
        code = sl_node_text(weights, "type", &args->type, NULL, err);
    if (code == SL_OK)
        code = sl_node_text(weights, "strategy", &args->strategy, NULL, err);
    if (code == SL_OK && sl_node_member(weights, "actorder", &order) &&
        sl_node_kind(&order) == SL_JSON_TEXT)
        code = sl_node_as_text(&order, &args->order, err);
    if (code == SL_OK)
        code = sl_node_bool(weights, "symmetric", &args->symmetric, NULL, err);
    if (code == SL_OK)
        code = sl_hf_read_group_size(weights, "group_size", &args->group_size, err);
    if (code == SL_OK && args->strategy == NULL)
        args->strategy = args->group_size != 0 ? "group" : "tensor";
    return code;
}

/* Where the scales stand; false when the strategy is not one of weights. */
static bool
place_scales(const weights_args *args, const layout_row *layout, bool block,
             sl_tensor_format *format)
{
    const bool group =
        sl_text_equal(args->strategy, "group") || sl_text_equal(args->strategy, "tensor_group");
    const bool tensor = sl_text_equal(args->strategy, "tensor");

    if (sl_text_equal(args->strategy, "block"))
        return block && layout->scale_inputs == 0;
    if (group && args->group_size == 0)
        return false;
    if (layout->scale_inputs != 0 && (!group || args->group_size != layout->scale_inputs))
        return false;
    format->scale_outputs = tensor ? 0 : 1;
    format->scale_inputs = group ? args->group_size : 0;
    return group || tensor || sl_text_equal(args->strategy, "channel");
}

/* True when the group stores a scale of its activations: they are quantised, and not by token. */
static bool
has_input_scale(const sl_node *group)
{
    sl_errors scratch = {0};
    sl_node inputs;
    sl_node kind;
    bool dynamic = false;

    if (!sl_node_member(group, "input_activations", &inputs))
        return false;
    /* "local": scales of groups are found on the way, the one of the tensor is stored. */
    if (sl_node_member(&inputs, "dynamic", &kind) && sl_node_kind(&kind) == SL_JSON_TEXT)
        return true;
    return sl_node_bool(&inputs, "dynamic", &dynamic, NULL, &scratch) == SL_OK && !dynamic;
}

/* Zero points are bytes, but words where the weights are: then along the outputs, and only of
 * groups and channels. */
static void
place_zeros(const weights_args *args, sl_tensor_format *format)
{
    if (args->symmetric)
        return;
    const bool packed = format->word_weights > 1 && format->scale_outputs != 0;
    format->word_zeros = packed ? format->word_weights : 1;
    format->word_zero_bytes = packed ? format->word_bytes : 1;
}

/* False, refused, when the weights are of another kind than the layout stores. */
static bool
fill_format(sl_hf_quantization *out, const weights_args *args, const layout_row *layout, bool block,
            sl_tensor_format *format)
{
    const bool is_float = sl_text_equal(args->type, "float");
    const char *dtype = sl_hf_dtype(is_float, args->bits);

    if (dtype == NULL || (layout->word_bits == 32 && is_float) ||
        (layout->dtype != NULL && (!is_float || (layout->word_bits != 0) != (args->bits == 4))) ||
        (is_float && args->bits != 8 && layout->dtype == NULL) ||
        !place_scales(args, layout, block, format)) {
        sl_hf_refuse(out, "%.24s of %u-bit %.8s by %.16s", layout->name, (unsigned)args->bits,
                     args->type, args->strategy);
        return false;
    }
    format->dtype = layout->dtype != NULL ? layout->dtype : dtype;
    format->bits = (uint32_t)args->bits;
    format->word_weights = layout->word_bits == 0 ? 1 : layout->word_bits / format->bits;
    format->word_bytes = layout->word_bits == 0 ? 1 : layout->word_bits / 8;
    format->scale_bytes = layout->scale_bytes;
    format->matrix_bytes = layout->matrix_bytes;
    if (args->order != NULL &&
        (sl_text_equal(args->order, "group") || sl_text_equal(args->order, "dynamic")))
        format->order_bytes = 4;
    place_zeros(args, format);
    return true;
}

/* "Linear" stands for every linear layer; other classes cannot be told from the shapes. */
static sl_code
read_targets(sl_hf_quantization *out, const sl_node *group, sl_hf_group *to, sl_errors *err)
{
    sl_node targets;
    sl_node element;

    if (!sl_node_member(group, "targets", &targets))
        return SL_OK;
    const sl_code code = sl_hf_read_names(&targets, &to->targets, err);
    if (code != SL_OK)
        return code;
    to->everywhere = false;
    for (size_t i = 0; sl_node_at(&targets, i, &element); i++) {
        const char *text = NULL;
        const sl_code read = sl_node_as_text(&element, &text, err);
        if (read != SL_OK)
            return read;
        if (sl_text_equal(text, "Linear"))
            to->everywhere = true;
        else if (text[0] >= 'A' && text[0] <= 'Z' && strpbrk(text, "._") == NULL)
            sl_hf_refuse(out, "target %.40s", text);
    }
    return SL_OK;
}

static sl_code
read_group(sl_hf_quantization *out, const sl_node *group, sl_errors *err)
{
    sl_tensor_format format = {0};
    sl_node weights;
    weights_args args;
    bool block = false;
    const char *own = out->format;

    sl_code code = sl_node_object(group, err);
    /* A group without weights quantises activations only. */
    if (code != SL_OK || !sl_node_member(group, "weights", &weights))
        return code;
    code = sl_node_text(group, "format", &own, NULL, err);
    if (code == SL_OK)
        code = read_args(&weights, &args, err);
    if (code == SL_OK)
        code = sl_hf_read_block(&weights, "block_structure", &format, &block, err);
    if (code != SL_OK)
        return code;
    const layout_row *layout = find_layout(own);
    if (layout == NULL) {
        sl_hf_refuse(out, "format %.40s", own == NULL ? "unknown" : own);
        return SL_OK;
    }
    if (!fill_format(out, &args, layout, block, &format))
        return SL_OK;
    sl_hf_group *made = sl_hf_add_group(out, &format);
    if (made == NULL)
        return SL_OK;
    made->scales_as_weights = layout->scale_bytes == 0;
    if (has_input_scale(group))
        made->format.input_bytes = layout->input_bytes == 0 ? 1 : layout->input_bytes;
    return read_targets(out, group, made, err);
}

/* A layer is of the first group that targets it by name, else of one that targets its class. */
static sl_code
read_groups(sl_hf_quantization *out, sl_errors *err)
{
    sl_node groups;
    sl_node group;
    void *state = NULL;

    if (!sl_node_member(&out->section, "config_groups", &groups)) {
        sl_hf_refuse(out, "a section without config_groups");
        return SL_OK;
    }
    sl_code code = sl_node_object(&groups, err);
    while (code == SL_OK && sl_node_next(&groups, &state, &group))
        code = read_group(out, &group, err);
    return code;
}

/* 2:4 and bitmask sparsity change what is stored. */
static sl_code
read_sparsity(sl_hf_quantization *out, sl_errors *err)
{
    sl_node sparsity;
    const char *format = NULL;

    if (!sl_node_member(&out->section, "sparsity_config", &sparsity))
        return SL_OK;
    sl_code code = sl_node_object(&sparsity, err);
    if (code == SL_OK)
        code = sl_node_text(&sparsity, "format", &format, NULL, err);
    if (format != NULL && !sl_text_equal(format, "dense"))
        sl_hf_refuse(out, "sparsity %.40s", format);
    return code;
}

sl_code
sl_hf_read_compressed(sl_hf_quantization *out, sl_errors *err)
{
    sl_code code = sl_node_text(&out->section, "format", &out->format, NULL, err);
    if (code == SL_OK)
        code = read_sparsity(out, err);
    if (code == SL_OK)
        code = sl_hf_read_kv_scheme(out, &out->section, err);
    if (code == SL_OK)
        code = read_groups(out, err);
    /* The head is a Linear like any other: recipes that leave it alone list it. */
    out->head = true;
    out->assumed = "scales in the dtype the weights had, unless the format has its own";
    return code;
}

/* Algorithms of NVIDIA's Model Optimizer. Fixed scales of activations are fp32 scalars; NVFP4 has
 * an fp32 scale of scales for each matrix. */
typedef struct algorithm_row {
    const char *name;
    sl_tensor_format format;
} algorithm_row;

#define FP8_WEIGHTS                                                                                \
    .dtype = "fp8_e4m3", .bits = 8, .word_weights = 1, .word_bytes = 1, .scale_bytes = 4
#define NVFP4_WEIGHTS                                                                              \
    .dtype = "nvfp4", .bits = 4, .word_weights = 2, .word_bytes = 1, .scale_bytes = 1,             \
    .scale_outputs = 1, .scale_inputs = 16, .matrix_bytes = 4

static const algorithm_row algorithms[] = {
    {"FP8", {FP8_WEIGHTS, .input_bytes = 4}},
    {"FP8_PER_CHANNEL_PER_TOKEN", {FP8_WEIGHTS, .scale_outputs = 1}},
    {"FP8_PB_WO", {FP8_WEIGHTS, .scale_outputs = 128, .scale_inputs = 128}},
    {"NVFP4", {NVFP4_WEIGHTS, .input_bytes = 4}},
    {"W4A16_NVFP4", {NVFP4_WEIGHTS}},
    {"MXFP8",
     {.dtype = "mxfp8",
      .bits = 8,
      .word_weights = 1,
      .word_bytes = 1,
      .scale_bytes = 1,
      .scale_outputs = 1,
      .scale_inputs = 32}},
};

static sl_hf_group *
add_algorithm(sl_hf_quantization *out, const char *name)
{
    for (size_t i = 0; i < sizeof algorithms / sizeof algorithms[0]; i++) {
        if (sl_text_equal(algorithms[i].name, name))
            return sl_hf_add_group(out, &algorithms[i].format);
    }
    sl_hf_refuse(out, "quant_algo %.40s", name);
    return NULL;
}

/* MIXED_PRECISION: each layer is listed with its algorithm; what is not listed stays. */
static sl_code
read_listed(sl_hf_quantization *out, const sl_node *section, sl_errors *err)
{
    sl_node layers;
    sl_node layer;
    void *state = NULL;

    if (!sl_node_member(section, "quantized_layers", &layers)) {
        sl_hf_refuse(out, "MIXED_PRECISION without quantized_layers");
        return SL_OK;
    }
    sl_code code = sl_node_object(&layers, err);
    while (code == SL_OK && sl_node_next(&layers, &state, &layer)) {
        const char *name = NULL;
        bool known = false;
        code = sl_node_object(&layer, err);
        if (code == SL_OK)
            code = sl_node_text(&layer, "quant_algo", &name, NULL, err);
        if (code != SL_OK || name == NULL)
            continue;
        for (uint32_t i = 0; i < out->group_count; i++)
            known = known || sl_text_equal(out->groups[i].algorithm, name);
        sl_hf_group *group = known ? NULL : add_algorithm(out, name);
        if (group == NULL)
            continue;
        group->everywhere = false;
        group->algorithm = name;
        code = sl_hf_read_names(&layers, &group->targets, err);
    }
    return code;
}

static const char *
kv_dtype(const char *algorithm)
{
    if (algorithm == NULL)
        return NULL;
    if (sl_text_equal(algorithm, "FP8"))
        return "fp8_e4m3";
    if (sl_text_equal(algorithm, "INT8"))
        return "int8";
    return sl_text_equal(algorithm, "NVFP4") ? "nvfp4" : NULL;
}

sl_code
sl_hf_read_modelopt(sl_hf_quantization *out, sl_errors *err)
{
    sl_node nested;
    sl_node section = out->section;
    const char *cache = NULL;
    const char *algorithm = NULL;

    /* The separate file has one level more. */
    if (sl_node_member(&out->section, "quantization", &nested))
        section = nested;
    sl_code code = sl_node_object(&section, err);
    if (code == SL_OK)
        code = sl_node_text(&section, "quant_algo", &algorithm, NULL, err);
    if (code == SL_OK)
        code = sl_node_text(&section, "kv_cache_quant_algo", &cache, NULL, err);
    if (code == SL_OK)
        code = sl_hf_read_kv_scheme(out, &section, err);
    if (code == SL_OK)
        code = sl_hf_read_kept(out, &section, "exclude_modules", err);
    if (code == SL_OK)
        code = sl_hf_read_kept(out, &section, "ignore", err);
    if (code != SL_OK)
        return code;
    if (cache != NULL)
        out->kv_cache = kv_dtype(cache);
    out->format = algorithm;
    /* The head is excluded by name, or quantised. */
    out->head = true;
    out->assumed = "fp32 scales of matrices and activations, one byte for each group of NVFP4";
    if (algorithm == NULL)
        sl_hf_refuse(out, "a section without quant_algo");
    else if (sl_text_equal(algorithm, "MIXED_PRECISION"))
        code = read_listed(out, &section, err);
    else
        (void)add_algorithm(out, algorithm);
    return code;
}
