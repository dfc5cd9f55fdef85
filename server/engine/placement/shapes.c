#include "engine/placement/shapes.h"

#include "engine/placement/adapter.h"

typedef struct shape {
    double rows, columns;
} shape;

typedef struct shapes {
    uint32_t count;
    double elements; /* one of each */
    shape list[SL_MODEL_OPERATORS_MAX];
} shapes;

static bool
has(const shapes *seen, const shape *one)
{
    for (uint32_t i = 0; i < seen->count; i++)
        if (seen->list[i].rows == one->rows && seen->list[i].columns == one->columns)
            return true;
    return false;
}

/* The shapes of a kind that are not among those seen. */
static void
add_kind(const sl_slice *slice, const sl_layer_kind *kind, shapes *seen)
{
    for (uint32_t i = 0; i < kind->operator_count; i++) {
        const sl_operator *op = &kind->operators[i];
        if (op->kind != SL_OPERATOR_MATMUL)
            continue;
        const shape own = {sl_slice_outputs(slice, op), sl_slice_inputs(slice, op)};
        if (has(seen, &own))
            continue;
        seen->list[seen->count++] = own;
        seen->elements += own.rows * own.columns;
    }
}

/* Whether no kind but `own` has that shape. */
static bool
is_lone(const sl_model *model, const sl_slice *slice, const shape *one, uint32_t own)
{
    for (uint32_t k = 0; k < model->kind_count; k++)
        for (uint32_t i = 0; k != own && i < model->kinds[k].operator_count; i++) {
            const sl_operator *op = &model->kinds[k].operators[i];
            if (op->kind == SL_OPERATOR_MATMUL && sl_slice_outputs(slice, op) == one->rows &&
                sl_slice_inputs(slice, op) == one->columns)
                return false;
        }
    return true;
}

void
sl_shapes_price(const sl_model *model, const sl_slice *slice, sl_kind_price *prices)
{
    if (!slice->software->dummy_weight_gradients || sl_adapter_on(slice->adapter))
        return;
    for (uint32_t k = 0; k < model->kind_count; k++) {
        shapes own;
        own.count = 0;
        own.elements = 0.0;
        add_kind(slice, &model->kinds[k], &own);
        prices[k].shape_elements = own.elements;
        prices[k].lone_shape = own.count == 1 && is_lone(model, slice, &own.list[0], k);
    }
}

double
sl_shapes_elements(const sl_model *model, const sl_slice *slice, const sl_stage *stage)
{
    shapes seen;

    seen.count = 0;
    seen.elements = 0.0;
    for (uint32_t k = 0; k < model->kind_count; k++)
        if (stage->layers[k] > 0)
            add_kind(slice, &model->kinds[k], &seen);
    return seen.elements;
}
