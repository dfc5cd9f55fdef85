/* What tools print, read and merged into an inventory to look at; nothing is stored. */
#include <string.h>

#include "api/raw_body.h"
#include "api/resources.h"
#include "base/text.h"
#include "http/multipart.h"
#include "intake/draft.h"
#include "intake/format.h"
#include "intake/session.h"
#include "json/members.h"

enum { ARENA_BYTES = 192 * 1024 * 1024 };

typedef struct parsed_file {
    const sl_format *format;
    uint32_t confidence;
} parsed_file;

typedef struct parsing {
    const sl_request *request;
    const sl_format *format; /* that ?format= names; NULL: each is recognised */
    bool strict;
    bool several; /* files: one that names no node may go with others that do */
    sl_findings *findings;
    uint32_t count;
    parsed_file files[SL_FINDINGS_FILES_MAX];
} parsing;

static sl_code
read_format(const sl_request *request, const sl_format **out, sl_errors *err)
{
    const char *const name = sl_request_query(request, "format");
    const char *names[64];
    uint32_t count = 0;

    *out = NULL;
    if (name == NULL || sl_text_equal(name, "auto"))
        return SL_OK;
    *out = sl_format_find(name);
    if (*out != NULL)
        return SL_OK;
    for (; count < sl_format_count() && count < sizeof names / sizeof names[0]; count++)
        names[count] = sl_format_get(count)->name;
    (void)sl_fail(err, SL_E_RANGE, "unknown_value", "", "no format is called \"%.60s\"", name);
    const char *const near = sl_text_nearest(name, names, count);
    sl_hint(err, "%s", near != NULL ? near : "GET /api/v1/inventories:formats lists them");
    return SL_E_RANGE;
}

static sl_code
read_file(parsing *p, const sl_raw *raw, sl_errors *err)
{
    sl_errors inner = {0};
    if (p->count == SL_FINDINGS_FILES_MAX)
        return sl_fail(err, SL_E_RANGE, "too_many", "", "must be at most %d files",
                       SL_FINDINGS_FILES_MAX);
    parsed_file *const file = &p->files[p->count];
    const sl_code code =
        sl_intake_read(raw, p->format, p->findings, &file->format, &file->confidence, &inner);
    if (code == SL_OK) {
        p->count++;
        return SL_OK;
    }
    if (p->several && inner.count == 1 && sl_text_equal(inner.list[0].rule, "no_hosts")) {
        p->count++;
        sl_findings_warn(p->findings, "no_hosts", 0, NULL, "%.60s: %s", raw->name,
                         inner.list[0].message);
        return SL_OK;
    }
    for (uint32_t i = 0; i < inner.count; i++) {
        const sl_error *const fault = &inner.list[i];
        (void)sl_fail(err, fault->code, fault->rule, fault->pointer, "%s%s%s", raw->name,
                      *raw->name != '\0' ? ": " : "", fault->message);
        sl_hint(err, "%s", fault->hint);
    }
    return code;
}

/* What nobody reads among outputs that are read is told of. */
static void
tell_passed(parsing *p, const sl_errors *unread)
{
    for (uint32_t i = 0; i < unread->count; i++)
        sl_findings_warn(p->findings, "output_passed", 0, NULL, "%s", unread->list[i].message);
}

/* What each command of a session printed, as a file of its own. */
static sl_code
read_session(parsing *p, sl_session *session, sl_errors *err)
{
    sl_errors unread = {.count = 0};
    sl_code first = SL_OK;
    sl_raw raw;
    bool more = true;

    p->several = true;
    while (more) {
        sl_errors faults = {.count = 0};
        sl_code code = sl_session_next(session, p->request->arena, &raw, &more, err);
        if (code != SL_OK)
            return code;
        if (!more || read_file(p, &raw, &faults) == SL_OK)
            continue;
        const bool unknown = sl_text_equal(faults.list[0].rule, "unknown_format");
        for (uint32_t i = 0; i < faults.count; i++)
            code = sl_refail(&faults.list[i], unknown ? &unread : err);
        first = unknown || first != SL_OK ? first : code;
    }
    if (first == SL_OK && p->count > 0) {
        tell_passed(p, &unread);
        return SL_OK;
    }
    for (uint32_t i = 0; i < unread.count; i++)
        first = sl_refail(&unread.list[i], err);
    return first;
}

static sl_code
read_whole(parsing *p, const sl_raw *raw, sl_errors *err)
{
    sl_session session;

    return p->format == NULL && sl_session_open(raw, &session) ? read_session(p, &session, err)
                                                               : read_file(p, raw, err);
}

static sl_code
read_parts(parsing *p, const sl_raw_body *body, sl_errors *err)
{
    sl_multipart parts;
    sl_part_body part;
    bool more = true;

    sl_code code = sl_multipart_open(p->request->content_type, body->text, body->size, &parts, err);
    sl_code first = SL_OK;
    while (code == SL_OK && more) {
        code = sl_multipart_next(&parts, &part, &more, err);
        if (code != SL_OK || !more)
            break;
        const char *const name = *part.filename != '\0' ? part.filename : part.name;
        const sl_raw raw = {name, part.text, part.size};
        const sl_code read = part.size == 0 ? SL_OK : read_whole(p, &raw, err);
        first = first == SL_OK ? read : first;
    }
    return first != SL_OK ? first : code;
}

/* One file, or each of several. All are read, so that one answer names every fault. */
static sl_code
read_files(parsing *p, const sl_raw_body *body, sl_errors *err)
{
    const sl_raw whole = {"", body->text, body->size};

    p->several = sl_multipart_is(p->request->content_type);
    const sl_code code = p->several ? read_parts(p, body, err) : read_whole(p, &whole, err);
    if (code == SL_OK && p->several && p->count > 0 && sl_findings_count(p->findings) == 0)
        return sl_fail(err, SL_E_UNSUPPORTED, "no_hosts", "", "none of the files names a node");
    return code;
}

static void
write_answer(const parsing *p, const sl_draft *draft, const sl_app *app, sl_response *response)
{
    sl_writer writer;

    sl_writer_init(&writer, &response->body);
    sl_write_object(&writer);
    sl_put_text(&writer, "format", p->count == 1 ? p->files[0].format->name : "several");
    sl_put_double(&writer, "confidence", p->count == 1 ? p->files[0].confidence / 100.0 : 1.0);
    sl_write_key(&writer, "files");
    sl_write_array(&writer);
    for (uint32_t i = 0; i < p->count; i++) {
        sl_write_object(&writer);
        sl_put_text(&writer, "name", sl_findings_file_name(p->findings, i));
        sl_put_text(&writer, "format", p->files[i].format->name);
        sl_put_text(&writer, "title", p->files[i].format->title);
        sl_put_double(&writer, "confidence", p->files[i].confidence / 100.0);
        sl_write_object_end(&writer);
    }
    sl_write_array_end(&writer);
    sl_draft_write(&writer, draft);
    sl_put_text(&writer, "catalog_revision", sl_catalog_revision(app->catalog));
    sl_write_object_end(&writer);
    sl_api_finish(&writer, response, p->request);
}

static sl_code
read_options(const sl_request *request, parsing *p, sl_errors *err)
{
    static const char *const booleans[] = {"false", "true", "0", "1"};
    int strict = -1;
    sl_code code = sl_api_choice(request, "strict", booleans, 4, &strict, err);

    p->strict = strict == 1 || strict == 3;
    if (code == SL_OK)
        code = read_format(request, &p->format, err);
    return code;
}

void
sl_inventories_parse(void *argument, void *thread, const sl_request *request, sl_response *response)
{
    const sl_app *const app = argument;
    sl_errors err = {.count = 0};
    sl_raw_body body = {.text = ""};
    parsing p = {.request = request};
    sl_draft *const draft = sl_arena_alloc(request->arena, 1, sizeof *draft);
    sl_arena *const arena = sl_arena_new(ARENA_BYTES);

    (void)thread;
    sl_code code = read_options(request, &p, &err);
    if (code == SL_OK)
        code = sl_raw_body_open(request, &body, &err);
    if (code == SL_OK && (draft == NULL || arena == NULL ||
                          (p.findings = sl_findings_new(arena, app->catalog)) == NULL))
        code = sl_fail(&err, SL_E_MEMORY, "out_of_memory", "", "no memory to read the files with");
    if (code == SL_OK)
        code = read_files(&p, &body, &err);
    if (code == SL_OK && p.count == 0)
        code = sl_fail(&err, SL_E_SYNTAX, "empty_body", "", "the body must hold a file");
    if (code == SL_OK)
        code = sl_findings_join_names(p.findings, &err);
    if (code == SL_OK)
        code = sl_draft_make(p.findings, app->catalog, arena, draft, &err);
    if (code == SL_OK && p.strict)
        code = sl_draft_strict(draft, &err);
    if (code == SL_OK)
        write_answer(&p, draft, app, response);
    else
        sl_response_problem(response, request, &err);
    sl_raw_body_close(&body);
    sl_arena_free(arena);
}

void
sl_inventories_formats(void *argument, void *thread, const sl_request *request,
                       sl_response *response)
{
    sl_writer writer;

    (void)argument;
    (void)thread;
    sl_writer_init(&writer, &response->body);
    sl_write_object(&writer);
    sl_write_key(&writer, "items");
    sl_write_array(&writer);
    for (uint32_t i = 0; i < sl_format_count(); i++) {
        const sl_format *const format = sl_format_get(i);
        sl_write_object(&writer);
        sl_put_text(&writer, "name", format->name);
        sl_put_text(&writer, "title", format->title);
        sl_write_object_end(&writer);
    }
    sl_write_array_end(&writer);
    sl_write_object_end(&writer);
    sl_api_finish(&writer, response, request);
}
