#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "intake/documents/ansible.h"
#include "intake/documents/formats.h"

typedef struct reading {
    sl_findings *findings;
    sl_finder finder;
    sl_node variables; /* of hosts, by name */
    bool has_variables;
} reading;

static sl_code
take_host(reading *r, const char *name, const sl_facts *of_group, sl_errors *err)
{
    const uint32_t line = sl_finder_line(&r->finder, name);
    sl_facts facts = {0};
    sl_node own;

    if (r->has_variables && sl_document_object(&r->variables, name, &own))
        sl_ansible_variables(&facts, &own, line, sl_findings_arena(r->findings));
    if (of_group != NULL)
        (void)sl_facts_complete(&facts, of_group);
    return sl_ansible_add(r->findings, name, line, &facts, err);
}

/* {"hosts": [...], "vars": {...}}, or the list of hosts alone. */
static sl_code
take_group(reading *r, const sl_node *group, sl_errors *err)
{
    sl_facts facts = {0};
    sl_node hosts = *group, vars, host;

    if (sl_node_kind(group) == SL_JSON_OBJECT && !sl_document_array(group, "hosts", &hosts))
        return SL_OK;
    if (sl_document_object(group, "vars", &vars))
        sl_ansible_variables(&facts, &vars, 0, sl_findings_arena(r->findings));
    for (size_t i = 0; sl_node_at(&hosts, i, &host); i++) {
        sl_errors ignored;
        sl_errors_begin(&ignored, true);
        const char *name = NULL;
        if (sl_node_kind(&host) != SL_JSON_TEXT || sl_node_as_text(&host, &name, &ignored) != SL_OK)
            continue;
        const sl_code code = take_host(r, name, &facts, err);
        if (code != SL_OK)
            return code;
    }
    return SL_OK;
}

static sl_code
read_list(reading *r, const sl_node *root, sl_errors *err)
{
    void *state = NULL;
    sl_node meta, member;
    sl_code code = SL_OK;

    r->has_variables = sl_document_object(root, "_meta", &meta) &&
                       sl_document_object(&meta, "hostvars", &r->variables);
    while (code == SL_OK && sl_node_next(root, &state, &member)) {
        const sl_json_kind kind = sl_node_kind(&member);
        if (!sl_text_equal(member.key, "_meta") &&
            (kind == SL_JSON_OBJECT || kind == SL_JSON_ARRAY))
            code = take_group(r, &member, err);
    }
    /* Hosts of no group that is printed. */
    state = NULL;
    while (code == SL_OK && r->has_variables && sl_node_next(&r->variables, &state, &member))
        if (sl_findings_find(r->findings, member.key) == SL_FOUND_NONE)
            code = take_host(r, member.key, NULL, err);
    return code;
}

static sl_code
read_ansible_list(const sl_raw *raw, sl_findings *findings, sl_errors *err)
{
    assert(raw != NULL && findings != NULL && err != NULL);

    const uint32_t before = sl_findings_count(findings);
    reading r = {.findings = findings, .finder = sl_finder_new(raw)};
    sl_json *json = NULL;
    sl_code code = sl_document_decode(raw, &json, NULL, err);
    if (code != SL_OK)
        return code;
    const sl_node root = sl_json_root(json);
    if (sl_node_kind(&root) == SL_JSON_OBJECT)
        code = read_list(&r, &root, err);
    sl_json_free(json);
    if (code != SL_OK || sl_findings_count(findings) > before)
        return code;
    return sl_fail(err, SL_E_UNSUPPORTED, "no_hosts", "", "holds no groups with hosts");
}

static uint32_t
recognise_ansible_list(const sl_sample *sample)
{
    if (sample->shape != SL_SHAPE_JSON || sample->list)
        return 0;
    return sl_sample_has_key(sample, "_meta") && sl_sample_holds(sample, "\"hostvars\"") ? 95 : 0;
}

const sl_format sl_ansible_list_format = {"ansible_list", "ansible-inventory --list",
                                          recognise_ansible_list, read_ansible_list, 25};
