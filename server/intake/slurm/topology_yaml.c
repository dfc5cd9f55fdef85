/* topology.yaml: several topologies in one file, each a tree of switches, blocks, or flat. */
#include <assert.h>

#include "base/text.h"
#include "intake/host_lists.h"
#include "intake/slurm/slurm.h"
#include "intake/syntax/elements.h"

/* A file while its topologies are visited. */
typedef struct reading {
    sl_findings *findings;
    sl_found_fabric fabric;
} reading;

static const char *
text_of(const sl_node *object, const char *name)
{
    sl_errors ignored;
    sl_errors_begin(&ignored, true);
    const char *text = NULL;
    return sl_node_text(object, name, &text, NULL, &ignored) == SL_OK ? text : NULL;
}

/* A switch or a block: its nodes are below it. */
static sl_code
take_part(reading *r, const sl_node *part, const char *leaf, const char *block, uint32_t line,
          sl_errors *err)
{
    const char *const nodes = text_of(part, "nodes");
    const sl_found_host host = {
        .name = nodes, .domain = block, .leaf = leaf, .line = line, .count = 1};
    uint64_t ignored = 0;

    if (!sl_slurm_says(nodes))
        return SL_OK;
    if (sl_hosts_count(nodes, &ignored))
        return sl_findings_add(r->findings, &host, NULL, err);
    sl_host_list_left_out(r->findings, line, "nodes", nodes);
    return SL_OK;
}

static sl_code
take_parts(reading *r, const sl_node *topology, const char *kind, uint32_t line, sl_errors *err)
{
    const bool tree = sl_text_equal(kind, "tree");
    sl_node holder, parts, part;
    sl_code code = SL_OK;

    if (!sl_node_member(topology, kind, &holder) ||
        !sl_node_member(&holder, tree ? "switches" : "blocks", &parts))
        return SL_OK;
    if (!r->fabric.kind.said)
        r->fabric.kind =
            (sl_fact){.said = true, .text = tree ? "fat_tree" : "block", .place = {line, kind}};
    for (size_t i = 0; code == SL_OK && sl_node_at(&parts, i, &part); i++) {
        r->fabric.switches += tree;
        code = take_part(r, &part, tree ? text_of(&part, "switch") : NULL,
                         tree ? NULL : text_of(&part, "block"), line, err);
    }
    return code;
}

/* Since 26.05. How a torus joins its nodes no plan knows: its nodes are read. */
static sl_code
take_toruses(reading *r, const sl_node *topology, uint32_t line, sl_errors *err)
{
    sl_node holder, parts, part;
    sl_code code = SL_OK;

    if (!sl_node_member(topology, "torus3d", &holder) ||
        !sl_node_member(&holder, "toruses", &parts))
        return SL_OK;
    sl_findings_warn(
        r->findings, "torus_topology", line, "torus3d",
        "a torus joins the nodes: it is not modelled, what plans reckon with is stated "
        "by hand");
    for (size_t i = 0; code == SL_OK && sl_node_at(&parts, i, &part); i++)
        code = take_part(r, &part, NULL, NULL, line, err);
    return code;
}

static sl_code
visit_topology(void *context, const sl_node *element, uint32_t line, sl_errors *err)
{
    reading *const r = context;
    sl_code code = take_parts(r, element, "tree", line, err);
    if (code == SL_OK)
        code = take_parts(r, element, "block", line, err);
    return code == SL_OK ? take_toruses(r, element, line, err) : code;
}

static uint32_t
recognise_topology_yaml(const sl_sample *sample)
{
    if (sample->shape != SL_SHAPE_TEXT || !sl_sample_line_begins(sample, "- topology:"))
        return 0;
    return sl_sample_holds(sample, "switches:") || sl_sample_holds(sample, "blocks:") ? 96 : 60;
}

static sl_code
read_topology_yaml(const sl_raw *raw, sl_findings *findings, sl_errors *err)
{
    assert(raw != NULL && findings != NULL && err != NULL);

    const uint32_t before = sl_findings_count(findings);
    reading r = {.findings = findings};
    bool found = false;
    const sl_code code =
        sl_yaml_elements(raw->text, raw->size, NULL, NULL, visit_topology, &r, &found, err);

    if (code != SL_OK)
        return code;
    if (r.fabric.kind.said)
        sl_findings_fabric(findings, &r.fabric);
    return r.fabric.switches > 0 ? SL_OK : sl_slurm_need_hosts(findings, before, err);
}

const sl_format sl_slurm_topology_yaml_format = {"slurm_topology_yaml", "topology.yaml",
                                                 recognise_topology_yaml, read_topology_yaml, 40};
