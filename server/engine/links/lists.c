#include "engine/links/lists.h"

#include "engine/price/kernel.h"

/* Defaults of DeepSpeed's zero_optimization. */
static const double persistent_elements = 1e5;
static const double reuse_elements = 1e9;

static const double operator_kernels = 2.0; /* as host_operator_s of PyTorch counts them */
/* Host time of a view (narrow, view, select), of that of a kernel: it is dispatched, not launched. */
static const double view_ratio = 0.25;
static const double gather_views = 2.0;
static const double reduce_views = 3.0;
static const double gather_passes = 3.0;
static const double reduce_passes = 4.0;

double
sl_lists_tensors(const sl_memory_case *c, const sl_stage *stage)
{
    const sl_model *model = c->question->model;
    double tensors = 0.0;

    for (uint32_t k = 0; k < model->kind_count; k++)
        for (uint32_t i = 0; stage->layers[k] > 0 && i < model->kinds[k].tensor_count; i++)
            if (sl_slice_elements(c->slice, &model->kinds[k].tensors[i]) > 0.0)
                tensors += stage->layers[k];
    return tensors;
}

sl_lists
sl_lists_count(const sl_memory_case *c, const sl_stage *stage)
{
    const sl_model *model = c->question->model;
    const bool recomputes = c->workload->recompute == SL_RECOMPUTE_FULL;
    double gathered = 0.0;
    double again = 0.0;
    sl_lists out = {0};

    if (!c->software->lists_parts || c->plan->zero_stage < 3)
        return out;
    out.reduced = sl_lists_tensors(c, stage);
    for (uint32_t k = 0; k < model->kind_count; k++) {
        const sl_layer_kind *kind = &model->kinds[k];
        const double layers = stage->layers[k];
        double later = 0.0; /* elements of the block that are used after this tensor */

        for (uint32_t i = kind->tensor_count; i-- > 0;) {
            const double elements = sl_slice_elements(c->slice, &kind->tensors[i]);
            if (elements <= 0.0)
                continue;
            if (elements < persistent_elements)
                continue;
            out.gathered += layers;
            gathered += layers * elements;
            if (recomputes && sl_schedule_is_block(model, k))
                again += layers * elements * (2.0 * later < reuse_elements ? 0.0 : 1.0);
            later += elements;
        }
    }
    out.again_ratio = gathered > 0.0 ? again / gathered : 0.0;
    return out;
}

static double
parts_s(const sl_memory_case *c, double parts, double views, double bytes)
{
    if (parts <= 0.0)
        return 0.0;
    return parts * (1.0 + views * view_ratio) * c->software->host_operator_s / operator_kernels +
           sl_kernel_memory_s(c->slice, bytes, c->slice->streaming.residual_ratio);
}

double
sl_lists_gather_s(const sl_memory_case *c, double tensors, double ranks, double bytes)
{
    return parts_s(c, tensors * ranks, gather_views, gather_passes * bytes);
}

double
sl_lists_reduce_s(const sl_memory_case *c, double tensors, double ranks, double bytes)
{
    return parts_s(c, tensors * ranks, reduce_views, reduce_passes * bytes);
}
