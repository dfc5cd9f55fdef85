#include "http/query.h"

#include <assert.h>
#include <string.h>

#include "base/text.h"

/* A route's list, cut at its commas. */
typedef struct name_list {
    char text[SL_QUERY_NAMES_SIZE];
    const char *names[SL_QUERY_MAX];
    size_t count;
} name_list;

static void
names_split(const char *text, name_list *out)
{
    out->count = 0;
    if (text == NULL)
        return;
    const bool whole = sl_text_copy(out->text, sizeof out->text, text);
    assert(whole);
    for (char *at = out->text; at != NULL;) {
        assert(out->count < SL_QUERY_MAX);
        at += strspn(at, " ");
        out->names[out->count++] = at;
        at = strchr(at, ',');
        if (at != NULL)
            *at++ = '\0';
    }
}

void
sl_query_check_names(const char *names)
{
    name_list list;
    names_split(names, &list);
    for (size_t i = 0; i < list.count; i++) {
        const char *const name = list.names[i];
        assert(name[0] != '\0' && strspn(name, "abcdefghijklmnopqrstuvwxyz_") == strlen(name));
        assert(sl_text_index(name, list.names, list.count) == (int)i);
    }
}

bool
sl_query_reads(const char *names, const char *name)
{
    assert(name != NULL);

    name_list list;
    names_split(names, &list);
    return sl_text_index(name, list.names, list.count) >= 0;
}

static bool
came_before(const sl_pair *query, uint32_t index)
{
    for (uint32_t i = 0; i < index; i++)
        if (sl_text_equal(query[i].name, query[index].name))
            return true;
    return false;
}

static void
refuse_unknown(const char *name, const name_list *known, const char *names, sl_errors *err)
{
    (void)sl_fail(err, SL_E_RANGE, "unknown_parameter", "",
                  "the query parameter \"%s\" is not read here", name);
    const char *const nearest = sl_text_nearest(name, known->names, known->count);
    if (known->count > 0)
        sl_hint(err, "%s", nearest != NULL ? nearest : names);
}

sl_code
sl_query_check(const char *names, const sl_pair *query, uint32_t count, sl_errors *err)
{
    assert(query != NULL || count == 0);

    name_list known;
    sl_code code = SL_OK;
    names_split(names, &known);
    for (uint32_t i = 0; i < count; i++) {
        const char *const name = query[i].name;
        const bool repeated = came_before(query, i);
        if (sl_text_index(name, known.names, known.count) < 0) {
            code = SL_E_RANGE;
            if (!repeated)
                refuse_unknown(name, &known, names, err);
        } else if (repeated) {
            code = sl_fail(err, SL_E_RANGE, "repeated_parameter", "",
                           "the query parameter %s must be given once", name);
        }
    }
    return code;
}
