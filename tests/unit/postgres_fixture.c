#include "postgres_fixture.h"

#include <dirent.h>
#include <libpq-fe.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"

enum { WAIT_STEPS = 1200, WAIT_STEP_NS = 50000000, ARGUMENTS_MAX = 24, PATH_SIZE = 512 };

static void
demand(bool fact, const char *what)
{
    if (!fact) {
        fprintf(stderr, "postgres fixture: %s\n", what);
        abort();
    }
}

/* The newest release installed below Debian's folder. */
static bool
find_binaries(char *out, size_t size)
{
    static const char root[] = "/usr/lib/postgresql";

    DIR *folder = opendir(root);
    if (folder == NULL)
        return false;
    uint64_t newest = 0;
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        uint64_t release = 0;
        char path[PATH_SIZE];
        if (sl_text_to_uint(entry->d_name, &release) && release > newest &&
            sl_text_format(path, sizeof path, "%s/%s/bin/initdb", root, entry->d_name) &&
            access(path, X_OK) == 0) {
            newest = release;
            (void)sl_text_format(out, size, "%s/%s/bin", root, entry->d_name);
        }
    }
    closedir(folder);
    return newest > 0;
}

/* Starts a program of the cluster as its user, its output in the folder's log. */
static pid_t
spawn(const sl_postgres *postgres, const char *program, const char *const *arguments)
{
    char path[PATH_SIZE];
    char log[PATH_SIZE];
    char *argv[ARGUMENTS_MAX] = {NULL};
    demand(sl_text_format(path, sizeof path, "%s/%s", postgres->bin, program) &&
               sl_text_format(log, sizeof log, "%s/log", postgres->folder),
           "a path is too long");
    size_t count = 0;
    argv[count++] = strdup(program);
    for (; *arguments != NULL; arguments++) {
        demand(count < ARGUMENTS_MAX - 1, "too many arguments");
        argv[count++] = strdup(*arguments);
    }

    const pid_t parent = getpid();
    const pid_t child = fork();
    demand(child >= 0, "fork failed");
    if (child == 0) {
        /* The order matters: a change of user clears the death signal. */
        if (geteuid() == 0 && (setgid(postgres->group) != 0 || setuid(postgres->user) != 0))
            _exit(126);
        if (prctl(PR_SET_PDEATHSIG, SIGQUIT) != 0 || getppid() != parent)
            _exit(126);
        if (chdir(postgres->folder) != 0 || freopen("/dev/null", "r", stdin) == NULL ||
            freopen(log, "a", stdout) == NULL || dup2(STDOUT_FILENO, STDERR_FILENO) < 0)
            _exit(126);
        execv(path, argv);
        _exit(127);
    }
    for (size_t i = 0; i < count; i++)
        free(argv[i]);
    return child;
}

void
sl_postgres_start(sl_postgres *postgres)
{
    const char *arguments[] = {"-D", "data",
                               "-k", postgres->folder,
                               "-c", "listen_addresses=",
                               "-c", "fsync=off",
                               "-c", "full_page_writes=off",
                               "-c", "max_connections=40",
                               "-c", "shared_buffers=16MB",
                               NULL};
    postgres->child = spawn(postgres, "postgres", arguments);

    const struct timespec step = {0, WAIT_STEP_NS};
    for (int i = 0; i < WAIT_STEPS; i++) {
        if (PQping(postgres->url) == PQPING_OK)
            return;
        demand(waitpid(postgres->child, NULL, WNOHANG) == 0, "the server ended at once");
        (void)nanosleep(&step, NULL);
    }
    demand(false, "the server does not answer");
}

void
sl_postgres_kill(sl_postgres *postgres)
{
    if (postgres->child == 0)
        return;
    demand(kill(postgres->child, SIGQUIT) == 0, "cannot stop the server");
    demand(waitpid(postgres->child, NULL, 0) == postgres->child, "cannot wait for the server");
    postgres->child = 0;
}

bool
sl_postgres_create(sl_postgres *postgres)
{
    memset(postgres, 0, sizeof *postgres);
    if (!find_binaries(postgres->bin, sizeof postgres->bin))
        return false;

    /* A short path: a Unix socket's name holds about a hundred bytes. */
    (void)sl_text_copy(postgres->folder, sizeof postgres->folder, "/tmp/sl-pg-XXXXXX");
    demand(mkdtemp(postgres->folder) != NULL, "no temporary folder");
    postgres->user = geteuid();
    postgres->group = getegid();
    if (geteuid() == 0) {
        const struct passwd *user = getpwnam("postgres");
        if (user == NULL)
            user = getpwnam("nobody");
        demand(user != NULL, "no unprivileged user");
        postgres->user = user->pw_uid;
        postgres->group = user->pw_gid;
        demand(chown(postgres->folder, postgres->user, postgres->group) == 0, "chown failed");
    }
    demand(sl_text_format(postgres->url, sizeof postgres->url,
                          "postgresql:///postgres?host=%s&user=admin", postgres->folder),
           "the URL is too long");

    const char *arguments[] = {"-D",
                               "data",
                               "-U",
                               "admin",
                               "-A",
                               "trust",
                               "-E",
                               "UTF8",
                               "--locale=C",
                               "--no-sync",
                               "--no-instructions",
                               NULL};
    const pid_t child = spawn(postgres, "initdb", arguments);
    int status = 0;
    demand(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0,
           "initdb failed");
    sl_postgres_start(postgres);
    return true;
}

void
sl_postgres_remove(sl_postgres *postgres)
{
    if (postgres->folder[0] == '\0')
        return;
    sl_postgres_kill(postgres);
    const pid_t child = fork();
    demand(child >= 0, "fork failed");
    if (child == 0) {
        execlp("rm", "rm", "-rf", "--", postgres->folder, (char *)NULL);
        _exit(127);
    }
    demand(waitpid(child, NULL, 0) == child, "cannot remove the folder");
    postgres->folder[0] = '\0';
}

void
sl_postgres_ask(const sl_postgres *postgres, const char *sql, char *out, size_t size)
{
    PGconn *conn = PQconnectdb(postgres->url);
    PGresult *result = PQexec(conn, sql);
    const ExecStatusType status = PQresultStatus(result);
    demand(status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK, PQerrorMessage(conn));
    const bool any = PQntuples(result) > 0 && PQnfields(result) > 0;
    demand(sl_text_copy(out, size, any ? PQgetvalue(result, 0, 0) : ""), "the answer is too long");
    PQclear(result);
    PQfinish(conn);
}

void
sl_postgres_do(const sl_postgres *postgres, const char *sql)
{
    char unread[256];
    sl_postgres_ask(postgres, sql, unread, sizeof unread);
}

void
sl_postgres_empty(const sl_postgres *postgres)
{
    sl_postgres_do(postgres, "SET client_min_messages = warning;"
                             " DROP SCHEMA public CASCADE; CREATE SCHEMA public");
}
