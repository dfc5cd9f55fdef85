#include "engine/check_encoder.h"

#include <assert.h>
#include <stddef.h>

sl_code
sl_check_encoder(const sl_question *question, sl_errors *err)
{
    assert(question != NULL && err != NULL);

    const sl_model *model = question->model;
    const sl_plan *plan = &question->plan;
    sl_code code = SL_OK;

    if (model->across && plan->pipeline > 1) {
        code = sl_fail(err, SL_E_UNSUPPORTED, "not_modelled", "/parallelism/pipeline",
                       "stages of a model whose decoder reads its encoder's output are not "
                       "modelled, got %u",
                       plan->pipeline);
        sl_hint(err, "1");
    }
    if (model->unmasked && plan->context > 1) {
        code = sl_fail(err, SL_E_UNSUPPORTED, "not_modelled", "/parallelism/context",
                       "context parallelism is modelled for decoders only, got %u", plan->context);
        sl_hint(err, "1");
    }
    if (model->biased && (question->unknown & (uint32_t)SL_UNKNOWN_ATTENTION) == 0 &&
        question->workload.attention != SL_ATTENTION_UNFUSED) {
        code = sl_fail(err, SL_E_UNSUPPORTED, "not_modelled", "/workload/attention",
                       "this model adds a learned bias to its scores: fused kernels of that are "
                       "not modelled");
        sl_hint(err, "unfused");
    }
    return code;
}
