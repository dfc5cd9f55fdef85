/* The smallest parts of a description: one tensor, one linear layer, one norm, one operator. */
#include "engine/model/describe.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

/* Copies to to[at...] and returns where the text ends. Names are literals of this folder, so one
 * that does not fit is our fault. */
static size_t
append_text(char *to, size_t size, size_t at, const char *text)
{
    assert(text != NULL);

    for (; *text != '\0'; text++) {
        assert(at + 1 < size);
        to[at++] = *text;
    }
    to[at] = '\0';
    return at;
}

void
sl_join_names(char *to, size_t size, const char *first, const char *second)
{
    assert(size >= 1);
    (void)append_text(to, size, append_text(to, size, 0, first), second);
}

static sl_tensor *
add_tensor(sl_layer_kind *kind, const char *module, const char *suffix, sl_component component,
           sl_cut cut)
{
    assert(kind->tensor_count < SL_KIND_TENSORS_MAX);

    sl_tensor *tensor = &kind->tensors[kind->tensor_count++];
    memset(tensor, 0, sizeof *tensor);
    sl_join_names(tensor->name, sizeof tensor->name, module, suffix);
    tensor->component = component;
    tensor->cut = cut;
    return tensor;
}

sl_tensor *
sl_add_vector(sl_layer_kind *kind, const char *module, const char *suffix, sl_component component,
              sl_cut cut, uint64_t length)
{
    sl_tensor *tensor = add_tensor(kind, module, suffix, component, cut);
    tensor->axes = 1;
    tensor->shape[0] = length;
    return tensor;
}

sl_tensor *
sl_add_matrix(sl_layer_kind *kind, const char *module, const char *suffix, sl_component component,
              sl_cut cut, uint64_t rows, uint64_t columns)
{
    sl_tensor *tensor = add_tensor(kind, module, suffix, component, cut);
    tensor->axes = 2;
    tensor->shape[0] = rows;
    tensor->shape[1] = columns;
    return tensor;
}

void
sl_add_linear(sl_layer_kind *kind, const sl_names *names, const sl_linear *layer)
{
    const bool inputs_first = names->inputs_first;
    sl_tensor *weight = sl_add_matrix(kind, layer->module, ".weight", layer->component, layer->cut,
                                      inputs_first ? layer->inputs : layer->outputs,
                                      inputs_first ? layer->outputs : layer->inputs);
    weight->cut_axis =
        layer->cut != SL_CUT_REPLICATED && (layer->cut == SL_CUT_ROW) != inputs_first;
    weight->linear = true;
    if (layer->bias) {
        const sl_cut cut = layer->cut == SL_CUT_ROW ? SL_CUT_REPLICATED : layer->cut;
        (void)sl_add_vector(kind, layer->module, ".bias", layer->component, cut, layer->outputs);
    }
}

void
sl_set_parts(sl_layer_kind *kind, uint32_t first, const uint64_t *lengths, uint32_t count)
{
    assert(count <= SL_TENSOR_PARTS_MAX);

    for (uint32_t i = first; i < kind->tensor_count; i++) {
        sl_tensor *tensor = &kind->tensors[i];
        if (tensor->cut != SL_CUT_COLUMN)
            continue;
        tensor->part_count = count;
        memcpy(tensor->parts, lengths, count * sizeof *lengths);
    }
}

void
sl_set_products(sl_operator *product, const uint64_t *outputs, uint32_t count)
{
    assert(count <= sizeof product->parts / sizeof product->parts[0]);
    memcpy(product->parts, outputs, count * sizeof *outputs);
}

sl_operator *
sl_add_operator(sl_layer_kind *kind, const char *name, sl_operator_kind what, sl_cut cut,
                uint64_t inputs, uint64_t outputs)
{
    assert(kind->operator_count < SL_KIND_OPERATORS_MAX);

    sl_operator *op = &kind->operators[kind->operator_count++];
    memset(op, 0, sizeof *op);
    sl_join_names(op->name, sizeof op->name, name, "");
    op->kind = what;
    op->component = SL_COMPONENT_OTHER;
    op->cut = cut;
    op->inputs = inputs;
    op->outputs = outputs;
    return op;
}

void
sl_mark_operators(sl_layer_kind *kind, uint32_t first, sl_component component)
{
    for (uint32_t i = first; i < kind->operator_count; i++)
        kind->operators[i].component = component;
}

bool
sl_norms_are_centred(const sl_dense_spec *spec)
{
    return spec->layer_norm || spec->norm_unbiased || spec->norm_weightless;
}

void
sl_add_norm(sl_layer_kind *kind, const sl_dense_spec *spec, const char *module,
            const char *operator_name)
{
    const uint64_t hidden = spec->hidden;

    if (!spec->norm_weightless)
        (void)sl_add_vector(kind, module, ".weight", SL_COMPONENT_NORMS, SL_CUT_REPLICATED, hidden);
    if (spec->layer_norm && !spec->norm_weightless)
        (void)sl_add_vector(kind, module, ".bias", SL_COMPONENT_NORMS, SL_CUT_REPLICATED, hidden);
    sl_operator *op =
        sl_add_operator(kind, operator_name, SL_OPERATOR_NORM, SL_CUT_REPLICATED, hidden, hidden);
    op->component = SL_COMPONENT_NORMS;
    op->centred = sl_norms_are_centred(spec);
    op->wide = spec->norm_wide;
}

sl_layer_kind *
sl_add_kind(sl_model *model, const char *name, const char *base, const char *rest)
{
    assert(model->kind_count < SL_KINDS_MAX);

    sl_layer_kind *kind = &model->kinds[model->kind_count++];
    memset(kind, 0, sizeof *kind);
    kind->tensors = model->tensors;
    kind->operators = model->operators;
    if (model->kind_count > 1) {
        kind->tensors = kind[-1].tensors + kind[-1].tensor_count;
        kind->operators = kind[-1].operators + kind[-1].operator_count;
    }
    assert(kind->tensors + SL_KIND_TENSORS_MAX <= model->tensors + SL_MODEL_TENSORS_MAX);
    assert(kind->operators + SL_KIND_OPERATORS_MAX <= model->operators + SL_MODEL_OPERATORS_MAX);
    sl_join_names(kind->name, sizeof kind->name, name, "");
    sl_join_names(kind->prefix, sizeof kind->prefix, base, rest);
    return kind;
}
