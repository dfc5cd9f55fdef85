/* Which part of the catalogue a class of nodes has, as far as what files say decides it. */
#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "intake/merge.h"
#include "shardline/units.h"

/* Of one part, tools print the same memory within this share; sizes that people state are
 * rounder. */
static const double STATED_SHARE =
    0.12; /* GB for GiB is 7 %, and the next size is 25 % away or more */

enum { NAME_SIZE = 128 }; /* longer than any name of the catalogue */

static bool
is_stated(double stated, const sl_part *part)
{
    const double has = (double)part->accelerator.memory_bytes;
    return stated <= 0 || fabs(stated - has) <= STATED_SHARE * has;
}

static bool
memory_fits(const sl_class *class, const sl_part *part)
{
    const double measured = sl_value_number(&class->value[SL_FIELD_MEMORY_BYTES]);
    const double stated = sl_value_number(&class->value[SL_FIELD_NOMINAL_MEMORY_BYTES]);
    const double has = (double)part->accelerator.memory_bytes;

    if (measured > 0)
        return fabs(measured - has) <= SL_DEVICE_MEMORY_SHARE * has;
    return is_stated(stated, part);
}

static bool
named_memory_fits(const sl_class *class, const sl_part *part)
{
    return is_stated(class->named_bytes, part);
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
    const sl_part *kept[SL_DRAFT_CANDIDATES_MAX];
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
    sl_errors ignored = {0};
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
    sl_errors ignored = {0};

    if (class->node == NULL || class->node->accelerator == NULL)
        return;
    if (sl_catalog_find_part(merge->catalog, class->node->accelerator->id, "",
                             &class->candidates[0], &ignored) == SL_OK)
        class->candidate_count = 1;
}

/* Comparing with all names of the catalogue takes a while: the last names are remembered. */
static const sl_looked_up *
look_up(sl_merge *merge, const char *name)
{
    const uint32_t kept = merge->names_used < SL_NAMES_KEPT ? merge->names_used : SL_NAMES_KEPT;
    for (uint32_t i = 0; i < kept; i++)
        if (sl_text_equal(merge->names[i].name, name))
            return &merge->names[i];
    sl_looked_up *const found = &merge->names[merge->names_used++ % SL_NAMES_KEPT];
    found->name = name;
    found->candidate_count = sl_catalog_candidates(merge->catalog, name, found->candidates,
                                                   SL_DRAFT_CANDIDATES_MAX, &found->near);
    return found;
}

static void
take_candidates(sl_class *class, const sl_looked_up *found)
{
    memcpy(class->candidates, found->candidates, sizeof class->candidates);
    class->candidate_count = found->candidate_count;
    class->candidates_near = found->near;
}

static bool
share_a_part(const sl_looked_up *a, const sl_looked_up *b)
{
    for (uint32_t i = 0; i < a->candidate_count; i++)
        for (uint32_t j = 0; j < b->candidate_count; j++)
            if (a->candidates[i] == b->candidates[j])
                return true;
    return false;
}

/* Slurm counts what the operating system does, and that sees two devices in a module of some parts:
 * where the catalogue has another part for its word, "gpu:mi250x", that one is meant. */
static const sl_looked_up *
look_up_as_said(sl_merge *merge, const sl_value *said)
{
    const sl_looked_up *const plain = look_up(merge, said->fact.text);
    char text[NAME_SIZE];

    if (strncmp(sl_findings_file_format(merge->findings, said->file), "slurm", 5) != 0 ||
        plain->near || plain->candidate_count != 1 ||
        !sl_text_format(text, sizeof text, "gpu:%s", said->fact.text))
        return plain;
    const char *const word = sl_arena_copy(merge->arena, text);
    if (word == NULL)
        return plain;
    const sl_looked_up *const counted = look_up(merge, word);
    return counted->near || counted->candidate_count == 0 || share_a_part(plain, counted) ? plain
                                                                                          : counted;
}

/* Where the last word of a name begins that says a memory, "80" of "h100-80", "40gb" of
 * "a100.40gb": behind the end where none does. *bytes: what it says. */
static size_t
size_word(const char *name, double *bytes)
{
    enum { DIGITS_MAX = 3 };
    const size_t end = strlen(name);
    size_t at = end;

    if (at > 0 && tolower((unsigned char)name[at - 1]) == 'b')
        at--;
    if (at > 0 && tolower((unsigned char)name[at - 1]) == 'g')
        at--;
    else
        at = end; /* a "b" alone is no unit */
    const size_t behind = at;
    double gigabytes = 0.0;
    while (at > 0 && isdigit((unsigned char)name[at - 1]))
        at--;
    if (at == behind || behind - at > DIGITS_MAX || at < 2 || strchr("-_. :", name[at - 1]) == NULL)
        return end;
    for (size_t i = at; i < behind; i++)
        gigabytes = 10.0 * gigabytes + (name[i] - '0');
    *bytes = gigabytes * SL_GIB_BYTES;
    return at - 1;
}

/* Names of sites end in a memory, "a100-80", that tells the parts of a name apart. One that no part
 * fits is none: "rtx-6000". */
static void
take_named_memory(sl_merge *merge, sl_class *class, const char *name)
{
    char text[NAME_SIZE];
    double bytes = 0.0;
    bool fits = false;

    const size_t length = size_word(name, &bytes);
    if (bytes <= 0 || length >= sizeof text)
        return;
    memcpy(text, name, length);
    text[length] = '\0';
    const char *const word = class->candidates_near || class->candidate_count == 0
                                 ? sl_arena_copy(merge->arena, text)
                                 : name;
    if (word == NULL)
        return;
    const sl_looked_up *const found = look_up(merge, word);
    for (uint32_t i = 0; i < found->candidate_count && !found->near; i++)
        fits = fits || is_stated(bytes, found->candidates[i]);
    if (!fits)
        return;
    class->named_bytes = bytes;
    take_candidates(class, found);
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
    take_candidates(class, look_up_as_said(merge, &class->value[SL_FIELD_ACCELERATOR]));
    take_named_memory(merge, class, name);
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
