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
write_tensor(sl_writer *writer, const sl_tensor *tensor, const char *dtype)
{
    sl_write_object(writer);
    sl_put_text(writer, "name", tensor->name);
    sl_write_key(writer, "shape");
    sl_write_array(writer);
    for (uint32_t axis = 0; axis < tensor->axes; axis++)
        sl_write_uint(writer, tensor->shape[axis]);
    sl_write_array_end(writer);
    sl_put_text(writer, "dtype", dtype);
    sl_put_text(writer, "role", sl_component_text(tensor->component));
    sl_put_text(writer, "tensor_parallel", sl_cut_text(tensor->cut));
    sl_put_bool(writer, "tied", tensor->tied);
    if (tensor->experts != 0)
        sl_put_uint(writer, "experts", tensor->experts);
    sl_write_object_end(writer);
}

static void
write_run(sl_writer *writer, const sl_model *model, const sl_layer_kind *kind, uint32_t count)
{
    sl_write_object(writer);
    sl_put_text(writer, "kind", kind->name);
    sl_put_uint(writer, "count", count);
    sl_put_text(writer, "prefix", kind->prefix);
    sl_write_key(writer, "tensors");
    sl_write_array(writer);
    for (uint32_t i = 0; i < kind->tensor_count; i++)
        write_tensor(writer, &kind->tensors[i], model->checkpoint_dtype);
    sl_write_array_end(writer);
    sl_write_object_end(writer);
}

static void
write_layers(sl_writer *writer, const sl_model *model)
{
    sl_write_key(writer, "layers");
    sl_write_array(writer);
    for (uint32_t first = 0; first < model->layer_count;) {
        uint32_t end = first + 1;
        while (end < model->layer_count && model->layers[end] == model->layers[first])
            end++;
        write_run(writer, model, &model->kinds[model->layers[first]], end - first);
        first = end;
    }
    sl_write_array_end(writer);
}

void
sl_model_write(sl_writer *writer, const sl_model *model, const sl_model_counts *counts,
               const sl_checkpoint *checkpoint, const sl_errors *warnings)
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
    sl_write_key(writer, "quantization");
    if (model->quantization[0] == '\0') {
        sl_write_null(writer);
    } else {
        sl_write_object(writer);
        sl_put_text(writer, "method", model->quantization);
        sl_write_object_end(writer);
    }
    sl_write_key(writer, "warnings");
    sl_write_array(writer);
    for (uint32_t i = 0; i < warnings->count; i++)
        sl_write_text(writer, warnings->list[i].message);
    sl_write_array_end(writer);
    sl_checkpoint_write(writer, model, counts, checkpoint);
    sl_write_object_end(writer);
}
