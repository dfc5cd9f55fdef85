#include <assert.h>
#include <string.h>

#include "base/hash.h"
#include "base/text.h"
#include "intake/documents/formats.h"
#include "intake/host_lists.h"

enum { NAMES_MAX = 1 << 13 /* a power of two */, ODD_SIZE = 192 };

/* Names that were met, with what they belong to; all borrowed from the document. */
typedef struct names {
    uint32_t count;
    struct {
        const char *name, *of;
    } slots[NAMES_MAX];
} names;

typedef struct reading {
    sl_findings *findings;
    sl_finder finder;
    uint32_t hosts;
    names switches;
    names blocks; /* of switches that list them */
} reading;

/* The slot of a name: where it stands, or a free one. */
static uint32_t
slot_of(const names *table, const char *name)
{
    uint32_t slot =
        (uint32_t)(sl_hash_quick(SL_QUICK_HASH_START, name, strlen(name)) >> 32) % NAMES_MAX;
    while (table->slots[slot].name != NULL && !sl_text_equal(table->slots[slot].name, name))
        slot = (slot + 1) % NAMES_MAX;
    return slot;
}

/* The first says what the name belongs to. Beyond the bound nothing is kept. */
static void
keep_name(names *table, const char *name, const char *of)
{
    const uint32_t slot = slot_of(table, name);
    if (table->slots[slot].name != NULL || table->count == NAMES_MAX / 2)
        return;
    table->slots[slot].name = name;
    table->slots[slot].of = of;
    table->count++;
}

/* The text of an element, or NULL. */
static const char *
element_text(const sl_node *list, size_t index)
{
    sl_errors ignored;
    sl_errors_begin(&ignored, true);
    const char *text = NULL;
    sl_node element;

    if (!sl_node_at(list, index, &element) || sl_node_kind(&element) != SL_JSON_TEXT ||
        sl_node_as_text(&element, &text, &ignored) != SL_OK)
        return NULL;
    return text;
}

/* The domain of accelerators that annotations, labels or the block itself name. */
static const char *
find_domain(const sl_node *block)
{
    static const char *const places[] = {"annotations", "labels", "attributes"};
    const char *const own = sl_document_words(block, "nvlink");

    for (size_t i = 0; i < 3 && own == NULL; i++) {
        void *state = NULL;
        sl_node place, member;
        if (!sl_document_object(block, places[i], &place))
            continue;
        while (sl_node_next(&place, &state, &member))
            if (sl_text_holds_ignoring_case(member.key, "accelerator") ||
                sl_text_holds_ignoring_case(member.key, "nvlink"))
                return sl_document_words(&place, member.key);
    }
    return own;
}

/* Nodes of a switch or a block: names and ranges in a list. */
static sl_code
take_nodes(reading *r, const sl_node *owner, const char *leaf, sl_errors *err)
{
    sl_node nodes;
    sl_facts facts = {0};
    char odd[ODD_SIZE];

    if (!sl_document_array(owner, "nodes", &nodes))
        return SL_OK;
    sl_facts_text(&facts, SL_FIELD_ACCELERATOR, sl_document_words(owner, "type"), 0, "type");
    for (size_t i = 0; i < sl_node_count(&nodes); i++) {
        const char *const name = element_text(&nodes, i);
        uint64_t count = 0;
        if (name == NULL)
            continue;
        const uint32_t line = sl_finder_line(&r->finder, name);
        (void)sl_text_format(odd, sizeof odd,
                             "\"%.60s\" is no host and no range of hosts: passed over", name);
        if (!sl_host_list_read(r->findings, line, "nodes", name, odd, &count))
            continue;
        const sl_found_host host = {
            .name = name, .count = 1, .domain = find_domain(owner), .leaf = leaf, .line = line};
        r->hosts++;
        const sl_code code = sl_findings_add(r->findings, &host, &facts, err);
        if (code != SL_OK)
            return code;
    }
    return SL_OK;
}

static void
keep_list(names *table, const sl_node *object, const char *list, const char *of)
{
    sl_node members;
    if (!sl_document_array(object, list, &members))
        return;
    for (size_t i = 0; i < sl_node_count(&members); i++)
        if (element_text(&members, i) != NULL)
            keep_name(table, element_text(&members, i), of);
}

/* Switches by name, or a list of those that say their own. */
static sl_code
take_switches(reading *r, const sl_node *root, sl_errors *err)
{
    void *state = NULL;
    sl_node switches, member;
    sl_code code = SL_OK;

    if (!sl_node_member(root, "switches", &switches))
        return SL_OK;
    const bool named = sl_node_kind(&switches) == SL_JSON_OBJECT;
    for (size_t i = 0; code == SL_OK; i++) {
        if (named ? !sl_node_next(&switches, &state, &member) : !sl_node_at(&switches, i, &member))
            break;
        const char *const name = named ? member.key : sl_document_words(&member, "name");
        if (name == NULL)
            continue;
        keep_name(&r->switches, name, NULL);
        keep_list(&r->switches, &member, "switches", name);
        keep_list(&r->blocks, &member, "capacity_blocks", name);
        code = take_nodes(r, &member, name, err);
    }
    return code;
}

static sl_code
take_blocks(reading *r, const sl_node *root, const char *list, sl_errors *err)
{
    void *state = NULL;
    sl_node blocks, block;
    sl_code code = SL_OK;

    if (!sl_node_member(root, list, &blocks))
        return SL_OK;
    const bool named = sl_node_kind(&blocks) == SL_JSON_OBJECT;
    for (size_t i = 0; code == SL_OK; i++) {
        if (named ? !sl_node_next(&blocks, &state, &block) : !sl_node_at(&blocks, i, &block))
            break;
        const char *const name = named ? block.key : sl_document_words(&block, "name");
        const char *leaf = sl_document_words(&block, "switch");
        if (leaf != NULL)
            keep_name(&r->switches, leaf, NULL);
        else if (name != NULL)
            leaf = r->blocks.slots[slot_of(&r->blocks, name)].of;
        code = take_nodes(r, &block, leaf, err);
    }
    return code;
}

static sl_code
read_model(reading *r, const sl_node *root, sl_errors *err)
{
    sl_code code = take_switches(r, root, err);
    if (code == SL_OK)
        code = take_blocks(r, root, "blocks", err);
    if (code == SL_OK)
        code = take_blocks(r, root, "capacity_blocks", err);
    if (code != SL_OK)
        return code;
    if (r->hosts == 0)
        return sl_fail(err, SL_E_UNSUPPORTED, "no_hosts", "", "holds no blocks with nodes");
    if (r->switches.count > 0) {
        const sl_found_fabric fabric = {
            .kind = {.said = true, .text = "fat_tree", .place = {0, "switches"}},
            .switches = r->switches.count};
        sl_findings_fabric(r->findings, &fabric);
    }
    return SL_OK;
}

static sl_code
read_topograph(const sl_raw *raw, sl_findings *findings, sl_errors *err)
{
    assert(raw != NULL && findings != NULL && err != NULL);

    sl_json *json = NULL;
    reading *const r = sl_arena_alloc(sl_findings_arena(findings), 1, sizeof *r);
    if (r == NULL)
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory to read the file");
    sl_code code = sl_document_decode(raw, &json, NULL, err);
    if (code != SL_OK)
        return code;
    const sl_node root = sl_json_root(json);
    r->findings = findings;
    r->finder = sl_finder_new(raw);
    code = read_model(r, &root, err);
    sl_json_free(json);
    return code;
}

static uint32_t
recognise_topograph(const sl_sample *sample)
{
    if (sample->shape != SL_SHAPE_TEXT || !sl_sample_line_begins(sample, "switches:") ||
        sl_sample_line_begins(sample, "- topology:")) /* topology.yaml of Slurm */
        return 0;
    return sl_sample_line_begins(sample, "blocks:") ||
                   sl_sample_line_begins(sample, "capacity_blocks:")
               ? 90
               : 0;
}

const sl_format sl_topograph_format = {"topograph_yaml", "cluster model of topograph, YAML",
                                       recognise_topograph, read_topograph, 25};
