#include "engine/gather.h"

#include "engine/lent.h"
#include "engine/unit.h"

#include <math.h>

/* Defaults of DeepSpeed's zero_optimization. */
static const double bucket_elements = 5e8;
static const double live_elements_max = 1e9;

typedef struct units {
    double largest, root, head, all;
    double ends; /* of the root, embedding and head */
} units;

static units
measure_units(const sl_memory_case *c, const sl_stage *stage)
{
    const sl_model *model = c->question->model;
    units u = {0};

    for (uint32_t k = 0; k < model->kind_count; k++) {
        const double elements = stage->layers[k] * c->prices[k].elements;
        if (stage->layers[k] == 0)
            continue;
        u.all += elements;
        if (sl_schedule_is_block(model, k)) {
            const sl_unit_split split =
                sl_unit_of(&c->plan->unit, c->slice, &model->kinds[k], c->prices[k].elements);
            u.largest = fmax(u.largest, split.largest);
            u.root += stage->layers[k] * split.root;
        } else {
            u.root += elements;
            u.ends += elements;
        }
        if (!sl_schedule_is_block(model, k) && k != model->layers[0])
            u.head += elements;
    }
    return u;
}

/* A rank that holds both ends of a tied pair has one table: the head's gradient is as wide as it. */
static double
head_elements(const sl_memory_case *c, const sl_stage *stage, const units *u)
{
    const bool one_table = c->question->model->tied && c->plan->pipeline == 1;

    return one_table ? u->ends : stage->last ? u->head : 0.0;
}

static void
measure_fsdp(const sl_memory_case *c, const sl_stage *stage, const units *u, sl_gathered *out)
{
    const sl_elements elements = {.all = u->all};
    const sl_layout layout = sl_states_layout(c->workload, &elements);
    const sl_shards shards = sl_states_shards(c->workload, c->plan);
    const double kept = sl_states_gather_bytes(c->workload, &layout, false);
    const double element = sl_states_gather_bytes(c->workload, &layout, true);
    const double copies = c->workload->framework == SL_FRAMEWORK_FSDP2 ? 1.0 : 0.0;
    const double prefetched = u->all - u->root > u->largest ? u->largest : 0.0;
    const double head = head_elements(c, stage, u);

    if (sl_states_reshards(c->workload, c->plan)) {
        out->head_bytes = kept * u->root + element * u->largest;
        out->backward_bytes = kept * u->root + element * (u->largest + (1.0 + copies) * prefetched);
    } else {
        out->head_bytes = out->backward_bytes = kept * u->root + element * (u->all - u->root);
    }
    /* A block's whole gradient in the compute precision, the reduce's input, and its output. */
    const double width = sl_states_reduce_bytes(c->workload, &layout);
    /* fully_shard copies into the reduction's input in any case (_fsdp_collectives.py). */
    const bool copied = width != kept || c->workload->framework == SL_FRAMEWORK_FSDP2;
    const double reduced = copied ? width : 0.0;
    if (layout.gradient_bytes <= 0.0) /* frozen: adapters' are too few to matter here */
        return;
    out->head_gradients = kept * head;
    const double each = kept + reduced + width / shards.gradients.dense;
    out->backward_gradients = kept * head + u->largest * each;
    out->root_bytes = kept * u->root;
    out->root_gradients = u->root * each;
}

static void
measure_deepspeed(const sl_memory_case *c, const units *u, sl_gathered *out)
{
    const sl_elements elements = {.all = u->all};
    const sl_layout layout = sl_states_layout(c->workload, &elements);
    const double element = c->slice->element_bytes;

    const double width = sl_states_reduce_bytes(c->workload, &layout);

    if (c->plan->zero_stage >= 1) {
        out->reduce_buffers =
            element * bucket_elements * (c->software->overlap_gradient_reduce ? 2.0 : 1.0);
        /* A bucket that is reduced in another type is cast into one of that. */
        if (width != layout.gradient_bytes)
            out->reduce_buffers += width * bucket_elements;
    }
    if (c->plan->zero_stage < 3)
        return;
    out->head_bytes = out->backward_bytes = element * fmin(u->all, live_elements_max);
    out->backward_gradients = element * u->largest;
}

sl_gathered
sl_gather_measure(const sl_memory_case *c, const sl_stage *stage)
{
    const units u = measure_units(c, stage);
    sl_gathered out = {.unit_elements = u.largest, .root_elements = u.root};

    if (c->workload->framework == SL_FRAMEWORK_DEEPSPEED)
        measure_deepspeed(c, &u, &out);
    else if (sl_lent_devices(c->workload, c->plan) > 0)
        sl_lent_measure(c, u.all, &out);
    else if (sl_framework_is_fsdp(c->workload->framework) && c->plan->zero_stage >= 2)
        measure_fsdp(c, stage, &u, &out);
    return out;
}
