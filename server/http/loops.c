#include "http/loops.h"

#include <assert.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

typedef struct loop {
    struct MHD_Daemon *daemon;
    pthread_t thread;
    int wake_fd;
    atomic_bool stopping;
} loop;

struct sl_loops {
    unsigned count; /* of those that run */
    loop loops[];
};

static void
wake(const loop *self)
{
    const int failed = eventfd_write(self->wake_fd, 1);

    assert(failed == 0);
    (void)failed;
}

/* How long there is nothing to do if no event comes, for poll. */
static int
wait_ms(struct MHD_Daemon *daemon)
{
    MHD_UNSIGNED_LONG_LONG most_ms = 0;

    if (MHD_get_timeout(daemon, &most_ms) != MHD_YES)
        return -1;
    return most_ms > INT_MAX ? INT_MAX : (int)most_ms;
}

static void *
loop_main(void *argument)
{
    loop *const self = argument;
    const int epoll_fd = MHD_get_daemon_info(self->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;

    while (!atomic_load(&self->stopping)) {
        struct pollfd fds[] = {{.fd = epoll_fd, .events = POLLIN},
                               {.fd = self->wake_fd, .events = POLLIN}};
        eventfd_t wakes = 0;
        /* Also when interrupted: there is nothing to do then, and that is cheap. */
        (void)poll(fds, 2, wait_ms(self->daemon));
        /* Before the run, which looks for what was resumed first of all. */
        (void)eventfd_read(self->wake_fd, &wakes);
        (void)MHD_run(self->daemon);
    }
    return NULL;
}

/* Every connection knows the loop that has to be woken for it. */
static void
on_connection(void *context, struct MHD_Connection *connection, void **connection_context,
              enum MHD_ConnectionNotificationCode what)
{
    (void)connection;
    if (what == MHD_CONNECTION_NOTIFY_STARTED)
        *connection_context = context;
}

static bool
loop_start(loop *self, sl_loop_daemon *start, void *context)
{
    struct MHD_OptionItem options[] = {
        {MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)on_connection, self},
        {MHD_OPTION_END, 0, NULL},
    };

    self->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (self->wake_fd < 0)
        return false;
    self->daemon = start(context, options);
    if (self->daemon != NULL && pthread_create(&self->thread, NULL, loop_main, self) == 0)
        return true;
    if (self->daemon != NULL) {
        (void)MHD_quiesce_daemon(self->daemon);
        MHD_stop_daemon(self->daemon);
    }
    (void)close(self->wake_fd);
    return false;
}

sl_loops *
sl_loops_start(unsigned count, sl_loop_daemon *start, void *context)
{
    assert(count > 0 && start != NULL);

    sl_loops *const loops = calloc(1, sizeof *loops + count * sizeof loops->loops[0]);
    if (loops == NULL)
        return NULL;
    while (loops->count < count && loop_start(&loops->loops[loops->count], start, context))
        loops->count++;
    if (loops->count == count)
        return loops;
    sl_loops_quiesce(loops);
    sl_loops_stop(loops);
    return NULL;
}

void
sl_loops_resume(struct MHD_Connection *connection)
{
    const loop *const self =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;

    MHD_resume_connection(connection);
    wake(self);
}

void
sl_loops_quiesce(sl_loops *loops)
{
    assert(loops != NULL);

    for (unsigned i = 0; i < loops->count; i++)
        (void)MHD_quiesce_daemon(loops->loops[i].daemon);
}

void
sl_loops_stop(sl_loops *loops)
{
    assert(loops != NULL);

    for (unsigned i = 0; i < loops->count; i++) {
        atomic_store(&loops->loops[i].stopping, true);
        wake(&loops->loops[i]);
    }
    for (unsigned i = 0; i < loops->count; i++) {
        (void)pthread_join(loops->loops[i].thread, NULL);
        MHD_stop_daemon(loops->loops[i].daemon);
        (void)close(loops->loops[i].wake_fd);
    }
    free(loops);
}
