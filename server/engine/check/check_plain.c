#include "engine/check/check_plain.h"

#include <assert.h>
#include <stddef.h>

/* One line a rule: a choice that only an architecture gives a meaning. */
static sl_code
refuse(const char *rule, const char *pointer, const char *message, const char *hint, sl_errors *err)
{
    const sl_code code = sl_fail(err, SL_E_RANGE, rule, pointer, "%s", message);
    sl_hint(err, "%s", hint);
    return code;
}

sl_code
sl_check_plain(const sl_question *question, sl_errors *err)
{
    assert(question != NULL && err != NULL);

    const sl_workload *workload = &question->workload;
    const sl_plan *plan = &question->plan;
    sl_code code = SL_OK;

    if (!sl_model_is_plain(question->model))
        return SL_OK;
    if (plan->tensor > 1)
        code = refuse("no_tensors", "/parallelism/tensor",
                      "a list of layers does not say how their tensors could be cut", "", err);
    if (plan->sequence)
        code = refuse("no_sequence", "/parallelism/sequence",
                      "a list of layers is counted per sample: there is no sequence to split",
                      "false, or leave it out", err);
    if (workload->sequence_length != 1)
        code = refuse("no_sequence", "/workload/sequence_length",
                      "a list of layers is counted per sample: there is no sequence",
                      "1, or leave it out", err);
    if (workload->attention != SL_ATTENTION_UNFUSED)
        code = refuse("no_attention", "/workload/attention",
                      "a list of layers has no attention that a kernel could compute",
                      "leave it out", err);
    if (workload->recompute == SL_RECOMPUTE_SELECTIVE &&
        (question->unknown & (uint32_t)SL_UNKNOWN_RECOMPUTE) == 0)
        code =
            refuse("no_attention", "/workload/recompute",
                   "selective recomputation drops attention scores, and a list of layers has none",
                   "none, full", err);
    if (workload->dropout)
        code = refuse("no_dropout", "/workload/dropout",
                      "what dropout keeps is part of a layer's activation_bytes",
                      "false, or leave it out", err);
    return code;
}
