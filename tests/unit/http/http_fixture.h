/**
 * A server with known routes on a free loopback port, and a plain client that speaks to it byte by
 * byte: what a real client library would hide is what these tests look at.
 */
#ifndef SL_TESTS_HTTP_FIXTURE_H
#define SL_TESTS_HTTP_FIXTURE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "http/server.h"
#include "http/spool.h"

enum { SL_FIXTURE_PARKED_MAX = 8 };

/** What the handlers share. A "hold" handler says that it runs and waits for `open`. */
typedef struct sl_fixture_app {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint32_t started;  /* hold handlers that began */
    uint32_t finished; /* and ended */
    uint32_t workers;  /* contexts alive */
    bool open;
    struct {
        void (*wake)(void *context);
        void *context;
    } parked[SL_FIXTURE_PARKED_MAX]; /* requests that wait for a hold handler to end */
    uint32_t parked_count;
} sl_fixture_app;

typedef struct sl_fixture {
    sl_settings settings;
    sl_fixture_app app;
    sl_server_config config; /* may be changed before the start */
    sl_server *server;
    uint16_t port;
    char folder[32]; /* of static files, made on demand */
} sl_fixture;

enum {
    SL_FIXTURE_BODY_MAX = 4 * 1024 * 1024,
    SL_FIXTURE_SPOOL_MAX = 65 * 1024 * 1024 /* more than memory takes */
};

/**
 * Routes: GET/POST /echo (query, body, parameters as JSON; POST takes JSON, at most 1 MiB),
 * POST /upload (any type, its size as text, at most SL_FIXTURE_BODY_MAX), GET /things/{slug} (the
 * slug as text), GET /hold (store lane, waits for the app to open), GET /late (store lane, 0.1 s,
 * waits on after its deadline), GET /race (compute, 1 ms), GET /nowhere (hub lane, no threads),
 * GET /problem, POST /spool (any type, to disk, its size, sum and encoding as text), GET /relay
 * (compute, then the store lane, or with ?dead the lane without threads), GET /park (compute, once
 * more when a hold handler has ended; at once when none runs), GET /metrics, GET /alive (no lane). Only /echo (a to o,
 * dry_run) and /relay read queries.
 */
void sl_fixture_init(sl_fixture *fixture);
void sl_fixture_start(sl_fixture *fixture);
/** Stops, frees, removes the folder; what sl_server_stop returned. */
uint32_t sl_fixture_stop(sl_fixture *fixture, double grace_s);

/** Makes the folder of static files and writes one into it; subfolder "assets" exists. */
void sl_fixture_file(sl_fixture *fixture, const char *name, const char *content);

void sl_fixture_await_parked(sl_fixture *fixture, uint32_t count);
void sl_fixture_await_started(sl_fixture *fixture, uint32_t count);
void sl_fixture_open(sl_fixture *fixture);

typedef struct sl_client {
    int fd;
    char *data; /* received and not yet taken; owned */
    size_t size;
} sl_client;

typedef struct sl_answer {
    int status; /* 0: the connection ended first */
    char *head; /* owned */
    char *body; /* owned, NUL-terminated */
    size_t body_size;
} sl_answer;

sl_client sl_client_open(const sl_fixture *fixture);
void sl_client_close(sl_client *client);
void sl_client_send(sl_client *client, const char *text);
void sl_client_send_bytes(sl_client *client, const char *bytes, size_t size);
/** Reads one answer; body_follows is false for HEAD. Free with sl_answer_free. */
sl_answer sl_client_read(sl_client *client, bool body_follows);
void sl_answer_free(sl_answer *answer);
/** True when the server has closed the connection, waiting for it. */
bool sl_client_ended(sl_client *client);

/** Value of a header, cut to the buffer; false when absent. */
bool sl_answer_header(const sl_answer *answer, const char *name, char *value, size_t size);

/** Sends a request without body ("GET", "/path", further header lines or "") and reads it. */
sl_answer sl_client_ask(sl_client *client, const char *method, const char *path,
                        const char *headers);

#endif
