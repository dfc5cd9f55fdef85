/* topology.conf, and what scontrol show topology prints: switches above nodes, or blocks of nodes
 * that a scale-up network joins. */
#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "intake/host_lists.h"
#include "intake/slurm/keys.h"
#include "intake/slurm/slurm.h"

/* scontrol show topology also lists every node that is anywhere below a switch of a higher
 * level. */
static bool
is_above_leaves(const sl_slurm_keys *keys)
{
    const char *const level = sl_slurm_keys_get(keys, "Level");
    return level != NULL && !sl_text_equal(level, "0");
}

/* Adds the nodes of a switch or a block. */
static sl_code
take_nodes(sl_findings *findings, const sl_slurm_keys *keys, const char *nodes, const char *leaf,
           const char *block, sl_errors *err)
{
    const sl_found_host host = {
        .name = nodes, .domain = block, .leaf = leaf, .line = keys->line, .count = 1};
    uint64_t ignored = 0;

    if (sl_text_equal_ignoring_case(nodes, "ALL")) {
        sl_findings_warn(findings, "all_nodes", keys->line, "Nodes",
                         "Nodes=ALL names no node: it stands for those of slurm.conf");
        return SL_OK;
    }
    if (sl_hosts_count(nodes, &ignored))
        return sl_findings_add(findings, &host, NULL, err);
    sl_host_list_left_out(findings, keys->line, "Nodes", nodes);
    return SL_OK;
}

static sl_code
take_line(sl_findings *findings, const sl_slurm_keys *keys, sl_found_fabric *fabric, sl_errors *err)
{
    const char *const leaf = sl_slurm_keys_get(keys, "SwitchName");
    const char *const block = sl_slurm_keys_get(keys, "BlockName");
    const char *const sizes = sl_slurm_keys_get(keys, "BlockSizes");
    const char *const nodes = sl_slurm_keys_get(keys, "Nodes");

    if (keys->too_long)
        sl_findings_warn(findings, "too_long", keys->line, NULL, "a line is too long to be read");
    if (sizes != NULL)
        sl_findings_warn(findings, "block_sizes", keys->line, "BlockSizes",
                         "jobs are placed in blocks of %.60s nodes", sizes);
    if (leaf == NULL && block == NULL)
        return SL_OK;
    if (!fabric->kind.said)
        fabric->kind = (sl_fact){.said = true,
                                 .text = leaf != NULL ? "fat_tree" : "block",
                                 .place = {keys->line, leaf != NULL ? "SwitchName" : "BlockName"}};
    fabric->switches += leaf != NULL;
    return !sl_slurm_says(nodes) || is_above_leaves(keys)
               ? SL_OK
               : take_nodes(findings, keys, nodes, leaf, block, err);
}

static uint32_t
recognise_topology_conf(const sl_sample *sample)
{
    if (sample->shape != SL_SHAPE_TEXT)
        return 0;
    return sl_slurm_line_begins(sample, "SwitchName=") || sl_slurm_line_begins(sample, "BlockName=")
               ? 96
               : 0;
}

static sl_code
read_topology_conf(const sl_raw *raw, sl_findings *findings, sl_errors *err)
{
    assert(raw != NULL && findings != NULL && err != NULL);

    const uint32_t before = sl_findings_count(findings);
    sl_found_fabric fabric = {.switches = 0};
    sl_slurm_keys keys;
    sl_code code = SL_OK;

    sl_slurm_keys_init(&keys, raw);
    while (code == SL_OK && sl_slurm_keys_next(&keys))
        code = take_line(findings, &keys, &fabric, err);
    sl_slurm_keys_clear(&keys);
    if (code != SL_OK)
        return code;
    /* A file of switches without nodes still tells what the network is. */
    if (fabric.kind.said)
        sl_findings_fabric(findings, &fabric);
    return fabric.switches > 0 ? SL_OK : sl_slurm_need_hosts(findings, before, err);
}

const sl_format sl_slurm_topology_conf_format = {"slurm_topology_conf",
                                                 "topology.conf, tree or block",
                                                 recognise_topology_conf, read_topology_conf, 40};
