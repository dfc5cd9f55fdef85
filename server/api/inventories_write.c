/* Writes of stored inventories: each a revision of its own, none without its row in the audit. */
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "api/conditions.h"
#include "api/inventories.h"
#include "api/plan_keeper.h"
#include "api/resources.h"
#include "base/text.h"
#include "codec/inventory/inventory.h"
#include "json/patch.h"

/* How often a patch is made anew because somebody else wrote in between. */
enum { PATCH_RACES_MAX = 8 };

/* What a write asks for besides its body. */
typedef struct write_options {
    sl_precondition precondition;
    bool dry_run;
    bool lenient;
    bool spec_only;
} write_options;

static sl_code
read_options(const sl_request *request, write_options *out, sl_errors *err)
{
    *out = (write_options){.dry_run = false};
    sl_code code = sl_api_flag(request, "dry_run", &out->dry_run, err);
    if (code == SL_OK)
        code = sl_api_lenient(request, &out->lenient, err);
    if (code == SL_OK)
        code = sl_view_read(request, &out->spec_only, err);
    if (code == SL_OK)
        code = sl_api_precondition(request, &out->precondition, err);
    return code;
}

static sl_inventory_write
write_of(sl_inventory_action action, const write_options *options, const sl_request *request)
{
    return (sl_inventory_write){.action = action,
                                .slug = sl_request_parameter(request, "slug"),
                                .precondition = options->precondition,
                                .requester = sl_api_requester(request)};
}

static const char *
accelerators_of(const sl_inventory_hardware *hardware, sl_arena *arena)
{
    const char *copy = NULL;
    sl_buffer text;
    sl_writer writer;

    sl_buffer_init(&text, SIZE_MAX);
    sl_writer_init(&writer, &text);
    sl_inventory_accelerators_write(&writer, hardware);
    if (sl_writer_ok(&writer))
        copy = sl_arena_copy(arena, text.data);
    sl_buffer_clear(&text);
    return copy;
}

/* Checks the spec of a write and completes it by what follows from that. *spec is the caller's to
 * clear. */
static sl_code
check_spec(const sl_app *app, sl_inventory_write *write, size_t size, sl_arena *arena,
           sl_api_spec *spec, sl_errors *warnings, sl_errors *err)
{
    const char *name = "";
    char hash[SL_HASH_TEXT_SIZE];
    sl_code code = sl_api_spec_check(app, write->spec, size, spec, warnings, err);

    if (code == SL_OK)
        code = sl_inventory_hash(&spec->root, hash, err);
    if (code == SL_OK)
        code = sl_node_text(&spec->root, "name", &name, NULL, err);
    if (code == SL_OK) {
        write->name = sl_arena_copy(arena, name);
        write->spec_hash = sl_arena_copy(arena, hash);
        write->accelerators = accelerators_of(&spec->hardware, arena);
        if (write->name == NULL || write->spec_hash == NULL || write->accelerators == NULL)
            code = sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory for the spec");
    }
    return code;
}

/* Stores what was checked, or for a dry run finds out whether it could be. */
static sl_code
put_row(sl_app *app, sl_worker *worker, const write_options *options,
        const sl_inventory_write *write, sl_arena *arena, sl_inventory_row *row, bool *created,
        sl_errors *err)
{
    const bool conditional = options->precondition.count > 0 || options->precondition.create_only;
    sl_inventory_row found;

    *row = (sl_inventory_row){.slug = write->slug, .name = write->name, .spec = write->spec};
    /* A plain dry run needs no database: it checks a spec. */
    if (options->dry_run && !conditional)
        return SL_OK;
    sl_store *store = sl_api_store(app, worker, err);
    if (store == NULL)
        return SL_E_UNAVAILABLE;
    if (options->dry_run)
        return sl_inventory_write_try(store, write, arena, &found, err);
    return sl_inventory_write_do(store, write, arena, row, created, err);
}

/* spec: that of the row; not looked at where only its text is asked for. */
static void
answer_write(const sl_app *app, sl_worker *worker, const sl_inventory_row *row,
             const sl_api_spec *spec, const write_options *options, const sl_errors *warnings,
             const sl_request *request, sl_response *response)
{
    sl_api_joined joined = {.hosts = NULL};
    sl_errors err = {.count = 0};

    if (!options->dry_run)
        sl_plan_keeper_stir(app->keeper);
    if (!options->dry_run && !options->spec_only &&
        sl_api_join(app, worker->store, row, spec, request->arena, &joined, &err) != SL_OK) {
        sl_api_made_not_shown("stored", &err);
        sl_response_problem(response, request, &err);
        return;
    }
    if (!options->dry_run)
        (void)sl_row_known(app, row, &joined, options->spec_only, request, response);
    sl_row_write(row, options->spec_only ? NULL : spec, &joined, options->lenient ? warnings : NULL,
                 request, response);
}

void
sl_inventories_put(void *argument, void *thread, const sl_request *request, sl_response *response)
{
    sl_app *app = argument;
    sl_worker *worker = sl_api_worker(thread, request, response);
    sl_errors err = {.count = 0};
    sl_errors warnings = {.count = 0};
    sl_inventory_row row;
    sl_api_spec spec = {.json = NULL};
    write_options options;
    bool created = false;

    if (worker == NULL)
        return;
    sl_code code = read_options(request, &options, &err);
    sl_inventory_write write = write_of(SL_INVENTORY_PUT, &options, request);
    write.spec = request->body;
    if (code == SL_OK && !sl_slug_ok(write.slug))
        code = sl_fail(&err, SL_E_RANGE, "invalid_slug", "",
                       "the slug must be 1 to 63 of a-z, 0-9 and inner dashes, got %s", write.slug);
    if (code == SL_OK)
        code = check_spec(app, &write, request->body_size, request->arena, &spec,
                          options.lenient ? &warnings : NULL, &err);
    if (code == SL_OK)
        code = put_row(app, worker, &options, &write, request->arena, &row, &created, &err);
    if (code == SL_OK) {
        response->status = created ? 201 : 200;
        answer_write(app, worker, &row, &spec, &options, &warnings, request, response);
    } else {
        sl_response_problem(response, request, &err);
    }
    sl_api_spec_clear(&spec);
}

/* Two kinds of patches are taken; the route lets no other through. */
static bool
lists_operations(const sl_request *request)
{
    static const char type[] = "application/json-patch+json";
    const char *const given = request->content_type + strspn(request->content_type, " \t");

    return strncasecmp(given, type, sizeof type - 1) == 0;
}

/* The spec of `row` with the patch of the request applied, in the arena. It may become as large as
 * what can be put, or as it is: operations that copy could otherwise double it a hundred times. */
static sl_code
patch_spec(const sl_app *app, const sl_inventory_row *row, const sl_request *request,
           const char **out, sl_errors *err)
{
    const sl_patch patch = {request->body, request->body_size};
    const size_t most = app->settings->max_body_bytes;
    const size_t now = strlen(row->spec);
    const sl_json_limits limits = {.max_bytes = now > most ? now : most,
                                   .max_depth = sl_spec_limits.max_depth};
    sl_buffer text;

    sl_buffer_init(&text, limits.max_bytes);
    sl_code code = lists_operations(request)
                       ? sl_json_pointer_patch(row->spec, &patch, &limits, &text, err)
                       : sl_json_merge_patch(row->spec, &patch, &limits, &text, err);
    if (code == SL_OK && (*out = sl_arena_copy(request->arena, text.data)) == NULL)
        code = sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory for the patched spec");
    sl_buffer_clear(&text);
    return code;
}

/* One attempt. A patch is of the revision that it has seen: *again when another was faster. *spec
 * is the caller's to clear. */
static sl_code
patch_once(const sl_app *app, sl_store *store, const write_options *options,
           const sl_request *request, sl_errors *warnings, sl_inventory_row *row, sl_api_spec *spec,
           bool *again, sl_errors *err)
{
    sl_inventory_write write = write_of(SL_INVENTORY_PATCH, options, request);
    sl_inventory_row seen;
    bool created = false;

    *again = false;
    sl_code code = sl_inventory_write_try(store, &write, request->arena, &seen, err);
    if (code == SL_OK)
        code = patch_spec(app, &seen, request, &write.spec, err);
    if (code == SL_OK)
        code = check_spec(app, &write, strlen(write.spec), request->arena, spec,
                          options->lenient ? warnings : NULL, err);
    if (code != SL_OK)
        return code;
    *row = (sl_inventory_row){.slug = write.slug, .name = write.name, .spec = write.spec};
    if (options->dry_run)
        return SL_OK;
    write.precondition = (sl_precondition){.revisions = {seen.revision}, .count = 1};
    code = sl_inventory_write_do(store, &write, request->arena, row, &created, err);
    *again = code == SL_E_PRECONDITION;
    return code;
}

void
sl_inventories_patch(void *argument, void *thread, const sl_request *request, sl_response *response)
{
    sl_app *app = argument;
    sl_worker *worker = sl_api_worker(thread, request, response);
    sl_errors err = {.count = 0};
    sl_errors warnings = {.count = 0};
    sl_inventory_row row;
    sl_api_spec spec = {.json = NULL};
    write_options options;

    if (worker == NULL)
        return;
    sl_code code = read_options(request, &options, &err);
    sl_store *store = code == SL_OK ? sl_api_store(app, worker, &err) : NULL;
    bool again = store != NULL;
    for (uint32_t race = 0; again && race < PATCH_RACES_MAX; race++) {
        err = (sl_errors){.count = 0};
        warnings = (sl_errors){.count = 0};
        sl_api_spec_clear(&spec);
        code = patch_once(app, store, &options, request, &warnings, &row, &spec, &again, &err);
    }
    if (again) {
        err = (sl_errors){.count = 0};
        code = sl_fail(&err, SL_E_UNAVAILABLE, "database_busy", "",
                       "others change this inventory too fast");
    }
    if (store == NULL || code != SL_OK)
        sl_response_problem(response, request, &err);
    else
        answer_write(app, worker, &row, &spec, &options, &warnings, request, response);
    sl_api_spec_clear(&spec);
}

/* A write without a spec: makes it, or for a dry run finds out whether it could be made. */
static sl_code
plain_write(sl_app *app, sl_worker *worker, sl_inventory_action action, write_options *options,
            const sl_request *request, sl_inventory_row *row, sl_errors *err)
{
    bool created = false;
    const sl_code code = read_options(request, options, err);

    if (code != SL_OK)
        return code;
    sl_store *store = sl_api_store(app, worker, err);
    if (store == NULL)
        return SL_E_UNAVAILABLE;
    const sl_inventory_write write = write_of(action, options, request);
    return options->dry_run
               ? sl_inventory_write_try(store, &write, request->arena, row, err)
               : sl_inventory_write_do(store, &write, request->arena, row, &created, err);
}

/* Answers what was deleted, and not 204: its revision is what a restore goes on from. */
void
sl_inventories_delete(void *argument, void *thread, const sl_request *request,
                      sl_response *response)
{
    sl_app *app = argument;
    sl_worker *worker = sl_api_worker(thread, request, response);
    sl_errors err = {.count = 0};
    sl_inventory_row row;
    write_options options;
    sl_writer writer;

    if (worker == NULL)
        return;
    if (plain_write(app, worker, SL_INVENTORY_DELETE, &options, request, &row, &err) != SL_OK) {
        sl_response_problem(response, request, &err);
        return;
    }
    if (!options.dry_run)
        sl_plan_keeper_stir(app->keeper);
    if (options.spec_only) {
        sl_buffer_text(&response->body, row.spec);
        return;
    }
    sl_writer_init(&writer, &response->body);
    sl_write_object(&writer);
    sl_row_members(&writer, &row);
    sl_write_object_end(&writer);
    sl_api_finish(&writer, response, request);
}

void
sl_inventories_restore(void *argument, void *thread, const sl_request *request,
                       sl_response *response)
{
    sl_app *app = argument;
    sl_worker *worker = sl_api_worker(thread, request, response);
    sl_errors err = {.count = 0};
    sl_inventory_row row;
    sl_api_spec spec = {.json = NULL};
    write_options options;

    if (worker == NULL)
        return;
    sl_code code = plain_write(app, worker, SL_INVENTORY_RESTORE, &options, request, &row, &err);
    if (code == SL_OK && !options.spec_only)
        code = sl_api_spec_read(app, row.spec, strlen(row.spec), &spec, &err);
    if (code == SL_OK) {
        if (options.dry_run)
            row.revision = 0; /* the next one, which is not made */
        answer_write(app, worker, &row, &spec, &options, NULL, request, response);
    } else {
        sl_response_problem(response, request, &err);
    }
    sl_api_spec_clear(&spec);
}
