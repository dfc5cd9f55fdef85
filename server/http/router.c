#include "http/router.h"

#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "http/query.h"

static const char *const method_names[] = {
    [SL_GET] = "GET",     [SL_POST] = "POST",     [SL_PUT] = "PUT",
    [SL_PATCH] = "PATCH", [SL_DELETE] = "DELETE",
};
_Static_assert(sizeof method_names / sizeof method_names[0] == SL_METHOD_COUNT,
               "every method has a name");

/* How specific one segment of a pattern is; two bits each, the leftmost segment highest. */
enum { NO_MATCH = 0, MATCH_NAME = 1, MATCH_SUFFIX = 2, MATCH_LITERAL = 3 };

sl_method
sl_method_parse(const char *text, bool *head)
{
    assert(text != NULL && head != NULL);
    *head = sl_text_equal(text, "HEAD");
    if (*head)
        return SL_GET;
    const int index = sl_text_index(text, method_names, SL_METHOD_COUNT);
    return index < 0 ? SL_METHOD_COUNT : (sl_method)index;
}

/* One segment of a pattern: "literal", "{name}" or "{name}suffix". */
typedef struct pattern_segment {
    const char *name; /* NULL for a literal */
    size_t name_length;
    const char *text; /* the literal or the suffix */
    size_t length;
} pattern_segment;

/* Reads the segment after the '/' at *at and moves *at to the next '/' or the end. */
static pattern_segment
pattern_next(const char **at)
{
    const char *const start = *at + 1;
    const char *const end = start + strcspn(start, "/");
    pattern_segment segment = {.text = start, .length = (size_t)(end - start)};
    if (*start == '{') {
        const char *const close = memchr(start, '}', segment.length);
        assert(close != NULL);
        segment.name = start + 1;
        segment.name_length = (size_t)(close - segment.name);
        segment.text = close + 1;
        segment.length = (size_t)(end - segment.text);
    }
    *at = end;
    return segment;
}

static uint32_t
segment_match(const pattern_segment *pattern, const char *segment)
{
    const size_t length = strlen(segment);
    if (pattern->name == NULL)
        return length == pattern->length && memcmp(segment, pattern->text, length) == 0
                   ? MATCH_LITERAL
                   : NO_MATCH;
    if (length <= pattern->length)
        return NO_MATCH;
    if (pattern->length == 0)
        return MATCH_NAME;
    return memcmp(segment + length - pattern->length, pattern->text, pattern->length) == 0
               ? MATCH_SUFFIX
               : NO_MATCH;
}

/* 0 when the pattern does not match, else 1 + how specific it is. */
static uint64_t
pattern_match(const char *pattern, const sl_path *path)
{
    uint64_t score = 0;
    uint32_t count = 0;
    for (const char *at = pattern; at[0] == '/' && at[1] != '\0'; count++) {
        const pattern_segment segment = pattern_next(&at);
        const uint32_t match =
            count < path->count ? segment_match(&segment, path->segments[count]) : NO_MATCH;
        if (match == NO_MATCH)
            return 0;
        score = score * 4 + match;
    }
    return count == path->count ? score + 1 : 0;
}

void
sl_router_check(const sl_route *routes, size_t count)
{
    assert(routes != NULL || count == 0);
    for (size_t i = 0; i < count; i++) {
        const sl_route *const route = &routes[i];
        assert(route->pattern != NULL && route->pattern[0] == '/' && route->handler != NULL);
        assert(route->method < SL_METHOD_COUNT && route->lane <= SL_LANE_NONE);
        assert(route->timeout_s > 0);
        sl_query_check_names(route->query);
        uint32_t segments = 0;
        uint32_t names = 0;
        for (const char *at = route->pattern; at[0] == '/' && at[1] != '\0'; segments++)
            names += pattern_next(&at).name != NULL;
        assert(segments <= SL_PATH_SEGMENTS_MAX && names <= SL_PATH_PARAMETERS_MAX);
    }
}

sl_match
sl_router_match(const sl_route *routes, size_t count, const sl_path *path)
{
    assert(path != NULL);

    sl_match match = {.any = false};
    uint64_t best = 0;
    for (size_t i = 0; i < count; i++) {
        const uint64_t score = pattern_match(routes[i].pattern, path);
        if (score == 0 || score < best)
            continue;
        if (score > best)
            match = (sl_match){.any = true};
        best = score;
        match.routes[routes[i].method] = &routes[i];
    }
    return match;
}

void
sl_router_allow(const sl_match *match, char out[SL_ALLOW_TEXT_SIZE])
{
    assert(match != NULL);

    size_t used = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < SL_METHOD_COUNT; i++) {
        if (match->routes[i] == NULL)
            continue;
        const bool fits = sl_text_format(out + used, SL_ALLOW_TEXT_SIZE - used, "%s%s, ",
                                         method_names[i], i == SL_GET ? ", HEAD" : "");
        assert(fits);
        used += strlen(out + used);
    }
    const bool fits = sl_text_format(out + used, SL_ALLOW_TEXT_SIZE - used, "OPTIONS");
    assert(fits);
}

bool
sl_router_parameters(const sl_route *route, const sl_path *path, sl_arena *arena,
                     sl_request *request)
{
    assert(route != NULL && path != NULL && arena != NULL && request != NULL);

    request->parameter_count = 0;
    uint32_t index = 0;
    for (const char *at = route->pattern; at[0] == '/' && at[1] != '\0'; index++) {
        const pattern_segment segment = pattern_next(&at);
        if (segment.name == NULL)
            continue;
        const char *const text = path->segments[index];
        const size_t length = strlen(text) - segment.length;
        const sl_pair parameter = {
            .name = sl_arena_copy_bytes(arena, segment.name, segment.name_length),
            .value = sl_arena_copy_bytes(arena, text, length),
        };
        if (parameter.name == NULL || parameter.value == NULL)
            return false;
        request->parameters[request->parameter_count++] = parameter;
    }
    return true;
}
