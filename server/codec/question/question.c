#include "codec/question/question.h"

#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "codec/inventory/inventory.h"
#include "codec/question/names.h"
#include "codec/question/question_parts.h"
#include "engine/placement/states.h"
#include "json/members.h"
#include "json/writer.h"

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

/* A hint does not look beyond so many steps. */
enum { CANONICAL_BYTES = 16 << 20, HINTED_STEPS_MAX = 4096 };

static const uint64_t PARAMETERS_MAX = 1000000000000000;

static sl_code
read_model(sl_estimate_request *request, sl_errors *warnings, sl_errors *err)
{
    static const sl_member members[] = {{"hub", NULL},
                                        {"revision", NULL},
                                        {"config", NULL},
                                        {"parameters", NULL},
                                        {"layers", NULL}};
    const sl_node *const model = &request->model;
    sl_code first = sl_node_object(model, err);
    if (first != SL_OK)
        return first;

    sl_keep(&first, sl_members_check(model, members, COUNT(members), warnings, err));
    bool hub = false, parameters = false;
    sl_keep(&first, sl_node_text(model, "hub", &request->hub, &hub, err));
    sl_keep(&first, sl_node_text(model, "revision", &request->revision, NULL, err));
    sl_keep(&first, sl_node_uint(model, "parameters", 1, PARAMETERS_MAX, &request->parameters,
                                 &parameters, err));
    const bool config = sl_node_member(model, "config", &request->config);
    if (config)
        sl_keep(&first, sl_node_object(&request->config, err));
    const bool layers = sl_node_member(model, "layers", &request->layers);
    request->source = config       ? SL_MODEL_FROM_CONFIG
                      : layers     ? SL_MODEL_FROM_LAYERS
                      : parameters ? SL_MODEL_FROM_PARAMETERS
                                   : SL_MODEL_FROM_HUB;
    const uint32_t sources =
        (uint32_t)hub + (uint32_t)config + (uint32_t)layers + (uint32_t)parameters;
    if (first == SL_OK && sources == 0) {
        first =
            sl_node_fail(model, err, SL_E_RANGE, "required_field",
                         "must say which model: \"hub\", \"config\", \"layers\" or \"parameters\"");
    } else if (sources > 1) {
        sl_keep(&first, sl_node_fail(model, err, SL_E_RANGE, "conflicting_fields",
                                     "must have one of \"hub\", \"config\", \"layers\" and "
                                     "\"parameters\""));
    }
    return first;
}

static void
settle_data(sl_estimate_request *request)
{
    sl_plan *const plan = &request->plan;
    uint64_t data;

    if (!request->data_auto)
        return;
    request->data_open = !sl_plan_derive_data(&request->cluster, plan, &data);
    plan->data = data > 0 ? (uint32_t)data : 1;
}

static void
settle_experts(sl_estimate_request *request)
{
    /* Megatron cuts experts as the rest unless told otherwise; code around FSDP does not cut
     * them. */
    if (request->plan.expert_tensor == 0 && request->workload.framework != SL_FRAMEWORK_MEGATRON)
        request->plan.expert_tensor = 1;
}

/* Groups of FSDP's hybrid modes: of a node's ranks, or as many as the copies leave. What does not
 * divide stays as it is, for the engine to refuse. */
static void
settle_shard_group(sl_estimate_request *request)
{
    sl_plan *const plan = &request->plan;
    const uint32_t inner = plan->tensor * plan->context;
    const uint32_t per_node = request->cluster.accelerators_per_node;
    if (plan->shard_group == 0 && request->copies > 1)
        plan->shard_group =
            plan->data % request->copies == 0 ? plan->data / request->copies : request->copies;
    else if (plan->shard_group == 0 && request->hybrid && request->has_cluster) {
        const uint32_t inside = per_node > inner ? per_node / inner : 1; /* replicas in a node */
        plan->shard_group = inside < plan->data ? inside : plan->data;
    }
}

bool
sl_estimate_accounting_alone(const sl_estimate_request *request)
{
    return request->source == SL_MODEL_FROM_PARAMETERS ||
           (request->accounting != SL_ACCOUNTING_EXACT && request->plan.zero_stage > 1 &&
            request->workload.framework == SL_FRAMEWORK_MEGATRON);
}

/* What people train in on this part: bf16 where it has it. */
static void
settle_precision(sl_estimate_request *request)
{
    const double *const peaks = request->cluster.accelerator.peak_flops_per_s;
    if (!request->precision_open)
        return;
    if (peaks[SL_PRECISION_BF16] <= 0 && peaks[SL_PRECISION_FP16] > 0)
        request->workload.precision = SL_PRECISION_FP16;
    sl_notes_add(&request->notes, "precision_assumed", false, "precision was not given: %s",
                 sl_name(&sl_precision_names, request->workload.precision));
}

/* Whether one of the releases came out that month or later. */
static bool
is_since(const sl_estimate_request *request, const char *month)
{
    for (uint32_t i = 0; i < request->software_count; i++)
        if (strcmp(request->software[i].date, month) >= 0)
            return true;
    return false;
}

/* What the release fixes, if there is but one and it does; else -1. */
static int
own_kernel(const sl_estimate_request *request)
{
    return request->software_count == 1 ? request->software[0].attention : -1;
}

/* That of the release, if it says one and the part has a law of it; else the newest that both have:
 * FlashAttention 2 was published in July 2023, 3 in July 2024. */
static sl_attention_kernel
flash_kernel(const sl_estimate_request *request)
{
    const sl_accelerator *const a = &request->cluster.accelerator;
    const int own = own_kernel(request);

    if (own > SL_ATTENTION_UNFUSED && a->attention[own][0].head_dim != 0)
        return (sl_attention_kernel)own;
    if (a->attention[SL_ATTENTION_FLASH3][0].head_dim != 0 && is_since(request, "2024-07"))
        return SL_ATTENTION_FLASH3;
    if (sl_attention_is_cudnn(request->workload.framework, a))
        return SL_ATTENTION_CUDNN;
    if (a->attention[SL_ATTENTION_FLASH1][0].head_dim != 0 && !is_since(request, "2023-07"))
        return SL_ATTENTION_FLASH1;
    return SL_ATTENTION_FLASH2;
}

/* FlashAttention 2, or cuDNN's where PyTorch prefers it: on Blackwell from 2.9 on. On Hopper it does
 * from 2.11 on, which is left to the request, and torchtitan where it says so. */
static sl_attention_kernel
settle_sdpa(sl_estimate_request *request)
{
    const sl_accelerator *const a = &request->cluster.accelerator;
    const bool has_cudnn = a->attention[SL_ATTENTION_CUDNN][0].head_dim != 0;
    const sl_precision precision = request->workload.precision;

    if (request->workload.framework != SL_FRAMEWORK_MEGATRON &&
        !sl_attention_possible(a, SL_ATTENTION_FLASH2, precision) &&
        sl_attention_possible(a, SL_ATTENTION_EFFICIENT, precision)) {
        sl_notes_add(&request->notes, "attention_read", true,
                     "attention \"sdpa\" counts as PyTorch's memory-efficient kernel, which it "
                     "picks without a flash kernel of this part and precision; its rate is as "
                     "FlashAttention 1's on A100 and H100, by datasheet elsewhere and in 32 bits");
        return SL_ATTENTION_EFFICIENT;
    }
    if (has_cudnn && own_kernel(request) == SL_ATTENTION_CUDNN) {
        sl_notes_add(&request->notes, "attention_read", false,
                     "attention \"sdpa\" counts as cudnn, which %s sets before others",
                     request->software[0].name);
        return SL_ATTENTION_CUDNN;
    }
    if (sl_attention_prefers_cudnn(a) && is_since(request, "2025-09")) {
        sl_notes_add(&request->notes, "attention_read", true,
                     "attention \"sdpa\" counts as cudnn, the kernel that PyTorch picks here "
                     "from 2.9 (September 2025) on: say flash2 for one before");
        return SL_ATTENTION_CUDNN;
    }
    if (has_cudnn)
        sl_notes_add(&request->notes, "attention_read", true,
                     "attention \"sdpa\" counts as flash2, the kernel that PyTorch picked "
                     "up to 2025; 2.11 picks cuDNN's here, which is faster: say cudnn");
    else
        sl_notes_add(&request->notes, "attention_read", false,
                     "attention \"sdpa\" counts as flash2, the kernel PyTorch picks");
    return SL_ATTENTION_FLASH2;
}

static void
settle_attention(sl_estimate_request *request)
{
    const sl_accelerator *const a = &request->cluster.accelerator;
    sl_attention_kernel *const kernel = &request->workload.attention;
    switch (request->attention_word) {
    case SL_ATTENTION_WORD_EAGER:
        *kernel = SL_ATTENTION_UNFUSED;
        break;
    case SL_ATTENTION_WORD_SDPA:
        *kernel = settle_sdpa(request);
        break;
    case SL_ATTENTION_WORD_FLEX:
        *kernel = SL_ATTENTION_FLASH2;
        sl_notes_add(
            &request->notes, "attention_read", true,
            "attention \"flex\" counts as flash2: its generated kernels were not measured");
        break;
    case SL_ATTENTION_WORD_FLASH:
        *kernel = flash_kernel(request);
        sl_notes_add(&request->notes, "attention_read", false, "attention \"flash\" is %s on %s",
                     sl_name(&sl_attention_names, *kernel), a->id);
        break;
    default:
        *kernel = (sl_attention_kernel)request->attention_word;
    }
}

/* A network given per sample runs the whole batch of a replica at once, unless the request says
 * otherwise; only a pipeline wants it in parts. */
static void
settle_whole_batch(sl_estimate_request *request)
{
    sl_workload *const workload = &request->workload;
    const sl_plan *const plan = &request->plan;
    if (request->source != SL_MODEL_FROM_LAYERS || plan->pipeline > 1 || request->data_open ||
        (request->unknown & SL_UNKNOWN_MICRO_BATCH) == 0 || request->gradient_accumulation > 0 ||
        workload->global_batch % plan->data != 0)
        return;
    workload->micro_batch = workload->global_batch / plan->data;
    request->unknown &= ~(uint32_t)SL_UNKNOWN_MICRO_BATCH;
    sl_notes_add(&request->notes, "micro_batch_size_assumed", false,
                 "micro_batch_size was not given: %llu, the whole batch of a replica",
                 (unsigned long long)workload->micro_batch);
}

/* Steps that the batch does divide by; with a micro-batch that is said there is one. */
static void
hint_accumulation(const sl_estimate_request *request, sl_errors *err)
{
    const sl_workload *const workload = &request->workload;
    const uint64_t data = request->plan.data;
    const uint64_t each = workload->global_batch / data; /* of a replica */

    if (workload->global_batch % data != 0)
        return;
    if ((request->unknown & SL_UNKNOWN_MICRO_BATCH) != 0)
        sl_hint_divisors(err, each, each, each < HINTED_STEPS_MAX ? each : HINTED_STEPS_MAX);
    else if (each % workload->micro_batch == 0)
        sl_hint(err, "%llu", (unsigned long long)(each / workload->micro_batch));
}

/* global batch = data * micro-batch * accumulation: the third follows from two. */
static sl_code
settle_accumulation(sl_estimate_request *request, sl_errors *err)
{
    sl_workload *const workload = &request->workload;
    const uint64_t steps = request->gradient_accumulation;
    if (steps == 0 || workload->global_batch == 0 || request->data_open)
        return SL_OK;
    const uint64_t per_replica = request->plan.data * steps;
    if ((request->unknown & SL_UNKNOWN_MICRO_BATCH) != 0 &&
        workload->global_batch % per_replica == 0) {
        workload->micro_batch = workload->global_batch / per_replica;
        request->unknown &= ~(uint32_t)SL_UNKNOWN_MICRO_BATCH;
    }
    if (workload->micro_batch * per_replica == workload->global_batch)
        return SL_OK;
    const sl_code code =
        sl_fail(err, SL_E_RANGE, "inconsistent", "/workload/gradient_accumulation",
                "data x micro_batch_size x gradient_accumulation must be the global batch of "
                "%llu, got %llu accumulation steps",
                (unsigned long long)workload->global_batch, (unsigned long long)steps);
    hint_accumulation(request, err);
    return code;
}

/* What can only be settled once the cluster is known: the data-parallel degree, what "flash"
 * means here, the micro-batch that a number of accumulation steps implies. */
static sl_code
settle(sl_estimate_request *request, sl_errors *err)
{
    assert(request != NULL && request->has_cluster && err != NULL);

    settle_data(request);
    settle_shard_group(request);
    settle_experts(request);
    settle_precision(request);
    settle_attention(request);
    if (request->purpose == SL_PURPOSE_SEARCH) /* it chooses micro-batches */
        return SL_OK;
    settle_whole_batch(request);
    return settle_accumulation(request, err);
}

/* How much of a step is drawn, which stage is slower than the others, and which micro-batches
 * differ. */
static sl_code
read_timeline(sl_estimate_request *request, sl_errors *warnings, sl_errors *err)
{
    static const sl_member members[] = {{"stage", NULL}, {"ratio", NULL}};
    sl_node slow, needed;
    uint64_t stage = 0;
    sl_code first = sl_node_text(&request->root, "detail", &request->detail, NULL, err);

    if (sl_node_member(&request->root, "micro_batch_sizes", &request->sizes)) {
        if (sl_node_kind(&request->sizes) != SL_JSON_ARRAY)
            sl_keep(&first, sl_node_fail(&request->sizes, err, SL_E_RANGE, "wrong_type",
                                         "must be an array"));
        sl_notes_add(
            &request->notes, "micro_batches_differ", true,
            "the timeline has the micro-batches of the request; memory and closed form are "
            "those of equal ones");
    }
    if (!sl_node_member(&request->root, "slow_stage", &slow))
        return first;
    const sl_code object = sl_node_object(&slow, err);
    sl_keep(&first, object);
    if (object != SL_OK)
        return first;
    sl_keep(&first, sl_members_check(&slow, members, COUNT(members), warnings, err));
    sl_keep(&first, sl_node_required(&slow, "stage", &needed, err));
    sl_keep(&first, sl_node_required(&slow, "ratio", &needed, err));
    sl_keep(&first, sl_node_uint(&slow, "stage", 0, SL_PIPELINE_MAX - 1, &stage, NULL, err));
    sl_keep(&first, sl_node_double(&slow, "ratio", 1.0, 100.0, &request->slow_ratio, NULL, err));
    request->slow_stage = (uint32_t)stage;
    return first;
}

/* Members of the document: those that are missing keep a NULL value. */
static sl_code
read_members(sl_estimate_request *request, sl_errors *warnings, sl_errors *err)
{
    /* Those of every request, then what one purpose has beside them. */
    static const sl_member members[SL_PURPOSE_COUNT][15] = {
        [SL_PURPOSE_ESTIMATE] = {{"model", NULL},
                                 {"workload", NULL},
                                 {"cluster", NULL},
                                 {"parallelism", NULL}},
        [SL_PURPOSE_TIMELINE] = {{"model", NULL},
                                 {"workload", NULL},
                                 {"cluster", NULL},
                                 {"parallelism", NULL},
                                 {"detail", NULL},
                                 {"slow_stage", NULL},
                                 {"micro_batch_sizes", NULL}},
        [SL_PURPOSE_COMPARISON] = {{"model", NULL},
                                   {"workload", NULL},
                                   {"cluster", NULL},
                                   {"parallelism", NULL},
                                   {"of", NULL},
                                   {"strategies", NULL}},
        [SL_PURPOSE_SEARCH] = {{"model", NULL},
                               {"workload", NULL},
                               {"cluster", NULL},
                               {"clusters", NULL},
                               {"parallelism", NULL},
                               {"space", NULL},
                               {"objective", NULL},
                               {"constraints", NULL},
                               {"limit", NULL},
                               {"pareto", NULL},
                               {"time_limit_s", NULL},
                               {"exhaustive", NULL},
                               {"why_not", NULL},
                               {"neighbours", NULL},
                               {"simulate", NULL}},
    };
    static const size_t counts[SL_PURPOSE_COUNT] = {4, 7, 6, 15};
    const sl_node *const root = &request->root;
    sl_code first = sl_node_object(root, err);
    if (first != SL_OK)
        return first;
    sl_keep(&first, sl_members_check(root, members[request->purpose], counts[request->purpose],
                                     warnings, err));
    if (request->purpose != SL_PURPOSE_SEARCH)
        (void)sl_node_member(root, "cluster", &request->cluster_object);
    (void)sl_node_member(root, "parallelism", &request->parallelism_object);
    sl_keep(&first, sl_node_required(root, "model", &request->model, err));
    sl_keep(&first, sl_node_required(root, "workload", &request->workload_object, err));
    if (request->purpose == SL_PURPOSE_TIMELINE)
        sl_keep(&first, read_timeline(request, warnings, err));
    return first;
}

static sl_code
read_cluster(sl_estimate_request *request, const sl_catalog *catalog, sl_errors *warnings,
             sl_errors *err)
{
    if (request->cluster_object.value == NULL) {
        if (request->source == SL_MODEL_FROM_PARAMETERS)
            return SL_OK;
        return sl_node_fail_at(&request->root, "cluster", err, SL_E_RANGE, "required_field",
                               "is required");
    }
    sl_pool pool = {0};
    sl_code code = sl_question_read_cluster(request, &pool, warnings, err);
    const bool several = sl_question_has_pools(request);
    if (code == SL_OK && several)
        code = sl_question_read_pools(request, &pool, catalog, warnings, err);
    if (code != SL_OK || request->inventory != NULL)
        return code;
    if (several) {
        sl_question_join_pools(request);
        return SL_OK;
    }
    code = sl_pool_resolve(&pool, catalog, &request->cluster_object, &request->notes,
                           &request->cluster, err);
    request->has_cluster = code == SL_OK;
    return code;
}

/* cluster: of several, the one that it is about; NULL: the document's. */
static sl_code
read_document(const sl_node *root, const sl_node *cluster, const sl_catalog *catalog,
              sl_purpose purpose, sl_errors *warnings, sl_estimate_request *out, sl_errors *err)
{
    assert(root != NULL && catalog != NULL && out != NULL && err != NULL);

    memset(out, 0, sizeof *out);
    out->root = *root;
    out->purpose = purpose;
    if (cluster != NULL)
        out->cluster_object = *cluster;
    out->slow_stage = UINT32_MAX;
    out->slow_ratio = 1.0;
    sl_code first = read_members(out, warnings, err);
    if (out->model.value != NULL)
        sl_keep(&first, read_model(out, warnings, err));
    if (out->workload_object.value != NULL)
        sl_keep(&first, sl_question_read_workload(out, catalog, warnings, err));
    if (sl_node_kind(&out->root) == SL_JSON_OBJECT) {
        sl_keep(&first, read_cluster(out, catalog, warnings, err));
        sl_keep(&first, sl_question_read_plan(out, warnings, err));
        if (purpose == SL_PURPOSE_COMPARISON)
            sl_keep(&first, sl_question_read_comparison(out, err));
    }
    if (first == SL_OK && (purpose == SL_PURPOSE_ESTIMATE || purpose == SL_PURPOSE_TIMELINE))
        sl_question_note_idle(out);
    if (first == SL_OK && out->has_cluster)
        first = settle(out, err);
    else if (first == SL_OK && out->inventory == NULL)
        settle_shard_group(out); /* an accounting without a cluster */
    return first;
}

sl_code
sl_estimate_request_read(const sl_node *root, const sl_catalog *catalog, sl_errors *warnings,
                         sl_estimate_request *out, sl_errors *err)
{
    return read_document(root, NULL, catalog, SL_PURPOSE_ESTIMATE, warnings, out, err);
}

sl_code
sl_timeline_request_read(const sl_node *root, const sl_catalog *catalog, sl_errors *warnings,
                         sl_estimate_request *out, sl_errors *err)
{
    return read_document(root, NULL, catalog, SL_PURPOSE_TIMELINE, warnings, out, err);
}

sl_code
sl_comparison_request_read(const sl_node *root, const sl_catalog *catalog, sl_errors *warnings,
                           sl_estimate_request *out, sl_errors *err)
{
    return read_document(root, NULL, catalog, SL_PURPOSE_COMPARISON, warnings, out, err);
}

sl_code
sl_search_part_read(const sl_node *root, const sl_node *cluster, const sl_catalog *catalog,
                    sl_errors *warnings, sl_estimate_request *out, sl_errors *err)
{
    assert(cluster != NULL);

    return read_document(root, cluster, catalog, SL_PURPOSE_SEARCH, warnings, out, err);
}

static sl_code
fill_from_document(sl_estimate_request *request, const sl_node *spec, const sl_catalog *catalog,
                   sl_errors *err)
{
    sl_errors inner = {0};
    sl_inventory_pool found;
    if (sl_question_has_pools(request)) {
        const sl_code several = sl_question_find_pools(request, spec, catalog, err);
        if (several != SL_OK)
            return several;
        sl_question_join_pools(request);
        return settle(request, err);
    }
    sl_code code =
        sl_inventory_find_pool(spec, request->pool, "/cluster/pool", &found, &inner, err);
    if (code != SL_OK)
        return inner.count > 0 ? sl_refail_at(&inner, "/cluster/inventory", err) : code;

    sl_errors said = {0}; /* of unknown fields, when the document was read */
    sl_pool pool = found.pool;
    code = sl_question_read_cluster(request, &pool, &said, err);
    if (code == SL_OK)
        code = sl_question_check_nodes(&request->cluster_object, &found.pool, &pool, err);
    if (code == SL_OK)
        code = sl_question_check_hosts(request, &request->cluster_object, found.name, &pool.nodes,
                                       err);
    if (code != SL_OK)
        return code;
    code = sl_pool_resolve(&pool, catalog, &found.node, &request->notes, &request->cluster, &inner);
    if (code != SL_OK)
        return sl_refail_at(&inner, "/cluster/inventory", err);
    request->has_cluster = true;
    return settle(request, err);
}

sl_code
sl_estimate_request_pool(sl_estimate_request *request, const char *spec, size_t size,
                         const sl_catalog *catalog, sl_errors *err)
{
    assert(request != NULL && request->inventory != NULL && spec != NULL && catalog != NULL);

    static const sl_json_limits limits = {.max_bytes = 64 << 20, .max_depth = 32};
    sl_errors inner = {0};
    sl_json *json = NULL;
    sl_code code = sl_json_parse(spec, size, &limits, &json, &inner);
    if (code != SL_OK)
        return sl_fail(err, SL_E_INTERNAL, "bad_inventory", "/cluster/inventory",
                       "the stored inventory cannot be read");
    const sl_node root = sl_json_root(json);
    sl_buffer canonical;
    sl_buffer_init(&canonical, CANONICAL_BYTES);
    code = sl_json_canonical(&root, &canonical);
    if (code == SL_OK) {
        sl_hash_text(canonical.data, canonical.size, request->inventory_hash);
        code = fill_from_document(request, &root, catalog, err);
    } else {
        code = sl_fail(err, SL_E_MEMORY, "out_of_memory", "/cluster/inventory",
                       "the stored inventory does not fit");
    }
    sl_buffer_clear(&canonical);
    sl_json_free(json);
    return code;
}

sl_question
sl_estimate_request_question(const sl_estimate_request *request, const sl_model *model)
{
    assert(request != NULL && request->has_cluster && model != NULL);

    return (sl_question){
        .model = model,
        .cluster = &request->cluster,
        .software = request->software,
        .software_count = request->software_count,
        /* What a request says of its own release is not said of another. */
        .sharded = request->profile_said ? NULL : request->sharded,
        .workload = request->workload,
        .plan = request->plan,
        .nodes_fixed = request->inventory != NULL,
        .schedule_fixed = request->schedule_said,
        .unknown = request->unknown,
    };
}

sl_code
sl_estimate_request_hash(const sl_estimate_request *request, const char *model_revision,
                         const char *engine_version, const sl_catalog *catalog,
                         char out[SL_HASH_TEXT_SIZE], sl_errors *err)
{
    assert(request != NULL && model_revision != NULL && engine_version != NULL);

    sl_buffer text;
    sl_buffer_init(&text, CANONICAL_BYTES);
    const sl_code code = sl_json_canonical(&request->root, &text);
    sl_buffer_format(&text, "\n%s\n%s\n%s\n%s\n", model_revision, request->inventory_hash,
                     engine_version, sl_catalog_revision(catalog));
    const bool fits = code == SL_OK && !text.failed;
    if (fits)
        sl_hash_text(text.data, text.size, out);
    sl_buffer_clear(&text);
    return fits ? SL_OK
                : sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "the request does not fit");
}
