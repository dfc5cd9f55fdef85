#include "engine/check/check_adapter.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "engine/placement/adapter.h"

enum { NAMES_MAX = 16 };

typedef struct name {
    const char *begin;
    size_t length;
} name;

/* A module's own name: the end of its path. */
static name
own_name(const sl_tensor *tensor)
{
    static const char suffix[] = ".weight";
    const size_t length = strlen(tensor->name), own = sizeof suffix - 1;
    const bool suffixed = length > own && strcmp(tensor->name + length - own, suffix) == 0;
    const char *const end = tensor->name + (suffixed ? length - own : length);
    const char *begin = tensor->name;

    for (const char *at = begin; at < end; at++)
        if (*at == '.')
            begin = at + 1;
    return (name){begin, (size_t)(end - begin)};
}

/* Modules that could be targets, each once, in the order of the model. */
static size_t
find_names(const sl_model *model, name out[NAMES_MAX])
{
    size_t count = 0;

    for (uint32_t k = 0; k < model->kind_count; k++)
        for (uint32_t i = 0; i < model->kinds[k].tensor_count; i++) {
            const name own = own_name(&model->kinds[k].tensors[i]);
            size_t same = 0;
            if (!model->kinds[k].tensors[i].linear)
                continue;
            while (same < count && (out[same].length != own.length ||
                                    memcmp(out[same].begin, own.begin, own.length) != 0))
                same++;
            if (same == count && count < NAMES_MAX)
                out[count++] = own;
        }
    return count;
}

/* As many as there is room for. */
static void
list_names(const sl_model *model, char *to, size_t size)
{
    name names[NAMES_MAX];
    const size_t count = find_names(model, names);
    size_t used = 0;

    for (size_t i = 0; i < count && used + names[i].length + 3 <= size; i++) {
        if (i > 0) {
            memcpy(to + used, ", ", 2);
            used += 2;
        }
        memcpy(to + used, names[i].begin, names[i].length);
        used += names[i].length;
    }
    to[used] = '\0';
}

static bool
is_found(const sl_model *model, const char *target)
{
    if (strcmp(target, "all-linear") == 0)
        return true;
    for (uint32_t k = 0; k < model->kind_count; k++)
        for (uint32_t i = 0; i < model->kinds[k].tensor_count; i++)
            if (model->kinds[k].tensors[i].linear &&
                sl_adapter_matches(target, &model->kinds[k].tensors[i]))
                return true;
    return false;
}

/* Elsewhere Megatron-Bridge falls back to keeping what it gathered (peft/utils.py,
 * _sequence_parallel_input_regather_eligibility). */
static bool
can_regather(const sl_question *question)
{
    const sl_workload *w = &question->workload;
    const bool again =
        w->recompute == SL_RECOMPUTE_FULL || (w->recompute_modules & 1u << SL_MODULE_MLP) != 0;

    return !w->adapter.regathers ||
           (w->framework == SL_FRAMEWORK_MEGATRON && w->graphs == SL_GRAPHS_NONE &&
            !w->offload.activations && !again && w->adapter.dropout_ratio == 0.0 &&
            !sl_adapter_casts(&w->adapter, sl_precision_kept_bytes(w->precision)));
}

sl_code
sl_check_adapter(const sl_question *question, sl_errors *err)
{
    static const char digits[] = "0123456789";
    const sl_adapter *adapter = &question->workload.adapter;
    sl_code first = SL_OK;

    assert(err != NULL);
    if (!sl_adapter_on(adapter))
        return SL_OK;
    if (sl_model_is_plain(question->model))
        return sl_fail(err, SL_E_RANGE, "no_tensors", "/workload/adapter",
                       "a list of layers does not say what adapters could stand beside");
    if (!can_regather(question))
        first =
            sl_fail(err, SL_E_RANGE, "conflicting_fields",
                    "/workload/adapter/sequence_parallel_input_regather",
                    "is Megatron's, of adapters in the model's precision without dropout, and "
                    "not under CUDA graphs, offloaded activations, or recomputation of the MLP");
    for (uint32_t i = 0; i < adapter->target_count; i++) {
        char pointer[] = "/workload/adapter/targets/00";
        char names[sizeof err->list[0].hint];
        if (is_found(question->model, adapter->targets[i]))
            continue;
        char *const number = pointer + sizeof pointer - 3;
        number[0] = digits[i < 10 ? i : i / 10];
        number[1] = digits[i % 10];
        if (i < 10)
            number[1] = '\0';
        list_names(question->model, names, sizeof names);
        first = sl_fail(err, SL_E_RANGE, "no_such_module", pointer,
                        "no linear layer of this model goes by \"%s\"", adapter->targets[i]);
        sl_hint(err, "%s", names);
    }
    return first;
}
