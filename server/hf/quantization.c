#include "hf/quantization.h"

#include <assert.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "hf/modules.h"

enum { LISTS_BYTES_MAX = 8 << 20 };

/* Files that were written before the method had a name. */
static sl_code
read_method(sl_hf_quantization *out, sl_errors *err)
{
    sl_node member;
    const sl_code code = sl_node_text(&out->section, "quant_method", &out->method, NULL, err);

    if (code != SL_OK || out->method != NULL)
        return code;
    out->method = "unknown";
    if (sl_node_member(&out->section, "load_in_8bit", &member) ||
        sl_node_member(&out->section, "load_in_4bit", &member))
        out->method = "bitsandbytes";
    else if (sl_node_member(&out->section, "quant_algo", &member) ||
             sl_node_member(&out->section, "producer", &member))
        out->method = "modelopt";
    return SL_OK;
}

static sl_code
read_section(sl_hf_quantization *out, sl_errors *err)
{
    sl_code code = sl_node_object(&out->section, err);
    if (code == SL_OK)
        code = read_method(out, err);
    if (code == SL_OK)
        code = sl_hf_quantization_methods(out, err);
    out->present = code == SL_OK;
    return code;
}

/* DeepSeek-V4 says beside its section that the experts are stored otherwise. */
static sl_code
read_expert_dtype(const sl_node *config, sl_hf_quantization *out, sl_errors *err)
{
    const char *dtype = NULL;

    const sl_code code = sl_node_text(config, "expert_dtype", &dtype, NULL, err);
    if (dtype != NULL && !sl_text_equal(dtype, out->method))
        sl_hf_refuse(out, "expert_dtype %.40s", dtype);
    return code;
}

sl_code
sl_hf_quantization_read(const sl_node *config, sl_hf_quantization *out, sl_errors *err)
{
    assert(config != NULL && out != NULL && err != NULL);

    *out = (sl_hf_quantization){0};
    const bool inner = !sl_node_member(config, "quantization_config", &out->section);
    if (inner && (!sl_node_member(config, "text_config", &out->wrapper) ||
                  !sl_node_member(&out->wrapper, "quantization_config", &out->section)))
        return SL_OK;
    sl_code code = read_section(out, err);
    if (code == SL_OK)
        code = read_expert_dtype(inner ? &out->wrapper : config, out, err);
    return code;
}

/* One reckoning of a model's tensors. */
typedef struct accounting {
    const sl_hf_quantization *from;
    sl_model *model;
    sl_arena *arena;
    sl_hf_modules *kept; /* NULL = none */
    sl_hf_modules *targets[SL_FORMATS_MAX];
    bool numbered;                           /* some list may tell experts apart */
    uint64_t bytes;                          /* of all tensors */
    uint64_t scale_bytes;                    /* of quantised ones */
    uint64_t parameters[SL_FORMATS_MAX + 1]; /* by format, from 1; kept ones first */
    char refused[SL_HF_REFUSED_MAX];
} accounting;

static void
refuse(accounting *of, const char *reason)
{
    if (of->refused[0] == '\0')
        (void)sl_text_copy(of->refused, sizeof of->refused, reason);
}

/* NULL, with a reason, when the names cannot be read. */
static sl_hf_modules *
open_list(accounting *of, const sl_node *names, const char *algorithm)
{
    char entry[SL_HF_ENTRY_MAX] = "";
    sl_hf_modules *modules = sl_hf_modules_new(of->arena, names, algorithm, entry);

    if (modules != NULL)
        of->numbered = of->numbered || sl_hf_modules_numbered(modules);
    else if (of->refused[0] == '\0')
        (void)sl_text_format(of->refused, sizeof of->refused, "pattern %s", entry);
    return modules;
}

static void
open_lists(accounting *of)
{
    const sl_hf_quantization *from = of->from;

    of->arena = sl_arena_new(LISTS_BYTES_MAX);
    if (of->arena == NULL) {
        refuse(of, "a list that memory is short for");
        return;
    }
    if (from->has_kept)
        of->kept = open_list(of, &from->kept, NULL);
    for (uint32_t i = 0; i < from->group_count; i++) {
        if (!from->groups[i].everywhere)
            of->targets[i] = open_list(of, &from->groups[i].targets, from->groups[i].algorithm);
    }
}

static void
close_lists(accounting *of)
{
    sl_hf_modules_clear(of->kept);
    for (uint32_t i = 0; i < of->from->group_count; i++)
        sl_hf_modules_clear(of->targets[i]);
    sl_arena_free(of->arena);
}

/* Puts `number` where the first hole of `text` is; false when it does not fit. */
static bool
fill_hole(char *out, size_t size, const char *text, uint32_t number)
{
    const char *hole = strstr(text, "{}");
    return hole == NULL
               ? sl_text_copy(out, size, text)
               : sl_text_format(out, size, "%.*s%u%s", (int)(hole - text), text, number, hole + 2);
}

/* "model.layers.{}." of block 3 with "mlp.up_proj.weight" is "model.layers.3.mlp.up_proj". */
static void
module_path(char out[SL_HF_MODULE_PATH_MAX], const sl_layer_kind *kind, const sl_tensor *tensor,
            uint32_t block, uint32_t expert)
{
    char prefix[SL_HF_MODULE_PATH_MAX / 2];
    char name[SL_HF_MODULE_PATH_MAX / 2] = "";

    bool fits = fill_hole(prefix, sizeof prefix, kind->prefix, block) &&
                fill_hole(name, sizeof name, tensor->name, expert);
    sl_hf_module_cut(name);
    fits = fits && sl_text_format(out, SL_HF_MODULE_PATH_MAX, "%s%s", prefix, name);
    assert(fits);
    (void)fits;
}

/* Format of the module, from 1; 0 = it stays. Lists of what to keep come before lists of what to
 * quantise, names before classes. */
static uint32_t
format_of(accounting *of, const char *path, bool everywhere)
{
    const sl_hf_quantization *from = of->from;

    if (of->kept != NULL && sl_hf_modules_name(of->kept, path))
        return 0;
    for (uint32_t i = 0; i < from->group_count; i++) {
        if (of->targets[i] != NULL && sl_hf_modules_name(of->targets[i], path))
            return i + 1;
    }
    for (uint32_t i = 0; i < from->group_count && everywhere; i++) {
        if (from->groups[i].everywhere)
            return i + 1;
    }
    return 0;
}

/* True when the method takes the tensor for a linear layer without being told its name. */
static bool
is_everywhere(const sl_hf_quantization *from, const sl_tensor *tensor)
{
    if (from->experts_only && tensor->component != SL_COMPONENT_ROUTED_EXPERTS)
        return false;
    if (from->stacks_kept && tensor->axes > 2)
        return false;
    return from->head || tensor->component != SL_COMPONENT_LM_HEAD;
}

static bool
lists_exhausted(const accounting *of)
{
    bool exhausted = of->kept != NULL && sl_hf_modules_exhausted(of->kept);

    for (uint32_t i = 0; i < of->from->group_count; i++)
        exhausted =
            exhausted || (of->targets[i] != NULL && sl_hf_modules_exhausted(of->targets[i]));
    return exhausted;
}

/* Matrices of the tensor by format. */
static void
sort_matrices(accounting *of, const sl_layer_kind *kind, uint32_t block, const sl_tensor *tensor,
              const sl_matrices *matrices, uint64_t counts[SL_FORMATS_MAX + 1])
{
    const bool everywhere = is_everywhere(of->from, tensor);
    char path[SL_HF_MODULE_PATH_MAX];

    if (of->numbered && tensor->experts == 0 && tensor->component == SL_COMPONENT_ROUTED_EXPERTS)
        refuse(of, "a list of single experts where they are one tensor");
    const bool apart = of->numbered && tensor->experts != 0;
    const uint64_t paths = apart ? matrices->count : 1;
    for (uint32_t i = 0; i < paths && of->refused[0] == '\0'; i++) {
        module_path(path, kind, tensor, block, i);
        counts[format_of(of, path, everywhere)] += apart ? 1 : matrices->count;
        if (lists_exhausted(of))
            refuse(of, "a list that takes too long to compare");
    }
}

/* Adds `count` of the matrices in a format; the numbers are bounded by those of the whole model. */
static void
add_stored(accounting *of, const sl_matrices *matrices, uint64_t count, uint32_t format)
{
    const uint64_t elements = count * matrices->outputs * matrices->inputs;
    sl_stored stored = {.weight_bytes = elements * of->model->checkpoint_element_bytes};

    of->parameters[format] += elements;
    if (format != 0 &&
        sl_matrices_stored(matrices, count, &of->model->quantization.formats[format - 1],
                           &stored) != SL_OK) {
        refuse(of, "sizes beyond 64 bits");
        return;
    }
    /* Room is left above every sum of elements, but scales of single weights could fill it. */
    if (stored.scale_bytes > UINT64_MAX / 4 - of->scale_bytes)
        refuse(of, "sizes beyond 64 bits");
    else
        of->scale_bytes += stored.scale_bytes;
    of->bytes += stored.weight_bytes;
}

static void
account_tensor(accounting *of, uint32_t layer, uint32_t block, uint32_t index)
{
    const sl_layer_kind *kind = &of->model->kinds[of->model->layers[layer]];
    const sl_tensor *tensor = &kind->tensors[index];
    sl_stored_as *as = &of->model->stored_as[layer][index];
    uint64_t counts[SL_FORMATS_MAX + 1] = {0};
    sl_matrices matrices;
    uint64_t elements = 0;

    if (tensor->tied || tensor->buffer || sl_tensor_elements(tensor, &elements) != SL_OK)
        return;
    if (!sl_tensor_matrices(tensor, &matrices)) {
        of->parameters[0] += elements;
        of->bytes += elements * of->model->checkpoint_element_bytes;
        return;
    }
    sort_matrices(of, kind, block, tensor, &matrices, counts);
    for (uint8_t i = 0; i <= of->from->group_count; i++) {
        if (counts[i] == 0)
            continue;
        add_stored(of, &matrices, counts[i], i);
        as->mixed = counts[i] != matrices.count;
        if (counts[i] >= counts[as->format])
            as->format = i;
    }
}

/* The number a layer's name has: how many before it stand under the same prefix. */
static uint32_t
number_of(const sl_model *model, uint32_t layer)
{
    const char *prefix = model->kinds[model->layers[layer]].prefix;
    uint32_t number = 0;

    for (uint32_t i = 0; i < layer; i++)
        number += sl_text_equal(model->kinds[model->layers[i]].prefix, prefix);
    return number;
}

/* No published method quantises towers. */
static void
account_towers(accounting *of)
{
    sl_model_counts counts;

    if (sl_model_count(of->model, &counts) != SL_OK)
        return;
    of->parameters[0] += counts.towers;
    of->bytes += counts.towers * of->model->checkpoint_element_bytes;
}

/* Scales and inputs of the dtype the weights had, put in. */
static void
fill_formats(const sl_hf_quantization *from, sl_model *model)
{
    model->quantization.format_count = from->group_count;
    for (uint32_t i = 0; i < from->group_count; i++) {
        sl_tensor_format *format = &model->quantization.formats[i];
        *format = from->groups[i].format;
        if (!from->groups[i].scales_as_weights)
            continue;
        format->scale_bytes = model->checkpoint_element_bytes;
        if (format->input_bytes != 0)
            format->input_bytes = model->checkpoint_element_bytes;
    }
}

static void
account(accounting *of)
{
    sl_model *model = of->model;

    /* A config may name the dtype of the quantised weights: the others have 16 bits then. */
    if (model->checkpoint_element_bytes == 1) {
        model->checkpoint_element_bytes = 2;
        (void)sl_text_copy(model->checkpoint_dtype, sizeof model->checkpoint_dtype, "bf16");
    }
    fill_formats(of->from, model);
    open_lists(of);
    for (uint32_t layer = 0; layer < model->layer_count; layer++) {
        const uint32_t count = model->kinds[model->layers[layer]].tensor_count;
        const uint32_t block = number_of(model, layer);
        for (uint32_t i = 0; i < count && of->refused[0] == '\0'; i++)
            account_tensor(of, layer, block, i);
    }
    account_towers(of);
    close_lists(of);
}

static void
list_kept(const sl_hf_quantization *from, sl_quantization *to)
{
    sl_errors scratch = {0};
    sl_node at;
    void *state = NULL;

    to->kept_count = from->has_kept ? (uint32_t)sl_node_count(&from->kept) : 0;
    for (uint32_t i = 0; i < to->kept_count && i < SL_KEPT_LISTED_MAX; i++) {
        const char *text = NULL;
        if (sl_node_kind(&from->kept) == SL_JSON_OBJECT)
            text = sl_node_next(&from->kept, &state, &at) ? at.key : NULL;
        else if (sl_node_at(&from->kept, i, &at) && sl_node_kind(&at) == SL_JSON_TEXT &&
                 sl_node_as_text(&at, &text, &scratch) != SL_OK)
            text = NULL;
        if (text != NULL)
            (void)sl_text_copy(to->kept[to->kept_listed++], SL_KEPT_PATTERN_MAX, text);
    }
}

/* What the reckoning found, into the model. */
static void
keep_result(const accounting *of)
{
    sl_model *model = of->model;
    sl_quantization *to = &model->quantization;

    model->quantized_weights_bytes = of->bytes + of->scale_bytes;
    to->scale_bytes = of->scale_bytes;
    to->kept_parameters = of->parameters[0];
    for (uint32_t i = 0; i < to->format_count; i++) {
        to->quantized_parameters += of->parameters[i + 1];
        if (of->parameters[i + 1] > of->parameters[to->main_format + 1])
            to->main_format = i;
    }
}

static void
forget_result(sl_model *model)
{
    model->quantization.format_count = 0;
    model->quantized_weights_bytes = 0;
    memset(model->stored_as, 0, sizeof model->stored_as);
}

void
sl_hf_quantization_apply(const sl_hf_quantization *quantization, sl_model *model,
                         sl_errors *warnings)
{
    assert(quantization != NULL && model != NULL && warnings != NULL);

    sl_quantization *to = &model->quantization;
    accounting of = {.from = quantization, .model = model};
    *to = (sl_quantization){0};
    model->quantized_weights_bytes = 0;
    if (!quantization->present)
        return;
    forget_result(model);
    (void)sl_text_copy(to->method, sizeof to->method, quantization->method);
    (void)sl_text_copy(to->format, sizeof to->format,
                       quantization->format == NULL ? "" : quantization->format);
    (void)sl_text_copy(to->kv_cache_dtype, sizeof to->kv_cache_dtype,
                       quantization->kv_cache == NULL ? "" : quantization->kv_cache);
    list_kept(quantization, to);
    refuse(&of, quantization->refused);
    if (of.refused[0] == '\0')
        account(&of);
    if (of.refused[0] != '\0') {
        forget_result(model);
        (void)sl_node_fail(&quantization->section, warnings, SL_E_UNSUPPORTED, "quantization",
                           "weights_bytes is that of the unquantised checkpoint: of %s, %s is not "
                           "modelled",
                           to->method, of.refused);
        return;
    }
    keep_result(&of);
    const uint64_t parameters = to->quantized_parameters + to->kept_parameters;
    (void)sl_node_fail(&quantization->section, warnings, SL_E_RANGE, "quantization",
                       "weights_bytes takes the layout of %s files: %s; %llu of %llu parameters "
                       "are quantised",
                       to->method, quantization->assumed,
                       (unsigned long long)to->quantized_parameters,
                       (unsigned long long)parameters);
}

sl_code
sl_hf_quantization_read_file(const sl_node *file, sl_model *model, sl_errors *warnings,
                             sl_errors *err)
{
    assert(file != NULL && model != NULL && warnings != NULL && err != NULL);

    sl_hf_quantization quantization = {.section = *file};
    const sl_code code = read_section(&quantization, err);
    if (code == SL_OK && model->quantization.method[0] == '\0')
        sl_hf_quantization_apply(&quantization, model, warnings);
    return code;
}
