#include "engine/placement/unit.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "engine/schedule/schedule.h"

/* Whether a tensor lies in a module: "mlp" and "mlp.experts" hold
 * "mlp.experts.0.up_proj.weight". */
static bool
lies_in(const sl_tensor *tensor, const char *module)
{
    const size_t length = strlen(module);

    return strncmp(tensor->name, module, length) == 0 && tensor->name[length] == '.';
}

static uint32_t
module_of(const sl_unit *unit, const sl_tensor *tensor)
{
    uint32_t i = 0;

    while (i < unit->module_count && !lies_in(tensor, unit->modules[i]))
        i++;
    return i;
}

/* Elements of a tensor that all ranks send together. */
static double
sent_of(const sl_slice *slice, const sl_tensor *tensor, const sl_degree *over)
{
    const double ranks = sl_slice_is_routed(tensor) ? over->routed : over->dense;

    return ranks > 0.0 ? ranks * sl_slice_shard_elements(slice, tensor, ranks)
                       : sl_slice_elements(slice, tensor);
}

static sl_unit_split
split_by_module(const sl_unit *unit, const sl_slice *slice, const sl_layer_kind *kind,
                const sl_degree *over)
{
    double made[SL_UNIT_MODULES_MAX + 1] = {0.0};
    double sent[SL_UNIT_MODULES_MAX + 1] = {0.0};
    sl_unit_split split = {0};

    for (uint32_t i = 0; i < kind->tensor_count; i++) {
        const uint32_t module = module_of(unit, &kind->tensors[i]);
        made[module] += sl_slice_elements(slice, &kind->tensors[i]);
        sent[module] += sent_of(slice, &kind->tensors[i], over);
    }
    for (uint32_t i = 0; i < unit->module_count; i++) {
        split.largest = fmax(split.largest, made[i]);
        split.largest_sent = fmax(split.largest_sent, sent[i]);
    }
    split.root = made[unit->module_count];
    split.root_sent = sent[unit->module_count];
    return split;
}

sl_unit_split
sl_unit_of(const sl_unit *unit, const sl_slice *slice, const sl_layer_kind *kind,
           const sl_unit_block *block)
{
    if (unit->kind == SL_UNIT_BY_MODULE)
        return split_by_module(unit, slice, kind, &block->over);
    if (unit->kind == SL_UNIT_ROOT ||
        (unit->kind == SL_UNIT_BY_SIZE && block->elements < (double)unit->least))
        return (sl_unit_split){.root = block->elements, .root_sent = block->sent};
    return (sl_unit_split){.largest = block->elements, .largest_sent = block->sent};
}

sl_unit_split
sl_unit_even(const sl_unit *unit, const sl_slice *slice, const sl_layer_kind *kind, double elements)
{
    const sl_unit_block block = {.elements = elements, .sent = elements};

    return sl_unit_of(unit, slice, kind, &block);
}

bool
sl_unit_wraps(const sl_unit *unit, const sl_slice *slice, const sl_layer_kind *kind,
              double elements)
{
    return unit->kind == SL_UNIT_BLOCK || sl_unit_even(unit, slice, kind, elements).largest > 0.0;
}

bool
sl_unit_is_whole(const sl_model *model, const sl_unit *unit, const sl_slice *slice,
                 const sl_kind_price *prices)
{
    for (uint32_t k = 0; k < model->kind_count; k++)
        if (sl_schedule_is_block(model, k) &&
            sl_unit_wraps(unit, slice, &model->kinds[k], prices[k].elements))
            return false;
    return true;
}

static bool
has_module(const sl_model *model, const char *module)
{
    for (uint32_t k = 0; k < model->kind_count; k++)
        for (uint32_t i = 0; sl_schedule_is_block(model, k) && i < model->kinds[k].tensor_count;
             i++)
            if (lies_in(&model->kinds[k].tensors[i], module))
                return true;
    return false;
}

sl_code
sl_check_unit(const sl_question *question, sl_errors *err)
{
    assert(question != NULL && err != NULL);

    const char *pointer = "/parallelism/fsdp_unit";
    const sl_unit *unit = &question->plan.unit;
    sl_code code = SL_OK;

    if (unit->kind == SL_UNIT_BLOCK)
        return SL_OK;
    if (!sl_framework_is_fsdp(question->workload.framework)) {
        code = sl_fail(err, SL_E_RANGE, "unit_not_of_framework", pointer,
                       "is what fsdp wraps: other frameworks have no units");
        sl_hint(err, "leave it out, or framework fsdp2 with zero_stage 3");
        return code;
    }
    for (uint32_t i = 0; i < unit->module_count; i++)
        if (!has_module(question->model, unit->modules[i])) {
            code = sl_fail(err, SL_E_RANGE, "unknown_module", pointer,
                           "no block of the model has a module \"%s\"", unit->modules[i]);
            sl_hint(err, "block, or modules as the tensors of /shardings name them");
        }
    return code;
}
