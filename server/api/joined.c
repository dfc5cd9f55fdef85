#include "api/joined.h"

#include <inttypes.h>
#include <string.h>

#include "api/plans.h"
#include "base/buffer.h"
#include "base/text.h"
#include "store/observation.h"

enum { TAG_DIGITS = 12, PLANS_SHOWN_MAX = 100 };

const sl_json_limits sl_spec_limits = {.max_bytes = SIZE_MAX, .max_depth = 32};

static const sl_json_limits stored_limits = {
    .max_bytes = SIZE_MAX, .max_depth = 32, .parsed_before = true};

static sl_code
decode(const char *text, size_t size, const sl_json_limits *limits, sl_api_spec *out,
       sl_errors *err)
{
    out->json = NULL;
    const sl_code code = sl_json_parse(text, size, limits, &out->json, err);
    if (code == SL_OK)
        out->root = sl_json_root(out->json);
    return code;
}

sl_code
sl_api_spec_read(const sl_app *app, const char *text, size_t size, sl_api_spec *out, sl_errors *err)
{
    const sl_code code = decode(text, size, &stored_limits, out, err);
    if (code == SL_OK)
        sl_inventory_count(&out->root, app->catalog, &out->hardware);
    return code;
}

sl_code
sl_api_spec_check(const sl_app *app, const char *text, size_t size, sl_api_spec *out,
                  sl_errors *warnings, sl_errors *err)
{
    sl_code code = decode(text, size, &sl_spec_limits, out, err);
    if (code == SL_OK)
        code = sl_inventory_check(&out->root, app->catalog, warnings, err);
    if (code == SL_OK)
        sl_inventory_count(&out->root, app->catalog, &out->hardware);
    return code;
}

void
sl_api_spec_clear(sl_api_spec *spec)
{
    sl_json_free(spec->json);
    spec->json = NULL;
}

static sl_code
out_of_memory(sl_errors *err)
{
    return sl_fail(err, SL_E_MEMORY, "out_of_memory", "",
                   "what was observed exceeds the memory of one request");
}

sl_code
sl_api_observations(sl_store *store, const char *slug, sl_arena *arena, sl_observation **out,
                    uint32_t *count, sl_errors *err)
{
    sl_observation_row *rows = NULL;
    bool more = false;
    const sl_code code = sl_observation_list(store, slug, "", SL_OBSERVATION_SOURCES_MAX, true,
                                             arena, &rows, count, &more, err);
    if (code != SL_OK)
        return code;
    sl_observation *const list = sl_arena_alloc(arena, *count > 0 ? *count : 1, sizeof *list);
    if (list == NULL)
        return out_of_memory(err);
    for (uint32_t i = 0; i < *count; i++)
        list[i] = (sl_observation){.source = rows[i].source,
                                   .format = rows[i].format,
                                   .observed_at = rows[i].observed_at,
                                   .stale_after_s = rows[i].stale_after_s,
                                   .stale = rows[i].stale,
                                   .hosts = rows[i].hosts,
                                   .facts = rows[i].facts};
    *out = list;
    return SL_OK;
}

sl_code
sl_api_host_status(const sl_app *app, const char *spec, const sl_observation *observations,
                   uint32_t count, sl_arena *arena, sl_host_status **out, sl_errors *err)
{
    sl_api_spec read;
    sl_code code = sl_api_spec_read(app, spec, strlen(spec), &read, err);
    if (code == SL_OK)
        code = sl_host_status_join(&read.root, &read.hardware, app->catalog, observations, count,
                                   arena, out, err);
    sl_api_spec_clear(&read);
    return code;
}

/* *out: the status of hosts as JSON. */
static sl_code
write_hosts(const sl_host_status *status, sl_arena *arena, const char **out, sl_errors *err)
{
    sl_writer writer;
    sl_buffer text;

    sl_buffer_init(&text, SL_RESPONSE_BODY_MAX_BYTES);
    sl_writer_init(&writer, &text);
    sl_code code = sl_host_status_write(&writer, status, arena, err);
    if (code == SL_OK)
        *out = sl_writer_ok(&writer) ? sl_arena_copy_bytes(arena, text.data, text.size) : NULL;
    sl_buffer_clear(&text);
    return code == SL_OK && *out == NULL ? out_of_memory(err) : code;
}

/* How many there are, where not all of them are shown. */
static sl_code
count_plans(const sl_app *app, sl_store *store, const char *slug, sl_api_joined *out,
            sl_errors *err)
{
    uint64_t counts[SL_PLAN_VERDICTS];
    const sl_code code = sl_plan_count(store, slug, app->software, counts, err);
    if (code != SL_OK)
        return code;
    out->plan_count = 0;
    for (uint32_t i = 0; i < SL_PLAN_VERDICTS; i++)
        out->plan_count += counts[i];
    return SL_OK;
}

/* The saved plans of an inventory as JSON. */
static sl_code
write_plans(const sl_app *app, sl_store *store, const char *slug, sl_arena *arena,
            sl_api_joined *out, sl_errors *err)
{
    const sl_plan_query query = {.after = "", .limit = PLANS_SHOWN_MAX, .inventory = slug};
    sl_plan_row *rows = NULL;
    uint32_t count = 0;
    sl_writer writer;
    sl_buffer text;

    sl_code code = sl_plan_list(store, &query, app->software, arena, &rows, &count,
                                &out->plans_truncated, err);
    out->plan_count = count;
    if (code == SL_OK && out->plans_truncated)
        code = count_plans(app, store, slug, out, err);
    if (code != SL_OK)
        return code;
    sl_buffer_init(&text, SL_RESPONSE_BODY_MAX_BYTES);
    sl_writer_init(&writer, &text);
    sl_plan_items_write(&writer, rows, count, arena);
    out->plans = sl_writer_ok(&writer) ? sl_arena_copy_bytes(arena, text.data, text.size) : NULL;
    sl_buffer_clear(&text);
    return out->plans == NULL ? out_of_memory(err) : SL_OK;
}

sl_code
sl_api_join(const sl_app *app, sl_store *store, const sl_inventory_row *row,
            const sl_api_spec *spec, sl_arena *arena, sl_api_joined *out, sl_errors *err)
{
    sl_observation *observations = NULL;
    sl_host_status *status = NULL;
    uint32_t count = 0;
    char hash[SL_HASH_TEXT_SIZE];
    sl_code code = SL_OK;

    *out = (sl_api_joined){.hosts = NULL, .plans = "[]"};
    if (!row->bare)
        code = sl_api_observations(store, row->slug, arena, &observations, &count, err);
    if (code == SL_OK)
        code = sl_host_status_join(&spec->root, &spec->hardware, app->catalog, observations, count,
                                   arena, &status, err);
    if (code == SL_OK)
        code = write_hosts(status, arena, &out->hosts, err);
    if (code == SL_OK && !row->bare)
        code = write_plans(app, store, row->slug, arena, out, err);
    if (code != SL_OK || (count == 0 && sl_text_equal(out->plans, "[]")))
        return code;
    const char *const both =
        sl_arena_format(arena, "%s %s %" PRIu64, out->hosts, out->plans, out->plan_count);
    if (both == NULL)
        return out_of_memory(err);
    sl_hash_text(both, strlen(both), hash);
    out->tag = sl_arena_copy_bytes(arena, hash, TAG_DIGITS);
    return out->tag == NULL ? out_of_memory(err) : SL_OK;
}

void
sl_api_joined_write(sl_writer *writer, const sl_api_joined *joined)
{
    sl_write_key(writer, "hosts");
    if (joined->hosts == NULL)
        sl_write_null(writer);
    else
        sl_write_raw(writer, joined->hosts, strlen(joined->hosts));
    sl_write_key(writer, "plans");
    if (joined->plans == NULL)
        sl_write_null(writer);
    else
        sl_write_raw(writer, joined->plans, strlen(joined->plans));
    sl_write_key(writer, "plan_count");
    if (joined->plans == NULL)
        sl_write_null(writer);
    else
        sl_write_uint(writer, joined->plan_count);
    sl_put_bool(writer, "plans_truncated", joined->plans_truncated);
}
