/* What eager PyTorch composes: how near norms come to the memory's bandwidth, and what the host issues. */
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

sl_issued
sl_price_composed(const sl_slice *slice, const sl_layer_kind *kind, const sl_operator *op)
{
    static const sl_issued one = {1.0, 1.0};

    if (!slice->software->eager_activations || slice->adapter->fused)
        return one;
    if (op->kind == SL_OPERATOR_NORM && !has_layer_norm(kind))
        return (sl_issued){8.0, 12.0};
    if (op->kind == SL_OPERATOR_ROTARY)
        return (sl_issued){14.0, 22.0};
    if (op->kind == SL_OPERATOR_ACTIVATION && op->inputs > op->outputs)
        return (sl_issued){2.0, 3.0};
    return one;
}
