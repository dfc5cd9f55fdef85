#include <assert.h>

#include "base/text.h"
#include "codec/question/names.h"
#include "codec/question/profile.h"
#include "codec/question/question_parts.h"
#include "engine/placement/states.h"
#include "json/members.h"

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

static const double LAYOUT_MAX = 64;

static const sl_member workload_members[] = {
    {"kind", NULL},
    {"framework", NULL},
    {"software", NULL},
    {"profile", NULL},
    {"sequence_length", NULL},
    {"global_batch_size", NULL},
    {"micro_batch_size", NULL},
    {"gradient_accumulation", NULL},
    {"precision", NULL},
    {"optimizer", NULL},
    {"recompute", NULL},
    {"attention", NULL},
    {"dropout", NULL},
    {"tokens", NULL},
    {"layout", NULL},
    {"accounting", NULL},
    {"activation_accounting", NULL},
    {"compile", NULL},
    {"cuda_graphs", NULL},
    {"loss", NULL},
    {"activation_profile", NULL},
    {"documents", NULL},
    {"fp8", NULL},
    {"moe", NULL},
    {"mtp", NULL},
    {"optimizer_in_backward", NULL},
    {"expandable_segments", NULL},
    {"adapter", NULL},
    {"offload", NULL},
};

static sl_code
read_layout(const sl_node *workload, sl_layout *out, sl_errors *warnings, sl_errors *err)
{
    static const sl_member members[] = {{"parameter_bytes", NULL},
                                        {"gradient_bytes", NULL},
                                        {"master_weight_bytes", NULL},
                                        {"optimizer_bytes", NULL}};
    sl_node layout;
    if (!sl_node_member(workload, "layout", &layout))
        return SL_OK;
    sl_code first = sl_node_object(&layout, err);
    if (first != SL_OK)
        return first;
    double *const fields[] = {&out->parameter_bytes, &out->gradient_bytes, &out->master_bytes,
                              &out->optimizer_bytes};
    sl_keep(&first, sl_members_check(&layout, members, COUNT(members), warnings, err));
    for (size_t i = 0; i < COUNT(members); i++)
        sl_keep(&first,
                sl_node_double(&layout, members[i].name, 0, LAYOUT_MAX, fields[i], NULL, err));
    return first;
}

/* What DDP or DP holds whole, PyTorch's fully_shard shards with little change to a script. */
static const sl_software *
sharded_of(sl_framework framework, const sl_catalog *catalog)
{
    bool exact = false;

    return sl_framework_replicates(framework)
               ? sl_catalog_find_software(catalog, "pytorch-fsdp2-2.x", &exact)
               : NULL;
}

/* A profile says what its framework is; without one, all profiles of the framework are open. */
static sl_code
read_software(sl_estimate_request *request, const sl_catalog *catalog, bool framework_said,
              sl_errors *err)
{
    const sl_node *const object = &request->workload_object;
    sl_workload *const workload = &request->workload;
    const char *name = NULL;
    bool present = false;
    sl_code code = sl_node_text(object, "software", &name, &present, err);
    if (code != SL_OK)
        return code;
    if (!present) {
        request->software = sl_catalog_open_software(
            catalog, sl_framework_profiles(workload->framework), &request->software_count);
        assert(request->software != NULL);
        if (request->software_count > 1)
            request->unknown |= SL_UNKNOWN_SOFTWARE;
        if (!framework_said && request->source != SL_MODEL_FROM_PARAMETERS)
            sl_notes_add(&request->notes, "framework_assumed", false, "framework was not given: %s",
                         sl_name(&sl_framework_names, workload->framework));
        return SL_OK;
    }

    bool exact = false;
    const sl_software *const found = sl_catalog_find_software(catalog, name, &exact);
    if (found == NULL) {
        code = sl_node_fail_at(object, "software", err, SL_E_UNSUPPORTED, "not_modelled",
                               "no software profile describes \"%.60s\" yet", name);
        sl_hint(err,
                "megatron-lm-2022, nemo-24.07, mbridge-26.04, megatron-core-0.15, pytorch-ddp-2.x, "
                "torchtitan-2024-12, deepspeed-0.x");
        return code;
    }
    const int framework =
        sl_text_index(found->framework, sl_framework_names.list, sl_framework_names.modelled);
    assert(framework >= 0);
    const bool described =
        sl_text_equal(found->framework, sl_framework_profiles(workload->framework));
    if (framework_said && !described) {
        code = sl_node_fail_at(object, "software", err, SL_E_RANGE, "inconsistent",
                               "must be a release of %s, but %s is one of %s",
                               sl_name(&sl_framework_names, workload->framework), found->name,
                               found->framework);
        return code;
    }
    if (!framework_said) {
        workload->framework = (sl_framework)framework;
    }
    request->software = found;
    request->software_count = 1;
    if (!exact)
        sl_notes_add(&request->notes, "software_sibling", false,
                     "%.60s has no profile of its own: %s describes it", name, found->name);
    return SL_OK;
}

static sl_names
all_modelled(const sl_names *names)
{
    sl_names all = *names;
    all.modelled = all.count;
    return all;
}

/* Networks that come as a list of layers are trained with DDP; stages of them need a framework that
 * has a pipeline. */
static uint32_t
default_framework(const sl_estimate_request *request)
{
    const sl_node *const plan = &request->parallelism_object;
    sl_errors ignored = {0};
    uint64_t stages = 1;
    if (request->source != SL_MODEL_FROM_LAYERS)
        return SL_FRAMEWORK_MEGATRON;
    if (plan->value != NULL &&
        sl_node_uint(plan, "pipeline", 0, UINT64_MAX, &stages, NULL, &ignored) != SL_OK)
        return SL_FRAMEWORK_DDP; /* the plan's reader says what is wrong with it */
    return stages > 1 ? SL_FRAMEWORK_MEGATRON : SL_FRAMEWORK_DDP;
}

/* Words first, because software depends on the framework and defaults on each. */
static sl_code
read_words(sl_estimate_request *request, const sl_catalog *catalog, sl_errors *err)
{
    const sl_node *const object = &request->workload_object;
    sl_workload *const workload = &request->workload;
    uint32_t kind = 0, framework = default_framework(request), precision = SL_PRECISION_BF16;
    uint32_t optimizer = SL_OPTIMIZER_ADAMW;
    bool said = false, kind_said = false, framework_said = false;
    /* An accounting is a rule for every kind of work and every framework. */
    const bool counted = request->source == SL_MODEL_FROM_PARAMETERS;
    const sl_names kinds = counted ? all_modelled(&sl_kind_names) : sl_kind_names;

    sl_code first = sl_names_read(object, "kind", &kinds, &kind, &kind_said, err);
    sl_keep(&first, sl_names_read(object, "framework", &sl_framework_names, &framework,
                                  &framework_said, err));
    if (!kind_said && !counted)
        sl_notes_add(&request->notes, "kind_assumed", false, "kind was not given: pretraining");
    request->kind = kind;
    workload->framework = (sl_framework)framework;
    sl_keep(&first, read_software(request, catalog, framework_said, err));
    request->sharded = sharded_of(workload->framework, catalog);

    sl_keep(&first,
            sl_names_read(object, "precision", &sl_precision_names, &precision, &said, err));
    workload->precision = (sl_precision)precision;
    request->precision_open = !said;
    sl_keep(&first,
            sl_names_read(object, "optimizer", &sl_optimizer_names, &optimizer, &said, err));
    workload->optimizer = (sl_optimizer)optimizer;
    if (!said && !counted)
        sl_notes_add(&request->notes, "optimizer_assumed", false, "optimizer was not given: adamw");
    return first;
}

static sl_code
read_dropout(sl_estimate_request *request, sl_errors *err)
{
    const sl_node *const object = &request->workload_object;
    sl_node member;
    if (!sl_node_member(object, "dropout", &member)) {
        request->unknown |= SL_UNKNOWN_DROPOUT;
        return SL_OK;
    }
    if (sl_node_kind(&member) == SL_JSON_BOOL)
        return sl_node_bool(object, "dropout", &request->workload.dropout, NULL, err);
    double probability = 0;
    const sl_code code = sl_node_double(object, "dropout", 0, 1, &probability, NULL, err);
    request->workload.dropout = probability > 0;
    return code;
}

/* One layer more is what is trained: a word or a count of 1 says so. */
static sl_code
read_mtp(sl_estimate_request *request, sl_errors *err)
{
    const sl_node *const object = &request->workload_object;
    sl_node mtp;
    uint64_t layers = 0;
    bool on = false;
    if (!sl_node_member(object, "mtp", &mtp))
        return SL_OK;
    const sl_code code = sl_node_kind(&mtp) == SL_JSON_BOOL
                             ? sl_node_as_bool(&mtp, &on, err)
                             : sl_node_as_uint(&mtp, 0, SL_MODEL_LAYERS_MAX, &layers, err);
    if (code != SL_OK)
        return code;
    if (layers > 1)
        return sl_node_fail(&mtp, err, SL_E_UNSUPPORTED, "not_modelled",
                            "more than one layer for multi-token prediction is not modelled, got "
                            "%llu",
                            (unsigned long long)layers);
    request->mtp = on || layers == 1;
    if (request->mtp && request->workload.framework != SL_FRAMEWORK_MEGATRON) {
        const sl_code refused = sl_node_fail(&mtp, err, SL_E_UNSUPPORTED, "not_modelled",
                                             "multi-token prediction is modelled for megatron");
        sl_hint(err, "false, or framework megatron");
        return refused;
    }
    if (request->mtp)
        sl_notes_add(&request->notes, "mtp_beside_the_head", true,
                     "the layer for multi-token prediction is on the last stage, and recomputation "
                     "leaves it alone: what it keeps is counted whole");
    return SL_OK;
}

/* How the framework runs what it runs. */
static sl_code
read_kernels(sl_estimate_request *request, sl_errors *err)
{
    const sl_node *const object = &request->workload_object;
    sl_workload *const workload = &request->workload;
    uint32_t loss = SL_LOSS_PROFILE, activations = SL_ACTIVATIONS_PROFILE, graphs = SL_GRAPHS_NONE;
    bool said = false;
    sl_code first = sl_names_read(object, "loss", &sl_loss_names, &loss, &said, err);
    sl_keep(&first, sl_names_read(object, "activation_profile", &sl_profile_names, &activations,
                                  &said, err));
    sl_keep(&first, sl_names_read(object, "cuda_graphs", &sl_graph_names, &graphs, &said, err));
    sl_keep(&first, sl_node_bool(object, "compile", &workload->compile, NULL, err));
    sl_keep(&first, sl_node_bool(object, "optimizer_in_backward", &workload->optimizer_in_backward,
                                 NULL, err));
    sl_keep(&first,
            sl_node_bool(object, "expandable_segments", &workload->expandable_segments, NULL, err));
    workload->loss = (sl_loss)loss;
    workload->activations = (sl_activation_profile)activations;
    workload->graphs = (sl_cuda_graphs)graphs;
    if (workload->compile && activations == SL_ACTIVATIONS_EAGER) {
        sl_keep(&first,
                sl_node_fail_at(object, "activation_profile", err, SL_E_RANGE, "conflicting_fields",
                                "is what compile takes away: eager keeps pointwise "
                                "results, generated kernels rebuild them"));
        sl_hint(err, "compiled, or compile false");
    }
    return first;
}

/* A search may have batches to choose from. */
static bool
batch_is_chosen(const sl_estimate_request *request)
{
    sl_node space;
    sl_node batches;
    return request->purpose == SL_PURPOSE_SEARCH &&
           sl_node_member(&request->root, "space", &space) &&
           sl_node_member(&space, "global_batch_size", &batches);
}

static sl_code
read_counts(sl_estimate_request *request, sl_errors *err)
{
    const sl_node *const object = &request->workload_object;
    sl_workload *const workload = &request->workload;
    sl_code first = SL_OK;
    sl_node needed;
    const bool layers = request->source == SL_MODEL_FROM_LAYERS;
    if (request->source != SL_MODEL_FROM_PARAMETERS) {
        if (!layers)
            sl_keep(&first, sl_node_required(object, "sequence_length", &needed, err));
        if (!batch_is_chosen(request))
            sl_keep(&first, sl_node_required(object, "global_batch_size", &needed, err));
    }
    workload->sequence_length = layers; /* one sample; another length is the engine's to refuse */
    bool said = false;
    sl_keep(&first, sl_node_uint(object, "sequence_length", 1, SL_SEQUENCE_LENGTH_MAX,
                                 &workload->sequence_length, NULL, err));
    sl_keep(&first, sl_node_uint(object, "global_batch_size", 1, SL_GLOBAL_BATCH_MAX,
                                 &workload->global_batch, NULL, err));
    sl_keep(&first, sl_node_uint(object, "micro_batch_size", 1, SL_GLOBAL_BATCH_MAX,
                                 &workload->micro_batch, &said, err));
    if (!said)
        request->unknown |= SL_UNKNOWN_MICRO_BATCH;
    sl_keep(&first, sl_node_uint(object, "gradient_accumulation", 1, SL_GLOBAL_BATCH_MAX,
                                 &request->gradient_accumulation, NULL, err));
    sl_keep(&first, sl_node_uint(object, "tokens", 1, 1ULL << 60, &workload->tokens, NULL, err));
    return first;
}

static sl_code
read_accounting(sl_estimate_request *request, sl_errors *err)
{
    sl_accounting *const accounting = &request->accounting;
    sl_activation_accounting *const activations = &request->activation_accounting;
    sl_code code = sl_accounting_read(&request->workload_object, "accounting", accounting, err);
    sl_keep(&code, sl_activation_accounting_read(&request->workload_object, "activation_accounting",
                                                 activations, err));
    if (*activations != SL_ACTIVATION_EXACT &&
        (request->source == SL_MODEL_FROM_PARAMETERS || request->source == SL_MODEL_FROM_LAYERS))
        sl_keep(&code, sl_node_fail_at(&request->workload_object, "activation_accounting", err,
                                       SL_E_RANGE, "model_required",
                                       "is a rule of blocks with a hidden size and heads"));
    if (code != SL_OK || request->source != SL_MODEL_FROM_PARAMETERS ||
        *accounting != SL_ACCOUNTING_EXACT)
        return code;
    const sl_code refused = sl_fail(err, SL_E_RANGE, "required_field", "/workload/accounting",
                                    "must name an accounting: a number of parameters says nothing "
                                    "about layers");
    sl_hint(err, "half-simple, mixed-2-2-12, mixed-2-4-12, fp32-16n, mixed-12n, inference-1.2, "
                 "train-adamw-rule, train-sgd-rule");
    return refused;
}

static sl_code
read_attention(sl_estimate_request *request, sl_errors *err)
{
    bool said = false;
    request->attention_word = SL_ATTENTION_UNFUSED;
    const sl_code code = sl_names_read(&request->workload_object, "attention", &sl_attention_names,
                                       &request->attention_word, &said, err);
    if (!said)
        request->unknown |= SL_UNKNOWN_ATTENTION;
    sl_profile_name_kernel(request, request->attention_word);
    return code;
}

sl_code
sl_question_read_workload(sl_estimate_request *request, const sl_catalog *catalog,
                          sl_errors *warnings, sl_errors *err)
{
    assert(request != NULL && catalog != NULL && err != NULL);

    sl_workload *const workload = &request->workload;
    const sl_node *const object = &request->workload_object;
    *workload = (sl_workload){.micro_batch = 1, .layout = {-1, -1, -1, -1}};
    sl_code first = sl_node_object(object, err);
    if (first != SL_OK)
        return first;

    sl_keep(&first,
            sl_members_check(object, workload_members, COUNT(workload_members), warnings, err));
    sl_keep(&first, read_words(request, catalog, err));
    sl_keep(&first, read_attention(request, err));
    sl_keep(&first, sl_profile_read(request, warnings, err));
    sl_keep(&first, read_counts(request, err));
    sl_keep(&first, sl_question_read_recompute(request, warnings, err));
    sl_keep(&first, read_dropout(request, err));
    sl_keep(&first, sl_question_read_moe(request, warnings, err));
    sl_keep(&first, sl_question_read_fp8(request, warnings, err));
    sl_keep(&first, sl_question_read_adapter(request, warnings, err));
    sl_keep(&first, sl_question_read_offload(request, warnings, err));
    sl_keep(&first, sl_question_read_documents(request, warnings, err));
    sl_keep(&first, read_kernels(request, err));
    sl_keep(&first, read_mtp(request, err));
    sl_keep(&first, read_layout(object, &workload->layout, warnings, err));
    sl_keep(&first, read_accounting(request, err));
    if (request->source == SL_MODEL_FROM_LAYERS) /* has neither: nothing is open */
        request->unknown &= ~(uint32_t)(SL_UNKNOWN_ATTENTION | SL_UNKNOWN_DROPOUT);
    return first;
}
