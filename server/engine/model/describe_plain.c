/* A list of plain layers as a model: one tensor and one operator a kind. */
#include "engine/model/describe.h"

#include <assert.h>
#include <string.h>

static bool
is_alike(const sl_layer_kind *kind, const sl_plain_layer *layer)
{
    const sl_operator *op = &kind->operators[0];
    const uint64_t parameters = kind->tensor_count == 0 ? 0 : kind->tensors[0].shape[0];

    return parameters == layer->parameters && op->sample_flops == layer->forward_flops &&
           op->sample_kept_bytes == layer->activation_bytes &&
           op->sample_output_bytes == layer->output_bytes && strcmp(kind->name, layer->name) == 0;
}

static void
add_plain_kind(sl_model *model, const sl_plain_layer *layer)
{
    sl_layer_kind *kind = sl_add_kind(model, layer->name, "", "");

    assert(layer->parameters <= SL_PLAIN_FIGURE_MAX);
    assert(layer->forward_flops <= SL_PLAIN_FIGURE_MAX);
    assert(layer->activation_bytes <= SL_PLAIN_FIGURE_MAX);
    assert(layer->output_bytes <= SL_PLAIN_FIGURE_MAX);
    if (layer->parameters != 0)
        (void)sl_add_vector(kind, layer->name, "", SL_COMPONENT_OTHER, SL_CUT_REPLICATED,
                            layer->parameters);

    sl_operator *op = sl_add_operator(kind, "layer", SL_OPERATOR_PLAIN, SL_CUT_REPLICATED, 0, 0);
    op->sample_flops = layer->forward_flops;
    op->sample_kept_bytes = layer->activation_bytes;
    op->sample_output_bytes = layer->output_bytes;
}

/* The kind of `layer`: one that there is already, or a new one. */
static uint8_t
find_kind(sl_model *model, const sl_plain_layer *layer)
{
    uint32_t kind = 0;

    while (kind < model->kind_count && !is_alike(&model->kinds[kind], layer))
        kind++;
    if (kind == model->kind_count)
        add_plain_kind(model, layer);
    return (uint8_t)kind;
}

void
sl_model_describe_plain(const sl_plain_layer *layers, uint32_t count, sl_model *model)
{
    assert(layers != NULL && model != NULL && count >= 1 && count <= SL_KINDS_MAX);

    sl_model_clear(model);
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t kind = find_kind(model, &layers[i]);
        assert(layers[i].count >= 1 && layers[i].count <= SL_MODEL_LAYERS_MAX - model->layer_count);
        for (uint32_t repeat = 0; repeat < layers[i].count; repeat++)
            model->layers[model->layer_count++] = kind;
    }
    model->block_count = model->layer_count;
    assert(sl_model_is_plain(model));
}
