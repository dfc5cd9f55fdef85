#include "hub/scan.h"

#include <string.h>

enum { DEPTH_MAX = 64 };

static void
skip_blanks(sl_hub_scan *scan)
{
    while (scan->at < scan->end &&
           (*scan->at == ' ' || *scan->at == '\t' || *scan->at == '\r' || *scan->at == '\n'))
        scan->at++;
}

/* Takes the byte after blanks; false when another one stands there. */
static bool
take(sl_hub_scan *scan, char byte)
{
    skip_blanks(scan);
    if (scan->at == scan->end || *scan->at != byte)
        return false;
    scan->at++;
    return true;
}

/* From an opening quote to behind the closing one. */
static bool
skip_text(sl_hub_scan *scan)
{
    for (scan->at++; scan->at < scan->end; scan->at++) {
        if (*scan->at == '"') {
            scan->at++;
            return true;
        }
        if (*scan->at == '\\')
            scan->at++;
    }
    scan->at = scan->end;
    return false;
}

/* From an opening bracket to behind the one that closes it; their kinds are the reader's to
 * judge. */
static bool
skip_nested(sl_hub_scan *scan)
{
    unsigned depth = 0;
    while (scan->at < scan->end) {
        const char byte = *scan->at;
        if (byte == '"') {
            if (!skip_text(scan))
                return false;
            continue;
        }
        scan->at++;
        if ((byte == '{' || byte == '[') && ++depth > DEPTH_MAX)
            return false;
        if ((byte == '}' || byte == ']') && --depth == 0)
            return true;
    }
    return false;
}

static bool
skip_word(sl_hub_scan *scan)
{
    const char *const start = scan->at;
    while (scan->at < scan->end && memchr(",}] \t\r\n\"{[:", *scan->at, 12) == NULL)
        scan->at++;
    return scan->at > start;
}

void
sl_hub_scan_open(sl_hub_scan *scan, const char *text, size_t size)
{
    *scan = (sl_hub_scan){.at = text, .end = text + size, .first = true};
    scan->failed = !take(scan, '{');
}

/* Nothing may follow the object. */
static bool
finish(sl_hub_scan *scan)
{
    skip_blanks(scan);
    scan->failed = scan->at != scan->end;
    return false;
}

bool
sl_hub_scan_next(sl_hub_scan *scan, sl_hub_member *out)
{
    if (scan->failed)
        return false;
    if (take(scan, '}'))
        return finish(scan);
    scan->failed = true;
    if (!scan->first && !take(scan, ','))
        return false;
    scan->first = false;

    skip_blanks(scan);
    out->key = scan->at + 1;
    if (scan->at == scan->end || *scan->at != '"' || !skip_text(scan))
        return false;
    out->key_size = (size_t)(scan->at - 1 - out->key);
    if (!take(scan, ':'))
        return false;
    skip_blanks(scan);
    if (scan->at == scan->end)
        return false;
    out->value = scan->at;
    const char byte = *scan->at;
    const bool whole = byte == '"'                  ? skip_text(scan)
                       : byte == '{' || byte == '[' ? skip_nested(scan)
                                                    : skip_word(scan);
    out->value_size = (size_t)(scan->at - out->value);
    scan->failed = !whole;
    return whole;
}

bool
sl_hub_member_is(const sl_hub_member *member, const char *key)
{
    return strlen(key) == member->key_size && memcmp(member->key, key, member->key_size) == 0;
}
