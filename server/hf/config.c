#include "hf/config.h"

#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "hf/dense.h"
#include "hf/quantization.h"
#include "hf/recipe.h"
#include "hf/wrapper.h"
#include "json/members.h"

typedef struct dtype_row {
    const char *name; /* of the checkpoint's tensors */
    uint32_t element_bytes;
} dtype_row;

/* The keys of the language part, and which table describes it. */
typedef struct language {
    sl_hf_source source;
    const sl_hf_type *type; /* one of the two, or neither */
    const sl_hf_recipe *recipe;
} language;

/* The type of the language part of a wrapper that is not modelled, where that part is. */
static const char *
modelled_part(const sl_node *config)
{
    sl_errors ignored = {.count = 0};
    const char *type = NULL;
    sl_node text;

    if (!sl_node_member(config, "text_config", &text) || sl_node_kind(&text) != SL_JSON_OBJECT ||
        sl_node_text(&text, "model_type", &type, NULL, &ignored) != SL_OK || type == NULL)
        return NULL;
    const sl_hf_recipe *recipe = sl_hf_recipe_find(type);
    return sl_hf_type_find(type) != NULL || (recipe != NULL && !recipe->encoder) ? type : NULL;
}

static sl_code
fail_type(const sl_node *config, const char *model_type, sl_errors *err)
{
    const char *part = modelled_part(config);
    const sl_code code =
        sl_node_fail_at(config, "model_type", err, SL_E_UNSUPPORTED, "unsupported_architecture",
                        "\"%.48s\" is not one of the model types that are modelled", model_type);
    if (part != NULL)
        sl_hint(err, "its text_config is of type %s, which is: send that alone", part);
    else
        sl_hint(
            err,
            "server/hf/README.md lists them and says how to add one; or send {\"layers\": [...]}");
    return code;
}

/* As the library does: the longest known type in the name of a model whose file names none. */
static const char *
type_in_name(const char *name)
{
    const char *found = NULL;
    const char *type;

    for (size_t i = 0; (type = sl_hf_recipe_name(i)) != NULL; i++) {
        if (strstr(name, type) != NULL && (found == NULL || strlen(type) > strlen(found)))
            found = type;
    }
    for (size_t i = 0; (type = sl_hf_type_name(i)) != NULL; i++) {
        if (strstr(name, type) != NULL && (found == NULL || strlen(type) > strlen(found)))
            found = type;
    }
    return found;
}

/* Files of 2019 name no type. RoBERTa has one kind of segments, BERT two; no decoder has the
 * key. */
static const char *
type_of_old_encoder(const sl_node *config)
{
    sl_errors ignored = {.count = 0};
    uint64_t segments = 0;

    if (sl_node_uint(config, "type_vocab_size", 1, 2, &segments, NULL, &ignored) != SL_OK)
        return NULL;
    return segments == 1 ? "roberta" : segments == 2 ? "bert" : NULL;
}

static sl_code
read_type(const sl_node *config, const char *name, const char **model_type, sl_errors *warnings,
          sl_errors *err)
{
    sl_node other;

    *model_type = NULL;
    sl_code code = sl_node_text(config, "model_type", model_type, NULL, err);
    if (code != SL_OK || *model_type != NULL)
        return code;
    if (sl_node_member(config, "ssm_cfg", &other)) {
        code = sl_node_fail(&other, err, SL_E_UNSUPPORTED, "unsupported_architecture",
                            "is of the mamba_ssm package, not of the library whose keys are read");
        sl_hint(err, "the copy of the same model whose name ends in -hf");
        return code;
    }
    const char *reason = "the model's name";
    *model_type = type_in_name(name);
    if (*model_type == NULL) {
        reason = "type_vocab_size";
        *model_type = type_of_old_encoder(config);
    }
    if (*model_type != NULL) {
        (void)sl_node_fail_at(config, "model_type", warnings, SL_E_RANGE, "guessed_model_type",
                              "model_type is missing: taken to be %s, because of %s", *model_type,
                              reason);
        return SL_OK;
    }
    code = sl_node_fail_at(config, "model_type", err, SL_E_RANGE, "required_field",
                           "says which class the other keys belong to, and is missing");
    sl_hint(err, "for instance llama, qwen3 or gpt2");
    return code;
}

/* The newer key first: files that were saved again hold both. */
static sl_code
read_dtype(const sl_node *config, dtype_row *row, bool *present, sl_errors *err)
{
    static const char *const texts[] = {"bfloat16",      "float16",      "float32",
                                        "float8_e4m3fn", "float8_e5m2",  "torch.bfloat16",
                                        "torch.float16", "torch.float32"};
    static const dtype_row rows[] = {{"bf16", 2}, {"fp16", 2}, {"fp32", 4}, {"fp8", 1},
                                     {"fp8", 1},  {"bf16", 2}, {"fp16", 2}, {"fp32", 4}};
    enum { TEXT_COUNT = sizeof texts / sizeof texts[0] };
    _Static_assert(TEXT_COUNT == sizeof rows / sizeof rows[0], "one row per text");
    uint32_t at = 0;

    sl_code code = sl_node_choice(config, "dtype", texts, TEXT_COUNT, &at, present, err);
    if (code == SL_OK && !*present)
        code = sl_node_choice(config, "torch_dtype", texts, TEXT_COUNT, &at, present, err);
    if (code == SL_OK && *present)
        *row = rows[at];
    return code;
}

static sl_code
fill_dtype(const sl_node *config, const language *found, sl_model *out, sl_errors *warnings,
           sl_errors *err)
{
    const char *usual = found->type != NULL ? found->type->dtype : found->recipe->dtype;
    dtype_row row = {"bf16", 2};
    bool present = false;

    if (usual != NULL && sl_text_equal(usual, "float32"))
        row = (dtype_row){"fp32", 4};
    else if (usual != NULL && sl_text_equal(usual, "float16"))
        row = (dtype_row){"fp16", 2};
    sl_code code = read_dtype(config, &row, &present, err);
    if (code == SL_OK && !present && found->source.wrapped)
        code = read_dtype(found->source.config, &row, &present, err);
    if (code != SL_OK)
        return code;
    if (!present)
        (void)sl_node_fail_at(config, "torch_dtype", warnings, SL_E_RANGE, "missing_dtype",
                              "the config names no dtype: the weights are taken to be %s",
                              row.name);
    out->checkpoint_element_bytes = row.element_bytes;
    (void)sl_text_copy(out->checkpoint_dtype, sizeof out->checkpoint_dtype, row.name);
    return SL_OK;
}

static sl_code
describe(const language *found, sl_model *out)
{
    return found->type != NULL ? sl_hf_dense_read(&found->source, found->type, out)
                               : sl_hf_recipe_read(&found->source, found->recipe, out);
}

/* Which table describes the language part: of the whole config, or of the part of it that a wrapper
 * keeps apart, whose node is kept in `text`. */
static sl_code
find_language(const sl_node *config, const char *model_type, const sl_hf_wrapper *wrapper,
              sl_node *text, language *out)
{
    sl_code code = SL_OK;

    out->source.config = config;
    out->source.model_type = model_type;
    if (wrapper != NULL)
        code = sl_hf_wrapper_open(wrapper, config, text, &out->source);
    if (code != SL_OK)
        return code;
    out->type = sl_hf_type_find(out->source.model_type);
    if (out->type == NULL)
        out->recipe = sl_hf_recipe_find(out->source.model_type);
    const bool no_decoder = out->source.wrapped && out->recipe != NULL && out->recipe->encoder;
    if ((out->type == NULL && out->recipe == NULL) || no_decoder)
        return fail_type(out->source.config, out->source.model_type, out->source.err);
    return SL_OK;
}

/* One answer names every fault, so each part is read whatever the others said. */
static sl_code
read_parts(const sl_node *config, const sl_hf_wrapper *wrapper, const language *found,
           sl_model *out)
{
    sl_errors *warnings = found->source.warnings;
    sl_errors *err = found->source.err;
    sl_hf_quantization quantization;

    sl_code first = describe(found, out);
    if (first != SL_OK) {
        sl_model_clear(out);
        out->hidden = 1;
    }
    if (wrapper != NULL)
        sl_keep(&first, sl_hf_wrapper_close(wrapper, config, out, warnings, err));
    sl_keep(&first, fill_dtype(config, found, out, warnings, err));
    sl_keep(&first, sl_hf_quantization_read(config, &quantization, err));
    if (first == SL_OK && quantization.elsewhere != NULL)
        (void)sl_node_fail_at(
            config, quantization.elsewhere, warnings, SL_E_UNSUPPORTED, "quantization",
            "weights_bytes is that of the unquantised checkpoint: what %s says is "
            "not modelled",
            quantization.elsewhere);
    if (first == SL_OK)
        sl_hf_quantization_apply(&quantization, out, warnings);
    return first;
}

sl_code
sl_hf_config_read(const sl_node *config, const char *name, sl_model *out, sl_errors *warnings,
                  sl_errors *err)
{
    assert(config != NULL && name != NULL && out != NULL && warnings != NULL && err != NULL);

    const char *model_type = NULL;
    const sl_hf_wrapper *wrapper = NULL;
    language found = {.source = {.warnings = warnings, .err = err}};
    sl_node text;

    sl_model_clear(out);
    sl_code code = sl_node_object(config, err);
    if (code == SL_OK)
        code = read_type(config, name, &model_type, warnings, err);
    if (code == SL_OK) {
        wrapper = sl_hf_wrapper_find(model_type);
        code = find_language(config, model_type, wrapper, &text, &found);
    }
    if (code == SL_OK)
        code = read_parts(config, wrapper, &found, out);
    if (code != SL_OK) {
        sl_model_clear(out);
        return code;
    }
    (void)sl_text_copy(out->name, sizeof out->name, name);
    (void)sl_text_copy(out->model_type, sizeof out->model_type, model_type);
    return SL_OK;
}
