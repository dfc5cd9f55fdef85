#include "engine/check/check_host.h"

#include <assert.h>
#include <stddef.h>

#include "engine/placement/adapter.h"

static sl_code
check_runs(const sl_question *question, sl_errors *err)
{
    static const char *const pointers[] = {
        "/parallelism/placement/0/layers", "/parallelism/placement/1/layers",
        "/parallelism/placement/2/layers", "/parallelism/placement/3/layers"};
    _Static_assert(sizeof pointers / sizeof pointers[0] == SL_HOST_RUNS_MAX, "one for each run");
    const sl_plan *plan = &question->plan;
    const uint32_t blocks = question->model->block_count;

    for (uint32_t i = 0; i < plan->host_run_count; i++) {
        const sl_host_run *run = &plan->host_runs[i];
        const char *pointer = pointers[i];

        if (run->last >= blocks) {
            const sl_code code = sl_fail(err, SL_E_RANGE, "out_of_range", pointer,
                                         "the model has %u blocks, from 0 on, got %u-%u", blocks,
                                         run->first, run->last);
            sl_hint(err, "0-%u", blocks - 1);
            return code;
        }
        for (uint32_t j = 0; j < i; j++)
            if (run->first <= plan->host_runs[j].last && plan->host_runs[j].first <= run->last)
                return sl_fail(err, SL_E_RANGE, "overlapping", pointer,
                               "blocks %u-%u are in more than one entry", run->first, run->last);
    }
    return SL_OK;
}

sl_code
sl_check_host(const sl_question *question, sl_errors *err)
{
    assert(question != NULL && err != NULL);

    const sl_plan *plan = &question->plan;
    const sl_workload *workload = &question->workload;
    const sl_offload *offload = &workload->offload;
    const char *pointer = "/parallelism/placement";

    if (plan->host_run_count == 0)
        return SL_OK;
    if (plan->tensor > 1 || plan->data > 1 || plan->context > 1 || plan->expert > 1 ||
        (plan->pipeline > 1 && plan->schedule != SL_SCHEDULE_NAIVE)) {
        const sl_code code =
            sl_fail(err, SL_E_UNSUPPORTED, "not_modelled", pointer,
                    "blocks on the cpu are modelled for one replica of whole layers, stages one "
                    "after the other");
        sl_hint(err, "one accelerator, or pipeline with schedule naive");
        return code;
    }
    if (workload->framework != SL_FRAMEWORK_DDP && workload->framework != SL_FRAMEWORK_MEGATRON) {
        const sl_code code =
            sl_fail(err, SL_E_UNSUPPORTED, "not_modelled", pointer,
                    "blocks on the cpu are modelled for ddp, or megatron's stages");
        sl_hint(err, "leave it out, or framework ddp, or framework megatron");
        return code;
    }
    if (sl_adapter_on(&workload->adapter) || offload->optimizer || offload->parameters ||
        offload->activations)
        return sl_fail(err, SL_E_UNSUPPORTED, "not_modelled", pointer,
                       "blocks on the cpu are not modelled with adapters or with offload");
    if (workload->recompute_method != SL_RECOMPUTE_EACH ||
        (workload->recompute != SL_RECOMPUTE_NONE &&
         workload->recompute != SL_RECOMPUTE_SELECTIVE &&
         workload->recompute != SL_RECOMPUTE_FULL)) {
        const sl_code code = sl_fail(err, SL_E_UNSUPPORTED, "not_modelled", "/workload/recompute",
                                     "blocks on the cpu are rebuilt whole, their scores, or not");
        sl_hint(err, "none, selective, full");
        return code;
    }
    if (question->cluster->accelerator.host_bytes_per_s <= 0.0)
        return sl_fail(err, SL_E_RANGE, "host_link_unknown", "/cluster/accelerator",
                       "the link between %s and its host is not known",
                       question->cluster->accelerator.id);
    return check_runs(question, err);
}
