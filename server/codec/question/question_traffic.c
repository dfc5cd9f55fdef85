/* Members of a plan that say what ranks exchange, in which order, portions and types. */
#include <assert.h>

#include "base/text.h"
#include "codec/question/names.h"
#include "codec/question/profile.h"
#include "codec/question/question_parts.h"
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

static sl_code
read_order(const sl_node *plan, sl_order *out, sl_errors *err)
{
    const char *word = NULL;
    bool said = false;
    const sl_code code = sl_node_text(plan, "order", &word, &said, err);
    if (code != SL_OK || !said)
        return code;
    const int order = sl_text_index(word, sl_order_names.list, sl_order_names.count);
    if (order >= 0) {
        *out = (sl_order)order;
        return SL_OK;
    }
    const sl_code refused = sl_node_fail_at(plan, "order", err, SL_E_UNSUPPORTED, "not_modelled",
                                            "an order \"%.40s\" is not modelled", word);
    sl_hint(err, "tp-cp-ep-dp-pp, tp-cp-ep-pp-dp");
    return refused;
}

/* The profiles of the release, with what the request says of their overlap in place of theirs. */
static sl_code
read_overlap(sl_estimate_request *request, sl_errors *warnings, sl_errors *err)
{
    static const sl_member members[] = {
        {"grad_reduce", NULL}, {"param_gather", NULL}, {"tensor", NULL}, {"p2p", NULL}};
    bool reduce = false, gather = false, pipeline = false;
    bool reduce_said = false, gather_said = false, tensor_said = false, pipeline_said = false;
    uint32_t tensor = 0;
    sl_node overlap;
    if (!sl_node_member(&request->parallelism_object, "overlap", &overlap))
        return SL_OK;
    sl_code first = sl_node_object(&overlap, err);
    if (first != SL_OK)
        return first;
    sl_keep(&first, sl_members_check(&overlap, members, COUNT(members), warnings, err));
    sl_keep(&first, sl_node_bool(&overlap, "grad_reduce", &reduce, &reduce_said, err));
    sl_keep(&first, sl_node_bool(&overlap, "param_gather", &gather, &gather_said, err));
    sl_keep(&first,
            sl_names_read(&overlap, "tensor", &sl_overlap_names, &tensor, &tensor_said, err));
    sl_keep(&first, sl_node_bool(&overlap, "p2p", &pipeline, &pipeline_said, err));
    if (first == SL_OK && request->workload.framework == SL_FRAMEWORK_DP) {
        first = sl_node_fail_at(&request->parallelism_object, "overlap", err, SL_E_RANGE,
                                "inconsistent", "dp sends everything in the open");
        sl_hint(err, "leave it out, or framework ddp");
    }
    if (first != SL_OK || request->software == NULL)
        return first;
    sl_software *const copies = sl_profile_own(request);
    request->profile_said = true;
    for (uint32_t i = 0; i < request->software_count; i++) {
        sl_software *const own = &copies[i];
        if (reduce_said)
            own->overlap_gradient_reduce = reduce;
        if (gather_said)
            own->overlap_parameter_gather = gather;
        if (tensor_said) {
            own->overlap_tensor_backward = tensor != SL_OVERLAP_NONE;
            own->overlap_tensor_forward = tensor == SL_OVERLAP_USERBUFFER;
        }
        if (pipeline_said)
            own->overlap_pipeline = pipeline;
    }
    return SL_OK;
}

sl_code
sl_question_read_traffic(sl_estimate_request *request, sl_errors *warnings, sl_errors *err)
{
    assert(request != NULL && err != NULL);

    const sl_node *const object = &request->parallelism_object;
    sl_workload *const workload = &request->workload;
    const bool eight_bits = workload->gather == SL_WIRE_FP8; /* workload.fp8.all_gather */
    sl_code first =
        read_wire(object, "grad_reduce_dtype", &sl_reduce_names, &workload->reduce, err);
    sl_keep(&first, read_order(object, &request->plan.order, err));
    sl_keep(&first, read_overlap(request, warnings, err));
    sl_keep(&first, read_unit(object, &request->plan.unit, err));
    sl_keep(&first, read_wire(object, "gather_dtype", &sl_wire_names, &workload->gather, err));
    if (eight_bits && workload->gather != SL_WIRE_FP8) {
        sl_keep(&first,
                sl_node_fail_at(object, "gather_dtype", err, SL_E_RANGE, "conflicting_fields",
                                "is fp8, as workload.fp8.all_gather says"));
        sl_hint(err, "fp8");
    }
    return first;
}
