#include "codec/inventory/verdict.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/buffer.h"
#include "base/hash.h"
#include "base/text.h"
#include "codec/question/question.h"
#include "json/members.h"

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

enum { LABELS_MAX = 64, TEXT_BYTES = 16 << 20 };

_Static_assert(sizeof((sl_plan_document){0}.hash) == SL_HASH_TEXT_SIZE, "a hash fits");

static sl_code
out_of_memory(sl_errors *err)
{
    return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory for the plan");
}

/* The canonical text of a node, in the arena; NULL without memory. */
static const char *
text_of(const sl_node *node, sl_arena *arena)
{
    const char *copy = NULL;
    sl_buffer text;
    sl_buffer_init(&text, TEXT_BYTES);
    if (sl_json_canonical(node, &text) == SL_OK && !text.failed)
        copy = sl_arena_copy_bytes(arena, text.data, text.size);
    sl_buffer_clear(&text);
    return copy;
}

static sl_code
check_labels(const sl_node *root, sl_errors *err)
{
    sl_node labels, label;
    void *state = NULL;
    if (!sl_node_member(root, "labels", &labels))
        return SL_OK;
    sl_code first = sl_node_object(&labels, err);
    if (first == SL_OK && sl_node_count(&labels) > LABELS_MAX)
        return sl_node_fail(&labels, err, SL_E_RANGE, "out_of_range",
                            "must have at most %d members, got %zu", LABELS_MAX,
                            sl_node_count(&labels));
    while (first == SL_OK && sl_node_next(&labels, &state, &label)) {
        const char *text = NULL;
        sl_keep(&first, sl_node_as_text(&label, &text, err));
    }
    return first;
}

static sl_code
read_request(const sl_node *request, const sl_catalog *catalog, sl_arena *arena,
             sl_plan_document *out, sl_errors *err)
{
    sl_estimate_request *const read = sl_arena_alloc(arena, 1, sizeof *read);
    if (read == NULL)
        return out_of_memory(err);
    const sl_code code = sl_estimate_request_read(request, catalog, NULL, read, err);
    if (code != SL_OK)
        return code;
    out->inventory = read->inventory == NULL ? NULL : sl_arena_copy(arena, read->inventory);
    out->request = text_of(request, arena);
    return out->request == NULL || (read->inventory != NULL && out->inventory == NULL)
               ? out_of_memory(err)
               : SL_OK;
}

static sl_code
read_members(const sl_node *root, const sl_catalog *catalog, sl_arena *arena, sl_plan_document *out,
             sl_errors *err)
{
    static const sl_member members[] = {{"name", NULL}, {"labels", NULL}, {"request", NULL}};
    sl_node request;
    const char *name = "";
    sl_code first = sl_node_object(root, err);
    if (first != SL_OK)
        return first;
    sl_keep(&first, sl_members_check(root, members, COUNT(members), NULL, err));
    sl_keep(&first, sl_node_text(root, "name", &name, NULL, err));
    sl_keep(&first, check_labels(root, err));
    const sl_code code = sl_node_required(root, "request", &request, err);
    sl_keep(&first, code == SL_OK ? read_request(&request, catalog, arena, out, err) : code);
    if (first != SL_OK)
        return first;
    out->name = sl_arena_copy(arena, name);
    return out->name == NULL ? out_of_memory(err) : SL_OK;
}

sl_code
sl_plan_document_read(const char *text, size_t size, const sl_catalog *catalog, sl_arena *arena,
                      sl_plan_document *out, sl_errors *err)
{
    assert(text != NULL && catalog != NULL && arena != NULL && out != NULL && err != NULL);

    static const sl_json_limits limits = {.max_bytes = SIZE_MAX, .max_depth = 34};
    sl_json *json = NULL;
    *out = (sl_plan_document){.name = ""};
    sl_code code = sl_json_parse(text, size, &limits, &json, err);
    if (code != SL_OK)
        return code;
    const sl_node root = sl_json_root(json);
    code = read_members(&root, catalog, arena, out, err);
    if (code == SL_OK) {
        const char *const canonical = text_of(&root, arena);
        if (canonical == NULL)
            code = out_of_memory(err);
        else
            sl_hash_text(canonical, strlen(canonical), out->hash);
    }
    sl_json_free(json);
    return code;
}

sl_code
sl_plan_document_request(const char *text, sl_arena *arena, sl_plan_document *out, sl_errors *err)
{
    static const sl_json_limits limits = {.max_bytes = SIZE_MAX, .max_depth = SL_JSON_DEPTH_MAX};
    sl_errors unseen = {0};
    sl_json *json = NULL;
    sl_node request;
    *out = (sl_plan_document){.name = ""};
    if (sl_json_parse(text, strlen(text), &limits, &json, &unseen) == SL_OK) {
        const sl_node root = sl_json_root(json);
        if (sl_node_member(&root, "request", &request))
            out->request = text_of(&request, arena);
    }
    sl_json_free(json);
    return out->request != NULL
               ? SL_OK
               : sl_fail(err, SL_E_INTERNAL, "bad_plan", "", "the saved plan cannot be read");
}

/* A copy of a text member; NULL where there is none. */
static const char *
copy_member(const sl_node *object, const char *name, sl_arena *arena)
{
    sl_errors ignored = {0};
    const char *text = NULL;
    if (sl_node_text(object, name, &text, NULL, &ignored) != SL_OK || text == NULL)
        return NULL;
    return sl_arena_copy(arena, text);
}

/* The entry of a list of objects whose "code" it is. */
static bool
find_code(const sl_node *list, const char *code, sl_node *out)
{
    sl_errors ignored = {0};
    for (size_t i = 0; sl_node_at(list, i, out); i++) {
        const char *text = NULL;
        if (sl_node_text(out, "code", &text, NULL, &ignored) == SL_OK && text != NULL &&
            sl_text_equal(text, code))
            return true;
    }
    return false;
}

/* Which hosts are left out: of several pools each says its own, in this
 * member. NULL: none. */
static const char *
hosts_of(const sl_node *notes, const char *member, sl_arena *arena)
{
    sl_errors ignored = {0};
    const char *all = NULL;
    sl_node note;
    for (size_t i = 0; sl_node_at(notes, i, &note); i++) {
        const char *code = NULL;
        if (sl_node_text(&note, "code", &code, NULL, &ignored) != SL_OK || code == NULL ||
            !sl_text_equal(code, "hosts_left_out"))
            continue;
        const char *const said = copy_member(&note, member, arena);
        all = all == NULL || said == NULL ? said : sl_arena_format(arena, "%s; %s", all, said);
    }
    return all;
}

/* Devices that hold a plan are not enough where nodes lack memory for what goes to the host. */
static bool
is_host_bound(const sl_node *root)
{
    sl_errors ignored = {0};
    const char *limit = NULL;
    sl_node binding;

    return sl_node_member(root, "binding", &binding) &&
           sl_node_text(&binding, "limit", &limit, NULL, &ignored) == SL_OK && limit != NULL &&
           sl_text_equal(limit, "host_memory");
}

static void
read_answer(const sl_node *root, sl_arena *arena, sl_verdict *out)
{
    sl_errors ignored = {0};
    sl_node memory, time, binding, assumptions;
    bool fits = false, said = false;
    (void)(sl_node_bool(root, "fits", &fits, &said, &ignored) != SL_OK);
    fits = fits && !is_host_bound(root);
    out->kind = !said ? SL_VERDICT_REFUSED : fits ? SL_VERDICT_FITS : SL_VERDICT_DOES_NOT_FIT;
    out->has_figures =
        sl_node_bool(root, "fits_certain", &out->certain, NULL, &ignored) == SL_OK &&
        sl_node_member(root, "memory", &memory) &&
        sl_node_double(&memory, "headroom_bytes", -1e18, 1e18, &out->headroom_bytes, NULL,
                       &ignored) == SL_OK &&
        sl_node_member(root, "time", &time) &&
        sl_node_double(&time, "step_s", 0, 1e18, &out->step_s, NULL, &ignored) == SL_OK;
    if (sl_node_member(root, "binding", &binding))
        out->binding = copy_member(&binding, "sentence", arena);
    if (sl_node_member(root, "assumptions", &assumptions))
        out->hosts = hosts_of(&assumptions, "message", arena);
}

static sl_code
read_problem(const sl_node *root, sl_arena *arena, sl_verdict *out, sl_errors *err)
{
    sl_node errors, fault;
    out->kind = SL_VERDICT_REFUSED;
    if (!sl_node_member(root, "errors", &errors))
        return SL_OK;
    out->errors = text_of(&errors, arena);
    if (sl_node_at(&errors, 0, &fault))
        out->detail = copy_member(&fault, "detail", arena);
    out->hosts = hosts_of(&errors, "detail", arena);
    /* The plan is sound: there is only less to run it on. */
    if (find_code(&errors, "not_enough_hosts", &fault)) {
        out->kind = SL_VERDICT_DOES_NOT_FIT;
        out->hosts = copy_member(&fault, "detail", arena);
    }
    return out->errors == NULL ? out_of_memory(err) : SL_OK;
}

sl_code
sl_verdict_read(uint32_t status, const char *body, size_t size, sl_arena *arena, sl_verdict *out,
                sl_errors *err)
{
    assert(body != NULL && arena != NULL && out != NULL && err != NULL);

    static const sl_json_limits limits = {.max_bytes = SIZE_MAX, .max_depth = SL_JSON_DEPTH_MAX};
    sl_errors unseen = {0};
    sl_json *json = NULL;
    sl_code code = SL_OK;
    *out = (sl_verdict){.kind = SL_VERDICT_NONE};
    if (status >= 500 || sl_json_parse(body, size, &limits, &json, &unseen) != SL_OK)
        return SL_OK;
    const sl_node root = sl_json_root(json);
    if (status < 300)
        read_answer(&root, arena, out);
    else
        code = read_problem(&root, arena, out, err);
    sl_json_free(json);
    return code;
}

void
sl_verdict_write(sl_writer *writer, const sl_verdict *verdict, const sl_verdict_basis *basis)
{
    sl_write_object(writer);
    sl_write_key(writer, "fits");
    if (verdict->kind == SL_VERDICT_REFUSED)
        sl_write_null(writer);
    else
        sl_write_bool(writer, verdict->kind == SL_VERDICT_FITS);
    sl_write_key(writer, "fits_certain");
    if (verdict->has_figures)
        sl_write_bool(writer, verdict->certain);
    else
        sl_write_null(writer);
    sl_write_key(writer, "headroom_bytes");
    if (verdict->has_figures)
        sl_write_int(writer, (int64_t)llround(verdict->headroom_bytes));
    else
        sl_write_null(writer);
    sl_write_key(writer, "step_s");
    if (verdict->has_figures)
        sl_write_double(writer, verdict->step_s);
    else
        sl_write_null(writer);
    sl_put_text(writer, "binding", verdict->binding);
    sl_put_text(writer, "hosts", verdict->hosts);
    sl_write_key(writer, "errors");
    if (verdict->errors != NULL)
        sl_write_raw(writer, verdict->errors, strlen(verdict->errors));
    else
        sl_write_raw(writer, "[]", 2);
    sl_write_key(writer, "fitted");
    if (verdict->fitted != NULL)
        sl_write_raw(writer, verdict->fitted, strlen(verdict->fitted));
    else
        sl_write_null(writer);
    sl_put_known_uint(writer, "inventory_revision", basis->inventory_revision);
    sl_put_text(writer, "observations_hash",
                *basis->observations_hash == '\0' ? NULL : basis->observations_hash);
    sl_put_text(writer, "engine_version", basis->engine_version);
    sl_put_text(writer, "catalog_revision", basis->catalog_revision);
    sl_write_object_end(writer);
}

/* What an evaluation that fits is compared by later, as JSON; NULL without memory. */
static const char *
fitted_text(const sl_node *evaluation, sl_arena *arena)
{
    static const char *const names[] = {"hosts", "engine_version", "catalog_revision"};
    sl_errors ignored = {0};
    const char *copy = NULL;
    uint64_t revision = 0;
    sl_buffer text;
    sl_writer writer;

    sl_buffer_init(&text, TEXT_BYTES);
    sl_writer_init(&writer, &text);
    sl_write_object(&writer);
    for (size_t i = 0; i < COUNT(names); i++)
        sl_put_text(&writer, names[i], copy_member(evaluation, names[i], arena));
    if (sl_node_uint(evaluation, "inventory_revision", 0, INT64_MAX, &revision, NULL, &ignored) !=
        SL_OK)
        revision = 0;
    sl_put_known_uint(&writer, "inventory_revision", revision);
    sl_write_object_end(&writer);
    if (sl_writer_ok(&writer))
        copy = sl_arena_copy_bytes(arena, text.data, text.size);
    sl_buffer_clear(&text);
    return copy;
}

/* A cause, and what comes of it as far as a sentence says that. */
static const char *
explain(const char *cause, const sl_verdict *now, sl_arena *arena)
{
    if (cause == NULL)
        return NULL;
    if (now->detail != NULL)
        return sl_arena_format(arena, "%s: %s", cause, now->detail);
    return now->binding == NULL ? cause : sl_arena_format(arena, "%s. %s", cause, now->binding);
}

/* What differs from when it fitted, in the order of what people change; NULL: nothing that is
 * known. */
static const char *
cause_of(const sl_node *fitted, const sl_verdict *now, const sl_verdict_basis *basis,
         sl_arena *arena)
{
    sl_errors ignored = {0};
    const char *hosts = NULL, *engine = NULL, *catalogue = NULL;
    uint64_t revision = 0;
    const bool read =
        sl_node_text(fitted, "hosts", &hosts, NULL, &ignored) == SL_OK &&
        sl_node_text(fitted, "engine_version", &engine, NULL, &ignored) == SL_OK &&
        sl_node_text(fitted, "catalog_revision", &catalogue, NULL, &ignored) == SL_OK &&
        sl_node_uint(fitted, "inventory_revision", 0, INT64_MAX, &revision, NULL, &ignored) ==
            SL_OK;
    if (!read)
        return NULL;
    if (now->hosts != NULL && (hosts == NULL || !sl_text_equal(hosts, now->hosts)))
        return now->hosts;
    const char *cause = NULL;
    if (revision != basis->inventory_revision)
        cause = sl_arena_format(
            arena, "its inventory is at revision %" PRIu64 ", and it fitted revision %" PRIu64,
            basis->inventory_revision, revision);
    else if (engine != NULL && !sl_text_equal(engine, basis->engine_version))
        cause = sl_arena_format(arena, "the engine is at %s, and it fitted by %s",
                                basis->engine_version, engine);
    else if (catalogue != NULL && !sl_text_equal(catalogue, basis->catalog_revision))
        cause = sl_arena_format(arena, "the catalogue is at %s, and it fitted by %s",
                                basis->catalog_revision, catalogue);
    else
        return now->detail;
    return explain(cause, now, arena);
}

sl_code
sl_verdict_reason(const sl_verdict_kept *kept, sl_verdict *now, const sl_verdict_basis *basis,
                  sl_arena *arena, const char **reason, sl_errors *err)
{
    assert(now != NULL && basis != NULL && arena != NULL && reason != NULL && err != NULL);

    static const sl_json_limits limits = {.max_bytes = SIZE_MAX, .max_depth = 32};
    sl_errors unseen = {0};
    sl_json *json = NULL;
    sl_code code = SL_OK;
    *reason = NULL;
    if (kept == NULL || kept->evaluation == NULL || now->kind == SL_VERDICT_FITS ||
        sl_json_parse(kept->evaluation, strlen(kept->evaluation), &limits, &json, &unseen) != SL_OK)
        return SL_OK;
    const sl_node evaluation = sl_json_root(json);
    sl_node fitted = evaluation;
    if (kept->fitted || sl_node_member(&evaluation, "fitted", &fitted)) {
        const char *const cause = cause_of(&fitted, now, basis, arena);
        now->fitted = fitted_text(&fitted, arena);
        *reason = cause == NULL ? "no longer fits"
                                : sl_arena_format(arena, "no longer fits because %s", cause);
        code = now->fitted == NULL || *reason == NULL ? out_of_memory(err) : SL_OK;
    }
    sl_json_free(json);
    return code;
}
