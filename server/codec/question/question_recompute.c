/* What backward rebuilds: a word, or an object that says over which blocks or which parts of
 * them. */
#include <assert.h>

#include "codec/question/names.h"
#include "codec/question/question_parts.h"
#include "json/members.h"

enum { MLP_TILES_MAX = 1 << 20 };

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

static sl_code
read_modules(const sl_node *object, uint32_t *out, sl_errors *err)
{
    sl_node modules;
    sl_node entry;
    sl_code first = sl_node_required(object, "modules", &modules, err);
    if (first != SL_OK)
        return first;
    if (sl_node_kind(&modules) != SL_JSON_ARRAY || sl_node_count(&modules) == 0)
        return sl_node_fail(&modules, err, SL_E_RANGE, "wrong_type",
                            "must be a list of at least one module");
    for (size_t i = 0; sl_node_at(&modules, i, &entry); i++) {
        uint32_t module = 0;
        sl_keep(&first, sl_node_as_choice(&entry, sl_module_names.list, sl_module_names.count,
                                          &module, err));
        *out |= UINT32_C(1) << module;
    }
    return first;
}

/* Which blocks are rebuilt, and how many at a time: method and layers go together. */
static sl_code
read_method(const sl_node *object, sl_workload *workload, sl_errors *err)
{
    uint32_t method = 0;
    uint64_t layers = 0;
    bool method_said = false, layers_said = false;
    sl_node needed;
    sl_code first = sl_names_read(object, "method", &sl_method_names, &method, &method_said, err);
    sl_keep(&first,
            sl_node_uint(object, "layers", 1, SL_MODEL_LAYERS_MAX, &layers, &layers_said, err));
    if (first != SL_OK || (!method_said && !layers_said))
        return first;
    sl_keep(&first, sl_node_required(object, "method", &needed, err));
    sl_keep(&first, sl_node_required(object, "layers", &needed, err));
    workload->recompute_method = (sl_recompute_method)(method + 1);
    workload->recompute_layers = (uint32_t)layers;
    return first;
}

static sl_code
fail_unless_mode(const sl_node *object, const char *member, const char *mode, sl_errors *err)
{
    sl_node said;
    if (!sl_node_member(object, member, &said))
        return SL_OK;
    return sl_node_fail(&said, err, SL_E_RANGE, "inconsistent", "goes with mode %s", mode);
}

static sl_code
read_object(const sl_node *object, sl_errors *warnings, sl_workload *workload, sl_errors *err)
{
    static const sl_member members[] = {
        {"mode", NULL}, {"method", NULL}, {"layers", NULL}, {"modules", NULL}, {"mlp_tiles", NULL}};
    uint32_t mode = 0;
    bool said = false;
    sl_node needed;
    sl_code first = sl_members_check(object, members, COUNT(members), warnings, err);
    sl_keep(&first, sl_node_required(object, "mode", &needed, err));
    sl_keep(&first, sl_names_read(object, "mode", &sl_recompute_modes, &mode, &said, err));
    if (first != SL_OK)
        return first;
    workload->recompute = (sl_recompute)mode;
    if (mode == SL_RECOMPUTE_FULL) {
        sl_keep(&first, read_method(object, workload, err));
    } else {
        sl_keep(&first, fail_unless_mode(object, "method", "full", err));
        sl_keep(&first, fail_unless_mode(object, "layers", "full", err));
    }
    if (mode == SL_RECOMPUTE_MODULES)
        sl_keep(&first, read_modules(object, &workload->recompute_modules, err));
    else
        sl_keep(&first, fail_unless_mode(object, "modules", "modules", err));
    uint64_t tiles = 0;
    sl_keep(&first, sl_node_uint(object, "mlp_tiles", 2, MLP_TILES_MAX, &tiles, NULL, err));
    workload->mlp_tiles = (uint32_t)tiles;
    return first;
}

sl_code
sl_question_read_recompute(sl_estimate_request *request, sl_errors *warnings, sl_errors *err)
{
    assert(request != NULL && err != NULL);

    const sl_node *const object = &request->workload_object;
    sl_node member;
    if (!sl_node_member(object, "recompute", &member)) {
        request->unknown |= SL_UNKNOWN_RECOMPUTE;
        return SL_OK;
    }
    if (sl_node_kind(&member) == SL_JSON_OBJECT)
        return read_object(&member, warnings, &request->workload, err);
    uint32_t mode = 0;
    bool said = false;
    const sl_code code = sl_names_read(object, "recompute", &sl_recompute_names, &mode, &said, err);
    request->workload.recompute = (sl_recompute)mode;
    return code;
}
