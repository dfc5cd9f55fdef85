/* Hosts by name, and what one source after the other says of them. */
#include "codec/inventory/host_join.h"

#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "codec/inventory/hosts.h"

enum { FIRST_ROOM = 256 };

const char *const sl_compared_fields[SL_COMPARED_COUNT] = {
    [SL_COMPARED_ACCELERATOR] = "accelerator",    [SL_COMPARED_ACCELERATORS] = "accelerators",
    [SL_COMPARED_MEMORY] = "memory_bytes",        [SL_COMPARED_HOST_MEMORY] = "host_memory_bytes",
    [SL_COMPARED_SLICED] = "sliced_accelerators", [SL_COMPARED_DRIVER] = "driver",
    [SL_COMPARED_POWER_LIMIT] = "power_limit_w",  [SL_COMPARED_NIC_COUNT] = "nic_count",
    [SL_COMPARED_NIC_RATE] = "nic_bytes_per_s",
};

static sl_code
out_of_memory(sl_errors *err)
{
    return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory for the hosts");
}

static bool
grow(sl_host_status *status)
{
    const uint32_t room = status->host_room == 0 ? FIRST_ROOM : status->host_room * 2;
    sl_joined_host *const hosts = sl_arena_alloc(status->arena, room, sizeof *hosts);
    if (hosts == NULL)
        return false;
    if (status->hosts != NULL)
        memcpy(hosts, status->hosts, status->host_count * sizeof *hosts);
    status->hosts = hosts;
    status->host_room = room;
    return true;
}

const char *
sl_join_name(const void *status, uint32_t host)
{
    return ((const sl_host_status *)status)->hosts[host].name;
}

sl_joined_host *
sl_join_host(sl_host_status *status, const char *name)
{
    uint32_t host = 0;
    if (!sl_index_find(&status->names, name, strlen(name), &host)) {
        if (status->host_count == status->host_room && !grow(status))
            return NULL;
        const char *const copy = sl_arena_copy(status->arena, name);
        host = status->host_count;
        if (copy == NULL || !sl_index_put(&status->names, copy, host))
            return NULL;
        status->hosts[status->host_count++] = (sl_joined_host){.name = copy, .pool = SL_NO_POOL};
    }
    return sl_join_mention(status, host) ? &status->hosts[host] : NULL;
}

static bool
find_parts(sl_host_status *status, const char *name, sl_joined_kind *out)
{
    sl_joined_parts *const parts = sl_arena_alloc(status->arena, 1, sizeof *parts);
    bool near = false;
    if (parts == NULL)
        return false;
    parts->count =
        sl_catalog_candidates(status->catalog, name, parts->list, SL_JOINED_PARTS_MAX, &near);
    /* A likeness is for people to look at. */
    if (near)
        parts->count = 0;
    out->parts = parts;
    return true;
}

bool
sl_join_say(sl_host_status *status, sl_joined_host *host, const sl_joined_kind *kind)
{
    sl_joined_said *const said = sl_arena_alloc(status->arena, 1, sizeof *said);
    if (said == NULL)
        return false;
    *said = (sl_joined_said){.before = host->said, .kind = kind};
    host->said = said;
    host->said_count++;
    return true;
}

bool
sl_join_may_be(const sl_joined_kind *kind, const char *id)
{
    for (uint32_t i = 0; kind->parts != NULL && i < kind->parts->count; i++)
        if (sl_text_equal(kind->parts->list[i]->accelerator.id, id))
            return true;
    return false;
}

static bool
read_kind(sl_host_status *status, const sl_observed *observed, size_t index, const char *source,
          sl_joined_kind *out)
{
    for (uint32_t i = 0; i < SL_COMPARED_COUNT; i++) {
        const char *text = NULL;
        double number = 0;
        if (!sl_observed_fact(observed, index, sl_compared_fields[i], &text, &number))
            continue;
        sl_joined_fact *const fact = sl_arena_alloc(status->arena, 1, sizeof *fact);
        const char *const copy = text == NULL ? NULL : sl_arena_copy(status->arena, text);
        if (fact == NULL || (text != NULL && copy == NULL))
            return false;
        *fact = (sl_joined_fact){
            .text = copy, .number = number, .source = source, .word = status->word};
        out->facts[i] = fact;
    }
    const sl_joined_fact *const printed = out->facts[SL_COMPARED_ACCELERATOR];
    return printed == NULL || printed->text == NULL || find_parts(status, printed->text, out);
}

void
sl_join_state(sl_joined_host *to, const sl_joined_host *from)
{
    const bool later = from->state_word > to->state_word;
    const sl_joined_host *const last = later ? from : to;
    const sl_joined_host *const first = later ? to : from;
    const bool withheld = first->scheduled && first->state > SL_OBSERVED_USABLE;
    const bool runs = !last->scheduled && last->state == SL_OBSERVED_USABLE;

    if ((withheld && runs ? first : last) != from)
        return;
    to->state = from->state;
    to->reason = from->reason;
    to->since = from->since;
    to->source = from->source;
    to->state_word = from->state_word;
    to->scheduled = from->scheduled;
}

/* A group of hosts on its way into the table. */
typedef struct taking {
    sl_host_status *status;
    sl_joined_host word; /* on the state of each */
    bool listing;
    const sl_joined_kind *kind;
} taking;

static sl_code
take_host(void *context, const char *name, sl_errors *err)
{
    const taking *const group = context;
    sl_joined_host *const host = sl_join_host(group->status, name);
    if (host == NULL)
        return out_of_memory(err);
    host->listed = host->listed || group->listing;
    host->seen_by = group->word.source;
    sl_join_state(host, &group->word);
    for (uint32_t i = 0; i < SL_COMPARED_COUNT; i++)
        if (group->kind->facts[i] != NULL)
            host->kind.facts[i] = group->kind->facts[i];
    if (group->kind->parts != NULL)
        host->kind.parts = group->kind->parts;
    return sl_join_say(group->status, host, group->kind) ? SL_OK : out_of_memory(err);
}

static sl_code
take_group(const sl_observed_group *group, taking *what, sl_errors *err)
{
    sl_host_status *const status = what->status;
    const size_t entries = sl_node_count(&group->hosts);
    sl_errors ignored = {0};

    sl_joined_host *const word = &what->word;
    word->state = group->state;
    word->state_word = group->state == SL_OBSERVED_UNSAID ? 0 : status->word;
    word->reason = group->reason == NULL ? NULL : sl_arena_copy(status->arena, group->reason);
    word->since = sl_arena_copy(status->arena, group->since);
    if (word->since == NULL || (group->reason != NULL && word->reason == NULL))
        return out_of_memory(err);
    if (entries == 0) {
        sl_joined_unnamed *const unnamed = sl_arena_alloc(status->arena, 1, sizeof *unnamed);
        if (unnamed == NULL)
            return out_of_memory(err);
        *unnamed = (sl_joined_unnamed){.next = status->unnamed, .kind = what->kind};
        status->unnamed = unnamed;
    }
    for (size_t i = 0; i < entries; i++) {
        sl_node entry;
        const char *list = NULL;
        if (!sl_node_at(&group->hosts, i, &entry) ||
            sl_node_as_text(&entry, &list, &ignored) != SL_OK)
            continue;
        const sl_code code = sl_hosts_each(list, take_host, what, err);
        if (code != SL_OK)
            return code;
    }
    return SL_OK;
}

/* Who gives hosts their work. */
static bool
is_scheduler(const char *format)
{
    static const char *const families[] = {"slurm_", "kubernetes_"};

    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
        if (strncmp(format, families[i], strlen(families[i])) == 0)
            return true;
    return false;
}

static sl_code
take_groups(sl_host_status *status, const sl_observed *observed, const sl_observation *from,
            sl_errors *err)
{
    const size_t kind_count = sl_observed_kind_count(observed);
    sl_joined_kind *const kinds =
        sl_arena_alloc(status->arena, kind_count > 0 ? kind_count : 1, sizeof *kinds);
    if (kinds == NULL)
        return out_of_memory(err);
    for (size_t i = 0; i < kind_count; i++)
        if (!read_kind(status, observed, i, from->source, &kinds[i]))
            return out_of_memory(err);

    for (size_t i = 0; i < sl_observed_count(observed); i++) {
        sl_observed_group group;
        if (!sl_observed_group_at(observed, i, &group))
            continue;
        taking what = {.status = status,
                       .word = {.source = from->source, .scheduled = is_scheduler(from->format)},
                       .listing = observed->listing,
                       .kind = &kinds[group.kind]};
        const sl_code code = take_group(&group, &what, err);
        if (code != SL_OK)
            return code;
    }
    return SL_OK;
}

sl_code
sl_join_observation(sl_host_status *status, const sl_observation *observation, sl_errors *err)
{
    assert(status != NULL && observation != NULL && observation->facts != NULL);

    sl_observed observed;
    status->word++;
    sl_code code = sl_observed_open(observation->facts, strlen(observation->facts), &observed, err);
    if (code == SL_OK) {
        status->listing = status->listing || observed.listing;
        code = take_groups(status, &observed, observation, err);
    }
    sl_observed_close(&observed);
    return code;
}

bool
sl_join_missing(const sl_host_status *status, const sl_joined_host *host)
{
    return status->listing && host->pool != SL_NO_POOL && !host->listed;
}

bool
sl_join_foreign(const sl_joined_host *host)
{
    return host->pool == SL_NO_POOL && (host->kind.facts[SL_COMPARED_ACCELERATOR] != NULL ||
                                        host->kind.facts[SL_COMPARED_ACCELERATORS] != NULL);
}

/* As many ranges of a bracket as there is room for, or that there is more. */
static void
spell_start(const char *entry, const char *separator, char *text, size_t room)
{
    static const char more[] = ",...]";
    const size_t taken = strlen(separator) + sizeof more;
    size_t whole = 0;
    for (size_t i = 0; entry[i] != '\0' && i + taken <= room; i++)
        if (entry[i] == ',')
            whole = i;
    if (whole > 0)
        (void)sl_text_format(text, room, "%s%.*s%s", separator, (int)whole, entry, more);
    else if (!sl_text_format(text, room, "%s...", separator))
        *text = '\0';
}

const char *
sl_join_spell(sl_arena *arena, const char **names, uint32_t count, size_t room)
{
    sl_errors ignored = {0};
    const char *const *entries = NULL;
    size_t entry_count = 0;
    if (sl_hosts_compress(names, count, arena, &entries, &entry_count, &ignored) != SL_OK)
        return NULL;
    char *const text = sl_arena_alloc(arena, room, 1);
    if (text == NULL)
        return NULL;
    for (size_t i = 0; i < entry_count; i++) {
        const size_t used = strlen(text);
        const char *const separator = i == 0 ? "" : ",";
        /* Behind all but the last there stays room to say that there is more. */
        const size_t kept = i + 1 < entry_count ? strlen(",...") : 0;
        if (used + kept >= room ||
            !sl_text_format(text + used, room - used - kept, "%s%s", separator, entries[i])) {
            spell_start(entries[i], separator, text + used, room - used);
            break;
        }
    }
    return text;
}
