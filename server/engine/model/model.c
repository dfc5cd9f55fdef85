#include "shardline/model.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "engine/checked.h"

static const char *const component_texts[] = {
    [SL_COMPONENT_EMBEDDING] = "embedding",
    [SL_COMPONENT_LM_HEAD] = "lm_head",
    [SL_COMPONENT_ATTENTION] = "attention",
    [SL_COMPONENT_MLP] = "mlp",
    [SL_COMPONENT_ROUTED_EXPERTS] = "routed_experts",
    [SL_COMPONENT_SHARED_EXPERTS] = "shared_experts",
    [SL_COMPONENT_ROUTER] = "router",
    [SL_COMPONENT_NORMS] = "norms",
    [SL_COMPONENT_STATE_SPACE] = "state_space",
    [SL_COMPONENT_OTHER] = "other",
};
_Static_assert(sizeof component_texts / sizeof component_texts[0] == SL_COMPONENT_COUNT,
               "one text per component");

static const char *const cut_texts[] = {
    [SL_CUT_REPLICATED] = "replicated",
    [SL_CUT_COLUMN] = "column",
    [SL_CUT_ROW] = "row",
    [SL_CUT_VOCABULARY] = "vocabulary",
};
_Static_assert(sizeof cut_texts / sizeof cut_texts[0] == SL_CUT_COUNT, "one text per cut");

const char *
sl_component_text(sl_component component)
{
    assert((unsigned)component < SL_COMPONENT_COUNT);
    return component_texts[component];
}

const char *
sl_cut_text(sl_cut cut)
{
    assert((unsigned)cut < SL_CUT_COUNT);
    return cut_texts[cut];
}

void
sl_model_clear(sl_model *model)
{
    assert(model != NULL);
    memset(model, 0, offsetof(sl_model, tensors));
}

bool
sl_model_is_plain(const sl_model *model)
{
    assert(model != NULL);
    return model->hidden == 0;
}

bool
sl_model_does(const sl_model *model, sl_operator_kind what)
{
    assert(model != NULL);

    for (uint32_t k = 0; k < model->kind_count; k++)
        for (uint32_t i = 0; i < model->kinds[k].operator_count; i++)
            if (model->kinds[k].operators[i].kind == what)
                return true;
    return false;
}

sl_code
sl_tensor_elements(const sl_tensor *tensor, uint64_t *out)
{
    assert(tensor != NULL && out != NULL);
    assert(tensor->axes >= 1 && tensor->axes <= SL_TENSOR_AXES_MAX);

    uint64_t elements = 1;
    for (uint32_t axis = 0; axis < tensor->axes; axis++) {
        if (!sl_multiply(elements, tensor->shape[axis], &elements))
            return SL_E_RANGE;
    }
    if (tensor->experts != 0 && !sl_multiply(elements, tensor->experts, &elements))
        return SL_E_RANGE;
    *out = elements;
    return SL_OK;
}

uint32_t
sl_model_layers_of(const sl_model *model, uint32_t kind)
{
    assert(model != NULL && model->layer_count <= SL_MODEL_LAYERS_MAX);

    uint32_t layers = 0;
    for (uint32_t layer = 0; layer < model->layer_count; layer++)
        layers += model->layers[layer] == kind;
    return layers;
}

/* Adds the tensors of `layers` layers of one kind. */
static sl_code
count_kind(const sl_layer_kind *kind, uint32_t layers, sl_model_counts *counts)
{
    assert(kind->tensor_count <= SL_KIND_TENSORS_MAX);

    for (uint32_t i = 0; i < kind->tensor_count; i++) {
        const sl_tensor *tensor = &kind->tensors[i];
        uint64_t elements = 0;
        if (tensor->tied)
            continue;
        if (sl_tensor_elements(tensor, &elements) != SL_OK ||
            !sl_multiply(elements, layers, &elements))
            return SL_E_RANGE;
        if (tensor->buffer) {
            if (!sl_add(&counts->persistent_buffers, elements))
                return SL_E_RANGE;
            continue;
        }
        if (!sl_add(&counts->component[tensor->component], elements) ||
            !sl_add(&counts->total, elements))
            return SL_E_RANGE;
    }
    return SL_OK;
}

sl_code
sl_model_count(const sl_model *model, sl_model_counts *out)
{
    assert(model != NULL && out != NULL);
    assert(model->kind_count <= SL_KINDS_MAX);

    sl_model_counts counts = {0};
    for (uint32_t kind = 0; kind < model->kind_count; kind++) {
        const uint32_t layers = sl_model_layers_of(model, kind) + model->beside[kind];
        const uint64_t before = counts.total;
        const sl_code code = count_kind(&model->kinds[kind], layers, &counts);
        if (code != SL_OK)
            return code;
        if (model->beside[kind] != 0)
            counts.towers += counts.total - before;
    }
    counts.active_per_token = counts.total;
    if (model->experts != 0) {
        /* Experts are equal, so the count divides. */
        const uint64_t expert = counts.component[SL_COMPONENT_ROUTED_EXPERTS] / model->experts;
        assert(model->experts_per_token <= model->experts);
        counts.active_per_token -= expert * (model->experts - model->experts_per_token);
    }
    *out = counts;
    return SL_OK;
}

uint64_t
sl_model_weights_bytes(const sl_model *model, const sl_model_counts *counts)
{
    assert(model != NULL && counts != NULL);

    if (model->quantized_weights_bytes != 0)
        return model->quantized_weights_bytes;
    uint64_t bytes = 0;
    const bool fits = sl_multiply(counts->total, model->checkpoint_element_bytes, &bytes);
    assert(fits);
    (void)fits;
    return bytes;
}

/* Of a model that is not quantised. */
static const sl_stored_as as_they_are[SL_KIND_TENSORS_MAX];

const sl_stored_as *
sl_model_stored_as(const sl_model *model, uint32_t layer)
{
    assert(model != NULL && layer < model->layer_count);
    return model->quantization.format_count == 0 ? as_they_are : model->stored_as[layer];
}

const sl_stored_as *
sl_model_stored_beside(const sl_model *model, uint32_t kind)
{
    assert(model != NULL && kind < model->kind_count);

    if (model->quantization.format_count == 0)
        return as_they_are;
    assert(kind < SL_DECODER_KINDS_MAX);
    return model->stored_beside[kind];
}

const char *
sl_model_stored_dtype(const sl_model *model, const sl_stored_as *as)
{
    assert(model != NULL && as != NULL && as->format <= model->quantization.format_count);

    return as->format == 0 ? model->checkpoint_dtype
                           : model->quantization.formats[as->format - 1].dtype;
}

sl_code
sl_model_mtp_parameters(const sl_model *model, uint64_t layers, uint64_t *out)
{
    assert(model != NULL && out != NULL && model->block_count >= 1);

    /* The last block stands before the head; such a layer has an indexer of its own. */
    uint32_t last = model->layers[model->layer_count - 2];
    if (strcmp(model->kinds[last].name, "experts_shared_index") == 0) {
        for (uint32_t kind = 0; kind < model->kind_count; kind++)
            last = strcmp(model->kinds[kind].name, "experts") == 0 ? kind : last;
    }
    sl_model_counts block = {0};
    uint64_t square = 0;
    if (count_kind(&model->kinds[last], 1, &block) != SL_OK ||
        !sl_multiply(2 * model->hidden, model->hidden, &square) || !sl_add(&block.total, square) ||
        !sl_add(&block.total, 3 * model->hidden) || !sl_multiply(block.total, layers, &block.total))
        return SL_E_RANGE;
    *out = block.total;
    return SL_OK;
}
