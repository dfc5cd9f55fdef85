#include "http_fixture.h"

#include <arpa/inet.h>
#include <assert.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "json/writer.h"

/* Its address is the context of every worker, so that a handler can tell that it got one. */
static char context;

static void
echo(void *app, void *worker, const sl_request *request, sl_response *response)
{
    (void)app;
    assert(worker == &context);
    sl_writer writer;
    sl_writer_init(&writer, &response->body);
    sl_write_object(&writer);
    sl_put_text(&writer, "path", request->path);
    for (uint32_t i = 0; i < request->query_count; i++)
        sl_put_text(&writer, request->query[i].name, request->query[i].value);
    sl_put_text(&writer, "body", request->body);
    sl_put_uint(&writer, "body_size", request->body_size);
    sl_write_object_end(&writer);
}

static void
upload(void *app, void *worker, const sl_request *request, sl_response *response)
{
    (void)app;
    assert(worker == &context);
    uint64_t sum = 0;
    for (size_t i = 0; i < request->body_size; i++)
        sum += (unsigned char)request->body[i];
    response->content_type = "text/plain";
    sl_buffer_format(&response->body, "%zu %llu", request->body_size, (unsigned long long)sum);
}

/* The same of a body that went to disk, read in parts. */
static void
spooled(void *app, void *worker, const sl_request *request, sl_response *response)
{
    (void)app;
    assert(worker == &context && request->body_size == 0);
    char part[1000];
    uint64_t sum = 0;
    uint64_t offset = 0;
    size_t got = 0;
    while (request->spool != NULL &&
           sl_spool_read(request->spool, offset, part, sizeof part, &got) && got > 0) {
        for (size_t i = 0; i < got; i++)
            sum += (unsigned char)part[i];
        offset += got;
    }
    response->content_type = "text/plain";
    sl_buffer_format(&response->body, "%llu %llu %s", (unsigned long long)offset,
                     (unsigned long long)sum,
                     request->content_encoding == NULL ? "" : request->content_encoding);
}

static void
thing(void *app, void *worker, const sl_request *request, sl_response *response)
{
    (void)app;
    assert(worker == &context);
    response->content_type = "text/plain";
    sl_buffer_text(&response->body, sl_request_parameter(request, "slug"));
}

static void
wait_open(sl_fixture_app *app)
{
    (void)pthread_mutex_lock(&app->lock);
    app->started++;
    (void)pthread_cond_broadcast(&app->changed);
    while (!app->open)
        (void)pthread_cond_wait(&app->changed, &app->lock);
    app->finished++;
    const uint32_t parked = app->parked_count;
    app->parked_count = 0;
    (void)pthread_cond_broadcast(&app->changed);
    (void)pthread_mutex_unlock(&app->lock);
    /* The only hold handler of its lane: nobody parks while it is gone. */
    for (uint32_t i = 0; i < parked; i++)
        app->parked[i].wake(app->parked[i].context);
}

static bool
wait_parked(void *argument, void (*wake)(void *context), void *waiter)
{
    sl_fixture_app *const app = argument;
    (void)pthread_mutex_lock(&app->lock);
    const bool waits = app->started > app->finished;
    if (waits) {
        assert(app->parked_count < SL_FIXTURE_PARKED_MAX);
        app->parked[app->parked_count].wake = wake;
        app->parked[app->parked_count].context = waiter;
        app->parked_count++;
        (void)pthread_cond_broadcast(&app->changed);
    }
    (void)pthread_mutex_unlock(&app->lock);
    return waits;
}

static void
parked(void *app, void *worker, const sl_request *request, sl_response *response)
{
    assert(worker == &context);
    if (response->state == NULL) {
        char *const seen = sl_arena_copy(request->arena, "woken");
        assert(seen != NULL);
        sl_response_park(response, SL_LANE_COMPUTE, seen, wait_parked, app);
        return;
    }
    response->content_type = "text/plain";
    sl_buffer_text(&response->body, response->state);
}

static void
hold(void *app, void *worker, const sl_request *request, sl_response *response)
{
    assert(worker == &context);
    wait_open(app);
    response->content_type = "text/plain";
    sl_buffer_text(&response->body, atomic_load(request->cancelled) ? "cancelled" : "held");
}

static void
race(void *app, void *worker, const sl_request *request, sl_response *response)
{
    (void)app;
    assert(worker == &context);
    for (int i = 0; i < 2000; i++)
        sl_buffer_text(&response->body, request->path);
}

static void
fail(void *app, void *worker, const sl_request *request, sl_response *response)
{
    (void)app;
    assert(worker == &context);
    sl_errors err = {.count = 0};
    (void)sl_fail(&err, SL_E_RANGE, "not_divisible", "/parallelism/tensor", "must divide");
    sl_response_problem(response, request, &err);
}

static void
metrics(void *app, void *worker, const sl_request *request, sl_response *response)
{
    (void)app;
    assert(worker == &context);
    response->content_type = "text/plain";
    sl_server_metrics_write(request->server, &response->body);
}

static void
alive(void *app, void *worker, const sl_request *request, sl_response *response)
{
    (void)app;
    assert(worker == NULL);
    response->content_type = "text/plain";
    sl_buffer_text(&response->body, request->path);
}

/* Asks one lane, then another; what the first found travels in the state. */
static void
relay(void *app, void *worker, const sl_request *request, sl_response *response)
{
    (void)app;
    assert(worker == &context);
    if (response->state == NULL) {
        char *const found = sl_arena_copy(request->arena, "carried");
        assert(found != NULL);
        const bool dead = sl_request_query(request, "dead") != NULL;
        sl_response_continue(response, dead ? SL_LANE_HUB : SL_LANE_STORE, found);
        return;
    }
    response->content_type = "text/plain";
    sl_buffer_text(&response->body, response->state);
}

/* As many names as a query may have. */
#define ECHO_QUERY "a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,dry_run"

static const sl_route routes[] = {
    {SL_GET, "/metrics", SL_LANE_COMPUTE, metrics, NULL, 0, 60, NULL},
    {SL_GET, "/alive", SL_LANE_NONE, alive, NULL, 0, 60, NULL},
    {SL_GET, "/relay", SL_LANE_COMPUTE, relay, NULL, 0, 60, "dead"},
    {SL_GET, "/echo", SL_LANE_COMPUTE, echo, NULL, 0, 60, ECHO_QUERY},
    {SL_POST, "/echo", SL_LANE_COMPUTE, echo, "application/json", 0, 60, ECHO_QUERY},
    {SL_POST, "/upload", SL_LANE_COMPUTE, upload, "*", SL_FIXTURE_BODY_MAX, 60, NULL},
    {SL_POST, "/spool", SL_LANE_COMPUTE, spooled, "*", SL_FIXTURE_SPOOL_MAX, 60, NULL},
    {SL_GET, "/things/{slug}", SL_LANE_COMPUTE, thing, NULL, 0, 60, NULL},
    {SL_GET, "/hold", SL_LANE_STORE, hold, NULL, 0, 60, NULL},
    {SL_GET, "/park", SL_LANE_COMPUTE, parked, NULL, 0, 60, NULL},
    {SL_GET, "/late", SL_LANE_STORE, hold, NULL, 0, 0.1, NULL},
    {SL_PUT, "/late", SL_LANE_STORE, hold, NULL, 0, 0.1, "dry_run"},
    {SL_GET, "/race", SL_LANE_COMPUTE, race, NULL, 0, 0.001, NULL},
    {SL_GET, "/nowhere", SL_LANE_HUB, echo, NULL, 0, 60, NULL},
    {SL_GET, "/problem", SL_LANE_COMPUTE, fail, NULL, 0, 60, NULL},
};

static void *
worker_new(void *argument, sl_lane lane)
{
    (void)lane;
    sl_fixture_app *const app = argument;
    (void)pthread_mutex_lock(&app->lock);
    app->workers++;
    (void)pthread_mutex_unlock(&app->lock);
    return &context;
}

static void
worker_free(void *argument, sl_lane lane, void *worker)
{
    (void)lane;
    assert(worker == &context);
    sl_fixture_app *const app = argument;
    (void)pthread_mutex_lock(&app->lock);
    app->workers--;
    (void)pthread_mutex_unlock(&app->lock);
}

void
sl_fixture_init(sl_fixture *fixture)
{
    *fixture = (sl_fixture){
        .settings = {.listen_host = "127.0.0.1",
                     .max_body_bytes = 1 << 20,
                     .static_dir = "/nonexistent/shardline",
                     .cache_dir = "/tmp",
                     .allowed_hosts = {"plan.example.org"},
                     .allowed_host_count = 1},
        .config = {.routes = routes,
                   .route_count = sizeof routes / sizeof routes[0],
                   .lane_threads = {[SL_LANE_COMPUTE] = 2, [SL_LANE_STORE] = 1},
                   .lane_depth = {[SL_LANE_COMPUTE] = 64, [SL_LANE_STORE] = 1},
                   .worker_new = worker_new,
                   .worker_free = worker_free},
    };
    (void)pthread_mutex_init(&fixture->app.lock, NULL);
    (void)pthread_cond_init(&fixture->app.changed, NULL);
    fixture->config.app = &fixture->app;
    fixture->config.settings = &fixture->settings;
}

void
sl_fixture_start(sl_fixture *fixture)
{
    sl_log_set_level(SL_LOG_ERROR);
    sl_errors err = {.count = 0};
    const sl_code code = sl_server_start(&fixture->config, &fixture->server, &fixture->port, &err);
    if (code != SL_OK)
        (void)fprintf(stderr, "%s\n", err.list[0].message);
    assert(code == SL_OK);
}

/* The fixture's own files only: names it wrote, then the two folders. */
static void
folder_remove(const sl_fixture *fixture)
{
    if (fixture->folder[0] == '\0')
        return;
    static const char *const names[] = {
        "index.html",       "index.html.gz", "assets/app-1A2B3C4D.js", "assets/app-1A2B3C4D.js.gz",
        "assets/plain.css", ".hidden"};
    char path[128];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        (void)sl_text_format(path, sizeof path, "%s/%s", fixture->folder, names[i]);
        (void)unlink(path);
    }
    (void)sl_text_format(path, sizeof path, "%s/assets", fixture->folder);
    (void)rmdir(path);
    const int failed = rmdir(fixture->folder);
    assert(failed == 0);
}

uint32_t
sl_fixture_stop(sl_fixture *fixture, double grace_s)
{
    const uint32_t cancelled = sl_server_stop(fixture->server, grace_s);
    assert(fixture->app.workers == 0);
    (void)pthread_cond_destroy(&fixture->app.changed);
    (void)pthread_mutex_destroy(&fixture->app.lock);
    folder_remove(fixture);
    return cancelled;
}

void
sl_fixture_file(sl_fixture *fixture, const char *name, const char *content)
{
    char path[128];
    if (fixture->folder[0] == '\0') {
        (void)sl_text_copy(fixture->folder, sizeof fixture->folder, "/tmp/shardline-http-XXXXXX");
        const char *const made = mkdtemp(fixture->folder);
        assert(made != NULL);
        (void)sl_text_format(path, sizeof path, "%s/assets", fixture->folder);
        const int failed = mkdir(path, 0700);
        assert(failed == 0);
        (void)sl_text_copy(fixture->settings.static_dir, sizeof fixture->settings.static_dir,
                           fixture->folder);
    }
    (void)sl_text_format(path, sizeof path, "%s/%s", fixture->folder, name);
    FILE *const file = fopen(path, "w");
    assert(file != NULL);
    (void)fputs(content, file);
    (void)fclose(file);
}

void
sl_fixture_await_started(sl_fixture *fixture, uint32_t count)
{
    (void)pthread_mutex_lock(&fixture->app.lock);
    while (fixture->app.started < count)
        (void)pthread_cond_wait(&fixture->app.changed, &fixture->app.lock);
    (void)pthread_mutex_unlock(&fixture->app.lock);
}

void
sl_fixture_await_parked(sl_fixture *fixture, uint32_t count)
{
    (void)pthread_mutex_lock(&fixture->app.lock);
    while (fixture->app.parked_count < count)
        (void)pthread_cond_wait(&fixture->app.changed, &fixture->app.lock);
    (void)pthread_mutex_unlock(&fixture->app.lock);
}

void
sl_fixture_open(sl_fixture *fixture)
{
    (void)pthread_mutex_lock(&fixture->app.lock);
    fixture->app.open = true;
    (void)pthread_cond_broadcast(&fixture->app.changed);
    (void)pthread_mutex_unlock(&fixture->app.lock);
}

sl_client
sl_client_open(const sl_fixture *fixture)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
    } address = {.v4 = {.sin_family = AF_INET,
                        .sin_port = htons(fixture->port),
                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)}};
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert(fd >= 0);
    const int failed = connect(fd, &address.any, sizeof address.v4);
    assert(failed == 0);
    return (sl_client){.fd = fd};
}

void
sl_client_close(sl_client *client)
{
    (void)close(client->fd);
    free(client->data);
    *client = (sl_client){.fd = -1};
}

void
sl_client_send_bytes(sl_client *client, const char *bytes, size_t size)
{
    while (size > 0) {
        const ssize_t sent = send(client->fd, bytes, size, MSG_NOSIGNAL);
        if (sent <= 0)
            return; /* the server closed early: the answer tells */
        bytes += sent;
        size -= (size_t)sent;
    }
}

void
sl_client_send(sl_client *client, const char *text)
{
    sl_client_send_bytes(client, text, strlen(text));
}

/* Appends what the socket has; false at its end. */
static bool
client_fill(sl_client *client)
{
    enum { STEP = 64 * 1024 };
    char *const grown = realloc(client->data, client->size + STEP + 1);
    assert(grown != NULL);
    client->data = grown;
    const ssize_t got = recv(client->fd, grown + client->size, STEP, 0);
    if (got <= 0)
        return false;
    client->size += (size_t)got;
    grown[client->size] = '\0';
    return true;
}

/* Cuts `size` bytes off the front of what was received. */
static char *
client_take(sl_client *client, size_t size)
{
    char *const taken = malloc(size + 1);
    assert(taken != NULL && size <= client->size);
    if (size > 0)
        memcpy(taken, client->data, size);
    taken[size] = '\0';
    client->size -= size;
    if (client->size > 0)
        memmove(client->data, client->data + size, client->size);
    if (client->data != NULL)
        client->data[client->size] = '\0';
    return taken;
}

bool
sl_answer_header(const sl_answer *answer, const char *name, char *value, size_t size)
{
    const size_t length = strlen(name);
    for (const char *at = answer->head; (at = strstr(at, "\r\n")) != NULL;) {
        at += 2;
        if (strncasecmp(at, name, length) != 0 || at[length] != ':')
            continue;
        at += length + 1;
        at += strspn(at, " ");
        (void)sl_text_format(value, size, "%.*s", (int)strcspn(at, "\r"), at);
        return true;
    }
    value[0] = '\0';
    return false;
}

sl_answer
sl_client_read(sl_client *client, bool body_follows)
{
    const char *end = NULL;
    while (client->size == 0 || (end = strstr(client->data, "\r\n\r\n")) == NULL)
        if (!client_fill(client))
            return (sl_answer){.status = 0};
    sl_answer answer = {.head = client_take(client, (size_t)(end - client->data) + 4)};
    answer.status = (int)strtol(answer.head + strlen("HTTP/1.1 "), NULL, 10);

    char text[32];
    uint64_t length = 0;
    if (sl_answer_header(&answer, "Content-Length", text, sizeof text))
        (void)sl_text_to_uint(text, &length);
    if (!body_follows || answer.status == 304 || answer.status == 204 || answer.status == 100)
        length = 0;
    while (client->size < length)
        if (!client_fill(client))
            break;
    answer.body_size = client->size < length ? client->size : (size_t)length;
    answer.body = client_take(client, answer.body_size);
    return answer;
}

void
sl_answer_free(sl_answer *answer)
{
    free(answer->head);
    free(answer->body);
    *answer = (sl_answer){.status = 0};
}

bool
sl_client_ended(sl_client *client)
{
    return client->size == 0 && !client_fill(client);
}

sl_answer
sl_client_ask(sl_client *client, const char *method, const char *path, const char *headers)
{
    char text[2048];
    const bool whole = sl_text_format(
        text, sizeof text, "%s %s HTTP/1.1\r\nHost: localhost\r\n%s\r\n", method, path, headers);
    assert(whole);
    sl_client_send(client, text);
    return sl_client_read(client, strcmp(method, "HEAD") != 0);
}
