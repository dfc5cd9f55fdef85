#include "engine/check/check_operators.h"

#include <assert.h>
#include <stddef.h>

#include "engine/check/check.h"
#include "engine/placement/adapter.h"
#include "engine/placement/recompute.h"
#include "engine/placement/slice.h"
#include "engine/price/low_precision.h"

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

/* The first product of a block that TransformerEngine asserts against: its operands' last dimension
 * has to be a multiple of 16, and what the others make of 8 (pytorch/utils.py,
 * assert_dim_for_fp8_exec). */
static const sl_operator *
find_refused(const sl_question *question, uint64_t *wrong)
{
    const sl_model *model = question->model;
    const sl_plan *plan = &question->plan;

    for (uint32_t layer = 0; layer < model->layer_count; layer++) {
        const sl_layer_kind *kind = &model->kinds[model->layers[layer]];
        if (layer > 0 && model->layers[layer] == model->layers[layer - 1])
            continue;
        for (uint32_t i = 0; i < kind->operator_count; i++) {
            const sl_operator *op = &kind->operators[i];
            const uint32_t ranks = op->experts > 0 ? sl_plan_expert_tensor(plan) : plan->tensor;
            /* Of key-value heads that are too few each rank has a whole one: its part is no even
             * one. */
            const bool even =
                op->component != SL_COMPONENT_ATTENTION || model->kv_heads % plan->tensor == 0;
            const uint64_t in = op->inputs / (op->cut == SL_CUT_ROW ? ranks : 1);
            const uint64_t out = even ? op->outputs / (op->cut == SL_CUT_COLUMN ? ranks : 1) : 0;
            if (!sl_slice_may_be_low(op) || (in % 16 == 0 && out % 8 == 0))
                continue;
            *wrong = in % 16 != 0 ? in : out;
            return op;
        }
    }
    return NULL;
}

static sl_code
check_low(const sl_question *question, sl_errors *err)
{
    uint64_t wrong = 0;
    const sl_operator *op =
        sl_low_keeps_operands(&question->workload) ? find_refused(question, &wrong) : NULL;

    if (op == NULL)
        return SL_OK;

    const sl_code code =
        sl_fail(err, SL_E_RANGE, "not_aligned", "/workload/precision",
                "TransformerEngine multiplies in 8 or 4 bits where a rank's product has multiples "
                "of 16 inputs and 8 outputs: %s has %llu",
                op->name, (unsigned long long)wrong);
    sl_hint(err, "bf16");
    return code;
}

/* What TransformerEngine asserts of all other dimensions together, before sequence parallelism gathers
 * them: 8 of operands with one scale, whole blocks of scales of the others (pytorch/utils.py;
 * MXFP8Quantizer and NVFP4Quantizer). Experts pad their tokens. */
static sl_code
check_low_tokens(const sl_question *question, sl_errors *err)
{
    const sl_workload *w = &question->workload;
    const sl_plan *plan = &question->plan;
    const bool split = plan->sequence && sl_check_knows(question, SL_UNKNOWN_SEQUENCE);
    const uint64_t parts = (uint64_t)plan->context * (split ? plan->tensor : 1);
    const uint64_t tokens = w->micro_batch * w->sequence_length / parts;
    const uint64_t unit = w->precision == SL_PRECISION_MXFP8   ? 32
                          : w->precision == SL_PRECISION_NVFP4 ? 16
                                                               : 8;

    if (!sl_low_keeps_operands(w) || sl_model_is_plain(question->model) ||
        !sl_check_knows(question, SL_UNKNOWN_MICRO_BATCH) || tokens % unit == 0)
        return SL_OK;

    const sl_code code =
        sl_fail(err, SL_E_RANGE, "not_aligned", "/workload/sequence_length",
                "TransformerEngine multiplies in %s where a rank's tokens of a micro-batch are a "
                "multiple of %llu: %llu are not",
                w->precision == SL_PRECISION_FP8 ? "8 bits" : "blocks of scales",
                (unsigned long long)unit, (unsigned long long)tokens);
    const uint64_t step = unit * parts;
    const uint64_t longer = (w->sequence_length + step - 1) / step * step;
    if (question->model->position_limit > 0 && longer > question->model->position_limit)
        sl_hint(err, "or precision bf16");
    else
        sl_hint(err, "%llu, or precision bf16", (unsigned long long)longer);
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

static bool
has_dense_mlp(const sl_model *model)
{
    for (uint32_t k = 0; k < model->kind_count; k++)
        for (uint32_t i = 0; i < model->kinds[k].operator_count; i++)
            if (sl_recompute_runs(&model->kinds[k], i, SL_MODULE_MLP))
                return true;
    return false;
}

/* Parts of the sequence that dense MLPs run over (DeepSpeed runtime/sequence_parallel/ulysses_sp.py,
 * TiledMLP; axolotl's of FSDP). */
sl_code
sl_check_tiles(const sl_question *question, sl_errors *err)
{
    static const char *const pointer = "/workload/recompute/mlp_tiles";
    const sl_workload *workload = &question->workload;
    const sl_plan *plan = &question->plan;
    const uint64_t positions = workload->sequence_length / plan->context;
    const bool alone = plan->tensor == 1 && plan->pipeline == 1;
    const bool around = workload->recompute == SL_RECOMPUTE_OPERATORS ||
                        workload->recompute == SL_RECOMPUTE_MODULES ||
                        sl_adapter_on(&workload->adapter);
    sl_code code = SL_OK;

    if (workload->mlp_tiles == 0)
        return SL_OK;
    if (workload->framework == SL_FRAMEWORK_MEGATRON || !alone || around) {
        code =
            sl_fail(err, SL_E_UNSUPPORTED, "not_modelled", pointer, "%s",
                    workload->framework == SL_FRAMEWORK_MEGATRON ? "megatron has no MLPs in tiles"
                    : !alone ? "MLPs in tiles are modelled without tensor parallelism and pipeline"
                             : "MLPs in tiles are modelled beside modes none, core_attention and "
                               "full, where all weights train");
        sl_hint(err, "leave it out");
    } else if (!has_dense_mlp(question->model)) {
        code = sl_fail(err, SL_E_RANGE, "no_dense_mlp", pointer,
                       "this model has no dense MLPs, got %u tiles of them", workload->mlp_tiles);
        sl_hint(err, "leave it out");
    } else if (workload->mlp_tiles > positions) {
        code = sl_fail(err, SL_E_RANGE, "out_of_range", pointer,
                       "must be at most the %llu positions of a rank, got %u",
                       (unsigned long long)positions, workload->mlp_tiles);
        if (positions < 2)
            sl_hint(err, "leave it out");
        else
            sl_hint(err, "2 to %llu", (unsigned long long)positions);
    }
    return code;
}

sl_code
sl_check_operators(const sl_question *question, sl_errors *err)
{
    assert(question != NULL && err != NULL);

    const sl_model *model = question->model;
    const sl_plan *plan = &question->plan;
    sl_code code = check_scans(question, err);
    const sl_code across = sl_check_across(question, err);

    const sl_code widths = check_low(question, err);
    const sl_code tokens = check_low_tokens(question, err);
    const sl_code low = widths != SL_OK ? widths : tokens;

    if (across != SL_OK || low != SL_OK)
        code = across != SL_OK ? across : low;
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
