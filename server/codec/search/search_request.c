#include "codec/search/search.h"

#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "codec/question/currency.h"
#include "codec/search/search_space.h"
#include "codec/search/search_words.h"
#include "json/members.h"
#include "json/patch.h"

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

enum { LIMIT_DEFAULT = 20, DOCUMENT_BYTES = 16 << 20 };

static const double positive = 1e-12; /* the least that is one */
static const double endless = 1e18;

static sl_code
no_memory(sl_errors *err)
{
    return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "the search does not fit in memory");
}

static bool
is_known(const sl_error *fault, const sl_errors *err)
{
    for (uint32_t i = 0; i < err->count; i++)
        if (sl_text_equal(err->list[i].pointer, fault->pointer) &&
            sl_text_equal(err->list[i].rule, fault->rule))
            return true;
    return false;
}

/* Faults of a part that was read as if it were a request of its own: "/cluster/nodes" is where
 * `prefix` stands. Those that the parts before had, too, are told once. */
static void
move_faults(const sl_errors *from, const char *prefix, const char *part, sl_errors *err)
{
    const size_t length = strlen(part);

    for (uint32_t i = 0; i < from->count; i++) {
        sl_error fault = from->list[i];
        const char *const rest = from->list[i].pointer + length;
        if (strncmp(from->list[i].pointer, part, length) == 0 && (*rest == '/' || *rest == '\0'))
            (void)sl_text_format(fault.pointer, sizeof fault.pointer, "%s%s", prefix, rest);
        if (!is_known(&fault, err))
            (void)sl_refail(&fault, err);
    }
    err->dropped += from->dropped;
}

/* Where the cluster of that index stands. */
static void
name_cluster(const sl_search_asked *asked, uint32_t index, char out[32])
{
    if (asked->list.value == NULL)
        (void)sl_text_copy(out, 32, "/cluster");
    else
        (void)sl_text_format(out, 32, "/clusters/%u", index);
}

/* One cluster, or a list of them. */
static sl_code
read_clusters(sl_search_asked *asked, sl_errors *err)
{
    const sl_node *const root = &asked->root;
    const bool one = sl_node_member(root, "cluster", &asked->entries[0]);
    const bool several = sl_node_member(root, "clusters", &asked->list);
    const size_t count = several ? sl_node_count(&asked->list) : 1;
    sl_code first = SL_OK;

    asked->cluster_count = 1; /* where there is none, the reader of the part says so */
    if (!several)
        return SL_OK;
    if (one) {
        first = sl_node_fail_at(root, "clusters", err, SL_E_RANGE, "conflicting_fields",
                                "says what cluster says: give one of them");
        sl_hint(err, "leave one of them out");
        return first;
    }
    if (sl_node_kind(&asked->list) != SL_JSON_ARRAY)
        return sl_node_fail(&asked->list, err, SL_E_RANGE, "wrong_type", "must be an array");
    if (count < 1 || count > SL_SEARCH_CLUSTERS_MAX)
        return sl_node_fail(&asked->list, err, SL_E_RANGE, "out_of_range",
                            "must have from 1 to %d clusters, got %zu", SL_SEARCH_CLUSTERS_MAX,
                            count);
    for (size_t i = 0; i < count; i++)
        (void)sl_node_at(&asked->list, i, &asked->entries[i]);
    asked->cluster_count = (uint32_t)count;
    return SL_OK;
}

/* An estimate request for each cluster; SL_E_MEMORY leaves nothing to go on with. */
static sl_code
read_parts(sl_search_asked *asked, const sl_catalog *catalog, sl_arena *arena, sl_errors *warnings,
           sl_errors *err)
{
    sl_code first = SL_OK;

    for (uint32_t i = 0; i < asked->cluster_count; i++) {
        sl_errors inner = {0};
        sl_errors said = {0};
        char prefix[32];
        asked->of[i] = sl_arena_alloc(arena, 1, sizeof *asked->of[i]);
        if (asked->of[i] == NULL)
            return no_memory(err);
        name_cluster(asked, i, prefix);
        sl_keep(&first, sl_search_part_read(&asked->root, &asked->entries[i], catalog,
                                            warnings != NULL ? &said : NULL, asked->of[i], &inner));
        move_faults(&inner, prefix, "/cluster", err);
        if (warnings != NULL)
            move_faults(&said, prefix, "/cluster", warnings);
    }
    if (first == SL_OK && asked->of[0]->source == SL_MODEL_FROM_PARAMETERS)
        first = sl_fail(err, SL_E_RANGE, "model_required", "/model",
                        "a search needs a model with layers, not a number of parameters");
    if (asked->of[0]->workload_object.value != NULL)
        sl_keep(&first, sl_space_check(asked->of[0], err));
    return first;
}

static sl_code
read_constraints(const sl_node *root, sl_constraints *out, sl_errors *warnings, sl_errors *err)
{
    static const sl_member members[] = {
        {"max_accelerators", NULL},   {"max_step_s", NULL}, {"min_tokens_per_s", NULL},
        {"deadline_s", NULL},         {"budget", NULL},     {"headroom_ratio", NULL},
        {"critical_batch_size", NULL}};
    sl_node object;
    if (!sl_node_member(root, "constraints", &object))
        return SL_OK;
    sl_code first = sl_node_object(&object, err);
    if (first != SL_OK)
        return first;
    sl_keep(&first, sl_members_check(&object, members, COUNT(members), warnings, err));
    sl_keep(&first, sl_node_uint(&object, "max_accelerators", 1, UINT32_MAX, &out->max_accelerators,
                                 NULL, err));
    sl_keep(&first,
            sl_node_double(&object, "max_step_s", positive, endless, &out->max_step_s, NULL, err));
    sl_keep(&first, sl_node_double(&object, "min_tokens_per_s", positive, endless,
                                   &out->min_tokens_per_s, NULL, err));
    sl_keep(&first,
            sl_node_double(&object, "deadline_s", positive, endless, &out->deadline_s, NULL, err));
    sl_keep(&first, sl_node_double(&object, "budget", positive, endless, &out->budget, NULL, err));
    sl_keep(&first,
            sl_node_double(&object, "headroom_ratio", 0, 0.99, &out->headroom_ratio, NULL, err));
    sl_keep(&first, sl_node_uint(&object, "critical_batch_size", 1, UINT64_MAX,
                                 &out->critical_batch, NULL, err));
    return first;
}

/* What is wanted of the plans found. */
static sl_code
read_wishes(sl_search_asked *asked, sl_errors *err)
{
    const sl_node *const root = &asked->root;
    sl_search_request *const request = &asked->request;
    const char *objectives[SL_OBJECTIVE_COUNT];
    uint32_t objective = SL_OBJECTIVE_THROUGHPUT;
    uint64_t limit = LIMIT_DEFAULT;

    for (uint32_t i = 0; i < SL_OBJECTIVE_COUNT; i++)
        objectives[i] = sl_objective_name((sl_objective)i);
    request->front = asked->neighbours = asked->simulate = true;
    asked->time_limit_s = SL_SEARCH_TIME_LIMIT_DEFAULT_S;
    sl_code first =
        sl_node_choice(root, "objective", objectives, SL_OBJECTIVE_COUNT, &objective, NULL, err);
    sl_keep(&first, sl_node_uint(root, "limit", 1, SL_SEARCH_BEST_MAX, &limit, NULL, err));
    sl_keep(&first, sl_node_bool(root, "pareto", &request->front, NULL, err));
    sl_keep(&first, sl_node_double(root, "time_limit_s", 0.001, SL_SEARCH_TIME_LIMIT_MAX_S,
                                   &asked->time_limit_s, NULL, err));
    sl_keep(&first, sl_node_bool(root, "exhaustive", &request->exhaustive, NULL, err));
    sl_keep(&first, sl_node_bool(root, "neighbours", &asked->neighbours, NULL, err));
    sl_keep(&first, sl_node_bool(root, "simulate", &asked->simulate, NULL, err));
    request->objective = (sl_objective)objective;
    request->limit = (uint32_t)limit;
    return first;
}

/* Members of `from`, canonical, into the object that is open. */
static sl_code
copy_members(sl_writer *writer, const sl_node *from, const char *const *names, size_t count)
{
    sl_buffer piece;
    sl_node member;
    sl_code code = SL_OK;

    for (size_t i = 0; i < count && code == SL_OK; i++) {
        if (!sl_node_member(from, names[i], &member))
            continue;
        sl_buffer_init(&piece, DOCUMENT_BYTES);
        code = sl_json_canonical(&member, &piece);
        if (code == SL_OK) {
            sl_write_key(writer, names[i]);
            sl_write_raw(writer, piece.data, piece.size);
        }
        sl_buffer_clear(&piece);
    }
    return code;
}

/* The request as an estimate of the plan that it asks about: its own members, changed as by a merge
 * patch. */
static sl_code
merge_plan(const sl_search_asked *asked, const sl_node *why, sl_buffer *out, sl_errors *err)
{
    static const char *const shared[] = {"model", "workload", "parallelism"};
    static const char *const changed[] = {"workload", "parallelism", "cluster"};
    static const sl_json_limits limits = {.max_bytes = DOCUMENT_BYTES, .max_depth = 32};
    sl_buffer document, cluster, patch;
    sl_writer of_document, of_patch;

    sl_buffer_init(&document, DOCUMENT_BYTES);
    sl_buffer_init(&cluster, DOCUMENT_BYTES);
    sl_buffer_init(&patch, DOCUMENT_BYTES);
    sl_writer_init(&of_document, &document);
    sl_writer_init(&of_patch, &patch);
    sl_write_object(&of_document);
    sl_code code = copy_members(&of_document, &asked->root, shared, COUNT(shared));
    sl_keep(&code, sl_json_canonical(&asked->entries[asked->why.cluster], &cluster));
    if (code == SL_OK) {
        sl_write_key(&of_document, "cluster");
        sl_write_raw(&of_document, cluster.data, cluster.size);
    }
    sl_write_object_end(&of_document);
    sl_write_object(&of_patch);
    sl_keep(&code, copy_members(&of_patch, why, changed, COUNT(changed)));
    sl_write_object_end(&of_patch);
    if (code == SL_OK && sl_writer_ok(&of_document) && sl_writer_ok(&of_patch))
        code = sl_json_merge_patch(document.data, &(sl_patch){patch.data, patch.size}, &limits, out,
                                   err);
    else
        code = no_memory(err);
    sl_buffer_clear(&document);
    sl_buffer_clear(&cluster);
    sl_buffer_clear(&patch);
    return code;
}

static sl_code
parse_plan(sl_search_asked *asked, const sl_node *why, const sl_catalog *catalog, sl_arena *arena,
           sl_errors *err)
{
    static const sl_json_limits limits = {.max_bytes = DOCUMENT_BYTES, .max_depth = 32};
    sl_errors inner = {0};
    sl_buffer text;

    asked->why.request = sl_arena_alloc(arena, 1, sizeof *asked->why.request);
    if (asked->why.request == NULL)
        return no_memory(err);
    sl_buffer_init(&text, DOCUMENT_BYTES);
    sl_code code = merge_plan(asked, why, &text, err);
    if (code == SL_OK)
        code = sl_json_parse(text.data, text.size, &limits, &asked->why.json, err);
    sl_buffer_clear(&text);
    if (code != SL_OK)
        return code;
    const sl_node root = sl_json_root(asked->why.json);
    code = sl_estimate_request_read(&root, catalog, NULL, asked->why.request, &inner);
    move_faults(&inner, "/why_not", "", err);
    asked->why.asked = code == SL_OK;
    return code;
}

/* Needs a request without faults: what is wrong is then of the plan. */
static sl_code
read_why(sl_search_asked *asked, const sl_catalog *catalog, sl_arena *arena, sl_errors *warnings,
         sl_errors *err)
{
    static const sl_member members[] = {
        {"parallelism", NULL}, {"workload", NULL}, {"cluster", NULL}, {"cluster_index", NULL}};
    sl_node why;
    uint64_t index = 0;
    if (!sl_node_member(&asked->root, "why_not", &why))
        return SL_OK;
    sl_code first = sl_node_object(&why, err);
    if (first != SL_OK)
        return first;
    sl_keep(&first, sl_members_check(&why, members, COUNT(members), warnings, err));
    sl_keep(&first,
            sl_node_uint(&why, "cluster_index", 0, asked->cluster_count - 1, &index, NULL, err));
    asked->why.cluster = (uint32_t)index;
    return first == SL_OK ? parse_plan(asked, &why, catalog, arena, err) : first;
}

sl_code
sl_search_read(const sl_node *root, const sl_catalog *catalog, sl_arena *arena, sl_errors *warnings,
               sl_search_asked **out, sl_errors *err)
{
    assert(root != NULL && catalog != NULL && arena != NULL && out != NULL && err != NULL);

    sl_search_asked *const asked = sl_arena_alloc(arena, 1, sizeof *asked);
    sl_node space;
    *out = asked;
    if (asked == NULL)
        return no_memory(err);
    asked->root = *root;
    sl_code first = sl_node_object(root, err);
    if (first != SL_OK)
        return first;
    sl_keep(&first, read_clusters(asked, err));
    sl_keep(&first, read_parts(asked, catalog, arena, warnings, err));
    if (first == SL_E_MEMORY)
        return first;
    if (sl_node_member(&asked->root, "space", &space))
        sl_keep(&first,
                sl_space_read(&space, &asked->request.space, &asked->of[0]->notes, warnings, err));
    sl_keep(&first, read_constraints(&asked->root, &asked->request.constraints, warnings, err));
    sl_keep(&first, read_wishes(asked, err));
    return first == SL_OK ? read_why(asked, catalog, arena, warnings, err) : first;
}

/* The specs of a plan to be held against the best are those of its cluster. */
sl_code
sl_search_pool(sl_search_asked *asked, uint32_t index, const struct sl_host_status *hosts,
               const char *spec, size_t size, const sl_catalog *catalog, sl_errors *err)
{
    assert(asked != NULL && index < asked->cluster_count);

    sl_errors inner = {0};
    char prefix[32];
    name_cluster(asked, index, prefix);
    asked->of[index]->hosts = hosts;
    sl_code code = sl_estimate_request_pool(asked->of[index], spec, size, catalog, &inner);
    move_faults(&inner, prefix, "/cluster", err);
    if (code != SL_OK || !asked->why.asked || asked->why.cluster != index)
        return code;
    sl_errors of_plan = {0};
    asked->why.request->hosts = hosts;
    code = sl_estimate_request_pool(asked->why.request, spec, size, catalog, &of_plan);
    move_faults(&of_plan, "/why_not", "", err);
    return code;
}

/* A plan that breaks a rule is no fault of the request: the rule is the answer. */
static void
decode_why(sl_search_asked *asked, const sl_model *model)
{
    sl_search_why *const why = &asked->why;

    if (!why->asked)
        return;
    why->question = sl_estimate_request_question(why->request, model);
    if (sl_estimate_request_check(why->request, &why->question, &why->refused) == SL_OK)
        why->refused.count = 0;
}

sl_code
sl_search_decode(sl_search_asked *asked, const sl_model *model, sl_errors *err)
{
    assert(asked != NULL && model != NULL && err != NULL);

    const uint32_t open =
        (uint32_t)(SL_UNKNOWN_SOFTWARE | SL_UNKNOWN_ATTENTION | SL_UNKNOWN_DROPOUT);
    for (uint32_t i = 0; i < asked->cluster_count; i++) {
        asked->questions[i] = sl_estimate_request_question(asked->of[i], model);
        asked->questions[i].unknown &= open;
    }
    asked->request.question_count = asked->cluster_count;
    asked->request.questions = asked->questions;
    sl_space_fix(asked, &asked->request.space);
    decode_why(asked, model);
    return SL_OK;
}

static sl_code
refuse_currencies(const sl_currencies *found, sl_errors *err)
{
    const sl_code code = sl_fail(err, SL_E_RANGE, "currencies_differ", "/clusters",
                                 "must be priced in one currency where cost decides, got %s and %s",
                                 found->first, found->other);
    sl_hint(err, "price_per_node_hour of each cluster, in one currency");
    return code;
}

sl_code
sl_search_check_budget(const sl_search_asked *asked, const sl_currencies *found, sl_errors *err)
{
    assert(asked != NULL && found != NULL && err != NULL);

    if (asked->request.constraints.budget > 0.0 && found->other != NULL)
        return refuse_currencies(found, err);
    return SL_OK;
}

sl_code
sl_search_settle_currencies(sl_search_asked *asked, sl_errors *err)
{
    assert(asked != NULL && err != NULL);

    const bool decides =
        asked->request.objective == SL_OBJECTIVE_COST || asked->request.constraints.budget > 0.0;
    sl_currencies found = {.first = NULL};

    for (uint32_t i = 0; i < asked->cluster_count; i++)
        sl_currencies_add(&found, &asked->of[i]->cluster);
    if (found.other != NULL && decides)
        return refuse_currencies(&found, err);
    sl_currencies_note(&found, "costs are not compared, and left out", &asked->of[0]->notes);
    for (uint32_t i = 0; found.other != NULL && i < asked->cluster_count; i++)
        asked->of[i]->cluster.price_per_node_hour = 0.0;
    return SL_OK;
}

sl_review_wish
sl_search_wish(const sl_search_asked *asked)
{
    return (sl_review_wish){
        .simulate = asked->simulate,
        .neighbours = asked->neighbours,
        .why = asked->why.asked,
        .asked = &asked->why.question,
        .cluster = asked->why.cluster,
        .refused = &asked->why.refused,
    };
}

bool
sl_search_is_relaxed(const sl_search_asked *asked, const sl_search_outcome *outcome)
{
    const sl_search_reason *const tightest = sl_reason_tightest(outcome, &asked->request);

    return outcome->best_count == 0 && (tightest == NULL || sl_reason_is_of_memory(tightest));
}

sl_code
sl_search_hash(const sl_search_asked *asked, const char *model_revision, const char *engine_version,
               const sl_catalog *catalog, char out[SL_HASH_TEXT_SIZE], sl_errors *err)
{
    sl_buffer text;
    sl_code code = SL_OK;

    sl_buffer_init(&text, (size_t)SL_SEARCH_CLUSTERS_MAX * SL_HASH_TEXT_SIZE + 1);
    for (uint32_t i = 0; i < asked->cluster_count && code == SL_OK; i++) {
        char part[SL_HASH_TEXT_SIZE];
        code = sl_estimate_request_hash(asked->of[i], model_revision, engine_version, catalog, part,
                                        err);
        sl_buffer_text(&text, part);
    }
    if (code == SL_OK && asked->cluster_count == 1)
        (void)sl_text_copy(out, SL_HASH_TEXT_SIZE, text.data);
    else if (code == SL_OK)
        sl_hash_text(text.data, text.size, out);
    sl_buffer_clear(&text);
    return code;
}

void
sl_search_asked_clear(sl_search_asked *asked)
{
    if (asked == NULL)
        return;
    sl_json_free(asked->why.json);
    asked->why.json = NULL;
}
