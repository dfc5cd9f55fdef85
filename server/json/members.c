#include "json/members.h"

#include <assert.h>

#include "base/text.h"

void
sl_keep(sl_code *first, sl_code code)
{
    if (*first == SL_OK)
        *first = code;
}

sl_code
sl_refail(const sl_error *fault, sl_errors *err)
{
    (void)sl_fail(err, fault->code, fault->rule, fault->pointer, "%s", fault->message);
    if (*fault->hint != '\0')
        sl_hint(err, "%s", fault->hint);
    return fault->code;
}

/* The same fault in another list; its hint may be another. */
static const sl_error *
find_fault(const sl_errors *err, const sl_error *fault)
{
    for (uint32_t i = 0; i < err->count; i++) {
        const sl_error *const own = &err->list[i];
        if (sl_text_equal(own->rule, fault->rule) && sl_text_equal(own->pointer, fault->pointer) &&
            sl_text_equal(own->message, fault->message))
            return own;
    }
    return NULL;
}

bool
sl_has_fault(const sl_errors *err, const sl_error *fault)
{
    assert(err != NULL && fault != NULL);

    return find_fault(err, fault) != NULL;
}

void
sl_keep_common(sl_errors *err, const sl_errors *other)
{
    assert(err != NULL && other != NULL);

    uint32_t kept = 0;
    for (uint32_t i = 0; i < err->count; i++) {
        const sl_error *const twin = find_fault(other, &err->list[i]);
        if (twin == NULL)
            continue;
        err->list[kept] = err->list[i];
        if (!other->unhinted && !sl_text_equal(twin->hint, err->list[kept].hint))
            err->list[kept].hint[0] = '\0';
        kept++;
    }
    err->count = kept;
}

sl_code
sl_refail_at(const sl_errors *inner, const char *pointer, sl_errors *err)
{
    assert(inner != NULL && inner->count > 0 && pointer != NULL && err != NULL);

    for (uint32_t i = 0; i < inner->count; i++) {
        const sl_error *const from = &inner->list[i];
        sl_error fault = *from;
        if (*from->pointer != '\0')
            (void)sl_text_format(fault.message, sizeof fault.message, "its %.40s: %s",
                                 from->pointer, from->message);
        (void)sl_text_copy(fault.pointer, sizeof fault.pointer, pointer);
        (void)sl_refail(&fault, err);
    }
    err->dropped += inner->dropped;
    return inner->list[0].code;
}

/* The value as one word, or false when it is not a scalar that can be neutral. */
static bool
value_text(const sl_node *node, char *out, size_t size)
{
    sl_errors ignored = {0};
    const char *text = NULL;
    uint64_t number = 0;
    switch (sl_node_kind(node)) {
    case SL_JSON_TEXT:
        return sl_node_as_text(node, &text, &ignored) == SL_OK && sl_text_copy(out, size, text);
    case SL_JSON_INTEGER:
        return sl_node_as_uint(node, 0, UINT64_MAX, &number, &ignored) == SL_OK &&
               sl_text_format(out, size, "%llu", (unsigned long long)number);
    case SL_JSON_BOOL: {
        bool value = false;
        if (sl_node_bool(node->parent, node->key, &value, NULL, &ignored) != SL_OK)
            return false;
        return sl_text_copy(out, size, value ? "true" : "false");
    }
    default:
        return false;
    }
}

static sl_code
check_refused(const sl_node *object, const sl_member *member, sl_errors *err)
{
    sl_node value;
    if (!sl_node_member(object, member->name, &value))
        return SL_OK;
    char text[64];
    const bool scalar = value_text(&value, text, sizeof text);
    if (scalar && *member->neutral != '\0' && sl_text_equal(text, member->neutral))
        return SL_OK;
    const sl_code code = sl_node_fail(&value, err, SL_E_UNSUPPORTED, "not_modelled",
                                      "\"%s\" is not modelled yet", member->name);
    if (*member->neutral != '\0')
        sl_hint(err, "%s, or leave it out", member->neutral);
    else
        sl_hint(err, "leave it out");
    return code;
}

sl_code
sl_members_check(const sl_node *object, const sl_member *members, size_t count, sl_errors *warnings,
                 sl_errors *err)
{
    assert(members != NULL && count >= 1 && count <= SL_MEMBERS_MAX);

    const char *names[SL_MEMBERS_MAX];
    for (size_t i = 0; i < count; i++)
        names[i] = members[i].name;
    sl_code first = sl_node_known(object, names, count, err, warnings);
    for (size_t i = 0; i < count; i++) {
        if (members[i].neutral != NULL)
            sl_keep(&first, check_refused(object, &members[i], err));
    }
    return first;
}
