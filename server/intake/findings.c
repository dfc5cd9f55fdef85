#include "intake/findings.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/index.h"
#include "base/text.h"
#include "intake/vgpu.h"

enum {
    CHUNK = 1024, /* hosts that are allocated at once */
    CHUNKS_MAX = SL_HOSTS_MAX / CHUNK,
    NAMINGS_MAX = 32 * SL_HOSTS_MAX, /* a short range may be said over and over */
    WARNING_SIZE = 240,
    LETTERS = 26
};

const char *const sl_host_state_names[] = {"unknown", "usable", "drained", "down"};

struct sl_findings {
    sl_arena *arena;
    uint32_t file_count;
    struct {
        const char *name, *format;
    } files[SL_FINDINGS_FILES_MAX];
    uint32_t host_count;
    uint32_t node_count; /* with those that nobody named */
    uint32_t naming_count;
    sl_found_host *chunks[CHUNKS_MAX];
    sl_index names; /* the first record of each host */
    uint32_t kind_count;
    sl_facts *kinds[SL_FINDINGS_KINDS_MAX];
    uint64_t kind_hashes[SL_FINDINGS_KINDS_MAX];
    uint32_t warning_count, warnings_dropped;
    sl_found_warning warnings[SL_FINDINGS_WARNINGS_MAX];
    sl_found_notes *notes; /* NULL: nobody takes any */
    sl_found_fabric network;
    uint8_t places[SL_FINDINGS_FILES_MAX][LETTERS]; /* by letter; bit n: of n digits */
    sl_part_names part_names;
    const char *cluster;
    const char *document;
};

static sl_found_host *
host_at(const sl_findings *findings, uint32_t index)
{
    assert(index < findings->host_count);
    return &findings->chunks[index / CHUNK][index % CHUNK];
}

static const char *
name_at(const void *findings, uint32_t index)
{
    return host_at(findings, index)->name;
}

sl_findings *
sl_findings_new(sl_arena *arena, const sl_catalog *catalog)
{
    assert(arena != NULL);

    sl_findings *const findings = sl_arena_alloc(arena, 1, sizeof *findings);
    if (findings == NULL)
        return NULL;
    findings->arena = arena;
    findings->part_names.catalog = catalog;
    findings->names = (sl_index){.arena = arena, .name_of = name_at, .owner = findings};
    return findings;
}

static sl_code
out_of_memory(sl_errors *err)
{
    return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory for what the files say");
}

static sl_code
too_many(sl_errors *err, const char *what, uint32_t most)
{
    return sl_fail(err, SL_E_RANGE, "too_many", "", "must hold at most %u %s", most, what);
}

sl_code
sl_findings_file(sl_findings *findings, const char *name, const char *format, sl_errors *err)
{
    assert(findings != NULL && name != NULL && format != NULL && err != NULL);

    if (findings->file_count == SL_FINDINGS_FILES_MAX)
        return too_many(err, "files", SL_FINDINGS_FILES_MAX);
    const char *const kept = sl_arena_copy(findings->arena, name);
    if (kept == NULL)
        return out_of_memory(err);
    findings->files[findings->file_count].name = kept;
    findings->files[findings->file_count++].format = format;
    return SL_OK;
}

/* But for what may differ a little between equals. */
static uint64_t
facts_hash(const sl_facts *facts)
{
    uint64_t hash = SL_QUICK_HASH_START;
    for (uint32_t i = 0; i < SL_FIELD_COUNT; i++)
        if (i != SL_FIELD_HOST_MEMORY_BYTES)
            hash = sl_fact_hash(hash, i, &facts->field[i]);
    return hash;
}

/* Firmware and kernels keep another bit of the host's memory on each of a thousand like nodes:
 * within this share they are of one kind, with the memory of the first. */
static const double HOST_MEMORY_SHARE = 0.02;

static bool
facts_equal(const sl_facts *a, const sl_facts *b)
{
    for (uint32_t i = 0; i < SL_FIELD_COUNT; i++) {
        const sl_fact *const x = &a->field[i], *const y = &b->field[i];
        const bool near = i == SL_FIELD_HOST_MEMORY_BYTES && x->said && y->said &&
                          fabs(x->number - y->number) <= HOST_MEMORY_SHARE * x->number;
        if (!near && !sl_fact_equal(x, y))
            return false;
    }
    return true;
}

static bool
keep_text(sl_findings *findings, const char **text)
{
    if (*text != NULL)
        *text = sl_arena_copy(findings->arena, *text);
    return *text != NULL;
}

static bool
keep_fact(sl_findings *findings, sl_fact *fact)
{
    return (fact->text == NULL || keep_text(findings, &fact->text)) &&
           (fact->place.path == NULL || keep_text(findings, &fact->place.path));
}

/* The kind that these facts are, a new one where no other is like them. Kinds of different files
 * stay apart even when equal: a value has one place. */
static sl_code
intern(sl_findings *findings, const sl_facts *facts, uint16_t file, uint16_t *kind, sl_errors *err)
{
    const uint64_t hash = sl_hash_quick(facts_hash(facts), &file, sizeof file);

    for (uint32_t i = findings->kind_count; i-- > 0;) {
        if (findings->kind_hashes[i] == hash && facts_equal(findings->kinds[i], facts)) {
            *kind = (uint16_t)i;
            return SL_OK;
        }
    }
    if (findings->kind_count == SL_FINDINGS_KINDS_MAX)
        return too_many(err, "kinds of nodes", SL_FINDINGS_KINDS_MAX);
    sl_facts *const made = sl_arena_alloc(findings->arena, 1, sizeof *made);
    if (made == NULL)
        return out_of_memory(err);
    *made = *facts;
    for (uint32_t i = 0; i < SL_FIELD_COUNT; i++)
        if (made->field[i].said && !keep_fact(findings, &made->field[i]))
            return out_of_memory(err);
    *kind = (uint16_t)findings->kind_count;
    findings->kind_hashes[findings->kind_count] = hash;
    findings->kinds[findings->kind_count++] = made;
    return SL_OK;
}

static sl_code
append(sl_findings *findings, const sl_found_host *host, sl_errors *err)
{
    if (host->count > SL_HOSTS_MAX - findings->node_count)
        return too_many(err, "hosts", SL_HOSTS_MAX);
    sl_found_host **const chunk = &findings->chunks[findings->host_count / CHUNK];
    if (*chunk == NULL)
        *chunk = sl_arena_alloc(findings->arena, CHUNK, sizeof **chunk);
    if (*chunk == NULL)
        return out_of_memory(err);
    (*chunk)[findings->host_count % CHUNK] = *host;
    findings->host_count++;
    findings->node_count += host->count;
    return SL_OK;
}

/* A host that its file named before: what was unsaid is taken. */
static sl_code
complete(sl_findings *findings, sl_found_host *known, const sl_found_host *more,
         const sl_facts *facts, sl_errors *err)
{
    if (more->state > known->state) {
        known->state = more->state;
        known->reason = more->reason != NULL ? more->reason : known->reason;
    }
    known->domain = known->domain != NULL ? known->domain : more->domain;
    known->leaf = known->leaf != NULL ? known->leaf : more->leaf;
    known->pool = known->pool != NULL ? known->pool : more->pool;
    if (facts_equal(findings->kinds[known->kind], facts))
        return SL_OK;

    sl_facts both = *findings->kinds[known->kind];
    for (uint32_t i = 0; i < SL_FIELD_COUNT; i++) {
        const sl_fact *const f = &facts->field[i];
        if (!both.field[i].said)
            both.field[i] = *f;
        else if (f->said && !sl_fact_equal(&both.field[i], f))
            sl_findings_warn(findings, "said_twice", f->place.line, f->place.path,
                             "%.60s is named twice, with another %s the second time: the first "
                             "counts",
                             known->name, sl_field_name((sl_field)i));
    }
    return intern(findings, &both, known->file, &known->kind, err);
}

/* What is true of every name of one list. */
typedef struct adding {
    sl_findings *findings;
    const sl_facts *facts;
    sl_found_host host; /* but for the name */
} adding;

static sl_code
add_named(void *context, const char *name, sl_errors *err)
{
    const adding *const a = context;
    sl_findings *const findings = a->findings;

    if (findings->naming_count++ >= NAMINGS_MAX)
        return too_many(err, "names of hosts, counted as often as they are said", NAMINGS_MAX);
    uint32_t last = SL_FOUND_NONE;
    for (uint32_t at = sl_findings_find(findings, name); at != SL_FOUND_NONE;
         at = host_at(findings, at)->next) {
        if (host_at(findings, at)->file == a->host.file)
            return complete(findings, host_at(findings, at), &a->host, a->facts, err);
        last = at;
    }
    sl_found_host host = a->host;
    host.name = last == SL_FOUND_NONE ? sl_arena_copy(findings->arena, name)
                                      : host_at(findings, last)->name;
    if (host.name == NULL)
        return out_of_memory(err);
    const sl_code code = append(findings, &host, err);
    if (code != SL_OK)
        return code;
    const uint32_t index = findings->host_count - 1;
    if (last == SL_FOUND_NONE)
        return sl_index_put(&findings->names, name, index) ? SL_OK : out_of_memory(err);
    host_at(findings, last)->next = index;
    return SL_OK;
}

sl_code
sl_findings_add(sl_findings *findings, const sl_found_host *host, const sl_facts *facts,
                sl_errors *err)
{
    static const sl_facts nothing = {0};
    assert(findings != NULL && findings->file_count > 0 && host != NULL && err != NULL);

    adding a = {findings, facts != NULL ? facts : &nothing, *host};
    sl_facts of_card;
    sl_vgpu vgpu;
    const char *const part = a.facts->field[SL_FIELD_ACCELERATOR].text;
    if (part != NULL && sl_vgpu_read(part, &vgpu)) {
        of_card = *facts;
        sl_vgpu_settle(&vgpu, &of_card, findings);
        a.facts = &of_card;
    }
    a.host.file = (uint16_t)(findings->file_count - 1);
    a.host.next = SL_FOUND_NONE;
    a.host.name = NULL;
    if ((host->reason != NULL && !keep_text(findings, &a.host.reason)) ||
        (host->pool != NULL && !keep_text(findings, &a.host.pool)) ||
        (host->domain != NULL && !keep_text(findings, &a.host.domain)) ||
        (host->leaf != NULL && !keep_text(findings, &a.host.leaf)))
        return out_of_memory(err);
    const sl_code code = intern(findings, a.facts, a.host.file, &a.host.kind, err);
    if (code != SL_OK)
        return code;
    if (host->name == NULL)
        return host->count == 0 ? SL_OK : append(findings, &a.host, err);
    a.host.count = 1;
    return sl_hosts_each(host->name, add_named, &a, err);
}

/* The first label of a name that has several, "gpu01" of "gpu01.cluster.example"; false of others,
 * and of an address. */
static bool
short_name(const char *name, char out[SL_HOST_NAME_MAX + 1])
{
    const size_t length = strcspn(name, ".");

    if (name[length] == '\0' || length == 0 || length > SL_HOST_NAME_MAX ||
        strspn(name, "0123456789") == length)
        return false;
    memcpy(out, name, length);
    out[length] = '\0';
    return true;
}

static bool
share_a_file(const sl_findings *findings, uint32_t a, uint32_t b)
{
    for (uint32_t i = a; i != SL_FOUND_NONE; i = host_at(findings, i)->next)
        for (uint32_t j = b; j != SL_FOUND_NONE; j = host_at(findings, j)->next)
            if (host_at(findings, i)->file == host_at(findings, j)->file)
                return true;
    return false;
}

/* The records of `more` behind those of `first`, under its name: the longer one is not found any
 * more. */
static void
join(sl_findings *findings, uint32_t first, uint32_t more)
{
    uint32_t last = first;

    while (host_at(findings, last)->next != SL_FOUND_NONE)
        last = host_at(findings, last)->next;
    host_at(findings, last)->next = more;
    for (uint32_t i = more; i != SL_FOUND_NONE; i = host_at(findings, i)->next)
        host_at(findings, i)->name = host_at(findings, first)->name;
}

/* How many hosts have each short name. */
static sl_code
count_short_names(const sl_findings *findings, sl_index *counts, sl_errors *err)
{
    char name[SL_HOST_NAME_MAX + 1];
    bool known = false;

    for (uint32_t i = 0; i < findings->host_count; i++) {
        const char *const full = host_at(findings, i)->name;
        if (full == NULL || sl_findings_find(findings, full) != i || !short_name(full, name))
            continue;
        uint32_t *const count = sl_index_at(counts, sl_index_key(name), &known);
        if (count == NULL)
            return out_of_memory(err);
        *count += 1;
    }
    return SL_OK;
}

sl_code
sl_findings_join_names(sl_findings *findings, sl_errors *err)
{
    assert(findings != NULL && err != NULL);

    sl_index counts = {.arena = findings->arena};
    char name[SL_HOST_NAME_MAX + 1];
    bool known = false;
    const sl_code code =
        findings->file_count > 1 ? count_short_names(findings, &counts, err) : SL_OK;
    for (uint32_t i = 0; counts.used > 0 && i < findings->host_count && code == SL_OK; i++) {
        const char *const full = host_at(findings, i)->name;
        if (full == NULL || sl_findings_find(findings, full) != i || !short_name(full, name))
            continue;
        const uint32_t first = sl_findings_find(findings, name);
        if (first == SL_FOUND_NONE)
            continue;
        const uint32_t *const count = sl_index_at(&counts, sl_index_key(name), &known);
        if (count == NULL || *count != 1 || share_a_file(findings, first, i)) {
            sl_findings_warn(findings, "host_names_ambiguous", 0, NULL,
                             "a host that is named without its domain may be any of several that "
                             "are named with one: they stay apart");
            continue;
        }
        sl_findings_warn(findings, "host_names_shortened", 0, NULL,
                         "hosts that one file names with their domain, %s, and another without "
                         "are taken for the same",
                         full + strlen(name));
        join(findings, first, i);
    }
    return code;
}

void
sl_findings_note(sl_findings *findings, sl_found_notes *notes)
{
    findings->notes = notes;
}

void
sl_findings_warn_again(sl_findings *findings, const sl_found_notes *notes)
{
    assert(!notes->lost);
    for (uint32_t i = 0; i < notes->count; i++)
        findings->warnings[notes->index[i]].count++;
}

/* The warning that said the same, a new one, or NULL past the bound. */
static sl_found_warning *
warning_of(sl_findings *findings, const sl_found_warning *said)
{
    sl_found_warning made = *said;

    for (uint32_t i = 0; i < findings->warning_count; i++) {
        sl_found_warning *const known = &findings->warnings[i];
        if (known->file == said->file && sl_text_equal(known->code, said->code) &&
            sl_text_equal(known->text, said->text))
            return known;
    }
    if (findings->warning_count == SL_FINDINGS_WARNINGS_MAX || !keep_text(findings, &made.text) ||
        (made.place.path != NULL && !keep_text(findings, &made.place.path)))
        return NULL;
    findings->warnings[findings->warning_count] = made;
    return &findings->warnings[findings->warning_count++];
}

void
sl_findings_warn(sl_findings *findings, const char *code, uint32_t line, const char *path,
                 const char *format, ...)
{
    assert(findings != NULL && code != NULL && format != NULL);

    char text[WARNING_SIZE];
    va_list arguments;
    va_start(arguments, format);
    (void)sl_text_vformat(text, sizeof text, format, arguments);
    va_end(arguments);
    const uint16_t file = (uint16_t)(findings->file_count > 0 ? findings->file_count - 1 : 0);
    const sl_found_warning said = {code, text, {line, path}, file, 0};
    sl_found_warning *const warning = warning_of(findings, &said);
    sl_found_notes *const notes = findings->notes;
    if (warning != NULL)
        warning->count++;
    else
        findings->warnings_dropped++;
    if (notes != NULL && (warning == NULL || notes->count == SL_FOUND_NOTES_MAX))
        notes->lost = true;
    else if (notes != NULL)
        notes->index[notes->count++] = (uint16_t)(warning - findings->warnings);
}

sl_part_names *
sl_findings_part_names(sl_findings *findings)
{
    return findings->part_names.catalog != NULL ? &findings->part_names : NULL;
}

/* Where a short label is noted. */
static uint8_t
place_of(const char *label, uint32_t *letter)
{
    *letter = (uint32_t)(tolower((unsigned char)*label) - 'a') % LETTERS;
    return (uint8_t)(1U << strspn(label + 1, "0123456789"));
}

void
sl_findings_place(sl_findings *findings, const char *label)
{
    assert(findings != NULL && label != NULL && findings->file_count > 0);

    uint32_t letter = 0;
    if (sl_part_name_is_short(label)) {
        const uint8_t bit = place_of(label, &letter);
        findings->places[findings->file_count - 1][letter] |= bit;
    }
}

bool
sl_findings_is_place(const sl_findings *findings, uint32_t file, const char *label)
{
    assert(findings != NULL && label != NULL && file < SL_FINDINGS_FILES_MAX);

    uint32_t letter = 0;
    if (!sl_part_name_is_short(label))
        return false;
    const uint8_t bit = place_of(label, &letter);
    return (findings->places[file][letter] & bit) != 0;
}

static void
complete_fact(sl_findings *findings, sl_fact *known, const sl_fact *more)
{
    if (known->said || !more->said)
        return;
    *known = *more;
    known->said = keep_fact(findings, known);
}

void
sl_findings_fabric(sl_findings *findings, const sl_found_fabric *fabric)
{
    assert(findings != NULL && fabric != NULL && findings->file_count > 0);

    sl_found_fabric *const known = &findings->network;
    if (!known->kind.said)
        known->file = (uint16_t)(findings->file_count - 1);
    complete_fact(findings, &known->kind, &fabric->kind);
    complete_fact(findings, &known->oversubscription, &fabric->oversubscription);
    known->switches = known->switches > 0 ? known->switches : fabric->switches;
}

void
sl_findings_cluster_name(sl_findings *findings, const char *name)
{
    if (findings->cluster == NULL && *name != '\0')
        findings->cluster = sl_arena_copy(findings->arena, name);
}

void
sl_findings_spec(sl_findings *findings, const char *json)
{
    if (findings->document == NULL)
        findings->document = sl_arena_copy(findings->arena, json);
}

uint32_t
sl_findings_file_count(const sl_findings *findings)
{
    return findings->file_count;
}

const char *
sl_findings_file_name(const sl_findings *findings, uint32_t file)
{
    assert(file < findings->file_count);
    return findings->files[file].name;
}

const char *
sl_findings_file_format(const sl_findings *findings, uint32_t file)
{
    assert(file < findings->file_count);
    return findings->files[file].format;
}

uint32_t
sl_findings_count(const sl_findings *findings)
{
    return findings->host_count;
}

const sl_found_host *
sl_findings_host(const sl_findings *findings, uint32_t index)
{
    return host_at(findings, index);
}

uint32_t
sl_findings_find(const sl_findings *findings, const char *name)
{
    uint32_t index = SL_FOUND_NONE;
    (void)sl_index_find(&findings->names, name, strlen(name), &index);
    return index;
}

uint32_t
sl_findings_kind_count(const sl_findings *findings)
{
    return findings->kind_count;
}

const sl_facts *
sl_findings_kind(const sl_findings *findings, uint32_t kind)
{
    assert(kind < findings->kind_count);
    return findings->kinds[kind];
}

uint32_t
sl_findings_warning_count(const sl_findings *findings, uint32_t *dropped)
{
    *dropped = findings->warnings_dropped;
    return findings->warning_count;
}

const sl_found_warning *
sl_findings_warning(const sl_findings *findings, uint32_t index)
{
    assert(index < findings->warning_count);
    return &findings->warnings[index];
}

const sl_found_fabric *
sl_findings_network(const sl_findings *findings)
{
    return &findings->network;
}

const char *
sl_findings_cluster(const sl_findings *findings)
{
    return findings->cluster;
}

const char *
sl_findings_document(const sl_findings *findings)
{
    return findings->document;
}

sl_arena *
sl_findings_arena(sl_findings *findings)
{
    return findings->arena;
}
