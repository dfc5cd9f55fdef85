#include "engine/adapter.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

bool
sl_adapter_on(const sl_adapter *adapter)
{
    return adapter->rank > 0;
}

/* Length of the module's own name, the last part before ".weight", and where it begins. */
static size_t
module_of(const char *name, const char **begin)
{
    const char *end = NULL;

    *begin = name;
    for (const char *at = name; *at != '\0'; at++)
        if (*at == '.') {
            if (end != NULL)
                *begin = end + 1;
            end = at;
        }
    return end != NULL ? (size_t)(end - *begin) : strlen(name);
}

bool
sl_adapter_targets(const sl_adapter *adapter, const sl_tensor *tensor)
{
    const char *module = NULL;
    const size_t length = module_of(tensor->name, &module);
    sl_matrices ignored;

    if (!tensor->linear || !sl_tensor_matrices(tensor, &ignored) ||
        tensor->component == SL_COMPONENT_LM_HEAD || tensor->component == SL_COMPONENT_ROUTER)
        return false;
    for (uint32_t i = 0; i < adapter->target_count; i++)
        if (strlen(adapter->targets[i]) == length &&
            memcmp(adapter->targets[i], module, length) == 0)
            return true;
    return adapter->target_count == 0;
}

double
sl_adapter_elements(const sl_slice *slice, const sl_tensor *tensor)
{
    const double cut = sl_slice_is_routed(tensor) ? slice->expert_tensor : slice->tensor;
    const double shared = sl_slice_is_routed(tensor) ? slice->expert : 1.0;
    sl_matrices of = {0};

    if (!sl_tensor_matrices(tensor, &of))
        return 0.0;

    const double inputs = (double)of.inputs / (tensor->cut == SL_CUT_ROW ? cut : 1.0);
    const double outputs = (double)of.outputs / (tensor->cut == SL_CUT_COLUMN ? cut : 1.0);

    return slice->adapter->rank * (inputs + outputs) * (double)of.count / shared;
}

bool
sl_adapter_feeds(const sl_slice *slice, const sl_operator *op, const sl_tensor *tensor)
{
    sl_matrices of = {0};

    return tensor->product == op->product && tensor->component == op->component &&
           tensor->cut == op->cut && sl_adapter_targets(slice->adapter, tensor) &&
           sl_tensor_matrices(tensor, &of) && of.inputs == op->inputs && of.outputs <= op->outputs;
}

double
sl_adapter_base_bytes(sl_adapter_base base)
{
    switch (base) {
    case SL_ADAPTER_BASE_BF16:
        return 2.0;
    case SL_ADAPTER_BASE_INT8:
        return 1.0;
    case SL_ADAPTER_BASE_NF4:
        return 0.5 + 4.0 / 64.0;
    case SL_ADAPTER_BASE_NF4_DOUBLE:
        return 0.5 + 1.0 / 64.0 + 4.0 / (64.0 * 256.0);
    case SL_ADAPTER_BASE_COUNT:
        break;
    }
    assert(false);
    return 2.0;
}
