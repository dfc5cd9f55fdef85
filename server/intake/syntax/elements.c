#include "intake/syntax/elements.h"

#include <assert.h>
#include <string.h>

#include "intake/syntax/batch.h"

enum { LIST_DEPTH_MAX = 4 };

/* Whether a member called `list` whose value is a list begins at this quote; `at` stands in the
 * list then, and behind the text else. */
static sl_code
enter_member(sl_json_walk *w, const char *list, bool *entered, sl_errors *err)
{
    const char *const name = w->at + 1;
    const sl_code code = sl_json_walk_step(w, err);

    if (code != SL_OK)
        return code;
    const size_t length = (size_t)(w->at - 1 - name);
    if (length != strlen(list) || memcmp(name, list, length) != 0)
        return SL_OK;
    sl_json_walk_blanks(w);
    if (w->at >= w->end || *w->at != ':')
        return SL_OK;
    w->at++;
    sl_json_walk_blanks(w);
    if (w->at >= w->end || *w->at != '[')
        return SL_OK;
    *entered = true;
    return sl_json_walk_step(w, err);
}

/* To the first byte of the document, behind the mark that some editors put before UTF-8. */
static void
pass_mark(sl_json_walk *w)
{
    if (w->end - w->at >= 3 && memcmp(w->at, "\xEF\xBB\xBF", 3) == 0)
        w->at += 3;
    sl_json_walk_blanks(w);
}

/* To the first element of the list; *found is false at the end of the document. */
static sl_code
find_list(sl_json_walk *w, const char *list, bool *found, sl_errors *err)
{
    sl_code code = SL_OK;

    *found = false;
    if (list == NULL && w->at < w->end && *w->at == '[') {
        *found = true;
        return sl_json_walk_step(w, err);
    }
    while (code == SL_OK && w->at < w->end && !*found) {
        const bool member = list != NULL && *w->at == '"' && w->depth > 0 &&
                            w->depth <= LIST_DEPTH_MAX && w->open[w->depth - 1] == '}';
        code = member ? enter_member(w, list, found, err) : sl_json_walk_step(w, err);
        if (w->depth == 0 && (w->at[-1] == '}' || w->at[-1] == ']'))
            break;
    }
    return code;
}

/* A list while its elements are cut. */
typedef struct cutting {
    sl_json_walk walk;
    sl_json_cut cut;
} cutting;

/* An element is one when the list goes on behind it, or ends. */
static sl_code
check_behind(sl_json_walk *w, sl_errors *err)
{
    sl_json_walk_blanks(w);
    if (w->at == w->end)
        return sl_json_walk_fault(w, "the text ends inside a list", err);
    if (*w->at != ',' && *w->at != ']')
        return sl_json_walk_fault(w, "a comma is missing behind an element", err);
    return SL_OK;
}

/* One behind which something is wrong is decoded all the same: that would be the first fault. */
static sl_code
cut_one(cutting *c, sl_batch *batch, sl_errors *err)
{
    sl_json_piece piece;

    sl_code code = sl_json_walk_cut(&c->walk, &c->cut, &batch->text, &piece, err);
    if (code != SL_OK)
        return code;
    code = check_behind(&c->walk, err);
    sl_batch_add(batch, &piece, code == SL_OK);
    return code;
}

/* Elements from here on, in a batch's way. */
static sl_code
cut_some(void *context, sl_batch *batch, bool *more, sl_errors *err)
{
    cutting *const c = context;
    sl_json_walk *const w = &c->walk;

    for (*more = w->at < w->end && *w->at != ']'; *more && !sl_batch_is_full(batch);) {
        const sl_code code = cut_one(c, batch, err);
        if (code != SL_OK)
            return code;
        *more = *w->at != ']';
        if (!*more)
            break;
        w->at++;
        sl_json_walk_blanks(w);
        if (w->at < w->end && *w->at == ']')
            return sl_json_walk_fault(w, "a list ends with a comma", err);
        *more = w->at < w->end;
    }
    return SL_OK;
}

/* The elements from here to the end of the list. */
static sl_code
visit_list(cutting *c, sl_element_visit visit, void *context, sl_errors *err)
{
    const sl_batches batches = {
        .fill = cut_some, .cutter = c, .cut = c->cut, .visit = visit, .context = context};

    sl_json_walk_blanks(&c->walk);
    return sl_batches_visit(&batches, err);
}

/* What follows a document: nothing, or where that is taken another object behind one. */
static sl_code
end_document(sl_json_walk *w, char first, sl_json_place *place, sl_errors *err)
{
    sl_json_walk_blanks(w);
    if (w->depth > 0)
        return sl_json_walk_fault(w, "the text ends before its brackets do", err);
    const bool another = place != NULL && first == '{' && w->at < w->end && *w->at == '{';
    if (w->at < w->end && !another)
        return sl_json_walk_fault(w, "something follows the document", err);
    if (place != NULL)
        *place = (sl_json_place){w->at, sl_json_walk_line(w)};
    return SL_OK;
}

sl_code
sl_json_elements(const char *text, size_t size, const char *list, sl_member_read is_read,
                 sl_element_visit visit, void *context, bool *found, sl_json_place *place,
                 sl_errors *err)
{
    assert((text != NULL || size == 0) && visit != NULL && found != NULL && err != NULL);

    cutting c = {
        .walk = sl_json_walk_new(text, size, place != NULL ? place->line : 1),
        .cut = {.what = "element", .most_bytes = SL_ELEMENT_MAX_BYTES, .is_read = is_read}};
    sl_json_walk *const w = &c.walk;
    pass_mark(w);
    const char first = w->at < w->end ? *w->at : '\0';
    sl_code code = find_list(w, list, found, err);
    if (code == SL_OK && *found)
        code = visit_list(&c, visit, context, err);
    while (code == SL_OK && w->at < w->end && w->depth > 0)
        code = sl_json_walk_step(w, err);
    return code == SL_OK ? end_document(w, first, place, err) : code;
}
