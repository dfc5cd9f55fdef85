#include "intake/devices.h"

#include <assert.h>
#include <string.h>

#include "base/text.h"

enum { FIRST_ROOM = 256 };

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
    uint32_t common; /* kind of what is said of the whole, or NONE */
    uint32_t kind_count;
    struct {
        uint32_t kind, count;
    } kinds[SL_NODE_KINDS_MAX];
} node;

/* What was told of before: a node by its name, a device by its identity in its node. */
typedef struct slot {
    uint64_t hash; /* 0: free */
    uint32_t value;
} slot;

typedef struct table {
    slot *slots;
    uint32_t room, used;
} table;

struct sl_devices {
    sl_findings *findings;
    sl_arena *arena;
    bool offers;
    uint32_t node_count, node_room;
    node *nodes;
    table names;      /* value: node */
    table identities; /* value: kind */
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
    *out = made;
    return SL_OK;
}

void
sl_devices_are_offers(sl_devices *devices)
{
    devices->offers = true;
}

static const uint64_t HASH_START = 14695981039346656037u;

static uint64_t
hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * 1099511628211u;
    return hash;
}

/* Never 0, which a free slot has. */
static uint64_t
hash_text(uint64_t hash, const char *text)
{
    hash = hash_bytes(hash, text, strlen(text));
    return hash != 0 ? hash : 1;
}

static bool
grow_table(sl_arena *arena, table *t)
{
    if (t->used < t->room / 2)
        return true;
    const table old = *t;
    const uint32_t room = old.room > 0 ? 2 * old.room : FIRST_ROOM;
    slot *const slots = sl_arena_alloc(arena, room, sizeof *slots);
    if (slots == NULL)
        return false;
    for (uint32_t i = 0; i < old.room; i++) {
        if (old.slots[i].hash == 0)
            continue;
        uint32_t at = (uint32_t)old.slots[i].hash & (room - 1);
        while (slots[at].hash != 0)
            at = (at + 1) & (room - 1);
        slots[at] = old.slots[i];
    }
    t->slots = slots;
    t->room = room;
    return true;
}

/* The slot of a hash; one that is free gets it. NULL: no memory. */
static slot *
slot_of(sl_arena *arena, table *t, uint64_t hash, bool *known)
{
    if (!grow_table(arena, t))
        return NULL;
    uint32_t at = (uint32_t)hash & (t->room - 1);
    while (t->slots[at].hash != 0 && t->slots[at].hash != hash)
        at = (at + 1) & (t->room - 1);
    *known = t->slots[at].hash == hash;
    t->used += !*known;
    t->slots[at].hash = hash;
    return &t->slots[at];
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
    slot *const s = slot_of(devices->arena, &devices->names, hash_text(HASH_START, name), &known);
    if (s == NULL)
        return out_of_memory(err);
    if (known) {
        *index = s->value;
        return SL_OK;
    }
    s->value = devices->node_count;
    return new_node(devices, name, line, index, err);
}

static bool
fact_equal(const sl_fact *a, const sl_fact *b)
{
    if (!a->said || !b->said)
        return a->said == b->said;
    return a->text != NULL && b->text != NULL ? sl_text_equal(a->text, b->text)
                                              : a->text == b->text && a->number == b->number;
}

static uint64_t
facts_hash(const sl_facts *facts)
{
    uint64_t hash = HASH_START;
    for (uint32_t i = 0; i < SL_FIELD_COUNT; i++) {
        const sl_fact *const f = &facts->field[i];
        if (!f->said)
            continue;
        hash = hash_bytes(hash, &i, sizeof i);
        hash = f->text != NULL ? hash_bytes(hash, f->text, strlen(f->text))
                               : hash_bytes(hash, &f->number, sizeof f->number);
    }
    return hash;
}

static bool
facts_equal(const sl_facts *a, const sl_facts *b)
{
    for (uint32_t i = 0; i < SL_FIELD_COUNT; i++)
        if (!fact_equal(&a->field[i], &b->field[i]))
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

static bool
complete(sl_facts *facts, const sl_facts *more)
{
    bool changed = false;
    for (uint32_t i = 0; i < SL_FIELD_COUNT; i++) {
        if (facts->field[i].said || !more->field[i].said)
            continue;
        facts->field[i] = more->field[i];
        changed = true;
    }
    return changed;
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

static uint64_t
identity_hash(uint32_t index, const char *identity)
{
    return hash_text(hash_bytes(HASH_START, &index, sizeof index), identity);
}

sl_code
sl_devices_add(sl_devices *devices, uint32_t index, const char *identity, uint32_t count,
               const sl_facts *facts, bool *known, sl_errors *err)
{
    assert(devices != NULL && index < devices->node_count && facts != NULL && err != NULL);

    slot *s = NULL;
    bool before = false;
    if (identity != NULL && *identity != '\0') {
        s = slot_of(devices->arena, &devices->identities, identity_hash(index, identity), &before);
        if (s == NULL)
            return out_of_memory(err);
    }
    if (known != NULL)
        *known = before;
    sl_facts device = {0};
    if (before)
        device = *devices->kinds[s->value];
    const bool changed = complete(&device, facts);
    if (before && !changed)
        return SL_OK;
    uint32_t kind = 0;
    const sl_code code = intern(devices, &device, &kind, err);
    if (code != SL_OK)
        return code;
    move(devices, &devices->nodes[index], before ? s->value : NONE, kind, count);
    if (s != NULL)
        s->value = kind;
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
    if (!complete(&both, facts))
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
    const table *const t = &devices->identities;
    const uint64_t hash = identity_hash(index, identity);
    uint32_t at = (uint32_t)hash & (t->room - 1);

    while (t->room > 0 && t->slots[at].hash != 0) {
        if (t->slots[at].hash == hash)
            return true;
        at = (at + 1) & (t->room - 1);
    }
    return false;
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
            equal =
                equal &&
                fact_equal(&devices->kinds[n->kinds[i].kind]->field[SL_FIELD_POWER_LIMIT_W], limit);
    if (!equal)
        sl_findings_warn(devices->findings, "mixed_power", limit->place.line, limit->place.path,
                         "%.80s has devices of unequal power limits: the lowest, %g W, counts",
                         name_of(n), limit->number);
}

static void
merge_devices(const sl_devices *devices, const node *n, sl_facts *out)
{
    const char *const part = main_part(devices, n);
    const uint32_t count = count_part(devices, n, part);
    uint32_t line = n->line;
    const char *path = NULL;

    for (uint32_t i = 0; i < n->kind_count; i++) {
        const uint32_t of_it = n->kinds[i].count;
        if (of_it == 0)
            continue;
        const sl_facts *const kind = devices->kinds[n->kinds[i].kind];
        const sl_fact *const name = &kind->field[SL_FIELD_ACCELERATOR];
        if (sl_text_equal(part_of(devices, n->kinds[i].kind), part)) {
            merge_kind(devices, n, kind, of_it, out);
            line = name->said ? name->place.line : line;
            path = name->said ? name->place.path : path;
        } else {
            sl_findings_warn(
                devices->findings, "mixed_devices", name->place.line, name->place.path,
                "%.60s holds %u x %.48s beside %u x %.48s: only the most common counts", name_of(n),
                of_it, name->said ? name->text : "a device without a name", count, part);
        }
    }
    warn_of_power(devices, n, part, out);
    if (!out->field[SL_FIELD_ACCELERATORS].said)
        sl_facts_number(out, SL_FIELD_ACCELERATORS, count, line, path);
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
        (void)complete(&said, &facts);
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
