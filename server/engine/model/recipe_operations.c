/* What a stack does with its parts. */
#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "engine/model/describe.h"
#include "engine/model/recipe.h"

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

/* Of norms LayerNorm alone: SL_PART_NORM, not SL_PART_SCALE. */
static bool
has_bias(const sl_layer_kind *kind, const char *module)
{
    static const char suffix[] = ".bias";
    const size_t length = strlen(module);

    for (uint32_t i = 0; i < kind->tensor_count; i++)
        if (strncmp(kind->tensors[i].name, module, length) == 0 &&
            strcmp(kind->tensors[i].name + length, suffix) == 0)
            return true;
    return false;
}

/* What a part reads and gives, in features; a vector does both. */
static uint64_t
inputs_of(const sl_tensor *tensor)
{
    return tensor->shape[tensor->axes - 1];
}

static uint64_t
outputs_of(const sl_tensor *tensor)
{
    return tensor->shape[tensor->axes >= 2 ? tensor->axes - 2 : 0];
}

/* Experts that hold one such matrix each; 0 of a matrix of all tokens. */
static uint32_t
experts_of(const sl_tensor *tensor)
{
    if (tensor->component != SL_COMPONENT_ROUTED_EXPERTS)
        return 0;
    return tensor->experts > 0 ? tensor->experts : (uint32_t)tensor->shape[0];
}

static uint32_t
visits_of(const sl_scope *scope)
{
    const uint64_t *visits = sl_scope_find(scope, "top_k");

    assert(visits != NULL);
    return *visits <= UINT32_MAX ? (uint32_t)*visits : UINT32_MAX;
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
    op->delta = (row->traits & SL_OPERATION_DELTA) != 0;
    return op;
}

static void
add_product(sl_layer_kind *kind, const sl_operation *row, const sl_scope *scope, const found *parts)
{
    const sl_tensor *first = parts->tensors[0];
    uint64_t each[FOUND_MAX], outputs = 0;

    assert(first != NULL);
    for (uint32_t i = 0; i < parts->count; i++) {
        sl_tensor *part = parts->tensors[i];
        assert(part->axes >= 2 && part->cut == first->cut);
        assert(inputs_of(part) == inputs_of(first));
        part->product = (uint8_t)(kind->operator_count + 1);
        each[i] = outputs_of(part);
        outputs += each[i];
    }
    sl_operator *op = add(kind, row, first->cut, inputs_of(first), outputs);
    if (parts->count > 1 && parts->count <= sizeof op->parts / sizeof op->parts[0])
        sl_set_products(op, each, parts->count);
    op->component = first->component;
    op->product = (uint8_t)kind->operator_count;
    op->experts = experts_of(first);
    op->visits = op->experts > 0 ? visits_of(scope) : 0;
}

static void
add_route(sl_layer_kind *kind, const sl_operation *row, const sl_scope *scope,
          const sl_tensor *matrix)
{
    const uint32_t experts = experts_of(matrix);
    sl_operator *op = add(kind, row, SL_CUT_REPLICATED, inputs_of(matrix), experts);

    op->experts = experts;
    op->visits = visits_of(scope);
}

/* An activation and a sum stand behind the operator that gave what they read, and are cut as it
 * is. */
static void
add_behind(sl_layer_kind *kind, const sl_operation *row, const found *parts)
{
    assert(kind->operator_count > 0);

    const sl_tensor *reader = parts->tensors[0];
    const sl_operator before = kind->operators[kind->operator_count - 1];
    const bool cut = before.cut == SL_CUT_COLUMN;

    sl_operator *op = add(kind, row, cut ? SL_CUT_COLUMN : SL_CUT_REPLICATED, before.outputs,
                          reader != NULL ? inputs_of(reader) : before.outputs);
    op->component = before.component;
    if (row->kind == SL_OPERATOR_ACTIVATION) {
        op->experts = before.experts;
        op->visits = before.visits;
    }
}

enum { SIZES_MAX = 6, KEYS_AT = 1 };

/* The sizes of an attention or of a scan: at least `least`, which may not be 0; more may, and
 * key-value heads where only queries are turned or normed. */
static sl_code
read_sizes(const sl_layer_kind *kind, const sl_operation *row, const sl_scope *scope,
           uint64_t sizes[SIZES_MAX], uint32_t least, sl_errors *err)
{
    const bool rotates = row->kind == SL_OPERATOR_ROTARY || row->kind == SL_OPERATOR_NORM;
    uint32_t count = 0;
    sl_code code = sl_expression_list(row->of, scope, sizes, SIZES_MAX, &count);

    assert(code != SL_OK || count >= least);
    for (uint32_t i = 0; code == SL_OK && i < count; i++)
        if ((sizes[i] == 0 && i < least && (i != KEYS_AT || !rotates)) ||
            sizes[i] > (i < least ? (uint64_t)SL_MODEL_WIDTH_MAX : UINT32_MAX))
            code = SL_E_RANGE;
    if (code == SL_OK)
        return SL_OK;
    return sl_fail(err, SL_E_RANGE, "out_of_range", "",
                   "the %s of %s has sizes of 0 or too large ones with the values of this config",
                   row->name, kind->prefix);
}

static sl_code
add_scan(sl_layer_kind *kind, const sl_operation *row, const sl_scope *scope, sl_errors *err)
{
    uint64_t sizes[SIZES_MAX] = {0};
    const sl_code code = read_sizes(kind, row, scope, sizes, 5, err);

    if (code != SL_OK)
        return code;
    sl_operator *op = add(kind, row, SL_CUT_COLUMN, sizes[0], sizes[1] * sizes[2]);
    op->component = SL_COMPONENT_STATE_SPACE;
    op->heads = (uint32_t)sizes[1];
    op->head_dim = (uint32_t)sizes[2];
    op->kv_heads = (uint32_t)sizes[3];
    op->state = (uint32_t)sizes[4];
    op->chunk = (uint32_t)sizes[5];
    return SL_OK;
}

/* Whether the last product is of one tensor. */
static bool
is_behind_joined(const sl_layer_kind *kind)
{
    for (uint32_t i = kind->operator_count; i-- > 0;)
        if (kind->operators[i].kind == SL_OPERATOR_MATMUL)
            return kind->operators[i].parts[0] == 0;
    return false;
}

static sl_code
add_attention(sl_model *model, sl_layer_kind *kind, const sl_operation *row, const sl_scope *scope,
              sl_errors *err)
{
    uint64_t heads[SIZES_MAX] = {0};
    const sl_code code = read_sizes(kind, row, scope, heads, 3, err);

    if (code != SL_OK)
        return code;
    const bool attends = row->kind == SL_OPERATOR_ATTENTION; /* else values stay as they are */
    const uint64_t queries = heads[0] * heads[2];
    const uint64_t keys = heads[1] * heads[2];
    const bool joined = row->kind == SL_OPERATOR_ROTARY && is_behind_joined(kind);
    sl_operator *op = add(kind, row, SL_CUT_COLUMN, queries + (attends ? 2 * keys : keys),
                          queries + (attends ? 0 : keys));
    op->joined = joined;
    op->component = SL_COMPONENT_ATTENTION;
    op->heads = (uint32_t)heads[0];
    op->kv_heads = (uint32_t)heads[1];
    op->head_dim = (uint32_t)heads[2];
    op->window = (uint32_t)heads[3];
    model->unmasked = model->unmasked || op->unmasked;
    model->biased = model->biased || op->biased;
    model->across = model->across || (row->traits & SL_OPERATION_ACROSS) != 0;
    return SL_OK;
}

/* Parts are parted by blanks alone. */
static bool
lists_sizes(const char *of)
{
    return strchr(of, ',') != NULL;
}

static sl_code
add_row(sl_model *model, sl_layer_kind *kind, const sl_operation *row, const sl_scope *scope,
        sl_errors *err)
{
    if (row->kind == SL_OPERATOR_ATTENTION || row->kind == SL_OPERATOR_ROTARY ||
        (row->kind == SL_OPERATOR_NORM && lists_sizes(row->of)))
        return add_attention(model, kind, row, scope, err);
    if (row->kind == SL_OPERATOR_SCAN)
        return add_scan(kind, row, scope, err);

    const found parts = find_parts(kind, row->of);
    const sl_tensor *first = parts.tensors[0];
    if (first == NULL && row->of[0] != '\0')
        return SL_OK;
    switch (row->kind) {
    case SL_OPERATOR_MATMUL:
        add_product(kind, row, scope, &parts);
        break;
    case SL_OPERATOR_ROUTE:
        assert(first != NULL);
        add_route(kind, row, scope, first);
        break;
    case SL_OPERATOR_LOOKUP:
    case SL_OPERATOR_NORM:
        assert(first != NULL);
        add(kind, row, first->cut, inputs_of(first), inputs_of(first))->centred =
            has_bias(kind, row->of);
        break;
    case SL_OPERATOR_LOSS:
        assert(first != NULL);
        (void)add(kind, row, first->cut, outputs_of(first), 1);
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
