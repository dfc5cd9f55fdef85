/* Fields that were said and change nothing in the plan that they are said of. */
#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "base/text.h"
#include "codec/question/question_parts.h"
#include "engine/placement/states.h"

typedef bool (*rule)(const sl_estimate_request *request);

static bool
has_one_context(const sl_estimate_request *r)
{
    return r->plan.context == 1;
}

static bool
has_one_stage(const sl_estimate_request *r)
{
    return r->plan.pipeline == 1;
}

static bool
has_one_stage_and_order(const sl_estimate_request *r)
{
    return has_one_stage(r) && r->plan.schedule != SL_SCHEDULE_1F1B;
}

static bool
has_one_tensor_rank(const sl_estimate_request *r)
{
    return r->plan.tensor == 1;
}

static bool
gathers_nothing(const sl_estimate_request *r)
{
    return sl_framework_replicates(r->workload.framework);
}

/* DeepSpeed gathers what it updated as the last of its step, unless modules gather what they need. */
static bool
gathers_in_step(const sl_estimate_request *r)
{
    return (r->unknown & (uint32_t)SL_UNKNOWN_ZERO_STAGE) == 0 &&
           r->workload.framework == SL_FRAMEWORK_DEEPSPEED && r->plan.zero_stage < 3;
}

static bool
has_no_units(const sl_estimate_request *r)
{
    return !sl_framework_is_fsdp(r->workload.framework);
}

static bool
divides_nothing(const sl_estimate_request *r)
{
    return (r->unknown & (uint32_t)SL_UNKNOWN_ZERO_STAGE) == 0 &&
           sl_framework_is_fsdp(r->workload.framework) && r->plan.zero_stage == 0;
}

static bool
keeps_activations(const sl_estimate_request *r)
{
    return !r->workload.offload.activations;
}

static bool
steps_on_the_device(const sl_estimate_request *r)
{
    return !r->workload.offload.optimizer;
}

static bool
has_narrow_adapters(const sl_estimate_request *r)
{
    return r->workload.adapter.half;
}

/* "within" is a member of the object, or NULL for the object itself. */
static const struct {
    bool of_plan;
    const char *within, *member;
    rule is_idle;
    const char *reason;
} fields[] = {
    {true, NULL, "context_kind", has_one_context, "context is 1"},
    {true, NULL, "schedule", has_one_stage_and_order, "pipeline is 1"},
    {true, "overlap", "p2p", has_one_stage, "pipeline is 1"},
    {true, "overlap", "tensor", has_one_tensor_rank, "tensor is 1"},
    {true, "overlap", "param_gather", gathers_nothing, "nothing is gathered"},
    {true, "overlap", "param_gather", gathers_in_step, "the step waits for it"},
    {true, NULL, "fsdp_unit", has_no_units, "not fsdp"},
    {true, NULL, "reshard_after_forward", divides_nothing, "nothing is sharded"},
    {false, "offload", "activation_layers", keeps_activations, "activations stay"},
    {false, "offload", "optimizer_fraction", steps_on_the_device, "the optimizer stays"},
    {false, "adapter", "autocast", has_narrow_adapters, "adapters are in 16 bits"},
    {false, "adapter", "sequence_parallel_input_regather", has_one_tensor_rank, "tensor is 1"},
};

static bool
is_said(const sl_estimate_request *request, size_t i)
{
    const sl_node *object =
        fields[i].of_plan ? &request->parallelism_object : &request->workload_object;
    sl_node within, member;

    if (object->value == NULL)
        return false;
    if (fields[i].within == NULL)
        return sl_node_member(object, fields[i].member, &member);
    return sl_node_member(object, fields[i].within, &within) &&
           sl_node_kind(&within) == SL_JSON_OBJECT &&
           sl_node_member(&within, fields[i].member, &member);
}

void
sl_question_note_idle(sl_estimate_request *request)
{
    enum { LONGEST = 80 }; /* of one field with its reason */
    char text[sizeof request->notes.list[0].text - 40] = "";
    size_t used = 0;

    assert(request != NULL);
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (!is_said(request, i) || !fields[i].is_idle(request))
            continue;
        if (used + LONGEST > sizeof text) {
            (void)sl_text_format(text + used, sizeof text - used, ", and more");
            break;
        }
        (void)sl_text_format(text + used, sizeof text - used, "%s%s%s%s (%s)", used > 0 ? ", " : "",
                             fields[i].within ? fields[i].within : "", fields[i].within ? "." : "",
                             fields[i].member, fields[i].reason);
        used = strlen(text);
    }
    if (used > 0)
        sl_notes_add(&request->notes, "fields_without_effect", false,
                     "change nothing in this plan: %s", text);
}
