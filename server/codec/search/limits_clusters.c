#include "codec/search/limits_clusters.h"

#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "codec/search/search_plan.h"
#include "codec/search/search_words.h"
#include "json/members.h"

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

enum { DOCUMENT_BYTES = 16 << 20, NAME_BYTES = 200 };

/* Where a candidate comes from: an entry of the request's list, or a node type. */
typedef struct source {
    bool listed;
    sl_node entry;
    const sl_node_type *type;
} source;

typedef struct sources {
    uint32_t count;
    source list[SL_CANDIDATES_MAX];
    uint64_t nodes; /* of a node type, at most */
} sources;

static sl_code
no_memory(sl_errors *err)
{
    return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "the clusters do not fit in memory");
}

static sl_code
read_listed(const sl_node *root, sources *out, sl_errors *err)
{
    sl_node list;

    if (!sl_node_member(root, "clusters", &list))
        return SL_OK;
    if (sl_node_kind(&list) != SL_JSON_ARRAY)
        return sl_node_fail(&list, err, SL_E_RANGE, "wrong_type", "must be an array");
    const size_t count = sl_node_count(&list);
    if (count < 1 || count > SL_SEARCH_CLUSTERS_MAX)
        return sl_node_fail(&list, err, SL_E_RANGE, "out_of_range",
                            "must have from 1 to %d clusters, got %zu", SL_SEARCH_CLUSTERS_MAX,
                            count);
    for (size_t i = 0; i < count; i++) {
        source *const to = &out->list[out->count++];
        to->listed = true;
        (void)sl_node_at(&list, i, &to->entry);
    }
    return SL_OK;
}

static void
add_type(sources *out, const sl_node_type *type)
{
    for (uint32_t i = 0; i < out->count; i++)
        if (out->list[i].type == type)
            return;
    out->list[out->count++].type = type;
}

static sl_code
read_named_types(const sl_node *list, const sl_catalog *catalog, sources *out, sl_errors *err)
{
    const size_t count = sl_node_count(list);
    sl_code first = SL_OK;

    if (count < 1 || count > SL_CANDIDATES_MAX - SL_SEARCH_CLUSTERS_MAX)
        return sl_node_fail(list, err, SL_E_RANGE, "out_of_range",
                            "must have from 1 to %d node types, got %zu",
                            SL_CANDIDATES_MAX - SL_SEARCH_CLUSTERS_MAX, count);
    for (size_t i = 0; i < count; i++) {
        sl_node entry;
        const char *name = NULL;
        char pointer[32];
        const sl_node_type *type = NULL;
        (void)sl_node_at(list, i, &entry);
        (void)sl_text_format(pointer, sizeof pointer, "/node_types/%zu", i);
        sl_code code = sl_node_as_text(&entry, &name, err);
        if (code == SL_OK)
            code = sl_catalog_find_node(catalog, name, pointer, &type, err);
        if (code == SL_OK && type->accelerator == NULL)
            code = sl_fail(err, SL_E_RANGE, "unknown_accelerator", pointer,
                           "the catalogue does not have the accelerators of %s", type->id);
        if (code == SL_OK)
            add_type(out, type);
        sl_keep(&first, code);
    }
    return first;
}

static sl_code
read_types(const sl_node *root, const sl_catalog *catalog, sources *out, sl_errors *err)
{
    sl_node list;
    const char *word = NULL;

    if (!sl_node_member(root, "node_types", &list))
        return SL_OK;
    if (sl_node_kind(&list) == SL_JSON_ARRAY)
        return read_named_types(&list, catalog, out, err);
    const sl_code code = sl_node_text(root, "node_types", &word, NULL, err);
    if (code != SL_OK)
        return code;
    if (!sl_text_equal(word, "all"))
        return sl_node_fail(&list, err, SL_E_RANGE, "unknown_value",
                            "must be \"all\", or a list of node types; got \"%.40s\"", word);
    for (uint32_t i = 0; i < sl_catalog_node_count(catalog) && out->count < SL_CANDIDATES_MAX;
         i++) {
        const sl_node_type *const type = sl_catalog_node(catalog, i);
        if (type->accelerator != NULL)
            add_type(out, type);
    }
    return SL_OK;
}

static void
copy_member(sl_writer *writer, const char *name, const sl_node *value, sl_code *first)
{
    sl_buffer text;

    sl_buffer_init(&text, DOCUMENT_BYTES);
    const sl_code code = sl_json_canonical(value, &text);
    if (name != NULL)
        sl_write_key(writer, name);
    if (code == SL_OK)
        sl_write_raw(writer, text.data, text.size);
    else
        sl_write_null(writer);
    sl_keep(first, code);
    sl_buffer_clear(&text);
}

static void
type_write(sl_writer *writer, const sl_node_type *type, uint64_t nodes)
{
    const uint64_t most = SL_SEARCH_SIZES_MAX / (type->accelerators > 0 ? type->accelerators : 1);

    sl_write_object(writer);
    sl_put_text(writer, "node_type", type->id);
    sl_put_uint(writer, "nodes", nodes < most ? nodes : most);
    sl_write_object_end(writer);
}

/* A search of the candidates from `first` to before `end`, in whose words all else is said. */
static sl_code
document_write(const sl_node *root, const sources *from, uint32_t first, uint32_t end,
               sl_arena *arena, const char **out, sl_errors *err)
{
    static const char *const shared[] = {"model", "workload", "parallelism", "space",
                                         "constraints"};
    sl_code code = SL_OK;
    sl_buffer text;
    sl_writer writer;
    sl_node member;

    sl_buffer_init(&text, DOCUMENT_BYTES);
    sl_writer_init(&writer, &text);
    sl_write_object(&writer);
    for (size_t i = 0; i < COUNT(shared); i++)
        if (sl_node_member(root, shared[i], &member))
            copy_member(&writer, shared[i], &member, &code);
    sl_write_key(&writer, "clusters");
    sl_write_array(&writer);
    for (uint32_t i = first; i < end; i++) {
        if (from->list[i].listed)
            copy_member(&writer, NULL, &from->list[i].entry, &code);
        else
            type_write(&writer, from->list[i].type, from->nodes);
    }
    sl_write_array_end(&writer);
    sl_write_object_end(&writer);
    *out = code == SL_OK && sl_writer_ok(&writer) ? sl_arena_copy_bytes(arena, text.data, text.size)
                                                  : NULL;
    sl_buffer_clear(&text);
    return *out != NULL ? SL_OK : no_memory(err);
}

sl_code
sl_candidates_read(const sl_node *root, const sl_catalog *catalog, sl_arena *arena,
                   sl_errors *warnings, sl_candidates_asked *out, sl_errors *err)
{
    static const sl_member members[] = {
        {"model", NULL},       {"workload", NULL},    {"clusters", NULL},
        {"node_types", NULL},  {"space", NULL},       {"max_nodes", NULL},
        {"parallelism", NULL}, {"constraints", NULL}, {"time_limit_s", NULL}};
    sl_code first = sl_node_object(root, err);
    if (first != SL_OK)
        return first;
    sources *const from = sl_arena_alloc(arena, 1, sizeof *from);
    if (from == NULL)
        return no_memory(err);
    *out = (sl_candidates_asked){.time_limit_s = SL_SEARCH_TIME_LIMIT_DEFAULT_S};
    from->nodes = SL_CANDIDATE_NODES_DEFAULT;
    sl_keep(&first, sl_members_check(root, members, COUNT(members), warnings, err));
    sl_keep(&first,
            sl_node_uint(root, "max_nodes", 1, SL_CANDIDATE_NODES_MAX, &from->nodes, NULL, err));
    sl_keep(&first, sl_node_double(root, "time_limit_s", 0.001, SL_SEARCH_TIME_LIMIT_MAX_S,
                                   &out->time_limit_s, NULL, err));
    sl_keep(&first, read_listed(root, from, err));
    sl_keep(&first, read_types(root, catalog, from, err));
    if (first == SL_OK && from->count == 0) {
        first = sl_node_fail_at(root, "node_types", err, SL_E_RANGE, "required_field",
                                "must say among which clusters: node_types, or clusters");
        sl_hint(err, "\"all\"");
    }
    for (uint32_t i = 0; first == SL_OK && i < from->count; i += SL_SEARCH_CLUSTERS_MAX) {
        const uint32_t end =
            i + SL_SEARCH_CLUSTERS_MAX < from->count ? i + SL_SEARCH_CLUSTERS_MAX : from->count;
        first =
            document_write(root, from, i, end, arena, &out->documents[out->document_count++], err);
    }
    return first;
}

sl_code
sl_candidate_name(const sl_search_asked *asked, uint32_t index, sl_arena *arena, sl_candidate *out,
                  sl_errors *err)
{
    char name[NAME_BYTES];
    sl_buffer said;

    sl_search_cluster_say(asked, index, name, sizeof name);
    sl_buffer_init(&said, DOCUMENT_BYTES);
    if (sl_json_canonical(&asked->entries[index], &said) == SL_OK)
        out->said = sl_arena_copy_bytes(arena, said.data, said.size);
    sl_buffer_clear(&said);
    out->name = sl_arena_copy(arena, name);
    out->request = asked->of[index];
    out->cluster = asked->questions[index].cluster;
    return out->name != NULL && out->said != NULL ? SL_OK : no_memory(err);
}

/* Accelerators of a cluster that are asked for, at most. */
static uint64_t
largest_size(const sl_search_asked *asked, uint32_t index)
{
    const uint64_t all = sl_cluster_accelerators(asked->questions[index].cluster);
    const uint64_t most = asked->request.constraints.max_accelerators;

    return most > 0 && most < all ? most : all;
}

/* Parts of a node and one, then twice as many nodes as before, as far as a list has room. */
static void
add_round(const sl_search_asked *asked, uint32_t index, uint64_t *looked_to, sl_values *out)
{
    const uint64_t node = asked->questions[index].cluster->accelerators_per_node;
    const uint64_t most = largest_size(asked, index);
    const uint64_t from = *looked_to;
    const uint64_t to = from == 0 ? node : 2 * from;

    if (from == 0)
        for (uint64_t size = 1; size < node && size <= most; size *= 2)
            out->list[out->count++] = size;
    for (uint64_t size = from + node;
         size <= to && size <= most && out->count < SL_SEARCH_VALUES_MAX; size += node)
        out->list[out->count++] = *looked_to = size;
}

bool
sl_candidate_aim(sl_search_asked *asked, const sl_space *space, uint32_t index, sl_aim aim,
                 sl_candidate_plan *plan)
{
    static const sl_objective objectives[SL_AIM_COUNT] = {
        [SL_AIM_SMALLEST] = SL_OBJECTIVE_ACCELERATORS,
        [SL_AIM_FASTEST] = SL_OBJECTIVE_THROUGHPUT,
        [SL_AIM_CHEAPEST] = SL_OBJECTIVE_COST,
    };
    const sl_question *const question = &asked->questions[index];
    sl_search_request *const request = &asked->request;
    const bool said = space->nodes.count > 0 || space->of[SL_DIMENSION_ACCELERATORS].count > 0 ||
                      question->cluster->pool_count > 0;

    assert(index < asked->cluster_count && aim < SL_AIM_COUNT);
    if (aim == SL_AIM_CHEAPEST && question->cluster->price_per_node_hour <= 0.0)
        plan->missing = "price";
    else if (aim == SL_AIM_CHEAPEST && question->workload.tokens == 0)
        plan->missing = "tokens";
    if (plan->missing != NULL)
        return false;
    asked->simulate = asked->neighbours = false;
    request->question_count = 1;
    request->questions = question;
    request->objective = objectives[aim];
    request->limit = 1;
    request->front = false;
    request->space = *space;
    request->space.every_size = true;
    if (aim == SL_AIM_SMALLEST && !said)
        add_round(asked, index, &plan->looked_to, &request->space.of[SL_DIMENSION_ACCELERATORS]);
    return true;
}

bool
sl_candidate_goes_on(const sl_search_asked *asked, uint32_t index, sl_aim aim,
                     const sl_candidate_plan *plan)
{
    const uint64_t node = asked->questions[index].cluster->accelerators_per_node;

    return aim == SL_AIM_SMALLEST && plan->searched && !plan->found && plan->looked_to > 0 &&
           plan->looked_to + node <= largest_size(asked, index);
}

static const char *
plan_text(const sl_search_document *document, uint32_t index, sl_arena *arena)
{
    sl_buffer text;
    sl_writer writer;
    const char *out = NULL;

    sl_buffer_init(&text, DOCUMENT_BYTES);
    sl_writer_init(&writer, &text);
    sl_write_object(&writer);
    sl_search_plan_members_write(&writer, document->asked->of[index], document->search,
                                 &document->outcome->best[0]);
    sl_put_bool(&writer, "fits_certain", document->review->plans[0].fits_certain);
    sl_write_object_end(&writer);
    if (sl_writer_ok(&writer))
        out = sl_arena_copy_bytes(arena, text.data, text.size);
    sl_buffer_clear(&text);
    return out;
}

sl_code
sl_candidate_keep(const sl_search_document *document, uint32_t index, sl_arena *arena,
                  sl_candidate_plan *plan, sl_errors *err)
{
    const sl_search_outcome *const outcome = document->outcome;
    char sentence[SL_SEARCH_SENTENCE_BYTES];

    plan->searched = document->state == SL_SEARCH_DONE;
    plan->missing = plan->searched ? NULL : "time";
    plan->found = outcome->best_count > 0;
    plan->nothing = NULL; /* of an earlier round */
    if (plan->found) {
        plan->point = outcome->best[0];
        plan->plan = plan_text(document, index, arena);
        return plan->plan != NULL ? SL_OK : no_memory(err);
    }
    sl_nothing_say(outcome, &document->asked->request, sentence);
    plan->nothing = sl_arena_copy(arena, sentence);
    return plan->nothing != NULL ? SL_OK : no_memory(err);
}
