#include "intake/draft.h"

#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "intake/merge.h"

static const char *const origin_names[] = {
    [SL_FROM_NOBODY] = "none",     [SL_FROM_FILE] = "file",       [SL_FROM_LIKE] = "inferred",
    [SL_FROM_CATALOG] = "catalog", [SL_FROM_DEFAULT] = "default",
};

/* Of a file, of nodes like it or of the files together: not what the catalogue says anyway. */
static bool
is_said(const sl_value *value)
{
    return value->origin == SL_FROM_FILE || value->origin == SL_FROM_LIKE;
}

static void
write_hosts(sl_writer *writer, const char *const *hosts, size_t entries)
{
    sl_write_array(writer);
    for (size_t i = 0; i < entries; i++)
        sl_write_text(writer, hosts[i]);
    sl_write_array_end(writer);
}

/* A spec has both or neither: what the file says of one is kept with what was taken for the other. */
static void
write_nics(sl_writer *writer, const sl_draft_pool *pool)
{
    const sl_value *const count = &pool->value[SL_FIELD_NIC_COUNT];
    const sl_value *const rate = &pool->value[SL_FIELD_NIC_BYTES_PER_S];

    if (!is_said(count) && !is_said(rate))
        return;
    if (count->origin == SL_FROM_NOBODY || rate->origin == SL_FROM_NOBODY)
        return;
    sl_write_key(writer, "nics");
    sl_write_array(writer);
    sl_write_object(writer);
    sl_put_double(writer, "count", count->fact.number);
    sl_put_double(writer, "bytes_per_s", rate->fact.number);
    if (sl_value_text(&pool->value[SL_FIELD_NIC_KIND]) != NULL)
        sl_put_text(writer, "kind", pool->value[SL_FIELD_NIC_KIND].fact.text);
    sl_write_object_end(writer);
    sl_write_array_end(writer);
}

static void
put_said(sl_writer *writer, const char *key, const sl_value *value)
{
    if (is_said(value))
        sl_put_double(writer, key, value->fact.number);
}

static void
write_node(sl_writer *writer, const sl_draft_pool *pool)
{
    const char *const printed = sl_value_text(&pool->value[SL_FIELD_ACCELERATOR]);
    const sl_value *const domain = &pool->value[SL_FIELD_SCALE_UP_DOMAIN];

    sl_write_object(writer);
    /* A node type of another part would contradict what the tools print. */
    if (pool->node != NULL &&
        (pool->part == NULL || pool->node->accelerator == NULL ||
         sl_text_equal(pool->node->accelerator->id, pool->part->accelerator.id)))
        sl_put_text(writer, "node_type", pool->node->id);
    if (pool->part != NULL)
        sl_put_text(writer, "accelerator", pool->part->accelerator.id);
    else if (printed != NULL)
        sl_put_text(writer, "accelerator", printed);
    if (pool->whole > 0)
        sl_put_uint(writer, "accelerators", pool->whole);
    put_said(writer, "memory_bytes", &pool->value[SL_FIELD_MEMORY_BYTES]);
    put_said(writer, "reserved_bytes", &pool->value[SL_FIELD_RESERVED_BYTES]);
    put_said(writer, "scale_up_bytes_per_s", &pool->value[SL_FIELD_SCALE_UP_BYTES_PER_S]);
    put_said(writer, "scale_up_pair_bytes_per_s", &pool->value[SL_FIELD_SCALE_UP_PAIR_BYTES_PER_S]);
    put_said(writer, "scale_up_domain", domain);
    put_said(writer, "host_memory_bytes", &pool->value[SL_FIELD_HOST_MEMORY_BYTES]);
    write_nics(writer, pool);
    sl_write_object_end(writer);
}

static void
write_fabric(sl_writer *writer, const sl_draft *draft)
{
    if (draft->fabric_kind.origin == SL_FROM_NOBODY &&
        draft->oversubscription.origin != SL_FROM_FILE)
        return;
    sl_write_key(writer, "fabric");
    sl_write_object(writer);
    if (draft->fabric_kind.origin != SL_FROM_NOBODY)
        sl_put_text(writer, "kind", draft->fabric_kind.fact.text);
    put_said(writer, "oversubscription", &draft->oversubscription);
    sl_write_object_end(writer);
}

void
sl_draft_spec_write(sl_writer *writer, const sl_draft *draft)
{
    const char *const document = sl_findings_document(draft->findings);
    bool any = false;

    assert(writer != NULL);
    if (document != NULL && sl_findings_file_count(draft->findings) == 1) {
        sl_write_raw(writer, document, strlen(document));
        return;
    }
    for (uint32_t i = 0; i < draft->pool_count; i++)
        any = any || sl_draft_pool_planned(&draft->pools[i]);
    if (!any) {
        sl_write_null(writer);
        return;
    }
    sl_write_object(writer);
    if (draft->name != NULL)
        sl_put_text(writer, "name", draft->name);
    sl_write_key(writer, "pools");
    sl_write_array(writer);
    for (uint32_t i = 0; i < draft->pool_count; i++) {
        const sl_draft_pool *const pool = &draft->pools[i];
        if (!sl_draft_pool_planned(pool))
            continue;
        sl_write_object(writer);
        sl_put_text(writer, "name", pool->name);
        sl_put_uint(writer, "nodes", pool->nodes);
        if (pool->unnamed == 0) {
            sl_write_key(writer, "hosts");
            write_hosts(writer, pool->hosts, pool->host_entries);
        }
        sl_write_key(writer, "node");
        write_node(writer, pool);
        write_fabric(writer, draft);
        put_said(writer, "price_per_node_hour", &pool->value[SL_FIELD_PRICE_PER_NODE_HOUR]);
        sl_write_object_end(writer);
    }
    sl_write_array_end(writer);
    sl_write_object_end(writer);
}

static void
write_value(sl_writer *writer, const sl_draft *draft, const sl_value *value)
{
    sl_write_object(writer);
    sl_write_key(writer, "value");
    if (value->fact.text != NULL)
        sl_write_text(writer, value->fact.text);
    else
        sl_write_double(writer, value->fact.number);
    sl_put_text(writer, "origin", origin_names[value->origin]);
    if (is_said(value) && value->file < sl_findings_file_count(draft->findings)) {
        sl_put_uint(writer, "file", value->file);
        if (value->fact.place.line > 0)
            sl_put_uint(writer, "line", value->fact.place.line);
        if (value->fact.place.path != NULL)
            sl_put_text(writer, "path", value->fact.place.path);
    }
    if (value->reason != NULL)
        sl_put_text(writer, "reason", value->reason);
    sl_write_object_end(writer);
}

static void
write_states(sl_writer *writer, const uint32_t in_state[SL_HOST_DOWN + 1])
{
    sl_write_object(writer);
    for (int state = SL_HOST_UNSAID; state <= SL_HOST_DOWN; state++)
        sl_put_uint(writer, sl_host_state_names[state], in_state[state]);
    sl_write_object_end(writer);
}

static void
write_groups(sl_writer *writer, const sl_draft_pool *pool)
{
    sl_write_array(writer);
    for (uint32_t i = 0; i < pool->group_count; i++) {
        const sl_draft_group *const group = &pool->groups[i];
        sl_write_object(writer);
        sl_put_text(writer, "state", sl_host_state_names[group->state]);
        sl_put_text(writer, "reason", group->reason);
        sl_put_uint(writer, "nodes", group->count);
        sl_write_key(writer, "hosts");
        write_hosts(writer, group->hosts, group->host_entries);
        sl_write_object_end(writer);
    }
    sl_write_array_end(writer);
}

static void
write_pool(sl_writer *writer, const sl_draft *draft, const sl_draft_pool *pool)
{
    sl_write_object(writer);
    sl_put_text(writer, "name", pool->name);
    sl_put_text(writer, "accelerator", pool->part != NULL ? pool->part->accelerator.id : NULL);
    sl_put_uint(writer, "nodes", pool->nodes);
    sl_put_uint(writer, "accelerators", (uint64_t)pool->nodes * pool->whole);
    sl_write_key(writer, "hosts");
    write_hosts(writer, pool->hosts, pool->host_entries);
    sl_write_key(writer, "states");
    write_states(writer, pool->in_state);
    sl_write_key(writer, "groups");
    write_groups(writer, pool);
    sl_write_key(writer, "fields");
    sl_write_object(writer);
    for (uint32_t i = 0; i < SL_FIELD_COUNT; i++) {
        if (pool->value[i].origin == SL_FROM_NOBODY)
            continue;
        sl_write_key(writer, sl_field_name((sl_field)i));
        write_value(writer, draft, &pool->value[i]);
    }
    sl_write_object_end(writer);
    sl_write_object_end(writer);
}

static void
write_candidate(sl_writer *writer, const sl_part *part)
{
    const sl_accelerator *const a = &part->accelerator;

    sl_write_object(writer);
    sl_put_text(writer, "accelerator", a->id);
    sl_put_uint(writer, "memory_bytes", a->memory_bytes);
    sl_put_double(writer, "memory_bandwidth_bytes_per_s", a->memory_bytes_per_s);
    sl_put_text(writer, "scale_up_link", part->scale_up_link);
    sl_write_object_end(writer);
}

static void
write_unresolved(sl_writer *writer, const sl_draft *draft)
{
    char pointer[64];
    uint32_t index = 0;

    sl_write_array(writer);
    for (uint32_t i = 0; i < draft->pool_count; i++) {
        const sl_draft_pool *const pool = &draft->pools[i];
        const uint32_t at = sl_draft_pool_planned(pool) ? index++ : UINT32_MAX;
        if (pool->part != NULL)
            continue;
        (void)sl_text_format(pointer, sizeof pointer, "/pools/%u/node/accelerator", at);
        sl_write_object(writer);
        sl_put_text(writer, "pointer", at == UINT32_MAX ? "" : pointer);
        sl_put_text(writer, "pool", pool->name);
        sl_put_text(writer, "name", sl_value_text(&pool->value[SL_FIELD_ACCELERATOR]));
        sl_put_text(writer, "why",
                    pool->candidate_count == 0 ? "unknown"
                    : pool->candidates_near    ? "unknown"
                                               : "ambiguous");
        sl_write_key(writer, "candidates");
        sl_write_array(writer);
        for (uint32_t c = 0; c < pool->candidate_count && c < SL_DRAFT_CANDIDATES_SHOWN; c++)
            write_candidate(writer, pool->candidates[c]);
        sl_write_array_end(writer);
        sl_put_uint(writer, "candidate_count", pool->candidate_count);
        sl_write_object_end(writer);
    }
    sl_write_array_end(writer);
}

static void
write_warnings(sl_writer *writer, const sl_draft *draft)
{
    uint32_t dropped = 0;
    const uint32_t count = sl_findings_warning_count(draft->findings, &dropped);

    sl_write_array(writer);
    for (uint32_t i = 0; i < draft->note_count; i++) {
        const sl_draft_note *const note = &draft->notes[i];
        sl_write_object(writer);
        sl_put_text(writer, "code", note->code);
        sl_put_text(writer, "message", note->text);
        if (*note->pointer != '\0')
            sl_put_text(writer, "pointer", note->pointer);
        sl_write_object_end(writer);
    }
    for (uint32_t i = 0; i < count; i++) {
        const sl_found_warning *const warning = sl_findings_warning(draft->findings, i);
        sl_write_object(writer);
        sl_put_text(writer, "code", warning->code);
        sl_put_text(writer, "message", warning->text);
        sl_put_uint(writer, "file", warning->file);
        if (warning->place.line > 0)
            sl_put_uint(writer, "line", warning->place.line);
        if (warning->place.path != NULL)
            sl_put_text(writer, "path", warning->place.path);
        sl_put_uint(writer, "count", warning->count);
        sl_write_object_end(writer);
    }
    if (dropped + draft->notes_dropped > 0) {
        sl_write_object(writer);
        sl_put_text(writer, "code", "warnings_dropped");
        sl_put_text(writer, "message", "there are more warnings than are shown");
        sl_put_uint(writer, "count", dropped + draft->notes_dropped);
        sl_write_object_end(writer);
    }
    sl_write_array_end(writer);
}

void
sl_draft_write(sl_writer *writer, const sl_draft *draft)
{
    uint32_t in_state[SL_HOST_DOWN + 1];

    assert(writer != NULL && draft != NULL);
    memcpy(in_state, draft->bare.in_state, sizeof in_state);
    for (uint32_t i = 0; i < draft->pool_count; i++)
        for (int state = SL_HOST_UNSAID; state <= SL_HOST_DOWN; state++)
            in_state[state] += draft->pools[i].in_state[state];
    sl_write_key(writer, "spec");
    sl_draft_spec_write(writer, draft);
    sl_write_key(writer, "hosts");
    sl_write_object(writer);
    sl_put_uint(writer, "total", draft->hosts);
    sl_put_uint(writer, "without_accelerators", draft->without_accelerators);
    sl_write_key(writer, "states");
    write_states(writer, in_state);
    sl_write_key(writer, "bare");
    write_groups(writer, &draft->bare);
    sl_write_object_end(writer);
    sl_write_key(writer, "pools");
    sl_write_array(writer);
    for (uint32_t i = 0; i < draft->pool_count; i++)
        write_pool(writer, draft, &draft->pools[i]);
    sl_write_array_end(writer);
    sl_write_key(writer, "fabric");
    sl_write_object(writer);
    if (draft->fabric_kind.origin != SL_FROM_NOBODY) {
        sl_write_key(writer, "kind");
        write_value(writer, draft, &draft->fabric_kind);
    }
    sl_write_key(writer, "oversubscription");
    write_value(writer, draft, &draft->oversubscription);
    sl_write_object_end(writer);
    sl_write_key(writer, "unresolved");
    write_unresolved(writer, draft);
    sl_write_key(writer, "warnings");
    write_warnings(writer, draft);
}
