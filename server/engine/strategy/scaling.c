#include "engine/strategy/scaling.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "engine/answer/evaluate.h"
#include "engine/placement/ranks.h"
#include "engine/placement/states.h"

enum { NODE_DOUBLINGS = 16, BATCH_DOUBLINGS = 10 };

/* A share of the step that is worth naming as a limit. */
static const double noticed_ratio = 0.1;

/* Of a plan that is legal; false where it is not, or no device could hold it. */
static bool
evaluate(const sl_question *question, const sl_combination *c, sl_estimate *out)
{
    sl_question asked = *question;
    sl_errors ignored = {.terse = true};
    sl_priced priced;

    asked.workload = c->workload;
    asked.plan = c->plan;
    asked.unknown = 0;
    if (sl_question_check(&asked, &ignored) != SL_OK)
        return false;
    sl_evaluate_price(&asked, c, SL_CLOCK_HELD, &priced);
    return sl_evaluate(&asked, c, &priced, out);
}

/* The same batch over more replicas: a micro-batch is at most what one of them has. */
static uint64_t
find_exposed(const sl_question *question, const sl_combination *now, sl_estimate *scratch)
{
    sl_cluster cluster = *question->cluster;
    sl_question asked = *question;
    sl_combination c = *now;

    asked.cluster = &cluster;
    cluster.nodes = 1;
    cluster.pool_count = 0; /* nodes of what all pools have in common */
    for (uint32_t i = 0; i < NODE_DOUBLINGS; i++, cluster.nodes *= 2) {
        uint64_t data = 0;
        if (!sl_plan_derive_data(&cluster, &now->plan, &data) || data < 2)
            continue;
        c.plan.data = (uint32_t)data;
        const uint64_t each = now->workload.global_batch / data;
        c.workload.micro_batch =
            now->workload.micro_batch < each ? now->workload.micro_batch : each;
        if (each == 0 || !evaluate(&asked, &c, scratch))
            continue;
        const sl_time *time = &scratch->time;
        if (time->terms[SL_TERM_DATA_COMMUNICATION - SL_TERM_FORWARD].value >
            noticed_ratio * time->step_s)
            return (uint64_t)cluster.nodes * cluster.accelerators_per_node;
    }
    return 0;
}

static uint64_t
find_batch(const sl_question *question, const sl_combination *now, sl_estimate *scratch)
{
    sl_combination c = *now;

    for (uint32_t i = 0; i < BATCH_DOUBLINGS; i++, c.workload.global_batch *= 2)
        if (evaluate(question, &c, scratch) && scratch->time.bubble_ratio <= noticed_ratio)
            return c.workload.global_batch;
    return 0;
}

/* In the words of the check: the others of the plan stay as they are. */
static uint64_t
find_tensor(const sl_question *question, const sl_combination *now)
{
    const uint64_t domain = sl_collective_domain(question->cluster);
    uint64_t values[SL_CHOICES_MAX];
    sl_question asked = *question;
    uint64_t most = 1;

    asked.workload = now->workload;
    asked.plan = now->plan;
    asked.unknown = 0;
    const uint32_t count = sl_question_choices(&asked, SL_CHOICE_TENSOR, values);
    for (uint32_t i = 0; i < count; i++)
        if (values[i] <= domain && values[i] > most)
            most = values[i];
    return most;
}

/* Parameters, gradients, master weights and optimizer states of one layer, whole. */
static uint64_t
find_largest_layer(const sl_question *question, const sl_combination *now)
{
    sl_priced priced;
    double most = 0.0;

    sl_evaluate_price(question, now, SL_CLOCK_HELD, &priced);
    for (uint32_t i = 0; i < question->model->layer_count; i++) {
        sl_stage stage = {.blocks = 1};
        stage.layers[question->model->layers[i]] = 1;
        const sl_elements elements = sl_states_stage(question->model, priced.prices, &stage);
        const sl_layout layout = sl_states_layout(&now->workload, &now->plan, &elements);
        most = fmax(most, elements.all * (layout.parameter_bytes + layout.gradient_bytes +
                                          layout.master_bytes + layout.optimizer_bytes));
    }
    return (uint64_t)most;
}

void
sl_scaling_measure(const sl_question *question, const sl_estimate *answer, sl_estimate *scratch,
                   sl_scaling *out)
{
    const sl_combination now = {answer->software, answer->workload, answer->plan};
    const sl_plan *plan = &answer->plan;
    const sl_model *model = question->model;
    const bool naive = plan->schedule == SL_SCHEDULE_NAIVE;
    const uint64_t layers = model->layer_count;

    *out = (sl_scaling){
        .exposed_ratio = answer->time.exposed_communication_s / answer->time.step_s,
        .replicas_limit = answer->workload.global_batch,
        .microbatches = sl_plan_microbatches(&answer->workload, plan),
    };
    if (answer->workload.framework == SL_FRAMEWORK_DP &&
        question->cluster->accelerators_per_node < out->replicas_limit)
        out->replicas_limit = question->cluster->accelerators_per_node;
    if (plan->data > 1)
        out->data_exposed_from = find_exposed(question, &now, scratch);
    if (plan->tensor > 1)
        out->tensor_limit = find_tensor(question, &now);
    if (plan->pipeline == 1)
        return;
    out->stages_limit = layers < SL_PIPELINE_MAX ? layers : SL_PIPELINE_MAX;
    if (naive)
        out->largest_layer_bytes = find_largest_layer(question, &now);
    else
        out->small_bubble_batch = find_batch(question, &now, scratch);
}

void
sl_failure_measure(const sl_estimate *answer, sl_failure *out)
{
    const sl_term *goodput = &answer->figures[SL_TERM_GOODPUT - SL_TERM_USABLE];
    const sl_plan *plan = &answer->plan;
    const bool alone = answer->workload.framework == SL_FRAMEWORK_DP; /* one process has them all */
    const bool whole = !sl_states_divides_masters(&answer->workload, plan);
    const uint64_t group = whole ? 1 : sl_plan_sharers(plan);

    *out = (sl_failure){
        .ranks_stopped = sl_plan_world(plan),
        .copies_left = alone ? 0 : plan->data / group - 1,
        .mean_time_between_failures_s = sl_term_input(goodput, "mean_time_between_failures_s"),
        .seconds_lost = sl_term_input(goodput, "lost_s"),
    };
}

/* The group of a row; false for hosts, copies and ends of a pipeline. */
static bool
group_of(const sl_question *question, const sl_estimate *answer, const char *name, sl_group *out)
{
    const sl_cluster *cluster = question->cluster;
    const sl_plan *plan = &answer->plan;
    static const char *const names[] = {
        [SL_AXIS_TENSOR] = "tensor", [SL_AXIS_CONTEXT] = "context",
        [SL_AXIS_SHARD] = "data",    [SL_AXIS_REPLICAS] = "replicas",
        [SL_AXIS_EXPERT] = "expert", [SL_AXIS_EXPERT_TENSOR] = "expert_tensor",
    };

    for (sl_axis axis = 0; axis < sizeof names / sizeof names[0]; axis++) {
        if (strcmp(name, names[axis]) == 0) {
            *out = sl_ranks_group(cluster, plan, axis);
            return true;
        }
    }
    if (strcmp(name, "pipeline") != 0)
        return false;
    *out = sl_ranks_between(cluster, plan, 0, 1);
    return true;
}

double
sl_scaling_latency_s(const sl_question *question, const sl_estimate *answer,
                     const sl_communication *row)
{
    sl_group group;

    if (!group_of(question, answer, row->group, &group))
        return 0.0;
    return sl_collective_s(question->cluster, row->collective, &group, 1.0);
}
