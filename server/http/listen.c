#include "http/listen.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/text.h"

/* -1 with errno set when the address cannot be listened on. */
static int
socket_open(const struct addrinfo *address)
{
    const int fd = socket(address->ai_family, address->ai_socktype, address->ai_protocol);
    if (fd < 0)
        return -1;
    const int on = 1; /* a restart must not wait for the connections of the last run to fade */
    if (fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 && fcntl(fd, F_SETFL, O_NONBLOCK) == 0 &&
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
        bind(fd, address->ai_addr, address->ai_addrlen) == 0 && listen(fd, SL_LISTEN_BACKLOG) == 0)
        return fd;
    const int reason = errno;
    (void)close(fd);
    errno = reason;
    return -1;
}

static uint16_t
port_of(int fd)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } address = {.any = {.sa_family = AF_UNSPEC}};
    socklen_t size = sizeof address;
    const int failed = getsockname(fd, &address.any, &size);
    assert(failed == 0);
    return ntohs(address.any.sa_family == AF_INET6 ? address.v6.sin6_port : address.v4.sin_port);
}

sl_code
sl_listen_open(const char *host, uint16_t port, int *fd, uint16_t *bound, sl_errors *err)
{
    assert(host != NULL && fd != NULL && bound != NULL);

    char service[8];
    (void)sl_text_format(service, sizeof service, "%u", (unsigned)port);
    const struct addrinfo wanted = {.ai_family = AF_UNSPEC,
                                    .ai_socktype = SOCK_STREAM,
                                    .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *addresses = NULL;
    const int unknown = getaddrinfo(host, service, &wanted, &addresses);
    if (unknown != 0)
        return sl_fail(err, SL_E_UNAVAILABLE, "cannot_listen", "",
                       "the address to listen on must exist, got %s: %s", host,
                       gai_strerror(unknown));
    int opened = -1;
    int reason = 0;
    for (const struct addrinfo *at = addresses; at != NULL && opened < 0; at = at->ai_next) {
        opened = socket_open(at);
        if (opened < 0)
            reason = errno;
    }
    freeaddrinfo(addresses);
    if (opened < 0 && reason == EADDRINUSE)
        return sl_fail(err, SL_E_CONFLICT, "port_in_use", "",
                       "port %u of %s is in use by another process", (unsigned)port, host);
    if (opened < 0)
        return sl_fail(err, SL_E_UNAVAILABLE, "cannot_listen", "", "cannot listen on port %u of %s",
                       (unsigned)port, host);
    *fd = opened;
    *bound = port_of(opened);
    return SL_OK;
}
