#include "codec/model_json.h"

#include <assert.h>

enum { KV_ELEMENT_BYTES = 2 };

static void
write_parameters(sl_writer *writer, const sl_model_counts *counts)
{
    sl_write_key(writer, "parameters");
    sl_write_object(writer);
    sl_put_uint(writer, "total", counts->total);
    sl_put_uint(writer, "active_per_token", counts->active_per_token);
    for (uint32_t i = 0; i < SL_COMPONENT_COUNT; i++)
        sl_put_uint(writer, sl_component_text((sl_component)i), counts->component[i]);
    sl_write_object_end(writer);
}

static void
write_window_layers(sl_writer *writer, const sl_model *model)
{
    sl_write_key(writer, "window_layers");
    sl_write_array(writer);
    for (uint32_t kind = 0; kind < model->kind_count; kind++) {
        const uint32_t window = sl_kind_window(&model->kinds[kind]);
        if (window == 0)
            continue;
        sl_write_object(writer);
        sl_put_uint(writer, "window", window);
        sl_put_uint(writer, "count", sl_model_layers_of(model, kind));
        sl_put_uint(writer, "bytes_per_token",
                    sl_kind_kv_bytes(&model->kinds[kind], KV_ELEMENT_BYTES));
        sl_write_object_end(writer);
    }
    sl_write_array_end(writer);
}

static void
write_kv_cache(sl_writer *writer, const sl_model *model)
{
    uint64_t full_bytes = 0;
    for (uint32_t kind = 0; kind < model->kind_count; kind++) {
        if (sl_kind_window(&model->kinds[kind]) == 0)
            full_bytes += sl_kind_kv_bytes(&model->kinds[kind], KV_ELEMENT_BYTES) *
                          sl_model_layers_of(model, kind);
    }
    sl_write_key(writer, "kv_cache");
    sl_write_object(writer);
    sl_put_uint(writer, "bytes_per_token", full_bytes);
    sl_put_uint(writer, "bytes_per_sequence", 0);
    write_window_layers(writer, model);
    sl_write_object_end(writer);
}

static void
write_tensor(sl_writer *writer, const sl_model *model, uint32_t layer, uint32_t index)
{
    const sl_tensor *tensor = &model->kinds[model->layers[layer]].tensors[index];

    sl_write_object(writer);
    sl_put_text(writer, "name", tensor->name);
    sl_write_key(writer, "shape");
    sl_write_array(writer);
    for (uint32_t axis = 0; axis < tensor->axes; axis++)
        sl_write_uint(writer, tensor->shape[axis]);
    sl_write_array_end(writer);
    sl_put_text(writer, "dtype", sl_model_stored_dtype(model, layer, index));
    sl_put_text(writer, "role", sl_component_text(tensor->component));
    sl_put_text(writer, "tensor_parallel", sl_cut_text(tensor->cut));
    sl_put_bool(writer, "tied", tensor->tied);
    if (tensor->experts != 0)
        sl_put_uint(writer, "experts", tensor->experts);
    if (model->stored_as[layer][index].mixed)
        sl_put_bool(writer, "dtype_mixed", true);
    sl_write_object_end(writer);
}

static void
write_run(sl_writer *writer, const sl_model *model, uint32_t first, uint32_t count)
{
    const sl_layer_kind *kind = &model->kinds[model->layers[first]];

    sl_write_object(writer);
    sl_put_text(writer, "kind", kind->name);
    sl_put_uint(writer, "count", count);
    sl_put_text(writer, "prefix", kind->prefix);
    sl_write_key(writer, "tensors");
    sl_write_array(writer);
    for (uint32_t i = 0; i < kind->tensor_count; i++)
        write_tensor(writer, model, first, i);
    sl_write_array_end(writer);
    sl_write_object_end(writer);
}

/* True when both layers are of one kind and their tensors are stored alike. */
static bool
are_alike(const sl_model *model, uint32_t a, uint32_t b)
{
    bool alike = model->layers[a] == model->layers[b];

    for (uint32_t i = 0; alike && i < model->kinds[model->layers[a]].tensor_count; i++)
        alike = model->stored_as[a][i].format == model->stored_as[b][i].format &&
                model->stored_as[a][i].mixed == model->stored_as[b][i].mixed;
    return alike;
}

static void
write_layers(sl_writer *writer, const sl_model *model)
{
    sl_write_key(writer, "layers");
    sl_write_array(writer);
    for (uint32_t first = 0; first < model->layer_count;) {
        uint32_t end = first + 1;
        while (end < model->layer_count && are_alike(model, first, end))
            end++;
        write_run(writer, model, first, end - first);
        first = end;
    }
    sl_write_array_end(writer);
}

/* Weights that share a scale: along the inputs, or as a tile. */
static void
write_scale_shape(sl_writer *writer, const sl_tensor_format *format)
{
    const bool tile = format->scale_outputs > 1 && format->scale_inputs != 0;

    sl_put_uint(writer, "bits", format->bits);
    sl_write_key(writer, "group_size");
    if (!tile && format->scale_inputs != 0)
        sl_write_uint(writer, format->scale_inputs);
    else
        sl_write_null(writer);
    sl_write_key(writer, "block");
    if (!tile) {
        sl_write_null(writer);
        return;
    }
    sl_write_array(writer);
    sl_write_uint(writer, format->scale_outputs);
    sl_write_uint(writer, format->scale_inputs);
    sl_write_array_end(writer);
}

static void
write_quantization(sl_writer *writer, const sl_quantization *from)
{
    sl_write_key(writer, "quantization");
    if (from->method[0] == '\0') {
        sl_write_null(writer);
        return;
    }
    sl_write_object(writer);
    sl_put_text(writer, "method", from->method);
    sl_put_text(writer, "format", from->format[0] == '\0' ? NULL : from->format);
    if (from->format_count != 0) {
        write_scale_shape(writer, &from->formats[from->main_format]);
        sl_put_uint(writer, "scale_bytes", from->scale_bytes);
        sl_put_uint(writer, "quantized_parameters", from->quantized_parameters);
        sl_put_uint(writer, "kept_parameters", from->kept_parameters);
    }
    sl_put_uint(writer, "modules_kept_count", from->kept_count);
    sl_write_key(writer, "modules_kept");
    sl_write_array(writer);
    for (uint32_t i = 0; i < from->kept_listed; i++)
        sl_write_text(writer, from->kept[i]);
    sl_write_array_end(writer);
    sl_put_text(writer, "kv_cache_dtype",
                from->kv_cache_dtype[0] == '\0' ? NULL : from->kv_cache_dtype);
    sl_write_object_end(writer);
}

void
sl_model_write(sl_writer *writer, const sl_model *model, const sl_model_counts *counts,
               const sl_errors *warnings)
{
    assert(writer != NULL && model != NULL && counts != NULL && warnings != NULL);

    sl_write_object(writer);
    sl_put_text(writer, "name", model->name);
    sl_put_text(writer, "revision", model->revision[0] == '\0' ? NULL : model->revision);
    sl_put_text(writer, "architecture", model->architecture);
    sl_put_text(writer, "model_type", model->model_type);
    write_parameters(writer, counts);
    sl_put_uint(writer, "weights_bytes", sl_model_weights_bytes(model, counts));
    write_kv_cache(writer, model);
    write_layers(writer, model);
    write_quantization(writer, &model->quantization);
    sl_write_key(writer, "warnings");
    sl_write_array(writer);
    for (uint32_t i = 0; i < warnings->count; i++)
        sl_write_text(writer, warnings->list[i].message);
    sl_write_array_end(writer);
    sl_write_object_end(writer);
}
