#include "intake/slurm/slurm.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "intake/host_lists.h"
#include "intake/vgpu.h"
#include "shardline/units.h"

enum { REASON_SIZE = 200, FEATURE_SIZE = 128, SLICE_SIZE = 160, TEXTS_SIZE = 4096 };

bool
sl_slurm_says(const char *text)
{
    static const char *const nothing[] = {"", "(null)", "N/A", "n/a", "none", "None", "null"};
    return text != NULL && sl_text_index(text, nothing, sizeof nothing / sizeof nothing[0]) < 0;
}

/* A node while it is understood, with the texts that its facts point to. */
typedef struct understanding {
    sl_findings *findings;
    const sl_slurm_node *node;
    sl_facts *facts;
    sl_slurm_gres gres;
    char slice[SLICE_SIZE];
    char instance[FEATURE_SIZE];
    sl_slurm_model model;
} understanding;

struct sl_slurm_nodes {
    sl_findings *findings;
    /* Of the node that was understood last. */
    bool kept; /* its texts are here */
    sl_slurm_node node;
    char texts[TEXTS_SIZE];
    understanding understood;
    sl_facts facts;
    sl_found_notes notes;
};

/* NULL where the node says nothing of it. */
static const char *
text_of(const sl_slurm_node *node, sl_slurm_item item)
{
    const char *const text = node->item[item].text;
    return sl_slurm_says(text) ? text : NULL;
}

static const sl_slurm_said *
said(const understanding *u, sl_slurm_item item)
{
    return text_of(u->node, item) != NULL ? &u->node->item[item] : NULL;
}

static const char *
path(const understanding *u, sl_slurm_item item)
{
    return u->node->paths[item];
}

/* A count or MiB. "80+" of a group of unequal nodes is none of theirs. */
static void
say_number(const understanding *u, sl_slurm_item item, sl_field field, double unit)
{
    const sl_slurm_said *const it = said(u, item);
    double value = 0.0;

    /* Memory that nobody configured is printed as 1 MiB. */
    const double least = item == SL_SLURM_MEMORY ? 2.0 : 1.0;
    if (it != NULL && sl_text_to_double(it->text, &value) && value >= least && value < 9e15 / unit)
        sl_facts_number(u->facts, field, floor(value) * unit, it->line, path(u, item));
}

/* "idx0" to "idx7", one device each: names of devices, which tell no type. */
static bool
is_one_type_per_index(const sl_slurm_gres *gres)
{
    uint64_t first = 0;
    size_t prefix = 0;

    if (gres->type_count < 2)
        return false;
    for (uint32_t i = 0; i < gres->type_count; i++) {
        const char *const name = gres->types[i].name;
        size_t letters = strlen(name);
        uint64_t index = 0;
        while (letters > 0 && isdigit((unsigned char)name[letters - 1]))
            letters--;
        if (gres->types[i].count != 1 || !sl_text_to_uint(name + letters, &index))
            return false;
        if (i == 0) {
            first = index;
            prefix = letters;
        }
        if (letters != prefix || strncmp(name, gres->types[0].name, prefix) != 0 ||
            index != first + i)
            return false;
    }
    return true;
}

/* Names that stand for a generation or for every device, which no part is called. */
static bool
is_generic(const char *type)
{
    static const char *const names[] = {
        "gen",    "generic", "gpu", "nvidia", "amd",    "intel",     "tesla",  "geforce",
        "quadro", "rtx",     "gtx", "cuda",   "kepler", "maxwell",   "pascal", "volta",
        "turing", "ampere",  "ada", "hopper", "grace",  "blackwell", "cdna",   "instinct"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (sl_text_equal_ignoring_case(names[i], type))
            return true;
    return false;
}

/* The type of the whole devices, one for the node: of several the one with the most. */
static void
say_type(const understanding *u, const sl_slurm_gres *gres, sl_slurm_item item)
{
    const uint32_t line = u->node->item[item].line;
    const char *const where = path(u, item);
    uint32_t most = 0;

    if (is_one_type_per_index(gres)) {
        sl_findings_warn(u->findings, "type_per_index", line, where,
                         "the types %.40s to %.40s are one device each: they count as one node's "
                         "devices without a type",
                         gres->types[0].name, gres->types[gres->type_count - 1].name);
        sl_facts_number(u->facts, SL_FIELD_ACCELERATORS, gres->devices + gres->sliced_devices, line,
                        where);
        return;
    }
    for (uint32_t i = 0; i < gres->type_count; i++)
        if (gres->types[i].count > gres->types[most].count)
            most = i;
    if (gres->type_count > 1)
        sl_findings_warn(u->findings, "mixed_types", line, where,
                         "a node has %u of %.40s and %u other devices: only the former are taken",
                         gres->types[most].count,
                         gres->types[most].name[0] == '\0' ? "no type" : gres->types[most].name,
                         gres->devices - gres->types[most].count);
    sl_facts_text(u->facts, SL_FIELD_ACCELERATOR, gres->types[most].name, line, where);
    sl_facts_number(u->facts, SL_FIELD_ACCELERATORS, gres->types[most].count + gres->sliced_devices,
                    line, where);
}

static void
say_slices(understanding *u, sl_slurm_item item)
{
    const sl_slurm_gres *const gres = &u->gres;
    const uint32_t line = u->node->item[item].line;
    const char *const where = path(u, item);

    sl_findings_warn(
        u->findings, "mig_slices", line, where,
        "%u MIG slices (%.40s) are at least %u devices; how many more there are is not "
        "said",
        gres->slices, gres->profile, gres->sliced_devices);
    (void)sl_text_format(u->slice, sizeof u->slice, "MIG %s", gres->profile);
    sl_facts_text(u->facts, SL_FIELD_SLICE, u->slice, line, where);
    sl_facts_number(u->facts, SL_FIELD_SLICED_ACCELERATORS, gres->sliced_devices, line, where);
    if (gres->type_count == 0) {
        sl_facts_text(u->facts, SL_FIELD_ACCELERATOR, gres->sliced_type, line, where);
        sl_facts_number(u->facts, SL_FIELD_ACCELERATORS, gres->sliced_devices, line, where);
    }
}

/* What is odd about the text of the resources. False: it lost what matters. */
static bool
check_gres(const understanding *u, const sl_slurm_gres *gres, sl_slurm_item item)
{
    const uint32_t line = u->node->item[item].line;
    const char *const where = path(u, item);
    const char *const text = u->node->item[item].text;

    if (gres->odd)
        sl_findings_warn(u->findings, "odd_gres", line, where,
                         "not all of \"%.60s\" is understood: what is not is left out", text);
    if (gres->uncounted && u->node->may_be_cut) {
        sl_findings_warn(u->findings, "gres_cut", line, where,
                         "\"%.60s\" has lost its number at the end of its column: print it wider",
                         text);
        return false;
    }
    if (gres->open && u->node->may_be_cut)
        sl_findings_warn(u->findings, "gres_open", line, where,
                         "\"%.60s\" is cut inside its parenthesis: devices behind it, if there are "
                         "any, are not counted",
                         text);
    if (gres->shares > 0)
        sl_findings_warn(u->findings, "shared_gres", line, where,
                         "jobs may share devices (shard or mps): they count as whole ones");
    return true;
}

/* Resources as Gres= has them, or as the trackable resources do where that says nothing. */
static void
say_accelerators(understanding *u)
{
    sl_slurm_gres *const gres = &u->gres;
    const sl_slurm_said *const own = said(u, SL_SLURM_GRES);
    const sl_slurm_said *const tracked = said(u, SL_SLURM_TRES);
    sl_slurm_item item = SL_SLURM_GRES;
    sl_slurm_gres other = {.devices = 0};

    if (own != NULL)
        sl_slurm_gres_read(own->text, gres);
    if (tracked != NULL)
        sl_slurm_tres_read(tracked->text, &other);
    const uint32_t units = gres->devices + gres->slices, others = other.devices + other.slices;
    if (units == 0 && !gres->odd && others > 0) {
        sl_findings_warn(u->findings, "gres_null", tracked->line, path(u, SL_SLURM_TRES),
                         "%s names no accelerator, %s counts %u: that is taken",
                         path(u, SL_SLURM_GRES), path(u, SL_SLURM_TRES), others);
        *gres = other;
        item = SL_SLURM_TRES;
    } else if (units > 0 && others > 0 && units != others) {
        sl_findings_warn(u->findings, "counts_differ", own->line, path(u, SL_SLURM_GRES),
                         "%s counts %u accelerators and %s %u: the former counts",
                         path(u, SL_SLURM_GRES), units, path(u, SL_SLURM_TRES), others);
    } else if (units > 0 && others == units && gres->type_count == 1 &&
               gres->types[0].name[0] == '\0' && other.types[0].name[0] != '\0') {
        *gres = other; /* the same devices, and their type is told */
        item = SL_SLURM_TRES;
    }
    if (!check_gres(u, gres, item)) {
        *gres = (sl_slurm_gres){.devices = 0};
        return;
    }
    if (gres->type_count > 0)
        say_type(u, gres, item);
    if (gres->slices > 0)
        say_slices(u, item);
}

/* What labels say, over all of them. Two that differ say nothing. */
typedef struct labels {
    double memory;         /* gigabytes of a device */
    sl_slurm_model *model; /* of those that name one part, the one that says most */
    char *instance;        /* FEATURE_SIZE */
    bool memory_differs, model_differs, instance_differs;
} labels;

static void
take_memory(labels *l, double gigabytes)
{
    l->memory_differs = l->memory_differs || (l->memory > 0.0 && l->memory != gigabytes);
    l->memory = gigabytes;
}

static void
take_model(const understanding *u, labels *l, const sl_slurm_model *model)
{
    const size_t known = strlen(l->model->name);

    if (known > 0 && !sl_part_names_share(&l->model->part, &model->part)) {
        l->model_differs = true;
        sl_findings_warn(u->findings, "parts_in_features", u->node->item[SL_SLURM_FEATURES].line,
                         path(u, SL_SLURM_FEATURES),
                         "the features of a node name different parts, %.40s and %.40s: none is "
                         "taken",
                         l->model->name, model->name);
    }
    if (strlen(model->name) > known)
        *l->model = *model;
}

/* accelerated: the node has devices, of which labels may tell. */
static void
take_feature(const understanding *u, labels *l, const char *feature, bool accelerated)
{
    sl_part_names *const names = sl_findings_part_names(u->findings);
    sl_slurm_model model;
    double memory = 0.0;
    bool titled = false;

    if (sl_slurm_feature_memory(feature, &memory, &titled)) {
        if (!accelerated ||
            (!titled && names != NULL && !sl_part_names_have(names, memory * SL_GIB_BYTES)))
            return;
        take_memory(l, memory);
        sl_findings_warn(u->findings, "memory_in_features", u->node->item[SL_SLURM_FEATURES].line,
                         path(u, SL_SLURM_FEATURES),
                         "\"%.60s\" may be the memory of a device: it tells variants of a part "
                         "apart, and is not taken for what there is",
                         feature);
    } else if (names == NULL || (!accelerated && !sl_part_name_is_short(feature)) ||
               sl_findings_is_place(u->findings, sl_findings_file_count(u->findings) - 1,
                                    feature)) {
        return; /* thousands of nodes may have as many racks: they are not looked up */
    } else if (!sl_slurm_feature_model(names, feature, &model)) {
        if (!sl_vgpu_is_board(feature)) /* a part that the catalogue does not have is no place */
            sl_findings_place(u->findings, feature);
    } else if (accelerated) {
        take_model(u, l, &model);
    }
}

static void
warn_of_generic(const understanding *u, const sl_fact *type)
{
    if (type->said && is_generic(type->text))
        sl_findings_warn(u->findings, "generic_type", type->place.line, type->place.path,
                         "the type \"%.40s\" stands for many parts: say which one it is",
                         type->text);
}

/* Whether the labels' part may be the one that the resources name. */
static bool
may_be_named(const understanding *u, const sl_slurm_model *model, const char *type)
{
    const sl_part_name labelled = model->part;
    const sl_part_name *const named =
        sl_part_names_find_counted(sl_findings_part_names(u->findings), type);
    const bool may_be = sl_part_names_share(named, &labelled);

    if (!may_be && !named->near && named->candidate_count > 0)
        sl_findings_warn(u->findings, "label_contradicts", u->node->item[SL_SLURM_FEATURES].line,
                         path(u, SL_SLURM_FEATURES),
                         "the resources of a node name %.40s and its features %.40s: the former "
                         "counts",
                         type, model->name);
    return may_be;
}

/* A part that labels name, where the resources name none; its memory, where they do not deny it. */
static void
say_model(const understanding *u, const labels *l)
{
    sl_fact *const type = &u->facts->field[SL_FIELD_ACCELERATOR];
    const uint32_t line = u->node->item[SL_SLURM_FEATURES].line;
    const char *const where = path(u, SL_SLURM_FEATURES);
    const bool named = type->said && !is_generic(type->text);

    if (l->model->name[0] == '\0' || l->model_differs ||
        (named ? !may_be_named(u, l->model, type->text) : u->gres.type_count != 1)) {
        warn_of_generic(u, type);
        return;
    }
    if (l->model->part.bytes > 0.0 && l->memory <= 0.0)
        sl_facts_number(u->facts, SL_FIELD_NOMINAL_MEMORY_BYTES, l->model->part.bytes, line, where);
    if (named)
        return;
    type->said = false;
    sl_facts_text(u->facts, SL_FIELD_ACCELERATOR, l->model->name, line, where);
    type->label = !l->model->titled && sl_part_name_is_short(l->model->name) ? SL_LABEL_SHORT
                                                                             : SL_LABEL_CLEAR;
}

static void
say_features(understanding *u)
{
    const sl_slurm_said *const it = said(u, SL_SLURM_FEATURES);
    const char *const where = path(u, SL_SLURM_FEATURES);
    const bool accelerated = u->gres.devices + u->gres.slices > 0;
    labels l = {.instance = u->instance, .model = &u->model};
    char feature[FEATURE_SIZE];

    for (const char *at = it == NULL ? "" : it->text; *at != '\0';) {
        const size_t length = strcspn(at, ",&| ");
        const size_t kept = length < sizeof feature - 1 ? length : sizeof feature - 1;
        memcpy(feature, at, kept);
        feature[kept] = '\0';
        if (sl_slurm_feature_instance(feature)) {
            l.instance_differs =
                l.instance_differs || (*l.instance != '\0' && !sl_text_equal(l.instance, feature));
            (void)sl_text_copy(l.instance, FEATURE_SIZE, feature);
        } else {
            take_feature(u, &l, feature, accelerated);
        }
        at += length + (at[length] != '\0');
    }
    if (l.memory > 0.0 && !l.memory_differs)
        sl_facts_number(u->facts, SL_FIELD_NOMINAL_MEMORY_BYTES, l.memory * SL_GIB_BYTES, it->line,
                        where);
    say_model(u, &l);
    if (l.instance_differs)
        sl_findings_warn(u->findings, "several_instance_types", it->line, where,
                         "the features name several instance types, %.60s among them: none is "
                         "taken",
                         l.instance);
    else if (*l.instance != '\0' && !u->facts->field[SL_FIELD_NODE_TYPE].said)
        sl_facts_text(u->facts, SL_FIELD_NODE_TYPE, l.instance, it->line, where);
}

static void
warn_of_state(sl_findings *findings, const sl_slurm_node *node, const sl_slurm_state *state)
{
    const uint32_t line = node->item[SL_SLURM_STATE].line;
    const char *const where = node->paths[SL_SLURM_STATE];

    if (state->unknown[0] != '\0')
        sl_findings_warn(findings, "unknown_state", line, where,
                         "the state \"%.40s\" is not known: the rest of it counts", state->unknown);
    if (state->future)
        sl_findings_warn(findings, "future_nodes", line, where,
                         "nodes of state FUTURE are planned and may not exist yet");
    if (state->reserved && state->state == SL_HOST_USABLE)
        sl_findings_warn(findings, "reserved_nodes", line, where,
                         "nodes are held for a reservation: they count as usable");
}

/* The state, and why the node cannot be used: the reason up to who gave it and when, or else the
 * words of the state. */
static void
say_state(sl_findings *findings, const sl_slurm_node *node, char reason[REASON_SIZE],
          sl_found_host *host)
{
    const char *const words = text_of(node, SL_SLURM_STATE);
    const char *const why = text_of(node, SL_SLURM_REASON);
    sl_slurm_state state = {.state = SL_HOST_UNSAID};

    if (words != NULL)
        sl_slurm_state_read(words, &state);
    else if (why != NULL) /* only nodes that take no work are listed with their reason alone */
        state.state = SL_HOST_DRAINED;
    warn_of_state(findings, node, &state);
    host->state = state.state;
    if (host->state < SL_HOST_DRAINED)
        return;
    (void)sl_text_copy(reason, REASON_SIZE, why != NULL ? why : words);
    char *const by = why != NULL ? strrchr(reason, '[') : NULL;
    if (by != NULL && strchr(by, '@') != NULL)
        *by = '\0';
    for (size_t length = strlen(reason); length > 0 && reason[length - 1] == ' ';)
        reason[--length] = '\0';
    host->reason = *reason != '\0' ? reason : NULL;
}

static void
warn_of_drained(const understanding *u)
{
    const sl_slurm_said *const it = said(u, SL_SLURM_DRAINED);
    sl_slurm_gres drained = {.devices = 0};

    if (it != NULL)
        sl_slurm_gres_read(it->text, &drained);
    if (drained.devices > 0)
        sl_findings_warn(u->findings, "gres_drained", it->line, path(u, SL_SLURM_DRAINED),
                         "%u accelerators of a node are drained: they are counted",
                         drained.devices);
}

sl_code
sl_slurm_nodes_new(sl_findings *findings, sl_slurm_nodes **out, sl_errors *err)
{
    assert(findings != NULL && out != NULL && err != NULL);

    *out = sl_arena_alloc(sl_findings_arena(findings), 1, sizeof **out);
    if (*out == NULL)
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory to read nodes");
    (*out)->findings = findings;
    return SL_OK;
}

/* What the resources and labels of a node are told by. */
static const sl_slurm_item told_by[] = {SL_SLURM_GRES,   SL_SLURM_FEATURES, SL_SLURM_TRES,
                                        SL_SLURM_CPUS,   SL_SLURM_MEMORY,   SL_SLURM_INSTANCE,
                                        SL_SLURM_DRAINED};

enum { TOLD_BY = sizeof told_by / sizeof told_by[0] };

/* Whether the node says of them what the last one did. */
static bool
is_like_last(const sl_slurm_nodes *nodes, const sl_slurm_node *node)
{
    bool like = nodes->kept && node->may_be_cut == nodes->node.may_be_cut;

    for (size_t i = 0; i < TOLD_BY && like; i++) {
        const char *const last = nodes->node.item[told_by[i]].text;
        const char *const text = node->item[told_by[i]].text;
        like = last == NULL || text == NULL ? last == text : sl_text_equal(last, text);
    }
    return like;
}

/* Copies what the next node is compared with. False where it is too long. */
static bool
keep_texts(sl_slurm_nodes *nodes, const sl_slurm_node *node)
{
    size_t used = 0;

    nodes->node = *node;
    for (size_t i = 0; i < TOLD_BY; i++) {
        sl_slurm_said *const it = &nodes->node.item[told_by[i]];
        const size_t size = it->text != NULL ? strlen(it->text) + 1 : 0;
        if (size > TEXTS_SIZE - used)
            return false;
        if (size > 0)
            it->text = memcpy(nodes->texts + used, it->text, size);
        used += size;
    }
    return true;
}

/* What the last node said stands in this one now. */
static void
move_places(sl_slurm_nodes *nodes, const sl_slurm_node *node)
{
    for (uint32_t i = 0; i < SL_FIELD_COUNT; i++) {
        sl_place *const place = &nodes->facts.field[i].place;
        for (size_t j = 0; j < TOLD_BY && nodes->facts.field[i].said; j++)
            if (place->path == node->paths[told_by[j]])
                place->line = node->item[told_by[j]].line;
    }
}

/* What its resources and labels say. */
static void
understand(sl_slurm_nodes *nodes, const sl_slurm_node *node)
{
    understanding *const u = &nodes->understood;

    nodes->kept = keep_texts(nodes, node);
    nodes->facts = (sl_facts){0};
    *u = (understanding){.findings = nodes->findings,
                         .node = nodes->kept ? &nodes->node : node,
                         .facts = &nodes->facts};
    nodes->notes = (sl_found_notes){.count = 0};
    sl_findings_note(nodes->findings, &nodes->notes);
    say_number(u, SL_SLURM_MEMORY, SL_FIELD_HOST_MEMORY_BYTES, SL_MIB_BYTES);
    say_number(u, SL_SLURM_CPUS, SL_FIELD_CPUS, 1.0);
    const sl_slurm_said *const instance = said(u, SL_SLURM_INSTANCE);
    if (instance != NULL)
        sl_facts_text(u->facts, SL_FIELD_NODE_TYPE, instance->text, instance->line,
                      path(u, SL_SLURM_INSTANCE));
    say_accelerators(u);
    say_features(u);
    warn_of_drained(u);
    sl_findings_note(nodes->findings, NULL);
    nodes->kept = nodes->kept && !nodes->notes.lost;
}

sl_code
sl_slurm_node_add(sl_slurm_nodes *nodes, const sl_slurm_node *node, sl_errors *err)
{
    assert(nodes != NULL && node != NULL && node->paths != NULL && err != NULL);

    const char *const name = text_of(node, SL_SLURM_NAME);
    const char *const partitions = text_of(node, SL_SLURM_PARTITIONS);
    char reason[REASON_SIZE];
    uint64_t count = 0;

    if (name != NULL && !sl_hosts_count(name, &count)) {
        sl_host_list_left_out(nodes->findings, node->item[SL_SLURM_NAME].line,
                              node->paths[SL_SLURM_NAME], name);
        return SL_OK;
    }
    if (is_like_last(nodes, node)) {
        sl_findings_warn_again(nodes->findings, &nodes->notes);
        move_places(nodes, node);
    } else {
        understand(nodes, node);
    }
    /* Nodes of one partition only are often called after it; of several, by none of them. */
    sl_found_host host = {.name = name,
                          .count = node->count,
                          .line = node->line,
                          .pool = partitions != NULL && strchr(partitions, ',') == NULL ? partitions
                                                                                        : NULL};
    say_state(nodes->findings, node, reason, &host);
    return sl_findings_add(nodes->findings, &host, &nodes->facts, err);
}

sl_code
sl_slurm_need_hosts(const sl_findings *findings, uint32_t before, sl_errors *err)
{
    if (sl_findings_count(findings) > before)
        return SL_OK;
    (void)sl_fail(err, SL_E_UNSUPPORTED, "no_hosts", "", "the text names no node");
    sl_hint(err, "scontrol show nodes, or sinfo -N -o \"%%N %%G %%T\"");
    return SL_E_UNSUPPORTED;
}
