/* Which part of the catalogue a class of nodes has, as far as what files say decides it. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "intake/merge.h"

static bool
memory_fits(const sl_class *class, const sl_part *part)
{
    const double measured = sl_value_number(&class->value[SL_FIELD_MEMORY_BYTES]);
    const double stated = sl_value_number(&class->value[SL_FIELD_NOMINAL_MEMORY_BYTES]);
    const double has = (double)part->accelerator.memory_bytes;

    if (measured > 0)
        return fabs(measured - has) <= SL_DEVICE_MEMORY_SHARE * has;
    return sl_part_is_stated(stated, part);
}

static bool
named_memory_fits(const sl_class *class, const sl_part *part)
{
    return sl_part_is_stated(class->named_bytes, part);
}

/* Links between the parts of a node tell a module from a card; their absence tells nothing. */
static bool
links_fit(const sl_class *class, const sl_part *part)
{
    const double domain = sl_value_number(&class->value[SL_FIELD_SCALE_UP_DOMAIN]);
    const bool linked = sl_value_number(&class->value[SL_FIELD_LINKS]) > 0 ||
                        sl_value_number(&class->value[SL_FIELD_SCALE_UP_BYTES_PER_S]) > 0;

    if (linked && part->accelerator.scale_up_domain <= 1)
        return false;
    return domain <= 2 || part->accelerator.scale_up_domain == 0 ||
           part->accelerator.scale_up_domain > 2;
}

static bool
node_fits(const sl_class *class, const sl_part *part)
{
    return class->node == NULL || class->node->accelerator == NULL ||
           sl_text_equal(class->node->accelerator->id, part->accelerator.id);
}

typedef bool (*test)(const sl_class *class, const sl_part *part);

/* Keeps the candidates that pass; all of them where none does, for then the test is the odd one. */
static bool
narrow(sl_class *class, test passes)
{
    const sl_part *kept[SL_PART_CANDIDATES_MAX];
    uint32_t count = 0;

    for (uint32_t i = 0; i < class->candidate_count; i++)
        if (passes(class, class->candidates[i]))
            kept[count++] = class->candidates[i];
    if (count == 0 || count == class->candidate_count)
        return false;
    for (uint32_t i = 0; i < count; i++)
        class->candidates[i] = kept[i];
    class->candidate_count = count;
    return true;
}

static void
find_node(const sl_merge *merge, sl_class *class)
{
    sl_errors ignored;
    sl_errors_begin(&ignored, true);
    const char *const name = sl_value_text(&class->value[SL_FIELD_NODE_TYPE]);

    class->node = NULL;
    if (name != NULL &&
        sl_catalog_find_node(merge->catalog, name, "", &class->node, &ignored) != SL_OK)
        class->node = NULL;
}

/* The part that a node type has, when nobody named one. */
static void
part_of_node(const sl_merge *merge, sl_class *class)
{
    sl_errors ignored;
    sl_errors_begin(&ignored, true);

    if (class->node == NULL || class->node->accelerator == NULL)
        return;
    if (sl_catalog_find_part(merge->catalog, class->node->accelerator->id, "",
                             &class->candidates[0], &ignored) == SL_OK)
        class->candidate_count = 1;
}

static void
take_candidates(sl_class *class, const sl_part_name *found)
{
    memcpy(class->candidates, found->candidates, sizeof class->candidates);
    class->candidate_count = found->candidate_count;
    class->candidates_near = found->near;
    class->named_bytes = found->bytes;
}

static const sl_part_name *
look_up(sl_merge *merge, const sl_value *said)
{
    const char *const format = sl_findings_file_format(merge->findings, said->file);

    return strncmp(format, "slurm", 5) == 0
               ? sl_part_names_find_counted(&merge->names, said->fact.text)
               : sl_part_names_find(&merge->names, said->fact.text);
}

/* The node type has a part that the catalogue does not: those that its name fits as well are only
 * like it ("habana.ai/gaudi" of the first generation). */
static void
doubt_unknown(sl_class *class)
{
    if (class->node != NULL && class->node->accelerators > 0 && class->node->accelerator == NULL &&
        class->candidate_count > 1)
        class->candidates_near = true;
}

/* A name that nobody knows, near to that of the part that its node type has, is that part's. */
static void
take_near(sl_class *class)
{
    const sl_part *part = NULL;

    for (uint32_t i = 0; i < class->candidate_count && class->candidates_near; i++)
        if (class->node != NULL && class->node->accelerator != NULL &&
            sl_text_equal(class->node->accelerator->id, class->candidates[i]->accelerator.id))
            part = class->candidates[i];
    if (part == NULL)
        return;
    class->candidates[0] = part;
    class->candidate_count = 1;
    class->candidates_near = false;
    class->value[SL_FIELD_ACCELERATOR].reason =
        "no part goes by the name; the node type has this one, which is like it";
}

/* What speaks against a part that only a label names, or NULL. */
static const char *
contradicted(const sl_merge *merge, const sl_class *class, const sl_value *named)
{
    bool memory = false, node = false;

    if (named->fact.label == SL_LABEL_SHORT &&
        sl_findings_is_place(merge->findings, named->file, named->fact.text))
        return "other nodes have labels like it that name no part";
    for (uint32_t i = 0; i < class->candidate_count; i++) {
        memory = memory || memory_fits(class, class->candidates[i]);
        node = node || node_fits(class, class->candidates[i]);
    }
    return !memory ? "its memory is not theirs" : !node ? "the node type has another part" : NULL;
}

/* Takes back what only a label says, where something speaks against it. */
static bool
drop_label(const sl_merge *merge, sl_class *class)
{
    sl_value *const named = &class->value[SL_FIELD_ACCELERATOR];
    const char *const against =
        named->fact.label == SL_LABEL_NONE ? NULL : contradicted(merge, class, named);

    if (against == NULL)
        return false;
    sl_draft_note_add(merge->draft, merge->arena, "label_not_taken", false, "",
                      "the label \"%.60s\" may name a part, but %s: it is not taken",
                      named->fact.text, against);
    *named = (sl_value){.origin = SL_FROM_NOBODY};
    class->candidate_count = 0;
    class->named_bytes = 0.0;
    return true;
}

void
sl_class_resolve(sl_merge *merge, sl_class *class)
{
    assert(merge != NULL && class != NULL);

    const char *const name = sl_value_text(&class->value[SL_FIELD_ACCELERATOR]);
    class->candidate_count = 0;
    class->candidates_near = false;
    class->named_bytes = 0.0;
    find_node(merge, class);
    if (name == NULL) {
        part_of_node(merge, class);
        return;
    }
    take_candidates(class, look_up(merge, &class->value[SL_FIELD_ACCELERATOR]));
    if (drop_label(merge, class)) {
        part_of_node(merge, class);
        return;
    }
    doubt_unknown(class);
    take_near(class);
    sl_value *const value = &class->value[SL_FIELD_ACCELERATOR];
    const bool several = class->candidate_count > 1;
    const bool by_memory = narrow(class, memory_fits);
    const bool by_name = narrow(class, named_memory_fits);
    const bool by_links = narrow(class, links_fit);
    const bool by_node = narrow(class, node_fits);
    if (several && class->candidate_count == 1 && !class->candidates_near)
        value->reason = by_memory  ? "the name fits several parts; its memory fits this one"
                        : by_links ? "the name fits several parts; its links fit this one"
                        : by_node  ? "the name fits several parts; the node type has this one"
                        : by_name  ? "the name fits several parts; the memory in it fits this one"
                                   : NULL;
}
