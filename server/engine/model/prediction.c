/* Multi-token prediction: a block more, beside the head, that predicts the token after the next. */
#include <assert.h>
#include <string.h>

#include "engine/model/describe.h"

static const char *const pointer = "/workload/mtp";

/* "model.layers.{}." of block 61 is "model.layers.61.". */
static bool
number_prefix(const char *prefix, uint32_t number, char *out, size_t size)
{
    size_t before = 0;
    char digits[11];
    char *first = digits + sizeof digits - 1;

    *first = '\0';
    do {
        *--first = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    while (prefix[before] != '\0' && prefix[before] != '{')
        before++;
    if (prefix[before] == '\0' || strlen(prefix) - 2 + strlen(first) >= size)
        return false;

    memcpy(out, prefix, before);
    sl_join_names(out + before, size - before, first, prefix + before + 2);
    return true;
}

static bool
copy_tensors(sl_layer_kind *to, const sl_layer_kind *block, const char *prefix)
{
    for (uint32_t i = 0; i < block->tensor_count; i++) {
        sl_tensor *tensor = &to->tensors[to->tensor_count++];
        *tensor = block->tensors[i];
        if (strlen(prefix) + strlen(block->tensors[i].name) >= sizeof tensor->name)
            return false;
        sl_join_names(tensor->name, sizeof tensor->name, prefix, block->tensors[i].name);
    }
    return true;
}

/* Norms of both inputs, the projection of the pair, and the norm before the head. A stage that is
 * not the first needs the embedding for it, and has it where the head is that table. */
static void
add_own_tensors(sl_layer_kind *head, const sl_model *model, const char *prefix)
{
    static const char *const norms[] = {"enorm", "hnorm", "shared_head.norm"};
    const sl_layer_kind *embedding = &model->kinds[model->layers[0]];
    char module[64];

    for (size_t i = 0; i < sizeof norms / sizeof norms[0]; i++) {
        sl_join_names(module, sizeof module, prefix, norms[i]);
        (void)sl_add_vector(head, module, ".weight", SL_COMPONENT_NORMS, SL_CUT_REPLICATED,
                            model->hidden);
    }
    sl_join_names(module, sizeof module, prefix, "eh_proj");
    sl_add_matrix(head, module, ".weight", SL_COMPONENT_OTHER, SL_CUT_COLUMN, model->hidden,
                  2 * model->hidden)
        ->linear = true;
    if (model->tied)
        return;
    sl_join_names(module, sizeof module, prefix, "embed_tokens");
    sl_add_matrix(head, module, ".weight", SL_COMPONENT_EMBEDDING, SL_CUT_VOCABULARY,
                  embedding->tensors[0].shape[0], embedding->tensors[0].shape[1])
        ->tied = true;
}

static void
add_operators(sl_layer_kind *head, const sl_model *model, const sl_layer_kind *block)
{
    const uint64_t hidden = model->hidden;
    const uint32_t own = head->operator_count;

    (void)sl_add_operator(head, "mtp_embedding", SL_OPERATOR_LOOKUP, SL_CUT_VOCABULARY, hidden,
                          hidden);
    (void)sl_add_operator(head, "mtp_embedding_norm", SL_OPERATOR_NORM, SL_CUT_REPLICATED, hidden,
                          hidden);
    (void)sl_add_operator(head, "mtp_hidden_norm", SL_OPERATOR_NORM, SL_CUT_REPLICATED, hidden,
                          hidden);
    (void)sl_add_operator(head, "mtp_projection", SL_OPERATOR_MATMUL, SL_CUT_COLUMN, 2 * hidden,
                          hidden);
    sl_mark_operators(head, own, SL_COMPONENT_OTHER);
    for (uint32_t i = 0; i < block->operator_count; i++)
        head->operators[head->operator_count++] = block->operators[i];
    (void)sl_add_operator(head, "mtp_final_norm", SL_OPERATOR_NORM, SL_CUT_REPLICATED, hidden,
                          hidden);
    (void)sl_add_operator(head, "mtp_logits", SL_OPERATOR_MATMUL, SL_CUT_VOCABULARY, hidden,
                          model->vocabulary);
    (void)sl_add_operator(head, "mtp_loss", SL_OPERATOR_LOSS, SL_CUT_VOCABULARY, model->vocabulary,
                          1);
}

sl_code
sl_model_add_prediction(sl_model *model, sl_errors *err)
{
    char prefix[64];

    assert(model != NULL);
    if (sl_model_is_plain(model) || model->unpriced != NULL || !model->has_head ||
        model->layer_count != model->block_count + 2)
        return sl_fail(err, SL_E_RANGE, "no_head", pointer,
                       "predicts tokens: the model needs blocks between an embedding and a head");

    sl_layer_kind *head = &model->kinds[model->layers[model->layer_count - 1]];
    const sl_layer_kind *block = &model->kinds[model->layers[model->layer_count - 2]];

    /* What comes last can grow; where there are towers beside the list they do. */
    if (head != &model->kinds[model->kind_count - 1] ||
        head->tensor_count + block->tensor_count + 5 > SL_KIND_TENSORS_MAX ||
        head->operator_count + block->operator_count + 7 > SL_KIND_OPERATORS_MAX ||
        !number_prefix(block->prefix, model->block_count, prefix, sizeof prefix) ||
        !copy_tensors(head, block, prefix))
        return sl_fail(err, SL_E_UNSUPPORTED, "not_modelled", pointer,
                       "a layer for multi-token prediction is not modelled for blocks like these");
    add_own_tensors(head, model, prefix);
    add_operators(head, model, block);
    return SL_OK;
}
