/* Nodes and rows of sinfo as JSON or YAML, over the versions of its plugins: numbers plain or as
 * {set, infinite, number}, states and features as a text or a list, in wrappers or bare. */
#include <assert.h>
#include <string.h>

#include "base/buffer.h"
#include "base/text.h"
#include "intake/document.h"
#include "intake/slurm/slurm.h"
#include "intake/syntax/elements.h"

enum { TEXT_MAX_BYTES = 4 * 1024 * 1024, EDGE_BYTES = 4096, CLUSTER_SIZE = 128, SAID_SIZE = 160 };

static const char *const node_paths[SL_SLURM_ITEM_COUNT] = {
    "/nodes/name",  "/nodes/gres",          "/nodes/tres",         "/nodes/features",
    "/nodes/state", "/nodes/reason",        "/nodes/partitions",   "/nodes/real_memory",
    "/nodes/cpus",  "/nodes/instance_type", "/nodes/gres_drained",
};
static const char *const sinfo_paths[SL_SLURM_ITEM_COUNT] = {
    "/sinfo/nodes/nodes",
    "/sinfo/gres/total",
    "",
    "/sinfo/features/total",
    "/sinfo/node/state",
    "/sinfo/reason/description",
    "",
    "/sinfo/memory",
    "/sinfo/cpus",
    "",
    "",
};

/* A file while its elements are visited: the texts of one at a time. */
typedef struct reading {
    sl_findings *findings;
    sl_slurm_nodes *nodes;
    sl_buffer texts[SL_SLURM_ITEM_COUNT];
} reading;

static sl_code
reading_init(reading *r, sl_findings *findings, sl_errors *err)
{
    *r = (reading){.findings = findings};
    for (uint32_t i = 0; i < SL_SLURM_ITEM_COUNT; i++)
        sl_buffer_init(&r->texts[i], TEXT_MAX_BYTES);
    return sl_slurm_nodes_new(findings, &r->nodes, err);
}

static void
reading_clear(reading *r)
{
    for (uint32_t i = 0; i < SL_SLURM_ITEM_COUNT; i++)
        sl_buffer_clear(&r->texts[i]);
}

/* A member of an element, or of the object it is, and the item it says; where `between` is NULL it
 * is a number. */
typedef struct said_by {
    const char *first, *second, *between;
    sl_slurm_item item;
    bool otherwise; /* only where no member before says the item */
    bool agreed;    /* of a group's nodes, where its minimum is its maximum */
} said_by;

static const said_by node_members[] = {
    {.item = SL_SLURM_NAME, .first = "name", .between = ","},
    {.item = SL_SLURM_NAME, .first = "hostname", .between = ",", .otherwise = true},
    {.item = SL_SLURM_GRES, .first = "gres", .between = ","},
    {.item = SL_SLURM_TRES, .first = "tres", .between = ","},
    {.item = SL_SLURM_FEATURES, .first = "features", .between = ","},
    {.item = SL_SLURM_FEATURES, .first = "active_features", .between = ",", .otherwise = true},
    {.item = SL_SLURM_STATE, .first = "state", .between = "+"},
    {.item = SL_SLURM_STATE, .first = "state_flags", .between = "+"},
    {.item = SL_SLURM_REASON, .first = "reason", .between = " "},
    {.item = SL_SLURM_PARTITIONS, .first = "partitions", .between = ","},
    {.item = SL_SLURM_MEMORY, .first = "real_memory"},
    {.item = SL_SLURM_CPUS, .first = "cpus"},
    {.item = SL_SLURM_INSTANCE, .first = "instance_type", .between = ","},
    {.item = SL_SLURM_DRAINED, .first = "gres_drained", .between = ","},
};

static const said_by row_members[] = {
    {.item = SL_SLURM_NAME, .first = "nodes", .second = "nodes", .between = ","},
    {.item = SL_SLURM_NAME,
     .first = "nodes",
     .second = "hostnames",
     .between = ",",
     .otherwise = true},
    {.item = SL_SLURM_GRES, .first = "gres", .second = "total", .between = ","},
    {.item = SL_SLURM_FEATURES, .first = "features", .second = "total", .between = ","},
    {.item = SL_SLURM_FEATURES,
     .first = "features",
     .second = "active",
     .between = ",",
     .otherwise = true},
    {.item = SL_SLURM_STATE, .first = "node", .second = "state", .between = "+"},
    {.item = SL_SLURM_REASON, .first = "reason", .second = "description", .between = " "},
    {.item = SL_SLURM_REASON, .first = "reason", .between = " "},
    {.item = SL_SLURM_MEMORY, .first = "memory", .second = "minimum", .agreed = true},
    {.item = SL_SLURM_CPUS, .first = "cpus", .second = "minimum", .agreed = true},
};

/* Lists of them, and where a node and a row of sinfo name their cluster. */
enum {
    NODE_MEMBERS = sizeof node_members / sizeof node_members[0],
    ROW_MEMBERS = sizeof row_members / sizeof row_members[0]
};
static const char node_cluster[] = "cluster_name";
static const char row_cluster[] = "cluster";

/* A whole number that is plain, a text, or the "number" of an object that is "set". */
static bool
read_number(const sl_node *node, uint64_t *out)
{
    const uint64_t most = (uint64_t)1 << 53;
    sl_errors ignored;
    sl_errors_begin(&ignored, true);
    sl_node inner;
    const char *text = NULL;
    bool is_set = true;

    switch (sl_node_kind(node)) {
    case SL_JSON_INTEGER:
    case SL_JSON_REAL:
        return sl_node_as_uint(node, 0, most, out, &ignored) == SL_OK;
    case SL_JSON_TEXT:
        return sl_node_as_text(node, &text, &ignored) == SL_OK && sl_text_to_uint(text, out);
    case SL_JSON_OBJECT:
        return sl_node_bool(node, "set", &is_set, NULL, &ignored) == SL_OK && is_set &&
               sl_node_member(node, "number", &inner) &&
               sl_node_as_uint(&inner, 0, most, out, &ignored) == SL_OK;
    default:
        return false;
    }
}

/* Appends a text that is not empty, with `between` it and what is there. */
static void
append_word(sl_buffer *out, const sl_node *node, const char *between)
{
    sl_errors ignored;
    sl_errors_begin(&ignored, true);
    const char *text = NULL;

    if (sl_node_kind(node) != SL_JSON_TEXT || sl_node_as_text(node, &text, &ignored) != SL_OK ||
        *text == '\0')
        return;
    if (out->size > 0)
        sl_buffer_text(out, between);
    sl_buffer_text(out, text);
}

/* The same of a text, or of each of a list. */
static void
append_words(sl_buffer *out, const sl_node *node, const char *between)
{
    sl_node element;

    append_word(out, node, between);
    if (sl_node_kind(node) != SL_JSON_ARRAY)
        return;
    for (size_t i = 0; sl_node_at(node, i, &element); i++)
        append_word(out, &element, between);
}

/* The member at the end of a path of names, "gres" and "total". */
static bool
member_of(const sl_node *object, const char *first, const char *second, sl_node *chain)
{
    if (!sl_node_member(object, first, &chain[0]))
        return false;
    return second == NULL || sl_node_member(&chain[0], second, &chain[1]);
}

/* Whether the smallest of a group's nodes is the largest too, or the only one. */
static bool
is_agreed(const sl_slurm_node *node, const sl_node *element, const char *name)
{
    sl_node least[2], most[2];
    uint64_t a = 0, b = 0;
    const char *const names = node->item[SL_SLURM_NAME].text;

    if (!member_of(element, name, "minimum", least) || !read_number(&least[1], &a))
        return false;
    return member_of(element, name, "maximum", most) && read_number(&most[1], &b)
               ? a == b
               : names != NULL && sl_hosts_count(names, &b) && b == 1;
}

/* Says an item with the words or the number of a member; a number once. */
static void
say(reading *r, sl_slurm_node *node, const sl_node *element, const said_by *by)
{
    sl_buffer *const text = &r->texts[by->item];
    sl_node chain[2];
    uint64_t number = 0;

    if ((by->otherwise && text->size > 0) || (by->agreed && !is_agreed(node, element, by->first)) ||
        !member_of(element, by->first, by->second, chain))
        return;
    const sl_node *const value = &chain[by->second == NULL ? 0 : 1];
    if (by->between != NULL)
        append_words(text, value, by->between);
    else if (text->size == 0 && read_number(value, &number))
        sl_buffer_format(text, "%llu", (unsigned long long)number);
    if (text->size > 0 && !text->failed)
        node->item[by->item] = (sl_slurm_said){text->data, node->line};
}

static void
forget(reading *r)
{
    for (uint32_t i = 0; i < SL_SLURM_ITEM_COUNT; i++)
        r->texts[i].size = 0;
}

/* An element that names no node is told of. */
static sl_code
add(reading *r, const sl_slurm_node *node, sl_errors *err)
{
    if (node->item[SL_SLURM_NAME].text != NULL)
        return sl_slurm_node_add(r->nodes, node, err);
    sl_findings_warn(r->findings, "no_name", node->line, node->paths[SL_SLURM_NAME],
                     "an element names no node: it is left out");
    return SL_OK;
}

static sl_code
visit_node(void *context, const sl_node *element, uint32_t line, sl_errors *err)
{
    reading *const r = context;
    sl_slurm_node node = {.line = line, .paths = node_paths};
    sl_errors ignored;
    sl_errors_begin(&ignored, true);
    const char *cluster = NULL;

    forget(r);
    for (uint32_t i = 0; i < NODE_MEMBERS; i++)
        say(r, &node, element, &node_members[i]);
    if (sl_node_text(element, node_cluster, &cluster, NULL, &ignored) == SL_OK && cluster != NULL)
        sl_findings_cluster_name(r->findings, cluster);
    return add(r, &node, err);
}

static sl_code
visit_row(void *context, const sl_node *element, uint32_t line, sl_errors *err)
{
    reading *const r = context;
    sl_slurm_node node = {.line = line, .paths = sinfo_paths};
    sl_errors ignored;
    sl_errors_begin(&ignored, true);
    const char *cluster = NULL;
    sl_node total[2];
    uint64_t count = 1;

    forget(r);
    for (uint32_t i = 0; i < ROW_MEMBERS; i++)
        say(r, &node, element, &row_members[i]);
    /* A partition without nodes has a row too. */
    if (r->texts[SL_SLURM_NAME].size == 0 && member_of(element, "nodes", "total", total) &&
        read_number(&total[1], &count) && count == 0)
        return SL_OK;
    if (sl_node_text(element, row_cluster, &cluster, NULL, &ignored) == SL_OK && cluster != NULL)
        sl_findings_cluster_name(r->findings, cluster);
    return add(r, &node, err);
}

/* The last `word` in a part of the text, or NULL. */
static const char *
find_last(const char *from, const char *to, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = to - length; at >= from; at--)
        if (memcmp(at, word, length) == 0)
            return at;
    return NULL;
}

/* The name of the cluster in the "slurm" of "meta", which stands before the nodes or behind them;
 * the elements of a list are cut without decoding what is around. */
static void
say_cluster(const sl_raw *raw, sl_findings *findings)
{
    const size_t edge = raw->size < EDGE_BYTES ? raw->size : EDGE_BYTES;
    const char *const ends[][2] = {{raw->text + raw->size - edge, raw->text + raw->size},
                                   {raw->text, raw->text + edge}};
    char name[CLUSTER_SIZE];

    for (size_t i = 0; i < 2; i++) {
        const char *at = edge > 16 ? find_last(ends[i][0], ends[i][1], "\"release\"") : NULL;
        for (; at != NULL && at + 9 < ends[i][1] && *at != '}'; at++) {
            if (memcmp(at, "\"cluster\"", 9) != 0)
                continue;
            const char *const end = ends[i][1];
            at += 9;
            while (at < end && (*at == ' ' || *at == ':'))
                at++;
            const char *const from = at < end && *at == '"' ? at + 1 : end;
            const char *const quote = memchr(from, '"', (size_t)(end - from));
            if (quote == NULL || (size_t)(quote - from) >= sizeof name)
                return;
            memcpy(name, from, (size_t)(quote - from));
            name[quote - from] = '\0';
            sl_findings_cluster_name(findings, name);
            return;
        }
    }
}

static bool
is_among(const said_by *members, uint32_t count, const char *name, size_t size)
{
    const int first = size > 0 ? *name : 0; /* tells most of them apart */

    for (uint32_t i = 0; i < count; i++)
        if (*members[i].first == first && sl_text_is(name, size, members[i].first))
            return true;
    return false;
}

/* Of a node or row of sinfo a quarter of its lines. */
static bool
is_read_of_node(uint32_t depth, const char *name, size_t size)
{
    return depth != 1 || is_among(node_members, NODE_MEMBERS, name, size) ||
           sl_text_is(name, size, node_cluster);
}

static bool
is_read_of_row(uint32_t depth, const char *name, size_t size)
{
    return depth != 1 || is_among(row_members, ROW_MEMBERS, name, size) ||
           sl_text_is(name, size, row_cluster);
}

/* What a document lists. */
typedef struct listing {
    const char *name;
    sl_member_read is_read;
    sl_element_visit visit;
} listing;

static const listing of_nodes = {"nodes", is_read_of_node, visit_node};
static const listing of_rows = {"sinfo", is_read_of_row, visit_row};

/* The elements of a list anywhere, of a root that is one, or a root that is one element. *place goes
 * to the document behind it. */
static sl_code
visit_document(const sl_raw *raw, const listing *of, reading *r, sl_json_place *place,
               sl_errors *err)
{
    static const sl_json_limits limits = {.max_bytes = SL_DOCUMENT_MAX_BYTES,
                                          .max_depth = SL_JSON_DEPTH_MAX};
    const uint32_t line = place->line;
    bool found = false;
    sl_code code = sl_json_elements(raw->text, raw->size, of->name, of->is_read, of->visit, r,
                                    &found, place, err);

    if (code == SL_OK && !found && sl_document_first(raw) == '[')
        code = sl_json_elements(raw->text, raw->size, NULL, of->is_read, of->visit, r, &found, NULL,
                                err);
    if (code != SL_OK || found)
        return code;
    sl_json *json = NULL;
    code = sl_json_parse(raw->text, (size_t)(place->at - raw->text), &limits, &json, err);
    if (code != SL_OK)
        return code;
    const sl_node root = sl_json_root(json);
    code = of->visit(r, &root, line, err);
    sl_json_free(json);
    return code;
}

static sl_code
visit_all(const sl_raw *raw, const listing *of, reading *r, sl_errors *err)
{
    const char *const end = raw->text + raw->size;
    sl_json_place place = {raw->text, 1};
    sl_code code = SL_OK;

    while (code == SL_OK && place.at < end) {
        const sl_raw rest = {raw->name, place.at, (size_t)(end - place.at)};
        code = visit_document(&rest, of, r, &place, err);
    }
    return code;
}

/* The first error that an answer without nodes tells; out[0] is '\0' before it. */
static sl_code
take_error(void *context, const sl_node *element, uint32_t line, sl_errors *err)
{
    static const char *const members[] = {"error", "description"};
    char *const out = context;
    (void)line, (void)err;

    for (size_t i = 0; i < sizeof members / sizeof members[0] && *out == '\0'; i++) {
        const char *const text = sl_document_words(element, members[i]);
        (void)sl_text_copy(out, SAID_SIZE, text != NULL ? text : "");
    }
    return SL_OK;
}

/* Of what a controller answers that is in trouble. */
static sl_code
need_hosts(const sl_raw *raw, const sl_findings *findings, uint32_t before, sl_errors *err)
{
    char said[SAID_SIZE] = "";
    sl_errors ignored;
    sl_errors_begin(&ignored, true);
    bool found = false;

    if (sl_findings_count(findings) > before ||
        sl_json_elements(raw->text, raw->size, "errors", NULL, take_error, said, &found, NULL,
                         &ignored) != SL_OK ||
        *said == '\0')
        return sl_slurm_need_hosts(findings, before, err);
    return sl_fail(err, SL_E_UNSUPPORTED, "no_hosts", "",
                   "the text names no node, and holds an error of Slurm: %.100s", said);
}

static sl_code
read_list(const sl_raw *raw, const listing *of, sl_findings *findings, sl_errors *err)
{
    const uint32_t before = sl_findings_count(findings);
    reading r;

    sl_code code = reading_init(&r, findings, err);
    if (code == SL_OK)
        code = visit_all(raw, of, &r, err);
    reading_clear(&r);
    say_cluster(raw, findings);
    return code == SL_OK ? need_hosts(raw, findings, before, err) : code;
}

static uint32_t
recognise_nodes_json(const sl_sample *sample)
{
    /* Resources are a text everywhere but in what pyslurm makes of them. */
    if (sample->shape != SL_SHAPE_JSON || sl_sample_has_key(sample, "sinfo") ||
        sl_sample_holds(sample, "\"gres\": [") || sl_sample_holds(sample, "\"gres\":["))
        return 0;
    if (sl_sample_holds(sample, "\"gres\"") && sl_sample_holds(sample, "\"real_memory\""))
        return 96;
    if (sl_sample_holds(sample, "\"gres\"") && sl_sample_holds(sample, "\"state\""))
        return 80;
    /* An answer without nodes: its plugin tells whose it is, or the lists that it comes with. */
    const bool told =
        sl_sample_holds(sample, "Slurm OpenAPI") || sl_sample_holds(sample, "data_parser/") ||
        (sl_sample_has_key(sample, "errors") &&
         (sl_sample_has_key(sample, "warnings") || sl_sample_has_key(sample, "meta")));
    return sl_sample_has_key(sample, "nodes") && told ? 70 : 0;
}

static sl_code
read_nodes_json(const sl_raw *raw, sl_findings *findings, sl_errors *err)
{
    assert(raw != NULL && findings != NULL && err != NULL);
    return read_list(raw, &of_nodes, findings, err);
}

static uint32_t
recognise_sinfo_json(const sl_sample *sample)
{
    if (sample->shape != SL_SHAPE_JSON)
        return 0;
    /* The rows alone, as jq prints them, have nodes of their own. */
    if (sl_sample_has_key(sample, "sinfo") ||
        (sl_sample_has_key(sample, "node") && sl_sample_has_key(sample, "nodes") &&
         sl_sample_has_key(sample, "gres")))
        return 97;
    return sl_sample_holds(sample, "\"sinfo\"") && sl_sample_holds(sample, "\"gres\"") ? 90 : 0;
}

static sl_code
read_sinfo_json(const sl_raw *raw, sl_findings *findings, sl_errors *err)
{
    assert(raw != NULL && findings != NULL && err != NULL);
    return read_list(raw, &of_rows, findings, err);
}

static uint32_t
recognise_nodes_yaml(const sl_sample *sample)
{
    return sample->shape == SL_SHAPE_TEXT && sl_sample_holds(sample, "gres:") &&
                   sl_sample_holds(sample, "real_memory:")
               ? 95
               : 0;
}

static uint32_t
recognise_sinfo_yaml(const sl_sample *sample)
{
    return sample->shape == SL_SHAPE_TEXT && sl_sample_line_begins(sample, "sinfo:") &&
                   sl_sample_holds(sample, "gres:")
               ? 96
               : 0;
}

static sl_code
read_yaml(const sl_raw *raw, const listing *of, sl_findings *findings, sl_errors *err)
{
    const uint32_t before = sl_findings_count(findings);
    bool found = false;
    reading r;

    sl_code code = reading_init(&r, findings, err);
    if (code == SL_OK)
        code = sl_yaml_elements(raw->text, raw->size, of->name, of->is_read, of->visit, &r, &found,
                                err);
    reading_clear(&r);
    return code == SL_OK ? sl_slurm_need_hosts(findings, before, err) : code;
}

static sl_code
read_nodes_yaml(const sl_raw *raw, sl_findings *findings, sl_errors *err)
{
    assert(raw != NULL && findings != NULL && err != NULL);
    return read_yaml(raw, &of_nodes, findings, err);
}

static sl_code
read_sinfo_yaml(const sl_raw *raw, sl_findings *findings, sl_errors *err)
{
    assert(raw != NULL && findings != NULL && err != NULL);
    return read_yaml(raw, &of_rows, findings, err);
}

const sl_format sl_slurm_nodes_json_format = {
    "slurm_nodes_json", "scontrol show nodes --json, GET /slurm/nodes, sinfo --json before 23.02",
    recognise_nodes_json, read_nodes_json, 50};

const sl_format sl_slurm_sinfo_json_format = {"slurm_sinfo_json", "sinfo --json",
                                              recognise_sinfo_json, read_sinfo_json, 45};

const sl_format sl_slurm_nodes_yaml_format = {"slurm_nodes_yaml", "scontrol show nodes --yaml",
                                              recognise_nodes_yaml, read_nodes_yaml, 50};

const sl_format sl_slurm_sinfo_yaml_format = {"slurm_sinfo_yaml", "sinfo --yaml",
                                              recognise_sinfo_yaml, read_sinfo_yaml, 45};
