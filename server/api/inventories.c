/* Stored inventories: spec as the client sent it, status as we compute it. */
#include <inttypes.h>
#include <string.h>

#include "api/joined.h"
#include "api/resources.h"
#include "base/text.h"
#include "codec/inventory.h"
#include "codec/notes.h"

enum { PAGE_DEFAULT = 100, PAGE_MAX = 1000, IF_MATCH_MAX = 16 };

static const sl_json_limits spec_limits = {.max_bytes = SIZE_MAX, .max_depth = 32};

/* 1 to 63 of a-z, 0-9 and inner dashes: the identity of an inventory in a URL. */
static bool
slug_ok(const char *slug)
{
    const size_t length = strlen(slug);

    if (length < 1 || length > 63 || slug[0] == '-' || slug[length - 1] == '-')
        return false;
    for (size_t i = 0; i < length; i++) {
        const char c = slug[i];
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'))
            return false;
    }
    return true;
}

static const char *
revision_tag(const sl_inventory_row *row, sl_arena *arena)
{
    return sl_arena_format(arena, "%" PRIu64, row->revision);
}

/* ?view=spec: the bare spec instead of the wrapped answer. */
static sl_code
read_view(const sl_request *request, bool *spec_only, sl_errors *err)
{
    static const char *const views[] = {"spec"};
    int view = -1;
    const sl_code code = sl_api_choice(request, "view", views, 1, &view, err);

    *spec_only = view == 0;
    return code;
}

/* A spec is the same as long as its revision is; what we compute of it follows the catalogue and
 * what was observed too. joined: NULL where nothing is. */
static bool
not_modified(const sl_app *app, const sl_inventory_row *row, const sl_api_joined *joined,
             bool spec_only, const sl_request *request, sl_response *response)
{
    const bool observed = joined != NULL && joined->tag != NULL;
    const char *revision = revision_tag(row, request->arena);
    const char *tag = revision == NULL || spec_only
                          ? revision
                          : sl_arena_format(request->arena, "%s-%s%s%s", revision,
                                            sl_catalog_revision(app->catalog), observed ? "-" : "",
                                            observed ? joined->tag : "");

    return tag != NULL && sl_response_etag(response, request, tag);
}

/* joined: NULL for what is not current. warnings: NULL, or what ?unknown=warn let pass. */
static void
write_row(const sl_app *app, const sl_inventory_row *row, const sl_api_joined *joined,
          bool spec_only, const sl_errors *warnings, const sl_request *request,
          sl_response *response)
{
    static const sl_api_joined nothing = {.hosts = NULL};
    sl_errors err = {.count = 0};
    sl_json *spec = NULL;
    sl_writer writer;

    /* Byte for byte what was accepted: a provisioning tool must see no drift. */
    if (spec_only) {
        sl_buffer_text(&response->body, row->spec);
        return;
    }
    if (sl_json_parse(row->spec, strlen(row->spec), &spec_limits, &spec, &err) != SL_OK) {
        sl_response_problem(response, request, &err);
        return;
    }

    const sl_node root = sl_json_root(spec);
    sl_writer_init(&writer, &response->body);
    sl_write_object(&writer);
    sl_put_text(&writer, "slug", row->slug);
    sl_put_uint(&writer, "revision", row->revision);
    sl_write_key(&writer, "spec");
    sl_write_raw(&writer, row->spec, strlen(row->spec));
    sl_write_key(&writer, "status");
    sl_write_object(&writer);
    sl_put_text(&writer, "created_at", row->created_at);
    sl_put_text(&writer, "updated_at", row->updated_at);
    sl_write_key(&writer, "hardware");
    sl_inventory_status_write(&writer, &root, app->catalog);
    sl_api_joined_write(&writer, joined == NULL ? &nothing : joined);
    sl_write_object_end(&writer);
    if (warnings != NULL) {
        sl_write_key(&writer, "warnings");
        sl_write_array(&writer);
        sl_faults_write(&writer, warnings);
        sl_write_array_end(&writer);
    }
    sl_write_object_end(&writer);
    sl_json_free(spec);
    sl_api_finish(&writer, response, request);
}

/* Answers with a stored row, in the view that is asked for, unless it is known already. */
static void
answer_row(const sl_app *app, const sl_inventory_row *row, const sl_api_joined *joined,
           bool spec_only, const sl_request *request, sl_response *response)
{
    if (!not_modified(app, row, joined, spec_only, request, response))
        write_row(app, row, joined, spec_only, NULL, request, response);
}

void
sl_inventories_get(void *argument, void *thread, const sl_request *request, sl_response *response)
{
    sl_app *app = argument;
    sl_worker *worker = sl_api_worker(thread, request, response);
    sl_errors err = {.count = 0};
    sl_inventory_row row;
    sl_api_joined joined;
    bool spec_only = false;

    if (worker == NULL)
        return;

    sl_store *store =
        read_view(request, &spec_only, &err) == SL_OK ? sl_api_store(app, worker, &err) : NULL;
    if (store != NULL &&
        sl_inventory_get(store, sl_request_parameter(request, "slug"), "", request->arena, &row,
                         &err) == SL_OK &&
        (spec_only || sl_api_join(app, store, &row, request->arena, &joined, &err) == SL_OK))
        answer_row(app, &row, spec_only ? NULL : &joined, spec_only, request, response);
    else
        sl_response_problem(response, request, &err);
}

/* What a PUT asks for besides its body. */
typedef struct put_options {
    uint64_t
        if_match[IF_MATCH_MAX]; /* revisions of which any will do, as sl_inventory_put takes them */
    size_t if_match_count;      /* 0: not asked */
    bool create_only;
    bool dry_run;
    bool lenient;
    bool spec_only;
} put_options;

/* The revision in a tag of ours, "3" or "3-<catalogue>"; 0 when it is none. */
static uint64_t
revision_of(const sl_etag *tag)
{
    char digits[24];
    uint64_t revision = 0;
    const size_t count = strcspn(tag->text + 1, "-\"");

    if (tag->weak || count == 0 || count >= sizeof digits)
        return 0;
    memcpy(digits, tag->text + 1, count);
    digits[count] = '\0';
    return sl_text_to_uint(digits, &revision) && revision != SL_REVISION_ANY ? revision : 0;
}

/* If-Match: each tag names a revision, in whatever view it was seen, and any of them will do; "*"
 * asks only that there is one. A tag that is none of ours matches nothing, nor does a weak one. */
static sl_code
read_if_match(const char *text, put_options *out, sl_errors *err)
{
    if (text == NULL)
        return SL_OK;
    if (sl_text_equal(text, "*")) {
        out->if_match[out->if_match_count++] = SL_REVISION_ANY;
        return SL_OK;
    }
    const char *at = text;
    for (sl_etag tag; sl_etag_next(&at, &tag);) {
        const uint64_t revision = revision_of(&tag);
        if (revision == 0)
            continue;
        if (out->if_match_count == IF_MATCH_MAX)
            return sl_fail(err, SL_E_RANGE, "too_many", "", "If-Match must not list over %d ETags",
                           IF_MATCH_MAX);
        out->if_match[out->if_match_count++] = revision;
    }
    if (out->if_match_count > 0 && at[strspn(at, " \t,")] == '\0')
        return SL_OK;
    return sl_fail(err, SL_E_PRECONDITION, "revision_mismatch", "",
                   "If-Match must list ETags of this inventory, got %s", text);
}

static sl_code
read_put_options(const sl_request *request, put_options *out, sl_errors *err)
{
    static const char *const booleans[] = {"false", "true", "0", "1"};
    int dry_run = -1;
    sl_code code = sl_api_choice(request, "dry_run", booleans, 4, &dry_run, err);

    *out = (put_options){.dry_run = dry_run == 1 || dry_run == 3};
    if (code == SL_OK)
        code = sl_api_lenient(request, &out->lenient, err);
    if (code == SL_OK)
        code = read_view(request, &out->spec_only, err);
    if (code == SL_OK)
        code = read_if_match(request->if_match, out, err);
    if (code != SL_OK || request->if_none_match == NULL)
        return code;
    if (!sl_text_equal(request->if_none_match, "*")) {
        code = sl_fail(err, SL_E_UNSUPPORTED, "unsupported_precondition", "",
                       "If-None-Match must be * where something is stored, got %s",
                       request->if_none_match);
        sl_hint(err, "If-Match names what may be replaced");
        return code;
    }
    out->create_only = true;
    return SL_OK;
}

/* Checks the body and addresses it; the document may go afterwards. */
static sl_code
check_spec(const sl_app *app, const sl_request *request, sl_errors *warnings,
           char hash[SL_HASH_TEXT_SIZE], const char **name, sl_errors *err)
{
    const char *text = "";
    sl_json *json = NULL;
    sl_code code = sl_json_parse(request->body, request->body_size, &spec_limits, &json, err);

    if (code != SL_OK)
        return code;

    const sl_node root = sl_json_root(json);
    code = sl_inventory_check(&root, app->catalog, warnings, err);
    if (code == SL_OK)
        code = sl_inventory_hash(&root, hash, err);
    if (code == SL_OK)
        code = sl_node_text(&root, "name", &text, NULL, err);
    if (code == SL_OK && (*name = sl_arena_copy(request->arena, text)) == NULL)
        code = sl_fail(err, SL_E_MEMORY, "out_of_memory", "/name", "no memory for the name");
    sl_json_free(json);
    return code;
}

/* The store asks for one revision. Of several the one that is there is meant, or any when none is:
 * the store says so, and what changes in between is found there too. */
static uint64_t
chosen_revision(sl_store *store, const char *slug, const put_options *options, sl_arena *arena)
{
    sl_errors unseen = {.count = 0};
    sl_inventory_row row;

    if (options->if_match_count > 1 &&
        sl_inventory_get(store, slug, "", arena, &row, &unseen) == SL_OK)
        for (size_t i = 0; i < options->if_match_count; i++)
            if (options->if_match[i] == row.revision)
                return row.revision;
    return options->if_match_count == 0 ? 0 : options->if_match[0];
}

/* Stores the checked row, or for a dry run finds out whether it could be. */
static sl_code
put_row(sl_app *app, sl_worker *worker, const put_options *options, const char *hash,
        const sl_request *request, sl_inventory_row *row, bool *created, sl_errors *err)
{
    const bool conditional = options->if_match_count > 0 || options->create_only;

    /* A plain dry run needs no database: it checks a spec. */
    if (options->dry_run && !conditional)
        return SL_OK;
    sl_store *store = sl_api_store(app, worker, err);
    if (store == NULL)
        return SL_E_UNAVAILABLE;
    const uint64_t if_match = chosen_revision(store, row->slug, options, request->arena);
    if (options->dry_run)
        return sl_inventory_put_allowed(store, row->slug, if_match, options->create_only, err);
    return sl_inventory_put(store, row->slug, row->name, row->spec, hash, if_match,
                            options->create_only, request->arena, row, created, err);
}

void
sl_inventories_put(void *argument, void *thread, const sl_request *request, sl_response *response)
{
    sl_app *app = argument;
    sl_worker *worker = sl_api_worker(thread, request, response);
    const char *slug = sl_request_parameter(request, "slug");
    char hash[SL_HASH_TEXT_SIZE];
    sl_errors err = {.count = 0};
    sl_errors warnings = {.count = 0};
    sl_inventory_row row = {.slug = slug, .name = "", .spec = request->body};
    put_options options;
    sl_api_joined joined = {.hosts = NULL};
    bool created = false;

    if (worker == NULL)
        return;
    sl_code code = read_put_options(request, &options, &err);
    if (code == SL_OK && !slug_ok(slug))
        code = sl_fail(&err, SL_E_RANGE, "invalid_slug", "",
                       "the slug must be 1 to 63 of a-z, 0-9 and inner dashes, got %s", slug);
    if (code == SL_OK)
        code = check_spec(app, request, options.lenient ? &warnings : NULL, hash, &row.name, &err);
    if (code == SL_OK)
        code = put_row(app, worker, &options, hash, request, &row, &created, &err);
    if (code == SL_OK && !options.dry_run && !options.spec_only)
        code = sl_api_join(app, worker->store, &row, request->arena, &joined, &err);
    if (code != SL_OK) {
        sl_response_problem(response, request, &err);
        return;
    }
    if (!options.dry_run)
        (void)not_modified(app, &row, &joined, options.spec_only, request, response);
    response->status = created ? 201 : 200;
    write_row(app, &row, &joined, options.spec_only, options.lenient ? &warnings : NULL, request,
              response);
}

/* The link needs no escapes: a cursor is a slug or a number, and only the path of an inventory that
 * exists, thus of a slug, has a next page. */
static void
write_page(const sl_inventory_row *rows, uint32_t count, uint32_t limit, const char *next,
           const sl_request *request, sl_response *response)
{
    sl_writer writer;

    sl_writer_init(&writer, &response->body);
    sl_write_object(&writer);
    sl_write_key(&writer, "items");
    sl_write_array(&writer);
    for (uint32_t i = 0; i < count; i++) {
        sl_write_object(&writer);
        sl_put_text(&writer, "slug", rows[i].slug);
        sl_put_uint(&writer, "revision", rows[i].revision);
        sl_put_text(&writer, "name", rows[i].name);
        sl_put_text(&writer, "created_at", rows[i].created_at);
        sl_put_text(&writer, "updated_at", rows[i].updated_at);
        sl_write_object_end(&writer);
    }
    sl_write_array_end(&writer);
    sl_put_text(&writer, "next_cursor", next);
    sl_write_object_end(&writer);
    if (next != NULL) {
        const char *link =
            sl_arena_format(request->arena, "<%s?limit=%" PRIu32 "&cursor=%s>; rel=\"next\"",
                            request->path, limit, next);
        if (link != NULL)
            sl_response_header(response, "Link", link);
    }
    sl_api_finish(&writer, response, request);
}

void
sl_inventories_list(void *argument, void *thread, const sl_request *request, sl_response *response)
{
    sl_app *app = argument;
    sl_worker *worker = sl_api_worker(thread, request, response);
    const char *cursor = sl_request_query(request, "cursor");
    sl_errors err = {.count = 0};
    sl_inventory_row *rows = NULL;
    uint32_t limit = 0;
    uint32_t count = 0;
    bool more = false;

    if (worker == NULL)
        return;
    /* The cursor is the last slug seen: rows that appear meanwhile never shift a page. */
    if (cursor != NULL && !slug_ok(cursor))
        (void)sl_fail(&err, SL_E_RANGE, "invalid_cursor", "", "the cursor is not one of ours");
    else if (sl_api_limit(request, PAGE_DEFAULT, PAGE_MAX, &limit, &err) == SL_OK) {
        sl_store *store = sl_api_store(app, worker, &err);
        if (store != NULL &&
            sl_inventory_list(store, cursor == NULL ? "" : cursor, limit, request->arena, &rows,
                              &count, &more, &err) == SL_OK) {
            write_page(rows, count, limit, more ? rows[count - 1].slug : NULL, request, response);
            return;
        }
    }
    sl_response_problem(response, request, &err);
}

void
sl_inventories_revisions(void *argument, void *thread, const sl_request *request,
                         sl_response *response)
{
    sl_app *app = argument;
    sl_worker *worker = sl_api_worker(thread, request, response);
    const char *cursor = sl_request_query(request, "cursor");
    sl_errors err = {.count = 0};
    sl_inventory_row *rows = NULL;
    uint64_t before = 0;
    uint32_t limit = 0;
    uint32_t count = 0;
    bool more = false;

    if (worker == NULL)
        return;
    if (cursor != NULL && (!sl_text_to_uint(cursor, &before) || before == 0))
        (void)sl_fail(&err, SL_E_RANGE, "invalid_cursor", "", "the cursor is not one of ours");
    else if (sl_api_limit(request, PAGE_DEFAULT, PAGE_MAX, &limit, &err) == SL_OK) {
        sl_store *store = sl_api_store(app, worker, &err);
        if (store != NULL &&
            sl_inventory_revisions(store, sl_request_parameter(request, "slug"), before, limit,
                                   request->arena, &rows, &count, &more, &err) == SL_OK) {
            const char *next = more ? revision_tag(&rows[count - 1], request->arena) : NULL;
            write_page(rows, count, limit, next, request, response);
            return;
        }
    }
    sl_response_problem(response, request, &err);
}

void
sl_inventories_revision(void *argument, void *thread, const sl_request *request,
                        sl_response *response)
{
    sl_app *app = argument;
    sl_worker *worker = sl_api_worker(thread, request, response);
    const char *text = sl_request_parameter(request, "n");
    sl_errors err = {.count = 0};
    sl_inventory_row row;
    uint64_t revision = 0;
    bool spec_only = false;

    if (worker == NULL)
        return;
    if (!sl_text_to_uint(text, &revision) || revision == 0) {
        (void)sl_fail(&err, SL_E_NOT_FOUND, "revision_not_found", "",
                      "revisions are numbers from 1, got %s", text);
    } else if (read_view(request, &spec_only, &err) == SL_OK) {
        sl_store *store = sl_api_store(app, worker, &err);
        if (store != NULL && sl_inventory_revision(store, sl_request_parameter(request, "slug"),
                                                   revision, request->arena, &row, &err) == SL_OK) {
            answer_row(app, &row, NULL, spec_only, request, response);
            return;
        }
    }
    sl_response_problem(response, request, &err);
}
