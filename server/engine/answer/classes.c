#include "shardline/classes.h"

#include <assert.h>

#include "engine/answer/evaluate.h"
#include "engine/answer/step_parts.h"

static sl_class
class_of(sl_operator_kind kind)
{
    switch (kind) {
    case SL_OPERATOR_MATMUL:
    case SL_OPERATOR_PLAIN:
        return SL_CLASS_PRODUCTS;
    case SL_OPERATOR_ATTENTION:
        return SL_CLASS_ATTENTION;
    case SL_OPERATOR_LOOKUP:
        return SL_CLASS_EMBEDDING;
    case SL_OPERATOR_LOSS:
        return SL_CLASS_LOSS;
    case SL_OPERATOR_NORM:
    case SL_OPERATOR_ROTARY:
    case SL_OPERATOR_ACTIVATION:
    case SL_OPERATOR_RESIDUAL:
    case SL_OPERATOR_ROUTE:
    case SL_OPERATOR_SCAN:
        return SL_CLASS_STREAMING;
    case SL_OPERATOR_KIND_COUNT:
        break;
    }
    assert(false);
    return SL_CLASS_COUNT;
}

/* The stage whose terms the step is made of. */
static uint32_t
slowest_stage(const sl_estimate *estimate)
{
    const sl_term *term = &estimate->time.terms[0];

    assert(term->id == SL_TERM_FORWARD && sl_term_find(term, "slowest_stage") < term->input_count);
    return (uint32_t)sl_term_input(term, "slowest_stage");
}

/* `layers` of one kind, of which `again` are rebuilt. */
static void
add_kind(const sl_memory_case *c, uint32_t kind, double layers, double again,
         double out[SL_CLASS_COUNT])
{
    const sl_layer_kind *of = &c->question->model->kinds[kind];

    for (uint32_t i = 0; i < of->operator_count; i++) {
        sl_kind_price price;

        sl_price_one(c->cluster, c->plan, c->slice, of, i, &price);
        out[class_of(of->operators[i].kind)] +=
            layers * (price.forward_s + price.backward_s) + again * price.again.forward_s;
    }
}

void
sl_classes_predict(const sl_question *question, const sl_estimate *estimate,
                   double out[SL_CLASS_COUNT])
{
    const sl_model *model = question->model;
    sl_known of;

    sl_evaluate_know(question, estimate, &of);
    const uint32_t rank = slowest_stage(estimate);
    sl_memory_case space;
    const sl_memory_case *c = sl_case_is_spread(&of.c)
                                  ? sl_case_of_pool(&of.c, estimate->time.slowest_pool, &space)
                                  : sl_case_of_stage(&of.c, rank, &space);
    const sl_held held = sl_schedule_all_held(of.c.plan, rank);
    const sl_stage *stage = &sl_holding_of(of.c.holdings, rank)->stage;
    const double runs =
        (double)sl_plan_microbatches(of.c.workload, of.c.plan) / sl_schedule_copies(of.c.plan);

    for (uint32_t i = 0; i < SL_CLASS_COUNT; i++)
        out[i] = 0.0;
    for (uint32_t k = 0; k < model->kind_count; k++) {
        if (stage->layers[k] == 0)
            continue;
        const double again = sl_step_layers_again(c, &held, stage, k);
        add_kind(c, k, runs * stage->layers[k], runs * again, out);
    }
}
