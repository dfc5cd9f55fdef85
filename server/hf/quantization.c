#include "hf/quantization.h"

#include <assert.h>
#include <string.h>

#include "base/text.h"

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

/* Other tools write it under keys of their own: it is not read, and not passed over either. */
static void
find_elsewhere(const sl_node *config, sl_hf_quantization *out)
{
    static const char *const keys[] = {"quantization", "compression_config", "quantization_bit",
                                       "expert_dtype"};
    sl_errors ignored = {.count = 0};
    sl_node member;
    uint64_t bits = 0;

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (!sl_node_member(config, keys[i], &member) ||
            (sl_node_as_uint(&member, 0, 0, &bits, &ignored) == SL_OK))
            continue;
        out->elsewhere = keys[i];
    }
}

sl_code
sl_hf_quantization_read(const sl_node *config, sl_hf_quantization *out, sl_errors *err)
{
    assert(config != NULL && out != NULL && err != NULL);

    *out = (sl_hf_quantization){0};
    const bool inner = !sl_node_member(config, "quantization_config", &out->section);
    if (inner && (!sl_node_member(config, "text_config", &out->wrapper) ||
                  !sl_node_member(&out->wrapper, "quantization_config", &out->section))) {
        find_elsewhere(config, out);
        return SL_OK;
    }
    sl_code code = read_section(out, err);
    if (code == SL_OK)
        code = read_expert_dtype(inner ? &out->wrapper : config, out, err);
    return code;
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

/* A config may name the dtype of the quantised weights: the others have 16 bits then. */
static void
widen_dtype(sl_model *model)
{
    if (model->checkpoint_element_bytes != 1)
        return;
    model->checkpoint_element_bytes = 2;
    (void)sl_text_copy(model->checkpoint_dtype, sizeof model->checkpoint_dtype, "bf16");
}

static void
list_names(const sl_node *names, sl_quantization *to)
{
    const uint32_t count = (uint32_t)sl_node_count(names);
    sl_errors scratch = {0};
    sl_node at;
    void *state = NULL;

    for (uint32_t i = 0; i < count && to->kept_listed < SL_KEPT_LISTED_MAX; i++) {
        const char *text = NULL;
        if (sl_node_kind(names) == SL_JSON_OBJECT)
            text = sl_node_next(names, &state, &at) ? at.key : NULL;
        else if (sl_node_at(names, i, &at) && sl_node_kind(&at) == SL_JSON_TEXT &&
                 sl_node_as_text(&at, &text, &scratch) != SL_OK)
            text = NULL;
        if (text != NULL)
            (void)sl_text_copy(to->kept[to->kept_listed++], SL_KEPT_PATTERN_MAX, text);
    }
    to->kept_count += count;
}

/* What the file says, into the model. */
static void
copy_words(const sl_hf_quantization *from, sl_quantization *to)
{
    *to = (sl_quantization){0};
    (void)sl_text_copy(to->method, sizeof to->method, from->method);
    (void)sl_text_copy(to->format, sizeof to->format, from->format == NULL ? "" : from->format);
    (void)sl_text_copy(to->kv_cache_dtype, sizeof to->kv_cache_dtype,
                       from->kv_cache == NULL ? "" : from->kv_cache);
    for (uint32_t i = 0; i < from->kept_count; i++)
        list_names(&from->kept[i], to);
}

/* What the reckoning found, into the model. */
static void
keep_result(const sl_hf_account *found, sl_model *model)
{
    sl_quantization *to = &model->quantization;

    model->quantized_weights_bytes = found->bytes + found->scale_bytes;
    to->scale_bytes = found->scale_bytes;
    to->kept_parameters = found->parameters[0];
    for (uint32_t i = 0; i < to->format_count; i++) {
        to->quantized_parameters += found->parameters[i + 1];
        if (found->parameters[i + 1] > found->parameters[to->main_format + 1])
            to->main_format = i;
    }
}

static void
forget_result(sl_model *model)
{
    model->quantization.format_count = 0;
    model->quantized_weights_bytes = 0;
    memset(model->stored_as, 0, sizeof model->stored_as);
    memset(model->stored_beside, 0, sizeof model->stored_beside);
}

static void
warn(const sl_hf_quantization *from, const sl_hf_account *found, const sl_quantization *to,
     sl_errors *warnings)
{
    const uint64_t parameters = to->quantized_parameters + to->kept_parameters;

    (void)sl_node_fail(
        &from->section, warnings, SL_E_RANGE, "quantization",
        "%llu of %llu parameters are quantised, their bytes counted as in %s files: %s",
        (unsigned long long)to->quantized_parameters, (unsigned long long)parameters, to->method,
        from->assumed);
    if (found->unsure == 0)
        return;
    (void)sl_node_fail(&from->section, warnings, SL_E_RANGE, "quantization",
                       "whether %s converts routers that it is not told of differs by version: "
                       "their %llu parameters are taken to have the checkpoint's dtype",
                       to->method, (unsigned long long)found->unsure);
}

uint64_t
sl_hf_quantization_apply(const sl_hf_quantization *quantization, sl_model *model,
                         sl_errors *warnings)
{
    assert(quantization != NULL && model != NULL && warnings != NULL);

    sl_hf_account found = {0};
    model->quantization = (sl_quantization){0};
    model->quantized_weights_bytes = 0;
    if (!quantization->present)
        return 0;
    forget_result(model);
    widen_dtype(model);
    copy_words(quantization, &model->quantization);
    (void)sl_text_copy(found.refused, sizeof found.refused, quantization->refused);
    if (found.refused[0] == '\0') {
        fill_formats(quantization, model);
        sl_hf_account_model(quantization, model, &found);
    }
    if (found.refused[0] != '\0') {
        forget_result(model);
        (void)sl_node_fail(&quantization->section, warnings, SL_E_UNSUPPORTED, "quantization",
                           "weights_bytes is that of the unquantised checkpoint: of %s, %s is not "
                           "modelled",
                           model->quantization.method, found.refused);
        return found.steps;
    }
    keep_result(&found, model);
    warn(quantization, &found, &model->quantization, warnings);
    return found.steps;
}

sl_code
sl_hf_quantization_read_file(const sl_node *file, sl_model *model, sl_errors *warnings,
                             sl_errors *err)
{
    assert(file != NULL && model != NULL && warnings != NULL && err != NULL);

    sl_hf_quantization quantization = {.section = *file};
    const sl_code code = read_section(&quantization, err);
    if (code == SL_OK && model->quantization.method[0] == '\0')
        (void)sl_hf_quantization_apply(&quantization, model, warnings);
    return code;
}
