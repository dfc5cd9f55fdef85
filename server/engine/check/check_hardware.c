#include "engine/check/check_hardware.h"

#include <string.h>

#include "engine/check/hints.h"
#include "engine/links/links.h"
#include "engine/placement/pools.h"

static sl_code
check_attention(const sl_question *question, sl_errors *err)
{
    const sl_accelerator *part = &question->cluster->accelerator;
    const sl_workload *workload = &question->workload;

    if ((question->unknown & (uint32_t)SL_UNKNOWN_ATTENTION) != 0)
        return SL_OK;
    if (workload->attention == SL_ATTENTION_EFFICIENT &&
        workload->framework == SL_FRAMEWORK_MEGATRON) {
        const sl_code foreign = sl_fail(err, SL_E_UNSUPPORTED, "attention_not_of_framework",
                                        "/workload/attention", "megatron has no such kernel");
        sl_hint(err, "unfused, flash1, flash2, flash3, cudnn");
        return foreign;
    }
    if (sl_attention_possible(part, workload->attention, workload->precision))
        return SL_OK;

    const sl_code code =
        sl_fail(err, SL_E_RANGE, "attention_not_supported", "/workload/attention",
                "%s has no rate for %s in this precision; fused kernels but efficient are 16-bit",
                part->id, sl_hints_attention[workload->attention]);
    sl_hint(err, "unfused, flash1, flash2, flash3, cudnn, efficient");
    return code;
}

static sl_code
check_pool(const sl_question *question, sl_errors *err)
{
    const sl_cluster *cluster = question->cluster;
    const sl_accelerator *part = &cluster->accelerator;
    const sl_workload *workload = &question->workload;
    sl_code code = check_attention(question, err);

    if (part->peak_flops_per_s[workload->precision] <= 0.0 || part->gemm.peak_flops_per_s <= 0.0) {
        code = sl_fail(err, SL_E_RANGE, "precision_not_supported", "/workload/precision",
                       "%s has no rate for this precision in the catalogue", part->id);
        sl_hint(err, "bf16, fp16, tf32, fp32, fp8, mxfp8, nvfp4");
    }
    if (part->memory_bytes_per_s <= 0.0 || part->gemm.bandwidth_bytes_per_s < 0.0)
        code = sl_fail(err, SL_E_RANGE, "memory_rate_unknown", "/cluster/accelerator",
                       "the memory bandwidth of %s is not known", part->id);
    if (cluster->nodes > 1 && (cluster->nics_per_node == 0 || cluster->nic_bytes_per_s <= 0.0))
        code = sl_fail(err, SL_E_RANGE, "nics_unknown", "/cluster/nics",
                       "%u nodes need network cards, and no reference node of %s names them",
                       cluster->nodes, part->id);
    if (!sl_links_known(cluster))
        code =
            sl_fail(err, SL_E_RANGE, "links_unknown", "/cluster/scale_up_bytes_per_s",
                    "the links between all accelerators of a node of %s are not known", part->id);
    return code;
}

/* Faults of one pool, said of its place in the list. */
static void
pass_on(const sl_errors *found, uint32_t pool, sl_errors *err)
{
    static const char cluster[] = "/cluster";
    const size_t length = sizeof cluster - 1;

    for (uint32_t i = 0; i < found->count; i++) {
        const sl_error *fault = &found->list[i];
        const bool of_pool = strncmp(fault->pointer, cluster, length) == 0;
        char pointer[SL_POOLS_POINTER_SIZE];
        if (of_pool)
            sl_pools_pointer(pool, fault->pointer + length, pointer);
        (void)sl_fail(err, fault->code, fault->rule, of_pool ? pointer : fault->pointer, "%s",
                      fault->message);
        sl_hint(err, "%s", fault->hint);
    }
}

sl_code
sl_check_hardware(const sl_question *question, sl_errors *err)
{
    const uint32_t count = question->cluster->pool_count;
    sl_code first = SL_OK;

    if (count == 0)
        return check_pool(question, err);
    for (uint32_t i = 0; i < count; i++) {
        sl_question of_pool = *question;
        sl_errors found;
        of_pool.cluster = &question->cluster->pools[i];
        sl_errors_begin(&found, false);
        const sl_code code = check_pool(&of_pool, &found);
        pass_on(&found, i, err);
        if (first == SL_OK)
            first = code;
    }
    return first;
}
