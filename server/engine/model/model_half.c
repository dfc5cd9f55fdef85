/* Blocks whose products stay in 16 bits: kinds of their own, so that every stage counts its own. */
#include <assert.h>
#include <string.h>

#include "engine/model/describe.h"

/* The twin of a kind in 16 bits, made where there is none yet; 0 in `twins` = none, which no twin
 * is: the first kind is an embedding. */
static sl_code
find_twin(sl_model *model, uint32_t kind, uint32_t twins[SL_KINDS_MAX], sl_errors *err)
{
    if (twins[kind] != 0)
        return SL_OK;
    if (model->kind_count >= SL_DECODER_KINDS_MAX)
        return sl_fail(err, SL_E_RANGE, "out_of_range", "/workload/fp8/bf16_layers",
                       "makes more than the %d kinds of blocks that a model may have",
                       SL_DECODER_KINDS_MAX);

    const sl_layer_kind *of = &model->kinds[kind];
    sl_layer_kind *twin = sl_add_kind(model, of->name, of->prefix, "");

    twin->cache = of->cache;
    twin->tensor_count = of->tensor_count;
    twin->operator_count = of->operator_count;
    memcpy(twin->tensors, of->tensors, of->tensor_count * sizeof *of->tensors);
    memcpy(twin->operators, of->operators, of->operator_count * sizeof *of->operators);
    for (uint32_t i = 0; i < twin->tensor_count; i++)
        twin->tensors[i].half = true;
    for (uint32_t i = 0; i < twin->operator_count; i++)
        twin->operators[i].half = true;
    twins[kind] = model->kind_count - 1;
    return SL_OK;
}

sl_code
sl_model_keep_half(sl_model *model, const bool *blocks, uint32_t count, sl_errors *err)
{
    uint32_t twins[SL_KINDS_MAX] = {0};
    const uint32_t before = model->layer_count != model->block_count;

    assert(!sl_model_is_plain(model) && count <= model->block_count);
    for (uint32_t i = 0; i < count; i++) {
        uint8_t *layer = &model->layers[before + i];
        if (!blocks[i])
            continue;
        const sl_code code = find_twin(model, *layer, twins, err);
        if (code != SL_OK)
            return code;
        *layer = (uint8_t)twins[*layer];
    }
    return SL_OK;
}
