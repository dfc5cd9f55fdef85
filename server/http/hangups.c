#include "http/hangups.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { EVENTS_MAX = 16, STOP_TICKET = 0 };

struct sl_hangups {
    void (*left)(void *context, uint64_t ticket);
    void *context;
    pthread_t thread;
    int epoll_fd;
    int stop_fd;
};

static void *
hangups_main(void *argument)
{
    const sl_hangups *const hangups = argument;
    struct epoll_event events[EVENTS_MAX];

    for (;;) {
        const int count = epoll_wait(hangups->epoll_fd, events, EVENTS_MAX, -1);
        assert(count >= 0 || errno == EINTR);
        for (int i = 0; i < count; i++) {
            if (events[i].data.u64 == STOP_TICKET)
                return NULL;
            hangups->left(hangups->context, events[i].data.u64);
        }
    }
}

static bool
add(const sl_hangups *hangups, int fd, uint32_t what, uint64_t ticket)
{
    struct epoll_event event = {.events = what, .data.u64 = ticket};

    return epoll_ctl(hangups->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

sl_hangups *
sl_hangups_new(void (*left)(void *context, uint64_t ticket), void *context)
{
    assert(left != NULL);

    sl_hangups *const hangups = calloc(1, sizeof *hangups);
    if (hangups == NULL)
        return NULL;
    hangups->left = left;
    hangups->context = context;
    hangups->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    hangups->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (hangups->epoll_fd >= 0 && hangups->stop_fd >= 0 &&
        add(hangups, hangups->stop_fd, EPOLLIN, STOP_TICKET) &&
        pthread_create(&hangups->thread, NULL, hangups_main, hangups) == 0)
        return hangups;
    if (hangups->stop_fd >= 0)
        (void)close(hangups->stop_fd);
    if (hangups->epoll_fd >= 0)
        (void)close(hangups->epoll_fd);
    free(hangups);
    return NULL;
}

void
sl_hangups_free(sl_hangups *hangups)
{
    if (hangups == NULL)
        return;
    const int failed = eventfd_write(hangups->stop_fd, 1);
    assert(failed == 0);
    (void)failed;
    (void)pthread_join(hangups->thread, NULL);
    (void)close(hangups->stop_fd);
    (void)close(hangups->epoll_fd);
    free(hangups);
}

bool
sl_hangups_watch(sl_hangups *hangups, int socket, uint64_t ticket)
{
    assert(hangups != NULL && ticket != STOP_TICKET);
    /* Once: a client that left keeps on having left. */
    return add(hangups, socket, EPOLLRDHUP | EPOLLONESHOT, ticket);
}

void
sl_hangups_forget(sl_hangups *hangups, int socket)
{
    assert(hangups != NULL);
    struct epoll_event ignored = {.events = 0};
    (void)epoll_ctl(hangups->epoll_fd, EPOLL_CTL_DEL, socket, &ignored);
}
