#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "intake/documents/ansible.h"
#include "intake/documents/formats.h"

enum { GROUPS_DEEP_MAX = 24 };

/* A group while those in it are read. */
typedef struct frame {
    sl_node children; /* its groups */
    void *next;       /* of them */
    sl_facts facts;   /* of its variables and those around it */
} frame;

typedef struct reading {
    sl_findings *findings;
    sl_finder finder;
    frame open[GROUPS_DEEP_MAX];
} reading;

/* Hosts with their variables: "gpu[01:04]": {gpus: 8}. */
static sl_code
take_hosts(reading *r, const sl_node *group, const sl_facts *inherited, sl_errors *err)
{
    void *state = NULL;
    sl_node hosts, host;

    if (!sl_document_object(group, "hosts", &hosts))
        return SL_OK;
    while (sl_node_next(&hosts, &state, &host)) {
        const uint32_t line = sl_finder_line(&r->finder, host.key);
        sl_facts facts = {0};
        sl_ansible_variables(&facts, &host, line, sl_findings_arena(r->findings));
        (void)sl_facts_complete(&facts, inherited);
        const sl_code code = sl_ansible_add(r->findings, host.key, line, &facts, err);
        if (code != SL_OK)
            return code;
    }
    return SL_OK;
}

/* Opens a group: its variables before what is around it, then its hosts. */
static sl_code
enter(reading *r, const sl_node *group, const sl_facts *around, frame *out, sl_errors *err)
{
    static const sl_facts nothing = {0};
    sl_node vars;

    *out = (frame){.next = NULL};
    if (sl_document_object(group, "vars", &vars))
        sl_ansible_variables(&out->facts, &vars, 0, sl_findings_arena(r->findings));
    (void)sl_facts_complete(&out->facts, around != NULL ? around : &nothing);
    if (!sl_document_object(group, "children", &out->children))
        out->children = *group;
    return take_hosts(r, group, &out->facts, err);
}

/* The groups of a document, to a bounded depth. The root's members are groups themselves. */
static sl_code
walk(reading *r, const sl_node *root, sl_errors *err)
{
    uint32_t depth = 1;
    r->open[0] = (frame){.children = *root};

    while (depth > 0) {
        frame *const top = &r->open[depth - 1];
        sl_node group, inner;
        if (!sl_node_next(&top->children, &top->next, &group)) {
            depth--;
            continue;
        }
        if (sl_node_kind(&group) != SL_JSON_OBJECT)
            continue;
        if (depth == GROUPS_DEEP_MAX)
            return sl_fail(err, SL_E_SYNTAX, "too_deep", "", "over %d groups in one another",
                           GROUPS_DEEP_MAX);
        const sl_code code = enter(r, &group, &top->facts, &r->open[depth], err);
        if (code != SL_OK)
            return code;
        if (sl_document_object(&group, "children", &inner))
            depth++;
    }
    return SL_OK;
}

static sl_code
read_ansible_yaml(const sl_raw *raw, sl_findings *findings, sl_errors *err)
{
    assert(raw != NULL && findings != NULL && err != NULL);

    const uint32_t before = sl_findings_count(findings);
    sl_json *json = NULL;
    reading *const r = sl_arena_alloc(sl_findings_arena(findings), 1, sizeof *r);
    if (r == NULL)
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory to read the file");
    sl_code code = sl_document_decode(raw, &json, NULL, err);
    if (code != SL_OK)
        return code;
    const sl_node root = sl_json_root(json);
    r->findings = findings;
    r->finder = sl_finder_new(raw);
    if (sl_node_kind(&root) == SL_JSON_OBJECT)
        code = walk(r, &root, err);
    sl_json_free(json);
    if (code != SL_OK || sl_findings_count(findings) > before)
        return code;
    return sl_fail(err, SL_E_UNSUPPORTED, "no_hosts", "", "holds no groups with hosts");
}

static uint32_t
recognise_ansible_yaml(const sl_sample *sample)
{
    if (sample->shape != SL_SHAPE_TEXT || !sl_sample_line_begins(sample, "hosts:"))
        return 0;
    if (sl_sample_line_begins(sample, "all:"))
        return 85;
    return sl_sample_line_begins(sample, "children:") ||
                   sl_sample_line_begins(sample, "ansible_host:")
               ? 75
               : 40;
}

const sl_format sl_ansible_yaml_format = {"ansible_yaml", "Ansible inventory, YAML",
                                          recognise_ansible_yaml, read_ansible_yaml, 25};
