/* Legal values of one field of a plan, by asking the check. */
#include "shardline/plan.h"

#include <assert.h>

#include "engine/schedule/schedule.h"

static void
set_choice(sl_question *question, sl_choice field, uint64_t value)
{
    sl_plan *plan = &question->plan;
    const uint32_t small = (uint32_t)value;

    switch (field) {
    case SL_CHOICE_TENSOR:
        plan->tensor = small;
        break;
    case SL_CHOICE_PIPELINE:
        plan->pipeline = small;
        break;
    case SL_CHOICE_VIRTUAL_PIPELINE:
        plan->virtual_pipeline = small;
        break;
    case SL_CHOICE_CONTEXT:
        plan->context = small;
        break;
    case SL_CHOICE_EXPERT:
        plan->expert = small;
        break;
    case SL_CHOICE_DATA: /* follows from the others */
        break;
    case SL_CHOICE_MICRO_BATCH:
        question->workload.micro_batch = value;
        question->unknown &= ~(uint32_t)SL_UNKNOWN_MICRO_BATCH;
        break;
    case SL_CHOICE_ZERO_STAGE:
        plan->zero_stage = small;
        question->unknown &= ~(uint32_t)SL_UNKNOWN_ZERO_STAGE;
        break;
    case SL_CHOICE_COUNT:
        assert(false);
    }
    /* Of these two chunks say which; the others are asked for, and stay. */
    if (plan->schedule == SL_SCHEDULE_1F1B || plan->schedule == SL_SCHEDULE_INTERLEAVED_1F1B)
        plan->schedule = sl_schedule_of(plan);
}

/* Largest value worth trying: nothing above it can pass a check. */
static uint64_t
choice_limit(const sl_question *question, sl_choice field)
{
    const uint64_t available = sl_cluster_accelerators(question->cluster);

    switch (field) {
    case SL_CHOICE_TENSOR:
        if (sl_model_is_plain(question->model))
            return 1;
        return question->model->heads < available ? question->model->heads : available;
    case SL_CHOICE_PIPELINE:
    case SL_CHOICE_CONTEXT:
        return SL_PIPELINE_MAX < available ? SL_PIPELINE_MAX : available;
    case SL_CHOICE_EXPERT: /* none: only one rank has all of nothing */
        return question->model->experts == 0 ? 1 : question->model->experts;
    case SL_CHOICE_VIRTUAL_PIPELINE:
        return question->model->block_count;
    case SL_CHOICE_MICRO_BATCH:
        return question->workload.global_batch < 1024 ? question->workload.global_batch : 1024;
    default:
        return 3;
    }
}

/* Stages that are not equal are legal and slow: they are offered only to who has them. */
static bool
is_uneven_offer(const sl_question *question, const sl_question *tried)
{
    const sl_plan *now = &question->plan;
    const sl_plan *then = &tried->plan;

    return (now->pipeline != then->pipeline || now->virtual_pipeline != then->virtual_pipeline) &&
           sl_schedule_split(question->model, then) == SL_SPLIT_UNEVEN;
}

uint32_t
sl_question_choices(const sl_question *question, sl_choice field, uint64_t out[SL_CHOICES_MAX])
{
    uint64_t first = field == SL_CHOICE_ZERO_STAGE ? 0 : 1;
    uint64_t last = choice_limit(question, field);
    uint64_t data = 0;
    uint32_t count = 0;

    /* The other degrees leave one value at most: no need to try a hundred thousand. */
    if (field == SL_CHOICE_DATA) {
        if (!sl_plan_derive_data(question->cluster, &question->plan, &data))
            return 0;
        first = last = data;
    }
    for (uint64_t value = first; value <= last && count < SL_CHOICES_MAX; value++) {
        sl_question tried = *question;
        sl_errors ignored;

        if (field == SL_CHOICE_TENSOR && question->model->heads % value != 0)
            continue;
        sl_errors_begin(&ignored, true);
        set_choice(&tried, field, value);
        if (!sl_plan_derive_data(question->cluster, &tried.plan, &data))
            continue;
        tried.plan.data = (uint32_t)data;
        if (is_uneven_offer(question, &tried))
            continue;
        if (sl_question_check(&tried, &ignored) == SL_OK)
            out[count++] = value;
    }
    return count;
}
