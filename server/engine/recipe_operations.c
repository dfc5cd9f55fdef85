/* What a stack does with its parts. */
#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "engine/describe.h"
#include "engine/recipe.h"

enum { FOUND_MAX = 4 };

/* The tensors that an operation names and the block has. */
typedef struct found {
    uint32_t count;
    sl_tensor *tensors[FOUND_MAX];
} found;

/* A part is named by its module, or whole where it is a bare tensor. */
static bool
is_called(const sl_tensor *tensor, const char *name, size_t length)
{
    static const char suffix[] = ".weight";

    return strlen(tensor->name) >= length && memcmp(tensor->name, name, length) == 0 &&
           (tensor->name[length] == '\0' || strcmp(tensor->name + length, suffix) == 0);
}

static size_t
length_of_word(const char *text)
{
    size_t length = 0;

    while (text[length] != ' ' && text[length] != '\0')
        length++;
    return length;
}

static found
find_parts(const sl_layer_kind *kind, const char *names)
{
    found all = {.count = 0};

    for (const char *name = names; *name != '\0';) {
        const size_t length = length_of_word(name);
        for (uint32_t i = 0; i < kind->tensor_count; i++) {
            if (!is_called(&kind->tensors[i], name, length))
                continue;
            assert(all.count < FOUND_MAX);
            all.tensors[all.count++] = &kind->tensors[i];
        }
        name += length + (name[length] == ' ');
    }
    return all;
}

/* What a part reads and gives, in features; a vector does both. */
static uint64_t
inputs_of(const sl_tensor *tensor)
{
    return tensor->shape[tensor->axes - 1];
}

static sl_operator *
add(sl_layer_kind *kind, const sl_operation *row, sl_cut cut, uint64_t inputs, uint64_t outputs)
{
    sl_operator *op = sl_add_operator(kind, row->name, row->kind, cut, inputs, outputs);

    op->shares_input = (row->traits & SL_OPERATION_SHARES_INPUT) != 0;
    op->unmasked = (row->traits & SL_OPERATION_UNMASKED) != 0;
    op->biased = (row->traits & SL_OPERATION_BIASED) != 0;
    op->drops = (row->traits & SL_OPERATION_DROPS) != 0;
    op->once = (row->traits & SL_OPERATION_ONCE) != 0;
    return op;
}

static void
add_product(sl_layer_kind *kind, const sl_operation *row, const found *parts)
{
    const sl_tensor *first = parts->tensors[0];
    uint64_t outputs = 0;

    assert(first != NULL);
    for (uint32_t i = 0; i < parts->count; i++) {
        sl_tensor *part = parts->tensors[i];
        assert(part->linear && part->axes == 2 && part->cut == first->cut);
        assert(inputs_of(part) == inputs_of(first));
        part->product = (uint8_t)(kind->operator_count + 1);
        outputs += part->shape[0];
    }
    sl_operator *op = add(kind, row, first->cut, inputs_of(first), outputs);
    op->component = first->component;
    op->product = (uint8_t)kind->operator_count;
}

/* An activation and a sum stand behind the operator that gave what they read, and are cut as it is. */
static void
add_behind(sl_layer_kind *kind, const sl_operation *row, const found *parts)
{
    assert(kind->operator_count > 0);

    const sl_tensor *reader = parts->tensors[0];
    const sl_operator before = kind->operators[kind->operator_count - 1];
    const bool cut = before.cut == SL_CUT_COLUMN;

    (void)add(kind, row, cut ? SL_CUT_COLUMN : SL_CUT_REPLICATED, before.outputs,
              reader != NULL ? inputs_of(reader) : before.outputs);
}

static sl_code
add_attention(sl_model *model, sl_layer_kind *kind, const sl_operation *row, const sl_scope *scope,
              sl_errors *err)
{
    uint64_t heads[3] = {0};
    uint32_t count = 0;
    sl_code code = sl_expression_list(row->of, scope, heads, 3, &count);

    for (uint32_t i = 0; code == SL_OK && i < 3; i++)
        if (heads[i] == 0 || heads[i] > SL_MODEL_WIDTH_MAX)
            code = SL_E_RANGE;
    if (code != SL_OK)
        return sl_fail(err, SL_E_RANGE, "out_of_range", "",
                       "the heads of %s are none or too many with the values of this config",
                       kind->prefix);

    assert(count == 3);
    sl_operator *op =
        add(kind, row, SL_CUT_COLUMN, (heads[0] + 2 * heads[1]) * heads[2], heads[0] * heads[2]);
    op->component = SL_COMPONENT_ATTENTION;
    op->heads = (uint32_t)heads[0];
    op->kv_heads = (uint32_t)heads[1];
    op->head_dim = (uint32_t)heads[2];
    model->unmasked = model->unmasked || op->unmasked;
    model->biased = model->biased || op->biased;
    model->across = model->across || (row->traits & SL_OPERATION_ACROSS) != 0;
    return SL_OK;
}

static sl_code
add_row(sl_model *model, sl_layer_kind *kind, const sl_operation *row, const sl_scope *scope,
        sl_errors *err)
{
    if (row->kind == SL_OPERATOR_ATTENTION)
        return add_attention(model, kind, row, scope, err);

    const found parts = find_parts(kind, row->of);
    const sl_tensor *first = parts.tensors[0];
    if (first == NULL && row->of[0] != '\0')
        return SL_OK;
    switch (row->kind) {
    case SL_OPERATOR_MATMUL:
        add_product(kind, row, &parts);
        break;
    case SL_OPERATOR_LOOKUP:
    case SL_OPERATOR_NORM:
        assert(first != NULL);
        (void)add(kind, row, first->cut, inputs_of(first), inputs_of(first));
        break;
    case SL_OPERATOR_LOSS:
        assert(first != NULL);
        (void)add(kind, row, first->cut, first->shape[0], 1);
        break;
    default:
        assert(row->kind == SL_OPERATOR_ACTIVATION || row->kind == SL_OPERATOR_RESIDUAL);
        add_behind(kind, row, &parts);
        break;
    }
    return SL_OK;
}

sl_code
sl_recipe_add_operators(sl_model *model, sl_layer_kind *kind, const sl_stack *stack,
                        const sl_scope *scope, sl_errors *err)
{
    assert(model != NULL && kind != NULL && stack != NULL && scope != NULL && err != NULL);

    for (uint32_t i = 0; i < stack->operation_count; i++) {
        const sl_operation *row = &stack->operations[i];
        uint64_t holds = 1;
        /* The conditions of parts were evaluated already: what fails fails there. */
        if (row->when[0] != '\0' && sl_expression_value(row->when, scope, &holds) != SL_OK)
            return sl_fail(err, SL_E_RANGE, "out_of_range", "",
                           "whether %s has %s leaves 64 bits with the values of this config",
                           kind->prefix, row->name);
        if (holds == 0)
            continue;
        const sl_code code = add_row(model, kind, row, scope, err);
        if (code != SL_OK)
            return code;
    }
    return SL_OK;
}
