#include "codec/inventory/observed.h"

#include <assert.h>

static const char *const state_names[SL_OBSERVED_STATES] = {
    [SL_OBSERVED_UNSAID] = "unknown",
    [SL_OBSERVED_USABLE] = "usable",
    [SL_OBSERVED_DRAINED] = "drained",
    [SL_OBSERVED_DOWN] = "down",
};

sl_code
sl_observed_open(const char *text, size_t size, sl_observed *out, sl_errors *err)
{
    assert(text != NULL && out != NULL && err != NULL);

    static const sl_json_limits limits = {.max_bytes = SIZE_MAX, .max_depth = 16};
    sl_errors ignored = {0};
    out->json = NULL;
    if (sl_json_parse(text, size, &limits, &out->json, &ignored) == SL_OK) {
        out->root = sl_json_root(out->json);
        if (sl_node_member(&out->root, "groups", &out->groups) &&
            sl_node_member(&out->root, "kinds", &out->kinds) &&
            sl_node_bool(&out->root, "listing", &out->listing, NULL, &ignored) == SL_OK)
            return SL_OK;
    }
    return sl_fail(err, SL_E_INTERNAL, "bad_observation", "",
                   "a stored observation cannot be read");
}

void
sl_observed_close(sl_observed *observed)
{
    assert(observed != NULL);
    sl_json_free(observed->json);
    observed->json = NULL;
}

size_t
sl_observed_count(const sl_observed *observed)
{
    return sl_node_count(&observed->groups);
}

bool
sl_observed_group_at(const sl_observed *observed, size_t index, sl_observed_group *out)
{
    sl_errors ignored = {0};
    sl_node group;
    uint32_t state = SL_OBSERVED_UNSAID;
    uint64_t kind = 0;

    *out = (sl_observed_group){.since = ""};
    if (!sl_node_at(&observed->groups, index, &group) ||
        sl_node_choice(&group, "state", state_names, SL_OBSERVED_STATES, &state, NULL, &ignored) !=
            SL_OK ||
        sl_node_text(&group, "reason", &out->reason, NULL, &ignored) != SL_OK ||
        sl_node_text(&group, "since", &out->since, NULL, &ignored) != SL_OK ||
        sl_node_uint(&group, "count", 0, UINT32_MAX, &out->count, NULL, &ignored) != SL_OK ||
        sl_node_uint(&group, "kind", 0, UINT32_MAX, &kind, NULL, &ignored) != SL_OK ||
        !sl_node_member(&group, "hosts", &out->hosts) || kind >= sl_observed_kind_count(observed))
        return false;
    /* The group stands on this stack; nobody asks for the pointer of what is in it. */
    out->hosts.parent = NULL;
    out->state = (sl_observed_state)state;
    out->kind = (size_t)kind;
    return true;
}

size_t
sl_observed_kind_count(const sl_observed *observed)
{
    return sl_node_count(&observed->kinds);
}

bool
sl_observed_fact(const sl_observed *observed, size_t kind, const char *field, const char **text,
                 double *number)
{
    sl_errors ignored = {0};
    sl_node object, entry, value;
    *text = NULL;
    if (!sl_node_at(&observed->kinds, kind, &object) || !sl_node_member(&object, field, &entry) ||
        !sl_node_member(&entry, "value", &value))
        return false;
    return sl_node_kind(&value) == SL_JSON_TEXT
               ? sl_node_as_text(&value, text, &ignored) == SL_OK
               : sl_node_as_double(&value, 0, 1e18, number, &ignored) == SL_OK;
}
