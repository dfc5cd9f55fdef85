#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "intake/documents/formats.h"

enum { MODULES_MAX = 32, TEMPLATES_MAX = 256, PART_SIZE = 64 };

/**
 * Resources that are machines, or groups of equal ones, and where they say of what type and how
 * many. Paths go through objects; of a list on the way, as providers write blocks, the first
 * element.
 */
typedef struct machine {
    const char *resource;
    const char *types[2];  /* the first that is said */
    const char *counts[3]; /* of a group; a single machine has none */
    const char *devices;   /* a block of {type, count} */
    const char *per;       /* a list; the group has as many nodes in each of its entries */
    const char *template;  /* where a group names what it is made from */
} machine;

static const machine machines[] = {
    {"aws_instance", {"instance_type"}, {NULL}, NULL, NULL, NULL},
    {"aws_spot_instance_request", {"instance_type"}, {NULL}, NULL, NULL, NULL},
    {"aws_autoscaling_group",
     {NULL},
     {"desired_capacity", "min_size"},
     NULL,
     NULL,
     "launch_template"},
    {"aws_eks_node_group",
     {"instance_types"},
     {"scaling_config.desired_size", "scaling_config.min_size"},
     NULL,
     NULL,
     "launch_template"},
    {"google_compute_instance", {"machine_type"}, {NULL}, "guest_accelerator", NULL, NULL},
    {"google_compute_instance_from_template",
     {"machine_type"},
     {NULL},
     "guest_accelerator",
     NULL,
     NULL},
    {"google_container_node_pool",
     {"node_config.machine_type"},
     {"node_count", "initial_node_count", "autoscaling.min_node_count"},
     "node_config.guest_accelerator",
     "node_locations",
     NULL},
    {"google_tpu_v2_vm", {"accelerator_type"}, {NULL}, NULL, NULL, NULL},
    {"azurerm_linux_virtual_machine", {"size"}, {NULL}, NULL, NULL, NULL},
    {"azurerm_windows_virtual_machine", {"size"}, {NULL}, NULL, NULL, NULL},
    {"azurerm_virtual_machine", {"vm_size"}, {NULL}, NULL, NULL, NULL},
    {"azurerm_linux_virtual_machine_scale_set", {"sku"}, {"instances"}, NULL, NULL, NULL},
    {"azurerm_orchestrated_virtual_machine_scale_set",
     {"sku_name"},
     {"instances"},
     NULL,
     NULL,
     NULL},
    {"azurerm_kubernetes_cluster_node_pool",
     {"vm_size"},
     {"node_count", "min_count"},
     NULL,
     NULL,
     NULL},
    {"azurerm_kubernetes_cluster",
     {"default_node_pool.vm_size"},
     {"default_node_pool.node_count", "default_node_pool.min_count"},
     NULL,
     NULL,
     NULL},
    {"oci_core_instance", {"shape"}, {NULL}, NULL, NULL, NULL},
    {"oci_containerengine_node_pool",
     {"node_shape"},
     {"node_config_details.size"},
     NULL,
     NULL,
     NULL},
    {"nebius_compute_v1_instance", {"resources"}, {NULL}, NULL, NULL, NULL},
    {"nebius_mk8s_v1_node_group",
     {"template.resources"},
     {"fixed_node_count", "autoscaling.min_node_count"},
     NULL,
     NULL,
     NULL},
    {"lambdalabs_instance", {"instance_type_name"}, {NULL}, NULL, NULL, NULL},
    {"lambda_instance", {"instance_type_name"}, {NULL}, NULL, NULL, NULL},
    {"coreweave_cks_node_pool", {"instance_type"}, {"target_nodes", "min_nodes"}, NULL, NULL, NULL},
    {"crusoe_compute_instance", {"type"}, {NULL}, NULL, NULL, NULL},
    {"digitalocean_droplet", {"size"}, {NULL}, NULL, NULL, NULL},
    {"ibm_is_instance", {"profile"}, {NULL}, NULL, NULL, NULL},
    {"alicloud_instance", {"instance_type"}, {NULL}, NULL, NULL, NULL},
    {"openstack_compute_instance_v2", {"flavor_name"}, {NULL}, NULL, NULL, NULL},
    {"scaleway_instance_server", {"type"}, {NULL}, NULL, NULL, NULL},
    {"vultr_instance", {"plan"}, {NULL}, NULL, NULL, NULL},
};

/* What groups are made from; it says no number of nodes itself. */
static const struct {
    const char *resource, *type;
} templates[] = {{"aws_launch_template", "instance_type"},
                 {"aws_launch_configuration", "instance_type"}};

typedef struct reading {
    sl_findings *findings;
    sl_finder finder;
    uint32_t machines;
    struct {
        char type[PART_SIZE], id[PART_SIZE], name[PART_SIZE];
    } known[TEMPLATES_MAX]; /* launch templates */
    uint32_t known_count;
    bool templates_only; /* the pass that gathers them */
} reading;

/* The value at a path like "node_config.machine_type". */
static bool
find(const sl_node *values, const char *path, sl_node *out)
{
    sl_node at = *values;

    for (;;) {
        char part[PART_SIZE];
        const size_t length = strcspn(path, ".");
        if (length >= sizeof part)
            return false;
        memcpy(part, path, length);
        part[length] = '\0';
        if (sl_node_kind(&at) == SL_JSON_ARRAY && !sl_node_at(&at, 0, &at))
            return false;
        sl_node next;
        if (!sl_node_member(&at, part, &next))
            return false;
        at = next;
        if (path[length] == '\0')
            break;
        path += length + 1;
    }
    *out = at;
    return true;
}

/* A cloud may name a type by its address: ".../acceleratorTypes/nvidia-tesla-v100". */
static const char *
bare_name(const char *text)
{
    const char *const slash = strrchr(text, '/');
    return slash != NULL && slash[1] != '\0' ? slash + 1 : text;
}

/* A text there: of a list its first, of Nebius' resources "platform_preset" as price lists spell
 * it. */
static bool
find_type(const sl_node *values, const char *path, char out[PART_SIZE])
{
    sl_errors ignored;
    sl_errors_begin(&ignored, true);
    sl_node at, first;
    const char *text = NULL;

    if (!find(values, path, &at))
        return false;
    if (sl_node_kind(&at) == SL_JSON_ARRAY && sl_node_at(&at, 0, &first))
        at = first;
    if (sl_node_kind(&at) == SL_JSON_OBJECT) {
        const char *const platform = sl_document_words(&at, "platform");
        const char *const preset = sl_document_words(&at, "preset");
        return platform != NULL && preset != NULL &&
               sl_text_format(out, PART_SIZE, "%s_%s", platform, preset);
    }
    return sl_node_kind(&at) == SL_JSON_TEXT && sl_node_as_text(&at, &text, &ignored) == SL_OK &&
           *text != '\0' && sl_text_copy(out, PART_SIZE, bare_name(text));
}

/* The type that a group's template says, where that is in the document. */
static bool
find_in_template(const reading *r, const sl_node *values, const char *path, char out[PART_SIZE])
{
    sl_node block, first;
    if (!find(values, path, &block))
        return false;
    if (sl_node_kind(&block) == SL_JSON_ARRAY && sl_node_at(&block, 0, &first))
        block = first;
    const char *const id = sl_document_words(&block, "id");
    const char *const name = sl_document_words(&block, "name");
    for (uint32_t i = 0; i < r->known_count; i++)
        if ((id != NULL && sl_text_equal(id, r->known[i].id)) ||
            (name != NULL && sl_text_equal(name, r->known[i].name)))
            return sl_text_copy(out, PART_SIZE, r->known[i].type);
    return false;
}

static void
keep_template(reading *r, const char *resource, const sl_node *values)
{
    for (size_t i = 0; i < sizeof templates / sizeof templates[0]; i++) {
        char type[PART_SIZE];
        if (!sl_text_equal(resource, templates[i].resource) || r->known_count == TEMPLATES_MAX ||
            !find_type(values, templates[i].type, type))
            continue;
        const char *const id = sl_document_words(values, "id");
        const char *const name = sl_document_words(values, "name");
        (void)sl_text_copy(r->known[r->known_count].type, PART_SIZE, type);
        (void)sl_text_copy(r->known[r->known_count].id, PART_SIZE, id != NULL ? id : "");
        (void)sl_text_copy(r->known[r->known_count].name, PART_SIZE, name != NULL ? name : "");
        r->known_count++;
    }
}

/* The number of nodes of a group: what is wanted, or the least that there may be. */
static uint32_t
find_count(const machine *m, const sl_node *values)
{
    for (size_t i = 0; i < 3 && m->counts[i] != NULL; i++) {
        sl_node at, list;
        double count = 0.0;
        if (!find(values, m->counts[i], &at) || !sl_document_as_number(&at, &count))
            continue;
        if (m->per != NULL && find(values, m->per, &list) && sl_node_count(&list) > 1)
            count *= (double)sl_node_count(&list);
        return count >= 1 && count <= SL_HOSTS_MAX ? (uint32_t)count : 0;
    }
    return 0;
}

static void
read_devices(const reading *r, const sl_node *values, const char *path, uint32_t line,
             sl_facts *facts)
{
    sl_node block, first;
    double count = 0.0;

    if (path == NULL || !find(values, path, &block))
        return;
    if (sl_node_kind(&block) == SL_JSON_ARRAY && sl_node_count(&block) > 1)
        sl_findings_warn(r->findings, "mixed_devices", line, path,
                         "a machine holds devices of %zu kinds: only the first counts",
                         sl_node_count(&block));
    if (sl_node_kind(&block) == SL_JSON_ARRAY && sl_node_at(&block, 0, &first))
        block = first;
    const char *const type = sl_document_words(&block, "type");
    sl_facts_text(facts, SL_FIELD_ACCELERATOR, type != NULL ? bare_name(type) : NULL, line, path);
    if (sl_document_number(&block, "count", &count))
        sl_facts_number(facts, SL_FIELD_ACCELERATORS, count, line, path);
}

/* What a state says of a machine; a plan says nothing. */
static void
read_state(const sl_node *values, sl_found_host *host)
{
    static const char *const names[] = {"instance_state", "current_status", "state"};
    static const char *const off[] = {"stopped",   "stopping",    "terminated", "shutting-down",
                                      "suspended", "deallocated", "terminating"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *const state = sl_document_words(values, names[i]);
        if (state == NULL)
            continue;
        if (sl_text_equal_ignoring_case(state, "running"))
            host->state = SL_HOST_USABLE;
        for (size_t j = 0; j < sizeof off / sizeof off[0]; j++) {
            if (sl_text_equal_ignoring_case(state, off[j])) {
                host->state = SL_HOST_DOWN;
                host->reason = state;
            }
        }
        return;
    }
}

/* The address as a name: "module.a.aws_instance.gpu[0]" is "module.a.aws_instance.gpu.0". */
static void
spell_address(const char *address, char out[SL_HOST_NAME_MAX + 1])
{
    size_t used = 0;
    for (; *address != '\0' && used < SL_HOST_NAME_MAX; address++) {
        char c = *address;
        if (c == '"' || c == ']')
            continue;
        if (c == '[')
            c = '.';
        else if ((unsigned char)c <= ' ' || c == ',' || c == 0x7F)
            c = '_';
        out[used++] = c;
    }
    out[used] = '\0';
}

/* What a machine is called: by its tag, its own name or its address; machines of one name, as
 * counted ones are, by their address. */
static void
name_machine(const reading *r, const sl_node *values, const char *address,
             char out[SL_HOST_NAME_MAX + 1])
{
    static const char *const names[] = {"name", "display_name", "hostname", "computer_name"};
    sl_node tags;
    const char *name =
        sl_document_object(values, "tags", &tags) ? sl_document_words(&tags, "Name") : NULL;

    for (size_t i = 0; i < sizeof names / sizeof names[0] && name == NULL; i++)
        name = sl_document_words(values, names[i]);
    if (name == NULL || !sl_document_is_host(name) ||
        sl_findings_find(r->findings, name) != SL_FOUND_NONE)
        spell_address(address, out);
    else
        (void)sl_text_copy(out, SL_HOST_NAME_MAX + 1, name);
}

static sl_code
add_machine(reading *r, const machine *m, const sl_node *values, const char *address,
            sl_errors *err)
{
    const uint32_t line = sl_finder_line(&r->finder, address);
    char type[PART_SIZE] = "", name[SL_HOST_NAME_MAX + 1];
    sl_facts facts = {0};
    sl_found_host host = {.count = 1, .line = line};
    const char *path = m->template;

    for (size_t i = 0; i < 2 && m->types[i] != NULL && type[0] == '\0'; i++)
        if (find_type(values, m->types[i], type))
            path = m->types[i];
    if (type[0] == '\0' && m->template != NULL)
        (void)find_in_template(r, values, m->template, type);
    r->machines++;
    sl_facts_text(&facts, SL_FIELD_NODE_TYPE, type, line, path);
    read_devices(r, values, m->devices, line, &facts);
    if (type[0] == '\0')
        sl_findings_warn(r->findings, "type_unknown", line, path,
                         "%.100s does not say of which type its nodes are", address);
    if (m->counts[0] == NULL) {
        name_machine(r, values, address, name);
        host.name = name;
        read_state(values, &host);
        return sl_document_add(r->findings, &host, &facts, err);
    }
    host.count = find_count(m, values);
    name_machine(r, values, address, name);
    host.pool = name;
    if (host.count == 0)
        sl_findings_warn(r->findings, "group_empty", line, m->counts[0],
                         "%.100s has no nodes, or does not say how many", address);
    return sl_findings_add(r->findings, &host, &facts, err);
}

/* What names a type of machine and is no resource that is read may be nodes. */
static void
warn_of_unread(const reading *r, const char *address, const sl_node *values)
{
    static const char *const paths[] = {"instance_type",
                                        "instance_types",
                                        "machine_type",
                                        "vm_size",
                                        "node_shape",
                                        "accelerator_type",
                                        "instance_groups.instance_type",
                                        "compute_resources.instance_type",
                                        "launch_specification.instance_type",
                                        "instance_details.launch_details.shape"};
    char type[PART_SIZE];

    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        if (!find_type(values, paths[i], type))
            continue;
        sl_findings_warn(r->findings, "resource_unread", 0, paths[i],
                         "%.100s names the type %.60s and is no resource that is read: nodes of it "
                         "are missing",
                         address, type);
        return;
    }
}

static bool
is_template(const char *resource)
{
    for (size_t i = 0; i < sizeof templates / sizeof templates[0]; i++)
        if (sl_text_equal(resource, templates[i].resource))
            return true;
    return false;
}

static sl_code
take_resource(reading *r, const char *type, const char *address, const sl_node *values,
              sl_errors *err)
{
    if (r->templates_only) {
        keep_template(r, type, values);
        return SL_OK;
    }
    for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++)
        if (sl_text_equal(type, machines[i].resource))
            return add_machine(r, &machines[i], values, address, err);
    if (!is_template(type))
        warn_of_unread(r, address, values);
    return SL_OK;
}

/* The resources of one module as `terraform show` prints it. */
static sl_code
take_module(reading *r, const sl_node *module, sl_errors *err)
{
    sl_node resources, resource, values;
    sl_code code = SL_OK;

    if (!sl_document_array(module, "resources", &resources))
        return SL_OK;
    for (size_t i = 0; code == SL_OK && sl_node_at(&resources, i, &resource); i++) {
        const char *const type = sl_document_words(&resource, "type");
        const char *const mode = sl_document_words(&resource, "mode");
        const char *const address = sl_document_words(&resource, "address");
        if (type != NULL && address != NULL && (mode == NULL || !sl_text_equal(mode, "data")) &&
            sl_document_object(&resource, "values", &values))
            code = take_resource(r, type, address, &values, err);
    }
    return code;
}

/* A module and those in it, to a bounded depth: each level knows which of its modules comes
 * next. */
static sl_code
walk_modules(reading *r, const sl_node *root, sl_errors *err)
{
    struct {
        sl_node children;
        size_t next;
    } open[MODULES_MAX];
    uint32_t depth = 0;
    sl_node module = *root;

    for (;;) {
        sl_node children;
        const sl_code code = take_module(r, &module, err);
        if (code != SL_OK)
            return code;
        if (sl_document_array(&module, "child_modules", &children)) {
            if (depth == MODULES_MAX)
                return sl_fail(err, SL_E_SYNTAX, "too_deep", "", "over %d modules in one another",
                               MODULES_MAX);
            open[depth].children = children;
            open[depth++].next = 0;
        }
        while (depth > 0 && !sl_node_at(&open[depth - 1].children, open[depth - 1].next++, &module))
            depth--;
        if (depth == 0)
            return SL_OK;
    }
}

/* The resources of a state file: instances under each. */
static sl_code
walk_state(reading *r, const sl_node *root, sl_errors *err)
{
    sl_node resources, resource, instances, instance, values, key;
    sl_code code = SL_OK;

    if (!sl_document_array(root, "resources", &resources))
        return SL_OK;
    for (size_t i = 0; sl_node_at(&resources, i, &resource); i++) {
        const char *const type = sl_document_words(&resource, "type");
        const char *const name = sl_document_words(&resource, "name");
        const char *const mode = sl_document_words(&resource, "mode");
        const char *const module = sl_document_words(&resource, "module");
        if (type == NULL || name == NULL || (mode != NULL && sl_text_equal(mode, "data")) ||
            !sl_document_array(&resource, "instances", &instances))
            continue;
        for (size_t j = 0; code == SL_OK && sl_node_at(&instances, j, &instance); j++) {
            const char *const text = sl_document_words(&instance, "index_key");
            char address[SL_HOST_NAME_MAX + 1], index[PART_SIZE] = "";
            if (text != NULL)
                (void)sl_text_format(index, sizeof index, "[%s]", text);
            else if (sl_node_member(&instance, "index_key", &key))
                (void)sl_text_format(index, sizeof index, "[%zu]", j);
            (void)sl_text_format(address, sizeof address, "%s%s%s.%s%s",
                                 module != NULL ? module : "", module != NULL ? "." : "", type,
                                 name, index);
            if (sl_document_object(&instance, "attributes", &values))
                code = take_resource(r, type, address, &values, err);
        }
        if (code != SL_OK)
            return code;
    }
    return code;
}

static sl_code
walk(reading *r, const sl_node *root, sl_errors *err)
{
    sl_node values, module;

    /* A plan holds what will be, and may hold what is as well. */
    if (sl_document_object(root, "planned_values", &values) ||
        sl_document_object(root, "values", &values))
        return sl_document_object(&values, "root_module", &module) ? walk_modules(r, &module, err)
                                                                   : SL_OK;
    return walk_state(r, root, err);
}

/* Behind a text of JSON that begins at `at`. */
static const char *
pass_text(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++)
        at += *at == '\\';
    return at < end ? at + 1 : end;
}

/* The object that a member of the root holds; false where there is none. */
static bool
cut_member(const sl_raw *raw, const char *member, sl_raw *out)
{
    const char *const end = raw->text + raw->size;
    const size_t length = strlen(member);
    const char *at = memchr(raw->text, '{', raw->size);

    for (at = at != NULL ? at + 1 : end; at < end && *at != '}';) {
        if (*at == '{' || *at == '[') {
            at = sl_document_end(at, end);
            if (at == NULL)
                return false;
        } else if (*at != '"') {
            at++;
        } else if ((size_t)(end - at) <= length || memcmp(at, member, length) != 0) {
            at = pass_text(at, end);
        } else {
            at += length;
            while (at < end && strchr(" \t\r\n:", *at) != NULL && *at != '\0')
                at++;
            const char *const behind = at < end && *at == '{' ? sl_document_end(at, end) : NULL;
            if (behind != NULL)
                *out = (sl_raw){raw->name, at, (size_t)(behind - at)};
            return behind != NULL;
        }
    }
    return false;
}

/* The root; of one that is too large to decode whole the values alone: a plan says every resource
 * three times, and is read once. */
static sl_code
walk_text(reading *r, const sl_raw *raw, sl_errors *err)
{
    sl_raw values = *raw;
    sl_json *json = NULL;
    sl_node module;
    const bool cut =
        raw->size > SL_DOCUMENT_MAX_BYTES &&
        (cut_member(raw, "\"planned_values\"", &values) || cut_member(raw, "\"values\"", &values));
    sl_code code = sl_document_decode(&values, &json, NULL, err);

    if (code != SL_OK)
        return code;
    const sl_node root = sl_json_root(json);
    for (int pass = 0; code == SL_OK && pass < 2; pass++) {
        r->templates_only = pass == 0;
        if (!cut)
            code = walk(r, &root, err);
        else if (sl_document_object(&root, "root_module", &module))
            code = walk_modules(r, &module, err);
    }
    sl_json_free(json);
    return code;
}

static sl_code
read_terraform(const sl_raw *raw, sl_findings *findings, sl_errors *err)
{
    assert(raw != NULL && findings != NULL && err != NULL);

    reading *const r = sl_arena_alloc(sl_findings_arena(findings), 1, sizeof *r);
    if (r == NULL)
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory to read the file");
    r->findings = findings;
    r->finder = sl_finder_new(raw);
    const sl_code code = walk_text(r, raw, err);
    if (code != SL_OK || r->machines > 0)
        return code;
    (void)sl_fail(err, SL_E_UNSUPPORTED, "no_machines", "",
                  "holds no instances and no groups of nodes of a provider that is known");
    sl_hint(err, "terraform show -json plan.out, after terraform plan -out plan.out");
    return SL_E_UNSUPPORTED;
}

static uint32_t
recognise_terraform(const sl_sample *sample)
{
    if (sample->shape != SL_SHAPE_JSON || sample->list ||
        !(sl_sample_has_key(sample, "terraform_version") ||
          (sl_sample_has_key(sample, "format_version") &&
           sl_sample_has_key(sample, "planned_values"))))
        return 0;
    return 95;
}

const sl_format sl_terraform_format = {"terraform_json", "terraform show -json, or a state file",
                                       recognise_terraform, read_terraform, 30};
