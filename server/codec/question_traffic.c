/* Members of a plan that say what ranks exchange, in which portions and types. */
#include <assert.h>

#include "base/text.h"
#include "codec/names.h"
#include "codec/question_parts.h"
#include "json/members.h"

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

/* The word of `names` that a member holds, as the wire type it stands for. */
static sl_code
read_wire(const sl_node *object, const char *member, const sl_names *names, sl_wire *out,
          sl_errors *err)
{
    uint32_t index = 0;
    bool said = false;
    const sl_code code = sl_names_read(object, member, names, &index, &said, err);
    if (code == SL_OK && said)
        *out = (sl_wire)(SL_WIRE_BF16 + index);
    return code;
}

static sl_code
read_modules(const sl_node *list, sl_unit *out, sl_errors *err)
{
    sl_node entry;
    if (sl_node_count(list) == 0 || sl_node_count(list) > SL_UNIT_MODULES_MAX)
        return sl_node_fail(list, err, SL_E_RANGE, "out_of_range",
                            "must name 1 to %d modules of a block, got %zu", SL_UNIT_MODULES_MAX,
                            sl_node_count(list));
    for (size_t i = 0; sl_node_at(list, i, &entry); i++) {
        const char *name = NULL;
        const sl_code code = sl_node_as_text(&entry, &name, err);
        if (code != SL_OK)
            return code;
        if (!sl_text_copy(out->modules[i], sizeof out->modules[i], name) || *name == '\0')
            return sl_node_fail(&entry, err, SL_E_RANGE, "out_of_range",
                                "must be a module's name of at most %d bytes", SL_UNIT_MODULE_MAX);
        out->module_count = (uint32_t)i + 1;
    }
    return SL_OK;
}

/* A word, a number of parameters, or a list of modules. */
static sl_code
read_unit(const sl_node *plan, sl_unit *out, sl_errors *err)
{
    static const char *const words[] = {"block", "root", "none"};
    static const sl_names names = {words, COUNT(words), COUNT(words)};
    uint32_t word = 0;
    bool said = false;
    sl_node member;
    if (!sl_node_member(plan, "fsdp_unit", &member))
        return SL_OK;
    if (sl_node_kind(&member) == SL_JSON_ARRAY) {
        out->kind = SL_UNIT_BY_MODULE;
        return read_modules(&member, out, err);
    }
    if (sl_node_kind(&member) != SL_JSON_TEXT) {
        out->kind = SL_UNIT_BY_SIZE;
        return sl_node_as_uint(&member, 1, 1ULL << 53, &out->least, err);
    }
    const sl_code code = sl_names_read(plan, "fsdp_unit", &names, &word, &said, err);
    out->kind = word == 0 ? SL_UNIT_BLOCK : SL_UNIT_ROOT;
    return code;
}

sl_code
sl_question_read_traffic(sl_estimate_request *request, sl_errors *err)
{
    assert(request != NULL && err != NULL);

    const sl_node *const object = &request->parallelism_object;
    sl_workload *const workload = &request->workload;
    const bool eight_bits = workload->gather == SL_WIRE_FP8; /* workload.fp8.all_gather */
    sl_code first =
        read_wire(object, "grad_reduce_dtype", &sl_reduce_names, &workload->reduce, err);
    sl_keep(&first, read_unit(object, &request->plan.unit, err));
    sl_keep(&first, read_wire(object, "gather_dtype", &sl_wire_names, &workload->gather, err));
    if (eight_bits && workload->gather != SL_WIRE_FP8)
        sl_keep(&first,
                sl_node_fail_at(object, "gather_dtype", err, SL_E_RANGE, "conflicting_fields",
                                "is fp8, as workload.fp8.all_gather says"));
    return first;
}
