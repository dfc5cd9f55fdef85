#include "hf/wrapper.h"

#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "hf/rename.h"
#include "hf/words.h"

const sl_hf_wrapper *
sl_hf_wrapper_find(const char *model_type)
{
    size_t count = 0;
    const sl_hf_wrapper *rows = sl_hf_wrapper_rows(&count);

    for (size_t i = 0; i < count; i++) {
        if (sl_text_equal(rows[i].model_type, model_type))
            return &rows[i];
    }
    return NULL;
}

const char *
sl_hf_wrapper_name(size_t at)
{
    size_t count = 0;
    const sl_hf_wrapper *rows = sl_hf_wrapper_rows(&count);

    return at < count ? rows[at].model_type : NULL;
}

/* The key's own text, which lives as long as the document does. */
static bool
find_member(const sl_node *config, const char *name, sl_node *out)
{
    void *state = NULL;

    while (sl_node_next(config, &state, out)) {
        if (sl_text_equal(out->key, name) && sl_node_kind(out) != SL_JSON_NULL)
            return true;
    }
    return false;
}

/* The flag of the whole, then that of the part that owns the head; then the class decides. */
static sl_code
read_tie(const sl_node *config, const sl_node *text, sl_hf_source *source)
{
    bool outer = false;
    bool inner = false;
    bool has_outer = false;
    bool has_inner = false;

    sl_code code = sl_node_bool(config, "tie_word_embeddings", &outer, &has_outer, source->err);
    if (code == SL_OK)
        code = sl_node_bool(text, "tie_word_embeddings", &inner, &has_inner, source->err);
    if (code != SL_OK || (!has_outer && !has_inner))
        return code;
    const bool tied = has_outer ? outer : inner;
    source->tie = tied ? SL_HF_TIE_ALWAYS : SL_HF_TIE_NEVER;
    if (has_outer && has_inner && outer != inner)
        (void)sl_node_fail_at(config, "tie_word_embeddings", source->warnings, SL_E_RANGE,
                              "conflicting_keys",
                              "tie_word_embeddings is %s for the whole and not for the language "
                              "part: the whole's was taken",
                              outer ? "true" : "false");
    return SL_OK;
}

sl_code
sl_hf_wrapper_open(const sl_hf_wrapper *wrapper, const sl_node *config, sl_node *text,
                   sl_hf_source *source)
{
    assert(wrapper != NULL && config != NULL && text != NULL && source != NULL);

    const bool nested = find_member(config, wrapper->text_key, text);
    if (!nested && wrapper->no_text == SL_HF_TEXT_REQUIRED)
        return sl_node_fail_at(config, wrapper->text_key, source->err, SL_E_RANGE, "required_field",
                               "describes the language part and is missing");
    if (!nested)
        *text = *config;
    sl_code code = sl_node_object(text, source->err);
    source->absent = !nested && wrapper->no_text == SL_HF_TEXT_DEFAULTS;
    if (source->absent)
        (void)sl_node_fail_at(config, wrapper->text_key, source->warnings, SL_E_RANGE,
                              "class_defaults",
                              "%s is missing, and the %s class reads no sizes of the language part "
                              "elsewhere: all are the class's defaults",
                              wrapper->text_key, wrapper->model_type);
    source->config = text;
    source->wrapped = true;
    source->model_type = wrapper->text_type;
    if (code == SL_OK && nested)
        code = sl_node_text(text, "model_type", &source->model_type, NULL, source->err);
    /* A part may be named as its wrapper is. */
    if (sl_text_equal(source->model_type, wrapper->model_type))
        source->model_type = wrapper->text_type;
    return code == SL_OK ? read_tie(config, text, source) : code;
}

static sl_code
read_class(const sl_hf_wrapper *wrapper, const sl_node *config, sl_model *model,
           sl_errors *warnings, sl_errors *err)
{
    const size_t first = strcspn(wrapper->classes, " ");
    const char *text = NULL;
    sl_node list;
    sl_node element;
    uint64_t ignored = 0;

    (void)sl_text_format(model->architecture, sizeof model->architecture, "%.*s", (int)first,
                         wrapper->classes);
    if (!sl_node_member(config, "architectures", &list) || !sl_node_at(&list, 0, &element))
        return SL_OK;
    const sl_code code = sl_node_as_text(&element, &text, err);
    if (code != SL_OK)
        return code;
    if (sl_hf_word_find(wrapper->classes, text, false, &ignored)) {
        (void)sl_text_copy(model->architecture, sizeof model->architecture, text);
        return SL_OK;
    }
    (void)sl_node_fail(&element, warnings, SL_E_UNSUPPORTED, "unfamiliar_class",
                       "class %.48s is not the library's own: described as %s", text,
                       model->architecture);
    return SL_OK;
}

sl_code
sl_hf_wrapper_close(const sl_hf_wrapper *wrapper, const sl_node *config, sl_model *model,
                    sl_errors *warnings, sl_errors *err)
{
    assert(wrapper != NULL && config != NULL && model != NULL && warnings != NULL && err != NULL);

    sl_model_counts counts;
    sl_code code = read_class(wrapper, config, model, warnings, err);
    sl_hf_rename(model, "model.", wrapper->prefix);
    sl_hf_rename(model, "lm_head.", wrapper->head);
    if (code == SL_OK)
        code = sl_hf_recipe_add_towers(config, wrapper->symbols, wrapper->symbol_count,
                                       wrapper->towers, wrapper->tower_count, model, warnings, err);
    if (code != SL_OK)
        return code;
    if (sl_model_count(model, &counts) == SL_OK)
        (void)sl_node_fail_at(config, "model_type", warnings, SL_E_RANGE, "towers",
                              "towers of %llu parameters stand beside the language part: they are "
                              "counted, but planned neither in memory nor in time",
                              (unsigned long long)counts.towers);
    return SL_OK;
}
