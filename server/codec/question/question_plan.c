#include <assert.h>

#include "base/text.h"
#include "codec/question/names.h"
#include "codec/question/operating.h"
#include "codec/question/placement.h"
#include "codec/question/question_parts.h"
#include "json/members.h"

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

static const sl_member plan_members[] = {
    {"tensor", NULL},
    {"sequence", NULL},
    {"pipeline", NULL},
    {"virtual_pipeline", NULL},
    {"context", NULL},
    {"expert", NULL},
    {"expert_tensor", NULL},
    {"data", NULL},
    {"zero_stage", NULL},
    {"schedule", NULL},
    {"replicate", NULL},
    {"order", NULL},
    {"sharding", NULL},
    {"shard_group", NULL},
    {"pipeline_layout", NULL},
    {"placement", NULL},
    {"reshard_after_forward", NULL},
    {"gradient_sync", NULL},
    {"fsdp_unit", NULL},
    {"gather_dtype", NULL},
    {"context_kind", NULL},
    {"overlap", NULL},
    {"grad_reduce_dtype", NULL},
};

static sl_code
read_degree(const sl_node *object, const char *name, uint32_t *out, sl_errors *err)
{
    uint64_t value = *out;
    const sl_code code = sl_node_uint(object, name, 1, SL_PARALLEL_MAX, &value, NULL, err);
    *out = (uint32_t)value;
    return code;
}

/* A ring in Megatron, a gather in torchtitan, an exchange in DeepSpeed (Ulysses). */
static sl_context_kind
own_context_kind(sl_framework framework)
{
    return framework == SL_FRAMEWORK_FSDP2       ? SL_CONTEXT_GATHER
           : framework == SL_FRAMEWORK_DEEPSPEED ? SL_CONTEXT_EXCHANGE
                                                 : SL_CONTEXT_RING;
}

static sl_code
read_context_kind(sl_estimate_request *request, sl_errors *err)
{
    uint32_t kind = request->plan.context_kind;
    bool said = false;
    const sl_code code = sl_names_read(&request->parallelism_object, "context_kind",
                                       &sl_context_names, &kind, &said, err);
    request->plan.context_kind = (sl_context_kind)kind;
    if (!said && request->plan.context > 1)
        sl_notes_add(&request->notes, "context_kind_assumed", false,
                     "context_kind was not given: %s", sl_name(&sl_context_names, kind));
    return code;
}

static sl_code
read_data(sl_estimate_request *request, sl_errors *err)
{
    const sl_node *const object = &request->parallelism_object;
    sl_node member;
    const char *word = NULL;
    if (!sl_node_member(object, "data", &member)) {
        request->data_auto = true;
        return SL_OK;
    }
    if (sl_node_kind(&member) != SL_JSON_TEXT)
        return read_degree(object, "data", &request->plan.data, err);
    const sl_code code = sl_node_as_text(&member, &word, err);
    if (code == SL_OK && sl_text_equal(word, "auto")) {
        request->data_auto = true;
        return SL_OK;
    }
    (void)sl_node_fail(&member, err, SL_E_RANGE, "unknown_value",
                       "must be a number or \"auto\", got \"%.60s\"", word);
    sl_hint(err, "auto");
    return SL_E_RANGE;
}

static sl_code
read_zero_stage(sl_estimate_request *request, sl_errors *err)
{
    const sl_node *const object = &request->parallelism_object;
    uint64_t stage = 0;
    bool said = false;
    const sl_code code = sl_node_uint(object, "zero_stage", 0, 3, &stage, &said, err);
    if (code != SL_OK)
        return code;
    request->plan.zero_stage = (uint32_t)stage;
    if (!said)
        request->unknown |= SL_UNKNOWN_ZERO_STAGE;
    return SL_OK;
}

/* Once the stage is settled, which a number or a word may say. */
static void
note_accounting(sl_estimate_request *request)
{
    if (sl_estimate_accounting_alone(request) && request->source != SL_MODEL_FROM_PARAMETERS)
        sl_notes_add(&request->notes, "accounting_alone", true,
                     "megatron has no ZeRO stages 2 and 3: they are answered by the accounting "
                     "alone: activations, buffers and context are not counted, and fits speaks of "
                     "states only");
}

/* FSDP's word for stage and group in one; numbers beside it must say the same. */
static sl_code
read_sharding(sl_estimate_request *request, sl_errors *err)
{
    const sl_node *const object = &request->parallelism_object;
    uint32_t word = 0;
    bool said = false;
    const sl_code code = sl_names_read(object, "sharding", &sl_sharding_names, &word, &said, err);
    if (code != SL_OK || !said)
        return code;
    const bool stage_open = (request->unknown & SL_UNKNOWN_ZERO_STAGE) != 0;
    const uint32_t stage = sl_sharding_stage(word);
    if (!stage_open && request->plan.zero_stage != stage) {
        const sl_code refused = sl_node_fail_at(
            object, "sharding", err, SL_E_RANGE, "conflicting_fields",
            "is zero_stage %u, but zero_stage says %u", stage, request->plan.zero_stage);
        sl_hint(err, "leave one of them out");
        return refused;
    }
    request->plan.zero_stage = stage;
    request->unknown &= ~(uint32_t)SL_UNKNOWN_ZERO_STAGE;
    request->sharding_said = true;
    request->hybrid = sl_sharding_is_hybrid(word);
    return SL_OK;
}

/* How many ranks share one copy of the states, or how many copies there are: one says the other. */
static sl_code
read_shard_group(sl_estimate_request *request, sl_errors *err)
{
    const sl_node *const object = &request->parallelism_object;
    uint64_t group = 0, copies = 0;
    bool said = false, copies_said = false, reshard = false;
    sl_code first = sl_node_uint(object, "shard_group", 1, SL_PARALLEL_MAX, &group, &said, err);
    sl_keep(&first,
            sl_node_uint(object, "replicate", 1, SL_PARALLEL_MAX, &copies, &copies_said, err));
    if (said && copies_said) {
        sl_keep(&first, sl_node_fail_at(object, "replicate", err, SL_E_RANGE, "conflicting_fields",
                                        "says what shard_group says: give one of them"));
        sl_hint(err, "leave one of them out");
    }
    request->plan.shard_group = (uint32_t)group;
    request->copies = (uint32_t)copies;
    said = false;
    sl_keep(&first, sl_node_bool(object, "reshard_after_forward", &reshard, &said, err));
    if (said)
        request->plan.reshard = reshard ? SL_RESHARD_ALWAYS : SL_RESHARD_NEVER;
    return first;
}

/* Absent: what the framework does by itself. */
static sl_code
read_gradient_sync(sl_estimate_request *request, sl_errors *err)
{
    uint32_t word = 0;
    bool said = false;
    const sl_code code = sl_names_read(&request->parallelism_object, "gradient_sync",
                                       &sl_gradient_sync_names, &word, &said, err);
    if (code != SL_OK || !said)
        return code;
    request->plan.gradient_sync = (sl_gradient_sync)(SL_GRADIENT_SYNC_EACH + word);
    if (request->accounting != SL_ACCOUNTING_EXACT)
        sl_notes_add(&request->notes, "gradient_sync_not_counted", true,
                     "an accounting's communication is the paper's: gradients that are divided are "
                     "reduced with every micro-batch, whatever gradient_sync says");
    return SL_OK;
}

/* Absent: what virtual_pipeline asks for. Whether the two go together is the engine's to judge. */
static sl_code
read_schedule(sl_estimate_request *request, sl_errors *err)
{
    sl_plan *const plan = &request->plan;
    uint32_t schedule =
        plan->virtual_pipeline > 1 ? SL_SCHEDULE_INTERLEAVED_1F1B : SL_SCHEDULE_1F1B;
    const sl_code code = sl_names_read(&request->parallelism_object, "schedule", &sl_schedule_names,
                                       &schedule, &request->schedule_said, err);
    plan->schedule = (sl_schedule)schedule;
    if (plan->schedule == SL_SCHEDULE_ZB_V && plan->virtual_pipeline == 1)
        plan->virtual_pipeline = 2; /* of the schedule: one chunk there, one back */
    sl_node member;
    if (code != SL_OK || plan->schedule != SL_SCHEDULE_INTERLEAVED_1F1B ||
        sl_node_member(&request->parallelism_object, "virtual_pipeline", &member))
        return code;
    const sl_code missing =
        sl_node_fail_at(&request->parallelism_object, "virtual_pipeline", err, SL_E_RANGE,
                        "required_field", "must be given with interleaved_1f1b, above 1");
    sl_hint(err, "2");
    return missing;
}

static sl_code
read_layout(sl_estimate_request *request, sl_errors *err)
{
    sl_plan *const plan = &request->plan;
    sl_node layout;
    sl_node entry;
    if (!sl_node_member(&request->parallelism_object, "pipeline_layout", &layout))
        return SL_OK;
    if (sl_node_kind(&layout) != SL_JSON_ARRAY)
        return sl_node_fail(&layout, err, SL_E_RANGE, "wrong_type",
                            "must be a list with the blocks of each chunk");
    if (sl_node_count(&layout) > SL_LAYOUT_CHUNKS_MAX)
        return sl_node_fail(&layout, err, SL_E_UNSUPPORTED, "not_modelled",
                            "at most %d chunks are modelled, got %zu", SL_LAYOUT_CHUNKS_MAX,
                            sl_node_count(&layout));
    for (size_t i = 0; sl_node_at(&layout, i, &entry); i++) {
        uint64_t blocks = 0;
        const sl_code code = sl_node_as_uint(&entry, 0, SL_MODEL_LAYERS_MAX, &blocks, err);
        if (code != SL_OK)
            return code;
        plan->layout[i] = (uint16_t)blocks;
        plan->layout_chunks = (uint32_t)i + 1;
    }
    return SL_OK;
}

/* Degrees are choices of the user, not facts to find out: without one there is none. */
static void
note_degrees(sl_estimate_request *request)
{
    static const char *const degrees[] = {"tensor", "pipeline"};
    const sl_node *const object = &request->parallelism_object;
    sl_node member;
    if (request->source == SL_MODEL_FROM_PARAMETERS || request->purpose == SL_PURPOSE_SEARCH)
        return;
    for (size_t i = 0; i < COUNT(degrees); i++) {
        if (object->value == NULL || !sl_node_member(object, degrees[i], &member))
            sl_notes_add(&request->notes, "degrees_assumed", false,
                         "parallel degrees that were not given are 1, data takes the rest");
    }
}

sl_code
sl_question_read_plan(sl_estimate_request *request, sl_errors *warnings, sl_errors *err)
{
    assert(request != NULL && err != NULL);

    sl_plan *const plan = &request->plan;
    *plan = (sl_plan){.tensor = 1,
                      .pipeline = 1,
                      .virtual_pipeline = 1,
                      .context = 1,
                      .context_kind = own_context_kind(request->workload.framework),
                      .expert = 1,
                      .data = 1,
                      .overlap_experts = plan->overlap_experts /* the workload's "moe" said it */};
    const sl_node *const object = &request->parallelism_object;
    note_degrees(request);
    if (object->value == NULL) { /* everything is open or 1 */
        request->data_auto = true;
        request->unknown |= SL_UNKNOWN_ZERO_STAGE;
        return SL_OK;
    }
    sl_code first = sl_node_object(object, err);
    if (first != SL_OK)
        return first;

    bool said = false;
    sl_keep(&first, sl_members_check(object, plan_members, COUNT(plan_members), warnings, err));
    sl_keep(&first, read_degree(object, "tensor", &plan->tensor, err));
    sl_keep(&first, read_degree(object, "pipeline", &plan->pipeline, err));
    sl_keep(&first, read_degree(object, "virtual_pipeline", &plan->virtual_pipeline, err));
    sl_keep(&first, read_degree(object, "context", &plan->context, err));
    sl_keep(&first, read_context_kind(request, err));
    sl_keep(&first, read_degree(object, "expert", &plan->expert, err));
    uint32_t expert_tensor = 0;
    sl_keep(&first, read_degree(object, "expert_tensor", &expert_tensor, err));
    plan->expert_tensor = expert_tensor;
    sl_keep(&first, read_data(request, err));
    sl_keep(&first, read_zero_stage(request, err));
    sl_keep(&first, read_sharding(request, err));
    note_accounting(request);
    sl_keep(&first, read_shard_group(request, err));
    sl_keep(&first, read_gradient_sync(request, err));
    sl_keep(&first, read_schedule(request, err));
    sl_keep(&first, read_layout(request, err));
    sl_keep(&first, sl_placement_read(object, plan, warnings, err));
    sl_keep(&first, sl_question_read_traffic(request, warnings, err));
    sl_keep(&first, sl_node_bool(object, "sequence", &plan->sequence, &said, err));
    request->sequence_said = said;
    /* One rank has nothing to split along the sequence: nothing is open then. */
    if (!said && plan->tensor > 1)
        request->unknown |= SL_UNKNOWN_SEQUENCE;
    return first;
}
