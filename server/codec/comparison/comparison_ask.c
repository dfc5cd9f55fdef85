#include "codec/comparison/comparison_ask.h"

#include <assert.h>

#include "base/text.h"
#include "codec/question/names.h"
#include "codec/question/question_parts.h"
#include "engine/placement/adapter.h"
#include "json/members.h"

static bool
has(const sl_node *object, const char *name)
{
    sl_node ignored;

    return object->value != NULL && sl_node_member(object, name, &ignored);
}

/* Names of strategies, of which the request's own plan needs one. */
static sl_code
read_strategies(sl_estimate_request *request, const sl_node *list, sl_errors *err)
{
    sl_code first = SL_OK;
    sl_node entry;

    if (sl_node_kind(list) != SL_JSON_ARRAY || sl_node_count(list) == 0 ||
        sl_node_count(list) > SL_STRATEGY_COUNT)
        return sl_node_fail(list, err, SL_E_RANGE, "wrong_type",
                            "must be a list of 1 to %d names of strategies", SL_STRATEGY_COUNT);
    request->strategies = 0;
    for (size_t i = 0; sl_node_at(list, i, &entry); i++) {
        uint32_t name = 0;
        const sl_code code =
            sl_node_as_choice(&entry, sl_strategy_names.list, sl_strategy_names.count, &name, err);
        sl_keep(&first, code);
        if (code != SL_OK)
            continue;
        request->strategies |= 1u << name;
        if (name == SL_STRATEGY_GIVEN && request->parallelism_object.value == NULL)
            sl_keep(&first,
                    sl_node_fail(&entry, err, SL_E_RANGE, "required_field",
                                 "stands for the plan of the request: parallelism is missing"));
    }
    return first;
}

sl_code
sl_question_read_comparison(sl_estimate_request *request, sl_errors *err)
{
    assert(request != NULL && err != NULL);

    const uint32_t all = (1u << SL_STRATEGY_COUNT) - 1;
    const bool planned = request->parallelism_object.value != NULL;
    const bool tuned = sl_request_tunes(request);
    bool said = false;
    sl_node list;

    if (sl_question_has_pools(request))
        sl_notes_add(&request->notes, "pools_in_common", true,
                     "what limits scaling, and how large the model is for one device, is told of "
                     "what all pools have in common");
    request->of = tuned ? SL_COMPARISON_OF_FINETUNING : SL_COMPARISON_OF_STRATEGIES;
    sl_code first =
        sl_names_read(&request->root, "of", &sl_comparison_names, &request->of, &said, err);
    request->strategies = planned ? all : all & ~(1u << SL_STRATEGY_GIVEN);
    if (!sl_node_member(&request->root, "strategies", &list))
        return first;
    if (!said)
        request->of = SL_COMPARISON_OF_STRATEGIES;
    sl_keep(&first, read_strategies(request, &list, err));
    if (request->of == SL_COMPARISON_OF_FINETUNING) {
        sl_keep(&first, sl_node_fail(&list, err, SL_E_RANGE, "conflicting_fields",
                                     "goes with \"of\": \"strategies\""));
        sl_hint(err, "leave one of them out");
    }
    return first;
}

static sl_releases
releases_of(const sl_catalog *catalog, uint32_t framework)
{
    sl_releases found = {NULL, 0};

    found.list = sl_catalog_open_software(catalog, sl_framework_profiles(framework), &found.count);
    assert(found.list != NULL);
    return found;
}

sl_comparison_ask
sl_comparison_request_ask(const sl_estimate_request *request, const sl_model *model,
                          const sl_catalog *catalog, sl_comparison_questions *questions)
{
    assert(questions != NULL && catalog != NULL);

    const sl_node *const plan = &request->parallelism_object;
    questions->given = sl_estimate_request_question(request, model);
    questions->open = questions->given;
    if (!has(&request->workload_object, "micro_batch_size"))
        questions->open.unknown |= SL_UNKNOWN_MICRO_BATCH;

    sl_comparison_ask ask = {
        .question = &questions->open,
        .given = plan->value != NULL ? &questions->given : NULL,
        .predicts = request->mtp,
    };
    for (uint32_t f = 0; f < SL_FRAMEWORK_COUNT; f++)
        ask.releases[f] = f == (uint32_t)request->workload.framework
                              ? (sl_releases){request->software, request->software_count}
                              : releases_of(catalog, f);
    return ask;
}

/* Nobody fine-tunes with Megatron without saying so. */
static void
take_ddp(const sl_estimate_request *request, const sl_catalog *catalog, sl_question *q)
{
    const sl_releases releases = releases_of(catalog, SL_FRAMEWORK_DDP);
    sl_node adapter;

    q->workload.framework = SL_FRAMEWORK_DDP;
    q->software = releases.list;
    q->software_count = releases.count;
    q->unknown &= ~(uint32_t)(SL_UNKNOWN_SOFTWARE | SL_UNKNOWN_ZERO_STAGE);
    if (releases.count > 1)
        q->unknown |= SL_UNKNOWN_SOFTWARE;
    q->plan.zero_stage = 0;
    q->plan.expert_tensor = 1;
    if (sl_node_member(&request->workload_object, "adapter", &adapter) && !has(&adapter, "dtype"))
        q->workload.adapter.half = sl_adapter_half_by_default(&q->workload);
}

sl_question
sl_tuning_request_question(const sl_estimate_request *request, const sl_model *model,
                           const sl_catalog *catalog)
{
    const sl_node *const workload = &request->workload_object;
    sl_question q = sl_estimate_request_question(request, model);

    if (request->parallelism_object.value == NULL && !has(workload, "framework") &&
        !has(workload, "software") && !request->mtp)
        take_ddp(request, catalog, &q);
    if ((q.unknown & SL_UNKNOWN_MICRO_BATCH) != 0)
        q.workload.micro_batch = 1;
    return q;
}
