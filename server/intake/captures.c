#include "intake/captures.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static const char host_bytes[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_[],";

/* Bytes of a host's name, or list of names, at `at`; 0 where none stands. A name has a letter and
 * begins with a letter or a digit; a word that tools print themselves is none. */
static size_t
host_length(const char *at)
{
    static const char *const words[] = {"Legend", "NIC",     "WARNING", "Warning", "ERROR", "Error",
                                        "Note",   "nvidia-", "rocm-",   "amd-smi", "GPU["};
    const size_t length = strspn(at, host_bytes);

    if (length == 0 || length > SL_HOST_NAME_MAX || strchr("-._[],", *at) != NULL ||
        at[length - 1] == ',' || at[length - 1] == '-' ||
        strcspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") >= length)
        return 0;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strncmp(at, words[i], strlen(words[i])) == 0)
            return 0;
    char name[SL_HOST_NAME_MAX + 1];
    uint64_t count = 0;
    memcpy(name, at, length);
    name[length] = '\0';
    return sl_hosts_count(name, &count) ? length : 0;
}

/* "gpu001 | CHANGED | rc=0 >>", "gpu001 | SUCCESS => {" */
static bool
is_verdict(const char *at)
{
    return strncmp(at, " | CHANGED", 10) == 0 || strncmp(at, " | SUCCESS", 10) == 0 ||
           strncmp(at, " | FAILED", 9) == 0;
}

static bool
take(const char *at, size_t length, char host[SL_HOST_NAME_MAX + 1])
{
    memcpy(host, at, length);
    host[length] = '\0';
    return true;
}

/* "==> out/gpu001.csv <==", as head and tail name a file: its name without what it ends in. */
static bool
take_file(const char *line, char host[SL_HOST_NAME_MAX + 1])
{
    static const char *const kinds[] = {".csv", ".txt", ".log", ".out", ".xml", ".json"};
    char name[SL_HOST_NAME_MAX + 1];

    /* "==> <==" has one blank, which is not both. */
    if (strncmp(line, "==> ", 4) != 0 || !sl_text_copy(name, sizeof name, line + 4) ||
        !sl_text_ends_with(name, " <=="))
        return false;
    name[strlen(name) - strlen(" <==")] = '\0';
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (sl_text_ends_with(name, kinds[i]))
            name[strlen(name) - strlen(kinds[i])] = '\0';
    const char *const slash = strrchr(name, '/');
    const char *const base = slash != NULL ? slash + 1 : name;
    const size_t length = host_length(base);
    return length > 0 && base[length] == '\0' && take(base, length, host);
}

bool
sl_capture_heading(const char *line, bool ruled, char host[SL_HOST_NAME_MAX + 1])
{
    assert(line != NULL && host != NULL);

    if (take_file(line, host))
        return true;
    /* A title across the page is a section of the tool's own: "===== VBIOS =====". */
    enum { MARKS_MAX = 16 };
    const char *at = line + strspn(line, " ");
    const size_t marks = strspn(at, "#=-*>");
    if (marks > MARKS_MAX)
        return false;
    at += marks + strspn(at + marks, " ");
    if (strncmp(at, "host: ", 6) == 0 || strncmp(at, "Host: ", 6) == 0)
        at += 6;
    const size_t length = host_length(at);
    if (length == 0)
        return false;
    const char *behind = at + length;
    if (marks == 0 && is_verdict(behind))
        return take(at, length, host);
    const bool colon = *behind == ':' && *line != ' '; /* "    ASIC:" is a section of a tool */
    behind += colon;
    behind += strspn(behind, " ");
    if (*behind == '(') /* clush: how many hosts said the same */
        behind += strspn(behind, "(0123456789)");
    behind += strspn(behind, "#=-*< ");
    if (*behind != '\0' || (marks == 0 && !colon && !ruled))
        return false;
    return take(at, length, host);
}

/* The host that a line stands behind, "gpu001: ...". */
static size_t
prefix_length(const char *line)
{
    const size_t length = host_length(line);
    return length > 0 && line[length] == ':' &&
                   (line[length + 1] == ' ' || line[length + 1] == '\0')
               ? length
               : 0;
}

void
sl_captures_open(sl_captures *captures, const char *text, size_t size)
{
    assert(captures != NULL && (text != NULL || size == 0));

    *captures = (sl_captures){.lines = {.at = text, .end = text + size}};
    if (size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
        captures->lines.at += 3;

    /* Every line of the beginning is behind a host, or none is. */
    sl_lines ahead = captures->lines;
    char line[512];
    bool cut = false;
    uint32_t seen = 0;
    uint32_t prefixed = 0;
    while (seen < 4 && sl_lines_copy(&ahead, line, sizeof line, &cut)) {
        seen++;
        prefixed += prefix_length(line) > 0;
    }
    captures->prefixed = seen >= 2 && prefixed == seen;
}

bool
sl_captures_next(sl_captures *captures, char *to, size_t size)
{
    assert(captures != NULL && to != NULL && size > 0);

    if (!sl_lines_copy(&captures->lines, to, size, &captures->cut))
        return false;
    captures->named = false;
    if (captures->prefixed) {
        const size_t length = prefix_length(to);
        if (length > 0) {
            (void)take(to, length, captures->host);
            const size_t skip = length + 1 + (to[length + 1] == ' ');
            memmove(to, to + skip, strlen(to + skip) + 1);
        }
        return true;
    }
    captures->named = sl_capture_heading(to, captures->ruled, captures->host);
    const size_t dashes = strspn(to, "-=");
    captures->ruled = dashes >= 4 && to[dashes] == '\0';
    if (captures->named)
        to[0] = '\0';
    return true;
}

void
sl_captures_pass(sl_captures *captures, const char *at, size_t size)
{
    const char *const end = at + size;
    assert(captures != NULL && at != NULL && end <= captures->lines.end);

    captures->lines.at = end;
    captures->lines.number--;
    while (at < end && (at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        captures->lines.number++;
        at++;
    }
}

/* Lines over this are cut: no tool prints such. */
enum { RUN_LINE_SIZE = 4096 };

static sl_code
visit_runs(sl_captures *captures, char *stripped, sl_run_visit visit, void *context, sl_errors *err)
{
    char line[RUN_LINE_SIZE];
    char host[SL_HOST_NAME_MAX + 1] = "";
    uint32_t first = 1;
    size_t used = 0;
    sl_code code = SL_OK;

    while (code == SL_OK && sl_captures_next(captures, line, sizeof line)) {
        if (used > 0 && !sl_text_equal(host, captures->host)) {
            code = visit(context, stripped, used, host, first, err);
            used = 0;
        }
        if (used == 0)
            first = captures->lines.number;
        memcpy(host, captures->host, sizeof host);
        const size_t length = strlen(line);
        memcpy(stripped + used, line, length + 1);
        used += length;
        stripped[used++] = '\n';
    }
    return code == SL_OK && used > 0 ? visit(context, stripped, used, host, first, err) : code;
}

sl_code
sl_captures_runs(const char *text, size_t size, sl_run_visit visit, void *context, sl_errors *err)
{
    sl_captures captures;
    assert(visit != NULL && err != NULL);

    sl_captures_open(&captures, text, size);
    if (!captures.prefixed)
        return visit(context, text, size, "", 1, err);
    char *const stripped = malloc(size + 1);
    if (stripped == NULL)
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory to read the file");
    const sl_code code = visit_runs(&captures, stripped, visit, context, err);
    free(stripped);
    return code;
}
