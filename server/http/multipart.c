#include "http/multipart.h"

#include <assert.h>
#include <string.h>

#include "base/text.h"

enum { HEADERS_MAX_BYTES = 8 * 1024 };

static sl_code
malformed(sl_errors *err, const char *what)
{
    return sl_fail(err, SL_E_SYNTAX, "malformed_multipart", "", "the multipart body %s", what);
}

/* The first `wanted` in [at, end); NULL when there is none. */
static const char *
find(const char *at, const char *end, const char *wanted)
{
    const size_t length = strlen(wanted);

    while ((size_t)(end - at) >= length) {
        const char *const first = memchr(at, wanted[0], (size_t)(end - at) - length + 1);
        if (first == NULL)
            return NULL;
        if (memcmp(first, wanted, length) == 0)
            return first;
        at = first + 1;
    }
    return NULL;
}

/* What makes a line that begins with a delimiter be one (RFC 2046, 5.1.1): the dashes of the last,
 * or nothing but blanks. Else it is text that happens to begin so, "--abc" where the boundary is
 * "ab". */
static bool
ends_delimiter(const char *at, const char *end)
{
    if (end - at >= 2 && memcmp(at, "--", 2) == 0)
        return true;
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    return end - at >= 2 && memcmp(at, "\r\n", 2) == 0;
}

static const char *
find_delimiter(const char *at, const char *end, const char *delimiter)
{
    const size_t length = strlen(delimiter);
    const char *found = find(at, end, delimiter);

    while (found != NULL && !ends_delimiter(found + length, end))
        found = find(found + length, end, delimiter);
    return found;
}

bool
sl_multipart_is(const char *content_type)
{
    char start[sizeof "multipart/"];

    (void)sl_text_copy(start, sizeof start, content_type);
    return sl_text_equal_ignoring_case(start, "multipart/");
}

/* The value of a parameter, quoted or not, of a header's value that ends at `end`. */
static bool
parameter(const char *at, const char *end, const char *name, char *out, size_t size)
{
    const size_t length = strlen(name);

    for (const char *semicolon = find(at, end, ";"); semicolon != NULL;
         semicolon = find(semicolon + 1, end, ";")) {
        const char *from = semicolon + 1;
        while (from < end && (*from == ' ' || *from == '\t'))
            from++;
        char key[32];
        if ((size_t)(end - from) <= length || from[length] != '=' || length >= sizeof key)
            continue;
        (void)sl_text_copy(key, length + 1, from);
        if (!sl_text_equal_ignoring_case(key, name))
            continue;
        from += length + 1;
        const bool quoted = from < end && *from == '"';
        from += quoted;
        const char *to = from;
        while (to < end && (quoted ? *to != '"' : *to != ';' && *to != ' ' && *to != '\r'))
            to++;
        const size_t kept = (size_t)(to - from) < size ? (size_t)(to - from) : size - 1;
        memcpy(out, from, kept);
        out[kept] = '\0';
        return (size_t)(to - from) < size;
    }
    return false;
}

sl_code
sl_multipart_open(const char *content_type, const char *body, size_t size, sl_multipart *out,
                  sl_errors *err)
{
    char boundary[SL_MULTIPART_BOUNDARY_MAX + 1];
    assert(content_type != NULL && body != NULL && out != NULL && err != NULL);

    if (!parameter(content_type, content_type + strlen(content_type), "boundary", boundary,
                   sizeof boundary) ||
        *boundary == '\0')
        return malformed(err, "must have a boundary of 1 to 70 characters");
    const bool fits = sl_text_format(out->delimiter, sizeof out->delimiter, "\r\n--%s", boundary);
    assert(fits);
    out->end = body + size;
    /* The first delimiter may stand at the very beginning, without a line before it. */
    const char *const bare = out->delimiter + 2;
    const size_t length = strlen(bare);
    if (size >= length && memcmp(body, bare, length) == 0 &&
        ends_delimiter(body + length, out->end)) {
        out->at = body + length;
        return SL_OK;
    }
    const char *const first = find_delimiter(body, out->end, out->delimiter);
    if (first == NULL)
        return malformed(err, "does not have its boundary");
    out->at = first + strlen(out->delimiter);
    return SL_OK;
}

/* The last name of a path, whatever system wrote it. */
static void
drop_folders(char *path)
{
    const char *last = path;
    for (const char *at = path; *at != '\0'; at++)
        if (*at == '/' || *at == '\\')
            last = at + 1;
    memmove(path, last, strlen(last) + 1);
}

sl_code
sl_multipart_next(sl_multipart *multipart, sl_part_body *out, bool *more, sl_errors *err)
{
    assert(multipart != NULL && out != NULL && more != NULL && err != NULL);

    sl_multipart *const m = multipart;
    *more = false;
    *out = (sl_part_body){.text = ""};
    if (m->end - m->at >= 2 && memcmp(m->at, "--", 2) == 0)
        return SL_OK;
    const char *const headers = find(m->at, m->end, "\r\n");
    if (headers == NULL)
        return malformed(err, "ends inside a part");
    const char *const blank = find(headers, m->end, "\r\n\r\n");
    if (blank == NULL || blank - headers > HEADERS_MAX_BYTES)
        return malformed(err, "has a part whose headers do not end");
    out->text = blank + 4;
    const char *const delimiter = find_delimiter(blank + 2, m->end, m->delimiter);
    if (delimiter == NULL)
        return malformed(err, "ends inside a part");
    /* An empty part: its delimiter begins with the line end of the headers. */
    out->size = delimiter > out->text ? (size_t)(delimiter - out->text) : 0;
    m->at = delimiter + strlen(m->delimiter);
    (void)parameter(headers, blank, "name", out->name, sizeof out->name);
    (void)parameter(headers, blank, "filename", out->filename, sizeof out->filename);
    drop_folders(out->filename);
    *more = true;
    return SL_OK;
}
