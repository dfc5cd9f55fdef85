/* What the user has to decide of a draft, or should know. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "intake/merge.h"
#include "intake/syntax/elements.h"

/* The largest slice of MIG that is not the whole has half of the memory; names round it. */
static const double SLICE_SHARE = 0.6;

/* Where a member of the pool's node stands in the spec; "" when the pool is not in it. */
static void
spec_pointer(const sl_draft *draft, uint32_t index, const char *field, char out[64])
{
    uint32_t before = 0;

    *out = '\0';
    for (uint32_t i = 0; i < index; i++)
        before += sl_draft_pool_planned(&draft->pools[i]);
    if (sl_draft_pool_planned(&draft->pools[index]))
        (void)sl_text_format(out, 64, "/pools/%u/node/%s", before, field);
}

static const char *
mebibytes(double bytes, char out[32])
{
    (void)sl_text_format(out, 32, "%.0f MiB", bytes / 1048576);
    return out;
}

/* What could tell parts of one name apart, where it is read. */
static const char *
telling_tool(const sl_part *part)
{
    const char *const vendor = part->accelerator.vendor;
    return sl_text_equal(vendor, "nvidia") ? ", or add what nvidia-smi prints on one of the nodes"
           : sl_text_equal(vendor, "amd")  ? ", or add what amd-smi prints on one of the nodes"
                                           : "";
}

/* What the user has to decide, or should know, of a pool. */
static void
note_name(const sl_merge *m, uint32_t index)
{
    const sl_draft_pool *const pool = &m->draft->pools[index];
    const sl_value *const named = &pool->value[SL_FIELD_ACCELERATOR];
    const char *const name = sl_value_text(named);
    char pointer[64];

    spec_pointer(m->draft, index, "accelerator", pointer);
    if (named->fact.label != SL_LABEL_NONE)
        sl_draft_note_add(m->draft, m->arena, "part_in_features",
                          named->fact.label == SL_LABEL_SHORT, pointer,
                          "no resource of pool %s names a part, and a label does: \"%.60s\" is "
                          "taken for one",
                          pool->name, name);
    if (pool->part != NULL)
        return;
    if (name == NULL)
        sl_draft_note_add(m->draft, m->arena, "accelerator_unnamed", true, pointer,
                          "no file says what the accelerators of pool %s are: choose one",
                          pool->name);
    else if (pool->candidate_count > 0 && !pool->candidates_near)
        sl_draft_note_add(m->draft, m->arena, "ambiguous_accelerator", true, pointer,
                          "\"%.60s\" is any of %u parts: choose one%s", name, pool->candidate_count,
                          telling_tool(pool->candidates[0]));
    else
        sl_draft_note_add(
            m->draft, m->arena, "unknown_accelerator", true, pointer,
            "\"%.60s\" is not in the catalogue: choose a part like it, or add it as a "
            "private one",
            name);
}

/* A name that says so little memory is that of a slice, as sites call the types of MIG, yet it does
 * not say of how much of a device: "gpu:a100_10gb:7". */
static void
note_small(const sl_merge *m, const sl_draft_pool *pool, double count, const char *pointer)
{
    const char *const name = sl_value_text(&pool->value[SL_FIELD_ACCELERATOR]);
    const double bytes = name != NULL ? sl_part_name_bytes(name) : 0.0;
    bool small = bytes > 0 && pool->candidate_count > 0 && !pool->candidates_near;

    for (uint32_t i = 0; i < pool->candidate_count; i++)
        small =
            small && bytes < SLICE_SHARE * (double)pool->candidates[i]->accelerator.memory_bytes;
    if (small)
        sl_draft_note_add(m->draft, m->arena, "slices_by_name", true, pointer,
                          "no part called \"%.60s\" has so little memory: slices, it seems, of how "
                          "many devices is not said, and the %.0f of a node count as whole ones",
                          name, count);
}

static void
note_slices(const sl_merge *m, const sl_draft_pool *pool, double count, double sliced)
{
    const char *const slice = sl_value_text(&pool->value[SL_FIELD_SLICE]);

    if (sliced > 0 && count > 0)
        sl_draft_note_add(m->draft, m->arena, "sliced", false, "",
                          "%.0f of %.0f accelerators of a node of pool %s are cut up or shared "
                          "(%.60s): a plan can "
                          "have %u",
                          sliced, count, pool->name, slice != NULL ? slice : "MIG", pool->whole);
    else if (slice != NULL)
        sl_draft_note_add(
            m->draft, m->arena, "sliced", false, "",
            "accelerators of pool %s are cut up (%.60s), and no file says of how many "
            "whole ones: a plan can have none",
            pool->name, slice);
}

/* Fewer may be lost, or cut; more than a node type has are counted in another way, or shared. */
static void
note_excess(const sl_merge *m, const sl_draft_pool *pool, double count, const char *pointer)
{
    const sl_node_type *const node = pool->node;

    if (node == NULL || node->accelerator == NULL || pool->part == NULL ||
        !sl_text_equal(node->accelerator->id, pool->part->accelerator.id) ||
        count <= node->accelerators)
        return;
    sl_draft_note_add(m->draft, m->arena, "more_than_node_type", true, pointer,
                      "a node of pool %s has %.0f accelerators by what was printed, and %u by its "
                      "type %s: what was printed counts",
                      pool->name, count, node->accelerators, node->id);
}

/* A memory that people state, or a label, and that the part does not have: of devices cut up, or of
 * another part. */
static void
note_stated(const sl_merge *m, const sl_draft_pool *pool)
{
    const double stated = sl_value_number(&pool->value[SL_FIELD_NOMINAL_MEMORY_BYTES]);
    char said[32], known[32];

    if (pool->part == NULL || pool->value[SL_FIELD_MEMORY_BYTES].origin == SL_FROM_FILE ||
        sl_part_is_stated(stated, pool->part))
        return;
    sl_draft_note_add(m->draft, m->arena, "stated_memory_differs", true, "",
                      "%s are said to have %s each, the catalogue has %s of %s, which is taken",
                      pool->name, mebibytes(stated, said),
                      mebibytes((double)pool->part->accelerator.memory_bytes, known),
                      pool->part->accelerator.id);
}

static void
note_pool(const sl_merge *m, uint32_t index)
{
    sl_draft_pool *const pool = &m->draft->pools[index];
    const double count = sl_value_number(&pool->value[SL_FIELD_ACCELERATORS]);
    const double sliced = sl_value_number(&pool->value[SL_FIELD_SLICED_ACCELERATORS]);
    const sl_value *const memory = &pool->value[SL_FIELD_MEMORY_BYTES];
    char pointer[64], printed[32], known[32];

    note_name(m, index);
    note_slices(m, pool, count, sliced);
    spec_pointer(m->draft, index, "accelerators", pointer);
    if (count <= 0 && sl_draft_pool_planned(pool))
        sl_draft_note_add(m->draft, m->arena, "count_unknown", true, pointer,
                          "no file says how many accelerators a node of pool %s has", pool->name);
    note_excess(m, pool, count, pointer);
    note_small(m, pool, count, pointer);
    if (pool->part != NULL && memory->origin != SL_FROM_CATALOG &&
        fabs(memory->fact.number - (double)pool->part->accelerator.memory_bytes) >
            SL_DEVICE_MEMORY_SHARE * memory->fact.number)
        sl_draft_note_add(m->draft, m->arena, "memory_differs", false, "",
                          "%s print %s each, the catalogue has %s of %s: what was printed counts",
                          pool->name, mebibytes(memory->fact.number, printed),
                          mebibytes((double)pool->part->accelerator.memory_bytes, known),
                          pool->part->accelerator.id);
    note_stated(m, pool);
    const char *const type = sl_value_text(&pool->value[SL_FIELD_NODE_TYPE]);
    if (type != NULL && pool->node == NULL)
        sl_draft_note_add(
            m->draft, m->arena, "unknown_node_type", false, "",
            "node type \"%.60s\" is not in the catalogue: only what files say of it is "
            "known",
            type);
}

/* What a node holds may hide behind a type that nobody knows, where nothing else is said of it. */
static void
note_bare(const sl_merge *m)
{
    if (m->draft->pool_count == 0)
        return;
    for (uint32_t i = 0; i < m->class_count; i++) {
        const sl_class *const class = m->classes[i];
        const char *const type = sl_value_text(&class->value[SL_FIELD_NODE_TYPE]);
        if (type == NULL || class->node != NULL || sl_class_has_accelerators(class) ||
            class->value[SL_FIELD_CPUS].origin != SL_FROM_NOBODY)
            continue;
        sl_draft_note_add(m->draft, m->arena, "node_type_undescribed", true, "",
                          "node type \"%.60s\" is not in the catalogue, and nothing else is said "
                          "of its nodes: they are in no pool",
                          type);
    }
}

/* Whether all that is said of a host is where it stands. */
static bool
is_only_placed(const sl_merge *m, uint32_t first)
{
    bool placed = m->class_of[first] != SL_FOUND_NONE && m->classes[m->class_of[first]]->named &&
                  m->classes[m->class_of[first]]->kind_count == 0;

    for (uint32_t at = first; placed && at != SL_FOUND_NONE;
         at = sl_findings_host(m->findings, at)->next) {
        const sl_found_host *const host = sl_findings_host(m->findings, at);
        placed = host->state == SL_HOST_UNSAID && (host->leaf != NULL || host->domain != NULL);
    }
    return placed;
}

static void
note_placed(const sl_merge *m)
{
    uint32_t hosts = 0;

    for (uint32_t i = 0; m->draft->pool_count > 0 && i < sl_findings_count(m->findings); i++)
        hosts += is_only_placed(m, i);
    if (hosts > 0)
        sl_draft_note_add(m->draft, m->arena, "hosts_undescribed", false, "",
                          "the topology names %u hosts of which no file says what they hold: they "
                          "are in no pool",
                          hosts);
}

/* Files of one machine among those that name hosts, and of none of them. */
static void
note_strangers(const sl_merge *m)
{
    bool named = false;

    for (uint32_t i = 0; i < m->class_count; i++)
        named = named || (m->classes[i]->named && sl_class_has_accelerators(m->classes[i]));
    for (uint32_t i = 0; named && i < m->class_count; i++) {
        const sl_class *const class = m->classes[i];
        if (class->named || class->absorbed || class->pool != NULL ||
            !sl_class_has_accelerators(class))
            continue;
        const char *const name = sl_value_text(&class->value[SL_FIELD_ACCELERATOR]);
        sl_draft_note_add(
            m->draft, m->arena, "node_like_none", true, "",
            "a node with %.0f x %.60s is like none of those that are named: it counts "
            "as another one",
            sl_value_number(&class->value[SL_FIELD_ACCELERATORS]),
            name != NULL ? name : "an accelerator");
    }
}

/* What hides them may be a node type that nobody knows, or a column that was not asked for. */
static void
note_none(const sl_merge *m)
{
    const char *type = NULL;
    bool sinfo = false;

    for (uint32_t i = 0; i < m->class_count && type == NULL; i++)
        if (m->classes[i]->node == NULL)
            type = sl_value_text(&m->classes[i]->value[SL_FIELD_NODE_TYPE]);
    for (uint32_t i = 0; i < sl_findings_file_count(m->findings); i++)
        sinfo = sinfo || sl_text_equal(sl_findings_file_format(m->findings, i), "slurm_sinfo_text");
    sl_draft_note_add(m->draft, m->arena, "no_accelerators", true, "",
                      "no accelerators found on %u nodes%s%.60s%s%s", m->draft->hosts,
                      type != NULL ? "; the catalogue does not know node type \"" : "",
                      type != NULL ? type : "", type != NULL ? "\"" : "",
                      sinfo ? "; sinfo -N -o \"%N %G %T\" prints the column that names them" : "");
}

/* A spec alone is answered as it came: what storing it would refuse is told here, but for the names
 * that are left to choose. */
static void
note_document(const sl_merge *m)
{
    static const char *const left[] = {"ambiguous_accelerator", "unknown_accelerator"};
    static const sl_json_limits limits = {.max_bytes = SL_DOCUMENT_MAX_BYTES, .max_depth = 32};
    const char *const text = sl_findings_document(m->findings);
    sl_errors warnings = {.count = 0}, faults = {.count = 0};
    sl_json *json = NULL;

    if (text == NULL || sl_findings_file_count(m->findings) != 1 ||
        sl_json_parse(text, strlen(text), &limits, &json, &faults) != SL_OK)
        return;
    const sl_node spec = sl_json_root(json);
    if (sl_inventory_check(&spec, m->catalog, &warnings, &faults) != SL_OK)
        for (uint32_t i = 0; i < faults.count; i++) {
            const sl_error *const fault = &faults.list[i];
            if (sl_text_index(fault->rule, left, sizeof left / sizeof left[0]) < 0)
                sl_draft_note_add(m->draft, m->arena, fault->rule, true, fault->pointer, "%s%s%s",
                                  fault->message, *fault->hint != '\0' ? ": " : "", fault->hint);
        }
    sl_json_free(json);
}

void
sl_draft_notes(const sl_merge *merge)
{
    assert(merge != NULL);

    for (uint32_t i = 0; i < merge->draft->pool_count; i++)
        note_pool(merge, i);
    note_document(merge);
    note_bare(merge);
    note_placed(merge);
    note_strangers(merge);
    if (merge->draft->pool_count == 0)
        note_none(merge);
}
