/* Passes of layers, operator by operator. */
#include "shardline/timeline.h"

#include <math.h>

#include "engine/answer/evaluate.h"
#include "engine/answer/step_parts.h"

/* What the passes of a layer take beyond its operators. */
static sl_pass_part
waiting(const sl_memory_case *c, uint32_t kind, bool again, const sl_pass_part *operators)
{
    const sl_rank_time t = sl_step_layer(c, kind, again);
    const double backward_s = sl_pass_s(&t.backward) + sl_pass_s(&t.again);

    return (sl_pass_part){
        .forward_s = fmax(0.0, sl_pass_s(&t.forward) - operators->forward_s),
        .input_s = fmax(0.0, backward_s - operators->input_s - operators->weight_s),
    };
}

void
sl_timeline_operators(const sl_question *question, const sl_estimate *estimate, uint32_t stage,
                      sl_pass_parts *out)
{
    const sl_model *model = question->model;
    const sl_time *time = &estimate->time;
    sl_memory_case space;
    sl_known of;

    sl_evaluate_know(question, estimate, &of);
    const sl_memory_case *c =
        sl_case_is_spread(&of.c)
            ? sl_case_of_spread(&of.c, time->slowest_pool, time->slowest_links, &space)
            : sl_case_of_stage(&of.c, stage, &space);
    for (uint32_t k = 0; k < model->kind_count; k++) {
        const sl_layer_kind *kind = &model->kinds[k];
        const bool again = sl_schedule_is_block(model, k);
        sl_pass_part sum = {0};
        out[k].count = 0;
        for (uint32_t i = 0; i < kind->operator_count; i++) {
            sl_kind_price price;
            sl_price_one(c->cluster, c->plan, c->slice, kind, i, &price);
            const sl_pass_part part = {
                .name = kind->operators[i].name,
                .forward_s = price.forward_s,
                .input_s =
                    price.backward_s - price.weight_s + (again ? price.again.forward_s : 0.0),
                .weight_s = price.weight_s,
            };
            sum.forward_s += part.forward_s;
            sum.input_s += part.input_s;
            sum.weight_s += part.weight_s;
            out[k].list[out[k].count++] = part;
        }
        out[k].list[out[k].count++] = waiting(c, k, again, &sum);
    }
}

void
sl_timeline_layers(const sl_model *model, const sl_plan *plan, uint32_t stage, uint32_t chunk,
                   uint32_t *first, uint32_t *end)
{
    const uint32_t held = sl_schedule_chunk(plan, stage, chunk);

    *first = sl_schedule_chunk_begin(model, plan, held);
    *end = sl_schedule_chunk_begin(model, plan, held + 1);
}
