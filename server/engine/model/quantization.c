/* Bytes of quantised tensors: exact, from the shapes. */
#include "shardline/model.h"

#include <assert.h>
#include <stddef.h>

#include "engine/checked.h"

static uint64_t
parts_of(uint64_t length, uint64_t part)
{
    return part == 0 ? 1 : length / part + (length % part != 0);
}

static bool
add_product(uint64_t *sum, uint64_t count, uint64_t bytes)
{
    uint64_t product = 0;
    return sl_multiply(count, bytes, &product) && sl_add(sum, product);
}

/* Scales and what goes with each of them. */
static bool
add_scales(const sl_tensor_format *format, uint64_t outputs, uint64_t inputs, uint64_t *bytes)
{
    const uint64_t rows = parts_of(outputs, format->scale_outputs);
    const uint64_t columns = parts_of(inputs, format->scale_inputs);
    uint64_t scales = 0;
    uint64_t zeros = 0;

    if (!sl_multiply(rows, columns, &scales) || !add_product(bytes, scales, format->scale_bytes))
        return false;
    if (format->nested_scales != 0 &&
        !add_product(bytes, parts_of(scales, format->nested_scales), format->nested_bytes))
        return false;
    if (format->word_zeros == 0)
        return true;
    return sl_multiply(parts_of(rows, format->word_zeros), columns, &zeros) &&
           add_product(bytes, zeros, format->word_zero_bytes);
}

sl_code
sl_format_bytes(const sl_tensor_format *format, uint64_t outputs, uint64_t inputs, sl_stored *out)
{
    assert(format != NULL && out != NULL && outputs >= 1 && inputs >= 1);
    assert(format->word_weights >= 1 && format->word_weights <= SL_WORD_WEIGHTS_MAX);

    sl_stored stored = {0};
    uint64_t words = 0;
    if (format->flat) {
        if (!sl_multiply(outputs, inputs, &inputs))
            return SL_E_RANGE;
        outputs = 1;
    }
    const uint64_t lines = format->words_along_outputs ? inputs : outputs;
    const uint64_t length = format->words_along_outputs ? outputs : inputs;
    if (!sl_multiply(lines, parts_of(length, format->word_weights), &words) ||
        !sl_multiply(words, format->word_bytes, &stored.weight_bytes) ||
        !add_scales(format, outputs, inputs, &stored.scale_bytes) ||
        !add_product(&stored.scale_bytes, inputs, format->order_bytes) ||
        !sl_add(&stored.scale_bytes, format->input_bytes) ||
        !sl_add(&stored.scale_bytes, format->matrix_bytes))
        return SL_E_RANGE;
    *out = stored;
    return SL_OK;
}

bool
sl_tensor_matrices(const sl_tensor *tensor, sl_matrices *out)
{
    assert(tensor != NULL && out != NULL);

    if (!tensor->linear)
        return false;
    assert(tensor->axes == 2 || tensor->axes == 3);
    const bool stack = tensor->axes == 3;
    const uint32_t first = tensor->axes - 2;
    const bool inputs_first = (tensor->cut == SL_CUT_COLUMN && tensor->cut_axis == first + 1) ||
                              (tensor->cut == SL_CUT_ROW && tensor->cut_axis == first);
    const uint64_t each = stack ? tensor->shape[0] : 1;
    *out = (sl_matrices){
        .count = tensor->experts != 0 ? tensor->experts : each,
        .outputs = tensor->shape[inputs_first ? first + 1 : first],
        .inputs = tensor->shape[inputs_first ? first : first + 1],
    };
    return true;
}

sl_code
sl_matrices_stored(const sl_matrices *matrices, uint64_t count, const sl_tensor_format *format,
                   sl_stored *out)
{
    assert(matrices != NULL && format != NULL && out != NULL && count <= matrices->count);

    sl_stored one;
    sl_stored all;
    const sl_code code = sl_format_bytes(format, matrices->outputs, matrices->inputs, &one);
    if (code != SL_OK)
        return code;
    if (!sl_multiply(one.weight_bytes, count, &all.weight_bytes) ||
        !sl_multiply(one.scale_bytes, count, &all.scale_bytes))
        return SL_E_RANGE;
    *out = all;
    return SL_OK;
}
