#include "intake/devices.h"

#include <assert.h>
#include <string.h>

#include "base/index.h"
#include "base/text.h"

enum { FIRST_ROOM = 256 /* nodes */ };

static const uint32_t NONE = UINT32_MAX; /* not a kind */

/* Fields that are of a device; all others are the node's. */
static const sl_field device_fields[] = {
    SL_FIELD_ACCELERATOR,    SL_FIELD_MEMORY_BYTES,  SL_FIELD_NOMINAL_MEMORY_BYTES,
    SL_FIELD_RESERVED_BYTES, SL_FIELD_POWER_LIMIT_W, SL_FIELD_SLICED_ACCELERATORS,
    SL_FIELD_SLICE};

enum { DEVICE_FIELDS = sizeof device_fields / sizeof device_fields[0] };

typedef struct node {
    const char *name; /* NULL: nobody named it */
    const char *domain;
    uint32_t line;
    uint32_t attached, attached_line; /* as the tool says; 0: it does not */
    const char *attached_path;
    uint32_t last_number, last_number_line; /* line 0: devices have no numbers */
    bool uncounted;                         /* those listed are some of them */
    uint32_t common;                        /* kind of what is said of the whole, or NONE */
    uint32_t kind_count;
    struct {
        uint32_t kind, count;
    } kinds[SL_NODE_KINDS_MAX];
} node;

struct sl_devices {
    sl_findings *findings;
    sl_arena *arena;
    bool offers;
    uint32_t node_count, node_room;
    node *nodes;
    sl_index names;      /* of nodes */
    sl_index identities; /* of devices: their kinds */
    uint32_t kind_count;
    sl_facts *kinds[SL_DEVICE_KINDS_MAX];
    uint64_t kind_hashes[SL_DEVICE_KINDS_MAX];
};

static sl_code
out_of_memory(sl_errors *err)
{
    return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory for what the files say");
}

sl_code
sl_devices_new(sl_findings *findings, sl_devices **out, sl_errors *err)
{
    assert(findings != NULL && out != NULL && err != NULL);

    sl_arena *const arena = sl_findings_arena(findings);
    sl_devices *const made = sl_arena_alloc(arena, 1, sizeof *made);
    if (made == NULL)
        return out_of_memory(err);
    made->findings = findings;
    made->arena = arena;
    made->names.arena = arena;
    made->identities.arena = arena;
    *out = made;
    return SL_OK;
}

void
sl_devices_are_offers(sl_devices *devices)
{
    devices->offers = true;
}

static sl_code
new_node(sl_devices *devices, const char *name, uint32_t line, uint32_t *index, sl_errors *err)
{
    if (devices->node_count == SL_HOSTS_MAX)
        return sl_fail(err, SL_E_RANGE, "too_many", "", "must hold at most %d nodes", SL_HOSTS_MAX);
    if (devices->node_count == devices->node_room) {
        const uint32_t room = devices->node_room > 0 ? 2 * devices->node_room : FIRST_ROOM;
        node *const grown = sl_arena_alloc(devices->arena, room, sizeof *grown);
        if (grown == NULL)
            return out_of_memory(err);
        if (devices->node_count > 0)
            memcpy(grown, devices->nodes, devices->node_count * sizeof *grown);
        devices->nodes = grown;
        devices->node_room = room;
    }
    node made = {.line = line, .common = NONE};
    if (name != NULL && (made.name = sl_arena_copy(devices->arena, name)) == NULL)
        return out_of_memory(err);
    *index = devices->node_count;
    devices->nodes[devices->node_count++] = made;
    return SL_OK;
}

sl_code
sl_devices_node(sl_devices *devices, const char *name, uint32_t line, uint32_t *index,
                sl_errors *err)
{
    assert(devices != NULL && index != NULL && err != NULL);

    if (name == NULL || *name == '\0')
        return new_node(devices, NULL, line, index, err);
    bool known = false;
    uint32_t *const at = sl_index_at(&devices->names, sl_index_key(name), &known);
    if (at == NULL)
        return out_of_memory(err);
    if (known) {
        *index = *at;
        return SL_OK;
    }
    *at = devices->node_count;
    return new_node(devices, name, line, index, err);
}

static uint64_t
facts_hash(const sl_facts *facts)
{
    uint64_t hash = SL_QUICK_HASH_START;
    for (uint32_t i = 0; i < SL_FIELD_COUNT; i++)
        hash = sl_fact_hash(hash, i, &facts->field[i]);
    return hash;
}

static bool
facts_equal(const sl_facts *a, const sl_facts *b)
{
    for (uint32_t i = 0; i < SL_FIELD_COUNT; i++)
        if (!sl_fact_equal(&a->field[i], &b->field[i]))
            return false;
    return true;
}

/* The kind that these facts are; texts are copied where it is new. */
static sl_code
intern(sl_devices *devices, const sl_facts *facts, uint32_t *kind, sl_errors *err)
{
    const uint64_t hash = facts_hash(facts);

    for (uint32_t i = devices->kind_count; i-- > 0;) {
        if (devices->kind_hashes[i] == hash && facts_equal(devices->kinds[i], facts)) {
            *kind = i;
            return SL_OK;
        }
    }
    if (devices->kind_count == SL_DEVICE_KINDS_MAX)
        return sl_fail(err, SL_E_RANGE, "too_many", "", "must hold at most %d kinds of devices",
                       SL_DEVICE_KINDS_MAX);
    sl_facts *const made = sl_arena_alloc(devices->arena, 1, sizeof *made);
    if (made == NULL)
        return out_of_memory(err);
    *made = *facts;
    for (uint32_t i = 0; i < SL_FIELD_COUNT; i++) {
        sl_fact *const f = &made->field[i];
        if (f->said && f->text != NULL &&
            (f->text = sl_arena_copy(devices->arena, f->text)) == NULL)
            return out_of_memory(err);
    }
    *kind = devices->kind_count;
    devices->kind_hashes[devices->kind_count] = hash;
    devices->kinds[devices->kind_count++] = made;
    return SL_OK;
}

/* Moves `count` devices of a node to a kind; from NONE they are new. */
static void
move(sl_devices *devices, node *n, uint32_t from, uint32_t to, uint32_t count)
{
    for (uint32_t i = 0; i < n->kind_count; i++)
        if (n->kinds[i].kind == from)
            n->kinds[i].count -= n->kinds[i].count < count ? n->kinds[i].count : count;
    uint32_t at = 0;
    while (at < n->kind_count && n->kinds[at].kind != to && n->kinds[at].count > 0)
        at++;
    if (at == SL_NODE_KINDS_MAX) {
        sl_findings_warn(devices->findings, "mixed_devices", n->line, NULL,
                         "%s holds devices of more than %d kinds: the others are not counted",
                         n->name != NULL ? n->name : "a node", SL_NODE_KINDS_MAX);
        return;
    }
    if (at == n->kind_count)
        n->kind_count++;
    if (n->kinds[at].kind != to)
        n->kinds[at].count = 0;
    n->kinds[at].kind = to;
    n->kinds[at].count += count;
}

void
sl_devices_attached(sl_devices *devices, uint32_t index, uint32_t count, uint32_t line,
                    const char *path)
{
    assert(devices != NULL && index < devices->node_count);

    node *const n = &devices->nodes[index];
    if (n->attached > 0)
        return;
    n->attached = count;
    n->attached_line = line;
    n->attached_path = path;
}

void
sl_devices_numbered(sl_devices *devices, uint32_t index, uint32_t number, uint32_t line)
{
    assert(devices != NULL && index < devices->node_count && line > 0);

    node *const n = &devices->nodes[index];
    if (n->last_number_line > 0 && number <= n->last_number)
        return;
    n->last_number = number;
    n->last_number_line = line;
}

void
sl_devices_uncounted(sl_devices *devices, uint32_t index)
{
    assert(devices != NULL && index < devices->node_count);
    devices->nodes[index].uncounted = true;
}

static uint64_t
identity_key(uint32_t index, const char *identity)
{
    return sl_hash_quick(sl_hash_quick(SL_QUICK_HASH_START, &index, sizeof index), identity,
                         strlen(identity));
}

sl_code
sl_devices_add(sl_devices *devices, uint32_t index, const char *identity, uint32_t count,
               const sl_facts *facts, bool *known, sl_errors *err)
{
    assert(devices != NULL && index < devices->node_count && facts != NULL && err != NULL);

    uint32_t *kind_of = NULL;
    bool before = false;
    if (identity != NULL && *identity != '\0') {
        kind_of = sl_index_at(&devices->identities, identity_key(index, identity), &before);
        if (kind_of == NULL)
            return out_of_memory(err);
    }
    if (known != NULL)
        *known = before;
    sl_facts device = {0};
    if (before)
        device = *devices->kinds[*kind_of];
    const bool changed = sl_facts_complete(&device, facts);
    if (before && !changed)
        return SL_OK;
    uint32_t kind = 0;
    const sl_code code = intern(devices, &device, &kind, err);
    if (code != SL_OK)
        return code;
    move(devices, &devices->nodes[index], before ? *kind_of : NONE, kind, count);
    if (kind_of != NULL)
        *kind_of = kind;
    return SL_OK;
}

sl_code
sl_devices_say(sl_devices *devices, uint32_t index, const sl_facts *facts, sl_errors *err)
{
    assert(devices != NULL && index < devices->node_count && facts != NULL && err != NULL);

    node *const n = &devices->nodes[index];
    sl_facts both = {0};
    if (n->common != NONE)
        both = *devices->kinds[n->common];
    if (!sl_facts_complete(&both, facts))
        return SL_OK;
    return intern(devices, &both, &n->common, err);
}

sl_code
sl_devices_domain(sl_devices *devices, uint32_t index, const char *domain, sl_errors *err)
{
    assert(devices != NULL && index < devices->node_count && domain != NULL && err != NULL);

    node *const n = &devices->nodes[index];
    if (n->domain == NULL)
        n->domain = sl_arena_copy(devices->arena, domain);
    return n->domain != NULL ? SL_OK : out_of_memory(err);
}

bool
sl_devices_knows(const sl_devices *devices, uint32_t index, const char *identity)
{
    assert(devices != NULL && identity != NULL);
    return sl_index_knows(&devices->identities, identity_key(index, identity));
}

uint32_t
sl_devices_count(const sl_devices *devices, uint32_t index)
{
    assert(devices != NULL && index < devices->node_count);

    const node *const n = &devices->nodes[index];
    uint32_t count = 0;
    for (uint32_t i = 0; i < n->kind_count; i++)
        count += n->kinds[i].count;
    return count;
}

/* The name as printed, or "" of devices that have none. */
static const char *
part_of(const sl_devices *devices, uint32_t kind)
{
    const sl_fact *const f = &devices->kinds[kind]->field[SL_FIELD_ACCELERATOR];
    return f->said ? f->text : "";
}

static uint32_t
count_part(const sl_devices *devices, const node *n, const char *part)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < n->kind_count; i++)
        count += sl_text_equal(part_of(devices, n->kinds[i].kind), part) ? n->kinds[i].count : 0;
    return count;
}

/* The part that most devices of a node are; of as many, the first. */
static const char *
main_part(const sl_devices *devices, const node *n)
{
    const char *most = "";
    uint32_t count = 0;
    for (uint32_t i = 0; i < n->kind_count; i++) {
        const char *const part = part_of(devices, n->kinds[i].kind);
        const uint32_t of_it = n->kinds[i].count > 0 ? count_part(devices, n, part) : 0;
        if (of_it > count) {
            most = part;
            count = of_it;
        }
    }
    return most;
}

static const char *
name_of(const node *n)
{
    return n->name != NULL ? n->name : "a node";
}

/* Of two unequal values the one that promises less. */
static void
take_smaller(const sl_devices *devices, const node *n, sl_field field, sl_fact *known,
             const sl_fact *more)
{
    if (!more->said)
        return;
    if (!known->said) {
        *known = *more;
        return;
    }
    if (known->number == more->number)
        return;
    if (field == SL_FIELD_MEMORY_BYTES)
        sl_findings_warn(devices->findings, "mixed_memory", more->place.line, more->place.path,
                         "%.80s holds devices of unequal memory: the smallest counts", name_of(n));
    const bool less = field == SL_FIELD_RESERVED_BYTES ? more->number > known->number
                                                       : more->number < known->number;
    if (less)
        *known = *more;
}

/* What the devices of the main part have in common. */
static void
merge_kind(const sl_devices *devices, const node *n, const sl_facts *kind, uint32_t count,
           sl_facts *out)
{
    for (uint32_t i = 0; i < DEVICE_FIELDS; i++) {
        const sl_field field = device_fields[i];
        const sl_fact *const more = &kind->field[field];
        sl_fact *const known = &out->field[field];
        if (!more->said)
            continue;
        if (field == SL_FIELD_SLICED_ACCELERATORS) {
            const double before = known->said ? known->number : 0;
            *known = *more;
            known->number = before + more->number * count;
        } else if (field == SL_FIELD_SLICE && known->said &&
                   !sl_text_equal(known->text, more->text)) {
            sl_findings_warn(devices->findings, "mixed_slices", more->place.line, more->place.path,
                             "%.60s has devices that are cut in different ways: %.60s and %.60s",
                             name_of(n), known->text, more->text);
        } else if (more->text != NULL) {
            *known = known->said ? *known : *more;
        } else {
            take_smaller(devices, n, field, known, more);
        }
    }
}

/* A limit that only some devices have is said: a step waits for the slowest of them. */
static void
warn_of_power(const sl_devices *devices, const node *n, const char *part, const sl_facts *facts)
{
    const sl_fact *const limit = &facts->field[SL_FIELD_POWER_LIMIT_W];
    bool equal = true;
    for (uint32_t i = 0; i < n->kind_count; i++)
        if (n->kinds[i].count > 0 && sl_text_equal(part_of(devices, n->kinds[i].kind), part))
            equal = equal &&
                    sl_fact_equal(&devices->kinds[n->kinds[i].kind]->field[SL_FIELD_POWER_LIMIT_W],
                                  limit);
    if (!equal)
        sl_findings_warn(devices->findings, "mixed_power", limit->place.line, limit->place.path,
                         "%.80s has devices of unequal power limits: the lowest, %g W, counts",
                         name_of(n), limit->number);
}

/* `listed`: devices of all parts; `count`: of the main one. */
static void
say_count(const sl_devices *devices, const node *n, uint32_t listed, uint32_t count,
          const sl_place *place, sl_facts *out)
{
    if (n->uncounted && n->attached == 0)
        return;
    if (listed == 0 || n->attached <= listed)
        sl_facts_number(out, SL_FIELD_ACCELERATORS, count, place->line, place->path);
    else
        sl_facts_number(out, SL_FIELD_ACCELERATORS, count + (n->attached - listed),
                        n->attached_line, n->attached_path);
    if (listed == 0 || n->attached == 0 || n->attached == listed)
        return;
    if (listed < n->attached)
        sl_findings_warn(devices->findings, "devices_not_listed", n->attached_line,
                         n->attached_path,
                         "%.60s has %u devices and lists %u: the others are taken to be of the "
                         "same kind",
                         name_of(n), n->attached, listed);
    else
        sl_findings_warn(devices->findings, "devices_contradict", n->attached_line,
                         n->attached_path,
                         "%.60s lists %u devices where it says that there are %u: those listed "
                         "count",
                         name_of(n), listed, n->attached);
}

static void
warn_of_gaps(const sl_devices *devices, const node *n, uint32_t listed)
{
    if (n->last_number_line > 0 && n->attached == 0 && listed <= n->last_number)
        sl_findings_warn(devices->findings, "device_numbers_leave_out", n->last_number_line,
                         "index",
                         "%.60s numbers its devices up to %u and lists %u: those left out may be "
                         "lost, drained or not asked of, and do not count",
                         name_of(n), n->last_number, listed);
}

static void
merge_devices(const sl_devices *devices, const node *n, sl_facts *out)
{
    const char *const part = main_part(devices, n);
    const uint32_t count = count_part(devices, n, part);
    sl_place place = {.line = n->line};
    uint32_t listed = 0;

    for (uint32_t i = 0; i < n->kind_count; i++) {
        const uint32_t of_it = n->kinds[i].count;
        if (of_it == 0)
            continue;
        listed += of_it;
        const sl_facts *const kind = devices->kinds[n->kinds[i].kind];
        const sl_fact *const name = &kind->field[SL_FIELD_ACCELERATOR];
        if (sl_text_equal(part_of(devices, n->kinds[i].kind), part)) {
            merge_kind(devices, n, kind, of_it, out);
            place = name->said ? name->place : place;
        } else {
            sl_findings_warn(
                devices->findings, "mixed_devices", name->place.line, name->place.path,
                "%.60s holds %u x %.48s beside %u x %.48s: only the most common counts", name_of(n),
                of_it, name->said ? name->text : "a device without a name", count, part);
        }
    }
    warn_of_power(devices, n, part, out);
    warn_of_gaps(devices, n, listed);
    say_count(devices, n, listed, count, &place, out);
}

sl_code
sl_devices_finish(sl_devices *devices, sl_errors *err)
{
    assert(devices != NULL && err != NULL);

    for (uint32_t i = 0; i < devices->node_count; i++) {
        const node *const n = &devices->nodes[i];
        sl_facts facts = {0};
        sl_facts said = {0};
        if (n->common != NONE)
            said = *devices->kinds[n->common];
        merge_devices(devices, n, &facts);
        (void)sl_facts_complete(&said, &facts);
        const sl_found_host host = {.name = devices->offers ? NULL : n->name,
                                    .pool = devices->offers ? n->name : NULL,
                                    .count = 1,
                                    .domain = n->domain,
                                    .line = n->line};
        const sl_code code = sl_findings_add(devices->findings, &host, &said, err);
        if (code != SL_OK)
            return code;
    }
    return SL_OK;
}
