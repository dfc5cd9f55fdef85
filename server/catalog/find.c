/* Names to rows. */
#include <assert.h>
#include <string.h>

#include "base/index.h"
#include "base/text.h"
#include "catalog/internal.h"

enum { CANDIDATES_MAX = 8 };

bool
sl_catalog_lists(const char *list, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = list; *at != '\0';) {
        const size_t entry = strcspn(at, "|");
        if (entry == length && memcmp(at, name, length) == 0)
            return true;
        at += entry + (at[entry] == '|');
    }
    return false;
}

/* Parts one of whose names has the same form. */
static uint32_t
matches(const sl_catalog *catalog, const char *name, sl_name_form form,
        uint32_t out[CANDIDATES_MAX])
{
    char wanted[SL_CATALOG_NAME_SIZE];
    sl_name_write(form, name, wanted);
    const uint64_t key = sl_index_key(wanted);
    uint32_t count = 0;
    for (uint32_t i = 0; *wanted != '\0' && i < catalog->name_count && count < CANDIDATES_MAX;
         i++) {
        const sl_name_forms *const forms = &catalog->name_forms[i];
        const uint32_t part = catalog->name_parts[i];
        /* Names of one part stand together, so the last match tells about repetition. */
        if (forms->key[form] == key && sl_text_equal(forms->text[form], wanted) &&
            (count == 0 || out[count - 1] != part))
            out[count++] = part;
    }
    return count;
}

static sl_code
fail_ambiguous(const sl_catalog *catalog, const char *name, const char *pointer,
               const uint32_t *candidates, uint32_t count, sl_errors *err)
{
    assert(catalog->parts != NULL);
    char list[sizeof err->list[0].hint] = "";
    size_t size = 0;
    for (uint32_t i = 0; i < count; i++) {
        const char *const id = catalog->parts[candidates[i]].accelerator.id;
        const size_t needed = strlen(id) + (i > 0 ? 2 : 0);
        if (size + needed >= sizeof list)
            break;
        (void)sl_text_format(list + size, sizeof list - size, "%s%s", i > 0 ? ", " : "", id);
        size += needed;
    }
    const sl_code code = sl_fail(err, SL_E_RANGE, "ambiguous_accelerator", pointer,
                                 "must name one part, but \"%.60s\" is any of %u", name, count);
    sl_hint(err, "%s", list);
    return code;
}

static sl_code
unread(const char *name, const char *pointer, sl_errors *err)
{
    return sl_fail(err, SL_E_UNAVAILABLE, "private_hardware_unread", pointer,
                   "the database was not read yet: \"%.60s\" is not in the catalogue and may be "
                   "private",
                   name);
}

static sl_code
fail_unknown(const sl_catalog *catalog, const char *name, const char *pointer, sl_errors *err)
{
    const sl_code code =
        catalog->awaits_own
            ? unread(name, pointer, err)
            : sl_fail(err, SL_E_RANGE, "unknown_accelerator", pointer,
                      "must be an accelerator of the catalogue, got \"%.80s\"", name);
    if (err->dropped > 0 || err->terse)
        return code;
    const char *const near = sl_text_nearest(name, catalog->names, catalog->name_count);
    const int index = near != NULL ? sl_text_index(near, catalog->names, catalog->name_count) : -1;
    if (index >= 0)
        sl_hint(err, "%s", catalog->parts[catalog->name_parts[index]].accelerator.id);
    else
        sl_hint(err, "GET /api/v1/accelerators lists them");
    return code;
}

sl_part *
sl_catalog_part_by_id(const sl_catalog *catalog, const char *id)
{
    for (uint32_t i = 0; i < catalog->part_count; i++) {
        if (sl_text_equal(catalog->parts[i].accelerator.id, id))
            return &catalog->parts[i];
    }
    return NULL;
}

const sl_part *
sl_catalog_own_part(const sl_catalog *catalog, const char *id)
{
    assert(catalog != NULL && id != NULL);

    const sl_part *const part = sl_catalog_part_by_id(catalog, id);
    return part != NULL && part->own.revision > 0 ? part : NULL;
}

sl_code
sl_catalog_find_part(const sl_catalog *catalog, const char *name, const char *pointer,
                     const sl_part **out, sl_errors *err)
{
    assert(catalog != NULL && name != NULL && pointer != NULL && out != NULL && err != NULL);

    const sl_part *const exact = sl_catalog_part_by_id(catalog, name);
    if (exact != NULL) {
        *out = exact;
        return SL_OK;
    }
    uint32_t candidates[CANDIDATES_MAX];
    uint32_t count = matches(catalog, name, SL_NAME_FOLDED, candidates);
    if (count == 0)
        count = matches(catalog, name, SL_NAME_REDUCED, candidates);
    if (count == 0)
        return fail_unknown(catalog, name, pointer, err);
    if (count > 1)
        return fail_ambiguous(catalog, name, pointer, candidates, count, err);
    *out = &catalog->parts[candidates[0]];
    return SL_OK;
}

/* The longest word of a folded name that has a digit: what sets a model apart; "" when there is
 * none. */
static void
model_word(const char *name, char out[SL_CATALOG_NAME_SIZE])
{
    char folded[SL_CATALOG_NAME_SIZE];
    size_t best = 0;

    sl_name_write(SL_NAME_FOLDED, name, folded);
    *out = '\0';
    for (const char *at = folded; *at != '\0';) {
        const size_t length = strcspn(at, "-");
        const size_t plain = strcspn(at, "0123456789-");
        const size_t digits = strspn(at, "0123456789");
        const bool size_word = (length > 2 && memcmp(at + length - 2, "gb", 2) == 0) ||
                               (digits + 1 == length && at[digits] == 'g');
        if (plain < length && length > best && length > 1 && !size_word) {
            best = length;
            memcpy(out, at, length);
            out[length] = '\0';
        }
        at += length + (at[length] == '-');
    }
}

/* Whether a word of an id begins so: "mi250" of amd-mi250x, but "20" of none. */
static bool
has_word(const char *id, const char *begin)
{
    const size_t length = strlen(begin);
    const char *at = id;

    while (at != NULL && strncmp(at, begin, length) != 0) {
        at = strchr(at, '-');
        if (at != NULL)
            at++;
    }
    return at != NULL;
}

uint32_t
sl_catalog_candidates(const sl_catalog *catalog, const char *name, const sl_part **out,
                      uint32_t most, bool *near)
{
    assert(catalog != NULL && name != NULL && out != NULL && near != NULL);

    uint32_t found[CANDIDATES_MAX];
    uint32_t count = 0;
    const sl_part *const exact = sl_catalog_part_by_id(catalog, name);
    *near = false;
    if (exact != NULL && most > 0) {
        out[0] = exact;
        return 1;
    }
    uint32_t matched = matches(catalog, name, SL_NAME_FOLDED, found);
    if (matched == 0)
        matched = matches(catalog, name, SL_NAME_REDUCED, found);
    if (matched == 0)
        matched = matches(catalog, name, SL_NAME_LOOSENED, found);
    for (; count < matched && count < most; count++)
        out[count] = &catalog->parts[found[count]];
    if (count > 0)
        return count;

    char word[SL_CATALOG_NAME_SIZE];
    model_word(name, word);
    *near = true;
    for (uint32_t i = 0; *word != '\0' && i < catalog->part_count && count < most; i++)
        if (has_word(catalog->parts[i].accelerator.id, word))
            out[count++] = &catalog->parts[i];
    return count;
}

static bool
has_name(const char *id, const char *aliases, const char *folded)
{
    if (sl_name_folds_to(id, strlen(id), folded))
        return true;
    for (const char *at = aliases; *at != '\0';) {
        const size_t length = strcspn(at, "|");
        if (sl_name_folds_to(at, length, folded))
            return true;
        at += length + (at[length] == '|');
    }
    return false;
}

sl_code
sl_catalog_find_node(const sl_catalog *catalog, const char *name, const char *pointer,
                     const sl_node_type **out, sl_errors *err)
{
    assert(catalog != NULL && name != NULL && pointer != NULL && out != NULL && err != NULL);

    char folded[SL_CATALOG_NAME_SIZE];
    sl_name_write(SL_NAME_FOLDED, name, folded);
    const char *ids[SL_CATALOG_NODES_MAX + SL_OWN_ROWS_MAX];
    for (uint32_t i = 0; i < catalog->node_count; i++) {
        const sl_node_type *const node = &catalog->nodes[i];
        ids[i] = node->id;
        if (*folded != '\0' && has_name(node->id, node->aliases, folded)) {
            *out = node;
            return SL_OK;
        }
    }
    const sl_code code = catalog->awaits_own
                             ? unread(name, pointer, err)
                             : sl_fail(err, SL_E_RANGE, "unknown_node_type", pointer,
                                       "must be a node type of the catalogue, got \"%.80s\"", name);
    if (err->dropped > 0 || err->terse)
        return code;
    const char *const near = sl_text_nearest(name, ids, catalog->node_count);
    if (near != NULL)
        sl_hint(err, "%s", near);
    else
        sl_hint(err,
                "GET /api/v1/node-types lists them; leave it out and give accelerators and nics");
    return code;
}

static bool
is_built_of(const sl_node_type *node, const sl_accelerator *accelerator)
{
    return node->accelerator != NULL && sl_text_equal(node->accelerator->id, accelerator->id);
}

const sl_node_type *
sl_catalog_reference_node(const sl_catalog *catalog, const sl_accelerator *accelerator)
{
    assert(catalog != NULL && accelerator != NULL);

    for (uint32_t i = 0; i < catalog->node_count; i++) {
        const sl_node_type *const node = &catalog->nodes[i];
        if (node->reference && is_built_of(node, accelerator))
            return node;
    }
    return NULL;
}

const sl_node_type *
sl_catalog_paired_node(const sl_catalog *catalog, const sl_accelerator *accelerator,
                       uint32_t accelerators)
{
    assert(catalog != NULL && accelerator != NULL);

    for (uint32_t i = 0; i < catalog->node_count; i++) {
        const sl_node_type *const node = &catalog->nodes[i];
        if (node->accelerators == accelerators && node->scale_up_pair_bytes_per_s > 0 &&
            is_built_of(node, accelerator))
            return node;
    }
    return NULL;
}

const sl_fabric *
sl_catalog_fabric(const sl_catalog *catalog, const char *kind)
{
    assert(catalog != NULL && kind != NULL);

    char folded[SL_CATALOG_NAME_SIZE];
    sl_name_write(SL_NAME_FOLDED, kind, folded);
    for (uint32_t i = 0; *folded != '\0' && i < catalog->fabric_count; i++) {
        const sl_fabric_row *const row = &catalog->fabrics[i];
        if (has_name(row->fabric.kind, row->aliases, folded))
            return &row->fabric;
    }
    return NULL;
}

const sl_software *
sl_catalog_software(const sl_catalog *catalog, const char *framework, uint32_t *count)
{
    assert(catalog != NULL && framework != NULL && count != NULL);

    const sl_software *first = NULL;
    *count = 0;
    for (uint32_t i = 0; i < catalog->software_count; i++) {
        if (!sl_text_equal(catalog->software[i].framework, framework))
            continue;
        if (first == NULL)
            first = &catalog->software[i];
        (*count)++;
    }
    return first;
}

const sl_software *
sl_catalog_open_software(const sl_catalog *catalog, const char *framework, uint32_t *count)
{
    const sl_software *const first = sl_catalog_software(catalog, framework, count);

    while (*count > 0 && first[*count - 1].named_only)
        (*count)--;
    return first;
}

const sl_software *
sl_catalog_find_software(const sl_catalog *catalog, const char *name, bool *exact)
{
    assert(catalog != NULL && name != NULL && exact != NULL);

    for (uint32_t i = 0; i < catalog->software_count; i++) {
        *exact = sl_text_equal(catalog->software[i].name, name);
        if (*exact)
            return &catalog->software[i];
        if (sl_catalog_lists(catalog->software_aliases[i], name))
            return &catalog->software[i];
    }
    return NULL;
}
