#include "codec/question/layers_json.h"

#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "json/members.h"

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

/* A figure that every layer must have. */
static sl_code
read_figure(const sl_node *layer, const char *name, uint64_t *out, sl_errors *err)
{
    sl_node member;
    const sl_code code = sl_node_required(layer, name, &member, err);
    return code != SL_OK ? code : sl_node_as_uint(&member, 0, SL_PLAIN_FIGURE_MAX, out, err);
}

static sl_code
read_name(const sl_node *layer, const char **out, sl_errors *err)
{
    sl_node member;
    sl_code code = sl_node_required(layer, "name", &member, err);
    if (code == SL_OK)
        code = sl_node_as_text(&member, out, err);
    if (code != SL_OK)
        return code;
    const size_t length = strlen(*out);
    if (length >= 1 && length <= SL_KIND_NAME_MAX)
        return SL_OK;
    return sl_node_fail(&member, err, SL_E_RANGE, "out_of_range",
                        "must be 1 to %d bytes long, got %zu", SL_KIND_NAME_MAX, length);
}

static sl_code
read_layer(const sl_node *node, sl_plain_layer *out, sl_errors *warnings, sl_errors *err)
{
    static const sl_member members[] = {{"name", NULL},          {"count", NULL},
                                        {"parameters", NULL},    {"activation_bytes", NULL},
                                        {"forward_flops", NULL}, {"output_bytes", NULL}};
    uint64_t count = 1;
    sl_code first = sl_node_object(node, err);
    if (first != SL_OK)
        return first;

    *out = (sl_plain_layer){.name = ""};
    sl_keep(&first, sl_members_check(node, members, COUNT(members), warnings, err));
    sl_keep(&first, read_name(node, &out->name, err));
    sl_keep(&first, sl_node_uint(node, "count", 1, SL_MODEL_LAYERS_MAX, &count, NULL, err));
    sl_keep(&first, read_figure(node, "parameters", &out->parameters, err));
    sl_keep(&first, read_figure(node, "activation_bytes", &out->activation_bytes, err));
    sl_keep(&first, read_figure(node, "forward_flops", &out->forward_flops, err));
    sl_keep(&first, sl_node_uint(node, "output_bytes", 1, SL_PLAIN_FIGURE_MAX, &out->output_bytes,
                                 NULL, err));
    out->count = (uint32_t)count;
    return first;
}

/* What only the whole list shows. */
static sl_code
check_sums(const sl_node *node, const sl_plain_layer *layers, size_t count, sl_errors *err)
{
    uint64_t all = 0;
    uint64_t parameters = 0;
    for (size_t i = 0; i < count; i++) {
        all += layers[i].count;
        parameters += layers[i].parameters;
    }
    if (all > SL_MODEL_LAYERS_MAX)
        return sl_node_fail(node, err, SL_E_RANGE, "out_of_range",
                            "must be at most %d layers with their counts, got %llu",
                            SL_MODEL_LAYERS_MAX, (unsigned long long)all);
    if (parameters == 0)
        return sl_node_fail(node, err, SL_E_RANGE, "out_of_range",
                            "must have parameters in some layer: there is nothing to train");
    return SL_OK;
}

static sl_code
check_count(const sl_node *node, sl_errors *err)
{
    if (sl_node_kind(node) != SL_JSON_ARRAY)
        return sl_node_fail(node, err, SL_E_RANGE, "wrong_type", "must be an array of layers");
    const size_t count = sl_node_count(node);
    if (count >= 1 && count <= SL_KINDS_MAX)
        return SL_OK;
    const sl_code code = sl_node_fail(node, err, SL_E_RANGE, "out_of_range",
                                      "must have 1 to %d entries, got %zu", SL_KINDS_MAX, count);
    if (count > 0)
        sl_hint(err, "equal layers in a row are one entry with their \"count\"");
    return code;
}

sl_code
sl_layers_read(const sl_node *layers, const char *name, sl_model *out, sl_errors *warnings,
               sl_errors *err)
{
    assert(layers != NULL && name != NULL && out != NULL && err != NULL);

    sl_plain_layer list[SL_KINDS_MAX];
    sl_code first = check_count(layers, err);
    if (first != SL_OK)
        return first;
    const size_t count = sl_node_count(layers);
    for (size_t i = 0; i < count; i++) {
        sl_node node;
        if (sl_node_at(layers, i, &node))
            sl_keep(&first, read_layer(&node, &list[i], warnings, err));
    }
    if (first == SL_OK)
        first = check_sums(layers, list, count, err);
    if (first != SL_OK)
        return first;

    sl_model_describe_plain(list, (uint32_t)count, out);
    (void)sl_text_copy(out->name, sizeof out->name, name);
    (void)sl_text_copy(out->architecture, sizeof out->architecture, "layers");
    (void)sl_text_copy(out->model_type, sizeof out->model_type, "layers");
    (void)sl_text_copy(out->checkpoint_dtype, sizeof out->checkpoint_dtype, "fp32");
    out->checkpoint_element_bytes = 4;
    return SL_OK;
}
