#include "engine/check/check_operators.h"

#include <assert.h>
#include <stddef.h>

/* A rank holds whole heads, and in Mamba 2 the groups that heads share what they read in; in Mamba
 * 1 that is summed up over the ranks. */
static sl_code
check_scan(const sl_question *question, const sl_operator *op, sl_errors *err)
{
    const uint32_t tensor = question->plan.tensor;

    if (op->heads % tensor == 0 && (op->chunk == 0 || op->kv_heads % tensor == 0))
        return SL_OK;
    return sl_fail(err, SL_E_RANGE, "not_divisible", "/parallelism/tensor",
                   "must divide the %u heads and %u groups of the state space, got %u", op->heads,
                   op->kv_heads, tensor);
}

/* The first that is cut wrong: the others are alike. */
static sl_code
check_scans(const sl_question *question, sl_errors *err)
{
    const sl_model *model = question->model;
    sl_code code = SL_OK;

    for (uint32_t k = 0; k < model->kind_count; k++)
        for (uint32_t i = 0; i < model->kinds[k].operator_count; i++) {
            if (model->kinds[k].operators[i].kind != SL_OPERATOR_SCAN)
                continue;
            code = check_scan(question, &model->kinds[k].operators[i], err);
            if (code != SL_OK)
                return code;
        }
    return code;
}

sl_code
sl_check_across(const sl_question *question, sl_errors *err)
{
    assert(question != NULL && err != NULL);

    const uint32_t pipeline = question->plan.pipeline;

    if (!question->model->across || pipeline == 1)
        return SL_OK;
    return sl_fail(err, SL_E_UNSUPPORTED, "not_modelled", "/parallelism/pipeline",
                   "stages of a model whose decoder reads its encoder's output are not "
                   "modelled, got %u",
                   pipeline);
}

sl_code
sl_check_operators(const sl_question *question, sl_errors *err)
{
    assert(question != NULL && err != NULL);

    const sl_model *model = question->model;
    const sl_plan *plan = &question->plan;
    sl_code code = check_scans(question, err);
    const sl_code across = sl_check_across(question, err);

    if (across != SL_OK)
        code = across;
    if (plan->context > 1 && (model->unmasked || sl_model_does(model, SL_OPERATOR_SCAN)))
        code = sl_fail(err, SL_E_UNSUPPORTED, "not_modelled", "/parallelism/context",
                       "context parallelism is modelled for attention under a causal mask only, "
                       "got %u",
                       plan->context);
    if (model->biased && (question->unknown & (uint32_t)SL_UNKNOWN_ATTENTION) == 0 &&
        question->workload.attention != SL_ATTENTION_UNFUSED) {
        code = sl_fail(err, SL_E_UNSUPPORTED, "not_modelled", "/workload/attention",
                       "this model adds a learned bias to its scores: fused kernels of that are "
                       "not modelled");
        sl_hint(err, "unfused, or unfused with context 1");
    }
    return code;
}
