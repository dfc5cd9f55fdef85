/** The path of a request: split at '/', then each segment percent-decoded, once. */
#ifndef SL_HTTP_PATH_H
#define SL_HTTP_PATH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "shardline/error.h"

enum { SL_PATH_SEGMENTS_MAX = 16 };

typedef struct sl_path {
    const char *text; /* decoded, for handlers and files; routes match the segments */
    const char *segments[SL_PATH_SEGMENTS_MAX]; /* a trailing '/' gives an empty last one */
    uint32_t count;
} sl_path;

/**
 * Decodes %XX in place. False on a bad escape, a control character (NUL included) and on what is
 * not UTF-8: the text goes on into JSON and SQL, where it would fail late.
 */
bool sl_percent_decode(char *text);

/**
 * raw is the request target without its query. Refused as SL_E_SYNTAX, rule malformed_path: no
 * leading '/', what sl_percent_decode refuses, "." and ".." (escaped or not), "//", too many
 * segments.
 */
sl_code sl_path_parse(const char *raw, sl_arena *arena, sl_path *out, sl_errors *err) SL_MUST_CHECK;

#endif
