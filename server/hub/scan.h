/**
 * Walks the members of a large JSON object in its text, building nothing: the header of a
 * safetensors file may have 25 MB, and a tree of it would be ten times that. What a member holds is
 * for the JSON reader.
 */
#ifndef SL_HUB_SCAN_H
#define SL_HUB_SCAN_H

#include <stdbool.h>
#include <stddef.h>

typedef struct sl_hub_scan {
    const char *at, *end;
    bool first;
    bool failed; /* the text is no object, or nests too deep */
} sl_hub_scan;

/** Not NUL-terminated. */
typedef struct sl_hub_member {
    const char *key; /* as it stands between its quotes, escapes untouched */
    size_t key_size;
    const char *value; /* "..." with its quotes, {...}, [...] or a bare word */
    size_t value_size;
} sl_hub_member;

/** At the first member of the object that is the whole text; blanks around it do not count. */
void sl_hub_scan_open(sl_hub_scan *scan, const char *text, size_t size);

/** False at the end, and when the text is malformed: `failed` tells them apart. */
bool sl_hub_scan_next(sl_hub_scan *scan, sl_hub_member *out);

/** True when the key is that one. */
bool sl_hub_member_is(const sl_hub_member *member, const char *key);

#endif
