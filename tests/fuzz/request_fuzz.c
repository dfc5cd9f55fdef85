/* Any text where a client writes the head of a request: reading it ends, inside its text, and what
 * is let through keeps the promises that handlers build on. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/resources.h"
#include "base/text.h"
#include "http/accept.h"
#include "http/head.h"
#include "http/query.h"
#include "http/router.h"
#include "http/static.h"

enum { ARENA_BYTES = 1024 * 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* UTF-8 without control characters: what goes on into JSON, SQL and logs. */
static void
expect_clean(const char *text)
{
    const size_t size = strlen(text);
    for (size_t at = 0; at < size;) {
        const size_t length = sl_text_character(text + at, size - at);
        assert(length > 0 && (unsigned char)text[at] >= ' ' && text[at] != '\x7f');
        at += length;
    }
}

static void
use_route(const sl_match *match, const sl_path *path, sl_arena *arena)
{
    char allow[SL_ALLOW_TEXT_SIZE];
    sl_router_allow(match, allow);
    for (uint32_t method = 0; method < SL_METHOD_COUNT; method++) {
        sl_request request = {.parameter_count = 0};
        if (match->routes[method] == NULL)
            continue;
        assert(match->routes[method]->method == method);
        if (!sl_router_parameters(match->routes[method], path, arena, &request))
            continue;
        for (uint32_t i = 0; i < request.parameter_count; i++)
            assert(request.parameters[i].name[0] != '\0' && request.parameters[i].value[0] != '\0');
    }
}

static void
use_path(const char *text, sl_arena *arena)
{
    sl_errors err = {.count = 0};
    sl_path path;
    const sl_code code = sl_path_parse(text, arena, &path, &err);
    assert((code == SL_OK) == (err.count == 0));
    if (code != SL_OK)
        return;
    assert(path.text[0] == '/' && path.count <= SL_PATH_SEGMENTS_MAX);
    expect_clean(path.text);
    for (uint32_t i = 0; i < path.count; i++)
        assert(!sl_text_equal(path.segments[i], ".") && !sl_text_equal(path.segments[i], ".."));
    const sl_match match = sl_router_match(sl_api_routes, sl_api_route_count, &path);
    if (match.any)
        use_route(&match, &path, arena);
}

static void
use_host(const char *text)
{
    static const char *const names[] = {"localhost", "127.0.0.1", "::1", "plan.example.org"};
    static sl_settings settings = {
        .listen_host = "127.0.0.1", .allowed_hosts = {"plan.example.org"}, .allowed_host_count = 1};
    if (sl_host_allowed(&settings, text)) {
        bool known = false;
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
            known = known || strncasecmp(text + (text[0] == '['), names[i], strlen(names[i])) == 0;
        assert(known);
    }
    /* As a setting: what it allows must not include any other name. */
    if (!sl_text_copy(settings.allowed_hosts[1], sizeof settings.allowed_hosts[1], text))
        return;
    settings.allowed_host_count = 2;
    const bool itself = sl_text_equal_ignoring_case(text, "stranger.example") ||
                        strncasecmp(text, "stranger.example:", 17) == 0 ||
                        strncasecmp(text, "[stranger.example", 17) == 0;
    assert(itself || !sl_host_allowed(&settings, "stranger.example:80"));
    settings.allowed_host_count = 1;
}

static void
use_tags(const char *text)
{
    const bool any = text[strspn(text, " \t,")] == '*';
    const char *at = text;
    sl_etag tag;
    while (sl_etag_next(&at, &tag)) {
        char quoted[64];
        assert(tag.text > text - 1 && tag.text + tag.length == at && tag.length >= 2);
        assert(tag.text[0] == '"' && tag.text[tag.length - 1] == '"');
        if (tag.length >= sizeof quoted)
            continue;
        memcpy(quoted, tag.text, tag.length);
        quoted[tag.length] = '\0';
        assert(any || sl_etag_listed(text, quoted));
    }
    (void)sl_etag_listed(text, "\"a\"");
}

/* A put whose slug cannot be: everything before the store, and never further. */
static void
use_if_match(const char *text, sl_arena *arena)
{
    sl_app app = {.settings = NULL};
    sl_worker worker = {.store = NULL};
    const sl_request request = {.method = SL_PUT,
                                .id = "id",
                                .path = "/api/v1/inventories/-",
                                .parameters = {{"slug", "-"}},
                                .parameter_count = 1,
                                .body = "",
                                .if_match = text,
                                .arena = arena};
    sl_response response;
    sl_response_init(&response);
    sl_inventories_put(&app, &worker, &request, &response);
    assert(response.status == 412 || response.status == 422);
    sl_response_clear(&response);
}

/* Names cut at '&', as the daemon cuts them. */
static void
use_query(const char *text, sl_arena *arena)
{
    static const char *const known[] = {"limit", "cursor"};
    sl_pair query[SL_QUERY_MAX];
    uint32_t count = 0;
    for (const char *at = text; count < SL_QUERY_MAX;) {
        const size_t length = strcspn(at, "&");
        const char *const name = sl_arena_copy_bytes(arena, at, length);
        if (name == NULL)
            return;
        query[count++] = (sl_pair){.name = name, .value = ""};
        if (at[length] == '\0')
            break;
        at += length + 1;
    }
    sl_errors err = {.count = 0};
    const sl_code code = sl_query_check("limit, cursor", query, count, &err);
    assert((code == SL_OK) == (err.count == 0));
    if (code != SL_OK)
        return;
    assert(count <= 2 && (count < 2 || !sl_text_equal(query[0].name, query[1].name)));
    for (uint32_t i = 0; i < count; i++)
        assert(sl_text_index(query[i].name, known, 2) >= 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    sl_arena *const arena = sl_arena_new(ARENA_BYTES);
    char *const text = arena == NULL ? NULL : malloc(size + 1);
    if (text != NULL) {
        bool head = false;
        memcpy(text, bytes, size);
        text[size] = '\0';
        use_path(text, arena);
        use_host(text);
        use_tags(text);
        use_if_match(text, arena);
        use_query(text, arena);
        (void)sl_method_parse(text, &head);
        (void)sl_type_accepted("text/plain, application/json", text);
        (void)sl_type_accepted(text, "application/json");
        (void)sl_accept_gzip(text);
        static const char *const types[] = {"application/json", "a/b"};
        const int chosen = sl_accept_choose(text, types, 2);
        assert(chosen >= -1 && chosen < 2);
        if (sl_percent_decode(text))
            expect_clean(text);
    }
    free(text);
    sl_arena_free(arena);
    return 0;
}
