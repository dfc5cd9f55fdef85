#include "intake/merge.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "intake/format.h"

enum { CLASSES_MAX = SL_FINDINGS_KINDS_MAX };

/* Of one link, one way: of NVLink 2 to 4 (NVIDIA's Volta, Ampere and Hopper whitepapers: 6, 12 and 18
 * of them carry 150, 300 and 450 GB/s), and of the bridge between cards of GA102 (its whitepaper: four
 * carry 56.25). Later generations and other makers' links carry more. */
static const double LINK_BYTES_PER_S = 25e9, BRIDGE_BYTES_PER_S = 14.0625e9;

/* A format that is none of ours, as tests have them, comes last. */
static uint32_t
rank_of(const sl_findings *findings, uint16_t file)
{
    const sl_format *const format = sl_format_find(sl_findings_file_format(findings, file));
    return format != NULL ? format->rank : 0;
}

double
sl_value_number(const sl_value *value)
{
    return value->origin != SL_FROM_NOBODY ? value->fact.number : 0;
}

const char *
sl_value_text(const sl_value *value)
{
    return value->origin != SL_FROM_NOBODY ? value->fact.text : NULL;
}

void
sl_draft_note_add(sl_draft *draft, sl_arena *arena, const char *code, bool guess,
                  const char *pointer, const char *format, ...)
{
    char text[320];
    va_list arguments;

    va_start(arguments, format);
    (void)sl_text_vformat(text, sizeof text, format, arguments);
    va_end(arguments);
    for (uint32_t i = 0; i < draft->note_count; i++)
        if (sl_text_equal(draft->notes[i].code, code) && sl_text_equal(draft->notes[i].text, text))
            return;
    const char *const kept = sl_arena_copy(arena, text);
    if (draft->note_count == SL_DRAFT_NOTES_MAX || kept == NULL) {
        draft->notes_dropped++;
        return;
    }
    sl_draft_note *const note = &draft->notes[draft->note_count++];
    *note = (sl_draft_note){.code = code, .text = kept, .guess = guess};
    (void)sl_text_copy(note->pointer, sizeof note->pointer, pointer);
}

/* How far two tools may be apart and still say the same. */
static bool
facts_agree(sl_field field, const sl_fact *a, const sl_fact *b)
{
    if (sl_field_is_text(field))
        return sl_text_equal_ignoring_case(a->text, b->text);
    const double share = field == SL_FIELD_HOST_MEMORY_BYTES ? SL_HOST_MEMORY_SHARE : 0.01;
    return fabs(a->number - b->number) <= share * fmax(a->number, b->number);
}

/* Names of accelerators and drivers are spelled by every tool in its own way: what they mean is
 * compared where they are resolved. */
static bool
differences_count(sl_field field)
{
    return field == SL_FIELD_ACCELERATORS || field == SL_FIELD_MEMORY_BYTES ||
           field == SL_FIELD_HOST_MEMORY_BYTES || field == SL_FIELD_NODE_TYPE ||
           field == SL_FIELD_NIC_COUNT;
}

static void
note_difference(const sl_merge *merge, const sl_value *kept, const sl_value *other, sl_field field)
{
    const sl_findings *const f = merge->findings;

    if (!differences_count(field) || facts_agree(field, &kept->fact, &other->fact))
        return;
    if (sl_field_is_text(field))
        sl_draft_note_add(merge->draft, merge->arena, "sources_differ", false, "",
                          "%s: %s says %.60s, %s says %.60s: the former counts",
                          sl_field_name(field), sl_findings_file_format(f, kept->file),
                          kept->fact.text, sl_findings_file_format(f, other->file),
                          other->fact.text);
    else
        sl_draft_note_add(merge->draft, merge->arena, "sources_differ", false, "",
                          "%s: %s says %.12g, %s says %.12g: the former counts",
                          sl_field_name(field), sl_findings_file_format(f, kept->file),
                          kept->fact.number, sl_findings_file_format(f, other->file),
                          other->fact.number);
}

/* Whom to believe: a label less than anything else. */
static uint32_t
weight_of(const sl_merge *merge, const sl_value *value)
{
    return value->fact.label != SL_LABEL_NONE ? 0 : 1 + rank_of(merge->findings, value->file);
}

/* Takes what is said of a field where nothing better is known. */
static void
take_value(const sl_merge *merge, sl_class *class, sl_field field, const sl_value *said)
{
    sl_value *const known = &class->value[field];

    if (known->origin == SL_FROM_NOBODY) {
        *known = *said;
    } else if (weight_of(merge, said) > weight_of(merge, known)) {
        note_difference(merge, said, known, field);
        *known = *said;
    } else {
        note_difference(merge, known, said, field);
    }
}

static void
take_facts(const sl_merge *merge, sl_class *class, const sl_found_host *host)
{
    const sl_facts *const facts = sl_findings_kind(merge->findings, host->kind);

    for (uint32_t i = 0; i < SL_FIELD_COUNT; i++) {
        const bool label = facts->field[i].label != SL_LABEL_NONE;
        const sl_value said = {facts->field[i], label ? SL_FROM_LIKE : SL_FROM_FILE, host->file,
                               label ? "a label of the nodes names it" : NULL};
        if (said.fact.said)
            take_value(merge, class, (sl_field)i, &said);
    }
}

static bool
says_nothing(const sl_facts *facts)
{
    for (uint32_t i = 0; i < SL_FIELD_COUNT; i++)
        if (facts->field[i].said)
            return false;
    return true;
}

/* The kinds and the pool of a host over all files that name it. */
static void
gather(const sl_merge *merge, uint32_t first, sl_class *out)
{
    *out = (sl_class){.named = sl_findings_host(merge->findings, first)->name != NULL};
    for (uint32_t at = first; at != SL_FOUND_NONE;
         at = sl_findings_host(merge->findings, at)->next) {
        const sl_found_host *const host = sl_findings_host(merge->findings, at);
        if (out->pool == NULL)
            out->pool = host->pool;
        if (!says_nothing(sl_findings_kind(merge->findings, host->kind)) &&
            out->kind_count < SL_CLASS_KINDS_MAX)
            out->kinds[out->kind_count++] = host->kind;
    }
}

static bool
same_pool(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && sl_text_equal(a, b));
}

static bool
same_class(const sl_class *a, const sl_class *b)
{
    return a->named == b->named && a->kind_count == b->kind_count && same_pool(a->pool, b->pool) &&
           memcmp(a->kinds, b->kinds, a->kind_count * sizeof a->kinds[0]) == 0;
}

/* The class of the record: one that is there, or a new one. */
static sl_code
class_find(sl_merge *merge, uint32_t first, uint32_t *out, sl_errors *err)
{
    sl_class wanted;

    gather(merge, first, &wanted);
    for (uint32_t i = merge->class_count; i-- > 0;) {
        if (same_class(merge->classes[i], &wanted)) {
            *out = i;
            return SL_OK;
        }
    }
    if (merge->class_count == CLASSES_MAX)
        return sl_fail(err, SL_E_RANGE, "too_many", "", "must hold at most %d kinds of nodes",
                       CLASSES_MAX);
    sl_class *const made = sl_arena_alloc(merge->arena, 1, sizeof *made);
    if (made == NULL)
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory to merge the files");
    *made = wanted;
    for (uint32_t at = first; at != SL_FOUND_NONE; at = sl_findings_host(merge->findings, at)->next)
        take_facts(merge, made, sl_findings_host(merge->findings, at));
    *out = merge->class_count;
    merge->classes[merge->class_count++] = made;
    return SL_OK;
}

static sl_code
make_classes(sl_merge *merge, sl_errors *err)
{
    const uint32_t count = sl_findings_count(merge->findings);

    merge->class_of = sl_arena_alloc(merge->arena, count > 0 ? count : 1, sizeof *merge->class_of);
    merge->classes = sl_arena_alloc(merge->arena, CLASSES_MAX, sizeof(sl_class *));
    if (merge->class_of == NULL || merge->classes == NULL)
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory to merge the files");
    for (uint32_t i = 0; i < count; i++) {
        const sl_found_host *const host = sl_findings_host(merge->findings, i);
        merge->class_of[i] = SL_FOUND_NONE;
        if (host->name != NULL && sl_findings_find(merge->findings, host->name) != i)
            continue;
        const sl_code code = class_find(merge, i, &merge->class_of[i], err);
        if (code != SL_OK)
            return code;
        merge->classes[merge->class_of[i]]->nodes += host->count;
    }
    return SL_OK;
}

bool
sl_class_has_accelerators(const sl_class *class)
{
    return sl_value_number(&class->value[SL_FIELD_ACCELERATORS]) > 0 ||
           sl_value_text(&class->value[SL_FIELD_ACCELERATOR]) != NULL ||
           sl_value_text(&class->value[SL_FIELD_SLICE]) != NULL ||
           (class->node != NULL && class->node->accelerators > 0);
}

/* Whether they may be of one part: they share a candidate, or a name nobody knows. */
static bool
alike(const sl_class *a, const sl_class *b)
{
    const char *const x = sl_value_text(&a->value[SL_FIELD_ACCELERATOR]);
    const char *const y = sl_value_text(&b->value[SL_FIELD_ACCELERATOR]);

    if ((x == NULL && a->candidate_count == 0) || (y == NULL && b->candidate_count == 0))
        return true;
    for (uint32_t i = 0; i < a->candidate_count && !a->candidates_near; i++)
        for (uint32_t j = 0; j < b->candidate_count && !b->candidates_near; j++)
            if (a->candidates[i] == b->candidates[j])
                return true;
    return x != NULL && y != NULL && sl_text_equal_ignoring_case(x, y);
}

static bool
as_many(const sl_class *a, const sl_class *b)
{
    const double here = sl_value_number(&a->value[SL_FIELD_ACCELERATORS]);
    const double there = sl_value_number(&b->value[SL_FIELD_ACCELERATORS]);

    return here <= 0 || there <= 0 || here == there;
}

static double
least_link_bytes_per_s(const sl_part *part)
{
    return sl_text_equal(part->scale_up_link, "NVLink bridge") ? BRIDGE_BYTES_PER_S
                                                               : LINK_BYTES_PER_S;
}

/* Whether one of its parts has room for so many links: NV18 is not of the A100 that stands beside an
 * H100. */
static bool
has_room_for(const sl_class *class, double links)
{
    for (uint32_t i = 0; i < class->candidate_count; i++) {
        const sl_part *const part = class->candidates[i];
        const double all = part->accelerator.scale_up_bytes_per_s;
        if (all <= 0 || links * least_link_bytes_per_s(part) <= all)
            return true;
    }
    return class->candidate_count == 0 || class->candidates_near;
}

/* Whether a node that nobody named can be one of the class. */
static bool
can_be_of(const sl_class *nameless, const sl_class *class)
{
    return sl_class_has_accelerators(class) && alike(nameless, class) && as_many(nameless, class) &&
           has_room_for(class, sl_value_number(&nameless->value[SL_FIELD_LINKS]));
}

/* Whether it can be, where only a label names the class its part, which may mean something else. */
static bool
can_be_labelled(const sl_class *nameless, const sl_class *class)
{
    return class->value[SL_FIELD_ACCELERATOR].fact.label == SL_LABEL_SHORT &&
           sl_value_text(&nameless->value[SL_FIELD_ACCELERATOR]) != NULL &&
           as_many(nameless, class);
}

/* What is said of one node is taken for all of the class. */
static void
absorb(sl_merge *merge, sl_class *nameless, sl_class *class)
{
    for (uint32_t i = 0; i < SL_FIELD_COUNT; i++) {
        sl_value said = nameless->value[i];
        if (said.origin == SL_FROM_NOBODY)
            continue;
        said.origin = SL_FROM_LIKE;
        said.reason = "read on one node, taken for all nodes like it";
        take_value(merge, class, (sl_field)i, &said);
    }
    nameless->absorbed = true;
    sl_class_resolve(merge, class);
}

/* What a node prints overrules what labels of others say, where it is like none of them. */
static void
absorb_labelled(sl_merge *merge, sl_class *nameless)
{
    for (uint32_t j = 0; j < merge->class_count; j++) {
        sl_class *const class = merge->classes[j];
        if (!class->named || !can_be_labelled(nameless, class))
            continue;
        sl_draft_note_add(merge->draft, merge->arena, "label_not_taken", false, "",
                          "the label \"%.60s\" may name a part, but a node like these prints "
                          "another: it is not taken",
                          sl_value_text(&class->value[SL_FIELD_ACCELERATOR]));
        absorb(merge, nameless, class);
    }
}

/* Each node without a name is taken to be one of the named classes it can be of, or where there is
 * none the same as another file's node without a name. */
static void
join_nameless(sl_merge *merge)
{
    for (uint32_t i = 0; i < merge->class_count; i++) {
        sl_class *const nameless = merge->classes[i];
        if (nameless->named || nameless->pool != NULL || nameless->kind_count == 0)
            continue;
        for (uint32_t j = 0; j < merge->class_count; j++) {
            if (merge->classes[j]->named && can_be_of(nameless, merge->classes[j]))
                absorb(merge, nameless, merge->classes[j]);
        }
        if (!nameless->absorbed)
            absorb_labelled(merge, nameless);
        for (uint32_t j = 0; j < merge->class_count && !nameless->absorbed; j++) {
            sl_class *const other = merge->classes[j];
            if (j == i || other->named || other->absorbed || !can_be_of(nameless, other) ||
                nameless->nodes != other->nodes || sl_findings_file_count(merge->findings) == 1 ||
                (sl_class_has_accelerators(nameless) && j > i))
                continue;
            absorb(merge, nameless, other);
        }
    }
}

sl_code
sl_merge_make(sl_merge *merge, sl_errors *err)
{
    assert(merge != NULL && err != NULL);

    const sl_code code = make_classes(merge, err);
    if (code != SL_OK)
        return code;
    for (uint32_t i = 0; i < merge->class_count; i++)
        sl_class_resolve(merge, merge->classes[i]);
    join_nameless(merge);
    return SL_OK;
}
