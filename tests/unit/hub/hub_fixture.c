#include "hub_fixture.h"

#include <arpa/inet.h>
#include <assert.h>
#include <dirent.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"

const char standin_config[] = "{\"model_type\": \"llama\"}";
const char standin_file_head[] = FILE_HEAD "Content-Length: 23";

typedef struct canned {
    char *bytes;
    size_t size;
    bool reset;
    bool silent;
} canned;

struct standin {
    int listener;
    uint16_t port;
    pthread_t thread;
    pthread_mutex_t lock; /* over everything below */
    canned replies[STANDIN_REPLIES_MAX];
    uint32_t reply_count, next;
    bool hold;
    atomic_bool *on_request;
    const atomic_bool *gate;
    uint32_t request_count;
    char requests[STANDIN_REQUESTS_MAX][STANDIN_TEXT_SIZE];
};

static void *
allocate(size_t size)
{
    void *const bytes = malloc(size);
    assert(bytes != NULL);
    return bytes;
}

static void
read_head(int fd, char text[STANDIN_TEXT_SIZE])
{
    size_t used = 0;
    text[0] = '\0';
    /* A greeting of TLS (its first byte is 22) is all there will be: nobody here understands it. */
    while (used + 1 < STANDIN_TEXT_SIZE && text[0] != 22 && strstr(text, "\r\n\r\n") == NULL) {
        const ssize_t got = recv(fd, text + used, STANDIN_TEXT_SIZE - 1 - used, 0);
        if (got <= 0)
            return;
        used += (size_t)got;
        text[used] = '\0';
    }
}

static void
wait_for_gate(const atomic_bool *gate)
{
    static const struct timespec slice = {.tv_nsec = 1000 * 1000};
    while (gate != NULL && !atomic_load(gate))
        (void)nanosleep(&slice, NULL);
}

static void
answer(standin *server, int fd)
{
    char text[STANDIN_TEXT_SIZE];
    read_head(fd, text);

    (void)pthread_mutex_lock(&server->lock);
    if (server->request_count < STANDIN_REQUESTS_MAX)
        memcpy(server->requests[server->request_count++], text, sizeof text);
    /* A copy: the test may forget its replies while the last one is still being sent. */
    canned reply = {0};
    if (server->reply_count > 0)
        reply = server->replies[server->next];
    reply.bytes = reply.size > 0 ? memcpy(allocate(reply.size), reply.bytes, reply.size) : NULL;
    if (server->next + 1 < server->reply_count)
        server->next++;
    const bool hold = server->hold;
    atomic_bool *const on_request = server->on_request;
    const atomic_bool *const gate = server->gate;
    (void)pthread_mutex_unlock(&server->lock);

    if (on_request != NULL)
        atomic_store(on_request, true);
    wait_for_gate(gate);
    if (reply.reset) {
        const struct linger now = {.l_onoff = 1, .l_linger = 0};
        (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    } else if (reply.size > 0) {
        (void)send(fd, reply.bytes, reply.size, MSG_NOSIGNAL);
    }
    free(reply.bytes);
    if (reply.reset)
        return;
    if (hold || reply.silent)
        (void)recv(fd, text, sizeof text, 0);
    /* Leave without a reset, or the client might lose what is still on its way. */
    (void)shutdown(fd, SHUT_WR);
    while (recv(fd, text, sizeof text, 0) > 0)
        continue;
}

static void *
serve(void *context)
{
    standin *const server = context;
    for (;;) {
        const int fd = accept(server->listener, NULL, NULL);
        if (fd < 0)
            return NULL;
        answer(server, fd);
        (void)close(fd);
    }
}

standin *
standin_new(void)
{
    standin *const server = calloc(1, sizeof *server);
    assert(server != NULL);
    struct sockaddr_in address = {.sin_family = AF_INET};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;

    server->listener = socket(AF_INET, SOCK_STREAM, 0);
    int failed = server->listener < 0;
    failed |= bind(server->listener, (const struct sockaddr *)&address, sizeof address);
    failed |= listen(server->listener, 16);
    failed |= getsockname(server->listener, (struct sockaddr *)&address, &size);
    failed |= pthread_mutex_init(&server->lock, NULL);
    server->port = ntohs(address.sin_port);
    failed |= pthread_create(&server->thread, NULL, serve, server);
    assert(!failed);
    return server;
}

void
standin_free(standin *server)
{
    if (server == NULL)
        return;
    (void)shutdown(server->listener, SHUT_RDWR);
    (void)pthread_join(server->thread, NULL);
    (void)close(server->listener);
    standin_forget(server);
    (void)pthread_mutex_destroy(&server->lock);
    free(server);
}

uint16_t
standin_port(const standin *server)
{
    return server->port;
}

static void
append(standin *server, canned reply)
{
    (void)pthread_mutex_lock(&server->lock);
    assert(server->reply_count < STANDIN_REPLIES_MAX);
    server->replies[server->reply_count++] = reply;
    (void)pthread_mutex_unlock(&server->lock);
}

void
standin_reply_bytes(standin *server, const char *head, const void *body, size_t size)
{
    sl_buffer bytes;
    canned reply = {0};
    sl_buffer_init(&bytes, (size_t)1 << 24);
    sl_buffer_format(&bytes, "HTTP/1.1 %s\r\nConnection: close\r\n\r\n", head);
    sl_buffer_append(&bytes, body, size);
    assert(!bytes.failed);
    reply.bytes = sl_buffer_take(&bytes, &reply.size);
    append(server, reply);
}

void
standin_reply(standin *server, const char *head, const char *body)
{
    standin_reply_bytes(server, head, body, strlen(body));
}

void
standin_reset(standin *server)
{
    append(server, (canned){.reset = true});
}

void
standin_say_nothing(standin *server)
{
    append(server, (canned){.silent = true});
}

void
standin_hold(standin *server)
{
    (void)pthread_mutex_lock(&server->lock);
    server->hold = true;
    (void)pthread_mutex_unlock(&server->lock);
}

void
standin_set_on_request(standin *server, atomic_bool *flag)
{
    (void)pthread_mutex_lock(&server->lock);
    server->on_request = flag;
    (void)pthread_mutex_unlock(&server->lock);
}

void
standin_set_gate(standin *server, const atomic_bool *gate)
{
    (void)pthread_mutex_lock(&server->lock);
    server->gate = gate;
    (void)pthread_mutex_unlock(&server->lock);
}

void
standin_forget(standin *server)
{
    (void)pthread_mutex_lock(&server->lock);
    for (uint32_t i = 0; i < server->reply_count; i++)
        free(server->replies[i].bytes);
    server->reply_count = server->next = server->request_count = 0;
    (void)pthread_mutex_unlock(&server->lock);
}

uint32_t
standin_requests(standin *server)
{
    (void)pthread_mutex_lock(&server->lock);
    const uint32_t count = server->request_count;
    (void)pthread_mutex_unlock(&server->lock);
    return count;
}

const char *
standin_request(standin *server, uint32_t index)
{
    static char text[STANDIN_TEXT_SIZE];
    (void)pthread_mutex_lock(&server->lock);
    if (index < server->request_count)
        memcpy(text, server->requests[index], sizeof text);
    else
        text[0] = '\0';
    (void)pthread_mutex_unlock(&server->lock);
    return text;
}

static void
folder_new(char *out, size_t size)
{
    const char *const base = getenv("TMPDIR");
    const bool fits = sl_text_format(out, size, "%s/sl-hub-XXXXXX", base != NULL ? base : "/tmp");
    const char *const made = fits ? mkdtemp(out) : NULL;
    assert(made != NULL);
}

/* The deepest file of the cache is five folders down. */
static void
remove_tree(const char *path, int depth)
{
    DIR *const folder = depth > 0 ? opendir(path) : NULL;
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        char child[1024];
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            sl_text_format(child, sizeof child, "%s/%s", path, entry->d_name))
            remove_tree(child, depth - 1);
    }
    if (folder != NULL)
        (void)closedir(folder);
    (void)remove(path);
}

static void
folder_free(const char *path)
{
    remove_tree(path, 8);
}

bool
file_halve(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && truncate(path, status.st_size / 2) == 0;
}

/* Bits of a deflate stream, lowest first in each byte. */
typedef struct bits {
    unsigned char *out;
    size_t size, used;
} bits;

static void
put_code(bits *to, unsigned code, unsigned length)
{
    while (length-- > 0) {
        assert(to->used / 8 < to->size);
        if ((code >> length & 1U) != 0)
            to->out[to->used / 8] |= (unsigned char)(1U << to->used % 8);
        to->used++;
    }
}

size_t
gzip_bomb(unsigned char *out, size_t size, size_t bytes)
{
    static const unsigned char head[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3};
    memset(out, 0, size);
    memcpy(out, head, sizeof head);

    bits to = {.out = out, .size = size, .used = 8 * sizeof head};
    put_code(&to, 6, 3);          /* last block, fixed codes (RFC 1951, 3.2.6) */
    put_code(&to, 0x30 + ' ', 8); /* one blank */
    for (size_t have = 1; have <= bytes; have += 258) {
        put_code(&to, 0xc5, 8); /* 258 bytes */
        put_code(&to, 0, 5);    /* from one back */
    }
    put_code(&to, 0, 7);
    return (to.used + 7) / 8;
}

void
bench_restart(bench *b)
{
    sl_hub_worker_free(b->worker);
    sl_hub_free(b->hub);
    b->worker = NULL;
    b->hub = NULL;
    const sl_code code = sl_hub_new(&b->settings, &b->hub, &b->err);
    assert(code == SL_OK && b->hub != NULL);
    b->hub->limits.backoff_s = 0.001;
    b->hub->limits.rate_margin_s = 0.0;
    b->hub->limits.missing_s = 0.0;
    b->hub->limits.silent_s = 0.0;
    b->hub->limits.limited_max_s = 0.0;
    b->worker = sl_hub_worker_new(b->hub);
    assert(b->worker != NULL);
}

bench *
bench_new(void)
{
    bench *const b = calloc(1, sizeof *b);
    assert(b != NULL);
    b->server = standin_new();
    b->other = standin_new();
    b->arena = sl_arena_new((size_t)64 << 20);
    assert(b->arena != NULL);
    folder_new(b->settings.cache_dir, sizeof b->settings.cache_dir);
    (void)sl_text_format(b->settings.hub_endpoint, sizeof b->settings.hub_endpoint,
                         "http://127.0.0.1:%u", standin_port(b->server));
    (void)sl_text_copy(b->settings.hub_token, sizeof b->settings.hub_token, TOKEN);
    bench_restart(b);
    return b;
}

void
bench_free(bench *b)
{
    sl_hub_worker_free(b->worker);
    sl_hub_free(b->hub);
    standin_free(b->server);
    standin_free(b->other);
    folder_free(b->settings.cache_dir);
    sl_arena_free(b->arena);
    free(b);
}

const char *
bench_get(bench *b, const char *revision)
{
    static const sl_hub_file untouched = {.text = "untouched"};
    b->err = (sl_errors){0};
    b->file = untouched;
    const sl_hub_subject subject = {
        .repository = "org/name", .revision = revision, .file = "config.json", .pointer = "/model"};
    const sl_code code =
        sl_hub_fetch(b->worker, &subject, &b->cancelled, b->arena, &b->file, &b->err);
    CU_ASSERT_EQUAL(code == SL_OK, b->err.count == 0);
    if (code == SL_OK) {
        CU_ASSERT_EQUAL(strlen(b->file.text), b->file.size);
        return "";
    }
    CU_ASSERT_EQUAL(b->err.count, 1);
    CU_ASSERT_EQUAL(b->err.list[0].code, code);
    CU_ASSERT_STRING_EQUAL(b->err.list[0].pointer, "/model");
    CU_ASSERT_PTR_NULL(strstr(b->err.list[0].message, TOKEN));
    CU_ASSERT_PTR_EQUAL(b->file.text, untouched.text);
    return b->err.list[0].rule;
}

const char *
bench_get_after(bench *b, const char *head, const char *body)
{
    standin_forget(b->server);
    standin_reply(b->server, head, body);
    return bench_get(b, "main");
}

sl_hub_ticket
bench_ticket(bench *b, const char *revision)
{
    return (sl_hub_ticket){
        .repository = "org/name", .revision = revision, .pointer = "/model", .arena = b->arena};
}

const char *
bench_fetch(bench *b, const char *revision, sl_hub_ticket *ticket)
{
    *ticket = bench_ticket(b, revision);
    CU_ASSERT_TRUE(sl_hub_model_fetch(b->worker, ticket, &b->cancelled));
    CU_ASSERT_TRUE(ticket->done);
    return ticket->code == SL_OK ? "" : ticket->failure.rule;
}

void
bench_config_then(bench *b, const char *config, const char *head, const char *body)
{
    standin_forget(b->server);
    standin_reply(b->server, FILE_HEAD "X-A: b", config);
    standin_reply(b->server, head, body);
}
