/** Calls handlers as the lanes call them, without a daemon. */
#ifndef SL_TESTS_API_BENCH_H
#define SL_TESTS_API_BENCH_H

#include <stdio.h>
#include <string.h>

#include "api/app.h"
#include "api/resources.h"
#include "base/text.h"
#include "harness.h"

static sl_catalog *catalog; /* of main */

typedef void (*handler)(void *app, void *worker, const sl_request *request, sl_response *response);

static const char spec[] =
    "{\"name\":\"a\",\"pools\":[{\"name\":\"p\",\"nodes\":2,\"node\":{\"accelerator\":"
    "\"nvidia-h100-sxm5-80gb\",\"accelerators\":8}}]}";
static const char other_spec[] =
    "{\"name\":\"b\",\"pools\":[{\"name\":\"p\",\"nodes\":3,\"node\":{\"accelerator\":"
    "\"nvidia-h100-sxm5-80gb\",\"accelerators\":8}}]}";

/* A server of one thread, and the request it answers. */
typedef struct api_bench {
    sl_settings settings;
    sl_app app;
    sl_worker worker;
    sl_request request;
    sl_response response;
} api_bench;

static inline void
bench_open(api_bench *b, const char *url)
{
    memset(b, 0, sizeof *b);
    CU_ASSERT_TRUE(sl_text_copy(b->settings.database_url, sizeof b->settings.database_url, url));
    b->app = (sl_app){.settings = &b->settings, .catalog = catalog};
    sl_app_init(&b->app);
    b->worker.store = sl_store_new(b->settings.database_url);
    sl_response_init(&b->response);
}

static inline void
forget(api_bench *b)
{
    sl_response_clear(&b->response);
    sl_arena_free(b->request.arena);
    b->request.arena = NULL;
}

static inline void
bench_close(api_bench *b)
{
    forget(b);
    sl_store_free(b->worker.store);
}

/* A new request of up to one query parameter; the fields of its head are set by the caller. */
static inline void
prepare(api_bench *b, sl_method method, const char *name, const char *value, const char *body)
{
    forget(b);
    sl_response_init(&b->response);
    b->request = (sl_request){.method = method,
                              .id = "id",
                              .path = "/api/v1/inventories",
                              .parameters = {{"slug", "a"}},
                              .parameter_count = 1,
                              .query = {{name, value}},
                              .query_count = name == NULL ? 0 : 1,
                              .body = body,
                              .body_size = strlen(body),
                              .arena = sl_arena_new(1 << 20)};
}

static inline const char *
body_of(const api_bench *b)
{
    return b->response.body.data == NULL ? "" : b->response.body.data;
}

static inline void
expect_holds(const api_bench *b, const char *part)
{
    if (strstr(body_of(b), part) == NULL)
        sl_expect_text(body_of(b), part, "must hold");
}

static inline void
expect_status(const api_bench *b, uint32_t status)
{
    if (b->response.status != status)
        printf("%s\n", body_of(b));
    CU_ASSERT_EQUAL(b->response.status, status);
}

static inline void
expect_rule(const api_bench *b, uint32_t status, const char *rule)
{
    char code[64];

    expect_status(b, status);
    CU_ASSERT_TRUE(sl_text_format(code, sizeof code, "\"code\":\"%s\"", rule));
    expect_holds(b, code);
}

static inline void
expect_header(const api_bench *b, const char *name, const char *expected)
{
    const char *found = "none";

    for (uint32_t i = 0; i < b->response.header_count; i++)
        if (sl_text_equal(b->response.headers[i].name, name))
            found = b->response.headers[i].value;
    sl_expect_text(found, expected, name);
}

static inline void
run(api_bench *b, handler handle)
{
    handle(&b->app, &b->worker, &b->request, &b->response);
}

static inline void
put(api_bench *b, const char *body, const char *if_match)
{
    prepare(b, SL_PUT, NULL, NULL, body);
    b->request.if_match = if_match;
    run(b, sl_inventories_put);
}

#endif
