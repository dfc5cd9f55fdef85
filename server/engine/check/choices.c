/* Legal values of one field of a plan, by asking the check. */
#include "engine/check/choices.h"

#include <assert.h>

#include "engine/schedule/schedule.h"

const char *const sl_choice_names[SL_CHOICE_COUNT] = {
    [SL_CHOICE_TENSOR] = "tensor",
    [SL_CHOICE_PIPELINE] = "pipeline",
    [SL_CHOICE_VIRTUAL_PIPELINE] = "virtual_pipeline",
    [SL_CHOICE_CONTEXT] = "context",
    [SL_CHOICE_EXPERT] = "expert",
    [SL_CHOICE_DATA] = "data",
    [SL_CHOICE_MICRO_BATCH] = "micro_batch_size",
    [SL_CHOICE_ZERO_STAGE] = "zero_stage",
};

void
sl_choice_set(sl_question *question, sl_choice field, uint64_t value)
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

uint64_t
sl_choice_first(sl_choice field)
{
    return field == SL_CHOICE_ZERO_STAGE ? 0 : 1;
}

uint64_t
sl_choice_last(const sl_question *question, sl_choice field)
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

bool
sl_choice_derive(sl_question *question)
{
    uint64_t data = 0;

    if (!sl_plan_derive_data(question->cluster, &question->plan, &data))
        return false;
    question->plan.data = (uint32_t)data;
    return true;
}

bool
sl_choice_is_uneven(const sl_question *question, const sl_question *tried)
{
    const sl_plan *now = &question->plan;
    const sl_plan *then = &tried->plan;

    return (now->pipeline != then->pipeline || now->virtual_pipeline != then->virtual_pipeline) &&
           sl_schedule_split(question->model, then) == SL_SPLIT_UNEVEN;
}

/* Values of one field that pass; stages of unequal numbers of layers only when `uneven`. */
static uint32_t
values_that_pass(const sl_question *question, sl_choice field, bool uneven,
                 uint64_t out[SL_CHOICES_MAX])
{
    uint64_t first = sl_choice_first(field);
    uint64_t last = sl_choice_last(question, field);
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
        sl_choice_set(&tried, field, value);
        if (!sl_choice_derive(&tried) || (!uneven && sl_choice_is_uneven(question, &tried)))
            continue;
        if (sl_question_check(&tried, &ignored) == SL_OK)
            out[count++] = value;
    }
    return count;
}

uint32_t
sl_question_choices(const sl_question *question, sl_choice field, uint64_t out[SL_CHOICES_MAX])
{
    const bool uneven = sl_schedule_split(question->model, &question->plan) == SL_SPLIT_UNEVEN;
    const uint32_t count = values_that_pass(question, field, uneven, out);

    /* Of 61 layers no number of stages but one has equal shares. */
    if (field == SL_CHOICE_PIPELINE && count <= 1 && !uneven)
        return values_that_pass(question, field, true, out);
    return count;
}
