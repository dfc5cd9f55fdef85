#include "codec/search/search_space.h"

#include <assert.h>

#include "base/text.h"
#include "codec/question/cluster.h"
#include "codec/question/names.h"
#include "codec/question/question_parts.h"
#include "json/members.h"

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

/* FSDP's words for stage and group: a group of a node is one of its accelerators, which the
 * clusters know. sl_space_fix puts it in the place of this mark. */
#define GROUP_OF_NODE UINT64_MAX

static const char *const layouts[] = {
    [SL_SEARCH_LAYOUT_RULE] = "rule",
    [SL_SEARCH_LAYOUT_BALANCED] = "balanced",
};
_Static_assert(COUNT(layouts) == SL_SEARCH_LAYOUT_COUNT, "a word for each layout");
static const sl_names layout_names = {layouts, COUNT(layouts), COUNT(layouts)};

/* By the bits of sl_search_offload. */
static const char *const offloads[] = {
    "none",
    "optimizer",
    "parameters",
    "optimizer+parameters",
    "activations",
    "optimizer+activations",
    "parameters+activations",
    "optimizer+parameters+activations",
};
_Static_assert(COUNT(offloads) == (size_t)2 * SL_SEARCH_OFFLOAD_ACTIVATIONS, "a word for each set");
static const sl_names offload_names = {offloads, COUNT(offloads), COUNT(offloads)};

typedef enum field_kind {
    KIND_COUNT,
    KIND_SWITCH,
    KIND_WORD,
    KIND_GROUP,  /* a count, or "all" for 0 */
    KIND_EXPERTS /* a count; 0, as the rest, is null */
} field_kind;

typedef struct field {
    sl_dimension dimension;
    bool of_workload; /* else of the plan, which has a member of the same name */
    field_kind kind;
    const sl_names *names;
    uint64_t least, most;
} field;

/* Accelerators are the cluster's, and layout is nobody's: neither is a member of an estimate. */
static const field fields[] = {
    {SL_DIMENSION_TENSOR, false, KIND_COUNT, NULL, 1, SL_PARALLEL_MAX},
    {SL_DIMENSION_SEQUENCE, false, KIND_SWITCH, NULL, 0, 1},
    {SL_DIMENSION_CONTEXT, false, KIND_COUNT, NULL, 1, SL_PARALLEL_MAX},
    {SL_DIMENSION_CONTEXT_KIND, false, KIND_WORD, &sl_context_names, 0, 0},
    {SL_DIMENSION_EXPERT, false, KIND_COUNT, NULL, 1, SL_PARALLEL_MAX},
    {SL_DIMENSION_EXPERT_TENSOR, false, KIND_EXPERTS, NULL, 1, SL_PARALLEL_MAX},
    {SL_DIMENSION_MICRO_BATCH, true, KIND_COUNT, NULL, 1, SL_GLOBAL_BATCH_MAX},
    {SL_DIMENSION_GLOBAL_BATCH, true, KIND_COUNT, NULL, 1, SL_GLOBAL_BATCH_MAX},
    {SL_DIMENSION_ACCELERATORS, false, KIND_COUNT, NULL, 1,
     (uint64_t)SL_CLUSTER_NODES_MAX *(uint64_t)SL_CLUSTER_PER_NODE_MAX},
    {SL_DIMENSION_PIPELINE, false, KIND_COUNT, NULL, 1, SL_PIPELINE_MAX},
    {SL_DIMENSION_VIRTUAL_PIPELINE, false, KIND_COUNT, NULL, 1, SL_MODEL_LAYERS_MAX},
    {SL_DIMENSION_SCHEDULE, false, KIND_WORD, &sl_schedule_names, 0, 0},
    {SL_DIMENSION_LAYOUT, false, KIND_WORD, &layout_names, 0, 0},
    {SL_DIMENSION_DATA, false, KIND_COUNT, NULL, 1, SL_PARALLEL_MAX},
    {SL_DIMENSION_ZERO_STAGE, false, KIND_COUNT, NULL, 0, 3},
    {SL_DIMENSION_SHARD_GROUP, false, KIND_GROUP, NULL, 1, SL_PARALLEL_MAX},
    {SL_DIMENSION_RECOMPUTE, true, KIND_WORD, &sl_recompute_names, 0, 0},
    {SL_DIMENSION_RECOMPUTE_LAYERS, true, KIND_COUNT, NULL, 0, SL_MODEL_LAYERS_MAX},
    {SL_DIMENSION_OFFLOAD, true, KIND_WORD, &offload_names, 0, 0},
};
_Static_assert(COUNT(fields) == SL_DIMENSION_COUNT, "a field for each dimension");

static const field *
field_of(sl_dimension dimension)
{
    for (size_t i = 0; i < COUNT(fields); i++)
        if (fields[i].dimension == dimension)
            return &fields[i];
    assert(false);
    return NULL;
}

static void
add_value(sl_values *values, uint64_t value)
{
    uint32_t at = values->count;

    for (uint32_t i = 0; i < values->count; i++)
        if (values->list[i] == value)
            return;
    assert(at < SL_SEARCH_VALUES_MAX);
    for (; at > 0 && values->list[at - 1] > value; at--)
        values->list[at] = values->list[at - 1];
    values->list[at] = value;
    values->count++;
}

static sl_code
read_value(const field *f, const sl_node *node, uint64_t *out, sl_errors *err)
{
    bool on = false;
    uint32_t word = 0;
    const char *text = NULL;
    sl_code code = SL_OK;

    switch (f->kind) {
    case KIND_SWITCH:
        code = sl_node_as_bool(node, &on, err);
        *out = on;
        return code;
    case KIND_WORD:
        code = sl_node_as_choice(node, f->names->list, f->names->modelled, &word, err);
        *out = word;
        return code;
    case KIND_GROUP:
        if (sl_node_kind(node) == SL_JSON_TEXT && sl_node_as_text(node, &text, err) == SL_OK &&
            sl_text_equal(text, "all")) {
            *out = 0;
            return SL_OK;
        }
        break;
    default:
        break;
    }
    return sl_node_as_uint(node, f->least, f->most, out, err);
}

/* A value or a list of values. */
static sl_code
read_values(const field *f, const sl_node *member, sl_values *out, sl_errors *err)
{
    const size_t count = sl_node_count(member);
    sl_code first = SL_OK;
    uint64_t value = 0;
    sl_node entry;

    if (sl_node_kind(member) != SL_JSON_ARRAY) {
        first = read_value(f, member, &value, err);
        if (first == SL_OK)
            add_value(out, value);
        return first;
    }
    if (count == 0) {
        first = sl_node_fail(member, err, SL_E_RANGE, "empty_space",
                             "must have at least one value: a search without any has no plan");
        sl_hint(err, "leave it out for all that can be legal");
        return first;
    }
    if (count > SL_SEARCH_VALUES_MAX)
        return sl_node_fail(member, err, SL_E_RANGE, "too_large",
                            "must have at most %d values, got %zu", SL_SEARCH_VALUES_MAX, count);
    for (size_t i = 0; sl_node_at(member, i, &entry); i++) {
        const sl_code code = read_value(f, &entry, &value, err);
        sl_keep(&first, code);
        if (code == SL_OK)
            add_value(out, value);
    }
    return first;
}

static void
add_sharding(uint32_t word, sl_values *stages, sl_values *groups)
{
    add_value(stages, sl_sharding_stage(word));
    add_value(groups, sl_sharding_is_hybrid(word) ? GROUP_OF_NODE : 0);
}

static sl_code
read_sharding(const sl_node *space, sl_space *out, sl_notes *notes, sl_errors *err)
{
    static const field words = {SL_DIMENSION_ZERO_STAGE, false, KIND_WORD,
                                &sl_sharding_names,      0,     0};
    static const char *const same[] = {"zero_stage", "shard_group"};
    sl_values said = {0};
    sl_node member, other;

    if (!sl_node_member(space, "sharding", &member))
        return SL_OK;
    sl_code first = read_values(&words, &member, &said, err);
    for (size_t i = 0; i < COUNT(same); i++) {
        if (!sl_node_member(space, same[i], &other))
            continue;
        sl_keep(&first, sl_node_fail(&other, err, SL_E_RANGE, "conflicting_fields",
                                     "says what sharding says: give one of them"));
        sl_hint(err, "leave one of them out");
    }
    if (first != SL_OK)
        return first;
    sl_values *const stages = &out->of[SL_DIMENSION_ZERO_STAGE];
    sl_values *const groups = &out->of[SL_DIMENSION_SHARD_GROUP];
    for (uint32_t i = 0; i < said.count; i++)
        add_sharding((uint32_t)said.list[i], stages, groups);
    if (stages->count * groups->count > said.count)
        sl_notes_add(notes, "sharding_combined", false,
                     "every stage that \"sharding\" names is tried with every group that it names");
    return first;
}

/* Sizes in nodes, all of them, or in accelerators. */
static sl_code
read_nodes(const sl_node *space, sl_space *out, sl_errors *err)
{
    static const field nodes = {SL_DIMENSION_ACCELERATORS, false, KIND_COUNT, NULL, 1,
                                SL_CLUSTER_NODES_MAX};
    const char *word = NULL;
    sl_node member, other;

    if (!sl_node_member(space, "nodes", &member))
        return SL_OK;
    if (sl_node_member(space, "accelerators", &other)) {
        const sl_code code = sl_node_fail(&member, err, SL_E_RANGE, "conflicting_fields",
                                          "says what accelerators says: give one of them");
        sl_hint(err, "leave one of them out");
        return code;
    }
    if (sl_node_kind(&member) != SL_JSON_TEXT)
        return read_values(&nodes, &member, &out->nodes, err);
    const sl_code code = sl_node_as_text(&member, &word, err);
    if (code == SL_OK && sl_text_equal(word, "any")) {
        out->every_size = true;
        return SL_OK;
    }
    (void)sl_node_fail(&member, err, SL_E_RANGE, "unknown_value",
                       "must be numbers of nodes or \"any\", got \"%.60s\"", word);
    sl_hint(err, "any");
    return SL_E_RANGE;
}

sl_code
sl_space_read(const sl_node *space, sl_space *out, sl_notes *notes, sl_errors *warnings,
              sl_errors *err)
{
    assert(space != NULL && out != NULL && notes != NULL && err != NULL);

    sl_member members[COUNT(fields) + 3] = {
        {"sharding", NULL}, {"nodes", NULL}, {"tensor_across_domains", NULL}};
    sl_node member;
    sl_code first = sl_node_object(space, err);
    if (first != SL_OK)
        return first;
    for (size_t i = 0; i < COUNT(fields); i++)
        members[i + 3] = (sl_member){sl_dimension_name(fields[i].dimension), NULL};
    sl_keep(&first, sl_members_check(space, members, COUNT(members), warnings, err));
    for (size_t i = 0; i < COUNT(fields); i++)
        if (sl_node_member(space, sl_dimension_name(fields[i].dimension), &member))
            sl_keep(&first, read_values(&fields[i], &member, &out->of[fields[i].dimension], err));
    sl_keep(&first, read_sharding(space, out, notes, err));
    sl_keep(&first, read_nodes(space, out, err));
    sl_keep(&first, sl_node_bool(space, "tensor_across_domains", &out->tensor_anywhere, NULL, err));
    return first;
}

static const sl_node *
object_of(const sl_estimate_request *request, const field *f)
{
    return f->of_workload ? &request->workload_object : &request->parallelism_object;
}

static bool
is_said(const sl_node *object, const char *name, sl_node *out)
{
    return object->value != NULL && sl_node_member(object, name, out);
}

/* Recomputation of modules, or of several blocks at a time, is no value of a dimension. */
static sl_code
check_recompute(const sl_estimate_request *request, sl_errors *err)
{
    const sl_workload *const w = &request->workload;
    sl_node member;

    if (!is_said(&request->workload_object, "recompute", &member) ||
        (w->recompute < SL_RECOMPUTE_WORDS && w->recompute_method != SL_RECOMPUTE_UNIFORM))
        return SL_OK;
    const sl_code code = sl_node_fail(&member, err, SL_E_UNSUPPORTED, "not_modelled",
                                      "modules, and several blocks at a time, are not searched");
    sl_hint(err, "a word, or method block");
    return code;
}

sl_code
sl_space_check(const sl_estimate_request *request, sl_errors *err)
{
    static const struct {
        bool of_workload;
        const char *name, *message, *hint;
    } refused[] = {
        {false, "pipeline_layout", "is what a search deals out itself", "\"layout\" of the space"},
        {false, "replicate", "depends on the replicas, which a search chooses", "shard_group"},
        {true, "gradient_accumulation", "follows from the plan, which a search chooses",
         "leave it out"},
    };
    sl_code first = check_recompute(request, err);
    sl_node member;

    for (size_t i = 0; i < COUNT(refused); i++) {
        const sl_node *const object =
            refused[i].of_workload ? &request->workload_object : &request->parallelism_object;
        if (!is_said(object, refused[i].name, &member))
            continue;
        sl_keep(&first, sl_node_fail(&member, err, SL_E_UNSUPPORTED, "not_modelled", "%s",
                                     refused[i].message));
        sl_hint(err, "%s", refused[i].hint);
    }
    if (request->accounting != SL_ACCOUNTING_EXACT)
        sl_keep(&first, sl_fail(err, SL_E_UNSUPPORTED, "not_modelled", "/workload/accounting",
                                "a search counts exactly, as \"exact\" does"));
    return first;
}

/* A node's accelerators stand for the mark. */
static void
settle_groups(const sl_search_asked *asked, sl_values *groups)
{
    sl_values settled = {0};

    for (uint32_t i = 0; i < groups->count; i++) {
        if (groups->list[i] != GROUP_OF_NODE) {
            add_value(&settled, groups->list[i]);
            continue;
        }
        for (uint32_t c = 0; c < asked->cluster_count; c++)
            add_value(&settled, asked->questions[c].cluster->accelerators_per_node);
    }
    *groups = settled;
}

static void
fix_sharding(const sl_search_asked *asked, sl_space *space)
{
    const sl_estimate_request *const request = asked->of[0];
    sl_values *const stages = &space->of[SL_DIMENSION_ZERO_STAGE];
    sl_values *const groups = &space->of[SL_DIMENSION_SHARD_GROUP];

    if (!request->sharding_said || stages->count + groups->count > 0)
        return;
    add_value(stages, request->plan.zero_stage);
    add_value(groups, request->hybrid ? GROUP_OF_NODE : 0);
}

void
sl_space_fix(const sl_search_asked *asked, sl_space *space)
{
    const sl_estimate_request *const request = asked->of[0];
    const sl_question *const question = &asked->questions[0];
    const bool blocks = question->workload.recompute_method == SL_RECOMPUTE_BLOCK;
    sl_values *const layers = &space->of[SL_DIMENSION_RECOMPUTE_LAYERS];
    sl_values *const experts = &space->of[SL_DIMENSION_EXPERT_TENSOR];
    sl_node member;

    for (size_t i = 0; i < COUNT(fields); i++) {
        const field *const f = &fields[i];
        const bool open = f->dimension == SL_DIMENSION_DATA && request->data_auto;
        if (space->of[f->dimension].count > 0 || open ||
            !is_said(object_of(request, f), sl_dimension_name(f->dimension), &member))
            continue;
        add_value(&space->of[f->dimension], sl_review_value(question, f->dimension));
    }
    if (layers->count == 0 && blocks)
        add_value(layers, question->workload.recompute_layers);
    if (experts->count == 0 && question->workload.framework != SL_FRAMEWORK_MEGATRON)
        add_value(experts, 1); /* as sl_estimate_request_read settles it */
    fix_sharding(asked, space);
    settle_groups(asked, &space->of[SL_DIMENSION_SHARD_GROUP]);
}

void
sl_dimension_write(sl_writer *writer, sl_dimension dimension, uint64_t value)
{
    const field *const f = field_of(dimension);

    if (f->kind == KIND_SWITCH)
        sl_write_bool(writer, value != 0);
    else if (f->kind == KIND_WORD)
        sl_write_text(writer, sl_name(f->names, (uint32_t)value));
    else if (f->kind == KIND_GROUP && value == 0)
        sl_write_text(writer, "all");
    else if (f->kind == KIND_EXPERTS && value == 0)
        sl_write_null(writer);
    else
        sl_write_uint(writer, value);
}

void
sl_dimension_say(sl_dimension dimension, uint64_t value, char *out, size_t size)
{
    const field *const f = field_of(dimension);

    if (f->kind == KIND_SWITCH)
        (void)sl_text_copy(out, size, value != 0 ? "on" : "off");
    else if (f->kind == KIND_WORD)
        (void)sl_text_copy(out, size, sl_name(f->names, (uint32_t)value));
    else if (f->kind == KIND_GROUP && value == 0)
        (void)sl_text_copy(out, size, "all");
    else if (f->kind == KIND_EXPERTS && value == 0)
        (void)sl_text_copy(out, size, "as tensor");
    else
        (void)sl_text_format(out, size, "%llu", (unsigned long long)value);
}

bool
sl_space_says(const sl_search_asked *asked, const char *name)
{
    sl_node space, member;

    return sl_node_member(&asked->root, "space", &space) && is_said(&space, name, &member);
}

static void
size_pointer(const sl_search_asked *asked, const sl_search_point *point, char *out, size_t size)
{
    const uint64_t most = asked->request.constraints.max_accelerators;
    const char *pointer = "/cluster/nodes";

    if (most > 0 && point->value[SL_DIMENSION_ACCELERATORS] > most)
        pointer = "/constraints/max_accelerators";
    else if (sl_space_says(asked, "nodes"))
        pointer = "/space/nodes";
    else if (sl_space_says(asked, "accelerators"))
        pointer = "/space/accelerators";
    else if (asked->list.value != NULL) {
        (void)sl_text_format(out, size, "/clusters/%u/nodes", point->cluster);
        return;
    }
    (void)sl_text_copy(out, size, pointer);
}

void
sl_dimension_pointer(const sl_search_asked *asked, sl_dimension dimension,
                     const sl_search_point *point, char *out, size_t size)
{
    const field *const f = field_of(dimension);
    const char *const name = sl_dimension_name(dimension);
    const bool shards =
        dimension == SL_DIMENSION_ZERO_STAGE || dimension == SL_DIMENSION_SHARD_GROUP;
    sl_node member;

    if (dimension == SL_DIMENSION_ACCELERATORS)
        size_pointer(asked, point, out, size);
    else if (sl_space_says(asked, name))
        (void)sl_text_format(out, size, "/space/%s", name);
    else if (shards && sl_space_says(asked, "sharding"))
        (void)sl_text_copy(out, size, "/space/sharding");
    else if (shards && is_said(&asked->of[0]->parallelism_object, "sharding", &member))
        (void)sl_text_copy(out, size, "/parallelism/sharding");
    else
        (void)sl_text_format(out, size, "/%s/%s", f->of_workload ? "workload" : "parallelism",
                             name);
}

void
sl_space_write(sl_writer *writer, const sl_search_asked *asked, const sl_search *search)
{
    const sl_space *const space = sl_search_space(search);

    sl_write_object(writer);
    for (size_t i = 0; i < COUNT(fields); i++) {
        const sl_values *const values = &space->of[fields[i].dimension];
        if (fields[i].dimension == SL_DIMENSION_ACCELERATORS)
            continue;
        sl_write_key(writer, sl_dimension_name(fields[i].dimension));
        sl_write_array(writer);
        for (uint32_t v = 0; v < values->count; v++)
            sl_dimension_write(writer, fields[i].dimension, values->list[v]);
        sl_write_array_end(writer);
    }
    sl_put_bool(writer, "tensor_across_domains", space->tensor_anywhere);
    sl_write_key(writer, "sizes");
    sl_write_array(writer);
    for (uint32_t c = 0; c < asked->cluster_count; c++) {
        const uint32_t *sizes = NULL;
        const uint32_t count = sl_search_sizes(search, c, &sizes);
        sl_write_array(writer);
        for (uint32_t s = 0; s < count; s++)
            sl_write_uint(writer, sizes[s]);
        sl_write_array_end(writer);
    }
    sl_write_array_end(writer);
    sl_write_object_end(writer);
}
