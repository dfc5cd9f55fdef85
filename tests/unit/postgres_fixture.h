/**
 * A throwaway PostgreSQL cluster for one test executable: its own folder, a Unix socket and no
 * port. The server is a child that dies with the test; as root it runs as an unprivileged user.
 */
#ifndef SL_TESTS_POSTGRES_FIXTURE_H
#define SL_TESTS_POSTGRES_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct sl_postgres {
    char folder[32];
    char url[128]; /* of the cluster's one database */
    char bin[256]; /* where initdb and postgres are */
    pid_t child;   /* 0 while stopped */
    uid_t user;    /* who the server runs as */
    gid_t group;
} sl_postgres;

/** False when this machine has no PostgreSQL: the reason to skip. Aborts when it has and fails. */
bool sl_postgres_create(sl_postgres *postgres);
void sl_postgres_remove(sl_postgres *postgres);

void sl_postgres_start(sl_postgres *postgres);
/** As a crash would: sessions are cut, nothing is finished. */
void sl_postgres_kill(sl_postgres *postgres);

/** Runs SQL as the administrator; aborts when that fails. */
void sl_postgres_do(const sl_postgres *postgres, const char *sql);
/** The first column of the first row, "" without any. */
void sl_postgres_ask(const sl_postgres *postgres, const char *sql, char *out, size_t size);
/** An empty database again. */
void sl_postgres_empty(const sl_postgres *postgres);

#endif
