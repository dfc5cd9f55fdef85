#include "engine/model/recipe.h"

#include <assert.h>
#include <string.h>

#include "engine/model/describe.h"

/* Elements of one tensor of a recipe at most: with the rows and kinds there are, every count stays
 * inside uint64_t. */
static const uint64_t elements_max = UINT64_C(1) << 44;

static bool
holds(const char *when, const sl_scope *scope, bool *failed)
{
    uint64_t value = 1;

    if (when[0] != '\0' && sl_expression_value(when, scope, &value) != SL_OK)
        *failed = true;
    return value != 0;
}

static sl_tensor *
add_tensor(sl_layer_kind *kind, const sl_part *part, const char *suffix, const uint64_t *shape,
           uint32_t axes)
{
    assert(kind->tensor_count < SL_KIND_TENSORS_MAX);

    sl_tensor *tensor = &kind->tensors[kind->tensor_count++];
    memset(tensor, 0, sizeof *tensor);
    sl_join_names(tensor->name, sizeof tensor->name, part->name, suffix);
    tensor->component = part->component;
    tensor->axes = axes;
    tensor->cut = part->cut;
    tensor->cut_axis = part->cut_axis;
    memcpy(tensor->shape, shape, axes * sizeof shape[0]);
    return tensor;
}

/* The bias of a column cut goes with its features; that of a row cut is added after the sum. */
static void
add_bias(sl_layer_kind *kind, const sl_part *part, const uint64_t *shape)
{
    sl_tensor *bias = add_tensor(kind, part, ".bias", shape, 1);

    if (bias->cut == SL_CUT_ROW)
        bias->cut = SL_CUT_REPLICATED;
    bias->cut_axis = 0;
}

/* A row says so by its form; experts that are stored as one are a bare tensor. */
static bool
is_linear(const sl_part *part, uint32_t axes)
{
    switch (part->form) {
    case SL_PART_MATRIX:
    case SL_PART_LINEAR:
    case SL_PART_EXPERTS:
    case SL_PART_HEAD:
        return true;
    case SL_PART_TENSOR:
        return axes == 3 && part->component == SL_COMPONENT_ROUTED_EXPERTS;
    case SL_PART_SCALE:
    case SL_PART_NORM:
    case SL_PART_CONV:
    case SL_PART_BUFFER:
        break;
    }
    return false;
}

static void
add_part(sl_layer_kind *kind, const sl_part *part, const sl_scope *scope, const uint64_t *shape,
         uint32_t axes)
{
    const bool bare = part->form == SL_PART_TENSOR || part->form == SL_PART_BUFFER;
    sl_tensor *tensor = add_tensor(kind, part, bare ? "" : ".weight", shape, axes);

    tensor->linear = is_linear(part, axes);
    if (part->form == SL_PART_EXPERTS) {
        const uint64_t *experts = sl_scope_find(scope, "experts");
        assert(experts != NULL && *experts <= UINT32_MAX);
        tensor->experts = (uint32_t)*experts;
    }
    if (part->form == SL_PART_HEAD) {
        const uint64_t *tied = sl_scope_find(scope, "tied");
        assert(tied != NULL);
        tensor->tied = *tied != 0;
    }
    tensor->buffer = part->form == SL_PART_BUFFER;
    if (part->form == SL_PART_LINEAR || part->form == SL_PART_NORM || part->form == SL_PART_CONV)
        add_bias(kind, part, shape);
}

/* The product of the axes, times the experts that hold one each, within bounds; no axis empty. */
static bool
is_modelled(const sl_part *part, const sl_scope *scope, const uint64_t *shape, uint32_t axes)
{
    uint64_t elements = 1;

    for (uint32_t axis = 0; axis < axes; axis++) {
        if (shape[axis] == 0 || shape[axis] > elements_max / elements)
            return false;
        elements *= shape[axis];
    }
    if (part->form != SL_PART_EXPERTS)
        return true;
    const uint64_t *experts = sl_scope_find(scope, "experts");
    return experts != NULL && *experts != 0 && *experts <= elements_max / elements;
}

static sl_code
fail_part(const sl_part *part, sl_errors *err)
{
    return sl_fail(err, SL_E_RANGE, "out_of_range", "",
                   "the shape of %.60s, (%.80s), is empty or too large with the values of this "
                   "config",
                   part->name, part->shape);
}

static sl_code
add_parts(sl_layer_kind *kind, const sl_stack *stack, const sl_scope *scope, sl_errors *err)
{
    for (uint32_t i = 0; i < stack->part_count; i++) {
        const sl_part *part = &stack->parts[i];
        uint64_t shape[SL_TENSOR_AXES_MAX];
        uint32_t axes = 0;
        bool failed = false;

        if (!holds(part->when, scope, &failed) && !failed)
            continue;
        if (failed ||
            sl_expression_list(part->shape, scope, shape, SL_TENSOR_AXES_MAX, &axes) != SL_OK)
            return fail_part(part, err);
        assert(axes >= 1);
        if (!is_modelled(part, scope, shape, axes))
            return fail_part(part, err);
        add_part(kind, part, scope, shape, axes);
    }
    return SL_OK;
}

/* An expression of a cache; an absent one is 0. */
static bool
cache_value(const char *text, const sl_scope *scope, uint64_t *out)
{
    *out = 0;
    if (text == NULL || text[0] == '\0')
        return true;
    return sl_expression_value(text, scope, out) == SL_OK && *out <= elements_max;
}

static sl_code
fill_cache(sl_layer_kind *kind, const sl_stack *stack, const sl_scope *scope, sl_errors *err)
{
    for (uint32_t i = 0; i < SL_STACK_CACHES_MAX && stack->caches[i].when != NULL; i++) {
        const sl_cache_part *part = &stack->caches[i];
        sl_cache cache = {0};
        bool failed = false;

        if (!holds(part->when, scope, &failed) && !failed)
            continue;
        if (failed || !cache_value(part->per_token, scope, &cache.per_token) ||
            !cache_value(part->naive, scope, &cache.naive_per_token) ||
            !cache_value(part->window, scope, &cache.window) ||
            !cache_value(part->state_bytes, scope, &cache.state_bytes) ||
            !cache_value(part->per_source, scope, &cache.per_source_token))
            return sl_fail(err, SL_E_RANGE, "out_of_range", "",
                           "what %s keeps of a sequence is too large with the values of this "
                           "config",
                           kind->prefix);
        if (cache.naive_per_token == 0)
            cache.naive_per_token = cache.per_token;
        kind->cache = cache;
        break;
    }
    return SL_OK;
}

sl_code
sl_recipe_add_kind(sl_model *model, const sl_stack *stack, const sl_scope *scope, uint32_t *kind,
                   sl_errors *err)
{
    assert(model != NULL && stack != NULL && scope != NULL && kind != NULL && err != NULL);

    const char *title = NULL;
    bool failed = false;
    if (model->kind_count >= SL_DECODER_KINDS_MAX)
        return sl_fail(err, SL_E_RANGE, "out_of_range", "", "blocks come in more than %d kinds",
                       SL_DECODER_KINDS_MAX);
    for (uint32_t i = 0; title == NULL && i < SL_STACK_TITLES_MAX; i++) {
        assert(stack->titles[i].text != NULL);
        if (holds(stack->titles[i].when, scope, &failed))
            title = stack->titles[i].text;
    }
    assert(title != NULL && !failed);

    *kind = model->kind_count;
    sl_layer_kind *added = sl_add_kind(model, title, stack->prefix, "");
    sl_code code = add_parts(added, stack, scope, err);
    if (code == SL_OK)
        code = sl_recipe_add_operators(model, added, stack, scope, err);
    if (code != SL_OK)
        return code;
    if (stack->shared != NULL && holds(stack->shared, scope, &failed)) {
        for (uint32_t i = 0; i < added->tensor_count; i++)
            added->tensors[i].tied = true;
    }
    assert(!failed);
    return fill_cache(added, stack, scope, err);
}
