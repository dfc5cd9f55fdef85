/**
 * A stand-in for the Hub inside the test process: a thread on loopback that answers one connection
 * at a time from a list of canned replies, and keeps what it was asked.
 */
#ifndef SL_TESTS_HUB_FIXTURE_H
#define SL_TESTS_HUB_FIXTURE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness.h"
#include "hub/client.h"

enum { STANDIN_REPLIES_MAX = 16, STANDIN_REQUESTS_MAX = 64, STANDIN_TEXT_SIZE = 2048 };

typedef struct standin standin;

standin *standin_new(void);
void standin_free(standin *server); /* NULL is fine */
uint16_t standin_port(const standin *server);

/** Appends a reply; the last one is given again and again. head: status and headers without the
 * blank line, "200 OK\r\nETag: \"a\"". */
void standin_reply_bytes(standin *server, const char *head, const void *body, size_t size);
void standin_reply(standin *server, const char *head, const char *body);
/** Appends a reply that resets the connection instead. */
void standin_reset(standin *server);
/** Appends a reply of no byte, until the client leaves. */
void standin_say_nothing(standin *server);
/** Replies stay open after their last byte until the client leaves. */
void standin_hold(standin *server);
/** Sets *flag as soon as a request was read. */
void standin_set_on_request(standin *server, atomic_bool *flag);
/** Replies wait until *gate is set; NULL for none. */
void standin_set_gate(standin *server, const atomic_bool *gate);
/** Forgets the replies and the requests. */
void standin_forget(standin *server);

uint32_t standin_requests(standin *server);
/** Head of a request, from 0; "" when there was none. Static buffer. */
const char *standin_request(standin *server, uint32_t index);

/** Cuts the file to half its size. False when there is no such file. */
bool file_halve(const char *path);

/** A gzip stream that is small and unpacks to more than `bytes` blanks. Returns its size. */
size_t gzip_bomb(unsigned char *out, size_t size, size_t bytes);

#define COMMIT "0123456789abcdef0123456789abcdef01234567"
#define TOKEN "hf_secret"
/** Head of a good reply, up to where its length would be told. */
#define FILE_HEAD "200 OK\r\nX-Repo-Commit: " COMMIT "\r\nETag: \"one\"\r\n"

extern const char standin_config[];    /* a small config.json */
extern const char standin_file_head[]; /* the head that fits it */

/** What one test holds: two servers, the first of them the endpoint, and a client of it. */
typedef struct bench {
    standin *server, *other;
    sl_settings settings;
    sl_hub *hub;
    sl_hub_worker *worker;
    sl_arena *arena;
    atomic_bool cancelled;
    sl_errors err;
    sl_hub_file file;
} bench;

bench *bench_new(void);
void bench_free(bench *b);

/** Takes up changed settings, as a new process would. */
void bench_restart(bench *b);

/** Fetches org/name. Rule of the failure, or "" on success; checks that each leaves alone what it
 * must. */
const char *bench_get(bench *b, const char *revision);

/** Forgets what came before, gives one reply, and fetches the branch main. */
const char *bench_get_after(bench *b, const char *head, const char *body);

/** The information document of COMMIT with more members, and one with a count of 7 elements. */
#define INFO_HEAD "200 OK\r\nContent-Type: application/json"
#define INFO(rest) "{\"sha\":\"" COMMIT "\",\"gated\":false" rest "}"
#define COUNTED INFO(",\"safetensors\":{\"parameters\":{\"BF16\":7},\"total\":7}")

/** A ticket for org/name in the bench's arena. */
sl_hub_ticket bench_ticket(bench *b, const char *revision);

/** Fetches the model on the bench's own thread; the rule of the failure, or "". */
const char *bench_fetch(bench *b, const char *revision, sl_hub_ticket *ticket);

/** Forgets what came before, and replies with a config and then with something else. */
void bench_config_then(bench *b, const char *config, const char *head, const char *body);

#endif
