#include "engine/model/grown.h"

#include <assert.h>
#include <string.h>

#include "engine/checked.h"

void
sl_grown_copy(const sl_model *of, sl_model *out)
{
    *out = *of;
    for (uint32_t k = 0; k < of->kind_count; k++) {
        out->kinds[k].tensors = out->tensors + (of->kinds[k].tensors - of->tensors);
        out->kinds[k].operators = out->operators + (of->kinds[k].operators - of->operators);
    }
}

/* Layers before the first block: an embedding, or none. */
static uint32_t
layers_before(const sl_model *model)
{
    return model->layer_count != model->block_count;
}

static uint32_t
layers_beside_blocks(const sl_model *model)
{
    return model->layer_count - model->block_count;
}

uint32_t
sl_grown_depth_max(const sl_model *model)
{
    return SL_MODEL_LAYERS_MAX - layers_beside_blocks(model);
}

/* The first block from which on each is as the one a period later. */
static uint32_t
repeats_from(const uint8_t *blocks, uint32_t count, uint32_t period)
{
    uint32_t i = count - period;

    while (i > 0 && blocks[i - 1] == blocks[i - 1 + period])
        i--;
    return i;
}

static uint32_t
find_period(const uint8_t *blocks, uint32_t count, uint32_t *first)
{
    uint32_t best = count;

    *first = 0;
    for (uint32_t period = 1; period < *first + best; period++) {
        const uint32_t from = period < count ? repeats_from(blocks, count, period) : 0;
        if (from + period >= *first + best)
            continue;
        *first = from;
        best = period;
    }
    return best;
}

void
sl_grown_deepen(const sl_model *of, uint32_t blocks, sl_model *out)
{
    const uint32_t before = layers_before(of);
    const uint8_t *list = of->layers + before;
    uint32_t first = 0;
    const uint32_t period = find_period(list, of->block_count, &first);

    assert(blocks >= 1 && blocks <= sl_grown_depth_max(of) && period >= 1);
    for (uint32_t i = 0; i < blocks; i++) {
        const uint32_t like = i < of->block_count ? i : first + (i - first) % period;
        out->layers[before + i] = list[like];
        if (of->quantization.format_count > 0)
            memcpy(out->stored_as[before + i], of->stored_as[before + like],
                   sizeof out->stored_as[0]);
    }
    for (uint32_t i = before + of->block_count; i < of->layer_count; i++) {
        const uint32_t at = i - of->block_count + blocks;
        out->layers[at] = of->layers[i];
        if (of->quantization.format_count > 0)
            memcpy(out->stored_as[at], of->stored_as[i], sizeof out->stored_as[0]);
    }
    out->block_count = blocks;
    out->layer_count = blocks + layers_beside_blocks(of);
}

/* Bit a: axis a of a tensor is as long as the model is wide; the others are rows of a table,
 * experts, features of a head. */
static uint32_t
wide_axes(const sl_model *model, const sl_tensor *tensor)
{
    const bool vector = tensor->axes == 1;

    if (tensor->buffer || (vector && tensor->shape[0] == 1))
        return 0;
    switch (tensor->component) {
    case SL_COMPONENT_EMBEDDING:
    case SL_COMPONENT_LM_HEAD:
    case SL_COMPONENT_ROUTER:
        return vector ? 0 : 2;
    case SL_COMPONENT_ROUTED_EXPERTS:
        if (tensor->axes == 3)
            return 6;
        return tensor->linear ? 3 : 2; /* a bias has a row for each expert */
    case SL_COMPONENT_ATTENTION:
        if (!tensor->linear && tensor->axes == 2)
            return 1; /* a norm of each head */
        return vector && tensor->cut == SL_CUT_REPLICATED && tensor->shape[0] == model->head_dim
                   ? 0
                   : 3;
    default:
        return 3;
    }
}

/* Which widths of an operator are the model's. */
typedef struct wide_sides {
    bool inputs, outputs;
} wide_sides;

static wide_sides
wide_sides_of(const sl_operator *op)
{
    if (op->kind == SL_OPERATOR_LOSS)
        return (wide_sides){false, false};
    if ((op->kind == SL_OPERATOR_MATMUL && op->cut == SL_CUT_VOCABULARY) ||
        op->component == SL_COMPONENT_ROUTER)
        return (wide_sides){true, false};
    return (wide_sides){true, true};
}

/* Whether all of a kind is attention per head, an MLP or experts, norms, and tables as wide as the
 * hidden state. */
static bool
is_of_one_width(const sl_layer_kind *kind, bool head)
{
    for (uint32_t i = 0; i < kind->tensor_count; i++)
        if (kind->tensors[i].component == SL_COMPONENT_STATE_SPACE ||
            (kind->tensors[i].component == SL_COMPONENT_OTHER && !kind->tensors[i].buffer))
            return false;
    for (uint32_t i = 0; i < kind->operator_count; i++) {
        const sl_operator *op = &kind->operators[i];
        if (op->kind == SL_OPERATOR_SCAN || op->kind == SL_OPERATOR_PLAIN || op->once)
            return false;
        /* Latents stand between hidden state and heads; a head with attention predicts further
         * on. */
        if (op->component == SL_COMPONENT_ATTENTION &&
            (head || (op->kind == SL_OPERATOR_MATMUL && op->cut == SL_CUT_REPLICATED)))
            return false;
    }
    return true;
}

static uint64_t
parts_of_kind(const sl_model *model, const sl_layer_kind *kind, uint64_t parts)
{
    for (uint32_t i = 0; i < kind->tensor_count; i++) {
        const sl_tensor *tensor = &kind->tensors[i];
        const uint32_t wide = wide_axes(model, tensor);
        for (uint32_t a = 0; a < tensor->axes; a++)
            if ((wide >> a & 1) != 0)
                parts = sl_common_divisor(parts, tensor->shape[a]);
        for (uint32_t p = 0; p < tensor->part_count; p++)
            parts = sl_common_divisor(parts, tensor->parts[p]);
    }
    for (uint32_t i = 0; i < kind->operator_count; i++) {
        const sl_operator *op = &kind->operators[i];
        const wide_sides wide = wide_sides_of(op);
        parts = sl_common_divisor(parts, wide.inputs ? op->inputs : 0);
        parts = sl_common_divisor(parts, wide.outputs ? op->outputs : 0);
        parts = sl_common_divisor(sl_common_divisor(parts, op->heads), op->kv_heads);
    }
    return parts;
}

uint64_t
sl_grown_parts(const sl_model *model)
{
    uint64_t parts = sl_common_divisor(sl_common_divisor(model->kv_heads, model->heads),
                                       sl_common_divisor(model->hidden, model->ffn));

    if (sl_model_is_plain(model) || model->across || model->biased ||
        layers_beside_blocks(model) != 2)
        return 0;
    for (uint32_t k = 0; k < model->kind_count; k++) {
        if (model->beside[k] > 0 ||
            !is_of_one_width(&model->kinds[k], k == model->layers[model->layer_count - 1]))
            return 0;
        parts = parts_of_kind(model, &model->kinds[k], parts);
    }
    return parts;
}

/* A width, in other parts of its own. */
typedef struct stretch {
    uint64_t to, from;
    bool fits;
} stretch;

static uint64_t
stretched(stretch *s, uint64_t width, uint64_t most)
{
    const uint64_t part = width / s->from;

    if (part > 0 && s->to > most / part) {
        s->fits = false;
        return width;
    }
    return part * s->to;
}

static void
widen_tensor(const sl_model *model, stretch *s, sl_tensor *tensor)
{
    const uint32_t wide = wide_axes(model, tensor);

    for (uint32_t a = 0; a < tensor->axes; a++)
        if ((wide >> a & 1) != 0)
            tensor->shape[a] = stretched(s, tensor->shape[a], SL_MODEL_WIDTH_MAX);
    for (uint32_t p = 0; p < tensor->part_count; p++)
        tensor->parts[p] = stretched(s, tensor->parts[p], SL_MODEL_WIDTH_MAX);
}

static void
widen_operator(stretch *s, sl_operator *op)
{
    const wide_sides wide = wide_sides_of(op);

    if (wide.inputs)
        op->inputs = stretched(s, op->inputs, SL_MODEL_WIDTH_MAX);
    if (wide.outputs)
        op->outputs = stretched(s, op->outputs, SL_MODEL_WIDTH_MAX);
    if (op->heads == 0)
        return;
    op->heads = (uint32_t)stretched(s, op->heads, SL_MODEL_WIDTH_MAX);
    op->kv_heads = (uint32_t)stretched(s, op->kv_heads, SL_MODEL_WIDTH_MAX);
}

bool
sl_grown_widen(const sl_model *of, uint64_t parts, sl_model *out)
{
    stretch s = {.to = parts, .from = sl_grown_parts(of), .fits = true};

    assert(parts >= 1 && s.from >= 1);
    for (uint32_t k = 0; k < of->kind_count; k++) {
        const sl_layer_kind *kind = &of->kinds[k];
        sl_layer_kind *own = &out->kinds[k];
        for (uint32_t i = 0; i < kind->tensor_count; i++) {
            own->tensors[i] = kind->tensors[i];
            widen_tensor(of, &s, &own->tensors[i]);
        }
        for (uint32_t i = 0; i < kind->operator_count; i++) {
            own->operators[i] = kind->operators[i];
            widen_operator(&s, &own->operators[i]);
        }
    }
    out->hidden = stretched(&s, of->hidden, SL_MODEL_WIDTH_MAX);
    out->ffn = stretched(&s, of->ffn, SL_MODEL_WIDTH_MAX);
    out->heads = (uint32_t)stretched(&s, of->heads, SL_MODEL_WIDTH_MAX);
    out->kv_heads = (uint32_t)stretched(&s, of->kv_heads, SL_MODEL_WIDTH_MAX);
    return s.fits;
}
