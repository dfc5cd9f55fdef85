#include "codec/hf_quantization.h"

#include <assert.h>
#include <string.h>

#include "base/text.h"

/* Names in modules_to_not_convert that are looked at: each is compared with every matrix. */
enum { KEPT_MAX = 512, MODULE_NAME_MAX = 128 };

sl_code
sl_hf_quantization_read(const sl_node *config, sl_hf_quantization *out, sl_errors *err)
{
    assert(config != NULL && out != NULL && err != NULL);

    *out = (sl_hf_quantization){.method = "unknown"};
    if (!sl_node_member(config, "quantization_config", &out->section))
        return SL_OK;
    sl_code code = sl_node_object(&out->section, err);
    if (code != SL_OK)
        return code;
    code = sl_node_text(&out->section, "quant_method", &out->method, NULL, err);
    if (code != SL_OK)
        return code;
    out->has_kept = sl_node_member(&out->section, "modules_to_not_convert", &out->kept);
    if (out->has_kept && sl_node_kind(&out->kept) != SL_JSON_ARRAY)
        return sl_node_fail(&out->kept, err, SL_E_RANGE, "wrong_type",
                            "must be a list of module names");
    for (size_t i = 0; out->has_kept && i < sl_node_count(&out->kept); i++) {
        sl_node element;
        const char *text = NULL;
        if (!sl_node_at(&out->kept, i, &element))
            break;
        code = sl_node_as_text(&element, &text, err);
        if (code != SL_OK)
            return code;
    }
    out->present = true;
    return SL_OK;
}

/* Gathers the plain module names; false when the list holds patterns or is too long to compare. */
static bool
gather_kept(const sl_hf_quantization *quantization, const char *names[KEPT_MAX], size_t *count)
{
    sl_errors scratch = {0};

    *count = 0;
    if (!quantization->has_kept)
        return true;
    if (sl_node_count(&quantization->kept) > KEPT_MAX)
        return false;
    for (size_t i = 0; i < sl_node_count(&quantization->kept); i++) {
        sl_node element;
        const char *text = NULL;
        if (!sl_node_at(&quantization->kept, i, &element) ||
            sl_node_as_text(&element, &text, &scratch) != SL_OK || text[0] == '\0' ||
            strpbrk(text, "*?^$[(|\\+:") != NULL)
            return false;
        names[(*count)++] = text;
    }
    return true;
}

/* True when `name` is the module itself, one it lies in, or the last part of its path. */
static bool
names_module(const char *name, const char *module)
{
    const size_t length = strlen(name);
    const char *at = strstr(module, name);
    while (at != NULL) {
        const bool starts = at == module || at[-1] == '.';
        const bool ends = at[length] == '\0' || at[length] == '.';
        if (starts && ends)
            return true;
        at = strstr(at + 1, name);
    }
    return false;
}

static bool
is_kept(const char *module, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (names_module(names[i], module))
            return true;
    }
    return false;
}

/* "model.layers.{}." of block 3 with "mlp.up_proj.weight" is "model.layers.3.mlp.up_proj". */
static void
module_name(char out[MODULE_NAME_MAX], const sl_layer_kind *kind, const sl_tensor *tensor,
            uint32_t block)
{
    const char *hole = strstr(kind->prefix, "{}");
    const size_t length = strlen(tensor->name);
    const size_t suffix = strlen(".weight");
    const bool suffixed =
        length > suffix && sl_text_equal(&tensor->name[length - suffix], ".weight");
    const size_t stem = suffixed ? length - suffix : length;
    const bool fits =
        hole == NULL
            ? sl_text_format(out, MODULE_NAME_MAX, "%s%.*s", kind->prefix, (int)stem, tensor->name)
            : sl_text_format(out, MODULE_NAME_MAX, "%.*s%u%s%.*s", (int)(hole - kind->prefix),
                             kind->prefix, block, hole + 2, (int)stem, tensor->name);
    assert(fits);
    (void)fits;
}

/* Only the products of the blocks are quantised: embedding, head and norms stay as they are. */
static bool
is_quantizable(const sl_tensor *tensor)
{
    return tensor->axes >= 2 &&
           (tensor->component == SL_COMPONENT_ATTENTION || tensor->component == SL_COMPONENT_MLP ||
            tensor->component == SL_COMPONENT_ROUTED_EXPERTS ||
            tensor->component == SL_COMPONENT_SHARED_EXPERTS);
}

static uint64_t
one_byte_weights(const sl_model *model, const char *const *kept, size_t kept_count)
{
    uint64_t bytes = 0;

    for (uint32_t layer = 0; layer < model->layer_count; layer++) {
        const sl_layer_kind *kind = &model->kinds[model->layers[layer]];
        for (uint32_t i = 0; i < kind->tensor_count; i++) {
            const sl_tensor *tensor = &kind->tensors[i];
            uint64_t elements = 0;
            if (tensor->tied || sl_tensor_elements(tensor, &elements) != SL_OK)
                continue;
            uint32_t element_bytes = model->checkpoint_element_bytes;
            if (is_quantizable(tensor)) {
                char module[MODULE_NAME_MAX];
                module_name(module, kind, tensor, layer - 1);
                if (!is_kept(module, kept, kept_count))
                    element_bytes = 1;
            }
            bytes += elements * element_bytes;
        }
    }
    return bytes;
}

void
sl_hf_quantization_apply(const sl_hf_quantization *quantization, sl_model *model,
                         sl_errors *warnings)
{
    assert(quantization != NULL && model != NULL && warnings != NULL);

    const char *kept[KEPT_MAX];
    size_t kept_count = 0;

    model->quantization[0] = '\0';
    model->quantized_weights_bytes = 0;
    if (!quantization->present)
        return;
    (void)sl_text_copy(model->quantization, sizeof model->quantization, quantization->method);
    const bool one_byte = sl_text_equal(quantization->method, "fp8") ||
                          sl_text_equal(quantization->method, "fbgemm_fp8");
    if (one_byte && gather_kept(quantization, kept, &kept_count)) {
        model->quantized_weights_bytes = one_byte_weights(model, kept, kept_count);
        (void)sl_node_fail(&quantization->section, warnings, SL_E_RANGE, "quantization",
                           "weights_bytes takes 1 byte for each quantised weight (%s) and leaves "
                           "out the scales",
                           model->quantization);
    } else {
        (void)sl_node_fail(&quantization->section, warnings, SL_E_RANGE, "quantization",
                           "weights_bytes is that of the unquantised checkpoint: the layout of "
                           "method %s is not modelled",
                           model->quantization);
    }
}
