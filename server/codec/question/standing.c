#include "codec/question/standing.h"

#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "codec/question/varied.h"
#include "json/members.h"

/* A document is read anew while reading it finds what was hidden: an object within an object. */
enum { ROUNDS_MAX = 3 };

/* Rules that hold several members against one another. */
static bool
is_relation(const sl_error *fault)
{
    return sl_text_equal(fault->rule, "inconsistent") ||
           sl_text_equal(fault->rule, "conflicting_fields");
}

/* Reads and judges the request with one choice of values; true when rules could be asked. */
static bool
try_values(const sl_standing *s, const sl_places *places, uint32_t choice, sl_errors *found)
{
    sl_errors ignored = {0};
    sl_node root;
    sl_json *const json = sl_varied_document(s->text, places, choice, &root);

    if (json == NULL)
        return false;
    const bool judged =
        s->read(&root, s->catalog, s->lenient ? &ignored : NULL, s->room, found) == SL_OK &&
        s->judge(s->context, s->room, found);
    sl_json_free(json);
    return judged;
}

/* What stands with every choice of values that go together, or with every one where none do; false
 * then. */
static bool
try_all(const sl_standing *s, const sl_places *places, sl_errors *standing)
{
    const uint32_t choices = sl_places_choices(places);
    bool any = false;

    for (uint32_t choice = 0; choice < choices; choice++) {
        /* Hints are those of the first that is judged, as far as those of the last are the same. */
        sl_errors found = {.unhinted = any && choice + 1 < choices};
        const bool judged = try_values(s, places, choice, &found);
        if (choice == 0 || (judged && !any))
            *standing = found;
        else if (judged == any)
            sl_keep_common(standing, &found);
        any = any || judged;
    }
    return any;
}

/* Takes out relations that do not stand, and what is missing because its name is misspelt. */
static void
drop_followers(const sl_places *places, const sl_errors *standing, sl_errors *err)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < err->count; i++) {
        const sl_error *const fault = &err->list[i];
        const bool follows = is_relation(fault) ? !sl_has_fault(standing, fault)
                                                : sl_text_equal(fault->rule, "required_field") &&
                                                      sl_places_misspelt(places, fault->pointer);
        if (!follows)
            err->list[kept++] = *fault;
    }
    err->count = kept;
}

static void
add_new(const sl_places *places, const sl_errors *standing, sl_errors *err)
{
    for (uint32_t i = 0; i < standing->count; i++) {
        const sl_error *const fault = &standing->list[i];
        const bool of_request = fault->code == SL_E_RANGE || fault->code == SL_E_UNSUPPORTED;
        if (!of_request || sl_has_fault(err, fault) || sl_places_touch(places, fault->pointer))
            continue;
        if (err->count == SL_ERRORS_MAX)
            err->dropped++;
        else
            err->list[err->count++] = *fault;
    }
    err->dropped += standing->dropped;
}

static bool
leads_to(const sl_node *node, const char *pointer)
{
    char own[sizeof((sl_error *)0)->pointer];

    sl_node_pointer(node, own, sizeof own);
    const size_t length = strlen(own);
    return strncmp(pointer, own, length) == 0 &&
           (pointer[length] == '\0' || pointer[length] == '/');
}

/* Where a pointer leads among the members of the request and of its parts, as they are read; what
 * is missing is behind what is there. */
static uint64_t
rank_of(const sl_node *root, const char *pointer)
{
    uint64_t rank = 0;
    void *state = NULL, *within = NULL;
    sl_node part, member;

    while (sl_node_next(root, &state, &part)) {
        const bool there = leads_to(&part, pointer);
        rank++;
        if (there && sl_text_equal(pointer + strcspn(pointer + 1, "/") + 1, ""))
            return rank;
        within = NULL;
        while (sl_node_kind(&part) == SL_JSON_OBJECT && sl_node_next(&part, &within, &member)) {
            rank++;
            if (there && leads_to(&member, pointer))
                return rank;
        }
        rank++;
        if (there)
            return rank;
    }
    return *pointer == '\0' ? 0 : rank + 1;
}

/* In the order of the document; as they were found where they are of one member. */
static void
sort_faults(const sl_node *root, sl_errors *err)
{
    uint64_t ranks[SL_ERRORS_MAX];

    for (uint32_t i = 0; i < err->count; i++) {
        const sl_error fault = err->list[i];
        const uint64_t rank = rank_of(root, fault.pointer);
        uint32_t at = i;
        for (; at > 0 && ranks[at - 1] > rank; at--) {
            err->list[at] = err->list[at - 1];
            ranks[at] = ranks[at - 1];
        }
        err->list[at] = fault;
        ranks[at] = rank;
    }
}

void
sl_standing_add(const sl_standing *standing, sl_errors *err)
{
    assert(standing != NULL && err != NULL && err->count > 0);

    const sl_node *const root = standing->root;
    sl_errors found = {0};
    sl_places places = {0};
    bool judged = false;

    if (sl_node_kind(root) != SL_JSON_OBJECT || err->dropped > 0 || err->count == SL_ERRORS_MAX ||
        strlen(standing->text) > SL_STANDING_TEXT_MAX)
        return;
    for (uint32_t round = 0; round < ROUNDS_MAX && !judged && err->dropped == 0; round++) {
        const uint32_t placed = places.count;
        for (uint32_t i = 0; i < err->count; i++)
            if (round > 0 || !is_relation(&err->list[i]))
                sl_places_add(&places, root, &err->list[i]);
        if (round > 0 && places.count == placed)
            break;
        judged = try_all(standing, &places, &found);
        if (round == 0)
            drop_followers(&places, &found, err);
        add_new(&places, &found, err);
    }
    sort_faults(root, err);
}
