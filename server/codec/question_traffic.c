/* Members of a plan that say how ranks exchange gradients and parameters. */
#include <assert.h>

#include "codec/names.h"
#include "codec/question_parts.h"
#include "json/members.h"

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

sl_code
sl_question_read_traffic(sl_estimate_request *request, sl_errors *err)
{
    assert(request != NULL && err != NULL);

    const sl_node *const object = &request->parallelism_object;
    sl_workload *const workload = &request->workload;
    const bool eight_bits = workload->gather == SL_WIRE_FP8; /* workload.fp8.all_gather */
    sl_code first =
        read_wire(object, "grad_reduce_dtype", &sl_reduce_names, &workload->reduce, err);
    sl_keep(&first, read_wire(object, "gather_dtype", &sl_wire_names, &workload->gather, err));
    if (eight_bits && workload->gather != SL_WIRE_FP8)
        sl_keep(&first,
                sl_node_fail_at(object, "gather_dtype", err, SL_E_RANGE, "conflicting_fields",
                                "is fp8, as workload.fp8.all_gather says"));
    return first;
}
