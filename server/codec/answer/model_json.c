#include "codec/answer/model_json.h"

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
        const sl_cache *cache = &model->kinds[kind].cache;
        if (cache->window == 0)
            continue;
        sl_write_object(writer);
        sl_put_uint(writer, "window", cache->window);
        sl_put_uint(writer, "count", sl_model_layers_of(model, kind));
        sl_put_uint(writer, "bytes_per_token", cache->per_token * KV_ELEMENT_BYTES);
        sl_write_object_end(writer);
    }
    sl_write_array_end(writer);
}

/* Towers keep nothing of the text: only the layers of the list count. */
static void
write_kv_cache(sl_writer *writer, const sl_model *model)
{
    sl_cache sum = {0};

    for (uint32_t kind = 0; kind < model->kind_count; kind++) {
        const sl_cache *cache = &model->kinds[kind].cache;
        const uint64_t layers = sl_model_layers_of(model, kind);
        if (cache->window == 0) {
            sum.per_token += cache->per_token * layers;
            sum.naive_per_token += cache->naive_per_token * layers;
        }
        sum.per_source_token += cache->per_source_token * layers;
        sum.state_bytes += cache->state_bytes * layers;
    }
    sl_write_key(writer, "kv_cache");
    sl_write_object(writer);
    sl_put_uint(writer, "bytes_per_token", sum.per_token * KV_ELEMENT_BYTES);
    sl_put_uint(writer, "naive_bytes_per_token", sum.naive_per_token * KV_ELEMENT_BYTES);
    sl_put_uint(writer, "bytes_per_source_token", sum.per_source_token * KV_ELEMENT_BYTES);
    sl_put_uint(writer, "bytes_per_sequence", sum.state_bytes);
    write_window_layers(writer, model);
    sl_write_object_end(writer);
}

/* Whole experts go to the ranks, whether they are stored one by one or in a stack; what else a
 * block has, every rank of the group holds. */
static const char *
expert_cut(const sl_tensor *tensor)
{
    return tensor->component == SL_COMPONENT_ROUTED_EXPERTS ? "by_expert" : "replicated";
}

/* A model that was counted is within range. */
static uint64_t
elements_of(const sl_tensor *tensor)
{
    uint64_t elements = 0;
    const sl_code code = sl_tensor_elements(tensor, &elements);

    assert(code == SL_OK);
    (void)code;
    return elements;
}

static void
write_tensor(sl_writer *writer, const sl_model *model, const sl_tensor *tensor,
             const sl_stored_as *as)
{
    sl_write_object(writer);
    sl_put_text(writer, "name", tensor->name);
    sl_write_key(writer, "shape");
    sl_write_array(writer);
    for (uint32_t axis = 0; axis < tensor->axes; axis++)
        sl_write_uint(writer, tensor->shape[axis]);
    sl_write_array_end(writer);
    sl_put_text(writer, "dtype", sl_model_stored_dtype(model, as));
    sl_put_uint(writer, "elements", elements_of(tensor));
    sl_put_text(writer, "role", sl_component_text(tensor->component));
    sl_put_text(writer, "tensor_parallel", sl_cut_text(tensor->cut));
    sl_put_text(writer, "expert_parallel", expert_cut(tensor));
    sl_put_bool(writer, "tied", tensor->tied);
    sl_put_bool(writer, "buffer", tensor->buffer);
    if (tensor->experts != 0)
        sl_put_uint(writer, "experts", tensor->experts);
    if (as->mixed)
        sl_put_bool(writer, "dtype_mixed", true);
    sl_write_object_end(writer);
}

/* What a run adds to the counts, and to the bytes where each parameter takes as many. */
static void
write_run_sizes(sl_writer *writer, const sl_model *model, const sl_layer_kind *kind, uint32_t count)
{
    uint64_t parameters = 0;

    for (uint32_t i = 0; i < kind->tensor_count; i++) {
        const sl_tensor *tensor = &kind->tensors[i];
        if (!tensor->tied && !tensor->buffer)
            parameters += count * elements_of(tensor);
    }
    sl_put_uint(writer, "parameters", parameters);
    if (model->quantized_weights_bytes == 0) {
        sl_put_uint(writer, "weights_bytes", parameters * model->checkpoint_element_bytes);
        return;
    }
    sl_write_key(writer, "weights_bytes");
    sl_write_null(writer);
}

/* `stored` has an entry for each tensor of the kind. */
static void
write_run(sl_writer *writer, const sl_model *model, const sl_layer_kind *kind,
          const sl_stored_as *stored, uint32_t count, const char *stage)
{
    sl_write_object(writer);
    sl_put_text(writer, "kind", kind->name);
    sl_put_uint(writer, "count", count);
    sl_put_text(writer, "prefix", kind->prefix);
    sl_put_text(writer, "pipeline_parallel", stage);
    write_run_sizes(writer, model, kind, count);
    sl_write_key(writer, "tensors");
    sl_write_array(writer);
    for (uint32_t i = 0; i < kind->tensor_count; i++)
        write_tensor(writer, model, &kind->tensors[i], &stored[i]);
    sl_write_array_end(writer);
    sl_write_object_end(writer);
}

/* A stage holds whole layers: where a run of them stands says which stages can. */
static const char *
stage_of(const sl_model *model, uint32_t first, uint32_t end)
{
    if (first == 0)
        return "first_stage";
    return end == model->layer_count ? "last_stage" : "by_layer";
}

/* True when both layers are of one kind and their tensors are stored alike. */
static bool
are_alike(const sl_model *model, uint32_t a, uint32_t b)
{
    const sl_stored_as *one = sl_model_stored_as(model, a);
    const sl_stored_as *other = sl_model_stored_as(model, b);
    bool alike = model->layers[a] == model->layers[b];

    for (uint32_t i = 0; alike && i < model->kinds[model->layers[a]].tensor_count; i++)
        alike = one[i].format == other[i].format && one[i].mixed == other[i].mixed;
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
        write_run(writer, model, &model->kinds[model->layers[first]],
                  sl_model_stored_as(model, first), end - first, stage_of(model, first, end));
        first = end;
    }
    for (uint32_t kind = 0; kind < model->kind_count; kind++) {
        if (model->beside[kind] != 0)
            write_run(writer, model, &model->kinds[kind], sl_model_stored_beside(model, kind),
                      model->beside[kind], "not_planned");
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
    write_quantization(writer, &model->quantization);
    sl_write_key(writer, "warnings");
    sl_write_array(writer);
    for (uint32_t i = 0; i < warnings->count; i++)
        sl_write_text(writer, warnings->list[i].message);
    sl_write_array_end(writer);
    sl_put_uint(writer, "tower_parameters", counts->towers);
    sl_put_uint(writer, "persistent_buffers", counts->persistent_buffers);
    sl_put_uint(writer, "mtp_parameters", model->mtp_parameters);
    sl_checkpoint_write(writer, model, counts, checkpoint);
    sl_write_object_end(writer);
}
