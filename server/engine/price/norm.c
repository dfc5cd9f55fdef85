/* Norms: how near to the memory's bandwidth their kernels come. */
#include <math.h>
#include <string.h>

#include "engine/price/price_parts.h"

/* PyTorch's own kernel: 0.30 to 0.42 in Vidur and LLMCompass timings. */
static const double layer_norm_ratio = 0.35;

/* LayerNorm has a bias, or nothing at all. */
static bool
has_layer_norm(const sl_layer_kind *kind)
{
    static const char bias[] = ".bias";
    bool weights = false;

    for (uint32_t i = 0; i < kind->tensor_count; i++) {
        const sl_tensor *tensor = &kind->tensors[i];
        const size_t length = strlen(tensor->name);
        if (tensor->component != SL_COMPONENT_NORMS)
            continue;
        weights = true;
        if (length >= sizeof bias - 1 &&
            strcmp(tensor->name + length - (sizeof bias - 1), bias) == 0)
            return true;
    }
    return !weights;
}

double
sl_price_norm_ratio(const sl_slice *slice, const sl_layer_kind *kind)
{
    const double ratio = slice->streaming.norm_ratio;

    return has_layer_norm(kind) ? fmax(ratio, layer_norm_ratio) : ratio;
}
